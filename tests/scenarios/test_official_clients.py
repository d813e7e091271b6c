"""The vendors' own clients against `legato simulate`: their documented idioms, with and without us in between.

One server on this machine serves the whole module. No client retries, so every request is one that was meant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anthropic
import mistralai.client as mistral
import openai
import pytest
from anyio.from_thread import start_blocking_portal
from google import genai
from google.genai import types
from pydantic import BaseModel

import typed_idioms
from legato import Conversation, Entry, Options, parse, render
from legato.request import default_catalogue
from legato.request.model_list import list_models
from legato.simulation import SimulatedWorld, base_urls, serve
from typed_idioms import FILES, read_file

BOTH = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
ASK = "use read_file on a.txt and b.txt"
ANSWER = 'read_file returned: "hello a"; read_file returned: "hello b".'


SCHEMA: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CHAT_TOOLS: Any = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]


class Song(BaseModel):
    title: str
    year: int


class Shelf(BaseModel):
    name: str
    songs: list[Song]
    owner: Song | None


class Clients:
    """Every client, pointed at the server."""

    def __init__(self, urls: dict[str, str], world: SimulatedWorld) -> None:
        self.world = world
        self.refused = 0
        """how many of a test's first requests were to be refused"""
        self.claude = anthropic.Anthropic(api_key="sk-any", base_url=urls["anthropic"], max_retries=0)
        self.openai = openai.OpenAI(api_key="sk-any", base_url=urls["openai"], max_retries=0)
        version = types.HttpOptions(base_url=urls["gemini"].removesuffix("/v1beta"), api_version="v1beta")
        self.google = genai.Client(api_key="any", http_options=version)
        self.mistral = mistral.Mistral(api_key="any", server_url=urls["mistral"].removesuffix("/v1"))


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
            patched.delenv(name, raising=False)
            patched.delenv(name.lower(), raising=False)
        world = SimulatedWorld(needs_keys=True)
        with start_blocking_portal() as portal:
            running, port = portal.start_task(partial(serve, world=world), "127.0.0.1", 0)
            here = Clients(base_urls("127.0.0.1", port), world)
            try:
                yield here
            finally:
                here.claude.close()
                here.openai.close()
                here.google.close()
                running.cancel()


@pytest.fixture(autouse=True)
def nothing_is_refused(clients: Clients) -> Iterator[None]:
    before, clients.refused = len(clients.world.refusals), 0
    yield
    assert [seen.refusal for seen in clients.world.refusals[before:]][clients.refused :] == []


# --- structured output ------------------------------------------------------------------------------------------------

SHELF = "Which songs are there?"


def test_anthropic_parses_an_answer_into_the_callers_type(clients: Clients) -> None:
    said = clients.claude.messages.parse(
        model="claude-opus-4-8",
        max_tokens=2000,
        messages=[{"role": "user", "content": SHELF}],
        output_format=Shelf,
    )
    assert isinstance(said.parsed_output, Shelf)


@BOTH
def test_openai_parses_an_answer_into_the_callers_type(clients: Clients, stream: bool) -> None:
    if stream:
        with clients.openai.chat.completions.stream(
            model="gpt-4.1", messages=[{"role": "user", "content": SHELF}], response_format=Shelf
        ) as events:
            said = events.get_final_completion()
        with clients.openai.responses.stream(model="gpt-4.1", input=SHELF, text_format=Shelf) as pieces:
            response = pieces.get_final_response()
    else:
        said = clients.openai.chat.completions.parse(
            model="gpt-4.1", messages=[{"role": "user", "content": SHELF}], response_format=Shelf
        )
        response = clients.openai.responses.parse(model="gpt-4.1", input=SHELF, text_format=Shelf)
    assert isinstance(said.choices[0].message.parsed, Shelf)
    assert isinstance(response.output_parsed, Shelf)


def test_openai_parses_the_arguments_of_a_call_into_the_callers_type(clients: Clients) -> None:
    said = clients.openai.chat.completions.parse(
        model="gpt-4.1",
        messages=[{"role": "user", "content": "use Shelf on jazz"}],
        tools=[openai.pydantic_function_tool(Shelf)],
    )
    [call] = said.choices[0].message.tool_calls or []
    assert isinstance(call.function.parsed_arguments, Shelf)
    assert call.function.parsed_arguments.name == "jazz"


