"""Each vendor's own client, over `legato.client`, against every family of backends: the table in docs/sdks.md.

The providers are simulated, and refuse what the real ones refuse: thoughts that are not their own, ids of the wrong
form, calls without results.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import legato
from gateway_clients import EACH_REQUEST, FAMILIES, seen_by, simulated_world
from legato.gateway.gateway import SwitchAt
from legato.model import Speaker, Thinking
from legato.request import resolve
from legato.routing import Profile
from legato.wire.dialects import dialect_parts
from sdk_agents import AGENTS, Agent

ASK = "use read_file on a.txt and b.txt"
ANSWER = 'read_file returned: "hello a"; read_file returned: "hello b".'
BACKENDS: dict[str, Profile | str] = {**FAMILIES, "another at every request": EACH_REQUEST}

THINKERS = ("anthropic", "openai-responses", "gemini", "kimi", "deepseek")
"""the families of which a model that thinks is asked"""

each_agent = pytest.mark.parametrize("agent", AGENTS)
each_backend = pytest.mark.parametrize("backend", BACKENDS)
both = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


class Bench:
    """One agent on one backend."""

    def __init__(self, agent: str, backend: str, **options: Any) -> None:
        self.world = simulated_world(**options)
        switch = SwitchAt.REQUEST if backend not in FAMILIES else SwitchAt.TURN
        self.http = legato.client(BACKENDS[backend], world=self.world, switch=switch)
        self.agent: Agent = AGENTS[agent](self.http)

    @property
    def refusals(self) -> list[Any]:
        return [seen.refusal for seen in seen_by(self.world).refusals]

    @property
    def reasoning_sent(self) -> bool:
        """Whether the last request gave a model reasoning of its own back."""
        seen = seen_by(self.world).requests[-1]
        parsed = dialect_parts(resolve(f"{seen.provider}/{seen.model}").dialect).parse(seen.json)
        answers = [entry for entry in parsed.entries if entry.speaker is Speaker.AI]
        return any(isinstance(block, Thinking) or block.native for entry in answers for block in entry.blocks)


@each_agent
@each_backend
@both
class TestTable:
    """A column of the table for each method."""

    def test_text(self, agent: str, backend: str, stream: bool) -> None:
        bench = Bench(agent, backend)
        outcome = bench.agent.run("hello there", stream=stream)
        assert "hello there" in outcome.text
        assert outcome.models == {bench.agent.model}
        assert bench.refusals == []

    def test_parallel_tools(self, agent: str, backend: str, stream: bool) -> None:
        bench = Bench(agent, backend)
        outcome = bench.agent.run(ASK, stream=stream)
        assert (outcome.text, outcome.calls) == (ANSWER, 2)
        outcome = bench.agent.run("what did the first tool return?", stream=stream)
        assert 'returned: "hello a"' in outcome.text
        assert bench.refusals == []

    def test_thinking(self, agent: str, backend: str, stream: bool) -> None:
        bench = Bench(agent, backend)
        outcome = bench.agent.run(f"think first, then {ASK}", stream=stream, thinking=True)
        assert (outcome.text.endswith(ANSWER), outcome.calls) == (True, 2)
        outcome = bench.agent.run(f"think first, then {ASK}", stream=stream, thinking=True)
        assert outcome.calls == 4
        assert bench.refusals == []
        assert backend not in THINKERS or bench.reasoning_sent

    def test_structured_output(self, agent: str, backend: str, stream: bool) -> None:
        bench = Bench(agent, backend)
        assert bench.agent.parse("Which song is it?", stream=stream) is not None
        assert bench.refusals == []

    def test_rate_limit(self, agent: str, backend: str, stream: bool) -> None:
        bench = Bench(agent, backend)
        with pytest.raises(bench.agent.rate_limited) as raised:
            bench.agent.run("fail with 429 after 300 seconds", stream=stream)
        assert status_of(raised.value) == 429
        assert bench.refusals == []

    def test_overflow(self, agent: str, backend: str, stream: bool) -> None:
        bench = Bench(agent, backend, window=2_000)
        with pytest.raises(bench.agent.bad_request) as raised:
            bench.agent.run("word " * 20_000, stream=stream)
        assert status_of(raised.value) == 400

    def test_cut_stream(self, agent: str, backend: str, stream: bool) -> None:
        """A stream that breaks before anything was said is asked for again, and the client does not notice."""
        bench = Bench(agent, backend)
        outcome = bench.agent.run("cut the stream after 0 chunks once", stream=stream)
        assert outcome.text
        assert bench.refusals == []


def status_of(error: BaseException) -> int:
    """The status that a client's own exception names."""
    for name in ("status_code", "code"):
        if isinstance(status := getattr(error, name, None), int):
            return status
    raise AssertionError(f"{error!r} names no status")


# --- the page ---------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "sdks.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"
SDKS = {
    "anthropic": "anthropic",
    "openai chat": "openai",
    "openai responses": "openai",
    "google-genai": "google-genai",
    "mistralai": "mistralai",
}


def written_table() -> str:
    """A row for each client, a column for each test above; each cell counts the backends that it runs on."""
    columns = [name.removeprefix("test_").replace("_", " ") for name in vars(TestTable) if name.startswith("test_")]
    cell = f"{len(BACKENDS)}/{len(BACKENDS)}"
    rows = [
        f"| {agent} ({SDKS[agent]} {version(SDKS[agent])}) | {how} | " + " | ".join(cell for _ in columns) + " |"
        for agent in AGENTS
        for how in ("streamed", "whole")
    ]
    head = f"| client | answer | {' | '.join(columns)} |"
    return "\n".join([head, "|---" * (len(columns) + 2) + "|", *rows]) + "\n"


def test_the_page_shows_the_table_that_these_tests_are() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    shown, _, after = rest.partition(END)
    if os.environ.get("LEGATO_GOLDEN") == "write":
        PAGE.write_text(before + BEGIN + written_table() + END + after, encoding="utf-8")
    else:
        assert shown == written_table()
