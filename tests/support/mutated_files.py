"""Session files of every format, mutated at random, through everything that is done with files.

A case is known by the seed of its campaign and its number. It takes a file of some format (written by the tests, or a
recorded one where the samples are), changes its values, its bytes or its size, and reads, lints, inspects, repairs and
converts it. The file may be refused in one line. It fails if anything else is raised, if a promise of ours is broken
(`OurFault`), or if it costs more time than a linear reader takes for a file of that size.
"""

from __future__ import annotations

import json
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

from database_files import make
from legato.errors import LegatoError, OurFault
from legato.files import convert, explain, inspect, lint, page, repair
from legato.formats import FORMATS, WRITTEN, Document, read, read_all, write
from mutation_seeds import SAMPLES
from mutations import mutate
from session_files import EVERY_FILE

Json: TypeAlias = Any

LARGEST = 40_000
"""bytes of a recorded file that is used: a larger one costs more time and shows nothing else"""
GROWN = 150_000
"""bytes to which a case that is made larger may grow"""
PATIENCE, PACE = 5.0, 40_000
"""seconds of CPU time for any file, and bytes of it for each further one: forty times what they take here, while what is
quadratic takes minutes for a file that has grown"""
TARGETS = tuple(sorted({*WRITTEN, "anthropic", "openai", "gemini/gemini-3-pro-preview", "bedrock", "mistral"}))


class SeedFile(NamedTuple):
    """A file that is right: its format, its bytes, and the values in it if it is of JSON."""

    format: str
    data: bytes
    values: list[Json] | None
    is_lines: bool = False


class Tried(NamedTuple):
    """What became of a case: what it was, whether anything was read, and what failed, if something did."""

    what: str
    is_read: bool
    fault: str = ""


# --- what is mutated --------------------------------------------------------------------------------------------------


@cache
def seed_files(*, recorded: bool = True) -> list[SeedFile]:
    """A file of every format at least, request bodies and databases among them."""
    files = [_seed(name, data) for name, data in EVERY_FILE.items()]
    told = read(EVERY_FILE["claude-code"])
    files += [_seed(name, write(told, name).data) for name in WRITTEN if name not in EVERY_FILE]
    files += _databases()
    if recorded and SAMPLES.is_dir():
        files += _recorded()
    return files


def _seed(name: str, data: bytes) -> SeedFile:
    text = data.decode()
    try:
        return SeedFile(name, data, [json.loads(text)])
    except ValueError:
        return SeedFile(name, data, [json.loads(line) for line in text.splitlines() if line.strip()], is_lines=True)


def _databases() -> list[SeedFile]:
    items = [
        {"role": "user", "content": "look"},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
    ]
    return [SeedFile("openai-agents", _agents_database(items), None)]


def _agents_database(items: list[Json]) -> bytes:
    script = """
    CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
    CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
        message_data TEXT NOT NULL, created_at TIMESTAMP);
    """
    with tempfile.TemporaryDirectory() as folder:
        rows = [(number, "s1", json.dumps(item), None) for number, item in enumerate(items, 1)]
        return make(Path(folder) / "agents.db", script, agent_messages=rows).read_bytes()


def _recorded() -> Iterator[SeedFile]:
    for path in sorted(SAMPLES.rglob("*.json*")):
        if path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        try:
            yield _seed(read(data).format, data)
        except (LegatoError, ValueError):
            continue


# --- how it is mutated ------------------------------------------------------------------------------------------------


def _values(file: SeedFile, chance: Random) -> bytes:
    """Other values in it, of the right and of the wrong shapes."""
    if file.values is None:
        return _bytes(file, chance)
    others = [chance.choice(seed_files(recorded=False)).values or []]
    changed = mutate(file.values, chance, others)
    return _joined(changed, file.is_lines)


def _joined(values: Json, is_lines: bool) -> bytes:
    items = values if isinstance(values, list) else [values]
    texts = [json.dumps(item) for item in items]
    return ("\n".join(texts) if is_lines else "".join(texts)).encode()


def _bytes(file: SeedFile, chance: Random) -> bytes:
    """Pieces of it cut out, overwritten, repeated, glued to others."""
    data = file.data
    for _ in range(chance.randint(1, 4)):
        start, length = chance.randrange(len(data) + 1), chance.choice((0, 1, 5, 60, 400))
        junk = chance.choice(
            (
                chance.randbytes(chance.randrange(20)),
                b"\0" * 64,
                b"\n",
                b'{"',
                b'"',
                b"}",
                b"\\u",
                b"\\ud800",
                b"\xff\xfe",
                b"\xef\xbb\xbf",
                b"NaN",
                b"-1e999",
                b"1" * 5_000,
                data[start : start + chance.randrange(600)],
            )
        )
        data = data[:start] + junk + data[start + length :]
    return data


def _cut(file: SeedFile, chance: Random) -> bytes:
    """Its beginning alone, or its end."""
    at = chance.randrange(len(file.data) + 1)
    return file.data[:at] if chance.randrange(3) else file.data[at:]


