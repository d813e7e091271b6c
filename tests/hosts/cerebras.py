"""Cerebras: a body that breaks each of its rules, and one that keeps it."""

from chat_bodies import ask, said, user
from rule_examples import Example

EXAMPLES = {
    "unknown-field": Example(
        refused=ask(user(), said(reasoning_content="A greeting."), user()),
        accepted=ask(user(), said(reasoning="A greeting."), user()),
    ),
}
