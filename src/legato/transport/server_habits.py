"""How each provider behaves as a server: what someone has to know who answers in its place.

A simulated provider answers by these habits, and a gateway speaks by them to the provider's clients. A host says so in
its own file; the habits of the other providers are here. What a provider accepts is not: that is in the rules of its
dialect and in its capabilities. A provider that no one has described, but that speaks a known dialect, gets the plain
habits of that dialect, so any server of a user's own catalogue is simulated.
"""

from __future__ import annotations

from msgspec.structs import replace

from legato.model import Dialect
from legato.transport.error_bodies import (
    anthropic_error,
    aws_error,
    aws_error_type,
    azure_error,
    google_error,
    vercel_error,
)
from legato.wire.hosting import CacheHabit, IdHabit, RefusalReason, ServerHabits
from legato.wire.hosts import find_host

_QUOTA = "You exceeded your current quota, please check your plan and billing details."

_RESPONSES = ServerHabits(
    thinks_unasked=(),
    answers="resp_",
    # https://platform.openai.com/docs/guides/prompt-caching
    cache=CacheHabit((("*", 1024),), step=128),
    says={
        RefusalReason.QUOTA: _QUOTA,
        RefusalReason.TOO_LONG: "Your input exceeds the context window of this model ({tokens} > {window}).",
        RefusalReason.REASONING: "The encrypted content of {path} could not be verified.",
    },
    statuses={RefusalReason.QUOTA: 429},
)

_ANTHROPIC = ServerHabits(
    thinks_unasked=(),
    ids=IdHabit.TOOLU,
    answers="msg_01",
    talks=True,
    # https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
    cache=CacheHabit(
        (
            ("claude-opus-4-[56]*", 4096),
            ("claude-haiku-4-5*", 4096),
            ("claude-opus-4-7*", 2048),
            ("claude-3*haiku*", 2048),
            ("claude-opus-5*", 512),
            ("*", 1024),
        ),
        marked=True,
    ),
    frame="{dotted}: {said}",
    says={
        RefusalReason.KEY_MISSING: "x-api-key header is required",
        RefusalReason.KEY_WRONG: "invalid x-api-key",
        RefusalReason.MODEL: "model: {model}",
        RefusalReason.QUOTA: "Your credit balance is too low to access the API.",
        RefusalReason.TOO_LONG: "prompt is too long: {tokens} tokens > {window} maximum",
        RefusalReason.RATE: "This request would exceed the rate limit of your organization.",
        RefusalReason.SERVER: "Internal server error",
        RefusalReason.OVERLOADED: "Overloaded",
    },
    statuses={RefusalReason.QUOTA: 400, RefusalReason.OVERLOADED: 529},
    error_body=anthropic_error,
    request_id="request-id",
)

_GEMINI = ServerHabits(
    thinks_unasked=(),
    ids=IdHabit.SHORT,
    answers="",
    # https://ai.google.dev/gemini-api/docs/caching
    cache=CacheHabit((("gemini-2*", 2048), ("*", 4096))),
    frame="* GenerateContentRequest.{path}: {said}",
    says={
        RefusalReason.NOT_JSON: "Invalid JSON payload received. {detail}",
        RefusalReason.REASONING: "* GenerateContentRequest.{path}: Corrupted thought signature.",
        RefusalReason.KEY_MISSING: "Callers without an API key are not allowed to use this method.",
        RefusalReason.KEY_WRONG: "API key not valid. Please pass a valid API key.",
        RefusalReason.MODEL: "models/{model} is not found for API version v1beta.",
        RefusalReason.QUOTA: _QUOTA,
        RefusalReason.TOO_LONG: (
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        ),
        RefusalReason.RATE: "Resource has been exhausted (too many requests per minute).",
        RefusalReason.SERVER: "An internal error has occurred.",
        RefusalReason.OVERLOADED: "The model is overloaded. Please try again later.",
    },
    statuses={RefusalReason.QUOTA: 429, RefusalReason.KEY_MISSING: 403, RefusalReason.KEY_WRONG: 400},
    error_body=google_error,
    request_id="x-goog-request-id",
    tells_wait=False,  # it names the time in the body
)

_VERCEL = ServerHabits(
    answers="aitxt-",
    frame="Invalid prompt: {said}",
    says={RefusalReason.MODEL: "No such model: {model}"},
    error_body=vercel_error,
)

