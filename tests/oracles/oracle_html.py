#!/usr/bin/env python3
"""Checks the data in HTML reports against what commands print.

    oracle_html.py

The cells of a page are read by a decoder written apart from the page's own.

  * Every document in a page has the bytes that its command prints, with the selection of the page.
  * Sums of its rows, with what it says is left out, are the rows of `report`.
  * Every cell of every stack, heap and kind is what `windows` says of that window.
  * Its threads are those of `report`, its blocks are blocks of `allocations`.
  * The same bytes with any -j; a store gives the same page but for the file's name.
  * Functions of real programs, beside TRACES, are named as in the report.
  * A summary is refused.
  * Windows, filters and --at-exit select the same as elsewhere; .zst compresses.
  * Long lists are cut so that a page stays small, and say so.
"""

import json
import os
import random
import re
import subprocess
import tempfile
from collections import defaultdict

from oracle_support import ETLHEAP, TRACES, Results, run, run_json
from page_data import DATA, inflated

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
TYPES = ("AIFO", "AIFI", "AOFI", "AOFO")
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def numbers_of(text):
    """Base64 VLQ without signs: five bits a digit, lowest first."""
    value = shift = 0
    for character in text:
        digit = ALPHABET.index(character)
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            yield value
            value = shift = 0


def page_of(page):
    """The data in a page, as the browser finds it."""
    found = DATA.findall(page)
    assert len(found) == 1, f"{len(found)} documents"
    return json.loads(found[0])


def data_of(page):
    """The cells of a page."""
    return json.loads(inflated(page_of(page)["cells"]))


def read_cells(numbers, count):
    """{window: (allocated count, size, freed count, size, peak above)}"""
    cells, window = {}, -1
    for _ in range(count):
        head = next(numbers)
        window += head // 8 + 1
        allocated = (next(numbers), next(numbers)) if head & 1 else (0, 0)
        freed = (next(numbers), next(numbers)) if head & 2 else (0, 0)
        cells[window] = (*allocated, *freed, next(numbers) if head & 4 else 0)
    return cells


