"""Read the answers to one request: what a provider sent in, an `Answer` or deltas out.

A request may have offered tools under other names and in other forms than their own. Whoever reads its answers knows
that, and nothing else of it. What was sent in the words of somebody else, as it came, has no names of ours in it.
"""

from __future__ import annotations

from typing import Protocol, cast

from legato.errors import BadAnswer
from legato.model import Answer, JsonObject, Target, ingest_sent
from legato.request.answers import ONLY_BAD_ANSWERS, GuardedDecoder, recordable
from legato.request.offered import OfferedTools, RestoringDecoder
from legato.wire.bounds import read_bounded_json
from legato.wire.context import Names
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable


class Answerable(Protocol):
    """A request, as far as its answers are concerned."""

    @property
    def target(self) -> Target:
        """Who answers it."""
        ...

    def decode(self, response: object) -> Answer:
        """The answer in a response body."""
        ...

    def decoder(self) -> GuardedDecoder:
        """A decoder for one streamed answer."""
        ...


class AnswerReader:
    """Reads what `target` answers to one request.

    `names` are those that the tools were given in it, `free_text` the tools that take free text and were offered as
    functions, each with its namespace.
    """

    def __init__(self, target: Target, names: Names, free_text: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.target = target
        self._parts = dialect_parts(target.dialect)
        self._names = names
        self._offered = OfferedTools(names, free_text)

    @classmethod
    def of_others(cls, target: Target) -> AnswerReader:
        """For a body that somebody else made: a name that was never projected stands for itself."""
        return cls(target, NameTable(target.capabilities.name_rule))

    def decode(self, response: object) -> Answer:
        """The answer in a response body: a dict, JSON bytes, or the object that the official client returns.

        Raises `BadAnswer` if there is none, whatever is there instead.
        """
        with ONLY_BAD_ANSWERS:
            body = read_bounded_json(response) if isinstance(response, bytes | str) else ingest_sent(response)
            if not isinstance(body, dict):
                raise BadAnswer(f"a response body should be an object, not {type(body).__name__}", layer="decode")
            answer = self._parts.decode(cast(JsonObject, body), self.target, self._names)
            return recordable(self._offered.restore(answer))

    def decoder(self) -> GuardedDecoder:
        """A decoder for one streamed answer: of bytes, of plain events, or of those that the official client gives.

        It raises `BadAnswer` and nothing else.
        """
        return GuardedDecoder(RestoringDecoder(self._parts.decoder(self.target, self._names), self._offered))
