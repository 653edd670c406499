#!/usr/bin/env python3
"""Uses the parts below the table of `etlheap view` in a real browser, and compares every number.

    browser_view_parts.py

The flame graph, callers and callees, single blocks and the history of an address, and the lists: suspects,
rises, spikes, churn, who frees, histograms, the address map, modules and diagnostics. After each step, all
painted numbers are compared with their commands, as browser_view does. What is saved or copied has to be
what the command prints in that format, and what the box "Command" shows has to be the commands compared.
"""

import os

from browser_shown import clipboard
from view_page import run_views, viewed, write_demo

ALL_PARTS = "overview curve table flame suspects growth spikes churn frees blocks histogram map modules diagnostics".split()


# --- the flame graph ------------------------------------------------------------------------------


def bar_of(view, text, name="a-bar"):
    return view.mark(f"[...document.querySelectorAll('#flame .bar[role=treeitem]')].find((one) => one.getAttribute('aria-label').startsWith('{text}'))", name)


def flame_menu(view, text, item):
    """The menu of the bar that has the focus opens with the key M."""
    view.run(f"document.querySelector('{bar_of(view, text)}').focus()")
    view.page.press("m")
    items = view.texts("[role=menu] [role=menuitem]")
    at = next((i for i, one in enumerate(items) if one.startswith(item)), None)
    view.results.check(f"a bar of {text} has {item!r}", at is not None, items)
    view.page.press("Home")
    for _ in range(at or 0):
        view.page.press("ArrowDown")
    view.page.press("Enter")


def check_flame(view):
    labels = view.run("[...document.querySelectorAll('#flame .bar[role=treeitem]')].map((one) => one.getAttribute('aria-label'))")
    view.results.check("bars have names and shares", len(labels) >= 6 and all("%" in text for text in labels), labels[:5])
    view.step("a click zooms", lambda: view.click(bar_of(view, "History::append")), flame=6)
    view.results.check("the zoom is in the address", "flameZoom" in view.state(), view.state())
    for key in ("ArrowDown", "Enter"):
        view.page.press(key)
    view.step("keys go on", flame=6)
    view.step("Escape zooms out", lambda: view.page.press("Escape"), flame=6)
    view.step("reset", lambda: view.run("zoomFlame(0)"), flame=6)
    for metric in ("impacting_size", "outstanding_count", "size", "count", "outstanding_size"):
        view.step(f"bars of {metric}", lambda: view.page.choose("#flame-metric", metric), flame=6)
    view.step("from the innermost function", lambda: view.page.choose("#flame-tree", "callers"), flame=6)
    view.step("from the outermost again", lambda: view.page.choose("#flame-tree", "callees"), flame=6)
    view.step("beginning at a function", lambda: flame_menu(view, "History::append", "Begin the flame graph here"), flame=3)
    view.results.equal("the address has it", view.state().get("root"), ["BatteryMeter.exe!History::append"])
    view.step("whole stacks", lambda: view.click(view.mark("[...document.querySelectorAll('#flame .tools button')].find((one) => one.textContent === 'Whole stacks')", "whole")), flame=6)
    view.step("a module is folded", lambda: flame_menu(view, "RtlUserThreadStart", "Fold module ntdll.dll"), flame=6)
    view.results.check("its functions are gone", not view.run("[...document.querySelectorAll('#flame .bar')].some((one) => one.textContent.includes('RtlUserThreadStart'))"))
    view.step("undo", lambda: view.click("#undo"), flame=6)
    view.step("a function is left out", lambda: flame_menu(view, "History::append", "No stacks with BatteryMeter.exe!History::append"), flame=1)
    view.results.check("no bar has it", not view.run("[...document.querySelectorAll('#flame .bar')].some((one) => one.textContent.includes('History::append'))"))
    view.step("undo again", lambda: view.click("#undo"), flame=6)
    view.step("only stacks through it", lambda: flame_menu(view, "History::append", "Only stacks with BatteryMeter.exe!History::append"), flame=6)
    view.step("undo once more", lambda: view.click("#undo"), flame=6)
    view.step("a window", lambda: view.brush(0.2, 0.4), flame=6)
    view.step("what grew in it", lambda: view.page.choose("#flame-metric", "impacting_size"), flame=5)
    view.step("the whole trace again", lambda: view.run("update({ from: null, to: null, metric: 'outstanding_size' })"), flame=6)


