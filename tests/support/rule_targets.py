"""Targets for the tests of the rules: one for every route that an example names, and one for every recorded exchange.

Those of the families are written down here, and not looked up in the catalogue, so that the rules are tested with
nothing but themselves.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from legato.model import Capabilities, Dialect, IdScheme, NameRule, Target, ThinkingMode
from legato.model.targets import UNBUDGETED
from legato.request import resolve
from legato.wire.anthropic import rules as anthropic
from legato.wire.bedrock import rules as bedrock
from legato.wire.findings import Violation
from legato.wire.gemini import rules as gemini
from legato.wire.hosts import all_hosts
from legato.wire.openai_chat import rules as openai_chat
from legato.wire.openai_responses import rules as openai_responses
from legato.wire.vercel import rules as vercel

CHECKS: dict[Dialect, Callable[[Any, Target], list[Violation]]] = {
    Dialect.OPENAI_CHAT: openai_chat.check,
    Dialect.OPENAI_RESPONSES: openai_responses.check,
    Dialect.ANTHROPIC: anthropic.check,
    Dialect.GEMINI: gemini.check,
    Dialect.VERCEL: vercel.check,
    Dialect.BEDROCK: bedrock.check,
}


def check(body: Any, target: Target) -> list[Violation]:
    """Judge `body` by the rules of the target's dialect."""
    return CHECKS[target.dialect](body, target)


def chat(provider: str, model: str = "some-model", *, profile: str = "", **capabilities: Any) -> Target:
    """A target that speaks Chat Completions."""
    return _target(Dialect.OPENAI_CHAT, provider, model, profile=profile or provider, **capabilities)


def responses(provider: str, model: str, **capabilities: Any) -> Target:
    """A target that speaks Responses."""
    capabilities = {"id_scheme": IdScheme.CALL64, "result_images": True, **capabilities}
    return _target(Dialect.OPENAI_RESPONSES, provider, model, profile=provider, **capabilities)


def claude(model: str, *, endpoint: str = "", **capabilities: Any) -> Target:
    """A Claude, with what its version takes."""
    is_new = any(name in model for name in ("opus-4-8", "opus-5", "sonnet-5", "fable"))
    defaults: dict[str, Any] = {
        "id_scheme": IdScheme.TOOLU,
        "name_rule": NameRule.ANTHROPIC,
        "result_images": True,
        "demands_tools": True,
        "empty_text": False,
        "prefill": not is_new and "4-6" not in model,
        "middle_system": is_new,
        "budgets": UNBUDGETED if is_new else None,
        "thinking": ThinkingMode.ADAPTIVE if is_new or "4-6" in model else ThinkingMode.BUDGET,
        "efforts": ("low", "medium", "high", *(("xhigh", "max") if is_new else ("max",))),
    }
    return _target(
        Dialect.ANTHROPIC, "anthropic", model, profile="anthropic", endpoint=endpoint, **{**defaults, **capabilities}
    )


def gemini_model(model: str, **capabilities: Any) -> Target:
    """A Gemini, with what its version takes."""
    defaults: dict[str, Any] = {
        "name_rule": NameRule.GEMINI,
        "call_signatures": "gemini-3" in model,
        "prefill": "gemini-3.6" not in model,
        "empty_text": False,
    }
    return _target(Dialect.GEMINI, "gemini", model, profile="gemini", **{**defaults, **capabilities})


def converse(model: str, **capabilities: Any) -> Target:
    """A model at Bedrock, with what its family takes."""
    is_nova, is_claude = "amazon.nova" in model, "anthropic.claude" in model
    defaults: dict[str, Any] = {
        "id_scheme": IdScheme.TOOLUSE,
        "documents": True,
        "video": is_nova,
        "result_images": True,
        "user_after_tool": is_nova or is_claude,
        "empty_text": False,
        "thinking": ThinkingMode.BUDGET if is_claude else ThinkingMode.NEVER,
    }
    return _target(Dialect.BEDROCK, "bedrock", model, profile="bedrock", **{**defaults, **capabilities})


def _target(
    dialect: Dialect, provider: str, model: str, *, profile: str, endpoint: str = "", **capabilities: Any
) -> Target:
    return Target(
        dialect=dialect,
        profile=profile,
        provider=provider,
        model=model,
        endpoint=endpoint or f"https://{provider}.example/v1",
        capabilities=Capabilities(**capabilities),
    )


