"""Build the packages and use them as a stranger would, then run all tests on them: on every supported Python here.

They are built twice, and have to be the same bytes; beside them, in `dist`, is a bill of materials.

For each interpreter that `pyproject.toml` promises and this machine has: a new environment, the wheel from the file
just built, then `legato --version`, the demonstration and the types; and another environment from the hash lock, in
which the whole suite runs against the installed wheel. The newest one also gets the source distribution and all extras.

    python scripts/try_packages.py [--no-tests] [--workers 2]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
EXTRAS = "mcp,postgres,otel,serve"
SBOM = "legato.cdx.json"


def run(*command: str | Path, cwd: Path, shows: bool = False, variables: Mapping[str, str] | None = None) -> str:
    """Run and return what was printed, unless it `shows` while it runs; a failure ends the script with its output."""
    pipe = None if shows else subprocess.PIPE
    words = [str(part) for part in command]
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(words, cwd=cwd, env=environment, stdout=pipe, stderr=pipe, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout or ''}{done.stderr or ''}")
    return done.stdout or ""


def promised() -> list[str]:
    """The versions of Python that the package says it is for, oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in project["classifiers"]]
    return [match[1] for match in found if match]


def interpreters() -> list[str]:
    """The promised Pythons on this machine that can really start, oldest first."""
    found: list[str] = []
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in promised():
        candidates = [shutil.which(f"python{version}"), *sorted(managed.glob(f"{version}.*/bin/python{version}"))]
        for path in filter(None, candidates):
            if subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
                found.append(str(path))
                break
    return found or [sys.executable]


def build(folder: Path, source: Path = ROOT) -> tuple[Path, Path]:
    """Build into `folder`; returns the wheel and the source distribution."""
    folder.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source, cwd=folder)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def build_twice(folder: Path) -> tuple[Path, Path]:
    """The same, and once more from a copy with other times and another mask: what is released can be built again."""
    built = build(folder)
    with TemporaryDirectory(prefix="legato-again-") as name:
        copy = Path(name) / "source"
        shutil.copytree(ROOT, copy, ignore=_made_here, copy_function=_touched, symlinks=True)
        mask = os.umask(0o077)
        try:
            again = build(Path(name) / "packages", copy)
        finally:
            os.umask(mask)
        for one, other in zip(built, again, strict=True):
            if one.read_bytes() != other.read_bytes():
                sys.exit(f"failed: {one.name} is not the same when it is built again: {_difference(one, other)}")
    print(f"built twice, with the same bytes: {', '.join(one.name for one in built)}", flush=True)
    return built


def _made_here(folder: str, names: list[str]) -> set[str]:
    """What tools have made here, and no checkout holds."""
    is_root = Path(folder) == ROOT
    made = {name for name in names if is_root and (name in ("dist", "build", ".git") or name.endswith("_cache"))}
    return made | {name for name in names if name == "__pycache__" or (is_root and name.startswith((".venv", ".hypo")))}


def _touched(source: str, target: str) -> None:
    shutil.copyfile(source, target)
    os.utime(target, (1_700_000_000, 1_700_000_000))


def _difference(one: Path, other: Path) -> str:
    if one.suffix != ".whl":
        return "compare them with diffoscope"
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        old, new = ({item.filename: item.CRC for item in archive.infolist()} for archive in (first, second))
    return (
        ", ".join(sorted(name for name in {**old, **new} if old.get(name) != new.get(name))) or "their order or times"
    )


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


def run_tests(python: str, wheel: Path, folder: Path, workers: int) -> None:
    """Run the whole suite for `python` against the installed `wheel`."""
    environment = folder / f"tests-{Path(python).name}"
    run(python, "-m", "venv", environment, cwd=folder)
    pip = (environment / "bin/python", "-m", "pip", "install", "--quiet")
    run(*pip, "--no-deps", "--require-hashes", "-r", ROOT / "requirements/dev.txt", cwd=folder)
    run(*pip, "--no-deps", "--no-index", wheel, cwd=folder)
    name = run(environment / "bin/python", "--version", cwd=folder).strip()
    print(f"{name}: all tests", flush=True)
    run(environment / "bin/python", "-m", "pytest", "-q", "-n", str(workers), cwd=ROOT, shows=True)


def main() -> None:
    """Build, then try everything out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-tests", action="store_true", help="only install and use the packages")
    parser.add_argument("--workers", type=int, default=2, help="test processes at once")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="legato-packages-") as name:
        folder = Path(name)
        wheel, source = build_twice(folder / "packages")
        run(sys.executable, ROOT / "scripts/supply_chain.py", "--sbom", ROOT / "dist" / SBOM, cwd=folder)
        print(f"bill of materials: dist/{SBOM}", flush=True)
        found = interpreters()
        for python in found:
            try_out(python, str(wheel), folder)
        try_out(found[-1], str(source), folder)
        try_out(found[-1], f"{wheel}[{EXTRAS}]", folder)
        if not options.no_tests:
            for python in found:
                run_tests(python, wheel, folder, options.workers)
    print("all packages work")


if __name__ == "__main__":
    main()
