#!/usr/bin/env python3
"""Uses the curve, the table and the filters of `etlheap view` in a real browser, and compares every number.

    browser_view.py

After each step, all numbers that the page paints are looked up in what the commands print that the page
shows for them (view_numbers.py, view_page.py). The page's own script has no part in that. A step in
which a part paints too few numbers fails, and so does a part that ignores the selected window or a
filter without saying so. What a step does is also read off the address, which has all that is chosen.
"""

from view_numbers import PAINTED
from view_page import await_page, run_views, viewed, write_demo

LEGEND = "#curve .legend .label"


def in_state(view, name, **wanted):
    """What the address has to say: {member: value}; None: nothing."""
    state = view.state()
    got = {key: ",".join(state[key]) if key in state else None for key in wanted}
    view.results.equal(f"{name}: the address has it", got, wanted)


# --- the curve ------------------------------------------------------------------------------------


def check_window(view):
    view.step("dragging over the curve", lambda: view.brush(0.3, 0.6), table=40, overview=30, flame=5, blocks=300, churn=40, histogram=40)
    in_state(view, "a window", **{"from": "6s", "to": "12s"})
    view.run("document.getElementById('brush-end').focus()")
    view.step("an arrow key moves its end", lambda: view.page.press("ArrowRight"))
    view.results.check("by a step of the curve", view.state()["to"][0] not in ("12s", "13s"), view.state())
    view.step("so does the pointer", lambda: view.page.drag(view.place("#brush-start .grip"), view.place("#curve .surface", 0.45)))
    view.results.check("the start has moved", view.state()["from"][0] != "6s", view.state())
    view.step("Escape selects the whole trace", lambda: view.page.press("Escape"))
    in_state(view, "no window", **{"from": None, "to": None})
    view.step("the peak", lambda: view.click("#select-peak"))
    view.results.check("the peak: a window is selected", {"from", "to"} <= set(view.state()), view.state())
    view.step("the steepest rise", lambda: view.click("#select-steepest"))
    windows = view.documents.document(view.run("document.getElementById('curve').dataset.command"))["windows"]
    sizes = [sum(row["outstanding_size"] for row in window["rows"]) for window in windows]
    start = sum(row["aofi_size"] + row["aofo_size"] for row in windows[0]["rows"])
    rates = [(size - before) / (window["to_ns"] - window["from_ns"]) for window, size, before in zip(windows, sizes, [start, *sizes])]
    steepest = windows[rates.index(max(rates))]
    view.results.equal("it is the steepest step of the curve's command", view.run("[state.from, state.to]"), [steepest["from_ns"], steepest["to_ns"]])


def check_zoom(view):
    view.click("#curve .curve-table summary")
    view.page.until("document.querySelector('#curve .curve-table td')")
    view.step("the curve as a table", curve=300)
    view.step("zooming to the window", lambda: view.click("#zoom-window"), curve=300)
    for _ in range(3):
        view.page.wheel(view.place("#curve .surface", 0.4), -400)
    view.step("turning the wheel", curve=300)
    state = view.state()
    view.results.check("the wheel zooms: the curve asks for finer steps", {"zoomFrom", "zoomTo"} <= set(state), state)
    view.step("zooming out", lambda: view.click("#zoom-out"), curve=300)
    in_state(view, "no zoom", zoomFrom=None, zoomTo=None)
    for _ in range(60):
        view.page.wheel(view.place("#curve .surface", 0.5), -500)
    view.step("the wheel to the end", curve=300)
    view.results.check("a microsecond fills the curve", view.run("curve.view.to - curve.view.from") == 1000, view.state())
    view.step("the whole trace again", lambda: view.click("#select-none"), curve=300)
    view.click("#curve .curve-table summary")


def check_stacking(view):
    for key in ("heap", "module", "site", "stack", "thread", "size_class", "kind", "process"):
        view.step(f"the curve by {key}", lambda: view.page.choose("#curve-key", key), curve=1)
        view.results.check(f"the curve by {key}: areas have names", all(view.texts(LEGEND)) and view.texts(LEGEND))
    view.step("counts", lambda: view.page.choose("#curve-measure", "count"), curve=1)
    view.step("sizes", lambda: view.page.choose("#curve-measure", "size"), curve=1)
    view.step("another kind", lambda: view.click("#overview [data-kind=virtualalloc]"), overview=30, table=5)
    in_state(view, "another kind", kind="virtualalloc")
    view.run("document.querySelector('#overview [aria-checked=true]').focus()")
    view.step("an arrow key goes back", lambda: view.page.press("ArrowLeft"), table=40)
    in_state(view, "the first kind", kind="heap")


# --- the table --------------------------------------------------------------------------------------


