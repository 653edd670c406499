#!/usr/bin/env python3
"""
Measures etlheap against its targets, its limits and its peers, and prints one table.

    run_bench.py --programs FOLDER --inputs FOLDER --etlheap PROGRAM [--traces FOLDER]
                 [--modules FOLDER] [--runs 5] [--only WORD,...]
                 [--questions INPUT,...] [--keep FILE.json] [--rev REV --work FOLDER]
                 [--view-minutes MINUTES]
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
import sys
import time

from bench_cold import cold_rows
from bench_compare import build_revision
from bench_cores import cores_rows
from bench_inputs import (BenchError, Inputs, check_report, find_program, has_command, note,
                          run_quietly)
from bench_measure import Peer, Row, Rounds, print_table, wall_and_memory, wall_seconds
from bench_questions import Figures, load_baseline, write_baseline
from bench_streams import BENCH_RECORDINGS, FORMS, Streams, check_stream, usable
from bench_view import can_view, view_rows

MB = 1e6
MIB = 1 << 20
JOBS = 2  # the targets are for two cores
LARGE_RUNS = 3  # of the largest input
SYMBOL_ADDRESSES = 1000000
BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "questions_baseline.json")


class Bench:
    """What the groups of rows share."""

    def __init__(self, options):
        self.etlheap = options.etlheap
        self.inputs = Inputs(options.programs, options.inputs)
        self.streams = Streams(options.inputs, self.inputs.program("make_stream"))
        self.questions = options.questions
        self.then = build_revision(options.rev, options.work) if options.rev else None
        self.keep = options.keep or self.inputs.path("questions.json")
        self.traces = options.traces
        self.modules = options.modules
        self.runs = options.runs
        self.view_minutes = options.view_minutes

    def report(self, path, jobs=JOBS):
        return [self.etlheap, "report", path, f"-j{jobs}"]

    def report_with_peaks(self, path, jobs=JOBS):
        """Shows the largest size of each row too, which takes the order of all events."""
        return [*self.report(path, jobs), "--sort", "peak_size"]

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
    rounds.add("H with peaks -j1", bench.report_with_peaks(h, 1))
    rounds.add("H as JSON", [*bench.report(h), "--format", "json"])
    rounds.add("sum", [bench.tool("bench_sum"), h, str(JOBS)])
    rounds.add("H -j1", bench.report(h, 1))
    for threads in (1, JOBS):
        rounds.add(f"arithmetic {threads}", [bench.tool("bench_scale"), str(threads)])
    rounds.add("H -j64", bench.report(h, 64))
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
        Row("  as JSON, all rows", rounds.rates("H as JSON", events / 1e6), "M/s"),
        Row("plain 64-bit sum over H, 2 threads", rounds.rates("sum", size / MB), "MB/s"),
        Row("report's time in times of the sum", rounds.ratios("H -j2", "sum"), "x", 8, 4,
            at_most=True),
        Row("report on H, -j1 to -j2", rounds.ratios("H -j1", "H -j2"), "x", 1.8, 1.95),
        Row("report on H, time with -j64 in times of -j2", rounds.ratios("H -j64", "H -j2"), "x", 1.05,
            at_most=True),
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
            Row("  with peaks of rows, one thread each",
                rounds.ratios("heaptrack", "H with peaks -j1"), "x"),
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
    """The four-way question over the lifetimes of H8, in turns with DuckDB."""
    inputs = bench.inputs
    modules = os.path.join(bench.modules or "", "node_modules", "@duckdb", "node-api")
    with_peer = find_program("node") is not None and os.path.isdir(modules)
    rows_file = inputs.path("H8.rows.csv")
    command = [bench.tool("bench_types"), inputs.make("H8"), str(JOBS)]
    peers = [Peer(command + ([rows_file] if with_peer else []))]
    try:
        if with_peer:
            peers.append(duckdb_peer(bench, rows_file, peers[0].ready))
        else:
            note("DuckDB is not installed, its row is left out: make bench-deps, or"
                 " npm install @duckdb/node-api")
        times = [[peer.turn() for peer in peers] for _ in range(bench.runs)]
        answers = [peer.finish() for peer in peers]
    finally:
        for peer in peers:
            peer.stop()
    label = f"types per stack, {peers[0].ready['rows'] / 1e6:.1f} M rows"
    ours = [one[0] for one in times]
    rows = [Row(f"{label}, etlheap", [1e3 * value for value in ours], "ms")]
    if not with_peer:
        return rows
    for key in ("AIFI", "AIFO", "AOFI", "AOFO"):
        if answers[0][key] != answers[1][key]:
            raise BenchError(f"etlheap and DuckDB disagree on {key}: {answers[0][key]}, {answers[1][key]}")
    way = min(times[0][1], key=lambda name: sum(one[1][name] for one in times))
    theirs = [one[1][way] for one in times]
    return rows + [
        Row(f"{label}, DuckDB {peers[1].ready['version']}", [1e3 * value for value in theirs], "ms"),
        Row("etlheap's time in DuckDB's", [a / b for a, b in zip(ours, theirs)], "x", 0.5, 0.25, at_most=True),
    ]


def duckdb_peer(bench, rows_file, ready):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb_types.mjs")
    peer = Peer(["node", script, bench.modules, rows_file, str(ready["from_ns"]), str(ready["to_ns"]), str(JOBS)])
    os.remove(rows_file)
    if peer.ready["rows"] != ready["rows"]:
        peer.stop()
        raise BenchError(f"DuckDB has {peer.ready['rows']} rows of {ready['rows']}")
    return peer


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
    """The PDB reader on one file as large as a browser's, and a report that uses it."""
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
        *report_with_symbols_rows(bench, pdb),
    ]


