"""The rules of particular servers that speak Chat Completions: Mistral, Kimi, DeepSeek, and the strict ones."""

from __future__ import annotations

from legato.wire.contract import Rule
from legato.wire.openai_chat.rules.examples import ask, calls, read, refuses, result, risks, said, tool, user

_MISTRAL = "mistral/mistral-large-latest"
_KIMI = "kimi/kimi-k2-thinking"
_DEEPSEEK = "deepseek/deepseek-reasoner"
_OFF = {"type": "disabled"}
_ON = {"type": "enabled"}
_SYSTEM = {"role": "system", "content": "Be brief."}


def _nine(call_id: str = "abcDEF123") -> tuple[dict[str, object], dict[str, object]]:
    """A call and its result as Mistral likes them."""
    return calls(read(call_id), content=""), result(call_id, name="read")


_CALL, _RESULT = _nine()
_NATIVE = "functions.read:0"
_THOUGHT = "The user wants the file."

_MISTRAL_RULES = (
    refuses(
        "mistral/unknown-role",
        "Roles are `system`, `user`, `assistant` and `tool`; there is no `developer`.",
        bad=ask({"role": "developer", "content": "Be brief."}, user()),
        good=ask(_SYSTEM, user()),
        route=_MISTRAL,
    ),
    refuses(
        "mistral/role-order",
        "No system message follows an assistant or tool message, and no tool message a user or system message.",
        bad=ask(user(), said(), _SYSTEM, user()),
        good=ask(_SYSTEM, user(), said(), user()),
        error="“Unexpected role 'system' after role 'assistant'”, “Unexpected role 'tool' after role 'user'”.",
        route=_MISTRAL,
    ),
    refuses(
        "mistral/user-after-tool",
        "Between tool messages and a user message stands an assistant message; newer servers no longer ask for it.",
        bad=ask(user(), _CALL, _RESULT, user("And the other one?")),
        good=ask(user(), _CALL, _RESULT, said("It is empty."), user("And the other one?")),
        error="Code 3230: “Unexpected role 'user' after role 'tool'”.",
        route=_MISTRAL,
    ),
    refuses(
        "mistral/first-message-calls",
        "The first message holds no calls: the validator does not count them, so their results are unknown to it.",
        bad=ask(_CALL, _RESULT),
        good=ask(user(), _CALL, _RESULT),
        error="“Unexpected tool call id”.",
        route=_MISTRAL,
    ),
    refuses(
        "mistral/lone-message",
        "A conversation of one message is from the user or the system.",
        bad=ask(said(prefix=True)),
        good=ask(user()),
        route=_MISTRAL,
    ),
    refuses(
        "mistral/ends-on-answer",
        "The last message is from the user or a tool, or an assistant message with `prefix: true`.",
        bad=ask(user(), said()),
        good=ask(user(), said(prefix=True)),
        error="“Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant”.",
        route=_MISTRAL,
    ),
    refuses(
        "mistral/prefix-place",
        "Only the last message is a prefix.",
        bad=ask(user(), said(prefix=True), user()),
        good=ask(user(), said(prefix=False), user()),
        route=_MISTRAL,
    ),
    refuses(
        "mistral/id-form",
        "The id of a call has exactly nine letters or digits, in the call and in its result.",
        bad=ask(user(), *_nine("call_1")),
        good=ask(user(), *_nine()),
        error="“must be a-z, A-Z, 0-9, with a length of 9”.",
        route=_MISTRAL,
    ),
    refuses(
        "mistral/empty-answer",
        "An assistant message has content or calls; an empty text does not count.",
        bad=ask(user(), said(""), user()),
        good=ask(user(), said(), user()),
        error="It must have one of them, “but not none”.",
        route=_MISTRAL,
    ),
    refuses(
        "mistral/extra-field",
        "Messages have no other fields than `role`, `content`, for answers `tool_calls` and `prefix`, for results "
        "`tool_call_id` and `name`.",
        bad=ask(user(), said(reasoning_content="A greeting."), user()),
        good=ask(user(), said(), user()),
        error="Status 422 with `extra_forbidden`.",
        route=_MISTRAL,
    ),
    risks(
        "mistral/result-name",
        "A tool message carries the tool's name.",
        bad=ask(user(), _CALL, result("abcDEF123")),
        good=ask(user(), _CALL, _RESULT),
        route=_MISTRAL,
    ),
)

