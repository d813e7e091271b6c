"""Read UI messages of the Vercel AI SDK, of the versions with parts and of the one with `toolInvocations`.

A message of the assistant holds a whole run of steps; `step-start` parts are between the answers. A tool part holds
the call and, by its state, the output, the error or nothing yet.
"""

from __future__ import annotations

from legato.formats.blocks import media_from, response
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.model import (
    Authority,
    Block,
    ClosureReason,
    HostedTool,
    Json,
    JsonObject,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ingest,
)
from legato.wire.arguments import read_arguments

_WITHOUT_WORDS = ("data-", "source-", "source")
_PARTS = ("tool-", "dynamic-tool", "step-start", "reasoning", "file", "text", "source-", "data-", "tool-invocation")
_OPEN = frozenset({"input-available", "approval-requested", "approval-responded", "call"})
_UNFINISHED = frozenset({"input-streaming", "partial-call"})


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    reader = _Reader(draft)
    for item in content.items("messages"):
        reader.message(item.value, item.place)
    return content.finish(draft)


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.answers = 0

    def message(self, message: JsonObject, place: str) -> None:
        role = as_text(message.get("role"))
        parts = list(map(as_object, as_list(message.get("parts")))) or _older_parts(message)
        keep_known(self.draft.meta, message, {"chatId": "session"})
        if role == "assistant":
            self.assistant(parts, place)
        elif role in ("user", "system"):
            blocks: list[Block] = []
            for index, part in enumerate(parts):
                kind = as_text(part.get("type"))
                if _is_tool(kind):
                    blocks += self._tool(part, kind)
                elif block := self._said(part, f"{place}.parts[{index}]"):
                    blocks.append(block)
            authority = Authority.INSTRUCTION if role == "system" else Authority.PERSON
            self.draft.human(blocks, place, authority=authority)
        elif role == "data":
            self.draft.skip(place, "a message of role 'data' is not part of the conversation")
        else:
            self.draft.unknown(place, f"a message of role {role!r}")

    def assistant(self, parts: list[JsonObject], place: str) -> None:
        blocks: list[Block] = []
        results: list[Block] = []
        for index, part in enumerate(parts):
            kind = as_text(part.get("type"))
            if kind == "step-start":
                self._step(blocks, results, place)
                blocks, results = [], []
            elif _is_tool(kind):
                call, *result = self._tool(part, kind)
                blocks.append(call)
                results += result
            elif kind == "reasoning":
                text = first_text(part, "text", "reasoning")
                metadata = as_object(part.get("providerMetadata"))
                native = {"providerMetadata": ingest(metadata)} if metadata else None
                blocks += [Thinking(text, native=native)] if text or native else []
            else:
                if results and kind == "text" and part.get("text"):
                    # Words behind a finished call belong to the next answer, also where no step is marked.
                    self._step(blocks, results, place)
                    blocks, results = [], []
                block = self._said(part, f"{place}.parts[{index}]")
                blocks += [block] if block else []
        self._step(blocks, results, place)

    def _step(self, blocks: list[Block], results: list[Block], place: str) -> None:
        self.answers += 1
        self.draft.say(Speaker.AI, blocks, place, answer=f"ui-{self.answers}")
        self.draft.say(Speaker.TOOL, results, place)

    def _said(self, part: JsonObject, place: str) -> Block | None:
        kind = as_text(part.get("type"))
        if kind == "text":
            return Text(as_text(part["text"])) if part.get("text") else None
        if kind == "file":
            mime = first_text(part, "mediaType", "mimeType") or "application/octet-stream"
            data, address = as_text(part.get("data")), as_text(part.get("url"))
            if data and not address:
                address = f"data:{mime};base64,{data}"
            return media_from(address, mime, name=first_text(part, "filename") or None) if address else None
        if kind.startswith(_WITHOUT_WORDS):
            self.draft.skip(place, f"a part of type {kind!r} is not carried")
        else:
            self.draft.unknown(place, f"a part of type {kind!r}")
        return None

    def _tool(self, part: JsonObject, kind: str) -> list[Block]:
        """A call, and its outcome."""
        invocation = as_object(part.get("toolInvocation")) or part
        name = first_text(invocation, "toolName") or kind.removeprefix("tool-")
        wire_id, state = as_id(invocation.get("toolCallId")), as_text(invocation.get("state"))
        source: Json = next((invocation[key] for key in ("input", "args", "rawInput") if key in invocation), None)
        value, raw, finished = read_arguments(source)
        output: Json = invocation.get("output", invocation.get("result"))
        if invocation.get("providerExecuted") is True:
            return [HostedTool(name, value, ingest(output), wire_id)]
        call = ToolCall(name, value, wire_id, raw=raw, finished=finished and state not in _UNFINISHED)
        if state == "output-error":
            error = first_text(invocation, "errorText") or "the tool failed"
            return [call, response(wire_id, name, error, is_error=True)]
        if state == "output-denied":
            said = first_text(as_object(invocation.get("approval")), "reason") or None
            return [call, ToolResponse(wire_id=wire_id, tool_name=name, reason=ClosureReason.DENIED, said=said)]
        return [call] if state in _OPEN | _UNFINISHED else [call, response(wire_id, name, output)]


def _is_tool(kind: str) -> bool:
    return kind.startswith("tool-") or kind == "dynamic-tool"


def _older_parts(message: JsonObject) -> list[JsonObject]:
    """The parts of a message from before there were parts."""
    parts: list[JsonObject] = []
    if message.get("reasoning"):
        parts.append({"type": "reasoning", "text": message["reasoning"]})
    parts += [{"type": "tool-invocation", "toolInvocation": item} for item in as_list(message.get("toolInvocations"))]
    for item in as_objects(message.get("experimental_attachments")):
        mime = first_text(item, "contentType")
        parts.append({"type": "file", "mediaType": mime, "url": item.get("url"), "filename": item.get("name")})
    if message.get("content"):
        parts.append({"type": "text", "text": message["content"]})
    return parts


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    for item in (*head.items, *as_objects(head.holder.get("messages"))):
        kinds = [as_text(part.get("type")) for part in as_objects(item.get("parts"))]
        if item.get("role") in ("user", "assistant", "system") and any(kind.startswith(_PARTS) for kind in kinds):
            return "messages with typed parts"
        if isinstance(item.get("toolInvocations"), list):
            return "messages with toolInvocations"
    return ""


FORMAT = Format(
    name="vercel-ui",
    title="Vercel AI SDK UI messages",
    known_from="messages of the AI SDK 6.0.326",
    read=read,
    detect=_detect,
    marks=marks("role parts"),
)
