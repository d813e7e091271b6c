"""Read opencode sessions: what `opencode export` prints, its database, or single files of its older storage.

A message is its `info` and its parts. A tool part holds the call and, by its state, its outcome: `pending` and
`running` calls are open, `completed` and `error` ones have ended; of one that was interrupted the model is told what
it had printed. One message of the assistant holds several answers; `step-start` parts are between them.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.errors import FormatError
from legato.formats.blocks import media_from, response
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import (
    as_id,
    as_list,
    as_object,
    as_objects,
    as_text,
    as_time,
    as_usage,
    first_id,
    first_text,
)
from legato.formats.head import Layout
from legato.formats.opencode.database import sessions
from legato.formats.origins import origin_of, provider_named, route_of
from legato.model import Block, Ending, Json, JsonObject, Media, Origin, Speaker, Text, Thinking, ToolCall, ToolResponse
from legato.wire.arguments import read_arguments

_META = {"id": "session", "directory": "cwd", "title": "title", "version": "version", "parentID": "parent"}
_BOOKKEEPING = frozenset({"step-finish", "snapshot", "patch"})
"""parts of the program about itself; nothing in them was said to or by a model"""
_WITHOUT_WORDS = frozenset({"agent", "retry", "compaction", "subtask"})
_ENDINGS = {"MessageAbortedError": Ending.CANCELLED, "MessageOutputLengthError": Ending.LENGTH}


def read(content: Content) -> list[Document]:
    """The session, or every one of a database."""
    if content.layout is Layout.DATABASE:
        with content.database() as database:
            drafts = [_of_database(content, export) for export in sessions(database)]
        return content.finish(*[draft for draft in drafts if draft.entries or draft.notes])
    reader = _Reader(content.draft())
    if content.layout is Layout.LINES:
        for item in content.lines():
            reader.message(item.value, item.place)
    else:
        reader.whole(content.value())
    return content.finish(reader.draft)


def _of_database(content: Content, export: JsonObject) -> DocumentDraft:
    info = as_object(export["info"])
    reader = _Reader(content.draft(f"{content.name} ({as_text(info.get('title')) or info['id']})"))
    reader.whole(export)
    return reader.draft


class _Answering(NamedTuple):
    """Who answers in a message, and how that ended."""

    key: str
    origin: Origin | None
    ending: Ending | None


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft

    def whole(self, value: Json) -> None:
        if isinstance(value, list):
            for index, item in enumerate(as_list(value)):
                self.message(as_object(item), f"[{index}]")
            return
        export = as_object(value)
        if isinstance(export.get("messages"), list):
            keep_known(self.draft.meta, as_object(export.get("info")), _META)
            for index, item in enumerate(as_list(export["messages"])):
                self.message(as_object(item), f"messages[{index}]")
        elif isinstance(export.get("parts"), list):
            self.message(export, "message")
        elif "messageID" in export:
            self.message({"info": {"role": "assistant"}, "parts": [export]}, "part")
        elif "role" in export or "sessionID" in export:
            raise FormatError(
                f"{self.draft.name}: unknown format: one message of opencode's storage, without its parts; "
                "read what `opencode export` prints"
            )
        else:
            self.draft.note("", "is neither an export nor a message, and was left out")

    def message(self, message: JsonObject, place: str) -> None:
        info = as_object(message.get("info")) or message
        parts = list(map(as_object, as_list(message.get("parts"))))
        role = as_text(info.get("role"))
        self.draft.at = as_time(as_object(info.get("time")).get("created"))
        for system in as_list(info.get("system")):
            if isinstance(system, str) and system not in self.draft.system:
                self.draft.system.append(system)
        if role == "user":
            self.human(parts, place)
        elif role == "assistant":
            self.assistant(info, parts, place)
        else:
            self.draft.unknown(place, f"a message of role {role!r}")

    def human(self, parts: list[JsonObject], place: str) -> None:
        blocks: list[Block] = []
        for index, part in enumerate(parts):
            kind = as_text(part.get("type"))
            if kind == "text":
                if part.get("ignored") is not True and part.get("text"):
                    blocks.append(Text(as_text(part["text"])))
            elif kind == "file":
                self._file(part, f"{place}.parts[{index}]", blocks)
            elif kind == "tool":
                call, result = self._tool(part, f"{place}.parts[{index}]")
                blocks += [call] if result is None else [call, result]
            else:
                self._other(kind, f"{place}.parts[{index}]")
        self.draft.human(blocks, place)

    def assistant(self, info: JsonObject, parts: list[JsonObject], place: str) -> None:
        holder = {**as_object(info.get("model")), **info}
        model, provider = first_text(holder, "modelID"), first_text(holder, "providerID")
        provider = provider_named(provider) or provider
        if model:
            self.draft.model, self.draft.route = model, route_of(provider, model)
        failed = as_object(info.get("error"))
        ending = _ENDINGS.get(as_text(failed.get("name")), Ending.CUT) if failed else None
        if failed:
            self.draft.note(place, f"the answer failed: {as_text(failed.get('name')) or 'no reason is given'}")
        answer = _Answering(as_id(info.get("id")) or place, origin_of(provider, model), ending)
        steps: list[list[tuple[int, JsonObject]]] = [[]]
        for index, part in enumerate(parts):
            if part.get("type") == "step-start":
                steps.append([])
            else:
                steps[-1].append((index, part))
        for number, step in enumerate(steps):
            is_last = number == len(steps) - 1
            self.step(step, place, answer._replace(key=f"{answer.key}/{number}", ending=ending if is_last else None))
        if tokens := as_object(info.get("tokens")):
            cached = as_object(tokens.get("cache"))
            counts: JsonObject = {**tokens, "cacheRead": cached.get("read"), "cacheWrite": cached.get("write")}
            self.draft.count(as_usage(counts, "input", "output", "cacheRead", "cacheWrite", "reasoning"))

    def step(self, parts: list[tuple[int, JsonObject]], place: str, answer: _Answering) -> None:
        """One answer of the model, and what its tools returned."""
        blocks: list[Block] = []
        results: list[ToolResponse] = []
        for index, part in parts:
            kind, where = as_text(part.get("type")), f"{place}.parts[{index}]"
            match kind:
                case "text":
                    blocks += [Text(as_text(part["text"]))] if part.get("text") else []
                case "reasoning":
                    blocks += [Thinking(as_text(part["text"]))] if part.get("text") else []
                case "tool":
                    call, result = self._tool(part, where)
                    blocks.append(call)
                    results += [result] if result is not None else []
                case "file":
                    self._file(part, where, blocks)
                case _:
                    self._other(kind, where)
        self.draft.say(Speaker.AI, blocks, place, origin=answer.origin, answer=answer.key, ending=answer.ending)
        self.draft.results(results, place)

    def _tool(self, part: JsonObject, place: str) -> tuple[ToolCall, ToolResponse | None]:
        state = as_object(part.get("state"))
        name, wire_id = as_text(part.get("tool")), first_id(part, "callID", "id")
        value, raw, finished = read_arguments(state.get("input"))
        if state.get("status") == "pending" and not value and state.get("raw"):
            value, raw, finished = read_arguments(state.get("raw"))
        call = ToolCall(name, value, wire_id, raw=raw, finished=finished)
        media = tuple(medium for item in as_objects(state.get("attachments")) if (medium := _medium(item)))
        match state.get("status"):
            case "completed" | "success":
                output = state.get("output")
                return call, response(wire_id, name, self._or_printed(output, state, place), media=media)
            case "error" if _is_interrupted(state):
                return call, response(wire_id, name, as_object(state["metadata"])["output"], media=media)
            case "error":
                error = self._or_printed(first_text(state, "error", "output") or None, state, place)
                return call, response(wire_id, name, error, is_error=True, media=media)
            case "pending" | "running":
                return call, None
            case _:  # a state that is not known: it has ended if there is an outcome
                came: Json = state.get("output") if state.get("output") is not None else state.get("error")
                came = self._or_printed(came, state, place)
                return call, None if came is None else response(wire_id, name, came, media=media)

    def _or_printed(self, came: Json, state: JsonObject, place: str) -> Json:
        """What came of a call; where that cannot be read, what was shown of it while it ran."""
        printed = as_text(as_object(state.get("metadata")).get("output"))
        if isinstance(came, str) or as_list(came) or as_object(came) or not printed:
            return came
        self.draft.note(place, "a result cannot be read; what was shown of it stands in its place", is_carried=True)
        return printed

    def _file(self, part: JsonObject, place: str, blocks: list[Block]) -> None:
        medium = _medium(part)
        if medium is None:
            self.draft.note(place, "a file without an address; it was left out")
        elif medium.url is not None and medium.url.startswith("file:"):
            self.draft.note(place, "a file that is only named, not held; its name stands in its place")
            blocks.append(Text(f"[file: {medium.name or medium.url}]"))
        else:
            blocks.append(medium)

    def _other(self, kind: str, place: str) -> None:
        if kind in _BOOKKEEPING:
            return
        if kind in _WITHOUT_WORDS:
            self.draft.skip(place, f"a part of type {kind!r} is not part of the conversation")
        else:
            self.draft.unknown(place, f"a part of type {kind!r}")


def _is_interrupted(state: JsonObject) -> bool:
    """Whether a call was stopped, and the model is told what it had printed until then, and not why it ended."""
    held = as_object(state.get("metadata"))
    return held.get("interrupted") is True and isinstance(held.get("output"), str)


def _medium(part: JsonObject) -> Media | None:
    address = as_text(part.get("url"))
    mime = first_text(part, "mime") or "application/octet-stream"
    return media_from(address, mime, name=first_text(part, "filename") or None) if address else None
