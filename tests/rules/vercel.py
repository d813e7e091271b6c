"""Bodies for the rules of the AI SDK."""

from legato.model import Json, JsonObject
from rule_examples import Example, json_examples


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

EXAMPLES: dict[str, Example] = {
    "vercel/effort-word": Example(
        refused=_ask(_user(), reasoning="max"), accepted=_ask(_user(), reasoning="provider-default")
    ),
    **json_examples(_body_with),
    "vercel/no-messages": Example(refused=_ask(), accepted=_ask(_user())),
    "vercel/unknown-role": Example(
        refused=_ask({"role": "developer", "content": "Be brief."}, _user()),
        accepted=_ask({"role": "system", "content": "Be brief."}, _user()),
    ),
    "vercel/content-form": Example(
        refused=_ask({"role": "system", "content": [_text("Be brief.")]}, _user()),
        accepted=_ask({"role": "system", "content": "Be brief."}, _user()),
    ),
    "vercel/part-type": Example(
        refused=_ask(_user({"type": "input_text", "text": "Hello"})), accepted=_ask(_user(_text("Hello")))
    ),
    "vercel/text-form": Example(refused=_ask(_user({"type": "text", "text": None})), accepted=_ask(_user())),
    "vercel/call-form": Example(
        refused=_ask(_user(), _said({"type": "tool-call", "toolCallId": "call_1", "toolName": "read"}), _tool()),
        accepted=_FINE,
    ),
    "vercel/result-form": Example(refused=_ask(_user(), _said(_call()), _tool(_result(toolName=None))), accepted=_FINE),
    "vercel/output-form": Example(
        refused=_ask(_user(), _said(_call()), _tool(_result(output="The file is empty."))), accepted=_FINE
    ),
    "vercel/unanswered-call": Example(
        refused=_ask(_user(), _said(_call()), _user(_text("Well?"))),
        accepted=_ask(_user(), _said(_call()), _tool(), _user(_text("Well?"))),
    ),
    "vercel/result-too-late": Example(
        refused=_ask(_user(), _said(_call()), _user(_text("Well?")), _tool()),
        accepted=_ask(_user(), _said(_call()), _tool(), _user(_text("Well?"))),
    ),
    "vercel/orphan-result": Example(refused=_ask(_user(), _tool()), accepted=_FINE),
    "vercel/unknown-result": Example(
        refused=_ask(_user(), _said(_call()), _tool(_result(), _result("call_9"))), accepted=_FINE
    ),
    "vercel/duplicate-result": Example(
        refused=_ask(_user(), _said(_call()), _tool(_result(), _result())), accepted=_FINE
    ),
    "vercel/duplicate-call-id": Example(
        refused=_ask(_user(), _said(_call(), _call()), _tool()),
        accepted=_ask(_user(), _said(_call(), _call("call_2")), _tool(_result(), _result("call_2"))),
    ),
    "vercel/repeated-id": Example(
        refused=_ask(_user(), _said(_call()), _tool(), _said(_call()), _tool()),
        accepted=_ask(_user(), _said(_call()), _tool(), _said(_call("call_2")), _tool(_result("call_2"))),
    ),
    "vercel/id-habit": Example(
        refused=_ask(_user(), _said(_call("functions.read:0")), _tool(_result("functions.read:0"))), accepted=_FINE
    ),
    "vercel/empty-text": Example(
        refused=_ask(_user(), _said(_text("")), _user()), accepted=_ask(_user(), _said(), _user())
    ),
}
