"""A conversation as a person reads it: entry by entry, each call with its state, its ids and what was decided about it.

In:  a file, and the target to render it for, if that is of interest too.
Out: an `Inspection`: plain data, clipped and without secrets, for the terminal.
"""

from __future__ import annotations

from legato.files.inspected import LIMIT, Inspection
from legato.files.inspector import Inspector
from legato.files.sources import Progress, Source, pick_document
from legato.formats import Document, read_all, request_for
from legato.formats.targets import find_target, own_targets
from legato.request import Request, default_catalogue


def inspect(
    source: Source,
    *,
    target: str | None = None,
    pick: int | None = None,
    limit: int = LIMIT,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Inspection:
    """The conversation in `source`, with the findings of `lint`; secrets are hidden.

    With `target`, a provider or a route, it is rendered for that: calls have the ids that the target sees, and the
    decisions made for it are there. `pick` is the number, from 1, of the conversation in a file that holds several.
    Texts are cut at `limit` characters, and say so. Raises `FormatError` for what cannot be read,
    `SeveralConversations`, `UnknownTarget`.
    """
    if target is not None:
        find_target(target)  # says what is wrong with a name before a large file is read
    document = pick_document(read_all(source, format=format, name=name, progress=progress), pick)
    request = None if target is None else render_document(document, target)
    return inspect_document(document, target=target, request=request, limit=limit)


def render_document(document: Document, target: str | None) -> Request:
    """The request that is made of `document` for `target`, or for the provider that it was written for.

    Agents that speak to any provider have files of a neutral format; then it is for the one that answered last.
    """
    first, *others = own_targets(document)
    answered = document.route.partition("/")[0]
    name = target or (answered if others and answered in default_catalogue().providers else first)
    return request_for(document, find_target(name, document=document))[0]


def inspect_document(
    document: Document, *, target: str | None = None, request: Request | None = None, limit: int = LIMIT
) -> Inspection:
    """The inspection of `document`, linted for `target`, with the ids and decisions of `request`."""
    inspector = Inspector(document, target=target, request=request, limit=limit)
    entries = tuple(seen.entry for seen in inspector.entries())
    return Inspection(
        name=document.name,
        format=document.format,
        route=document.route,
        system=inspector.clip(document.system),
        tools=len(document.tools),
        entries=entries,
        notes=inspector.notes,
        about_request=inspector.about_request,
        findings=inspector.other_findings,
    )
