"""Print one exchange: an assistant message and one tool message with all of its results.

In:  the exchange, the voice, and whether its own thinking is kept.
Out: whole messages. Parts keep the order in which the model produced them.

Where the target limits calls in a message, later calls get messages of their own, each followed by its results; text
and thinking stay with the first. `native` data goes back as `providerOptions`, under which the SDK hands it to the
provider that it came from.
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
from legato.wire.arguments import wire_arguments
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.phrases import EMBEDDED_RESULT, EMPTY_RESULT, MEDIA_CAPTION, MEDIA_FOLLOWS, media_omitted
from legato.wire.plain import fenced, hosted_text
from legato.wire.projections import BY_POLICY, FOREIGN_DROPPED, FOREIGN_SHOWN, HOSTED_AS_TEXT, MEDIA_OMITTED
from legato.wire.vercel.parts import (
    file_part,
    media_part,
    result_part,
    text_part,
    user_message,
)

_ERROR_MARK = "Error: "
"""only for results that are embedded as text; everywhere else the type of the output says it"""


def spell_exchange(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """Print `unit`; nothing at all if nothing of it may be shown."""
    return _Page(unit, voice, keep_thinking).printed(before)


class _Page:
    """One exchange while it is printed; `media` are parts that stand in no result and follow after all of them."""

    __slots__ = ("calls", "capabilities", "decisions", "home", "keep", "media", "messages", "unit", "voice")

    def __init__(self, unit: Exchange, voice: Voice, keep_thinking: bool) -> None:
        self.unit = unit
        self.calls = unit.calls
        self.voice = voice
        self.keep = keep_thinking
        self.home = voice.is_home(unit.origin)
        self.capabilities = voice.target.capabilities
        self.messages: list[JsonObject] = []
        self.media: list[JsonObject] = []
        self.decisions: list[Decision] = []

    def printed(self, before: End) -> Spelled:
        completions = self.unit.completions
        if completions and not self.capabilities.native_tool_history:
            self.embed()
            end = End.HUMAN
        elif completions:
            self.turns()
            end = End.HUMAN if self.media else End.RESULTS
        else:
            self.say(self.parts())
            end = End.ANSWER
        if not self.messages:
            return Spelled((), before, tuple(self.decisions))
        return Spelled((Group("", tuple(self.messages)),), end, tuple(self.decisions))

    def turns(self) -> None:
        """The answer with its results; more than one such pair where the target limits calls."""
        calls, limit = self.calls, self.capabilities.max_calls
        if len(calls) > limit:
            self.decide(Action.CONVERTED, "calls-split", "calls and results in turns: a message holds fewer calls here")
        first = calls[:limit]
        if self.capabilities.text_beside_calls:
            self.say(self.parts(first))
        else:
            self.say(self.parts())
            self.say([self.call(call) for call in first])
        self.results(0, first)
        for start in range(limit, len(calls), limit):
            chunk = calls[start : start + limit]
            self.say([self.call(call) for call in chunk])
            self.results(start, chunk)
        if self.media:
            self.messages.append(user_message(*self.media))

    def say(self, parts: list[JsonObject]) -> None:
        if parts:
            self.messages.append({"role": "assistant", "content": parts})

    def decide(self, action: Action, reason: str, detail: str, *calls: ToolCall) -> None:
        named = calls or self.calls
        self.decisions.append(Decision(action, reason, Fault.PROJECTION, detail, tuple(call.id for call in named)))

    # What the model said.

    def parts(self, calls: tuple[ToolCall, ...] = ()) -> list[JsonObject]:
        """The parts of the answer in order, with those of its calls that are in `calls`."""
        parts: list[JsonObject] = []
        left = len(calls)
        for block in self.unit.blocks:
            match block:
                case ToolCall():
                    if left:
                        left -= 1
                        parts.append(self.call(block))
                case Text():
                    if self.home and block.native is not None:
                        parts.append(self.signed(text_part(block.text), block.native))
                    elif block.text and not block.text.isspace():
                        parts.append(text_part(block.text))
                case Thinking():
                    self.think(block, parts)
                case HostedTool():
                    self.host(block, parts)
                case Code():
                    parts.append(text_part(fenced(block)))
                case Media():
                    self.show(block, parts)
                case _:
                    assert_never(block)
        return parts

    def signed(self, part: JsonObject, native: JsonObject | None) -> JsonObject:
        """`part` with the metadata that its provider wants to see again."""
        if self.home and native is not None and "providerOptions" in native:
            part["providerOptions"] = native["providerOptions"]
        return part

    def think(self, block: Thinking, parts: list[JsonObject]) -> None:
        if not self.keep:
            self.decisions.append(BY_POLICY)
        elif self.home:
            if block.text or block.native is not None:
                parts.append(self.signed({"type": "reasoning", "text": block.text}, block.native))
        elif self.voice.foreign is Foreign.TEXT and block.text and not block.text.isspace():
            parts.append(text_part(block.text))
            self.decisions.append(FOREIGN_SHOWN)
        else:
            self.decisions.append(FOREIGN_DROPPED)

    def host(self, block: HostedTool, parts: list[JsonObject]) -> None:
        if self.home and block.native is not None and "parts" in block.native:
            parts += block.native["parts"]
        else:
            parts.append(text_part(hosted_text(block)))
            self.decisions.append(HOSTED_AS_TEXT)

    def show(self, block: Media, parts: list[JsonObject]) -> None:
        source = block.url if block.data is None else block.data
        if self.home and source is not None:
            parts.append(self.signed(file_part(block, source), block.native))
        else:
            parts.append(text_part(media_omitted(block.kind, block.mime)))
            self.decisions.append(MEDIA_OMITTED)

    def call(self, call: ToolCall) -> JsonObject:
        name = self.voice.names.project(call.name)
        if name != call.name:
            self.decide(Action.RENAMED, "tool-name", f"{call.name!r} is spelled {name!r} here", call)
        is_free_text = self.home and call.kind is CallKind.CUSTOM and isinstance(call.arguments.get("input"), str)
        part: JsonObject = {
            "type": "tool-call",
            "toolCallId": self.voice.ids[call.id],
            "toolName": name,
            "input": call.arguments["input"] if is_free_text else wire_arguments(call),
        }
        return self.signed(part, call.native)

    # What came back.

    def results(self, start: int, calls: tuple[ToolCall, ...]) -> None:
        """One tool message with the results of `calls`, whose completions begin at `start`."""
        parts: list[JsonObject] = [
            {
                "type": "tool-result",
                "toolCallId": self.voice.ids[call.id],
                "toolName": self.voice.names.project(call.name),
                "output": self.output(call, completion),
            }
            for call, completion in zip(calls, self.unit.completions[start : start + len(calls)], strict=True)
        ]
        self.messages.append({"role": "tool", "content": parts})

    def output(self, call: ToolCall, completion: Completion) -> JsonObject:
        if completion.media:
            return self.output_with_media(call, completion)
        if completion.is_error:
            return {"type": "error-text", "value": completion_text(completion)}
        if _is_plain_value(completion):
            return {"type": "json", "value": completion.result}
        return {"type": "text", "value": self.text_of(call, completion)}

    def output_with_media(self, call: ToolCall, completion: Completion) -> JsonObject:
        """Images stand inside; other media, and those of a failed call, follow in a message after all results."""
        text = completion_text(completion)
        inside: list[JsonObject] = []
        after: list[JsonObject] = []
        for medium in completion.media:
            part = media_part(medium, self.capabilities)
            within = result_part(medium) if medium.kind is MediaKind.IMAGE else None
            if part is None:
                text = _joined(text, media_omitted(medium.kind, medium.mime))
                self.decide(Action.CONVERTED, "media-omitted", "the target cannot take this medium", call)
            elif within is not None and self.capabilities.result_images and not completion.is_error:
                inside.append(within)
            else:
                after.append(part)
        if after:
            text = _joined(text, MEDIA_FOLLOWS)
            caption = MEDIA_CAPTION.format(tool=self.voice.names.project(call.name))
            self.media += [text_part(caption), *after]
            self.decide(Action.CONVERTED, "media-moved", "media follow in a message of their own", call)
        if inside:
            return {"type": "content", "value": [text_part(text), *inside] if text else inside}
        return {"type": "error-text" if completion.is_error else "text", "value": text}

    def text_of(self, call: ToolCall, completion: Completion) -> str:
        text = completion_text(completion)
        if not text and not self.capabilities.empty_text:
            self.decide(Action.INSERTED, "empty-result", "an empty output is refused here", call)
            return EMPTY_RESULT
        return text

    def embed(self) -> None:
        """Results as human-side text, each in its place; the calls are not printed."""
        self.say(self.parts())
        for call, completion in zip(self.calls, self.unit.completions, strict=True):
            text = self.text_of(call, completion)
            if completion.kind is CompletionKind.ERROR and not text.startswith(_ERROR_MARK):
                text = _ERROR_MARK + text
            parts: list[JsonObject] = []
            for medium in completion.media:
                part = media_part(medium, self.capabilities)
                if part is None:
                    text = _joined(text, media_omitted(medium.kind, medium.mime))
                    self.decide(Action.CONVERTED, "media-omitted", "the target cannot take this medium", call)
                else:
                    parts.append(part)
            self.messages.append(user_message(text_part(EMBEDDED_RESULT + text), *parts))
        self.decide(Action.CONVERTED, "text-embed", "results became text and calls were omitted: no call parts here")


def _is_plain_value(completion: Completion) -> bool:
    """Whether the result is a value other than text that stands alone."""
    return (
        completion.result is not None
        and not isinstance(completion.result, str)
        and completion.shortened is None
        and completion.ran_with is None
    )


def _joined(text: str, more: str) -> str:
    return f"{text}\n{more}" if text else more
