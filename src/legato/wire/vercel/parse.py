"""Read a prompt of ModelMessages back into entries.

In:  a body with `messages` (or a `prompt`), ours or anyone's, with the field names of any version of the SDK.
Out: entries, instructions, tools and options; what was not understood is named with its place.

Each assistant message is one answer, each tool message one entry of results. Fixed texts that `encode` put in are
recognised and taken out again.
"""

from __future__ import annotations

from itertools import groupby
from typing import cast

import msgspec

from legato.model import (
    Authority,
    Block,
    ClosureReason,
    Json,
    JsonObject,
    Media,
    Speaker,
    Text,
    ToolCall,
    ToolResponse,
)
from legato.model.json_access import as_id, as_object, as_objects, as_text
from legato.wire.collected import Collected
from legato.wire.contract import NotUnderstood, Parsed
from legato.wire.readback import read_parts, read_result, text_in
from legato.wire.vercel.parse_envelope import read_model, read_options, read_system, read_tools
from legato.wire.vercel.reading import Form, answer_blocks, is_result, message_output, read_file

_ANSWER_PARTS = frozenset({"text", "reasoning", "file", "tool-call", "tool-result", "tool-error"})
_RESULT_MEDIA = frozenset({"image-data", "image-url", "file-data", "file-url", "media", "file", "image"})


def parse(body: JsonObject) -> Parsed:
    """The conversation in `body`."""
    notes: list[str] = []
    reader = _Reader(notes)
    source = body.get("messages") if body.get("messages") is not None else body.get("prompt")
    if isinstance(source, str):
        reader.read({"role": "user", "content": source}, "prompt", is_last=True)
    elif isinstance(source, list):
        messages = cast("list[object]", source)
        for index, message in enumerate(messages):
            reader.collected.number = index
            reader.read(message, f"messages[{index}]", is_last=index == len(messages) - 1)
    elif source is not None:
        notes.append(NotUnderstood("messages: not a list of messages"))
    return Parsed(
        reader.collected.entries,
        system="\n\n".join(text for text in (read_system(body), *reader.system) if text),
        tools=read_tools(body, notes),
        model=read_model(body),
        options=read_options(body),
        notes=notes,
        adjusted=reader.adjusted,
        places=reader.collected.places,
        ends=reader.collected.ends,
    )


