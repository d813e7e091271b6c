"""Settled conversations in the form of one API, for frameworks that keep every history in it.

    openai_agents   items of Responses, whoever answers
    litellm         messages of Chat Completions
    google_adk      contents of Gemini

In:  a conversation that was settled for a model, of that API or of another.
Out: its messages in the form of the framework's API, with the ids and names that the model's own API takes: the
     framework translates the form, and leaves ids and names as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from legato.formats.fields import as_objects, as_text
from legato.integrations.settling import SettledHistory
from legato.model import (
    CallKind,
    Dialect,
    Entry,
    Json,
    JsonObject,
    Options,
    Target,
    ThinkingMode,
    ToolCall,
)
from legato.request import render, resolve
from legato.transcript.conversation import Conversation
from legato.transcript.units import Exchange
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity


def in_form(settled: SettledHistory, form: str) -> list[JsonObject]:
    """The messages of a settled conversation as `form`, which is a route, has them; instructions are not among them."""
    own, goal = resolve(form), settled.target
    talk, target = settled.conversation, goal
    if goal.dialect is not own.dialect:
        talk, target = _without_free_text(talk), _speaking_for(own, goal)
    # Where a cache begins is for the framework to say, which sends the messages.
    target = replace(target, capabilities=replace(target.capabilities, cache_marks=False))
    body = render(talk, target, options=Options()).copy()
    return list(body[dialect_parts(target.dialect).messages_field])


def answers(
    settled: SettledHistory, messages: Sequence[JsonObject], role: str
) -> Iterator[tuple[Exchange, JsonObject]]:
    """Each answer of a settled conversation with the message that `in_form` made of it; none if one became several."""
    view = settled.conversation.view()
    view.refresh()
    said = [unit for unit in view.units() if isinstance(unit, Exchange)]
    made = [message for message in messages if message.get("role") == role]
    if len(said) == len(made):
        yield from zip(said, made, strict=True)


def is_accepted(messages: Sequence[JsonObject], target: Target, **beside: Json) -> bool:
    """Whether the target's own rules hold nothing against messages that are in its form already.

    `beside` are other fields of the request that say how its messages are to be judged.
    """
    parts = dialect_parts(target.dialect)
    found = parts.check({"model": target.model, **beside, parts.messages_field: list(messages)}, target)
    return not any(item.severity is Severity.REFUSED and item.path.startswith(parts.messages_field) for item in found)


def has_foreign_part(content: Json, dialect: Dialect | None = None) -> bool:
    """Whether a content has attachments, calls or results in a form of one API alone, which is not `dialect`."""
    return any(_owner_of(part) not in (None, dialect) for part in as_objects(content))


def _owner_of(part: JsonObject) -> Dialect | None:
    kind = as_text(part.get("type"))
    is_claude_image = kind == "image" and isinstance(part.get("source"), dict)
    return Dialect.ANTHROPIC if is_claude_image else _OWNERS.get(kind)


_OWNERS = {
    "document": Dialect.ANTHROPIC,
    "tool_use": Dialect.ANTHROPIC,
    "tool_result": Dialect.ANTHROPIC,
    "input_image": Dialect.OPENAI_RESPONSES,
    "input_file": Dialect.OPENAI_RESPONSES,
    "media": Dialect.GEMINI,
}
"""kinds of parts, and whose they are"""


def _without_free_text(talk: Conversation) -> Conversation:
    """The conversation with functions only: a model of another API is told of no tool that takes free text."""
    if not any(call.kind is CallKind.CUSTOM for entry in talk.entries for call in entry.calls):
        return talk
    told = Conversation()
    if talk.instructions:
        told.instruct(talk.instructions)
    told.take(map(_functional, talk.entries))
    return told


def _functional(entry: Entry) -> Entry:
    blocks = (
        replace(block, kind=CallKind.FUNCTION) if isinstance(block, ToolCall) else block for block in entry.blocks
    )
    return replace(entry, blocks=tuple(blocks))


def _speaking_for(own: Target, goal: Target) -> Target:
    """A model that is sent what `goal` takes, in the form of `own`."""
    theirs = goal.capabilities
    capabilities = replace(
        own.capabilities,
        id_scheme=theirs.id_scheme,
        name_rule=theirs.name_rule,
        images=theirs.images,
        documents=theirs.documents,
        audio=theirs.audio,
        video=theirs.video,
        middle_system=theirs.middle_system,
        native_tool_history=True,
        call_ids=True,
        call_signatures=False,
        thinking=ThinkingMode.NEVER,
        reasoning_field=False,
        prefill=True,
    )
    return replace(own, capabilities=capabilities)