def frames_of(data):
    """Frames as (module, function, or else offset or address); with a line (.., file, line)."""
    frames, numbers = [], numbers_of(data["frames"])
    for head in numbers:
        module = data["modules"][head // 8 - 1] if head >= 8 else None
        place = next(numbers)
        source = (data["files"][next(numbers)], next(numbers)) if head & 2 else ()
        frames.append((module, data["names"][place] if head & 1 else place, *source))
    return frames


def stacks_of(data):
    frames, numbers = frames_of(data), numbers_of(data["stacks"])
    stacks, before, fresh = [], [], 0
    for shared in numbers:
        added = next(numbers)
        before = before[:shared]
        for _ in range(added):
            number = next(numbers)
            if number == 0:
                fresh += 1
            before = before + [fresh - 1 if number == 0 else number - 1]
        stacks.append(tuple(frames[i] for i in reversed(before)))
    return stacks


def rows_of(data):
    """Rows as (group, stack, peak, start, {type: (count, size)}, cells or None)."""
    stacks, numbers, rows = stacks_of(data), numbers_of(data["rows"]), []
    for group in numbers:
        stack, bits, peak = next(numbers), next(numbers), next(numbers)
        start = (next(numbers), next(numbers)) if bits & 32 else (0, 0)
        amounts = {name: (next(numbers), next(numbers)) for i, name in enumerate(TYPES) if bits >> i & 1}
        cells = read_cells(numbers, next(numbers)) if bits & 16 else None
        rows.append((data["groups"][group], stacks[stack - 1] if stack else None, peak, start, amounts, cells))
    return rows


def check_threads(results, name, data, trace, *options):
    """Sums by heap, thread and type; all of them, as there are few."""
    numbers, got = numbers_of(data["threads"]), {}
    for group in numbers:
        thread, kind = next(numbers) - 1, TYPES[next(numbers)]
        key = (group_key(data["groups"][group]), None if thread < 0 else thread, kind)
        got[key] = (next(numbers), next(numbers))
    report = run_json("report", trace, *options, "--no-symbols", "--group-by", "kind,process,heap,thread,type")
    wanted = {(key_of(row), row["thread"], row["type"]): (row["count"], row["size"]) for row in report["rows"]}
    results.equal_maps(f"{name}: its threads are those of report", got, wanted)


def time_of(number):
    return None if number == 0 else (number - 1) // 2 if number % 2 else -((number - 2) // 2)


def blocks_of(data):
    """[(group, stack, block)] with blocks as (address, size, thread, free type, from, to)."""
    rows, numbers, at, blocks = rows_of(data), numbers_of(data["blocks"]), -1, []
    for step in numbers:
        at += step
        for _ in range(next(numbers)):
            size, address, thread, end = (next(numbers) for _ in range(4))
            block = (hex(address), size, None if thread == 0 else thread - 1, data["free_types"][end])
            blocks.append((group_key(rows[at][0]), rows[at][1], (*block, time_of(next(numbers)), time_of(next(numbers)))))
    return blocks


def check_blocks(results, name, data, trace, *options):
    document = run_json("allocations", trace, *options)
    known = set()
    for row in document["rows"]:
        block = [row[key] for key in "address size thread free_type alloc_time_ns free_time_ns".split()]
        known.add((key_of(row), report_stack(document, row), tuple(block)))
    blocks = blocks_of(data)
    strange = [block for block in blocks if block not in known]
    results.check(f"{name}: its {len(blocks)} blocks are those of allocations", not strange, *strange[:3])
    results.check(f"{name}: none is there twice", len(set(blocks)) == len(blocks))
    most = defaultdict(int)
    for group, stack, _ in blocks:
        most[group, stack] += 1
    results.check(f"{name}: a stack has 25 at most", 0 < max(most.values()) <= 25, max(most.values()))
    # A stack with blocks that were not freed has as many of them as there is room for.
    left, shown = defaultdict(int), defaultdict(int)
    for row in document["rows"]:
        left[key_of(row), report_stack(document, row)] += row["free_time_ns"] is None
    for group, stack, block in blocks:
        shown[group, stack] += block[5] is None
    if sum(left.values()) < 3000:
        wanted = {key: min(count, 25) for key, count in left.items() if key in most and count}
        results.equal_maps(f"{name}: what was not freed comes first", {key: shown[key] for key in wanted}, wanted)


def report_frame(frame):
    if frame["symbol"] is None:
        return (frame["module"], int(frame["offset"] or frame["address"], 16))
    distance = f"+{frame['displacement']}" if frame.get("nearest") else ""
    source = (frame["file"], frame["line"]) if frame["line"] else ()
    return (frame["module"], frame["symbol"] + distance, *source)


def report_stack(document, row):
    if row["stack"] is None:
        return None
    return tuple(report_frame(document["frames"][i]) for i in document["stacks"][row["stack"]])


def key_of(row):
    return (row["kind"], row["process"], row["pid"], row["heap"])


def group_key(group):
    return (group["kind"], group["process"], group["pid"], group["heap"])


def check_rows(results, name, data, report):
    """Rows of the page, and the sums of what it leaves out, are those of the report."""
    wanted, by_group = {}, defaultdict(int)
    for row in report["rows"]:
        wanted[key_of(row), report_stack(report, row), row["type"]] = (row["count"], row["size"])
        by_group[key_of(row), row["type"]] += row["size"]
    got, sums = {}, defaultdict(int)
    for group, stack, _, _, amounts, _ in rows_of(data):
        for kind, amount in amounts.items():
            got[group_key(group), stack, kind] = amount
            sums[group_key(group), kind] += amount[1]
    for group in data["groups"]:
        for i, kind in enumerate(TYPES):
            sums[group_key(group), kind] += group.get("hidden", {"types": [0] * 8})["types"][2 * i + 1]
    results.equal_maps(f"{name}: its rows are rows of the report", {k: wanted.get(k) for k in got}, got)
    drop = lambda sums: {key: size for key, size in sums.items() if size}
    results.equal_maps(f"{name}: with what is left out they add up", drop(sums), drop(by_group))
    return len(got), len(wanted)


def check_totals(results, name, data, report):
    totals = {total["kind"]: total for total in report["totals"] if total["count"]}
    for kind in data["kinds"]:
        groups = [group["types"] for group in data["groups"] if group["kind"] == kind["kind"]]
        groups += [left["types"] for word, left in data["hidden_groups"].items() if word == kind["kind"]]
        sums = [sum(column) for column in zip(*groups)]
        total = totals[kind["kind"]]
        got = (sum(sums[0::2]), sum(sums[1::2]), sums[0] + sums[6], sums[1] + sums[7], sums[1] - sums[5])
        words = "count size outstanding_count outstanding_size impacting_size".split()
        results.equal(f"{name}: totals of {kind['kind']}", got, tuple(total[word] for word in words))
    results.equal(f"{name}: its kinds", {kind["kind"] for kind in data["kinds"]}, set(totals))


def cell_of(row):
    """What a window's row comes to in the page."""
    return (
        row["aifi_count"] + row["aifo_count"],
        row["aifi_size"] + row["aifo_size"],
        row["aifi_count"] + row["aofi_count"],
        row["aifi_size"] + row["aofi_size"],
    )


def check_cells(results, name, things, windows, key):
    """things: {key: (start size, cells)}; windows: the document grouped by that key."""
    wanted, got = {}, {}
    for i, window in enumerate(windows["windows"]):
        for row in window["rows"]:
            if key(windows, row) in things:
                wanted[key(windows, row), i] = (*cell_of(row), row["outstanding_size"], row["peak_size"])
    for thing, (start, cells) in things.items():
        size = start
        for i in range(len(windows["windows"])):
            before, cell = size, cells.get(i, (0, 0, 0, 0, 0))
            size += cell[1] - cell[3]
            got[thing, i] = (*cell[:4], size, max(before, size) + cell[4])
    quiet = (0, 0, 0, 0, 0, 0)
    got = {where: cell for where, cell in got.items() if where in wanted or cell != quiet}
    results.equal_maps(f"{name}: {len(wanted)} cells are those of windows", got, wanted)


def check_windows(results, name, data, trace, *options):
    every = f"{data['window']['every_ns']}ns"
    arguments = (trace, *options, "--every", every, "--at-exit", data["window"]["at_exit"], "--no-symbols")
    ask = lambda keys: run_json("windows", *arguments, "--group-by", keys)
    kinds = {
        kind["kind"]: (kind["start_size"], read_cells(numbers_of(kind["cells"]), kind["news"]))
        for kind in data["kinds"]
    }
    check_cells(results, f"{name}, kinds", kinds, ask("kind"), lambda _, row: row["kind"])
    groups = {
        group_key(group): (group["start_size"], read_cells(numbers_of(group["cells"]), group["news"]))
        for group in data["groups"]
        if group["cells"] is not None
    }
    check_cells(results, f"{name}, heaps", groups, ask("kind,process,heap"), lambda _, row: key_of(row))
    rows = {
        (group_key(group), stack): (start[1], cells)
        for group, stack, _, start, _, cells in rows_of(data)
        if cells is not None
    }
    stacks = ask("kind,process,heap,stack")
    check_cells(
        results, f"{name}, stacks", rows, stacks, lambda document, row: (key_of(row), report_stack(document, row))
    )
    edges = [window["from_ns"] for window in stacks["windows"]] + [stacks["windows"][-1]["to_ns"]]
    results.equal(f"{name}: the edges of its windows", data["window"]["edges_ns"], edges)


def command_of(page, document):
    """The words of the command line that prints a document: its own options, and those of the page's
    selection that it does not repeat, as far as the command has them."""
    options = [word for name, value in document["options"] for word in ([f"--{name}"] if value == "" else [f"--{name}={value}"])]
    names = {name for name, _ in document["options"]}
    selection, at = page["selection"], 0
    while at < len(selection):
        name, words = selection[at][2:], 1 + (at + 1 < len(selection) and not selection[at + 1].startswith("--"))
        is_in = name in names and name not in ("exclude-frame", "fold-module", "cull-frame")
        is_for = not ("unmatched" in names and name == "at-exit") and not (document["command"] == "symbols" and name in ("lifetime", "exclude-frame", "no-symbols"))
        if not is_in and is_for and not ("at" in names and name in ("from", "to")) and document["command"] != "info":
            options += selection[at : at + words]
        at += words
    return [document["command"], *page["inputs"], *options]


def known_facts(document, is_selected):
    """What a document of the page and that of the command have in common. The page is made while all is
    read, and `info` without it; `symbols` counts modules of one question, and a page of several."""
    if document["schema"] == "etlheap-info-1":
        names = ["trace", "processes", "marks"] + ([] if is_selected else ["recorded", "questions"])
        return {key: document[key] for key in names}
    diagnostics = [one for one in document["diagnostics"] if one["name"] != "symbol_missing"]
    return {**document, "diagnostics": diagnostics}


def check_documents(results, name, page):
    """Each has the bytes of its command. What is cut has as many rows as it says."""
    same = 0
    for document in page["documents"]:
        words = command_of(page, document)
        got, wanted = inflated(document["deflated"]), run(*words, "--format", "json")
        if got == wanted:
            same += 1
        elif document["command"] in ("info", "symbols"):
            pair = [known_facts(json.loads(one), page["selection"] != []) for one in (got, wanted)]
            results.check(f"{name}: what the page shows of {' '.join(words)}", pair[0] == pair[1], *pair)
        else:
            results.check(f"{name}: {' '.join(words)}", False, got[:2000], wanted[:2000])
        top = dict(document["options"]).get("top")
        rows = json.loads(got).get("rows")
        if document["is_cut"] and rows is not None:
            results.check(f"{name}: {' '.join(words)} is cut as it says", len(rows) == int(top), len(rows), top)
    kinds = {value for document in page["documents"] for option, value in document["options"] if option == "kind" and "," not in value}
    results.check(f"{name}: {same} of {len(page['documents'])} documents have the bytes of their commands",
                  same >= 19 * len(kinds) > 0 and same + 1 + len(kinds) >= len(page["documents"]), kinds)


def check_trace(results, name, trace, *options):
    page = page_of(run("export", trace, *options, "--format", "html", "--no-symbols"))
    data = json.loads(inflated(page["cells"]))
    check_documents(results, name, page)
    report = run_json("report", trace, *options, "--no-symbols")
    shown, there = check_rows(results, name, data, report)
    results.check(f"{name}: {shown} of {there} rows are shown", shown == there or shown > 5000)
    check_totals(results, name, data, report)
    check_windows(results, name, data, trace, *options)
    check_threads(results, name, data, trace, *options)
    check_blocks(results, name, data, trace, *options, "--no-symbols")
    results.equal(f"{name}: its diagnostics are those of report", data["diagnostics"], report["diagnostics"])


def check_names(results):
    """Functions, files and lines of a real program are those of the report."""
    folder = os.path.normpath(os.path.join(TRACES, "..", "symbols"))
    program = os.path.join(folder, "redis-cli.exe")
    if not os.path.exists(program):
        print(f"skipped: {program} is not here; set TRACES to the folder beside it")
        return
    from oracle_symbols import Program, make_trace as make_symbol_trace, memory

    redis = Program(program, None)
    chance = random.Random(4)
    calls = [redis.at(0x1000 + chance.randrange(0x40000)) for _ in range(60)]
    words = ["alloc", "freed", "commit"]
    blocks = [memory(chance.choice(words), 100 + size, chance.choices(calls, k=6)) for size in range(150)]
    trace = make_symbol_trace("html", redis.lines(), *blocks)
    page = page_of(run("export", trace, "--format", "html", "--symbols", folder))
    data = json.loads(inflated(page["cells"]))
    check_documents(results, "names", page)
    check_rows(results, "names", data, run_json("report", trace, "--symbols", folder))
    check_blocks(results, "names", data, trace, "--symbols", folder)
    frames = frames_of(data)
    named = sum(isinstance(frame[1], str) for frame in frames)
    results.check("names: frames have names, and lines", named > 50 and any(len(one) == 4 for one in frames), named)
    results.equal("names: the page knows that symbols were asked for", page["symbols"], "ready")


def make_trace(folder, scenario, *options):
    path = os.path.join(folder, scenario + ".etl")
    subprocess.run([MAKE_TRACE, scenario, path, *options], check=True, stdout=subprocess.DEVNULL)
    return path


def same_page(page):
    """All that a page says but the names of its files, and what only a trace knows of its records."""
    texts = [(one["command"], one["options"], json.loads(inflated(one["deflated"]))) for one in page["documents"] if one["command"] != "info"]
    texts.append(("cells", [], json.loads(inflated(page["cells"]))))
    for _, _, document in texts:
        document["trace"].pop("files")
    return texts


def check_bytes(results, folder, trace):
    pages = [run("export", trace, "--format", "html", "--no-symbols", "-j", jobs) for jobs in (1, 2, 7)]
    results.check("the same bytes with -j1, -j2 and -j7", pages[0] == pages[1] == pages[2])
    store = os.path.join(folder, "trace.ehs")
    run("store", trace, "-o", store)
    stored, read = page_of(run("export", store, "--format", "html", "--no-symbols")), page_of(pages[0])
    results.check("a store gives the same page", same_page(stored) == same_page(read))
    packed = os.path.join(folder, "page.html.zst")
    run("export", trace, "--format", "html", "--no-symbols", "-o", packed)
    with open(packed, "rb") as file:
        results.equal("-o FILE.zst is compressed", file.read(4), b"\x28\xb5\x2f\xfd")
    text = pages[0].decode("utf-8")
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    outside = re.findall(r'(?:src|href)="(?!#|data:,")[^"]*"|@import|url\((?!#)|https?://', markup)
    results.equal("nothing is loaded from anywhere", outside, [])
    results.check("its policy forbids it too", "content=\"default-src 'none';" in text)


def check_summary(results, folder, trace):
    summary = os.path.join(folder, "summary.ehs")
    run("store", trace, "--summary", "-o", summary)
    page = os.path.join(folder, "summary.html")
    command = [ETLHEAP, "export", summary, "--format", "html", "-o", page]
    done = subprocess.run(command, capture_output=True, check=False)
    said = done.stderr.decode()
    good = done.returncode == 3 and "a summary has no single lifetimes" in said and not os.path.exists(page)
    results.check("a summary is refused, and no file is left", good, done.returncode, said)


def check_many_processes(results, trace):
    """The page lists some of the processes, and maps fewer; each by an option of the command."""
    check_trace(results, "many processes", trace)
    page = page_of(run("export", trace, "--format", "html", "--no-symbols"))
    documents = {(one["command"], *(name for name, value in one["options"] if value == "")): one for one in page["documents"]}
    listed = json.loads(inflated(documents["info",]["deflated"]))
    counts = len(listed["processes"]), listed["processes_left_out_count"]
    results.check("many processes: 200 of 300 are listed", counts == (200, 100), counts)
    mapped = json.loads(inflated(documents["report", "map"]["deflated"]))["processes"]
    largest = run_json("report", trace, "--map")["processes"][: len(mapped)]
    results.check("many processes: the 20 largest have maps", len(mapped) == 20 and mapped == largest, len(mapped))


def main():
    results = Results()
    os.environ.pop("_NT_SYMBOL_PATH", None)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        demo = make_trace(folder, "demo")
        check_trace(results, "demo", demo)
        check_trace(results, "demo from 3 s to 11 s", demo, "--from", "3s", "--to", "11s", "--at-exit", "freed")
        workload = make_trace(folder, "workload", "--seed", "11", "--events", "2000")
        check_trace(results, "workload", workload)
        check_trace(results, "workload, one kind", workload, "--kind", "virtualalloc", "--size", "64K..")
        check_trace(results, "demo, without frames", demo, "--exclude-frame", "MemoryTestApp.exe!", "--process", "Bat*,Mem*")
        freed = make_trace(folder, "workload", "--seed", "12", "--events", "1000", "--free-stacks")
        check_trace(results, "workload with stacks of frees", freed)
        check_trace(results, "workload with stacks of frees, small blocks", freed, "--size", "..4K")
        check_trace(results, "kitchen sink", make_trace(folder, "kitchen-sink"))
        check_many_processes(results, make_trace(folder, "processes", "--events", "300"))
        check_bytes(results, folder, workload)
        check_summary(results, folder, demo)
    check_names(results)
    results.finish()


if __name__ == "__main__":
    main()
