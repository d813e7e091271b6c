"""Items of the Responses API as blocks: what the model produced, in a response or in a history.

In:  one item as JSON.
Out: the blocks it stands for, in order.

    message              Text, with the message's `phase` in `native`, and `refusal` where the model refuses
    reasoning            Thinking, with the whole item in `native` if it came in encrypted form; without that it can
                         never be sent back
    function_call        ToolCall
    custom_tool_call     ToolCall of kind custom
    tools that the       ToolCall of the tool's type, whose arguments are what the item asks for; from then on they are
    client executes      ordinary calls, which are functions for everyone else; a client that defined such a tool is
                         told of a call by an item of that type again (`client_tools`)
    anything else        HostedTool with the whole item in `native`; silent if it is only there to steer the provider

A shell can be the provider's or ours: it is the provider's if its output is beside the call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from legato.model import (
    Block,
    CallKind,
    HostedTool,
    Json,
    JsonObject,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    clean_text,
    ingest,
)
from legato.model.json_access import as_id, as_objects, as_text
from legato.wire.arguments import read_arguments

SEARCH, SEARCH_CALL = "tool_search", "tool_search_call"
CLIENT_CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "local_shell_call": ("local_shell", ("action",)),
    "shell_call": ("shell", ("action",)),
    "apply_patch_call": ("apply_patch", ("operation",)),
    "computer_call": ("computer", ("action", "actions", "pending_safety_checks")),
    SEARCH_CALL: (SEARCH, ("arguments",)),
}
"""item type -> the name of the tool that the client executes, and the fields that say what it should do"""

_HOSTED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "web_search_call": (("action", "arguments"), ()),
    "file_search_call": (("queries",), ("results",)),
    "code_interpreter_call": (("code",), ("outputs",)),
    "image_generation_call": (("prompt", "revised_prompt"), ()),
    "mcp_call": (("arguments",), ("output", "error")),
    "mcp_approval_request": (("arguments",), ()),
}
"""item type -> the fields that say what was asked, and those that hold the outcome"""


def blocks_of(item: JsonObject, *, outputs: Collection[str] = (), restore: Callable[[str], str] = str) -> list[Block]:
    """The blocks of one item of the model's. `outputs` are the `call_id`s whose outputs are in the same response."""
    kind = as_text(item.get("type"))
    if kind == "message" or (not kind and "role" in item):
        return _message(item)
    if kind == "reasoning":
        return _reasoning(item)
    if kind == "function_call":
        return [_function_call(item, restore)]
    if kind == "custom_tool_call":
        return [_custom_call(item, restore)]
    if is_client_call(item, outputs):
        name, fields = CLIENT_CALLS[kind]
        if kind == SEARCH_CALL:  # a function in all but its name
            return [ToolCall(name, read_arguments(item.get("arguments")).value, _wire_id(item))]
        arguments = {field: ingest(item[field]) for field in fields if item.get(field) is not None}
        return [ToolCall(name, arguments, _wire_id(item))]
    return [hosted(item)]


def is_client_call(item: JsonObject, outputs: Collection[str] = ()) -> bool:
    """Whether `item` asks the client to execute one of the provider's own kinds of tools."""
    kind = as_text(item.get("type"))
    if kind == SEARCH_CALL:
        return item.get("execution") == "client"
    return kind in CLIENT_CALLS and not (kind == "shell_call" and as_text(item.get("call_id")) in outputs)


def client_tools(tools: Iterable[ToolSpec]) -> dict[str, str]:
    """Of the provider's own kinds of tools those that a client executes: name -> the type of the items that call it."""
    kinds = {name: kind for kind, (name, _) in CLIENT_CALLS.items()}
    known = ((tool.name, kinds.get(as_text(tool.native.get("type"))), tool) for tool in tools)
    return {name: kind for name, kind, tool in known if kind is not None and is_run_by_client(tool)}


def is_run_by_client(tool: ToolSpec) -> bool:
    """Whether it is the client that executes one of the provider's own kinds of tools."""
    kind = as_text(tool.native.get("type"))
    return kind != SEARCH or tool.native.get("execution") == "client"


