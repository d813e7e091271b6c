"""What any store must do, as checks that any backend can run.

    async def make() -> Store: return MyStore("my place")     # each call: another object on the same place
    await run_conformance(make)

Or one test for each, in pytest:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_store_conforms(check): anyio.run(check, make)

A check makes sessions of its own and may share the place with others. It raises `NotConforming` that says which promise
is broken, and needs neither pytest nor `assert`, so it also works in a program that runs with `-O`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol, TypeVar, cast

import anyio

from legato.errors import CallerError, Conflict, LegatoError, SessionLocked, SessionNotFound, UnsafeName
from legato.model.codec import load_log
from legato.model.records import Record
from legato.store.contract import Lease, Store
from legato.store.testing.samples import EVERY_RECORD, say

__all__ = [
    "Check",
    "MakeStore",
    "NotConforming",
    "run_conformance",
]

MakeStore = Callable[[], Awaitable[Store]]
T = TypeVar("T")


class Check(Protocol):
    """One promise; its name says which."""

    __name__: str

    async def __call__(self, make: MakeStore, /) -> None:
        """Raise `NotConforming` if the promise is broken."""
        ...


class NotConforming(AssertionError):
    """A store broke one of its promises."""


async def run_conformance(make_store: MakeStore) -> None:
    """Run every check on the place that `make_store` reaches; raises `NotConforming` at the first broken promise."""
    for check in CHECKS:
        try:
            await check(make_store)
        except LegatoError as error:
            promise = check.__name__.replace("_", " ")
            raise NotConforming(f"{promise}: unexpected {type(error).__name__}: {error}") from error


async def a_new_session_is_there_and_empty(make: MakeStore) -> None:
    """`create` is seen by `describe`, `read` and `list`."""
    async with _stores(make) as (store, other):
        session = await store.create(meta={"cwd": "/home/ada", "gone": None, "tags": ["a", {"b": 1}]})
        _same(await other.read(session), [], "a new session has no records")
        summary = await other.describe(session)
        _same((summary.id, summary.records, summary.cwd), (session, 0, "/home/ada"), "describe")
        _same(summary.meta, {"cwd": "/home/ada", "tags": ["a", {"b": 1}]}, "metadata comes back, without its None")
        _same((summary.title, summary.route, summary.parent), ("", "", None), "nothing was said yet")
        _same([one for one in await other.list() if one.id == session], [summary], "list shows what describe shows")


async def records_come_back_as_they_were(make: MakeStore) -> None:
    """Every kind of record, in order, from any sequence number, through any store object on the place."""
    async with _stores(make) as (store, other):
        session, lease = await _begin(store)
        _same(await store.append(lease, 0, EVERY_RECORD[:5]), 5, "append returns the new length")
        _same(await store.append(lease, 5, EVERY_RECORD[5:]), len(EVERY_RECORD), "append returns the new length")
        _same(await other.read(session), EVERY_RECORD, "all records")
        _same(await other.read(session, 7), EVERY_RECORD[7:], "records from 7 on")
        _same(await other.read(session, 3, stop=6), EVERY_RECORD[3:6], "records 3 to 5")
        _same(await other.read(session, len(EVERY_RECORD)), [], "nothing after the end")
        _same(await other.read(session, 9_999, stop=10_000), [], "nothing far after the end")


async def an_empty_append_changes_nothing(make: MakeStore) -> None:
    """It is still refused where a real one would be."""
    async with _stores(make) as (store, _):
        session, lease = await _begin(store, [say("one")])
        _same(await store.append(lease, 1, []), 1, "the length stays")
        await _refused(store.append(lease, 0, []), Conflict, "an empty append at a wrong sequence number")
        _same(await store.read(session), [say("one")], "the log stays")


async def a_large_append_is_stored_whole(make: MakeStore) -> None:
    """Many records at once, and one that is much larger than a page."""
    async with _stores(make) as (store, other):
        session, lease = await _begin(store)
        records = [say(f"record {number} 🎼") for number in range(500)] + [say("ü" * 1_000_000)]
        _same(await store.append(lease, 0, records), 501, "the new length")
        _same(await other.read(session), records, "all records")


async def a_wrong_sequence_number_is_a_conflict(make: MakeStore) -> None:
    """Too low, too high, negative: nothing is stored."""
    async with _stores(make) as (store, _):
        session, lease = await _begin(store, [say("one"), say("two")])
        for expected in (-1, 0, 1, 3):
            await _refused(store.append(lease, expected, [say("x")]), Conflict, f"append at {expected} of 2")
        _same(await store.read(session), [say("one"), say("two")], "the log stays")


async def one_of_many_appends_at_one_place_wins(make: MakeStore) -> None:
    """Eight at once with the same expected number: one is stored, seven are told."""
    async with _stores(make) as (store, _):
        session, lease = await _begin(store)
        for turn in range(3):
            records = [[say(f"{turn}.{rival}.a"), say(f"{turn}.{rival}.b")] for rival in range(8)]
            outcomes = await _all([store.append(lease, 2 * turn, pair) for pair in records])
            winners = [pair for pair, outcome in zip(records, outcomes, strict=True) if outcome == 2 * turn + 2]
            _same(len(winners), 1, "winners")
            _same(sum(isinstance(outcome, Conflict) for outcome in outcomes), 7, "losers that get a Conflict")
            _same(await store.read(session, 2 * turn), winners[0], "what is stored is what the winner wrote")


async def a_session_has_one_writer(make: MakeStore) -> None:
    """A held session is refused by name; after a release the next writer gets a larger token."""
    async with _stores(make) as (store, other):
        session = await store.create()
        first = await store.open(session, holder="the first writer")
        for rival in (store, other):
            error = await _refused(rival.open(session, holder="a rival"), SessionLocked, "open of a held session")
            _same("the first writer" in str(error), True, "the refusal names the holder")
        await store.release(first)
        await store.release(first)
        second = await other.open(session, holder="the second writer")
        _same(second.token > first.token, True, "the token grows")
        await store.release(first)
        await _refused(store.open(session, holder="a rival"), SessionLocked, "an old release frees nothing")


async def one_of_many_openings_wins(make: MakeStore) -> None:
    """Eight writers at once, over two store objects: one lease."""
    async with _stores(make) as (store, other):
        session = await store.create()
        outcomes = await _all([one.open(session, holder=f"w{n}") for n in range(4) for one in (store, other)])
        _same(sum(isinstance(outcome, Lease) for outcome in outcomes), 1, "leases")
        _same(sum(isinstance(outcome, SessionLocked) for outcome in outcomes), 7, "refusals")


async def an_old_lease_is_fenced_off(make: MakeStore) -> None:
    """Who was declared gone and comes back stores nothing, even with the right sequence number."""
    async with _stores(make) as (store, other):
        session, old = await _begin(store)
        await store.release(old)
        await _refused(store.append(old, 0, [say("late")]), Conflict, "append with a released lease")
        new = await other.open(session, holder="the new writer")
        await _refused(store.append(old, 0, [say("late")]), Conflict, "append with an old token")
        _same(await other.append(new, 0, [say("mine")]), 1, "the new writer writes")
        await _refused(store.append(old, 1, [say("late")]), Conflict, "append with an old token")
        _same(await store.read(session), [say("mine")], "only the holder wrote")


async def closing_gives_leases_back(make: MakeStore) -> None:
    """A closed store holds nothing; closing again is fine; so is closing a store that was never used."""
    store = await make()
    session = await store.create()
    await store.open(session, holder="somebody who leaves")
    await store.close()
    await store.close()
    async with _stores(make) as (other, unused):
        await other.open(session, holder="the next one")
        await unused.close()


async def a_session_id_is_taken_once(make: MakeStore) -> None:
    """Minted ids differ; a caller's id is kept; the second of the same id, and an unsafe one, are refused."""
    async with _stores(make) as (store, other):
        minted = [await store.create() for _ in range(3)]
        _same(len(set(minted)), 3, "minted ids differ")
        own = f"own_{minted[0]}"
        _same(await store.create(own, records=[say("one")]), own, "the caller's id is kept")
        await _refused(other.create(own), Conflict, "the same id again")
        _same(await store.read(own), [say("one")], "the first stays")
        for bad in ("", "../up", "a/b", ".hidden", "a b", "a\0", "\ud800", "x" * 129):
            await _refused(store.create(bad), UnsafeName, f"the id {bad!r}")


