"""Chat Completions, the first dialect of OpenAI and of everybody who is compatible with it.

What tells the hosts of the family apart is declared in `wire.hosts`. Beside the parts that every dialect has (see
`wire.contract`):

reading                small readers that `decode`, `stream` and `parse` share
message                the reader of one answer, whole or in pieces
calls                  the calls of an answer, whose pieces arrive under all kinds of numbers and ids
growing                what arrives in pieces, so that no piece is read twice
message_list           the messages of a request as entries
entry_builder          the entries that they become
simple_batch           messages of simple shapes, read in a batch
simple_messages        those shapes, as types
rule_texts_of_hosts    the rules of particular hosts, as `wire.hosts` declares them
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.openai_chat.decode import decode
from legato.wire.openai_chat.encode import ChatShapes, grammar
from legato.wire.openai_chat.envelope import option_grammar, spell_envelope
from legato.wire.openai_chat.parse import parse, parse_json
from legato.wire.openai_chat.reply import Writer
from legato.wire.openai_chat.shapes import joined
from legato.wire.openai_chat.stream import Decoder

DIALECT = DialectParts(
    name=Dialect.OPENAI_CHAT,
    messages_field="messages",
    join=joined,
    grammar=grammar,
    shapes=ChatShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=Decoder,
    parse=parse,
    parse_json=parse_json,
    writer=Writer,
)
