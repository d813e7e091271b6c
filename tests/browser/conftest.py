"""A real browser for these tests. They run by `make browser`, which fails where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chromium import Chromium, a_browser, find_chromium
from file_samples import save
from legato.files import write_page

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests to `make browser`, which says so at once if there is no browser."""
    if os.environ.get("LEGATO_BROWSER") == "1":
        if find_chromium() is None:
            raise pytest.UsageError(
                "there is no Chromium here: install it (apt-get install chromium), or name one with CHROMIUM=/path"
            )
        return
    unasked = pytest.mark.skip(reason="needs Chromium; run make browser")
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(unasked)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The browser."""
    with a_browser(find_chromium() or "") as browser:
        yield browser


@pytest.fixture
def browser(chromium: Chromium) -> Chromium:
    """The browser, with a window of a usual size and nothing remembered."""
    chromium.resize(1200, 900)
    chromium.prefer("light")
    chromium.open("about:blank")
    return chromium


@pytest.fixture
def show(browser: Chromium, tmp_path: Path) -> Callable[..., Path]:
    """Write the page of some records, open it and wait for it; the file."""

    def show_page(records: list[dict[str, Any]], *, target: str | None = None, hash_: str = "") -> Path:
        path = tmp_path / "session.html"
        write_page(save(tmp_path / "session.jsonl", records), path, target=target, overwrite=True)
        browser.open(path.as_uri() + hash_)
        browser.wait_for("document.documentElement.dataset.ready === 'all'")
        browser.run("localStorage.clear()")
        return path

    return show_page
