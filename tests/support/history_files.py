"""Histories of calls and results (see `histories`) as the files of each program, written without any of our writers.

A file comes with the results that it holds: some programs keep a call and its result in one record, and there a result
without a call has no place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from histories import ANTHROPIC, GEMINI, RESPONSES, Step, chat, chat_call, runs_of

Record: TypeAlias = dict[str, Any]


class HistoryFile(NamedTuple):
    """A file of lines, or of one value, and what the results in it say."""

    value: Any
    results: list[str]
    is_lines: bool = False

    @property
    def data(self) -> bytes:
        if not self.is_lines:
            return json.dumps(self.value).encode()
        lines = self.value if isinstance(self.value, list) else [self.value]
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _results(steps: list[Step]) -> list[str]:
    return [step.says for step in steps if step.kind == "result"]


# --- a message each ---------------------------------------------------------------------------------------------------


def _anthropic_messages(steps: list[Step]) -> list[tuple[str, list[Record]]]:
    return [
        ("user" if (kind == "call") is misplaced else "assistant", [ANTHROPIC[kind](step) for step in run])
        for (kind, misplaced), run in runs_of(steps)
    ]


def claude_code(steps: list[Step]) -> HistoryFile:
    records: list[Record] = []
    for number, (role, content) in enumerate(_anthropic_messages(steps)):
        message: Record = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "type": "message"}
        parent = f"u{number - 1}" if number else None
        records.append({"type": role, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", "message": message})
    return HistoryFile(records, _results(steps), is_lines=True)


def cline(steps: list[Step]) -> HistoryFile:
    messages = [{"role": role, "content": content, "ts": 1} for role, content in _anthropic_messages(steps)]
    return HistoryFile(messages, _results(steps))


def codex(steps: list[Step]) -> HistoryFile:
    items: list[Record] = []
    for (kind, misplaced), run in runs_of(steps):
        made = [RESPONSES[kind](step) for step in run]
        role = "user" if kind != "result" else "assistant"
        items += [{"type": "message", "role": role, "content": made}] if kind == "say" or misplaced else made
    meta = {"type": "session_meta", "payload": {"id": "c", "model_provider": "openai"}}
    return HistoryFile(
        [meta, *({"type": "response_item", "payload": item} for item in items)], _results(steps), is_lines=True
    )


def copilot(steps: list[Step]) -> HistoryFile:
    events: list[Record] = [{"type": "session.start", "data": {"producer": "copilot-agent", "sessionId": "s"}}]
    for step in steps:
        if step.kind == "say":
            data: Record = {"content": step.says}
            events.append({"type": "user.message", "data": data})
        elif step.kind == "call":
            request = {"toolCallId": step.id, "name": step.tool, "arguments": {"path": step.says}}
            events.append({"type": "assistant.message", "data": {"content": "", "toolRequests": [request]}})
        else:
            data = {"toolCallId": step.id, "success": True, "result": {"content": step.says}}
            events.append({"type": "tool.execution_complete", "data": data})
    return HistoryFile(events, _results(steps), is_lines=True)


def inspect(steps: list[Step]) -> HistoryFile:
    messages: list[Record] = []
    for (kind, _), run in runs_of(steps):
        if kind == "say":
            messages += [{"role": "user", "content": step.says} for step in run]
        elif kind == "call":
            calls = [{"id": step.id, "function": step.tool, "arguments": {"path": step.says}} for step in run]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        else:
            messages += [{"role": "tool", "content": s.says, "tool_call_id": s.id, "function": s.tool} for s in run]
    return HistoryFile({"epoch": 1, "input": "", "target": "", "messages": messages}, _results(steps))


def mini_swe(steps: list[Step]) -> HistoryFile:
    run = {"info": {}, "messages": chat(steps)["messages"], "trajectory_format": "mini-swe-agent-1.1"}
    return HistoryFile(run, _results(steps))


def swe_agent(steps: list[Step]) -> HistoryFile:
    history = [
        {**{k: v for k, v in one.items() if k != "tool_call_id"}, "tool_call_ids": [one["tool_call_id"]]}
        if "tool_call_id" in one
        else one
        for one in chat(steps)["messages"]
    ]
    return HistoryFile({"environment": "main", "trajectory": [], "history": history, "info": {}}, _results(steps))


def google_adk(steps: list[Step]) -> HistoryFile:
    events: list[Record] = []
    for (kind, misplaced), run in runs_of(steps):
        role = "model" if (kind == "call") is not misplaced else "user"
        author = "user" if kind == "say" else "main"
        events.append({"author": author, "content": {"role": role, "parts": [GEMINI[kind](step) for step in run]}})
    return HistoryFile({"appName": "a", "userId": "u", "events": events}, _results(steps))


def goose(steps: list[Step]) -> HistoryFile:
    def part(step: Step) -> Record:
        if step.kind == "call":
            called = {"name": step.tool, "arguments": {"path": step.says}}
            return {"type": "toolRequest", "id": step.id, "toolCall": {"status": "success", "value": called}}
        if step.kind == "result":
            given = {"content": [{"type": "text", "text": step.says}], "isError": False}
            return {"type": "toolResponse", "id": step.id, "toolResult": {"status": "success", "value": given}}
        return {"type": "text", "text": step.says}

    lines = [
        {"role": "assistant" if (kind == "call") is not misplaced else "user", "content": [part(step) for step in run]}
        for (kind, misplaced), run in runs_of(steps)
    ]
    return HistoryFile([{"working_dir": "/w", "description": ""}, *lines], _results(steps), is_lines=True)


def droid(steps: list[Step]) -> HistoryFile:
    lines = [
        {"type": "message", "id": str(number), "message": {"role": role, "content": content}}
        for number, (role, content) in enumerate(_anthropic_messages(steps))
    ]
    return HistoryFile([{"type": "session_start", "id": "d"}, *lines], _results(steps), is_lines=True)


def droid_stream(steps: list[Step]) -> HistoryFile:
    lines: list[Record] = [{"type": "system", "subtype": "init", "sessionId": "d"}]
    for step in steps:
        if step.kind == "call":
            lines.append({"type": "tool_call", "id": step.id, "toolName": step.tool, "parameters": {"path": step.says}})
        elif step.kind == "result":
            lines.append({"type": "tool_result", "id": step.id, "toolId": step.tool, "value": step.says})
        else:
            lines.append({"type": "message", "role": "user", "text": step.says})
    return HistoryFile(lines, _results(steps), is_lines=True)


def grok_cli(steps: list[Step]) -> HistoryFile:
    kinds = {"tool": "tool_result"}
    lines = [{"type": kinds.get(m["role"], m["role"]), **m} for m in chat(steps)["messages"]]
    return HistoryFile([{key: m[key] for key in m if key != "role"} for m in lines], _results(steps), is_lines=True)


def hermes(steps: list[Step]) -> HistoryFile:
    session = {"session_id": "h", "session_start": "t", "model": "gpt-5.2"}
    return HistoryFile({**session, "messages": chat(steps)["messages"]}, _results(steps))


def checkpoint(steps: list[Step]) -> HistoryFile:
    """What Gemini CLI writes at `/chat save`: contents of the API."""
    contents = [
        {"role": "user" if (kind == "call") is misplaced else "model", "parts": [GEMINI[kind](step) for step in run]}
        for (kind, misplaced), run in runs_of(steps)
    ]
    return HistoryFile(contents, _results(steps))


def qwen_code(steps: list[Step]) -> HistoryFile:
    contents = checkpoint(steps).value
    records: list[Record] = []
    for number, content in enumerate(contents):
        kind = "assistant" if content["role"] == "model" else "user"
        if any("functionResponse" in part for part in content["parts"]) and kind == "user":
            kind = "tool_result"
        parent = f"u{number - 1}" if number else None
        records.append({"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", "message": content})
    return HistoryFile(records, _results(steps), is_lines=True)


def kimi_cli(steps: list[Step]) -> HistoryFile:
    return HistoryFile([{"role": "_checkpoint", "id": 0}, *chat(steps)["messages"]], _results(steps), is_lines=True)


def kimi_code(steps: list[Step]) -> HistoryFile:
    records: list[Record] = [{"type": "metadata", "protocol_version": "1.5"}]
    for number, ((kind, _), run) in enumerate(runs_of(steps)):
        if kind == "say":
            messages = [{"role": "user", "content": [{"type": "text", "text": step.says}]} for step in run]
            records += [{"type": "context.append_message", "message": message} for message in messages]
            continue
        events: list[Record] = [{"type": "step.begin", "uuid": f"s{number}"}] if kind == "call" else []
        for step in run:
            event: Record = {"toolCallId": step.id, "stepUuid": f"s{number}"}
            if kind == "call":
                event |= {"type": "tool.call", "name": step.tool, "args": {"path": step.says}}
            else:
                event |= {"type": "tool.result", "result": {"output": step.says}}
            events.append(event)
        records += [{"type": "context.append_loop_event", "event": event} for event in events]
    return HistoryFile(records, _results(steps), is_lines=True)


def kimi_wire(steps: list[Step]) -> HistoryFile:
    """The older log, of Kimi CLI."""
    events: list[Record] = []
    for (kind, _), run in runs_of(steps):
        events += [{"type": "StepBegin", "payload": {"n": 1}}] if kind == "call" else []
        for step in run:
            if kind == "say":
                events.append({"type": "TurnBegin", "payload": {"user_input": step.says}})
            elif kind == "call":
                events.append({"type": "ToolCall", "payload": chat_call(step)})
            else:
                payload = {"tool_call_id": step.id, "return_value": {"is_error": False, "output": step.says}}
                events.append({"type": "ToolResult", "payload": payload})
    first = {"type": "metadata", "protocol_version": "1.10"}
    return HistoryFile(
        [first, *({"timestamp": 1, "message": event} for event in events)], _results(steps), is_lines=True
    )


def chat_lines(steps: list[Step]) -> HistoryFile:
    first = {"role": "system", "content": "Be brief."}
    return HistoryFile([first, first, *chat(steps)["messages"]], _results(steps), is_lines=True)


def openhands(steps: list[Step]) -> HistoryFile:
    events: list[Record] = []
    for number, step in enumerate(steps):
        own: Record = {"id": f"e{number}", "timestamp": "t", "source": "agent", "tool_call_id": step.id}
        if step.kind == "call":
            call = {"id": step.id, "name": step.tool, "arguments": {"path": step.says}}
            events.append({**own, "kind": "ActionEvent", "tool_call": call, "thought": []})
        elif step.kind == "result":
            seen = {"content": [{"type": "text", "text": step.says}]}
            events.append({**own, "kind": "ObservationEvent", "tool_name": step.tool, "observation": seen})
        else:
            message = {"role": "user", "content": [{"type": "text", "text": step.says}]}
            events.append({**own, "kind": "MessageEvent", "llm_message": message})
    pause = {"id": "p", "timestamp": "t", "source": "user", "kind": "PauseEvent"}
    return HistoryFile([*events, pause], _results(steps), is_lines=True)


def open_webui(steps: list[Step]) -> HistoryFile:
    messages: dict[str, Record] = {}
    for number, step in enumerate(steps):
        message: Record = {"parentId": f"m{number - 1}" if number else None, "role": "assistant", "content": ""}
        item: Record = {"call_id": step.id, "status": "completed"}
        if step.kind == "call":
            item |= {"type": "function_call", "name": step.tool, "arguments": json.dumps({"path": step.says})}
        elif step.kind == "result":
            item |= {"type": "function_call_output", "output": [{"type": "input_text", "text": step.says}]}
        said: Record = {"role": "user", "content": step.says} if step.kind == "say" else {"output": [item]}
        messages[f"m{number}"] = message | said
    chat = {"history": {"currentId": f"m{len(steps) - 1}", "messages": messages}}
    return HistoryFile([{"id": "w", "title": "t", "chat": chat}], _results(steps))


def fine_tuning(steps: list[Step]) -> HistoryFile:
    body = {"messages": [{"role": "system", "content": "Be brief."}, *chat(steps)["messages"]]}
    return HistoryFile([body, {"messages": [{"role": "user", "content": "hello"}]}], _results(steps), is_lines=True)


def chat_body(steps: list[Step]) -> HistoryFile:
    return HistoryFile(chat(steps), _results(steps))


def pi(steps: list[Step]) -> HistoryFile:
    messages: list[Record] = []
    for (kind, misplaced), run in runs_of(steps):
        if kind == "say":
            messages += [{"role": "user", "content": step.says} for step in run]
        elif kind == "call":
            content = [
                {"type": "toolCall", "id": step.id, "name": step.tool, "arguments": {"path": step.says}} for step in run
            ]
            messages.append({"role": "user" if misplaced else "assistant", "content": content, "stopReason": "toolUse"})
        elif misplaced:
            parts = [{"type": "toolResult", "toolCallId": step.id, "content": step.says} for step in run]
            messages.append({"role": "assistant", "content": parts, "stopReason": "stop"})
        else:
            messages += [
                {"role": "toolResult", "toolCallId": step.id, "toolName": step.tool, "content": step.says}
                for step in run
            ]
    lines = [{"type": "message", "message": message} for message in messages]
    return HistoryFile([{"type": "session", "id": "p"}, *lines], _results(steps), is_lines=True)


def langchain(steps: list[Step]) -> HistoryFile:
    return HistoryFile([{"type": kind, "data": data} for kind, data in _langchain(steps)], _results(steps))


def langchain_dumps(steps: list[Step]) -> HistoryFile:
    classes = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    dumped = [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", classes[kind]], "kwargs": data}
        for kind, data in _langchain(steps)
    ]
    return HistoryFile(dumped, _results(steps))


def langgraph(steps: list[Step]) -> HistoryFile:
    """The state of a graph, with messages as `model_dump()` gives them."""
    messages = [{"type": kind, "additional_kwargs": {}, **data} for kind, data in _langchain(steps)]
    return HistoryFile({"values": {"messages": messages}, "next": []}, _results(steps))


def _langchain(steps: list[Step]) -> list[tuple[str, Record]]:
    messages: list[tuple[str, Record]] = []
    for (kind, misplaced), run in runs_of(steps):
        if kind == "say":
            messages += [("human", {"content": step.says}) for step in run]
        elif kind == "call":
            calls = [{"name": step.tool, "args": {"path": step.says}, "id": step.id} for step in run]
            messages.append(("human" if misplaced else "ai", {"content": "", "tool_calls": calls}))
        elif misplaced:
            messages.append(("ai", {"content": [ANTHROPIC["result"](step) for step in run]}))
        else:
            messages += [
                ("tool", {"content": step.says, "tool_call_id": step.id, "name": step.tool or None}) for step in run
            ]
    return messages


def openai_agents(steps: list[Step]) -> HistoryFile:
    raw = [line["payload"] for line in codex(steps).value[1:]]
    made = [{"type": "tool_call_item", "raw_item": item} for item in raw]
    state = {"$schemaVersion": "1.21", "original_input": "hello", "session_items": made, "generated_items": made[:-1]}
    return HistoryFile(state, _results(steps))


def pydantic_ai(steps: list[Step]) -> HistoryFile:
    messages: list[Record] = []
    for (kind, misplaced), run in runs_of(steps):
        if kind == "say":
            parts = [{"part_kind": "user-prompt", "content": step.says} for step in run]
        elif kind == "call":
            parts = [
                {"part_kind": "tool-call", "tool_name": s.tool, "args": {"path": s.says}, "tool_call_id": s.id}
                for s in run
            ]
        else:
            parts = [
                {"part_kind": "tool-return", "tool_name": s.tool, "content": s.says, "tool_call_id": s.id} for s in run
            ]
        is_answer = (kind == "call") is not misplaced and kind != "say"
        messages.append({"kind": "response" if is_answer else "request", "parts": parts})
    return HistoryFile(messages, _results(steps))


def sharegpt(steps: list[Step]) -> HistoryFile:
    turns: list[Record] = []
    for step in steps:
        if step.kind == "call":
            turns.append({"from": "function_call", "value": json.dumps(chat_call(step))})
        elif step.kind == "result":
            turns.append({"from": "observation", "value": step.says, "tool_call_id": step.id})
        else:
            turns.append({"from": "human", "value": step.says})
    return HistoryFile([{"conversations": turns}], _results(steps))


# --- a call and its result in one record ------------------------------------------------------------------------------


class _Pair(NamedTuple):
    call: Step
    results: list[Step]


def _paired(steps: list[Step]) -> list[Step | _Pair]:
    """The steps with each result at the last call before it that has its id, is open, and is no sentence of anybody."""
    paired: list[Step | _Pair] = []
    for step in steps:
        if step.kind == "call":
            paired.append(_Pair(step, []))
        elif step.kind == "say":
            paired.append(step)
        else:
            fits = [pair for pair in paired if isinstance(pair, _Pair) and pair.call.id == step.id and not pair.results]
            if fits:
                fits[0].results.append(step)
    return paired


def _kept(paired: list[Step | _Pair]) -> list[str]:
    return [result.says for pair in paired if isinstance(pair, _Pair) for result in pair.results]


def opencode(steps: list[Step]) -> HistoryFile:
    paired = _paired(steps)
    messages: list[Record] = []
    for number, one in enumerate(paired):
        info: Record = {"id": f"m{number}", "role": "user"}
        if isinstance(one, _Pair):
            state: Record = {"status": "running", "input": {"path": one.call.says}}
            for result in one.results:
                state |= {"status": "completed", "output": result.says}
            part: Record = {"type": "tool", "callID": one.call.id, "tool": one.call.tool, "state": state}
            info["role"] = "user" if one.call.misplaced else "assistant"
        else:
            part = {"type": "text", "text": one.says}
        messages.append({"info": info, "parts": [part]})
    return HistoryFile({"info": {"id": "ses"}, "messages": messages}, _kept(paired))


def vercel_ui(steps: list[Step]) -> HistoryFile:
    paired = _paired(steps)
    messages: list[Record] = []
    for number, one in enumerate(paired):
        role = "user"
        if isinstance(one, _Pair):
            part: Record = {"type": f"tool-{one.call.tool}", "toolCallId": one.call.id, "state": "input-available"}
            part["input"] = {"path": one.call.says}
            for result in one.results:
                part |= {"state": "output-available", "output": result.says}
            role = "user" if one.call.misplaced else "assistant"
        else:
            part = {"type": "text", "text": one.says}
        messages.append({"id": str(number), "role": role, "parts": [part]})
    return HistoryFile(messages, _kept(paired))


def gemini_cli(steps: list[Step]) -> HistoryFile:
    paired = _paired(steps)
    messages: list[Record] = []
    for number, one in enumerate(paired):
        if isinstance(one, _Pair):
            call: Record = {"id": one.call.id, "name": one.call.tool, "args": {"path": one.call.says}}
            call["status"] = "success" if one.results else "executing"
            for result in one.results:
                call["result"] = [GEMINI["result"](result)]
            messages.append({"id": number, "type": "gemini", "content": "", "toolCalls": [call]})
        else:
            messages.append({"id": number, "type": "user", "content": one.says})
    return HistoryFile({"sessionId": "g", "projectHash": "h", "messages": messages}, _kept(paired))


def continue_dev(steps: list[Step]) -> HistoryFile:
    paired = _paired(steps)
    history: list[Record] = []
    for one in paired:
        if isinstance(one, _Pair):
            call = {"id": one.call.id, "function": {"name": one.call.tool, "arguments": {"path": one.call.says}}}
            state: Record = {"toolCallId": one.call.id, "toolCall": call, "status": "calling"}
            for result in one.results:
                state |= {"status": "done", "output": [{"content": result.says}]}
            message: Record = {"role": "assistant", "content": "", "toolCalls": [call]}
            history.append({"message": message, "contextItems": [], "toolCallStates": [state]})
        else:
            history.append({"message": {"role": "user", "content": one.says}, "contextItems": []})
    return HistoryFile({"sessionId": "c", "history": history}, _kept(paired))


def vscode_chat(steps: list[Step]) -> HistoryFile:
    paired = _paired(steps)
    requests: list[Record] = []
    for one in paired:
        if isinstance(one, _Pair):
            call = {"id": one.call.id, "name": one.call.tool, "arguments": json.dumps({"path": one.call.says})}
            kept: Record = {"toolCallRounds": [{"response": "", "toolCalls": [call]}], "toolCallResults": {}}
            for result in one.results:
                kept["toolCallResults"] = {one.call.id: {"content": [{"value": result.says}]}}
            requests.append({"message": {"text": ""}, "response": [], "result": {"metadata": kept}})
        else:
            requests.append({"message": {"text": one.says}, "response": []})
    return HistoryFile({"responderUsername": "GitHub Copilot", "requests": requests}, _kept(paired))


FILES: dict[str, tuple[str, Callable[[list[Step]], HistoryFile]]] = {
    "Claude Code": ("claude-code", claude_code),
    "Codex": ("codex", codex),
    "Continue": ("continue", continue_dev),
    "GitHub Copilot CLI": ("copilot-cli", copilot),
    "goose": ("goose", goose),
    "Inspect": ("inspect", inspect),
    "mini-swe-agent": ("mini-swe-agent", mini_swe),
    "SWE-agent": ("swe-agent", swe_agent),
    "VS Code": ("vscode-chat", vscode_chat),
    "Google ADK": ("google-adk", google_adk),
    "droid": ("droid", droid),
    "droid, a stream": ("droid", droid_stream),
    "Grok CLI": ("grok-cli", grok_cli),
    "Hermes": ("hermes", hermes),
    "OpenHands": ("openhands", openhands),
    "Open WebUI": ("open-webui", open_webui),
    "Cline": ("cline", cline),
    "Gemini CLI, a recording": ("gemini-cli", gemini_cli),
    "Gemini CLI, a checkpoint": ("gemini-cli", checkpoint),
    "Qwen Code": ("qwen-code", qwen_code),
    "Kimi CLI": ("kimi-cli", kimi_cli),
    "Kimi Code": ("kimi-code", kimi_code),
    "Kimi CLI, its log": ("kimi-code", kimi_wire),
    "pi": ("pi", pi),
    "opencode": ("opencode", opencode),
    "Vercel UI messages": ("vercel-ui", vercel_ui),
    "LangChain, as dicts": ("langchain", langchain),
    "LangChain, dumped": ("langchain", langchain_dumps),
    "LangGraph, a state": ("langchain", langgraph),
    "OpenAI Agents": ("openai-agents", openai_agents),
    "Pydantic AI": ("pydantic-ai", pydantic_ai),
    "ShareGPT": ("sharegpt", sharegpt),
    "chat, a message a line": ("chat-records", chat_lines),
    "chat, a request a line": ("chat-records", fine_tuning),
    "chat, a request": ("openai-chat", chat_body),
}
"""by what wrote it: the format of a file, and how a history is written in it"""