def report_with_symbols_rows(bench, pdb):
    """Text names the frames it shows, JSON those of all 50,000 stacks."""
    trace = bench.inputs.make("LS")
    check_report(bench.etlheap, "LS", bench.inputs)
    with_symbols = ["--symbols", os.path.dirname(pdb), "--offline"]
    as_json = ["--format", "json"]
    frames = json.loads(run_quietly([*bench.report(trace), *with_symbols, *as_json]))["frames"]
    named = sum(frame["symbol"] is not None for frame in frames)
    if named < 0.9 * len(frames):
        raise BenchError(f"report names {named} of {len(frames)} frames of LS; all lie in functions of {pdb}")
    rounds = Rounds(bench.runs)
    for name, more in (("text", []), ("JSON", as_json)):
        rounds.add(name, [*bench.report(trace), *more, "--no-symbols"])
        rounds.add(f"{name} with symbols", [*bench.report(trace), *more, *with_symbols])
    bench.inputs.warm(trace, pdb)
    rounds.run()
    return [
        Row("report with symbols on LS, -j2", rounds.seconds["text with symbols"], "s"),
        Row("  in times of one without", rounds.ratios("text with symbols", "text"), "x"),
        Row(f"report --format json with symbols on LS, {len(frames):,} frames, -j2",
            rounds.seconds["JSON with symbols"], "s"),
        Row("  in times of one without", rounds.ratios("JSON with symbols", "JSON"), "x"),
    ]


def streams_rows(bench):
    """Recorded programs, in turns with heaptrack_print on what it recorded."""
    rows = []
    for name in usable(bench.streams, BENCH_RECORDINGS):
        rows += stream_rows(bench, name)
    return rows


