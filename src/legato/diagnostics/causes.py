"""Which layer is at fault, by what is wrong with a request and not by who found it.

In:  the name of what is wrong: the last part of a rule's id (`anthropic/unanswered-call`), or the cause that the
     provider's wording stands for (`rule` in the facts of `ProtocolRefused`).
Out: the fault class, and why.

The same thing can be found by our own rules before a request leaves, or by the provider after it did; the cause is the
same, and so is the class. Two causes belong to rendering: calls and results that do not pair up, and things that do not
are where they must. Everything else that a provider can hold against a body is how it is written for that provider:
ids, names, fields, signatures. A new rule needs a line here only if it is about pairing or order.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.model import Fault


class Cause(NamedTuple):
    """Where a fault lies, and why, in a few words."""

    fault: Fault
    why: str


NO_RESULT = Cause(Fault.RENDERING, "a call went out without its result")
NO_CALL = Cause(Fault.RENDERING, "a result went out without its call")
TWO_RESULTS = Cause(Fault.RENDERING, "a call went out with two results")
ORDER = Cause(Fault.RENDERING, "something does not stand where the provider wants it")
ENDING = Cause(Fault.RENDERING, "the request does not end as the provider wants it")
TORN_THOUGHT = Cause(Fault.RENDERING, "a thought does not stand with the answer or the call that it belongs to")
ID = Cause(Fault.PROJECTION, "an id is not of the provider's form, or is not its own")
NAME = Cause(Fault.PROJECTION, "the name of a tool is not of the provider's form")
THOUGHT = Cause(Fault.PROJECTION, "a thought is not one that the provider takes back")
FORM = Cause(Fault.PROJECTION, "the request does not have the form that the provider asks for")
"""of everything that has no line of its own"""

CAUSES: dict[str, Cause] = {
    "unanswered-call": NO_RESULT,
    "response-count": NO_RESULT,
    "orphan-result": NO_CALL,
    "orphan-output": NO_CALL,
    "orphan-response": NO_CALL,
    "unknown-result": NO_CALL,
    "server-result-alone": NO_CALL,
    "duplicate-result": TWO_RESULTS,
    "duplicate-output": TWO_RESULTS,
    "call-order": ORDER,
    "call-place": ORDER,
    "first-content": ORDER,
    "first-message": ORDER,
    "first-message-calls": ORDER,
    "lone-answer": ORDER,
    "lone-message": ORDER,
    "neighbours": ORDER,
    "prefix-place": ORDER,
    "result-not-first": ORDER,
    "result-too-late": ORDER,
    "role-order": ORDER,
    "text-after-call": ORDER,
    "text-beside-responses": ORDER,
    "user-after-tool": ORDER,
    "ending": ENDING,
    "ends-on-answer": ENDING,
    "prefill": ENDING,
    "item-without-reasoning": TORN_THOUGHT,
    "loop-without-thinking": TORN_THOUGHT,
    "reasoning-alone": TORN_THOUGHT,
    "reasoning-pair": TORN_THOUGHT,
    "thinking-first": TORN_THOUGHT,
    "thinking-last": TORN_THOUGHT,
    "thinking-not-first": TORN_THOUGHT,
    "call-id-form": ID,
    "call-id-habit": ID,
    "duplicate-call-id": ID,
    "duplicate-id": ID,
    "duplicate-item-id": ID,
    "id-form": ID,
    "id-habit": ID,
    "id-one-sided": ID,
    "item-id-form": ID,
    "repeated-id": ID,
    "response-id": ID,
    "server-tool-id": ID,
    "name-form": NAME,
    "response-name": NAME,
    "result-name": NAME,
    "tool-name": NAME,
    "own-reasoning": THOUGHT,
    "reasoning-empty": THOUGHT,
    "reasoning-extra": THOUGHT,
    "reasoning-field": THOUGHT,
    "reasoning-missing": THOUGHT,
    "reasoning-not-encrypted": THOUGHT,
    "reasoning-summary": THOUGHT,
    "signature-form": THOUGHT,
    "signature-missing": THOUGHT,
    "thinking-unsigned": THOUGHT,
    "thinking-while-off": THOUGHT,
}


def cause_of(rule: str) -> Cause:
    """What is at fault where `rule` is broken."""
    return CAUSES.get(rule.rpartition("/")[2], FORM)
