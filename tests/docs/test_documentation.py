"""The documentation says what is true: its blocks run, its outputs are real, its links lead somewhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FunctionType, MappingProxyType

import pytest
from anyio.from_thread import start_blocking_portal

import legato
from documentation_support import (
    ROOT,
    RUN,
    SHOWN,
    Block,
    anchors_of,
    blocks_of,
    clean_environment,
    links_of,
    name_of,
    pages,
    run_page,
    run_pages,
    write_outputs,
)
from legato.simulation import SimulatedWorld, base_urls, serve

_SHORTENED = re.compile(r"^… shortened: [\d,]+ characters$", re.MULTILINE)
"""the generated page of rules shows the beginning of bodies that are long"""

MOST_EXEMPT = 8
"""blocks that may stay unrun in all pages together; each has its reason beside it"""


@pytest.fixture(scope="module")
def simulated() -> Iterator[tuple[SimulatedWorld, dict[str, str]]]:
    """Every provider on a port of this machine, and the variables that lead the official clients there."""
    world = SimulatedWorld(needs_keys=True)
    with start_blocking_portal() as portal:
        served, port = portal.start_task(partial(serve, "127.0.0.1", 0, world=world))
        urls = base_urls("127.0.0.1", port)
        yield (
            world,
            {
                "ANTHROPIC_BASE_URL": urls["anthropic"],
                "ANTHROPIC_API_KEY": "not-a-key",
                "OPENAI_BASE_URL": urls["openai"],
                "OPENAI_API_KEY": "not-a-key",
                "GOOGLE_GEMINI_BASE_URL": urls["gemini"].removesuffix("/v1beta"),
                "GEMINI_API_KEY": "not-a-key",
                "MISTRAL_BASE_URL": urls["mistral"],
                "MISTRAL_API_KEY": "not-a-key",
            },
        )
        served.cancel()


def _all_blocks() -> list[Block]:
    return [block for page in run_pages() for block in blocks_of(page)]


@pytest.mark.parametrize("page", run_pages(), ids=name_of)
def test_every_block_of_the_page_runs_and_prints_what_the_page_says(
    page: Path, simulated: tuple[SimulatedWorld, dict[str, str]], tmp_path: Path
) -> None:
    world, variables = simulated
    refused_before = len(world.refusals)
    folder = tmp_path / "work"
    folder.mkdir()
    results = run_page(page, folder=folder, environment=clean_environment(tmp_path) | variables)
    for ran in results:
        assert not ran.failure, f"{ran.block.place} failed:\n{ran.failure}"
    assert [seen.refusal for seen in world.refusals[refused_before:]] == []
    if os.environ.get("LEGATO_GOLDEN") == "write":
        write_outputs(page, results)
        return
    printed = {ran.block.line: ran.output.rstrip() for ran in results}
    blocks = blocks_of(page)
    shown = {
        before.line: block.text.rstrip() for before, block in pairwise(blocks) if block.is_output and before.is_run
    }
    assert {line: printed[line] for line in shown} == shown


@pytest.mark.parametrize("page", run_pages(), ids=name_of)
def test_a_block_that_shows_output_follows_one_that_is_run(page: Path) -> None:
    blocks = blocks_of(page)
    outputs = [(before, block) for before, block in zip([None, *blocks], blocks, strict=False) if block.is_output]
    assert [block.place for before, block in outputs if before is None or not before.is_run] == []


def test_every_block_says_what_it_is() -> None:
    unknown = [f"{block.place}: {block.language}" for block in _all_blocks() if block.language not in (*RUN, *SHOWN)]
    assert unknown == [], "write `sh` for commands and `python` for code, so that they are run"


def test_blocks_of_json_and_toml_can_be_read() -> None:
    readers = {"json": json.loads, "toml": tomllib.loads}
    for block in _all_blocks():
        if block.language in readers and block.exempt is None and not _SHORTENED.search(block.text):
            try:
                readers[block.language](block.text)
            except ValueError as error:
                pytest.fail(f"{block.place}: {error}")


def test_few_blocks_are_exempt_and_each_says_why() -> None:
    exempt = {block.place: block.exempt for block in _all_blocks() if block.language in RUN and not block.is_run}
    assert len(exempt) <= MOST_EXEMPT, f"these are not run: {exempt}"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_link_of_the_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken: list[str] = []
    for place, target in links_of(page):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.is_relative_to(ROOT) or not found.exists():
            broken.append(f"{place}: there is no {target}")
        elif anchor and found.suffix == ".md" and anchor not in anchors_of(found):
            broken.append(f"{place}: {path or name_of(page)} has no heading #{anchor}")
    assert broken == []


_MACHINE = re.compile(
    r"/root\b|/tmp/[a-z]|--(?:extra-)?index-url|https?://\S+/simple\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_page_names_no_machine_and_no_package_host(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = [match[0] for match in _MACHINE.finditer(text)]
    own = [place for place in (str(ROOT), str(Path.home())) if len(place) > 1 and _stands_in(place, text)]
    assert found + own == []


def _stands_in(place: str, text: str) -> bool:
    """Whether `text` names the folder `place`, and not only something that ends like it, as `legato/src` for `/src`."""
    return re.search(rf"(?<![\w./-]){re.escape(place)}(?![\w-])", text) is not None


def test_the_index_lists_every_page_of_the_documentation() -> None:
    linked = {target.partition("#")[0] for _, target in links_of(ROOT / "docs" / "README.md")}
    missing = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in linked]
    assert [name for name in missing if name != "README.md"] == []


# --- docstrings -------------------------------------------------------------------------------------------------------

_PACKAGES = (
    "legato",
    "legato.diagnostics",
    "legato.formats",
    "legato.ledger",
    "legato.model",
    "legato.request",
    "legato.routing",
    "legato.session",
    "legato.simulation",
    "legato.store",
    "legato.tools",
    "legato.transcript",
    "legato.transport",
)


def _undocumented(package: str) -> Iterator[str]:
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, FunctionType) and not inspect.getdoc(value):
            yield f"{package}.{name}"
        elif inspect.isclass(value) and value.__module__.startswith("legato"):
            if not (value.__dict__.get("__doc__") or "").strip():
                yield f"{package}.{name}"
            yield from (f"{package}.{name}.{member}" for member in _undocumented_members(value))


def _undocumented_members(kind: type) -> Iterator[str]:
    members: MappingProxyType[str, object] = vars(kind)
    for name, member in members.items():
        if name.startswith("_"):
            continue
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(function, FunctionType | property) and not (function.__doc__ or "").strip():
            yield name


@pytest.mark.parametrize("package", _PACKAGES)
def test_everything_public_says_what_it_is_for(package: str) -> None:
    assert list(_undocumented(package)) == []


def test_the_lazy_names_of_the_package_are_those_that_type_checkers_see() -> None:
    tree = ast.parse(Path(legato.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(seen | {"__version__"}) == sorted(legato.__all__)
