#!/usr/bin/env python3
"""Uses HTML reports in a real browser, as people do, and compares every number that they paint.

    browser_html.py

  * After each step - a window, keys, kinds, columns, filters, zooms, lists - every painted number is that
    of the command which the page shows for it (static_page.py), and each part follows what is chosen or
    says that it does not.
  * A page draws without errors, warnings or requests, light and dark, and on paper.
  * Everything can be done with the keyboard: kinds, brush, flame graph, table, sort, the map's strips.
  * axe-core finds nothing to object to.
  * Names that look like markup stay text.
  * Printed pages are A4, and nothing is cut at their edges.
  * The flame graph says functions first, in colours that are theirs in every run.
  * Marks are signs above the curve.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import os
import re
import subprocess

import llvm_tools
import oracle_symbols
from axe import axe_script, violations
from browser_page import MAKE_TRACE, make_trace
from oracle_support import run_json
from static_page import TALL, WIDE, run_static

MAKE_SYMBOL_TRACE = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
MAKE_SYMBOLS = os.path.join(os.path.dirname(os.path.abspath(MAKE_TRACE)), "make_demo_symbols")


def focused(page):
    return page.run("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")


# --- the curve and what follows it ------------------------------------------------------------


def check_brush(view):
    """A window that is dragged is one of the page's windows, and all that can follows it."""
    page, results = view.page, view.results
    view.step("dragging over the curve", lambda: view.brush(0.3, 0.6), overview=20, table=25, flame=5)
    chosen = view.run("[state.from, state.to].map((ns) => source.cells.edges.indexOf(ns))")
    results.check("it selects windows of the page", chosen[0] > 40 and 40 < chosen[1] - chosen[0] < 90, chosen)
    view.run("document.getElementById('brush-end').focus()")
    view.step("arrow keys move an end of it", lambda: (page.press("ArrowRight"), page.press("ArrowLeft", shift=True)))
    results.equal("by steps of the curve", view.run("source.cells.edges.indexOf(state.to)"), chosen[1] - 9)
    results.equal("and keep the focus", view.run("document.activeElement.id"), "brush-end")
    view.step("Escape selects the whole trace", lambda: page.press("Escape"), table=25)
    results.equal("there is no window", view.run("[state.from, state.to]"), [None, None])
    view.run("document.getElementById('brush-start').focus()")
    view.step("End goes to the last window", lambda: page.press("End"))
    results.equal("which is one", view.run("source.cells.edges.indexOf(state.to ?? traceEnd()) - source.cells.edges.indexOf(state.from)"), 1)
    view.step("the peak", lambda: view.click("#select-peak"), overview=20)
    peak = run_json("report", view.trace, "--kind", "heap", "--group-by", "kind", "--columns", "peak_size", *view.options)["rows"][0]["peak_size"]
    results.equal("the peak is in the window selected for it", view.run("Number(document.querySelector('[data-kind=heap] [data-measure=peak_size]').dataset.value)"), peak)
    view.step("zoomed to it", lambda: view.click("#zoom-window"))
    view.click("#curve .curve-table summary")
    view.step("the curve as a table", curve=20)
    view.step("the whole trace again", lambda: (view.click("#select-none"), view.click("#curve .curve-table summary")), table=25)
    view.run("document.querySelector('#growth .moment').click()")
    view.step("a rise is a button that selects its window", table=20)
    ends = view.run("[state.from, state.to]")
    rise = run_json("windows", view.trace, "--find-growth", "--kind", "heap", "--every", view.run("exactTime(source.cells.document.window.every_ns)"), "--at-exit", "leaked", *view.options)["growth"]
    results.equal("as the command finds it", ends, [rise["from_ns"], rise["to_ns"]])
    view.run("update({ from: null, to: null })")
    page.rest()


