"""A session for code that is not asynchronous: scripts and notebooks.

    with SyncSession("anthropic/claude-sonnet-4-5", tools=[read_file]) as session:
        print(session.send("Summarise README.md").text)
        session.switch("kimi/kimi-k2-thinking")
        for event in session.stream("And now in French"): ...

It is a `Session` that lives in the event loop which all such callers of the process share (`legato.portal`), so it does
not matter whether the caller's own thread runs a loop, as that of a notebook does. Functions of the caller are called
where they expect it: `approve` in the thread that waits, tools that are plain functions in threads of their own.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, ParamSpec, Self, TypedDict, TypeVar, Unpack

from legato.errors import CallerError
from legato.model import Block, Entry, Options, ThinkingPolicy, ToolCall, Usage
from legato.portal import SHARED
from legato.routing import Profile, Route
from legato.session.compaction import ToolHistory
from legato.session.costs import Spending
from legato.session.desk import Approve, Desk
from legato.session.events import HistoryCompacted
from legato.session.limits import Limits
from legato.session.sent import Sent
from legato.session.session import Session
from legato.session.switching import Switched, SwitchPreview
from legato.session.sync_turn import SyncTurn, do_in_loop, end_turn, require_process
from legato.session.table import State
from legato.session.turn import Turn, TurnResult
from legato.store import Store, open_store
from legato.tools import Approval, Noted, Spill, Tool, ToolBox
from legato.transcript import Conversation
from legato.world import World

T = TypeVar("T")
P = ParamSpec("P")


class SessionSettings(TypedDict, total=False):
    """What `Session` takes beside its route, its store and its id there."""

    tools: Iterable[Tool | Callable[..., Any]] | ToolBox
    system: str
    options: Options | None
    thinking: ThinkingPolicy | None
    conversation: Conversation | None
    meta: Mapping[str, Any] | None
    approval: Approval | None
    limits: Limits | None
    history: ToolHistory | None
    spending: Spending | None
    world: World | None
    spill: Spill
    noted: Noted
    reports: bool
    asker: str


class SyncSession:
    """A `Session` whose methods wait. It is open from the beginning; `with` or `close` ends it.

    One that was forgotten ends with the process, in order. Ctrl-C cancels the turn that is waited for: what was said
    stays, and the session goes on. It belongs to the process that opened it, and not to a forked child.
    """

    def __init__(
        self,
        route: str | Route | Profile,
        *,
        store: Store | str | os.PathLike[str] | None = None,
        session_id: str | None = None,
        approve: Approve | None = None,
        **settings: Unpack[SessionSettings],
    ) -> None:
        """`store` may also be a place, as `open_store` takes it; it is then closed with the session.

        `approve` is asked about each call that needs a person's word, in the thread that waits for the turn; it takes
        the place of the approver of an `approval`. The other settings are those of `Session`.
        """

        async def make(store: Store | None, settings: SessionSettings) -> Session:
            return Session(route, store=store, session_id=session_id, **settings)

        self._open(make, store, approve, settings)

    @classmethod
    def resume(
        cls,
        session_id: str,
        *,
        store: Store | str | os.PathLike[str],
        route: str | Route | Profile | None = None,
        approve: Approve | None = None,
        **settings: Unpack[SessionSettings],
    ) -> Self:
        """The stored session of that id; without `route`, the one that was selected or answered last goes on."""

        async def make(store: Store | None, settings: SessionSettings) -> Session:
            assert store is not None
            return await Session.resume(session_id, store=store, route=route, **settings)

        resumed = cls.__new__(cls)
        resumed._open(make, store, approve, settings)
        return resumed

    # --- opening and closing ------------------------------------------------------------------------------------------

    def _open(
        self,
        make: Callable[[Store | None, SessionSettings], Awaitable[Session]],
        store: Store | str | os.PathLike[str] | None,
        approve: Approve | None,
        settings: SessionSettings,
    ) -> None:
        self._process = os.getpid()
        self._is_closed = False
        self._approve = approve
        self._desk = Desk()
        if approve is not None:
            approval = settings["approval"] = settings.get("approval") or Approval()
            approval.approver = self._desk
        self._over = asyncio.Event()
        opened: Future[Session] = Future()
        self._life = SHARED.start(_live, make, store, settings, opened, self._over)
        self._life.when_done(opened.cancel)
        try:
            self._session = opened.result()
        except BaseException:
            self._life.stop()
            raise
        # The loop does not hold this object, so one that nobody holds can go, and the session with it.
        weakref.finalize(self, self._life.cancel).atexit = False

    def __enter__(self) -> Self:
        self._require_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session: a turn that is under way is cancelled, and others may write to what is stored."""
        if self._is_closed or self._process != os.getpid():
            return
        self._is_closed = True
        if not self._life.is_done:
            SHARED.call(_set, self._over)
        with suppress(CancelledError):  # the process is about to exit, and everything in the loop has ended already
            self._life.result()

    def _require_open(self) -> None:
        require_process(self._process)
        if self._is_closed or self._life.is_done:
            raise CallerError("the session is closed; open another one, or resume it from its store")

    def _call(self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        self._require_open()
        return SHARED.call(function, *args, **kwargs)

    # --- talking ------------------------------------------------------------------------------------------------------

    def send(self, *parts: str | Block) -> TurnResult:
        """Send a message and wait for the end of the turn; raises what made it fail."""
        return self.stream(*parts).result()

    def stream(self, *parts: str | Block) -> SyncTurn:
        """Send a message; iterate what is returned to see the turn's events as they happen."""
        return self._begin(lambda: self._session.send(*parts))

    def ask_again(self) -> SyncTurn:
        """Go on with the calls that an earlier process left waiting for approval: it is asked for again."""
        return self._begin(self._session.ask_again)

    def _begin(self, begin: Callable[[], Turn]) -> SyncTurn:
        begun: list[Turn] = []
        try:
            self._call(do_in_loop, lambda: begun.append(begin()))
        except KeyboardInterrupt:  # nobody would hold the turn that may have begun
            for turn in begun:
                SHARED.call(end_turn, turn)
            raise
        return SyncTurn(begun[0], self._desk, self._approve)

    def cancel(self) -> None:
        """Cancel the turn that is under way, if one is; from another thread, or from a signal's handler."""
        self._call(do_in_loop, self._session.cancel)

    # --- choosing who answers, and history ----------------------------------------------------------------------------

    def switch(self, route: str | Route | Profile) -> Switched:
        """Let `route` answer from the next turn on."""
        return self._call(self._session.switch, route)

    def preview_switch(self, route: str) -> SwitchPreview:
        """What a switch to `route` would drop or convert, and whether the conversation fits there."""
        return self._call(do_in_loop, lambda: self._session.preview_switch(route))

    def undo(self, turns: int = 1) -> bool:
        """Take the last `turns` human messages and all that followed them out of the view; False if there are none."""
        return self._call(self._session.undo, turns)

    def compact(self) -> HistoryCompacted | None:
        """Shorten the conversation now, for the route that answers next; None if nothing could be left out."""
        return self._call(self._session.compact)

    # --- what it is made of; it can be read of a closed session too ---------------------------------------------------

    @property
    def id(self) -> str | None:
        """The name under which the store knows the session; None where it is not stored."""
        return self._session.id

    @property
    def route(self) -> str:
        """Who answers the next message, as far as that is known before it is sent."""
        return self._session.route

    @property
    def state(self) -> State:
        """What the session is doing."""
        return self._session.state

    @property
    def talk(self) -> Conversation:
        """The conversation; to read, while no turn is under way."""
        return self._session.talk

    @property
    def entries(self) -> list[Entry]:
        """Everything that was said and done and not undone."""
        return self._session.talk.entries

    @property
    def turns(self) -> int:
        """How many turns the conversation has had, before this process too."""
        return self._session.turns

    @property
    def parked(self) -> tuple[ToolCall, ...]:
        """Calls whose approval was being asked for when the last process ended: the question is still open."""
        return self._session.parked

    @property
    def last(self) -> Sent | None:
        """The request that was made last, and what came of it."""
        return self._session.last

    @property
    def spending(self) -> Spending:
        """Tokens and dollars, for each route."""
        return self._session.spending

    @property
    def usage(self) -> Usage:
        """The tokens of all routes together."""
        return self._session.spending.usage

    @property
    def cost(self) -> float | None:
        """Dollars for all routes together; None if a price is not known."""
        return self._session.spending.cost

    # --- settings, which hold from the next request on ----------------------------------------------------------------

    @property
    def tools(self) -> ToolBox:
        """The tools that the next request offers."""
        return self._session.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool | Callable[..., Any]] | ToolBox) -> None:
        self._session.tools = tools

    @property
    def system(self) -> str:
        """The instructions of the next request."""
        return self._session.system

    @system.setter
    def system(self, system: str) -> None:
        self._session.system = system

    @property
    def options(self) -> Options:
        """What is asked of every route, unless the route says otherwise."""
        return self._session.options

    @options.setter
    def options(self, options: Options) -> None:
        self._session.options = options

    @property
    def thinking(self) -> ThinkingPolicy:
        """Which thoughts are replayed."""
        return self._session.thinking

    @thinking.setter
    def thinking(self, thinking: ThinkingPolicy) -> None:
        self._session.thinking = thinking

    @property
    def history(self) -> ToolHistory:
        """Decides what the next request leaves out."""
        return self._session.history

    @history.setter
    def history(self, history: ToolHistory) -> None:
        self._session.history = history


# --- in the loop ------------------------------------------------------------------------------------------------------


async def _live(
    make: Callable[[Store | None, SessionSettings], Awaitable[Session]],
    store: Store | str | os.PathLike[str] | None,
    settings: SessionSettings,
    opened: Future[Session],
    over: asyncio.Event,
) -> None:
    """The life of a session, in one task: its task group has to be left by the task that entered it."""
    async with AsyncExitStack() as stack:
        try:
            if isinstance(store, str | os.PathLike):
                store = await stack.enter_async_context(open_store(store))
            session = await stack.enter_async_context(await make(store, settings))
        except Exception as error:  # noqa: BLE001  # it is for the one who opens the session
            opened.set_exception(error)
            return
        opened.set_result(session)
        await over.wait()


async def _set(event: asyncio.Event) -> None:
    event.set()
