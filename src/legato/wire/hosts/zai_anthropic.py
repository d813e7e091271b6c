"""Z.ai's Messages API, with the GLM models."""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.hosting import MESSAGES, MESSAGES_OPTIONS, Citation, Host, Models, ServerHabits

HOST = Host(
    name="zai-anthropic",
    dialect=Dialect.ANTHROPIC,
    door_of="zai",
    title="Z.ai, as Messages",
    endpoint="https://api.z.ai/api/anthropic",
    keys=("ZAI_API_KEY", "Z_AI_API_KEY"),
    example="glm-4.7",
    sources=(
        Citation(
            "https://jackin.tailrocks.com/guides/authentication/zai/", "The base URL, and the variable of the key."
        ),
        Citation("https://beamuswayne.github.io/Alfred/guides/using-glm", "The key goes into `x-api-key`."),
        Citation(
            "https://docs.z.ai/guides/capabilities/thinking-mode",
            "Thinking is on by default since GLM-4.7, and `thinking` switches it.",
        ),
    ),
    # Nothing is documented about what differs from Anthropic's own API, so that is what it is taken for.
    profile="zai-anthropic",
    capabilities={**MESSAGES, "images": False},
    models=(
        Models(
            "GLM that thinks",
            ("glm-4.5*", "glm-4.6*", "glm-4.7*", "glm-5*"),
            {"thinking": "switch", "thinking_default": True, "thinking_first": True},
        ),
    ),
    options=MESSAGES_OPTIONS,
    server=ServerHabits(serves=("glm-*",)),
)
