"""Read sessions of GitHub Copilot CLI: `events.jsonl`, an event a line.

An answer is an `assistant.message` with the calls that it makes; each call has a `tool.execution_start` and a
`tool.execution_complete` of its own, in any order; the first names the call once more, the second may hold what was
shown of the result, and either counts where the one that the model was told cannot be read. Events of a subagent have
an `agentId`, older ones the call that started it: they are conversations beside the main one. Bytes are in a
`session.binary_asset`, under their digest. What a rewind took back is not part of what goes on.
"""

from __future__ import annotations

from legato.formats.blocks import kind_of, response, text_blocks
from legato.formats.content import Content, Item
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_id, as_object, as_objects, as_text, as_time, first_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.model import (
    Authority,
    Block,
    Ending,
    HostedTool,
    JsonObject,
    Media,
    Speaker,
    Text,
    Thinking,
    ToolCall,
)
from legato.wire.anthropic.decode import read_blocks
from legato.wire.arguments import read_arguments
from legato.wire.openai_responses.reading import blocks_of

_WORDS = frozenset({"user.message", "assistant.message", "system.message", "tool.execution_complete"})
_FAMILIES = frozenset(
    {"session", "assistant", "tool", "hook", "permission", "subagent", "mcp", "command", "commands", "user_input",
     "elicitation", "sampling", "external_tool", "model", "pending_messages", "skill", "ui", "capabilities",
     "auto_mode_switch", "session_limits_exhausted", "exit_plan_mode", "tool_search", "factory", "system"}
)  # fmt: skip
"""the families of events (`session.info`, `hook.start`) that only tell how the program ran, where they are not read"""


def read(content: Content) -> list[Document]:
    """The session, and after it the conversations of its subagents."""
    items = list(content.items("events"))
    requested = {
        as_id(request.get("toolCallId"))
        for item in items
        for request in as_objects(as_object(item.value.get("data")).get("toolRequests"))
    }
    started: dict[str, JsonObject] = {}
    for item in items:
        if item.value.get("type") == "tool.execution_start":
            data = as_object(item.value.get("data"))
            started[as_id(data.get("toolCallId"))] = data
    main = _Reader(content.draft(), requested, started)
    readers: dict[str, _Reader] = {"": main}
    for item in items:
        data = as_object(item.value.get("data"))
        agent = as_id(item.value.get("agentId")) or as_id(data.get("parentToolCallId"))
        if agent not in readers:
            draft = content.draft(f"{content.name} (subagent {len(readers)})")
            draft.meta["sidechain"] = agent
            readers[agent] = _Reader(draft, requested, started, main.assets)
        readers[agent].take(item, data)
    beside = [reader.draft for agent, reader in readers.items() if agent and reader.draft.entries]
    for draft in beside:
        draft.meta = main.draft.meta | draft.meta
    if beside:
        main.draft.meta["beside"] = str(len(beside))
    return content.finish(main.draft, *beside)