def _grown(file: SeedFile, chance: Random) -> bytes:
    """Much of the same: a record, a part, a text or a level so often that a reader that is not linear shows it."""
    if file.values is None:
        return file.data + file.data[: chance.randrange(len(file.data))]
    values = json.loads(json.dumps(file.values))
    holders = [one for one in _lists(values) if one] or [values]
    holder = chance.choice(holders)
    item = chance.choice(holder)
    size = max(2, len(json.dumps(item)))
    most = min(20_000, GROWN // size)
    kind = chance.randrange(4)
    if kind == 0:
        holder.extend([item] * most)
        return _joined(values, file.is_lines)
    if kind == 1:  # each with an id and a text of its own
        many = [json.loads(json.dumps(item).replace('_1"', f'_{number}"')) for number in range(most)]
        holder.extend(many)
        return _joined(values, file.is_lines)
    if kind == 2:
        return _joined(_with_text(values, chance, chance.choice(_FLOODS) * (GROWN // 8)), file.is_lines)
    at = chance.randrange(len(file.data) + 1)
    return file.data[:at] + chance.choice((b"[", b'{"a":', b'[{"type":', b"\\", b'"', b"[],", b"\x00")) * (GROWN // 8)


_FLOODS = (
    "[",
    '{"a":',
    "\\",
    "\x1b[31m",
    "*/",
    "<|im_start|>",
    "a b",
    "\n",
    "😀",
    "data:image/png;base64,",
    "```\n",
    "[]",
)


def _lists(value: Json) -> Iterator[list[Json]]:
    waiting = [value]
    while waiting:
        inside = waiting.pop()
        if isinstance(inside, list):
            yield inside
        waiting += list(inside.values()) if isinstance(inside, dict) else inside if isinstance(inside, list) else []


def _with_text(values: Json, chance: Random, text: str) -> Json:
    """`values` with `text` in the place of one of their texts."""
    places = [(holder, key) for holder, key in _slots(values) if isinstance(holder[key], str)]
    if places:
        holder, key = chance.choice(places)
        holder[key] = text
    return values


def _slots(value: Json) -> Iterator[tuple[Json, Any]]:
    waiting = [value]
    while waiting:
        inside = waiting.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
        for key in keys:
            yield inside, key
            waiting.append(inside[key])


WAYS: tuple[Callable[[SeedFile, Random], bytes], ...] = (_values, _bytes, _cut, _grown)
WEIGHTS = (62, 26, 10, 2)


# --- what is done with it ---------------------------------------------------------------------------------------------


class TooSlow(BaseException):
    """A case took longer than a file of its size may."""


def try_file(seed: int, index: int, *, recorded: bool = True) -> Tried:
    """The case of that number in the campaign of that seed."""
    chance = Random(f"{seed}/{index}")
    file = chance.choice(seed_files(recorded=recorded))
    way = chance.choices(WAYS, WEIGHTS)[0]
    data = way(file, chance)
    named = file.format if chance.randrange(2) else None
    return try_bytes(data, named, chance, what=f"{file.format}, {way.__name__.strip('_')}, {len(data)} bytes")


def try_bytes(data: bytes, named: str | None, chance: Random, *, what: str) -> Tried:
    """Do with `data` all that is done with files, as a file of the format `named` if one is."""
    documents: list[Document] = []
    target, other = chance.choice(TARGETS), chance.choice(TARGETS)
    commands: dict[str, Callable[[], object]] = {
        "read": lambda: documents.extend(read_all(data, format=named)),
        "lint": lambda: lint(data, format=named),
        "inspect": lambda: inspect(data, format=named, pick=1),
        f"inspect for {other}": lambda: inspect(data, target=_provider(other), format=named, pick=1),
        "explain": lambda: explain(data, format=named),
        "repair": lambda: repair(data, format=named, force=bool(len(data) % 2)),
        f"convert to {target}": lambda: convert(data, target, format=named, pick=1),
        "page": lambda: page(data, format=named, pick=1) if len(data) % 5 == 0 else None,
    }
    for command, act in commands.items():
        if fault := _fault(act, len(data)):
            return Tried(what, bool(documents), f"{command} (as {named}): {fault}")
        if command == "read" and not documents:
            break  # the others read it first, too
    return Tried(what, bool(documents))


def _provider(target: str) -> str:
    return target if target not in FORMATS or FORMATS[target].dialect is not None else "openai"


def _fault(act: Callable[[], object], size: int) -> str:
    try:
        with _limited(PATIENCE + size / PACE):
            act()
    except TooSlow:
        return f"takes longer than {PATIENCE + size / PACE:.0f} s"
    except OurFault as error:
        return f"{type(error).__name__}: {error}"
    except LegatoError as error:
        return f"{type(error).__name__} of more than one line" if "\n" in error.message else ""
    except Exception as error:
        return f"{type(error).__name__}: {error}, at {_place(error)}"
    return ""


def _place(error: Exception) -> str:
    """The last line of ours that it went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "legato" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` after so many seconds of CPU time."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
