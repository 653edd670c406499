#!/usr/bin/env python3
"""Rows by function against rows by stack and by site, added up here, and against pprof's cum and flat.

A block counts in every function of its stack, once each, however often a function calls itself; its
exclusive count and size are in the function that is its site. So for every query the rows by function
are the sums of those rows by stack that contain the function, and the exclusive sums are those of the
rows by site. A frame without a name is a function of its own; an inlined call is one, too.
"""

import csv
import io
import os
import subprocess
from collections import defaultdict

from oracle_export import cleaned, export, frame_text
from oracle_export_events import HEAPTRACK
from oracle_export_pprof import Profile
from oracle_focus import write_log
from oracle_support import ETLHEAP, WORK, Results, run, run_json

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
SUMS = ["count", "size", "impacting_size", "outstanding_count", "outstanding_size", "realloc_count"]
MORE = ["alloc_count", "freed_size", "temporary_count", "freed_by_other_count"]
NOTE = "A block counts in every function of its stack"


def identity(document, index):
    """What makes two frames one function."""
    if index is None:
        return None
    frame = document["frames"][index]
    if frame["symbol"]:
        return frame["module"], frame["symbol"]
    return frame["module"], frame["offset"], frame["address"] if frame["module"] is None else None


def keys_of(document, row):
    return tuple(str(row.get(key)) for key in document["group_by"] if key not in ("stack", "site", "function"))


def by_stack(document, names):
    """{(other keys, function): sums} of rows by stack."""
    sums = {}
    for row in document["rows"]:
        stack = [] if row["stack"] is None else document["stacks"][row["stack"]]
        for function in {identity(document, index) for index in stack} or {None}:
            one = sums.setdefault((keys_of(document, row), function), [0] * len(names))
            for at, name in enumerate(names):
                one[at] += row[name]
    return sums


def by_key(document, key, names):
    rows = {(keys_of(document, row), identity(document, row[key])): [row[name] for name in names] for row in document["rows"]}
    assert len(rows) == len(document["rows"]), "no two rows have one function"
    return rows


def check(results, path, options, keys="kind,process", more=()):
    name = f"{os.path.basename(path)} {' '.join(options)} {keys}"
    ask = ["report", path, *options]
    columns = ["--columns", ",".join(f"+{name}" for name in more)] if more else []
    names = SUMS + list(more)
    document = run_json(*ask, *columns, "--group-by", f"{keys},function")
    wanted = by_stack(run_json(*ask, *columns, "--group-by", f"{keys},stack"), names)
    got = by_key(document, "function", names)
    results.equal_maps(f"{name}: {len(wanted)} functions", got, wanted)
    results.check(f"{name}: the sums say that they exceed totals", document.get("inclusive") is True)
    sites = by_key(run_json(*ask, "--group-by", f"{keys},site"), "site", ["count", "size"])
    exclusive = {key: both for key, both in by_key(document, "function", ["exclusive_count", "exclusive_size"]).items() if any(both)}
    results.equal_maps(f"{name}: {len(sites)} sites", exclusive, {key: both for key, both in sites.items() if any(both)})
    if path.endswith("-sums.ehs"):
        peaks = [row for row in document["rows"] if row.get("type") != "AIFO" and row.get("peak_size") is not None]
        results.check(f"{name}: no peak is made up", not peaks, peaks[:1])
    return document


def running(blocks, from_ns, to_ns):
    """The largest size and count at the window's begin or after all events of one of its times."""
    moves = defaultdict(lambda: [0, 0])
    for begin, end, size in blocks:
        for at, sign in ((begin, 1), (end, -1)):
            if at is not None and at < to_ns:
                moves[max(at, from_ns - 1)][0] += sign * size
                moves[max(at, from_ns - 1)][1] += sign
    size = count = most_size = most_count = 0
    for at in sorted(moves):
        size, count = size + moves[at][0], count + moves[at][1]
        most_size, most_count = max(most_size, size), max(most_count, count)
    return most_size, most_count


def check_lower(results, path, options, got):
    """What is drawn from blocks is not what stacks add up to."""
    sums = defaultdict(int)
    stacks = run_json("report", path, *options, "--group-by", "kind,process,stack")
    for row in stacks["rows"]:
        stack = [] if row["stack"] is None else stacks["stacks"][row["stack"]]
        for function in {identity(stacks, index) for index in stack} or {None}:
            sums[keys_of(stacks, row), function] += row["peak_size"]
    lower = sum(1 for key, (size, _) in got.items() if size < sums[key])
    results.check("some peaks are lower than those of their stacks together", lower > 0, f"{lower} of {len(got)}")


