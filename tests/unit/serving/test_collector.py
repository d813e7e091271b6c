"""A server collects garbage rarely, in moments of its own choice, and leaves the collector as it was."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import anyio
import pytest

from legato.serving import collector
from legato.serving.collector import rare_collections


class Ring:
    def __init__(self) -> None:
        self.own = self


def make_garbage(rings: int) -> weakref.ref[Ring]:
    """Objects that only the collector frees; one of them."""
    first, *_ = [weakref.ref(Ring()) for _ in range(rings)]
    return first


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
    async with rare_collections(lambda: True):
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() != before

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


@pytest.mark.anyio
async def test_while_somebody_is_served_only_what_is_new_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(collector, "BETWEEN", 0.001)
    async with rare_collections(lambda: True):
        new = make_garbage(collector.FEW)
        await become(lambda: new() is None)

        old = make_old_garbage()
        new = make_garbage(collector.FEW)
        await become(lambda: new() is None)
        assert old() is not None


@pytest.mark.anyio
@pytest.mark.parametrize(("busy", "limit"), [(False, "DUE"), (True, "OVERDUE")])
async def test_everything_is_looked_at_when_nobody_waits_or_it_is_high_time(
    busy: bool, limit: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(collector, "BETWEEN", 0.001)
    monkeypatch.setattr(collector, "RARELY", 0.001)
    monkeypatch.setattr(collector, limit, 3 * collector.FEW)
    async with rare_collections(lambda: busy):
        old = make_old_garbage()
        kept = [Ring() for _ in range(4 * collector.FEW)]
        await become(lambda: old() is None)
    assert kept
