"""What a rule finds in a request body."""

from __future__ import annotations

from msgspec import Struct

from legato.model.enums import FastStrEnum


class Severity(FastStrEnum):
    """Whether a provider refuses the request, or only sometimes does."""

    REFUSED = "refused"
    RISKY = "risky"


class Violation(Struct, frozen=True):
    """One broken rule: a stable id such as `anthropic/unanswered-call`, a path such as `messages[3].content[0]`."""

    rule: str
    severity: Severity
    path: str
    message: str
