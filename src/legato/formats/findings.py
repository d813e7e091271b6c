"""What linting finds: the faults of a conversation and the broken rules of a request body, for the targets asked for.

A request body is judged by the rules of every target that speaks its dialect. Any other file, and a body that is to go
to another dialect, is judged by its faults: those that the target's rules refuse, or call risky.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from legato.formats.document import Body, Document
from legato.formats.faults import DUPLICATE_RESULT, LATE_RESULT, OPEN_CALL, ORPHAN_RESULT, FileFault, find_faults
from legato.formats.registry import FORMATS
from legato.formats.targets import find_target, own_targets
from legato.formats.wire.judging import broken_rules, depends_on_model
from legato.formats.wire.shapes import WIRE_DIALECTS, may_be_anthropic
from legato.model import Dialect, Json, Target
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation
from legato.wire.rules import WireRule

_FIELD = re.compile(r"[.\[]")


class Level(StrEnum):
    """An error is refused by a provider; a risk by some, or sometimes; a note is about the file alone.

    What is not understood in a file is a risk as well: it may have been said, and is missing in all that is made of it.
    """

    ERROR = "error"
    RISK = "risky"
    NOTE = "note"


class Finding(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that linting has to say."""

    rule: str
    level: Level
    place: str
    message: str
    repair: str = ""
    """what repair (or, for a format that is only read, convert) does about it"""
    targets: tuple[str, ...] = ()
    """the targets that it matters to"""
    says: dict[str, str] = {}
    """what the provider of a target says"""
    broken: dict[str, str] = {}
    """the rule of each target that is broken"""
    calls: tuple[str, ...] = ()
    line: int = 0
    """of the file, counted from 1; 0 where the place is in no line of it"""
    column: int = 0
    """the character of that line, counted from 1; 0 where the place is a whole line"""


def lint_document(document: Document, *targets: str) -> list[Finding]:
    """Everything there is to say about `document` for these targets, or for those that it was written for."""
    names = targets or own_targets(document)
    found = find(document, [(name, find_target(name, document=document)) for name in names])
    return found if targets else [*found, *_if_meant_for_anthropic(document)]


