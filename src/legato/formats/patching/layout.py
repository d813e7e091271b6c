"""Carry out a plan on records that are simply in order, without links between them.

In:  a plan, and how a record is changed or made in this format.
Out: the records of the mended file in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from legato.formats.patching.plan import MendStep, Plan
from legato.formats.patching.records import Changed
from legato.model import JsonObject

Laid: TypeAlias = int | Changed | JsonObject
"""a record that stays as it was, given by its index, a changed one, or a new one"""


def lay_out(
    count: int,
    plan: Plan,
    *,
    change: Callable[[MendStep], JsonObject],
    make: Callable[[MendStep], Iterable[JsonObject]],
) -> list[Laid]:
    """The records of the mended file, of which there were `count`.

    Records that the plan does not know stay where they are. What is new, or moved, comes directly behind the record
    that it follows in the plan.
    """
    gone = {step.record for step in plan.steps if step.is_moved} | plan.removed
    after: dict[int, list[Laid]] = {}
    changed: dict[int, Changed] = {}
    anchor = -1
    for step in plan.steps:
        if step.record >= 0 and step.is_changed:
            changed[step.record] = Changed(step.record, change(step))
        if step.record >= 0 and not step.is_moved:
            anchor = step.record
        elif step.record >= 0:
            after.setdefault(anchor, []).append(changed.get(step.record, step.record))
        else:
            after.setdefault(anchor, []).extend(make(step))
    out: list[Laid] = [*after.get(-1, [])]
    for index in range(count):
        if index not in gone:
            out.append(changed.get(index, index))
        out += after.get(index, [])
    return out
