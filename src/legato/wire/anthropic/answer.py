"""Print one answer of the model as content blocks.

In:  an exchange, how the unit before it ended, and the voice of the target.
Out: what stands before the calls, the calls themselves (with signed thoughts between them), and the decisions.

The API takes nothing behind the calls of a message, so text that came there is moved before them. It takes thoughts
only in a message that begins with one and does not end on one; others are left out.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import (
    Action,
    Code,
    Decision,
    Fault,
    Foreign,
    HostedTool,
    JsonObject,
    Media,
    Target,
    Text,
    Thinking,
    ThinkingMode,
    ToolCall,
)
from legato.transcript.units import Exchange
from legato.wire.anthropic.blocks import (
    hosted_blocks,
    omission,
    own_text_block,
    text_block,
    thinking_block,
)
from legato.wire.arguments import wire_arguments
from legato.wire.contract import End, Voice
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced, hosted_text

_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


def continues_answers(target: Target) -> bool:
    """Whether a request may end on an answer, which the model then continues.

    A target that can think is never left with one: while thinking is off, an answer at the end may hold no thought, and
    while it is on, the API continues none.
    """
    return target.capabilities.prefill and target.capabilities.thinking is ThinkingMode.NEVER


class PrintedAnswer:
    """The blocks of one answer, in two runs, and what was done to them."""

    __slots__ = ("_before", "_home", "_keep_thinking", "_unit", "_voice", "calls", "decisions", "lead")

    def __init__(self, unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> None:
        self._unit = unit
        self._before = before
        self._voice = voice
        self._keep_thinking = keep_thinking
        self._home = voice.is_home(unit.origin)
        self.lead: list[JsonObject] = []
        self.calls: list[JsonObject] = []
        self.decisions: list[Decision] = []
        self._print()

    def separate_calls(self) -> None:
        """Leave nothing but calls among the calls, which are about to leave the message that begins with thinking."""
        count = len(self.lead) + len(self.calls)
        self.lead += [block for block in self.calls if block["type"] not in _THOUGHTS and block["type"] != "tool_use"]
        self.calls = [block for block in self.calls if block["type"] == "tool_use"]
        if len(self.lead) + len(self.calls) < count:
            self._decide(Action.DROPPED, "thinking-order", "a thought between calls that are printed apart")

    def _print(self) -> None:
        lead, calls = self.lead, self.calls
        is_moved = thinks = False
        for block in self._unit.blocks:
            match block:
                case ToolCall():
                    calls.append(self._call(block))
                    continue
                case Thinking():
                    printed = self._thinking(block)
                    if printed is None:
                        continue
                    if printed["type"] in _THOUGHTS:
                        thinks = True
                        (calls or lead).append(printed)
                        continue
                    lead.append(printed)
                case Text():
                    if block.native is None:
                        lead.append({"type": "text", "text": block.text})
                    elif block.text.strip():
                        lead.append(own_text_block(block) if self._home else text_block(block.text))
                    else:
                        self._decide(Action.DROPPED, "blank-text")  # refused everywhere; no signature here needs it
                        continue
                case HostedTool():
                    own = self._own_hosted(block)
                    if own is not None:
                        (calls or lead).extend(own)
                        continue
                    lead.append(text_block(hosted_text(block)))
                    self._decide(Action.CONVERTED, "hosted-tool", f"{block.name} is told as text")
                case Media():
                    lead.append(text_block(media_omitted(block.kind, block.mime)))
                    self.decisions.append(omission(block))
                case Code():
                    lead.append(text_block(fenced(block)))
                case _:
                    assert_never(block)
            is_moved = is_moved or bool(calls)
        if is_moved:
            self._decide(Action.MOVED, "text-before-calls", "the API takes nothing behind the calls of a message")
        if thinks:
            self._order_thoughts()
        if lead and not calls and continues_answers(self._voice.target):
            self._trim_end()

    def _call(self, call: ToolCall) -> JsonObject:
        voice = self._voice
        name = voice.names.project(call.name)
        if name != call.name:
            detail = f"{call.name} is {name}"
            self.decisions.append(Decision(Action.RENAMED, "tool-name", Fault.PROJECTION, detail, (call.id,)))
        printed: JsonObject = {
            "type": "tool_use",
            "id": voice.ids[call.id],
            "name": name,
            "input": wire_arguments(call),
        }
        if call.native is not None and self._home and (caller := call.native.get("caller")):
            printed["caller"] = caller  # the provider's own code made this call and waits for its result
        return printed

    def _thinking(self, block: Thinking) -> JsonObject | None:
        """A thought as it came, as plain text, or not at all."""
        voice = self._voice
        if not self._keep_thinking:
            return self._decide(Action.DROPPED, "thinking-policy")
        is_own = self._home and not continues_answers(voice.target)  # a model that never thinks did not think this
        if is_own and (printed := thinking_block(block)) is not None:
            return printed
        reason = "unsigned-thinking" if is_own else "foreign-thinking"
        if voice.foreign is Foreign.TEXT and block.text.strip():
            self._decide(Action.CONVERTED, reason)
            return text_block(block.text)
        return self._decide(Action.DROPPED, reason)

    def _own_hosted(self, block: HostedTool) -> list[JsonObject] | None:
        if not self._home:
            return None
        return hosted_blocks(block, may_wait=bool(self._unit.completions), may_end=self._before is End.RESULTS)

    def _order_thoughts(self) -> None:
        lead, calls = self.lead, self.calls
        count = len(lead) + len(calls)
        end = calls or lead
        while end and end[-1]["type"] in _THOUGHTS:
            end.pop()
        if not lead or lead[0]["type"] not in _THOUGHTS:
            lead[:] = [block for block in lead if block["type"] not in _THOUGHTS]
            calls[:] = [block for block in calls if block["type"] not in _THOUGHTS]
        if len(lead) + len(calls) < count:
            self._decide(Action.DROPPED, "thinking-order", "a thought at the end, or behind something else")

    def _trim_end(self) -> None:
        last = self.lead[-1]
        if last["type"] == "text" and last["text"][-1:].isspace():
            self.lead[-1] = {**last, "text": last["text"].rstrip()}
            self._decide(Action.ADJUSTED, "trailing-whitespace", "an answer that may be continued must not end in it")

    def _decide(self, action: Action, reason: str, detail: str = "") -> None:
        self.decisions.append(Decision(action, reason, Fault.PROJECTION, detail))
