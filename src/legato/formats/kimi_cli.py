"""Read the `context.jsonl` of Kimi CLI: messages of the chat API, a line each, between records under pseudo-roles.

Roles that begin with an underscore are the program's own: checkpoints and token counts say nothing, `_system_prompt` is
what its name says.
"""

from __future__ import annotations

from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.fields import as_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, route_of

_WITHOUT_WORDS = frozenset({"_checkpoint", "_usage"})


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    draft.route = route_of("kimi", "")
    reader = ChatReader(draft)
    reader.origin = origin_of("kimi", "")
    for item in content.items("messages"):
        role = as_text(item.value.get("role"))
        if role == "_system_prompt":
            draft.system.append(as_text(item.value.get("content")))
        elif not role.startswith("_"):
            reader.message(item.value, item.place)
        elif role not in _WITHOUT_WORDS:
            draft.skip(item.place, f"a record of role {role!r} is not part of the conversation")
    return content.finish(draft)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    roles = (as_text(record.get("role")) for record in head.records)
    return next((f"a record of role {role}" for role in roles if role.startswith("_")), "")


FORMAT = Format(
    name="kimi-cli",
    title="Kimi CLI context",
    known_from="published sessions",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.kimi/sessions",
        files="*/*/context.jsonl",
        moved_by="KIMI_SHARE_DIR",
        moves="~/.kimi",
        source="https://moonshotai.github.io/kimi-cli/en/configuration/data-locations.html",
    ),
    provider="kimi",
    marks=marks("role"),
    is_lines=True,
)
