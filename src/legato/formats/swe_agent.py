"""Read trajectories of SWE-agent: the history of a run, as it was sent to the model.

Messages are in the form of chat, with fields of the program's own beside: the thought and the command that it found in
an answer. A result names its calls in a list, although the program runs one command at a time. Without tools a model
writes commands into its words, and what they print is the next message of the user; that is read as it was sent.
"""

from __future__ import annotations

from legato.errors import IngestError
from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.fields import as_list, as_object, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import JsonObject, read_json_leniently


def read(content: Content) -> list[Document]:
    """The run."""
    draft = content.draft()
    model = _model(as_object(content.value()))
    provider, slash, bare = model.partition("/")
    provider = (provider_named(provider) if slash else "") or provider_of_model(model)
    draft.model, draft.route = bare or model, route_of(provider, bare or model) if provider else ""
    reader = ChatReader(draft)
    reader.origin = origin_of(provider, draft.model)
    for item in content.items("history"):
        message = item.value
        answered = as_list(message.get("tool_call_ids"))
        if answered:  # whoever is said to speak: it is a result
            message = {**message, "tool_call_id": answered[0]}
        reader.message(message, item.place)
    return content.finish(draft)


def _model(run: JsonObject) -> str:
    """The model as the settings of the run name it, which are there as text."""
    try:
        settings = read_json_leniently(as_text(run.get("replay_config")) or "{}")
    except IngestError:
        return ""
    return first_text(as_object(as_object(as_object(settings).get("agent")).get("model")), "name")


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    has_both = all(isinstance(head.holder.get(name), list) for name in ("trajectory", "history"))
    return "a trajectory and its history" if has_both else ""


FORMAT = Format(
    name="swe-agent",
    title="SWE-agent trajectory",
    known_from="published trajectories",
    read=read,
    detect=_detect,
    marks=marks("trajectory history"),
    closes_calls=True,  # a run is over: nothing goes on from it
)
