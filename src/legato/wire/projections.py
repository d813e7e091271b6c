"""What dialects do to units in order to print them, told in the same words by all that do it."""

from __future__ import annotations

from legato.model import Action, Decision, Fault


def projected(action: Action, reason: str, detail: str) -> Decision:
    """A decision of a dialect."""
    return Decision(action, reason, Fault.PROJECTION, detail)


TAIL = projected(Action.INSERTED, "tail", "the request may not end on an answer")
INSTRUCTION_MARKED = projected(Action.CONVERTED, "instruction", "an instruction in the middle became marked text")
MEDIA_OMITTED = projected(Action.CONVERTED, "media-omitted", "the target cannot take this medium here")
BY_POLICY = projected(Action.DROPPED, "thinking-policy", "the policy keeps this thinking back")
FOREIGN_DROPPED = projected(Action.DROPPED, "foreign-thinking", "only the model that thought it may see it again")
FOREIGN_SHOWN = projected(Action.CONVERTED, "foreign-thinking", "another model's thinking became plain text")
HOSTED_AS_TEXT = projected(Action.CONVERTED, "hosted-tool", "another provider's own tool became plain text")
