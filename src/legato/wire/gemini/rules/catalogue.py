"""The rules of generateContent as documentation, each with a refused and an accepted body."""

from __future__ import annotations

from collections.abc import Mapping

from legato.model import Json, JsonObject
from legato.wire.contract import Rule, Severity
from legato.wire.judging import json_rules

_OLD = "gemini/gemini-2.5-flash"
_NEW = "gemini/gemini-3-flash-preview"
_RISKY = Severity.RISKY


def _rule(
    rule: str,
    says: str,
    *,
    bad: Mapping[str, Json],
    good: Mapping[str, Json],
    error: str = "",
    route: str = _OLD,
    severity: Severity = Severity.REFUSED,
) -> Rule:
    return Rule(f"gemini/{rule}", severity, says, dict(bad), dict(good), error, route)


def _ask(*contents: Json, **fields: Json) -> JsonObject:
    return {"contents": list(contents), **fields}


def _user(*parts: Json) -> JsonObject:
    return {"role": "user", "parts": list(parts) or [{"text": "What does the file say?"}]}


def _model(*parts: Json) -> JsonObject:
    return {"role": "model", "parts": list(parts) or [{"text": "It is empty."}]}


def _call(name: str = "read", *, args: Json = None, signature: str = "", **fields: Json) -> JsonObject:
    call = {"functionCall": {"name": name, "args": {"path": "a.txt"} if args is None else args, **fields}}
    return {**call, "thoughtSignature": signature} if signature else call


def _response(name: str = "read", *, response: Json = None, **fields: Json) -> JsonObject:
    content = {"result": "The file is empty."} if response is None else response
    return {"functionResponse": {"name": name, "response": content, **fields}}


def _tools(*names: str, schema: JsonObject | None = None) -> list[JsonObject]:
    return [{"functionDeclarations": [{"name": name, "parameters": schema or {"type": "object"}} for name in names]}]


def _body_with(text: str, schema: JsonObject) -> JsonObject:
    return _ask(_user({"text": text}), tools=_tools("read", schema=schema))


_FINE = _ask(_user(), _model(_call()), _user(_response()))
_AUTO = {"functionCallingConfig": {"mode": "AUTO"}}
_PLACEHOLDER = "skip_thought_signature_validator"

_SHAPE = (
    _rule("no-contents", "`contents` is not empty.", bad=_ask(), good=_ask(_user())),
    _rule(
        "content-form",
        "Each content is an object with `role` and `parts`.",
        bad=_ask("Hello"),
        good=_ask(_user()),
    ),
    _rule(
        "unknown-role",
        "A content's role is `user` or `model`; instructions go to `systemInstruction`.",
        bad=_ask({"role": "assistant", "parts": [{"text": "Hello."}]}, _user()),
        good=_ask(_user(), _model(), _user()),
        error="“Please use a valid role: user, model”.",
    ),
    _rule(
        "role-missing",
        "Each content has a role; Vertex asks for it.",
        bad=_ask({"parts": [{"text": "Hello"}]}),
        good=_ask(_user()),
        severity=_RISKY,
    ),
    _rule(
        "no-parts",
        "Each content has at least one part.",
        bad=_ask(_user(), {"role": "model", "parts": []}, _user()),
        good=_ask(_user(), _model(), _user()),
    ),
    _rule(
        "part-data",
        "Each part has exactly one kind of data.",
        bad=_ask(_user({})),
        good=_ask(_user()),
        error="“required oneof field 'data' must have one initialized field”.",
    ),
    _rule(
        "empty-text",
        "Text is not the empty string; empty parts are dropped, then contents that became empty.",
        bad=_ask(_user(), _model({"text": ""}), _user()),
        good=_ask(_user(), _model({"text": " "}), _user()),
        error="“required oneof field 'data' must have one initialized field”.",
    ),
    _rule(
        "empty-prompt",
        "The user says something; an empty text that is all of a content was refused and was also seen accepted.",
        bad=_ask(_user({"text": ""})),
        good=_ask(_user()),
        severity=_RISKY,
    ),
    _rule(
        "unknown-field",
        "Contents, parts, calls and responses have no fields that the API does not know.",
        bad=_ask(_user({"type": "text", "text": "Hello"})),
        good=_ask(_user({"text": "Hello"})),
        error='“Unknown name "type" …: Cannot find field”.',
    ),
)