def check_peaks(results, path, options, keys="kind,process"):
    """Peaks do not add up over stacks: here each function's curve is drawn from single blocks."""
    document = run_json("report", path, *options, "--group-by", f"{keys},function")
    listed = run_json("allocations", path, *options, "--top", "all")
    blocks = defaultdict(list)
    for row in listed["rows"]:
        stack = [] if row["stack"] is None else listed["stacks"][row["stack"]]
        for function in {identity(listed, index) for index in stack} or {None}:
            blocks[keys_of(document, row), function].append((row["alloc_time_ns"], row["free_time_ns"], row["size"]))
    window = document["window"]
    wanted = {key: list(running(of, window["from_ns"], window["to_ns"])) for key, of in blocks.items()}
    got = by_key(document, "function", ["peak_size", "peak_count"])
    results.equal_maps(f"{os.path.basename(path)} {' '.join(options)} {keys}: peaks of {len(got)} functions", got, wanted)
    if keys == "kind,process" and "--size" not in options:
        check_lower(results, path, options, got)
    ordered = [row["peak_size"] for row in run_json("report", path, *options, "--group-by", f"{keys},function", "--sort", "peak_size")["rows"]]
    results.equal("ordered by the peak", ordered, sorted(ordered, reverse=True))


def check_texts(results, path, options, document):
    ask = ["report", path, *options, "--group-by", "kind,process,function"]
    for form in ("text", "markdown"):
        text = " ".join(run(*ask, "--format", form).decode().split())
        results.check(f"{form} says that rows add up to more", NOTE in text, text[:300])
    results.check("rows by site say nothing of it", NOTE not in run("report", path, *options, "--group-by", "site").decode())
    cells = list(csv.DictReader(io.StringIO(run(*ask, "--format", "csv").decode(), newline="")))
    names = [*SUMS, "exclusive_count", "exclusive_size"]
    results.equal("CSV has the rows of JSON", [[int(cell[name]) for name in names] for cell in cells],
                  [[row[name] for name in names] for row in document["rows"]])
    for jobs in ("-j1", "-j7"):
        results.equal(f"{jobs}: the same document", run_json(*ask, jobs), document)
    ordered = [row["exclusive_size"] for row in run_json(*ask, "--sort", "exclusive_size")["rows"]]
    results.equal("ordered by the exclusive size", ordered, sorted(ordered, reverse=True))
    results.check("the order shows something", len(set(ordered)) > 3)


def function_of(name):
    """Without the displacement of a name that is only the nearest one."""
    return name.split("+0x")[0] if "!" in name else name


def check_pprof(results, path, options):
    """The rules of profile.proto: cum is a sample's value once for each function of it, flat is for its first."""
    sums = defaultdict(lambda: [0, 0])
    profile = Profile(export(path, "pprof", *options))
    at = {label: number for number, (label, _) in enumerate(profile.types)}
    for stack, values, _ in profile.samples:
        names = [function_of(name) for _, _, lines in stack for name, _, _ in lines]
        for kind in ("heap", "virtualalloc", "extent"):
            value = values[at[("" if kind == "heap" else kind + "_") + "alloc_objects"]]
            for name in set(names):
                sums[kind, name][0] += value
            sums[kind, names[0]][1] += value
    document = run_json("report", path, *options, "--group-by", "kind,function")
    rows = {}
    for row in document["rows"]:
        frame = None if row["function"] is None else document["frames"][row["function"]]
        if frame is not None:
            one = rows.setdefault((row["kind"], function_of(cleaned(frame_text(frame)))), [0, 0])
            one[0] += row["count"]
            one[1] += row["exclusive_count"]
    got = {key: both for key, both in sums.items() if key in rows}
    results.equal_maps(f"{os.path.basename(path)}: cum and flat of {len(rows)} functions", rows, got)


