"""glob and grep: find files by name and by content."""

from __future__ import annotations

import json
import os
import sys
from itertools import islice, takewhile
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from legato.errors import CallerError
from legato.tools.builtin import search_worker
from legato.tools.builtin.environment import clean_environment
from legato.tools.builtin.processes import run_program
from legato.tools.builtin.workspace import Workspace
from legato.tools.functions import tool
from legato.tools.globs import PATH, covers, matcher
from legato.tools.registry import Tool, ToolContext, ToolKind

_MAX_FILES = 500
"""files that a search names: our choice, a narrower pattern finds more"""

_MAX_MATCHES = 200
"""lines that a search shows: our choice, a narrower pattern finds more"""

_SECONDS = 30
"""how long a search may take: our choice, a pattern can be slower than anyone waits"""

_MAX_REPLY = 4_000_000
"""bytes that the worker may answer: our choice, far beyond what it is allowed to find"""

Folder = Annotated[str, Meta(description="the folder to search, relative to the working folder")]


def glob_tool(workspace: Workspace) -> Tool:
    """The tool that finds files by name."""

    @tool(kind=ToolKind.READ, subject=lambda arguments: workspace.name_of(str(arguments.get("path", "."))))
    def glob(
        pattern: Annotated[
            str, Meta(description="`*` stays in one folder, `**` crosses folders; `*.py` means any depth")
        ],
        context: ToolContext,
        path: Folder = ".",
    ) -> str:
        """Find files by name. Version control and dependency folders are left out."""
        base = _start(workspace, path)
        wanted = matcher(any_depth(pattern), PATH)
        root = workspace.root
        found = (
            name
            for name in takewhile(lambda _: not context.cancelled.is_set(), search_worker.walk(str(root), base))
            if wanted(name[len(base) :].lstrip("/")) and not any(covers(one, name) for one in context.unreadable)
        )
        names = list(islice(found, _MAX_FILES + 1))
        if len(names) > _MAX_FILES:
            names[-1] = f"[more than {_MAX_FILES} files; use a narrower pattern]"
        return "\n".join(names) or "[no files match]"

    return glob


def grep_tool(workspace: Workspace) -> Tool:
    """The tool that finds files by content."""

    @tool(kind=ToolKind.READ, subject=lambda arguments: workspace.name_of(str(arguments.get("path", "."))))
    async def grep(
        pattern: Annotated[str, Meta(description="a regular expression, as Python has them; it is tried on each line")],
        context: ToolContext,
        path: Annotated[str, Meta(description="the file or folder to search, relative to the working folder")] = ".",
        include: Annotated[str | None, Meta(description="only files whose path matches this glob, as `*.py`")] = None,
        ignore_case: bool = False,
    ) -> str:
        """Search the lines of text files; returns each file with its matching lines and their numbers."""
        job = {
            "root": str(workspace.root),
            "start": _start(workspace, path),
            "pattern": pattern,
            "include": any_depth(include) if include else None,
            "unreadable": context.unreadable,
            "ignore_case": ignore_case,
            "limit": _MAX_MATCHES,
        }
        reply = await _search(job, context, workspace.root)
        if "error" in reply:
            raise CallerError(f"`pattern` is no regular expression: {reply['error']}")
        return _format(reply)

    return grep


def any_depth(pattern: str) -> str:
    """A pattern without a slash means files of that name wherever they are."""
    return pattern if "/" in pattern else f"**/{pattern}"


def _start(workspace: Workspace, path: str) -> str:
    """`path` relative to the root, as `walk` wants it."""
    resolved = workspace.resolve(path)
    if not resolved.exists():
        raise CallerError(f"{workspace.show(resolved)} does not exist")
    shown = workspace.show(resolved)
    return "" if shown == "." else shown


async def _search(job: dict[str, Any], context: ToolContext, folder: Path) -> dict[str, Any]:
    silent = ToolContext(name=context.name, cancelled=context.cancelled)  # its output is ours, not the model's
    finished = await run_program(
        [sys.executable, "-I", "-S", "-W", "ignore", search_worker.__file__, json.dumps(job)],
        silent,
        folder=folder,
        environment=clean_environment(os.environ),
        seconds=_SECONDS,
        limit=_MAX_REPLY,
    )
    if finished.timed_out:
        raise CallerError(f"the search took longer than {_SECONDS} s; use a simpler expression or a smaller folder")
    if finished.code:
        raise CallerError(f"the search failed: {finished.output[-500:]}")
    return json.loads(finished.output)


def _format(reply: dict[str, Any]) -> str:
    lines: list[str] = []
    last = ""
    for path, number, text in reply["matches"]:
        if path != last:
            lines.append(path)
            last = path
        lines.append(f"{number}: {text}")
    if reply["more"]:
        lines.append(f"[more than {len(reply['matches'])} matches; use a narrower expression, path or include]")
    return "\n".join(lines) or "[no matches]"
