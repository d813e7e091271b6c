"""Responses that a provider keeps, so that a later request may go on from one by its id.

In:  a response and the request that led to it.
Out: for those who have the id and the account, the whole conversation up to there; nothing for anyone else.

    OpenAI       keeps every response unless `store` is false; `previous_response_id` goes on from one, and tools and
                 instructions are those of the new request
    Anthropic    keeps what a request with `thread` led to; one that continues a thread may leave out whatever stays
                 as it was. The tool runner of its Python client works like this.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from legato.model import Dialect, Json, JsonObject
from legato.model.json_access import as_list, as_object, as_objects, as_text, present
from legato.transport.operations import Operation
from legato.wire.growing import minted_id
from legato.wire.openai_responses import shapes

KEPT = 100
"""responses that a provider keeps, each with its whole conversation; the oldest go first"""


class Stored(Struct, frozen=True):
    """A response, and its request with all that came before."""

    account: str
    response: JsonObject
    body: JsonObject


class StoredResponses:
    """What one provider keeps: at most `most` responses, and at most `most_bytes` of them and their requests."""

    def __init__(self, most: int = KEPT, most_bytes: int | None = None) -> None:
        self._kept: OrderedDict[str, tuple[Stored, int]] = OrderedDict()
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0

    def find(self, response_id: str, account: str) -> Stored | None:
        """The response of that id, if this account may see it."""
        stored, _ = self._kept.get(response_id, (None, 0))
        return stored if stored is not None and stored.account == account else None

    def keep(self, stored: Stored) -> None:
        """Keep a response under its id; the oldest make room for it."""
        response_id = stored.response["id"]
        self.forget(response_id)
        size = 0 if self._most_bytes is None else len(msgspec.json.encode((stored.response, stored.body)))
        self._kept[response_id] = stored, size
        self._bytes += size
        while self._is_full():
            self.forget(next(iter(self._kept)))

    def forget(self, response_id: str) -> None:
        """Keep it no longer."""
        _, size = self._kept.pop(response_id, (None, 0))
        self._bytes -= size

    def _is_full(self) -> bool:
        return len(self._kept) > self._most or (self._most_bytes is not None and self._bytes > self._most_bytes)


def wants_keeping(body: JsonObject, dialect: Dialect) -> bool:
    """Whether the answer to `body` is to be kept."""
    if dialect is Dialect.OPENAI_RESPONSES:
        return body.get("store") is not False
    return dialect is Dialect.ANTHROPIC and bool(body.get("thread"))


def previous_id(body: JsonObject, dialect: Dialect) -> str | None:
    """The response that `body` goes on from."""
    match dialect:
        case Dialect.OPENAI_RESPONSES:
            named = body.get("previous_response_id")
        case Dialect.ANTHROPIC:
            named = as_object(body.get("thread")).get("previous_message_id")
        case _:
            return None
    return None if named is None else as_text(named)


def go_on_from(stored: Stored, body: JsonObject) -> JsonObject:
    """`body` with all that came before it, as a request that needs no memory of the server's."""
    response = stored.response
    if response.get("type") == "message":
        content = [present(block) for block in as_objects(response.get("content"))]
        said: list[Json] = [{"role": "assistant", "content": content}] if content else []
        messages = [*as_list(stored.body.get("messages")), *said, *as_list(body.get("messages"))]
        return {**stored.body, "stream": False, **body, "messages": messages, "thread": None}
    items = [*input_items(stored.body), *as_list(response.get("output")), *input_items(body)]
    return {**body, "input": items, "previous_response_id": None}


def refuse_stored(operation: Operation, stored: Stored, query: Mapping[str, str]) -> str:
    """Why `operation` is refused for a response that is kept; empty if it is not.

    Only what was begun in the background can be stopped, or watched once more.
    """
    if stored.body.get("background") is True:
        return ""
    if operation is Operation.CANCEL:
        return "Cannot cancel a synchronous response."
    if operation is Operation.STORED and query.get("stream") == "true":
        return "Only a response that was created with background set to true can be streamed again."
    return ""


# https://platform.openai.com/docs/api-reference/responses/input-items
_PAGE = 20
"""items of a list if nobody says how many; OpenAI's choice"""
_LARGEST_PAGE = 100
"""items of a list at most; OpenAI's choice"""
_ITEM_IDS = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_"}
_GIVEN = "given to"
"""in front of a response's id: what it was given to never has the id of an item that it gave"""


def list_inputs(stored: Stored, query: Mapping[str, str]) -> JsonObject:
    """What a response was given to, as items that all have an id: the page of it that `query` asks for."""
    response_id: str = stored.response["id"]
    given = as_objects(input_items(stored.body))
    prefixes = [_ITEM_IDS.get(as_text(item.get("type")) or "message", "item_") for item in given]
    items = [
        given_out(item, minted_id(prefix, f"{_GIVEN} {response_id}", place))
        for place, (prefix, item) in enumerate(zip(prefixes, given, strict=True))
    ]
    if query.get("order") != "asc":
        items.reverse()
    names = [item["id"] for item in items]
    after = query.get("after")
    first = names.index(after) + 1 if after in names else 0
    limit = query.get("limit", "")
    # The first nine digits are more than a page already, and Python does not read any number of them.
    asked = int(limit[:9]) if limit.isascii() and limit.isdigit() else 0
    size = min(asked or _PAGE, _LARGEST_PAGE)
    page = items[first : first + size]
    ends = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    more = first + size < len(items)
    return {"object": "list", "data": page, "first_id": ends[0], "last_id": ends[1], "has_more": more}


def given_out(item: JsonObject, item_id: str) -> JsonObject:
    """An item of a request as the server gives it out: with an id, and a message with a list of contents."""
    kind = as_text(item.get("type")) or "message"
    if kind != "message":
        return {"id": item_id, **item}
    content = item.get("content")
    if isinstance(content, str):
        is_own = item.get("role") == "assistant"
        content = [shapes.output_text(content) if is_own else shapes.text_part(content)]
    return {"id": item_id, "status": "completed", **item, "type": kind, "content": content}


def input_items(body: JsonObject) -> list[Json]:
    """The input of a request to the Responses API as items; it may also be a text."""
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)
