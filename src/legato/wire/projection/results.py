"""What the completion of a call says to a target, and where its media go.

In:  a call as it is projected, and its completion.
Out: a `ResultPart`, and the media that have to follow after all results because they cannot be inside one.
"""

from __future__ import annotations

from collections.abc import Container

from legato.model import Action, CallId, Decision, Media, MediaKind
from legato.transcript.units import Completion, CompletionKind, completion_text
from legato.wire.phrases import EMBEDDED_RESULT, EMPTY_RESULT, ERROR_MARK, MEDIA_FOLLOWS, media_omitted
from legato.wire.projection.decisions import projected
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import CallPart, HumanPart, MediaPart, ResultPart, TextPart


class ResultProjector:
    """Projects the results of one conversation for one target, which refused the media of `withheld` calls before."""

    def __init__(self, grammar: Grammar, withheld: Container[CallId]) -> None:
        self._grammar = grammar
        self._withheld = withheld

    def project(
        self, call: CallPart, completion: Completion, decisions: list[Decision]
    ) -> tuple[ResultPart, list[Media]]:
        """The result of `call`, and the media that must follow after all results."""
        grammar, failed = self._grammar, completion.kind is not CompletionKind.SUCCESS
        text, inside, after = self._tell(completion, decisions)
        if grammar.json_results and not failed and _is_json(completion) and text == completion_text(completion):
            return ResultPart(call, text, completion.result, media=tuple(inside)), after
        if not inside and (failed or not grammar.empty_results):
            text = _unless_blank(text, completion, decisions)
        if not grammar.error_flag:
            text = mark_failure(text, completion)
        return ResultPart(call, text, text, failed, tuple(inside)), after

    def embed(self, completion: Completion, decisions: list[Decision]) -> list[HumanPart]:
        """The result of a call that is left out, as what the human side says: its text, and its media beside it."""
        text, inside, _ = self._tell(completion, decisions, embedded=True)
        text = mark_failure(text if inside else _unless_blank(text, completion, decisions), completion)
        return [TextPart(EMBEDDED_RESULT + text, apart=True), *map(MediaPart, inside)]

    def has_media_after(self, completion: Completion) -> bool:
        """Whether media of a result have to follow after it."""
        if completion.call_id in self._withheld:
            return False
        return any(self._grammar.accepts(media) and not self._fits(media, completion) for media in completion.media)

    def _tell(
        self, completion: Completion, decisions: list[Decision], *, embedded: bool = False
    ) -> tuple[str, list[Media], list[Media]]:
        """The text of a completion with words about its media, those that are inside, and those that follow."""

        def convert(reason: str, detail: str) -> None:
            decisions.append(projected(Action.CONVERTED, reason, detail, completion.call_id))

        text = completion_text(completion)
        inside: list[Media] = []
        after: list[Media] = []
        lines = [text] if text else []
        for media in completion.media:
            if completion.call_id in self._withheld:
                lines.append(media_omitted(media.kind, media.mime))
                convert("media-refused", f"the provider refused {media.kind} ({media.mime}) of this result before")
            elif not self._grammar.accepts(media):
                lines.append(media_omitted(media.kind, media.mime))
                convert("media-omitted", f"the target cannot take {media.kind} ({media.mime})")
            else:
                (inside if embedded or self._fits(media, completion) else after).append(media)
        if after:
            lines.append(MEDIA_FOLLOWS)
            convert("media-moved", "attachments of a result follow after all results")
        return "\n".join(lines), inside, after

    def _fits(self, media: Media, completion: Completion) -> bool:
        """Whether `media`, which the target accepts, may be inside a result."""
        if media.kind is MediaKind.DOCUMENT:
            return self._grammar.result_documents
        may_fail = self._grammar.images_in_errors or completion.kind is CompletionKind.SUCCESS
        return self._grammar.result_images and media.kind is MediaKind.IMAGE and may_fail


def _is_json(completion: Completion) -> bool:
    """Whether what the tool gave is a value other than text, and all that there is to say."""
    return (
        completion.result is not None
        and type(completion.result) is not str
        and completion.shortened is None
        and completion.ran_with is None
    )


def _unless_blank(text: str, completion: Completion, decisions: list[Decision]) -> str:
    if text and not text.isspace():
        return text
    detail = "a text stands for an empty result"
    decisions.append(projected(Action.INSERTED, "empty-result", detail, completion.call_id))
    return EMPTY_RESULT


def mark_failure(text: str, completion: Completion) -> str:
    """`text`, marked if it is a failure. A closure says itself that there is no result, and must stay recognisable."""
    if completion.is_error and (completion.reason is None or completion.shortened is not None):
        return ERROR_MARK + text
    return text
