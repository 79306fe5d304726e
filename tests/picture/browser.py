"""A real browser, driven by WebDriver's plain HTTP: Debian's Chromium, without a screen and without a network."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import tempfile
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    *(["--no-sandbox"] if not os.geteuid() else []),
)
TRIES = 5
STARTED = re.compile(r"started successfully on port (\d+)")
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Down": "\ue015", "Up": "\ue013", "Tab": "\ue004"}


@dataclass(frozen=True)
class Browser:
    session: str

    def call(self, what: str, body: object = None, method: str = "POST") -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(  # noqa: S310
            f"{self.session}/{what}".rstrip("/"),
            data,
            {"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own driver
            return json.load(answer)["value"]

    def open(self, page: Path, width: int, height: int, scheme: str = "light") -> None:
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.cdp("Emulation.setEmulatedMedia", features=media)
        self.call("url", {"url": page.as_uri()})

    def cdp(self, command: str, **given: object) -> Any:
        return self.call("goog/cdp/execute", {"cmd": command, "params": given})

    def run(self, script: str, *arguments: object) -> Any:
        return self.call("execute/sync", {"script": script, "args": arguments})

    def type(self, *keys: str) -> None:
        strokes = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        self.call("actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def complaints(self) -> list[str]:
        """All that the console was told since it was asked last."""
        return [each["message"] for each in self.call("se/log", {"type": "browser"})]

    def picture(self, whole: bool = False) -> bytes:  # noqa: FBT001, FBT002 - a switch of the protocol's
        shot = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])


@contextmanager
def browser() -> Generator[Browser]:
    with tempfile.TemporaryDirectory() as profile, _driver() as (driver, port):
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        try:
            begun = Browser(f"http://127.0.0.1:{port}").call(
                "session", {"capabilities": {"alwaysMatch": wanted}}
            )
            session = Browser(f"http://127.0.0.1:{port}/session/{begun['sessionId']}")
            yield session
            session.call("", method="DELETE")
        finally:
            driver.terminate()


@contextmanager
def _driver() -> Generator[tuple[subprocess.Popen[str], str]]:
    """The port that it chooses for one kind of address may be taken for the other: then it ends, and another is started."""
    for _ in range(TRIES):
        with subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True
        ) as driver:
            if port := next(
                (found[1] for line in driver.stdout or () if (found := STARTED.search(line))), ""
            ):
                yield driver, port
                return
    raise RuntimeError("chromedriver does not start")
