"""Read answers so that whatever they hold, they can be recorded, or raise nothing but `BadAnswer`.

A caller that sends requests itself has one thing to catch: the provider's answer is no good, and another attempt or
another route may help. What a decoder did not foresee is no different to it.
"""

from __future__ import annotations

from types import TracebackType

from msgspec.structs import replace

from legato.errors import BadAnswer, IngestError
from legato.model import Answer, Ending, Text
from legato.request.events import plain_event
from legato.wire.bounds import Bounds
from legato.wire.contract import StreamDecoder
from legato.wire.deltas import Delta
from legato.wire.text_forms import REFUSED


class OnlyBadAnswers:
    """Raises `BadAnswer` for whatever goes wrong inside; a class, because every packet of a stream enters it."""

    def __enter__(self) -> None:
        """Nothing has to be remembered."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, IngestError):
            raise BadAnswer(f"the answer cannot be read: {error.message}", layer="decode") from error
        if isinstance(error, Exception) and not isinstance(error, BadAnswer):
            raise BadAnswer(f"the answer is not understood ({type(error).__name__})", layer="decode") from error


ONLY_BAD_ANSWERS = OnlyBadAnswers()
"""is around all that reads what a provider sent"""


def recordable(answer: Answer, bounds: Bounds | None = None) -> Answer:
    """`answer`, if it can be recorded: it says something, and does not have more parts than `bounds` allow."""
    entry = answer.entry
    if not entry.blocks and entry.ending is Ending.REFUSED:
        return replace(answer, entry=replace(entry, blocks=(Text(REFUSED),)))
    if not entry.blocks:
        raise BadAnswer("it is empty", layer="decode")
    (bounds or Bounds()).allow(blocks=len(entry.blocks), calls=len(answer.calls))
    return answer


class GuardedDecoder:
    """A `StreamDecoder` that raises nothing but `BadAnswer`, and whose answer can be recorded."""

    def __init__(self, decoder: StreamDecoder) -> None:
        self._decoder = decoder
        self._bounds = Bounds()

    @property
    def served(self) -> str:
        """The model that answers, by its own name, as soon as the stream has told it; empty until then."""
        return self._decoder.served

    def limit(self, bounds: Bounds) -> None:
        """Hold the answer to `bounds` from now on."""
        self._bounds = bounds
        self._decoder.limit(bounds)

    def feed(self, data: bytes) -> list[Delta]:
        """Take raw bytes of the response."""
        with ONLY_BAD_ANSWERS:
            return self._decoder.feed(data)

    def event(self, event: object) -> list[Delta]:
        """Take one event that a client already parsed: plain data or the client's own object."""
        with ONLY_BAD_ANSWERS:
            return self._decoder.event(plain_event(event))

    def finish(self) -> Answer:
        """The whole answer."""
        with ONLY_BAD_ANSWERS:
            return recordable(self._decoder.finish(), self._bounds)

    def partial(self) -> Answer | None:
        """What has been visible so far, as an answer that was cut; None if nothing was."""
        with ONLY_BAD_ANSWERS:
            return self._decoder.partial()
