"""Named conversations, shared by every dialect: what people's transcripts look like, whole and damaged."""

from __future__ import annotations

from collections.abc import Callable

from legato.model import (
    CallId,
    ClosureReason,
    Code,
    Ending,
    HostedTool,
    Media,
    MediaKind,
    Text,
    ToolCall,
)
from legato.model.records import Answered, Compacted, CompactionKind, Opened, Started, Verdict
from legato.transcript import Conversation

from builders import (
    ai,
    call,
    calls,
    instruction,
    origin,
    response,
    result,
    talk,
    thought,
    tool,
    user,
)

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
PAPER = Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf")

CASES: dict[str, Callable[[], Conversation]] = {}


def case(make: Callable[[], Conversation]) -> Callable[[], Conversation]:
    CASES[make.__name__] = make
    return make


@case
def plain() -> Conversation:
    return talk(instruction("Be brief."), user("Hello"), ai("Hi, what can I do?"), user("Nothing."))


@case
def worked_sequence() -> Conversation:
    """One call answered, five calls of which one is answered, then text; as the functional specification has it."""
    claude = {"origin": origin("anthropic/claude-sonnet-4-5")}
    return talk(
        user("chat"),
        ai(thought("one", signature="c2lnMQ=="), call("toolu_1"), **claude),
        result("toolu_1"),
        ai(thought("two", signature="c2lnMg=="), *(call(f"toolu_{n}", n=n) for n in range(2, 7)), **claude),
        result("toolu_3"),
        ai(thought("three", signature="c2lnMw=="), "big streamed text", **claude),
        user("next"),
    )


@case
def parallel_and_failed() -> Conversation:
    return talk(
        user("Look"),
        ai("Looking.", call("call_a", path="a"), call("call_b", "grep", pattern="x"), call("call_c", "noargs")),
        tool(response("call_b", None, name="grep", error="no such file"), response("call_a", {"lines": [1, 2]})),
        result("call_c", "", name="noargs"),
        ai("Found."),
        user("Thanks"),
    )


@case
def open_call_then_message() -> Conversation:
    return talk(user("Look"), calls("call_a", "call_b"), result("call_b"), user("Never mind"))


@case
def ends_on_open_call() -> Conversation:
    return talk(user("Look"), calls("call_a"))


@case
def ends_on_answer() -> Conversation:
    return talk(user("Hello"), ai("Hi"))


@case
def begins_with_answer() -> Conversation:
    return talk(ai("Welcome!"), calls("call_a"), result("call_a"), ai("and"), ai("so on"), user("hm"))


@case
def reused_ids() -> Conversation:
    return talk(
        user("1"), calls("call_0"), result("call_0", "one"),
        user("2"), calls("call_0"), result("call_0", "two"),
        user("3"), calls("functions.read:0"), result("functions.read:0", "three"), user("4"),
    )  # fmt: skip


@case
def degenerate_ids() -> Conversation:
    return talk(
        user("x"),
        calls("", "", "x" * 90, "a.b", "a:b", "a_b"),
        tool(response("", "1"), response("", "2"), response("a.b", "4"), response("a:b", "5")),
        user("y"),
    )


@case
def orphans() -> Conversation:
    return talk(
        user("x"), result("gone", "kept", name="grep"), tool(response("lost", "quoted", name="")), ai("ok"), user("y")
    )


@case
def misattributed() -> Conversation:
    return talk(
        user("x"),
        tool(call("call_a"), response("call_a"), call("call_b")),
        user("and", call("call_c"), response("call_b", "late")),
        ai(response("call_c", "odd"), "done"),
        user("y"),
    )


@case
def duplicates_and_late_results() -> Conversation:
    return talk(
        user("x"), calls("call_a", "call_a"), result("call_a", None, error="first try"), ai("meanwhile"),
        result("call_a", "second try"), result("call_a", "third"), user("y"),
    )  # fmt: skip


@case
def tool_names() -> Conversation:
    names = ["mcp.server/tool", "read file", "n" * 150, "9lives", "Über", "read_file"]
    return talk(
        user("x"),
        ai(*(call(f"call_{n}", name) for n, name in enumerate(names))),
        tool(*(response(f"call_{n}", n, name=name) for n, name in enumerate(names))),
        user("y"),
    )


