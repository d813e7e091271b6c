"""What the writers of session files share: the names that calls get there, times, and what cannot be carried."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from legato.formats.document import FileNote
from legato.formats.format import Outgoing, WrittenSession
from legato.formats.ids import is_classic_uuid, name_from
from legato.model import CallId, IdScheme, Media, NameRule, Origin, Text, ToolSpec, qualified
from legato.model.codec import encode_record
from legato.model.hashing import digest
from legato.transcript.units import Said, Unit
from legato.wire.ids import IdTable, Numbered
from legato.wire.names import NameTable


class Covering(NamedTuple):
    """From here on, `text` stands for all that was said before."""

    text: str


class WriterContext:
    """The units of a conversation on their way into a session file."""

    def __init__(self, out: Outgoing, scheme: IdScheme, rule: NameRule) -> None:
        if out.target is not None:
            scheme, rule = out.target.capabilities.id_scheme, out.target.capabilities.name_rule
        self.names = NameTable(rule)
        table = IdTable(scheme, self.names)
        table.extend(out.talk.ledger.in_order)
        self.ids: dict[CallId, str] = table | _free_ids(out.talk.ledger.in_order) if out.keeps_ids else table
        self._out = out
        self._lost: Counter[str] = Counter()
        self._seed = digest(b"\n".join(encode_record(record) for record in out.talk.log))
        self._known: float | None = None
        self._last = round(out.began * 1000) - 1
        """milliseconds since the epoch of the newest record"""
        own = out.meta.get("session", "")
        self.session = WrittenSession(own if is_classic_uuid(own) else self.unique("session"), out.cwd, out.began)

    def units(self) -> Iterator[Unit]:
        """The units, each valid in itself."""
        view = self._out.talk.view()
        view.refresh()
        for unit in view.units():
            self._known = self._out.written_at(unit.key)
            yield unit

    def steps(self) -> Iterator[Unit | Covering]:
        """The units, and where the agent of the file they come from had summarised those before."""
        waiting = sorted(self._out.compactions)
        for unit in self.units():
            while waiting and waiting[0][0] < unit.key:
                yield Covering(waiting.pop(0)[1])
            if waiting and waiting[0][0] == unit.key and _says(unit, waiting[0][1]):
                yield Covering(waiting.pop(0)[1])  # the summary is itself something that was said
            else:
                yield unit
        yield from (Covering(text) for _, text in waiting)

    def millis(self) -> int:
        """The time of the next record: that of its unit, where it is known, and later than the record before.

        In milliseconds since the epoch, as some programs count.
        """
        self._last = max(self._last + 1, round((self._known or 0) * 1000))
        return self._last

    def stamp(self) -> str:
        """The same as other programs write it."""
        return iso_time(self.millis())

    def tool(self, name: str, namespace: str = "") -> str:
        """A tool's name as the file's program takes it, with its namespace where it has one."""
        if self._out.keeps_ids and not namespace:
            return name
        wire = self.names.project(name, namespace)
        if wire != name:  # told once, however many calls and results there are
            self._lost.setdefault(f"the name of the tool {qualified(name, namespace)!r}, which became {wire!r}", 1)
        return wire

    def unique(self, *parts: str) -> str:
        """A UUID that depends on the conversation and on `parts` alone."""
        return name_from(self._seed, *parts)

    def lose(self, what: str) -> None:
        """Count something that the file cannot hold."""
        self._lost[what] += 1

    def lose_tools(self) -> None:
        """The definitions of tools, which the file has no place for."""
        if self._out.tools:
            self.lose(tools_told(self._out.tools))

    def losses(self) -> list[FileNote]:
        """What was lost, each once with how often."""
        return [FileNote("", what if count == 1 else f"{what} ({count} times)") for what, count in self._lost.items()]


def _free_ids(calls: Sequence[Numbered]) -> dict[CallId, str]:
    """The ids that calls came with, where no two have the same."""
    uses = Counter(call.wire_id for call in calls)
    return {call.id: call.wire_id for call in calls if call.wire_id and uses[call.wire_id] == 1}


def tools_told(tools: Sequence[ToolSpec]) -> str:
    """The definitions of so many tools, as something that is lost."""
    return "the definition of 1 tool" if len(tools) == 1 else f"the definitions of {len(tools)} tools"


def iso_time(millis: int) -> str:
    """Milliseconds since the epoch as agents write times."""
    seconds, rest = divmod(millis, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:03}Z"


def _says(unit: Unit, text: str) -> bool:
    return isinstance(unit, Said) and "\n".join(part.text for part in unit.blocks if isinstance(part, Text)) == text


def model_of(origin: Origin | None) -> str:
    """The model that gave an answer."""
    return (origin.served or origin.asked) if origin is not None else ""


def provider_of(origin: Origin | None) -> str:
    """The provider that gave an answer, as agents with a choice of providers call it."""
    provider = origin.provider if origin is not None else ""
    return _PROVIDERS.get(provider, provider)


_PROVIDERS = {"gemini": "google", "kimi": "moonshotai", "openai-responses": "openai", "bedrock": "amazon-bedrock"}
"""the catalogue's name for a provider -> that of https://models.dev, where they differ"""


def has_place(block: Media) -> bool:
    """Whether the bytes of a medium are there, or where they are is known."""
    return block.data is not None or block.url is not None


def address_of(block: Media) -> str:
    """The address of a medium; one that holds its data itself, where it has none."""
    return block.url if block.data is None and block.url else f"data:{block.mime};base64,{block.data or ''}"


def media_words(block: Media) -> str:
    """Media that a file cannot hold, by its kind alone."""
    return f"[{block.kind} omitted: {block.mime}]"
