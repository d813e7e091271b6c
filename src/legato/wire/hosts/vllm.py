"""vLLM, on this machine or on one's own."""

from __future__ import annotations

from legato.model import JsonObject
from legato.wire.hosting import Acceptance, Citation, ErrorFacts, Host, ServerHabits

_TYPES = {400: "BadRequestError", 404: "NotFoundError"}


def _error(facts: ErrorFacts) -> JsonObject:
    """An error that is not wrapped in anything."""
    kind = _TYPES.get(facts.status, "InternalServerError")
    return {"object": "error", "message": facts.message, "type": kind, "param": None, "code": facts.status}


HOST = Host(
    name="vllm",
    title="vLLM",
    endpoint="http://127.0.0.1:8000/v1",
    example="any",
    sources=(
        Citation("https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", "The port, and the API."),
        Citation("vllm-project/vllm#48922", "An empty array of tools is refused."),
        Citation("vllm-project/vllm#43995", "The arguments of a call are parsed."),
    ),
    capabilities={"window": 32_768},
    acceptance=Acceptance(refuses_empty_tools=True),
    server=ServerHabits(error_body=_error),
)
