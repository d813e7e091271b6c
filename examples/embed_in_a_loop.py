"""An agent loop of your own, with the official clients, that changes provider between two turns.

    python examples/embed_in_a_loop.py           simulated providers, on a port of this machine: no key needed
    python examples/embed_in_a_loop.py --live    the real ones; set ANTHROPIC_API_KEY and OPENAI_API_KEY

Needs the packages `anthropic` and `openai`, and for the simulated providers `legato[serve]`. The loop is yours: Legato
records, renders and decodes, nothing else. In the second turn one tool fails and another never returns; the third turn
goes to another provider all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from anthropic import Anthropic
from anyio.from_thread import start_blocking_portal
from openai import OpenAI

from legato import Conversation, Options, Request, render, tool
from legato.simulation import base_urls, serve

CLAUDE, GPT = "anthropic/claude-haiku-4-5", "openai/gpt-4o"
FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}


@tool
def read_file(path: str) -> str:
    """Read a text file."""
    return FILES[path]


class Agent:
    """A loop as many programs have one: ask, run tools, ask again."""

    def __init__(self, claude: Anthropic, gpt: OpenAI) -> None:
        self.talk = Conversation()
        self._clients: dict[str, Callable[..., object]] = {
            "anthropic": claude.messages.create,
            "openai_chat": gpt.chat.completions.create,
        }

    def say(self, text: str, route: str) -> str:
        """One turn on `route`: from a message to an answer without calls."""
        self.talk.human(text)
        while True:
            request = render(self.talk, route, tools=[read_file], options=Options(max_tokens=4096))
            answer = self.talk.record(request.decode(self._send(request)))
            if not answer.calls:
                return answer.text
            for call in answer.calls:
                if call.arguments["path"] == "forever.txt":
                    return "(cancelled)"  # nothing is recorded: the next render closes the call by itself
                try:
                    self.talk.result(call, FILES[call.arguments["path"]])
                except KeyError as error:
                    self.talk.result(call, error)  # an exception is recorded as the tool's error

    def _send(self, request: Request) -> object:
        return self._clients[request.target.dialect](**request.sdk())


def main() -> None:
    """Three turns, two providers."""
    if "--live" in sys.argv:
        talk_about_rehearsals(Agent(Anthropic(), OpenAI()))
        return
    with simulated_providers() as urls:
        claude = Anthropic(base_url=urls["anthropic"], api_key="any")
        gpt = OpenAI(base_url=urls["openai"], api_key="any")
        talk_about_rehearsals(Agent(claude, gpt))


def talk_about_rehearsals(agent: Agent) -> None:
    """What is said."""
    print("claude:", agent.say("use read_file on notes.txt and hall.txt", CLAUDE))
    print("claude:", agent.say("use read_file on lost.txt and forever.txt", CLAUDE))
    print("gpt:   ", agent.say("what did the first tool return?", GPT))
    print("closed:", [call.reason for call in render(agent.talk, GPT).report.synthetic])


@contextmanager
def simulated_providers() -> Iterator[dict[str, str]]:
    """Strict simulated providers on a free port; the base URL of each."""
    with start_blocking_portal() as portal:
        server, port = portal.start_task(partial(serve, "127.0.0.1", 0))
        yield base_urls("127.0.0.1", port)
        server.cancel()


if __name__ == "__main__":
    main()
