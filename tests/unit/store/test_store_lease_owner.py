"""Who is alive, as far as this host can tell."""

import os
import subprocess
import sys

import pytest

from legato.store import lease_owner
from legato.store.lease_owner import Process, may_take_over, this_process


def _replace(process: Process, **changes: object) -> Process:
    return Process(**({"host": process.host, "pid": process.pid, "started": process.started} | changes))  # pyright: ignore[reportArgumentType]


def test_a_living_process_keeps_its_lease_however_long_it_sleeps() -> None:
    if not this_process().started:
        pytest.skip("this system does not tell when a process started")
    assert may_take_over(this_process(), expired=True) is False
    assert may_take_over(this_process(), expired=False) is False


def test_a_process_that_ended_keeps_nothing() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = _replace(this_process(), pid=child.pid, started=lease_owner._started(child.pid))
    assert may_take_over(process, expired=False) is False
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet waited for
    if process.started:
        assert may_take_over(process, expired=False) is True
    child.communicate()
    assert may_take_over(process, expired=False) is True


def test_a_later_process_with_the_same_number_is_another_one() -> None:
    if not this_process().started:
        pytest.skip("this system does not tell when a process started")
    assert may_take_over(_replace(this_process(), started="1"), expired=False) is True


def test_where_the_start_is_unknown_the_lease_decides() -> None:
    unknown = _replace(this_process(), started="")
    assert [may_take_over(unknown, expired=expired) for expired in (False, True)] == [False, True]


def test_of_another_host_only_the_lease_is_known() -> None:
    elsewhere = _replace(this_process(), host="elsewhere/boot/pid:[1]")
    assert [may_take_over(elsewhere, expired=expired) for expired in (False, True)] == [False, True]


def test_a_process_of_another_user_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", forbidden)
    assert may_take_over(_replace(this_process(), started=""), expired=False) is False
