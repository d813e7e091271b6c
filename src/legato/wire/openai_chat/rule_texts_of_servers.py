"""The rules of particular servers that speak Chat Completions: Mistral, Kimi, DeepSeek, and the strict ones."""

from __future__ import annotations

from functools import partial

from legato.wire.rules import Rule, refused, risky

_MISTRAL = "mistral/mistral-large-latest"
_KIMI = "kimi/kimi-k2-thinking"
_DEEPSEEK = "deepseek/deepseek-reasoner"
_STRICT = "strict/some-model"

MISTRAL_VALIDATOR = (
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py"
)
_KIMI_IDS = "https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md"
_THINKING_MODE = "https://api-docs.deepseek.com/guides/thinking_mode"


_refused = partial(refused, route=_STRICT)
_risky = partial(risky, route=_STRICT)

_MISTRAL_RULES = (
    _refused(
        "mistral/unknown-role",
        "Roles are `system`, `user`, `assistant` and `tool`; there is no `developer`.",
        source=MISTRAL_VALIDATOR,
        route=_MISTRAL,
    ),
    _refused(
        "mistral/role-order",
        "No system message follows an assistant or tool message, and no tool message a user or system message.",
        source=(MISTRAL_VALIDATOR, "swarmauri/swarmauri-sdk#162"),
        error="Unexpected role '{role}' after role '{before}'",
        code="3230",
        route=_MISTRAL,
    ),
    # The published validator allows it since April 2026; servers with older copies do not.
    _refused(
        "mistral/user-after-tool",
        "Between tool messages and a user message stands an assistant message; newer servers no longer ask for it.",
        source=("zed-industries/zed#37021", "mistralai/mistral-common#169"),
        error="Unexpected role 'user' after role 'tool'",
        code="3230",
        route=_MISTRAL,
    ),
    _refused(
        "mistral/first-message-calls",
        "The first message holds no calls: the validator does not count them, so their results are unknown to it.",
        source=MISTRAL_VALIDATOR,
        error="Unexpected tool call id {id} in tool results",
        route=_MISTRAL,
    ),
    _refused(
        "mistral/lone-message",
        "A conversation of one message is from the user or the system.",
        source=MISTRAL_VALIDATOR,
        error="Conversation must start with a user message or system message",
        route=_MISTRAL,
    ),
    # These are the words of the hosted API; newer versions of the validator say “(or Assistant with prefix)”.
    _refused(
        "mistral/ends-on-answer",
        "The last message is from the user or a tool, or an assistant message with `prefix: true`.",
        source=(MISTRAL_VALIDATOR, "NEKOparapa/AiNiee#641"),
        error="Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        code="3230",
        route=_MISTRAL,
    ),
    _refused(
        "mistral/prefix-place",
        "Only the last message is a prefix.",
        source=MISTRAL_VALIDATOR,
        error="Assistant message with prefix True must be last message",
        route=_MISTRAL,
    ),
    _refused(
        "mistral/id-form",
        "The id of a call has exactly nine letters or digits, in the call and in its result.",
        source=(MISTRAL_VALIDATOR, "editor-code-assistant/eca#233"),
        error="Tool call id was {value} but must be a-z, A-Z, 0-9, with a length of 9",
        code="3280",
        route=_MISTRAL,
    ),
    _refused(
        "mistral/empty-answer",
        "An assistant message has content or calls; an empty text does not count.",
        source="OpenHands/OpenHands#8685",
        error="Assistant message must have either content or tool_calls, but not none",
        code="3240",
        route=_MISTRAL,
    ),
    _refused(
        "mistral/extra-field",
        "Messages have no other fields than `role`, `content`, for answers `tool_calls` and `prefix`, for"
        " results `tool_call_id` and `name`.",
        source=("BerriAI/litellm#30835", "microsoft/autogen#2748"),
        error="Extra inputs are not permitted",
        code="extra_forbidden",
        route=_MISTRAL,
    ),
    _risky(
        "mistral/result-name",
        "A tool message carries the tool's name.",
        source="microsoft/autogen#2892",
        route=_MISTRAL,
    ),
)

_KIMI_RULES = (
    # An empty string counts as missing on k2.5 and k2.6, a single space does not.
    _refused(
        "kimi/reasoning-missing",
        "With thinking on, each assistant message with calls has its `reasoning_content`, and not an "
        "empty one; a single space passes.",
        source="theopenco/llmgateway#2093",
        error="thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}",
        route=_KIMI,
    ),
    # K3 takes `required` while it thinks, the models before it do not (UKGovernmentBEIS/inspect_ai#5152).
    _refused(
        "kimi/forced-tool",
        "With thinking on, `tool_choice` does not force a tool.",
        source=("can1357/oh-my-pi#1077", "AstrBotDevs/AstrBot#7805"),
        error="tool_choice '{value}' is incompatible with thinking enabled",
        route=_KIMI,
    ),
    _refused(
        "kimi/thinking-and-effort",
        "`thinking` and `reasoning_effort` are not sent together.",
        source="HKUDS/nanobot#3939",
        error="cannot specify both 'thinking' and 'reasoning_effort'",
        route=_KIMI,
    ),
    _refused(
        "kimi/empty-message",
        "No message is empty: an answer has text, calls or reasoning.",
        source="lobehub/lobehub#8419",
        error="the message at position {index} with role '{role}' must not be empty",
        route=_KIMI,
    ),
    _refused(
        "kimi/name-form",
        "A tool's name begins with a letter or an underscore, then up to 63 of `[a-zA-Z0-9_-]`.",
        source="MoonshotAI/kimi-cli#1773",
        error=(
            "function name is invalid, must start with a letter and can contain letters, numbers, "
            "underscores, and dashes"
        ),
        route=_KIMI,
    ),
    _risky(
        "kimi/id-habit",
        "Ids read `functions.{name}:{index}`, where the index counts the calls of the conversation from "
        "0: the model was trained on them and may stop calling tools when it sees others.",
        source=_KIMI_IDS,
        route=_KIMI,
    ),
    _risky(
        "kimi/index-repeats",
        "The index in an id grows from call to call: it counts all calls of the conversation, whatever their "
        "tools, and does not begin anew.",
        source=_KIMI_IDS,
        route=_KIMI,
    ),
)

