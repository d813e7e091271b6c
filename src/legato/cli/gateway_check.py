"""Does a client get through to the gateway? Asked as each client asks, and looked up where each client looks.

In:  the address of a gateway that runs, the environment.
Out: a check for the gateway itself, one for each API that it speaks, and one for each client.

Lists of models and counts of tokens cost nothing. For an answer a provider wants to be paid, so one is asked for only
where providers are simulated, or where somebody asked for that.
"""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from legato.cli.checks import DoctorCheck, Health
from legato.cli.client_settings import CLIENTS, shell_lines
from legato.cli.settings.schema import ServeSettings
from legato.model.json_access import as_object, as_text
from legato.transport.outgoing import shown_url
from legato.version import __version__

if TYPE_CHECKING:
    import httpx2

_ABOUT = "gateway"
_SECONDS = 60.0
"""that a gateway has to answer: our choice, as long as a slow provider needs for a word"""

_WORD = "Answer with the one word: ready"
_SAID = [{"role": "user", "content": _WORD}]
_CONTENTS = {"contents": [{"role": "user", "parts": [{"text": _WORD}]}]}


class _Surface(Struct, frozen=True):
    """One API: what is asked for in it, and where its clients put a key."""

    name: str
    key: str
    models: str
    answer: tuple[str, dict[str, Any]]
    count: tuple[str, dict[str, Any]] | None = None
    headers: Mapping[str, str] = {}


_MESSAGES = {"model": "default", "messages": _SAID}
_SURFACES = (
    _Surface(
        "Anthropic",
        "x-api-key",
        "/v1/models",
        ("/v1/messages", _MESSAGES | {"max_tokens": 64}),
        ("/v1/messages/count_tokens", _MESSAGES),
        {"anthropic-version": "2023-06-01"},
    ),
    _Surface("OpenAI chat", "authorization", "/v1/models", ("/v1/chat/completions", _MESSAGES)),
    _Surface(
        "OpenAI Responses", "authorization", "/v1/models", ("/v1/responses", {"model": "default", "input": _WORD})
    ),
    _Surface(
        "Google",
        "x-goog-api-key",
        "/v1beta/models",
        ("/v1beta/models/default:generateContent", _CONTENTS),
        ("/v1beta/models/default:countTokens", _CONTENTS),
    ),
)


async def check_gateway(url: str, *, online: bool) -> AsyncIterator[DoctorCheck]:
    """Whether the gateway at `url` lives and answers in each API; with `online`, real providers are asked as well."""
    import httpx2

    url = url.rstrip("/")
    # Proxies of the environment are for what is far away.
    named = {"user-agent": f"legato-doctor/{__version__}"}
    async with httpx2.AsyncClient(base_url=url, headers=named, timeout=_SECONDS, trust_env=False) as client:
        try:
            lives = await client.get("/healthz")
            about = _object(lives)
            if lives.status_code != 200 or about.get("status") != "ok":
                told = f"{url} is no gateway, or one that fails: /healthz is answered {lives.status_code}"
                told += "; check the address"
                yield DoctorCheck(_ABOUT, Health.BROKEN, told)
                return
        except httpx2.HTTPError as error:
            told = f"nobody answers at {url} ({type(error).__name__}); start one with `legato serve`"
            yield DoctorCheck(_ABOUT, Health.BROKEN, told)
            return
        is_simulated = about.get("simulated") is True
        yield DoctorCheck(_ABOUT, Health.WELL, f"{url} runs{', with simulated providers' if is_simulated else ''}")
        for surface in _SURFACES:
            yield await _check_surface(client, surface, asks=online or is_simulated)


async def _check_surface(client: httpx2.AsyncClient, surface: _Surface, *, asks: bool) -> DoctorCheck:
    import httpx2

    try:
        response = await _last_of(client, surface, asks=asks)
    except httpx2.HTTPError as error:
        return DoctorCheck(
            _ABOUT,
            Health.BROKEN,
            f"{surface.name}: no answer, or half of one ({type(error).__name__}); see what the gateway says",
        )
    route = response.headers.get("x-legato-route", "")
    if response.status_code != 200:
        where = response.request.url.path
        message = _message(response)
        told = f"{surface.name}: {where} is answered {response.status_code}: {message}"
        hint = "; put your key into GATEWAY_KEY" if "key" in message.split() else ""  # Google says it with a 400
        return DoctorCheck(_ABOUT, Health.BROKEN, told + hint)
    answered = f"{route} answers" if route else "models are listed; --online also asks for an answer"
    return DoctorCheck(_ABOUT, Health.WELL, f"{surface.name}: {answered}")


