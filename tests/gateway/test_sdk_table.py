"""Each vendor's own client, over `legato.client`, against every family of backends: the table in docs/sdks.md.

The providers are simulated, and refuse what the real ones refuse: thoughts that are not their own, ids of the wrong
form, calls without results.
"""

from __future__ import annotations

from collections.abc import Callable
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


def text(agent: str, backend: str, stream: bool) -> None:
    bench = Bench(agent, backend)
    outcome = bench.agent.run("hello there", stream=stream)
    assert "hello there" in outcome.text
    assert outcome.models == {bench.agent.model}
    assert bench.refusals == []


def parallel_tools(agent: str, backend: str, stream: bool) -> None:
    bench = Bench(agent, backend)
    outcome = bench.agent.run(ASK, stream=stream)
    assert (outcome.text, outcome.calls) == (ANSWER, 2)
    outcome = bench.agent.run("what did the first tool return?", stream=stream)
    assert 'returned: "hello a"' in outcome.text
    assert bench.refusals == []


def thinking(agent: str, backend: str, stream: bool) -> None:
    bench = Bench(agent, backend)
    outcome = bench.agent.run(f"think first, then {ASK}", stream=stream, thinking=True)
    assert (outcome.text.endswith(ANSWER), outcome.calls) == (True, 2)
    outcome = bench.agent.run(f"think first, then {ASK}", stream=stream, thinking=True)
    assert outcome.calls == 4
    assert bench.refusals == []
    assert backend not in THINKERS or bench.reasoning_sent


def structured_output(agent: str, backend: str, stream: bool) -> None:
    bench = Bench(agent, backend)
    assert bench.agent.parse("Which song is it?", stream=stream) is not None
    assert bench.refusals == []


def rate_limit(agent: str, backend: str, stream: bool) -> None:
    bench = Bench(agent, backend)
    with pytest.raises(bench.agent.rate_limited) as raised:
        bench.agent.run("fail with 429 after 300 seconds", stream=stream)
    assert status_of(raised.value) == 429
    assert bench.refusals == []


def overflow(agent: str, backend: str, stream: bool) -> None:
    bench = Bench(agent, backend, window=2_000)
    with pytest.raises(bench.agent.bad_request) as raised:
        bench.agent.run("word " * 20_000, stream=stream)
    assert status_of(raised.value) == 400


def cut_stream(agent: str, backend: str, stream: bool) -> None:
    """A stream that breaks before anything was said is asked for again, and the client does not notice."""
    bench = Bench(agent, backend)
    outcome = bench.agent.run("cut the stream after 0 chunks once", stream=stream)
    assert outcome.text
    assert [seen.fault is not None for seen in seen_by(bench.world).requests] == [True, False]
    assert bench.refusals == []


def status_of(error: BaseException) -> int:
    """The status that a client's own exception names."""
    for name in ("status_code", "code"):
        if isinstance(status := getattr(error, name, None), int):
            return status
    raise AssertionError(f"{error!r} names no status")


# --- the page ---------------------------------------------------------------------------------------------------------

COLUMNS: dict[str, Callable[[str, str, bool], None]] = {
    "text": text,
    "parallel tools": parallel_tools,
    "thinking": thinking,
    "structured output": structured_output,
    "rate limit": rate_limit,
    "overflow": overflow,
    "cut stream": cut_stream,
}
SDKS = {"openai chat": "openai", "openai responses": "openai"}
"""the packages of clients that are called otherwise"""
PAGE = Path(__file__).parents[2] / "docs" / "sdks.md"


def shown() -> list[list[str]]:
    """The table on the page, without its line of dashes."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def test_the_page_has_a_row_for_each_client_and_a_column_for_each_thing() -> None:
    head, *rows = shown()
    assert head == ["client", "answer", *COLUMNS]
    named = [f"{agent} ({SDKS.get(agent, agent)} {version(SDKS.get(agent, agent))})" for agent in AGENTS]
    assert [row[:2] for row in rows] == [[name, how] for name in named for how in ("streamed", "whole")]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_page_counts_the_backends_on_which_it_works(agent: str, stream: bool, column: str) -> None:
    failed: dict[str, str] = {}
    for backend in BACKENDS:
        try:
            COLUMNS[column](agent, backend, stream)
        except Exception as error:  # whatever a client raises, it did not work there
            failed[backend] = repr(error)
    head, *rows = shown()
    how = "streamed" if stream else "whole"
    [row] = [row for row in rows if row[0].startswith(f"{agent} (") and row[1] == how]
    assert failed == {}
    assert row[head.index(column)] == f"{len(BACKENDS) - len(failed)}/{len(BACKENDS)}"
