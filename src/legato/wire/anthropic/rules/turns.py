"""Judge the messages of a Messages body as turns.

In:  messages, whether thinking is on, and whether the model takes a prefill and instructions in the middle.
Out: findings about roles, order, pairing, the place of thinking, and how the request ends.

The API joins neighbouring messages of one role, so a turn here may be several messages: pairing, the place of results
and the end of thinking are judged over the turn.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from legato.model import Json, JsonObject
from legato.wire.anthropic.rules.blocks import THOUGHTS, BlockJudge
from legato.wire.judging import Findings, Pairing, brief, is_list, is_object

_ROLES = frozenset({"user", "assistant", "system"})
_FIELDS = frozenset({"role", "content"})
_MAX_MARKS = 4


@dataclass(frozen=True, slots=True)
class JudgingMode:
    """What the body asks for, and what the model takes."""

    thinks: bool
    """thinking is on, in whichever way"""
    thinks_with_budget: bool
    """it is on in the way that checks the order of blocks"""
    may_think: bool
    """on, or on by the model's own habit"""
    prefill: bool
    middle_system: bool
    demands_tools: bool
    """whether calls in the history demand that tools are defined"""


class _Turn(Struct):
    """Where the judge stands: what it knows of the turn so far, and of the run of calls that it belongs to."""

    role: str = ""
    last_kind: str = ""
    last_path: str = ""
    last_text: str = ""
    has_results: bool = False
    has_others: bool = False
    has_calls: bool = False
    loop_kind: str = ""
    loop_path: str = ""
    """the first block of the answer that began the latest run of calls and results"""
    loop_thought: str = ""
    """the first thought in this run"""
    empty_path: str = ""
    """the message before, if it is an answer without content: only the last may be that"""


