"""Which call a streamed fragment belongs to.

The rule of the protocol is simple: fragments with one `index` are one call, and the first of them brings id and name.
Servers of the family keep it loosely. Some leave the index out, some count every call as 0, some repeat id and name in
each fragment, some make up a new id for each, some send no ids at all or whole calls at once. So a fragment is matched
with the call at its index (without one: the call of its id, or the last one), and by what else it brings:

    another id, and no name            more of that call, whose first id stays; without an index, another call if that
                                       one is whole
    another id, and another name       another call
    another id, and the same name      more of that call, unless it is whole or the fragment has no arguments yet: then
                                       it begins another call
    the same id                        the same call, unless that one is whole and this is a second one
    no id, but a name                  another call if that one is whole
    anything else                      more of that call
"""

from __future__ import annotations

from msgspec import Struct, field

from legato.model import JsonObject
from legato.model.json_access import as_id, as_object, as_string
from legato.wire.openai_chat.growing import GrowingArguments
from legato.wire.openai_chat.reading import read_argument_text


class Fragment(Struct):
    """One piece of a call, as a delta brings it."""

    index: int | None
    wire_id: str
    name: str
    arguments: str
    is_custom: bool = False

    @classmethod
    def read(cls, item: JsonObject) -> Fragment:
        """A fragment from an item of `tool_calls`."""
        index = item.get("index")
        custom = as_object(item.get("custom"))
        function = custom or as_object(item.get("function"))
        return cls(
            index if isinstance(index, int) else None,
            as_id(item.get("id")),
            as_string(function.get("name")),
            read_argument_text(function.get("input" if custom else "arguments")),
            bool(custom) or item.get("type") == "custom",
        )


class OpenCall(Struct):
    """A call that is being streamed: `key` counts the calls of the answer."""

    key: int
    wire_id: str = ""
    name: str = ""
    arguments: GrowingArguments = field(default_factory=GrowingArguments)


class CallPlaces:
    """The calls of one stream."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []
        self._at_index: dict[int, OpenCall] = {}
        self._with_id: dict[str, OpenCall] = {}
        """the newest call that has the id"""

    def place(self, fragment: Fragment) -> OpenCall | None:
        """The call that `fragment` is a piece of, with the piece added; None if it only repeats what is there."""
        call = self._match(fragment)
        if call is None or self._is_another(call, fragment):
            call = OpenCall(len(self._calls))
            self._calls.append(call)
        elif self._is_repetition(call, fragment):
            return None
        if fragment.index is not None:
            self._at_index[fragment.index] = call
        if fragment.wire_id and not call.wire_id:
            call.wire_id = fragment.wire_id
            known = self._with_id.get(call.wire_id)
            if known is None or known.key < call.key:
                self._with_id[call.wire_id] = call
        call.name = call.name or fragment.name
        call.arguments.add(fragment.arguments)
        return call

    def at(self, index: int) -> OpenCall | None:
        """The call that a fragment without id and name belongs to, if that has been begun."""
        return self._at_index.get(index)

    def _match(self, fragment: Fragment) -> OpenCall | None:
        if fragment.index is not None:
            return self._at_index.get(fragment.index)
        known = self._with_id.get(fragment.wire_id)
        if known is None and not (fragment.wire_id and fragment.name):  # a new call would have both
            known = self._calls[-1] if self._calls else None
        return known

    @staticmethod
    def _is_another(call: OpenCall, fragment: Fragment) -> bool:
        if fragment.wire_id and call.wire_id and fragment.wire_id != call.wire_id:
            if not fragment.name:
                return fragment.index is None and call.arguments.is_whole()
            is_anew = fragment.name != call.name or not fragment.arguments
            return bool(call.name) and (is_anew or call.arguments.is_whole())
        if not (fragment.name and fragment.arguments and call.name):
            return False
        is_same = bool(fragment.wire_id) and fragment.wire_id == call.wire_id and fragment.name == call.name
        return call.arguments.is_whole() and not (is_same and call.arguments.equals(fragment.arguments))

    @staticmethod
    def _is_repetition(call: OpenCall, fragment: Fragment) -> bool:
        return bool(
            fragment.wire_id
            and fragment.wire_id == call.wire_id
            and fragment.name == call.name
            and fragment.arguments
            and call.arguments.equals(fragment.arguments)
            and call.arguments.is_whole()
        )