async def a_summary_says_what_the_log_is_about(make: MakeStore) -> None:
    """The first thing a person said, as one clean line, and the last route; a title in the metadata goes before."""
    async with _stores(make) as (store, _):
        session, lease = await _begin(store, EVERY_RECORD[:5])
        before = await store.describe(session)
        _same(before.title, "Was ist das? [31m 🎼 é", "the title is clean, and no instruction")
        _same(before.route, "anthropic/claude-sonnet-4-5", "the route")
        await store.append(lease, 5, [*EVERY_RECORD[5:], say("something else " * 50)])
        after = await store.describe(session)
        _same((after.title, after.route), (before.title, "mistral/mistral-large-latest"), "first title, last route")
        _same((after.created, after.records), (before.created, len(EVERY_RECORD) + 1), "created and records")
        _same(after.updated >= before.updated, True, "updated moves on")
        await store.annotate(session, {"title": "Mine\n"})
        _same((await store.describe(session)).title, "Mine", "a title in the metadata")
        second, _lease = await _begin(store, [say("w " * 200)])
        title = (await store.describe(second)).title
        _same((len(title) <= 80, title[-1]), (True, "…"), "a long title is cut")


async def metadata_is_merged(make: MakeStore) -> None:
    """Keys are added, replaced and removed, also while someone else writes; too much is refused."""
    async with _stores(make) as (store, other):
        session = await store.create(meta={"keep": 1, "change": 1, "drop": 1})
        await store.open(session, holder="a writer")
        await other.annotate(session, {"change": {"deep": [None]}, "drop": None, "new": "ä"})
        meta = (await store.describe(session)).meta
        _same(meta, {"keep": 1, "change": {"deep": [None]}, "new": "ä"}, "merged metadata")
        await _refused(store.annotate(session, {"x": "x" * 100_000}), CallerError, "large metadata")


