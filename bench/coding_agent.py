"""Requests of about 80 kB in the shape of a coding agent's, and the answer that they get.

In:  a number; no two numbers have a text in common, so nothing that was made for one is found again for another.
Out: the arguments for a vendor's SDK, and those of the request that follows on an answer.

Most of such a request is 24 tools with long descriptions and schemas; then come the instructions, a conversation of a
few turns with calls and results, and the vendor's own switches.
"""

from __future__ import annotations

import json
from typing import Any

from bench import workload
from legato.model import Answer, Ending, Entry, JsonObject, Speaker, Target, Text, Thinking, ToolCall, Usage

TOOLS, TURNS = 24, 3
_RULE = "Prefer the narrowest change that does what was asked, and say which part of {about} you did not touch. "
_SIGNATURE = "c2lnbmF0dXJl" * 24


def answer(target: Target) -> Answer:
    """What `target` answers: a thought, a sentence and a call."""
    native: JsonObject = {"signature": _SIGNATURE}
    thought = Thinking("Which part decides the totals? " * 6, native=native if target.provider == "anthropic" else None)
    call = ToolCall(tool_name(0), workload.arguments(1, 0), workload.wire_id(1, 0))
    blocks = (Text(workload.remark(1)), call)
    if target.provider != "openai":  # whose thoughts stay hidden in this API
        blocks = (thought, *blocks)
    entry = Entry(Speaker.AI, blocks, origin=target.origin(), ending=Ending.CALLS)
    return Answer(entry, usage=Usage(input=20_000, output=120), served=target.model)


def tool_name(place: int) -> str:
    """The name of a tool."""
    return f"workspace_tool_{place:02d}"


def _description(number: int, place: int) -> str:
    about = f"{tool_name(place)} in workspace {number}"
    return f"Use {about}.\n\n" + "".join(f"- {_RULE.format(about=about)}\n" for _ in range(13))


def _schema(number: int, place: int) -> JsonObject:
    texts = {
        f"field_{place}_{at}": {"type": "string", "description": f"What to look at in workspace {number}, as a path."}
        for at in range(5)
    }
    choice = {"type": "string", "enum": ["content", "files", "count"], "description": "What is shown of it."}
    item = {"type": "object", "properties": {"id": {"type": "string"}, "done": {"type": "boolean"}}, "required": ["id"]}
    properties = {**texts, "mode": choice, "steps": {"type": "array", "items": item}, "limit": {"type": "number"}}
    return {"type": "object", "properties": properties, "required": ["mode"], "additionalProperties": False}


def _system(number: int) -> str:
    return "".join(f"{line}. {_RULE.format(about=f'workspace {number}')}\n" for line in range(45))


def _question(number: int, turn: int) -> str:
    return f"In workspace {number}: {workload.question(turn)}"


# --- as the arguments of Anthropic's SDK ------------------------------------------------------------------------------


def anthropic_request(number: int) -> dict[str, Any]:
    """The arguments of `messages.create`."""
    tools = [
        {"name": tool_name(at), "description": _description(number, at), "input_schema": _schema(number, at)}
        for at in range(TOOLS)
    ]
    kept = {"type": "ephemeral"}
    messages: list[Any] = []
    for turn in range(TURNS):
        call = workload.wire_id(turn, 0).replace("call_", "toolu_")
        use = {"type": "tool_use", "id": call, "name": tool_name(turn), "input": workload.arguments(turn, 0)}
        result = {"type": "tool_result", "tool_use_id": call, "content": workload.output(turn, 0)}
        messages += [
            {"role": "user", "content": [{"type": "text", "text": _question(number, turn)}]},
            {"role": "assistant", "content": [{"type": "text", "text": workload.remark(turn)}, use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": workload.remark(turn)}]},
        ]
    last = {"type": "text", "text": _question(number, TURNS), "cache_control": kept}
    return {
        "model": "claude-opus-4-8",
        "max_tokens": 32_000,
        "system": [
            {"type": "text", "text": workload.SYSTEM},
            {"type": "text", "text": _system(number), "cache_control": kept},
        ],
        "tools": tools,
        "messages": [*messages, {"role": "user", "content": [last]}],
        "metadata": {"user_id": f"user_{number:064d}"},
        "thinking": {"type": "adaptive"},
        "extra_body": {"output_config": {"effort": "high"}},
    }


def anthropic_next(request: dict[str, Any], answered: Any) -> dict[str, Any]:
    """The request that gives the result of the call in `answered`."""
    content = [block.model_dump(exclude_none=True) for block in answered.content]
    result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": workload.output(9, 9)}
    news = [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return request | {"messages": [*request["messages"], *news]}


# --- as the arguments of OpenAI's -------------------------------------------------------------------------------------


def chat_request(number: int) -> dict[str, Any]:
    """The arguments of `chat.completions.create`."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool_name(at),
                "description": _description(number, at),
                "parameters": _schema(number, at),
            },
        }
        for at in range(TOOLS)
    ]
    messages: list[Any] = [{"role": "system", "content": workload.SYSTEM + "\n" + _system(number)}]
    for turn in range(TURNS):
        call_id = workload.wire_id(turn, 0)
        function = {"name": tool_name(turn), "arguments": json.dumps(workload.arguments(turn, 0))}
        call = {"id": call_id, "type": "function", "function": function}
        messages += [
            {"role": "user", "content": _question(number, turn)},
            {"role": "assistant", "content": workload.remark(turn), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": workload.output(turn, 0)},
            {"role": "assistant", "content": workload.remark(turn)},
        ]
    messages.append({"role": "user", "content": _question(number, TURNS)})
    return {"model": "gpt-5.2", "max_completion_tokens": 32_000, "tools": tools, "messages": messages}


def chat_next(request: dict[str, Any], answered: Any) -> dict[str, Any]:
    """The request that gives the result of the call in `answered`."""
    message = answered.choices[0].message.model_dump(exclude_none=True)
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": workload.output(9, 9)}
    return request | {"messages": [*request["messages"], message, result]}
