"""Mistral's client, answered by Kimi.

    python examples/sdk_mistral.py           simulated providers: no key, no network
    python examples/sdk_mistral.py --live    the real one; set MOONSHOT_API_KEY

Needs the package `mistralai`. Everything below the first line of `main` is an ordinary program for Magistral. Kimi
refuses a call that comes back without the reasoning that led to it; the program only sends back what it was given.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from mistralai.client import Mistral

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


def main(*, live: bool) -> None:
    """Two questions, the first of which takes tools."""
    client = Mistral(client=legato.client("kimi/kimi-k2-thinking", simulate=not live), api_key="not needed")
    messages: list[Any] = []
    for text in ("think first and use read_file on notes.txt and hall.txt", "what did the first tool return?"):
        messages.append({"role": "user", "content": text})
        while (answer := ask(client, messages)).tool_calls:
            for call in answer.tool_calls:
                content = FILES[json.loads(str(call.function.arguments))["path"]]
                messages.append({"role": "tool", "tool_call_id": call.id, "name": "read_file", "content": content})
        print("".join(chunk.text for chunk in answer.content if chunk.type == "text"))


def ask(client: Mistral, messages: list[Any]) -> Any:
    """The next message of the model, added to `messages`."""
    said = client.chat.complete(model="magistral-medium-latest", messages=messages, tools=[READ_FILE])
    messages.append(said.choices[0].message)
    return messages[-1]


if __name__ == "__main__":
    main(live="--live" in sys.argv)
