"""Write request bodies through the renderer."""

from __future__ import annotations

from legato.errors import FormatError
from legato.formats.document import Note
from legato.formats.origins import dialect_of, route_of
from legato.formats.wire_shapes import WIRE_DIALECTS, WIRE_PROVIDERS
from legato.formats.writing import Outgoing, Written
from legato.model import Action, Decision
from legato.request.render import render

_LOST = frozenset({Action.DROPPED, Action.CONVERTED, Action.QUOTED, Action.ADJUSTED, Action.RENAMED})


def write_body(out: Outgoing, format: str, *, model: str | None = None) -> Written:  # noqa: A002
    """The conversation as a request for the provider that `format` names."""
    request = render(out.talk, choose_route(format, model, out.route), tools=out.tools)
    if not request.report.emitted and not _says_anything(out):
        raise FormatError("the conversation is empty; there is nothing to ask a model")
    losses = [Note("", decision_told(item)) for item in request.report.decisions if item.action in _LOST]
    return Written(request.json(), losses, request.report)


def _says_anything(out: Outgoing) -> bool:
    view = out.talk.view()
    view.refresh()
    return any(True for _ in view.units())


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
