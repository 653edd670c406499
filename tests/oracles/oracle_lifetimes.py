#!/usr/bin/env python3
"""Goal: `diff --lifetimes` says how long what was freed had lived, on both sides.

Method: random programs whose lifetimes are known, two runs of each. A naive model groups the
lifetimes of each side by what a diff compares, sorts the ones that were freed in the window, and
takes mean, median and percentiles from the sorted list. All rows, totals, states, the order and
the histogram are compared with it, in windows, with filters and groupings; stores, any number of
threads and little memory must say the same. Programs with symbols have no such truth: there the
model reads the blocks that `allocations` lists, one by one.
"""

import csv
import io
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction

from oracle_churn import load
from oracle_support import ETLHEAP, LONG, Results, run, run_json
from oracle_truth import filter_of, frame_text, short, type_of, windows_of

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
MAKE_SYMBOLS = os.path.join(OUT, "make_demo_symbols")
COUNTS = ["count", "freed_count", "outstanding_count"]
LIFETIMES = ["lifetime_mean_ns", "lifetime_median_ns", "lifetime_p90_ns", "lifetime_p99_ns"]
GROUPINGS = ["kind,process,stack", "kind,process", "kind", "kind,stack", "kind,process,type", "kind,size_class", "kind,site", "kind,module"]
WAYS = [("", []), ("--cpus 1", ["-j", "1"]), ("--compress", ["--memory", "128M"]), ("--buffer-bytes 4096 --cpus 8", ["--no-mmap", "-j", "2"]),
        ("--wow64", ["-j", "3"])]


# --- the model -----------------------------------------------------------------------------


