"""What every test run shares: how hard Hypothesis tries, and which tests need permission.

LEGATO_HYPOTHESIS_PROFILE chooses among
    default  forty examples; the same ones on every run where CI is set
    fuzz     as many as LEGATO_HYPOTHESIS_EXAMPLES says, different on every run (`make fuzz`)
    replay   only what failed before, from Hypothesis's own database

A test that states its own `max_examples` keeps it under every profile, so `make fuzz` cannot make it try harder.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

# Time limits per example say more about the machine than about the code.
_COMMON = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", _COMMON, max_examples=40, derandomize=bool(os.environ.get("CI")))
settings.register_profile(
    "fuzz",
    _COMMON,
    max_examples=int(os.environ.get("LEGATO_HYPOTHESIS_EXAMPLES", "2000")),
    derandomize=False,  # Hypothesis would derandomize by itself where CI is set
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("replay", _COMMON, phases=[Phase.explicit, Phase.reuse], derandomize=False)
settings.load_profile(os.environ.get("LEGATO_HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what would talk to a real provider, unless the person running the tests asked for it."""
    if os.environ.get("LEGATO_LIVE") == "1":
        return
    unasked = pytest.mark.skip(reason="talks to a real provider; set LEGATO_LIVE=1")
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(unasked)
