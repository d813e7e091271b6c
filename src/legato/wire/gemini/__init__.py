"""The `generateContent` API of Gemini, and of Vertex AI.

Beside the parts that every dialect has (see `wire.contract`):

fields      what is peculiar to Google's JSON: two ways to write a name, and bytes
reading     parts as blocks, which `decode`, `stream` and `parse` share
partial     arguments of a call that arrive value by value
signatures  which signatures of thoughts are kept, and the placeholder for one
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.gemini import decode, encode, envelope, parse, reply, stream

DIALECT = DialectParts(
    name=Dialect.GEMINI,
    messages_field="contents",
    # Google's JSON takes every name in camel case and in snake case.
    owned_fields=frozenset({"model", "contents", "systemInstruction", "system_instruction", "tools"}),
    is_hosted=envelope.is_hosted,
    grammar=encode.grammar,
    shapes=encode.GeminiShapes,
    option_grammar=envelope.option_grammar,
    encode_envelope=envelope.encode_envelope,
    decode=decode.decode,
    decoder=stream.Decoder,
    parse=parse.parse,
    reader=parse.ContentReader,
    writer=reply.Writer,
)
