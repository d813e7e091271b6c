"""Whoever reaches a port of ours: whatever they send, the next request is answered."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from gateway_clients import simulated_gateway
from legato.gateway.app import GatewayApp
from legato.simulation import SimulatedWorld
from legato.simulation.app import SimulationApp
from serving import on_a_port

APPS = {
    "the gateway": (lambda: GatewayApp(simulated_gateway("openai/gpt-4.1")), "/v1/chat/completions"),
    "simulated providers": (lambda: SimulationApp(SimulatedWorld(), {}), "/openai/v1/chat/completions"),
}
GOOD = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hello"}]}

RAW = {
    "bytes": b"\x00\xff\r\n\r\n",
    "a beginning": b"[",
    "a line without end": b"G" * 200_000,
    "no method": b" / HTTP/1.1\r\n\r\n",
    "another version": b"POST / HTTP/9.9\r\n\r\n",
    "a TLS greeting": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500,
    "a negative length": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    "a length without end": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "an odd chunk": b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"".join(b"x-%d: y\r\n" % number for number in range(20_000)) + b"\r\n",
    "a header of another line": b"GET / HTTP/1.1\r\nHost: localhost\r\n x\r\n: y\r\n\r\n",
    "a path that is none": b"GET //%ff%00/../../etc/passwd?\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a socket of the web": b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
}
BODIES = {
    "nothing": b"",
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 50_000,
    "a long number": b'{"model": ' + b"1" * 50_000 + b"}",
    "no text": b'{"model": "\xff\xfe"}',
    "half a character": b'{"model": "\\ud800", "messages": [{"role": "user", "content": "\\udfff"}]}',
    "a number": b"7",
    "wrong types": b'{"model": [], "messages": {"role": 1}, "tools": 5, "stream": "x"}',
    "wrong items": b'{"model": "gpt-4.1", "messages": [null, [], {"role": "tool", "content": {"a": []}}], "tools": [{}]}',
    "many parts": b'{"model": "gpt-4.1", "messages": [' + b"[]," * 20_000 + b"[]]}",
}


@pytest.fixture(scope="module", params=APPS)
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    make, path = APPS[request.param]
    with on_a_port(make()) as base:
        yield f"{base}{path}"


def asked(url: str, body: bytes) -> tuple[int, Any]:
    request = Request(url, data=body, headers={"authorization": "Bearer any", "content-type": "application/json"})
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=60) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def assert_goes_on(url: str) -> None:
    status, told = asked(url, json.dumps(GOOD).encode())
    assert (status, told["choices"][0]["message"]["role"]) == (200, "assistant")


@pytest.mark.parametrize("what", RAW)
def test_what_is_no_request_ends_no_server(server: str, what: str) -> None:
    port = int(server.split(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(RAW[what])
        assert_goes_on(server)
    assert_goes_on(server)


@pytest.mark.parametrize("what", BODIES)
def test_a_body_that_is_no_request_is_no_fault_of_the_server_and_does_not_end_it(server: str, what: str) -> None:
    status, told = asked(server, BODIES[what])
    assert status == 200 or (400 <= status < 500 and "error" in told)
    assert_goes_on(server)
