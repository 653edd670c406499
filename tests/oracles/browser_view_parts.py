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
        view.step(f"bars of {metric}", lambda: view.page.choose("#flame .tools label:nth-of-type(1) select", metric), flame=6)
    view.step("from the innermost function", lambda: view.page.choose("#flame .tools label:nth-of-type(2) select", "callers"), flame=6)
    view.step("from the outermost again", lambda: view.page.choose("#flame .tools label:nth-of-type(2) select", "callees"), flame=6)
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
    view.step("search", lambda: view.run("update({ search: 'history' })"), flame=6)
    view.step("no search", lambda: view.run("update({ search: '' })"), flame=6)
    view.step("a window", lambda: view.brush(0.2, 0.4), flame=6)
    view.step("what grew in it", lambda: view.page.choose("#flame .tools label:nth-of-type(1) select", "impacting_size"), flame=5)
    view.step("the whole trace again", lambda: view.run("update({ from: null, to: null, metric: 'outstanding_size' })"), flame=6)


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
    with viewed(results, folder, ["demo.etl"], "--symbols", "symbols") as view:
        view.open()
        view.step("the whole trace", flame=8, blocks=300)
        for check in (check_flame, check_focus, check_blocks, check_lists, check_map_and_rest):
            check(view)
        check_saving(view, folder)
        check_copying(view)
        view.finish({"flame": 500, "focus": 10, "blocks": 8000, "churn": 1500, "frees": 1000, "growth": 3000, "spikes": 60, "suspects": 400, "map": 500, "histogram": 2000})


if __name__ == "__main__":
    run_views(check_parts)
