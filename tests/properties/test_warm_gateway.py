"""Whatever a gateway kept from the requests before, it sends what one sends that sees a conversation for the first time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway_clients import FAMILIES, Heard, hear_each, post
from legato.errors import FormatError, IngestError
from legato.gateway.bodies import open_body, whole_fields
from legato.gateway.gateway import Gateway
from legato.gateway.judged import SaidJudge
from legato.gateway.state import MemoryState
from legato.gateway.tellings import LONG, Tellings
from legato.model import Dialect, Target
from legato.request import resolve
from legato.request.parsing import decode_body
from legato.wire import checkpoints
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from rules import CASES
from scripted_backends import WHOLE, scripted_world, sent_by, whole_stream

Json: TypeAlias = Any

FIELDS = {dialect: dialect_parts(dialect).messages_field for dialect in Dialect}
EXAMPLES = {
    dialect: [body for case in CASES if case.dialect is dialect for body in (case.accepted, case.refused)]
    for dialect in Dialect
}

# --- bodies -------------------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
BODIES = st.dictionaries(st.sampled_from(["tools", "messages", "model", "é"]), VALUES, max_size=4)
TEXTS = st.one_of(
    st.one_of(BODIES, VALUES).map(lambda value: json.dumps(value).encode()),
    BODIES.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.sampled_from([b'{"tools":[1],"tools":[2]}', b'{"tools":[1]} x', b'{"tools":[1,]}', b'{"a":"\\ud800"}', b""]),
)


@given(TEXTS, st.integers(0, 40))
@example(b'{"": false}', 0)
def test_a_body_is_decoded_as_if_no_tools_were_known(data: bytes, cut: int):
    for given_data in (data, data, data[:cut]):
        assert outcome(decode, given_data) == outcome(decode_anew, given_data)


def decode(data: bytes) -> object:
    return whole_fields(open_body(data, "messages"), "messages")


def decode_anew(data: bytes) -> object:
    value = decode_body(data)
    if not isinstance(value, dict):
        raise FormatError(f"the body of a request is an object, not {type(value).__name__}")
    return value


def outcome(decode: Callable[[bytes], object], data: bytes) -> str:
    try:
        return repr(decode(data))
    except (FormatError, IngestError) as error:
        return f"refused: {error.message}"


# --- reading ------------------------------------------------------------------------------------------------------------

ODD_JSON = [b'{"a": "\\ud800"}', b'"\xff"', b"1e999", b"[" * 200 + b"]" * 200, b'{"role": "user",  "content": "hi"}']
"""messages that take a closer look, that cannot be read, or that are one message in another spelling"""


@st.composite
def written(draw: st.DrawFn, dialect: Dialect) -> list[tuple[str, bytes]]:
    """The bodies of clients that take turns, some of which tell the same beginning, each with its tenant."""
    examples, field = [{}, *EXAMPLES[dialect]], FIELDS[dialect]
    single = [message for body in examples if isinstance(body.get(field), list) for message in body[field]]
    messages = st.sampled_from(
        [*(json.dumps(message).encode() for message in single), *ODD_JSON[draw(st.integers(0, 4)) :]]
    )
    branches: list[list[bytes]] = [draw(st.lists(messages, min_size=1, max_size=6))]
    bodies: list[tuple[str, bytes]] = []
    for _ in range(draw(st.integers(2, 8))):
        said = draw(st.sampled_from(branches))
        said = said[: draw(st.integers(0, len(said)))]
        branches.append([*said, *draw(st.lists(messages, max_size=3))])
        head = json.dumps({**draw(st.sampled_from(examples)), field: None}).encode()
        body = head.replace(b": null", b": [" + b", ".join(branches[-1]) + b"]", 1)
        bodies.append((draw(st.sampled_from(["a", "a", "b"])), body))
    return bodies


@pytest.mark.parametrize("long", [0, LONG])
@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.GEMINI])
@given(data=st.data())
def test_a_body_is_read_as_if_its_conversation_were_not_known(dialect: Dialect, long: int, data: st.DataObject):
    parts, tellings = dialect_parts(dialect), Tellings(long=long)

    def resumed(tenant: str, body: bytes) -> object:
        fields, parsed, _ = tellings.read(tellings.open(body, dialect, tenant), dialect, tenant)
        return fields, parsed

    def anew(body: bytes) -> object:
        fields: Any = decode_anew(body)
        return fields, parts.parse(fields)

    for tenant, body in data.draw(written(dialect)):
        assert outcome(partial(resumed, tenant), body) == outcome(anew, body)


# --- judging ------------------------------------------------------------------------------------------------------------

TARGETS = [resolve(route) for route in ("anthropic/claude-opus-4-8", "openai/gpt-4.1", "openai-responses/gpt-5")]
ODD: list[Any] = [
    {"role": "user", "content": 1},
    {"role": "user", "content": True},
    {"role": "user", "n": 10**30},
    "\ud800",
]
"""messages that are equal in Python and not in JSON, and some that are hard to write"""


@pytest.fixture(autouse=True, scope="module")
def short_way_back() -> Iterator[None]:
    """Checkpoints so close that a short conversation passes several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "EVERY", 3)
        yield


