"""Whom a request was written for, by the names that people use for it.

In:  a request, and a route, the name of a provider (`anthropic`) or of a dialect (`openai_chat`).
Out: the target. Where no model is named, it is the one that the body names. Where that names none either, the answers
     are nobody's in particular: what is signed in them goes back to no model, which none of them would refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from legato.model import Dialect, Target
from legato.request.catalogue import Catalogue
from legato.wire.dialects import dialect_parts

_OF_DIALECTS = {Dialect.OPENAI_CHAT.value: "openai", Dialect.OPENAI_RESPONSES.value: "openai-responses"}
"""providers that are not named like the dialect that they speak"""


def find_source(request: object, source: str | Target, catalogue: Catalogue) -> Target:
    """The target that `request` was written for; raises `UnknownTarget` for a name of nobody."""
    if isinstance(source, Target):
        return source
    name = source.strip()
    name = _OF_DIALECTS.get(name.replace("-", "_"), name)
    if name not in catalogue.providers:
        return catalogue.resolve(source)
    fields = _fields(request)
    name = _sibling(name, fields, catalogue)
    model = fields.get("model")
    if isinstance(model, str) and model.strip():
        return catalogue.resolve(f"{name}/{model}")
    return replace(catalogue.resolve(f"{name}/{catalogue.providers[name].example}"), model="")


def _sibling(name: str, fields: Mapping[str, Any], catalogue: Catalogue) -> str:
    """`name`, or its other API where the body has that one's messages: people call both of them `openai`."""
    other = f"{name}-responses"
    if fields and other in catalogue.providers and _messages_field(name, catalogue) not in fields:
        return other if _messages_field(other, catalogue) in fields else name
    return name


def _messages_field(name: str, catalogue: Catalogue) -> str:
    return dialect_parts(catalogue.providers[name].dialect).messages_field


def _fields(request: object) -> Mapping[str, Any]:
    """The fields of a body, whose messages are not looked at; none of a list of messages, or of what is no JSON."""
    if isinstance(request, Mapping):
        return cast("Mapping[str, Any]", request)
    if not isinstance(request, bytes | str):
        return {}
    try:
        fields = msgspec.json.decode(request, type=dict[str, msgspec.Raw])
        return {**fields, "model": msgspec.json.decode(fields["model"])} if "model" in fields else fields
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
