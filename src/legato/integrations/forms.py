"""SettledHistory conversations in the form of one API, for frameworks that keep every history in it.

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

from legato.integrations.settling import SettledHistory
from legato.model import JsonObject, Options, Target, ThinkingMode
from legato.request import render, resolve
from legato.transcript.units import Exchange
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity


def in_form(settled: SettledHistory, form: str) -> list[JsonObject]:
    """The messages of a settled conversation as `form`, which is a route, has them; instructions are not among them."""
    own, goal = resolve(form), settled.target
    target = goal if goal.dialect is own.dialect else _speaking_for(own, goal)
    body = render(settled.conversation, target, options=Options()).copy()
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


def is_accepted(messages: Sequence[JsonObject], target: Target) -> bool:
    """Whether the target's own rules hold nothing against messages that are in its form already."""
    parts = dialect_parts(target.dialect)
    found = parts.check({"model": target.model, parts.messages_field: list(messages)}, target)
    return not any(item.severity is Severity.REFUSED and item.path.startswith(parts.messages_field) for item in found)


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
