#!/usr/bin/env python3
"""
Measures etlheap against its targets, its limits and its peers, and prints one table.

    run_bench.py --programs FOLDER --inputs FOLDER --etlheap PROGRAM [--traces FOLDER]
                 [--modules FOLDER] [--runs 5] [--only WORD,...]
    run_bench.py --programs FOLDER --inputs FOLDER --clean

README.md beside this file says what each row means. A group of rows is a function
in GROUPS; --only picks groups by name.
"""

import argparse
import glob
import importlib.util
import json
import os
import platform
import shutil
import statistics
import sys

from bench_inputs import (BenchError, Inputs, check_report, find_program, has_command, note,
                          run_quietly)
from bench_measure import Row, Rounds, print_table, wall_and_memory, wall_seconds

MB = 1e6
MIB = 1 << 20
JOBS = 2  # the targets are for two cores
LARGE_RUNS = 3  # of the largest input
SYMBOL_ADDRESSES = 1000000


class Bench:
    """What the groups of rows share."""

    def __init__(self, options):
        self.etlheap = options.etlheap
        self.inputs = Inputs(options.programs, options.inputs)
        self.traces = options.traces
        self.modules = options.modules
        self.runs = options.runs

    def report(self, path, jobs=JOBS):
        return [self.etlheap, "report", path, f"-j{jobs}"]

    def report_with_peaks(self, path):
        """Shows the largest size of each row too, which takes the order of all events."""
        return [*self.report(path), "--sort", "peak_size"]

    def tool(self, name):
        return self.inputs.program(name)


def builder_rows(bench):
    """How fast the inputs are made, without the disk."""
    command = [bench.tool("make_bench"), "H", "/dev/null"]
    size = bench.inputs.facts("H")["bytes"]
    values = [size / wall_seconds(command) / MB for _ in range(bench.runs)]
    return [Row("builder writes H", values, "MB/s", 500)]


def heap_rows(bench):
    """H, HK and HC, the plain sum and heaptrack, in turns."""
    inputs = bench.inputs
    h, hk, hc = (inputs.make(name) for name in ("H", "HK", "HC"))
    rounds = Rounds(bench.runs)
    rounds.add("H -j2", bench.report(h))
    rounds.add("H with peaks", bench.report_with_peaks(h))
    rounds.add("sum", [bench.tool("bench_sum"), h, str(JOBS)])
    rounds.add("H -j1", bench.report(h, 1))
    for threads in (1, JOBS):
        rounds.add(f"arithmetic {threads}", [bench.tool("bench_scale"), str(threads)])
    rounds.add("HK -j2", bench.report(hk))
    rounds.add("HC -j1", bench.report(hc, 1))
    heaptrack = add_heaptrack(bench, rounds)
    for name in ("H", "HK", "HC"):
        check_report(bench.etlheap, name, inputs)
    inputs.warm(h, hk, hc)
    rounds.run()

    size, events = inputs.facts("H")["bytes"], inputs.events("H")
    events_hk = inputs.events("HK")
    rows = [
        Row("report on H, -j2", rounds.rates("H -j2", size / MB), "MB/s", 2000, 4000),
        Row("report on H, -j2, allocs + frees", rounds.rates("H -j2", events / 1e6), "M/s"),
        Row("  with peaks of rows", rounds.rates("H with peaks", events / 1e6), "M/s"),
        Row("plain 64-bit sum over H, 2 threads", rounds.rates("sum", size / MB), "MB/s"),
        Row("report's time in times of the sum", rounds.ratios("H -j2", "sum"), "x", 8, 4,
            at_most=True),
        Row("report on H, -j1 to -j2", rounds.ratios("H -j1", "H -j2"), "x", 1.8, 1.95),
        Row("  arithmetic alone, 1 to 2 threads",
            rounds.ratios("arithmetic 1", f"arithmetic {JOBS}"), "x"),
    ]
    if heaptrack:
        rows += [
            Row("heaptrack_print on the same events", rounds.rates("heaptrack", events / 1e6),
                "M/s"),
            Row("etlheap's events/s in heaptrack_print's",
                rounds.ratios("heaptrack", "H -j2"), "x", 1.5, 2.5),
            Row("  with one thread each", rounds.ratios("heaptrack", "H -j1"), "x"),
            Row("  with peaks of rows", rounds.ratios("heaptrack", "H with peaks"), "x"),
        ]
    rows += [
        Row("report on HC, -j1, uncompressed bytes",
            rounds.rates("HC -j1", inputs.facts("HC")["bytes_uncompressed"] / MB), "MB/s", 450,
            700),
        Row("events/s on HK in those on H",
            rounds.ratios("H -j2", "HK -j2", events_hk / events), "x", 0.9, 1.1),
    ]
    return rows


