"""However far an answer reaches, it reaches what the person was shown, and nothing else."""

import anyio
from hypothesis import assume, given
from hypothesis import strategies as st

from legato.model import CallId, JsonObject, ToolCall, ToolSpec
from legato.model.records import Scope, Verdict
from legato.tools import Approval, Effect, Mode, Question, Rule, Ruling, Tool, ToolContext, ToolKind, parse_rules
from legato.tools.approval import Permit
from legato.tools.protected import PROTECTED
from scheduling import ANYTHING, Recorder

WORDS = st.sampled_from(
    ["git", "git status", "git log", "ls", "rm", "make", "cat", "-l", "--output=x", "*", "?", "[a]", "\\", "notes.tmp",
     ".git/config", ".vscode", "é", "'a b'", '"*"', "a*", ";", "&&", "|", "> x", "$(x)", "\n", " ", "(", ")", "x\u202ey"]
)  # fmt: skip
COMMANDS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join) | st.text(max_size=20)
EXTRAS = st.dictionaries(
    st.sampled_from(["timeout", "flag"]),
    st.sampled_from([1, 1.0, True, None, "1", [1], {"a": 1}, {"a": 1.0}]),
    max_size=2,
)
KINDS = st.sampled_from([ToolKind.EDIT, ToolKind.EXECUTE, ToolKind.OTHER])


def tool(kind: ToolKind, name: str = "act") -> Tool:
    async def run(arguments: JsonObject, _: ToolContext) -> object:
        return arguments

    return Tool(spec=ToolSpec(name, "", ANYTHING), run=run, kind=kind, subject=lambda arguments: str(arguments["path"]))


@st.composite
def calls(draw: st.DrawFn) -> JsonObject:
    return {"path": draw(COMMANDS), **draw(EXTRAS)}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[JsonObject, JsonObject]:
    """A call, and one that is often the same and often nearly so."""
    first = draw(calls())
    same = dict(reversed(first.items()))
    longer = {**first, "path": first["path"] + draw(st.sampled_from([" ", "x", " x", "\n", "; rm x", "*"]))}
    return first, draw(st.sampled_from([same, longer, {**first, **draw(EXTRAS)}, draw(calls())]))


class Person:
    """Says yes to the first question, as far as told, and no to all others."""

    def __init__(self, scope: Scope, *, takes_offer: bool = False) -> None:
        self.scope, self.takes_offer = scope, takes_offer
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Ruling:
        self.questions.append(question)
        if len(self.questions) > 1:
            return Ruling(question.call, question.digest, Verdict.DENIED)
        pattern = question.pattern if self.takes_offer else None
        return Ruling(question.call, question.digest, scope=self.scope, pattern=pattern)


def runs(approval: Approval, one: Tool, arguments: JsonObject) -> bool:
    call = ToolCall(name=one.name, id=CallId("hist_tool_a"), arguments=arguments)

    async def main() -> bool:
        return isinstance(await approval.decide(call, one, arguments=arguments, records=Recorder()), Permit)

    return anyio.run(main)


def same(left: object, right: object) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@given(pairs(), KINDS, st.sampled_from(["act", "other"]))
def test_after_a_yes_for_the_session_exactly_the_equal_calls_run_unasked(
    calls: tuple[JsonObject, JsonObject], kind: ToolKind, name: str
) -> None:
    first, second = calls
    person = Person(Scope.SESSION)
    approval = Approval(approver=person)
    assert runs(approval, tool(kind), first)
    is_protected = person.questions[0].protected is not None
    is_same = name == "act" and same(first, second)
    assert runs(approval, tool(kind, name), second) == (is_same and not is_protected)
    assert (approval.rules, approval.session_rules) == ([], [])
    assert len(approval.grants) == (0 if is_protected else 1)


@given(pairs(), KINDS)
def test_an_offered_rule_covers_the_call_at_hand_and_means_what_its_text_says(
    calls: tuple[JsonObject, JsonObject], kind: ToolKind
) -> None:
    first, second = calls
    act, remembered = tool(kind), list[Rule]()
    person = Person(Scope.ALWAYS, takes_offer=True)
    approval = Approval(approver=person, remember=remembered.append)
    runs(approval, act, first)
    pattern = person.questions[0].pattern
    assume(pattern is not None)
    shown = f"act({pattern})"
    assert [str(rule) for rule in remembered] == [shown]
    assert shown.isprintable()
    assert runs(approval, act, first)
    # In another session there is only the text.
    later = Approval(Mode.ASK, parse_rules(allow=[shown]))
    assert runs(approval, act, second) == runs(later, act, second)
    assert runs(later, act, second) <= Rule.parse(shown, Effect.ALLOW).covers(act, second["path"])


@given(calls(), KINDS)
def test_what_is_offered_for_a_command_or_a_file_reaches_no_other_program_and_no_other_file(
    arguments: JsonObject, kind: ToolKind
) -> None:
    person = Person(Scope.ONCE)
    runs(Approval(approver=person), tool(kind), arguments)
    pattern = person.questions[0].pattern
    assume(pattern is not None)
    rule = Rule(Effect.ALLOW, "act", pattern)
    for other in ("rm -rf x", "bash x", "env x", "x", "src/x", "*", ".git/config", f"{arguments['path']}; rm x"):
        assert not rule.covers(tool(kind), other) or other == arguments["path"]


@given(
    st.sampled_from([name for names in PROTECTED.values() for name in names if "*" not in name and " " not in name]),
    st.sampled_from(["", "./", "a/", "a/../", "/w/", "~/"]),
    st.sampled_from(["", "/x", "/x/y", "/"]),
    st.sampled_from(["{}", "'{}'", '"{}"', "--to={}", "x:{}", "<{}", ">{}", "a;{}", "$({})", "`{}`", "@{}", "{},b"]),
    st.booleans(),
)
def test_no_rule_lets_a_command_run_unasked_in_which_a_protected_name_is_written(
    name: str, before: str, after: str, around: str, shouts: bool
) -> None:
    path = f"{before}{name}{after}"
    command = f"tool {around.format(path.upper() if shouts else path)}"
    everything = Approval(Mode.EDITS, parse_rules(allow=["act", "act(*)", f"act({command})"]))
    assert not runs(everything, tool(ToolKind.EXECUTE), {"path": command})
