"""Read Gemini CLI chats: the JSON and the JSONL recordings, and the checkpoints that `/chat save` writes.

A recording is a list of messages; a call and its result are in one record, with a status. Newer versions also record
what they sent for it, so that every result is there twice, and what a tool returned beside text stands beside the
result in both places. What was shown of a result is read where the result itself is in neither. The JSONL form is a log
of changes: a message that comes again under the same id replaces the earlier one, `$set` changes what is known about
the session (with `messages` in it: all of them), and `$rewindTo` takes back that message and everything after it.
Checkpoints hold the contents of the API itself.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from msgspec.structs import replace

from legato.formats.blocks import as_json, response
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, as_time
from legato.formats.gemini_parts import parts_of, read_function_response, read_medium, read_parts, tells
from legato.formats.head import Layout
from legato.formats.origins import origin_of, route_of
from legato.model import (
    Block,
    ClosureReason,
    Ending,
    Json,
    JsonObject,
    Media,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Usage,
)
from legato.model.json_access import as_count
from legato.wire.arguments import read_arguments

_META = {"sessionId": "session", "projectHash": "project", "summary": "title", "kind": "kind"}
_DISPLAYED = frozenset({"info", "error", "warning", "about", "help", "stats", "quit"})
_OPEN = frozenset({"validating", "scheduled", "executing", "awaiting_approval", "pending", "running"})


class _Message(NamedTuple):
    place: str
    value: JsonObject


def read(content: Content) -> list[Document]:
    """The chat as it is after all changes."""
    reader = _Reader(content.draft())
    if content.layout is Layout.LINES:
        for item in content.lines():
            reader.change(item)
    else:
        reader.whole(content.value())
    reader.speak()
    return content.finish(reader.draft)


class _Recorded(NamedTuple):
    """What a call was answered with: the response itself, and the media and texts that stood beside it."""

    said: Json
    media: tuple[Media, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, read: list[ToolResponse]) -> _Recorded:
        media = tuple(medium for item in read for medium in item.media)
        return cls(_said(read[0]), media, tuple(item.result for item in read[1:] if isinstance(item.result, str)))

    def is_of(self, other: ToolResponse) -> bool:
        """Whether `other`, with the media behind it, is this once more."""
        return (_said(other), other.media) == (self.said, self.media)

    def joined(self, first: ToolResponse) -> ToolResponse:
        """`first` with all that stood beside it."""
        texts = [text for text in self.texts if text]
        if not texts or not isinstance(first.result, str):
            return replace(first, media=self.media)
        return replace(first, result="\n".join([first.result, *texts]), media=self.media)


def _said(response: ToolResponse) -> Json:
    return response.result if response.error is None else response.error


def _is_message(record: JsonObject) -> bool:
    """Whether a line is a message: one with an id and a type, or with what only messages have."""
    return "content" in record or "toolCalls" in record or ("type" in record and bool(as_id(record.get("id"))))


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.messages: dict[str, _Message] = {}
        self.contents: list[_Message] = []
        self.model = ""
        self.answers = 0
        self.sent: set[str] = set()
        """the ids of calls whose results are recorded as they were sent"""
        self.recorded: dict[str, _Recorded] = {}
        """the results that were read with their calls, by the ids of those"""

    # --- what remains ---------------------------------------------------------------------------------------------

    def whole(self, value: Json) -> None:
        if isinstance(value, list):
            self._contents(as_list(cast(Json, value)), "")
            return
        chat = as_object(value)
        self.known(chat)
        if isinstance(chat.get("history"), list):
            self._contents(as_list(chat["history"]), "history")
        self.replace(chat.get("messages"), "messages")

    def change(self, item: Item) -> None:
        """One line of the log of changes."""
        record = item.value
        target = as_id(record.get("$rewindTo"))
        if target:
            self.rewind(target, item.place)
        elif "$set" in record:
            patch = as_object(record["$set"])
            self.known(patch)
            if "messages" in patch:
                self.replace(patch["messages"], f"{item.place}, $set.messages")
        elif _is_message(record):
            self.messages[as_id(record.get("id")) or item.place] = _Message(item.place, record)
        else:
            self.known(record)
            if "messages" in record:
                self.replace(record["messages"], f"{item.place}, messages")

    def known(self, session: JsonObject) -> None:
        keep_known(self.draft.meta, session, _META)
        directories = as_list(session.get("directories"))
        if directories and isinstance(directories[0], str):
            self.draft.meta["cwd"] = directories[0]
        self.model = as_text(as_object(session.get("meta")).get("model")) or self.model

    def replace(self, messages: Json, place: str) -> None:
        """All messages at once, in place of those that were there."""
        found: dict[str, _Message] = {}
        for index, item in enumerate(map(as_object, as_list(messages))):
            own, where = as_id(item.get("id")), f"{place}[{index}]"
            found[own if own and own not in found else where] = _Message(where, item)
        gone = [message for name, message in self.messages.items() if name not in found]
        if gone:
            what = f"{len(gone)} messages, here first, were replaced by those at {place} and are not carried"
            self.draft.note(gone[0].place, what)
        self.messages = found

    def rewind(self, target: str, place: str) -> None:
        names = list(self.messages)
        first = names.index(target) if target in self.messages else 0
        for name in names[first:]:
            del self.messages[name]
        if names[first:]:
            self.draft.note(place, f"{len(names) - first} messages were taken back here and are not carried")

    def _contents(self, items: list[Json], prefix: str) -> None:
        self.contents = [_Message(f"{prefix}[{i}]", as_object(item)) for i, item in enumerate(items)]

    # --- entries ------------------------------------------------------------------------------------------------------

    def speak(self) -> None:
        """Turn what remains into entries."""
        for message in self.contents:
            role = as_text(message.value.get("role"))
            speaker = Speaker.AI if role in ("model", "gemini", "assistant") else Speaker.HUMAN
            self.content(message.value.get("parts"), speaker, message.place)
        bodies = (_body_of(message.value) for message in self.messages.values())
        answers = (as_object(part.get("functionResponse")) for body in bodies for part in parts_of(body))
        self.sent = {found for answer in answers if (found := as_id(answer.get("id"))) and tells(answer)}
        for message in self.messages.values():
            self.message(message)
        if not self.draft.model:
            self.draft.model, self.draft.route = self.model, route_of("gemini", self.model)

    def message(self, message: _Message) -> None:
        place, record = message
        self.draft.at = as_time(record.get("timestamp"))
        kind = as_text(record.get("type"))
        body = _body_of(record)
        if kind == "user":
            self.content(body, Speaker.HUMAN, place, is_made_again=as_id(record.get("id")).endswith("_response"))
        elif kind in ("gemini", "model"):
            self.answer(record, body, place)
        elif kind in _DISPLAYED:
            self.draft.skip(place, f"a message of type {kind!r} was shown to the user alone")
        else:
            self.draft.unknown(place, f"a message of type {kind!r}")

    def answer(self, record: JsonObject, body: Json, place: str) -> None:
        model = as_text(record.get("model"))
        if model:
            self.draft.model, self.draft.route = model, route_of("gemini", model)
        blocks = self._parts(body, place)
        if not any(isinstance(block, Thinking | ToolCall) for block in blocks):
            thoughts = map(_thought, as_objects(record.get("thoughts")))
            blocks = [*(Thinking(text) for text in thoughts if text), *blocks]
        results: list[Block] = []
        for call in as_objects(record.get("toolCalls")):
            self.call(call, blocks, results, place)
        self._say_answer(blocks, place, model)
        if counts := as_object(record.get("tokens")):
            self.draft.count(_usage(counts))
        ends = (as_time(call.get("timestamp")) for call in as_objects(record.get("toolCalls")))
        self.draft.at = max(filter(None, (self.draft.at, *ends)), default=None)
        self.draft.say(Speaker.TOOL, results, place)

    def call(self, call: JsonObject, blocks: list[Block], results: list[Block], place: str) -> None:
        """A call with the status that it had when the record was written."""
        value, raw, finished = read_arguments(call.get("args"))
        made = ToolCall(as_text(call.get("name")), value, as_id(call.get("id")), raw=raw, finished=finished)
        held = {block.wire_id for block in blocks if isinstance(block, ToolCall)}
        if not made.wire_id or made.wire_id not in held:  # else the content of a chat that was resumed has it as well
            blocks.append(made)
        read = self._came_of(call, made, place)
        if read:
            recorded = _Recorded.of(read)
            results.append(recorded.joined(read[0]))
            self.recorded[read[0].wire_id] = recorded

    def _came_of(self, call: JsonObject, made: ToolCall, place: str) -> list[ToolResponse]:
        """What came of a call, by its result, or else by what was shown of it and by its status."""
        status = as_text(call.get("status"))
        parts = _own_parts(parts_of(call.get("result")), made.wire_id)
        read = [found for part in parts if (found := self._response(part, made))]
        is_whole = bool(read) and all(map(_is_sound, parts))
        if not is_whole and made.wire_id in self.sent:
            return []  # what can be guessed from the status is less than what was sent
        shown: Json = call.get("resultDisplay")
        if status == "cancelled" and not isinstance(shown, str):
            shown = None  # what was to be done
        text = shown if isinstance(shown, str) else "" if shown is None else as_json(shown)
        if not is_whole and shown and (status not in _OPEN or call.get("result")):
            if call.get("result"):
                what = (
                    f"the result of the call {made.wire_id!r} cannot be read; what was shown of it stands in its place"
                )
                self.draft.note(place, what, is_carried=True)
            told = [found for part in parts if _is_sound(part) and (found := self._response(part, made))]
            return [response(made.wire_id, made.name, text, is_error=status in ("error", "cancelled")), *told]
        if status == "cancelled" and not read:
            return [ToolResponse(wire_id=made.wire_id, tool_name=made.name, reason=ClosureReason.CANCELLED_RUNNING)]
        if status == "error" and read:
            return [
                item
                if item.error is not None or item.reason is not None
                else response(item.wire_id, item.tool_name, item.result, is_error=True, media=item.media)
                for item in read
            ]
        if not read and status not in _OPEN and (shown is not None or status):
            return [response(made.wire_id, made.name, text, is_error=status == "error")]
        return read

    def _response(self, part: JsonObject, call: ToolCall) -> ToolResponse | None:
        answered = as_object(part.get("functionResponse"))
        if not answered:
            block = read_medium(part)
            if block is not None:
                return ToolResponse(wire_id=call.wire_id, tool_name=call.name, result="", media=(block,))
            text = as_text(part.get("text")) or (as_json(part) if part and "text" not in part else "")
            return response(call.wire_id, call.name, text) if text else None
        return read_function_response(answered, call.wire_id, call.name)

    def content(self, body: Json, speaker: Speaker, place: str, *, is_made_again: bool = False) -> None:
        """A content of the API: text, or parts.

        One that Gemini CLI makes again of the results in a chat that is resumed is followed by the one that was sent.
        """
        blocks = self._parts(body, place)
        if speaker is Speaker.AI:
            self._say_answer(blocks, place, self.model)
        else:
            new = self._not_recorded(_with_media(blocks))
            self.draft.human(new, place)
            if is_made_again:
                self.recorded |= {item.wire_id: _Recorded.of([item]) for item in new if isinstance(item, ToolResponse)}

    def _not_recorded(self, blocks: list[Block]) -> list[Block]:
        """What was sent, without the results that were recorded with their calls and what stood beside those."""
        known: list[_Recorded] = []
        rest: list[Block] = []
        for block in blocks:
            own = self.recorded.get(block.wire_id) if isinstance(block, ToolResponse) and block.wire_id else None
            if isinstance(block, ToolResponse) and own is not None and own.is_of(block):
                known.append(own)
            elif not (isinstance(block, Text) and any(block.text in own.texts for own in known)):
                rest.append(block)
        return rest

    def _parts(self, body: Json, place: str) -> list[Block]:
        blocks, unknown = read_parts(body)
        for what in unknown:
            self.draft.unknown(place, what)
        return blocks

    def _say_answer(self, blocks: list[Block], place: str, model: str) -> None:
        self.answers += 1
        ending = Ending.CALLS if any(isinstance(block, ToolCall) for block in blocks) else None
        origin: Origin | None = origin_of("gemini", model, model) if model else None
        self.draft.say(Speaker.AI, blocks, place, origin=origin, answer=f"gemini-{self.answers}", ending=ending)


def _is_sound(part: JsonObject) -> bool:
    """Whether a part is no response, or one that says what came, be it nothing."""
    return "functionResponse" not in part or tells(as_object(part["functionResponse"]))


def _usage(counts: JsonObject) -> Usage:
    """Tokens as Gemini counts them: cached ones are among the input, and thoughts are not among the output."""
    thoughts = as_count(counts.get("thoughts"))
    return Usage(
        input=as_count(counts.get("input")) + as_count(counts.get("tool")),
        output=as_count(counts.get("output")) + thoughts,
        cache_read=as_count(counts.get("cached")),
        reasoning=thoughts,
    )


def _body_of(record: JsonObject) -> Json:
    return record.get("content") if record.get("content") else record.get("parts")


def _with_media(blocks: list[Block]) -> list[Block]:
    """`blocks` with the media that stand behind a result as a part of it: a tool returned them."""
    joined: list[Block] = []
    for block in blocks:
        if isinstance(block, Media) and joined and isinstance(joined[-1], ToolResponse):
            joined[-1] = replace(joined[-1], media=(*joined[-1].media, block))
        else:
            joined.append(block)
    return joined


def _own_parts(parts: list[JsonObject], wire_id: str) -> list[JsonObject]:
    """What came of one call: in a chat that was resumed, all results of a turn stand with each of its calls."""
    own: list[JsonObject] = []
    is_own = True
    for part in parts:
        if answered := as_object(part.get("functionResponse")):
            is_own = as_id(answered.get("id")) in ("", wire_id)
        if is_own:
            own.append(part)
    return own or parts


def _thought(thought: JsonObject) -> str:
    parts = [as_text(thought.get("subject")), as_text(thought.get("description"))]
    return "\n".join(text for text in parts if text)