def check_freeing_stacks(view):
    """The flame graph of the stacks that freed, and who frees what one of the others allocates."""
    view.open("#input=2")
    view.step("stacks that freed", lambda: view.click(view.mark("[...document.querySelectorAll('#frees button')].find((one) => one.textContent.startsWith('Flame graph'))", "of-frees")), flame=20)
    command = view.run("document.getElementById('flame').dataset.command")
    view.results.check("are asked as a tree of frees", "--group-by process,free_stack" in command and "--type AIFI,AOFI" in command, command)
    view.results.check("which has the function that frees", any("History::trim" in text for text in view.texts("#flame .bar")), view.texts("#flame .bar")[:9])
    for measure in ("count", "size"):
        view.step(f"freed, by {measure}", lambda: view.page.choose("#flame-metric", measure), flame=20)
    view.step("from the function that frees", lambda: view.page.choose("#flame-tree", "callers"), flame=20)
    view.step("a window of frees", lambda: view.brush(0.2, 0.5), flame=10)
    view.step("search in them", lambda: view.run("update({ search: 'trim' })"), flame=2)
    view.run("update({ search: '', from: null, to: null })")
    view.step("who calls what frees", lambda: flame_menu(view, "History::trim", "Callers and callees"), focus=2)
    view.run("update({ focus: null, tree: 'callees', metric: 'outstanding_size' })")
    view.step("stacks that allocated again", lambda: view.page.choose("#flame-stacks", "alloc"), flame=6)
    view.run("update({ groupBy: ['process', 'stack'], sort: 'size' })")
    view.page.rest()
    row = view.mark("[...document.querySelectorAll('#table tr.level-2')].find((one) => one.textContent.includes('History::append'))", "a-stack")
    frames = view.run(f"framesOfRow(table.entries.find((one) => one.id === document.querySelector('{row}').dataset.id).node.sample.answer, "
                      f"table.entries.find((one) => one.id === document.querySelector('{row}').dataset.id).node.sample.row, 'stack').map(frameId)")
    view.step("who frees what one stack allocates", lambda: view.menu(f"{row} .row-menu", "Who frees this"), frees=5)
    for by in ("stack", "site", "module", "thread", "pairs"):
        view.step(f"by {by}", lambda: view.page.choose("#frees select", by), frees=5)
        check_freed_stack(view, by, frames)
    view.step("all frees", lambda: view.click("#frees .note button"), frees=20)
    view.results.check("the address no longer has the stack", "freesOf" not in view.state(), view.state())
    view.run("update({ groupBy: ['process', 'heap', 'type', 'stack'], sort: 'outstanding_size', freesBy: 'pairs' })")
    view.step("who frees what a function allocates", lambda: flame_menu(view, "History::append", "Who frees what"), frees=5)
    view.results.check("by the stacks that free", "--group-by process,free_stack" in view.run("document.getElementById('frees').dataset.command"))
    view.open()


def check_freed_stack(view, by, frames):
    """The rows that are shown have all blocks of the stack, as the rows of the command have them."""
    document = view.documents.document(view.run("document.getElementById('frees').dataset.command"))
    names = [f"{one['module']}+{one['offset']}@{one['address']}!{one['symbol']}#{one.get('number') or ''}" for one in document["frames"]]
    stacks = [i for i, stack in enumerate(document["stacks"]) if [names[frame] for frame in stack] == frames]
    view.results.equal(f"by {by}: the command has the stack once", len(stacks), 1)
    wanted = sum(row["count"] for row in document["rows"] if row["stack"] in stacks)
    shown = view.run("[...document.querySelectorAll('#frees tbody td[data-measure=count]')].map((one) => Number(one.dataset.value))")
    view.results.check(f"by {by}: rows have its {wanted} blocks", sum(shown) == wanted > 10, shown, wanted)


