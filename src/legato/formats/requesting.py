"""From a document to a request: the one way to carry a conversation to a target, for the library and the program.

In:  a document, or a conversation that was never in a file, and the target.
Out: a request that the target accepts, with the instructions, tools and options of the document, and a note on each
     thing that it could not take. What was decided about the conversation itself is in the request's report.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from legato.errors import FormatError
from legato.formats.document import Body, Document, FileNote
from legato.formats.origins import is_unknown_home
from legato.model import Action, Dialect, JsonObject, Options, Target, ToolSpec
from legato.request.conceding import with_less
from legato.request.rendering import render
from legato.request.request import Request
from legato.transcript.conversation import Conversation

_LEFT = frozenset({Action.DROPPED, Action.ADJUSTED})


def request_for(
    source: Document | Conversation, target: Target, *, compacted: bool = False
) -> tuple[Request, list[FileNote]]:
    """The request, and notes on what the document asks for that could not be carried.

    It holds cache marks only if the document is a request with some, to a provider that has them. With `compacted`,
    what the file's own agent had summarised stays out of it. Raises `FormatError` for a conversation in which nothing
    was said, `ImpossibleRequest` for what the target cannot be asked at all, and `RenderError` if the provider would
    refuse the body: nothing that is broken leaves here.
    """
    talk = source.conversation(compacted=compacted) if isinstance(source, Document) else source
    if not _says_anything(talk):
        name = f"{source.name}: it" if isinstance(source, Document) and source.name else "the conversation"
        raise FormatError(f"{name} holds nothing that could be sent to a model")
    if not isinstance(source, Document):
        return _verified(talk, target, (), Options(cache=False)), []
    tools = [replace(tool, home=_home_at(tool.home, target)) for tool in source.tools]
    request, conceded = with_less(_carried(source, target), lambda options: _verified(talk, target, tools, options))
    left = [decision for decision in request.about_options if decision.action in _LEFT]
    told = [*(decision.detail for decision in left), *([conceded] if conceded else [])]
    return request, [FileNote("", text) for text in told]


def _verified(talk: Conversation, target: Target, tools: Sequence[ToolSpec], options: Options) -> Request:
    request = render(talk, target, tools=tools, options=options)
    request.verify()
    return request


def _carried(document: Document, target: Target) -> Options:
    """The options of the file for `target`."""
    body = document.body
    cache = body is not None and body.dialect is target.dialect and bool(_marks_of(body))
    return replace(document.options, cache=cache, home=_home_at(document.options.home, target))


def _home_at(home: str, target: Target) -> str:
    """Who understands fields of `home`: the target, if both are servers that no one knows."""
    return target.home if is_unknown_home(home, target) else home


def _marks_of(body: Body) -> list[JsonObject]:
    from legato.wire.anthropic import caching as anthropic
    from legato.wire.bedrock import caching as bedrock

    match body.dialect:
        case Dialect.ANTHROPIC:
            return anthropic.find_marks(body.value)
        case Dialect.BEDROCK:
            return bedrock.find_marks(body.value)
        case _:
            return []


def _says_anything(talk: Conversation) -> bool:
    view = talk.view()
    view.refresh()
    return any(True for _ in view.units())
