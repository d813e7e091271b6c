"""From a recorded conversation to a body: the first time, at the next turn, for every dialect, whole and damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import orjson

from bench import plain, workload
from bench.figures import Figure, Goal, Outcome, Scale, Series, milliseconds
from bench.measure import Sample, Samples, interleave, sample, timed
from legato.model import Entry, Target, ThinkingPolicy
from legato.request import Request, render, resolve
from legato.request.render_cache import RenderCache
from legato.transcript import Conversation, Unit
from legato.wire.assembly import Assembly

ROUTES = (
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-4o",
    "openai-responses/gpt-5.1",
    "gemini/gemini-3-pro-preview",
    "mistral/mistral-large-latest",
    "kimi/kimi-k2-thinking",
    "deepseek/deepseek-reasoner",
    "vercel/any",
)
"""One route of every dialect, and of every profile that writes something differently."""

PLAIN = "plain converter"
LEGATO = "Legato"
DUMPS = "orjson.dumps of the body"


def request(talk: Conversation, target: Target) -> Request:
    """A request as an application makes it: with a system prompt and tools."""
    return render(talk, target, system=workload.SYSTEM, tools=workload.TOOLS)


def cold(scale: Scale) -> Outcome:
    """The first render of a recorded conversation beside the floors."""
    figures: list[Figure] = []
    for size in (scale.large, scale.small):
        taken = _cold_samples(size, scale.rounds * 3)  # its goal is near, and on a shared machine rounds differ a lot
        legato = taken.median("render")
        goal = Goal("at most", 1.5) if size == scale.large else None
        figures += [
            ratio(f"{size:,} messages", taken, "render", PLAIN, goal=goal),
            ratio(f"{size:,} messages", taken, "render", f"{PLAIN} from chat JSON"),
            ratio(f"{size:,} messages", taken, "render", DUMPS),
            ratio(f"{size:,} messages, to bytes", taken, "render and json()", f"{PLAIN} and orjson.dumps"),
            Figure(f"{size:,} messages, per message", legato / size * 1e6, "µs"),
        ]
    return Outcome(figures)


def _cold_samples(size: int, rounds: int) -> Samples:
    target = resolve(workload.TARGET)
    news, chat = workload.entries(size), workload.chat_messages(size)
    entries = workload.recorded(news).entries
    body = request(workload.recorded(news), target).body
    around = (target.model, workload.SYSTEM, workload.TOOLS)
    return interleave(
        {
            "render": fresh(news, lambda talk: request(talk, target).body),
            PLAIN: timed(lambda: plain.body_of_entries(entries, *around)),
            f"{PLAIN} from chat JSON": timed(lambda: plain.body_of_chat(chat, *around)),
            DUMPS: timed(lambda: orjson.dumps(body)),
            "render and json()": fresh(news, lambda talk: request(talk, target).json()),
            f"{PLAIN} and orjson.dumps": timed(lambda: orjson.dumps(plain.body_of_entries(entries, *around))),
        },
        rounds,
    )


def stages(scale: Scale) -> Outcome:
    """Where the time of a first render goes, and what a render costs that has nothing new to print."""
    target = resolve(workload.TARGET)
    news = workload.entries(scale.large)
    around = (target.model, workload.SYSTEM, workload.TOOLS)
    entries = workload.recorded(news).entries
    made = workload.recorded(news)
    request(made, target)
    taken = interleave(
        {
            "all": fresh(news, lambda talk: request(talk, target).body),
            PLAIN: timed(lambda: plain.body_of_entries(entries, *around)),
            "ids": fresh(news, lambda talk: RenderCache.of(talk).ids(target)),
            "units": fresh(news, _units),
            "printing": sample(_print, lambda: _Units(workload.recorded(news), target)),
            "nothing new": timed(lambda: [request(made, target) for _ in range(scale.rounds)]),
        },
        scale.rounds,
    )
    each = {name: taken.median(name) / len(workload.turns(scale.large)) * 1e6 for name in taken.seconds}
    figures = [
        Figure(
            f"a first render: {name}",
            taken.ratio(name, "all"),
            against="all of it",
            detail=f"{each[name]:.2f} µs / {each['all']:.2f} µs for each turn",
        )
        for name in ("ids", "units", "printing", PLAIN)
    ]
    figures.append(Figure("a render with nothing new", taken.median("nothing new") / scale.rounds * 1e6, "µs"))
    return Outcome(figures)


def _units(talk: Conversation) -> list[Unit | None]:
    view = talk.view()
    view.refresh()
    return view.units_from(0)


class _Units:
    """All units of a conversation and a page to print them on."""

    def __init__(self, talk: Conversation, target: Target) -> None:
        _, encoded = RenderCache.of(talk).encoded(target, ThinkingPolicy(), thinking_on=False)
        encoded.view.refresh()
        self.units = encoded.view.units_from(0)
        self.encoder = encoded.encoder
        self.page = encoded.assembly


def _print(given: _Units) -> Assembly:
    given.encoder.append_simple(given.units, 0, given.page, {})
    return given.page


def sizes(scale: Scale) -> Outcome:
    """The first render of short and of very long conversations."""
    target = resolve(workload.TARGET)
    around = (target.model, workload.SYSTEM, workload.TOOLS)
    works: dict[str, Sample] = {}
    for size in scale.sizes:
        news = workload.entries(size)
        entries = workload.recorded(news).entries
        body = plain.body_of_entries(entries, *around)
        works |= {
            f"{LEGATO} {size}": fresh(news, lambda talk: request(talk, target).body),
            f"{PLAIN} {size}": timed(lambda e=entries: plain.body_of_entries(e, *around)),
            f"{DUMPS} {size}": timed(lambda b=body: orjson.dumps(b)),
        }
    taken = interleave(works, max(2, scale.rounds // 2))
    figures: list[Figure] = []
    base = scale.small
    for size in scale.sizes:
        spent = taken.median(f"{LEGATO} {size}")
        times = taken.ratio(f"{LEGATO} {size}", f"{LEGATO} {base}") * base / size
        detail = f"{milliseconds(spent)}, {spent / size * 1e6:.3g} µs per message"
        figures.append(Figure(f"{size:,} messages", times, against=f"per message at {base:,}", detail=detail))
    return Outcome(
        figures,
        [
            Series("messages", name, [(size, taken.median(f"{name} {size}") * 1000) for size in scale.sizes])
            for name in (LEGATO, PLAIN, DUMPS)
        ],
    )


def dialects(scale: Scale) -> Outcome:
    """Every dialect: the first render beside that of the first one, and a turn more at the end of a long history."""
    targets = {route: resolve(route) for route in ROUTES}
    news = workload.entries(scale.small)
    works = {
        route: fresh(news, lambda talk, target=target: request(talk, target).body) for route, target in targets.items()
    }
    taken = interleave(works, scale.rounds)
    goal = Goal("at most", 2)
    figures = [ratio(f"first render, {route}", taken, route, ROUTES[0], goal=goal) for route in ROUTES[1:]]
    long = workload.entries(scale.large)
    works = {f"{route}, a turn more": Steady(long, target).samples()["render"] for route, target in targets.items()}
    works |= {
        route: fresh(long, lambda talk, target=target: request(talk, target).body) for route, target in targets.items()
    }
    taken = interleave(works, max(2, scale.rounds // 2))
    figures += [
        Figure(
            f"one turn more at {scale.large:,} messages, {route}",
            taken.ratio(f"{route}, a turn more", route),
            against="its first render",
            detail=f"{milliseconds(taken.median(f'{route}, a turn more'))} / {milliseconds(taken.median(route))}",
        )
        for route in ROUTES
    ]
    return Outcome(figures)


class Steady:
    """A long conversation that was rendered and sent before, and goes on by a turn at every sample."""

    def __init__(self, news: Iterable[Entry], target: Target) -> None:
        self._talk = workload.recorded(news)
        self._target = target
        self._turn = len(self._talk) // workload.MESSAGES_PER_TURN
        request(self._talk, target).json()

    def go_on(self) -> Conversation:
        """Record a turn."""
        self._talk.apply(self._talk.prepare(workload.entry_turn(self._turn)))
        self._turn += 1
        return self._talk

    def request(self) -> Request:
        """Record a turn and make its request."""
        return request(self.go_on(), self._target)

    def request_with_body(self) -> Request:
        """The same, with everything made that can be kept."""
        made = self.request()
        _ = made.body
        made.json()
        return made

    def samples(self) -> dict[str, Sample]:
        """What a turn costs after it was recorded, step by step."""
        return {
            "render": sample(lambda talk: request(talk, self._target).body, self.go_on),
            "json()": sample(lambda made: made.json(), self.request),
            "render and json()": sample(lambda talk: request(talk, self._target).json(), self.go_on),
            DUMPS: sample(lambda made: orjson.dumps(made.body), self.request_with_body),
        }


def steady(scale: Scale) -> Outcome:
    """A turn more at the end of a long conversation: making its request, and its bytes."""
    taken = interleave(Steady(workload.entries(scale.large), resolve(workload.TARGET)).samples(), scale.rounds)
    name = f"at {scale.large:,} messages"
    return Outcome(
        [
            ratio(f"request.json() {name}", taken, "json()", DUMPS, goal=Goal("at most", 0.5)),
            ratio(f"render {name}", taken, "render", DUMPS),
            ratio(f"render and json() {name}", taken, "render and json()", DUMPS),
        ]
    )


def corrupt(scale: Scale) -> Outcome:
    """A conversation with a tenth of its blocks damaged beside the same conversation whole."""
    target = resolve(workload.TARGET)
    whole, broken = workload.entries(scale.large), workload.damaged(scale.large)
    taken = interleave(
        {
            "damaged": fresh(broken, lambda talk: request(talk, target).body),
            "whole": fresh(whole, lambda talk: request(talk, target).body),
            "damaged, recorded": timed(lambda: workload.recorded(broken)),
            "whole, recorded": timed(lambda: workload.recorded(whole)),
        },
        scale.rounds,
    )
    made = request(workload.recorded(broken), target)
    note = f"{len(made.report.decisions):,} decisions in the damaged one; {len(made.check())} violations of the rules"
    return Outcome(
        [
            ratio(f"rendering {scale.large:,} messages", taken, "damaged", "whole", goal=Goal("at most", 1.5)),
            ratio(f"recording {scale.large:,} messages", taken, "damaged, recorded", "whole, recorded"),
        ],
        notes=[note],
    )


def gate(scale: Scale) -> Outcome:
    """The check of a whole body against the provider's rules, beside making the body."""
    target = resolve(workload.TARGET)
    news = workload.entries(scale.large)
    made = request(workload.recorded(news), target)
    _ = made.body
    taken = interleave(
        {"check()": timed(made.check), "render": fresh(news, lambda talk: request(talk, target).body)}, scale.rounds
    )
    return Outcome([ratio(f"check() of {scale.large:,} messages", taken, "check()", "render")])


def fresh(news: list[Entry], run: Callable[[Conversation], object]) -> Sample:
    """Time `run` on a conversation that was recorded and never rendered."""
    return sample(run, lambda: workload.recorded(news))


def ratio(name: str, taken: Samples, one: str, other: str, *, goal: Goal | None = None) -> Figure:
    """The figure that compares `one` with `other`."""
    detail = f"{milliseconds(taken.median(one))} / {milliseconds(taken.median(other))}"
    return Figure(name, taken.ratio(one, other), against=other, detail=detail, goal=goal)
