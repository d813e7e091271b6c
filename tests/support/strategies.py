"""Hypothesis strategies: any conversation, however badly interrupted, mixed up or damaged.

`logs()` starts from arbitrary entries over a small alphabet of ids, so that ids are reused, doubled, missing and mixed
up all the time, or from one of the `histories`; `interleaved()` adds the records that a session writes around them.
`turns()` are those of every day, `restarting()` a whole history whose ids begin anew in every answer.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st
from msgspec.structs import replace

from legato.model import (
    Authority,
    CallId,
    ClosureReason,
    Code,
    Ending,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.model.records import (
    Answered,
    Compacted,
    CompactionKind,
    ContentRefused,
    Opened,
    ReasoningRefused,
    Record,
    Recorded,
    Restored,
    Rewound,
    Started,
    Verdict,
)

from builders import ROUTES, origin
from histories import as_entries, histories

Body: TypeAlias = dict[str, Any]
WIRE_IDS = (
    "",
    "a",
    "call_a",
    "toolu_a",
    "hist_tool_a",
    "hist_tool_a_2",
    "A",
    "a ",
    "call_call_b",
    "functions.read:0",
    "functions.read:1",
    "abcdefgh1",
    "x" * 80,
    "x" * 81,
    "é ?",
    "half \ud800",
)
NAMES = ("read", "grep", "mcp.server/tool", "0weird name", "n" * 150, "\udcff")
NOT_UTF8 = "caf\udce9"
"""a name in an old encoding, as Python reads it from a file system"""
SMALL_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "x", "ü😀", "\ud800"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["k", "path"]), inner, max_size=2)
    ),
    max_leaves=4,
)
TEXTS = st.sampled_from(["", " ", "hello", "line\nline", "\u2003", "[No result: ", "(noted)", "Continue.", NOT_UTF8])
MEDIA = st.sampled_from(
    [
        Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name=f"{NOT_UTF8}.pdf"),
        Media(MediaKind.IMAGE, f"image/{NOT_UTF8}", url=f"https://example.invalid/{NOT_UTF8}.jpg"),
        Media(MediaKind.IMAGE, "image/png", data=NOT_UTF8),
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
        Media(MediaKind.IMAGE, "image/jpeg", url="https://example.invalid/i.jpg"),
        Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf"),
        Media(MediaKind.AUDIO, "audio/wav", data="aGk="),
        Media(MediaKind.VIDEO, "video/mp4", url="https://example.invalid/v.mp4"),
    ]
)
_USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
_RAN = {"type": "tool-call", "toolCallId": "call_9", "toolName": "search", "input": {}, "providerExecuted": True}
_GAVE = {"type": "tool-result", "toolCallId": "call_9", "toolName": "search", "output": {"type": "text", "value": "x"}}
_SERVED = {"toolUse": {"toolUseId": "tooluse_9", "name": "search", "input": {}, "type": "server_tool_use"}}
_CITED = {"toolResult": {"toolUseId": "tooluse_9", "type": "nova_grounding_result", "content": [{"text": "x"}]}}
NATIVES: dict[str, list[Body]] = {
    "anthropic": [{"signature": "c2ln"}, {"redacted": "c2ln"}, {"data": "c2ln"}, {"blocks": [_USE, _FOUND]}],
    "gemini": [
        {"thoughtSignature": "c2ln"},
        {"thought_signature": "c2ln"},
        {"thoughtSignature": "not base64!"},
        {"parts": [{"executableCode": {"code": "1"}, "thoughtSignature": "c2ln"}, {"codeExecutionResult": {}}]},
    ],
    "openai_responses": [
        {"item": {"type": "reasoning", "summary": [], "encrypted_content": "c2ln"}},
        {"item": {"type": "web_search_call", "id": "ws_1", "status": "completed"}},
    ],
    "vercel": [{"parts": [_RAN, _GAVE]}, {"providerOptions": {"openai": {"itemId": "x"}}}],
    "bedrock": [{"signature": "c2ln"}, {"data": "c2ln"}, {"blocks": [_SERVED, _CITED]}, {"blocks": [_CITED]}],
}
"""opaque data as providers give it out, and some that only looks like it"""

KINDS = (
    "text", "thinking", "tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "web_search_tool_result", "image",
    "message", "reasoning", "function_call", "function_call_output", "web_search_call", "computer_call", "shell_call",
    "shell_call_output", "item_reference", "tool-call", "tool-result", "custom", "file", "source", "compaction", "Ä ?",
)  # fmt: skip
FIELDS = (
    "id", "name", "input", "content", "text", "tool_use_id", "cache_control", "call_id", "item_id", "execution", "role",
    "summary", "encrypted_content", "arguments", "output", "toolCallId", "toolName", "providerExecuted", "kind", "data",
    "providerMetadata", "signature", "thoughtSignature", "executableCode", "codeExecutionResult", "toolCall", "status",
    "functionCall", "inlineData", "citations", "caller", "namespace", "phase", "queries", "results",
)  # fmt: skip
VALUES = st.one_of(
    SMALL_JSON, st.sampled_from([True, "srvtoolu_1", "c2ln", {"k": "v"}, [{"type": "text", "text": "t"}]])
)
RECORDS: st.SearchStrategy[Body] = st.builds(
    lambda kind, fields: {**fields, **({} if kind == "nothing" else {"type": kind})},
    st.one_of(st.sampled_from(KINDS), st.just("nothing"), SMALL_JSON),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5),
)
"""what a provider may put among its blocks, with anything in place of its type"""

NATIVE_FIELDS = (
    "signature", "data", "citations", "caller", "blocks", "parts", "thoughtSignature", "groundingMetadata", "item",
    "phase", "namespace", "chunk", "reasoning_details", "extra_content", "providerOptions",
)  # fmt: skip
ANY_NATIVE: st.SearchStrategy[Body] = st.one_of(
    st.sampled_from([native for family in NATIVES.values() for native in family]),
    st.dictionaries(
        st.sampled_from(NATIVE_FIELDS).map(str),
        st.one_of(VALUES, RECORDS, st.lists(st.one_of(RECORDS, VALUES), max_size=2)),
        max_size=2,
    ),
)


def natives() -> st.SearchStrategy[Body | None]:
    return st.one_of(st.none(), ANY_NATIVE)


def calls_() -> st.SearchStrategy[ToolCall]:
    return st.builds(
        ToolCall,
        st.sampled_from(NAMES),
        st.dictionaries(st.sampled_from(["path", "k"]), SMALL_JSON, max_size=2),
        st.sampled_from(WIRE_IDS),
        raw=st.sampled_from([None, None, None, "[1]", '{"path": "x', f'{{"path": "{NOT_UTF8}"}}']),
        finished=st.sampled_from([True, True, True, False]),
        namespace=st.sampled_from(["", "", "", "mcp__files", NOT_UTF8]),
        native=natives(),
    )


def responses() -> st.SearchStrategy[ToolResponse]:
    return st.builds(
        ToolResponse,
        wire_id=st.sampled_from(WIRE_IDS),
        tool_name=st.sampled_from((*NAMES, "")),
        result=SMALL_JSON,
        error=st.sampled_from([None, None, None, "", "failed", NOT_UTF8]),
        said=st.sampled_from([None, None, "no", NOT_UTF8]),
        is_complete=st.sampled_from([None, True, False]),
        media=st.one_of(st.just(()), st.tuples(MEDIA)),
        reason=st.sampled_from([None, None, None, *ClosureReason]),
        synthetic=st.booleans(),
    )


def blocks() -> st.SearchStrategy[object]:
    return st.one_of(
        st.builds(Text, TEXTS, native=natives()),
        st.builds(Thinking, TEXTS, native=natives()),
        calls_(),
        calls_(),
        responses(),
        responses(),
        MEDIA,
        st.builds(Code, TEXTS, st.sampled_from(["", "python", NOT_UTF8])),
        st.builds(
            HostedTool,
            st.sampled_from(["web_search", NOT_UTF8]),
            st.just({"q": "x"}),
            SMALL_JSON,
            silent=st.booleans(),
            native=natives(),
        ),
    )


def origins() -> st.SearchStrategy[Origin | None]:
    return st.one_of(st.none(), st.sampled_from([origin(route) for route in ROUTES]))


def entries() -> st.SearchStrategy[Entry]:
    return st.builds(
        Entry,
        st.sampled_from(Speaker),
        st.lists(blocks(), min_size=1, max_size=4).map(tuple),
        origin=origins(),
        answer=st.sampled_from([None, None, None, "m1", "m2"]),
        ending=st.sampled_from([None, None, Ending.DONE, *Ending]),
        authority=st.sampled_from([Authority.PERSON, Authority.PERSON, Authority.INSTRUCTION]),
    )


def logs(max_size: int = 12) -> st.SearchStrategy[list[Entry]]:
    return _after_a_history(st.lists(entries(), max_size=max_size))


CALL_IDS = st.sampled_from([CallId(f"hist_tool_{stem}") for stem in ("a", "b", "a_2", "abcdefgh1")])


ENDS = st.sampled_from(
    [
        ToolResponse(result="fine"),
        ToolResponse(result=" "),
        ToolResponse(result={"rows": [1, 2]}),
        ToolResponse(error="no such file"),
        ToolResponse(error="broken", result="half of it"),
        ToolResponse(reason=ClosureReason.DENIED, said="not that one"),
        ToolResponse(result="seen", media=(Media(kind=MediaKind.IMAGE, mime="image/png", data="aGk="),)),
        None,
    ]
)
GOOD_ENDS = st.sampled_from([ToolResponse(result="fine"), ToolResponse(result="good")])


def turns(ends: st.SearchStrategy[ToolResponse | None] = ENDS) -> st.SearchStrategy[list[Entry]]:
    """One turn as most of them are: a question, an answer of text and calls, and how each call ended, if it did."""
    names = st.sampled_from(["read", "read", "write", "a tool"])
    called = st.lists(st.tuples(names, ends), max_size=4)
    texts = st.sampled_from(["", "I look", "it is done ", "\n"])
    wire_ids = st.sampled_from(["call_{number}n{n}", "toolu_{number}n{n}", "call_{number}_{n}"])
    return st.builds(_turn, st.integers(0, 10_000), wire_ids, st.booleans(), texts, called, st.booleans())


def _turn(
    number: int,
    wire_id: str,
    asks: bool,
    text: str,
    called: list[tuple[str, ToolResponse | None]],
    together: bool,
) -> list[Entry]:
    calls = [ToolCall(name, {"n": n}, wire_id.format(number=number, n=n)) for n, (name, _) in enumerate(called)]
    said = (*([Text(text)] if text else []), *calls)
    responses = [
        replace(end, wire_id=call.wire_id, tool_name=call.name)
        for call, (_, end) in zip(calls, called, strict=True)
        if end is not None
    ]
    results = [tuple(responses)] if together and responses else [(response,) for response in responses]
    return [
        *([Entry(Speaker.HUMAN, (Text(f"question {number}"),))] if asks else []),
        *([Entry(Speaker.AI, said)] if said else []),
        *(Entry(Speaker.TOOL, blocks) for blocks in results),
    ]


RESTARTING_IDS = ("functions.read:{n}", "call_{n}", "{n}", "call_0")


@st.composite
def restarting(draw: st.DrawFn, rounds: int = 4) -> list[Entry]:
    """A history in which ids begin anew in every answer, trimmed in front; all its calls were answered.

    Some answers come in a row, so that several calls are open under one id. A call asks for a path, and its result is
    that path.
    """
    wire_id = draw(st.sampled_from(RESTARTING_IDS))
    history: list[Entry] = []
    cuts = [0]
    for number in range(draw(st.integers(1, rounds))):
        answers = [
            [(f"{number}.{answer}.{n}", wire_id.format(n=n)) for n in range(draw(st.integers(1, 3)))]
            for answer in range(draw(st.integers(1, 2)))
        ]
        if draw(st.booleans()):
            history.append(Entry(Speaker.HUMAN, (Text("and now?"),)))
        history += [Entry(Speaker.AI, tuple(ToolCall("read", {"path": p}, w) for p, w in asked)) for asked in answers]
        called = [pair for asked in answers for pair in asked]
        order = draw(st.permutations(sorted({w for _, w in called})))
        name = draw(st.sampled_from(["read", ""]))
        given = [ToolResponse(wire_id=w, tool_name=name, result=p) for w in order for p, v in called if v == w]
        cuts += range(len(history), len(history) + len(given) + 1)
        history += [Entry(Speaker.TOOL, (one,)) for one in given]
    return history[draw(st.sampled_from(cuts)) :]


def session_records() -> st.SearchStrategy[Record]:
    """What a session writes between entries, also where it makes no sense."""
    return st.one_of(
        st.builds(Opened, incarnation=st.integers(1, 3)),
        st.builds(Started, call=CALL_IDS),
        st.builds(
            Answered, call=CALL_IDS, verdict=st.sampled_from(Verdict), reason=st.sampled_from([None, "no", NOT_UTF8])
        ),
        st.builds(Rewound, to=st.integers(0, 12)),
        st.builds(ReasoningRefused, origin=st.sampled_from([origin(route) for route in ROUTES])),
        st.builds(
            ContentRefused,
            provider=st.sampled_from([route.partition("/")[0] for route in ROUTES]),
            calls=st.lists(CALL_IDS, max_size=2).map(tuple),
        ),
        compactions(),
        st.builds(Restored, compaction=st.integers(0, 12)),
    )


def compactions() -> st.SearchStrategy[Compacted]:
    return st.one_of(
        st.builds(
            Compacted,
            kind=st.just(CompactionKind.COVER),
            text=st.sampled_from(["what happened so far", NOT_UTF8]),
            window=st.sampled_from([50_000, 10_000_000]),
            first=st.integers(0, 6),
            last=st.integers(0, 12),
        ),
        st.builds(
            Compacted,
            kind=st.sampled_from([CompactionKind.CLIP, CompactionKind.STUB]),
            text=st.just("[shortened]"),
            window=st.sampled_from([50_000, 10_000_000]),
            call=CALL_IDS,
        ),
    )


def interleaved(max_size: int = 14) -> st.SearchStrategy[list[Entry | Record]]:
    return _after_a_history(st.lists(st.one_of(entries(), entries(), entries(), session_records()), max_size=max_size))


def _after_a_history(news: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[list[Any]]:
    """`news`, or a short history with all the habits and accidents of ids and the beginning of `news` behind it."""
    first = st.one_of(restarting(2), st.builds(lambda steps: as_entries(steps[:8]), histories()))
    return st.one_of(news, news, st.builds(lambda before, rest: [*before, *rest[:4]], first, news))


def as_records(news: list[Entry | Record]) -> list[Record]:
    return [Recorded(entry=item) if isinstance(item, Entry) else item for item in news]
