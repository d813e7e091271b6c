"""Physical damage to files of lines costs at most the record that it hit, and is noted with its line."""

from __future__ import annotations

import json

import pytest

from legato.formats import mend, read
from legato.formats.lines import LineReader, Marks
from session_files import CLAUDE, CODEX, KIMI_CLI, PI, jsonl, said

LINES = {"claude-code": CLAUDE, "codex": CODEX, "pi": PI, "kimi-cli": KIMI_CLI}


def damage(data: bytes) -> list[str]:
    return [str(note) for note in read(data).notes if note.is_damage]


@pytest.mark.parametrize("name", LINES)
def test_a_missing_final_newline_is_no_damage(name: str) -> None:
    data = LINES[name]
    document = read(data.rstrip(b"\n"))
    assert document.entries == read(data).entries
    assert not [note for note in document.notes if note.is_damage]


@pytest.mark.parametrize("name", LINES)
def test_a_torn_last_line_is_left_out(name: str) -> None:
    lines = LINES[name].splitlines()
    torn = b"\n".join(lines)[: -len(lines[-1]) // 2]
    document = read(torn)
    assert len(document.entries) == len(read(LINES[name]).entries) - 1
    assert damage(torn) == [f"line {len(lines)}: breaks off in the middle and was left out"]


@pytest.mark.parametrize("name", LINES)
def test_two_records_on_one_line_are_two_records(name: str) -> None:
    lines = LINES[name].splitlines()
    glued = b"\n".join([*lines[:3], lines[3] + lines[4], *lines[5:]]) + b"\n"
    assert [entry.blocks for entry in read(glued).entries] == [entry.blocks for entry in read(LINES[name]).entries]
    assert damage(glued) == ["line 4: holds 2 records"]


@pytest.mark.parametrize("name", LINES)
def test_runs_of_nul_bytes_are_left_out(name: str) -> None:
    lines = LINES[name].splitlines()
    data = b"\n".join([*lines[:2], b"\0" * 512, *lines[2:-1], b"\0" * 64 + lines[-1]]) + b"\0" * 9
    document = read(data)
    assert len(document.entries) == len(read(LINES[name]).entries)
    assert damage(data) == [
        "line 3: 512 NUL bytes stand here; they were left out",
        f"line {len(lines) + 1}: 73 NUL bytes stand here; they were left out",
    ]


@pytest.mark.parametrize("name", LINES)
def test_a_byte_order_mark_is_left_out(name: str) -> None:
    data = b"\xef\xbb\xbf" + LINES[name]
    assert read(data).entries == read(LINES[name]).entries
    assert damage(data) == ["line 1: the file begins with a byte order mark; it was left out"]


def test_a_record_that_begins_behind_the_torn_half_of_another_is_saved() -> None:
    first, second, third = (said("u1", None, "one"), said("u2", "u1", "two"), said("u3", "u2", "three"))
    torn = json.dumps(second).encode()[:-30]
    data = jsonl(first) + torn + jsonl(third)
    document = read(data)
    assert [entry.text for entry in document.entries] == ["one", "three"]
    assert damage(data) == ["line 2: holds a record that breaks off in the middle; it was left out"]


def test_objects_inside_a_torn_record_are_not_taken_for_records() -> None:
    torn = json.dumps(said("u2", "u1", [{"type": "text", "text": "two"}])).encode()
    data = jsonl(said("u1", None, "one")) + torn[: torn.index(b'"uuid"')] + b"\n" + jsonl(said("u3", "u1", "three"))
    assert [entry.text for entry in read(data).entries] == ["one", "three"]


def test_a_record_cut_in_the_middle_of_the_file_costs_itself_alone() -> None:
    lines = CLAUDE.splitlines()
    data = b"\n".join([*lines[:2], lines[2][:60], *lines[3:]]) + b"\n"
    document = read(data)
    assert len(document.entries) == len(read(CLAUDE).entries) - 1
    assert [str(note) for note in document.notes] == [
        "line 3: breaks off in the middle and was left out",
        "line 4: 1 records name parents that are not in the file; they continue what stands before them, here first",
    ]


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    data = jsonl(said("u1", None, "one"), said("u2", "u1", "caf@")).replace(b"caf@", b"caf\xe9")
    assert [entry.text for entry in read(data).entries] == ["one", "caf\ufffd"]
    assert damage(data) == ["line 2: is not valid UTF-8; what could not be read was replaced"]


def test_lone_surrogates_numbers_json_lacks_and_bare_control_characters_are_survived() -> None:
    lines = [
        json.dumps(said("u1", None, "one")),
        json.dumps(said("u2", "u1", "half \ud83d an emoji")),
        json.dumps(said("u3", "u2", "three", odd=float("nan"))),
        json.dumps(said("u4", "u3", "tab@here")).replace("@", "\t"),
    ]
    document = read("\n".join(lines).encode())
    assert [entry.text for entry in document.entries] == ["one", "half \ufffd an emoji", "three", "tab\there"]


def test_a_line_that_is_json_but_no_object_is_left_out() -> None:
    data = jsonl(said("u1", None, "one")) + b"[1, 2]\n" + jsonl(said("u2", "u1", "two"))
    assert damage(data) == ["line 2: is no object and was left out"]


def test_mending_a_damaged_file_lists_the_damage_and_leaves_none() -> None:
    data = b"\xef\xbb\xbf" + CLAUDE + b'{"type":"user","uu'
    mended = mend(read(data))
    assert mended.data == CLAUDE
    assert [str(change) for change in mended.changes] == [
        "line 1: the file begins with a byte order mark; it was left out",
        "line 7: breaks off in the middle and was left out",
    ]
    assert mend(read(mended.data)).changes == []


def test_lines_come_whole_however_the_bytes_are_cut() -> None:
    marks = Marks((frozenset({"type"}),))
    expected = [(line.raw.place, line.value) for line in LineReader([CLAUDE], marks)]
    for size in (1, 2, 7, 64, 1000):
        pieces = [CLAUDE[start : start + size] for start in range(0, len(CLAUDE), size)]
        assert [(line.raw.place, line.value) for line in LineReader(pieces, marks)] == expected
