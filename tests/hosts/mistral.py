"""Mistral: a body that breaks each of its rules, and one that keeps it."""

from chat_bodies import SYSTEM, ask, calls, read, result, said, user
from legato.model import JsonObject
from rule_examples import Example


def _nine(call_id: str = "abcDEF123") -> tuple[JsonObject, JsonObject]:
    """A call and its result as Mistral likes them."""
    return calls(read(call_id), content=""), result(call_id, name="read")


_CALL, _RESULT = _nine()

EXAMPLES = {
    "unknown-role": Example(
        refused=ask({"role": "developer", "content": "Be brief."}, user()), accepted=ask(SYSTEM, user())
    ),
    "role-order": Example(refused=ask(user(), said(), SYSTEM, user()), accepted=ask(SYSTEM, user(), said(), user())),
    "user-after-tool": Example(
        refused=ask(user(), _CALL, _RESULT, user("And the other one?")),
        accepted=ask(user(), _CALL, _RESULT, said("It is empty."), user("And the other one?")),
    ),
    "first-message-calls": Example(refused=ask(_CALL, _RESULT), accepted=ask(user(), _CALL, _RESULT)),
    "lone-message": Example(refused=ask(said(prefix=True)), accepted=ask(user())),
    "ends-on-answer": Example(refused=ask(user(), said()), accepted=ask(user(), said(prefix=True))),
    "prefix-place": Example(
        refused=ask(user(), said(prefix=True), user()), accepted=ask(user(), said(prefix=False), user())
    ),
    "id-form": Example(refused=ask(user(), *_nine("call_1")), accepted=ask(user(), *_nine())),
    "empty-answer": Example(refused=ask(user(), said(""), user()), accepted=ask(user(), said(), user())),
    "extra-field": Example(
        refused=ask(user(), said(reasoning_content="A greeting."), user()), accepted=ask(user(), said(), user())
    ),
    "result-name": Example(refused=ask(user(), _CALL, result("abcDEF123")), accepted=ask(user(), _CALL, _RESULT)),
}

ERROR_BODY = {
    "object": "error",
    "message": "Unexpected role 'user' after role 'tool'",
    "type": "invalid_request_message_order",
    "param": None,
    "code": "3230",
    "request_id": "0123456789abcdef",
}
"""unknown fields are told in another shape, without an id"""
