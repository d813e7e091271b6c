"""The settings: what can be set, and the one value that all places together give.

    built-in  <  user's file  <  project's file  <  environment  <  flags

A later place wins, setting by setting. Tables of named things (profiles, keys, providers) are joined name by name;
lists of approval rules are joined, because a project must not be able to drop a rule that its user made. `model` and
`route` both say who answers: the later one wins over the other.

A project's file comes from the author of the project. Until its user has trusted it, only what
`trust_table` lists is used of it.
"""

from __future__ import annotations

import re
from enum import Enum
from types import NoneType
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from legato.cli.terminal.styles import ColorChoice
from legato.cli.terminal.turn_display import ShowSettings
from legato.errors import ConfigError
from legato.gateway.operator_settings import FIRST_SIGN, MOST_AT_ONCE, AtLeastOne, SwitchAt, TrafficLimits
from legato.model import Options, ThinkingPolicy
from legato.routing import Patience
from legato.serving.contract import IDLE, LARGEST_BODY, ConnectionPatience
from legato.session.compaction.settings import HistorySettings
from legato.tools import Mode
from legato.tools.sandbox import SandboxPolicy
from legato.transport import Bounds, Timeouts
from legato.transport.contract import Seconds


class _Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class ApprovalSettings(_Table, frozen=True):
    """What may run without asking."""

    mode: Mode = Mode.ASK
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    timeout: Seconds | None = None
    """seconds after which a question that no one answers is withdrawn"""


class LimitSettings(_Table, frozen=True):
    """How far one message may go."""

    max_turns: AtLeastOne | None = None
    """requests for one message"""
    max_cost: Annotated[float, Meta(ge=0)] | None = None
    """dollars for one session"""
    parallel: AtLeastOne = 8
    """tools that run at once"""
    grace: Annotated[float, Meta(ge=0)] = 3.0
    """seconds that a tool has to stop when it is told to"""


class ToolSettings(_Table, frozen=True):
    """The tools that come with Legato."""

    disabled: tuple[str, ...] = ()
    shell_seconds: AtLeastOne = 120
    """after which a command is ended, unless the model asks for more"""
    hide: tuple[str, ...] = ()
    """further environment variables that commands must not see"""
    show: tuple[str, ...] = ()
    """environment variables that commands see though they look like secrets"""
    subagents: bool = True
    subagent: str | None = None
    """the route of subagents; unset: the route that answers"""


class McpSettings(_Table, frozen=True):
    """The servers of `.mcp.json`."""

    enabled: bool = True
    seconds: Seconds = 30.0
    """that a server has to answer when it is started"""