_BEDROCK = ServerHabits(
    thinks_unasked=(),
    ids=IdHabit.TOOLUSE,
    answers="",
    talks=True,
    # https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    cache=CacheHabit(
        (("*claude-opus-4-[56]*", 4096), ("*claude-haiku-4-5*", 4096), ("*claude-3-5-haiku*", 2048), ("*", 1024)),
        marked=True,
    ),
    says={
        # Claude's own words, in the service's frame (strands-agents/harness-sdk#1663)
        RefusalReason.TOO_LONG: (
            "The model returned the following errors: prompt is too long: {tokens} tokens > {window} maximum"
        ),
        RefusalReason.REASONING: (
            "The model returned the following errors: {dotted}: Invalid `{field}` in `{block}` block"
        ),
        RefusalReason.NOT_JSON: "The request body cannot be read as JSON: {detail}",
        RefusalReason.KEY_MISSING: "Missing Authentication Token",
        RefusalReason.KEY_WRONG: "Authentication failed: Please make sure your API Key is valid.",
        RefusalReason.MODEL: "The provided model identifier is invalid.",  # seen in recorded exchanges
        RefusalReason.QUOTA: "Your request exceeds the service quota for your account.",
        RefusalReason.RATE: "Too many requests, please wait before trying again.",
        RefusalReason.SERVER: "The system encountered an unexpected error during processing. Try your request again.",
        RefusalReason.OVERLOADED: "The service is currently unavailable, please try again.",
    },
    statuses={
        RefusalReason.KEY_MISSING: 403,
        RefusalReason.KEY_WRONG: 403,
        RefusalReason.MODEL: 400,
        RefusalReason.QUOTA: 400,
    },
    error_body=aws_error,
    error_header=("x-amzn-errortype", aws_error_type),
    request_id="x-amzn-requestid",
    tells_wait=False,
)

_PLAIN: dict[Dialect, ServerHabits] = {
    Dialect.OPENAI_CHAT: ServerHabits(),
    Dialect.OPENAI_RESPONSES: _RESPONSES,
    Dialect.ANTHROPIC: _ANTHROPIC,
    Dialect.GEMINI: _GEMINI,
    Dialect.VERCEL: _VERCEL,
    Dialect.BEDROCK: _BEDROCK,
}

_OPENAI_MODELS = ("gpt-*", "chatgpt-*", "o1*", "o3*", "o4*", "codex-*", "computer-use-*", "ft:*")

_BEDROCK_MODELS = tuple(
    f"*{maker}.*"
    for maker in (
        "ai21", "amazon", "anthropic", "cohere", "deepseek", "google", "meta", "minimax", "mistral", "moonshot",
        "nvidia", "openai", "qwen", "writer", "zai",
    )
)  # fmt: skip
"""their names begin with their makers, behind a region"""

_NO_TOKEN = (  # spring-projects/spring-ai#635
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential."
)
_VERTEX_SAYS = {
    RefusalReason.KEY_MISSING: _NO_TOKEN,
    RefusalReason.KEY_WRONG: _NO_TOKEN,
    RefusalReason.MODEL: (  # pollinations/pollinations#6148
        "Publisher Model `{model}` was not found or your project does not have access to it. Please ensure you are "
        "using a valid model version."
    ),
}
_TOKENS = {RefusalReason.KEY_MISSING: 401, RefusalReason.KEY_WRONG: 401}

_NO_SUBSCRIPTION = (  # SciSharp/BotSharp#386
    "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an "
    "active subscription and use a correct regional API endpoint for your resource."
)
_AZURE_SAYS = {
    RefusalReason.PATH: "Resource not found",
    RefusalReason.KEY_MISSING: _NO_SUBSCRIPTION,
    RefusalReason.KEY_WRONG: _NO_SUBSCRIPTION,
    RefusalReason.MODEL: (  # egoist/chatwise-releases#992
        "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, "
        "please wait a moment and try again."
    ),
}

