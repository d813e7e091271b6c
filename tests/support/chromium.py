"""A real browser for tests: Chromium without a window, driven over its debugging pipe.

The pipe is two file descriptors (3 to read from, 4 to write to, from the browser's side) with JSON messages that end
in a NUL byte: https://chromedevtools.github.io/devtools-protocol/. It needs no socket, and no package.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 120
"""Seconds to wait for one answer: a page of 100 MB on a busy machine takes a few."""


def find_chromium() -> str | None:
    """The browser on this machine; `CHROMIUM` names another one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


class BrowserError(Exception):
    """The browser said no, or what ran in the page raised."""


class Chromium:
    """One browser, with one tab."""

    def __init__(self, program: str, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # The browser wants its ends as 3 and 4; a shell puts them there.
        command = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            "--force-device-scale-factor=1", "--hide-scrollbars", "--js-flags=--max-old-space-size=4096",
            f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._read, self._write = ours_in, ours_out
        self._held = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        try:
            self._session = ""
            self.ask("Browser.close")
            self.process.wait(20)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        finally:
            os.close(self._read)
            os.close(self._write)

    # --- the protocol -------------------------------------------------------------------------------------------------

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to one command; what happens meanwhile is kept in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._read], [], [], max(end - time.monotonic(), 0))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise BrowserError("the browser has ended" if ready else "the browser does not answer")
            self._held += data
        message, _, self._held = self._held.partition(b"\0")
        return json.loads(message)

    # --- a page -------------------------------------------------------------------------------------------------------

    def open(self, url: str) -> None:
        """Load `url`, and wait until it is loaded."""
        self.events.clear()
        self.ask("Page.navigate", url=url)
        self.until(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events) or self.run("1") < 0)

    def until(self, is_so: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until that is so."""
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise BrowserError(f"waited in vain; the browser says {self.complaints()}")
            time.sleep(0.02)

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.ask(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            allowUnsafeEvalBlockedByCSP=False,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 20) -> Any:
        """The value of an expression, as soon as it is true."""
        found: list[Any] = []

        def look() -> bool:
            found[:] = [self.run(expression)]
            return bool(found[0])

        self.until(look, seconds)
        return found[0]

    def press(self, key: str, *, code: str = "", shift: bool = False) -> None:
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowRight": 39, "ArrowDown": 40}
        what = {"key": key, "code": code or key, "windowsVirtualKeyCode": codes.get(key, 0), "modifiers": 8 * shift}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **what, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **what)

    def resize(self, width: int, height: int) -> None:
        """Make the window this large."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def prefer(self, scheme: str) -> None:
        """Prefer `light` or `dark`."""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """Save what is to be seen."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def complaints(self) -> list[str]:
        """What the browser has to say about the page: errors of scripts, what its policy forbade."""
        told: list[str] = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                told.append(details.get("exception", {}).get("description") or details["text"])
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                told.append(params["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                told.append(str([item.get("value") for item in params["args"]]))
        return told


@contextmanager
def a_browser(program: str) -> Iterator[Chromium]:
    """A browser with a profile of its own, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="legato-browser-", ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        try:
            yield browser
        finally:
            browser.close()