def refused(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that a provider would refuse the file for."""
    return [finding for finding in findings if finding.level is Level.ERROR]


def find(document: Document, targets: Sequence[tuple[str, Target]]) -> list[Finding]:
    """Everything there is to say about `document` for `targets`: pairs of a name and what it stands for."""
    findings = list(_of_file(document))
    judged: list[tuple[str, Target]] = []
    if document.body is not None:
        judged = [pair for pair in targets if _speaks(document, document.body, pair[1].dialect)]
        for name, target in judged:
            findings += _of_body(document, document.body, name, target)
    others = [pair for pair in targets if pair not in judged]
    if others:
        findings += [finding for fault in find_faults(document) if (finding := _of_fault(document, fault, others))]
    return findings


# --- the file itself --------------------------------------------------------------------------------------------------


def _of_file(document: Document) -> Iterator[Finding]:
    if document.is_empty and document.body is None:
        yield Finding(rule="file/empty", level=Level.NOTE, place="", message="there is no conversation in it")
    for note in document.notes:
        if note.is_damage:
            yield Finding(
                rule="file/damaged",
                level=Level.ERROR,
                place=note.place,
                message=note.message,
                repair=f"{_who(document)} leaves out what cannot be read",
            )
        elif note.is_unknown:
            yield Finding(rule="file/not-understood", level=Level.RISK, place=note.place, message=note.message)
        else:
            rule = "file/out-of-place" if note.is_carried else "file/not-carried"
            yield Finding(rule=rule, level=Level.NOTE, place=note.place, message=note.message)


def _speaks(document: Document, body: Body, dialect: Dialect) -> bool:
    """Whether a body is one of `dialect`, or as well one of it as of the dialect that it was taken for."""
    if body.dialect is dialect:
        return True
    is_plain_chat = document.format == "openai-chat" and dialect is Dialect.ANTHROPIC
    return is_plain_chat and may_be_anthropic(body.value)


def _if_meant_for_anthropic(document: Document) -> list[Finding]:
    """That the body lacks `max_tokens`, where it counts as chat only because of that."""
    body = document.body
    if body is None or body.is_bare or body.dialect is Dialect.ANTHROPIC:
        return []
    if not _speaks(document, body, Dialect.ANTHROPIC):
        return []
    found = list(_of_body(document, body, "anthropic", find_target("anthropic", document=document)))
    is_all = all(item.rule == "anthropic/max-tokens" for item in refused(found))
    return [replace(item, level=Level.RISK) for item in refused(found)] if is_all else []


# --- request bodies ---------------------------------------------------------------------------------------------------

_REPAIRS = {
    "unanswered-call": "puts in a result that says there is none",
    "response-count": "gives every call one result",
    "unknown-result": "gives the result the id of its call, or keeps it as quoted text",
    "result-too-late": "moves the result to its call",
    "result-not-first": "moves the result to its call",
    "duplicate-result": DUPLICATE_RESULT.repair,
    "duplicate-output": DUPLICATE_RESULT.repair,
    "orphan-result": "keeps it, with its call reconstructed or as quoted text",
    "orphan-output": "keeps it, with its call reconstructed or as quoted text",
    "orphan-response": "keeps it, with its call reconstructed or as quoted text",
    "duplicate-call-id": "gives each call an id of its own",
    "id-form": "gives the call an id of the right form",
    "call-id-form": "gives the call an id of the right form",
}


def _of_body(document: Document, body: Body, name: str, target: Target) -> Iterator[Finding]:
    parts = dialect_parts(target.dialect)
    read_as = "" if body.dialect is target.dialect else " --from anthropic"
    is_model_known = bool(document.model) or "/" in name
    for violation in broken_rules(body, target, is_model_known=is_model_known):
        is_whole_file = body.is_bare and not body.prefix
        level = Level.ERROR if violation.severity is Severity.REFUSED else Level.RISK
        yield Finding(
            rule=violation.rule,
            level=level,
            place=violation.path.removeprefix(parts.messages_field) if is_whole_file else body.prefix + violation.path,
            message=violation.message,
            repair=_doing(document, _repair_of(document, body, violation, level), read_as),
            targets=(name,),
            says=_says(name, target, parts.rules.get(violation.rule), violation.path, body.value),
            broken={name: violation.rule},
        )


def _repair_of(document: Document, body: Body, violation: Violation, level: Level) -> str:
    if level is Level.RISK:
        return "leaves it as it is"
    if depends_on_model(violation) and not document.model:
        return "leaves it as it is, because the file does not say which model it is for"
    if violation.path.startswith(dialect_parts(body.dialect).messages_field):
        usual = "brings it into the form that is accepted, or says what would be lost"
    else:
        usual = "corrects or drops it" if _FIELD.split(violation.path)[0] in body.value else "adds it"
    return _REPAIRS.get(violation.rule.partition("/")[2], usual)


# --- conversations ----------------------------------------------------------------------------------------------------


def _of_fault(document: Document, fault: FileFault, targets: Sequence[tuple[str, Target]]) -> Finding | None:
    """The fault as a finding for those of `targets` that mind it; None if all of them accept it."""
    broken: dict[str, WireRule] = {}
    says: dict[str, str] = {}
    for name, target in targets:
        rule_id = fault.kind.rules.get(target.profile) or fault.kind.rules.get(target.dialect.value, "")
        rule = dialect_parts(target.dialect).rules.get(rule_id)
        if rule is not None and not (fault.kind is ORPHAN_RESULT and _is_held(document, target)):
            broken[name] = rule
            says |= _says(name, target, rule)
    if not broken or _is_taught(document, fault):
        return None
    is_completed = document.format == "legato" or _is_over(document) or _completes_itself(document, fault, targets)
    is_refused = any(rule.severity is Severity.REFUSED for rule in broken.values())
    return Finding(
        rule=f"session/{fault.kind.name}",
        level=Level.ERROR if is_refused and not fault.kind.is_risk and not is_completed else Level.RISK,
        place=fault.place,
        message=fault.message,
        repair=_repair_of_fault(document, fault, is_completed=is_completed),
        targets=tuple(broken),
        says=says,
        broken={name: rule.id for name, rule in broken.items()},
        calls=tuple(str(call) for call in fault.calls),
    )


def _is_taught(document: Document, fault: FileFault) -> bool:
    """Whether the call that has no result is what an example teaches."""
    is_example = document.body is not None and document.body.is_example
    return is_example and fault.kind is OPEN_CALL and fault.place == document.places[-1]


def _repair_of_fault(document: Document, fault: FileFault, *, is_completed: bool) -> str:
    known = FORMATS.get(document.format)
    is_kept = known is not None and known.leaves_out_calls and fault.kind is OPEN_CALL and not _is_over(document)
    if is_kept and is_completed:
        return f"{_doing(document, fault.repair)}; without it, its agent leaves the call out when it goes on"
    if known is None or not known.closes_calls or fault.kind not in (OPEN_CALL, LATE_RESULT):
        return _doing(document, fault.repair)
    # Its agent minds neither, so only what is made of the session for someone else is different.
    if is_completed and known.repair is not None:
        return "repair leaves it as it is: its agent puts in a result itself before it asks the model"
    return f"convert {fault.repair}" + (", as its own agent does" if is_completed else "")


def _completes_itself(document: Document, fault: FileFault, targets: Sequence[tuple[str, Target]]) -> bool:
    """Whether the file's own agent minds the missing result itself, before it asks one of these targets."""
    known = FORMATS.get(document.format)
    if known is None or not (known.closes_calls or known.leaves_out_calls) or fault.kind is not OPEN_CALL:
        return False
    own = WIRE_DIALECTS.get(known.provider)
    return own is None or all(target.dialect is own for _, target in targets)


def _is_over(document: Document) -> bool:
    """Whether this is the conversation of a subagent inside a session: its agent never sends it again."""
    return "sidechain" in document.meta


def _is_held(document: Document, target: Target) -> bool:
    """Whether the provider keeps what came before this request, so that a result may answer a call in there."""
    held = {"previous_response_id", "conversation"} & document.options.extra.keys()
    return bool(held) and target.dialect is Dialect.OPENAI_RESPONSES


def _says(name: str, target: Target, rule: WireRule | None, path: str = "", body: Json = None) -> dict[str, str]:
    """What the provider of `target` says about a broken rule, and about this place where it is one of a body."""
    said = rule.quotation(path, body, host=target.server) if rule is not None else ""
    return {name: said} if said else {}


def _doing(document: Document, what: str, options: str = "") -> str:
    """Who does it: a log of ours is never rewritten, and a format that is only read can only be converted."""
    if document.format == "legato":
        return "nothing: a log is never rewritten; a request that is made from it is right"
    if _is_over(document):
        return "repair leaves it as it is: nothing goes on from a side chain"
    who = _who(document)
    is_loss = who == "repair" and what == DUPLICATE_RESULT.repair
    return f"{who}{options} {what}{' (--force, where they differ)' if is_loss else ''}"


def _who(document: Document) -> str:
    known = FORMATS.get(document.format)
    can = known is not None and known.is_written and document.original is not None
    return "repair" if can else "convert"
