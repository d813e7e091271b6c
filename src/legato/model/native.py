"""The opaque data that blocks carry for the provider they came from: what there is, and what it must look like.

In:  a block, and the dialect of the answer that it is a part of.
Out: the block with that of its `native` data which can go back, and the names of what cannot.

    anthropic         Text citations · Thinking signature, data · ToolCall caller · HostedTool blocks
    gemini            HostedTool parts, groundingMetadata, urlContextMetadata · any block thoughtSignature
    openai_responses  Text phase · Thinking item · ToolCall caller · HostedTool item
    openai_chat       Thinking chunk, signature, reasoning_details · ToolCall extra_content
    bedrock           Thinking signature, data · HostedTool blocks
    vercel            HostedTool parts · any block providerOptions

No one here reads such data and no other provider sees it, but it need not be what the provider gave: a proxy rewrote
the answer, a file is damaged, a program filled it in by hand. One block that a provider cannot read makes it refuse the
whole request, and every later request of that conversation. So data goes back only if it has the shape in which it is
given out. A block that has lost it is told as text, or left out, like that of another provider.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from legato.model.blocks import Block, HostedTool, Text, Thinking, ToolCall
from legato.model.jsonvalue import Json, JsonObject
from legato.model.targets import Dialect

B = TypeVar("B", bound=Block)
Shape: TypeAlias = Callable[[Json], Json]
"""from a value to what of it may go back; None if nothing may"""


def judge_native(block: B, dialect: str) -> tuple[B, tuple[str, ...]]:
    """`block` with the opaque data that can go back to its provider, and the names of what cannot."""
    shapes = _SHAPES.get(dialect)
    if block.native is None or shapes is None:
        return block, ()
    known = {**shapes.get(type(block), {}), **shapes.get(None, {})}
    kept: JsonObject = {}
    malformed: list[str] = []
    for name, value in block.native.items():
        if name not in known:
            continue  # no one would send it
        shaped = known[name](value)
        if shaped is None:
            malformed.append(name)
        else:
            kept[name] = shaped
    return (block if kept == block.native else replace(block, native=kept or None)), tuple(malformed)


def record_ids(block: HostedTool) -> frozenset[str]:
    """The ids under which the provider takes this record, once in a request."""
    native = block.native or {}
    item = _object(native.get("item")) or {}
    uses = [part for part in _objects(native.get("blocks")) or () if _is_use(part)]
    return frozenset(part["id"] for part in (item, *uses) if _is_text(part.get("id")))


def record_call(block: HostedTool) -> str:
    """The id by which this record and its output find each other, in one space with the calls of tools of ours."""
    item = _object((block.native or {}).get("item")) or {}
    return item["call_id"] if _is_text(item.get("call_id")) else ""


def caller_of(call: ToolCall) -> str:
    """The id of the provider's own tool whose code made `call`; empty if the model did."""
    caller = _object((call.native or {}).get("caller")) or {}
    return caller["tool_id"] if _is_text(caller.get("tool_id")) else ""


class Halves(NamedTuple):
    """What a record of a provider's own tool lacks (Anthropic): results for uses, or uses for results, by id."""

    waiting: frozenset[str]
    """tools that were used and whose results are not in this record: they come at the beginning of a later answer"""
    late: frozenset[str]
    """results of tools that an earlier answer used"""


def halves(block: HostedTool) -> Halves:
    """Which halves of a use and its result `block` lacks."""
    parts = _objects((block.native or {}).get("blocks")) or ()
    used = frozenset(str(part.get("id")) for part in parts if _is_use(part))
    given = frozenset(str(part.get("tool_use_id")) for part in parts if str(part.get("type")).endswith(_RESULT))
    return Halves(used - given, given - used)


# --- plain shapes -----------------------------------------------------------------------------------------------------


def _text(value: Json) -> Json:
    return value if isinstance(value, str) and value else None


def _object(value: Json) -> JsonObject | None:
    return cast(JsonObject, value) if isinstance(value, dict) and value else None


