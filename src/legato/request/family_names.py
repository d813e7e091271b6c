"""The name of a model without what clouds and routers put around it.

In:  a model as a route names it.
Out: the name that its vendor gives it, in lower case: what families of models are recognised by.

    anthropic/claude-opus-4-8                            claude-opus-4-8
    us.anthropic.claude-sonnet-4-5-20250929-v1:0         claude-sonnet-4-5-20250929
    claude-sonnet-4-5@20250929                           claude-sonnet-4-5-20250929
    arn:aws:bedrock:us-east-1:1:inference-profile/us.meta.llama3-3-70b-instruct-v1:0   llama3-3-70b-instruct
    publishers/google/models/gemini-2.5-pro              gemini-2.5-pro
    accounts/fireworks/models/kimi-k2-instruct           kimi-k2-instruct
    z-ai/glm-4.6:free                                    glm-4.6
    deepseek-ai/DeepSeek-V3.2                            deepseek-v3.2

A date in a name stays: for a vendor it is part of the name, and patterns of families end in a star.
"""

from __future__ import annotations

import re

_AREAS = frozenset({"us", "us-gov", "eu", "apac", "apne", "jp", "au", "ca", "sa", "me", "af", "global"})
"""of an inference profile of Bedrock
(https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html)"""

_VENDORS = frozenset(
    [
        "ai21",
        "amazon",
        "anthropic",
        "cohere",
        "deepseek",
        "google",
        "luma",
        "meta",
        "minimax",
        "mistral",
        "moonshot",
        "moonshotai",
        "nvidia",
        "openai",
        "qwen",
        "stability",
        "twelvelabs",
        "writer",
        "xai",
        "zai",
    ]
)
"""makers as Bedrock writes them before a name; versions such as `gpt-5.1` also have a point, so they are listed"""

_VERSION = r"-v\d+(?::\d+)?(?::\d+k)?$"
"""of Bedrock, such as `-v1:0`; `:200k` is the window"""


def family_name(model: str) -> str:
    """The vendor's own name of `model`. Applied again, it changes nothing."""
    name = model.strip().rstrip("/").rpartition("/")[2].lower()
    if "." in name:
        own = _without_maker(name)
        name = re.sub(_VERSION, "", own) if own != name else name
    name = name.partition(":")[0]  # a router's `:free` or `:nitro`, a local server's `:8b`
    name, _, version = name.partition("@")  # Vertex AI: a day, or `latest`, `default`
    return f"{name}-{version}" if version.isdecimal() else name.strip()


def _without_maker(name: str) -> str:
    """`name` without area and maker, as often as they come before it."""
    while True:
        area, _, behind = name.partition(".")
        maker, _, rest = (behind if area in _AREAS else name).partition(".")
        if maker not in _VENDORS or not rest[:1].isalpha():
            return name
        name = rest
