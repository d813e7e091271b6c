"""A file that was right, damaged in one record: what repair makes of it harms nothing else.

`make test` tries a few hundred cases, `make fuzz` as many as LEGATO_HYPOTHESIS_EXAMPLES says.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import settings

import damage
from damage import KINDS, healthy_files, try_repair
from legato.formats import Document, FileNote, mend, read
from legato.formats.format import Mended
from legato.formats.patching.splices import Splice
from tally import count

_EXAMPLES = max(400, settings.default.max_examples if settings.default else 0)
_SEED = 7


def test_repair_of_a_healthy_file_changes_nothing() -> None:
    files = healthy_files()
    assert {file.format for file in files} >= {"claude-code", "codex", "legato", "anthropic", "openai-chat", "gemini"}
    for file in files:
        mended = mend(read(file.data, format=file.format))
        assert (mended.data, mended.changes, mended.splices) == (file.data, [], ()), file.format


def test_repair_of_a_damaged_file_harms_nothing() -> None:
    outcomes: Counter[str] = Counter()
    for index in range(_EXAMPLES):
        done = try_repair(_SEED, index)
        assert not done.harm, f"seed {_SEED}, case {index}: {done.what}: {done.harm}"
        outcomes[done.outcome] += 1
    count("damaged files", _EXAMPLES)
    count("of them mended", outcomes["mended"])
    assert outcomes["mended"] > _EXAMPLES / 4
    assert outcomes["withheld"] < _EXAMPLES / 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_repair_that_loses_a_record_counts_as_harm(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = next(item for item in healthy_files(recorded=False) if item.field and len(item.records) > 4)

    def careless(document: Document) -> Mended:
        value = json.loads(file.data)
        value[file.field] = value[file.field][1:]
        data = json.dumps(value).encode()
        assert document.original is not None
        return Mended(data, [FileNote("", "lost")], [], (Splice(0, len(document.original.data), data),))

    monkeypatch.setattr(damage, "mend", careless)
    monkeypatch.setattr(damage, "healthy_files", lambda *, recorded=True: [file])
    monkeypatch.setattr(damage, "KINDS", (kind,))
    assert any(try_repair(_SEED, index).harm for index in range(20))
