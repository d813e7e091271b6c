"""May this call run? What modes and rules say, before the user is asked.

    deny rule  >  plan mode  >  never mode  >  protected path  >  ask rule  >  allow rule  >  what the mode says

A rule is written `tool(pattern)`, as in `shell(git status *)`, or `tool` alone; the tool may be a glob too
(`mcp__github__*`). The pattern is matched against the subject of the call: a path, a command, or the arguments as JSON.
`read`, `write`, `run` and `net` are about what is touched, whatever tool does it: `read(.env)`, `write(docs/**)`,
`run(git push *)`, `net(example.com)`. Where it cannot be told whether a rule that denies a command speaks about the one
at hand, a person is asked. What no rule can allow is in `protected`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from legato.errors import ConfigError
from legato.model import JsonObject
from legato.model.trust import Party, Power, has
from legato.tools.access import KINDS, Access, covers_host, hosts_of, match_path, paths_of
from legato.tools.command_rules import Match, is_allowed, speaks_about
from legato.tools.patterns import GlobKind, matches
from legato.tools.protected import Protection
from legato.tools.registry import Tool, ToolKind

__all__ = [
    "Effect",
    "Judgement",
    "Mode",
    "Rule",
    "judge",
    "parse_rules",
    "unknown_tools",
]


class Mode(StrEnum):
    """How much a session may do without asking."""

    ASK = "ask"
    """reading is allowed, everything else is asked for"""
    EDITS = "edits"
    """reading and editing files are allowed, everything else is asked for"""
    PLAN = "plan"
    """reading is allowed, nothing else is, and no one is asked"""
    NEVER = "never"
    """no one is asked: everything is allowed that no rule denies, but commands where a sandbox is wanted and missing"""


class Effect(StrEnum):
    """What a rule does with a call that it matches."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Rule(Struct, frozen=True):
    """One rule; without a pattern it holds for every call of the tool."""

    effect: Effect
    tool: str
    pattern: str | None = None

    @classmethod
    def parse(cls, text: str, effect: Effect) -> Rule:
        """The rule that `text` stands for."""
        name, bracket, rest = text.strip().partition("(")
        if not name.strip() or (bracket and not rest.endswith(")")):
            raise ConfigError(f"{text!r} is no rule; write `tool` or `tool(pattern)`, as in `shell(git status *)`")
        if effect is Effect.ALLOW and name.strip() == Access.NET:
            raise ConfigError(f"{text!r} cannot be allowed by a rule: `net` rules deny or ask")
        return cls(effect, name.strip(), rest[:-1] if bracket else None)

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    @property
    def access(self) -> Access | None:
        """What it is about, if it is about what is touched and not about a tool."""
        return Access(self.tool) if self.tool in set(Access) else None

    def covers(self, tool: Tool, subject: str) -> bool:
        """Whether the rule speaks about a call of `tool` with that subject, as far as those two say."""
        if not self.covers_tool(tool):
            return False
        if self.pattern is None:
            return True
        if tool.kind is ToolKind.EXECUTE:
            if self.effect is Effect.ALLOW:
                return is_allowed(subject, [self.pattern])
            return speaks_about(self.pattern, subject) is Match.YES
        is_file = tool.kind in (ToolKind.READ, ToolKind.EDIT)
        return matches(self.pattern, subject, GlobKind.PATH if is_file else GlobKind.TEXT)

    def match(self, tool: Tool, arguments: JsonObject, *, folder: str = "") -> Match:
        """Whether the rule speaks about that call; one that denies or asks is also about all that the call names."""
        subject = tool.subject(arguments)
        if self.covers_tool(tool) and self.pattern is not None and tool.kind is ToolKind.EXECUTE:
            if self.effect is Effect.ALLOW:
                return Match.YES if is_allowed(subject, [self.pattern]) else Match.NO
            return speaks_about(self.pattern, subject)
        if self.covers(tool, subject):
            return Match.YES
        return Match.NO if self.effect is Effect.ALLOW else self._is_about(tool, arguments, folder)

    def covers_tool(self, tool: Tool) -> bool:
        """Whether the rule is about such calls at all."""
        access = self.access
        is_meant = access is not None and KINDS.get(access) is tool.kind
        return is_meant or matches(self.tool, tool.name, GlobKind.TEXT)

    def _is_about(self, tool: Tool, arguments: JsonObject, folder: str) -> Match:
        """Whether the call touches what the rule is about."""
        is_file = tool.kind in (ToolKind.READ, ToolKind.EDIT) and matches(self.tool, tool.name, GlobKind.TEXT)
        match self.access:
            case Access.READ:  # what may not be read may not be changed either
                is_file = True
            case Access.WRITE:
                is_file = tool.kind is not ToolKind.READ
            case Access.NET:
                hosts = hosts_of(tool, arguments)
                is_named = bool(hosts) if self.pattern is None else covers_host(self.pattern, hosts)
                return Match.YES if is_named else Match.NO
            case Access.RUN | None:
                pass
        if not is_file or self.pattern is None:
            return Match.NO
        paths = paths_of(tool, arguments, folder=folder)
        return match_path(self.pattern, paths, is_command=tool.kind is ToolKind.EXECUTE)


def parse_rules(*, allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()) -> tuple[Rule, ...]:
    """Rules as a configuration lists them."""
    lists = ((allow, Effect.ALLOW), (ask, Effect.ASK), (deny, Effect.DENY))
    return tuple(Rule.parse(text, effect) for texts, effect in lists for text in texts)