_KNOWN: dict[str, ServerHabits] = {
    "openai-responses": replace(_RESPONSES, base="/openai/v1", serves=_OPENAI_MODELS),
    "anthropic": replace(_ANTHROPIC, base="/anthropic", serves=("claude-*",)),
    "gemini": replace(_GEMINI, base="/gemini/v1beta", serves=("gemini-*", "gemma-*", "learnlm-*")),
    "bedrock": replace(_BEDROCK, base="/bedrock", serves=_BEDROCK_MODELS),
    # Claude's words about the body, in AWS's envelope.
    "bedrock-anthropic": replace(
        _ANTHROPIC,
        base="/bedrock-anthropic",
        serves=("*claude-*",),
        says={**_BEDROCK.says, RefusalReason.TOO_LONG: _ANTHROPIC.says[RefusalReason.TOO_LONG]},
        statuses=_BEDROCK.statuses,
        error_body=aws_error,
        error_header=_BEDROCK.error_header,
        request_id=_BEDROCK.request_id,
        tells_wait=False,
    ),
    "vertex": replace(
        _GEMINI,
        base="/vertex/v1",
        ids=IdHabit.EMPTY,
        serves=("gemini-*", "gemma-*"),
        says={**_GEMINI.says, **_VERTEX_SAYS},
        statuses={**_GEMINI.statuses, **_TOKENS},
    ),
    "vertex-anthropic": replace(_ANTHROPIC, base="/vertex-anthropic", serves=("claude-*",)),
    # A deployment is named as its owner likes.
    "azure": ServerHabits(base="/azure/openai/v1", says=_AZURE_SAYS, error_body=azure_error),
    "azure-responses": replace(
        _RESPONSES, base="/azure/openai/v1", says={**_RESPONSES.says, **_AZURE_SAYS}, error_body=azure_error
    ),
    "azure-deployments": ServerHabits(base="/azure-deployments/openai", says=_AZURE_SAYS, error_body=azure_error),
    "vercel": replace(_VERCEL, base="/vercel/api"),
    "vercel-gateway": replace(
        _RESPONSES,
        cache=None,
        # The point of text-embedded histories: this gateway takes messages only.
        also_refuses=frozenset({"openai-responses/call-items"}),
    ),
}


def habits_of(provider: str, dialect: Dialect) -> ServerHabits:
    """The habits of the provider that the catalogue calls `provider`."""
    habits = _KNOWN.get(provider) or _PLAIN[dialect]
    if provider not in _KNOWN and (host := find_host(provider)) is not None and host.dialect is dialect:
        habits = _over(habits, host.server)
    version = "" if dialect in (Dialect.ANTHROPIC, Dialect.BEDROCK) else "/v1"
    return replace(habits, name=provider, base=habits.base or f"/{provider}{version}")


_UNSAID = ServerHabits()


def _over(plain: ServerHabits, own: ServerHabits) -> ServerHabits:
    """What a host says of itself, over what is plain in its dialect."""
    said = {name: getattr(own, name) for name in own.__struct_fields__}
    changed = {name: value for name, value in said.items() if value != getattr(_UNSAID, name)}
    changed |= {"says": {**plain.says, **own.says}, "statuses": {**plain.statuses, **own.statuses}}
    return replace(plain, **changed)


_PLAIN_WORDS: dict[RefusalReason, str] = {
    RefusalReason.NOT_JSON: "The request body is not valid JSON: {detail}",
    RefusalReason.MODEL: "The model `{model}` does not exist or you do not have access to it.",
    RefusalReason.KEY_MISSING: "You didn't provide an API key; send one as a bearer token in the Authorization header.",
    RefusalReason.KEY_WRONG: "Incorrect API key provided.",
    RefusalReason.QUOTA: "Payment required: the balance of this account is used up.",
    RefusalReason.TOO_LONG: (
        "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."
    ),
    RefusalReason.RATE: "Rate limit reached for {model}. Please try again in {seconds}s.",
    RefusalReason.SERVER: "The server had an error while processing your request.",
    RefusalReason.OVERLOADED: "The engine is currently overloaded, please try again later.",
    RefusalReason.PREVIOUS: "Previous response with id '{detail}' not found.",
    RefusalReason.STORED: "Response with id '{detail}' not found.",
    RefusalReason.PATH: "Unknown request URL: {detail}.",
    RefusalReason.METHOD: "Not allowed to {detail} here.",
    RefusalReason.REASONING: "{dotted}: Invalid `{field}` in `{block}` block",
    RefusalReason.TOO_LARGE: "The request is larger than this server reads.",
    RefusalReason.UPSTREAM: "The provider behind this server gave no answer that can be used.",
    RefusalReason.SLOW: "The provider behind this server took too long.",
    RefusalReason.SETUP: "This server is not set up for that.",
}


def words_for(reason: RefusalReason, habits: ServerHabits) -> str:
    """What a server with these habits says for a reason that is no rule of its dialect, with places to fill in."""
    return habits.says.get(reason) or _PLAIN_WORDS[reason]
