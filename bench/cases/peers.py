"""Other libraries on the same messages, each in its own interpreter, Legato and they by turns.

An environment under .venv-peers/ holds one of them; `make bench-peers` makes those. A library that is not there is
left out and named. Everybody's own objects are made before the clock starts; what is timed is the way from them to the
messages of an Anthropic request. Chat messages are LiteLLM's own objects, so Legato is timed from those too, and both
are from their JSON. A session is timed whole: each converts the history again at every turn, while Legato records the
turn and renders it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench import workload
from bench.figures import Figure, Goal, Outcome, Scale, Series, milliseconds
from bench.measure import SETTINGS, child_megabytes, child_seconds

ROOT = Path(__file__).resolve().parent.parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"
MODULES = ROOT / "bench" / "peers"
LEGATO, FROM_CHAT = "Legato", "Legato, from chat messages"
FROM_JSON = ", from JSON"
IMPORTS = {
    "litellm": (
        "import os; os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'\n"
        "from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt\n"
    ),
    "langchain": "from langchain_anthropic import ChatAnthropic\n",
    "pydantic_ai": "from pydantic_ai.models.anthropic import AnthropicModel\n",
    "tau": "from tau_ai.anthropic import AnthropicProvider\n",
}
OUTER_ROUNDS = 9
"""new processes for each: how its memory happens to lie decides up to a tenth of what one takes"""
INNER_ROUNDS = 3


class Measured:
    """What the runs of everybody gave: seconds by label and amount of work, one median for each round."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str, int], list[float]] = {}
        self.repairs: set[str] = set()
        self.versions: dict[str, str] = {}

    def add(self, module: str, run: dict[str, Any]) -> None:
        """Take what one run printed."""
        self.versions[module] = run["version"]
        for result in run["results"]:
            kind = "turns" if "turns" in result else "messages"
            key = (result["label"], kind, result[kind])
            self.seconds.setdefault(key, []).append(median(result["seconds"]))
            if result["repairs"]:
                self.repairs.add(result["label"])

    def labels(self, kind: str, amount: int) -> list[str]:
        """Who was measured on that from their own objects, the fastest first; Legato's own are not among them."""
        found = {label: median(taken) for (label, k, a), taken in self.seconds.items() if (k, a) == (kind, amount)}
        fastest_first = sorted(found, key=found.__getitem__)
        return [label for label in fastest_first if not label.startswith(LEGATO) and FROM_JSON not in label]

    def ratio(self, one: str, other: str, kind: str, amount: int, *, goal: Goal | None = None) -> Figure:
        """How many times `other` takes `one` takes."""
        ones, others = self.seconds[one, kind, amount], self.seconds[other, kind, amount]
        times = median(a / b for a, b in zip(ones, others, strict=True))
        detail = f"{milliseconds(median(ones))} / {milliseconds(median(others))}"
        return Figure(f"{one}, {amount:,} {kind}", times, against=other, detail=detail, goal=goal)


def peers(scale: Scale) -> Outcome:
    """Whole-transcript conversion, sessions and imports of the libraries that are installed."""
    installed = {path.stem: ENVIRONMENTS / path.stem / "bin" / "python" for path in sorted(MODULES.glob("*.py"))}
    installed = {name: python for name, python in installed.items() if name in IMPORTS}
    missing = [name for name in installed if not (ENVIRONMENTS / name / ".ready").exists()]
    notes = [f"{name}: left out, it is not installed (make bench-peers)" for name in missing]
    present = {name: str(python) for name, python in installed.items() if name not in missing}
    found, failures = _measure(present, scale)
    notes += failures
    for name, version in found.versions.items():
        if name in present:
            notes.append(f"{name}: version {version}")
    figures = _figures(found, scale)
    if sys.version_info < (3, 12) and present.pop("tau", None):
        notes.append("tau: its import is not measured, because it asks for a newer Python than this one")
    figures += [figure for name, python in present.items() for figure in _import(name, python)]
    series = [
        Series("messages", label, [(size, median(found.seconds[label, "messages", size]) * 1000) for size in sizes])
        for label in found.labels("messages", scale.small)
        if (sizes := [s for s in (scale.small, scale.large) if (label, "messages", s) in found.seconds])
    ]
    return Outcome(figures, series + _session_series(found), notes)


def _measure(present: dict[str, str], scale: Scale) -> tuple[Measured, list[str]]:
    found = Measured()
    failures: list[str] = []
    everybody = {"legato": sys.executable, "legato_chat": sys.executable, **present}
    with tempfile.TemporaryDirectory() as folder:
        messages = Path(folder) / "messages.json"
        messages.write_text(json.dumps(workload.chat_messages(scale.large)))
        for number in range(min(OUTER_ROUNDS, scale.rounds)):
            sessions = [scale.sessions[0] // 2, scale.sessions[0]] if number == 0 else []
            for module, python in list(everybody.items()):
                try:
                    found.add(module, _run(module, python, messages, scale, sessions))
                except subprocess.CalledProcessError as error:
                    last = (error.stderr.strip().splitlines() or ["it said nothing"])[-1]
                    failures.append(f"{module}: left out, it failed ({last})")
                    del everybody[module]
    return found, failures


def _run(module: str, python: str, messages: Path, scale: Scale, sessions: list[int]) -> dict[str, Any]:
    command = [python, "-P", MODULES / "runner.py", MODULES / f"{module}.py", messages]
    command += ["--sizes", str(scale.small), str(scale.large), "--rounds", str(INNER_ROUNDS)]
    command += ["--sessions", *map(str, sessions)]
    command += ["--gc"] if SETTINGS.collecting else []
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def _figures(found: Measured, scale: Scale) -> list[Figure]:
    large, figures = scale.large, list[Figure]()
    labels = found.labels("messages", large)
    repairing = [label for label in labels if label in found.repairs]
    if repairing:
        figures.append(found.ratio(repairing[0], LEGATO, "messages", large, goal=Goal("at least", 2)))
    if "LiteLLM" in labels:
        rival, ours = "LiteLLM" + FROM_JSON, LEGATO + FROM_JSON
        figures += [
            found.ratio(label, ours, "messages", large, goal=Goal("at least", 1.2))
            for label in (rival, f"{rival} by pydantic")
        ]
        figures += [found.ratio(label, FROM_CHAT, "messages", large) for label in labels if label.startswith("LiteLLM")]
    for size in (large, scale.small):
        figures += [
            found.ratio(label, LEGATO, "messages", size)
            for label in found.labels("messages", size)
            if size != large or not repairing or label != repairing[0]
        ]
        figures.append(found.ratio(FROM_CHAT, LEGATO, "messages", size))
    turns = scale.sessions[0]
    figures += [found.ratio(label, LEGATO, "turns", turns) for label in found.labels("turns", turns)]
    return figures


def _import(name: str, python: str) -> list[Figure]:
    spent = median(child_seconds(IMPORTS[name], python) - child_seconds("pass", python) for _ in range(3))
    return [
        Figure(f"{name}, import", spent * 1000, "ms", "python -c pass"),
        Figure(f"{name}, import, resident", child_megabytes(IMPORTS[name], python), "MB"),
    ]


def _session_series(found: Measured) -> list[Series]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for (label, kind, amount), taken in found.seconds.items():
        if kind == "turns" and not label.startswith(LEGATO):
            lines.setdefault(label, []).append((amount, median(taken) * 1000))
    return [Series("turns", label, points) for label, points in lines.items()]
