"""The gateway's file: it outlives the process, is private and bounded, and a client never waits for it in vain."""

from __future__ import annotations

import sqlite3
import stat
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from gateway_clients import heard_from, post, seen_by, simulated_world
from gateway_support import body_of, door
from legato.errors import StoreCorrupt, StoreError, StoreUnavailable
from legato.gateway import sqlite_state
from legato.gateway.gateway import REQUEST_HEADER, Gateway
from legato.gateway.reports import RequestReport, RouteAttempt
from legato.gateway.sqlite_state import REST, SqliteState, forget
from legato.gateway.state import GivenAnswer
from legato.model import Action, Decision, Dialect, Fault, Usage
from legato.serving.contract import give_back
from legato.store.sqlite import SqliteStore
from legato.transport import KeyRing
from legato.transport.contract import Ask
from legato.transport.stored_responses import Stored

from builders import ai

KIMI = "kimi/kimi-k2-thinking"
WAL = (3, 53, 0)
"""a version of SQLite that is trusted with a write-ahead log, whatever is linked here"""


def given(text: str = "Done.") -> GivenAnswer:
    return GivenAnswer(ai(text), KIMI)


def stored(tenant: str = "t") -> Stored:
    return Stored(tenant, {"id": "resp_1", "output": []}, {"input": "hi"})


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def on(path: Path, scenario: Callable[[SqliteState], Awaitable[Any]], **options: Any) -> Any:
    """What `scenario` gives on the file at `path`, which is opened for it and closed after it."""

    async def run() -> Any:
        async with SqliteState(path, **options) as state:
            return await scenario(state)

    return anyio.run(run)


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program has the file for itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


