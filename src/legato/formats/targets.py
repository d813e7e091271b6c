"""What a conversation can be carried to, by the names that people type.

A target is one of the wire formats (`anthropic`, `openai-chat`, …) for a model of that provider, any other provider of
the catalogue, or a whole route such as `groq/llama-3.3-70b-versatile`.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from legato.errors import UnknownTarget
from legato.formats.document import Document
from legato.formats.registry import FORMATS
from legato.formats.wire.shapes import WIRE_PROVIDERS
from legato.model import Target
from legato.request import default_catalogue, resolve

WIRE = tuple(WIRE_PROVIDERS)
"""the request bodies that everyone can ask for by name"""
if TYPE_CHECKING:
    FILES: tuple[str, ...]
    """the session files that can be written"""


def __getattr__(name: str) -> Any:
    if name == "FILES":
        return tuple(item.name for item in FORMATS.values() if item.is_written and not item.is_wire)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find_target(name: str, *, model: str | None = None, document: Document | None = None) -> Target:
    """The target that `name` means: with `model`, else with the model that `document` used there, else a usual one."""
    from legato.formats.wire.write import choose_route

    providers = default_catalogue().providers
    own = document.route if document is not None and document.route.partition("/")[2] else ""  # it may lack the model
    if name in WIRE_PROVIDERS:
        return resolve(choose_route(name, model, own))
    if name in providers:
        if model is None and own.partition("/")[0] == name:
            return resolve(own)
        return resolve(f"{name}/{model or providers[name].example}")
    if "/" in name and model is None:
        return resolve(name)
    if "/" in name:
        raise UnknownTarget(f"{name!r} names a model already; leave out --model, or name the provider alone")
    if name in FORMATS:
        raise UnknownTarget(_no_provider(name))
    known = [*WIRE, *(other for other in sorted(providers) if other not in WIRE_PROVIDERS.values())]
    near = get_close_matches(name, [*known, *FORMATS], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    raise UnknownTarget(f"there is no target {name!r}; {hint}")


def _no_provider(name: str) -> str:
    """That a session file was named where a provider is meant, and what to do instead."""
    written, own = __getattr__("FILES"), FORMATS[name].provider
    if name not in written:
        return f"{name!r} files are only read; session files can be written as {', '.join(written)}"
    judge = f"judge it for {own!r}, which its agent speaks to" if own else "name a provider or a route"
    return f"{name!r} is a kind of session file and no provider; {judge}"


def own_targets(document: Document) -> tuple[str, ...]:
    """The targets that a file is judged for when no one names one: its own provider, or all for a neutral format."""
    if document.format in WIRE:
        is_other = document.route and document.route.partition("/")[0] not in WIRE_PROVIDERS.values()
        return (document.route if is_other else document.format,)
    own = FORMATS[document.format].provider if document.format in FORMATS else ""
    return (own,) if own else WIRE
