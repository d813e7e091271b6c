"""The gateway's state in one SQLite file: it outlives the process, and several processes may share it.

Everything is compressed JSON under the names in `sqlite_tables`. A file that cannot be used is refused when the state
is opened. One that fails later must not cost a client its answer: it is left alone for a while, which is said once, and
conversations go on by what their clients carry.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self, TypeVar

import anyio
import msgspec

from legato.diagnostics.events import Event, Gravity
from legato.diagnostics.logs import log_events
from legato.errors import StoreError
from legato.gateway import sqlite_tables as tables
from legato.gateway.reports import RequestReport
from legato.gateway.sqlite_tables import GATEWAY_STATE, KeptItem
from legato.gateway.state import GivenAnswer, item_ids
from legato.store.sqlite.access import Beat, SqliteFile
from legato.store.sqlite.file import connect_file, safe_journal, translated
from legato.store.sqlite.schema import migrate
from legato.transport.stored_responses import Stored

T = TypeVar("T")

RETENTION = 30 * 86_400.0
"""seconds that anything is kept: as long as OpenAI keeps the responses that it stores"""

MAX_FILE_BYTES = 1 << 30
"""bytes of the file that may be in use: our choice, months of one person's work"""

PATIENCE = 5.0
"""seconds to wait for another process that writes: our choice; a client waits as long for the end of its answer"""

REST = 30.0
"""seconds for which a file that failed is left alone: our choice"""

SWEEP = 3_600.0
"""seconds between removals of what is too old: our choice; nobody finds it meanwhile"""

ANSWER, RESPONSE, REPORT = "answer", "response", "report"
ITEM = "item"
"""of a response"""

_UNKEPT = (RecursionError, ValueError, TypeError)
"""what cannot be written as JSON (nested too deeply), or is no text for SQLite (half of a character in an id)"""