class _Reader:
    def __init__(
        self,
        draft: DocumentDraft,
        requested: set[str],
        begun: dict[str, JsonObject],
        assets: dict[str, Media] | None = None,
    ) -> None:
        self.draft = draft
        self.requested = requested
        """the ids of the calls that answers make"""
        self.begun = begun
        """what is known of each call that ran, by its id"""
        self.assets: dict[str, Media] = {} if assets is None else assets
        self.by_hand: dict[str, str] = {}
        """what a person ran without the model, by the id of the call"""
        self.at: dict[str, int] = {}
        """how many entries there were at each event"""

    def take(self, item: Item, data: JsonObject) -> None:
        """Read one event."""
        kind = as_text(item.value.get("type"))
        self.draft.at = as_time(item.value.get("timestamp"))
        if own := as_id(item.value.get("id")):
            self.at[own] = len(self.draft.entries)
        match kind:
            case "session.start" | "session.resume":
                self.session(data)
            case "session.model_change":
                self.model(first_text(data, "newModel"))
            case "system.message":
                self.system(data, item)
            case "user.message":
                self.human(data, item)
            case "system.notification":
                self.draft.human(text_blocks(as_text(data.get("content"))), item.place)
            case "assistant.message":
                self.answer(data, item)
            case "tool.user_requested":
                self.by_hand[as_id(data.get("toolCallId"))] = as_text(data.get("toolName"))
            case "tool.execution_start":
                self.started(data, item)
            case "tool.execution_complete":
                self.result(data, item)
            case "session.binary_asset":
                self.asset(data)
            case _:
                self.turn(kind, data, item)

    def turn(self, kind: str, data: JsonObject, item: Item) -> None:
        """What happened to the conversation as a whole; all else is how the program ran."""
        match kind:
            case "abort":
                self.draft.end_answer(Ending.CANCELLED)
            case "session.compaction_complete" if data.get("success") and data.get("summaryContent"):
                if self.draft.entries:
                    summary = as_text(data["summaryContent"])
                    self.draft.compactions.append(CompactionMark(0, len(self.draft.entries) - 1, summary, item.place))
                what = "the agent put a summary in place of what came before; all of it is read here"
                self.draft.note(item.place, what, is_carried=True)
            case "session.context_cleared" | "session.truncation":
                what = "the agent put what came before out of sight; all of it is read here"
                self.draft.note(item.place, what, is_carried=True)
            case "session.snapshot_rewind":
                self.rewind(as_id(data.get("upToEventId")), item)
            case _ if kind.partition(".")[0] in _FAMILIES:
                pass
            case _:
                self.draft.unknown(item.place, f"an event of type {kind!r}")

    def session(self, data: JsonObject) -> None:
        context = as_object(data.get("context"))
        found = {
            "session": first_text(data, "sessionId"),
            "version": first_text(data, "copilotVersion"),
            "cwd": first_text(context, "cwd"),
            "branch": first_text(context, "branch"),
        }
        self.draft.meta |= {name: value for name, value in found.items() if value}
        self.model(first_text(data, "selectedModel"))

    def model(self, model: str) -> None:
        if model:
            self.draft.model, self.draft.route = model, route_of(provider_of_model(model), model)

    def system(self, data: JsonObject, item: Item) -> None:
        text = as_text(data.get("content"))
        if data.get("role") in ("system", "developer"):
            self.draft.system = [text]  # it is told anew when it has changed
        else:
            self.draft.human(text_blocks(text), item.place, authority=Authority.INSTRUCTION)

    def human(self, data: JsonObject, item: Item) -> None:
        blocks = text_blocks(as_text(data.get("content")))
        for attachment in as_objects(data.get("attachments")):
            medium = self.medium(attachment)
            said = first_text(attachment, "taggedFilesEntry", "text")
            blocks += [medium] if medium is not None else text_blocks(said)
            if medium is None and not said:
                what = first_text(attachment, "path", "displayName", "url", "title") or as_text(attachment.get("type"))
                self.draft.note(item.place, f"the attachment {what!r} is not in the file and is not carried")
        self.draft.human(blocks, item.place)

    def answer(self, data: JsonObject, item: Item) -> None:
        model = first_text(data, "model") or self.draft.model
        self.model(model)
        provider, blocks = _thoughts(as_object(data.get("reasoningBlocks")))
        self.draft.route = route_of(provider, model) or self.draft.route
        if not blocks and (thought := as_text(data.get("reasoningText"))):
            blocks.append(Thinking(thought))
        blocks += text_blocks(as_text(data.get("content")))
        for request in as_objects(data.get("toolRequests")):
            begun = self.begun.get(as_id(request.get("toolCallId")), {})
            name = first_text(request, "name") or as_text(begun.get("toolName"))
            blocks.append(_call(request if request.get("arguments") is not None else {**request, **begun}, name))
        blocks += self.hosted(as_object(data.get("serverTools")), item)
        answer = first_text(data, "apiCallId", "messageId") or None
        origin = origin_of(provider or provider_of_model(model), model)
        self.draft.say(Speaker.AI, blocks, item.place, origin=origin, answer=answer)

    def hosted(self, tools: JsonObject, item: Item) -> list[Block]:
        """What tools of the provider did, as it was kept to be sent back."""
        kept = [*as_objects(tools.get("items")), *as_objects(tools.get("rawContentBlocks"))]
        blocks = _native(as_text(tools.get("provider")), kept)
        if kept and not blocks:
            self.draft.unknown(item.place, "what the provider's own tools did")
        return [block for block in blocks if isinstance(block, HostedTool)]

    def started(self, data: JsonObject, item: Item) -> None:
        """A call that runs. Nearly always an answer has made it; else this is all that is known of it."""
        own, name = as_id(data.get("toolCallId")), as_text(data.get("toolName"))
        if own not in self.requested and own not in self.by_hand:
            self.draft.say(Speaker.AI, [_call(data, name)], item.place)

    def result(self, data: JsonObject, item: Item) -> None:
        own, result = as_id(data.get("toolCallId")), as_object(data.get("result"))
        media = tuple(
            medium
            for part in as_objects(result.get("binaryResultsForLlm"))
            if (medium := self.medium(part)) is not None
        )
        missing = len(as_objects(result.get("binaryResultsForLlm"))) - len(media)
        if missing:
            self.draft.note(item.place, f"{missing} of the media of the call {own} are not in the file")
        failed = data.get("success") is False
        text = as_text(result.get("content"))
        if not isinstance(result.get("content"), str) and (text := as_text(result.get("detailedContent"))):
            what = f"the result of the call {own!r} cannot be read; what was shown of it stands in its place"
            self.draft.note(item.place, what, is_carried=True)
        if failed and not text:
            text = first_text(as_object(data.get("error")), "message") or "the tool failed"
        if own in self.by_hand:
            ran = Text(f"[The user ran {self.by_hand[own]}]\n{text}")
            self.draft.human([ran, *media], item.place)
            return
        self.draft.results([response(own, "", text, is_error=failed, media=media)], item.place)

    def asset(self, data: JsonObject) -> None:
        mime = first_text(data, "mimeType") or "application/octet-stream"
        if data.get("data"):
            self.assets[as_id(data.get("assetId"))] = Media(kind_of(mime), mime, data=as_text(data["data"]))

    def medium(self, part: JsonObject) -> Media | None:
        """Bytes that are here, or under the name of an asset."""
        mime = first_text(part, "mimeType")
        if mime and part.get("data"):
            return Media(kind_of(mime), mime, data=as_text(part["data"]), name=first_text(part, "displayName") or None)
        return self.assets.get(as_id(part.get("assetId")))

    def rewind(self, event: str, item: Item) -> None:
        """Take back all that was said since an event that is still in the file."""
        if (kept := self.at.get(event)) is None or kept >= len(self.draft.entries):
            return
        left = len(self.draft.entries) - kept
        what = f"{left} messages were taken back here and are not carried"
        self.draft.note(item.place, what)
        self.draft.take_back(kept)


