"""Read Qwen Code sessions: JSONL under `~/.qwen/projects`.

The records are a tree like Claude Code's, with contents of the Gemini API in them whichever provider answered. Records
of the program about itself are links of the same chain. The program takes the branch of the last record, whatever that
says: a `rewind` hangs below the turn that was gone back to, and ends the branch where nothing was said since. Records
with one uuid are pieces of one message. Records about artifacts are in the file and not in the tree. Beside a result is
what was shown of it, which is read where the result itself cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from legato.formats.blocks import as_json, response
from legato.formats.content import Content, Item
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_object, as_objects, as_text, as_time
from legato.formats.gemini_parts import parts_of, read_parts, tells
from legato.formats.origins import home_of, origin_of, route_of
from legato.formats.tree import Node, find_branches, note_branches
from legato.model import Block, Ending, Json, JsonObject, Speaker, Text, Thinking, ToolCall, ToolResponse, Usage
from legato.model.json_access import as_count

_META = {"sessionId": "session", "cwd": "cwd", "version": "version", "gitBranch": "branch"}
_SPEAKERS = frozenset({"user", "assistant", "tool_result"})
_OUTSIDE = frozenset(
    {"session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot", "managed_session_header_v1",
     "managed_session_event_v1", "managed_session_commit_v1"}
)  # fmt: skip
"""records that are no links of the chain"""
_COMPRESSION = "chat_compression"


@dataclass(slots=True)
class _Fragment:
    """What one line says."""

    item: Item
    kind: str
    blocks: list[Block]
    model: str


@dataclass(slots=True)
class _Piece:
    """A record on its way to entries: all lines that have its id."""

    node: Node
    place: str
    fragments: list[_Fragment] = field(default_factory=list[_Fragment])
    summary: str = ""


def read(content: Content) -> list[Document]:
    """The session as the program would go on with it."""
    reader = _Reader(content.draft())
    for item in content.items("messages"):
        reader.take(item)
    if reader.pieces:
        reader.pieces[-1].node.names_leaf = reader.pieces[-1].node.uuid
    branches = find_branches([piece.node for piece in reader.pieces])
    note_branches(reader.draft, branches, lambda node: reader.pieces[node.index].place)
    for node in branches.live:
        reader.speak(reader.pieces[node.index])
    return content.finish(reader.draft)


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.pieces: list[_Piece] = []
        self._known: dict[str, _Piece] = {}

    def take(self, item: Item) -> None:
        """Read one line."""
        record = item.value
        kind, subtype = as_text(record.get("type")), as_text(record.get("subtype"))
        if "session" not in self.draft.meta:
            keep_known(self.draft.meta, record, _META)
        if subtype in _OUTSIDE:
            self.draft.skip(item.place, f"a record of type {subtype!r} is not part of the conversation")
            return
        piece = self._piece(record, item)
        if kind in _SPEAKERS:
            self.said(piece, item, kind)
        elif kind == "system":
            self.system(piece, as_object(record.get("systemPayload")), subtype)
        else:
            self.draft.unknown(item.place, f"a record of type {kind!r}")
        blocks = [block for fragment in piece.fragments for block in fragment.blocks]
        node = piece.node
        node.is_said = bool(blocks or piece.summary)
        node.is_reply = any(fragment.kind != "user" for fragment in piece.fragments)
        node.hold(blocks)

    def _piece(self, record: JsonObject, item: Item) -> _Piece:
        own, parent = as_text(record.get("uuid")), as_text(record.get("parentUuid"))
        if own in self._known:
            return self._known[own]
        is_root = "parentUuid" in record and not parent
        piece = _Piece(Node(len(self.pieces), own, parent, is_root, is_sidechain=False), item.place)
        self.pieces.append(piece)
        if own:
            self._known[own] = piece
        return piece

    def said(self, piece: _Piece, item: Item, kind: str) -> None:
        record = item.value
        if record.get("subtype") == "realtime_message":  # spoken to another model, which this one does not hear
            self.draft.skip(item.place, "a message of a spoken conversation is not carried")
            return
        body: Json = as_object(record.get("message")).get("parts")
        blocks, unknown = read_parts(body)
        for what in unknown:
            self.draft.unknown(item.place, what)
        answers = (as_object(part.get("functionResponse")) for part in parts_of(body))
        if kind == "tool_result" and not any(map(tells, answers)):
            blocks = self.shown(as_object(record.get("toolCallResult")), blocks, item.place)
        piece.fragments.append(_Fragment(item, kind, blocks, as_text(record.get("model"))))

    def shown(self, outcome: JsonObject, blocks: list[Block], place: str) -> list[Block]:
        """What was shown of a result that cannot be read, and what else is in `blocks`."""
        shown: Json = outcome.get("resultDisplay")
        status = as_text(outcome.get("status"))
        if not shown or (status == "cancelled" and not isinstance(shown, str)):  # else it is what was to be done
            return blocks
        self.draft.note(place, "a result cannot be read; what was shown of it stands in its place", is_carried=True)
        lost = [block for block in blocks if isinstance(block, ToolResponse)]
        own = as_id(outcome.get("callId")) or next((block.wire_id for block in lost), "")
        text = shown if isinstance(shown, str) else as_json(shown)
        read = response(own, "", text, is_error=status in ("error", "cancelled"))
        return [read, *(block for block in blocks if block not in lost)]

    def system(self, piece: _Piece, payload: JsonObject, subtype: str) -> None:
        if subtype == "custom_title":
            self.draft.meta["title"] = as_text(payload.get("customTitle"))
        elif subtype == _COMPRESSION:
            contents = as_objects(payload.get("compressedHistory"))
            texts = [as_text(part.get("text")) for item in contents for part in as_objects(item.get("parts"))]
            piece.summary = "\n\n".join(filter(None, texts))
            piece.node.continues = True

    # --- entries ------------------------------------------------------------------------------------------------------

    def speak(self, piece: _Piece) -> None:
        """Add what a record says."""
        model = next((fragment.model for fragment in piece.fragments if fragment.model), "")
        for fragment in piece.fragments:
            item = fragment.item
            self.draft.at = as_time(item.value.get("timestamp"))
            if fragment.kind == "assistant":
                self.answer(piece, fragment, model)
                if usage := _usage(as_object(item.value.get("usageMetadata"))):
                    self.draft.count(usage)
            else:
                self.draft.human(fragment.blocks, item.place, source=item.source)
        if piece.summary:
            self.compressed(piece)

    def answer(self, piece: _Piece, fragment: _Fragment, model: str) -> None:
        home = home_of("qwen", model)
        if model:
            self.draft.model, self.draft.route = model, route_of(home, model)
        blocks = [_own(block, home) for block in fragment.blocks]
        self.draft.say(
            Speaker.AI,
            blocks,
            fragment.item.place,
            source=fragment.item.source,
            origin=origin_of(home, model, model) if model else None,
            answer=piece.node.uuid or piece.place,
            ending=Ending.CALLS if any(isinstance(block, ToolCall) for block in blocks) else None,
        )

    def compressed(self, piece: _Piece) -> None:
        """What the program goes on with in place of all that comes before."""
        count = len(self.draft.entries)
        if not count:
            self.draft.human([Text(piece.summary)], piece.place)
            return
        self.draft.compactions.append(CompactionMark(0, count - 1, piece.summary, piece.place))
        what = f"a summary replaced the {count} entries before; all of them are read here"
        self.draft.note(piece.place, what, is_carried=True)


def _usage(counts: JsonObject) -> Usage | None:
    """Tokens. Whether thoughts are among the candidates depends on who answered; the total knows."""
    if "promptTokenCount" not in counts:
        return None
    asked = as_count(counts["promptTokenCount"])
    return Usage(
        input=asked,
        output=max(0, as_count(counts.get("totalTokenCount")) - asked),
        cache_read=as_count(counts.get("cachedContentTokenCount")),
        reasoning=as_count(counts.get("thoughtsTokenCount")),
    )


def _own(block: Block, home: str) -> Block:
    """A block as its provider knows it: what is kept as Gemini's signature is Anthropic's where Claude answered."""
    signature = as_text((block.native or {}).get("thoughtSignature"))
    if not signature or home == "gemini":
        return block
    if isinstance(block, Thinking):
        return Thinking(block.text, native={"signature": signature} if home == "anthropic" else None)
    return block
