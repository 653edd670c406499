#!/usr/bin/env python3
"""Compares `report` with the truth a built trace was made from.

    oracle_truth.py TRACE TRUTH.json [--with TRACE2] [--windows N] [--seed S]
    oracle_truth.py                  all traces of $TRACES/../traces-built; LONG=1: in twice as many windows

The truth lists lifetimes: kind, process, pid, heap, address, size, a and f (raw
ticks of allocation and end, f null: never), ft (how it ended), stack (innermost
first, "module+0xoffset" or a bare address; null: none recorded) and realloc. It
comes from the workload, not from the bytes of the trace. From it this file works
out every row of a report by the definitions alone, in the plainest way there is:

  * a lifetime is in the window [T0, T1) if a < T1 and not f < T0;
  * its type is A-inside-or-outside, F-inside-or-outside of the window;
  * with --at-exit=leaked a process's end does not end its lifetimes;
  * outstanding at T1 are AIFO and AOFO, at T0 were AOFI and AOFO;
  * the peak is the largest value that the row's outstanding curve takes in the
    window. The curve is a function of time: what ends and begins at one tick
    changes it once, and it starts from what was outstanding at T0.

Compared are all rows as a set, by their keys, each with all its measures, the
totals, and frees of blocks that were never allocated; for the whole trace, for
windows at odd places and for random ones, with both values of --at-exit, and once
more for each window with another grouping and a filter.
"""

import argparse
import copy
import glob
import json
import os
import random
from collections import defaultdict

from oracle_support import LONG, Results, run_json, skip_all, traces_folder

MEASURES = (
    "count size impacting_size outstanding_count outstanding_size realloc_count peak_count peak_size"
).split()
TOTALS = MEASURES[:5]
LEFT_OUT = "count size outstanding_count outstanding_size".split()
IMPACTING_TYPES = {
    "AIFO": "Impacting",
    "AIFI": "Transient",
    "AOFI": "Impacting",
    "AOFO": "Persistent",
}
GROUP_BYS = [
    ["kind", "process", "heap", "type", "stack"],
    ["kind", "process"],
    ["kind", "stack"],
    ["kind", "process", "type"],
    ["kind", "heap"],
    ["kind", "type", "stack"],
    ["kind"],
]
NANOSECONDS = 10**9


class Lifetime:
    """One lifetime of the truth, in nanoseconds since time zero."""

    def __init__(self, row, to_ns):
        self.kind = row["kind"]
        self.process = row["process"]
        self.pid = row["pid"]
        self.heap = None if row["heap"] is None else f"{row['heap']:#x}"
        self.stack = None if row["stack"] is None else tuple(text.lower() for text in row["stack"])
        self.size = row["size"]
        self.realloc = bool(row["realloc"])
        self.start = to_ns(row["a"])
        self.end = None if row["f"] is None else to_ns(row["f"])
        self.at_exit = row["ft"] == "process-exit"

    def end_by(self, at_exit):
        return None if self.at_exit and at_exit == "leaked" else self.end


