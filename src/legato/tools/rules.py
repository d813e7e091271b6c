"""May this call run? What modes and rules say, before anybody is asked.

    deny rule  >  plan mode  >  ask rule  >  allow rule  >  what the mode says about this kind of tool

A rule is written `tool(pattern)`, as in `shell(git status *)` or `write(docs/**)`, or `tool` alone; the tool may be a
glob too (`mcp__github__*`). The pattern is matched against the subject of the call: a path, a command, or the
arguments as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from legato.errors import ConfigError
from legato.model import JsonObject
from legato.tools.commands import goes_further
from legato.tools.patterns import GlobKind, escape, matches, split_chain
from legato.tools.registry import Tool, ToolKind


class Mode(StrEnum):
    """How much a session may do without asking."""

    ASK = "ask"
    """reading is allowed, everything else is asked for"""
    EDITS = "edits"
    """reading and editing files are allowed, everything else is asked for"""
    PLAN = "plan"
    """reading is allowed, nothing else is, and nobody is asked"""
    NEVER = "never"
    """nobody is asked: everything is allowed that no rule denies"""


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
        """The rule that `text` spells."""
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

    `why` is told to the model when the call is denied. A call may be asked about because a rule says so; then no rule
    that allows it would change that.
    """

    effect: Effect
    why: str = ""
    by_rule: bool = False


_FREE = {
    Mode.ASK: {ToolKind.READ},
    Mode.EDITS: {ToolKind.READ, ToolKind.EDIT},
    Mode.PLAN: {ToolKind.READ},
    Mode.NEVER: set(ToolKind),
}


def judge(tool: Tool, arguments: JsonObject, *, mode: Mode, rules: Iterable[Rule]) -> Judgement:
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
    if mode is Mode.NEVER:
        return Judgement(Effect.ALLOW)
    if Effect.ASK in hits:
        return Judgement(Effect.ASK, by_rule=True)
    return Judgement(Effect.ALLOW if Effect.ALLOW in hits or tool.kind in _FREE[mode] else Effect.ASK)
