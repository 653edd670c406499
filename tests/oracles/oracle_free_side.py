#!/usr/bin/env python3
"""Who freed: reports, lists and stores of random programs whose frees have call stacks, and the truth.

    oracle_free_side.py             one program a way
    LONG=1 oracle_free_side.py      four longer programs a way
    SEED=7 ONLY=keyed,wow64 ...     other programs, and some ways

`make_trace workload --free-stacks` says of each lifetime which thread and which stack ended it, and lists
the frees of blocks that nobody saw allocated. From that, rows are worked out here as oracle_truth.py does:
a lifetime that was not freed in the window has null. Compared are

  * rows by every key of who freed, alone and with the allocating side, in the whole trace and in windows,
    with both values of --at-exit, with all their measures;
  * rows by WPA's impacting stack: that of the free if the block is older than the window, else that of
    the allocation; and by its impacting type;
  * blocks that another thread freed than allocated them;
  * frees without an allocation, by who freed;
  * the list of lifetimes;
  * the same of a store, with one thread and with many, which must be the same bytes.

Without --free-stacks the same program has no stack of a free, and the same rows otherwise.
"""

import json
import os
import random
import subprocess
from collections import Counter, defaultdict

from oracle_support import ETLHEAP, LONG, WORK, Results, run, run_json
from oracle_truth import MEASURES, TOTALS, Truth, frame_text, measure, short, type_of

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
SEED = int(os.environ.get("SEED", "1"))
ONLY = [name for name in os.environ.get("ONLY", "").split(",") if name]
SEEDS, EVENTS = (4, 6000) if LONG else (1, 1500)

WAYS = {
    "plain": "",
    "compressed": "--compress --cpus 8",
    "keyed": "--keys",
    "keyed-reused": "--keys --key-slots 8 --cpus 2",
    "tidless-keyed": "--tidless --keys --compress",
    "one-cpu": "--cpus 1",
    "small-buffers": "--buffer-bytes 4096",
    "flushed-often": "--flush-ticks 2000 --cpus 3",
    "one-stream": "--one-stream",
    "wow64": "--wow64",
    "slow-clock": "--hz 100000",
    "rundown-at-the-end": "--end-rundown",
}
GROUPINGS = [
    ["kind", "free_stack"],
    ["kind", "free_thread"],
    ["kind", "process", "stack", "free_stack"],
    ["kind", "thread", "free_thread"],
    ["kind", "type", "free_stack"],
    ["kind", "free_site"],
    ["kind", "free_module", "free_type"],
]
IMPACTS = [  # asked in windows, because only there is memory freed that was allocated before
    ["kind", "impacting_stack"],
    ["kind", "process", "impacting_stack"],
    ["kind", "type", "impacting_stack"],
    ["kind", "thread", "impacting_stack", "free_thread"],
    ["kind", "free_stack", "impacting_stack"],
    ["kind", "free_module", "impacting_stack", "free_type"],
    ["kind", "impacting_type"],
    ["kind", "process", "stack", "impacting_type"],
    ["kind", "impacting_type", "impacting_stack"],
]
STACKS = ("stack", "free_stack", "impacting_stack")


class FreeSide(Truth):
    """The truth, with who freed."""

    def __init__(self, path, tidless):
        """tidless: records of VirtualAlloc name no thread, but their stacks do."""
        super().__init__(path)
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
        for lifetime, row in zip(self.lifetimes, raw["lifetimes"]):
            lifetime.thread = row["tid"]
            lifetime.free_thread = row["free_tid"]
            lifetime.free_stack = stack_of(row["free_stack"])
            lifetime.free_type = row["ft"]
            lifetime.address = row["addr"]
            if tidless and lifetime.kind == "virtualalloc":
                lifetime.thread = lifetime.thread if lifetime.stack else None
                lifetime.free_thread = lifetime.free_thread if lifetime.free_stack else None
        self.unknown = raw["unknown"]


def stack_of(frames):
    return None if frames is None else tuple(text.lower() for text in frames)


def site_of(stack):
    return stack[0] if stack else None


def module_of(stack):
    return stack[0].rsplit("+", 1)[0] if stack and "+" in stack[0] else None


