"""Session files that others published, of agents whose formats are read here."""

from __future__ import annotations

from collections import Counter

import pytest

from dialect_support import SAMPLES
from legato.formats import read

KIMI = "kimi/legacy"
STAGE = "agent-sessions-multi/stage0/agents"
COPILOT = f"{STAGE}/copilot"
QWEN = "agent-sessions-multi/stage0/agents/qwen"

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="there are no samples here")


@pytest.mark.parametrize(
    ("path", "format_", "entries", "calls"),
    [
        (f"{QWEN}/019f0000-0000-7000-8000-000000000004.jsonl", "qwen-code", 4, {"pending": 1}),
        (f"{QWEN}/019f0000-0000-7000-8000-000000000005.jsonl", "qwen-code", 2, {}),
        (f"{QWEN}/system_telemetry.jsonl", "qwen-code", 2, {"complete": 1}),
        (f"{COPILOT}/large.jsonl", "copilot-cli", 10, {"complete": 1, "pending": 1}),
        (f"{COPILOT}/schema_drift.jsonl", "copilot-cli", 4, {"complete": 1, "error": 1}),
        (f"{COPILOT}/subdir_v1/aaaabbbb-1111-2222-3333-ccccddddeeee/events.jsonl", "copilot-cli", 4, {"complete": 1}),
        (f"{STAGE}/cursor/large.jsonl", "cursor", 10, {"complete": 2}),
        (f"{STAGE}/cursor/schema_drift.jsonl", "cursor", 4, {"complete": 1}),
        (f"{STAGE}/cursor/small.jsonl", "cursor", 4, {"pending": 1}),
        (f"{STAGE}/cursor/subagent/parent.jsonl", "cursor", 2, {"pending": 1}),
        (f"{STAGE}/droid/session_store_schema_drift.jsonl", "droid", 2, {}),
        (f"{STAGE}/droid/stream_json_schema_drift.jsonl", "droid", 4, {"error": 1}),
        (f"{STAGE}/droid/stream_json_small.jsonl", "droid", 4, {"complete": 1}),
        (f"{STAGE}/grok/subagent/chat_history.jsonl", "grok-cli", 5, {"complete": 1}),
        (f"{STAGE}/hermes/large.json", "hermes", 4, {"complete": 1}),
        (f"{STAGE}/hermes/small.json", "hermes", 2, {}),
        (f"{STAGE}/openclaw/large.jsonl", "pi", 6, {"complete": 2}),
        (f"{KIMI}/with-tool-calls/wire.jsonl", "kimi-code", 4, {"error": 1}),
        (f"{KIMI}/with-image/wire.jsonl", "kimi-code", 4, {}),
        (f"{KIMI}/with-subagent-collapsed/wire.jsonl", "kimi-code", 2, {"pending": 2}),
        (f"{KIMI}/large-100msgs/wire.jsonl", "kimi-code", 45, {"complete": 28}),
        ("kimi/vis/sessions/sample-compaction/agents/main/wire.jsonl", "kimi-code", 3, {}),
    ],
)
def test_published_sessions_are_read(path: str, format_: str, entries: int, calls: dict[str, int]) -> None:
    document = read(SAMPLES / path)
    assert (document.format, len(document.entries)) == (format_, entries)
    assert Counter(call.state for call in document.conversation().ledger.calls.values()) == calls
