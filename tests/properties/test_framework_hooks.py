"""Whatever became of a history, what a hook makes of it is taken by the provider, judged by the provider's own rules.

A framework that keeps its messages in the form of one API sends them to a provider of that API as they are, so what is
settled for such a one can be judged here.
"""

from __future__ import annotations

from typing import Any

from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from legato import carry
from legato.integrations.google_adk import settle_adk_contents
from legato.integrations.litellm import settle_litellm_messages
from legato.integrations.openai_agents import settle_run_items
from legato.request import resolve
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity

from histories import SOURCES, Step, histories

CHAT = st.sampled_from(
    ["openai/gpt-4.1", "mistral/mistral-large-latest", "deepseek/deepseek-chat", "groq/llama-3.3-70b-versatile"]
)


def refused(messages: list[Any], route: str) -> list[str]:
    """What the provider has against messages in its own form."""
    target = resolve(route)
    parts = dialect_parts(target.dialect)
    found = parts.check({"model": target.model, parts.messages_field: messages}, target)
    return [str(one) for one in found if one.severity is Severity.REFUSED and one.path.startswith(parts.messages_field)]


def lost(steps: list[Step], body: dict[str, Any], source: str, route: str, settled: object) -> list[Step]:
    """What `carry` takes along of a body and is not in the messages that were settled.

    Whose result it is under an id that several calls have, some of them a person's, is anyone's guess.
    """
    if any(step.misplaced for step in steps):
        return []
    carried, told = carry(body, source, route).json().decode(), str(settled)
    return [step for step in steps if step.says in carried and step.says not in told]


STEPS = histories().map(lambda steps: [*steps, Step("say", "[and now]")])


@given(steps=STEPS, route=CHAT)
def test_messages_for_litellm_are_taken(steps: list[Step], route: str) -> None:
    body = SOURCES["openai/gpt-4o"](steps)
    settled = settle_litellm_messages(body["messages"], resolve(route))
    assert refused(settled, route) == []
    assert lost(steps, body, "openai/gpt-4o", route, settled) == []


@given(steps=STEPS)
def test_items_of_the_agents_sdk_are_taken(steps: list[Step]) -> None:
    source = "openai-responses/gpt-5.1"
    body = SOURCES[source](steps)
    settled = settle_run_items(body["input"], resolve(source))
    assert refused(settled, source) == []
    assert lost(steps, body, source, source, settled) == []


@given(steps=STEPS)
def test_contents_of_adk_are_taken(steps: list[Step]) -> None:
    source = "gemini/gemini-3-pro-preview"
    steps = [step._replace(id="" if step.id is None else str(step.id)) for step in steps]  # other ids it does not hold
    body = SOURCES[source](steps)
    settled = settle_adk_contents([types.Content.model_validate(one) for one in body["contents"]], resolve(source))
    plain = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in settled]
    assert refused(plain, source) == []
    assert lost(steps, body, source, source, plain) == []
