"""What it costs to have Legato at all: importing it, starting the command line, the memory of a render."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from bench import workload
from bench.cases.rendering import ROUTES, Steady, request
from bench.figures import Figure, Goal, Outcome, Scale
from bench.measure import child_megabytes, child_seconds, child_wall_seconds, peak_bytes
from legato.model import Entry
from legato.request import resolve
from legato.transcript import Conversation

NOTHING = "pass"
WAYS = {
    "import legato": "import legato",
    "from legato import Conversation, render": "from legato import Conversation, render",
    "a first render": (
        "from legato import Conversation, render; talk = Conversation(); talk.human('hi'); "
        f"render(talk, {workload.TARGET!r}).json()"
    ),
    "from legato import Session": "from legato import Session",
    "legato --help": "import sys; sys.argv = ['legato', '--help']; from legato.cli import main; main()",
}


def imports(scale: Scale) -> Outcome:
    """New interpreters that do a little, beside one that does nothing."""
    processor: dict[str, list[float]] = {}
    wall: dict[str, list[float]] = {}
    for number in range(scale.children + 1):
        for name, code in {NOTHING: NOTHING, **WAYS}.items():
            spent, passed = child_seconds(code), child_wall_seconds(code)
            if number:
                processor.setdefault(name, []).append(spent)
                wall.setdefault(name, []).append(passed)
    figures: list[Figure] = []
    for name in WAYS:
        more = median(one - base for one, base in zip(processor[name], processor[NOTHING], strict=True)) * 1000
        passed = median(one - base for one, base in zip(wall[name], wall[NOTHING], strict=True)) * 1000
        goal = Goal("below", 80) if name.startswith(("import", "from legato import Conv")) else None
        figures.append(Figure(name, more, "ms", "python -c pass", f"{passed:,.0f} ms on the wall", goal))
    bare = child_megabytes(NOTHING)
    for name, code in WAYS.items():
        if "--help" not in name:
            size = child_megabytes(code)
            goal = Goal("below", 30) if name.startswith(("import", "from legato import Conv")) else None
            figures.append(Figure(f"{name}, resident", size, "MB", "", f"{size - bare:.1f} MB more than nothing", goal))
    return Outcome(figures)


def memory(scale: Scale) -> Outcome:
    """The most memory that a render holds beyond the conversation, beside the size of the body as JSON."""
    target = resolve(workload.TARGET)
    news = workload.entries(scale.large)
    size = len(request(workload.recorded(news), target).json())
    figures = [
        _peak(f"first render of {scale.large:,} messages", lambda talk: request(talk, target).body, news, size, 1.3),
        _peak("first render and json()", lambda talk: request(talk, target).json(), news, size, None),
    ]
    going = Steady(news, target)
    for name, work in (
        ("one turn more", lambda talk: request(talk, target).body),
        ("one turn more and json()", lambda talk: request(talk, target).json()),
    ):
        talk = going.go_on()
        peak = peak_bytes(lambda talk=talk, work=work: work(talk))
        figures.append(_figure(name, peak, size, None))
    for route in ROUTES[1:]:
        other = resolve(route)
        size = len(request(workload.recorded(news), other).json())
        figures.append(
            _peak(f"first render, {route}", lambda talk, other=other: request(talk, other).body, news, size, None)
        )
    return Outcome(figures)


def _peak(
    name: str, work: Callable[[Conversation], object], news: list[Entry], size: int, limit: float | None
) -> Figure:
    talk = workload.recorded(news)
    return _figure(name, peak_bytes(lambda: work(talk)), size, limit)


def _figure(name: str, peak: int, size: int, limit: float | None) -> Figure:
    detail = f"{peak / 1e6:.1f} MB / {size / 1e6:.1f} MB"
    goal = None if limit is None else Goal("below", limit)
    return Figure(name, peak / size, against="the body as JSON", detail=detail, goal=goal)
