"""One scale of effort, and how a wish on it becomes what a family of models accepts.

In:  a word for how hard to think, in whatever spelling a request or a person used, or a budget of tokens.
Out: the word that the target's family knows, or a budget where its thinking is counted in tokens.

    none  minimal  low  medium  high  xhigh  max

Which of the words a family knows is in `Capabilities.efforts`, so the catalogue holds the table and a user's own may
correct it. A word that a family lacks becomes the next stronger one it has, or its strongest: DeepSeek documents the
same for itself (https://api-docs.deepseek.com/guides/thinking_mode), and asking for more than there is should not give
less than asking for a little less.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from legato.model import Options, ThinkingSwitch

NONE, LOW, MEDIUM, HIGH = "none", "low", "medium", "high"
SCALE = (NONE, "minimal", LOW, MEDIUM, HIGH, "xhigh", "max")
"""every effort, weakest first; the first one means not to think"""

_SYNONYMS = {"off": NONE, "ultra": "max"}
_BUDGETS = {"minimal": 1_024, LOW: 2_048, MEDIUM: 8_192, HIGH: 16_384, "xhigh": 24_576, "max": 32_768}
"""how many tokens of thinking an effort is worth, where they are counted"""


def effort_word(text: str) -> str:
    """`text` as a word of the scale; as it is if it is none of them, since a server may have words of its own."""
    word = text.strip().lower()
    word = _SYNONYMS.get(word, word)
    return word if word in SCALE else text


def effort_for(word: str, known: Sequence[str]) -> str | None:
    """What to send for `word` to models that know these efforts; None if it cannot be placed among them."""
    if word in known or word not in SCALE:
        return word if word in known else None
    places = sorted(SCALE.index(effort) for effort in known if effort in SCALE and effort != NONE)
    if not places:
        return None
    stronger = [place for place in places if place >= SCALE.index(word)]
    return SCALE[stronger[0] if stronger else places[-1]]


def effort_of_budget(budget: int) -> str:
    """A budget of tokens as an effort. A large one is no more than high: what lies beyond was not asked for."""
    return next((word for word in (LOW, MEDIUM) if budget <= _BUDGETS[word]), HIGH)


def budget_of_effort(word: str) -> int | None:
    """An effort as a budget of tokens; None for a word that is not on the scale, or that means not to think."""
    return _BUDGETS.get(word)


def plainly(options: Options) -> Options:
    """`options` with every wish about thinking in one form: efforts in our words, and one way to say off."""
    effort = effort_word(options.effort) if options.effort else None
    budget = options.thinking_budget or None
    if effort == NONE or options.thinking_budget == 0:
        effort = None if effort == NONE else effort
        return replace(options, thinking=ThinkingSwitch.OFF, effort=effort, thinking_budget=budget)
    return options if effort == options.effort else replace(options, effort=effort)
