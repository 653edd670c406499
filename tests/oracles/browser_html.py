#!/usr/bin/env python3
"""Uses HTML reports in a real browser, as people do, and compares what they show.

    browser_html.py

  * A page draws without errors, warnings or requests, light and dark, and on paper.
  * Totals, and the figures of a window that is selected with the pointer, are those
    of `report` and `windows`.
  * Everything can be done with the keyboard: kinds, brush, flame graph, table, sort.
  * Search, zoom and filters show the sums that the report has for them.
  * Names that look like markup stay text.
  * The map of address space has the regions of `report --map`, and the keyboard and the pointer
    say what each part of a strip is.
  * Printed pages are A4, and nothing is cut at their edges.
  * The flame graph says functions first, in colours that are theirs in every run.
  * To a screen reader every control has a name, and tables and trees are ones.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import json
import os
import re
import subprocess

import llvm_tools
import oracle_symbols
from browser_page import figure, make_trace, open_report, run_in_browser, table_value
from oracle_support import run, run_json

MAKE_SYMBOL_TRACE = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
WIDGETS = {"button", "radio", "slider", "searchbox", "combobox", "treeitem", "treegrid", "tree", "table", "link"}


def focused(page):
    return page.run("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")


def check_totals(results, page, trace):
    for total in run_json("report", trace, "--no-symbols")["totals"]:
        card = page.run(f"document.querySelector('[data-kind={total['kind']}] .big').dataset.value")
        results.equal(f"card of {total['kind']}", int(card), total["outstanding_size"])
        page.run(f"document.querySelector('[data-kind={total['kind']}]').click()")
        got = [table_value(page, f"All {total['kind']}", i) for i in range(5)]
        words = "outstanding_size outstanding_count impacting_size size count".split()
        results.equal(f"table of {total['kind']}", got, [total[word] for word in words])
        flame = page.run("Number(document.querySelector('#flame-tree .bar')?.dataset.value ?? 0)")
        results.equal(f"flame graph of {total['kind']}", flame, total["outstanding_size"])
    page.run("document.querySelector('[data-kind=heap]').click()")


def check_brush(results, page, trace):
    """Drags over a part of the chart, and reads off which windows that is."""
    left, top, width, height = page.box("#chart .surface")
    page.drag((left + width * 0.3, top + height / 2), (left + width * 0.6, top + height / 3))
    page.come_to_rest()
    chosen = page.run("state.selection")
    results.check("dragging selects a third of the windows", chosen and 40 < chosen["to"] - chosen["from"] < 90, chosen)
    every = page.run("report.window.every_ns")
    windows = run_json(
        "windows", trace, "--every", f"{every}ns", "--group-by", "kind", "--at-exit", "leaked", "--no-symbols"
    )["windows"][chosen["from"] : chosen["to"]]
    rows = [row for window in windows for row in window["rows"] if row["kind"] == "heap"]
    wanted = {
        "endSize": rows[-1]["outstanding_size"],
        "net": sum(row["impacting_size"] for row in rows),
        "allocSize": sum(row["aifi_size"] + row["aifo_size"] for row in rows),
        "freeSize": sum(row["aifi_size"] + row["aofi_size"] for row in rows),
        "peak": max(row["peak_size"] for row in rows),
    }
    results.equal("figures of the selection", {key: figure(page, key) for key in wanted}, wanted)
    got = [table_value(page, "All heap", column) for column in (0, 1, 2, 4, 6)]
    results.equal("so does the table", got, [wanted[key] for key in ("endSize", "net", "allocSize", "freeSize", "peak")])
    below = page.run(
        "[...document.querySelectorAll('#rows tbody tr.level-2')]"
        ".reduce((sum, row) => sum + Number(row.querySelectorAll('td')[2].dataset.value), 0)"
    )
    results.equal("processes add up to it", below, wanted["allocSize"])
    page.run("document.getElementById('brush-end').focus()")
    page.press("ArrowRight")
    page.press("ArrowLeft", shift=True)
    results.equal("arrow keys move an end of it", page.run("state.selection.to"), chosen["to"] - 9)
    results.equal("and keep the focus", page.run("document.activeElement.id"), "brush-end")
    page.press("Escape")
    results.equal("Escape selects the whole trace", page.run("state.selection"), None)
    page.run("document.getElementById('brush-start').focus()")
    page.press("End")
    results.equal("End goes to the last window", page.run("state.selection.to - state.selection.from"), 1)
    page.press("Home")
    page.run("document.getElementById('select-peak').click()")
    peak = page.run("state.kind.peak")
    results.equal("the peak is in the window selected for it", figure(page, "peak"), peak["size"])
    page.run("document.getElementById('select-steepest').click()")
    whole = run_json("windows", trace, "--every", f"{every}ns", "--kind", "heap", "--group-by", "kind", "--at-exit", "leaked", "--no-symbols")
    rates = [(row["impacting_size"] / (window["to_ns"] - window["from_ns"]), row["impacting_size"])
             for window in whole["windows"] for row in window["rows"]]
    results.equal("the steepest rise has the most bytes per second", figure(page, "net"), max(rates)[1])
    page.run("document.getElementById('select-none').click()")


def check_search(results, page, trace):
    page.run("document.body.focus()")
    page.press("/")
    results.equal("/ goes to the search", page.run("document.activeElement.id"), "search")
    for character in "+0x2a1f":
        page.press(character)
    page.come_to_rest()
    rows = run_json("report", trace, "--kind", "heap", "--no-symbols")
    has_frame = [
        any(rows["frames"][i]["offset"] == "0x2a1f" for i in stack) for stack in rows["stacks"]
    ]
    found = [row for row in rows["rows"] if row["stack"] is not None and has_frame[row["stack"]]]
    wanted = sum(row["outstanding_size"] for row in found)
    results.equal("search shows the stacks that have the frame", table_value(page, "All heap", 0), wanted)
    results.check("and marks it", page.run("document.querySelectorAll('.bar.match').length") == 1)
    said = page.run("document.getElementById('search-result').textContent")
    results.check("and says how much that is", said.startswith("1 row matches: 320 KiB"), said)
    page.press("Escape")
    page.come_to_rest()
    results.equal("Escape ends the search", page.run("state.search"), "")


def check_suspects(results, page, trace):
    """The list says what `report --suspects` says."""
    wanted = run_json("report", trace, "--suspects", "--no-symbols", "--kind", "heap", "--group-by", "kind,process,stack")["rows"]
    shown = page.run("[...document.querySelectorAll('#suspect-rows tbody tr')].map((row) => "
                     "[...row.querySelectorAll('td')].slice(0, 5).map((cell) => Number(cell.dataset.value ?? cell.textContent.replace(' %', ''))))")
    results.equal("suspects have the figures of report", shown,
                  [[row["score"], row["outstanding_size"], round(row["outstanding_share_millionths"] / 1e4, 1), row["growth_rate"],
                    row["never_freed_count"]] for row in wanted])
    texts = page.run("[...document.querySelectorAll('#suspect-rows tbody th')].map((cell) => cell.textContent)")
    results.check("and say why", len(texts) == len(wanted) > 0 and all(row["reason"] in text for row, text in zip(wanted, texts)), texts)


def check_flame(results, page):
    page.run("document.querySelector('#flame-tree .bar').focus()")
    for _ in range(6):
        page.press("ArrowDown")
    page.press("ArrowRight")
    name = focused(page)
    page.press("Enter")
    page.come_to_rest()
    results.check("arrow keys go down a stack", "BatteryMeter.exe+0x2a58, 320 KiB" in name, name)
    results.check("Enter zooms and keeps the focus", focused(page) == name, focused(page))
    results.equal("the table has its stacks alone", table_value(page, "All heap", 0), 327680)
    results.check("the chart has its curve", page.run("document.querySelectorAll('#chart .focus').length") == 1)
    page.press("Escape")
    page.run("document.getElementById('flame-reset').click()")
    results.equal("reset shows all again", table_value(page, "All heap", 0), 655360)
    page.run("document.getElementById('flame-direction').value = 'callers';"
             "document.getElementById('flame-direction').dispatchEvent(new Event('change'))")
    results.equal("from the allocating function too", table_value(page, "All heap", 0), 655360)


def check_table(results, page):
    page.run("document.querySelector('#rows th[data-key=size] button').focus()")
    page.press("Enter")
    page.press("Enter")
    page.come_to_rest()
    sort = page.run("document.querySelector('#rows th[data-key=size]').getAttribute('aria-sort')")
    results.equal("Enter on a heading sorts, and again the other way", sort, "ascending")
    page.press("Enter")
    page.run("document.querySelector('#rows tbody tr[tabindex=\"0\"]').focus()")
    page.press("ArrowDown")
    page.press("ArrowLeft")
    closed = page.run("document.activeElement.getAttribute('aria-expanded')")
    page.press("ArrowRight")
    results.equal("arrow keys close a row and open it", [closed, page.run("document.activeElement.getAttribute('aria-expanded')")], ["false", "true"])
    page.press("End")
    page.press("Home")
    results.check("Home goes to the first row", "All heap" in focused(page), focused(page))
    page.run("[...document.querySelectorAll('#rows tr.level-5')][0].click()")
    frames = page.run("document.querySelectorAll('#rows .frames li').length")
    results.check("a stack opens to its frames", frames > 3, frames)


def check_names(results, page):
    """What a screen reader is told."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    nodes = [node for node in nodes if not node.get("ignored")]
    roles = {}
    for node in nodes:
        roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    nameless = [role for role in WIDGETS for name in roles.get(role, []) if not name.strip()]
    results.equal("every control has a name", nameless, [])
    missing = [role for role in ("radio", "slider", "treeitem", "treegrid", "table", "searchbox") if role not in roles]
    results.equal("there are the roles that it has controls of", missing, [])
    unreachable = page.run(
        "[...document.querySelectorAll('[onclick], .kind, .bar, tr[data-id]')].filter((one) => one.tabIndex < 0 && !one.closest('[role=tree], [role=treegrid], [role=radiogroup]')).length"
    )
    results.equal("nothing is for the mouse alone", unreachable, 0)
    one_each = page.run(
        "['#kinds', '#flame-tree', '#rows tbody'].map((box) => document.querySelectorAll(box + ' > [tabindex=\"0\"]').length)"
    )
    results.equal("a group of controls is one stop of the Tab key", one_each, [1, 1, 1])


