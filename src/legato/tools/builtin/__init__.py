"""The tools that come with Legato: read, write, edit, list, glob, grep and shell, for one working folder."""

from __future__ import annotations

from collections.abc import Iterable

from legato.tools.builtin.files import edit_tool, list_tool, read_tool, write_tool
from legato.tools.builtin.search import glob_tool, grep_tool
from legato.tools.builtin.shell import clean_environment, shell_tool
from legato.tools.builtin.workspace import Workspace
from legato.tools.registry import Tool

__all__ = ["Workspace", "builtin_tools", "clean_environment"]


def builtin_tools(workspace: Workspace, *, secrets: Iterable[str] = (), shell_seconds: int = 120) -> tuple[Tool, ...]:
    """All of them, for `workspace`; `secrets` names further variables that commands must not see."""
    return (
        read_tool(workspace),
        write_tool(workspace),
        edit_tool(workspace),
        list_tool(workspace),
        glob_tool(workspace),
        grep_tool(workspace),
        shell_tool(workspace, secrets=secrets, seconds=shell_seconds),
    )
