"""One compaction on its way to the client: the summary of whoever answers, as the one item that the client takes.

In:  what the client said, and a relay that asks for a summary of it.
Out: the body of a response, of `/responses/compact`, or its events, which come when all of the summary is there.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from legato.gateway.control import Seal, compact_body, compaction_answer
from legato.gateway.exchange import Relay, Relayed
from legato.gateway.intake import ClientRequest
from legato.gateway.late_streams import told_in_stream
from legato.gateway.speakers import AnswerSpeaker
from legato.model import Answer, JsonObject
from legato.transport.operations import Operation
from legato.wire.dialects import dialect_parts


class SummaryRelay:
    """Carries one summary. `pieces` streams it, `whole` gives its body; one of them is used, once.

    `speaker` keeps a client waiting, and tells it of a failure afterwards. `seed` makes the id of the item.
    """

    def __init__(
        self, said: ClientRequest, relay: Relay, speaker: AnswerSpeaker, seal: Seal, *, seed: str, created: int
    ) -> None:
        self._said = said
        self._relay = relay
        self._speaker = speaker
        self._seal = seal
        self._seed = seed
        self._created = created
        self._parts = dialect_parts(said.delivery.door.dialect)

    @property
    def done(self) -> Relayed:
        """What is known of the summary afterwards."""
        return self._relay.done

    @property
    def route(self) -> str:
        """Who writes it, or was asked last."""
        return self._relay.route

    def keep_alive(self) -> bytes:
        """What the client passes over while it waits."""
        return self._speaker.keep_alive()

    async def whole(self) -> JsonObject:
        """The body of the response."""
        delivery, sealed = self._said.delivery, await self._sealed()
        if delivery.door.operation is Operation.COMPACT:
            return compact_body(self._said.fields, sealed, delivery.model, created=self._created)
        return self._parts.reply(sealed, delivery.model, created=self._created)

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Its events; raises what made it fail, or `ConnectionCut` once the client had a sign of life."""
        async with aclosing(told_in_stream(self._events(), self._speaker)) as pieces:
            async for piece in pieces:
                yield piece

    async def _events(self) -> AsyncGenerator[bytes]:
        sealed = await self._sealed()
        for piece in self._parts.reply_stream(sealed, self._said.delivery.model, created=self._created):
            yield piece

    async def _sealed(self) -> Answer:
        return compaction_answer(await self._relay.summary(), self._seal, seed=self._seed)
