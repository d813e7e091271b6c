"""docs/security.md prints the tables of trust as they are in the code. `make golden` writes them anew."""

from __future__ import annotations

import os
import re

from documentation_support import ROOT
from legato.cli.settings.layers import every_setting
from legato.cli.settings.schema import Settings
from legato.cli.settings.trust_table import USERS_ALONE, leave_to_set
from legato.model.trust import Party, Power, leave_of

PAGE = ROOT / "docs/security.md"
START, END = "<!-- trust -->\n", "<!-- end of trust -->\n"
FILES = (Party.USER, Party.TRUSTED, Party.UNTRUSTED)


def printed() -> str:
    """Powers, then settings: those that an untrusted project may set by name, the others in one row."""
    lines = ["| | " + " | ".join(Party) + " |", "|---|" + "---|" * len(Party)]
    lines += [f"| {power} | " + " | ".join(leave_of(party, power) for party in Party) + " |" for power in Power]
    lines += ["", "| setting | " + " | ".join(FILES) + " |", "|---|" + "---|" * len(FILES)]
    rest = ("yes", "yes", "–")
    for key in dict.fromkeys([*dict(every_setting(Settings())), *USERS_ALONE]):
        cells = tuple(leave_to_set(key, party) for party in FILES)
        if cells != rest:
            lines.append(f"| `{key}` | " + " | ".join(cells) + " |")
    lines.append("| every other one | " + " | ".join(rest) + " |")
    return "\n".join(lines) + "\n"


def test_the_page_prints_the_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    old, _, after = rest.partition(END)
    if os.environ.get("LEGATO_GOLDEN") == "write":
        PAGE.write_text(f"{before}{START}{printed()}{END}{after}", encoding="utf-8")
        return
    assert old == printed()


def test_every_row_of_the_settings_names_a_setting() -> None:
    known = {*dict(every_setting(Settings()))}
    named = set(re.findall(r"^\| `([a-z_.]+)` \|", printed(), re.MULTILINE))
    assert named - {"serve.keys"} <= known
