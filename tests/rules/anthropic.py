"""Bodies for the rules of the Messages API."""

from legato.model import Json, JsonObject
from rule_examples import Example, json_examples


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
    return _ask(_user(_text(text)), tools=[_tool("read", schema)])


_FINE = _ask(_user(), _said(_call()), _user(_result()))
_THINKING = {"type": "enabled", "budget_tokens": 2048}
_IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/cat.png"}}
_MARK = {"type": "ephemeral"}
_CODE = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}

EXAMPLES: dict[str, Example] = {
    **json_examples(_body_with),
    "anthropic/max-tokens": Example(
        refused={"messages": [_user()]}, accepted={"max_tokens": 4096, "messages": [_user()]}
    ),
    "anthropic/no-messages": Example(refused=_ask(), accepted=_ask(_user())),
    "anthropic/message-form": Example(refused=_ask("Hello"), accepted=_ask(_user())),
    "anthropic/first-message": Example(refused=_ask(_said(), _user()), accepted=_ask(_user(), _said(), _user())),
    "anthropic/unknown-role": Example(refused=_ask({"role": "human", "content": [_text()]}), accepted=_ask(_user())),
    "anthropic/system-role": Example(refused=_ask(_user(), _system()), accepted=_ask(_user(), system="Be brief.")),
    "anthropic/system-place": Example(
        refused=_ask(_user(), _said(_call()), _system(), _user(_result())),
        accepted=_ask(_user(), _said(_call()), _user(_result()), _system()),
    ),
    "anthropic/extra-field": Example(refused=_ask({**_user(), "name": "ada"}), accepted=_ask(_user())),
    "anthropic/neighbours": Example(
        refused=_ask(_user(), _user(_text("And be brief."))), accepted=_ask(_user(_text(), _text("And be brief.")))
    ),
    "anthropic/content-form": Example(refused=_ask({"role": "user", "content": _text()}), accepted=_ask(_user())),
    "anthropic/empty-message": Example(
        refused=_ask(_user(), {"role": "assistant", "content": []}, _user()), accepted=_ask(_user(), _said(), _user())
    ),
    "anthropic/blank-text": Example(refused=_ask(_user(_text(" \n"))), accepted=_ask(_user(_text(".")))),
    "anthropic/block-place": Example(
        refused=_ask(_user(), _said(_IMAGE, _text("A cat.")), _user()),
        accepted=_ask(_user(_IMAGE, _text()), _said(_text("A cat.")), _user()),
    ),
    "anthropic/cache-marks": Example(
        refused=_ask(_user(*(_text(f"Part {n}.", cache_control=_MARK) for n in range(5)))),
        accepted=_ask(_user(*(_text(f"Part {n}.", cache_control=_MARK) for n in range(4)))),
    ),
    "anthropic/unanswered-call": Example(
        refused=_ask(_user(), _said(_call("toolu_1"), _call("toolu_2")), _user(_result("toolu_1"))),
        accepted=_ask(
            _user(), _said(_call("toolu_1"), _call("toolu_2")), _user(_result("toolu_1"), _result("toolu_2"))
        ),
    ),
    "anthropic/result-too-late": Example(
        refused=_ask(_user(), _said(_call()), _user(_text("Well?")), _said(), _user(_result())),
        accepted=_ask(_user(), _said(_call()), _user(_result(), _text("Well?"))),
    ),
    "anthropic/orphan-result": Example(refused=_ask(_user(), _said(), _user(_result())), accepted=_FINE),
    "anthropic/unknown-result": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(), _result("toolu_9"))), accepted=_FINE
    ),
    "anthropic/duplicate-result": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(), _result())), accepted=_FINE
    ),
    "anthropic/duplicate-call-id": Example(
        refused=_ask(_user(), _said(_call(), _call()), _user(_result())),
        accepted=_ask(_user(), _said(_call(), _call("toolu_2")), _user(_result(), _result("toolu_2"))),
    ),
    "anthropic/repeated-id": Example(
        refused=_ask(_user(), _said(_call()), _user(_result()), _said(_call()), _user(_result())),
        accepted=_ask(_user(), _said(_call()), _user(_result()), _said(_call("toolu_2")), _user(_result("toolu_2"))),
    ),
    "anthropic/result-not-first": Example(
        refused=_ask(_user(), _said(_call()), _user(_text("Here it is."), _result())),
        accepted=_ask(_user(), _said(_call()), _user(_result(), _text("Here it is."))),
    ),
    "anthropic/text-after-call": Example(
        refused=_ask(_user(), _said(_call(), _text("Let me look.")), _user(_result())),
        accepted=_ask(_user(), _said(_text("Let me look."), _call()), _user(_result())),
    ),
    "anthropic/id-form": Example(
        refused=_ask(_user(), _said(_call("functions.read:0")), _user(_result("functions.read:0"))), accepted=_FINE
    ),
    "anthropic/id-habit": Example(
        refused=_ask(_user(), _said(_call("call_1")), _user(_result("call_1"))), accepted=_FINE
    ),
    "anthropic/input-form": Example(
        refused=_ask(_user(), _said(_call(input='{"path": "a.txt"}')), _user(_result())), accepted=_FINE
    ),
    "anthropic/name-form": Example(refused=_ask(_user(), _said(_call(name="")), _user(_result())), accepted=_FINE),
    "anthropic/tool-form": Example(refused=_ask(_user(), tools={"read": {}}), accepted=_ask(_user())),
    "anthropic/tool-name": Example(
        refused=_ask(_user(), tools=[_tool("files.read")]), accepted=_ask(_user(), tools=[_tool("files_read")])
    ),
    "anthropic/duplicate-tool": Example(
        refused=_ask(_user(), tools=[_tool(), _tool()]), accepted=_ask(_user(), tools=[_tool(), _tool("write")])
    ),
    "anthropic/tools-undefined": Example(
        refused={"max_tokens": 4096, "messages": [_user(), _said(_call()), _user(_result())]}, accepted=_FINE
    ),
    "anthropic/result-content": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(content={"lines": 0}))),
        accepted=_ask(_user(), _said(_call()), _user(_result(content=[_IMAGE]))),
    ),
    "anthropic/empty-error": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(content="", is_error=True))),
        accepted=_ask(_user(), _said(_call()), _user(_result(content="No such file.", is_error=True))),
    ),
    "anthropic/empty-result": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(content=""))),
        accepted=_ask(_user(), _said(_call()), _user(_result(content="(no output)"))),
    ),
    "anthropic/server-tool-id": Example(
        refused=_ask(_user(), _said(_server_call("toolu_1"), _server_result("toolu_1"), _text("Smoothly.")), _user()),
        accepted=_ask(_user(), _said(_server_call(), _server_result(), _text("Smoothly.")), _user()),
    ),
    "anthropic/server-tool-open": Example(
        refused=_ask(_user(), _said(_server_call(), _call()), _user(_result(), _text("Stop searching."))),
        accepted=_ask(_user(), _said(_server_call(), _call()), _user(_result())),
    ),
    "anthropic/code-interrupted": Example(
        refused=_ask(_user(), _said(_server_call(), _call(caller=_CODE)), _user(_result(), _text("Stop."))),
        accepted=_ask(_user(), _said(_server_call(), _call(caller=_CODE)), _user(_result())),
    ),
    "anthropic/server-result-alone": Example(
        refused=_ask(_user(), _said(_server_result(), _text("Smoothly.")), _user()),
        accepted=_ask(_user(), _said(_server_call(), _server_result(), _text("Smoothly.")), _user()),
    ),
    "anthropic/thinking-unsigned": Example(
        refused=_ask(_user(), _said({"type": "thinking", "thinking": "A file."}, _text("It is empty.")), _user()),
        accepted=_ask(_user(), _said(_thought(), _text("It is empty.")), _user()),
    ),
    "anthropic/thinking-not-first": Example(
        refused=_ask(_user(), _said(_text("It is empty."), _thought(), _text("Really.")), _user(), thinking=_THINKING),
        accepted=_ask(_user(), _said(_thought(), _text("It is empty.")), _user(), thinking=_THINKING),
    ),
    "anthropic/thinking-last": Example(
        refused=_ask(_user(), _said(_thought()), _user()),
        accepted=_ask(_user(), _said(_thought(), _text("It is empty.")), _user()),
    ),
    "anthropic/loop-without-thinking": Example(
        refused=_ask(_user(), _said(_call()), _user(_result()), thinking=_THINKING),
        accepted=_ask(_user(), _said(_thought(), _call()), _user(_result()), thinking=_THINKING),
    ),
    "anthropic/thinking-while-off": Example(
        refused=_ask(_user(), _said(_thought(), _call()), _user(_result())),
        accepted=_ask(_user(), _said(_thought(), _call()), _user(_result()), thinking=_THINKING),
    ),
    "anthropic/forced-tool": Example(
        refused=_ask(_user(), thinking=_THINKING, tool_choice={"type": "any"}),
        accepted=_ask(_user(), thinking=_THINKING, tool_choice={"type": "auto"}),
    ),
    "anthropic/thinking-missing": Example(
        refused=_ask(_user(), _said(_call()), _user(_result())),
        accepted=_ask(_user(), _said(_thought(thinking=" ", signature=""), _call()), _user(_result())),
    ),
    "anthropic/thinking-off": Example(
        refused=_ask(_user(), thinking={"type": "disabled"}), accepted=_ask(_user(), thinking=_THINKING)
    ),
    "anthropic/thinking-budget": Example(
        refused=_ask(_user(), thinking=_THINKING), accepted=_ask(_user(), thinking={"type": "adaptive"})
    ),
    "anthropic/thinking-adaptive": Example(
        refused=_ask(_user(), thinking={"type": "adaptive"}), accepted=_ask(_user(), thinking=_THINKING)
    ),
    "anthropic/effort-while-off": Example(
        refused=_ask(_user(), thinking={"type": "disabled"}, output_config={"effort": "max"}),
        accepted=_ask(_user(), thinking={"type": "disabled"}, output_config={"effort": "high"}),
    ),
    "anthropic/sampling": Example(refused=_ask(_user(), temperature=0.5), accepted=_ask(_user(), temperature=1)),
    "anthropic/effort-word": Example(
        refused=_ask(_user(), output_config={"effort": "HIGH"}),
        accepted=_ask(_user(), output_config={"effort": "high"}),
    ),
    "anthropic/effort-level": Example(
        refused=_ask(_user(), output_config={"effort": "xhigh"}),
        accepted=_ask(_user(), output_config={"effort": "max"}),
    ),
    "anthropic/prefill": Example(refused=_ask(_user(), _said()), accepted=_ask(_user(), _said(), _user())),
    "anthropic/prefill-whitespace": Example(
        refused=_ask(_user(), _said(_text("It is "))), accepted=_ask(_user(), _said(_text("It is")))
    ),
    "anthropic/ends-on-answer": Example(refused=_ask(_user(), _said()), accepted=_ask(_user(), _said(), _user())),
}