async def a_list_begins_with_the_session_written_last(make: MakeStore) -> None:
    """An append moves a session to the front."""
    async with _stores(make) as (store, _):
        first, lease = await _begin(store)
        await anyio.sleep(0.002)  # clocks have grains
        second = await store.create()
        mine = {first, second}
        _same([one.id for one in await store.list() if one.id in mine], [second, first], "the newest first")
        await anyio.sleep(0.002)
        await store.append(lease, 0, [say("hello")])
        _same([one.id for one in await store.list() if one.id in mine], [first, second], "the one written last first")


async def a_fork_goes_its_own_way(make: MakeStore) -> None:
    """A copied prefix, its parent named; neither sees what the other writes later. A held session can be forked."""
    async with _stores(make) as (store, other):
        session, lease = await _begin(store, EVERY_RECORD, {"cwd": "/w"})
        whole = await other.fork(session)
        part = await other.fork(session, at=4)
        empty = await other.fork(session, at=0)
        _same(await store.read(whole), EVERY_RECORD, "a whole fork")
        _same(await store.read(part), EVERY_RECORD[:4], "a fork at 4")
        _same(await store.read(empty), [], "a fork at 0")
        summary = await store.describe(part)
        _same((summary.parent, summary.cwd, summary.route), (session, "/w", ""), "parent, folder and route of a fork")
        branch = await other.open(part, holder="the branch")
        await other.append(branch, 4, [say("branch")])
        await store.append(lease, len(EVERY_RECORD), [say("trunk")])
        _same(await store.read(part, 4), [say("branch")], "the branch")
        _same(await store.read(session, len(EVERY_RECORD)), [say("trunk")], "the trunk")
        for at in (-1, len(EVERY_RECORD) + 2):
            await _refused(store.fork(session, at=at), CallerError, f"a fork at {at}")


async def a_deleted_session_is_gone(make: MakeStore) -> None:
    """Not while someone writes it; then for every method and every store object. Its forks stay."""
    async with _stores(make) as (store, other):
        session, lease = await _begin(store, [say("one")])
        fork = await store.fork(session)
        await _refused(other.delete(session), SessionLocked, "delete of a held session")
        await store.release(lease)
        await other.delete(session)
        _same([one.id for one in await store.list() if one.id in {session, fork}], [fork], "what is listed")
        _same(await store.read(fork), [say("one")], "the fork")
        await _every_method_refuses(store, session)
        await _refused(store.append(lease, 1, [say("x")]), SessionNotFound, "append to a deleted session")
        _same(await store.create(session), session, "its id is free again")
        _same(await store.read(session), [], "and nothing of the old log comes back")


async def an_unknown_session_is_named(make: MakeStore) -> None:
    """Every method that takes a session says that there is none of that name, whatever the letters."""
    async with _stores(make) as (store, _):
        for name in ("nobody", "", "a\0b", "\ud800", "'; DROP TABLE sessions; --"):
            await _every_method_refuses(store, name)


async def an_export_can_be_read_back(make: MakeStore) -> None:
    """The lines are a log file."""
    async with _stores(make) as (store, _):
        session, _lease = await _begin(store, EVERY_RECORD)
        lines = [line async for line in store.export(session)]
        _same(list(load_log(lines)), EVERY_RECORD, "the records in the export")


