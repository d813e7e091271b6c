"""What is ready goes out together, in order, and nothing of it waits for what is not."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from starlette.types import Message, Send

from legato.serving.contract import ConnectionCut
from legato.serving.corking import CorkedTransport, FirstWords
from legato.serving.exchange import Sending
from legato.transport.contract import WireResponse


class Wire:
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.told.append(data)

    def close(self) -> None:
        self.told.append("closed")

    def abort(self) -> None:
        self.told.append("aborted")

    def get_write_buffer_size(self) -> int:
        return 100


def corked() -> tuple[CorkedTransport, Wire]:
    wire = Wire()
    return CorkedTransport(cast(asyncio.Transport, wire), asyncio.get_running_loop()), wire


def test_what_is_written_before_others_have_a_turn_goes_out_together():
    async def run() -> None:
        transport, wire = corked()
        transport.write(b"a")
        transport.write(b"b")
        assert (wire.told, transport.get_write_buffer_size()) == ([], 102)

        await asyncio.sleep(0)
        assert (wire.told, transport.get_write_buffer_size()) == ([b"ab"], 100)

        transport.write(b"c")
        await asyncio.sleep(0)
        assert wire.told == [b"ab", b"c"]

    asyncio.run(run())


def test_a_connection_is_closed_when_all_is_out_and_broken_off_at_once():
    async def run() -> None:
        transport, wire = corked()
        transport.write(b"last words")
        transport.close()
        await asyncio.sleep(0)
        assert wire.told == [b"last words", "closed"]

        transport, wire = corked()
        transport.write(b"lost words")
        transport.abort()
        await asyncio.sleep(0)
        assert wire.told == ["aborted"]

    asyncio.run(run())


def test_the_first_words_of_a_stream_wait_neither_for_the_rest_nor_for_others():
    async def run() -> None:
        transport, wire = corked()
        words = FirstWords()
        out: list[tuple[int, list[bytes | str]]] = []

        async def send(message: Any) -> None:
            transport.write(message.get("body", b"head "))

        async def chunks():
            for piece in (b"one ", b"two ", b"three"):
                out.append((words.awaited, wire.told.copy()))
                yield piece

        async def answer(sent: Send) -> None:
            await Sending(sent).all(WireResponse(200, {}, chunks()))

        await words.hasten(answer, send, transport)
        assert out == [(1, []), (0, [b"head one "]), (0, [b"head one "])]
        await asyncio.sleep(0)
        assert wire.told == [b"head one ", b"two three"]
        assert words.awaited == 0

    asyncio.run(run())


def test_nobody_waits_for_the_first_words_of_an_answer_that_has_none():
    async def run() -> None:
        transport, _ = corked()
        words = FirstWords()

        async def fail(_: Send) -> None:
            assert words.awaited == 1
            raise ConnectionCut

        async def send(_: Message) -> None:
            pass

        with pytest.raises(ConnectionCut):
            await words.hasten(fail, send, transport)
        assert words.awaited == 0

    asyncio.run(run())