SUMS_THAT_DIFFER = """(() => {
  const wrong = [], known = state.group === null ? amountsOfKind(state.kind) : amountsOfGroup(state.group);
  const nodes = [...buildTable().children.values()];
  for (const key of ["endSize", "endCount", "net"])
    if (nodes[0].sums[key] !== known[key]) wrong.push(["all", key, nodes[0].sums[key], known[key]]);
  for (const node of nodes) {
    const below = [...node.children.values()];
    nodes.push(...below);
    for (const key of below.length > 0 ? TABLE_SUMS : []) {
      const sum = below.reduce((total, one) => total + one.sums[key], 0);
      if (sum !== node.sums[key]) wrong.push([node.text, key, node.sums[key], sum]);
    }
  }
  return wrong;
})()"""


def check_sums(results, page):
    """Every row of the table is the sum of those below it."""
    for change in ("0", "select(20, 60)", "select(0, 1)", "update({ group: groups[0] })", "update({ group: null, selection: null })"):
        page.run(change)
        results.equal(f"rows add up after {change}", page.run(SUMS_THAT_DIFFER), [])


def check_map(results, page, trace):
    """Regions and figures of every process, and what a strip says of its parts."""
    document = run_json("report", trace, "--map", "--no-symbols")
    names = page.run("[...document.querySelectorAll('#map-process option')].map((one) => one.textContent)")
    wanted = [f"{one['process']} ({one['pid']})" for one in document["processes"]][:12]
    results.equal("map: processes, most memory first", names, wanted)
    for at, process in enumerate(document["processes"][:12]):
        page.run(f"document.getElementById('map-process').value = {at}; drawMapProcess()")
        rows = page.run(
            "[...document.querySelectorAll('#map-rows tbody tr')].map((row) => [row.dataset.address,"
            " ...[...row.querySelectorAll('td[data-value]')].map((cell) => Number(cell.dataset.value))])")
        keys = "address size committed_size outstanding_size outstanding_count".split()
        chosen = sorted(process["map"], key=lambda row: (-(row["committed_size"] or 0), -row["outstanding_size"], -row["size"]))[:60]
        results.equal(f"map of {wanted[at]}: {len(chosen)} regions", sorted(rows), sorted([row[key] for key in keys if row[key] is not None] for row in chosen))
        figures = page.run("[...document.querySelectorAll('#map-figures [data-map]')].map((one) => Number(one.dataset.value))")
        results.equal(f"map of {wanted[at]}: sums", figures, [process[key] for key in ("reserved_size", "committed_size", "outstanding_size")])
    strips = page.run("document.querySelectorAll('.strip').length")
    page.run("document.querySelector('.strip').scrollIntoView({ block: 'center', behavior: 'instant' }); document.querySelector('.strip').focus()")
    page.press("End")
    last = page.run("[...Array(1)].map(() => { const s = document.activeElement; return [s.getAttribute('aria-valuenow') === "
                    "s.getAttribute('aria-valuemax'), s.getAttribute('aria-valuetext')]; })[0]")
    results.check(f"map: End goes to the last part of a strip, of {strips}", strips > 0 and last[0] and ": " in last[1], last)
    results.equal("map: what the part is stands below the table", page.run("document.getElementById('map-details').textContent"), last[1])
    page.run("document.activeElement.blur()")
    page.run("document.getElementById('map-process').value = 0; drawMapProcess(); [...document.querySelectorAll('.strip')]"
             ".sort((a, b) => b.getBoundingClientRect().width - a.getBoundingClientRect().width)[0].id = 'widest'")
    page.box("#widest")
    page.come_to_rest()  # the page may still scroll to what had the focus
    left, top, width, height = page.box("#widest")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + width / 2, y=top + height / 2, button="none", buttons=0)
    page.come_to_rest()
    told = page.run("[document.getElementById('map-details').textContent, document.getElementById('widest').getAttribute('aria-valuetext')]")
    results.check("map: the pointer says what a part is", told[0].startswith("0x") and told[0] == told[1], told, [left, top, width, height])


