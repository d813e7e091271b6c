"""A server collects garbage rarely, in moments of its own choice, and leaves the collector as it was."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import anyio
import pytest
from msgspec import Struct

from legato.serving import collector
from legato.serving.collector import rare_collections

KEPT = 200
"""objects: more than what else is new between two looks"""


class Served(Struct):
    """A server that is said to do this."""

    is_busy: bool = True
    is_awaited: bool = False


class Ring:
    def __init__(self) -> None:
        self.own = self


def make_garbage() -> weakref.ref[Ring]:
    """An object that only the collector frees."""
    return weakref.ref(Ring())


def make_old_garbage() -> weakref.ref[Ring]:
    """An object that was in use when the collector looked at it, and is not any more."""
    ring = Ring()
    gc.collect(0)
    return weakref.ref(ring)


async def become(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not is_so():  # noqa: ASYNC110  # the collector tells nobody
            await anyio.sleep(0.001)


@pytest.mark.anyio
async def test_what_was_there_is_left_alone_and_the_collector_is_as_it_was_before():
    before = gc.get_threshold()
    async with rare_collections(Served()):
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() != before

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


@pytest.mark.anyio
async def test_while_somebody_is_served_only_what_is_new_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(collector, "BETWEEN", 0.001)
    async with rare_collections(Served()):
        new = make_garbage()
        await become(lambda: new() is None)

        old = make_old_garbage()
        new = make_garbage()
        await become(lambda: new() is None)
        assert old() is not None


@pytest.mark.anyio
@pytest.mark.parametrize(("busy", "limit"), [(False, "DUE"), (True, "OVERDUE")])
async def test_everything_is_looked_at_when_nobody_waits_or_it_is_high_time(
    busy: bool, limit: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(collector, "BETWEEN", 0.001)
    monkeypatch.setattr(collector, "RARELY", 0.001)
    monkeypatch.setattr(collector, limit, 3 * KEPT)
    async with rare_collections(Served(is_busy=busy)):
        old = make_old_garbage()
        kept = [Ring() for _ in range(4 * KEPT)]
        await become(lambda: old() is None)
    assert kept


@pytest.mark.anyio
async def test_nothing_is_looked_at_while_somebody_waits_for_first_words_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(collector, "BETWEEN", 0.001)
    monkeypatch.setattr(collector, "SOON", 0.001)
    monkeypatch.setattr(collector, "LATEST", 1_000_000)
    served = Served(is_awaited=True)
    async with rare_collections(served):
        new = make_garbage()
        await anyio.sleep(0.05)
        assert new() is not None
        served.is_awaited = False
        await become(lambda: new() is None)

        served.is_awaited = True
        monkeypatch.setattr(collector, "LATEST", 0.01)
        new = make_garbage()
        await become(lambda: new() is None)
