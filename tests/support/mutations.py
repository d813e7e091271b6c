"""Damage JSON as nobody's protocol would: values swapped, dropped, doubled, nested, renamed, taken from elsewhere.

In:  a JSON value, a source of chance, and other values to borrow from.
Out: a copy of it with one to a few changes. The same chance gives the same copy.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

from strategies import FIELDS, KINDS, NATIVE_FIELDS

Json: TypeAlias = Any
Place: TypeAlias = tuple[Any, Any]
"""a dict or list, and a key or index of it"""

TEXTS = (
    "", " ", "\n", "x", "null", "0", "[]", "{}", '{"a": 1', "[[[", "NaN", "\0", "\x1b[31m", "\x7f", "\ud800", "\udcff",
    "half \ud83d of it", "ü😀", "\u2028", "[No result: ", "c2ln", "not base64!", "srvtoolu_1", "call_1", "toolu_é ?",
    "functions.read:0", "x" * 300, "https://example.invalid/i.png", "data:image/png;base64,aGk=", "image/png",
    "hist_tool_1", "-1", "1e999",
)  # fmt: skip
NUMBERS = (0, 1, -1, 3, 10**6, 2**31, 2**63, 2**64, 10**30, 0.5, -1e300)
WORDS = tuple(
    dict.fromkeys(
        (
            *KINDS, "input_text", "output_text", "refusal", "redacted_thinking", "document", "container_upload",
            "tool_search_call", "tool_search_output", "custom_tool_call", "custom_tool_call_output", "mcp_call",
            "mcp_approval_request", "mcp_approval_response", "mcp_list_tools", "image_generation_call",
            "code_interpreter_call", "local_shell_call", "apply_patch_call", "compaction_trigger", "summary_text",
            "reasoning_text", "reasoning.encrypted", "bash_code_execution_tool_result", "input_image", "input_file",
            "text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta", "message_start",
            "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
            "response.output_item.added", "response.output_item.done", "response.completed", "function", "approval",
            "tool-approval-request", "tool-approval-response", "tool-error", "reasoning-delta", "text-delta", "finish",
            "user", "assistant", "system", "developer", "tool", "model", "STOP", "stop", "tool_calls", "tool_use",
            "end_turn", "pause_turn", "max_tokens", "completed", "incomplete", "in_progress", "failed", "OBJECT",
            "STRING", "object", "string", "array", "json", "error-text", "content", "client", "server",
        )
    )
)  # fmt: skip
NAMES = tuple(
    dict.fromkeys(
        (
            *FIELDS, *NATIVE_FIELDS, "type", "parts", "thought", "args", "partialArgs", "willContinue", "function",
            "reasoning_content", "reasoning", "tool_calls", "index", "delta", "message", "choices", "candidates",
            "finish_reason", "finishReason", "stop_reason", "usage", "functionResponse", "response", "fileData",
            "thought_signature", "function_call", "executable_code", "inline_data", "annotations", "logprobs", "error",
            "providerOptions", "toolCallId", "is_error", "source", "media_type", "mime_type", "url", "output_index",
            "__proto__", "", "\0", "half \ud800",
        )
    )
)  # fmt: skip


def mutate(value: Json, chance: Random, others: Sequence[Json] = (), *, most: int = 3) -> Json:
    """A copy of `value` with one to `most` changes; some of what is put in comes from `others`."""
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, most)):
        places = _places(value)
        if not places:
            return any_json(chance)
        chance.choice(_CHANGES)(value, places, chance, others)
    return value


def any_json(chance: Random, levels: int = 3) -> Json:
    """Any JSON value, mostly a small one."""
    kind = chance.randrange(12 if levels else 7)
    if kind < 3:
        return chance.choice(TEXTS)
    if kind < 4:
        return chance.choice((None, True, False))
    if kind < 5:
        return chance.choice(NUMBERS)
    if kind < 7:
        return chance.choice(WORDS)
    if kind < 9:
        return [any_json(chance, levels - 1) for _ in range(chance.randrange(3))]
    if kind < 11:
        return any_record(chance, levels)
    return deep(chance.choice((5, 62, 63, 64, 65, 66, 99, 150)), chance)


def any_record(chance: Random, levels: int = 2) -> Json:
    """An object that may be taken for a block, an item or a part."""
    record = {chance.choice(NAMES): any_json(chance, levels - 1) for _ in range(chance.randrange(5))}
    if chance.randrange(4):
        record["type"] = chance.choice(WORDS)
    return record


def deep(levels: int, chance: Random) -> Json:
    """A value inside so many others."""
    value: Json = "the bottom"
    for _ in range(levels):
        value = [value] if chance.randrange(2) else {"k": value}
    return value


def _places(value: Json) -> list[Place]:
    """Every place in `value` that holds something."""
    found: list[Place] = []
    waiting = [value]
    while waiting:
        inside = waiting.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
        for key in keys:
            found.append((inside, key))
            waiting.append(inside[key])
    return found


def _replace(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    inside, key = chance.choice(places)
    inside[key] = any_json(chance)


def _delete(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    inside, key = chance.choice(places)
    del inside[key]


def _rename(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    """A key gets another name, or a word (most of them types, roles and states) becomes another word."""
    inside, key = chance.choice(places)
    if isinstance(inside, dict) and chance.randrange(2):
        inside[chance.choice(NAMES)] = inside.pop(key)
        return
    words = [(inside, key) for inside, key in places if key in ("type", "role", "status", "kind")]
    inside, key = chance.choice(words or places)
    inside[key] = chance.choice(WORDS)


def _double(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    items = [(inside, key) for inside, key in places if isinstance(inside, list)]
    inside, key = chance.choice(items or places)
    if isinstance(inside, list):
        inside.insert(chance.randint(0, len(inside)), copy.deepcopy(inside[key]))
    else:
        inside[key] = [copy.deepcopy(inside[key]), inside[key]]


def _insert(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    lists = [inside[key] for inside, key in places if isinstance(inside[key], list)]
    record = any_record(chance) if chance.randrange(3) else _borrowed(chance, others)
    if lists:
        into = chance.choice(lists)
        into.insert(chance.randint(0, len(into)), record)
    else:
        inside, key = chance.choice(places)
        inside[key] = [record]


def _nest(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    inside, key = chance.choice(places)
    for _ in range(chance.choice((1, 1, 2, 60, 64, 70, 120))):
        inside[key] = [inside[key]] if chance.randrange(2) else {chance.choice(NAMES): inside[key]}


def _swap(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    (one, first), (other, second) = chance.choice(places), chance.choice(places)
    # Copies: what is inside the other must not come to hold itself.
    one[first], other[second] = copy.deepcopy(other[second]), copy.deepcopy(one[first])


def _copy(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    (one, first), (other, second) = chance.choice(places), chance.choice(places)
    one[first] = copy.deepcopy(other[second])


def _borrow(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    inside, key = chance.choice(places)
    inside[key] = _borrowed(chance, others)


def _add_field(value: Json, places: list[Place], chance: Random, others: Sequence[Json]) -> None:
    objects = [inside for inside, _ in places if isinstance(inside, dict)]
    if objects:
        chance.choice(objects)[chance.choice(NAMES)] = any_json(chance)


def _borrowed(chance: Random, others: Sequence[Json]) -> Json:
    """A part of some other value."""
    if not others:
        return any_record(chance)
    places = _places(chance.choice(others))
    if not places:
        return any_json(chance)
    objects = [inside[key] for inside, key in places if isinstance(inside[key], dict)]
    inside, key = chance.choice(places)
    return copy.deepcopy(chance.choice(objects) if objects and chance.randrange(4) else inside[key])


_CHANGES: tuple[Callable[[Json, list[Place], Random, Sequence[Json]], None], ...] = (
    _replace, _replace, _replace, _delete, _delete, _rename, _rename, _rename, _double, _insert, _insert, _nest, _swap,
    _copy, _borrow, _add_field,
)  # fmt: skip
