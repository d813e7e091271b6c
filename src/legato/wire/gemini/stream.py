"""Read a streamed answer; a whole body is a stream of one event.

In:  server-sent events, each with a piece of the response in the shape of the whole.
Out: deltas to show, and at the end the `Answer`.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, HostedTool, JsonObject, Target, Text, ToolCall, Usage, ingest
from legato.model.json_access import as_count, as_list, as_object, as_text
from legato.wire.contract import Delta
from legato.wire.gemini.fields import camel
from legato.wire.gemini.reading import PartReader
from legato.wire.stream import EventDecoder
from legato.wire.voice import Names

_REFUSALS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
_MALFORMED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
    }
)


class Decoder(EventDecoder):
    """The stream decoder of this dialect."""

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._parts = PartReader(self.builder)
        self._refusal = ""
        self._grounding: dict[str, HostedTool] = {}
        """repeated and completed from piece to piece; it stands behind the parts"""

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one piece of the response; fields that are new to us are skipped."""
        chunk = camel(event)
        refuse_error(chunk)
        self.served = as_text(chunk.get("modelVersion")) or self.served
        self.response_id = as_text(chunk.get("responseId")) or self.response_id
        usage = read_usage(camel(chunk.get("usageMetadata")))
        self.usage = usage or self.usage
        blocked = as_text(camel(chunk.get("promptFeedback")).get("blockReason"))
        if blocked:
            self._refuse(blocked, as_text(camel(chunk["promptFeedback"]).get("blockReasonMessage")))
        deltas: list[Delta] = []
        for candidate in as_list(chunk.get("candidates"))[:1]:
            deltas += self._candidate(camel(candidate))
        return deltas

    def _candidate(self, candidate: JsonObject) -> list[Delta]:
        deltas: list[Delta] = []
        for part in as_list(as_object(candidate.get("content")).get("parts")):
            deltas += self._parts.take(part)
        self._grounding |= {block.name: block for block in read_grounding(candidate)}
        reason = as_text(candidate.get("finishReason"))
        said = as_text(candidate.get("finishMessage"))
        if reason in _MALFORMED:
            said = said or "no reason given"
            raise BadAnswer(f"the model's answer cannot be used ({reason}): {said}", layer="decode", reason=reason)
        if reason in _REFUSALS:
            self._refuse(reason, said)
        elif reason == "MAX_TOKENS":
            self.ending = Ending.LENGTH
        elif reason and reason != "FINISH_REASON_UNSPECIFIED":
            deltas += self._parts.close()
            self.ending = Ending.DONE
        return deltas

    def _refuse(self, reason: str, said: str) -> None:
        self.ending = Ending.REFUSED
        self._refusal = said or f"[The provider blocked this: {reason}]"

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        blocks = (*blocks, *self._grounding.values())
        if ending is Ending.DONE and any(isinstance(block, ToolCall) for block in blocks):
            ending = Ending.CALLS
        if all(isinstance(block, Text) and not block.text for block in blocks):
            blocks = ()  # a signature alone says nothing
        if ending is Ending.REFUSED and not blocks:
            blocks = (Text(self._refusal),)
        return super()._answer(blocks, ending)


def refuse_error(chunk: JsonObject) -> None:
    """Raise `BadAnswer` if `chunk` is an error object."""
    error = as_object(chunk.get("error"))
    if error:
        said = as_text(error.get("message")) or "no reason given"
        raise BadAnswer(f"the provider answered with an error: {said}", layer="decode", error=error)


def read_usage(usage: JsonObject) -> Usage | None:
    """Tokens; the provider counts thoughts apart from the rest of the output."""
    if "promptTokenCount" not in usage and "candidatesTokenCount" not in usage:
        return None
    thoughts = as_count(usage.get("thoughtsTokenCount"))
    return Usage(
        input=as_count(usage.get("promptTokenCount")) + as_count(usage.get("toolUsePromptTokenCount")),
        output=as_count(usage.get("candidatesTokenCount")) + thoughts,
        cache_read=as_count(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def read_grounding(candidate: JsonObject) -> list[HostedTool]:
    """What the provider looked up for the answer: told beside the parts, and never sent back."""
    found: list[HostedTool] = []
    grounding, pages = camel(candidate.get("groundingMetadata")), camel(candidate.get("urlContextMetadata"))
    queries = as_list(grounding.get("webSearchQueries"))
    sources = [dict(camel(source)) for chunk in as_list(grounding.get("groundingChunks")) for source in _sources(chunk)]
    if queries or sources:
        native: JsonObject = {"groundingMetadata": ingest(grounding)}
        found.append(HostedTool("google_search", {"queries": ingest(queries)}, ingest(sources), native=native))
    if pages.get("urlMetadata"):
        native = {"urlContextMetadata": ingest(pages)}
        found.append(HostedTool("url_context", result=ingest(pages["urlMetadata"]), native=native))
    return found


def _sources(chunk: object) -> list[object]:
    return [source for source in camel(chunk).values() if isinstance(source, dict)]
