"""Which model a framework is about to ask, as a route of the catalogue.

In:  the framework's word for a provider, and the model's name.
Out: a route, such as `anthropic/claude-haiku-4-5`.
"""

from __future__ import annotations

from legato.errors import UnknownTarget
from legato.formats.origins import provider_named, provider_of_model
from legato.model import Target
from legato.request import resolve

_RESPONSES = {"openai": "openai-responses", "azure": "azure-responses"}
"""providers whose Responses API has a name of its own"""


def find_target(chosen: str | Target | None, provider: str, model: str, *, is_responses: bool = False) -> Target:
    """The target that a user chose, or else the one that a framework's own words name.

    Raises `UnknownTarget` where neither the provider nor the model's name says who answers.
    """
    if chosen is not None:
        return resolve(chosen)
    known = provider_named(provider, model) or provider_of_model(model)
    if not known or not model:
        raise UnknownTarget(
            f"it cannot be told which provider answers: {provider!r} and {model!r} name none that is known; "
            "pass the route yourself, such as 'openai/gpt-4o'"
        )
    return resolve(f"{_RESPONSES.get(known, known) if is_responses else known}/{model}")
