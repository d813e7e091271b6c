"""Read sessions of Continue: one JSON value, with a history of messages and what came of each call beside them.

Continue makes its requests of this file, and so does this reader: what a person attached is said before their words,
and a call has what its state holds as its result. Where a state holds nothing, Continue tells the model that the call
was cancelled. Here that holds for a call that was; one that was not over when the file was written stays open. A state
holds its call as well, for the case that it cannot be read in the message.
"""

from __future__ import annotations

from msgspec.structs import replace

from legato.formats.blocks import read_call, response, split_content, text_blocks
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_list, as_object, as_objects, as_text, first_id, first_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.model import Authority, Block, Json, JsonObject, Speaker, Thinking, ToolCall
from legato.wire.openai_chat.reading import read_usage

_META = {"sessionId": "session", "workspaceDirectory": "cwd", "title": "title"}
_CANCELLED = "Tool cancelled"
"""what Continue tells the model then"""


def read(content: Content) -> list[Document]:
    """The session."""
    draft = content.draft()
    holder = as_object(content.value())
    keep_known(draft.meta, holder, _META)
    for item in content.items("history"):
        _take(draft, item.value, item.place)
    return content.finish(draft)


def _take(draft: DocumentDraft, item: JsonObject, place: str) -> None:
    message = as_object(item.get("message"))
    match role := as_text(message.get("role")):
        case "system":
            draft.human(_said(draft, message, place), place, authority=Authority.INSTRUCTION)
        case "user":
            draft.human([*_attached(item), *_said(draft, message, place)], place)
        case "assistant":
            _answer(draft, item, message, place)
        case "thinking":
            draft.say(Speaker.AI, _thought(as_text(message.get("content"))), place)
        case _:
            draft.unknown(place, f"a message of role {role!r}")


def _said(draft: DocumentDraft, message: JsonObject, place: str) -> list[Block]:
    content: Json = message.get("content")
    if isinstance(content, list):
        content = [_usual(part) for part in as_list(content)]
    blocks, unknown = split_content(content)
    draft.note_unknown(unknown, place)
    return blocks


def _usual(part: Json) -> Json:
    """A part under the name that it has in most files."""
    named = as_object(part)
    return {"type": "image_url", "image_url": named.get("imageUrl")} if named.get("type") == "imageUrl" else part


def _attached(item: JsonObject) -> list[Block]:
    """What a person attached to their words, as Continue tells it."""
    told = [
        f'<context name="{as_text(one.get("name"))}">\n{as_text(one.get("content"))}\n</context>'
        for one in as_objects(item.get("contextItems"))
    ]
    return text_blocks("\n\n".join(told))


def _answer(draft: DocumentDraft, item: JsonObject, message: JsonObject, place: str) -> None:
    counts = as_object(message.get("usage"))
    if model := first_text(counts, "model"):
        draft.model, draft.route = model, route_of(provider_of_model(model), model)
    states = as_objects(item.get("toolCallStates"))
    listed = as_objects(message.get("toolCalls"))
    own_ids, copies = _own_ids(listed, states), [as_object(state.get("toolCall")) for state in states]
    calls = _calls(listed, dict(zip(own_ids, copies, strict=True)))
    thought = _thought(as_text(as_object(item.get("reasoning")).get("text")))
    blocks = [*thought, *_said(draft, message, place), *calls]
    is_said = draft.say(Speaker.AI, blocks, place, origin=origin_of(provider_of_model(draft.model), draft.model))
    if is_said and (usage := read_usage(counts)) is not None:
        draft.count(usage)
    for index, (own, state) in enumerate(zip(own_ids, states, strict=True)):
        output = [as_text(part.get("content")) for part in as_objects(state.get("output"))]
        if not output and state.get("status") == "canceled":
            output = [_CANCELLED]
        if output:
            name = first_text(as_object(copies[index].get("function")), "name")
            is_error = state.get("status") in ("errored", "canceled")
            result = response(own, name, "\n".join(output), is_error=is_error)
            draft.results([result], f"{place}.toolCallStates[{index}]")


def _own_ids(listed: list[JsonObject], states: list[JsonObject]) -> list[str]:
    """The id of the call that each state is of: of the two that it holds, the one that the message knows."""
    known = {first_id(call, "id") for call in listed} - {""}
    both = [(first_id(state, "toolCallId"), first_id(as_object(state.get("toolCall")), "id")) for state in states]
    return [copied if copied in known and own not in known else own or copied for own, copied in both]


def _calls(listed: list[JsonObject], copies: dict[str, JsonObject]) -> list[ToolCall]:
    """The calls of an answer; one that is missing or unreadable in its message is the copy that its state holds."""
    known = {first_id(call, "id") for call in listed}
    rest = [own for own in copies if own not in known]
    calls: list[ToolCall] = []
    for call in listed:
        own = first_id(call, "id") or (rest.pop(0) if rest else "")
        copy = copies.get(own, {})
        calls.append(replace(read_call(copy if _is_whole(copy) and not _is_whole(call) else call), wire_id=own))
    missing = [replace(read_call(copies[own]), wire_id=own) for own in rest]
    return [*calls, *(call for call in missing if call.name)]


def _is_whole(call: JsonObject) -> bool:
    function = as_object(call.get("function"))
    return bool(first_text(function, "name")) and isinstance(function.get("arguments"), str | dict)


def _thought(text: str) -> list[Block]:
    return [Thinking(text)] if text else []


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    history = as_objects(head.holder.get("history"))
    is_session = "sessionId" in head.holder and any("message" in one and "contextItems" in one for one in history)
    return "a history of messages with contextItems" if is_session else ""


FORMAT = Format(
    name="continue",
    title="Continue session",
    known_from="sessions of Continue's CLI 1.5.47",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.continue/sessions",
        files="*-*.json",
        moved_by="CONTINUE_GLOBAL_DIR",
        moves="~/.continue",
        source="https://github.com/continuedev/continue",
    ),
    marks=marks("sessionId history"),
    closes_calls=True,
)
