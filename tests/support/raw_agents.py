"""An agent in each client dialect, written on raw bodies: it asks, runs the tools that are called, and sends back what it got.

`forgets` makes it one that drops what it cannot read, thinking and signatures, as some clients do.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from gateway_clients import post
from gateway_support import body_of, door
from legato.model import Dialect
from legato.transport.contract import Ask

SCHEMA: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


class Call(NamedTuple):
    """A tool call as the agent got it."""

    id: str
    name: str
    path: str


class RawAgent(ABC):
    """An agent with its history, in its dialect's own form."""

    dialect: ClassVar[Dialect]

    def __init__(self, *, stream: bool, forgets: bool) -> None:
        self.stream = stream
        self.forgets = forgets
        self.history: list[Any] = []
        self.calls = 0
        self.text = ""

    def take(self, data: bytes) -> bool:
        """Keep the answer in `data` and run what it calls; whether there was anything to run."""
        answer = body_of([data], door(self.dialect)) if self.stream else json.loads(data)
        calls = self.keep(answer)
        self.calls += len(calls)
        if calls:
            self.give([(call, f"the content of {call.path}") for call in calls])
        return bool(calls)

    @abstractmethod
    def ask(self) -> Ask:
        """The next request."""

    @abstractmethod
    def say(self, text: str) -> None:
        """Add what a person says."""

    @abstractmethod
    def keep(self, answer: Any) -> list[Call]:
        """Add an answer to the history."""

    @abstractmethod
    def give(self, results: list[tuple[Call, str]]) -> None:
        """Add the results of calls."""


class AnthropicAgent(RawAgent):
    """Speaks Messages."""

    dialect = Dialect.ANTHROPIC

    def ask(self) -> Ask:
        tools = [{"name": "read_file", "description": "Read a file.", "input_schema": SCHEMA}]
        thinking = {"type": "enabled", "budget_tokens": 2000}
        body = {"model": "claude-x", "max_tokens": 4000, "messages": self.history, "tools": tools, "thinking": thinking}
        return post("/v1/messages", body | {"stream": self.stream})

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def keep(self, answer: Any) -> list[Call]:
        content = answer["content"]
        if self.forgets:
            content = [block for block in content if block["type"] in ("text", "tool_use")]
        self.history.append({"role": "assistant", "content": content})
        self.text = "".join(block["text"] for block in content if block["type"] == "text")
        used = [block for block in content if block["type"] == "tool_use"]
        return [Call(block["id"], block["name"], block["input"]["path"]) for block in used]

    def give(self, results: list[tuple[Call, str]]) -> None:
        content = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in results]
        self.history.append({"role": "user", "content": content})


class ChatAgent(RawAgent):
    """Speaks Chat Completions."""

    dialect = Dialect.OPENAI_CHAT

    def ask(self) -> Ask:
        tools = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]
        body = {"model": "gpt-x", "messages": self.history, "tools": tools, "reasoning_effort": "medium"}
        return post("/v1/chat/completions", body | {"stream": self.stream})

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def keep(self, answer: Any) -> list[Call]:
        message = answer["choices"][0]["message"]
        if self.forgets:
            message = {name: message[name] for name in ("role", "content", "tool_calls") if name in message}
        for call in message.get("tool_calls") or []:
            call.pop("index", None)  # which only a stream has
        self.history.append(message)
        self.text = message.get("content") or ""
        called = [(call["id"], call["function"]) for call in message.get("tool_calls") or []]
        return [Call(call, function["name"], json.loads(function["arguments"])["path"]) for call, function in called]

    def give(self, results: list[tuple[Call, str]]) -> None:
        self.history += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]


class ResponsesAgent(RawAgent):
    """Speaks Responses, of which nothing is stored."""

    dialect = Dialect.OPENAI_RESPONSES

    def ask(self) -> Ask:
        body = {
            "model": "gpt-x",
            "input": self.history,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "medium", "summary": "auto"},
            "tools": [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}],
        }
        return post("/v1/responses", body | {"stream": self.stream})

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def keep(self, answer: Any) -> list[Call]:
        items = [item for item in answer["output"] if not self.forgets or item["type"] != "reasoning"]
        self.history += items
        said = [part["text"] for item in items if item["type"] == "message" for part in item["content"]]
        self.text = "".join(said)
        called = [item for item in items if item["type"] == "function_call"]
        return [Call(item["call_id"], item["name"], json.loads(item["arguments"])["path"]) for item in called]

    def give(self, results: list[tuple[Call, str]]) -> None:
        outputs = [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in results]
        self.history += outputs


class GeminiAgent(RawAgent):
    """Speaks Gemini's API."""

    dialect = Dialect.GEMINI

    def ask(self) -> Ask:
        body = {
            "contents": self.history,
            "tools": [{"functionDeclarations": [{"name": "read_file", "parametersJsonSchema": SCHEMA}]}],
            "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
        }
        operation = "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        return post(f"/v1beta/models/gemini-x:{operation}", body)

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "parts": [{"text": text}]})

    def keep(self, answer: Any) -> list[Call]:
        parts = answer["candidates"][0]["content"]["parts"]
        if self.forgets:
            parts = [_unsigned(part) for part in parts if not part.get("thought")]
        self.history.append({"role": "model", "parts": parts})
        self.text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
        called = [part["functionCall"] for part in parts if "functionCall" in part]
        return [Call(call["id"], call["name"], call["args"]["path"]) for call in called]

    def give(self, results: list[tuple[Call, str]]) -> None:
        answers = [{"id": call.id, "name": call.name, "response": {"result": text}} for call, text in results]
        self.history.append({"role": "user", "parts": [{"functionResponse": answer} for answer in answers]})


def _unsigned(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "thoughtSignature"}


RAW_AGENTS: dict[str, type[RawAgent]] = {
    "anthropic": AnthropicAgent,
    "openai-chat": ChatAgent,
    "openai-responses": ResponsesAgent,
    "gemini": GeminiAgent,
}