def check_choices(view):
    for key in ("heap", "module", "site", "stack", "kind", "process"):
        view.step(f"the curve by {key}", lambda: view.page.choose("#curve-key", key), curve=1)
    view.step("counts", lambda: view.page.choose("#curve-measure", "count"), curve=1)
    view.step("sizes", lambda: view.page.choose("#curve-measure", "size"), curve=1)
    for keys in ("stack", "process,heap", "site,type", "module", "process,thread"):
        view.step(f"rows by {keys}", lambda: view.run(f"update({{ groupBy: {keys.split(',')} }})"), table=10)
    view.step("other columns", lambda: view.run("update({ groupBy: ['process', 'heap', 'type', 'stack'], columns: ['outstanding_size', 'alloc_size', 'freed_count', 'count'] })"), table=25)
    view.run("update({ columns: null })")
    for metric in ("count", "impacting_size", "outstanding_size"):
        for tree in ("callers", "callees"):
            view.step(f"the flame graph of {metric}, {tree}", lambda: view.run(f"update({{ metric: '{metric}', tree: '{tree}' }})"), flame=3)
    pattern = view.run("(() => { const { frames } = flame.document; return framePattern(frames[frames.length >> 1]); })()")
    view.step("callers and callees", lambda: view.run(f"update({{ focus: '{pattern}' }})"), focus=3)
    view.step("a root", lambda: view.run(f"update({{ root: '{pattern}', focus: null }})"), flame=2)
    view.step("only a process", lambda: view.run("update({ root: null }); setFilter('process', String(source.cells.groups.find((one) => one.kind === 'heap').pid))"), table=10)
    view.step("only stacks with a function", lambda: view.run(f"update({{ filters: [] }}); setFilter('require-frame', '{pattern}')"), table=3)
    view.step("not stacks with a function", lambda: view.run(f"update({{ filters: [] }}); setFilter('exclude-frame', '{pattern}')"), overview=5)
    view.step("nothing chosen", lambda: view.run("update({ filters: [] })"), table=25)
    for member, views in (("churnBy", "CHURN_VIEWS"), ("freesBy", "FREE_VIEWS")):
        for choice in view.run(f"Object.keys({views})"):
            view.step(f"{member} {choice}", lambda: view.run(f"update({{ {member}: '{choice}' }})"))
    view.run("update({ churnBy: 'site', freesBy: 'pairs' })")
    offered = view.run("[...byId('filter-option').options].map((one) => one.value)")
    view.results.equal("filters that a page cannot answer are not offered", offered, ["process", "heap", "type", "require-frame", "exclude-frame"])
    offered = view.run("[...byId('curve-key').options].filter((one) => !one.hidden).map((one) => one.value)")
    view.results.equal("nor keys of the curve", offered, ["process", "heap", "module", "site", "stack", "kind"])


def check_kinds(view):
    for kind in view.run("recordedKinds()"):
        view.step(f"kind {kind}", lambda: view.run(f"document.querySelector('[data-kind={kind}]').click()"), overview=10, table=5)
    view.run("document.querySelector('#overview [aria-checked=true]').focus()")
    view.step("an arrow key goes to the first", lambda: view.page.press("ArrowRight"), table=20)
    view.results.equal("which is heap", view.state().get("kind"), ["heap"])


def check_search(view):
    page, results = view.page, view.results
    view.run("document.activeElement.blur()")
    page.press("/")
    results.equal("/ goes to the search", view.run("document.activeElement.id"), "search")
    page.type("append")
    view.step("a search", flame=3)
    results.check("marks rows and bars", view.run("document.querySelectorAll('#flame .bar.match').length") > 0 and view.run("document.querySelectorAll('#table tr.match').length") > 0)
    page.press("Escape")
    page.rest()
    results.equal("Escape ends it", view.run("state.search"), "")


def check_suspects(view):
    """The list says why, and names open the whole stack."""
    wanted = run_json("report", view.trace, "--suspects", "--kind", "heap", *view.options)
    texts = view.texts("#suspects tbody th")
    view.results.check("suspects say why", len(texts) == len(wanted["rows"]) > 0 and all(row["reason"] in text for row, text in zip(wanted["rows"], texts)), texts)
    view.run("document.querySelectorAll('#suspects summary').forEach((one) => one.click())")
    view.page.rest()
    shown = view.run("[...document.querySelectorAll('#suspects tbody tr')].map((row) => [...row.querySelectorAll('li')].map((one) => one.firstChild.textContent))")
    frames = [[frame["symbol"] and f"{frame['module']}!{frame['symbol']}" for frame in (wanted["frames"][i] for i in wanted["stacks"][row["stack"]])] for row in wanted["rows"]]
    view.results.equal("and have their whole stacks", shown, frames)


# --- keyboard and screen reader ---------------------------------------------------------------


