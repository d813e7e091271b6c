"""The fields of a request that Legato writes itself, which `Options.extra` therefore may not name.

In:  the extra fields that somebody wants in a request body.
Out: nothing, or why one of them cannot be there.

`extra` is for what no option covers. A field that says who answers, what was said, which tools there are, how the
answer travels or whether the provider keeps it has one source, and is checked against the rules before it is sent. A
second source would win over the first: a `model` in there would send the conversation to another model than the one
it was rendered for, `messages` would replace it, `store` would leave it with the provider.

Tools that the provider runs itself (a web search, a code interpreter) have no neutral form. They may stand under
`tools`, where dialects that know such tools put them beside ours; a definition of a function may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from legato.errors import ImpossibleRequest
from legato.model import Dialect, Json, JsonObject, Target

OWNED: dict[Dialect, frozenset[str]] = {
    Dialect.OPENAI_CHAT: frozenset({"model", "messages", "tools", "functions", "stream", "store"}),
    Dialect.OPENAI_RESPONSES: frozenset({"model", "input", "instructions", "tools", "stream", "store"}),
    Dialect.ANTHROPIC: frozenset({"model", "messages", "system", "tools", "stream"}),
    # Google's JSON takes every name in camel case and in snake case.
    Dialect.GEMINI: frozenset({"model", "contents", "systemInstruction", "system_instruction", "tools"}),
    Dialect.VERCEL: frozenset({"model", "messages", "system", "instructions", "tools", "stream"}),
}

_INSTEAD = {
    "model": "the route names the model",
    "tools": "offer tools as `tools`; only what the provider runs itself may be named here",
    "functions": "offer tools as `tools`",
    "stream": "use the option `stream`",
    "store": "requests carry the whole conversation and leave nothing with the provider",
    **dict.fromkeys(("messages", "input", "contents"), "record entries in the conversation"),
    **dict.fromkeys(("system", "instructions", "systemInstruction", "system_instruction"), "use `system`"),
}


def check_extra(extra: JsonObject, target: Target) -> None:
    """Raise `ImpossibleRequest` if `extra` names a field that is written for `target` by us."""
    if extra and (told := owned_in(extra, target.dialect)):
        raise ImpossibleRequest(f"options.extra.{told}", layer="projection", target=target.route)


def owned_in(extra: Mapping[str, Json], dialect: Dialect | None = None) -> str:
    """The first name in `extra` that is ours, with what to do instead; empty if there is none.

    Without a dialect, what is ours in any of them counts: it is not known yet who will answer.
    """
    dialects = Dialect if dialect is None else (dialect,)
    for name, value in extra.items():
        owners = [one for one in dialects if name in OWNED[one]]
        if owners and not (name == "tools" and any(_all_hosted(value, one) for one in owners)):
            return f"{name} is written by Legato itself and cannot be set; {_INSTEAD[name]}"
    return ""


def _all_hosted(tools: Json, dialect: Dialect) -> bool:
    """Whether `tools` is a list of tools that the provider runs itself."""
    if not isinstance(tools, list):
        return False
    listed = cast("list[Json]", tools)
    return all(isinstance(tool, dict) and _is_hosted(cast(JsonObject, tool), dialect) for tool in listed)


def _is_hosted(tool: JsonObject, dialect: Dialect) -> bool:
    match dialect:
        case Dialect.ANTHROPIC:
            return tool.get("type") not in (None, "custom")
        case Dialect.OPENAI_RESPONSES:
            return tool.get("type") not in (None, "function", "custom", "namespace")
        case Dialect.GEMINI:
            return bool(tool) and not tool.keys() & {"functionDeclarations", "function_declarations"}
        case Dialect.OPENAI_CHAT | Dialect.VERCEL:
            return False
