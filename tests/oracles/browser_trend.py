#!/usr/bin/env python3
"""The page of a trend, opened in a real browser.

Random traces are the runs. After each step, every number that is painted is compared with what the command
prints that the page shows for it: cards, rows, runs. The order of rows, what a click on a title or a curve
changes, the search, the lines of the chart and what runs lost are held against the same document.
"""

import os
import subprocess

from browser_page import MAKE_TRACE, hidden_columns
from browser_shown import clipboard, copy_by, saved
from oracle_support import run_json
from static_page import ComparedView, run_static

EVENTS = (2500, 3000, 2800, 4200, 4600)
OPTIONS = ("--no-symbols", "--in-order", "--all")


def make_runs(folder):
    """Programs of one seed that go on for longer and longer."""
    names = []
    for number, events in enumerate(EVENTS):
        names.append(f"run{number}.etl")
        subprocess.run([MAKE_TRACE, "workload", os.path.join(folder, names[-1]), "--seed", "3", "--events", str(events)],
                       check=True, stdout=subprocess.DEVNULL)
    return names


LINES = "[...document.querySelectorAll('#curves .line')].map((line) => Number(line.dataset.row))"


def sort_by(view, title):
    view.run(f"[...document.querySelectorAll('#rows thead button')].find((one) => one.textContent === '{title}').click()")
    view.page.rest()
    view.show_all("rows")


def check_kinds(view, document):
    rows = document["rows"]
    view.results.equal("a card for each kind of the totals", sorted(view.kinds()), sorted(total["kind"] for total in document["totals"]))
    changes = {kind: sum(abs(row["change"]) for row in rows if row["kind"] == kind) for kind in view.kinds()}
    view.results.equal("the page begins with the kind that changes most", view.run("state.kind"), max(changes, key=changes.get))
    for kind in view.kinds():
        view.choose_kind(kind)
        view.show_all("rows")
        view.step(f"{kind}", kinds=10)
        wanted = [i for i, row in enumerate(rows) if row["kind"] == kind]
        view.results.equal(f"{kind}: every row, the largest change first", view.rows("rows"), sorted(wanted, key=lambda i: (-abs(rows[i]["change"]), i)))


def check_sorting(view, document):
    rows = document["rows"]
    view.choose_kind("heap")
    keys = {"Slope/Run": lambda row: row["slope"], "Last": lambda row: row["sizes"][-1], "First": lambda row: row["sizes"][0],
            "Change": lambda row: row["sizes"][-1] - row["sizes"][0]}
    for title, value in keys.items():
        for descending in (True, False):
            sort_by(view, title)
            got = [value(rows[i]) for i in view.rows("rows")]
            view.results.check(f"sorted by {title}, {'largest' if descending else 'smallest'} first", got == sorted(got, reverse=descending) and len(got) > 50, got[:5])
    said = view.run("document.querySelector('#rows th[aria-sort=ascending]').textContent")
    view.results.equal("the title says so", said, "Change")
    view.step("sorted", rows=200)
    since = view.run("[...document.querySelectorAll('#rows tbody [data-measure=turn_run]')].map((one) => one.textContent)")
    view.results.equal("a column has the run of a step", since, [str(rows[i]["turn_run"] or "\u2013") for i in view.rows("rows")])
    patterns = view.run("[...document.querySelectorAll('#rows tbody tr[data-row]')].map((row) => row.cells[1].textContent)")
    view.results.equal("and the pattern names it", patterns, [rows[i]["pattern"] + (f" in {rows[i]['turn_run']}" if rows[i]["turn_run"] else "") for i in view.rows("rows")])
    view.run("update({ lists: {} })")
    view.page.rest()


def check_filters(view, document):
    results, heap = view.results, [i for i, row in enumerate(document["rows"]) if row["kind"] == "heap"]
    pattern = document["rows"][heap[0]]["pattern"]
    view.choose("Pattern", pattern)
    view.page.rest()
    view.show_all("rows")
    results.equal(f"only {pattern}", sorted(view.rows("rows")), [i for i in heap if document["rows"][i]["pattern"] == pattern])
    view.choose("Pattern", "")
    view.page.rest()
    word = document["rows"][heap[0]]["process"][:5].lower()
    view.search(word)
    view.show_all("rows")
    found = [i for i in heap if word in document["rows"][i]["process"].lower()]
    shown = view.rows("rows")
    results.check("a search leaves rows that match", 0 < len(found) <= len(shown) < len(heap) and set(found) <= set(shown), len(found), len(shown))
    results.check("and says how many", any(text.startswith(f"{len(shown):,} ") for text in view.texts("#rows .hint")), view.texts("#rows .hint"))
    view.step("a search", rows=10)
    view.search("no such name")
    results.check("a search without rows says so", view.texts("#rows .empty") == ["No row matches."], view.texts("#rows .body"))
    view.search("")