def check_flame(view):
    page, results = view.page, view.results
    view.run("document.querySelector('#flame .bar').focus()")
    for _ in range(5):
        page.press("ArrowDown")
    name = focused(page)
    view.step("Enter zooms", lambda: page.press("Enter"), flame=2)
    results.check("arrow keys go down a stack, and Enter keeps the focus", focused(page).split(",")[0] == name.split(",")[0] and "BatteryMeter" in name, name, focused(page))
    results.check("the zoom is in the address", "flameZoom" in view.state(), view.state())
    view.step("Escape zooms out", lambda: page.press("Escape"), flame=5)


def check_table(view):
    page, results = view.page, view.results
    view.run("document.querySelector('#table th[data-column=size] button').focus()")
    view.step("Enter on a heading sorts", lambda: page.press("Enter"), table=25)
    view.step("and again the other way", lambda: page.press("Enter"), table=25)
    results.equal("which the heading says", view.run("document.querySelector('#table th[data-column=size]').getAttribute('aria-sort')"), "ascending")
    results.equal("and the focus stays", view.run("document.activeElement.closest('th')?.dataset.column"), "size")
    view.run("update({ sort: 'outstanding_size' })")
    page.rest()
    view.run("document.querySelector('#table tbody tr[tabindex=\"0\"]').focus()")
    page.press("ArrowLeft")
    closed = view.run("document.activeElement.getAttribute('aria-expanded')")
    view.step("arrow keys close a row and open it", lambda: page.press("ArrowRight"), table=25)
    results.equal("they do", [closed, view.run("document.activeElement.getAttribute('aria-expanded')")], ["false", "true"])
    page.press("End")
    page.press("Home")
    results.equal("Home goes to the first row", view.run("document.activeElement === document.querySelector('#table tbody tr[data-id]')"), True)
    view.run("[...document.querySelectorAll('#table tr.level-4')][0].click()")
    page.rest()
    results.check("a stack opens to its frames", len(view.texts("#table .frames li")) > 3, view.texts("#table .frames li"))


def check_names(view, script):
    passed, wrong = violations(view.page, script)
    view.results.check(f"axe-core: {passed} rules pass, and none is violated", passed > 20 and not wrong, *wrong[:6])
    one_each = view.run("['#overview .kinds', '#flame .flame-tree', '#table tbody'].map((box) => document.querySelectorAll(box + ' [tabindex=\"0\"]').length)")
    view.results.equal("a group of controls is one stop of the Tab key", one_each, [1, 1, 1])


def check_map(view):
    """What a strip says of its parts; the numbers are compared as all others."""
    page, results = view.page, view.results
    for at in range(view.run("document.querySelectorAll('#map select option').length") or 1):
        view.step(f"map of process {at + 1}", lambda: view.run(f"(() => {{ const one = document.querySelector('#map select'); one.selectedIndex = {at}; one.dispatchEvent(new Event('change')); }})()"), map=5)
    strips = view.run("document.querySelectorAll('.strip').length")
    view.run("document.querySelector('.strip').focus()")
    page.press("End")
    last = view.run("(() => { const one = document.activeElement; return [one.getAttribute('aria-valuenow') === one.getAttribute('aria-valuemax'), one.getAttribute('aria-valuetext')]; })()")
    results.check(f"map: End goes to the last part of a strip, of {strips}", strips > 0 and last[0] and ": " in last[1], last)
    results.equal("map: the tip says what the part is", view.run("document.getElementById('tip').textContent"), last[1])
    view.run("document.activeElement.blur()")


def check_themes(view):
    theme = "document.documentElement.dataset.theme"
    view.results.equal("the theme is the system's", view.run(theme), "dark")
    view.run("document.getElementById('theme').click()")
    view.results.equal("a button changes it", view.run(theme), "light")


HOSTILE = '</script><img\u00a0src=x\u00a0onerror=owned()>"\'`&lt;${owned()}.dll'


def check_hostile_names(view, folder):
    """The name of a module is text at every place, whatever is in it."""
    trace = os.path.join(folder, "hostile.etl")
    lines = f"module \\Device\\HarddiskVolume3\\{HOSTILE} 7ff600000000 10000 1\nalloc 100 7ff600001234 7ff600002345\n"
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=lines.encode("latin-1"), check=True)
    view.export("hostile.etl", "--no-symbols")
    shown = view.run("document.querySelector('#modules tbody th .mono').textContent")
    wanted = run_json("report", trace, "--no-symbols")["frames"][0]["module"]
    view.results.equal("a hostile name is shown as it is", shown, wanted)
    view.results.check("it is hostile", "</script><img" in wanted, wanted)
    view.results.equal("and makes no elements", view.run("document.images.length"), 0)


