#!/usr/bin/env python3
"""The page of a comparison, opened in a real browser.

Two random traces are compared. What the page draws is held against the rows of the same
comparison as JSON: bars of every process from either side, the table, the search, what a click
on a row shows. The folded form is read as flamegraph.pl reads it, and must add up to the
totals of each kind.
"""

import json
import os
import subprocess
from collections import defaultdict

from browser_page import MAKE_TRACE, run_in_browser
from oracle_support import run, run_json

MEASURE = "outstanding_size"


def make_pair(folder):
    pair = []
    for name, events in (("base", "2500"), ("new", "4000")):
        path = os.path.join(folder, f"{name}.etl")
        subprocess.run([MAKE_TRACE, "workload", path, "--seed", "3", "--events", events], check=True,
                       stdout=subprocess.DEVNULL)
        pair.append(path)
    return pair


def check_folded(results, pair, document):
    wanted = {total["kind"]: (total["base_" + MEASURE], total["new_" + MEASURE]) for total in document["totals"]}
    got = defaultdict(lambda: (0, 0))
    lines = run("diff", *pair, "--no-symbols", "--format", "folded").decode().splitlines()
    for line in lines:
        path, before, after = line.rsplit(" ", 2)
        kind = path.split(";")[0]
        got[kind] = (got[kind][0] + int(before), got[kind][1] + int(after))
    results.equal_maps("folded: both sides of each kind", {k: v for k, v in got.items()}, {k: v for k, v in wanted.items() if v != (0, 0)})
    stacks = [line.rsplit(" ", 2)[0] for line in lines]
    results.check("folded: paths have frames", len(stacks) > 100 and max(map(lambda s: s.count(";"), stacks)) > 8)


def by_process(rows, kind):
    sums = defaultdict(lambda: [0, 0])
    for row in rows:
        if row["kind"] == kind:
            sums[row["process"]][0] += row["base_" + MEASURE]
            sums[row["process"]][1] += row["new_" + MEASURE]
    return {name: tuple(sum) for name, sum in sums.items()}


BARS = """[...document.querySelectorAll('#flame-tree .bar[aria-level="%d"]')].map((bar) =>
    [bar.getAttribute('aria-label').split(': ')[0], Number(bar.dataset.base), Number(bar.dataset.now),
     bar.className, parseFloat(bar.style.width)])"""


def choose(page, control, value):
    page.run(f"(() => {{ const e = document.getElementById('{control}'); e.value = {json.dumps(value)};"
             " e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); })()")
    page.settle()


def check_flame(results, page, rows):
    for kind in page.run("[...document.getElementById('kind').options].map((one) => one.value)"):
        choose(page, "kind", kind)
        wanted = by_process(rows, kind)
        for width, side in (("now", 1), ("base", 0)):
            choose(page, "width", width)
            whole = sum(amounts[side] for amounts in wanted.values())
            bars = page.run(BARS % 2)
            got = {name: (base, now) for name, base, now, _, _ in bars}
            large = {name: amounts for name, amounts in wanted.items() if whole > 0 and amounts[side] / whole > 0.01}
            results.equal_maps(f"{kind}, width {width}: bars of processes", {n: got.get(n) for n in large}, large)
            wrong = [bar for bar in bars
                     if abs(bar[4] - 100 * wanted.get(bar[0], (0, 0))[side] / whole) > 0.01
                     or ("grew" in bar[3]) != (bar[2] > bar[1]) or ("shrank" in bar[3]) != (bar[2] < bar[1])]
            results.check(f"{kind}, width {width}: widths and colours", bars and not wrong, *wrong[:3])
    choose(page, "kind", "heap")
    choose(page, "width", "now")


def check_table(results, page, rows):
    changed = sorted((abs(row["delta_" + MEASURE]) for row in rows if row["kind"] == "heap" and row["state"] != "unchanged"),
                     reverse=True)
    while page.run("document.querySelector('#table .more') !== null"):
        page.run("document.querySelector('#table .more').click()")
    shown = page.run("[...document.querySelectorAll('#changes tbody tr')].map((row) =>"
                     " Math.abs(Number(row.querySelectorAll('td')[1].dataset.value)))")
    results.equal("the table has every change, the largest first", shown, changed)
    word = next(row for row in rows if row["kind"] == "heap" and row["state"] == "added")["process"][:5].lower()
    choose(page, "search", word)
    few = page.run("document.querySelectorAll('#changes tbody tr').length")
    told = page.run("document.getElementById('search-result').textContent")
    results.check("a search leaves rows that match", 0 < few < len(changed) or len(changed) == few, few)
    results.check("and says how many", told.startswith(str(few)) or few >= 50, told)
    results.check("bars that match are marked", page.run("document.querySelectorAll('#flame-tree .match').length") > 0)
    choose(page, "search", "")


def check_row_click(results, page, rows):
    gone = next(row for row in rows if row["kind"] == "heap" and row["state"] == "removed")
    index = rows.index(gone)
    while page.run(f"document.querySelector('#changes tr[data-row=\"{index}\"]') === null"):
        page.run("document.querySelector('#table .more').click()")
    page.run(f"document.querySelector('#changes tr[data-row=\"{index}\"]').click()")
    page.settle()
    details = page.run("document.getElementById('flame-details').textContent")
    results.check("a click on what is gone zooms to it, wide by the larger side",
                  page.run("document.getElementById('width').value") == "larger" and "was" in details, details)
    page.run("document.getElementById('flame-reset').click()")
    page.settle()
    page.run("document.querySelector('#flame-tree .bar[tabindex=\"0\"]').focus()")
    page.press("ArrowDown")
    page.press("Enter")
    page.settle()
    results.check("keys zoom in", page.run("!document.getElementById('flame-reset').disabled"))
    page.press("Escape")
    page.settle()
    results.check("and out", page.run("document.getElementById('flame-reset').disabled"))


def check_cut(results, page, pair, folder):
    """Rows that are left out are sums of their kind."""
    path = os.path.join(folder, "cut.html")
    run("diff", *pair, "--no-symbols", "--top", "20", "-o", path)
    page.open(path)
    page.settle()
    total = page.run("diff.totals.find((one) => one.kind === state.kind)")
    root = page.run(BARS % 1)[0]
    results.equal("with --top the whole is what it was", root[1:3], [total["base_" + MEASURE], total["new_" + MEASURE]])
    results.check("and what is left out is one bar", "[other stacks]" in [bar[0] for bar in page.run(BARS % 2)])


def use(results, page, folder):
    pair = make_pair(folder)
    document = run_json("diff", *pair, "--no-symbols", "--all")
    check_folded(results, pair, document)
    path = os.path.join(folder, "diff.html")
    run("diff", *pair, "--no-symbols", "-o", path)
    page.open(path)
    page.settle()
    results.equal("the rows are those of the JSON", page.run("diff.rows"), document["rows"])
    check_flame(results, page, document["rows"])
    check_table(results, page, document["rows"])
    check_row_click(results, page, document["rows"])
    for width in (800, 390):
        page.resize(width)
        results.check(f"{width} pixels: the page is not wider than the window",
                      page.run("document.documentElement.scrollWidth") <= width)
    page.resize(1280)
    check_cut(results, page, pair, folder)
    results.equal("no errors", page.problems, [])
    results.equal("no requests but for the files", [url for url in page.requests if not url.startswith("file://")], [])


if __name__ == "__main__":
    run_in_browser(use)
