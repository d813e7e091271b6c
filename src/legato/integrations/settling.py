"""A history as the model that answers next will take it.

In:  a document that was read from a framework's messages, and the model that they go to.
Out: the same conversation after it has been to that model's API and back: rendered and verified as a request, and
     parsed again.

A framework encodes its own messages, so what it is given has to be right before that: every call has one result right
behind it, ids and names have the provider's form, thoughts of others are gone, and the first and the last word are on
the side where the provider wants them. A request that was verified is all of that, and reading it back costs nothing
but time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from legato.formats.document import Document
from legato.model import (
    Authority,
    Block,
    Decision,
    Entry,
    Media,
    Options,
    Origin,
    Speaker,
    Target,
    Text,
    Thinking,
    ThinkingPolicy,
    ThinkingSwitch,
    ToolResponse,
)
from legato.model.targets import Capabilities
from legato.request import Catalogue, parse, render, resolve
from legato.request.conceding import with_less
from legato.request.family_names import family_name
from legato.request.request import Request
from legato.transcript.conversation import Conversation
from legato.wire.phrases import ANSWER_BRIDGE, CONTINUE, HUMAN_BRIDGE, INSTRUCTION_MARK, MEDIA_FOLLOWS

_THINKING_OFF = "thinking-off-in-foreign-loop"
_TAIL = "tail"
_NOTED = "(Noted.)"
_OWN_BRIDGES = {f'"{HUMAN_BRIDGE}"': '"(Continued.)"', f'"{ANSWER_BRIDGE}"': f'"{_NOTED}"'}
"""what a bridge says in a framework's messages"""
_OWN_MOVES = {MEDIA_FOLLOWS: "(The media of this result follow in the next message.)"}
"""what a result says there whose media were moved"""
_NEXT = (Entry(Speaker.HUMAN, (Text("…"),)),)
"""what a person will say, for as long as a history is rendered that lacks it"""


class SettledHistory(NamedTuple):
    """A conversation that `target` takes as it is, and what was done to make it so."""

    conversation: Conversation
    target: Target
    decisions: tuple[Decision, ...]

    @property
    def must_not_think(self) -> bool:
        """Whether the model takes this history only while its thinking is off: another one began its tool loop."""
        return any(decision.reason == _THINKING_OFF for decision in self.decisions)


def settle(
    document: Document,
    target: str | Target,
    *,
    thinks: bool | None = None,
    offers_tools: bool = True,
    is_whole: bool = True,
    moves_media: bool = True,
    thinking: ThinkingPolicy | None = None,
    catalogue: Catalogue | None = None,
) -> SettledHistory:
    """What `document` says, as `target` takes it.

    `thinks` says whether the request asks for thoughts; where that is not known, the open tool loop tells: it shows
    thoughts of the model or it does not. Without `offers_tools` the request defines none, and a model that then takes
    no calls reads them as text. A history that is not `is_whole` is one behind which a person will say something.
    Where the model takes no media in results, they are in a message behind them, unless the framework `moves_media`
    itself and it is False here.
    Raises `UnknownTarget` for an unknown route, and `ImpossibleRequest` where a model that always thinks would
    have to go on with a tool loop that another one began.
    """
    goal = resolve(target, catalogue)
    told = goal if offers_tools else replace(goal, capabilities=_without_tools(goal.capabilities))
    entries = [_at_home(entry, goal) for entry in document.entries]
    talk = dataclasses.replace(document, entries=entries).conversation(compacted=True)

    def make(options: Options) -> Request:
        request = render(talk, told, options=options, thinking=thinking, tail=() if is_whole else _NEXT)
        request.verify()
        return request

    is_on = _thinks_in_loop(entries, goal) if thinks is None else thinks
    switch = ThinkingSwitch.DEFAULT if is_on is None else ThinkingSwitch.ON if is_on else ThinkingSwitch.OFF
    request, _ = with_less(Options(thinking=switch), make)
    decisions = tuple(request.report.decisions)
    own_words = {**_OWN_BRIDGES, **(_OWN_MOVES if moves_media else {})}
    parsed = parse(_reworded(request.json(), own_words), told)
    if not is_whole:
        del parsed.entries[-1]
    elif any(one.reason == _TAIL for one in decisions) and parsed.entries[-1].speaker is not Speaker.HUMAN:
        parsed.entries.append(Entry(Speaker.HUMAN, (Text(CONTINUE),)))
    if not goal.capabilities.middle_system:
        parsed.entries[:] = map(_told_by_a_person, parsed.entries)
    if not moves_media:
        parsed.entries[:] = _without_bridges_to_media(parsed.entries)
    return SettledHistory(parsed.into_conversation(), goal, decisions)


def _without_bridges_to_media(entries: list[Entry]) -> Iterator[Entry]:
    """The entries, without answers that are there only because media of a result would have had their own message."""
    before: Entry | None = None
    for entry in entries:
        if not (_is_bridge(entry) and before is not None and any(_media_of(block) for block in before.blocks)):
            yield entry
        before = entry


def _is_bridge(entry: Entry) -> bool:
    return entry.speaker is Speaker.AI and [block.text for block in entry.blocks if isinstance(block, Text)] == [_NOTED]


def _media_of(block: Block) -> tuple[Media, ...]:
    return block.media if isinstance(block, ToolResponse) else ()


def _reworded(body: bytes, words: dict[str, str]) -> bytes:
    """A request in which what was put in or moved is not recognised when it is read: a framework has to send it so."""
    for ours, theirs in words.items():
        body = body.replace(ours.encode(), theirs.encode())
    return body


def _told_by_a_person(entry: Entry) -> Entry:
    """An instruction in the middle as the words of a person, marked, where the provider takes no other."""
    if entry.authority is not Authority.INSTRUCTION:
        return entry
    marked = (Text(INSTRUCTION_MARK + block.text) if isinstance(block, Text) else block for block in entry.blocks)
    return replace(entry, authority=Authority.PERSON, blocks=tuple(marked))


def _without_tools(capabilities: Capabilities) -> Capabilities:
    """What a model accepts that is offered no tools: one that demands their definitions is told of calls in words."""
    return replace(capabilities, native_tool_history=False) if capabilities.demands_tools else capabilities


def _at_home(entry: Entry, target: Target) -> Entry:
    """An answer of the target's own model as such. Messages name the model that served, which may have a date."""
    origin = entry.origin
    if entry.speaker is not Speaker.AI or origin is None or not _is_same_model(origin, target):
        return entry
    return replace(entry, origin=target.origin())


def _is_same_model(origin: Origin, target: Target) -> bool:
    if origin.provider != target.provider:
        return False
    own = family_name(target.model)
    names = [family_name(name) for name in (origin.asked, origin.served) if name]
    return any(name == own or _is_dated(name, own) or _is_dated(own, name) for name in names)


def _is_dated(long: str, short: str) -> bool:
    """Whether `long` is `short` with a date behind it, as vendors answer when they are asked for an undated name."""
    rest = long.removeprefix(short) if long.startswith(f"{short}-") else ""
    digits = rest.replace("-", "")
    return digits.isdecimal() and len(digits) in (4, 6, 8)


def _thinks_in_loop(entries: list[Entry], target: Target) -> bool | None:
    """Whether the model has been thinking since a person last spoke; None if it has said nothing since."""
    own: bool | None = None
    for entry in reversed(entries):
        if entry.speaker is Speaker.HUMAN:
            break
        if entry.speaker is Speaker.AI and target.is_home_of(entry.origin):
            own = bool(own) or any(isinstance(block, Thinking) and block.native for block in entry.blocks)
    return own