def check_search(view):
    """The sums of what is found, against those of all rows with a name that has the text."""
    for words, window, ends in (("history", "", "null, to: null"), ("ntdll", " --from 5s --to 9s", "5e9, to: 9e9"), ("batterymeter!json", "", "null, to: null")):
        view.run(f"update({{ from: {ends} }}); document.getElementById('search').value = ''; document.getElementById('search').focus()")
        view.step(f"search for {words}", lambda: view.page.type(words), flame=6, table=10, overview=20)
        found = found_in(view.documents.document(f"etlheap report demo.etl --kind heap --group-by stack --top all --symbols symbols{window}"), words)
        totals = view.run("[...document.querySelectorAll('#table tr.total')].map((row) => ['size', 'count', 'outstanding_size'].map((key) => Number(row.querySelector(`[data-measure=${key}]`).dataset.value)))")
        view.results.equal(f"{words}: the table has the sums of all and of what is found", totals[1:], [found])
        view.results.check(f"{words}: which is a part", totals[0][0] >= found[0] > 0, totals)
        told = view.run("(() => { const one = document.querySelector('#flame .flame-told b'); return [Number(one.firstChild.dataset.value), one.textContent]; })()")
        view.results.check(f"{words}: the flame graph says how much, and which part", told[0] == found[2] and f", {100 * found[2] / totals[0][2]:.1f} % of all" in told[1], told, found, totals)
        name = view.texts("#table tr.total th")[1]
        view.results.check(f"{words}: so does the table", f"({100 * found[2] / totals[0][2]:.1f} % of Outstanding Size)" in name, name)
    view.results.equal("cards are narrowed, too", view.run("Number(document.querySelector('#overview [aria-checked=true] [data-measure=outstanding_size]').dataset.value)"), found[2])
    view.step("Enter makes a filter of it", lambda: view.page.press("Enter"), table=10)
    view.results.equal("the address has it", view.state().get("require-frame"), ["*batterymeter!json*"])
    view.run("document.getElementById('search').focus()")
    view.page.type("parse")
    view.step("a search beside a filter of frames marks rows", table=10)
    view.results.check("and adds those up", any("rows shown match" in text or "row shown matches" in text for text in view.texts("#table .note")), view.texts("#table .note"))
    view.run("update({ filters: [], search: '' })")
    view.step("an offset is no name", lambda: view.run("update({ search: '0x1c0a5f7' })"), table=10)
    view.results.check("rows that match are added up", any("row" in text and " of " in text for text in view.texts("#table .note")), view.texts("#table .note"))
    view.step("nothing is found", lambda: view.run("update({ search: 'nothing is called this' })"), flame=6)
    view.results.check("the table says so", any("No call stack here has" in text for text in view.texts("#table .empty")), view.texts("#table .empty"))
    view.step("no search", lambda: view.run("update({ search: '' })"), table=40)


def found_in(document, words):
    """[size, count, outstanding size] of the stacks with a function or module whose name has the words."""
    module, _, symbol = words.rpartition("!")
    def matches(frame):
        names = [(frame["module"] or "").lower(), (frame["symbol"] or "").lower()]
        if module == "":
            return any(words in name for name in names)
        return names[0].rsplit(".", 1)[0].endswith(module) and names[1].startswith(symbol)
    rows = [row for row in document["rows"] if row["stack"] is not None and any(matches(document["frames"][i]) for i in document["stacks"][row["stack"]])]
    return [sum(row[key] for row in rows) for key in ("size", "count", "outstanding_size")]


def check_focus(view):
    view.step("callers and callees", lambda: flame_menu(view, "History::append", "Callers and callees"), focus=3)
    sides = view.run("['callers', 'callees'].map((side) => document.querySelectorAll(`#focus [data-side=${side}] tbody tr`).length)")
    view.results.check("both sides have rows", min(sides) > 0, sides)
    view.step("a caller goes to the middle", lambda: view.click("#focus [data-side=callers] tbody tr button.link"), focus=3)
    view.results.check("the address has it", view.state()["focus"] != ["BatteryMeter.exe!History::append"], view.state())
    view.run("document.querySelector('#focus input').value = ''; document.querySelector('#focus input').focus()")
    view.page.type("ntdll.dll!")
    view.step("a module in the middle", lambda: view.page.press("Enter"), focus=2)
    view.step("a window of it", lambda: view.run("update({ from: 5e9, to: 9e9 })"), focus=1)
    view.step("what grew", lambda: view.run("update({ metric: 'impacting_size' })"))
    view.run("update({ from: null, to: null, metric: 'outstanding_size', focus: 'nothing!has this name' })")
    view.step("nothing in the middle", lambda: None)
    view.step("closed", lambda: view.run("update({ focus: null })"))
    view.results.check("the part is gone", view.run("document.getElementById('focus').hidden"))


# --- blocks ---------------------------------------------------------------------------------------


def addresses(view):
    return view.texts("#blocks .blocks-table tbody tr[data-row] .address")