def test_google_parses_an_answer_into_the_callers_type(clients: Clients) -> None:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Shelf)
    said = clients.google.models.generate_content(model="gemini-2.5-flash", contents=SHELF, config=config)
    assert isinstance(said.parsed, Shelf)


def test_mistral_parses_an_answer_into_the_callers_type(clients: Clients) -> None:
    said = clients.mistral.chat.parse(
        response_format=Shelf, model="mistral-large-latest", messages=[{"role": "user", "content": SHELF}]
    )
    assert said.choices is not None
    assert said.choices[0].message is not None
    assert isinstance(said.choices[0].message.parsed, Shelf)


# --- loops that the clients run themselves ----------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3-pro-preview"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_google_calls_functions_by_itself(clients: Clients, model: str, stream: bool) -> None:
    chat = clients.google.chats.create(model=model, config=types.GenerateContentConfig(tools=[read_file]))
    for ask in (f"think first and {ASK}", "what did the first tool return?"):
        if stream:
            said = "".join(chunk.text or "" for chunk in chat.send_message_stream(ask))
        else:
            said = chat.send_message(ask).text or ""
        assert said == (ANSWER if "first and" in ask else 'The first result: read_file returned: "hello a"')


def test_anthropic_runs_tools_by_itself(clients: Clients) -> None:
    runner = clients.claude.beta.messages.tool_runner(
        model="claude-opus-4-8",
        max_tokens=4000,
        tools=[anthropic.beta_tool(read_file)],
        messages=[{"role": "user", "content": ASK}],
    )
    *_, last = runner
    assert last.content[-1].type == "text"
    assert last.content[-1].text == ANSWER


@BOTH
def test_mistrals_loop_ends_with_the_usage_in_its_last_chunk(clients: Clients, stream: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    asked: Any = {"model": "mistral-large-latest", "tools": CHAT_TOOLS}
    while True:
        if stream:
            chunks = [event.data for event in clients.mistral.chat.stream(messages=messages, **asked)]
            assert all(chunk.choices for chunk in chunks)
            assert (chunks[-1].usage is not None, chunks[-1].choices[0].finish_reason is not None) == (True, True)
            deltas = [chunk.choices[0].delta for chunk in chunks]
            text = "".join(delta.content for delta in deltas if isinstance(delta.content, str))
            calls = [call for delta in deltas for call in delta.tool_calls or []]
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        else:
            said: Any = clients.mistral.chat.complete(messages=messages, **asked).choices[0].message
            text, calls = said.content, said.tool_calls or []
            messages.append(said)
        if not calls:
            assert text == ANSWER
            return
        for call in calls:
            arguments = json.loads(str(call.function.arguments))
            messages.append(
                {"role": "tool", "name": "read_file", "tool_call_id": call.id, "content": read_file(**arguments)}
            )


def test_openai_goes_on_from_a_response_by_its_id(clients: Clients) -> None:
    tools: Any = [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}]
    first = clients.openai.responses.create(model="gpt-5.1", input=ASK, tools=tools)
    results: Any = [
        {"type": "function_call_output", "call_id": item.call_id, "output": read_file(**json.loads(item.arguments))}
        for item in first.output
        if item.type == "function_call"
    ]
    second = clients.openai.responses.create(model="gpt-5.1", input=results, tools=tools, previous_response_id=first.id)
    assert second.output_text == ANSWER
    assert clients.openai.responses.retrieve(first.id).output == first.output


# --- beside answers ---------------------------------------------------------------------------------------------------


