#!/usr/bin/env python3
"""What comes later in `etlheap view`, in a real browser: names of functions, and the page as one HTML file.

    browser_view_late.py

  * A symbol server answers only when it is told to. Until then, the page shows modules and offsets, and
    says that names are still arriving; its sums are already those of the trace. Then it asks again, by itself, and
    all that is painted is compared with the commands.
  * "Save as one HTML file" saves the selected window and filters. The file is opened, is compared
    with its own commands as HTML reports are, and has the sums of the view.
  * Two fingers zoom the curve around their middle, and so does a pinch of a touch pad, which is a turn of the
    wheel with Ctrl. One finger selects.
"""

import http.server
import os
import threading

from static_page import StaticView
from view_page import run_views, viewed, write_demo

SUMS = """[...document.querySelectorAll('#overview [data-kind] [data-measure], #table tr.total [data-measure]')]
  .map((one) => [one.closest('[data-kind]')?.dataset.kind ?? 'table', one.dataset.measure, one.dataset.value])"""
NAMES = "document.querySelectorAll('#table .label').length > 0 && [...document.querySelectorAll('#table .label')].map((one) => one.textContent).join()"


class SlowSymbols(http.server.ThreadingHTTPServer):
    """A symbol server over a folder of PDBs, which waits with each answer."""

    daemon_threads = True

    def __init__(self, folder):
        self.may_answer, self.asked = threading.Event(), []
        own = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                own.asked.append(self.path)
                own.may_answer.wait(60)
                path = os.path.join(folder, os.path.basename(self.path))
                if not os.path.isfile(path):
                    self.send_error(404)
                    return
                with open(path, "rb") as file:
                    data = file.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def path_of(self, cache):
        return f"srv*{cache}*http://127.0.0.1:{self.server_address[1]}"


# --- names that arrive later ------------------------------------------------------------------------


def check_late_names(results, folder):
    symbols = SlowSymbols(os.path.join(folder, "symbols"))
    with viewed(results, folder, ["demo.etl"], "--symbols", symbols.path_of("cache"), awaits=False) as view:
        view.page.navigate(view.server.url)
        view.page.until("document.documentElement.dataset.ready && document.querySelector('#table .label')", 60)
        early, sums = view.run(NAMES), view.run(SUMS)
        said = view.run("[...document.querySelectorAll('main section:not([hidden]) .covers')].map((one) => one.textContent).join()")
        results.check("before names are there, functions are modules and offsets", "BatteryMeter.exe+0x" in early and "History" not in early, early)
        results.check("and the page says that names are still arriving", "Names of functions are still arriving." in said, said)
        results.check("which modules lack symbols is not said yet", view.run("document.getElementById('modules').hidden"))
        results.check("at the top, too", "Loading symbols" in view.run("document.getElementById('inputs').textContent"))
        results.check("the server was asked for symbols", symbols.asked, symbols.asked)
        symbols.may_answer.set()
        view.page.until("document.querySelector('#table').textContent.includes('History::append')", 60)
        view.step("names have arrived", table=40, overview=20, flame=5, blocks=300)
        results.check("modules without symbols are told then", not view.run("document.getElementById('modules').hidden"))
        late = view.run(NAMES)
        results.check("functions have their names, without a reload", "BatteryMeter.exe!History::append" in late and "BatteryMeter.exe+0x" not in late, late)
        results.equal("sums are what they were", view.run(SUMS), sums)
        results.check("and nothing is said of names to come", "still arriving" not in view.run("document.querySelector('main').textContent"))
        results.check("nor at the top", "Loading" not in view.run("document.getElementById('inputs').textContent"))
        view.step("a search for a name that came late", lambda: view.run("update({ search: 'append' })"), table=10)
    symbols.shutdown()


# --- one HTML file ------------------------------------------------------------------------------------