async def a_healthy_store_passes_its_check(make: MakeStore) -> None:
    """`check` finds nothing in what was just written."""
    async with _stores(make) as (store, other):
        session, lease = await _begin(store, EVERY_RECORD)
        await store.append(lease, len(EVERY_RECORD), [say("more")])
        _same(list(await other.check(session)), [], "problems of the session")
        _same([one for one in await other.check() if one.session == session], [], "problems of the store")


async def a_cancelled_append_is_stored_whole_or_not_at_all(make: MakeStore) -> None:
    """And the writer can go on from what is there."""
    async with _stores(make) as (store, _):
        session, lease = await _begin(store)
        stored: list[Record] = []
        for turn in range(6):
            news = [say(f"{turn}.{part}") for part in range(5)]
            with anyio.move_on_after(0.0005 * turn):
                await store.append(lease, len(stored), news)
            found = await store.read(session)
            _same(found in (stored, [*stored, *news]), True, "all or nothing of a cancelled append")
            stored = list(found)
        _same(await store.append(lease, len(stored), [say("end")]), len(stored) + 1, "the writer goes on")


CHECKS: tuple[Check, ...] = (
    a_new_session_is_there_and_empty,
    records_come_back_as_they_were,
    an_empty_append_changes_nothing,
    a_large_append_is_stored_whole,
    a_wrong_sequence_number_is_a_conflict,
    one_of_many_appends_at_one_place_wins,
    a_session_has_one_writer,
    one_of_many_openings_wins,
    an_old_lease_is_fenced_off,
    closing_gives_leases_back,
    a_session_id_is_taken_once,
    a_summary_says_what_the_log_is_about,
    metadata_is_merged,
    a_list_begins_with_the_session_written_last,
    a_fork_goes_its_own_way,
    a_deleted_session_is_gone,
    an_unknown_session_is_named,
    an_export_can_be_read_back,
    a_healthy_store_passes_its_check,
    a_cancelled_append_is_stored_whole_or_not_at_all,
)
"""Every check, in an order in which the first failure says most."""


@asynccontextmanager
async def _stores(make: MakeStore) -> AsyncGenerator[tuple[Store, Store]]:
    """Two store objects on one place, as two programs would have them."""
    async with AsyncExitStack() as stack:
        first = await make()
        stack.push_async_callback(first.close)
        second = await make()
        stack.push_async_callback(second.close)
        yield first, second


async def _begin(
    store: Store, records: Sequence[Record] = (), meta: dict[str, object] | None = None
) -> tuple[str, Lease]:
    session = await store.create(meta=meta, records=records)
    return session, await store.open(session, holder="the conformance suite")


async def _every_method_refuses(store: Store, session: str) -> None:
    async def export() -> list[bytes]:
        return [line async for line in store.export(session)]

    attempts: dict[str, Callable[[], Awaitable[object]]] = {
        "open": lambda: store.open(session, holder="x"),
        "read": lambda: store.read(session),
        "describe": lambda: store.describe(session),
        "annotate": lambda: store.annotate(session, {}),
        "fork": lambda: store.fork(session),
        "delete": lambda: store.delete(session),
        "check": lambda: store.check(session),
        "export": export,
    }
    for method, attempt in attempts.items():
        await _refused(attempt(), SessionNotFound, f"{method} of the session {session!r}, which is not there")


async def _all(attempts: Sequence[Awaitable[T]]) -> list[T | LegatoError]:
    """The outcomes of all `attempts`, made at once."""
    outcomes: dict[int, T | LegatoError] = {}

    async def settle(place: int, attempt: Awaitable[T]) -> None:
        try:
            outcomes[place] = await attempt
        except LegatoError as error:
            outcomes[place] = error

    async with anyio.create_task_group() as group:
        for place, attempt in enumerate(attempts):
            group.start_soon(settle, place, attempt)
    return [outcomes[place] for place in range(len(attempts))]


async def _refused(attempt: Awaitable[object], kind: type[LegatoError], what: str) -> LegatoError:
    try:
        await attempt
    except kind as error:
        return error
    raise NotConforming(f"{what} must be refused with {kind.__name__}, and was not")


def _same(found: object, expected: object, what: str) -> None:
    if _plain(found) != _plain(expected):
        raise NotConforming(f"{what}: expected {_short(expected)}, found {_short(found)}")


def _plain(value: object) -> object:
    """A sequence as a list: a store may return either kind."""
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 400 else text[:400] + "…"
