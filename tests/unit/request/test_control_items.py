"""Items that only steer a provider: they go back to it, and say nothing to anybody else."""

from __future__ import annotations

from typing import Any

import pytest

from legato import render
from legato.model import HostedTool
from legato.request import parse
from legato.request.request import Request

from builders import OTHER_ROUTES, ROUTES

HOME = "openai-responses/gpt-5.1"
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
CONTROL: list[dict[str, Any]] = [
    {"type": "compaction_trigger"},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VhbGVk"},
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
    {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    {"type": "something_new", "id": "new_1"},
]
TELLING: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "mcp_approval_request", "id": "mcpr_1", "name": "delete", "arguments": "{}", "server_label": "s"},
    {"type": "something_new_call", "id": "new_1"},
]


def carried(item: dict[str, Any], route: str) -> Request:
    parsed = parse({"model": "gpt-5.1", "input": [USER, item]}, HOME)
    return render(parsed.conversation(), route)


@pytest.mark.parametrize("item", CONTROL, ids=lambda item: item["type"])
@pytest.mark.parametrize("route", [route for route in (*ROUTES, *OTHER_ROUTES) if route != HOME])
def test_a_control_item_says_nothing_to_another_provider_and_the_report_names_it(
    item: dict[str, Any], route: str
) -> None:
    request = carried(item, route)
    alone = render(parse({"model": "gpt-5.1", "input": [USER]}, HOME).conversation(), route)
    assert request.body == alone.body
    assert request.check() == []
    assert [(one.action, one.reason, one.detail) for one in request.report.decisions] == [
        (
            "dropped",
            "control-item",
            f"a record that its own provider keeps ({item['type']}) has nothing to tell to another",
        )
    ]


@pytest.mark.parametrize("item", [*CONTROL, *TELLING], ids=lambda item: item["type"])
def test_its_own_provider_gets_it_back_as_it_was_where_it_was(item: dict[str, Any]) -> None:
    request = carried(item, HOME)
    assert request.body["input"] == [USER, item]
    assert request.report.decisions == ()


@pytest.mark.parametrize("item", TELLING, ids=lambda item: item["type"])
def test_what_was_done_is_told(item: dict[str, Any]) -> None:
    assert "[The provider ran" in carried(item, "anthropic/claude-sonnet-4-5").json().decode()


def test_a_silent_record_is_kept_in_a_log() -> None:
    (_, entry) = parse({"model": "gpt-5.1", "input": [USER, CONTROL[0]]}, HOME).conversation().entries
    assert entry.blocks == (HostedTool("compaction_trigger", silent=True, native={"item": CONTROL[0]}),)
