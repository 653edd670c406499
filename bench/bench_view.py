"""How fast `etlheap view` answers the page's user, in headless Chromium.

The page is used as people do: a drag over the curve selects a window, and the time is taken in the page, from the
moment the button is released to the frame in which the part has been painted anew. All parts ask their
questions meanwhile, as they always do. Opening the store is not part of it.

    pointerup ──▶ questions ──▶ server ──▶ answers ──▶ rows painted ──▶ next frame
        └────────────────────── what is measured ──────────────────────────┘
"""

import os
import random
import statistics
import sys
import tempfile
import time

from bench_inputs import BenchError, note
from bench_measure import Row, wall_seconds

ORACLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "oracles")
MIB = 1 << 20
BRUSHES = 60
FIRST_PAGES = 5
WIDTH, HEIGHT = 1400, 1900  # curve, table and flame graph are in sight
STACKS = "#groupBy=stack&kind=heap"
OTHERS = 20  # brushes of each other table
TABLES = [
    ("by process, heap, type and stack", "#kind=heap"),
    ("by function", "#groupBy=function&kind=heap"),
    ("of blocks of type AIFO", "#groupBy=stack&kind=heap&type=AIFO"),
    ("of blocks from 1 KiB on", "#groupBy=stack&kind=heap&size=1K.."),
]
SEED = 47
PATIENCE_SECONDS = 600

# Takes the time of each brush: when the button is released, and when each part has its new picture.
WATCH = """(() => {
  window.brushed = null;
  const parts = ['table', 'curve', 'flame'];
  addEventListener('pointerup', () => {
    const begin = performance.now(), before = location.hash, times = {};
    window.brushed = null;
    const look = () => {
      const now = performance.now() - begin;
      for (const part of parts) {
        const body = document.querySelector(`#${part} .body`);
        const command = document.getElementById(part).dataset.command;
        const isNew = part === 'curve' || new URLSearchParams(location.hash.slice(1)).get('from').split(/(?=[a-z])/).every((word) => command.includes(word));
        if (!(part in times) && isNew && location.hash !== before && body.getAttribute('aria-busy') !== 'true' && !body.hasAttribute('data-stale')) times[part] = now;
      }
      if (Object.keys(times).length === parts.length) window.brushed = times;
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(() => requestAnimationFrame(look));
  }, true);
})()"""


def view_tools(etlheap):
    """Modules of the tests: a server, and a page in a browser. None without a browser."""
    os.environ["ETLHEAP"] = os.path.abspath(etlheap)
    if ORACLES not in sys.path:
        sys.path.insert(0, ORACLES)
    import browser_page
    import view_client
    program = browser_page.find_browser()
    return None if program is None else (program, browser_page.Page, view_client.Server)


def can_view(bench):
    if view_tools(bench.etlheap) is None:
        note("there is no Chromium here, so the rows of view are left out")
        return False
    return True


