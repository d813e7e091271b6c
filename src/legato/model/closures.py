"""Why a call has no result of its own, and what the model is told about it.

The set is closed and each text is a constant: no clock, no random part, because a text that changed between two renders
would change the prompt prefix that providers cache. A text says whether the tool may have run and whether a retry is
safe, and never claims that the user did something unless a record says so. Readers recognise these texts, so that a
transcript that comes back in does not turn a closure into a result.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.model.enums import FastStrEnum


class ClosureReason(FastStrEnum):
    """Why a call is closed without a result of its own."""

    NOT_STARTED = "not-started"
    CANCELLED_RUNNING = "running-when-cancelled"
    DENIED = "denied-by-user"
    APPROVAL_UNAVAILABLE = "approval-unavailable"
    PROTECTED = "protected"
    TIMED_OUT = "timed-out"
    INTERRUPTED = "interrupted"
    LOST_IN_COMPACTION = "lost-in-compaction"
    MISSING_IN_IMPORT = "missing-in-import"
    SKIPPED = "skipped-for-newer-message"
    IN_FLIGHT = "in-flight"
    NO_RESULT = "no-result-recorded"


CLOSURE_TEXTS: dict[ClosureReason, str] = {
    ClosureReason.NOT_STARTED: "[No result: this call was never started. The tool did not run. A retry is safe.]",
    ClosureReason.CANCELLED_RUNNING: (
        "[No result: this call was cancelled while it was running. It may have taken effect in part. "
        "Check the state before calling it again.]"
    ),
    ClosureReason.DENIED: "[No result: the user denied this call. The tool did not run. Do not repeat it unchanged.]",
    ClosureReason.APPROVAL_UNAVAILABLE: (
        "[No result: this call needs an approval and nobody was there to give it. The tool did not run.]"
    ),
    ClosureReason.PROTECTED: (
        "[No result: this call may reach a protected file (of version control, an editor, a shell, an agent or CI). "
        "Only a person can allow that, for each call anew, and nobody was there. The tool did not run. "
        "Leave such files alone and say what should be changed in them.]"
    ),
    ClosureReason.TIMED_OUT: (
        "[No result: this call ran longer than it was allowed to and was stopped. It may have taken effect in part. "
        "Check the state before calling it again.]"
    ),
    ClosureReason.INTERRUPTED: (
        "[No result: the program ended while this call was running. It may have taken effect. "
        "Check the state before calling it again.]"
    ),
    ClosureReason.LOST_IN_COMPACTION: (
        "[No result: this call ended, but its result was removed when the conversation was shortened.]"
    ),
    ClosureReason.MISSING_IN_IMPORT: (
        "[No result: the transcript that this call was imported from holds no result for it. "
        "Whether the tool ran is not known.]"
    ),
    ClosureReason.SKIPPED: (
        "[No result: this call was skipped because a newer message arrived. The tool did not run. A retry is safe.]"
    ),
    ClosureReason.IN_FLIGHT: "[No result yet: this call is still running.]",
    ClosureReason.NO_RESULT: (
        "[No result: none was recorded for this call. Whether the tool ran is not known. "
        "Check the state before calling it again.]"
    ),
}

_OPENING = "[No result"
"""how each of them begins, and nearly no other result"""

_REASON_OF_TEXT = {text: reason for reason, text in CLOSURE_TEXTS.items()}
_USER_SAID = "\nThe user said: "
_OUTPUT = "\nOutput so far:\n"


class Closure(NamedTuple):
    """A closure as it reads: why there is no result, what the user said about it, what had been put out before."""

    reason: ClosureReason
    said: str | None = None
    output: str | None = None


def closure_text(reason: ClosureReason, said: str | None = None, output: str | None = None) -> str:
    """What the model is told; `said` and `output` only where a record has them."""
    return CLOSURE_TEXTS[reason] + (_USER_SAID + said if said else "") + (_OUTPUT + output if output else "")


def recognise_closure(text: str) -> Closure | None:
    """What `text` says, if it is one of our closures."""
    if not text.startswith(_OPENING):
        return None
    head, _, output = text.partition(_OUTPUT)
    head, _, said = head.partition(_USER_SAID)
    reason = _REASON_OF_TEXT.get(head)
    return None if reason is None else Closure(reason, said or None, output or None)
