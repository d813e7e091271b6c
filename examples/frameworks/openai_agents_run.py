"""OpenAI Agents SDK: a session in Legato's store, answered by OpenAI, then by Mistral through LiteLLM.

    legato simulate                                       in another terminal: no key, no network
    python examples/frameworks/openai_agents_run.py

Needs `openai-agents[litellm]`. For real providers, leave out the base URLs and name your keys.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # LiteLLM would fetch prices from the network

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, function_tool, set_tracing_disabled
from agents.extensions.models.litellm_model import LitellmModel
from openai import AsyncOpenAI

from legato.integrations.openai_agents import StoreSession, legato_input_filter

BASE = os.environ.get("LEGATO_SIMULATED", "http://127.0.0.1:8123")
set_tracing_disabled(True)


@function_tool
def read_file(path: str) -> str:
    """Read a text file."""
    return {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}[path]


async def main() -> None:
    """Two turns of one session."""
    session = StoreSession("ada", "memory:")
    mended = RunConfig(call_model_input_filter=legato_input_filter())
    models = (
        OpenAIResponsesModel("gpt-5", AsyncOpenAI(base_url=f"{BASE}/openai/v1", api_key="any")),
        LitellmModel("mistral/mistral-large-latest", base_url=f"{BASE}/mistral/v1", api_key="any"),
    )
    for model, text in zip(models, ("use read_file on notes.txt", "what did the first tool return?"), strict=True):
        agent = Agent("reader", model=model, tools=[read_file])
        done = await Runner.run(agent, text, session=session, run_config=mended)
        print(f"{model.model}: {done.final_output}")


asyncio.run(main())
