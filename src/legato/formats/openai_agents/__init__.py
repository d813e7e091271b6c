"""What the OpenAI Agents SDK keeps: the state of a run, as `RunState.to_string()` gives it, and its SQLite sessions."""

from __future__ import annotations

from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.openai_agents.reading import messages_table, read


def _detect(head: Head) -> str:
    if "$schemaVersion" in head.holder and "original_input" in head.holder:
        return "a $schemaVersion and an original_input"
    table = messages_table(head.tables)
    return f"a table {table} with message_data of sessions" if table else ""


FORMAT = Format(
    name="openai-agents",
    title="OpenAI Agents SDK run state, SQLite sessions",
    known_from="files of openai-agents 0.24.0",
    read=read,
    detect=_detect,
    provider="openai-responses",
    marks=marks("$schemaVersion original_input"),
    # It goes on with the call when a person has answered, and leaves one out that nobody waits for
    # (openai/openai-agents-python, `drop_orphan_function_calls`).
    closes_calls=True,
)
