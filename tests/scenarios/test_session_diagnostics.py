"""What a session tells about its requests: to the logger, to a trace, to who watches it, and afterwards."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from legato import render
from legato.errors import LegatoError, ProtocolRefused, RenderError
from legato.model import CallId
from legato.request import Request
from legato.session import Sent, Session, events
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.transport import KeyRing, WireRequest, WireResponse
from session_support import CLAUDE, GPT, Library, Time, Workshop, session, world

from builders import calls, result, talk, user

SECRET = "opensesame-of-the-settings"


class Contrary:
    """Simulated providers, but request `number` (from 0) is refused with what a provider says to a lost result."""

    def __init__(
        self, number: int, said: str = "An assistant message with 'tool_calls' must be followed by tool messages"
    ):
        self.inner = SimulatedTransport(SimulatedWorld(sleep=Time().sleep))
        self.said = said
        self.number = number
        self.sent = 0

    async def send(self, request: WireRequest) -> WireResponse:
        self.sent += 1
        if self.sent - 1 != self.number:
            return await self.inner.send(request)

        async def chunks() -> AsyncIterator[bytes]:
            yield json.dumps({"error": {"message": self.said, "type": "invalid_request_error"}}).encode()

        return WireResponse(400, {"content-type": "application/json", "x-request-id": "req_7"}, chunks())


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, dict[str, Any]]]:
    """Level, name and attributes of each line of the logger."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    for record in caplog.records:
        if record.name == "legato":
            name, _, attributes = record.getMessage().partition(" ")
            found.append((record.levelname, name, json.loads(attributes)))
    return found


async def refused(one: Session, *said: str) -> tuple[list[events.Event], LegatoError]:
    """The events of the last message, which fails, and the error."""
    for text in said[:-1]:
        await one.send(text)
    turn = one.send(said[-1])
    seen = [event async for event in turn]
    with pytest.raises(LegatoError) as caught:
        await turn
    return seen, caught.value


@pytest.mark.req("REQ-915-039", "REQ-915-040")
def test_a_session_with_a_cancellation_a_switch_and_a_refusal_is_told_line_by_line(caplog: pytest.LogCaptureFixture):
    async def main() -> None:
        tools = Workshop()
        async with session(CLAUDE, tools=[tools.hold], world=world(Contrary(1))) as one:
            turn = one.send("use hold_file on a.txt")
            await tools.until(lambda: tools.running)
            turn.cancel()
            await turn
            await one.switch(GPT)
            await refused(one, "and now?")

    with caplog.at_level(logging.DEBUG, logger="legato"):
        anyio.run(main)

    told = lines(caplog)
    assert [(level, name) for level, name, _ in told] == [
        ("DEBUG", "legato.turn-started"),
        ("DEBUG", "legato.render"),
        ("DEBUG", "legato.step-started"),
        ("DEBUG", "legato.step-ended"),
        ("DEBUG", "legato.turn-ended"),
        ("DEBUG", "legato.switch"),
        ("DEBUG", "legato.turn-started"),
        ("DEBUG", "legato.render"),
        ("DEBUG", "legato.step-started"),
        ("WARNING", "legato.fault"),
        ("DEBUG", "legato.turn-ended"),
    ]
    rendered, fault = told[7][2], told[9][2]
    (call,) = rendered["legato.calls_seen"]
    (wire_id,) = rendered["legato.emitted_call_ids"]
    assert call.startswith("hist_tool_")
    assert wire_id.startswith("call_")
    assert {name: rendered[f"legato.{name}"] for name in ("route", "format", "emitted_result_ids", "closures")} == {
        "route": GPT,
        "format": "openai_chat/openai",
        "emitted_result_ids": [wire_id],
        "closures": [],
    }
    assert told[4][2]["legato.outcome"] == "cancelled"
    assert told[5][2] == {"legato.route": GPT, "legato.deferred": False}
    assert {
        name: fault[f"legato.{name}"] for name in ("fault_class", "cause", "why", "calls", "status", "request_id")
    } == {
        "fault_class": "rendering",
        "cause": "unanswered-call",
        "why": "a call went out without its result",
        "calls": [call],
        "status": 400,
        "request_id": "req_7",
    }


@pytest.mark.req("REQ-915-039")
def test_closures_and_dedupe_are_told_with_their_reasons(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG, logger="legato"):
        render(talk(user("go"), calls("a", "b"), result("a"), result("a"), user("and?")), CLAUDE)

    ((_, name, told),) = lines(caplog)
    assert name == "legato.render"
    assert told["legato.closures"] == ["hist_tool_b: no-result-recorded"]
    assert told["legato.dedupe"] == ["hist_tool_a: duplicate-result: repeated"]
    assert "rendering: closed no-result-recorded (hist_tool_b)" in told["legato.decided"]


