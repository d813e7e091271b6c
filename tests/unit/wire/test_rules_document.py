"""docs/rules.md says what the rules say."""

from typing import Any

from legato.model import Dialect
from legato.wire.rules import OBSERVED, WireRule, refused, risky
from rules import CASES, Case
from scripts.rules_doc import PAGE, document


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == document(CASES), "write it with: python scripts/rules_doc.py"


def _case(rule: WireRule, refused: dict[str, Any], accepted: dict[str, Any]) -> Case:
    return Case(Dialect.OPENAI_CHAT, rule, refused, accepted)


def test_a_rule_reads_as_its_weight_its_words_its_sources_and_two_bodies():
    rule = risky(
        "kimi/example",
        "Something is so.",
        source=("owner/repo#7", "https://example.com/page", OBSERVED),
        error="no {id}",
        errors={"mistral": "never"},
        code="42",
        route="kimi/m",
    )
    case = _case(rule, {"model": "m", "messages": []}, {"messages": [{"role": "user", "content": "\ud83d|"}]})

    page = document([case, case])

    assert page.partition("## Kimi\n")[2] == (
        "\nBeside those of Chat Completions.\n\n"
        "| rule | when broken | what it asks |\n|---|---|---|\n"
        "| [`kimi/example`](#kimiexample) | risky | Something is so. |\n"
        "\n### kimi/example\n\n*Risky.* Something is so.\n\n"
        "What the provider says: “no …” (42). Mistral: “never” (42).\n\n"
        "Source: [owner/repo#7](https://github.com/owner/repo/issues/7), "
        "[example.com/page](https://example.com/page), recorded exchanges.\n\n"
        "<details><summary>Bodies for <code>kimi/m</code></summary>\n\n"
        'Risky:\n\n```json\n{\n  "model": "m",\n  "messages": []\n}\n```\n\n'
        'Accepted:\n\n```json\n{\n  "messages": [\n    {"role": "user", "content": "\\ud83d|"}\n  ]\n}\n```\n\n'
        "</details>\n"
    )


def test_a_long_body_is_shortened():
    rule = refused("json/example", "Short.", source="owner/repo#7", route="any/model")

    assert "… shortened: 5,016 characters" in document([_case(rule, {"text": "a" * 5000}, {})])
