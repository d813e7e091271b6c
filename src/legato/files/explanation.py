"""Say how a file was recognised and read, and what of it was not understood.

In:  a file, and the format that the caller says it is in, if any.
Out: an `Explanation` without secrets.
"""

from __future__ import annotations

import msgspec

from legato.diagnostics import Redactor
from legato.files.sources import Progress, Source
from legato.formats import Explanation
from legato.formats.explaining import explain_format


def explain(
    source: Source,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Explanation:
    """How `source` is read, as `format` if that is named, and why: see `Explanation`.

    A file of which nothing can be read has an explanation too, with its `error`. Raises `FormatError` for what cannot
    be opened, and for what is neither JSON nor lines of JSON.
    """
    told = explain_format(source, format=format, name=name, progress=progress)
    return msgspec.convert(Redactor().value(msgspec.to_builtins(told)), Explanation)
