"""The rules and checks that the modules of a dialect declare as constants, found by loading every one of them."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import legato.wire
from legato.model import Dialect
from legato.wire.openai_chat import rules as chat_rules
from legato.wire.openai_chat.rules.checks import HostCheck
from legato.wire.rules import WireRule


def rule_modules(dialect: Dialect) -> list[ModuleType]:
    """Every module with checks of `dialect`, and those that all dialects share."""
    rules = import_module(f"legato.wire.{dialect}.rules")
    own = [f"{rules.__name__}.{found.name}" for found in pkgutil.iter_modules(rules.__path__)]
    shared = [
        f"legato.wire.{found.name}"
        for found in pkgutil.iter_modules(legato.wire.__path__)
        if found.name.startswith("judging")
    ]
    return [import_module(name) for name in own + shared]


def rule_constants(dialect: Dialect) -> Iterator[WireRule]:
    """Every rule that a check of `dialect` can name."""
    for module in rule_modules(dialect):
        for constant in vars(module).values():
            for member in constant if isinstance(constant, tuple) else (constant,):
                if isinstance(member, WireRule):
                    yield member


HOST_CHECKS: dict[str, HostCheck] = {
    constant.name: constant
    for module in rule_modules(Dialect.OPENAI_CHAT)
    if module.__name__.startswith(chat_rules.__name__)
    for constant in vars(module).values()
    if isinstance(constant, HostCheck)
}
"""the checks that hosts may have rules of their own for"""
