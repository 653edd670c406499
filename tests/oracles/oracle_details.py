#!/usr/bin/env python3
"""Compares what `report` tells beyond sums with the truth of made traces.

    oracle_details.py                makes its own traces with $MAKE_TRACE
    oracle_details.py --seed S       other random programs

Truth and definitions are those of oracle_truth.py; this file adds, in the plainest
way there is:

  * every key to group by, alone and together with others;
  * the mean of lifetimes, and their median, 90th and 99th percentile by nearest rank;
  * the moment of the peak: the first tick at which the curve of all lifetimes of a
    kind is at its largest, and what is outstanding then;
  * what is outstanding at other moments;
  * histograms: each value goes to the bucket whose bounds enclose it;
  * what the records of a heap tell of its size, as `dump` lists them.

Every answer is asked of the trace and of its store, with one, two or seven threads
in turn, and must be the same bytes but for the names of files. Then the scenarios
are answered as the walk-throughs that they imitate answer them.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
from collections import defaultdict

import oracle_truth
from oracle_support import Results, dump, run, run_json
from oracle_truth import MEASURES, Truth, frame_text, measure, type_of

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
KEYS = "kind process heap type free_type stack frame site module thread size_class".split()
SIZE_BOUNDS = [0] + [1 << bits for bits in range(64)]
TIME_BOUNDS = [0] + [step * 10**power for power in range(19) for step in (1, 2, 5)]
RANKS = ["lifetime_median_ns", "lifetime_p90_ns", "lifetime_p99_ns"]
WAYS = {
    "plain": [],
    "cycle-clock": ["--clock", "3", "--hz", "2400000000"],
    "wow64-keyed": ["--wow64", "--keys", "--cpus", "2"],
}
JOBS = ["2", "7", "1"]


class Trace:
    """A made trace, its store and its truth."""

    def __init__(self, folder, name, *options):
        self.name = name
        self.turn = 0
        self.path = os.path.join(folder, name + ".etl")
        self.store = os.path.join(folder, name + ".ehs")
        truth = self.path + ".truth.json"
        subprocess.run([MAKE_TRACE, *options[:1], self.path, *options[1:], "--truth", truth],
                       check=True, stdout=subprocess.DEVNULL)
        run("store", self.path, "-o", self.store)
        self.truth = Truth(truth)
        with open(truth, encoding="utf-8") as file:
            raw = json.load(file)
        self.zero, self.hz = raw["H"], raw["hz"]
        for lifetime, row in zip(self.truth.lifetimes, raw["lifetimes"]):
            first = None if lifetime.stack is None else lifetime.stack[0]
            lifetime.a, lifetime.f = row["a"], row["f"]
            lifetime.free_type, lifetime.thread = row["ft"], row["tid"]
            lifetime.frame = lifetime.site = first
            lifetime.module = first.split("+")[0] if first and "+" in first else None
            lifetime.size_class = 1 << lifetime.size.bit_length() - 1 if lifetime.size else 0

    def to_ns(self, ticks):
        return (ticks - self.zero) * oracle_truth.NANOSECONDS // self.hz

    def end_ns(self, tick):
        """The time just after a tick."""
        return max(self.to_ns(tick + 1), self.to_ns(tick) + 1)

    def ask(self, results, *arguments):
        """The report, after a check that store and threads make no difference."""
        options = ["--no-cull", "--no-symbols", "--format", "json", *arguments]
        self.turn += 1
        ways = [(self.path, "1"), (self.path, JOBS[self.turn % 2]), (self.store, JOBS[self.turn // 2 % 3])]
        texts = [run("report", path, *options, "-j", jobs).decode() for path, jobs in ways]
        nameless = {text.replace(path, "") for text, (path, _) in zip(texts, ways)}
        label = f"{self.name}: {' '.join(arguments)}"
        results.check(f"{label}: the same from its store and with any -j", len(nameless) == 1)
        return label, json.loads(texts[0])


def members_of(trace, from_ns, to_ns, at_exit, selects=lambda lifetime, kind: True):
    """(lifetime, end, type) of what is in the window."""
    members = []
    for lifetime in trace.truth.lifetimes:
        end = lifetime.end_by(at_exit)
        kind = type_of(lifetime, end, from_ns, to_ns)
        if kind is not None and selects(lifetime, kind):
            members.append((lifetime, end, kind))
    return members


def group(members, group_by):
    groups = defaultdict(list)
    for member in members:
        groups[oracle_truth.key_of(member[0], member[2], group_by)].append(member)
    return groups


def read_rows(report, group_by, measures):
    """The report's rows by key; frames and modules as the truth writes them."""
    texts = [frame_text(frame) for frame in report["frames"]]
    rows = {}
    for row in report["rows"]:
        plain = dict(row)
        for word in ("frame", "site"):
            if row.get(word) is not None:
                plain[word] = texts[row[word]]
        if row.get("stack") is not None:
            plain["stack"] = tuple(texts[i] for i in report["stacks"][row["stack"]])
        if row.get("module") is not None:
            plain["module"] = row["module"].lower()
        key = []
        for word in group_by:
            key.append(plain[word])
            if word in ("process", "type"):
                key.append(plain["pid" if word == "process" else "impacting_type"])
        assert tuple(key) not in rows, f"two rows have the key {key}"
        rows[tuple(key)] = {name: row[name] for name in measures}
    return rows


