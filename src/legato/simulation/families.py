"""The families of providers that are simulated, as data.

A family is found by the provider's name in the catalogue. What a provider accepts is not here: that is in the rules of
its dialect and in its capabilities. Here is what only a server has: where it listens, which models it serves, how it
names calls and answers, how it caches prompts, and in which style it complains. A provider that nobody has described,
but that speaks a known dialect, gets the plain family of that dialect, so any OpenAI-compatible server of a user's own
catalogue is simulated.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from legato.model import Dialect
from legato.simulation.ids import IdHabit
from legato.simulation.prompt_cache import (
    ANTHROPIC_CACHE,
    DEEPSEEK_CACHE,
    GEMINI_CACHE,
    KIMI_CACHE,
    OPENAI_CACHE,
    CacheHabit,
)


class Style(StrEnum):
    """Whose shape of errors and kind of words a refusal has."""

    OPENAI = "openai"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    MISTRAL = "mistral"
    KIMI = "kimi"
    DEEPSEEK = "deepseek"
    OPENROUTER = "openrouter"
    XAI = "xai"
    VLLM = "vllm"
    VERCEL = "vercel"


class Family(Struct, frozen=True, kw_only=True):
    """One family. `base` is the path of its base URL on a simulated server; its first step is the family's own."""

    name: str
    base: str
    style: Style
    ids: IdHabit = IdHabit.CALL
    answers: str = "chatcmpl-"
    """how ids of answers begin"""
    serves: tuple[str, ...] = ("*",)
    """patterns for names of models, without a vendor's prefix, in lower case"""
    talks: bool = False
    """says a sentence before it calls tools"""
    whole_calls: bool = False
    """streams each call in one piece"""
    joins_usage: bool = False
    """streams the usage, asked for or not, beside the reason why the answer ended"""
    cache: CacheHabit | None = None
    """how it caches prompts, where that is known"""
    also_refuses: frozenset[str] = frozenset()
    """rules that are risky in general and that these servers do refuse"""


_OPENAI_MODELS = ("gpt-*", "chatgpt-*", "o1*", "o3*", "o4*", "codex-*", "computer-use-*", "ft:*")
_MISTRAL_MODELS = ("*mistral*", "*mixtral*", "*devstral*", "*magistral*", "*codestral*", "*pixtral*", "*voxtral*")

_FAMILIES = (
    Family(name="openai", base="/openai/v1", style=Style.OPENAI, serves=_OPENAI_MODELS, cache=OPENAI_CACHE),
    Family(
        name="openai-responses",
        base="/openai/v1",
        style=Style.RESPONSES,
        answers="resp_",
        serves=_OPENAI_MODELS,
        cache=OPENAI_CACHE,
    ),
    Family(
        name="anthropic",
        base="/anthropic",
        style=Style.ANTHROPIC,
        ids=IdHabit.TOOLU,
        answers="msg_01",
        serves=("claude-*",),
        cache=ANTHROPIC_CACHE,
        talks=True,
    ),
    Family(
        name="gemini",
        base="/gemini/v1beta",
        style=Style.GOOGLE,
        ids=IdHabit.SHORT,
        answers="",
        serves=("gemini-*", "gemma-*", "learnlm-*"),
        cache=GEMINI_CACHE,
    ),
    Family(
        name="mistral",
        base="/mistral/v1",
        style=Style.MISTRAL,
        ids=IdHabit.NINE,
        answers="",
        serves=_MISTRAL_MODELS,
        whole_calls=True,
        joins_usage=True,
    ),
    Family(
        name="kimi",
        base="/kimi/v1",
        style=Style.KIMI,
        ids=IdHabit.NUMBERED,
        serves=("kimi-*", "moonshot-*", "k2*"),
        cache=KIMI_CACHE,
    ),
    Family(
        name="deepseek",
        base="/deepseek",
        style=Style.DEEPSEEK,
        ids=IdHabit.PLACED,
        answers="",
        serves=("deepseek-*",),
        cache=DEEPSEEK_CACHE,
        talks=True,
    ),
    Family(name="vercel", base="/vercel/api", style=Style.VERCEL, answers="aitxt-"),
    Family(
        name="vercel-gateway",
        base="/vercel-gateway/v1",
        style=Style.RESPONSES,
        answers="resp_",
        # The point of text-embedded histories: this gateway takes messages only.
        also_refuses=frozenset({"openai-responses/call-items"}),
    ),
    Family(name="openrouter", base="/openrouter/v1", style=Style.OPENROUTER, answers="gen-", talks=True),
    Family(name="groq", base="/groq/v1", style=Style.OPENAI),
    Family(name="xai", base="/xai/v1", style=Style.XAI, answers=""),
    Family(name="qwen", base="/qwen/v1", style=Style.OPENAI),
    Family(name="ollama", base="/ollama/v1", style=Style.OPENAI, whole_calls=True),
    Family(name="vllm", base="/vllm/v1", style=Style.VLLM),
    Family(name="llamacpp", base="/llamacpp/v1", style=Style.OPENAI),
)

FAMILIES: dict[str, Family] = {family.name: family for family in _FAMILIES}

_PLAIN: dict[Dialect, str] = {
    Dialect.OPENAI_CHAT: "groq",
    Dialect.OPENAI_RESPONSES: "openai-responses",
    Dialect.ANTHROPIC: "anthropic",
    Dialect.GEMINI: "gemini",
    Dialect.VERCEL: "vercel",
}


def family_of(provider: str, dialect: Dialect) -> Family:
    """The family of the provider that the catalogue calls `provider`."""
    known = FAMILIES.get(provider)
    if known is not None:
        return known
    plain = FAMILIES[_PLAIN[dialect]]
    version = "" if dialect is Dialect.ANTHROPIC else "/v1"
    return replace(plain, name=provider, base=f"/{provider}{version}", serves=("*",))


_DATED = re.compile(r"-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$")


def short_name(model: str) -> str:
    """`model` without a date: what its dated and its short name have in common."""
    return _DATED.sub("", model)
