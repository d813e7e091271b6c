"""Chat Completions, the first dialect of OpenAI and of everyone who is compatible with it.

What tells the hosts of the family apart is declared in `wire.hosts`. Beside the parts that every dialect has (see
`wire.contract`):

reading            small readers that `decode`, `stream` and `parse` share
message            the reader of one answer, whole or in pieces
calls              the calls of an answer, whose pieces arrive under all kinds of numbers and ids
growing            what arrives in pieces, so that no piece is read twice
message_list       the messages of a request as entries
entry_builder      the entries that they become
simple_batch       messages of simple shapes, read in a batch
simple_messages    those shapes, as types
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.openai_chat import decode, encode, envelope, parse, reply, shapes, stream

DIALECT = DialectParts(
    name=Dialect.OPENAI_CHAT,
    messages_field="messages",
    owned_fields=frozenset({"model", "messages", "tools", "functions", "stream", "store"}),
    join=shapes.joined,
    grammar=encode.grammar,
    shapes=encode.ChatShapes,
    option_grammar=envelope.option_grammar,
    encode_envelope=envelope.encode_envelope,
    decode=decode.decode,
    decoder=stream.Decoder,
    parse=parse.parse,
    reader=parse.ChatBodyReader,
    parse_json=parse.parse_json,
    writer=reply.Writer,
)
