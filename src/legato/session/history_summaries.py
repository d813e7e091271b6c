"""Summaries that may be committed: a model's where it is sound, the digest where it is not.

A summary that failed, is empty, was cut off or is longer than it may be is never used. Each is kept under a hash of
what it was made from and of who made it, here and in the log, so that nobody is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable

from legato.errors import LegatoError
from legato.model.hashing import digest
from legato.model.records import Compacted
from legato.session.history_digest import Digest
from legato.session.summary import Summariser, SummaryInput
from legato.transcript import Conversation

KNOWN_SUMMARIES = 64


class Summaries:
    """The summaries of one session, by `summariser` or by nobody but the digest."""

    def __init__(self, summariser: Summariser | None) -> None:
        self._summariser = summariser
        self._known: dict[str, str] = {}
        """by the hash of what they were made from, newest last"""

    async def write(self, text: SummaryInput, talk: Conversation, *, count: Callable[[str], int]) -> tuple[str, str]:
        """A summary of `text`, of at most its cap by `count`, and the hash of what it was made from."""
        if self._summariser is not None:
            name = digest(f"{self._summariser.name} {text.digest}".encode())
            summary = self._known.get(name) or _recorded(talk, name) or await self._asked(self._summariser, text)
            if summary and count(summary) <= text.cap:
                self._remember(name, summary)
                return summary, name
        return Digest.of(text.units).text(text.cap, count), digest(f"digest {text.digest}".encode())

    async def _asked(self, summariser: Summariser, text: SummaryInput) -> str:
        try:
            return (await summariser.summarise(text)).strip()
        except LegatoError:
            return ""  # whatever went wrong there, the conversation goes on with the digest

    def _remember(self, name: str, summary: str) -> None:
        self._known.pop(name, None)
        self._known[name] = summary
        while len(self._known) > KNOWN_SUMMARIES:
            del self._known[next(iter(self._known))]


def _recorded(talk: Conversation, name: str) -> str | None:
    """The text of a compaction that was made from the same input, by the same summariser, before."""
    for record in reversed(talk.log):
        if type(record) is Compacted and record.digest == name:
            return record.text
    return None
