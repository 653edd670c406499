#!/usr/bin/env python3
"""Uses what HTML reports show of who frees memory and of churn in a real browser, and compares it with
the JSON of `report`.

    browser_frees.py

  * Every list has the rows of the report that it stands for: --pairs, --group-by free_site, free_module,
    free_stack and thread,free_thread, --unmatched, --churn by site, module and thread, --histogram size;
    of a trace and of its store, of each kind.
  * Headings sort, by pointer and by key; names search; the search narrows lists.
  * A row of the table says who frees what its function allocates.
  * The flame graph of freeing stacks adds up to what they freed, and narrows no table.
  * The clipboard and the CSV file have the rows that are listed.
  * Without call stacks of frees the page says what records them.
  * On a narrow page columns out of sight are named.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import json
import os
import subprocess

from browser_page import MAKE_TRACE, make_trace, open_report, run_in_browser
from oracle_support import run, run_json

FREES = "count size outstanding_size freed_by_other_count".split()
CHURN = "alloc_count alloc_rate alloc_bytes_rate temporary_count temporary_10_count temporary_1ms_count".split()
NO_FREER = "[not freed, or no stack recorded]"
NO_STACK = "[no stack recorded]"


def frame_text(frame):
    if frame["module"] is None:
        return frame["address"]
    return f"{frame['module']}+{frame['offset']}"


def key_text(document, row, key):
    value = row[key]
    if key in ("site", "free_site"):
        none = "[no stack]" if key == "site" else NO_FREER
        return none if value is None else frame_text(document["frames"][value])
    if key == "free_stack":
        return None if value is None else [frame_text(document["frames"][i]) for i in document["stacks"][value]]
    if key == "free_module":
        return value if value is not None else NO_FREER
    if key == "module":
        return value if value is not None else "[no module]"
    if key in ("thread", "free_thread"):
        return "[not freed, or not known]" if value is None and key == "free_thread" else str(value)
    return value


def process_text(row):
    return row["process"] if row["pid"] is None else f"{row['process']} ({row['pid']})"


def wanted_rows(trace, kind, keys, measures, *options):
    """[texts of keys, process, numbers] of each row of the report, sorted."""
    group_by = ["--group-by", ",".join(["kind", "process", *keys])]
    document = run_json("report", trace, "--kind", kind, "--no-symbols", *options, *group_by)
    rows = [
        [[key_text(document, row, key) for key in keys], process_text(row), [row[measure] for measure in measures]]
        for row in document["rows"]
    ]
    return sorted(rows, key=str)


def choose(page, section, view):
    page.run(
        f"(() => {{ const box = document.getElementById('{section}-view'); box.value = '{view}';"
        f" box.dispatchEvent(new Event('change')); {section}Section.shown = 1e6; {section}Section.draw(); }})()"
    )


def shown_rows(page, section, view, names):
    """The rows on the page: [texts of names, process, numbers], sorted."""
    choose(page, section, view)
    rows = page.run(
        f"[...document.querySelectorAll('#{section}-rows tbody tr')].filter((row) => !row.querySelector('.empty'))"
        ".map((row) => [[...row.children].map((cell) => cell.querySelector('button, span')?.textContent ?? cell.textContent),"
        " [...row.querySelectorAll('td[data-value]')].map((cell) => Number(cell.dataset.value))])"
    )
    return sorted([[texts[:names], texts[names], numbers] for texts, numbers in rows], key=str)


def without_share(rows):
    """The share of temporary allocations is worked out in the page."""
    return [[texts, process, numbers[:4] + numbers[5:]] for texts, process, numbers in rows]


def kinds_of(page):
    return page.run("kinds.map((one) => one.kind)")


def innermost(rows):
    """Of a list of stacks the page shows the innermost frame."""
    return sorted([[[NO_FREER if s is None else s[0] for s in texts], *rest] for texts, *rest in rows], key=str)


def check_lists(results, page, trace, what):
    for kind in kinds_of(page):
        page.run(f"update({{ kind: kinds.find((one) => one.kind === '{kind}') }})")
        sort = ["--sort", "freed_by_other_count"]
        for view, keys in (
            ("pairs", ["site", "free_site"]),
            ("sites", ["free_site"]),
            ("modules", ["free_module"]),
            ("threads", ["thread", "free_thread"]),
        ):
            wanted = wanted_rows(trace, kind, keys, FREES, *sort)
            got = shown_rows(page, "frees", view, len(keys))
            results.check(f"{what}: {kind}: there are {view}", len(got) > 0, len(got))
            results.equal(f"{what}: {kind}: {view} of who freed are those of report", got, wanted)
        wanted = wanted_rows(trace, kind, ["free_stack"], FREES, *sort)
        results.equal(f"{what}: {kind}: freeing stacks are those of report", shown_rows(page, "frees", "stacks", 1), innermost(wanted))
        for view, key in (("sites", "site"), ("modules", "module"), ("threads", "thread")):
            wanted = [row for row in wanted_rows(trace, kind, [key], [*CHURN, "freed_count"], "--churn") if row[2][0] or row[2][-1]]
            wanted = [[texts, process, numbers[:-1]] for texts, process, numbers in wanted]
            got = without_share(shown_rows(page, "churn", view, 1))
            results.equal(f"{what}: {kind}: churn by {key} is that of report", got, wanted)
        check_classes(results, page, trace, kind, what)
    page.run("update({ kind: kinds[0] })")


def check_classes(results, page, trace, kind, what):
    buckets = run_json("report", trace, "--histogram", "size", "--kind", kind, "--no-symbols")["histogram"]["buckets"]
    choose(page, "churn", "classes")
    got = page.run(
        "[...document.querySelectorAll('#churn-rows tbody tr')].map((row) => "
        "[...row.querySelectorAll('td[data-value]')].map((cell) => Number(cell.dataset.value)))"
    )
    keys = "count size outstanding_size rounding_size lfh_rounding_size".split()
    wanted = [[bucket[key] for key in keys if key in bucket] for bucket in buckets if bucket["kind"] == kind]
    results.equal(f"{what}: {kind}: sizes and what rounding adds", sorted(got), sorted(wanted))


def check_unmatched(results, page, trace, what):
    document = run_json("report", trace, "--unmatched", "--no-symbols", "--group-by", "kind,process,free_stack")
    wanted = [
        [[row["free_stack"] is None and NO_STACK or key_text(document, row, "free_stack")[0]], process_text(row), [row["count"]]]
        for row in document["rows"]
        if row["kind"] == "heap"
    ]
    got = shown_rows(page, "frees", "unmatched", 1)
    results.check(f"{what}: there are frees without an allocation", len(wanted) > 0)
    results.equal(f"{what}: frees without an allocation are those of report", got, sorted(wanted, key=str))


def check_totals(results, page, trace):
    totals = {one["kind"]: one for one in run_json("report", trace, "--churn", "--no-symbols")["totals"]}
    temporary, allocs = (totals["heap"][key] for key in ("temporary_count", "alloc_count"))
    choose(page, "churn", "sites")
    said = page.run("document.getElementById('churn-hint').textContent")
    results.check("the page says how much is temporary", f"{temporary:,} of {allocs:,} allocations" in said, said)
    rows = run_json("report", trace, "--pairs", "--no-symbols", "--kind", "heap")["rows"]
    other = sum(row["freed_by_other_count"] for row in rows)
    said = page.run("document.getElementById('frees-hint').textContent")
    results.check("and how many another thread freed", f"{other:,} were freed by another thread" in said, said)


def numbers_of(page, section, column):
    return page.run(
        f"[...document.querySelectorAll('#{section}-rows tbody tr')]"
        f".map((row) => Number(row.querySelectorAll('td[data-value]')[{column}].dataset.value))"
    )


def check_use(results, page):
    choose(page, "frees", "pairs")
    counts = numbers_of(page, "frees", 0)
    results.equal("pairs with most blocks come first", counts, sorted(counts, reverse=True))
    page.run("document.querySelector('#frees-rows [data-key=size] button').focus()")
    page.press("Enter")
    sizes = numbers_of(page, "frees", 1)
    results.equal("a heading sorts by its column", sizes, sorted(sizes, reverse=True))
    focus = page.run("document.activeElement.closest('th').dataset.key")
    results.equal("and keeps the focus", focus, "size")
    page.press("Enter")
    sizes = numbers_of(page, "frees", 1)
    results.equal("and the other way", sizes, sorted(sizes))
    named = page.run("document.querySelector('#frees-rows [data-key=size]').getAttribute('aria-sort')")
    results.equal("which a screen reader is told", named, "ascending")
    freer = page.run("[...document.querySelectorAll('#frees-rows tbody td button')][0].textContent")
    page.run("[...document.querySelectorAll('#frees-rows tbody td button')][0].click()")
    page.come_to_rest()
    texts = page.run("[...document.querySelectorAll('#frees-rows tbody tr')].map((row) => row.textContent)")
    results.check("a name searches for its rows", len(texts) > 0 and all(freer in text for text in texts), (freer, texts[:3]))
    page.run("clearSearch()")


def check_row(results, page, trace):
    """The first stack with blocks that somebody freed."""
    page.run("update({ kind: kinds.find((one) => one.kind === 'heap') })")
    found = page.run("rows.findIndex((row) => freersOf(row).length > 0 && row.group.kind === 'heap')")
    results.check("rows know who frees", found >= 0, found)
    site, process = page.run(f"[labels[siteOf(rows[{found}])].text, rows[{found}].group.processLabel]")
    wanted = [
        (texts[1], numbers[0])
        for texts, own, numbers in wanted_rows(trace, "heap", ["site", "free_site"], FREES, "--sort", "freed_by_other_count")
        if texts[0] == site and own == process
    ]
    lines = page.run(f"[...freersOf(rows[{found}])[0].querySelectorAll('li')].map((line) => line.textContent)")
    texts = [f"{freer} {blocks:,} {'block' if blocks == 1 else 'blocks'}," for freer, blocks in wanted]
    results.check(
        "a row of the table says who frees what its function allocates",
        len(lines) == min(len(texts), 11) and all(any(line.startswith(text) for text in texts) for line in lines[:10]),
        (lines, texts),
    )
    page.run(f"table.open.clear(); for (const {{ node }} of listNodes(buildTable())) if (node.row === null || node.row.stack >= 0) table.open.set(node.id, true); drawTable()")
    results.check("and shows it below its frames", page.run("document.querySelectorAll('td.frames .freers li').length") > 0)


def check_flame(results, page, trace):
    rows = run_json("report", trace, "--kind", "heap", "--group-by", "kind,process,free_stack", "--no-symbols")["rows"]
    wanted = sum(row["size"] for row in rows if row["free_stack"] is not None)
    before = page.run("Number(document.querySelectorAll('#rows tbody td')[0].dataset.value)")
    page.run("(() => { const box = document.getElementById('flame-metric'); box.value = 'freedBy'; box.dispatchEvent(new Event('change')); })()")
    results.equal("the flame graph of frees adds up to what was freed", page.run("flame.values[0]"), wanted)
    page.run("document.querySelector('#flame-tree .bar').focus()")
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.press("Enter")
    results.check("a bar of it zooms in", page.run("state.node") not in (None, 0))
    after = page.run("Number(document.querySelectorAll('#rows tbody td')[0].dataset.value)")
    results.equal("and leaves the table as it is", after, before)
    page.run("(() => { const box = document.getElementById('flame-metric'); box.value = 'endSize'; box.dispatchEvent(new Event('change')); })()")
    results.equal("another metric starts anew", page.run("state.node"), None)


def check_taken(results, page):
    for section in ("frees", "churn"):
        choose(page, section, "sites")
        lines = page.run(f"SHOWN['{section}']()")
        results.equal(f"CSV of {section} has the listed rows", len(lines) - 1, page.run(f"{section}Section.listed.length"))
        results.check(f"and all its columns are filled", all(len(line) == len(lines[0]) for line in lines), lines[0])
        page.run(f"document.querySelector('[data-copy={section}]').click()")
        page.until(f"document.querySelector('[data-copy={section}]').textContent !== 'Copy'")
        said = page.run(f"document.querySelector('[data-copy={section}]').textContent")
        results.check(f"{section} can be copied", said in ("Copied", "Not allowed"), said)


def check_narrow(results, page):
    page.resize(800)
    wide = page.run("document.documentElement.scrollWidth")
    results.check("a narrow page is not wider than its window", wide <= 800, wide)
    page.resize(1280)


def check_no_stacks(results, page, folder):
    trace = make_trace(folder, "battery-meter")
    open_report(page, trace)
    said = page.run("document.getElementById('frees-hint').textContent")
    results.check("without stacks of frees the page says what records them", "HeapAlloc+HeapRealloc+HeapFree" in said, said)
    views = page.run("[...document.getElementById('frees-view').options].map((one) => one.value)")
    results.equal("and lists who freed by thread alone", views, ["threads", "unmatched"])
    got = shown_rows(page, "frees", "threads", 2)
    wanted = wanted_rows(trace, "heap", ["thread", "free_thread"], FREES, "--sort", "freed_by_other_count")
    results.equal("threads are those of report", got, wanted)
    results.equal("the flame graph has no stacks of frees", page.run("FLAME_METRICS.map(([key]) => key).includes('freedBy')"), False)


def use(results, page, folder):
    trace = os.path.join(folder, "frees.etl")
    command = [MAKE_TRACE, "workload", trace, "--free-stacks", "--events", "500", "--seed", "3"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    store = os.path.join(folder, "frees.ehs")
    run("store", trace, "-o", store)
    for what, file in (("trace", trace), ("store", store)):
        open_report(page, file)
        check_lists(results, page, file, what)
        check_unmatched(results, page, file, what)
    check_totals(results, page, trace)
    check_use(results, page)
    check_row(results, page, trace)
    check_flame(results, page, trace)
    check_taken(results, page)
    check_narrow(results, page)
    check_no_stacks(results, page, folder)
    results.equal("nothing is loaded, and nothing goes wrong", [page.problems, [url for url in page.requests if not url.startswith("file:")]], [[], []])


if __name__ == "__main__":
    run_in_browser(use)
