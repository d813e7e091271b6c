"""Print one exchange: an answer of the model and the results of its calls.

In:  the exchange, the voice, and whether its own thinking is kept.
Out: whole items, in the order in which the model produced them, then the outputs of its calls in call order.

A reasoning item is accepted only directly before the item it led to, so it is held back until that item is printed;
one that leads to nothing is left out. Where the target takes no call items, results are embedded as human-side text and
calls are omitted, so that the model does not begin to write calls as text.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import (
    Action,
    CallKind,
    Code,
    Decision,
    Fault,
    Foreign,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Text,
    Thinking,
    ToolCall,
)
from legato.transcript.units import Completion, CompletionKind, Exchange, completion_text
from legato.wire.arguments import wire_arguments_text
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.openai_responses.wording import (
    ERROR_MARK,
    media_part,
    text_part,
    user_message,
)
from legato.wire.phrases import EMBEDDED_RESULT, EMPTY_RESULT, MEDIA_CAPTION, MEDIA_FOLLOWS, media_omitted
from legato.wire.plain import fenced, hosted_text
from legato.wire.projections import BY_POLICY, FOREIGN_DROPPED, FOREIGN_SHOWN, HOSTED_AS_TEXT, MEDIA_OMITTED, projected

_UNSIGNED_DROPPED = projected(Action.DROPPED, "unsigned-thinking", "no encrypted form came with this thinking")
_UNSIGNED_SHOWN = projected(Action.CONVERTED, "unsigned-thinking", "thinking without encrypted form became plain text")
_DANGLING = projected(Action.DROPPED, "dangling-thinking", "a reasoning item needs the item it led to after it")


def spell_exchange(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """Print `unit`; nothing at all if nothing of it may be shown."""
    return _Page(unit, voice, keep_thinking).printed(before)


class _Page:
    """One exchange while it is printed. `held` are reasoning items that wait for the item they led to."""

    __slots__ = ("capabilities", "decisions", "embeds", "held", "home", "items", "keep", "media", "unit", "voice")

    def __init__(self, unit: Exchange, voice: Voice, keep_thinking: bool) -> None:
        self.unit = unit
        self.voice = voice
        self.keep = keep_thinking
        self.home = voice.is_home(unit.origin)
        self.capabilities = voice.target.capabilities
        self.embeds = not self.capabilities.native_tool_history
        self.items: list[JsonObject] = []
        self.held: list[JsonObject] = []
        self.media: list[tuple[ToolCall, list[JsonObject]]] = []
        self.decisions: list[Decision] = []

    def printed(self, before: End) -> Spelled:
        waiting: list[tuple[ToolCall, Completion]] = []
        count, limit = 0, self.capabilities.max_calls
        for block in self.unit.blocks:
            match block:
                case ToolCall():
                    if len(waiting) == limit and not self.embeds:
                        self.outputs(waiting)
                        waiting = []
                    waiting.append((block, self.unit.completions[count]))
                    count += 1
                    self.call(block)
                case Text():
                    self.text(block)
                case Thinking():
                    self.thinking(block)
                case HostedTool():
                    self.hosted(block)
                case Code():
                    self.answer(fenced(block))
                case Media():
                    self.answer(media_omitted(block.kind, block.mime))
                    self.decisions.append(MEDIA_OMITTED)
                case _:
                    assert_never(block)
        self.let_go()
        if count > limit and not self.embeds:
            self.decide(Action.CONVERTED, "calls-split", "calls and results in turns: the target limits calls in a row")
        if waiting and self.embeds:
            self.embed(waiting)
        elif waiting:
            self.outputs(waiting)
        self.follow_up()
        return self.spelled(before, count)

    def spelled(self, before: End, count: int) -> Spelled:
        decisions = tuple(self.decisions)
        if not self.items:
            return Spelled((), before, decisions)
        if count:
            end = End.HUMAN if self.embeds or self.media else End.RESULTS
        else:
            end = End.ANSWER
        return Spelled((Group("", tuple(self.items)),), end, decisions)

    def decide(self, action: Action, reason: str, detail: str, *calls: ToolCall) -> None:
        named = calls or self.unit.calls
        self.decisions.append(Decision(action, reason, Fault.PROJECTION, detail, tuple(call.id for call in named)))

    # What the model said.

    def put(self, item: JsonObject) -> None:
        """An item of the model's; the reasoning that led to it stands directly before it."""
        if self.held:
            self.items += self.held
            self.held = []
        self.items.append(item)

    def let_go(self) -> None:
        """What follows is not the model's: reasoning that still waits led to nothing."""
        if self.held:
            self.decisions += [_DANGLING] * len(self.held)
            self.held = []

    def answer(self, text: str) -> None:
        self.put({"type": "message", "role": "assistant", "content": text})

    def text(self, block: Text) -> None:
        text = block.text
        if not text or text.isspace():
            return
        if self.home and block.native is not None and "phase" in block.native:
            self.put({"type": "message", "role": "assistant", "content": text, "phase": block.native["phase"]})
        else:
            self.answer(text)

    def thinking(self, block: Thinking) -> None:
        if not self.keep:
            self.decisions.append(BY_POLICY)
            return
        item = block.native.get("item") if self.home and block.native is not None else None
        if item is not None and item.get("encrypted_content"):
            self.held.append(_reasoning(item))
            return
        shown = self.voice.foreign is Foreign.TEXT and bool(block.text) and not block.text.isspace()
        if shown:
            self.answer(block.text)
        if self.home:
            self.decisions.append(_UNSIGNED_SHOWN if shown else _UNSIGNED_DROPPED)
        else:
            self.decisions.append(FOREIGN_SHOWN if shown else FOREIGN_DROPPED)

    def hosted(self, block: HostedTool) -> None:
        item = block.native.get("item") if self.home and block.native is not None else None
        if item is not None:
            if item["type"].endswith("_output"):
                self.let_go()  # what came of a call is not what the model thought up
            self.put(item)
        else:
            self.answer(hosted_text(block))
            self.decisions.append(HOSTED_AS_TEXT)

    def call(self, call: ToolCall) -> None:
        if self.embeds:
            self.let_go()  # the item it led to is not printed
            return
        name = self.voice.names.project(call.name)
        if name != call.name:
            self.decide(Action.RENAMED, "tool-name", f"{call.name!r} is spelled {name!r} here", call)
        item: JsonObject
        if self.is_custom(call):
            item = {
                "type": "custom_tool_call",
                "call_id": self.voice.ids[call.id],
                "name": name,
                "input": call.arguments["input"],
            }
        else:
            item = {
                "type": "function_call",
                "call_id": self.voice.ids[call.id],
                "name": name,
                "arguments": wire_arguments_text(call),
            }
        if call.native is not None and self.home:
            for field in ("namespace", "caller"):
                if field in call.native:
                    item[field] = call.native[field]
        self.put(item)

    def is_custom(self, call: ToolCall) -> bool:
        """Whether the call goes back as the free text that it was."""
        return call.kind is CallKind.CUSTOM and self.home and isinstance(call.arguments.get("input"), str)

    # What came back.

    def outputs(self, waiting: list[tuple[ToolCall, Completion]]) -> None:
        for call, completion in waiting:
            text = self.result_text(call, completion)
            inside: list[JsonObject] = []
            if completion.media:
                text, inside = self.placed(call, completion, text)
            item: JsonObject = {
                "type": "custom_tool_call_output" if self.is_custom(call) else "function_call_output",
                "call_id": self.voice.ids[call.id],
                "output": [text_part(text), *inside] if inside else text,
            }
            if call.native is not None and self.home and "caller" in call.native:
                item["caller"] = call.native["caller"]
            self.items.append(item)

    def result_text(self, call: ToolCall, completion: Completion) -> str:
        text = completion_text(completion)
        if completion.kind is CompletionKind.ERROR and not text.startswith(ERROR_MARK):
            return ERROR_MARK + text
        if not text and not self.capabilities.empty_text:
            self.decide(Action.INSERTED, "empty-result", "an empty output is refused here", call)
            return EMPTY_RESULT
        return text

    def placed(self, call: ToolCall, completion: Completion, text: str) -> tuple[str, list[JsonObject]]:
        """The media of a result: inside it, in a message after all results, or named where they cannot go."""
        inside: list[JsonObject] = []
        after: list[JsonObject] = []
        for medium in completion.media:
            part = media_part(medium, self.capabilities)
            if part is None:
                text = _joined(text, media_omitted(medium.kind, medium.mime))
                self.decide(Action.CONVERTED, "media-omitted", "the target cannot take this medium", call)
            elif medium.kind is MediaKind.IMAGE and self.capabilities.result_images:
                inside.append(part)
            else:
                after.append(part)
        if after:
            text = _joined(text, MEDIA_FOLLOWS)
            self.media.append((call, after))
            self.decide(Action.CONVERTED, "media-moved", "media follow in a message of their own", call)
        return text, inside

    def follow_up(self) -> None:
        """One message with the media that stand in no result, after all results of the exchange."""
        if not self.media:
            return
        parts: list[JsonObject] = []
        for call, media in self.media:
            parts.append(text_part(MEDIA_CAPTION.format(tool=self.voice.names.project(call.name))))
            parts += media
        self.items.append(user_message(*parts))

    def embed(self, waiting: list[tuple[ToolCall, Completion]]) -> None:
        """Results as human-side text, each in its place; the calls are not printed."""
        for call, completion in waiting:
            text = self.result_text(call, completion)
            parts: list[JsonObject] = []
            for medium in completion.media:
                part = media_part(medium, self.capabilities)
                if part is None:
                    text = _joined(text, media_omitted(medium.kind, medium.mime))
                    self.decide(Action.CONVERTED, "media-omitted", "the target cannot take this medium", call)
                else:
                    parts.append(part)
            self.items.append(user_message(text_part(EMBEDDED_RESULT + text), *parts))
        self.decide(Action.CONVERTED, "text-embed", "results became text and calls were omitted: no call items here")


def _reasoning(item: JsonObject) -> JsonObject:
    """A reasoning item without its id: under `store: false` the server holds nothing of that name."""
    printed: JsonObject = {
        "type": "reasoning",
        "summary": item.get("summary") or [],
        "encrypted_content": item["encrypted_content"],
    }
    if item.get("content"):
        printed["content"] = item["content"]
    return printed


def _joined(text: str, more: str) -> str:
    return f"{text}\n{more}" if text else more
