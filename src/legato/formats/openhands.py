"""Read conversations of OpenHands: `base_state.json` with its events, a file each, in the folder beside it.

An event names the one before it, and the state names the last, so what was taken back is a branch that leads nowhere.
An answer with several calls is an event for each, under the id of one response. A list of events, or a line for each,
is read as well; then the last event is the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from legato.errors import FormatError
from legato.formats.blocks import anthropic_answer, read_call, response, result_content, split_content
from legato.formats.content import Content, Item
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_text, as_time, first_id, first_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import Authority, Block, Json, JsonObject, Speaker, Thinking

_EVENTS = "events/event-*.json"
_STATE = frozenset({"agent", "workspace", "execution_status"})
"""fields of the state, and of no event"""
_WITHOUT_WORDS = frozenset(
    {"ConversationStateUpdateEvent", "ConversationErrorEvent", "CondensationRequest", "HookExecutionEvent",
     "InterruptEvent", "LLMCompletionLogEvent", "PauseEvent", "SecurityAnalysisEvent", "StreamingDeltaEvent",
     "TokenEvent"}
)  # fmt: skip
"""kinds of events that the model is told nothing of"""


_RESULTS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_SAYING = _RESULTS | {"MessageEvent", "ActionEvent"}


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    reader = _Reader(draft)
    records = list(content.items())
    leaf = ""
    if records and records[0].value.keys() >= _STATE:
        state = records[0].value
        leaf = first_id(state, "leaf_event_id")
        draft.meta["session"] = first_id(state, "id")
        draft.meta["cwd"] = first_text(as_object(state.get("workspace")), "working_dir")
        reader.model(first_text(as_object(as_object(state.get("agent")).get("llm")), "model"))
        records = list(content.beside(_EVENTS))
    elif len(records) == 1 and _is_event(records[0].value):
        raise FormatError(
            f"{content.name}: this is one event of a conversation; name the base_state.json of its conversation"
        )
    branch = _branch(records, leaf)
    told = {id(item) for item in branch}
    left = [item for item in records if id(item) not in told and as_text(item.value.get("kind")) in _SAYING]
    if left:
        what = "events on branches that were left behind are not carried"
        draft.note(left[0].place, f"{what}: {len(left)}, here first")
    for item in branch:
        draft.at = as_time(item.value.get("timestamp"))
        reader.event(item.value, item.place)
    return content.finish(draft)


def _branch(events: Sequence[Item], leaf: str) -> list[Item]:
    """The events that lead to the last one. Those of earlier versions do not name one another: they are in order."""
    known = {own: number for number, item in enumerate(events) if (own := first_id(item.value, "id"))}
    if not events or len(known) < len(events):
        return list(events)
    taken: set[int] = set()
    number = known.get(leaf, len(events) - 1)
    while number not in taken:
        taken.add(number)
        parent = first_id(events[number].value, "parent_id")
        number = known.get(parent, max(0, number - 1))
    return [events[number] for number in sorted(taken)]


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.provider = ""
        self.entries: dict[str, tuple[int, int]] = {}
        """the first entry of each event, and the one behind its last"""

    def model(self, name: str) -> None:
        """OpenHands names a model as LiteLLM does, with its provider before it."""
        provider, slash, bare = name.partition("/")
        self.provider = (provider_named(provider) if slash else "") or provider_of_model(name)
        self.draft.model = bare if slash else name
        self.draft.route = route_of(self.provider, self.draft.model) if name else ""

    def event(self, event: JsonObject, place: str) -> None:
        first = len(self.draft.entries)
        match kind := as_text(event.get("kind")):
            case "SystemPromptEvent":
                held = (as_object(event.get(name)) for name in ("system_prompt", "dynamic_context"))
                self.draft.system += [text for part in held if (text := as_text(part.get("text")))]
            case "MessageEvent":
                self.message(event, place)
            case "ActionEvent":
                call = read_call(as_object(event.get("tool_call")))
                self.answer(event, event, [*self.parts(event.get("thought"), place), call], place)
            case _ if kind in _RESULTS:
                self.result(kind, event, place)
            case "Condensation":
                self.condensation(event, place)
            case _ if kind not in _WITHOUT_WORDS:
                self.draft.unknown(place, f"an event of kind {kind!r}")
            case _:
                pass
        self.entries[first_id(event, "id")] = (first, len(self.draft.entries))

    def message(self, event: JsonObject, place: str) -> None:
        message = as_object(event.get("llm_message"))
        blocks = [*self.parts(message.get("content"), place), *self.parts(event.get("extended_content"), place)]
        match role := as_text(message.get("role")):
            case "assistant":
                self.answer(event, message, blocks, place)
            case "system":
                self.draft.human(blocks, place, authority=Authority.INSTRUCTION)
            case "user":
                self.draft.human(blocks, place)
            case _:
                self.draft.unknown(place, f"a message of role {role!r}")

    def answer(self, event: JsonObject, thoughts: JsonObject, blocks: list[Block], place: str) -> None:
        item = as_object(thoughts.get("responses_reasoning_item"))
        is_items = bool(item) or as_object(event.get("tool_call")).get("origin") == "responses"
        provider = "openai-responses" if is_items and self.provider == "openai" else self.provider
        self.draft.say(
            Speaker.AI,
            [*_thoughts(thoughts, item), *blocks],
            place,
            origin=origin_of(provider, self.draft.model),
            answer=first_id(event, "llm_response_id") or None,
        )

    def result(self, kind: str, event: JsonObject, place: str) -> None:
        seen = as_object(event.get("observation"))
        is_error = kind != "ObservationEvent" or seen.get("is_error") is True
        if kind == "UserRejectObservation":
            held: Json = f"Action rejected: {as_text(event.get('rejection_reason'))}"
        elif kind == "AgentErrorEvent":
            held = as_text(event.get("error"))
        else:
            held = [*_usual(seen.get("content")), *_usual(event.get("extended_content"))]
        value, media = result_content(held)
        around = as_object(seen.get("metadata"))  # of a command: what its terminal says before and behind its output
        if isinstance(value, str) and around:
            value = f"{as_text(around.get('prefix'))}{value}{as_text(around.get('suffix'))}"
        name, own = first_text(event, "tool_name"), first_id(event, "tool_call_id")
        self.draft.results([response(own, name, value, is_error=is_error, media=media)], place)

    def condensation(self, event: JsonObject, place: str) -> None:
        """From here on a summary is in place of events that are named; it is an event itself, of a name of its own."""
        forgotten = [own for own in as_list(event.get("forgotten_event_ids")) if isinstance(own, str)]
        spans = [self.entries[own] for own in forgotten if own in self.entries]
        summary = first_text(event, "summary")
        places = sorted({index for first, end in spans for index in range(first, end)})
        if not summary or not places:
            return
        first, last = places[0], places[-1]
        if len(places) == last - first + 1:
            self.draft.compactions.append(CompactionMark(first, last, summary, place))
            self.entries[f"{first_id(event, 'id')}-summary"] = (first, last + 1)
        else:
            self.draft.note(place, "a summary of messages that do not follow one another is not carried")

    def parts(self, content: Json, place: str) -> list[Block]:
        blocks, unknown = split_content(_usual(content))
        self.draft.note_unknown(unknown, place)
        return blocks


def _usual(content: Json) -> list[Json]:
    """The parts of a content; OpenHands puts several images into one."""
    parts: list[Json] = []
    for part in as_list(content):
        addresses = as_list(as_object(part).get("image_urls"))
        parts += [{"type": "image_url", "image_url": {"url": address}} for address in addresses] or [part]
    return parts


def _thoughts(holder: JsonObject, item: JsonObject) -> Iterator[Block]:
    """What the model thought: blocks of Anthropic's, an item of the Responses API, or words alone."""
    if blocks := as_objects(holder.get("thinking_blocks")):
        yield from anthropic_answer(blocks)
        return
    summary = [text for text in as_list(item.get("summary")) if isinstance(text, str)]
    text = first_text(holder, "reasoning_content") or "\n\n".join(summary)
    if item.get("encrypted_content"):
        told = [{"type": "summary_text", "text": text} for text in summary]
        whole = {"type": "reasoning", **item, "summary": told}
        yield Thinking(text, native={"item": {name: value for name, value in whole.items() if value is not None}})
    elif text:
        yield Thinking(text)


# --- the format ------------------------------------------------------------------------------------------------------


def _is_event(record: JsonObject) -> bool:
    named = {"id", "timestamp", "source", "kind"} <= record.keys()
    return named and as_text(record.get("source")) in ("agent", "user", "environment")


def _detect(head: Head) -> str:
    if head.holder.keys() >= _STATE:
        return "the state of a conversation, with its agent and execution_status"
    events = (*head.records, *head.items)
    return "events with source and kind" if any(map(_is_event, events)) else ""


FORMAT = Format(
    name="openhands",
    title="OpenHands conversation",
    known_from="conversations of OpenHands' SDK 1.58.0",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.openhands/conversations",
        files="*/base_state.json",
        moved_by="OPENHANDS_CONVERSATIONS_DIR",
        source="https://github.com/OpenHands/OpenHands-CLI",
    ),
    pieces=_EVENTS,
    marks=marks("kind source timestamp"),
)
