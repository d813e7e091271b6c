"""The fields of a request that Legato writes itself, which `Options.extra` therefore may not name.

In:  the extra fields that someone wants in a request body.
Out: nothing, or why one of them cannot be there.

`extra` is for what no option covers. A field that says who answers, what was said, which tools there are, how the
answer travels or whether the provider keeps it has one source, and is checked against the rules before it is sent. A
second source would win over the first: a `model` in there would send the conversation to another model than the one
it was rendered for, `messages` would replace it, `store` would leave it with the provider.

Tools that the provider runs itself (a web search, a code interpreter) have no neutral form. They may be under
`tools`, where dialects that know such tools put them beside ours; a definition of a function may not. Which fields are
ours, and which tools are the provider's, each dialect says in its `DialectParts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from legato.errors import ImpossibleRequest
from legato.model import Dialect, Json, JsonObject, Options, Target
from legato.wire.contract import DialectParts
from legato.wire.dialects import dialect_parts

_INSTEAD = {
    **dict.fromkeys(("model", "modelId"), "the route names the model"),
    "tools": "offer tools as `tools`; only what the provider runs itself may be named here",
    **dict.fromkeys(("functions", "toolConfig"), "offer tools as `tools`"),
    "stream": "use the option `stream`",
    "anthropic_version": "it is a matter of the platform that serves the model",
    "store": "requests carry the whole conversation and leave nothing with the provider",
    **dict.fromkeys(("messages", "input", "contents"), "record entries in the conversation"),
    **dict.fromkeys(("system", "instructions", "systemInstruction", "system_instruction"), "use `system`"),
}


def check_extra(options: Options, target: Target) -> None:
    """Raise `ImpossibleRequest` if a field that is written for `target` by us would be sent there as an extra one.

    A field of another home is not sent, whatever its name means here.
    """
    if not options.extra or not target.is_sent_extra_of(options.home):
        return
    if told := owned_in(options.extra, target.dialect):
        raise ImpossibleRequest(f"options.extra.{told}", layer="projection", target=target.route)


def owned_in(extra: Mapping[str, Json], dialect: Dialect | None = None) -> str:
    """The first name in `extra` that is ours, with what to do instead; empty if there is none.

    Without a dialect, what is ours in any of them counts: it is not known yet who will answer.
    """
    dialects = Dialect if dialect is None else (dialect,)
    for name, value in extra.items():
        owners = [parts for parts in map(dialect_parts, dialects) if name in parts.owned_fields]
        if owners and not (name == "tools" and any(_all_hosted(value, one) for one in owners)):
            return f"{name} is written by Legato itself and cannot be set; {_INSTEAD[name]}"
    return ""


def _all_hosted(tools: Json, parts: DialectParts) -> bool:
    """Whether `tools` is a list of tools that the provider runs itself."""
    if not isinstance(tools, list) or parts.is_hosted is None:
        return False
    listed = cast("list[Json]", tools)
    return all(isinstance(tool, dict) and parts.is_hosted(cast(JsonObject, tool)) for tool in listed)