def stream_rows(bench, name):
    streams = bench.streams
    truth, events = streams.truth(name), streams.events(name)
    traces = {form: streams.trace(name, form) for form in FORMS}
    for trace in traces.values():
        check_stream(bench.etlheap, trace, truth)
    rounds = Rounds(bench.runs)
    rounds.add("-j2", bench.report(traces["plain"]))
    rounds.add("-j1", bench.report(traces["plain"], 1))
    rounds.add("peaks -j2", bench.report_with_peaks(traces["plain"]))
    rounds.add("peaks -j1", bench.report_with_peaks(traces["plain"], 1))
    rounds.add("json", [*bench.report(traces["plain"]), "--format", "json"])
    rounds.add("keyed", bench.report(traces["keyed"]))
    rounds.add("compressed", bench.report(traces["compressed"]))
    rounds.add("heaptrack", ["heaptrack_print", "-f", streams.heaptrack(name)])
    bench.inputs.warm(*traces.values(), streams.heaptrack(name))
    rounds.run()
    size = streams.facts(name)["bytes"]
    return [
        Row(f"{name}: report, -j2, {events / 1e6:.1f} M allocs + frees, {truth['stacks']:,} stacks",
            rounds.rates("-j2", events / 1e6), "M/s"),
        Row("  bytes of the trace", rounds.rates("-j2", size / MB), "MB/s"),
        Row("  events/s in heaptrack_print's", rounds.ratios("heaptrack", "-j2"), "x", 2),
        Row("  with one thread each", rounds.ratios("heaptrack", "-j1"), "x", 1.3),
        Row("  with peaks of rows", rounds.ratios("heaptrack", "peaks -j2"), "x"),
        Row("  with peaks of rows, one thread each", rounds.ratios("heaptrack", "peaks -j1"), "x"),
        Row("  JSON's time in times of text's", rounds.ratios("json", "-j2"), "x"),
        Row("  events/s with keyed stacks in those with plain ones", rounds.ratios("-j2", "keyed"), "x"),
        Row("  events/s compressed in those uncompressed", rounds.ratios("-j2", "compressed"), "x"),
    ]


def questions_rows(bench):
    """Every question in turns with the default report, on each input."""
    baseline, figures = load_baseline(BASELINE), []
    for name in bench.questions:
        one = question_input(bench, name)
        if one is None:
            continue
        note(f"measuring: questions on {name}")
        bench.inputs.warm(one.path)
        one.measure(bench.etlheap, bench.tool("rss_anon"), JOBS, bench.inputs.path("questions.ehs"))
        figures.append(one)
        write_baseline(bench.keep, about_this_run(), figures)
    if figures:
        note(f"all figures: {os.path.splitext(bench.keep)[0]}.md")
    return [row for one in figures for row in one.rows(baseline)]


def question_input(bench, name):
    """An input with correct answers, or None when it cannot be had."""
    inputs, runs = bench.inputs, bench.runs
    if name in BENCH_RECORDINGS:
        if not usable(bench.streams, [name]):
            return None
        truth, path = bench.streams.truth(name), bench.streams.trace(name)
        check_stream(bench.etlheap, path, truth)
        what = (f"{name}: {truth['count'] / 1e6:.2f} M allocations recorded by heaptrack, {truth['stacks']:,} stacks,"
                f" {bench.streams.facts(name)['bytes'] / 1e9:.2f} GB")
        return Figures(name, path, runs, what, bench.then)
    trace = os.path.splitext(name)[0]
    path, facts = inputs.make(trace), inputs.facts(trace)
    check_report(bench.etlheap, trace, inputs)
    what = f"{trace}: {facts['heap_allocs'] / 1e6:.2f} M allocations, {facts['bytes'] / 1e9:.2f} GB"
    if name.endswith(".ehs"):
        path = inputs.path(name)
        run_quietly([bench.etlheap, "store", inputs.path(trace), "-o", path, f"-j{JOBS}"])
        what = f"{name}: the store of {what}"
    # A store has another format there, so it is not asked.
    then = None if name.endswith(".ehs") else bench.then
    return Figures(name, path, 1 if name == "H8" else runs, what, then)


