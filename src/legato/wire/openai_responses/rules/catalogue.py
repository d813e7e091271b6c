"""The rules of the Responses API as documentation, each with a refused and an accepted body."""

from __future__ import annotations

from collections.abc import Mapping

from legato.model import Json, JsonObject
from legato.wire.contract import Rule, Severity
from legato.wire.judging import json_rules

_GPT = "openai/gpt-5"


def _rule(
    rule: str,
    says: str,
    *,
    bad: Mapping[str, Json],
    good: Mapping[str, Json],
    error: str = "",
    route: str = _GPT,
    severity: Severity = Severity.REFUSED,
) -> Rule:
    model = route.partition("/")[2]
    return Rule(
        f"openai-responses/{rule}", severity, says, {"model": model, **bad}, {"model": model, **good}, error, route
    )


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
    return {"model": "gpt-5", **_ask(_user(text), tools=[_tool("read", schema)])}


_FINE = _ask(_user(), _call(), _output())

RULES: tuple[Rule, ...] = (
    *json_rules(_body_with, route=_GPT),
    _rule(
        "messages-field",
        "The history stands in `input`; there is no `messages`.",
        bad={"messages": [{"role": "user", "content": "Hello"}], "input": "Hello"},
        good={"input": "Hello"},
        error="“this parameter has moved to 'input'”.",
    ),
    _rule(
        "input-form",
        "`input` is a string or an array of items, and only left out where the server holds what it would say.",
        bad={"input": {"role": "user", "content": "Hello"}},
        good={"input": [{"role": "user", "content": "Hello"}]},
    ),
    _rule(
        "item-form",
        "Each item of `input` is an object; one without a `type` is a message.",
        bad=_ask("Hello"),
        good=_ask(_user()),
    ),
    _rule(
        "tool-form",
        "A function tool is flat: its `name` stands next to its `type`.",
        bad=_ask(_user(), tools=[{"type": "function", "function": {"name": "read"}}]),
        good=_ask(_user(), tools=[_tool()]),
    ),
    _rule(
        "tool-name",
        "The name of a tool in `tools` has 1 to 64 characters of `[a-zA-Z0-9_-]`.",
        bad=_ask(_user(), tools=[_tool("files.read")]),
        good=_ask(_user(), tools=[_tool("files_read")]),
    ),
    # Messages.
    _rule(
        "unknown-role",
        "A message's role is `user`, `assistant`, `system` or `developer`; results are items, not messages.",
        bad=_ask(_user(), {"role": "tool", "content": "The file is empty."}),
        good=_FINE,
        error="“Invalid value: 'tool'”.",
    ),
    _rule(
        "chat-field",
        "A message carries none of Chat Completions' fields: `name`, `tool_calls`, `reasoning_content`, …",
        bad=_ask({"role": "user", "content": "Hello", "name": "ada"}),
        good=_ask({"role": "user", "content": "Hello"}),
        error="“Unknown parameter: 'input[27].name'”.",
    ),
    _rule(
        "content-form",
        "The content of a message is a string or an array of parts.",
        bad=_ask(_user(), {"role": "assistant", "content": None}),
        good=_ask(_user(), {"role": "assistant", "content": ""}),
    ),
    _rule(
        "part-type",
        "Parts of an assistant message are `output_text` or `refusal`, those of the others `input_text`, "
        "`input_image`, `input_file` or `input_audio`.",
        bad=_ask(_user(), {"role": "assistant", "content": [{"type": "input_text", "text": "Hello."}]}, _user()),
        good=_ask(_user(), _said("Hello."), _user()),
        error="“Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'”.",
    ),
    # Calls and outputs.
    _rule(
        "unanswered-call",
        "Each call of the request has its output in it, anywhere after the call.",
        bad=_ask(_user(), _call(), _user("Are you still there?")),
        good=_ask(_user(), _call(), _user("Are you still there?"), _output()),
        error="“No tool output found for function call”.",
    ),
    _rule(
        "orphan-output",
        "Each output has its call before it, unless the server holds earlier items.",
        bad=_ask(_user(), _output(), _call()),
        good={"previous_response_id": "resp_1", "input": [_output()]},
        error="“No tool call found for function call output with call_id”.",
    ),
    _rule(
        "duplicate-output",
        "A call has one output.",
        bad=_ask(_user(), _call(), _output(), _output()),
        good=_FINE,
    ),
    _rule(
        "duplicate-call-id",
        "No two calls share a `call_id`, not even in different turns.",
        bad=_ask(_user(), _call(), _output(), _call()),
        good=_ask(_user(), _call(), _output(), _call("call_2"), _output("call_2")),
    ),
    _rule(
        "call-id-form",
        "A `call_id` has 1 to 64 characters.",
        bad=_ask(_user(), _call("call_" + "a" * 60), _output("call_" + "a" * 60)),
        good=_ask(_user(), _call("call_" + "a" * 59), _output("call_" + "a" * 59)),
    ),
    _rule(
        "call-id-habit",
        "A `call_id` begins with `call_`.",
        bad=_ask(_user(), _call("toolu_1"), _output("toolu_1")),
        good=_FINE,
        severity=Severity.RISKY,
    ),
    _rule(
        "name-form",
        "The name of a called tool has 1 to 128 characters of `[a-zA-Z0-9_-]`.",
        bad=_ask(_user(), _call(name="files.read"), _output()),
        good=_ask(_user(), _call(name="files_read"), _output()),
    ),
    _rule(
        "arguments",
        "The arguments of a call are a string that holds a JSON object.",
        bad=_ask(_user(), _call(arguments={"path": "a.txt"}), _output()),
        good=_FINE,
    ),
    _rule(
        "output-form",
        "An output is a string or an array of `input_text`, `input_image`, `input_file` or `input_audio` parts.",
        bad=_ask(_user(), _call(), _output(output={"text": "The file is empty."})),
        good=_ask(_user(), _call(), _output(output=[{"type": "input_text", "text": "The file is empty."}])),
    ),
    _rule(
        "call-items",
        "A gateway that takes the history of tools as text only gets no call and no output items.",
        bad=_FINE,
        good=_ask(_user(), _user("Context (tool result):\nThe file is empty.")),
        route="vercel-gateway/openai/gpt-5",
        severity=Severity.RISKY,
    ),
    # Reasoning and item ids.
    _rule(
        "reasoning-summary",
        "A reasoning item has a `summary`; an empty array is enough.",
        bad=_ask(_user(), _reasoning(summary=None), _call(), _output()),
        good=_ask(_user(), _reasoning(), _call(), _output()),
    ),
    _rule(
        "reasoning-alone",
        "After reasoning stands the item it led to: a call, or the answer as an item with its own id.",
        bad=_ask(_user(), _reasoning(), {"role": "assistant", "content": "It is empty."}, _user()),
        good=_ask(_user(), _reasoning(), _said(id="msg_1"), _user()),
        error="“of type 'reasoning' was provided without its required following item”.",
    ),
    _rule(
        "reasoning-not-encrypted",
        "With `store: false`, a reasoning item carries its `encrypted_content`.",
        bad=_ask(_user(), _reasoning(encrypted_content=None), _call(), _output()),
        good=_ask(_user(), _reasoning(), _call(), _output()),
        error="“Items are not persisted when `store` is set to false”.",
    ),
    _rule(
        "item-id-form",
        "The id of an item, where it is sent, has the prefix of its type (`fc`, `msg`, `rs`, `ctc`) and at most 64 "
        "letters, digits, `_` or `-`; the id of a chat call is a `call_id`, not an item's id.",
        bad=_ask(_user(), _call(id="call_1"), _output()),
        good=_FINE,
        error="“Expected an ID that begins with 'fc'”.",
    ),
    _rule(
        "duplicate-item-id",
        "The id of an item occurs once.",
        bad=_ask(_user(), _said(id="msg_1"), _user(), _said(id="msg_1"), _user()),
        good=_ask(_user(), _said(), _user(), _said(), _user()),
        error="“Duplicate item found with id”.",
    ),
    _rule(
        "item-without-reasoning",
        "An item of a reasoning model that is sent with its id has its reasoning before it; leaving both out is safe.",
        bad=_ask(_user(), _call(id="fc_1"), _output()),
        good=_FINE,
        severity=Severity.RISKY,
    ),
)
