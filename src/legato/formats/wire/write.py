"""Write request bodies through the renderer."""

from __future__ import annotations

from legato.errors import FormatError
from legato.formats.document import Document, FileNote
from legato.formats.format import Written
from legato.formats.origins import dialect_of, route_of
from legato.formats.requesting import request_for
from legato.formats.wire.shapes import WIRE_DIALECTS, WIRE_PROVIDERS
from legato.model import Action, Decision
from legato.request.catalogue import resolve
from legato.transcript.conversation import Conversation

_LOST = frozenset({Action.DROPPED, Action.CONVERTED, Action.QUOTED, Action.ADJUSTED, Action.RENAMED})


def write_body(source: Document | Conversation, format: str, *, model: str | None = None) -> Written:  # noqa: A002
    """The conversation as a request for the provider that `format` names, on a line of its own."""
    own = source.route if isinstance(source, Document) else ""
    request, losses = request_for(source, resolve(choose_route(format, model, own)))
    lost = [item for item in request.report.decisions if item.action in _LOST]
    told = {note.message for note in losses}
    losses += [FileNote("", decision_told(item)) for item in lost if item.detail not in told]
    return Written(request.json() + b"\n", losses, request.report)


def choose_route(format: str, model: str | None, own: str = "") -> str:  # noqa: A002
    """The route of a body in `format`: of the model asked for, else the file's own if it fits, else a usual one."""
    provider = WIRE_PROVIDERS[format]
    if model:
        named = model.partition("/")[0]
        if "/" not in model or dialect_of(named) is None:
            return f"{provider}/{model}"
        if dialect_of(named) is not WIRE_DIALECTS[format]:
            raise FormatError(f"{model} is not asked in the form of {format}; choose another model or another format")
        return model
    return own if own.partition("/")[0] == provider else route_of(provider, "")


def decision_told(decision: Decision) -> str:
    """What a render decided, for a note."""
    calls = f" ({', '.join(decision.calls)})" if decision.calls else ""
    return f"{decision.action.value} {decision.reason}{': ' if decision.detail else ''}{decision.detail}{calls}"
