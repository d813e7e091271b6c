"""Write docs/rules.md: every rule that request bodies are judged by, with its sources, a refused and an accepted body.

In:  the rules that each dialect declares, and their examples from tests/rules.
Out: one Markdown page, the same on every run; with `--check`, exit status 1 if the page on disk differs.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from legato.model import Dialect
from legato.wire.hosts import STRICT, all_hosts, hosts_speaking
from legato.wire.rules import WireRule

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support")]  # the examples are not in the package

from rules import CASES, Case  # noqa: E402

PAGE = ROOT / "docs" / "rules.md"

_CHAT = hosts_speaking(Dialect.OPENAI_CHAT)
_TITLES = {host.name: host.title for host in all_hosts()}
_HOSTS = {
    host.name: (
        host.title,
        "Beside the rules for strict servers."
        if host.profile == STRICT.profile
        else "Beside those of Chat Completions.",
    )
    for host in _CHAT
}
_STRICT_ONES = ", ".join(host.title for host in _CHAT if host.profile == STRICT.profile)

# The first part of a rule's id, in the order of the page.
SECTIONS = {
    "json": ("Every provider", "The body as JSON, whatever the dialect."),
    "openai-chat": ("OpenAI Chat Completions", "For OpenAI, and for every server that speaks its dialect."),
    "strict": ("Strict servers", f"{_STRICT_ONES} and others that speak it."),
    **_HOSTS,
    "openai-responses": ("OpenAI Responses", "Calls and outputs pair over the whole request."),
    "anthropic": ("Anthropic Messages", "Neighbouring messages of one role are judged as one turn."),
    "gemini": ("Gemini generateContent", "Read in camelCase and snake_case; neighbouring model contents count as one."),
    "bedrock": ("Amazon Bedrock Converse", "The same for all models there, except where a rule names a family."),
    "vercel": ("Vercel AI SDK", "What the SDK checks before it sends; the provider's own rules come after."),
}

LONGEST = 1200


def document(cases: Iterable[Case]) -> str:
    """The page for `cases`. A rule that several dialects share is described once."""
    sections: dict[str, dict[str, Case]] = {name: {} for name in SECTIONS}
    for case in cases:
        sections[case.rule.id.partition("/")[0]].setdefault(case.rule.id, case)
    used = {name: list(found.values()) for name, found in sections.items() if found}
    lines = [
        "# What providers accept",
        "",
        "Written by `python scripts/rules_doc.py` from the rules themselves; do not edit by hand.",
        "",
        "Legato judges every request body before it is sent. A rule is *refused* where the provider answers with an",
        "error when it is broken, and *risky* where only some servers, models or versions do, or where the model",
        "suffers. Each rule has a body that breaks it and one that does not; both are run as tests. In what a provider",
        "says, an ellipsis is for what depends on the request.",
        "",
        *(_link(*SECTIONS[name], len(found)) for name, found in used.items()),
    ]
    for name, found in used.items():
        title, note = SECTIONS[name]
        lines += ["", f"## {title}", "", note, "", "| rule | when broken | what it asks |", "|---|---|---|"]
        lines += [_row(case.rule) for case in found]
        for case in found:
            lines += _entry(case)
    return "\n".join(lines) + "\n"


def _link(title: str, note: str, count: int) -> str:
    return f"- [{title}](#{_anchor(title)}), {count} rule{'s' * (count > 1)}. {note}"


def _row(rule: WireRule) -> str:
    return f"| [`{rule.id}`](#{_anchor(rule.id)}) | {rule.severity} | {_cell(rule.says)} |"


def _entry(case: Case) -> list[str]:
    rule = case.rule
    return [
        "",
        f"### {rule.id}",
        "",
        f"*{rule.severity.capitalize()}.* {rule.says}",
        *_said(rule),
        "",
        _sources(rule),
        "",
        f"<details><summary>Bodies for <code>{rule.route}</code></summary>",
        "",
        f"{rule.severity.capitalize()}:",
        "",
        *_fenced(case.refused),
        "",
        "Accepted:",
        "",
        *_fenced(case.accepted),
        "",
        "</details>",
    ]


def _said(rule: WireRule) -> list[str]:
    """What the provider says, then the servers that say it in other words."""
    words = [rule.quotation()] + [f"{_TITLES[host]}: {rule.quotation(host=host)}" for host in rule.errors]
    said = " ".join(filter(None, words))
    return ["", f"What the provider says: {said}"] if said else []


def _sources(rule: WireRule) -> str:
    return f"Source: {', '.join(_cited(source, rule.pages.get(source, '')) for source in rule.sources)}."


def _cited(source: str, page: str) -> str:
    return f"[{source.removeprefix('https://')}]({page})" if page else "recorded exchanges"


def _fenced(body: dict[str, Any]) -> list[str]:
    text = _written(body)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n… shortened: {len(text):,} characters"
    return ["```json", text, "```"]


def _written(body: dict[str, Any]) -> str:
    """`body` with a line for each field, and for each element of the arrays at the top."""
    fields: list[str] = []
    for name, value in body.items():
        if isinstance(value, list) and value:
            written = ",\n".join(f"    {_json(item)}" for item in value)
            fields.append(f"  {_json(name)}: [\n{written}\n  ]")
        else:
            fields.append(f"  {_json(name)}: {_json(value)}")
    return "{\n" + ",\n".join(fields) + "\n}"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair cannot be printed, only escaped
        return json.dumps(value)
    return text


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def main() -> int:
    """Write the page, or say whether it is up to date."""
    parser = argparse.ArgumentParser(description="Write docs/rules.md from the rules.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    options = parser.parse_args()

    text = document(CASES)
    if options.check:
        if not options.page.is_file() or options.page.read_text(encoding="utf-8") != text:
            print(f"{options.page} is out of date; write it with: python scripts/rules_doc.py", file=sys.stderr)
            return 1
        return 0
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(text, encoding="utf-8")
    print(f"{len({case.rule.id for case in CASES})} rules in {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
