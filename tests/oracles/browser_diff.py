#!/usr/bin/env python3
"""The page of a comparison, opened in a real browser.

Two random traces are compared. After each step, every number that is painted is compared with what the
command prints that the page shows for it: cards, rows, lifetimes. Bars of every process from either side,
the search, and where the menu of a row leads are held against the same document. The folded form is read
as flamegraph.pl reads it, and must add up to the totals of each kind.
"""

import os
import subprocess
from collections import defaultdict

from browser_page import MAKE_TRACE, hidden_columns
from browser_shown import clipboard, copy_by, saved
from oracle_support import ETLHEAP, run, run_json
from static_page import ComparedView, run_static

MEASURE = "outstanding_size"
PAIR = ["base.etl", "new.etl"]


def make_pair(folder):
    for name, events in zip(PAIR, ("2500", "4000")):
        subprocess.run([MAKE_TRACE, "workload", os.path.join(folder, name), "--seed", "3", "--events", events], check=True,
                       stdout=subprocess.DEVNULL)


def check_folded(results, pair, document):
    wanted = {total["kind"]: (total["base_" + MEASURE], total["new_" + MEASURE]) for total in document["totals"]}
    got = defaultdict(lambda: (0, 0))
    lines = run("diff", *pair, "--no-symbols", "--format", "folded").decode().splitlines()
    for line in lines:
        path, before, after = line.rsplit(" ", 2)
        kind = path.split(";")[0]
        got[kind] = (got[kind][0] + int(before), got[kind][1] + int(after))
    results.equal_maps("folded: both sides of each kind", dict(got), {k: v for k, v in wanted.items() if v != (0, 0)})
    stacks = [line.rsplit(" ", 2)[0] for line in lines]
    results.check("folded: paths have frames", len(stacks) > 100 and max(map(lambda s: s.count(";"), stacks)) > 8)


# --- the flame graph --------------------------------------------------------------------------


def by_process(rows, kind):
    sums = defaultdict(lambda: [0, 0])
    for row in rows:
        if row["kind"] == kind:
            sums[row["process"]][0] += row["base_" + MEASURE]
            sums[row["process"]][1] += row["new_" + MEASURE]
    return {name: tuple(sum) for name, sum in sums.items()}


BARS = """[...document.querySelectorAll('#difference .bar[aria-level="%d"]')].map((bar) =>
    [bar.dataset.name, Number(bar.dataset.base), Number(bar.dataset.new), bar.className, parseFloat(bar.style.width),
     Number(bar.dataset.baseSum), Number(bar.dataset.newSum), bar.getAttribute('aria-label')])"""


def choose_width(view, width):
    view.choose("Width", width)
    view.page.rest()


def check_flame(view, rows):
    for kind in view.kinds():
        view.choose_kind(kind)
        wanted = by_process(rows, kind)
        for width, side in (("new", 1), ("base", 0)):
            choose_width(view, width)
            whole = sum(amounts[side] for amounts in wanted.values())
            bars = view.run(BARS % 2)
            got = {bar[0]: (bar[1], bar[2]) for bar in bars}
            large = {name: amounts for name, amounts in wanted.items() if whole > 0 and amounts[side] / whole > 0.01}
            view.results.equal_maps(f"{kind}, width {width}: bars of processes", {n: got.get(n) for n in large}, large)
            wrong = [bar for bar in bars
                     if abs(bar[4] - 100 * wanted.get(bar[0], (0, 0))[side] / whole) > 0.01
                     or ("grew" in bar[3]) != (bar[2] > bar[1]) or ("shrank" in bar[3]) != (bar[2] < bar[1])]
            view.results.check(f"{kind}, width {width}: widths and colours", bars and not wrong, *wrong[:3])
    view.choose_kind("heap")
    choose_width(view, "new")


