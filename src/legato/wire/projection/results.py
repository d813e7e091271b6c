"""What the completion of a call says to a target, and where its media go.

In:  a call as it is projected, and its completion.
Out: a `ResultPart`, and the media that have to follow after all results because they cannot stand inside one.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from legato.model import Action, CallId, Decision, Media, MediaKind
from legato.transcript.units import Completion, CompletionKind, completion_text
from legato.wire.phrases import EMBEDDED_RESULT, EMPTY_RESULT, ERROR_MARK, MEDIA_FOLLOWS, media_omitted
from legato.wire.projection.decisions import projected
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import CallPart, HumanPart, MediaPart, ResultPart, TextPart


class _Told(NamedTuple):
    """The text of a completion with words about its media, and where those go."""

    text: str
    inside: list[Media]
    after: list[Media]


def project_result(
    call: CallPart,
    completion: Completion,
    grammar: Grammar,
    decisions: list[Decision],
    *,
    withheld: Container[CallId] = (),
) -> tuple[ResultPart, list[Media]]:
    """The result of `call`, and the media that must follow after all results.

    `withheld` are calls whose media this provider refused before.
    """
    failed = completion.kind is not CompletionKind.SUCCESS
    told = _tell(completion, grammar, decisions, withheld)
    if grammar.json_results and not failed and _is_json(completion) and told.text == completion_text(completion):
        return ResultPart(call, told.text, completion.result, media=tuple(told.inside)), told.after
    text = told.text
    if not told.inside and (failed or not grammar.empty_results):
        text = _unless_blank(text, completion, decisions)
    if not grammar.error_flag:
        text = mark_failure(text, completion)
    return ResultPart(call, text, text, failed, tuple(told.inside)), told.after


def has_media_after(completion: Completion, grammar: Grammar, *, withheld: Container[CallId] = ()) -> bool:
    """Whether media of a result have to follow after it."""
    if completion.call_id in withheld:
        return False
    return any(grammar.accepts(media) and not _fits_inside(media, completion, grammar) for media in completion.media)


def embed_result(
    completion: Completion, grammar: Grammar, decisions: list[Decision], *, withheld: Container[CallId] = ()
) -> list[HumanPart]:
    """The result of a call that is left out, as what the human side says: its text, and its media beside it."""
    told = _tell(completion, grammar, decisions, withheld, embedded=True)
    text = told.text if told.inside else _unless_blank(told.text, completion, decisions)
    text = EMBEDDED_RESULT + mark_failure(text, completion)
    return [TextPart(text, apart=True), *(MediaPart(media) for media in told.inside)]


def _tell(
    completion: Completion,
    grammar: Grammar,
    decisions: list[Decision],
    withheld: Container[CallId],
    *,
    embedded: bool = False,
) -> _Told:
    text = completion_text(completion)
    if not completion.media:
        return _Told(text, [], [])
    inside: list[Media] = []
    after: list[Media] = []
    lines = [text] if text else []
    for media in completion.media:
        if completion.call_id in withheld:
            lines.append(media_omitted(media.kind, media.mime))
            detail = f"the provider refused {media.kind} ({media.mime}) of this result before"
            decisions.append(projected(Action.CONVERTED, "media-refused", detail, completion.call_id))
        elif not grammar.accepts(media):
            lines.append(media_omitted(media.kind, media.mime))
            detail = f"the target cannot take {media.kind} ({media.mime})"
            decisions.append(projected(Action.CONVERTED, "media-omitted", detail, completion.call_id))
        elif embedded or _fits_inside(media, completion, grammar):
            inside.append(media)
        else:
            after.append(media)
    if after:
        lines.append(MEDIA_FOLLOWS)
        detail = "attachments of a result follow after all results"
        decisions.append(projected(Action.CONVERTED, "media-moved", detail, completion.call_id))
    return _Told("\n".join(lines), inside, after)


def _fits_inside(media: Media, completion: Completion, grammar: Grammar) -> bool:
    """Whether `media`, which the target accepts, may stand inside a result."""
    failed = completion.kind is not CompletionKind.SUCCESS
    return grammar.result_images and media.kind is MediaKind.IMAGE and (grammar.images_in_errors or not failed)


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
