"""The conversation in a terminal, with a prompt whose lines are there already: commands, turns, leaving."""

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from legato.cli.chat.completion import Suggestions
from legato.cli.chat.interactive import Interactive
from legato.cli.chat.running_servers import RunningServers
from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.shared_terminal import SharedTerminal
from legato.cli.chat.slash.contract import Chat, Command
from legato.cli.chat.slash.table import COMMANDS
from legato.cli.providers import initial_profile, open_world
from legato.cli.settings.files import load
from legato.cli.terminal.approver import TerminalApprover
from legato.cli.terminal.chat_prompt import PromptActions
from legato.cli.terminal.picker import Row
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import ColorChoice
from legato.simulation import SimulatedTransport
from legato.store import Store, open_store
from legato.transport import WireResponse
from program import Answers, Home, until

Line = str | BaseException | Callable[[], str]
Meanwhile = Callable[["Prompt", Callable[[], str]], Coroutine[Any, Any, None]]
"""what happens beside a conversation; gets its prompt, and what is on the screen"""


class Prompt(Answers):
    """A prompt whose messages are there already; where they end, somebody leaves with Ctrl-D."""

    def __init__(self, lines: tuple[Line, ...], answers: tuple[str | BaseException, ...]) -> None:
        super().__init__(*answers)
        self.lines = list(lines)
        self.actions = PromptActions()
        self.queue: list[str] = []
        self.taken_back: list[str] = []
        self.titles: list[str] = []
        self.replaces = False
        self.is_busy = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        yield

    @contextmanager
    def busy(self) -> Iterator[None]:
        self.is_busy = True
        yield
        self.is_busy = False

    def submit(self, line: str) -> None:
        """Somebody presses Enter while a turn runs."""
        if not self.actions.submitted(line):
            self.queue.append(line)

    def take_messages(self) -> list[str]:
        taken, self.queue = self.queue, []
        return taken

    def take_back(self) -> None:
        self.taken_back += self.take_messages()

    def take_replacing(self) -> bool:
        replaces, self.replaces = self.replaces, False
        return replaces

    def tell(self, title: str, *, bell: bool = False) -> None:
        self.titles.append(title)

    async def message(self, *, default: str = "") -> str:
        await anyio.lowlevel.checkpoint()
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        if callable(line):
            said = line()
            if not said:
                await anyio.sleep_forever()
            return said
        return line


class Ran:
    """What became of a run."""

    def __init__(self, code: int, text: str, prompt: Prompt, chat: Interactive) -> None:
        self.code, self.text, self.prompt, self.chat = code, text, prompt, chat


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@pytest.fixture
def talk(home: Home) -> Callable[..., Ran]:
    def run(
        *lines: Line, answers: tuple[str | BaseException, ...] = (), store: Store | None = None, session: str | None = None,
        meanwhile: Meanwhile | None = None, stores: bool = True, is_live: bool = False, **settings: Any,
    ) -> Ran:  # fmt: skip
        async def main() -> Ran:
            chosen = {"sandbox.mode": "off"} | settings  # not every system has one
            flags = {"simulate": ("--simulate", True), **{key: ("--x", value) for key, value in chosen.items()}}
            loaded = load(flags=flags)
            stream = io.StringIO()
            terminal = SharedTerminal(Screen(stream, ColorChoice.ALWAYS if is_live else ColorChoice.AUTO))
            terminal.screen.is_live = is_live
            prompt: Any = Prompt(lines, answers)
            async with open_world(loaded.settings) as world, open_store(None if store is None else "memory:") as kept:
                place = store or kept if stores else None
                setup = ChatSetup(loaded, world, initial_profile(loaded.settings), folder=home.work, store=place)
                setup.approval.approver = TerminalApprover(
                    terminal.screen,
                    prompt,
                    interrupt=terminal.interrupt,
                    before=terminal.take,
                    after=terminal.give_back,
                )
                chat = Interactive(setup, terminal, prompt=prompt, servers={"one": "connected, 2 tools"})
                beside = asyncio.create_task(meanwhile(prompt, stream.getvalue)) if meanwhile is not None else None
                code = await chat.run(session)
                if beside is not None:
                    await beside
            return Ran(code, stream.getvalue(), prompt, chat)

        return anyio.run(main)

    return run


