"""The Messages API of Anthropic, and of those who speak it.

Beside the parts that every dialect has (see `wire.contract`):

caching     which blocks can carry a mark for the prompt cache
hosted      tools that the provider runs: two blocks there, one here
media       images and documents, read from content blocks
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.anthropic import caching, decode, encode, envelope, parse, reply, stream
from legato.wire.contract import DialectParts

DIALECT = DialectParts(
    name=Dialect.ANTHROPIC,
    messages_field="messages",
    owned_fields=frozenset({"model", "messages", "system", "tools", "stream", "anthropic_version"}),
    is_hosted=envelope.is_hosted,
    blocks_field="content",
    grammar=encode.grammar,
    shapes=encode.AnthropicShapes,
    option_grammar=envelope.option_grammar,
    encode_envelope=envelope.encode_envelope,
    decode=decode.decode,
    decoder=stream.Decoder,
    parse=parse.parse,
    reader=parse.AnthropicReader,
    writer=reply.Writer,
    mark=caching.mark,
    mark_head=caching.mark_head,
)
