"""The same small agent on each vendor's own client, by that vendor's own idioms: history in the client's own objects.

`run` asks, runs the tools that the model calls, and asks again until there is a text. An agent does not know who
answers it. What it saw on the way is in `Outcome`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import anthropic
import mistralai.client as mistral
import mistralai.client.errors as mistral_errors
import openai
from google import genai
from google.genai import errors as google_errors
from google.genai import types
from msgspec import Struct, field
from pydantic import BaseModel

from typed_idioms import read_file

SCHEMA: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


class Song(BaseModel):
    """What an answer is parsed into."""

    title: str
    year: int


class Outcome(Struct):
    """What an agent saw."""

    text: str = ""
    thought: bool = False
    calls: int = 0
    """how many tools were called"""
    at_once: int = 0
    """the most that were called in one answer"""
    parsed: Song | None = None
    models: set[str] = field(default_factory=set[str])
    """the models that the answers named"""


class Agent(ABC):
    """An agent on one client. `http` is what the client takes for its connection."""

    name: ClassVar[str]
    model: ClassVar[str]
    """the name of the model that the program asks for, whoever answers"""
    rate_limited: ClassVar[tuple[type[Exception], ...]]
    bad_request: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, http: Any) -> None:
        self.outcome = Outcome()
        self.history: list[Any] = []
        self.client: Any = self.connect(http)

    @abstractmethod
    def connect(self, http: Any) -> Any:
        """The vendor's client over `http`."""

    @abstractmethod
    def say(self, text: str) -> None:
        """Add what a person says."""

    @abstractmethod
    def step(self, *, stream: bool, thinking: bool) -> list[tuple[Any, Any]]:
        """Ask once and keep the answer in the history; the calls in it and their results' form."""

    @abstractmethod
    def give(self, results: list[tuple[Any, str]]) -> None:
        """Add the results of calls."""

    @abstractmethod
    def parse(self, text: str, *, stream: bool) -> Song | None:
        """An answer as the caller's type, by the client's own helper."""

    def run(self, text: str, *, stream: bool, thinking: bool = False, steps: int = 8) -> Outcome:
        """What becomes of `text`."""
        self.say(text)
        for _ in range(steps):
            calls = self.step(stream=stream, thinking=thinking)
            if not calls:
                return self.outcome
            self.outcome.calls += len(calls)
            self.outcome.at_once = max(self.outcome.at_once, len(calls))
            self.give([(call, read_file(**arguments)) for call, arguments in calls])
        raise AssertionError("the model calls tools for ever")


class AnthropicAgent(Agent):
    """On Anthropic's client."""

    name = "anthropic"
    model = "claude-opus-4-8"
    rate_limited = (anthropic.RateLimitError,)
    bad_request = (anthropic.BadRequestError,)

    def connect(self, http: Any) -> Any:
        return anthropic.Anthropic(api_key="any", http_client=http, max_retries=0)

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self, *, stream: bool, thinking: bool) -> list[tuple[Any, Any]]:
        asked: Any = {
            "model": self.model,
            "max_tokens": 4000,
            "messages": self.history,
            "tools": [{"name": "read_file", "description": "Read a file.", "input_schema": SCHEMA}],
        }
        if thinking:
            asked["thinking"] = {"type": "enabled", "budget_tokens": 2000}
        if stream:
            with self.client.messages.stream(**asked) as events:
                said = events.get_final_message()
        else:
            said = self.client.messages.create(**asked)
        self.history.append({"role": "assistant", "content": said.content})
        self.outcome.models.add(said.model)
        self.outcome.text = "".join(block.text for block in said.content if block.type == "text")
        self.outcome.thought |= any(block.type == "thinking" and block.thinking for block in said.content)
        return [(block.id, block.input) for block in said.content if block.type == "tool_use"]

    def give(self, results: list[tuple[Any, str]]) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": call, "content": text} for call, text in results]
        self.history.append({"role": "user", "content": blocks})

    def parse(self, text: str, *, stream: bool) -> Song | None:
        asked: Any = {"model": self.model, "max_tokens": 2000, "messages": [{"role": "user", "content": text}]}
        if stream:
            with self.client.messages.stream(**asked, output_format=Song) as events:
                return events.get_final_message().parsed_output
        return self.client.messages.parse(**asked, output_format=Song).parsed_output


