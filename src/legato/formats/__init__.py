"""Session files that people have on disk, and request bodies: read, written, mended.

    read(path)                      one conversation as a Document; its format is found out
    read_all(path)                  every conversation of a file that holds several
    detect(path)                    the format alone
    write(document, format)         a conversation as a file of that format, and what could not be carried
    request_for(document, target)   a conversation as a request with the file's options, and what could not be carried
    lint_document(document)         what is wrong with it, for the provider that it was written for or for others
    mend(document)                  the same file with what was broken in it put right, and what was changed

Readers are tolerant: what they do not understand they report with its place, and damage costs at most the record that
it hit. Writers are strict. `FORMATS` lists what there is. Nothing is loaded before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from legato.formats.detection import Detected
    from legato.formats.document import CompactionMark, Document, FileNote
    from legato.formats.explaining import Explanation, FormatSign, Misunderstood, WeighedFormat
    from legato.formats.findings import Finding, Level, lint_document
    from legato.formats.format import FileHome, Format, Mended, Written
    from legato.formats.mending.mend import mend
    from legato.formats.reading import detect, read, read_all
    from legato.formats.registry import FORMATS, WRITTEN
    from legato.formats.requesting import request_for
    from legato.formats.writing import write

_HOMES = {
    "Detected": "detection",
    "CompactionMark": "document",
    "Document": "document",
    "FileNote": "document",
    "Explanation": "explaining",
    "FormatSign": "explaining",
    "Misunderstood": "explaining",
    "WeighedFormat": "explaining",
    "Finding": "findings",
    "Level": "findings",
    "lint_document": "findings",
    "FileHome": "format",
    "Mended": "format",
    "mend": "mending.mend",
    "detect": "reading",
    "read": "reading",
    "read_all": "reading",
    "FORMATS": "registry",
    "WRITTEN": "registry",
    "Format": "format",
    "request_for": "requesting",
    "Written": "format",
    "write": "writing",
}

__all__ = [
    "FORMATS",
    "WRITTEN",
    "CompactionMark",
    "Detected",
    "Document",
    "Explanation",
    "FileHome",
    "FileNote",
    "Finding",
    "Format",
    "FormatSign",
    "Level",
    "Mended",
    "Misunderstood",
    "WeighedFormat",
    "Written",
    "detect",
    "lint_document",
    "mend",
    "read",
    "read_all",
    "request_for",
    "write",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
