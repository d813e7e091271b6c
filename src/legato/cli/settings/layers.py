"""From places to settings: read each, check its names, lay one over the other, and remember who said what.

A name that means nothing is an error that says where it is and what is near it: a setting that is misspelled and
silently ignored is worse than one that is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from legato.cli.settings.refused import refusal
from legato.cli.settings.schema import (
    CONFIG_VARIABLE,
    ENVIRONMENT,
    JOINED,
    ApprovalSettings,
    Settings,
    build,
    in_words,
    type_of,
)
from legato.cli.settings.trust_table import split_untrusted
from legato.errors import ConfigError
from legato.model.hashing import digest

BUILT_IN = "built-in"
_BOOLEANS = {"yes": True, "on": True, "true": True, "1": True, "no": False, "off": False, "false": False, "0": False}
"""what a variable may say for true and false"""
_PREFIX = "LEGATO_"
_OURS = (*ENVIRONMENT, CONFIG_VARIABLE, "LEGATO_DEBUG")
_OF_TESTS = tuple(f"{_PREFIX}{name}" for name in ("LIVE", "GOLDEN", "HYPOTHESIS", "KILLS", "TALLY", "SEED", "TURNS"))
"""what variables begin with that only the project's own tests read"""


class Layer(Struct, frozen=True):
    """What one place sets, by dotted name; `place` is what a person is told about it.

    Of a file, `digest` names the very bytes that were read.
    """

    place: str
    values: dict[str, Any]
    digest: str = ""


class Loaded(Struct, frozen=True):
    """The settings, where each one comes from, and what the project's file sets that is not used.

    `project` is that file as it was read; `passed_over` tells of project files that were not read at all, `unknown` of
    environment variables that set nothing.
    """

    settings: Settings
    origins: dict[str, str]
    withheld: dict[str, Any] = {}
    user_file: Path = Path()
    project_file: Path | None = None
    project: Layer | None = None
    passed_over: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def read_file(path: Path) -> Layer:
    """What the file at `path` sets; nothing if it does not exist."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Layer(str(path), {})
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}; correct it, or name another file"
        ) from None
    return parse_file(path, data)


def parse_file(path: Path, data: bytes) -> Layer:
    """What the bytes of the file at `path` set."""
    try:
        table = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read: {error}; correct it, or name another file") from None
    except RecursionError:
        raise ConfigError(f"{path}: not TOML: it is nested too deeply") from None
    except ValueError as error:  # also a number of thousands of digits
        raise ConfigError(f"{path}: not TOML: {error}") from None
    values = dict(_flatten(table, Settings, place=str(path)))
    settings = build(_nest(values), str(path))  # what does not fit is said here, where its place is known
    if settings.profiles:
        from legato.routing import read_profiles  # few files have any

        try:
            read_profiles(settings.profiles)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error.message}") from None
    _check_rules(settings.approval, str(path))
    if settings.providers or settings.families:
        from legato.request.catalogue_tables import check_tables  # few files say anything about providers

        check_tables({"providers": settings.providers, "families": settings.families}, source=str(path))
    return Layer(str(path), values, digest(data))


def _check_rules(approval: ApprovalSettings, place: str) -> None:
    """Raise `ConfigError` for a rule that cannot be read: a list of several files does not say whose it is."""
    lists = {"allow": approval.allow, "ask": approval.ask, "deny": approval.deny}
    if not any(lists.values()):
        return
    from legato.tools.rules import parse_rules  # few files have any

    for name, rules in lists.items():
        try:
            parse_rules(**{name: rules})
        except ConfigError as error:
            raise ConfigError(f"{place}: approval.{name}: {error.message}") from None


def read_environment(environment: Mapping[str, str]) -> list[Layer]:
    """What the environment sets, a layer for each variable."""
    return [
        _from_text(ENVIRONMENT[name], value, place=f"the environment variable {name}")
        for name, value in sorted(environment.items())
        if name in ENVIRONMENT and value
    ]


def unknown_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What to tell about variables that look like ours and set nothing.

    They are no reason to stop: another program may share the prefix, and a newer version of this one may know them.
    """
    names = sorted(name for name in environment if name.startswith(_PREFIX))
    unknown = [name for name in names if name not in _OURS and not name.startswith(_OF_TESTS)]
    return tuple(f"the environment variable {name} sets nothing; {_nearest_variable(name)}" for name in unknown)


def _nearest_variable(name: str) -> str:
    from difflib import get_close_matches  # rarely needed, and slow to load

    # What all of them begin with makes none of them nearer.
    known = [one.removeprefix(_PREFIX) for one in _OURS]
    near = get_close_matches(name.removeprefix(_PREFIX), known, n=1)
    return f"did you mean {_PREFIX}{near[0]}?" if near else f"known are {', '.join(_OURS)}"


def read_flags(flags: Mapping[str, tuple[str, Any]]) -> list[Layer]:
    """What was given on the command line: by setting, the flag and its value."""
    layers = [Layer(f"the flag {flag}", {key: value}) for key, (flag, value) in flags.items() if value is not None]
    for layer in layers:
        build(_nest(layer.values), layer.place)
    return layers


