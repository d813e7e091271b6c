"""Judge the blocks of a Messages body one by one: what each must hold, and in whose messages it may be."""

from __future__ import annotations

import re
from typing import Any

from legato.model import Json, JsonObject
from legato.wire.anthropic.rules.sources import API, TOOL_USE
from legato.wire.judging import Findings, Grown, brief, is_list, is_object, shrink
from legato.wire.judging_pairs import Pairing
from legato.wire.rules import refused, risky

_STOP_REASONS = "https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"
_PROGRAMMATIC = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling"

CONTENT_FORM = refused(
    "anthropic/content-form",
    "Content is a string or an array of blocks, each an object with a `type`.",
    source=API,
)
BLANK_TEXT = refused(
    "anthropic/blank-text",
    "A text block holds something other than whitespace, in `system` too.",
    source="anthropics/claude-code#23440",
    error="text content blocks must contain non-whitespace text",
)
# Known in these words for results; for other blocks the role is another one.
BLOCK_PLACE = refused(
    "anthropic/block-place",
    "Calls and thinking stand in messages of the assistant; results, images and documents in those of the user.",
    source=TOOL_USE,
    error="`{type}` blocks can only be in `…` messages",
)
ID_FORM = refused(
    "anthropic/id-form",
    "The id of a call is made of letters, digits, `_` and `-`, in the call and in its result.",
    source=("maximhq/bifrost#5097", "BlockRunAI/ClawRouter#17"),
    error="String should match pattern '^[a-zA-Z0-9_-]+$'",
)
ID_HABIT = risky(
    "anthropic/id-habit",
    "The id of a call begins with `toolu_`.",
    source="octos-org/octos#32",
)
INPUT_FORM = refused(
    "anthropic/input-form",
    "The input of a call is an object, `{}` where there is none.",
    source="anthropics/anthropic-sdk-typescript#648",
    error="Input should be a valid dictionary",
)
NAME_FORM = refused(
    "anthropic/name-form",
    "The name of a called tool has 1 to 200 characters.",
    source="anthropics/claude-code#2673",
)
RESULT_CONTENT = refused(
    "anthropic/result-content",
    "The content of a result is a string or blocks of text, image, document, search_result or tool_reference.",
    source=API,
)
EMPTY_ERROR = refused(
    "anthropic/empty-error",
    "A result with `is_error: true` says what went wrong.",
    source="bytedance/trae-agent#231",
    error="content cannot be empty if `is_error` is true",
)
EMPTY_RESULT = risky(
    "anthropic/empty-result",
    "A result is not empty; a short text that says so stands in for nothing.",
    source="zed-industries/zed#27130",
)
SERVER_TOOL_ID = refused(
    "anthropic/server-tool-id",
    "The id of a server tool's call begins with `srvtoolu_`.",
    source="ding113/claude-code-hub#470",
    error="String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
)
SERVER_TOOL_OPEN = refused(
    "anthropic/server-tool-open",
    "A server tool has its result in the same turn. It may still wait for the results of tools that were "
    "called beside it, as long as nothing but them stands in the messages of the user.",
    source=_STOP_REASONS,
    error="`{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block",
)
CODE_INTERRUPTED = risky(
    "anthropic/code-interrupted",
    "While code that the API runs waits for the results of tools that it called, the messages of the user hold "
    "nothing but those results: words end the turn, and the code with it.",
    source=_PROGRAMMATIC,
)
SERVER_RESULT_ALONE = risky(
    "anthropic/server-result-alone",
    "The result of a server tool follows its call, in messages of the assistant.",
    source="anthropics/claude-code#65726",
    error="unexpected `tool_use_id` found in `{type}` blocks: {id}",
)
THINKING_UNSIGNED = refused(
    "anthropic/thinking-unsigned",
    "A thinking block keeps its text and its signature, a redacted one its data; those of another "
    "vendor cannot be sent.",
    source="anthropics/anthropic-sdk-python#1598",
    error="thinking.signature: Field required",
)


THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_OF_ASSISTANT = frozenset({"tool_use", *THOUGHTS})
_OF_USER = frozenset({"tool_result", "image", "document"})
_HOSTED_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT_PARTS = frozenset({"text", "image", "document", "search_result", "tool_reference"})
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_MAX_NAME = 200  # see NAME_FORM


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in `text`; stops at the first character that is no space."""
    return not text or text.isspace()


class BlockJudge:
    """Judges blocks; tells `pairing` about calls and results, and counts cache marks."""

    def __init__(self, pairing: Pairing, found: Findings, *, takes_unsigned: bool) -> None:
        self._pairing = pairing
        self._found = found
        self._takes_unsigned = takes_unsigned
        self._hosted: Grown = {}
        self._waiting: dict[str, str] = {}
        """calls of server tools that have no result yet, with their paths"""
        self._callers: Grown = {}
        """server tools whose code calls tools of the client"""
        self.marks = 0
        self.uses_tools = False

    def save(self) -> Any:
        """The state, for `restore`."""
        lengths = len(self._hosted), len(self._callers)
        return lengths, self._waiting.copy(), self.marks, self.uses_tools

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        (hosted, callers), waiting, self.marks, self.uses_tools = saved
        self._waiting = waiting.copy()
        shrink(self._hosted, hosted)
        shrink(self._callers, callers)

    def interrupt(self) -> None:
        """Something other than a result is in a message of the user: what still waits never gets its result."""
        for call_id, path in self._waiting.items():
            if call_id in self._callers:
                self._found.report(CODE_INTERRUPTED, path, "only results may follow while code that called tools waits")
            else:
                self._found.report(SERVER_TOOL_OPEN, path, f"the server tool {brief(call_id)} never gets its result")
        self._waiting.clear()

    def block(self, path: str, role: str, block: Json) -> str:
        """Judge the block at `path`; its type, or an empty string if it has none."""
        kind = block.get("type") if is_object(block) else None
        if not is_object(block) or not isinstance(kind, str):
            self._found.report(CONTENT_FORM, path, "a block is an object with a `type`")
            return ""
        if block.get("cache_control") is not None:
            self.marks += 1
        if (kind in _OF_ASSISTANT and role != "assistant") or (kind in _OF_USER and role == "assistant"):
            self._found.report(BLOCK_PLACE, path, f"a {kind} block cannot be in a message of the {role}")
        elif kind == "text":
            self.text(path, block.get("text"))
        elif kind == "tool_use":
            self._call(path, block)
        elif kind == "tool_result":
            self._result(path, block)
        elif kind in THOUGHTS:
            self._thought(path, kind, block)
        elif kind in _HOSTED_CALLS:
            self._hosted_call(path, kind, block.get("id"))
        elif kind.endswith("_tool_result"):
            self._hosted_result(path, block.get("tool_use_id"))
        return kind

    def text(self, path: str, text: Json) -> None:
        """Judge the text of a block, or a content that is only text."""
        if not isinstance(text, str) or is_blank(text):
            self._found.report(BLANK_TEXT, path, "a text holds something other than whitespace")

    def _call(self, path: str, block: JsonObject) -> None:
        self.uses_tools = True
        call_id, name, caller = block.get("id"), block.get("name"), block.get("caller")
        if is_object(caller) and isinstance(tool_id := caller.get("tool_id"), str):
            self._callers[tool_id] = None
        if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
            self._found.report(ID_FORM, f"{path}.id", f"{brief(call_id)} is not made of `[a-zA-Z0-9_-]`")
        elif not call_id.startswith("toolu_"):
            self._found.report(ID_HABIT, f"{path}.id", f"{brief(call_id)} does not begin with `toolu_`")
        if isinstance(call_id, str):
            self._pairing.call(call_id, path)
        if not is_object(block.get("input")):
            self._found.report(INPUT_FORM, f"{path}.input", "the input of a call is an object")
        if not isinstance(name, str) or not 1 <= len(name) <= _MAX_NAME:
            self._found.report(NAME_FORM, f"{path}.name", "a name has 1 to 200 characters")

    def _result(self, path: str, block: JsonObject) -> None:
        self.uses_tools = True
        call_id, content = block.get("tool_use_id"), block.get("content")
        if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
            self._found.report(ID_FORM, f"{path}.tool_use_id", f"{brief(call_id)} is not made of `[a-zA-Z0-9_-]`")
        if isinstance(call_id, str):
            self._pairing.result(call_id, path)
        self._result_content(path, content, is_error=block.get("is_error") is True)

    def _result_content(self, path: str, content: Json, *, is_error: bool) -> None:
        parts, blanks = 1, 0
        if isinstance(content, str):
            blanks = is_blank(content)
        elif is_list(content):
            parts = len(content)
            blanks = sum([self._is_blank_part(f"{path}.content[{index}]", part) for index, part in enumerate(content)])
        elif content is None:
            parts = 0
        else:
            self._found.report(RESULT_CONTENT, f"{path}.content", "it is a string or an array of blocks")
        if blanks == parts and is_error:
            self._found.report(EMPTY_ERROR, f"{path}.content", "a failed call says what failed")
        elif blanks or not parts:
            self._found.report(EMPTY_RESULT, f"{path}.content", "an empty result should say that it is empty")

    def _is_blank_part(self, path: str, part: Json) -> bool:
        kind = part.get("type") if is_object(part) else None
        if not is_object(part) or not isinstance(kind, str) or kind not in _RESULT_PARTS:
            self._found.report(RESULT_CONTENT, path, f"{brief(kind)} is no block for a result")
            return False
        if part.get("cache_control") is not None:
            self.marks += 1
        text = part.get("text")
        return kind == "text" and (not isinstance(text, str) or is_blank(text))

    def _thought(self, path: str, kind: str, block: JsonObject) -> None:
        if kind == "redacted_thinking":
            is_whole = isinstance(block.get("data"), str) and bool(block["data"])
        else:
            signature = block.get("signature")
            is_signed = isinstance(signature, str) and (bool(signature) or self._takes_unsigned)
            is_whole = isinstance(block.get("thinking"), str) and is_signed
        if not is_whole:
            self._found.report(
                THINKING_UNSIGNED, path, "thinking keeps its text and signature, redacted thinking its data"
            )

    def _hosted_call(self, path: str, kind: str, call_id: Json) -> None:
        if kind == "server_tool_use" and not (isinstance(call_id, str) and _SERVER_ID.fullmatch(call_id)):
            self._found.report(SERVER_TOOL_ID, f"{path}.id", f"{brief(call_id)} does not begin with `srvtoolu_`")
        if isinstance(call_id, str):
            self._hosted[call_id] = None
            if kind == "server_tool_use":
                self._waiting[call_id] = path

    def _hosted_result(self, path: str, call_id: Json) -> None:
        if isinstance(call_id, str):
            self._waiting.pop(call_id, None)
        if not isinstance(call_id, str) or call_id not in self._hosted:
            self._found.report(SERVER_RESULT_ALONE, path, "no call of a server tool before it has this id")
