#!/usr/bin/env python3
"""Uses what HTML reports show of spikes, groups and blocks in a real browser, and takes it
elsewhere: by copying, as CSV, and by its link.

    browser_shown.py

The truth comes from the JSON of the program: `allocations`, `report` and `windows`.

  * Spikes are found wherever the edges of windows are; what stays is none.
  * A search counts in the cards, the figures and the table.
  * The table by module and by thread has the rows of `report` by these.
  * A stack opens to its blocks, and a list that is cut says what lists all.
  * The clipboard and the CSV file have the rows that are shown.
  * A link opens the page as it was.
  * On a narrow page no two rows read alike, and columns out of sight are named.
  * A slider that has the focus looks so.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import csv
import json
import os
import shlex
import subprocess
import time
from collections import Counter, defaultdict

from browser_page import figure, make_trace, open_report, run_in_browser, table_value
from oracle_support import run, run_json

MAKE_SYMBOL_TRACE = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
MIB = 1 << 20
PART = 10  # a spike lasts at most this part of the trace

# --- spikes -----------------------------------------------------------------------------------


def level_of(curve, window, edges):
    """The most that is outstanding all through so many edges in a row that touch the window;
    the slow way. Beyond the ends of the trace nothing is known."""
    best = 0
    for first in range(window - edges + 1, window + 2):
        best = max(best, min(curve[max(0, first) : first + edges]))
    return best


def blocks_of(trace, kind):
    return run_json("allocations", trace, "--kind", kind, "--no-symbols")


def buttons(page):
    """(from, to, size) of the spikes above the table."""
    listed = page.run("[...document.querySelectorAll('#spike-moments [data-size]')].map((one) => ({...one.dataset}))")
    return [(int(one["from"]), int(one["to"]), int(one["size"])) for one in listed]


def spike_rows(page):
    """The rows below: (site, numbers)."""
    return page.run(
        "[...document.querySelectorAll('#spike-rows tbody tr:not(.more)')].map((row) => [row.querySelector('th').firstChild.textContent,"
        " [...row.querySelectorAll('td[data-value]')].map((cell) => Number(cell.dataset.value))])"
    )


def check_exercise(results, page, trace):
    """Ten spikes of 10 MiB, each of 100 ms, over windows of 50 ms; two blocks of 10 MiB stay."""
    document = blocks_of(trace, "virtualalloc")
    blocks = document["rows"]
    spikes = [one for one in blocks if one["size"] >= MIB and one["lifetime_ns"] < 10**9]
    steady = [one for one in blocks if one["size"] >= MIB and one["lifetime_ns"] >= 10**9]
    edges = page.run("report.window.edges_ns")
    results.equal("the exercise has spikes and what stays", (len(spikes), len(steady)), (10, 2))
    crossing = sum(sum(one["alloc_time_ns"] < edge < one["free_time_ns"] for edge in edges) > 0 for one in spikes)
    results.equal("all of them cross the edges of windows", crossing, 10)
    found = buttons(page)
    large = [one for one in found if one[2] >= 10 * MIB]
    results.equal("ten large spikes are listed, and nothing else", (len(large), len(found)), (10, 10))
    missed = [
        one["alloc_time_ns"]
        for one in spikes
        if not any(edges[first] <= one["alloc_time_ns"] and one["free_time_ns"] <= edges[to] for first, to, _ in large)
    ]
    results.equal("each is where its block was", missed, [])
    rows = spike_rows(page)
    results.equal("one stack made them, ten times", (rows[0][0], rows[0][1][:2]), ("MemoryTestApp.exe+0x118b", [10 * MIB, 10]))
    sites = {one["stack"] and document["frames"][document["stacks"][one["stack"]][0]]["offset"] for one in steady}
    results.check("what stays is no spike", not [row for row in rows if any(row[0].endswith(f"+{site}") for site in sites)], rows)
    page.run("document.querySelector('#spike-moments .quiet').click()")
    results.check("smaller spikes are listed on demand", len(buttons(page)) > 10)
    page.run("document.querySelector('#spike-moments [data-size]').click()")
    first, to, _ = large[0]
    results.equal("a spike selects its windows", page.run("[state.selection.from, state.selection.to]"), [first, to])
    results.check("and its stack is listed there", spike_rows(page)[0][1][0] == 10 * MIB, spike_rows(page))
    page.run("update({ selection: null })")


def check_levels(results, page, trace, kind):
    """The page's levels are those found the slow way, from the windows of the program."""
    page.run(f"update({{ kind: kinds.find((one) => one.kind === '{kind}') }})")
    every = page.run("report.window.every_ns")
    windows = run_json(
        "windows", trace, "--every", f"{every}ns", "--group-by", "kind", "--at-exit", "leaked", "--no-symbols"
    )["windows"]
    rows = [next((row for row in window["rows"] if row["kind"] == kind), None) for window in windows]
    first = rows[0]
    curve = [first["aofi_size"] + first["aofo_size"] if first else 0]
    curve += [row["outstanding_size"] if row else 0 for row in rows]
    edges = max(1, int(len(rows) / PART + 0.5))
    wanted = [level_of(curve, window, edges) for window in range(len(rows))]
    results.equal(f"{kind}: levels of {len(rows)} windows", page.run("[...levelsOf(state.kind.cells.curve())]"), wanted)


