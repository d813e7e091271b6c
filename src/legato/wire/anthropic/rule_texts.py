"""The rules of the Messages API, each declared once."""

from __future__ import annotations

from functools import partial

from legato.wire.rule_texts import json_rules
from legato.wire.rules import OBSERVED, WireRule, by_id, refused, risky

_SONNET = "anthropic/claude-sonnet-4-5"
_OPUS = "anthropic/claude-opus-4-8"
_PREFILLED = "anthropic/claude-3-haiku-20240307"

_API = "https://platform.claude.com/docs/en/api/messages/create"
_MID_SYSTEM = "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages"
_TOOL_USE = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use"
_THINKING = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
_EFFORT = "https://platform.claude.com/docs/en/build-with-claude/effort"
_STOP_REASONS = "https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"
_PROGRAMMATIC = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling"
_PREFILL = "https://platform.claude.com/docs/en/build-with-claude/working-with-messages"

_NO_RESULT = "`tool_use` ids were found without `tool_result` blocks immediately after"
_NO_CALL = "unexpected `tool_use_id` found in `tool_result` blocks: {id}"

_refused = partial(refused, route=_SONNET)
_risky = partial(risky, route=_SONNET)

_SHAPE = (
    _refused(
        "anthropic/max-tokens",
        "`max_tokens` is given.",
        source=_API,
        error="Field required",
    ),
    _refused(
        "anthropic/no-messages",
        "`messages` is an array with at least one message.",
        source=_API,
    ),
    _refused(
        "anthropic/message-form",
        "Each message is an object.",
        source=_API,
    ),
    _risky(
        "anthropic/first-message",
        "The first message is from the user; other ones were refused and were also seen accepted.",
        source=("lobehub/lobehub#1601", OBSERVED),
        error='first message must use the "user" role',
    ),
    _refused(
        "anthropic/unknown-role",
        "A message's role is `user` or `assistant`.",
        source=_API,
    ),
    _refused(
        "anthropic/system-role",
        "Instructions go to the top-level `system`; only newer models take them among the messages.",
        source="Maol-1997/cursor-claude-connector#3",
        error=(
            'Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
            "as an input message role"
        ),
    ),
    _refused(
        "anthropic/system-place",
        "An instruction among the messages follows a turn of the user and is last or stands before an "
        "answer; never two in a row, never between calls and results.",
        source=_MID_SYSTEM,
        route=_OPUS,
    ),
    _refused(
        "anthropic/extra-field",
        "A message holds `role` and `content`, nothing else.",
        source="microsoft/autogen#3034",
        error="Extra inputs are not permitted",
    ),
    # The API itself joins them; Bedrock wants roles to alternate (Portkey-AI/gateway#748).
    _risky(
        "anthropic/neighbours",
        "Neighbouring messages have different roles: the API joins them, other hosts of the same models refuse them.",
        source=(_API, "Portkey-AI/gateway#748"),
    ),
    _refused(
        "anthropic/content-form",
        "Content is a string or an array of blocks, each an object with a `type`.",
        source=_API,
    ),
    _refused(
        "anthropic/empty-message",
        "No message is empty, except a final one of the assistant.",
        source="anthropics/claude-code#6774",
        error="all messages must have non-empty content except for the optional final assistant message",
    ),
    _refused(
        "anthropic/blank-text",
        "A text block holds something other than whitespace, in `system` too.",
        source="anthropics/claude-code#23440",
        error="text content blocks must contain non-whitespace text",
    ),
    # Known in these words for results; for other blocks the role is another one.
    _refused(
        "anthropic/block-place",
        "Calls and thinking stand in messages of the assistant; results, images and documents in those of the user.",
        source=_TOOL_USE,
        error="`{type}` blocks can only be in `…` messages",
    ),
    _refused(
        "anthropic/cache-marks",
        "A request has at most four `cache_control` marks.",
        source="continuedev/continue#6937",
        error="A maximum of 4 blocks with cache_control may be provided",
    ),
)

