"""A queue of questions about tool calls, for programs that are answered from elsewhere.

A terminal, an editor and a web page may all show the same question; the first answer counts, and `rule` tells every
later one that it came too late. An answer names the call and the digest of what was shown, so an answer to another
call, or to an older version of this one, is not taken.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from legato.model import CallId
from legato.tools.approval import Question, Ruling


class ApprovalQueue:
    """An `Approver` that is answered from outside. `shown` and `withdrawn` tell a face what to put up or take down."""

    def __init__(
        self,
        *,
        shown: Callable[[Question], None] = lambda _: None,
        withdrawn: Callable[[Question], None] = lambda _: None,
    ) -> None:
        self._shown, self._withdrawn = shown, withdrawn
        self._open: dict[tuple[CallId, str], Question] = {}
        self._rulings: dict[tuple[CallId, str], Ruling] = {}
        self._arrived: dict[tuple[CallId, str], anyio.Event] = {}

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions without an answer, oldest first."""
        return tuple(self._open.values())

    async def ask(self, question: Question) -> Ruling:
        """Add `question` to the queue and wait for its answer."""
        key = (question.call, question.digest)
        self._open[key] = question
        self._arrived[key] = anyio.Event()
        try:
            self._shown(question)
            await self._arrived[key].wait()
            return self._rulings.pop(key)
        finally:
            del self._arrived[key]
            self._rulings.pop(key, None)  # answered and cancelled at once
            if self._open.pop(key, None):
                self._withdrawn(question)

    def rule(self, ruling: Ruling) -> bool:
        """Answer a question; False if it is not open (any more), and then nothing happens."""
        key = (ruling.call, ruling.digest)
        if self._open.pop(key, None) is None:
            return False
        self._rulings[key] = ruling
        self._arrived[key].set()
        return True
