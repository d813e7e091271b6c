"""Names of sessions, and the small JSON that goes with them.

A minted id begins with the time, so that ids sort as sessions began, and ends with chance, so that two machines never
mint the same one. A caller's own id is held to the same letters, because ids end up in file names and command lines.
"""

from __future__ import annotations

import re
import secrets
import time

import msgspec

from legato.errors import CallerError, StoreCorrupt, UnsafeName
from legato.model.ingestion import ingest
from legato.model.jsonvalue import JsonObject

MAX_META_BYTES = 64 * 1024
"""Metadata is read for every session that a list shows, so it stays small."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # no i, l, o, u: ids are read aloud and typed
_CHANCE = 8
"""letters of chance, 40 bits: two ids of one millisecond are equal once in a million million"""


def mint_session_id() -> str:
    """A new id, such as `20260131-174502123-8fk2x0qz`: the time in UTC to the millisecond, then chance."""
    now = time.time()
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    chance = "".join(secrets.choice(_LETTERS) for _ in range(_CHANCE))
    return f"{moment}{int(now * 1000) % 1000:03d}-{chance}"


def is_session_id(text: str) -> bool:
    """Whether `text` may name a session at all."""
    return _ID.fullmatch(text) is not None


def usable_session_id(session_id: str | None) -> str:
    """`session_id` itself if it may name a session, or a minted one for None; raises `UnsafeName`."""
    if session_id is None:
        return mint_session_id()
    if not is_session_id(session_id):
        raise UnsafeName(
            f"{session_id!r} cannot name a session: use 1 to 128 letters, digits, dots, dashes and underscores,"
            " beginning with a letter or digit",
            name=session_id,
        )
    return session_id


def encode_meta(meta: JsonObject) -> bytes:
    """`meta` as JSON bytes; raises `CallerError` if it is not small."""
    data = msgspec.json.encode(ingest(meta))
    if len(data) > MAX_META_BYTES:
        raise CallerError(
            f"the metadata of a session may have {MAX_META_BYTES:,} bytes, this has {len(data):,}; keep large values"
            " in the conversation or in a file"
        )
    return data


def decode_meta(data: bytes | str) -> JsonObject:
    """The metadata in `data`; raises `StoreCorrupt` if it is none."""
    try:
        return msgspec.json.decode(data, type=JsonObject)
    except (msgspec.DecodeError, UnicodeError, TypeError, RecursionError):
        raise StoreCorrupt("the metadata of a session is damaged; restore it from a backup") from None


def merge_meta(meta: JsonObject, changes: JsonObject) -> JsonObject:
    """`meta` with `changes` laid over it; a key with None goes."""
    return {key: value for key, value in {**meta, **changes}.items() if value is not None}
