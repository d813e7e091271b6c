"""docs/rules.md says what the rules say."""

from legato.wire.contract import Rule, Severity
from rule_targets import RULE_SETS
from scripts.rules_doc import PAGE, document
from scripts.rules_doc import RULE_SETS as DOCUMENTED


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == document(DOCUMENTED), "write it with: python scripts/rules_doc.py"


def test_every_dialect_is_documented():
    assert {str(dialect): rules for dialect, rules in RULE_SETS.items()} == DOCUMENTED


def test_a_rule_reads_as_its_weight_its_words_and_two_bodies():
    rule = Rule(
        "kimi/example",
        Severity.RISKY,
        "Something is so.",
        refused={"model": "m", "messages": []},
        accepted={"messages": [{"role": "user", "content": "\ud83d|"}]},
        error="“no”.",
        route="kimi/m",
    )

    page = document({"openai_chat": [rule], "vercel": [rule]})

    assert page.partition("## Kimi\n")[2] == (
        "\nBeside those of Chat Completions.\n\n"
        "| rule | when broken | what it asks |\n|---|---|---|\n"
        "| [`kimi/example`](#kimiexample) | risky | Something is so. |\n"
        "\n### kimi/example\n\n*Risky.* Something is so.\n\nWhat the provider says: “no”.\n\n"
        "<details><summary>Bodies for <code>kimi/m</code></summary>\n\n"
        'Risky:\n\n```json\n{\n  "model": "m",\n  "messages": []\n}\n```\n\n'
        'Accepted:\n\n```json\n{\n  "messages": [\n    {"role": "user", "content": "\\ud83d|"}\n  ]\n}\n```\n\n'
        "</details>\n"
    )


def test_a_long_body_is_shortened():
    rule = Rule("json/example", Severity.REFUSED, "Short.", {"text": "a" * 5000}, {}, route="any/model")

    assert "… shortened: 5,016 characters" in document({"vercel": [rule]})
