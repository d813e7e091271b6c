"""The recipes of docs/adding.md work: a copy of the sources that follows them has what they promise."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from documentation_support import ROOT, Block, blocks_of

PAGE = ROOT / "docs" / "adding.md"
_PLACE = re.compile(r"# (?P<file>src/\S+?)(?:, below: (?P<anchor>.+))?")


def _section(title: str) -> list[Block]:
    """The blocks of the section with this title."""
    starts = [
        (number, line.removeprefix("## "))
        for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1)
        if line.startswith("## ")
    ]
    ends = [*(number for number, _ in starts[1:]), 10**6]
    for (first, name), last in zip(starts, ends, strict=True):
        if name == title:
            return [block for block in blocks_of(PAGE) if first < block.line < last]
    raise AssertionError(f"{PAGE.name} has no section {title!r}")


def _follow(title: str, root: Path) -> set[str]:
    """Do in the sources under `root` what the blocks of the section say; the files that it changed."""
    done = {path.relative_to(root).as_posix() for path in _edits(title, root)}
    assert done, f"the section {title!r} says nothing that can be followed"
    return done


def _edits(title: str, root: Path) -> Iterator[Path]:
    for block in _section(title):
        first, _, text = block.text.partition("\n")
        place = _PLACE.fullmatch(first)
        if place is None:
            continue
        path = root / place["file"]
        if place["anchor"] is None:
            assert not path.exists(), f"{block.place}: {place['file']} is there already"
            path.write_text(text, encoding="utf-8")
        else:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            found = [number for number, line in enumerate(lines, 1) if place["anchor"] in line]
            assert len(found) == 1, f"{block.place}: {place['anchor']!r} is in {len(found)} lines of {place['file']}"
            lines[found[0] : found[0]] = [text]
            path.write_text("".join(lines), encoding="utf-8")
        yield path


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def _run(copy: Path, program: str) -> str:
    """What `program` prints, with the copy in place of the installed package."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_dialect_is_one_folder_and_three_lines(copy: Path) -> None:
    wire = copy / "src" / "legato" / "wire"
    shutil.copytree(wire / "vercel", wire / "seventh")
    for path in (wire / "seventh").rglob("*.py"):
        text = path.read_text(encoding="utf-8").replace("legato.wire.vercel", "legato.wire.seventh")
        path.write_text(text.replace("Dialect.VERCEL", "Dialect.SEVENTH"), encoding="utf-8")
    _follow("A dialect", copy)
    assert _run(copy, _USES_THE_DIALECT).splitlines() == [
        "POST https://seventh.example/v1/seventh",
        "hello",
        "[]",
        "written by Legato itself",
    ]


_USES_THE_DIALECT = """
from legato import Conversation, Options, Target, parse, render
from legato.errors import ImpossibleRequest
from legato.model import Dialect
from legato.transport import wire_request
from legato.wire.dialects import dialect_parts

target = Target(
    dialect=Dialect("seventh"), profile="seventh", provider="seven", model="m", endpoint="https://seventh.example/v1"
)
talk = Conversation()
talk.human("hello")
request = render(talk, target, options=Options(top_p=0.5, seed=7))
request.verify()
wire = wire_request(request.target, request.json(), key=None, stream=False)
print(wire.method, wire.url)
read = parse(request.json(), target)
print(read.entries[0].text)
print(dialect_parts(target.dialect).check(request.body, target))
try:
    render(talk, target, options=Options(extra={"messages": []}))
except ImpossibleRequest as error:
    print("written by Legato itself" if "written by Legato itself" in str(error) else error)
"""


def test_a_built_in_tool_is_one_file_and_two_lines(copy: Path) -> None:
    _follow("A built-in tool", copy)
    (copy / "poem.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert _run(copy, _USES_THE_TOOL).splitlines() == [
        "['read', 'write', 'edit', 'list', 'count', 'glob', 'grep', 'shell']",
        "Count the lines of a text file.",
        "3 lines",
    ]


_USES_THE_TOOL = """
import anyio

from legato import Session, World
from legato.session.events import ToolEnded
from legato.simulation import SimulatedTransport
from legato.tools import Approval, Mode
from legato.tools.builtin import Workspace, builtin_tools

tools = builtin_tools(Workspace("."))
print([tool.name for tool in tools])
print(next(tool.spec.description for tool in tools if tool.name == "count"))


async def main():
    world = World(transport=SimulatedTransport())
    async with Session("openai/gpt-4o", tools=tools, approval=Approval(Mode.NEVER), world=world) as session:
        async for event in session.send("use count on poem.txt"):
            if isinstance(event, ToolEnded):
                print(event.response.result)


anyio.run(main)
"""


def test_a_rule_is_one_file(copy: Path) -> None:
    assert _follow("A rule", copy) == {"src/legato/wire/anthropic/rules/envelope.py"}
    assert _run(copy, _USES_THE_RULE).splitlines() == [
        "refused anthropic/claude-sonnet-4-5",
        "“List should have unique items”.",
        "[]",
        "['anthropic/repeated-stop']",
        "stop_sequences: List should have unique items. (a stop sequence is given twice, at stop_sequences)",
    ]


_USES_THE_RULE = """
import json

import anyio

from legato import resolve
from legato.model import Dialect
from legato.simulation import SimulatedTransport
from legato.transport import Key, wire_request
from legato.wire.dialects import dialect_parts

anthropic = dialect_parts(Dialect.ANTHROPIC)
rule = anthropic.rules["anthropic/repeated-stop"]
print(rule.severity, rule.route)
print(rule.quotation())

target = resolve(rule.route)
body = {"model": target.model, "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
print(anthropic.check({**body, "stop_sequences": ["a", "b"]}, target))
body["stop_sequences"] = ["a", "b", "a"]
print([violation.rule for violation in anthropic.check(body, target)])


async def main():
    request = wire_request(target, json.dumps(body).encode(), key=Key("k"), stream=False)
    response = await SimulatedTransport().send(request)
    print(json.loads(b"".join([chunk async for chunk in response.chunks]))["error"]["message"])


anyio.run(main)
"""