async def _last_of(client: httpx2.AsyncClient, surface: _Surface, *, asks: bool) -> httpx2.Response:
    """The response to the last thing that was asked for: the first one that is refused, or the best there is."""
    key = os.environ.get("GATEWAY_KEY", "legato")
    prefix = "Bearer " if surface.key == "authorization" else ""
    headers = {**surface.headers, surface.key: prefix + key}
    response = await client.get(surface.models, headers=headers)
    for path, body in (*([surface.count] if surface.count else ()), *([surface.answer] if asks else ())):
        if response.status_code == 200:
            response = await client.post(path, json=body, headers=headers)
    return response


def is_address(url: str) -> bool:
    """Whether `url` can be the address of a gateway."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and len(url.split()) == 1
    except ValueError:  # a port beyond 65535, half an IPv6 address
        return False


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        return as_object(response.json())
    except ValueError:
        return {}


def _message(response: httpx2.Response) -> str:
    return as_text(as_object(_object(response).get("error")).get("message")) or response.reason_phrase


# --- clients ----------------------------------------------------------------------------------------------------------


def check_clients(url: str, environment: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """For each client, whether it would ask the gateway at `url`."""
    for client in CLIENTS:
        wanted = _led_by(client, url.rstrip("/"))
        if wanted:
            yield _check_variables(client, url, wanted, environment)
        else:
            yield _check_codex(url, environment)


def _led_by(client: str, url: str) -> dict[str, str]:
    """The environment variables that lead `client` to `url`."""
    found: dict[str, str] = {}
    for line in shell_lines(client, url):
        words = shlex.split(line, comments=True)
        if len(words) == 2 and words[0] == "export" and url in words[1]:
            name, _, value = words[1].partition("=")
            found[name] = value
    return found


def _check_variables(client: str, url: str, wanted: Mapping[str, str], environment: Mapping[str, str]) -> DoctorCheck:
    names = " and ".join(wanted)
    if not any(environment.get(name) for name in wanted):
        return _not_led(client, url, f"{names} {'is' if len(wanted) == 1 else 'are'} not set")
    for name in wanted:
        led_to = environment.get(name, "")
        if not any(_is_at(address, url) for address in _addresses(led_to)):
            where = (
                f"leads to {shown_url(led_to)}"
                if led_to.startswith("http")
                else "leads elsewhere"
                if led_to
                else "is not set"
            )
            return _not_led(client, url, f"{name} {where}")
    return DoctorCheck("clients", Health.WELL, f"{client}: {names} lead{'s' * (len(wanted) == 1)} here")


def _check_codex(url: str, environment: Mapping[str, str]) -> DoctorCheck:
    """Codex is led by its settings; of an alias, only the shell that has it knows."""
    home = environment.get("CODEX_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".codex"
    path = Path(home) / "config.toml"
    try:
        settings: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = {}
    chosen = as_object(as_object(settings.get("model_providers")).get(as_text(settings.get("model_provider"))))
    if _is_at(as_text(chosen.get("base_url")), url):
        return DoctorCheck("clients", Health.WELL, f"codex: {path} leads here")
    return _not_led("codex", url, f"{path} does not lead here (of an alias only your shell knows)")


def _not_led(client: str, url: str, why: str) -> DoctorCheck:
    """`client` asks somebody else; what would lead it to `url`."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    options = [f"--host {host}"] * (host != ServeSettings().host) + [f"--port {port}"] * (port != ServeSettings().port)
    command = " ".join(["legato serve --env", client, *options])
    lead = f'eval "$({command})" leads it here' if parts.scheme == "http" else f"set its base URL to {url}"
    return DoctorCheck("clients", Health.NOTE, f"{client}: {why}; {lead}")


def _addresses(value: str) -> list[str]:
    """The addresses in the value of a variable: it may be one, or JSON that holds some."""
    try:
        return list(_texts(json.loads(value)))
    except ValueError:
        return [value]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _texts(item)


_HERE = {"localhost": "127.0.0.1", "::1": "127.0.0.1", "0.0.0.0": "127.0.0.1"}


def _is_at(address: str, url: str) -> bool:
    """Whether `address` is on the gateway at `url`, whatever path it adds."""
    try:
        one, other = urlsplit(address), urlsplit(url)
        places = [(part.scheme, _HERE.get(part.hostname or "", part.hostname), part.port) for part in (one, other)]
    except ValueError:
        return False
    return places[0] == places[1] and bool(one.hostname)
