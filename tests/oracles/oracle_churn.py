#!/usr/bin/env python3
"""Goal: `report --churn` counts what was allocated, freed and temporary in a window.

Method: random programs whose lifetimes are known. A naive model goes through their events in the
order of time and keeps nothing but a number for each thread, of how often it allocated: a block
is temporary if that number is the same when it is freed. Rows of traces are compared with the
model in windows, with filters and groupings; stores, any number of threads and small slices must
say the same as the trace.

Where heaptrack is installed, small recordings of programs are counted, too: see
check_recording().
"""

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction

from oracle_support import ETLHEAP, LONG, Results, life_of, lives_of, owner_of, recorded_part, run, run_json
from oracle_truth import Truth, filter_of, frame_text, key_of, short, type_of, windows_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

from bench_inputs import run_quietly  # noqa: E402
from bench_streams import Streams  # noqa: E402

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
MAKE_STREAM = os.path.realpath(os.path.join(OUT, "bench", "make_stream"))
RATES = "alloc_count alloc_size alloc_rate alloc_bytes_rate freed_count freed_size".split()
TEMPORARY = "temporary_count temporary_size temporary_10_count temporary_1ms_count".split()
MEASURES = RATES + TEMPORARY
NEAR = 10
MS = 10**6
UNKNOWN_THREADS = (None, 0xFFFFFFFF)
GROUPINGS = ["kind", "kind,process", "kind,thread", "kind,stack", "kind,process,heap,type", "kind,size_class"]
MORE_NAMES = {"process": ["process", "pid"], "type": ["type", "impacting_type"]}
# A way to write the trace, and options of the report that must not matter.
WAYS = [("", []), ("--cpus 1", ["-j", "1"]), ("--keys --hz 3117777", ["-j", "3"]), ("--compress", ["--memory", "96M"]),
        ("--buffer-bytes 4096 --cpus 8", ["--no-mmap", "-j", "2"]), ("--wow64", []), ("--tidless", [])]


# --- the model -----------------------------------------------------------------------------


def load(path):
    """The truth, with the thread and address of each lifetime."""
    truth = Truth(path)
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["lifetimes"]
    for lifetime, row in zip(truth.lifetimes, rows):
        lifetime.thread, lifetime.how, lifetime.address = row["tid"], row["ft"], row["addr"]
        lifetime.ticks = (row["a"], row["f"])
        lifetime.size_class = 1 << lifetime.size.bit_length() - 1 if lifetime.size else 0
    return truth


def distances(truth):
    """How often its thread allocates while a block lives, by lifetime; of those that are freed.

    On one tick a realloc in place frees before it allocates, and others allocate first: the new
    block is there when the old one is freed. The pieces of a commit were allocated once. A thread
    may commit in another process, so ranges go by its id alone, if that is known.
    """
    moved_in = {(row.kind, row.pid, row.heap, row.address, row.ticks[0]) for row in truth.lifetimes if row.realloc}
    events = []
    for number, row in enumerate(truth.lifetimes):
        events.append((row.ticks[0], 1, number, True))
        if row.ticks[1] is not None:
            in_place = (row.kind, row.pid, row.heap, row.address, row.ticks[1]) in moved_in
            events.append((row.ticks[1], 0 if in_place else 2, number, False))
    counts, latest, born, found = defaultdict(int), {}, {}, {}
    for ticks, _, number, begins in sorted(events):
        row = truth.lifetimes[number]
        is_own = row.kind == "heap" or row.thread in UNKNOWN_THREADS
        thread = (row.kind, row.pid if is_own else None, row.thread)
        if not begins:
            found[number] = counts[thread] - born[number]
            continue
        if row.kind == "heap" or latest.get(thread) != ticks:
            counts[thread] += 1
        latest[thread] = ticks
        born[number] = counts[thread]
    return found


def rounded(amount, ns):
    return 0 if ns <= 0 else int(Fraction(amount * 10**9, ns) + Fraction(1, 2))


