"""Requests whose ids and names have to be made up: run as a program, it prints them, so that processes can be compared."""

from __future__ import annotations

import json

from legato import render

from builders import OTHER_ROUTES, ROUTES, ai, call, result, talk, user

ODD = (
    user("look"),
    ai("so", call("", "read"), call("", "grep!"), call("x" * 90, "read"), call("call_0", "straße")),
    result("call_0", name="straße"),
    result("", "first", name="read"),
    user("go on"),
    ai(call("call_0", "b"), call("call_0", "a")),
    result("call_0", "later"),
    user("and?"),
)
"""calls without ids, with ids that no provider takes, with one id for several; tools with odd names"""


def bodies() -> dict[str, list[str]]:
    """For every route the request, and the names in its report."""
    told = talk(*ODD)
    requests = {route: render(told, route) for route in (*ROUTES, *OTHER_ROUTES)}
    return {route: [request.json().decode(), repr(request.report.emitted)] for route, request in requests.items()}


if __name__ == "__main__":
    print(json.dumps(bodies()))
