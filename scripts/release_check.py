"""Look at the packages as an index and its users will: what they hold, what they say of themselves, how they start.

    python scripts/release_check.py [--out FOLDER]

Builds the wheel and the source distribution, then checks that

- both are the same bytes when they are built again, and a bill of materials lies beside them;
- versions agree: pyproject.toml, `legato.__version__`, the packages, and a section of the changelog;
- the wheel holds the marker for type checkers and all modules, and the source distribution what its tests need;
- the metadata is complete, and the long description is Markdown that an index shows;
- the wheel works in a clean environment on every promised Python that is here (`try_packages.py`), and by `pipx run`
  and `uvx` where these can be had.

It ends with what could not be tried. Everything that is wrong is listed; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import legato  # noqa: E402
from scripts.supply_chain import write_sbom  # noqa: E402
from scripts.try_packages import SBOM, build_twice, interpreters, promised, run, try_out  # noqa: E402

_FIELDS = ("Name", "Version", "Summary", "Requires-Python", "License-Expression", "License-File", "Keywords")
_IN_SOURCE = (
    "src/legato/py.typed",
    "tests/conftest.py",
    "scripts/release_check.py",
    "Makefile",
    "LICENSE",
    "CHANGELOG.md",
)
_SHOWN_HTML = frozenset(
    {"a", "br", "code", "details", "em", "img", "p", "picture", "source", "strong", "sub", "summary"}
)
"""what an index leaves of the HTML in a description"""


def main() -> int:
    """Build, look, try; print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="keep the packages in this folder")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="legato-release-") as name:
        folder = Path(name)
        packages = options.out.resolve() if options.out else folder / "packages"
        wheel, source = build_twice(packages)
        write_sbom(packages / SBOM)
        wrong = [*_versions(wheel), *_contents(wheel, source), *_metadata(_message(wheel))]
        found = interpreters()
        for python in found:
            try_out(python, str(wheel), folder)
        untried = [f"Python {version}" for version in promised() if not any(version in Path(one).name for one in found)]
        untried += _run_by_others(found[-1], wheel, folder)
    for line in wrong:
        print(f"wrong: {line}")
    print(f"not tried: {', '.join(untried) or 'nothing'}")
    if not wrong:
        print("ready to be released")
    return int(bool(wrong))


def _versions(wheel: Path) -> Iterator[str]:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if legato.__version__ != version:
        yield f"legato.__version__ is not {version}, as pyproject.toml says"
    if f"-{version}-" not in wheel.name:
        yield f"{wheel.name} is not of version {version}"
    if not re.search(rf"^## \[?{re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M):
        yield f"CHANGELOG.md has no section for {version}"


def _contents(wheel: Path, source: Path) -> Iterator[str]:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*") if path.is_file()}
    wanted = {name for name in wanted if "__pycache__" not in name}
    yield from (f"{name} is not in the wheel" for name in sorted(wanted - held))
    strangers = {name.partition("/")[0] for name in held} - {"legato"}
    yield from (f"the wheel also installs {name}" for name in sorted(strangers) if not name.endswith(".dist-info"))
    with tarfile.open(source) as archive:
        unpacked = {name.partition("/")[2] for name in archive.getnames()}
    yield from (f"{name} is not in the source distribution" for name in _IN_SOURCE if name not in unpacked)


def _message(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def _metadata(message: Message) -> Iterator[str]:
    yield from (f"the metadata has no {field}" for field in _FIELDS if not message.get(field))
    if not (message.get("Description-Content-Type") or "").startswith("text/markdown"):
        yield "the long description does not say that it is Markdown"
    yield from unshown(str(message.get_payload()))


def unshown(description: str) -> Iterator[str]:
    """What of a long description in Markdown an index would not show as it is meant."""
    if not description.lstrip().startswith("# "):
        yield "the long description has no title"
    for token in MarkdownIt("commonmark").enable("table").parse(description):
        if token.type == "fence" and not token.markup:
            yield "a block of the long description has no end"
        for part in [token, *(token.children or [])]:
            if part.type in ("html_block", "html_inline"):
                tags = set(re.findall(r"<([a-z][a-z0-9]*)", part.content)) - _SHOWN_HTML
                yield from (f"an index does not show <{tag}>" for tag in sorted(tags))


def _run_by_others(python: str, wheel: Path, folder: Path) -> list[str]:
    """Start the program from the wheel by `pipx run` and `uvx`; returns which of them could not be had."""
    environment = folder / "starters"
    run(python, "-m", "venv", environment, cwd=folder)
    programs = environment / "bin"
    variables = {"PIPX_HOME": str(folder / "pipx"), "UV_CACHE_DIR": str(folder / "uv"), **_index_for_uv(programs)}
    missing: list[str] = []
    for name, package, command in (
        ("pipx", "pipx", ("pipx", "run", "--spec", wheel, "legato", "--version")),
        ("uvx", "uv", ("uvx", "--python", python, "--from", wheel, "legato", "--version")),
    ):
        installing = [str(programs / "pip"), "install", "--quiet", package]
        if subprocess.run(installing, capture_output=True, check=False).returncode:
            missing.append(name)
            continue
        first, *rest = command
        print(f"{name}: {run(programs / first, *rest, cwd=folder, variables=variables).strip()}", flush=True)
    return missing


def _index_for_uv(programs: Path) -> dict[str, str]:
    """Where pip is told to find packages on this machine, as variables for uv, which does not read pip's settings."""
    listed = subprocess.run([programs / "pip", "config", "list"], capture_output=True, text=True, check=False).stdout
    found: dict[str, str] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        if name := _UV.get(key.rpartition(".")[2]):
            separator = "," if name == "UV_FIND_LINKS" else " "
            found[name] = separator.join(value.strip("'").replace("\\n", " ").split())
    # pip takes the best version of all its indexes; uv by itself takes those of the first that knows the name.
    return {**found, "UV_INDEX_STRATEGY": "unsafe-best-match"} if "UV_EXTRA_INDEX_URL" in found else found


_UV = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_EXTRA_INDEX_URL", "find-links": "UV_FIND_LINKS"}


if __name__ == "__main__":
    sys.exit(main())
