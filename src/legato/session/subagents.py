"""Subagents: a tool that is a session of its own.

A subagent has its own log, its own scheduler and its own route or profile; it lives in its parent's world and asks the
same person for approval. Its last words are the result of one call of the parent, and nothing else of it reaches the
parent's log. When the parent's call is cancelled, so is it.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from legato.model import JsonObject, Options, ToolSpec
from legato.model.records import TurnOutcome
from legato.routing import Profile, Route
from legato.session.costs import Spending
from legato.session.events import Event, Said
from legato.session.history_settings import HistorySettings
from legato.session.limits import Limits
from legato.session.session import Session
from legato.session.tool_history import ToolHistory
from legato.session.turn import TurnResult
from legato.session.world import World
from legato.tools import Approval, Tool, ToolBox, ToolContext, ToolKind, ToolOutput

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
    limits: Limits | None = None,
    spending: Spending | None = None,
    history: HistorySettings | None = None,
    timeout: float | None = 1800.0,
    watch: Callable[[ToolContext, Event], None] = lambda _context, _event: None,
) -> Tool:
    """The `task` tool. Subagents get `tools` without `task` itself; `watch` sees what they do.

    `spending` is the parent's: what a subagent used is counted there as well. `history` says what they keep of a long
    conversation.
    """

    async def run(arguments: JsonObject, context: ToolContext) -> object:
        session = Session(
            route,
            tools=tools.without([TASK]),
            system=system,
            options=options,
            approval=approval,
            limits=limits,
            history=ToolHistory.in_world(world, history),
            world=world,
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


async def _ask(
    session: Session, prompt: str, context: ToolContext, watch: Callable[[ToolContext, Event], None]
) -> TurnResult:
    """The subagent's turn, from its prompt to its end. What it says on the way is kept if it is cancelled."""
    turn = session.send(prompt)
    try:
        async for event in turn:
            if isinstance(event, Said):
                context.partial += event.text
            watch(context, event)
        return await turn
    except anyio.get_cancelled_exc_class():
        turn.cancel()
        with anyio.CancelScope(shield=True):  # its tools have their own grace period
            await turn.ended()
        raise
