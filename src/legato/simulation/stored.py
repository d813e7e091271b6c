"""Responses that a provider keeps, so that a later request may go on from one by its id.

In:  a response and the items that led to it.
Out: those items, for whoever has the id and the account; nothing for anybody else.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from legato.model import Json, JsonObject
from legato.model.json_access import as_list

KEPT = 500
"""responses that a provider keeps; the oldest go first"""


class Stored(Struct, frozen=True):
    """A response, and the items of its request with those of all requests before."""

    account: str
    response: JsonObject
    input: list[Json]


class StoredResponses:
    """What one provider keeps."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Stored] = OrderedDict()

    def find(self, response_id: str, account: str) -> Stored | None:
        """The response of that id, if this account may see it."""
        stored = self._kept.get(response_id)
        return stored if stored is not None and stored.account == account else None

    def keep(self, body: JsonObject, response: JsonObject, account: str) -> None:
        """Keep `response` to `body`, unless the request says not to."""
        if body.get("store") is False:
            return
        self._kept[response["id"]] = Stored(account, response, input_items(body))
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def forget(self, response_id: str) -> None:
        """Keep it no longer."""
        self._kept.pop(response_id, None)


def input_items(body: JsonObject) -> list[Json]:
    """The input of a request as items; it may also be a text."""
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)


def go_on_from(stored: Stored, body: JsonObject) -> JsonObject:
    """`body` with all that came before it, as a request that needs no memory of the server's."""
    rest = {name: value for name, value in body.items() if name != "previous_response_id"}
    return rest | {"input": [*stored.input, *as_list(stored.response.get("output")), *input_items(body)]}