def add_heaptrack(bench, rounds):
    """heaptrack_print reads plain text faster than compressed, so that is what it gets."""
    program = find_program("heaptrack_print")
    if program is None:
        note("heaptrack is not installed, its rows are left out: make bench-deps, or"
             " apt-get install heaptrack")
        return False
    path = bench.inputs.make_heaptrack()
    bench.inputs.warm(path)
    facts = bench.inputs.facts("H")
    text = run_quietly([program, "-f", path])
    if f"calls to allocation functions: {facts['heap_allocs']} " not in text:
        raise BenchError("heaptrack_print does not find the allocations of H in its file")
    rounds.add("heaptrack", [program, "-f", path])
    return True


def xpress_rows(bench):
    """The decoder alone, on compressed buffers of real traces."""
    paths = sorted(glob.glob(os.path.join(bench.traces or "", "*compressed*.etl")))
    if not paths:
        note("no compressed traces in TRACES, the decoder's row is left out")
        return []
    found = json.loads(run_quietly([bench.tool("bench_xpress"), str(bench.runs), *paths]))
    return [Row(f"XPRESS decoder, {found['buffers']} real buffers",
                [rate / MB for rate in found["bytes_per_second"]], "MB/s", 1000, 1500)]


def size_rows(bench):
    """1 GiB against 8 GiB of the same workload: time and anonymous memory."""
    inputs = bench.inputs
    paths = {name: inputs.make(name) for name in ("H1", "H8")}
    seconds = {name: [] for name in paths}
    memory = {name: [] for name in paths}
    for name, path in paths.items():
        check_report(bench.etlheap, name, inputs)
        inputs.warm(path)
    for _ in range(min(LARGE_RUNS, bench.runs)):
        for name, path in paths.items():
            one = wall_and_memory(bench.tool("rss_anon"), bench.report(path))
            seconds[name].append(one[0])
            memory[name].append(one[1])
    growth = inputs.facts("H8")["bytes"] / inputs.facts("H1")["bytes"]
    return [
        Row("report on H8, -j2, peak of RssAnon", [value / MIB for value in memory["H8"]], "MiB",
            512, 256, at_most=True),
        Row(f"time of H8 in times of H1 ({growth:.2f} x the bytes)",
            [a / b for a, b in zip(seconds["H8"], seconds["H1"])], "x", 8.4, at_most=True),
        Row("RssAnon of H8 in times of H1",
            [a / b for a, b in zip(memory["H8"], memory["H1"])], "x", 1.3, at_most=True),
    ]


def virtual_rows(bench):
    path = bench.inputs.make("V")
    facts = bench.inputs.facts("V")
    check_report(bench.etlheap, "V", bench.inputs)
    bench.inputs.warm(path)
    rounds = Rounds(bench.runs)
    rounds.add("V", bench.report(path))
    rounds.run()
    calls = facts["virtual_allocs"] + facts["virtual_frees"]
    return [Row("report on V, -j2", rounds.rates("V", facts["bytes"] / MB), "MB/s"),
            Row("report on V, -j2, VirtualAlloc + VirtualFree", rounds.rates("V", calls / 1e6),
                "M/s")]


