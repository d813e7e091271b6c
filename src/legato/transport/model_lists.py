"""Ask a provider which models it has.

In:  a target at the provider (its own model does not matter), a key, a transport.
Out: an `OfferedModel` for each model of the list: its name, and its limits and end where the list tells them.

Every dialect has such a list, each in a shape of its own, and hosts of the chat family add fields of their own. What
is not understood is passed over: a list is never refused for what one of its entries holds. What is no list at all
raises a typed error, as any other answer does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

import anyio
from msgspec import Struct
from msgspec.structs import replace

from legato.errors import BadAnswer, ConfigError, IngestError, ProviderError, TimedOut
from legato.model import Dialect, Json, JsonObject, Target
from legato.transport.classification import classify
from legato.transport.complaint import read_complaint
from legato.transport.contract import Transport, WireResponse
from legato.transport.keys import Key
from legato.transport.outgoing import HTTP_APIS, WireRequest, wire_request
from legato.wire.bounds import read_bounded_json


class OfferedModel(Struct, frozen=True, kw_only=True):
    """One model as its provider lists it."""

    name: str
    window: int | None = None
    max_output: int | None = None
    retires: str = ""
    """the day on which it ends, or ended; empty if the list does not say"""


LONGEST_LIST = 32 * 1024 * 1024
"""bytes; the longest lists have some hundred models of a few kilobytes"""

_PATIENCE = 60.0
"""seconds for all pages of a list"""

_MOST_PAGES = 50
"""our choice: a server whose pages never end is left, and no provider needs ten of this size"""

_PAGE_SIZE = 1000
"""the most that is allowed: https://platform.claude.com/docs/en/api/models/list, https://ai.google.dev/api/models"""


class _ListApi(NamedTuple):
    """Where a dialect lists its models, and how it is asked for a page of them."""

    path: str
    size_field: str = ""
    next_field: str = ""
    """of the query: which page"""


_LISTS: dict[Dialect, _ListApi] = {
    Dialect.OPENAI_CHAT: _ListApi("/models"),
    Dialect.OPENAI_RESPONSES: _ListApi("/models"),
    # https://platform.claude.com/docs/en/api/models/list
    Dialect.ANTHROPIC: _ListApi("/v1/models", "limit", "after_id"),
    # https://ai.google.dev/api/models#method:-models.list
    Dialect.GEMINI: _ListApi("/models", "pageSize", "pageToken"),
}


async def fetch_models(
    transport: Transport, target: Target, *, key: Key | None, clock: Callable[[], float] = time.time
) -> list[OfferedModel]:
    """The models that the provider of `target` lists; raises `ProviderError`, or `ConfigError` where it has no list."""
    found: dict[str, OfferedModel] = {}
    page = ""
    with anyio.move_on_after(_PATIENCE):
        for _ in range(_MOST_PAGES):
            request = models_request(target, key=key, page=page)
            value = _read(await _fetch(transport, request, clock), request)
            for model in _models_in(value, request):
                found.setdefault(model.name, model)
            after = _next_page(value)
            if not after or after == page:
                return list(found.values())
            page = after
        return list(found.values())
    raise TimedOut(
        f"the list of models of {target.provider} was not complete after {_PATIENCE:g} seconds; try again",
        route=target.route,
        layer="transport",
        limit=_PATIENCE,
    )


def models_request(target: Target, *, key: Key | None, page: str = "") -> WireRequest:
    """The request for the list of models, or for the page of it that comes after `page`."""
    api = _LISTS.get(target.dialect)
    plain = wire_request(replace(target, model="m"), b"", key=key, stream=False)
    url = urlsplit(plain.url)
    path = HTTP_APIS[target.dialect].path.format(model="m")
    if api is None or not url.path.endswith(path):
        raise ConfigError(f"{target.provider} has no list of models that could be asked for", route=target.route)
    asked = {api.size_field: str(_PAGE_SIZE)} if api.size_field else {}
    if page and api.next_field:
        asked[api.next_field] = page
    query = "&".join(part for part in (url.query, urlencode(asked)) if part)
    headers = {name: value for name, value in plain.headers.items() if name != "content-type"}
    address = urlunsplit((url.scheme, url.netloc, url.path.removesuffix(path) + api.path, query, ""))
    return replace(plain, method="GET", url=address, headers=headers, target=target)


