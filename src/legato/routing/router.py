"""Who answers next.

In:  turns as they begin, errors as they happen; a clock and a random source.
Out: a route for each turn, a verdict for each error.

A turn is bound to one route from its beginning to its end, so a profile moves on between turns only, and a switch by
hand waits for the next one. When a route is lost before anything was visible, the turn ends and a continuation begins
on the next route that this message has not tried. What each error leads to:

| error                                                     | verdict                                                  |
|-----------------------------------------------------------|----------------------------------------------------------|
| anything, after something was visible                     | stop: a second answer would contradict what was seen     |
| OwnReasoningRefused                                       | strip the reasoning, once for a route; then stop         |
| ProtocolRefused                                           | stop: the next provider would only hide our fault        |
| MediaRefused                                              | a note in place of a tool's media, once; then stop       |
| PolicyRefused, OptionRefused, any other BadRequest        | stop: the user can act                                   |
| UnknownModel, WrongEndpoint                               | next route: the setting is wrong for this route only     |
| ContextTooLong                                            | compact, once until an answer comes; then stop           |
| Unauthorized, QuotaExhausted                              | next route at once                                       |
| RateLimited, Overloaded, Unreachable, TimedOut, BadAnswer | retry within attempts, patience, budget; then next route |
| the first three of these, and no other route is left      | retry for `Patience.single_route` seconds; then stop     |

A refusal by the model is an answer, and never comes here.
"""

from __future__ import annotations

from collections.abc import Callable

from legato.errors import (
    AllRoutesFailed,
    ContextTooLong,
    MediaRefused,
    OwnReasoningRefused,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    Unauthorized,
    UnknownModel,
    WrongEndpoint,
)
from legato.model.records import TurnCause
from legato.routing.health import HealthBook
from legato.routing.retry import Patience, RetryBudget, asked_wait, is_transient, wait_before_retry, wait_on_last_route
from legato.routing.routes import Policy, Profile, Route
from legato.routing.verdicts import Compact, NextRoute, ReplaceContent, Retry, RoutingVerdict, Stop, StripReasoning

WRONG_HERE: tuple[type[ProviderError], ...] = (Unauthorized, QuotaExhausted, UnknownModel, WrongEndpoint)
"""what is wrong with the route itself: its key, balance, model or endpoint; another route may do"""


