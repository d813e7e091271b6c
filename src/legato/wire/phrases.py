"""The fixed texts that a request holds only because a provider demands something there.

Constants, so that prefixes stay stable; gathered here, so that `parse` recognises what `encode` inserted and a
transcript that comes back in does not grow.
"""

from __future__ import annotations

import re

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
"""before an instruction in the middle of a conversation that has to be sent as human-side text"""

SUMMARY_MARK = "[Summary of the conversation so far]\n"
"""before the summary that stands for covered units"""

EMBEDDED_RESULT = "Context (tool result):\n"
"""before a tool result that is embedded as human-side text"""

ERROR_MARK = "[Error] "
"""before the text of a failed call, where no flag can say that it failed"""

MEDIA_FOLLOWS = "[The media of this result follow in the next message.]"
MEDIA_CAPTION = "[Media from the result of {tool}:]"


DOCUMENT_CAPTION = "[Document]"
"""beside a document that is sent without a word, where that is refused"""


def media_omitted(kind: str, mime: str) -> str:
    """A visible placeholder for media that the target cannot take; never its data or its address."""
    return f"[{kind} omitted: {mime}, which this model cannot take]"


# --- names of documents -----------------------------------------------------------------------------------------------

# Letters, digits, single spaces, hyphens and brackets, 200 characters at most:
# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9()\[\]-]+")
_UNNAMED = "document"
_LONGEST_NAME = 150  # our choice: leaves room for the numbers that make it unique
_UNIQUE = re.compile(r"(.*) \d+(?:-\d+){1,2}")


def unique_name(name: str | None, key: int, part: int, number: int) -> str:
    """A name for the document `number` of the unit `part` of a record that no other document has."""
    plain = _NOT_IN_NAMES.sub(" ", name or "").strip()[:_LONGEST_NAME] or _UNNAMED
    return f"{plain} {key}-{part}-{number}" if part else f"{plain} {key}-{number}"


def plain_name(name: str) -> str | None:
    """The name that `unique_name` made another of; None if there was none."""
    match = _UNIQUE.fullmatch(name)
    plain = match[1] if match else name
    return None if plain in ("", _UNNAMED) else plain


FITS_SCHEMA = "Answer in JSON that fits this JSON Schema, and write nothing else:\n"
"""in the instructions, before a schema that the target has no field for"""
