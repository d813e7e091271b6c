"""The demonstration does what it says, and says so with its exit code."""

from __future__ import annotations

import re

from click.testing import CliRunner

from legato.cli.commands.demo import demo
from legato.cli.demo.journey import FAMILIES, SECRET, Journey


def test_the_demonstration_passes_every_provider_and_remembers_the_first_turn() -> None:
    outcome = CliRunner().invoke(demo, ["--plain"])
    assert outcome.exit_code == 0, outcome.output
    shown = outcome.output
    assert all(route in shown for route in FAMILIES)
    assert re.search(r"refused by a provider\s+\| 0 ", shown)
    assert re.search(r"calls closed without a result\s+\| 1 running-when-cancelled", shown)
    assert "(continues)" in shown
    assert SECRET in shown.rpartition("Memory")[2]
    assert "\x1b" not in shown


def test_a_refusal_makes_it_fail(monkeypatch: object) -> None:
    refused = type("Refusals", (), {"__get__": lambda *_: ["one"]})()
    original = Journey.__init__

    def with_a_refusal(self: Journey, *arguments: object, **named: object) -> None:
        original(self, *arguments, **named)  # type: ignore[arg-type]
        self.transport.__class__ = type("Refused", (type(self.transport),), {"refusals": refused})

    monkeypatch.setattr(Journey, "__init__", with_a_refusal)  # type: ignore[attr-defined]
    assert CliRunner().invoke(demo, ["--plain"]).exit_code == 1
