"""Where a carrier is in what a client sends back: a field that the client keeps and never looks into.

    Anthropic    the `signature` of a thought, or the `data` of a redacted one
    Responses    the `encrypted_content` of a reasoning item
    Gemini       the `thoughtSignature` of any part
    chat         a detail of type `reasoning.encrypted` in `reasoning_details`; for Mistral's client the `signature`
                 of a thinking chunk

In all of them it is base64 of bytes that begin with the same mark, so it is known again without being opened. Google's
SDK accepts nothing but base64 there and sends it back in the other alphabet; the mark is the same in both.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64decode
from binascii import Error as NotBase64

from msgspec.structs import replace

from legato.gateway.contract import CallIdForm, Door
from legato.model import Block, Dialect, JsonObject, Text, Thinking
from legato.model.hashing import base62
from legato.model.json_access import as_object, as_objects

_SPELLED_MARK = "lega"
MARK = urlsafe_b64decode(_SPELLED_MARK)
"""what every carrier begins with"""

_DETAIL = "reasoning.encrypted"
_TO_URL_ALPHABET = str.maketrans("+/", "-_")


def spell(data: bytes) -> str:
    """A carrier as text."""
    return b64encode(data).decode()


def is_carrier(value: object) -> bool:
    """Whether `value` looks like a carrier of ours, whoever sealed it."""
    return isinstance(value, str) and value.startswith(_SPELLED_MARK)


def read(text: str) -> bytes:
    """The bytes of a carrier in either alphabet, padded or not; none if it is not base64."""
    plain = text.rstrip("=").translate(_TO_URL_ALPHABET)
    try:
        return urlsafe_b64decode(plain + "=" * (-len(plain) % 4))
    except (NotBase64, ValueError):
        return b""


# --- writing ----------------------------------------------------------------------------------------------------------


def carrying_thought(door: Door, text: str, carrier: str, number: int) -> Thinking:
    """A thought of the client's dialect that has `text` and carries `carrier`, the one of that number in its answer."""
    match door.dialect:
        case Dialect.ANTHROPIC:
            return Thinking(text, native={"signature": carrier} if text else {"data": carrier})
        case Dialect.OPENAI_RESPONSES:
            summary = [{"type": "summary_text", "text": text}] if text else []
            item_id = "rs_" + base62(carrier, length=24)
            item = {"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": carrier}
            return Thinking(text, native={"item": item})
        case Dialect.OPENAI_CHAT if door.call_ids is CallIdForm.MISTRAL:
            return Thinking(text, native={"chunk": True, "signature": carrier})
        case Dialect.OPENAI_CHAT:
            # The OpenAI SDK joins the entries of streamed lists by this index.
            detail = {"type": _DETAIL, "data": carrier, "index": number}
            return Thinking(text, native={"reasoning_details": [detail]})
        case _:
            return Thinking(text, native=carrying_part(carrier))


def carrying_part(carrier: str) -> JsonObject:
    """What a part of Gemini's has beside its content to carry `carrier`."""
    return {"thoughtSignature": carrier}


# --- reading ----------------------------------------------------------------------------------------------------------


def take_carriers(block: Block, dialect: Dialect) -> tuple[list[str], Block | None]:
    """The carriers in a block that a client sent, and the block without them; None if there is nothing else in it."""
    native = block.native
    if native is None or (dialect is not Dialect.GEMINI and not isinstance(block, Thinking)):
        return [], block
    match dialect:
        case Dialect.OPENAI_RESPONSES:
            found, rest = _of_item(native)
        case Dialect.OPENAI_CHAT:
            found, rest = _of_message(native)
        case _:
            found = [value for value in native.values() if is_carrier(value)]
            rest = {name: value for name, value in native.items() if not is_carrier(value)}
    if not found:
        return [], block
    is_empty = isinstance(block, Text | Thinking) and not block.text and not rest
    return found, None if is_empty else replace(block, native=rest or None)


def _of_item(native: JsonObject) -> tuple[list[str], JsonObject]:
    sealed = as_object(native.get("item")).get("encrypted_content")
    # Without its encrypted content an item can never be sent back.
    return ([sealed], {}) if isinstance(sealed, str) and is_carrier(sealed) else ([], native)


def _of_message(native: JsonObject) -> tuple[list[str], JsonObject]:
    details = as_objects(native.get("reasoning_details"))
    kept = [detail for detail in details if not is_carrier(detail.get("data"))]
    found = [detail["data"] for detail in details if is_carrier(detail.get("data"))]
    rest = {name: value for name, value in native.items() if name != "reasoning_details"}
    if kept:
        rest["reasoning_details"] = kept
    if is_carrier(native.get("signature")):
        found.append(rest.pop("signature"))
        rest.pop("chunk", None)
    return found, rest
