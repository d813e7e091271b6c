"""Histories of calls and results with every habit and every accident of ids, as entries and as bodies of each dialect.

A history is a list of steps. Every call asks for a path of its own, and every result says something that no other one
says, unless it is a repetition: so it can be seen in any body which results are there, and where.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count, groupby
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

from legato.model import Entry, Speaker, Text, ToolCall, ToolResponse

Body: TypeAlias = dict[str, Any]


class Step(NamedTuple):
    """What somebody says, a call, or a result. `says` is the text, the path asked for, or what came back.

    A step that is `misplaced` stands on the wrong side: a call among the words of the user, a result among the model's.
    """

    kind: str
    says: str
    id: Any = ""
    tool: str = "read"
    misplaced: bool = False


HABITS: tuple[Callable[[int, int], Any], ...] = (
    lambda answer, n: f"call_{answer}{n}",
    lambda answer, n: f"toolu_{answer}{n}",
    lambda answer, n: f"call_{n}",
    lambda answer, n: f"functions.read:{n}",
    lambda answer, n: f"hist_tool_{n}",
    lambda answer, n: ("call_1", "hist_tool_1", "toolu_1", "1", 1)[(answer + n) % 5],
    lambda answer, n: ("hist_tool_a", "a", "hist_tool_a_2", "call_a", "call_a_2")[(answer + n) % 5],
    lambda answer, n: ("id", "ID", "id ", " id", "Id")[(answer + n) % 5],
    lambda answer, n: "x" * (64 + (answer + n) % 3),
    lambda answer, n: "call_0",
    lambda answer, n: "",
    lambda answer, n: n,
    lambda answer, n: None,
    lambda answer, n: 1.5,
)
"""how a provider gives ids out: anew, restarting in each answer, constant, none, no strings, like ours, nearly alike"""

IDS = st.sampled_from(
    ["", "a", "call_a", "toolu_a", "hist_tool_a", "hist_tool_a_2", "A", "a ", "call_0", "hist_tool_0", 0, 1, None, "zz"]
)
TOOLS = st.sampled_from(["read", "read", "grep"])


@st.composite
def orderly(draw: st.DrawFn, rounds: int = 3) -> list[Step]:
    """Rounds of calls, all answered, as a program would have kept them; trimmed in front as programs do."""
    habit, numbers = draw(st.sampled_from(HABITS)), count()
    steps: list[Step] = []
    for answer in range(draw(st.integers(1, rounds))):
        if draw(st.booleans()):
            steps.append(Step("say", f"[said {next(numbers)}]"))
        calls = [
            Step("call", f"<path {next(numbers)}>", habit(answer, n), draw(TOOLS))
            for n in range(draw(st.integers(1, 3)))
        ]
        steps += calls
        steps += [Step("result", f"<of {call.says[1:]}", call.id, call.tool) for call in calls]
    whole = [at for at, step in enumerate(steps) if step.kind != "call" or (at and steps[at - 1].kind != "call")]
    return steps[draw(st.sampled_from([0, *whole])) :]


@st.composite
def damaged(draw: st.DrawFn) -> list[Step]:
    """The same after accidents: steps lost, doubled, moved, on the wrong side, ids lost, changed or respelled."""
    steps = draw(orderly())
    for number in range(draw(st.integers(0, 4))):
        if not steps:
            break
        at = draw(st.integers(0, len(steps) - 1))
        step = steps[at]
        match draw(
            st.sampled_from(["lose", "double", "differ", "move", "id", "respell", "nameless", "misplace", "say"])
        ):
            case "lose":
                del steps[at]
            case "double":
                steps.insert(draw(st.integers(at, len(steps))), step)
            case "differ" if step.kind == "result":
                steps.insert(draw(st.integers(0, len(steps))), step._replace(says=f"<other {number}>"))
            case "move":
                steps.insert(draw(st.integers(0, len(steps) - 1)), steps.pop(at))
            case "id":
                steps[at] = step._replace(id=draw(IDS))
            case "respell" if isinstance(step.id, str):
                steps[at] = step._replace(id=f"{draw(st.sampled_from(['call_', 'toolu_', 'hist_tool_']))}{step.id}")
            case "nameless" if step.kind == "result":
                steps[at] = step._replace(tool="")
            case "misplace" if step.kind != "say":
                steps[at] = step._replace(misplaced=True)
            case _:
                steps.insert(at, Step("say", f"[said again {number}]"))
    return steps


@st.composite
def soup(draw: st.DrawFn) -> list[Step]:
    """Calls and results under few ids, in any order."""
    numbers = count()
    steps: list[Step] = []
    for kind in draw(st.lists(st.sampled_from(["call", "call", "result", "result", "say"]), max_size=9)):
        says = f"<{kind} {draw(st.integers(0, 2)) if kind == 'result' else next(numbers)}>"
        steps.append(Step(kind, says, draw(IDS), draw(TOOLS), draw(st.booleans())))
    return steps


def histories() -> st.SearchStrategy[list[Step]]:
    return st.one_of(orderly(), damaged(), damaged(), soup())


# --- as entries -------------------------------------------------------------------------------------------------------


def as_entries(steps: list[Step], *, apart: bool = False) -> list[Entry]:
    """The steps as entries; results in a row are one entry, unless each is to be one of its own."""
    entries: list[Entry] = []
    for (kind, misplaced), run in runs_of(steps):
        blocks = [_block(step) for step in run]
        speaker = {
            ("say", False): Speaker.HUMAN,
            ("call", False): Speaker.AI,
            ("result", False): Speaker.TOOL,
            ("call", True): Speaker.HUMAN,
            ("result", True): Speaker.AI,
        }[kind, misplaced]
        groups = [[block] for block in blocks] if apart and kind == "result" else [blocks]
        entries += [Entry(speaker, tuple(group)) for group in groups]
    return entries


def _block(step: Step) -> Text | ToolCall | ToolResponse:
    wire_id = "" if step.id is None else str(step.id)
    match step.kind:
        case "say":
            return Text(step.says)
        case "call":
            return ToolCall(step.tool, {"path": step.says}, wire_id)
        case _:
            return ToolResponse(wire_id=wire_id, tool_name=step.tool, result=step.says, is_complete=True)


def runs_of(steps: list[Step]) -> list[tuple[tuple[str, bool], list[Step]]]:
    """Neighbours that go into one message."""
    return [
        (key, list(run))
        for key, run in groupby(steps, key=lambda step: (step.kind, step.misplaced and step.kind != "say"))
    ]


# --- as bodies --------------------------------------------------------------------------------------------------------


def anthropic(steps: list[Step]) -> Body:
    messages: list[Body] = []
    for (kind, misplaced), run in runs_of(steps):
        role = "user" if (kind == "call") is misplaced else "assistant"
        messages.append({"role": role, "content": [ANTHROPIC[kind](step) for step in run]})
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}


ANTHROPIC: dict[str, Callable[[Step], Body]] = {
    "say": lambda step: {"type": "text", "text": step.says},
    "call": lambda step: {"type": "tool_use", "id": step.id, "name": step.tool, "input": {"path": step.says}},
    "result": lambda step: {"type": "tool_result", "tool_use_id": step.id, "content": step.says},
}


def chat(steps: list[Step]) -> Body:
    messages: list[Body] = []
    for (kind, misplaced), run in runs_of(steps):
        match kind:
            case "say":
                messages += [{"role": "user", "content": step.says} for step in run]
            case "call":
                calls = [chat_call(step) for step in run]
                messages.append({"role": "user" if misplaced else "assistant", "content": None, "tool_calls": calls})
            case _:
                for step in run:
                    # Without an id nothing tells it from an answer.
                    role = "assistant" if misplaced and step.id not in ("", None) else "tool"
                    named = {"name": step.tool} if step.tool == "grep" else {}
                    messages.append({"role": role, "content": step.says, "tool_call_id": step.id, **named})
    return {"model": "gpt-4o", "messages": messages}


def chat_call(step: Step) -> Body:
    function = {"name": step.tool, "arguments": json.dumps({"path": step.says})}
    return {"id": step.id, "type": "function", "function": function}


def responses(steps: list[Step]) -> Body:
    items: list[Body] = []
    for (kind, misplaced), run in runs_of(steps):
        made = [RESPONSES[kind](step) for step in run]
        if kind == "say":
            items.append({"type": "message", "role": "user", "content": made})
        elif misplaced:
            items.append({"type": "message", "role": "user" if kind == "call" else "assistant", "content": made})
        else:
            items += made
    return {"model": "gpt-5.1", "input": items}


RESPONSES: dict[str, Callable[[Step], Body]] = {
    "say": lambda step: {"type": "input_text", "text": step.says},
    "call": lambda step: {
        "type": "function_call",
        "call_id": step.id,
        "name": step.tool,
        "arguments": json.dumps({"path": step.says}),
    },
    "result": lambda step: {"type": "function_call_output", "call_id": step.id, "output": step.says},
}


def gemini(steps: list[Step]) -> Body:
    contents: list[Body] = []
    for (kind, misplaced), run in runs_of(steps):
        role = "user" if (kind == "call") is misplaced else "model"
        contents.append({"role": role, "parts": [GEMINI[kind](step) for step in run]})
    return {"contents": contents}


GEMINI: dict[str, Callable[[Step], Body]] = {
    "say": lambda step: {"text": step.says},
    "call": lambda step: {"functionCall": {"id": step.id, "name": step.tool, "args": {"path": step.says}}},
    "result": lambda step: {
        "functionResponse": {"id": step.id, "name": step.tool, "response": {"result": step.says}},
    },
}


def vercel(steps: list[Step]) -> Body:
    messages: list[Body] = []
    roles = {"say": ("user", "user"), "call": ("assistant", "user"), "result": ("tool", "assistant")}
    for (kind, misplaced), run in runs_of(steps):
        messages.append({"role": roles[kind][misplaced], "content": [_VERCEL[kind](step) for step in run]})
    return {"messages": messages}


_VERCEL: dict[str, Callable[[Step], Body]] = {
    "say": lambda step: {"type": "text", "text": step.says},
    "call": lambda step: {
        "type": "tool-call",
        "toolCallId": step.id,
        "toolName": step.tool,
        "input": {"path": step.says},
    },
    "result": lambda step: {
        "type": "tool-result",
        "toolCallId": step.id,
        "toolName": step.tool,
        "output": {"type": "text", "value": step.says},
    },
}


def bedrock(steps: list[Step]) -> Body:
    messages: list[Body] = []
    for (kind, misplaced), run in runs_of(steps):
        role = "user" if (kind == "call") is misplaced else "assistant"
        messages.append({"role": role, "content": [_BEDROCK[kind](step) for step in run]})
    return {"messages": messages}


_BEDROCK: dict[str, Callable[[Step], Body]] = {
    "say": lambda step: {"text": step.says},
    "call": lambda step: {"toolUse": {"toolUseId": step.id, "name": step.tool, "input": {"path": step.says}}},
    "result": lambda step: {"toolResult": {"toolUseId": step.id, "content": [{"text": step.says}]}},
}

SOURCES: dict[str, Callable[[list[Step]], Body]] = {
    "anthropic/claude-sonnet-4-5": anthropic,
    "openai/gpt-4o": chat,
    "openai-responses/gpt-5.1": responses,
    "gemini/gemini-3-pro-preview": gemini,
    "vercel/any": vercel,
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": bedrock,
}
"""by route: how a history is written for it, right or wrong, without any of our encoders"""


WRONG_SIDES = [
    Step("say", "hello"),
    Step("call", "a.txt", "call_a", misplaced=True),
    Step("result", "A", "call_a", misplaced=True),
    Step("call", "b.txt", "call_b"),
    Step("result", "B", "call_b", misplaced=True),
    Step("call", "c.txt", "call_c", misplaced=True),
    Step("result", "C", "call_c"),
    Step("say", "and now?"),
]
"""calls among the words of the user and results among the model's, all of them answered"""


# --- results in a body ------------------------------------------------------------------------------------------------


def results_in(value: Any) -> list[tuple[Any, str]]:
    """The results in a body of any dialect, in order: the id of the call, and all that it says."""
    found: list[tuple[Any, str]] = []
    if isinstance(value, list):
        for item in value:
            found += results_in(item)
    elif isinstance(value, dict):
        for is_one, id_of in _RESULTS:
            if is_one(value):
                return [(id_of(value), repr(value))]
        for item in value.values():
            found += results_in(item)
    return found


_RESULTS: tuple[tuple[Callable[[Body], bool], Callable[[Body], Any]], ...] = (
    (lambda item: item.get("type") == "tool_result", lambda item: item["tool_use_id"]),
    (lambda item: item.get("role") == "tool" and "tool_call_id" in item, lambda item: item["tool_call_id"]),
    (lambda item: str(item.get("type")).endswith("_call_output"), lambda item: item["call_id"]),
    (lambda item: "functionResponse" in item, lambda item: item["functionResponse"].get("id")),
    (lambda item: item.get("type") == "tool-result", lambda item: item["toolCallId"]),
    (lambda item: "toolResult" in item, lambda item: item["toolResult"].get("toolUseId")),
)
