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

from browser_page import MAKE_TRACE, hidden_columns, run_in_browser
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
    page.come_to_rest()


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
    page.come_to_rest()
    details = page.run("document.getElementById('flame-details').textContent")
    results.check("a click on what is gone zooms to it, wide by the larger side",
                  page.run("document.getElementById('width').value") == "larger" and "was" in details, details)
    page.run("document.getElementById('flame-reset').click()")
    page.come_to_rest()
    page.run("document.querySelector('#flame-tree .bar[tabindex=\"0\"]').focus()")
    page.press("ArrowDown")
    page.press("Enter")
    page.come_to_rest()
    results.check("keys zoom in", page.run("!document.getElementById('flame-reset').disabled"))
    page.press("Escape")
    page.come_to_rest()
    results.check("and out", page.run("document.getElementById('flame-reset').disabled"))


def check_cut(results, page, pair, folder):
    """Rows that are left out are sums of their kind."""
    path = os.path.join(folder, "cut.html")
    run("diff", *pair, "--no-symbols", "--top", "20", "-o", path)
    page.open(path)
    page.come_to_rest()
    total = page.run("diff.totals.find((one) => one.kind === state.kind)")
    root = page.run(BARS % 1)[0]
    results.equal("with --top the whole is what it was", root[1:3], [total["base_" + MEASURE], total["new_" + MEASURE]])
    results.check("and what is left out is one bar", "[other stacks]" in [bar[0] for bar in page.run(BARS % 2)])


def by_mean(rows, kind):
    """Freed blocks and mean lifetime of each process on both sides, from its stacks."""
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        for i, side in enumerate(("base", "new")):
            if row["kind"] == kind and row[f"{side}_lifetime_mean_ns"] is not None:
                sums[row["process"]][i] += row[f"{side}_freed_count"]
                sums[row["process"]][i + 2] += row[f"{side}_freed_count"] * row[f"{side}_lifetime_mean_ns"]
    return {name: (base, now, base and base_sum / base, now and now_sum / now)
            for name, (base, now, base_sum, now_sum) in sums.items()}


LIVED = """[...document.querySelectorAll('#flame-tree .bar[aria-level="2"]')].map((bar) => [bar.getAttribute('aria-label').split(': ')[0],
    Number(bar.dataset.base), Number(bar.dataset.now), Number(bar.dataset.baseMean ?? 0), Number(bar.dataset.nowMean ?? 0),
    bar.className, parseFloat(bar.style.width)])"""
CELLS = """[...document.querySelectorAll('%s')].map((row) => [...row.querySelectorAll('td')].map((cell) =>
    cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value)))"""


def check_lived(results, page, rows):
    """Bars are as wide as blocks were freed, and coloured by their mean lifetime."""
    for kind in page.run("[...document.getElementById('kind').options].map((one) => one.value)"):
        choose(page, "kind", kind)
        wanted = by_mean(rows, kind)
        choose(page, "width", "now")
        whole = sum(amounts[1] for amounts in wanted.values())
        bars = page.run(LIVED)
        wrong = [bar for bar in bars if tuple(bar[1:3]) != wanted[bar[0]][:2] or
                 any(abs(got - mean) > 1e-6 * mean for got, mean in zip(bar[3:5], wanted[bar[0]][2:])) or
                 abs(bar[6] - 100 * bar[2] / whole) > 0.01 or
                 ("grew" in bar[5]) != (bar[1] > 0 and bar[2] > 0 and bar[4] > bar[3]) or
                 ("shrank" in bar[5]) != (bar[1] > 0 and bar[2] > 0 and bar[4] < bar[3])]
        results.check(f"lifetimes of {kind}: {len(bars)} bars of processes", (bars or whole == 0) and not wrong, *wrong[:3])
    choose(page, "kind", "heap")


