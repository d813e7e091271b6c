"""Read trajectories of mini-swe-agent: the messages of a run, in the form of whichever API the model has.

The run ends with a message of the role `exit`. The call that ended it has no result: the program looks for a mark in
what it prints, and stops.
"""

from __future__ import annotations

from collections.abc import Iterator

from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.fields import as_list, as_object, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.openai_agents.reading import PlacedItem, take_items
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of


def read(content: Content) -> list[Document]:
    """The run."""
    draft = content.draft()
    info = as_object(as_object(content.value()).get("info"))
    model = first_text(as_object(as_object(info.get("config")).get("model")), "model_name")
    provider, slash, bare = model.partition("/")
    provider = (provider_named(provider) if slash else "") or provider_of_model(model)
    draft.model, draft.route = bare or model, route_of(provider, bare or model) if provider else ""
    items = [item for item in content.items("messages") if item.value.get("role") != "exit"]
    if any("output" in item.value for item in items):
        take_items(draft, list(_items(items)))
        return content.finish(draft)
    reader = ChatReader(draft)
    reader.origin = origin_of(provider, draft.model)
    for item in items:
        reader.message(item.value, item.place)
    return content.finish(draft)


def _items(records: list[Item]) -> Iterator[PlacedItem]:
    """The items of the Responses API: each by itself, or those of a whole response."""
    for record in records:
        if isinstance(record.value.get("output"), list) and as_text(record.value.get("type")) == "":
            for index, item in enumerate(as_list(record.value["output"])):
                yield PlacedItem(f"{record.place}.output[{index}]", item)
        else:
            yield PlacedItem(record.place, record.value)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    version = as_text(head.holder.get("trajectory_format"))
    return f"the trajectory_format {version}" if version.startswith("mini-swe-agent") else ""


FORMAT = Format(
    name="mini-swe-agent",
    title="mini-swe-agent trajectory",
    known_from="runs of mini-swe-agent 2.4.6",
    read=read,
    detect=_detect,
    marks=marks("trajectory_format messages"),
    closes_calls=True,  # a run is over: nothing goes on from it
)
