"""Draw what `legato demo` shows as a picture: docs/demo.svg.

python scripts/demo_picture.py
"""

from __future__ import annotations

import io
from pathlib import Path

import anyio
from rich.console import Console

from legato.cli.demo.console import DemoConsole
from legato.cli.demo.journey import Journey, rehearsal_folder

PICTURE = Path(__file__).parent.parent / "docs" / "demo.svg"


class RecordingConsole(DemoConsole):
    """A console that remembers what it showed, in colour and without pauses."""

    def __init__(self) -> None:
        super().__init__(plain=False)
        self._console = Console(
            file=io.StringIO(), record=True, width=100, force_terminal=True, highlight=False, color_system="truecolor"
        )

    async def breathe(self, event: object) -> None:
        """Nobody is watching."""

    def picture(self) -> str:
        """Everything shown, as SVG with letters that every machine has."""
        drawn = self._console.export_svg(title="legato demo", unique_id="legato-demo")
        # The page must not fetch anything: the fonts that rich names come from elsewhere.
        kept = [line for line in drawn.splitlines() if "url(" not in line or "clip-path" in line]
        return "\n".join(kept).replace('"),\n', '");\n') + "\n"


def main() -> None:
    """Run the demonstration and write the picture."""
    console = RecordingConsole()
    console.opening()
    with rehearsal_folder() as folder:
        anyio.run(Journey(console, folder).run)
    PICTURE.write_text(console.picture(), encoding="utf-8")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
