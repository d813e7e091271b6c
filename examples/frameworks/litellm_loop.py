"""LiteLLM: a loop around `acompletion` that goes from Claude to Mistral.

    legato simulate                                  in another terminal: no key, no network
    python examples/frameworks/litellm_loop.py

Needs `litellm` and `mcp`. For real providers, leave out `api_base` and `api_key`.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # LiteLLM would fetch prices from the network

import litellm

from legato.integrations.litellm import legato_handler

BASE = os.environ.get("LEGATO_SIMULATED", "http://127.0.0.1:8123")
FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [{"type": "function", "function": {"name": "read_file", "description": "Read a file.", "parameters": PATH}}]
litellm.callbacks = [legato_handler()]


async def main() -> None:
    """A question to each of two models; the messages are LiteLLM's own."""
    messages: list[Any] = []
    for model, base, text in (
        ("anthropic/claude-haiku-4-5", f"{BASE}/anthropic", "use read_file on notes.txt and hall.txt"),
        ("mistral/mistral-large-latest", f"{BASE}/mistral/v1", "what did the first tool return?"),
    ):
        messages.append({"role": "user", "content": text})
        while True:
            answer: Any = await litellm.acompletion(
                model=model, messages=messages, tools=TOOLS, api_base=base, api_key="any", max_tokens=4096
            )
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                found = FILES[json.loads(call.function.arguments)["path"]]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": found})
        print(f"{model}: {message.content}")


asyncio.run(main())
