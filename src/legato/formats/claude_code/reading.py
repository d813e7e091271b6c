"""Read Claude Code sessions: JSONL under `~/.claude/projects`, or the JSON with `loglines` that its web face gives.

A record is a message of the API with an envelope. One answer is written over several lines, a block each, that share
`message.id`; that id is the entries' answer key. Turns that the program made up itself (model `<synthetic>`: an error
of the API, shown as if it had been said) are no part of the conversation. The file does not hold the system prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby

from msgspec import Struct

from legato.formats.blocks import anthropic_answer, as_json, split_content
from legato.formats.claude_code.attachments import SURROUNDINGS, attached
from legato.formats.content import Content, Item
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_list, as_object, as_text, as_time, first_text
from legato.formats.origins import home_of, origin_of, route_of
from legato.formats.skimming import Gist
from legato.formats.tree import Node, find_branches, note_branches
from legato.formats.wire.salvage import make_blocks_readable
from legato.model import Block, Ending, Json, JsonObject, Origin, Speaker, Text, ToolResponse, Usage
from legato.wire.anthropic.decode import read_usage

SYNTHETIC = "<synthetic>"
INTERRUPTED = "[Request interrupted by user]"

_ENDINGS = {
    "end_turn": Ending.DONE,
    "stop_sequence": Ending.DONE,
    "tool_use": Ending.CALLS,
    "max_tokens": Ending.LENGTH,
    "model_context_window_exceeded": Ending.LENGTH,
    "pause_turn": Ending.PAUSED,
    "refusal": Ending.REFUSED,
}
_META = {"sessionId": "session", "cwd": "cwd", "version": "version", "gitBranch": "branch", "agentId": "agent"}
_TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_WITHOUT_WORDS = frozenset(
    {"file-history-snapshot", "queue-operation", "progress", "last-prompt", "permission-mode", "agent-name",
     "agent-color", "agent-setting", "mode", "tag", "pr-link", "worktree-state", "content-replacement",
     "attribution-snapshot", "speculation-accept", "marble-origami-commit", "marble-origami-snapshot", "task-summary",
     "tools-used", "atis-latch", "api-request", "api-request-shape", "api-request-blob", "cost-state"}
)  # fmt: skip
"""records of the program about itself; nothing in them was said to or by a model"""


class ClaudePart(Struct, gc=False):
    """What one speaker says in a record."""

    speaker: Speaker
    blocks: list[Block]


class ClaudePiece(Struct, gc=False):
    """A record on its way to entries."""

    node: Node
    place: str
    source: int
    parts: list[ClaudePart] = []
    origin: Origin | None = None
    ending: Ending | None = None
    model: str = ""
    summary: str = ""
    at: float | None = None
    usage: Usage | None = None
    is_attached: bool = False
    gist: Gist | None = None
    """what there is in it, where it is only skimmed; `parts` are empty then"""


def read(content: Content) -> list[Document]:
    """The session, and after it the side chains of its subagents."""
    reader = ClaudeReader(content.draft())
    for item in content.items("loglines", "messages"):
        reader.take(item)
    branches = find_branches([piece.node for piece in reader.pieces])
    note_branches(reader.draft, branches, lambda node: reader.pieces[node.index].place)
    reader.speak(branches.live, reader.draft)
    drafts = [reader.draft]
    for number, nodes in enumerate(branches.sidechains, 1):
        draft = content.draft(f"{content.name} (side chain {number})")
        draft.meta |= reader.draft.meta
        draft.meta["sidechain"] = nodes[0].agent or nodes[0].uuid or str(number)
        reader.speak(find_branches(nodes).live, draft)
        drafts.append(draft)
    if branches.sidechains:
        reader.draft.meta["beside"] = str(len(branches.sidechains))
    return content.finish(*drafts)


class ClaudeReader:
    """Makes pieces of records, and entries of those that are said."""

    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.pieces: list[ClaudePiece] = []

    def take(self, item: Item) -> None:
        """Read one record."""
        record, kind = item.value, as_text(item.value.get("type"))
        message = as_object(record.get("message"))
        piece = ClaudePiece(
            node_of(record, len(self.pieces)), item.place, item.source, at=as_time(record.get("timestamp"))
        )
        self.pieces.append(piece)
        if "session" not in self.draft.meta:
            keep_known(self.draft.meta, record, _META)
        match kind:
            case "assistant" if message:
                self.assistant(piece, record, message)
            case "user" if message:
                self.user(piece, record, message)
            case "attachment":
                self.attachment(piece, record)
            case "system":
                self.system(piece, record)
            case "summary" | "custom-title" | "ai-title":
                self.draft.meta["title"] = as_text(record.get(_TITLES[kind]))
            case _ if kind not in _WITHOUT_WORDS:
                self.draft.skip(item.place, f"a record of type {kind!r} is not part of the conversation")
            case _:
                pass
        for part in piece.parts:
            piece.node.is_said = True
            piece.node.is_reply |= part.speaker is not Speaker.HUMAN
        if piece.parts:
            piece.node.hold(chain.from_iterable(part.blocks for part in piece.parts))

    def assistant(self, piece: ClaudePiece, record: JsonObject, message: JsonObject) -> None:
        """An answer, or a line of one."""
        model = as_text(message.get("model"))
        if model == SYNTHETIC or record.get("isApiErrorMessage") is True:
            self.draft.note(piece.place, "a turn that the program made up and no model said; it was left out")
            return
        items, notes = make_blocks_readable(message.get("content"))
        for note in notes:
            self.draft.note(piece.place, str(note), is_carried=note.is_carried, is_unknown=note.is_unknown)
        blocks = anthropic_answer(items)
        if not blocks:
            return
        piece.model = model
        piece.origin = origin_of(home_of("anthropic", model), model, model) if model else None
        piece.usage = read_usage(as_object(message.get("usage")))
        piece.ending = _ENDINGS.get(as_text(message.get("stop_reason")))
        piece.parts = [ClaudePart(Speaker.AI, blocks)]
        piece.node.answer = as_id(message.get("id"))

    def user(self, piece: ClaudePiece, record: JsonObject, message: JsonObject) -> None:
        """Results, and what a person says."""
        content: Json = message.get("content")
        if _has_lost(content) and (printed := _printed(record.get("toolUseResult"))):
            content = [{**as_object(as_list(content)[0]), "content": printed}]
            what = "a result cannot be read; what the program itself kept of it stands in its place"
            self.draft.note(piece.place, what, is_carried=True)
        blocks, unknown = split_content(content)
        self.draft.note_unknown(unknown, piece.place)
        for are_results, run in groupby(blocks, key=_is_response):
            piece.parts.append(ClaudePart(Speaker.TOOL if are_results else Speaker.HUMAN, list(run)))
        if record.get("isCompactSummary") is True:
            piece.node.continues = True
            piece.summary = "\n".join(b.text for part in piece.parts for b in part.blocks if isinstance(b, Text))

    def attachment(self, piece: ClaudePiece, record: JsonObject) -> None:
        """What the program puts beside a message: what a person typed meanwhile, files and memories that they named."""
        attachment = as_object(record.get("attachment"))
        kind = as_text(attachment.get("type"))
        if kind == "queued_command" and attachment.get("prompt"):
            blocks, _ = split_content(attachment.get("prompt"))
            self._add(piece, Speaker.HUMAN, blocks)
        elif blocks := attached(record, attachment):
            self._add(piece, Speaker.HUMAN, blocks)
            piece.is_attached = True
        elif kind not in SURROUNDINGS:
            self.draft.skip(piece.place, f"an attachment of type {kind!r} is not carried")

    def system(self, piece: ClaudePiece, record: JsonObject) -> None:
        """What the program says to its user, or where it has compacted."""
        subtype = as_text(record.get("subtype"))
        if subtype == "compact_boundary":
            piece.node.continues = True
        else:
            self.draft.skip(piece.place, f"a system record ({subtype or 'plain'}) was shown to the user alone")

    @staticmethod
    def _add(piece: ClaudePiece, speaker: Speaker, blocks: list[Block]) -> None:
        if not blocks:
            return
        if piece.parts and piece.parts[-1].speaker is speaker:
            piece.parts[-1].blocks.extend(blocks)
        else:
            piece.parts.append(ClaudePart(speaker, blocks))

    # --- entries ------------------------------------------------------------------------------------------------------

    def speak(self, nodes: list[Node], draft: DocumentDraft) -> None:
        """Add what the pieces of `nodes` say."""
        for piece in self.in_order(nodes):
            self._speak_piece(piece, draft)

    def in_order(self, nodes: list[Node]) -> Iterator[ClaudePiece]:
        """The pieces of `nodes`, in this order; only what is attached never comes between a call and its result."""
        late: list[ClaudePiece] = []
        waiting: set[str] = set()
        for node in nodes:
            piece = self.pieces[node.index]
            if waiting and piece.is_attached:
                late.append(piece)
                continue
            yield piece
            waiting.update(node.calls)
            waiting.difference_update(node.results)
            if not waiting:
                yield from late
                late = []
        yield from late

    def _speak_piece(self, piece: ClaudePiece, draft: DocumentDraft) -> None:
        node, draft.at = piece.node, piece.at
        for part in piece.parts:
            if piece.is_attached and draft.say_more(part.speaker, part.blocks):
                continue
            is_answer = part.speaker is Speaker.AI
            if not is_answer and _interrupts(part.blocks):
                _cancel(draft)
            draft.say(
                part.speaker,
                part.blocks,
                piece.place,
                source=piece.source,
                origin=piece.origin,
                answer=(node.answer or None) if is_answer else None,
                ending=piece.ending,
            )
        if piece.usage is not None:
            draft.count(piece.usage)
        if piece.model:
            name_model(draft, piece.model)
        if piece.summary and len(draft.entries) > 1:
            draft.compactions.append(CompactionMark(0, len(draft.entries) - 1, piece.summary, piece.place))


def name_model(draft: DocumentDraft, model: str) -> None:
    """This model answered last, as far as it is known."""
    draft.model, draft.route = model, route_of(home_of("anthropic", model), model)


def node_of(record: JsonObject, index: int) -> Node:
    """The place of a record in the tree."""
    parent = as_text(record.get("parentUuid"))
    return Node(
        index=index,
        uuid=as_text(record.get("uuid")),
        parent=parent,
        is_root="parentUuid" in record and not parent,
        is_sidechain=record.get("isSidechain") is True,
        agent=as_text(record.get("agentId")),
        logical_parent=as_text(record.get("logicalParentUuid")),
        names_leaf=as_text(record.get("leafUuid")) if record.get("type") == "last-prompt" else "",
    )


def _has_lost(content: Json) -> bool:
    """Whether a content is one result, and what came of its call is not there, nor that nothing came."""
    parts = as_list(content)
    if len(parts) != 1 or as_object(parts[0]).get("type") != "tool_result":
        return False
    came = as_object(parts[0]).get("content")
    if said := as_list(came):
        return all(map(_says_nothing, said))
    return not isinstance(came, str | list) and not as_object(came)


def _says_nothing(part: Json) -> bool:
    held = as_object(part)
    is_empty_text = held.get("type") == "text" and not isinstance(held.get("text"), str)
    return not isinstance(part, str) and (not held or is_empty_text)


def _printed(kept: Json) -> Json:
    """What the program itself kept of a result: a content, what a command printed, or fields of the tool's own."""
    fields = as_object(kept)
    if not fields:
        return as_list(kept) or as_text(kept)
    streams = [first_text(fields, name) for name in ("stdout", "stderr")]
    return "\n".join(filter(None, streams)) or as_json(kept)


def _is_response(block: Block) -> bool:
    return isinstance(block, ToolResponse)


def _interrupts(blocks: list[Block]) -> bool:
    return len(blocks) == 1 and isinstance(blocks[0], Text) and blocks[0].text.strip() == INTERRUPTED


def _cancel(draft: DocumentDraft) -> None:
    """The answer before an interruption was not finished, unless it says how it ended."""
    if draft.entries and draft.entries[-1].ending is None:
        draft.end_answer(Ending.CANCELLED)
