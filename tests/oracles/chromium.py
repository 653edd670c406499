"""Headless Chromium, driven over the DevTools protocol.

Commands and answers are JSON on two pipes, each ended by a NUL byte: no port is opened and no other
library is needed. A tab is a session of the protocol. What a tab reports while another one waits for
an answer goes to the listener of its session.
"""

import json
import os
import select
import shutil
import subprocess
import time

PROGRAMS = (
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PACKAGE = "chromium-headless-shell"
ANSWER_SECONDS = 180


def find_browser():
    """The path of a browser, or None. $BROWSER_PROGRAM names another one."""
    named = os.environ.get("BROWSER_PROGRAM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """The process, and the pipes to it."""

    def __init__(self, program, folder):
        self.pending = b""
        self.number = 0
        self.listeners = {}
        self.process = self._start(program, folder)

    def _start(self, program, folder):
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def place_pipes():
            # First out of the way: either may be where the other has to go.
            source, sink = (os.dup(fd) for fd in (to_browser, from_browser))
            os.dup2(source, 3)
            os.dup2(sink, 4)

        process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-quic",
                "--disable-sync",
                "--remote-debugging-pipe",
                "--user-data-dir=" + os.path.join(os.path.abspath(folder), "browser"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place_pipes,
            cwd=folder,
            # It leaves a lock there when it is ended, which is a socket: of those only short
            # paths can be opened.
            env={**os.environ, "TMPDIR": "."},
        )
        os.close(to_browser)
        os.close(from_browser)
        return process

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.writer)
        os.close(self.reader)

    def open_tab(self, listener):
        """The session of a new tab, whose events `listener(event)` gets."""
        target = self.call(None, "Target.createTarget", url="about:blank")["targetId"]
        session = self.call(None, "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.listeners[session] = listener
        return target, session

    def call(self, session, method, **parameters):
        """What a command answers; an error answer ends the test."""
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._tell(answer)

    def wait_event(self):
        """Waits for one event, and tells its listener."""
        self._tell(self._receive())

    def _tell(self, event):
        listener = self.listeners.get(event.get("sessionId"))
        if listener is not None:
            listener(event)

    def _receive(self):
        until = time.monotonic() + ANSWER_SECONDS
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.reader], [], [], max(0, until - time.monotonic()))
            more = os.read(self.reader, 1 << 20) if ready else b""
            if not more:
                raise RuntimeError("the browser does not answer")
            self.pending += more
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)
