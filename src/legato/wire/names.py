"""Tool names as each provider accepts them.

A name that is valid for the target stays as it is. Any other becomes a slug, `_` and a hash of the name: a function of
the name alone, the same in definitions, calls and results, so the prefix stays stable and `restore` can undo it.
Should a valid name be the projection of another, the projected one takes a longer hash.
"""

from __future__ import annotations

import re

from legato.errors import ProjectionError
from legato.model import NameRule
from legato.model.hashing import base62

_VALID: dict[NameRule, re.Pattern[str]] = {
    NameRule.OPENAI: re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    NameRule.ANTHROPIC: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    NameRule.GEMINI: re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
    NameRule.KIMI: re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
}
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]+")
_HASH_LENGTHS = (8, 16, 24, 32)
_SLUG_LENGTH = 24


class NameTable(dict[str, str]):
    """The names of one conversation under one rule: our name to the target's. Asking for a name adds it."""

    def __init__(self, rule: NameRule) -> None:
        super().__init__()
        self._valid = _VALID[rule]
        self._name: dict[str, str] = {}

    def project(self, name: str) -> str:
        """The name that the target accepts for `name`."""
        return self[name]

    def restore(self, wire_name: str) -> str:
        """The name that `wire_name` stands for; a name that was never projected stands for itself."""
        return self._name.get(wire_name, wire_name)

    def __missing__(self, name: str) -> str:
        if self._valid.fullmatch(name):
            squatter = self._name.get(name)
            self._enter(name, name)
            if squatter is not None:
                self._enter(squatter, self._hashed(squatter))
            return name
        wire = self._hashed(name)
        self._enter(name, wire)
        return wire

    def _hashed(self, name: str) -> str:
        slug = _FOREIGN.sub("_", name)[:_SLUG_LENGTH].strip("_-") or "tool"
        if not slug[0].isalpha():
            slug = f"t_{slug}"
        for length in _HASH_LENGTHS:
            wire = f"{slug}_{base62(name, length=length)}"
            if self._name.get(wire, name) == name:
                return wire
        raise ProjectionError(f"no free name for the tool {name!r}", layer="projection", name=name)

    def _enter(self, name: str, wire: str) -> None:
        self[name] = wire
        self._name[wire] = name
