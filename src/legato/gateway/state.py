"""What the gateway remembers between requests. Nothing is wrong without it; the client gets less.

    answers      by the keys under which a client may show them again (`recall` makes the keys): where an answer came
                 from, its thoughts and its opaque data
    responses    of the Responses API, by their ids: what `previous_response_id` goes on from
    reports      of requests, by their ids, where the state outlives the process; it has its newest at hand itself

Each tenant sees its own and nobody else's. All of it is bounded. None of these ever fails: a state that cannot read or
write for a while knows nothing and keeps nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from legato.gateway.reports import RequestReport
from legato.model import Entry
from legato.model.json_access import as_objects, as_text
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
    """under which the client knows it"""


class GatewayState(Protocol):
    """Where the gateway remembers. What was handed over is safe when the call returns."""

    async def remember(self, tenant: str, keys: Sequence[str], answer: GivenAnswer) -> None:
        """Remember `answer` under each of `keys`; under a key that is known the newer one counts."""
        ...

    async def find(self, tenant: str, keys: Sequence[str]) -> Mapping[str, GivenAnswer]:
        """The answers that were remembered under `keys`, as far as they are known."""
        ...

    async def keep_response(self, stored: Stored) -> None:
        """Keep a response for the account that it names."""
        ...

    async def response(self, tenant: str, response_id: str) -> Stored | None:
        """The response of that id."""
        ...

    async def response_with(self, tenant: str, item_id: str) -> Stored | None:
        """The response that gave the item of that id."""
        ...

    async def forget_response(self, tenant: str, response_id: str) -> bool:
        """Keep it no longer, nor the answer that it gave; whether it was there."""
        ...

    async def forgettings(self) -> int | None:
        """How often somebody else had things forgotten here; None if that cannot be known now.

        Whoever has more of it at hand than this state asks before each use, and drops it when the number is another.
        """
        ...

    async def keep_report(self, report: RequestReport) -> None:
        """Keep a report for its tenant; a newer one takes the place of one under the same id."""
        ...

    async def report(self, tenant: str, request_id: str) -> RequestReport | None:
        """The report of that request."""
        ...


class MemoryState:
    """A `GatewayState` that lives as long as the program; what was used longest ago makes room."""

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
        self._items: RecentlyUsed[str] = RecentlyUsed(answer_keys, answer_keys)
        """the response that gave an item, by the id of that"""

    async def remember(self, tenant: str, keys: Sequence[str], answer: GivenAnswer) -> None:
        """Remember `answer` under each of `keys`."""
        size = size_of(answer)
        for key in keys:
            self._answers.put(tenant, key, answer, size)

    async def find(self, tenant: str, keys: Sequence[str]) -> Mapping[str, GivenAnswer]:
        """The answers that were remembered under `keys`."""
        found = ((key, self._answers.get(tenant, key)) for key in keys)
        return {key: answer for key, answer in found if answer is not None}

    async def keep_response(self, stored: Stored) -> None:
        """Keep a response for the account that it names."""
        self._responses.keep(stored)
        for item_id in item_ids(stored):
            self._items.put(stored.account, item_id, stored.response["id"], 1)

    async def response(self, tenant: str, response_id: str) -> Stored | None:
        """The response of that id."""
        return self._responses.find(response_id, tenant)

    async def response_with(self, tenant: str, item_id: str) -> Stored | None:
        """The response that gave the item of that id."""
        return self._responses.find(self._items.get(tenant, item_id) or "", tenant)

    async def forget_response(self, tenant: str, response_id: str) -> bool:
        """Keep it no longer; whether it was there."""
        if self._responses.find(response_id, tenant) is None:
            return False
        self._responses.forget(response_id)
        for key, answer in self._answers.of(tenant):
            if answer.response_id == response_id:
                self._answers.pop(tenant, key)
        return True

    async def forgettings(self) -> int:
        """0: nobody else reaches it."""
        return 0

    async def keep_report(self, report: RequestReport) -> None:
        """Nothing: the gateway has its newest reports in memory, and this would be no other place."""

    async def report(self, tenant: str, request_id: str) -> RequestReport | None:
        """None: see `keep_report`."""


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


def item_ids(stored: Stored) -> list[str]:
    """The ids of the items that a response gave."""
    return [name for item in as_objects(stored.response.get("output")) if (name := as_text(item.get("id")))]


def size_of(value: object) -> int:
    """About how many bytes `value` takes: those of its JSON."""
    try:
        return len(msgspec.json.encode(value))
    except UnicodeEncodeError:  # half of a character
        return len(repr(value))
