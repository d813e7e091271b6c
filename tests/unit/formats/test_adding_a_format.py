"""The recipe of docs/adding.md for a file format, followed: one record makes a format known everywhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Never

import msgspec
import pytest

from file_samples import legato
from legato.errors import FormatError
from legato.formats import FORMATS, detect, lint_document, mend, read, registry, write
from legato.formats.blocks import read_call, read_result, text_blocks
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.fields import as_object, as_text
from legato.formats.format import FileHome, Format, Outgoing, Written, marks
from legato.formats.head import Head
from legato.formats.session_writer import CallOutcome, PlainAnswer, PlainSaid, SessionWriter
from legato.model import IdScheme, JsonObject, NameRule, Speaker, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from session_files import CLAUDE, jsonl

# --- what the one file of the recipe holds ----------------------------------------------------------------------------


def read_diary(content: Content) -> list[Document]:
    """A line for each thing that happened; what is not understood is noted with its place."""
    draft = content.draft()
    for item in content.lines():
        entry = as_object(item.value.get("dear diary"))
        match as_text(entry.get("type")):
            case "heard":
                draft.human(text_blocks(as_text(entry.get("text"))), item.place, source=item.source)
            case "said":
                draft.say(Speaker.AI, text_blocks(as_text(entry.get("text"))), item.place, source=item.source)
            case "asked":
                draft.say(Speaker.AI, [read_call(entry)], item.place, source=item.source)
            case "got":
                draft.results([read_result(entry)], item.place, source=item.source)
            case kind:
                draft.unknown(item.place, f"an entry of type {kind!r}")
    return content.finish(draft)


def detect_diary(head: Head) -> str:
    return "lines that begin with dear diary" if any("dear diary" in record for record in head.records) else ""


class DiaryWriter(SessionWriter[Never]):
    """The units of a conversation are valid in themselves: every call has its result."""

    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL64, NameRule.OPENAI, lambda medium: False)
        self.lines: list[JsonObject] = []

    def data(self) -> bytes:
        return b"".join(msgspec.json.encode({"dear diary": line}) + b"\n" for line in self.lines)

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        self.lines += [{"type": "heard", "text": block.text} for block in blocks if isinstance(block, Text)]

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer], outcomes: Sequence[CallOutcome]) -> None:
        for block in blocks:
            if isinstance(block, Text):
                self.lines.append({"type": "said", "text": block.text})
            elif isinstance(block, ToolCall):
                asked = {"id": self.call_id(block), "name": self.name(block), "arguments": block.arguments}
                self.lines.append({"type": "asked", **asked})
        for outcome in outcomes:
            self.lines.append({"type": "got", "call_id": outcome.call_id, "content": outcome.text})

    def thought(self, block: Thinking) -> None:
        self.context.lose("a thought")


def write_diary(out: Outgoing) -> Written:
    return DiaryWriter(out).write()


FORMAT = Format(
    name="diary",
    title="a diary",
    read=read_diary,
    detect=detect_diary,
    write=write_diary,
    home=FileHome(folder="~/.diary", files="*.jsonl", source="https://diary.example"),
    marks=marks("dear diary"),
    is_lines=True,
)

# --- and what follows from it -----------------------------------------------------------------------------------------

DIARY = jsonl(
    {"dear diary": {"type": "heard", "text": "List the files"}},
    {"dear diary": {"type": "asked", "id": 7, "name": "ls", "arguments": {"path": "."}}},
    {"dear diary": {"type": "got", "call_id": 7, "content": "a.txt"}},
    {"dear diary": {"type": "said", "text": "One file."}},
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "diary", FORMAT)


def test_it_is_detected_and_read() -> None:
    assert detect(DIARY) == ("diary", "lines that begin with dear diary")
    document = read(DIARY)
    calls = document.conversation().ledger.in_order
    assert (document.format, document.notes) == ("diary", [])
    assert [(call.name, call.response and call.response.result) for call in calls] == [("ls", "a.txt")]


def test_it_is_written_and_reads_the_same_again() -> None:
    assert "diary" in registry.WRITTEN
    written = write(read(CLAUDE), "diary")
    assert [str(loss) for loss in written.losses] == ["a thought"]
    assert write(read(written.data), "diary").data == written.data
    assert json.loads(written.data.splitlines()[0]) == {"dear diary": {"type": "heard", "text": "List the files"}}


def test_its_damaged_lines_cost_only_themselves() -> None:
    torn = DIARY.replace(b'"One file."}}\n', b'"One fi')
    document = read(torn, format="diary")
    assert (len(document.entries), [note.is_damage for note in document.notes]) == (3, [True])


def test_it_is_linted_and_can_only_be_converted() -> None:
    open_call = b"".join(DIARY.splitlines(keepends=True)[:2])
    (found,) = lint_document(read(open_call), "anthropic")
    assert (found.rule, found.repair.partition(" ")[0]) == ("session/open-call", "convert")
    with pytest.raises(FormatError, match="diary files are written but not repaired; convert it to one of"):
        mend(read(open_call))


def test_the_commands_know_it(tmp_path: Path) -> None:
    diary, session = tmp_path / "diary.jsonl", tmp_path / "session.jsonl"
    diary.write_bytes(DIARY)
    session.write_bytes(CLAUDE)
    body = legato("convert", diary, "--to", "anthropic")
    assert [message["role"] for message in json.loads(body.stdout)["messages"]][:3] == ["user", "assistant", "user"]
    assert legato("convert", session, "--to", "diary").stdout.startswith('{"dear diary":')
    assert "ls" in legato("inspect", diary).stdout
    assert legato("lint", diary, "--from", "diary").exit_code == 0
    assert "did you mean 'diary'?" in legato("convert", diary, "--to", "diry").stderr


@pytest.mark.parametrize("command", ["convert", "inspect", "lint", "repair"])
def test_the_help_of_the_commands_names_it(command: str) -> None:
    assert "diary" in legato(command, "--help").stdout


def test_every_record_says_what_a_reader_of_help_needs() -> None:
    for known in FORMATS.values():
        assert known.title
        assert (known.detect is None) == known.is_wire
        assert known.repair is None or known.write is not None
        if known.home is not None:
            assert known.home.folder.startswith("~/")
            assert "*" in known.home.files
            assert re.fullmatch(r"https://\S+|[\w.-]+/[\w.-]+#\d+", known.home.source)


def test_formats_are_loaded_only_when_they_are_needed() -> None:
    program = "import sys, legato, legato.formats; print([n for n in sys.modules if n.startswith('legato.formats.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