def check_callers(view, rows):
    """From the innermost function, each site's sums."""
    document = view.document()
    sums = defaultdict(lambda: [0, 0])
    for row in rows:
        if row["kind"] == "heap":
            frame = None if row["stack"] is None else document["frames"][document["stacks"][row["stack"]][0]]
            name = "[no stack]" if frame is None else f"{frame['module']}+{frame['offset']}" if frame["module"] else frame["address"]
            for side, key in enumerate(("base_", "new_")):
                sums[row["process"], name][side] += row[key + MEASURE]
    view.choose("Tree of", "callers")
    view.page.rest()
    bars = view.run("""[...document.querySelectorAll('#difference .bar[aria-level="3"]')].map((bar) => {
      const name = differenceNodes.get(bar).parent.text; return [name, bar.dataset.name, Number(bar.dataset.base), Number(bar.dataset.new)]; })""")
    wrong = [bar for bar in bars if sums[bar[0], bar[1]] != bar[2:]]
    view.results.check(f"callers: {len(bars)} bars of innermost functions", len(bars) > 10 and not wrong, *wrong[:3])
    view.choose("Tree of", "callees")
    view.page.rest()


def check_keys(view):
    page, results = view.page, view.results
    view.run("document.querySelector('#difference .bar[tabindex=\"0\"]').focus()")
    page.press("ArrowDown")
    page.press("Enter")
    page.rest()
    results.check("keys zoom in", "differenceZoom=" in view.run("location.hash"), view.run("location.hash"))
    label = view.run("document.querySelector('#difference .bar[aria-selected=true]').getAttribute('aria-label')")
    details = view.run("document.querySelector('#difference .flame-details').textContent")
    results.check("and tell of the bar", all(part in details for part in label.split(", ")), label, details)
    view.step("zoomed", difference=3)
    link = view.run("location.hash")
    view.open(link)
    results.equal("the link opens the page as it was", view.run("document.querySelector('#difference .bar[aria-selected=true]').getAttribute('aria-label')"), label)
    view.run("document.querySelector('#difference .bar[aria-selected=true]').focus()")
    page.press("Escape")
    page.rest()
    results.equal("Escape zooms out", view.run("state.differenceZoom"), "")


# --- the table --------------------------------------------------------------------------------


def check_table(view, rows):
    results = view.results
    wanted = [i for i, row in enumerate(rows) if row["kind"] == "heap" and row["state"] != "unchanged"]
    view.show_all("changes")
    shown = view.rows("changes")
    results.equal("the table has every change, the largest first", [abs(rows[i]["delta_" + MEASURE]) for i in shown],
                  sorted((abs(rows[i]["delta_" + MEASURE]) for i in wanted), reverse=True))
    results.equal("each once", sorted(shown), wanted)
    view.step("all changes", **{"kinds-changed": 12, "changes": 500})
    for title, key in (("Base", "base_"), ("Difference", "delta_"), ("New", "new_")):
        view.run(f"[...document.querySelectorAll('#changes thead button')].find((one) => one.textContent === '{title}').click()")
        view.page.rest()
        got = [rows[i][key + MEASURE] for i in view.rows("changes")]
        results.check(f"sorted by {title}", got == sorted(got, reverse=True) and len(got) > 40, got[:5])
    view.run("update({ lists: {} })")
    word = next(row for row in rows if row["kind"] == "heap" and row["state"] == "added")["process"][:5].lower()
    view.search(word)
    view.show_all("changes")
    few = len(view.rows("changes"))
    results.check("a search leaves rows that match", 0 < few <= len(wanted), few)
    results.check("and says how many", view.texts("#changes .hint")[-1].startswith(f"{few:,} "), view.texts("#changes .hint"))
    results.check("bars that match are marked", view.run("document.querySelectorAll('#difference .match').length") > 0)
    told = view.run("document.querySelector('#difference .flame-told').textContent")
    results.check("and counted", told.startswith(f"{view.run('document.querySelectorAll(`#difference .match`).length'):,} bar"), told)
    view.search("")
    copy_by(view, "changes")
    text, first = clipboard(view), rows[view.rows("changes")[0]]
    results.check("the clipboard has the rows", str(first["delta_" + MEASURE]) in text and first["process"] in text, text[:300])
    lines = saved(view, "changes")
    results.equal("and CSV", [line[2] for line in lines[1:]], [str(rows[i]["delta_" + MEASURE]) for i in view.rows("changes")])


