"""Every model that the catalogue knows by name, with what people choose a model by.

In:  a catalogue.
Out: one `ListedModel` for each route: its window, what it takes and gives, what it costs, and when it ends.

Most providers serve more models than are known here, and some serve any; such a name is as good a route as a listed
one. What no one says of a model is assumed from the default of every model, and `assumed` names it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from legato.model import Capabilities, ThinkingMode
from legato.request.catalogue import DEFAULT, Catalogue
from legato.request.known_models import known_models
from legato.wire.hosting import Retirement

_MODALITIES = tuple(
    name for name in ("images", "documents", "audio", "video") if name in Capabilities.__struct_fields__
)
_TOLD = frozenset({"window", "max_output"})


class ListedModel(Struct, frozen=True, kw_only=True):
    """One route of the catalogue."""

    route: str
    window: int
    max_output: int
    assumed: tuple[str, ...] = ()
    """`window` or `max_output`, where no place says it of this model or its provider"""
    takes: tuple[str, ...] = ()
    """beside text: images, documents, audio"""
    tools: bool = True
    """calls and results keep their form"""
    thinking: ThinkingMode = ThinkingMode.NEVER
    efforts: tuple[str, ...] = ()
    price_input: float | None = None
    """dollars for a million tokens; None if it is not known"""
    price_output: float | None = None
    priced: str = ""
    """when the price was last seen; empty if it is not known, or if a user set it"""
    ends: Retirement | None = None
    """when requests begin to fail, where that is known, and what its provider recommends instead"""

    @property
    def provider(self) -> str:
        """The part before the first slash."""
        return self.route.partition("/")[0]

    @property
    def price(self) -> float | None:
        """What a million tokens in and a million out cost together, to compare models by."""
        if self.price_input is None or self.price_output is None:
            return None
        return self.price_input + self.price_output


def list_models(catalogue: Catalogue) -> list[ListedModel]:
    """Every route that the catalogue knows, by provider and then in the order in which they are known."""
    return [describe_route(catalogue, route) for route in known_routes(catalogue)]


def known_routes(catalogue: Catalogue) -> list[str]:
    """The same routes, without what is known of them."""
    return [
        f"{provider}/{model}" for provider in sorted(catalogue.providers) for model in names_of(catalogue, provider)
    ]


def names_of(catalogue: Catalogue, provider: str) -> list[str]:
    """The names of models that are known at `provider`: published ones, its example, and those that a family lists."""
    described = catalogue.providers[provider]
    names = [*known_models(provider).names, *_spelled_out(catalogue, provider)]
    if described.example and described.example != ANY:
        names.append(described.example)
    return list(dict.fromkeys(names))


def current_model(catalogue: Catalogue, provider: str, today: str) -> str:
    """A model to ask at `provider` where no one named one: its example or, if that has ended, what came instead.

    `today` is a day as `2026-11-16`. If all that is known has ended, it is the example after all.
    """
    example = catalogue.providers[provider].example
    ends = catalogue.retirement(f"{provider}/{example}") if example else None
    if ends is None or not ends.is_over(today):
        return example
    for model in (ends.instead, *names_of(catalogue, provider)):
        if model and not ((end := catalogue.retirement(f"{provider}/{model}")) and end.is_over(today)):
            return model
    return example


ANY = "any"
"""the example of a provider that takes whatever name it is given"""


def describe_route(catalogue: Catalogue, route: str) -> ListedModel:
    """What is known of the model that `route` names; raises `UnknownTarget` if it names none."""
    known = catalogue.resolve(route).capabilities
    defaults = {row.name for row in catalogue.explain(route) if row.source == DEFAULT}
    return ListedModel(
        route=route,
        window=known.window,
        max_output=known.max_output,
        assumed=tuple(sorted(_TOLD & defaults)),
        takes=tuple(name for name in _MODALITIES if getattr(known, name)),
        tools=known.native_tool_history,
        thinking=known.thinking,
        efforts=known.efforts if known.thinking is not ThinkingMode.NEVER else (),
        price_input=known.price_input,
        price_output=known.price_output,
        priced=catalogue.priced(route),
        ends=catalogue.retirement(route),
    )


def _spelled_out(catalogue: Catalogue, provider: str) -> Iterator[str]:
    for family in catalogue.families:
        if provider in family.on:
            yield from (pattern for pattern in family.match if not set(pattern) & set("*?["))
