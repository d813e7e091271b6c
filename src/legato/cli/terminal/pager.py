"""Outputs that were folded, whole: in the person's pager, or printed where there is none."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

import anyio

from legato.cli.terminal.filter import harmless
from legato.cli.terminal.turn_display import Folded


async def show_whole(outputs: Sequence[Folded]) -> None:
    """Show `outputs`, the first of them first. The terminal is the pager's meanwhile."""
    text = "\n".join(f"● {output.subject}\n\n{harmless(output.text)}\n" for output in outputs)
    pager = shlex.split(os.environ.get("PAGER", "")) or ["less"]
    if shutil.which(pager[0]) is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    # What the pager shows stays on the screen of most terminals only until it ends.
    await anyio.run_process(
        pager, input=text.encode(errors="replace"), stdout=None, stderr=subprocess.DEVNULL, check=False
    )