def _thinking(profile: str, model: str) -> Target:
    return chat(profile, model, thinking=ThinkingMode.SWITCH, thinking_default=True, reasoning_field=True)


_CHAT = [
    chat("openai", "gpt-4o"),
    chat("openai", "gpt-5.1", thinking=ThinkingMode.SWITCH, efforts=("none", "low", "medium", "high")),
    chat("mistral", "mistral-large-latest", id_scheme=IdScheme.NINE, user_after_tool=False),
    chat("mistral", "open-mistral-7b", id_scheme=IdScheme.NINE, user_after_tool=False, text_beside_calls=False),
    _thinking("kimi", "kimi-k2-thinking"),
    _thinking("deepseek", "deepseek-reasoner"),
    chat("strict", "some-model"),
    chat("strict", "claude", empty_text=False),
    chat("xai", "grok-4", profile="strict"),
    chat("strict", "mistral-7b", alternates=True, named_results=True),
    chat("groq", "openai/gpt-oss-120b", profile="strict"),
    chat("cerebras", "gpt-oss-120b", profile="strict"),
]
_RESPONSES = [
    responses("openai", "gpt-5", thinking=ThinkingMode.EFFORT),
    responses("vercel-gateway", "openai/gpt-5", native_tool_history=False),
]
_CLAUDE = [
    claude("claude-sonnet-4-5"),
    claude("claude-sonnet-4-6"),
    claude("claude-opus-4-8", temperature=False),
    claude("claude-opus-5", temperature=False, thinking_default=True),
    claude("claude-3-haiku-20240307", thinking=ThinkingMode.NEVER),
]
_GEMINI = [
    gemini_model("gemini-3-pro-preview", thinking=ThinkingMode.EFFORT, efforts=("low", "high")),
    gemini_model("gemini-2.5-flash"),
    gemini_model("gemini-2.5-pro", thinking=ThinkingMode.ALWAYS, budgets=(128, 32_768)),
    gemini_model("gemini-3-flash-preview"),
    gemini_model("gemini-3.6-flash"),
]
_VERCEL = [_target(Dialect.VERCEL, "vercel", "openai/gpt-4o", profile="vercel")]

_BEDROCK = [
    converse("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    converse("us.meta.llama4-maverick-17b-instruct-v1:0"),
    converse("us.amazon.nova-2-lite-v1:0"),
]

TARGETS: list[Target] = [*_CHAT, *_RESPONSES, *_CLAUDE, *_GEMINI, *_VERCEL, *_BEDROCK]


def target_of_route(dialect: Dialect, route: str) -> Target:
    """The target that an example names: one of those above, or of the catalogue for what a host declares."""
    listed = (target for target in TARGETS if target.dialect is dialect and target.route == route)
    return next(listed, None) or resolve(route)


# --- recorded exchanges -----------------------------------------------------------------------------------------------

_PROVIDERS = {urlsplit(host.endpoint).netloc: host.name for host in all_hosts()} | {
    "api.moonshot.cn": "kimi",
    "router.huggingface.co": "huggingface",
}


def target_of_exchange(host: str, path: str, model: str) -> Target | None:
    """The target of a recorded request; None for a dialect that is not spoken here."""
    if host.startswith("bedrock-runtime"):
        return converse(unquote(path.split("/")[2])) if path.split("/")[-1].startswith("converse") else None
    if host.endswith("googleapis.com"):
        return gemini_model(path.rpartition("/")[2].partition(":")[0])
    if host == "api.anthropic.com":
        return claude(model, endpoint=f"https://{host}{path}")
    provider = _PROVIDERS.get(host, host)
    if path.endswith("/responses"):
        is_plain = model.startswith(("gpt-4", "gpt-3"))
        return responses(provider, model, thinking=ThinkingMode.NEVER if is_plain else ThinkingMode.EFFORT)
    if not path.endswith("/chat/completions"):
        return None
    if provider == "deepseek" or (provider == "kimi" and "thinking" in model):
        return _thinking(provider, model)
    if provider == "kimi":
        return chat("kimi", model)
    if provider == "mistral":
        return chat("mistral", model, user_after_tool=False)
    if provider == "openai":
        return chat("openai", model, developer_role=not model.startswith("o1-mini"))
    return chat(provider, model, profile="strict")
