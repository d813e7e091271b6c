"""Every host of the chat family: what is declared holds together, and any conversation goes there and comes back."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from hosts import HOSTS, ROUTES, TestedHost
from legato import render, resolve
from legato.formats.origins import provider_named
from legato.formats.targets import find_target
from legato.model import Ending
from legato.simulation import SimulatedTransport
from legato.transcript import Conversation
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from legato.wire.hosts import find_host, host_names, host_of
from rule_constants import HOST_CHECKS
from scripts.hosts_doc import PAGE, document
from simulation_support import Client

from cases import CASES

pytestmark = pytest.mark.anyio

_SOURCE = re.compile(r"https://\S+|[\w.-]+/[\w.-]+#\d+")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# --- what is declared -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tested", HOSTS, ids=lambda tested: tested.name)
def test_a_host_says_where_it_is_and_where_that_is_known_from(tested: TestedHost) -> None:
    host = tested.host
    assert urlsplit(host.endpoint).scheme in ("http", "https")
    assert host.sources
    assert [
        source for source in host.sources if not _SOURCE.fullmatch(source.url) or not source.fact.endswith(".")
    ] == []


@pytest.mark.parametrize("tested", HOSTS, ids=lambda tested: tested.name)
def test_the_rules_of_a_host_belong_to_checks_and_have_words_for_rules_that_exist(tested: TestedHost) -> None:
    rules = dialect_parts(resolve(tested.routes[0]).dialect).rules
    assert {rule.check for rule in tested.host.rules if rule.check} <= HOST_CHECKS.keys()
    assert [rule.id for rule in tested.host.rules if not (rule.check or rule.in_message or rule.in_head)] == []
    assert tested.host.words.keys() <= set(rules)
    assert [rule.id for rule in tested.host.rules if resolve(tested.host.route_of(rule)).server != tested.name] == []


def test_every_host_is_found_by_its_name_and_nothing_else_is() -> None:
    assert [host.name for host in HOSTS] == list(host_names())
    assert [find_host(name) for name in ("", "nobody", "__init__", "os.path", "../groq", "Groq", "strict")] == [
        None
    ] * 7


def test_the_page_of_hosts_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(tested.host for tested in HOSTS), (
        "write it with: python scripts/hosts_doc.py"
    )


@pytest.mark.parametrize("name", host_names())
def test_a_host_is_known_by_its_name_in_files_and_as_a_target_of_lint(name: str) -> None:
    assert provider_named(name.upper()) == name
    assert host_of(find_target("openai-chat" if name == "openai" else name)).name == name


# --- whole conversations ----------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-004")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("route", ROUTES)
def test_every_named_conversation_is_accepted_by_every_host(route: str, name: str) -> None:
    request = render(CASES[name](), route)
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("route", ROUTES)
async def test_every_host_answers_a_turn_with_parallel_calls(route: str, stream: bool) -> None:
    transport, talk = SimulatedTransport(), Conversation()

    said = await Client(transport).turn(talk, route, "use read_file on a.txt and b.txt", stream=stream)

    assert all(f'"the contents of {name}"' in said.text for name in ("a.txt", "b.txt"))
    assert said.ending is Ending.DONE
    assert transport.refusals == []


async def test_one_conversation_goes_through_every_host_and_is_refused_nowhere() -> None:
    transport, talk = SimulatedTransport(), Conversation()
    for number, route in enumerate(ROUTES):
        await Client(transport).turn(talk, route, f"think first, then use read_file on {number}.txt")

    assert transport.refusals == []
    assert len({seen.provider for seen in transport.requests}) == len(HOSTS)
