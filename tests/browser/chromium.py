"""A headless Chromium, driven over a pipe: no port, no package, nothing but the browser itself."""

from __future__ import annotations

import base64
import fcntl
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

#: Names to look for; SIXFOLD_CHROMIUM names another one.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: Seconds to wait for one answer of the browser.
PATIENCE = 60.0

#: Commands are read from descriptor 3 and answered on descriptor 4, each ended by a zero byte.
_COMMANDS, _ANSWERS = 3, 4


def find_chromium() -> str:
    """Return the path of a Chromium. Raises `SystemExit` with what to do when there is none."""
    named = os.environ.get("SIXFOLD_CHROMIUM")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        looked = named or ", ".join(NAMES)
        raise SystemExit(
            f"No Chromium found ({looked}). Install one (apt-get install chromium), "
            "or name it in SIXFOLD_CHROMIUM."
        )
    return found


class Browser:
    """One page of a running browser. `events` holds what it reported since the last visit."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        self.scripts = True
        target = self._send("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        attached = {"targetId": target, "flatten": True}
        self._session = self._send("Target.attachToTarget", attached, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command to the page and return its result."""
        return self._send(method, parameters, session=self._session)

    def visit(self, file: Path) -> float:
        """Open `file`; return the seconds until it was loaded and painted."""
        self.events.clear()
        begun = time.perf_counter()
        self.send("Page.navigate", url=file.resolve().as_uri())
        self._until(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))
        if self.scripts:
            self.evaluate(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
            )
        return time.perf_counter() - begun

    def evaluate(self, script: str) -> Any:
        """Return the value of a JavaScript expression; promises are awaited."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"script failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def look(self, *, width: int, height: int = 900, dark: bool = False, media: str = "screen") -> None:
        """Give the page a size in CSS pixels, a colour scheme and a medium."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def allow_scripts(self, allowed: bool) -> None:
        """Let the next pages run scripts, or not."""
        self.scripts = allowed
        self.send("Emulation.setScriptExecutionDisabled", value=not allowed)

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            pressed = text if kind == "keyDown" else {}
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **pressed
            )

    def screenshot(self, file: Path, *, width: int, top: float, height: float) -> None:
        """Write a PNG of the page from `top` on."""
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        answer = self.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(answer["data"]))

    def _send(self, method: str, parameters: dict[str, Any], *, session: str | None) -> dict[str, Any]:
        self._number += 1
        number = self._number
        command = {"id": number, "method": method, "params": parameters}
        if session is not None:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        answers: list[dict[str, Any]] = []
        self._until(lambda: bool(answers), lambda message: _collect(message, number, answers))
        if "error" in answers[0]:
            raise AssertionError(f"{method}: {answers[0]['error']}")
        result: dict[str, Any] = answers[0]["result"]
        return result

    def _until(
        self, done: Callable[[], bool], take: Callable[[dict[str, Any]], None] = lambda message: None
    ) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise AssertionError("the browser ended" if ready else "the browser does not answer")
            *whole, self._rest = (self._rest + data).split(b"\0")
            for each in whole:
                message = json.loads(each)
                if "id" in message:
                    take(message)
                else:
                    self.events.append(message)


def _collect(message: dict[str, Any], number: int, answers: list[dict[str, Any]]) -> None:
    if message["id"] == number:
        answers.append(message)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser with an empty profile, and end it."""
    chromium = find_chromium()
    command_end, write = os.pipe()
    read, answer_end = os.pipe()
    # High numbers first: one of the ends may be 3 or 4 itself.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (command_end, answer_end)]

    def connect() -> None:
        os.dup2(ends[0], _COMMANDS)
        os.dup2(ends[1], _ANSWERS)

    with tempfile.TemporaryDirectory(prefix="sixfold-browser-", ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={profile}"]
        # Chromium's sandbox refuses to work for root, as in a container.
        options += ["--no-sandbox"] * (os.geteuid() == 0)
        process = subprocess.Popen(
            [chromium, *options, "about:blank"],
            close_fds=False,
            preexec_fn=connect,  # noqa: PLW1509  this process has one thread
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (*ends, command_end, answer_end):
            os.close(end)
        try:
            yield Browser(write, read)
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(write)
            os.close(read)