def model(truth, far, window, at_exit, group_by, selects):
    from_ns, to_ns = window
    groups = defaultdict(lambda: dict.fromkeys(MEASURES, 0))
    for number, row in enumerate(truth.lifetimes):
        end = row.end_by(at_exit)
        kind = type_of(row, end, from_ns, to_ns)
        if kind is None or not selects(row, kind):
            continue
        sums = groups[key_of(row, kind, group_by)]
        if kind[:2] == "AI":
            sums["alloc_count"] += 1
            sums["alloc_size"] += row.size
        if kind[2:] == "FI":
            sums["freed_count"] += 1
            sums["freed_size"] += row.size
        if kind != "AIFI" or row.at_exit:
            continue
        is_temporary = far[number] == 0
        sums["temporary_count"] += is_temporary
        sums["temporary_size"] += row.size * is_temporary
        sums["temporary_10_count"] += far[number] < NEAR
        sums["temporary_1ms_count"] += row.end - row.start <= MS
    return dict(groups)


def add_rates(groups, group_by, part_of):
    """Rates are per second of the recorded part of the window in which the row's process ran."""
    for key, sums in groups.items():
        begin, end = part_of(*owner_of(key, group_by))
        sums["alloc_rate"] = rounded(sums["alloc_count"], end - begin)
        sums["alloc_bytes_rate"] = rounded(sums["alloc_size"], end - begin)


# --- the report ----------------------------------------------------------------------------


