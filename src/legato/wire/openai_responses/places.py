"""Which item of a streamed response an event belongs to.

The rule of the protocol is simple: an item has one output index, and every event about it names that. Servers that
translate into this protocol keep it loosely. Some leave the index out, so that an item is known by its id; some write
another id into each event; and many give one index to several items, since they count every item as 0, or calls and
messages each from 0. Those that are beside each other, at one index or without any, are told apart like this:

    an item begins          it is the newest one if that may be the same, or one of its type that was only heard of;
                            else another item
    more of an item         that with its id, else the newest of its type; without an index, an id that is new is
                            another item's
    an item is whole        the open one with its id, wherever that began; else the newest, if that is open and of its
                            type; else the oldest that is; if none is open, one that was whole already and says the
                            same, else another item

What brings more of an item says its type, and so do an item that begins and one that is whole: an item is never taken
for one of another type.
"""

from __future__ import annotations

from collections.abc import Hashable

from legato.model import JsonObject
from legato.model.json_access import as_string


class _Shelf:
    """The items at one index, or all of those that have none."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.count = 0
        self.newest: Hashable = None
        """the key of the newest item"""
        self.newest_of: dict[str, Hashable] = {}
        """that of each type"""
        self.open: dict[str, dict[Hashable, None]] = {}
        """by type: the keys of items that are not whole, in order"""


class ItemPlaces:
    """The items of one stream, each under a key of its own: its output index, if it was the first there."""

    def __init__(self) -> None:
        self.begun: dict[Hashable, JsonObject] = {}
        """the items that were seen, in order, as far as they were known when they began"""
        self.done: dict[Hashable, JsonObject] = {}
        """those that are whole"""
        self.shared: set[int] = set()
        """indices that several items have"""
        self._shelves: dict[int | None, _Shelf] = {}
        self._shelf_of: dict[Hashable, _Shelf] = {}
        self._named: dict[str, Hashable] = {}
        """for each id of an item or of a call, the newest item that has it"""
        self._heard: set[Hashable] = set()
        """items that did not begin with an event of their own"""

    @property
    def are_numbered(self) -> bool:
        """Whether each item has an index of its own."""
        return not self.shared and all(isinstance(key, int) for key in self.begun)

    def more(self, event: JsonObject, kind: str) -> Hashable:
        """The item of that type that `event` brings more of."""
        shelf, wire_id = self._shelf(event), as_string(event.get("item_id"))
        named = self._named.get(wire_id)
        is_near = named is not None and (shelf.index is None or self._shelf_of[named] is shelf)
        if is_near and _type(self.begun[named]) in ("", kind):
            return named
        newest = shelf.newest_of.get(kind, shelf.newest_of.get(""))
        if shelf.index is not None or not wire_id:
            return self._hear(shelf, {"type": kind}) if newest is None else newest
        if newest is None or newest in self.done or _ids(self.begun[newest]):
            return self._hear(shelf, {"type": kind, "id": wire_id})
        self._named[wire_id] = newest
        return newest

    def open(self, event: JsonObject, item: JsonObject) -> Hashable:
        """The item that begins with `event`."""
        shelf = self._shelf(event)
        heard = shelf.newest_of.get(_type(item))
        known = [shelf.newest, *([heard] if heard in self._heard else [])]
        for key in [*self._with_ids_of(item, shelf), *known]:
            if key is not None and not self._is_done_with(key, item) and not _is_another(self.begun[key], item):
                self.begun[key] = {**item, **self.begun[key]}
                break
        else:
            key = self._begin(shelf, item)
        self._heard.discard(key)
        self._name(key, item)
        return key

    def close(self, event: JsonObject, item: JsonObject) -> Hashable:
        """The item that is whole with `event`."""
        shelf, kind = self._shelf(event), _type(item)
        key = self._open_one(shelf, kind, item)
        if key is None:
            last = shelf.newest_of.get(kind)
            is_same = last in self.done and _says_the_same(self.done[last], item)
            key = last if is_same else self._begin(shelf, item)
        self._shelf_of[key].open.get(_type(self.begun[key]), {}).pop(key, None)
        self._name(key, item)
        return key

    def _open_one(self, shelf: _Shelf, kind: str, item: JsonObject) -> Hashable:
        """The item that was not whole so far, and is with `item`; None if there is none."""
        newest, named = shelf.newest, self._with_ids_of(item)
        for key in (newest, *named) if newest in named else (*named, newest):
            if key is None or key in self.done or _is_of_another_type(self.begun[key], item):
                continue
            # An index tells more than an id. Without an index, another id is another item's.
            if key in named or (_ids(item) and (shelf.index is not None or not _is_another(self.begun[key], item))):
                return key
        oldest = next(iter(shelf.open.get(kind, ())), next(iter(shelf.open.get("", ())), None))
        return None if oldest is None or _is_another(self.begun[oldest], item) else oldest

    def _shelf(self, event: JsonObject) -> _Shelf:
        index = event.get("output_index")
        at = index if type(index) is int else None
        return self._shelves.get(at) or self._shelves.setdefault(at, _Shelf(at))

    def _hear(self, shelf: _Shelf, item: JsonObject) -> Hashable:
        """A new item, of which no event has said that it begins."""
        key = self._begin(shelf, item)
        self._heard.add(key)
        self._name(key, item)
        return key

    def _begin(self, shelf: _Shelf, item: JsonObject) -> Hashable:
        """A new item."""
        index, kind = shelf.index, _type(item)
        key: Hashable = f"{index}, {shelf.count}" if index is None or shelf.count else index
        if index is not None and shelf.count:
            self.shared.add(index)
        shelf.count += 1
        shelf.newest = shelf.newest_of[kind] = key
        shelf.open.setdefault(kind, {})[key] = None
        self.begun[key], self._shelf_of[key] = item, shelf
        return key

    def _name(self, key: Hashable, item: JsonObject) -> None:
        for wire_id in _ids(item):
            self._named[wire_id] = key

    def _with_ids_of(self, item: JsonObject, shelf: _Shelf | None = None) -> list[Hashable]:
        """The items that are known by an id of `item`, on one shelf or on any."""
        keys = [self._named[wire_id] for wire_id in _ids(item) if wire_id in self._named]
        return [key for key in keys if shelf is None or self._shelf_of[key] is shelf]

    def _is_done_with(self, key: Hashable, item: JsonObject) -> bool:
        """Whether what is under `key` is whole, and `item` is not it once more."""
        return key in self.done and not _share_an_id(self.done[key], item)


def _type(item: JsonObject) -> str:
    return as_string(item.get("type"))


def _ids(item: JsonObject) -> list[str]:
    return [wire_id for name in ("id", "call_id") if (wire_id := as_string(item.get(name)))]


def _is_another(known: JsonObject, item: JsonObject) -> bool:
    """Whether `item` cannot be the one that is known: it is of another type, or both have ids and share none."""
    return _is_of_another_type(known, item) or bool(_ids(known) and _ids(item) and not _share_an_id(known, item))


def _share_an_id(known: JsonObject, item: JsonObject) -> bool:
    return not set(_ids(known)).isdisjoint(_ids(item))


def _says_the_same(known: JsonObject, item: JsonObject) -> bool:
    """Whether an item is whole once more: it has an id of the one that is known, or differs from it in the id alone."""
    return _share_an_id(known, item) or {**known, "id": None} == {**item, "id": None}


def _is_of_another_type(known: JsonObject, item: JsonObject) -> bool:
    return bool(_type(known) and _type(item)) and _type(known) != _type(item)
