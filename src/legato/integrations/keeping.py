"""Which messages of a history can stay as they are.

In:  the messages that a framework has, and those that were written in their place; both as blocks.
Out: for each place of the new list, the number of an old message or the new one.

What was right is not written anew: a message carries times, usage, ids and fields of its framework that say nothing to
a model, and some frameworks store what a hook returns. Messages are compared by what they say, in runs, because one
message may have become two: old ones stay where a run of them says just what a run of new ones says. Thoughts are not
compared: they are sealed, a message keeps its own, and stays only if every one of them is to be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from typing import TypeAlias

import msgspec
from msgspec import structs

from legato.formats.document import Document, Original
from legato.formats.fields import as_list, as_object
from legato.integrations.settling import SettledHistory
from legato.model import (
    Block,
    Entry,
    HostedTool,
    Json,
    JsonObject,
    Media,
    Speaker,
    Target,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.transcript.conversation import Conversation

Read: TypeAlias = Callable[[Sequence[Json]], Document]
"""a framework's reader"""
Write: TypeAlias = Callable[[Document | Conversation], list[JsonObject]]
"""a framework's writer"""
Keep: TypeAlias = Callable[[list[Json]], tuple[list[int | JsonObject], SettledHistory]]
"""settles messages, and says which of them stay"""


def keep_own(
    before: Sequence[Json],
    written: Sequence[JsonObject],
    read: Read,
    settled: SettledHistory,
    *,
    has_one_form: bool = False,
    is_foreign: Callable[[JsonObject], bool] | None = None,
) -> list[int | JsonObject]:
    """The new list: a number is that of a message in `before`, anything else is a message of `written`.

    An answer of another provider is written anew, because its form may be one that only the client of that provider
    reads, unless the framework `has_one_form` for all of them. So is any message that `is_foreign`: it holds something
    in a form that only another provider has. A message that says nothing stays only where there is one form.
    """
    old, new = _read_each(before, read), _read_each(written, read)
    name = _seal if has_one_form else _compared
    sent = {name(thought) for entry in settled.conversation.entries for thought in _thoughts(entry)}

    def may_stay(number: int) -> bool:
        if is_foreign is not None and is_foreign(as_object(before[number])):
            return False
        return all(
            (has_one_form or _is_own(entry, settled))
            and all(name(thought) in sent for thought in _thoughts(entry))
            and all(call.raw is None for call in entry.calls)  # what is no JSON object is refused by some
            for entry in old[number].entries
        )

    kept = _kept(written, old, new, may_stay)
    return kept if has_one_form else [item for item in kept if not isinstance(item, int) or _says_something(old[item])]


def keep_same(source: Document | Conversation, write: Write, read: Read, before: Sequence[Json]) -> list[JsonObject]:
    """What is written of `source`, which goes to nobody yet: of the messages in `before`, whatever says the same stays.

    A document that holds the messages that it was read from needs no others.
    """
    own = before or (as_list(source.original.value) if isinstance(source, Document) and source.original else [])
    if not own:
        return write(source)
    document = read(own)
    if isinstance(source, Document) and (source.system, source.entries) == (document.system, document.entries):
        return list(map(as_object, own))
    talk = source.conversation() if isinstance(source, Document) else source
    ran = [block for entry in document.entries for block in entry.blocks if _is_in_own_form(block)]
    kept = _same(own, document, _without(talk, ran), write, read, ran)
    stayed = read([own[item] for item in kept if isinstance(item, int)])
    if not all(any(block in entry.blocks for entry in stayed.entries) for block in ran):
        # In a message that was written anew, what a tool did is told in words.
        kept = _same(own, document, talk, write, read, ())
    return [as_object(own[item]) if isinstance(item, int) else item for item in kept]


def _same(
    own: Sequence[Json],
    document: Document,
    talk: Conversation,
    write: Write,
    read: Read,
    aside: Sequence[Block],
) -> list[int | JsonObject]:
    written = write(talk)
    if document.system and talk.instructions == document.conversation().instructions:
        alone = replace(document, system="").conversation()  # the rest is a field of the messages already
        written[:1] = write(alone)[:1] if alone.instructions else []
    old, new = ([_without_unsent(message, aside) for message in _read_each(held, read)] for held in (own, written))
    return _kept(written, old, new, lambda number: True)


def _is_in_own_form(block: Block) -> bool:
    """Whether a block is what a provider's tool did, in a form that the framework has and no writer of ours."""
    return isinstance(block, HostedTool) and block.native is None


def _without(talk: Conversation, aside: Sequence[Block]) -> Conversation:
    if not aside:
        return talk
    less = Conversation()
    if talk.instructions:
        less.instruct(talk.instructions)
    less.take(
        structs.replace(entry, blocks=tuple(block for block in entry.blocks if block not in aside))
        for entry in talk.entries
    )
    return less


def keep_beside_own_tools(
    before: Sequence[Json], ran: set[int], without: Callable[[JsonObject], JsonObject], keep: Keep
) -> tuple[list[int | JsonObject], SettledHistory]:
    """What `keep` makes of the messages, while those that `ran` tools of the target's own provider are `without` them.

    A framework sends back what such a tool did as it came, and only as long as the message is the same; of a message
    that has to be written anew, what the tool found is told.
    """

    def shown(aside: set[int]) -> list[Json]:
        return [without(as_object(message)) if at in aside else message for at, message in enumerate(before)]

    items, settled = keep(shown(ran))
    if rewritten := ran.difference(item for item in items if isinstance(item, int)):
        items, settled = keep(shown(ran - rewritten))
    return items, settled


