"""The Responses dialect: stateless native items, or tool history embedded as text.

Beside the parts that every dialect has (see `wire.contract`):

reading         items as blocks, which `decode`, `stream` and `parse` share
parse_envelope  instructions, tools and options of a request, read back
places          which item an event of a stream belongs to
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.openai_responses import decode, encode, envelope, parse, reply, stream

DIALECT = DialectParts(
    name=Dialect.OPENAI_RESPONSES,
    messages_field="input",
    owned_fields=frozenset({"model", "input", "instructions", "tools", "stream", "store"}),
    is_hosted=envelope.is_hosted,
    grammar=encode.grammar,
    shapes=encode.ResponsesShapes,
    option_grammar=envelope.option_grammar,
    encode_envelope=envelope.encode_envelope,
    decode=decode.decode,
    decoder=stream.Decoder,
    parse=parse.parse,
    reader=parse.ItemReader,
    writer=reply.Writer,
    repeats=reply.REPEATED,
)
