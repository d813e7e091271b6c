"""HTTP clients that are answered in this process, asynchronous and not, of both libraries."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import anyio
import pytest

import fake_responder
from fake_responder import BASE, FakeResponder
from legato.errors import ConfigError
from legato.gateway.http_libraries import HttpLibrary, http_library
from legato.gateway.in_process import async_in_process, in_process
from legato.portal import AHEAD, SHARED


@pytest.fixture(params=["httpx2", "httpx"])
def library(request: pytest.FixtureRequest) -> HttpLibrary:
    return http_library(request.param)


@pytest.fixture
def fake() -> FakeResponder:
    return FakeResponder()


@pytest.fixture
def client(fake: FakeResponder, library: HttpLibrary) -> Iterator[Any]:
    with library.client(transport=in_process(lambda: fake, library), base_url=BASE) as client:
        yield client


@pytest.fixture
def async_client(fake: FakeResponder, library: HttpLibrary) -> Any:
    return library.async_client(transport=async_in_process(fake, library), base_url=BASE)


# --- what is asked, and what is answered ------------------------------------------------------------------------------


def test_a_request_is_asked_as_a_server_would_get_it(client: Any, fake: FakeResponder) -> None:
    client.post("/models/a%20b:go/echo?alt=sse&x=%C3%A4", headers={"X-Api-Key": "k"}, content=b"body")
    (ask,) = fake.asks
    assert (ask.method, ask.path, ask.query, ask.body) == (
        "POST",
        "/v1/models/a b:go/echo",
        {"alt": "sse", "x": "ä"},
        b"body",
    )
    assert (ask.headers["x-api-key"], ask.headers["host"]) == ("k", "anywhere.invalid")


def test_an_asynchronous_client_asks_the_same(client: Any, async_client: Any, fake: FakeResponder) -> None:
    async def ask() -> Any:
        return await async_client.post("/echo?alt=sse", json={"a": 1})

    response = anyio.run(ask)
    assert client.post("/echo?alt=sse", json={"a": 1}).json() == response.json() == {"a": 1}
    first, second = fake.asks
    assert (first.path, first.query, first.body) == (second.path, second.query, second.body)


def test_a_status_and_its_headers_arrive(client: Any) -> None:
    response = client.post("/refuse")
    assert (response.status_code, response.headers["retry-after"], response.json()) == (529, "7", {"error": {}})


def test_a_body_that_comes_in_pieces_is_put_together(client: Any, async_client: Any) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"one ", b"two"):
            yield piece

    async def ask() -> bytes:
        return (await async_client.post("/echo", content=pieces())).content

    assert client.post("/echo", content=iter([b"one ", b"two"])).content == b"one two" == anyio.run(ask)


def test_a_body_beyond_all_measure_is_refused_without_being_read_to_its_end(
    client: Any, async_client: Any, fake: FakeResponder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("legato.gateway.in_process.LARGEST_BODY", 4_000)
    taken: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(1)
            yield bytes(1_000)

    async def also_endless() -> AsyncIterator[bytes]:
        for piece in endless():
            yield piece

    async def ask() -> Any:
        return await async_client.post("/echo", content=also_endless())

    for response in (client.post("/echo", content=endless()), anyio.run(ask)):
        assert response.status_code == 413
        assert "longer than 4,000 bytes" in response.json()["error"]["message"]
    assert (len(taken), fake.asks) == (2 * 5, [])


def test_what_the_gateway_raises_reaches_the_caller(client: Any, async_client: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        client.post("/fail")
    with pytest.raises(ZeroDivisionError):
        anyio.run(async_client.post, "/fail")
    assert client.post("/echo", content=b"still there").text == "still there"


# --- streams ----------------------------------------------------------------------------------------------------------


def test_a_piece_arrives_before_the_next_one_is_made(client: Any, async_client: Any, fake: FakeResponder) -> None:
    def read_two() -> list[bytes]:
        with client.stream("POST", "/stepwise") as response:
            pieces = response.iter_raw()
            first = next(pieces)
            fake.go_on.set()
            return [first, *pieces]

    async def read_two_here() -> list[bytes]:
        async with async_client.stream("POST", "/stepwise") as response:
            pieces = response.aiter_raw()
            first = await anext(pieces)
            fake.go_on.set()
            return [first] + [piece async for piece in pieces]

    assert read_two() == [b"first", b"second"]
    fake.go_on.clear()
    assert anyio.run(read_two_here) == [b"first", b"second"]


def test_nothing_is_read_ahead_but_a_few_pieces(client: Any, fake: FakeResponder) -> None:
    with client.stream("POST", "/many") as response:
        next(response.iter_raw())
        for _ in range(50):
            SHARED.call(anyio.sleep, 0)
        assert fake.made <= AHEAD + 2
    assert fake.stopped.is_set()


def test_a_response_that_is_closed_early_stops_whoever_works_on_it(
    client: Any, async_client: Any, fake: FakeResponder
) -> None:
    with client.stream("POST", "/endless") as response:
        assert next(response.iter_raw()) == b"first"
    assert fake.stopped.is_set()

    async def leave() -> None:
        fake.stopped.clear()
        async with async_client.stream("POST", "/endless") as response:
            assert await anext(response.aiter_raw()) == b"first"
        assert fake.stopped.is_set()

    anyio.run(leave)


def test_a_stream_that_is_forgotten_stops_too(client: Any, fake: FakeResponder) -> None:
    response = client.send(client.build_request("POST", "/many"), stream=True)
    del response
    gc.collect()
    assert fake.stopped.is_set()


def test_a_cut_is_an_error_of_the_protocol(
    client: Any, async_client: Any, library: HttpLibrary, fake: FakeResponder
) -> None:
    async def read() -> None:
        await async_client.post("/cut")

    for path in ("/cut", "/cut-at-once"):
        with pytest.raises(library.cut, match="broke off"):
            client.post(path)
    assert fake.stopped.is_set()
    with pytest.raises(library.cut, match="broke off"):
        anyio.run(read)


def test_what_came_before_a_cut_is_given(client: Any, library: HttpLibrary) -> None:
    with client.stream("POST", "/cut") as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"first"
        with pytest.raises(library.cut):
            next(pieces)


# --- waiting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/silent", "/endless"])
def test_silence_beyond_the_read_timeout_is_the_librarys_own_error(
    client: Any, async_client: Any, library: HttpLibrary, fake: FakeResponder, path: str
) -> None:
    with pytest.raises(library.too_slow, match=r"nothing came for 0\.01 seconds"):
        client.post(path, timeout=0.01)
    assert fake.stopped.is_set()

    async def ask() -> None:
        await async_client.post(path, timeout=0.01)

    fake.stopped.clear()
    with pytest.raises(library.too_slow, match=r"nothing came for 0\.01 seconds"):
        anyio.run(ask)
    assert fake.stopped.is_set()


def test_a_cancelled_task_stops_its_request(async_client: Any, fake: FakeResponder) -> None:
    async def cancel(path: str) -> None:
        fake.stopped.clear()
        async with anyio.create_task_group() as group:
            group.start_soon(async_client.post, path)
            await anyio.to_thread.run_sync(fake.waits.wait)
            group.cancel_scope.cancel()
        assert fake.stopped.is_set()
        fake.waits.clear()

    anyio.run(cancel, "/silent")
    anyio.run(cancel, "/endless")


@pytest.mark.parametrize("path", ["/silent", "/endless"])
def test_ctrl_c_stops_the_request(client: Any, fake: FakeResponder, path: str) -> None:
    heard = threading.Event()

    def interrupt(*_: object) -> None:
        if not heard.is_set():
            heard.set()
            raise KeyboardInterrupt

    def press() -> None:
        fake.waits.wait()
        # A signal that comes just before the main thread begins to wait does not wake it; the next one does.
        while not heard.wait(0.05):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        presser = threading.Thread(target=press)
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            client.post(path)
        presser.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert fake.stopped.is_set()


def test_another_thread_may_close_a_stream_that_one_waits_for(
    client: Any, library: HttpLibrary, fake: FakeResponder
) -> None:
    with client.stream("POST", "/endless") as response, ThreadPoolExecutor() as pool:
        reading = pool.submit(lambda: list(response.iter_raw()))
        fake.waits.wait()
        response.close()
        assert isinstance(reading.exception(), library.closed)
    assert fake.stopped.is_set()


def test_another_task_may_close_a_stream_that_one_waits_for(
    async_client: Any, library: HttpLibrary, fake: FakeResponder
) -> None:
    async def read(response: Any) -> None:
        with pytest.raises(library.closed):
            await response.aread()

    async def close_it() -> None:
        async with async_client.stream("POST", "/endless") as response, anyio.create_task_group() as group:
            group.start_soon(read, response)
            await anyio.to_thread.run_sync(fake.waits.wait)
            await response.aclose()
        assert fake.stopped.is_set()

    anyio.run(close_it)


@pytest.mark.parametrize("path", ["/endless", "/many"])
def test_a_stream_that_was_closed_between_two_pieces_does_not_seem_whole(
    client: Any, async_client: Any, library: HttpLibrary, path: str
) -> None:
    with client.stream("POST", path) as response:
        pieces = response.iter_raw()
        next(pieces)
        response.close()
        with pytest.raises(library.closed):
            list(pieces)

    async def close_between() -> None:
        async with async_client.stream("POST", path) as response:
            pieces = response.aiter_raw()
            await anext(pieces)
            await response.aclose()
            with pytest.raises(library.closed):
                await anext(pieces)

    anyio.run(close_between)


# --- threads, loops, processes ----------------------------------------------------------------------------------------


def test_many_threads_share_a_client(client: Any) -> None:
    begin = threading.Barrier(20)

    def ask(number: int) -> tuple[str, str]:
        begin.wait()
        response = client.post("/echo", content=str(number))
        return response.text, response.headers["x-thread"]

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(20)))
    assert [text for text, _ in answers] == [str(number) for number in range(20)]
    assert len({thread for _, thread in answers}) == 1


def test_two_clients_share_nothing_but_the_thread(client: Any, library: HttpLibrary, fake: FakeResponder) -> None:
    other = FakeResponder()
    with library.client(transport=in_process(lambda: other, library), base_url=BASE) as second:
        threads = {each.post("/echo").headers["x-thread"] for each in (client, second)}
    assert (len(threads), len(fake.asks), len(other.asks)) == (1, 1, 1)
    assert (other.is_closed.is_set(), fake.is_closed.is_set()) == (True, False)


def test_a_client_works_where_a_loop_already_runs(client: Any) -> None:
    async def notebook_cell() -> str:
        return client.post("/echo", content=b"here").text

    assert asyncio.run(notebook_cell()) == "here"


def test_closing_a_client_closes_what_stands_behind_it(client: Any, async_client: Any, fake: FakeResponder) -> None:
    client.post("/echo")
    assert not fake.is_closed.is_set()
    client.close()
    assert fake.is_closed.is_set()

    fake.is_closed.clear()
    anyio.run(async_client.aclose)
    assert fake.is_closed.is_set()


def test_a_client_that_nobody_holds_any_more_is_closed(library: HttpLibrary, fake: FakeResponder) -> None:
    client = library.client(transport=in_process(lambda: fake, library), base_url=BASE)
    client.post("/echo")
    del client
    gc.collect()
    SHARED.call(anyio.sleep, 0)
    assert fake.is_closed.wait(60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_child_builds_a_gateway_of_its_own(library: HttpLibrary) -> None:
    built: list[FakeResponder] = []

    def build() -> FakeResponder:
        built.append(FakeResponder())
        return built[-1]

    def told(client: Any) -> str:
        answer = client.post("/echo", content=b"well").text
        return json.dumps([answer, len(built), [len(each.asks) for each in built]])

    with library.client(transport=in_process(build, library), base_url=BASE) as client:
        with client.stream("POST", "/endless") as response:
            next(response.iter_raw())
            assert _in_child(lambda: told(client)) == ["well", 2, [1, 1]]
        assert json.loads(told(client)) == ["well", 1, [2]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_stream_of_the_parent_is_neither_read_nor_closed_by_a_child(client: Any, fake: FakeResponder) -> None:
    with client.stream("POST", "/stepwise") as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"first"

        def read_and_close() -> str:
            try:
                next(pieces)
            except RuntimeError as error:
                response.close()
                return json.dumps(str(error))
            return json.dumps("read")

        assert "process that was forked" in _in_child(read_and_close)
        fake.go_on.set()
        assert next(pieces) == b"second"


def _in_child(work: Any) -> Any:
    """What `work` tells of itself, in a forked child."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on: a fork beside threads, which is the point
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        value = told.read()
    os.waitpid(child, 0)
    return json.loads(value)


