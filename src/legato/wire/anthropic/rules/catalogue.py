"""The rules of the Messages API as documentation, each with a refused and an accepted body."""

from __future__ import annotations

from collections.abc import Mapping

from legato.model import Json, JsonObject
from legato.wire.contract import Rule, Severity
from legato.wire.judging import json_rules

_SONNET = "anthropic/claude-sonnet-4-5"
_OPUS = "anthropic/claude-opus-4-8"
_PREFILLED = "anthropic/claude-3-haiku-20240307"
_RISKY = Severity.RISKY


def _rule(
    rule: str,
    says: str,
    *,
    bad: Mapping[str, Json],
    good: Mapping[str, Json],
    error: str = "",
    route: str = _SONNET,
    severity: Severity = Severity.REFUSED,
) -> Rule:
    model = route.partition("/")[2]
    return Rule(f"anthropic/{rule}", severity, says, {"model": model, **bad}, {"model": model, **good}, error, route)


def _tool(name: str = "read", schema: JsonObject | None = None, **fields: Json) -> JsonObject:
    return {"name": name, "input_schema": schema or {"type": "object"}, **fields}


def _ask(*messages: Json, **fields: Json) -> JsonObject:
    return {"max_tokens": 4096, "tools": [_tool()], "messages": list(messages), **fields}


def _text(text: str = "What does the file say?", **fields: Json) -> JsonObject:
    return {"type": "text", "text": text, **fields}


def _user(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(blocks) or [_text()]}


def _said(*blocks: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(blocks) or [_text("It is empty.")]}


def _system(text: str = "Be brief.") -> JsonObject:
    return {"role": "system", "content": [_text(text)]}


def _call(call_id: str = "toolu_1", **fields: Json) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": "a.txt"}, **fields}


def _result(call_id: str = "toolu_1", content: Json = "The file is empty.", **fields: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def _thought(**fields: Json) -> JsonObject:
    return {"type": "thinking", "thinking": "The user wants the file.", "signature": "EuYBCkQ…", **fields}


def _server_call(call_id: str = "srvtoolu_1") -> JsonObject:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": "legato"}}


def _server_result(call_id: str = "srvtoolu_1") -> JsonObject:
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}


def _body_with(text: str, schema: JsonObject) -> JsonObject:
    return {"model": "claude-sonnet-4-5", **_ask(_user(_text(text)), tools=[_tool("read", schema)])}


_FINE = _ask(_user(), _said(_call()), _user(_result()))
_THINKING = {"type": "enabled", "budget_tokens": 2048}
_IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/cat.png"}}
_MARK = {"type": "ephemeral"}

