"""Bodies for the rules of Chat Completions, and of particular servers that speak it."""

from legato.model import Json, JsonObject
from rules.examples import Example, json_examples


def ask(*messages: Json, **fields: Json) -> JsonObject:
    """A body with `messages`, still without a model."""
    return {"messages": list(messages), **fields}


def user(text: str = "What does the file say?") -> JsonObject:
    """A user message."""
    return {"role": "user", "content": text}


def said(text: str = "Hello.", **fields: Json) -> JsonObject:
    """An assistant message without calls."""
    return {"role": "assistant", "content": text, **fields}


def read(call_id: str = "call_1", *, name: str = "read", arguments: str = '{"path": "a.txt"}') -> JsonObject:
    """A call."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: JsonObject, content: Json = None, **fields: Json) -> JsonObject:
    """An assistant message with calls: `read` with the id `call_1` if none are given."""
    return {"role": "assistant", "content": content, "tool_calls": list(made) or [read()], **fields}


def result(call_id: str = "call_1", content: Json = "The file is empty.", **fields: Json) -> JsonObject:
    """A tool message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def tool(name: str, schema: JsonObject | None = None) -> JsonObject:
    """A tool definition."""
    return {"type": "function", "function": {"name": name, "parameters": schema or {"type": "object"}}}


def body_with(text: str, schema: JsonObject) -> JsonObject:
    """A whole body with a text and the schema of a tool's arguments."""
    return ask(user(text), tools=[tool("read", schema)])


_FINE = ask(user(), calls(), result())
_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
_TEXT = {"type": "text", "text": "What is in it?"}
_OFF = {"type": "disabled"}
_ON = {"type": "enabled"}
_SYSTEM = {"role": "system", "content": "Be brief."}


def _nine(call_id: str = "abcDEF123") -> tuple[dict[str, object], dict[str, object]]:
    """A call and its result as Mistral likes them."""
    return calls(read(call_id), content=""), result(call_id, name="read")


_CALL, _RESULT = _nine()
_NATIVE = "functions.read:0"
_THOUGHT = "The user wants the file."

