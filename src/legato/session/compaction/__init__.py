"""Compaction: what a request leaves out when a conversation outgrows its model.

    settings      the thresholds, in tokens and in fractions of the window
    gauge         how large the conversation is for one target, unit by unit
    retention     how firmly each unit stays
    plan          which outputs are shortened and which units a summary replaces
    summaries     the text that replaces them: a model's (summariser) or ours (digest)
    outcome       the plan as log records
    tool_history  when to do all this, and how far to go: the one owner of the decision
    compactor     does it for a session, before a request and on demand
    shortening    does it for callers who send their own requests

Nothing is deleted: the log keeps everything, and compaction records only say what a request for a window of that size
may leave out.
"""

from __future__ import annotations

from legato.session.compaction.compactor import Compactor
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.shortening import shorten
from legato.session.compaction.summariser import Summariser, SummaryInput
from legato.session.compaction.tool_history import ToolHistory

__all__ = ["Compactor", "HistorySettings", "Summariser", "SummaryInput", "ToolHistory", "shorten"]
