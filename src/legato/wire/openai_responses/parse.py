"""Read a request of the Responses API back into entries.

In:  a request body, ours or anyone's.
Out: entries, instructions, tools and options; what was not understood is named with its place.

Items of the model that follow each other are one answer, because the API itself has no other mark of where an answer
begins. Fixed texts that `encode` put in are recognised and taken out again, so that a transcript does not grow when it
comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

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
    ToolSpec,
    clean_text,
    ingest,
)
from legato.model.json_access import as_id, as_list, as_object, as_objects, as_text
from legato.wire.collected import Collected
from legato.wire.contract import NotHeld, NotUnderstood, Parsed
from legato.wire.openai_responses.parse_envelope import read_added_tools, read_options, read_tools
from legato.wire.openai_responses.reading import CLIENT_CALLS, SEARCH, SEARCH_CALL, blocks_of
from legato.wire.readback import json_text, read_parts, read_result, text_in
from legato.wire.undoable import UndoableMap

_INSTRUCTING = ("system", "developer")
_OUTPUTS = {f"{kind}_output": name for kind, (name, _) in CLIENT_CALLS.items() if kind != SEARCH_CALL}


def parse(body: JsonObject) -> Parsed:
    """The conversation in `body`."""
    reader, source = ItemReader(), body.get("input")
    if isinstance(source, str):
        reader.collected.add(Speaker.HUMAN, [Text(clean_text(source))] if source else [])
    elif source is not None and not isinstance(source, list):
        reader.notes.append(NotUnderstood("input: neither text nor a list of items"))
    else:
        reader.read(as_list(source), 0, ends=True)
    return reader.parsed(body)


class ItemReader:
    """Collects items into entries: runs of model items and runs of outputs are one entry each."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.adjusted: list[str] = []
        self.system: list[str] = []
        self.collected = Collected()
        self._speaker: Speaker | None = None
        self._blocks: list[Block] = []
        self._first = self._last = -1
        """the numbers of the first and the last item that the blocks came from"""
        self._names: UndoableMap[str, str] = UndoableMap()
        """the tool that each call id stands for"""
        self._tools: list[ToolSpec] = []
        """those that items add to the tools of the request"""
        self._tool_notes: list[str] = []

    def save(self) -> Any:
        """The state, for `restore`."""
        lists = self.notes, self.adjusted, self.system, self._blocks, self._tools, self._tool_notes
        run = self._speaker, self._first, self._last
        return tuple(one.copy() for one in lists), run, self.collected.save(), self._names.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state; the lists that were given out until now stay as they are."""
        lists, (self._speaker, self._first, self._last), collected, names = saved
        copies = [one.copy() for one in lists]
        self.notes, self.adjusted, self.system, self._blocks, self._tools, self._tool_notes = copies
        self.collected.restore(collected)
        self._names.restore(names)

    def read(self, messages: Sequence[Json], first: int, *, ends: bool) -> None:
        """Take the next items."""
        last = first + len(messages) - 1 if ends else -1
        for index, item in enumerate(messages, first):
            self.collected.number = index
            path = f"input[{index}]"
            self._tools += read_added_tools(as_object(item), path, self._tool_notes)
            self._take(item, path, is_last=index == last)

    def parsed(self, body: JsonObject) -> Parsed:
        """All of `body`, whose items were read."""
        self._finish()
        read, notes = read_tools(body), list[str]()
        options = read_options(body, notes)
        instructions = as_text(body.get("instructions"))
        return Parsed(
            self.collected.entries,
            system="\n\n".join(text for text in (clean_text(instructions), *self.system) if text),
            tools=[*read.tools, *self._tools] if self._tools else read.listed(),
            model=as_text(body.get("model")),
            options=options,
            notes=[*read.notes, *self._tool_notes, *notes, *self.notes],
            adjusted=self.adjusted,
            places=self.collected.places,
            ends=self.collected.ends,
        )

    def _take(self, item: object, path: str, *, is_last: bool) -> None:
        if not isinstance(item, dict):
            self.notes.append(NotUnderstood(f"{path}: not an item"))
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
            note = f"{path}: refers to the stored item {item.get('id')!r}, which cannot be read from here"
            self.notes.append(NotHeld(note))
        elif kind == "additional_tools":
            self.adjusted.append(f"{path}: its tools were added to those of the request")
        elif kind:
            self._model_item(item, kind, path)
        else:
            self.notes.append(NotUnderstood(f"{path}: an item without a type or a role"))

    # Entries.

    def _finish(self) -> None:
        """The run of items that was read last is complete."""
        if self._speaker is not None:
            self.collected.add_run(self._speaker, self._blocks, self._first, self._last)
        self._blocks = []
        self._speaker = None

    def _add(self, speaker: Speaker, blocks: list[Block]) -> None:
        if speaker is not self._speaker:
            self._finish()
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
                    self._take(part, path, is_last=False)
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
                self._finish()
                self.collected.add(Speaker.HUMAN, blocks, Authority.INSTRUCTION)
            return
        self._finish()
        self.collected.hear(blocks, is_last=is_last)

    def _content(self, content: object, path: str) -> list[Block]:
        if isinstance(content, str):
            return [Text(clean_text(content))] if content else []
        blocks: list[Block] = []
        for index, part in enumerate(as_objects(content)):
            block = self._known_part(part, f"{path}[{index}]")
            if block is None:
                what = f"a part of type {part.get('type')!r} was not understood"
                self.notes.append(NotUnderstood(f"{path}[{index}]: {what}"))
            elif not isinstance(block, Text) or block.text:
                blocks.append(block)
        return blocks

    def _known_part(self, part: JsonObject, path: str) -> Text | Media | None:
        """A part of a message or of an output; None if it is not known."""
        kind = part.get("type")
        if kind in ("input_text", "output_text", "text"):
            return text_in(part)
        if kind not in ("input_image", "input_file"):
            return None
        media = _media(part)
        if media is not None:
            return media
        name = part.get("file_id")
        self.notes.append(f"{path}: refers to the stored file {name!r}, which cannot be read from here")
        return Text(f"[a file that the provider stores: {name}]")

    # What the model did, and what came back.

    def _model_item(self, item: JsonObject, kind: str, path: str) -> None:
        blocks = blocks_of(item)
        for block in blocks:
            if isinstance(block, ToolCall) and block.wire_id:
                self._names.put(block.wire_id, block.name)
            elif isinstance(block, HostedTool) and not kind.endswith("_call"):
                self.notes.append(f"{path}: an item of type {kind!r} is kept for its own provider")
        self._add(Speaker.AI, blocks)

    def _output(self, item: JsonObject, kind: str, path: str) -> None:
        texts, media = self._output_parts(item.get("output"), kind, f"{path}.output")
        wire_id = _wire_id(item)
        name = self._names.values.get(wire_id, _OUTPUTS.get(kind, ""))
        self._add(Speaker.TOOL, [read_result("\n".join(texts), wire_id, name, media)])

    def _output_parts(self, output: Json, kind: str, path: str) -> tuple[list[str], tuple[Media, ...]]:
        if isinstance(output, str) or kind in ("function_call_output", "custom_tool_call_output"):
            return read_parts(output, path, self._known_part, self.adjusted)
        if kind == "computer_call_output":
            screenshot = _media({**as_object(output), "type": "input_image"})
            return [], () if screenshot is None else (screenshot,)
        return [] if output is None else [json_text(output)], ()


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
