"""Print plain units in a row, for dialects in which a unit becomes whole messages.

In:  units in order, what prints one of them for the target, and the messages that were printed so far.
Out: the same messages with all units printed up to the first that is not plain.

A long history is nearly all plain: a person's text, an answer of text and calls, for each call a text. Each such unit
becomes what `spell` would make of it, without asking each block what it is. All that is decided about it is what the
target demands of every such unit, a bridge or a placeholder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from legato.model import Authority, Decision, JsonObject, Text
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Projected

_PERSON = Authority.PERSON
_HUMAN, _ANSWER, _RESULTS = End.HUMAN, End.ANSWER, End.RESULTS


class PlainPrinter(Protocol):
    """Prints plain units for one target; `before` is how the unit before ended."""

    def said(self, text: str, before: End) -> list[JsonObject]:
        """A person's words."""
        ...

    def exchange(self, unit: Exchange, outputs: Sequence[str], before: End) -> list[JsonObject] | None:
        """An answer and its results, which are texts; None if the target cannot take them as they are."""
        ...

    def decided(self, unit: Said | Exchange, before: End) -> tuple[Decision, ...]:
        """What was decided about a unit that was printed."""
        ...


def print_plain(
    printer: PlainPrinter, units: Sequence[Unit | None], first: int, page: Assembly, projected: Projected
) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    messages, starts, ends = page.messages, page.starts, page.ends
    end = page.end
    for number in range(first, len(units)):
        unit, before = units[number], end
        if type(unit) is Said:
            text = unit.blocks[0]
            if len(unit.blocks) > 1 or type(text) is not Text or unit.authority is not _PERSON:
                return
            printed, end = printer.said(text.text, before), _HUMAN
        elif type(unit) is Exchange and unit.outputs is not None:
            printed = printer.exchange(unit, unit.outputs, before)
            end = _RESULTS if unit.outputs else _ANSWER
        else:
            return
        if printed is None:
            return
        if decisions := printer.decided(unit, before):
            projected[len(ends)] = decisions
        starts.append((len(messages), 0))
        messages += printed
        ends.append(end)
