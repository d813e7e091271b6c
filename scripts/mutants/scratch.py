"""A copy of the project in which something can be broken, and what pytest says then.

In:  a breakage, and the tests that should notice it.
Out: a `Verdict`.

The working tree is never touched. Python finds the copy first because PYTHONPATH names it, also in processes that tests
start. The byte code of the copy is checked by the hash of its source: a file that was changed twice within a second
must not pass for the one before.
"""

from __future__ import annotations

import compileall
import json
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from scripts.mutants.breakages import ROOT, SOURCE, Breakage

SMOKE = "scripts/mutants/smoke.py"
"""tests that every plausible bug passes; a breakage that they notice breaks everything"""

_QUIETLY = ("-p", "no:cacheprovider", "-n", "0", "--quiet")
_COPIED = ("src", "tests", "scripts", "bench", "docs", "examples", "requirements")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


class Fate(StrEnum):
    """What became of a breakage."""

    KILLED = "killed"
    SURVIVED = "survived"
    BLUNT = "blunt"
    """noticed by tests that have nothing to do with the requirement, or by the import"""


@dataclass(frozen=True)
class Verdict:
    """What became of one breakage, and the test that noticed it."""

    breakage: Breakage
    fate: Fate
    test: str = ""
    seconds: float = 0.0
    elsewhere: str = ""
    """for one that survived: a test of something else that noticed it"""


class Scratch:
    """One copy; one breakage at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []
        """what tests load that is not the project's; the server loads it once"""
        self._server: subprocess.Popen[str] | None = None
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(folder / "src"),
            "LEGATO_HYPOTHESIS_PROFILE": "mutants",
        }
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        for name in _COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for path in (*ROOT.glob("*.toml"), *ROOT.glob("*.md"), ROOT / "Makefile"):
            shutil.copy(path, folder)
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder / "src", quiet=2, invalidation_mode=mode)

    def run(
        self, arguments: Sequence[str], *, timeout: float, **variables: str
    ) -> subprocess.CompletedProcess[str] | None:
        """pytest in this copy, in a process of its own; None if it took longer than `timeout` seconds."""
        command = [sys.executable, "-m", "pytest", *_QUIETLY, *arguments]
        environment = {**self._environment, **variables}
        options = {"cwd": self.folder, "env": environment, "text": True, "start_new_session": True}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        try:
            words, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the group that was started here, and nothing else
            process.communicate()
            return None
        return subprocess.CompletedProcess(command, process.returncode, words, "")

    def _serve(self, arguments: Sequence[str], timeout: float) -> tuple[int | None, str]:
        """The same by the server of this copy: its exit status, and what it said."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "scripts.mutants.server"],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._tell(self.modules)
        self._tell({"arguments": [*_QUIETLY, *arguments], "timeout": timeout})
        assert self._server.stdout is not None
        answer = json.loads(self._server.stdout.readline())
        return answer["status"], answer["words"]

    def _tell(self, order: object) -> None:
        assert self._server is not None
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.communicate()

    def judge(self, breakage: Breakage, tests: Sequence[str], *, timeout: float) -> Verdict:
        """Whether `tests` notice `breakage`; the first that fails ends the run."""
        path = self.folder / SOURCE / breakage.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(breakage.applied(whole), encoding="utf-8")
        began = time.monotonic()
        try:
            status, words = self._serve(["-x", "--tb=no", "-rfE", SMOKE, *tests], timeout)
        finally:
            path.write_text(whole, encoding="utf-8")
        return read(breakage, status, words, time.monotonic() - began)


_PROPERTIES = {"transcript": ("transcript", "compaction"), "request": ("render", "gate"), "wire": ("projection",)}
"""packages of which much is only said as a property, and where"""


def mirrors(file: str) -> list[str]:
    """The tests that look at `file` whatever requirement they are for: those of its package, then of whole requests."""
    package = file.partition("/")[0]
    properties = [f"tests/properties/test_{name}_properties.py" for name in _PROPERTIES.get(package, ())]
    whole = ["tests/requirements", "tests/unit/request/test_render.py"]
    return list(dict.fromkeys([f"tests/unit/{package}", *whole, *properties]))


def read(breakage: Breakage, status: int | None, words: str, seconds: float) -> Verdict:
    """What pytest's exit status and its words mean for `breakage`."""
    if status is None:
        return Verdict(breakage, Fate.KILLED, "(it never came to an end)", seconds)
    if status == 0:
        return Verdict(breakage, Fate.SURVIVED, "", seconds)
    failed = _FAILED.search(words)
    test = failed[1] if failed else ""
    if status != 1 or not test or test.startswith(SMOKE):
        return Verdict(breakage, Fate.BLUNT, test or words[-300:].strip(), seconds)
    return Verdict(breakage, Fate.KILLED, test, seconds)
