"""Who may run what, who is asked, and what the answers do."""

from collections.abc import Callable

import anyio
import pytest

from legato.errors import CallerError, ConfigError
from legato.model import CallId, ClosureReason, JsonObject, ToolCall, ToolSpec
from legato.model.records import Scope, Verdict
from legato.tools import (
    Approval,
    ApprovalQueue,
    Effect,
    Mode,
    NoteKind,
    Question,
    Rule,
    Ruling,
    Tool,
    ToolContext,
    ToolKind,
    ToolNote,
    parse_rules,
)
from legato.tools.approval import Grant
from legato.tools.rules import judge
from scheduling import ANYTHING, Recorder, Stage, bad, call, closed, instant, ok, scheduler, until

pytestmark = pytest.mark.anyio

PLAN_SAID = (
    "Plan mode is read only: the tool 'act' did not run. Look around and propose what to do instead; "
    "it can be done when plan mode is left."
)


class Person:
    """An approver who answers at once, as told, and remembers the questions."""

    def __init__(self, answer: Callable[[Question], Ruling]) -> None:
        self.answer = answer
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Ruling:
        self.questions.append(question)
        return self.answer(question)


def yes(question: Question, scope: Scope = Scope.ONCE, **more: object) -> Ruling:
    return Ruling(question.call, question.digest, Verdict.ALLOWED, scope, **more)  # type: ignore[arg-type]


def no(question: Question, reason: str | None = None) -> Ruling:
    return Ruling(question.call, question.digest, Verdict.DENIED, reason=reason)


def echo(name: str, kind: ToolKind, ran: list[JsonObject] | None = None, **traits: object) -> Tool:
    """A tool that returns its arguments; rules see its path."""

    async def run(arguments: JsonObject, _: ToolContext) -> object:
        if ran is not None:
            ran.append(arguments)
        return arguments

    return Tool(
        spec=ToolSpec(name, "", ANYTHING),
        run=run,
        kind=kind,
        **{"subject": lambda arguments: str(arguments.get("path", "")), **traits},
    )


# --- modes and rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.ASK, "allow ask ask ask"),
        (Mode.EDITS, "allow allow ask ask"),
        (Mode.PLAN, "allow deny deny deny"),
        (Mode.NEVER, "allow allow allow allow"),
    ],
)
async def test_a_mode_decides_by_the_kind_of_tool(mode: Mode, expected: str) -> None:
    kinds = (ToolKind.READ, ToolKind.EDIT, ToolKind.EXECUTE, ToolKind.OTHER)
    said = [judge(instant("act", kind=kind), {}, mode=mode, rules=()).effect.value for kind in kinds]
    assert " ".join(said) == expected


