"""Every dialect is a folder with the same files, and says what it holds beside them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from legato.model import Dialect
from legato.wire import contract
from legato.wire.dialects import dialect_parts

COMMON = {"shapes", "encode", "envelope", "decode", "stream", "pieces", "parse", "reply", "rules"}


def folder(dialect: Dialect) -> Path:
    return Path(import_module(f"legato.wire.{dialect}").__file__ or "").parent


def modules(dialect: Dialect) -> set[str]:
    files = {path.stem for path in folder(dialect).glob("*.py")} - {"__init__"}
    return files | {path.parent.name for path in folder(dialect).glob("*/__init__.py")}


def listed(docstring: str) -> set[str]:
    """The names at the beginning of lines, with what they are behind them."""
    return set(re.findall(r"^ *(\w+) {2,}\S", docstring, re.MULTILINE))


def test_the_contract_names_the_files_of_a_dialect() -> None:
    assert listed(contract.__doc__ or "") == COMMON


@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_has_the_common_files(dialect: Dialect) -> None:
    assert modules(dialect) >= COMMON


@pytest.mark.parametrize("dialect", Dialect)
def test_a_dialect_says_what_its_other_files_are_for(dialect: Dialect) -> None:
    described = listed(import_module(f"legato.wire.{dialect}").__doc__ or "")
    assert described == modules(dialect) - COMMON


@pytest.mark.parametrize("dialect", Dialect)
def test_the_same_parts_have_the_same_names_in_every_dialect(dialect: Dialect) -> None:
    homes = {
        "option_grammar": "envelope",
        "encode_envelope": "envelope",
        "grammar": "encode",
        "decode": "decode",
        "parse": "parse",
    }
    parts = dialect_parts(dialect)
    for name, home in homes.items():
        assert getattr(parts, name) is getattr(import_module(f"legato.wire.{dialect}.{home}"), name)
    assert parts.decoder is import_module(f"legato.wire.{dialect}.stream").Decoder
    assert parts.writer is import_module(f"legato.wire.{dialect}.reply").Writer
