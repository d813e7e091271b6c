"""The models of the catalogue as people look for them: chosen, sorted, and in lines that fit a terminal.

In:  what is listed, and what someone asked for.
Out: lines, or an error that says what is near to a pattern that nothing fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from legato.cli.providers import key_ring
from legato.cli.settings.schema import Settings
from legato.cli.terminal.cells import table
from legato.errors import LegatoError, UnknownTarget
from legato.model import ThinkingMode
from legato.request import Catalogue
from legato.request.family_names import family_name
from legato.request.model_list import ListedModel


class Sort(StrEnum):
    """What a list is sorted by."""

    NAME = "name"
    WINDOW = "window"
    OUTPUT = "output"
    PRICE = "price"


class KeyState(StrEnum):
    """Whether a provider can be asked."""

    FOUND = "found"
    MISSING = "missing"
    NOT_NEEDED = "not needed"


def key_states(catalogue: Catalogue, settings: Settings) -> Callable[[str], KeyState]:
    """Of each provider, by name, whether it can be asked with these settings."""
    ring = key_ring(settings, catalogue)

    @cache
    def state(provider: str) -> KeyState:
        try:
            if settings.simulate or ring.find(provider) is not None:
                return KeyState.FOUND
        except LegatoError:
            return KeyState.MISSING  # `legato doctor` says what is wrong with it
        return KeyState.MISSING if catalogue.providers[provider].keys else KeyState.NOT_NEEDED

    return state


class Wanted(Struct, frozen=True, kw_only=True):
    """Which models someone wants to see."""

    pattern: str = ""
    provider: str = ""
    tools: bool = False
    thinking: bool = False
    images: bool = False

    def allows(self, model: ListedModel) -> bool:
        """Whether `model` is one of them, the pattern aside."""
        return (
            (not self.provider or model.provider == self.provider)
            and (not self.tools or model.tools)
            and (not self.thinking or model.thinking is not ThinkingMode.NEVER)
            and (not self.images or "images" in model.takes)
        )


def choose_models(models: Sequence[ListedModel], wanted: Wanted, sort: Sort) -> list[ListedModel]:
    """Those of `models` that are wanted, sorted; raises `UnknownTarget` for a provider or pattern that fits none."""
    providers = sorted({model.provider for model in models})
    if wanted.provider and wanted.provider not in providers:
        raise _unknown(f"no model of a provider {wanted.provider!r} is known", wanted.provider, providers)
    fitting = [model for model in models if fits(model.route, wanted.pattern)]
    if not fitting:
        names = [name for model in models for name in (model.route, model.route.partition("/")[2])]
        raise _unknown(f"no model of the catalogue fits {wanted.pattern!r}", wanted.pattern, [*names, *providers])
    return sorted((model for model in fitting if wanted.allows(model)), key=_ORDERS[sort])


def fits(route: str, pattern: str) -> bool:
    """Whether `pattern`, a part of the name or one with * and ?, fits `route` or the vendor's name of its model."""
    wanted = pattern.lower()
    names = (route.lower(), route.lower().partition("/")[2], family_name(route))
    if any(sign in wanted for sign in "*?["):
        return any(fnmatchcase(name, wanted) for name in names)
    return any(wanted in name for name in names)


_ORDERS: dict[Sort, Callable[[ListedModel], Any]] = {
    Sort.NAME: lambda model: model.route,
    Sort.WINDOW: lambda model: (-model.window, model.route),
    Sort.OUTPUT: lambda model: (-model.max_output, model.route),
    # What is not known is not cheap: it comes last.
    Sort.PRICE: lambda model: (model.price is None, model.price or 0.0, model.route),
}


def _unknown(told: str, name: str, known: Sequence[str]) -> UnknownTarget:
    from difflib import get_close_matches  # rarely needed, and slow to load

    near = get_close_matches(name.lower(), list(dict.fromkeys(known)), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`legato models` lists all of them"
    return UnknownTarget(f"{told}; {hint}", route=name)


# --- as lines ---------------------------------------------------------------------------------------------------------

_TITLES = ("", "route", "window", "out", "takes", "thinks", "$ in/out", "seen")
_MARKS = {KeyState.FOUND: "+", KeyState.NOT_NEEDED: "+", KeyState.MISSING: "-"}
_LETTERS = {"images": "i", "documents": "d", "audio": "a", "video": "v"}
_LEGEND = (
    "+ can be asked, - has no key; takes images, documents, audio, video; dollars for a million tokens, as last seen; "
    "what has a question mark is not known and assumed."
)


def as_lines(
    models: Sequence[ListedModel], keys: Callable[[str], KeyState], *, width: int, today: date
) -> Iterable[str]:
    """A table of at most `width` columns; no route is cut, so that each can be copied. `today` tells ended from ending.

    A route that is wider than its column has a line of its own, and so has the end of a model.
    """
    rows = [_row(model, keys(model.provider)) for model in models]
    others = sum(max(len(row[column]) for row in (_TITLES, *rows)) for column in range(len(_TITLES)) if column != 1)
    room = width - others - (len(_TITLES) - 1)
    short = [row if len(row[1]) <= room else ("", "", *row[2:]) for row in rows]
    lines = table([_TITLES, *short], width=width, flexible=1, gap=1)
    yield lines[0]
    for model, row, line in zip(models, rows, lines[1:], strict=True):
        if len(row[1]) > room:
            yield f"{row[0]} {row[1]}"
        yield line
        if model.ends is not None:
            yield f"    {model.ends.told(today.isoformat())}"


def legend(width: int) -> Iterable[str]:
    """What the signs of the table mean."""
    from textwrap import wrap

    return wrap(_LEGEND, max(width, 20))


def _row(model: ListedModel, key: KeyState) -> tuple[str, ...]:
    return (
        _MARKS[key],
        model.route,
        short_count(model.window) + ("?" if "window" in model.assumed else ""),
        short_count(model.max_output) + ("?" if "max_output" in model.assumed else ""),
        "".join(_LETTERS[name] for name in model.takes) or "-",
        "-" if model.thinking is ThinkingMode.NEVER else model.thinking.value,
        price_of(model),
        model.priced[:7],
    )


def price_of(model: ListedModel) -> str:
    """Dollars for a million tokens in and out, or that they are not known."""
    if model.price_input is None or model.price_output is None:
        return "unknown"
    return f"{model.price_input:g}/{model.price_output:g}"


def short_count(count: int) -> str:
    """`1M`, `200k`: tokens in a narrow column."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.2g}M"
    return f"{count / 1_000:.0f}k" if count >= 1_000 else str(count)


def as_json(model: ListedModel, key: KeyState) -> str:
    """One line of JSON; what is not known is null or empty."""
    ends = model.ends
    plain: dict[str, Any] = msgspec.to_builtins(model)
    plain["ends"] = ends and {name: getattr(ends, name) for name in ("retires", "deprecated", "instead", "source")}
    return msgspec.json.encode({**plain, "key": key.value}).decode()
