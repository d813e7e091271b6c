"""HTTP on a port of this machine, for whatever answers requests here.

In:  an application that gives a `WireResponse` for an `Ask`.
Out: a server that runs until it is told to stop.

`gateway` and `simulation` are two applications on it. Whoever only imports them needs neither Starlette nor uvicorn:
`exchange` and `http_server` do, which are the extra `serve`, and `require_extra` says so to a person.
"""

from __future__ import annotations

from legato.errors import ConfigError


def require_extra(what: str) -> None:
    """Raise `ConfigError` with the way to install it if the extra `serve`, which `what` needs, is not here."""
    try:
        import starlette  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import uvicorn  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise ConfigError(f"{what} needs the extra `serve` (pip install 'legato[serve]'): {error}") from None
