"""OpenAI's client with the Responses API, answered by Gemini.

    python examples/sdk_openai_responses.py           simulated providers: no key, no network
    python examples/sdk_openai_responses.py --live    the real one; set GEMINI_API_KEY

Needs the package `openai`. The gateway keeps the responses, so that the next request needs nothing but the id of the
last one. Everything below the first line of `main` is an ordinary program for OpenAI.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from openai import OpenAI

import legato

FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}
READ_FILE: Any = {
    "type": "function",
    "name": "read_file",
    "description": "Read a text file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    "strict": False,
}


def main(*, live: bool) -> None:
    """A tool, and a question about it in the next response."""
    client = OpenAI(http_client=legato.client("gemini/gemini-2.5-pro", simulate=not live), api_key="not needed")
    asks: Any = {"model": "gpt-5.1", "tools": [READ_FILE]}
    said = client.responses.create(input="use read_file on notes.txt and hall.txt", **asks)
    results: list[Any] = [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": FILES[json.loads(item.arguments)["path"]],
        }
        for item in said.output
        if item.type == "function_call"
    ]
    said = client.responses.create(input=results, previous_response_id=said.id, **asks)
    print(said.output_text)
    said = client.responses.create(input="what did the first tool return?", previous_response_id=said.id, **asks)
    print(said.output_text)


if __name__ == "__main__":
    main(live="--live" in sys.argv)
