#!/usr/bin/env python3
"""Uses what HTML reports show of spikes in a real browser, and takes what they show elsewhere: by copying,
as CSV, and by a link.

    browser_shown.py

The truth comes from the JSON of the program: `allocations`, `report` and `windows`.

  * Spikes are found wherever the edges of windows are; what stays is none. They are buttons.
  * The clipboard and the CSV file have the rows that are shown, with exact numbers and whole stacks.
  * A link opens the page as it was, and what is wrong in it is passed over.
  * On a narrow page no two rows read alike, and nothing is as narrow as a letter.
  * A slider that has the focus looks so.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import csv
import json
import os
import subprocess
import time
from collections import Counter

from browser_page import make_trace
from oracle_support import run_json
from static_page import TALL, WIDE, run_static

MAKE_SYMBOL_TRACE = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
MIB = 1 << 20


# --- spikes -----------------------------------------------------------------------------------


def check_exercise(view, trace):
    """Ten spikes of 10 MiB, each of 100 ms, over windows of 50 ms; two blocks of 10 MiB stay."""
    results = view.results
    view.export(os.path.basename(trace), "--no-symbols")
    view.step("the exercise", spikes=10, table=4)
    document = run_json("allocations", trace, "--kind", "virtualalloc", "--no-symbols")
    spikes = [one for one in document["rows"] if one["size"] >= MIB and one["lifetime_ns"] < 10**9]
    steady = [one for one in document["rows"] if one["size"] >= MIB and one["lifetime_ns"] >= 10**9]
    edges = view.run("source.cells.edges")
    results.equal("the exercise has spikes and what stays", (len(spikes), len(steady)), (10, 2))
    crossing = sum(sum(one["alloc_time_ns"] < edge < one["free_time_ns"] for edge in edges) > 0 for one in spikes)
    results.equal("all of them cross the edges of windows", crossing, 10)
    listed = view.run("[...document.querySelectorAll('#spikes tbody tr[data-row]')].map((row) => [Number(row.querySelector('.moment').dataset.from), Number(row.querySelector('.moment').dataset.to),"
                      " Number(row.querySelector('[data-measure=height_size]').dataset.value)])")
    large = [one for one in listed if one[2] >= 10 * MIB]
    results.equal("ten large spikes are listed, and come first", (len(large), listed[:10]), (10, large))
    missed = [one["alloc_time_ns"] for one in spikes if not any(first <= one["alloc_time_ns"] < to for first, to, _ in large)]
    results.equal("each is where its block was", missed, [])
    signs = view.run("document.querySelectorAll('#curve .sign.spike').length")
    results.check("they are signs above the curve, too", signs >= 10, signs)
    view.run("document.querySelector('#spikes .moment').click()")
    view.page.rest()
    chosen = view.run("[state.from ?? traceStart(), state.to ?? traceEnd()]")
    every = view.run("source.cells.document.window.every_ns")
    results.check("a spike selects its windows", all(abs(a - b) <= every for a, b in zip(chosen, listed[0])) and set(chosen) <= set(edges), chosen, listed[0])
    first = view.texts("#table tr.level-3, #table tr.level-2")
    results.check("and its stack is listed there", any("MemoryTestApp.exe+0x118b" in text for text in first), first)


# --- copy and CSV -----------------------------------------------------------------------------


def clipboard(view):
    """What is pasted into the search field, which is then as it was. A field of one line has no line ends."""
    page = view.page
    page.run("byId('search').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="v", commands=["paste"])
    page.call("Input.dispatchKeyEvent", type="keyUp", key="v")
    page.until("byId('search').value !== ''")
    text = page.run("byId('search').value")
    page.run("byId('search').value = ''; byId('search').dispatchEvent(new Event('input'))")
    page.rest()
    return text


def button_of(part, label):
    return f"[...document.querySelectorAll('#{part} .tools button')].find((one) => one.textContent === '{label}')"


def copy_by(view, part):
    """Presses the button of a part that copies, and waits until the page says that it has. A page may copy only
    shortly after its user did something."""
    view.run("byId('announce').textContent = ''")
    view.page.press("F8")
    view.run(button_of(part, "Copy") + ".click()")
    view.page.until("byId('announce').textContent.startsWith('Copied')")


def saved(view, part):
    """The lines of the CSV file that a part's button saves."""
    folder = view.documents.folder
    path = os.path.join(folder, part + ".csv")
    if os.path.exists(path):
        os.remove(path)
    view.page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
    view.run(button_of(part, "CSV") + ".click()")
    until = time.monotonic() + 10
    while not os.path.exists(path) and time.monotonic() < until:
        time.sleep(0.05)
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


# What the open rows of the table have, in exact numbers.
OPEN_ROWS = "[...document.querySelectorAll('#table tbody tr[data-row]')].map((row) => [...row.querySelectorAll('td.number')].map((cell) => cell.dataset.value ?? ''))"


