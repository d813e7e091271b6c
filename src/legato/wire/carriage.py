"""How a dialect travels on a platform that is not its maker's: what its body has more or less, and how it streams.

A cloud that serves someone else's API keeps its shapes and changes what surrounds them: the model goes into the URL, a
version comes into the body, a stream comes in other frames. That is a row of data here, not a second dialect. Paths and
credentials are a matter of `transport`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from legato.model import Dialect, JsonObject, Platform, Target


class Framing(Protocol):
    """Takes the bytes of a response apart, however they are split."""

    longest: int
    """how many bytes an event may have"""

    def feed(self, data: bytes) -> list[bytes]:
        """The JSON of the events that `data` completes."""
        ...

    def close(self) -> list[bytes]:
        """That of an event which was still open at the end."""
        ...


class Carriage(NamedTuple):
    """What a platform changes."""

    adds: Mapping[str, str] = {}
    """fields of the body that only this platform has"""
    drops: frozenset[str] = frozenset()
    """fields that are said in the URL here"""
    framing: Callable[[], Framing] | None = None
    """what takes a streamed answer apart, where it is not what the dialect's own streams come in"""

    def load(self, fields: JsonObject) -> JsonObject:
        """The fields of a body as they travel here."""
        return {**self.adds, **{name: value for name, value in fields.items() if name not in self.drops}}

    def unload(self, fields: JsonObject, model: str) -> JsonObject:
        """The fields as the maker's own API has them; whether to stream is not known from them."""
        kept = {name: value for name, value in fields.items() if name not in self.adds}
        return {"model": model, **kept} if "model" in self.drops else kept


def _open_chunks() -> Framing:
    from legato.wire.event_stream import ChunkParser  # few answers come in AWS's frames

    return ChunkParser()


_PLAIN = Carriage()

CARRIAGES: dict[tuple[Dialect, Platform], Carriage] = {
    # https://docs.anthropic.com/en/api/claude-on-vertex-ai
    (Dialect.ANTHROPIC, Platform.VERTEX): Carriage({"anthropic_version": "vertex-2023-10-16"}, frozenset({"model"})),
    # https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
    (Dialect.ANTHROPIC, Platform.BEDROCK): Carriage(
        {"anthropic_version": "bedrock-2023-05-31"}, frozenset({"model", "stream"}), _open_chunks
    ),
}


def carriage_of(target: Target) -> Carriage:
    """How requests to `target` and its answers travel."""
    return CARRIAGES.get((target.dialect, target.platform), _PLAIN) if target.platform else _PLAIN