def keys_of(view):
    return view.run("[...document.querySelectorAll('#table .key-list li[data-key]')].map((one) => one.dataset.key)")


def check_keys(view):
    view.results.equal("the usual keys", keys_of(view), ["process", "heap", "type", "stack"])
    start, end = (view.place(f"#table li[data-key={key}]") for key in ("stack", "process"))
    view.step("a key is dropped on the first", lambda: view.page.drop(start, end), table=40)
    view.results.equal("it is the first now", keys_of(view), ["stack", "process", "heap", "type"])
    start, end = view.place("#table li[data-key=heap]"), view.place("#table th[data-column=count]")
    view.step("a key is dropped right of the gold bar", lambda: view.page.drop(start, end), table=40)
    view.results.equal("it is gone", keys_of(view), ["stack", "process", "type"])
    view.run("document.querySelector('#table .key[data-key=type]').focus()")
    view.step("Alt and an arrow key move one", lambda: view.page.press("ArrowLeft", alt=True), table=40)
    view.results.equal("to the left", keys_of(view), ["stack", "type", "process"])
    view.results.equal("and keep the focus", view.run("document.activeElement.dataset.key"), "type")
    view.step("Delete takes it out", lambda: view.page.press("Delete"), table=20)
    view.results.equal("two keys are left", keys_of(view), ["stack", "process"])
    view.step("a key from the menu", lambda: view.menu("#table .key.add", "Module"), table=20)
    view.results.equal("it is the last", keys_of(view), ["stack", "process", "module"])
    view.step("another in its place", lambda: view.menu("#table .key[data-key=stack]", "Replace by Size Class"), table=20)
    for key in ("thread", "site", "function", "generation", "source_line", "free_stack", "frame"):
        view.step(f"rows by {key}", lambda: view.run(f"update({{ groupBy: ['{key}'] }})"), table=10)
    view.step("the usual keys again", lambda: view.run("update({ groupBy: ['process', 'heap', 'type', 'stack'] })"), table=40)


def check_columns(view):
    view.click(view.mark("[...document.querySelectorAll('#table .tools button')].find((one) => one.textContent === 'Columns')", "columns-button"))
    for measure in ("peak_size", "lifetime_median_ns", "alloc_rate", "alloc_bytes_rate", "temporary_count", "first_ns", "realloc_count", "freed_size"):
        view.click(f"#column-{measure}")
        view.page.rest()
    view.step("more columns", table=100)
    columns = view.state()["columns"][0].split(",")
    view.results.check("the address has the columns", columns[-1] == "freed_size" and len(columns) == 13, columns)
    start, end = view.place("#table th[data-column=first_ns]"), view.place("#table th[data-column=count]", 0.2)
    view.step("a column is dragged before another", lambda: view.page.drop(start, end), table=100)
    columns = view.state()["columns"][0].split(",")
    view.results.equal("it stands there", columns.index("first_ns") + 1, columns.index("count"))
    view.click("#column-curve")
    view.step("curves of rows", table=100)
    curves = view.run("[...document.querySelectorAll('#table .row-curve')].map((one) => one.getAttribute('aria-label'))")
    view.results.check("rows have their curves", len(curves) >= 5 and all("over time" in text for text in curves), curves)
    view.click("#column-curve")
    view.click(view.mark("[...document.querySelectorAll('#column-picker button')].find((one) => one.textContent === 'Usual columns')", "usual-columns"))
    view.step("the usual columns", table=40)
    view.step("heaps have columns of their own", lambda: view.run(
        "update({ groupBy: ['process', 'heap'], columns: ['committed_size', 'reserved_size', 'overhead_size', 'uncommitted_size', 'fragmentation_millionths'] })"), table=10)
    view.step("growth", lambda: view.run("update({ groupBy: ['process', 'stack'], columns: ['growth_rate', 'steadiness', 'peak_count', 'lifetime_p99_ns'] })"), table=20)
    view.step("functions", lambda: view.run("update({ groupBy: ['function'], columns: ['exclusive_size', 'exclusive_count', 'size'] })"), table=20)
    view.run("update({ groupBy: ['process', 'heap', 'type', 'stack'], columns: null })")
    view.page.rest()