def check_csv(view):
    results = view.results
    lines, rows = saved(view, "table"), view.run(OPEN_ROWS)
    results.equal("CSV has the rows that are open", [line[1:6] for line in lines[1:]], rows)
    results.equal("and says what is in it", lines[0][1:6], ["Outstanding Size", "Outstanding Count", "Impacting Size", "Size", "Count"])
    stacks = [line[6] for line in lines if len(line) > 6]
    results.check("stacks are whole", stacks and all(stack.count(";") > 2 for stack in stacks), lines)
    listed = run_json("report", os.path.join(view.documents.folder, "demo.etl"), "--churn", "--kind", "heap", "--no-symbols", "--group-by", "process,site", "--top", "12",
                      "--columns", "alloc_count,alloc_rate", "--sort", "alloc_count")["rows"]
    results.equal("a list, too", [line[1:3] for line in saved(view, "churn")[1:]], [[str(row["alloc_count"]), str(row["alloc_rate"])] for row in listed])
    shown = view.run("[...document.querySelectorAll('#blocks tbody tr[data-address]')].map((row) => [row.dataset.address, row.querySelector('[data-measure=size]').dataset.value])")
    results.equal("and blocks", [line[:2] for line in saved(view, "blocks")[1:]], shown)
    texts = view.run("[['=1+1', '@x', '-2', 'a,b', 'a\"b', '-x']].map((cells) => cells.map(csvCell))[0]")
    results.equal("no cell is a formula of a spreadsheet", texts, ["'=1+1", "'@x", "-2", '"a,b"', '"a""b"', "'-x"])
    document = json.loads(view.run("source.text('report', [['suspects', ''], ['kind', 'heap'], ['top', '12']])"))
    wanted = run_json("report", os.path.join(view.documents.folder, "demo.etl"), "--suspects", "--kind", "heap", "--top", "12", "--no-symbols")
    results.equal("JSON is the command's document", document["rows"], wanted["rows"])


def check_copy(view):
    results = view.results
    copy_by(view, "table")
    text = clipboard(view)
    missing = [row for row in view.run(OPEN_ROWS) if "\t".join(row) not in text]
    results.check("the clipboard has the rows", not missing and "Outstanding Size\tOutstanding Count" in text, missing, text[:300])
    view.page.press("F8")
    view.run("byId('announce').textContent = ''; byId('copy-link').click()")
    view.page.until("byId('announce').textContent.startsWith('Copied')")
    results.equal("a button copies the link", clipboard(view), view.run("location.href"))


# --- links ------------------------------------------------------------------------------------

STATE = """({ state: JSON.stringify(state), kinds: byId('overview').innerText, table: byId('table').innerText,
  flame: document.querySelector('#flame .flame-tree')?.textContent, chips: byId('chips').innerText, field: byId('search').value })"""

STEPS = (
    "update({ from: 3e9, to: 9e9 })",
    "setFilter('process', 'BatteryMeter')",
    "update({ tree: 'callers' })",
    "zoomFlame(flameChildren(flameChildren(0)[0])[0])",
    "update({ search: 'BatteryMeter' })",
    "update({ sort: 'count', columns: ['count', 'outstanding_size'] })",
    "update({ groupBy: ['module'] })",
    "update({ kind: recordedKinds()[1] }); update({ from: null, to: null, filters: [] })",
)


def check_link(view):
    """After each step its link, opened anew, shows the same."""
    results = view.results
    view.open()
    results.equal("nothing chosen, nothing in the link but the kind", view.run("location.hash"), "#kind=heap")
    for step in STEPS:
        view.run(step)
        view.page.rest()
        before, link = view.run(STATE), view.run("location.hash")
        view.open(link)
        results.equal_maps(f"{link[:70]} opens the page as it was", view.run(STATE), before)
    view.run("location.hash = '#kind=heap&from=2s&to=4s&search=%2B0x2a1f'")
    view.page.rest()
    results.equal("a link pasted into the page works too", view.run("[state.search, state.from, state.to]"), ["+0x2a1f", 2 * 10**9, 4 * 10**9])
    view.run("location.hash = '#kind=heap&from=2010ms&to=4001ms'")
    view.page.rest()
    results.equal("a window between edges is one of the page's", view.run("[state.from, state.to]"), [2 * 10**9, 4 * 10**9])
    view.step("with numbers of its own", table=10)
    view.run("document.querySelector('nav a[href=\"#spikes\"]').click()")
    view.page.rest()
    results.check("going to a part leaves it", "from=2s" in view.run("location.hash"), view.run("location.hash"))
    results.equal("and goes there", view.run("document.activeElement.closest('section')?.id"), "spikes")
    view.open("#kind=none&from=x&to=&flameZoom=zz&sort=no&groupBy=a;b&size=1K..&__proto__=1")
    view.step("a link of nonsense", table=10)
    results.equal("what a link says wrong is passed over", view.run("[state.kind, state.from, state.to, state.flameZoom, state.groupBy.join()]"), ["heap", None, None, "", "process,heap,type,stack"])
    said = view.run("document.querySelector('#table .covers').textContent")
    results.check("and a filter that the page cannot answer is told", "Does not follow Size: 1K.." in said, said)


