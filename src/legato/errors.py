"""Every exception Legato raises.

    LegatoError
    ├── CallerError            the caller asked for something impossible
    │   ├── InvalidEntry       news that means nothing (no blocks, unknown speaker)
    │   ├── IngestError        a value or a text that cannot become JSON
    │   ├── UnknownCall        a result for a call this conversation never saw
    │   ├── UnknownTarget      a route or target that names nothing we know
    │   ├── ImpossibleRequest  an option that the target refuses
    │   ├── ConfigError        settings that cannot be read or do not fit
    │   ├── FormatError        a file that cannot be read, or read as what it claims to be
    │   │   ├── UnknownFormat  a file in none of the formats that are read
    │   │   ├── SeveralConversations  one of them has to be picked; has `conversations`
    │   │   └── RepairRefused  a file that cannot be repaired without losing something; has `losses`
    │   └── UnsafeName         a path or name that would escape where it belongs
    ├── OurFault               a promise of ours is broken; the report says which
    │   ├── CanonicalError     the log or the ledger contradicts itself
    │   │   └── CodecError     stored bytes that are not ours, or newer than this program
    │   ├── RenderError        a unit that breaks pairing or order
    │   └── ProjectionError    two calls share an id, or an id breaks its scheme
    ├── StoreError             the place where sessions stay
    │   ├── Conflict           another process wrote first
    │   ├── SessionLocked      another live process holds the session
    │   ├── SessionNotFound
    │   ├── StoreCorrupt       a checksum or the file itself is damaged
    │   └── StoreUnavailable   disk full, I/O error, server gone
    └── ProviderError          theirs: the provider, or the way to it
        ├── ProtocolRefused    it refused the shape of our request (so: our fault after all, found by them)
        │   └── OwnReasoningRefused  it refused reasoning of its own
        ├── BadRequest         it refused what the user asked for
        │   ├── MediaRefused   a file or an image that it cannot read
        │   ├── OptionRefused  an option that this model does not take
        │   ├── PolicyRefused  content that it does not allow
        │   ├── UnknownModel   a model that it does not offer, or not to this account
        │   └── WrongEndpoint  an address where nothing of the kind is served
        ├── Unauthorized
        ├── QuotaExhausted
        ├── RateLimited        has `retry_after`
        ├── Overloaded
        ├── Unreachable
        ├── TimedOut
        ├── BadAnswer          a malformed, truncated or empty answer
        ├── ContextTooLong
        └── AllRoutesFailed    has `causes`

The first fork says who can act, and a router chooses by type alone: what leads to another decision is another class.
An error carries plain data in `facts` beside its message: what happened, where, and what to do next.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "AllRoutesFailed",
    "BadAnswer",
    "BadRequest",
    "CallerError",
    "CanonicalError",
    "CodecError",
    "ConfigError",
    "Conflict",
    "ContextTooLong",
    "FormatError",
    "ImpossibleRequest",
    "IngestError",
    "InvalidEntry",
    "LegatoError",
    "MediaRefused",
    "OptionRefused",
    "OurFault",
    "Overloaded",
    "OwnReasoningRefused",
    "PolicyRefused",
    "ProjectionError",
    "ProtocolRefused",
    "ProviderError",
    "QuotaExhausted",
    "RateLimited",
    "RenderError",
    "RepairRefused",
    "SessionLocked",
    "SessionNotFound",
    "SeveralConversations",
    "StoreCorrupt",
    "StoreError",
    "StoreUnavailable",
    "TimedOut",
    "Unauthorized",
    "UnknownCall",
    "UnknownFormat",
    "UnknownModel",
    "UnknownTarget",
    "Unreachable",
    "UnsafeName",
    "WrongEndpoint",
]


class LegatoError(Exception):
    """The base of everything Legato raises. `facts` holds plain data about what happened."""

    def __init__(self, message: str, /, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts: dict[str, Any] = facts


class CallerError(LegatoError):
    """The caller asked for something that cannot be; asking differently helps."""


class InvalidEntry(CallerError):
    """News that means nothing: an entry without blocks, an unknown speaker."""


class IngestError(CallerError):
    """A value or a text that cannot become JSON: too large, too deep, or not JSON at all."""


class UnknownCall(CallerError):
    """A result or a verdict for a call that this conversation has never seen."""


class UnknownTarget(CallerError):
    """A route or target that names nothing we know."""


class ImpossibleRequest(CallerError):
    """An option, or a combination of options, that the target refuses."""


class ConfigError(CallerError):
    """Settings that cannot be read, or that do not fit together."""


class FormatError(CallerError):
    """A file that cannot be read, or cannot be read as what it claims to be."""


class UnknownFormat(FormatError):
    """A file in none of the formats that are read here.

    `brief`, where it is among the facts, says so without naming the formats that there are: once is enough.
    """


class SeveralConversations(FormatError):
    """A file holds several conversations, and none of them was picked, or one that is not there.

    `conversations` says how many there are.
    """

    def __init__(self, message: str, /, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.conversations: int = facts.get("conversations", 0)


class RepairRefused(FormatError):
    """A repaired file would lose something, or would still be broken. Nothing was written.

    `losses` are notes on what would be lost or broken and where, `changes` on what would have been repaired.
    """

    def __init__(self, message: str, /, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.losses: list[Any] = facts.get("losses", [])
        self.changes: list[Any] = facts.get("changes", [])


class UnsafeName(CallerError):
    """A path or a name that would escape the place where it belongs."""


class OurFault(LegatoError):
    """Legato broke a promise. The facts hold the report."""


class CanonicalError(OurFault):
    """The log or the ledger contradicts itself."""


class CodecError(CanonicalError):
    """Stored bytes that are not ours, are damaged, or are newer than this program."""


class RenderError(OurFault):
    """A unit that breaks pairing or order."""


class ProjectionError(OurFault):
    """Two calls share a provider id, or an id breaks its own scheme."""


class StoreError(LegatoError):
    """The place where sessions stay could not do what was asked."""


class Conflict(StoreError):
    """Another process wrote first: the expected sequence number is not the current one."""


class SessionLocked(StoreError):
    """Another live process holds the session."""


class SessionNotFound(StoreError):
    """No session of that name is stored here."""


class StoreCorrupt(StoreError):
    """A checksum does not match, or the file itself is damaged."""


class StoreUnavailable(StoreError):
    """The disk is full, the device fails, or the server is gone."""


class ProviderError(LegatoError):
    """The provider, or the way to it, failed. `brief` says how in a few words, for a list or a status line."""

    brief: ClassVar[str] = "it failed"


class ProtocolRefused(ProviderError):
    """The provider refused the shape of our request. It never walks a failover chain, which would hide our fault."""

    brief = "it refused the request"


class OwnReasoningRefused(ProtocolRefused):
    """The provider refused reasoning of its own, made under another account or at another host of the model."""


class BadRequest(ProviderError):
    """The provider refused what was asked for; the user can act. The classes below it say what it was about."""

    brief = "it refused what was asked for"


class MediaRefused(BadRequest):
    """The provider cannot read a file or an image."""


class OptionRefused(BadRequest):
    """An option, or its value, is not for this model."""


class PolicyRefused(BadRequest):
    """The provider does not allow what was asked."""


class UnknownModel(BadRequest):
    """The provider does not offer this model, or not to this account."""

    brief = "it does not offer the model"


class WrongEndpoint(BadRequest):
    """Nothing answers at this address, or something that is no model."""

    brief = "no model answers at this address"


class Unauthorized(ProviderError):
    """The key is missing, wrong, or not allowed to do this."""

    brief = "the key is missing or refused"


class QuotaExhausted(ProviderError):
    """The balance or the quota is used up; waiting a little does not help."""

    brief = "the quota is used up"


class RateLimited(ProviderError):
    """Too many requests for now."""

    brief = "too many requests"

    def __init__(self, message: str, /, *, retry_after: float | None = None, **facts: Any) -> None:
        super().__init__(message, retry_after=retry_after, **facts)
        self.retry_after = retry_after


class Overloaded(ProviderError):
    """The provider failed or is too busy; the same request may pass later."""

    brief = "overloaded or failing"

    def __init__(self, message: str, /, *, retry_after: float | None = None, **facts: Any) -> None:
        super().__init__(message, retry_after=retry_after, **facts)
        self.retry_after = retry_after


class Unreachable(ProviderError):
    """No connection could be made, or it broke before an answer began."""

    brief = "no connection"


class TimedOut(ProviderError):
    """The provider took longer than we were told to wait."""

    brief = "no answer in time"


class BadAnswer(ProviderError):
    """An answer that is malformed, truncated or empty."""

    brief = "a damaged answer"


class ContextTooLong(ProviderError):
    """The conversation does not fit the model's window."""

    brief = "the conversation is too long"


class AllRoutesFailed(ProviderError):
    """Every route of the chain failed; `causes` holds (route, error) for each, in order."""

    brief = "every route failed"

    def __init__(self, message: str, /, *, causes: list[tuple[str, ProviderError]], **facts: Any) -> None:
        super().__init__(message, **facts)
        self.causes = causes
