"""Conversations in files, for scripts and notebooks: what `legato lint`, `repair`, `convert` and `inspect` do.

    lint(path)                      what is wrong with a session file or request body, and for which provider
    repair(path, output)            a mended copy in the same format, written to a new file or returned
    repair_in_place(path)           the same over the file itself, which stays beside it as a backup
    convert(path, target)           the conversation as a request body or as a session file of another agent
    convert_all(path, target)       every conversation of a file that holds several
    install(converted)              a session file put where its agent looks for it
    inspect(path, target=...)       the conversation entry by entry: each call's ids, its state, every decision
    explain(path)                   how the file was recognised, what else was weighed, what was not understood
    page(path, target=...)          the same as one HTML page, beside the request that is made of it
    write_page(path, output)        the page in a file, however long the conversation is
    write_pages(folder, output)     a page for each session below a folder, and a list of them
    sarif(reports)                  what `lint` found, as SARIF for code hosts and editors
    session_files(folder)           the files below a folder that may hold conversations

A source is a path, the bytes of a file, or a binary stream. Everything is returned as a frozen struct, nothing is
printed, and no file is written or replaced unless the caller says so. What cannot be done raises a `LegatoError`:
`FormatError` for a file that cannot be read or written, `SeveralConversations` where one has to be picked,
`UnknownTarget` for a target that names nothing, `RepairRefused` for a repair that would lose something. To work on the
conversations themselves, read them with `legato.formats`. Nothing is loaded before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from legato.files.conversion import Converted, Installed, convert, convert_all, install
    from legato.files.explanation import explain
    from legato.files.folders import session_files
    from legato.files.html.page_writing import PageSummary
    from legato.files.inspected import InspectedBlock, InspectedCall, InspectedEntry, Inspection
    from legato.files.inspection import inspect
    from legato.files.linting import LintReport, Unread, lint
    from legato.files.pages import FolderPages, page, write_page, write_pages
    from legato.files.repairing import Repaired, repair, repair_in_place
    from legato.files.sarif_log import sarif
    from legato.files.sources import Source

_HOMES = {
    "Converted": "conversion",
    "convert": "conversion",
    "convert_all": "conversion",
    "Installed": "conversion",
    "install": "conversion",
    "session_files": "folders",
    "explain": "explanation",
    "PageSummary": "html.page_writing",
    "FolderPages": "pages",
    "page": "pages",
    "write_page": "pages",
    "write_pages": "pages",
    "InspectedBlock": "inspected",
    "InspectedCall": "inspected",
    "InspectedEntry": "inspected",
    "Inspection": "inspected",
    "inspect": "inspection",
    "LintReport": "linting",
    "Unread": "linting",
    "lint": "linting",
    "Repaired": "repairing",
    "repair": "repairing",
    "repair_in_place": "repairing",
    "sarif": "sarif_log",
    "Source": "sources",
}

__all__ = [
    "Converted",
    "FolderPages",
    "InspectedBlock",
    "InspectedCall",
    "InspectedEntry",
    "Inspection",
    "Installed",
    "LintReport",
    "PageSummary",
    "Repaired",
    "Source",
    "Unread",
    "convert",
    "convert_all",
    "explain",
    "inspect",
    "install",
    "lint",
    "page",
    "repair",
    "repair_in_place",
    "sarif",
    "session_files",
    "write_page",
    "write_pages",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