_SHAPE = (
    _rule(
        "max-tokens",
        "`max_tokens` is given.",
        bad={"messages": [_user()]},
        good={"max_tokens": 4096, "messages": [_user()]},
    ),
    _rule(
        "no-messages",
        "`messages` is an array with at least one message.",
        bad=_ask(),
        good=_ask(_user()),
    ),
    _rule("message-form", "Each message is an object.", bad=_ask("Hello"), good=_ask(_user())),
    _rule(
        "first-message",
        "The first message is from the user.",
        bad=_ask(_said(), _user()),
        good=_ask(_user(), _said(), _user()),
    ),
    _rule(
        "unknown-role",
        "A message's role is `user` or `assistant`.",
        bad=_ask({"role": "human", "content": [_text()]}),
        good=_ask(_user()),
    ),
    _rule(
        "system-role",
        "Instructions go to the top-level `system`; only newer models take them among the messages.",
        bad=_ask(_user(), _system()),
        good=_ask(_user(), system="Be brief."),
    ),
    _rule(
        "system-place",
        "An instruction among the messages follows a turn of the user and is last or stands before an answer; never "
        "two in a row, never between calls and results.",
        bad=_ask(_user(), _said(_call()), _system(), _user(_result())),
        good=_ask(_user(), _said(_call()), _user(_result()), _system()),
        route=_OPUS,
    ),
    _rule(
        "extra-field",
        "A message holds `role` and `content`, nothing else.",
        bad=_ask({**_user(), "name": "ada"}),
        good=_ask(_user()),
        error="“Extra inputs are not permitted”.",
    ),
    _rule(
        "neighbours",
        "Neighbouring messages have different roles: the API joins them, other hosts of the same models refuse them.",
        bad=_ask(_user(), _user(_text("And be brief."))),
        good=_ask(_user(_text(), _text("And be brief."))),
        severity=_RISKY,
    ),
    _rule(
        "content-form",
        "Content is a string or an array of blocks, each an object with a `type`.",
        bad=_ask({"role": "user", "content": _text()}),
        good=_ask(_user()),
    ),
    _rule(
        "empty-message",
        "No message is empty, except a final one of the assistant.",
        bad=_ask(_user(), {"role": "assistant", "content": []}, _user()),
        good=_ask(_user(), _said(), _user()),
        error="“all messages must have non-empty content except for the optional final assistant message”.",
    ),
    _rule(
        "blank-text",
        "A text block holds something other than whitespace, in `system` too.",
        bad=_ask(_user(_text(" \n"))),
        good=_ask(_user(_text("."))),
        error="“text content blocks must contain non-whitespace text”.",
    ),
    _rule(
        "block-place",
        "Calls and thinking stand in messages of the assistant; results, images and documents in those of the user.",
        bad=_ask(_user(), _said(_IMAGE, _text("A cat.")), _user()),
        good=_ask(_user(_IMAGE, _text()), _said(_text("A cat.")), _user()),
        error="For results: “`tool_result` blocks can only be in `user` messages”.",
    ),
    _rule(
        "cache-marks",
        "A request has at most four `cache_control` marks.",
        bad=_ask(_user(*(_text(f"Part {n}.", cache_control=_MARK) for n in range(5)))),
        good=_ask(_user(*(_text(f"Part {n}.", cache_control=_MARK) for n in range(4)))),
    ),
)