def random_window(trace, source):
    """--from and --to, and what they are when they are left out."""
    low, high = sorted(source.randrange(trace.truth.to_ns) for _ in range(2))
    options, window = [], [0, trace.truth.to_ns]
    if source.random() < 0.7:
        options, window[0] = options + ["--from", f"{low}ns"], low
    if source.random() < 0.7:
        options, window[1] = options + ["--to", f"{high}ns"], high
    return options, window


# --- groupings -----------------------------------------------------------------------


def compare_groupings(results, trace, source):
    groupings = [["kind", key] for key in KEYS[1:]]
    groupings += [["kind", *source.sample(KEYS[1:], source.randrange(2, 5))] for _ in range(4)]
    for group_by in groupings:
        options, window = random_window(trace, source)
        at_exit = source.choice(["leaked", "freed"])
        label, report = trace.ask(results, "--group-by", ",".join(group_by),
                                  f"--at-exit={at_exit}", *options)
        wanted = {key: measure(members) for key, members in
                  group(members_of(trace, *window, at_exit), group_by).items()}
        results.equal_maps(f"{label}: rows", read_rows(report, group_by, MEASURES), wanted)


# --- lifetimes ------------------------------------------------------------------------


def rank(values, percent):
    """The smallest value that so many percent do not exceed; None of none."""
    values = sorted(values)
    return values[-(-len(values) * percent // 100) - 1] if values else None


def compare_ranks(results, trace, source):
    chosen = {"transient": ["AIFI"], "impacting": ["AIFO", "AOFI"], "persistent": ["AOFO"]}
    for words, sort in ((["transient"], []), (["transient"], []),
                        (["impacting", "persistent"], ["--sort", "lifetime_p99_ns"])):
        options, window = random_window(trace, source)
        group_by = ["kind", *source.sample(KEYS[1:], 2)]
        at_exit = source.choice(["leaked", "freed"])
        types = [kind for word in words for kind in chosen[word]]
        label, report = trace.ask(results, "--impacting", ",".join(words), *sort, "--group-by",
                                  ",".join(group_by), f"--at-exit={at_exit}", *options)
        wanted = {}
        members = members_of(trace, *window, at_exit, lambda _, kind: kind in types)
        for key, row in group(members, group_by).items():
            lengths = [end - lifetime.start for lifetime, end, _ in row if end is not None]
            mean = (2 * sum(lengths) + len(lengths)) // (2 * len(lengths)) if lengths else None
            wanted[key] = {"count": len(row), "lifetime_mean_ns": mean,
                           **{name: rank(lengths, percent) for name, percent in zip(RANKS, (50, 90, 99))}}
        results.equal_maps(f"{label}: lifetimes",
                           read_rows(report, group_by, ["count", "lifetime_mean_ns", *RANKS]), wanted)
        order = [row["lifetime_p99_ns"] if sort else row["size"] for row in report["rows"]]
        order = [-1 if value is None else value for value in order]
        results.check(f"{label}: sorted", order == sorted(order, reverse=True))


# --- moments ---------------------------------------------------------------------------


def peak_tick(lifetimes, at_exit):
    """The first tick after whose events most is outstanding, and how much that is."""
    steps = defaultdict(int)
    for lifetime in lifetimes:
        steps[lifetime.a] += lifetime.size
        if lifetime.end_by(at_exit) is not None:
            steps[lifetime.f] -= lifetime.size
    value, best, best_tick = 0, 0, None
    for tick in sorted(steps):
        value += steps[tick]
        if value > best:
            best, best_tick = value, tick
    return best_tick, best


def selections(trace, source):
    """Of which memory the peak is: all of it, or that of a process, a heap, or stacks with a frame of a module."""
    process = source.choice(sorted({lifetime.process for lifetime in trace.truth.lifetimes}))
    heap = source.choice(sorted({lifetime.heap for lifetime in trace.truth.lifetimes if lifetime.heap}))
    module = source.choice(sorted({frame.split("+")[0] for lifetime in trace.truth.lifetimes
                                   for frame in lifetime.stack or () if ".exe+" in frame}))
    yield [], lambda lifetime: True
    yield ["--process", process], lambda lifetime: lifetime.process == process
    yield ["--heap", heap, "--size", "..64K"], lambda lifetime: lifetime.heap == heap and lifetime.size <= 65536
    yield ["--require-frame", f"{module}!"], lambda lifetime: any(frame.startswith(f"{module}+") for frame in lifetime.stack or ())


def compare_peaks(results, trace, source):
    group_by = ["kind", "process", "type", "stack"]
    for options, selects in selections(trace, source):
        at_exit = source.choice(["leaked", "freed"])
        label, report = trace.ask(results, "--at", "peak", "--group-by", ",".join(group_by),
                                  f"--at-exit={at_exit}", *options)
        members, moments = [], {}
        for kind in ("heap", "virtualalloc", "extent"):
            mine = [lifetime for lifetime in trace.truth.lifetimes
                    if lifetime.kind == kind and selects(lifetime)]
            tick, size = peak_tick(mine, at_exit)
            if tick is None:
                continue
            there = [lifetime for lifetime in mine if lifetime.a <= tick and
                     (lifetime.end_by(at_exit) is None or tick < lifetime.f)]
            moments[kind] = {"at_ns": trace.end_ns(tick), "outstanding_size": size}
            members += [(lifetime, None, "AIFO") for lifetime in there]
        wanted = {key: measure(row) for key, row in group(members, group_by).items()}
        results.equal_maps(f"{label}: rows", read_rows(report, group_by, MEASURES), wanted)
        got = {total["kind"]: {name: total[name] for name in ("at_ns", "outstanding_size")}
               for total in report["totals"] if total["outstanding_size"] > 0}
        results.equal_maps(f"{label}: moments", got, moments)
        results.equal(f"{label}: what it is the peak of", report["window"].get("peak_of"), " ".join(options))


def compare_moments(results, trace, source):
    events = [lifetime.start for lifetime in trace.truth.lifetimes]
    for group_by in (["kind", "process", "heap", "type", "stack"], ["kind", "site", "thread"]):
        at_ns = source.choice(events) + source.choice([0, 1, trace.truth.tick_ns])
        label, report = trace.ask(results, "--at", f"{at_ns}ns", "--group-by", ",".join(group_by))
        members = members_of(trace, 0, at_ns, "leaked", lambda _, kind: kind[2:] == "FO")
        wanted = {key: measure(row) for key, row in group(members, group_by).items()}
        results.equal_maps(f"{label}: rows", read_rows(report, group_by, MEASURES), wanted)
        results.equal(f"{label}: at_ns", report["window"].get("at_ns"), at_ns)


# --- histograms ---------------------------------------------------------------------------


def pairs_of(bounds):
    return zip(bounds, bounds[1:])


def compare_histograms(results, trace, source):
    for by, grouped in (("size", False), ("lifetime", True), ("lifetime", False), ("size", True), ("size", None)):
        options, window = random_window(trace, source)
        shape = ["--group-by", "kind,process"] if grouped else []
        if grouped is None:  # of what is outstanding at a moment
            options, window = ["--at", f"{window[1]}ns"], [0, window[1]]
        label, report = trace.ask(results, "--histogram", by, *shape, *options)
        wanted = defaultdict(lambda: [0, 0, 0, 0])
        for lifetime, end, kind in members_of(trace, *window, "leaked"):
            if grouped is None and kind[2:] == "FI":
                continue
            owner = (lifetime.process, lifetime.pid) if grouped else ()
            value = lifetime.size if by == "size" else None if end is None else end - lifetime.start
            bounds = (None, None)
            if value is not None:
                bounds = next(pair for pair in pairs_of(SIZE_BOUNDS if by == "size" else TIME_BOUNDS) if value < pair[1])
            bucket = wanted[lifetime.kind, *owner, *bounds]
            bucket[0] += 1
            bucket[1] += lifetime.size
            if kind[2:] == "FO":
                bucket[2] += 1
                bucket[3] += lifetime.size
        names = ["kind", "process", "pid", "from", "to"] if grouped else ["kind", "from", "to"]
        sums = "count size outstanding_count outstanding_size".split()
        buckets = report["histogram"]["buckets"]
        got = {tuple(bucket[name] for name in names): [bucket[name] for name in sums]
               for bucket in buckets if bucket["count"] > 0}
        results.equal_maps(f"{label}: buckets", got, dict(wanted))
        results.equal(f"{label}: by", report["histogram"]["by"], by)
        gaps = [(a, b) for a, b in zip(buckets, buckets[1:])
                if b["from"] and [a[n] for n in names[:-2]] == [b[n] for n in names[:-2]] and a["to"] != b["from"]]
        results.check(f"{label}: no gaps", not gaps, *gaps[:2])


# --- heaps ---------------------------------------------------------------------------------


def compare_heaps(results, trace, source):
    """A heap has the sizes that the last record before the window's end tells."""
    events = dump(trace.path, "--events", "Heap/Create,Heap/Expand,Heap/Contract,Heap/Destroy")
    names = defaultdict(set)
    for lifetime in trace.truth.lifetimes:
        names[lifetime.pid].add(lifetime.process)
    for group_by in (["kind", "process", "heap"], ["kind", "heap"]):
        options, window = random_window(trace, source)
        label, report = trace.ask(results, "--group-by", ",".join(group_by), *options)
        told = defaultdict(dict)
        for event in events:
            if event["time_ns"] < window[1]:
                fields = event["fields"]
                gone = event["name"] == "Heap/Destroy"
                told[fields["heap_handle"]][event["pid"]] = [
                    0 if gone else fields[name] for name in ("committed_space", "reserved_space")]
        got, wanted = {}, {}
        for row in report["rows"]:
            owners = told.get(row["heap"], {})
            if "pid" in row:
                owners = {pid: sizes for pid, sizes in owners.items() if pid == row["pid"]}
            # Of an id that two programs had, a record does not say whose heap it is about.
            if any(len(names[pid]) != 1 for pid in owners):
                continue
            key = tuple(row[name] for name in ("kind", "process", "heap") if name in row)
            got[key] = [row["committed_size"], row["reserved_size"], row["overhead_size"]]
            sums = [sum(column) for column in zip(*owners.values())] or [None, None]
            spare = None if sums[0] is None or row["kind"] != "heap" else sums[0] - row["outstanding_size"]
            wanted[key] = [*sums, None if spare is None or spare < 0 else spare]
        results.equal_maps(f"{label}: sizes of heaps", got, wanted)
        for kind in ("heap", "extent", "virtualalloc"):
            rows = [row for row in report["rows"] if row["kind"] == kind]
            most = max((row["impacting_size"] for row in rows), default=0)
            marked = [row["impacting_size"] for row in rows if row.get("grows_most")]
            results.equal(f"{label}: the {kind} that grows most", marked,
                          [most] if most > 0 and kind != "virtualalloc" else [])


# --- scenarios ------------------------------------------------------------------------------


def compare_scenarios(results, folder):
    def made(name):
        path = os.path.join(folder, name + ".etl")
        subprocess.run([MAKE_TRACE, name, path], check=True, stdout=subprocess.DEVNULL)
        return path

    def frames_of(report, row):
        return [frame_text(report["frames"][i]) for i in report["stacks"][row["stack"]]]

    meter = made("battery-meter")
    report = run_json("report", meter, "--type", "AIFO", "--kind", "heap", "--group-by", "kind,stack")
    top = report["rows"][0]
    results.equal("battery-meter: the leak's two stacks have all that is outstanding",
                  [row["outstanding_count"] for row in report["rows"]], [240, 240])
    results.check("battery-meter: the top stack is the thread function's",
                  "batterymeter.exe+0x31c4" in frames_of(report, top), frames_of(report, top))

    exercise = made("virtualalloc-exercise")
    report = run_json("report", exercise, "--impacting", "transient", "--from", "600ms", "--to", "3.3s")
    top = report["rows"][0]
    results.equal("virtualalloc-exercise: four spikes are Count 4, Size 40 MB, Impacting 0",
                  [top["count"], top["size"], top["impacting_size"]], [4, 40 << 20, 0])
    results.equal("virtualalloc-exercise: each spike lives 100 ms", [top[name] for name in RANKS], [10**8] * len(RANKS))
    results.check("virtualalloc-exercise: ManipulateTemporaryBuffer makes them",
                  frames_of(report, top)[0] == "memorytestapp.exe+0x118b", frames_of(report, top))
    report = run_json("report", exercise, "--at", "peak", "--group-by", "kind")
    peak = run_json("report", exercise, "--group-by", "kind")["rows"][0]["peak_size"]
    results.equal("virtualalloc-exercise: the peak's stacks add up to the peak",
                  report["rows"][0]["outstanding_size"], peak)

    exercise = made("heap-exercise")
    whole = run_json("report", exercise, "--impacting", "impacting", "--kind", "heap", "--group-by", "stack")
    results.equal("heap-exercise: 1,200 blocks, about 130 KB",
                  [whole["rows"][0]["count"], whole["rows"][0]["size"]], [1200, 129600])
    zoomed = run_json("report", exercise, "--impacting", "impacting", "--kind", "heap", "--group-by", "stack",
                      "--from", "1s", "--to", "11s")
    results.equal("heap-exercise: 10 s of it have 1,000 blocks, 108,000 bytes",
                  [zoomed["rows"][0]["count"], zoomed["rows"][0]["impacting_size"]], [1000, 108000])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        for number, (name, ways) in enumerate(WAYS.items()):
            seed = options.seed * 100 + number
            source = random.Random(seed)
            trace = Trace(folder, f"{name}-seed-{seed}", "workload", "--seed", str(seed), "--events", "600", *ways)
            for compare in (compare_groupings, compare_ranks, compare_peaks, compare_moments, compare_histograms,
                            compare_heaps):
                compare(results, trace, source)
        compare_scenarios(results, folder)
    results.finish()


if __name__ == "__main__":
    main()
