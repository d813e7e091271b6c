"""Several processes want the same session: nothing is lost, nothing interleaves, and the losers are told why."""

import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from legato.model.records import Record
from store_places import postgres_url
from store_writer import BATCH, reach, record

WRITER = Path(__file__).parents[1] / "support" / "store_writer.py"
TIMES = 4


def _compete(place: str, session: str, writers: int) -> list[list[str]]:
    """The output of `writers` processes that wrote to the session at the same time."""
    processes = [
        subprocess.Popen(
            [sys.executable, str(WRITER), "compete", place, session, f"w{number}", str(TIMES)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    outcomes = [process.communicate(timeout=600) for process in processes]
    assert [errors for _, errors in outcomes] == [""] * writers
    return [output.splitlines() for output, _ in outcomes]


async def _create(place: str) -> str:
    async with reach(place) as store:
        return await store.create("shared")


async def _look(place: str, session: str) -> tuple[list[Record], list[object]]:
    async with reach(place) as store:
        return list(await store.read(session)), list(await store.check())


@pytest.mark.parametrize("writers", [2, 8])
@pytest.mark.parametrize("backend", ["delete", "wal", "postgres"])
def test_no_record_is_lost_or_interleaved_between_processes(backend: str, writers: int, tmp_path: Path) -> None:
    places = {"delete": str(tmp_path / "a.db"), "wal": f"wal:{tmp_path / 'a.db'}"}
    place = places.get(backend) or postgres_url(fresh=True)
    session = anyio.run(_create, place)

    outputs = _compete(place, session, writers)

    records, problems = anyio.run(_look, place, session)
    batches = [records[start : start + BATCH] for start in range(0, len(records), BATCH)]
    expected = [
        [record(f"w{number}.{batch}.{part}") for part in range(BATCH)]
        for number in range(writers)
        for batch in range(TIMES)
    ]
    assert sorted(map(str, batches)) == sorted(map(str, expected))
    assert problems == []
    ends = sorted(int(line.split()[1]) for lines in outputs for line in lines if line.startswith("stored"))
    assert ends == list(range(BATCH, len(records) + 1, BATCH))
    refusals = [line for lines in outputs for line in lines if line.startswith("refused")]
    told = re.compile(r"refused session shared is being written by writer w\d, process \d+ on \S+ \(since .* UTC\); .*")
    assert [line for line in refusals if not told.fullmatch(line)] == []


def test_a_full_disk_leaves_the_session_readable_and_the_error_clear(tmp_path: Path) -> None:
    place = str(tmp_path / "a.db")
    session = anyio.run(_create, place)
    size = 300_000
    run = subprocess.run(
        [sys.executable, str(WRITER), "fill", place, session, str(size)],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.stderr == ""
    *stored, refused, read, again = run.stdout.splitlines()
    assert stored == [f"stored {number}" for number in range(1, len(stored) + 1)]
    assert len(stored) > 5
    assert refused.startswith(f"refused StoreUnavailable {place} is not available (")
    assert refused.endswith("What was acknowledged before is safe, and nothing of this step was stored")
    assert [read, again] == [f"read {len(stored)}", f"stored {len(stored) + 1}"]