EXAMPLES: dict[str, Example] = {
    "openai-chat/effort-word": Example(
        refused=ask(user(), reasoning_effort="HIGH"), accepted=ask(user(), reasoning_effort="high")
    ),
    "openai-chat/effort-level": Example(
        refused=ask(user(), reasoning_effort="minimal"), accepted=ask(user(), reasoning_effort="none")
    ),
    **json_examples(body_with),
    "openai-chat/no-messages": Example(refused=ask(), accepted=ask(user())),
    "openai-chat/message-form": Example(refused={"messages": ["Hello"]}, accepted=ask(user())),
    "openai-chat/unknown-role": Example(refused=ask({"role": "human", "content": "Hello"}), accepted=ask(user())),
    "openai-chat/unanswered-call": Example(
        refused=ask(user(), calls(read("call_1"), read("call_2")), result("call_1")),
        accepted=ask(user(), calls(read("call_1"), read("call_2")), result("call_2"), result("call_1")),
    ),
    "openai-chat/result-too-late": Example(
        refused=ask(user(), calls(), user("Are you still there?"), result()),
        accepted=ask(user(), calls(), result(), user("Are you still there?")),
    ),
    "openai-chat/orphan-result": Example(refused=ask(user(), result()), accepted=_FINE),
    "openai-chat/unknown-result": Example(refused=ask(user(), calls(), result(), result("call_9")), accepted=_FINE),
    "openai-chat/duplicate-result": Example(refused=ask(user(), calls(), result(), result()), accepted=_FINE),
    "openai-chat/duplicate-call-id": Example(
        refused=ask(user(), calls(read("call_1"), read("call_1")), result()),
        accepted=ask(user(), calls(read("call_1"), read("call_2")), result("call_1"), result("call_2")),
    ),
    "openai-chat/repeated-id": Example(
        refused=ask(user(), calls(), result(), calls(), result()),
        accepted=ask(user(), calls(), result(), calls(read("call_2")), result("call_2")),
    ),
    "openai-chat/id-form": Example(
        refused=ask(user(), calls(read("call_" + "a" * 36)), result("call_" + "a" * 36)),
        accepted=ask(user(), calls(read("call_" + "a" * 35)), result("call_" + "a" * 35)),
    ),
    "openai-chat/id-habit": Example(refused=ask(user(), calls(read("toolu_1")), result("toolu_1")), accepted=_FINE),
    "openai-chat/call-type": Example(refused=ask(user(), calls({**read(), "type": "tool"}), result()), accepted=_FINE),
    "openai-chat/flat-call": Example(
        refused=ask(user(), calls({"id": "call_1", "type": "function", "name": "read", "arguments": "{}"}), result()),
        accepted=_FINE,
    ),
    "openai-chat/name-form": Example(
        refused=ask(user(), calls(read(name="files.read")), result()),
        accepted=ask(user(), calls(read(name="files_read")), result()),
    ),
    "openai-chat/arguments-form": Example(
        refused=ask(user(), calls({**read(), "function": {"name": "read", "arguments": {"path": "a"}}}), result()),
        accepted=_FINE,
    ),
    "openai-chat/arguments": Example(
        refused=ask(user(), calls(read(arguments="")), result()),
        accepted=ask(user(), calls(read(arguments="{}")), result()),
    ),
    "openai-chat/calls-form": Example(
        refused=ask(user(), {"role": "assistant", "content": "Hello", "tool_calls": []}, user()),
        accepted=ask(user(), said(), user()),
    ),
    "openai-chat/too-many-calls": Example(
        refused=ask(
            user(), calls(*(read(f"call_{n}") for n in range(129))), *(result(f"call_{n}") for n in range(129))
        ),
        accepted=ask(
            user(), calls(*(read(f"call_{n}") for n in range(128))), *(result(f"call_{n}") for n in range(128))
        ),
    ),
    "openai-chat/text-beside-calls": Example(
        refused=ask(user(), calls(read("abcdefgh1"), content="Let me look."), result("abcdefgh1", name="read")),
        accepted=ask(
            user(), said("Let me look."), calls(read("abcdefgh1"), content=""), result("abcdefgh1", name="read")
        ),
    ),
    "openai-chat/tool-form": Example(
        refused=ask(user(), tools=[{"type": "function", "name": "read"}]), accepted=ask(user(), tools=[tool("read")])
    ),
    "openai-chat/empty-tools": Example(refused=ask(user(), tools=[]), accepted=ask(user())),
    "openai-chat/too-many-tools": Example(
        refused=ask(user(), tools=[tool(f"read_{n}") for n in range(129)]),
        accepted=ask(user(), tools=[tool(f"read_{n}") for n in range(128)]),
    ),
    "openai-chat/choice-without-tools": Example(
        refused=ask(user(), tool_choice="none"), accepted=ask(user(), tools=[tool("read")], tool_choice="none")
    ),
    "openai-chat/null-content": Example(
        refused=ask(user(), calls(), {"role": "tool", "tool_call_id": "call_1", "content": None}),
        accepted=ask(user(), calls(content=None), result(content="")),
    ),
    "openai-chat/empty-parts": Example(
        refused=ask({"role": "user", "content": []}), accepted=ask({"role": "user", "content": [_TEXT]})
    ),
    "openai-chat/empty-content": Example(
        refused=ask(user(), calls(), result(content="")), accepted=ask(user(), calls(), result(content="(no output)"))
    ),
    "openai-chat/content-form": Example(
        refused=ask({"role": "user", "content": _TEXT}), accepted=ask({"role": "user", "content": [_TEXT]})
    ),
    "openai-chat/part-form": Example(
        refused=ask({"role": "user", "content": ["What is in it?"]}), accepted=ask({"role": "user", "content": [_TEXT]})
    ),
    "openai-chat/part-type": Example(
        refused=ask({"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}),
        accepted=ask({"role": "user", "content": [_TEXT]}),
    ),
    "openai-chat/image-place": Example(
        refused=ask(user(), calls(), result(content=[_IMAGE])),
        accepted=ask(user(), calls(), result(content="The image follows."), {"role": "user", "content": [_IMAGE]}),
    ),
    "openai-chat/reasoning-field": Example(
        refused=ask(user(), {**said(), "reasoning_content": "A greeting."}, user()),
        accepted=ask(user(), said(), user()),
    ),
    "openai-chat/developer-role": Example(
        refused=ask({"role": "developer", "content": "Be brief."}, user()),
        accepted=ask({"role": "system", "content": "Be brief."}, user()),
    ),
    "openai-chat/ends-on-answer": Example(refused=ask(user(), said()), accepted=ask(user(), said(), user())),
    "mistral/unknown-role": Example(
        refused=ask({"role": "developer", "content": "Be brief."}, user()), accepted=ask(_SYSTEM, user())
    ),
    "mistral/role-order": Example(
        refused=ask(user(), said(), _SYSTEM, user()), accepted=ask(_SYSTEM, user(), said(), user())
    ),
    "mistral/user-after-tool": Example(
        refused=ask(user(), _CALL, _RESULT, user("And the other one?")),
        accepted=ask(user(), _CALL, _RESULT, said("It is empty."), user("And the other one?")),
    ),
    "mistral/first-message-calls": Example(refused=ask(_CALL, _RESULT), accepted=ask(user(), _CALL, _RESULT)),
    "mistral/lone-message": Example(refused=ask(said(prefix=True)), accepted=ask(user())),
    "mistral/ends-on-answer": Example(refused=ask(user(), said()), accepted=ask(user(), said(prefix=True))),
    "mistral/prefix-place": Example(
        refused=ask(user(), said(prefix=True), user()), accepted=ask(user(), said(prefix=False), user())
    ),
    "mistral/id-form": Example(refused=ask(user(), *_nine("call_1")), accepted=ask(user(), *_nine())),
    "mistral/empty-answer": Example(refused=ask(user(), said(""), user()), accepted=ask(user(), said(), user())),
    "mistral/extra-field": Example(
        refused=ask(user(), said(reasoning_content="A greeting."), user()), accepted=ask(user(), said(), user())
    ),
    "mistral/result-name": Example(
        refused=ask(user(), _CALL, result("abcDEF123")), accepted=ask(user(), _CALL, _RESULT)
    ),
    "kimi/reasoning-missing": Example(
        refused=ask(user(), calls(read(_NATIVE), reasoning_content=""), result(_NATIVE)),
        accepted=ask(user(), calls(read(_NATIVE), reasoning_content=_THOUGHT), result(_NATIVE)),
    ),
    "kimi/forced-tool": Example(
        refused=ask(user(), tools=[tool("read")], tool_choice="required"),
        accepted=ask(user(), tools=[tool("read")], tool_choice="required", thinking=_OFF),
    ),
    "kimi/thinking-and-effort": Example(
        refused=ask(user(), thinking=_ON, reasoning_effort="low"), accepted=ask(user(), thinking=_ON)
    ),
    "kimi/empty-message": Example(refused=ask(user(), said(""), user()), accepted=ask(user(), said(), user())),
    "kimi/name-form": Example(refused=ask(user(), tools=[tool("7zip")]), accepted=ask(user(), tools=[tool("zip7")])),
    "kimi/id-habit": Example(
        refused=ask(user(), calls(read("call_1"), reasoning_content=_THOUGHT), result("call_1")),
        accepted=ask(user(), calls(read(_NATIVE), reasoning_content=_THOUGHT), result(_NATIVE)),
    ),
    "kimi/index-repeats": Example(
        refused=ask(
            user(),
            calls(read("functions.read:0"), reasoning_content=_THOUGHT),
            result("functions.read:0"),
            calls(read("functions.list:0"), reasoning_content=_THOUGHT),
            result("functions.list:0"),
        ),
        accepted=ask(
            user(),
            calls(read("functions.read:0"), reasoning_content=_THOUGHT),
            result("functions.read:0"),
            calls(read("functions.list:1"), reasoning_content=_THOUGHT),
            result("functions.list:1"),
        ),
    ),
    "deepseek/unknown-role": Example(
        refused=ask({"role": "developer", "content": "Be brief."}, user()), accepted=ask(_SYSTEM, user())
    ),
    "deepseek/empty-answer": Example(
        refused=ask(user(), {"role": "assistant", "content": None}, user()), accepted=ask(user(), said(""), user())
    ),
    "deepseek/part-type": Example(
        refused=ask(
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
        ),
        accepted=ask({"role": "user", "content": [{"type": "text", "text": "Hello"}]}),
    ),
    "deepseek/reasoning-missing": Example(
        refused=ask(user(), calls(reasoning_content=_THOUGHT), result(), said(), user()),
        accepted=ask(user(), calls(reasoning_content=_THOUGHT), result(), said(reasoning_content=_THOUGHT), user()),
    ),
    "deepseek/reasoning-everywhere": Example(
        refused=ask(user(), said(), user()), accepted=ask(user(), said(reasoning_content=" "), user())
    ),
    "deepseek/reasoning-empty": Example(
        refused=ask(user(), calls(reasoning_content=""), result()),
        accepted=ask(user(), calls(reasoning_content=" "), result()),
    ),
    "strict/roles-alternate": Example(
        refused=ask(_SYSTEM, user(), user("And who wrote it?")),
        accepted=ask(_SYSTEM, user("What does the file say?\n\nAnd who wrote it?")),
    ),
    "strict/arguments": Example(
        refused=ask(user(), calls(read(arguments='{"path": ')), result()),
        accepted=ask(user(), calls(read(arguments="{}")), result()),
    ),
    "strict/empty-text": Example(
        refused=ask(user(), calls(content=""), result()), accepted=ask(user(), calls(content=None), result())
    ),
    "strict/empty-tools": Example(refused=ask(user(), tools=[]), accepted=ask(user())),
    "xai/null-content": Example(
        refused=ask(user(), calls(content=None), result()), accepted=ask(user(), calls(content=""), result())
    ),
    "groq/unknown-field": Example(
        refused=ask(user(), said(reasoning="A greeting."), user()), accepted=ask(user(), said(), user())
    ),
    "cerebras/unknown-field": Example(
        refused=ask(user(), said(reasoning_content="A greeting."), user()),
        accepted=ask(user(), said(reasoning="A greeting."), user()),
    ),
}