class ChatAgent(Agent):
    """On OpenAI's client, by chat completions."""

    name = "openai chat"
    model = "gpt-4.1"
    rate_limited = (openai.RateLimitError,)
    bad_request = (openai.BadRequestError,)

    def connect(self, http: Any) -> Any:
        return openai.OpenAI(api_key="any", http_client=http, max_retries=0)

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self, *, stream: bool, thinking: bool) -> list[tuple[Any, Any]]:
        asked: Any = {
            "model": self.model,
            "messages": self.history,
            "tools": [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}],
        }
        if thinking:
            asked["reasoning_effort"] = "medium"
        if stream:
            with self.client.chat.completions.stream(**asked) as events:
                said = events.get_final_completion()
        else:
            said = self.client.chat.completions.create(**asked)
        message = said.choices[0].message
        self.history.append(message)
        self.outcome.models.add(said.model)
        self.outcome.text = message.content or ""
        self.outcome.thought |= bool(getattr(message, "reasoning_content", None))
        return [(call.id, json.loads(call.function.arguments)) for call in message.tool_calls or []]

    def give(self, results: list[tuple[Any, str]]) -> None:
        self.history += [{"role": "tool", "tool_call_id": call, "content": text} for call, text in results]

    def parse(self, text: str, *, stream: bool) -> Song | None:
        asked: Any = {"model": self.model, "messages": [{"role": "user", "content": text}], "response_format": Song}
        if stream:
            with self.client.chat.completions.stream(**asked) as events:
                return events.get_final_completion().choices[0].message.parsed
        return self.client.chat.completions.parse(**asked).choices[0].message.parsed


class ResponsesAgent(Agent):
    """On OpenAI's client, by responses that nobody stores."""

    name = "openai responses"
    model = "gpt-5.1"
    rate_limited = (openai.RateLimitError,)
    bad_request = (openai.BadRequestError,)

    def connect(self, http: Any) -> Any:
        return openai.OpenAI(api_key="any", http_client=http, max_retries=0)

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self, *, stream: bool, thinking: bool) -> list[tuple[Any, Any]]:
        asked: Any = {
            "model": self.model,
            "input": self.history,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "tools": [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}],
        }
        if thinking:
            asked["reasoning"] = {"effort": "medium", "summary": "auto"}
        if stream:
            with self.client.responses.stream(**asked) as events:
                said = events.get_final_response()
        else:
            said = self.client.responses.create(**asked)
        self.history += said.output
        self.outcome.models.add(said.model)
        self.outcome.text = said.output_text
        self.outcome.thought |= any(item.type == "reasoning" and item.summary for item in said.output)
        return [(item.call_id, json.loads(item.arguments)) for item in said.output if item.type == "function_call"]

    def give(self, results: list[tuple[Any, str]]) -> None:
        self.history += [{"type": "function_call_output", "call_id": call, "output": text} for call, text in results]

    def parse(self, text: str, *, stream: bool) -> Song | None:
        asked: Any = {"model": self.model, "input": text, "text_format": Song}
        if stream:
            with self.client.responses.stream(**asked) as events:
                return events.get_final_response().output_parsed
        return self.client.responses.parse(**asked).output_parsed


