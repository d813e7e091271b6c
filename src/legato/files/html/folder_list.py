"""The page that lists the pages of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from legato.files.html.page_writing import PageSummary
from legato.files.html.shell import data_element, frame

INDEX = "index.html"

_UNUSUAL = re.compile(r"[^\w.-]+")
_LONGEST = 120
"""characters of a file's name: every file system takes them, and what is added to tell two apart"""


class PageNames:
    """Names of pages in one folder, after the files that they show; no two are the same."""

    def __init__(self) -> None:
        self._taken = {INDEX}

    def name(self, file: Path) -> str:
        """The name of the page of `file`, whose path is that below the folder."""
        stem = _UNUSUAL.sub("-", "-".join(file.with_suffix("").parts)).strip("-.")[-_LONGEST:] or "page"
        name, number = f"{stem}.html", 1
        while name.lower() in self._taken:  # on some file systems names that differ in case are the same
            number += 1
            name = f"{stem}-{number}.html"
        self._taken.add(name.lower())
        return name


def list_page(
    folder: str, pages: Iterable[tuple[str, str, PageSummary]], unread: Sequence[tuple[str, str]]
) -> list[bytes]:
    """The list: of each page its name, the file that it shows, and what is on it; and what could not be shown."""
    rows = [{"page": page, "file": file, **msgspec.to_builtins(summary)} for page, file, summary in pages]
    before, behind = frame("folder", ("elements", "folder"), title=f"Sessions in {folder}")
    data = data_element("sessions", {"folder": folder, "rows": rows, "unread": unread})
    return [before, data, behind, b"</body>\n</html>\n"]
