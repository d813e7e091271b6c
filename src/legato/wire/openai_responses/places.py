"""Which item of a streamed response an event belongs to.

The rule of the protocol is simple: an item has one output index, and every event about it names that. Servers that
translate into this protocol keep it loosely. Some leave the index out, so that an item is known by its id; some write
another id into each event; and many give one index to several items, since they count every item as 0, or calls and
messages each from 0. So an event belongs to the item at its index, with these exceptions:

    an item begins where one is              another item, unless that is the same
    an item is whole where none is open      the open one with its id, wherever that began; else another item
    more of an item where several are        that with its id, else the newest
"""

from __future__ import annotations

from collections.abc import Hashable

from legato.model import JsonObject
from legato.model.json_access import as_object, as_string


class ItemPlaces:
    """The items of one stream, each under a key of its own: its output index, if it was the first there."""

    def __init__(self) -> None:
        self.begun: dict[Hashable, JsonObject] = {}
        """the items that were seen, in order, as far as they were known when they began"""
        self.done: dict[Hashable, JsonObject] = {}
        """those that are whole"""
        self.shared: dict[int, dict[Hashable, None]] = {}
        """the keys of the items at an index that has several, in order"""
        self._named: dict[str, Hashable] = {}
        """the newest item with an id, or with the id of a call"""

    @property
    def are_numbered(self) -> bool:
        """Whether each item has an index of its own."""
        return not self.shared and all(isinstance(key, int) for key in self.begun)

    def more(self, event: JsonObject) -> Hashable:
        """The item that `event` brings more of."""
        index, wire_id = _index(event), as_string(event.get("item_id"))
        if index is None:
            key: Hashable = wire_id or as_string(as_object(event.get("item")).get("id"))
        else:
            named = self._named.get(wire_id)
            key = named if named in self.shared.get(index, ()) else self._newest(index)
        self.begun.setdefault(key, {})
        return key

    def open(self, event: JsonObject, item: JsonObject) -> Hashable:
        """The item that begins with `event`."""
        index = _index(event)
        key = self.more(event) if index is None else self._newest(index)
        if index is not None and (self._is_done_with(key, item) or _is_another(self.begun.get(key), item)):
            key = self._beside(index)
        self.begun[key] = self.begun.get(key) or item
        for wire_id in _ids(item):
            self._named[wire_id] = key
        return key

    def close(self, event: JsonObject, item: JsonObject) -> Hashable:
        """The item that is whole with `event`."""
        index = _index(event)
        if index is None:
            return self.more(event)
        newest = self._newest(index)
        named = [self._named[wire_id] for wire_id in _ids(item) if wire_id in self._named]
        for key in (newest, *named) if _share_an_id(self.begun.get(newest, {}), item) else (*named, newest):
            if key in self.begun and key not in self.done and not _is_of_another_type(self.begun[key], item):
                return key
        if newest in self.begun and _is_another(self.done.get(newest, self.begun[newest]), item):
            newest = self._beside(index)
        self.begun.setdefault(newest, {})
        return newest

    def _is_done_with(self, key: Hashable, item: JsonObject) -> bool:
        """Whether what is under `key` is whole, and `item` is not it once more."""
        return key in self.done and not _share_an_id(self.done[key], item)

    def _newest(self, index: int) -> Hashable:
        return next(reversed(self.shared[index])) if index in self.shared else index

    def _beside(self, index: int) -> Hashable:
        """The key of another item at `index`."""
        keys = self.shared.setdefault(index, {index: None})
        key = f"{index}, {len(keys)}"
        keys[key] = None
        return key


def _index(event: JsonObject) -> int | None:
    index = event.get("output_index")
    return index if type(index) is int else None


def _ids(item: JsonObject) -> list[str]:
    return [wire_id for name in ("id", "call_id") if (wire_id := as_string(item.get(name)))]


def _is_another(known: JsonObject | None, item: JsonObject) -> bool:
    """Whether `item` cannot be the one that is known: it is of another type, or both have ids and share none."""
    if not known:
        return False
    return _is_of_another_type(known, item) or bool(_ids(known) and _ids(item) and not _share_an_id(known, item))


def _share_an_id(known: JsonObject, item: JsonObject) -> bool:
    return not set(_ids(known)).isdisjoint(_ids(item))


def _is_of_another_type(known: JsonObject, item: JsonObject) -> bool:
    return known.get("type", item.get("type")) != item.get("type")
