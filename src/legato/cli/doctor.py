"""Is everything there that a conversation needs? One check for each thing, each with what to do about it.

Checks look and do not change anything; none of them shows a key.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from legato.cli.chat.mcp_servers import find_servers
from legato.cli.chat.notices import notices
from legato.cli.checks import DoctorCheck, Health
from legato.cli.client_settings import url_of
from legato.cli.exits import line_of
from legato.cli.gateway_check import check_clients, check_gateway
from legato.cli.providers import (
    NotConfigured,
    credentials_of,
    initial_profile,
    key_ring,
    missing_credentials,
    open_world,
    profiles_of,
)
from legato.cli.settings.files import load
from legato.cli.settings.layers import Loaded
from legato.cli.settings.own_catalogue import catalogue_of
from legato.cli.settings.project_files import MCP_FILE
from legato.cli.settings.schema import Settings
from legato.cli.terminal.styles import is_dumb
from legato.errors import LegatoError
from legato.model import Options
from legato.routing import Profile, Route, only
from legato.session import Session
from legato.store import default_path, open_store
from legato.tools.sandbox import SandboxMode
from legato.tools.sandbox.sandbox import Sandbox
from legato.version import __version__

if TYPE_CHECKING:
    from legato.tools.mcp import McpServer


async def examine(config: Path | None, *, online: bool, gateway: str | None = None) -> list[DoctorCheck]:
    """All checks. Settings that cannot be read leave only those that need none.

    `gateway` is the address of one that is looked at as well; an empty one is that of the settings.
    """
    checks = [
        DoctorCheck("legato", Health.WELL, f"{__version__}, Python {platform.python_version()}, {platform.system()}")
    ]
    try:
        loaded = load(config=config)
    except LegatoError as error:
        return [*checks, DoctorCheck("settings", Health.BROKEN, line_of(error)), *_terminal()]
    checks += [*_settings(loaded), *_keys(loaded.settings), *_routes(loaded.settings)]
    checks += [check async for check in _store(loaded.settings)]
    checks += [*_sandbox(loaded.settings), *_servers(loaded), *_terminal()]
    if gateway is not None:
        url = gateway or url_of(loaded.settings.serve.host, loaded.settings.serve.port)
        checks += [check async for check in check_gateway(url, online=online)]
        checks += check_clients(url, os.environ)
    if online:
        checks += [check async for check in _online(loaded.settings)]
    return checks


def _settings(loaded: Loaded) -> Iterator[DoctorCheck]:
    exists = loaded.user_file.exists()
    told = str(loaded.user_file) if exists else f"{loaded.user_file} does not exist; `legato config init` begins it"
    yield DoctorCheck("settings", Health.WELL if exists else Health.NOTE, told)
    if exists and loaded.settings.keys and _others_can_read(loaded.user_file):
        yield DoctorCheck(
            "settings", Health.BROKEN, f"others can read it, and it names keys: chmod 600 {loaded.user_file}"
        )
    if loaded.project_file is not None:
        yield DoctorCheck("settings", Health.WELL, f"project: {loaded.project_file}")
    for note in notices(loaded, Path.cwd()):
        yield DoctorCheck("settings", Health.NOTE, note)


def _keys(settings: Settings) -> Iterator[DoctorCheck]:
    catalogue = catalogue_of(settings)
    ring = key_ring(settings, catalogue)
    missing: list[str] = []
    for name, provider in catalogue.providers.items():
        try:
            target = catalogue.resolve(f"{name}/{provider.example or 'any'}")
            source = credentials_of(settings, catalogue.fill(target, ring.environment, leaves_missing=True))
        except LegatoError as error:
            yield DoctorCheck("keys", Health.BROKEN, line_of(error))
            continue
        if source:
            yield DoctorCheck("keys", Health.WELL, f"{name}: from {source}")
        elif name in settings.keys:
            told = f"{name}: keys.{name} names {settings.keys[name]}, which is not set"
            yield DoctorCheck("keys", Health.BROKEN, told)
        elif provider.keys:
            missing.append(provider.keys[0])
    if missing:
        yield DoctorCheck("keys", Health.NOTE, f"not set: {', '.join(dict.fromkeys(missing))}")


def _routes(settings: Settings) -> Iterator[DoctorCheck]:
    try:
        first = initial_profile(settings)
    except NotConfigured:
        yield DoctorCheck(
            "routes", Health.NOTE, "nobody answers yet: set a key (export ANTHROPIC_API_KEY=...), or use --simulate"
        )
    except LegatoError as error:
        yield DoctorCheck("routes", Health.BROKEN, line_of(error))
    else:
        yield DoctorCheck("routes", Health.WELL, f"{first.routes[0].name} answers first")
        yield from _usable(first, settings)
    try:
        profiles = profiles_of(settings)
    except LegatoError as error:
        yield DoctorCheck("routes", Health.BROKEN, line_of(error))
        return
    for profile in profiles.values():
        yield from _usable(profile, settings)


def _usable(profile: Profile, settings: Settings) -> Iterator[DoctorCheck]:
    """What is wrong with the routes of a profile; nothing if all can be used."""
    catalogue = catalogue_of(settings)
    for route in profile.routes:
        where = route.name if len(profile.routes) == 1 else f"{profile.name}: {route.name}"
        try:
            if (missing := missing_credentials(settings, route)) is not None:
                yield DoctorCheck("routes", Health.BROKEN, f"{where}: {line_of(missing)}")
            if (ends := catalogue.retirement(route.name)) is not None and not settings.simulate:
                yield DoctorCheck("routes", Health.NOTE, f"{where} {ends.told(datetime.now(UTC).date().isoformat())}")
        except LegatoError as error:
            yield DoctorCheck("routes", Health.BROKEN, f"{where}: {line_of(error)}")


async def _store(settings: Settings) -> AsyncIterator[DoctorCheck]:
    shown = settings.store or str(default_path())
    try:
        async with open_store(settings.store) as store:
            count = len(await store.list())
    except LegatoError as error:
        yield DoctorCheck("store", Health.BROKEN, line_of(error))
        return
    is_address = "://" in shown
    place = shown.partition("://")[0] if is_address else shown  # an address may hold a password
    yield DoctorCheck("store", Health.WELL, f"{place}: {count:,} session{'s' * (count != 1)}")
    if not is_address and _others_can_read(Path(shown)):
        yield DoctorCheck("store", Health.BROKEN, f"others can read it: chmod 600 {shown}")


def _sandbox(settings: Settings) -> Iterator[DoctorCheck]:
    sandbox = Sandbox(Path.cwd(), settings.sandbox)
    if settings.sandbox.mode is SandboxMode.OFF:
        yield DoctorCheck("sandbox", Health.NOTE, "switched off: commands can do whatever you can")
    elif sandbox.choice.mechanism is None:
        told = f"none: {sandbox.choice.reason}; --approval never asks about commands, unless --sandbox off is given"
        yield DoctorCheck("sandbox", Health.NOTE, told)
    else:
        told = f"{sandbox.choice.mechanism.value}: commands cannot {settings.sandbox.forbidden}"
        yield DoctorCheck("sandbox", Health.WELL, told)
        for limit in sandbox.weaknesses:
            yield DoctorCheck("sandbox", Health.NOTE, limit)


def _servers(loaded: Loaded) -> Iterator[DoctorCheck]:
    try:
        servers = find_servers(Path.cwd())
    except LegatoError as error:
        yield DoctorCheck("mcp", Health.BROKEN, line_of(error))
        return
    if servers.path is None:
        return
    count = len(servers.agreed) + len(servers.unknown)
    yield DoctorCheck("mcp", Health.WELL, f"{servers.path}: {count} server{'s' * (count != 1)}")
    if servers.unknown:
        names = ", ".join(server.name for server in servers.unknown)
        yield DoctorCheck("mcp", Health.NOTE, f"not started until somebody agrees: {names}; `legato config trust`")
    for server in (*servers.agreed, *servers.unknown):
        if wrong := _wrong_with(server):
            yield DoctorCheck("mcp", Health.BROKEN, f"{server.name}: {wrong}")
    if loaded.settings.mcp.enabled and find_spec("mcp") is None:
        yield DoctorCheck("mcp", Health.BROKEN, "the package mcp is missing: pip install 'legato[mcp]'")


def _wrong_with(server: McpServer) -> str:
    """Why `server` could not be started, as far as that can be told without starting it; empty if nothing is wrong."""
    from legato.tools.mcp_config import fill_in

    try:
        filled = fill_in(server, os.environ)
    except LegatoError as error:
        return line_of(error)
    if filled.command and shutil.which(filled.command, path=filled.env.get("PATH")) is None:
        return f"there is no program {filled.command!r}; install it, or correct {MCP_FILE}"
    return ""


def _terminal() -> Iterator[DoctorCheck]:
    if not sys.stdout.isatty():
        yield DoctorCheck("terminal", Health.NOTE, "standard output is not a terminal: one-shot use only")
        return
    kind = os.environ.get("TERM", "") or "unknown"
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if is_dumb():
        yield DoctorCheck("terminal", Health.NOTE, f"TERM is {kind}: no colours and no status line")
    elif os.environ.get("NO_COLOR"):
        yield DoctorCheck("terminal", Health.NOTE, f"{kind}; no colours, because NO_COLOR is set")
    else:
        yield DoctorCheck("terminal", Health.WELL, kind)
    if encoding != "utf8":
        told = f"it is written in {sys.stdout.encoding}: letters may be lost; set LANG to a UTF-8 locale"
        yield DoctorCheck("terminal", Health.NOTE, told)


async def _online(settings: Settings) -> AsyncIterator[DoctorCheck]:
    """Ask each route for one word."""
    routes: dict[str, Route] = {}
    try:
        for profile in (initial_profile(settings), *profiles_of(settings).values()):
            routes |= {route.name: route for route in profile.routes}
    except LegatoError:
        return  # said above
    async with open_world(settings) as world:
        for route in routes.values():
            try:
                async with Session(only(route), world=world, options=Options(stream=True)) as session:
                    result = await session.send("Answer with the one word: ready")
                yield DoctorCheck("online", Health.WELL, f"{route.name} answered: {result.text[:60]}")
            except LegatoError as error:
                yield DoctorCheck("online", Health.BROKEN, f"{route.name}: {line_of(error)}")


def _others_can_read(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
