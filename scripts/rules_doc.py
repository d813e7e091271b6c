"""Write docs/rules.md: every rule that request bodies are judged by, with a refused and an accepted body.

In:  the `RULES` of each dialect.
Out: one Markdown page, the same on every run; with `--check`, exit status 1 if the page on disk differs.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from legato.wire.anthropic.rules.catalogue import RULES as ANTHROPIC
from legato.wire.contract import Rule
from legato.wire.gemini.rules.catalogue import RULES as GEMINI
from legato.wire.openai_chat.rules.catalogue import RULES as OPENAI_CHAT
from legato.wire.openai_responses.rules.catalogue import RULES as OPENAI_RESPONSES
from legato.wire.vercel.rules.catalogue import RULES as VERCEL

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules.md"

RULE_SETS: dict[str, tuple[Rule, ...]] = {
    "openai_chat": OPENAI_CHAT,
    "openai_responses": OPENAI_RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "vercel": VERCEL,
}

# The first part of a rule's id, in the order of the page.
SECTIONS = {
    "json": ("Every provider", "The body as JSON, whatever the dialect."),
    "openai-chat": ("OpenAI Chat Completions", "For OpenAI, and for every server that speaks its dialect."),
    "strict": ("Strict servers", "vLLM, llama.cpp, Ollama, OpenRouter, DashScope and others that speak it."),
    "groq": ("Groq", "Beside the rules for strict servers."),
    "cerebras": ("Cerebras", "Beside the rules for strict servers."),
    "xai": ("xAI", "Beside the rules for strict servers."),
    "mistral": ("Mistral", "Beside those of Chat Completions."),
    "kimi": ("Kimi", "Beside those of Chat Completions."),
    "deepseek": ("DeepSeek", "Beside those of Chat Completions."),
    "openai-responses": ("OpenAI Responses", "Calls and outputs pair over the whole request."),
    "anthropic": ("Anthropic Messages", "Neighbouring messages of one role are judged as one turn."),
    "gemini": ("Gemini generateContent", "Read in camelCase and snake_case; neighbouring model contents count as one."),
    "vercel": ("Vercel AI SDK", "What the SDK checks before it sends; the provider's own rules come after."),
}

LONGEST = 1200


def document(rule_sets: Mapping[str, Iterable[Rule]]) -> str:
    """The page for `rule_sets`. A rule that several dialects share is described once."""
    sections: dict[str, dict[str, Rule]] = {name: {} for name in SECTIONS}
    for rules in rule_sets.values():
        for rule in rules:
            sections[rule.id.partition("/")[0]].setdefault(rule.id, rule)
    used = {name: list(rules.values()) for name, rules in sections.items() if rules}
    lines = [
        "# What providers accept",
        "",
        "Written by `python scripts/rules_doc.py` from the rules themselves; do not edit by hand.",
        "",
        "Legato judges every request body before it is sent. A rule is *refused* where the provider answers with an",
        "error when it is broken, and *risky* where only some servers, models or versions do, or where the model",
        "suffers. Each rule has a body that breaks it and one that does not; both are run as tests.",
        "",
        *(_link(*SECTIONS[name], len(rules)) for name, rules in used.items()),
    ]
    for name, rules in used.items():
        title, note = SECTIONS[name]
        lines += ["", f"## {title}", "", note, "", "| rule | when broken | what it asks |", "|---|---|---|"]
        lines += [f"| [`{rule.id}`](#{_anchor(rule.id)}) | {rule.severity} | {_cell(rule.says)} |" for rule in rules]
        for rule in rules:
            lines += _entry(rule)
    return "\n".join(lines) + "\n"


def _link(title: str, note: str, count: int) -> str:
    return f"- [{title}](#{_anchor(title)}), {count} rule{'s' * (count > 1)}. {note}"


def _entry(rule: Rule) -> list[str]:
    lines = ["", f"### {rule.id}", "", f"*{rule.severity.capitalize()}.* {rule.says}"]
    if rule.error:
        lines += ["", f"What the provider says: {rule.error}"]
    return [
        *lines,
        "",
        f"<details><summary>Bodies for <code>{rule.route}</code></summary>",
        "",
        f"{rule.severity.capitalize()}:",
        "",
        *_fenced(rule.refused),
        "",
        "Accepted:",
        "",
        *_fenced(rule.accepted),
        "",
        "</details>",
    ]


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

    text = document(RULE_SETS)
    if options.check:
        if not options.page.is_file() or options.page.read_text(encoding="utf-8") != text:
            print(f"{options.page} is out of date; write it with: python scripts/rules_doc.py", file=sys.stderr)
            return 1
        return 0
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(text, encoding="utf-8")
    print(f"{sum(len(rules) for rules in RULE_SETS.values())} rules in {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
