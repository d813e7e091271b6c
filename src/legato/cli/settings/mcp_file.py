"""Change `.mcp.json`: the nearest one, or a new one in this folder. What is not about the server stays as it is.

Someone who adds a server on the command line has said what it runs, so it counts as agreed to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec

from legato.cli.settings.project_files import MCP_FILE, find_file
from legato.cli.settings.trust import Trust
from legato.errors import ConfigError
from legato.tools.mcp_config import read_mcp_config

_SERVERS = "mcpServers"


def add_server(folder: Path, name: str, entry: dict[str, Any]) -> Path:
    """Add the server `name`; returns the file. Raises `ConfigError` if there is one, or if it cannot be used."""
    path, table = _read(folder)
    servers = table.setdefault(_SERVERS, {})
    if name in servers:
        raise ConfigError(f"{path} has a server {name!r} already; remove it first, or choose another name")
    servers[name] = entry
    data = _encoded(table)
    server = next(one for one in read_mcp_config(data, path) if one.name == name)  # refused before it is written
    _write(path, data)
    Trust().remember(path.parent, server.digest)
    return path


def remove_server(folder: Path, name: str) -> Path:
    """Take the server `name` out; returns the file. Raises `ConfigError` if there is none."""
    path, table = _read(folder)
    servers = table.get(_SERVERS, {})
    if name not in servers:
        known = f"there are {', '.join(sorted(servers))}" if servers else "there is none"
        raise ConfigError(f"{path} has no server {name!r}; {known}")
    del servers[name]
    _write(path, _encoded(table))
    return path


def _read(folder: Path) -> tuple[Path, dict[str, Any]]:
    file = find_file((MCP_FILE,), folder).file
    if file is None:
        return folder.resolve() / MCP_FILE, {}
    read_mcp_config(file.data, file.path)  # what cannot be read is told, and not written anew
    return file.path, cast("dict[str, Any]", msgspec.json.decode(file.data))


def _encoded(table: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(table), indent=2) + b"\n"


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None
