"""The Converse API of Amazon Bedrock, which is the same for all models there.

Beside the parts that every dialect has (see `wire.contract`):

caching         marks for the prompt cache, which are blocks of their own
media           images, documents and videos, read from content blocks
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.bedrock import caching, decode, encode, envelope, parse, reply, stream
from legato.wire.contract import DialectParts

DIALECT = DialectParts(
    name=Dialect.BEDROCK,
    messages_field="messages",
    owned_fields=frozenset({"modelId", "messages", "system", "toolConfig"}),
    blocks_field="content",
    grammar=encode.grammar,
    shapes=encode.BedrockShapes,
    option_grammar=envelope.option_grammar,
    encode_envelope=envelope.encode_envelope,
    decode=decode.decode,
    decoder=stream.Decoder,
    parse=parse.parse,
    writer=reply.Writer,
    mark=caching.mark,
    mark_head=caching.mark_head,
)
