"""Ask a person whether a call may run, and act on the answer.

In:  a call that could run, its tool, its arguments.
Out: a `Permit` with the arguments that will run, or a `Refusal` with what the model is told.

A question is keyed by the call's canonical id and by the hash of what was shown, and an answer to anything else is
ignored: a permission cannot reach a sibling, nor a command that was changed after it was shown. Questions are asked one
at a time, in call order.

"For the session" means this very call: the same tool with the same arguments. Only a pattern that the person was shown,
or wrote, reaches further; it becomes a rule. A call that waits its turn is judged again when its turn comes, so an
answer frees the waiting calls that it covers, and no others. For a protected path every answer holds for one call, and
nothing is kept of it. What a person did not say is never put into a person's mouth: no one there, no one answered,
forbidden by a rule and forbidden by the mode each have their own words.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Protocol

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from legato.model import CallId, ClosureReason, JsonObject, ToolCall, ToolResponse
from legato.model.hashing import digest
from legato.model.records import Scope, Verdict
from legato.tools.batch_log import ApprovalRecords, finish
from legato.tools.notes import Noted, NoteKind, ToolNote
from legato.tools.offers import offered_pattern
from legato.tools.patterns import escape
from legato.tools.protected import Protection
from legato.tools.registry import Tool, ToolKind
from legato.tools.rules import Effect, Judgement, Mode, Rule, judge

_MAX_STRAY_RULINGS = 8
"""an approver that keeps answering other questions is broken, and is treated as absent"""


class Question(Struct, frozen=True):
    """What a person is asked: the tool, and exactly what it would do.

    `pattern` is what "always" may mean: a rule for the tool with that pattern; None offers nothing. `protected` says
    why the answer can only hold for this one call, if that is so. `sandbox` says whether what it starts is in one.
    `outside` is set where the call has run in the sandbox already, and says why it may have failed there: the question
    is whether it may run again, outside of it. `asker` names the subagent whose call it is, if one's.
    """

    call: CallId
    tool: str
    kind: ToolKind
    arguments: JsonObject
    shown: str
    digest: str
    pattern: str | None = None
    protected: str | None = None
    sandbox: str | None = None
    outside: str | None = None
    asker: str = ""


class Ruling(Struct, frozen=True):
    """A person's answer to the question with that call and digest.

    `arguments`, where given, run instead of what the model asked for. `pattern` is what a ruling for the session or for
    always reaches; without one it reaches repetitions of this very call, in this session. To a protected call every
    ruling is one for once.
    """

    call: CallId
    digest: str
    verdict: Verdict = Verdict.ALLOWED
    scope: Scope = Scope.ONCE
    reason: str | None = None
    arguments: JsonObject | None = None
    pattern: str | None = None


class Approver(Protocol):
    """Someone who can be asked. Cancellation withdraws the question.

    One with an attribute `is_person` that is true is also asked whether a call may run again outside of the sandbox:
    others would answer without knowing what that means.
    """

    async def ask(self, question: Question) -> Ruling:
        """The answer to `question`; raises `TimeoutError` where no one answered in time."""
        ...


class Permit(Struct, frozen=True):
    """The call may run, with these arguments; it was allowed to write what is known by the names in `writes`.

    `unreadable` are globs of files that it has to leave out where it goes through folders.
    """

    arguments: JsonObject
    writes: frozenset[str] = frozenset()
    unreadable: tuple[str, ...] = ()


class Grant(Struct, frozen=True):
    """A call that may run again unasked: that tool with those arguments, to the letter."""

    tool: str
    arguments: JsonObject

    @property
    def key(self) -> bytes:
        """What is equal for equal calls; 1 and 1.0 and true are different arguments."""
        return msgspec.json.encode([self.tool, self.arguments], order="sorted")


class Refusal(Struct, frozen=True):
    """The call may not run: a closure with a reason of its own, or an error that says why."""

    reason: ClosureReason | None = None
    said: str | None = None
    error: str | None = None

    def response(self, call: ToolCall) -> ToolResponse:
        """What is recorded for `call`."""
        if self.reason is not None:
            return ToolResponse(call_id=call.id, tool_name=call.name, reason=self.reason, said=self.said)
        return ToolResponse(call_id=call.id, tool_name=call.name, error=self.error, is_complete=True)


class Approval:
    """The approval of one session: its mode, its rules and the person behind it.

    Subagents may share it; then there is still one question at a time. `remember` is told of each rule that holds for
    always, so that someone can write it down. `protected` are further files and folders that no rule opens;
    `folder` is the one that is worked in, whose own path protects nothing.
    """

    def __init__(
        self,
        mode: Mode = Mode.ASK,
        rules: Iterable[Rule] = (),
        *,
        approver: Approver | None = None,
        timeout: float | None = None,
        remember: Callable[[Rule], None] = lambda _: None,
        protected: Iterable[str | os.PathLike[str]] = (),
        folder: str | os.PathLike[str] | None = None,
        noted: Noted = lambda _: None,
    ) -> None:
        self.mode = mode
        self.rules: list[Rule] = list(rules)
        self.session_rules: list[Rule] = []
        self._grants: dict[bytes, Grant] = {}
        self._protection = Protection(protected, folder=folder)
        self.approver = approver
        self.timeout = timeout
        self._remember, self._noted = remember, noted
        self._turn = anyio.Lock()

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The calls that were allowed for this session, to the letter."""
        return tuple(self._grants.values())

    def forget_session(self) -> None:
        """Drop what was allowed for a session: another one begins."""
        self.session_rules.clear()
        self._grants.clear()

    async def decide(
        self, call: ToolCall, tool: Tool, *, arguments: JsonObject, records: ApprovalRecords, asker: str = ""
    ) -> Permit | Refusal:
        """May `call` run? Asks, if modes and rules do not say; `asker` names the subagent whose call it is."""
        verdict = self._unasked(tool, arguments)
        if not isinstance(verdict, Judgement):
            return verdict
        if self.approver is None:
            return await self._unavailable(call, verdict.protected, records)
        async with self._turn:
            # An answer to a question before this one may have settled this one too.
            verdict = self._unasked(tool, arguments)
            if not isinstance(verdict, Judgement):
                return verdict
            shown = await anyio.to_thread.run_sync(tool.preview, arguments, abandon_on_cancel=True)
            isolation = await anyio.to_thread.run_sync(tool.isolation)
            question = Question(
                call=call.id,
                tool=tool.name,
                kind=tool.kind,
                arguments=arguments,
                shown=shown,
                digest=digest_of(tool.name, arguments, shown),
                pattern=None if verdict.protected or verdict.by_rule else offered_pattern(tool, arguments),
                protected=verdict.protected,
                sandbox=None if isolation is None else isolation.words,
                asker=asker,
            )
            return await self._ask(call, tool, question, verdict, records)

    async def offer_outside(
        self, call: CallId, tool: Tool, arguments: JsonObject, *, why: str, asker: str = ""
    ) -> bool:
        """Whether a person lets a call run again outside of the sandbox; no rule, grant or mode says so for them."""
        if self.mode is Mode.NEVER or not getattr(self.approver, "is_person", False):
            return False
        async with self._turn:
            shown = await anyio.to_thread.run_sync(tool.preview, arguments, abandon_on_cancel=True)
            question = Question(
                call=call,
                tool=tool.name,
                kind=tool.kind,
                arguments=arguments,
                shown=shown,
                digest=digest_of(tool.name, arguments, f"outside\n{shown}"),
                outside=why,
                asker=asker,
            )
            try:
                with anyio.fail_after(self.timeout):
                    ruling = await self._ruling(question)
            except TimeoutError:
                return False
        return ruling is not None and ruling.verdict is Verdict.ALLOWED

    def _judge(self, tool: Tool, arguments: JsonObject) -> Judgement:
        rules = (*self.rules, *self.session_rules)
        return judge(tool, arguments, mode=self.mode, rules=rules, protection=self._protection)

    def _unasked(self, tool: Tool, arguments: JsonObject) -> Permit | Refusal | Judgement:
        """What modes, rules and grants decide; a judgement if a person has to."""
        judgement = self._judge(tool, arguments)
        match judgement.effect:
            case Effect.ALLOW:
                return Permit(arguments, judgement.writes, judgement.unreadable)
            case Effect.DENY:
                return Refusal(error=judgement.why)
            case Effect.ASK:
                if judgement.protected is None and Grant(tool.name, arguments).key in self._grants:
                    return Permit(arguments, judgement.writes, judgement.unreadable)
                return judgement

    async def _ask(
        self, call: ToolCall, tool: Tool, question: Question, judgement: Judgement, records: ApprovalRecords
    ) -> Permit | Refusal:
        await finish(records.asked(call, question.digest))
        try:
            with anyio.fail_after(self.timeout):
                ruling = await self._ruling(question)
        except TimeoutError:
            await finish(records.answered(call, Verdict.TIMED_OUT))
            return _UNANSWERED
        if ruling is None or ruling.verdict is Verdict.UNAVAILABLE:
            return await self._unavailable(call, question.protected, records)
        if ruling.verdict is Verdict.TIMED_OUT:
            await finish(records.answered(call, Verdict.TIMED_OUT))
            return _UNANSWERED
        edited, writes = None, judgement.writes
        if ruling.arguments is not None and ruling.arguments != question.arguments:
            edited, writes = ruling.arguments, frozenset[str]()
        scope = Scope.ONCE if question.protected else ruling.scope
        await finish(records.answered(call, ruling.verdict, scope=scope, reason=ruling.reason, arguments=edited))
        if ruling.verdict is Verdict.DENIED:
            return Refusal(ClosureReason.DENIED, said=ruling.reason)
        arguments = question.arguments if edited is None else edited
        self._keep(scope, ruling.pattern, tool, arguments)
        return Permit(arguments, writes, judgement.unreadable)

    async def _ruling(self, question: Question) -> Ruling | None:
        """The answer to this very question; None if no one is able to give one."""
        approver = self.approver
        for _ in range(_MAX_STRAY_RULINGS):
            if approver is None:
                return None
            try:
                ruling = await approver.ask(question)
            except TimeoutError:
                raise
            except Exception as error:  # noqa: BLE001  # a broken prompt must not break the batch
                self._noted(ToolNote(NoteKind.APPROVER_FAILED, question.call, repr(error)))
                return None
            if (ruling.call, ruling.digest) == (question.call, question.digest):
                return ruling
            stray = f"an answer for {ruling.call}, or for something else than was shown, was ignored"
            self._noted(ToolNote(NoteKind.STRAY_RULING, question.call, stray))
        return None

    def _keep(self, scope: Scope, pattern: str | None, tool: Tool, arguments: JsonObject) -> None:
        if scope is Scope.ONCE:
            return
        if pattern is None:  # nothing that a settings file could hold was agreed to
            grant = Grant(tool.name, arguments)
            self._grants[grant.key] = grant
            return
        rule = Rule(Effect.ALLOW, escape(tool.name), pattern)
        if scope is Scope.SESSION:
            self.session_rules.append(rule)
        else:
            self.rules.append(rule)
            self._remember(rule)

    async def _unavailable(self, call: ToolCall, protected: str | None, records: ApprovalRecords) -> Refusal:
        await finish(records.answered(call, Verdict.UNAVAILABLE))
        return Refusal(ClosureReason.PROTECTED if protected else ClosureReason.APPROVAL_UNAVAILABLE)


_UNANSWERED = Refusal(
    error="This call was shown for approval and nobody answered in time. The tool did not run, and nobody refused it."
)


def digest_of(tool: str, arguments: JsonObject, shown: str) -> str:
    """A name for what was shown, and for the arguments behind it."""
    return digest(msgspec.json.encode([tool, arguments, shown], order="sorted"))
