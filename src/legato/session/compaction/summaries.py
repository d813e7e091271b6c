"""Summaries that may be committed: a model's where it is sound, the digest where it is not.

A summary that failed, is empty, was cut off or is longer than it may be is never used. Each is kept under a hash of
what it was made from and of who made it, here and in the log, so that no model is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable

from legato.model.hashing import digest
from legato.model.records import Compacted, CompactionKind
from legato.session.compaction.digest import Digest
from legato.session.compaction.summariser import Summariser, SummaryInput
from legato.transcript import Conversation

KNOWN_SUMMARIES = 64
"""summaries that are remembered in case they are wanted again: our choice, more than one compaction asks for"""


class Summaries:
    """The summaries of one session, by `summariser`, or by the digest alone."""

    def __init__(self, summariser: Summariser | None) -> None:
        self._summariser = summariser
        self._known: dict[str, str] = {}
        """by the hash of what they were made from, newest last"""

    @property
    def asks(self) -> bool:
        """Whether a model is asked for summaries."""
        return self._summariser is not None

    async def write(self, text: SummaryInput, talk: Conversation, *, count: Callable[[str], int]) -> tuple[str, str]:
        """A summary of `text`, of at most its cap by `count`, and the hash of what it was made from."""
        if self._summariser is not None:
            name = digest(f"{self._summariser.name} {text.digest}".encode())
            known = self._known.get(name) or _Written.of(talk).get(name)
            summary = known or await self._asked(self._summariser, text)
            if summary and count(summary) <= text.cap:
                self._remember(name, summary)
                return summary, name
        return Digest.of(text.units).text(text.cap, count), digest(f"digest {text.digest}".encode())

    async def _asked(self, summariser: Summariser, text: SummaryInput) -> str:
        try:
            return (await summariser.summarise(text)).strip()
        except Exception:  # noqa: BLE001  # it may be any code; the conversation goes on with the digest
            return ""

    def _remember(self, name: str, summary: str) -> None:
        self._known.pop(name, None)
        self._known[name] = summary
        while len(self._known) > KNOWN_SUMMARIES:
            del self._known[next(iter(self._known))]


class _Written:
    """The summaries that a log holds, by the hash of what they were made from; each record is looked at once."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._read = 0

    @classmethod
    def of(cls, talk: Conversation) -> dict[str, str]:
        """The texts of all covers in the log of `talk`, also of those that no longer hold."""
        written = talk.cached(cls, cls)
        for record in talk.log[written._read :]:
            if type(record) is Compacted and record.kind is CompactionKind.COVER:
                written._texts[record.digest] = record.text
        written._read = len(talk.log)
        return written._texts
