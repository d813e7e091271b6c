"""What the figures of the gateway are measured with does its work; how fast anything is, no test says."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import msgspec
import pytest

from bench.cases.clients import ANTHROPIC, Canned
from bench.gateway import growth, load
from bench.gateway.servers import Backend
from legato.request import resolve


async def ask_the_backend() -> tuple[load.FirstBytes, float, list[float]]:
    backend = Backend(Canned.of(resolve(ANTHROPIC)))
    async with await asyncio.start_server(backend.converse, "127.0.0.1", 0, limit=1 << 22) as server:
        port: int = server.sockets[0].getsockname()[1]
        first = await load.first_bytes(port, [1])
        rate = await load.requests_a_second(port, 2, 0.05)
        return first, rate, await load.beside_open_streams(port, streams=2, rate=20, seconds=0.1, settling=0.05)


def test_the_client_hears_whole_streamed_and_held_answers():
    first, rate, beside = asyncio.run(ask_the_backend())
    assert len(first.cold) == len(first.warm) == 1
    assert rate > 0
    assert len(beside) == 2


def test_a_request_has_about_80_kilobytes():
    assert 60_000 < len(msgspec.json.encode(load.first_request(1))) < 100_000


@pytest.mark.parametrize("client", growth.CLIENTS.values(), ids=growth.CLIENTS)
def test_a_conversation_grows_by_four_kilobytes_a_request(client: growth.Client):
    costs = growth.grow(client, 4)
    grown = [after.size - before.size for before, after in pairwise(costs)]
    assert all(3_700 < more < 6_500 for more in grown), grown
    assert growth.around(costs, 4).size == costs[-1].size