def store_rows(bench):
    """Size and speed of the columnar store."""
    inputs = bench.inputs
    trace, store = inputs.make("H"), inputs.path("H.ehs")
    written = [wall_seconds([bench.etlheap, "store", trace, "-o", store, f"-j{JOBS}"])
               for _ in range(bench.runs)]
    rounds = Rounds(bench.runs)
    rounds.add("trace", bench.report(trace))
    rounds.add("store", bench.report(store))
    rounds.add("trace with peaks", bench.report_with_peaks(trace))
    rounds.add("store with peaks", bench.report_with_peaks(store))
    rounds.run()
    facts = inputs.facts("H")
    return [
        Row("store H, -j2", [facts["bytes"] / seconds / MB for seconds in written], "MB/s"),
        Row(".ehs of H, per lifetime", [os.path.getsize(store) / facts["heap_allocs"]], "bytes",
            16, 12, at_most=True),
        Row("report from the trace in times of the store", rounds.ratios("trace", "store"), "x",
            20, 50),
        Row("  with peaks of rows", rounds.ratios("trace with peaks", "store with peaks"), "x"),
    ]


def batch_rows(bench):
    """Many small traces stored in one run, each by itself."""
    inputs = bench.inputs
    folder, out = inputs.make_small(), inputs.path("small.out")
    traces = sorted(glob.glob(os.path.join(folder, "*.etl")))
    inputs.warm(*traces)
    command = [bench.etlheap, "store", folder, "--out-dir", out, f"-j{JOBS}"]
    rates, again, growth = [], [], []
    for _ in range(bench.runs):
        shutil.rmtree(out, ignore_errors=True)
        rates.append(len(traces) / wall_seconds(command))
        with open(os.path.join(out, "runs.ndjson"), encoding="utf-8") as file:
            peaks = sorted(json.loads(line)["peak_memory_bytes"] for line in file)
        if len(peaks) != len(traces):
            raise BenchError(f"{out}: {len(peaks)} of {len(traces)} traces are in the index")
        growth.append(peaks[-1] / peaks[9])
        again.append(len(traces) / wall_seconds(command))
    shutil.rmtree(out)
    return [
        Row(f"store {len(traces)} small traces, -j2", rates, "traces/s", 200, 500),
        Row(f"  resident after {len(traces)} in times of that after 10", growth, "x", 1.2,
            at_most=True),
        Row("  once more, all skipped", again, "traces/s"),
    ]


def types_rows(bench):
    """The four-way question over the lifetimes of H8, against DuckDB."""
    inputs = bench.inputs
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb_types.mjs")
    modules = os.path.join(bench.modules or "", "node_modules", "@duckdb", "node-api")
    with_peer = find_program("node") is not None and os.path.isdir(modules)
    rows_file = inputs.path("H8.rows.csv")
    command = [bench.tool("bench_types"), inputs.make("H8"), str(bench.runs), str(JOBS)]
    ours = json.loads(run_quietly(command + ([rows_file] if with_peer else [])))
    label = f"types per stack, {ours['rows'] / 1e6:.1f} M rows"
    rows = [Row(f"{label}, etlheap", [1e3 * value for value in ours["seconds"]], "ms")]
    if not with_peer:
        note("DuckDB is not installed, its row is left out: make bench-deps, or"
             " npm install @duckdb/node-api")
        return rows
    theirs = json.loads(run_quietly(["node", script, bench.modules, rows_file,
                                     str(ours["from_ns"]), str(ours["to_ns"]), str(bench.runs),
                                     str(JOBS)]))
    os.remove(rows_file)
    for key in ("rows", "AIFI", "AIFO", "AOFI", "AOFO"):
        if ours[key] != theirs[key]:
            raise BenchError(f"etlheap and DuckDB disagree on {key}: {ours[key]}, {theirs[key]}")
    middle = statistics.median(theirs["seconds"])
    return rows + [
        Row(f"{label}, DuckDB {theirs['version']}", [1e3 * value for value in theirs["seconds"]],
            "ms"),
        Row("etlheap's time in DuckDB's", [value / middle for value in ours["seconds"]], "x", 0.5, 0.25, at_most=True),
    ]


