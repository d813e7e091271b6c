"""Say which tests prove each requirement.

In:  the markers `@pytest.mark.req("REQ-915-0xx")` on the collected tests, and what `make mutants` recorded of them.
Out: a list on the terminal and docs/requirements.md; with `--strict`, exit status 1 if a requirement has no test.

pytest itself collects, so a marker counts wherever pytest would honour it: on a function, a class, a module or one case
of a parametrised test. The cases of one test are counted, not listed. Tests that talk to real providers prove nothing
here, because they do not run by default. A marker that names no requirement we know is an error: a typing slip must not
pass for a proof.
"""

import argparse
import contextlib
import io
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "requirements.md"
MUTANTS = ROOT / "docs" / "mutants.json"
"""what became of the breakages of each requirement, as the last `make mutants` saw it"""

# Short titles in our words; the specification has the full text.
TITLES = {
    "REQ-915-001": "Requests are assembled from the log, at the boundary before each request",
    "REQ-915-002": "A turn under way stays with the provider it began on",
    "REQ-915-003": "A switch made between turns takes effect on the next request",
    "REQ-915-004": "After any kind of switch, the new provider gets a valid and complete history",
    "REQ-915-005": "A malformed tool structure is never sent",
    "REQ-915-006": "Every result answers exactly one call that came before it",
    "REQ-915-007": "Every call has its one completion, real or synthetic",
    "REQ-915-008": "Results stand where the provider wants them, and real ones survive the move",
    "REQ-915-009": "Of several results for one call, at most one is sent",
    "REQ-915-010": "Rendering twice gives the same pairs in the same order",
    "REQ-915-011": "Each call without a result is closed exactly once",
    "REQ-915-012": "Closing some calls leaves the real results of the others untouched",
    "REQ-915-013": "Closure happens before sending, so no partial set of results leaves",
    "REQ-915-014": "Calls have an identity of ours, independent of any provider",
    "REQ-915-015": "Ids take the provider's form on the way out, and pairs stay pairs",
    "REQ-915-016": "Within a render, ids map one to one",
    "REQ-915-017": "A call and its result carry the same projected id",
    "REQ-915-018": "OpenAI-style ids begin with call_",
    "REQ-915-019": "Anthropic-style ids begin with toolu_",
    "REQ-915-020": "Kimi ids read functions.<tool>:<running index>",
    "REQ-915-021": "Mistral ids have nine letters or digits",
    "REQ-915-022": "Empty or degenerate ids still project to stable, distinct ids",
    "REQ-915-023": "Thinking, where it is included, breaks no tool rule",
    "REQ-915-024": "Leaving thinking out leaves calls and results paired and in place",
    "REQ-915-025": "Answers that mix thinking, text, calls and results render validly",
    "REQ-915-026": "Compaction keeps what later renders need",
    "REQ-915-027": "A pair that lost one side to compaction still renders as a pair",
    "REQ-915-028": "Compaction leaves no orphans",
    "REQ-915-029": "One way to run tools: chat, one-shot and subagent alike",
    "REQ-915-030": "Each session has one scheduler for its tools",
    "REQ-915-031": "The calls of one answer run as one parallel batch",
    "REQ-915-032": "What goes back to the model holds results only, never calls, in every mode",
    "REQ-915-033": "Tool results enter the log by the path of every other message",
    "REQ-915-034": "Cancellation settles in the scheduler and is committed by the normal path",
    "REQ-915-035": "Outside a turn loop, a single tool may be run alone",
    "REQ-915-036": "The transcript decides what is valid; dialects only encode it",
    "REQ-915-037": "Repair has one home; dialects repair nothing",
    "REQ-915-038": "Call arguments of any shape serialise safely",
    "REQ-915-039": "Diagnostics carry the ids, the dedupe decisions, the closure reasons and the format",
    "REQ-915-040": "Diagnostics tell corrupt state, pairing faults and projection faults apart",
    "REQ-915-041": "Scenario: a switch by hand after tools ran is accepted by the next provider",
    "REQ-915-042": "Scenario: round-robin over providers keeps order and pairs",
    "REQ-915-043": "Scenario: failover to another family sends a valid transcript",
    "REQ-915-044": "Scenario: five calls and one result become one real and four synthetic completions",
    "REQ-915-045": "Scenario: every mode batches, filters and records alike",
    "REQ-915-046": "Call state lives as long as the session and can be rebuilt from the log",
    "REQ-915-047": "Calls recorded under the tool speaker are attributed to the model",
    "REQ-915-048": "A call's status follows from its error, its completion flag and its result, in that order",
    "REQ-915-049": "Distinct calls never share a projected id",
    "REQ-915-050": "A switch asked for during a turn waits until the turn has ended",
}

