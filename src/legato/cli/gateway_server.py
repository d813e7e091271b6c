"""Run a gateway on a port until a signal ends it, and say what it does: where it is, and one line a request."""

from __future__ import annotations

import re
import secrets
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from legato.cli.chat.log_file import logging_to
from legato.cli.client_settings import url_of
from legato.cli.http_serving import run_until_signalled
from legato.cli.private_files import write_private
from legato.cli.providers import (
    NotConfigured,
    find_profile,
    initial_profile,
    missing_credentials,
    not_configured,
    open_world,
    profiles_of,
    resolve_route,
)
from legato.cli.saying import say
from legato.cli.settings.folders import state_folder
from legato.cli.settings.schema import ServeSettings, Settings
from legato.cli.terminal.cells import clip, one_line
from legato.diagnostics import Redactor
from legato.diagnostics.emission import emit
from legato.errors import ConfigError, UnknownTarget
from legato.gateway.app import AppLimits, GatewayApp, Served
from legato.gateway.gatekeeper import Gatekeeper, is_loopback, origin_of
from legato.gateway.gateway import Gateway
from legato.gateway.limits import Meter
from legato.gateway.passthrough import check_forwardable
from legato.gateway.reports import RequestReport
from legato.gateway.sqlite_state import SqliteState
from legato.gateway.state import GatewayState, MemoryState
from legato.gateway.uploads import UploadLimits
from legato.model import Decision
from legato.routing import Policy, Profile, only
from legato.serving.http_server import HttpServer, listen
from legato.world import World

_LONGEST_NAME = 60
"""columns that a name which a client gave may take in a line: our choice, longer than real models and programs have"""

_LONGEST_REASON = 160
"""columns that may be taken by what a client was told: our choice, two lines of most terminals"""

_TURNS = "turns"
"""the name of the profile in which several routes take turns"""


async def serve_until_signalled(settings: Settings) -> signal.Signals:
    """Serve until a signal arrives, and then until what runs has come to its end; which signal it was."""
    wanted = settings.serve
    keeper = gatekeeper_of(wanted)
    profile = profile_of(settings)
    with logging_to(_log_file(wanted)), listen(wanted.host, wanted.port) as listener:
        url = url_of(wanted.host, listener.getsockname()[1])
        async with open_world(settings) as world, open_memory(settings) as memory:
            gateway = gateway_of(settings, world, profile, memory)
            app = GatewayApp(
                gateway,
                keeper=keeper,
                limits=AppLimits(
                    requests=wanted.limits.concurrent,
                    uploads=UploadLimits(body=wanted.body),
                    first_sign=wanted.first_sign,
                ),
                meter=meter_of(wanted, world.monotonic),
                simulated=settings.simulate,
                finished=_tell,
            )
            server = HttpServer(app, listener, idle=wanted.idle, patience=wanted.patience)
            return await run_until_signalled(server, lambda: _announce(url, profile, settings))


class Remembering(Struct, frozen=True):
    """Where a gateway remembers, and the key that signs what its clients carry for it."""

    state: GatewayState
    key: bytes


@asynccontextmanager
async def open_memory(settings: Settings) -> AsyncGenerator[Remembering]:
    """What these settings say about it; raises `StoreError` for a file that cannot be used."""
    wanted = settings.serve
    retention = seconds_of(wanted.retention)
    if wanted.store is None:
        yield Remembering(MemoryState(), secrets.token_bytes(32) if settings.simulate else lasting_key())
        return
    if "://" in wanted.store or wanted.store == "memory:":  # as sessions may be stored
        raise ConfigError(
            f"serve.store (--store): {wanted.store!r} is no file; name one, or leave it out to remember in memory alone"
        )
    # The key that was used without a store goes on in it, so that what clients carry by then stays good.
    proposed = None if settings.simulate else _key_of_this_machine()
    async with SqliteState(wanted.store, retention=retention, warn=_warn) as state:
        yield Remembering(state, await state.sealing_key(proposed or secrets.token_bytes(32)))


