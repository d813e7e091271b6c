"""The loop: sessions, their turns, what is kept of their history, and subagents."""

from __future__ import annotations

from legato.session.compaction.shortening import shorten
from legato.session.compaction.tool_history import HistorySettings, ToolHistory
from legato.session.costs import Spending
from legato.session.journal import Journal
from legato.session.limits import Limits
from legato.session.scripts import run
from legato.session.sent import Sent
from legato.session.session import Session
from legato.session.subagents import task_tool
from legato.session.switching import Switched, SwitchPreview, preview_switch
from legato.session.sync_turn import SyncTurn
from legato.session.synchronous import SessionSettings, SyncSession
from legato.session.table import SessionEvent, State
from legato.session.turn import Turn, TurnResult
from legato.world import World

__all__ = [
    "HistorySettings",
    "Journal",
    "Limits",
    "Sent",
    "Session",
    "SessionEvent",
    "SessionSettings",
    "Spending",
    "State",
    "SwitchPreview",
    "Switched",
    "SyncSession",
    "SyncTurn",
    "ToolHistory",
    "Turn",
    "TurnResult",
    "World",
    "preview_switch",
    "run",
    "shorten",
    "task_tool",
]
