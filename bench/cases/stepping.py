"""One more step of a session, as its loop does it before a request leaves: record, render, verify, bytes, digest."""

from __future__ import annotations

from bench import workload
from bench.cases.rendering import ratio, request
from bench.figures import Goal, Outcome, Scale
from bench.measure import Sample, interleave, sample
from legato.model import Entry, ThinkingPolicy
from legato.request import Request, resolve
from legato.request.render_cache import RenderCache

TARGET = resolve(workload.TARGET)
STEPS = 8
"""steps in one sample where the bytes are left out: one alone takes less than a clock can be trusted with"""
JOIN = 'b"".join of its parts'
SHORT = ", results of 200 bytes"


class Stepping:
    """A conversation that goes on by a step or more at every sample."""

    def __init__(self, messages: int, lines: int = workload.LINES) -> None:
        self._lines = lines
        self._turn = len(workload.turns(messages))
        self._talk = workload.recorded(workload.entries(messages, lines))
        _judge_and_name(request(self._talk, TARGET))

    def whole(self) -> Sample:
        """A step, to the bytes."""
        return sample(lambda news: self._step(news).json(), self._news)

    def join(self) -> Sample:
        """The least that the bytes of the next step take: joining what each of its messages was encoded to.

        As in `whole` the body is longer than any before it, so the memory for it has to be found anew.
        """

        def parts() -> list[bytes]:
            self._step(self._news())
            _, encoded = RenderCache.of(self._talk).encoded(TARGET, ThinkingPolicy(), thinking_on=False)
            return [*encoded.assembly.encoded()]

        return sample(b"".join, parts)

    def without_bytes(self) -> Sample:
        """Some steps without the bytes of their bodies, which are more in a longer conversation."""
        return sample(self._steps, lambda: [self._news() for _ in range(STEPS)])

    def _news(self) -> list[Entry]:
        self._turn += 1
        return workload.entry_turn(self._turn - 1, self._lines)

    def _step(self, news: list[Entry]) -> Request:
        self._talk.apply(self._talk.prepare(news))
        return _judge_and_name(request(self._talk, TARGET))

    def _steps(self, turns: list[list[Entry]]) -> None:
        for news in turns:
            self._step(news)


def _judge_and_name(made: Request) -> Request:
    made.verify()
    made.digest()
    return made


def step(scale: Scale) -> Outcome:
    """One more step of a long session: recorded, rendered, verified, encoded and named."""
    large, small = f"{scale.large:,} messages", f"{scale.small:,} messages"
    works: dict[str, Sample] = {}
    for kind, lines in (("", workload.LINES), (SHORT, workload.SHORT)):
        long = Stepping(scale.large, lines)
        works |= {
            f"step{kind}": long.whole(),
            JOIN + kind: long.join(),
            large + kind: long.without_bytes(),
            small + kind: Stepping(scale.small, lines).without_bytes(),
        }
    taken = interleave(works, scale.rounds * 3)
    growth = Goal("at most", 1.3)
    return Outcome(
        [
            ratio(f"a step at {large}", taken, "step", JOIN, goal=Goal("at most", 1.5)),
            ratio(f"its bytes aside, at {large}", taken, large, small, goal=growth),
            ratio(f"a step at {large}{SHORT}", taken, f"step{SHORT}", JOIN + SHORT),
            ratio(f"its bytes aside, at {large}{SHORT}", taken, large + SHORT, small + SHORT, goal=growth),
        ],
        notes=[f"bytes aside, the times are those of {STEPS} steps"],
    )