@pytest.mark.parametrize(
    ("rules", "kind", "subject", "expected"),
    [
        ({"allow": ["act(git status *)"]}, ToolKind.EXECUTE, "git status", "allow"),
        ({"allow": ["act(git status *)"]}, ToolKind.EXECUTE, "git status -s", "allow"),
        ({"allow": ["act(git status *)"]}, ToolKind.EXECUTE, "git statusx", "ask"),
        ({"allow": ["act(git status *)"]}, ToolKind.EXECUTE, "git status; rm -r .", "ask"),
        ({"allow": ["act(git status *)"]}, ToolKind.EXECUTE, "git status $(rm -r .)", "ask"),
        ({"allow": ["act(git status *)"]}, ToolKind.EXECUTE, "git status\nrm -r .", "ask"),
        ({"allow": ["act(*)"]}, ToolKind.EXECUTE, "ls | tee x", "allow"),
        ({"allow": ["act(*)"]}, ToolKind.EXECUTE, "ls > x", "ask"),
        ({"allow": ["act"]}, ToolKind.EXECUTE, "ls | tee x", "allow"),
        ({"allow": ["act"], "deny": ["act(rm *)"]}, ToolKind.EXECUTE, "cd x && rm -r .", "deny"),
        ({"allow": ["act"], "ask": ["act(git push *)"]}, ToolKind.EXECUTE, "git push", "ask"),
        ({"allow": ["act(docs/**)"]}, ToolKind.EDIT, "docs/a/b.md", "allow"),
        ({"allow": ["act(docs/*)"]}, ToolKind.EDIT, "docs/a/b.md", "ask"),
        ({"allow": ["act(**/*.md)"]}, ToolKind.EDIT, "top.md", "allow"),
        ({"deny": ["a*(secret.txt)"]}, ToolKind.READ, "secret.txt", "deny"),
        ({"allow": ["other"]}, ToolKind.OTHER, "x", "ask"),
        # What an earlier version offered, or a person wrote, holds as it is written.
        ({"allow": ["act(rm *)"]}, ToolKind.EXECUTE, "rm -rf x", "allow"),
        ({"allow": ["act(bash *)"]}, ToolKind.EXECUTE, "bash run.sh", "allow"),
        ({"allow": ["act(sudo apt *)"]}, ToolKind.EXECUTE, "sudo apt install x", "allow"),
        ({"allow": ["act(*)"]}, ToolKind.EDIT, "a.py", "allow"),
        # A wildcard never covers an option that makes more of a command than its program is known for.
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "git log --oneline -5", "allow"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "git log --output=x", "ask"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "git log '--output' x", "ask"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, 'git log --out"put"=x', "ask"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "git log *", "ask"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "git log -- src/*.py", "allow"),
        ({"allow": ["act(git log --output=*)"]}, ToolKind.EXECUTE, "git log --output=x", "allow"),
        ({"allow": ["act(git diff *)"]}, ToolKind.EXECUTE, "git diff main..topic src", "allow"),
        ({"allow": ["act(git diff *)"]}, ToolKind.EXECUTE, "git diff x /etc/passwd", "ask"),
        ({"allow": ["act(git diff *)"]}, ToolKind.EXECUTE, "git diff x ../../secret", "ask"),
        ({"allow": ["act(git diff *)"]}, ToolKind.EXECUTE, "git diff --no-index a b", "ask"),
        ({"allow": ["act(find *)"]}, ToolKind.EXECUTE, "find . -name '*.py'", "allow"),
        ({"allow": ["act(find *)"]}, ToolKind.EXECUTE, "find . -delete", "ask"),
        ({"allow": ["act(find *)"]}, ToolKind.EXECUTE, "find . -exec rm x +", "ask"),
        ({"allow": ["act(find * -delete)"]}, ToolKind.EXECUTE, "find . -delete", "allow"),
        ({"allow": ["act(sort *)"]}, ToolKind.EXECUTE, "sort -n x", "allow"),
        ({"allow": ["act(sort *)"]}, ToolKind.EXECUTE, "sort -no y x", "ask"),
        ({"allow": ["act(sort *)"]}, ToolKind.EXECUTE, "sort --out=y x", "ask"),
        ({"allow": ["act(rg *)"]}, ToolKind.EXECUTE, "rg --pre ./x y", "ask"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "/usr/bin/git log", "allow"),
        ({"allow": ["act(git log *)"]}, ToolKind.EXECUTE, "./git log", "ask"),
        ({"allow": ["act(find . -delete)"]}, ToolKind.EXECUTE, "find . -delete", "allow"),
    ],
)
async def test_rules_match_the_subject_of_a_call(
    rules: dict[str, list[str]], kind: ToolKind, subject: str, expected: str
) -> None:
    judgement = judge(echo("act", kind), {"path": subject}, mode=Mode.ASK, rules=parse_rules(**rules))
    assert judgement.effect.value == expected


async def test_a_deny_rule_holds_where_nobody_is_ever_asked_and_an_ask_rule_does_not() -> None:
    act = echo("act", ToolKind.EXECUTE)
    rules = parse_rules(deny=["act(rm *)"], ask=["act(git *)"])
    assert judge(act, {"path": "rm x"}, mode=Mode.NEVER, rules=rules).effect is Effect.DENY
    assert judge(act, {"path": "git x"}, mode=Mode.NEVER, rules=rules).effect is Effect.ALLOW


async def test_no_rule_opens_plan_mode() -> None:
    act = echo("act", ToolKind.EDIT)
    assert judge(act, {}, mode=Mode.PLAN, rules=parse_rules(allow=["act"])).effect is Effect.DENY


