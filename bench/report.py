"""Figures for people: as text in a terminal, as Markdown in the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bench.figures import Figure, Outcome

BEGIN, END = "<!-- figures: written by `make bench` -->", "<!-- end of the figures -->"


def table(name: str, title: str, outcome: Outcome) -> str:
    """One case as lines for a terminal."""
    rows = [(f.name, amount(f), _against(f), goal(f), f.verdict, f.detail) for f in outcome.figures]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(6)]
    lines = [f"{name}: {title}"]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            row[1].rjust(widths[1]),
            row[2].ljust(widths[2]),
            f"{row[3]} {row[4]}".strip().ljust(widths[3] + widths[4] + 1),
            row[5],
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    lines += [f"  ({note})" for note in outcome.notes]
    return "\n".join(lines) + "\n"


def goals(outcomes: Mapping[str, Outcome]) -> list[tuple[str, Figure]]:
    """Every figure that has a goal, with the name of its case."""
    return [(name, figure) for name, outcome in outcomes.items() for figure in outcome.figures if figure.goal]


def summary(outcomes: Mapping[str, Outcome]) -> str:
    """The goals alone, for the end of a run."""
    rows = goals(outcomes)
    met = sum(figure.verdict == "met" for _, figure in rows)
    outcome = Outcome([_named(name, figure) for name, figure in rows])
    return table("goals", f"{met} of {len(rows)} met", outcome)


def markdown(outcomes: Mapping[str, Outcome], titles: Mapping[str, str], made_with: str) -> str:
    """All figures as a section of a page."""
    parts = [BEGIN, f"Measured with {made_with}.", "### Goals"]
    parts.append(_rows([_named(name, figure) for name, figure in goals(outcomes)]))
    for name, outcome in outcomes.items():
        parts.append(f"### {name}")
        parts.append(titles.get(name, ""))
        parts.append(_rows(outcome.figures))
        parts += [f"- {note}" for note in outcome.notes]
    return "\n\n".join(part for part in parts if part) + f"\n\n{END}\n"


def amount(figure: Figure) -> str:
    """The value with its unit."""
    value = figure.value
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return f"{number} ×" if figure.unit == "x" else f"{number} {figure.unit}".strip()


def goal(figure: Figure) -> str:
    """The goal, in words."""
    if figure.goal is None:
        return ""
    unit = "" if figure.unit == "x" else f" {figure.unit}"
    return f"{figure.goal.kind} {figure.goal.value:g}{unit}"


def _against(figure: Figure) -> str:
    if not figure.against:
        return ""
    return figure.against if figure.unit == "x" else f"more than {figure.against}"


def _named(case: str, figure: Figure) -> Figure:
    return Figure(f"{case}: {figure.name}", figure.value, figure.unit, figure.against, figure.detail, figure.goal)


def _rows(figures: Iterable[Figure]) -> str:
    lines = ["| what | figure | of | goal | | detail |", "|---|---:|---|---|---|---|"]
    for figure in figures:
        cells = [figure.name, amount(figure), _against(figure), goal(figure), figure.verdict, figure.detail]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