class Truth:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
        zero, hz = raw["H"], raw["hz"]

        def to_ns(ticks):
            return (ticks - zero) * NANOSECONDS // hz

        self.lifetimes = [Lifetime(row, to_ns) for row in raw["lifetimes"]]
        self.reservations = [Lifetime(row, to_ns) for row in raw.get("reservations", [])]
        self.unknown_frees = sum(raw["unknown_frees"].values())
        self.records = raw.get("records")
        # Just after the last event; of clocks above 1 GHz two ticks may share a nanosecond.
        self.to_ns = max(to_ns(raw["end"] + 1), to_ns(raw["end"]) + 1)
        self.tick_ns = max(1, NANOSECONDS // hz)


# --- the model -----------------------------------------------------------------


def type_of(lifetime, end, from_ns, to_ns):
    """AIFO and so on, or None when the lifetime is not in the window."""
    if not lifetime.start < to_ns or (end is not None and end < from_ns):
        return None
    allocated = "AI" if from_ns <= lifetime.start else "AO"
    freed = "FI" if end is not None and end < to_ns else "FO"
    return allocated + freed


def key_of(lifetime, kind_of_type, group_by):
    key = []
    for word in group_by:
        if word == "process":
            key += [lifetime.process, lifetime.pid]
        elif word == "type":
            key += [kind_of_type, IMPACTING_TYPES[kind_of_type]]
        else:
            key.append(getattr(lifetime, word))
    return tuple(key)


def peak(changes, before):
    """The largest value of a curve that starts at `before`; changes are (time, by)."""
    at = defaultdict(int)
    for time_ns, by in changes:
        at[time_ns] += by
    value = largest = before
    for time_ns in sorted(at):
        value += at[time_ns]
        largest = max(largest, value)
    return largest


def measure(members):
    """All measures of one row; members are (lifetime, end, type)."""
    row = dict.fromkeys(MEASURES, 0)
    counts, sizes = [], []
    count_before = size_before = 0
    for lifetime, end, kind in members:
        row["count"] += 1
        row["size"] += lifetime.size
        row["realloc_count"] += lifetime.realloc
        if kind in ("AIFO", "AOFO"):
            row["outstanding_count"] += 1
            row["outstanding_size"] += lifetime.size
        row["impacting_size"] += {"AIFO": 1, "AOFI": -1}.get(kind, 0) * lifetime.size
        if kind[:2] == "AO":
            count_before += 1
            size_before += lifetime.size
        else:
            counts.append((lifetime.start, 1))
            sizes.append((lifetime.start, lifetime.size))
        if kind[2:] == "FI":
            counts.append((end, -1))
            sizes.append((end, -lifetime.size))
    row["peak_count"] = peak(counts, count_before)
    row["peak_size"] = peak(sizes, size_before)
    return row


def model(truth, from_ns, to_ns, at_exit, group_by, selects):
    groups = defaultdict(list)
    for lifetime in truth.lifetimes + truth.reservations:
        end = lifetime.end_by(at_exit)
        kind = type_of(lifetime, end, from_ns, to_ns)
        if kind is not None and selects(lifetime, kind):
            groups[key_of(lifetime, kind, group_by)].append((lifetime, end, kind))
    return {key: measure(members) for key, members in groups.items()}


def module_of(frame):
    """The module of a frame's text; None for a bare address."""
    return None if frame.startswith("0x") else frame.rsplit("+", 1)[0]


def has_frame_of(lifetime, module):
    return lifetime.stack is not None and any(module_of(frame) == module for frame in lifetime.stack)


def some_module(truth, random_source):
    """The module of a random frame."""
    frames = [frame for lifetime in truth.lifetimes for frame in lifetime.stack or () if module_of(frame)]
    return module_of(random_source.choice(sorted(set(frames)))) if frames else "nobody.dll"


def folded(truth, module):
    """The truth with the module in place of its consecutive frames, as --fold-module shows it."""
    made = copy.copy(truth)
    made.lifetimes = [copy.copy(lifetime) for lifetime in truth.lifetimes]
    made.reservations = [copy.copy(lifetime) for lifetime in truth.reservations]
    for lifetime in made.lifetimes + made.reservations:
        texts = [module if module_of(frame) == module else frame for frame in lifetime.stack or ()]
        again = [i > 0 and text == module == texts[i - 1] for i, text in enumerate(texts)]
        kept = tuple(text for text, is_again in zip(texts, again) if not is_again)
        lifetime.stack = None if lifetime.stack is None else kept
    return made


def left_out(truth, window, at_exit, module, selects):
    """The JSON of what --exclude-frame MODULE! leaves out, by kind, without kinds that have nothing."""
    rows = model(truth, *window, at_exit, ["kind"], lambda lifetime, kind: selects(lifetime, kind) and has_frame_of(lifetime, module))
    return {key[0]: {name: row[name] for name in LEFT_OUT} for key, row in rows.items()}


def told_left_out(document):
    rows = {row["kind"]: {name: row[name] for name in LEFT_OUT} for row in document["excluded"]}
    return {kind: row for kind, row in rows.items() if row["count"] > 0}


def filter_of(truth, random_source):
    """Options that select lifetimes, and the predicate on (lifetime, type) that says which."""
    one = random_source.choice(truth.lifetimes)
    low, high = sorted([one.size, random_source.choice(truth.lifetimes).size])
    types = random_source.sample(sorted(IMPACTING_TYPES), 2)
    filters = [
        ([], lambda lifetime, kind: True),
        (["--kind", one.kind], lambda lifetime, kind: lifetime.kind == one.kind),
        (["--size", f"{low}..{high}"], lambda lifetime, kind: low <= lifetime.size <= high),
        (["--type", ",".join(types)], lambda lifetime, kind: kind in types),
        (["--process", one.process.upper()], lambda lifetime, kind: lifetime.process == one.process),
        (["--process", str(one.pid)], lambda lifetime, kind: lifetime.pid == one.pid),
    ]
    module = some_module(truth, random_source)
    filters.append((["--exclude-frame", f"{module}!"], lambda lifetime, kind: not has_frame_of(lifetime, module)))
    if one.heap is not None:
        filters.append((["--heap", one.heap], lambda lifetime, kind: lifetime.heap == one.heap))
    options, selects = random_source.choice(filters)
    return options, lambda lifetime, kind: lifetime.kind != "reserve" and selects(lifetime, kind)


def reservations_too(kinds):
    """Reservations are selected only by those who name their kind."""
    return ["--kind", ",".join(kinds)], lambda lifetime, kind: lifetime.kind in kinds


# --- the report ------------------------------------------------------------------


def site_of(document, stack):
    """What a line says of the innermost frame, in the words of Parquet's columns."""
    frame = {} if stack is None else document["frames"][document["stacks"][stack][0]]
    return {key: frame.get(word) for key, word in (("module", "module"), ("function", "symbol"), ("file", "file"), ("line", "line"))}


def frame_text(frame):
    """A frame as the truth writes it: base name and offset, or the address; the base name of a folded module."""
    if frame["module"] is None:
        return frame["address"].lower()
    module = frame["module"].replace("\\", "/").rsplit("/", 1)[-1]
    return module.lower() if frame["offset"] is None else f"{module}+{frame['offset']}".lower()


def read_rows(report, group_by):
    """The report's rows by key, and complaints about their form."""
    texts = [frame_text(frame) for frame in report["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in report["stacks"]]
    rows, complaints = {}, []
    for row in report["rows"]:
        key = []
        for word in group_by:
            if word == "process":
                key += [row["process"], row["pid"]]
            elif word == "type":
                key += [row["type"], row["impacting_type"]]
            elif word == "stack":
                key.append(None if row["stack"] is None else stacks[row["stack"]])
            else:
                key.append(row[word])
        if tuple(key) in rows:
            complaints.append(f"two rows have the key {short(key)}")
        rows[tuple(key)] = {name: row[name] for name in MEASURES}
    if report["group_by"] != group_by:
        complaints.append(f"group_by is {report['group_by']}, wanted {group_by}")
    return rows, complaints


def short(key):
    return " ".join(
        f"[{len(part)} frames: {' < '.join(part[:3])}]" if isinstance(part, tuple) else str(part)
        for part in key
    )


def differences(got, wanted):
    lines = []
    for key in sorted(set(got) | set(wanted), key=repr):
        if key not in got:
            lines.append(f"row missing: {short(key)} {wanted[key]}")
        elif key not in wanted:
            lines.append(f"row too many: {short(key)} {got[key]}")
        elif got[key] != wanted[key]:
            unequal = {n: (got[key][n], wanted[key][n]) for n in MEASURES if got[key][n] != wanted[key][n]}
            lines.append(f"row differs (got, wanted): {short(key)} {unequal}")
    return lines


def totals_of(rows, kinds):
    """Totals by kind from rows whose key begins with the kind."""
    totals = {kind: dict.fromkeys(TOTALS, 0) for kind in kinds}
    for key, row in rows.items():
        for name in TOTALS:
            totals[key[0]][name] += row[name]
    return totals


# --- the comparison -----------------------------------------------------------------


def windows_of(truth, count, random_source):
    """The whole trace, the odd places, then random windows, `count` beyond the first.

    None stands for an option that is left out.
    """
    starts = [lifetime.start for lifetime in truth.lifetimes]
    ends = [lifetime.end for lifetime in truth.lifetimes if lifetime.end is not None]
    events = sorted(starts + ends)
    tick = truth.tick_ns
    middle = events[len(events) // 2]
    windows = [
        (None, None),
        (middle, None),  # an event at the very start of the window
        (None, middle),  # one just beyond its end
        (middle, middle + tick),  # one tick long
        (middle, middle),  # empty: what was outstanding at that time
        (0, max(1, events[0] - tick)),  # before the first event
        (truth.to_ns + NANOSECONDS, truth.to_ns + 2 * NANOSECONDS),  # past the end
        (random_source.choice(starts), random_source.choice(ends) + tick),
        (middle + 1, middle + tick // 2 + 1),  # between two ticks
    ]
    while len(windows) <= count:
        pick = random_source.choice
        low, high = sorted(
            pick([pick(events), random_source.randrange(truth.to_ns)]) + pick([0, 0, 1, -1, tick])
            for _ in range(2)
        )
        windows.append((max(0, low), max(0, high)))
    return [(low, high) if None in (low, high) or low <= high else (high, low) for low, high in windows]


def compare(results, label, traces, truth, window, at_exit, group_by=GROUP_BYS[0], filtered=None):
    low, high = window
    options, selects = filtered or ([], lambda lifetime, kind: lifetime.kind != "reserve")
    arguments = [f"--at-exit={at_exit}", *options]
    if low is not None:
        arguments += ["--from", f"{low}ns"]
    if high is not None:
        arguments += ["--to", f"{high}ns"]
    if group_by != GROUP_BYS[0]:
        arguments += ["--group-by", ",".join(group_by)]
    label = f"{label}: {' '.join(arguments)}"
    try:
        report = run_json("report", *traces, "--no-cull", "--no-symbols", *arguments)
        got, complaints = read_rows(report, group_by)
    except (RuntimeError, ValueError, KeyError, IndexError) as error:
        results.check(label, False, f"{type(error).__name__}: {error}")
        return
    from_ns = 0 if low is None else low
    to_ns = truth.to_ns if high is None else high
    wanted = model(truth, from_ns, to_ns, at_exit, group_by, selects)
    complaints += differences(got, wanted)
    complaints += check_totals(report, wanted)
    if report["window"] != {"from_ns": from_ns, "to_ns": to_ns}:
        complaints.append(f"window is {report['window']}, wanted {from_ns} to {to_ns}")
    if window == (None, None) and not options:
        heap = [total for total in report["totals"] if total["kind"] == "heap"]
        frees = sum(total["free_without_alloc"] for total in heap)
        if frees != truth.unknown_frees:
            complaints.append(f"free_without_alloc of heaps is {frees}, wanted {truth.unknown_frees}")
        if truth.records is not None and report["trace"]["events"] != truth.records:
            complaints.append(f"events is {report['trace']['events']}, wanted {truth.records}")
    results.check(f"{label}: {len(wanted)} rows", not complaints, f"{len(complaints)} complaints, such as:", *complaints[:8])


def check_totals(report, wanted_rows):
    got = {total["kind"]: {name: total[name] for name in TOTALS} for total in report["totals"]}
    wanted = totals_of(wanted_rows, got.keys() | {key[0] for key in wanted_rows})
    return [
        f"total of {kind} differs: got {got.get(kind)}, wanted {wanted[kind]}"
        for kind in sorted(wanted)
        if got.get(kind) != wanted[kind]
    ]


def compare_trace(results, traces, truth_path, window_count, seed, chosen=None, turn=0):
    """chosen are numbers of windows, None: all; groupings begin at `turn`."""
    truth = Truth(truth_path)
    random_source = random.Random(seed)
    label = os.path.basename(traces[0])
    for number, window in enumerate(windows_of(truth, window_count, random_source)):
        if chosen is not None and number not in chosen:
            continue
        for at_exit in ("leaked", "freed"):
            compare(results, label, traces, truth, window, at_exit)
        # Other groupings take turns, and filters with them: their rows mix what others keep apart.
        other = GROUP_BYS[(number + turn) % len(GROUP_BYS)]
        at_exit = random_source.choice(["leaked", "freed"])
        filtered = filter_of(truth, random_source)
        compare(results, label, traces, truth, window, at_exit, other, filtered)
        kinds = random_source.choice([["reserve"], ["virtualalloc", "reserve"], ["heap", "reserve"]])
        if truth.reservations:
            compare(results, label, traces, truth, window, at_exit, other, reservations_too(kinds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", nargs="?")
    parser.add_argument("truth", nargs="?")
    parser.add_argument("--with", dest="others", action="append", default=[], metavar="TRACE2",
                        help="another file of the same recording")
    parser.add_argument("--windows", type=int, default=24 if LONG else 12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.trace:
        pairs = [([options.trace, *options.others], options.truth or options.trace + ".truth.json")]
    else:
        folder = os.path.join(traces_folder(), "..", "traces-built")
        pairs = [([t[: -len(".truth.json")]], t) for t in sorted(glob.glob(folder + "/*.truth.json"))]
        if not pairs:
            skip_all(f"{os.path.normpath(folder)} holds no traces with truth; set TRACES to the folder beside it")
    results = Results()
    for traces, truth in pairs:
        compare_trace(results, traces, truth, options.windows, options.seed)
    results.finish()


if __name__ == "__main__":
    main()
