"""What a request to a provider is for, told by its path.

In:  a dialect, a method and a path.
Out: the errand, with the name of the model or of the response where the path has one.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from legato.model import Dialect
from legato.transport import DOORS


class Errand(StrEnum):
    """What is asked of the provider."""

    ANSWER = "answer"
    COUNT = "count"
    """how many tokens a request has"""
    COMPACT = "compact"
    """a conversation, made shorter by the provider"""
    MODELS = "models"
    """which models there are"""
    MODEL = "model"
    """what one of them is"""
    STORED = "stored"
    """a response that was given before"""
    FORGET = "forget"
    """the same, never to be seen again"""


class Found(NamedTuple):
    """An errand. `name` is the model or the response that the path names, `stream` whether it asks for a stream."""

    errand: Errand
    name: str = ""
    stream: bool = False

    @property
    def method(self) -> str:
        """With which method it is done."""
        match self.errand:
            case Errand.ANSWER | Errand.COUNT | Errand.COMPACT:
                return "POST"
            case Errand.FORGET:
                return "DELETE"
            case Errand.MODELS | Errand.MODEL | Errand.STORED:
                return "GET"


def find_errand(dialect: Dialect, method: str, path: str) -> Found | None:
    """What a server of `dialect` does at `path`; None if it does nothing there."""
    match dialect:
        case Dialect.GEMINI:
            # Names of models may hold a slash, which some clients do not escape.
            if found := _GEMINI.search(path):
                errand = Errand.COUNT if found[2] == "countTokens" else Errand.ANSWER
                return Found(errand, found[1], found[2] == "streamGenerateContent")
        case Dialect.OPENAI_RESPONSES:
            if path.endswith("/responses/compact"):
                return Found(Errand.COMPACT)
            if found := _RESPONSE.search(path):
                return Found(Errand.FORGET if method == "DELETE" else Errand.STORED, found[1])
        case Dialect.ANTHROPIC:
            if path.endswith("/v1/messages/count_tokens"):
                return Found(Errand.COUNT)
        case _:
            pass
    if dialect is not Dialect.GEMINI and path.endswith(DOORS[dialect].path):
        return Found(Errand.ANSWER)
    if path.endswith("/models"):
        return Found(Errand.MODELS)
    found = _MODEL.search(path)
    return Found(Errand.MODEL, found[1]) if found else None


_GEMINI = re.compile(r"/models/(.+):(generateContent|streamGenerateContent|countTokens)$")
_RESPONSE = re.compile(r"/responses/([^/]+)$")
_MODEL = re.compile(r"/models/([^:]+)$")
