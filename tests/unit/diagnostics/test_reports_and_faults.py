"""One report behind every form, and a fault class with call ids for everything that breaks."""

import io
import json
import logging
import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from legato import Conversation, render
from legato.diagnostics import (
    HIDDEN,
    LOGGER,
    Diagnosis,
    Event,
    Gravity,
    Redactor,
    diagnose,
    diagnosis_events,
    diagnosis_json,
    diagnosis_lines,
    fault_of,
    log_events,
    render_event,
    report_events,
    report_json,
    report_lines,
    trace_events,
    turn_on_logs,
)
from legato.diagnostics.causes import CAUSES, cause_of
from legato.errors import (
    CodecError,
    ConfigError,
    OurFault,
    ProjectionError,
    ProtocolRefused,
    RenderError,
    Unreachable,
)
from legato.model import CallId, Dialect, Fault
from legato.model.codec import decode_record, encode_record
from legato.model.decisions import PrefixCause
from legato.request import RenderReport
from legato.request.report import PrefixChange
from legato.transcript import slots
from legato.transcript.units import Exchange
from legato.transport.wordings import REASONING, SHAPE
from legato.wire import ids
from legato.wire.dialects import dialect_parts

from builders import calls, response, result, talk, tool, user

PLAIN = Redactor({})
ROUTE = "anthropic/claude-sonnet-4-5"


def told() -> RenderReport:
    """A report with something of everything: a real pair, a repetition, a closure."""
    return render(talk(user("go"), calls("a", "b"), result("a"), result("a"), user("and?")), ROUTE).report


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-039")
def test_the_json_form_holds_ids_dedupe_rationale_closure_reasons_and_the_format():
    value = report_json(told(), redactor=PLAIN)

    assert {name: value[name] for name in ("format", "route", "strategy", "calls_seen", "emitted", "synthetic")} == {
        "format": "anthropic/anthropic",
        "route": ROUTE,
        "strategy": "native",
        "calls_seen": ["hist_tool_a", "hist_tool_b"],
        "emitted": [
            {
                "call_id": "hist_tool_a",
                "wire_id": "toolu_a",
                "result_wire_id": "toolu_a",
                "name": "read",
                "completion": "success",
                "reason": "",
            },
            {
                "call_id": "hist_tool_b",
                "wire_id": "toolu_b",
                "result_wire_id": "toolu_b",
                "name": "read",
                "completion": "synthetic",
                "reason": "no-result-recorded",
            },
        ],
        "synthetic": {"hist_tool_b": "no-result-recorded"},
    }
    assert {
        "action": "deduped",
        "reason": "duplicate-result",
        "fault": "canonical-state",
        "detail": "repeated",
        "calls": ["hist_tool_a"],
    } in value["decisions"]
    assert value["faults"]["canonical-state"] == {"decisions": 1, "calls": ["hist_tool_a"]}
    assert value["faults"]["rendering"] == {"decisions": 1, "calls": ["hist_tool_b"]}


def test_the_human_form_is_lines_of_plain_text():
    lines = report_lines(told(), redactor=PLAIN)

    assert lines[:4] == [
        f"{ROUTE}, in the form anthropic/anthropic, native tool history",
        "calls: 2 seen, 2 emitted (1 success, 1 synthetic)",
        "  hist_tool_a  read  call toolu_a  result toolu_a  success",
        "  hist_tool_b  read  call toolu_b  result toolu_b  synthetic (no-result-recorded)",
    ]
    assert "  canonical-state: deduped duplicate-result: repeated (hist_tool_a)" in lines
    assert "  rendering: closed no-result-recorded (hist_tool_b)" in lines


def test_the_human_form_says_when_a_request_does_not_extend_the_one_before():
    conversation = talk(user("go"), calls("a"), user("and?"))
    render(conversation, ROUTE)
    conversation.record(result("a"))

    assert report_lines(render(conversation, ROUTE).report)[-1] == (
        "prefix: it does not extend the request before it, from unit 1 on (late-result)"
    )


def test_a_change_before_all_units_has_no_place_among_them():
    report = replace(told(), prefix_change=PrefixChange(PrefixCause.ENVELOPE, -1))

    assert report_lines(report)[-1] == "prefix: it does not extend the request before it (envelope)"


def test_a_conversation_without_calls_has_a_short_report():
    report = render(talk(user("hello")), ROUTE).report

    assert report_lines(report, redactor=PLAIN)[1:] == ["calls: 0 seen, 0 emitted", "decisions: none"]


