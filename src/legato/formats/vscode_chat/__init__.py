"""Chat sessions of VS Code."""

from __future__ import annotations

from legato.formats.fields import as_list, as_object
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.vscode_chat.reading import read

_OWN = frozenset({"responderUsername", "requesterUsername", "initialLocation"})


def _detect(head: Head) -> str:
    for record in (*head.records, head.holder):
        session = as_object(record.get("v")) if record.get("kind") == 0 else record
        if isinstance(session.get("requests"), list) and _OWN & session.keys():
            return "a list of requests, and whom they were put to"
        if record.get("kind") in (1, 2) and as_list(record.get("k"))[:1] == ["requests"]:
            return "changes of a list of requests"
    return ""


FORMAT = Format(
    name="vscode-chat",
    title="VS Code chat session",
    known_from="a published session of Copilot Chat 0.31.5, and VS Code's source",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.config/Code/User/workspaceStorage",
        files="*/chatSessions/*.json*",
        source="https://github.com/microsoft/vscode",
    ),
    marks=marks("kind v", "kind k", "requests"),
    is_lines=True,
    leaves_out_calls=True,  # Copilot's agent does, as its source says (`toolCalling.tsx`)
)
