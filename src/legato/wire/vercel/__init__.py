"""The AI SDK dialect: a prompt of ModelMessages.

Beside the parts that every dialect has (see `wire.contract`):

reading         parts as blocks, which `decode`, `stream` and `parse` share
parse_envelope  instructions, tools and options of a request, by their names in any version of the SDK
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.vercel import decode, encode, envelope, parse, reply, stream

DIALECT = DialectParts(
    name=Dialect.VERCEL,
    messages_field="messages",
    owned_fields=frozenset({"model", "messages", "system", "instructions", "tools", "stream"}),
    grammar=encode.grammar,
    shapes=encode.VercelShapes,
    option_grammar=envelope.option_grammar,
    encode_envelope=envelope.encode_envelope,
    decode=decode.decode,
    decoder=stream.Decoder,
    parse=parse.parse,
    writer=reply.Writer,
)