def check_wide(view):
    """Columns that do not fit are named, and a click brings them into sight."""
    columns = "outstanding_size,outstanding_count,impacting_size,size,count,peak_size,peak_count,lifetime_median_ns,alloc_rate,alloc_bytes_rate,first_ns,last_ns,freed_size,freed_count"
    view.step("many columns", lambda: view.run(f"update({{ columns: '{columns}'.split(',') }})"), table=100)
    told = view.texts("#table .wide-note button:not([hidden])")
    seen = "[...document.querySelectorAll('#table th[data-column]')].filter((one) => { const a = one.getBoundingClientRect(), b = one.closest('.table-box').getBoundingClientRect(), k = document.querySelector('#table thead th.gold').getBoundingClientRect(); return a.right <= b.right + 2 && a.left >= k.right - 2; }).map((one) => one.textContent)"
    titles, first = view.texts("#table th[data-column]"), view.run(seen)
    hidden = " \u00b7 ".join(titles[len(first):])
    view.results.check("columns that are out of sight are named", len(told) == 1 and 0 < len(first) < len(titles)
                       and told[0] == f"{len(titles) - len(first)} columns out of sight: {hidden} \u2192", told, first, titles)
    for _ in range(6):
        if len(view.texts("#table .wide-note button:not([hidden])")) == 1 and view.run("document.querySelector('#table .table-box').scrollLeft > 0"):
            break
        view.click("#table .wide-note button:last-child")
        view.page.rest()
    view.results.check("clicks bring the last one into sight, and rows keep their names", titles[-1] in view.run(seen) and first[0] not in view.run(seen), view.run(seen))
    view.results.check("and then those on the other side are named", titles[0] in view.texts("#table .wide-note button:not([hidden])")[0], view.texts("#table .wide-note button"))
    view.step("usual columns fit", lambda: view.run("update({ columns: null })"), table=40)
    view.results.equal("nothing is named", view.texts("#table .wide-note:not([hidden]) button:not([hidden])"), [])


def check_rows(view):
    for name, direction in (("sort", "descending"), ("sort again", "ascending")):
        view.step(name, lambda: view.click("#table th[data-column=count] button"), table=25)
        view.results.equal(f"{name}: the heading says so", view.run("document.querySelector('#table th[data-column=count]').getAttribute('aria-sort')"), direction)
    view.step("by size", lambda: view.click("#table th[data-column=size] button"), table=40)
    before = view.run("document.querySelectorAll('#table tbody tr[data-id]').length")
    view.run("document.querySelector('#table tbody tr[tabindex=\"0\"]').focus()")
    view.step("ArrowLeft closes a row", lambda: view.page.press("ArrowLeft"))
    view.results.check("closed: fewer rows", view.run("document.querySelectorAll('#table tbody tr[data-id]').length") < before)
    view.step("ArrowRight opens it", lambda: view.page.press("ArrowRight"), table=40)
    stack = view.mark("[...document.querySelectorAll('#table tr.level-4')].find((one) => !one.textContent.includes('[no stack]'))", "a-stack")
    view.step("a click opens a stack", lambda: view.click(f"{stack} .label"), table=40)
    frames = view.texts("#table .frames li")
    view.results.check("its frames are listed", len(frames) > 3, frames)
    view.click(view.mark("[...document.querySelectorAll('#table .frames-box button')].find((one) => one.textContent === 'Outermost first')", "outermost"))
    view.results.equal("and the other way round", view.texts("#table .frames li"), frames[::-1])
    stacks = view.run("[...document.querySelectorAll('#table tr.level-4')].length")
    view.step("more stacks", lambda: view.run("update({ groupBy: ['stack'] })"), table=60)
    more = view.run("document.querySelector('#table tr.more')?.textContent ?? ''")
    if more:
        view.step("the rows that are not shown", lambda: view.click("#table tr.more .link"), table=80)
    view.results.check("stacks are listed", stacks > 3, stacks)
    view.run("update({ groupBy: ['process', 'heap', 'type', 'stack'], sort: 'outstanding_size' })")
    view.page.rest()


# --- filters ------------------------------------------------------------------------------------------


def row_of(view, level, text=""):
    return view.mark(f"[...document.querySelectorAll('#table tr.level-{level}')].find((one) => one.textContent.includes('{text}'))", "a-row") + " .row-menu"


