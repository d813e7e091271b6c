"""Sessions of the OpenAI Agents SDK in one of Legato's stores.

In:  items, as a run adds them.
Out: the same items, byte for byte as values, later or in another process.

Each item is an entry of a log like any other, so `legato sessions`, `legato inspect` and a `Session` read it, and any
model can go on with it. The item itself is kept beside what it says, where only the SDK looks for it. What an item says
nothing to a model with is a silent record. Every call takes the writer's lease and gives it back: several processes may
share a session, and each of them finds what the others added.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec.structs import replace

from legato.errors import SessionNotFound
from legato.formats.fields import as_object, as_objects
from legato.formats.openai_agents.reading import read_items
from legato.model import Entry, HostedTool, JsonObject, Speaker, ingest_sent
from legato.model.records import Rewound
from legato.store import Lease, Store, open_store
from legato.transcript.conversation import Conversation

_ITEM = "agents_item"
_HOLDER = "OpenAI Agents SDK"


class StoreSession:
    """A session for `Runner.run(…, session=…)`, in a store or at the place of one (see `open_store`)."""

    session_settings: Any = None
    """the SDK's own settings; it limits by them how much of a history it asks for"""

    def __init__(self, session_id: str, store: Store | str | os.PathLike[str] | None = None) -> None:
        self.session_id = session_id
        self._store = open_store(store) if store is None or isinstance(store, str | os.PathLike) else store
        self._talk = Conversation()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The newest `limit` items, oldest first; all of them without a limit."""
        await self._catch_up()
        items = [item for _, item in self._items()]
        return items if limit is None else items[len(items) - min(max(limit, 0), len(items)) :]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Add items; they are stored together or not at all."""
        if not items:
            return
        entries = [_entry(item) for item in as_objects(ingest_sent(list(items)))]
        async with self._writing() as lease:
            records = self._talk.prepare(self._keyed(entries))
            await self._store.append(lease, len(self._talk), records)
            self._talk.apply(records)

    async def pop_item(self) -> Any | None:
        """Take the newest item back, and return it; None if there is none."""
        async with self._writing() as lease:
            held = self._items()
            if not held:
                return None
            place, item = held[-1]
            records = self._talk.prepare([Rewound(to=place)])
            await self._store.append(lease, len(self._talk), records)
            self._talk.apply(records)
            return item

    async def clear_session(self) -> None:
        """Forget all items for good; the session begins anew when something is added."""
        self._talk = Conversation()
        with suppress(SessionNotFound):
            await self._store.delete(self.session_id)

    async def close(self) -> None:
        """Let go of the store's file or connections."""
        await self._store.close()

    def _keyed(self, entries: list[Entry]) -> list[Entry]:
        """The entries, with one key for those that are one answer: its thought, words and calls are items."""
        standing = self._talk.entries
        key = standing[-1].answer if standing and standing[-1].speaker is Speaker.AI else None
        keyed: list[Entry] = []
        for place, entry in enumerate(entries, len(self._talk)):
            key = (key or f"answer-{place}") if entry.speaker is Speaker.AI else None
            keyed.append(replace(entry, answer=key))
        return keyed

    def _items(self) -> list[tuple[int, JsonObject]]:
        return [
            (seq, as_object((entry.blocks[0].native or {}).get(_ITEM)))
            for seq, entry in self._talk.standing_entries()
            if (entry.blocks[0].native or {}).get(_ITEM)
        ]

    async def _catch_up(self) -> bool:
        """Take what others have added; whether there is such a session at all."""
        try:
            self._talk.apply(await self._store.read(self.session_id, len(self._talk)))
        except SessionNotFound:
            self._talk = Conversation()
            return False
        return True

    @asynccontextmanager
    async def _writing(self) -> AsyncGenerator[Lease]:
        if not await self._catch_up():
            await self._store.create(self.session_id)
        lease = await self._store.open(self.session_id, holder=_HOLDER)
        try:
            await self._catch_up()
            yield lease
        finally:
            await self._store.release(lease)


def _entry(item: JsonObject) -> Entry:
    """What an item says, with the item itself beside it."""
    entries = read_items([item]).entries
    if len(entries) == 1:
        entry = entries[0]
    else:
        entry = Entry(Speaker.AI, (HostedTool(str(item.get("type", "")), silent=True),))
    first, *rest = entry.blocks
    return replace(entry, blocks=(replace(first, native={**(first.native or {}), _ITEM: item}), *rest))
