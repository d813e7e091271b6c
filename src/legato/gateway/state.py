"""What the gateway remembers between requests. Nothing is wrong without it; the client gets less.

    answers      by the keys under which a client may show them again (`recall` makes the keys): where an answer came
                 from, its thoughts and its opaque data
    responses    of the Responses API, by their ids: what `previous_response_id` goes on from

Each tenant sees its own and nobody else's. All of it is bounded, and what was used longest ago goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from legato.model import Entry
from legato.transport.stored_responses import Stored, StoredResponses

V = TypeVar("V")

MAX_ANSWER_KEYS = 10_000
"""keys under which answers are remembered: our choice, some days of one person's work"""

MAX_ANSWER_BYTES = 64 << 20
"""bytes of these answers: our choice, what a small machine can spare"""

MAX_RESPONSES = 1_000
"""responses that a client may go on from by their ids: our choice, OpenAI keeps them for 30 days"""

MAX_RESPONSE_BYTES = 64 << 20
"""bytes of these responses: our choice, each holds its whole conversation"""


class GivenAnswer(Struct, frozen=True, omit_defaults=True):
    """An answer as it was given, with the ids that the client saw, and the route that gave it."""

    entry: Entry
    route: str
    response_id: str = ""


class GatewayState(Protocol):
    """Where the gateway remembers."""

    def remember(self, tenant: str, keys: Iterable[str], answer: GivenAnswer) -> None:
        """Remember `answer` under each of `keys`; under a key that is known the newer one counts."""
        ...

    def find(self, tenant: str, key: str) -> GivenAnswer | None:
        """The answer that was remembered under `key`."""
        ...

    def keep_response(self, stored: Stored) -> None:
        """Keep a response for the account that it names."""
        ...

    def response(self, tenant: str, response_id: str) -> Stored | None:
        """The response of that id."""
        ...

    def forget_response(self, tenant: str, response_id: str) -> bool:
        """Keep it no longer; whether it was there."""
        ...


class MemoryState:
    """A `GatewayState` that lives as long as the program."""

    def __init__(
        self,
        *,
        answer_keys: int = MAX_ANSWER_KEYS,
        answer_bytes: int = MAX_ANSWER_BYTES,
        responses: int = MAX_RESPONSES,
        response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        self._answers: RecentlyUsed[GivenAnswer] = RecentlyUsed(answer_keys, answer_bytes)
        self._responses = StoredResponses(responses, response_bytes)

    def remember(self, tenant: str, keys: Iterable[str], answer: GivenAnswer) -> None:
        """Remember `answer` under each of `keys`."""
        size = size_of(answer)
        for key in keys:
            self._answers.put(tenant, key, answer, size)

    def find(self, tenant: str, key: str) -> GivenAnswer | None:
        """The answer that was remembered under `key`."""
        return self._answers.get(tenant, key)

    def keep_response(self, stored: Stored) -> None:
        """Keep a response for the account that it names."""
        self._responses.keep(stored)

    def response(self, tenant: str, response_id: str) -> Stored | None:
        """The response of that id."""
        return self._responses.find(response_id, tenant)

    def forget_response(self, tenant: str, response_id: str) -> bool:
        """Keep it no longer; whether it was there."""
        if self._responses.find(response_id, tenant) is None:
            return False
        self._responses.forget(response_id)
        return True


class RecentlyUsed(Generic[V]):
    """Values by tenant and key, at most so many and so many bytes; what was not used for longest goes first."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._values: OrderedDict[tuple[str, str | bytes], tuple[V, int]] = OrderedDict()
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def get(self, tenant: str, key: str | bytes) -> V | None:
        """The value of `key`, which counts as used."""
        held = self._values.get((tenant, key))
        if held is None:
            return None
        self._values.move_to_end((tenant, key))
        return held[0]

    def put(self, tenant: str, key: str | bytes, value: V, size: int) -> None:
        """Hold `value`, of about `size` bytes, in place of what the key had before."""
        self.pop(tenant, key)
        self._values[tenant, key] = value, size
        self._bytes += size
        while len(self._values) > self._most or self._bytes > self._most_bytes:
            self.pop(*next(iter(self._values)))

    def pop(self, tenant: str, key: str | bytes) -> V | None:
        """The value of `key`, which is held no longer."""
        value, size = self._values.pop((tenant, key), (None, 0))
        self._bytes -= size
        return value

    def of(self, tenant: str) -> list[tuple[str | bytes, V]]:
        """All keys and values of one tenant."""
        return [(key, value) for (owner, key), (value, _) in self._values.items() if owner == tenant]


def size_of(value: object) -> int:
    """About how many bytes `value` takes: those of its JSON."""
    try:
        return len(msgspec.json.encode(value))
    except UnicodeEncodeError:  # half of a character
        return len(repr(value))