def check_spikes_are_short(results, page, trace):
    """What a spike has came and went: so much short-lived memory was there at its time."""
    page.run("update({ kind: kinds.find((one) => one.kind === 'heap') }); spikes.allMoments = true; drawMoments()")
    edges = page.run("report.window.edges_ns")
    longest = (edges[-1] - edges[0]) / PART + 2 * page.run("report.window.every_ns")
    short = [one for one in blocks_of(trace, "heap")["rows"] if one["lifetime_ns"] is not None and one["lifetime_ns"] <= longest]
    wrong = []
    for first, to, size in buttons(page):
        there = [one for one in short if one["alloc_time_ns"] < edges[to] and one["free_time_ns"] >= edges[first]]
        if sum(one["size"] for one in there) < size:
            wrong.append((first, to, size, sum(one["size"] for one in there)))
    results.check("spikes are memory that came and went, not the end of what lasted", not wrong, *wrong[:5])
    page.run("update({})")


# --- search -----------------------------------------------------------------------------------


def type_in(page, text):
    page.run("document.getElementById('search').focus()")
    for character in text:
        page.press(character)
    page.come_to_rest()


def check_search(results, page, trace):
    """Cards, figures and table have the sums of the stacks that are found."""
    type_in(page, "+0x2a1f")
    report = run_json("report", trace, "--no-symbols")
    has_frame = [any(report["frames"][i]["offset"] == "0x2a1f" for i in stack) for stack in report["stacks"]]
    sums = defaultdict(Counter)
    for row in report["rows"]:
        if row["stack"] is not None and has_frame[row["stack"]]:
            sums[row["kind"]].update(end=row["outstanding_size"], size=row["size"], count=row["count"], net=row["impacting_size"])
            sums[row["kind"]]["allocated"] += row["size"] if row["type"] in ("AIFO", "AIFI") else 0
    cards = page.run("Object.fromEntries([...document.querySelectorAll('.kind')].map((one) => [one.dataset.kind, Number(one.querySelector('.big').dataset.value)]))")
    results.equal("cards count what a search finds", cards, {kind: sums[kind]["end"] for kind in cards})
    whole = next(one for one in report["totals"] if one["kind"] == "heap")
    results.check("which is less than all", 0 < sums["heap"]["end"] < whole["outstanding_size"])
    got = [figure(page, key) for key in ("endSize", "net", "allocSize")]
    results.equal("so do the figures", got, [sums["heap"][key] for key in ("end", "net", "allocated")])
    got = [table_value(page, "All heap", column) for column in (0, 2, 3, 4)]
    results.equal("and the table", got, [sums["heap"][key] for key in ("end", "net", "size", "count")])
    said = page.run("document.querySelector('#selection .narrowed').textContent")
    results.check("the page says so", said.startswith("These figures count only the stack that matches the search.") and "640 KiB" in said, said)
    page.press("Escape")
    page.come_to_rest()
    results.equal("all again", figure(page, "endSize"), whole["outstanding_size"])


