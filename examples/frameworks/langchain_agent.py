"""LangChain: an agent whose model changes at every turn, and a state in which a call has no result.

    legato simulate                                     in another terminal: no key, no network
    python examples/frameworks/langchain_agent.py

Needs `langchain`, `langchain-anthropic` and `langchain-openai`. For real providers, leave out `base_url` and `api_key`.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import os
from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from legato.integrations.langchain import legato_middleware

BASE = os.environ.get("LEGATO_SIMULATED", "http://127.0.0.1:8123")
ANY: Any = "any"


def read_file(path: str) -> str:
    """Read a text file."""
    return {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}[path]


models: list[Any] = [
    ChatAnthropic(model="claude-haiku-4-5", base_url=f"{BASE}/anthropic", api_key=ANY, max_tokens=4096),
    ChatOpenAI(model="gpt-4.1", base_url=f"{BASE}/openai/v1", api_key=ANY),
    ChatOpenAI(model="gpt-5", base_url=f"{BASE}/openai/v1", api_key=ANY, use_responses_api=True),
]
asked = ("use read_file on notes.txt and hall.txt", "what did the first tool return?", "what did the last tool return?")
messages: list[Any] = []
for model, text in zip(models, asked, strict=True):
    agent = create_agent(model, tools=[read_file], middleware=[legato_middleware()])
    messages = agent.invoke({"messages": [*messages, {"role": "user", "content": text}]})["messages"]
    print(f"{model._get_ls_params()['ls_model_name']}: {messages[-1].text}")

agent = create_agent(models[0], tools=[read_file], middleware=[legato_middleware()])
stopped = [*messages[:2], {"role": "user", "content": "hello again"}]  # stopped before the results were there
print(f"after a run that was stopped: {agent.invoke({'messages': stopped})['messages'][-1].text}")
