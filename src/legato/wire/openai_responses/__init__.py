"""The Responses dialect: stateless native items, or tool history embedded as text.

Beside the parts that every dialect has (see `wire.contract`):

reading         items as blocks, which `decode`, `stream` and `parse` share
parse_envelope  instructions, tools and options of a request, read back
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.openai_responses.decode import decode
from legato.wire.openai_responses.encode import ResponsesShapes, grammar
from legato.wire.openai_responses.envelope import option_grammar, spell_envelope
from legato.wire.openai_responses.parse import parse
from legato.wire.openai_responses.reply import Writer
from legato.wire.openai_responses.stream import Decoder

DIALECT = DialectParts(
    name=Dialect.OPENAI_RESPONSES,
    messages_field="input",
    grammar=grammar,
    shapes=ResponsesShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=Decoder,
    parse=parse,
    writer=Writer,
)
