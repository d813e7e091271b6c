"""What the client said: its body, read once.

In:  a request and the door that it came to.
Out: a `ClientRequest`: entries, instructions, tools and options in neutral words, and how the answer is wanted.

Answers in it have no origin yet: a body does not say who gave them, and it is `recall` that knows.
"""

from __future__ import annotations

from typing import cast

import msgspec
from msgspec import Struct

from legato.errors import FormatError
from legato.gateway.contract import CallIdForm, Delivery, Door
from legato.gateway.passed_keys import PassedKey
from legato.gateway.side_operations import counted_request
from legato.gateway.surfaces import home_of
from legato.model import Dialect, Json, JsonObject, ThinkingSwitch
from legato.model.json_access import as_object, as_text
from legato.request.parsing import decode_body
from legato.transport.contract import Ask
from legato.transport.operations import Operation
from legato.transport.outgoing import KEY_HEADERS
from legato.transport.stored_responses import previous_id
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.known_tools import decode_known
from legato.wire.openai_responses.reading import client_tools


class ClientRequest(Struct, frozen=True, kw_only=True):
    """One request of a client."""

    delivery: Delivery
    parsed: Parsed
    fields: JsonObject
    """the body, with all that came before it if it only names that"""
    body: bytes | None
    """the body as it came; None if only the gateway can read it"""
    headers: dict[str, str]
    """without those that carry a key"""
    own_key: PassedKey | None = None
    """a key of the client's own for its vendor, where the operator lets it be used"""

    @property
    def home(self) -> str:
        """The kind of server that the client believes to speak with."""
        return home_of(self.delivery.door)


def read_ask(ask: Ask, door: Door, *, tenant: str = "") -> ClientRequest:
    """What `ask` says; raises `FormatError` if its body is no request of that API."""
    fields = _fields(ask, door)
    return read_body(fields, ask, door, tenant=tenant)


def _fields(ask: Ask, door: Door) -> JsonObject:
    value = decode_request(ask.body)
    if not isinstance(value, dict):
        raise FormatError(f"the body of a request is an object, not {type(value).__name__}")
    fields = cast(JsonObject, value)
    if door.operation is Operation.COUNT:
        fields = counted_request(fields)
    messages = dialect_parts(door.dialect).messages_field
    if messages not in fields and previous_id(fields, door.dialect) is None:
        raise FormatError(f"the body has no {messages!r}, so there is nothing to answer")
    return fields


def decode_request(data: bytes) -> object:
    """What `decode_body` gives. Tools that came lately are not decoded again: nobody may change what is in them."""
    try:
        fields = _SPLIT.decode(data)
        return {
            name: decode_known(bytes(raw)) if name == "tools" else _JSON.decode(raw) for name, raw in fields.items()
        }
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return decode_body(data)  # the slow road either reads it or says what is wrong


_SPLIT, _JSON = msgspec.json.Decoder(dict[str, msgspec.Raw]), msgspec.json.Decoder()


def read_body(fields: JsonObject, ask: Ask, door: Door, *, tenant: str = "") -> ClientRequest:
    """What a body says that is already read."""
    parts = dialect_parts(door.dialect)
    try:
        parsed = parts.parse(fields).belonging_to(home_of(door))
    except RecursionError:
        raise FormatError("a value in it is nested too deeply to be read") from None
    named = door.name if door.dialect is Dialect.GEMINI else as_text(fields.get("model"))
    streams = door.streams or parsed.options.stream
    if parsed.options.stream is not streams:
        parsed = msgspec.structs.replace(parsed, options=msgspec.structs.replace(parsed.options, stream=streams))
    delivery = Delivery(
        door=door,
        model=named,
        stream=streams,
        tenant=tenant,
        asks_thinking=_asks_thinking(fields, parsed, door),
        own_calls=client_tools(parsed.tools) if door.dialect is Dialect.OPENAI_RESPONSES else {},
        wants_usage=_wants_usage(fields, door),
    )
    headers = {name: value for name, value in ask.headers.items() if name not in KEY_HEADERS}
    return ClientRequest(delivery=delivery, parsed=parsed, fields=fields, body=ask.body, headers=headers)


def _asks_thinking(fields: JsonObject, parsed: Parsed, door: Door) -> bool:
    """Whether the client knows what to do with thinking.

    Anthropic's clients switch it on; programs that did not read `content[0].text`. In the other APIs it stands beside
    the text, where nobody trips over it, except that Gemini's clients are shown thoughts only if they ask for them, and
    that the content of a Mistral answer is a text only as long as the model that is asked for does not think.
    """
    match door.dialect:
        case Dialect.ANTHROPIC:
            return parsed.options.thinking is ThinkingSwitch.ON
        case Dialect.OPENAI_CHAT if door.call_ids is CallIdForm.MISTRAL:
            asks = parsed.options.effort is not None or parsed.options.thinking is ThinkingSwitch.ON
            return asks or "magistral" in parsed.model  # these models always think
        case Dialect.GEMINI:
            return _includes_thoughts(fields)
        case _:
            return True


def _includes_thoughts(fields: JsonObject) -> bool:
    """Whether a request to Gemini asks for thoughts; both spellings of names are in use."""
    config = as_object(fields.get("generationConfig") or fields.get("generation_config"))
    thinking = as_object(config.get("thinkingConfig") or config.get("thinking_config"))
    return (thinking.get("includeThoughts") or thinking.get("include_thoughts")) is True


def _wants_usage(fields: JsonObject, door: Door) -> bool:
    if door.dialect is not Dialect.OPENAI_CHAT or door.joins_usage:
        return True
    return as_object(cast(Json, fields.get("stream_options"))).get("include_usage") is True
