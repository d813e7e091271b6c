"""How public things are written in their sources: signatures, fields, and the strings that describe them.

In:  functions, classes and names of constants.
Out: text. Types and defaults show as they were written, which `inspect` cannot give for postponed annotations.
"""

from __future__ import annotations

import ast
import enum
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

WIDTH = 100
"""of a signature that stays on one line"""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Described(NamedTuple):
    """One field, member of an enum or constant: its name, the line that defines it, and the string below that line."""

    name: str
    line: str
    text: str


# --- functions --------------------------------------------------------------------------------------------------------


def signatures(function: Any) -> list[str]:
    """How `function` is called; for one with overloads, each of them."""
    node = _function_node(function)
    overloads = [
        other
        for other in ast.walk(_tree(function.__module__))
        if isinstance(other, Function)
        and other.name == node.name
        and any(ast.unparse(mark) == "overload" for mark in other.decorator_list)
    ]
    return [_signature(one) for one in overloads or [node]]


def returned(function: Any) -> str:
    """The type that `function` returns, as it is written."""
    returns = _function_node(function).returns
    return ast.unparse(returns) if returns is not None else ""


def _signature(node: Function) -> str:
    arguments = list(_arguments(node.args))
    if arguments and arguments[0] in ("self", "cls"):
        del arguments[0]
    start = f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}def {node.name}("
    end = f") -> {ast.unparse(node.returns)}" if node.returns is not None else ")"
    line = start + ", ".join(arguments) + end
    return line if len(line) <= WIDTH else "\n".join([start, *(f"    {part}," for part in arguments), end])


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    """Each argument as it is written, with the marks between them."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True), 1):
        yield _argument(argument, default)
        if number == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg is not None:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default)
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) if default is None else f"{ast.unparse(argument)} = {ast.unparse(default)}"


# --- classes and constants --------------------------------------------------------------------------------------------


def class_line(kind: type) -> str:
    """The class and its bases, without those that are nobody's business."""
    bases = [text for base in _class_node(kind).bases if not (text := ast.unparse(base)).startswith("_")]
    return f"class {kind.__name__}({', '.join(bases)})" if bases else f"class {kind.__name__}"


def fields(kind: type) -> list[Described]:
    """What an object of this class holds: its own fields, after those of private bases; the members of an enum."""
    found: list[Described] = []
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("legato") and (base is kind or base.__name__.startswith("_")):
            is_enum = issubclass(base, enum.Enum)
            found += [one for one, has_type in _assigned(_class_node(base).body) if has_type or is_enum]
    return [one for one in found if not one.name.startswith("_")]


def described_attributes(kind: type) -> list[Described]:
    """The public attributes that the constructor sets and describes."""
    written = [node for node in _class_node(kind).body if isinstance(node, Function) and node.name == "__init__"]
    found = [one for constructor in written for one, _ in _assigned(constructor.body)]
    return [one for one in found if one.text and one.name.startswith("self.") and not one.name.startswith("self._")]


def constant(module: str, name: str) -> Described | None:
    """A constant or an alias of a type, where it is defined; None if it is found in no source."""
    waiting, seen = [module], set[str]()
    while waiting:
        current = waiting.pop()
        seen.add(current)
        tree = _tree(current)
        for one, _ in _assigned(tree.body):
            if one.name == name:
                return one
        imported = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        sources = {node.module or "" for node in imported if any(alias.name == name for alias in node.names)}
        waiting += sorted(source for source in sources - seen if source.startswith("legato"))
    return None


def _assigned(body: Sequence[ast.stmt]) -> Iterator[tuple[Described, bool]]:
    """What `body` assigns, each with whether its type is written there."""
    for statement, following in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                described = Described(ast.unparse(target), ast.unparse(statement), _string(following))
                yield described, isinstance(statement, ast.AnnAssign)
            case _:
                continue


def _string(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return " ".join(text.split())
        case _:
            return ""


# --- sources ----------------------------------------------------------------------------------------------------------


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))


def _class_node(kind: type) -> ast.ClassDef:
    nodes = (node for node in ast.walk(_tree(kind.__module__)) if isinstance(node, ast.ClassDef))
    return next(node for node in nodes if node.name == kind.__name__)


def _function_node(function: Any) -> Function:
    [node] = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(node, Function)
    return node
