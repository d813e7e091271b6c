"""Judge a request body by the rules of a provider, as far as they are about what is in the file.

In:  a body as it was in a file, its target, and whether the file says which model it is for.
Out: the rules that it breaks, those that only some models have as risky where it is not known for which it is.

Lint and repair both judge by this: what one calls risky, the other does not mend.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from legato.formats.document import Body
from legato.formats.fields import as_list
from legato.model import Target
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation

_OF_SOME_MODELS = frozenset({"gemini/signature-missing", "bedrock/s3-location"})
"""rules that only some models of a provider have; whose body names no model is judged by a usual one"""
_ENDINGS = frozenset({"unanswered-call", "ends-on-answer", "prefill", "prefill-whitespace"})
"""what is wrong with the end of a request, and right at the end of an example"""


def broken_rules(body: Body, target: Target, *, is_model_known: bool) -> Iterator[Violation]:
    """Everything that is wrong with `body` for `target`."""
    parts = dialect_parts(target.dialect)
    for violation in parts.check(body.value, target):
        if (body.is_bare and not violation.path.startswith(parts.messages_field)) or _is_meant(body, violation):
            continue
        is_guess = depends_on_model(violation) and not is_model_known
        yield replace(violation, severity=Severity.RISKY) if is_guess else violation


def depends_on_model(violation: Violation) -> bool:
    """Whether only some models of the provider have the rule."""
    return violation.rule in _OF_SOME_MODELS


def _is_meant(body: Body, violation: Violation) -> bool:
    """Whether an example to learn from only ends with what the model should say."""
    last = len(as_list(body.value.get("messages"))) - 1
    is_last = body.is_example and violation.path.startswith(f"messages[{last}]")
    return is_last and violation.rule.partition("/")[2] in _ENDINGS