def _objects(value: Json) -> list[JsonObject] | None:
    items = cast("list[Json]", value) if isinstance(value, list) else []
    return cast("list[JsonObject]", items) if items and all(isinstance(item, dict) for item in items) else None


def _truth(value: Json) -> Json:
    return True if value else None


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


_BASE64 = re.compile(r"([A-Za-z0-9+/_-]+)(={0,2})")  # both alphabets are in use
_TYPE = re.compile(r"[a-z][a-z0-9_]*")


def is_base64(text: str) -> bool:
    """Whether `text` can be base64 of something, padded or not."""
    match = _BASE64.fullmatch(text)
    if match is None:
        return False
    return len(text) % 4 == 0 if match[2] else len(text) % 4 != 1


def _is_type(value: Json, known: frozenset[str]) -> bool:
    """Whether `value` can be the type of a record that has no block of its own here, unlike those in `known`."""
    return isinstance(value, str) and bool(_TYPE.fullmatch(value)) and value not in known


# --- Anthropic --------------------------------------------------------------------------------------------------------

_ANTHROPIC_KNOWN = frozenset({"text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"})
_USES = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT = "_tool_result"
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_PLAIN_ID = re.compile(r"[a-zA-Z0-9_-]+")


def _anthropic_blocks(value: Json) -> Json:
    """A call that the API ran, its result, or both."""
    blocks = _objects(value)
    if blocks is None or not all(map(_is_anthropic_block, blocks)):
        return None
    # A mark says what to cache in the request that it was in.
    return [{name: item for name, item in block.items() if name != "cache_control"} for block in blocks]


def _is_use(block: JsonObject) -> bool:
    return isinstance(kind := block.get("type"), str) and kind in _USES


def _is_anthropic_block(block: JsonObject) -> bool:
    kind: str = block.get("type", "")
    if not _is_type(kind, _ANTHROPIC_KNOWN):
        return False
    if kind in _USES:
        id_form = _SERVER_ID if kind == "server_tool_use" else _PLAIN_ID
        has_id = _is_text(block.get("id")) and bool(id_form.fullmatch(block["id"]))
        return has_id and _is_text(block.get("name")) and isinstance(block.get("input"), dict)
    if not kind.endswith(_RESULT):
        return True
    # Every result holds an object (an error, or what ran) or an array; only those of MCP may be text.
    has_content = isinstance(block.get("content"), (str, list) if kind == "mcp_tool_result" else (dict, list))
    return has_content and _is_text(block.get("tool_use_id"))


def _citations(value: Json) -> Json:
    citations = _objects(value)
    return citations if citations is not None and all(_is_text(item.get("type")) for item in citations) else None


# --- Gemini -----------------------------------------------------------------------------------------------------------

_GEMINI_KINDS = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})


def _gemini_parts(value: Json) -> Json:
    """A tool that the API ran; a signature that cannot be one is as good as none."""
    parts = _objects(value)
    if parts is None or not all(map(_is_gemini_part, parts)):
        return None
    return [
        {name: item for name, item in part.items() if name in _GEMINI_KINDS or _signature(item) is not None}
        for part in parts
    ]


def _is_gemini_part(part: JsonObject) -> bool:
    kinds = part.keys() & _GEMINI_KINDS
    return len(kinds) == 1 and part.keys() <= kinds | {"thoughtSignature"} and isinstance(part[kinds.pop()], dict)


def _signature(value: Json) -> Json:
    return value if isinstance(value, str) and is_base64(value) else None


# --- Responses --------------------------------------------------------------------------------------------------------

_RESPONSES_KNOWN = frozenset(
    {
        "message", "reasoning", "item_reference", "function_call", "function_call_output", "custom_tool_call",
        "custom_tool_call_output", "computer_call", "local_shell_call", "apply_patch_call",
    }
)  # fmt: skip


def _reasoning_item(value: Json) -> Json:
    item = _object(value) or {}
    is_whole = all(not item.get(name) or _objects(item[name]) is not None for name in ("summary", "content"))
    return item if is_whole and _is_text(item.get("encrypted_content")) else None


