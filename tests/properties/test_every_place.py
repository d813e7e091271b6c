"""What is kept of answers and of request bodies is safe, whatever stands at any one place of them.

All places are tried, for chance may pass one over for weeks. Streams have the like in test_streamed_values, files of
programs in test_format_readers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from legato import Conversation, parse, render
from legato.errors import BadAnswer, FormatError
from legato.model import Dialect
from mutation_seeds import ROUTE_OF, answers, bodies
from safe_values import assert_safe

from builders import user

ODD = (None, 0, 10**400, "", "half \ud83c", "a\0b", [], [None], {}, {"\0": {"\ud800": float("inf")}})
NAMES = ("a\0b", "half \ud83c")
dialects = pytest.mark.parametrize("dialect", Dialect)


@dialects
def test_any_value_at_any_place_of_an_answer_leaves_it_safe_or_refused(dialect: Dialect) -> None:
    talk = Conversation()
    talk.record(user("go"))
    request = render(talk, ROUTE_OF[dialect])
    for answer in answers(dialect, recorded=False):
        for changed in with_odd_values(answer):
            try:
                read = request.decode(changed)
            except BadAnswer as error:
                assert_safe({**error.facts, "message": error.message})
            else:
                assert_safe(read)


@dialects
def test_any_value_at_any_place_of_a_request_leaves_what_is_read_safe(dialect: Dialect) -> None:
    for changed in with_odd_values(max(bodies(dialect, recorded=False), key=lambda body: len(str(body)))):
        try:
            parsed = parse(changed, ROUTE_OF[dialect])
        except FormatError:
            continue  # without messages it is no request
        assert_safe([parsed.entries, parsed.system, parsed.tools, parsed.options, [*map(str, parsed.notes)]])


def with_odd_values(value: Any) -> Iterator[bytes]:
    """`value` as JSON, with each odd value at each of its places, and each of its names changed to an odd one."""
    value = json.loads(json.dumps(value))
    for holder, key in list(slots(value)):
        kept = holder[key]
        for odd in ODD:
            holder[key] = odd
            yield json.dumps(value).encode()
        holder[key] = kept
        if isinstance(holder, dict):
            for name in NAMES:
                holder[name] = holder.pop(key)
                yield json.dumps(value).encode()
                holder[key] = holder.pop(name)


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in `value` that holds something."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from slots(value[key])
