"""Read a streamed answer; a whole body is a stream of one event.

In:  server-sent events, each with a piece of the response in the shape of the whole.
Out: deltas to show, and at the end the `Answer`.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, HostedTool, JsonObject, Target, Text, Usage, ingest
from legato.model.json_access import as_count, as_list, as_object, as_string, as_text
from legato.wire.context import Names
from legato.wire.endings import CUT_SHORT, ending_of
from legato.wire.gemini.fields import camel
from legato.wire.gemini.pieces import PIECES, StreamPiece
from legato.wire.gemini.reading import PartReader
from legato.wire.stream import EventDecoder

_ENDINGS = {  # https://ai.google.dev/api/generate-content#FinishReason
    "STOP": Ending.DONE,
    "MAX_TOKENS": Ending.LENGTH,
    "SAFETY": Ending.REFUSED,
    "RECITATION": Ending.REFUSED,
    "LANGUAGE": Ending.REFUSED,
    "BLOCKLIST": Ending.REFUSED,
    "PROHIBITED_CONTENT": Ending.REFUSED,
    "SPII": Ending.REFUSED,
    "IMAGE_SAFETY": Ending.REFUSED,
    "IMAGE_PROHIBITED_CONTENT": Ending.REFUSED,
    "IMAGE_RECITATION": Ending.REFUSED,
    "OTHER": Ending.CUT,
    "IMAGE_OTHER": Ending.CUT,
    "NO_IMAGE": Ending.CUT,
}
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

    pieces = PIECES

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._parts = PartReader(self.builder)
        self._refusal = ""
        self._grounding: dict[str, HostedTool] = {}
        """repeated and completed from piece to piece; it comes behind the parts"""

    def read(self, event: JsonObject) -> None:
        """Take one piece of the response; fields that are new to us are skipped."""
        chunk = camel(event)
        if "error" in chunk:
            refuse_error(chunk)
        if not self.served:
            self.served = as_text(chunk.get("modelVersion"))
        if not self.response_id:
            self.response_id = as_text(chunk.get("responseId"))
        if "usageMetadata" in chunk:
            self.usage = read_usage(camel(chunk["usageMetadata"])) or self.usage
        if "promptFeedback" in chunk:
            self._read_feedback(camel(chunk["promptFeedback"]))
        candidates = as_list(chunk.get("candidates"))
        if candidates:  # one was asked for
            self._read_candidate(camel(candidates[0]))

    def grow(self, piece: StreamPiece) -> bool:
        """Take a piece of text or thinking, once model and id are known."""
        if not self.served or not self.response_id:
            return False
        if piece.usage is not None:
            self.usage = read_usage(camel(piece.usage)) or self.usage
        part = piece.candidates[0].content.parts[0]
        self._parts.text(part.text, is_thought=bool(part.thought))
        return True

    def _read_candidate(self, candidate: JsonObject) -> None:
        for part in as_list(as_object(candidate.get("content")).get("parts")):
            self._parts.take(part)
        if "groundingMetadata" in candidate or "urlContextMetadata" in candidate:
            self._grounding |= {block.name: block for block in read_grounding(candidate)}
        reason = as_string(candidate.get("finishReason"))
        if reason and reason != "FINISH_REASON_UNSPECIFIED":
            self._end(reason, as_text(candidate.get("finishMessage")))

    def _read_feedback(self, feedback: JsonObject) -> None:
        blocked = as_text(feedback.get("blockReason"))
        if blocked:
            self.ending = Ending.REFUSED
            self._refusal = as_text(feedback.get("blockReasonMessage")) or _refused(blocked)

    def _end(self, reason: str, said: str) -> None:
        if reason in _MALFORMED:
            said = said or "no reason given"
            raise BadAnswer(f"the model's answer cannot be used ({reason}): {said}", layer="decode", reason=reason)
        self.ending, self.new_word = ending_of(reason, _ENDINGS, has_calls=self.builder.has_calls)
        if self.ending is Ending.REFUSED:
            self._refusal = said or _refused(reason)
        elif self.ending not in CUT_SHORT:
            self._parts.close()

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        blocks = (*blocks, *self._grounding.values())
        if all(isinstance(block, Text) and not block.text for block in blocks):
            blocks = ()  # a signature alone says nothing
        if ending is Ending.REFUSED and not blocks:
            blocks = (Text(self._refusal),)
        return super()._answer(blocks, ending)


def _refused(reason: str) -> str:
    return f"[The provider blocked this: {reason}]"


def refuse_error(chunk: JsonObject) -> None:
    """Raise `BadAnswer` if `chunk` is an error object."""
    error = as_object(chunk.get("error"))
    if error:
        said = as_text(error.get("message")) or "no reason given"
        raise BadAnswer(f"the provider answered with an error: {said}", layer="decode", error=ingest(error))


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