@st.composite
def said(draw: st.DrawFn, target: Target) -> list[Json]:
    """The bodies of one client: each begins as the one before, more or less, under the same fields or others."""
    examples, field = EXAMPLES[target.dialect], FIELDS[target.dialect]
    single = [message for body in examples if isinstance(body.get(field), list) for message in body[field]]
    messages: list[Any] = []
    bodies: list[Json] = []
    heads = draw(st.lists(st.sampled_from(examples), min_size=1, max_size=2))
    for _ in range(draw(st.integers(1, 6))):
        messages = messages[: draw(st.integers(max(len(messages) - 2, 0), len(messages)))]
        messages = [*messages, *draw(st.lists(st.sampled_from([*single, *ODD]), max_size=3))]
        body = {**draw(st.sampled_from(heads)), field: messages}
        bodies.append(body if draw(st.integers(0, 9)) else draw(st.sampled_from(examples)))
    tellings = Tellings()
    return [
        tellings.read(tellings.open(json.dumps(body).encode(), target.dialect, ""), target.dialect, "")[0]
        for body in bodies
    ]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.route)
@given(data=st.data())
def test_what_a_client_says_is_judged_as_all_of_it_at_once(target: Target, data: st.DataObject):
    judge, check = SaidJudge(), dialect_parts(target.dialect).check
    for body in data.draw(said(target)):
        refused = [found for found in check(body, target) if found.severity is Severity.REFUSED]
        assert judge.refusals(body, target) == refused


# --- whole conversations ------------------------------------------------------------------------------------------------

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-2.5-pro:generateContent",
}
TOOL: dict[str, Any] = {"description": "Looks.", "parameters": {"type": "object", "properties": {}}}
HEADS: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "tools": [{"name": "look", "description": "Looks.", "input_schema": TOOL["parameters"]}],
    },
    "openai-chat": {"model": "gpt-4.1", "tools": [{"type": "function", "function": {"name": "look", **TOOL}}]},
    "openai-responses": {"model": "gpt-5", "store": False, "tools": [{"type": "function", "name": "look", **TOOL}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "look", **TOOL}]}]},
}


def asked(client: str, text: str) -> Json:
    return {"role": "user", **({"parts": [{"text": text}]} if client == "gemini" else {"content": text})}


def answered(client: str, heard: Heard, *, forgets: bool) -> list[Json]:
    """The answer and a result, as the client puts them into its next request; one that `forgets` drops the thoughts."""
    if client == "anthropic":
        content = heard.json["content"]
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        content = [block for block in content if not forgets or "thinking" not in block["type"]]
        results = [{"type": "tool_result", "tool_use_id": call, "content": "a bed"} for call in calls]
        return [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
    if client == "openai-responses":
        items = [item for item in heard.json["output"] if not forgets or item["type"] != "reasoning"]
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        return [*items, *({"type": "function_call_output", "call_id": call, "output": "a bed"} for call in calls)]
    if client == "gemini":
        content = heard.json["candidates"][0]["content"]
        parts = [
            {name: part[name] for name in part if not forgets or name != "thoughtSignature"}
            for part in content["parts"]
        ]
        called = [part["functionCall"] for part in parts if "functionCall" in part]
        results = [{"id": call["id"], "name": call["name"], "response": {"result": "a bed"}} for call in called]
        said = [{"functionResponse": result} for result in results]
        return [{**content, "parts": parts}, *([{"role": "user", "parts": said}] if said else [])]
    message = heard.json["choices"][0]["message"]
    kept = {name: value for name, value in message.items() if not forgets or not name.startswith("reasoning")}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "a bed"} for call in message["tool_calls"]]
    return [kept, *results]


def unmarked(value: Json) -> Json:
    """Without cache marks: a conversation that was kept knows where its last request ended, and marks that as well."""
    if isinstance(value, dict):
        return {name: unmarked(item) for name, item in value.items() if name != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("client", PATHS)
@given(data=st.data())
def test_a_request_is_the_same_upstream_whether_its_conversation_is_known(client: str, data: st.DataObject):
    route, state = data.draw(st.sampled_from(list(FAMILIES.values()))), MemoryState()
    provider = resolve(route).provider

    def gateway() -> Gateway:
        world = scripted_world({provider: [whole_stream(route, WHOLE)]})
        return Gateway(world, route, key=b"a key for tests", state=state)

    warm = gateway()
    field = dialect_parts(Dialect(client.replace("-", "_"))).messages_field
    messages: list[Json] = [asked(client, data.draw(st.sampled_from(["hi", "Look.", "é"])))]
    for _ in range(data.draw(st.integers(1, 4))):
        body = {**HEADS[client], field: messages}
        change = data.draw(st.sampled_from(["", "", "options", "tools"]))
        if change == "options":
            body |= {"safetySettings": []} if client == "gemini" else {"metadata": {"user_id": "1"}}
        elif change == "tools":
            del body["tools"]
        cold = gateway()
        heard, _ = hear_each([warm, cold], post(PATHS[client], body))
        sent = [json.loads(sent_by(one.world).sent[-1].body) for one in (warm, cold)]
        assert unmarked(sent[0]) == unmarked(sent[1])
        messages = [*messages, *answered(client, heard, forgets=data.draw(st.booleans()))]
        match data.draw(st.sampled_from(["", "on", "back", "otherwise"])):
            case "on":
                messages.append(asked(client, "And?"))
            case "back":
                messages = messages[: data.draw(st.integers(1, len(messages)))]
            case "otherwise":
                place = data.draw(st.integers(0, len(messages) - 1))
                messages[place] = asked(client, "Or else?")
            case _:
                pass
