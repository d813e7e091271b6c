"""SQLite files: which are read, that none is changed, and what LangGraph and the OpenAI Agents SDK keep in theirs."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from database_files import make
from legato.errors import FormatError
from legato.formats import detect, read, read_all
from legato.formats.explaining import explain_format
from legato.model import Speaker

AGENTS = """
CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    message_data TEXT NOT NULL, created_at TIMESTAMP);
"""
"""the tables of `SQLiteSession` in openai-agents 0.24.0"""
BRANCHES = """
CREATE TABLE message_structure (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, message_id INTEGER NOT NULL,
    branch_id TEXT NOT NULL DEFAULT 'main', message_type TEXT NOT NULL, sequence_number INTEGER NOT NULL);
"""
"""and the one that `AdvancedSQLiteSession` adds"""
LANGGRAPH = """
CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT,
    checkpoint BLOB, metadata BLOB);
CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, task_path TEXT, idx INTEGER,
    channel TEXT, type TEXT, value BLOB);
"""
"""the tables of `SqliteSaver` in langgraph-checkpoint-sqlite 3.1.2"""

ITEMS = [
    {"role": "user", "content": "look"},
    {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "id": "fc_1"},
    {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
    {"id": "m", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]},
]


def sessions(path: Path) -> Path:
    items = [(number, "s1", json.dumps(item), None) for number, item in enumerate(ITEMS, 1)]
    others = [(7, "s2", '{"role": "user", "content": "second"}', None), (8, "s2", "{torn", None)]
    return make(path, AGENTS, agent_messages=[*items, *others])


# --- any of them ------------------------------------------------------------------------------------------------------


def test_a_database_is_read_from_a_path_and_from_its_bytes(tmp_path: Path) -> None:
    path = sessions(tmp_path / "a #1?.db")
    data = path.read_bytes()
    for source in (path, str(path), data, io.BytesIO(data)):
        documents = read_all(source)
        assert [document.meta["session"] for document in documents] == ["s1", "s2"]
        assert documents[0].digest == read_all(path)[0].digest
    other = make(tmp_path / "b.db", AGENTS, agent_messages=[(1, "s", '{"role": "user", "content": "x"}', None)])
    assert documents[0].digest != read_all(other)[0].digest


def test_nothing_is_left_beside_a_database_and_it_stays_as_it_is(tmp_path: Path) -> None:
    path = sessions(tmp_path / "kept.db")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(read_all(path)) == 2
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before == {"kept.db": path.read_bytes()}


@pytest.mark.parametrize("is_open", [True, False], ids=["still open", "left behind"])
def test_what_is_not_in_the_file_itself_yet_is_read(tmp_path: Path, is_open: bool) -> None:
    path = sessions(tmp_path / "live.db")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute('INSERT INTO agent_messages VALUES (9, \'s3\', \'{"role": "user", "content": "new"}\', NULL)')
    connection.commit()
    if not is_open:
        (tmp_path / "left").mkdir()
        for name in ("live.db", "live.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / "left" / name)
        connection.close()
        path = tmp_path / "left" / "live.db"
    before = sorted(path.parent.iterdir())
    assert [document.meta["session"] for document in read_all(path)] == ["s1", "s2", "s3"]
    assert sorted(path.parent.iterdir()) == before
    connection.close()


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    other = make(tmp_path / "other.db", "CREATE TABLE songs (title TEXT)")
    with pytest.raises(FormatError, match="an SQLite database, but none of those that are read here"):
        detect(other)
    broken = tmp_path / "broken.db"
    broken.write_bytes(other.read_bytes()[:100] + b"\xff" * 900)
    with pytest.raises(FormatError, match="cannot be read as an SQLite database"):
        detect(broken)
    path = sessions(tmp_path / "agents.db")
    for asked in ("codex", "cline", "openai-chat"):
        with pytest.raises(FormatError, match="this is an SQLite database"):
            read_all(path, format=asked)


def test_a_name_from_a_damaged_database_stays_on_the_line_of_its_error(tmp_path: Path) -> None:
    data = sessions(tmp_path / "agents.db").read_bytes()
    torn = data.replace(b"sqlite_autoindex_agent_sessions_1", b"sqlite_autoindex_agent_sessions\n1")
    with pytest.raises(FormatError, match=r"cannot be read as an SQLite database: .*agent_sessions 1") as caught:
        read_all(torn)
    assert "\n" not in caught.value.message


def test_what_a_database_is_taken_for_is_explained(tmp_path: Path) -> None:
    told = explain_format(sessions(tmp_path / "a.db"))
    assert (told.layout, told.format, [str(sign) for sign in told.evidence]) == (
        "an SQLite database",
        "openai-agents",
        ["a table agent_messages with message_data of sessions"],
    )


# --- the OpenAI Agents SDK --------------------------------------------------------------------------------------------


def test_every_session_of_the_agents_sdk_is_a_conversation(tmp_path: Path) -> None:
    path = sessions(tmp_path / "a.db")
    assert detect(path).format == "openai-agents"
    first, second = read_all(path)
    assert (first.name, first.meta) == (f"{path}, session s1", {"session": "s1"})
    assert [(entry.speaker, entry.text) for entry in first.entries] == [
        (Speaker.HUMAN, "look"),
        (Speaker.AI, ""),
        (Speaker.TOOL, ""),
        (Speaker.AI, "One."),
    ]
    assert first.places == ["row 1", "row 2", "row 3", "row 4"]
    assert [call.state for call in first.conversation().ledger.calls.values()] == ["complete"]
    assert [str(note) for note in second.notes] == ["row 8: is no JSON and was left out"]


def test_tables_may_have_other_names(tmp_path: Path) -> None:
    script = AGENTS.replace("agent_messages", '"my ""own"" rows"')
    path = make(tmp_path / "a.db", script, **{'"my ""own"" rows"': [(1, "s", json.dumps(ITEMS[0]), None)]})
    assert [entry.text for entry in read(path).entries] == ["look"]


def test_branches_of_a_session_are_conversations(tmp_path: Path) -> None:
    texts = ("one", "two", "three", "three B")
    rows = [(number, "s", json.dumps({"role": "user", "content": text}), None) for number, text in enumerate(texts, 1)]
    told = [("main", 1), ("main", 2), ("main", 3), ("alt", 1), ("alt", 4), ("alt", 2)]
    structure = [
        (place, "s", message, branch, "user", 9 if (branch, message) == ("alt", 4) else place)
        for place, (branch, message) in enumerate(told, 1)
    ]
    path = make(tmp_path / "a.db", AGENTS + BRANCHES, agent_messages=rows, message_structure=structure)
    documents = read_all(path)
    assert [document.meta["session"] for document in documents] == ["s", "s, branch alt"]
    assert [[entry.text for entry in document.entries] for document in documents] == [
        ["one", "two", "three"],
        ["one", "two", "three B"],
    ]


# --- LangGraph --------------------------------------------------------------------------------------------------------


def packed(value: Any) -> bytes:
    """MessagePack with messages in extensions, as langgraph 1.2.20 writes them."""

    def extension(item: object) -> msgspec.msgpack.Ext:
        assert isinstance(item, Message)
        path = (
            f"langchain_core.messages.{item.kind.lower()}",
            f"{item.kind}Message",
            item.fields,
            "model_validate_json",
        )
        return msgspec.msgpack.Ext(5, msgspec.msgpack.encode(path))

    return msgspec.msgpack.encode(value, enc_hook=extension)


class Message:
    def __init__(self, kind: str, content: str, **fields: Any) -> None:
        self.kind = kind
        self.fields = {"content": content, "additional_kwargs": {}, "type": kind.lower(), **fields}


CALLS = [{"name": name, "args": {}, "id": wire_id} for name, wire_id in (("ls", "c1"), ("ask", "c2"))]
LOOKING = [Message("Human", "go"), Message("AI", "Looking.", tool_calls=CALLS)]


def checkpoint(thread: str, number: int, values: Any, space: str = "", kind: str = "msgpack") -> tuple[Any, ...]:
    return thread, space, f"id-{number}", None, kind, packed({"v": 4, "channel_values": values}), b"{}"


def test_the_last_state_of_each_thread_is_read_with_what_was_written_since(tmp_path: Path) -> None:
    ended = packed([Message("Tool", "a.txt", tool_call_id="c1", name="ls", status="success")])
    path = make(
        tmp_path / "graph.sqlite",
        LANGGRAPH,
        checkpoints=[
            checkpoint("t1", 1, {"messages": LOOKING[:1]}),
            checkpoint("t1", 2, {"messages": LOOKING}),
            checkpoint("t1", 3, {"messages": LOOKING[:1]}, space="inner:1"),
            checkpoint("t2", 1, {"topic": "no messages"}),
            checkpoint("t3", 1, {}, kind="msgpack+aes"),
        ],
        writes=[
            ("t1", "", "id-1", "a", "", 0, "messages", "msgpack", packed([Message("Human", "an old one")])),
            ("t1", "", "id-2", "a", "", 0, "branch:to:x", "null", b""),
            ("t1", "", "id-2", "a", "", 1, "messages", "msgpack", ended),
            ("t1", "", "id-2", "b", "", 0, "__interrupt__", "msgpack", packed([{"value": "ok?"}])),
        ],
    )
    assert detect(path).reason == "a table of LangGraph's checkpoints"
    first, inner, sealed = read_all(path)
    assert [entry.text for entry in first.entries] == ["go", "Looking.", ""]
    assert [(call.wire_id, call.state) for call in first.conversation().ledger.calls.values()] == [
        ("c1", "complete"),
        ("c2", "pending"),
    ]
    assert (first.meta, first.notes) == ({"session": "t1"}, [])
    assert (inner.meta, [entry.text for entry in inner.entries]) == ({"session": "t1, graph inner:1"}, ["go"])
    assert [str(note) for note in sealed.notes] == [
        "checkpoint: a value of type 'msgpack+aes' is not understood and was left out"
    ]


def test_a_snapshot_and_a_damaged_checkpoint_are_named(tmp_path: Path) -> None:
    snapshot = msgspec.msgpack.Ext(7, packed(LOOKING[:1]))
    whole = msgspec.msgpack.encode({"channel_values": {"messages": snapshot}})
    rows = [("t1", "", "1", None, "msgpack", whole, b""), ("t2", "", "1", None, "msgpack", b"\xc1", b"")]
    first, second = read_all(make(tmp_path / "a.db", LANGGRAPH, checkpoints=rows))
    assert [entry.text for entry in first.entries] == ["go"]
    assert [str(note) for note in (*first.notes, *second.notes)] == [
        "checkpoint: a channel is kept as a snapshot; what was added since is not carried",
        "checkpoint: the msgpack in it cannot be read and was left out",
    ]


# --- opencode ---------------------------------------------------------------------------------------------------------

OPENCODE = """
CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, version TEXT, parent_id TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
"""
"""those columns of opencode 1.18.33 that are looked at"""


def test_opencode_keeps_sessions_messages_and_parts(tmp_path: Path) -> None:
    done = {"type": "tool", "tool": "ls", "callID": "c", "state": {"status": "completed", "input": {}, "output": "a"}}
    path = make(
        tmp_path / "opencode.db",
        OPENCODE,
        session=[
            ("ses_2", "/work", "Later", "1.18.33", "ses_1", 2_000),
            ("ses_1", "/work", "First", "1.18.33", None, 1_000),
            ("ses_0", "/work", "Empty", "1.18.33", None, 500),
        ],
        message=[
            ("msg_2", "ses_1", 20, json.dumps({"role": "assistant", "modelID": "m", "providerID": "p"})),
            ("msg_1", "ses_1", 10, json.dumps({"role": "user", "time": {"created": 1735689600000}})),
            ("msg_3", "ses_2", 30, json.dumps({"role": "user"})),
            ("msg_4", "ses_2", 40, "{torn"),
        ],
        part=[
            ("prt_3", "msg_2", "ses_1", json.dumps({"type": "text", "text": "One."})),
            ("prt_2", "msg_2", "ses_1", json.dumps(done)),
            ("prt_1", "msg_1", "ses_1", json.dumps({"type": "text", "text": "look"})),
            ("prt_4", "msg_3", "ses_2", json.dumps({"type": "text", "text": "second"})),
        ],
    )
    assert detect(path).format == "opencode"
    first, later = read_all(path)
    assert [(entry.speaker, entry.text) for entry in first.entries] == [
        (Speaker.HUMAN, "look"),
        (Speaker.AI, "One."),
        (Speaker.TOOL, ""),
    ]
    assert [call.state for call in first.conversation().ledger.calls.values()] == ["complete"]
    assert (first.meta["session"], first.meta["cwd"], first.meta["title"]) == ("ses_1", "/work", "First")
    assert (later.meta["parent"], first.times) == ("ses_1", {0: 1735689600.0})
    assert later.name.endswith("opencode.db (Later)")
    assert [str(note) for note in later.notes] == [
        "messages[1]: a message of role '' is not understood and was left out"
    ]
