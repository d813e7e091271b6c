"""Find the items of one inventory that are missing from another.

In:  the inventories of a file before and after repair, and what the repair was for.
Out: the items that are gone.

Items are counted; where they are does not matter. Fields that records have about themselves are not counted, because
most records repeat them. These may go: an exact repetition of a call, a result or a tool, and a result of ours that
says there is none, each with everything that belongs to it; a setting that was wrong; the id of a call where ids were
wrong. Text is kept if it is found on lines of its own in a longer text, and a result without a call if it is quoted
there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from legato.formats.fields import as_list, as_object
from legato.formats.mending.bare_json import canonical
from legato.formats.mending.inventory import InventoryItem, ItemKind
from legato.formats.patching.quotation import opens_quotation, read_quotation
from legato.model import Json, recognise_closure

_WORTH = frozenset({ItemKind.TEXT, ItemKind.INSTRUCTION, ItemKind.CALL, ItemKind.RESULT, ItemKind.MEDIA})
_MOST_SOUGHT = 1_000
"""how many missing items are looked for in other forms; a file that lacks more is a different file anyway"""
_OPENINGS = ("] ", ": ")
"""what may precede a text inside a longer one beside the end of a line: the end of one of our marks"""


@dataclass(frozen=True, slots=True)
class Purposes:
    """What a repair was for: the request fields that were wrong, and whether ids were."""

    fields: frozenset[str] = frozenset()
    ids: bool = False


def find_missing(
    before: Sequence[InventoryItem], after: Sequence[InventoryItem], purposes: Purposes
) -> list[InventoryItem]:
    """The items of `before` that `after` lacks, in order. A call that only lost its id is one of them."""
    match = _Match(before, after)
    allowed = Counter((item.kind, item.key) for item in (*_may_go(before), *_repeated_tools(before)))
    missing: set[InventoryItem] = set() if purposes.ids else set(_renamed(before, after, match.missing))
    for number, item in enumerate(match.missing):
        if _take(allowed, (item.kind, item.key)) or (item.kind is ItemKind.SETTING and item.name in purposes.fields):
            continue
        if number >= _MOST_SOUGHT or not _is_kept(item, match):
            missing.add(item)
    return [item for item in before if item in missing]


def _is_kept(item: InventoryItem, match: _Match) -> bool:
    """Whether an item survives in another form: inside a longer text, quoted, or in a longer definition."""
    match item.kind:
        case ItemKind.TEXT | ItemKind.INSTRUCTION:
            return match.takes_from(item.kind, item.key)
        case ItemKind.RESULT:
            return match.takes_from(ItemKind.TEXT, item.key, is_quoted=True) or match.takes_quoted(item.key)
        case ItemKind.TOOL:
            return any(_covers(other.key, item.key) for other in match.left(ItemKind.TOOL))
        case ItemKind.CALLED:
            return item.name in match.tools_named
        case ItemKind.ENVELOPE:
            return (item.kind, item.key) in match.known
        case ItemKind.CALL | ItemKind.MEDIA | ItemKind.MARK | ItemKind.SETTING:
            return False


class _Match:
    """Pairs up equal items, preferring equal places. Unpaired items are `missing` or left over."""

    def __init__(self, before: Sequence[InventoryItem], after: Sequence[InventoryItem]) -> None:
        self.known = {(item.kind, item.key) for item in after}
        quoted = (read_quotation(item.key) for item in after if item.kind is ItemKind.TEXT)
        self.tools_named = {item.name for item in after if item.kind is ItemKind.CALL}
        self.tools_named |= {one.tool for one in quoted if one is not None}
        here = Counter((item.kind, item.key, item.place) for item in after)
        moved = [item for item in before if not _take(here, (item.kind, item.key, item.place))]
        stayed = Counter((item.kind, item.key) for item in before) - Counter((item.kind, item.key) for item in moved)
        there = Counter((item.kind, item.key) for item in after) - stayed
        self.missing = [item for item in moved if not _take(there, (item.kind, item.key))]
        self._left = [item for item in reversed(after) if _take(there, (item.kind, item.key))]

    def left(self, kind: ItemKind) -> Iterable[InventoryItem]:
        """The items of that kind in the second inventory that have no partner."""
        return (item for item in self._left if item.kind is kind)

    def takes_from(self, kind: ItemKind, text: str, *, is_quoted: bool = False) -> bool:
        """Find `text` on lines of its own in an item without a partner, and take it out of that item."""
        for index, item in enumerate(self._left):
            if item.kind is kind and (rest := _cut_out(item.key, text, opens_quotation if is_quoted else _opens)):
                self._left[index] = item._replace(key=rest)
                return True
        return False

    def takes_quoted(self, result: str) -> bool:
        """Find a result that is JSON in an item without a partner that quotes it, spelt in another way."""
        return result.startswith("{") and _take(self._quoted, _as_quoted(result))

    @cached_property
    def _quoted(self) -> Counter[str]:
        """The results that are quoted in items without a partner."""
        quoted = (read_quotation(item.key) for item in self._left if item.kind is ItemKind.TEXT)
        return Counter(_as_quoted(one.words) for one in quoted if one is not None)


def _cut_out(words: str, text: str, opens: Callable[[str], bool]) -> str | None:
    """`words` without `text`, if it is there on lines of its own, or behind one of our marks.

    The text has no blanks around it any more; those that it had may still be there.
    """
    start = words.find(text)
    while start >= 0:
        head, tail = words[:start], words[start + len(text) :]
        if opens(head) and _ends(tail):
            return f"{head}\n{tail}"
        start = words.find(text, start + 1)
    return None


def _as_quoted(result: str) -> str:
    """A result in one spelling of its JSON; the text alone, where there is no more in it."""
    try:
        value: Json = json.loads(result)
    except (ValueError, RecursionError):
        return result.strip()
    holder = as_object(value)
    told = holder.get("result") if holder.keys() == {"result"} else None
    return told.strip() if isinstance(told, str) else canonical(value)


def _opens(head: str) -> bool:
    """Whether a text of its own may begin behind `head`."""
    said = head.rstrip()
    return not said or "\n" in head[len(said) :] or head.endswith(_OPENINGS)


def _ends(tail: str) -> bool:
    """Whether a text of its own may end before `tail`."""
    more = tail.lstrip()
    return not more or "\n" in tail[: -len(more)]


_Key = TypeVar("_Key")


def _take(counted: Counter[_Key], key: _Key) -> bool:
    """Take one of these, if there is any."""
    counted[key] -= 1
    return counted[key] >= 0


def _renamed(
    before: Sequence[InventoryItem], after: Sequence[InventoryItem], missing: Iterable[InventoryItem]
) -> list[InventoryItem]:
    """The calls that are still there under another id."""
    gone = set(missing)
    ids = Counter((item.key, item.id) for item in after if item.kind is ItemKind.CALL)
    calls = [item for item in before if item.kind is ItemKind.CALL and item.id and item not in gone]
    return [item for item in calls if not _take(ids, (item.key, item.id))]


def find_contradicted(before: Sequence[InventoryItem], after: Sequence[InventoryItem]) -> list[InventoryItem]:
    """Results that are still in the file although repair gave their calls one that says there is none."""
    closed = _closed_calls(after) - _closed_calls(before)
    return [
        item for item in after if item.kind is ItemKind.RESULT and item.id in closed and not _says_nothing(item.key)
    ]


def _closed_calls(items: Sequence[InventoryItem]) -> set[str]:
    return {item.id for item in items if item.kind is ItemKind.RESULT and item.id and _says_nothing(item.key)}


def _may_go(items: Sequence[InventoryItem]) -> list[InventoryItem]:
    """Exact repetitions of calls and results, our own closures, and everything that belongs to them."""
    seen: set[tuple[ItemKind, str, str]] = set()
    spare: list[InventoryItem] = []
    for item in items:
        if item.kind not in (ItemKind.CALL, ItemKind.RESULT) or item.place != item.owner:
            continue
        known = (item.kind, item.id, item.key)
        if (known in seen and item.id) or (item.kind is ItemKind.RESULT and _says_nothing(item.key)):
            spare.append(item)
        seen.add(known)
    owners = {item.place for item in spare}
    worth = Counter(item.record for item in items if item.kind in _WORTH and item.owner not in owners)
    records = {item.record for item in spare if not worth[item.record]}
    return [item for item in items if item.owner in owners or item.record in records]


def _repeated_tools(items: Sequence[InventoryItem]) -> Iterator[InventoryItem]:
    """Definitions of tools that are there already, as they are."""
    seen: set[str] = set()
    for item in items:
        if item.kind is ItemKind.TOOL and item.key in seen:
            yield item
        elif item.kind is ItemKind.TOOL:
            seen.add(item.key)


def _says_nothing(text: str) -> bool:
    """Whether a result is one of our closures, without anything that a user or a tool said.

    Some dialects wrap the text of a result in an object; the inventory has that as JSON.
    """
    told = [text]
    if text.startswith("{"):
        try:
            told = [value for value in as_object(json.loads(text)).values() if isinstance(value, str)]
        except ValueError:
            return False
    closures = [closure for value in told if (closure := recognise_closure(value)) is not None]
    return any(closure.said is None and closure.output is None for closure in closures)


def _covers(new: str, old: str) -> bool:
    """Whether one definition contains everything in another."""
    return _has_all(json.loads(new), json.loads(old))


def _has_all(new: Json, old: Json) -> bool:
    if isinstance(old, dict):
        known = as_object(new)
        return isinstance(new, dict) and all(
            name in known and _has_all(known[name], value) for name, value in as_object(old).items()
        )
    if isinstance(old, list):
        pairs = zip(as_list(new), as_list(old), strict=False)
        return (
            isinstance(new, list) and len(as_list(new)) == len(as_list(old)) and all(_has_all(*pair) for pair in pairs)
        )
    return new == old and type(new) is type(old)