def nearest_rank(lengths, percent):
    """The smallest that at least so many percent of the sorted list do not exceed."""
    return lengths[-(-len(lengths) * percent // 100) - 1]


def rounded_mean(lengths):
    return int(Fraction(sum(lengths), len(lengths)) + Fraction(1, 2))


def ranks_of(lengths):
    lengths = sorted(lengths)
    if not lengths:
        return dict.fromkeys(LIFETIMES)
    return dict(zip(LIFETIMES, [rounded_mean(lengths), *(nearest_rank(lengths, percent) for percent in (50, 90, 99))]))


def run_independent(frame):
    return frame if frame is None or "+" in frame else "?"


def key_of(row, kind_of_type, words):
    """What a diff takes for the same in both runs."""
    key = []
    for word in words:
        if word == "stack":
            key.append(None if row.stack is None else tuple(map(run_independent, row.stack)))
        elif word in ("site", "module"):
            frame = None if row.stack is None else run_independent(row.stack[0])
            key.append(frame if word == "site" or frame is None else None if frame == "?" else frame.rsplit("+", 1)[0])
        elif word == "process":
            key.append(row.process.lower())
        elif word == "type":
            key.append(kind_of_type)
        else:
            key.append(getattr(row, word))
    return tuple(key)


class Group:
    """What is in a row of one side, or in the total of a kind."""

    def __init__(self):
        self.counts = dict.fromkeys(COUNTS, 0)
        self.lengths = []

    def add(self, length, is_freed):
        self.counts["count"] += 1
        self.counts["freed_count" if is_freed else "outstanding_count"] += 1
        if is_freed:
            self.lengths.append(length)

    def numbers(self):
        return {**self.counts, **ranks_of(self.lengths)}


def model(truth, window, at_exit, words, selects):
    groups, totals = defaultdict(Group), defaultdict(Group)
    low, high = (0 if window[0] is None else window[0]), (truth.to_ns if window[1] is None else window[1])
    for row in truth.lifetimes:
        end = row.end_by(at_exit)
        kind = type_of(row, end, low, high)
        if kind is None or not selects(row, kind):
            continue
        for group in (groups[key_of(row, kind, words)], totals[row.kind]):
            group.add(None if end is None else end - row.start, kind[2:] == "FI")
    return groups, totals


def both_sides(base, now):
    """{key: amounts of both sides and the difference}"""
    both = {}
    for key in set(base) | set(now):
        sides = base.get(key, Group()).numbers(), now.get(key, Group()).numbers()
        row = {f"{side}_{name}": value for side, numbers in zip(("base", "new"), sides) for name, value in numbers.items()}
        for name, value in sides[0].items():
            row[f"delta_{name}"] = None if None in (value, sides[1][name]) else sides[1][name] - value
        both[key] = row
    return both


def state_of(row, measure):
    base, now = row[f"base_{measure}"], row[f"new_{measure}"]
    if (base is None) != (now is None):
        return "added" if row["base_count"] == 0 else "removed" if row["new_count"] == 0 else "unknown"
    return "unchanged" if base == now else "grown" if now > base else "shrunk"


# Where classes of lifetimes end, in nanoseconds.
BOUNDS = [step * 10**power for power in range(19) for step in (1, 2, 5)]


def classes_of(base, now):
    """{(kind, from, to): counts of both sides}, from the first that has some to the last."""
    classes = {}
    for kind in set(base) | set(now):
        counts = defaultdict(lambda: [0, 0])
        for side, groups in enumerate((base, now)):
            for length in groups[kind].lengths if kind in groups else []:
                counts[next(number for number, bound in enumerate(BOUNDS) if length < bound)][side] += 1
        for number in range(min(counts), max(counts) + 1) if counts else []:
            classes[kind, BOUNDS[number - 1] if number > 0 else 0, BOUNDS[number]] = tuple(counts[number])
    return classes


# --- the program ---------------------------------------------------------------------------


def rows_of(document, words, text_of=frame_text):
    texts = [run_independent(text_of(frame)) for frame in document["frames"]]
    rows = {}
    for row in document["rows"]:
        key = []
        for word in words:
            value = row[word]
            if word == "stack" and value is not None:
                value = tuple(texts[i] for i in document["stacks"][value])
            elif word == "site" and value is not None:
                value = texts[value]
            elif word in ("process", "module") and value is not None:
                value = value.lower()
            key.append(value)
        assert tuple(key) not in rows, key
        rows[tuple(key)] = row
    return rows


def numbers_of(row):
    return {f"{side}_{name}": row[f"{side}_{name}"] for side in ("base", "new", "delta") for name in COUNTS + LIFETIMES}


def order_of(row, measure):
    """Largest change first, and those that are not known last."""
    delta = row[f"delta_{measure}"]
    return ([row[f"{side}_{measure}"] for side in ("base", "new")].count(None), 0 if delta is None else -abs(delta))


def complaints_of(document, sides, words, measure, text_of=frame_text):
    (base, base_totals), (now, now_totals) = sides
    wanted = both_sides(base, now)
    got = rows_of(document, words, text_of)
    wrong = [f"row missing: {short(key)} {wanted[key]}" for key in wanted if key not in got]
    wrong += [f"row too many: {short(key)}" for key in got if key not in wanted]
    for key in set(got) & set(wanted):
        numbers = numbers_of(got[key])
        unequal = {name: (numbers[name], value) for name, value in wanted[key].items() if numbers[name] != value}
        if unequal:
            wrong.append(f"(got, wanted): {short(key)} {unequal}")
        if got[key]["state"] != state_of(wanted[key], measure):
            wrong.append(f"{short(key)} is {got[key]['state']}, wanted {state_of(wanted[key], measure)}")
    orders = [order_of(row, measure) for row in document["rows"]]
    if orders != sorted(orders):
        wrong.append("rows are out of order")
    totals = {total["kind"]: numbers_of(total) for total in document["totals"] if total["base_count"] + total["new_count"] > 0}
    wanted_totals = {kind: row for kind, row in both_sides(base_totals, now_totals).items()}
    if totals != wanted_totals:
        wrong.append(f"totals: got {totals}, wanted {wanted_totals}")
    buckets = {(bucket["kind"], bucket["from"], bucket["to"]): (bucket["base_count"], bucket["new_count"])
               for bucket in document["histogram"]["buckets"]}
    if buckets != classes_of(base_totals, now_totals):
        wrong.append(f"histogram: got {buckets}, wanted {classes_of(base_totals, now_totals)}")
    if document["unchanged_count"] != sum(row["state"] == "unchanged" for row in document["rows"]):
        wrong.append(f"unchanged_count is {document['unchanged_count']}")
    return wrong


# --- workloads -----------------------------------------------------------------------------


def make_pair(folder, seed, way):
    """Two runs of one program: the same code, other blocks."""
    sides = []
    for name, events in (("base", 3000), ("new", 4500)):
        trace, truth = (os.path.join(folder, f"{name}{seed}.{end}") for end in ("etl", "json"))
        subprocess.run([MAKE_TRACE, "workload", trace, "--truth", truth, "--seed", str(seed), "--events", str(events * (3 if LONG else 1)),
                        *way.split()], check=True, stdout=subprocess.DEVNULL)
        sides.append((trace, load(truth)))
    return sides


def check_workload(results, folder, seed, way, more):
    (base, base_truth), (now, now_truth) = make_pair(folder, seed, way)
    source = random.Random(seed)
    store = os.path.join(folder, f"new{seed}.ehs")
    run("store", now, "-o", store)
    windows = windows_of(base_truth, 12, source)
    for turn, window in enumerate(windows if LONG else [windows[0], *source.sample(windows[1:], 4)]):
        words = GROUPINGS[(seed + turn) % len(GROUPINGS)]
        options, selects = ([], lambda row, kind: True) if turn % 2 == 0 else filter_of(base_truth, source)
        at_exit, measure = source.choice(["leaked", "freed"]), source.choice(LIFETIMES)
        arguments = ["--lifetimes", "--all", "--no-cull", "--no-symbols", f"--at-exit={at_exit}", "--group-by", words, *options]
        arguments += [] if measure == LIFETIMES[1] else ["--sort", measure]
        for word, time_ns in zip(("--from", "--to"), window):
            arguments += [] if time_ns is None else [word, f"{time_ns}ns"]
        sides = [model(truth, window, at_exit, words.split(","), selects) for truth in (base_truth, now_truth)]
        document = run_json("diff", base, now, *arguments, *more)
        wrong = complaints_of(document, sides, words.split(","), measure)
        freed = sum(group.counts["freed_count"] for group in sides[0][1].values())
        results.check(f"workload {seed} {way}: {' '.join(arguments + more)}: {len(document['rows'])} rows, {freed} freed in the base",
                      not wrong, f"{len(wrong)} differences, such as:", *wrong[:6])
        stored = run_json("diff", base, store, *arguments)
        results.check(f"workload {seed} {way}, store: the same rows", all(stored[part] == document[part] for part in
                      ("rows", "totals", "histogram", "unchanged_count")))
    return base, now


# --- programs with symbols, and the forms of the answer ---------------------------------------


def named(frame):
    text = f"{frame['module']}+{frame['symbol'] or frame['offset']}" if frame["module"] else frame["address"]
    return text.lower()


class Listed:
    """The blocks of a trace as `allocations` lists them."""

    def __init__(self, trace, *options):
        self.groups, self.totals = defaultdict(Group), defaultdict(Group)
        document = run_json("allocations", trace, "--no-cull", *options)
        frames = [run_independent(named(frame)) for frame in document["frames"]]
        for row in document["rows"]:
            stack = None if row["stack"] is None else tuple(frames[i] for i in document["stacks"][row["stack"]])
            for group in (self.groups[row["kind"], row["process"].lower(), stack], self.totals[row["kind"]]):
                group.add(row["lifetime_ns"], row["type"][2:] == "FI")


def check_symbols(results, folder):
    """Function names come before offsets: one group may have several addresses."""
    base, now, symbols = (os.path.join(folder, name) for name in ("demo.etl", "longer.etl", "symbols"))
    os.makedirs(symbols)
    for arguments in ([MAKE_TRACE, "demo", base], [MAKE_TRACE, "battery-meter", now], [MAKE_SYMBOLS, symbols]):
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    for options in ([], ["--to", "20s"], ["--kind", "heap", "--from", "5s"]):
        options = [*options, "--symbols", symbols]
        sides = [(one.groups, one.totals) for one in (Listed(base, *options), Listed(now, *options))]
        document = run_json("diff", base, now, "--lifetimes", "--all", "--no-cull", "--group-by", "kind,process,stack", *options)
        wrong = complaints_of(document, sides, ["kind", "process", "stack"], LIFETIMES[1], named)
        results.check(f"with names of functions, {' '.join(options[:-2])}: {len(document['rows'])} rows", not wrong, *wrong[:6])
        grown = sum(row["state"] == "grown" for row in document["rows"])
        results.check(f"{grown} of them live longer", grown > 10)
    return base, now


def refuse(results, name, wanted, *arguments):
    done = subprocess.run([ETLHEAP, *arguments], capture_output=True, text=True, check=False)
    results.check(name, done.returncode == wanted[0] and wanted[1] in done.stderr and done.stdout == "", done.returncode, done.stderr)


def check_forms(results, base, now, folder):
    asked = ["diff", base, now, "--lifetimes", "--no-symbols", "--group-by", "kind,process,site"]
    document = run_json(*asked)
    cells = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv").decode())))
    names = [f"{side}_{name}" for side in ("base", "new", "delta") for name in COUNTS + LIFETIMES]
    results.equal("CSV has the same numbers", [[int(row[name]) if row[name] else None for name in names] for row in cells],
                  [[row[name] for name in names] for row in document["rows"]])
    plain = run_json("diff", base, now, "--no-symbols")
    results.check("a diff that does not ask has no lifetimes", "histogram" not in plain and not set(names[3:7]) & set(plain["rows"][0]))
    results.equal("--sort by a lifetime asks for them", run_json(*asked[:3], *asked[4:], "--sort", "lifetime_median_ns")["rows"], document["rows"])
    itself = run_json("diff", now, now, "--lifetimes", "--no-symbols")
    results.equal("a run has the lifetimes of itself", itself["rows"], [])
    back = run_json("diff", now, base, "--lifetimes", "--no-symbols", "--group-by", "kind,process,site")
    deltas = [sorted((row["delta_lifetime_median_ns"] or 0) * sign for row in one["rows"]) for one, sign in ((document, 1), (back, -1))]
    results.equal("the other way round all changes have the other sign", *deltas)
    hints = {hint["name"] for hint in document["hints"]}
    results.check("what is outstanding, and that the windows differ, is said", {"some_not_freed", "durations_differ"} <= hints, hints)
    text = " ".join(run(*asked).decode().split())
    markdown = run(*asked, "--format", "markdown").decode()
    heap = next(total for total in document["totals"] if total["kind"] == "heap")
    results.check("text and Markdown say how many were freed", f"Freed Count +{heap['delta_freed_count']} {heap['base_freed_count']:,} {heap['new_freed_count']:,}" in text and
                  f"| heap | Freed Count | +{heap['delta_freed_count']} | {heap['base_freed_count']:,} | {heap['new_freed_count']:,} |" in markdown)
    summary = os.path.join(folder, "summary.ehs")
    run("store", base, "--summary", "-o", summary)
    log = os.path.join(folder, "log.txt")
    with open(log, "w", encoding="latin-1") as file:
        file.write("// UMDH: version 6\n*Start of data for heap @ 1\n1 bytes + 1 at 1 by BackTrace1\n*End of data for heap @ 1\n")
    refuse(results, "a summary is refused", (2, "has no lifetimes; use the trace or its full store"), "diff", summary, now, "--lifetimes")
    refuse(results, "UMDH logs have no times", (2, "a UMDH log has no times, so --lifetimes cannot be used"), "diff", log, log, "--lifetimes")
    refuse(results, "folded stacks are refused", (2, "use --format html"), *asked, "--format", "folded")
    refuse(results, "so are rates", (2, "--per-second"), *asked, "--per-second")
    refuse(results, "and churn", (2, "--churn"), *asked, "--churn")
    refuse(results, "a trend has none", (2, "not a sum"), "trend", base, now, base, "--sort", "lifetime_median_ns")


def main():
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, 1 + (30 if LONG else 6)):
            check_workload(results, folder, seed, *WAYS[seed % len(WAYS)])
        check_forms(results, *check_symbols(results, folder), folder)
    results.finish()


if __name__ == "__main__":
    sys.exit(main())
