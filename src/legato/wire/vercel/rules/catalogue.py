"""The rules of the AI SDK as documentation, each with a refused and an accepted body."""

from __future__ import annotations

from legato.model import Json, JsonObject
from legato.wire.contract import Rule, Severity
from legato.wire.judging import json_rules

_ROUTE = "vercel/openai/gpt-4o"
_NOT_MESSAGES = "“The messages must be a ModelMessage[]”."
_MISSING = "`AI_MissingToolResultsError`, with the ids of the calls."


def _rule(
    rule: str,
    says: str,
    *,
    bad: JsonObject,
    good: JsonObject,
    error: str = "",
    severity: Severity = Severity.REFUSED,
) -> Rule:
    return Rule(f"vercel/{rule}", severity, says, bad, good, error, _ROUTE)


def _ask(*messages: Json, **fields: Json) -> JsonObject:
    return {"messages": list(messages), **fields}


def _text(text: str = "What does the file say?") -> JsonObject:
    return {"type": "text", "text": text}


def _user(*parts: Json) -> JsonObject:
    return {"role": "user", "content": list(parts) or [_text()]}


def _said(*parts: Json) -> JsonObject:
    return {"role": "assistant", "content": list(parts) or [_text("It is empty.")]}


def _call(call_id: str = "call_1", **fields: Json) -> JsonObject:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": "read", "input": {"path": "a.txt"}, **fields}


def _result(call_id: str = "call_1", **fields: Json) -> JsonObject:
    output = {"type": "text", "value": "The file is empty."}
    return {"type": "tool-result", "toolCallId": call_id, "toolName": "read", "output": output, **fields}


def _tool(*parts: Json) -> JsonObject:
    return {"role": "tool", "content": list(parts) or [_result()]}


def _body_with(text: str, schema: JsonObject) -> JsonObject:
    return _ask(_user(_text(text)), tools={"read": {"inputSchema": schema}})


_FINE = _ask(_user(), _said(_call()), _tool())

RULES: tuple[Rule, ...] = (
    *json_rules(_body_with, route=_ROUTE),
    _rule("no-messages", "`messages` is an array with at least one message.", bad=_ask(), good=_ask(_user())),
    _rule(
        "unknown-role",
        "A message is an object whose role is `system`, `user`, `assistant` or `tool`.",
        bad=_ask({"role": "developer", "content": "Be brief."}, _user()),
        good=_ask({"role": "system", "content": "Be brief."}, _user()),
        error=_NOT_MESSAGES,
    ),
    _rule(
        "content-form",
        "The content of a system message is a string, of a tool message an array of parts, of the others either.",
        bad=_ask({"role": "system", "content": [_text("Be brief.")]}, _user()),
        good=_ask({"role": "system", "content": "Be brief."}, _user()),
        error=_NOT_MESSAGES,
    ),
    _rule(
        "part-type",
        "Each part is of a type that its message may hold: calls in assistant messages, results in tool messages.",
        bad=_ask(_user({"type": "input_text", "text": "Hello"})),
        good=_ask(_user(_text("Hello"))),
        error=_NOT_MESSAGES,
    ),
    _rule(
        "text-form",
        "A text part holds a string.",
        bad=_ask(_user({"type": "text", "text": None})),
        good=_ask(_user()),
        error=_NOT_MESSAGES,
    ),
    _rule(
        "call-form",
        "A call has `toolCallId`, `toolName` and `input`.",
        bad=_ask(_user(), _said({"type": "tool-call", "toolCallId": "call_1", "toolName": "read"}), _tool()),
        good=_FINE,
        error=_NOT_MESSAGES,
    ),
    _rule(
        "result-form",
        "A result has `toolCallId` and `toolName`.",
        bad=_ask(_user(), _said(_call()), _tool(_result(toolName=None))),
        good=_FINE,
        error=_NOT_MESSAGES,
    ),
    _rule(
        "output-form",
        "The output of a result is an object with a type (`text`, `json`, `error-text`, `error-json`, `content`, "
        "`execution-denied`) and a fitting value.",
        bad=_ask(_user(), _said(_call()), _tool(_result(output="The file is empty."))),
        good=_FINE,
        error=_NOT_MESSAGES,
    ),
    _rule(
        "unanswered-call",
        "Each call has a result, or an approval response, in the tool messages right after it.",
        bad=_ask(_user(), _said(_call()), _user(_text("Well?"))),
        good=_ask(_user(), _said(_call()), _tool(), _user(_text("Well?"))),
        error=_MISSING,
    ),
    _rule(
        "result-too-late",
        "Nothing stands between a call and its result.",
        bad=_ask(_user(), _said(_call()), _user(_text("Well?")), _tool()),
        good=_ask(_user(), _said(_call()), _tool(), _user(_text("Well?"))),
        error=_MISSING,
    ),
    _rule(
        "orphan-result",
        "A result follows calls.",
        bad=_ask(_user(), _tool()),
        good=_FINE,
        error="The provider's own, for a result without a call.",
    ),
    _rule(
        "unknown-result",
        "A result names one of the calls before it.",
        bad=_ask(_user(), _said(_call()), _tool(_result(), _result("call_9"))),
        good=_FINE,
        error="The provider's own, for a result without a call.",
    ),
    _rule(
        "duplicate-result",
        "A call has one result.",
        bad=_ask(_user(), _said(_call()), _tool(_result(), _result())),
        good=_FINE,
        error="The provider's own, for two results of one call.",
    ),
    _rule(
        "duplicate-call-id",
        "The calls of one answer have different ids.",
        bad=_ask(_user(), _said(_call(), _call()), _tool()),
        good=_ask(_user(), _said(_call(), _call("call_2")), _tool(_result(), _result("call_2"))),
        error="The provider's own, for two calls of one id.",
    ),
    _rule(
        "repeated-id",
        "No id is used in two turns.",
        bad=_ask(_user(), _said(_call()), _tool(), _said(_call()), _tool()),
        good=_ask(_user(), _said(_call()), _tool(), _said(_call("call_2")), _tool(_result("call_2"))),
        severity=Severity.RISKY,
    ),
    _rule(
        "id-habit",
        "The id of a call begins with `call_`, which every provider behind the SDK takes.",
        bad=_ask(_user(), _said(_call("functions.read:0")), _tool(_result("functions.read:0"))),
        good=_FINE,
        severity=Severity.RISKY,
    ),
    _rule(
        "empty-text",
        "A message says something: empty text parts are dropped, and the message may end up empty.",
        bad=_ask(_user(), _said(_text("")), _user()),
        good=_ask(_user(), _said(), _user()),
        severity=Severity.RISKY,
    ),
)