def check_row(view, rows):
    gone = next(row for row in rows if row["kind"] == "heap" and row["state"] == "removed")
    index = rows.index(gone)
    view.show_all("changes")
    view.menu(f"#changes tr[data-row='{index}'] .row-menu", "Show in the flame graph")
    view.page.rest()
    view.results.check("what is gone is zoomed to, wide by the larger side", view.run("byId('difference-width').value") == "larger", view.run("state.differenceWidth"))
    bar = view.run("(() => { const one = document.querySelector('#difference .bar[aria-selected=true]'); return [Number(one.dataset.base), Number(one.dataset.new)]; })()")
    view.results.check("its bar has at least its amounts", bar[0] >= gone["base_" + MEASURE] and bar[1] >= gone["new_" + MEASURE], bar, gone)
    view.run("update({ differenceZoom: '', differenceWidth: 'new', lists: {} })")
    view.page.rest()


# --- lifetimes --------------------------------------------------------------------------------


def by_mean(rows, kind):
    """Freed blocks of both sides, and the sums of their lifetimes."""
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        if row["kind"] != kind:
            continue
        for side, key in enumerate(("base", "new")):
            if row[f"{key}_lifetime_mean_ns"] is not None:
                sums[row["process"]][side] += row[f"{key}_freed_count"]
                sums[row["process"]][2 + side] += row[f"{key}_freed_count"] * row[f"{key}_lifetime_mean_ns"]
    return sums


def check_lived(view, rows):
    """Bars are as wide as blocks were freed, and coloured by their mean lifetime."""
    for kind in view.kinds():
        view.choose_kind(kind)
        wanted = by_mean(rows, kind)
        whole = sum(amounts[1] for amounts in wanted.values())
        wrong = []
        bars = view.run(BARS % 2)
        for name, base, new, classes, width, base_sum, new_sum, _ in bars:
            amounts = wanted[name]
            means = [sums / count if count else None for sums, count in ((base_sum, base), (new_sum, new))]
            is_known = None not in means
            if [base, new] != amounts[:2] or any(abs(a - b) > 1e-9 * max(a, b) for a, b in zip((base_sum, new_sum), amounts[2:])) \
                    or abs(width - 100 * new / whole) > 0.01 or ("grew" in classes) != (is_known and means[1] > means[0]) \
                    or ("shrank" in classes) != (is_known and means[1] < means[0]):
                wrong.append((name, amounts, base, new, classes, width))
        view.results.check(f"lifetimes of {kind}: {len(bars)} bars of processes", (bars or whole == 0) and not wrong, *wrong[:3])
    view.choose_kind("heap")


def check_lifetimes(view):
    results = view.results
    results.check("without --lifetimes there are none", view.run("byId('lifetimes').hidden"))
    view.write("diff", PAIR, "--no-symbols", "--lifetimes")
    document = view.document()
    rows = document["rows"]
    view.choose_kind("heap")
    check_lived(view, rows)
    view.show_all("changes")
    view.step("lifetimes", **{"lifetimes": 30, "changes": 500, "kinds-changed": 10})
    wanted = [i for i, row in enumerate(rows) if row["kind"] == "heap" and row["state"] != "unchanged"]
    results.equal("the table has the rows of the JSON, in their order", view.rows("changes"), wanted)
    own = [bucket for bucket in document["histogram"]["buckets"] if bucket["kind"] == "heap"]
    sums = [sum(bucket[f"{side}_count"] for bucket in own) for side in ("base", "new")]
    shares = [bucket[f"{side}_count"] / total for bucket in own for side, total in zip(("base", "new"), sums)]
    bars = view.run("[...document.querySelectorAll('#lifetimes .meter-bar')].map((bar) => parseFloat(bar.style.width))")
    results.check("bars are shares, and the largest has all the room", len(bars) == len(shares) and
                  all(abs(bar - 100 * share / max(shares)) < 0.01 for bar, share in zip(bars, shares)), bars[:5], shares[:5])
    check_widths(view, "lifetimes, ")


