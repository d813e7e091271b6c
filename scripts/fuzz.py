"""Run the properties and the campaigns for a given time, on examples never tried before, and say what was tried.

The time is shared evenly between the folders and two campaigns: damaged answers and mutated files. In each folder,
rounds of pytest follow one another, each with a fresh seed and twice the examples of the one before, so that everything
is tried early and the time left goes into depth. The campaigns (scripts/fuzz_answers.py, scripts/fuzz_files.py) go on
from case FUZZ_START of seed FUZZ_SEED, if those are set. Afterwards come sessions of thousands of turns, and processes
that are killed, as often as asked for. The first failure ends the run.

When time is up the running round is interrupted. What failed before that was written down by the tests themselves. What
was being made smaller at that moment is in Hypothesis's database, so one last short round replays the database, and no
finding is lost to the clock.

At the end stands what was tried: examples that ran and held, counted by the tests themselves
(tests/support/tally.py), also in a round that was interrupted.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

FOLDERS = ("tests/properties", "tests/fuzz")
FIRST_EXAMPLES = 100
MOST_EXAMPLES = 64_000
GRACE = 30.0  # seconds for an interrupted round to end by itself

CAMPAIGNS = ("scripts/fuzz_answers.py", "scripts/fuzz_files.py")
LONG_SESSIONS = "tests/scenarios/test_long_session.py"
STORE_KILLS = "tests/scenarios/test_store_survives_kills.py"
SESSION_KILLS = "tests/scenarios/test_session_survives_kills.py"

# Names under which the tests count; an example of these files is a log.
LOGS = (
    "test_transcript_properties",
    "test_render_properties",
    "test_compaction_properties",
    "test_results_survive",
)
FAILED = "failed: "  # begins what they write of a test that failed
FAILURES = ".failures"  # ends the name of the file in which they tell what happened
BAD_DAYS = "test_campaign::test_a_bad_day_breaks_nothing"
FIRST, RETRIED = "first attempts on bad days", "retries on bad days"
RESERVE = 10  # retries that each of these days may begin with; after that, one for five requests


def run_pytest(
    folders: Iterable[str], *, environment: dict[str, str], options: Iterable[str] = (), seconds: float | None = None
) -> int | None:
    """pytest's exit status, or None if it had to be interrupted after `seconds`."""
    command = [sys.executable, "-m", "pytest", "--exitfirst", "--quiet", *options, *folders]
    # A session of its own: the interrupt reaches the workers too, and nothing but them.
    process = subprocess.Popen(command, env=os.environ | environment, start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End `process` and its workers if they still run: gently, then firmly."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, sign)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            continue


def fuzz(folder: str, *, seconds: float, workers: int, seed: int, tally: str) -> int:
    """Try `folder` for `seconds`; the exit status of the first round that failed, or 0."""
    deadline = time.monotonic() + seconds
    examples = FIRST_EXAMPLES
    while (left := deadline - time.monotonic()) > 0:
        say(f"{folder}: seed {seed}, {examples} examples of each, {left:.0f} s left")
        status = run_pytest(
            [folder],
            environment={
                "LEGATO_HYPOTHESIS_PROFILE": "fuzz",
                "LEGATO_HYPOTHESIS_EXAMPLES": str(examples),
                "LEGATO_TALLY": tally,
            },
            options=["-n", str(workers), f"--hypothesis-seed={seed}"],
            seconds=left,
        )
        failed = [name for name in read_tally(tally) if name.startswith(FAILED)]
        if status or failed:
            say("\n".join([f"repeat with --seed {seed} {folder}", *failed]))
            told = Path(tally + FAILURES)
            print(told.read_text(encoding="utf-8") if told.exists() else "", flush=True)
            return status or 1
        if status is None:
            break
        seed += 1
        examples = min(examples * 2, MOST_EXAMPLES)
    say(f"{folder}: time is up, replaying what Hypothesis remembers")
    replayed = run_pytest(
        [folder],
        environment={"LEGATO_HYPOTHESIS_PROFILE": "replay", "LEGATO_TALLY": os.devnull},
        options=["-n", str(workers)],
    )
    return 1 if replayed is None else replayed


def run_campaign(script: str, *, seconds: float, workers: int, seed: int | None, tally: str) -> int:
    """Run the campaign of that script for `seconds`; its exit status."""
    command = [sys.executable, script, f"--seconds={seconds}", f"--workers={workers}"]
    if seed is not None:
        command.append(f"--seed={seed}")
    return subprocess.run(command, env=os.environ | {"LEGATO_TALLY": tally}, check=False).returncode


def run_longer(test: str, variable: str, number: int, *, tally: str) -> int:
    """Run `test` with `number` where its environment `variable` says how much it does; pytest's exit status."""
    if not number:
        return 0
    say(f"{test}: {variable}={number}")
    return run_pytest([test], environment={variable: str(number), "LEGATO_TALLY": tally}) or 0


def say(text: str) -> None:
    """A line about the run."""
    print(f"fuzz: {text}", flush=True)


def read_tally(path: str) -> Counter[str]:
    """What was counted in the file at `path`; nothing if it does not exist."""
    counted: Counter[str] = Counter()
    if Path(path).exists():
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            number, _, name = line.partition(" ")
            counted[name] += int(number)
    return counted


def summary(counted: Counter[str]) -> list[str]:
    """What was tried, in lines: first what the campaigns are for, then property by property."""
    tests = {name: number for name, number in counted.items() if "::" in name and not name.startswith(FAILED)}
    logs = sum(number for name, number in tests.items() if name.partition("::")[0] in LOGS)
    days = tests.get(BAD_DAYS, 0)
    first = counted[FIRST]
    retried = counted[RETRIED]
    others = {name: number for name, number in counted.items() if name not in tests and name not in (FIRST, RETRIED)}
    lines = [
        (logs, "generated logs through the properties of transcripts, requests and compaction"),
        (sum(tests.values()) - logs - days, "examples of all other properties"),
        (days, "seeds: bad days with random faults, cancellations and switches"),
        (first, "requests on them, not counting retries"),
        (retried, f"retries, of {0.2 * first + RESERVE * days:,.0f} that the budget allows"),
        *((number, name) for name, number in (*sorted(others.items()), *sorted(tests.items()))),
    ]
    return [f"{number:>12,} {name}" for number, name in lines]


def main() -> int:
    """Fuzz until the time is up or something fails; say which with the exit status."""
    parser = argparse.ArgumentParser(description="Run the property tests and the campaigns for a given time.")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes that test side by side (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="start from this seed instead of a random one")
    parser.add_argument("--turns", type=int, default=2_000, help="turns of the long sessions (%(default)s)")
    parser.add_argument("--store-kills", type=int, default=300, help="writers to kill afterwards (%(default)s)")
    parser.add_argument("--session-kills", type=int, default=60, help="sessions to kill afterwards (%(default)s)")
    parser.add_argument("folders", nargs="*", help=f"where the tests are ({', '.join(FOLDERS)})")
    options = parser.parse_args()

    folders = options.folders or [folder for folder in FOLDERS if Path(folder).is_dir()]
    if not folders:
        parser.error(f"there is nothing to fuzz: neither of {', '.join(FOLDERS)} exists")

    seed = options.seed if options.seed is not None else random.randrange(2**32)
    with tempfile.TemporaryDirectory() as place:
        tally = str(Path(place) / "tally")
        status = 0
        campaigns = () if options.folders else CAMPAIGNS
        share = options.seconds / (len(folders) + len(campaigns))
        for folder in folders:
            status = status or fuzz(folder, seconds=share, workers=options.workers, seed=seed, tally=tally)
        for script in campaigns:
            status = status or run_campaign(
                script, seconds=share, workers=options.workers, seed=options.seed, tally=tally
            )
        status = status or run_longer(LONG_SESSIONS, "LEGATO_TURNS", options.turns, tally=tally)
        status = status or run_longer(STORE_KILLS, "LEGATO_KILLS", options.store_kills, tally=tally)
        status = status or run_longer(SESSION_KILLS, "LEGATO_KILLS", options.session_kills, tally=tally)
        say(f"{'nothing failed' if status == 0 else 'FAILED'}; what ran and held:")
        print("\n".join(summary(read_tally(tally))), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
