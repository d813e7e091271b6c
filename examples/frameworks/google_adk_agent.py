"""Google ADK: one session that Claude begins through LiteLLM, and Gemini and Mistral go on with.

    legato simulate                                      in another terminal: no key, no network
    python examples/frameworks/google_adk_agent.py

Needs `google-adk`, `litellm` and `mcp`. For real providers, leave out the base URLs and name your keys.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import os

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "GOOGLE_API_KEY": "any"}

from google.adk.agents import Agent
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from legato.integrations.google_adk import legato_before_model

BASE = os.environ.get("LEGATO_SIMULATED", "http://127.0.0.1:8123")


def read_file(path: str) -> str:
    """Read a text file."""
    return {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}[path]


async def main() -> None:
    """Three turns, each on another model."""
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="reader", user_id="ada", session_id="1")
    thinking = {"type": "enabled", "budget_tokens": 2048}
    models = (
        LiteLlm("anthropic/claude-sonnet-4-5", api_base=f"{BASE}/anthropic", api_key="any", thinking=thinking),
        Gemini(model="gemini-3-pro-preview", base_url=f"{BASE}/gemini"),
        LiteLlm("mistral/mistral-large-latest", api_base=f"{BASE}/mistral/v1", api_key="any"),
    )
    asked = ("think first, then use read_file on notes.txt", "what did the first tool return?", "hello")
    for model, text in zip(models, asked, strict=True):
        agent = Agent(name="reader", model=model, tools=[read_file], before_model_callback=legato_before_model())
        runner = Runner(app_name="reader", agent=agent, session_service=sessions)
        said = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in runner.run_async(user_id="ada", session_id="1", new_message=said):
            parts = event.content.parts if event.content else None
            words = "".join(part.text or "" for part in parts or [] if not part.thought)
            if event.is_final_response():
                print(f"{model.model}: {words or event.error_message}")


asyncio.run(main())
