"""Read answers so that whatever they hold, they can be recorded, or raise nothing but `BadAnswer`.

A caller that sends requests itself has one thing to catch: the provider's answer is no good, and another attempt or
another route may help. What a decoder did not foresee is no different to it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from msgspec.structs import replace

from legato.errors import BadAnswer, IngestError
from legato.model import Answer, Ending, Text
from legato.request.events import plain_event
from legato.wire.bounds import Bounds
from legato.wire.contract import StreamDecoder
from legato.wire.deltas import Delta
from legato.wire.text_forms import REFUSED


@contextmanager
def only_bad_answers() -> Generator[None]:
    """Raise `BadAnswer` for whatever goes wrong inside."""
    try:
        yield
    except BadAnswer:
        raise
    except IngestError as error:
        raise BadAnswer(f"the answer cannot be read: {error.message}", layer="decode") from error
    except Exception as error:
        raise BadAnswer(f"the answer is not understood ({type(error).__name__})", layer="decode") from error


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
        with only_bad_answers():
            return self._decoder.feed(data)

    def event(self, event: object) -> list[Delta]:
        """Take one event that a client already parsed: plain data or the client's own object."""
        with only_bad_answers():
            return self._decoder.event(plain_event(event))

    def finish(self) -> Answer:
        """The whole answer."""
        with only_bad_answers():
            return recordable(self._decoder.finish(), self._bounds)

    def partial(self) -> Answer | None:
        """What has been visible so far, as an answer that was cut; None if nothing was."""
        with only_bad_answers():
            return self._decoder.partial()
