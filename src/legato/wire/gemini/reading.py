"""Read the parts of a model content.

In:  parts, one after another, as a body, a stream or a request holds them.
Out: blocks, collected in an `AnswerBuilder`.

Text arrives in pieces without a mark where one ends, so neighbouring pieces are one block, with one exception: a part
with a signature is never joined with another, because the signature belongs to that part alone.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from legato.model import Block, HostedTool, JsonObject, Media, MediaKind, ingest
from legato.model.json_access import as_list, as_object, as_text
from legato.wire.arguments import read_arguments
from legato.wire.contract import Delta
from legato.wire.gemini.fields import as_base64, camel
from legato.wire.gemini.partial import PartialArguments
from legato.wire.gemini.signatures import kept_signature
from legato.wire.stream import AnswerBuilder

_USES = {"executableCode": "code_execution", "toolCall": ""}
_RESULTS = {"codeExecutionResult", "toolResponse"}
_KINDS_OF_MEDIA = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO, "video": MediaKind.VIDEO}
_NOT_DATA = frozenset({"thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"})


class PartReader:
    """Turns parts into blocks, as they come."""

    def __init__(self, builder: AnswerBuilder) -> None:
        self._builder = builder
        self._next = 0
        self._open: tuple[Literal["text", "thinking"], int] | None = None
        """the run of text that the next piece may continue"""
        self._arriving: tuple[int, PartialArguments] | None = None
        """the call whose arguments arrive value by value"""
        self._uses: dict[str, tuple[int, HostedTool]] = {}
        """tools that the provider ran, by id, and the last of them under no id: their results may follow"""

    def take(self, source: object) -> list[Delta]:
        """Take one part."""
        part = camel(source)
        signature = kept_signature(as_base64(part.get("thoughtSignature")))
        if "text" in part:
            return self._text(as_text(part["text"]), bool(part.get("thought")), signature)
        if "functionCall" in part:
            self._open = None
            return self._call(camel(part["functionCall"]), signature)
        media = read_media(part, native=signature)
        if media is not None:
            return self._put(media)
        return self._other(part, signature)

    def close(self) -> list[Delta]:
        """The answer ended well: a call whose arguments were still arriving has them all."""
        if self._arriving is None:
            return []
        key, arguments = self._arriving
        self._arriving = None
        self._builder.done(key)
        return self._builder.call(key, arguments=_json(arguments.value))

    def _key(self) -> int:
        self._next += 1
        return self._next

    def _text(self, text: str, is_thought: bool, signature: JsonObject | None) -> list[Delta]:
        kind = "thinking" if is_thought else "text"
        if not text and signature is None:
            return []
        if signature is None and self._open is not None and self._open[0] == kind:
            key = self._open[1]
        else:
            key = self._key()
        self._open = (kind, key) if signature is None else None
        deltas = self._builder.thinking(key, text) if is_thought else self._builder.text(key, text)
        self._builder.native(key, **(signature or {}))
        return deltas

    def _call(self, call: JsonObject, signature: JsonObject | None) -> list[Delta]:
        name, goes_on = as_text(call.get("name")), call.get("willContinue") is True
        deltas: list[Delta] = []
        if name:
            deltas += self.close()
            key = self._key()
            arguments = call.get("args")
            told = "" if arguments is None else _argument_text(arguments)
            deltas += self._builder.call(key, name=name, wire_id=as_text(call.get("id")), arguments=told)
            self._builder.native(key, **(signature or {}))
            if not goes_on and "partialArgs" not in call:
                self._builder.done(key)
                return deltas
            self._arriving = key, PartialArguments()
        if self._arriving is not None:
            for piece in as_list(call.get("partialArgs")):
                self._arriving[1].add(piece)
            if not goes_on:
                deltas += self.close()
        return deltas

    def _other(self, part: JsonObject, signature: JsonObject | None) -> list[Delta]:
        """What is neither text nor call nor medium: tools that the provider runs, and kinds that are new to us."""
        kind = next((name for name in part if name not in _NOT_DATA), "")
        if not kind:
            return self._text("", bool(part.get("thought")), signature)
        fields = camel(part[kind])
        kept: JsonObject = {kind: ingest(fields)} | (signature or {})
        wire_id = as_text(fields.get("id"))
        if kind in _RESULTS and (known := self._uses.get(wire_id) or self._uses.get("")):
            key, use = known
            parts = [*as_object(use.native)["parts"], kept]
            result = ingest(fields.get("response", fields))
            self._open = None
            return self._builder.put(
                key, HostedTool(use.name, use.arguments, result, use.wire_id, native={"parts": parts})
            )
        name = _USES.get(kind) or as_text(fields.get("toolType")).lower() or kind
        arguments = read_arguments(fields.get("args", {n: v for n, v in fields.items() if n != "id"})).value
        block = HostedTool(name, arguments, wire_id=wire_id, native={"parts": [kept]})
        if kind in _USES:
            self._uses[wire_id] = self._uses[""] = self._next + 1, block
        return self._put(block)

    def _put(self, block: Block) -> list[Delta]:
        self._open = None
        return self._builder.put(self._key(), block)


def read_media(part: JsonObject, *, native: JsonObject | None = None) -> Media | None:
    """The image, sound, film or document in a part; None if it holds none."""
    inline, file = camel(part.get("inlineData")), camel(part.get("fileData"))
    source = inline or file
    if not source:
        return None
    mime = as_text(source.get("mimeType"))
    kind = _KINDS_OF_MEDIA.get(mime.partition("/")[0], MediaKind.DOCUMENT)
    name = as_text(source.get("displayName")) or None
    if inline:
        return Media(kind, mime, data=as_base64(inline.get("data")), name=name, native=native)
    return Media(kind, mime, url=as_text(file.get("fileUri")), name=name, native=native)


def _argument_text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else _json(arguments)


def _json(value: object) -> str:
    return msgspec.json.encode(ingest(value)).decode()