def merge(layers: Sequence[Layer], *, project: Layer | None = None, is_trusted: bool = False) -> Loaded:
    """All layers as one, the last first. Of `project`, one of them, only a part is used unless it `is_trusted`."""
    if project is None or is_trusted:
        return _lay_all(layers, project)
    own = _lay_all([layer for layer in layers if layer is not project], None)
    used, withheld = split_untrusted(project.values, own.settings)
    trimmed = replace(project, values=used)
    return replace(_lay_all([trimmed if layer is project else layer for layer in layers], trimmed), withheld=withheld)


def _lay_all(layers: Sequence[Layer], project: Layer | None) -> Loaded:
    values: dict[str, Any] = {"options.stream": True}  # a person reads along
    origins: dict[str, str] = {}
    for layer in layers:
        if {"model", "route"} <= layer.values.keys():
            raise ConfigError(f"{layer.place}: model and route both say who answers; set one of them")
        for key, value in layer.values.items():
            if told := refusal(key, value, by_project=layer is project):
                raise ConfigError(f"{layer.place}: {told}")
            _lay(key, value, values, origins, layer.place)
    return Loaded(build(_nest(values), "the settings together"), origins)


def _lay(key: str, value: Any, values: dict[str, Any], origins: dict[str, str], place: str) -> None:
    if key in JOINED and key in values:
        values[key] = [*values[key], *value]
        origins[key] = f"{origins[key]}, {place}"
        return
    values[key], origins[key] = value, place
    rival = {"model": "route", "route": "model"}.get(key)
    if rival is not None:
        values.pop(rival, None)
        origins.pop(rival, None)


def every_setting(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Each setting by its dotted name, with its value."""
    yield from _flatten(cast("dict[str, Any]", msgspec.to_builtins(_whole(settings))), Settings, place=BUILT_IN)


def _whole(value: Any) -> Any:
    """A struct as a table with all of its fields, also those that have their default."""
    if isinstance(value, Struct):
        return {field.name: _whole(getattr(value, field.name)) for field in fields(value)}
    return value


# --- names ------------------------------------------------------------------------------------------------------------


def _flatten(table: Mapping[str, Any], kind: type[Struct], *, place: str, above: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values; raises `ConfigError` for a name that means nothing."""
    known = {field.name: field.type for field in fields(kind)}
    for name, value in table.items():
        key = f"{above}{name}"
        if name not in known:
            raise ConfigError(f"{place}: there is no setting {key!r}{_near(name, above, list(known))}")
        inner = _struct_of(known[name])
        if inner is not None and isinstance(value, Mapping):
            yield from _flatten(cast("Mapping[str, Any]", value), inner, place=place, above=f"{key}.")
        elif _is_named(known[name]) and isinstance(value, Mapping):
            for item, content in cast("Mapping[str, Any]", value).items():
                _check_item(content, get_args(known[name])[1], place=place, key=f"{key}.{item}")
                yield f"{key}.{item}", content
        else:
            yield key, value


def _check_item(content: Any, kind: Any, *, place: str, key: str) -> None:
    """Raise `ConfigError` for what does not fit in one of many named things: msgspec would not say in which."""
    inner = _struct_of(kind)
    if inner is not None and isinstance(content, Mapping):
        for _ in _flatten(cast("Mapping[str, Any]", content), inner, place=place, above=f"{key}."):
            pass  # its names are known
    try:
        msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{place}: {in_words(error, above=key)}") from None


def _near(name: str, above: str, known: list[str]) -> str:
    from difflib import get_close_matches  # rarely needed, and slow to load

    near = get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {above + near[0]!r}?"
    elsewhere = [key for key, _ in every_setting(Settings()) if key.rpartition(".")[2] == name]
    if elsewhere:
        return f"; did you mean {elsewhere[0]!r}?"
    return f"; known here are {', '.join(sorted(known))}"


def _struct_of(kind: Any) -> type[Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, Struct) else None


def _is_named(kind: Any) -> bool:
    """Whether a setting is a table of named things, each of which is a setting of its own."""
    return get_origin(kind) is dict


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as tables again. The name of a thing may hold dots itself, so only known tables are opened."""
    root: dict[str, Any] = {}
    for key, value in values.items():
        table, kind, rest = root, cast(Any, Settings), key
        while _struct_of(kind) is not None and "." in rest:
            name, _, rest = rest.partition(".")
            table = table.setdefault(name, {})
            kind = next(field.type for field in fields(kind) if field.name == name)
        table[rest] = value
    return root


def _from_text(key: str, text: str, *, place: str) -> Layer:
    """A setting given as text, such as a number in an environment variable."""
    kind = type_of(key)
    if kind is bool and (word := text.strip().lower()) in _BOOLEANS:
        return Layer(place, {key: _BOOLEANS[word]})
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{place}: {in_words(error, above=key)}") from None
    return Layer(place, {key: msgspec.to_builtins(value)})
