"""Subagents: a tool that is a session of its own.

A subagent has its own log, its own scheduler and its own route or profile; it lives in its parent's world, asks the
same person for approval, and is told everything else (options, thinking, limits, what is kept of long outputs) as its
parent was. Its last words are the result of one call of the parent, and nothing else of it reaches the parent's log.
With a store its own log stays there, as that of a session which names its parent. When the parent's call is cancelled,
so is it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio

from legato.model import JsonObject, Options, ThinkingPolicy, ToolSpec
from legato.model.records import TurnOutcome
from legato.routing import Profile, Route
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.tool_history import ToolHistory
from legato.session.costs import Spending
from legato.session.events import Event, TextShown
from legato.session.limits import Limits
from legato.session.session import Session
from legato.session.turn import TurnResult
from legato.store import SUBAGENT_OF, Store
from legato.tools import Approval, Noted, Spill, Tool, ToolBox, ToolContext, ToolKind, ToolOutput
from legato.world import World

TASK = "task"

_SPEC = ToolSpec(
    TASK,
    "Give a self-contained piece of work to a subagent with its own context and the same tools. It sees nothing of "
    "this conversation: put everything it needs into the prompt. It returns one text.",
    {
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "a few words on what it is for"},
            "prompt": {"type": "string", "description": "the whole task"},
        },
        "required": ["prompt"],
        "additionalProperties": False,
    },
)


def task_tool(
    route: str | Route | Profile,
    *,
    tools: ToolBox,
    world: World,
    approval: Approval,
    system: str = "",
    options: Options | None = None,
    thinking: ThinkingPolicy | None = None,
    limits: Limits | None = None,
    spending: Spending | None = None,
    history: HistorySettings | None = None,
    store: Store | None = None,
    parent: Callable[[], str | None] = lambda: None,
    meta: Mapping[str, Any] | None = None,
    spill: Spill = lambda _text, _call: None,
    noted: Noted = lambda _: None,
    timeout: float | None = 1800.0,
    watch: Callable[[ToolContext, Event], None] = lambda _context, _event: None,
) -> Tool:
    """The `task` tool. Subagents get `tools` without `task` itself; `watch` sees what they do.

    `spending` is the parent's: what a subagent used is counted there as well. `history` says what they keep of a long
    conversation. With `store`, each subagent's log is kept as a session of its own, under the id that `parent` gives,
    with `meta` and what it is for. All other settings are those of `Session`, and should be the parent's.
    """

    async def run(arguments: JsonObject, context: ToolContext) -> object:
        described = _described(arguments, context, parent())
        session = Session(
            route,
            tools=tools.without([TASK]),
            system=system,
            options=options,
            thinking=thinking,
            store=store,
            meta={**(meta or {}), **described},
            approval=approval,
            limits=limits,
            history=ToolHistory.in_world(world, history),
            world=world,
            spill=spill,
            noted=noted,
            asker=str(described.get("title", "subagent")),
        )
        try:
            async with session:
                result = await _ask(session, str(arguments["prompt"]), context, watch)
        finally:
            if spending is not None:
                spending.include(session.spending)
        if result.outcome is TurnOutcome.DONE:
            return ToolOutput(result.text)
        return ToolOutput(result.text, error=f"the subagent ended early: {result.detail or result.outcome}")

    # It only does what its own tools may do, and those are approved one by one.
    return Tool(spec=_SPEC, run=run, kind=ToolKind.READ, timeout=timeout)


def _described(arguments: JsonObject, context: ToolContext, parent: str | None) -> JsonObject:
    """What the stored session of a subagent says about itself."""
    told: JsonObject = {"call": str(context.call_id)}
    description = arguments.get("description")
    if isinstance(description, str) and description.strip():
        told["title"] = description
    return told if parent is None else told | {SUBAGENT_OF: parent}


async def _ask(
    session: Session, prompt: str, context: ToolContext, watch: Callable[[ToolContext, Event], None]
) -> TurnResult:
    """The subagent's turn, from its prompt to its end. What it says on the way is kept if it is cancelled."""
    turn = session.send(prompt)
    try:
        async for event in turn:
            if isinstance(event, TextShown):
                context.partial += event.text
            watch(context, event)
        return await turn
    except anyio.get_cancelled_exc_class():
        turn.cancel()
        with anyio.CancelScope(shield=True):  # its tools have their own grace period
            await turn.ended()
        raise