def check_filters(view):
    view.step("only this process", lambda: view.menu(row_of(view, 1), "Only this: Process"), table=40)
    view.results.check("a chip says so", any("Process" in text for text in view.texts("#chips .chip")), view.texts("#chips .chip"))
    view.step("only this heap", lambda: view.menu(row_of(view, 2), "Only this: Handle"), table=20)
    view.step("not this type", lambda: view.menu(row_of(view, 3, "AIFO"), "Not this"), table=10)
    in_state(view, "types", type="AIFI,AOFI,AOFO")
    view.step("a chip is removed", lambda: view.click("#chips .chip:nth-of-type(3) button"), table=20)
    view.step("no stacks with a function", lambda: view.menu(row_of(view, 4, "!"), "No stacks with"), table=20)
    view.results.check("the function is left out", "exclude-frame" in view.state(), view.state())
    view.step("undo", lambda: view.click("#undo"), table=20)
    view.results.check("it is not left out", "exclude-frame" not in view.state(), view.state())
    view.step("Ctrl+Z", lambda: view.page.press("z", control=True), table=10)
    in_state(view, "Ctrl+Z", type="AIFI,AOFI,AOFO")
    view.step("clear all", lambda: view.click(view.mark("[...document.querySelectorAll('#chips button')].find((one) => one.textContent === 'Clear all')", "clear-all")), table=40)
    type_filter(view, "size", "1K..64K")
    view.step("a size that is typed", table=10)
    in_state(view, "a size", size="1K..64K")
    type_filter(view, "lifetime", "10ms..")
    view.step("a lifetime", table=5)
    with view.page.refusing("*/api/report?*banana*") as refused:
        type_filter(view, "size", "banana")
        view.page.rest()
        said = view.run("document.getElementById('filter-error').textContent")
        view.results.check("a size that is wrong is refused, and the message of the command shown", len(refused) == 1 and "banana" in said, refused, said)
    in_state(view, "it is not a filter", size="1K..64K")
    view.step("no filters", lambda: view.run("update({ filters: [] })"), table=40)
    view.run("document.activeElement.blur()")
    view.page.press("/")
    view.results.equal("/ goes to the search", view.run("document.activeElement.id"), "search")
    view.page.type("ntdll")
    view.step("search", flame=5)
    view.results.check("rows and bars that match are marked", view.run("document.querySelectorAll('#flame .bar.match').length") > 0)
    view.page.press("Escape")
    view.page.rest()


def type_filter(view, option, value):
    view.page.choose("#filter-option", option)
    view.run("document.getElementById('filter-value').value = ''; document.getElementById('filter-value').focus()")
    view.page.type(value)
    view.page.press("Enter")


# --- the address ----------------------------------------------------------------------------------------


def painted(view):
    """All numbers, as texts that can be compared with those of another time."""
    keys = ("section", "measure", "value", "text", "row", "command")
    return sorted("|".join(str(number[key]) for key in keys) for number in view.run(PAINTED))


def check_address(view):
    view.open()
    whole = painted(view)
    view.brush(0.5, 0.9)
    view.step("a window", table=40)
    windowed = painted(view)
    view.step("only this process", lambda: view.menu(row_of(view, 1), "Only this: Process"), table=40)
    filtered, address = painted(view), view.run("location.href")
    view.results.check("three states are three pictures", len({tuple(one) for one in (whole, windowed, filtered)}) == 3)
    for name, act, wanted in (("Back", "history.back()", windowed), ("Back again", "history.back()", whole), ("Forward", "history.forward()", windowed),
                              ("Forward again", "history.forward()", filtered)):
        view.step(name, lambda: (view.run(act), view.page.run("new Promise((done) => setTimeout(done, 50))")), table=40)
        view.results.equal(f"{name} paints what was there", differing(painted(view), wanted), [])
    view.page.reload()
    view.step("reload", table=40)
    view.results.equal("reload paints what was there", differing(painted(view), filtered), [])
    other = view.page.second_tab(1400, 14000)
    try:
        other.navigate(address)
        await_page(other)
        first, view.page = view.page, other
        view.step("a second tab", table=40)
        view.results.equal("it paints what the first has", differing(painted(view), filtered), [])
        view.step("it goes its own way", lambda: view.run("update({ from: null, to: null })"), table=40)
        view.page = first
        view.results.equal("and the first stays", differing(painted(view), filtered), [])
        view.results.equal("no errors in the second tab", other.problems, [])
    finally:
        other.close()
    view.open("#from=abc&kind=%3Cb%3E&__proto__=1&zoomFrom=99999999999999999s&nonsense=1&sort=;&process=" + "x" * 900)
    view.step("an address of nonsense", table=40)
    in_state(view, "nonsense is passed over", **{"from": None, "zoomFrom": None, "process": None})


def differing(got, wanted):
    return sorted(set(got) ^ set(wanted))[:6]


# --- all ------------------------------------------------------------------------------------------------


def check_session(results, folder):
    write_demo(folder)
    with viewed(results, folder, ["demo.etl"], "--symbols", "symbols") as view:
        view.open()
        view.step("the whole trace", overview=30, curve=1, table=40, flame=5, suspects=10, growth=50, churn=40, frees=20, blocks=300,
                  histogram=40, map=10, modules=2, diagnostics=4)
        for check in (check_window, check_zoom, check_stacking, check_keys, check_columns, check_wide, check_rows, check_filters, check_address):
            check(view)
        view.finish({"overview": 1500, "curve": 2000, "table": 4000, "blocks": 10000})


if __name__ == "__main__":
    run_views(check_session)