def test_openai_looks_at_what_is_kept_and_forgets_it(clients: Clients) -> None:
    with openai.OpenAI(
        api_key="sk-any", base_url=clients.openai.base_url, max_retries=0, _strict_response_validation=True
    ) as strict:
        here = strict.responses
        first = here.create(model="gpt-5.1", input="hello")
        second = here.create(model="gpt-5.1", input="and now?", previous_response_id=first.id)
        assert here.retrieve(second.id).output_text == second.output_text
        items = list(here.input_items.list(second.id, limit=2))  # the client asks for the second page by itself
        assert [item.role for item in items if item.type == "message"] == ["user", "assistant", "user"]
        counted = here.input_tokens.count(model="gpt-5.1", input="and now?", previous_response_id=first.id)
        assert counted.input_tokens > 9
        here.delete(second.id)
        with pytest.raises(openai.NotFoundError):
            here.input_items.list(second.id)
        with pytest.raises(openai.BadRequestError, match="Cannot cancel a synchronous response"):
            here.cancel(first.id)
    clients.refused = 2  # as they should be
    # Its own type has no place for what the user said, which its documentation promises.
    compacted = clients.openai.responses.compact(model="gpt-5.1", input="hello", previous_response_id=first.id)
    assert [item.type for item in compacted.output] == ["message", "message", "compaction"]


def test_every_client_reads_the_models(clients: Clients) -> None:
    claudes = list(clients.claude.models.list())
    assert [claude.id for claude in claudes] == known_of("anthropic")
    assert [clients.claude.models.retrieve(claude.id) for claude in claudes] == claudes
    assert {claude.lifecycle for claude in claudes} == {"active"}
    gpts = list(clients.openai.models.list())
    assert [gpt.id for gpt in gpts] == known_of("openai")
    assert [clients.openai.models.retrieve(gpt.id) for gpt in gpts] == gpts
    geminis = [gemini.name or "" for gemini in clients.google.models.list()]
    assert geminis == [f"models/{name}" for name in known_of("gemini")]
    assert [clients.google.models.get(model=name).name for name in geminis] == geminis
    mistrals = clients.mistral.models.list().data or []
    cards = [card for card in mistrals if isinstance(card, mistral.models.BaseModelCard)]
    assert [card.id for card in cards] == known_of("mistral")
    assert [clients.mistral.models.retrieve(model_id=card.id) for card in cards] == mistrals


def known_of(provider: str) -> list[str]:
    """The names of the models that the catalogue knows of `provider`."""
    listed = list_models(default_catalogue())
    return [model.route.partition("/")[2] for model in listed if model.provider == provider]


def test_every_client_counts_tokens(clients: Clients) -> None:
    hello: Any = [{"role": "user", "content": "hi"}]
    assert clients.claude.messages.count_tokens(model="claude-opus-4-8", messages=hello).input_tokens > 0
    counted = clients.google.models.count_tokens(model="gemini-2.5-flash", contents="hi")
    assert (counted.total_tokens or 0) > 0
    lone = types.Part.from_function_response(name="read_file", response={"result": "hello"})
    counted = clients.google.models.count_tokens(model="gemini-2.5-flash", contents=lone)
    assert (counted.total_tokens or 0) > 0


# --- with us in between -----------------------------------------------------------------------------------------------

Ask = Callable[[Clients, Conversation], Entry]
WHOLE: dict[str, Ask] = {
    typed_idioms.CLAUDE: lambda to, talk: typed_idioms.ask_claude(to.claude, talk),
    typed_idioms.GPT: lambda to, talk: typed_idioms.ask_gpt(to.openai, talk),
    typed_idioms.RESPONSES: lambda to, talk: typed_idioms.ask_responses(to.openai, talk),
    typed_idioms.GEMINI: lambda to, talk: typed_idioms.ask_gemini(to.google, talk),
    typed_idioms.MISTRAL: lambda to, talk: typed_idioms.ask_mistral(to.mistral, talk),
}
STREAMED: dict[str, Ask] = {
    typed_idioms.CLAUDE: lambda to, talk: typed_idioms.stream_claude(to.claude, talk),
    typed_idioms.GPT: lambda to, talk: typed_idioms.stream_gpt(to.openai, talk),
    typed_idioms.RESPONSES: lambda to, talk: typed_idioms.stream_responses(to.openai, talk),
    typed_idioms.GEMINI: lambda to, talk: typed_idioms.stream_gemini(to.google, talk),
    typed_idioms.MISTRAL: lambda to, talk: typed_idioms.stream_mistral(to.mistral, talk),
}


