#!/usr/bin/env python3
"""Compares what an HTML report works out of its cells with what commands print: whole documents.

    browser_cells.py

The page is asked the questions that its parts ask, and many that only a user's choices make: rows by
every key, trees both ways, callers and callees, steps of the curve; of its whole window and of windows
at its edges, with filters. The command that it shows for the question is run. Rows and nodes are
compared by what they stand for, with all of their numbers.

  * No row is missing, none is too many, and each has the command's numbers.
  * Single blocks are those of `allocations`: of each call stack as many as the page has room for.
  * What a page leaves out of a trace with many stacks is told, and totals have it.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import json
import os
import subprocess

from browser_page import MAKE_TRACE, make_trace
from oracle_support import run, run_json
from static_page import StaticView, run_static

MAKE_SYMBOLS = os.path.join(os.path.dirname(os.path.abspath(MAKE_TRACE)), "make_demo_symbols")
MEASURES = "count size impacting_size outstanding_count outstanding_size alloc_count alloc_size freed_count freed_size".split()
KEYS = ("kind", "process", "process,heap", "process,heap,type", "process,heap,type,stack", "stack", "process,stack", "site",
        "process,site", "module", "thread", "process,thread", "impacting_type", "type,module")  # fmt: skip
TREES = ("outstanding_size", "impacting_size", "count")
BLOCKS_OF_STACK = 25


def ask(view, command, options):
    """The page's document and the command that prints it; None if the page cannot answer."""
    question = json.dumps({"command": command, "options": options})
    found = view.run(f"(async () => {{ const near = source.nearest({question}); if (near === null) return null;"
                     " const { document } = await source.ask(near.command, near.options); return { document, options: near.options,"
                     " command: source.commandFor(near.command, near.options) }; })()")
    return found


def frame_of(frame):
    return (frame["module"], frame["symbol"] or frame["offset"] or frame["address"])


def key_of(document, row):
    """What a row stands for; frames by what they are."""
    key = []
    for name, value in row.items():
        if name in MEASURES or name.startswith("peak") or name in ("thread_name", "impacting_type"):
            continue
        if name == "stack" and value is not None:
            value = tuple(frame_of(document["frames"][i]) for i in document["stacks"][value])
        if name == "site" and value is not None:
            value = frame_of(document["frames"][value])
        key.append((name, value))
    return tuple(key)


def rows_of(document, names):
    rows = {}
    for row in document["rows"]:
        rows.setdefault(key_of(document, row), []).append(tuple(row.get(name) for name in names))
    return {key: sorted(values) for key, values in rows.items()}


def check_report(view, name, options):
    found = ask(view, "report", options)
    if found is None:
        view.results.check(f"{name}: the page has an answer", False, options)
        return
    wanted = view.documents.document(found["command"])
    got = rows_of(found["document"], MEASURES)
    view.results.equal_maps(f"{name}: {len(got)} rows", got, rows_of(wanted, MEASURES))
    totals = [{one["kind"]: [one[key] for key in MEASURES] for one in document["totals"]} for document in (found["document"], wanted)]
    # A kind of which nothing is left has no total, or one of 0.
    totals = [{kind: sums for kind, sums in one.items() if any(sums)} for one in totals]
    view.results.equal(f"{name}: totals", *totals)


def paths_of(document, nodes, measure):
    """{path: (value, exclusive)}"""
    paths, found = [], {}
    for node in nodes:
        own = frame_of(document["frames"][node["frame"]]) if node.get("frame") is not None else (node.get("process"), node.get("pid"))
        paths.append(((paths[node["parent"]] if node["parent"] is not None else ()) + (own,)))
        found[paths[-1]] = (node[measure], node["exclusive"][measure])
    return found