def answered_by(before: Sequence[Json], read: Read, target: Target) -> set[int]:
    """The numbers of messages that are answers of the target's provider."""
    return {
        at
        for at, message in enumerate(_read_each(before, read))
        if any(entry.origin is not None and entry.origin.provider == target.provider for entry in message.entries)
    }


def _without_unsent(message: Document, aside: Sequence[Block]) -> Document:
    """A message without what is left aside, and what no provider is sent: blank texts, and calls that were cut off."""
    entries = [
        structs.replace(
            entry, blocks=tuple(block for block in entry.blocks if not _is_unsent(block) and block not in aside)
        )
        for entry in message.entries
    ]
    return replace(message, entries=entries)


def _is_unsent(block: Block) -> bool:
    return (isinstance(block, Text) and not block.text.strip()) or (isinstance(block, ToolCall) and not block.finished)


def with_own(document: Document, messages: list[Json]) -> Document:
    """A document that holds the messages that it was read from."""
    return replace(document, original=Original(value=messages))


def _read_each(messages: Sequence[Json], read: Read) -> list[Document]:
    return [read([message]) for message in messages]


def _kept(
    written: Sequence[JsonObject], old: list[Document], new: list[Document], may_stay: Callable[[int], bool]
) -> list[int | JsonObject]:
    kept: list[int | JsonObject] = []
    done = 0
    for first, last, begin, end in _common_runs(list(map(_words, old)), list(map(_words, new))):
        if all(map(may_stay, range(first, last))):
            kept += [*written[done:begin], *range(first, last)]
            done = end
    return [*kept, *written[done:]]


def _says_something(message: Document) -> bool:
    """Whether there is anything in a message, if only something that is not understood."""
    return bool(message.entries or message.notes or message.system)


def _is_own(entry: Entry, settled: SettledHistory) -> bool:
    """Whether an entry is no answer, or one of the provider that the messages go to."""
    return entry.speaker is not Speaker.AI or (
        entry.origin is not None and entry.origin.provider == settled.target.provider
    )


def _thoughts(entry: Entry) -> list[Thinking]:
    return [block for block in entry.blocks if isinstance(block, Thinking)]


def _seal(thought: Thinking) -> bytes:
    """What a provider knows its own thought by: all else of it may be written in another way."""
    native = thought.native or {}
    held = {**native, **as_object(native.get("item"))}
    return _compared(next((held[name] for name in _SEALS if held.get(name)), thought.text))


_SEALS = ("signature", "thoughtSignature", "data", "encrypted_content")


def _common_runs(old: list[list[bytes]], new: list[list[bytes]]) -> list[tuple[int, int, int, int]]:
    """Where messages `first` to `last` say what the new ones `begin` to `end` say; the shortest such runs, in order."""
    old_ends, new_ends = _ends(old), _ends(new)
    runs: list[tuple[int, int, int, int]] = []
    for at, to, size in _matches([word for words in old for word in words], [word for words in new for word in words]):
        shared = [step for step in range(size + 1) if at + step in old_ends and to + step in new_ends]
        for start, stop in pairwise(shared):
            runs.append((old_ends[at + start], old_ends[at + stop], new_ends[to + start], new_ends[to + stop]))
    return runs


def _ends(messages: list[list[bytes]]) -> dict[int, int]:
    """How many messages there are before each boundary, by the words before it.

    A message without words, which is nothing but thoughts, belongs to the one behind it; the last one to that before.
    """
    ends: dict[int, int] = {}
    words = 0
    for number, words in enumerate(accumulate(map(len, messages), initial=0)):
        ends.setdefault(words, number)
    return ends | ({words: len(messages)} if words else {})


def _matches(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int]]:
    """Where both say the same, and for how long. Most of a history is as it was, so its two ends are compared first."""
    shorter = min(len(old), len(new))
    front = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    back = next((at for at in range(shorter - front) if old[-1 - at] != new[-1 - at]), shorter - front)
    middle = SequenceMatcher(None, old[front : len(old) - back], new[front : len(new) - back], autojunk=False)
    inside = [(front + at, front + to, size) for at, to, size in middle.get_matching_blocks() if size]
    return [(0, 0, front), *inside, (len(old) - back, len(new) - back, back)]


def _words(message: Document) -> list[bytes]:
    """What a message says, block by block, in a form that can be compared."""
    return [
        _compared([entry.speaker, entry.authority, _said(block, entry.speaker)])
        for entry in message.entries
        for block in entry.blocks
        if not isinstance(block, Thinking)
    ]


def _compared(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _said(block: Block, speaker: Speaker) -> Json:
    match block:
        case ToolCall():
            return ["call", block.name, block.wire_id, block.arguments, block.native]
        case ToolResponse():
            value = block.result if block.error is None else block.error
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            media = list(map(_shown, block.media))
            return ["result", block.wire_id, text, block.error is not None, block.reason, block.said, media]
        case Text():
            return ["text", block.text, block.native if speaker is Speaker.AI else None]
        case Media():
            return ["media", *_shown(block)]
        case _:
            return msgspec.to_builtins(block)


def _shown(media: Media) -> list[Json]:
    """An address stands for what it leads to: not every API has a place for its type."""
    return [media.kind, media.mime if media.data else "", media.data or media.url or ""]
