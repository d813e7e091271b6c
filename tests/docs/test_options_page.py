"""docs/options.md prints the table of options as it is in the code. `make golden` writes it anew."""

from __future__ import annotations

import os

from documentation_support import ROOT
from legato.wire.hosts import STRICT, all_hosts
from legato.wire.options.table import OPTIONS, TABLE, rooms_of_host

PAGE = ROOT / "docs/options.md"
START, END = "<!-- table -->\n", "<!-- end of table -->\n"
TITLES = {
    "openai_responses": "Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "vercel": "AI SDK",
    "bedrock": "Bedrock",
}
COLUMNS = {
    **{host.title: rooms_of_host(host.name) for host in all_hosts() if host.options},
    STRICT.title: TABLE["openai_chat"],
    **{title: TABLE[dialect] for dialect, title in TITLES.items()},
}


def printed() -> str:
    """The table, and the reasons under it: one kind of server to a line, because names of fields are long."""
    reasons: dict[str, int] = {}
    lines = ["| | " + " | ".join(f"`{option}`" for option in OPTIONS) + " |", "|---|" + "---|" * len(OPTIONS)]
    for title, rooms in COLUMNS.items():
        cells = [title]
        for room in rooms.values():
            number = reasons.setdefault(room.why, len(reasons) + 1) if room.why else 0
            fields = room.fields.replace("`generationConfig.", "`…")
            cells.append(f"({fields}) {number}" if room.own_only else fields or str(number))
        lines.append("| " + " | ".join(cells) + " |")
    told = [f"{number}. {why}" for why, number in reasons.items()]
    return "\n".join([*lines, "", "`…` stands for `generationConfig.`", "", *told]) + "\n"


def test_the_page_prints_the_table_of_the_code() -> None:
    text = PAGE.read_text()
    before, rest = text.split(START)
    _, after = rest.split(END)
    written = f"{before}{START}\n{printed()}\n{END}{after}"
    if os.environ.get("LEGATO_GOLDEN") == "write":
        PAGE.write_text(written)
    assert PAGE.read_text() == written


def test_every_dialect_has_a_line() -> None:
    assert TITLES.keys() | {"openai_chat"} == TABLE.keys()
