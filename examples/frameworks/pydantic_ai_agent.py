"""Pydantic AI: one conversation that changes its provider at every turn, after a run that was stopped.

    legato simulate                                       in another terminal: no key, no network
    python examples/frameworks/pydantic_ai_agent.py

Needs `pydantic-ai-slim[anthropic,openai]`. For real providers, set their keys, and unset the base URLs.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import os

BASE = os.environ.get("LEGATO_SIMULATED", "http://127.0.0.1:8123")
os.environ |= {"ANTHROPIC_BASE_URL": f"{BASE}/anthropic", "ANTHROPIC_API_KEY": "any"}
os.environ |= {"OPENAI_BASE_URL": f"{BASE}/openai/v1", "OPENAI_API_KEY": "any"}

from pydantic_ai import Agent  # noqa: E402
from pydantic_ai.capabilities import Hooks  # noqa: E402
from pydantic_ai.messages import ModelMessage  # noqa: E402

from legato.integrations.pydantic_ai import legato_request, settle_model_messages  # noqa: E402


def read_file(path: str) -> str:
    """Read a text file."""
    return {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}[path]


agent = Agent(tools=[read_file], capabilities=[Hooks(before_model_request=legato_request())])
history: list[ModelMessage] = []
for model, text in (
    ("anthropic:claude-haiku-4-5", "use read_file on notes.txt and hall.txt"),
    ("openai-chat:gpt-4.1", "what did the first tool return?"),
    ("openai-responses:gpt-5", "what did the last tool return?"),
):
    done = agent.run_sync(text, model=model, message_history=history)
    history = done.all_messages()
    print(f"{model}: {done.output}")

stopped = history[:2]  # the calls are there, and the run was stopped before their results were
done = agent.run_sync("hello again", model="anthropic:claude-haiku-4-5",
                      message_history=settle_model_messages(stopped, "anthropic/claude-haiku-4-5"))  # fmt: skip
print(f"after a run that was stopped: {done.output}")