class TurnJudge:
    """Reads the messages in order; `end` comes after the last one."""

    def __init__(self, mode: JudgingMode, found: Findings) -> None:
        self._mode = mode
        self._found = found
        self._pairing = Pairing("anthropic", found)
        self._blocks = BlockJudge(self._pairing, found)
        self._turn = _Turn()

    def save(self) -> Any:
        """The state, for `restore`."""
        return copy(self._turn), self._blocks.save(), self._pairing.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        turn, blocks, pairing = saved
        self._turn = copy(turn)
        self._blocks.restore(blocks)
        self._pairing.restore(pairing)

    def message(self, index: int, message: Json) -> None:
        """Judge the message at `index`."""
        turn = self._turn
        if turn.empty_path:
            self._found.refuse("anthropic/empty-message", turn.empty_path, "a message may not be empty")
            turn.empty_path = ""
        if not is_object(message):
            self._found.refuse("anthropic/message-form", f"messages[{index}]", "a message is an object")
            return
        role = message.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            self._found.refuse(
                "anthropic/unknown-role",
                f"messages[{index}].role",
                f"there is no role {brief(role)}",
            )
            return
        for field in message:
            if field not in _FIELDS:
                self._found.refuse(
                    "anthropic/extra-field", f"messages[{index}].{field}", "a message holds `role` and `content` only"
                )
        if role == turn.role:
            if role == "system":
                self._refuse_system(index, "two instructions stand in a row")
            else:
                self._found.risk(
                    "anthropic/neighbours", f"messages[{index}]", f"two messages of the {role} stand in a row"
                )
        else:
            self._begin_turn(index, role)
        turn.role = role
        self._examine_content(index, role, message)

    def end(self, fields: JsonObject) -> None:
        """Judge how the request ends, and what never was answered."""
        self._pairing.end()
        self._end_turn()
        mode, found, turn, blocks = self._mode, self._found, self._turn, self._blocks
        if turn.role == "assistant" or turn.has_results:
            self._examine_open_loop()
        if turn.role == "assistant" and turn.last_kind == "text":
            self._examine_prefill()
        if blocks.uses_tools and mode.demands_tools and not fields.get("tools"):
            found.risk("anthropic/tools-undefined", "tools", "the history holds calls, so tools should be defined")
        marks = blocks.marks + _marks_of(fields.get("system")) + _marks_of(fields.get("tools"))
        if marks > _MAX_MARKS:
            found.refuse("anthropic/cache-marks", "", f"{marks} cache marks; {_MAX_MARKS} are taken")

    # --- turns ---

    def _begin_turn(self, index: int, role: str) -> None:
        before = self._turn.role
        self._end_turn()
        if before == "user":
            self._pairing.close()
        if role == "system":
            self._examine_system(index, before)
            return
        if before == "system" and role == "user":
            self._refuse_system(index - 1, "an instruction is last, or stands before an answer")
        if not before and role == "assistant" and index == 0:
            self._found.risk("anthropic/first-message", "messages[0]", "the first message should be from the user")
        if role == "assistant":
            if not self._turn.has_results:  # words beside results do not end the run (Kilo-Org/kilocode#5219)
                self._turn.loop_path = f"messages[{index}]"
                self._turn.loop_kind = self._turn.loop_thought = ""
            self._turn.has_calls = False
        else:
            self._turn.has_results = self._turn.has_others = False
        self._turn.last_kind = ""

    def _end_turn(self) -> None:
        if self._turn.role == "assistant" and self._turn.last_kind in THOUGHTS:
            self._found.refuse("anthropic/thinking-last", self._turn.last_path, "an answer does not end with thinking")

    def _examine_system(self, index: int, before: str) -> None:
        if not self._mode.middle_system:
            self._found.refuse(
                "anthropic/system-role", f"messages[{index}].role", "instructions go to the top-level `system`"
            )
        elif before != "user":
            self._refuse_system(index, "an instruction follows a turn of the user")

    def _refuse_system(self, index: int, reason: str) -> None:
        if self._mode.middle_system:
            self._found.refuse("anthropic/system-place", f"messages[{index}]", reason)

    # --- content ---

    def _examine_content(self, index: int, role: str, message: JsonObject) -> None:
        content = message.get("content")
        path = f"messages[{index}].content"
        if content is None or content in ("", []):
            if role == "assistant":
                self._turn.empty_path = f"messages[{index}]"
            else:
                self._found.refuse("anthropic/empty-message", f"messages[{index}]", "a message may not be empty")
        elif isinstance(content, str):
            self._blocks.text(path, content)
            self._note(role, "text", path)
            self._turn.last_text = content
        elif is_list(content):
            self._examine_blocks(path, role, content)
        else:
            self._found.refuse("anthropic/content-form", path, "content is a string or an array of blocks")

    def _examine_blocks(self, path: str, role: str, content: list[Json]) -> None:
        first = ""
        for index, block in enumerate(content):
            block_path = f"{path}[{index}]"
            kind = self._blocks.block(block_path, role, block)
            if index == 0:
                first = kind
            elif kind in THOUGHTS and first not in THOUGHTS and role == "assistant":
                self._examine_late_thought(block_path)
            if kind == "tool_result" and role == "user" and self._turn.has_others:
                self._found.refuse(
                    "anthropic/result-not-first", block_path, "results stand before everything else in the message"
                )
            self._note(role, kind, block_path)
        last = content[-1]
        text = last.get("text") if is_object(last) else None
        self._turn.last_text = text if isinstance(text, str) else ""

    def _note(self, role: str, kind: str, path: str) -> None:
        if role == "assistant":
            if not self._turn.loop_kind:
                self._turn.loop_kind = kind
            if kind == "tool_use":
                self._turn.has_calls = True
            elif kind == "text" and self._turn.has_calls:
                self._found.refuse("anthropic/text-after-call", path, "text stands before the calls of an answer")
            elif kind in THOUGHTS:
                self._turn.loop_thought = self._turn.loop_thought or path
        elif role == "user":
            if kind == "tool_result":
                self._turn.has_results = True
            else:
                self._turn.has_others = True
                self._blocks.interrupt()
        self._turn.last_kind, self._turn.last_path = kind, path

    def _examine_late_thought(self, path: str) -> None:
        # Models that think as they see fit also think between other blocks.
        if self._mode.thinks_with_budget or not self._mode.may_think:
            self._found.refuse("anthropic/thinking-not-first", path, "an answer with thinking begins with it")

    def _examine_open_loop(self) -> None:
        mode, found, turn = self._mode, self._found, self._turn
        if turn.loop_thought and not mode.may_think:
            found.refuse("anthropic/thinking-while-off", turn.loop_thought, "thinking is off")
        is_open = turn.role != "assistant" and bool(turn.loop_path)
        if mode.thinks_with_budget and is_open and turn.loop_kind not in THOUGHTS:
            found.refuse(
                "anthropic/loop-without-thinking",
                turn.loop_path,
                "with thinking enabled, the answer that began this run of calls starts with thinking",
            )

    def _examine_prefill(self) -> None:
        mode, found, path = self._mode, self._found, self._turn.last_path
        if mode.thinks or not mode.prefill:
            found.refuse("anthropic/prefill", path, "this request may not end on an answer")
        elif self._turn.last_text[-1:].isspace():
            found.refuse("anthropic/prefill-whitespace", path, "the beginning of an answer may not end with whitespace")
        else:
            found.risk("anthropic/ends-on-answer", path, "the last message should be from the user")


def _marks_of(blocks: Json) -> int:
    """How many of the blocks, or tools, carry a cache mark."""
    if not is_list(blocks):
        return 0
    return sum([is_object(block) and block.get("cache_control") is not None for block in blocks])