def hosted(item: JsonObject) -> HostedTool:
    """An item that the provider takes back as it is and that says to others what was done."""
    kind = as_text(item.get("type"))
    if not kind:
        return HostedTool("unknown", result=ingest(item), native={"item": ingest(item)})  # told, as it never goes back
    asked, given = _HOSTED.get(kind, ((), ()))
    name = as_text(item.get("name")) or kind.removesuffix("_call")
    arguments: JsonObject = {}
    for field in asked:
        value = item.get(field)
        if field == "arguments" and isinstance(value, str):
            arguments |= read_arguments(value).value
        elif value is not None:
            arguments[field] = ingest(value)
    result: Json = next((ingest(item[field]) for field in given if item.get(field) is not None), None)
    wire_id = as_text(item.get("id"))
    return HostedTool(name, arguments, result, wire_id, is_control(kind), native={"item": ingest(item)})


def is_control(kind: str) -> bool:
    """Whether items of this type are neither words nor calls nor results, so that there is nothing in them to tell.

    They steer the provider or are its own bookkeeping: a trigger for compaction, what it compacted (sealed), a list of
    tools, a person's consent. The types of items that do tell something end in a way that says so.
    """
    return kind not in _HOSTED and not kind.endswith(("_call", "_output"))


def thinking_text(item: JsonObject) -> str:
    """The visible part of a reasoning item: its summary, or where there is none its own text."""
    summary = [as_text(part.get("text")) for part in as_objects(item.get("summary"))]
    content = [as_text(part.get("text")) for part in as_objects(item.get("content"))]
    return "\n\n".join(text for text in (summary if any(summary) else content) if text)


def message_native(item: JsonObject, *, is_refusal: bool) -> JsonObject | None:
    """What a text keeps of its message: the phase, and that it is a refusal."""
    native: JsonObject = {}
    if isinstance(item.get("phase"), str):
        native["phase"] = as_text(item["phase"])
    if is_refusal:
        native["refusal"] = True
    return native or None


def _message(item: JsonObject) -> list[Block]:
    content = item.get("content")
    if isinstance(content, str):
        return [Text(clean_text(content), native=message_native(item, is_refusal=False))] if content else []
    blocks: list[Block] = []
    for part in as_objects(content):
        text, native = (
            as_text(part.get("text")) or as_text(part.get("refusal")),
            message_native(item, is_refusal=part.get("type") == "refusal"),
        )
        if text:
            blocks.append(Text(text, native=native))
    return blocks


def _reasoning(item: JsonObject) -> list[Block]:
    native: JsonObject | None = {"item": ingest(item)} if item.get("encrypted_content") else None
    text = thinking_text(item)
    return [Thinking(text, native=native)] if text or native else []


def _function_call(item: JsonObject, restore: Callable[[str], str]) -> ToolCall:
    arguments, raw, finished = read_arguments(item.get("arguments"))
    if item.get("status") == "incomplete" and (raw is not None or not item.get("arguments")):
        finished = False
    return ToolCall(
        restore(as_text(item.get("name"))),
        arguments,
        _wire_id(item),
        raw=raw,
        finished=finished,
        native=call_native(item),
        namespace=as_text(item.get("namespace")),
    )


def _custom_call(item: JsonObject, restore: Callable[[str], str]) -> ToolCall:
    return ToolCall(
        restore(as_text(item.get("name"))),
        {"input": as_text(item.get("input"))},
        _wire_id(item),
        kind=CallKind.CUSTOM,
        finished=item.get("status") != "incomplete",
        native=call_native(item),
        namespace=as_text(item.get("namespace")),
    )


def _wire_id(item: JsonObject) -> str:
    return as_id(item.get("call_id")) or as_id(item.get("id"))


def call_native(item: JsonObject) -> JsonObject | None:
    """Where the call belongs in the provider's own books: it wants to read that again."""
    return None if item.get("caller") is None else {"caller": ingest(item["caller"])}


# --- JSON that may be anything ----------------------------------------------------------------------------------------