SUPPORT = os.path.dirname(fake_responder.__file__)
EXITS = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from fake_responder import BASE, FakeResponder
from legato.gateway.http_libraries import http_library
from legato.gateway.in_process import in_process

fake = FakeResponder()
library = http_library(sys.argv[2])
client = library.client(transport=in_process(lambda: fake, library), base_url=BASE)

def read(path):
    for _ in client.send(client.build_request("POST", path), stream=True).iter_raw():
        pass

response = client.send(client.build_request("POST", "/endless"), stream=True)
print(next(response.iter_raw()))
threading.Thread(target=read, args=["/endless"], daemon=True).start()
threading.Thread(target=client.post, args=["/silent"], daemon=True).start()
fake.waits.wait()

import atexit
atexit._run_exitfuncs()
print(fake.stopped.is_set(), fake.is_closed.is_set())
"""


def test_a_program_may_end_with_open_streams(library: HttpLibrary) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", EXITS, SUPPORT, library.name],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "b'first'\nTrue True\n")


# --- libraries --------------------------------------------------------------------------------------------------------


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    http_library.cache_clear()
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ConfigError, match=r"pip install httpx$"):
        http_library("httpx")
    http_library.cache_clear()


def test_a_library_that_no_sdk_is_built_on_is_refused() -> None:
    with pytest.raises(ConfigError, match="choose httpx2 or httpx"):
        http_library(cast(Any, "requests"))
