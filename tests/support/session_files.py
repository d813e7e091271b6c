"""Small session files, written by hand, one for each format, for the tests of readers."""

from __future__ import annotations

import json
from typing import Any


def jsonl(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def whole(value: Any, *, indent: int | None = 2) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


def claude(kind: str, own: str, parent: str | None, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/work",
        "sessionId": "s1",
        "version": "2.0.0",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": own,
        "timestamp": "2026-01-01T00:00:00.000Z",
        **more,
    }


def said(own: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return claude("user", own, parent, {"role": "user", "content": content}, **more)


def answered(own: str, parent: str | None, answer: str, *blocks: dict[str, Any], **message: Any) -> dict[str, Any]:
    body = {
        "id": answer,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": None,
        **message,
    }
    return claude("assistant", own, parent, body)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(wire_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": wire_id, "name": name, "input": arguments}


def gave(wire_id: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": wire_id, "content": content, **more}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": "response_item", "payload": {"type": kind, **payload}}


def codex_message(role: str, words: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": words}])


CLAUDE = jsonl(
    said("u1", None, "List the files"),
    answered("a1", "u1", "msg_1", {"type": "thinking", "thinking": "I look", "signature": "c2ln"}),
    answered("a2", "a1", "msg_1", text("Looking.")),
    answered("a3", "a2", "msg_1", use("toolu_1", command="ls"), stop_reason="tool_use"),
    said("u2", "a3", [gave("toolu_1", "a.txt\nb.txt")], toolUseResult={"stdout": "a.txt\nb.txt"}),
    answered("a4", "u2", "msg_2", text("Two files."), stop_reason="end_turn"),
)

CODEX = jsonl(
    {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "type": "session_meta",
        "payload": {
            "id": "c1",
            "cwd": "/work",
            "cli_version": "0.50.0",
            "model_provider": "openai",
            "base_instructions": {"text": "You are careful."},
        },
    },
    {"timestamp": "t", "type": "turn_context", "payload": {"cwd": "/work", "model": "gpt-5.1"}},
    codex_message("user", "List the files"),
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "List the files"}},
    item("reasoning", summary=[{"type": "summary_text", "text": "I look"}], encrypted_content="gAAA"),
    codex_message("assistant", "Looking."),
    item("function_call", name="shell", arguments='{"command":"ls"}', call_id="call_1"),
    item("function_call_output", call_id="call_1", output="a.txt\nb.txt"),
    codex_message("assistant", "Two files."),
)

GEMINI_CLI = whole(
    {
        "sessionId": "g1",
        "projectHash": "abc",
        "startTime": "2026-01-01T00:00:00.000Z",
        "messages": [
            {"id": "1", "type": "user", "content": "List the files"},
            {
                "id": "2",
                "type": "gemini",
                "content": "Looking.",
                "model": "gemini-3-pro-preview",
                "thoughts": [{"subject": "Files", "description": "I look"}],
                "toolCalls": [
                    {
                        "id": "ls-1",
                        "name": "ls",
                        "args": {"path": "."},
                        "status": "success",
                        "result": [
                            {"functionResponse": {"id": "ls-1", "name": "ls", "response": {"output": "a.txt\nb.txt"}}}
                        ],
                    }
                ],
            },
            {"id": "3", "type": "gemini", "content": "Two files.", "model": "gemini-3-pro-preview"},
        ],
    }
)

OPENCODE = whole(
    {
        "info": {"id": "ses_1", "title": "Files", "directory": "/work"},
        "messages": [
            {
                "info": {"id": "m1", "role": "user"},
                "parts": [{"type": "text", "text": "List the files"}],
            },
            {
                "info": {"id": "m2", "role": "assistant", "providerID": "anthropic", "modelID": "claude-sonnet-4-5"},
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "I look"},
                    {"type": "text", "text": "Looking."},
                    {
                        "type": "tool",
                        "callID": "toolu_1",
                        "tool": "ls",
                        "state": {"status": "completed", "input": {"path": "."}, "output": "a.txt\nb.txt"},
                    },
                    {"type": "step-finish"},
                    {"type": "step-start"},
                    {"type": "text", "text": "Two files."},
                    {"type": "step-finish"},
                ],
            },
        ],
    }
)

