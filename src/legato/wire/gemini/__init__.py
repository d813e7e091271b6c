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
from legato.wire.gemini.decode import decode
from legato.wire.gemini.encode import GeminiShapes, grammar
from legato.wire.gemini.envelope import option_grammar, spell_envelope
from legato.wire.gemini.parse import parse
from legato.wire.gemini.reply import Writer
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
    writer=Writer,
)
