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

# Names that still mean two things. Whoever renames one takes it out of here; nothing is added.
_KNOWN_NAMES = {"Fault", "Note", "lint", "Said", "StepEnded", "TurnEnded", "Verdict", "default_path"}
_KNOWN_CLASSES = {
    "Answer",
    "Call",
    "Check",
    "Compaction",
    "Content",
    "Draft",
    "Family",
    "Fault",
    "Foreign",
    "Found",
    "Gate",
    "Grant",
    "Head",
    "Item",
    "Key",
    "Kind",
    "LineReader",
    "MessageJudge",
    "Mode",
    "Names",
    "Note",
    "OutputFormat",
    "Profile",
    "Question",
    "Readable",
    "Refusal",
    "RouteLost",
    "Rule",
    "Said",
    "Seen",
    "Step",
    "StepEnded",
    "Style",
    "TextPart",
    "TurnEnded",
    "Writer",
}


def test_a_public_name_means_one_thing_wherever_it_is_offered() -> None:
    meanings: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for module in public_modules():
        loaded = importlib.import_module(module)
        for name in public_names(module):
            meanings[name].setdefault(id(getattr(loaded, name)), module)
    ambiguous = {name: sorted(found.values()) for name, found in meanings.items() if len(found) > 1}
    assert {name: found for name, found in ambiguous.items() if name not in _KNOWN_NAMES} == {}
    assert ambiguous.keys() >= _KNOWN_NAMES, "these are settled: take them out of the list"


def test_no_two_files_define_a_class_of_one_name() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(_SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(_role(path.relative_to(_SOURCE)))
    ambiguous = {name: sorted(set(found)) for name, found in homes.items() if len(set(found)) > 1}
    assert {name: found for name, found in ambiguous.items() if name not in _KNOWN_CLASSES} == {}
    assert ambiguous.keys() >= _KNOWN_CLASSES, "these are settled: take them out of the list"


def _role(path: Path) -> str:
    """The file, or for one of a dialect its part: every dialect has the same parts under the same names."""
    parts = path.with_suffix("").parts
    if parts[0] == "wire" and len(parts) > 2 and (_SOURCE / "wire" / parts[1] / "rule_texts.py").exists():
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
