"""Google's client, answered by DeepSeek.

    python examples/sdk_google.py           simulated providers: no key, no network
    python examples/sdk_google.py --live    the real one; set DEEPSEEK_API_KEY

Needs the package `google-genai`. Everything below the first lines of `main` is an ordinary program for Gemini: a chat
in which the client calls a Python function by itself.
"""

from __future__ import annotations

import sys

from google import genai
from google.genai import types

import legato

FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}


def read_file(path: str) -> str:
    """Read a text file."""
    return FILES[path]


def main(*, live: bool) -> None:
    """Two messages of a chat."""
    http_client = legato.client("deepseek/deepseek-chat", simulate=not live)
    client = genai.Client(api_key="not needed", http_options=types.HttpOptions(httpx_client=http_client))
    chat = client.chats.create(model="gemini-2.5-pro", config=types.GenerateContentConfig(tools=[read_file]))
    for text in ("use read_file on notes.txt and hall.txt", "what did the first tool return?"):
        print(chat.send_message(text).text)


if __name__ == "__main__":
    main(live="--live" in sys.argv)
