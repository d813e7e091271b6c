"""Where each dialect carries signatures: put on an answer, and looked for in a request.

In:  the blocks of an answer, or a request body.
Out: the blocks with signatures where this provider puts them, or every signature that the body claims to be ours.

Anthropic and Bedrock sign thoughts. Gemini signs the first call of an answer, or its text where it calls nothing. The
Responses API encrypts what was thought, and knows its items by their ids where it stores them. The AI SDK carries a
provider's signature in the options of a part. The chat family signs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace

from legato.model import Block, Dialect, Json, JsonObject, Text, Thinking, ToolCall
from legato.model.hashing import base62
from legato.simulation.seals import Seal
from legato.wire.arguments import wire_arguments
from legato.wire.hosting import ServerHabits

SDK_PROVIDER = "simulated"
"""under which name the AI SDK carries our signatures"""

_PLACEHOLDERS = frozenset({"skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="})
"""documented for calls that Gemini did not make, plain and as clients send it that encode bytes"""

_ENCRYPTED = "reasoning.encrypted_content"


# --- on an answer -----------------------------------------------------------------------------------------------------


class Signing(NamedTuple):
    """How an answer is signed. `secretly`: thoughts are not shown, only their encrypted form is."""

    habits: ServerHabits
    dialect: Dialect
    seal: Seal
    seed: str
    body: JsonObject
    secretly: bool = False


def sign_answer(blocks: Sequence[Block], how: Signing) -> tuple[Block, ...]:
    """`blocks` as this provider gives them out; a thought that it never shows is left out."""
    match how.dialect:
        case Dialect.ANTHROPIC | Dialect.BEDROCK:
            return tuple(_signed_thought(block, how) if isinstance(block, Thinking) else block for block in blocks)
        case Dialect.OPENAI_RESPONSES:
            return tuple(_reasoning_item(block, how) if isinstance(block, Thinking) else block for block in blocks)
        case Dialect.VERCEL:
            return tuple(_with_options(block, how.seal) if isinstance(block, Thinking) else block for block in blocks)
        case Dialect.GEMINI:
            return _sign_parts(blocks, how)
        case Dialect.OPENAI_CHAT:
            if how.habits.hides_thoughts:
                return tuple(block for block in blocks if not isinstance(block, Thinking))
            if how.habits.thinking_chunks:
                native = {"chunk": True}
                return tuple(
                    replace(block, native=native) if isinstance(block, Thinking) else block for block in blocks
                )
            return tuple(blocks)


def _signed_thought(block: Thinking, how: Signing) -> Thinking:
    if how.secretly:
        return Thinking(native={"data": how.seal.wrap(block.text)})
    return replace(block, native={"signature": how.seal.sign(block.text)})


def _reasoning_item(block: Thinking, how: Signing) -> Thinking:
    """A reasoning item: its summary and its encrypted form only if they were asked for."""
    shows = bool(_object(how.body.get("reasoning")).get("summary")) and not how.secretly
    item: JsonObject = {
        "type": "reasoning",
        "id": "rs_" + how.seal.name(base62("reasoning", how.seed, length=16)),
        "summary": [{"type": "summary_text", "text": block.text}] if shows else [],
    }
    if _ENCRYPTED in _list(how.body.get("include")):
        item["encrypted_content"] = how.seal.wrap(block.text)
    return Thinking(block.text if shows else "", native={"item": item})


def _with_options(block: Thinking, seal: Seal) -> Thinking:
    return replace(block, native={"providerOptions": {SDK_PROVIDER: {"signature": seal.sign(block.text)}}})


def _sign_parts(blocks: Sequence[Block], how: Signing) -> tuple[Block, ...]:
    thinks = any(isinstance(block, Thinking) for block in blocks)
    config = _object(_object(how.body.get("generationConfig")).get("thinkingConfig"))
    shows = bool(config.get("includeThoughts") or config.get("include_thoughts")) and not how.secretly
    shown = [block for block in blocks if shows or not isinstance(block, Thinking)]
    if not thinks:
        return tuple(shown)
    first = next((place for place, block in enumerate(shown) if isinstance(block, ToolCall)), None)
    place = first if first is not None else len(shown) - 1
    block = shown[place]
    if isinstance(block, ToolCall):
        content = _call_content(block.name, wire_arguments(block))
        shown[place] = replace(block, native={"thoughtSignature": how.seal.sign(content)})
    elif isinstance(block, Text):
        shown[place] = replace(block, native={"thoughtSignature": how.seal.sign(block.text)})
    return tuple(shown)


# --- in a request -----------------------------------------------------------------------------------------------------


class ForeignSignature(NamedTuple):
    """A signature that is not ours: where it is, and in which field."""

    path: str
    field: str


def find_foreign(body: JsonObject, dialect: Dialect, seal: Seal) -> ForeignSignature | None:
    """The first signature in `body` that `seal` did not give."""
    match dialect:
        case Dialect.ANTHROPIC:
            found = _foreign_thoughts(body, seal)
        case Dialect.BEDROCK:
            found = _foreign_reasoning(body, seal)
        case Dialect.OPENAI_RESPONSES:
            found = _foreign_items(body, seal)
        case Dialect.GEMINI:
            found = _foreign_parts(body, seal)
        case Dialect.VERCEL:
            found = _foreign_options(body, seal)
        case Dialect.OPENAI_CHAT:
            return None
    return next(found, None)


def _foreign_thoughts(body: JsonObject, seal: Seal) -> Iterator[ForeignSignature]:
    for path, block in _inside(body.get("messages"), "messages", "content"):
        match block.get("type"):
            case "thinking":
                if not seal.signed(_text(block.get("thinking")), _text(block.get("signature"))):
                    yield ForeignSignature(path, "signature")
            case "redacted_thinking":
                if not seal.wrapped(_text(block.get("data"))):
                    yield ForeignSignature(path, "data")
            case _:
                pass


def _foreign_reasoning(body: JsonObject, seal: Seal) -> Iterator[ForeignSignature]:
    for path, block in _inside(body.get("messages"), "messages", "content"):
        thought = _object(block.get("reasoningContent"))
        said = _object(thought.get("reasoningText"))
        if said and not seal.signed(_text(said.get("text")), _text(said.get("signature"))):
            yield ForeignSignature(path, "signature")
        if "redactedContent" in thought and not seal.wrapped(_text(thought["redactedContent"])):
            yield ForeignSignature(path, "data")


def _foreign_items(body: JsonObject, seal: Seal) -> Iterator[ForeignSignature]:
    for index, item in enumerate(_list(body.get("input"))):
        item = _object(item)
        if item.get("type") not in ("reasoning", "compaction"):
            continue
        token = item.get("encrypted_content")
        if token is not None:
            if not seal.wrapped(_text(token)):
                yield ForeignSignature(f"input[{index}]", "encrypted_content")
        elif not seal.named(_text(item.get("id")).removeprefix("rs_")):
            yield ForeignSignature(_text(item.get("id")), "id")


def _foreign_parts(body: JsonObject, seal: Seal) -> Iterator[ForeignSignature]:
    for path, part in _inside(body.get("contents"), "contents", "parts"):
        token = _text(part.get("thoughtSignature") or part.get("thought_signature"))
        if token and token not in _PLACEHOLDERS and not _signs_part(part, token, seal):
            yield ForeignSignature(path, "thoughtSignature")


def _signs_part(part: JsonObject, token: str, seal: Seal) -> bool:
    call = _object(part.get("functionCall") or part.get("function_call"))
    content = _call_content(_text(call.get("name")), call.get("args") or {}) if call else _text(part.get("text"))
    # Clients that hold the bytes write them in the alphabet for URLs.
    return seal.signed(content, token.translate(_PLAIN_ALPHABET))


_PLAIN_ALPHABET = str.maketrans("-_", "+/")


def _foreign_options(body: JsonObject, seal: Seal) -> Iterator[ForeignSignature]:
    for path, part in _inside(body.get("messages"), "messages", "content"):
        options = _object(_object(part.get("providerOptions")).get(SDK_PROVIDER))
        is_ours = seal.signed(_text(part.get("text")), _text(options.get("signature")))
        if part.get("type") == "reasoning" and options and not is_ours:
            yield ForeignSignature(path, "signature")


def _call_content(name: str, arguments: Json) -> str:
    return name + msgspec.json.encode(arguments, order="deterministic").decode()


def _inside(messages: Json, field: str, content: str) -> Iterator[tuple[str, JsonObject]]:
    """Every block of every message, with its path."""
    for index, message in enumerate(_list(messages)):
        for place, block in enumerate(_list(_object(message).get(content))):
            yield f"{field}[{index}].{content}[{place}]", _object(block)


def _list(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []


def _object(value: Json) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
