"""What is in a page, read as its script reads it, and sessions worth a page."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from file_samples import ClaudeSession, use, used

_DATA = re.compile(r'<script type="application/json" id="(?P<name>[a-z0-9-]+)">(?P<json>[^<]*)</script>')


@dataclass
class PageData:
    """The outline of a page and its entries."""

    text: str
    outline: dict[str, Any]
    entries: list[dict[str, Any]]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [block["call"] for entry in self.entries for block in entry["blocks"] if "call" in block]

    def wire(self, number: int) -> list[Any]:
        """What is sent of an entry, with its references followed."""
        entry = self.entries[number]
        return [_followed(message, entry) for message in entry.get("wire", [])]


def read_page(page: str | Path) -> PageData:
    """The data of a page; fails if the elements around it are not those that they should be."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    found = {match["name"]: json.loads(match["json"]) for match in _DATA.finditer(text)}
    outline = found.pop("outline")
    assert list(found) == [f"chunk-{number}" for number in range(len(outline["chunks"]))]
    assert elements(text)["script"] == len(found) + 2, "the outline, the chunks and one script that runs"
    return PageData(text, outline, [entry for chunk in found.values() for entry in chunk])


def _followed(value: Any, entry: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_followed(item, entry) for item in value]
    if not isinstance(value, dict):
        return value
    if "$x" not in value:
        return {name: _followed(item, entry) for name, item in value.items()}
    if value["$x"] == 0:
        return {name: _followed(item, entry) for name, item in value["v"].items()}
    block, field = entry["blocks"][value["$x"][0]], value["$x"][1]
    if field == "data":
        return block["media"]["data"]
    return block["text"] if field == "text" else block["call"][field]


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes += attrs


def elements(text: str) -> dict[str, int]:
    """How many elements of each kind a page has, as a parser sees them."""
    parser = _Elements()
    parser.feed(text)
    parser.close()
    return parser.counts


def attributes(text: str) -> list[tuple[str, str | None]]:
    """All attributes of a page."""
    parser = _Elements()
    parser.feed(text)
    return parser.attributes


# --- sessions ---------------------------------------------------------------------------------------------------------

HOSTILE = (
    "</script><script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\"> <!-- <script> "
    "[click](javascript:document.title='run') ![x](javascript:1) <a href='javascript:1'>a</a> [ok](https://example.com/?a=1&b=2) "
    "line\u2028separator\u2029 \u202etxet\u202c \x1b]0;title\x07 \x00 \ud800 & &amp; ${policy} `</pre>`"
)
"""what somebody could write who wants a page to do something, or to read otherwise than it is"""


def hostile_session() -> list[dict[str, Any]]:
    """A session that says hostile things in every place where it can say something."""
    session = ClaudeSession().user(HOSTILE)
    session.model(
        {"type": "thinking", "thinking": HOSTILE, "signature": "s"},
        {
            "type": "text",
            "text": f"# {HOSTILE}\n\n- {HOSTILE}\n\n| {HOSTILE} | b |\n|---|---|\n| {HOSTILE} | c |\n\n> {HOSTILE}",
        },
        use("toolu_1", HOSTILE, **{HOSTILE: HOSTILE, "$x": [0, "text"], "command": HOSTILE}),
        use("toolu_2", "Edit", file_path=HOSTILE, old_string=HOSTILE, new_string=HOSTILE * 2),
    )
    session.user([used("toolu_1", HOSTILE), used("toolu_2", "x" * 2_000_000)])
    session.user([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": '"><script>'}}])
    session.user("**bold** " * 20_000)
    return session.model({"type": "text", "text": "`" * 5_000 + "[" * 5_000 + "*" * 5_000 + "> " * 500}).records


def session_with_subagent() -> list[dict[str, Any]]:
    """A session that asks a subagent, whose conversation is in the same file."""
    session = ClaudeSession().user("Go.").model(use("toolu_1", "Task", prompt="Look around.", description="Look"))
    session.user([used("toolu_1", "All is well.")]).model({"type": "text", "text": "Done."})
    side = ClaudeSession().user("Look around.").model({"type": "text", "text": "I see nothing."}).records
    for number, record in enumerate(side):
        record |= {"isSidechain": True, "agentId": "a1", "uuid": f"side-{number}"}
        record["parentUuid"] = f"side-{number - 1}" if number else None
    return session.records + side


def long_session(path: Path, size: int, *, seed: int = 7) -> int:
    """Write a Claude Code session of about `size` bytes, as a day of work looks; how many calls it has."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for number, lines in enumerate(_long_lines(random.Random(seed)), 1):
            written += file.write(lines)
            if written >= size:
                return number
    raise AssertionError("there is no end of lines")


_WORDS = ["the", "value", "of", "a", "file", "that", "was", "read", "by", "every", "test", "is", "not", "what", "None"]


def _long_lines(rng: random.Random) -> Iterator[str]:
    texts = [
        "\n".join(" ".join(rng.choices(_WORDS, k=9)) for _ in range(rng.choice((10, 40, 80, 300)))) for _ in range(200)
    ]
    parent: str | None = None
    clock = 0

    def record(kind: str, content: Any, **message: Any) -> str:
        nonlocal parent, clock
        clock += rng.randrange(1, 20)
        uuid = f"{rng.getrandbits(64):016x}"
        value = {
            "parentUuid": parent, "isSidechain": False, "cwd": "/home/a/project", "sessionId": "s", "version": "2.1.0",
            "type": kind, "message": {"role": kind, "content": content, **message}, "uuid": uuid,
            "timestamp": f"2026-01-{1 + clock // 86_400:02}T{clock // 3_600 % 24:02}:{clock // 60 % 60:02}:{clock % 60:02}Z",
        }  # fmt: skip
        parent = uuid
        return json.dumps(value) + "\n"

    number = 0
    while True:
        number += 1
        call, text = f"toolu_{number:08}", rng.choice(texts)
        tool, arguments, result = rng.choice(
            (
                ("Read", {"file_path": f"/home/a/project/src/m{number % 97}.py"}, text),
                ("Bash", {"command": f"grep -rn 'value{number}' src", "description": "Look for it"}, text[:1_500]),
                (
                    "Edit",
                    {
                        "file_path": "/a.py",
                        "old_string": text[:500],
                        "new_string": text[:200] + "\nnew\n" + text[200:500],
                    },
                    "ok",
                ),
                ("Write", {"file_path": f"/b{number}.py", "content": text}, "ok"),
            )
        )
        usage = {"input_tokens": 3, "cache_read_input_tokens": 20_000, "output_tokens": rng.randrange(50, 900)}
        said = f"## Step {number}\n\nI look at **this** next: `m{number}`.\n\n{text[:200]}"
        lines = [record("user", f"Please do step {number}.\n\n{text[:200]}")] if number % 25 == 1 else []
        blocks = [{"type": "text", "text": said}, use(call, tool, **arguments)]
        lines.append(record("assistant", blocks, id=f"msg_{number}", model="claude-sonnet-4-5", usage=usage))
        if number % 997:  # now and then a result is missing
            lines.append(record("user", [used(call, result)]))
        yield "".join(lines)
