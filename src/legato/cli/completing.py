"""What a shell may offer behind the cursor: routes, profiles, providers, sessions, formats, targets.

In:  what was begun to be typed.
Out: what it may become. Nothing is printed and nothing is raised: a shell that asks for a word must not get an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from legato.cli.settings.schema import Settings
    from legato.store import SessionSummary

Completer: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"

_MOST_SESSIONS = 50
"""sessions that are offered: our choice, those written last"""


def _completer(words: Callable[[], Iterable[str | CompletionItem]]) -> Completer:
    def complete(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # only a shell needs it

        try:
            found = [word if isinstance(word, CompletionItem) else CompletionItem(word) for word in words()]
        except Exception:  # noqa: BLE001  # settings that cannot be read, a store that is gone: nothing to offer
            return []
        return [item for item in found if item.value.startswith(begun) or item.type != "plain"]

    return complete


def _settings() -> Settings:
    from legato.cli.settings.files import load

    return load().settings


def _routes() -> list[str]:
    from legato.cli.providers import profiles_of
    from legato.cli.settings.own_catalogue import catalogue_of
    from legato.request.model_list import known_routes

    settings = _settings()
    named = [route.name for profile in profiles_of(settings).values() for route in profile.routes]
    return [*dict.fromkeys([*named, *known_routes(catalogue_of(settings))])]


def _providers() -> list[str]:
    from legato.cli.settings.own_catalogue import catalogue_of

    return sorted(catalogue_of(_settings()).providers)


def _sessions() -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from legato.cli.async_main import run_async
    from legato.cli.settings.project import store_setting
    from legato.cli.terminal.cells import clip
    from legato.store import open_store

    async def listed() -> list[SessionSummary]:
        async with open_store(store_setting(None)) as store:
            return list(await store.list())[:_MOST_SESSIONS]

    return [CompletionItem(one.id, help=clip(one.title, 60)) for one in run_async(listed)]


def _formats() -> list[str]:
    from legato.formats import FORMATS

    return list(FORMATS)


def _written() -> list[str]:
    from legato.formats.targets import FILES, WIRE

    return [*FILES, *WIRE]


def _files() -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem("", type="file")]


routes = _completer(_routes)
providers = _completer(_providers)
profiles = _completer(lambda: sorted(_settings().profiles))
routes_and_profiles = _completer(lambda: [*sorted(_settings().profiles), *_routes()])
sessions = _completer(_sessions)
sessions_and_files = _completer(lambda: [*_sessions(), *_files()])
formats = _completer(_formats)
written_formats = _completer(_written)
targets = _completer(lambda: [*_written(), *_routes()])
providers_and_routes = _completer(lambda: [*_providers(), *_routes()])