# --- what is told -----------------------------------------------------------------------------


def covers_of(view):
    return dict(view.run("[...document.querySelectorAll('main section')].filter((one) => !one.hidden).map((one) => [one.id, one.querySelector('.covers').textContent])"))


def check_told(view):
    document, results = view.document(), view.results
    ends = [document[side]["window"]["to_ns"] for side in ("base", "new")]
    results.check("the windows differ", ends[0] != ends[1], ends)
    wanted = [f"{word} 0.000000 s \u2013 {end / 1e9:.6f} s" for word, end in zip(("Base", "New"), ends)]
    covers = covers_of(view)
    results.check("each part says which two windows it covers", len(covers) >= 4 and all(text.startswith(", ".join(wanted)) for text in covers.values()), covers, wanted)
    cells = view.run("[...document.querySelectorAll('#runs tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    results.equal("and the list of runs has them", [[row[0], row[2]] for row in cells],
                  [[f"{word}: {name}", text.removeprefix(f"{word} ")] for word, name, text in zip(("Base", "New"), PAIR, wanted)])
    for word, side, row in zip(("base", "new"), ("base", "new"), cells):
        lost = [one for one in document[side]["diagnostics"] if one["severity"] in ("loss", "damage")]
        notice = [text for text in view.texts("#notices .bad") if f"The {word} run" in text]
        results.check(f"what the {word} run lost is told at the top, with advice, and in the list", lost and notice and
                      all(one["advice"] in notice[0] and f"({one['count']:,})" in notice[0] and f"({one['count']:,})" in row[3] for one in lost), lost, notice, row)


def check_widths(view, name=""):
    results = view.results
    for width in (800, 390):
        view.page.resize(width)
        results.check(f"{name}{width} pixels: the page is not wider than the window", view.run("document.documentElement.scrollWidth") <= width)
        tallest = view.run("Math.max(...[...document.querySelectorAll('#changes tbody tr')].map((row) => row.getBoundingClientRect().height))")
        results.check(f"{name}{width} pixels: names of rows keep their room", tallest < 160, tallest)
        told = hidden_columns(view.page)
        results.check(f"{name}{width} pixels: each table with columns out of sight names them", all(wide == (text != "") for wide, text in told), told)
    results.check(f"{name}390 pixels: some table has", any(wide for wide, _ in told), told)
    view.page.resize(1400, 14000)


def check_empty_side(view):
    """What one side has nothing of is drawn as the other side has it."""
    folder, results = view.documents.folder, view.results
    view.write("diff", PAIR, "--no-symbols", "--kind", "heap", "--group-by", "process", "--process", "nobody")
    results.equal("nothing on either side is said", view.texts("#difference .empty"), ["Neither run has memory of this kind."])
    for scenario in ("virtualalloc-exercise", "demo"):
        subprocess.run([MAKE_TRACE, scenario, os.path.join(folder, f"{scenario}.etl")], check=True, stdout=subprocess.DEVNULL)
    view.write("diff", ["demo.etl", "virtualalloc-exercise.etl"], "--no-symbols", "--kind", "virtualalloc")
    view.step("all is gone", **{"kinds-changed": 4})
    results.equal("all is gone: the width is that of the larger side", view.run("[byId('difference-width').value, "
                  "document.querySelectorAll('#difference .shrank').length > 2]"), ["larger", True])


