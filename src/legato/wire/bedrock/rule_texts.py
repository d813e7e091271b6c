"""The rules of the Converse API, each declared once."""

from __future__ import annotations

from functools import partial

from legato.wire.rule_texts import json_rules
from legato.wire.rules import OBSERVED, WireRule, by_id, refused, risky

_CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
_LLAMA = "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0"

_API = "https://docs.aws.amazon.com/bedrock/latest/APIReference/"
_MESSAGE = f"{_API}API_runtime_Message.html"
_BLOCK = f"{_API}API_runtime_ContentBlock.html"
_TOOL_USE = f"{_API}API_runtime_ToolUseBlock.html"
_RESULT = f"{_API}API_runtime_ToolResultBlock.html"
_SPEC = f"{_API}API_runtime_ToolSpecification.html"
_CONFIG = f"{_API}API_runtime_ToolConfiguration.html"
_CHOICE = f"{_API}API_runtime_ToolChoice.html"
_LIMITS = f"{_API}API_runtime_InferenceConfiguration.html"
_DOCUMENT = f"{_API}API_runtime_DocumentBlock.html"
_CACHE = "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html"
_THINKING = "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html"
_PAIRS = "BerriAI/litellm#20048"

_TOO_MANY = (
    "The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse blocks of previous turn."
)

_refused = partial(refused, route=_CLAUDE, code="ValidationException")
_risky = partial(risky, route=_CLAUDE)

_SHAPE = (
    _refused("bedrock/no-messages", "`messages` is an array with at least one message.", source=_MESSAGE),
    _refused("bedrock/message-form", "Each message is an object.", source=_MESSAGE),
    _refused("bedrock/unknown-role", "A message's role is `user` or `assistant`.", source=_MESSAGE),
    _refused(
        "bedrock/first-message",
        "The first message is from the user.",
        source="Portkey-AI/gateway#748",
        error=(
            "A conversation must start with a user message. Try again with a conversation that starts with a user "
            "message."
        ),
    ),
    _refused(
        "bedrock/neighbours",
        "User and assistant take turns.",
        source="Portkey-AI/gateway#748",
        error=(
            "A conversation must alternate between user and assistant roles. Make sure the conversation alternates "
            "between user and assistant roles and try again."
        ),
    ),
    _refused(
        "bedrock/content-form", "`content` is an array with at least one block, and so is `system`.", source=_MESSAGE
    ),
    _refused("bedrock/block-form", "A block is an object with exactly one member.", source=_BLOCK),
    _refused(
        "bedrock/block-place",
        "Calls and reasoning are the model's; results and attachments are the user's.",
        source=_BLOCK,
    ),
    _refused(
        "bedrock/blank-text",
        "A text holds something other than whitespace.",
        source="OpenHands/OpenHands#5339",
        error=(
            "The text field in the ContentBlock object at {path} is blank. Add text to the text field, and try again."
        ),
    ),
    _risky("bedrock/ends-on-answer", "The last message is from the user.", source=_MESSAGE),
    _refused("bedrock/max-tokens", "`maxTokens` is a number of at least 1.", source=_LIMITS),
    _refused("bedrock/temperature", "`temperature` is from 0 to 1.", source=_LIMITS),
)

