"""Run the program in this process, in a home of its own: settings, state, cache and store under one folder."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

from legato.cli.app import app

_OURS = ("LEGATO_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "GOOGLE_", "MISTRAL_", "MOONSHOT_", "KIMI_", "DEEPSEEK_")
_THEIRS = ("AI_GATEWAY_", "OPENROUTER_", "GROQ_", "XAI_", "DASHSCOPE_", "QWEN_")


class Home:
    """A person's home and the folder they work in."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.work = root / "work"
        self.work.mkdir(exist_ok=True)
        for name in list(os.environ):
            if name.startswith(_OURS + _THEIRS) or name in ("NO_COLOR", "FORCE_COLOR"):
                monkeypatch.delenv(name)
        for name, folder in (("CONFIG", "config"), ("STATE", "state"), ("CACHE", "cache"), ("DATA", "data")):
            monkeypatch.setenv(f"XDG_{name}_HOME", str(root / folder))
        monkeypatch.setenv("HOME", str(root))
        for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "24")):
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(self.work)

    @property
    def settings(self) -> Path:
        """The user's settings file."""
        return self.root / "config" / "legato" / "config.toml"

    def configure(self, text: str) -> None:
        """Write the user's settings."""
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(text)

    def legato(self, *arguments: str, stdin: str = "") -> Result:
        """Run `legato` with `arguments`; nobody is at the keyboard."""
        return CliRunner().invoke(app, list(arguments), input=stdin)


class Answers:
    """A reader whose answers are there already; where they end, nobody is there. Errors among them are raised."""

    def __init__(self, *answers: str | BaseException) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []

    async def line(self, question: str, *, default: str = "") -> str:
        self.asked.append((question, default))
        if not self.answers:
            raise EOFError
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer or default


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that happens elsewhere, in another process or behind a terminal."""
    with anyio.fail_after(60):
        while not is_so():  # noqa: ASYNC110  # nobody there could set an event
            await anyio.sleep(0.01)
