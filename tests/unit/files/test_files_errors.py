"""What no function of legato.files can work with: the same typed errors from each, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import legato.files
from file_samples import OPEN_BODY, chat_body, save
from legato.errors import FormatError, SeveralConversations, UnknownTarget
from legato.files import convert, convert_all, inspect, lint, page, repair

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lint": lint,
    "repair": repair,
    "convert": lambda source, **options: convert(source, "gemini", **options),
    "convert_all": lambda source, **options: convert_all(source, "gemini", **options),
    "inspect": inspect,
    "page": page,
}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@every_function
def test_a_missing_file_is_named(function: Callable[..., Any], tmp_path: Path):
    with pytest.raises(FormatError, match=r"missing\.json: cannot be read: no such file or directory"):
        function(tmp_path / "missing.json")


@every_function
def test_a_folder_is_no_file(function: Callable[..., Any], tmp_path: Path):
    with pytest.raises(FormatError, match="this is a directory; name a file in it"):
        function(tmp_path)


@every_function
def test_what_is_no_json_is_refused(function: Callable[..., Any], tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("buy milk")
    with pytest.raises(FormatError, match=r"notes\.txt: unknown format: this is neither JSON nor lines of JSON"):
        function(path)


@every_function
def test_json_that_is_no_conversation_is_refused(function: Callable[..., Any]):
    with pytest.raises(
        FormatError, match="invoice: unknown format: this is JSON, but not of a kind that Legato recognises"
    ):
        function(b'{"total": 12}', name="invoice")


@every_function
def test_json_that_breaks_off_before_it_tells_its_format_is_said_to(function: Callable[..., Any]):
    with pytest.raises(
        FormatError, match="unknown format: the JSON breaks off before its end, after 5 bytes, and what is there"
    ):
        function(b'{"a":')


@every_function
def test_an_empty_file_is_refused(function: Callable[..., Any]):
    with pytest.raises(FormatError, match="the file is empty"):
        function(b"")


@every_function
def test_a_format_that_does_not_exist_is_refused_with_a_near_one(function: Callable[..., Any], tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)
    with pytest.raises(FormatError, match="there is no format 'claud-code'; did you mean 'claude-code'"):
        function(path, format="claud-code")


@pytest.mark.parametrize(
    "call",
    [
        lambda path: lint(path, targets=["anthropc"]),
        lambda path: convert(path, "anthropc"),
        lambda path: convert_all(path, "anthropc"),
        lambda path: inspect(path, target="anthropc"),
        lambda path: page(path, target="anthropc"),
    ],
    ids=["lint", "convert", "convert_all", "inspect", "page"],
)
def test_a_target_that_names_nothing_is_refused_before_the_file_is_read(call: Callable[..., Any], tmp_path: Path):
    with pytest.raises(UnknownTarget, match="there is no target 'anthropc'; did you mean 'anthropic'"):
        call(tmp_path / "missing.json")


@pytest.mark.parametrize("name", ["repair", "convert", "inspect", "page"])
def test_one_of_several_conversations_has_to_be_picked(name: str, tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])
    with pytest.raises(SeveralConversations, match="this file holds 2 conversations; ") as caught:
        FUNCTIONS[name](path)
    assert caught.value.conversations == 2


@pytest.mark.parametrize("name", ["convert", "inspect", "page"])
@pytest.mark.parametrize("number", [0, -1, 3])
def test_a_number_that_no_conversation_has_is_refused(name: str, number: int, tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])
    with pytest.raises(
        SeveralConversations, match=f"holds 2 conversations, and pick counts from 1; there is no number {number}"
    ) as caught:
        FUNCTIONS[name](path, pick=number)
    assert caught.value.conversations == 2


def test_every_public_name_is_there_and_no_module_has_the_same():
    assert [
        name for name in legato.files.__all__ if name != "Source" and not callable(getattr(legato.files, name))
    ] == []
    modules = {module.name for module in iter_modules(legato.files.__path__)}
    assert modules.intersection(legato.files.__all__) == set()


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'legato\.files' has no attribute 'mend'"):
        _ = legato.files.mend
