"""Write a conversation as a request body or as a session file, strictly, and say what could not be carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from legato.errors import FormatError
from legato.formats.document import Document, Note
from legato.formats.registry import FORMATS, WRITTEN
from legato.model import ToolSpec
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
    route: str = ""
    meta: dict[str, str] = field(default_factory=dict[str, str])


def write(source: Document | Conversation, format: str, *, model: str | None = None) -> Written:  # noqa: A002
    """`source` as a file of `format`.

    `model` names the model, or the whole route, that a request body is for. A session file that is in `format`
    already keeps its own records, mended. Raises `FormatError` for a format that is not written.
    """
    known = FORMATS.get(format)
    if known is None or not known.is_written:
        raise FormatError(f"{format!r} is not a format that is written; those are {', '.join(WRITTEN)}")
    if isinstance(source, Document):
        if source.format == format and source.original is not None and not known.is_wire:
            from legato.formats.mending import rewrite

            if (made := rewrite(source, source.original)) is not None:
                return Written(made.data, made.losses)
        out = Outgoing(source.conversation(), source.tools, source.route, source.meta)
    else:
        out = Outgoing(source)
    match format:
        case "claude-code":
            from legato.formats.claude_code_write import write_session

            return write_session(out)
        case "codex":
            from legato.formats.codex_write import write_session

            return write_session(out)
        case "legato":
            from legato.formats.legato_write import write_log

            return write_log(out)
        case _:
            from legato.formats.wire_write import write_body

            return write_body(out, format, model=model)