_TOOLS = (
    _rule(
        "unanswered-call",
        "Each call is answered in the message right after it.",
        bad=_ask(_user(), _said(_call("toolu_1"), _call("toolu_2")), _user(_result("toolu_1"))),
        good=_ask(_user(), _said(_call("toolu_1"), _call("toolu_2")), _user(_result("toolu_1"), _result("toolu_2"))),
        error="“`tool_use` ids were found without `tool_result` blocks immediately after”.",
    ),
    _rule(
        "result-too-late",
        "Nothing stands between a call's message and that of its result.",
        bad=_ask(_user(), _said(_call()), _user(_text("Well?")), _said(), _user(_result())),
        good=_ask(_user(), _said(_call()), _user(_result(), _text("Well?"))),
        error="The same two as for a missing and for an unknown result.",
    ),
    _rule(
        "orphan-result",
        "A result follows a message of the assistant with calls.",
        bad=_ask(_user(), _said(), _user(_result())),
        good=_FINE,
        error="“unexpected `tool_use_id` found in `tool_result` blocks”.",
    ),
    _rule(
        "unknown-result",
        "A result names one of the calls of the message before.",
        bad=_ask(_user(), _said(_call()), _user(_result(), _result("toolu_9"))),
        good=_FINE,
        error="“unexpected `tool_use_id` found in `tool_result` blocks”.",
    ),
    _rule(
        "duplicate-result",
        "A call has one result.",
        bad=_ask(_user(), _said(_call()), _user(_result(), _result())),
        good=_FINE,
        error="“each tool_use must have a single result”.",
    ),
    _rule(
        "duplicate-call-id",
        "The calls of one answer have different ids.",
        bad=_ask(_user(), _said(_call(), _call()), _user(_result())),
        good=_ask(_user(), _said(_call(), _call("toolu_2")), _user(_result(), _result("toolu_2"))),
        error="“`tool_use` ids must be unique”.",
    ),
    _rule(
        "repeated-id",
        "No id is used in two turns; this was refused and was also seen accepted.",
        bad=_ask(_user(), _said(_call()), _user(_result()), _said(_call()), _user(_result())),
        good=_ask(_user(), _said(_call()), _user(_result()), _said(_call("toolu_2")), _user(_result("toolu_2"))),
        error="“`tool_use` ids must be unique”.",
        severity=_RISKY,
    ),
    _rule(
        "result-not-first",
        "The results are the first blocks of their message; text and images come after all of them.",
        bad=_ask(_user(), _said(_call()), _user(_text("Here it is."), _result())),
        good=_ask(_user(), _said(_call()), _user(_result(), _text("Here it is."))),
        error="“`tool_use` ids were found without `tool_result` blocks immediately after”.",
    ),
    _rule(
        "text-after-call",
        "The text of an answer stands before its calls.",
        bad=_ask(_user(), _said(_call(), _text("Let me look.")), _user(_result())),
        good=_ask(_user(), _said(_text("Let me look."), _call()), _user(_result())),
        error="“`tool_use` ids were found without `tool_result` blocks immediately after”, though they are there.",
    ),
    _rule(
        "id-form",
        "The id of a call is made of letters, digits, `_` and `-`, in the call and in its result.",
        bad=_ask(_user(), _said(_call("functions.read:0")), _user(_result("functions.read:0"))),
        good=_FINE,
        error="The id does not match the pattern `^[a-zA-Z0-9_-]+$`.",
    ),
    _rule(
        "id-habit",
        "The id of a call begins with `toolu_`.",
        bad=_ask(_user(), _said(_call("call_1")), _user(_result("call_1"))),
        good=_FINE,
        severity=_RISKY,
    ),
    _rule(
        "input-form",
        "The input of a call is an object, `{}` where there is none.",
        bad=_ask(_user(), _said(_call(input='{"path": "a.txt"}')), _user(_result())),
        good=_FINE,
        error="“Input should be a valid dictionary”.",
    ),
    _rule(
        "name-form",
        "The name of a called tool has 1 to 200 characters.",
        bad=_ask(_user(), _said(_call(name="")), _user(_result())),
        good=_FINE,
    ),
    _rule("tool-form", "`tools` is an array of objects.", bad=_ask(_user(), tools={"read": {}}), good=_ask(_user())),
    _rule(
        "tool-name",
        "The name of a tool in `tools` has 1 to 128 characters of `[a-zA-Z0-9_-]`.",
        bad=_ask(_user(), tools=[_tool("files.read")]),
        good=_ask(_user(), tools=[_tool("files_read")]),
    ),
    _rule(
        "duplicate-tool",
        "No two tools have the same name.",
        bad=_ask(_user(), tools=[_tool(), _tool()]),
        good=_ask(_user(), tools=[_tool(), _tool("write")]),
    ),
    _rule(
        "tools-undefined",
        "A request whose history holds calls or results defines tools.",
        bad={"max_tokens": 4096, "messages": [_user(), _said(_call()), _user(_result())]},
        good=_FINE,
        error="“Requests which include `tool_use` or `tool_result` blocks must define tools”.",
    ),
    _rule(
        "result-content",
        "The content of a result is a string or blocks of text, image, document, search_result or tool_reference.",
        bad=_ask(_user(), _said(_call()), _user(_result(content={"lines": 0}))),
        good=_ask(_user(), _said(_call()), _user(_result(content=[_IMAGE]))),
    ),
    _rule(
        "empty-error",
        "A result with `is_error: true` says what went wrong.",
        bad=_ask(_user(), _said(_call()), _user(_result(content="", is_error=True))),
        good=_ask(_user(), _said(_call()), _user(_result(content="No such file.", is_error=True))),
    ),
    _rule(
        "empty-result",
        "A result is not empty; a short text that says so stands in for nothing.",
        bad=_ask(_user(), _said(_call()), _user(_result(content=""))),
        good=_ask(_user(), _said(_call()), _user(_result(content="(no output)"))),
        severity=_RISKY,
    ),
    _rule(
        "server-tool-id",
        "The id of a server tool's call begins with `srvtoolu_`.",
        bad=_ask(_user(), _said(_server_call("toolu_1"), _server_result("toolu_1"), _text("Smoothly.")), _user()),
        good=_ask(_user(), _said(_server_call(), _server_result(), _text("Smoothly.")), _user()),
    ),
    _rule(
        "server-result-alone",
        "The result of a server tool follows its call, in messages of the assistant.",
        bad=_ask(_user(), _said(_server_result(), _text("Smoothly.")), _user()),
        good=_ask(_user(), _said(_server_call(), _server_result(), _text("Smoothly.")), _user()),
        severity=_RISKY,
    ),
)

