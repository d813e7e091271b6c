"""A session: one conversation, its tools, and the model that answers next.

    async with Session("anthropic/claude-sonnet-4-5", tools=[read_file]) as session:
        turn = session.send("Summarise README.md")
        async for event in turn: ...
        await session.switch("kimi/kimi-k2-thinking")

Turns run in the session's own task group. A turn is bound to its route; a switch asked for meanwhile waits for the next
one. With a store, everything acknowledged survives the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc

from legato.errors import CallerError, InvalidEntry, LegatoError
from legato.model import (
    Block,
    Entry,
    Options,
    Speaker,
    Target,
    Text,
    ThinkingPolicy,
    ToolCall,
)
from legato.model.records import Rewound, RouteSelected
from legato.request.tokens import Estimator
from legato.routing import Profile, Route, only
from legato.session import events
from legato.session.choosing import last_route, router_for
from legato.session.compaction import Compactor, ToolHistory
from legato.session.costs import Spending
from legato.session.event_log import log_fact
from legato.session.journal import Journal
from legato.session.limits import Limits
from legato.session.loop import TurnLoop
from legato.session.parked import parked_calls
from legato.session.request_settings import RequestSettings
from legato.session.sent import Sent
from legato.session.step import Step, StepParts
from legato.session.storage import Storage
from legato.session.switching import Switched, SwitchPreview, preview_switch
from legato.session.table import SessionEvent, State, StateMachine
from legato.session.turn import Turn
from legato.session.unanswered import is_unanswered, repeats_failed
from legato.session.undoing import undo_place
from legato.store import Store
from legato.tools import Approval, Noted, Spill, Tool, ToolBox, ToolScheduler, as_tool
from legato.transcript import Conversation
from legato.world import World


class Session:
    """One conversation, whichever model answers next. Use it as an async context manager."""

    def __init__(
        self,
        route: str | Route | Profile,
        *,
        tools: Iterable[Tool | Callable[..., Any]] | ToolBox = (),
        system: str = "",
        options: Options | None = None,
        thinking: ThinkingPolicy | None = None,
        conversation: Conversation | None = None,
        store: Store | None = None,
        session_id: str | None = None,
        meta: Mapping[str, Any] | None = None,
        approval: Approval | None = None,
        limits: Limits | None = None,
        history: ToolHistory | None = None,
        spending: Spending | None = None,
        world: World | None = None,
        spill: Spill = lambda _text, _call: None,
        noted: Noted = lambda _: None,
        reports: bool = False,
        asker: str = "",
    ) -> None:
        """Nothing is sent or stored before the session is entered.

        `tools` are functions, or tools made with `@tool`, which can also say what kind of tool it is and how long it
        may run. `asker` is who asks for approval, where it is another one than who is talked to: a subagent, in a word
        or two. `reports` asks for a `Reported` event, with all that was decided, for every request; `last` has it
        anyway.
        """
        self.system = system
        self.options = options or Options(stream=True)
        """what is asked of every route, unless the route says otherwise; like `thinking`, `system`, `tools` and
        `history` it may be replaced at any time, and holds from the next request on"""
        self.thinking = thinking or ThinkingPolicy()
        self.reports = reports
        self.limits = limits or Limits()
        self.world = world or World()
        self.spending = spending or Spending()
        self.estimator = Estimator()
        self.journal = Journal(Conversation() if conversation is None else conversation, clock=self.world.clock)
        self.router = router_for(route if isinstance(route, Profile) else only(route), self.world, self.talk.log)
        self.scheduler = ToolScheduler(
            _box(tools),
            approval=approval or Approval(),
            limit=self.limits.parallel,
            grace=self.limits.grace,
            spill=spill,
            noted=noted,
            asker=asker,
        )
        self.last: Sent | None = None
        """the request that was made last, and its outcome"""
        self._compactor = Compactor(
            history or ToolHistory(),
            self.journal,
            resolve=self.world.target,
            estimator=self.estimator,
            spent=self.spending.add,
        )
        self._machine = StateMachine()
        self._owns_world = world is None
        self._storage = Storage(store, session_id, meta)
        self._newest: TurnLoop | None = None
        """the turn that was asked for last; it may still wait for the one before it to end"""
        self._group: anyio.abc.TaskGroup | None = None

    @classmethod
    async def resume(
        cls, session_id: str, *, store: Store, route: str | Route | Profile | None = None, **settings: Any
    ) -> Self:
        """The stored session of that id, to be entered with `async with`; `settings` are those of a new one.

        Without `route`, the one that was selected or answered last goes on. Calls that were started and never ended
        are closed as interrupted; `parked` names those whose approval was being asked for.
        """
        route = route or last_route(await store.read(session_id))
        if route is None:
            raise CallerError(f"nobody has answered in session {session_id} yet; name a route", session=session_id)
        return cls(route, store=store, session_id=session_id, **settings)

    # --- what it is made of -------------------------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        """The name under which the store knows the session; None where it is not stored, or not yet."""
        return self._storage.id

    @property
    def talk(self) -> Conversation:
        """The conversation."""
        return self.journal.talk

    @property
    def turns(self) -> int:
        """How many turns the conversation has had, before this process too."""
        return self.journal.turns

    @property
    def state(self) -> State:
        """What the session is doing."""
        return self._machine.state

    @property
    def tools(self) -> ToolBox:
        """The tools that the next request offers."""
        return self.scheduler.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool | Callable[..., Any]] | ToolBox) -> None:
        self.scheduler.tools = _box(tools)

    @property
    def history(self) -> ToolHistory:
        """Decides what the next request leaves out."""
        return self._compactor.history

    @history.setter
    def history(self, history: ToolHistory) -> None:
        self._compactor.history = history

    # --- opening and closing ------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._open()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        group, self._group = self._require_open(), None
        self.cancel()
        try:
            if isinstance(error, anyio.get_cancelled_exc_class()):
                return await group.__aexit__(kind, error, trace)
            # Not passed on to the group, which would wrap it: a caller that leaves with an error gets that very error.
            await group.__aexit__(None, None, None)
        finally:
            with anyio.CancelScope(shield=True):
                await self._let_go()
        return None

    async def _open(self) -> None:
        """Take the session: with a store, its lease and its log; a new incarnation begins in any case."""
        try:
            if await self._storage.open(self.journal, clock=self.world.clock):
                self.router = router_for(self.router.profile, self.world, self.talk.log)
            if self._newest is None:  # not when it is opened again
                self.spending.replay(self.talk.log, self.world.prices)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._let_go()
            raise
        if self.state is State.IDLE and self.parked:
            self._machine.advance(SessionEvent.QUESTION_OPEN)

    async def _let_go(self) -> None:
        """Let others write to the stored session, and close the connections unless they are shared."""
        try:
            await self._storage.release()
        finally:
            if self._owns_world:
                await self.world.aclose()

    # --- talking ------------------------------------------------------------------------------------------------------

    def send(self, *parts: str | Block) -> Turn:
        """Send a message; returns the turn that answers it.

        While a turn is under way the message joins it, and enters with its next step. While one is ending, or is
        being cancelled, the message begins a turn of its own, behind it. The very message that could not be answered
        before is asked for again and not said twice.
        """
        group = self._require_open()
        blocks: tuple[Block, ...] = tuple(Text(part) if isinstance(part, str) else part for part in parts)
        if not any(not isinstance(block, Text) or block.text.strip() for block in blocks):
            raise InvalidEntry("an empty message says nothing; write something")
        message, loop = Entry(Speaker.HUMAN, blocks), self._newest
        if loop is None or loop.is_ending:
            is_there = not self._is_busy and repeats_failed(self.talk, blocks)
            return self._begin(group, None if is_there else message)
        if loop.interject(message):
            group.start_soon(self._record_pending, loop)
        return loop.turn

    def ask_again(self) -> Turn:
        """Go on with the calls that an earlier process left waiting for approval: it is asked for again."""
        group = self._require_open()
        self._require_rest("resuming")
        if not self.parked:
            raise CallerError("nothing waits to be resumed in this session; send a message")
        return self._begin(group, None)

    def retry(self) -> Turn:
        """Ask again for the answer that did not come: the last turn failed, or was cancelled before it."""
        group = self._require_open()
        self._require_rest("asking again")
        if self.parked:
            return self.ask_again()
        if not is_unanswered(self.talk):
            raise CallerError("nothing waits for an answer; send a message")
        return self._begin(group, None)

    def hurry(self) -> bool:
        """Make the next attempt now, if a failed request is waiting for it; False if none is."""
        return self._is_busy and self._newest is not None and self._newest.hurry()

    def cancel(self) -> None:
        """Cancel the turn that is under way, if one is."""
        if self._newest is not None:
            self._newest.turn.cancel()

    @property
    def parked(self) -> tuple[ToolCall, ...]:
        """Calls whose approval was being asked for when the last process ended: the question is still open."""
        return parked_calls(self.talk) if self._machine.is_at_rest else ()

    def _begin(self, group: anyio.abc.TaskGroup, message: Entry | None) -> Turn:
        """Begin the turn that `message` asks for, behind the one that is under way, if one is."""
        self._newest = TurnLoop(
            session=self.id or "",
            journal=self.journal,
            router=self.router,
            scheduler=self.scheduler,
            machine=self._machine,
            spending=self.spending,
            limits=self.limits,
            begin_step=self._begin_step,
            after=self._newest.turn if self._newest is not None and self._is_busy else None,
        )
        group.start_soon(self._newest.run, message)
        return self._newest.turn

    def _begin_step(self, turn: Turn, route: Route, number: int) -> Step:
        parts = StepParts(
            session=self.id or "",
            world=self.world,
            journal=self.journal,
            router=self.router,
            compactor=self._compactor,
            machine=self._machine,
            estimator=self.estimator,
            spending=self.spending,
            sent=self._note_sent,
        )
        return Step(parts, self._request_settings(), turn, route, number)

    def _request_settings(self) -> RequestSettings:
        return RequestSettings(
            tools=self.tools, system=self.system, options=self.options, thinking=self.thinking, reports=self.reports
        )

    def _note_sent(self, sent: Sent) -> None:
        self.last = sent

    async def _record_pending(self, loop: TurnLoop) -> None:
        # What cannot be recorded now stays with the loop, which tries again before its next request, or fails with it.
        with suppress(LegatoError):
            await loop.record_pending()

    # --- choosing who answers -----------------------------------------------------------------------------------------

    @property
    def route(self) -> str:
        """Who answers the next message, as far as that is known before it is sent."""
        return self._next_route.name

    @property
    def _next_route(self) -> Route:
        if self.router.pending is not None:
            return self.router.pending.routes[0]
        return self.router.route or self.router.profile.routes[0]

    async def switch(self, route: str | Route | Profile) -> Switched:
        """Let `route` answer from the next turn on; a turn that is under way keeps its own.

        Where the new window is smaller than the conversation, it is compacted now, by the model that still answers.
        """
        self._require_open()
        profile = route if isinstance(route, Profile) else only(route)
        old, new = self.world.target(self.route), profile.routes[0]
        self.target(new)  # a route that names nothing is refused now
        self._machine.advance(SessionEvent.SWITCH)
        if self._is_busy:
            self._compactor.switch_deferred(old)
        else:
            await self._compactor.before_switch(old, new, self._request_settings())
        await self.journal.write(RouteSelected(route=new.name))
        self.router.select(profile)
        loop = self._newest if self._is_busy else None
        deferred = loop is not None and not loop.hurry()  # a route that is waited for gives way now
        log_fact("switch", session=self.id or "", route=new.name, deferred=deferred)
        if loop is not None and deferred:
            loop.turn.show(events.SwitchDeferred(route=new.name))
        return Switched(new.name, deferred=deferred)

    def preview_switch(self, route: str) -> SwitchPreview:
        """What a switch to `route` would drop or convert, and whether the conversation fits there."""
        return preview_switch(
            self.talk,
            self.world.target(route),
            estimator=self.estimator,
            tools=self.tools.specs,
            system=self.system,
            options=self.options,
            thinking=self.thinking,
        )

    def target(self, route: Route) -> Target:
        """`route` resolved."""
        return self.world.target(route.name)

    # --- history ------------------------------------------------------------------------------------------------------

    async def undo(self, turns: int = 1) -> bool:
        """Take the last `turns` human messages and all that followed them out of the view; False if there are none."""
        self._require_rest("undoing")
        if turns < 1:
            raise CallerError(f"at least one message can be undone, not {turns}")
        place = undo_place(self.talk, turns)
        if place is None:
            return False
        await self.journal.write(Rewound(to=place))
        if self.state is State.PARKED and not self.parked:
            self._machine.advance(SessionEvent.WITHDRAWN)
        return True

    async def compact(self) -> events.HistoryCompacted | None:
        """Shorten the conversation now, for the route that answers next; None if nothing could be left out."""
        self._require_rest("compacting")
        return await self._compactor.compact(self._next_route, self._request_settings())

    def _require_open(self) -> anyio.abc.TaskGroup:
        if self._group is None:
            raise CallerError("the session is not open; use it inside `async with Session(...) as session:`")
        return self._group

    def _require_rest(self, doing: str) -> None:
        self._require_open()
        if self._is_busy:
            raise CallerError(f"a turn is under way; wait for it or cancel it before {doing}")

    @property
    def _is_busy(self) -> bool:
        return self._newest is not None and not self._newest.turn.is_done


def _box(tools: Iterable[Tool | Callable[..., Any]] | ToolBox) -> ToolBox:
    return tools if isinstance(tools, ToolBox) else ToolBox(map(as_tool, tools))
