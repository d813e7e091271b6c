"""The files that a command is given: a path, or `-` for standard input or output.

While a large file is read a bar shows how far it is, if a person is watching.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from legato.errors import FormatError

if TYPE_CHECKING:
    from legato.files import Source
    from legato.files.sources import Progress
    from legato.formats import Document

STANDARD = "-"
"""standard input where something is read, standard output where something is written"""
_LARGE = 8 * 1024 * 1024
"""a file that is read in the blink of an eye gets no bar"""


class Input(NamedTuple):
    """What `legato.files` is given to read: the source, what to call it, and whom to tell how far it is."""

    source: Source
    name: str = ""
    progress: Progress | None = None


@contextmanager
def opened(path: str) -> Generator[Input]:
    """The input that `path` names."""
    with _progress(path) as progress:
        if path == STANDARD:
            yield Input(sys.stdin.buffer, "standard input", progress)
        else:
            yield Input(path, progress=progress)


def read_documents(path: str, *, format: str | None = None) -> list[Document]:  # noqa: A002  # a format is a format
    """Every conversation in the file; raises `FormatError`, with one line, for what cannot be read."""
    from legato.formats import read_all

    with opened(path) as (source, name, progress):
        return read_all(source, format=format, name=name, progress=progress)


def pick_one(documents: list[Document], number: int | None, *, advice: str = "choose one with --pick N") -> Document:
    """The conversation that a command is about: the one of that number, or the only one, or the main one."""
    from legato.files.sources import pick_document

    return pick_document(documents, number, option="--pick", advice=advice)


@contextmanager
def _progress(path: str) -> Generator[Progress | None]:
    """A bar on standard error while a large file is read, if a person is watching."""
    try:
        size = 0 if path == STANDARD else os.stat(path).st_size
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


def check_output(path: str) -> None:
    """Raise for a path that cannot be written, before any work is done for it."""
    from legato.files.writing import check_folder

    if path != STANDARD:
        check_folder(path)


def refuse_same_file(source: str, target: str, *, advice: str) -> None:
    """Raise unless writing `target` leaves `source` as it is."""
    from legato.files.writing import is_same_file

    if STANDARD not in (source, target) and is_same_file(source, target):
        raise FormatError(f"{target}: this is the input itself; {advice}")


def write_output(path: str, data: bytes) -> None:
    """Put `data` into the file, or onto standard output."""
    from legato.files.writing import write_whole

    if path != STANDARD:
        write_whole(path, data)
        return
    rest = memoryview(data)
    while rest:  # an unbuffered stream may take less than it is given
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
