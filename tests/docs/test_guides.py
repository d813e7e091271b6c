"""CONTRIBUTING and ARCHITECTURE name only what exists, and all that a newcomer has to know of."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from documentation_support import ROOT, blocks_of
from legato.model import Dialect

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
SOURCE = ROOT / "src" / "legato"

pytestmark = pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="there is no Makefile here")


def _recipes() -> set[str]:
    """The recipes that `make` alone lists."""
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def _code(page: Path) -> list[str]:
    """What stands in backticks, outside blocks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", text)


def test_contributing_tells_of_every_recipe_and_of_no_other() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    named = set(re.findall(r"`?make ([a-z][a-z-]*)", text))
    rows = {
        name
        for row in re.findall(r"^\| (`make .+?) \|", text, re.MULTILINE)
        for name in re.findall("make ([a-z-]+)", row)
    }
    assert named - _recipes() == set()
    assert _recipes() - rows - {"help"} == set()


def test_every_option_that_contributing_gives_to_a_recipe_is_known_to_its_script() -> None:
    unknown = [
        f"make {row[1]} ARGS={option}"
        for row in re.finditer(r"^\| `make ([a-z-]+)`.*$", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)
        for option in re.findall(r"ARGS=(--[a-z-]+)", row[0])
        if f'"{option}"' not in _script_of(row[1])
    ]
    assert unknown == []


def _script_of(recipe: str) -> str:
    """The source of the script that `make recipe` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    body = re.search(rf"^{recipe}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    name = re.search(r"scripts[/.](\w+)", body[1] if body else "")
    if name is None:  # `make lock` hands its options to uv
        return '"--upgrade"'
    path = ROOT / "scripts" / name[1] / "__main__.py"
    return (path if path.exists() else path.parent.with_suffix(".py")).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [CONTRIBUTING, ARCHITECTURE], ids=lambda page: page.name)
def test_every_path_that_is_named_is_there(page: Path) -> None:
    paths = [
        word
        for word in _code(page)
        if re.fullmatch(r"[\w.*-]+(?:/[\w.<>*-]+)*/|[\w.-]+(?:/[\w.-]+)*\.(?:py|md|toml|txt|json)", word)
    ]
    homes = (ROOT, ROOT / "tests", SOURCE, SOURCE / "wire", SOURCE / "wire" / "anthropic")
    made = {".venv", ".venv-3.13"}
    missing = [
        path for path in paths if path.strip("/") not in made and not any(list(home.glob(path)) for home in homes)
    ]
    assert missing == []


def test_contributing_tells_of_every_folder_of_tests() -> None:
    rows = set(re.findall(r"^\| `tests/(\w+)/` \|", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE))
    tracked = subprocess.run(["git", "ls-files", "tests"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    folders = {Path(name).parts[1] for name in tracked.splitlines() if len(Path(name).parts) > 2}
    if not folders:
        pytest.skip("this is no checkout")
    assert rows == folders


def test_contributing_has_the_layers_that_are_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [layers] = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    told = next(block.text for block in blocks_of(CONTRIBUTING) if " > " in block.text)
    assert [layer.strip() for layer in told.split(">")] == [layer for layer in layers if layer != "__main__"]


def test_no_dialect_may_know_another() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [modules] = [contract["modules"] for contract in contracts if contract["id"] == "dialects"]
    assert sorted(modules) == sorted(f"legato.wire.{dialect}" for dialect in Dialect)


def test_the_map_of_the_architecture_has_every_station() -> None:
    drawn = next(block.text for block in blocks_of(ARCHITECTURE) if block.text.startswith("src/legato/"))
    named = set(re.findall(r"^  (\w+)(?:/|\.py)", drawn, re.MULTILINE))
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert named == folders | modules


def test_what_the_walk_links_is_defined_where_the_link_leads() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    links = re.findall(r"\[`([A-Za-z_.]+)`\]\((src/[^)#]+\.py)\)", text)
    assert len(links) > 10
    missing = [f"{name}: {path}" for name, path in links if "/" not in name and name not in set(_defined(ROOT / path))]
    assert missing == []


def _defined(path: Path) -> Iterator[str]:
    """The classes and functions of a file, and the methods as `Class.method`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{node.name}.{one.name}"
                for one in node.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            )
