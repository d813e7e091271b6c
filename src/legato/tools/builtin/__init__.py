"""The tools that come with Legato: read, write, edit, list, glob, grep and shell, for one working folder."""

from __future__ import annotations

import os
from collections.abc import Iterable

from legato.tools.builtin.environment import clean_environment
from legato.tools.builtin.files import edit_tool, list_tool, read_tool, write_tool
from legato.tools.builtin.search import glob_tool, grep_tool
from legato.tools.builtin.shell import shell_tool
from legato.tools.builtin.workspace import Workspace
from legato.tools.registry import Tool
from legato.tools.sandbox import SandboxPolicy
from legato.tools.sandbox.sandbox import Sandbox

__all__ = ["Workspace", "builtin_tools", "clean_environment"]


def builtin_tools(
    workspace: Workspace,
    *,
    secrets: Iterable[str] = (),
    shown: Iterable[str] = (),
    shell_seconds: int = 120,
    sandbox: SandboxPolicy | None = None,
    protected: Iterable[str | os.PathLike[str]] = (),
) -> tuple[Tool, ...]:
    """All of them, for `workspace`.

    `secrets` names further variables that commands must not see, `shown` those that they see though they look like
    secrets. Commands run in a sandbox where the system can; `sandbox` says what they may do in it, and `protected` are
    further files and folders that they cannot change there.
    """
    hidden, needed = frozenset(secrets), frozenset(shown)
    confining = Sandbox(workspace.root, sandbox, protected=protected, written=lambda: frozenset(workspace.written))
    return (
        read_tool(workspace),
        write_tool(workspace),
        edit_tool(workspace),
        list_tool(workspace),
        glob_tool(workspace),
        grep_tool(workspace),
        shell_tool(
            workspace,
            environment=lambda: clean_environment(os.environ, hidden, needed),
            sandbox=confining,
            seconds=shell_seconds,
        ),
    )
