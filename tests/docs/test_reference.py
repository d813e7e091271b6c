"""The reference holds every public name, as the sources describe it today."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module

import pytest

from documentation_support import blocks_of, run_pages
from legato import errors
from scripts.public_names import public_modules, public_names
from scripts.reference_doc import FOLDER, pages

_MODULES = public_modules()


def test_the_reference_on_disk_is_the_one_that_the_sources_give() -> None:
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    written = pages()
    stale = sorted(name for name in {*written, *on_disk} if written.get(name) != on_disk.get(name))
    assert stale == [], "write them with: make docs"


@pytest.mark.parametrize("module", _MODULES)
def test_every_public_name_has_a_heading_and_the_index_leads_to_it(module: str) -> None:
    headings = (FOLDER / f"{module}.md").read_text(encoding="utf-8").splitlines()
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    names = public_names(module)
    assert [name for name in names if f"## {name}" not in headings] == []
    assert [name for name in names if f"[`{name}`]({module}.md#{name.lower()})" not in index] == []


def test_what_the_documentation_imports_is_public() -> None:
    assert [place for place, module, name in _imported() if name not in _offered(module)] == []


def _imported() -> Iterator[tuple[str, str, str]]:
    """Every name of Legato that a block of Python imports, with the place of the block."""
    for page in run_pages():
        for block in blocks_of(page):
            if block.language != "python" or block.exempt is not None:
                continue
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "legato":
                    module = node.module or ""
                    for alias in node.names:
                        yield f"{block.place}: from {module} import {alias.name}", module, alias.name


def _offered(module: str) -> set[str]:
    if module not in _MODULES:
        return set()
    below = {name.removeprefix(f"{module}.") for name in _MODULES if name.startswith(f"{module}.")}
    return {*public_names(module), *below}


@pytest.mark.parametrize("module", _MODULES)
def test_every_name_that_is_offered_is_there(module: str) -> None:
    loaded = import_module(module)
    assert [name for name in public_names(module) if not hasattr(loaded, name)] == []


def test_every_exception_is_public() -> None:
    defined = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert defined == set(errors.__all__)
