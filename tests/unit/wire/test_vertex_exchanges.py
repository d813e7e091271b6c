"""What Vertex AI accepted: our rules agree, and what is read from it and rendered home means the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from legato import parse, render, resolve
from legato.wire.findings import Severity
from on_the_wire import Item, WireCall, WireResult, Words, read_body
from rule_targets import check

_EXCHANGES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "provider-exchanges"
needs_exchanges = pytest.mark.skipif(not _EXCHANGES.is_dir(), reason="the recorded exchanges are not on this machine")


def _at_vertex(name: str) -> Iterator[Any]:
    path = _EXCHANGES / name
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            exchange = json.loads(line)
            if exchange["host"].endswith("aiplatform.googleapis.com"):
                yield pytest.param(exchange, id=str(number))


def _route(exchange: dict[str, Any]) -> str:
    return f"vertex/{exchange['path'].rpartition('/')[2].partition(':')[0]}"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _said(body: dict[str, Any], route: str) -> list[Item]:
    """What a model reads: words, calls and results in order, without ids. The recorded bodies are in snake case, and
    their results have names of their own for what we call `result`.
    """
    contents = [{**content, "parts": [_plain(part) for part in content["parts"]]} for content in body["contents"]]
    said: list[Item] = []
    for item in read_body({"contents": contents}, route):
        match item:
            case WireCall():
                said.append(item._replace(id=""))
            case WireResult():
                said.append(item._replace(id=""))
            case _:
                said.append(item)
    return said


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    plain = {_camel(name): value for name, value in part.items()}
    result = plain.get("functionResponse")
    if result is not None and not result["response"].keys() & {"result", "error"}:
        plain["functionResponse"] = {**result, "response": {"result": result["response"]}}
    return plain


def _media(body: dict[str, Any]) -> list[Any]:
    parts = [part for content in body["contents"] for part in content["parts"]]
    held = [part.get("functionResponse") or part.get("function_response") or {} for part in parts]
    inside = [one for result in held for one in result.get("parts") or ()]
    return [
        {_camel(key): value for key, value in one[name].items()}
        for one in (*parts, *inside)
        for name in ("inlineData", "inline_data", "fileData", "file_data")
        if name in one
    ]


def _signatures(body: dict[str, Any]) -> list[str]:
    parts = [part for content in body["contents"] for part in content["parts"]]
    return [one for part in parts if (one := part.get("thoughtSignature") or part.get("thought_signature"))]


@needs_exchanges
@pytest.mark.parametrize("exchange", list(_at_vertex("accepted_tool_turns.jsonl")))
def test_what_vertex_accepted_is_not_refused(exchange: dict[str, Any]):
    found = check(exchange["request"], resolve(_route(exchange)))

    assert [one for one in found if one.severity is Severity.REFUSED] == []


@needs_exchanges
@pytest.mark.parametrize("exchange", list(_at_vertex("accepted_tool_turns.jsonl")))
def test_what_vertex_accepted_means_the_same_when_it_is_rendered_home(exchange: dict[str, Any]):
    route, body = _route(exchange), exchange["request"]
    target = resolve(route)
    parsed = parse(body, target).answered_by(target.origin())
    request = render(parsed.conversation(), target, tools=parsed.tools, options=parsed.options)
    request.verify()
    home = request.copy()

    said, before = _said(home, route), _said(body, route)
    if any(decision.reason == "media-moved" for decision in request.report.decisions):
        # A document inside a result follows after it, with words of ours that lead to it.
        said, before = [[item for item in items if isinstance(item, WireCall)] for items in (said, before)]
    assert said == before
    assert _media(home) == _media(body)
    assert _signatures(home) == _signatures(body)
    assert not [item for item in read_body(home, route) if isinstance(item, WireCall | WireResult) and item.id]


@needs_exchanges
def test_what_vertex_refused_was_refused_for_an_address_and_not_for_its_shape():
    refused = [value.values[0] for value in _at_vertex("rejected.jsonl")]
    assert len(refused) == 1

    assert "Cannot fetch content from the provided URL" in json.dumps(refused[0]["response"])
    found = check(refused[0]["request"], resolve(_route(refused[0])))
    assert [one for one in found if one.severity is Severity.REFUSED] == []


def test_every_content_that_is_sent_to_vertex_has_a_role_and_no_id():
    body = {
        "contents": [
            {"parts": [{"text": "hello"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "f", "args": {}}}]},
            {"parts": [{"functionResponse": {"id": "a", "name": "f", "response": {"result": "x"}}}]},
        ]
    }
    request = render(parse(body, "gemini/gemini-2.5-pro").conversation(), "vertex/gemini-2.5-pro")

    assert [content["role"] for content in request.copy()["contents"]] == ["user", "model", "user"]
    assert read_body(request.copy(), "vertex/gemini-2.5-pro") == [
        Words("user", "hello"),
        WireCall("", "f", {}),
        WireResult("", "x", False),
    ]
