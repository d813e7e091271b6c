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
from legato.wire.judging import Findings, brief, is_list, is_object, shrink
from legato.wire.judging_pairs import Pairing
from legato.wire.rules import WireRule, refused, risky
from legato.wire.vercel.rules.pairs import PAIRS

MESSAGES = "https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message"

_NOT_MESSAGES = "The messages must be a ModelMessage[]"

UNKNOWN_ROLE = refused(
    "vercel/unknown-role",
    "A message is an object whose role is `system`, `user`, `assistant` or `tool`.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
CONTENT_FORM = refused(
    "vercel/content-form",
    "The content of a system message is a string, of a tool message an array of parts, of the others either.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
PART_TYPE = refused(
    "vercel/part-type",
    "Each part is of a type that its message may hold: calls in assistant messages, results in tool messages.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
TEXT_FORM = refused(
    "vercel/text-form",
    "A text part holds a string.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
CALL_FORM = refused(
    "vercel/call-form",
    "A call has `toolCallId`, `toolName` and `input`.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
RESULT_FORM = refused(
    "vercel/result-form",
    "A result has `toolCallId` and `toolName`.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
OUTPUT_FORM = refused(
    "vercel/output-form",
    "The output of a result is an object with a type (`text`, `json`, `error-text`, `error-json`, "
    "`content`, `execution-denied`) and a fitting value.",
    source=(MESSAGES, "vercel/ai#8520"),
    error=_NOT_MESSAGES,
)
ID_HABIT = risky(
    "vercel/id-habit",
    "The id of a call begins with `call_`, which every provider behind the SDK takes.",
    source="octos-org/octos#32",
)
EMPTY_TEXT = risky(
    "vercel/empty-text",
    "A message says something: empty text parts are dropped, and the message may end up empty.",
    source="vercel/ai#5576",
)

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
        self._pairing = Pairing(PAIRS, found)
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
            self._found.report(UNKNOWN_ROLE, path, f"a message is an object whose role is one of {', '.join(_PARTS)}")
            return
        if role != "tool":
            self._pairing.close()
        content = message.get("content")
        if is_list(content) and role != "system":
            self._examine_parts(f"{path}.content", role, content)
        elif not isinstance(content, str) or role == "tool":
            self._found.report(CONTENT_FORM, f"{path}.content", _CONTENT_OF[role])

    def end(self, fields: JsonObject) -> None:
        """Judge what never was answered."""
        self._pairing.end()

    def _examine_parts(self, path: str, role: str, parts: list[Json]) -> None:
        has_something = False
        for index, part in enumerate(parts):
            place = f"{path}[{index}]"
            kind = part.get("type") if is_object(part) else None
            if not is_object(part) or not isinstance(kind, str) or kind not in _PARTS[role]:
                self._found.report(PART_TYPE, place, f"{brief(kind)} is no part of a {role} message")
            elif kind == "text":
                has_something |= self._says_something(place, part)
            else:
                has_something = True
                self._examine_tool_part(place, role, kind, part)
        if parts and not has_something:
            self._found.report(EMPTY_TEXT, path, "empty texts are dropped, which leaves the message empty")

    def _says_something(self, path: str, part: JsonObject) -> bool:
        text = part.get("text")
        if not isinstance(text, str):
            self._found.report(TEXT_FORM, f"{path}.text", "a text part holds a string")
        return text != ""

    def _examine_tool_part(self, path: str, role: str, kind: str, part: JsonObject) -> None:
        if kind == "tool-call":
            call_id = self._identity(path, part, CALL_FORM)
            if "input" not in part:
                self._found.report(CALL_FORM, path, "a call has an `input`")
            if call_id and part.get("providerExecuted") is not True:
                if not call_id.startswith("call_"):
                    self._found.report(ID_HABIT, path, f"{brief(call_id)} does not begin with `call_`")
                self._pairing.call(call_id, path)
        elif kind == "tool-result":
            call_id = self._identity(path, part, RESULT_FORM)
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

    def _identity(self, path: str, part: JsonObject, rule: WireRule) -> str:
        call_id, name = part.get("toolCallId"), part.get("toolName")
        if not isinstance(name, str) or not name:
            self._found.report(rule, f"{path}.toolName", "the tool is named")
        if not isinstance(call_id, str) or not call_id:
            self._found.report(rule, f"{path}.toolCallId", "the call has an id")
            return ""
        return call_id

    def _examine_output(self, path: str, output: Json) -> None:
        kind = output.get("type") if is_object(output) else None
        if not is_object(output) or not isinstance(kind, str) or kind not in _OUTPUTS:
            self._found.report(OUTPUT_FORM, path, f"{brief(kind)} is no type of output")
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
            self._found.report(OUTPUT_FORM, f"{path}.value", f"there is no value of type {kind}")


_CONTENT_OF = {
    "system": "the content of a system message is a string",
    "user": "content is a string or an array of parts",
    "assistant": "content is a string or an array of parts",
    "tool": "the content of a tool message is an array of parts",
}
