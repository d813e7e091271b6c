"""Judge the messages of a Messages body as turns.

In:  `messages`, whether thinking is on, and whether the model takes a prefill and instructions in the middle.
Out: findings about roles, order, pairing, the place of thinking, and how the request ends.

The API joins neighbouring messages of one role, so a turn here may be several messages: pairing, the place of results
and the end of thinking are judged over the turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from legato.model import Json, JsonObject
from legato.wire.anthropic.rules.blocks import THOUGHTS, BlockJudge
from legato.wire.judging import Findings, Pairing, brief, is_list, is_object

_ROLES = frozenset({"user", "assistant", "system"})
_FIELDS = frozenset({"role", "content"})


@dataclass(frozen=True, slots=True)
class Mode:
    """What the body asks for, and what the model takes."""

    thinks: bool
    """thinking is on, in whichever way"""
    thinks_with_budget: bool
    """it is on in the way that checks the order of blocks"""
    may_think: bool
    """on, or on by the model's own habit"""
    prefill: bool
    middle_system: bool


class TurnJudge:
    """Reads the messages in order; `end` comes after the last one."""

    def __init__(self, mode: Mode, count: int, found: Findings) -> None:
        self._mode = mode
        self._count = count
        self._found = found
        self._pairing = Pairing("anthropic", found)
        self.blocks = BlockJudge(self._pairing, found)
        self._role = ""
        # The turn so far.
        self._last_kind, self._last_path, self._last_text = "", "", ""
        self._has_results = self._has_others = self._has_thoughts = self._has_calls = False
        self._loop_kind, self._loop_path = "", ""
        """the first block of the answer that began the latest run of calls and results"""

    def message(self, index: int, message: Json) -> None:
        """Judge the message at `index`."""
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
        if role == self._role:
            if role == "system":
                self._refuse_system(index, "two instructions stand in a row")
            else:
                self._found.risk(
                    "anthropic/neighbours", f"messages[{index}]", f"two messages of the {role} stand in a row"
                )
        else:
            self._begin_turn(index, role)
        self._role = role
        self._examine_content(index, role, message)

    def end(self) -> None:
        """Judge how the request ends, and what never was answered."""
        self._pairing.end()
        self._end_turn()
        mode, found = self._mode, self._found
        if self._role == "assistant":
            if self._has_thoughts and not mode.may_think:
                found.refuse("anthropic/thinking-while-off", self._last_path, "thinking is off")
            if self._last_kind == "text":
                self._examine_prefill()
        elif (
            mode.thinks_with_budget
            and self._has_results
            and not self._has_others
            and self._loop_kind not in THOUGHTS
            and self._loop_path
        ):
            found.refuse(
                "anthropic/loop-without-thinking",
                self._loop_path,
                "with thinking enabled, the answer that began this run of calls starts with thinking",
            )

    # --- turns ---

    def _begin_turn(self, index: int, role: str) -> None:
        before = self._role
        self._end_turn()
        if before == "user":
            self._pairing.close()
        if role == "system":
            self._examine_system(index, before)
            return
        if before == "system" and role == "user":
            self._refuse_system(index - 1, "an instruction is last, or stands before an answer")
        if not before and role == "assistant" and index == 0:
            self._found.refuse("anthropic/first-message", "messages[0]", "the first message is from the user")
        if role == "assistant":
            if not self._has_results or self._has_others:  # words beside the results begin a new loop
                self._loop_path = f"messages[{index}]"
                self._loop_kind = ""
            self._has_thoughts = self._has_calls = False
        else:
            self._has_results = self._has_others = False
        self._last_kind = ""

    def _end_turn(self) -> None:
        if self._role == "assistant" and self._last_kind in THOUGHTS:
            self._found.refuse("anthropic/thinking-last", self._last_path, "an answer does not end with thinking")

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
            if role != "assistant" or index + 1 < self._count:
                self._found.refuse("anthropic/empty-message", f"messages[{index}]", "a message may not be empty")
        elif isinstance(content, str):
            self.blocks.text(path, content)
            self._note(role, "text", path)
            self._last_text = content
        elif is_list(content):
            self._examine_blocks(path, role, content)
        else:
            self._found.refuse("anthropic/content-form", path, "content is a string or an array of blocks")

    def _examine_blocks(self, path: str, role: str, content: list[Json]) -> None:
        first = ""
        for index, block in enumerate(content):
            block_path = f"{path}[{index}]"
            kind = self.blocks.block(block_path, role, block)
            if index == 0:
                first = kind
            elif kind in THOUGHTS and first not in THOUGHTS and role == "assistant":
                self._examine_late_thought(block_path)
            if kind == "tool_result" and role == "user" and self._has_others:
                self._found.refuse(
                    "anthropic/result-not-first", block_path, "results stand before everything else in the message"
                )
            self._note(role, kind, block_path)
        last = content[-1]
        text = last.get("text") if is_object(last) else None
        self._last_text = text if isinstance(text, str) else ""

    def _note(self, role: str, kind: str, path: str) -> None:
        if role == "assistant":
            if not self._loop_kind:
                self._loop_kind = kind
            if kind == "tool_use":
                self._has_calls = True
            elif kind == "text" and self._has_calls:
                self._found.refuse("anthropic/text-after-call", path, "text stands before the calls of an answer")
            elif kind in THOUGHTS:
                self._has_thoughts = True
        elif role == "user":
            if kind == "tool_result":
                self._has_results = True
            else:
                self._has_others = True
        self._last_kind, self._last_path = kind, path

    def _examine_late_thought(self, path: str) -> None:
        # Models that think as they see fit also think between other blocks.
        if self._mode.thinks_with_budget or not self._mode.may_think:
            self._found.refuse("anthropic/thinking-not-first", path, "an answer with thinking begins with it")

    def _examine_prefill(self) -> None:
        mode, found, path = self._mode, self._found, self._last_path
        if mode.thinks or not mode.prefill:
            found.refuse("anthropic/prefill", path, "this request may not end on an answer")
        elif self._last_text[-1:].isspace():
            found.refuse("anthropic/prefill-whitespace", path, "the beginning of an answer may not end with whitespace")
        else:
            found.risk("anthropic/ends-on-answer", path, "the last message should be from the user")