# A4 without its margins of 12 mm, in CSS pixels of 1/96 inch.
PAPER_WIDTH = int((210 - 2 * 12) / 25.4 * 96)
A4_POINTS = (210 / 25.4 * 72, 297 / 25.4 * 72)

# What stands outside of the paper, or is cut by a box that it is in. Bars of the flame graph end in an
# ellipsis where they are too narrow for their names.
CUT_ON_PAPER = """(() => {
  const cut = [], width = document.documentElement.clientWidth;
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    if (box.width === 0 || one.matches(".sr, .bar, .flame-tree") || one.closest(".bar, script, .skip, svg")) continue;
    const hides = style.overflowX !== "visible" && style.display !== "inline" && one.scrollWidth > one.clientWidth + 1;
    if (box.right > width + 0.5 || box.left < -0.5 || hides)
      cut.push(`${one.tagName}#${one.id}.${one.className} ${box.left}..${box.right} of ${width}: ${one.textContent.slice(0, 60)}`);
  }
  return cut;
})()"""


def check_paper(view, name):
    """Pages are A4, and everything is inside of them."""
    page, results = view.page, view.results
    path = os.path.join(view.documents.folder, name + ".pdf")
    page.print(path)
    with open(path, "rb") as file:
        boxes = re.findall(rb"/MediaBox *\[ *([0-9. ]+)\]", file.read())
    sizes = {tuple(round(float(number)) for number in box.split()) for box in boxes}
    results.equal(f"{name}: pages are A4", sizes, {(0, 0, *(round(points) for points in A4_POINTS))})
    page.emulate_paper(PAPER_WIDTH)
    cut = view.run(CUT_ON_PAPER)
    results.check(f"{name}: nothing is cut at the edge of the paper", cut == [], len(cut), *cut[:6])
    drawn = view.run("[...document.querySelectorAll('#curve .body svg, #flame .flame-tree')].map((one) => one.getBoundingClientRect().width)")
    results.check(f"{name}: curve and flame graph have its width", len(drawn) >= 2 and all(width > 0.9 * PAPER_WIDTH for width in drawn), drawn)
    empty = view.run("[...document.querySelectorAll('main section:not([hidden]) .body')].filter((one) => one.textContent === '').map((one) => one.closest('section').id)")
    results.equal(f"{name}: every part is on it", empty, [])
    page.emulate_screen()
    page.call("Emulation.setDeviceMetricsOverride", width=WIDE, height=TALL, deviceScaleFactor=1, mobile=False)
    page.rest()


# --- functions in the flame graph ---------------------------------------------------------

BARS = """Object.fromEntries([...document.querySelectorAll('#flame .bar')]
  .filter((bar) => bar.querySelector('.of'))
  .map((bar) => [bar.firstChild.textContent, [bar.querySelector('.of').textContent, bar.style.getPropertyValue('--hue'),
    bar.style.getPropertyValue('--tone'), bar.getAttribute('aria-label').startsWith(`${bar.firstChild.textContent} `)]]))"""


def open_named(view, name, program, places):
    """The bars that a report of these stacks shows, and its document."""
    trace = os.path.join(view.documents.folder, name + ".etl")
    lines = program.lines() + "".join(
        oracle_symbols.memory("alloc", 4096 + number, stack) for number, stack in enumerate(places))
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=lines.encode(), check=True)
    symbols = ["--symbols", os.path.dirname(os.path.abspath(program.pdb))]
    view.export(trace, *symbols)
    return view.run(BARS), run_json("report", trace, *symbols, "--no-cull")


def check_functions(view):
    """Bars say the function first, and a function has one colour in all runs."""
    results = view.results
    if llvm_tools.version() is None:
        print("skipped: no clang, lld and llvm of one version, 16 to 19, to make a program with symbols")
        return
    program = oracle_symbols.made_program("functions-x64", "sample_alloc.cpp", "x86_64", ["-O0"], [])
    code = [program.at(rva + i) for rva, size, is_code in program.sections if is_code for i in range(0, size, 40)]
    first, document = open_named(view, "functions-1", program, [code[i:i + 3] for i in range(0, 12, 3)])
    functions = {frame["symbol"]: frame["module"] for frame in document["frames"] if frame["symbol"]}
    results.check("bars have the function first and its module behind it", len(first) > 3 and all(
        functions.get(function) == module and is_first for function, (module, _, _, is_first) in first.items()), first)
    colours = {function: bar[1:3] for function, bar in first.items()}
    results.check("functions of one module have colours of their own", len({tuple(c) for c in colours.values()}) > 2, colours)
    moved = oracle_symbols.Program(program.exe, program.pdb, base=0x180000000)
    delta = moved.base - program.base
    second, _ = open_named(view, "functions-2", moved, [[a + delta for a in code[i:i + 3]] for i in (9, 3)])
    both = set(first) & set(second)
    results.equal(f"{len(both)} functions have the same colour in another run", [second[f][1:3] for f in sorted(both)],
                  [first[f][1:3] for f in sorted(both)])
    results.check("there were some to compare", len(both) > 1, both)


