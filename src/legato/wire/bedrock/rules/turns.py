"""Judge the messages of a Converse body as turns.

In:  messages, and what the model takes.
Out: findings about roles, order, pairing, the place of reasoning, and how the request ends.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from msgspec import Struct

from legato.model import Json, JsonObject
from legato.wire.bedrock.rules.blocks import BlockJudge
from legato.wire.judging import Findings, Pairing, brief, is_list, is_object

_ROLES = frozenset({"user", "assistant"})
_MAX_MARKS = 4


@dataclass(frozen=True, slots=True)
class JudgingMode:
    """What the body asks for, and what the model takes."""

    thinks_with_budget: bool
    words_beside_results: bool
    videos: bool


class _Turn(Struct):
    """Where the judge stands: what it knows of the message before, and of the run of calls that it belongs to."""

    role: str = ""
    last_kind: str = ""
    has_results: bool = False
    loop_kind: str = ""
    loop_path: str = ""
    """the first block of the answer that began the latest run of calls and results"""


class TurnJudge:
    """Reads the messages in order; `end` comes after the last one."""

    def __init__(self, mode: JudgingMode, found: Findings) -> None:
        self._mode = mode
        self._found = found
        self._pairing = Pairing("bedrock", found)
        self._blocks = BlockJudge(self._pairing, found, videos=mode.videos)
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
        path = f"messages[{index}]"
        role = message.get("role") if is_object(message) else None
        if not is_object(message):
            self._found.refuse("bedrock/message-form", path, "a message is an object")
            return
        if not isinstance(role, str) or role not in _ROLES:
            self._found.refuse("bedrock/unknown-role", f"{path}.role", f"there is no role {brief(role)}")
            return
        self._begin(index, role)
        content = message.get("content")
        if not is_list(content) or not content:
            self._found.refuse("bedrock/content-form", f"{path}.content", "it is an array with at least one block")
            return
        kinds = [self._blocks.block(f"{path}.content[{at}]", role, block) for at, block in enumerate(content)]
        if role == "assistant":
            self._examine_answer(f"{path}.content", kinds)
        else:
            self._examine_human(f"{path}.content", kinds)

    def end(self, fields: JsonObject) -> None:
        """Judge how the request ends, and what never was answered."""
        self._pairing.end()
        turn, found = self._turn, self._found
        if turn.role == "assistant":
            found.risk("bedrock/ends-on-answer", "messages", "the last message should be from the user")
        if self._mode.thinks_with_budget and turn.has_results and turn.loop_kind != "reasoningContent":
            found.refuse(
                "bedrock/loop-without-reasoning",
                turn.loop_path,
                "with thinking enabled, the answer that began this run of calls starts with reasoning",
            )
        if self._blocks.uses_tools and not fields.get("toolConfig"):
            found.refuse("bedrock/tools-undefined", "toolConfig", "the history holds calls, so tools must be defined")
        if self._blocks.marks > _MAX_MARKS:
            found.refuse("bedrock/cache-marks", "messages", f"{self._blocks.marks} cache marks; {_MAX_MARKS} are taken")

    def _begin(self, index: int, role: str) -> None:
        turn = self._turn
        if role == turn.role:
            self._found.refuse(
                "bedrock/neighbours", f"messages[{index}]", f"two messages of the {role} follow each other"
            )
        elif not turn.role and role == "assistant":
            self._found.refuse("bedrock/first-message", f"messages[{index}]", "the first message is from the user")
        if role == "assistant":
            if turn.role == "user":
                self._pairing.close()
            if not turn.has_results:
                turn.loop_path, turn.loop_kind = f"messages[{index}]", ""
        turn.role = role

    def _examine_answer(self, path: str, kinds: list[str]) -> None:
        turn = self._turn
        turn.has_results = False
        turn.loop_kind = turn.loop_kind or kinds[0]
        if kinds[-1] == "reasoningContent":
            last = f"{path}[{len(kinds) - 1}]"
            self._found.refuse("bedrock/reasoning-last", last, "an answer does not end with reasoning")
        for at, (kind, following) in enumerate(pairwise(kinds), 1):
            if kind == "toolUse" and following == "text":
                self._found.risk("bedrock/text-after-call", f"{path}[{at}]", "text comes before the calls of an answer")

    def _examine_human(self, path: str, kinds: list[str]) -> None:
        said = [kind for kind in kinds if kind != "cachePoint"]
        self._turn.has_results = "toolResult" in said
        if self._turn.has_results:
            first = next((at for at, kind in enumerate(kinds) if kind not in ("toolResult", "cachePoint")), len(kinds))
            late = next((at for at in range(first, len(kinds)) if kinds[at] == "toolResult"), None)
            if late is not None:
                self._found.refuse("bedrock/result-not-first", f"{path}[{late}]", "results come before everything else")
            if first < len(kinds) and not self._mode.words_beside_results:
                self._found.refuse(
                    "bedrock/words-beside-results", f"{path}[{first}]", "this model takes nothing beside results"
                )
        else:
            self._pairing.close()
        if "document" in said and "text" not in said:
            self._found.refuse("bedrock/document-alone", path, "a message with a document also holds a text")