def status_bytes(process, key):
    """A line of the server's memory, in bytes."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":"))


class Visit:
    """A server and one page of it."""

    def __init__(self, etlheap, path, folder):
        program, page, server = view_tools(etlheap)
        self.begin = time.perf_counter()
        self.server = server([path], "--no-symbols", folder=os.path.join(folder, "tmp"))
        self.page = page(program, folder, WIDTH, HEIGHT)
        self.random = random.Random(SEED)

    def close(self):
        self.page.close()
        self.server.stop()

    def open(self, fragment=""):
        self.page.navigate("about:blank")
        self.page.navigate(self.server.url + fragment)

    def wait(self, script):
        self.page.until(script, PATIENCE_SECONDS)
        if not self.page.run(f"Boolean({script})"):
            raise BenchError(f"the page did not come to {script}: {self.page.problems}")

    def first_page(self):
        """Seconds until curve and table are drawn, from the navigation."""
        self.open()
        self.wait("document.documentElement.dataset.ready")
        return float(self.page.run("document.documentElement.dataset.ready")) / 1000

    def show(self, fragment):
        """A table with all the rows that were asked for painted."""
        self.open(fragment)
        self.wait("document.documentElement.dataset.ready")
        self.page.rest(PATIENCE_SECONDS)
        self.page.run("document.querySelector('#table tr.more')?.click()")
        self.page.rest(PATIENCE_SECONDS)
        self.page.run(WATCH)

    def show_stacks(self):
        """A table of 200 stacks."""
        self.show(STACKS)
        rows = self.page.run("document.querySelectorAll('#table tbody tr[data-row]').length")
        if rows < 200:
            raise BenchError(f"the table has {rows} rows, not 200")

    def brush(self):
        """{part: seconds} for a window of any length and place."""
        left, top, width, height = self.page.run("(() => { const b = document.querySelector('#curve .surface').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
        start = self.random.uniform(0.02, 0.7)
        end = start + self.random.uniform(0.03, 0.28)
        self.page.drag((left + width * start, top + height * 0.5), (left + width * end, top + height * 0.5))
        self.wait("window.brushed !== null")
        return {part: value / 1000 for part, value in self.page.run("window.brushed").items()}


def at_95_percent(values):
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


def tables_of(times):
    return [max(one["table"], one["curve"]) for one in times]


def other_rows(visit):
    """Brushes with other tables, and with filters."""
    rows = []
    for name, fragment in TABLES:
        visit.show(fragment)
        times = []
        for _ in range(OTHERS):
            times.append(visit.brush())
            visit.page.rest(PATIENCE_SECONDS)
        rows.append(Row(f"  table {name}, 95 %", [at_95_percent(tables_of(times)) * 1000], "ms", 300, at_most=True))
        rows.append(Row("    flame graph", [at_95_percent([one["flame"] for one in times]) * 1000], "ms", 600, at_most=True))
    return rows


def answers_rows(visit):
    """First pages and single brushes."""
    first = [visit.first_page() for _ in range(FIRST_PAGES)]
    visit.show_stacks()
    soon = visit.brush()
    times = []
    for _ in range(BRUSHES):
        times.append(visit.brush())
        visit.page.rest(PATIENCE_SECONDS)
    both, flames = tables_of(times), [one["flame"] for one in times]
    return [
        Row("view: first page from H.ehs", first, "s", 1, at_most=True),
        Row("  first brush to 200 rows and curve", [soon["table"] * 1000], "ms"),
        Row("  brush to 200 rows and curve, 95 %", [at_95_percent(both) * 1000], "ms", 300, 150, at_most=True),
        Row("    half of the brushes", [statistics.median(both) * 1000], "ms"),
        Row("  brush to flame graph, 95 %", [at_95_percent(flames) * 1000], "ms", 600, at_most=True),
        Row("    half of the brushes", [statistics.median(flames) * 1000], "ms"),
        Row("  server, at most resident", [status_bytes(visit.server.process, "VmHWM") / MIB], "MiB", 512, at_most=True),
    ]


def page_bytes(page):
    """What the page's script holds, without what nobody refers to."""
    page.call("HeapProfiler.enable")
    page.call("HeapProfiler.collectGarbage")
    return page.run("performance.memory.usedJSHeapSize")


def long_rows(visit, minutes):
    """Brushes without a pause; memory at the end is held against that after a third of the time."""
    begin = time.monotonic()
    brushes, early = 0, None
    while time.monotonic() - begin < minutes * 60:
        visit.brush()
        brushes += 1
        if early is None and time.monotonic() - begin >= minutes * 20:
            visit.page.rest(PATIENCE_SECONDS)
            early = status_bytes(visit.server.process, "RssAnon"), page_bytes(visit.page)
    visit.page.rest(PATIENCE_SECONDS)
    late = status_bytes(visit.server.process, "RssAnon"), page_bytes(visit.page)
    return [
        Row(f"  {brushes:,} brushes in {minutes:g} min", [brushes / minutes], "/min"),
        Row("    server's own memory at the end", [late[0] / MIB], "MiB"),
        Row("      against a third of the time", [100 * late[0] / early[0] - 100], "% more", 2, at_most=True),
        Row("    page's own memory at the end", [late[1] / MIB], "MiB"),
        Row("      against a third of the time", [100 * late[1] / early[1] - 100], "% more", 2, at_most=True),
    ]


def trace_seconds(etlheap, path, folder):
    """From the start of the server to the first curve of a trace that it has to read first."""
    visit = Visit(etlheap, path, folder)
    try:
        visit.open()
        visit.wait("document.querySelector('#curve .chart svg .area') !== null")
        return time.perf_counter() - visit.begin
    finally:
        visit.close()


def view_rows(bench):
    """`etlheap view` of H.ehs and of H, used in a browser."""
    trace, store = bench.inputs.make("H"), bench.inputs.path("H.ehs")
    if not os.path.exists(store):
        wall_seconds([bench.etlheap, "store", trace, "-o", store, "-j2"])
    bench.inputs.warm(store, trace)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        visit = Visit(bench.etlheap, store, folder)
        try:
            visit.server.await_inputs()
            rows = answers_rows(visit) + other_rows(visit)
            if bench.view_minutes > 0:
                note(f"measuring: a session of {bench.view_minutes:g} minutes")
                rows += long_rows(visit, bench.view_minutes)
        finally:
            visit.close()
        seconds = [trace_seconds(bench.etlheap, trace, os.path.join(folder, str(i))) for i in range(2)]
    return [*rows, Row("  first curve of H, 2.2 GB, from the start", seconds, "s", 3, at_most=True)]