def check_themes(results, page):
    theme = "document.documentElement.dataset.theme"
    results.equal("the theme is the system's", page.run(theme), "dark")
    page.run("document.getElementById('theme').click()")
    results.equal("a button changes it", page.run(theme), "light")


HOSTILE = '</script><img\u00a0src=x\u00a0onerror=owned()>"\'`&lt;${owned()}.dll'


def check_hostile_names(results, page, folder):
    """The name of a module is text at every place, whatever is in it."""
    trace = os.path.join(folder, "hostile.etl")
    lines = f"module \\Device\\HarddiskVolume3\\{HOSTILE} 7ff600000000 10000 1\nalloc 100 7ff600001234 7ff600002345\n"
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=lines.encode("latin-1"), check=True)
    opened = open_report(page, trace)
    shown = page.run("document.querySelector('#module-rows tbody th').textContent")
    wanted = run_json("report", trace, "--no-symbols")["frames"][0]["module"]
    results.equal("a hostile name is shown as it is", shown, wanted)
    results.check("it is hostile", "</script><img" in wanted, wanted)
    results.equal("and makes no elements", page.run("document.images.length"), 0)
    return opened


# A4 without its margins of 12 mm, in CSS pixels of 1/96 inch.
PAPER_WIDTH = int((210 - 2 * 12) / 25.4 * 96)
A4_POINTS = (210 / 25.4 * 72, 297 / 25.4 * 72)

