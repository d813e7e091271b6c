"""What an error says about who was wrong: a fault class, the calls it concerns, and the rule that was broken.

In:  an exception.
Out: a `Diagnosis`, as plain data.

The three classes are those of the decisions in a report: the canonical state (the log or the ledger contradicts
itself), rendering (a unit that breaks pairing or order) and projection (the provider's ids and shapes). Where a rule is
named, by our own gate or by a provider, the class is that of the rule (`causes`): a missing result is a fault of
rendering whoever noticed it. An error that is no one's fault of ours (a network that is down, a file that is not there)
has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from legato.diagnostics.causes import FORM, Cause, cause_of
from legato.errors import CanonicalError, LegatoError, ProjectionError, ProtocolRefused, ProviderError, RenderError
from legato.model import CallId, Fault

_UNNAMED: tuple[tuple[type[LegatoError], Cause], ...] = (
    (CanonicalError, Cause(Fault.CANONICAL, "the log or the ledger contradicts itself")),
    (RenderError, Cause(Fault.RENDERING, "a unit breaks pairing or order")),
    (ProjectionError, Cause(Fault.PROJECTION, "the projection of ids or names contradicts itself")),
    (ProtocolRefused, FORM),  # found by the provider, but it was we who wrote it
)
"""what an error is due to that names no rule"""

_UNKNOWN = "unknown"
"""the rule of a refusal in words that no one has written down yet"""

_CANONICAL_ID = re.compile(r"hist_tool_[A-Za-z0-9_-]+")
_NAMING = ("calls", "call", "call_id", "results")
"""facts of an error that name calls, in this order"""


class Diagnosis(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One error, explained. `fault` is empty where Legato broke no promise."""

    error: str
    """the type of the error"""
    message: str
    fault: Fault | None = None
    cause: str = ""
    """the rule that was broken, if one is named"""
    why: str = ""
    is_refusal: bool = False
    """whether a provider, or the way to it, said no, rather than we ourselves"""
    calls: tuple[CallId, ...] = ()
    layer: str = ""
    rules: tuple[str, ...] = ()
    """the rules of the provider that a request would have broken"""
    facts: dict[str, Any] = {}


def fault_of(error: BaseException) -> Fault | None:
    """The fault class of `error`; None if the fault is not Legato's."""
    cause = _due_to(error)[1]
    return None if cause is None else cause.fault


def diagnose(error: BaseException, *, context: bytes | str = b"") -> Diagnosis:
    """What `error` says. `context` is what was being read when it happened: calls are named from it too."""
    facts = error.facts if isinstance(error, LegatoError) else {}
    text = context.decode(errors="replace") if isinstance(context, bytes) else context
    message = str(error) or type(error).__name__
    calls = dict.fromkeys([*_named(facts), *_found(message), *_found(text)])
    rule, cause = _due_to(error)
    return Diagnosis(
        error=type(error).__name__,
        message=message,
        fault=None if cause is None else cause.fault,
        cause=rule,
        why="" if cause is None else cause.why,
        is_refusal=isinstance(error, ProviderError),
        calls=tuple(calls),
        layer=str(facts.get("layer") or ""),
        rules=tuple(dict.fromkeys(_rules(facts))),
        facts={name: value for name, value in facts.items() if _is_plain(value)},
    )


def _due_to(error: BaseException) -> tuple[str, Cause | None]:
    """The rule that `error` names, and what that is due to: what the provider said first, then what our rules say."""
    if isinstance(error, RenderError | ProtocolRefused):
        said = error.facts.get("rule")
        rules = [said] if isinstance(said, str) and said not in ("", _UNKNOWN) else list(_rules(error.facts))
        if rules:
            return rules[0], cause_of(rules[0])
    for kind, cause in _UNNAMED:
        if isinstance(error, kind):
            return "", cause
    return "", None


def _named(facts: Mapping[str, Any]) -> Iterator[CallId]:
    """The calls that the facts of an error name, and those that the report inside them decided about."""
    for name in _NAMING:
        value = facts.get(name)
        if isinstance(value, str):
            yield CallId(value)
        elif isinstance(value, list | tuple):
            yield from (CallId(str(item)) for item in cast("Iterable[object]", value))
    report = facts.get("report")
    if isinstance(report, dict):
        told = cast("dict[str, Any]", report)
        decided = [call for decision in told.get("decisions", ()) for call in decision.get("calls", ())]
        yield from map(CallId, decided or told.get("calls_seen", ()))


def _found(text: str) -> Iterator[CallId]:
    return (CallId(match[0]) for match in _CANONICAL_ID.finditer(text))


def _rules(facts: Mapping[str, Any]) -> Iterator[str]:
    for violation in facts.get("violations") or ():
        if isinstance(violation, dict):
            yield str(cast("dict[str, Any]", violation).get("rule", ""))


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | tuple | dict)
