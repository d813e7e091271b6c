"""What a client gives back unread, altered in every way: ignored, never an error, and never a wrong thought upstream.

The gateway remembers nothing here, so all that it knows is in the request. The simulated providers know their own seals
and refuse every other. Each request is a new process of the deployment: what they have in common is the key.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest

from gateway_clients import FAMILIES, seen_by, simulated_world
from legato.gateway.app import GatewayApp
from legato.gateway.carrier_places import is_carrier
from legato.gateway.gatekeeper import Gatekeeper, digest_of
from legato.gateway.gateway import Gateway
from legato.gateway.state import MemoryState
from legato.model import Thinking, ToolCall
from legato.request import resolve
from legato.wire.dialects import dialect_parts
from legato.world import World
from raw_agents import RAW_AGENTS, RawAgent
from serving import Caller

KEY = b"a key for tests"
KEEPER = Gatekeeper(keys={digest_of("key-of-ann"): "ann", digest_of("key-of-bob"): "bob"})
SEALING = ("anthropic", "openai-responses", "gemini")
"""families whose thoughts are sealed"""


def app_of(world: World, family: str, *, key: bytes = KEY, remembers: bool = False) -> GatewayApp:
    state = MemoryState() if remembers else MemoryState(answer_keys=0)
    return GatewayApp(Gateway(world, FAMILIES[family], key=key, state=state), keeper=KEEPER)


def sent(app: GatewayApp, agent: RawAgent, tenant: str = "ann") -> Caller:
    """What `app` answers to the agent's next request."""
    ask = agent.ask()
    path = f"{ask.path}?{urlencode(ask.query)}"
    call = Caller(app, path, ask.body, x_api_key=f"key-of-{tenant}")
    return anyio.run(call.call)


class Talk:
    """An agent that was answered once, by a call, and has its result."""

    def __init__(self, client: str, family: str, what: str, *, stream: bool) -> None:
        self.family = family
        self.world = simulated_world()
        self.agent = RAW_AGENTS[client](stream=stream, forgets=False)
        self.agent.say(f"think first, then use read_file on {what}")
        answer = sent(app_of(self.world, family), self.agent)
        assert self.agent.take(answer.body), answer.body

    @property
    def carriers(self) -> list[str]:
        return [text for text in texts_in(self.agent.history) if is_carrier(text)]

    def alter(self, change: Callable[[str], str]) -> None:
        """Change every carrier."""
        self.agent.history = changed(self.agent.history, change)

    def go_on(self, *, key: bytes = KEY, tenant: str = "ann") -> set[str]:
        """Send the next request; the seals that went upstream with it."""
        before = len(seen_by(self.world).requests)
        answer = sent(app_of(self.world, self.family, key=key), self.agent, tenant)
        assert (answer.status, answer.is_whole) == (200, True), answer.body
        assert [seen.refusal for seen in seen_by(self.world).refusals] == []
        bodies = [seen.json for seen in seen_by(self.world).requests[before:]]
        assert not any(is_carrier(text) for body in bodies for text in texts_in(body))
        return {seal for body in bodies for seal in seals_in(body, self.family)}


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, list):
        return [changed(item, change) for item in value]
    if isinstance(value, dict):
        return {name: changed(item, change) for name, item in value.items()}
    return change(value) if is_carrier(value) else value


def seals_in(body: Any, family: str) -> Iterator[str]:
    """The opaque data of thoughts and calls in a request to a provider."""
    parsed = dialect_parts(resolve(FAMILIES[family]).dialect).parse(body)
    for entry in parsed.entries:
        for block in entry.blocks:
            if isinstance(block, Thinking | ToolCall) and block.native:
                yield from (text for text in texts_in(block.native) if len(text) > 20)


def flipped(text: str) -> str:
    middle = len(text) // 2
    return text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1 :]