Proofs = dict[str, Counter[str]]  # requirement -> test -> number of its cases


class MarkerReader:
    """A pytest plugin that notes the requirements each collected test names."""

    def __init__(self) -> None:
        self.proofs: Proofs = defaultdict(Counter)
        self.mistakes: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Read the markers once everything is collected."""
        for item in session.items:
            if item.get_closest_marker("live"):
                continue
            test = item.nodeid.partition("[")[0]
            named = {requirement for marker in item.iter_markers("req") for requirement in marker.args}
            for requirement in named:
                if requirement in TITLES:
                    self.proofs[requirement][test] += 1
                else:
                    self.mistakes.append(f"{test} names {requirement!r}, which is no requirement")
            if not named and item.get_closest_marker("req"):
                self.mistakes.append(f"{test} has a `req` marker that names nothing")


def collect(paths: list[str]) -> MarkerReader:
    """Let pytest find the tests; raises `SystemExit` with pytest's words where it cannot."""
    reader = MarkerReader()
    words = io.StringIO()
    arguments = ["--collect-only", "--quiet", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *paths]
    with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
        status = pytest.main(arguments, plugins=[reader])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"{words.getvalue()}\nThe tests could not be collected.")
    return reader


def cases(count: int) -> str:
    """The number of cases, where a test has several."""
    return f" ({count} cases)" if count > 1 else ""


def noticed(requirement: str, recorded: dict[str, dict[str, int]]) -> str:
    """What the tests of a requirement notice when it is broken; empty if nobody has tried."""
    found = recorded.get(requirement)
    if found is None:
        return ""
    return (
        f"Broken on purpose: {found['table_killed']} of {found['table']} breakages are noticed, "
        f"and {found['drawn_killed']} of {found['drawn']} drawn changes."
    )


def read_recorded(path: Path = MUTANTS) -> dict[str, dict[str, int]]:
    """What `make mutants` recorded, by requirement."""
    return json.loads(path.read_text(encoding="utf-8"))["requirements"] if path.exists() else {}


def as_text(proofs: Proofs) -> str:
    """The report for a terminal."""
    lines: list[str] = []
    for requirement, title in TITLES.items():
        lines.append(f"{requirement}  {title}")
        tests = proofs.get(requirement, Counter[str]())
        lines += [f"    {test}{cases(tests[test])}" for test in sorted(tests)] or ["    no test"]
    return "\n".join(lines)


def as_page(proofs: Proofs) -> str:
    """The report as a Markdown page. It holds nothing that changes by itself, such as a date."""
    proved = sum(1 for requirement in TITLES if proofs.get(requirement))
    lines = [
        "# Requirements and their tests",
        "",
        "Written by `make requirements` from the `req` markers on the tests; do not edit by hand.",
        "",
        f"{proved} of {len(TITLES)} requirements have at least one test. What these tests notice when the requirement",
        "is broken on purpose is recorded by `make mutants`; [Proof by mutation](mutants.md) explains it.",
    ]
    recorded = read_recorded()
    for requirement, title in TITLES.items():
        lines += ["", f"## {requirement}", "", f"{title}.", ""]
        if told := noticed(requirement, recorded):
            lines += [told, ""]
        tests = proofs.get(requirement, Counter[str]())
        lines += [f"- `{test}`{cases(tests[test])}" for test in sorted(tests)] or ["- *no test yet*"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Collect, print, write the page, and judge."""
    parser = argparse.ArgumentParser(description="Say which tests prove each requirement.")
    parser.add_argument("paths", nargs="*", default=["tests"], help="where to look for tests (%(default)s)")
    parser.add_argument("--strict", action="store_true", help="fail if a requirement has no test")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    options = parser.parse_args()

    reader = collect(options.paths)
    print(as_text(reader.proofs))
    if reader.mistakes:
        print("\n" + "\n".join(sorted(set(reader.mistakes))), file=sys.stderr)
        return 1

    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(as_page(reader.proofs), encoding="utf-8")
    open_ones = [requirement for requirement in TITLES if not reader.proofs.get(requirement)]
    print(f"\n{len(TITLES) - len(open_ones)} of {len(TITLES)} requirements have a test.")
    if open_ones:
        print(f"Without one: {', '.join(open_ones)}")
    return int(options.strict and bool(open_ones))


if __name__ == "__main__":
    sys.exit(main())
