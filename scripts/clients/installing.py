"""Install the clients: exact versions, and the digests of every package, from packages/.

In:  a folder of packages/, which holds a package.json and its lock.
Out: the folder of the client's program, in a cache that other runs use again.

The locks name no registry, so npm takes the one that it is set up for. Make them again with
`npm install --package-lock-only --omit-lockfile-registry-resolved` in their folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import platformdirs

PACKAGES = Path(__file__).resolve().parent / "packages"
VARIABLE = "LEGATO_CLIENTS_CACHE"


class NotInstalled(Exception):
    """A client that cannot be installed here."""


def cache() -> Path:
    """Where clients are installed."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("legato", appauthor=False)) / "clients"


def version_of(package: str) -> str:
    """The version of a client that is installed."""
    (version,) = json.loads((PACKAGES / package / "package.json").read_text(encoding="utf-8"))["dependencies"].values()
    return version


def installed(package: str) -> Path | None:
    """The folder with the client's program, if it is installed."""
    folder = _folder(package)
    return folder / _PROGRAMS if (folder / _READY).exists() else None


def install(package: str) -> None:
    """Have the client installed; raises `NotInstalled`, with npm's reason."""
    if installed(package) is not None:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("there is no npm here")
    print(f"{package}: installing {version_of(package)}", flush=True)
    folder = _folder(package)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in _files(package):
        shutil.copy(file, folder)
    # Not `npm ci`, which wants the lock to hold what other platforms would install as well; digests are checked alike.
    command = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(folder)
        told = [line for line in done.stderr.splitlines() if line.startswith("npm error")] or ["npm gave no reason"]
        raise NotInstalled(told[0])
    (folder / _READY).touch()


_PROGRAMS = Path("node_modules", ".bin")
_READY = ".ready"
"""is written last, so that half an installation is never used"""


def _files(package: str) -> list[Path]:
    return [PACKAGES / package / name for name in ("package.json", "package-lock.json")]


def _folder(package: str) -> Path:
    digest = sha256(b"".join(file.read_bytes() for file in _files(package))).hexdigest()[:12]
    return cache() / f"{package}-{version_of(package)}-{digest}"
