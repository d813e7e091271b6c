"""Station 3, what we will say: the conversation and the units that any dialect can print."""

from __future__ import annotations

from legato.transcript.conversation import Conversation
from legato.transcript.units import (
    Completion,
    CompletionKind,
    Exchange,
    Said,
    Summary,
    Unit,
    completion_text,
    output_digest,
    whole_output,
)
from legato.transcript.view import View

__all__ = [
    "Completion",
    "CompletionKind",
    "Conversation",
    "Exchange",
    "Said",
    "Summary",
    "Unit",
    "View",
    "completion_text",
    "output_digest",
    "whole_output",
]