ALTERED: dict[str, Callable[[str], str]] = {
    "forged": flipped,
    "truncated": lambda text: text[: len(text) // 2],
    "a mark alone": lambda text: text[:4],
    "longer": lambda text: text.rstrip("=") + "AAAA",
    "huge": lambda text: text.rstrip("=") + "A" * 2_000_000,
    "no base64": lambda text: text[:9] + "?…" + text[9:],
    "signed by nobody": lambda text: b64encode(urlsafe_b64decode(text[:8]) + bytes(200)).decode(),
}
REENCODED: dict[str, Callable[[str], str]] = {
    "as it came": lambda text: text,
    "the other alphabet": lambda text: text.replace("+", "-").replace("/", "_"),
    "unpadded": lambda text: text.rstrip("=").replace("+", "-").replace("/", "_"),
}
"""the same bytes in another spelling: Google's SDK does that"""

each_talk = pytest.mark.parametrize(
    ("client", "family", "stream"),
    [(client, family, (at + of) % 2 == 0) for at, client in enumerate(RAW_AGENTS) for of, family in enumerate(SEALING)],
)


@each_talk
def test_a_carrier_is_known_in_any_spelling_and_an_altered_one_is_ignored(
    client: str, family: str, stream: bool
) -> None:
    talk = Talk(client, family, "a.txt", stream=stream)
    history = talk.agent.history
    assert talk.carriers
    seals = talk.go_on()
    assert seals
    for way, change in REENCODED.items():
        talk.alter(change)
        assert (way, talk.go_on()) == (way, seals)
    for way, change in ALTERED.items():
        talk.agent.history = history
        talk.alter(change)
        assert (way, talk.go_on() & seals) == (way, set())


@each_talk
def test_a_carrier_of_another_tenant_or_deployment_is_ignored(client: str, family: str, stream: bool) -> None:
    talk = Talk(client, family, "a.txt", stream=stream)
    seals = talk.go_on()
    assert seals
    assert talk.go_on(tenant="bob") & seals == set()
    assert talk.go_on(key=b"another deployment") & seals == set()


@each_talk
def test_a_carrier_beside_another_answer_is_ignored(client: str, family: str, stream: bool) -> None:
    talk = Talk(client, family, "a.txt", stream=stream)
    other = Talk(client, family, "b.txt", stream=stream)
    seals, others = talk.go_on(), other.go_on()
    foreign = iter(other.carriers * 9)
    talk.alter(lambda _: next(foreign))
    assert talk.go_on() & (seals | others) == set()


# --- two tenants of one gateway ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", RAW_AGENTS)
def test_what_is_remembered_for_one_tenant_is_unknown_to_another(client: str) -> None:
    """By the ids of calls, by place, and as a conversation that is kept warm."""
    world, family = simulated_world(), "anthropic"
    app = app_of(world, family, remembers=True)
    agent = RAW_AGENTS[client](stream=False, forgets=True)
    agent.say("think first, then use read_file on a.txt")
    assert agent.take(sent(app, agent).body)
    known = list[bool]()
    for tenant in ("bob", "ann"):
        before = len(seen_by(world).requests)
        answer = sent(app, agent, tenant)
        report = anyio.run(
            Caller(app, f"/legato/requests/{answer.headers['x-legato-request']}", x_api_key=f"key-of-{tenant}").call
        ).json
        seals = [seal for seen in seen_by(world).requests[before:] for seal in seals_in(seen.json, family)]
        known += [bool(seals), report["warm"]]
    assert known == [False, False, True, True]
    assert seen_by(world).refusals == []


def test_a_stored_response_is_there_for_its_tenant_alone() -> None:
    app = app_of(simulated_world(), "openai-responses", remembers=True)

    def call(tenant: str, path: str, body: Any = None, **options: Any) -> Caller:
        return anyio.run(Caller(app, path, body, x_api_key=f"key-of-{tenant}", **options).call)

    stored = call("ann", "/v1/responses", {"model": "m", "input": "say exactly: the moon"}).json["id"]
    after = {"model": "m", "input": "again", "previous_response_id": stored}
    assert call("bob", f"/v1/responses/{stored}").status == 404
    assert call("bob", f"/v1/responses/{stored}", method="DELETE").status == 404
    refused = call("bob", "/v1/responses", after)
    assert (refused.status, stored in json.dumps(refused.json)) == (400, True)
    assert call("ann", f"/v1/responses/{stored}").json["id"] == stored
    assert call("ann", "/v1/responses", after).status == 200
    assert call("ann", f"/v1/responses/{stored}", method="DELETE").json["deleted"] is True
    assert call("ann", f"/v1/responses/{stored}").status == 404


def test_a_compaction_is_read_for_its_tenant_alone() -> None:
    """Another tenant's model is told that something stood there, and not what."""
    world = simulated_world()
    app = app_of(world, "openai-chat")
    body = {"model": "m", "input": [{"role": "user", "content": "hi"}]}
    compacted = anyio.run(Caller(app, "/v1/responses/compact", body, x_api_key="key-of-ann").call).json["output"]
    again = {"model": "m", "input": [compacted[-1], {"role": "user", "content": "go on"}]}
    told = dict[str, str]()
    for tenant in ("bob", "ann"):
        answer = anyio.run(Caller(app, "/v1/responses", again, x_api_key=f"key-of-{tenant}").call)
        assert answer.status == 200
        told[tenant] = seen_by(world).requests[-1].json["messages"][0]["content"]
    assert "Nothing has happened yet" in told["ann"]
    assert "Nothing has happened yet" not in told["bob"]
    assert "cannot be read" in told["bob"]