def check_marks(view):
    """Marks are signs above the curve: named for pointer and keyboard, and they select what follows."""
    page, results = view.page, view.results
    trace = make_trace(view.documents.folder, "test-runner")
    view.export("test-runner.etl", "--no-symbols")
    marks = run_json("info", trace)["marks"]
    results.equal("every mark has a sign", view.run("document.querySelectorAll('#curve .sign.mark').length"), len(marks))
    results.equal("one of the signs is in the order of the tab key", view.run("document.querySelectorAll('#curve .sign[tabindex=\"0\"]').length"), 1)
    view.run("document.querySelector('#curve .sign.mark').focus()")
    at = view.run("[...document.querySelectorAll('#curve .sign')].map((one) => one.matches('.mark'))")
    for _ in range(at.index(True, at.index(True) + 1) - at.index(True)):
        page.press("ArrowRight")
    name = view.run("document.activeElement.getAttribute('aria-label')")
    results.check("arrow keys name the next ones", f"Mark {marks[1]['name']}" in name, name)
    view.step("Enter selects what follows, up to the next mark", lambda: page.press("Enter"), table=1)
    got, every = view.run("[state.from ?? traceStart(), state.to ?? traceEnd()]"), view.run("source.cells.document.window.every_ns")
    wanted = [marks[1]["time_ns"], marks[2]["time_ns"]]
    results.check("to the edges of windows", all(abs(a - b) <= every for a, b in zip(got, wanted)), got, wanted)
    left, top, width, height = page.box("#curve .sign.mark .hit")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + width / 2, y=top + height / 2)
    page.rest()
    tip = view.run("document.getElementById('tip').textContent")
    results.check("the pointer shows the name", marks[0]["name"] in tip, tip)


def check_many_processes(view, folder):
    """The page of a trace with more processes than can be looked at lists the largest."""
    make_trace(folder, "processes", "--events", "400")
    export(view, "processes.etl")
    view.step("many processes", overview=5, curve=1, table=25, map=5)
    keys = view.run("document.querySelectorAll('#curve .legend button.key').length")
    view.results.check("the curve tells ten processes apart", keys == 10, keys)
    choices = view.run("byId('map-process').length")
    view.results.check("twenty processes have maps", choices == 20, choices)


def export(view, trace, *options):
    view.trace, view.options = os.path.join(view.documents.folder, trace), options
    view.export(trace, *options)


def use(view):
    folder = view.documents.folder
    script = axe_script()
    symbols = os.path.join(folder, "symbols")
    os.mkdir(symbols)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    for scenario in ("demo", "workload"):
        make_trace(folder, scenario)
    view.page.prefer("light")
    export(view, "demo.etl", "--symbols", symbols)
    view.step("the demo", overview=20, curve=1, table=25, flame=5, suspects=10, growth=30, churn=20, frees=10, histogram=30, map=5, modules=2, diagnostics=4)
    for check in (check_brush, check_choices, check_kinds, check_search, check_suspects, check_flame, check_table):
        check(view)
    check_names(view, script)
    check_paper(view, "demo")
    view.page.prefer("dark")
    export(view, "workload.etl")
    view.step("a damaged trace", overview=20, table=25, map=10)
    view.results.check("losses are told at the top", "not complete" in view.run("byId('notices').textContent"), view.run("byId('notices').textContent"))
    check_map(view)
    check_kinds(view)
    check_names(view, script)
    check_themes(view)
    check_paper(view, "workload")
    check_hostile_names(view, folder)
    check_paper(view, "hostile")
    check_functions(view)
    check_marks(view)
    check_many_processes(view, folder)
    view.finish({"overview": 500, "table": 1000, "curve": 200, "flame": 100, "map": 100})


if __name__ == "__main__":
    run_static(use)
