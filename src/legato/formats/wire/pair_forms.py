"""Where the messages of each dialect hold calls and results, and how those are changed in place.

In:  a message as somebody wrote it, and what a plan wants of it.
Out: what it holds; the same message with calls and results dropped, renamed, quoted or put in, and all else as it was.

There are three forms. Most dialects have messages with parts, and calls and results are parts. Chat has calls in a list
of their own and a message for every result. In the Responses API everything is an item.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from legato.formats.fields import as_list, as_object, as_objects, as_text, first_id
from legato.formats.patching.plan import MendStep
from legato.formats.patching.quotation import quotation
from legato.model import Dialect, Json, JsonObject
from legato.wire.anthropic import shapes as anthropic
from legato.wire.bedrock import shapes as bedrock
from legato.wire.gemini import shapes as gemini
from legato.wire.openai_chat import shapes as openai_chat
from legato.wire.openai_responses import shapes as openai_responses
from legato.wire.openai_responses.reading import CLIENT_CALLS, SEARCH_CALL, is_client_call
from legato.wire.phrases import ANSWER_BRIDGE
from legato.wire.vercel import shapes as vercel


class Held(NamedTuple):
    """What a message holds: the ids of its calls and of its results, and what else there is."""

    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    has_more: bool = False
    more_first: bool = False
    """something else comes before the first result"""


class FreshResult(NamedTuple):
    """A result that is put in: the one `taken` from elsewhere, or `text` that says that `call` has none."""

    wire_id: str
    name: str = ""
    text: str = ""
    call: JsonObject | None = None
    taken: JsonObject | None = None


class PairForm(ABC):
    """How one dialect holds calls and results."""

    alternates: bool = False
    """two messages of the human side may not follow each other"""
    bridge: JsonObject | None = None
    """an answer that can stand between results and a person's words, for providers that want one there"""

    @abstractmethod
    def held(self, message: JsonObject) -> Held:
        """What `message` holds."""

    @abstractmethod
    def role(self, message: JsonObject) -> str:
        """The role of a message that is nothing but calls, or nothing but results; empty for any other."""

    @abstractmethod
    def call(self, message: JsonObject, number: int) -> JsonObject:
        """A call of `message`."""

    @abstractmethod
    def result(self, message: JsonObject, number: int) -> JsonObject:
        """A result of `message`."""

    @abstractmethod
    def changed(self, message: JsonObject, step: MendStep) -> JsonObject:
        """`message` without what the step drops, and with other ids or words where it says so."""

    @abstractmethod
    def answer(self, calls: Sequence[tuple[JsonObject, str]]) -> JsonObject:
        """A message of the model that is nothing but these calls, under these ids."""

    @abstractmethod
    def results(self, fresh: Sequence[FreshResult]) -> list[JsonObject]:
        """Messages that hold these results."""

    @abstractmethod
    def words(self, text: str) -> JsonObject:
        """A message of the human side."""

    def takes_words(self, call: JsonObject) -> bool:
        """Whether the result of a call may be words."""
        return True

    def with_results(self, message: JsonObject, fresh: Sequence[FreshResult]) -> JsonObject | None:
        """`message` with these results beside its own; None if it cannot hold them."""
        return None

    def joined(self, first: JsonObject, second: JsonObject) -> JsonObject | None:
        """Two messages of one side as one, where two may not follow each other; None if they may, or cannot be one."""
        return None


_MARKS = ("cache_control", "providerOptions")
"""fields of a result that may be on a text as well"""


