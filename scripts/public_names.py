"""What is public: the modules that say so with `__all__`.

In:  the installed package.
Out: names of modules, and for each the names that it offers.

A package without `__all__` hides all that is below it, and `legato.cli` is used as a program.
`scripts/reference_doc.py` writes a page for each public module; tests hold the names to their rules. Whatever is not
named here may change in any release.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType

import legato

PRIVATE = frozenset({"legato.cli", "legato.formats.fields", "legato.formats.registry", "legato.transcript.units"})
"""the program, and modules whose `__all__` only hands on to their own package what they import"""


def public_modules() -> list[str]:
    """Every public package and module, in the order of their names."""
    return sorted([legato.__name__, *_below(legato)])


def _below(package: ModuleType) -> list[str]:
    found: list[str] = []
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if info.name in PRIVATE or info.name.endswith("__main__"):
            continue
        module = import_module(info.name)
        if hasattr(module, "__all__"):
            found += [info.name, *(_below(module) if info.ispkg else ())]
    return found


def public_names(module: str) -> list[str]:
    """What `module` offers, sorted."""
    return sorted(import_module(module).__all__)


def owner_of(value: object, modules: list[str]) -> str:
    """The module among `modules`, all of which offer `value`, that describes it: the nearest to where it is defined."""
    home = getattr(value, "__module__", None) or ""
    around = [module for module in modules if home == module or home.startswith(f"{module}.")]
    return max(around, key=len) if around else modules[-1]
