"""`@file` in a message: the file goes along with it.

In:  what a person typed.
Out: the blocks of a message, files first and the person's words last, and what could not be attached.

Only what a person typed is looked at, never text that came from a pipe, a file or a command. A word that begins with @
and names no file is just a word (`@alice`); one that looks like a path (`@notes.txt`, `@src/`) is sent as it is too,
and the person is told that nothing was attached.

A file is a block of its own between marks:

    <file path="notes.txt">
    buy milk
    </file>

Many servers take one string for a message, and the blocks then follow each other without anything in between, so the
marks are part of the text and end with a line end. Where a file holds its own end mark, another one is chosen
(`file-2`), so that nothing in it can pass for the end of the file, or for the words of the person.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import NamedTuple

from legato.cli.terminal.reveal import reveal_line
from legato.model import Block, Entry, Media, MediaKind, Text

_MENTION = re.compile(r"(?:(?<=\s)|^)@(?:\"([^\"]+)\"|(\S+))")
_MARKED = re.compile(r'<(?:file|folder)(?:-\d+)? path="')
_TRAILING = ".,;:!?)]}'\""
_PATH = re.compile(r"/|\.\w{1,5}$")
"""what a word has that is meant as a path: a folder, or the ending of a file"""
_MAX_TEXT = 256 * 1024
"""bytes of a text file that is attached: our choice, what a model can still read beside a conversation"""

_MAX_MEDIA = 5 * 1024 * 1024
"""bytes of an image or a document: what Anthropic takes of an image (https://docs.claude.com/en/docs/build-with-
claude/vision)"""

_MEDIA = {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}


class Message(NamedTuple):
    """A message ready to be sent, and notes for the one who typed it; `problems` are those about what went wrong."""

    blocks: tuple[Block, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...] = ()


def read_message(text: str, folder: Path) -> Message:
    """`text` with the files that it mentions."""
    blocks: list[Block] = []
    attached: list[str] = []
    problems: list[str] = []
    found, missing = _mentioned(text, folder)
    for path in dict.fromkeys(found):
        try:
            blocks.append(_attach(path, folder))
            attached.append(f"attached {_name(path, folder)}")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            problems.append(f"not attached: {_name(path, folder)}: {reason}")
    problems += [f"not attached: {reveal_line(name)}: there is no such file here" for name in dict.fromkeys(missing)]
    return Message((*blocks, Text(text)), (*attached, *problems), tuple(problems))


def words_of(message: Entry) -> str:
    """What a person said in a message, without the files that went along with it."""
    return "".join(block.text for block in message.blocks if isinstance(block, Text) and not _MARKED.match(block.text))


def _mentioned(text: str, folder: Path) -> tuple[list[Path], list[str]]:
    """The files and folders that `text` names, and the names of those that are not there."""
    found: list[Path] = []
    missing: list[str] = []
    for match in _MENTION.finditer(text):
        quoted, word = match.groups()
        names = (quoted,) if quoted else (word, word.rstrip(_TRAILING))
        paths = [folder / Path(name).expanduser() for name in names if name]
        there = next(filter(_is_there, paths), None)
        if there is not None:
            found.append(there)
        elif quoted or _PATH.search(names[-1]):
            missing.append(names[-1])
    return found, missing


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False  # a word that cannot be a path


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _attach(path: Path, folder: Path) -> Block:
    name = _name(path, folder)
    if path.is_dir():
        names = sorted(f"{item.name}/" if item.is_dir() else item.name for item in path.iterdir())
        return _marked("folder", name, "\n".join(map(reveal_line, names)))
    if not path.is_file():
        raise ValueError("it is neither a file nor a folder")
    import mimetypes  # only here: it is slow to load, and few messages mention a file

    mime = mimetypes.guess_type(path.name)[0] or ""
    if mime in _MEDIA:
        return _media(path, mime, name)
    data = path.read_bytes()
    if b"\0" in data[:8192]:
        raise ValueError("it is a binary file")
    text = data[:_MAX_TEXT].decode("utf-8-sig", "replace")
    cut = "" if len(data) <= _MAX_TEXT else f"the first {_MAX_TEXT:,} of {len(data):,} bytes"
    return _marked("file", name, text, cut=cut)


def _marked(kind: str, name: str, text: str, *, cut: str = "") -> Text:
    """`text` between a mark that says what it is and one that says where it ends."""
    mark, number = kind, 1
    while re.search(rf"<\s*/\s*{mark}\s*>", text, re.IGNORECASE):
        number += 1
        mark = f"{kind}-{number}"
    path = reveal_line(name).replace('"', '\\"')  # whatever the name holds, it stays between the quotes, on one line
    facts = f' cut="{cut}"' if cut else ""
    end = "" if not text or text.endswith("\n") else "\n"
    return Text(f'<{mark} path="{path}"{facts}>\n{text}{end}</{mark}>\n')


def _media(path: Path, mime: str, name: str) -> Media:
    size = path.stat().st_size
    if size > _MAX_MEDIA:
        raise ValueError(f"it has {size:,} bytes; at most {_MAX_MEDIA:,} are sent")
    kind = MediaKind.DOCUMENT if mime == "application/pdf" else MediaKind.IMAGE
    return Media(kind=kind, mime=mime, data=base64.b64encode(path.read_bytes()).decode(), name=name)
