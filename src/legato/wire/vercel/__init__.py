"""The AI SDK dialect: a prompt of ModelMessages.

Beside the parts that every dialect has (see `wire.contract`):

reading         parts as blocks, which `decode`, `stream` and `parse` share
parse_envelope  instructions, tools and options of a request, by their names in any version of the SDK
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.vercel.decode import decode
from legato.wire.vercel.encode import VercelShapes, grammar
from legato.wire.vercel.envelope import option_grammar, spell_envelope
from legato.wire.vercel.parse import parse
from legato.wire.vercel.reply import Writer
from legato.wire.vercel.stream import Decoder

DIALECT = DialectParts(
    name=Dialect.VERCEL,
    messages_field="messages",
    grammar=grammar,
    shapes=VercelShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=Decoder,
    parse=parse,
    writer=Writer,
)
