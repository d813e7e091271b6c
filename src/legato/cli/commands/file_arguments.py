"""Read the files that a command is given: a path, or `-` for standard input, with a progress bar for large ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from legato.errors import FormatError

if TYPE_CHECKING:
    from legato.formats import Document
    from legato.formats.sources import Progress

STDIN = "-"
_LARGE = 8 * 1024 * 1024
"""a file that is read in the blink of an eye gets no bar"""


def read_documents(path: str, *, format: str | None = None) -> list[Document]:  # noqa: A002  # a format is a format
    """Every conversation in the file; raises `FormatError`, with one line, for what cannot be read."""
    from legato.formats import read_all

    with _progress(path) as progress:
        if path == STDIN:
            return read_all(sys.stdin.buffer, format=format, name="standard input", progress=progress)
        return read_all(path, format=format, progress=progress)


def pick(documents: list[Document], number: int | None, *, advice: str = "choose one with --pick N") -> Document:
    """The conversation that a command is about: the one of that number, or the only one, or the main one."""
    if number is not None:
        if not 1 <= number <= len(documents):
            raise FormatError(
                f"{documents[0].name}: it holds {len(documents)} conversations, and --pick counts from 1; "
                f"there is no number {number}"
            )
        return documents[number - 1]
    if len(documents) > 1 and not has_main(documents):
        raise FormatError(f"{documents[0].name}: this file holds {len(documents)} conversations; {advice}")
    return documents[0]


def has_main(documents: list[Document]) -> bool:
    """Whether the first conversation is the session, and the others stand beside it (those of subagents)."""
    return bool(documents[0].meta.get("beside"))


@contextmanager
def _progress(path: str) -> Generator[Progress | None]:
    """A bar on standard error while a large file is read, if a person is watching."""
    try:
        size = 0 if path == STDIN else os.stat(path).st_size
    except OSError:
        size = 0  # the reader will say what is wrong
    if size < _LARGE or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=size)
        yield lambda count: bar.update(task, completed=count)
