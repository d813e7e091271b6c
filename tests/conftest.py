"""What every test run shares: how hard Hypothesis tries, what of it is counted, and which tests need permission.

It also keeps the garbage collector away from what stays until the end.

LEGATO_HYPOTHESIS_PROFILE chooses among
    default  forty examples, the same ones on every run: a change is judged by what it changes, not by luck
    fuzz     as many as LEGATO_HYPOTHESIS_EXAMPLES says, different on every run (`make fuzz`)
    replay   only what failed before, from Hypothesis's own database
    mutants  the examples of `default`; one that fails is not made smaller first (`make mutants`)

A test that states its own `max_examples` keeps it under every profile, so `make fuzz` cannot make it try harder.
"""

import gc
import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tally import count_failure, count_runs

# Tests talk to this machine alone, and no proxy of whoever runs them leads there.
for _name in ("NO_PROXY", "no_proxy"):
    os.environ[_name] = ",".join(filter(None, [os.environ.get(_name), "127.0.0.1", "localhost"]))

# Time limits per example say more about the machine than about the code.
_COMMON = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", _COMMON, max_examples=40, derandomize=True)
settings.register_profile(
    "fuzz",
    _COMMON,
    max_examples=int(os.environ.get("LEGATO_HYPOTHESIS_EXAMPLES", "2000")),
    derandomize=False,  # Hypothesis would derandomize by itself where CI is set
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("replay", _COMMON, phases=[Phase.explicit, Phase.reuse], derandomize=False)
settings.register_profile("mutants", settings.get_profile("default"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("LEGATO_HYPOTHESIS_PROFILE", "default"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect thousands of tests without looking for garbage, and look later only among what the tests make."""
    gc.disable()
    try:
        return (yield)
    finally:
        # Every test and every module of the vendors' clients is in memory now, more than a million objects. To walk over
        # them takes a good part of a second, each time that the collector runs or a test asks for it.
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count the examples of properties; skip what would talk to a real provider, unless somebody asked for it."""
    _count_examples(items)
    if os.environ.get("LEGATO_LIVE") == "1":
        return
    unasked = pytest.mark.skip(reason="talks to a real provider; set LEGATO_LIVE=1")
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(unasked)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write down what failed where it failed: an interrupted run may not come to say so."""
    report = yield
    if report.failed and not _is_interrupt(call.excinfo.value if call.excinfo else None):
        count_failure(item.nodeid, report.longreprtext)
    return report


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether `error` came of a Ctrl-C that met something on its way, such as Hypothesis in the middle of an example."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _count_examples(items: list[pytest.Item]) -> None:
    """Let every run of a property's body be counted, under the name of its file and its own."""
    # Hypothesis leaves the body there for plugins to wrap. One function may be many tests, and is wrapped once.
    bodies: dict[int, Any] = {}
    for item in items:
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is not None and id(handle) not in bodies:
            bodies[id(handle)] = handle
            name = getattr(item, "originalname", item.name)
            handle.inner_test = count_runs(handle.inner_test, f"{item.path.stem}::{name}")