# --- groups -----------------------------------------------------------------------------------

# Rows of the table at a level: the names above them, and outstanding size, size and count.
TREE = """(() => {
  const rows = [], visit = (node, names) => {
    const mine = node.level > 1 ? [...names, node.text] : names;
    if (node.level === LEVEL) rows.push([mine, node.sums.endSize, node.sums.size, node.sums.count]);
    for (const child of node.children.values()) visit(child, mine);
  };
  visit([...buildTable().children.values()][0], []);
  return rows;
})()"""


def tree_of(page, level):
    return {tuple(names): numbers for names, *numbers in page.run(TREE.replace("LEVEL", str(level)))}


def numbers_of(row):
    return [row["outstanding_size"], row["size"], row["count"]]


def added(pairs):
    sums = {}
    for key, numbers in pairs:
        sums[key] = [a + b for a, b in zip(sums.get(key, [0, 0, 0]), numbers)]
    return sums


def choose_grouping(page, word):
    page.run(
        f"byId('table-grouping').value = '{word}'; byId('table-grouping').dispatchEvent(new Event('change'))"
    )


def check_groups(results, page, name, trace):
    for kind in page.run("kinds.map((one) => one.kind)"):
        page.run(f"update({{ kind: kinds.find((one) => one.kind === '{kind}') }})")
        choose_grouping(page, "module")
        rows = run_json("report", trace, "--kind", kind, "--group-by", "module", "--no-symbols")["rows"]
        has_stack = run_json("report", trace, "--kind", kind, "--group-by", "module,stack", "--no-symbols")["rows"]
        bare = added(("[no stack]" if row["stack"] is None else row["module"] or "[no module]", numbers_of(row)) for row in has_stack)
        results.equal_maps(f"{name}, {kind}: by module", {key[0]: row for key, row in tree_of(page, 2).items()}, bare)
        with_module = sum(row["size"] for row in rows if row["module"])
        results.equal(f"{name}, {kind}: as report has it", sum(row[1] for key, row in bare.items() if not key.startswith("[no ")), with_module)
        choose_grouping(page, "thread")
        level = 3 if kind == "virtualalloc" else 4
        keys = "process,thread" if kind == "virtualalloc" else "process,heap,thread"
        wanted = added(
            (
                (f"{row['process']} ({row['pid']})" if row["pid"] is not None else row["process"],)
                + ((row["heap"],) if row.get("heap") else ())
                + (f"Thread {row['thread']}" if row["thread"] is not None else "Unknown thread",),
                numbers_of(row),
            )
            for row in run_json("report", trace, "--kind", kind, "--group-by", keys, "--no-symbols")["rows"]
        )
        results.equal_maps(f"{name}, {kind}: by thread", tree_of(page, level), wanted)
        choose_grouping(page, "heap")


def check_threads_stay_whole(results, page):
    """Threads have no windows; the page says so and shows the whole trace."""
    page.run("update({ kind: kinds[0] })")
    choose_grouping(page, "thread")
    whole = table_value(page, "All heap", 3)
    page.run("select(10, 40)")
    results.equal("threads are of the whole trace", table_value(page, "All heap", 3), whole)
    said = page.run("byId('table-hint').textContent")
    results.check("and the page says so", "selected window" in said and "--thread" in said, said)
    page.run("update({ selection: null })")
    choose_grouping(page, "heap")


# --- blocks -----------------------------------------------------------------------------------


