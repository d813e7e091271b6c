"""Read trajectories of SWE-agent: the history of a run, as it was sent to the model.

Messages are in the form of chat, with fields of the program's own beside: the thought and the command that it found in
an answer. A result names its calls in a list, although the program runs one command at a time. Without tools a model
writes commands into its words, and what they print is the next message of the user; that is read as it was sent.

The trajectory beside the history holds the steps once more: what was answered, the command in it as text, and what that
printed. Where the history has no answer, the run is read from there, in the form of a run without tools, and so is what
a command printed if its message in the history says nothing.
"""

from __future__ import annotations

from collections import deque

from legato.errors import IngestError
from legato.formats.blocks import as_json, split_content, text_blocks
from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import Json, JsonObject, Speaker, read_json_leniently


def read(content: Content) -> list[Document]:
    """The run."""
    draft = content.draft()
    run = as_object(content.value())
    model = _model(run)
    provider, slash, bare = model.partition("/")
    provider = (provider_named(provider) if slash else "") or provider_of_model(model)
    draft.model, draft.route = bare or model, route_of(provider, bare or model) if provider else ""
    reader = ChatReader(draft)
    reader.origin = origin_of(provider, draft.model)
    is_there = isinstance(run.get("history"), list)
    if not is_there:
        draft.note("history", "is no list and was left out")
    observed = _Observations(draft, as_objects(run.get("trajectory")))
    for item in content.items("history") if is_there else ():
        message = observed.told(item.value, item.place)
        answered = as_list(message.get("tool_call_ids"))
        if answered:  # whoever is said to speak: it is a result
            message = {**message, "tool_call_id": answered[0]}
        reader.message(message, item.place)
    if all(entry.speaker is not Speaker.AI for entry in draft.entries):
        _take_steps(reader, as_list(run.get("trajectory")))
    return content.finish(draft)


class _Observations:
    """What commands printed, as the trajectory has it, found by what was answered before. It may have steps more."""

    def __init__(self, draft: DocumentDraft, steps: list[JsonObject]) -> None:
        self.draft = draft
        self.steps = steps
        self.next = 0
        self.numbers: dict[str, deque[int]] = {}
        """the numbers of steps, in order, by what was answered in them"""
        for number, step in enumerate(steps):
            self.numbers.setdefault(_said(step.get("action"), step.get("response")), deque()).append(number)
        self.last: JsonObject = {}
        """the step of the last answer, until its observation has come"""

    def told(self, message: JsonObject, place: str) -> JsonObject:
        """`message`, with what the command printed if it should say that and says nothing."""
        if message.get("role") == "assistant":
            self.last = {} if message.get("is_demo") else self._step(message)
            return message
        step, self.last = self.last, {}
        text = _observed(step)
        if not text.strip() or split_content(message.get("content"))[0]:
            return message
        self.draft.note(place, "says nothing; the observation in the trajectory is read in its place", is_carried=True)
        return {**message, "content": text}

    def _step(self, answer: JsonObject) -> JsonObject:
        numbers = self.numbers.get(_said(answer.get("action"), answer.get("content")), deque())
        while numbers:
            number = numbers.popleft()
            if number >= self.next:  # those before it were passed over, and no answer comes back to them
                self.next = number + 1
                return self.steps[number]
        return {}


def _said(action: Json, response: Json) -> str:
    """A command and the answer that it was found in, as what a step is looked up by."""
    return as_json([action, response])


def _take_steps(reader: ChatReader, steps: list[Json]) -> None:
    """The run as its trajectory tells it. What the first step was asked is there for a history that says nothing."""
    draft = reader.draft
    known = len(draft.entries)
    for index, step in enumerate(steps):
        place, taken = f"trajectory[{index}]", as_object(step)
        if not isinstance(step, dict):
            draft.note(place, "is no object and was left out")
        if not draft.entries:
            for number, message in enumerate(filter(None, as_objects(taken.get("query")))):
                reader.message(message, f"{place}.query[{number}]")
        draft.say(Speaker.AI, text_blocks(_answer(taken)), place, origin=reader.origin)
        draft.human(text_blocks(_observed(taken)), place)
    if len(draft.entries) > known:
        draft.note("history", "holds no answers; they are read from the trajectory, as text", is_carried=True)


def _answer(step: JsonObject) -> str:
    """What the model said, with its command. The program's own last words are a thought without a command."""
    action = as_text(step.get("action")).strip()
    said = first_text(step, "response", "thought") if action else first_text(step, "response")
    return said if action in said else "\n".join(filter(None, [said, f"```\n{action}\n```"]))


def _observed(step: JsonObject) -> str:
    printed: Json = step.get("observation")
    return as_text(printed) if isinstance(printed, str) else "" if printed is None else as_json(printed)


def _model(run: JsonObject) -> str:
    """The model as the settings of the run name it, which are there as text."""
    try:
        settings = read_json_leniently(as_text(run.get("replay_config")) or "{}")
    except IngestError:
        return ""
    return first_text(as_object(as_object(as_object(settings).get("agent")).get("model")), "name")


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    has_both = all(isinstance(head.holder.get(name), list) for name in ("trajectory", "history"))
    return "a trajectory and its history" if has_both else ""


FORMAT = Format(
    name="swe-agent",
    title="SWE-agent trajectory",
    known_from="published trajectories",
    read=read,
    detect=_detect,
    marks=marks("trajectory history"),
    closes_calls=True,  # a run is over: nothing goes on from it
)
