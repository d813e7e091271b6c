"""Read chats of Open WebUI: what its export buttons save, the lines of its API, and its database, every chat of each.

A chat is a tree of messages by their ids, and `currentId` names the last one of the branch that is shown. An answer has
a text to be shown, and `output`: the items that it was made of, in the form of the Responses API, whichever API was
asked. A tool that was run on the way is in there with its result. Open WebUI makes its requests of the items, and so
does this reader; an answer without any is its text.

What was uploaded is not in an export, which has only the ids of files: a note says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from legato.errors import IngestError
from legato.formats.blocks import media_from, read_result, response, split_content
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_object, as_objects, as_seconds, as_text, first_id, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head, Layout
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.formats.tree import Node, find_branches, note_branches
from legato.model import Authority, Block, Json, JsonObject, Speaker, Thinking, ToolResponse, Usage, read_json_leniently
from legato.wire.openai_chat.reading import read_usage
from legato.wire.openai_responses.reading import blocks_of, thinking_text

_COLUMNS = frozenset({"id", "title", "chat", "share_id", "archived"})
_ANSWERED = frozenset({"message", "function_call"})
"""items that are read as the Responses API means them"""


def read(content: Content) -> list[Document]:
    """Every chat of the file."""
    chats = list(_chats(content))
    drafts: list[DocumentDraft] = []
    for item in chats:
        own = first_id(item.value, "id")
        draft = content.draft(f"{content.name}, chat {own}" if len(chats) > 1 else "")
        _Reader(draft).chat(item)
        drafts.append(draft)
    return content.finish(*drafts)


def _chats(content: Content) -> Iterator[Item]:
    if content.layout is Layout.DATABASE:
        yield from _rows(content)
    elif content.layout is Layout.WHOLE and (only := as_object(content.value())):
        yield Item("", only)
    else:
        yield from content.items()


def _rows(content: Content) -> Iterator[Item]:
    """The chats of a database in the form of an export."""
    with content.database() as database:
        for own, title, chat in database.rows("SELECT id, title, chat FROM chat ORDER BY created_at, id"):
            try:
                value = read_json_leniently(as_text(chat))
            except IngestError:
                value = None
            yield Item(f"chat {own}", {"id": as_text(own), "title": as_text(title), "chat": value})


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft

    def chat(self, item: Item) -> None:
        keep_known(self.draft.meta, item.value, {"id": "session", "title": "title"})
        chat = as_object(item.value.get("chat"))
        history = as_object(chat.get("history"))
        messages = as_object(history.get("messages"))
        if not messages:
            self.draft.note(item.place, "a chat without messages that can be read")
        if system := first_text(as_object(chat.get("params")), "system"):
            self.draft.system.append(system)
        between = "." if item.place.endswith("]") else ", " if item.place else ""
        place = f"{item.place}{between}chat.history.messages"
        named = [(own, as_object(message)) for own, message in messages.items()]
        nodes = [_node(index, own, message) for index, (own, message) in enumerate(named)]
        if nodes:
            nodes[-1].names_leaf = first_id(history, "currentId")
        branches = find_branches(nodes)
        for node in branches.live:
            self.message(named[node.index][1], f"{place}.{node.uuid}")
        note_branches(self.draft, branches, lambda node: f"{place}.{node.uuid}")

    def message(self, message: JsonObject, place: str) -> None:
        self.draft.at = as_seconds(message.get("timestamp"))
        if first_text(message, "contextSummary"):
            what = "Open WebUI put a summary in place of what came before; all of it is read here"
            self.draft.note(place, what, is_carried=True)
        match role := as_text(message.get("role")):
            case "user":
                self.draft.human([*self.said(message, place), *self.files(message, place)], place)
            case "system":
                self.draft.human(self.said(message, place), place, authority=Authority.INSTRUCTION)
            case "assistant":
                self.answer(message, place)
            case _:
                self.draft.unknown(place, f"a message of role {role!r}")

    def said(self, message: JsonObject, place: str) -> list[Block]:
        blocks, unknown = split_content(message.get("content"))
        self.draft.note_unknown(unknown, place)
        return blocks

    def files(self, message: JsonObject, place: str) -> Iterator[Block]:
        """What a person attached, where the chat itself holds it."""
        for index, file in enumerate(as_objects(message.get("files"))):
            address, name = as_text(file.get("url")), first_text(file, "name")
            mime = first_text(file, "content_type") or "image/*"
            if file.get("type") == "image" and address.startswith(("data:", "https:", "http:")):
                yield media_from(address, mime, name=name or None)
            else:
                where = f"{place}.files[{index}]"
                self.draft.note(where, f"the file {name!r} is kept by Open WebUI elsewhere and is not carried")

    def answer(self, message: JsonObject, place: str) -> None:
        if model := first_text(message, "model"):
            self.draft.model, self.draft.route = model, route_of(provider_of_model(model), model)
        origin = origin_of(provider_of_model(model), model)
        before = len(self.draft.entries)
        if failure := as_object(message.get("error")):
            self.draft.note(place, f"the answer failed: {as_text(failure.get('content'))[:200]}")
        items = as_objects(message.get("output"))
        if not items:
            self.draft.say(Speaker.AI, self.said(message, place), place, origin=origin)
        blocks = [
            (block, f"{place}.output[{index}]")
            for index, item in enumerate(items)
            for block in self.item(item, f"{place}.output[{index}]")
        ]
        for are_results, run in groupby(blocks, key=lambda placed: isinstance(placed[0], ToolResponse)):
            held = list(run)
            speaker = Speaker.TOOL if are_results else Speaker.AI
            self.draft.say(speaker, [block for block, _ in held], held[0][1], origin=None if are_results else origin)
        usage = _usage(as_object(message.get("usage")))
        if usage is not None and len(self.draft.entries) > before:
            self.draft.count(usage)

    def item(self, item: JsonObject, place: str) -> list[Block]:
        kind = as_text(item.get("type"))
        if kind in _ANSWERED:
            return blocks_of(item)
        if kind == "reasoning":
            text = thinking_text(item)
            return [Thinking(text)] if text else []
        if kind == "function_call_output":
            return [_result(item)]
        self.draft.unknown(place, f"an item of type {kind!r}")
        return []


def _node(index: int, own: str, message: JsonObject) -> Node:
    parent = first_id(message, "parentId")
    is_reply = message.get("role") == "assistant"
    return Node(index, own, parent, not parent, is_sidechain=False, is_said=True, is_reply=is_reply)


def _result(item: JsonObject) -> ToolResponse:
    """What a tool returned; one that failed returned its error."""
    result = read_result(item)
    if item.get("status") not in ("failed", "rejected"):
        return result
    return response(result.wire_id, "", result.result, is_error=True, media=result.media)


def _usage(counts: JsonObject) -> Usage | None:
    """Tokens as the provider told them; Open WebUI adds two names of its own, which are the same for all providers."""
    if not counts:
        return None
    usual = {"prompt_tokens": counts.get("input_tokens"), "completion_tokens": counts.get("output_tokens")}
    return read_usage({**usual, **counts})


# --- the format ------------------------------------------------------------------------------------------------------


def _is_chat(record: JsonObject) -> bool:
    messages: Json = as_object(as_object(record.get("chat")).get("history")).get("messages")
    return isinstance(messages, dict)


def _detect(head: Head) -> str:
    if head.tables.get("chat", frozenset()) >= _COLUMNS:
        return "a table of chats that can be shared and archived"
    return "a chat with a history of messages by their ids" if any(map(_is_chat, (*head.records, *head.items))) else ""


FORMAT = Format(
    name="open-webui",
    title="Open WebUI chat export or database",
    known_from="chats of Open WebUI 0.12.4",
    read=read,
    detect=_detect,
    marks=marks("chat title"),
    leaves_out_calls=True,  # open-webui 0.12.4, utils/misc.py, convert_output_to_messages
)
