"""What `.mcp.json` says: servers by name, started as a program (stdio) or reached by URL (streamable HTTP).

In:  the bytes of the file.
Out: one `McpServer` each, with its variables (`${NAME}`) as they are written, and filled in when it is started.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from legato.errors import ConfigError, IngestError
from legato.model import JsonObject, read_json
from legato.model.hashing import digest
from legato.tools.attempt import describe

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


class McpServer(Struct, frozen=True, omit_defaults=True):
    """One server as the file names it: a `command`, or a `url`. Variables (`${NAME}`) are not filled in yet."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """A name for what would be started or reached; another one when anything about it changes."""
        return digest(msgspec.json.encode(self, order="sorted"))

    @property
    def shown(self) -> str:
        """What a person is shown before the first start."""
        return self.url or shlex.join([self.command, *self.args])


def load_mcp_config(path: str | os.PathLike[str]) -> list[McpServer]:
    """The servers that the file at `path` names; none if it does not exist."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{os.fspath(path)} cannot be read: {describe(error)}") from error
    return read_mcp_config(content, path)


def read_mcp_config(content: bytes, path: str | os.PathLike[str]) -> list[McpServer]:
    """The servers that the bytes of the file at `path` name."""
    try:
        data = read_json(content)
    except IngestError as error:
        raise ConfigError(f"{os.fspath(path)} cannot be read: {describe(error)}") from error
    servers = cast(JsonObject, data).get("mcpServers") if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(f"{os.fspath(path)} has no object `mcpServers`")
    return [_read_server(name, entry, os.fspath(path)) for name, entry in cast(JsonObject, servers).items()]


def _read_server(name: str, entry: Any, path: str) -> McpServer:
    where = f"the server {name!r} in {path}"
    if "__" in name or name.startswith("_") or name.endswith("_"):
        # Else `mcp__github__*`, a rule for the server `github`, would cover the tools of a server `github__x`, too.
        raise ConfigError(f"{where} has a name in which two tools of different servers could be one: rename it")
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is not an object")
    known = {key: value for key, value in cast(JsonObject, entry).items() if key in McpServer.__struct_fields__}
    try:
        server = msgspec.convert({**known, "name": name}, McpServer)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where} is not understood: {error}") from error
    if cast(JsonObject, entry).get("type") == "sse":
        raise ConfigError(f"{where} wants the old SSE transport; only stdio and streamable HTTP (`url`) are supported")
    if bool(server.command) == bool(server.url):
        raise ConfigError(f"{where} needs either a `command` or a `url`")
    return server


def fill_in(server: McpServer, environment: Mapping[str, str]) -> McpServer:
    """`server` with its variables; raises `ConfigError` for one that is not set and has no default."""

    def fill(text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = match["name"]
            default = cast("dict[str, str | None]", match.groupdict())["default"]
            found = environment.get(name, default)
            if found is None:
                raise ConfigError(f"the MCP server {server.name!r} needs the variable {name}, which is not set")
            return found

        return _VARIABLE.sub(value, text)

    return McpServer(
        name=server.name,
        command=fill(server.command),
        args=tuple(fill(arg) for arg in server.args),
        env={key: fill(text) for key, text in server.env.items()},
        cwd=fill(server.cwd) if server.cwd else None,
        url=fill(server.url),
        headers={key: fill(text) for key, text in server.headers.items()},
    )
