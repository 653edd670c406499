#!/usr/bin/env python3
"""The page of a trend, opened in a real browser.

Random traces are the runs. What the page draws is held against the same trend as JSON: its rows
and their order, what a click on a title or a row changes, the search, and the numbers of the curves.
SCREENSHOTS=FOLDER keeps pictures.
"""

import base64
import json
import os
import subprocess

from browser_page import MAKE_TRACE, hidden_columns, run_in_browser
from oracle_support import run, run_json

EVENTS = (2500, 3000, 2800, 4200, 4600)


def make_runs(folder):
    """Programs of one seed that go on for longer and longer."""
    runs = []
    for number, events in enumerate(EVENTS):
        path = os.path.join(folder, f"run{number}.etl")
        subprocess.run([MAKE_TRACE, "workload", path, "--seed", "3", "--events", str(events)], check=True,
                       stdout=subprocess.DEVNULL)
        runs.append(path)
    return runs


def choose(page, control, value):
    page.run(f"(() => {{ const e = document.getElementById('{control}'); e.value = {json.dumps(value)};"
             " e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); })()")
    page.come_to_rest()


SHOWN = "[...document.querySelectorAll('#rows tbody tr')].map((row) => Number(row.dataset.row))"
LINES = "[...document.querySelectorAll('#trend-chart .line')].map((line) => Number(line.dataset.row))"


def show_all(page):
    while page.run("document.querySelector('#table .more') !== null"):
        page.run("document.querySelector('#table .more').click()")


def check_table(results, page, document):
    rows = document["rows"]
    for kind in page.run("[...document.getElementById('kind').options].map((one) => one.value)"):
        choose(page, "kind", kind)
        show_all(page)
        wanted = [i for i, row in enumerate(rows) if row["kind"] == kind]
        results.equal(f"{kind}: every row, the largest change first", page.run(SHOWN),
                      sorted(wanted, key=lambda i: (-abs(rows[i]["change"]), i)))
    choose(page, "kind", "heap")
    for key, value in (("slope", lambda row: row["slope"]), ("last", lambda row: row["sizes"][-1])):
        for descending in (True, False):
            page.run(f"document.querySelector('#rows th[data-key=\"{key}\"] button').click()")
            show_all(page)
            got = [value(rows[i]) for i in page.run(SHOWN)]
            results.check(f"sorted by {key}, {'largest' if descending else 'smallest'} first",
                          got == sorted(got, reverse=descending) and len(got) > 50, got[:5])
    state = page.run("document.querySelector('#rows th[data-key=\"last\"]').getAttribute('aria-sort')")
    results.equal("the title says so", state, "ascending")
    page.run("document.querySelector('#rows th[data-key=\"change\"] button').click()")
    show_all(page)
    changes = [rows[i]["sizes"][-1] - rows[i]["sizes"][0] for i in page.run(SHOWN)]
    results.check("sorted by the change from the first run to the last",
                  changes == sorted(changes, key=lambda change: -abs(change)), changes[:5])
    shown = page.run("[...document.querySelectorAll('#rows tbody tr')].map((row) => [row.cells[2].dataset.value, row.cells[5].textContent])")
    results.equal("which a column shows, beside the run of a step", [(int(change), since) for change, since in shown],
                  [(change, str(rows[i]["turn_run"] or "\u2013")) for change, i in zip(changes, page.run(SHOWN))])
    page.run("state.sort = 'weight'; state.ascending = false; drawRows()")


def check_filters(results, page, document):
    heap = [i for i, row in enumerate(document["rows"]) if row["kind"] == "heap"]
    pattern = document["rows"][heap[0]]["pattern"]
    choose(page, "pattern", pattern)
    show_all(page)
    results.equal(f"only {pattern}", sorted(page.run(SHOWN)), [i for i in heap if document["rows"][i]["pattern"] == pattern])
    choose(page, "pattern", "")
    word = document["rows"][heap[0]]["process"][:5].lower()
    choose(page, "search", word)
    show_all(page)
    found = page.run(SHOWN)
    results.check("a search leaves rows that match", 0 < len(found) <= len(heap) and
                  page.run("document.getElementById('search-result').textContent").startswith(f"{len(found):,}"), len(found))
    choose(page, "search", "")


