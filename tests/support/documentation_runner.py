"""Run the blocks of one page, in order, in the current folder: the subprocess behind `documentation_support.run_page`.

In:  on standard input, a JSON list of blocks: language, text, the page and the line where each begins.
Out: on standard output, a JSON list with what each block printed, up to the first that failed; `failure` says why.

The Python blocks of a page share one namespace, as if a reader typed them one after the other. Shell blocks run under
`bash -eu`, and what they write to standard error counts as output too.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import traceback
from typing import Any

SECONDS = 200


def main() -> None:
    """Run what comes in, report what came of it."""
    report, namespace = sys.stdout, {"__name__": "__main__"}
    results: list[dict[str, str]] = []
    for block in json.load(sys.stdin):
        run = run_python if block["language"] == "python" else run_shell
        output, failure = run(block, namespace)
        results.append({"output": output, "failure": failure})
        if failure:
            break
    json.dump(results, report)


def run_python(block: dict[str, Any], namespace: dict[str, Any]) -> tuple[str, str]:
    """What a Python block printed, and the traceback if it failed. Its lines have the numbers of the page."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            source = "\n" * block["line"] + block["text"]
            exec(compile(source, block["page"], "exec", dont_inherit=True), namespace)
    except BaseException:
        return output.getvalue(), traceback.format_exc()
    return output.getvalue(), ""


def run_shell(block: dict[str, Any], _: dict[str, Any]) -> tuple[str, str]:
    """What a shell block wrote, and why it failed if it did."""
    done = subprocess.run(
        ["bash", "-eu", "-c", block["text"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.stdout, f"exit code {done.returncode}\n{done.stdout}" if done.returncode else ""


if __name__ == "__main__":
    main()
