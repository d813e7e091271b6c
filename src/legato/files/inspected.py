"""What inspecting a conversation gives: frozen values that can be encoded as JSON."""

from __future__ import annotations

from msgspec import Struct

from legato.formats import Finding
from legato.model import CallId, Media, Usage

LIMIT = 20_000
"""characters of one text; what is longer is cut and says so"""


class InspectedCall(Struct, frozen=True, kw_only=True):
    """One call: who it is in the log, in the file and for the target, and how it ended."""

    id: CallId
    name: str
    arguments: str
    wire_id: str
    sent_id: str
    """the id that the target sees; empty if nothing was rendered or the call is not in the request"""
    state: str
    completion: str
    reason: str
    result: str
    result_place: str
    decisions: tuple[str, ...]
    labels: tuple[str, ...]
    """decisions and findings in brief, to filter by"""
    started: float | None = None
    """when the call was written, in seconds since the epoch; None if the file does not tell"""
    ended: float | None = None
    """when its result was written"""
    media: tuple[Media, ...] = ()
    """what the tool returned beside its text, for programs that show it: `inspect` leaves it out"""


class InspectedBlock(Struct, frozen=True, kw_only=True):
    """One block of an entry. `kind` is text, thinking, media, code, hosted or call; a call has no text.

    `media` is there for programs that show it: `inspect` leaves it out.
    """

    kind: str
    text: str = ""
    call: InspectedCall | None = None
    media: Media | None = None


class InspectedEntry(Struct, frozen=True, kw_only=True):
    """What one speaker said at one place."""

    turn: int
    speaker: str
    place: str
    model: str
    blocks: tuple[InspectedBlock, ...]
    decisions: tuple[str, ...]
    labels: tuple[str, ...]
    is_shown: bool
    """false: it is in the file, and no request holds it"""
    findings: tuple[Finding, ...] = ()
    """what `lint` has to say about it and its calls"""
    at: float | None = None
    """when it was written, in seconds since the epoch; None if the file does not tell"""
    usage: Usage | None = None
    """the tokens of an answer, if the file tells"""
    cost: float | None = None
    """dollars for them, at the prices of the catalogue; None where one is not known"""


class Inspection(Struct, frozen=True, kw_only=True):
    """The whole conversation."""

    name: str
    format: str
    route: str
    system: str
    tools: int
    entries: tuple[InspectedEntry, ...]
    notes: tuple[str, ...] = ()
    about_request: tuple[str, ...] = ()
    """decisions that concern no call: about the request as a whole"""
    findings: tuple[Finding, ...] = ()
    """what `lint` has to say about no entry in particular"""

    @property
    def calls(self) -> list[InspectedCall]:
        """Every call, in order."""
        return [block.call for entry in self.entries for block in entry.blocks if block.call is not None]

    @property
    def turns(self) -> int:
        """How often a person spoke."""
        return self.entries[-1].turn if self.entries else 0
