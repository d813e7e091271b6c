"""What is public: the packages that say so with `__all__`, and the modules that users import by themselves.

In:  the installed package.
Out: names of modules, and for each the names that it offers.

`scripts/reference_doc.py` writes a page for each module; tests hold the names to their rules. Whatever is not named
here may change in any release.
"""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

import legato

PRIVATE = frozenset({"legato.cli"})
"""the command line is used as a program; its modules are no interface"""

MODULES: dict[str, tuple[str, ...]] = {
    "legato.errors": (),
    "legato.model.codec": (),
    "legato.model.records": (),
    "legato.session.events": (),
    "legato.session.summary": (),
    "legato.store.conformance": ("Check", "MakeStore", "NotConforming", "run_conformance"),
    "legato.store.memory": ("MemoryStore", "Shelf"),
    "legato.tools.rules": (),
}
"""modules that are public beside the packages, with what they offer: what is named, else every class and function that
they define"""


def public_modules() -> list[str]:
    """Every public package and module, in the order of their names."""
    return sorted({legato.__name__, *_packages(legato), *MODULES})


def _packages(parent: ModuleType) -> list[str]:
    """The packages below `parent` that have an `__all__`; one without hides all that is below it."""
    found: list[str] = []
    for info in pkgutil.iter_modules(parent.__path__, f"{parent.__name__}."):
        if not info.ispkg or info.name in PRIVATE:
            continue
        package = import_module(info.name)
        if hasattr(package, "__all__"):
            found += [info.name, *_packages(package)]
    return found


def public_names(module: str) -> list[str]:
    """What `module` offers, sorted."""
    loaded = import_module(module)
    named = MODULES.get(module) or getattr(loaded, "__all__", None)
    return sorted(named or _defined(loaded))


def _defined(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def owner_of(value: object, modules: list[str]) -> str:
    """The module among `modules`, all of which offer `value`, that describes it: the nearest to where it is defined."""
    home = getattr(value, "__module__", None) or ""
    around = [module for module in modules if home == module or home.startswith(f"{module}.")]
    return max(around, key=len) if around else modules[-1]
