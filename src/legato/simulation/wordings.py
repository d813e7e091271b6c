"""What each family says when it refuses.

In:  a broken rule, or another reason, and the facts about it.
Out: a sentence in the family's kind of words.

Well-known fragments stand here because clients recognise them; where none is known, the rule's own words are said in
the family's frame. Behind the fragment stands what is wrong in this very request, which real servers often leave out:
whoever develops against a simulated provider wants to know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from legato.simulation.families import Style
from legato.simulation.refusals import Refusal, Why
from legato.wire.contract import Violation

# --- rules ------------------------------------------------------------------------------------------------------------

_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
)
_ORPHAN = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
_UNPAIRED_USE = "`tool_use` ids were found without `tool_result` blocks immediately after"
_UNKNOWN_USE = "unexpected `tool_use_id` found in `tool_result` blocks"
_UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn"
)
_NO_DATA = "required oneof field 'data' must have one initialized field"
_NOT_MESSAGES = "The messages must be a ModelMessage[]"

_FRAGMENTS: dict[str, str] = {
    "json/not-json": "The request body is not valid JSON",
    "json/lone-surrogate": "The request body is not valid JSON: no low surrogate in string",
    "openai-chat/unanswered-call": _UNANSWERED,
    "openai-chat/result-too-late": _UNANSWERED,
    "openai-chat/orphan-result": _ORPHAN,
    "openai-chat/unknown-result": "'tool_call_id' not found in 'tool_calls' of previous message",
    "openai-chat/duplicate-result": "Duplicate value for 'tool_call_id'",
    "openai-chat/id-form": "string too long. Expected a string with maximum length 40",
    "openai-chat/arguments-form": "Invalid type: expected a string, but got an object instead",
    "openai-chat/null-content": "Invalid value for 'content': expected a string, got null",
    "openai-chat/image-place": "Image URLs are only allowed for messages with role 'user'",
    "mistral/role-order": "Unexpected role '{role}' after role '{before}'",
    "mistral/user-after-tool": "Unexpected role 'user' after role 'tool'",
    "mistral/first-message-calls": "Unexpected tool call id in tool results",
    "mistral/ends-on-answer": "Expected last role User or Tool (or Assistant with prefix True) for serving",
    "mistral/id-form": "Tool call id must be a-z, A-Z, 0-9, with a length of 9",
    "mistral/empty-answer": "Assistant message must have either content or tool_calls, but not none",
    "kimi/reasoning-missing": (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
    ),
    "kimi/empty-message": "the message at position {index} with role 'assistant' must not be empty",
    "kimi/name-form": "function name is invalid, must start with a letter",
    "deepseek/unknown-role": "unknown variant, expected one of `system`, `user`, `assistant`, `tool`",
    "deepseek/empty-answer": "Invalid assistant message: content or tool_calls must be set",
    "deepseek/part-type": "unknown variant, expected `text`",
    "deepseek/reasoning-missing": "The `reasoning_content` in the thinking mode must be passed back to the API",
    "strict/arguments": 'The "function.arguments" parameter must be in JSON format',
    "xai/null-content": "Each message must have at least one content element",
    "groq/unknown-field": "property '{path}' is unsupported",
    "cerebras/unknown-field": "property '{path}' is unsupported",
    "openai-responses/messages-field": "Unsupported parameter: this parameter has moved to 'input'",
    "openai-responses/chat-field": "Unknown parameter: '{path}'",
    "openai-responses/part-type": "Invalid value",
    "openai-responses/unanswered-call": "No tool output found for function call",
    "openai-responses/orphan-output": "No tool call found for function call output with call_id",
    "openai-responses/duplicate-output": "Duplicate item found",
    "openai-responses/duplicate-call-id": "Duplicate item found",
    "openai-responses/duplicate-item-id": "Duplicate item found with id",
    "openai-responses/item-id-form": "Invalid '{path}': expected an ID that begins with its type's prefix",
    "openai-responses/reasoning-alone": "Item of type 'reasoning' was provided without its required following item",
    "openai-responses/reasoning-not-encrypted": "Items are not persisted when `store` is set to false",
    "anthropic/extra-field": "Extra inputs are not permitted",
    "anthropic/empty-message": (
        "all messages must have non-empty content except for the optional final assistant message"
    ),
    "anthropic/blank-text": "text content blocks must contain non-whitespace text",
    "anthropic/unanswered-call": _UNPAIRED_USE,
    "anthropic/result-not-first": _UNPAIRED_USE,
    "anthropic/text-after-call": _UNPAIRED_USE,
    "anthropic/result-too-late": _UNKNOWN_USE,
    "anthropic/orphan-result": _UNKNOWN_USE,
    "anthropic/unknown-result": _UNKNOWN_USE,
    "anthropic/duplicate-result": "each tool_use must have a single result",
    "anthropic/duplicate-call-id": "`tool_use` ids must be unique",
    "anthropic/id-form": "String should match pattern '^[a-zA-Z0-9_-]+$'",
    "anthropic/input-form": "Input should be a valid dictionary",
    "anthropic/max-tokens": "Field required",
    "anthropic/tools-undefined": "Requests which include `tool_use` or `tool_result` blocks must define tools",
    "anthropic/thinking-unsigned": "thinking.signature: Field required",
    "anthropic/thinking-not-first": "Expected `thinking` or `redacted_thinking` as the first block",
    "anthropic/thinking-last": "The final block in an assistant message cannot be `thinking`",
    "anthropic/loop-without-thinking": "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    "anthropic/prefill": "This model does not support assistant message prefill",
    "anthropic/prefill-whitespace": "final assistant content cannot end with trailing whitespace",
    "gemini/unknown-role": "Please use a valid role: user, model",
    "gemini/no-parts": _NO_DATA,
    "gemini/part-data": _NO_DATA,
    "gemini/empty-text": _NO_DATA,
    "gemini/unknown-field": "Invalid JSON payload received. Unknown name: Cannot find field",
    "gemini/call-place": (
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn"
    ),
    "gemini/unanswered-call": _UNEQUAL,
    "gemini/response-count": _UNEQUAL,
    "gemini/orphan-response": _UNEQUAL,
    "gemini/signature-missing": "Function call is missing a thought_signature in functionCall parts",
    "gemini/signature-form": "Base64 decoding failed for thought_signature",
    "gemini/ends-on-answer": "Requests ending with a model turn are not supported",
    "vercel/unanswered-call": "Tool result is missing for a tool call",
    "vercel/result-too-late": "Tool result is missing for a tool call",
    "vercel/orphan-result": _ORPHAN,
    "vercel/unknown-result": "'tool_call_id' not found in 'tool_calls' of previous message",
    "vercel/duplicate-result": "Duplicate value for 'tool_call_id'",
    "vercel/duplicate-call-id": "Duplicate value for 'tool_call_id'",
    **dict.fromkeys(
        (f"vercel/{rule}" for rule in ("unknown-role", "content-form", "part-type", "text-form")), _NOT_MESSAGES
    ),
    **dict.fromkeys((f"vercel/{rule}" for rule in ("call-form", "result-form", "output-form")), _NOT_MESSAGES),
}

_FRAGMENTS_OF_STYLE: dict[tuple[Style, str], str] = {
    (Style.MISTRAL, "openai-chat/unanswered-call"): "Not the same number of function calls and responses",
    (Style.MISTRAL, "openai-chat/result-too-late"): "Not the same number of function calls and responses",
    (Style.MISTRAL, "openai-chat/unknown-result"): "Unexpected tool call id in tool results",
    (Style.KIMI, "openai-chat/orphan-result"): "tool_call_id  is not found",
    (Style.KIMI, "openai-chat/unknown-result"): "tool_call_id  is not found",
    (Style.DEEPSEEK, "openai-chat/unanswered-call"): (
        f"{_UNANSWERED}. (insufficient tool messages following tool_calls message)"
    ),
    (Style.DEEPSEEK, "openai-chat/orphan-result"): (
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
    ),
}

_FRAMES: dict[Style, str] = {
    Style.ANTHROPIC: "{dotted}: {said}",
    Style.GOOGLE: "* GenerateContentRequest.{path}: {said}",
    Style.KIMI: "Invalid request: {said}",
    Style.VERCEL: "Invalid prompt: {said}",
}
_FRAME = "Invalid '{path}': {said}"

_ROLES = re.compile(r"a (\w+) message may not follow an? (\w+) message")


def refuse_shape(violation: Violation, style: Style) -> Refusal:
    """The refusal of a request that breaks a rule."""
    rule, path = violation.rule, violation.path or "body"
    fragment = _FRAGMENTS_OF_STYLE.get((style, rule)) or _FRAGMENTS.get(rule, "")
    told = f"{violation.message}, at {path}"
    if fragment:
        role, before = found.groups() if (found := _ROLES.search(violation.message)) else ("", "")
        fragment = fragment.format(path=path, index=_index(path), role=role, before=before)
    frame = _FRAMES.get(style, "{said}" if fragment else _FRAME)
    said = f"{fragment}. ({told})" if fragment else told
    message = frame.format(path=path, dotted=re.sub(r"\[(\d+)\]", r".\1", path), said=said)
    why = Why.NOT_JSON if rule.startswith("json/") else Why.SHAPE
    return Refusal(why=why, message=message, path=violation.path, rule=rule)


def _index(path: str) -> str:
    found = re.search(r"\[(\d+)\]", path)
    return found[1] if found else "0"


# --- other reasons ----------------------------------------------------------------------------------------------------

_PLAIN: dict[Why, str] = {
    Why.NOT_JSON: "The request body is not valid JSON: {detail}",
    Why.MODEL: "The model `{model}` does not exist or you do not have access to it.",
    Why.KEY_MISSING: "You didn't provide an API key; send one as a bearer token in the Authorization header.",
    Why.KEY_WRONG: "Incorrect API key provided.",
    Why.QUOTA: "Payment required: the balance of this account is used up.",
    Why.TOO_LONG: (
        "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."
    ),
    Why.RATE: "Rate limit reached for {model}. Please try again in {seconds}s.",
    Why.SERVER: "The server had an error while processing your request.",
    Why.OVERLOADED: "The engine is currently overloaded, please try again later.",
    Why.PATH: "Unknown request URL: {detail}.",
    Why.METHOD: "Not allowed to {detail} here.",
}

_QUOTA = "You exceeded your current quota, please check your plan and billing details."

_OF_STYLE: dict[tuple[Style, Why], str] = {
    (Style.OPENAI, Why.QUOTA): _QUOTA,
    (Style.RESPONSES, Why.QUOTA): _QUOTA,
    (Style.RESPONSES, Why.TOO_LONG): "Your input exceeds the context window of this model ({tokens} > {window}).",
    (Style.ANTHROPIC, Why.KEY_MISSING): "x-api-key header is required",
    (Style.ANTHROPIC, Why.KEY_WRONG): "invalid x-api-key",
    (Style.ANTHROPIC, Why.MODEL): "model: {model}",
    (Style.ANTHROPIC, Why.QUOTA): "Your credit balance is too low to access the API.",
    (Style.ANTHROPIC, Why.TOO_LONG): "prompt is too long: {tokens} tokens > {window} maximum",
    (Style.ANTHROPIC, Why.RATE): "This request would exceed the rate limit of your organization.",
    (Style.ANTHROPIC, Why.SERVER): "Internal server error",
    (Style.ANTHROPIC, Why.OVERLOADED): "Overloaded",
    (Style.GOOGLE, Why.NOT_JSON): "Invalid JSON payload received. {detail}",
    (Style.GOOGLE, Why.KEY_MISSING): "Callers without an API key are not allowed to use this method.",
    (Style.GOOGLE, Why.KEY_WRONG): "API key not valid. Please pass a valid API key.",
    (Style.GOOGLE, Why.MODEL): "models/{model} is not found for API version v1beta.",
    (Style.GOOGLE, Why.QUOTA): _QUOTA,
    (Style.GOOGLE, Why.TOO_LONG): (
        "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
    ),
    (Style.GOOGLE, Why.RATE): "Resource has been exhausted (too many requests per minute).",
    (Style.GOOGLE, Why.SERVER): "An internal error has occurred.",
    (Style.GOOGLE, Why.OVERLOADED): "The model is overloaded. Please try again later.",
    (Style.MISTRAL, Why.KEY_MISSING): "Unauthorized",
    (Style.MISTRAL, Why.KEY_WRONG): "Unauthorized",
    (Style.MISTRAL, Why.MODEL): "Invalid model: {model}",
    (Style.MISTRAL, Why.RATE): "Requests rate limit exceeded",
    (Style.MISTRAL, Why.TOO_LONG): (
        "Prompt contains {tokens} tokens, too large for model with {window} maximum context length"
    ),
    (Style.KIMI, Why.KEY_MISSING): "Invalid Authentication",
    (Style.KIMI, Why.KEY_WRONG): "Invalid Authentication",
    (Style.KIMI, Why.MODEL): "Not found the model {model} or permission denied",
    (Style.KIMI, Why.QUOTA): "Your account is suspended because of insufficient balance.",
    (Style.KIMI, Why.TOO_LONG): "Invalid request: Your request exceeded model token limit: {window}",
    (Style.DEEPSEEK, Why.KEY_MISSING): "Authentication Fails (no api key)",
    (Style.DEEPSEEK, Why.KEY_WRONG): "Authentication Fails, your api key is invalid",
    (Style.DEEPSEEK, Why.MODEL): "Model Not Exist",
    (Style.DEEPSEEK, Why.QUOTA): "Insufficient Balance",
    (Style.OPENROUTER, Why.KEY_MISSING): "No auth credentials found",
    (Style.OPENROUTER, Why.MODEL): "{model} is not a valid model ID",
    (Style.OPENROUTER, Why.QUOTA): "Insufficient credits.",
    (Style.VERCEL, Why.MODEL): "No such model: {model}",
}


def refuse(
    why: Why,
    style: Style,
    *,
    model: str = "",
    retry_after: float | None = None,
    facts: Mapping[str, object] | None = None,
) -> Refusal:
    """A refusal for a reason that is no rule of the dialect."""
    seconds = "a few " if retry_after is None else f"{retry_after:g}"
    template = _OF_STYLE.get((style, why)) or _PLAIN[why]
    message = template.format(**{"model": model, "seconds": seconds, "detail": "", **(facts or {})})
    return Refusal(why=why, message=message, model=model, retry_after=retry_after)


_REASONING: dict[Style, str] = {
    Style.RESPONSES: "The encrypted content of {path} could not be verified.",
    Style.GOOGLE: "* GenerateContentRequest.{path}: Corrupted thought signature.",
}


def refuse_reasoning(path: str, field: str, style: Style) -> Refusal:
    """The refusal of reasoning that is not this provider's own; `field` is where its signature stands."""
    if field == "id":
        message = f"Item with id '{path}' not found."
    else:
        block = "redacted_thinking" if field == "data" else "thinking"
        template = _REASONING.get(style, "{dotted}: Invalid `{field}` in `{block}` block")
        dotted = re.sub(r"\[(\d+)\]", r".\1", path)
        message = template.format(path=path, dotted=dotted, field=field, block=block)
    return Refusal(why=Why.REASONING, message=message, path=path, rule="own-reasoning")
