"""What each family says when it refuses.

In:  a broken rule, or another reason, and the facts about it.
Out: a sentence in the family's kind of words.

What is said about a broken rule is declared with the rule, because clients recognise it; where nothing is known, our
own words go into the family's frame. After the provider's words comes what is wrong in this very request: real servers
often leave it out, but those who develop against a simulated one want to know. The words for all other reasons (keys,
models, limits) are here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from legato.model import JsonObject
from legato.simulation.families import Style
from legato.simulation.refusals import Refusal, Why
from legato.wire.findings import Violation
from legato.wire.rules import Rule

# --- rules ------------------------------------------------------------------------------------------------------------

_FRAMES: dict[Style, str] = {
    Style.ANTHROPIC: "{dotted}: {said}",
    Style.GOOGLE: "* GenerateContentRequest.{path}: {said}",
    Style.KIMI: "Invalid request: {said}",
    Style.VERCEL: "Invalid prompt: {said}",
}
_FRAME = "Invalid '{path}': {said}"


def refuse_shape(
    violation: Violation, style: Style, *, rule: Rule | None = None, body: JsonObject | None = None
) -> Refusal:
    """The refusal of `body` because it breaks `rule`, in the words of that rule where they are known."""
    path = violation.path or "body"
    words = rule.words(violation.path, body, profile=style) if rule is not None else ""
    told = f"{violation.message}, at {path}"
    frame = _FRAMES.get(style, "{said}" if words else _FRAME)
    said = f"{words}. ({told})" if words else told
    return Refusal(
        why=Why.NOT_JSON if violation.rule.startswith("json/") else Why.SHAPE,
        message=frame.format(path=path, dotted=_dotted(path), said=said),
        path=violation.path,
        rule=violation.rule,
        code=rule.code if rule is not None else "",
    )


def _dotted(path: str) -> str:
    """`messages[2].content` as `messages.2.content`."""
    return re.sub(r"\[(\d+)\]", r".\1", path)


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
    Why.PREVIOUS: "Previous response with id '{detail}' not found.",
    Why.STORED: "Response with id '{detail}' not found.",
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
        message = template.format(path=path, dotted=_dotted(path), field=field, block=block)
    return Refusal(why=Why.REASONING, message=message, path=path, rule="own-reasoning")
