"""The recipe for a chat host (docs/adding.md), followed: one file declares it, and everything knows it.

The file is written into a folder that the package of hosts is told to look into as well, so the made-up host is found in
the very way that a real one is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pytest

from legato import Conversation, parse, render, resolve
from legato.errors import BadRequest, ProtocolRefused, UnknownTarget
from legato.model import Options
from legato.request import catalogue
from legato.simulation import Outcome, SimulatedProvider, SimulatedTransport, base_urls
from legato.transport import KeyRing, classify, read_complaint, wire_request
from legato.transport import host_words as transport_words
from legato.wire import hosts
from legato.wire.dialects import dialect_parts
from legato.wire.openai_chat.rules import checks
from legato.wire.options import table
from scripts import hosts_doc
from simulation_support import Client, post

from builders import calls, result, talk, user

pytestmark = pytest.mark.anyio

DECLARATION = '''
"""Made-up: ids of one form only, a seed under another name, no null beside calls, errors of its own shape."""

from legato.wire.hosting import (
    Acceptance, ErrorFacts, Host, HostRule, Models, OptionField, RefusalReason, ServerHabits, Citation,
)


def _error(facts: ErrorFacts):
    return {"message": facts.message, "number": facts.status}


def _shouting(message):
    content = message.get("content")
    if isinstance(content, str) and content.isupper():
        yield "content", "it is in capitals"


HOST = Host(
    name="made-up",
    title="Made-up",
    endpoint="https://api.made-up.example/v1",
    keys=("MADE_UP_KEY",),
    example="first-model",
    sources=(Citation("https://made-up.example/docs", "Nothing of this is true."),),
    capabilities={"window": 50_000},
    models=(Models("those that think", ("*-think",), {"max_calls": 1}),),
    options={"seed": OptionField("random_seed"), "verbosity": OptionField(why="it has no verbosity")},
    acceptance=Acceptance(takes_null_beside_calls=False, id_form=r"call_.{1,35}"),
    rules=(
        HostRule(
            id="content-missing",
            check="null-beside-calls",
            says="Each message has a content.",
            sources=("https://made-up.example/docs",),
            error="message number {index} is silent",
        ),
        HostRule(
            id="shouting",
            in_message=_shouting,
            says="Nobody shouts.",
            sources=("https://made-up.example/docs",),
            error="{path} is too loud",
        ),
        HostRule(
            id="no-n",
            in_head=lambda fields: [("n", "one answer is enough")] if fields.get("n", 1) != 1 else [],
            says="There is one answer.",
            sources=("https://made-up.example/docs",),
        ),
        HostRule(
            id="id-form",
            check="id-form",
            says="Ids begin with `call_`.",
            sources=("https://made-up.example/docs",),
        ),
    ),
    words={"openai-chat/orphan-result": "nobody asked for {id}"},
    server=ServerHabits(
        answers="made-",
        says={RefusalReason.MODEL: "a model called {model} was never built"},
        statuses={RefusalReason.MODEL: 418},
        error_body=_error,
    ),
)
'''
NAME = "made-up"
SILENT = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "fine"},
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _forget() -> None:
    """Forget which hosts there are, and all that was made of their declarations."""
    for known in (
        hosts.find_host,
        hosts.host_names,
        catalogue.default_catalogue,
        checks.checks_for,
        table.rooms_of_host,
        transport_words.wordings_of,
    ):
        known.cache_clear()
    sys.modules.pop(f"{hosts.__name__}.made_up", None)
    invalidate_caches()


@pytest.fixture(autouse=True)
def _made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "made_up.py").write_text(DECLARATION, encoding="utf-8")
    monkeypatch.setattr(hosts, "__path__", [*hosts.__path__, str(tmp_path)])
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _posted(messages: list[dict[str, Any]], model: str = "first-model") -> Outcome:
    return post(SimulatedProvider(NAME), json.dumps({"model": model, "messages": messages}).encode())


def _understood(outcome: Outcome) -> Exception:
    """The refusal as our own client understands it."""
    request = wire_request(resolve(f"{NAME}/first-model"), b"{}", key=None, stream=False)
    return classify(read_complaint(outcome.reply.body), request, status=outcome.reply.status)


def test_its_routes_resolve_to_what_it_declares() -> None:
    target = resolve("made-up/some-think")

    assert (target.endpoint, target.capabilities.window, target.capabilities.max_calls) == (
        "https://api.made-up.example/v1",
        50_000,
        1,
    )
    with pytest.raises(UnknownTarget, match="made-up/first-model"):
        resolve("made-up")


def test_its_key_is_found_under_its_variable() -> None:
    assert KeyRing({}, {"MADE_UP_KEY": "sk-1"}).find(NAME) is not None


def test_a_conversation_is_rendered_for_it_with_its_names_for_options() -> None:
    request = render(talk(user("hi"), calls("a"), result("a")), "made-up/first-model", options=Options(seed=7))

    request.verify()
    assert request.body["random_seed"] == 7
    assert parse(request.copy(), "made-up/first-model").options.seed == 7


def test_its_own_rules_judge_a_body_and_quote_its_own_words() -> None:
    target = resolve("made-up/first-model")
    parts = dialect_parts(target.dialect)
    found = parts.check({"model": "first-model", "messages": SILENT}, target)

    assert [(one.rule, parts.rules[one.rule].words(one.path, {"messages": SILENT})) for one in found] == [
        ("made-up/content-missing", "message number 1 is silent")
    ]
    assert parts.rules["openai-chat/orphan-result"].words(host=NAME) == "nobody asked for …"


def test_a_rule_that_no_check_knows_brings_its_own_check() -> None:
    target = resolve("made-up/first-model")
    body = {"model": "m", "messages": [{"role": "user", "content": "HELLO"}], "n": 2}
    parts = dialect_parts(target.dialect)

    found = parts.check(body, target)

    assert [(one.rule, one.path, one.message) for one in found] == [
        ("made-up/no-n", "n", "one answer is enough"),
        ("made-up/shouting", "messages[0].content", "it is in capitals"),
    ]
    assert parts.rules["made-up/shouting"].words("messages[0].content", body) == "messages[0].content is too loud"


async def test_it_is_simulated_and_a_conversation_goes_there() -> None:
    transport, conversation = SimulatedTransport(), Conversation()
    said = await Client(transport).turn(conversation, "made-up/first-model", "use read_file on a.txt")

    assert '"the contents of a.txt"' in said.text
    assert transport.refusals == []
    assert base_urls("127.0.0.1", 1)[NAME] == "http://127.0.0.1:1/made-up/v1"


def test_the_simulation_refuses_in_its_words_its_shape_and_with_its_status_and_our_client_understands() -> None:
    silent, unknown = _posted(SILENT), _posted([{"role": "user", "content": "hi"}], "unknown-1")

    assert json.loads(silent.reply.body)["message"].startswith("message number 1 is silent")
    assert json.loads(unknown.reply.body) == {"message": "a model called unknown-1 was never built", "number": 418}
    assert [type(_understood(one)) for one in (silent, unknown)] == [ProtocolRefused, BadRequest]


def test_it_stands_in_the_docs_with_its_sources() -> None:
    page = hosts_doc.document(hosts.all_hosts())

    assert "| [Made-up](#made-up) | `made-up/first-model` | `MADE_UP_KEY` |" in page
    assert "- Nothing of this is true. ([made-up.example/docs](https://made-up.example/docs))" in page


def test_without_its_file_nobody_knows_it(tmp_path: Path) -> None:
    (tmp_path / "made_up.py").unlink()
    _forget()
    with pytest.raises(UnknownTarget):
        resolve("made-up/first-model")
