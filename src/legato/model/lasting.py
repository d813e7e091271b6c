"""Lists that nobody changes any more: what was once made of them, or found out about them, is kept with them.

In:  a list that was decoded from JSON, such as the tools of a request, which come again with every request.
Out: what others make of it, found out once: tools, definitions for a target, whether a provider would refuse one.

Nothing is kept anywhere else. Whatever is made of such a list lasts as long as the list, and no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

import msgspec

T = TypeVar("T")
R = TypeVar("R")

_MOST, _MOST_OF_ITEMS = 64, 4_096
"""answers that are kept with a list, and about its items: our choice, more than its targets and questions; a client may
have a part in what is asked, so there is a bound"""

_LEVELS = 3
"""how deep the schema of a tool is: in its function, in its definition"""


class Lasting(list[T]):
    """A list that must not be changed, nor anything in it."""

    __slots__ = ("_found", "_of_items", "is_plain", "plain", "root")

    def __init__(self, items: Iterable[T], source: Lasting[Any] | None = None, *, is_plain: bool = False) -> None:
        """`source` is the list that this one was made of."""
        super().__init__(items)
        self.is_plain = is_plain
        """whether it was decoded from JSON in which nothing is odd (`reads_plainly`), so that nobody need look again"""
        self.plain: frozenset[int] = frozenset(_parts(self, _LEVELS)) if is_plain else frozenset()
        """the identities of what it holds then, down to the schemas of tools"""
        self.root: Lasting[Any] = self if source is None else source.root
        """the list that all of it began with"""
        self._found: dict[Hashable, Any] = {}
        self._of_items: dict[Hashable, tuple[object, Any]] = {}
        """what was found about items, with the item, whose identity is its own for as long as it is held here"""

    def once(self, question: Hashable, find: Callable[[], R]) -> R:
        """What `find` finds about this list, which is asked once for each `question`."""
        try:
            return self._found[question]
        except KeyError:
            return _kept(self._found, question, find(), _MOST)

    def about(self, item: object, ask: Callable[[Any], R], given: object) -> R:
        """What `ask` says of `given`, which is an item of the list or a part of one.

        It is asked once for all lists with the same root that hold the very same item.
        """
        known, key = self.root._of_items, (ask, id(item))
        try:
            return known[key][1]
        except KeyError:
            return _kept(known, key, (item, ask(given)), _MOST_OF_ITEMS)[1]


def is_plain(value: object) -> bool:
    """Whether `value` is a list that was decoded from JSON with nothing odd in it."""
    return isinstance(value, Lasting) and cast("Lasting[Any]", value).is_plain


def without_plain(value: Any, of: Lasting[Any], levels: int = _LEVELS) -> Any:
    """`value` with nothing in place of the objects that are `plain` in `of`.

    Whoever looks at a tool that was made of a plain one has little left to look at then: they are nearly all of it.
    """
    if not (of.plain and levels and isinstance(value, dict)):
        return value
    if id(value) in of.plain:  # pyright: ignore[reportUnknownArgumentType]
        return None
    fields = cast("dict[str, Any]", value)
    return {
        name: without_plain(inside, of, levels - 1) if isinstance(inside, dict) else inside
        for name, inside in fields.items()
    }


def _parts(items: Sequence[object], levels: int) -> Iterator[int]:
    """The identities of the objects among `items`, and of those that are in their fields, so many levels deep."""
    level = _objects(items)
    for _ in range(levels):
        yield from map(id, level)
        level = _objects([value for fields in level for value in fields.values()])


def _objects(values: Sequence[object]) -> list[dict[str, object]]:
    return [cast("dict[str, object]", value) for value in values if isinstance(value, dict)]


def _kept(known: dict[Hashable, R], key: Hashable, value: R, most: int) -> R:
    if len(known) >= most:
        known.clear()
    return known.setdefault(key, value)


def made_of(items: Sequence[Any], make: Callable[..., list[R]], *given: Hashable) -> list[R]:
    """What `make` makes of `items` and of what else it is `given`; of a list that lasts it is made once, and lasts."""
    if not isinstance(items, Lasting):
        return make(items, *given)
    lasting: Lasting[Any] = items
    return lasting.once((make, *given), lambda: Lasting(make(lasting, *given), lasting))


def written_as(items: Sequence[Any], write: Callable[[Sequence[Any]], list[R]]) -> list[R]:
    """What `write` writes of `items`; the very things that they were read from, if those say the same in JSON."""
    return made_of(items, _as_read, write)


def _as_read(items: Sequence[Any], write: Callable[[Sequence[Any]], list[R]]) -> list[R]:
    written = write(items)
    return items.root if isinstance(items, Lasting) and _says(items.root, written) else written


def _says(read: Any, written: Any) -> bool:
    """Whether both are the same JSON.

    Definitions of two dialects differ in their first words, and what was taken over is the very same. So the schemas,
    which are long, are mostly not encoded here.
    """
    if read is written:
        return True
    if isinstance(read, dict) and isinstance(written, dict):
        one, other = cast("dict[str, Any]", read), cast("dict[str, Any]", written)
        return list(one) == list(other) and all(map(_says, one.values(), other.values()))
    if isinstance(read, list) and isinstance(written, list):
        ones, others = cast("list[Any]", read), cast("list[Any]", written)
        return len(ones) == len(others) and all(map(_says, ones, others))
    try:
        return msgspec.json.encode(read) == msgspec.json.encode(written)
    except UnicodeEncodeError:  # half of a character: not as it is written
        return False
