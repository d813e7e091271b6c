"""The AI SDK dialect: a prompt of ModelMessages."""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.vercel.decode import decode
from legato.wire.vercel.encode import VercelShapes, grammar
from legato.wire.vercel.envelope import option_grammar, spell_envelope
from legato.wire.vercel.parse import parse
from legato.wire.vercel.reply import Writer, reply
from legato.wire.vercel.stream import PartsDecoder

DIALECT = DialectParts(
    name=Dialect.VERCEL,
    messages_field="messages",
    grammar=grammar,
    shapes=VercelShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=PartsDecoder,
    parse=parse,
    reply=reply,
    writer=Writer,
)
