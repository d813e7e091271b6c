"""The forms in which LangChain dumps a message, and where a state of LangGraph keeps its messages.

{"lc": 1, "id": [..., "AIMessage"], "kwargs": {...}}     dumps, dumpd
{"type": "ai", "data": {...}}                            messages_to_dict
{"type": "ai", "content": ..., "additional_kwargs": …}   model_dump(), and what LangGraph's server sends

{"messages": [...]}                                      a state
{"values": {"messages": [...]}, "next": ...}             a snapshot of one
{"channel_values": {"messages": [...]}}                  a checkpoint; also below "checkpoint"
"""

from __future__ import annotations

from typing import NamedTuple

from legato.formats.fields import as_list, as_object, as_objects, as_text
from legato.model import JsonObject

_CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
}
_KINDS = frozenset(_CLASSES.values())
_ROLES = {"user": "human", "human": "human", "assistant": "ai", "ai": "ai", "system": "system", "developer": "system"}
CALL_SIGNATURES = "__gemini_function_call_thought_signatures__"
"""where the integration for Gemini keeps the signatures of calls, by their ids (langchain-google-genai)"""
_HOLDERS = (("values",), ("channel_values",), ("checkpoint", "channel_values"), ())
"""where the channels of a state are, the innermost first"""


class LangChainMessage(NamedTuple):
    """A message in any of the forms: its kind in LangChain's words, and its fields."""

    kind: str
    fields: JsonObject


def unwrapped(item: JsonObject) -> LangChainMessage:
    """A message out of its form. No class that a file names is ever loaded: a path is only a name."""
    if "lc" in item:
        path = as_list(item.get("id"))
        name = as_text(path[-1]) if path else ""
        kind, fields = _CLASSES.get(name.removesuffix("Chunk"), f"class {name}"), as_object(item.get("kwargs"))
    else:
        name = as_text(item.get("type"))
        kind = _CLASSES.get(name.removesuffix("Chunk"), name)
        fields = as_object(item["data"]) if isinstance(item.get("data"), dict) else item
    if kind == "chat":
        kind = _ROLES.get(as_text(fields.get("role")), "chat")
    return LangChainMessage(kind, fields)


def is_message(item: JsonObject) -> bool:
    """Whether `item` is a message in one of the forms, and of no other program's."""
    if "lc" in item:
        return isinstance(item.get("id"), list) and not unwrapped(item).kind.startswith("class ")
    kind, data = as_text(item.get("type")), as_object(item.get("data"))
    if kind not in _KINDS and kind.removesuffix("Chunk") not in _CLASSES:
        return False
    if "content" in data:
        return True
    # Others name a record "system" or "tool" as well; only LangChain has these fields, or these words for the sides.
    is_own = "additional_kwargs" in item or "response_metadata" in item or kind in ("human", "ai")
    return is_own and "content" in item and (kind == "chat" or "role" not in item)


def messages_in(state: JsonObject) -> dict[str, list[object]]:
    """The lists of messages in a state, by the place of each; the one that graphs usually have comes first."""
    for path in _HOLDERS:
        holder = state
        for name in path:
            holder = as_object(holder.get(name))
        lists = {name: as_list(held) for name, held in holder.items() if any(map(is_message, as_objects(held)))}
        if lists:
            ordered = sorted(lists, key=lambda name: name != "messages")
            return {".".join((*path, name)): list[object](lists[name]) for name in ordered}
    return {}
