"""Write request bodies through the renderer, and mend those that came in."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

import msgspec
from msgspec.structs import replace

from legato.errors import FormatError, ImpossibleRequest
from legato.formats.document import Document, Note, Original
from legato.formats.fields import as_list, as_object
from legato.formats.mending import Mended
from legato.formats.origins import dialect_of, route_of
from legato.formats.wire_shapes import WIRE_DIALECTS, WIRE_PROVIDERS, body_of
from legato.formats.writing import Outgoing, Written
from legato.model import Action, Decision, Json, JsonObject, Options, Target
from legato.request.catalogue import resolve
from legato.request.render import render
from legato.request.request import Request
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity

_FIELD = re.compile(r"[.\[]")
_LOST = frozenset({Action.DROPPED, Action.CONVERTED, Action.QUOTED, Action.ADJUSTED, Action.RENAMED})


def write_body(out: Outgoing, format: str, *, model: str | None = None) -> Written:  # noqa: A002
    """The conversation as a request for the provider that `format` names."""
    request = render(out.talk, choose_route(format, model, out.route), tools=out.tools)
    if not request.report.emitted and not _says_anything(out):
        raise FormatError("the conversation is empty; there is nothing to ask a model")
    losses = [Note("", _told(item)) for item in request.report.decisions if item.action in _LOST]
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


def mend_body(document: Document, original: Original) -> Mended:
    """The body as it is if its provider would take it; else with its messages rendered anew and all else kept."""
    body = body_of(original.value)
    route = document.route or route_of(WIRE_PROVIDERS[document.format], "")
    target = resolve(route)
    parts = dialect_parts(target.dialect)
    found = [item for item in parts.check(body, target) if item.severity is Severity.REFUSED]
    if not found:
        return Mended(original.data)
    request = _rendered(document, target)
    mended = _merged(body, request, parts.messages_field)
    changes = [Note(item.path, f"{item.message} ({item.rule})") for item in found]
    changes += [Note("", _told(item)) for item in request.report.decisions]
    changes += _changed_fields(body, mended, parts.messages_field)
    value: Any = mended if isinstance(original.value, dict) else mended[parts.messages_field]
    encoded = msgspec.json.encode(value)
    is_pretty = b"\n" in original.data.strip()
    return Mended(msgspec.json.format(encoded, indent=2) + b"\n" if is_pretty else encoded, changes)


def _rendered(document: Document, target: Target) -> Request:
    """The conversation for its own provider, under the file's own options where the provider takes them."""
    talk = document.conversation()
    try:
        return render(talk, target, tools=document.tools, options=replace(document.options, cache=False))
    except ImpossibleRequest:
        return render(talk, target, tools=document.tools, options=Options(cache=False))


def _changed_fields(before: JsonObject, after: JsonObject, messages: str) -> list[Note]:
    """What changed around the messages."""
    names = [name for name in {**before, **after} if name != messages and before.get(name) != after.get(name)]
    return [
        Note(name, "was added" if name not in before else "was left out" if name not in after else "was changed")
        for name in names
    ]


def _merged(body: JsonObject, request: Request, field: str) -> JsonObject:
    """`body` with the rendered messages; of the rest only what it lacked, and what its provider would refuse."""
    rendered = request.copy()
    lead, new_lead = _leading(body.get(field)), _leading(rendered[field])
    merged = {**body, field: [*lead, *rendered[field][len(new_lead) :]]}
    if "tools" not in body and "tools" in rendered:
        merged["tools"] = rendered["tools"]
    for name in _refused_fields(merged, request.target):
        if name in rendered:
            merged[name] = rendered[name]
        else:
            merged.pop(name, None)
    return rendered if _refused_fields(merged, request.target) else merged


def _refused_fields(body: JsonObject, target: Target) -> set[str]:
    """The fields of a body that its provider would not take."""
    found = dialect_parts(target.dialect).check(body, target)
    return {_FIELD.split(item.path)[0] for item in found if item.severity is Severity.REFUSED}


def _leading(messages: Json) -> list[Json]:
    """The instructions that a list of messages begins with; what they say is not what is mended."""
    return list(takewhile(lambda item: as_object(item).get("role") in ("system", "developer"), as_list(messages)))


def _told(decision: Decision) -> str:
    calls = f" ({', '.join(decision.calls)})" if decision.calls else ""
    return f"{decision.action.value} {decision.reason}{': ' if decision.detail else ''}{decision.detail}{calls}"
