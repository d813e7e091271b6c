"""Tool names as each provider accepts them.

A name that is valid for the target stays as it is. Any other becomes a slug, `_` and a hash of the name: a function of
the name alone, the same in definitions, calls and results, so the prefix stays stable and `restore` can undo it.
Should a valid name be the projection of another, the projected one takes a longer hash.

A tool of a namespace is called `{namespace}__{name}` where the target has no namespaces, the form in which clients of
the Model Context Protocol write them. Where that is not valid, or another tool has that name, it is a slug with a hash
too. Of a plain tool and one of a namespace that would have the same name, the one that came first has it.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from legato.errors import ProjectionError
from legato.model import NameRule
from legato.model.hashing import base62

# Where each form comes from is said at `NameRule`.
_VALID: dict[NameRule, re.Pattern[str]] = {
    NameRule.OPENAI: re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    NameRule.ANTHROPIC: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    NameRule.GEMINI: re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
    NameRule.KIMI: re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
}
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]+")
_HASH_LENGTHS = (8, 16, 24, 32)
"""letters of a hash: the first that is not taken, and 62 to the power of 8 are enough for any list of tools"""
_SLUG_LENGTH = 24
"""letters of the old name that stay readable before the hash: both fit the shortest limit, 64"""
_JOINT = "__"

_Tool: TypeAlias = tuple[str, str]
"""a namespace, empty for none, and a name in it"""


class NameTable(dict[str, str]):
    """The names of one conversation under one rule: our name to the target's. Asking for a name adds it.

    As a mapping it holds the tools without a namespace, which nearly all are.
    """

    def __init__(self, rule: NameRule) -> None:
        super().__init__()
        self._valid = _VALID[rule]
        self._spaced: dict[_Tool, str] = {}
        self._tool: dict[str, _Tool] = {}

    def project(self, name: str, namespace: str = "") -> str:
        """The name that the target accepts for `name`; one name for both, where there is a namespace."""
        if not namespace:
            return self[name]
        tool = namespace, name
        wire = self._spaced.get(tool)
        if wire is None:
            joined = f"{namespace}{_JOINT}{name}"
            is_free = self._valid.fullmatch(joined) and joined not in self._tool
            wire = joined if is_free else self._hashed(tool)
            self._enter(tool, wire)
        return wire

    def restore(self, wire_name: str) -> str:
        """The name that `wire_name` stands for; a name that was never projected stands for itself.

        So does that of a tool in a namespace: `namespaced` has both.
        """
        namespace, name = self._tool.get(wire_name, ("", wire_name))
        return wire_name if namespace else name

    def namespaced(self, wire_name: str) -> _Tool | None:
        """The namespace and the name that `wire_name` stands for; None if it is no tool of a namespace."""
        tool = self._tool.get(wire_name)
        return tool if tool is not None and tool[0] else None

    def __missing__(self, name: str) -> str:
        squatter = self._tool.get(name)
        if self._valid.fullmatch(name) and not (squatter and squatter[0]):
            self._enter(("", name), name)
            if squatter is not None:
                self._enter(squatter, self._hashed(squatter))
            return name
        wire = self._hashed(("", name))
        self._enter(("", name), wire)
        return wire

    def _hashed(self, tool: _Tool) -> str:
        namespace, name = tool
        joined, parts = (f"{namespace}{_JOINT}{name}", tool) if namespace else (name, (name,))
        slug = _FOREIGN.sub("_", joined)[:_SLUG_LENGTH].strip("_-") or "tool"
        if not slug[0].isalpha():
            slug = f"t_{slug}"
        for length in _HASH_LENGTHS:
            wire = f"{slug}_{base62(*parts, length=length)}"
            if self._tool.get(wire, tool) == tool:
                return wire
        raise ProjectionError(f"no free name for the tool {joined!r}", layer="projection", name=joined)

    def _enter(self, tool: _Tool, wire: str) -> None:
        namespace, name = tool
        if namespace:
            self._spaced[tool] = wire
        else:
            self[name] = wire
        self._tool[wire] = tool
