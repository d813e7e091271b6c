"""What each provider says when it refuses.

In:  a broken rule, or another reason, and the facts about it.
Out: a sentence in the provider's kind of words.

What is said about a broken rule is declared with the rule, because clients recognise it; where nothing is known, our
own words go into the provider's frame. After the provider's words comes what is wrong in this very request: real
servers often leave it out, but those who develop against a simulated one want to know. The words for all other
reasons (keys, models, limits) are among the provider's habits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from legato.model import JsonObject
from legato.simulation.refusals import SimulatedRefusal
from legato.transport.server_habits import words_for
from legato.wire.findings import Violation
from legato.wire.hosting import RefusalReason, ServerHabits
from legato.wire.rules import WireRule

# --- rules ------------------------------------------------------------------------------------------------------------

_FRAME = "Invalid '{path}': {said}"


def refuse_shape(
    violation: Violation, habits: ServerHabits, *, rule: WireRule | None = None, body: JsonObject | None = None
) -> SimulatedRefusal:
    """The refusal of `body` because it breaks `rule`, in the words of that rule where they are known."""
    path = violation.path or "body"
    words = rule.words(violation.path, body, host=habits.name) if rule is not None else ""
    told = f"{violation.message}, at {path}"
    frame = habits.frame or ("{said}" if words else _FRAME)
    said = f"{words.removesuffix('.')}. ({told})" if words else told
    return SimulatedRefusal(
        reason=RefusalReason.NOT_JSON if violation.rule.startswith("json/") else RefusalReason.SHAPE,
        message=frame.format(path=path, dotted=_dotted(path), said=said),
        path=violation.path,
        rule=violation.rule,
        code=rule.code if rule is not None else "",
    )


def _dotted(path: str) -> str:
    """`messages[2].content` as `messages.2.content`."""
    return re.sub(r"\[(\d+)\]", r".\1", path)


# --- other reasons ----------------------------------------------------------------------------------------------------


def refuse(
    reason: RefusalReason,
    habits: ServerHabits,
    *,
    model: str = "",
    retry_after: float | None = None,
    facts: Mapping[str, object] | None = None,
) -> SimulatedRefusal:
    """A refusal for a reason that is no rule of the dialect."""
    seconds = "a few " if retry_after is None else f"{retry_after:g}"
    message = words_for(reason, habits).format(**{"model": model, "seconds": seconds, "detail": "", **(facts or {})})
    return SimulatedRefusal(reason=reason, message=message, model=model, retry_after=retry_after)


def refuse_reasoning(path: str, field: str, habits: ServerHabits) -> SimulatedRefusal:
    """The refusal of reasoning that is not this provider's own; `field` is where its signature is."""
    if field == "id":
        message = f"Item with id '{path}' not found."
    else:
        block = "redacted_thinking" if field == "data" else "thinking"
        template = words_for(RefusalReason.REASONING, habits)
        message = template.format(path=path, dotted=_dotted(path), field=field, block=block)
    return SimulatedRefusal(reason=RefusalReason.REASONING, message=message, path=path, rule="own-reasoning")
