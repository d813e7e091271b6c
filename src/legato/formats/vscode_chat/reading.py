"""Read chat sessions of VS Code: the file of a session, its log of changes, and what `Chat: Export Chat` writes.

A request is what a person typed, what was shown of the answer, and what the agent kept of it: what the model was given,
and in rounds what it said and called, with the results beside them under the ids of the calls. Where an agent kept
nothing of that, what was shown is all there is: words, and that a tool was called, without arguments or result.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

from legato.formats.blocks import media_from, response, text_blocks
from legato.formats.content import Content
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_text, as_time, as_usage, first_id, first_text
from legato.formats.head import Layout
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.formats.vscode_chat.mutations import replay
from legato.model import Block, Ending, Json, JsonObject, Media, Speaker, Thinking, ToolCall, ToolResponse
from legato.wire.arguments import read_arguments

_CALL = "toolInvocationSerialized"
_SHOWN_ONLY = frozenset({
    "codeblockUri", "codeCitation", "command", "confirmation", "elicitation", "elicitationSerialized", "extensions",
    "externalToolInvocationUpdate", "hook", "mcpServersStarting", "multiDiffData", "notebookEditGroup",
    "prepareToolInvocation", "progressMessage", "progressTask", "progressTaskSerialized", "pullRequest",
    "questionCarousel", "textEditGroup", "treeData", "undoStop", "warning", "workspaceEdit",
})  # fmt: skip
"""parts of an answer that are about the window, or repeat what a call did"""
_SURROUNDINGS = (
    "context", "editorContext", "environment_info", "reminderInstructions", "userRequest", "workspace_info",
)  # fmt: skip
"""what the model was given beside attachments: the typed words again, the date, the window, advice on tools"""
_IMAGE, _TEXT = 0, 1
"""kinds of parts of what the model was given"""


def read(content: Content) -> list[Document]:
    """The session."""
    draft = content.draft()
    state, left = as_object(None), list[str]()
    if content.layout is Layout.LINES:
        state, left = replay(content.lines())
    else:
        value = as_object(content.value())
        state = as_object(value["v"]) if "requests" not in value and "v" in value else value
    for place in left:
        draft.skip(place, "a change that fits nowhere in the session was left out")
    draft.meta = {"session": as_text(state.get("sessionId")), "title": as_text(state.get("customTitle"))}
    for index, request in enumerate(as_list(state.get("requests"))):
        _Request(draft, as_object(request), f"requests[{index}]").take()
    return content.finish(draft)


class _Request:
    """One request and its answer, on their way into a draft."""

    def __init__(self, draft: DocumentDraft, request: JsonObject, place: str) -> None:
        self.draft = draft
        self.request = request
        self.place = place
        self.kept = as_object(as_object(request.get("result")).get("metadata"))
        named = first_text(self.kept, "resolvedModel") or as_text(request.get("modelId"))
        self.model = named.rpartition("/")[2]
        self.provider = provider_of_model(self.model)
        self.origin = origin_of(self.provider, self.model)
        self.results = as_object(self.kept.get("toolCallResults"))
        self.told = set[str]()
        """the names of results that stand behind their calls"""

    def take(self) -> None:
        """Add what was asked and answered."""
        self.draft.at = as_time(self.request.get("timestamp"))
        self.draft.human(self._asked(), f"{self.place}.message")
        if self.model:
            self.draft.model, self.draft.route = self.model, route_of(self.provider, self.model)
        rounds = as_objects(self.kept.get("toolCallRounds"))
        for index, one in enumerate(rounds):
            self._round(one, f"{self.place}.result.metadata.toolCallRounds[{index}]")
        self._tell_results((name, ToolCall("", {}, name)) for name in self.results if name not in self.told)
        if rounds:
            self._note_shown_results()
        if not rounds or rounds[-1].get("toolCalls"):
            self._shown(is_rest=bool(rounds))
        if self.kept.get("promptTokens"):
            self.draft.count(as_usage(self.kept, "promptTokens", "outputTokens", "", ""))
        if self.request.get("isCanceled") is True:
            self.draft.end_answer(Ending.CANCELLED)
        if failed := as_text(as_object(as_object(self.request.get("result")).get("errorDetails")).get("message")):
            self.draft.note(self.place, f"the answer failed: {failed[:200]}", is_carried=True)

    # --- what was asked -----------------------------------------------------------------------------------------------

    def _asked(self) -> list[Block]:
        """The typed words, and what was attached to them."""
        message = as_object(self.request.get("message"))
        typed = as_text(message.get("text")) or as_text(self.request.get("message"))
        given = as_objects(self.kept.get("renderedUserMessage"))
        told = "".join(as_text(part.get("text")) for part in given if part.get("type") == _TEXT)
        attached = _without(told, _SURROUNDINGS).replace(typed, "").strip() if typed else told
        addresses = [
            as_text(as_object(part.get("imageUrl")).get("url")) for part in given if part.get("type") == _IMAGE
        ]
        images = [media_from(address, "image/*") for address in addresses if address]
        return [*text_blocks(typed), *(images or self._attached(is_told=bool(told))), *text_blocks(attached)]

    def _attached(self, *, is_told: bool) -> Iterator[Media]:
        """Images that were attached. Files are in what the model was given, or nowhere."""
        variables = as_object(self.request.get("variableData")).get("variables")
        for index, variable in enumerate(as_objects(variables)):
            place = f"{self.place}.variableData.variables[{index}]"
            name = as_text(variable.get("name"))
            if variable.get("kind") == "image" and (data := _bytes(variable.get("value"))):
                yield media_from(f"data:;base64,{data}", as_text(variable.get("mimeType")) or "image/png", name=name)
            elif variable.get("kind") == "image" or not is_told:
                self.draft.note(place, f"{name!r} was attached; what was in it is not in the file")

    # --- what was answered --------------------------------------------------------------------------------------------

    def _round(self, one: JsonObject, place: str) -> None:
        """What the model said and called, and what came back."""
        blocks = _thoughts(as_object(one.get("thinking")).get("text"))
        blocks += text_blocks(as_text(one.get("response")))
        asked = as_objects(one.get("toolCalls"))
        calls = [_call(call) for call in asked]
        self.draft.say(Speaker.AI, [*blocks, *calls], place, origin=self.origin)
        named = zip(map(_name_of_result, asked), calls, strict=True)
        self._tell_results((name, call) for name, call in named if name in self.results)
        self.draft.human(text_blocks(as_text(one.get("hookContext"))), place)
        if summary := as_text(one.get("summary")):
            self.draft.compactions.append(CompactionMark(0, len(self.draft.entries) - 1, summary, place))
            what = "the agent put a summary in place of what came before; all of it is read here"
            self.draft.note(place, what, is_carried=True)

    def _tell_results(self, named: Iterable[tuple[str, ToolCall]]) -> None:
        """What came of calls, each beside the name of its result."""
        pairs = list(named)
        given = [self._result(call, as_object(self.results[name])) for name, call in pairs]
        self.draft.results(given, f"{self.place}.result.metadata.toolCallResults")
        self.told.update(name for name, _ in pairs)

    def _result(self, call: ToolCall, result: JsonObject) -> ToolResponse:
        texts: list[str] = []
        media: list[Media] = []
        for index, part in enumerate(as_objects(result.get("content"))):
            value: Json = part.get("value")
            data = _bytes(part.get("data"))
            if isinstance(value, str):
                texts.append(value)
            elif "node" in as_object(value):
                texts.append("".join(_said(as_object(value)["node"])).removeprefix("\n"))
            elif data:
                media.append(media_from(f"data:;base64,{data}", as_text(part.get("mimeType")) or "image/png"))
            else:
                self.draft.unknown(f"{self.place}.result.metadata.toolCallResults", f"part {index} of a result")
        return response(call.wire_id, call.name, "\n".join(texts), media=tuple(media))

    def _note_shown_results(self) -> None:
        """Tell of results that were shown and that the agent has not kept, or no longer: one cannot tell whose."""
        shown = as_objects(self.request.get("response"))
        printed = sum(bool(as_object(part.get("resultDetails")).get("output")) for part in shown)
        kept = sum(bool(as_objects(as_object(result).get("content"))) for result in self.results.values())
        if printed > kept:
            what = "results that were shown and that the agent did not keep are not carried"
            self.draft.note(f"{self.place}.response", f"{what}: {printed - kept}")

    def _shown(self, *, is_rest: bool) -> None:
        """What was shown of the answer, or what was shown of it behind the last of its calls."""
        parts = list(enumerate(as_objects(self.request.get("response"))))
        if is_rest:
            last = max((index for index, part in parts if part.get("kind") == _CALL), default=len(parts))
            parts = parts[last + 1 :]
        blocks: list[Block] = []
        words: list[str] = []
        for index, part in parts:
            kind, value = as_text(part.get("kind")), part.get("value")
            if kind in ("", "markdownContent", "markdownVuln"):
                words.append(_markdown(part if kind == "" else part.get("content", value)))
            elif kind == "inlineReference":
                words.append(_reference(part))
            elif kind == "thinking":
                blocks += _thoughts(value)
            elif kind == _CALL:
                what = f"a call of {as_text(part.get('toolId'))}, whose arguments and result are not in the file,"
                self.draft.unknown(f"{self.place}.response[{index}]", what)
            elif kind not in _SHOWN_ONLY:
                self.draft.unknown(f"{self.place}.response[{index}]", f"a part of kind {kind!r}")
        text = "".join(words).strip()
        if text or blocks:
            self.draft.say(Speaker.AI, [*blocks, *text_blocks(text)], f"{self.place}.response", origin=self.origin)


def _without(text: str, names: Iterable[str]) -> str:
    """`text` without the elements of these names."""
    for name in names:
        kept: list[str] = []
        rest = text
        while rest:
            before, _, inside = rest.partition(f"<{name}>")
            _, closing, after = inside.partition(f"</{name}>")
            kept.append(before if closing else rest)
            rest = after if closing else ""
        text = "".join(kept)
    return text


def _call(call: JsonObject) -> ToolCall:
    value, raw, finished = read_arguments(call.get("arguments"))
    return ToolCall(first_text(call, "name"), value, first_id(call, "id"), raw=raw, finished=finished)


def _name_of_result(call: JsonObject) -> str:
    """The field that holds what came of `call`: its id, as JavaScript makes a name of it."""
    return "null" if call.get("id", "") is None else first_id(call, "id")


def _thoughts(words: Json) -> list[Block]:
    """A thought, which may be kept in pieces."""
    text = "".join(map(as_text, [words] if isinstance(words, str) else as_list(words)))
    return [Thinking(text)] if text else []


def _said(node: Json) -> Iterator[str]:
    """The words in a tree of a prompt."""
    part = as_object(node)
    if isinstance(part.get("text"), str):
        yield ("\n" if part.get("lineBreakBefore") is True else "") + as_text(part["text"])
    for child in as_list(part.get("children")):
        yield from _said(child)


def _markdown(value: Json) -> str:
    return value if isinstance(value, str) else as_text(as_object(value).get("value"))


def _reference(part: JsonObject) -> str:
    """The name that was shown for a file or a symbol."""
    held = as_object(part.get("inlineReference"))
    path = as_text(held.get("path")) or as_text(as_object(held.get("uri")).get("path"))
    return f"`{first_text(part, 'name') or first_text(held, 'name') or path.rpartition('/')[2]}`"


def _bytes(value: Json) -> str:
    """Bytes as base64: they are kept as that, as a list of numbers, or as an object with a number for each index."""
    held = as_object(value)
    if isinstance(value, str) or isinstance(held.get("$base64"), str):
        return as_text(value) or as_text(held.get("$base64"))
    numbers = list(held.values()) if held else as_list(value)
    try:
        return base64.b64encode(bytes(number for number in numbers if isinstance(number, int))).decode()
    except ValueError:
        return ""