class Judgement(Struct, frozen=True):
    """What modes and rules say about a call.

    `why` is told to the model when the call is denied. A call that is asked about may be `protected`, for the reason
    given there, or asked about because a rule says so; either way no rule that allows it would change that. `writes` is
    what the tool says that it would write, `unreadable` what a tool that goes through folders has to leave out.
    """

    effect: Effect
    why: str = ""
    protected: str | None = None
    by_rule: bool = False
    writes: frozenset[str] = frozenset()
    unreadable: tuple[str, ...] = ()


_POWERS = {
    ToolKind.READ: Power.READ,
    ToolKind.EDIT: Power.CHANGE,
    ToolKind.EXECUTE: Power.RUN,
    ToolKind.OTHER: Power.CALL_SERVER,
}
_UNASKED = {kind for kind, power in _POWERS.items() if has(Party.MODEL, power)}
_FREE = {
    Mode.ASK: _UNASKED,
    Mode.EDITS: _UNASKED | {ToolKind.EDIT},
    Mode.PLAN: _UNASKED,
    Mode.NEVER: set(ToolKind),
}
_TABLE = Protection()


def judge(
    tool: Tool, arguments: JsonObject, *, mode: Mode, rules: Iterable[Rule], protection: Protection = _TABLE
) -> Judgement:
    """What becomes of a call of `tool` with `arguments`."""
    known = tuple(rules)
    denied = _strongest(Effect.DENY, tool, arguments, known, protection)
    if denied is not None and denied[1] is Match.YES:
        return Judgement(
            Effect.DENY,
            f"The rule `{denied[0]}` of this project forbids this call. The tool did not run. "
            "Do not repeat it unchanged.",
        )
    if mode is Mode.PLAN and tool.kind is not ToolKind.READ:
        return Judgement(
            Effect.DENY,
            f"Plan mode is read only: the tool {tool.name!r} did not run. Look around and propose what to do instead; "
            "it can be done when plan mode is left.",
        )
    writes = tool.writes(arguments)
    unreadable = tuple(
        rule.pattern for rule in known if rule.access is Access.READ and _withholds(rule) and rule.pattern
    )
    if mode is Mode.NEVER and not lacks_sandbox(tool):
        if denied is not None:  # no one can be asked
            return Judgement(
                Effect.DENY,
                f"The rule `{denied[0]}` of this project may forbid this command: what it does cannot be told from its "
                "text. The tool did not run. Write it plainly: one command, without variables, substitutions and "
                "wildcards.",
            )
        return Judgement(Effect.ALLOW, writes=writes, unreadable=unreadable)
    if why := _protected(tool, arguments, writes, protection):
        return Judgement(Effect.ASK, protected=why, writes=writes, unreadable=unreadable)
    asked = denied or _strongest(Effect.ASK, tool, arguments, known, protection)
    if asked is not None:
        return Judgement(Effect.ASK, by_rule=True, writes=writes, unreadable=unreadable)
    is_free = (tool.kind in _FREE[mode] and mode is not Mode.NEVER) or _is_allowed(tool, arguments, known)
    return Judgement(Effect.ALLOW if is_free else Effect.ASK, writes=writes, unreadable=unreadable)


def _withholds(rule: Rule) -> bool:
    return rule.effect is not Effect.ALLOW


def _strongest(
    effect: Effect, tool: Tool, arguments: JsonObject, rules: tuple[Rule, ...], protection: Protection
) -> tuple[Rule, Match] | None:
    """The rule with that effect that speaks about the call most certainly; None if none does."""
    found = [(rule, rule.match(tool, arguments, folder=protection.folder)) for rule in rules if rule.effect is effect]
    best = max(found, key=lambda pair: pair[1], default=None)
    return best if best is not None and best[1] is not Match.NO else None


def _is_allowed(tool: Tool, arguments: JsonObject, rules: tuple[Rule, ...]) -> bool:
    """Whether the rules that allow cover the call: of a command, each part may be covered by another one."""
    allowing = [rule for rule in rules if rule.effect is Effect.ALLOW and rule.covers_tool(tool)]
    if tool.kind is not ToolKind.EXECUTE or any(rule.pattern is None for rule in allowing):
        return any(rule.covers(tool, tool.subject(arguments)) for rule in allowing)
    return is_allowed(tool.subject(arguments), [rule.pattern for rule in allowing if rule.pattern is not None])


def unknown_tools(rules: Iterable[Rule], names: Iterable[str]) -> list[str]:
    """What to tell about rules for tools that do not exist, among those with `names`.

    Tools of MCP servers come and go with their servers, so a rule for one may be meant for another day.
    """
    from difflib import get_close_matches  # rarely needed, and slow to load

    known = [*names]
    told: list[str] = []
    for rule in rules:
        if (
            rule.access
            or rule.tool.startswith("mcp__")
            or any(matches(rule.tool, name, GlobKind.TEXT) for name in known)
        ):
            continue
        near = get_close_matches(rule.tool, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join([*known, *Access])}"
        told.append(f"approval.{rule.effect} names {rule.tool!r} in {str(rule)!r}, which is no tool; {hint}")
    return told


def lacks_sandbox(tool: Tool) -> bool:
    """Whether a sandbox was wanted for what the tool starts, and this system has none: then `never` asks after all."""
    isolation = tool.isolation()
    return isolation is not None and isolation.is_missing


def _protected(tool: Tool, arguments: JsonObject, writes: frozenset[str], protection: Protection) -> str | None:
    """Why only an answer to this very call may pass it: by what it writes, else by what it mentions."""
    if writes:
        return protection.of_files(writes)
    match tool.kind:
        case ToolKind.READ:
            return None
        case ToolKind.EXECUTE:
            return protection.of_command(tool.subject(arguments))
        case ToolKind.EDIT | ToolKind.OTHER:
            return protection.of_arguments(arguments)
