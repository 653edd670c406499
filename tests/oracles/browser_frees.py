#!/usr/bin/env python3
"""Uses what HTML reports show of who frees memory and of churn in a real browser, and compares it with
the JSON of `report`.

    browser_frees.py

  * Every list has the rows of the report that it stands for, as many as the page has: pairs, freeing
    functions, stacks, modules and threads, frees without an allocation, churn by all that it can be
    chosen by, sizes and lifetimes; of a trace and of its store, of each kind.
  * Headings sort the rows that a page has, by key, and the focus stays.
  * A list that the page has cut says so.
  * The flame graph of the stacks that freed is that of the command, from both ends.
  * "Who frees" in a menu shows the pairs of the function that allocated.
  * Copy and CSV have the rows that are listed.
  * Without call stacks of frees the page says what records them.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import os
import shlex
import subprocess

from browser_page import MAKE_TRACE, make_trace
from browser_shown import clipboard, copy_by, saved
from oracle_support import run
from static_page import run_static

LISTS = {"freesBy": ("FREE_VIEWS", "frees"), "churnBy": ("CHURN_VIEWS", "churn")}


def shown_rows(view, part):
    """[numbers of a row] by measure, as the page lists them."""
    return view.run(f"[...document.querySelectorAll('#{part} table tr[data-row]')].map((row) => Object.fromEntries("
                    "[...row.querySelectorAll('td[data-value]')].map((cell) => [cell.dataset.measure, Number(cell.dataset.value)])))")


def check_lists(view, what):
    """All rows of each list: asked for as many as the page has, and then by its own command."""
    results = view.results
    for kind in view.run("recordedKinds()"):
        view.run(f"update({{ kind: '{kind}', lists: {{ frees: {{ sort: '', top: 5000 }}, churn: {{ sort: '', top: 5000 }} }} }})")
        for member, (views, part) in LISTS.items():
            for choice in view.run(f"Object.keys({views})"):
                view.step(f"{what}: {kind}: {part} by {choice}", lambda: view.run(f"update({{ {member}: '{choice}' }})"))
                command = view.run(f"document.querySelector('#{part} table')?.dataset.command ?? null")
                rows = shown_rows(view, part)
                document = view.documents.document(command) if command else {"rows": []}
                results.equal(f"{what}: {kind}: as many rows of {part} by {choice} as the command lists", len(rows), len(document["rows"]))
                top = int(shlex.split(command)[shlex.split(command).index("--top") + 1]) if command else 0
                said = view.run(f"document.querySelector('#{part} .after')?.textContent ?? ''")
                results.check(f"{what}: {kind}: {part} by {choice} says if it is cut", not command or ("no others" in said) == (len(rows) == top and is_cut(view, command, top)), said, len(rows), top)
    view.run("update({ kind: recordedKinds()[0], lists: {} })")
    view.page.rest()


def is_cut(view, command, top):
    words = shlex.split(command)
    words[words.index("--top") + 1] = str(top + 1)
    return len(view.documents.document(shlex.join(words))["rows"]) > top


def check_use(view):
    page, results = view.page, view.results
    values = lambda measure: [row[measure] for row in shown_rows(view, "frees")]  # noqa: E731
    view.run("update({ freesBy: 'pairs' })")
    page.rest()
    results.equal("pairs with most blocks come first", values("count"), sorted(values("count"), reverse=True))
    view.run("[...document.querySelectorAll('#frees thead button')].find((one) => one.textContent === 'Size').focus()")
    view.step("a heading sorts by its column", lambda: page.press("Enter"), frees=5)
    results.equal("by size", values("size"), sorted(values("size"), reverse=True))
    results.equal("and keeps the focus", view.run("document.activeElement.textContent"), "Size")
    view.step("and the other way", lambda: page.press("Enter"), frees=5)
    results.equal("upwards", values("size"), sorted(values("size")))
    results.equal("which a screen reader is told", view.run("document.activeElement.closest('th').getAttribute('aria-sort')"), "ascending")


def check_flame(view, what):
    """Trees of what was freed, whose bars have the sums of the command."""
    for kind in view.run("recordedKinds().filter((kind) => kind !== 'handle')"):
        view.run(f"update({{ kind: '{kind}', stacks: 'free' }})")
        for tree in ("callers", "callees"):
            view.step(f"{what}: {kind}: freed memory by {tree}", lambda: view.run(f"update({{ tree: '{tree}' }})"), flame=1)
            command = view.run("document.getElementById('flame').dataset.command")
            view.results.check(f"{what}: {kind}: is a tree of the stacks that freed", "free_stack" in command and "AIFI,AOFI" in command, command)
        bars = view.run("document.querySelectorAll('#flame .bar[data-row]').length")
        nodes = view.documents.document(command)["nodes"]
        view.results.check(f"{what}: {kind}: the page has its bars", bars > min(3, len(nodes) - 1), bars, len(nodes))
        view.run("update({ from: Math.floor(traceEnd() / 3) })")
        view.page.rest()
        said = view.run("document.querySelector('#flame .covers').textContent")
        view.results.check(f"{what}: {kind}: of a window it says that it has all", bars == 0 or "Does not follow the selected window" in said, said)
        view.run("update({ from: null })")
    view.run("update({ kind: recordedKinds()[0], stacks: 'alloc' })")
    view.page.rest()


def check_who_frees(view):
    row = view.mark("[...document.querySelectorAll('#table tr.level-4')].find((one) => !one.textContent.includes('[no stack]'))", "a-stack")
    view.step("who frees what a function allocates", lambda: view.menu(f"{row} .row-menu", "Who frees what"), frees=1)
    command, pattern = view.run("[document.getElementById('frees').dataset.command, state.freesOf.pattern]")
    document = view.documents.document(command)
    wanted = [row["count"] for row in document["rows"] if row["site"] is not None and named(document["frames"][row["site"]]) == pattern]
    view.results.check("are the pairs of that function", wanted and [one["count"] for one in shown_rows(view, "frees")] == wanted, pattern, shown_rows(view, "frees"), wanted)
    view.step("all frees again", lambda: view.click("#frees .note button"), frees=10)


def named(frame):
    return f"{frame['module']}!{frame['symbol'] or ''}"


def check_taken(view):
    for part in ("frees", "churn"):
        lines = saved(view, part)
        rows = shown_rows(view, part)
        view.results.equal(f"CSV of {part} has the listed rows", len(lines) - 1, len(rows))
        numbers = [[line[lines[0].index("Count" if part == "frees" else "Alloc Count")]] for line in lines[1:]]
        view.results.equal("with exact numbers", numbers, [[str(row["count" if part == "frees" else "alloc_count"])] for row in rows])
        copy_by(view, part)
        text = clipboard(view)
        view.results.check(f"{part} can be copied", all(line[0][:20] in text for line in lines[1:]), text[:200])


def check_no_stacks(view):
    make_trace(view.documents.folder, "battery-meter")
    view.export("battery-meter.etl", "--no-symbols")
    said = view.run("document.querySelector('#frees').textContent")
    view.results.check("without stacks of frees the page says what records them", "HeapAlloc+HeapRealloc+HeapFree" in said, said[:300])
    view.step("and lists who freed by thread", lambda: view.run("update({ freesBy: 'thread' })"), frees=4)


def use(view):
    folder = view.documents.folder
    trace = os.path.join(folder, "frees.etl")
    subprocess.run([MAKE_TRACE, "workload", trace, "--free-stacks", "--events", "500", "--seed", "3"], check=True, stdout=subprocess.DEVNULL)
    run("store", trace, "-o", os.path.join(folder, "frees.ehs"))
    view.export("frees.etl", "--no-symbols")
    check_lists(view, "trace")
    check_flame(view, "trace")
    check_who_frees(view)
    check_use(view)
    check_taken(view)
    view.export("frees.ehs", "--no-symbols")
    check_lists(view, "store")
    check_no_stacks(view)
    view.finish({"frees": 500, "churn": 500})


if __name__ == "__main__":
    run_static(use)