@pytest.mark.parametrize("text", ["", "(x)", "shell(git"])
async def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is no rule"):
        Rule.parse(text, Effect.ALLOW)


async def test_a_rule_reads_back_as_it_is_written() -> None:
    for text in ("shell", "shell(git status *)", "write(a (copy).txt)"):
        assert str(Rule.parse(text, Effect.ASK)) == text


async def test_plan_mode_refuses_in_its_own_name_and_reading_goes_on() -> None:
    log = Recorder()
    tools = [instant("act", kind=ToolKind.EDIT), instant("look")]
    responses = await scheduler(tools, approval=Approval(Mode.PLAN)).run([call("a", "act"), call("b", "look")], log)
    assert list(responses) == [bad("a", PLAN_SAID, "act"), ok("b", "ok", "look")]
    assert log.answers == []


async def test_a_call_that_a_rule_forbids_is_not_said_to_be_denied_by_the_user() -> None:
    approval = Approval(Mode.NEVER, parse_rules(deny=["act(x)"]))
    (response,) = await scheduler([echo("act", ToolKind.OTHER)], approval=approval).run(
        [call("a", "act", path="x")], Recorder()
    )
    said = "The rule `act(x)` of this project forbids this call. The tool did not run. Do not repeat it unchanged."
    assert response == bad("a", said, "act")


# --- asking -----------------------------------------------------------------------------------------------------------


async def test_an_allowed_call_is_asked_answered_started_and_settled_in_that_order() -> None:
    log, person = Recorder(), Person(yes)
    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=Approval(Mode.ASK, approver=person))
    await runner.run([call("a", "act", path="ls")], log)
    assert [item[0] for item in log.news] == ["asked", "answered", "started", "settled"]
    assert log.answers == [(Verdict.ALLOWED, Scope.ONCE, None, None)]
    (question,) = person.questions
    assert (question.call, question.tool, question.arguments) == ("hist_tool_a", "act", {"path": "ls"})
    assert question.shown == '{\n  "path": "ls"\n}'


async def test_one_of_many_denied_carries_the_users_reason_and_the_others_run() -> None:
    log = Recorder()
    person = Person(lambda question: no(question, "use git mv") if question.call.endswith("b") else yes(question))
    runner = scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=Approval(approver=person))
    responses = await runner.run([call("a", "act"), call("b", "act"), call("c", "act")], log)
    assert list(responses) == [
        ok("a", "ok", "act"),
        closed("b", ClosureReason.DENIED, "act", said="use git mv"),
        ok("c", "ok", "act"),
    ]
    assert (Verdict.DENIED, Scope.ONCE, "use git mv", None) in log.answers


async def test_denied_unanswered_and_never_shown_are_three_reasons() -> None:
    class Nobody:
        async def ask(self, question: Question) -> Ruling:
            await anyio.sleep_forever()
            raise AssertionError

    async def outcome(approval: Approval) -> tuple[object, Verdict]:
        log = Recorder()
        runner = scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=approval)
        (response,) = await runner.run([call("a", "act")], log)
        return response, log.answers[0][0]

    unanswered = (
        "This call was shown for approval and nobody answered in time. The tool did not run, and nobody refused it."
    )
    assert await outcome(Approval(approver=Person(no))) == (closed("a", ClosureReason.DENIED, "act"), Verdict.DENIED)
    assert await outcome(Approval(approver=Nobody(), timeout=0.01)) == (bad("a", unanswered, "act"), Verdict.TIMED_OUT)
    assert await outcome(Approval()) == (
        closed("a", ClosureReason.APPROVAL_UNAVAILABLE, "act"),
        Verdict.UNAVAILABLE,
    )


async def test_without_a_person_what_needs_no_approval_still_runs() -> None:
    log = Recorder()
    tools = [instant("act", kind=ToolKind.EXECUTE), instant("look")]
    responses = await scheduler(tools, approval=Approval()).run([call("a", "act"), call("b", "look")], log)
    assert list(responses) == [closed("a", ClosureReason.APPROVAL_UNAVAILABLE, "act"), ok("b", "ok", "look")]
    assert log.order("asked") == []


