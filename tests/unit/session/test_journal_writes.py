"""The one way into a session's log."""

from collections.abc import Sequence

import anyio
import pytest

from legato.errors import InvalidEntry, StoreUnavailable
from legato.model import Answer, Entry, Record, Speaker, Usage
from legato.model.records import Opened, Recorded, RouteSelected
from legato.session import Journal
from legato.store import Lease
from legato.store.memory import MemoryStore
from legato.transcript import Conversation

from builders import call, user

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def clock() -> float:
    return 17.0


class SlowStore(MemoryStore):
    """A store whose appends wait until they are let go, and fail if they shall."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = anyio.Event()
        self.go = anyio.Event()
        self.fails = False

    async def append(self, lease: Lease, expected: int, records: Sequence[Record]) -> int:
        self.entered.set()
        await self.go.wait()
        if self.fails:
            raise StoreUnavailable("the disk is full")
        return await super().append(lease, expected, records)


async def opened(store: MemoryStore) -> tuple[Journal, str]:
    session = await store.create()
    lease = await store.open(session, holder="a test")
    return Journal(Conversation(), clock=clock, store=store, lease=lease), session


async def test_records_are_dated_and_calls_are_named() -> None:
    journal = Journal(Conversation(), clock=clock)
    await journal.write(Opened(incarnation=1), RouteSelected(route="openai/gpt-4o", at=3.0))
    entry = await journal.record(Answer(Entry(Speaker.AI, (call("toolu_1"),)), Usage()))
    assert entry.calls[0].id == "hist_tool_1"
    assert list(journal.talk.log) == [
        Opened(incarnation=1, at=17.0),
        RouteSelected(route="openai/gpt-4o", at=3.0),
        Recorded(entry=entry, at=17.0),
    ]


async def test_memory_is_not_ahead_of_the_store() -> None:
    store = SlowStore()
    journal, session = await opened(store)
    async with anyio.create_task_group() as group:
        group.start_soon(journal.record, user("Hello"))
        await store.entered.wait()
        assert len(journal.talk) == 0
        store.go.set()
    assert list(journal.talk.log) == list(await store.read(session)) != []


async def test_a_write_that_began_is_finished_although_its_caller_is_cancelled() -> None:
    store = SlowStore()
    journal, session = await opened(store)
    async with anyio.create_task_group() as group:
        group.start_soon(journal.record, user("Hello"))
        await store.entered.wait()
        group.cancel_scope.cancel()
        store.go.set()
    assert len(journal.talk) == len(await store.read(session)) == 1


async def test_what_the_store_refuses_is_not_in_memory_and_its_names_are_free_again() -> None:
    store = SlowStore()
    store.go.set()
    journal, session = await opened(store)
    store.fails = True
    with pytest.raises(StoreUnavailable):
        await journal.record(Entry(Speaker.AI, (call("toolu_1"),)))
    assert len(journal.talk) == 0
    store.fails = False
    entry = await journal.record(Entry(Speaker.AI, (call("toolu_1"),)))
    assert entry.calls[0].id == "hist_tool_1"
    assert list(journal.talk.log) == list(await store.read(session))


async def test_writes_that_come_at_once_are_stored_one_after_the_other() -> None:
    store = MemoryStore()
    journal, session = await opened(store)
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(journal.record, user(str(number)))
    assert list(journal.talk.log) == list(await store.read(session))
    assert sorted(int(entry.text) for entry in journal.talk.entries) == list(range(20))


async def test_news_that_means_nothing_is_refused_and_stores_nothing() -> None:
    store = MemoryStore()
    journal, session = await opened(store)
    with pytest.raises(InvalidEntry):
        await journal.write(user("Hello"), Entry(Speaker.HUMAN, ()))
    assert list(await store.read(session)) == list(journal.talk.log) == []
