"""Chat Completions, the first dialect of OpenAI and of everybody who is compatible with it.

profiles    what tells the servers of the family apart, as a table
encode      prints a conversation: human (the human side), exchange (answers) with results, envelope (all around)
rows        prints many units at once, as far as they are plain
decode      reads a response body, stream a streamed one: message is the reader both share, with calls and reading
parse       reads a request back: transcript its messages, and those of the usual shapes (shapes) in a row (usual)
reply       writes responses
rules       judges a request, and shares no code with the rest
"""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.contract import DialectParts
from legato.wire.openai_chat.decode import decode
from legato.wire.openai_chat.encode import head, spell, tail
from legato.wire.openai_chat.parse import parse, parse_json
from legato.wire.openai_chat.reply import reply, reply_stream
from legato.wire.openai_chat.rows import print_row
from legato.wire.openai_chat.stream import ChatDecoder

DIALECT = DialectParts(
    name=Dialect.OPENAI_CHAT,
    messages_field="messages",
    spell=spell,
    print_row=print_row,
    tail=tail,
    head=head,
    decode=decode,
    decoder=ChatDecoder,
    parse=parse,
    parse_json=parse_json,
    reply=reply,
    reply_stream=reply_stream,
)