class ServeKey(TrafficLimits, frozen=True, kw_only=True):
    """Who may ask a gateway: digests of their keys, and how much they may ask."""

    digests: tuple[Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")], ...]


class ServeLimits(TrafficLimits, frozen=True, kw_only=True):
    """How much may be asked of a gateway, with all keys together."""

    concurrent: AtLeastOne = MOST_AT_ONCE


class ServeSettings(_Table, frozen=True):
    """The gateway: `legato serve`."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8100
    routes: tuple[str, ...] = ()
    """who answers: routes or profiles, which take turns; empty: who answers elsewhere"""
    switch: SwitchAt = SwitchAt.TURN
    pass_keys: bool = False
    """whether a key of the client's own is used at its vendor"""
    passthrough: bool = False
    """whether requests are forwarded as they are, to a provider that speaks the client's API"""
    log_file: str | None = None
    """a file to which requests are added, as JSON"""
    origins: tuple[str, ...] = ()
    """web pages that may ask"""
    store: str | None = None
    """a file in which is remembered what was answered; unset: in memory alone"""
    retention: str = "30d"
    """how long anything stays in that file: hours, days or weeks (12h, 30d, 4w)"""
    body: AtLeastOne = LARGEST_BODY
    """bytes of a request"""
    idle: AtLeastOne = IDLE
    """seconds for which a connection without a request stays open"""
    first_sign: Seconds = FIRST_SIGN
    """seconds after which a stream begins although nobody has said anything"""
    patience: ConnectionPatience = ConnectionPatience()
    limits: ServeLimits = ServeLimits()
    models: dict[str, str] = {}
    """pattern of model names = route or profile that answers for them; the first that fits"""
    keys: dict[str, ServeKey] = {}
    """name = who may ask"""


class Settings(_Table, frozen=True):
    """Every setting."""

    model: str | None = None
    """the route that answers"""
    route: str | None = None
    """the profile that chooses who answers"""
    system: str | None = None
    """takes the place of the built-in system prompt"""
    append_system: str = ""
    """is put behind the system prompt"""
    store: str | None = None
    """where sessions stay: a path, or a URL; unset: the platform's data folder"""
    color: ColorChoice = ColorChoice.AUTO
    simulate: bool = False
    """simulated providers in this process: no key, no network"""
    approval: ApprovalSettings = ApprovalSettings()
    limits: LimitSettings = LimitSettings()
    tools: ToolSettings = ToolSettings()
    sandbox: SandboxPolicy = SandboxPolicy()
    mcp: McpSettings = McpSettings()
    show: ShowSettings = ShowSettings()
    history: HistorySettings = HistorySettings()
    serve: ServeSettings = ServeSettings()
    thinking: ThinkingPolicy = ThinkingPolicy()
    options: Options = Options()
    timeouts: Timeouts = Timeouts()
    patience: Patience = Patience(single_route=300.0)
    bounds: Bounds = Bounds()
    keys: dict[str, str] = {}
    """provider = key, or `$NAME` for an environment variable"""
    endpoints: dict[str, str] = {}
    """provider = base URL"""
    profiles: dict[str, dict[str, Any]] = {}
    providers: dict[str, dict[str, Any]] = {}
    """providers that the catalogue does not know, or what is different about one that it does"""
    families: tuple[dict[str, Any], ...] = ()


JOINED = frozenset(
    {
        *("approval.allow", "approval.ask", "approval.deny"),
        *("families", "sandbox.writable", "tools.disabled", "tools.hide", "tools.show"),
    }
)
"""lists to which every place adds"""

ENVIRONMENT = {
    "LEGATO_MODEL": "model",
    "LEGATO_ROUTE": "route",
    "LEGATO_SYSTEM": "system",
    "LEGATO_STORE": "store",
    "LEGATO_COLOR": "color",
    "LEGATO_SIMULATE": "simulate",
    "LEGATO_APPROVAL": "approval.mode",
    "LEGATO_SANDBOX": "sandbox.mode",
    "LEGATO_MAX_TURNS": "limits.max_turns",
    "LEGATO_MAX_COST": "limits.max_cost",
}
"""settings that the environment may hold"""

CONFIG_VARIABLE = "LEGATO_CONFIG"


def build(table: dict[str, Any], place: str) -> Settings:
    """`table` as settings; raises `ConfigError` that names the place of a value that does not fit."""
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{place}: {in_words(error)}") from None
    except ConfigError as error:  # settings that do not fit together
        raise ConfigError(f"{place}: {error.message}") from None


def in_words(error: msgspec.ValidationError, *, above: str = "") -> str:
    """msgspec's message with our own way to name a setting, and in words that are no programmer's.

    `above` names the table that it is about. Where only certain words are possible, it says which.
    """
    told, _, path = str(error).partition(" - at `$")
    named = f"{above}{path.rstrip('`')}".removeprefix(".")
    plain = _TYPE.sub(_kinds, told.replace("Invalid enum value", "It cannot be"))
    first = plain[:1].lower() + plain[1:]
    if words := words_of(type_of(named)):
        first = f"{first}; it is one of {', '.join(words)}"
    return f"{named}: {first}" if named else first


_TYPE = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`( [<>]=?)?")
_KINDS = {
    "int": "a whole number", "float": "a number", "str": "text", "bool": "true or false",
    "array": "a list", "object": "a table",
}  # fmt: skip
_BOUNDS = {" <=": " of at most", " >=": " of at least", " >": " above"}


def _kinds(match: re.Match[str]) -> str:
    """What msgspec calls a type, or several, in words; what is none stays as it is."""
    names = [name for name in match[1].split(" | ") if name != "null"]
    if not {*names} <= _KINDS.keys():
        return match[0]
    return " or ".join(_KINDS[name] for name in names) + _BOUNDS.get(match[2], match[2] or "")


def type_of(key: str) -> Any:
    """The type of the setting of that dotted name; None if it is no setting, or one of a table that has any names.

    An empty text is not None: of `str | None` it is `str`.
    """
    kind: Any = Settings
    for name in key.split("."):
        if not (isinstance(kind, type) and issubclass(kind, Struct)):
            return None
        kind = next((field.type for field in fields(kind) if field.name == name), None)
    plain = [one for one in get_args(kind) if one is not NoneType]
    return plain[0] if len(plain) == 1 and NoneType in get_args(kind) else kind


def words_of(kind: Any) -> list[str]:
    """The words that a setting of type `kind` can be; empty if it is not one of a few."""
    return [str(one.value) for one in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
