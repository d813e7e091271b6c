"""Legato: one conversation, any model.

    from legato import Conversation, render

    talk = Conversation()
    talk.human("What is in this folder?")
    request = render(talk, "anthropic/claude-sonnet-4-5", tools=[list_folder])
    answer = talk.record(request.decode(client.messages.create(**request.sdk())))
    for call in answer.calls:
        talk.result(call, run(call))
    request = render(talk, "mistral/mistral-large-latest")

A conversation is recorded once, in a form that belongs to no provider, and rendered at each turn into a request that
the next provider accepts: complete, paired, in order, with that provider's ids. Names are loaded when they are first
used, so `import legato` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from legato import observer
from legato.version import __version__

_HOME = {
    "Conversation": "legato.transcript",
    "render": "legato.request",
    "parse": "legato.request",
    "carry": "legato.request",
    "Request": "legato.request",
    "RenderReport": "legato.request",
    "Catalogue": "legato.request",
    "resolve": "legato.request",
    "Session": "legato.session",
    "Turn": "legato.session",
    "SyncSession": "legato.session",
    "SyncTurn": "legato.session",
    "World": "legato.world",
    "Limits": "legato.session",
    "run": "legato.session",
    "tool": "legato.tools",
    "Tool": "legato.tools",
    "open_store": "legato.store",
    "client": "legato.gateway.http_clients",
    "async_client": "legato.gateway.http_clients",
    "Profile": "legato.routing",
    "Route": "legato.routing",
    "Policy": "legato.routing",
    "LegatoError": "legato.errors",
    "ProviderError": "legato.errors",
    "Entry": "legato.model",
    "Speaker": "legato.model",
    "Text": "legato.model",
    "Thinking": "legato.model",
    "ToolCall": "legato.model",
    "ToolResponse": "legato.model",
    "Media": "legato.model",
    "MediaKind": "legato.model",
    "Options": "legato.model",
    "Target": "legato.model",
    "ThinkingPolicy": "legato.model",
    "ToolSpec": "legato.model",
}

if TYPE_CHECKING:
    from legato.errors import LegatoError, ProviderError
    from legato.gateway.http_clients import async_client, client
    from legato.model import (
        Entry,
        Media,
        MediaKind,
        Options,
        Speaker,
        Target,
        Text,
        Thinking,
        ThinkingPolicy,
        ToolCall,
        ToolResponse,
        ToolSpec,
    )
    from legato.request import Catalogue, RenderReport, Request, carry, parse, render, resolve
    from legato.routing import Policy, Profile, Route
    from legato.session import Limits, Session, SyncSession, SyncTurn, Turn, run
    from legato.store import open_store
    from legato.tools import Tool, tool
    from legato.transcript import Conversation
    from legato.world import World

__all__ = [
    "Catalogue",
    "Conversation",
    "Entry",
    "LegatoError",
    "Limits",
    "Media",
    "MediaKind",
    "Options",
    "Policy",
    "Profile",
    "ProviderError",
    "RenderReport",
    "Request",
    "Route",
    "Session",
    "Speaker",
    "SyncSession",
    "SyncTurn",
    "Target",
    "Text",
    "Thinking",
    "ThinkingPolicy",
    "Tool",
    "ToolCall",
    "ToolResponse",
    "ToolSpec",
    "Turn",
    "World",
    "__version__",
    "async_client",
    "carry",
    "client",
    "open_store",
    "parse",
    "render",
    "resolve",
    "run",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'legato' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__


def _load_observer() -> object:
    from legato.diagnostics import emission

    return emission


observer.load = _load_observer
