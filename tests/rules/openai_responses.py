"""Bodies for the rules of the Responses API."""

from legato.model import Json, JsonObject
from rule_examples import Example, json_examples


def _ask(*items: Json, **fields: Json) -> JsonObject:
    return {"store": False, "input": list(items), **fields}


def _user(text: str = "What does the file say?") -> JsonObject:
    return {"role": "user", "content": [{"type": "input_text", "text": text}]}


def _said(text: str = "It is empty.", **fields: Json) -> JsonObject:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **fields}


def _call(call_id: str = "call_1", **fields: Json) -> JsonObject:
    return {"type": "function_call", "call_id": call_id, "name": "read", "arguments": '{"path": "a.txt"}', **fields}


def _output(call_id: str = "call_1", output: Json = "The file is empty.") -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _reasoning(**fields: Json) -> JsonObject:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo…", **fields}


def _tool(name: str = "read", schema: JsonObject | None = None) -> JsonObject:
    return {"type": "function", "name": name, "parameters": schema or {"type": "object"}}


def _body_with(text: str, schema: JsonObject) -> JsonObject:
    return _ask(_user(text), tools=[_tool("read", schema)])


_FINE = _ask(_user(), _call(), _output())

EXAMPLES: dict[str, Example] = {
    "openai-responses/effort-word": Example(
        refused=_ask(_user(), reasoning={"effort": "HIGH"}), accepted=_ask(_user(), reasoning={"effort": "high"})
    ),
    "openai-responses/effort-level": Example(
        refused=_ask(_user(), reasoning={"effort": "xhigh"}), accepted=_ask(_user(), reasoning={"effort": "high"})
    ),
    **json_examples(_body_with),
    "openai-responses/messages-field": Example(
        refused={"messages": [{"role": "user", "content": "Hello"}], "input": "Hello"}, accepted={"input": "Hello"}
    ),
    "openai-responses/input-form": Example(
        refused={"input": {"role": "user", "content": "Hello"}},
        accepted={"input": [{"role": "user", "content": "Hello"}]},
    ),
    "openai-responses/item-form": Example(refused=_ask("Hello"), accepted=_ask(_user())),
    "openai-responses/tool-form": Example(
        refused=_ask(_user(), tools=[{"type": "function", "function": {"name": "read"}}]),
        accepted=_ask(_user(), tools=[_tool()]),
    ),
    "openai-responses/tool-name": Example(
        refused=_ask(_user(), tools=[_tool("files.read")]), accepted=_ask(_user(), tools=[_tool("files_read")])
    ),
    "openai-responses/unknown-role": Example(
        refused=_ask(_user(), {"role": "tool", "content": "The file is empty."}), accepted=_FINE
    ),
    "openai-responses/chat-field": Example(
        refused=_ask({"role": "user", "content": "Hello", "name": "ada"}),
        accepted=_ask({"role": "user", "content": "Hello"}),
    ),
    "openai-responses/content-form": Example(
        refused=_ask(_user(), {"role": "assistant", "content": None}),
        accepted=_ask(_user(), {"role": "assistant", "content": ""}),
    ),
    "openai-responses/part-type": Example(
        refused=_ask(_user(), {"role": "assistant", "content": [{"type": "input_text", "text": "Hello."}]}, _user()),
        accepted=_ask(_user(), _said("Hello."), _user()),
    ),
    "openai-responses/unanswered-call": Example(
        refused=_ask(_user(), _call(), _user("Are you still there?")),
        accepted=_ask(_user(), _call(), _user("Are you still there?"), _output()),
    ),
    "openai-responses/orphan-output": Example(
        refused=_ask(_user(), _output(), _call()), accepted={"previous_response_id": "resp_1", "input": [_output()]}
    ),
    "openai-responses/duplicate-output": Example(refused=_ask(_user(), _call(), _output(), _output()), accepted=_FINE),
    "openai-responses/duplicate-call-id": Example(
        refused=_ask(_user(), _call(), _output(), _call()),
        accepted=_ask(_user(), _call(), _output(), _call("call_2"), _output("call_2")),
    ),
    "openai-responses/call-id-form": Example(
        refused=_ask(_user(), _call("call_" + "a" * 60), _output("call_" + "a" * 60)),
        accepted=_ask(_user(), _call("call_" + "a" * 59), _output("call_" + "a" * 59)),
    ),
    "openai-responses/call-id-habit": Example(
        refused=_ask(_user(), _call("toolu_1"), _output("toolu_1")), accepted=_FINE
    ),
    "openai-responses/name-form": Example(
        refused=_ask(_user(), _call(name="files.read"), _output()),
        accepted=_ask(_user(), _call(name="files_read"), _output()),
    ),
    "openai-responses/arguments": Example(
        refused=_ask(_user(), _call(arguments={"path": "a.txt"}), _output()), accepted=_FINE
    ),
    "openai-responses/output-form": Example(
        refused=_ask(_user(), _call(), _output(output={"text": "The file is empty."})),
        accepted=_ask(_user(), _call(), _output(output=[{"type": "input_text", "text": "The file is empty."}])),
    ),
    "openai-responses/call-items": Example(
        refused=_FINE, accepted=_ask(_user(), _user("Context (tool result):\nThe file is empty."))
    ),
    "openai-responses/reasoning-summary": Example(
        refused=_ask(_user(), _reasoning(summary=None), _call(), _output()),
        accepted=_ask(_user(), _reasoning(), _call(), _output()),
    ),
    "openai-responses/reasoning-alone": Example(
        refused=_ask(_user(), _reasoning(), {"role": "assistant", "content": "It is empty."}, _user()),
        accepted=_ask(_user(), _reasoning(), _said(id="msg_1"), _user()),
    ),
    "openai-responses/reasoning-not-encrypted": Example(
        refused=_ask(_user(), _reasoning(encrypted_content=None), _call(), _output()),
        accepted=_ask(_user(), _reasoning(), _call(), _output()),
    ),
    "openai-responses/item-id-form": Example(refused=_ask(_user(), _call(id="call_1"), _output()), accepted=_FINE),
    "openai-responses/duplicate-item-id": Example(
        refused=_ask(_user(), _said(id="msg_1"), _user(), _said(id="msg_1"), _user()),
        accepted=_ask(_user(), _said(), _user(), _said(), _user()),
    ),
    "openai-responses/item-without-reasoning": Example(
        refused=_ask(_user(), _call(id="fc_1"), _output()), accepted=_FINE
    ),
}
