"""Slash commands, one by one, in a conversation without a prompt."""

import io
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.slash.contract import Next, Reopen
from legato.cli.chat.slash.table import run_command
from legato.cli.providers import initial_profile, open_world
from legato.cli.settings.files import load
from legato.cli.terminal.picker import Row
from legato.cli.terminal.screen import Screen
from legato.errors import ProviderError
from legato.model.records import RouteSelected
from legato.routing import only
from legato.session import Session, Turn
from legato.session.events import Waiting
from legato.store import open_store
from program import Home

CLAUDE, MISTRAL = "anthropic/claude-sonnet-4-5", "mistral/mistral-large-latest"
GPT = "openai/gpt-5"


class Chat:
    """What commands see of a conversation, and what they printed."""

    def __init__(self, setup: ChatSetup, session: Session) -> None:
        self.setup, self.session = setup, session
        self._stream = io.StringIO()
        self.screen = Screen(self._stream)
        self.servers: dict[str, str] = {}
        self.picks: list[int | None] = []
        """which rows are picked, one after the other"""
        self.offered: list[Row] = []
        """the rows of the last picker"""

    async def follow(self, turn: Turn) -> None:
        """Wait for the end of a turn."""
        await turn

    async def pick(
        self, title: str, rows: Sequence[Row], *, columns: Sequence[str] = (), search: str = ""
    ) -> int | None:
        """Pick what is to be picked next."""
        self.offered, self.sought = [*rows], search
        return self.picks.pop(0)

    async def does(self, line: str) -> tuple[Next, list[str]]:
        """Run a command; what follows from it, and the lines that it printed."""
        before = len(self._stream.getvalue())
        following = await run_command(self, line)
        return following, self._stream.getvalue()[before:].splitlines()

    async def prints(self, line: str) -> list[str]:
        """Run a command from which nothing follows; the lines that it printed."""
        following, lines = await self.does(line)
        assert following is None
        return lines


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@asynccontextmanager
async def chatting(home: Home, *, simulate: bool = True, model: str | None = None) -> AsyncGenerator[Chat]:
    loaded = load(flags={"simulate": ("--simulate", simulate), "model": ("-m", model)})
    async with open_world(loaded.settings) as world, open_store("memory:") as store:
        setup = ChatSetup(loaded, world, initial_profile(loaded.settings), folder=home.work, store=store)
        async with setup.open() as session:
            yield Chat(setup, session)


# --- who answers ---


def test_a_switch_that_cannot_work_is_refused_at_once(home: Home):
    async def main() -> None:
        async with chatting(home, simulate=False, model="ollama/qwen3") as chat:
            (told,) = await chat.prints(f"/model {CLAUDE}")
            assert told.startswith("there is no key for anthropic: set ANTHROPIC_API_KEY")
            (told,) = await chat.prints("/model anthropicc/claude")
            assert told.startswith("no provider 'anthropicc'")
            assert chat.session.route == "ollama/qwen3"

    anyio.run(main)


def test_a_switch_to_a_route_without_a_price_is_refused_where_dollars_are_limited(home: Home):
    async def main() -> None:
        home.configure("[limits]\nmax_cost = 1.0")
        async with chatting(home) as chat:
            (told,) = await chat.prints("/model ollama/qwen3")
            assert told.startswith("the limit of $1 cannot be kept: the price of ollama/qwen3 is not known")

    anyio.run(main)


