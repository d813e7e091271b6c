"""What Claude Code shows its model beside what was said: files that a person named or changed, memories, hooks.

Newer versions write down the very words that the model is shown (`rendered`, seen in 2.1.325); those are taken where
they are. What only describes the program's surroundings (its tools, the date, the machine) is no part of a conversation
that goes on elsewhere.
"""

from __future__ import annotations

from legato.formats.blocks import split_content
from legato.formats.fields import as_list, as_object, as_objects, as_text
from legato.model import Block, Json, JsonObject, Text

_SHOWN = frozenset({"file", "edited_text_file", "hook_additional_context", "nested_memory"})
SURROUNDINGS = frozenset(
    {"agent_listing_delta", "date", "deferred_tools_delta", "environment", "hook_success", "model", "prompt_snapshot",
     "remote_session_change", "session_context", "skill_listing"}
)  # fmt: skip
"""what the program tells its model of itself; another one tells its own"""


def attached(record: JsonObject, attachment: JsonObject) -> list[Block]:
    """What a record shows the model; nothing for what only its own program has a use for."""
    if as_text(attachment.get("type")) not in _SHOWN:
        return []
    rendered = as_objects(record.get("rendered"))
    if rendered:
        return [block for part in rendered for block in split_content(part.get("content"))[0]]
    text = _told(attachment)
    return [Text(f"<system-reminder>\n{text}\n</system-reminder>")] if text else []


def _told(attachment: JsonObject) -> str:
    """The same in our words, of a version that only wrote down what it attached."""
    content: Json = attachment.get("content")
    name = as_text(attachment.get("filename")) or as_text(attachment.get("path"))
    match attachment.get("type"):
        case "edited_text_file":
            snippet = as_text(attachment.get("snippet"))
            return f"The file {name} was changed:\n{snippet}" if snippet else ""
        case "hook_additional_context":
            said = [content] if isinstance(content, str) else [as_text(item) for item in as_list(content)]
            return "\n".join(filter(None, said))
        case _:
            held = as_object(content)
            text = as_text(as_object(held.get("file")).get("content")) or as_text(held.get("content"))
            return f"Contents of {name}:\n{text}" if text else ""
