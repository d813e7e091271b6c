"""Small files with something wrong in them, for the commands about files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from legato.cli.app import app


def legato(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def save(path: Path, value: Any) -> Path:
    """Write `value` as JSON, or each element of a list of records as a line where the name says so."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in value), encoding="utf-8")
    else:
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


# --- request bodies ---------------------------------------------------------------------------------------------------


def use(call_id: str, name: str = "read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def used(call_id: str, text: str = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def anthropic_body(*messages: tuple[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "tools": [{"name": "read", "description": "", "input_schema": {"type": "object"}}],
        "messages": [{"role": role, "content": content} for role, content in messages],
        **fields,
    }


OPEN_BODY = anthropic_body(
    ("user", "Read a and b."),
    ("assistant", [{"type": "text", "text": "Reading."}, use("toolu_a", path="a"), use("toolu_b", path="b")]),
    ("user", [used("toolu_a", "text of a")]),
    ("assistant", "Half of it is there."),
    ("user", "Go on."),
)
"""an Anthropic request in which the second call was never answered"""

CLEAN_BODY = anthropic_body(
    ("user", "Read a."),
    ("assistant", [use("toolu_a", path="a")]),
    ("user", [used("toolu_a", "text of a")]),
)


def chat_body(*ids: str, answered: int | None = None, **fields: Any) -> dict[str, Any]:
    """A Chat Completions request with one answer that calls `read` for each id."""
    calls = [
        {"id": call_id, "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": call_id})}}
        for call_id in ids
    ]
    results = [{"role": "tool", "tool_call_id": call_id, "content": f"text of {call_id}"} for call_id in ids[:answered]]
    return {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read them."},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *results,
            {"role": "user", "content": "And?"},
        ],
        **fields,
    }


# --- session files ----------------------------------------------------------------------------------------------------


class ClaudeSession:
    """Records of a Claude Code session, each the child of the one before."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def add(self, kind: str, content: Any, **message: Any) -> ClaudeSession:
        number = len(self.records)
        self.records.append(
            {
                "parentUuid": self.records[-1]["uuid"] if self.records else None,
                "isSidechain": False,
                "sessionId": "11111111-2222-4333-8444-555555555555",
                "cwd": "/work",
                "version": "2.0.0",
                "type": kind,
                "message": {"role": kind, "content": content, **message},
                "uuid": f"00000000-0000-4000-8000-{number:012}",
                "timestamp": f"2025-01-01T00:00:{number:02}.000Z",
            }
        )
        return self

    def user(self, content: Any) -> ClaudeSession:
        return self.add("user", content)

    def model(self, *blocks: dict[str, Any], answer: str = "") -> ClaudeSession:
        answer = answer or f"msg_{len(self.records)}"
        return self.add("assistant", list(blocks), id=answer, model="claude-sonnet-4-5", type="message")


def open_session() -> list[dict[str, Any]]:
    """A session in which the call on line 4 has no result."""
    session = ClaudeSession()
    session.user("Read a, then b.").model(use("toolu_a", "Read", path="a")).user([used("toolu_a", "text of a")])
    session.model(use("toolu_b", "Read", path="b")).user("Never mind.")
    return session.model({"type": "text", "text": "All right."}).records


def pi_session() -> list[dict[str, Any]]:
    """A pi session, a format that belongs to no provider and is not repaired, with an open call on line 3."""

    def line(number: int, message: dict[str, Any]) -> dict[str, Any]:
        return {"type": "message", "id": str(number), "timestamp": "2025-01-01T00:00:00Z", "message": message}

    call = {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls"}}
    return [
        {"type": "session", "id": "s", "timestamp": "2025-01-01T00:00:00Z", "cwd": "/work"},
        line(1, {"role": "user", "content": "List the files."}),
        line(2, {"role": "assistant", "content": [call], "stopReason": "toolUse", "model": "m", "provider": "p"}),
        line(3, {"role": "user", "content": "Stop."}),
    ]