_TOOLS = (
    _refused(
        "anthropic/unanswered-call",
        "Each call is answered in the message right after it.",
        source="anthropics/claude-code#5989",
        error=_NO_RESULT + ": {id}",
    ),
    _refused(
        "anthropic/result-too-late",
        "Nothing stands between a call's message and that of its result.",
        source="anthropics/claude-code#13460",
        error=_NO_CALL,
    ),
    _refused(
        "anthropic/orphan-result",
        "A result follows a message of the assistant with calls.",
        source="anthropics/claude-code#13460",
        error=_NO_CALL,
    ),
    _refused(
        "anthropic/unknown-result",
        "A result names one of the calls of the message before.",
        source="anthropics/claude-code#13460",
        error=_NO_CALL,
    ),
    _refused(
        "anthropic/duplicate-result",
        "A call has one result.",
        source=_TOOL_USE,
        error="each tool_use must have a single result",
    ),
    _refused(
        "anthropic/duplicate-call-id",
        "The calls of one answer have different ids.",
        source="anthropics/claude-code#20693",
        error="`tool_use` ids must be unique",
    ),
    _risky(
        "anthropic/repeated-id",
        "No id is used in two turns; this was refused and was also seen accepted.",
        source=("anthropics/claude-code#21317", OBSERVED),
        error="`tool_use` ids must be unique",
    ),
    _refused(
        "anthropic/result-not-first",
        "The results are the first blocks of their message; text and images come after all of them.",
        source="anthropics/anthropic-sdk-typescript#653",
        error=_NO_RESULT,
    ),
    # The refusal speaks of missing results, though they are there: the text stands between the calls and them.
    _refused(
        "anthropic/text-after-call",
        "The text of an answer stands before its calls.",
        source=("dust-tt/dust#17113", "Zoo-Code-Org/Zoo-Code#1705"),
        error=_NO_RESULT,
    ),
    _refused(
        "anthropic/id-form",
        "The id of a call is made of letters, digits, `_` and `-`, in the call and in its result.",
        source=("maximhq/bifrost#5097", "BlockRunAI/ClawRouter#17"),
        error="String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    _risky(
        "anthropic/id-habit",
        "The id of a call begins with `toolu_`.",
        source="octos-org/octos#32",
    ),
    _refused(
        "anthropic/input-form",
        "The input of a call is an object, `{}` where there is none.",
        source="anthropics/anthropic-sdk-typescript#648",
        error="Input should be a valid dictionary",
    ),
    _refused(
        "anthropic/name-form",
        "The name of a called tool has 1 to 200 characters.",
        source="anthropics/claude-code#2673",
    ),
    _refused(
        "anthropic/tool-form",
        "`tools` is an array of objects.",
        source=_API,
    ),
    _refused(
        "anthropic/tool-name",
        "The name of a tool in `tools` has 1 to 128 characters of `[a-zA-Z0-9_-]`.",
        source="home-assistant/core#147760",
        error="String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    _refused(
        "anthropic/duplicate-tool",
        "No two tools have the same name.",
        source="anthropics/claude-code#10687",
        error="Tool names must be unique",
    ),
    _risky(
        "anthropic/tools-undefined",
        "A request whose history holds calls or results defines tools; without them it was refused and also accepted.",
        source=("earendil-works/pi#149", "BerriAI/litellm#24712", OBSERVED),
        error="Requests which include `tool_use` or `tool_result` blocks must define tools",
    ),
    _refused(
        "anthropic/result-content",
        "The content of a result is a string or blocks of text, image, document, search_result or tool_reference.",
        source=_API,
    ),
    _refused(
        "anthropic/empty-error",
        "A result with `is_error: true` says what went wrong.",
        source="bytedance/trae-agent#231",
        error="content cannot be empty if `is_error` is true",
    ),
    _risky(
        "anthropic/empty-result",
        "A result is not empty; a short text that says so stands in for nothing.",
        source="zed-industries/zed#27130",
    ),
    _refused(
        "anthropic/server-tool-id",
        "The id of a server tool's call begins with `srvtoolu_`.",
        source="ding113/claude-code-hub#470",
        error="String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
    ),
    _refused(
        "anthropic/server-tool-open",
        "A server tool has its result in the same turn. It may still wait for the results of tools that were "
        "called beside it, as long as nothing but them stands in the messages of the user.",
        source=_STOP_REASONS,
        error="`{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block",
    ),
    _risky(
        "anthropic/code-interrupted",
        "While code that the API runs waits for the results of tools that it called, the messages of the user hold "
        "nothing but those results: words end the turn, and the code with it.",
        source=_PROGRAMMATIC,
    ),
    _risky(
        "anthropic/server-result-alone",
        "The result of a server tool follows its call, in messages of the assistant.",
        source="anthropics/claude-code#65726",
        error="unexpected `tool_use_id` found in `{type}` blocks: {id}",
    ),
)

