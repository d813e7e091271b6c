"""Every backend keeps every promise of the contract."""

from pathlib import Path
from typing import get_args

import anyio
import pytest

from legato.errors import Conflict
from legato.model.records import Record
from legato.store.contract import Lease, Store
from legato.store.memory import MemoryStore, Shelf
from legato.store.testing.conformance import CHECKS, Check, NotConforming, run_conformance
from legato.store.testing.samples import EVERY_RECORD
from store_places import BACKENDS, store_maker


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_backend_keeps_its_promises(backend: str, check: Check, tmp_path: Path) -> None:
    maker = store_maker(backend, tmp_path)

    async def make() -> Store:
        return maker()

    anyio.run(check, make)


def test_the_suite_stores_every_kind_of_record() -> None:
    assert {type(record) for record in EVERY_RECORD} == set(get_args(Record))


def test_the_suite_runs_as_a_whole() -> None:
    shelf: Shelf = {}

    async def make() -> Store:
        return MemoryStore(shelf)

    anyio.run(run_conformance, make)


class _Forgetful(MemoryStore):
    async def append(self, lease: Lease, expected: int, records: object) -> int:
        return expected


class _Unfenced(MemoryStore):
    async def append(self, lease: Lease, expected: int, records: object) -> int:
        try:
            return await super().append(lease, expected, records)  # pyright: ignore[reportArgumentType]
        except Conflict:
            return expected


class _Shared(MemoryStore):
    async def open(self, session_id: str, *, holder: str) -> Lease:
        await self.describe(session_id)
        return Lease(session_id, holder, 1, "same")


@pytest.mark.parametrize("broken", [_Forgetful, _Unfenced, _Shared])
def test_a_store_that_breaks_a_promise_does_not_conform(broken: type[MemoryStore]) -> None:
    shelf: Shelf = {}

    async def make() -> Store:
        return broken(shelf)

    with pytest.raises(NotConforming):
        anyio.run(run_conformance, make)
