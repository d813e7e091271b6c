"""The checks whose findings hosts have names, words and weights of their own for.

In:  a check by its name, and what was found.
Out: a finding under the host's rule for that check, or under the one that the table has for all others.

A host's file says which of its rules belongs to which check, so a host that refuses something known in its own words
needs no code here; and a rule about something that no check looks at brings its check along. All other checks report
the rules of the family directly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from legato.model import JsonObject
from legato.wire.findings import Severity
from legato.wire.hosting import Acceptance, Host
from legato.wire.hosts import STRICT, find_host
from legato.wire.judging import Findings

_REFUSED, _RISKY = Severity.REFUSED, Severity.RISKY


class ReportedRule(NamedTuple):
    """The rule that a check reports, and how grave that is."""

    rule: str
    severity: Severity


CHECKS: Mapping[str, ReportedRule] = {
    # Messages as a whole.
    "unknown-role": ReportedRule("openai-chat/unknown-role", _REFUSED),
    "extra-field": ReportedRule("groq/unknown-field", _REFUSED),
    "role-order": ReportedRule("mistral/role-order", _REFUSED),
    "user-after-tool": ReportedRule("mistral/user-after-tool", _REFUSED),
    "lone-message": ReportedRule("mistral/lone-message", _REFUSED),
    "first-message-calls": ReportedRule("mistral/first-message-calls", _REFUSED),
    "prefix-place": ReportedRule("mistral/prefix-place", _REFUSED),
    "ends-on-answer": ReportedRule("openai-chat/ends-on-answer", _RISKY),
    "result-name": ReportedRule("mistral/result-name", _RISKY),
    # Content.
    "null-beside-calls": ReportedRule("xai/null-content", _REFUSED),
    "empty-answer": ReportedRule("openai-chat/null-content", _REFUSED),
    "part-type": ReportedRule("openai-chat/part-type", _REFUSED),
    # Calls.
    "id-form": ReportedRule("openai-chat/id-form", _REFUSED),
    "id-habit": ReportedRule("openai-chat/id-habit", _RISKY),
    "index-repeats": ReportedRule("kimi/index-repeats", _RISKY),
    "name-form": ReportedRule("openai-chat/name-form", _REFUSED),
    "arguments": ReportedRule("strict/arguments", _REFUSED),
    # Thinking.
    "reasoning-missing": ReportedRule("kimi/reasoning-missing", _REFUSED),
    "reasoning-everywhere": ReportedRule("deepseek/reasoning-everywhere", _RISKY),
    "reasoning-empty": ReportedRule("deepseek/reasoning-empty", _RISKY),
    "forced-tool": ReportedRule("kimi/forced-tool", _REFUSED),
    "thinking-and-effort": ReportedRule("kimi/thinking-and-effort", _REFUSED),
    "effort-word": ReportedRule("openai-chat/effort-word", _REFUSED),
    # Tools.
    "too-many-tools": ReportedRule("openai-chat/too-many-tools", _REFUSED),
    "choice-without-tools": ReportedRule("openai-chat/choice-without-tools", _REFUSED),
}
"""check -> what it reports for hosts that say nothing of their own"""


class Forms(NamedTuple):
    """The patterns of a host, compiled."""

    id: re.Pattern[str]
    id_habit: re.Pattern[str]
    id_index: re.Pattern[str] | None
    name: re.Pattern[str]


class HostChecks:
    """What the messages for one host are judged by."""

    def __init__(self, host: Host) -> None:
        accepted = host.acceptance
        self.acceptance: Acceptance = accepted
        self.forms = Forms(
            re.compile(accepted.id_form),
            re.compile(accepted.id_habit),
            re.compile(accepted.id_index) if accepted.id_index else None,
            re.compile(accepted.name_form),
        )
        own = {
            rule: ReportedRule(f"{host.name}/{rule.id}", _RISKY if rule.is_risky else _REFUSED) for rule in host.rules
        }
        named = {rule.check: reported for rule, reported in own.items() if rule.check}
        self._reported = {**CHECKS, **named}
        self.in_messages = [(reported, rule.in_message) for rule, reported in own.items() if rule.in_message]
        self._in_head = [(reported, rule.in_head) for rule, reported in own.items() if rule.in_head]
        self.has_own_habit = "id-habit" in named

    def report(self, found: Findings, check: str, path: str, message: str) -> None:
        """Report what `check` found at `path`, under the host's own rule where it has one."""
        _report(found, self._reported[check], path, message)

    def examine_message(self, found: Findings, path: str, message: JsonObject) -> None:
        """Judge a message by the checks that the host brings along."""
        for reported, find in self.in_messages:
            for field, told in find(message):
                _report(found, reported, f"{path}.{field}", told)

    def examine_head(self, found: Findings, fields: JsonObject) -> None:
        """Judge the fields beside the messages by the checks that the host brings along."""
        for reported, find in self._in_head:
            for field, told in find(fields):
                _report(found, reported, field, told)


def _report(found: Findings, reported: ReportedRule, path: str, message: str) -> None:
    if reported.severity is _REFUSED:
        found.refuse(reported.rule, path, message)
    else:
        found.risk(reported.rule, path, message)


@cache
def checks_for(name: str) -> HostChecks:
    """The checks for the host `name`, the strict one if there is none."""
    return HostChecks(find_host(name) or STRICT)
