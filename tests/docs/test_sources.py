"""What we say of providers says where it is known from. (Rules have a test of their own, beside their declarations.)"""

from __future__ import annotations

import re
from enum import Enum

import pytest

from legato.model import IdScheme, NameRule
from scripts.source_reading import fields

_SOURCE = re.compile(r"https://\S+|\b[\w.-]+/[\w.-]+#\d+\b")


@pytest.mark.parametrize("kind", [IdScheme, NameRule])
def test_every_form_of_ids_and_names_says_who_asks_for_it(kind: type[Enum]) -> None:
    described = {one.name: one.text for one in fields(kind)}
    assert described.keys() == kind.__members__.keys()
    assert [name for name, text in described.items() if not _SOURCE.search(text)] == []