def check_trees(view, name, more, pattern):
    for measure in TREES:
        sort = [["sort", measure], ["tree-min", "0.5"], *more]
        for tree in ("", "callers"):
            found = ask(view, "report", [["tree", tree], *sort])
            wanted = view.documents.document(found["command"])
            got = paths_of(found["document"], found["document"]["nodes"], measure)
            view.results.equal_maps(f"{name}: tree of {tree or 'callees'} by {measure}, {len(got)} nodes", got, paths_of(wanted, wanted["nodes"], measure))
        found = ask(view, "report", [["tree", ""], ["root", pattern], *sort])
        wanted = view.documents.document(found["command"])
        got = paths_of(found["document"], found["document"]["nodes"], measure)
        view.results.equal_maps(f"{name}: tree below {pattern} by {measure}", got, paths_of(wanted, wanted["nodes"], measure))
        view.results.equal(f"{name}: and its sums", found["document"]["sums"], wanted["sums"])
        found = ask(view, "report", [["focus", pattern], ["group-by", "kind,stack"], *sort])
        wanted = view.documents.document(found["command"])
        for side in ("callers", "callees"):
            got = paths_of(found["document"], found["document"][side], measure)
            view.results.equal_maps(f"{name}: {side} of {pattern} by {measure}", got, paths_of(wanted, wanted[side], measure))


def windows_of(document, is_page):
    """{(window, key): (allocated, freed, outstanding, peak)}; a page has no peak of several things together."""
    found = {}
    for window in document["windows"]:
        for row in window["rows"]:
            key = {name: row[name] for name in ("kind", "process", "pid", "heap", "module", "site", "stack") if name in row}
            numbers = []
            for unit in ("count", "size"):
                numbers += [row[f"alloc_{unit}"], row[f"freed_{unit}"]] if is_page else [
                    row[f"aifi_{unit}"] + row[f"aifo_{unit}"], row[f"aifi_{unit}"] + row[f"aofi_{unit}"]]
                numbers.append(row[f"outstanding_{unit}"])
            found[window["from_ns"], key_of(document, key)] = (numbers, row["peak_size"])
    return found


def check_windows(view, name, more):
    for key in ("kind", "process", "heap", "process,heap", "module", "site", "stack"):
        found = ask(view, "windows", [["group-by", key], ["every", "1s"], *more])
        got, wanted = windows_of(found["document"], True), windows_of(view.documents.document(found["command"]), False)
        peaks = [(where, got[where][1], wanted[where][1]) for where in got if where in wanted and got[where][1] is not None]
        view.results.check(f"{name} by {key}: peaks of {len(peaks)}", all(one == other for _, one, other in peaks), [one for one in peaks if one[1] != one[2]][:3])
        view.results.equal_maps(f"{name} by {key}: {len(got)} steps", {where: one[0] for where, one in got.items()}, {where: one[0] for where, one in wanted.items()})


def block_of(document, row):
    stack = None if row["stack"] is None else tuple((*frame_of(document["frames"][i]), document["frames"][i]["line"]) for i in document["stacks"][row["stack"]])
    names = "kind process pid heap type address size alloc_time_ns free_time_ns lifetime_ns thread free_type".split()
    return (*(row[name] for name in names), stack)


def check_blocks(view, name, kind, more):
    found = ask(view, "allocations", [["sort", "size"], ["kind", kind], *more])
    listed = view.documents.document(found["command"])
    wanted = {block_of(listed, row) for row in listed["rows"]}
    got = [block_of(found["document"], row) for row in found["document"]["rows"]]
    view.results.check(f"{name}: {len(got)} blocks of {kind} are those of allocations", len(got) == len(set(got)) and set(got) <= wanted,
                       *[one for one in got if one not in wanted][:3])
    sizes = [one[6] for one in got]
    view.results.equal(f"{name}: the largest come first", sizes, sorted(sizes, reverse=True))
    of_stack, all_of_stack = {}, {}
    for one in got:
        of_stack.setdefault((one[1:4], one[-1]), []).append(one)
    for one in wanted:
        all_of_stack.setdefault((one[1:4], one[-1]), []).append(one)
    most = max((len(blocks) for blocks in of_stack.values()), default=0)
    view.results.check(f"{name}: of a stack {BLOCKS_OF_STACK} at most", most <= BLOCKS_OF_STACK, most)
    if not more:
        # Blocks that were not freed come first: the others are there only if there is room for them.
        left = {key: sum(one[8] is None for one in blocks) for key, blocks in all_of_stack.items() if key in of_stack}
        shown = {key: sum(one[8] is None for one in of_stack[key]) for key in left}
        view.results.equal_maps(f"{name}: what was not freed comes first", shown, {key: min(count, BLOCKS_OF_STACK) for key, count in left.items()})


