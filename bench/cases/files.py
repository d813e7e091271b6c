"""A session file of many megabytes: judging it, beside parsing its lines, and writing its page."""

from __future__ import annotations

import tempfile
from pathlib import Path

import orjson

from bench import workload
from bench.figures import Figure, Goal, Outcome, Scale
from bench.measure import child_megabytes, interleave, timed
from legato.files import lint, write_page
from legato.formats import write

LINT, PARSE, PAGE = "lint", "orjson.loads of each line", "page"
_MESSAGES_PER_MEGABYTE = 500
"""of the workload, roughly: results of 2 kB and answers of 1 kB"""


def files(scale: Scale) -> Outcome:
    """A Claude Code session: what is wrong with it, and how much memory that takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = _session(folder, scale)
        size = path.stat().st_size / 1e6
        assert not lint(path).errors
        works = {LINT: timed(lambda: lint(path)), PARSE: timed(lambda: _parse(path))}
        taken = interleave(works, scale.rounds // 3 or 1)
        resident = child_megabytes(f"from legato.files import lint; lint({str(path)!r})")
    return Outcome(
        [
            Figure(
                f"lint a session of {size:,.0f} MB",
                taken.ratio(LINT, PARSE),
                against=PARSE,
                detail=f"{taken.median(LINT):.2f} s / {taken.median(PARSE):.2f} s",
                goal=Goal("at most", 3),
            ),
            Figure(
                "resident memory of that",
                resident / size,
                against="the file",
                detail=f"{resident:,.0f} MB / {size:,.0f} MB",
                goal=Goal("at most", 4),
            ),
        ]
    )


def pages(scale: Scale) -> Outcome:
    """The same session as an HTML page: how long it takes to write it, and how much memory."""
    with tempfile.TemporaryDirectory() as folder:
        path, page = _session(folder, scale), Path(folder, "page.html")
        size = path.stat().st_size / 1e6
        works = {PAGE: timed(lambda: write_page(path, page, overwrite=True))}
        taken = interleave(works, scale.rounds // 3 or 1)
        written = page.stat().st_size / 1e6
        code = f"from legato.files import write_page; write_page({str(path)!r}, {str(page)!r}, overwrite=True)"
        resident = child_megabytes(code)
    return Outcome(
        [
            Figure(
                f"write the page of a session of {size:,.0f} MB",
                taken.median(PAGE),
                unit="s",
                detail=f"a page of {written:,.0f} MB",
                goal=Goal("at most", 10),
            ),
            Figure("resident memory of that", resident, unit="MB", goal=Goal("at most", 1_000)),
        ]
    )


def _session(folder: str, scale: Scale) -> Path:
    path = Path(folder, "session.jsonl")
    talk = workload.recorded(workload.entries(scale.megabytes * _MESSAGES_PER_MEGABYTE))
    path.write_bytes(write(talk, "claude-code").data)
    return path


def _parse(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        orjson.loads(line)
