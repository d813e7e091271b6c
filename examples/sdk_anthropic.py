"""Anthropic's client, answered by whoever is next: Mistral, then OpenAI, then Mistral again.

    python examples/sdk_anthropic.py           simulated providers: no key, no network
    python examples/sdk_anthropic.py --live    the real ones; set MISTRAL_API_KEY and OPENAI_API_KEY

Needs the package `anthropic`. Everything below the first line of `main` is an ordinary program for Claude, with a tool
and a stream; the model that it asks for is a name, and the answers carry that name.
"""

from __future__ import annotations

import sys
from typing import Any

from anthropic import Anthropic

import legato

FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}
READ_FILE: Any = {
    "name": "read_file",
    "description": "Read a text file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
IN_TURN = legato.Profile(
    "in-turn",
    (legato.Route("mistral/mistral-large-latest"), legato.Route("openai/gpt-5.1")),
    legato.Policy.ROUND_ROBIN,
)


def main(*, live: bool) -> None:
    """Three questions, each answered by another provider than the one before."""
    client = Anthropic(http_client=legato.client(IN_TURN, simulate=not live), api_key="not needed")
    messages: list[Any] = []
    for text in ("use read_file on notes.txt", "use read_file on hall.txt", "what did the first tool return?"):
        messages.append({"role": "user", "content": text})
        print(ask(client, messages))


def ask(client: Anthropic, messages: list[Any]) -> str:
    """Answer the last message, calling tools as long as they are asked for; `messages` grows."""
    while True:
        with client.messages.stream(
            model="claude-opus-4-8", max_tokens=4000, messages=messages, tools=[READ_FILE]
        ) as stream:
            text = "".join(stream.text_stream)
            answer = stream.get_final_message()
            route = stream.response.headers["x-legato-route"]
        messages.append({"role": "assistant", "content": answer.content})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": FILES[str(block.input["path"])]}
            for block in answer.content
            if block.type == "tool_use"
        ]
        if not results:
            return f"{answer.model}, which was {route}: {text}"
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    main(live="--live" in sys.argv)
