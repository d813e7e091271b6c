"""Messages of one provider in, a request for another out: `parse` and `render` in one call.

In:  a request body, or its messages alone, whom they were written for, and who is to answer.
Out: a `Request` that was verified; its report tells what could not be read, and what the target does not take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from legato.model import Action, Decision, Fault, Options, Target, ThinkingPolicy
from legato.request.catalogue import Catalogue, resolve
from legato.request.conceding import with_less
from legato.request.parsing import Body, parse
from legato.request.rendering import render
from legato.request.request import Request
from legato.wire.contract import Parsed


def carry(
    messages: Body,
    source: str | Target,
    target: str | Target,
    *,
    tools: Iterable[object] | None = None,
    system: str | None = None,
    options: Options | None = None,
    thinking: ThinkingPolicy | None = None,
    catalogue: Catalogue | None = None,
) -> Request:
    """A request for `target` that says what `messages` say, which were written for `source`.

    `messages` and `source` are what `parse` takes. Tools, instructions and options of a whole body go along unless they
    are given here; of `options`, each one that is not at its default counts as given. What the body asks for and the
    target refuses stays behind; `report.decisions` say so, as they do of what was not understood. Raises
    `UnknownTarget`, `FormatError` for what is no such request, and `ImpossibleRequest` for what is given here and
    cannot be.
    """
    goal = resolve(target, catalogue)
    parsed = parse(messages, source, catalogue=catalogue)
    talk = (parsed if system is None else structs.replace(parsed, system=system)).into_conversation()
    offered = parsed.tools if tools is None else list(tools)

    def make(brought: Options) -> Request:
        request = render(talk, goal, tools=offered, options=_over(brought, options), thinking=thinking)
        request.verify()
        return request

    request, conceded = with_less(parsed.options, make)
    request.mention(_told(parsed, conceded))
    return request


def _over(brought: Options, given: Options | None) -> Options:
    """The options that were brought, with those in their place that are given."""
    if given is None:
        return brought
    usual = Options()
    changed = {
        name: value for name in Options.__struct_fields__ if (value := getattr(given, name)) != getattr(usual, name)
    }
    if "extra" in changed:
        changed["home"] = given.home  # who understands these fields, which are no longer those of the body
    return structs.replace(brought, **changed)


def _told(parsed: Parsed, conceded: str) -> Iterator[Decision]:
    for note in parsed.notes:
        yield Decision(Action.DROPPED, "not-carried", Fault.CANONICAL, note)
    for note in parsed.adjusted:
        yield Decision(Action.ADJUSTED, "out-of-form", Fault.CANONICAL, note)
    if conceded:
        yield Decision(Action.DROPPED, "refused-options", Fault.PROJECTION, conceded)