def key_of(lifetime, kind_of_type, grouping):
    freed = kind_of_type[2:] == "FI"
    stack = lifetime.free_stack if freed else None
    words = {
        "process": lambda: f"{lifetime.process} {lifetime.pid}",
        "type": lambda: kind_of_type,
        "impacting_type": lambda: {"AIFI": "Transient", "AOFO": "Persistent"}.get(kind_of_type, "Impacting"),
        "free_stack": lambda: stack,
        "impacting_stack": lambda: lifetime.free_stack if kind_of_type == "AOFI" else lifetime.stack,
        "free_site": lambda: site_of(stack),
        "free_module": lambda: module_of(stack),
        "free_thread": lambda: lifetime.free_thread if freed else None,
    }
    return tuple(words[word]() if word in words else getattr(lifetime, word) for word in grouping)


def wanted_rows(truth, from_ns, to_ns, at_exit, grouping):
    groups, others = defaultdict(list), Counter()
    for lifetime in truth.lifetimes:
        end = lifetime.end_by(at_exit)
        kind = type_of(lifetime, end, from_ns, to_ns)
        if kind is None:
            continue
        key = key_of(lifetime, kind, grouping)
        groups[key].append((lifetime, end, kind))
        others[key] += kind[2:] == "FI" and None not in (lifetime.thread, lifetime.free_thread) and lifetime.thread != lifetime.free_thread
    return {key: {**measure(members), "freed_by_other_count": others[key]} for key, members in groups.items()}


