"""LangChain messages, and the states of LangGraph that hold them.

The forms are those that langchain-core 1.7 and langgraph 1.2 write: `dumps` (objects with `lc` and a class path),
`messages_to_dict`, and `model_dump()`, each as a list or inside a state; and the SQLite files of `SqliteSaver`.
"""

from __future__ import annotations

from legato.formats.format import Format, Outgoing, Written, marks
from legato.formats.head import Head
from legato.formats.langchain.checkpoints import are_checkpoints
from legato.formats.langchain.forms import is_message, messages_in
from legato.formats.langchain.reading import read


def _detect(head: Head) -> str:
    if are_checkpoints(head.tables):
        return "a table of LangGraph's checkpoints"
    if any(map(is_message, (*head.records, *head.items))):
        return "dumped LangChain messages"
    states = (channels for record in (*head.records, *head.items) if (channels := messages_in(record)))
    return next((f"LangChain messages under {place}" for channels in states for place in channels), "")


# Writing takes more of the house than reading does, so it is loaded when it is needed.


def _write(out: Outgoing) -> Written:
    from legato.formats.langchain.write import write_file

    return write_file(out)


FORMAT = Format(
    name="langchain",
    title="LangChain messages, LangGraph state",
    known_from="files of langchain-core 1.7.2 and langgraph 1.2.20",
    read=read,
    detect=_detect,
    write=_write,
    marks=marks("lc", "type data", "type content"),
)
