"""Write docs/reference/: every public name with its signature, what it is for, and what it holds.

In:  the public modules (`public_names.py`) and their sources (`source_reading.py`).
Out: a Markdown page for each module and an index, the same on every run; with `--check`, exit status 1 if the pages on
disk differ.

A name that several modules offer is described once, on the page of the one that is nearest to its definition.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.public_names import owner_of, public_modules, public_names  # noqa: E402
from scripts.source_reading import (  # noqa: E402
    WIDTH,
    Described,
    class_line,
    constant,
    described_attributes,
    fields,
    returned,
    signatures,
)

FOLDER = ROOT / "docs" / "reference"
LONGEST = 3 * WIDTH
"""of a constant that is shown whole"""
_MADE = "Written by `make docs` from the docstrings; do not edit by hand."


def pages() -> dict[str, str]:
    """The text of every page, by the name of its file."""
    offered = {
        module: {name: getattr(import_module(module), name) for name in public_names(module)}
        for module in public_modules()
    }
    offering: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for module, names in offered.items():
        for name, value in names.items():
            offering[name, id(value)].append(module)

    def owner(name: str, value: object) -> str:
        return owner_of(value, offering[name, id(value)])

    written = {"README.md": _index(offered)}
    for module, names in offered.items():
        written[f"{module}.md"] = _page(module, {name: (value, owner(name, value)) for name, value in names.items()})
    return written


def _index(offered: dict[str, dict[str, Any]]) -> str:
    lines = [
        "# Reference",
        "",
        _MADE,
        "",
        "What is listed here is public, and kept as [versions](../versioning.md) says.",
    ]
    for module, names in offered.items():
        lines += ["", f"**[`{module}`]({module}.md)**: {_summary(import_module(module))}", ""]
        lines.append(", ".join(f"[`{name}`]({module}.md#{_anchor(name)})" for name in names))
    return "\n".join(lines) + "\n"


def _page(module: str, names: dict[str, tuple[Any, str]]) -> str:
    lines = [f"# {module}", "", _MADE, *_paragraphs(inspect.getdoc(import_module(module)))]
    for name, (value, owner) in names.items():
        lines += ["", f"## {name}", ""]
        if owner != module:
            lines.append(f"[`{owner}.{name}`]({owner}.md#{_anchor(name)}): {_summary(value)}")
        elif inspect.isclass(value):
            lines += _class(value)
        elif inspect.isfunction(function := inspect.unwrap(value) if callable(value) else value):
            lines += [*_fenced(signatures(function)), *_paragraphs(inspect.getdoc(function))]
        else:
            lines += _constant(constant(module, name), f"{name} = {value!r}")
    return "\n".join(lines) + "\n"


def _class(kind: type) -> list[str]:
    held = fields(kind)
    constructor = vars(kind).get("__init__")
    heading = [class_line(kind)]
    if inspect.isfunction(constructor) and constructor.__code__.co_filename == inspect.getfile(
        kind
    ):  # not a generated one
        heading += [textwrap.indent(one, "    ") for one in signatures(constructor)]
        held += described_attributes(kind)
    lines = _fenced(
        [*heading, *(textwrap.indent(one.line, "    ") for one in held if not one.name.startswith("self."))]
    )
    lines += _paragraphs(vars(kind).get("__doc__"))
    told = [f"- `{one.name.removeprefix('self.')}`: {one.text}" for one in held if one.text]
    lines += ["", *told] if told else []
    return [*lines, *(line for name, member in vars(kind).items() for line in _member(kind, name, member))]


def _member(kind: type, name: str, member: Any) -> Iterator[str]:
    """A public method or property."""
    match member:
        case property(fget=function) | cached_property(func=function):
            shown = [f"{name}: {returned(function)}"] if not name.startswith("_") else []
        case classmethod(__func__=function) | staticmethod(__func__=function):
            shown = [f"@{type(member).__name__}", *signatures(function)] if not name.startswith("_") else []
        case function:
            is_method = inspect.isfunction(function) and not name.startswith("_")
            shown = signatures(function) if is_method else []
    if shown and (text := inspect.getdoc(function)):
        yield from ("", f"### {kind.__name__}.{name}", "", *_fenced(shown), *_paragraphs(text))


def _constant(found: Described | None, otherwise: str) -> list[str]:
    text = found.line if found is not None else otherwise
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    lines = textwrap.wrap(shown, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return [*_fenced(lines), *_paragraphs(found.text if found is not None else "")]


def _fenced(lines: list[str]) -> list[str]:
    return ["```text", *lines, "```"]


def _paragraphs(text: str | None) -> list[str]:
    return ["", inspect.cleandoc(text)] if text and text.strip() else []


def _summary(value: Any) -> str:
    """The first paragraph of what describes `value`, in one line."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def _anchor(name: str) -> str:
    return name.lower()


def main() -> int:
    """Write the pages, or say whether they are up to date."""
    parser = argparse.ArgumentParser(description="Write docs/reference/ from the docstrings.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    options = parser.parse_args()
    written = pages()
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if options.check:
        stale = sorted(name for name in {*written, *on_disk} if written.get(name) != on_disk.get(name))
        if stale:
            print(f"out of date in docs/reference: {', '.join(stale)}; write them with: make docs", file=sys.stderr)
        return int(bool(stale))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in on_disk.keys() - written.keys():
        (FOLDER / name).unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(written)} pages in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
