"""What is done to units on their way to a target, told in the same words for every dialect."""

from __future__ import annotations

from collections.abc import Iterable

from legato.model import Action, CallId, Decision, Fault


def projected(action: Action, reason: str, detail: str, *calls: CallId) -> Decision:
    """A decision of the projection."""
    return Decision(action, reason, Fault.PROJECTION, detail, calls)


TAIL = projected(Action.INSERTED, "tail", "the request may not end on an answer")
NOTHING_SAID = projected(
    Action.INSERTED, "tail", "nothing in this conversation can be sent, and a request needs a message"
)
HUMAN_BRIDGED = projected(Action.INSERTED, "bridge", "a human message must stand before this answer")
ANSWER_BRIDGED = projected(Action.INSERTED, "bridge", "an answer must stand between results and a human message")
INSTRUCTION_TOLD = projected(Action.CONVERTED, "instruction-as-text", "an instruction in the middle became marked text")
MEDIA_OMITTED = projected(Action.CONVERTED, "media-omitted", "the target cannot take an attachment; it is only named")
BLANK_TEXT = projected(Action.DROPPED, "blank-text", "blank text is refused")
TEXT_MOVED = projected(Action.MOVED, "text-before-calls", "the target takes nothing behind the calls of a message")
TEXT_APART = projected(Action.MOVED, "text-beside-calls", "text stands before the calls as a message of its own")
TRIMMED = projected(Action.ADJUSTED, "trailing-whitespace", "an answer that may be continued must not end in it")
HOSTED_TOLD = projected(Action.CONVERTED, "hosted-tool", "what another provider's own tool did is told as text")
HOSTED_KNOWN = projected(Action.DROPPED, "hosted-tool", "the provider knows what its own tool did")

BY_POLICY = projected(Action.DROPPED, "thinking-policy", "the policy keeps this thinking back")
THINKING_OFF = projected(Action.DROPPED, "thinking-policy", "thinking is off, and then none is sent back")
SILENCED = projected(Action.DROPPED, "thinking-off-in-loop", "thinking is off, so the open tool loop may hold none")
FOREIGN_DROPPED = projected(Action.DROPPED, "foreign-thinking", "only the model that thought it may see it again")
FOREIGN_SHOWN = projected(Action.CONVERTED, "foreign-thinking", "another model's thinking became plain text")
UNSIGNED_DROPPED = projected(Action.DROPPED, "unsigned-thinking", "the provider cannot recognise this thinking")
UNSIGNED_SHOWN = projected(Action.CONVERTED, "unsigned-thinking", "thinking without a signature became plain text")
DANGLING = projected(Action.DROPPED, "dangling-thinking", "nothing follows that this thinking led to")
OUT_OF_ORDER = projected(Action.DROPPED, "thinking-order", "a message with thoughts must begin with one")


def missing_thought(calls: Iterable[CallId] = ()) -> Decision:
    """The target demands a thought with an answer, which made `calls`, and there is none to send."""
    detail = "the target demands reasoning with this answer, and there is none to send"
    return projected(Action.INSERTED, "reasoning-placeholder", detail, *calls)


def missing_signature(call: CallId) -> Decision:
    """The target demands a signature on `call`, which it did not make."""
    return projected(Action.INSERTED, "placeholder-signature", "the target did not make this call", call)