def got_rows(report, grouping, measures):
    texts = [frame_text(frame) for frame in report["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in report["stacks"]]
    rows = {}
    for row in report["rows"]:
        key = []
        for word in grouping:
            value = row[word]
            if word == "process":
                value = f"{value} {row['pid']}"
            elif word in STACKS:
                value = None if value is None else stacks[value]
            elif word == "free_site":
                value = None if value is None else texts[value]
            elif word == "free_module":
                value = None if value is None else value.lower()
            key.append(value)
        if tuple(key) in rows:
            raise ValueError(f"two rows have the key {short(key)}")
        rows[tuple(key)] = {name: row[name] for name in measures}
    return rows


def differences(got, wanted, measures):
    for key in sorted(set(got) | set(wanted), key=repr):
        if key not in got or key not in wanted:
            yield f"{'missing' if key not in got else 'too many'}: {short(key)}"
        elif got[key] != {name: wanted[key][name] for name in measures}:
            yield f"{short(key)}: got {got[key]}, wanted {wanted[key]}"


def check_rows(results, label, trace, truth, window, at_exit, grouping):
    low, high = window
    arguments = ["--at-exit", at_exit, "--group-by", ",".join(grouping), "--no-cull"]
    arguments += ["--from", f"{low}ns"] if low is not None else []
    arguments += ["--to", f"{high}ns"] if high is not None else []
    arguments += ["--sort", "freed_by_other_count"]
    measures = [*MEASURES, "freed_by_other_count"]
    report = run_json("report", trace, *arguments)
    wanted = wanted_rows(truth, low or 0, truth.to_ns if high is None else high, at_exit, grouping)
    wrong = list(differences(got_rows(report, grouping, measures), wanted, measures))
    results.check(f"{label}: {' '.join(arguments)}: {len(wanted)} rows", not wrong, f"{len(wrong)} differ", *wrong[:6])


def check_impacts(results, label, trace, truth, windows, source):
    """Also that the question was put: rows in which a stack frees old memory and allocates new."""
    for number, grouping in enumerate(IMPACTS):
        check_rows(results, label, trace, truth, windows[number % len(windows)], source.choice(["leaked", "freed"]), grouping)
    low, high = windows[0]
    report = run_json("report", trace, "--no-cull", "--from", f"{low}ns", "--to", f"{high}ns", "--group-by", "kind,type,impacting_stack")
    kinds = defaultdict(set)
    for row in report["rows"]:
        kinds[row["impacting_stack"]].add(row["type"])
    both = sum({"AOFI", "AIFO"} <= types for types in kinds.values())
    results.check(f"{label}: {both} stacks free old memory and allocate new", both > 0)


def sums_by(trace, key, *arguments):
    """Sums of a report with named and culled stacks, by kind, process and the names of the stack's frames."""
    report = run_json("report", trace, "--group-by", f"kind,process,{key}", *arguments)
    texts = [(frame["module"], frame["symbol"] or frame["offset"] or frame["address"], frame["line"] if "line" in frame else None)
             for frame in report["frames"]]
    sums = Counter()
    for row in report["rows"]:
        stack = None if row[key] is None else tuple(texts[i] for i in report["stacks"][row[key]])
        for name in TOTALS:
            sums[row["kind"], row["process"], row["pid"], stack, name] += row[name]
    return sums


def check_sides(results, label, trace, *arguments):
    """Impacting stacks are the stacks of allocations, but for AOFI those of frees, however they are named."""
    wanted = sums_by(trace, "stack", *arguments, "--type", "AIFI,AIFO,AOFO")
    freed = sums_by(trace, "free_stack", *arguments, "--type", "AOFI")
    for key, value in freed.items():
        wanted[key] += value
    got = sums_by(trace, "impacting_stack", *arguments)
    wrong = [key for key in set(got) | set(wanted) if got[key] != wanted[key]]
    results.check(f"{label}: {len(freed) // len(TOTALS)} stacks that freed, of {len(got) // len(TOTALS)} that changed something",
                  bool(freed) and not wrong, *[f"{short(key)}: got {got[key]}, wanted {wanted[key]}" for key in wrong][:6])


def check_unmatched(results, label, trace, truth):
    wanted = Counter((row["process"], row["pid"], f"{row['heap']:#x}", row["free_tid"], stack_of(row["free_stack"])) for row in truth.unknown)
    report = run_json("report", trace, "--unmatched", "--kind", "heap", "--no-cull", "--group-by", "process,heap,free_thread,free_stack")
    texts = [frame_text(frame) for frame in report["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in report["stacks"]]
    got = Counter()
    for row in report["rows"]:
        stack = None if row["free_stack"] is None else stacks[row["free_stack"]]
        got[(row["process"], row["pid"], row["heap"], row["free_thread"], stack)] += row["count"]
    results.check(f"{label}: {sum(wanted.values())} frees without an allocation", got == wanted,
                  *[f"{short(key)}: got {got[key]}, wanted {wanted[key]}" for key in set(got) | set(wanted) if got[key] != wanted[key]][:6])


def check_list(results, label, trace, truth):
    document = run_json("allocations", trace, "--no-cull")
    texts = [frame_text(frame) for frame in document["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in document["stacks"]]
    got = Counter((row["kind"], row["pid"], int(row["address"], 16), row["alloc_time_ns"], row["free_thread"],
                   None if row["free_stack"] is None else stacks[row["free_stack"]]) for row in document["rows"])
    wanted = Counter((one.kind, one.pid, one.address, one.start, one.free_thread, one.free_stack) for one in truth.lifetimes)
    results.check(f"{label}: the list says who freed {len(truth.lifetimes)} lifetimes", got == wanted,
                  *[str(one)[:240] for one in (got - wanted)][:3], *[f"wanted {one}"[:240] for one in (wanted - got)][:3])
    lines = [json.loads(line) for line in run("allocations", trace, "--no-cull", "--format", "ndjson").splitlines()]
    same = [(line["free_thread"], None if line["free_stack"] is None else len(line["free_stack"])) for line in lines] == [
        (row["free_thread"], None if row["free_stack"] is None else len(stacks[row["free_stack"]])) for row in document["rows"]]
    results.check(f"{label}: NDJSON says the same", same)


def answers(path, jobs):
    """What is asked of a trace or its store, as text without the file's name."""
    asked = [
        ["report", "--group-by", "stack,free_stack"],
        ["report", "--pairs"],
        ["report", "--unmatched"],
        ["report", "--group-by", "thread_name,free_module", "--from", "10ms", "--to", "50ms"],
        ["report", "--group-by", "process,impacting_stack", "--from", "10ms", "--to", "50ms", "--sort", "peak_size"],
        ["report", "--group-by", "site,impacting_stack", "--from", "20ms", "--churn"],
        ["allocations"],
        ["report"],
    ]
    texts = []
    for words in asked:
        document = run_json(words[0], path, *words[1:], "-j", str(jobs))
        document["trace"].pop("files")
        texts.append(json.dumps(document))
    return texts


def check_store(results, label, trace, store):
    run("store", trace, "-o", store)
    wanted = answers(trace, 1)
    for path, jobs in ((trace, 5), (store, 1), (store, 3)):
        results.check(f"{label}: {os.path.basename(path).rsplit('.', 1)[-1]} with -j {jobs} says the same", answers(path, jobs) == wanted)


def check_without(results, label, trace, words):
    """A trace without stacks of frees: the same lifetimes, threads and all."""
    other = f"{trace}.none.etl"
    subprocess.run([MAKE_TRACE, "workload", other, *words], check=True, capture_output=True)
    plain = [run_json("report", path, "--group-by", "kind,stack,thread,free_thread")["rows"] for path in (trace, other)]
    results.check(f"{label}: stacks of frees change nothing else", len(plain[0]) == len(plain[1]) and
                  sorted(row["count"] for row in plain[0]) == sorted(row["count"] for row in plain[1]))
    os.remove(other)


def try_way(results, name, options, seed):
    trace = os.path.join(WORK, f"free-{name}-{seed}.etl")
    truth_path, store = f"{trace}.truth.json", f"{trace}.ehs"
    words = ["--seed", str(seed), "--events", str(EVENTS), *options.split()]
    subprocess.run([MAKE_TRACE, "workload", trace, *words, "--free-stacks", "--truth", truth_path], check=True, capture_output=True)
    truth = FreeSide(truth_path, "--tidless" in options)
    source = random.Random(seed)
    label = f"{name}, seed {seed}"
    times = sorted(one.start for one in truth.lifetimes)
    windows = [(None, None), (times[len(times) // 3], times[2 * len(times) // 3]), (source.choice(times), None)]
    for number, grouping in enumerate(GROUPINGS):
        window = windows[number % len(windows)]
        check_rows(results, label, trace, truth, window, source.choice(["leaked", "freed"]), grouping)
    check_impacts(results, label, trace, truth, windows[1:], source)
    check_sides(results, label, trace, "--from", f"{windows[1][0]}ns")
    check_unmatched(results, label, trace, truth)
    check_list(results, label, trace, truth)
    check_store(results, label, trace, store)
    if "--tidless" not in options:  # else stacks say which threads free
        check_without(results, label, trace, words)
    for path in (trace, truth_path, store):
        os.remove(path)


def check_notes(results, trace):
    """Who asks for stacks of frees is told if the trace has none: the demo has none."""
    other = os.path.join(WORK, "free-none.etl")
    subprocess.run([MAKE_TRACE, "demo", other], check=True, capture_output=True)
    for key, notes in (("free_site", [False, True]), ("impacting_stack", [False, True]), ("free_thread", [False, False])):
        said = [subprocess.run([ETLHEAP, "report", path, "--group-by", key], check=True, capture_output=True, text=True).stderr
                for path in (trace, other)]
        results.equal(f"a note says that rows by {key} lack stacks of frees", ["no call stacks of frees" in text for text in said], notes)


def check_fixed(results):
    """The trace of the docs, against its truth; and with symbols, in which freeing code has names of its own."""
    trace, symbols = os.path.join(WORK, "free-fixed.etl"), os.path.join(WORK, "free-fixed.symbols")
    os.makedirs(symbols, exist_ok=True)
    subprocess.run([MAKE_TRACE, "battery-meter-fixed", trace, "--truth", trace + ".json"], check=True, capture_output=True)
    subprocess.run([os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols"), symbols], check=True)
    truth = FreeSide(trace + ".json", False)
    for grouping in GROUPINGS:
        check_rows(results, "fixed", trace, truth, (None, None), "leaked", grouping)
    check_unmatched(results, "fixed", trace, truth)
    check_list(results, "fixed", trace, truth)
    for more in ([], ["--symbols", symbols], ["--symbols", symbols, "--no-cull", "--at-exit", "freed"], ["--cull-frame", "batterymeter.exe!*"]):
        check_sides(results, " ".join(["fixed", *more]).replace(symbols, "FOLDER"), trace, "--from", "5s", "--to", "9s", *more)
    check_notes(results, trace)
    report = run_json("report", trace, "--pairs", "--kind", "heap", "--symbols", symbols)
    name = {None: None, **{i: frame["symbol"] for i, frame in enumerate(report["frames"])}}
    pairs = {(name[row["site"]], name[row["free_site"]]): (row["count"], row["freed_by_other_count"]) for row in report["rows"]}
    results.equal("fixed: the history is freed by another thread", pairs["History::append", "History::trim"], (144, 144))
    own = sum(count for (site, freed), (count, _) in pairs.items() if site == freed)
    results.equal("fixed: transient blocks are freed where they were allocated", own, 2000)
    results.equal("fixed: no allocator is a site that frees", sorted({freed or "" for _, freed in pairs} - {site for site, _ in pairs}),
                  ["", "History::trim", "IconCache::clear"])
    pins = run_json("report", trace, "--map")["pins"]
    results.equal("fixed: two small blocks pin a heap", [(pin["committed_size"], pin["outstanding_count"], pin["outstanding_size"], pin["largest_size"])
                                                       for pin in pins], [(1 << 20, 2, 608, 304)])


def main():
    results = Results()
    if not ONLY:
        check_fixed(results)
    for round_number in range(SEEDS):
        for turn, (name, options) in enumerate(WAYS.items()):
            if not ONLY or name in ONLY:
                try_way(results, name, options, (SEED + round_number) * 1000 + turn + 1)
    results.finish()


if __name__ == "__main__":
    main()
