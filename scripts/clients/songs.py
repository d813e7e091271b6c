"""A small MCP server on standard input and output, with one tool; it notes every call in a file.

    python songs.py FILE WORD

What the tool returns holds WORD, which nobody can know who has not called it. It is written on the protocol alone, so
that it starts at once and needs nothing installed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "find_song",
    "description": "Find a song by its title.",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
}


def answer(request: dict[str, Any], notes: Path, word: str) -> dict[str, Any]:
    """The result of one request."""
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "songs", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            with notes.open("a", encoding="utf-8") as file:
                file.write(json.dumps(request["params"]) + "\n")
            return {"content": [{"type": "text", "text": f"The song begins with {word}."}]}
        case _:
            return {}


def main() -> None:
    """Answer until the client goes."""
    notes, word = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:  # the rest are notifications
            told = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request, notes, word)}
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