Talk = Callable[..., Ran]

# --- talking ---


def test_an_answer_that_is_not_whole_is_told(talk: Talk):
    ran = talk("run out of tokens", "refuse to answer", "hello")

    told = [line for line in ran.text.splitlines() if line.startswith("the ")]
    assert told == [
        "the answer was cut at the output limit; ask to go on, or raise max_tokens",
        "the model refused to answer; ask in another way, or ask another model",
    ]


def test_a_message_is_answered_and_ctrl_d_leaves(talk: Talk):
    ran = talk("hello")

    assert ran.code == 0
    assert 'claude-sonnet-4-5 (simulated) heard: "hello"\n' in ran.text


def test_an_empty_line_says_nothing(talk: Talk):
    assert "heard" not in talk("", "  ").text


def test_a_file_that_is_mentioned_goes_along(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("x")

    assert "attached a.txt\n" in talk("look at @a.txt").text


def test_what_may_pass_later_is_said_with_how_to_ask_again(talk: Talk):
    ran = talk("fail 3 times with 503", "/retry")

    assert "\n/retry asks again.\n" in ran.text
    assert ran.text.count('heard: "fail 3 times with 503"') == 1


def test_what_cannot_be_answered_is_said_and_the_conversation_goes_on(talk: Talk):
    ran = talk("fail with 402", "hello")

    assert "says that the balance or quota is used up" in ran.text
    assert 'heard: "hello"' in ran.text


def test_a_denied_call_is_not_run_and_the_model_gets_the_reason(talk: Talk, home: Home):
    ran = talk('call shell with {"command": "touch made"}', answers=("n not here",))

    assert "shell wants to run:\n  │ touch made\n" in ran.text
    assert "The user said: not here" in ran.text
    assert not (home.work / "made").exists()


def test_always_becomes_a_rule_in_the_users_settings(talk: Talk, home: Home):
    home.configure("# mine\n")
    ran = talk(
        'call shell with {"command": "touch one"}', 'call shell with {"command": "touch two"}', answers=("a", "touch *")
    )

    assert (home.work / "two").exists()
    assert len(ran.prompt.asked) == 2
    assert "# mine\n" in home.settings.read_text()
    assert load().settings.approval.allow == ("shell(touch *)",)


def test_yes_for_the_session_means_this_very_call_until_another_session_begins(talk: Talk, home: Home):
    one, two = (f'call shell with {{"command": "touch {name}"}}' for name in ("one", "two"))
    ran = talk(one, one, two, "/approval", "/clear", one, "/approval", answers=("s", "n", "n"))

    assert len([question for question, _ in ran.prompt.asked if question == "allow? "]) == 3
    assert ((home.work / "one").exists(), (home.work / "two").exists()) == (True, False)
    assert ran.text.count("  this session: shell touch one\n") == 1
    assert not home.settings.exists()


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "legato.toml", "mine.toml"])
def test_a_protected_file_is_asked_about_where_edits_are_free(
    talk: Talk, home: Home, monkeypatch: pytest.MonkeyPatch, path: str
):
    (home.work / "mine.toml").write_text("")
    monkeypatch.setenv("LEGATO_CONFIG", "mine.toml")
    arguments = msgspec.json.encode({"path": path, "content": "x\n"}).decode()
    ran = talk(f"call write with {arguments}", answers=("s", "n"), **{"approval.mode": "edits"})

    assert " is protected: " in ran.text
    assert "[y] yes, once   [e] edit it   [n] no, and why\n" in ran.text
    assert not (home.work / path).exists() or not (home.work / path).read_text()


