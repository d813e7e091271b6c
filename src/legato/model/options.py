"""What a caller may ask of one request, in neutral words; each dialect translates them or says why it cannot."""

from __future__ import annotations

from msgspec import Struct

from legato.model.jsonvalue import JsonObject
from legato.model.words import Word


class Include(Word):
    """Which of a model's own thoughts are sent back to it."""

    ALL = "all"
    CURRENT_TURN = "current-turn"
    NONE = "none"


class Foreign(Word):
    """What becomes of visible thoughts that another model had."""

    DROP = "drop"
    TEXT = "text"


class ThinkingPolicy(Struct, frozen=True):
    """Which thoughts are replayed. Calls and results never depend on it."""

    include: Include = Include.ALL
    foreign: Foreign = Foreign.DROP


class ThinkingSwitch(Word):
    """Whether the model should think in the answer we ask for."""

    DEFAULT = "default"
    ON = "on"
    OFF = "off"


class Choice(Word):
    """How the model may use the tools; `Options.tool` names one to force."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class Options(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one request asks for. `extra` is merged into the body as it is, for what no option covers."""

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
