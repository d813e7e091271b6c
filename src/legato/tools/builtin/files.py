"""read, write, edit, list: files of the working folder.

Each tool is made for one workspace. Results are plain text without ornaments: what the model asked for, and a line in
brackets where something is left out and how to get it.
"""

from __future__ import annotations

import base64
from typing import Annotated

from msgspec import Meta

from legato.errors import CallerError
from legato.model import JsonObject, Media, MediaKind
from legato.tools.builtin.diffs import FOR_A_MODEL, unified
from legato.tools.builtin.workspace import Workspace
from legato.tools.functions import tool
from legato.tools.globs import covers
from legato.tools.registry import Tool, ToolContext, ToolKind

_MAX_LINES = 2_000
"""lines of a file that are read at once: our choice, the model can ask for the next ones"""

_MAX_LINE = 2_000
"""characters of a line: our choice, longer ones are data that no one reads"""

_MAX_ENTRIES = 1_000
"""names in a listing: our choice, the model can list a folder below"""

_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_MAX_IMAGE = 5 * 1024 * 1024
"""bytes of an image: what Anthropic takes of one (https://docs.claude.com/en/docs/build-with-claude/vision)"""

PathArgument = Annotated[str, Meta(description="relative to the working folder")]


def read_tool(workspace: Workspace) -> Tool:
    """The tool that reads a file."""

    @tool(kind=ToolKind.READ, subject=lambda arguments: workspace.name_of(str(arguments.get("path", ""))))
    def read(
        path: PathArgument,
        offset: Annotated[int, Meta(ge=1, description="the first line to read, counted from 1")] = 1,
        limit: Annotated[int, Meta(ge=1, le=_MAX_LINES, description="how many lines to read")] = _MAX_LINES,
    ) -> str | Media:
        """Read a text file, or look at an image. Long files come in parts; the result says how to read on."""
        data = workspace.read_bytes(path)
        shown = workspace.name_of(path)
        if image := _as_image(data, shown):
            return image
        if b"\0" in data[:8192]:
            raise CallerError(f"{shown} is a binary file of {len(data):,} bytes and is not shown as text")
        return _page(data.decode("utf-8-sig", "replace"), offset, limit=limit)

    return read


def _as_image(data: bytes, name: str) -> Media | None:
    is_webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    mime = "image/webp" if is_webp else next((mime for mark, mime in _IMAGES.items() if data.startswith(mark)), None)
    if mime is None:
        return None
    if len(data) > _MAX_IMAGE:
        raise CallerError(f"{name} is an image of {len(data):,} bytes; at most {_MAX_IMAGE:,} can be looked at")
    return Media(kind=MediaKind.IMAGE, mime=mime, data=base64.b64encode(data).decode(), name=name)


def _page(text: str, offset: int, *, limit: int) -> str:
    lines = text.splitlines()
    if not lines:
        return "[the file is empty]"
    if offset > len(lines):
        raise CallerError(f"the file has {len(lines)} lines; line {offset} is behind its end")
    end = min(offset - 1 + limit, len(lines))
    page = [line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]} [line cut]" for line in lines[offset - 1 : end]]
    if end < len(lines):
        page.append(f"[lines {offset} to {end} of {len(lines)}; read on with offset {end + 1}]")
    return "\n".join(page)


def write_tool(workspace: Workspace) -> Tool:
    """The tool that writes a whole file."""

    def preview(arguments: JsonObject) -> str:
        path, content = str(arguments["path"]), str(arguments["content"])
        before = workspace.read_text(path) if workspace.exists(path) else ""
        return unified(before, content, path=workspace.show(workspace.resolve(path))) or f"{path}: no change"

    @tool(
        kind=ToolKind.EDIT,
        writes=lambda arguments: workspace.names_of(str(arguments["path"])),
        subject=lambda arguments: workspace.name_of(str(arguments.get("path", ""))),
        preview=preview,
    )
    def write(
        path: PathArgument,
        content: Annotated[str, Meta(description="the whole new content")],
        context: ToolContext,
    ) -> str:
        """Create a file, or replace all of it. Folders are made as needed. To change a part, use edit."""
        is_new = not workspace.exists(path)
        workspace.write_text(path, content, only=context.writes)
        count = len(content.splitlines())
        return f"{'Created' if is_new else 'Replaced'} {workspace.name_of(path)} ({count} line{'s' * (count != 1)})."

    return write