def check_lived_tables(results, page, document):
    while page.run("document.querySelector('#table .more') !== null"):
        page.run("document.querySelector('#table .more').click()")
    names = ("delta_lifetime_median_ns", "base_lifetime_median_ns", "new_lifetime_median_ns", "base_freed_count", "new_freed_count",
             "base_outstanding_count", "new_outstanding_count")
    wanted = [[row["state"], *("\u2013" if row[name] is None else row[name] for name in names)] for row in document["rows"]
              if row["kind"] == "heap" and row["state"] != "unchanged"]
    results.equal("lifetimes: the table has the rows of the JSON, in their order", [row[:-1] for row in page.run(CELLS % "#changes tbody tr")], wanted)
    measures = page.run("[...document.querySelectorAll('#totals tr[data-kind=heap]')].map((row) => row.dataset.measure)")
    heap = next(total for total in document["totals"] if total["kind"] == "heap")
    results.equal("and the totals", [row[1:] for row in page.run(CELLS % "#totals tr[data-kind=heap]")],
                  [[heap[f"{side}_{measure}"] for side in ("delta", "base", "new")] for measure in measures])
    results.equal("and the spread", [row[2:4] for row in page.run(CELLS % "#spread tbody tr")],
                  [[bucket["base_count"], bucket["new_count"]] for bucket in document["histogram"]["buckets"] if bucket["kind"] == "heap"])
    bars = page.run("[...document.querySelectorAll('#spread .share')].map((bar) => [parseFloat(bar.style.width), parseFloat(bar.title)])")
    largest = max(bars, key=lambda bar: bar[1])
    results.check("bars are shares, and the largest has all the room", largest[0] == 100 and
                  all(abs(bar[0] - 100 * bar[1] / largest[1]) < 0.5 for bar in bars), bars[:5])


def check_lifetimes(results, page, pair, folder):
    path = os.path.join(folder, "lifetimes.html")
    results.check("without --lifetimes there are none", page.run("document.getElementById('lifetimes').hidden"))
    document = run_json("diff", *pair, "--no-symbols", "--all", "--lifetimes")
    run("diff", *pair, "--no-symbols", "--lifetimes", "-o", path)
    page.open(path)
    page.come_to_rest()
    results.equal("lifetimes: the rows are those of the JSON", page.run("diff.rows"), document["rows"])
    check_lived(results, page, document["rows"])
    check_lived_tables(results, page, document)
    page.resize(800)
    tallest = page.run("Math.max(...[...document.querySelectorAll('#changes tbody tr')].map((row) => row.getBoundingClientRect().height))")
    results.check("lifetimes, 800 pixels: names of rows keep their room", tallest < 160, tallest)
    page.resize(390)
    results.check("lifetimes, 390 pixels: the page is not wider than the window", page.run("document.documentElement.scrollWidth") <= 390)
    told = hidden_columns(page)
    results.check("lifetimes, 390 pixels: each table with columns out of sight names them",
                  any(wide for wide, _ in told) and all(wide == (text != "") for wide, text in told), told)
    page.resize(1280)


def check_empty_side(results, page, pair, folder):
    """What one side has nothing of is drawn as the other side has it."""
    path = os.path.join(folder, "empty.html")
    run("diff", pair[0], pair[1], "--no-symbols", "--kind", "heap", "--group-by", "process", "--process", "nobody", "-o", path)
    page.open(path)
    page.come_to_rest()
    results.equal("nothing on either side is said", page.run("document.querySelector('#flame-tree').textContent"),
                  "Neither side has any data.")
    trace = os.path.join(folder, "exercise.etl")
    subprocess.run([MAKE_TRACE, "virtualalloc-exercise", trace], check=True, stdout=subprocess.DEVNULL)
    demo = os.path.join(folder, "demo.etl")
    subprocess.run([MAKE_TRACE, "demo", demo], check=True, stdout=subprocess.DEVNULL)
    run("diff", demo, trace, "--no-symbols", "--kind", "virtualalloc", "-o", path)
    page.open(path)
    page.come_to_rest()
    results.equal("all is gone: the width is that of the larger side", page.run("[document.getElementById('width').value, "
                  "document.querySelectorAll('#flame-tree .shrank').length > 2]"), ["larger", True])


def use(results, page, folder):
    pair = make_pair(folder)
    document = run_json("diff", *pair, "--no-symbols", "--all")
    check_folded(results, pair, document)
    path = os.path.join(folder, "diff.html")
    run("diff", *pair, "--no-symbols", "-o", path)
    page.open(path)
    page.come_to_rest()
    results.equal("the rows are those of the JSON", page.run("diff.rows"), document["rows"])
    check_flame(results, page, document["rows"])
    check_table(results, page, document["rows"])
    check_row_click(results, page, document["rows"])
    for width in (800, 390):
        page.resize(width)
        results.check(f"{width} pixels: the page is not wider than the window",
                      page.run("document.documentElement.scrollWidth") <= width)
        tallest = page.run("Math.max(...[...document.querySelectorAll('#changes tbody tr')].map((row) => row.getBoundingClientRect().height))")
        results.check(f"{width} pixels: names of rows keep their room", tallest < 160, tallest)
    page.resize(1280)
    check_lifetimes(results, page, pair, folder)
    check_empty_side(results, page, pair, folder)
    check_cut(results, page, pair, folder)
    results.equal("no errors", page.problems, [])
    results.equal("no requests but for the files", [url for url in page.requests if not url.startswith("file://")], [])


if __name__ == "__main__":
    run_in_browser(use)