def check_cut(view):
    """A page with few of the rows has the others as one bar, and says that it has no more rows."""
    results = view.results
    view.write("diff", PAIR, "--no-symbols", "--top", "5", "--kind", "heap")
    view.step("five rows", changes=5)
    document = view.document()
    total = document["totals"][0]
    bars = {bar[0]: bar[1:3] for bar in view.run(BARS % 2)}
    rest = [total[f"{side}_{MEASURE}"] - sum(row[f"{side}_{MEASURE}"] for row in document["rows"]) for side in ("base", "new")]
    results.equal("what other rows have is a bar", bars.get("[other rows]"), rest)
    results.check("the list says that it has no others", "this page has no others" in view.run("document.querySelector('#changes .after').textContent"), view.texts("#changes .after"))


def check_size(view):
    """Traces with more deep stacks than fit: the page has fewer rows, is small, and says so."""
    folder, results = view.documents.folder, view.results
    names = []
    for number in range(2):
        names.append(f"many{number}.etl")
        lines = "module \\Device\\HarddiskVolume3\\app.exe 7ff600000000 7000000 1\n"
        for block in range(9000):
            value, frames = block * 2654435761 + number, []
            for depth in range(24):
                value = (value * 6364136223846793005 + 1442695040888963407 + depth) % 2**64
                frames.append(f"{0x7FF600000000 + (value >> 38) % 0x7000000:x}")
            lines += f"alloc {block % 997 + 16:x} {' '.join(frames)}\n"
        tool = os.path.join(os.path.dirname(ETLHEAP), "make_symbol_trace")
        subprocess.run([tool, os.path.join(folder, names[-1])], input=lines.encode(), check=True)
    path = view.write("diff", names, "--no-symbols")
    size, document = os.path.getsize(path), view.document()
    results.check("a page of many stacks is below 2 MB", 1e6 < size < 2e6, size)
    results.check("it has fewer of them", 1000 < len(document["rows"]) < 10000, len(document["rows"]))
    view.step("many stacks", changes=100)
    view.run("update({ lists: { changes: { sort: '', top: 10000 } } })")
    view.page.rest()
    results.check("and says so", "this page has no others" in view.run("document.querySelector('#changes .after').textContent"), view.texts("#changes .after"))
    chosen = view.write("diff", names, "--no-symbols", "--top", "9500")
    results.check("who chooses a number gets it", os.path.getsize(chosen) > size and len(view.document()["rows"]) == 9500, os.path.getsize(chosen))


def use(view):
    folder, results = view.documents.folder, view.results
    make_pair(folder)
    pair = [os.path.join(folder, name) for name in PAIR]
    document = run_json("diff", *pair, "--no-symbols", "--all")
    check_folded(results, pair, document)
    view.write("diff", PAIR, "--no-symbols")
    results.equal("the rows are those of the JSON", view.run("compared.answer.rows"), document["rows"])
    grown = max(document["rows"], key=lambda row: row["delta_" + MEASURE])["kind"]
    results.equal("the page begins with the kind whose row grew most", view.run("state.kind"), grown)
    view.step("as opened", **{"kinds-changed": 12, "changes": 100})
    check_told(view)
    check_flame(view, document["rows"])
    check_callers(view, document["rows"])
    check_keys(view)
    check_table(view, document["rows"])
    check_row(view, document["rows"])
    check_widths(view)
    check_lifetimes(view)
    check_empty_side(view)
    check_cut(view)
    view.write("diff", PAIR, "--no-symbols", "--per-second", "--group-by", "kind,process,site", "--sort", "count")
    view.step("rates of sites", **{"kinds-changed": 9, "changes": 100})
    results.check("rates are told as such", "/s" in view.texts("#changes tbody td")[1] and "per second" in view.run("byId('page-subtitle').textContent"), view.texts("#changes tbody td")[:4])
    view.write("diff", PAIR, "--no-symbols", "--churn", "--group-by", "process,module", "--kind", "heap")
    view.step("churn of modules", **{"kinds-changed": 3, "changes": 20})
    check_size(view)
    view.finish(2500)


if __name__ == "__main__":
    run_static(use, ComparedView)
