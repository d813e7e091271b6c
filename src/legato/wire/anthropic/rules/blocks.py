"""Judge the blocks of a Messages body one by one: what each must hold, and in whose messages it may stand."""

from __future__ import annotations

import re
from typing import Any

from legato.model import Json, JsonObject
from legato.wire.judging import Findings, Grown, Pairing, brief, is_list, is_object, shrink

THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_OF_ASSISTANT = frozenset({"tool_use", *THOUGHTS})
_OF_USER = frozenset({"tool_result", "image", "document"})
_HOSTED_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT_PARTS = frozenset({"text", "image", "document", "search_result", "tool_reference"})
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_MAX_NAME = 200


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in `text`; stops at the first character that is no space."""
    return not text or text.isspace()


class BlockJudge:
    """Judges blocks; tells `pairing` about calls and results, and counts cache marks."""

    def __init__(self, pairing: Pairing, found: Findings) -> None:
        self._pairing = pairing
        self._found = found
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
        """Something other than a result stands in a message of the user: what still waits never gets its result."""
        for call_id, path in self._waiting.items():
            if call_id in self._callers:
                self._found.risk(
                    "anthropic/code-interrupted", path, "only results may follow while code that called tools waits"
                )
            else:
                self._found.refuse(
                    "anthropic/server-tool-open", path, f"the server tool {brief(call_id)} never gets its result"
                )
        self._waiting.clear()

    def block(self, path: str, role: str, block: Json) -> str:
        """Judge the block at `path`; its type, or an empty string if it has none."""
        kind = block.get("type") if is_object(block) else None
        if not is_object(block) or not isinstance(kind, str):
            self._found.refuse("anthropic/content-form", path, "a block is an object with a `type`")
            return ""
        if block.get("cache_control") is not None:
            self.marks += 1
        if (kind in _OF_ASSISTANT and role != "assistant") or (kind in _OF_USER and role == "assistant"):
            self._found.refuse("anthropic/block-place", path, f"a {kind} block cannot be in a message of the {role}")
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
            self._found.refuse("anthropic/blank-text", path, "a text holds something other than whitespace")

    def _call(self, path: str, block: JsonObject) -> None:
        self.uses_tools = True
        call_id, name, caller = block.get("id"), block.get("name"), block.get("caller")
        if is_object(caller) and isinstance(tool_id := caller.get("tool_id"), str):
            self._callers[tool_id] = None
        if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
            self._found.refuse("anthropic/id-form", f"{path}.id", f"{brief(call_id)} is not made of `[a-zA-Z0-9_-]`")
        elif not call_id.startswith("toolu_"):
            self._found.risk("anthropic/id-habit", f"{path}.id", f"{brief(call_id)} does not begin with `toolu_`")
        if isinstance(call_id, str):
            self._pairing.call(call_id, path)
        if not is_object(block.get("input")):
            self._found.refuse("anthropic/input-form", f"{path}.input", "the input of a call is an object")
        if not isinstance(name, str) or not 1 <= len(name) <= _MAX_NAME:
            self._found.refuse("anthropic/name-form", f"{path}.name", "a name has 1 to 200 characters")

    def _result(self, path: str, block: JsonObject) -> None:
        self.uses_tools = True
        call_id, content = block.get("tool_use_id"), block.get("content")
        if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
            self._found.refuse(
                "anthropic/id-form", f"{path}.tool_use_id", f"{brief(call_id)} is not made of `[a-zA-Z0-9_-]`"
            )
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
            self._found.refuse("anthropic/result-content", f"{path}.content", "it is a string or an array of blocks")
        if blanks == parts and is_error:
            self._found.refuse("anthropic/empty-error", f"{path}.content", "a failed call says what failed")
        elif blanks or not parts:
            self._found.risk("anthropic/empty-result", f"{path}.content", "an empty result should say that it is empty")

    def _is_blank_part(self, path: str, part: Json) -> bool:
        kind = part.get("type") if is_object(part) else None
        if not is_object(part) or not isinstance(kind, str) or kind not in _RESULT_PARTS:
            self._found.refuse("anthropic/result-content", path, f"{brief(kind)} is no block for a result")
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
            is_whole = isinstance(block.get("thinking"), str) and isinstance(signature, str) and bool(signature)
        if not is_whole:
            self._found.refuse(
                "anthropic/thinking-unsigned", path, "thinking keeps its text and signature, redacted thinking its data"
            )

    def _hosted_call(self, path: str, kind: str, call_id: Json) -> None:
        if kind == "server_tool_use" and not (isinstance(call_id, str) and _SERVER_ID.fullmatch(call_id)):
            self._found.refuse(
                "anthropic/server-tool-id", f"{path}.id", f"{brief(call_id)} does not begin with `srvtoolu_`"
            )
        if isinstance(call_id, str):
            self._hosted[call_id] = None
            if kind == "server_tool_use":
                self._waiting[call_id] = path

    def _hosted_result(self, path: str, call_id: Json) -> None:
        if isinstance(call_id, str):
            self._waiting.pop(call_id, None)
        if not isinstance(call_id, str) or call_id not in self._hosted:
            self._found.risk("anthropic/server-result-alone", path, "no call of a server tool before it has this id")