_DEEPSEEK_RULES = (
    _refused(
        "deepseek/unknown-role",
        "Roles are `system`, `user`, `assistant`, `tool` and `latest_reminder`.",
        source="decolua/9router#773",
        error="unknown variant `{role}`, expected one of `system`, `user`, `assistant`, `tool`",
        route=_DEEPSEEK,
    ),
    _refused(
        "deepseek/empty-answer",
        "An assistant message has content or calls; an empty string counts as content.",
        source="carlrobertoh/ProxyAI#834",
        error="Invalid assistant message: content or tool_calls must be set",
        route=_DEEPSEEK,
    ),
    _refused(
        "deepseek/part-type",
        "Content parts are `text`.",
        source="BenedictKing/ccx#95",
        error="messages[{index}]: unknown variant `{type}`, expected `text`",
        route=_DEEPSEEK,
    ),
    _refused(
        "deepseek/reasoning-missing",
        "With thinking on, each assistant message of a turn in which calls were made has its `reasoning_content`, its "
        "final text and those of all earlier turns too.",
        source=(_THINKING_MODE, "NousResearch/hermes-agent#15228"),
        error="The `reasoning_content` in the thinking mode must be passed back to the API",
        route=_DEEPSEEK,
    ),
    # The documentation says that it is ignored there.
    _risky(
        "deepseek/reasoning-everywhere",
        "With thinking on, every assistant message has its `reasoning_content`, also where no calls were made.",
        source=("openclaw/openclaw#73417", "danny-avila/LibreChat#12836"),
        error="The `reasoning_content` in the thinking mode must be passed back to the API",
        route=_DEEPSEEK,
    ),
    # Refused in the first report, the remedy in the second.
    _risky(
        "deepseek/reasoning-empty",
        "The `reasoning_content` next to calls is not empty; an empty one was sometimes refused.",
        source=("earendil-works/pi#3743", "openclaw/openclaw#73417"),
        route=_DEEPSEEK,
    ),
)

_STRICT_RULES = (
    # Not the server's doing but that of the model's template, which looks at neither calls nor results.
    _refused(
        "strict/roles-alternate",
        "Models with a strict template (Mistral's, Gemma, Llama 2) want user and assistant to take turns, calls and "
        "results aside, after at most one system message.",
        source=("vllm-project/vllm#6862", "suitenumerique/conversations#197", "microsoft/autogen#3597"),
        error="After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        route="strict/mistral-7b",
    ),
    _refused(
        "strict/arguments",
        "The arguments of a call hold a JSON object, because the server parses them; `{}` where there are"
        " none. vLLM, llama.cpp, DashScope and the servers of Kimi and DeepSeek are judged so.",
        source=("QwenLM/qwen-code#606", "HKUDS/nanobot#1487", "vllm-project/vllm#43995"),
        error='The "function.arguments" parameter of the code model must be in JSON format',
    ),
    _refused(
        "strict/empty-text",
        "Servers in front of Claude get no empty string as content: it would become an empty block. Null "
        "passes next to calls.",
        source="musistudio/claude-code-router#1329",
        error="text content blocks must be non-empty",
        route="strict/claude",
    ),
    _risky(
        "strict/empty-tools",
        "`tools` is left out where there are none; vLLM and llama.cpp refuse an empty array, others take it.",
        source="vllm-project/vllm#48922",
    ),
    _refused(
        "xai/null-content",
        "Each message has a content; next to calls an empty string will do, null will not.",
        source="langchain-ai/langchain#34140",
        error="Each message must have at least one content element",
        route="xai/grok-4",
    ),
    _refused(
        "groq/unknown-field",
        "Messages have no fields that Chat Completions does not know, such as `reasoning` or `reasoning_content`.",
        source="janhq/jan#8136",
        error="property '{field}' is unsupported",
        route="groq/openai/gpt-oss-120b",
    ),
    _refused(
        "cerebras/unknown-field",
        "Messages have no fields that Chat Completions does not know, except `reasoning`.",
        source="Kilo-Org/kilocode#10375",
        error="property 'messages.{index}.{role}.{field}' is unsupported",
        route="cerebras/gpt-oss-120b",
    ),
)

SERVER_RULES: tuple[Rule, ...] = (*_MISTRAL_RULES, *_KIMI_RULES, *_DEEPSEEK_RULES, *_STRICT_RULES)
