"""What a request names and does not hold: items of responses that are kept here, and what only a provider keeps.

In:  the fields of a body.
Out: the same with the items that it refers to in their place; or what is named there and can be read by nobody here.

A client whose responses are stored need not send an answer back: it may send an `item_reference` with the id that an
item of the answer had (the Vercel AI SDK does, unless `store` is false). None of this may be left out without a word:
results would lose their calls, and the model its instructions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from legato.gateway.refusals import TurnedAway
from legato.model import Json, JsonObject, Target
from legato.model.json_access import as_list, as_object, as_objects, as_text
from legato.transport.stored_responses import Stored, input_items
from legato.wire.contract import NotHeld, Parsed
from legato.wire.hosting import RefusalReason

FindResponse: TypeAlias = Callable[[str], Awaitable[Stored | None]]
"""a response that is kept with an item of this id"""


def not_held(parsed: Parsed) -> list[NotHeld]:
    """What a request names and does not hold."""
    return [note for note in parsed.notes if isinstance(note, NotHeld)]


def check_held(parsed: Parsed, target: Target, *, is_home: bool) -> None:
    """Raise `TurnedAway` if `target` would get only a part of what is said, in a request that is written anew for it.

    A field that names the other part is sent on to the provider that it is meant for; `is_home` says that this is one.
    """
    passed = parsed.options.extra if is_home else ()
    missing = next((note for note in not_held(parsed) if note.partition(":")[0] not in passed), None)
    if missing is not None:
        message = f"{missing}; send to {target.route} what is meant, or go on from a response that is kept here"
        raise TurnedAway(message, reason=RefusalReason.SHAPE)


async def with_items(fields: JsonObject, find: FindResponse) -> JsonObject:
    """`fields` of a request to the Responses API with all items that are kept in place of references to them.

    It is the very same if none is.
    """
    given = as_list(fields.get("input"))
    known: dict[str, JsonObject] = {}
    for wanted in reversed([name for item in given if (name := _referred(item))]):
        # A response is kept with all that came before it, so the newest mostly has what the others refer to as well.
        if wanted not in known and (stored := await find(wanted)) is not None:
            known = {**items_of(stored), **known}
    if not known:
        return fields
    items: list[Json] = [known.get(_referred(item), item) for item in given]
    return {**fields, "input": items}


def items_of(stored: Stored) -> dict[str, JsonObject]:
    """The items of a response and of what led to it, by their ids."""
    items = as_objects([*input_items(stored.body), *as_list(stored.response.get("output"))])
    return {name: item for item in items if not _referred(item) and (name := as_text(item.get("id")))}


def _referred(item: Json) -> str:
    """The id of the item that `item` refers to; empty if it is no reference."""
    fields = as_object(item)
    return as_text(fields.get("id")) if fields.get("type") == "item_reference" else ""
