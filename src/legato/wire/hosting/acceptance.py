"""What a host accepts, as the rules judge it.

The encoder has its own record (`style`), and neither is derived from the other: a mistake in one is found by the other.
Patterns are texts and are compiled by the rules, because most programs never judge for most hosts.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

CHAT_ROLES = frozenset({"developer", "system", "user", "assistant", "tool", "function"})
TEXT_PARTS = frozenset({"text"})
ALL_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
OPENAI_FIELDS = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations"}
)
"""the fields of a message that Chat Completions documents"""

ANY_ID = r"(?s).+"


class Acceptance(Struct, frozen=True, kw_only=True):
    """What one host accepts. The defaults are those of a strict server of no particular make."""

    roles: frozenset[str] = CHAT_ROLES
    follows: Mapping[str, frozenset[str]] | None = None
    """which roles may follow a role; None: any"""
    fields: Mapping[str, frozenset[str]] | None = None
    """which fields a message of a role may have; None: unknown ones are ignored"""

    id_form: str = ANY_ID
    id_habit: str = r"(?s)call_.{1,35}"
    """the form that is safe everywhere, or that the model was trained on"""
    id_index: str = ""
    """what captures the number in an id, where it counts the calls"""
    name_form: str = r"[a-zA-Z0-9_-]{1,64}"
    call_types: frozenset[object] = frozenset({"function"})
    takes_argument_objects: bool = False
    parses_arguments: bool = True
    takes_empty_calls: bool = False
    """`tool_calls: []`, and an empty array of parts next to calls"""

    part_types: Mapping[str, frozenset[str]] | None = None
    """which parts a message of a role may have; None: only images are watched"""
    watches_images: bool = True
    takes_empty_answers: bool = True
    takes_empty_messages: bool = True
    warns_of_empty_text: bool = True
    takes_null_beside_calls: bool = True
    demands_reasoning: bool = False
    """`reasoning_content` next to calls while thinking is on"""
    demands_reasoning_of_turns: bool = False
    """and on every answer of a turn in which calls were made"""
    takes_empty_reasoning: bool = False
    takes_reasoning: bool = False
    thinking_forbids_force: bool = False
    """with thinking on no tool can be forced, and thinking has one switch"""

    efforts: frozenset[str] | None = None
    """the words that `reasoning_effort` may be; None: not known"""
    maps_efforts: bool = False
    """a word that a model lacks is taken for another one"""

    counts_tools: bool = True
    """at most 128 tools, and no choice without tools"""
    refuses_empty_tools: bool | None = False
    """`tools: []`; None: taken, false: only some servers of the kind refuse it"""
    final_mark: str = ""
    """the field that makes a final answer a prefix"""
    demands_mark: bool = False
    names_results: bool = False
