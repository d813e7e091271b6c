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
from legato.wire.bedrock.rules.pairs import PAIRS
from legato.wire.bedrock.rules.sources import BLOCK, CACHE, MESSAGE, THINKING, TOOL_USE, UNPAIRED, invalid
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.judging_pairs import Pairing
from legato.wire.rules import risky

_LLAMA = "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0"

MESSAGE_FORM = invalid("bedrock/message-form", "Each message is an object.", source=MESSAGE)
UNKNOWN_ROLE = invalid("bedrock/unknown-role", "A message's role is `user` or `assistant`.", source=MESSAGE)
FIRST_MESSAGE = invalid(
    "bedrock/first-message",
    "The first message is from the user.",
    source="Portkey-AI/gateway#748",
    error=(
        "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    ),
)
NEIGHBOURS = invalid(
    "bedrock/neighbours",
    "User and assistant take turns.",
    source="Portkey-AI/gateway#748",
    error=(
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates "
        "between user and assistant roles and try again."
    ),
)
CONTENT_FORM = invalid(
    "bedrock/content-form", "`content` is an array with at least one block, and so is `system`.", source=MESSAGE
)
ENDS_ON_ANSWER = risky("bedrock/ends-on-answer", "The last message is from the user.", source=MESSAGE)
RESULT_NOT_FIRST = invalid("bedrock/result-not-first", "Results come first in their message.", source=UNPAIRED)
WORDS_BESIDE_RESULTS = invalid(
    "bedrock/words-beside-results",
    "Some families of models (Llama, Mistral) take a message of results with nothing beside them.",
    source="langchain-ai/langchain-aws#141",
    error="Conversation blocks and tool result blocks cannot be provided in the same turn.",
    route=_LLAMA,
)
TEXT_AFTER_CALL = risky("bedrock/text-after-call", "Text comes before the calls of an answer.", source=TOOL_USE)
TOOLS_UNDEFINED = invalid(
    "bedrock/tools-undefined",
    "When the history holds calls or results, `toolConfig` is set.",
    source="vxcontrol/pentagi#196",
    error="The toolConfig field must be defined when using toolUse and toolResult content blocks.",
)
REASONING_LAST = invalid("bedrock/reasoning-last", "An answer does not end with reasoning.", source=THINKING)
LOOP_WITHOUT_REASONING = invalid(
    "bedrock/loop-without-reasoning",
    "With thinking enabled, the answer that began an open run of calls starts with reasoning.",
    source=THINKING,
    error=(
        "The model returned the following errors: messages.{index}.content.0.type: Expected `thinking` or "
        "`redacted_thinking`, but found `tool_use`."
    ),
)
DOCUMENT_ALONE = invalid("bedrock/document-alone", "A message with a document also holds a text.", source=BLOCK)
CACHE_MARKS = invalid("bedrock/cache-marks", "At most four cache points are among the messages.", source=CACHE)

_ROLES = frozenset({"user", "assistant"})
_MAX_MARKS = 4  # see CACHE_MARKS


@dataclass(frozen=True, slots=True)
class JudgingMode:
    """What the body asks for, and what the model takes."""

    thinks_with_budget: bool
    words_beside_results: bool
    videos: bool


class _Turn(Struct):
    """Where the judge is: what it knows of the message before, and of the run of calls that it belongs to."""

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
        self._pairing = Pairing(PAIRS, found)
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
            self._found.report(MESSAGE_FORM, path, "a message is an object")
            return
        if not isinstance(role, str) or role not in _ROLES:
            self._found.report(UNKNOWN_ROLE, f"{path}.role", f"there is no role {brief(role)}")
            return
        self._begin(index, role)
        content = message.get("content")
        if not is_list(content) or not content:
            self._found.report(CONTENT_FORM, f"{path}.content", "it is an array with at least one block")
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
            found.report(ENDS_ON_ANSWER, "messages", "the last message should be from the user")
        if self._mode.thinks_with_budget and turn.has_results and turn.loop_kind != "reasoningContent":
            found.report(
                LOOP_WITHOUT_REASONING,
                turn.loop_path,
                "with thinking enabled, the answer that began this run of calls starts with reasoning",
            )
        if self._blocks.uses_tools and not fields.get("toolConfig"):
            found.report(TOOLS_UNDEFINED, "toolConfig", "the history holds calls, so tools must be defined")
        if self._blocks.marks > _MAX_MARKS:
            found.report(CACHE_MARKS, "messages", f"{self._blocks.marks} cache marks; {_MAX_MARKS} are taken")

    def _begin(self, index: int, role: str) -> None:
        turn = self._turn
        if role == turn.role:
            self._found.report(NEIGHBOURS, f"messages[{index}]", f"two messages of the {role} follow each other")
        elif not turn.role and role == "assistant":
            self._found.report(FIRST_MESSAGE, f"messages[{index}]", "the first message is from the user")
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
            self._found.report(REASONING_LAST, last, "an answer does not end with reasoning")
        for at, (kind, following) in enumerate(pairwise(kinds), 1):
            if kind == "toolUse" and following == "text":
                self._found.report(TEXT_AFTER_CALL, f"{path}[{at}]", "text comes before the calls of an answer")

    def _examine_human(self, path: str, kinds: list[str]) -> None:
        said = [kind for kind in kinds if kind != "cachePoint"]
        self._turn.has_results = "toolResult" in said
        if self._turn.has_results:
            first = next((at for at, kind in enumerate(kinds) if kind not in ("toolResult", "cachePoint")), len(kinds))
            late = next((at for at in range(first, len(kinds)) if kinds[at] == "toolResult"), None)
            if late is not None:
                self._found.report(RESULT_NOT_FIRST, f"{path}[{late}]", "results come before everything else")
            if first < len(kinds) and not self._mode.words_beside_results:
                self._found.report(WORDS_BESIDE_RESULTS, f"{path}[{first}]", "this model takes nothing beside results")
        else:
            self._pairing.close()
        if "document" in said and "text" not in said:
            self._found.report(DOCUMENT_ALONE, path, "a message with a document also holds a text")