async def test_edited_arguments_are_what_runs_and_what_is_recorded() -> None:
    ran: list[JsonObject] = []
    log, person = Recorder(), Person(lambda question: yes(question, arguments={"path": "safe"}))
    runner = scheduler([echo("act", ToolKind.EXECUTE, ran)], approval=Approval(approver=person))
    (response,) = await runner.run([call("a", "act", path="rash")], log)
    assert (response.result, ran) == ({"path": "safe"}, [{"path": "safe"}])
    assert log.answers == [(Verdict.ALLOWED, Scope.ONCE, None, {"path": "safe"})]


async def test_edited_arguments_that_do_not_fit_do_not_run() -> None:
    ran: list[JsonObject] = []
    person = Person(lambda question: yes(question, arguments={"path": 7}))
    runner = scheduler([echo("act", ToolKind.EXECUTE, ran)], approval=Approval(approver=person))
    (response,) = await runner.run([call("a", "act", path="x")], Recorder())
    said = (
        "The user changed the arguments. The arguments do not fit, so the tool 'act' did not run: "
        "`path` must be a string, not an integer."
    )
    assert (response, ran) == (bad("a", said, "act"), [])


async def test_an_edited_path_waits_for_the_file_it_now_names() -> None:
    stage, log = Stage(), Recorder()

    def answer(question: Question) -> Ruling:
        return yes(question, arguments={"path": "shared"})

    traits = {"writes": lambda arguments: frozenset({arguments["path"]}), "kind": ToolKind.EDIT}
    first = stage.tool("first", **{**traits, "kind": ToolKind.READ})
    runner = scheduler([first, stage.tool("act", **traits)], approval=Approval(approver=Person(answer)))
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "first", path="shared"), call("b", "act", path="own")], log)
        await stage.until(lambda: stage.running == {"a"})
        await until(lambda: "b" in log.order("answered"))
        await anyio.sleep(0.01)
        assert stage.began == ["a"]
        stage.release("a")
        stage.release("b")
    assert stage.began == ["a", "b"]


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.ALWAYS])
async def test_a_lasting_yes_frees_the_waiting_calls_that_it_covers_and_no_others(scope: Scope) -> None:
    remembered: list[Rule] = []
    person = Person(lambda question: yes(question, scope, pattern="docs/**"))
    approval = Approval(approver=person, remember=remembered.append)
    runner = scheduler([echo("act", ToolKind.EDIT)], approval=approval)
    paths = {"a": "docs/1", "b": "src/2", "c": "docs/3"}
    await runner.run([call(key, "act", path=path) for key, path in paths.items()], Recorder())
    assert [question.call for question in person.questions] == ["hist_tool_a", "hist_tool_b"]
    rules = [Rule(Effect.ALLOW, "act", "docs/**")] * 2
    is_kept = scope is Scope.ALWAYS
    assert (approval.rules, approval.session_rules, remembered) == (
        rules if is_kept else [],
        [] if is_kept else rules,
        rules if is_kept else [],
    )


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.ALWAYS])
async def test_a_lasting_yes_without_a_pattern_covers_repetitions_of_the_same_call_and_is_not_written_down(
    scope: Scope,
) -> None:
    remembered: list[Rule] = []
    person = Person(lambda question: yes(question, scope))
    approval = Approval(approver=person, remember=remembered.append)
    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=approval)
    commands = {"a": "ls *", "b": "ls *", "c": "ls x"}
    await runner.run([call(key, "act", path=command) for key, command in commands.items()], Recorder())
    assert [question.call for question in person.questions] == ["hist_tool_a", "hist_tool_c"]
    assert (approval.grants, approval.rules, remembered) == (
        (Grant("act", {"path": "ls *"}), Grant("act", {"path": "ls x"})),
        [],
        [],
    )


async def test_the_same_command_with_another_argument_beside_it_is_another_call() -> None:
    person = Person(lambda question: yes(question, Scope.SESSION))
    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=Approval(approver=person))
    await runner.run([call("a", "act", path="ls"), call("b", "act", path="ls", timeout=600)], Recorder())
    assert [question.arguments for question in person.questions] == [{"path": "ls"}, {"path": "ls", "timeout": 600}]


