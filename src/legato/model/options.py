"""What a caller may ask of one request, in neutral words; each dialect translates them or says why it cannot."""

from __future__ import annotations

from msgspec import Struct

from legato.model.enums import FastStrEnum
from legato.model.jsonvalue import JsonObject


class Include(FastStrEnum):
    """Which of a model's own thoughts are sent back to it."""

    ALL = "all"
    CURRENT_TURN = "current-turn"
    NONE = "none"


class Foreign(FastStrEnum):
    """What becomes of visible thoughts that another model had."""

    DROP = "drop"
    TEXT = "text"


class ThinkingPolicy(Struct, frozen=True):
    """Which thoughts are replayed. Calls and results never depend on it."""

    include: Include = Include.ALL
    foreign: Foreign = Foreign.DROP


class ThinkingSwitch(FastStrEnum):
    """Whether the model should think in the answer we ask for."""

    DEFAULT = "default"
    ON = "on"
    OFF = "off"


class Choice(FastStrEnum):
    """How the model may use the tools; `Options.tool` names one to force."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class OutputFormat(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The answer has to be JSON: of any kind, or what fits `schema`.

    `name` and `description` tell the model what it writes. `strict` asks the provider to hold it to the schema; None
    leaves that to the provider.
    """

    schema: JsonObject | None = None
    name: str = ""
    description: str = ""
    strict: bool | None = None


class Options(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one request asks for.

    Which of it a provider takes, and in which words, is in `wire.options.table` and in docs/options.md.

    `tool` names a tool, with its namespace (`files.read`) where that is not clear. `extra` is merged into the body as
    it is, for what no option covers. `home` is who understands `extra`: a dialect (`anthropic`) or one kind of its
    servers (`openai_chat/mistral`); others are not sent it. Where `home` is empty every target is sent it.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    choice: Choice | None = None
    tool: str | None = None
    thinking: ThinkingSwitch = ThinkingSwitch.DEFAULT
    thinking_budget: int | None = None
    effort: str | None = None
    stream: bool = False
    cache: bool = True
    extra: JsonObject = {}
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    output: OutputFormat | None = None
    parallel_calls: bool | None = None
    """whether the model may ask for several tools at once; None: as the provider has it"""
    verbosity: str | None = None
    """how much the model should say: `low`, `medium` or `high`"""
    metadata: JsonObject = {}
    """labels for the provider's own records: texts by name"""
    cache_ttl: str = ""
    """how long the provider should keep what it caches (`5m`, `1h`); empty: as long as is usual"""
    home: str = ""
