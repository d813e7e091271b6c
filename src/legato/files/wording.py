"""What was decided on the way to a request, in words for people: each kind once, with how often.

A decision has a code for programs. Most codes are words; those that only mean something to whoever knows the code have
words of their own here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from legato.files.text import counted
from legato.model import Action, Decision

_VERBS = {
    Action.ADJUSTED: "changed",
    Action.CONVERTED: "converted",
    Action.DEDUPED: "left out, as it is there already",
    Action.DROPPED: "left out",
    Action.INSERTED: "put in",
    Action.MATCHED: "",
    Action.REATTRIBUTED: "given to whom it is from",
}
_TOLD = {
    (Action.CONVERTED, "calls-split"): "calls of one answer sent one after the other",
    (Action.CONVERTED, "foreign-thinking"): "another model's thinking told as text",
    (Action.CONVERTED, "hosted-tool"): "what a provider's own tool did told as text",
    (Action.CONVERTED, "instruction-as-text"): "an instruction told as text",
    (Action.CONVERTED, "media-omitted"): "an attachment named instead of sent",
    (Action.CONVERTED, "schema-types"): "types in the schema of a tool spelt as the provider wants them",
    (Action.CONVERTED, "text-embed"): "calls and results told as text",
    (Action.CONVERTED, "unsigned-thinking"): "unsigned thinking told as text",
    (Action.DEDUPED, "duplicate-result"): "a second result of a call left out",
    (Action.DEDUPED, "duplicate-tool"): "a second definition of a tool left out",
    (Action.DEDUPED, "replayed-call"): "a repeated call left out",
    (Action.DROPPED, "foreign-thinking"): "another model's thinking left out",
    (Action.DROPPED, "not-carried"): "what has no place in a request left out",
    (Action.DROPPED, "refused-options"): "options that the provider refuses left out",
    (Action.INSERTED, "bridge"): "a message put in where the two sides take turns",
    (Action.INSERTED, "dummy-tools"): "tools put in for calls whose definitions are missing",
    (Action.INSERTED, "empty-result"): "words put in for a result without any",
    (Action.INSERTED, "placeholder-signature"): "a placeholder put in for a signature",
    (Action.INSERTED, "reasoning-placeholder"): "a placeholder put in for reasoning",
    (Action.INSERTED, "tail"): "a last message of the human side put in",
    (Action.MOVED, "late-result"): "a late result moved to its call",
    (Action.QUOTED, "result-without-call"): "a result without a call quoted as text",
    (Action.RECONSTRUCTED, "result-without-call"): "a result without a call given one",
}


def in_words(decisions: Iterable[Decision]) -> Iterator[str]:
    """What was decided, each kind once with how often."""
    counts = Counter((decision.action, decision.reason) for decision in decisions)
    closed = sum(count for (action, _), count in counts.items() if action is Action.CLOSED)
    if closed:
        yield f"{counted(closed, 'call')} without a result closed"
    for (action, reason), count in counts.items():
        if action is not Action.CLOSED:
            usual = f"{reason.replace('-', ' ')} {_VERBS.get(action, action.value)}".rstrip()
            yield _TOLD.get((action, reason), usual) + (f" ({count} times)" if count > 1 else "")
