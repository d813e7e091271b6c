"""`legato simulate`: strict providers on this machine, from the first line to the last signal."""

from __future__ import annotations

import builtins
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from legato.simulation import DEFAULT_PORT
from program import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@contextmanager
def simulating(*options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A process that runs the command on a free port, and the base URLs that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from legato.cli import main; main()", "simulate", "--port", "0", "--json", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def asked(urls: dict[str, str], **fields: Any) -> urllib.request.Request:
    body = {"model": "gpt-5.1", "messages": [{"role": "user", "content": "hello"}], **fields}
    return urllib.request.Request(f"{urls['openai']}/chat/completions", data=json.dumps(body).encode())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_providers_are_served_until_a_signal_comes(home: Home, number: signal.Signals, code: int) -> None:
    with simulating("-v", "--any-key") as (process, urls):
        with urllib.request.urlopen(asked(urls)) as response:
            body = json.load(response)
        process.send_signal(number)
        _, told = process.communicate()

    assert "hello" in body["choices"][0]["message"]["content"]
    assert told.startswith("200 openai gpt-5.1 POST /openai/v1/chat/completions\n")
    assert "Traceback" not in told
    assert process.returncode == code


def test_a_second_signal_ends_the_answers_that_the_first_one_waits_for(home: Home) -> None:
    with simulating("--any-key", "--pace", "0.001") as (process, urls):
        assert process.stderr is not None
        with urllib.request.urlopen(asked(urls, stream=True)) as response:
            assert response.readline().startswith(b"data: ")
            process.send_signal(signal.SIGINT)
            first = process.stderr.readline()
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate()

    assert first == "Stopping when the running answers have ended; once more ends them now.\n"
    assert (rest, process.returncode) == ("", 0)


def test_without_the_extra_it_is_said_how_to_get_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] in ("starlette", "uvicorn"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    result = home.legato("simulate")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`legato simulate` needs the extra `serve` (pip install 'legato[serve]')" in result.stderr


WITHOUT_THE_EXTRA = """
import sys
sys.modules |= dict.fromkeys(("starlette", "uvicorn", "h11"))  # to import one of these is an error now
from legato.cli import main
for arguments in (["--simulate", "-p", "hello"], ["demo"]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as end:
        assert not end.code, arguments
"""


def test_simulated_providers_in_the_process_need_no_extra(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "hello" in done.stdout


def test_a_port_that_is_taken_is_told_in_one_line(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = home.legato("simulate", "--port", str(taken.getsockname()[1]))
    assert result.exit_code == 2
    assert result.stderr.startswith("legato: cannot listen on 127.0.0.1:")
    assert result.stderr.count("\n") == 1


def test_the_port_that_is_promised_is_the_one_that_is_taken(home: Home) -> None:
    assert f"[default: {DEFAULT_PORT}]" in home.legato("simulate", "--help").stdout
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.5", DEFAULT_PORT))  # an address of this test alone
        taken.listen()
        result = home.legato("simulate", "--host", "127.0.0.5")
    assert result.stderr.startswith(f"legato: cannot listen on 127.0.0.5:{DEFAULT_PORT}: ")


def test_a_malformed_request_ends_nothing(home: Home) -> None:
    with simulating("--any-key") as (process, urls):
        port = int(urls["openai"].split(":")[2].partition("/")[0])
        for raw in (b"\x00\xff\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"G" * 100_000, b"["):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                connection.sendall(raw)
        with urllib.request.urlopen(asked(urls)) as response:
            assert response.status == 200
        assert process.poll() is None
