"""What the tests know about each host of the chat family, beside what its declaration says.

A host's own file here, `tests/hosts/NAME.py`, is found by its name, as its declaration in `legato.wire.hosts` is. All of
it is optional:

    EXAMPLES     for each of its rules a body that breaks it, and one that keeps it (a rule without one fails a test)
    ERROR_BODY   an error body in its shape, where that is not OpenAI's; the values stand for any of their kind
    ROUTES       further routes to try, for models that differ from its example

The tests of the rules, of the simulated providers and of whole conversations run over all of them.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from legato.model import JsonObject
from legato.wire.hosting import Host
from legato.wire.hosts import all_hosts
from rule_examples import Example


class TestedHost(NamedTuple):
    """A host, and what its tests bring along."""

    __test__ = False  # for pytest, which takes the name for that of a test

    host: Host
    examples: dict[str, Example]
    error_body: JsonObject | None
    routes: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.host.name


def tested(host: Host) -> TestedHost:
    """`host` with its file of this folder, if it has one."""
    path = f"{__name__}.{host.name.replace('-', '_')}"
    module = import_module(path) if find_spec(path) is not None else None
    return TestedHost(
        host,
        getattr(module, "EXAMPLES", {}),
        getattr(module, "ERROR_BODY", None),
        (f"{host.name}/{host.example}", *getattr(module, "ROUTES", ())),
    )


HOSTS = [tested(host) for host in all_hosts()]
ROUTES = tuple(route for host in HOSTS for route in host.routes)
