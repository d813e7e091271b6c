"""The two libraries whose clients the official SDKs accept: httpx2, and httpx, from which it comes.

Both have the same classes under the same names, but neither takes the other's: an SDK asks whether its client is one of
its own library, and a client whether a body and an error are. So whatever is handed over is made of the right one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct

from legato.errors import ConfigError

if TYPE_CHECKING:
    import httpx2

LibraryName = Literal["httpx2", "httpx"]

T = TypeVar("T")


class HttpLibrary(Struct, frozen=True, kw_only=True):
    """The classes of one library. They are typed as those of httpx2, which the other's resemble in all that is used."""

    name: LibraryName
    client: type[httpx2.Client]
    async_client: type[httpx2.AsyncClient]
    transport: type[httpx2.BaseTransport]
    async_transport: type[httpx2.AsyncBaseTransport]
    response: type[httpx2.Response]
    body: type[httpx2.SyncByteStream]
    async_body: type[httpx2.AsyncByteStream]
    cut: type[httpx2.RemoteProtocolError]
    closed: type[httpx2.ReadError]
    too_slow: type[httpx2.ReadTimeout]


@cache
def http_library(name: LibraryName) -> HttpLibrary:
    """The classes of the library of that name; `ConfigError` where it is not installed."""
    if name not in ("httpx2", "httpx"):
        raise ConfigError(f"there is no HTTP library {name!r} to make a client of; choose httpx2 or httpx")
    try:
        module: Any = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ConfigError(
            f'library="{name}" needs the package {name}, which is not installed: pip install {name}'
        ) from None
    return HttpLibrary(
        name=name,
        client=module.Client,
        async_client=module.AsyncClient,
        transport=module.BaseTransport,
        async_transport=module.AsyncBaseTransport,
        response=module.Response,
        body=module.SyncByteStream,
        async_body=module.AsyncByteStream,
        cut=module.RemoteProtocolError,
        closed=module.ReadError,
        too_slow=module.ReadTimeout,
    )


@cache
def as_one_of(base: type[T], behaviour: type) -> Callable[..., T]:
    """A class with the methods of `behaviour` that is also a `base`, for whoever asks whether it is."""
    made: Any = type(behaviour.__name__, (behaviour, base), {"__module__": behaviour.__module__})
    return made
