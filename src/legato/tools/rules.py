"""May this call run? What modes and rules say, before the user is asked.

    deny rule  >  plan mode  >  never mode  >  protected path  >  ask rule  >  allow rule  >  what the mode says

A rule is written `tool(pattern)`, as in `shell(git status *)` or `write(docs/**)`, or `tool` alone; the tool may be a
glob too (`mcp__github__*`). The pattern is matched against the subject of the call: a path, a command, or the
arguments as JSON. What no rule can allow is in `protected`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from legato.errors import ConfigError
from legato.model import JsonObject
from legato.tools.commands import goes_further
from legato.tools.patterns import GlobKind, escape, matches, split_chain
from legato.tools.protected import Protection
from legato.tools.registry import Tool, ToolKind

__all__ = [
    "Effect",
    "Judgement",
    "Mode",
    "Rule",
    "judge",
    "parse_rules",
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
    """no one is asked: everything is allowed that no rule denies"""


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
        return cls(effect, name.strip(), rest[:-1] if bracket else None)

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    def covers(self, tool: Tool, subject: str) -> bool:
        """Whether the rule speaks about a call of `tool` with that subject."""
        if not matches(self.tool, tool.name, GlobKind.COMMAND):
            return False
        if self.pattern is None:
            return True
        if tool.kind in (ToolKind.READ, ToolKind.EDIT):
            return matches(self.pattern, subject, GlobKind.PATH)
        if tool.kind is not ToolKind.EXECUTE:
            return matches(self.pattern, subject, GlobKind.COMMAND)
        if self.effect is Effect.ALLOW:
            return self.pattern == escape(subject) or (
                matches(self.pattern, subject, GlobKind.STRICT) and not goes_further(subject, self.pattern)
            )
        pattern = self.pattern
        return any(matches(pattern, part, GlobKind.COMMAND) for part in (subject, *split_chain(subject)))


def parse_rules(*, allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()) -> tuple[Rule, ...]:
    """Rules as a configuration lists them."""
    lists = ((allow, Effect.ALLOW), (ask, Effect.ASK), (deny, Effect.DENY))
    return tuple(Rule.parse(text, effect) for texts, effect in lists for text in texts)


class Judgement(Struct, frozen=True):
    """What modes and rules say about a call.

    `why` is told to the model when the call is denied. A call that is asked about may be `protected`, for the reason
    given there, or asked about because a rule says so; either way no rule that allows it would change that. `writes` is
    what the tool says that it would write.
    """

    effect: Effect
    why: str = ""
    protected: str | None = None
    by_rule: bool = False
    writes: frozenset[str] = frozenset()


_FREE = {
    Mode.ASK: {ToolKind.READ},
    Mode.EDITS: {ToolKind.READ, ToolKind.EDIT},
    Mode.PLAN: {ToolKind.READ},
    Mode.NEVER: set(ToolKind),
}
_TABLE = Protection()


def judge(
    tool: Tool, arguments: JsonObject, *, mode: Mode, rules: Iterable[Rule], protection: Protection = _TABLE
) -> Judgement:
    """What becomes of a call of `tool` with `arguments`."""
    subject = tool.subject(arguments)
    hits = {rule.effect: rule for rule in rules if rule.covers(tool, subject)}
    if rule := hits.get(Effect.DENY):
        return Judgement(
            Effect.DENY,
            f"The rule `{rule}` of this project forbids this call. The tool did not run. Do not repeat it unchanged.",
        )
    if mode is Mode.PLAN and tool.kind is not ToolKind.READ:
        return Judgement(
            Effect.DENY,
            f"Plan mode is read only: the tool {tool.name!r} did not run. Look around and propose what to do instead; "
            "it can be done when plan mode is left.",
        )
    writes = tool.writes(arguments)
    if mode is Mode.NEVER:
        return Judgement(Effect.ALLOW, writes=writes)
    if why := _protected(tool, arguments, writes, protection):
        return Judgement(Effect.ASK, protected=why, writes=writes)
    if Effect.ASK in hits:
        return Judgement(Effect.ASK, by_rule=True, writes=writes)
    is_free = Effect.ALLOW in hits or tool.kind in _FREE[mode]
    return Judgement(Effect.ALLOW if is_free else Effect.ASK, writes=writes)


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