_CALLS = (
    _refused(
        "bedrock/id-form",
        "A `toolUseId` is 1 to 64 of `[a-zA-Z0-9_.:-]`.",
        source=(_TOOL_USE, OBSERVED),
        error=(
            "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must satisfy regular "
            "expression pattern: [a-zA-Z0-9_-]+"
        ),
    ),
    _risky(
        "bedrock/id-habit",
        "A `toolUseId` begins with `tooluse_`, and holds neither `.` nor `:`, which older models do not take.",
        source=(_TOOL_USE, OBSERVED),
    ),
    _refused("bedrock/name-form", "The name of a tool is 1 to 64 of `[a-zA-Z0-9_-]`.", source=_SPEC),
    _refused(
        "bedrock/input-form",
        "The input of a call is an object.",
        source=_TOOL_USE,
        error="The format of the value at {path} is invalid. Provide a json object for the field and try again.",
    ),
    _refused(
        "bedrock/duplicate-call-id",
        "No two calls of an answer share an id.",
        source=_PAIRS,
        error="The toolUse blocks at messages.{index}.content contain duplicate Ids: {id}",
    ),
    _risky("bedrock/repeated-id", "No two calls of a request share an id.", source=_PAIRS),
    _refused(
        "bedrock/unanswered-call",
        "Every call has its result in the next message.",
        source=_PAIRS,
        error="Expected toolResult blocks at messages.{next}.content for the following Ids: {id}",
    ),
    _refused(
        "bedrock/result-too-late",
        "The result of a call is in the message right after it.",
        source=_PAIRS,
        error=_TOO_MANY,
    ),
    _refused(
        "bedrock/orphan-result",
        "A result follows the call that it belongs to.",
        source=_PAIRS,
        error=_TOO_MANY,
    ),
    _refused(
        "bedrock/unknown-result",
        "A result names a call of the answer before it.",
        source=_PAIRS,
        error=_TOO_MANY,
    ),
    _refused(
        "bedrock/duplicate-result",
        "A call has one result.",
        source=_PAIRS,
        error="The toolResult blocks at messages.{index}.content contain duplicate Ids: {id}",
    ),
    _refused("bedrock/result-not-first", "Results come first in their message.", source=_PAIRS),
    _refused(
        "bedrock/words-beside-results",
        "Some families of models (Llama, Mistral) take a message of results with nothing beside them.",
        source="langchain-ai/langchain-aws#141",
        error="Conversation blocks and tool result blocks cannot be provided in the same turn.",
        route=_LLAMA,
    ),
    _refused(
        "bedrock/result-content",
        "The content of a result is an array with at least one block of text, JSON, an image or a document.",
        source=_RESULT,
    ),
    _refused(
        "bedrock/result-json",
        "`json` in a result is an object; lists and scalars are sent as text.",
        source="sigoden/aichat#1542",
        error="The format of the value at {path} is invalid. Provide a json object for the field and try again.",
    ),
    _refused(
        "bedrock/result-video",
        "A video does not come inside a result.",
        source=OBSERVED,
        error="Malformed input request: #/messages/{index}/content/0: extraneous key [toolResult] is not permitted",
        route="bedrock/us.amazon.nova-2-lite-v1:0",
    ),
    _risky("bedrock/text-after-call", "Text comes before the calls of an answer.", source=_TOOL_USE),
)

_TOOLS = (
    _refused("bedrock/tool-form", "A tool is an object with a name and `inputSchema.json`, an object.", source=_SPEC),
    _refused("bedrock/duplicate-tool", "No tool is defined twice.", source=_CONFIG),
    _refused("bedrock/tool-choice", "A choice among tools is `auto`, `any` or `tool`.", source=_CHOICE),
    _refused(
        "bedrock/tools-undefined",
        "When the history holds calls or results, `toolConfig` is set.",
        source="vxcontrol/pentagi#196",
        error="The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    ),
)

_REASONING = (
    _refused(
        "bedrock/reasoning-unsigned",
        "Reasoning goes back with its signature, or as the provider hid it.",
        source="anomalyco/opencode#3077",
    ),
    _refused("bedrock/reasoning-last", "An answer does not end with reasoning.", source=_THINKING),
    _refused(
        "bedrock/loop-without-reasoning",
        "With thinking enabled, the answer that began an open run of calls starts with reasoning.",
        source=_THINKING,
        error=(
            "The model returned the following errors: messages.{index}.content.0.type: Expected `thinking` or "
            "`redacted_thinking`, but found `tool_use`."
        ),
    ),
)

_MEDIA = (
    _refused("bedrock/media-form", "An attachment has a `format` and a `source` with one member.", source=_BLOCK),
    _refused(
        "bedrock/s3-location",
        "Only some models (Nova) read images from S3; documents are read from there by more of them.",
        source=OBSERVED,
        error="This model doesn't support the s3Uri field. Remove s3Uri and try again.",
    ),
    _refused(
        "bedrock/document-name",
        "The name of a document is made of letters, digits, single spaces, hyphens and brackets.",
        source=_DOCUMENT,
        error=(
            "The provided document name is invalid. The document name can only contain alphanumeric characters, "
            "whitespace characters, hyphens, parentheses, and square brackets."
        ),
    ),
    _refused(
        "bedrock/duplicate-document",
        "No two documents of a request share a name.",
        source="maximhq/bifrost#7003",
        error="Messages can't contain duplicate document names. Rename the document and retry your request.",
    ),
    _refused("bedrock/document-alone", "A message with a document also holds a text.", source=_BLOCK),
    _refused("bedrock/cache-marks", "At most four cache points are among the messages.", source=_CACHE),
)

RULES: dict[str, WireRule] = by_id(*_SHAPE, *_CALLS, *_TOOLS, *_REASONING, *_MEDIA, *json_rules(_CLAUDE))
"""the rules by their ids"""
