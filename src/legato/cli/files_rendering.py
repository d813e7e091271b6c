"""From a document to a request for a target: the conversation, its tools, and as many of its options as fit."""

from __future__ import annotations

from msgspec.structs import replace

from legato.errors import FormatError, ImpossibleRequest
from legato.formats import Document, Note
from legato.formats.wire_shapes import WIRE_DIALECTS
from legato.model import Options, Target
from legato.request import Request, render
from legato.wire.dialects import dialect_parts


def render_document(document: Document, target: Target, *, compacted: bool = False) -> tuple[Request, list[Note]]:
    """The request, and notes on options that could not be carried.

    With `compacted`, what the file's own agent had summarised stays out of the request. Raises `FormatError` for a
    conversation in which nothing was said, and `RenderError` if the provider would refuse the body: nothing that is
    broken leaves here.
    """
    talk = document.conversation(compacted=compacted)
    options, notes = _carried(document, target)
    try:
        request = render(talk, target, tools=document.tools, options=options)
    except ImpossibleRequest as error:
        notes = [*notes, Note("", f"the options of the request were not carried: {error.message}")]
        request = render(talk, target, tools=document.tools, options=Options(cache=False))
    if not request.body[dialect_parts(target.dialect).messages_field]:
        raise FormatError(f"{document.name}: it holds nothing that could be sent to a model")
    request.verify()
    return request, notes


def _carried(document: Document, target: Target) -> tuple[Options, list[Note]]:
    """The options of the file for `target`. Fields without a neutral name mean something only in their own dialect."""
    options = replace(document.options, cache=False)
    if not options.extra or WIRE_DIALECTS.get(document.format) is target.dialect:
        return options, []
    names = ", ".join(sorted(options.extra))
    return replace(options, extra={}), [Note("", f"fields that only {document.format} knows were not carried: {names}")]
