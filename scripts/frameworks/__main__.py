"""`make frameworks`: install the frameworks, damage their histories, and record what came of it.

FRAMEWORKS narrows the run, by any part of a name, separated by commas; only a whole run is recorded. The exit status is
1 if a provider refused anything with Legato, if a framework raised something with it, or if one could not be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.clients.isolation import is_alone, is_inside, move_into_own_network
from scripts.clients.thoughts import thoughts_that_came_home
from scripts.frameworks.damages import FOREIGN, Damage
from scripts.frameworks.installing import ROOT, NotInstalled, python_of, version_in, write_locks
from scripts.frameworks.judging import judged
from scripts.frameworks.results import (
    FRAMEWORKS,
    PAGE,
    Cell,
    Journey,
    Record,
    Title,
    new_record,
    summary,
    table,
    write,
)
from scripts.frameworks.sections import differing, program, section_of
from scripts.frameworks.stage import Framework, is_streamed, open_framework

RECORDED = ROOT / "tests" / "data" / "frameworks"


def main() -> int:
    """Run, print, record, and judge."""
    options = _options()
    chosen = [title for title in FRAMEWORKS if _is_meant(title.name)]
    if options.lock:
        write_locks([title.player for title in chosen])
        return 0
    if not is_inside():
        for title in chosen:
            _install(title)
    move_into_own_network(sys.argv[1:], "scripts.frameworks")
    print("no network but loopback" if is_alone() else "kept from the network by settings", flush=True)
    installed = [title for title in chosen if _install(title)]
    if options.record:
        for title in installed:
            _record(title)
        return 0
    record = new_record(is_alone=is_alone())
    for title in installed:
        _play(title, record)
    print("\n".join(["", *table(record), "", summary(record)]))
    if installed == list(FRAMEWORKS):
        write(record)
        print("recorded in docs/integrations.json and the page beside it")
    return int(installed != chosen or not record.is_clean)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make frameworks", description="Agent frameworks, with and without Legato.")
    parser.add_argument("--lock", action="store_true", help="resolve the newest versions into requirements/frameworks/")
    parser.add_argument("--record", action="store_true", help="write the messages that the tests of the readers use")
    return parser.parse_args()


def _is_meant(name: str) -> bool:
    asked = os.environ.get("FRAMEWORKS", "")
    return not asked or any(part.strip().lower() in name.lower() for part in asked.split(","))


def _install(title: Title) -> bool:
    try:
        python_of(title.player)
    except NotInstalled as error:
        print(f"{title.name}: left out, it cannot be installed here ({error})", flush=True)
        return False
    return True


def _log(title: Title) -> Path:
    return Path(tempfile.gettempdir()) / f"legato-frameworks-{title.player}.log"


def _record(title: Title) -> None:
    with open_framework(python_of(title.player), title.player, _log(title)) as framework:
        families = framework.order("families").answer["families"]
        kept = {family: framework.order("record", family=family).answer["history"] for family in families}
    RECORDED.mkdir(parents=True, exist_ok=True)
    (RECORDED / f"{title.player}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"{title.name}: {', '.join(kept)}", flush=True)


def _play(title: Title, record: Record) -> None:
    record.versions[title.name] = version_in(title.player, title.package)
    with open_framework(python_of(title.player), title.player, _log(title)) as framework:
        told = framework.order("families").answer
        families: list[str] = told["families"]
        for family in families:
            for thinks in (False, True):
                framework.order("history", family=family, thinks=thinks)
        for cell in _cells(title.name, framework, families):
            record.cells.append(cell)
            print(f"{cell.framework}, {cell.damage}, {cell.family}: {cell.without} -> {cell.legato}", flush=True)
        for family in families:
            record.journeys.append(_home(title.name, framework, family))
        shown = framework.example(title.example)
        record.journeys.append(Journey(title.name, title.example, True, len(shown.asked), shown.refusals, shown.error))
        record.journeys.append(_section(title, framework))
        turns = 2 * len(families) + 1
        record.journeys += [_travelled(title.name, framework, turns, legato=on) for on in (False, True)]
        record.journeys.append(_streamed(title.name, framework, turns))
        record.journeys += [_own(title.name, framework, what) for what in told["own"]]


def _cells(name: str, framework: Framework, families: list[str]) -> Iterator[Cell]:
    for damage in Damage:
        for family in families:
            sources = [one for one in families if one != family] if damage in FOREIGN else [family]
            told = [
                [
                    judged(framework.order("play", family=family, source=one, damage=damage, legato=on), damage)
                    for one in sources
                ]
                for on in (False, True)
            ]
            yield Cell.of(name, damage, family, *told)


def _section(title: Title, framework: Framework) -> Journey:
    """Do what the page tells its reader to do."""
    blocks = section_of(PAGE.read_text(encoding="utf-8"), title.name)
    ran = framework.program(program(blocks))
    wrong = ran.error or "; ".join(differing(blocks, str(ran.answer["printed"])))
    return Journey(title.name, "section of the page", True, len(ran.asked), ran.refusals, wrong)


def _home(name: str, framework: Framework, family: str) -> Journey:
    played = [framework.order("stay", family=family, legato=on) for on in (False, True)]
    without, legato = (thoughts_that_came_home(one.asked) for one in played)
    last = played[1]
    return Journey(name, f"home on {family}", True, len(last.asked), last.refusals, last.error, without, legato)


def _travelled(name: str, framework: Framework, turns: int, *, legato: bool) -> Journey:
    played = framework.order("travel", turns=turns, legato=legato)
    return Journey(name, f"{turns} turns", legato, len(played.asked), played.refusals, played.error)


def _streamed(name: str, framework: Framework, turns: int) -> Journey:
    played = framework.order("travel", turns=turns, legato=True, streams=True)
    whole = [seen.provider for seen in played.asked if not is_streamed(seen)]
    wrong = played.error or (f"not asked for a stream: {', '.join(whole)}" if whole else "")
    return Journey(name, f"{turns} turns streamed", True, len(played.asked), played.refusals, wrong)


def _own(name: str, framework: Framework, what: str) -> Journey:
    """Something that only this framework has; that nobody was asked is a failure as well."""
    played = framework.order("own", what=what)
    wrong = played.error or ("" if played.asked else "no provider was asked")
    return Journey(name, what, True, len(played.asked), played.refusals, wrong, is_own=True)


if __name__ == "__main__":
    sys.exit(main())
