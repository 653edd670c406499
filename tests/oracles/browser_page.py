"""A page in headless Chromium, driven over the DevTools protocol.

Commands and answers are JSON on two pipes, each ended by a NUL byte: no port is
opened and no other library is needed.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from oracle_support import Results, run, skip_all

PROGRAMS = (
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PACKAGE = "chromium-headless-shell"
MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
ANSWER_SECONDS = 60


def find_browser():
    """The path of a browser, or None. $BROWSER_PROGRAM names another one."""
    named = os.environ.get("BROWSER_PROGRAM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Page:
    """One page; what it logged, threw and asked the network for is kept."""

    def __init__(self, program, folder, width=1280, height=900):
        self.problems = []
        self.requests = []
        self.pending = b""
        self.events = []
        self.number = 0
        self.session = None
        self.process = self._start(program, folder)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self.call(domain + ".enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.prefer("light")

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

    def prefer(self, scheme):
        """As if the system were set to light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def call(self, method, **parameters):
        """What a command answers; an error answer ends the test."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

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

    def _note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append(str(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path, link=""):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + link)
        while "Page.loadEventFired" not in self.events:
            self._note(self._receive())

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def come_to_rest(self):
        """Waits until the page has drawn what was asked for last."""
        self.run("new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(0)), 200))")

    def until(self, script, seconds=10):
        """Waits until an expression in the page is true, but no longer than so many seconds."""
        last = time.monotonic() + seconds
        while not self.run(f"Boolean({script})") and time.monotonic() < last:
            time.sleep(0.05)

    def press(self, key, shift=False):
        codes = {"Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "Tab": 9}
        codes.update(ArrowLeft=37, ArrowUp=38, ArrowRight=39, ArrowDown=40, PageUp=33, PageDown=34)
        event = {"key": key, "code": key, "modifiers": 8 if shift else 0}
        event["windowsVirtualKeyCode"] = codes.get(key, ord(key[0]))
        if len(key) == 1:
            event["text"] = key
        if key == "Enter":
            event["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        event.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def drag(self, start, end):
        """With the pointer from one point of the page to another."""
        for kind, (x, y), pressed in (
            ("mouseMoved", start, 0),
            ("mousePressed", start, 1),
            ("mouseMoved", ((start[0] + end[0]) / 2, end[1]), 1),
            ("mouseMoved", end, 1),
            ("mouseReleased", end, 0),
        ):
            button = "none" if kind == "mouseMoved" and not pressed else "left"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=pressed, clickCount=1)

    def box(self, selector):
        """Left, top, width and height of an element, which is scrolled into view."""
        return self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect();"
            " return [b.left, b.top, b.width, b.height]; })()"
        )

    def emulate_paper(self, width):
        """Lays the page out as it is printed on paper of that width, to be measured."""
        self.call("Emulation.setEmulatedMedia", media="print")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.run("dispatchEvent(new Event('beforeprint'))")
        self.come_to_rest()

    def emulate_screen(self):
        self.run("dispatchEvent(new Event('afterprint'))")
        self.call("Emulation.setEmulatedMedia", media="")
        self.resize(1280)

    def resize(self, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.come_to_rest()

    def print(self, path):
        answer = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))


# --- reports ----------------------------------------------------------------------------


def open_report(page, trace):
    path = trace + ".html"
    run("export", trace, "--format", "html", "--no-symbols", "-o", path)
    page.open(path)
    page.come_to_rest()
    print(f"# ready after {page.run('document.documentElement.dataset.ready')} ms")
    return "file://" + os.path.abspath(path)


def make_trace(folder, scenario):
    path = os.path.join(folder, scenario + ".etl")
    subprocess.run([MAKE_TRACE, scenario, path], check=True, stdout=subprocess.DEVNULL)
    return path


def figure(page, key):
    return page.run(f"Number(document.querySelector('[data-figure={key}]').dataset.value)")


def table_value(page, row, column):
    """A number in the table, by the text that its row begins with; the column from 0."""
    return page.run(
        "(() => { const row = [...document.querySelectorAll('#rows tbody tr[data-id]')]"
        f".find((one) => one.querySelector('th').textContent.includes({json.dumps(row)}));"
        f" return row ? Number(row.querySelectorAll('td')[{column}].dataset.value) : null; }})()"
    )


def hidden_columns(page):
    """Of each table that can be wider than its panel: whether it is, and what the page says is out of sight."""
    page.come_to_rest()
    return page.run("""[...document.querySelectorAll('.panel.scroll')].filter((panel) => panel.clientWidth > 0).map((panel) =>
      [panel.scrollWidth > panel.clientWidth + 1, panel.querySelector('.columns-hidden')?.textContent ?? ''])""")


def run_in_browser(use):
    """Calls use(results, page, folder) with an open page, or skips all without Chromium."""
    browser = find_browser()
    if browser is None:
        skip_all(f"no Chromium here to open HTML reports in; to have it: apt-get install {PACKAGE}")
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP"), ignore_cleanup_errors=True) as folder:
        page = Page(browser, folder)
        try:
            use(results, page, folder)
        finally:
            page.close()
    results.finish()
