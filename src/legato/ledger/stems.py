"""What our own call ids are made of: `hist_tool_` and a stem.

The stem is the provider's id without the prefixes that it came with, where that is short and plain, else a hash. A
provider's id and the same id with one prefix more or less (`call_x`, `toolu_x`, `x`) have one stem, its *bare* form.
"""

from __future__ import annotations

import re
from typing import Any

from legato.model.hashing import base62

PREFIX: Any = "hist_tool_"
"""what our names begin with: `PREFIX + stem` is a `CallId`, and quicker than a function that says so"""
_PREFIXES = re.compile(r"(?:call_|toolu_|hist_tool_)+|call(?=[A-Za-z0-9]{8,}\Z)")
_FIRST = ("call", "toolu_", "hist_tool_")
_LONGEST_STEM = 24
"""characters of a provider's id up to which it is kept in ours: our choice, so that ours fits every provider's limit"""

_STEM = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_STEM}}}")
match_simple_id = re.compile(rf"(?:call|toolu)_((?!call)[A-Za-z0-9]{{1,{_LONGEST_STEM}}})").fullmatch
"""a wire id with one prefix and a stem that is good for a name"""


def bare(wire_id: str) -> str:
    """`wire_id` without known prefixes, however often they were put before it."""
    if simple := match_simple_id(wire_id):
        return simple[1]
    while wire_id.startswith(_FIRST) and (match := _PREFIXES.match(wire_id)) and match.end() < len(wire_id):
        wire_id = wire_id[match.end() :]
    return wire_id


def stem_of(bare_id: str, wire_id: str, name: str, ordinal: int) -> str:
    """What a call is named by: its bare id where that is short and plain, else a hash."""
    return bare_id if _STEM.fullmatch(bare_id) else base62(ordinal, wire_id, name, length=_LONGEST_STEM)