def test_another_session_goes_on_with_who_answered_there(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            async with chat.setup.open(profile=only(MISTRAL)) as other:
                await other.send("hello")
            following, _ = await chat.does(f"/sessions {other.id}")
            assert following == Reopen(other.id, only(MISTRAL))

    anyio.run(main)


def test_a_session_is_picked_from_those_of_this_folder_first(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            assert await chat.prints("/sessions") == ["No other session is stored."]
            assert chat.setup.store is not None
            await chat.setup.store.create("far", meta={"cwd": "/far", "title": "far away"})
            await chat.setup.store.create("near", meta={"cwd": str(home.work), "title": "here"})
            chat.picks = [1, None]
            following, _ = await chat.does("/sessions")
            assert following == Reopen("far")
            assert [row.cells for row in chat.offered] == [("just now", ".", "here"), ("just now", "/far", "far away")]
            assert await chat.prints("/sessions") == []

    anyio.run(main)


def test_a_session_whose_provider_has_no_key_any_more_goes_on_with_who_answers_here(home: Home):
    async def main() -> None:
        async with chatting(home, simulate=False, model="ollama/qwen3") as chat:
            assert chat.setup.store is not None
            session_id = await chat.setup.store.create(records=[RouteSelected(route=MISTRAL)])
            following, (told,) = await chat.does(f"/sessions {session_id}")
            assert following == Reopen(session_id)
            assert told.startswith(f"{MISTRAL} answered there and cannot now: there is no key for mistral")
            assert told.endswith("; ollama/qwen3 goes on")

    anyio.run(main)


def test_an_answer_that_did_not_come_is_asked_for_again(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            with pytest.raises(ProviderError):
                await chat.session.send("fail once with 401")
            assert await chat.prints("/retry") == []
            assert chat.session.talk.entries[-1].text.endswith('heard: "fail once with 401"')
            assert await chat.prints("/retry") == ["nothing waits for an answer; send a message"]

    anyio.run(main)


def test_a_model_is_picked_with_its_window_price_and_key_and_what_a_switch_would_do(home: Home):
    home.configure(f'[profiles.mine]\nroutes = ["{GPT}"]\n')

    async def main() -> None:
        async with chatting(home) as chat:
            await chat.prints("/thinking on")
            await chat.session.send("think first, then hello")
            chat.picks = [0, None]
            lines = await chat.prints("/model")
            first = chat.offered[0]
            assert first.cells == ("key", "400k", "$1.25/10", GPT), "what is configured comes first"
            assert callable(first.about)
            assert first.about() == first.about()
            assert lines[0] == f"{GPT} answers from now on."
            told = " ".join(line.strip() for line in lines[1:])
            assert told.startswith("about 1k of 400k tokens, $0.00")
            assert " with a cold cache; " in told
            assert "thinking" in told
            assert await chat.prints("/model") == [f"{GPT} answers."]
            assert [row.cells[-1] for row in chat.offered if row.is_present] == [GPT]

    anyio.run(main)


def test_a_word_that_names_no_route_is_looked_for_among_the_models(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            chat.picks = [None]
            assert (await chat.prints("/model opus"))[-1].endswith(" answers.")
            assert chat.sought == "opus"
            chat.picks = []
            assert (await chat.prints("/model nothing_like_it"))[0].startswith("'nothing_like_it' names no route; ")

    anyio.run(main)


def test_models_without_a_key_come_last_and_say_so(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MISTRAL_API_KEY", "k")

    async def main() -> None:
        async with chatting(home, simulate=False, model=MISTRAL) as chat:
            chat.picks = [None]
            await chat.prints("/model")
            states = [row.cells[0] for row in chat.offered]
            assert states.index("no key") > states.index("key")
            assert set(states) == {"key", "no key", "keyless"}

    anyio.run(main)


def test_the_health_of_each_route_is_told(home: Home):
    home.configure(f'[profiles.mine]\npolicy = "failover"\nroutes = ["{CLAUDE}", "{MISTRAL}", "nowhere/x"]\n')

    async def main() -> None:
        async with chatting(home) as chat:
            chat.session.world.health.failed(MISTRAL, chat.session.world.monotonic())
            profile, claude, mistral, nowhere, present = await chat.prints("/route")
            assert (profile, claude) == ("  mine: failover", f"    {CLAUDE}: well")
            assert mistral.startswith(f"    {MISTRAL}: failed 1 time; rests for 1")
            assert nowhere.startswith("    nowhere/x: no provider 'nowhere'")
            assert present == f"▸ {CLAUDE}: well"

    anyio.run(main)


def test_a_route_that_is_waited_for_is_not_called_well(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            turn = chat.session.send("fail 30 times with 529")
            async for event in turn:
                if isinstance(event, Waiting):
                    break
            assert (await chat.prints("/route"))[-1] == f"▸ {CLAUDE}: fails at present; is tried again"
            turn.cancel()
            await turn

    anyio.run(main)


def test_thinking_effort_and_history_hold_from_the_next_request_on(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            assert await chat.prints("/thinking") == ["Thinking: default; effort: default."]
            assert await chat.prints("/thinking on") == ["Thinking: on; effort: default."]
            assert await chat.prints("/effort high") == ["Thinking: on; effort: high."]
            await chat.session.send("hello")
            assert chat.session.last is not None
            assert b'"thinking":{' in chat.session.last.request.json()
            assert await chat.prints("/effort default") == ["Thinking: on; effort: default."]
            assert (await chat.prints("/history summary_cap 200"))[2].split() == ["summary_cap", "200"]
            assert chat.session.history.settings.summary_cap == 200
            assert chat.setup.settings.history.summary_cap == 200

    anyio.run(main)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/thinking maybe", "thinking is default, on, off, not 'maybe'"),
        ("/effort huge", "effort is default, none, minimal, low, medium, high, xhigh, max, not 'huge'"),
        ("/history x 1", "history has no 'x'; there are max_tool_history_length, "),
        ("/history summary_cap", "/history summary_cap needs a value, such as 500"),
        ("/history summary_cap many", "history.summary_cap: expected a whole number, got text"),
        ("/history summary_cap 1", "summary_cap is 1; it has to be at least 50"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_what_can(home: Home, command: str, told: str):
    async def main() -> None:
        async with chatting(home) as chat:
            (line,) = await chat.prints(command)
            assert line.startswith(told)

    anyio.run(main)


# --- to be read elsewhere ---


def test_a_conversation_is_written_as_markdown_html_and_json(home: Home):
    async def main() -> None:
        async with chatting(home) as chat:
            (home.work / "a.txt").write_text("```\nfenced\n```\n")
            assert await chat.prints("/export md") == ["nothing was said yet, so there is nothing to write"]
            await chat.session.send("use read on a.txt")
            name = chat.session.id
            assert await chat.prints("/export md") == [f"Wrote {home.work / f'{name}.md'}."]
            assert await chat.prints("/export page.html") == [f"Wrote {home.work / 'page.html'}."]
            assert await chat.prints("/export all.json") == [f"Wrote {home.work / 'all.json'}."]
            (refused,) = await chat.prints("/export page.html")
            assert "exists already" in refused
            entries = chat.session.talk.entries
        written = (home.work / f"{name}.md").read_text()
        assert written.startswith(f"# {name}\n\n## Person\n\nuse read on a.txt\n\n## Model (")
        assert '**read**\n\n```json\n{"path":"a.txt"}\n```\n\n````\n```\nfenced\n```\n````\n' in written
        assert (home.work / "page.html").read_bytes().startswith(b"<!DOCTYPE html>")
        told = msgspec.json.decode((home.work / "all.json").read_bytes())
        assert told["entries"] == msgspec.json.decode(msgspec.json.encode(entries))

    anyio.run(main)


# --- lines that fit ---


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_help_and_the_last_request_fit_the_screen_and_nothing_is_cut(
    home: Home, monkeypatch: pytest.MonkeyPatch, columns: int
):
    monkeypatch.setenv("COLUMNS", str(columns))

    async def main() -> None:
        async with chatting(home) as chat:
            await chat.session.send("hello")
            for command in ("/help", "/last", "/status", "/cost", "/lint"):
                lines = await chat.prints(command)
                assert max(map(len, lines)) <= columns
                assert not any("…" in line for line in lines)
            assert str(chat.session.id) in " ".join(await chat.prints("/status"))
            words = " ".join((" ".join(await chat.prints("/help"))).split())
            assert "run a command in your shell and put its output into the conversation" in words

    anyio.run(main)
