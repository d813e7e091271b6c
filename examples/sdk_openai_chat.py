"""OpenAI's client with Chat Completions, answered by Claude.

    python examples/sdk_openai_chat.py           simulated providers: no key, no network
    python examples/sdk_openai_chat.py --live    the real one; set ANTHROPIC_API_KEY

Needs the package `openai`. Everything below the first line of `main` is an ordinary asynchronous program for OpenAI:
two tools are called at once, and the answer is streamed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from openai import AsyncOpenAI

import legato

FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}
READ_FILE: Any = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a text file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


async def main(live: bool) -> None:
    """One question that takes two tools to answer."""
    http_client = legato.async_client("anthropic/claude-sonnet-4-5", simulate=not live)
    async with AsyncOpenAI(http_client=http_client, api_key="not needed") as client:
        messages: list[Any] = [{"role": "user", "content": "use read_file on notes.txt and hall.txt"}]
        while (answer := await ask(client, messages)).tool_calls:
            for call in answer.tool_calls:
                path = json.loads(call.function.arguments)["path"]
                print(f"{call.function.name}: {path}")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": FILES[path]})
        print(answer.content)


async def ask(client: AsyncOpenAI, messages: list[Any]) -> Any:
    """The next message of the model, put together from a stream and added to `messages`."""
    async with client.chat.completions.stream(model="gpt-5.1", messages=messages, tools=[READ_FILE]) as stream:
        answer = (await stream.get_final_completion()).choices[0].message
    messages.append(answer.model_dump(exclude_none=True))
    return answer


if __name__ == "__main__":
    anyio.run(main, "--live" in sys.argv)
