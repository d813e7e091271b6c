"""Measure other libraries on the work that our benchmarks do.

Each peer lives in an environment of its own, .venv-peers/<peer>, because they do not agree on versions of what they
share, and ours must not change because of them. An environment is made once; `--fresh` makes it again. A peer that
cannot be installed here is named and left out; the others are still measured.

The measuring itself is in bench/peers/<peer>.py, which runs inside that environment and sees only the standard library
and the peer. What it prints goes through unchanged.
"""

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"
PROGRAMS = ROOT / "bench" / "peers"

PEERS: dict[str, list[str]] = {
    "litellm": ["litellm"],
    "langchain": ["langchain", "langchain-anthropic"],
    "pydantic_ai": ["pydantic-ai-slim[anthropic]"],
    "tau": ["tau-ai"],
}


def prepare(peer: str, *, fresh: bool) -> Path | None:
    """The Python of `peer`'s environment, or None (said aloud) where the peer cannot be installed."""
    folder = ENVIRONMENTS / peer
    python = folder / "bin" / "python"
    ready = folder / ".ready"  # written last, so that half an environment is never used
    if fresh and folder.exists():
        shutil.rmtree(folder)
    if ready.exists():
        return python

    print(f"{peer}: installing {' '.join(PEERS[peer])}", flush=True)
    venv.create(folder, with_pip=True, clear=True)
    install = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--prefer-binary", *PEERS[peer]],
        capture_output=True,
        text=True,
        check=False,
    )
    if install.returncode:
        lines = [line for line in install.stderr.splitlines() if line.startswith("ERROR")] or ["pip gave no reason"]
        print(f"{peer}: skipped, it cannot be installed here ({lines[-1]})", flush=True)
        shutil.rmtree(folder)
        return None
    ready.touch()
    return python


def measure(peer: str, python: Path) -> bool:
    """Run the peer's benchmark; False if it failed."""
    program = PROGRAMS / f"{peer}.py"
    if not program.is_file():
        print(f"{peer}: skipped, there is no {program.relative_to(ROOT)}", flush=True)
        return True
    print(f"{peer}:", flush=True)
    finished = subprocess.run([python, program], cwd=ROOT, check=False)
    if finished.returncode:
        print(f"{peer}: failed with status {finished.returncode}", flush=True)
    return finished.returncode == 0


def main() -> int:
    """Prepare and measure the peers asked for."""
    parser = argparse.ArgumentParser(description="Measure other libraries on the same work.")
    parser.add_argument("peers", nargs="*", help=f"which ones: {', '.join(PEERS)} (all)")
    parser.add_argument("--fresh", action="store_true", help="make the environments again")
    options = parser.parse_args()
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")

    outcomes: list[bool] = []
    for peer in options.peers or PEERS:
        python = prepare(peer, fresh=options.fresh)
        if python is not None:
            outcomes.append(measure(peer, python))
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
