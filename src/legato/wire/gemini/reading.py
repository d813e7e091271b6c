"""Read the parts of a model content.

In:  parts, one after another, as a body, a stream or a request holds them.
Out: blocks, collected in an `AnswerBuilder`.

Text arrives in pieces without a mark where one ends, so neighbouring pieces are one block, with one exception: a part
with a signature is never joined with another, because the signature belongs to that part alone.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from legato.model import Block, HostedTool, Json, JsonObject, Media, MediaKind, clean_text, ingest
from legato.model.json_access import as_id, as_list, as_object, as_string, as_text
from legato.wire.arguments import read_arguments
from legato.wire.builder import AnswerBuilder
from legato.wire.gemini.fields import as_base64, camel
from legato.wire.gemini.partial import PartialArguments
from legato.wire.gemini.signatures import kept_signature

USES = {"executableCode": "code_execution", "toolCall": ""}
"""kinds of parts in which the provider ran a tool, and its name where the part does not tell"""
RESULTS = frozenset({"codeExecutionResult", "toolResponse"})
"""kinds of parts that hold what such a tool gave"""
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

    def take(self, source: object) -> None:
        """Take one part."""
        part = as_object(source)
        signed: Json = part.get("thoughtSignature") or part.get("thought_signature")
        signature = kept_signature(as_base64(signed)) if signed else None
        if part.get("text") is not None:
            self.text(as_string(part["text"]), signature, is_thought=bool(part.get("thought")))
            return
        part = camel(part)
        if "functionCall" in part:
            self._end_text()
            self._call(camel(part["functionCall"]), signature)
        elif (media := read_media(part, native=signature)) is not None:
            self._put(media)
        else:
            self._other(part, signature)

    def text(self, text: str, signature: JsonObject | None = None, *, is_thought: bool) -> None:
        """Take a part of text, or of thinking."""
        if not text and signature is None:
            return
        kind = "thinking" if is_thought else "text"
        if signature is not None or self._open is None or self._open[0] != kind:
            self._end_text()
            self._open = kind, self._key()
        add = self._builder.thinking if is_thought else self._builder.text
        add(self._open[1], text, signature)
        if signature is not None:
            self._end_text()

    def close(self) -> None:
        """The answer ended well: a call whose arguments were still arriving has them all."""
        if self._arriving is not None:
            key, arguments = self._arriving
            self._arriving = None
            self._builder.call(key, arguments=_json(arguments.value))
            self._builder.done(key)

    def _key(self) -> int:
        self._next += 1
        return self._next

    def _end_text(self) -> None:
        """What comes next does not continue the text or thought that was open."""
        if self._open is not None:
            self._builder.done(self._open[1])
            self._open = None

    def _call(self, call: JsonObject, signature: JsonObject | None) -> None:
        name, goes_on = as_text(call.get("name")), call.get("willContinue") is True
        if name:
            self.close()
            key = self._key()
            arguments = call.get("args")
            told = "" if arguments is None else _argument_text(arguments)
            self._builder.call(key, name=name, wire_id=as_id(call.get("id")), arguments=told, native=signature)
            if not goes_on and "partialArgs" not in call:
                self._builder.done(key)
                return
            self._arriving = key, PartialArguments()
        if self._arriving is not None:
            for piece in as_list(call.get("partialArgs")):
                self._arriving[1].add(piece)
            if not goes_on:
                self.close()

    def _other(self, part: JsonObject, signature: JsonObject | None) -> None:
        """What is neither text nor call nor media: tools that the provider runs, and kinds that are new to us."""
        kind = next((name for name in part if name not in _NOT_DATA), "")
        if not kind:
            self.text("", signature, is_thought=bool(part.get("thought")))
            return
        self._end_text()
        fields, kind = camel(part[kind]), clean_text(kind)
        kept: JsonObject = {kind: ingest(fields)} | (signature or {})
        wire_id = as_text(fields.get("id"))
        if kind in RESULTS and (known := self._uses.get(wire_id) or self._uses.get("")):
            key, use = known
            self._builder.put(key, joined(use, kept, fields))
            return
        block = read_use(kind, kept, fields)
        if kind in USES:
            key = self._key()
            self._uses[wire_id] = self._uses[""] = key, block
            self._builder.hold(key, block)
        else:
            self._put(block)

    def _put(self, block: Block) -> None:
        self._end_text()
        self._builder.put(self._key(), block)


def read_use(kind: str, part: JsonObject, fields: JsonObject) -> HostedTool:
    """A tool that the provider ran, or a `part` of a kind that is new to us; `fields` are what is in it."""
    name = USES.get(kind) or as_text(fields.get("toolType")).lower() or kind
    arguments = read_arguments(fields.get("args", {n: v for n, v in fields.items() if n != "id"})).value
    return HostedTool(name, arguments, wire_id=as_text(fields.get("id")), native={"parts": [part]})


def joined(use: HostedTool, part: JsonObject, fields: JsonObject) -> HostedTool:
    """A use with its result, which is in `part`."""
    parts = [*as_object(use.native)["parts"], part]
    value = ingest(fields.get("response", fields))
    return HostedTool(use.name, use.arguments, value, use.wire_id, native={"parts": parts})


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