# What stands outside of the paper, or is cut by a box that it is in. Bars of the flame graph end
# in an ellipsis where they are too narrow for their names, and the graph ends at a level.
CUT_ON_PAPER = """(() => {
  const cut = [], width = document.documentElement.clientWidth;
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    if (box.width === 0 || one.matches(".sr, .bar, #flame-tree") || one.closest(".bar, script, .skip, svg")) continue;
    const hides = style.overflowX !== "visible" && style.display !== "inline" && one.scrollWidth > one.clientWidth + 1;
    if (box.right > width + 0.5 || box.left < -0.5 || hides)
      cut.push(`${one.tagName}#${one.id}.${one.className} ${box.left}..${box.right} of ${width}: ${one.textContent.slice(0, 60)}`);
  }
  return cut;
})()"""


def check_paper(results, page, folder, name):
    """Pages are A4, and everything is inside of them."""
    path = os.path.join(folder, name + ".pdf")
    page.print(path)
    with open(path, "rb") as file:
        boxes = re.findall(rb"/MediaBox *\[ *([0-9. ]+)\]", file.read())
    sizes = {tuple(round(float(number)) for number in box.split()) for box in boxes}
    results.equal(f"{name}: pages are A4", sizes, {(0, 0, *(round(points) for points in A4_POINTS))})
    page.emulate_paper(PAPER_WIDTH)
    cut = page.run(CUT_ON_PAPER)
    results.check(f"{name}: nothing is cut at the edge of the paper", cut == [], len(cut), *cut[:6])
    drawn = page.run("[...document.querySelectorAll('#chart svg, #flame-tree')].map((one) => one.getBoundingClientRect().width)")
    results.check(f"{name}: chart and flame graph have its width", all(width > 0.9 * PAPER_WIDTH for width in drawn), drawn)
    levels = page.run("Math.max(...flame.tree.depth.filter((_, node) => flame.bars.has(node))) + 1")
    said = page.run("document.getElementById('flame-cut').textContent")
    held = page.run("Math.round(parseFloat(getComputedStyle(byId('flame-tree')).maxHeight) / BAR_HEIGHT)")
    results.equal(f"{name}: levels that the paper has no place for are told", said.split(" ")[0], str(levels - held) if levels > held else "")
    page.emulate_screen()
    results.equal(f"{name}: the screen has its chart back", page.run("chart.paperWidth"), None)


