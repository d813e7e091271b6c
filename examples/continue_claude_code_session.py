"""Go on with a Claude Code session on another provider.

    python examples/continue_claude_code_session.py                          a small session that is made up here
    python examples/continue_claude_code_session.py SESSION.jsonl            one of yours; nothing is written to it
    python examples/continue_claude_code_session.py SESSION.jsonl --live     asks the real provider; set MISTRAL_API_KEY

The made-up session ends as real ones do: Ctrl-C came while two tools ran, so two calls have no result. Any provider
would refuse it. Legato reads it, closes the two calls with the reason that is true, encodes everything for Mistral, and
goes on. From the command line: `legato import SESSION.jsonl`, then `legato -c -m mistral/mistral-large-latest`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from legato import Session, World
from legato.formats import Document, read
from legato.simulation import SimulatedTransport

ROUTE = "mistral/mistral-large-latest"
QUESTION = "what did the first tool return?"


async def go_on(document: Document, *, live: bool) -> None:
    """Ask `QUESTION` at the end of the conversation in `document`."""
    talk = document.conversation(compacted=True)
    print(f"{document.format}: {len(talk.entries)} entries, {len(talk.ledger.in_order)} calls, {document.route or '?'}")
    for note in document.notes:
        print(f"  not carried: {note}")
    world = None if live else World(transport=SimulatedTransport())
    async with Session(ROUTE, conversation=talk, world=world) as session:
        preview = session.preview_switch(ROUTE)
        print(f"left out or converted for {ROUTE}: {preview.losses or 'nothing'}; it fits: {preview.fits}")
        result = await session.send(QUESTION)
        for call in talk.ledger.in_order:
            print(f"  {call.name} {call.arguments}: {call.state}{f', told: {call.frozen}' if call.frozen else ''}")
        print(f"{result.route}: {result.text}")


def main() -> None:
    """Read a session file and go on."""
    live = "--live" in sys.argv
    paths = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    with TemporaryDirectory() as folder:
        path = Path(paths[0]) if paths else write_session(Path(folder))
        document = read(path)
    anyio.run(lambda: go_on(document, live=live))


def write_session(folder: Path) -> Path:
    """A session file as Claude Code writes it: a line for each record, linked by uuid."""
    said = [
        ("user", "Look at notes.txt, then search for the hall."),
        ("assistant", [_use("toolu_01A", "Read", {"file_path": "notes.txt"})]),
        ("user", [_result("toolu_01A", "The rehearsal is on Thursday.")]),
        ("assistant", [_use("toolu_01B", "Grep", {"pattern": "hall"}), _use("toolu_01C", "Bash", {"command": "ls"})]),
        ("user", "Stop, that takes too long."),
    ]
    lines: list[str] = []
    for number, (role, content) in enumerate(said):
        message: dict[str, object] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5-20250929", "type": "message"}
        record = {
            "type": role,
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number else None,
            "sessionId": "11111111-0000-4000-8000-000000000000",
            "timestamp": f"2026-01-31T10:00:{number:02}.000Z",
            "message": message,
        }
        lines.append(json.dumps(record))
    path = folder / "session.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _use(call_id: str, name: str, arguments: dict[str, str]) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, text: str) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


if __name__ == "__main__":
    main()
