"""What a request to a provider is for, told by its path.

In:  a dialect, a method and a path.
Out: the operation, with the name of the model or of the response where the path has one.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from legato.model import Dialect
from legato.transport import HTTP_APIS


class Operation(StrEnum):
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
    INPUTS = "inputs"
    """what that response was given to"""
    CANCEL = "cancel"
    """an end to work on it"""


OF_STORED = frozenset({Operation.STORED, Operation.FORGET, Operation.INPUTS, Operation.CANCEL})
"""what is asked of a response by its id"""


class FoundOperation(NamedTuple):
    """An operation. `name` is the model or the response that the path names, `stream` whether it asks for a stream."""

    operation: Operation
    name: str = ""
    stream: bool = False

    @property
    def method(self) -> str:
        """With which method it is done."""
        match self.operation:
            case Operation.ANSWER | Operation.COUNT | Operation.COMPACT | Operation.CANCEL:
                return "POST"
            case Operation.FORGET:
                return "DELETE"
            case Operation.MODELS | Operation.MODEL | Operation.STORED | Operation.INPUTS:
                return "GET"

    def takes(self, method: str) -> bool:
        """Whether it is done with `method`; what may be got may also be asked for without its body."""
        return method == self.method or (method == "HEAD" and self.method == "GET")


def find_operation(dialect: Dialect, method: str, path: str) -> FoundOperation | None:
    """What a server of `dialect` does at `path`; None if it does nothing there."""
    match dialect:
        case Dialect.GEMINI:
            # Names of models may hold a slash, which some clients do not escape.
            if found := _GEMINI.search(path):
                operation = Operation.COUNT if found[2] == "countTokens" else Operation.ANSWER
                return FoundOperation(operation, found[1], found[2] == "streamGenerateContent")
        case Dialect.OPENAI_RESPONSES:
            if (beside := _find_beside_responses(method, path)) is not None:
                return beside
        case Dialect.ANTHROPIC:
            if path.endswith("/v1/messages/count_tokens"):
                return FoundOperation(Operation.COUNT)
            if found := _CLAUDE_IN_A_CLOUD.search(path):
                model, streams = found[1] or found[2], found[0].endswith(("streamRawPredict", "stream"))
                return FoundOperation(Operation.ANSWER, model, streams)
        case Dialect.BEDROCK:
            return _find_at_bedrock(path)
        case Dialect.OPENAI_CHAT:
            if found := _DEPLOYMENT.search(path):
                return FoundOperation(Operation.ANSWER, found[1])
        case _:
            pass
    if dialect is not Dialect.GEMINI and path.endswith(HTTP_APIS[dialect].path):
        return FoundOperation(Operation.ANSWER)
    if path.endswith("/models"):
        return FoundOperation(Operation.MODELS)
    found = _MODEL.search(path)
    # A name may hold a colon, but what is posted to one is an operation that nobody knows here.
    if found is None or (":" in found[1] and method == "POST"):
        return None
    return FoundOperation(Operation.MODEL, found[1])


def _find_beside_responses(method: str, path: str) -> FoundOperation | None:
    """What the Responses API does beside answering."""
    if path.endswith("/responses/compact"):
        return FoundOperation(Operation.COMPACT)
    if path.endswith("/responses/input_tokens"):
        return FoundOperation(Operation.COUNT)
    found = _RESPONSE.search(path)
    if found is None:
        return None
    operation = _OF_RESPONSE[found[2]]
    is_deleted = operation is Operation.STORED and method == "DELETE"
    return FoundOperation(Operation.FORGET if is_deleted else operation, found[1])


def _find_at_bedrock(path: str) -> FoundOperation | None:
    """Models are listed by another host of AWS (`bedrock`, not `bedrock-runtime`), which is the same server here."""
    if found := _BEDROCK.search(path):
        operation = Operation.COUNT if found[2] == "count-tokens" else Operation.ANSWER
        return FoundOperation(operation, found[1], found[2] == "converse-stream")
    if path.endswith("/foundation-models"):
        return FoundOperation(Operation.MODELS)
    found = _FOUNDATION_MODEL.search(path)
    return FoundOperation(Operation.MODEL, found[1]) if found else None


# The name of a model may be the ARN of a profile, which holds a slash.
_BEDROCK = re.compile(r"/model/(.+)/(converse|converse-stream|count-tokens)$")
_FOUNDATION_MODEL = re.compile(r"/foundation-models/(.+)$")
_GEMINI = re.compile(r"/models/(.+):(generateContent|streamGenerateContent|countTokens)$")
# At Vertex, and at Bedrock.
_CLAUDE_IN_A_CLOUD = re.compile(
    r"/models/([^/]+):(?:rawPredict|streamRawPredict)$|/model/(.+)/invoke(?:-with-response-stream)?$"
)
_DEPLOYMENT = re.compile(r"/deployments/([^/]+)/chat/completions$")  # at Azure
_RESPONSE = re.compile(r"/responses/([^/]+)(?:/(input_items|cancel))?$")
_OF_RESPONSE = {None: Operation.STORED, "input_items": Operation.INPUTS, "cancel": Operation.CANCEL}
_MODEL = re.compile(r"/models/(.+)$")
