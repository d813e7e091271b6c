"""The checks whose findings hosts have names, words and weights of their own for.

In:  a check, and what was found.
Out: a finding under the host's rule for that check, or under the one that the check names for all others.

A check is declared beside the code that looks. A host's file says which of its rules belongs to which check, so a host
that refuses something known in its own words needs no code here; and a rule about something that no check looks at
brings its check along. All other checks report the rules of the family directly.
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
from legato.wire.judging import Findings, ReportableRule

_REFUSED, _RISKY = Severity.REFUSED, Severity.RISKY


class ReportedRule(NamedTuple):
    """A rule that is declared in the file of a host, by its whole id, and how grave it is."""

    id: str
    severity: Severity


class HostCheck(NamedTuple):
    """A check that a host may have a rule of its own for."""

    name: str
    """what a `HostRule` calls it"""
    reports: ReportableRule
    """the rule for all other hosts"""


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
        self._named: Mapping[str, ReportableRule] = named
        self.in_messages = [(reported, rule.in_message) for rule, reported in own.items() if rule.in_message]
        self._in_head = [(reported, rule.in_head) for rule, reported in own.items() if rule.in_head]
        self.has_own_habit = "id-habit" in named

    def report(self, found: Findings, check: HostCheck, path: str, message: str) -> None:
        """Report what `check` found at `path`, under the host's own rule where it has one."""
        found.report(self._named.get(check.name, check.reports), path, message)

    def examine_message(self, found: Findings, path: str, message: JsonObject) -> None:
        """Judge a message by the checks that the host brings along."""
        for reported, find in self.in_messages:
            for field, told in find(message):
                found.report(reported, f"{path}.{field}", told)

    def examine_head(self, found: Findings, fields: JsonObject) -> None:
        """Judge the fields beside the messages by the checks that the host brings along."""
        for reported, find in self._in_head:
            for field, told in find(fields):
                found.report(reported, field, told)


@cache
def checks_for(name: str) -> HostChecks:
    """The checks for the host `name`, the strict one if there is none."""
    return HostChecks(find_host(name) or STRICT)