async def test_a_yes_for_the_session_settles_what_a_rule_asks_for_and_not_what_one_denies() -> None:
    person = Person(lambda question: yes(question, Scope.SESSION))
    approval = Approval(Mode.ASK, parse_rules(ask=["act(git push *)"]), approver=person)
    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=approval)
    await runner.run([call(key, "act", path="git push") for key in "ab"], Recorder())
    assert [question.pattern for question in person.questions] == [None]
    approval.rules += parse_rules(deny=["act(git push *)"])
    (response,) = await runner.run([call("c", "act", path="git push")], Recorder())
    assert response.error is not None


async def test_what_was_allowed_for_a_session_ends_with_it() -> None:
    def answer(question: Question) -> Ruling:
        return yes(question, Scope.SESSION, pattern="x *" if question.arguments["path"].startswith("x") else None)

    person = Person(answer)
    approval = Approval(approver=person)
    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=approval)
    await runner.run([call("a", "act", path="ls"), call("b", "act", path="x 1")], Recorder())
    assert (len(approval.grants), len(approval.session_rules)) == (1, 1)
    approval.forget_session()
    await runner.run([call("c", "act", path="ls"), call("d", "act", path="x 2")], Recorder())
    assert [question.call[-1] for question in person.questions] == ["a", "b", "c", "d"]


async def test_an_answer_for_another_call_or_another_digest_is_ignored() -> None:
    answers = iter(
        [
            lambda question: Ruling(CallId("hist_tool_z"), question.digest),
            lambda question: Ruling(question.call, "what was shown before"),
            lambda question: no(question, "really no"),
        ]
    )
    notes: list[ToolNote] = []

    def answer(question: Question) -> Ruling:
        return next(answers)(question)

    person = Person(answer)
    approval = Approval(approver=person, noted=notes.append)
    (response,) = await scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=approval).run(
        [call("a", "act")], Recorder()
    )
    assert response == closed("a", ClosureReason.DENIED, "act", said="really no")
    assert [note.kind for note in notes] == [NoteKind.STRAY_RULING] * 2


async def test_an_approver_that_never_answers_its_question_counts_as_nobody() -> None:
    person = Person(lambda question: Ruling(question.call, "another"))
    (response,) = await scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=Approval(approver=person)).run(
        [call("a", "act")], Recorder()
    )
    assert response == closed("a", ClosureReason.APPROVAL_UNAVAILABLE, "act")


async def test_an_approver_that_breaks_counts_as_nobody_and_the_others_run() -> None:
    class Broken:
        async def ask(self, question: Question) -> Ruling:
            raise RuntimeError("no terminal")

    notes: list[ToolNote] = []
    approval = Approval(approver=Broken(), noted=notes.append)
    tools = [instant("act", kind=ToolKind.EXECUTE), instant("look")]
    responses = await scheduler(tools, approval=approval).run([call("a", "act"), call("b", "look")], Recorder())
    assert list(responses) == [closed("a", ClosureReason.APPROVAL_UNAVAILABLE, "act"), ok("b", "ok", "look")]
    assert [note.kind for note in notes] == [NoteKind.APPROVER_FAILED]


async def test_a_call_whose_preview_fails_is_not_asked_about() -> None:
    def preview(_: JsonObject) -> str:
        raise CallerError("`old` does not occur in the file")

    person = Person(yes)
    runner = scheduler([instant("act", kind=ToolKind.EDIT, preview=preview)], approval=Approval(approver=person))
    (response,) = await runner.run([call("a", "act")], Recorder())
    assert response == bad("a", "The tool 'act' did not run: `old` does not occur in the file", "act")
    assert person.questions == []


async def test_a_question_does_not_hold_up_calls_that_need_none() -> None:
    stage, log, queue = Stage(), Recorder(), ApprovalQueue()
    runner = scheduler(
        [stage.tool(), instant("act", kind=ToolKind.EXECUTE)], approval=Approval(approver=queue), limit=1
    )
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("q", "act"), call("r")], log)
        await stage.until(lambda: "r" in stage.running)
        await until(lambda: queue.questions)
        stage.release("r")
        (question,) = queue.questions
        assert queue.rule(yes(question))
    assert log.order("settled") == ["r", "q"]


