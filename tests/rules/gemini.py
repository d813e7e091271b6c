"""Bodies for the rules of generateContent."""

from legato.model import Json, JsonObject
from rule_examples import Example, json_examples


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
    return [
        {
            "functionDeclarations": [
                {"name": name, "parametersJsonSchema": schema or {"type": "object"}} for name in names
            ]
        }
    ]


def _level(level: str) -> dict[str, Json]:
    return {"generationConfig": {"thinkingConfig": {"thinkingLevel": level}}}


def _budget(tokens: int) -> dict[str, Json]:
    return {"generationConfig": {"thinkingConfig": {"thinkingBudget": tokens}}}


def _body_with(text: str, schema: JsonObject) -> JsonObject:
    return _ask(_user({"text": text}), tools=_tools("read", schema=schema))


_FINE = _ask(_user(), _model(_call()), _user(_response()))
_AUTO = {"functionCallingConfig": {"mode": "AUTO"}}
_PLACEHOLDER = "skip_thought_signature_validator"

EXAMPLES: dict[str, Example] = {
    "gemini/thinking-level": Example(refused=_ask(_user(), **_level("max")), accepted=_ask(_user(), **_level("HIGH"))),
    "gemini/thinking-level-of-model": Example(
        refused=_ask(_user(), **_level("medium")), accepted=_ask(_user(), **_level("high"))
    ),
    "gemini/thinking-budget": Example(refused=_ask(_user(), **_budget(0)), accepted=_ask(_user(), **_budget(128))),
    **json_examples(_body_with),
    "gemini/no-contents": Example(refused=_ask(), accepted=_ask(_user())),
    "gemini/content-form": Example(refused=_ask("Hello"), accepted=_ask(_user())),
    "gemini/unknown-role": Example(
        refused=_ask({"role": "assistant", "parts": [{"text": "Hello."}]}, _user()),
        accepted=_ask(_user(), _model(), _user()),
    ),
    "gemini/role-missing": Example(refused=_ask({"parts": [{"text": "Hello"}]}), accepted=_ask(_user())),
    "gemini/no-parts": Example(
        refused=_ask(_user(), {"role": "model", "parts": []}, _user()), accepted=_ask(_user(), _model(), _user())
    ),
    "gemini/part-data": Example(refused=_ask(_user({})), accepted=_ask(_user())),
    "gemini/empty-text": Example(
        refused=_ask(_user({"text": ""}, {"text": "Hello"})), accepted=_ask(_user(), _model({"text": ""}), _user())
    ),
    "gemini/empty-prompt": Example(refused=_ask(_user({"text": ""})), accepted=_ask(_user())),
    "gemini/unknown-field": Example(
        refused=_ask(_user({"type": "text", "text": "Hello"})), accepted=_ask(_user({"text": "Hello"}))
    ),
    "gemini/call-place": Example(refused=_ask(_model(_call()), _user(_response())), accepted=_FINE),
    "gemini/part-place": Example(refused=_ask(_user(), _model(_call(), _response()), _user()), accepted=_FINE),
    "gemini/unanswered-call": Example(refused=_ask(_user(), _model(_call()), _user()), accepted=_FINE),
    "gemini/response-count": Example(
        refused=_ask(_user(), _model(_call(), _call()), _user(_response()), _user(_response())),
        accepted=_ask(_user(), _model(_call(), _call()), _user(_response(), _response())),
    ),
    "gemini/orphan-response": Example(refused=_ask(_user(), _model(), _user(_response())), accepted=_FINE),
    "gemini/response-id": Example(
        refused=_ask(_user(), _model(_call(id="call_1")), _user(_response(id="call_2"))),
        accepted=_ask(_user(), _model(_call(id="call_1")), _user(_response(id="call_1"))),
    ),
    "gemini/id-one-sided": Example(
        refused=_ask(_user(), _model(_call(id="call_1")), _user(_response())), accepted=_FINE
    ),
    "gemini/name-missing": Example(refused=_ask(_user(), _model(_call()), _user(_response(""))), accepted=_FINE),
    "gemini/response-name": Example(refused=_ask(_user(), _model(_call()), _user(_response("write"))), accepted=_FINE),
    "gemini/response-form": Example(
        refused=_ask(_user(), _model(_call()), _user(_response(response="The file is empty."))), accepted=_FINE
    ),
    "gemini/args-form": Example(
        refused=_ask(_user(), _model(_call(args='{"path": "a.txt"}')), _user(_response())), accepted=_FINE
    ),
    "gemini/text-beside-responses": Example(
        refused=_ask(_user(), _model(_call()), _user(_response(), {"text": "Well?"})),
        accepted=_ask(_user(), _model(_call()), _user(_response()), _user({"text": "Well?"})),
    ),
    "gemini/declared-name": Example(
        refused=_ask(_user(), tools=_tools("read file")), accepted=_ask(_user(), tools=_tools("read.file"))
    ),
    "gemini/duplicate-declaration": Example(
        refused=_ask(_user(), tools=_tools("read", "read")), accepted=_ask(_user(), tools=_tools("read", "write"))
    ),
    "gemini/config-without-functions": Example(
        refused=_ask(_user(), toolConfig=_AUTO), accepted=_ask(_user(), tools=_tools("read"), toolConfig=_AUTO)
    ),
    "gemini/signature-missing": Example(
        refused=_FINE, accepted=_ask(_user(), _model(_call(signature=_PLACEHOLDER)), _user(_response()))
    ),
    "gemini/signature-form": Example(
        refused=_ask(_user(), _model(_call(signature="call_1!")), _user(_response())),
        accepted=_ask(_user(), _model(_call(signature="EpYCCpMCARFNMg==")), _user(_response())),
    ),
    "gemini/first-content": Example(refused=_ask(_model(), _user()), accepted=_ask(_user(), _model(), _user())),
    "gemini/ends-on-answer": Example(refused=_ask(_user(), _model()), accepted=_ask(_user(), _model(), _user())),
    "gemini/lone-answer": Example(refused=_ask(_model()), accepted=_ask(_user(), _model())),
}