class GoogleAgent(Agent):
    """On Google's client."""

    name = "google-genai"
    model = "gemini-3-pro-preview"
    rate_limited = (google_errors.ClientError,)
    bad_request = (google_errors.ClientError,)

    def connect(self, http: Any) -> Any:
        return genai.Client(api_key="any", http_options=types.HttpOptions(httpx_client=http))

    def say(self, text: str) -> None:
        self.history.append(types.Content(role="user", parts=[types.Part.from_text(text=text)]))

    def step(self, *, stream: bool, thinking: bool) -> list[tuple[Any, Any]]:
        declared: Any = {"name": "read_file", "description": "Read a file.", "parameters_json_schema": SCHEMA}
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declared])],
            thinking_config=types.ThinkingConfig(include_thoughts=True) if thinking else None,
        )
        asked: Any = {"model": self.model, "contents": self.history, "config": config}
        if stream:
            chunks = list(self.client.models.generate_content_stream(**asked))
        else:
            chunks = [self.client.models.generate_content(**asked)]
        parts = [part for chunk in chunks for part in _parts(chunk)]
        self.history.append(types.Content(role="model", parts=parts))
        self.outcome.models |= {chunk.model_version or "" for chunk in chunks}
        self.outcome.text = "".join(part.text or "" for part in parts if not part.thought)
        self.outcome.thought |= any(part.thought and part.text for part in parts)
        return [(part.function_call, dict(part.function_call.args or {})) for part in parts if part.function_call]

    def give(self, results: list[tuple[Any, str]]) -> None:
        parts = [
            types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": text}))
            for call, text in results
        ]
        self.history.append(types.Content(role="user", parts=parts))

    def parse(self, text: str, *, stream: bool) -> Song | None:
        config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Song)
        asked: Any = {"model": self.model, "contents": text, "config": config}
        if stream:
            said = "".join(chunk.text or "" for chunk in self.client.models.generate_content_stream(**asked))
            return Song.model_validate_json(said)
        return self.client.models.generate_content(**asked).parsed


def _parts(chunk: Any) -> list[Any]:
    content = chunk.candidates[0].content if chunk.candidates else None
    return list(content.parts or []) if content else []


class MistralAgent(Agent):
    """On Mistral's client."""

    name = "mistralai"
    model = "mistral-large-latest"
    rate_limited = (mistral_errors.SDKError,)
    bad_request = (mistral_errors.SDKError,)

    def connect(self, http: Any) -> Any:
        return mistral.Mistral(api_key="any", client=http)

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self, *, stream: bool, thinking: bool) -> list[tuple[Any, Any]]:
        asked: Any = {
            "model": self.model,
            "messages": self.history,
            "tools": [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}],
        }
        if thinking:
            asked["reasoning_effort"] = "high"
        if stream:
            chunks = [event.data for event in self.client.chat.stream(**asked)]
            deltas = [chunk.choices[0].delta for chunk in chunks]
            contents = [delta.content for delta in deltas]
            calls = [call for delta in deltas for call in delta.tool_calls or []]
            self.outcome.models |= {chunk.model for chunk in chunks}
        else:
            said = self.client.chat.complete(**asked)
            message = said.choices[0].message
            contents, calls = [message.content], message.tool_calls or []
            self.outcome.models.add(said.model)
        text, thought = _read_contents(contents)
        self.outcome.text, self.outcome.thought = text, self.outcome.thought or thought
        self.history.append({"role": "assistant", "content": text, "tool_calls": calls or None})
        return [(call, _arguments(call.function.arguments)) for call in calls]

    def give(self, results: list[tuple[Any, str]]) -> None:
        self.history += [
            {"role": "tool", "name": call.function.name, "tool_call_id": call.id, "content": text}
            for call, text in results
        ]

    def parse(self, text: str, *, stream: bool) -> Song | None:
        asked: Any = {"model": self.model, "messages": [{"role": "user", "content": text}], "response_format": Song}
        if stream:
            pieces = [event.data.choices[0].delta.content for event in self.client.chat.parse_stream(**asked)]
            return Song.model_validate_json(_read_contents(pieces)[0])
        return self.client.chat.parse(**asked).choices[0].message.parsed


def _read_contents(contents: list[Any]) -> tuple[str, bool]:
    """The text in contents, which may be texts or lists of chunks, and whether there was thinking."""
    text, thought = "", False
    for content in contents:
        if isinstance(content, str):
            text += content
        for chunk in content if isinstance(content, list) else []:
            text += getattr(chunk, "text", "") or ""
            thought |= getattr(chunk, "type", "") == "thinking"
    return text, thought


def _arguments(written: Any) -> Any:
    return json.loads(written) if isinstance(written, str) else written


AGENTS: dict[str, Callable[[Any], Agent]] = {
    agent.name: agent for agent in (AnthropicAgent, ChatAgent, ResponsesAgent, GoogleAgent, MistralAgent)
}
