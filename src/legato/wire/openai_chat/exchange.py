"""One answer of a model and the results of its calls, as chat messages.

In:  an `Exchange`: thinking, text and calls in order, one completion for every call.
Out: an assistant message, one tool message for each call directly behind it, and, where results hold media, one user
     message behind them all.

A chat message holds one string of text and then its calls, so text between calls moves before them. Thinking has a
place only in some profiles, and only the model's own goes there. Where it is `reasoning_content`, it is demanded on
every answer with calls while the model thinks, so an answer that has none of its own gets a single space: those servers
accept it, and not always an empty string.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple, assert_never

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
    Text,
    Thinking,
    ToolCall,
)
from legato.transcript.units import Exchange
from legato.wire.arguments import wire_arguments_text
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.openai_chat.human import BRIDGED_ANSWER, OMITTED
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.openai_chat.prose import Prose, thinking_chunk
from legato.wire.openai_chat.reading import read_objects
from legato.wire.openai_chat.results import spell_result
from legato.wire.phrases import ANSWER_BRIDGE, EMBEDDED_RESULT, HUMAN_BRIDGE, media_omitted
from legato.wire.plain import fenced, hosted_text

NO_THOUGHT = " "
"""stands in `reasoning_content` where there is no thinking, or none that may be sent"""

_HOSTED = Decision(Action.CONVERTED, "hosted-tool", Fault.PROJECTION, "a tool that a provider ran itself became text")
_BRIDGED_HUMAN = Decision(
    Action.INSERTED, "bridge", Fault.PROJECTION, "a human message stands before calls that would otherwise come first"
)
_TEXT_APART = Decision(
    Action.MOVED, "text-beside-calls", Fault.PROJECTION, "text stands before the calls as a message of its own"
)


class _Fate(Enum):
    FIELD = auto()
    CHUNK = auto()
    DETAILS = auto()
    TEXT = auto()
    DROP = auto()


class _Read(NamedTuple):
    """What an answer comes to: its text, its thinking in the form that the target takes, its calls."""

    text: str
    thought: str
    chunks: list[JsonObject]
    details: list[JsonObject]
    calls: list[ToolCall]


_NOTHING = _Read("", "", [], [], [])


class _Printed(NamedTuple):
    messages: list[JsonObject]
    following: list[JsonObject]
    end: End


def spell_exchange(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """One answer, with the results of its calls, as messages."""
    decisions: list[Decision] = []
    read = _read(unit, voice, keep_thinking, decisions)
    if not read.calls:
        if not read.text:
            if read.thought or read.chunks or read.details:
                decisions.append(_dropped("thinking-policy", "an answer of nothing but thinking is not sent"))
            return Spelled((), before, tuple(decisions))
        return Spelled((Group("", (_answer(read, read.text),)),), End.ANSWER, tuple(decisions))
    capabilities = voice.target.capabilities
    spell_calls = _spell_pairs if capabilities.native_tool_history else _embed_results
    messages, following, end = spell_calls(unit, read, voice, decisions)
    if before is End.START and end is End.RESULTS and not profile_of(voice.target).calls_first:
        messages.insert(0, {"role": "user", "content": HUMAN_BRIDGE})
        decisions.append(_BRIDGED_HUMAN)
    if following:
        if end is End.RESULTS and not capabilities.user_after_tool:
            messages.append({"role": "assistant", "content": ANSWER_BRIDGE})
            decisions.append(BRIDGED_ANSWER)
        messages.append({"role": "user", "content": following})
        end = End.HUMAN
    return Spelled((Group("", tuple(messages)),), end, tuple(decisions))


# --- reading the answer -----------------------------------------------------------------------------------------------


def _read(unit: Exchange, voice: Voice, keep_thinking: bool, decisions: list[Decision]) -> _Read:
    prose = Prose()
    thoughts: list[str] = []
    chunks: list[JsonObject] = []
    details: list[JsonObject] = []
    calls: list[ToolCall] = []
    fate: _Fate | None = None
    for block in unit.blocks:
        match block:
            case Text():
                prose.add(block.text)
            case ToolCall():
                calls.append(block)
            case Thinking():
                if fate is None:
                    fate = _fate_of_thinking(unit, block, voice, keep_thinking, decisions)
                match fate:
                    case _Fate.FIELD:
                        thoughts.append(block.text)
                    case _Fate.CHUNK:
                        chunks.append(thinking_chunk(block))
                    case _Fate.DETAILS:
                        details += read_objects((block.native or {}).get("reasoning_details"))
                    case _Fate.TEXT:
                        if not _is_blank(block.text):
                            prose.add_apart(block.text)
                    case _Fate.DROP:
                        pass
            case HostedTool():
                prose.add_apart(hosted_text(block))
                decisions.append(_HOSTED)
            case Media():
                prose.add_apart(media_omitted(block.kind, block.mime))
                decisions.append(OMITTED)
            case Code():
                prose.add_apart(fenced(block))
            case _:
                assert_never(block)
    text, thought = prose.take(), "".join(thoughts)
    return _Read("" if text.isspace() else text, "" if thought.isspace() else thought, chunks, details, calls)


def _fate_of_thinking(
    unit: Exchange, block: Thinking, voice: Voice, keep_thinking: bool, decisions: list[Decision]
) -> _Fate:
    if not keep_thinking:
        decisions.append(_dropped("thinking-policy", "the policy leaves this answer's thinking out"))
        return _Fate.DROP
    reason = "foreign-thinking"
    if voice.is_home(unit.origin):
        profile = profile_of(voice.target)
        if profile.reasoning_content and voice.target.capabilities.reasoning_field:
            if voice.thinking_on:
                return _Fate.FIELD
            decisions.append(_dropped("thinking-policy", "thinking is off, and then none is sent back"))
            return _Fate.DROP
        native = block.native or {}
        if profile.thinking_chunks and native.get("chunk"):
            return _Fate.CHUNK
        if profile.reasoning_details and native.get("reasoning_details"):
            return _Fate.DETAILS
        reason = "unsigned-thinking"
    if voice.foreign is Foreign.TEXT:
        decisions.append(Decision(Action.CONVERTED, reason, Fault.PROJECTION, "thinking became plain text"))
        return _Fate.TEXT
    decisions.append(_dropped(reason, "the target has no place for this thinking"))
    return _Fate.DROP


def _dropped(reason: str, detail: str) -> Decision:
    return Decision(Action.DROPPED, reason, Fault.PROJECTION, detail)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


# --- printing it ------------------------------------------------------------------------------------------------------


def _answer(read: _Read, content: str | None) -> JsonObject:
    """The message in which an answer begins, with its thinking."""
    message: JsonObject = {"role": "assistant", "content": content}
    if read.chunks:
        message["content"] = [*read.chunks, {"type": "text", "text": content}] if content else read.chunks
    if read.details:
        message["reasoning_details"] = read.details
    if read.thought:
        message["reasoning_content"] = read.thought
    return message


def _spell_pairs(unit: Exchange, read: _Read, voice: Voice, decisions: list[Decision]) -> _Printed:
    """The calls and their results; several rounds where the target limits the calls of one message."""
    capabilities = voice.target.capabilities
    profile = profile_of(voice.target)
    messages: list[JsonObject] = []
    following: list[JsonObject] = []
    bare = None if profile.null_beside_calls or not capabilities.empty_text else ""
    opening = read
    if not capabilities.text_beside_calls and (read.text or read.chunks):
        opening = read._replace(text="", chunks=[])
        if read.text:
            messages.append(_answer(read._replace(thought="", details=[]), read.text))
            decisions.append(_TEXT_APART)
    if len(read.calls) > capabilities.max_calls:
        decisions.append(_split(read.calls, capabilities.max_calls))
    demands_thought = profile.reasoning_content and capabilities.reasoning_field and voice.thinking_on
    for first in range(0, len(read.calls), capabilities.max_calls):
        batch = read.calls[first : first + capabilities.max_calls]
        message = _answer(opening, opening.text or bare)
        if demands_thought and not opening.thought:
            message["reasoning_content"] = NO_THOUGHT
            decisions.append(no_thought(batch))
        message["tool_calls"] = [_spell_call(call, unit, voice, decisions) for call in batch]
        messages.append(message)
        for call, completion in zip(batch, unit.completions[first : first + len(batch)], strict=True):
            content, parts = spell_result(call, completion, voice, decisions)
            result: JsonObject = {"role": "tool", "tool_call_id": voice.ids[call.id], "content": content}
            if profile.named_results:
                result["name"] = voice.names.project(call.name)
            messages.append(result)
            following += parts
        opening = _NOTHING
    return _Printed(messages, following, End.RESULTS)


def _spell_call(call: ToolCall, unit: Exchange, voice: Voice, decisions: list[Decision]) -> JsonObject:
    name = voice.names.project(call.name)
    if name != call.name:
        decisions.append(
            Decision(Action.RENAMED, "tool-name", Fault.PROJECTION, f"{call.name} is called {name} there", (call.id,))
        )
    if call.kind is CallKind.CUSTOM:
        decisions.append(
            Decision(
                Action.CONVERTED, "custom-call", Fault.PROJECTION, "a free-text call became a function call", (call.id,)
            )
        )
    spelled: JsonObject = {
        "id": voice.ids[call.id],
        "type": "function",
        "function": {"name": name, "arguments": wire_arguments_text(call)},
    }
    if call.native is not None and "extra_content" in call.native and voice.is_home(unit.origin):
        # Gemini behind a chat endpoint: the signature that it wants back with the call.
        spelled["extra_content"] = call.native["extra_content"]
    return spelled


def _embed_results(unit: Exchange, read: _Read, voice: Voice, decisions: list[Decision]) -> _Printed:
    """The results as what a user says; the calls are left out, lest the model imitates them as text."""
    messages: list[JsonObject] = []
    following: list[JsonObject] = []
    if read.text:
        messages.append(_answer(read, read.text))
    for call, completion in zip(read.calls, unit.completions, strict=True):
        content, parts = spell_result(call, completion, voice, decisions)
        messages.append({"role": "user", "content": EMBEDDED_RESULT + content})
        following += parts
    decisions.append(
        Decision(
            Action.CONVERTED,
            "text-embed",
            Fault.PROJECTION,
            "results became user text and their calls were left out",
            tuple(call.id for call in read.calls),
        )
    )
    return _Printed(messages, following, End.HUMAN)


def _split(calls: list[ToolCall], limit: int) -> Decision:
    return Decision(
        Action.CONVERTED,
        "calls-split",
        Fault.PROJECTION,
        f"the target takes at most {limit} call{'' if limit == 1 else 's'} in a message",
        tuple(call.id for call in calls),
    )


def no_thought(batch: Sequence[ToolCall]) -> Decision:
    """What is decided where `NO_THOUGHT` stands with the calls `batch`."""
    return Decision(
        Action.INSERTED,
        "reasoning-placeholder",
        Fault.PROJECTION,
        "the target demands reasoning with calls, and there is none to send",
        tuple(call.id for call in batch),
    )