# --- messages with parts ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _PartForm(PairForm):
    """Messages with parts. A part is an object with a type, or one under a name that says what it is."""

    field: str
    call_names: tuple[str, ...]
    result_names: tuple[str, ...]
    call_id: str
    result_id: str
    write_result: Callable[[str, str, str, bool], JsonObject]
    write_text: Callable[[str], JsonObject]
    model_role: str
    result_role: str
    is_typed: bool
    alternates: bool = False

    def held(self, message: JsonObject) -> Held:
        parts = as_objects(message.get(self.field))
        calls = [part for part in parts if self._is(part, self.call_names)]
        results = [part for part in parts if self._is(part, self.result_names)]
        more = [index for index, part in enumerate(parts) if not self._is(part, self.call_names + self.result_names)]
        first = next((index for index, part in enumerate(parts) if self._is(part, self.result_names)), len(parts))
        return Held(
            tuple(first_id(self._inner(part), self.call_id) for part in calls),
            tuple(first_id(self._inner(part), self.result_id) for part in results),
            bool(more) or isinstance(message.get(self.field), str),
            bool(results and more and more[0] < first),
        )

    def role(self, message: JsonObject) -> str:
        held = self.held(message)
        if held.has_more or bool(held.calls) == bool(held.results):
            return ""
        return self.model_role if held.calls else self.result_role

    def call(self, message: JsonObject, number: int) -> JsonObject:
        return [part for part in as_objects(message.get(self.field)) if self._is(part, self.call_names)][number]

    def result(self, message: JsonObject, number: int) -> JsonObject:
        return [part for part in as_objects(message.get(self.field)) if self._is(part, self.result_names)][number]

    def changed(self, message: JsonObject, step: MendStep) -> JsonObject:
        calls = results = 0
        kept: list[Json] = []
        for item in as_list(message.get(self.field)):
            part = as_object(item)
            if self._is(part, self.call_names):
                if calls not in step.dropped_calls:
                    kept.append(self._with_id(part, self.call_id, step.call_ids.get(calls)))
                calls += 1
            elif self._is(part, self.result_names):
                if results in step.quoted:
                    marks = {name: part[name] for name in _MARKS if name in part}
                    kept.append(self.write_text(quotation(step.quoted[results])) | marks)
                elif results not in step.dropped_results:
                    kept.append(self._with_id(part, self.result_id, step.result_ids.get(results)))
                results += 1
            else:
                kept.append(item)
        if step.results_first:
            kept.sort(key=lambda item: not self._is(as_object(item), self.result_names))
        return {**message, self.field: kept}

    def answer(self, calls: Sequence[tuple[JsonObject, str]]) -> JsonObject:
        return {"role": self.model_role, self.field: [self._with_id(part, self.call_id, new) for part, new in calls]}

    def results(self, fresh: Sequence[FreshResult]) -> list[JsonObject]:
        return [{"role": self.result_role, self.field: self._parts(fresh)}]

    def words(self, text: str) -> JsonObject:
        return {"role": "user", self.field: [self.write_text(text)]}

    def with_results(self, message: JsonObject, fresh: Sequence[FreshResult]) -> JsonObject | None:
        parts = message.get(self.field)
        if message.get("role") != self.result_role or not isinstance(parts, list):
            return None
        own = as_list(parts)
        places = [index for index, item in enumerate(own) if self._is(as_object(item), self.result_names)]
        place = places[-1] + 1 if places else 0
        return {**message, self.field: [*own[:place], *self._parts(fresh), *own[place:]]}

    def joined(self, first: JsonObject, second: JsonObject) -> JsonObject | None:
        one, other = first.get(self.field), second.get(self.field)
        if not (self.alternates and isinstance(one, list) and isinstance(other, list)):
            return None
        if {**first, self.field: None} != {**second, self.field: None}:
            return None
        parts = [*as_list(one), *as_list(other)]
        # What a model says stands before its calls, and what tools returned before what a person says.
        order = (self.result_names, (), self.call_names)
        ranks = {name: rank for rank, names in enumerate(order) for name in names}
        parts.sort(key=lambda item: min((ranks[name] for name in as_object(item) if name in ranks), default=1))
        return {**first, self.field: parts}

    def _parts(self, fresh: Sequence[FreshResult]) -> list[JsonObject]:
        return [
            self._with_id(item.taken, self.result_id, item.wire_id)
            if item.taken is not None
            else self.write_result(item.wire_id, item.name, item.text, True)
            for item in fresh
        ]

    def _is(self, part: JsonObject, names: tuple[str, ...]) -> bool:
        return as_text(part.get("type")) in names if self.is_typed else any(name in part for name in names)

    def _inner(self, part: JsonObject) -> JsonObject:
        if self.is_typed:
            return part
        return as_object(next((part[name] for name in self.call_names + self.result_names if name in part), None))

    def _with_id(self, part: JsonObject, field: str, wire_id: str | None) -> JsonObject:
        inner = self._inner(part)
        if wire_id is None or first_id(inner, field) == wire_id:
            return part
        if self.is_typed:
            return {**part, field: wire_id}
        name = next(name for name in self.call_names + self.result_names if name in part)
        return {**part, name: {**inner, field: wire_id}}


# --- chat -------------------------------------------------------------------------------------------------------------