@pytest.mark.req("REQ-915-039")
def test_the_event_of_a_request_holds_what_a_diagnosis_needs():
    event = report_events(told(), redactor=PLAIN)[0]

    assert event == Event(
        "legato.render",
        Gravity.DEBUG,
        {
            "legato.format": "anthropic/anthropic",
            "legato.route": ROUTE,
            "legato.strategy": "native",
            "legato.calls_seen": ["hist_tool_a", "hist_tool_b"],
            "legato.emitted_call_ids": ["toolu_a", "toolu_b"],
            "legato.emitted_result_ids": ["toolu_a", "toolu_b"],
            "legato.closures": ["hist_tool_b: no-result-recorded"],
            "legato.dedupe": ["hist_tool_a: duplicate-result: repeated"],
            "legato.decisions": len(told().decisions),
            "legato.fault_classes": [fault.value for fault in told().faults],
        },
    )


@pytest.mark.req("REQ-915-040")
def test_every_decision_is_an_event_with_its_fault_class_and_calls():
    events = report_events(told(), redactor=PLAIN)[1:]

    assert [(event.attributes["legato.fault_class"], event.attributes["legato.calls"]) for event in events][:2] == [
        ("canonical-state", ["hist_tool_a"]),
        ("rendering", ["hist_tool_b"]),
    ]
    assert all("legato.fault_class" in event.attributes for event in events)


# --- fault classes ----------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-040")
def test_a_corrupt_log_is_reported_as_canonical_state_with_its_calls():
    healthy = talk(user("go"), calls("a", "b"), tool(response("a"), response("b")))
    # The record with the answer is gone; its results name calls that nobody made.
    corrupt = Conversation([record for index, record in enumerate(healthy.log) if index != 1])

    value = report_json(render(corrupt, ROUTE).report, redactor=PLAIN)

    assert value["faults"]["canonical-state"] == {"decisions": 2, "calls": ["hist_tool_a", "hist_tool_b"]}


@pytest.mark.req("REQ-915-040")
def test_a_damaged_record_is_a_fault_of_the_canonical_state_and_names_the_calls_in_it():
    damaged = encode_record(talk(user("go"), calls("a")).log[1]).replace(b'"recorded"', b'"recrded"')
    with pytest.raises(CodecError) as raised:
        decode_record(damaged)

    diagnosis = diagnose(raised.value, context=damaged)

    assert (diagnosis.fault, diagnosis.calls, diagnosis.error) == (
        Fault.CANONICAL,
        (CallId("hist_tool_a"),),
        "CodecError",
    )


@pytest.mark.req("REQ-915-040")
def test_a_broken_unit_builder_is_a_fault_of_rendering_and_names_its_calls(monkeypatch: pytest.MonkeyPatch):
    def backwards(key: int, blocks: Any, completions: tuple[Any, ...] = (), *more: Any, part: int) -> Exchange:
        return Exchange(key, blocks, completions[::-1], *more, part=part)

    monkeypatch.setattr(slots, "Exchange", backwards)
    with pytest.raises(RenderError) as raised:
        render(talk(user("go"), calls("a", "b"), result("a"), result("b")), ROUTE)

    diagnosis = diagnose(raised.value)

    assert (diagnosis.fault, diagnosis.calls, diagnosis.layer) == (
        Fault.RENDERING,
        (CallId("hist_tool_a"), CallId("hist_tool_b")),
        "transcript",
    )


@pytest.mark.req("REQ-915-040")
def test_a_colliding_projector_is_a_fault_of_projection_and_names_the_calls_that_collide(
    monkeypatch: pytest.MonkeyPatch,
):
    def collide(table: ids.IdTable, some: Sequence[ids.Numbered]) -> None:
        table.update({call.id: "A" * 9 if call.id.endswith(("a", "b")) else "C" * 9 for call in some})
        table._taken |= set(table.values())

    monkeypatch.setattr(ids.IdTable, "_extend_nine", collide)
    answers = [result("a"), result("b"), result("c")]
    with pytest.raises(ProjectionError) as raised:
        render(talk(user("go"), calls("a", "b", "c"), *answers), "mistral/mistral-large-latest")

    diagnosis = diagnose(raised.value)

    assert (diagnosis.fault, diagnosis.calls, diagnosis.layer) == (
        Fault.PROJECTION,
        (CallId("hist_tool_a"), CallId("hist_tool_b")),
        "projection",
    )