def test_a_request_that_our_own_rules_stop_is_an_error_in_the_log(caplog: pytest.LogCaptureFixture):
    request = render(talk(user("go"), calls("a"), user("and?")), CLAUDE)
    request.body["messages"][1]["content"] = [{"type": "text", "text": "Hm."}]
    with caplog.at_level(logging.ERROR, logger="legato"), pytest.raises(RenderError):
        request.verify()

    ((level, name, told),) = lines(caplog)
    assert (level, name, told["legato.fault_class"]) == ("ERROR", "legato.fault", "rendering")


def test_nothing_is_made_for_a_logger_that_is_off(monkeypatch: pytest.MonkeyPatch):
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("nobody listens")

    monkeypatch.setattr(Request, "report", property(never))
    monkeypatch.setattr("legato.diagnostics.emission.Redactor", never)
    monkeypatch.setattr("legato.diagnostics.emission.log_events", never)

    async def main() -> str:
        async with session(CLAUDE) as one:
            return (await one.send("hello")).text

    assert "hello" in anyio.run(main)


def test_no_key_of_the_settings_reaches_a_log_or_an_event(caplog: pytest.LogCaptureFixture):
    ring = KeyRing({"openai": SECRET}, {})

    async def main() -> list[events.Event]:
        contrary = Contrary(0, f"tool_calls: the key {SECRET} is not for 'messages[0]'")
        async with session(GPT, world=world(contrary, keys=ring), reports=True) as one:
            seen, error = await refused(one, f"my key is {SECRET}")
            assert SECRET not in error.message
            assert one.last is not None
            assert SECRET not in "\n".join(one.last.lines())
            return seen

    with caplog.at_level(logging.DEBUG, logger="legato"):
        seen = anyio.run(main)

    assert SECRET not in caplog.text
    assert not any(SECRET in str(event) for event in seen)


def test_who_watches_a_turn_is_told_which_layer_is_at_fault_and_what_was_decided():
    async def main() -> tuple[list[events.Event], LegatoError]:
        async with session(GPT, tools=[Library().read], world=world(Contrary(1)), reports=True) as one:
            return await refused(one, "use read_file on a.txt")

    seen, error = anyio.run(main)
    reports = [event for event in seen if isinstance(event, events.Reported)]
    (told,) = [event for event in seen if isinstance(event, events.Refused)]
    assert isinstance(error, ProtocolRefused)
    assert [(event.step, len(event.report["emitted"])) for event in reports] == [(1, 0), (2, 1)]
    assert (told.step, told.fault, told.cause, told.error) == (2, "rendering", "unanswered-call", "ProtocolRefused")
    assert told.calls == (CallId(reports[1].report["calls_seen"][0]),)
    assert told.report["emitted"] == reports[1].report["emitted"]


def test_a_session_that_was_not_asked_for_reports_shows_none():
    async def main() -> list[events.Event]:
        async with session(GPT) as one:
            return [event async for event in one.send("hello")]

    assert not [event for event in anyio.run(main) if isinstance(event, events.Reported)]


def last_of(one: Session) -> Sent:
    assert one.last is not None
    return one.last


def test_the_last_request_of_a_session_says_what_was_sent_and_what_came_of_it():
    async def main() -> None:
        async with session(GPT, tools=[Library().read], world=world(Contrary(2))) as one:
            await one.send("use read_file on a.txt")
            answered = last_of(one)
            before = answered.lines()
            await refused(one, "and now?")

            assert answered.lines() == before, "what was sent stays what it was"
            assert before[1] == f"{GPT}, in the form openai_chat/openai, native tool history"
            assert before[-1].startswith("answered: ended done, served by ")
            last = last_of(one)
            assert (last.step, last.has_left, last.answer) == (1, True, None)
            assert isinstance(last.error, ProtocolRefused)
            (call,) = last.request.report.calls_seen
            assert last.lines()[-4:] == [
                "the provider said no:",
                f"  ProtocolRefused: {last.error.message}",
                "  fault class: rendering, found in the layer provider: a call went out without its result",
                f"  calls: {call}",
            ]
            assert last.as_json()["diagnosis"]["cause"] == "unanswered-call"

    anyio.run(main)


def test_requests_and_refusals_are_events_of_the_span_that_is_current():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def main() -> None:
        async with session(GPT, world=world(Contrary(0))) as one:
            with provider.get_tracer("test").start_as_current_span("turn"):
                await refused(one, "hello")

    anyio.run(main)

    (span,) = exporter.get_finished_spans()
    found = {event.name: dict(event.attributes or {}) for event in span.events}
    assert list(found) == ["legato.render", "legato.fault"]
    assert found["legato.render"]["legato.format"] == "openai_chat/openai"
    assert (found["legato.fault"]["legato.fault_class"], found["legato.fault"]["legato.step"]) == ("rendering", 1)


def test_rendering_alone_is_traced_too():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("test").start_as_current_span("turn"):
        render(talk(user("hello")), CLAUDE)

    assert [event.name for event in exporter.get_finished_spans()[0].events] == ["legato.render"]
