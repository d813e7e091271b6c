"""Write a conversation as a request body or as a session file, strictly, and say what could not be carried."""

from __future__ import annotations

from dataclasses import replace

from msgspec import to_builtins

from legato.errors import FormatError
from legato.formats import registry
from legato.formats.document import Document, FileNote
from legato.formats.format import Outgoing, Written
from legato.model import Options
from legato.transcript.conversation import Conversation


def write(source: Document | Conversation, format: str, *, model: str | None = None) -> Written:  # noqa: A002
    """`source` as a file of `format`.

    `model` names the model, or the whole route, that a request body is for. A body keeps the options of a document, a
    session file has no place for them. A session file that is in `format` already keeps its own records, mended.
    Raises `FormatError` for a format that is not written.
    """
    known = registry.FORMATS.get(format)
    if known is None or known.write is None:
        raise FormatError(f"{format!r} is not a format that is written; those are {', '.join(registry.WRITTEN)}")
    if known.is_wire or isinstance(source, Conversation):
        return known.write(Outgoing(source, model))
    if source.format == format and source.original is not None:
        from legato.formats.mending.mend import rewrite

        if (made := rewrite(source, source.original)) is not None:
            return Written(made.data, made.losses)
    written = known.write(Outgoing(source))
    return replace(written, losses=[*written.losses, *_lost_options(source.options)])


def _lost_options(options: Options) -> list[FileNote]:
    names = [name for name in to_builtins(options) if name not in ("cache", "stream", "extra")]
    names += sorted(options.extra)
    return (
        [FileNote("", f"the options of the request ({', '.join(names)}): a session file holds none")] if names else []
    )
