"""Install the frameworks: exact versions, and the digests of every package, from requirements/frameworks/.

In:  the name of a framework, which has a NAME.in and its lock, NAME.txt.
Out: the Python of an environment of its own, in a cache that other runs use again.

They do not agree on versions of what they share, and what we develop with must not change because of them. The locks
name no host; `make frameworks ARGS=--lock` writes them anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from hashlib import sha256
from pathlib import Path

import platformdirs

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements" / "frameworks"
VARIABLE = "LEGATO_FRAMEWORKS_CACHE"
_READY = ".ready"
"""is written last, so that half an environment is never used"""


class NotInstalled(Exception):
    """A framework that cannot be installed here."""


def cache() -> Path:
    """Where environments are."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("legato", appauthor=False)) / "frameworks"


def lock_of(name: str) -> Path:
    """The lock of a framework."""
    return LOCKS / f"{name}.txt"


def version_in(name: str, package: str) -> str:
    """The version of `package` that the lock of a framework has."""
    found = re.search(rf"^{re.escape(package)}==([^ ;]+)", lock_of(name).read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise NotInstalled(f"{package} is not in {lock_of(name).name}")
    return found[1]


def python_of(name: str) -> Path:
    """The Python of a framework's environment, made if it is not there; raises `NotInstalled`, with pip's reason."""
    digest = sha256(lock_of(name).read_bytes()).hexdigest()[:12]
    folder = cache() / f"{name}-{sys.version_info[0]}.{sys.version_info[1]}-{digest}"
    python = folder / "bin" / "python"
    if (folder / _READY).exists():
        return python
    print(f"{name}: installing", flush=True)
    venv.create(folder, with_pip=True, clear=True)
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", lock_of(name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(folder)
        told = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip gave no reason"]
        raise NotInstalled(told[0])
    (folder / _READY).touch()
    return python


def write_locks(names: list[str]) -> None:
    """Resolve what each framework and Legato need into its lock, for every Python that Legato runs on."""
    uv = Path(sys.executable).with_name("uv")
    for name in names:
        print(f"{name}: resolving", flush=True)
        subprocess.run(
            [
                *(uv, "pip", "compile", "pyproject.toml", LOCKS / f"{name}.in", "--output-file", lock_of(name)),
                *("--universal", "--python-version", "3.11", "--generate-hashes", "--upgrade", "--quiet"),
                *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
            ],
            cwd=ROOT,
            check=True,
        )
