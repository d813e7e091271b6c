"""What tells the servers of the chat family apart, as a table.

All of them take `POST .../chat/completions` with a list of messages, and each refuses something that another demands. A
profile says what one group of servers wants of the *shape* of a request; what one model can do (images, parallel calls,
the name of a field) is in its capabilities. An encoder looks both up and never asks for a model's name.

    openai    OpenAI itself and Azure
    kimi      Moonshot
    mistral   Mistral's own servers: an order of roles of its own, and no unknown fields
    deepseek  DeepSeek
    strict    everybody else (vLLM, Ollama, llama.cpp, Groq, xAI, OpenRouter, Qwen): what all of them accept
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import UnknownTarget
from legato.model import Target
from legato.wire.options import Switch


class Profile(Struct, frozen=True, kw_only=True):
    """The shape that one group of servers accepts."""

    null_beside_calls: bool = False
    """an answer with calls and without text has null as its content, not the empty string"""
    named_results: bool = False
    """a tool message carries the tool's name"""
    calls_first: bool = True
    """the first message may be an answer with calls"""
    system_after_answer: bool = True
    """a system message may follow an answer or a tool message"""
    developer: bool = False
    """instructions may have the role `developer`, where the model knows it"""
    reasoning_content: bool = False
    """a model's own thinking goes back in `reasoning_content`"""
    reasoning_on_every_answer: bool = False
    """while the model thinks, every answer carries it, and not only those with calls"""
    thinking_chunks: bool = False
    """a model's own thinking that came as a chunk of the content goes back as one"""
    reasoning_details: bool = False
    """a model's own `reasoning_details` go back where they came from (OpenRouter and what imitates it)"""
    undocumented_fields: bool = True
    """what came in a field that the API does not document (`extra_content` of a call) goes back there; false: a server
    refuses such fields, also those of its own answers"""
    forced_choice_while_thinking: bool = True
    """`tool_choice` may force a call while the model thinks"""
    bare_prefill: bool = True
    """an answer at the end is continued without a mark (`prefix`, `partial`) on it"""
    temperatures: tuple[float, float] | None = None
    """the lowest and the highest that are accepted, where that is documented"""
    switch: Switch = Switch.NONE
    """how thinking is switched: with a field, `thinking`, or with `reasoning_effort`"""
    effort_on: str = "medium"
    """the effort that means no more than "think\""""
    stream_options: bool = True
    """a streamed request asks for its usage; the others send it anyway, and refuse the question"""
    document_urls: bool = False
    """documents are `document_url` parts, else `file` parts with their data"""
    plain_audio: bool = False
    """the data of a sound stand alone, without their format"""
    max_tools: int | None = None
    custom_tools: bool = False
    """tools and calls of free text"""
    strict_tools: bool = False
    """a definition may ask for its schema to be enforced"""
    max_stops: int | None = None
    json_schemas: bool = True
    """an answer can be held to a schema; else JSON of any kind can be asked for"""


PROFILES: dict[str, Profile] = {
    "openai": Profile(
        null_beside_calls=True,
        developer=True,
        temperatures=(0, 2),  # https://platform.openai.com/docs/api-reference/chat/create
        switch=Switch.EFFORT,
        max_tools=128,
        custom_tools=True,
        strict_tools=True,
        max_stops=4,
    ),
    "kimi": Profile(
        reasoning_content=True,
        forced_choice_while_thinking=False,
        bare_prefill=False,
        switch=Switch.FIELD_OR_EFFORT,
        max_stops=5,
        json_schemas=False,
    ),
    "mistral": Profile(
        named_results=True,
        calls_first=False,
        system_after_answer=False,
        thinking_chunks=True,
        undocumented_fields=False,
        bare_prefill=False,
        switch=Switch.EFFORT,
        effort_on="high",
        stream_options=False,
        document_urls=True,
        plain_audio=True,
        strict_tools=True,
    ),
    "deepseek": Profile(
        reasoning_content=True,
        # Demanded on every answer of a turn with calls, ignored on the others (https://api-docs.deepseek.com/guides/
        # thinking_mode); reported as demanded on all of them (openclaw/openclaw#73417).
        reasoning_on_every_answer=True,
        forced_choice_while_thinking=False,
        bare_prefill=False,
        temperatures=(0, 2),  # https://api-docs.deepseek.com/api/create-chat-completion
        switch=Switch.FIELD_OR_EFFORT,
        max_stops=16,
        json_schemas=False,
    ),
    "strict": Profile(reasoning_details=True, max_tools=128, max_stops=4),
}
_NOTHING_UNDOCUMENTED = replace(PROFILES["strict"], reasoning_details=False, undocumented_fields=False)
_PARTICULARS: dict[str, Profile] = {
    "groq": _NOTHING_UNDOCUMENTED,  # "property '…' is unsupported": janhq/jan#8136
    "cerebras": _NOTHING_UNDOCUMENTED,  # the same words: Kilo-Org/kilocode#10375
}
"""strict servers, by provider, that differ in something from the others"""


def profile_of(target: Target) -> Profile:
    """The profile that `target` names, with the particulars of its provider."""
    if target.profile == "strict" and target.provider in _PARTICULARS:
        return _PARTICULARS[target.provider]
    try:
        return PROFILES[target.profile]
    except KeyError:
        raise UnknownTarget(
            f"the target {target.route} names the chat profile {target.profile!r}, which does not exist; "
            f"choose one of {', '.join(PROFILES)} (strict serves every compatible server)",
            layer="projection",
            profile=target.profile,
        ) from None
