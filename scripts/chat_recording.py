"""Record a conversation in a terminal as a moving picture: docs/chat.svg.

python scripts/chat_recording.py

The program runs in a pseudo terminal against simulated providers, at a pace; somebody types. What an emulated terminal
shows meanwhile becomes the frames. In the middle of its tool work the first provider has no quota left, and the second
one goes on with the results that the first one asked for; then a third one answers.
"""

from __future__ import annotations

import re
import sys
import time
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from terminal_support import Person  # noqa: E402  # its folder had to be named first

PICTURE = ROOT / "docs" / "chat.svg"
COLUMNS, LINES = 92, 30
_LETTER, _ROW, _EDGE = 8.4, 18, 14
_PAUSE, _HOLD = 0.25, 4.0
"""seconds between two frames at least, and for which the last one is shown"""
_COLOURS = {
    "default": "#d8dee9", "brightblack": "#7b8496", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2",
}  # fmt: skip
_SETTINGS = """\
route = "work"
[profiles.work]
policy = "failover"
routes = ["anthropic/claude-sonnet-4-5", "openai/gpt-5"]
"""

_TOGETHER = re.compile(r"\S+(?: \S+)*")
"""words between which a viewer cannot lose a space: some make one of several"""

Frame = tuple[str, ...]
"""the rows of the screen, each as SVG"""


class Recording(Person):
    """Somebody whose terminal is filmed."""

    def __init__(self, folder: Path) -> None:
        settings = folder / "config" / "legato" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(_SETTINGS)
        super().__init__(folder, "--simulate", "--pace", "12/s", size=(COLUMNS, LINES))
        self.frames: list[tuple[float, Frame]] = []

    def _watch(self) -> None:
        super()._watch()
        frame = tuple(self._row(y) for y in range(LINES))
        now = time.monotonic()
        if self.frames and now - self.frames[-1][0] < _PAUSE:
            self.frames[-1] = self.frames[-1][0], frame
        elif not self.frames or frame != self.frames[-1][1]:
            self.frames.append((now, frame))

    def writes(self, text: str) -> None:
        """Type a message as a person does."""
        self.at_prompt()
        for at in range(0, len(text), 4):
            self.types(text[at : at + 4])
            self.glimpses(text[: at + 4].rstrip())
            time.sleep(0.1)
        time.sleep(0.4)
        self.says("")

    def picks(self, text: str) -> None:
        """Pick another model, and search for it."""
        self.writes("/model")
        self.glimpses("Who answers:")
        time.sleep(1.2)
        self._watch()
        for letter in text:
            self.types(letter)
            time.sleep(0.05)
        self.glimpses(f"Who answers: {text}")
        time.sleep(0.8)
        self.types("\r")

    def _row(self, y: int) -> str:
        cells = self.screen.buffer[y]
        spans: list[str] = []
        x = 0
        while x < COLUMNS:
            first, begin = cells[x], x
            while x < COLUMNS and cells[x]._replace(data="") == first._replace(data=""):
                x += 1
            text = "".join(cells[at].data for at in range(begin, x))
            style = f' fill="{_COLOURS.get(first.fg, _COLOURS["default"])}"' if first.fg != "default" else ""
            style += ' font-weight="bold"' * first.bold + ' font-style="italic"' * first.italics
            for words in _TOGETHER.finditer(text):
                place, length = _EDGE + (begin + words.start()) * _LETTER, len(words[0]) * _LETTER
                spans.append(f'<tspan x="{place:.1f}" textLength="{length:.1f}"{style}>{escape(words[0])}</tspan>')
        return "".join(spans)


def picture(frames: list[tuple[float, Frame]]) -> str:
    """The frames one after the other, again and again; where nothing moves, the last one."""
    begin, total = frames[0][0], frames[-1][0] - frames[0][0] + _HOLD
    starts = [(at - begin) / total * 100 for at, _ in frames] + [100.0]
    width, height = COLUMNS * _LETTER + 2 * _EDGE, LINES * _ROW + 2 * _EDGE
    moves: list[str] = []
    groups: list[str] = []
    for number, (_, frame) in enumerate(frames):
        shown, hidden = starts[number], starts[number + 1]
        first = "" if number == 0 else "0%{visibility:hidden}"
        last = "visible" if hidden == 100 else "hidden"
        steps = f"{first}{shown:.2f}%{{visibility:visible}}{hidden:.2f}%{{visibility:{last}}}"
        moves.append(f"@keyframes f{number}{{{steps}}}#f{number}{{animation:f{number} {total:.1f}s step-end infinite}}")
        rows = "".join(f'<text y="{_EDGE + (y + 0.75) * _ROW:.1f}">{row}</text>' for y, row in enumerate(frame) if row)
        still = "visible" if number == len(frames) - 1 else "hidden"
        groups.append(f'<g id="f{number}" visibility="{still}">{rows}</g>')
    fonts = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
            "<title>A conversation changes its provider in the middle of tool work</title>",
            f"<style>text{{font:14px {fonts};fill:{_COLOURS['default']};white-space:pre}}{''.join(moves)}</style>",
            f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#1e222a"/>',
            *groups,
            "</svg>\n",
        ]
    )


def main() -> None:
    """Hold the conversation and write the picture."""
    with TemporaryDirectory() as folder:
        person = Recording(Path(folder))
        try:
            (person.work / "hours.txt").write_text("Thursday 19:00 to 22:00\n")
            (person.work / "menu.txt").write_text("soup, bread, cheese\n")
            person.writes("answer in Markdown")
            person.turn()
            person.writes("use read on hours.txt and menu.txt then fail with 402 on anthropic")
            person.turn()
            person.picks("gemini-3.1-pro")
            person.comes("answers from now on")
            person.writes("what did the first tool return?")
            person.turn()
            person.at_prompt()
        finally:
            person.end()
    PICTURE.write_text(picture(person.frames), encoding="utf-8")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes, {len(person.frames)} frames")


if __name__ == "__main__":
    main()