def block_of(row):
    end = "not freed" if row["free_time_ns"] is None else f"{row['free_time_ns'] / 1e9:.9f} s"
    return (row["address"], row["size"], f"{row['alloc_time_ns'] / 1e9:.9f} s", end, str(row["thread"]))


def shown_blocks(page, site):
    """Opens the first stack with such a site: what the list says, and its blocks."""
    page.run(
        f"[...document.querySelectorAll('#rows tr[aria-expanded=false]')].find((row) => row.querySelector('th').textContent.includes({json.dumps(site)})).click()"
    )
    cells = page.run(
        "[...document.querySelectorAll('table.blocks tbody tr')].map((row) => [...row.children].map((cell) => cell.dataset.value ?? cell.textContent))"
    )
    said = page.run("document.querySelector('.blocks-text p').textContent")
    return said, [(address, int(size), start, end, thread) for address, size, start, end, _, thread in cells]


def check_blocks(results, page, name, trace, kind, site, few):
    page.run(f"update({{ kind: kinds.find((one) => one.kind === '{kind}') }})")
    document = blocks_of(trace, kind)
    offset = site.split("+")[1]
    mine = [row for row in document["rows"] if document["frames"][document["stacks"][row["stack"]][0]]["offset"] == offset]
    said, shown = shown_blocks(page, site)
    results.check(f"{name}: blocks of a stack are listed", 0 < len(shown) == len(set(shown)), said)
    results.equal(f"{name}: they are those of allocations", set(shown) - {block_of(row) for row in mine}, set())
    if not few:
        results.equal(f"{name}: all of them", set(shown), {block_of(row) for row in mine})
        results.check(f"{name}: which the page says", said.startswith(f"All {len(mine)} blocks"), said)
        return
    results.check(f"{name}: a list that is cut says so", said.startswith("25 of the 80 blocks"), said)
    command = shlex.split(said[said.index("etlheap allocations") :])[1:]
    results.check(f"{name}: and what lists all", command[1] == trace, command)
    listed = {block_of(row) for row in json.loads(run(*command, "--format", "json", "--no-symbols"))["rows"]}
    results.equal(f"{name}: it does", {block_of(row) for row in mine} - listed, set())


def check_outstanding_first(results, page, trace):
    """Of a stack with both, blocks that were not freed come first, then the largest."""
    wrong = page.run(
        "rows.filter((row) => row.blocks?.some((one, i) => i > 0 && (row.blocks[i - 1].to === null) === (one.to === null)"
        " ? row.blocks[i - 1].size < one.size : i > 0 && one.to === null)).length"
    )
    results.equal("blocks are in their order", wrong, 0)
    blocks = [row for kind in ("heap", "virtualalloc", "extent") for row in blocks_of(trace, kind)["rows"]]
    addresses = {(row["address"], row["size"]) for row in blocks}
    listed = page.run("rows.flatMap((row) => (row.blocks ?? []).map((one) => [one.address, one.size]))")
    results.equal("all are of the trace", [one for one in listed if tuple(one) not in addresses], [])
    results.check("there are many", len(listed) > 100, len(listed))
    times = page.run("[0, 1, 11, 12].map((number) => readTime({ next: () => number }))")
    results.equal("times may be unknown, zero, and before the trace", times, [None, 0, 5, -5])


# --- copy and CSV -----------------------------------------------------------------------------

# What the open rows of the table have, in exact numbers.
OPEN_ROWS = """[...document.querySelectorAll('#rows > tbody > tr[data-id]:not(.more)')]
  .map((row) => [...row.querySelectorAll(':scope > td')].slice(0, -1).map((cell) => cell.dataset.value ?? ''))"""


