"""What the checks of every dialect share: collecting findings, and looking at JSON that may be wrong in any way.

In:  a request body as someone is about to send it.
Out: violations in `Findings`; the body is never changed, and nothing here raises.

The rules judge what `encode` printed, so they are written from what providers say and share no code with it. They run
before every send, on what is new in the body: each is one pass over the messages that can be taken back (see `judge`),
and what can be left to compiled code is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeGuard, cast

import msgspec

from legato.model import Capabilities, Json, JsonObject, ThinkingMode
from legato.model.lasting import Lasting
from legato.wire.findings import Severity, Violation


def is_object(value: Json) -> TypeGuard[JsonObject]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Any]]:
    """Whether `value` is a JSON array."""
    return isinstance(value, list)


def holds_object(text: str) -> bool:
    """Whether `text` is the JSON of an object, as a server that parses arguments reads it."""
    if text == "{}":
        return True
    try:
        _OBJECTS.decode(text)
    except (ValueError, RecursionError):  # msgspec's and Unicode's errors are ValueErrors
        return False
    return True


_OBJECTS = msgspec.json.Decoder(dict[str, Any])


def knows_effort(capabilities: Capabilities, effort: str) -> bool:
    """Whether a model is known to take `effort`, or nothing is known of its efforts because it does not think."""
    mode = capabilities.thinking
    if mode is ThinkingMode.NEVER or effort in capabilities.efforts:
        return True
    return effort == "none" and mode not in (ThinkingMode.ALWAYS, ThinkingMode.EFFORT)


def brief(value: Json) -> str:
    """`value` as a message may quote it: short, and without walking into what is nested."""
    if isinstance(value, str):
        return repr(value) if len(value) <= _QUOTED else f"{value[:_QUOTED]!r}…"
    if is_object(value):
        return "an object"
    return "an array" if is_list(value) else repr(value)[:_QUOTED]


_QUOTED = 80  # our choice: one line of a terminal


class ReportableRule(Protocol):
    """What a finding says of its rule: a declared `WireRule`, or a host's own."""

    @property
    def id(self) -> str: ...

    @property
    def severity(self) -> Severity: ...


class Findings:
    """The violations found so far, in the order of finding, and those of them that get a request refused."""

    __slots__ = ("refused", "violations")

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self.refused: list[Violation] = []

    def save(self) -> tuple[int, int]:
        """How much was found so far, for `restore`."""
        return len(self.violations), len(self.refused)

    def restore(self, saved: tuple[int, int]) -> None:
        """Forget what was found since."""
        del self.violations[saved[0] :], self.refused[saved[1] :]

    def report(self, rule: ReportableRule, path: str, message: str) -> None:
        """The request breaks `rule` at `path`."""
        # A path is printed, and may name a field that cannot be.
        violation = Violation(rule.id, rule.severity, path.encode(errors="replace").decode(), message)
        self.violations.append(violation)
        if rule.severity is Severity.REFUSED:
            self.refused.append(violation)

    def add(self, others: Findings) -> None:
        """What was found elsewhere comes next."""
        self.violations += others.violations
        self.refused += others.refused


def examine_once(listed: Json, examine: Callable[[Json, Findings], None], found: Findings) -> None:
    """Let `examine` judge what is `listed`; a list that lasts, such as the tools of every request, is judged once.

    What is found in it must depend on nothing but the list.
    """
    if not isinstance(listed, Lasting):
        examine(listed, found)
        return
    lasting = cast("Lasting[Any]", listed)

    def judged() -> Findings:
        in_list = Findings()
        examine(lasting, in_list)
        return in_list

    found.add(lasting.once(examine, judged))


Grown: TypeAlias = dict[str, None]
"""A set that only grows: to go back is to drop what was added last, so its length is all there is to remember."""


def shrink(grown: dict[str, Any], length: int) -> None:
    """Take back what was added to `grown` since it had this length."""
    while len(grown) > length:
        grown.popitem()