def check_chart(view, document):
    results, rows = view.results, document["rows"]
    results.equal("the chart begins with the rows that change most", view.run(LINES), view.rows("rows")[:7])
    third = view.rows("rows")[2]
    spark = f"#rows tr[data-row='{third}'] .spark"
    view.click(spark)
    view.page.rest()
    results.equal("a click on its curve draws the row", view.run(LINES), [third])
    results.equal("and the curve says so", view.run(f'document.querySelector("{spark}").getAttribute("aria-pressed")'), "true")
    results.check("as does the link", f"drawn={third}" in view.run("location.hash"), view.run("location.hash"))
    label = view.run("document.querySelector('#curves .run[data-run=\"4\"]').getAttribute('aria-label')")
    results.check("a run has its file and numbers", "Run 4" in label and "run3.etl" in label, label)
    points = view.run("[...document.querySelectorAll('#curves .dot')].map((dot) => Number(dot.getAttribute('cy')))")
    sizes = rows[third]["sizes"]
    order = sorted(range(len(sizes)), key=lambda run: -sizes[run])
    results.check("the curve is higher where more is outstanding", len(points) == len(EVENTS) and [points[run] for run in order] == sorted(points), points, sizes)
    view.run("document.querySelector('#curves .run[tabindex=\"0\"]').focus()")
    view.page.press("ArrowRight")
    results.equal("arrow keys go through the runs", view.run("document.activeElement.dataset.run"), "2")
    view.click(spark)
    view.page.rest()
    results.equal("and another click takes it away", len(view.run(LINES)), 7)
    view.run("byId('undo').click()")
    view.page.until(f"state.drawn.includes({third})")
    results.equal("which can be undone", view.run("state.drawn"), [third])
    view.run("update({ drawn: [] })")
    view.page.rest()


def covers_of(view):
    return dict(view.run("[...document.querySelectorAll('main section')].filter((one) => !one.hidden).map((one) => [one.id, one.querySelector('.covers').textContent])"))


def check_told(view, document):
    """What runs lost, and which window each run's numbers are of."""
    results = view.results
    losses = [[one for one in told["diagnostics"] if one["severity"] in ("loss", "damage")] for told in document["runs"]]
    sums = {}
    for one in sum(losses, []):
        sums.setdefault((one["name"], one["advice"]), []).append(one["count"])

    def words(name, count):
        return f"{name.replace('_', ' ').capitalize()} ({count:,})"

    wanted = [f"{words(name, sum(counts))} in {len(counts)} of {len(losses)} runs: {advice}" for (name, advice), counts in sums.items()]
    results.equal("the page begins with what runs lost", view.texts("#notices .bad li"), wanted)
    results.check("at least one run lost something", len(wanted) > 0, wanted)
    at = len(document["totals"])
    cells = view.run("[...document.querySelectorAll('#runs tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    results.equal("and the list says which", [row[at + 3] for row in cells], [", ".join(words(one["name"], one["count"]) for one in of_run) or "nothing" for of_run in losses])
    windows = [(told["window"]["from_ns"], told["window"]["to_ns"]) for told in document["runs"]]
    got = [tuple(float(word.split()[0]) * 1e9 for word in row[at + 2].split(" \u2013 ")) for row in cells]
    results.check("each run has its window", len(got) == len(windows) and all(abs(a - b) <= 0.5e6 for one, other in zip(got, windows) for a, b in zip(one, other)), got, windows)
    covers = covers_of(view)
    results.check("each part says which windows it covers", len(covers) == 4 and all("of each run" in text or "each run (see Runs)" in text for text in covers.values()), covers)


def check_taken(view, document):
    """What is copied and saved has exact numbers."""
    copy_by(view, "rows")
    first = document["rows"][view.rows("rows")[0]]
    text = clipboard(view)
    view.results.check("the clipboard has the rows", str(first["sizes"][-1]) in text and first["process"] in text, text[:300])
    lines = saved(view, "rows")
    view.results.equal("and CSV", [line[4] for line in lines[1:]], [str(document["rows"][i]["sizes"][-1]) for i in view.rows("rows")])


def check_widths(view):
    for width in (800, 390):
        view.page.resize(width)
        results = view.results
        results.check(f"{width} pixels: the page is not wider than the window", view.run("document.documentElement.scrollWidth") <= width)
        tallest = view.run("Math.max(...[...document.querySelectorAll('#rows tbody tr')].map((row) => row.getBoundingClientRect().height))")
        results.check(f"{width} pixels: names of rows keep their room", tallest < 160, tallest)
        told = hidden_columns(view.page)
        results.check(f"{width} pixels: each table with columns out of sight names them", any(wide for wide, _ in told) and all(wide == (text != "") for wide, text in told), told)
        if width < 800:
            continue
        seen = view.run("""[...document.querySelectorAll('#runs tbody [data-value], #rows tbody [data-measure^=sizes]')]
          .filter((one) => one.getBoundingClientRect().right > one.closest('.scroll').getBoundingClientRect().right + 1).length""")
        results.equal(f"{width} pixels: no amount is out of sight", seen, 0)
    view.page.resize(1280)


def use(view):
    folder = view.documents.folder
    runs = make_runs(folder)
    view.write("trend", runs, *OPTIONS)
    document = run_json("trend", *(os.path.join(folder, name) for name in runs), *OPTIONS)
    view.results.equal("the rows are those of the JSON", view.run("compared.answer.rows"), document["rows"])
    view.step("as opened", kinds=10, rows=100, runs=10)
    check_told(view, document)
    check_kinds(view, document)
    check_sorting(view, document)
    check_filters(view, document)
    check_chart(view, document)
    check_taken(view, document)
    check_widths(view)
    view.write("trend", runs, "--no-symbols", "--kind", "heap", "--group-by", "process,stack", "--sort", "count", "--to", "1s", "--top", "40")
    view.step("stacks in a window, of blocks", kinds=4, rows=100, runs=5)
    view.results.check("with a window it says which", all("0.000 s \u2013 1.000 s" in text for text in covers_of(view).values()), covers_of(view))
    view.write("trend", runs, "--no-symbols", "--process", "nobody")
    view.results.check("without memory the page says so", view.texts("#rows .empty") == ["No run has memory of this kind."], view.texts("#rows .body"))
    view.finish(1500)


if __name__ == "__main__":
    run_static(use, ComparedView)