def everything_in(path: Path) -> int:
    """How many rows there are, found or not."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT (SELECT count(*) FROM kept) + (SELECT count(*) FROM names)").fetchone()[0]


# --- it stays ---------------------------------------------------------------------------------------------------------

REPORT = RequestReport(
    id="req_1",
    tenant="t",
    api="anthropic",
    asked="claude-x",
    profile="mine",
    attempts=[RouteAttempt("a/b", "Overloaded"), RouteAttempt(KIMI)],
    decisions=(Decision(Action.DROPPED, "foreign-thinking", Fault.CANONICAL, "left out", ()),),
    notes=["messages[3]: no role"],
    usage=Usage(input=10, output=2),
)


def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    async def keep(state: SqliteState) -> bytes:
        await state.remember("t", ["call a", "place b"], given())
        await state.keep_response(stored())
        await state.keep_report(REPORT)
        return await state.sealing_key(b"first")

    async def find(state: SqliteState) -> None:
        assert dict(await state.find("t", ["call a", "place b"])) == {"call a": given(), "place b": given()}
        assert await state.response("t", "resp_1") == stored()
        assert await state.report("t", "req_1") == REPORT
        assert await state.report("u", "req_1") is None
        assert await state.sealing_key(b"second") == b"first"

    assert on(tmp_path / "a.db", keep) == b"first"
    on(tmp_path / "a.db", find)


def test_a_newer_report_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    async def scenario(state: SqliteState) -> RequestReport | None:
        await state.keep_report(REPORT)
        await state.keep_report(RequestReport(id="req_1", tenant="t", api="anthropic", asked="x", error="Rejected"))
        return await state.report("t", "req_1")

    report = on(tmp_path / "a.db", scenario)
    assert report.error == "Rejected"
    assert everything_in(tmp_path / "a.db") == 2


@pytest.mark.parametrize("version", [WAL, (3, 40, 1)], ids=["wal", "journal"])
def test_two_gateways_share_a_file(tmp_path: Path, version: tuple[int, ...]) -> None:
    async def scenario(one: SqliteState) -> None:
        async with SqliteState(tmp_path / "a.db", sqlite_version=version) as other:
            async with anyio.create_task_group() as group:
                for number in range(20):
                    group.start_soon(one.remember, "t", [f"one {number}"], given(f"one {number}"))
                    group.start_soon(other.remember, "t", [f"other {number}"], given(f"other {number}"))
            keys = [f"{whose} {number}" for whose in ("one", "other") for number in range(20)]
            assert dict(await one.find("t", keys)) == {key: given(key) for key in keys}
            assert dict(await other.find("t", keys)) == {key: given(key) for key in keys}
            assert await one.sealing_key(b"one") == await other.sealing_key(b"other") == b"one"

    on(tmp_path / "a.db", scenario, sqlite_version=version)


# --- it is private and bounded ----------------------------------------------------------------------------------------


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.db"

    async def scenario(state: SqliteState) -> dict[str, str]:
        await state.remember("t", ["a"], given())
        return {file.name: stat.filemode(file.stat().st_mode) for file in (path.parent, *path.parent.iterdir())}

    assert on(path, scenario, sqlite_version=WAL) == {
        "new": "drwx------",
        "a.db": "-rw-------",
        "a.db-wal": "-rw-------",
        "a.db-shm": "-rw-------",
    }


def test_what_is_too_old_is_not_found_and_is_removed_at_the_next_start(tmp_path: Path) -> None:
    clock = Clock()

    async def keep(state: SqliteState) -> None:
        await state.remember("t", ["old"], given())
        await state.keep_response(stored())
        clock.now += 60
        await state.remember("t", ["new"], given())
        clock.now += 40
        assert list(await state.find("t", ["old", "new"])) == ["new"]
        assert await state.response("t", "resp_1") is None
        assert everything_in(state.path) == 6

    async def look(state: SqliteState) -> list[str]:
        return list(await state.find("t", ["old", "new"]))

    on(tmp_path / "a.db", keep, retention=100, clock=clock)
    assert on(tmp_path / "a.db", look, retention=100, clock=clock) == ["new"]
    assert everything_in(tmp_path / "a.db") == 2


def test_what_is_too_old_is_removed_from_time_to_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_state, "SWEEP", 0.01)
    clock = Clock()

    async def scenario(state: SqliteState) -> None:
        await state.remember("t", ["a"], given())
        assert everything_in(state.path) == 2
        clock.now += 100
        with anyio.fail_after(30):
            while everything_in(state.path):  # noqa: ASYNC110 - the writer's thread tells nobody
                await anyio.sleep(0.01)

    on(tmp_path / "a.db", scenario, retention=100, clock=clock, sqlite_version=WAL)


def test_the_oldest_make_room(tmp_path: Path) -> None:
    path, chance = tmp_path / "a.db", Random(0)

    async def scenario(state: SqliteState) -> list[str]:
        for number in range(40):
            await state.remember("t", [str(number)], given(chance.randbytes(5_000).hex()))
        return list(await state.find("t", [str(number) for number in range(40)]))

    left = on(path, scenario, max_bytes=100_000, sqlite_version=WAL)
    assert 8 < len(left) < 20
    assert left == [str(number) for number in range(40 - len(left), 40)]
    assert path.stat().st_size < 150_000
    assert on(path, scenario, max_bytes=1, sqlite_version=WAL) == []  # less than the tables need: nothing fails


def test_everything_of_a_tenant_can_be_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def keep(state: SqliteState) -> None:
        for tenant in ("t", "u", ""):
            await state.remember(tenant, ["call a", "place b"], given())
            await state.keep_response(stored(tenant))
            await state.sealing_key(b"the key")
        await state.keep_report(REPORT)

    async def look(state: SqliteState) -> list[str]:
        assert await state.sealing_key(b"another") == b"the key"
        assert await state.report("t", "req_1") is None
        found = [(tenant, await state.find(tenant, ["call a"])) for tenant in ("t", "u", "")]
        return [tenant for tenant, answers in found if answers]

    on(path, keep)
    assert forget(path, "t") == Counter(answer=1, response=1, report=1)
    assert on(path, look) == ["u", ""]
    assert forget(path, "") == Counter(answer=1, response=1)
    assert forget(path, None) == Counter(answer=1, response=1)
    assert forget(path, None) == Counter()
    assert on(path, look) == []
    assert everything_in(path) == 0


def test_what_is_forgotten_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    names = [f"call confidential-{number}" for number in range(100)]

    async def keep(state: SqliteState) -> None:
        for name in names:
            await state.remember("t", [name], given("x" * 500))

    on(path, keep, sqlite_version=WAL)
    before = path.stat().st_size
    assert b"confidential-77" in path.read_bytes()
    forget(path, "t")
    assert b"confidential" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert path.stat().st_size < before


def test_there_is_nothing_to_forget_in_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist: there is nothing to forget"):
        forget(tmp_path / "a.db", None)
    assert list(tmp_path.iterdir()) == []


# --- it cannot be used ------------------------------------------------------------------------------------------------


async def nothing(_: SqliteState) -> None:
    pass


def _of_sessions(path: Path) -> None:
    anyio.run(SqliteStore(path).connect)


def _of_the_future(path: Path) -> None:
    on(path, nothing)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def _without_tables(path: Path) -> None:
    on(path, nothing)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE names")


UNUSABLE: dict[str, tuple[Callable[[Path], object], type[StoreError], str]] = {
    "a folder": (
        Path.mkdir,
        StoreError,
        "is a folder: gateway state cannot be stored there; name a file for it with --store",
    ),
    "a text": (lambda path: path.write_text("Dear diary, " * 500), StoreCorrupt, "it is no database"),
    "sessions": (_of_sessions, StoreError, "for another purpose, and nothing in it was changed; name another file"),
    "a newer file": (_of_the_future, StoreError, "was written by a newer Legato"),
    "a damaged file": (_without_tables, StoreCorrupt, "has lost its tables"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_file_that_cannot_be_used_is_refused_at_the_start_and_left_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "a.db"
    make, error, words = UNUSABLE[what]
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(error) as caught:
        on(path, nothing)
    assert words in caught.value.message
    assert str(path) in caught.value.message
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_a_file_that_another_program_keeps_locked_is_refused_at_the_start(tmp_path: Path) -> None:
    on(tmp_path / "a.db", nothing)
    with locked(tmp_path / "a.db"), pytest.raises(StoreUnavailable, match="another program keeps it locked"):
        on(tmp_path / "a.db", nothing, patience=0.05)


# --- it fails while it is in use --------------------------------------------------------------------------------------


def test_a_file_that_fails_knows_nothing_says_so_once_and_comes_back(tmp_path: Path) -> None:
    path, clock, said = tmp_path / "a.db", Clock(), list[str]()

    async def scenario(state: SqliteState) -> None:
        await state.remember("t", ["a"], given())
        with locked(path):
            for _ in range(3):
                assert dict(await state.find("t", ["a"])) == {}
                await state.remember("t", ["b"], given())
                assert await state.response("t", "resp_1") is None
                assert not await state.forget_response("t", "resp_1")
            assert len(said) == 1
        assert dict(await state.find("t", ["a"])) == {}  # it is left alone for a while
        clock.now += REST + 1
        assert list(await state.find("t", ["a", "b"])) == ["a"]
        await state.remember("t", ["b"], given())
        assert list(await state.find("t", ["a", "b"])) == ["a", "b"]

    on(path, scenario, patience=0.05, monotonic=clock, warn=said.append)
    failed, works = said
    assert f"{path} is not available" in failed
    assert "Answers go on without it" in failed
    assert works == f"{path} works again"


def test_only_the_first_of_many_writers_waits_for_a_file_that_fails(tmp_path: Path) -> None:
    async def scenario(state: SqliteState) -> None:
        with locked(state.path), anyio.fail_after(15):  # one after the other they would wait for 25 seconds
            async with anyio.create_task_group() as group:
                for number in range(50):
                    group.start_soon(state.remember, "t", [str(number)], given())

    on(tmp_path / "a.db", scenario, patience=0.5)


def test_the_event_loop_goes_on_while_the_file_is_busy(tmp_path: Path) -> None:
    said: list[str] = []

    async def scenario(state: SqliteState) -> None:
        with locked(state.path) as other:
            async with anyio.create_task_group() as group:
                group.start_soon(state.remember, "t", ["a"], given())
                await anyio.sleep(0.05)
                other.execute("ROLLBACK")  # nobody would come to this if the loop stood still
        assert list(await state.find("t", ["a"])) == ["a"]

    on(tmp_path / "a.db", scenario, patience=20, warn=said.append)
    assert said == []


# --- a gateway on it --------------------------------------------------------------------------------------------------


def ask(stream: bool, **more: Any) -> Ask:
    return post("/v1/responses", {"model": "x", "input": "hi", "stream": stream, **more})


def get(path: str, method: str = "GET") -> Ask:
    return Ask(method=method, path=path, query={}, headers={}, body=b"")


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_client_is_answered_while_the_file_fails(tmp_path: Path, stream: bool) -> None:
    said: list[str] = []

    async def scenario(state: SqliteState) -> None:
        gateway = Gateway(simulated_world(), KIMI, state=state)
        with locked(state.path):
            for _ in range(2):
                heard = await heard_from(gateway, ask(stream))
                assert (heard.status, heard.is_cut) == (200, False)
                assert b"(simulated) heard" in heard.body
                report = await gateway.report(heard.headers["x-legato-request"])
                assert report is not None
            assert (await heard_from(gateway, ask(stream, previous_response_id="resp_1"))).status == 400

    on(tmp_path / "a.db", scenario, patience=0.05, warn=said.append)
    assert len(said) == 1


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_client_goes_on_from_a_response_after_a_restart(tmp_path: Path, stream: bool) -> None:
    async def first(state: SqliteState) -> tuple[str, str]:
        heard = await heard_from(Gateway(simulated_world(), KIMI, state=state), ask(stream))
        return body_of([heard.body], door(Dialect.OPENAI_RESPONSES))["id"] if stream else heard.json[
            "id"
        ], heard.headers["x-legato-request"]

    async def second(state: SqliteState) -> None:
        world = simulated_world()
        gateway = Gateway(world, KIMI, state=state)
        assert (await heard_from(gateway, ask(stream, previous_response_id=response_id))).status == 200
        (sent,) = seen_by(world).requests
        assert [message["role"] for message in sent.json["messages"]] == ["user", "assistant", "user"]
        report = await gateway.report(request_id)
        assert report is not None
        assert report.attempts == [RouteAttempt(KIMI)]
        assert (await heard_from(gateway, get(f"/v1/responses/{response_id}"))).json["id"] == response_id
        assert (await heard_from(gateway, get(f"/v1/responses/{response_id}", "DELETE"))).json["deleted"]
        assert (await heard_from(gateway, get(f"/v1/responses/{response_id}"))).status == 404

    response_id, request_id = on(tmp_path / "a.db", first)
    on(tmp_path / "a.db", second)


def test_what_a_client_saw_before_it_left_is_in_the_file(tmp_path: Path) -> None:
    async def scenario(state: SqliteState) -> None:
        gateway = Gateway(simulated_world(), KIMI, state=state)
        response = await gateway.answer(ask(True))
        with anyio.CancelScope() as scope:
            async for chunk in response.chunks:
                if b"heard" in chunk:
                    scope.cancel()
        await give_back(response)
        assert scope.cancelled_caught

    on(tmp_path / "a.db", scenario)
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        assert {kind for (kind,) in connection.execute("SELECT kind FROM kept")} >= {"answer", "report"}


def test_a_refusal_is_in_the_report_after_a_restart(tmp_path: Path) -> None:
    async def refused(state: SqliteState) -> str:
        gateway = Gateway(simulated_world(), KIMI, state=state)
        return (await heard_from(gateway, ask(False, previous_response_id="resp_1"))).headers["x-legato-request"]

    async def look(state: SqliteState) -> RequestReport | None:
        return await Gateway(simulated_world(), KIMI, state=state).report(request_id)

    request_id = on(tmp_path / "a.db", refused)
    assert on(tmp_path / "a.db", look).error == "TurnedAway"


def test_no_key_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario(state: SqliteState) -> None:
        world = replace(simulated_world(), keys=KeyRing({"kimi": "sk-provider"}, {}))
        request = replace(ask(True), headers={"authorization": "Bearer sk-client"})
        assert (await heard_from(Gateway(world, KIMI, state=state), request, "t")).status == 200

    on(path, scenario)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT kind, data FROM kept").fetchall()
    assert sorted(kind for kind, _ in rows) == ["answer", "report", "response"]
    assert not any(b"sk-" in zlib.decompress(data) for _, data in rows)
    assert b"sk-" not in path.read_bytes()


@pytest.mark.parametrize("forgets", [True, False])
def test_a_gateway_that_runs_drops_what_somebody_had_forgotten(tmp_path: Path, forgets: bool) -> None:
    path = tmp_path / "state.db"

    async def scenario(state: SqliteState) -> None:
        gateway = Gateway(simulated_world(), KIMI, key=b"k", state=state)
        said: list[Any] = [{"role": "user", "content": "hello"}]
        first = await heard_from(gateway, post("/v1/chat/completions", {"model": "m", "messages": said}))
        before = gateway.reports
        if forgets:
            await anyio.to_thread.run_sync(forget, path, None)
        report = await gateway.report(first.headers[REQUEST_HEADER])
        assert (report is None, gateway.reports is before) == (forgets, not forgets)
        said += [first.json["choices"][0]["message"], {"role": "user", "content": "and now?"}]
        again = await heard_from(gateway, post("/v1/chat/completions", {"model": "m", "messages": said}))
        told = await gateway.report(again.headers[REQUEST_HEADER])
        assert told is not None
        assert (again.status, told.warm) == (200, not forgets)

    on(path, scenario)
