"""How requests to a host are written.

A style says what one host wants of the *shape* of a request; what one model can do (images, parallel calls, the name of
a field) is in its capabilities. The encoder looks both up and never asks for a host's or a model's name.
"""

from __future__ import annotations

from msgspec import Struct

from legato.model.enums import FastStrEnum


class Switch(FastStrEnum):
    """How a request says whether the model should think, where that can be switched."""

    NONE = "none"
    """there is no field that all servers of the kind know"""
    FIELD = "field"
    """a field of its own, beside effort and budget"""
    FIELD_OR_EFFORT = "field-or-effort"
    """a field of its own, which is refused together with an effort; an effort alone switches thinking on as well"""
    EFFORT = "effort"
    """the effort itself, with "none" for off"""


class OptionField(Struct, frozen=True):
    """Where a host takes an option, if it differs from the rest of the family.

    With `field` alone the option is sent there. With both, the API does not promise to take it, so it goes back only
    where a request to this host had it. With `why` alone it is never sent.
    """

    field: str = ""
    why: str = ""


class RequestStyle(Struct, frozen=True, kw_only=True):
    """The shape that a host accepts."""

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
    reasoning_demanded: bool = True
    """and is demanded beside calls, so something is there also where there is none to send"""
    reasoning_on_every_answer: bool = False
    """while the model thinks, every answer carries it, and not only those with calls"""
    thinking_chunks: bool = False
    """a model's own thinking that came as a chunk of the content goes back as one"""
    reasoning_details: bool = False
    """a model's own `reasoning_details` go back where they came from (OpenRouter and what imitates it)"""
    undocumented_fields: bool = True
    """what came in a field that the API does not document (`extra_content` of a call) goes back there; false: a server
    refuses such fields, also those of its own answers"""
    forced_choice: bool = True
    """`tool_choice` may force a call"""
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


class MessagesStyle(Struct, frozen=True, kw_only=True):
    """The shape that a host of the Messages API accepts, where it is not Anthropic's own."""

    budgets: bool = True
    """thinking that is switched on has a budget of tokens; else `enabled` stands alone, and an effort is about nothing
    but thinking"""
    effort_beside_switch: bool = False
    """a model whose thinking is switched also takes an effort"""


STRICT_STYLE = RequestStyle(reasoning_details=True, max_tools=128, max_stops=4)
"""what every compatible server accepts: for hosts of which nothing else is known"""