class SqliteState:
    """A `GatewayState` in the file at `path`.

    `retention` is how many seconds anything is kept, and `max_bytes` how much of the file may be in use: the oldest
    make room. `warn` is told of a file that fails while it is used, once, and that it works again.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        retention: float = RETENTION,
        max_bytes: int = MAX_FILE_BYTES,
        patience: float = PATIENCE,
        warn: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        sqlite_version: tuple[int, ...] = sqlite3.sqlite_version_info,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self._retention = retention
        self._max_bytes = max_bytes
        self._warn = warn
        self._clock = clock
        self._monotonic = monotonic
        self._file = SqliteFile(
            self.path,
            Beat(job=self._sweep, interval=SWEEP, is_needed=lambda: self._is_open),
            journal=safe_journal(sqlite_version),
            patience=patience,
            schema=GATEWAY_STATE,
        )
        self._turn = anyio.Lock()
        self._is_open = False
        self._rests_until = 0.0
        self._fails = False

    async def __aenter__(self) -> Self:
        """Make or migrate the file, and remove what is too old; raises `StoreError` that says what is wrong with it."""

        def job(connection: sqlite3.Connection) -> None:
            self._sweep(connection)
            self._is_open = True  # in the writer's thread, which asks after each job whether it has to sweep later

        try:
            await self._file.write(job)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._file.close()

    async def sealing_key(self, proposed: bytes) -> bytes:
        """What signs carriers wherever this file is used; `proposed` if there is nothing yet. Raises `StoreError`."""
        return await self._file.write(lambda connection: tables.sealing_key(connection, proposed))

    # --- answers ------------------------------------------------------------------------------------------------------

    async def remember(self, tenant: str, keys: Sequence[str], answer: GivenAnswer) -> None:
        """Remember `answer` under each of `keys`."""
        names = [f"{ANSWER} {key}" for key in keys]
        if answer.response_id:
            names.append(_answer_of(answer.response_id))
        await self._put(tenant, ANSWER, names, answer)

    async def find(self, tenant: str, keys: Sequence[str]) -> Mapping[str, GivenAnswer]:
        """The answers that were remembered under `keys`."""
        if not keys:
            return {}
        found = await self._find(tenant, [f"{ANSWER} {key}" for key in keys], GivenAnswer)
        return {name.removeprefix(f"{ANSWER} "): answer for name, answer in found.items()}

    # --- responses ----------------------------------------------------------------------------------------------------

    async def keep_response(self, stored: Stored) -> None:
        """Keep a response for the account that it names."""
        names = [f"{RESPONSE} {stored.response['id']}", *(f"{ITEM} {item_id}" for item_id in item_ids(stored))]
        await self._put(stored.account, RESPONSE, names, stored)

    async def response(self, tenant: str, response_id: str) -> Stored | None:
        """The response of that id."""
        found = await self._find(tenant, [f"{RESPONSE} {response_id}"], Stored)
        return next(iter(found.values()), None)

    async def response_with(self, tenant: str, item_id: str) -> Stored | None:
        """The response that gave the item of that id."""
        found = await self._find(tenant, [f"{ITEM} {item_id}"], Stored)
        return next(iter(found.values()), None)

    async def forget_response(self, tenant: str, response_id: str) -> bool:
        """Keep it no longer, nor the answer that it gave; whether it was there."""
        response = f"{RESPONSE} {response_id}"

        def job(connection: sqlite3.Connection) -> bool:
            if not tables.remove_named(connection, tenant, [response]):
                return False
            tables.remove_named(connection, tenant, [_answer_of(response_id)])
            return True

        return await self._write(job, otherwise=False)

    async def forgettings(self) -> int | None:
        """How often `forget` was used on this file."""
        otherwise: int | None = None
        return await self._attempt(lambda: self._file.read(tables.forgettings), otherwise=otherwise)

    # --- reports ------------------------------------------------------------------------------------------------------

    async def keep_report(self, report: RequestReport) -> None:
        """Keep a report for its tenant."""
        await self._put(report.tenant, REPORT, [f"{REPORT} {report.id}"], report)

    async def report(self, tenant: str, request_id: str) -> RequestReport | None:
        """The report of that request."""
        found = await self._find(tenant, [f"{REPORT} {request_id}"], RequestReport)
        return next(iter(found.values()), None)

    # --- the file -----------------------------------------------------------------------------------------------------

    def _sweep(self, connection: sqlite3.Connection) -> None:
        tables.remove_expired(connection, self._oldest())
        tables.make_room(connection, self._max_bytes)

    def _oldest(self) -> float:
        """When the oldest that may still be found was made."""
        return self._clock() - self._retention

    async def _put(self, tenant: str, kind: str, names: Sequence[str], value: object) -> None:
        def job(connection: sqlite3.Connection) -> None:
            item = KeptItem(tenant=tenant, kind=kind, names=names, data=_packed(value), made=self._clock())
            tables.put(connection, item, self._max_bytes)

        await self._write(job, otherwise=None)

    async def _find(self, tenant: str, names: Sequence[str], kind: type[T]) -> dict[str, T]:
        def look(connection: sqlite3.Connection) -> dict[str, T]:
            numbers, data = tables.look_up(connection, tenant, names, since=self._oldest())
            values = {number: _unpacked(packed, kind) for number, packed in data.items()}
            found = ((name, values[number]) for name, number in numbers.items())
            return {name: value for name, value in found if value is not None}

        return await self._attempt(lambda: self._file.read(look), otherwise=dict[str, T]())

    async def _write(self, job: Callable[[sqlite3.Connection], T], *, otherwise: T) -> T:
        # Also for a client that has gone: what it saw of an answer is remembered. And one at a time, so that a file
        # that keeps its first writer waiting does not keep all the others waiting after it.
        result = otherwise
        with anyio.CancelScope(shield=True):
            async with self._turn:
                result = await self._attempt(lambda: self._file.write(job), otherwise=otherwise)
        return result

    async def _attempt(self, work: Callable[[], Awaitable[T]], *, otherwise: T) -> T:
        if self._monotonic() < self._rests_until:
            return otherwise
        try:
            result = await work()
        except StoreError as error:
            self._rests_until = self._monotonic() + REST
            self._tell(
                f"{error.message}. Answers go on without it: conversations by what their clients carry, and responses"
                " are not stored until it works again",
                fails=True,
            )
            return otherwise
        except _UNKEPT:
            return otherwise
        self._tell(f"{self.path} works again", fails=False)
        return result

    def _tell(self, message: str, *, fails: bool) -> None:
        """Say whether the file fails, if that is news."""
        if self._fails == fails:
            return
        self._fails = fails
        log_events([Event("legato.gateway.store", Gravity.WARNING, {"legato.message": message})])
        if self._warn is not None:
            self._warn(message)


def forget(path: str | os.PathLike[str], tenant: str | None) -> Counter[str]:
    """Remove all that the file at `path` has of `tenant`, or of everybody; how much of each kind that was.

    Raises `StoreError` if there is no such file, or if it cannot be written.
    """
    place = Path(path).expanduser().absolute()
    if not place.exists():
        message = f"{place} does not exist: there is nothing to forget; name the file that --store names"
        raise StoreError(message, path=str(place))
    journal = safe_journal(sqlite3.sqlite_version_info)
    with (
        translated(place, GATEWAY_STATE),
        closing(connect_file(place, journal=journal, patience=PATIENCE, schema=GATEWAY_STATE)) as connection,
    ):
        migrate(connection, place, GATEWAY_STATE)
        connection.execute("BEGIN IMMEDIATE")
        removed = tables.remove_all(connection, tenant)
        tables.count_forgetting(connection)
        connection.execute("COMMIT")
        tables.shrink(connection)
    return removed


def _answer_of(response_id: str) -> str:
    """The name by which an answer goes when the response that gave it is deleted."""
    return f"of {response_id}"


def _packed(value: object) -> bytes:
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:  # half of a character, which the standard library escapes
        data = json.dumps(msgspec.to_builtins(value)).encode()
    return zlib.compress(data, 1)


def _unpacked(packed: bytes, kind: type[T]) -> T | None:
    """What was packed; None for what is damaged, or of a version that wrote it otherwise."""
    try:
        data = zlib.decompress(packed)
        try:
            return msgspec.json.decode(data, type=kind)
        except msgspec.DecodeError:
            loaded: Any = json.loads(data)
            return msgspec.convert(loaded, kind)
    except (zlib.error, msgspec.MsgspecError, *_UNKEPT):
        return None