# --- functions in the flame graph ---------------------------------------------------------

BARS = """Object.fromEntries([...document.querySelectorAll('#flame-tree .bar')]
  .filter((bar) => bar.querySelector('.of'))
  .map((bar) => [bar.firstChild.textContent, [bar.querySelector('.of').textContent, bar.style.getPropertyValue('--hue'),
    bar.style.getPropertyValue('--tone'), bar.getAttribute('aria-label').startsWith(bar.firstChild.textContent + ' in ')]]))"""


def open_named(page, folder, name, program, places):
    """The bars that a report of these stacks shows, and its document."""
    trace = os.path.join(folder, name + ".etl")
    lines = program.lines() + "".join(
        oracle_symbols.memory("alloc", 4096 + number, stack) for number, stack in enumerate(places))
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=lines.encode(), check=True)
    symbols = ["--symbols", os.path.dirname(program.pdb)]
    run("export", trace, "--format", "html", *symbols, "-o", trace + ".html")
    page.open(trace + ".html")
    page.come_to_rest()
    return page.run(BARS), run_json("report", trace, *symbols, "--no-cull"), trace + ".html"


def check_functions(results, page, folder):
    """Bars say the function first, and a function has one colour in all runs."""
    if llvm_tools.version() is None:
        print("skipped: no clang, lld and llvm of one version, 16 to 19, to make a program with symbols")
        return []
    program = oracle_symbols.made_program("functions-x64", "sample_alloc.cpp", "x86_64", ["-O0"], [])
    code = [program.at(rva + i) for rva, size, is_code in program.sections if is_code for i in range(0, size, 40)]
    first, document, opened = open_named(page, folder, "functions-1", program, [code[i:i + 3] for i in range(0, 12, 3)])
    functions = {frame["symbol"]: frame["module"] for frame in document["frames"] if frame["symbol"]}
    results.check("bars have the function first and its module behind it", len(first) > 3 and all(
        functions.get(re.sub(r"\+0x[0-9a-f]+$", "", function)) == module and is_first for function, (module, _, _, is_first) in first.items()), first)
    colours = {function: bar[1:3] for function, bar in first.items()}
    results.check("functions of one module have colours of their own", len({tuple(c) for c in colours.values()}) > 2, colours)
    moved = oracle_symbols.Program(program.exe, program.pdb, base=0x180000000)
    delta = moved.base - program.base
    second, _, opened_too = open_named(page, folder, "functions-2", moved, [[a + delta for a in code[i:i + 3]] for i in (9, 3)])
    both = set(first) & set(second)
    results.equal(f"{len(both)} functions have the same colour in another run", [second[f][1:3] for f in sorted(both)],
                  [first[f][1:3] for f in sorted(both)])
    results.check("there were some to compare", len(both) > 1, both)
    return ["file://" + os.path.abspath(path) for path in (opened, opened_too)]


