"""The page of questions quotes providers as the rules do: what people search for is what is declared."""

import re

import pytest

from documentation_support import ROOT
from legato.model import Dialect
from legato.wire.dialects import dialect_parts

_PAGE = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
_PROVIDERS = _PAGE.partition("\n## Anthropic\n")[2].partition("\n## All of them, mended\n")[0]
_PROSE = re.sub(r"(?ms)^```.*?^```$", "", _PROVIDERS)

_RULES = [rule for dialect in Dialect for rule in dialect_parts(dialect).rules.values()]
_WORDS = [rule.words(host=host) for rule in _RULES for host in ("", *rule.errors)]
_CODES = {rule.code for rule in _RULES if rule.code}
_FILLED = [re.compile(re.escape(words).replace("…", ".+")) for words in _WORDS if words]

_NOT_OF_A_RULE = {
    "Invalid `signature` in `thinking` block",  # no look at the request finds it: only the provider can check its own
}


def _is_declared(quoted: str) -> bool:
    return (
        quoted in _CODES
        or any(quoted in words for words in _WORDS)
        or any(filled.fullmatch(quoted) for filled in _FILLED)
    )


@pytest.mark.parametrize("heading", re.findall(r"(?m)^### (.+)$", _PROSE))
def test_a_heading_is_made_of_words_that_a_rule_declares(heading: str) -> None:
    assert [words for words in heading.split(", and: ") if not _is_declared(words)] == []


def test_what_is_quoted_is_what_a_rule_declares() -> None:
    body = re.sub(r"(?m)^#.*$", "", _PROSE)
    quotations = [
        " ".join(quoted.removeprefix("…").removesuffix(".").split()) for quoted in re.findall(r'"([^"]+)"', body)
    ]

    assert quotations != []
    assert [quoted for quoted in quotations if not _is_declared(quoted) and quoted not in _NOT_OF_A_RULE] == []
