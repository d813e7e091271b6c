"""Which provider and model answered, in the words of the catalogue.

Files name providers and interfaces in their own words (`google-generative-ai`, `moonshotai`, `openai-completions`).
An answer is at home only where all is known, so what a file does not say stays empty; the account is never in a file.
"""

from __future__ import annotations

import re
from functools import lru_cache

from legato.model import Dialect, Origin, Target
from legato.request.catalogue import default_catalogue

_UNKNOWN = "?"
"""in place of the kind of a server: one of which nothing is known"""

_MOST_MODELS = 256
"""models whose homes are remembered, because every answer of a file names one: our choice, more than a file has"""

_PROVIDERS = {
    "anthropic": "anthropic",
    "anthropic-messages": "anthropic",
    "claude": "anthropic",
    "openai": "openai",
    "openai-completions": "openai",
    "openai-responses": "openai-responses",
    "openai-codex": "openai-responses",
    "openai-codex-responses": "openai-responses",
    "google": "gemini",
    "gemini": "gemini",
    "google-genai": "gemini",
    "google_genai": "gemini",
    "google-generative-ai": "gemini",
    "google-gemini": "gemini",
    "google-gla": "gemini",
    "google-vertex": "vertex",
    "google-cloud": "vertex",
    "mistral": "mistral",
    "mistralai": "mistral",
    "moonshot": "kimi",
    "moonshotai": "kimi",
    "kimi": "kimi",
    "deepseek": "deepseek",
    "openrouter": "openrouter",
    "amazon-bedrock": "bedrock",
    "aws-bedrock": "bedrock",
    "bedrock-converse-stream": "bedrock",
    "amazon_bedrock": "bedrock",
    "bedrock_converse": "bedrock",
    "google_vertexai": "vertex",
    "vertex_ai": "vertex",
    "cohere_chat": "cohere",
    "fireworks_ai": "fireworks",
    "hosted_vllm": "vllm",
    "lm_studio": "lmstudio",
    "nvidia_nim": "nvidia",
    "ollama_chat": "ollama",
    "together_ai": "together",
    "groq": "groq",
    "xai": "xai",
    "ollama": "ollama",
}

_FOR_CLAUDE = {"vertex": "vertex-anthropic"}
"""platforms that take Claude's own messages, beside other models with messages of another form"""

_MODELS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gemini|gemma|learnlm"), "gemini"),
    (re.compile(r"(mistral|mixtral|devstral|magistral|codestral|ministral|pixtral|voxtral)"), "mistral"),
    (re.compile(r"kimi|moonshot|(^|[-/])k2($|-)"), "kimi"),
    (re.compile(r"deepseek"), "deepseek"),
    (re.compile(r"^(gpt|chatgpt|o[1-9]|codex|ft:gpt|text-davinci)"), "openai"),
    (re.compile(r"grok"), "xai"),
    (re.compile(r"qwen"), "qwen"),
)


def provider_of_model(model: str) -> str:
    """The provider whose model this is by its name; empty if the name says nothing."""
    bare = model.rsplit("/", 1)[-1].lower()
    return next((provider for pattern, provider in _MODELS if pattern.search(bare)), "")


@lru_cache(maxsize=_MOST_MODELS)
def home_of(usual: str, model: str) -> str:
    """The provider behind an answer of `model` where an agent usually asks `usual`: the model's own, if known."""
    known = provider_of_model(model)
    return usual if not known or usual.startswith(known) else known


def provider_named(name: str, model: str = "") -> str:
    """The catalogue's name for what a file calls a provider or an interface of `model`; empty if there is none."""
    lower = name.lower()
    known = _PROVIDERS.get(lower) or (lower if lower in default_catalogue().providers else "")
    return _FOR_CLAUDE.get(known, known) if provider_of_model(model) == "anthropic" else known


@lru_cache(maxsize=_MOST_MODELS)
def origin_of(provider: str, model: str, served: str = "") -> Origin | None:
    """The origin of answers of `model` at the catalogue's `provider`; None if neither is known."""
    if not provider and not model and not served:
        return None
    known = default_catalogue().providers.get(provider)
    if known is None:
        return Origin(provider=provider, asked=model, served=served)
    return Origin(str(known.dialect), provider, known.endpoint, "", model, served)


@lru_cache(maxsize=_MOST_MODELS)
def route_of(provider: str, model: str) -> str:
    """The route that a person would name; where the model is not known, with the provider's example; else empty."""
    known = default_catalogue().providers.get(provider)
    if known is None:
        return ""
    return f"{provider}/{model.strip() or known.example}"


def dialect_of(provider: str) -> Dialect | None:
    """The dialect that the catalogue's `provider` speaks."""
    known = default_catalogue().providers.get(provider)
    return None if known is None else known.dialect


def home_of_provider(provider: str, dialect: Dialect) -> str:
    """Who understands fields without a neutral word that a request to the catalogue's `provider` has.

    For a server that no one knows this is no one of the catalogue: what vLLM understands, Mistral refuses.
    """
    known = default_catalogue().providers.get(provider)
    if known is None:
        return f"{dialect}/{_UNKNOWN}"
    return default_catalogue().resolve(f"{provider}/{known.example}").home


def is_unknown_home(home: str, target: Target) -> bool:
    """Whether `home` is a server that no one knows, and `target` may be that one: no provider of the catalogue."""
    return home == f"{target.dialect}/{_UNKNOWN}" and target.provider not in default_catalogue().providers
