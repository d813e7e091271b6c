"""A Python function becomes a tool; boxes of tools; one tool without a loop."""

import asyncio
import contextvars
import threading
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

import anyio
import anyio.lowlevel
import msgspec
import pytest

from legato.errors import CallerError, ConfigError
from legato.model import Media, MediaKind, ToolSpec
from legato.tools import ToolBox, ToolContext, ToolKind, ToolOutput, as_tool, run_tool, tool
from legato.tools.registry import Missing
from scheduling import instant

pytestmark = pytest.mark.anyio


@dataclass
class Point:
    x: int
    y: int = 0


class Tree(msgspec.Struct):
    name: str
    children: list["Tree"] = []


async def test_a_function_is_the_tool_that_the_decorator_would_make_of_it() -> None:
    def double(number: int) -> int:
        """Twice as much."""
        return number * 2

    made = as_tool(double)
    assert (made.spec, made.kind, made.timeout) == (tool(double).spec, ToolKind.OTHER, None)
    assert (await run_tool(made, {"number": 4})).result == 8
    assert as_tool(made) is made


def test_what_only_describes_a_tool_cannot_be_run() -> None:
    with pytest.raises(ConfigError, match="cannot be run as a tool; pass a function"):
        as_tool(ToolSpec("look", "Look."))  # pyright: ignore[reportArgumentType]


