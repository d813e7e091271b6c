"""Records to try a store with: one of each kind, holding what is easily lost on the way to a disk and back."""

from __future__ import annotations

from legato.model.blocks import CallId, Text, Thinking, ToolCall, ToolResponse
from legato.model.closures import ClosureReason
from legato.model.entries import Authority, Ending, Entry, Origin, Speaker, Usage
from legato.model.records import (
    Answered,
    Asked,
    Compacted,
    CompactionKind,
    ContentRefused,
    Imported,
    Opened,
    ReasoningRefused,
    Record,
    Recorded,
    Restored,
    Rewound,
    RouteSelected,
    Started,
    StepBegan,
    StepEnded,
    TurnBegan,
    TurnEnded,
    TurnOutcome,
    Verdict,
)


def say(text: str) -> Record:
    """A record that holds what a person said."""
    return Recorded(entry=Entry(Speaker.HUMAN, (Text(text=text),)))


_CALL = CallId("hist_tool_one")

EVERY_RECORD: tuple[Record, ...] = (
    Opened(incarnation=1, parent="earlier", at=1_700_000_000.25),
    Imported(format="claude-code", digest="d" * 32, entries=0),
    Recorded(entry=Entry(Speaker.HUMAN, (Text(text="Be brief."),), authority=Authority.INSTRUCTION)),
    say("  Was ist\tdas?\n\x1b[31m 🎼 \u2028 é \u202e "),
    RouteSelected(route="anthropic/claude-sonnet-4-5"),
    TurnBegan(turn=1, route="mistral/mistral-large-latest"),
    StepBegan(step=1, target="mistral", attempt=2, digest="x", closures={_CALL: ClosureReason.INTERRUPTED}),
    Recorded(
        entry=Entry(
            Speaker.AI,
            (
                Thinking(text="…", native={"signature": "c2ln", "nested": {"deep": [1, 2.5, None, True]}}),
                ToolCall(name="list", arguments={}, wire_id="call_0", id=_CALL, ordinal=0),
                ToolCall(name="big", arguments={"n": 2**64 - 1, "zero": -0.0}, raw='{"n"', finished=False),
            ),
            origin=Origin("anthropic", "anthropic", "https://host.example", "a", "m", "m-1"),
            answer="1",
            ending=Ending.CALLS,
        )
    ),
    Asked(call=_CALL, digest="shown"),
    Answered(call=_CALL, verdict=Verdict.ALLOWED, arguments={"path": "\ufffd"}),
    Started(call=_CALL, digest="ran"),
    Recorded(entry=Entry(Speaker.TOOL, (ToolResponse(call_id=_CALL, tool_name="list", result={"": [""]}),))),
    StepEnded(step=1, usage=Usage(input=3, output=4), served="m-1"),
    Compacted(kind=CompactionKind.STUB, text="one output", window=1000, call=_CALL),
    Restored(compaction=13),
    Rewound(to=3),
    ReasoningRefused(origin=Origin(dialect="openai_responses")),
    ContentRefused(provider="mistral", calls=(_CALL,)),
    TurnEnded(turn=1, outcome=TurnOutcome.DONE),
)
"""One of each kind, with what is easily lost: empty arguments, exact integers, odd letters."""
