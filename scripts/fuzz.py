"""Run the properties for a given time, on examples never tried before.

Rounds of pytest follow one another, each with a fresh seed and twice the examples of the one before, so that every
property is tried early and the time left goes into depth. The first failure ends the run.

When time is up the running round is interrupted. It may be shrinking a failure at that moment; Hypothesis keeps what it
found in its database, so one last short round replays the database, and no finding is lost to the clock.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDERS = ("tests/properties", "tests/fuzz")
FIRST_EXAMPLES = 250
MOST_EXAMPLES = 64_000
GRACE = 30.0  # seconds for an interrupted round to end by itself


def run_pytest(
    folders: list[str], *, environment: dict[str, str], options: list[str], seconds: float | None
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


def main() -> int:
    """Fuzz until the time is up or something fails; say which with the exit status."""
    parser = argparse.ArgumentParser(description="Run the property tests for a given time.")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes that test side by side (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="start from this seed instead of a random one")
    parser.add_argument("folders", nargs="*", help=f"where the tests are ({', '.join(FOLDERS)})")
    options = parser.parse_args()

    folders = options.folders or [folder for folder in FOLDERS if Path(folder).is_dir()]
    if not folders:
        parser.error(f"there is nothing to fuzz: neither of {', '.join(FOLDERS)} exists")

    deadline = time.monotonic() + options.seconds
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    examples = FIRST_EXAMPLES
    while (left := deadline - time.monotonic()) > 0:
        print(f"fuzz: seed {seed}, {examples} examples for each property, {left:.0f} s left", flush=True)
        status = run_pytest(
            folders,
            environment={"LEGATO_HYPOTHESIS_PROFILE": "fuzz", "LEGATO_HYPOTHESIS_EXAMPLES": str(examples)},
            options=["-n", str(options.workers), f"--hypothesis-seed={seed}"],
            seconds=left,
        )
        if status is None:
            break
        if status:
            print(f"fuzz: failed; repeat with --seed {seed}", file=sys.stderr)
            return status
        seed += 1
        examples = min(examples * 2, MOST_EXAMPLES)

    print("fuzz: time is up, replaying what Hypothesis remembers", flush=True)
    status = run_pytest(
        folders, environment={"LEGATO_HYPOTHESIS_PROFILE": "replay"}, options=["-n", str(options.workers)], seconds=None
    )
    return 1 if status is None else status


if __name__ == "__main__":
    sys.exit(main())
