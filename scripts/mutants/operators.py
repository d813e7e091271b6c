"""Every small change that can be made to a file without knowing what it is for.

In:  the text of a Python file.
Out: `Change` values: which lines of it, what stands there, what to put there, and that in words.

Only what runs inside a function is changed. Annotations, docstrings, texts and assertions stay as they are: they say
nothing that a test of behaviour could notice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_UNSEEN = frozenset({"__repr__", "__str__", "__hash__"})


@dataclass(frozen=True)
class Change:
    """One change. `find` begins at character `at`, on `line`, and what it belongs to ends on `last`."""

    at: int
    line: int
    last: int
    find: str
    put: str
    what: str


class _Text:
    """The text of a file, by the positions that `ast` gives: lines from 1, columns in bytes."""

    def __init__(self, text: str) -> None:
        self._lines = [f"{line}\n".encode() for line in text.split("\n")]
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, node: ast.expr | ast.stmt) -> int:
        """Where `node` begins, in characters."""
        return self._starts[node.lineno - 1] + len(self.between((node.lineno, 0), (node.lineno, node.col_offset)))

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of `node`."""
        end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.between((node.lineno, node.col_offset), end)

    def between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text from `start` to `end`, each a line and a column."""
        if start[0] == end[0]:
            return self._lines[start[0] - 1][start[1] : end[1]].decode()
        first = self._lines[start[0] - 1][start[1] :]
        return b"".join([first, *self._lines[start[0] : end[0] - 1], self._lines[end[0] - 1][: end[1]]]).decode()


def changes(text: str) -> list[Change]:
    """Every change that can be made to `text`, each of which still parses."""
    source = _Text(text)
    found: list[Change] = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, _FUNCTIONS) and function.name not in _UNSEEN:
            for statement in function.body:
                found += _in_statement(statement, source)
    return [change for change in dict.fromkeys(found) if change.find != change.put]


def _in_statement(statement: ast.stmt, source: _Text) -> Iterator[Change]:
    """The changes in one statement and what is inside it; a function inside a function is met by itself."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef, ast.Assert, ast.Raise, ast.Import, ast.ImportFrom)):
        return
    yield from _whole(statement, source)
    for field, value in ast.iter_fields(statement):
        if field == "annotation":
            continue
        for part in value if isinstance(value, list) else [value]:
            yield from _in_part(part, source)


def _in_part(part: object, source: _Text) -> Iterator[Change]:
    if isinstance(part, ast.stmt):
        yield from _in_statement(part, source)
    elif isinstance(part, ast.expr):
        for node in ast.walk(part):
            if isinstance(node, ast.expr):
                yield from _in_expression(node, source)
    elif isinstance(part, ast.AST):  # a handler, a case, an item of `with`
        for child in ast.iter_child_nodes(part):
            yield from _in_part(child, source)


def _whole(statement: ast.stmt, source: _Text) -> Iterator[Change]:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            return
        case ast.Expr():
            yield _change(statement, source, "pass", "removed")
        case ast.AugAssign() | ast.Delete():
            yield _change(statement, source, "pass", "removed")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _change(statement, source, "pass", "removed")
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield _change(statement, source, "return None", "returns None")
        case ast.Continue():
            yield _change(statement, source, "break", "break for continue")
        case ast.Break():
            yield _change(statement, source, "continue", "continue for break")
        case ast.If(test=test) | ast.While(test=test):
            condition = source.of(test)
            if not isinstance(test, ast.NamedExpr):
                yield _change(test, source, f"not ({condition})", "negated")
        case _:
            return


def _in_expression(node: ast.expr, source: _Text) -> Iterator[Change]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            flipped = _COMPARISONS[type(operator)]
            yield _change(node, source, f"{source.of(left)} {flipped} {source.of(right)}", "comparison flipped")
        case ast.BoolOp(op=operator, values=values):
            word = " or " if isinstance(operator, ast.And) else " and "
            put = word.join(f"({source.of(value)})" for value in values)
            yield _change(node, source, put, f"{word.strip()} for {'and' if word == ' or ' else 'or'}")
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _change(node, source, f"({source.of(operand)})", "not removed")
        case ast.Constant(value=bool() as value):
            yield _change(node, source, str(not value), f"{not value} for {value}")
        case ast.Constant(value=int() as value):
            yield _change(node, source, f"({value + 1})", f"{value + 1} for {value}")
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right) if not _is_text(left, right):
            sign = "-" if isinstance(operator, ast.Add) else "+"
            yield _change(node, source, f"{source.of(left)} {sign} {source.of(right)}", f"{sign} for its opposite")
        case ast.IfExp(test=test, body=body, orelse=orelse):
            put = f"{source.of(body)} if not ({source.of(test)}) else {source.of(orelse)}"
            yield _change(node, source, put, "negated")
        case _:
            return


def _change(node: ast.expr | ast.stmt, source: _Text, put: str, what: str) -> Change:
    return Change(source.at(node), node.lineno, node.end_lineno or node.lineno, source.of(node), put, what)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_text(*sides: ast.expr) -> bool:
    """Whether one side is surely no number, so that a minus would only raise."""
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in sides
    )
