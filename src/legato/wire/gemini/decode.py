"""Read a response body as an `Answer`.

In:  the body, as JSON or as an SDK object dumps it, and the target it came from.
Out: an entry with the blocks in the provider's order, each with its own signature; or `BadAnswer`.

A body has the shape of a streamed piece, so one reader serves both and they cannot disagree.
"""

from __future__ import annotations

from legato.model import Answer, JsonObject, Target
from legato.wire.context import Names
from legato.wire.endings import ending_of
from legato.wire.gemini.stream import Decoder


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in a response body; raises `BadAnswer` for an error object, or if there is none."""
    decoder = Decoder(target, names)
    decoder.read(body)
    if decoder.ending is None:  # a whole body that does not say why it ended has ended all the same
        decoder.ending = ending_of("", {}, has_calls=decoder.builder.has_calls).ending
    return decoder.finish()
