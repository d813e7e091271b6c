"""Measure other libraries on the work that our benchmarks do.

Each peer lives in an environment of its own, .venv-peers/<peer>, because they do not agree on versions of what they
share, and ours must not change because of them. An environment is made once; `--fresh` makes it again. A peer that
cannot be installed here is named and left out; the others are still measured.

The measuring itself is the harness's case `peers`: bench/peers/<peer>.py runs inside that environment, by turns with
Legato in ours.
"""

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"

PEERS: dict[str, list[str]] = {
    "litellm": ["litellm"],
    "litellm_proxy": ["litellm[proxy]"],  # for the case `gateway`
    "langchain": ["langchain", "langchain-anthropic"],
    "pydantic_ai": ["pydantic-ai-slim[anthropic]"],
    # It asks for Python 3.12; bench/peers/tau.py imports what is measured on 3.11 too.
    "tau": ["--ignore-requires-python", "tau-ai"],
}


def prepare(peer: str, *, fresh: bool) -> bool:
    """Make `peer`'s environment; False (said aloud) where the peer cannot be installed."""
    folder = ENVIRONMENTS / peer
    ready = folder / ".ready"  # written last, so that half an environment is never used
    if fresh and folder.exists():
        shutil.rmtree(folder)
    if ready.exists():
        return True

    print(f"{peer}: installing {PEERS[peer][-1]}", flush=True)
    venv.create(folder, with_pip=True, clear=True)
    install = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--prefer-binary", *PEERS[peer]],
        capture_output=True,
        text=True,
        check=False,
    )
    if install.returncode:
        lines = [line for line in install.stderr.splitlines() if line.startswith("ERROR")] or ["pip gave no reason"]
        print(f"{peer}: skipped, it cannot be installed here ({lines[-1]})", flush=True)
        shutil.rmtree(folder)
        return False
    ready.touch()
    return True


def main() -> int:
    """Prepare the peers asked for, and measure all that are there."""
    parser = argparse.ArgumentParser(description="Measure other libraries on the same work.")
    parser.add_argument("peers", nargs="*", help=f"which ones to install: {', '.join(PEERS)} (all)")
    parser.add_argument("--fresh", action="store_true", help="make the environments again")
    parser.add_argument("--quick", action="store_true", help="measure on little work, and write nothing")
    parser.add_argument("--prepare", action="store_true", help="make the environments and measure nothing")
    options = parser.parse_args()
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")

    for peer in options.peers or PEERS:
        prepare(peer, fresh=options.fresh)
    if options.prepare:
        return 0
    command = [sys.executable, "-m", "bench", "--only", "peers", *(["--quick"] if options.quick else [])]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
