"""Read sessions of Hermes: one JSON value with messages of the chat API and what is known about the session."""

from __future__ import annotations

from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import keep_known
from legato.formats.fields import as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.model import ToolSpec, ingest

_META = {"session_id": "session", "cwd": "cwd", "platform": "platform"}
_WITHOUT_WORDS = frozenset({"session_meta"})


def read(content: Content) -> list[Document]:
    """The session."""
    draft = content.draft()
    holder = as_object(content.value())
    keep_known(draft.meta, holder, _META)
    keep_known(draft.meta, as_object(holder.get("model_config")), {"cwd": "cwd"})
    system = first_text(holder, "system_prompt")
    draft.system += [system] if system else []
    for tool in as_objects(holder.get("tools")):
        function = {**tool, **as_object(tool.get("function"))}
        schema = as_object(function.get("parameters")) or as_object(function.get("input_schema"))
        if name := as_text(function.get("name")):
            described = as_text(function.get("description"))
            draft.tools.append(ToolSpec(name, described, ingest(schema)) if schema else ToolSpec(name, described))
    reader = ChatReader(draft)
    if model := first_text(holder, "model"):
        provider = provider_of_model(model)
        draft.model, draft.route = model, route_of(provider, model)
        reader.origin = origin_of(provider, model)
    for item in content.items("messages"):
        if as_text(item.value.get("role")) not in _WITHOUT_WORDS:
            reader.message(item.value, item.place)
    return content.finish(draft)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    holder = head.holder
    is_session = "session_id" in holder and "session_start" in holder and bool(as_objects(holder.get("messages")))
    return "messages beside session_id and session_start" if is_session else ""


FORMAT = Format(
    name="hermes",
    title="Hermes session",
    known_from="published sessions",
    read=read,
    detect=_detect,
    marks=marks("session_id messages"),
)
