"""Where a session's questions wait for somebody who is not asynchronous.

In:  questions of an `Approval`, in the event loop.
Out: the same questions, in the thread of whoever waits for the turn, and what was said there.

The question has to be answered in that thread: a prompt of a terminal or a notebook works in no other, and Ctrl-C at
the prompt belongs to the one who waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from legato.errors import CallerError
from legato.model.records import Verdict
from legato.tools.approval import Question, Ruling

Approve: TypeAlias = Callable[[Question], bool | Ruling]
"""says whether a call may run; a `Ruling` can say more, such as for how long"""


class AskedQuestion:
    """A question on its way to a person."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._answer: asyncio.Future[Ruling] = asyncio.get_running_loop().create_future()

    @property
    def is_open(self) -> bool:
        """Whether anybody still waits for the answer; a turn that was cancelled does not."""
        return not self._answer.done()

    async def wait(self) -> Ruling:
        """The answer, in the loop."""
        return await self._answer

    async def answer(self, ruling: Ruling) -> None:
        """Give the answer, in the loop."""
        if self.is_open:
            self._answer.set_result(ruling)


class Desk:
    """An `Approver` whose questions go to whoever attends; while nobody does, they wait."""

    def __init__(self) -> None:
        self._open: list[AskedQuestion] = []
        self._tell: Callable[[AskedQuestion], object] | None = None

    async def ask(self, question: Question) -> Ruling:
        """The answer to `question`."""
        asked = AskedQuestion(question)
        self._open.append(asked)
        if self._tell is not None:
            self._tell(asked)
        try:
            return await asked.wait()
        finally:
            self._open.remove(asked)

    def attend(self, tell: Callable[[AskedQuestion], object]) -> None:
        """Tell of every question from now on, and of those that wait."""
        self._tell = tell
        for asked in self._open:
            tell(asked)

    def leave(self) -> None:
        """Nobody is there any more."""
        self._tell = None


def ruling_of(question: Question, approve: Approve) -> Ruling:
    """What `approve` says to `question`; raises what it raises."""
    said = approve(question)
    if isinstance(said, Ruling):
        return said
    # Not whatever is true: the "n" that somebody typed would be.
    if not isinstance(said, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # it is the caller's function
        raise CallerError(f"approve should return True, False or a Ruling, not {said!r}")
    return Ruling(question.call, question.digest, Verdict.ALLOWED if said else Verdict.DENIED)