_PAIRS = (
    _rule(
        "call-place",
        "A content with calls follows one of the user, be it text or responses; it is never first.",
        bad=_ask(_model(_call()), _user(_response())),
        good=_FINE,
        error="“Please ensure that function call turn comes immediately after a user turn or after a function "
        "response turn”.",
    ),
    _rule(
        "part-place",
        "Calls stand in contents of the model, responses in contents of the user.",
        bad=_ask(_user(), _model(_call(), _response()), _user()),
        good=_FINE,
    ),
    _rule(
        "unanswered-call",
        "The very next content holds the responses to all calls.",
        bad=_ask(_user(), _model(_call()), _user()),
        good=_FINE,
        error="“the number of function response parts is equal to the number of function call parts”.",
    ),
    _rule(
        "response-count",
        "There are as many responses as calls, all in one content.",
        bad=_ask(_user(), _model(_call(), _call()), _user(_response()), _user(_response())),
        good=_ask(_user(), _model(_call(), _call()), _user(_response(), _response())),
        error="“the number of function response parts is equal to the number of function call parts”.",
    ),
    _rule(
        "orphan-response",
        "Responses follow a content with calls directly.",
        bad=_ask(_user(), _model(), _user(_response())),
        good=_FINE,
    ),
    _rule(
        "response-id",
        "Where calls and responses have ids, each response has that of its call.",
        bad=_ask(_user(), _model(_call(id="call_1")), _user(_response(id="call_2"))),
        good=_ask(_user(), _model(_call(id="call_1")), _user(_response(id="call_1"))),
    ),
    _rule(
        "id-one-sided",
        "Ids stand on calls and responses, or on neither.",
        bad=_ask(_user(), _model(_call(id="call_1")), _user(_response())),
        good=_FINE,
        severity=_RISKY,
    ),
    _rule(
        "name-missing",
        "Calls and responses name their function.",
        bad=_ask(_user(), _model(_call()), _user(_response(""))),
        good=_FINE,
    ),
    _rule(
        "response-name",
        "A response has the name that was called.",
        bad=_ask(_user(), _model(_call()), _user(_response("write"))),
        good=_FINE,
        severity=_RISKY,
    ),
    _rule(
        "response-form",
        "A `response` is an object; text is wrapped, for instance as `result`.",
        bad=_ask(_user(), _model(_call()), _user(_response(response="The file is empty."))),
        good=_FINE,
    ),
    _rule(
        "args-form",
        "The `args` of a call are an object.",
        bad=_ask(_user(), _model(_call(args='{"path": "a.txt"}')), _user(_response())),
        good=_FINE,
    ),
    _rule(
        "text-beside-responses",
        "Responses stand in a content of their own.",
        bad=_ask(_user(), _model(_call()), _user(_response(), {"text": "Well?"})),
        good=_ask(_user(), _model(_call()), _user(_response()), _user({"text": "Well?"})),
        severity=_RISKY,
    ),
    _rule(
        "declared-name",
        "A declared name begins with a letter or `_`, then up to 63 of `[a-zA-Z0-9_.:-]`.",
        bad=_ask(_user(), tools=_tools("read file")),
        good=_ask(_user(), tools=_tools("read.file")),
    ),
    _rule(
        "duplicate-declaration",
        "No name is declared twice.",
        bad=_ask(_user(), tools=_tools("read", "read")),
        good=_ask(_user(), tools=_tools("read", "write")),
    ),
    _rule(
        "config-without-functions",
        "A function calling config is sent with declarations only.",
        bad=_ask(_user(), toolConfig=_AUTO),
        good=_ask(_user(), tools=_tools("read"), toolConfig=_AUTO),
    ),
)

_SIGNATURES = (
    _rule(
        "signature-missing",
        "From Gemini 3 on, the first call of each answer in the current turn carries its `thoughtSignature`; for calls "
        "that Gemini did not make there is a placeholder. The other parallel calls need none.",
        bad=_FINE,
        good=_ask(_user(), _model(_call(signature=_PLACEHOLDER)), _user(_response())),
        error="“Function call is missing a thought_signature in functionCall parts”.",
        route=_NEW,
    ),
    _rule(
        "signature-form",
        "A signature is base64, unchanged, in the part it came with.",
        bad=_ask(_user(), _model(_call(signature="call_1!")), _user(_response())),
        good=_ask(_user(), _model(_call(signature="EpYCCpMCARFNMg==")), _user(_response())),
        error="“Base64 decoding failed”, “Corrupted thought signature”.",
    ),
)

_ENDING = (
    _rule(
        "first-content",
        "The first content is from the user.",
        bad=_ask(_model(), _user()),
        good=_ask(_user(), _model(), _user()),
        severity=_RISKY,
    ),
    _rule(
        "ends-on-answer",
        "The last content is from the user; models up to 3.1 take a final one of the model as a prefix.",
        bad=_ask(_user(), _model()),
        good=_ask(_user(), _model(), _user()),
        error="“Requests ending with a model turn are not supported”.",
        route="gemini/gemini-3.6-flash",
    ),
    _rule(
        "lone-answer",
        "A content of the model does not stand alone.",
        bad=_ask(_model()),
        good=_ask(_user(), _model()),
    ),
)

RULES: tuple[Rule, ...] = (*json_rules(_body_with, route=_OLD), *_SHAPE, *_PAIRS, *_SIGNATURES, *_ENDING)