def check_trace(view, name, trace, *options):
    view.export(trace, *options)
    edges = view.run("source.cells.edges")
    third, two = edges[len(edges) // 3], edges[2 * len(edges) // 3]
    windows = {"whole": [], "a window": [["from", f"{third}ns"], ["to", f"{two}ns"]], "the start": [["to", f"{edges[1]}ns"]]}
    for kind in view.run("recordedKinds()"):
        view.run(f"update({{ kind: '{kind}' }})")
        frames = view.run("source.cells.stacks.map((one) => source.cells.frames[one[one.length >> 1]]).filter((one) => one.module)")
        pattern = f"{frames[0]['module']}!{frames[0]['symbol'] or ''}"
        processes = view.run(f"[...new Set(source.cells.groups.filter((one) => one.kind === '{kind}' && one.pid !== null).map((one) => one.pid))]")
        filters = {"": [], "a process": [["process", str(processes[-1])]], "required frames": [["require-frame", pattern]], "excluded frames": [["exclude-frame", pattern]]}
        for when, window in windows.items():
            for which, more in filters.items():
                chosen = [["columns", ",".join(MEASURES)], ["kind", kind], *window, *more]
                keys = KEYS if when == "whole" else [key for key in KEYS if "type" not in key and "thread" not in key]
                for key in keys if which == "" else ("process", "stack"):
                    check_report(view, f"{name}, {kind}, {when} {which} by {key}", [["group-by", key], *chosen])
            check_trees(view, f"{name}, {kind}, {when}", [["kind", kind], *window], pattern)
        check_windows(view, f"{name}, {kind}", [["kind", kind]])
        check_blocks(view, name, kind, [])
        check_blocks(view, f"{name}, a process", kind, filters["a process"])
        check_blocks(view, f"{name}, a window", kind, windows["a window"])


def check_many(view, folder):
    """More stacks than a page has room for."""
    trace = os.path.join(folder, "many.etl")
    make = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
    lines = "module \\Device\\HarddiskVolume3\\many.exe 7ff600000000 1000000 1\n"
    lines += "".join(f"alloc {20000 - i} 7ff600{0x1000 + 16 * i:06x} 7ff600{i % 97:06x} 7ff600002345\n" for i in range(12000))
    subprocess.run([make, trace], input=lines.encode(), check=True)
    view.export(trace)
    view.results.check("a page has 10,000 stacks", view.run("source.cells.stacks.length") == 10000, view.run("source.cells.stacks.length"))
    total = run_json("report", trace, "--no-symbols")["totals"][0]
    found = ask(view, "report", [["group-by", "process"], ["kind", "heap"]])["document"]
    view.results.equal("sums of processes have what it leaves out", sum(row["count"] for row in found["rows"]), total["count"])
    said = view.run("document.querySelector('#table .covers').textContent")
    view.results.check("and the table says so", "not on this page" in said, said)
    said = view.run("document.querySelector('#flame .covers').textContent")
    view.results.check("and so does the flame graph, which has less than the command then", "not on this page" in said, said)
    view.own_tests = ("blocks", "flame")
    view.step("a page that leaves out stacks", table=20)
    view.own_tests = StaticView.own_tests
    rest = view.run("update({ groupBy: ['stack'] }); 0") or view.page.rest() or view.run("document.querySelector('#table tr.more')?.textContent")
    view.results.check("rows that are not on the page are summed", rest is not None and "other rows" in rest, rest)
    size = os.path.getsize(view.path)
    view.results.check("the page is below 2 MB", size < 2_000_000, size)


def use(view):
    folder = view.documents.folder
    symbols = os.path.join(folder, "symbols")
    os.mkdir(symbols)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    check_trace(view, "demo", os.path.basename(make_trace(folder, "demo")), "--symbols", "symbols")
    check_trace(view, "a part of the demo", "demo.etl", "--no-symbols", "--from", "3s", "--to", "11s", "--at-exit", "freed", "--kind", "heap")
    workload = os.path.join(folder, "workload.etl")
    subprocess.run([MAKE_TRACE, "workload", workload, "--seed", "11", "--events", "2000"], check=True, stdout=subprocess.DEVNULL)
    check_trace(view, "workload", "workload.etl")
    store = os.path.join(folder, "workload.ehs")
    run("store", workload, "-o", store)
    view.export("workload.ehs")
    view.step("a store", overview=20, table=40)
    check_many(view, folder)
    view.finish({})


if __name__ == "__main__":
    run_static(use)