@pytest.mark.parametrize("asks", [STREAMED, WHOLE], ids=["streamed", "whole"])
def test_one_conversation_goes_through_every_client(clients: Clients, asks: dict[str, Ask]) -> None:
    talk = Conversation()
    for ask in asks.values():
        talk.human(ASK)
        while (answer := ask(clients, talk)).calls:
            for call in answer.calls:
                talk.result(call, read_file(**call.arguments))
        assert answer.text == ANSWER


def test_a_history_is_taken_over_with_the_objects_in_it(clients: Clients) -> None:
    talk = typed_idioms.take_over(clients.openai)
    assert [entry.text for entry in talk.entries] == ["Hello", 'gpt-5.1 (simulated) heard: "Hello"']


HELPERS: dict[str, Callable[[Clients, Any], Any]] = {
    "anthropic/claude-haiku-4-5": lambda to, sdk: to.claude.messages.stream(**sdk),
    "openai/gpt-5.1": lambda to, sdk: to.openai.chat.completions.stream(**sdk),
    "openai-responses/gpt-5.1": lambda to, sdk: to.openai.responses.stream(**sdk),
}


@pytest.mark.parametrize("route", HELPERS)
def test_the_events_of_a_streaming_helper_make_the_same_answer(clients: Clients, route: str) -> None:
    talk = Conversation()
    talk.human(f"think first and {ASK}")
    request = render(talk, route, tools=[read_file], options=Options(max_tokens=4000, stream=True))
    decoder = request.decoder()
    with HELPERS[route](clients, request.sdk()) as events:
        for event in events:
            decoder.event(event)
    said = WHOLE[route](clients, talk).blocks
    streamed = decoder.finish().entry.blocks
    assert [type(block) for block in streamed] == [type(block) for block in said]
    assert [getattr(block, "arguments", None) for block in streamed] == [
        getattr(one, "arguments", None) for one in said
    ]


def _anthropic_history(clients: Clients) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    said = clients.claude.messages.create(
        model="claude-haiku-4-5",
        max_tokens=4000,
        messages=messages,
        tools=[{"name": "read_file", "input_schema": SCHEMA}],
        thinking={"type": "enabled", "budget_tokens": 2000},
    )
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": FILES[str(block.input["path"])]}
        for block in said.content
        if block.type == "tool_use"
    ]
    return [*messages, {"role": "assistant", "content": said.content}, {"role": "user", "content": results}]


def _responses_history(clients: Clients) -> list[Any]:
    tools: Any = [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": ASK}]
    said = clients.openai.responses.create(
        model="gpt-5.1", input=items, tools=tools, store=False, include=["reasoning.encrypted_content"]
    )
    items += said.output
    for item in said.output:
        if item.type == "function_call":
            result = read_file(**json.loads(item.arguments))
            items.append({"type": "function_call_output", "call_id": item.call_id, "output": result})
    return items


def _google_history(clients: Clients) -> list[Any]:
    declared = types.FunctionDeclaration(name="read_file", parameters_json_schema=SCHEMA)
    contents: list[Any] = [types.UserContent(ASK)]
    said = clients.google.models.generate_content(
        model="gemini-3-pro-preview",
        contents=contents,
        config=types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])]),
    )
    contents.append(said.candidates[0].content if said.candidates else None)
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"result": read_file(**(call.args or {}))}
            )
        )
        for call in said.function_calls or []
    ]
    return [*contents, types.Content(role="user", parts=results)]


HISTORIES: dict[str, Callable[[Clients], list[Any]]] = {
    "anthropic/claude-haiku-4-5": _anthropic_history,
    "openai-responses/gpt-5.1": _responses_history,
    "gemini/gemini-3-pro-preview": _google_history,
}


@pytest.mark.parametrize("route", HISTORIES)
@pytest.mark.parametrize("to", ["home", "another"])
def test_a_history_of_the_clients_objects_goes_on_at_home_and_elsewhere(clients: Clients, route: str, to: str) -> None:
    talk = parse(HISTORIES[route](clients), route).conversation()
    goal = route if to == "home" else "openai/gpt-5.1"
    assert WHOLE[goal](clients, talk).text == ANSWER