def flame_sum(path, cost, function):
    """What heaptrack_print adds up over the backtraces that contain the function."""
    flame = path + ".flame"
    subprocess.run([HEAPTRACK, "-f", path, "-p", "0", "-a", "0", "-T", "0", "-F", flame, "--flamegraph-cost-type", cost,
                    "--filter-bt-function", function, "--disable-builtin-suppressions"], capture_output=True, check=True)
    with open(flame, encoding="utf-8") as file:
        return sum(int(line.rsplit(" ", 1)[1]) for line in file if line.strip())


def check_heaptrack(results, path, options):
    """heaptrack_print reads the exported file and has sums of its own over the backtraces with a function."""
    if not HEAPTRACK:
        results.skip("heaptrack_print adds up the same", "heaptrack_print is not installed")
        return
    exported = os.path.join(WORK, "functions.heaptrack")
    with open(exported, "wb") as file:
        file.write(export(path, "heaptrack", "--kind", "heap", *options))
    document = run_json("report", path, "--kind", "heap", *options, "--group-by", "function")
    rows = {}
    for row in document["rows"]:
        symbol = row["function"] is not None and document["frames"][row["function"]]["symbol"]
        if symbol:
            rows[symbol] = [row["count"], row["outstanding_size"]]
    # The filter looks for a part of the name.
    alone = [name for name in rows if sum(name in other for other in rows) == 1]
    got = {name: [flame_sum(exported, cost, name) for cost in ("allocations", "leaked")] for name in alone}
    results.equal_maps(f"heaptrack_print adds up the same for {len(alone)} functions", {name: rows[name] for name in alone}, got)
    for name in alone[:6]:
        focus = run_json("report", path, "--kind", "heap", *options, "--focus", f"!{name}", "--sort", "count")
        sums = [[row["count"], row["size"]] for row in focus["sums"]]
        results.equal(f"--focus {name} counts as many blocks", [count for count, _ in sums], [got[name][0]])
    results.check("functions share blocks", sum(count for count, _ in got.values()) > document["totals"][0]["count"])


def amounts(document, values):
    return {(keys_of(document, row), identity(document, row["function"])): values(row) for row in document["rows"]}


def check_compared(results, base, new, options):
    """A function's change is the difference of its rows in the two reports; a run's value in a trend is that of its report."""
    sides = [by_key(run_json("report", path, *options, "--group-by", "kind,function"), "function", ["outstanding_size", "outstanding_count"])
             for path in (base, new)]
    document = run_json("diff", base, new, *options, "--group-by", "kind,function", "--all")
    none = [0, 0]
    wanted = {key: [sides[1].get(key, none)[at] - sides[0].get(key, none)[at] for at in (0, 1)] for key in {*sides[0], *sides[1]}}
    got = amounts(document, lambda row: [row["delta_outstanding_size"], row["delta_outstanding_count"]])
    results.equal_maps(f"diff: {len(got)} functions", got, {key: value for key, value in wanted.items() if key in got or any(value)})
    results.check("diff: some change", sum(any(value) for value in got.values()) > 3)
    totals = [{row["kind"]: row["outstanding_size"] for row in run_json("report", path, *options)["totals"]} for path in (base, new)]
    changes = {row["kind"]: row["delta_outstanding_size"] for row in document["totals"]}
    results.equal("diff: totals are those of the runs", changes, {kind: totals[1].get(kind, 0) - totals[0].get(kind, 0) for kind in changes})
    trend = run_json("trend", base, base, new, *options, "--group-by", "kind,function", "--all", "--in-order")
    got = amounts(trend, lambda row: row["sizes"])
    wanted = {key: [sides[0].get(key, none)[0], sides[0].get(key, none)[0], sides[1].get(key, none)[0]] for key in got}
    results.equal_maps(f"trend: {len(got)} functions", got, wanted)
    for command, *runs in (("diff", base, new), ("trend", base, base, new)):
        for form in ("text", "markdown"):
            text = " ".join(run(command, *runs, *options, "--group-by", "function", "--format", form).decode().split())
            results.check(f"{command} {form} says that rows add up to more", NOTE.lower() in text.lower(), text[:300])
    results.check("diff JSON says it", "rows_share_blocks" in [hint["name"] for hint in document["hints"]])


def refused(*arguments):
    done = subprocess.run([ETLHEAP, *arguments], capture_output=True, text=True)
    return done.stderr if done.returncode == 2 or done.returncode == 1 else f"{done.returncode}"


