"""Which options the format of a target has room for, as data.

A dialect fills in an `OptionGrammar` from what a target's host accepts; what a model can do is in its capabilities.
Settling options asks for nothing else, neither for the dialect nor for a model's name.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from legato.model import Choice, ThinkingMode
from legato.wire.hosting.style import Switch

__all__ = ["SWITCHABLE", "OptionGrammar", "Switch"]

SWITCHABLE = frozenset({ThinkingMode.BUDGET, ThinkingMode.ADAPTIVE, ThinkingMode.SWITCH})
"""the modes in which thinking can be switched on and off"""


class OptionGrammar(Struct, frozen=True, kw_only=True):
    """Which options can be sent to one target, and within which bounds. The defaults are the most permissive."""

    # Tools.

    max_tools: int | None = None
    custom_tools: bool = False
    """a tool may take free text; else it is a function of one text"""
    namespaces: bool = False
    """tools are in namespaces; else those are part of their names"""
    strict_tools: bool = True
    """the provider can be asked to enforce the schema of one tool"""
    forced_choice: bool = True
    """a call may be forced"""
    choices: frozenset[Choice] = frozenset(Choice)
    """what can be said about how tools may be used; what cannot is left to the model"""
    choice_of_functions: bool = False
    """the choice is among functions: nothing can be said about it where only tools of the provider are offered"""
    forced_while_thinking: bool = True
    """a call may be forced while the model thinks"""

    # The length of the answer.

    unstreamed_max_tokens: int | None = None
    """set where `max_tokens` is demanded: the most that is asked for when no one did and the answer is not streamed"""
    least_max_tokens: int = 0
    caps_max_tokens: bool = False
    """more than the model can write is refused"""

    # Temperature.

    temperatures: tuple[float, float] | None = None
    """the lowest and the highest; None: not known, so any is sent"""
    temperature_while_thinking: bool = True
    """false: while the model thinks, the temperature is 1 and cannot be set"""

    # Other sampling, and where it ends.

    temperature_or_top_p: bool = False
    """only one of the two may be set"""
    top_p_while_thinking: float = 0
    """the lowest while the model thinks"""
    top_k_while_thinking: bool = True
    max_stops: int | None = None

    # The form of the answer.

    json_schemas: bool = True
    """a schema can be sent"""
    json_mode: bool = True
    """JSON can be asked for without a schema"""
    says_json: bool = True
    """and then the word has to be among what is said"""
    closed_schemas: bool = False
    """objects in a schema must not allow properties that they do not name"""

    # What no option covers.

    dependent: Mapping[str, str] = {}
    """fields that may be in `Options.extra` -> the field without which they are refused. A field that depends on
    itself is an object with a type, of which the other parts alone are refused."""

    # Thinking.

    switch: Switch = Switch.FIELD
    effort_modes: frozenset[ThinkingMode] = SWITCHABLE | {ThinkingMode.EFFORT}
    """the modes in which an effort can be sent"""
    default_effort: str = "medium"
    """the effort that means no more than "think", where the effort is the switch"""
    effort_beyond_thinking: bool = False
    """an effort is about the whole answer: it is sent while thinking is off, and no wish about thinking becomes one"""
    effort_while_off: str | None = None
    """the highest effort that is taken while thinking is off; None: any"""
    budget_modes: frozenset[ThinkingMode] = frozenset()
    """the modes in which a budget can be sent"""
    budget_in_max_tokens: bool = False
    """a budget has to be sent, and `max_tokens` counts the thinking too, so it must be larger than the budget"""
    least_budget: int = 0
    most_budget: int | None = None
    """the most that may be sent; None: no limit but `max_tokens`"""
    default_budget: int = 0
    """the most that is sent when none is asked for"""