@pytest.mark.req("REQ-915-040")
def test_a_request_that_is_stopped_at_the_gate_names_the_rules_and_the_calls():
    request = render(talk(user("go"), calls("a"), user("and?")), ROUTE)
    request.body["messages"][1]["content"] = [{"type": "text", "text": "Hm."}]  # the answer with the call
    with pytest.raises(RenderError) as raised:
        request.verify()

    diagnosis = diagnose(raised.value)

    assert diagnosis.fault is Fault.RENDERING
    assert diagnosis.calls == (CallId("hist_tool_a"),)
    assert "anthropic/orphan-result" in diagnosis.rules


def at_the_gate(*rules: str) -> RenderError:
    return RenderError("it would be refused", violations=[{"rule": rule} for rule in rules])


@pytest.mark.req("REQ-915-040")
@pytest.mark.parametrize(
    ("error", "fault", "cause"),
    [
        # What is wrong decides, and not who noticed it.
        (at_the_gate("anthropic/unanswered-call"), Fault.RENDERING, "anthropic/unanswered-call"),
        (ProtocolRefused("no", rule="unanswered-call"), Fault.RENDERING, "unanswered-call"),
        (at_the_gate("mistral/id-form"), Fault.PROJECTION, "mistral/id-form"),
        (ProtocolRefused("no", rule="id-form"), Fault.PROJECTION, "id-form"),
        (at_the_gate("openai-chat/orphan-result", "mistral/id-form"), Fault.RENDERING, "openai-chat/orphan-result"),
        (ProtocolRefused("no", rule="orphan-result"), Fault.RENDERING, "orphan-result"),
        (ProtocolRefused("no", rule="duplicate-result"), Fault.RENDERING, "duplicate-result"),
        (ProtocolRefused("no", rule="duplicate-id"), Fault.PROJECTION, "duplicate-id"),
        (ProtocolRefused("no", rule="call-order"), Fault.RENDERING, "call-order"),
        (ProtocolRefused("no", rule="unknown-field"), Fault.PROJECTION, "unknown-field"),
        (ProtocolRefused("no", rule="own-reasoning"), Fault.PROJECTION, "own-reasoning"),
        # Words that nobody knows yet: our own rules may know.
        (
            ProtocolRefused("no", rule="unknown", violations=[{"rule": "gemini/response-count"}]),
            Fault.RENDERING,
            "gemini/response-count",
        ),
        (ProtocolRefused("no", rule="unknown", violations=[]), Fault.PROJECTION, ""),
        # Nobody names a rule.
        (RenderError("no"), Fault.RENDERING, ""),
        (ProjectionError("no"), Fault.PROJECTION, ""),
        (CodecError("no"), Fault.CANONICAL, ""),
        (ProtocolRefused("no"), Fault.PROJECTION, ""),
        (Unreachable("no"), None, ""),
        (OurFault("no"), None, ""),
        (ValueError("no"), None, ""),
    ],
)
def test_an_error_has_the_class_of_its_cause(error: Exception, fault: Fault | None, cause: str):
    assert (fault_of(error), diagnose(error).fault, diagnose(error).cause) == (fault, fault, cause)


def every_cause() -> set[str]:
    """What our rules and the providers' wordings call what is wrong with a request."""
    rules = {rule.rpartition("/")[2] for dialect in Dialect for rule in dialect_parts(dialect).rules}
    return rules | {row.about for row in (*SHAPE, *REASONING)}


def test_the_table_of_causes_names_only_what_can_be_found():
    assert CAUSES.keys() - every_cause() == set()


@pytest.mark.req("REQ-915-040")
def test_whatever_is_about_pairing_or_order_is_a_fault_of_rendering():
    pairing = re.compile(
        r"unanswered|orphan|duplicate-(?:result|output)|too-late|order|ends-on|ending|count\b|first-(?:message|content)"
    )

    found = {name: cause_of(name).fault for name in every_cause() if pairing.search(name)}

    assert len(found) > 10
    assert set(found.values()) == {Fault.RENDERING}


@pytest.mark.req("REQ-915-040")
def test_whatever_is_about_the_form_of_an_id_or_a_name_is_a_fault_of_projection():
    found = {name: cause_of(name).fault for name in every_cause() if re.search(r"(?:id|name)-(?:form|habit)", name)}

    assert len(found) > 5
    assert set(found.values()) == {Fault.PROJECTION}


