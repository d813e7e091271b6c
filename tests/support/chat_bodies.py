"""Bodies of Chat Completions in one line: what the examples of its rules, and of its hosts, are written with."""

from legato.model import Json, JsonObject


def ask(*messages: Json, **fields: Json) -> JsonObject:
    """A body with `messages`, still without a model."""
    return {"messages": list(messages), **fields}


def user(text: str = "What does the file say?") -> JsonObject:
    """A user message."""
    return {"role": "user", "content": text}


def said(text: str = "Hello.", **fields: Json) -> JsonObject:
    """An assistant message without calls."""
    return {"role": "assistant", "content": text, **fields}


def read(call_id: str = "call_1", *, name: str = "read", arguments: str = '{"path": "a.txt"}') -> JsonObject:
    """A call."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: JsonObject, content: Json = None, **fields: Json) -> JsonObject:
    """An assistant message with calls: `read` with the id `call_1` if none are given."""
    return {"role": "assistant", "content": content, "tool_calls": list(made) or [read()], **fields}


def result(call_id: str = "call_1", content: Json = "The file is empty.", **fields: Json) -> JsonObject:
    """A tool message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def tool(name: str, schema: JsonObject | None = None) -> JsonObject:
    """A tool definition."""
    return {"type": "function", "function": {"name": name, "parameters": schema or {"type": "object"}}}


def body_with(text: str, schema: JsonObject) -> JsonObject:
    """A whole body with a text and the schema of a tool's arguments."""
    return ask(user(text), tools=[tool("read", schema)])


IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
TEXT: JsonObject = {"type": "text", "text": "What is in it?"}
SYSTEM: JsonObject = {"role": "system", "content": "Be brief."}
THOUGHT = "The user wants the file."