def edit_tool(workspace: Workspace) -> Tool:
    """The tool that replaces a piece of text in a file."""

    def changed(text: str, arguments: JsonObject) -> str:
        old, new = str(arguments["old"]), str(arguments["new"])
        return replace_exactly(text, old, new, everywhere=bool(arguments.get("all", False)))

    def preview(arguments: JsonObject) -> str:
        path = str(arguments["path"])
        shown = workspace.show(workspace.resolve(path))
        before = workspace.read_text(path)
        return unified(before, changed(before, arguments), path=shown)

    @tool(
        kind=ToolKind.EDIT,
        writes=lambda arguments: workspace.names_of(str(arguments["path"])),
        subject=lambda arguments: workspace.name_of(str(arguments.get("path", ""))),
        preview=preview,
    )
    def edit(
        path: PathArgument,
        old: Annotated[str, Meta(description="the exact text to replace, with enough around it to occur only once")],
        new: Annotated[str, Meta(description="the text that takes its place")],
        context: ToolContext,
        all: bool = False,  # noqa: A002  # the model reads this name
    ) -> str:
        """Replace one piece of text in a file; returns the difference. With `all`, replace every occurrence."""
        workspace.resolve(path)

        def change(text: str) -> str:
            return replace_exactly(text, old, new, everywhere=all)

        before, after = workspace.change_text(path, change, only=context.writes)
        return unified(before, after, path=workspace.name_of(path), most=FOR_A_MODEL)

    return edit


def replace_exactly(text: str, old: str, new: str, *, everywhere: bool = False) -> str:
    """`text` with `new` in the place of `old`; raises `CallerError` unless it is clear which place is meant."""
    if not old:
        raise CallerError("`old` is empty; give the text to replace, or use the write tool for a new file")
    if old == new:
        raise CallerError("`old` and `new` are the same; nothing would change")
    if old not in text and "\r\n" in text:  # the model sees lines, not how they end
        old, new = _with_crlf(old), _with_crlf(new)
    places = _places_of(text, old)
    if not places:
        raise CallerError(f"`old` does not occur in the file{_close_to(text, old)}")
    if len(places) > 1 and not everywhere:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:10])
        raise CallerError(
            f"`old` occurs {len(places)} times, at lines {lines}{', ...' if len(places) > 10 else ''}; "
            "add more of what stands around it, or set `all` to replace every one"
        )
    return text.replace(old, new)


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places_of(text: str, old: str) -> list[int]:
    """Where `old` begins in `text`, overlapping occurrences too: of those, no one knows which one is meant."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _close_to(text: str, old: str) -> str:
    """Where only the white space is different, which is the usual mistake."""
    squeezed = old.split()
    if not squeezed:
        return ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.split()[: len(squeezed)] == squeezed[: len(line.split())] and line.strip():
            return f"; line {number} is similar but differs, perhaps in white space: {line[:200]!r}"
    return "; read the file again, it may have changed"


def list_tool(workspace: Workspace) -> Tool:
    """The tool that lists a folder."""

    @tool(name="list", kind=ToolKind.READ, subject=lambda arguments: workspace.name_of(str(arguments.get("path", "."))))
    def list_folder(context: ToolContext, path: PathArgument = ".") -> str:
        """List the files and folders in a folder. Folders end with a slash."""
        shown = workspace.name_of(path)
        base = "" if shown == "." else f"{shown}/"
        names = [
            f"{name}/" if is_folder else name
            for name, is_folder in workspace.names_in(path)
            if not any(covers(glob, f"{base}{name}") for glob in context.unreadable)
        ]
        if len(names) > _MAX_ENTRIES:
            names[_MAX_ENTRIES:] = [f"[{len(names) - _MAX_ENTRIES} more; list a folder further down, or use glob]"]
        return "\n".join(names) or "[the folder is empty]"

    return list_folder
