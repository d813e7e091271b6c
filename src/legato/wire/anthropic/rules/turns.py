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
from legato.wire.anthropic.rules.blocks import CONTENT_FORM, THOUGHTS, BlockJudge
from legato.wire.anthropic.rules.pairs import PAIRS
from legato.wire.anthropic.rules.sources import API, NO_RESULT, OPUS, THINKING
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.judging_pairs import Pairing
from legato.wire.rules import OBSERVED, refused, risky

_PREFILLED = "anthropic/claude-3-haiku-20240307"
_MID_SYSTEM = "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages"
_PREFILL = "https://platform.claude.com/docs/en/build-with-claude/working-with-messages"

MESSAGE_FORM = refused(
    "anthropic/message-form",
    "Each message is an object.",
    source=API,
)
FIRST_MESSAGE = risky(
    "anthropic/first-message",
    "The first message is from the user; other ones were refused and were also seen accepted.",
    source=("lobehub/lobehub#1601", OBSERVED),
    error='first message must use the "user" role',
)
UNKNOWN_ROLE = refused(
    "anthropic/unknown-role",
    "A message's role is `user` or `assistant`.",
    source=API,
)
SYSTEM_ROLE = refused(
    "anthropic/system-role",
    "Instructions go to the top-level `system`; only newer models take them among the messages.",
    source="Maol-1997/cursor-claude-connector#3",
    error=(
        'Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
        "as an input message role"
    ),
)
SYSTEM_PLACE = refused(
    "anthropic/system-place",
    "An instruction among the messages follows a turn of the user and is last or stands before an "
    "answer; never two in a row, never between calls and results.",
    source=_MID_SYSTEM,
    route=OPUS,
)
EXTRA_FIELD = refused(
    "anthropic/extra-field",
    "A message holds `role` and `content`, nothing else.",
    source="microsoft/autogen#3034",
    error="Extra inputs are not permitted",
)
# The API itself joins them; Bedrock wants roles to alternate (Portkey-AI/gateway#748).
NEIGHBOURS = risky(
    "anthropic/neighbours",
    "Neighbouring messages have different roles: the API joins them, other hosts of the same models refuse them.",
    source=(API, "Portkey-AI/gateway#748"),
)
EMPTY_MESSAGE = refused(
    "anthropic/empty-message",
    "No message is empty, except a final one of the assistant.",
    source="anthropics/claude-code#6774",
    error="all messages must have non-empty content except for the optional final assistant message",
)
CACHE_MARKS = refused(
    "anthropic/cache-marks",
    "A request has at most four `cache_control` marks.",
    source="continuedev/continue#6937",
    error="A maximum of 4 blocks with cache_control may be provided",
)
RESULT_NOT_FIRST = refused(
    "anthropic/result-not-first",
    "The results are the first blocks of their message; text and images come after all of them.",
    source="anthropics/anthropic-sdk-typescript#653",
    error=NO_RESULT,
)
# The refusal speaks of missing results, though they are there: the text is between the calls and them.
TEXT_AFTER_CALL = refused(
    "anthropic/text-after-call",
    "The text of an answer stands before its calls.",
    source=("dust-tt/dust#17113", "Zoo-Code-Org/Zoo-Code#1705"),
    error=NO_RESULT,
)
TOOLS_UNDEFINED = risky(
    "anthropic/tools-undefined",
    "A request whose history holds calls or results defines tools; without them it was refused and also accepted.",
    source=("earendil-works/pi#149", "BerriAI/litellm#24712", OBSERVED),
    error="Requests which include `tool_use` or `tool_result` blocks must define tools",
)
THINKING_NOT_FIRST = refused(
    "anthropic/thinking-not-first",
    "A message that holds thinking begins with it.",
    source=THINKING,
    error="Expected `thinking` or `redacted_thinking`, but found `text`",
)
THINKING_LAST = refused(
    "anthropic/thinking-last",
    "Thinking is not the last block of an answer.",
    source="tailcallhq/forgecode#2107",
    error="The final block in an assistant message cannot be `thinking`",
)
LOOP_WITHOUT_THINKING = refused(
    "anthropic/loop-without-thinking",
    "With thinking enabled, when the last message holds results, whatever stands beside them, the answer that "
    "began this run of calls starts with thinking.",
    source=("mastra-ai/mastra#7799", "Kilo-Org/kilocode#5219", "router-for-me/CLIProxyAPI#702"),
    error="Expected `thinking` or `redacted_thinking`, but found `tool_use`",
)
THINKING_WHILE_OFF = refused(
    "anthropic/thinking-while-off",
    "With thinking off, neither a final answer nor those of an open run of calls hold thinking.",
    source=("tailcallhq/forgecode#1853", "microsoft/vscode#282326"),
    error="When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
)
# Anthropic's own API takes calls without thoughts; some of the other servers that speak Messages do not.
THINKING_MISSING = refused(
    "anthropic/thinking-missing",
    "Where a host demands it (DeepSeek, Kimi): with thinking on, each answer with calls holds thinking, and if there "
    "was none, a block with a blank text and an empty signature.",
    source=("QwenLM/qwen-code#3788", "NousResearch/hermes-agent#14018"),
    error="The `content[].thinking` in the thinking mode must be passed back to the API.",
    route="deepseek-anthropic/deepseek-v4-pro",
)
PREFILL = refused(
    "anthropic/prefill",
    "A request does not end on text of the assistant; only old models continue it, and only with thinking off.",
    source="ericc-ch/copilot-api#261",
    error="This model does not support assistant message prefill",
    route="anthropic/claude-sonnet-4-6",
)
PREFILL_WHITESPACE = refused(
    "anthropic/prefill-whitespace",
    "Text that the model is to continue does not end with whitespace.",
    source="tailcallhq/forgecode#1872",
    error="final assistant content cannot end with trailing whitespace",
    route=_PREFILLED,
)
ENDS_ON_ANSWER = risky(
    "anthropic/ends-on-answer",
    "The last message is from the user.",
    source=_PREFILL,
    route=_PREFILLED,
)

