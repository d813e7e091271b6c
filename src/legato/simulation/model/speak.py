"""The small model behind every simulated provider: deterministic, and driven by plain words.

In:  a request, read into entries, tools and options, and what it makes the model remember; whether it may think; the
     form in which the answer is wanted.
Out: the blocks of an answer, before the family names its calls and signs its thoughts.

It makes the calls it is asked to make, one step after the other; when their results are there it says what they
returned; asked about the past it looks the answer up in the conversation; asked for a summary it writes one; anything
else it talks about in a sentence.
It has no state: everything it knows is in the request, so it carries on with what another model began.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from legato.model import Block, Choice, Ending, JsonObject, Options, Text, Thinking, ToolCall, ToolSpec
from legato.simulation.faults.requested import RequestedFault
from legato.simulation.model.fake_arguments import fill_answer, fill_arguments
from legato.simulation.model.memory import Memory, Remembered, quote
from legato.simulation.model.script import Script, ScriptStep, Wish, is_question, read_script
from legato.simulation.model.summary_reply import asks_for_summary, summary_reply
from legato.wire.contract import Parsed


class Spoken(NamedTuple):
    """What the model says, and what it was told to get wrong."""

    blocks: tuple[Block, ...]
    ending: Ending
    script: Script
    faults: tuple[RequestedFault, ...] = ()
    topic: str = ""
    """the last thing asked and all that was asked before it, to count failures that shall happen once"""


class Character(NamedTuple):
    """What differs between models, as far as their words go."""

    name: str
    thinks: bool
    may_think: bool
    """thinks when it is asked to"""
    talks: bool
    max_calls: int


def speak(parsed: Parsed, memory: Memory, character: Character, *, form: JsonObject | None = None) -> Spoken:
    """The answer to a request; `form` is the schema that its words have to fit, if any."""
    wants_summary = asks_for_summary(memory.ask)  # and then the words in it are no one's request
    script = Script() if wants_summary else read_script(memory.ask, parsed.tools)
    step = script.step(memory.since)
    wishes = _wishes(step, parsed, memory, character)
    blocks: list[Block] = []
    if character.thinks or (script.thinks and character.may_think):
        blocks.append(Thinking(_thought(memory, wishes, at_length=script.thinks)))
    elif script.thinks and form is None:
        blocks.append(Text(f"Let me think. {_thought(memory, wishes, at_length=True)} "))
    if wishes:
        if character.talks:
            blocks.append(Text(f"I will use {_list_names(wishes)}."))
        blocks += [ToolCall(wish.name, wish.arguments) for wish in wishes]
        ending = Ending.CALLS
    else:
        words = summary_reply(memory) if wants_summary else _answer(memory, script, character)
        blocks.append(Text(words if form is None else msgspec.json.encode(fill_answer(form, words)).decode()))
        ending = Ending.DONE
    return Spoken(tuple(blocks), ending, script, step.faults, "\0".join(memory.asked))


def _wishes(step: ScriptStep, parsed: Parsed, memory: Memory, character: Character) -> Sequence[Wish]:
    options = parsed.options
    if options.choice is Choice.NONE or not (parsed.tools or step.calls):
        return ()
    most = 1 if options.parallel_calls is False else max(1, character.max_calls)
    wishes = step.calls[:most]
    if not wishes and not memory.since and (forced := _forced(parsed.tools, options)) is not None:
        return (Wish(forced.name, fill_arguments(forced, None, words=quote(memory.ask) or "anything")),)
    return wishes


def _forced(tools: Sequence[ToolSpec], options: Options) -> ToolSpec | None:
    if options.tool is not None:
        return next((tool for tool in tools if tool.name == options.tool), None)
    return tools[0] if options.choice is Choice.REQUIRED and tools else None


def _thought(memory: Memory, wishes: Sequence[Wish], *, at_length: bool) -> str:
    asked = f'They said: "{quote(memory.ask)}".' if memory.ask else "Nobody has said anything yet."
    next_move = f"I need {_list_names(wishes)}." if wishes else "I can answer that now."
    if not at_length:
        return f"{asked} {next_move}"
    known = f"I know {len(memory.results)} results so far, {memory.since} of them new."
    return f"{asked} {known} {next_move}"


def _answer(memory: Memory, script: Script, character: Character) -> str:
    if memory.since:
        return _report(memory.fresh)
    if script.unknown:
        return f"I was not offered a tool named {' or '.join(script.unknown)}."
    if script.lines:
        return "\n".join(
            f"Line {number} of {script.lines}, by {character.name}." for number in range(1, script.lines + 1)
        )
    if script.is_markdown:
        return _MARKDOWN.format(name=character.name)
    if not memory.ask:
        return f"{character.name} is here. What can I do?"
    if is_question(memory.ask) or "remember" in memory.ask.lower() or "recall" in memory.ask.lower():
        recalled = memory.recall(memory.ask)
        if recalled is not None:
            return recalled
    return f'{character.name} (simulated) heard: "{quote(memory.ask)}"'


_MARKDOWN = """\
## What {name} can write

A paragraph with **bold words**, *italic ones*, `code` and a [link](https://example.org), long enough to be wrapped \
between words on any screen, so that one sees whether a word is torn apart.

- an item of a list
- another item, whose text goes on and on until it has to be wrapped, and then hangs under its first word
  1. the first of two
  2. the second of two

| what | how much | remark |
|:-----|---------:|:-------|
| apples | 12 | red ones, from the tree behind the house, where the ladder is |
| pears | 3,456 | `green` |

```python
def greet(name: str) -> str:
    return f"Hello, {{name}}!"  # and goodbye
```

> Whoever quotes, quotes with a bar.

That was all."""


def _report(results: Sequence[Remembered]) -> str:
    return "; ".join(result.told() for result in results) + "."


def _list_names(wishes: Sequence[Wish]) -> str:
    names = list(dict.fromkeys(wish.name for wish in wishes))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
