"""What can be done: tools, the scheduler that runs them, the questions asked before, and the tools that come along.

    registry, functions, schema   what a tool is, and how a Python function becomes one
    scheduler, batch, batch_log   a batch of calls, from the first check to the last commit
    approval, approval_queue      may it run? modes, rules, and a person
    protected, offers, commands   what no rule opens; what "always" may mean; what the words of a command say
    builtin, mcp                  files and commands of a working folder; other people's servers
    sandbox, isolation            what a command cannot do, and what a person is told about that

Nothing but a `ToolResponse` leaves a scheduler, and each through the one `settle` of its log.
"""

from __future__ import annotations

from legato.tools.approval import Approval, Approver, Question, Ruling
from legato.tools.approval_queue import ApprovalQueue
from legato.tools.attempt import run_tool
from legato.tools.batch_log import ApprovalRecords, BatchLog
from legato.tools.budget import OutputBudget, Spill
from legato.tools.functions import as_tool, tool
from legato.tools.notes import Noted, NoteKind, ToolNote
from legato.tools.registry import Tool, ToolBox, ToolContext, ToolKind, ToolOutput
from legato.tools.rules import Effect, Mode, Rule, parse_rules
from legato.tools.scheduler import ToolScheduler

__all__ = [
    "Approval",
    "ApprovalQueue",
    "ApprovalRecords",
    "Approver",
    "BatchLog",
    "Effect",
    "Mode",
    "NoteKind",
    "Noted",
    "OutputBudget",
    "Question",
    "Rule",
    "Ruling",
    "Spill",
    "Tool",
    "ToolBox",
    "ToolContext",
    "ToolKind",
    "ToolNote",
    "ToolOutput",
    "ToolScheduler",
    "as_tool",
    "parse_rules",
    "run_tool",
    "tool",
]