def check_refusals(results, path):
    for options in (["--tree"], ["--focus", "x"], ["--growth"], ["--suspects"], ["--spikes"], ["--sort", "lifetime_median_ns"], ["--columns", "growth_rate"]):
        said = refused("report", path, "--group-by", "function", *options)
        words = [word.lstrip("-") for word in options if word.startswith("--")][:1] + ["function"]
        if options[0] in ("--sort", "--columns"):
            words = ["function"]
        results.check(f"report refuses function with {' '.join(options)}", all(word in said for word in words), said)
    for other in ("stack", "frame", "site", "source_line", "impacting_stack"):
        said = refused("report", path, "--group-by", f"function,{other}")
        results.check(f"function beside {other} is refused", "function" in said and other in said, said)
    said = refused("windows", path, "--every", "1s", "--group-by", "function")
    results.check("windows refuses function", "--group-by function" in said and "several" in said, said)
    said = refused("report", path, "--sort", "exclusive_size")
    results.check("exclusive sizes need the key", "exclusive_size" in said and "--group-by function" in said, said)


def main():
    results = Results()
    folder = os.path.join(WORK, "functions")
    run("selftest", "--write-demo", folder)
    demo, symbols = os.path.join(folder, "demo.etl"), ["--symbols", os.path.join(folder, "symbols")]
    log, trace = os.path.join(WORK, "functions.txt"), os.path.join(WORK, "functions.etl")
    write_log(log, 3)
    subprocess.run([MAKE_TRACE, "workload", trace, "--seed", "6", "--events", "2000"], check=True, capture_output=True)
    for path in (demo, trace):
        base = path[:-4]
        run("store", path, "-o", base + ".ehs")
        run("store", path, "--summary", "-o", base + "-sums.ehs")
    whole = check(results, demo, symbols)
    check_texts(results, demo, symbols, whole)
    results.check("functions have names", any(frame["symbol"] for frame in whole["frames"]))
    check(results, demo[:-4] + ".ehs", [*symbols, "--no-cull", "-j", "7"])
    check(results, demo[:-4] + "-sums.ehs", symbols)
    check(results, demo, [*symbols, "--from", "3s", "--to", "9s"], more=MORE)
    check(results, demo, [*symbols, "--exclude-frame", "*append"], "kind,type")
    check(results, demo[:-4] + ".ehs", [*symbols, "--require-frame", "*append", "--size", "..5K"], "kind,thread")
    check(results, demo, [*symbols, "--fold-module", "kernel32.dll!"], "kind,module")
    check(results, log, ["--no-symbols", "--no-cull"])
    check(results, log, ["--no-symbols", "--no-cull", "--fold-module", "lib one.dll!"])
    check(results, trace, ["--no-symbols", "-j", "7"], "kind,process,heap", more=MORE)
    check(results, trace[:-4] + ".ehs", ["--no-symbols", "--at-exit", "freed"], "kind,size_class")
    check(results, trace[:-4] + "-sums.ehs", ["--no-symbols", "--kind", "heap,extent"], "kind,process,type")
    check(results, trace, ["--no-symbols", "--at", "peak"])
    for path, options in ((demo, symbols), (demo[:-4] + ".ehs", [*symbols, "-j7"]), (demo, [*symbols, "--from", "3s", "--to", "9s"])):
        check_peaks(results, path, options)
        check_peaks(results, path, options, "kind,type,process")
    for path, options in ((trace, ["-j1"]), (trace, ["-j7"]), (trace[:-4] + ".ehs", ["--from", "1ms", "--to", "700ms"]), (trace, ["--size", "64..4K"])):
        check_peaks(results, path, [*options, "--no-symbols"])
    check_peaks(results, trace, ["--no-symbols", "--kind", "heap"], "kind,type")
    check_peaks(results, trace, ["--no-symbols", "-j7"], "kind,thread,type")
    fixed = os.path.join(WORK, "functions-fixed.etl")
    subprocess.run([MAKE_TRACE, "battery-meter-fixed", fixed], check=True, capture_output=True)
    check_compared(results, demo, fixed, symbols)
    check_pprof(results, trace, ["--no-symbols", "--no-cull"])
    check_pprof(results, demo, [*symbols])
    check_heaptrack(results, demo, [*symbols])
    check_heaptrack(results, demo, [*symbols, "--no-cull"])
    check_refusals(results, trace)
    results.finish()


if __name__ == "__main__":
    main()
