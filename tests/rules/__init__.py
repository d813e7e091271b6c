"""Examples of the rules: for every rule of every dialect a body that breaks it and one that keeps it.

The tests of the rules and of the simulated providers run them, and docs/rules.md shows them. They are not in the
package: users of Legato need the rules, not their examples.
"""

from typing import NamedTuple

from legato.model import Dialect, JsonObject
from legato.wire.dialects import dialect_parts
from legato.wire.rules import WireRule
from rule_examples import Example
from rules import anthropic, bedrock, gemini, openai_chat, openai_responses, vercel

EXAMPLES: dict[Dialect, dict[str, Example]] = {
    Dialect.OPENAI_CHAT: openai_chat.EXAMPLES,
    Dialect.OPENAI_RESPONSES: openai_responses.EXAMPLES,
    Dialect.ANTHROPIC: anthropic.EXAMPLES,
    Dialect.GEMINI: gemini.EXAMPLES,
    Dialect.VERCEL: vercel.EXAMPLES,
    Dialect.BEDROCK: bedrock.EXAMPLES,
}

_NAMES_NO_MODEL = (Dialect.GEMINI, Dialect.VERCEL, Dialect.BEDROCK)
"""dialects whose bodies do not say which model they are for"""


class Case(NamedTuple):
    """A rule with its example, as whole bodies for its route."""

    dialect: Dialect
    rule: WireRule
    refused: JsonObject
    accepted: JsonObject

    @property
    def id(self) -> str:
        return f"{self.dialect}-{self.rule.id}"


def case_of(dialect: Dialect, rule: WireRule, example: Example) -> Case:
    """`example` with the model of the rule's route."""
    named = {} if dialect in _NAMES_NO_MODEL else {"model": rule.route.partition("/")[2]}
    return Case(dialect, rule, {**named, **example.refused}, {**named, **example.accepted})


CASES: list[Case] = [
    case_of(dialect, rule, EXAMPLES[dialect][rule.id])
    for dialect in Dialect
    for rule in dialect_parts(dialect).rules.values()
    if rule.id in EXAMPLES[dialect]  # that none is missing is a test of its own
]