def clipboard(page):
    """What is pasted into the search field, which is then as it was."""
    page.run("byId('search').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="v", commands=["paste"])
    page.call("Input.dispatchKeyEvent", type="keyUp", key="v")
    page.until("byId('search').value !== ''")
    text = page.run("byId('search').value")
    page.run("byId('search').value = ''; byId('search').dispatchEvent(new Event('input'))")
    page.come_to_rest()
    return text


def copy_by(page, button):
    """Presses a button that copies, and waits until it says that it has. A page may copy only shortly
    after its user did something."""
    page.press("F8")
    page.run(f"document.querySelector('{button}').click()")
    page.until(f"document.querySelector('{button}').textContent === 'Copied'")


def saved(folder, name):
    path = os.path.join(folder, name)
    until = time.monotonic() + 10
    while not os.path.exists(path) and time.monotonic() < until:
        time.sleep(0.05)
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def check_csv(results, page, folder):
    page.run("update({ kind: kinds[0] })")
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
    page.run("document.querySelector('[data-csv=rows]').click()")
    lines = saved(folder, "demo-heap-rows.csv")
    rows = page.run(OPEN_ROWS)
    results.equal("CSV has the rows that are open", [line[-len(rows[0]) :] for line in lines[1:]], rows)
    results.equal("and says what is in it", lines[0][:3] + lines[0][5:7], ["Kind", "Process", "Handle", "Frames", "Outstanding Size (bytes)"])
    results.check("every line is as long", len({len(line) for line in lines}) == 1, lines[0])
    stacks = [line for line in lines if line[5].count(";") > 2]
    results.check("stacks are whole", stacks and all(line[5].startswith(line[4]) for line in stacks), lines)
    page.run("document.querySelector('[data-csv=spikes]').click()")
    spikes = saved(folder, "demo-heap-spikes.csv")
    results.equal("the spikes too", [[int(line[4]), int(line[5])] for line in spikes[1:]], [row[1][:2] for row in spike_rows(page)])


def check_blocks_csv(results, page, folder):
    """Of the stack that is open."""
    page.run("[...document.querySelectorAll('.blocks-text button')].at(-1).click()")
    lines = saved(folder, "demo-heap-blocks.csv")
    shown = page.run("[...document.querySelectorAll('table.blocks tbody tr')].map((row) => [row.children[0].textContent, row.children[1].dataset.value])")
    results.equal("CSV has the blocks of a stack", [line[:2] for line in lines[1:]], shown)
    results.check("with what they are", lines[0][2] == "Allocated at (s)" and lines[1][4:6] == ["none", "7012"], lines[:2])


def check_copy(results, page):
    copy_by(page, "[data-copy=rows]")
    text = clipboard(page)
    # A field of one line has no line ends.
    for row in page.run(OPEN_ROWS):
        results.check("the clipboard has a row", "\t".join(row) in text, row, text[:400]) if "\t".join(row) not in text else None
    results.check("the clipboard has the rows", text.startswith("Kind\tProcess\tHandle\tType\tStack\tFrames\tOutstanding Size (bytes)"), text[:200])
    copy_by(page, "#copy-link")
    results.equal("a button copies the link", clipboard(page), page.run("location.href"))


# --- links ------------------------------------------------------------------------------------

STATE = """({ kind: state.kind.kind, selection: state.selection, group: state.group?.label ?? null,
  node: state.node === null ? null : flameText(state.node), depth: state.node === null ? 0 : flame.tree.depth[state.node],
  search: state.search, grouping: table.grouping, sort: [table.sort, table.ascending], flame: [flame.direction, flame.metric],
  shown: document.querySelector('#rows > tbody').innerText, figures: byId('selection').innerText, field: byId('search').value })"""

STEPS = (
    "select(30, 90)",
    "update({ group: groups.find((one) => one.kind === 'heap') })",
    "byId('flame-direction').value = 'callers'; byId('flame-direction').dispatchEvent(new Event('change'))",
    "zoomFlame(flameChildren(flameChildren(0)[0])[0])",
    "byId('search').value = 'BatteryMeter'; byId('search').dispatchEvent(new Event('input'))",
    "sortTable('peak')",
    "choose('module')",
    "update({ kind: kinds[1] }); update({ selection: null })",
    "choose('heap')",
)


def check_link(results, page, path):
    """After each step its link, opened anew, shows the same."""
    results.equal("nothing chosen, nothing in the link", page.run("location.hash"), "")
    open_path = "file://" + os.path.abspath(path)
    opened = []
    for step in STEPS:
        page.run(step.replace("choose(", "((word) => { byId('table-grouping').value = word; byId('table-grouping').dispatchEvent(new Event('change')); })("))
        page.come_to_rest()
        page.come_to_rest()
        before, link = page.run(STATE), page.run("location.hash")
        page.call("Page.navigate", url="about:blank")
        page.open(path, link)
        page.come_to_rest()
        opened.append(open_path)
        after = page.run(STATE)
        results.equal_maps(f"{link[:70]} opens the page as it was", after, before)
    page.run("location.hash = '#kind=heap&from=2&to=4&search=%2B0x2a1f'")
    page.come_to_rest()
    results.equal("a link pasted into the page works too", page.run("[state.search, edge(state.selection.from), edge(state.selection.to)]"), ["+0x2a1f", 2 * 10**9, 4 * 10**9])
    page.run("document.querySelector('nav a[href=\"#spikes\"]').click()")
    page.come_to_rest()
    results.check("going to a section leaves it", "search=" in page.run("location.hash"), page.run("location.hash"))
    results.equal("and goes there", page.run("document.activeElement.id"), "spikes")
    page.run("location.hash = '#kind=none&from=x&to=&heap=y&zoom=zz&sort=no&group=no&flame=no&bytes=no'")
    page.come_to_rest()
    results.equal("what a link says wrong is passed over", page.run("[state.kind.kind, state.selection, state.node, table.grouping, table.sort]"), ["heap", None, None, "heap", "endSize"])
    return opened


# --- narrow pages -----------------------------------------------------------------------------

# Visible names of rows that have the same parent, or process and heap.
NAMES = """[
  [...document.querySelectorAll('#rows > tbody > tr[data-id]')].map((row) => [row.dataset.id.replace(/[/][^/]*$/, ''), row.querySelector('th')?.innerText ?? '']),
  [...document.querySelectorAll('#spike-rows tbody tr')].map((row) => [row.querySelector('td').innerText, row.querySelector('th')?.innerText ?? ''])]"""

CUT = """[...document.querySelectorAll('#rows > tbody > tr > th, #spike-rows tbody th')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 || getComputedStyle(one).textOverflow === 'ellipsis').map((one) => one.innerText)"""

# Columns that are not wholly inside of their panel, and those that the panel names.
HIDDEN = """[...document.querySelectorAll('.panel.scroll')].map((panel) => {
  const right = panel.getBoundingClientRect().right;
  const titles = [...panel.querySelectorAll(':scope > table > thead > tr > *')].filter((one) => one.getBoundingClientRect().right > right + 1);
  const note = panel.querySelector('.columns-hidden');
  return [titles.map((one) => one.textContent), note.innerText, note.getBoundingClientRect().right <= right + 1];
})"""


def check_narrow(results, page, name):
    page.resize(800)
    page.run("document.querySelectorAll('#rows tr[aria-expanded=false]').forEach((row) => activateRow(row.dataset.id))")
    for which, rows in zip(("table", "spikes"), page.run(NAMES)):
        alike = [row for row, times in Counter(map(tuple, rows)).items() if times > 1]
        results.check(f"{name}: no two rows of the {which} read alike", rows and not alike, *alike[:5])
    results.equal(f"{name}: no name is cut", page.run(CUT), [])
    hidden = page.run(HIDDEN)
    wrong = [one for one in hidden if not all(title in one[1] for title in one[0]) or not one[2] or (one[1] != "" and not one[0])]
    results.check(f"{name}: columns out of sight are named", not wrong and any(one[0] for one in hidden), wrong, hidden)
    page.run("document.querySelector('#table .panel').scrollLeft = 10000")
    page.come_to_rest()
    said = page.run("document.querySelector('#table .columns-hidden').innerText")
    results.check(f"{name}: those on the left as well", "Outstanding Size" in said and "Over time" not in said, said)
    page.resize(1280)
    first = page.run(HIDDEN)[0]
    results.equal(f"{name}: a wide page has them all", (first[0], first[1]), ([], ""))


def open_alike(page, folder):
    """Stacks with the same site and caller, some with the same third frame."""
    trace = os.path.join(folder, "alike.etl")
    base = 0x7FF600000000
    lines = "module \\Device\\HarddiskVolume3\\app.exe 7ff600000000 100000 1\n"
    for number, deeper in enumerate(((0x30,), (0x40, 0x50), (0x40, 0x60), (0x40,), ())):
        for word in ("alloc", "freed"):
            stack = " ".join(f"{base + offset:x}" for offset in (0x10, 0x20, *deeper))
            lines += f"{word} {1000 + number:x} {stack}\n"
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=lines.encode(), check=True)
    return open_report(page, trace)


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
  const two = [light(style.stroke), light(getComputedStyle(byId('chart').closest('.panel')).backgroundColor)].sort((a, b) => b - a);
  const box = ring.getBoundingClientRect(), grip = document.querySelector('#brush-start .grip').getBoundingClientRect();
  return { contrast: (two[0] + 0.05) / (two[1] + 0.05), width: parseFloat(style.strokeWidth),
    opacity: Number(getComputedStyle(byId('brush-start')).opacity), around: box.width > grip.width && box.height > grip.height };
})()"""


def check_focus(results, page):
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        page.come_to_rest()
        page.run("document.activeElement.blur()")
        results.equal(f"{scheme}: a slider without the focus has no ring", page.run(RING), None)
        page.run("byId('select-none').focus(); byId('brush-start').focus()")
        ring = page.run(RING)
        good = ring and ring["contrast"] >= 3 and ring["width"] >= 2 and ring["opacity"] == 1 and ring["around"]
        results.check(f"{scheme}: with the focus it has one that is seen", good, ring)
    page.prefer("light")


def use(results, page, folder):
    exercise, demo, workload = (make_trace(folder, name) for name in ("virtualalloc-exercise", "demo", "workload"))
    opened = [open_report(page, exercise)]
    check_exercise(results, page, exercise)
    check_levels(results, page, exercise, "virtualalloc")
    check_blocks(results, page, "exercise", exercise, "virtualalloc", "MemoryTestApp.exe+0x118b", False)
    opened.append(open_report(page, demo))
    for kind in ("heap", "virtualalloc", "extent"):
        check_levels(results, page, demo, kind)
    check_spikes_are_short(results, page, demo)
    page.run("update({ kind: kinds[0] })")
    check_search(results, page, demo)
    check_groups(results, page, "demo", demo)
    check_threads_stay_whole(results, page)
    check_blocks(results, page, "demo", demo, "heap", "BatteryMeter.exe+0x8c1b", True)
    check_csv(results, page, folder)
    check_blocks_csv(results, page, folder)
    check_copy(results, page)
    check_narrow(results, page, "demo")
    check_focus(results, page)
    opened.append(open_report(page, demo))
    opened += check_link(results, page, demo + ".html")
    opened.append(open_report(page, workload))
    check_levels(results, page, workload, "heap")
    check_groups(results, page, "workload", workload)
    check_outstanding_first(results, page, workload)
    opened.append(open_alike(page, folder))
    check_narrow(results, page, "alike")
    results.equal("no errors or warnings", page.problems, [])
    asked = [url for url in page.requests if not url.startswith("blob:")]
    results.equal("no requests but for the files", [url.split("#")[0] for url in asked], opened)


if __name__ == "__main__":
    run_in_browser(use)
