"""Judge the messages of an AI SDK prompt, one after the other.

In:  ModelMessages, one by one.
Out: findings about roles, contents, parts, and the pairing of calls with results.

The SDK checks shapes and pairing itself before it sends, then the provider's own rules apply. A call that the provider
executed has its result in the assistant message and never waits. A call whose approval was answered need not have a
result, and may.
"""

from __future__ import annotations

from typing import Any

from legato.model import Json, JsonObject
from legato.wire.judging import Findings, Pairing, brief, is_list, is_object, shrink

_PARTS: dict[str, frozenset[str]] = {
    "system": frozenset(),
    "user": frozenset({"text", "image", "file"}),
    "assistant": frozenset(
        {"text", "file", "reasoning", "reasoning-file", "custom", "tool-call", "tool-result", "tool-approval-request"}
    ),
    "tool": frozenset({"tool-result", "tool-approval-response"}),
}
_OUTPUTS = frozenset({"text", "json", "error-text", "error-json", "content", "execution-denied"})
_TEXTS = frozenset({"text", "error-text"})


class PromptJudge:
    """Reads the messages in order; `end` comes after the last one."""

    def __init__(self, mode: None, found: Findings) -> None:
        self._found = found
        self._pairing = Pairing("vercel", found)
        self._approvals: dict[str, str] = {}
        """the approvals asked for, to the calls they are about; it only grows"""
        self._asked_again: dict[str, str] = {}
        """those that were asked for again, to the newest call"""

    def save(self) -> Any:
        """The state, for `restore`."""
        return len(self._approvals), self._asked_again.copy(), self._pairing.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        approvals, again, pairing = saved
        shrink(self._approvals, approvals)
        self._asked_again = again.copy()
        self._pairing.restore(pairing)

    def message(self, index: int, message: Json) -> None:
        """Judge the message at `index`."""
        path = f"messages[{index}]"
        role = message.get("role") if is_object(message) else None
        if not is_object(message) or not isinstance(role, str) or role not in _PARTS:
            self._found.refuse(
                "vercel/unknown-role", path, f"a message is an object whose role is one of {', '.join(_PARTS)}"
            )
            return
        if role != "tool":
            self._pairing.close()
        content = message.get("content")
        if is_list(content) and role != "system":
            self._examine_parts(f"{path}.content", role, content)
        elif not isinstance(content, str) or role == "tool":
            self._found.refuse("vercel/content-form", f"{path}.content", _CONTENT_OF[role])

    def end(self, fields: JsonObject) -> None:
        """Judge what never was answered."""
        self._pairing.end()

    def _examine_parts(self, path: str, role: str, parts: list[Json]) -> None:
        has_something = False
        for index, part in enumerate(parts):
            place = f"{path}[{index}]"
            kind = part.get("type") if is_object(part) else None
            if not is_object(part) or not isinstance(kind, str) or kind not in _PARTS[role]:
                self._found.refuse("vercel/part-type", place, f"{brief(kind)} is no part of a {role} message")
            elif kind == "text":
                has_something |= self._says_something(place, part)
            else:
                has_something = True
                self._examine_tool_part(place, role, kind, part)
        if parts and not has_something:
            self._found.risk("vercel/empty-text", path, "empty texts are dropped, which leaves the message empty")

    def _says_something(self, path: str, part: JsonObject) -> bool:
        text = part.get("text")
        if not isinstance(text, str):
            self._found.refuse("vercel/text-form", f"{path}.text", "a text part holds a string")
        return text != ""

    def _examine_tool_part(self, path: str, role: str, kind: str, part: JsonObject) -> None:
        if kind == "tool-call":
            call_id = self._identity(path, part, "vercel/call-form")
            if "input" not in part:
                self._found.refuse("vercel/call-form", path, "a call has an `input`")
            if call_id and part.get("providerExecuted") is not True:
                if not call_id.startswith("call_"):
                    self._found.risk("vercel/id-habit", path, f"{brief(call_id)} does not begin with `call_`")
                self._pairing.call(call_id, path)
        elif kind == "tool-result":
            call_id = self._identity(path, part, "vercel/result-form")
            self._examine_output(f"{path}.output", part.get("output"))
            if call_id and role == "tool":
                self._pairing.result(call_id, path)
        elif kind == "tool-approval-request":
            approval, call_id = part.get("approvalId"), part.get("toolCallId")
            if isinstance(approval, str) and isinstance(call_id, str):
                self._ask(approval, call_id)
        elif kind == "tool-approval-response":
            approval = part.get("approvalId")
            call_id = self._call_of(approval) if isinstance(approval, str) else None
            if call_id is not None:
                self._pairing.excuse(call_id)

    def _ask(self, approval: str, call_id: str) -> None:
        if approval in self._approvals:
            self._asked_again[approval] = call_id
        else:
            self._approvals[approval] = call_id

    def _call_of(self, approval: str) -> str | None:
        return self._asked_again.get(approval, self._approvals.get(approval))

    def _identity(self, path: str, part: JsonObject, rule: str) -> str:
        call_id, name = part.get("toolCallId"), part.get("toolName")
        if not isinstance(name, str) or not name:
            self._found.refuse(rule, f"{path}.toolName", "the tool is named")
        if not isinstance(call_id, str) or not call_id:
            self._found.refuse(rule, f"{path}.toolCallId", "the call has an id")
            return ""
        return call_id

    def _examine_output(self, path: str, output: Json) -> None:
        kind = output.get("type") if is_object(output) else None
        if not is_object(output) or not isinstance(kind, str) or kind not in _OUTPUTS:
            self._found.refuse("vercel/output-form", path, f"{brief(kind)} is no type of output")
            return
        value = output.get("value")
        if kind == "execution-denied":
            return
        if kind in _TEXTS:
            is_right = isinstance(value, str)
        elif kind == "content":
            is_right = is_list(value)
        else:
            is_right = "value" in output
        if not is_right:
            self._found.refuse("vercel/output-form", f"{path}.value", f"there is no value of type {kind}")


_CONTENT_OF = {
    "system": "the content of a system message is a string",
    "user": "content is a string or an array of parts",
    "assistant": "content is a string or an array of parts",
    "tool": "the content of a tool message is an array of parts",
}
