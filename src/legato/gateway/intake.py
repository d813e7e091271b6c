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
from legato.gateway.bodies import OpenedBody
from legato.gateway.contract import CallIdForm, Delivery, Door
from legato.gateway.passed_keys import PassedKey
from legato.gateway.side_operations import counted_request
from legato.gateway.surfaces import home_of
from legato.gateway.tellings import Telling, Tellings
from legato.model import Dialect, Json, JsonObject, ThinkingSwitch
from legato.model.json_access import as_object, as_text
from legato.transport.contract import Ask
from legato.transport.operations import Operation
from legato.transport.outgoing import KEY_HEADERS
from legato.transport.stored_responses import previous_id
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.openai_responses.reading import client_tools

NOT_JSON = "the body is not JSON as every server reads it"
_TEXT_WILL_DO = frozenset({Dialect.OPENAI_RESPONSES, Dialect.GEMINI})
"""where a text may stand for the list of messages"""


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
    telling: Telling
    """what is known of the conversation as its client tells it"""

    @property
    def home(self) -> str:
        """The kind of server that the client believes to speak with."""
        return home_of(self.delivery.door)


def open_ask(ask: Ask, door: Door, tellings: Tellings, tenant: str = "") -> OpenedBody:
    """The body of `ask`; raises `FormatError` if it is no request of that API."""
    field = dialect_parts(door.dialect).messages_field
    opened = tellings.open(ask.body, door.dialect, tenant)
    if door.operation is Operation.COUNT and (counted := counted_request(opened.fields)) is not opened.fields:
        opened = OpenedBody(counted)
    if door.dialect is Dialect.GEMINI and isinstance(content := opened.fields.get(field), dict):
        opened = OpenedBody({**opened.fields, field: [content]}, is_json=opened.is_json)  # one alone is taken as well
    if opened.raws is None:
        _check_messages(opened.fields, field, door.dialect)
    return opened


def _check_messages(fields: JsonObject, field: str, dialect: Dialect) -> None:
    """Raise `FormatError` if there are no messages where they belong: what is said elsewhere would not be heard."""
    messages = fields.get(field)
    if messages is None and previous_id(fields, dialect) is None:
        raise FormatError(f"the body has no {field!r}, so there is nothing to answer")
    if not isinstance(messages, list | None) and not (isinstance(messages, str) and dialect in _TEXT_WILL_DO):
        raise FormatError(f"{field!r} has to be a list, not {type(messages).__name__}")


def read_body(
    opened: OpenedBody, ask: Ask, door: Door, tellings: Tellings, *, tenant: str = "", previous: str | None = None
) -> ClientRequest:
    """What a body says, which went on from the response `previous`; raises `FormatError` if that cannot be read."""
    try:
        fields, parsed, telling = tellings.read(opened, door.dialect, tenant)
    except RecursionError:
        raise FormatError("a value in it is nested too deeply to be read") from None
    parsed = parsed.belonging_to(home_of(door))
    if not opened.is_json:
        parsed = msgspec.structs.replace(parsed, adjusted=[*parsed.adjusted, NOT_JSON])
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
        repeated=dialect_parts(door.dialect).repeated({**fields, "previous_response_id": previous}),
    )
    headers = {name: value for name, value in ask.headers.items() if name not in KEY_HEADERS}
    return ClientRequest(
        delivery=delivery, parsed=parsed, fields=fields, body=ask.body, headers=headers, telling=telling
    )


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
