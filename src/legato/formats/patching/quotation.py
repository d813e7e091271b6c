"""A result whose call is not in the file, told as text: nothing that a tool returned is lost."""

from __future__ import annotations

from legato.model import ToolResponse
from legato.transcript.units import Completion, CompletionKind, completion_text

QUOTED = "[Result of a tool call that is not in this conversation]\n"
"""before a result whose call no one knows"""


def quotation(response: ToolResponse) -> str:
    """A result whose call no one knows, as words."""
    kind = CompletionKind.SUCCESS if response.error is None else CompletionKind.ERROR
    completion = Completion(
        response.call_id, kind, response.result, response.error, reason=response.reason, said=response.said
    )
    return QUOTED + completion_text(completion)