PI = jsonl(
    {"type": "session", "version": 3, "id": "p1", "timestamp": "t", "cwd": "/work"},
    {"type": "model_change", "id": "x1", "parentId": None, "provider": "anthropic", "modelId": "claude-sonnet-4-5"},
    {
        "type": "message",
        "id": "x2",
        "parentId": "x1",
        "message": {"role": "user", "content": [{"type": "text", "text": "List the files"}]},
    },
    {
        "type": "message",
        "id": "x3",
        "parentId": "x2",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I look", "thinkingSignature": "c2ln"},
                {"type": "text", "text": "Looking."},
                {"type": "toolCall", "id": "toolu_1", "name": "ls", "arguments": {"path": "."}},
            ],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "claude-sonnet-4-5",
            "stopReason": "toolUse",
        },
    },
    {
        "type": "message",
        "id": "x4",
        "parentId": "x3",
        "message": {
            "role": "toolResult",
            "toolCallId": "toolu_1",
            "toolName": "ls",
            "content": [{"type": "text", "text": "a.txt\nb.txt"}],
            "isError": False,
        },
    },
    {
        "type": "message",
        "id": "x5",
        "parentId": "x4",
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": "Two files."}],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "claude-sonnet-4-5",
            "stopReason": "stop",
        },
    },
)

KIMI_CLI = jsonl(
    {"role": "_system_prompt", "content": "You are careful."},
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": "List the files"},
    {"role": "_usage", "token_count": 12},
    {
        "role": "assistant",
        "content": [{"type": "think", "think": "I look"}, {"type": "text", "text": "Looking."}],
        "tool_calls": [
            {"type": "function", "id": "ls:0", "function": {"name": "ls", "arguments": '{"path": "."}'}},
        ],
    },
    {"role": "tool", "content": [{"type": "text", "text": "a.txt\nb.txt"}], "tool_call_id": "ls:0"},
    {"role": "assistant", "content": "Two files."},
)


def kimi_loop(kind: str, **event: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "agentId": "main", "event": {"type": kind, **event}, "time": 1}


def kimi_said(words: str, **more: Any) -> dict[str, Any]:
    message = {
        "role": "user",
        "content": [{"type": "text", "text": words}],
        "toolCalls": [],
        "origin": {"kind": "user"},
    }
    return {"type": "context.append_message", "agentId": "main", "message": {**message, **more}, "time": 1}


KIMI_CODE = jsonl(
    {"type": "metadata", "protocol_version": "1.5", "created_at": 1},
    {"type": "profile.bind", "agentId": "main", "systemPrompt": "You are careful.", "cwd": "/work", "time": 1},
    kimi_said("List the files", id="msg_1"),
    kimi_loop("step.begin", uuid="s1", turnId="0", step=1),
    {"type": "llm.request", "agentId": "main", "provider": "kimi", "model": "kimi-k2-thinking", "time": 1},
    kimi_loop("content.part", stepUuid="s1", part={"type": "think", "think": "I look"}),
    kimi_loop("content.part", stepUuid="s1", part={"type": "text", "text": "Looking."}),
    kimi_loop("tool.call", stepUuid="s1", toolCallId="ls:0", name="ls", args={"path": "."}),
    kimi_loop("tool.result", toolCallId="ls:0", result={"output": "a.txt\nb.txt", "durationMs": 3}),
    kimi_loop("step.end", uuid="s1", finishReason="tool_use"),
    kimi_loop("step.begin", uuid="s2", turnId="0", step=2),
    kimi_loop("content.part", stepUuid="s2", part={"type": "text", "text": "Two files."}),
    kimi_loop("step.end", uuid="s2", finishReason="end_turn"),
    {"type": "agent.turn.ended", "kind": "event", "turnId": 0, "outcome": "done", "time": 1},
)