_SECONDS = {"h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def seconds_of(retention: str) -> float:
    """The time that is written in `retention`; raises `ConfigError` for anything else."""
    found = re.fullmatch("([1-9][0-9]{0,4})([hdw])", retention.strip())
    if found is None:
        raise ConfigError(f"serve.retention: {retention!r} is no time; write hours, days or weeks, as 12h, 30d or 4w")
    return int(found[1]) * _SECONDS[found[2]]


def gateway_of(settings: Settings, world: World, profile: Profile, memory: Remembering) -> Gateway:
    """The gateway that these settings describe; raises `ConfigError` for models that lead nowhere."""
    wanted, profiles = settings.serve, profiles_of(settings)
    try:
        gateway = Gateway(
            world,
            profile,
            profiles=profiles.values(),
            models=wanted.models,
            switch=wanted.switch,
            pass_keys=wanted.pass_keys,
            passthrough=wanted.passthrough,
            key=memory.key,
            state=memory.state,
        )
    except ConfigError as error:
        raise ConfigError(f"serve.models: {error.message}") from None
    if wanted.passthrough:
        check_forwardable(profile, [world.target(route.name) for route in profile.routes])
    for model in wanted.models.values():
        for route in gateway.names.find("", by_hand=model).routes:
            resolve_route(settings, route.name)  # a route that leads nowhere is refused now
    return gateway


def gatekeeper_of(wanted: ServeSettings) -> Gatekeeper:
    """Who may ask; raises `ConfigError` for a gateway that anybody on a network could use."""
    keys: dict[str, str] = {}
    for name, key in wanted.keys.items():
        for digest in key.digests:
            if digest in keys:
                raise ConfigError(f"serve.keys: {keys[digest]} and {name} have the same key; whose requests are they?")
            keys[digest] = name
    if wanted.keys and not keys:
        raise ConfigError("serve.keys has names and no digests, so nobody could ask; `legato serve --new-key NAME`")
    if not keys and not is_loopback(wanted.host):
        raise ConfigError(
            f"others could use your keys through {wanted.host}: give the gateway keys of its own "
            "(`legato serve --new-key NAME` makes one), or let it listen on 127.0.0.1"
        )
    return Gatekeeper(keys=keys, origins=frozenset(map(_checked_origin, wanted.origins)))


def _checked_origin(page: str) -> str:
    """`page`, if a browser would ever say that; an address with a path, which none does, would keep its page out."""
    origin = origin_of(page)
    if page == origin:
        return page
    hint = f"write {origin}" if origin else "write scheme, host and port alone, as https://chat.example.org"
    raise ConfigError(f"serve.origins (--allow-origin): {page!r} is not how browsers name a page; {hint}")


def meter_of(wanted: ServeSettings, clock: Callable[[], float]) -> Meter:
    """How much may be asked. How much at the same time by all together is what the application itself looks after."""
    return Meter(replace(wanted.limits, concurrent=None), tenants=wanted.keys, clock=clock)


def profile_of(settings: Settings) -> Profile:
    """Who answers: the routes and profiles that are named for it, which take turns, or what the settings say else."""
    names = settings.serve.routes
    if not names:
        try:
            return initial_profile(settings)
        except NotConfigured:
            raise NotConfigured(not_configured("legato serve", "--route")) from None
    try:
        named = [only(name) if "/" in name else find_profile(settings, name) for name in names]
        routes = {route.name: route for each in named for route in each.routes}
        for name in routes:
            resolve_route(settings, name)  # a route that leads nowhere is refused now
    except (ConfigError, UnknownTarget) as error:
        raise type(error)(f"serve.routes (--route): {error.message}", **error.facts) from None
    return Profile(_TURNS, tuple(routes.values()), Policy.ROUND_ROBIN) if len(named) > 1 else named[0]


def _log_file(wanted: ServeSettings) -> Path | None:
    return None if wanted.log_file is None else Path(wanted.log_file).expanduser()


def request_line(served: Served) -> str:
    """One line about a request: how it ended, who asked, who answered, tokens, time, and what was done to it."""
    client = clip(served.ask.headers.get("user-agent", "?").partition(" ")[0], _LONGEST_NAME)
    words = [str(served.status), *([clip(served.tenant, _LONGEST_NAME)] if served.tenant else []), client]
    report = served.report
    if report is None or not report.asked:
        words += [served.ask.method, clip(served.ask.path, _LONGEST_NAME)]
    if report is not None:
        words += [clip(report.asked, _LONGEST_NAME)] if report.asked else []
        words += ["→", report.route or "nobody"]
        if report.usage is not None:
            words.append(f"{report.usage.input:,} in, {report.usage.output:,} out")
    words.append(f"{served.seconds:.1f} s")
    if served.is_cut:
        words.append("broke off")
    if served.refused:
        words.append(_why(served.refused))
    if report is not None:
        words += _what_happened(report)
    return one_line(" ".join(words))


def _what_happened(report: RequestReport) -> Iterator[str]:
    failed = [f"{attempt.route}: {attempt.error}" for attempt in report.attempts if attempt.error]
    if failed:
        yield f"[{', '.join(failed)}]"
    elif report.error:
        yield _why(report.message or report.error)
    if report.decisions:
        yield f"({'would have ' if report.passthrough else ''}{_done_to(report.decisions)})"


def _why(message: str) -> str:
    """Why a request was refused; what a client sent may stand in it."""
    return f"[{clip(Redactor().text(message), _LONGEST_REASON)}]"


def _done_to(decisions: Sequence[Decision]) -> str:
    """What was done to a request, in a few words: `closed 1 call, dropped 2`."""
    counted = Counter(str(decision.action) for decision in decisions)
    calls = Counter(str(decision.action) for decision in decisions for _ in decision.calls)
    told: list[str] = []
    for action, count in counted.items():
        named = calls[action]
        told.append(f"{action} {named} call{'s' * (named != 1)}" if named else f"{action} {count}")
    return ", ".join(told)


def _tell(served: Served) -> None:
    with suppress(OSError):  # whoever read the lines has gone; that is no reason to stop answering
        say(request_line(served), err=True)
    report = served.report
    emit(
        "gateway",
        {
            "method": served.ask.method,
            "path": served.ask.path,
            "client": served.ask.headers.get("user-agent", ""),
            "tenant": served.tenant,
            "status": served.status,
            "seconds": round(served.seconds, 3),
            "cut": served.is_cut,
            "request": report.id if report is not None else "",
            "asked": report.asked if report is not None else "",
            "route": report.route if report is not None else "",
            "error": served.refused or (report.message if report is not None else ""),
            "attempts": len(report.attempts) if report is not None else 0,
            "passthrough": report is not None and report.passthrough,
            "decisions": [] if report is None else [str(decision.action) for decision in report.decisions],
        },
    )


def _announce(url: str, profile: Profile, settings: Settings) -> None:
    routes = ", ".join(route.name for route in profile.routes)
    simulated = " (simulated)" if settings.simulate else ""
    say(f"Gateway on {url}; Ctrl-C ends it.")
    say(f"  answered by {routes}{simulated}")
    for route in profile.routes:
        missing = None if settings.serve.pass_keys else missing_credentials(settings, route)
        if missing is not None:  # clients would be told one by one, and might take it for a matter of theirs
            _warn(f"{route.name} cannot answer: {missing.message}")
    if settings.serve.passthrough:
        say("  requests are forwarded as they are, and mended in the report alone")
    if settings.serve.pass_keys:
        say("  keys of clients are used at their own vendors")
    if settings.serve.store is not None:
        say(f"  remembers in {settings.serve.store}, for {settings.serve.retention}")
    say(f"  ANTHROPIC_BASE_URL={url}  OPENAI_BASE_URL={url}/v1  GOOGLE_GEMINI_BASE_URL={url}")


def _warn(message: str) -> None:
    say(one_line(f"legato: {message}"), err=True)


def lasting_key() -> bytes:
    """What signs the carriers in answers: kept, so that conversations go on after a restart."""
    key = _key_of_this_machine()
    if key is None:
        key = secrets.token_bytes(32)
        write_private(_key_file(), key)
    return key


def _key_of_this_machine() -> bytes | None:
    return _key_file().read_bytes() if _key_file().exists() else None


def _key_file() -> Path:
    return state_folder() / "gateway.key"
