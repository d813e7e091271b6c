"""Agent frameworks: one line in each, and their histories are valid for whichever provider answers next.

    pydantic_ai     a history processor, and a hook that changes the request alone
    langchain       a middleware for agents, and a hook before the model for graphs
    openai_agents   a filter of the model's input, and a session in Legato's store
    litellm         messages and parameters of `completion`, and a hook for the proxy
    google_adk      a callback before the model

No framework is a dependency: each module imports its own when it is used. All of them do the same with `settle`: what
the framework has is read as a conversation, rendered and verified for the model that will answer, read back, and
written as the framework's own messages. Nothing here sends anything.
"""

from __future__ import annotations

from legato.integrations.settling import SettledHistory, settle

__all__ = ["SettledHistory", "settle"]
