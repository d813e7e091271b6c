"""What is left of one output when it is shortened.

    stub   one line: which tool, the arguments in brief, the size of what was there, and how it failed if it did
    clip   the beginning and the end of the output

What a call had put out before it was cancelled is shortened the same way; why it has no result stays in front of it.
Functions of the call and its completion alone, so that the same output always leaves the same text. Neither ever holds
the data or the address of an attachment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from legato.model import JsonObject, Media, ToolCall, closure_text, recognise_closure
from legato.tools.budget import cut
from legato.transcript import Completion, CompletionKind, completion_text, whole_output

STUB_MARK = "[Output of "

_VALUE = 60
"""characters of one argument in a note: our choice, a path"""

_ARGUMENTS = 160
"""characters of all arguments in a note: our choice, a line or two"""

_FAILURE = 200
"""characters of an error in a note: our choice, its first sentence"""


def has_output(completion: Completion) -> bool:
    """Whether the tool gave anything that could be shortened: a result, an error, or what it put out before its end."""
    return completion.is_real or bool(_given(completion))


def stub_text(call: ToolCall, completion: Completion) -> str:
    """One line in place of the output of `call`."""
    size = f"{len(_given(completion)):,} characters"
    media = described_media(completion.media)
    failure = f"; failed: {failure_text(completion)}" if completion.kind is CompletionKind.ERROR else ""
    left = f"{size} and {media}" if media else size
    return _closed(f"{STUB_MARK}{brief_call(call)} left out to save room: {left}{failure}]", completion)


def is_stub(text: str | None) -> bool:
    """Whether `text` is a stub of ours."""
    closure = recognise_closure(text) if text is not None else None
    output = closure.output if closure is not None else text
    return output is not None and output.startswith(STUB_MARK)


def clip_text(completion: Completion, characters: int) -> str:
    """The beginning and the end of the output, about so many characters in all."""
    text = _given(completion)
    if len(text) > characters:
        text = cut(text, characters, kept="the log of this session")
    media = described_media(completion.media)
    return _closed(f"{text}\n[{media} left out to save room]".lstrip() if media else text, completion)


def _given(completion: Completion) -> str:
    """What the tool gave: of a call that was closed, what it had put out before."""
    if completion.reason is None:
        return whole_output(completion)
    return completion_text(Completion(completion.call_id, CompletionKind.SUCCESS, completion.result))


def _closed(output: str, completion: Completion) -> str:
    """`output`, behind the reason why the call has no result, if it has none."""
    if completion.reason is None:
        return output
    return closure_text(completion.reason, completion.said, output)


def failure_text(completion: Completion) -> str:
    """How a call failed, in brief."""
    return brief(completion.error or whole_output(completion) or "no reason given", _FAILURE)


def brief_call(call: ToolCall) -> str:
    """`read(path="a.txt")`: a call in brief."""
    return f"{brief(call.name or 'a tool', _VALUE)}({brief_arguments(call.arguments)})"


def brief_arguments(arguments: JsonObject) -> str:
    """Arguments in brief: each value cut, and all of them together."""
    pairs = [f"{name}={brief(msgspec.json.encode(value).decode(), _VALUE)}" for name, value in arguments.items()]
    return brief(", ".join(pairs), _ARGUMENTS)


def brief(text: str, limit: int) -> str:
    """`text` as one line of at most `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return f"{line[: limit - 1].rstrip()}…"


def described_media(media: Iterable[Media]) -> str:
    """`2 images and 1 document`; empty if there are none."""
    counts = Counter(medium.kind.value for medium in media)
    return " and ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())
