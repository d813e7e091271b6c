"""Write a conversation as a request body or as a session file, strictly, and say what could not be carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from msgspec import to_builtins

from legato.errors import FormatError
from legato.formats.document import Document, Note
from legato.formats.registry import FORMATS, WRITTEN
from legato.model import Options, ToolSpec
from legato.request.report import RenderReport
from legato.transcript.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Written:
    """A file, what it does not hold of the conversation, and for a request body the report of its rendering."""

    data: bytes
    losses: list[Note] = field(default_factory=list[Note])
    report: RenderReport | None = None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a writer is given."""

    talk: Conversation
    tools: Sequence[ToolSpec] = ()
    meta: dict[str, str] = field(default_factory=dict[str, str])


def write(source: Document | Conversation, format: str, *, model: str | None = None) -> Written:  # noqa: A002
    """`source` as a file of `format`.

    `model` names the model, or the whole route, that a request body is for. A body keeps the options of a document, a
    session file has no place for them. A session file that is in `format` already keeps its own records, mended.
    Raises `FormatError` for a format that is not written.
    """
    known = FORMATS.get(format)
    if known is None or not known.is_written:
        raise FormatError(f"{format!r} is not a format that is written; those are {', '.join(WRITTEN)}")
    if known.is_wire:
        from legato.formats.wire.write import write_body

        return write_body(source, format, model=model)
    if isinstance(source, Conversation):
        return _write_session(Outgoing(source), format)
    if source.format == format and source.original is not None:
        from legato.formats.mending.mend import rewrite

        if (made := rewrite(source, source.original)) is not None:
            return Written(made.data, made.losses)
    written = _write_session(Outgoing(source.conversation(), source.tools, source.meta), format)
    return replace(written, losses=[*written.losses, *_lost_options(source.options)])


def _write_session(out: Outgoing, format: str) -> Written:  # noqa: A002
    match format:
        case "claude-code":
            from legato.formats.claude_code.write import write_session

            return write_session(out)
        case "codex":
            from legato.formats.codex.write import write_session

            return write_session(out)
        case _:
            from legato.formats.log import write_log

            return write_log(out)


def _lost_options(options: Options) -> list[Note]:
    names = [name for name in to_builtins(options) if name not in ("cache", "stream", "extra")]
    names += sorted(options.extra)
    return [Note("", f"the options of the request ({', '.join(names)}): a session file holds none")] if names else []