_THOUGHTS = (
    _rule(
        "thinking-unsigned",
        "A thinking block keeps its text and its signature, a redacted one its data; those of another vendor cannot "
        "be sent.",
        bad=_ask(_user(), _said({"type": "thinking", "thinking": "A file."}, _text("It is empty.")), _user()),
        good=_ask(_user(), _said(_thought(), _text("It is empty.")), _user()),
        error="“thinking.signature: Field required”, “Invalid `signature` in `thinking` block”.",
    ),
    _rule(
        "thinking-not-first",
        "A message that holds thinking begins with it.",
        bad=_ask(_user(), _said(_text("It is empty."), _thought(), _text("Really.")), _user(), thinking=_THINKING),
        good=_ask(_user(), _said(_thought(), _text("It is empty.")), _user(), thinking=_THINKING),
        error="“Expected `thinking` or `redacted_thinking`, but found `text`”.",
    ),
    _rule(
        "thinking-last",
        "Thinking is not the last block of an answer.",
        bad=_ask(_user(), _said(_thought()), _user()),
        good=_ask(_user(), _said(_thought(), _text("It is empty.")), _user()),
        error="“The final block in an assistant message cannot be `thinking`”.",
    ),
    _rule(
        "loop-without-thinking",
        "With thinking enabled, when the request ends in results, the answer that began this run of calls starts with "
        "thinking.",
        bad=_ask(_user(), _said(_call()), _user(_result()), thinking=_THINKING),
        good=_ask(_user(), _said(_thought(), _call()), _user(_result()), thinking=_THINKING),
        error="“Expected `thinking` or `redacted_thinking`, but found `tool_use`”.",
    ),
    _rule(
        "thinking-while-off",
        "With thinking off, a final answer holds no thinking.",
        bad=_ask(_user(), _said(_thought(), _text("It is"))),
        good=_ask(_user(), _said(_text("It is"))),
        route=_PREFILLED,
    ),
    _rule(
        "forced-tool",
        "With thinking on, `tool_choice` is auto or none.",
        bad=_ask(_user(), thinking=_THINKING, tool_choice={"type": "any"}),
        good=_ask(_user(), thinking=_THINKING, tool_choice={"type": "auto"}),
    ),
)

_ENDING = (
    _rule(
        "prefill",
        "A request does not end on text of the assistant; only old models continue it, and only with thinking off.",
        bad=_ask(_user(), _said()),
        good=_ask(_user(), _said(), _user()),
        error="“This model does not support assistant message prefill”.",
        route="anthropic/claude-sonnet-4-6",
    ),
    _rule(
        "prefill-whitespace",
        "Text that the model is to continue does not end with whitespace.",
        bad=_ask(_user(), _said(_text("It is "))),
        good=_ask(_user(), _said(_text("It is"))),
        route=_PREFILLED,
    ),
    _rule(
        "ends-on-answer",
        "The last message is from the user.",
        bad=_ask(_user(), _said()),
        good=_ask(_user(), _said(), _user()),
        route=_PREFILLED,
        severity=_RISKY,
    ),
)

RULES: tuple[Rule, ...] = (*json_rules(_body_with, route=_SONNET), *_SHAPE, *_TOOLS, *_THOUGHTS, *_ENDING)