def qwen(kind: str, own: str, parent: str | None, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    record = {"uuid": own, "parentUuid": parent, "sessionId": "q1", "timestamp": "t", "type": kind, "cwd": "/work"}
    if parts:
        record["message"] = {"role": "model" if kind == "assistant" else "user", "parts": list(parts)}
    return {**record, "version": "0.24.4", **more}


def qwen_response(wire_id: str, name: str, **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": wire_id, "name": name, "response": response}}


QWEN_CODE = jsonl(
    qwen("user", "q1", None, {"text": "List the files"}),
    qwen("system", "q2", "q1", subtype="ui_telemetry", systemPayload={"uiEvent": {"event.name": "x"}}),
    qwen(
        "assistant",
        "q3",
        "q2",
        {"text": "I look", "thought": True},
        {"text": "Looking."},
        {"functionCall": {"id": "call_1", "name": "ls", "args": {"path": "."}}},
        model="qwen3-coder-plus",
    ),
    qwen(
        "tool_result",
        "q4",
        "q3",
        qwen_response("call_1", "ls", output="a.txt\nb.txt"),
        toolCallResult={"callId": "call_1", "status": "success"},
    ),
    qwen("assistant", "q5", "q4", {"text": "Two files."}, model="qwen3-coder-plus"),
)

CLINE = whole(
    [
        {"role": "user", "content": [text("List the files")], "ts": 1},
        {"role": "assistant", "content": [text("Looking."), use("toolu_1", "ls", path=".")], "ts": 2},
        {"role": "user", "content": [gave("toolu_1", [text("a.txt\nb.txt")])], "ts": 3},
        {"role": "assistant", "content": [text("Two files.")], "ts": 4},
    ]
)


def adk(author: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An event as google-adk 2.13.0 keeps it in its database."""
    content = {"parts": list(parts), "role": "user" if author == "user" else "model"}
    return {"content": content, "author": author, "invocation_id": "e-1", "actions": {}, "timestamp": 1.8e9, **more}


_ADK_RESULT = {"function_response": {"id": "adk-1", "name": "ls", "response": {"result": "a.txt\nb.txt"}}}
GOOGLE_ADK = whole(
    {
        "id": "s1",
        "app_name": "app",
        "user_id": "u",
        "state": {},
        "events": [
            adk("user", {"text": "List the files", "thought": None}),
            adk(
                "main",
                {"text": "I look", "thought": True},
                {"text": "Looking."},
                {"function_call": {"id": "adk-1", "name": "ls", "args": {"path": "."}}, "thought_signature": "c2ln"},
                model_version="gemini-3-pro-preview",
            ),
            {**adk("main"), "content": {"parts": [_ADK_RESULT], "role": "user"}},
            adk("main", {"text": "Two files."}, model_version="gemini-3-pro-preview"),
        ],
    }
)


def copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-01-01T00:00:00.000Z", "parentId": None}


_THOUGHT = {"type": "thinking", "thinking": "I look", "signature": "c2ln"}
COPILOT_CLI = jsonl(
    copilot(
        "session.start",
        sessionId="c1",
        version=1,
        producer="copilot-agent",
        copilotVersion="1.0.102",
        selectedModel="claude-sonnet-4-5",
        context={"cwd": "/work", "gitRoot": "/work", "branch": "main"},
    ),
    copilot("user.message", content="List the files", transformedContent="<current_datetime/>List the files"),
    copilot("system.message", role="system", content="You are careful."),
    copilot("assistant.turn_start", turnId="0"),
    {
        **copilot(
            "assistant.message",
            messageId="m1",
            model="claude-sonnet-4-5",
            content="Looking.",
            toolRequests=[
                {"toolCallId": "toolu_1", "name": "bash", "arguments": {"command": "ls"}, "type": "function"}
            ],
            reasoningText="I look",
            reasoningBlocks={"provider": "anthropic-messages", "blocks": [_THOUGHT]},
        ),
        "timestamp": "2026-01-01T00:00:01.000Z",
    },
    copilot("tool.execution_start", toolCallId="toolu_1", toolName="bash", arguments={"command": "ls"}),
    copilot("tool.execution_complete", toolCallId="toolu_1", success=True, result={"content": "a.txt\nb.txt"}),
    copilot("assistant.turn_end", turnId="0"),
    copilot("assistant.message", messageId="m2", model="claude-sonnet-4-5", content="Two files.", toolRequests=[]),
    copilot("session.shutdown", shutdownType="routine"),
)


GOOSE = jsonl(
    {"working_dir": "/work", "description": "Files", "message_count": 4},
    {"id": "1", "role": "user", "created": 1, "content": [{"type": "text", "text": "List the files"}]},
    {
        "role": "assistant",
        "created": 2,
        "content": [
            {"type": "thinking", "thinking": "I look", "signature": "c2ln"},
            {"type": "text", "text": "Looking."},
            {
                "type": "toolRequest",
                "id": "call_1",
                "toolCall": {"status": "success", "value": {"name": "ls", "arguments": {"path": "."}}},
            },
        ],
    },
    {
        "role": "user",
        "created": 3,
        "content": [
            {
                "type": "toolResponse",
                "id": "call_1",
                "toolResult": {"status": "success", "value": [{"type": "text", "text": "a.txt\nb.txt"}]},
            }
        ],
    },
    {"role": "assistant", "created": 4, "content": [{"type": "text", "text": "Two files."}]},
)

CURSOR = jsonl(
    {"role": "user", "message": {"content": [text("List the files")]}},
    {
        "role": "assistant",
        "message": {"content": [{"type": "thinking", "thinking": "I look"}, text("Looking."), use("", "ls", path=".")]},
    },
    {"role": "user", "message": {"content": [gave("t1", [text("a.txt\nb.txt")])]}},
    {"role": "assistant", "message": {"content": [text("Two files.")]}},
    {"type": "turn_ended", "status": "success"},
)

DROID = jsonl(
    {"type": "session_start", "id": "d1", "title": "Files", "owner": "me", "version": 2, "cwd": "/work"},
    {"type": "message", "id": "m1", "message": {"role": "user", "content": [text("List the files")]}},
    {
        "type": "message",
        "id": "m2",
        "message": {"role": "assistant", "content": [text("Looking."), use("toolu_1", "LS", path=".")]},
    },
    {"type": "message", "id": "m3", "message": {"role": "user", "content": [gave("toolu_1", "a.txt\nb.txt")]}},
    {"type": "message", "id": "m4", "message": {"role": "assistant", "content": [text("Two files.")]}},
)


def antigravity_step(index: int, kind: str, **more: Any) -> dict[str, Any]:
    source = "USER_EXPLICIT" if kind == "USER_INPUT" else "MODEL"
    at = f"2026-11-19T05:13:{index:02}Z"
    return {"step_index": index, "source": source, "type": kind, "status": "DONE", "created_at": at, **more}


ANTIGRAVITY = jsonl(
    antigravity_step(0, "USER_INPUT", content="<USER_REQUEST>\nList the files\n</USER_REQUEST>\n"),
    antigravity_step(
        1, "PLANNER_RESPONSE", content="Looking.", tool_calls=[{"name": "ls", "args": {"path": "."}}],
        input_tokens=20, cache_read_tokens=100, output_tokens=9,
    ),
    antigravity_step(2, "LS", content="a.txt\nb.txt"),
    antigravity_step(3, "PLANNER_RESPONSE", content="Two files."),
)  # fmt: skip

GROK_CLI = jsonl(
    {"type": "system", "content": "You are careful."},
    {"type": "user", "content": [text("List the files")], "prompt_index": 0},
    {
        "type": "assistant",
        "content": "Looking.",
        "tool_calls": [{"id": "call-1", "name": "ls", "arguments": '{"path": "."}'}],
        "model_id": "grok-4.5",
    },
    {"type": "tool_result", "tool_call_id": "call-1", "content": "a.txt\nb.txt"},
    {"type": "assistant", "content": "Two files.", "tool_calls": [], "model_id": "grok-4.5"},
)


def lc(class_name: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class_name], "kwargs": kwargs}


LANGCHAIN = whole(
    [
        lc("SystemMessage", content="You are careful."),
        lc("HumanMessage", content="List the files"),
        lc("AIMessage", content="Looking.", tool_calls=[{"name": "ls", "args": {"path": "."}, "id": "call_1"}]),
        lc("ToolMessage", content="a.txt\nb.txt", tool_call_id="call_1", name="ls"),
        lc("AIMessage", content="Two files.", response_metadata={"model_name": "gpt-4o", "finish_reason": "stop"}),
    ]
)

PYDANTIC_AI = whole(
    [
        {
            "parts": [
                {"content": "You are careful.", "part_kind": "system-prompt"},
                {"content": "List the files", "part_kind": "user-prompt"},
            ],
            "instructions": None,
            "kind": "request",
        },
        {
            "parts": [
                {"content": "I look", "signature": "c2ln", "provider_name": "anthropic", "part_kind": "thinking"},
                {"content": "Looking.", "part_kind": "text"},
                {"tool_name": "ls", "args": {"path": "."}, "tool_call_id": "toolu_1", "part_kind": "tool-call"},
            ],
            "model_name": "claude-sonnet-4-5",
            "provider_name": "anthropic",
            "kind": "response",
        },
        {
            "parts": [
                {
                    "tool_name": "ls",
                    "content": "a.txt\nb.txt",
                    "tool_call_id": "toolu_1",
                    "outcome": "success",
                    "part_kind": "tool-return",
                }
            ],
            "kind": "request",
        },
        {
            "parts": [{"content": "Two files.", "part_kind": "text"}],
            "model_name": "claude-sonnet-4-5",
            "provider_name": "anthropic",
            "kind": "response",
        },
    ]
)


def made(kind: str, **raw: Any) -> dict[str, Any]:
    return {"type": kind, "raw_item": raw, "agent": {"name": "main"}}


_AGENT_ITEMS = [
    made("reasoning_item", type="reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "I look"}]),
    made(
        "message_output_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Looking."}]
    ),
    made("tool_call_item", type="function_call", call_id="call_1", name="ls", arguments='{"path": "."}'),
    made("tool_call_output_item", type="function_call_output", call_id="call_1", output="a.txt\nb.txt"),
    made(
        "message_output_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Two files."}]
    ),
]
OPENAI_AGENTS = whole(
    {
        "$schemaVersion": "1.21",
        "current_turn": 2,
        "original_input": "List the files",
        "generated_items": _AGENT_ITEMS,
        "session_items": _AGENT_ITEMS,
    }
)

SHAREGPT = whole(
    [
        {
            "id": "1",
            "conversations": [
                {"from": "system", "value": "You are careful."},
                {"from": "human", "value": "List the files"},
                {"from": "function_call", "value": '{"name": "ls", "arguments": {"path": "."}}'},
                {"from": "observation", "value": "a.txt\nb.txt"},
                {"from": "gpt", "value": "Two files."},
            ],
            "tools": '[{"name": "ls", "description": "list", "parameters": {"type": "object"}}]',
        }
    ]
)

VERCEL_UI = whole(
    [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "List the files"}]},
        {
            "id": "2",
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "I look"},
                {"type": "text", "text": "Looking."},
                {
                    "type": "tool-ls",
                    "toolCallId": "call_1",
                    "state": "output-available",
                    "input": {"path": "."},
                    "output": "a.txt\nb.txt",
                },
                {"type": "step-start"},
                {"type": "text", "text": "Two files."},
            ],
        },
    ]
)

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": "List the files"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path":"."}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "a.txt\nb.txt"},
        {"role": "assistant", "content": "Two files."},
        {"role": "user", "content": "Thanks"},
    ],
}

HERMES = whole(
    {
        "session_id": "h1",
        "model": "gpt-5.2",
        "platform": "cli",
        "session_start": "2026-01-01T00:00:00Z",
        "model_config": {"cwd": "/work"},
        "system_prompt": "You are careful.",
        "tools": [{"name": "ls", "type": "function", "function": {"name": "ls"}, "input_schema": {"type": "object"}}],
        "messages": [*CHAT["messages"][1:5], {"role": "session_meta"}],
    }
)


def event(number: int, kind: str, source: str, **fields: Any) -> dict[str, Any]:
    """An event as OpenHands writes it, behind the one with the number before it."""
    parent = {"parent_id": f"e{number - 1}"} if number else {}
    stamp = f"2026-01-01T00:00:0{number}.000000"
    return {"id": f"e{number}", "timestamp": stamp, "source": source, **parent, **fields, "kind": kind}


OPENHANDS_EVENTS = [
    event(0, "SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "You are careful."}, tools=[]),
    event(1, "MessageEvent", "user", llm_message={"role": "user", "content": [text("List the files")]}),
    event(
        2,
        "ActionEvent",
        "agent",
        thought=[text("Looking.")],
        tool_name="ls",
        tool_call_id="call_1",
        tool_call={"id": "call_1", "name": "ls", "arguments": '{"path": "."}', "origin": "completion"},
        llm_response_id="r1",
    ),
    event(
        3,
        "ObservationEvent",
        "environment",
        tool_name="ls",
        tool_call_id="call_1",
        observation={"content": [text("a.txt\nb.txt")], "is_error": False, "kind": "ListObservation"},
        action_id="e2",
    ),
    event(4, "MessageEvent", "agent", llm_message={"role": "assistant", "content": [text("Two files.")]}),
]
OPENHANDS = jsonl(*OPENHANDS_EVENTS)

_CONTINUE_CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path":"."}'}}
CONTINUE = whole(
    {
        "sessionId": "0b5c7f0e-8c53-4b5e-9f55-2f0d54c0a001",
        "title": "Files",
        "workspaceDirectory": "/work",
        "history": [
            {"message": {"role": "user", "content": "List the files"}, "contextItems": []},
            {
                "message": {
                    "role": "assistant",
                    "content": "Looking.",
                    "toolCalls": [_CONTINUE_CALL],
                    "usage": {"model": "gpt-4.1", "prompt_tokens": 20, "completion_tokens": 5},
                },
                "contextItems": [],
                "toolCallStates": [
                    {
                        "toolCallId": "call_1",
                        "toolCall": _CONTINUE_CALL,
                        "status": "done",
                        "parsedArgs": {"path": "."},
                        "output": [{"name": "Tool Result", "description": "", "content": "a.txt\nb.txt"}],
                    }
                ],
            },
            {"message": {"role": "assistant", "content": "Two files."}, "contextItems": []},
        ],
    }
)


def webui_message(own: str, parent: str | None, role: str, **fields: Any) -> dict[str, Any]:
    """A message of a chat as Open WebUI writes it."""
    return {"id": own, "parentId": parent, "childrenIds": [], "role": role, "timestamp": 1767225600, **fields}


def webui_chat(*messages: dict[str, Any], current: str = "", **fields: Any) -> dict[str, Any]:
    """A chat of Open WebUI in the form of its exports."""
    history = {"currentId": current or messages[-1]["id"], "messages": {item["id"]: item for item in messages}}
    chat = {"title": "Files", "models": ["gpt-4.1"], "history": history, "files": [], **fields}
    return {"id": "w1", "user_id": "u", "title": "Files", "chat": chat, "share_id": None, "archived": False}


WEBUI_OUTPUT = [
    {"type": "message", "id": "o1", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
    {"type": "function_call", "id": "call_1", "call_id": "call_1", "name": "ls", "arguments": '{"path":"."}'},
    {
        "type": "function_call_output",
        "id": "o2",
        "call_id": "call_1",
        "output": [{"type": "input_text", "text": "a.txt\nb.txt"}],
        "status": "completed",
    },
    {"type": "message", "id": "o3", "role": "assistant", "content": [{"type": "output_text", "text": "Two files."}]},
]
OPEN_WEBUI = whole(
    [
        webui_chat(
            webui_message("m1", None, "user", content="List the files"),
            webui_message("m2", "m1", "assistant", model="gpt-4.1", content="Two files.", output=WEBUI_OUTPUT),
        )
    ]
)

INSPECT = whole(
    {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "anthropic/claude-sonnet-4-5"},
        "samples": [
            {
                "id": 1,
                "epoch": 1,
                "input": "List the files",
                "target": "two",
                "messages": [
                    {"id": "a", "role": "system", "content": "You are careful."},
                    {"id": "b", "role": "user", "content": "List the files", "source": "input"},
                    {
                        "id": "c",
                        "role": "assistant",
                        "content": [
                            {"type": "reasoning", "reasoning": "I look", "signature": "c2ln", "redacted": False},
                            text("Looking."),
                        ],
                        "tool_calls": [{"id": "c1", "function": "ls", "arguments": {"path": "."}, "type": "function"}],
                    },
                    {
                        "id": "d",
                        "role": "tool",
                        "content": "attachment://1f2e",
                        "tool_call_id": "c1",
                        "function": "ls",
                    },
                    {"id": "e", "role": "assistant", "content": "Two files.", "model": "claude-sonnet-4-5"},
                ],
                "attachments": {"1f2e": "a.txt\nb.txt"},
            }
        ],
    }
)

MINI_SWE = whole(
    {
        "info": {"config": {"model": {"model_name": "anthropic/claude-sonnet-4-5"}}, "exit_status": "Submitted"},
        "messages": [*CHAT["messages"][:5], {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}],
        "trajectory_format": "mini-swe-agent-1.1",
    }
)

SWE_AGENT = whole(
    {
        "environment": "main",
        "trajectory": [
            {"action": "ls .", "observation": "a.txt\nb.txt", "response": "Looking.", "thought": "Looking."}
        ],
        "history": [
            {"role": "system", "content": "Be brief.", "agent": "main", "message_type": "system_prompt"},
            {"role": "user", "content": "List the files", "agent": "main", "message_type": "observation"},
            {
                "role": "assistant",
                "content": "Looking.",
                "thought": "Looking.",
                "action": "ls .",
                "agent": "main",
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
                ],
                "message_type": "action",
            },
            {
                "role": "tool",
                "content": [{"type": "text", "text": "a.txt\nb.txt"}],
                "agent": "main",
                "message_type": "observation",
                "tool_call_ids": ["call_1"],
            },
            {"role": "assistant", "content": "Two files.", "thought": "Two files.", "action": "", "agent": "main"},
        ],
        "info": {"exit_status": "submitted", "model_stats": {"api_calls": 2}},
        "replay_config": json.dumps({"agent": {"model": {"name": "gpt-4o"}}}),
    }
)

VSCODE_REQUEST: dict[str, Any] = {
    "requestId": "request_1",
    "message": {"text": "List the files", "parts": [{"text": "List the files", "kind": "text"}]},
    "variableData": {"variables": []},
    "response": [
        {"value": "Looking.", "supportThemeIcons": False},
        {"kind": "prepareToolInvocation", "toolName": "ls"},
        {"kind": "toolInvocationSerialized", "toolId": "ls", "toolCallId": "8f0c", "isComplete": True},
        {"value": "Two files.", "supportThemeIcons": False},
    ],
    "result": {
        "timings": {"totalElapsed": 900},
        "metadata": {
            "toolCallRounds": [
                {
                    "id": "r1",
                    "response": "Looking.",
                    "toolCalls": [{"id": "call_1__vscode-1", "name": "ls", "arguments": '{"path": "."}'}],
                    "toolInputRetry": 0,
                },
                {"id": "r2", "response": "Two files.", "toolCalls": [], "toolInputRetry": 0},
            ],
            "toolCallResults": {"call_1__vscode-1": {"$mid": 20, "content": [{"$mid": 21, "value": "a.txt\nb.txt"}]}},
        },
    },
    "isCanceled": False,
    "timestamp": 1_759_845_101_282,
    "modelId": "copilot/gpt-4.1",
}

VSCODE_CHAT = whole(
    {
        "version": 3,
        "responderUsername": "GitHub Copilot",
        "initialLocation": "panel",
        "requests": [VSCODE_REQUEST],
        "sessionId": "29299837-0260-4fa8-8073-f02755e9dbcc",
    }
)

CHAT_RECORDS = jsonl(CHAT, {"messages": CHAT["messages"][:3]})

EVERY_FILE: dict[str, bytes] = {
    "antigravity": ANTIGRAVITY,
    "claude-code": CLAUDE,
    "codex": CODEX,
    "continue": CONTINUE,
    "copilot-cli": COPILOT_CLI,
    "cursor": CURSOR,
    "droid": DROID,
    "gemini-cli": GEMINI_CLI,
    "google-adk": GOOGLE_ADK,
    "goose": GOOSE,
    "grok-cli": GROK_CLI,
    "hermes": HERMES,
    "inspect": INSPECT,
    "mini-swe-agent": MINI_SWE,
    "swe-agent": SWE_AGENT,
    "vscode-chat": VSCODE_CHAT,
    "opencode": OPENCODE,
    "openhands": OPENHANDS,
    "open-webui": OPEN_WEBUI,
    "pi": PI,
    "kimi-cli": KIMI_CLI,
    "kimi-code": KIMI_CODE,
    "qwen-code": QWEN_CODE,
    "cline": CLINE,
    "langchain": LANGCHAIN,
    "pydantic-ai": PYDANTIC_AI,
    "openai-agents": OPENAI_AGENTS,
    "sharegpt": SHAREGPT,
    "vercel-ui": VERCEL_UI,
    "chat-records": CHAT_RECORDS,
    "openai-chat": whole(CHAT),
}
"""one file of every format; most tell the same story: a question, a call, its result, an answer"""