def _native(provider: str, kept: list[JsonObject]) -> list[Block]:
    """Blocks or items in the form of the API that gave them."""
    match provider:
        case "anthropic-messages":
            return read_blocks(kept, str)
        case "openai-responses":
            return [block for item in kept for block in blocks_of(item)]
        case _:
            return []


def _thoughts(reasoning: JsonObject) -> tuple[str, list[Block]]:
    """The provider that thoughts go back to, and the thoughts; nothing where they are only text."""
    provider = as_text(reasoning.get("provider"))
    thoughts = [
        block for block in _native(provider, as_objects(reasoning.get("blocks"))) if isinstance(block, Thinking)
    ]
    return provider.removesuffix("-messages") if thoughts else "", list[Block](thoughts)


def _call(source: JsonObject, name: str) -> ToolCall:
    value, raw, finished = read_arguments(source.get("arguments"))
    return ToolCall(name, value, as_id(source.get("toolCallId")), raw=raw, finished=finished)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    for record in head.records:
        kind, data = as_text(record.get("type")), as_object(record.get("data"))
        if kind == "session.start" and ("copilotVersion" in data or data.get("producer") == "copilot-agent"):
            return "a session.start of copilot-agent"
        if kind in _WORDS and data and "parentId" in record:
            return f"an event {kind} with data"
    return ""


FORMAT = Format(
    name="copilot-cli",
    title="GitHub Copilot CLI session",
    known_from="sessions of Copilot CLI 1.0.102",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.copilot/session-state",
        files="*/events.jsonl",
        moved_by="COPILOT_HOME",
        source="https://github.com/github/copilot-cli",
    ),
    marks=marks("type data id"),
    is_lines=True,
)
