"""Write a conversation as a request body or as a session file, strictly, and say what could not be carried."""

from __future__ import annotations

from dataclasses import replace

from msgspec import to_builtins

from legato.errors import FormatError
from legato.formats import registry
from legato.formats.document import Document, FileNote
from legato.formats.format import Outgoing, Setting, Written, WrittenSession
from legato.formats.ids import is_uuid
from legato.model import Options
from legato.transcript.conversation import Conversation


def write(
    source: Document | Conversation,
    format: str,  # noqa: A002  # a format is a format
    *,
    model: str | None = None,
    setting: Setting | None = None,
    compacted: bool = False,
) -> Written:
    """`source` as a file of `format`.

    `model` names the model, or the whole route, that a request body is for. A body keeps the options of a document, a
    session file has no place for them. `setting` says where and when, for a session that does not say it itself.

    What the file's own agent had summarised is in a session file, and out of its agent's sight, where the format can
    tell both; where it cannot, and with `compacted`, only the summary is. A session file that is in `format` already
    keeps its own records, mended. Raises `FormatError` for a format that is not written.
    """
    known = registry.FORMATS.get(format)
    if known is None or known.write is None:
        raise FormatError(f"{format!r} is not a format that is written; those are {', '.join(registry.WRITTEN)}")
    if known.is_wire or isinstance(source, Conversation):
        return known.write(Outgoing(source, model))
    if source.format == format and source.original is not None and not compacted:
        from legato.formats.mending.mend import rewrite

        if (made := rewrite(source, source.original)) is not None:
            return Written(made.data, made.losses, session=_own_session(source))
    is_short = compacted or not known.keeps_compactions
    written = known.write(Outgoing(source, setting=setting or Setting(), compacted=is_short))
    return replace(written, losses=[*written.losses, *_lost_options(source.options)])


def _own_session(document: Document) -> WrittenSession | None:
    """What a session that keeps its own records says of itself, if that is enough to file it by."""
    own, cwd = document.meta.get("session", ""), document.meta.get("cwd", "")
    if not is_uuid(own) or not cwd:
        return None
    return WrittenSession(own, cwd, min(document.times.values(), default=Setting().at))


def _lost_options(options: Options) -> list[FileNote]:
    names = [name for name in to_builtins(options) if name not in ("cache", "stream", "extra")]
    names += sorted(options.extra)
    return (
        [FileNote("", f"the options of the request ({', '.join(names)}): a session file holds none")] if names else []
    )
