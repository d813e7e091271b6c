"""Bodies for the rules of Chat Completions, and those of its hosts."""

from chat_bodies import IMAGE, SYSTEM, TEXT, ask, body_with, calls, read, result, said, tool, user
from hosts import HOSTS
from rule_examples import Example, json_examples

_FINE = ask(user(), calls(), result())

_FAMILY: dict[str, Example] = {
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
        refused=ask({"role": "user", "content": []}), accepted=ask({"role": "user", "content": [TEXT]})
    ),
    "openai-chat/empty-content": Example(
        refused=ask(user(), calls(), result(content="")), accepted=ask(user(), calls(), result(content="(no output)"))
    ),
    "openai-chat/content-form": Example(
        refused=ask({"role": "user", "content": TEXT}), accepted=ask({"role": "user", "content": [TEXT]})
    ),
    "openai-chat/part-form": Example(
        refused=ask({"role": "user", "content": ["What is in it?"]}), accepted=ask({"role": "user", "content": [TEXT]})
    ),
    "openai-chat/part-type": Example(
        refused=ask({"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}),
        accepted=ask({"role": "user", "content": [TEXT]}),
    ),
    "openai-chat/image-place": Example(
        refused=ask(user(), calls(), result(content=[IMAGE])),
        accepted=ask(user(), calls(), result(content="The image follows."), {"role": "user", "content": [IMAGE]}),
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
    "strict/roles-alternate": Example(
        refused=ask(SYSTEM, user(), user("And who wrote it?")),
        accepted=ask(SYSTEM, user("What does the file say?\n\nAnd who wrote it?")),
    ),
    "strict/arguments": Example(
        refused=ask(user(), calls(read(arguments='{"path": ')), result()),
        accepted=ask(user(), calls(read(arguments="{}")), result()),
    ),
    "strict/empty-text": Example(
        refused=ask(user(), calls(content=""), result()), accepted=ask(user(), calls(content=None), result())
    ),
    "strict/empty-tools": Example(refused=ask(user(), tools=[]), accepted=ask(user())),
}

EXAMPLES: dict[str, Example] = _FAMILY | {
    f"{host.name}/{rule}": example for host in HOSTS for rule, example in host.examples.items()
}
