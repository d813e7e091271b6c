"""A name means one thing: no class has a namesake, and no module hides behind a function of its name."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import legato
from scripts.public_names import public_modules, public_names

_SOURCE = Path(legato.__file__).parent


def test_a_public_name_means_one_thing_wherever_it_is_offered() -> None:
    meanings: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for module in public_modules():
        loaded = importlib.import_module(module)
        for name in public_names(module):
            meanings[name].setdefault(id(getattr(loaded, name)), module)
    assert {name: sorted(found.values()) for name, found in meanings.items() if len(found) > 1} == {}


def test_no_two_files_define_a_class_of_one_name() -> None:
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted(_SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(_role(path.relative_to(_SOURCE)))
    assert {name: sorted(found) for name, found in homes.items() if len(found) > 1} == {}


def _role(path: Path) -> str:
    """The file, or for one of a dialect its part: every dialect has the same parts under the same names."""
    parts = path.with_suffix("").parts
    if parts[0] == "wire" and len(parts) > 2 and (_SOURCE / "wire" / parts[1] / "rules" / "__init__.py").exists():
        return f"wire/<dialect>/{parts[2]}"
    return "/".join(parts)


def test_no_package_has_a_module_and_another_thing_of_one_name() -> None:
    hidden = {name for package in _packages(legato) for name in _hidden_in(package)}
    assert hidden == set()


def _packages(parent: ModuleType) -> Iterator[ModuleType]:
    yield parent
    for info in pkgutil.iter_modules(parent.__path__, f"{parent.__name__}."):
        if info.ispkg:
            yield from _packages(importlib.import_module(info.name))


def _hidden_in(package: ModuleType) -> Iterator[str]:
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if getattr(package, info.name) is not module:
            yield module.__name__