def check_saved_page(view, name):
    """The file, opened, has the sums that the view has now."""
    items = []

    def save():
        view.click("#save")
        items[:] = view.texts("[role=menu] [role=menuitem]")
        view.page.click("[role=menu] [role=menuitem]:nth-of-type(1)")

    sums = view.run(SUMS)
    saved, data = view.page.download(os.path.join(view.documents.folder, "saved"), save)
    view.results.equal(f"{name}: the name of the file", saved, "demo.html")
    view.results.check(f"{name}: the menu says what is saved", items[0].startswith("One HTML file (demo.html)"), items)
    path = os.path.join(view.documents.folder, f"{name.replace(' ', '-')}.html")
    with open(path, "wb") as file:
        file.write(data)
    page = view.page.second_tab(1400, 14000)
    try:
        static = StaticView(view.results, page, view.documents.folder)
        static.path = path
        static.open("#kind=heap")
        static.step(f"{name}: the file that was saved", overview=20, curve=1, table=20, flame=3, growth=10, histogram=10)
        got, wanted = (sorted(map(tuple, one)) for one in (static.run(SUMS), sums))
        view.results.check(f"{name}: it has the {len(wanted)} sums of the view", len(wanted) > 20 and got == wanted, set(got) ^ set(wanted))
        view.results.equal(f"{name}: no errors in it", page.problems, [])
    finally:
        page.close()


def check_saving(results, folder):
    with viewed(results, folder, ["demo.etl"], "--symbols", "symbols") as view:
        view.open()
        check_saved_page(view, "the whole trace")
        view.step("a window", lambda: view.brush(0.3, 0.6), table=40)
        check_saved_page(view, "a window")
        view.step("a filter", lambda: view.run("setFilter('exclude-frame', 'BatteryMeter.exe!History::append')"), table=10)
        check_saved_page(view, "a filter")


# --- fingers --------------------------------------------------------------------------------------------


def touch(view, kind, *places):
    points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
    view.page.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)


def shown(view):
    return view.run("[curve.view.from, curve.view.to]")


def check_pinch(view):
    left, top, width, height = view.page.box("#curve .surface")
    y = top + height / 2
    at = lambda share: (left + width * share, y)  # noqa: E731
    view.page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    before = shown(view)
    touch(view, "touchStart", at(0.4))
    touch(view, "touchStart", at(0.4), at(0.6))
    for share in (0.05, 0.1):
        touch(view, "touchMove", at(0.4 - share), at(0.6 + share))
    touch(view, "touchEnd", at(0.3))
    touch(view, "touchEnd")
    view.step("two fingers zoom", curve=1)
    state, after = view.state(), shown(view)
    span = before[1] - before[0]
    view.results.check("to half of what was shown, as the fingers are twice as far apart", abs((after[1] - after[0]) / span - 0.5) < 0.02, before, after)
    view.results.check("around their middle", abs((after[0] + after[1]) / 2 - (before[0] + before[1]) / 2) < span * 0.02, before, after)
    view.results.check("and select nothing", {"zoomFrom", "zoomTo"} <= set(state) and not {"from", "to"} & set(state), state)
    touch(view, "touchStart", at(0.3))
    for share in (0.4, 0.5, 0.6):
        touch(view, "touchMove", at(share))
    touch(view, "touchEnd")
    view.step("one finger selects", overview=20)
    start, end = view.run("[state.from, state.to]")
    view.results.check("what it went over", abs((start - after[0]) / (after[1] - after[0]) - 0.3) < 0.02 and abs((end - after[0]) / (after[1] - after[0]) - 0.6) < 0.02, start, end, after)
    view.page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    view.step("the whole trace", lambda: view.run("showWholeTrace()"), curve=1)


def check_touch_pad(view):
    x, y = view.place("#curve .surface", 0.25)
    before = shown(view)
    for _ in range(8):
        view.page.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-20, modifiers=2)
    view.step("a pinch of a touch pad zooms", curve=1)
    after = shown(view)
    span, zoomed = before[1] - before[0], after[1] - after[0]
    view.results.check("in", zoomed < span * 0.7 and "zoomFrom" in view.state(), before, after)
    view.results.check("and what is below the pointer stays there", abs((before[0] + span / 4) - (after[0] + zoomed / 4)) < span * 0.02, before, after)
    view.results.equal("the page itself is not zoomed", view.run("visualViewport.scale"), 1)


def check_fingers(results, folder):
    with viewed(results, folder, ["demo.etl"], "--no-symbols") as view:
        view.open()
        check_pinch(view)
        check_touch_pad(view)


def check_all(results, folder):
    write_demo(folder)
    for check in (check_late_names, check_saving, check_fingers):
        check(results, folder)


if __name__ == "__main__":
    run_views(check_all)