# --- what comes back --------------------------------------------------------------------------------------------------


async def _fetch(transport: Transport, request: WireRequest, clock: Callable[[], float]) -> bytes:
    response = await transport.send(request)
    try:
        if 200 <= response.status < 300:
            return await _body(response, request)
        complaint = read_complaint(await _beginning(response))
    finally:
        await response.close()
    raise classify(complaint, request, status=response.status, headers=response.headers, now=clock())


async def _body(response: WireResponse, request: WireRequest) -> bytes:
    body = bytearray()
    limit = min(LONGEST_LIST, response.bounds.body)
    async for chunk in response.chunks:
        body += chunk
        if len(body) > limit:
            raise _bad(request, f"it is longer than {limit:,} bytes")
    return bytes(body)


async def _beginning(response: WireResponse) -> bytes:
    """As much of a refusal as is worth reading: its status alone says a good deal."""
    body = bytearray()
    try:
        async for chunk in response.chunks:
            body += chunk
            if len(body) > response.bounds.refusal:
                break
    except ProviderError:
        pass  # how the body broke off says less than the status
    return bytes(body[: response.bounds.refusal])


def _read(body: bytes, request: WireRequest) -> Json:
    if body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        raise _bad(request, "it is a web page", "check the endpoint")
    try:
        return read_bounded_json(body)
    except IngestError as error:
        raise _bad(request, f"it is {error.message}", "check the endpoint") from None


def _models_in(value: Json, request: WireRequest) -> Iterator[OfferedModel]:
    entries: Any = value
    if isinstance(value, dict):
        listing = cast(JsonObject, value)
        entries = listing.get("data", listing.get("models"))
    if not isinstance(entries, list):
        raise _bad(request, "it is JSON, but no list of models", "check the endpoint")
    for entry in cast("list[Any]", entries):
        card = cast(JsonObject, entry if isinstance(entry, dict) else {"id": entry})
        if name := _name(card):
            yield OfferedModel(
                name=name,
                window=_first(card, _WINDOWS, _count),
                max_output=_first(card, _OUTPUTS, _count),
                retires=_first(card, _ENDS, _day) or "",
            )


def _name(card: JsonObject) -> str:
    name = card.get("id") or card.get("name")
    return name.removeprefix("models/") if isinstance(name, str) else ""  # Gemini names the whole resource


# Anthropic and Gemini; Groq; Mistral; OpenRouter, Together, Kimi and Fireworks; vLLM.
_WINDOWS = (
    "max_input_tokens",
    "inputTokenLimit",
    "context_window",
    "max_context_length",
    "context_length",
    "max_model_len",
)
_OUTPUTS = ("max_tokens", "outputTokenLimit", "max_completion_tokens")
_ENDS = ("shutdown_date", "deprecation", "expiration_date", "retirement_date")
"""OpenAI (https://developers.openai.com/api/docs/deprecations), Mistral, OpenRouter, and what others may write"""


def _first(card: JsonObject, fields: tuple[str, ...], read: Callable[[Any], Any]) -> Any:
    return next((found for name in fields if (found := read(card.get(name))) is not None), None)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _day(value: Any) -> str | None:
    found = re.match(r"\d{4}-\d{2}-\d{2}", value) if isinstance(value, str) else None
    return found[0] if found else None


def _next_page(value: Json) -> str:
    """What to ask for the next page with; empty after the last one."""
    if not isinstance(value, dict):
        return ""
    listing = cast(JsonObject, value)
    token = listing.get("nextPageToken") or (listing.get("last_id") if listing.get("has_more") is True else "")
    return token if isinstance(token, str) else ""


def _bad(request: WireRequest, why: str, advice: str = "try again") -> BadAnswer:
    return BadAnswer(
        f"the list of models of {request.target.provider} at {request.place} cannot be used: {why}; {advice}",
        route=request.route,
        place=request.place,
        layer="decode",
    )
