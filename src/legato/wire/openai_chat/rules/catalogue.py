"""The rules of Chat Completions as documentation: those of the dialect, and those of particular servers."""

from __future__ import annotations

from legato.wire.contract import Rule
from legato.wire.judging import json_rules
from legato.wire.openai_chat.rules.catalogue_of_profiles import PROFILE_RULES
from legato.wire.openai_chat.rules.examples import (
    ask,
    body_with,
    calls,
    read,
    refuses,
    result,
    risks,
    said,
    tool,
    user,
)

_FINE = ask(user(), calls(), result())
_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
_TEXT = {"type": "text", "text": "What is in it?"}

RULES: tuple[Rule, ...] = (
    *json_rules(body_with, route="openai/gpt-4o"),
    refuses(
        "openai-chat/no-messages",
        "`messages` is an array with at least one message.",
        bad=ask(),
        good=ask(user()),
    ),
    refuses(
        "openai-chat/message-form",
        "Each message is an object.",
        bad={"messages": ["Hello"]},
        good=ask(user()),
    ),
    refuses(
        "openai-chat/unknown-role",
        "A message's role is `developer`, `system`, `user`, `assistant`, `tool`, or the old `function`.",
        bad=ask({"role": "human", "content": "Hello"}),
        good=ask(user()),
    ),
    # Pairing.
    refuses(
        "openai-chat/unanswered-call",
        "After an assistant message with calls stands one tool message for each of them, before anything else; "
        "at the end of the history too.",
        bad=ask(user(), calls(read("call_1"), read("call_2")), result("call_1")),
        good=ask(user(), calls(read("call_1"), read("call_2")), result("call_2"), result("call_1")),
        error="Names the calls that lack one: “must be followed by tool messages responding to each 'tool_call_id'”.",
    ),
    refuses(
        "openai-chat/result-too-late",
        "Nothing stands between an assistant message with calls and their results.",
        bad=ask(user(), calls(), user("Are you still there?"), result()),
        good=ask(user(), calls(), result(), user("Are you still there?")),
        error="The same as for a missing result: “must be followed by tool messages”.",
    ),
    refuses(
        "openai-chat/orphan-result",
        "A tool message follows an assistant message with calls, or another result of that message.",
        bad=ask(user(), result()),
        good=_FINE,
        error="“messages with role 'tool' must be a response to a preceeding message with 'tool_calls'”.",
    ),
    refuses(
        "openai-chat/unknown-result",
        "The id of a tool message is the id of one of the calls before it.",
        bad=ask(user(), calls(), result(), result("call_9")),
        good=_FINE,
        error="“'tool_call_id' of 'call_X' not found in 'tool_calls' of previous message”; "
        "from Kimi “tool_call_id  is not found”.",
    ),
    refuses(
        "openai-chat/duplicate-result",
        "A call is answered once.",
        bad=ask(user(), calls(), result(), result()),
        good=_FINE,
        error="“Duplicate value for 'tool_call_id'”.",
    ),
    refuses(
        "openai-chat/duplicate-call-id",
        "The calls of one message have different ids, because each has to be answered once.",
        bad=ask(user(), calls(read("call_1"), read("call_1")), result()),
        good=ask(user(), calls(read("call_1"), read("call_2")), result("call_1"), result("call_2")),
    ),
    risks(
        "openai-chat/repeated-id",
        "No id is used twice in a request, not even in different turns.",
        bad=ask(user(), calls(), result(), calls(), result()),
        good=ask(user(), calls(), result(), calls(read("call_2")), result("call_2")),
    ),
    # Calls.
    refuses(
        "openai-chat/id-form",
        "The id of a call is a string that is not empty; for OpenAI itself and Azure at most 40 characters.",
        bad=ask(user(), calls(read("call_" + "a" * 36)), result("call_" + "a" * 36)),
        good=ask(user(), calls(read("call_" + "a" * 35)), result("call_" + "a" * 35)),
        error="“string too long. Expected a string with maximum length 40”.",
    ),
    risks(
        "openai-chat/id-habit",
        "An id that begins with `call_` and has at most 40 characters is taken by every server.",
        bad=ask(user(), calls(read("toolu_1")), result("toolu_1")),
        good=_FINE,
    ),
    refuses(
        "openai-chat/call-type",
        "The `type` of a call is `function`.",
        bad=ask(user(), calls({**read(), "type": "tool"}), result()),
        good=_FINE,
    ),
    refuses(
        "openai-chat/flat-call",
        "Name and arguments of a call stand in its `function`, not beside its id.",
        bad=ask(user(), calls({"id": "call_1", "type": "function", "name": "read", "arguments": "{}"}), result()),
        good=_FINE,
    ),
    refuses(
        "openai-chat/name-form",
        "A tool's name has 1 to 64 characters of `[a-zA-Z0-9_-]`, in calls and in `tools`.",
        bad=ask(user(), calls(read(name="files.read")), result()),
        good=ask(user(), calls(read(name="files_read")), result()),
    ),
    refuses(
        "openai-chat/arguments-form",
        "The arguments of a call are a string.",
        bad=ask(user(), calls({**read(), "function": {"name": "read", "arguments": {"path": "a"}}}), result()),
        good=_FINE,
        error="“expected a string, but got an object instead”.",
    ),
    risks(
        "openai-chat/arguments",
        "The arguments hold a JSON object, `{}` where there are none; OpenAI and Mistral do not look, others do.",
        bad=ask(user(), calls(read(arguments="")), result()),
        good=ask(user(), calls(read(arguments="{}")), result()),
    ),
    refuses(
        "openai-chat/calls-form",
        "`tool_calls` is an array with at least one call; without calls the key is left out.",
        bad=ask(user(), {"role": "assistant", "content": "Hello", "tool_calls": []}, user()),
        good=ask(user(), said(), user()),
    ),
    refuses(
        "openai-chat/too-many-calls",
        "A message holds at most 128 calls, or as many as the model makes at a time.",
        bad=ask(user(), calls(*(read(f"call_{n}") for n in range(129))), *(result(f"call_{n}") for n in range(129))),
        good=ask(user(), calls(*(read(f"call_{n}") for n in range(128))), *(result(f"call_{n}") for n in range(128))),
    ),
    refuses(
        "openai-chat/text-beside-calls",
        "Where a model takes text or calls, a message does not hold both.",
        bad=ask(user(), calls(read("abcdefgh1"), content="Let me look."), result("abcdefgh1", name="read")),
        good=ask(user(), said("Let me look."), calls(read("abcdefgh1"), content=""), result("abcdefgh1", name="read")),
        route="mistral/open-mistral-7b",
    ),
    # Tools.
    refuses(
        "openai-chat/tool-form",
        "`tools` is an array; a function tool has its name in `function`.",
        bad=ask(user(), tools=[{"type": "function", "name": "read"}]),
        good=ask(user(), tools=[tool("read")]),
    ),
    refuses(
        "openai-chat/empty-tools",
        "`tools` is left out where there are none.",
        bad=ask(user(), tools=[]),
        good=ask(user()),
    ),
    refuses(
        "openai-chat/too-many-tools",
        "A request has at most 128 tools.",
        bad=ask(user(), tools=[tool(f"read_{n}") for n in range(129)]),
        good=ask(user(), tools=[tool(f"read_{n}") for n in range(128)]),
    ),
    refuses(
        "openai-chat/choice-without-tools",
        "`tool_choice` is sent with `tools` only.",
        bad=ask(user(), tool_choice="none"),
        good=ask(user(), tools=[tool("read")], tool_choice="none"),
    ),
    # Content.
    refuses(
        "openai-chat/null-content",
        "Content is not null, except in an assistant message with calls.",
        bad=ask(user(), calls(), {"role": "tool", "tool_call_id": "call_1", "content": None}),
        good=ask(user(), calls(content=None), result(content="")),
        error="“Invalid value for 'content': expected a string, got null”.",
    ),
    refuses(
        "openai-chat/empty-parts",
        "Content that is an array has at least one part.",
        bad=ask({"role": "user", "content": []}),
        good=ask({"role": "user", "content": [_TEXT]}),
    ),
    risks(
        "openai-chat/empty-content",
        "No message has an empty text: OpenAI, DeepSeek and Mistral take it, other servers may not.",
        bad=ask(user(), calls(), result(content="")),
        good=ask(user(), calls(), result(content="(no output)")),
        route="strict/some-model",
    ),
    refuses(
        "openai-chat/content-form",
        "Content is a string or an array of parts, never a single part.",
        bad=ask({"role": "user", "content": _TEXT}),
        good=ask({"role": "user", "content": [_TEXT]}),
    ),
    refuses(
        "openai-chat/part-form",
        "A content part is an object with a type.",
        bad=ask({"role": "user", "content": ["What is in it?"]}),
        good=ask({"role": "user", "content": [_TEXT]}),
    ),
    refuses(
        "openai-chat/part-type",
        "Parts of user messages are `text`, `image_url`, `input_audio` or `file`, of assistant messages `text` or "
        "`refusal`, of all others `text`.",
        bad=ask({"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}),
        good=ask({"role": "user", "content": [_TEXT]}),
    ),
    refuses(
        "openai-chat/image-place",
        "Images stand in user messages; that of a result follows the results in a user message of its own.",
        bad=ask(user(), calls(), result(content=[_IMAGE])),
        good=ask(user(), calls(), result(content="The image follows."), {"role": "user", "content": [_IMAGE]}),
        error="“Image URLs are only allowed for messages with role 'user'”.",
    ),
    risks(
        "openai-chat/reasoning-field",
        "Reasoning is left out: the dialect has no field for it, and some servers refuse unknown ones.",
        bad=ask(user(), {**said(), "reasoning_content": "A greeting."}, user()),
        good=ask(user(), said(), user()),
    ),
    risks(
        "openai-chat/developer-role",
        "Only models that know the developer role get developer messages.",
        bad=ask({"role": "developer", "content": "Be brief."}, user()),
        good=ask({"role": "system", "content": "Be brief."}, user()),
        error="From an older model: “'messages[0].role' does not support 'developer' with this model”.",
        route="strict/some-model",
    ),
    risks(
        "openai-chat/ends-on-answer",
        "The last message is from the user or a tool.",
        bad=ask(user(), said()),
        good=ask(user(), said(), user()),
    ),
    *PROFILE_RULES,
)
