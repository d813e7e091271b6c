"""When to try the same route again, and how long to wait.

In:  the error, the attempt that failed, a random number.
Out: seconds to wait, or None: no more.

Waits grow exponentially with full jitter, so that a thousand clients that failed together do not return together
(https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). A wait that the provider names is honoured
up to a limit of patience; beyond that, another route is better. All retries draw on one budget, as gRPC throttles them
(https://github.com/grpc/proposal/blob/master/A6-client-retries.md): each request pays a fraction of a token in and each
retry takes a whole one out, so an outage multiplies the traffic by at most a little more than one, however many
sessions there are.

Where no other route is left and a person would rather wait, `Patience.single_route` gives one route minutes: the waits
grow to half a minute, so that an outage of ten minutes costs some twenty requests and not a thousand.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from legato.errors import BadAnswer, Overloaded, ProviderError, RateLimited, TimedOut, Unreachable


class Patience(Struct, frozen=True, forbid_unknown_fields=True):
    """How often and how long, in seconds.

    Attempts and waits are those of the official clients, so that a provider sees from us what it sees from them
    (https://github.com/openai/openai-python/blob/main/src/openai/_constants.py, and the same in Anthropic's).
    """

    attempts: Annotated[int, Meta(ge=1)] = 3
    """requests of one step on one route: the first, and two retries"""
    slow_attempts: Annotated[int, Meta(ge=1)] = 2
    """the same for what costs a long wait or a whole answer each time; our choice"""
    first_wait: Annotated[float, Meta(ge=0)] = 0.5
    most_backoff: Annotated[float, Meta(ge=0)] = 8.0
    longest_wait: Annotated[float, Meta(ge=0)] = 60.0
    """the longest wait that a provider may ask for before its route is left; our choice, the time that limits by the
    minute take to reset"""
    single_route: Annotated[float, Meta(ge=0)] = 0.0
    """seconds for which a route is tried again where no other one is left, beyond what is said above"""


TRANSIENT: tuple[type[ProviderError], ...] = (RateLimited, Overloaded, Unreachable, TimedOut, BadAnswer)
"""what may pass if tried again; everything else stays as it is until someone acts"""

_SLOW = (TimedOut, BadAnswer)


def is_transient(error: ProviderError) -> bool:
    """Whether the same request may pass later, without anyone doing anything."""
    return isinstance(error, TRANSIENT)


def asked_wait(error: ProviderError) -> float | None:
    """The wait that the provider asked for, if it did."""
    return error.retry_after if isinstance(error, RateLimited | Overloaded) else None


def wait_before_retry(error: ProviderError, attempt: int, patience: Patience, *, chance: float) -> float | None:
    """Seconds until the next attempt after `attempt` (counted from 1) failed; None if there should be none.

    `chance` is a random number from 0 to 1.
    """
    if attempt >= (patience.slow_attempts if isinstance(error, _SLOW) else patience.attempts):
        return None
    asked = asked_wait(error)
    if asked is None:
        return chance * min(patience.most_backoff, patience.first_wait * 2 ** min(attempt - 1, 30))
    # The jitter comes on top: a moment earlier than asked would be refused again.
    return asked + chance * patience.first_wait if asked <= patience.longest_wait else None


_MOST_ALONE = 30.0
"""seconds between two attempts on the only route: our choice, a person who watches a countdown stays with it"""
_QUICK = (RateLimited, Overloaded, Unreachable)
"""what fails at once and at no cost: only that is worth many attempts"""


def wait_on_last_route(
    error: ProviderError, attempt: int, patience: Patience, *, waited: float, chance: float
) -> float | None:
    """Seconds until the next attempt where no other route is left; None if patience is over.

    `waited` are the seconds since the first attempt failed. At least half of each wait is kept, because there are many.
    """
    left = patience.single_route - waited
    if not isinstance(error, _QUICK) or left <= 0:
        return None
    asked = asked_wait(error)
    if asked is not None:
        return asked + chance * patience.first_wait if asked <= left else None
    grown = min(_MOST_ALONE, patience.first_wait * 2 ** min(attempt - 1, 30))
    return min(grown * (1 + chance) / 2, left)


class RetryBudget:
    """A bucket of tokens that all routers of a process share. It begins full, so that a short run may retry too."""

    def __init__(self, *, capacity: float = 10.0, per_request: float = 0.2) -> None:
        """Retries are at most `capacity` and `per_request` times the requests, over any length of time.

        The numbers are our choice: one retry for five requests, and enough at the start for a short run.
        """
        self.capacity = capacity
        self.per_request = per_request
        self._tokens = capacity

    @property
    def tokens(self) -> float:
        """What is left."""
        return self._tokens

    def deposit(self) -> None:
        """A new request begins."""
        self._tokens = min(self.capacity, self._tokens + self.per_request)

    def withdraw(self) -> bool:
        """Take a token for a retry; false if there is none."""
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True
