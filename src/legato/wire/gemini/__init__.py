"""The `generateContent` API of Gemini, and of Vertex AI."""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.gemini.decode import decode
from legato.wire.gemini.encode import GeminiShapes, grammar
from legato.wire.gemini.envelope import option_grammar, spell_envelope
from legato.wire.gemini.parse import parse
from legato.wire.gemini.reply import Writer, reply
from legato.wire.gemini.stream import Decoder

DIALECT = DialectParts(
    name=Dialect.GEMINI,
    messages_field="contents",
    grammar=grammar,
    shapes=GeminiShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=Decoder,
    parse=parse,
    reply=reply,
    writer=Writer,
)
