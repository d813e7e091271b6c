"""The request that a session sent last, and its outcome: what `/last` shows.

`request.report` says what was decided for it, `request.json()` what was sent; both are made when they are asked for,
and say what held when it was sent, whatever was recorded since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from legato.errors import LegatoError
from legato.model import Answer, JsonObject
from legato.request import Request
from legato.session import events

if TYPE_CHECKING:
    from legato.diagnostics import Diagnosis, Redactor


class Sent:
    """One attempt of one step. It has an `answer`, an `error`, or neither while it is under way or was cancelled."""

    def __init__(self, request: Request, *, route: str, step: int, attempt: int = 1, has_left: bool = True) -> None:
        self.request = request
        self.route = route
        self.step = step
        self.attempt = attempt
        self.answer: Answer | None = None
        self.error: LegatoError | None = None
        self.has_left = has_left
        """whether it was sent at all: what our own rules refuse stays here"""

    def fail(self, error: LegatoError) -> events.Refused:
        """It failed; the event that says so."""
        from legato.diagnostics import diagnose, diagnosis_json  # here and below: most requests do not fail

        self.error = error
        diagnosis = diagnose(error)
        told = diagnosis_json(diagnosis)
        return events.Refused(
            step=self.step,
            route=self.route,
            attempt=self.attempt,
            error=diagnosis.error,
            message=told["message"],
            fault=diagnosis.fault.value if diagnosis.fault else "",
            cause=diagnosis.cause,
            why=diagnosis.why,
            calls=diagnosis.calls,
            rules=diagnosis.rules,
            report=told["facts"].get("report", {}),
        )

    def reported(self) -> events.Reported:
        """The event that tells all that was decided."""
        from legato.diagnostics import report_json

        digest, told = self.request.digest(), report_json(self.request.report)
        return events.Reported(step=self.step, route=self.route, attempt=self.attempt, digest=digest, report=told)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What the error says about who was wrong; None if there is none."""
        from legato.diagnostics import diagnose

        return None if self.error is None else diagnose(self.error)

    def lines(self, *, redactor: Redactor | None = None) -> list[str]:
        """All of it for a person: what was decided, what the provider answered, which layer is at fault and why."""
        from legato.diagnostics import report_lines

        attempt = f", attempt {self.attempt}" if self.attempt > 1 else ""
        lines = [f"step {self.step}{attempt}, digest {self.request.digest()}, {len(self.request.json()):,} bytes"]
        lines += report_lines(self.request.report, redactor=redactor)
        return [*lines, *self._outcome(redactor)]

    def _outcome(self, redactor: Redactor | None) -> list[str]:
        from legato.diagnostics import diagnosis_lines

        if self.diagnosis is not None:
            said = "the provider said no" if self.has_left else "it was not sent"
            lines = diagnosis_lines(self.diagnosis, redactor=redactor)
            if self.diagnosis.fault is None:
                lines.append("no layer of ours is at fault")
            return [f"{said}:", *(f"  {line}" for line in lines)]
        if self.answer is None:
            return ["there is no answer: it is under way, or was cancelled"]
        ending = self.answer.entry.ending
        usage = self.answer.usage
        facts = [
            f"ended {ending.value}" if ending else "",
            f"served by {self.answer.served}" if self.answer.served else "",
            f"{len(self.answer.entry.calls)} calls" if self.answer.entry.calls else "",
            f"{usage.input:,} tokens in, {usage.output:,} out" if usage else "",
        ]
        return [f"answered: {', '.join(fact for fact in facts if fact) or 'it says nothing about itself'}"]

    def as_json(self, *, redactor: Redactor | None = None) -> JsonObject:
        """The same for a machine."""
        from legato.diagnostics import diagnosis_json, report_json

        value: JsonObject = {
            "route": self.route,
            "step": self.step,
            "attempt": self.attempt,
            "sent": self.has_left,
            "digest": self.request.digest(),
            "report": report_json(self.request.report, redactor=redactor),
        }
        if self.diagnosis is not None:
            value["diagnosis"] = diagnosis_json(self.diagnosis, redactor=redactor)
        return value
