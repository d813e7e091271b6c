"""Judge a request as it grows: only what is new in it, and never otherwise than all of it at once would be judged.

In:  the rules of a dialect, and the messages of a body in portions.
Out: violations, the same in the same order however the messages came.

The rules about messages are a fold: a `MessageJudge` takes one message after the other and keeps what it has to know
for the next ones. Its state can be saved and restored, so a `Judge` goes back where messages were taken away again, and
judges what is at the end of one request without keeping it. `Ruleset.check` judges a whole body by the same fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from legato.model import Json, JsonObject, Target
from legato.wire.checkpoints import Checkpoints
from legato.wire.findings import Violation
from legato.wire.judging import Findings, is_list, is_object
from legato.wire.judging_json import examine_json, examine_messages


class MessageJudge(Protocol):
    """The rules of a dialect about messages, as a fold. What it finds goes to the `Findings` it was made with."""

    def message(self, index: int, message: Json) -> None:
        """Judge the next message, which is at `index`."""
        ...

    def end(self, fields: JsonObject) -> None:
        """Judge how the request ends, and what never was answered; `fields` are those beside the messages."""
        ...

    def save(self) -> Any:
        """The state, for `restore`. It stays valid until an older one is restored."""
        ...

    def restore(self, saved: Any) -> None:
        """Go back to a state that was saved, as often as one likes."""
        ...


class Ruleset(Struct, frozen=True, kw_only=True):
    """The rules of one dialect as what they need to see: the fields beside the messages, the messages, the end."""

    messages_field: str
    mode: Callable[[JsonObject, Target], Any]
    """what of the fields and the target the messages are judged by: a value that can be compared"""
    judge: Callable[[Any, Findings], MessageJudge]
    """(mode, where findings go)"""
    head: Callable[[JsonObject, Target, Findings], None]
    """judges the fields beside the messages"""
    no_messages: Callable[[JsonObject, Findings], None]
    """judges a body without messages: they are missing, none, or no array"""
    takes_none: bool = False
    """whether the API takes an array without messages"""
    takes_single: bool = False
    """whether it takes one message that is in no array"""

    def check(self, body: JsonObject, target: Target) -> list[Violation]:
        """What `target` would hold against `body`; the body is not changed, and no body makes this raise."""
        if not is_object(body):
            found = Findings()
            examine_json(body, found)
            return found.violations
        messages = body.get(self.messages_field)
        if self.takes_single and is_object(messages):
            messages = [messages]
        if not is_list(messages):
            return Judge(self, target, self.mode(body, target)).violations(body, None)
        fields = {name: value for name, value in body.items() if name != self.messages_field}
        return Judge(self, target, self.mode(fields, target)).violations(fields, messages)


class Judge:
    """Judges the messages of one target, under fields of one mode, from request to request."""

    def __init__(self, rules: Ruleset, target: Target, mode: Any, first: Sequence[Json] = ()) -> None:
        """`first` are messages that come before all others and are not counted among them."""
        self.count = 0
        """how many messages were judged"""
        self._rules = rules
        self._target = target
        self._first = len(first)
        self._as_json, self._found = Findings(), Findings()
        self._fold = rules.judge(mode, self._found)
        self._head: tuple[JsonObject, Findings, Findings] | None = None
        """the newest fields, and what was found in them"""
        self._take(first, 0)
        self._checkpoints = Checkpoints(self._save())

    def move_to(self, messages: Sequence[Json], count: int) -> None:
        """Come to have judged the first `count` of `messages`; those that were judged before are the same ones."""
        self.cut(count)
        try:
            while self.count < count:
                stop = min(count, self._checkpoints.next)
                self._take(messages[self.count : stop], self._first + self.count)
                self.count = stop
                if stop == self._checkpoints.next:
                    self._checkpoints.keep(stop, self._save())
        except BaseException:  # interrupted in the middle of a message: what it left is in no known state
            self._go_back(self.count)
            raise

    def cut(self, count: int) -> None:
        """The messages from number `count` on are gone, or others now."""
        if count < self.count:
            self._go_back(count)

    def violations(self, fields: JsonObject, rest: Sequence[Json] | None) -> list[Violation]:
        """What there is against a request with these fields, of this judge's mode, whose last messages are `rest`.

        None instead of `rest`: the request has no array of messages.
        """
        return self._conclude(fields, rest, _violations)

    def refusals(self, fields: JsonObject, rest: Sequence[Json]) -> list[Violation]:
        """Those of the violations that get the request refused."""
        return self._conclude(fields, rest, _refused)

    def _conclude(
        self, fields: JsonObject, rest: Sequence[Json] | None, pick: Callable[[Findings], list[Violation]]
    ) -> list[Violation]:
        as_json, head = self._judge_head(fields)
        number = self._first + self.count
        saved = self._save()
        try:
            if rest is not None and (number or rest or self._rules.takes_none):
                self._take(rest, number)
                self._fold.end(fields)
            else:
                self._rules.no_messages(fields, self._found)
            return [*pick(as_json), *pick(self._as_json), *pick(head), *pick(self._found)]
        finally:
            self._restore(saved)

    def _judge_head(self, fields: JsonObject) -> tuple[Findings, Findings]:
        if self._head is None or self._head[0] is not fields:
            as_json, found = Findings(), Findings()
            examine_json(fields, as_json)
            self._rules.head(fields, self._target, found)
            self._head = (fields, as_json, found)
        return self._head[1], self._head[2]

    def _take(self, messages: Sequence[Json], number: int) -> None:
        examine_messages(messages, self._rules.messages_field, number, self._as_json)
        judge = self._fold.message
        for index, message in enumerate(messages, number):
            judge(index, message)

    def _go_back(self, count: int) -> None:
        self.count, saved = self._checkpoints.back_to(count)
        self._restore(saved)

    def _save(self) -> Any:
        return self._as_json.save(), self._found.save(), self._fold.save()

    def _restore(self, saved: Any) -> None:
        as_json, found, fold = saved
        self._as_json.restore(as_json)
        self._found.restore(found)
        self._fold.restore(fold)


def _violations(found: Findings) -> list[Violation]:
    return found.violations


def _refused(found: Findings) -> list[Violation]:
    return found.refused