def check_marks(results, page, folder):
    """Marks are signs above the chart: named for pointer and keyboard, and they select what follows."""
    trace = make_trace(folder, "test-runner")
    opened = open_report(page, trace)
    marks = run_json("info", trace)["marks"]
    results.equal("every mark has a sign", page.run("document.querySelectorAll('#chart .mark').length"), len(marks))
    results.equal("one of them is in the order of the tab key",
                  page.run("document.querySelectorAll('#chart .mark[tabindex=\"0\"]').length"), 1)
    page.run("document.querySelector('#chart .mark[tabindex=\"0\"]').focus()")
    for _ in range(3):
        page.press("ArrowRight")
    name = page.run("document.getElementById('mark-name').textContent")
    results.check("arrow keys name the next ones", name.startswith(marks[3]["name"]), name)
    page.press("Enter")
    page.come_to_rest()
    got = page.run("[report.window.edges_ns[state.selection.from], report.window.edges_ns[state.selection.to]]")
    every = page.run("report.window.every_ns")
    wanted = [marks[3]["time_ns"], marks[4]["time_ns"]]
    results.check("Enter selects what follows, up to the next mark",
                  all(abs(a - b) <= every for a, b in zip(got, wanted)), got, wanted)
    results.check("what the test forgot is in it", figure(page, "net") >= 24 * 4096, figure(page, "net"))
    left, top, width, height = page.box("#chart .mark:nth-of-type(2) .hit")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + width / 2, y=top + height / 2)
    page.come_to_rest()
    tip = page.run("document.getElementById('tip').textContent")
    results.check("the pointer shows the name", marks[1]["name"] in tip, tip)
    page.run("document.getElementById('select-none').click()")
    return opened


def use(results, page, folder):
    demo, workload = make_trace(folder, "demo"), make_trace(folder, "workload")
    opened = [open_report(page, demo)]
    check_totals(results, page, demo)
    check_brush(results, page, demo)
    check_search(results, page, demo)
    check_suspects(results, page, demo)
    check_flame(results, page)
    check_table(results, page)
    check_names(results, page)
    check_paper(results, page, folder, "demo")
    page.prefer("dark")
    opened.append(open_report(page, workload))
    check_map(results, page, workload)
    check_themes(results, page)
    check_sums(results, page)
    check_paper(results, page, folder, "workload")
    opened.append(check_hostile_names(results, page, folder))
    check_paper(results, page, folder, "hostile")
    opened += check_functions(results, page, folder)
    opened.append(check_marks(results, page, folder))
    results.equal("no errors or warnings", page.problems, [])
    results.equal("no requests but for the files", page.requests, opened)


if __name__ == "__main__":
    run_in_browser(use)
