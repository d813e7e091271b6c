"""Messages as lines of JSON on standard input (`--input-format stream-json`): a conversation with a program.

Each line is one message, answered before the next one is read:

    {"text": "hello"}
    {"type": "user", "message": {"role": "user", "content": "hello"}}

The second form is the one that Claude Code takes, so that a program written for it can speak to any model; `content`
may be a list of text and image blocks. `@file` means nothing here: a program sends what it means to send.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio.to_thread

from legato.cli.chat.oneshot import MAX_STDIN, OneShotQuestion
from legato.errors import CallerError, IngestError
from legato.model import Block, JsonObject, Media, MediaKind, Text, read_json


async def read_messages() -> AsyncIterator[OneShotQuestion]:
    """The messages on standard input, one by one as they come; raises `CallerError` for a line that is none."""
    number = 0
    while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, MAX_STDIN + 1, abandon_on_cancel=True):
        number += 1
        if len(line) > MAX_STDIN:
            raise CallerError(f"line {number} of standard input has more than {MAX_STDIN:,} bytes")
        if line.strip():
            yield OneShotQuestion(read_message_line(line, number))


def read_message_line(line: bytes, number: int) -> tuple[Block, ...]:
    """The blocks of the message in one line."""
    try:
        value = read_json(line)
    except IngestError as error:
        raise _refused(number, f"is not JSON: {error.message}") from None
    content = _content(cast(JsonObject, value)) if isinstance(value, dict) else None
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list) or not content:
        raise _refused(number, 'holds no message; write {"text": "..."}')
    return tuple(_block(item, number) for item in cast("list[Any]", content))


def _content(value: JsonObject) -> Any:
    message = value.get("message")
    if value.get("type") == "user" and isinstance(message, dict):
        return cast(JsonObject, message).get("content")
    return value.get("text")


def _block(item: Any, number: int) -> Block:
    match item:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image", "source": {"type": "base64", "media_type": str(mime), "data": str(data)}}:
            return Media(kind=MediaKind.IMAGE, mime=mime, data=data)
        case _:
            raise _refused(number, "holds a block that is neither text nor an image in base64")


def _refused(number: int, why: str) -> CallerError:
    return CallerError(f"line {number} of standard input {why}")