async def test_the_schema_comes_from_the_signature_and_the_words_from_the_docstring() -> None:
    @tool
    def move(
        piece: str,
        to: Point,
        *,
        speed: Literal["fast", "slow"] = "slow",
        note: Optional[str] = None,  # noqa: UP045  # both spellings are used
        tags: list[str] = [],  # noqa: B006  # defaults are copied
        count: Annotated[int, msgspec.Meta(ge=1, description="how often")] = 1,
        context: ToolContext,
    ) -> str:
        """Move a piece.

        It goes where you say.

        Args:
            piece: which one
            to (Point): where it goes,
                counted from the corner
        """
        return f"{piece} {to.x},{to.y} {speed} {note} {tags} {count} {context.name}"

    assert move.spec == ToolSpec(
        name="move",
        description="Move a piece.\n\nIt goes where you say.",
        parameters={
            "type": "object",
            "properties": {
                "piece": {"type": "string", "description": "which one"},
                "to": {
                    "title": "Point",
                    "type": "object",
                    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                    "required": ["x"],
                    "description": "where it goes, counted from the corner",
                },
                "speed": {"enum": ["fast", "slow"], "default": "slow"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                "count": {"type": "integer", "minimum": 1, "description": "how often", "default": 1},
            },
            "required": ["piece", "to"],
            "additionalProperties": False,
        },
    )
    output = await run_tool(move, {"piece": "rook", "to": {"x": 1}, "tags": ["a"], "count": 2.0})
    assert output == ToolOutput("rook 1,0 slow None ['a'] 2 move")


async def test_a_type_that_contains_itself_stays_a_reference() -> None:
    @tool
    def grow(tree: Tree) -> int:
        return len(tree.children)

    assert grow.spec.parameters["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert list(grow.spec.parameters["$defs"]) == ["Tree"]
    assert await run_tool(grow, {"tree": {"name": "a", "children": [{"name": "b"}]}}) == ToolOutput(1)


async def test_a_function_without_arguments_is_a_tool_without_arguments() -> None:
    @tool(name="now", description="The time.", kind=ToolKind.READ, timeout=5)
    async def current() -> str:
        return "noon"

    assert (current.name, current.spec.description, current.kind, current.timeout) == (
        "now",
        "The time.",
        ToolKind.READ,
        5,
    )
    assert not current.takes_arguments
    assert await run_tool(current) == ToolOutput("noon")


async def test_what_cannot_be_passed_by_name_cannot_be_a_tool() -> None:
    def loose(*paths: str) -> None: ...

    def odd(thing: object, other: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    def strange(lock: threading.Thread) -> None: ...

    for function in (loose, odd, strange):
        with pytest.raises(ConfigError, match="cannot be a tool"):
            tool(function)


async def test_a_plain_function_runs_in_a_thread_with_the_callers_context_variables() -> None:
    where: contextvars.ContextVar[str] = contextvars.ContextVar("where")
    where.set("here")

    @tool
    def look() -> tuple[bool, str]:
        return threading.current_thread() is threading.main_thread(), where.get()

    assert await run_tool(look) == ToolOutput((False, "here"))


async def test_what_a_function_in_a_thread_raises_is_its_failure() -> None:
    @tool
    def fail() -> None:
        raise FileNotFoundError("nothing here")

    assert await run_tool(fail) == ToolOutput(error="FileNotFoundError: nothing here")


async def test_a_group_of_errors_is_told_in_one_line() -> None:
    group = ExceptionGroup("several", [ValueError("one"), KeyError()])
    assert await run_tool(instant("act", group)) == ToolOutput(error="ValueError: one; KeyError")


@pytest.mark.req("REQ-915-035")
async def test_one_tool_can_be_run_without_a_loop() -> None:
    picture = Media(kind=MediaKind.IMAGE, mime="image/png", url="http://127.0.0.1/x.png")
    assert await run_tool(instant("act", {"a": 1})) == ToolOutput({"a": 1})
    assert await run_tool(instant("act", picture)) == ToolOutput(media=(picture,))
    assert await run_tool(instant("act", ToolOutput("partly", "failed"))) == ToolOutput("partly", "failed")
    with pytest.raises(CallerError, match="`path` must be a string"):
        await run_tool(instant("act"), {"path": 1})


@pytest.mark.req("REQ-915-035")
async def test_one_tool_that_needs_an_argument_is_not_run_without_a_loop_either() -> None:
    @tool
    def double(number: int) -> int:
        """Twice `number`."""
        return 2 * number

    assert await run_tool(double, {"number": 4}) == ToolOutput(8)
    with pytest.raises(CallerError, match="`number`"):
        await run_tool(double)


@pytest.mark.req("REQ-915-035")
async def test_one_tool_without_a_loop_has_its_time_limit_and_can_be_cancelled() -> None:
    ended: list[str] = []

    @tool(timeout=0.01)
    async def wait(context: ToolContext) -> None:
        context.partial = "so far"
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("stopped")

    assert await run_tool(wait) == ToolOutput("so far", "The tool ran longer than 0.01 s and was stopped.")

    @tool
    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    task = asyncio.create_task(run_tool(hang))
    await anyio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await anyio.lowlevel.checkpoint()
    assert ended == ["stopped", "cancelled"]


# --- boxes ------------------------------------------------------------------------------------------------------------


async def test_a_box_shows_the_tools_that_are_enabled() -> None:
    box = ToolBox([instant("a"), instant("b")], disabled=["b"]).extended([instant("c")])
    assert [spec.name for spec in box.specs] == ["a", "c"]
    assert ("a" in box, "b" in box, len(box)) == (True, False, 2)
    assert [one.name for one in box.without(["a"])] == ["c"]


async def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two tools are named 'a'"):
        ToolBox([instant("a"), instant("a")])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("read_file", "read_file"),
        ("Read_File", "read_file"),
        ("read_fle", "There is no tool named 'read_fle'. Did you mean 'read_file'?"),
        ("GREP", "There is no tool named 'GREP'. Did you mean 'Grep' or 'grep'?"),
        ("SHELL", "The tool 'shell' is disabled here. Available: Grep, grep, read_file."),
        ("", "There is no tool named ''. Available: Grep, grep, read_file."),
    ],
)
async def test_a_name_finds_its_tool_or_the_nearest_ones(name: str, found: str) -> None:
    box = ToolBox([instant("read_file"), instant("grep"), instant("Grep"), instant("shell")], disabled=["shell"])
    result = box.find(name)
    assert (result.message if isinstance(result, Missing) else result.name) == found
