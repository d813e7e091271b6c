"""What the rules of every dialect share: collecting findings, judging a body as JSON, following calls and results.

In:  a request body as somebody is about to send it, right or wrong in any way.
Out: violations in `Findings`; the body is never changed, and nothing here raises.

The rules judge what `encode` printed, so they are written from what providers say and share no code with it. They run
before every send, on what is new in the body: each is one pass over the messages that can be taken back (see `judge`),
and what can be left to compiled code is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain
from types import NoneType
from typing import Any, TypeAlias, TypeGuard, cast

import msgspec

from legato.model import Capabilities, Json, JsonObject, ThinkingMode
from legato.wire.findings import Severity, Violation

MAX_DEPTH = 100
"""protobuf's JSON reader stops here, serde_json a little later"""


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


_QUOTED = 80


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

    def refuse(self, rule: str, path: str, message: str) -> None:
        """The provider refuses the request because of this."""
        self._add(rule, Severity.REFUSED, path, message)

    def risk(self, rule: str, path: str, message: str) -> None:
        """Some providers, models or versions refuse this, or the model suffers from it."""
        self._add(rule, Severity.RISKY, path, message)

    def _add(self, rule: str, severity: Severity, path: str, message: str) -> None:
        # A path is printed, and may name a field that cannot be.
        violation = Violation(rule, severity, path.encode(errors="replace").decode(), message)
        self.violations.append(violation)
        if severity is Severity.REFUSED:
            self.refused.append(violation)


Grown: TypeAlias = dict[str, None]
"""A set that only grows: to go back is to drop what was added last, so its length is all there is to remember."""


def shrink(grown: dict[str, Any], length: int) -> None:
    """Take back what was added to `grown` since it had this length."""
    while len(grown) > length:
        grown.popitem()


# --- calls and results ------------------------------------------------------------------------------------------------


class Pairing:
    """Follows calls that wait for results which have to stand right after them.

    `call` opens a block, `result` answers in it, `close` ends it; `end` comes after the last message. An unanswered
    call is reported at the end, because only then is it known whether its result is missing or merely too late.
    """

    __slots__ = ("_answered", "_excused", "_found", "_late", "_open", "_prefix", "_seen")

    def __init__(self, prefix: str, found: Findings) -> None:
        self._prefix = prefix
        self._found = found
        self._open: dict[str, str] = {}
        self._answered: set[str] = set()
        self._excused: Grown = {}
        self._late: dict[str, str] = {}
        self._seen: Grown = {}

    def save(self) -> Any:
        """The state, for `restore`: what waits at the moment is little and copied, the rest only grows."""
        return self._open.copy(), self._answered.copy(), self._late.copy(), len(self._excused), len(self._seen)

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        waiting, answered, late, excused, seen = saved
        self._open, self._answered, self._late = waiting.copy(), answered.copy(), late.copy()
        shrink(self._excused, excused)
        shrink(self._seen, seen)

    def knows(self, call_id: str) -> bool:
        """Whether a call had this id before."""
        return call_id in self._seen

    def call(self, call_id: str, path: str) -> None:
        """A call stands at `path`."""
        if call_id in self._open:
            self._found.refuse(
                f"{self._prefix}/duplicate-call-id", path, f"two calls of one answer share the id {brief(call_id)}"
            )
        elif call_id in self._seen:
            self._found.risk(
                f"{self._prefix}/repeated-id",
                path,
                f"the id {brief(call_id)} was used by an earlier call of this request",
            )
        self._seen[call_id] = None
        self._open[call_id] = path

    def result(self, call_id: str, path: str) -> None:
        """A result for `call_id` stands at `path`."""
        found, prefix = self._found, self._prefix
        if call_id in self._open:
            if call_id in self._answered:
                found.refuse(f"{prefix}/duplicate-result", path, f"the call {brief(call_id)} is answered twice")
            self._answered.add(call_id)
        elif (late := self._late.pop(call_id, None)) is not None:
            found.refuse(
                f"{prefix}/result-too-late",
                path,
                f"the result of {brief(call_id)} does not follow its call at {late} directly",
            )
        elif self._open:
            found.refuse(f"{prefix}/unknown-result", path, f"no call of the answer before has the id {brief(call_id)}")
        else:
            found.refuse(f"{prefix}/orphan-result", path, f"the result of {brief(call_id)} follows no calls")

    def excuse(self, call_id: str) -> None:
        """The call may stay without a result, and may still have one."""
        self._excused[call_id] = None

    def close(self) -> None:
        """What follows is no result: calls still open stay unanswered."""
        if self._open:
            if len(self._answered) < len(self._open):
                done, excused = self._answered, self._excused
                self._late.update(
                    (key, path) for key, path in self._open.items() if key not in done and key not in excused
                )
            self._open.clear()
            self._answered.clear()

    def end(self) -> None:
        """The request is over."""
        self.close()
        for call_id, path in self._late.items():
            self._found.refuse(
                f"{self._prefix}/unanswered-call", path, f"the call {brief(call_id)} has no result after it"
            )
        self._late.clear()


