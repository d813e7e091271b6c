"""The campaign of mutated files: every format is in it, a failure is seen, and the next campaign can go on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from random import Random

import pytest

import mutated_files
from legato.files import page
from legato.formats import FORMATS
from mutated_files import seed_files, try_bytes, try_file

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "fuzz_files.py"


def test_a_file_of_every_format_is_mutated() -> None:
    assert {file.format for file in seed_files(recorded=False)} == set(FORMATS)


def test_mutated_files_are_read_or_refused_in_one_line_and_in_time() -> None:
    tried = [try_file(25, index, recorded=False) for index in range(80)]
    assert [(index, case.fault) for index, case in enumerate(tried) if case.fault] == []
    assert sum(case.is_read for case in tried) > 40


@pytest.mark.parametrize("flood", [b"[", b'{"a":', b'[{"type":', b'{"role": "user", "content": ['])
@pytest.mark.parametrize("named", [None, "claude-code", "openai-chat"])
def test_a_file_that_only_opens_brackets_is_refused_in_time(flood: bytes, named: str | None) -> None:
    tried = try_bytes(flood * 50_000, named, Random(1), what="brackets")
    assert (tried.fault, tried.is_read) == ("", False)


def test_what_is_no_refusal_counts_as_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        raise KeyError("type")

    monkeypatch.setattr(mutated_files, "lint", broken)
    assert try_bytes(b'{"messages": [{"role": "user", "content": "a"}]}', None, Random(1), what="a body") == (
        "a body",
        True,
        "lint (as None): KeyError: 'type', at ?",
    )


def test_what_takes_too_long_counts_as_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> object:
        while True:
            time.process_time()

    monkeypatch.setattr(mutated_files, "lint", slow)
    monkeypatch.setattr(mutated_files, "PATIENCE", 0.05)
    body = b'{"messages": [{"role": "user", "content": "a"}]}'
    assert (
        try_bytes(body, "openai-chat", Random(1), what="a body").fault == "lint (as openai-chat): takes longer than 0 s"
    )


@pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")
def test_a_campaign_says_how_to_go_on() -> None:
    command = [sys.executable, str(SCRIPT), "--seed=7", "--start=40", "--cases=20", "--workers=1", "--own"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert [done.stdout.splitlines()[0], *done.stdout.splitlines()[2:]] == [
        "fuzz: mutated files: seed 7, from case 40 on, made from our own files",
        "fuzz: mutated files: to go on, FUZZ_SEED=7 FUZZ_START=60",
    ]
    assert done.stdout.splitlines()[1].startswith("fuzz: mutated files: 20 tried, ")
    assert done.stdout.splitlines()[1].endswith(", 0 failed")


@pytest.mark.parametrize("same_id", [True, False])
def test_an_answer_of_thousands_of_calls_is_repaired_and_shown_in_time(same_id: bool) -> None:
    calls = [
        {"id": "c" if same_id else f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for n in range(1_500)
    ]
    told = {"role": "assistant", "content": None, "tool_calls": calls}
    body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "go"}, told]}).encode()
    assert try_bytes(body, "openai-chat", Random(3), what="calls").fault == ""
    assert len(page(body, pick=1)) < 4_000_000


def test_a_file_of_millions_of_values_is_refused_before_they_are_made() -> None:
    begin = time.process_time()
    body = b'{"messages": [{"role": "user", "content": "a"}], "x": [' + b"[]," * 2_000_000 + b"1]}"
    tracemalloc.start()
    try:
        assert try_bytes(body, "openai-chat", Random(1), what="values") == ("values", False, "")
        assert tracemalloc.get_traced_memory()[1] < 12 * len(body)
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < 20
