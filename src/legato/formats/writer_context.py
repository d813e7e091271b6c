"""What the writers of session files share: the names that calls get there, and what cannot be carried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from legato.formats.document import FileNote
from legato.formats.format import Outgoing
from legato.formats.ids import name_from
from legato.model import IdScheme, Media, NameRule, Origin, qualified
from legato.model.codec import encode_record
from legato.model.hashing import digest
from legato.transcript.units import Unit
from legato.wire.ids import IdTable
from legato.wire.names import NameTable


class WriterContext:
    """The units of a conversation on their way into a session file."""

    def __init__(self, out: Outgoing, scheme: IdScheme, rule: NameRule) -> None:
        self.names = NameTable(rule)
        self.ids = IdTable(scheme, self.names)
        self.ids.extend(out.talk.ledger.in_order)
        self._out = out
        self._lost: Counter[str] = Counter()
        self._seed = digest(b"\n".join(encode_record(record) for record in out.talk.log))

    def units(self) -> Iterator[Unit]:
        """The units, each valid in itself."""
        view = self._out.talk.view()
        view.refresh()
        yield from view.units()

    def tool(self, name: str, namespace: str = "") -> str:
        """A tool's name as the file's program takes it, with its namespace where it has one."""
        wire = self.names.project(name, namespace)
        if wire != name:
            self.lose(f"the name of the tool {qualified(name, namespace)!r}, which became {wire!r}")
        return wire

    def unique(self, *parts: str) -> str:
        """A UUID that depends on the conversation and on `parts` alone."""
        return name_from(self._seed, *parts)

    def lose(self, what: str) -> None:
        """Count something that the file cannot hold."""
        self._lost[what] += 1

    def losses(self) -> list[FileNote]:
        """What was lost, each once with how often."""
        return [FileNote("", what if count == 1 else f"{what} ({count} times)") for what, count in self._lost.items()]


def stamp(number: int) -> str:
    """A time for record `number`. No clock: the same conversation gives the same file."""
    seconds, millis = divmod(number, 1000)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    days, hours = divmod(hours, 24)
    return f"2000-01-{1 + days % 28:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z"


def milliseconds(number: int) -> int:
    """The same time for programs that count milliseconds."""
    return _YEAR_2000 + number


_YEAR_2000 = 946_684_800_000
"""the first of January 2000, in milliseconds since 1970: as good as any, `stamp` begins there"""


def model_of(origin: Origin | None) -> str:
    """The model that gave an answer."""
    return (origin.served or origin.asked) if origin is not None else ""


def provider_of(origin: Origin | None) -> str:
    """The provider that gave an answer, as agents with a choice of providers call it."""
    provider = origin.provider if origin is not None else ""
    return _PROVIDERS.get(provider, provider)


_PROVIDERS = {"gemini": "google", "kimi": "moonshotai", "openai-responses": "openai", "bedrock": "amazon-bedrock"}
"""the catalogue's name for a provider -> that of https://models.dev, where they differ"""


def address_of(block: Media) -> str:
    """The address of a medium; one that holds its data itself, where it has none."""
    return block.url if block.data is None and block.url else f"data:{block.mime};base64,{block.data or ''}"


def media_words(block: Media) -> str:
    """Media that a file cannot hold, by its kind alone."""
    return f"[{block.kind} omitted: {block.mime}]"