def test_a_rule_that_cannot_be_written_holds_for_this_session(talk: Talk, home: Home):
    home.settings.parent.mkdir(parents=True)
    home.settings.parent.chmod(0o700)

    def spoil() -> str:
        home.settings.write_text("model = ")
        return 'call shell with {"command": "touch one"}'

    ran = talk(spoil, 'call shell with {"command": "touch two"}', answers=("a", "touch *"))
    assert (home.work / "two").exists()
    assert "holds for this session only" in ran.text


def test_edited_arguments_are_what_runs(talk: Talk, home: Home):
    talk('call shell with {"command": "touch one"}', answers=("e", "touch other"))

    assert (home.work / "other").exists()
    assert not (home.work / "one").exists()


def test_an_edit_is_shown_as_a_difference(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("old\n")
    arguments = msgspec.json.encode({"path": "a.txt", "content": "new\n"}).decode()
    ran = talk(f"call write with {arguments}", **{"approval.mode": "edits"})

    assert "● write a.txt\n  --- a/a.txt\n  +++ b/a.txt\n  @@ -1 +1 @@\n  -old\n  +new\n  Replaced a.txt" in ran.text


def test_ctrl_c_at_a_question_cancels_the_turn_and_keeps_the_session(talk: Talk):
    ran = talk('call shell with {"command": "x"}', "hello", answers=(KeyboardInterrupt(),))

    assert "not started\ncancelled\n" in ran.text
    assert 'heard: "hello"' in ran.text


# --- leaving ---


def test_ctrl_c_twice_at_an_empty_prompt_leaves(talk: Talk):
    ran = talk(KeyboardInterrupt(), KeyboardInterrupt(), "never said")

    assert ran.code == 130
    assert "Press Ctrl-C again to leave." in ran.text
    assert ran.prompt.lines == ["never said"]


def test_one_ctrl_c_and_a_message_between_two_leave_nothing(talk: Talk):
    assert talk(KeyboardInterrupt(), "hello", KeyboardInterrupt()).code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_at_the_prompt_leaves(talk: Talk, number: signal.Signals, code: int):
    def end() -> str:
        signal.raise_signal(number)
        return ""

    assert talk(end).code == code


def test_two_interrupts_from_outside_at_the_prompt_leave(talk: Talk):
    def interrupt() -> str:
        signal.raise_signal(signal.SIGINT)
        return ""

    assert talk(interrupt, interrupt).code == 130


def test_a_session_in_which_nothing_was_said_is_not_kept(talk: Talk, home: Home):
    talk("/quit")

    assert home.legato("sessions").stderr == "No session is stored yet.\n"


# --- commands ---


def test_a_switch_tells_what_it_costs(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("forty-two")
    ran = talk("use read on a.txt", "/model", "/model kimi/kimi-k2-thinking", "what did the tool return?", "/cost")

    assert "anthropic/claude-sonnet-4-5 answers." in ran.text
    assert "kimi/kimi-k2-thinking answers from now on.\n  about " in ran.text
    assert "forty-two" in ran.text.rpartition("from now on")[2]
    assert "together" in ran.text


def test_a_route_that_names_nothing_is_said_and_nothing_changes(talk: Talk):
    ran = talk("/model mistrall/x", "hello")

    assert "did you mean 'mistral'?" in ran.text
    assert 'claude-sonnet-4-5 (simulated) heard: "hello"' in ran.text


def test_profiles_are_listed_and_chosen(talk: Talk, home: Home):
    assert "No profiles are configured" in talk("/route").text
    home.configure('[profiles.two]\npolicy = "round-robin"\nroutes = ["groq/a", "xai/b"]\n')
    ran = talk("/route two", "one", "two", "/route", "/route tow")

    assert 'a (simulated) heard: "one"' in ran.text
    assert 'b (simulated) heard: "two"' in ran.text
    assert "▸ two: round-robin\n    groq/a: well\n    xai/b: well\n" in ran.text
    assert "did you mean 'two'?" in ran.text


def test_approval_can_be_changed_on_the_way(talk: Talk, home: Home):
    ran = talk("/approval never", 'call shell with {"command": "touch made"}', "/approval sometimes")

    assert (home.work / "made").exists()
    assert "there is no approval mode 'sometimes'" in ran.text


def test_what_there_is_is_shown(talk: Talk):
    ran = talk("/model groq/x", "/status", "/tools", "/mcp", "/help")

    assert "profile       groq/x (manual)" in ran.text
    assert "endpoint      simulated" in ran.text
    assert "shell  execute  Run a shell command" in ran.text
    assert "one  connected, 2 tools" in ran.text
    for name in COMMANDS:
        assert name in ran.text


def test_an_unknown_command_is_answered_with_the_nearest(talk: Talk):
    ran = talk("/modle x", "/zzz")

    assert "There is no command /modle; did you mean /model?" in ran.text
    assert "There is no command /zzz; /help lists them" in ran.text


def test_names_of_other_agents_are_understood(talk: Talk):
    ran = talk("hello", "/permissions", "/new", "again", "/resume zzz", "/exit", "never said")

    assert "Approval: ask." in ran.text
    assert "A new conversation begins; the old one stays stored." in ran.text
    assert "no session 'zzz' is stored" in ran.text
    assert "never said" not in ran.text


def test_undo_takes_back_the_last_message(talk: Talk):
    ran = talk("remember apple_pie", "/undo", "what is apple_pie?", "/undo 5", "/undo", "/undo x")

    assert "Undone: remember apple_pie\n" in ran.text
    assert "Undone: what is apple_pie?\n" in ran.text
    assert "Nothing in this conversation tells me about apple_pie" in ran.text
    assert "There is nothing to undo." in ran.text
    assert "/undo takes a number" in ran.text


def test_undo_says_how_many_messages_it_took_back(talk: Talk):
    ran = talk("one", "two", "three", "/undo 2", "/undo 99")

    assert "Undone: 2 messages, the first of them: two\n" in ran.text
    assert "Undone: one\n" in ran.text


def test_a_conversation_that_was_undone_stays_stored(talk: Talk):
    talk("hello", "/undo", "/clear", "/quit")

    ran = talk("/sessions")

    assert "No other session is stored." not in ran.text


def test_a_new_conversation_says_whether_the_old_one_is_kept(talk: Talk):
    assert "A new conversation begins; the old one stays stored.\n" in talk("hello", "/clear").text
    assert "A new conversation begins; the old one is not kept.\n" in talk("hello", "/clear", stores=False).text


def test_compact_says_what_it_did(talk: Talk):
    assert "There is nothing that could be shortened." in talk("/compact").text
    assert (
        "Shortened: "
        in talk(*[f"tell me about thing {number} at length " + "x " * 400 for number in range(8)], "/compact").text
    )


def test_last_tells_what_was_sent_and_what_came_of_it(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("x")
    ran = talk("/last", "use read on a.txt", "/last", "fail with 402", "/last", "/last sent.json", "/last sent.json")

    assert "No request was made yet since this conversation was opened." in ran.text
    assert "anthropic/claude-sonnet-4-5, in the form anthropic/anthropic, native tool\n  history\n" in ran.text
    assert "calls: 1 seen, 1 emitted (1 success)\n" in ran.text
    assert "answered: ended done, served by claude-sonnet-4-5" in ran.text
    assert "the provider said no:\n  QuotaExhausted: " in ran.text
    assert "  no layer of ours is at fault\n" in ran.text
    assert "/last shows" not in ran.text
    assert "sent.json exists already; name another file" in ran.text
    written = msgspec.json.decode((home.work / "sent.json").read_bytes())
    assert (written["diagnosis"]["error"], written["report"]["route"]) == (
        "QuotaExhausted",
        "anthropic/claude-sonnet-4-5",
    )
    assert written["body"]["messages"][-1]["content"][0]["text"] == "fail with 402"


def test_a_fault_of_ours_says_where_to_see_what_was_sent(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    async def refuse(*_: Any) -> WireResponse:
        async def chunks() -> AsyncIterator[bytes]:
            yield b'{"error": {"message": "messages.0: unexpected `tool_use_id` found in `tool_result` blocks"}}'

        return WireResponse(400, {}, chunks())

    monkeypatch.setattr(SimulatedTransport, "send", refuse)
    ran = talk("hello", "/last")

    assert (
        "This is a fault of the request and not of yours. (rendering fault: a result went out without its call)"
        in ran.text
    )
    assert "/last shows what was sent, and which layer is at fault.\n" in ran.text
    assert (
        "  fault class: rendering, found in the layer provider: a result went out\n    without its call\n" in ran.text
    )


def test_lint_tells_what_a_provider_would_say(talk: Talk):
    ran = talk("use list on .", "/lint mistral/mistral-large-latest")

    told = ran.text.partition("mistral/mistral-large-latest: 0 findings.\n")[2]
    assert told.startswith("mistral/mistral-large-latest, in the form ")
    assert "\ncalls: 1 seen, 1 emitted (1 success)\n  hist_tool_" in told
    assert "prefix:" not in told


def test_a_conversation_is_written_to_a_file_once(talk: Talk, home: Home):
    ran = talk(
        "hello", "/export out.jsonl", "/export out.jsonl", "/export body.json anthropic", "/export x.json nonsense"
    )

    assert f"Wrote {home.work / 'out.jsonl'}, as legato." in ran.text
    assert "exists already" in ran.text
    assert "'nonsense' is not a format that is written" in ran.text
    assert msgspec.json.decode((home.work / "body.json").read_bytes())["model"] == "claude-sonnet-4-5"
    assert home.legato("import", "out.jsonl").exit_code == 0


def test_clear_begins_anew_and_sessions_go_back(talk: Talk, home: Home):
    ran = talk("remember apple_pie", "/clear", "what is apple_pie?", "/sessions", "/sessions zzz")
    assert "Nothing in this conversation tells me" in ran.text
    assert ".  remember apple_pie\n" in ran.text
    assert "no session 'zzz' is stored" in ran.text

    first = msgspec.json.decode(home.legato("sessions", "list", "--json").stdout.splitlines()[1])["id"]
    again = talk("one", f"/sessions {first}", "hello")
    assert f"Session {first} goes on: 2 entries.\n› remember apple_pie\n" in again.text


def test_a_message_is_named_by_its_words_and_not_by_the_file_that_went_along(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("a long file")
    ran = talk("look @a.txt", "/undo", "look again @a.txt")
    (first,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    again = talk(session=msgspec.json.decode(first)["id"])

    assert "Undone: look @a.txt\n" in ran.text
    assert "\n› look again @a.txt\n" in again.text


def test_a_stored_session_shows_its_last_answer_as_it_was_shown(talk: Talk, home: Home):
    """In a terminal: Markdown without its signs, in at most as many rows as are shown, none cut in the middle."""
    talk("answer in Markdown")
    (first,) = home.legato("sessions", "list", "--json").stdout.splitlines()

    def plain(text: str) -> str:
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    again = plain(talk(session=msgspec.json.decode(first)["id"], is_live=True).text)

    assert "\nWhat claude-sonnet-4-5 can write\n" in again
    assert "A paragraph with bold words, italic ones, code and a link\n(https://example.org), long" in again
    assert "**" not in again
    assert re.search(r"… \d+ more lines …", again)
    assert "\nThat was all.\n" in again


def test_a_stored_session_shows_that_its_last_answer_is_not_whole(talk: Talk, home: Home):
    talk("run out of tokens")
    (first,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    again = talk(session=msgspec.json.decode(first)["id"])

    assert "(not whole: it reached the limit of output tokens)\n" in again.text


def test_a_stored_session_shows_no_answer_to_an_earlier_question(talk: Talk, home: Home):
    talk("the first question", "!echo what I ran since")
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    ran = talk(session=msgspec.json.decode(line)["id"])

    assert "what I ran since" in ran.text
    assert "the first question" not in ran.text


def test_a_stored_session_shows_where_it_stands(talk: Talk, home: Home):
    home.legato("--simulate", "-q", "-p", "the first question")
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    ran = talk("and now", session=msgspec.json.decode(line)["id"])

    assert "› the first question\n" in ran.text
    assert 'heard: "and now"' in ran.text


def test_a_command_of_ones_own_is_run_and_becomes_part_of_the_conversation(talk: Talk, home: Home):
    ran = talk("!echo hidden_word; exit 3", "hello", "!", "!true")

    assert ran.text.startswith("hidden_word\n(exit code 3)\n")
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    shown = home.legato("sessions", "show", msgspec.json.decode(line)["id"]).stdout
    assert "I ran this command in my shell: echo hidden_word; exit 3\n(exit code 3) It wrote:\n\nhidden_word\n" in shown
    assert "I ran this command in my shell: true\n(exit code 0) It wrote nothing.\n" in shown


def test_a_shell_that_is_not_there_is_said(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHELL", "/nonexistent/shell")

    assert "it could not be started" in talk("!true").text


# --- while a turn runs ---


UNTIL_GO = 'call shell with {"command": "until [ -e go ]; do sleep 0.01; done"}'


def test_what_is_sent_while_a_tool_runs_waits_and_is_heard_when_the_tool_has_ended(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("")

    async def meanwhile(prompt: Prompt, shown: Callable[[], str]) -> None:
        await until(lambda: "● shell" in shown())
        prompt.submit("remember apple_pie @a.txt")
        prompt.submit("/cost")
        await until(lambda: "together" in shown() or "Nothing was used" in shown())
        assert prompt.queue == ["remember apple_pie @a.txt"]
        assert "attached" not in shown()
        (home.work / "go").touch()

    ran = talk(UNTIL_GO, "what is apple_pie?", meanwhile=meanwhile, **{"approval.mode": "never"})

    assert ran.text.count("attached a.txt\n") == 1
    assert ran.prompt.queue == []
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    shown = home.legato("sessions", "show", msgspec.json.decode(line)["id"]).stdout
    assert shown.count("remember apple_pie") == 1


def test_what_waits_when_a_turn_is_cancelled_is_put_back_and_not_sent(talk: Talk, home: Home):
    async def meanwhile(prompt: Prompt, shown: Callable[[], str]) -> None:
        await until(lambda: "● shell" in shown())
        assert prompt.is_busy
        prompt.submit("never sent")
        prompt.actions.interrupt()

    ran = talk(UNTIL_GO, meanwhile=meanwhile, **{"approval.mode": "never"})

    assert ran.prompt.taken_back == ["never sent"]
    assert "cancelled while it ran" in ran.text
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    assert "never sent" not in home.legato("sessions", "show", msgspec.json.decode(line)["id"]).stdout


def test_the_screen_is_taken_by_one_after_the_other():
    """By a question, say, while a picker is there: nothing of it may stand among the picker's lines."""

    async def main() -> None:
        terminal, told = SharedTerminal(Screen(io.StringIO())), list[str]()

        async def question() -> None:
            await terminal.take()
            told.append("question")
            terminal.give_back()

        async with anyio.create_task_group() as group:
            await terminal.take()
            group.start_soon(question)
            await anyio.wait_all_tasks_blocked()
            told.append("picked")
            terminal.give_back()
        assert (told, terminal.gate.is_open) == (["picked", "question"], True)

    anyio.run(main)


def test_what_runs_beside_turns_is_interrupted_by_the_same_keys(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    async def for_ever(chat: Chat, _: str) -> None:
        chat.screen.line("it goes on")
        await anyio.sleep_forever()

    async def meanwhile(prompt: Prompt, shown: Callable[[], str]) -> None:
        for words in ("it goes on", "begun"):
            await until(lambda words=words: words in shown())
            assert prompt.is_busy
            prompt.actions.interrupt()

    monkeypatch.setitem(COMMANDS, "/ever", Command("/ever", "", "", for_ever))
    ran = talk("/ever", "!echo begun; sleep 600", "hello", meanwhile=meanwhile)

    assert ran.text.count("cancelled\n") == 2
    assert 'heard: "hello"' in ran.text


def test_servers_that_are_starting_are_waited_for_until_someone_does_not_want_to(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(RunningServers, "are_starting", True)
    monkeypatch.setattr(RunningServers, "ready", lambda _: anyio.sleep_forever())

    async def meanwhile(prompt: Prompt, shown: Callable[[], str]) -> None:
        await until(lambda: prompt.is_busy)
        prompt.actions.interrupt()

    ran = talk("hello", meanwhile=meanwhile)

    assert "goes on without them\n" in ran.text
    assert 'heard: "hello"' in ran.text


def test_a_message_that_is_edited_takes_the_place_of_the_last_one(talk: Talk):
    prompts: list[Prompt] = []

    async def meanwhile(prompt: Prompt, shown: Callable[[], str]) -> None:
        prompts.append(prompt)

    def edit() -> str:
        assert prompts[0].actions.last_message() == "remember apple_pie"
        prompts[0].replaces = True
        return "remember plum_cake"

    ran = talk("remember apple_pie", edit, "what is apple_pie?", meanwhile=meanwhile)

    assert "Undone: remember apple_pie\n" in ran.text
    assert "Nothing in this conversation tells me about apple_pie" in ran.text


def test_a_key_goes_through_the_approval_modes_that_still_ask(talk: Talk):
    ran = talk("/quit")
    modes: list[str] = []
    for _ in range(4):
        ran.prompt.actions.next_mode()
        modes.append(ran.chat.setup.approval.mode)

    assert modes == ["edits", "plan", "ask", "edits"]


def test_the_window_says_that_something_runs_and_that_it_has_ended(talk: Talk):
    assert talk("hello").prompt.titles == ["legato · work · working", "legato · work"]


def test_leaving_tells_how_to_come_back(talk: Talk, home: Home):
    ran = talk("hello", "/quit")
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()

    session = msgspec.json.decode(line)["id"]
    assert ran.text.endswith(f"Resume with: legato --resume {session} --simulate\n"), (
        "without it, a key would be needed"
    )
    assert "Resume with" not in talk("/quit").text
    assert "Resume with" not in talk("hello", stores=False).text


def test_a_signal_while_a_tool_runs_saves_and_leaves(talk: Talk, home: Home):
    command = f"kill -TERM {os.getpid()}; sleep 30"
    ran = talk(f'call shell with {{"command": "{command}"}}', "never said", **{"approval.mode": "never"})

    assert (ran.code, ran.prompt.lines) == (143, ["never said"])
    assert "cancelled while it ran" in ran.text
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    assert "cancelled while it ran" in home.legato("sessions", "show", msgspec.json.decode(line)["id"]).stdout


def test_a_command_can_let_the_person_pick_one_of_many(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    picked: list[int | None] = []

    async def run(chat: Chat, _: str) -> None:
        picked.append(await chat.pick("fruit", [Row(("apple",)), Row(("pear",))]))

    monkeypatch.setitem(COMMANDS, "/fruit", Command("/fruit", "", "", run, at_once=True))
    ran = talk("/fruit", "/fruit", answers=("2", ""))

    assert picked == [1, None]
    assert "fruit\n1  apple\n2  pear\n" in ran.text


def test_the_question_for_the_call_of_a_subagent_says_whose_it_is(talk: Talk):
    prompt = 'call shell with {\\"command\\": \\"ls\\"}'
    ran = talk(f'call task with {{"description": "look around", "prompt": "{prompt}"}}', answers=("n", ""))

    assert "subagent (look around): shell wants to run:\n  │ ls\n" in ran.text


def test_a_subagent_is_watched(talk: Talk, home: Home):
    (home.work / "a.txt").write_text("forty-two")
    ran = talk('call task with {"prompt": "use read on a.txt"}')

    assert "subagent: read\n" in ran.text
    assert "forty-two" in ran.text


# --- below the prompt, and completion ---


def test_below_the_prompt_stand_route_mode_and_what_was_used(talk: Talk):
    ran = talk("hello")

    assert ran.chat.below.startswith("anthropic/claude-sonnet-4-5 · ask · ")


def test_commands_routes_profiles_and_files_are_completed(talk: Talk, home: Home):
    home.configure('[profiles.fast]\nroutes = ["groq/quick"]\n')
    (home.work / "docs").mkdir()
    (home.work / "docs" / "page.md").touch()
    (home.work / ".hidden").touch()
    suggest = Suggestions(talk("/quit").chat.setup)

    def texts(text: str) -> list[str]:
        return [item.text for item in suggest(text)]

    assert texts("/mo") == ["/model"]
    assert "groq/quick" in texts("/model ")
    assert texts("/model mistral") == ["mistral/mistral-large-latest"]
    assert texts("/model qui") == ["groq/quick"]
    assert texts("/model claude-opus-5-5") == ["anthropic/claude-opus-5-5"]
    assert texts("/route f") == ["fast"]
    assert texts("/model opus-5-5") == ["anthropic/claude-opus-5-5"]
    assert texts("/approval e") == ["edits"]
    assert texts("/thinking o") == ["on", "off"]
    assert texts("/effort m") == ["minimal", "medium", "max"]
    assert texts("/history h") == ["high_mark"]
    assert texts("/undo ") == []
    assert texts("look at @do") == ["docs/"]
    assert texts("look at @docs/p") == ["page.md"]
    assert texts("@.h") == [".hidden"]
    assert texts("@none/") == []
    assert texts("mail@do") == []


def test_a_session_that_somebody_else_holds_is_not_taken_and_this_one_goes_on(talk: Talk, home: Home):
    home.legato("--simulate", "-q", "-p", "theirs")
    (line,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    taken = msgspec.json.decode(line)["id"]
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, taken], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert held.stdout is not None
    assert held.stdout.readline() == "held\n"
    ran = talk("remember apple_pie", f"/sessions {taken}", "hello")
    held.communicate("done\n")

    assert "somebody else" in ran.text
    assert "› remember apple_pie\n" in ran.text
    assert 'heard: "hello"' in ran.text


HOLD = """
import sys, anyio
from legato.store import open_store
async def main():
    async with open_store() as store:
        await store.open(sys.argv[1], holder="somebody else")
        print("held", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)
anyio.run(main)
"""


# --- the same in every face ---


def records(home: Home, session: str) -> list[dict[str, Any]]:
    """The log of a session without its times, calls that ran side by side in call order."""
    told = [msgspec.json.decode(line) for line in home.legato("sessions", "export", session).stdout.splitlines()[1:]]
    for record in told:
        record.pop("at", None)

    def place(indexed: tuple[int, dict[str, Any]]) -> tuple[int, str]:
        number, record = indexed
        call = record.get("call") or next(
            (
                block["call_id"]
                for block in record.get("entry", {}).get("blocks", ())
                if block["type"] == "tool_response"
            ),
            "",
        )
        return (len(told) if not call and number > batch else number if not call else batch, f"{call} {number:05}")

    batch = next(number for number, record in enumerate(told) if record["record"] == "started")
    return [record for _, record in sorted(enumerate(told), key=place)]


@pytest.mark.req("REQ-915-029", "REQ-915-045")
def test_the_same_turn_in_a_conversation_and_in_one_shot_gives_the_same_log(talk: Talk, home: Home):
    names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    for name in names:
        (home.work / name).write_text(f"this is {name}")
    prompt = f"use read on {', '.join(names[:-1])} and {names[-1]}"
    home.legato("--simulate", "-q", "-p", prompt)
    talk(prompt)
    logs = [
        records(home, msgspec.json.decode(line)["id"])
        for line in home.legato("sessions", "list", "--json").stdout.splitlines()
    ]

    assert sum(record["record"] == "started" for record in logs[0]) == 5
    assert logs[0] == logs[1]