def python_rows(bench):
    """An independent reader in Python on S."""
    path = bench.inputs.make("S")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_reader.py")
    rounds = Rounds(bench.runs)
    rounds.add("python", [sys.executable, script, path])
    rounds.add("etlheap", bench.report(path))
    rounds.run()
    return [Row("dissect.etl's time on S in times of report's",
                rounds.ratios("python", "etlheap"), "x", 100)]


def symbols_rows(bench):
    """The PDB reader on one file as large as a browser's."""
    pdb = bench.inputs.make_pdb()
    bench.inputs.warm(pdb)
    command = [bench.tool("bench_symbols"), pdb, str(SYMBOL_ADDRESSES)]
    found = json.loads(run_quietly(command + [str(bench.runs)]))
    _, memory = wall_and_memory(bench.tool("rss_anon"), command + ["1"])
    label = f"PDB of {os.path.getsize(pdb) / MB:.0f} MB"
    return [
        Row(f"{label}, addresses resolved, one thread",
            [rate / 1e6 for rate in found["addresses_per_second"]], "M/s", 1, 2),
        Row(f"{label}, peak of RssAnon", [memory / MIB], "MiB", 64, 32, at_most=True),
        Row(f"{label}, opened", [1e3 * found["open_seconds"]], "ms", 10, 2, at_most=True),
    ]


def always(_):
    return True


def has_store(bench):
    """Its rows appear once there is a command that writes one."""
    return has_command(bench.etlheap, "store")


def has_python_reader(_):
    try:
        found = importlib.util.find_spec("dissect.etl") is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        note("dissect.etl is not installed, its row is left out: pip install dissect.etl")
    return found


# In the order of the table: the rows, the files they need, whether they can be had.
GROUPS = {
    "builder": (builder_rows, ["H"], always),
    "heap": (heap_rows, ["H", "HK", "HC", "H.heaptrack"], always),
    "xpress": (xpress_rows, [], always),
    "size": (size_rows, ["H1", "H8"], always),
    "store": (store_rows, ["H", "H.ehs"], has_store),
    "batch": (batch_rows, ["small"], always),
    "types": (types_rows, ["H8", "H8.rows.csv"], always),
    "virtual": (virtual_rows, ["V"], always),
    "symbols": (symbols_rows, ["large.pdb"], always),
    "python": (python_rows, ["S"], has_python_reader),
}


def describe_machine():
    cores = len(os.sched_getaffinity(0))
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    print(f"{names[0] if names else model}, {cores} cores, load {os.getloadavg()[0]:.2f}")
    if cores < JOBS:
        note(f"the targets are for {JOBS} cores; this machine has {cores}")
    if os.getloadavg()[0] > 0.5:
        note("other programs are running: expect times that are too long and scatter")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--programs", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--clean", action="store_true")
    parser.add_argument("--etlheap")
    parser.add_argument("--traces")
    parser.add_argument("--modules")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default=",".join(GROUPS))
    options = parser.parse_args()
    options.only = options.only.split(",")
    if options.etlheap is None and not options.clean:
        parser.error("--etlheap or --clean is needed")
    unknown = [name for name in options.only if name not in GROUPS]
    if unknown:
        parser.error(f"--only knows {', '.join(GROUPS)}; not {', '.join(unknown)}")
    return options


def main():
    options = parse_options()
    try:
        bench = Bench(options)
        if options.clean:
            bench.inputs.clean()
            return 0
        wanted = [name for name in GROUPS if name in options.only and GROUPS[name][2](bench)]
        files = dict.fromkeys(file for name in wanted for file in GROUPS[name][1])
        bench.inputs.make_all(files)
        describe_machine()
        rows = []
        for name in wanted:
            note(f"measuring: {name}")
            rows += GROUPS[name][0](bench)
        print_table(rows)
    except BenchError as error:
        note(f"bench: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
