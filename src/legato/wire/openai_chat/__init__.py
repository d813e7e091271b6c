"""Chat Completions, the first dialect of OpenAI and of everybody who is compatible with it.

profiles    what tells the servers of the family apart, as a table
shapes      the JSON of messages and of what they hold
encode      what each server's format allows, and how decided messages are spelled; envelope what stands around them
decode      reads a response body, stream a streamed one: message is the reader both share, with calls, growing and
            reading
parse       reads a request back: transcript its messages, and those of simple shapes (simple_messages) in a row (usual)
reply       writes responses
rules       judges a request, and shares no code with the rest
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.openai_chat.decode import decode
from legato.wire.openai_chat.encode import ChatShapes, grammar
from legato.wire.openai_chat.envelope import option_grammar, spell_envelope
from legato.wire.openai_chat.parse import parse, parse_json
from legato.wire.openai_chat.reply import Writer, reply
from legato.wire.openai_chat.stream import ChatDecoder

DIALECT = DialectParts(
    name=Dialect.OPENAI_CHAT,
    messages_field="messages",
    grammar=grammar,
    shapes=ChatShapes,
    option_grammar=option_grammar,
    spell_envelope=spell_envelope,
    decode=decode,
    decoder=ChatDecoder,
    parse=parse,
    parse_json=parse_json,
    reply=reply,
    writer=Writer,
)
