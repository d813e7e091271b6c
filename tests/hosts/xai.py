"""xAI: a body that breaks each of its rules, and one that keeps it."""

from chat_bodies import ask, calls, result, user
from rule_examples import Example

EXAMPLES = {
    "null-content": Example(
        refused=ask(user(), calls(content=None), result()), accepted=ask(user(), calls(content=""), result())
    ),
}

ERROR_BODY = {"code": "The request is not valid", "error": "Each message must have at least one content element"}
