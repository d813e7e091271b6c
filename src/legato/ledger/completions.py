"""How a call ended: the one completion that counts, in the words that every later station uses."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model import CallId, ClosureReason, Json, JsonObject, Media, closure_text
from legato.model.enums import FastStrEnum
from legato.model.hashing import digest


class CompletionKind(FastStrEnum):
    """How a call ended, best first: this is the order in which one completion is preferred to another."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"
    SYNTHETIC = "synthetic"


_SUCCESS, _ERROR = CompletionKind.SUCCESS, CompletionKind.ERROR


class Completion(Struct, frozen=True, omit_defaults=True, gc=False):
    """The one effective end of a call.

    `result`, `error` and `media` are what the tool gave (success, error); `reason` and `said` say why it gave nothing
    (cancelled, synthetic), and `result` then holds what it had put out before. `shortened` replaces the output where a
    compaction clipped or stubbed it. `ran_with` holds the arguments that ran where the user edited them.
    """

    call_id: CallId
    kind: CompletionKind
    result: Json = None
    error: str | None = None
    media: tuple[Media, ...] = ()
    reason: ClosureReason | None = None
    said: str | None = None
    shortened: str | None = None
    ran_with: JsonObject | None = None

    @property
    def is_real(self) -> bool:
        """Whether a tool really ended, well or badly."""
        return self.kind is _SUCCESS or self.kind is _ERROR

    @property
    def visible_text(self) -> str | None:
        """Its text; None if there is more to print, or nothing that can be seen."""
        if self.media:
            return None
        text = completion_text(self)
        return text if text and not text.isspace() else None

    @property
    def is_error(self) -> bool:
        """Whether the provider should see this as a failure."""
        return self.kind is not _SUCCESS


def completion_text(completion: Completion) -> str:
    """What the model reads as the output of the call, in every dialect that takes text."""
    result = completion.result
    if (
        type(result) is str
        and completion.error is None
        and completion.reason is None
        and completion.shortened is None
        and completion.ran_with is None
    ):
        return result  # as nearly always
    if completion.shortened is not None:
        text = completion.shortened
    elif completion.reason is not None:
        text = closure_text(completion.reason, completion.said, _as_text(result))
    elif completion.error is not None:
        text = completion.error
        if result not in (None, "", completion.error):
            text = f"{text}\n{_as_text(result)}" if text else _as_text(result)
    else:
        text = _as_text(result)
    if completion.ran_with is not None:
        text = f"[The user changed the arguments; the tool ran with {_as_text(completion.ran_with)}]\n{text}"
    return text


def whole_output(completion: Completion) -> str:
    """The output as the model read it before anything was shortened."""
    return completion_text(replace(completion, shortened=None, ran_with=None))


def output_digest(completion: Completion) -> str:
    """A short name for this very end of a call: one that came otherwise, or later, has another."""
    return digest(f"{completion.kind.value} {whole_output(completion)}".encode())


def _as_text(value: Json) -> str:
    if type(value) is str:
        return value
    return "" if value is None else msgspec.json.encode(value).decode()