def check_chart(results, page, document):
    rows = document["rows"]
    results.equal("the chart begins with the rows that move most", page.run(LINES), page.run(SHOWN)[:7])
    third = page.run(SHOWN)[2]
    page.run(f"document.querySelector('#rows tr[data-row=\"{third}\"]').click()")
    page.come_to_rest()
    results.equal("a click draws the row", page.run(LINES), [third])
    label = page.run("document.querySelector('#trend-chart .run[data-run=\"4\"]').getAttribute('aria-label')")
    results.check("a run has its file and numbers", "Run 4" in label and "run3.etl" in label, label)
    points = page.run("[...document.querySelectorAll('#trend-chart .dot')].map((dot) => Number(dot.getAttribute('cy')))")
    sizes = rows[third]["sizes"]
    order = sorted(range(len(sizes)), key=lambda run: -sizes[run])
    results.check("the curve is higher where more is outstanding", len(points) == len(EVENTS) and
                  [points[run] for run in order] == sorted(points), points, sizes)
    page.run(f"document.querySelector('#rows tr[data-row=\"{third}\"]').click()")
    page.come_to_rest()
    results.equal("and another click takes it away", len(page.run(LINES)), 7)


def check_told(results, page, document):
    """What runs lost, and which window each run's numbers are of."""
    losses = [[one for one in told["diagnostics"] if one["severity"] in ("loss", "damage")] for told in document["runs"]]
    sums = {}
    for one in sum(losses, []):
        sums.setdefault((one["name"], one["advice"]), []).append(one["count"])
    wanted = [f"{name} ({sum(counts):,}), in {len(counts)} of {len(losses)} runs: {advice}"
              for (name, advice), counts in sums.items()]
    results.equal("the page begins with what runs lost",
                  page.run("[...document.querySelectorAll('#notices .bad li')].map((line) => line.textContent)"), wanted)
    results.check("at least one run lost something", len(wanted) > 0, wanted)
    results.equal("and the list says which",
                  page.run("[...document.querySelectorAll('#run-list tbody tr')].map((row) => row.cells[4].textContent)"),
                  [", ".join(f"{one['name']} ({one['count']:,})" for one in of_run) or "nothing" for of_run in losses])
    cells = page.run("[...document.querySelectorAll('#run-list tbody tr')].map((row) => row.cells[3].textContent)")
    windows = [told["window"] for told in document["runs"]]
    got = [[round(float(word.replace(",", "").split()[0]) * 1e9) for word in cell.split(" to ")] for cell in cells]
    results.equal("each run has its window", got, [[window["from_ns"], window["to_ns"]] for window in windows])


def keep_picture(page, name):
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        data = page.call("Page.captureScreenshot", format="png")["data"]
        with open(os.path.join(folder, name), "wb") as file:
            file.write(base64.b64decode(data))


def use(results, page, folder):
    runs = make_runs(folder)
    document = run_json("trend", *runs, "--no-symbols", "--in-order", "--all")
    path = os.path.join(folder, "trend.html")
    run("trend", *runs, "--no-symbols", "--in-order", "--all", "-o", path)
    page.open(path)
    page.come_to_rest()
    results.equal("the rows are those of the JSON", page.run("trend.rows"), document["rows"])
    check_told(results, page, document)
    check_table(results, page, document)
    check_filters(results, page, document)
    check_chart(results, page, document)
    keep_picture(page, "trend.png")
    totals = page.run("[...document.querySelectorAll('#run-list tbody tr')].map((row) => row.querySelectorAll('td').length)")
    results.equal("a line for each run", totals, [4 + len(document["totals"])] * len(EVENTS))
    for width in (800, 390):
        page.resize(width)
        results.check(f"{width} pixels: the page is not wider than the window",
                      page.run("document.documentElement.scrollWidth") <= width)
        tallest = page.run("Math.max(...[...document.querySelectorAll('#rows tbody tr')].map((row) => row.getBoundingClientRect().height))")
        results.check(f"{width} pixels: names of rows keep their room", tallest < 160, tallest)
        told = hidden_columns(page)
        results.check(f"{width} pixels: each table with columns out of sight names them",
                      any(wide for wide, _ in told) and all(wide == (text != "") for wide, text in told), told)
    page.resize(1280)
    results.equal("no errors", page.problems, [])
    results.equal("no requests but for the files", [url for url in page.requests if not url.startswith("file://")], [])


if __name__ == "__main__":
    run_in_browser(use)
