"""Which rules the checks of a dialect can report, found by reading their source.

A check reports with `found.refuse(rule, path, message)` or `found.risk(...)`. The rule is nearly always written there.
Where it is a name, all that is ever bound to that name counts: assigned, given as a default, passed as an argument.
That may be more than can happen, never less.

Checks of the chat family that hosts have rules of their own for report with `report(found, check, ...)` or
`self._report(check, ...)`: what they report is in the table of checks, and in the declarations of the hosts.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import legato.wire
from legato.model import Dialect
from legato.wire.findings import Severity
from legato.wire.hosting import HostRule
from legato.wire.hosts import all_hosts
from legato.wire.openai_chat.rules.checks import CHECKS

_WIRE = Path(legato.wire.__file__).parent
_METHODS = {"refuse": Severity.REFUSED, "risk": Severity.RISKY}
_BY_CHECK = {"report": 1, "_report": 0}
"""methods that take the name of a check, and as which argument"""


class Emission(NamedTuple):
    """One call that reports. No rules: nothing is known about what it reports."""

    place: str
    is_shared: bool
    severity: Severity
    rules: frozenset[str]


def emissions(dialect: Dialect) -> list[Emission]:
    """Every call in the checks of `dialect`, and in what all dialects share, that reports a rule."""
    own = [*(_WIRE / dialect.value).glob("rules/*.py"), *(_WIRE / dialect.value).glob("rules.py")]
    own = [path for path in own if path.name != "checks.py"]  # which looks up what the others report
    shared = list(_WIRE.glob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in own + shared}
    names = _Names(trees.values())
    direct = [
        Emission(f"{path.relative_to(_WIRE)}:{call.lineno}", path in shared, severity, frozenset(names.texts(rule)))
        for path, tree in trees.items()
        for call, severity, rule in _reports(tree)
    ]
    return (
        direct
        + [
            Emission(f"{path.relative_to(_WIRE)}:{call.lineno}", False, severity, frozenset({rule}))
            for path in own
            for call, check in _checks(trees[path])
            for rule, severity in _rules_of(check)
        ]
        + [
            Emission(f"hosts/{host.name}.py", False, _severity(rule), frozenset({f"{host.name}/{rule.id}"}))
            for host in (all_hosts() if dialect is Dialect.OPENAI_CHAT else ())
            for rule in host.rules
            if rule.in_message or rule.in_head
        ]
    )


def _severity(rule: HostRule) -> Severity:
    return Severity.RISKY if rule.is_risky else Severity.REFUSED


def _checks(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Every call that reports what a check found, with the name of the check."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _BY_CHECK:
            named = node.args[_BY_CHECK[node.func.attr]]
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield node, named.value


def _rules_of(check: str) -> Iterator[tuple[str, Severity]]:
    yield CHECKS[check]
    for host in all_hosts():
        for rule in host.rules:
            if rule.check == check:
                yield f"{host.name}/{rule.id}", _severity(rule)


def _reports(tree: ast.Module) -> Iterator[tuple[ast.Call, Severity, ast.expr]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _METHODS
            and node.args
        ):
            yield node, _METHODS[node.func.attr], node.args[0]


class _Names:
    """What is bound to each name: to a parameter by calls of its function, to all others by assignments and keywords."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self._bound: dict[str, list[ast.expr]] = defaultdict(list)
        self._owners: dict[ast.expr, str] = {}
        """for a name that is a parameter, `function.parameter`"""
        nodes = [node for tree in trees for node in ast.walk(tree)]
        parameters: dict[str, list[list[str]]] = defaultdict(list)
        for function, called in _functions(nodes):
            names = [argument.arg for argument in function.args.args]
            parameters[called].append(names[1:] if names[:1] == ["self"] else names)
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id in names:
                    self._owners[node] = f"{called}.{node.id}"
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._bind(node.target, node.value)
            elif isinstance(node, ast.Call):
                self._bind_arguments(node, parameters)

    def texts(self, value: ast.expr, seen: frozenset[str] = frozenset()) -> set[str]:
        """The texts that `value` may be."""
        match value:
            case ast.Constant(value=str(text)):
                return {text} - {""}
            case ast.JoinedStr(values=parts):
                joined = {""}
                for part in parts:
                    found = self.texts(part.value if isinstance(part, ast.FormattedValue) else part, seen)
                    joined = {before + after for before in joined for after in found}
                return joined
            case ast.IfExp(body=first, orelse=second):
                return self.texts(first, seen) | self.texts(second, seen)
            case ast.Name() | ast.Attribute():
                name = self._owners.get(value) or _name(value)
                values = [] if name in seen else self._bound[name]
                return {text for bound in values for text in self.texts(bound, seen | {name})}
            case _:
                return set()

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=True):
                self._bind(one, its)
        elif isinstance(target, ast.Name | ast.Attribute):
            self._bound[_name(target)].append(value)

    def _bind_arguments(self, call: ast.Call, parameters: dict[str, list[list[str]]]) -> None:
        called = _name(call.func) if isinstance(call.func, ast.Name | ast.Attribute) else ""
        for keyword in call.keywords:
            if keyword.arg is not None:
                self._bound[keyword.arg].append(keyword.value)
                self._bound[f"{called}.{keyword.arg}"].append(keyword.value)
        for names in parameters[called]:
            for name, value in zip(names, call.args, strict=False):
                self._bound[f"{called}.{name}"].append(value)


def _functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Every function with the name it is called by: that of the class, for a constructor."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                    yield member, node.name
        elif isinstance(node, ast.FunctionDef) and node.name != "__init__":
            yield node, node.name


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