_ROLES = frozenset({"user", "assistant", "system"})
_FIELDS = frozenset({"role", "content"})
_MAX_MARKS = 4  # see CACHE_MARKS


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
    demands_thoughts: bool
    """whether an answer with calls needs a thought while thinking is on; such a server takes one without a signature"""


class _Turn(Struct):
    """Where the judge is: what it knows of the turn so far, and of the run of calls that it belongs to."""

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
        self._pairing = Pairing(PAIRS, found)
        self._blocks = BlockJudge(self._pairing, found, takes_unsigned=mode.demands_thoughts)
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
            self._found.report(EMPTY_MESSAGE, turn.empty_path, "a message may not be empty")
            turn.empty_path = ""
        if not is_object(message):
            self._found.report(MESSAGE_FORM, f"messages[{index}]", "a message is an object")
            return
        role = message.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            self._found.report(
                UNKNOWN_ROLE,
                f"messages[{index}].role",
                f"there is no role {brief(role)}",
            )
            return
        for field in message:
            if field not in _FIELDS:
                self._found.report(
                    EXTRA_FIELD, f"messages[{index}].{field}", "a message holds `role` and `content` only"
                )
        if role == turn.role:
            if role == "system":
                self._refuse_system(index, "two instructions stand in a row")
            else:
                self._found.report(NEIGHBOURS, f"messages[{index}]", f"two messages of the {role} stand in a row")
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
            found.report(TOOLS_UNDEFINED, "tools", "the history holds calls, so tools should be defined")
        marks = blocks.marks + _marks_of(fields.get("system")) + _marks_of(fields.get("tools"))
        if marks > _MAX_MARKS:
            found.report(CACHE_MARKS, "", f"{marks} cache marks; {_MAX_MARKS} are taken")

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
            self._found.report(FIRST_MESSAGE, "messages[0]", "the first message should be from the user")
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
            self._found.report(THINKING_LAST, self._turn.last_path, "an answer does not end with thinking")

    def _examine_system(self, index: int, before: str) -> None:
        if not self._mode.middle_system:
            self._found.report(SYSTEM_ROLE, f"messages[{index}].role", "instructions go to the top-level `system`")
        elif before != "user":
            self._refuse_system(index, "an instruction follows a turn of the user")

    def _refuse_system(self, index: int, reason: str) -> None:
        if self._mode.middle_system:
            self._found.report(SYSTEM_PLACE, f"messages[{index}]", reason)

    # --- content ---

    def _examine_content(self, index: int, role: str, message: JsonObject) -> None:
        content = message.get("content")
        path = f"messages[{index}].content"
        if content is None or content in ("", []):
            if role == "assistant":
                self._turn.empty_path = f"messages[{index}]"
            else:
                self._found.report(EMPTY_MESSAGE, f"messages[{index}]", "a message may not be empty")
        elif isinstance(content, str):
            self._blocks.text(path, content)
            self._note(role, "text", path)
            self._turn.last_text = content
        elif is_list(content):
            self._examine_blocks(path, role, content)
        else:
            self._found.report(CONTENT_FORM, path, "content is a string or an array of blocks")

    def _examine_blocks(self, path: str, role: str, content: list[Json]) -> None:
        first = ""
        thinks, calls = False, False
        for index, block in enumerate(content):
            block_path = f"{path}[{index}]"
            kind = self._blocks.block(block_path, role, block)
            thinks, calls = thinks or kind in THOUGHTS, calls or kind == "tool_use"
            if index == 0:
                first = kind
            elif kind in THOUGHTS and first not in THOUGHTS and role == "assistant":
                self._examine_late_thought(block_path)
            if kind == "tool_result" and role == "user" and self._turn.has_others:
                self._found.report(RESULT_NOT_FIRST, block_path, "results stand before everything else in the message")
            self._note(role, kind, block_path)
        if calls and not thinks and self._mode.demands_thoughts and self._mode.may_think:
            message = path.removesuffix(".content")
            self._found.report(THINKING_MISSING, message, "with thinking on, calls follow a thought")
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
                self._found.report(TEXT_AFTER_CALL, path, "text stands before the calls of an answer")
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
            self._found.report(THINKING_NOT_FIRST, path, "an answer with thinking begins with it")

    def _examine_open_loop(self) -> None:
        mode, found, turn = self._mode, self._found, self._turn
        if turn.loop_thought and not mode.may_think:
            found.report(THINKING_WHILE_OFF, turn.loop_thought, "thinking is off")
        is_open = turn.role != "assistant" and bool(turn.loop_path)
        if mode.thinks_with_budget and is_open and turn.loop_kind not in THOUGHTS:
            found.report(
                LOOP_WITHOUT_THINKING,
                turn.loop_path,
                "with thinking enabled, the answer that began this run of calls starts with thinking",
            )

    def _examine_prefill(self) -> None:
        mode, found, path = self._mode, self._found, self._turn.last_path
        if mode.thinks or not mode.prefill:
            found.report(PREFILL, path, "this request may not end on an answer")
        elif self._turn.last_text[-1:].isspace():
            found.report(PREFILL_WHITESPACE, path, "the beginning of an answer may not end with whitespace")
        else:
            found.report(ENDS_ON_ANSWER, path, "the last message should be from the user")


def _marks_of(blocks: Json) -> int:
    """How many of the blocks, or tools, carry a cache mark."""
    if not is_list(blocks):
        return 0
    return sum([is_object(block) and block.get("cache_control") is not None for block in blocks])
