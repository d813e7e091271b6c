"""Read a request of the Responses API back into entries.

In:  a request body, ours or anyone's.
Out: entries, instructions, tools and options; what was not understood is named with its place.

Items of the model that follow each other are one answer, because the API itself has no other mark of where an answer
begins. Fixed texts that `encode` put in are recognised and taken out again, so that a transcript does not grow when it
comes back.
"""

from __future__ import annotations

from itertools import groupby
from typing import cast

import msgspec

from legato.model import (
    Authority,
    Block,
    HostedTool,
    Json,
    JsonObject,
    Media,
    MediaKind,
    Speaker,
    Text,
    ToolCall,
    ToolResponse,
    clean_text,
    ingest,
)
from legato.model.json_access import as_id, as_object, as_objects, as_text
from legato.wire.collected import Collected
from legato.wire.contract import Parsed
from legato.wire.openai_responses.parse_envelope import read_options, read_tools
from legato.wire.openai_responses.reading import CLIENT_CALLS, SEARCH, SEARCH_CALL, blocks_of
from legato.wire.readback import read_result

_INSTRUCTING = ("system", "developer")
_OUTPUTS = {f"{kind}_output": name for kind, (name, _) in CLIENT_CALLS.items() if kind != SEARCH_CALL}


def parse(body: JsonObject) -> Parsed:
    """The conversation in `body`."""
    notes: list[str] = []
    tools = read_tools(body, notes)
    options = read_options(body, notes)
    reader = _Reader(notes)
    source = body.get("input")
    if isinstance(source, str):
        reader.collected.add(Speaker.HUMAN, [Text(clean_text(source))] if source else [])
    elif isinstance(source, list):
        items = cast("list[object]", source)
        for index, item in enumerate(items):
            reader.collected.number = index
            reader.read(item, f"input[{index}]", is_last=index == len(items) - 1)
        reader.finish()
    elif source is not None:
        notes.append("input: neither text nor a list of items")
    instructions = as_text(body.get("instructions"))
    system = "\n\n".join(text for text in (clean_text(instructions), *reader.system) if text)
    return Parsed(
        reader.collected.entries,
        system=system,
        tools=tools,
        model=as_text(body.get("model")),
        options=options,
        notes=notes,
        adjusted=reader.adjusted,
        places=reader.collected.places,
        ends=reader.collected.ends,
    )


