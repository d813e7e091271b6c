"""Run the cases, show what they found, and write it down.

python -m bench                     everything; writes docs/benchmarks.{json,md,svg}
python -m bench --only cold peers   these cases; the others keep what was found before
python -m bench --quick             a few seconds, on little work; writes only where --out says
"""

from __future__ import annotations

import argparse
import inspect
import platform
import sys
import traceback
from importlib.metadata import version
from pathlib import Path

import msgspec

from bench import plot, report, running
from bench.cases import CASES
from bench.figures import QUICK, Outcome, Scale

DOCS = Path(__file__).resolve().parent.parent / "docs"
TITLES = {name: (inspect.getdoc(case) or "").split("\n")[0] for name, case in CASES.items()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Legato.")
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="NAME", help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--quick", action="store_true", help="little work, to see that everything runs")
    parser.add_argument("--gc", action="store_true", help="leave the garbage collector on while measuring")
    parser.add_argument("--out", type=Path, help="the folder to write benchmarks.json, .md and .svg to (docs)")
    options = parser.parse_args()
    take = running.take if options.quick else running.take_alone

    outcomes: dict[str, Outcome] = {}
    failed: list[str] = []
    everything = [name for name in CASES if name != "peers" or not options.quick]  # other interpreters take their time
    for name in options.only or everything:
        try:
            outcomes[name] = take(name, QUICK if options.quick else Scale(), options.gc)
        except Exception:  # noqa: BLE001  # one case that breaks must not hide what the others found
            failed.append(name)
            traceback.print_exc()
        else:
            print(report.table(name, TITLES[name], outcomes[name]), flush=True)
    print(report.summary(outcomes))
    for name in failed:
        print(f"{name}: failed; see above")
    out = options.out or (None if options.quick else DOCS)
    if out is not None:
        write(out, outcomes)
    return 1 if failed else 0


def write(out: Path, outcomes: dict[str, Outcome]) -> None:
    """Put `outcomes`, with what earlier runs found in other cases, into the files of `out`."""
    out.mkdir(parents=True, exist_ok=True)
    data = out / "benchmarks.json"
    before = msgspec.json.decode(data.read_bytes(), type=dict[str, Outcome]) if data.exists() else {}
    merged = {name: known for name in CASES if (known := outcomes.get(name) or before.get(name))}
    data.write_bytes(msgspec.json.format(msgspec.json.encode(merged), indent=1) + b"\n")
    (out / "benchmarks.svg").write_text(plot.plot([line for found in merged.values() for line in found.series]))
    page = out / "benchmarks.md"
    text = page.read_text() if page.exists() else f"{report.BEGIN}\n{report.END}\n"
    head, _, rest = text.partition(report.BEGIN)
    made_with = (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, orjson {version('orjson')}"
    )
    page.write_text(head + report.markdown(merged, TITLES, made_with) + rest.partition(f"{report.END}\n")[2])


if __name__ == "__main__":
    sys.exit(main())