class _ChatForm(PairForm):
    bridge = openai_chat.assistant(ANSWER_BRIDGE)

    def held(self, message: JsonObject) -> Held:
        if message.get("role") == "tool":
            return Held(results=(first_id(message, "tool_call_id"),))
        calls = as_objects(message.get("tool_calls"))
        has_more = any(message.get(name) for name in message if name not in ("role", "tool_calls"))
        return Held(tuple(first_id(call, "id") for call in calls), has_more=has_more or not calls)

    def role(self, message: JsonObject) -> str:
        if message.get("tool_calls"):
            return "assistant"
        return "tool" if message.get("tool_call_id") else ""

    def call(self, message: JsonObject, number: int) -> JsonObject:
        return as_objects(message.get("tool_calls"))[number]

    def result(self, message: JsonObject, number: int) -> JsonObject:
        return message

    def changed(self, message: JsonObject, step: MendStep) -> JsonObject:
        if 0 in step.quoted:
            return self.words(quotation(step.quoted[0]))
        if message.get("role") == "tool":
            return {**message, "tool_call_id": step.result_ids.get(0, message.get("tool_call_id"))}
        kept: list[Json] = [
            {**call, "id": step.call_ids[number]} if number in step.call_ids else call
            for number, call in enumerate(as_objects(message.get("tool_calls")))
            if number not in step.dropped_calls
        ]
        if kept:
            return {**message, "tool_calls": kept}
        return {name: value for name, value in message.items() if name != "tool_calls"}

    def answer(self, calls: Sequence[tuple[JsonObject, str]]) -> JsonObject:
        return {"role": "assistant", "content": None, "tool_calls": [{**call, "id": new} for call, new in calls]}

    def results(self, fresh: Sequence[FreshResult]) -> list[JsonObject]:
        return [
            openai_chat.tool(item.wire_id, item.name, item.text, failed=True)
            if item.taken is None
            else {**item.taken, "role": "tool", "tool_call_id": item.wire_id}
            for item in fresh
        ]

    def words(self, text: str) -> JsonObject:
        return openai_chat.user(text)


# --- items ------------------------------------------------------------------------------------------------------------

_CALL_ITEMS = ("function_call", "custom_tool_call")
_OUTPUT_ITEMS = ("tool_search_output", *(f"{kind}_output" for kind in (*_CALL_ITEMS, *CLIENT_CALLS)))


class _ItemForm(PairForm):
    def held(self, message: JsonObject) -> Held:
        kind = as_text(message.get("type"))
        if kind in _CALL_ITEMS or is_client_call(message):
            return Held(calls=(first_id(message, "call_id", "id"),))
        is_output = kind in _OUTPUT_ITEMS and (kind != "tool_search_output" or message.get("execution") == "client")
        return Held(results=(first_id(message, "call_id", "id"),)) if is_output else Held(has_more=True)

    def role(self, message: JsonObject) -> str:
        return ""  # an item that is a call or an output has none

    def call(self, message: JsonObject, number: int) -> JsonObject:
        return message

    def result(self, message: JsonObject, number: int) -> JsonObject:
        return message

    def changed(self, message: JsonObject, step: MendStep) -> JsonObject:
        if 0 in step.quoted:
            return self.words(quotation(step.quoted[0]))
        wire_id = step.call_ids.get(0) or step.result_ids.get(0)
        return {**message, "call_id": wire_id} if wire_id else message

    def answer(self, calls: Sequence[tuple[JsonObject, str]]) -> JsonObject:
        (call, wire_id), *_ = calls  # an item is one call
        return {**call, "call_id": wire_id}

    def results(self, fresh: Sequence[FreshResult]) -> list[JsonObject]:
        return [
            _written_output(item) if item.taken is None else {**item.taken, "call_id": item.wire_id} for item in fresh
        ]

    def words(self, text: str) -> JsonObject:
        return openai_responses.user_text(text)

    def takes_words(self, call: JsonObject) -> bool:
        return call.get("type") != "computer_call"  # what comes of it is a screenshot


def _written_output(item: FreshResult) -> JsonObject:
    """The output of a call without one, in the form of its kind."""
    kind = as_text(as_object(item.call).get("type"))
    written = openai_responses.function_output(item.wire_id, item.name, item.text, failed=True)
    if kind in (
        "function_call",
        SEARCH_CALL,
    ):  # the output of a search is tools; words are taken as those of a function
        return written
    written["type"] = f"{kind}_output"
    return {**written, "status": "failed"} if kind == "apply_patch_call" else written


PAIR_FORMS: dict[Dialect, PairForm] = {
    Dialect.ANTHROPIC: _PartForm(
        "content", ("tool_use",), ("tool_result",), "id", "tool_use_id",
        anthropic.tool_result, anthropic.text_block, "assistant", "user", is_typed=True,
    ),
    Dialect.BEDROCK: _PartForm(
        "content", ("toolUse",), ("toolResult",), "toolUseId", "toolUseId",
        bedrock.tool_result, bedrock.text_block, "assistant", "user", is_typed=False, alternates=True,
    ),
    Dialect.GEMINI: _PartForm(
        "parts", ("functionCall", "function_call"), ("functionResponse", "function_response"), "id", "id",
        gemini.function_response, gemini.text_part, "model", "user", is_typed=False,
    ),
    Dialect.VERCEL: _PartForm(
        "content", ("tool-call",), ("tool-result",), "toolCallId", "toolCallId",
        vercel.tool_result, vercel.text_part, "assistant", "tool", is_typed=True,
    ),
    Dialect.OPENAI_CHAT: _ChatForm(),
    Dialect.OPENAI_RESPONSES: _ItemForm(),
}  # fmt: skip
"""how each dialect holds calls and results"""
