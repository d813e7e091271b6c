"""AWS's binary event stream, in both directions, and a maker's own events inside it.

In:  bytes as they arrive, split anywhere; or a name and a payload.
Out: the events in them, as JSON; or the bytes of one event.

    total length   headers length   checksum of these   headers   payload   checksum of everything before
       4 bytes         4 bytes           4 bytes                                    4 bytes

A header is a name (one byte of length), one byte for its type and a value; the service sends only strings, type 7. All
numbers are big-endian, checksums are CRC-32
(https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html). Other types of header are skipped by
their size. `:message-type` is `event`, or `exception` for an error in the middle of a stream.

A model that is asked in its maker's shape (`InvokeModelWithResponseStream`) sends that maker's events as they are: each
is a `chunk` whose payload holds the bytes of one event as base64
(https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html).
"""

from __future__ import annotations

import base64
import binascii
import struct
from functools import lru_cache
from typing import Any
from zlib import crc32

import msgspec

from legato.errors import BadAnswer
from legato.wire.bounds import Bounds, beyond

_LENGTHS = struct.Struct(">II")
_PRELUDE = struct.Struct(">III")
"""the lengths and their checksum"""
_CHECKSUM = struct.Struct(">I")
_SMALLEST = 16
"""bytes of a frame without headers and payload"""
_HEADERS = 12
"""where the headers begin"""
_NAMES = (":event-type", ":exception-type", ":error-code")
_STRING = 7  # the type of a header whose value is text
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""the bytes of a header's value, by its type; bytes (6) and strings (7) say their own length"""


class FrameParser:
    """Collects bytes and gives out whole events as JSON, as `SSEParser` does for server-sent events."""

    def __init__(self, longest: int = Bounds().event) -> None:
        self.longest = longest
        self._held = bytearray()
        """the beginning of a frame whose end has not arrived"""
        self._needed = 0
        """bytes of it that have to be there before it is worth a look"""

    def feed(self, data: bytes) -> list[bytes]:
        """The events that `data` completes, each an object whose one member is the event's name."""
        if self._held:
            self._held += data
            if len(self._held) < self._needed:
                return []
            data = bytes(self._held)
            self._held.clear()
        events: list[bytes] = []
        at, end = 0, len(data)
        self._needed = _SMALLEST
        while end - at >= _SMALLEST:
            length, headers, checksum = _PRELUDE.unpack_from(data, at)
            stop, headers_end = at + length - _CHECKSUM.size, at + _HEADERS + headers
            if (
                headers_end <= stop <= end - _CHECKSUM.size
                and length <= self.longest
                and _CHECKSUM.unpack_from(data, stop)[0] == crc32(data[at:stop])  # so the lengths are right, too
            ):
                opening, message = _read_about(data[at + _HEADERS : headers_end])
                events.append(opening + (data[headers_end:stop] or message) + b"}")
                at = stop + _CHECKSUM.size
                continue
            if checksum != crc32(data[at : at + _LENGTHS.size]):
                raise _damaged("the lengths of an event do not match their checksum")
            if length < _SMALLEST + headers:
                raise _damaged("the headers of an event are longer than the event")
            if length > self.longest:
                raise beyond(f"an event of the stream has {length} bytes", bound="event", limit=self.longest)
            if length <= end - at:
                raise _damaged("an event does not match its checksum")
            self._needed = length
            break
        self._held += data[at:]
        return events

    def close(self) -> list[bytes]:
        """Nothing: what has not arrived whole is no event."""
        return []


class ChunkParser(FrameParser):
    """Gives out the events inside the chunks; an exception of the service becomes an event of type `error`."""

    def feed(self, data: bytes) -> list[bytes]:
        """The maker's events that `data` completes."""
        return [_unwrap(event) for event in super().feed(data)]


def _unwrap(event: bytes) -> bytes:
    try:
        (name, value), *_ = msgspec.json.decode(event, type=dict[str, dict[str, Any]]).items()
        if name == "chunk":
            return base64.b64decode(value["bytes"], validate=True)
    except (msgspec.DecodeError, KeyError, TypeError, binascii.Error):
        raise _damaged("a chunk does not hold an event") from None
    said = {"type": name, "message": str(value.get("message", ""))}
    return msgspec.json.encode({"type": "error", "error": said})


def write_chunk(event: bytes) -> bytes:
    """The bytes of a chunk that holds `event`, the JSON of one of the maker's events."""
    return write_frame("chunk", msgspec.json.encode({"bytes": base64.b64encode(event).decode()}))


def _read_about(data: bytes) -> tuple[bytes, bytes]:
    """What headers say, as JSON: an object up to the value of the event's name, and that value if it has no payload."""
    try:
        return _known_about(data) if len(data) <= _SHORT else _encode_about(data)
    except (IndexError, struct.error, UnicodeDecodeError):
        raise _damaged("the headers of an event cannot be read") from None


def _encode_about(data: bytes) -> tuple[bytes, bytes]:
    headers = _read_headers(data)
    name = next((headers[kind] for kind in _NAMES if kind in headers), "")
    message = {"message": headers.get(":error-message", "")}
    return b"{" + msgspec.json.encode(name) + b":", msgspec.json.encode(message)


_known_about = lru_cache(maxsize=64)(_encode_about)
"""the same, remembered: a stream has a few kinds of events, and those of one kind have the same headers"""
_SHORT = 256
"""bytes of headers that are remembered: our choice"""


def _read_headers(data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name, kind = data[at + 1 : name_end].decode(), data[name_end]
        at = name_end + 1
        if kind in _SIZES:
            at += _SIZES[kind]
            continue
        (size,) = struct.unpack_from(">H", data, at)
        value = data[at + 2 : at + 2 + size]
        at += 2 + size
        if kind == _STRING:
            headers[name] = value.decode()
    if at != len(data):
        raise IndexError("a header runs out of its event")
    return headers


def write_frame(name: str, payload: bytes, *, is_error: bool = False) -> bytes:
    """The bytes of one event."""
    kind, header = ("exception", ":exception-type") if is_error else ("event", ":event-type")
    headers = b"".join(
        _write_header(key, value)
        for key, value in ((header, name), (":content-type", "application/json"), (":message-type", kind))
    )
    lengths = _LENGTHS.pack(_SMALLEST + len(headers) + len(payload), len(headers))
    frame = b"".join((lengths, _CHECKSUM.pack(crc32(lengths)), headers, payload))
    return frame + _CHECKSUM.pack(crc32(frame))


def _write_header(name: str, value: str) -> bytes:
    named, text = name.encode(), value.encode()
    return b"".join((bytes((len(named),)), named, bytes((_STRING,)), struct.pack(">H", len(text)), text))


def _damaged(what: str) -> BadAnswer:
    return BadAnswer(f"the stream is damaged: {what}", layer="decode")
