"""Extra fields of a request: what no option covers goes through, what we write ourselves does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import ImpossibleRequest
from legato.model import Dialect, Options, ToolSpec
from legato.request import parse, render, resolve
from legato.wire.dialects import dialect_parts
from legato.wire.owned import owned_in

from builders import ROUTES, talk, user

OWNED = {dialect: dialect_parts(dialect).owned_fields for dialect in Dialect}
ROUTE_OF = {resolve(route).dialect: route for route in reversed(ROUTES)}
CELLS = [(dialect, name) for dialect in Dialect for name in sorted(OWNED[dialect])]
READ = ToolSpec("read", "Read a file.")


def rendered(dialect: Dialect, extra: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return dict(render(talk(user("hi")), ROUTE_OF[dialect], options=Options(extra=extra, cache=False), **fields).body)


@pytest.mark.parametrize(("dialect", "name"), CELLS)
def test_what_we_write_ourselves_cannot_be_named(dialect: Dialect, name: str) -> None:
    with pytest.raises(ImpossibleRequest) as caught:
        rendered(dialect, {"harmless": 1, name: [{"name": "evil", "functionDeclarations": []}]})
    assert caught.value.message.startswith(f"options.extra.{name} is written by Legato itself and cannot be set; ")
    assert caught.value.facts["target"] == ROUTE_OF[dialect]


@pytest.mark.parametrize(("dialect", "name"), CELLS)
def test_a_name_of_ours_that_only_another_home_knows_is_left_out(dialect: Dialect, name: str) -> None:
    plain = render(talk(user("hi")), ROUTE_OF[dialect], options=Options(cache=False))
    for home in (*(str(other) for other in Dialect if other is not dialect), f"{dialect}/elsewhere"):
        options = Options(extra={name: [{"name": "evil"}]}, home=home, cache=False)
        request = render(talk(user("hi")), ROUTE_OF[dialect], options=options)
        assert request.body == plain.body
        assert "extra-fields" in [decision.reason for decision in request.report.decisions]


@pytest.mark.parametrize("dialect", Dialect)
def test_all_that_a_request_says_of_the_conversation_is_ours(dialect: Dialect) -> None:
    options = Options(stream=True)
    body = render(talk(user("hi")), ROUTE_OF[dialect], tools=[READ], system="Be brief.", options=options).body
    settable = {"max_tokens", "include", "stream_options", "reasoning", "thinking", "generationConfig", "toolConfig"}
    assert body.keys() - OWNED[dialect] - settable - {"allowSystemInMessages"} == set()


@pytest.mark.parametrize("dialect", Dialect)
def test_other_fields_are_put_in_as_they_are(dialect: Dialect) -> None:
    assert rendered(dialect, {"service_tier": "flex"})["service_tier"] == "flex"


HOSTED = {
    Dialect.ANTHROPIC: {"type": "web_search_20250305", "name": "web_search"},
    Dialect.OPENAI_RESPONSES: {"type": "web_search"},
    Dialect.GEMINI: {"googleSearch": {}},
}


@pytest.mark.parametrize("dialect", HOSTED)
def test_tools_that_the_provider_runs_stand_beside_ours(dialect: Dialect) -> None:
    ours = rendered(dialect, {}, tools=[READ])["tools"]
    assert rendered(dialect, {"tools": [HOSTED[dialect]]})["tools"][-1] == HOSTED[dialect]
    listed = rendered(dialect, {"tools": [HOSTED[dialect]]}, tools=[READ])["tools"]
    assert [tool for tool in listed if tool == HOSTED[dialect]] == [HOSTED[dialect]]
    assert len(listed) == len(ours) + 1


FUNCTIONS: list[tuple[Dialect, Any]] = [
    (Dialect.ANTHROPIC, {"name": "read", "input_schema": {}}),
    (Dialect.ANTHROPIC, {"type": "custom", "name": "read", "input_schema": {}}),
    (Dialect.OPENAI_RESPONSES, {"type": "function", "name": "read"}),
    (Dialect.OPENAI_RESPONSES, {"type": "namespace", "tools": []}),
    (Dialect.GEMINI, {"functionDeclarations": []}),
    (Dialect.GEMINI, {"function_declarations": [], "googleSearch": {}}),
    (Dialect.OPENAI_CHAT, {"type": "web_search"}),
    (Dialect.VERCEL, {"type": "provider"}),
    (Dialect.ANTHROPIC, "web_search"),
]


@pytest.mark.parametrize(("dialect", "tool"), FUNCTIONS)
def test_a_function_is_not_defined_beside_ours(dialect: Dialect, tool: Any) -> None:
    for tools in ([tool], [HOSTED.get(dialect, tool), tool]):
        with pytest.raises(ImpossibleRequest, match=r"options\.extra\.tools"):
            rendered(dialect, {"tools": tools})


def test_where_nobody_knows_who_will_answer_what_is_ours_anywhere_counts() -> None:
    names = set().union(*OWNED.values())
    assert [name for name in sorted(names) if not owned_in({name: None})] == []
    assert owned_in({"top_k": 3, "metadata": {"model": "x"}}) == ""


FIELDS = sorted({*set().union(*OWNED.values()), "top_p", "include", "metadata", "prompt", "modelId", "store"})
VALUES = st.none() | st.booleans() | st.text(max_size=5) | st.just([]) | st.just([{"type": "web_search", "name": "x"}])


@given(st.sampled_from(Dialect), st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_what_is_read_from_a_request_can_always_be_rendered(dialect: Dialect, fields: dict[str, Any]) -> None:
    route = ROUTE_OF[dialect]
    messages = render(talk(user("hi")), route).body[dialect_parts(dialect).messages_field]
    parsed = parse({**fields, dialect_parts(dialect).messages_field: messages}, route)
    assert owned_in(parsed.options.extra, dialect) == ""
    render(parsed.conversation(), route, tools=parsed.tools, options=parsed.options)
