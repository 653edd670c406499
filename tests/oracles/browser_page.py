"""A page in headless Chromium: what its user does, and what it shows."""

import base64
import contextlib
import fnmatch
import json
import os
import subprocess
import tempfile
import time

from chromium import PACKAGE, Browser, find_browser
from oracle_support import Results, run, skip_all

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
LOAD_SECONDS = 60

# A page is at rest when nothing of it is marked as busy, no question is under way, and no timer is due
# within a second, for three frames in a row; observers of what is in sight are called once in a frame.
# Counting is all that is added to a page.
COUNT_WORK = """(() => {
  const due = new Map(), set = window.setTimeout, drop = window.clearTimeout;
  window.setTimeout = (act, delay = 0, ...more) => {
    const id = set(() => { due.delete(id); act(...more); }, delay);
    due.set(id, performance.now() + delay);
    return id;
  };
  window.clearTimeout = (id) => (due.delete(id), drop(id));
  let asked = 0;
  const count = (owner, name) => {
    const before = owner[name];
    owner[name] = function (...words) {
      asked++;
      return before.apply(this, words).finally(() => asked--);
    };
  };
  count(window, "fetch");
  for (const name of ["json", "text", "arrayBuffer", "blob"]) count(Response.prototype, name);
  window.isWorking = () => asked > 0 || [...due.values()].some((time) => time < performance.now() + 1000);
})()"""
RESTS = """new Promise((done) => {
  let frames = 0;
  const look = () => {
    if (window.isWorking?.() || document.querySelector('[aria-busy="true"]')) done(false);
    else if (++frames > 3) done(true);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


class Page:
    """One page; what it logged, threw and asked the network for is kept."""

    def __init__(self, program, folder, width=1280, height=900, browser=None):
        self.problems = []
        self.requests = []
        self.refusals = []
        self.refused = []
        self.drag_data = None
        self.download_name = self.download_end = None
        self.is_loaded = False
        self.is_owner = browser is None
        self.browser = browser or Browser(program, folder)
        self.target, self.session = self.browser.open_tab(self._note)
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self.call(domain + ".enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=COUNT_WORK)
        self._measure(width, height)
        self.prefer("light")

    def second_tab(self, width=1280, height=900):
        """Another tab of the same browser."""
        return Page(None, None, width, height, self.browser)

    def close(self):
        if self.is_owner:
            self.browser.close()
        else:
            self.browser.call(None, "Target.closeTarget", targetId=self.target)

    def prefer(self, scheme):
        """As if the system were set to light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def call(self, method, **parameters):
        """What a command answers; an error answer ends the test."""
        return self.browser.call(self.session, method, **parameters)

    # --- what the page does by itself -------------------------------------------------------

    def _note(self, event):
        method, parameters = event["method"], event.get("params", {})
        if method == "Page.loadEventFired":
            self.is_loaded = True
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self._note_log(parameters["entry"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append(str(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Browser.downloadWillBegin":
            self.download_name = parameters["suggestedFilename"]
        elif method == "Browser.downloadProgress" and parameters["state"] != "inProgress":
            self.download_end = parameters
        elif method == "Input.dragIntercepted":
            self.drag_data = parameters["data"]

    def _note_log(self, entry):
        """Chromium logs each answer of status 400 and more as an error, also one that the test wants."""
        address = entry.get("url", "")
        if entry["source"] == "network" and any(fnmatch.fnmatch(address, one) for one in self.refusals):
            self.refused.append(address)
        else:
            self.problems.append(f"{entry['text']} {address}".strip())

    @contextlib.contextmanager
    def refusing(self, *addresses):
        """Answers of these addresses may be refusals; each is a pattern in which * stands for anything.
        Gives the list of the addresses that were refused."""
        self.refusals, self.refused = list(addresses), []
        try:
            yield self.refused
            self.rest()
        finally:
            self.refusals = []

    # --- going somewhere --------------------------------------------------------------------

    def open(self, path, link=""):
        self.navigate("file://" + os.path.abspath(path) + link)

    def open_url(self, url):
        """A page of a server, once it is at rest."""
        self.navigate(url)
        self.rest()

    def navigate(self, url):
        self._load(lambda: self.call("Page.navigate", url=url))

    def reload(self):
        self._load(lambda: self.call("Page.reload"))
        self.rest()

    def _load(self, act):
        self.is_loaded = False
        act()
        while not self.is_loaded:
            self.browser.wait_event()

    def rest(self, seconds=60):
        """Waits until the page has asked and drawn all that it has to, and the names it waits for are there."""
        last = time.monotonic() + seconds
        while not self.run(RESTS):
            if time.monotonic() > last:
                busy = self.run("[...document.querySelectorAll('[aria-busy=\"true\"]')].map((one) => one.closest('[id]')?.id)")
                raise RuntimeError(f"the page does not come to rest within {seconds} s; busy: {busy}")
            time.sleep(0.01)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def come_to_rest(self):
        """Waits until the page has drawn what was asked for last."""
        self.run("new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(0)), 200))")

    def until(self, script, seconds=10, gives_up=lambda: False):
        """Waits until an expression in the page is true, but no longer than so many seconds."""
        last = time.monotonic() + seconds
        while not self.run(f"Boolean({script})") and time.monotonic() < last and not gives_up():
            time.sleep(0.05)

    def press(self, key, shift=False, alt=False, control=False):
        codes = {"Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "Tab": 9, "Delete": 46}
        codes.update(ArrowLeft=37, ArrowUp=38, ArrowRight=39, ArrowDown=40, PageUp=33, PageDown=34)
        event = {"key": key, "code": key, "modifiers": alt * 1 + control * 2 + shift * 8}
        event["windowsVirtualKeyCode"] = codes.get(key, ord(key[0]))
        if len(key) == 1 and not control:
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

    def wheel(self, place, turn):
        """Turns the wheel over a point of the page; away from the user is negative."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=place[0], y=place[1], deltaX=0, deltaY=turn)

    def click(self, selector, button="left"):
        """With the pointer, in the middle of an element, which nothing may cover."""
        left, top, width, height = self.box(selector)
        place = {"x": left + width / 2, "y": top + height / 2}
        covering = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}), at = document.elementFromPoint({place['x']}, {place['y']});"
            " return at === null ? 'nothing' : e.contains(at) || at.contains(e) ? '' : at.outerHTML.slice(0, 200); })()"
        )
        if covering:
            raise RuntimeError(f"{selector} is covered by {covering}")
        buttons = {"left": 1, "right": 2}[button]
        self.call("Input.dispatchMouseEvent", type="mouseMoved", button="none", buttons=0, **place)
        self.call("Input.dispatchMouseEvent", type="mousePressed", button=button, buttons=buttons, clickCount=1, **place)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", button=button, buttons=0, clickCount=1, **place)

    def drop(self, start, end):
        """Drags what can be dropped elsewhere from one point of the page to another."""
        self.call("Input.setInterceptDrags", enabled=True)
        self.drag_data = None
        mouse = {"button": "left", "buttons": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], clickCount=1, **mouse)
        for share in (0.3, 0.6, 1):
            x, y = (a + (b - a) * share for a, b in zip(start, end))
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **mouse)
        last = time.monotonic() + 10
        while self.drag_data is None and time.monotonic() < last:
            self.run("0")
        if self.drag_data is None:
            raise RuntimeError("nothing there can be dragged")
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=end[0], y=end[1], data=self.drag_data)
        self.call("Input.setInterceptDrags", enabled=False)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", buttons=0, clickCount=1)

    def type(self, text):
        """Into the field that has the focus."""
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        """In a list from which one is chosen."""
        self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
            " e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )

    def download(self, folder, act):
        """The name and the bytes of the file that a download, which `act()` begins, saves in a folder."""
        os.makedirs(folder, exist_ok=True)
        self.call("Browser.setDownloadBehavior", behavior="allowAndName", eventsEnabled=True, downloadPath=os.path.abspath(folder))
        self.download_name = self.download_end = None
        act()
        last, tries = time.monotonic() + 10, 2
        while self.download_end is None:
            self.run("0")  # events come with the answer
            time.sleep(0.02)
            # A button that was drawn anew in the moment of a click has not got it.
            if self.download_name is None and time.monotonic() > last:
                tries -= 1
                if tries == 0:
                    raise RuntimeError("no download begins")
                act()
                last = time.monotonic() + 10
        if self.download_end["state"] != "completed":
            raise RuntimeError(f"the download of {self.download_name} ended: {self.download_end['state']}")
        path = os.path.join(folder, self.download_end["guid"])
        with open(path, "rb") as file:
            data = file.read()
        os.remove(path)
        return self.download_name, data

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

    def _measure(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def resize(self, width, height=900):
        self._measure(width, height)
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


def make_trace(folder, scenario, *options):
    path = os.path.join(folder, scenario + ".etl")
    subprocess.run([MAKE_TRACE, scenario, path, *options], check=True, stdout=subprocess.DEVNULL)
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
      [panel.scrollWidth > panel.clientWidth + 1, [...panel.querySelectorAll(':scope > .wide-note:not([hidden]) button:not([hidden])')].map((one) => one.textContent).join()])""")


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