def _hosted_item(value: Json) -> Json:
    """An item of the API's own, unless it waits for something that the client does."""
    item = _object(value) or {}
    has_ids = all(item.get(name) is None or _is_text(item[name]) for name in ("id", "call_id"))
    is_hosted = _is_type(item.get("type"), _RESPONSES_KNOWN) and item.get("execution") != "client"
    return item if has_ids and is_hosted else None


# --- Vercel -----------------------------------------------------------------------------------------------------------

_OUTPUT_VALUES: dict[str, Callable[[JsonObject], bool]] = {
    "text": lambda output: isinstance(output.get("value"), str),
    "error-text": lambda output: isinstance(output.get("value"), str),
    "json": lambda output: "value" in output,
    "error-json": lambda output: "value" in output,
    "content": lambda output: isinstance(output.get("value"), list),
    "execution-denied": lambda output: True,
}


def _vercel_parts(value: Json) -> Json:
    parts = _objects(value)
    return parts if parts is not None and all(map(_is_vercel_part, parts)) else None


def _is_vercel_part(part: JsonObject) -> bool:
    if "providerOptions" in part and _provider_options(part["providerOptions"]) is None:
        return False
    kind = part.get("type")
    if kind == "custom":
        return _is_text(part.get("kind"))
    if not _is_text(part.get("toolCallId")) or not _is_text(part.get("toolName")):
        return False
    if kind == "tool-call":
        return "input" in part and part.get("providerExecuted") is True
    output = part.get("output")
    if kind != "tool-result" or not isinstance(output, dict):
        return False
    output = cast(JsonObject, output)
    fits = _OUTPUT_VALUES.get(output["type"]) if _is_text(output.get("type")) else None
    return fits is not None and fits(output)


def _provider_options(value: Json) -> Json:
    """Each provider's own options, by its name."""
    options = _object(value)
    return options if options and all(isinstance(item, dict) for item in options.values()) else None


def _bedrock_blocks(value: Json) -> Json:
    """A call that the service ran, or what it gave."""
    blocks = _objects(value)
    return blocks if blocks and all(map(_is_bedrock_block, blocks)) else None


def _is_bedrock_block(block: JsonObject) -> bool:
    held = block.get("toolUse") or block.get("toolResult")
    if len(block) != 1 or not isinstance(held, dict):
        return False
    held = cast(JsonObject, held)
    has_id = _is_text(held.get("toolUseId")) and bool(_PLAIN_ID.fullmatch(held["toolUseId"]))
    if "toolUse" in block:
        return has_id and held.get("type") == "server_tool_use" and isinstance(held.get("input"), dict)
    return has_id and _is_text(held.get("type")) and isinstance(held.get("content"), list)


# --- all of them ------------------------------------------------------------------------------------------------------

_SHAPES: Mapping[str, Mapping[type | None, Mapping[str, Shape]]] = {
    Dialect.ANTHROPIC: {
        Text: {"citations": _citations},
        Thinking: {"signature": _text, "data": _text},
        ToolCall: {"caller": _object},
        HostedTool: {"blocks": _anthropic_blocks},
    },
    Dialect.GEMINI: {
        None: {"thoughtSignature": _signature},
        HostedTool: {"parts": _gemini_parts, "groundingMetadata": _object, "urlContextMetadata": _object},
    },
    Dialect.OPENAI_RESPONSES: {
        Text: {"phase": _text},
        Thinking: {"item": _reasoning_item},
        ToolCall: {"caller": _object},
        HostedTool: {"item": _hosted_item},
    },
    Dialect.OPENAI_CHAT: {
        Thinking: {"chunk": _truth, "signature": _text, "reasoning_details": _objects},
        ToolCall: {"extra_content": _object},
    },
    Dialect.BEDROCK: {
        Thinking: {"signature": _text, "data": _text},
        HostedTool: {"blocks": _bedrock_blocks},
    },
    Dialect.VERCEL: {
        None: {"providerOptions": _provider_options},
        HostedTool: {"parts": _vercel_parts},
    },
}
"""dialect -> kind of block (None: any) -> field -> its shape"""