def test_a_diagnosis_has_the_same_three_forms():
    error = ProjectionError("the id 'x' of hist_tool_b is not its own", layer="projection", calls=["hist_tool_a"])
    diagnosis = diagnose(error)
    names = ["hist_tool_a", "hist_tool_b"]

    assert diagnosis == Diagnosis(
        error="ProjectionError",
        message="the id 'x' of hist_tool_b is not its own",
        fault=Fault.PROJECTION,
        why="the projection of ids or names contradicts itself",
        calls=tuple(map(CallId, names)),
        layer="projection",
        facts={"layer": "projection", "calls": ["hist_tool_a"]},
    )
    assert diagnosis_lines(diagnosis, redactor=PLAIN) == [
        "ProjectionError: the id 'x' of hist_tool_b is not its own",
        "fault class: projection, found in the layer projection: the projection of ids or names contradicts itself",
        "calls: hist_tool_a, hist_tool_b",
    ]
    assert diagnosis_json(diagnosis, redactor=PLAIN) == {
        "error": "ProjectionError",
        "message": "the id 'x' of hist_tool_b is not its own",
        "fault": "projection",
        "why": "the projection of ids or names contradicts itself",
        "calls": names,
        "layer": "projection",
        "facts": {"layer": "projection", "calls": ["hist_tool_a"]},
    }
    assert diagnosis_events(diagnosis, redactor=PLAIN) == [
        Event(
            "legato.fault",
            Gravity.ERROR,
            {
                "legato.fault_class": "projection",
                "legato.error": "ProjectionError",
                "legato.message": "the id 'x' of hist_tool_b is not its own",
                "legato.calls": names,
                "legato.why": "the projection of ids or names contradicts itself",
                "legato.layer": "projection",
            },
        )
    ]


def test_an_error_that_is_no_fault_of_ours_says_so():
    events = diagnosis_events(diagnose(Unreachable("no way there")), redactor=PLAIN)

    assert events[0].attributes["legato.fault_class"] == "none"


# --- logs and traces --------------------------------------------------------------------------------------------------


def test_nothing_is_logged_until_somebody_asks(capfd: pytest.CaptureFixture[str]):
    log_events(diagnosis_events(diagnose(RenderError("broken"))))

    assert capfd.readouterr() == ("", "")


def test_logs_that_are_turned_on_hold_one_line_for_every_event():
    stream, report = io.StringIO(), told()
    level = LOGGER.level
    handler = turn_on_logs(logging.DEBUG, stream=stream)
    try:
        log_events(report_events(report, redactor=PLAIN))
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)

    lines = stream.getvalue().splitlines()
    assert len(lines) == 1 + len(report.decisions)
    head, _, attributes = lines[0].partition("legato.render ")
    assert head.endswith("DEBUG ")
    assert json.loads(attributes)["legato.emitted_call_ids"] == ["toolu_a", "toolu_b"]


def test_a_log_record_carries_its_event(caplog: pytest.LogCaptureFixture):
    events = diagnosis_events(diagnose(RenderError("broken")), redactor=PLAIN)
    with caplog.at_level(logging.ERROR, logger="legato"):
        log_events([*report_events(told()), *events])

    assert [(record.levelname, record.__dict__["legato"]) for record in caplog.records] == [("ERROR", events[0])]


def test_events_reach_the_span_that_is_current_and_an_error_marks_it():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    events = [*report_events(told(), redactor=PLAIN), *diagnosis_events(diagnose(RenderError("broken")))]

    with provider.get_tracer("test").start_as_current_span("turn"):
        trace_events(events)

    (span,) = exporter.get_finished_spans()
    assert [event.name for event in span.events] == [event.name for event in events]
    assert dict(span.events[0].attributes or {})["legato.emitted_call_ids"] == ("toolu_a", "toolu_b")
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "broken")


def test_tracing_without_a_span_does_nothing():
    trace_events(report_events(told()))


def test_tracing_without_opentelemetry_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.trace", None)

    with pytest.raises(ConfigError, match=r"legato\[otel\]"):
        trace_events([])


# --- secrets ----------------------------------------------------------------------------------------------------------


def test_no_form_shows_a_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_API_KEY", "opensesame99")
    report = render(talk(user("go"), calls("a", name="opensesame99"), result("a")), ROUTE).report
    diagnosis = diagnose(RenderError("it holds opensesame99", key="opensesame99"))

    forms = [
        report_json(report),
        report_lines(report),
        [event.attributes for event in report_events(report)],
        diagnosis_json(diagnosis),
        diagnosis_lines(diagnosis),
        [event.attributes for event in diagnosis_events(diagnosis)],
    ]

    assert "opensesame99" not in json.dumps(forms)
    assert HIDDEN in json.dumps(forms[0])


@pytest.mark.req("REQ-915-039")
def test_the_event_of_a_request_names_its_digest_where_that_is_known() -> None:
    request = render(Conversation(), "openai/gpt-4o")
    told = render_event(request.report, digest=request.digest()).attributes
    assert told["legato.digest"] == request.digest()
    assert "legato.digest" not in render_event(request.report).attributes
