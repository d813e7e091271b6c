"""A rule: what a provider asks of a request body, declared once.

A rule is a constant in the module whose check reports it, in the `rules` of a dialect; a host of the chat family has
those of its own in its file. Everything else that speaks of a rule reads the declaration: `legato lint` says what the
provider says, the simulated providers say it themselves, and docs/rules.md lists them all. Bodies that break and keep
each rule are in tests/rules, not here.

The words of a provider are templates, because a refusal points at something in the request:

    {path} {parent} {field}    where the finding is, what holds it, and its last step
    {index}, {next}            the number of the message, and of the one after it
    {value}                    the text at `path`
    {id} {type} {name}         the id, the type and the name of the object there
    {role} {before}            the roles of the message and of the one before it
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from legato.model import Json, JsonObject
from legato.wire.findings import Severity
from legato.wire.judging import is_list, is_object

OBSERVED = "observed"
"""a source: seen in exchanges with the provider itself that were recorded"""

# Words of OpenAI that are also heard through other dialects.
RESULT_WITHOUT_CALLS = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
RESULT_OF_NO_CALL = "'tool_call_id' of '{id}' not found in 'tool_calls' of previous message"
SECOND_RESULT = "Duplicate value for 'tool_call_id' of '{id}'"


class WireRule(Struct, frozen=True, kw_only=True):
    """One rule."""

    id: str
    severity: Severity
    says: str
    """what it asks, in our words"""
    sources: tuple[str, ...]
    """where it is known from: pages of documentation, public issues as `owner/repo#1`, or `OBSERVED`"""
    error: str = ""
    """what the provider says when it is broken, as a template; empty where its words are not known"""
    errors: Mapping[str, str] = {}
    """what hosts say that have words of their own for it, by name"""
    code: str = ""
    """the provider's own name or number for the error"""
    route: str = ""
    """a target that it holds for, by which its examples are judged; empty until `declared` gives it the dialect's"""

    @property
    def pages(self) -> dict[str, str]:
        """The address of each source that has one."""
        return {source: address for source in self.sources if (address := _address(source))}

    def words(self, path: str = "", body: Json = None, *, host: str = "") -> str:
        """What the provider says about `path` in `body`, with an ellipsis for what is not known."""
        template = self.errors.get(host, self.error)
        facts = _facts(path, body) if "{" in template else {}
        return _BLANK.sub(lambda blank: _short(facts.get(blank[1], "")) or "…", template)

    def quotation(self, path: str = "", body: Json = None, *, host: str = "") -> str:
        """The same in quotation marks, with the code; empty if the provider's words are not known."""
        words = self.words(path, body, host=host)
        code = f" ({self.code})" if self.code else ""
        return f"“{words}”{code}." if words else ""


def _address(source: str) -> str:
    if source == OBSERVED or source.startswith("https://"):
        return source.removeprefix(OBSERVED)
    repository, _, number = source.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def _declare(
    severity: Severity,
    rule: str,
    says: str,
    *,
    source: str | Sequence[str],
    route: str = "",
    error: str = "",
    errors: Mapping[str, str] | None = None,
    code: str = "",
) -> WireRule:
    sources = (source,) if isinstance(source, str) else tuple(source)
    return WireRule(
        id=rule, severity=severity, says=says, sources=sources, error=error, errors=errors or {}, code=code, route=route
    )


refused = partial(_declare, Severity.REFUSED)
"""declares a rule whose breaking a provider answers with an error"""

risky = partial(_declare, Severity.RISKY)
"""declares one that only some providers, models or versions enforce, or that the model suffers from"""


def by_id(*rules: WireRule) -> dict[str, WireRule]:
    """`rules` by their ids; raises `ValueError` for a rule that is declared twice."""
    declared = {rule.id: rule for rule in rules}
    if len(declared) < len(rules):
        ids = [rule.id for rule in rules]
        raise ValueError(f"declared twice: {', '.join(sorted({rule for rule in ids if ids.count(rule) > 1}))}")
    return declared


def declared(*modules: ModuleType, route: str) -> dict[str, WireRule]:
    """The rules that are constants of `modules`, alone or in tuples, with `route` for those that name no other."""
    found: dict[int, WireRule] = {}  # by identity: a module may also have imported what another one declares
    for module in modules:
        for constant in vars(module).values():
            members = cast(tuple[object, ...], constant) if isinstance(constant, tuple) else (constant,)
            found |= {id(rule): rule for rule in members if isinstance(rule, WireRule)}
    return by_id(*(rule if rule.route else replace(rule, route=route) for rule in found.values()))


# --- what a template's blanks stand for -------------------------------------------------------------------------------

_BLANK = re.compile(
    r"\{(path|parent|field|index|next|value|id|type|name|role|before)\}"
)  # no other braces: words may hold some
_STEP = re.compile(r"[^.\[\]]+")
_IDS = ("tool_call_id", "tool_use_id", "call_id", "toolCallId", "toolUseId", "id")


def _facts(path: str, body: Json) -> dict[str, str]:
    steps = _STEP.findall(path)
    field = steps[-1] if steps else ""
    facts = {
        "path": path,
        "parent": path.removesuffix(field).removesuffix("."),
        "field": field,
        "index": next((step for step in steps if step.isdecimal()), ""),
    }
    value, holder, messages = _find(body, steps)
    if isinstance(value, str):
        facts["value"] = value
    facts["id"] = next((_text(holder, name) for name in _IDS if _text(holder, name)), "")
    facts["type"], facts["name"] = _text(holder, "type"), _text(holder, "name")
    if facts["index"]:
        place = int(facts["index"])
        facts["role"] = _role(messages, place)
        facts["before"] = _role(messages, place - 1)
        facts["next"] = str(place + 1)
    return facts


def _find(body: Json, steps: Sequence[str]) -> tuple[Json, JsonObject, list[Json]]:
    """What `steps` lead to, the innermost object on the way, and the first array."""
    value, holder, messages = body, dict[str, Json](), list[Json]()
    for step in steps:
        if is_object(value):
            holder, value = value, value.get(step)
        elif is_list(value) and step.isdecimal() and int(step) < len(value):
            messages, value = messages or value, value[int(step)]
        else:
            return None, holder, messages
    return value, value if is_object(value) else holder, messages


def _role(messages: list[Json], place: int) -> str:
    message = messages[place] if 0 <= place < len(messages) else None
    return _text(message, "role") if is_object(message) else ""


def _text(holder: JsonObject, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 80  # our choice: one line of a terminal