def about_this_run():
    folder = os.path.dirname(BASELINE)
    revision = run_quietly(["git", "-C", folder, "log", "-1", "--format=%h", "--", "../parser", "../engine",
                            "../formats", "../cli"]).strip()
    return {"revision": revision, "machine": machine(), "when": time.strftime("%Y-%m-%d", time.gmtime()),
            "jobs": JOBS}


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


STREAM_FILES = {f"{name}.plain.etl": name for name in BENCH_RECORDINGS}

# What questions are asked of, and the files that takes.
QUESTION_INPUTS = {"H": ["H"], "H.ehs": ["H", "H.ehs"], "HF": ["HF"], "H8": ["H8"], "clang": ["clang.plain.etl"]}

# In the order of the table: the rows, the files they need, whether they can be had.
GROUPS = {
    "builder": (builder_rows, ["H"], always),
    "heap": (heap_rows, ["H", "HK", "HC", "H.heaptrack"], always),
    "cores": (cores_rows, ["H", "H8"], always),
    "cold": (cold_rows, ["H", "HC", "H.ehs"], has_store),
    "xpress": (xpress_rows, [], always),
    "size": (size_rows, ["H1", "H8"], always),
    "store": (store_rows, ["H", "H.ehs"], has_store),
    "view": (view_rows, ["H", "H.ehs"], can_view),
    "batch": (batch_rows, ["small"], always),
    "types": (types_rows, ["H8", "H8.rows.csv"], always),
    "streams": (streams_rows, list(STREAM_FILES), always),
    "questions": (questions_rows, [], has_store),
    "virtual": (virtual_rows, ["V"], always),
    "symbols": (symbols_rows, ["large.pdb", "LS"], always),
    "python": (python_rows, ["S"], has_python_reader),
}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


def describe_machine():
    cores = len(os.sched_getaffinity(0))
    print(f"{machine()}, load {os.getloadavg()[0]:.2f}")
    if cores < JOBS:
        note(f"the targets are for {JOBS} cores; this machine has {cores}")
    if os.getloadavg()[0] > 0.5:
        note("other programs are running: expect times that are too long and scatter")


def files_of(bench, group):
    """What a group needs: the questions may be asked of fewer inputs than all, and
    what cannot be recorded here is not made."""
    files = GROUPS[group][1]
    if group == "questions":
        files = [file for name in bench.questions for file in QUESTION_INPUTS[name]]
    return [file for file in files if file not in STREAM_FILES or bench.streams.why_not(STREAM_FILES[file]) is None]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--programs", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--clean", action="store_true")
    parser.add_argument("--etlheap")
    parser.add_argument("--traces")
    parser.add_argument("--modules")
    parser.add_argument("--rev", help="an earlier revision, whose default report the questions are held against")
    parser.add_argument("--work", help="folder for building it")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default=",".join(GROUPS))
    parser.add_argument("--questions", default=",".join(QUESTION_INPUTS), help="inputs of the group questions")
    parser.add_argument("--keep", help="file for the figures of the group questions")
    parser.add_argument("--view-minutes", type=float, default=3, help="how long the session of the group view is")
    options = parser.parse_args()
    options.only = options.only.split(",")
    options.questions = options.questions.split(",")
    if options.etlheap is None and not options.clean:
        parser.error("--etlheap or --clean is needed")
    check_words(parser, "--only", options.only, GROUPS)
    check_words(parser, "--questions", options.questions, QUESTION_INPUTS)
    return options


def check_words(parser, option, words, known):
    unknown = [word for word in words if word not in known]
    if unknown:
        parser.error(f"{option} knows {', '.join(known)}; not {', '.join(unknown)}")


def main():
    options = parse_options()
    try:
        bench = Bench(options)
        if options.clean:
            bench.streams.clean()
            bench.inputs.clean()
            return 0
        wanted = [name for name in GROUPS if name in options.only and GROUPS[name][2](bench)]
        files = dict.fromkeys(file for name in wanted for file in files_of(bench, name))
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