# --- strict JSON ------------------------------------------------------------------------------------------------------

_PLAIN = frozenset({str, int, bool, NoneType})
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_Node: TypeAlias = tuple[Any, str | int]
"""(the node above, the key or index in it): paths are built only for what is reported"""


def examine_json(body: Json, found: Findings) -> bool:
    """Judge `body` as JSON; whether it is an object, so that a dialect's own rules can read it."""
    if not is_object(body):
        found.refuse("json/not-json", "", "a request body is a JSON object")
        return False
    if not _is_clean(body, 1):
        _report(body, None, 1, found)
    return True


def examine_messages(messages: Sequence[Json], field: str, first: int, found: Findings) -> None:
    """Judge `messages` as JSON; they stand in `field` of the body, numbered from `first` on."""
    for start in range(0, len(messages), _PORTION):
        portion = messages[start : start + _PORTION]
        if not _is_clean([*portion], 2):
            for number, message in enumerate(portion, first + start):
                _report(message, ((None, field), number), 3, found)


_PORTION = 64
"""messages that are looked at together: more would not be quicker, and one bad one sends us to look at all of them"""


def _is_clean(value: JsonObject | list[Any], depth: int) -> bool:
    """The quick look at a value that stands so deep: one comprehension for each level, and one pass of the encoder.

    False only sends us to the slow one.
    """
    level: list[Any] = [value]
    for _ in range(depth, MAX_DEPTH + 1):
        objects: list[JsonObject] = [item for item in level if type(item) is dict]
        lists: list[list[Any]] = [item for item in level if type(item) is list]
        if len(objects) + len(lists) < len(level) and not all(map(_is_container_or_number, level)):
            return False
        below = chain(chain.from_iterable(map(_values, objects)), chain.from_iterable(lists))
        level = [item for item in below if type(item) not in _PLAIN]
        if not level:
            break
    else:
        return False
    try:
        encoded = msgspec.json.encode(value)
    except (TypeError, ValueError):
        return False
    return b"\\u000" not in encoded and b"\\u001" not in encoded


_values = dict[str, Any].values


def _is_container_or_number(item: Any) -> bool:
    return type(item) is dict or type(item) is list or (isinstance(item, float) and math.isfinite(item))


def _report(value: Json, node: _Node | None, depth: int, found: Findings) -> None:
    """The slow look: name every place. Iterative, because what is wrong may be the depth."""
    stack: list[tuple[Json, _Node | None, int]] = [(value, node, depth)]
    is_deep = False
    while stack:
        value, node, depth = stack.pop()
        if isinstance(value, str):
            _report_text(value, node, found)
        elif isinstance(value, dict | list):
            if depth > MAX_DEPTH and not is_deep:
                is_deep = True
                found.risk("json/too-deep", _path(node), f"nested deeper than {MAX_DEPTH} levels")
            pairs = value.items() if is_object(value) else enumerate(cast(list[Any], value))
            for key, item in pairs:
                if isinstance(key, str):
                    _report_text(key, (node, key), found)
                stack.append((item, (node, key), depth + 1))
        elif isinstance(value, float):
            if not math.isfinite(value):
                found.refuse("json/not-json", _path(node), f"{value} cannot be written in JSON")
        elif type(value) not in _PLAIN:
            found.refuse("json/not-json", _path(node), f"a value of type {type(value).__name__} is not JSON")


def _report_text(text: str, node: _Node | None, found: Findings) -> None:
    if _SURROGATE.search(text):
        found.refuse("json/lone-surrogate", _path(node), "half of a surrogate pair cannot be sent as UTF-8")
    elif match := _CONTROL.search(text):
        found.risk("json/control-character", _path(node), f"a text holds the control character U+{ord(match[0]):04X}")


def _path(node: _Node | None) -> str:
    keys: list[str | int] = []
    while node is not None:
        node, key = cast("tuple[_Node | None, str | int]", node)
        keys.append(key)
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in reversed(keys)).removeprefix(".")
