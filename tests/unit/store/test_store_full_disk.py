"""A disk that is really full: a small one, in a mount namespace of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from legato.errors import StoreUnavailable
from legato.store.sqlite import SqliteStore
from legato.store.testing.samples import say

_ON_SMALL_DISK = [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    'mount -t tmpfs -o size=20m x "$0" && exec "$@"',
]


def _can_have_small_disk(folder: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*_ON_SMALL_DISK, folder, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("version", [(3, 40, 1), (3, 53, 0)], ids=["rollback journal", "write-ahead log"])
def test_a_full_disk_keeps_nobody_from_deleting_and_then_from_going_on(
    tmp_path: Path, version: tuple[int, ...]
) -> None:
    if not _can_have_small_disk(tmp_path):
        pytest.skip("no file system can be mounted here")
    command = [*_ON_SMALL_DISK, tmp_path, sys.executable, __file__, tmp_path, ".".join(map(str, version))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


async def _delete_on_full_disk(folder: Path, version: tuple[int, ...]) -> None:
    def opened() -> SqliteStore:
        return SqliteStore(folder / "a.db", sqlite_version=version)

    async with opened() as store:
        going_on = await store.create()
        large = await store.create(records=[say("x" * 2_000_000), *[say("y" * 1_000)] * 3_000])
    _fill(folder / "filler")

    async with opened() as store:
        with pytest.raises(StoreUnavailable, match="its disk is full; free some space or delete a session"):
            await store.create(records=[say("z" * 2_000_000)])
        await store.delete(large)
        assert [one.id for one in await store.list()] == [going_on]
        assert list(await store.check()) == []
        lease = await store.open(going_on, holder="x")
        for number in range(20):
            await store.append(lease, number, [say("z" * 10_000)])
    assert b"y" * 100 not in (folder / "a.db").read_bytes()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 512):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


if __name__ == "__main__":
    import anyio

    anyio.run(_delete_on_full_disk, Path(sys.argv[1]), tuple(map(int, sys.argv[2].split("."))))
