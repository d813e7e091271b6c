"""What shells offer behind the cursor, asked of the shells themselves where they are there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from legato.cli.app import COMMANDS, app
from program import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def offered(*words: str) -> list[str]:
    """What is offered for the last of `words`."""
    shell = ShellComplete(app, {}, "legato", "_LEGATO_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


def test_the_first_word_is_a_command_or_an_option_of_the_chat(home: Home):
    assert offered("") == list(COMMANDS)
    assert offered("s") == ["sessions", "serve", "simulate"]
    assert {"--version", "--help", "--model", "--continue", "--json-schema"} <= set(offered("--"))


def test_routes_profiles_and_providers_are_offered_those_of_profiles_first(home: Home):
    home.configure('[profiles.mine]\nroutes = ["anthropic/my-own"]\n')

    assert offered("-m", "anthropic/")[0] == "anthropic/my-own"
    assert offered("--route", "") == ["mine"]
    assert offered("serve", "--route", "mi")[0] == "mine"
    assert offered("models", "--provider", "anthr") == ["anthropic"]
    assert "openai/gpt-5" in offered("config", "explain", "openai/gpt")


def test_sessions_targets_and_formats_are_offered(home: Home):
    home.legato("--simulate", "-q", "-p", "hello")
    (session,) = [line.split()[0] for line in home.legato("sessions").stdout.splitlines()]

    assert offered("-r", "") == [session]
    assert offered("sessions", "show", session[:4]) == [session]
    assert offered("inspect", session[:4])[0] == session
    assert offered("convert", "x", "--to", "cod") == ["codex"]
    assert "claude-code" in offered("lint", "--from", "")
    assert offered("--output-format", "") == ["text", "json", "stream-json"]


def test_settings_that_cannot_be_read_offer_nothing_and_print_nothing(home: Home, capfd: pytest.CaptureFixture[str]):
    home.configure("model = ")

    assert offered("-m", "") == []
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def program(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program `legato`, which is where commands are looked for first."""
    folder = home.root / "bin"
    folder.mkdir()
    (folder / "legato").write_text(f'#!/bin/sh\nexec {sys.executable} -m legato "$@"\n')
    (folder / "legato").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def test_bash_completes(program: Path):
    asked = (
        'eval "$(legato completion bash)"\n'
        "COMP_WORDS=(legato convert x --to cod) COMP_CWORD=4\n"
        '_legato_completion legato\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    told = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, check=True)

    assert (told.stdout, told.stderr) == ("codex\n", "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes(program: Path):
    asked = 'legato completion fish | source; complete -C "legato sessions ren"; complete -C "legato serv"'
    told = subprocess.run(["fish", "--no-config", "-c", asked], capture_output=True, text=True, check=True)

    assert [line.split("\t")[0] for line in told.stdout.splitlines()] == ["rename", "serve"]
    assert told.stdout.endswith("any provider, through a local gateway.\n"), "what is told about a word has commas"


def test_the_script_for_fish_keeps_what_is_told_about_a_word(home: Home):
    script = home.legato("completion", "fish").stdout
    assert 'set -l metadata (string split --max 1 "," $completion)' in script


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_completes(program: Path):
    # What completes is replaced by what prints: a line editor would need a terminal.
    asked = (
        "compdef() { }; _describe() { print -rl -- ${(P)3} }; compadd() { }\n"
        'eval "$(legato completion zsh)"\nwords=(legato sessions ren) CURRENT=3\n_legato_completion\n'
    )
    told = subprocess.run(["zsh", "-f", "-c", asked], capture_output=True, text=True, check=False)

    assert "rename" in told.stdout