def check_blocks(view):
    first = addresses(view)
    view.step("the next page", lambda: view.click("#blocks [data-page=Next]"), blocks=300)
    second = addresses(view)
    command = view.run("document.querySelector('#blocks .blocks-table tbody tr[data-row]').dataset.command")
    rows = view.documents.document(command.replace("--top 100", "--top 200").replace(" --skip 100", ""))["rows"]
    view.results.equal("two pages have the first 200 blocks, each once", first + second, [row["address"] for row in rows])
    view.step("the last page", lambda: view.click("#blocks [data-page=Last]"), blocks=4)
    view.results.check("there is no next one", view.run("document.querySelector('#blocks [data-page=Next]').disabled"))
    view.step("the previous page", lambda: view.click("#blocks [data-page=Previous]"), blocks=300)
    view.step("the first page", lambda: view.click("#blocks [data-page=First]"), blocks=300)
    view.results.equal("is what it was", addresses(view), first)
    for sort in ("address", "lifetime", "alloc_time", "free_time", "size"):
        view.step(f"sorted by {sort}", lambda: view.click(f"#blocks [data-sort={sort}]"), blocks=300)
    view.step("the other way", lambda: view.click("#blocks [data-sort=size]"), blocks=300)
    view.click("#blocks tbody tr[data-row] .address")
    view.step("a block with its stacks", blocks=300)
    view.results.check("its frames are listed", len(view.texts("#blocks .stack-row .frames li")) > 2)
    view.step("the history of its address", lambda: view.menu("#blocks tbody tr[data-row] .row-menu", "History of this address"), blocks=303)
    view.results.check("all blocks of it", view.run("document.querySelectorAll('#blocks .history tbody tr[data-row]').length") >= 1)
    view.run("document.getElementById('block-address').value = ''; document.getElementById('block-address').focus()")
    view.page.type("0x1c0a5f70000..0x1c0a6000000")
    view.step("a range of addresses", lambda: view.page.press("Enter"), blocks=310)
    view.run("update({ address: null })")
    row = view.mark("[...document.querySelectorAll('#table tr.level-4')].find((one) => !one.textContent.includes('[no stack]'))", "a-stack")
    view.step("the blocks of a row of the table", lambda: view.menu(f"{row} .row-menu", "Blocks of this row"), blocks=10)
    view.results.check("the part says so", any("Blocks of one row" in text for text in view.texts("#blocks .note")), view.texts("#blocks .note"))
    view.step("only this size", lambda: view.menu("#blocks tbody tr[data-row] .row-menu", "Only this: Size"), blocks=5)
    view.run("update({ blocksOf: null, filters: [] })")
    view.step("a page after another window begins at its first", lambda: (view.run("update({ blocksSkip: 100 })"), view.page.rest(), view.brush(0.1, 0.3)))
    view.results.check("the first page", "blocksSkip" not in view.state(), view.state())
    view.run("update({ from: null, to: null, blocksSort: 'size' })")
    view.page.rest()


# --- lists ----------------------------------------------------------------------------------------


def check_lists(view):
    view.step("suspects by growth", lambda: view.click(view.mark("[...document.querySelectorAll('#suspects th button')].find((one) => one.textContent === 'Growth')", "by")), suspects=10)
    view.click("#suspects summary")
    # A browser tells a page a moment later that something was opened.
    view.page.until("document.querySelectorAll('#suspects .frames li').length > 3")
    view.results.check("a suspect opens its stack", len(view.texts("#suspects .frames li")) > 3)
    view.step("only a suspect's function", lambda: view.menu("#suspects tbody .row-menu", "Only this"), suspects=5)
    view.step("undo", lambda: view.click("#undo"), suspects=10)
    for by in ("stack", "module", "thread", "process", "size", "site"):
        view.step(f"churn by {by}", lambda: view.page.choose("#churn select", by), churn=10)
    for sort in ("Temporary", "Bytes/s", "Alloc Count"):
        view.step(f"churn by {sort}", lambda: view.click(view.mark(f"[...document.querySelectorAll('#churn th button')].find((one) => one.textContent === '{sort}')", "by")), churn=20)
    for by in ("site", "stack", "module", "thread", "unmatched", "pairs"):
        view.step(f"frees by {by}", lambda: view.page.choose("#frees select", by), frees=0 if by == "unmatched" else 5)
    view.step("a spike opens its stacks", lambda: view.run("document.querySelectorAll('#spikes details').forEach((one) => { one.open = true; })"))
    view.step("the kind with spikes", lambda: view.run("update({ kind: 'virtualalloc' })"), spikes=5)
    view.step("its stacks", lambda: view.run("document.querySelectorAll('#spikes details').forEach((one) => { one.open = true; })"), spikes=8)
    view.step("the window of a spike", lambda: view.click("#spikes button.moment"), spikes=1)
    view.results.check("it is selected", {"from", "to"} <= set(view.state()), view.state())
    view.run("update({ from: null, to: null, kind: 'heap' })")
    view.page.rest()
    view.step("the window of the largest rise", lambda: view.click("#growth button.moment"), growth=10)
    view.results.check("it is selected", {"from", "to"} <= set(view.state()), view.state())
    view.run("update({ from: null, to: null })")
    view.page.rest()
    view.step("rows by steadiness", lambda: view.click(view.mark("[...document.querySelectorAll('#growth th button')].find((one) => one.textContent === 'Steadiness')", "by")), growth=40)
    more = view.run("document.querySelector('#growth [data-key=more]') !== null")
    view.results.check("there are more rows", more)
    view.step("more rows", lambda: view.click("#growth [data-key=more]"), growth=60)
    view.step("only a class of sizes", lambda: view.menu("#histogram tbody .row-menu", "Only this"), histogram=5)
    view.step("undo that", lambda: view.click("#undo"), histogram=40)
    view.step("by count", lambda: view.click("#histogram thead button"), histogram=40)


