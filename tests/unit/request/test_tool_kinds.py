"""Tools of every kind, in every dialect: functions, free text, tools of a provider's own, and namespaces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from legato import Conversation, render
from legato.errors import ImpossibleRequest
from legato.formats import read, write
from legato.formats.document import Document
from legato.model import (
    Action,
    Answer,
    CallKind,
    Choice,
    Ending,
    Entry,
    JsonObject,
    Options,
    Speaker,
    SpecKind,
    TextGrammar,
    ToolCall,
    ToolSpec,
)
from legato.request import parse
from legato.request.request import Request
from legato.tools.checks import Runnable, check_call
from legato.tools.registry import Tool, ToolBox
from legato.wire.arguments import read_arguments
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from on_the_wire import tools_of

from builders import OTHER_ROUTES, ROUTES, ai, call, result, talk, user

ALL_ROUTES = (*ROUTES, *OTHER_ROUTES)
RESPONSES, CHAT = "openai-responses/gpt-5.1", "openai/gpt-4o"
SEARCH = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
LARK = TextGrammar("lark", 'start: "*** Begin Patch" LF')
PATCH = ToolSpec("apply_patch", "Edit files.", kind=SpecKind.CUSTOM, grammar=LARK)
SPACES = (
    ToolSpec("search", "Search songs.", SEARCH, namespace="mcp__songs", namespace_description="Songs."),
    ToolSpec("search", "Search books.", SEARCH, namespace="mcp__books", namespace_description="Books."),
)


def defined(request: Request) -> list[str]:
    """The names of the tools in a body."""
    tools = tools_of(request.body)
    if isinstance(tools, dict):
        return list(tools)
    names: list[str] = []
    for tool in tools:
        if tool.get("type") == "namespace":
            names += [f"{tool['name']}/{one['name']}" for one in tool["tools"]]
        elif "functionDeclarations" in tool:
            names += [one["name"] for one in tool["functionDeclarations"]]
        elif "cachePoint" not in tool:
            names.append((tool.get("function") or tool.get("custom") or tool.get("toolSpec") or tool)["name"])
    return names


def answered(request: Request, wire: ToolCall, *, streamed: bool = False) -> ToolCall:
    """The call that is read from an answer in which the provider makes the call `wire`."""
    parts = dialect_parts(request.target.dialect)
    answer = Answer(Entry(Speaker.AI, (wire,), ending=Ending.CALLS), response_id="r1")
    if streamed:
        decoder = request.decoder()
        deltas = [delta for data in parts.reply_stream(answer, "m") for delta in decoder.feed(data)]
        (block,) = decoder.finish().entry.blocks
        assert isinstance(block, ToolCall)
        assert_told(deltas, block)
    else:
        (block,) = request.decode(parts.reply(answer, "m")).entry.blocks
    assert isinstance(block, ToolCall)
    return block


def assert_told(deltas: list[Delta], call: ToolCall) -> None:
    """The deltas tell of the same tool as the answer, and of the same arguments."""
    begun = [delta.block for delta in deltas if isinstance(delta, BlockStart) and isinstance(delta.block, ToolCall)]
    pieces = [delta for delta in deltas if isinstance(delta, CallDelta)]
    assert [delta.block for delta in deltas if isinstance(delta, BlockDone)] == [call]
    assert all((one.name, one.namespace, one.kind) == (call.name, call.namespace, call.kind) for one in begun)
    assert {delta.name for delta in pieces if delta.name} <= {call.name}
    if pieces:
        written = "".join(delta.arguments for delta in pieces)
        assert written == call.arguments["input"] if call.kind is CallKind.CUSTOM else json.loads(written)


def as_provider(request: Request, name: str, arguments: JsonObject, **fields: Any) -> ToolCall:
    space, _, bare = name.rpartition("/")
    return ToolCall(bare, arguments, "call_1", namespace=space, **fields)


def refusals(request: Request) -> list[str]:
    return [violation.rule for violation in request.check() if violation.severity is Severity.REFUSED]


def decided(request: Request, reason: str) -> list[str]:
    return [decision.detail for decision in request.report.decisions if decision.reason == reason]


# --- namespaces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("route", ALL_ROUTES)
def test_tools_of_two_namespaces_never_share_a_name_and_each_call_finds_its_own(route: str, streamed: bool) -> None:
    request = render(talk(user("hi")), route, tools=SPACES)
    request.verify()
    names = defined(request)
    assert len(set(names)) == 2
    found = [answered(request, as_provider(request, name, {"q": "x"}), streamed=streamed) for name in names]
    assert [(one.namespace, one.name, one.arguments) for one in found] == [
        ("mcp__songs", "search", {"q": "x"}),
        ("mcp__books", "search", {"q": "x"}),
    ]


@pytest.mark.parametrize("route", ALL_ROUTES)
def test_a_call_in_the_history_has_the_name_under_which_its_tool_is_offered(route: str) -> None:
    made = ToolCall("search", {"q": "x"}, "call_1", namespace="mcp__books")
    request = render(talk(user("hi"), ai(made), result("call_1")), route, tools=SPACES)
    assert refusals(request) == []
    again = parse(request.copy(), route)
    (seen,) = [block for entry in again.entries for block in entry.blocks if isinstance(block, ToolCall)] or [None]
    if seen is not None:  # else the target takes no calls
        name = f"{seen.namespace}/{seen.name}" if seen.namespace else seen.name
        assert name == defined(request)[1]


def test_namespaces_stay_namespaces_where_they_exist() -> None:
    request = render(talk(user("hi")), RESPONSES, tools=(SPACES[0], PATCH, SPACES[1]))
    assert [(tool["type"], tool["name"]) for tool in request.body["tools"]] == [
        ("namespace", "mcp__songs"),
        ("custom", "apply_patch"),
        ("namespace", "mcp__books"),
    ]
    assert request.report.decisions == ()


@pytest.mark.parametrize("route", ALL_ROUTES)
def test_a_tool_is_forced_by_its_name_with_the_namespace(route: str) -> None:
    request = render(talk(user("hi")), route, tools=SPACES, options=Options(tool="mcp__books.search"))
    assert refusals(request) == []
    with pytest.raises(ImpossibleRequest, match="name it with its namespace"):
        render(talk(user("hi")), route, tools=SPACES, options=Options(tool="search"))


NAMES = st.text(alphabet="ab_. ", min_size=1, max_size=6)


@settings(max_examples=60)
@given(
    st.sampled_from(ROUTES),
    st.lists(st.tuples(st.just("") | NAMES, NAMES), min_size=1, max_size=6, unique=True),
)
def test_any_tools_get_names_of_their_own_and_their_calls_find_them_again(
    route: str, tools: list[tuple[str, str]]
) -> None:
    specs = [ToolSpec(name, namespace=namespace) for namespace, name in tools]
    request = render(talk(user("hi")), route, tools=specs)
    names = defined(request)
    assert len(set(names)) == len(tools)
    found = [answered(request, as_provider(request, name, {})) for name in names]
    assert {(one.namespace, one.name) for one in found} == set(tools)


def test_a_history_without_tools_gets_stand_ins_under_the_names_of_its_calls() -> None:
    made = ToolCall("search", {}, "call_1", namespace="mcp__books")
    request = render(talk(user("hi"), ai(made), result("call_1")), "anthropic/claude-sonnet-4-5")
    assert refusals(request) == []
    assert defined(request) == [request.body["messages"][1]["content"][0]["name"]] == ["mcp__books__search"]


# --- free text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("route", ALL_ROUTES)
def test_a_call_of_a_custom_tool_is_a_custom_call_whoever_made_it(route: str, streamed: bool) -> None:
    request = render(talk(user("hi")), route, tools=[PATCH])
    assert refusals(request) == []
    is_own = route.startswith(("openai/", "openai-responses/"))
    kind = CallKind.CUSTOM if is_own else CallKind.FUNCTION
    made = answered(request, as_provider(request, "apply_patch", {"input": "*** x"}, kind=kind), streamed=streamed)
    assert (made.name, made.kind, made.arguments) == ("apply_patch", CallKind.CUSTOM, {"input": "*** x"})
    assert bool(decided(request, "custom-tool")) is not is_own


def test_a_custom_tool_keeps_its_grammar_where_there_are_custom_tools() -> None:
    grammar = {"syntax": "lark", "definition": LARK.definition}
    (in_chat,) = render(talk(user("hi")), CHAT, tools=[PATCH]).body["tools"]
    (in_responses,) = render(talk(user("hi")), RESPONSES, tools=[PATCH]).body["tools"]
    assert in_chat["custom"]["format"] == {"type": "grammar", "grammar": grammar}
    assert in_responses["format"] == {"type": "grammar", **grammar}
    for route, tool in ((CHAT, in_chat), (RESPONSES, in_responses)):
        body = {**render(talk(user("hi")), route).copy(), "tools": [tool]}
        (read,) = parse(body, route).tools
        assert (read.kind, read.grammar, read.description) == (SpecKind.CUSTOM, LARK, "Edit files.")


def test_a_function_in_its_place_tells_the_grammar() -> None:
    (tool,) = render(talk(user("hi")), "anthropic/claude-sonnet-4-5", tools=[PATCH]).body["tools"]
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
    }
    assert tool["description"] == f"Edit files.\n\nThe text has to match this lark grammar:\n{LARK.definition}"


def test_text_that_a_model_wrote_without_json_around_it_is_the_text() -> None:
    request = render(talk(user("hi")), "kimi/kimi-k2-thinking", tools=[PATCH])
    function = {"name": "apply_patch", "arguments": "*** Begin Patch"}
    message = {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]}
    (made,) = request.decode({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).entry.blocks
    assert isinstance(made, ToolCall)
    assert (made.kind, made.arguments, made.raw) == (CallKind.CUSTOM, {"input": "*** Begin Patch"}, None)


OTHER_ARGUMENTS: list[tuple[str, str]] = [
    ('{"patch":"*** x"}', "*** x"),
    ('{"input":"*** x","dry":true}', '{"input":"*** x","dry":true}'),
    ('{"input":["*** x"]}', '{"input":["*** x"]}'),
    ("{}", "{}"),
    ('["*** x"]', '["*** x"]'),
    ("*** Begin Patch", "*** Begin Patch"),
    ('{"input":"*** x}', '{"input":"*** x}'),
    ('{"input":"*** x"; }', '{"input":"*** x"; }'),
]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("written", "text"), OTHER_ARGUMENTS)
@pytest.mark.parametrize("route", ["kimi/kimi-k2-thinking", "anthropic/claude-sonnet-4-5"])
def test_a_custom_tool_is_called_with_free_text_whatever_the_model_wrote(
    route: str, written: str, text: str, streamed: bool
) -> None:
    request = render(talk(user("hi")), route, tools=[PATCH])
    value, raw, finished = read_arguments(written)
    wire = ToolCall("apply_patch", value, "call_1", raw=raw, finished=finished)
    parts = dialect_parts(request.target.dialect)
    answer = Answer(Entry(Speaker.AI, (wire,), ending=Ending.CALLS), response_id="r1")
    told: list[Delta] = []
    if streamed:
        decoder = request.decoder()
        told = [delta for data in parts.reply_stream(answer, "m") for delta in decoder.feed(data)]
        (made,) = decoder.finish().calls
    else:
        (made,) = request.decode(parts.reply(answer, "m")).calls
    assert (made.kind, made.arguments, made.raw) == (CallKind.CUSTOM, {"input": text}, None)
    if told:
        assert_told(told, made)


@pytest.mark.parametrize("route", ALL_ROUTES)
def test_a_custom_call_of_any_provider_goes_to_openai_as_one(route: str) -> None:
    conversation = talk(user("hi"))
    request = render(conversation, route, tools=[PATCH])
    parts = dialect_parts(request.target.dialect)
    is_own = route.startswith(("openai/", "openai-responses/"))
    kind = CallKind.CUSTOM if is_own else CallKind.FUNCTION
    wire = ToolCall("apply_patch", {"input": "*** x"}, "call_1", kind=kind)
    answer = Answer(Entry(Speaker.AI, (wire,), ending=Ending.CALLS), response_id="r1")
    conversation.record(request.decode(parts.reply(answer, "m")))
    conversation.record(result("call_1", "done"))
    if request.target.capabilities.native_tool_history:
        items = render(conversation, RESPONSES, tools=[PATCH]).body["input"]
        kinds = [item["type"] for item in items]
        assert kinds == ["message", "custom_tool_call", "custom_tool_call_output"]
        assert (items[1]["input"], items[2]["output"]) == ("*** x", "done")


def test_custom_and_namespaced_items_go_round() -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": "*** x"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "done"},
        {"type": "function_call", "call_id": "call_2", "name": "search", "arguments": "{}", "namespace": "mcp__songs"},
        {"type": "function_call_output", "call_id": "call_2", "output": "found"},
        {"type": "custom_tool_call", "call_id": "call_3", "name": "sql", "input": "x", "namespace": "db"},
        {"type": "custom_tool_call_output", "call_id": "call_3", "output": "y"},
    ]
    parsed = parse({"model": "gpt-5.1", "input": items}, RESPONSES)
    for _ in range(2):
        body = render(parsed.conversation(), RESPONSES).copy()
        assert body["input"] == items
        parsed = parse(body, RESPONSES)


# --- tools of a provider's own ----------------------------------------------------------------------------------------

HOSTED: dict[str, JsonObject] = {
    "anthropic/claude-sonnet-4-5": {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
    RESPONSES: {"type": "web_search", "external_web_access": True},
    "gemini/gemini-3-pro-preview": {"googleSearch": {}},
    "kimi/kimi-k2-thinking": {"type": "builtin_function", "function": {"name": "$web_search"}},
}
VERCEL_OWN = {"search": {"type": "provider", "id": "openai.web_search", "args": {}}}


@pytest.mark.parametrize("home", HOSTED)
@pytest.mark.parametrize("route", ROUTES)
def test_a_tool_of_a_providers_own_goes_home_and_nowhere_else(home: str, route: str) -> None:
    messages = dialect_parts(parse_target(home)).messages_field
    body = {messages: render(talk(user("hi")), home).copy()[messages], "tools": [HOSTED[home]]}
    (tool,) = parse(body, home).tools
    assert tool.kind is SpecKind.HOSTED
    request = render(talk(user("hi")), route, tools=[ToolSpec("read"), tool], options=Options(cache=False))
    assert refusals(request) == []
    if route == home:
        assert HOSTED[home] in tools_of(request.body)
        assert decided(request, "hosted-tool-definition") == []
    else:
        assert defined(request) == ["read"]
        assert len(decided(request, "hosted-tool-definition")) == 1


def parse_target(route: str) -> Any:
    return render(Conversation(), route).target.dialect


def test_the_ai_sdks_own_tools_stay_there() -> None:
    parsed = parse({"messages": [{"role": "user", "content": "hi"}], "tools": VERCEL_OWN}, "vercel/any")
    assert render(parsed.conversation(), "vercel/any", tools=parsed.tools).body["tools"] == VERCEL_OWN
    assert "tools" not in render(parsed.conversation(), CHAT, tools=parsed.tools).body


@pytest.mark.parametrize("route", ROUTES)
def test_a_definition_that_is_given_as_it_is_belongs_to_whom_it_looks_like(route: str) -> None:
    given = [HOSTED["anthropic/claude-sonnet-4-5"], HOSTED[RESPONSES], HOSTED["gemini/gemini-3-pro-preview"]]
    request = render(talk(user("hi")), route, tools=given, options=Options(cache=False))
    sent: list[JsonObject] = list(request.body.get("tools", []))
    assert sent == ([HOSTED[route]] if route in HOSTED and route != "kimi/kimi-k2-thinking" else [])


@pytest.mark.parametrize(
    ("options", "decisions"),
    [
        (Options(choice=Choice.AUTO), []),
        (Options(choice=Choice.NONE), [("tool-choice", "where no function is offered")]),
        (Options(choice=Choice.REQUIRED), [("forced-tool", "only functions can be forced here")]),
        (Options(tool="google_search"), [("forced-tool", "only functions can be forced here")]),
    ],
    ids=["auto", "none", "required", "one"],
)
def test_gemini_is_told_of_no_choice_among_its_own_tools(options: Options, decisions: list[tuple[str, str]]) -> None:
    search = ToolSpec("google_search", kind=SpecKind.HOSTED, home="gemini", native={"googleSearch": {}})
    request = render(talk(user("hi")), "gemini/gemini-2.5-pro", tools=[search], options=options)
    request.verify()
    assert "toolConfig" not in request.body
    adjusted = [one for one in request.report.decisions if one.action is Action.ADJUSTED]
    assert [(one.reason, said in one.detail) for one, (_, said) in zip(adjusted, decisions, strict=True)] == [
        (reason, True) for reason, _ in decisions
    ]


def test_a_tool_of_the_providers_own_can_be_forced_at_home_only() -> None:
    search = HOSTED["anthropic/claude-sonnet-4-5"]
    options = Options(tool="web_search", cache=False)
    at_home = render(talk(user("hi")), "anthropic/claude-sonnet-4-5", tools=[search], options=options)
    assert at_home.body["tool_choice"] == {"type": "tool", "name": "web_search"}
    away = render(talk(user("hi")), CHAT, tools=[search, ToolSpec("read")], options=options)
    assert away.body["tool_choice"] == "auto"
    assert decided(away, "forced-tool") == ["web_search cannot be offered here, so it cannot be forced"]
    alone = render(talk(user("hi")), CHAT, tools=[search], options=options)
    assert "tool_choice" not in alone.body
    assert refusals(alone) == []


def test_definitions_in_every_providers_form_are_read() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    forms: list[JsonObject] = [
        {"name": "f", "description": "F.", "input_schema": schema},
        {"type": "custom", "name": "f", "description": "F.", "input_schema": schema},
        {"type": "function", "function": {"name": "f", "description": "F.", "parameters": schema}},
        {"type": "function", "name": "f", "description": "F.", "parameters": schema},
        {"name": "f", "description": "F.", "parameters": schema},
        {"name": "f", "description": "F.", "inputSchema": schema},
        {"functionDeclarations": [{"name": "f", "description": "F.", "parametersJsonSchema": schema}]},
        {"function_declarations": [{"name": "f", "description": "F.", "parameters": schema}]},
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "g"}]},
    ]
    bodies = [render(talk(user("hi")), CHAT, tools=[form]).body["tools"] for form in forms]
    assert (
        bodies[:-1]
        == [[{"type": "function", "function": {"name": "f", "description": "F.", "parameters": schema}}]] * 8
    )
    assert bodies[-1][0]["function"]["name"] == "n__g"
    for nothing in ({}, {"type": 3}, {"a": 1, "b": 2}):
        with pytest.raises(ImpossibleRequest, match="does not describe a tool"):
            render(talk(user("hi")), CHAT, tools=[nothing])


def test_a_tool_that_is_defined_twice_is_defined_once() -> None:
    request = render(talk(user("hi")), CHAT, tools=[ToolSpec("f", "old"), ToolSpec("f", "new")])
    assert [tool["function"]["description"] for tool in request.body["tools"]] == ["old"]
    assert decided(request, "duplicate-tool") == ["f is defined twice; the first definition is sent"]


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
def test_a_hosted_tool_that_stays_behind_takes_no_function_of_its_name_along(route: str) -> None:
    hosted = ToolSpec("f", kind=SpecKind.HOSTED, home="elsewhere/host", native={"type": "other", "name": "f"})
    called = talk(user("hi"), ai(call("c1", "f")), result("c1", "done"))
    request = render(called, route, tools=[hosted, ToolSpec("f")], options=Options(tool="f"))
    assert defined(request) == ["f"]
    assert refusals(request) == []
    assert not any("cannot be offered" in detail for detail in decided(request, "forced-tool"))


# --- fields of a definition that have no neutral word -----------------------------------------------------------------


def test_fields_of_a_definition_go_home_and_are_named_elsewhere() -> None:
    tool = {"name": "f", "input_schema": {"type": "object"}, "eager_input_streaming": True, "strict": True}
    route = "anthropic/claude-sonnet-4-5"
    parsed = parse({"messages": [{"role": "user", "content": "hi"}], "tools": [tool]}, route)
    home = render(parsed.conversation(), route, tools=parsed.tools, options=Options(cache=False))
    assert home.body["tools"] == [tool]
    away = render(parsed.conversation(), RESPONSES, tools=parsed.tools)
    assert away.body["tools"][0].keys() == {"type", "name", "description", "parameters", "strict"}
    assert decided(away, "tool-fields") == [
        "fields that only another provider knows were left out of the tools: eager_input_streaming"
    ]
    assert decided(away, "strict") == ["the schema of f cannot be enforced here"]


def test_strict_crosses_with_a_schema_that_can_be_enforced() -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    tool = ToolSpec("f", parameters=closed, strict=True)
    assert render(talk(user("hi")), RESPONSES, tools=[tool]).body["tools"][0]["strict"] is True
    assert render(talk(user("hi")), CHAT, tools=[tool]).body["tools"][0]["function"]["strict"] is True
    gemini = render(talk(user("hi")), "gemini/gemini-3-pro-preview", tools=[tool])
    assert decided(gemini, "strict") == ["the schema of f cannot be enforced here"]


def test_the_names_in_a_report_are_those_that_a_person_knows() -> None:
    made = ToolCall("search", {}, "call_1", namespace="mcp__books")
    request = render(talk(user("hi"), ai(made, call("b")), result("call_1"), result("b")), CHAT, tools=SPACES)
    assert "mcp__books.search is called mcp__books__search there" in decided(request, "tool-name")


# --- where calls are run, and where they are kept ---------------------------------------------------------------------


def test_a_call_runs_the_tool_of_its_own_namespace_and_no_other() -> None:
    async def run(arguments: JsonObject, context: object) -> str:
        return "unused"

    books, songs = (Tool(spec=spec, run=run) for spec in reversed(SPACES))
    box = ToolBox([books, songs])
    made = ToolCall("search", {"q": "x"}, namespace="mcp__songs")
    assert check_call(made, box) == Runnable(songs, {"q": "x"})
    assert [tool.name for tool in box] == ["mcp__books.search", "mcp__songs.search"]
    assert "There is no tool named 'search'" in str(check_call(ToolCall("search", {"q": "x"}), box))


def test_session_files_keep_namespaces_and_free_text() -> None:
    conversation = talk(
        user("go"),
        ai(
            ToolCall("search", {"q": "x"}, "call_1", namespace="mcp__songs"),
            ToolCall("apply_patch", {"input": "*** x"}, "call_2", kind=CallKind.CUSTOM),
        ),
        result("call_1"),
        result("call_2"),
    )
    codex = read(write(conversation, "codex").data)
    assert [(one.namespace, one.name, one.kind) for one in calls_in(codex)] == [
        ("mcp__songs", "search", CallKind.FUNCTION),
        ("", "apply_patch", CallKind.CUSTOM),
    ]
    claude = read(write(conversation, "claude-code").data)
    assert [one.name for one in calls_in(claude)] == ["mcp__songs__search", "apply_patch"]


def calls_in(document: Document) -> list[ToolCall]:
    return [block for entry in document.entries for block in entry.blocks if isinstance(block, ToolCall)]


def test_a_hosted_tool_whose_name_is_defined_already_is_left_out() -> None:
    search = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
    taken = {"name": "tool_search_tool_regex", "input_schema": {"type": "object"}}
    for tools in ([search, search], [taken, search]):
        body = {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9,
            "tools": tools,
            "messages": [{"role": "user", "content": "hi"}],
        }
        parsed = parse(body, "anthropic/claude-sonnet-4-5")
        request = render(parsed.conversation(), "anthropic/claude-sonnet-4-5", tools=parsed.tools)
        request.verify()
        assert len(request.body["tools"]) == 1
