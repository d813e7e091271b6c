"""The rules of the Responses API, each declared once."""

from __future__ import annotations

from functools import partial

from legato.wire.rule_texts import json_rules
from legato.wire.rules import WireRule, by_id, refused, risky

_GPT = "openai/gpt-5"

_API = "https://platform.openai.com/docs/api-reference/responses/create"
_CALLING = "https://platform.openai.com/docs/guides/function-calling"

_BAD_NAME = (
    "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"
)

_refused = partial(refused, route=_GPT)
_risky = partial(risky, route=_GPT)

_EFFORTS = (
    _refused(
        "openai-responses/effort-word",
        "`reasoning.effort` is a word of OpenAI's scale, in lower case.",
        source=_API,
        error="Invalid value: '{value}'",
    ),
    _risky(
        "openai-responses/effort-level",
        "`reasoning.effort` is one of the words that the model knows, which differ from model to model.",
        source=("openai/openai-agents-python#2089", "anomalyco/opencode#4451"),
        error="Unsupported value: '{value}' is not supported",
        code="unsupported_value",
    ),
)

_SHAPE = (
    _refused(
        "openai-responses/messages-field",
        "The history stands in `input`; there is no `messages`.",
        source="CherryHQ/cherry-studio#14522",
        error="Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'",
    ),
    _refused(
        "openai-responses/input-form",
        "`input` is a string or an array of items, and only left out where the server holds what it would say.",
        source=_API,
    ),
    _refused(
        "openai-responses/item-form",
        "Each item of `input` is an object; one without a `type` is a message.",
        source=_API,
    ),
    _refused(
        "openai-responses/tool-form",
        "A function tool is flat: its `name` stands next to its `type`.",
        source="stanfordnlp/dspy#9943",
        error="Missing required parameter: '{path}.name'",
    ),
    _refused(
        "openai-responses/tool-name",
        "The name of a tool in `tools` has 1 to 64 characters of `[a-zA-Z0-9_-]`.",
        source=(_CALLING, "brekkylab/ailoy#109"),
        error=_BAD_NAME,
    ),
    _refused(
        "openai-responses/unknown-role",
        "A message's role is `user`, `assistant`, `system` or `developer`; results are items, not messages.",
        source="Chevey339/kelivo#281",
        error="Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'",
    ),
    _refused(
        "openai-responses/chat-field",
        "A message carries none of Chat Completions' fields: `name`, `tool_calls`, `reasoning_content`, …",
        source=("theopenco/llmgateway#2820", "openai/openai-python#2677"),
        error="Unknown parameter: '{path}'",
    ),
    _refused(
        "openai-responses/content-form",
        "The content of a message is a string or an array of parts.",
        source="QuantumNous/new-api#4776",
        error="Invalid type for '{path}': expected one of an array of objects or string",
    ),
    _refused(
        "openai-responses/part-type",
        "Parts of an assistant message are `output_text` or `refusal`, those of the others `input_text`, "
        "`input_image`, `input_file` or `input_audio`.",
        source="jeremychone/rust-genai#119",
        error="Invalid value: '{type}'",
    ),
)

_CALLS = (
    _refused(
        "openai-responses/unanswered-call",
        "Each call of the request has its output in it, anywhere after the call.",
        source="openai/codex#93",
        error="No tool output found for function call {id}",
    ),
    _refused(
        "openai-responses/orphan-output",
        "Each output has its call before it, unless the server holds earlier items.",
        source="continuedev/continue#10092",
        error="No tool call found for function call output with call_id {id}",
    ),
    _refused(
        "openai-responses/duplicate-output",
        "A call has one output.",
        source="NousResearch/hermes-agent#102629",
        error="Duplicate function_call_output for call_id '{id}'",
    ),
    _refused(
        "openai-responses/duplicate-call-id",
        "No two calls share a `call_id`, not even in different turns.",
        source=("NousResearch/hermes-agent#102629", "vercel/ai#13307"),
        error="Duplicate item found",
    ),
    _refused(
        "openai-responses/call-id-form",
        "A `call_id` has 1 to 64 characters.",
        source=("AnswerDotAI/fastllm#45", "Blockether/vis#152"),
        error="Invalid '{path}': string too long. Expected a string with maximum length 64",
    ),
    _risky(
        "openai-responses/call-id-habit",
        "A `call_id` begins with `call_`.",
        source="octos-org/octos#32",
    ),
    _refused(
        "openai-responses/name-form",
        "The name of a called tool has 1 to 128 characters of `[a-zA-Z0-9_-]`.",
        source=_CALLING,
        error=_BAD_NAME,
    ),
    _refused(
        "openai-responses/arguments",
        "The arguments of a call are a string that holds a JSON object.",
        source=_CALLING,
    ),
    _refused(
        "openai-responses/output-form",
        "An output is a string or an array of `input_text`, `input_image`, `input_file` or `input_audio` parts.",
        source=(_API, "theopenco/llmgateway#2134"),
    ),
    # So says the specification of the gateway that this was written for; nothing public confirms it.
    _risky(
        "openai-responses/call-items",
        "A gateway that takes the history of tools as text only gets no call and no output items.",
        source="",
        route="vercel-gateway/openai/gpt-5",
    ),
)

_REASONING = (
    _refused(
        "openai-responses/reasoning-summary",
        "A reasoning item has a `summary`; an empty array is enough.",
        source="lidge-jun/opencodex#4673",
        error="Missing required parameter: '{path}.summary'",
    ),
    # A message without its id is not that item: it is sent as mere text.
    _refused(
        "openai-responses/reasoning-alone",
        "After reasoning stands the item it led to: a call, or the answer as an item with its own id.",
        source=("openai/openai-node#1567", "continuedev/continue#8933"),
        error="Item '{id}' of type 'reasoning' was provided without its required following item",
    ),
    _refused(
        "openai-responses/reasoning-not-encrypted",
        "With `store: false`, a reasoning item carries its `encrypted_content`.",
        source="vercel/ai#7543",
        error="Items are not persisted when `store` is set to false",
    ),
    _refused(
        "openai-responses/item-id-form",
        "The id of an item, where it is sent, has the prefix of its type (`fc`, `msg`, `rs`, `ctc`) and "
        "at most 64 letters, digits, `_` or `-`; the id of a chat call is a `call_id`, not an item's id.",
        source=("tingly-dev/tingly-box#1445", "octos-org/octos#32"),
        error="Invalid '{path}': '{value}'. Expected an ID that begins with '…'",
    ),
    _refused(
        "openai-responses/duplicate-item-id",
        "The id of an item occurs once.",
        source="vercel/ai#13307",
        error="Duplicate item found with id {value}",
    ),
    _risky(
        "openai-responses/item-without-reasoning",
        "An item of a reasoning model that is sent with its id has its reasoning before it; leaving both out is safe.",
        source="continuedev/continue#11309",
        error="Item '{value}' of type '{type}' was provided without its required 'reasoning' item",
    ),
)

RULES: dict[str, WireRule] = by_id(*json_rules(_GPT), *_SHAPE, *_EFFORTS, *_CALLS, *_REASONING)
