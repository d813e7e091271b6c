"""The fixed texts that a request holds only because a provider demands something there.

Constants, so that prefixes stay stable; gathered here, so that `parse` recognises what `encode` inserted and a
transcript that comes back in does not grow.
"""

from __future__ import annotations

EMPTY_RESULT = "(no output)"
"""in place of an empty tool result, where empty is refused"""

CONTINUE = "Continue."
"""the tail of a request that would otherwise end on an answer"""

ANSWER_BRIDGE = "(noted)"
"""an answer between tool results and a human message, where that order is refused"""

HUMAN_BRIDGE = "(continued)"
"""human-side, between two answers in a row, or before an answer that would otherwise come first"""

BRIDGES = frozenset({ANSWER_BRIDGE, HUMAN_BRIDGE, CONTINUE})

INSTRUCTION_MARK = "[Instruction] "
"""before an instruction in the middle of a conversation that has to be spelled as human-side text"""

SUMMARY_MARK = "[Summary of the conversation so far]\n"
"""before the summary that stands for covered units"""

EMBEDDED_RESULT = "Context (tool result):\n"
"""before a tool result that is embedded as human-side text"""

ERROR_MARK = "[Error] "
"""before the text of a failed call, where no flag can say that it failed"""

MEDIA_FOLLOWS = "[The media of this result follow in the next message.]"
MEDIA_CAPTION = "[Media from the result of {tool}:]"


def media_omitted(kind: str, mime: str) -> str:
    """A visible placeholder for a medium that the target cannot take; never its data or its address."""
    return f"[{kind} omitted: {mime}, which this model cannot take]"
