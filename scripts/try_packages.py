"""Build the packages and use them as a stranger would: in a clean environment, on every Python that is here.

For each interpreter from 3.11 on: a new environment, the wheel from the file just built, then `legato --version`, the
demonstration and the types. The newest one also gets the source distribution and all extras.

    python scripts/try_packages.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = "mcp,postgres,otel"


def run(*command: str | Path, cwd: Path) -> str:
    """Run and return what was printed; a failure ends the script with its output."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def interpreters() -> list[str]:
    """The Pythons on this machine that can really start."""
    found: list[str] = []
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}"), *sorted(managed.glob(f"{version}.*/bin/python{version}"))]
        for path in filter(None, candidates):
            if subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
                found.append(str(path))
                break
    return found or [sys.executable]


def try_out(python: str, package: str, folder: Path) -> None:
    """Install `package` for `python` into a new environment and use it."""
    environment = folder / f"env-{Path(python).name}-{abs(hash(package)) % 10_000}"
    run(python, "-m", "venv", environment, cwd=folder)
    run(environment / "bin/pip", "install", "--quiet", package, cwd=folder)
    version = run(environment / "bin/legato", "--version", cwd=folder).strip()
    run(environment / "bin/legato", "demo", "--plain", cwd=folder)
    typed = "import importlib.resources as r; assert r.files('legato').joinpath('py.typed').is_file()"
    run(environment / "bin/python", "-c", typed, cwd=folder)
    name = run(environment / "bin/python", "--version", cwd=folder).strip()
    print(f"{name}: {version}, from {Path(package.partition('[')[0]).name}{'[' if '[' in package else ''}", flush=True)


def main() -> None:
    """Build, then try everything out."""
    with TemporaryDirectory(prefix="legato-packages-") as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
        wheel = next(folder.glob("*.whl"))
        source = next(folder.glob("*.tar.gz"))
        for python in interpreters():
            try_out(python, str(wheel), folder)
        newest = interpreters()[-1]
        try_out(newest, str(source), folder)
        try_out(newest, f"{wheel}[{EXTRAS}]", folder)
    print("all packages work")


if __name__ == "__main__":
    main()
