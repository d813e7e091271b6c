"""Judge the items of a Responses body, one after the other.

In:  the items of `input`, and whether the server holds what came before.
Out: findings about messages, calls and their outputs, reasoning and what must follow it, and item ids.

Calls and outputs need not be neighbours here, so pairing is over the whole request. Item types that are not known are
let through: there are many, they grow, and the provider's own tools pair by themselves.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from legato.model import Json, JsonObject
from legato.wire.judging import Findings, Grown, brief, holds_object, is_list, is_object, shrink

_ROLES = frozenset({"user", "assistant", "system", "developer"})
_CHAT_FIELDS = ("name", "tool_calls", "tool_call_id", "function_call", "reasoning_content", "reasoning", "refusal")
_SAID = frozenset({"output_text", "refusal"})
_GIVEN = frozenset({"input_text", "input_image", "input_file", "input_audio"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_ANSWERS = frozenset({"message", *_CALLS})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_CLIENT_CALLS = frozenset({"computer_call", "local_shell_call", "apply_patch_call"})
"""calls of built-in tools that run on our side"""
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ITEM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PREFIXES = {"function_call": "fc", "message": "msg", "reasoning": "rs", "custom_tool_call": "ctc"}
_MAX_CALL_ID = 64


class JudgingMode(NamedTuple):
    """What items are judged by."""

    holds_state: bool
    """whether the server holds what came before"""
    is_stored: bool
    """whether it keeps what is sent"""
    reasons: bool
    takes_calls: bool
    """whether calls and outputs are taken as items, not only as text"""


class ItemJudge:
    """Reads the items in order; `end` comes after the last one."""

    def __init__(self, mode: JudgingMode, found: Findings) -> None:
        self._mode = mode
        self._found = found
        self._holds_state = mode.holds_state
        self._open: dict[str, str] = {}
        self._calls: Grown = {}
        self._answered: Grown = {}
        self._item_ids: Grown = {}
        self._reasoning: tuple[str, JsonObject] | None = None
        """the reasoning item right before, with its path: it waits for the item it led to"""
        self._is_reasoned = False
        """whether this answer has shown a reasoning item"""

    def save(self) -> Any:
        """The state, for `restore`."""
        return (
            (self._holds_state, self._reasoning, self._is_reasoned),
            self._open.copy(),
            (len(self._calls), len(self._answered), len(self._item_ids)),
        )

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        (self._holds_state, self._reasoning, self._is_reasoned), waiting, (calls, answered, item_ids) = saved
        self._open = waiting.copy()
        shrink(self._calls, calls)
        shrink(self._answered, answered)
        shrink(self._item_ids, item_ids)

    def message(self, index: int, message: Json) -> None:
        """Judge the item at `index`."""
        path, item = f"input[{index}]", message
        if not is_object(item):
            self._found.refuse("openai-responses/item-form", path, "an item of `input` is an object")
            return
        kind = item.get("type", "message")
        if not isinstance(kind, str):
            self._found.refuse("openai-responses/item-form", f"{path}.type", "the type of an item is a string")
            return
        self._examine_follower(kind, item)
        if kind == "message":
            self._examine_message(path, item)
        elif kind in _CALLS:
            self._examine_call(path, kind, item)
        elif kind in _OUTPUTS:
            self._examine_output(path, item)
        elif kind == "reasoning":
            self._examine_reasoning(path, item)
        elif kind == "item_reference":
            self._holds_state = True
        elif isinstance(call_id := item.get("call_id"), str):
            self._follow_other(path, kind, call_id, item)
        if item.get("id") is not None:
            self._examine_id(path, kind, item)

    def end(self, fields: JsonObject) -> None:
        """Judge what is still waited for."""
        if self._reasoning is not None:
            self._refuse_lonely(*self._reasoning)
        for call_id, path in self._open.items():
            self._found.refuse(
                "openai-responses/unanswered-call", path, f"the call {brief(call_id)} has no output in this request"
            )

    # --- messages ---

    def _examine_message(self, path: str, item: JsonObject) -> None:
        role = item.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            self._found.refuse("openai-responses/unknown-role", f"{path}.role", f"there is no role {brief(role)}")
            return
        if role == "user":
            self._is_reasoned = False
        for field in _CHAT_FIELDS:
            if field in item:
                self._found.refuse(
                    "openai-responses/chat-field",
                    f"{path}.{field}",
                    f"a message has no field {field!r} here",
                )
        content = item.get("content")
        if is_list(content):
            known = _SAID if role == "assistant" else _GIVEN
            self._examine_parts(f"{path}.content", content, known, "openai-responses/part-type")
        elif not isinstance(content, str):
            self._found.refuse(
                "openai-responses/content-form", f"{path}.content", "content is a string or an array of parts"
            )

    def _examine_parts(self, path: str, parts: list[Json], known: frozenset[str], rule: str) -> None:
        for index, part in enumerate(parts):
            kind = part.get("type") if is_object(part) else None
            if not isinstance(kind, str) or kind not in known:
                self._found.refuse(
                    rule,
                    f"{path}[{index}]",
                    f"{brief(kind)} is none of {', '.join(sorted(known))}",
                )

    # --- calls and outputs ---

    def _examine_call(self, path: str, kind: str, item: JsonObject) -> None:
        found = self._found
        self._examine_embedding(path)
        call_id, name = item.get("call_id"), item.get("name")
        if not isinstance(call_id, str) or not 1 <= len(call_id) <= _MAX_CALL_ID:
            found.refuse("openai-responses/call-id-form", f"{path}.call_id", "a `call_id` has 1 to 64 characters")
        elif not call_id.startswith("call_"):
            found.risk(
                "openai-responses/call-id-habit", f"{path}.call_id", f"{brief(call_id)} does not begin with `call_`"
            )
        if isinstance(call_id, str) and call_id:
            if call_id in self._calls:
                found.refuse(
                    "openai-responses/duplicate-call-id", f"{path}.call_id", f"two calls share the id {brief(call_id)}"
                )
            else:
                self._open[call_id] = path
            self._calls[call_id] = None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            found.refuse("openai-responses/name-form", f"{path}.name", f"{brief(name)} is no name for a tool")
        if kind == "function_call":
            arguments = item.get("arguments")
            if not isinstance(arguments, str) or not holds_object(arguments):
                found.refuse(
                    "openai-responses/arguments", f"{path}.arguments", "arguments are a JSON object in a string"
                )

    def _examine_output(self, path: str, item: JsonObject) -> None:
        found = self._found
        self._examine_embedding(path)
        self._is_reasoned = False
        call_id, output = item.get("call_id"), item.get("output")
        if not isinstance(call_id, str):
            found.refuse("openai-responses/call-id-form", f"{path}.call_id", "a `call_id` has 1 to 64 characters")
        elif call_id in self._answered:
            found.refuse("openai-responses/duplicate-output", path, f"the call {brief(call_id)} is answered twice")
        elif call_id not in self._calls and not self._holds_state:
            found.refuse("openai-responses/orphan-output", path, f"no call before it has the id {brief(call_id)}")
        else:
            self._answered[call_id] = None
            self._open.pop(call_id, None)
        if is_list(output):
            self._examine_parts(f"{path}.output", output, _GIVEN, "openai-responses/output-form")
        elif not isinstance(output, str):
            found.refuse("openai-responses/output-form", f"{path}.output", "an output is a string or an array of parts")

    def _follow_other(self, path: str, kind: str, call_id: str, item: JsonObject) -> None:
        """A call or an output of a tool that is no function; who has to answer depends on where it runs."""
        if kind.endswith("_output"):
            self._answered[call_id] = None
            self._open.pop(call_id, None)
            return
        self._calls[call_id] = None
        if kind in _CLIENT_CALLS or item.get("execution") == "client":
            self._open[call_id] = path

    def _examine_embedding(self, path: str) -> None:
        if not self._mode.takes_calls:
            self._found.risk(
                "openai-responses/call-items", path, "this gateway takes the history of tools as text, not as items"
            )

    # --- reasoning and item ids ---

    def _examine_reasoning(self, path: str, item: JsonObject) -> None:
        self._is_reasoned = True
        self._reasoning = (path, item)
        if not is_list(item.get("summary")):
            self._found.refuse(
                "openai-responses/reasoning-summary", path, "a reasoning item has a `summary`, be it an empty array"
            )
        if not self._mode.is_stored and not item.get("encrypted_content") and not _is_open(item):
            self._found.refuse(
                "openai-responses/reasoning-not-encrypted",
                path,
                "with `store: false` a reasoning item carries its `encrypted_content`",
            )

    def _examine_follower(self, kind: str, item: JsonObject) -> None:
        """Whether `item` is what the reasoning before it led to."""
        if self._reasoning is None or kind == "reasoning":
            return
        path, reasoning = self._reasoning
        self._reasoning = None
        if kind == "message":
            is_answer = item.get("role") == "assistant"
            # A message sent as mere text is not the item that the reasoning belongs to, and the server knows.
            is_own = item.get("id") is not None or reasoning.get("id") is None
            is_follower = is_answer and (is_own or _is_open(reasoning))
        else:
            is_follower = not kind.endswith("_output")
        if not is_follower:
            self._refuse_lonely(path, reasoning)

    def _refuse_lonely(self, path: str, reasoning: JsonObject) -> None:
        self._found.refuse(
            "openai-responses/reasoning-alone",
            path,
            f"the item that the reasoning {brief(reasoning.get('id'))} led to does not follow it",
        )

    def _examine_id(self, path: str, kind: str, item: JsonObject) -> None:
        item_id, prefix = item["id"], _PREFIXES.get(kind, "")
        if not isinstance(item_id, str):
            self._found.refuse("openai-responses/item-id-form", f"{path}.id", "the id of an item is a string")
            return
        if item_id in self._item_ids:
            self._found.refuse("openai-responses/duplicate-item-id", f"{path}.id", f"{brief(item_id)} occurs twice")
        self._item_ids[item_id] = None
        if prefix and not _is_open(item) and not (item_id.startswith(prefix) and _ITEM_ID.fullmatch(item_id)):
            self._found.refuse(
                "openai-responses/item-id-form",
                f"{path}.id",
                f"{brief(item_id)} is no id for an item of type {kind}: those begin with {prefix!r}",
            )
        elif self._mode.reasons and not self._is_reasoned and kind in _ANSWERS and item.get("role") != "user":
            self._found.risk(
                "openai-responses/item-without-reasoning",
                f"{path}.id",
                "an item that is sent with its id may be refused without the reasoning that led to it",
            )


def _is_open(item: JsonObject) -> bool:
    """Whether the item is reasoning in plain text, as servers of open models give it; they do not keep its id."""
    return item.get("type") == "reasoning" and bool(item.get("content")) and not item.get("encrypted_content")
