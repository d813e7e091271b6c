"""How the servers that speak Chat Completions differ, as data.

In:  a target.
Out: the `Profile` its bodies are judged by.

A profile names what is accepted; where servers refuse the same thing for reasons of their own, it also names the rule,
so that a finding reads `mistral/id-form` where Mistral's form is meant. Servers that have no profile of their own are
judged by the strict one, with the particulars of the few whose particulars are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from legato.model import Target

_CHAT_ROLES = frozenset({"developer", "system", "user", "assistant", "tool", "function"})
_DEEPSEEK_ROLES = frozenset({"system", "user", "assistant", "tool", "latest_reminder"})
_TEXT = frozenset({"text"})
_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
_ANY_ID = re.compile(r".+", re.DOTALL)
_CALL_ID = re.compile(r"call_.{1,35}", re.DOTALL)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Profile(Struct, frozen=True, kw_only=True):
    """What one kind of server accepts. The defaults are those of a strict server of no particular make."""

    roles: frozenset[str] = _CHAT_ROLES
    role_rule: str = "openai-chat/unknown-role"
    follows: Mapping[str, frozenset[str]] | None = None
    """which roles may stand after a role; None: any"""
    fields: Mapping[str, frozenset[str]] | None = None
    """which fields a message of a role may have; None: unknown ones are ignored"""
    fields_rule: str = ""

    id_form: re.Pattern[str] = _ANY_ID
    id_rule: str = "openai-chat/id-form"
    id_habit: re.Pattern[str] = _CALL_ID
    """the form that is safe everywhere, or that the model was trained on"""
    id_habit_rule: str = "openai-chat/id-habit"
    id_index: re.Pattern[str] | None = None
    """what captures the number in an id, where it counts the calls"""
    name_form: re.Pattern[str] = _NAME
    name_rule: str = "openai-chat/name-form"
    call_types: frozenset[object] = frozenset({"function"})
    takes_argument_objects: bool = False
    parses_arguments: bool = True
    takes_empty_calls: bool = False
    """`tool_calls: []`, and an empty array of parts next to calls"""

    part_types: Mapping[str, frozenset[str]] | None = None
    """which parts a message of a role may have; None: only images are watched"""
    part_rule: str = "openai-chat/part-type"
    watches_images: bool = True
    empty_answer_rule: str = "openai-chat/null-content"
    takes_empty_answers: bool = True
    takes_empty_messages: bool = True
    warns_of_empty_text: bool = True
    takes_null_beside_calls: bool = True
    demands_reasoning: str = ""
    """the rule that asks for `reasoning_content` next to calls while thinking is on"""
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


_MISTRAL_MESSAGE = frozenset({"role", "content"})
_OPENAI_FIELDS = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations"}
)

_STRICT = Profile()
_PROFILES: dict[str, Profile] = {
    "openai": Profile(
        refuses_empty_tools=True,
        efforts=_EFFORTS,
        id_form=re.compile(r".{1,40}", re.DOTALL),
        call_types=frozenset({"function", "custom"}),
        parses_arguments=False,
        warns_of_empty_text=False,
        part_types={
            "user": frozenset({"text", "image_url", "input_audio", "file"}),
            "assistant": frozenset({"text", "refusal"}),
            "developer": _TEXT,
            "system": _TEXT,
            "tool": _TEXT,
        },
    ),
    "mistral": Profile(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        role_rule="mistral/unknown-role",
        follows={
            "system": frozenset({"user", "assistant", "system"}),
            "user": frozenset({"assistant", "system", "user"}),
            "assistant": frozenset({"assistant", "user", "tool"}),
            "tool": frozenset({"assistant", "tool", "user"}),  # whether user may: a capability, judged apart
        },
        fields={
            "system": _MISTRAL_MESSAGE,
            "user": _MISTRAL_MESSAGE,
            "assistant": _MISTRAL_MESSAGE | {"tool_calls", "prefix"},
            "tool": _MISTRAL_MESSAGE | {"tool_call_id", "name"},
        },
        fields_rule="mistral/extra-field",
        id_form=re.compile(r"[a-zA-Z0-9]{9}"),
        id_rule="mistral/id-form",
        id_habit=_ANY_ID,
        call_types=frozenset({"function", None}),
        takes_argument_objects=True,
        parses_arguments=False,
        takes_empty_calls=True,
        watches_images=False,
        empty_answer_rule="mistral/empty-answer",
        takes_empty_answers=False,
        warns_of_empty_text=False,
        counts_tools=False,
        refuses_empty_tools=None,
        final_mark="prefix",
        demands_mark=True,
        names_results=True,
    ),
    "kimi": Profile(
        id_habit=re.compile(r"functions\.[a-zA-Z0-9_-]+:[0-9]+"),
        id_habit_rule="kimi/id-habit",
        id_index=re.compile(r"functions\..+:([0-9]{1,18})", re.DOTALL),
        name_form=re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
        name_rule="kimi/name-form",
        watches_images=False,
        empty_answer_rule="kimi/empty-message",
        takes_empty_answers=False,
        takes_empty_messages=False,
        demands_reasoning="kimi/reasoning-missing",
        takes_reasoning=True,
        thinking_forbids_force=True,
        efforts=_EFFORTS,
        counts_tools=False,
        final_mark="partial",
    ),
    "deepseek": Profile(
        roles=_DEEPSEEK_ROLES,
        role_rule="deepseek/unknown-role",
        refuses_empty_tools=True,
        part_types=dict.fromkeys(_DEEPSEEK_ROLES, _TEXT),
        part_rule="deepseek/part-type",
        watches_images=False,
        warns_of_empty_text=False,
        empty_answer_rule="deepseek/empty-answer",
        demands_reasoning="deepseek/reasoning-missing",
        demands_reasoning_of_turns=True,
        takes_empty_reasoning=True,
        takes_reasoning=True,
        efforts=_EFFORTS | {"ultra"},
        maps_efforts=True,
        counts_tools=False,
        final_mark="prefix",
    ),
}

_PARTICULARS: dict[str, Profile] = {
    "groq": replace(_STRICT, fields=dict.fromkeys(_CHAT_ROLES, _OPENAI_FIELDS), fields_rule="groq/unknown-field"),
    "cerebras": replace(
        _STRICT,
        fields=dict.fromkeys(_CHAT_ROLES, _OPENAI_FIELDS | {"reasoning"}),
        fields_rule="cerebras/unknown-field",
    ),
    "vllm": replace(_STRICT, refuses_empty_tools=True),
    "llamacpp": replace(_STRICT, refuses_empty_tools=True),
    "xai": replace(_STRICT, takes_null_beside_calls=False),
}


def profile_of(target: Target) -> Profile:
    """The profile for `target`: its own, or among strict servers that of its provider."""
    if target.profile == "strict":
        return _PARTICULARS.get(target.provider, _STRICT)
    return _PROFILES.get(target.profile, _STRICT)
