"""The Messages API of Anthropic, and of those who speak it.

Beside the parts that every dialect has (see `wire.contract`):

caching     which blocks can carry a mark for the prompt cache
hosted      tools that the provider runs: two blocks there, one here
media       images and documents, read from content blocks
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.anthropic.caching import mark, mark_head
from legato.wire.anthropic.decode import decode
from legato.wire.anthropic.encode import AnthropicShapes, grammar
from legato.wire.anthropic.envelope import option_grammar, spell_envelope
from legato.wire.anthropic.parse import parse
from legato.wire.anthropic.reply import Writer
from legato.wire.anthropic.stream import Decoder
from legato.wire.contract import DialectParts

DIALECT = DialectParts(
    name=Dialect.ANTHROPIC,
    messages_field="messages",
    blocks_field="content",
    grammar=grammar,
    shapes=AnthropicShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=Decoder,
    parse=parse,
    writer=Writer,
    mark=mark,
    mark_head=mark_head,
)
