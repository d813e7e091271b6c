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
from legato.wire.openai_responses.rules.sources import API, BAD_NAME, CALLING
from legato.wire.rules import WireRule, refused, risky

ITEM_FORM = refused(
    "openai-responses/item-form",
    "Each item of `input` is an object; one without a `type` is a message.",
    source=API,
)
UNKNOWN_ROLE = refused(
    "openai-responses/unknown-role",
    "A message's role is `user`, `assistant`, `system` or `developer`; results are items, not messages.",
    source="Chevey339/kelivo#281",
    error="Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'",
)
CHAT_FIELD = refused(
    "openai-responses/chat-field",
    "A message carries none of Chat Completions' fields: `name`, `tool_calls`, `reasoning_content`, …",
    source=("theopenco/llmgateway#2820", "openai/openai-python#2677"),
    error="Unknown parameter: '{path}'",
)
CONTENT_FORM = refused(
    "openai-responses/content-form",
    "The content of a message is a string or an array of parts.",
    source="QuantumNous/new-api#4776",
    error="Invalid type for '{path}': expected one of an array of objects or string",
)
PART_TYPE = refused(
    "openai-responses/part-type",
    "Parts of an assistant message are `output_text` or `refusal`, those of the others `input_text`, "
    "`input_image`, `input_file` or `input_audio`.",
    source="jeremychone/rust-genai#119",
    error="Invalid value: '{type}'",
)
UNANSWERED_CALL = refused(
    "openai-responses/unanswered-call",
    "Each call of the request has its output in it, anywhere after the call.",
    source="openai/codex#93",
    error="No tool output found for function call {id}",
)
ORPHAN_OUTPUT = refused(
    "openai-responses/orphan-output",
    "Each output has its call before it, unless the server holds earlier items.",
    source="continuedev/continue#10092",
    error="No tool call found for function call output with call_id {id}",
)
DUPLICATE_OUTPUT = refused(
    "openai-responses/duplicate-output",
    "A call has one output.",
    source="NousResearch/hermes-agent#102629",
    error="Duplicate function_call_output for call_id '{id}'",
)
DUPLICATE_CALL_ID = refused(
    "openai-responses/duplicate-call-id",
    "No two calls share a `call_id`, not even in different turns.",
    source=("NousResearch/hermes-agent#102629", "vercel/ai#13307"),
    error="Duplicate item found",
)
CALL_ID_FORM = refused(
    "openai-responses/call-id-form",
    "A `call_id` has 1 to 64 characters.",
    source=("AnswerDotAI/fastllm#45", "Blockether/vis#152"),
    error="Invalid '{path}': string too long. Expected a string with maximum length 64",
)
CALL_ID_HABIT = risky(
    "openai-responses/call-id-habit",
    "A `call_id` begins with `call_`.",
    source="octos-org/octos#32",
)
NAME_FORM = refused(
    "openai-responses/name-form",
    "The name of a called tool has 1 to 128 characters of `[a-zA-Z0-9_-]`.",
    source=CALLING,
    error=BAD_NAME,
)
ARGUMENTS = refused(
    "openai-responses/arguments",
    "The arguments of a call are a string that holds a JSON object.",
    source=CALLING,
)
OUTPUT_FORM = refused(
    "openai-responses/output-form",
    "An output is a string or an array of `input_text`, `input_image`, `input_file` or `input_audio` parts.",
    source=(API, "theopenco/llmgateway#2134"),
)
# Seen of servers that read messages only: calls and outputs reach the model as empty messages there, or not at all.
CALL_ITEMS = risky(
    "openai-responses/call-items",
    "A gateway that takes the history of tools as text only gets no call and no output items.",
    source=("NousResearch/hermes-agent#43757", "tenstorrent/tt-inference-server#3494"),
    route="vercel-gateway/openai/gpt-5",
)
REASONING_SUMMARY = refused(
    "openai-responses/reasoning-summary",
    "A reasoning item has a `summary`; an empty array is enough.",
    source="lidge-jun/opencodex#4673",
    error="Missing required parameter: '{path}.summary'",
)
# A message without its id is not that item: it is sent as mere text.
REASONING_ALONE = refused(
    "openai-responses/reasoning-alone",
    "After reasoning stands the item it led to: a call, or the answer as an item with its own id.",
    source=("openai/openai-node#1567", "continuedev/continue#8933", "mastra-ai/mastra#11103"),
    error="Item '{id}' of type 'reasoning' was provided without its required following item",
)
REASONING_NOT_ENCRYPTED = refused(
    "openai-responses/reasoning-not-encrypted",
    "With `store: false`, a reasoning item carries its `encrypted_content`.",
    source="vercel/ai#7543",
    error="Items are not persisted when `store` is set to false",
)
ITEM_ID_FORM = refused(
    "openai-responses/item-id-form",
    "The id of an item, where it is sent, has the prefix of its type (`fc`, `msg`, `rs`, `ctc`) and "
    "at most 64 letters, digits, `_` or `-`; the id of a chat call is a `call_id`, not an item's id.",
    source=("tingly-dev/tingly-box#1445", "octos-org/octos#32"),
    error="Invalid '{path}': '{value}'. Expected an ID that begins with '…'",
)
DUPLICATE_ITEM_ID = refused(
    "openai-responses/duplicate-item-id",
    "The id of an item occurs once.",
    source="vercel/ai#13307",
    error="Duplicate item found with id {value}",
)
ITEM_WITHOUT_REASONING = risky(
    "openai-responses/item-without-reasoning",
    "An item of a reasoning model that is sent with its id has its reasoning before it; leaving both out is safe.",
    source="continuedev/continue#11309",
    error="Item '{value}' of type '{type}' was provided without its required 'reasoning' item",
)

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
_MAX_CALL_ID = 64  # see CALL_ID_FORM


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
            self._found.report(ITEM_FORM, path, "an item of `input` is an object")
            return
        kind = item.get("type", "message")
        if not isinstance(kind, str):
            self._found.report(ITEM_FORM, f"{path}.type", "the type of an item is a string")
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
            self._found.report(UNANSWERED_CALL, path, f"the call {brief(call_id)} has no output in this request")

    # --- messages ---

    def _examine_message(self, path: str, item: JsonObject) -> None:
        role = item.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            self._found.report(UNKNOWN_ROLE, f"{path}.role", f"there is no role {brief(role)}")
            return
        if role == "user":
            self._is_reasoned = False
        for field in _CHAT_FIELDS:
            if field in item:
                self._found.report(
                    CHAT_FIELD,
                    f"{path}.{field}",
                    f"a message has no field {field!r} here",
                )
        content = item.get("content")
        if is_list(content):
            known = _SAID if role == "assistant" else _GIVEN
            self._examine_parts(f"{path}.content", content, known, PART_TYPE)
        elif not isinstance(content, str):
            self._found.report(CONTENT_FORM, f"{path}.content", "content is a string or an array of parts")

    def _examine_parts(self, path: str, parts: list[Json], known: frozenset[str], rule: WireRule) -> None:
        for index, part in enumerate(parts):
            kind = part.get("type") if is_object(part) else None
            if not isinstance(kind, str) or kind not in known:
                self._found.report(
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
            found.report(CALL_ID_FORM, f"{path}.call_id", "a `call_id` has 1 to 64 characters")
        elif not call_id.startswith("call_"):
            found.report(CALL_ID_HABIT, f"{path}.call_id", f"{brief(call_id)} does not begin with `call_`")
        if isinstance(call_id, str) and call_id:
            if call_id in self._calls:
                found.report(DUPLICATE_CALL_ID, f"{path}.call_id", f"two calls share the id {brief(call_id)}")
            else:
                self._open[call_id] = path
            self._calls[call_id] = None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            found.report(NAME_FORM, f"{path}.name", f"{brief(name)} is no name for a tool")
        if kind == "function_call":
            arguments = item.get("arguments")
            if not isinstance(arguments, str) or not holds_object(arguments):
                found.report(ARGUMENTS, f"{path}.arguments", "arguments are a JSON object in a string")

    def _examine_output(self, path: str, item: JsonObject) -> None:
        found = self._found
        self._examine_embedding(path)
        self._is_reasoned = False
        call_id, output = item.get("call_id"), item.get("output")
        if not isinstance(call_id, str):
            found.report(CALL_ID_FORM, f"{path}.call_id", "a `call_id` has 1 to 64 characters")
        elif call_id in self._answered:
            found.report(DUPLICATE_OUTPUT, path, f"the call {brief(call_id)} is answered twice")
        elif call_id not in self._calls and not self._holds_state:
            found.report(ORPHAN_OUTPUT, path, f"no call before it has the id {brief(call_id)}")
        else:
            self._answered[call_id] = None
            self._open.pop(call_id, None)
        if is_list(output):
            self._examine_parts(f"{path}.output", output, _GIVEN, OUTPUT_FORM)
        elif not isinstance(output, str):
            found.report(OUTPUT_FORM, f"{path}.output", "an output is a string or an array of parts")

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
            self._found.report(CALL_ITEMS, path, "this gateway takes the history of tools as text, not as items")

    # --- reasoning and item ids ---

    def _examine_reasoning(self, path: str, item: JsonObject) -> None:
        self._is_reasoned = True
        self._reasoning = (path, item)
        if not is_list(item.get("summary")):
            self._found.report(REASONING_SUMMARY, path, "a reasoning item has a `summary`, be it an empty array")
        if not self._mode.is_stored and not item.get("encrypted_content") and not _is_open(item):
            self._found.report(
                REASONING_NOT_ENCRYPTED,
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
        self._found.report(
            REASONING_ALONE,
            path,
            f"the item that the reasoning {brief(reasoning.get('id'))} led to does not follow it",
        )

    def _examine_id(self, path: str, kind: str, item: JsonObject) -> None:
        item_id, prefix = item["id"], _PREFIXES.get(kind, "")
        if not isinstance(item_id, str):
            self._found.report(ITEM_ID_FORM, f"{path}.id", "the id of an item is a string")
            return
        if item_id in self._item_ids:
            self._found.report(DUPLICATE_ITEM_ID, f"{path}.id", f"{brief(item_id)} occurs twice")
        self._item_ids[item_id] = None
        if prefix and not _is_open(item) and not (item_id.startswith(prefix) and _ITEM_ID.fullmatch(item_id)):
            self._found.report(
                ITEM_ID_FORM,
                f"{path}.id",
                f"{brief(item_id)} is no id for an item of type {kind}: those begin with {prefix!r}",
            )
        elif self._mode.reasons and not self._is_reasoned and kind in _ANSWERS and item.get("role") != "user":
            self._found.report(
                ITEM_WITHOUT_REASONING,
                f"{path}.id",
                "an item that is sent with its id may be refused without the reasoning that led to it",
            )


def _is_open(item: JsonObject) -> bool:
    """Whether the item is reasoning in plain text, as servers of open models give it; they do not keep its id."""
    return item.get("type") == "reasoning" and bool(item.get("content")) and not item.get("encrypted_content")
