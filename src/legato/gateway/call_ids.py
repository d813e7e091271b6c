"""The ids that clients know calls by.

They are made from the id of the answer and the number of the call in it, so no two answers ever share one, whatever the
provider called its calls. And they can be checked: whoever knows an answer's id can tell its calls from all others.
"""

from __future__ import annotations

from legato.gateway.contract import CallIdForm
from legato.model.hashing import base62

_LENGTHS = {CallIdForm.ANTHROPIC: 24, CallIdForm.OPENAI: 24, CallIdForm.MISTRAL: 9}
_MOST_CALLS = 128
"""calls of one answer that are looked for: more than that no provider gives"""


def call_id(answer_id: str, number: int, form: CallIdForm) -> str:
    """The id of that call of the answer."""
    return form.value + base62("call", answer_id, number, length=_LENGTHS[form])


def number_of(wire_id: str, answer_id: str) -> int | None:
    """Which call of the answer is known as `wire_id`; None if none is."""
    forms = [form for form in CallIdForm if form.value and wire_id.startswith(form.value)] or [CallIdForm.MISTRAL]
    form = forms[0]
    if len(wire_id) != len(form.value) + _LENGTHS[form]:
        return None
    return next((number for number in range(_MOST_CALLS) if call_id(answer_id, number, form) == wire_id), None)