_KIMI_RULES = (
    refuses(
        "kimi/reasoning-missing",
        "With thinking on, each assistant message with calls has its `reasoning_content`, and not an empty one; "
        "a single space passes.",
        bad=ask(user(), calls(read(_NATIVE), reasoning_content=""), result(_NATIVE)),
        good=ask(user(), calls(read(_NATIVE), reasoning_content=_THOUGHT), result(_NATIVE)),
        error="“thinking is enabled but reasoning_content is missing in assistant tool call message at index 2”.",
        route=_KIMI,
    ),
    refuses(
        "kimi/forced-tool",
        "With thinking on, `tool_choice` does not force a tool.",
        bad=ask(user(), tools=[tool("read")], tool_choice="required"),
        good=ask(user(), tools=[tool("read")], tool_choice="required", thinking=_OFF),
        route=_KIMI,
    ),
    refuses(
        "kimi/thinking-and-effort",
        "`thinking` and `reasoning_effort` are not sent together.",
        bad=ask(user(), thinking=_ON, reasoning_effort="low"),
        good=ask(user(), thinking=_ON),
        route=_KIMI,
    ),
    refuses(
        "kimi/empty-message",
        "No message is empty: an answer has text, calls or reasoning.",
        bad=ask(user(), said(""), user()),
        good=ask(user(), said(), user()),
        error="“the message at position 8 with role 'assistant' must not be empty”.",
        route=_KIMI,
    ),
    refuses(
        "kimi/name-form",
        "A tool's name begins with a letter or an underscore, then up to 63 of `[a-zA-Z0-9_-]`.",
        bad=ask(user(), tools=[tool("7zip")]),
        good=ask(user(), tools=[tool("zip7")]),
        error="“function name is invalid, must start with a letter”.",
        route=_KIMI,
    ),
    risks(
        "kimi/id-habit",
        "Ids read `functions.{name}:{index}`, where the index counts the calls of the conversation from 0: the model "
        "was trained on them and may stop calling tools when it sees others.",
        bad=ask(user(), calls(read("call_1"), reasoning_content=_THOUGHT), result("call_1")),
        good=ask(user(), calls(read(_NATIVE), reasoning_content=_THOUGHT), result(_NATIVE)),
        route=_KIMI,
    ),
)

_DEEPSEEK_RULES = (
    refuses(
        "deepseek/unknown-role",
        "Roles are `system`, `user`, `assistant`, `tool` and `latest_reminder`.",
        bad=ask({"role": "developer", "content": "Be brief."}, user()),
        good=ask(_SYSTEM, user()),
        error="“unknown variant `developer`”.",
        route=_DEEPSEEK,
    ),
    refuses(
        "deepseek/empty-answer",
        "An assistant message has content or calls; an empty string counts as content.",
        bad=ask(user(), {"role": "assistant", "content": None}, user()),
        good=ask(user(), said(""), user()),
        error="“Invalid assistant message: content or tool_calls must be set”.",
        route=_DEEPSEEK,
    ),
    refuses(
        "deepseek/part-type",
        "Content parts are `text`.",
        bad=ask(
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
        ),
        good=ask({"role": "user", "content": [{"type": "text", "text": "Hello"}]}),
        error="“unknown variant `image_url`, expected `text`”.",
        route=_DEEPSEEK,
    ),
    refuses(
        "deepseek/reasoning-missing",
        "With thinking on, each assistant message with calls has its `reasoning_content`, in all earlier turns too.",
        bad=ask(user(), calls(), result()),
        good=ask(user(), calls(), result(), thinking=_OFF),
        error="“The `reasoning_content` in the thinking mode must be passed back to the API”.",
        route=_DEEPSEEK,
    ),
    risks(
        "deepseek/reasoning-empty",
        "The `reasoning_content` next to calls is not empty; an empty one was sometimes refused.",
        bad=ask(user(), calls(reasoning_content=""), result()),
        good=ask(user(), calls(reasoning_content=" "), result()),
        route=_DEEPSEEK,
    ),
)

_STRICT_RULES = (
    refuses(
        "strict/arguments",
        "The arguments of a call hold a JSON object, because the server parses them; `{}` where there are none. "
        "vLLM, llama.cpp, DashScope and the servers of Kimi and DeepSeek are judged so.",
        bad=ask(user(), calls(read(arguments='{"path": ')), result()),
        good=ask(user(), calls(read(arguments="{}")), result()),
        error="From DashScope: “must be in JSON format”; from others a 400 or a 500 of the chat template.",
        route="strict/some-model",
    ),
    refuses(
        "strict/empty-text",
        "Servers in front of Claude get no empty string as content: it would become an empty block. Null passes "
        "next to calls.",
        bad=ask(user(), calls(content=""), result()),
        good=ask(user(), calls(content=None), result()),
        route="strict/claude",
    ),
    risks(
        "strict/empty-tools",
        "`tools` is left out where there are none; vLLM and llama.cpp refuse an empty array, others take it.",
        bad=ask(user(), tools=[]),
        good=ask(user()),
        route="strict/some-model",
    ),
    refuses(
        "xai/null-content",
        "Each message has a content; next to calls an empty string will do, null will not.",
        bad=ask(user(), calls(content=None), result()),
        good=ask(user(), calls(content=""), result()),
        error="“Each message must have at least one content element”.",
        route="xai/grok-4",
    ),
    refuses(
        "groq/unknown-field",
        "Messages have no fields that Chat Completions does not know, such as `reasoning` or `reasoning_content`.",
        bad=ask(user(), said(reasoning="A greeting."), user()),
        good=ask(user(), said(), user()),
        route="groq/openai/gpt-oss-120b",
    ),
    refuses(
        "cerebras/unknown-field",
        "Messages have no fields that Chat Completions does not know, except `reasoning`.",
        bad=ask(user(), said(reasoning_content="A greeting."), user()),
        good=ask(user(), said(reasoning="A greeting."), user()),
        error="“property 'messages.2.assistant.reasoning_content' is unsupported”.",
        route="cerebras/gpt-oss-120b",
    ),
)

PROFILE_RULES: tuple[Rule, ...] = (*_MISTRAL_RULES, *_KIMI_RULES, *_DEEPSEEK_RULES, *_STRICT_RULES)
