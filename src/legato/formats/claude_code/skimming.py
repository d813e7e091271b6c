"""Skim Claude Code sessions: see that every call has its result, without reading what anyone says.

Records of the usual forms are looked at where they are; all others are read as `reading` reads them, and let go. Which
records are the conversation, and in which order, is found out as ever; so every note on the file is the same.
"""

from __future__ import annotations

from typing import cast

from legato.formats.claude_code.reading import SYNTHETIC, ClaudePiece, ClaudeReader, name_model, node_of
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.fields import as_list, as_object, as_text
from legato.formats.skimming import Gist, gist_of, is_sound
from legato.formats.tree import find_branches, note_branches
from legato.model import Json, JsonObject, ingest
from legato.model.closures import recognise_closure
from legato.wire.readback import RESULT_OPENINGS

_CONTAINERS: frozenset[type] = frozenset({dict, list})
_MOST_ARGUMENTS = 1_000
"""our choice, far below the number of parts that is refused"""


def skim(content: Content) -> Document | None:
    """The session without its entries, if nothing is wrong with its calls; None where that is not certain."""
    skimmer = _Skimmer(content.draft())
    for item in content.lines():
        skimmer.take(item)
    branches = find_branches([piece.node for piece in skimmer.pieces])
    if branches.sidechains:
        return None
    note_branches(skimmer.draft, branches, lambda node: skimmer.pieces[node.index].place)
    said = [piece for piece in skimmer.in_order(branches.live) if piece.gist is not None]
    if not said or not is_sound(cast(Gist, piece.gist) for piece in said):
        return None
    models = (piece.model for piece in reversed(said) if piece.model)
    if model := next(models, ""):
        name_model(skimmer.draft, model)
    skimmer.draft.is_skimmed = True
    return content.finish(skimmer.draft)[0]


class _Skimmer(ClaudeReader):
    """Makes pieces of records that hold their gist alone."""

    def take(self, item: Item) -> None:
        """Look at one record."""
        record = item.value
        gist = _gist(record)
        if gist is not None:
            node = node_of(record, len(self.pieces))
            node.is_said, node.is_reply = True, gist.is_answer or bool(gist.results)
            node.answer, node.calls, node.results = gist.answer, gist.calls, gist.results
            model = as_text(record["message"].get("model")) if gist.is_answer else ""
            self.pieces.append(ClaudePiece(node, item.place, item.source, model=model, gist=gist))
            return
        super().take(item)
        piece = self.pieces[-1]
        if piece.parts:
            parts = ((part.speaker, part.blocks) for part in piece.parts)
            piece.gist = gist_of(parts, answer=piece.node.answer)
            piece.parts = []


def _gist(record: JsonObject) -> Gist | None:
    """The gist of a message of a usual form in which something is said; None for any other record."""
    message = as_object(record.get("message"))
    kind = record.get("type")
    if kind == "user":
        return None if "isCompactSummary" in record else _said(message.get("content"))
    is_plain = kind == "assistant" and "isApiErrorMessage" not in record and message.get("model") != SYNTHETIC
    return _answered(message) if is_plain else None


def _said(content: Json) -> Gist | None:
    """What tools returned, and then what a person says."""
    if isinstance(content, str):
        return Gist(has_words=True) if content and not content.isspace() else None
    results: list[str] = []
    has_words = False
    for part in map(as_object, as_list(content)):
        kind = part.get("type")
        if kind == "tool_result":
            wire_id, output = part.get("tool_use_id"), part.get("content")
            if has_words or not isinstance(wire_id, str) or not isinstance(output, str):
                return None
            if output[:1] in RESULT_OPENINGS and recognise_closure(output) is not None:
                return None
            results.append(wire_id)
        elif kind == "text" and isinstance(text := part.get("text"), str) and text and not text.isspace():
            has_words = True
        else:
            return None
    return Gist(results=tuple(results), has_words=has_words) if results or has_words else None


def _answered(message: JsonObject) -> Gist | None:
    """What the model thinks, says and calls."""
    key, content = message.get("id", ""), as_list(message.get("content"))
    if not isinstance(key, str) or not content:
        return None
    calls: list[str] = []
    is_visible = False
    for block in map(as_object, content):
        kind = block.get("type")
        if kind == "tool_use":
            wire_id = block.get("id")
            if not isinstance(wire_id, str):
                return None
            _refuse_too_many_parts(block.get("input"))
            calls.append(wire_id)
            is_visible = True
        elif kind == "text" and isinstance(text := block.get("text"), str) and text:
            is_visible = is_visible or not text.isspace()
        elif kind != "thinking" or not isinstance(text := block.get("thinking"), str) or not text:
            return None
    return Gist(True, as_text(key), tuple(calls), is_visible=is_visible)


def _refuse_too_many_parts(arguments: Json) -> None:
    """Raise what reading these arguments would raise; a few words and numbers need no closer look."""
    values = as_object(arguments).values()
    is_flat = isinstance(arguments, dict | str) and _CONTAINERS.isdisjoint(map(type, values))
    if not is_flat or len(values) > _MOST_ARGUMENTS:
        ingest(cast(Json, arguments))