async def test_two_confirmations_of_one_question_are_one_execution() -> None:
    ran: list[JsonObject] = []
    answers: list[bool] = []
    log, queue = Recorder(), ApprovalQueue()
    runner = scheduler([echo("act", ToolKind.EXECUTE, ran)], approval=Approval(approver=queue))
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "act", path="x")], log)
        await until(lambda: queue.questions)
        (question,) = queue.questions
        answers += [queue.rule(yes(question)), queue.rule(yes(question)), queue.rule(no(question))]
    assert (answers, ran) == ([True, False, False], [{"path": "x"}])


async def test_the_queue_ignores_answers_to_what_was_not_shown() -> None:
    queue = ApprovalQueue()
    shown: list[CallId] = []
    watched = ApprovalQueue(shown=lambda question: shown.append(question.call))
    log = Recorder()
    runner = scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=Approval(approver=watched))
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "act")], log)
        await until(lambda: watched.questions)
        (question,) = watched.questions
        assert not watched.rule(Ruling(CallId("hist_tool_b"), question.digest))
        assert not watched.rule(Ruling(question.call, "stale"))
        assert not queue.rule(yes(question))  # the question of another owner
        assert watched.rule(no(question))
    assert (shown, log.settled) == (["hist_tool_a"], {"hist_tool_a": closed("a", ClosureReason.DENIED, "act")})


async def test_what_is_asked_is_keyed_by_what_is_shown() -> None:
    seen: list[str] = []

    def remember(question: Question) -> Ruling:
        seen.append(question.digest)
        return yes(question)

    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=Approval(approver=Person(remember)))
    calls = [call("a", "act", path="x"), call("b", "act", path="y"), call("c", "act", path="x")]
    await runner.run(calls, Recorder())
    assert seen[0] != seen[1]
    assert seen[0] == seen[2]


async def test_a_mode_that_changes_while_calls_wait_holds_for_those_that_wait() -> None:
    log, queue = Recorder(), ApprovalQueue()
    approval = Approval(approver=queue)
    runner = scheduler([instant("act", kind=ToolKind.EDIT)], approval=approval)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "act"), call("b", "act")], log)
        await until(lambda: queue.questions)
        approval.mode = Mode.EDITS
        queue.rule(yes(queue.questions[0]))
    assert log.order("asked") == ["a"]
    assert log.order("settled") == ["a", "b"]


async def test_a_call_that_cannot_run_is_not_asked_about() -> None:
    person = Person(yes)
    broken = ToolCall(name="act", id=call("a").id, raw="{", finished=False)
    runner = scheduler([echo("act", ToolKind.EXECUTE)], approval=Approval(approver=person))
    (response,) = await runner.run([broken], Recorder())
    assert response.error is not None
    assert person.questions == []


@pytest.mark.parametrize("verdict", [Verdict.UNAVAILABLE, Verdict.TIMED_OUT])
async def test_a_face_can_say_itself_that_nobody_was_there_or_answered(verdict: Verdict) -> None:
    log = Recorder()
    person = Person(lambda question: Ruling(question.call, question.digest, verdict))
    runner = scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=Approval(approver=person))
    (response,) = await runner.run([call("a", "act")], log)
    assert response.reason is (ClosureReason.APPROVAL_UNAVAILABLE if verdict is Verdict.UNAVAILABLE else None)
    assert [answer[0] for answer in log.answers] == [verdict]


async def test_a_prompt_that_gives_up_by_itself_is_unanswered() -> None:
    class Impatient:
        async def ask(self, question: Question) -> Ruling:
            raise TimeoutError

    log = Recorder()
    runner = scheduler([instant("act", kind=ToolKind.EXECUTE)], approval=Approval(approver=Impatient()))
    await runner.run([call("a", "act")], log)
    assert [answer[0] for answer in log.answers] == [Verdict.TIMED_OUT]
