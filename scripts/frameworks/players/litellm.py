"""LiteLLM: `acompletion` in a loop of one's own, as its documentation shows it."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices from the network

import httpx
import litellm

from legato.integrations.litellm import legato_handler
from scripts.frameworks.damages import Role
from scripts.frameworks.tool import read_file

KEY = "a key of no value"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a text file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]
MODELS = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "openai": "openai/gpt-4.1",
    "openai-responses": "openai/responses/gpt-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "mistral": "mistral/mistral-large-latest",
}
litellm.suppress_debug_info = True

MASTER = "sk-of-no-value"
HOOK = """\
from legato.integrations.litellm import legato_handler

handler = legato_handler()
"""
RUN = "from litellm import run_server; run_server()"
LEFT_OPEN: list[dict[str, Any]] = [
    {"role": "user", "content": "use read_file on notes.txt"},
    {
        "role": "assistant",
        "content": None,
        "provider_specific_fields": {"citations": None},
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "read_file", "arguments": '{"path": "notes.txt"}'},
            }
        ],
    },
    {"role": "user", "content": "never mind"},
]


class Player:
    """A loop around `acompletion`."""

    families = tuple(MODELS)

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls
        self.own = {"its proxy with the hook, asked with a call left open": self._through_proxy}

    async def turn(
        self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool, streams: bool = False
    ) -> list[Any]:
        """Say `text`, and run the tools until there is an answer."""
        litellm.callbacks = [legato_handler()] if legato else []
        messages = [*history, {"role": "user", "content": text}]
        asked: dict[str, Any] = {"model": MODELS[family], "tools": TOOLS, "max_tokens": 8192, "max_retries": 0}
        asked |= {"api_base": self._urls[family], "api_key": KEY}
        if thinks and family == "anthropic":
            asked["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        if family == "openai-responses":
            asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
        while True:
            answer: Any = await litellm.acompletion(messages=messages, stream=streams, **asked)
            if streams:
                answer = litellm.stream_chunk_builder([chunk async for chunk in answer], messages=messages)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return messages
            for call in message.tool_calls:
                found = read_file(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": found})

    def explode(self, history: list[Any]) -> list[Any]:
        """Every result is a message."""
        return history

    def role(self, message: Any) -> Role:
        """By the role of the message."""
        role = message["role"] if isinstance(message, dict) else message.role
        return {"assistant": Role.ANSWER, "tool": Role.RESULT}.get(role, Role.SAID)

    def twin(self, message: Any) -> Any:
        """Messages have no ids."""
        return message

    def dumped(self, history: list[Any]) -> Any:
        """As `model_dump()` gives it."""
        return [one if isinstance(one, dict) else one.model_dump(exclude_none=True) for one in history]

    async def _through_proxy(self) -> None:
        """A history that every provider refuses, sent to each through the proxy, whole and streamed."""
        async with _proxy(self._urls) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
            for family in MODELS:
                for streams in (False, True):
                    asked = {"model": family, "messages": LEFT_OPEN, "tools": TOOLS, "stream": streams}
                    headers = {"Authorization": f"Bearer {MASTER}"}
                    answer = await client.post("/v1/chat/completions", json=asked, headers=headers)
                    if answer.status_code != 200 or "never" not in answer.text:
                        raise RuntimeError(f"on {family} the proxy answered {answer.status_code}: {answer.text[-300:]}")


@asynccontextmanager
async def _proxy(urls: dict[str, str]) -> AsyncGenerator[str]:
    """LiteLLM's proxy on a port of its own, with the hook as docs/integrations.md tells it."""
    with tempfile.TemporaryDirectory() as folder:
        _configure(Path(folder), urls)
        port = _free_port()
        address = ["--host", "127.0.0.1", "--port", str(port)]
        command = [sys.executable, "-c", RUN, "--config", "config.yaml", *address]
        process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=sys.stderr)
        try:
            await _listens(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            await process.wait()


def _configure(folder: Path, urls: dict[str, str]) -> None:
    models = [
        {"model_name": family, "litellm_params": {"model": model, "api_base": urls[family], "api_key": KEY}}
        for family, model in MODELS.items()
    ]
    config: dict[str, Any] = {"model_list": models, "litellm_settings": {"callbacks": ["legato_hook.handler"]}}
    config["general_settings"] = {"master_key": MASTER}
    (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    (folder / "legato_hook.py").write_text(HOOK, encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


async def _listens(port: int, process: asyncio.subprocess.Process) -> None:
    """Wait until the proxy takes connections."""
    for _ in range(1200):
        if process.returncode is not None:
            raise RuntimeError(f"the proxy ended with {process.returncode}")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise RuntimeError("the proxy did not listen after two minutes")