class _Reader:
    """Collects messages into entries."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.adjusted: list[str] = []
        self.system: list[str] = []
        self.collected = Collected()
        self._names: dict[str, str] = {}
        """the tool that each call id stands for"""
        self._hosted: set[str] = set()
        self._approvals: dict[str, str] = {}
        """the call that each approval is about"""

    def read(self, message: object, path: str, *, is_last: bool) -> None:
        if not isinstance(message, dict):
            self.notes.append(NotUnderstood(f"{path}: not a message"))
            return
        message = as_object(message)
        content = f"{path}.content"
        match message.get("role"):
            case "system":
                self._instruct(message.get("content"), content)
            case "assistant":
                self._answer(message.get("content"), content)
            case "tool":
                self._returned(message.get("content"), content)
            case role:
                if role != "user":
                    self.adjusted.append(f"{path}.role: {role!r} is read as user")
                self._heard(message.get("content"), content, is_last=is_last)

    # The human side.

    def _instruct(self, content: Json, path: str) -> None:
        blocks = self._said(content, path)
        if self.collected.entries:
            self.collected.add(Speaker.HUMAN, blocks, Authority.INSTRUCTION)
        else:
            self.system += [block.text for block in blocks if isinstance(block, Text)]

    def _heard(self, content: Json, path: str, *, is_last: bool) -> None:
        """What a person said. Calls and results in it are read as what they are, where they are."""
        runs = _runs(content)
        if not any(kind for kind, _ in runs):
            self.collected.hear(self._said(content, path), is_last=is_last)
            return
        self.adjusted.append(f"{path}: calls or results stand in a message of the user")
        for number, (kind, run) in enumerate(runs, 1):
            if kind == _CALLS:
                self._answer(run, path)
            elif kind == _RESULTS:
                self.collected.add(Speaker.TOOL, self._results(run, path))
            else:
                self.collected.hear(self._said(run, path), is_last=is_last and number == len(runs))

    def _said(self, content: Json, path: str) -> list[Block]:
        if isinstance(content, str):
            return [Text(as_text(content))] if content else []
        blocks: list[Block] = []
        for index, part in enumerate(as_objects(content)):
            block = self._said_part(part, f"{path}[{index}]")
            if block is not None:
                blocks.append(block)
        return blocks

    def _said_part(self, part: JsonObject, path: str) -> Block | None:
        kind = part.get("type")
        if kind == "text":
            text = as_text(part.get("text"))
            return Text(text) if text else None
        media = read_file(part) if kind in ("image", "file") else None
        if media is None:
            self.notes.append(NotUnderstood(f"{path}: a part of type {kind!r} was not understood"))
        return media

    # Answers and results.

    def _answer(self, content: Json, path: str) -> None:
        if isinstance(content, str):
            self.collected.add(Speaker.AI, [Text(as_text(content))] if content else [])
            return
        parts: list[JsonObject] = []
        for index, part in enumerate(as_objects(content)):
            kind = as_text(part.get("type"))
            if kind == "tool-approval-request":
                self._approvals[as_text(part.get("approvalId"))] = as_id(part.get("toolCallId"))
            elif kind not in _ANSWER_PARTS:
                self.notes.append(f"{path}[{index}]: a part of type {kind!r} is kept only if its provider knows it")
            if not self._is_hosted(part) and is_result(part):
                self._said_by_model(parts)
                parts = []
                self.collected.add(Speaker.TOOL, [self._result(part, f"{path}[{index}]")])
            else:
                parts.append(part)
        self._said_by_model(parts)

    def _said_by_model(self, parts: list[JsonObject]) -> None:
        blocks = answer_blocks(parts, Form.MESSAGE, str)
        self._names |= {block.wire_id: block.name for block in blocks if isinstance(block, ToolCall) and block.wire_id}
        self.collected.add(Speaker.AI, blocks)

    def _returned(self, content: Json, path: str) -> None:
        """Results. Calls among them are the model's."""
        runs = _runs(content)
        if not any(kind == _CALLS for kind, _ in runs):
            self.collected.add(Speaker.TOOL, self._results(content, path))
            return
        self.adjusted.append(f"{path}: calls stand in a message of the tool")
        for kind, run in runs:
            if kind == _CALLS:
                self._answer(run, path)
            else:
                self.collected.add(Speaker.TOOL, self._results(run, path))

    def _is_hosted(self, part: JsonObject) -> bool:
        """Whether `part` is about a call that the provider executes itself, here or in an earlier message."""
        wire_id = as_id(part.get("toolCallId"))
        if part.get("providerExecuted") is True:
            self._hosted.add(wire_id)
        return wire_id in self._hosted

    def _results(self, content: Json, path: str) -> list[Block]:
        parts = as_objects(content)
        answered = {as_id(part.get("toolCallId")) for part in parts if is_result(part)}
        blocks: list[Block] = []
        for index, part in enumerate(parts):
            if is_result(part):
                blocks.append(self._result(part, f"{path}[{index}]"))
            elif part.get("type") == "tool-approval-response":
                blocks += self._verdict(part, answered)
            else:
                what = f"a part of type {part.get('type')!r} was not understood"
                self.notes.append(NotUnderstood(f"{path}[{index}]: {what}"))
        return blocks

    def _result(self, part: JsonObject, path: str) -> ToolResponse:
        wire_id = as_id(part.get("toolCallId"))
        name = as_text(part.get("toolName")) or self._names.get(wire_id, "")
        return self._response(message_output(part), wire_id, name, f"{path}.output.value")

    def _response(self, output: JsonObject, wire_id: str, name: str, path: str) -> ToolResponse:
        kind, value = output.get("type"), output.get("value")
        if kind == "execution-denied":
            said = as_text(output.get("reason")) or None
            return ToolResponse(wire_id=wire_id, tool_name=name, reason=ClosureReason.DENIED, said=said)
        if kind == "content":
            texts, media = read_parts(value, path, _result_part, self.adjusted)
            return read_result("\n".join(texts), wire_id, name, media)
        if kind in ("error-text", "error-json"):
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            return read_result(text, wire_id, name, failed=True)
        if isinstance(value, str):
            return read_result(value, wire_id, name)
        return ToolResponse(wire_id=wire_id, tool_name=name, result=value, is_complete=True)

    def _verdict(self, part: JsonObject, answered: set[str]) -> list[Block]:
        """A call that the user denied has no result of its own, unless one is beside the verdict."""
        wire_id = self._approvals.get(as_text(part.get("approvalId")), "")
        if part.get("approved") is not False or not wire_id or wire_id in answered:
            return []
        said = as_text(part.get("reason")) or None
        name = self._names.get(wire_id, "")
        return [ToolResponse(wire_id=wire_id, tool_name=name, reason=ClosureReason.DENIED, said=said)]


_CALLS, _RESULTS = "calls", "results"


def _runs(content: Json) -> list[tuple[str, list[JsonObject]]]:
    """The parts of a message in runs of calls, of results, and of anything else, which has no name."""

    def kind_of(part: JsonObject) -> str:
        if part.get("type") == "tool-call":
            return _CALLS
        return _RESULTS if is_result(part) or part.get("type") == "tool-approval-response" else ""

    return [(kind, list(run)) for kind, run in groupby(as_objects(content), key=kind_of)]


def _result_part(part: JsonObject, path: str) -> Text | Media | None:
    """A part of an output; None if it is not known."""
    kind = as_text(part.get("type"))
    if kind in _RESULT_MEDIA:
        return read_file(part)
    return text_in(part) if kind == "text" else None
