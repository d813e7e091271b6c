"""Who makes a valid request out of a damaged transcript?

    python -m bench.validity

A hundred short chat transcripts, each damaged in one of the ways that cancellations, crashes and compactions damage
them, go through Legato and through every installed peer (`make bench-peers`), to Anthropic. What comes out is judged by
the rules in `legato.wire.anthropic.rules`, which were written from what the provider accepts and refuses; a converter
that raises has made no request at all.
"""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.workload import chat_messages
from legato import Conversation, render, resolve
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity

ROOT = Path(__file__).parent.parent
PEERS = ("litellm", "langchain", "pydantic_ai", "tau")
ROUTE = "anthropic/claude-haiku-4-5"
TOOLS = [{"name": "read_file", "description": "", "input_schema": {"type": "object", "properties": {}}}]
Messages = list[dict[str, Any]]


def _tool_places(messages: Messages) -> list[int]:
    return [place for place, message in enumerate(messages) if message["role"] == "tool"]


def _drop_result(messages: Messages, chance: random.Random) -> None:
    del messages[chance.choice(_tool_places(messages))]


def _double_result(messages: Messages, chance: random.Random) -> None:
    place = chance.choice(_tool_places(messages))
    messages.append(copy.deepcopy(messages[place]))
    messages.append({"role": "user", "content": "go on"})


def _late_result(messages: Messages, chance: random.Random) -> None:
    place = chance.choice(_tool_places(messages))
    messages.append(messages.pop(place))
    messages.append({"role": "user", "content": "go on"})


def _drop_answer(messages: Messages, chance: random.Random) -> None:
    answers = [place for place, message in enumerate(messages) if message.get("tool_calls")]
    del messages[chance.choice(answers)]


def _reuse_ids(messages: Messages, chance: random.Random) -> None:
    for message in messages:
        for number, call in enumerate(message.get("tool_calls", ())):
            call["id"] = f"call_{number}"
    number = 0
    for message in messages:
        number = 0 if message["role"] == "assistant" else number
        if message["role"] == "tool":
            message["tool_call_id"] = f"call_{number}"
            number += 1


def _foreign_ids(messages: Messages, chance: random.Random) -> None:
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = "functions.read:" + call["id"]
        if message["role"] == "tool":
            message["tool_call_id"] = "functions.read:" + message["tool_call_id"]


def _interrupt(messages: Messages, chance: random.Random) -> None:
    place = chance.choice(_tool_places(messages))
    messages.insert(place, {"role": "user", "content": "stop, do this instead"})


def _end_open(messages: Messages, chance: random.Random) -> None:
    answers = [place for place, message in enumerate(messages) if message.get("tool_calls")]
    del messages[chance.choice(answers) + 1 :]


DAMAGES: dict[str, Callable[[Messages, random.Random], None]] = {
    "a result is missing": _drop_result,
    "a result comes twice": _double_result,
    "a result comes too late": _late_result,
    "a call is missing": _drop_answer,
    "ids start again in each answer": _reuse_ids,
    "ids of another provider": _foreign_ids,
    "a message between call and result": _interrupt,
    "it ends on open calls": _end_open,
}


def transcripts(each: int = 12, seed: int = 3) -> list[tuple[str, Messages]]:
    """Damaged transcripts, `each` for every kind of damage."""
    chance = random.Random(seed)
    made: list[tuple[str, Messages]] = []
    for name, damage in DAMAGES.items():
        for _ in range(each):
            messages = copy.deepcopy(chat_messages(15))
            damage(messages, chance)
            made.append((name, messages))
    return made


def is_refused(messages: Any) -> bool:
    """Whether the provider would refuse these messages."""
    body = {"model": "claude-haiku-4-5", "max_tokens": 4096, "tools": TOOLS, "messages": messages}
    found = dialect_parts(resolve(ROUTE).dialect).check(body, resolve(ROUTE))
    return any(violation.severity is Severity.REFUSED for violation in found)


def results_lost(messages: Messages, answer: dict[str, Any]) -> int:
    """How many results of a transcript are nowhere in what was made of it; a request that was not made loses none."""
    if "error" in answer:
        return 0
    made = json.dumps(answer["messages"])
    contents = {message["content"] for message in messages if message["role"] == "tool"}
    return sum(json.dumps(content)[1:-1] not in made for content in contents)


def legato_answers(given: list[tuple[str, Messages]]) -> list[dict[str, Any]]:
    """What Legato makes of the transcripts."""
    parse = dialect_parts(resolve("openai/gpt-4o").dialect).parse
    answers: list[dict[str, Any]] = []
    for _, messages in given:
        talk = Conversation()
        talk.apply(talk.prepare(parse({"messages": messages}).entries))
        answers.append({"messages": render(talk, ROUTE, tools=TOOLS).copy()["messages"]})
    return answers


def peer_answers(peer: str, given: list[tuple[str, Messages]]) -> dict[str, list[dict[str, Any]]]:
    """What a peer makes of them, by converter; empty if it is not installed."""
    python = ROOT / ".venv-peers" / peer / "bin" / "python"
    if not python.exists():
        return {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "transcripts.json"
        path.write_text(json.dumps([messages for _, messages in given]), encoding="utf-8")
        command = [python, "-P", ROOT / "bench/peers/answers.py", ROOT / f"bench/peers/{peer}.py", path]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{peer} could not be asked: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout)


def main() -> None:
    """Judge everybody and print a table."""
    given = transcripts()
    everybody = {"Legato": legato_answers(given)}
    for peer in PEERS:
        everybody |= peer_answers(peer, given)
    print(f"{len(given)} damaged transcripts to Anthropic: how many requests would be refused, or not even made\n")
    print(f"| {'damage':36} | " + " | ".join(everybody) + " |")
    print(f"|{'-' * 38}|" + "|".join("---:" for _ in everybody) + "|")
    totals = dict.fromkeys(everybody, 0)
    for name in DAMAGES:
        places = [place for place, (damage, _) in enumerate(given) if damage == name]
        row: list[str] = []
        for who, answers in everybody.items():
            bad = sum("error" in answers[place] or is_refused(answers[place]["messages"]) for place in places)
            totals[who] += bad
            row.append(f"{bad} of {len(places)}")
        print(f"| {name:36} | " + " | ".join(row) + " |")
    print(f"| {'all':36} | " + " | ".join(f"**{total}**" for total in totals.values()) + " |")
    lost = [str(sum(results_lost(given[place][1], answer) for place, answer in enumerate(answers)))
            for answers in everybody.values()]  # fmt: skip
    print(f"| {'real results that are gone':36} | " + " | ".join(lost) + " |")


if __name__ == "__main__":
    main()
