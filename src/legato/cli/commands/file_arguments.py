"""The files that a command is given: a path, the id of a stored session, or `-` for standard input or output.

While a large file or many are read a bar shows how far it is, if a person is watching.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from legato.cli.saying import say
from legato.errors import FormatError

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressBar
    from rich.progress import ProgressColumn

    from legato.files import Source
    from legato.files.sources import Progress
    from legato.formats import Document

STANDARD = "-"
"""standard input where something is read, standard output where something is written"""
_LARGE = 8 * 1024 * 1024
"""a file that is read in the blink of an eye gets no bar"""
_MANY = 20
"""files that are read one after the other without a bar: our choice, about a second of them"""


class Input(NamedTuple):
    """What `legato.files` is given to read: the source, what to call it, and whom to tell how far it is."""

    source: Source
    name: str = ""
    progress: Progress | None = None


def file_name(path: str) -> str:
    """What to call the input that `path` names."""
    return "standard input" if path == STANDARD else path


@contextmanager
def opened(path: str) -> Generator[Input]:
    """The input that `path` names: standard input, a file, or else a stored session by its id."""
    if path == STANDARD:
        yield Input(sys.stdin.buffer, file_name(path))
    elif stored := stored_session(path):
        yield stored
    else:
        with _progress(path) as progress:
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


# --- stored sessions --------------------------------------------------------------------------------------------------


def stored_session(name: str) -> Input | None:
    """The log of the stored session that `name` means; None for anything that is, or looks like, a file.

    Raises `FormatError` for what is neither.
    """
    from legato.store.identity import is_session_id

    if os.path.lexists(name) or not is_session_id(name) or "." in name:
        return None
    from legato.cli.async_main import run_async
    from legato.cli.settings.project import store_setting
    from legato.errors import SessionNotFound
    from legato.store import default_path, open_store

    place = store_setting(None)

    async def dump() -> Input:
        from legato.cli.sessions.lookup import find_session

        async with open_store(place) as store:
            summary = await find_session(store, name)
            return Input(b"".join([line async for line in store.export(summary.id)]), f"session {summary.id}")

    try:
        if place is None and not default_path().exists():  # looking for a session makes no store
            raise SessionNotFound(name)
        return run_async(dump)
    except SessionNotFound:
        told = f"{name}: there is no such file, and no stored session has this id; `legato sessions` lists them"
        raise FormatError(told) from None


# --- while somebody waits ---------------------------------------------------------------------------------------------


class Walk:
    """The files of a command, one after the other."""

    def __init__(self, paths: Sequence[str], *, is_folder: bool, bar: ProgressBar | None) -> None:
        self.is_folder = is_folder
        """whether a folder is among what was named"""
        self._paths = paths
        self._bar = bar

    def __iter__(self) -> Iterator[str]:
        task = None if self._bar is None else self._bar.add_task("reading", total=len(self._paths))
        for path in self._paths:
            yield path
            if self._bar is not None and task is not None:
                self._bar.advance(task)

    def tell(self, line: str) -> None:
        """Print a line of the result; a bar on the same screen makes room for it."""
        if self._bar is None or not sys.stdout.isatty():
            say(line)
            return
        self._bar.stop()
        say(line)
        self._bar.start()


@contextmanager
def walking(inputs: Sequence[str]) -> Generator[Walk]:
    """The files that `inputs` name, those of folders in their place, behind a bar if somebody waits for many."""
    paths: list[str] = []
    is_folder = False
    for path in inputs:
        if path != STANDARD and os.path.isdir(path):
            is_folder = True
            paths += _in_folder(path)
        else:
            paths.append(path)
    if len(paths) < _MANY or not sys.stderr.isatty():
        yield Walk(paths, is_folder=is_folder, bar=None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    with _bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        yield Walk(paths, is_folder=is_folder, bar=bar)


def _in_folder(folder: str) -> list[str]:
    from legato.files import session_files

    found = [str(path) for path in session_files(folder)]
    if not found:
        raise FormatError(f"{folder}: there are no files in it that could be sessions or requests (*.json, *.jsonl)")
    return found


@contextmanager
def _progress(path: str) -> Generator[Progress | None]:
    """A bar on standard error while a large file is read, if a person is watching."""
    try:
        size = os.stat(path).st_size
    except OSError:
        size = 0  # the reader will say what is wrong
    if size < _LARGE or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    with _bar(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("reading", total=size)
        yield lambda count: bar.update(task, completed=count)


def _bar(*columns: ProgressColumn) -> ProgressBar:
    from rich.console import Console
    from rich.progress import Progress as ProgressBar

    return ProgressBar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)


# --- what is written --------------------------------------------------------------------------------------------------


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


def write_output(path: str, data: bytes | Iterable[bytes]) -> None:
    """Put `data`, or pieces of it, into the file, or onto standard output."""
    from legato.files.writing import keeping, write_whole

    if path != STANDARD:
        with keeping(path):
            write_whole(path, data)
        return
    for piece in (data,) if isinstance(data, bytes) else data:
        rest = memoryview(piece)
        while rest:  # an unbuffered stream may take less than it is given
            rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
