"""What came of the frameworks' histories: kept as data, and as a table in a page to read.

In:  a cell for each framework, damage and family, and what came of whole conversations.
Out: docs/integrations.json, and the part of docs/integrations.md between its two marks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from textwrap import fill
from typing import NamedTuple

import msgspec
from msgspec import Struct

from scripts.frameworks.damages import Damage
from scripts.frameworks.installing import ROOT
from scripts.frameworks.judging import Judged, Verdict

RECORD = ROOT / "docs" / "integrations.json"
PAGE = ROOT / "docs" / "integrations.md"
BEGIN, END = "<!-- make frameworks: begin -->", "<!-- make frameworks: end -->"
WIDTH = 120
FAMILIES = {
    "anthropic": "Anthropic",
    "openai": "OpenAI chat",
    "openai-responses": "Responses",
    "gemini": "Gemini",
    "mistral": "Mistral",
}


class Title(NamedTuple):
    """A framework: as people call it, its player, the package whose version is told, and its example."""

    name: str
    player: str
    package: str
    example: str


FRAMEWORKS = (
    Title("Pydantic AI", "pydantic_ai", "pydantic-ai-slim", "pydantic_ai_agent.py"),
    Title("LangChain", "langchain", "langchain", "langchain_agent.py"),
    Title("OpenAI Agents SDK", "openai_agents", "openai-agents", "openai_agents_run.py"),
    Title("LiteLLM", "litellm", "litellm", "litellm_loop.py"),
    Title("Google ADK", "google_adk", "google-adk", "google_adk_agent.py"),
)


class Cell(Struct):
    """What a framework made of one damage on one family, by itself and with Legato; the worst of all sources."""

    framework: str
    damage: Damage
    family: str
    without: Verdict
    legato: Verdict
    why: str = ""
    """what was wrong without Legato"""
    rule: str = ""
    """the rule that was broken without Legato"""
    still: str = ""
    """what was wrong with it"""

    @classmethod
    def of(
        cls,
        framework: str,
        damage: Damage,
        family: str,
        without: Sequence[Judged],
        legato: Sequence[Judged],
    ) -> Cell:
        """The cell of what each source came to."""
        order = list(Verdict)
        alone, now = (min(told, key=lambda one: order.index(one.verdict)) for told in (without, legato))
        return cls(framework, damage, family, alone.verdict, now.verdict, alone.why, alone.rule, now.why)


class Journey(Struct):
    """What came of a whole conversation, and how many thoughts came back to the models that had them."""

    framework: str
    about: str
    legato: bool
    requests: int
    refusals: list[str]
    error: str = ""
    thoughts_without: int = 0
    thoughts: int = 0
    is_own: bool = False
    """whether it is about something that only this framework has"""


class Record(Struct):
    """A whole run."""

    date: str
    is_alone: bool
    """whether it ran where there is no network but loopback"""
    versions: dict[str, str]
    cells: list[Cell]
    journeys: list[Journey]

    @property
    def is_clean(self) -> bool:
        """Whether nothing was refused or raised with Legato."""
        calm = (Verdict.ANSWERED, Verdict.LOST)
        return all(cell.legato in calm for cell in self.cells) and not any(
            one.legato and (one.refusals or one.error) for one in self.journeys
        )


def new_record(*, is_alone: bool) -> Record:
    """The record of a run that begins now."""
    return Record(datetime.now(UTC).date().isoformat(), is_alone, {}, [], [])


def write(record: Record) -> None:
    """Keep `record`, and write its part of the page."""
    RECORD.write_text(json.dumps(msgspec.to_builtins(record), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def read() -> Record:
    """The record of the newest whole run."""
    return msgspec.json.decode(RECORD.read_bytes(), type=Record)


# --- the page ---------------------------------------------------------------------------------------------------------


def page(record: Record, around: str) -> str:
    """The page `around` the part that is about `record`."""
    before, _, rest = around.partition(BEGIN)
    after = rest.partition(END)[2]
    rules = "\n".join(_broken(record))
    whole = "\n".join(table(record))
    parts = [_numbers(record), whole, _remarks(record), _unasked(record), _owned(record), _RULES, rules]
    return before + "\n\n".join([BEGIN, *parts, END]) + after


def summary(record: Record) -> str:
    """How many histories were answered with Legato, and how many without."""
    done = sum(cell.legato is Verdict.ANSWERED for cell in record.cells)
    alone = sum(cell.without is Verdict.ANSWERED for cell in record.cells)
    return f"{done}/{len(record.cells)} with Legato, {alone}/{len(record.cells)} without"


def table(record: Record) -> list[str]:
    """A row for each framework and damage, a column for each family: without Legato, then with it."""
    lines = [f"| framework | damage | {' | '.join(FAMILIES.values())} |", f"|---|---|{'---|' * len(FAMILIES)}"]
    found = {(cell.framework, cell.damage, cell.family): cell for cell in record.cells}
    for name in record.versions:
        for damage in Damage:
            cells = [found.get((name, damage, family)) for family in FAMILIES]
            shown = ["" if cell is None else f"{_MARKS[cell.without]} → {_MARKS[cell.legato]}" for cell in cells]
            lines.append(f"| {name} | {damage} | {' | '.join(shown)} |")
    return lines


_MARKS = {Verdict.REFUSED: "refused", Verdict.RAISED: "raised", Verdict.LOST: "lost", Verdict.ANSWERED: "ok"}


def _numbers(record: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    travels = [one for one in record.journeys if one.about.endswith("turns")]
    streams = [one for one in record.journeys if one.about.endswith("streamed")]
    whole = [one for one in travels if one.legato]
    requests, streamed = (sum(one.requests for one in some) for some in (whole, streams))
    refused = sum(len(one.refusals) for one in (*whole, *streams))
    stopped = [one.framework for one in travels if not one.legato and (one.refusals or one.error)]
    alone = f"Without Legato {_listed(stopped)} did not reach its end." if stopped else ""
    homes = [one for one in record.journeys if one.about.startswith("home")]
    without, thoughts = sum(one.thoughts_without for one in homes), sum(one.thoughts for one in homes)
    place = "in a network that had nothing but loopback" if record.is_alone else "kept from the network by settings"
    return fill(
        f"On {record.date}, with {versions}, {place}: **{summary(record)}**. One conversation in each framework, with "
        f"another provider and two parallel calls at every turn, made {requests} requests with Legato, and the same "
        f"conversation streamed {streamed}; {refused or 'none'} of them {'was' if refused < 2 else 'were'} refused. "
        f"{alone} In two turns on one family, {thoughts} signed or "
        f"encrypted thoughts came back to the models that had them ({without} without Legato).",
        WIDTH,
    )


def _owned(record: Record) -> str:
    """What only one framework has, and ran as well."""
    lines = ["Features that only one framework has were run with Legato as well:\n"]
    for one in record.journeys:
        if one.is_own:
            came = "it failed" if one.error else f"{len(one.refusals) or 'none'} refused"
            lines.append(f"- {one.framework}: {one.about} ({one.requests} requests, {came}).")
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") if line.startswith("-") else line for line in lines)


def _remarks(record: Record) -> str:
    """Where a framework needs no help, and where Legato cannot give any, in its own words."""
    lines: list[str] = []
    for name in record.versions:
        own = [damage for damage in Damage if damage is not Damage.NONE and _is_fine(record, name, damage)]
        if own:
            lines.append(f"- {name} repairs by itself: {', '.join(own)}.")
        for damage in Damage:
            cells = [cell for cell in record.cells if cell.framework == name and cell.damage is damage]
            if any(cell.legato is Verdict.LOST for cell in cells):
                lines.append(
                    f"- {name} drops results from a history that is {damage} before any hook is called. Legato settles "
                    "what is left in the request, and does not bring them back."
                )
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)


def _unasked(record: Record) -> str:
    """What frameworks did by themselves in place of asking, or before it: raise, or leave results out."""
    found: dict[tuple[str, Damage, Verdict, str], list[str]] = {}
    for cell in record.cells:
        if cell.without in (Verdict.RAISED, Verdict.LOST):
            first, *_ = cell.why.split(". ")
            said = f"`{first}`" if cell.without is Verdict.RAISED else "the results were left out of the request"
            found.setdefault((cell.framework, cell.damage, cell.without, said), []).append(FAMILIES[cell.family])
    lines = ["Why a cell says *raised* or *lost* without Legato:\n"]
    for (name, damage, verdict, said), families in found.items():
        where = "" if len(families) == len(FAMILIES) else f" on {_listed(families)}"
        lines.append(fill(f"- {name}, {damage}{where}: {verdict}, {said}.", WIDTH, subsequent_indent="  "))
    return "\n".join(lines)


_RULES = (
    "What was refused without Legato, and by which rule; each rule names its source, a recorded refusal or a public\n"
    "issue. Only a provider can tell whether a signature is its own (`own-reasoning`):"
)


def _broken(record: Record) -> list[str]:
    lines = ["| rule | damage | refused for |", "|---|---|---|"]
    rules = sorted({cell.rule for cell in record.cells if cell.rule})
    for rule in rules:
        cells = [cell for cell in record.cells if cell.rule == rule]
        damages = ", ".join(dict.fromkeys(str(cell.damage) for cell in cells))
        names = ", ".join(dict.fromkeys(cell.framework for cell in cells))
        shown = f"[`{rule}`]({_SOURCES.get(rule) or 'rules.md#' + rule.replace('/', '')})"
        lines.append(f"| {shown} | {damages} | {names} |")
    return lines


_SOURCES = {"own-reasoning": "https://github.com/badrisnarayanan/antigravity-claude-proxy/issues/18"}
"""Whether a signature is a provider's own is known to nobody else, so no rule of a body is about that."""


def _is_fine(record: Record, name: str, damage: Damage) -> bool:
    cells = [cell for cell in record.cells if cell.framework == name and cell.damage is damage]
    return all(cell.without is Verdict.ANSWERED for cell in cells)


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