def rows_of(report, group_by):
    texts = [frame_text(frame) for frame in report["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in report["stacks"]]
    rows = {}
    for row in report["rows"]:
        names = [name for word in group_by for name in MORE_NAMES.get(word, [word])]
        key = [stacks[row[name]] if name == "stack" and row[name] is not None else row[name] for name in names]
        rows[tuple(key)] = {name: row[name] for name in MEASURES}
    return rows


def differences(got, wanted):
    lines = []
    for key in sorted(set(got) | set(wanted), key=repr):
        unequal = {name: (got.get(key, {}).get(name), wanted.get(key, {}).get(name)) for name in MEASURES
                   if got.get(key, {}).get(name) != wanted.get(key, {}).get(name)}
        if unequal:
            lines.append(f"(got, wanted): {short(key)} {unequal}")
    return lines


def arguments_of(window, at_exit, group_by, options):
    arguments = ["--churn", "--no-cull", "--no-symbols", f"--at-exit={at_exit}", "--group-by", group_by, *options]
    for word, time_ns in zip(("--from", "--to"), window):
        arguments += [] if time_ns is None else [word, f"{time_ns}ns"]
    return arguments


def compare(results, label, inputs, truth, far, question):
    window, at_exit, group_by, (options, selects), more = question
    arguments = arguments_of(window, at_exit, group_by, options)
    report = run_json("report", *inputs, *arguments, *more)
    low, high = (0 if window[0] is None else window[0]), (truth.to_ns if window[1] is None else window[1])
    words = group_by.split(",")
    wanted = model(truth, far, (low, high), at_exit, words, selects)
    lives = lives_of(inputs[0])
    kinds = options[options.index("--kind") + 1] if "--kind" in options else None
    add_rates(wanted, words, lambda kind, owner: recorded_part(report, (low, high), kind or kinds,
                                                               life_of(lives, owner, options)))
    got = rows_of(report, words)
    wrong = differences(got, wanted)
    sums = {name: sum(row[name] for row in wanted.values()) for name in MEASURES if "rate" not in name}
    totals = {name: sum(total[name] for total in report["totals"]) for name in sums}
    if totals != sums:
        wrong.append(f"totals: got {totals}, wanted {sums}")
    results.check(f"{label}: {' '.join(arguments + more)}: {len(wanted)} rows, {sums['temporary_count']} temporary",
                  not wrong, f"{len(wrong)} differences, such as:", *wrong[:6])
    return report


def check_workload(results, folder, seed, way, more):
    trace, store, truth_file = (os.path.join(folder, f"w{seed}{end}") for end in (".etl", ".ehs", ".json"))
    subprocess.run([MAKE_TRACE, "workload", trace, "--truth", truth_file, "--seed", str(seed), "--events", "9000" if LONG else "4000",
                    *way.split()], check=True, stdout=subprocess.DEVNULL)
    truth, source = load(truth_file), random.Random(seed)
    far = distances(truth)
    run("store", trace, "-o", store)
    label = f"workload {seed} {way}".strip()
    windows = windows_of(truth, 12, source)
    for turn, window in enumerate(windows if LONG else [windows[0], *source.sample(windows[1:], 3)]):
        group_by = GROUPINGS[(seed + turn) % len(GROUPINGS)]
        filtered = ([], lambda lifetime, kind: True) if turn % 2 == 0 else filter_of(truth, source)
        if "--tidless" in way and "thread" in group_by:
            continue
        at_exit = source.choice(["leaked", "freed"])
        question = (window, at_exit, group_by, filtered, more)
        if "--tidless" in way:
            question = (window, at_exit, group_by, (["--kind", "heap"], lambda lifetime, kind: lifetime.kind == "heap"), more)
        report = compare(results, label, [trace], truth, far, question)
        stored = run_json("report", store, *arguments_of(window, at_exit, group_by, question[3][0]))
        results.check(f"{label}, store: the same rows", stored["rows"] == report["rows"] and stored["totals"] == report["totals"])
    check_rounding(results, label, trace, truth)
    return trace, store


# --- rounding --------------------------------------------------------------------------------

# Microsoft's table of the low-fragmentation heap: up to so many bytes, granularity.
LFH_CLASSES = [(256, 8), (512, 16), (1024, 32), (2048, 64), (4096, 128), (8192, 256), (16384, 512)]


def rounding(size, granularity):
    size = max(size, 1)
    return (size + granularity - 1) // granularity * granularity - size


def check_rounding(results, label, trace, truth):
    """What is outstanding when the trace ends, rounded up as the heap of its process does."""
    bits = {(process["pid"], process["name"]): process["pointer_bits"] for process in run_json("info", trace)["processes"]}
    wanted = defaultdict(lambda: [0, 0])
    for row in truth.lifetimes:
        if row.kind != "heap" or type_of(row, row.end_by("leaked"), 0, truth.to_ns)[2:] == "FI":
            continue
        fine = 8 if bits[row.pid, row.process] == 32 else 16
        coarse = next((step for most, step in LFH_CLASSES if row.size <= most), fine)
        for by_process in ((None, None), (row.pid, row.process)):
            sums = wanted[(*by_process, row.size_class)]
            sums[0] += rounding(row.size, fine) + (row.size == 0)
            sums[1] += rounding(row.size, max(fine, coarse)) + (row.size == 0)
    got = {}
    for more in ([], ["--group-by", "process"]):
        document = run_json("report", trace, "--histogram", "size", "--no-symbols", *more)
        for bucket in document["histogram"]["buckets"]:
            if bucket["kind"] != "heap":
                assert "rounding_size" not in bucket
            elif bucket["outstanding_count"] > 0:
                got[bucket.get("pid"), bucket.get("process"), bucket["from"]] = [bucket["rounding_size"], bucket["lfh_rounding_size"]]
    results.equal_maps(f"{label}: what rounding adds, {len(got)} buckets", got, dict(wanted))


# --- forms of the answer -------------------------------------------------------------------


def check_forms(results, trace, store, folder):
    """Measures are there when they are asked for, in every format, and rows can be sorted by them."""
    plain = run_json("report", trace, "--no-symbols")
    results.check("a report that does not ask has no churn", not set(MEASURES) & set(plain["rows"][0]))
    rates = run_json("report", trace, "--no-symbols", "--sort", "freed_size")
    results.check("sorted by a rate: rates, and nothing temporary", set(RATES) <= set(rates["rows"][0]) and
                  not set(TEMPORARY) & set(rates["rows"][0]))
    for measure in MEASURES:
        rows = run_json("report", trace, "--no-symbols", "--sort", measure, "--group-by", "kind,process,stack")["rows"]
        values = [row[measure] for row in rows]
        results.check(f"--sort {measure}: the largest first", values == sorted(values, reverse=True) and max(values) > 0, values[:9])
    report = run_json("report", trace, "--no-symbols", "--churn")
    text = run("report", trace, "--no-symbols", "--churn", "--format", "csv").decode()
    cells = list(csv.DictReader(io.StringIO(text)))
    results.equal("CSV has the same numbers", [[int(row[name]) for name in MEASURES] for row in cells],
                  [[row[name] for name in MEASURES] for row in report["rows"]])
    rows = [json.loads(line) for line in run("export", store, "--no-symbols", "--format", "ndjson", "--churn").splitlines()]
    results.equal("NDJSON has the same sums", [sum(row[name] for row in rows) for name in MEASURES if "rate" not in name],
                  [sum(row[name] for row in report["rows"]) for name in MEASURES if "rate" not in name])
    results.check("Parquet has the columns when they are asked for",
                  b"temporary_1ms_count" in run("export", store, "--no-symbols", "--format", "parquet", "--churn") and
                  b"temporary_1ms_count" not in run("export", store, "--no-symbols", "--format", "parquet"))
    done = subprocess.run([ETLHEAP, "export", store, "--format", "folded", "--churn"], capture_output=True, text=True, check=False)
    results.check("a format without such columns refuses", done.returncode == 2 and "cannot be combined with --churn" in done.stderr, done.stderr)
    heap = next(total for total in report["totals"] if total["kind"] == "heap")
    results.equal("the cost is an estimate of its own", report["estimates"],
                  {"temporary_cost_ns": 100 * heap["temporary_count"], "assumed_ns_per_temporary": 100})
    shown = run("report", trace, "--no-symbols", "--churn").decode()
    share = f"{100 * heap['temporary_count'] / heap['alloc_count']:.1f} %"
    sentence = f"{heap['temporary_count']:,} of {heap['alloc_count']:,} heap allocations ({share}) were temporary"
    results.check("text says how many, and that the cost is an estimate",
                  sentence in " ".join(shown.split()) and "Estimate: at 100 ns" in " ".join(shown.split()), sentence)
    summary = os.path.join(folder, "summary.ehs")
    run("store", trace, "--summary", "-o", summary)
    refuse(results, "a summary cannot tell", "no lifetimes", summary, "--churn")
    rows = run_json("report", summary, "--no-symbols", "--sort", "alloc_rate", "--group-by", "kind,process")["rows"]
    wanted = run_json("report", trace, "--no-symbols", "--sort", "alloc_rate", "--group-by", "kind,process")["rows"]
    names = ["kind", "process", *RATES]
    merged = defaultdict(int)
    for row in wanted:
        for name in RATES:
            merged[row["kind"], row["process"], name] += row[name] if "rate" not in name else 0
    results.equal("a summary has the rates", {(row["kind"], row["process"], name): row[name] for row in rows for name in names[2:]
                                              if "rate" not in name}, {key: value for key, value in merged.items() if "rate" not in key[2]})
    refuse(results, "not of a moment", "measured over a window", trace, "--churn", "--at", "1ms")
    refuse(results, "not as a tree", "--churn and --tree cannot be combined", trace, "--churn", "--tree")


def refuse(results, name, words, *arguments):
    done = subprocess.run([ETLHEAP, "report", *arguments], capture_output=True, text=True, check=False)
    results.check(f"refused: {name}", done.returncode in (2, 3) and words in done.stderr, done.returncode, done.stderr)


def check_comparison(results, base, new):
    """`diff` has both sides of what reports count, row by row."""
    group_by = ["--group-by", "kind,process", "--no-symbols"]
    document = run_json("diff", base, new, "--churn", "--all", *group_by)
    names = [name for name in MEASURES if "rate" not in name]
    wanted = defaultdict(lambda: [0, 0])
    for side, path in enumerate((base, new)):
        for row in run_json("report", path, "--churn", *group_by)["rows"]:
            for name in names:
                wanted[row["kind"], row["process"], name][side] += row[name]
    got = {(row["kind"], row["process"], name): [row["base_" + name], row["new_" + name]]
           for row in document["rows"] for name in names}
    results.equal_maps(f"diff --churn has both sides of {len(document['rows'])} rows", got, dict(wanted))
    results.equal("and is sorted by allocations", document["measure"], "alloc_count")
    first = run_json("diff", base, new, "--sort", "temporary_count", *group_by)["rows"]
    changes = [abs(row["delta_temporary_count"]) for row in first if row["kind"] == "heap"]
    results.check("--sort temporary_count: the largest change first", changes == sorted(changes, reverse=True) and changes[0] > 0, changes)


# --- recordings of heaptrack ---------------------------------------------------------------


def count_recording(path):
    """Temporary allocations of a raw recording of one thread, as etlheap and as heaptrack count.

    heaptrack_print reads a file in which a block is named by its size and call stack: a free
    counts as that of the last allocation if it is of such a block and nothing else was freed in
    between. The first kind has the number 0, which also means "nothing since the last free".
    """
    live, kinds, last, last_kind = {}, {}, None, None
    exact = as_heaptrack = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            kind, *words = line.split()
            if kind == "+":
                last_kind = kinds.setdefault((words[0], words[1]), len(kinds))
                live[words[2]], last = last_kind, words[2]
            elif kind == "-" and words[0] in live:
                freed = live.pop(words[0])
                exact += words[0] == last
                as_heaptrack += freed == (last_kind or 0)
                last, last_kind = None if words[0] == last else last, None
    return exact, as_heaptrack


def exact_recording(path, out):
    """The recording as heaptrack_print counts exactly: each block is a kind of its own, so that no
    other is taken for it, and of the frees between two allocations that of the last block is first."""
    sizes, lines, number, frees = [], [], {}, []

    def flush():
        last = len(sizes) - 1
        frees.sort(key=lambda block: block != last)
        lines.extend(f"- {block:x}" for block in frees)
        frees.clear()

    with open(path, encoding="utf-8") as text:
        for line in text:
            kind, *words = line.split()
            if kind == "+":
                flush()
                number[words[2]] = len(sizes)
                sizes.append(words[0])
                lines.append(f"a {words[0]} 1\n+ {len(sizes) - 1:x}")
            elif kind == "-" and words[0] in number:
                frees.append(number.pop(words[0]))
    flush()
    # Kind 0 stands for "none", so it is a block that is never freed.
    head = "v 10400 3\ns 1 x\nX x\ni 1 1\nt 1 0\na 1 1\n+ 0\n"
    body = "\n".join(lines)
    body = re.sub(r"(?m)^([+-]) ([0-9a-f]+)$", lambda m: f"{m[1]} {int(m[2], 16) + 1:x}", body)
    with open(out, "w", encoding="utf-8") as file:
        file.write(head + body + "\n")


def said_by_heaptrack(streams, file):
    said = run_quietly(streams.print_command(file))
    return int(re.search(r"temporary memory allocations: (\d+)", said)[1])


def check_recording(results, streams, name, folder):
    raw, trace = streams.record(name), streams.trace(name)
    exact, as_heaptrack = count_recording(raw)
    results.equal(f"{name}: heaptrack_print counts by size and stack", said_by_heaptrack(streams, streams.heaptrack(name)), as_heaptrack)
    path = os.path.join(folder, f"{name}.exact")
    exact_recording(raw, path)
    results.equal(f"{name}: heaptrack_print of blocks that are told apart", said_by_heaptrack(streams, path), exact)
    totals = run_json("report", trace, "--churn", "--no-symbols", "--group-by", "kind")["totals"]
    got = next(total["temporary_count"] for total in totals if total["kind"] == "heap")
    results.check(f"{name}: etlheap counts {exact} temporary allocations, too", got == exact and exact > 0, f"got {got}")
    store = os.path.join(folder, f"{name}.ehs")
    run("store", trace, "-o", store)
    answers = [run_json("report", *arguments, "--churn", "--no-symbols")["rows"]
               for arguments in ((trace, "-j", "1"), (trace, "-j", "5"), (trace, "--memory", "96M"), (store, "-j", "3"))]
    results.check(f"{name}: the same rows with any number of threads, in small slices, and from a store",
                  all(rows == answers[0] for rows in answers) and len(answers[0]) > 100)


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        made = [check_workload(results, folder, seed, *WAYS[seed % len(WAYS)]) for seed in range(1, 61 if LONG else len(WAYS) + 1)]
        check_forms(results, *made[0], folder)
        check_comparison(results, made[0][0], made[2][1])
        streams = Streams(folder, MAKE_STREAM)
        for name in ("small-clang", "small-sqlite", "small-python"):
            reason = streams.why_not(name)
            if reason is not None:
                results.skip(f"{name}: a recording's temporary allocations", reason)
            else:
                check_recording(results, streams, name, folder)
    results.finish()


if __name__ == "__main__":
    main()