class Router:
    """Chooses the routes of one session.

    `health` and `budget` may be shared with other sessions. `clock` gives seconds that only grow, `chance` a random
    number from 0 to 1. `last` is the route of the last turn before this router began, and `turns` how many in a row it
    had, so that a rotation goes on where it was.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
        health: HealthBook | None = None,
        budget: RetryBudget | None = None,
        patience: Patience | None = None,
        last: str | None = None,
        turns: int = 0,
    ) -> None:
        self._profile = profile
        self._selected: Profile | None = None
        self._clock = clock
        self._chance = chance
        self._health = health or HealthBook()
        self._budget = budget or RetryBudget()
        self._patience = patience or Patience()
        self._last = last
        self._turn: int | None = None
        self._route: Route | None = None
        self._turns_here = turns if last is not None else 0
        self._following: Route | None = None
        """who continues after the present route was lost"""
        self._causes: list[tuple[str, ProviderError]] = []
        self._failing_since = 0.0
        """when the first attempt of the present step failed"""
        self._stripped: set[str] = set()
        self._compacted = self._replaced = False

    @property
    def profile(self) -> Profile:
        """The profile that binds the present turn."""
        return self._profile

    @property
    def route(self) -> Route | None:
        """The route that the present turn is bound to; None before the first turn."""
        return self._route

    @property
    def pending(self) -> Profile | None:
        """A selection that waits for the next turn."""
        return self._selected

    def select(self, profile: Profile) -> None:
        """Use `profile` from the next turn on, also if that is a continuation; the last selection wins.

        One route by hand is `only(route)`. A choice by hand has its reasons, so what was known against the first
        route is forgotten.
        """
        self._selected = profile

    def resume(self, turn: int, name: str) -> Route:
        """The route of a `turn` that began on `name` before this router did; another one if the profile has no such."""
        begun = next((route for route in self._profile.routes if route.name == name), None)
        if begun is None:
            return self.choose(turn)
        self._last, self._turns_here = name, max(self._turns_here - 1, 0)  # it is the same turn, not one more
        return self._bind(turn, begun)

    def choose(self, turn: int, *, cause: TurnCause = TurnCause.MESSAGE) -> Route:
        """The route of `turn`. Asked again for the same turn, the answer is the same.

        A continuation goes to the route of the verdict that ended the turn before, or to what was selected since.
        """
        if self._route is not None and turn == self._turn:
            return self._route
        following, self._following = self._following, None
        if cause is TurnCause.MESSAGE or following is None:
            following, self._causes, self._stripped = None, [], set()
        if self._selected is not None:
            following = None
            self._adopt(self._selected)
        return self._bind(turn, following or self._opening())

    def sending(self, *, attempt: int = 1) -> None:
        """A request is about to leave; the first attempt of a step pays into the retry budget."""
        if attempt == 1:
            self._budget.deposit()
        if self._route is not None:
            self._health.enter(self._route.name, self._clock())  # a long turn keeps its probe alive

    def succeeded(self) -> None:
        """The answer is complete, a refusal by the model too: the route is well, and a later step may compact again."""
        self._compacted = self._replaced = False
        if self._route is not None:
            self._health.succeeded(self._route.name)

    def judge(self, error: ProviderError, *, visible: bool, attempt: int) -> RoutingVerdict:
        """What to do about `error` on the present route. `attempt` counts the requests of this step from 1."""
        route = self._route
        if route is None or isinstance(error, AllRoutesFailed):
            return self._stop("nothing was sent on a route", error)
        if visible:
            self._note(route, error)
            return self._stop("part of the answer was already visible", error)
        if is_transient(error) or isinstance(error, WRONG_HERE):
            return self._retry_or_leave(route, error, attempt)
        self._note(route, error)
        match error:
            case OwnReasoningRefused() if route.name not in self._stripped:
                self._stripped.add(route.name)
                return StripReasoning()
            case ProtocolRefused():
                return self._stop("the provider refused the shape of the request", error)
            case MediaRefused() if not self._replaced:
                self._replaced = True
                return ReplaceContent()
            case ContextTooLong() if not self._compacted:
                self._compacted = True
                return Compact()
            case ContextTooLong():
                return self._stop("the conversation does not fit, even after it was compacted", error)
            case _:
                return self._stop("the provider refused what was asked for", error)

    def _retry_or_leave(self, route: Route, error: ProviderError, attempt: int) -> RoutingVerdict:
        why = "asking again would not help"
        if attempt == 1:
            self._failing_since = self._clock()
        if is_transient(error):
            chance, told = self._chance(), f"{error.brief} (attempt {attempt})"
            wait = wait_before_retry(error, attempt, self._patience, chance=chance)
            if wait is None:
                why = "no more attempts, or a wait beyond patience"
            elif self._budget.withdraw():
                return Retry(wait, told, self._time_left(route))
            else:
                why = "the retry budget is spent"
            if (left := self._time_left(route)) is not None:
                waited = self._clock() - self._failing_since
                alone = wait_on_last_route(error, attempt, self._patience, waited=waited, chance=chance)
                if alone is not None:
                    return Retry(alone, told, left)
        self._note(route, error)
        self._causes.append((route.name, error))
        self._following = self._who_follows(route)
        reason = f"{route.name}: {error.brief}; {why}"
        return self._exhausted(reason, error) if self._following is None else NextRoute(self._following, reason)

    def _time_left(self, route: Route) -> float | None:
        """For how long `route` goes on being tried; None if time is no limit, because another one would take over."""
        if not self._patience.single_route or self._who_follows(route) is not None:
            return None
        return max(self._patience.single_route - (self._clock() - self._failing_since), 0.0)

    def overtaken(self) -> NextRoute | None:
        """The route that was chosen while the present one is being waited for, if one was: it takes over now."""
        if self._selected is None or self._route is None:
            return None
        return NextRoute(self._selected.routes[0], f"{self._route.name} is not waited for any longer")

    def _note(self, route: Route, error: ProviderError) -> None:
        """Tell the health book. A provider that read the request and refused it is well."""
        hopeless = isinstance(error, WRONG_HERE)
        if hopeless or is_transient(error):
            self._health.failed(route.name, self._clock(), hopeless=hopeless, at_least=asked_wait(error) or 0.0)
        else:
            self._health.succeeded(route.name)

    def _stop(self, reason: str, error: ProviderError) -> Stop:
        error.facts.setdefault("retryable", is_transient(error))
        return Stop(reason, error)

    def _exhausted(self, reason: str, error: ProviderError) -> Stop:
        if len(self._causes) == 1:
            return self._stop(reason, error)
        retryable = any(is_transient(cause) for _, cause in self._causes)
        told = "; ".join(f"{name}: {cause.brief}" for name, cause in self._causes)
        advice = "try again later" if retryable else "each of them needs somebody to act"
        return Stop(
            reason,
            AllRoutesFailed(
                f"every route failed ({told}); {advice}",
                causes=list(self._causes),
                retryable=retryable,
            ),
        )

    # --- choosing -----------------------------------------------------------------------------------------------------

    def _adopt(self, profile: Profile) -> None:
        self._profile, self._selected, self._last = profile, None, None
        self._health.forget(profile.routes[0].name)

    def _bind(self, turn: int, route: Route) -> Route:
        self._turns_here = self._turns_here + 1 if self._last == route.name else 1
        self._turn, self._route, self._last = turn, route, route.name
        self._compacted = self._replaced = False
        self._health.enter(route.name, self._clock())
        return route

    def _opening(self) -> Route:
        """The route of a turn that a message began."""
        in_order = self._in_order()
        if self._profile.policy is Policy.MANUAL:
            return in_order[0]
        here = next((route for route in in_order if route.name == self._last), None)
        stays = here is not None and 0 < self._turns_here < self._profile.sticky_turns
        if here is not None and stays and self._health.admits(here.name, self._clock()):
            return here
        return self._pick(in_order)

    def _who_follows(self, lost: Route) -> Route | None:
        """Who is asked after `lost`, the present route: the selection that waits, else who was not tried yet."""
        if self._selected is not None:
            return self._selected.routes[0]
        if self._profile.policy is Policy.MANUAL:
            return None
        tried = {lost.name, *(name for name, _ in self._causes)}
        untried = [route for route in self._in_order() if route.name not in tried]
        return self._pick(untried) if untried else None

    def _in_order(self) -> list[Route]:
        """The routes of the profile in the order of asking: a rotation goes on behind the route of the last turn."""
        routes = self._profile.routes
        names = [route.name for route in routes]
        if self._profile.policy is Policy.ROUND_ROBIN and self._last in names:
            first = names.index(self._last) + 1
            return [*routes[first:], *routes[:first]]
        return list(routes)

    def _pick(self, routes: list[Route]) -> Route:
        name = self._health.pick([route.name for route in routes], self._clock())
        return next(route for route in routes if route.name == name)