_THOUGHTS = (
    _refused(
        "anthropic/thinking-unsigned",
        "A thinking block keeps its text and its signature, a redacted one its data; those of another "
        "vendor cannot be sent.",
        source="anthropics/anthropic-sdk-python#1598",
        error="thinking.signature: Field required",
    ),
    _refused(
        "anthropic/thinking-not-first",
        "A message that holds thinking begins with it.",
        source=_THINKING,
        error="Expected `thinking` or `redacted_thinking`, but found `text`",
    ),
    _refused(
        "anthropic/thinking-last",
        "Thinking is not the last block of an answer.",
        source="tailcallhq/forgecode#2107",
        error="The final block in an assistant message cannot be `thinking`",
    ),
    _refused(
        "anthropic/loop-without-thinking",
        "With thinking enabled, when the last message holds results, whatever stands beside them, the answer that "
        "began this run of calls starts with thinking.",
        source=("mastra-ai/mastra#7799", "Kilo-Org/kilocode#5219", "router-for-me/CLIProxyAPI#702"),
        error="Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    _refused(
        "anthropic/thinking-while-off",
        "With thinking off, neither a final answer nor those of an open run of calls hold thinking.",
        source=("tailcallhq/forgecode#1853", "microsoft/vscode#282326"),
        error="When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
    ),
    _refused(
        "anthropic/forced-tool",
        "With thinking on, `tool_choice` is auto or none.",
        source=(_THINKING, "diegosouzapw/OmniRoute#4389"),
        error="Thinking may not be enabled when tool_choice forces tool use",
    ),
)

_EFFORTS = (
    _refused(
        "anthropic/effort-word",
        "`output_config.effort` is `low`, `medium`, `high`, `xhigh` or `max`.",
        source=_EFFORT,
        route=_OPUS,
    ),
    _risky(
        "anthropic/effort-level",
        "`output_config.effort` is one that the model knows: `max` came with 4.6, `xhigh` with 4.7.",
        source=_EFFORT,
        route="anthropic/claude-sonnet-4-6",
    ),
)

_ENDING = (
    _refused(
        "anthropic/prefill",
        "A request does not end on text of the assistant; only old models continue it, and only with thinking off.",
        source="ericc-ch/copilot-api#261",
        error="This model does not support assistant message prefill",
        route="anthropic/claude-sonnet-4-6",
    ),
    _refused(
        "anthropic/prefill-whitespace",
        "Text that the model is to continue does not end with whitespace.",
        source="tailcallhq/forgecode#1872",
        error="final assistant content cannot end with trailing whitespace",
        route=_PREFILLED,
    ),
    _risky(
        "anthropic/ends-on-answer",
        "The last message is from the user.",
        source=_PREFILL,
        route=_PREFILLED,
    ),
)

RULES: dict[str, WireRule] = by_id(*json_rules(_SONNET), *_SHAPE, *_TOOLS, *_THOUGHTS, *_EFFORTS, *_ENDING)