# --- narrow pages -----------------------------------------------------------------------------

NAMES = """[...document.querySelectorAll('#table tbody tr[data-id]')].map((row) => [row.dataset.id.split('\\u0001').slice(0, -1).join(), row.querySelector('.label')?.innerText ?? row.innerText])"""

# Cells in which words stand one letter a line.
LETTERS = """[...document.querySelectorAll('main th, main td')].filter((one) => one.checkVisibility() && one.textContent.trim().length > 3)
  .filter((one) => { const range = document.createRange(); range.selectNodeContents(one); const rows = new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
    return rows > 3 && rows > one.textContent.trim().length / 2.5; }).map((one) => one.textContent)"""


def check_narrow(view, name):
    page, results = view.page, view.results
    page.call("Emulation.setDeviceMetricsOverride", width=800, height=TALL, deviceScaleFactor=1, mobile=False)
    page.rest()
    rows = view.run(NAMES)
    alike = [row for row, times in Counter(map(tuple, rows)).items() if times > 1]
    results.check(f"{name}: no two rows of the table read alike", rows and not alike, *alike[:5])
    results.equal(f"{name}: no words stand one letter a line", view.run(LETTERS), [])
    wide = view.run("document.documentElement.scrollWidth")
    results.check(f"{name}: a narrow page is not wider than its window", wide <= 800, wide)
    page.call("Emulation.setDeviceMetricsOverride", width=WIDE, height=TALL, deviceScaleFactor=1, mobile=False)
    page.rest()


def export_alike(view):
    """Stacks with the same site and caller, some with the same third frame."""
    trace = os.path.join(view.documents.folder, "alike.etl")
    base = 0x7FF600000000
    lines = "module \\Device\\HarddiskVolume3\\app.exe 7ff600000000 100000 1\n"
    for number, deeper in enumerate(((0x30,), (0x40, 0x50), (0x40, 0x60), (0x40,), ())):
        for word in ("alloc", "freed"):
            stack = " ".join(f"{base + offset:x}" for offset in (0x10, 0x20, *deeper))
            lines += f"{word} {1000 + number:x} {stack}\n"
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=lines.encode(), check=True)
    view.export("alike.etl", "--no-symbols")


# --- focus ------------------------------------------------------------------------------------

# How a slider looks: colour and width of its ring, and how the ring stands out from the page.
RING = """(() => {
  const light = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((one) => Number(one) / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ring = document.querySelector('#brush-start .ring'), style = getComputedStyle(ring);
  if (style.stroke === 'none') return null;
  const two = [light(style.stroke), light(getComputedStyle(document.querySelector('#curve .panel')).backgroundColor)].sort((a, b) => b - a);
  const box = ring.getBoundingClientRect(), grip = document.querySelector('#brush-start .grip').getBoundingClientRect();
  return { contrast: (two[0] + 0.05) / (two[1] + 0.05), width: parseFloat(style.strokeWidth),
    opacity: Number(getComputedStyle(byId('brush-start')).opacity), around: box.width > grip.width && box.height > grip.height };
})()"""


def check_focus(view):
    page, results = view.page, view.results
    view.run("update({ from: 3e9, to: 9e9 })")
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        page.rest()
        view.run("document.activeElement.blur()")
        results.equal(f"{scheme}: a slider without the focus has no ring", view.run(RING), None)
        view.run("byId('select-none').focus(); byId('brush-start').focus()")
        ring = view.run(RING)
        good = ring and ring["contrast"] >= 3 and ring["width"] >= 2 and ring["opacity"] == 1 and ring["around"]
        results.check(f"{scheme}: with the focus it has one that is seen", good, ring)
    page.prefer("light")
    view.run("update({ from: null, to: null })")
    page.rest()


def use(view):
    folder = view.documents.folder
    exercise = make_trace(folder, "virtualalloc-exercise")
    make_trace(folder, "demo")
    check_exercise(view, exercise)
    view.export("demo.etl", "--no-symbols")
    check_csv(view)
    check_copy(view)
    check_narrow(view, "demo")
    check_focus(view)
    check_link(view)
    export_alike(view)
    check_narrow(view, "alike")
    view.results.equal("no errors or warnings", view.page.problems, [])
    foreign = [url for url in view.page.requests if not url.startswith((*view.opened, "about:", "data:", "blob:"))]
    view.results.equal("no requests but for the files", foreign, [])


if __name__ == "__main__":
    run_static(use)
