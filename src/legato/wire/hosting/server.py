"""How a host behaves as a server: what it is like to get an answer or a refusal from it.

Nothing here is needed to write a request. The simulated providers answer by it, and our client recognises refusals by
the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from legato.model import JsonObject


class RefusalReason(StrEnum):
    """Why a request is refused."""

    SHAPE = "shape"
    NOT_JSON = "not-json"
    REASONING = "reasoning"
    """reasoning that this provider did not make, for this model and account"""
    MODEL = "model"
    KEY_MISSING = "key-missing"
    KEY_WRONG = "key-wrong"
    QUOTA = "quota"
    TOO_LONG = "too-long"
    RATE = "rate"
    SERVER = "server"
    OVERLOADED = "overloaded"
    PREVIOUS = "previous"
    """a response to go on from that this provider does not keep"""
    STORED = "stored"
    """a response to look at that it does not keep"""
    PATH = "path"
    METHOD = "method"
    TOO_LARGE = "too-large"
    """a body of more bytes than the server reads"""
    UPSTREAM = "upstream"
    """someone behind this server, whom it asked, did not answer in a usable way"""
    SLOW = "slow"
    """or not in time"""
    SETUP = "setup"
    """the operator of the server has to act, with a key, money or a setting; the caller cannot"""


_STATUS: Mapping[RefusalReason, int] = {
    RefusalReason.SHAPE: 400,
    RefusalReason.NOT_JSON: 400,
    RefusalReason.REASONING: 400,
    RefusalReason.MODEL: 404,
    RefusalReason.KEY_MISSING: 401,
    RefusalReason.KEY_WRONG: 401,
    RefusalReason.QUOTA: 402,
    RefusalReason.TOO_LONG: 400,
    RefusalReason.RATE: 429,
    RefusalReason.SERVER: 500,
    RefusalReason.OVERLOADED: 503,
    RefusalReason.PREVIOUS: 400,
    RefusalReason.STORED: 404,
    RefusalReason.PATH: 404,
    RefusalReason.METHOD: 405,
    RefusalReason.TOO_LARGE: 413,
    RefusalReason.UPSTREAM: 502,
    RefusalReason.SLOW: 504,
    # Clients repeat a request after any 5xx, and ask their user for another key after 401 and 403.
    RefusalReason.SETUP: 400,
}


class IdHabit(StrEnum):
    """How a model names its calls."""

    CALL = "call"
    """`call_` and 24 characters"""
    TOOLU = "toolu"
    """`toolu_01` and 22 characters"""
    TOOLUSE = "tooluse"
    """`tooluse_` and 22 characters, as models at Bedrock do"""
    SHORT = "short"
    """eight characters, as Gemini does where it gives ids"""
    NINE = "nine"
    """nine characters, as Mistral does"""
    NUMBERED = "numbered"
    """`functions.name:0`, beginning at zero again in each answer, as Kimi does"""
    PLACED = "placed"
    """`call_00_` and 20 characters, as DeepSeek does"""
    CONSTANT = "constant"
    """the same id for every call"""
    EMPTY = "empty"
    """no id at all"""


class CacheHabit(Struct, frozen=True):
    """How a server caches prompts: the fewest tokens, by patterns of model names, and in which steps; or only where a
    block is marked.
    """

    least: tuple[tuple[str, int], ...]
    step: int = 1
    marked: bool = False

    def minimum(self, model: str) -> int:
        """The fewest tokens that are cached for `model`."""
        name = model.rsplit("/", 1)[-1].lower()
        return next(tokens for pattern, tokens in self.least if fnmatchcase(name, pattern))


class ErrorFacts(NamedTuple):
    """What an error body is made of."""

    reason: RefusalReason
    message: str
    path: str
    """the place in the request; empty if the refusal is not about one"""
    code: str
    """the code of the broken rule, where the host has one"""
    status: int
    request_id: str
    retry_after: float | None = None
    """seconds, where the refusal says how long to wait"""


ErrorBody: TypeAlias = Callable[[ErrorFacts], JsonObject]

INVALID = "invalid_request_error"

_OPENAI_TYPES: Mapping[RefusalReason, tuple[str, str | None]] = {
    RefusalReason.REASONING: (INVALID, "invalid_encrypted_content"),
    RefusalReason.MODEL: (INVALID, "model_not_found"),
    RefusalReason.PREVIOUS: (INVALID, "previous_response_not_found"),
    RefusalReason.KEY_MISSING: (INVALID, None),
    RefusalReason.KEY_WRONG: (INVALID, "invalid_api_key"),
    RefusalReason.QUOTA: ("insufficient_quota", "insufficient_quota"),
    RefusalReason.TOO_LONG: (INVALID, "context_length_exceeded"),
    RefusalReason.RATE: ("requests", "rate_limit_exceeded"),
    RefusalReason.SERVER: ("server_error", None),
    RefusalReason.OVERLOADED: ("server_error", None),
    RefusalReason.UPSTREAM: ("server_error", None),
    RefusalReason.SLOW: ("server_error", None),
}


def openai_error(facts: ErrorFacts) -> JsonObject:
    """The error object of OpenAI, which most of the family imitate."""
    kind, code = _OPENAI_TYPES.get(facts.reason, (INVALID, None))
    return {"error": {"message": facts.message, "type": kind, "param": facts.path or None, "code": code}}


class ServerHabits(Struct, frozen=True, kw_only=True):
    """What only a server has. The defaults are those of a server that imitates OpenAI's."""

    name: str = ""
    """whose it is; a host's own is filled in"""
    base: str = ""
    """the path of its base URL on a simulated server, whose first step is its own; empty: `/NAME/v1`"""
    ids: IdHabit = IdHabit.CALL
    answers: str = "chatcmpl-"
    """how ids of answers begin"""
    serves: tuple[str, ...] = ("*",)
    """patterns for names of models, without a vendor's prefix, in lower case"""
    talks: bool = False
    """says a sentence before it calls tools"""
    unsplit_calls: bool = False
    """streams each call in one piece"""
    joins_usage: bool = False
    """streams the usage, asked for or not, beside the reason why the answer ended; unsplit calls are there too"""
    hides_thoughts: bool = False
    """its models think and never show it"""
    thinking_chunks: bool = False
    """thoughts are chunks of the content"""
    thinks_unasked: tuple[str, ...] = ("*",)
    """patterns for models that may think although no capability says so"""
    checks_signatures: bool = True
    """where thoughts are signed, it refuses those that it did not sign"""
    cache: CacheHabit | None = None
    """how it caches prompts, where that is known"""
    model_card: JsonObject = {}
    """what its list of models says of each, beside the usual fields"""
    also_refuses: frozenset[str] = frozenset()
    """rules that are risky in general and that these servers do refuse"""

    # Refusals.

    frame: str = ""
    """the sentence around a broken rule, with `{said}`, `{path}` or `{dotted}`; empty: the words alone"""
    says: Mapping[RefusalReason, str] = {}
    """its own words, with `{model}`, `{tokens}`, `{window}`, `{seconds}`, `{detail}`"""
    statuses: Mapping[RefusalReason, int] = {}
    """its own statuses"""
    code_statuses: Mapping[str, int] = {}
    """statuses for rules with a certain code"""
    error_body: ErrorBody = openai_error
    error_header: tuple[str, Callable[[ErrorFacts], str]] | None = None
    """a header that names the kind of error, and what it says"""
    request_id: str = "x-request-id"
    """the header that names the request"""
    tells_wait: bool = True
    """how long to wait is in the header `retry-after`"""

    def status_of(self, reason: RefusalReason, code: str = "") -> int:
        """The status with which it refuses for `reason`, or because of a rule with a certain code."""
        return self.code_statuses.get(code) or self.statuses.get(reason) or _STATUS[reason]
