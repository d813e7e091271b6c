"""Ask a person whether a call may run.

The exact command or difference is shown, with everything hidden in it made visible and every line behind a bar, so that
nothing in it can pass for a line of ours. There is no default answer: an empty line asks again, and what was typed
before the question was there is no answer to it. What "always" would store is shown as it would be stored, to the
last character, or not offered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import anyio
import msgspec
from msgspec import Struct

from legato.cli.terminal.cells import clip, flowing
from legato.cli.terminal.diffs import is_diff, style_of
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.reveal import reveal, reveal_line
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.model import JsonObject
from legato.model.records import Scope, Verdict
from legato.tools import Question, Ruling, ToolKind

_WANTS = {
    ToolKind.READ: "wants to read",
    ToolKind.EDIT: "wants to change a file",
    ToolKind.EXECUTE: "wants to run",
    ToolKind.OTHER: "wants to run with",
}
_ALWAYS = "always, everywhere:"


class _Choice(Struct, frozen=True):
    """What was typed: a letter, and what came behind it."""

    letter: str
    rest: str


class TerminalApprover:
    """Asks on a screen. `interrupt` is called on Ctrl-C; it cancels the turn, which withdraws the question.

    `before` and `after` surround each question: they take the keyboard from any other reader, and give it back.
    """

    is_person = True

    def __init__(
        self,
        screen: Screen,
        reader: PromptReader,
        *,
        interrupt: Callable[[], None],
        before: Callable[[], Awaitable[None]],
        after: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._reader = reader
        self._interrupt = interrupt
        self._before, self._after = before, after

    async def ask(self, question: Question) -> Ruling:
        """The answer of the person in front of the screen."""
        await self._before()
        try:
            self._show(question)
            return await self._ruling(question)
        except EOFError:
            return Ruling(question.call, question.digest, verdict=Verdict.UNAVAILABLE)
        except KeyboardInterrupt:
            self._interrupt()
            await anyio.sleep_forever()  # the cancelled turn withdraws the question
            raise AssertionError("a question that was withdrawn went on") from None
        finally:
            self._after()

    def _show(self, question: Question) -> None:
        screen = self._screen
        screen.line()
        wants = _WANTS[question.kind] if question.outside is None else "could run again, outside the sandbox"
        asker = f"subagent ({clip(reveal_line(question.asker), 60)}): " if question.asker else ""
        screen.line(f"{asker}{reveal_line(question.tool)} {wants}:", Style.BOLD)
        lines = reveal(question.shown).split("\n")
        colours = is_diff(lines)
        for line in lines:
            screen.quote(line, style_of(line) if colours else None)
        if question.protected:
            screen.line(f"  {reveal_line(question.protected)}", Style.YELLOW)
        if question.sandbox:
            screen.line(f"  {reveal_line(question.sandbox)}", Style.DIM)
        if question.outside:
            screen.line(f"  {reveal_line(question.outside)}", Style.YELLOW)
            screen.line("  Outside, it can do whatever you can. What it did already is done again.", Style.YELLOW)
        choices = {letter: f"[{letter}] {text}" for letter, text in _choices(question).items()}
        always = choices.get("a", "")
        if is_cut := clip(always, screen.width - 2) != always:
            del choices["a"]
        for line in flowing([*choices.values()], screen.width):
            screen.line(line, Style.DIM)
        if is_cut:
            screen.line(f"  [a] {_ALWAYS}", Style.DIM)
            screen.quote(_rule(question), Style.DIM)

    async def _ruling(self, question: Question) -> Ruling:
        letters = [*_choices(question)]
        while True:
            choice = _read(await self._reader.line("allow? "))
            match choice.letter if choice.letter in letters else "":
                case "y":
                    return Ruling(question.call, question.digest)
                case "s":
                    return Ruling(question.call, question.digest, scope=Scope.SESSION)
                case "a":
                    default = choice.rest or question.pattern or ""
                    asked = f"always, for {reveal_line(question.tool)} (* is anything): "
                    pattern = await self._reader.line(asked, default=default)
                    if pattern:
                        return Ruling(question.call, question.digest, scope=Scope.ALWAYS, pattern=pattern)
                case "e":
                    edited = await self._edited(question)
                    if edited is not None:
                        return Ruling(question.call, question.digest, arguments=edited)
                case "n" if question.outside:
                    return Ruling(question.call, question.digest, verdict=Verdict.DENIED)
                case "n":
                    reason = choice.rest or await self._reader.line("why not? (Enter to say nothing) ")
                    return Ruling(question.call, question.digest, verdict=Verdict.DENIED, reason=reason or None)
                case _:
                    self._screen.line(f"Answer {', '.join(letters[:-1])} or {letters[-1]}.", Style.DIM)

    async def _edited(self, question: Question) -> JsonObject | None:
        """The arguments as the person wants them; None if they emptied the line.

        What cannot be read is put back to be mended.
        """
        name = next(iter(question.arguments)) if len(question.arguments) == 1 else ""
        value = question.arguments.get(name)
        if isinstance(value, str) and "\n" not in value:
            return {name: await self._reader.line(f"{reveal_line(name)}: ", default=value)}
        text = msgspec.json.encode(question.arguments).decode()
        while (text := await self._reader.line("arguments: ", default=text)).strip():
            try:
                arguments = msgspec.json.decode(text)
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                self._screen.line(f"That is not JSON: {error}", Style.RED)
                continue
            if isinstance(arguments, dict):
                return cast(JsonObject, arguments)
            self._screen.line("The arguments have to be a JSON object.", Style.RED)
        return None


def _read(line: str) -> _Choice:
    word, _, rest = line.strip().partition(" ")
    letters = {"yes": "y", "session": "s", "always": "a", "edit": "e", "no": "n"}
    return _Choice(letters.get(word.lower(), word.lower()), rest.strip())


def _choices(question: Question) -> dict[str, str]:
    """The answers that this question has, by letter."""
    choices = {"y": "yes, once"}
    if question.outside:
        return {**choices, "n": "no"}
    if not question.protected:
        choices["s"] = "yes, this very call all session"
    if _is_offered(question):
        choices["a"] = f"{_ALWAYS} {_rule(question)}"
    return {**choices, "e": "edit it", "n": "no, and why"}


def _rule(question: Question) -> str:
    return f"{question.tool}({question.pattern})"


def _is_offered(question: Question) -> bool:
    """Whether there is an "always", and it can be shown as it would be stored."""
    return question.pattern is not None and reveal_line(_rule(question)) == _rule(question)
