"""Convert transcripts from a file and print what came out, as JSON: for judging, not for timing.

    python -P bench/peers/answers.py MODULE TRANSCRIPTS.json

For each converter and each transcript: the list of messages that it made, or the error that it raised. Only the
standard library is used, because this runs inside the environments of other libraries.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    spec = importlib.util.spec_from_file_location("peer", Path(sys.argv[1]))
    assert spec is not None
    assert spec.loader is not None
    peer: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peer)
    transcripts: list[list[dict[str, Any]]] = json.loads(Path(sys.argv[2]).read_bytes())
    answers = {
        label: [_answer(peer, convert, transcript) for transcript in transcripts]
        for label, (convert, _) in peer.CONVERTERS.items()
    }
    print(json.dumps(answers, default=_plain))


def _answer(peer: Any, convert: Any, transcript: list[dict[str, Any]]) -> Any:
    try:
        objects = peer.load(transcript)
        return {"messages": _messages(convert(getattr(peer, "fresh", list)(objects)))}
    except Exception as error:  # noqa: BLE001  # whatever another library raises is an answer here
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def _messages(made: Any) -> Any:
    """The list of messages in whatever a converter returns: itself, one of a pair, or a field of a body."""
    if isinstance(made, dict):
        return made.get("messages", made)
    if isinstance(made, tuple):
        return next((part for part in made if isinstance(part, list)), [])
    return made


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump() if dump else str(value)


if __name__ == "__main__":
    main()