class _Reader:
    """Collects items into entries: runs of model items and runs of outputs are one entry each."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.adjusted: list[str] = []
        self.system: list[str] = []
        self.collected = Collected()
        self._speaker: Speaker | None = None
        self._blocks: list[Block] = []
        self._first = self._last = -1
        """the numbers of the first and the last item that the blocks came from"""
        self._names: dict[str, str] = {}
        """the tool that each call id stands for"""

    def read(self, item: object, path: str, *, is_last: bool) -> None:
        if not isinstance(item, dict):
            self.notes.append(f"{path}: not an item")
            return
        item = as_object(item)
        kind = as_text(item.get("type"))
        if kind == "message" or (not kind and "role" in item):
            self._message(item, path, is_last=is_last)
        elif kind in ("function_call_output", "custom_tool_call_output", *_OUTPUTS):
            self._output(item, kind, path)
        elif kind == "tool_search_output" and item.get("execution") == "client":
            wire_id, found = _wire_id(item), ingest(item.get("tools"))
            response = ToolResponse(wire_id=wire_id, tool_name=SEARCH, result=found, is_complete=True)
            self._add(Speaker.TOOL, [response])
        elif kind == "item_reference":
            self.notes.append(f"{path}: refers to the stored item {item.get('id')!r}, which cannot be read from here")
        elif kind == "additional_tools":
            self.adjusted.append(f"{path}: its tools were added to those of the request")
        elif kind:
            self._model_item(item, kind, path)
        else:
            self.notes.append(f"{path}: an item without a type or a role")

    # Entries.

    def finish(self) -> None:
        """The run of items that was read last is complete."""
        if self._speaker is not None:
            self.collected.add_run(self._speaker, self._blocks, self._first, self._last)
        self._blocks = []
        self._speaker = None

    def _add(self, speaker: Speaker, blocks: list[Block]) -> None:
        if speaker is not self._speaker:
            self.finish()
            self._speaker = speaker
        if blocks:
            self._last = self.collected.number
            self._first = self._first if self._blocks else self._last
            self._blocks += blocks

    # Messages.

    def _message(self, item: JsonObject, path: str, *, is_last: bool) -> None:
        """A message. Calls and outputs in its content are read as the items that they are, where they are."""
        content = as_objects(item.get("content"))
        runs = [(is_item, list(run)) for is_item, run in groupby(content, key=_is_item)]
        if not any(is_item for is_item, _ in runs):
            self._words(item, path, is_last=is_last)
            return
        self.adjusted.append(f"{path}.content: calls or outputs stand in a message")
        for number, (is_item, run) in enumerate(runs, 1):
            if is_item:
                for part in run:
                    self.read(part, path, is_last=False)
            else:
                self._words({**item, "content": run}, path, is_last=is_last and number == len(runs))

    def _words(self, item: JsonObject, path: str, *, is_last: bool) -> None:
        role = item.get("role")
        if role == "tool" and item.get("tool_call_id") not in (None, ""):
            self.adjusted.append(f"{path}.role: a result in the form of the chat API")
            self._output({"call_id": item["tool_call_id"], "output": item.get("content")}, "function_call_output", path)
            return
        if role == "assistant":
            self._add(Speaker.AI, blocks_of(item))
            return
        if role not in ("user", *_INSTRUCTING):
            self.adjusted.append(f"{path}.role: {role!r} is read as user")
        blocks = self._content(item.get("content"), f"{path}.content")
        if role in _INSTRUCTING:
            if not self.collected.entries and not self._blocks and all(isinstance(block, Text) for block in blocks):
                self.system += [block.text for block in blocks if isinstance(block, Text)]
            else:
                self.finish()
                self.collected.add(Speaker.HUMAN, blocks, Authority.INSTRUCTION)
            return
        self.finish()
        self.collected.hear(blocks, is_last=is_last)

    def _content(self, content: object, path: str) -> list[Block]:
        if isinstance(content, str):
            return [Text(clean_text(content))] if content else []
        blocks: list[Block] = []
        for index, part in enumerate(as_objects(content)):
            blocks += self._part(part, f"{path}[{index}]")
        return blocks

    def _part(self, part: JsonObject, path: str) -> list[Block]:
        kind = part.get("type")
        if kind in ("input_text", "output_text", "text"):
            text = as_text(part.get("text"))
            return [Text(text)] if text else []
        if kind in ("input_image", "input_file"):
            media = _media(part)
            if media is not None:
                return [media]
            name = part.get("file_id")
            self.notes.append(f"{path}: refers to the stored file {name!r}, which cannot be read from here")
            return [Text(f"[a file that the provider stores: {name}]")]
        self.notes.append(f"{path}: a part of type {kind!r} was not understood")
        return []

    # What the model did, and what came back.

    def _model_item(self, item: JsonObject, kind: str, path: str) -> None:
        blocks = blocks_of(item)
        for block in blocks:
            if isinstance(block, ToolCall) and block.wire_id:
                self._names[block.wire_id] = block.name
            elif isinstance(block, HostedTool) and not kind.endswith("_call"):
                self.notes.append(f"{path}: an item of type {kind!r} is kept for its own provider")
        self._add(Speaker.AI, blocks)

    def _output(self, item: JsonObject, kind: str, path: str) -> None:
        blocks = self._output_blocks(item.get("output"), kind, f"{path}.output")
        text = "\n".join(block.text for block in blocks if isinstance(block, Text))
        media = tuple(block for block in blocks if isinstance(block, Media))
        wire_id = _wire_id(item)
        name = self._names.get(wire_id, _OUTPUTS.get(kind, ""))
        self._add(Speaker.TOOL, [read_result(text, wire_id, name, media)])

    def _output_blocks(self, output: Json, kind: str, path: str) -> list[Block]:
        if isinstance(output, str):
            return [Text(clean_text(output))]
        if kind == "computer_call_output":
            screenshot = _media({**as_object(output), "type": "input_image"})
            return [] if screenshot is None else [screenshot]
        if kind in ("function_call_output", "custom_tool_call_output"):
            return self._content(output, path)
        return [] if output is None else [Text(msgspec.json.encode(ingest(output)).decode())]


def _is_item(part: JsonObject) -> bool:
    """Whether a part of a message is no part but an item of its own: a call, or what came back for one."""
    kind = as_text(part.get("type"))
    return kind in ("function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output", *_OUTPUTS)


def _wire_id(item: JsonObject) -> str:
    return as_id(item.get("call_id")) or as_id(item.get("id"))


def _media(part: JsonObject) -> Media | None:
    """An image or file with its data or address in it; None if it is only a reference to a stored file."""
    if part.get("type") == "input_image":
        source, fallback = as_text(part.get("image_url")), "image/png"
    else:
        source = as_text(part.get("file_data")) or as_text(part.get("file_url"))
        fallback = "application/pdf"
    if not source:
        return None
    name = as_text(part.get("filename")) or None
    if not source.startswith("data:"):
        if part.get("file_data"):
            return Media(MediaKind.DOCUMENT, fallback, data=source, name=name)
        return Media(_kind_of(fallback), fallback, url=source, name=name)
    kind, _, data = source.removeprefix("data:").partition(",")
    mime = kind.removesuffix(";base64") or fallback
    return Media(_kind_of(mime), mime, data=data, name=name)


def _kind_of(mime: str) -> MediaKind:
    family = mime.partition("/")[0]
    return MediaKind(family) if family in ("image", "audio", "video") else MediaKind.DOCUMENT
