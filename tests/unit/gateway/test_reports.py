"""What is known of a request afterwards, and who may know it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gateway_clients import Heard, hear, post
from legato.gateway.gateway import Gateway
from legato.gateway.reports import Reports, RequestReport, RouteAttempt
from legato.model import Usage
from legato.routing import Policy, Profile, Route
from scripted_backends import Failing, Point, Scripted, failing_stream, scripted_world, whole_stream

CLAUDE, KIMI = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking"
CHAT: Any = {"model": "some-model", "messages": [{"role": "user", "content": "hi"}]}
IN_TURN = Profile("in turn", (Route(KIMI), Route(CLAUDE)), Policy.FAILOVER)


def report_of(gateway: Gateway, heard: Heard, tenant: str = "") -> RequestReport:
    report = gateway.reports.find(heard.headers["x-legato-request"], tenant)
    assert report is not None
    return report


def gateway_of(kimi: Scripted, claude: Scripted | None = None) -> Gateway:
    return Gateway(scripted_world({"kimi": [kimi], "anthropic": [claude or whole_stream(CLAUDE)]}), IN_TURN)


def asked(gateway: Gateway, body: Any = CHAT, **options: Any) -> RequestReport:
    return report_of(gateway, hear(gateway, post("/v1/chat/completions", body)), **options)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_report_says_who_asked_for_what_and_who_answered(stream: bool) -> None:
    gateway = gateway_of(Scripted(breaks=True))
    report = asked(gateway, CHAT | {"stream": stream})
    assert (report.api, report.asked, report.profile) == ("openai_chat", "some-model", "in turn")
    assert report.attempts == [RouteAttempt(KIMI, "Unreachable"), RouteAttempt(CLAUDE)]
    assert report.route == CLAUDE
    assert (report.served, report.usage) == ("model-1", Usage(input=7, output=11))
    assert (report.unchanged, report.warm, report.error) == (False, False, "")


def test_a_report_tells_what_was_done_to_the_request() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [*CHAT["messages"], {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "well?"}]
    report = asked(gateway_of(whole_stream(KIMI)), CHAT | {"messages": messages})
    assert "closed" in [decision.action for decision in report.decisions]


def test_a_report_tells_what_was_not_understood_and_what_was_only_in_the_wrong_form() -> None:
    smell = {"role": "user", "content": [{"type": "smell"}, {"type": "text", "text": "of roses"}]}
    messages = [smell, {"role": "stranger", "content": "boo"}]
    assert asked(gateway_of(whole_stream(KIMI)), CHAT | {"messages": messages}).notes == [
        "messages[0].content[0]: a part that is not understood; it was left out",
        "messages[1].role: there is no role 'stranger'; the message was read as the user's",
    ]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "smell"}]}]}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "smell"}]}]}),
        ("/v1/responses", {"input": [{"role": "user", "content": [{"type": "smell"}]}]}),
        ("/v1beta/models/m:generateContent", {"contents": [{"role": "user", "parts": [{"smell": {}}]}]}),
    ],
)
def test_a_report_of_what_was_not_understood_can_be_written_down(path: str, body: Any) -> None:
    gateway = gateway_of(whole_stream(KIMI))
    report = report_of(gateway, hear(gateway, post(path, body | {"model": "m"})))
    assert report.notes
    assert msgspec.json.decode(msgspec.json.encode(report), type=RequestReport) == report


def test_a_report_tells_whether_the_conversation_was_known() -> None:
    gateway = gateway_of(whole_stream(KIMI))
    assert not asked(gateway).warm
    assert asked(gateway).warm


@pytest.mark.parametrize(
    ("point", "stream", "error"),
    [
        (Point.NOTHING, True, "BadAnswer"),
        (Point.NOTHING, False, "BadAnswer"),
        (Point.TEXT, True, "BadAnswer"),
        (Point.TEXT, False, "BadAnswer"),
    ],
)
def test_a_report_tells_what_an_answer_failed_of(point: Point, stream: bool, error: str) -> None:
    world = scripted_world({"kimi": [failing_stream(KIMI, point, Failing.END)]})
    report = asked(Gateway(world, KIMI), CHAT | {"stream": stream})
    assert report.error == error
    assert report.attempts == [RouteAttempt(KIMI, error)]


def test_a_request_that_was_refused_at_the_door_has_a_report_too() -> None:
    gateway = gateway_of(whole_stream(KIMI))
    heard = hear(gateway, post("/v1/chat/completions", CHAT, {"x-legato-route": "nobody"}))
    report = report_of(gateway, heard)
    assert (report.error, report.attempts, report.route) == ("UnknownTarget", [], "")
    assert "'nobody', which is neither a profile nor a route" in report.message


def test_a_report_is_for_its_own_tenant_alone() -> None:
    gateway = gateway_of(whole_stream(KIMI))
    heard = hear(gateway, post("/v1/chat/completions", CHAT), tenant="one")
    assert report_of(gateway, heard, "one").tenant == "one"
    assert gateway.reports.find(heard.headers["x-legato-request"], "two") is None
    assert gateway.reports.find(heard.headers["x-legato-request"]) is None


def test_the_oldest_reports_go_first() -> None:
    reports = Reports(most=2)
    for name in "abc":
        reports.keep(RequestReport(id=name, tenant="", api="openai_chat", asked="m"))
    assert [name for name in "abc" if reports.find(name)] == ["b", "c"]


def test_two_requests_never_share_a_list() -> None:
    one, other = (RequestReport(id=name, tenant="", api="openai_chat", asked="m") for name in "ab")
    one.attempts.append(RouteAttempt(KIMI))
    assert other.attempts == []