@case
def odd_arguments() -> Conversation:
    return talk(
        user("x"),
        ai(
            ToolCall("read", {}, "call_1", raw="[1, 2]"),
            ToolCall("read", {}, "call_2", raw="{broken"),
            ToolCall("read", {"deep": {"a": [None, True, 1.5, "ü😀"]}}, "call_3"),
            ToolCall("read", {}, "call_4"),
        ),
        tool(*(response(f"call_{n}") for n in range(1, 5))),
        user("y"),
    )


@case
def media() -> Conversation:
    return talk(
        user("see", PICTURE, PAPER),
        calls("call_a", "call_b"),
        tool(response("call_a", "shot", media=(PICTURE,)), response("call_b", "paper", media=(PAPER,))),
        ai("I see", Code("print(1)", "python")),
        user("so?"),
    )


@case
def hosted_tools() -> Conversation:
    return talk(user("x"), ai(HostedTool("web_search", {"q": "legato"}, {"hits": 2}), "Two hits."), user("y"))


@case
def endings() -> Conversation:
    return talk(
        user("1"), ai(thought("unsigned"), "so f", call("call_a"), ending=Ending.CUT),
        user("2"), ai("no", ending=Ending.REFUSED),
        user("3"), ai(ToolCall("read", {}, "call_b", raw='{"pa', finished=False), ending=Ending.LENGTH),
        result("call_b", None, error="The arguments were cut off; the tool did not run."),
        user("4"),
    )  # fmt: skip


@case
def closures() -> Conversation:
    a, b, c = (CallId(f"hist_tool_{name}") for name in "abc")
    return talk(
        Opened(incarnation=1), user("x"), calls("a", "b", "c", "d"),
        Answered(call=a, verdict=Verdict.DENIED, reason="wrong file"), Started(call=b), Opened(incarnation=2),
        tool(response("c", None, reason=ClosureReason.CANCELLED_RUNNING)), user("y"),
        Answered(call=c, verdict=Verdict.ALLOWED),
    )  # fmt: skip


@case
def instructions_in_the_middle() -> Conversation:
    return talk(
        instruction("Be kind."), user("x"), calls("call_a"), result("call_a"), instruction("Be quick."), ai("ok"),
        instruction("Be loud."), user("y"),
    )  # fmt: skip


@case
def compacted() -> Conversation:
    return talk(
        user("a long story"), calls("call_a"), result("call_a", "x" * 50), ai("I see"),
        user("more"), calls("call_b", "call_c"), result("call_b", "y" * 50), result("call_c", "z" * 50),
        Compacted(kind=CompactionKind.COVER, text="They told a story.", window=10**9, first=0, last=3),
        Compacted(kind=CompactionKind.STUB, text="[read: 50 characters]", window=10**9, call=CallId("hist_tool_b")),
        user("go on"),
    )  # fmt: skip


@case
def blank_texts() -> Conversation:
    return talk(user("x"), ai(" ", call("call_a"), ""), result("call_a", " "), ai("\u2003"), user("", "y"))


@case
def signatures_of_everybody() -> Conversation:
    return talk(
        user("1"),
        ai(thought("c", signature="c2ln"), call("toolu_1"), origin=origin("anthropic/claude-sonnet-4-5")),
        result("toolu_1"),
        ai(
            ToolCall("read", {"path": "g"}, "g1", native={"thoughtSignature": "Z3Np"}),
            call("g2"),
            origin=origin("gemini/gemini-3-pro-preview"),
        ),
        tool(response("g1"), response("g2")),
        ai(
            thought("r", item={"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}),
            call("call_r"),
            origin=origin("openai-responses/gpt-5.1"),
        ),
        result("call_r"),
        ai(thought("k"), call("functions.read:0"), origin=origin("kimi/kimi-k2-thinking")),
        result("functions.read:0"),
        ai(thought("d"), Text("done"), origin=origin("deepseek/deepseek-reasoner")),
        user("2"),
    )
