"""The documentation as data: pages, their blocks, their links, and a way to run a page.

Two comments speak to the tests; they stand before a block and do not show on the page:

    <!-- not run: why -->   the block is exempt, for a reason that is written down
    <!-- output -->         the block is what the block before it printed, to the letter

Everything else that says `python` or `sh` is run. `LEGATO_GOLDEN=write pytest tests/docs` writes the outputs anew; read the
difference before you keep it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RUN = ("python", "sh")
SHOWN = ("", "text", "json", "toml")
"""languages of blocks that are only looked at; the last two must parse"""

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^`]*)$")
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+?) -->")
_OUTPUT = "<!-- output -->"
_SECONDS = 300
"""after which a page hangs; nothing here takes long on a machine that is not busy"""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `line` counts from 1 and is that of its fence."""

    page: str
    line: int
    language: str
    text: str
    exempt: str | None = None
    """why it is not run"""
    is_output: bool = False
    """it shows what the block before it printed"""

    @property
    def place(self) -> str:
        """Where it is, as an editor understands it."""
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether the tests run it."""
        return self.language in RUN and self.exempt is None


def pages() -> list[Path]:
    """Every page that people read: those in the root, and all below docs and examples."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
    return sorted(found)


def run_pages() -> list[Path]:
    """The pages whose blocks are run: README and the documentation, without the records of decisions."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*.md"))]


def name_of(page: Path) -> str:
    """A page as people know it."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of `page`, in order."""
    return [block for block in _parts(page) if isinstance(block, Block)]


def prose_of(page: Path) -> list[tuple[int, str]]:
    """The numbered lines of `page` that are in no block, without inline code."""
    lines = [part for part in _parts(page) if not isinstance(part, Block)]
    return [(number, re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)) for number, line in lines]


def _parts(page: Path) -> Iterator[Block | tuple[int, str]]:
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    before = ""
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            yield number, line
            before = line.strip() or before  # an empty line may stand between a comment and its block
            continue
        text: list[str] = []
        for _, inner in lines:
            if inner.strip() == fence["ticks"]:
                break
            text.append(inner.removeprefix(fence["indent"]))
        else:
            raise AssertionError(f"{name_of(page)}:{number}: this block has no end")
        exempt = _NOT_RUN.fullmatch(before)
        yield Block(
            page=name_of(page),
            line=number,
            language=fence["language"].strip(),
            text="".join(f"{inner}\n" for inner in text),
            exempt=exempt["reason"] if exempt else None,
            is_output=before == _OUTPUT,
        )
        before = ""


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a block that was run."""

    block: Block
    output: str
    failure: str = ""


def run_page(page: Path, *, folder: Path, environment: Mapping[str, str]) -> list[Ran]:
    """Run the blocks of `page` in `folder`, up to the first that fails."""
    blocks = [block for block in blocks_of(page) if block.is_run]
    if not blocks:
        return []
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("documentation_runner.py"))],
        input=json.dumps([{"page": b.page, "line": b.line, "language": b.language, "text": b.text} for b in blocks]),
        capture_output=True,
        text=True,
        cwd=folder,
        env=dict(environment),
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{name_of(page)}: {done.stderr}"
    results = json.loads(done.stdout)
    return [Ran(block, result["output"], result["failure"]) for block, result in zip(blocks, results, strict=False)]


def clean_environment(folder: Path) -> dict[str, str]:
    """The surroundings of somebody who has just installed Legato: nothing set, and a home of their own.

    Whatever tries to leave this machine meets a proxy that is not there.
    """
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")}
    nowhere = "http://127.0.0.1:9"
    return kept | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHONHASHSEED": "0",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
    }


def write_outputs(page: Path, results: list[Ran]) -> None:
    """Put what was printed into the blocks that show it. Read the difference before you keep it."""
    printed = {ran.block.line: ran.output for ran in results}
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks = blocks_of(page)
    for before, block in reversed(list(pairwise(blocks))):
        if block.is_output and before.line in printed:
            size = len(block.text.splitlines())
            lines[block.line : block.line + size] = printed[before.line].rstrip("\n").splitlines()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- links ------------------------------------------------------------------------------------------------------------

_LINK = re.compile(r"\]\((?P<target>[^()\s]+)(?:\s+\"[^\"]*\")?\)|(?:href|src)=\"(?P<html>[^\"]+)\"")


def links_of(page: Path) -> Iterator[tuple[str, str]]:
    """The links of `page` that stay in the repository, each with its place."""
    for number, line in prose_of(page):
        for match in _LINK.finditer(line):
            target = match["target"] or match["html"]
            if not re.match(r"[a-z][a-z0-9+.-]*:", target):
                yield f"{name_of(page)}:{number}", target


@cache
def anchors_of(page: Path) -> set[str]:
    """The anchors that a code host gives the headings of `page`."""
    anchors: set[str] = set()
    for part in _parts(page):
        if isinstance(part, Block):
            continue
        _, line = part
        heading = re.match(r"#{1,6}\s+(?P<title>.+?)\s*#*$", line)
        if heading is None:
            continue
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["title"])
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number, anchor = 0, slug
        while anchor in anchors:
            number += 1
            anchor = f"{slug}-{number}"
        anchors.add(anchor)
    return anchors