def check_map_and_rest(view):
    view.step("the map at the end of a window", lambda: view.brush(0.1, 0.5), map=10)
    processes = view.run("document.querySelectorAll('#map select option').length")
    if processes > 1:
        view.step("another process", lambda: view.run("(() => { const s = document.querySelector('#map select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change')); })()"), map=3)
    view.run("document.querySelector('#map .strip').focus()")
    view.page.press("End")
    text = view.run("document.activeElement.getAttribute('aria-valuetext')")
    view.results.check("a strip says what its last part is", " in " in text, text)
    view.run("update({ from: null, to: null, mapProcess: null })")
    view.page.rest()
    view.step("what the recording cannot tell", lambda: view.run("document.querySelectorAll('#diagnostics details').forEach((one) => { one.open = true; })"), diagnostics=5)
    rows = view.texts("#diagnostics table[data-rows=questions] tbody tr")
    view.results.check("and how to record it", len(rows) >= 3, rows)


# --- saving and copying ------------------------------------------------------------------------------


def plain(command, form):
    """A command as the page asks it in another form than JSON: histograms have rows in JSON only."""
    return command.replace(" --group-by kind --columns count --top 1", "") if "--histogram" in command and form != "json" else command


def tool(view, part, label):
    return view.mark(f"[...document.querySelectorAll('#{part} .tools button')].find((one) => one.textContent === '{label}')", "tool")


def check_saving(view, folder):
    view.step("a window to save", lambda: view.run("update({ from: 5e9, to: 12e9 })"))
    saved = 0
    for part in ALL_PARTS:
        command = view.run(f"document.getElementById('{part}').dataset.command")
        labels = view.texts(f"#{part} .tools button")
        for label, form in (("CSV", "csv"), ("JSON", "json")):
            if label not in labels:
                continue
            name, data = view.page.download(os.path.join(folder, "saved"), lambda: view.click(tool(view, part, label)))
            view.results.equal(f"{label} of {part}: the name of the file", name, f"{part}.{form}")
            wanted = view.documents.bytes_of(plain(command, form), "--format", form)
            view.results.check(f"{label} of {part}: what the command prints", data == wanted and len(data) > 20, data[:200], command)
            saved += 1
        if "Command" in labels:
            view.click(tool(view, part, "Command"))
            shown = view.run(f"document.querySelector('#{part} .command code').textContent").split("\n")
            view.results.check(f"{part}: the command that is shown is the one compared", shown[0] == command and all(one in view.commands for one in shown), shown, command)
    view.results.check("most parts were saved in two forms", saved >= 24, saved)


def check_copying(view):
    for part in ALL_PARTS:
        command = view.run(f"document.getElementById('{part}').dataset.command")
        view.run("document.getElementById('announce').textContent = ''")
        view.click(tool(view, part, "Copy"))
        view.page.until("document.getElementById('announce').textContent.startsWith('Copied')")
        text = view.documents.bytes_of(plain(command, "text"), "--format", "text").decode()
        # A field of one line takes no ends of lines.
        copied = "".join(clipboard(view).split())
        view.results.check(f"copied from {part}: the text of the command", copied == "".join(text.split()) != "", copied[:200], text[:200])
    view.page.rest()


def check_parts(results, folder):
    write_demo(folder)
    with viewed(results, folder, ["demo.etl", "fixed.etl"], "--symbols", "symbols") as view:
        view.open()
        view.step("the whole trace", flame=8, blocks=300)
        for check in (check_flame, check_search, check_freeing_stacks, check_focus, check_blocks, check_lists, check_map_and_rest):
            check(view)
        check_saving(view, folder)
        check_copying(view)
        view.finish({"flame": 500, "focus": 10, "blocks": 8000, "churn": 1500, "frees": 1000, "growth": 3000, "spikes": 60, "suspects": 400, "map": 500, "histogram": 2000})


if __name__ == "__main__":
    run_views(check_parts)
