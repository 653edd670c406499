#!/usr/bin/env python3
"""Compares the program with traces of the second writer, seed by seed.

    oracle_second_writer.py                         17 traces
    oracle_second_writer.py --traces 1000           what the nightly run does
    oracle_second_writer.py --seed 4711 --keep out  one trace; its files stay in out
    oracle_second_writer.py --without same_tick     nothing of that kind happens
    oracle_second_writer.py --with coarse           what the program is known to get wrong

Clocks that move in large steps are left out by default: a thread then enters and leaves the
kernel several times on one tick, and the order of records alone tells which of the user
halves belongs to which kernel halves. The join knows ticks and threads, so user halves of
VirtualAlloc may change places.

The writer (tests/oracles/second_writer) simulates a machine whose allocator knows each
lifetime; here the program is asked the same questions in all its ways:

  * `allocations` lists each lifetime with its process, heap, address, size, times, how
    it ended, thread and call stack, from the trace and from a store;
  * `report` and `windows` give the sums that follow from them by the definitions of
    Lifetime, Window and Type, for windows at odd places;
  * the number of threads changes nothing.

Some inversions look like lost frees, and no record tells them apart. What the program then
takes for granted may be wrong, but it must say so: a block at an address that differs from
the truth needs an alloc_over_live of its own and pairing_guessed in the report's diagnostics.
Traces that need that are counted, and may not be many.

If buffers were lost, only what is left to know is compared (second_writer/losses.py),
and the sums are those of the lifetimes that the program listed itself.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter

from oracle_support import LONG, Results, run, run_json
from oracle_truth import (
    IMPACTING_TYPES, NANOSECONDS, Lifetime, Truth, differences, folded, frame_text, has_frame_of, left_out, model, read_rows,
    some_module, told_left_out, type_of,
)
from second_writer.losses import Losses
from second_writer.scenario import SWITCHES, Scenario, make_setup

KNOWN_FAULTS = ["coarse"]
GUESSED_MAX = 0.01  # of the traces; asked of so many that one or two do not decide
FEW_TRACES = 300
PLAIN = ["--no-cull", "--no-symbols"]
GROUP_BYS = [
    ["kind", "process", "heap", "type", "stack"],
    ["kind", "process"],
    ["kind", "stack"],
    ["kind", "heap"],
]
COLUMNS = ("kind process pid heap address size start end free_type is_realloc thread stack").split()
BEFORE = -(10**18)  # a time before every trace
CELLS = ("outstanding_count outstanding_size peak_size peak_count impacting_size").split()


class WriterTruth(Truth):
    """The truth of oracle_truth.py, without a file."""

    def __init__(self, raw):
        zero, hz = raw["H"], raw["hz"]
        self.ns_of = lambda ticks: (ticks - zero) * NANOSECONDS // hz
        self.rows = raw["lifetimes"]
        self.lifetimes = []
        for row in self.rows:
            lifetime = Lifetime({**row, "a": zero} if row["a"] is None else row, self.ns_of)
            lifetime.start = BEFORE if row["a"] is None else lifetime.start
            self.lifetimes.append(lifetime)
        self.reservations = []
        self.unknown_frees = sum(raw["unknown_frees"].values())
        self.unknown_ranges = raw["unknown_ranges"]
        self.unknown_resizes = raw["unknown_resizes"]
        self.records = raw["records"]
        self.to_ns = max(self.ns_of(raw["end"]) + 1, self.ns_of(raw["end"] + 1))
        self.tick_ns = max(1, NANOSECONDS // hz)


class ListedTruth:
    """Lifetimes as the program listed them, to check its sums against."""

    def __init__(self, listed, truth):
        self.lifetimes = [ListedLifetime(row) for row in listed]
        self.reservations = []
        self.to_ns, self.tick_ns = truth.to_ns, truth.tick_ns


class ListedLifetime:
    def __init__(self, row):
        self.kind, self.process, self.pid, self.heap = row[:4]
        self.size, self.start, self.end = row[5:8]
        self.start = BEFORE if self.start is None else self.start
        self.at_exit = row[8] == "process-exit"
        self.realloc = row[9]
        self.stack = row[11]

    def end_by(self, at_exit):
        return None if self.at_exit and at_exit == "leaked" else self.end


# --- what was listed ----------------------------------------------------------------


def listed_rows(document):
    texts = [frame_text(frame) for frame in document["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in document["stacks"]]
    return [
        (
            row["kind"], row["process"], row["pid"], row["heap"], row["address"], row["size"], row["alloc_time_ns"],
            row["free_time_ns"], row["free_type"], row["is_realloc"], row["thread"],
            None if row["stack"] is None else stacks[row["stack"]],
        )
        for row in document["rows"]
    ]


def true_row(truth, row):
    return (
        row["kind"], row["process"], row["pid"], None if row["heap"] is None else f"{row['heap']:#x}",
        f"{row['addr']:#x}", row["size"], None if row["a"] is None else truth.ns_of(row["a"]),
        None if row["f"] is None else truth.ns_of(row["f"]),
        row["ft"], row["realloc"], row["tid"], None if row["stack"] is None else tuple(t.lower() for t in row["stack"]),
    )


def show(row):
    named = dict(zip(COLUMNS, row, strict=True))
    stack = named.pop("stack")
    frames = "no stack" if stack is None else f"{len(stack)} frames: {' < '.join(stack[:3])}"
    return " ".join(f"{name}={value}" for name, value in named.items()) + f" [{frames}]"


def nearest(row, others):
    """The one of others that most likely stands for the same block."""
    same = [other for other in others if other[0] == row[0] and other[2:5] == row[2:5]]
    return max(same, key=lambda other: sum(a == b for a, b in zip(row, other)), default=None)


def row_differences(got, wanted):
    """The least that tells two lists apart: a row each, with only what differs of it."""
    missing, extra = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
    spare = list(extra.elements())
    lines = []
    for row in missing.elements():
        other = nearest(row, spare)
        if other is None:
            lines.append(f"missing: {show(row)}")
            continue
        spare.remove(other)
        unequal = [(name, a, b) for name, a, b in zip(COLUMNS, other, row, strict=True) if a != b]
        changes = ", ".join(f"{name} is {short(a)}, wanted {short(b)}" for name, a, b in unequal)
        lines.append(f"{' '.join(str(part) for part in row[:7])}: {changes}")
    return lines + [f"too many: {show(row)}" for row in spare]


def short(value):
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return f"[{len(value)} frames: {' < '.join(value[:2])} … {value[-1]}]"
    return repr(value)


# --- lossless and lossy traces --------------------------------------------------------


def lossless_complaints(truth, got, announced):
    """Without the addresses of heaps, as many as were announced, where pairing was guessed."""
    wanted = [true_row(truth, row) for row in truth.rows]
    unlike = (Counter(wanted) - Counter(got)) + (Counter(got) - Counter(wanted))
    guessed = {row[2:5] for row in unlike if row[0] == "heap"}
    if not 0 < len(guessed) <= announced or any(begin_elsewhere(got, wanted, place) for place in guessed):
        return row_differences(got, wanted), set()
    return row_differences(*([row for row in rows if row[2:5] not in guessed] for rows in (got, wanted))), guessed


def begin_elsewhere(got, wanted, place):
    """Pairing has no part in the process, stack and thread of a block, nor in when it begins."""
    begins = [Counter(row[:7] for row in rows if row[2:5] == place) for rows in (got, wanted)]
    return begins[0] != begins[1]


def lossy_complaints(scenario, truth, got):
    losses = Losses(scenario)
    exact, others = [], []
    blind = set()  # what is known of rows whose stack and thread are not
    for lifetime, row in zip(scenario.lifetimes(), truth.rows, strict=True):
        wanted = true_row(truth, row)
        if losses.is_tainted(lifetime.kind, row["pid"], row["heap"], row["addr"], row["size"]):
            others.append((lifetime, wanted))
            continue
        exact.append(wanted)
        if not losses.stack_is_known(lifetime):
            blind.add(wanted[:10])
    clean, tainted = [], []
    for row in got:
        heap = None if row[3] is None else int(row[3], 16)
        is_tainted = losses.is_tainted(row[0], row[2], heap, int(row[4], 16), row[5])
        (tainted if is_tainted else clean).append(row)

    def seen(rows):
        return [row[:10] + (None, None) if row[:10] in blind else row for row in rows]

    return row_differences(seen(clean), seen(exact)) + tainted_complaints(losses, tainted, others)


def tainted_complaints(losses, got, wanted):
    """Blocks at addresses of which a record is missing."""
    complaints = []
    blocks = Counter(row[:7] for row in got if row[0] == "heap")
    ends = {row[:7]: row for row in got if row[0] == "heap"}
    allowed = Counter()
    for lifetime, row in wanted:
        if lifetime.kind != "heap":
            continue
        if losses.is_opened(lifetime):
            allowed[row[:7]] += 1
            is_one = blocks[row[:7]] < 2  # of two that begin alike nothing says which is which
            complaints += opened_complaints(losses, lifetime, row, ends.get(row[:7])) if is_one else []
        elif any(number not in losses.lost for number in lifetime.opened_by):
            allowed[(*row[:6], None)] += 1  # begins with the summary of its realloc
    for key in blocks - allowed:
        if not allowed[(*key[:6], None)]:
            complaints.append(f"no record says that this begins: {show(ends[key])}")
    return complaints


def opened_complaints(losses, lifetime, wanted, got):
    if got is None:
        return [f"its first record is there, but it is missing: {show(wanted)}"]
    if losses.is_sure(lifetime) and got[7:10] != wanted[7:10]:
        return [f"thread and processor leave no doubt of its end: {show(wanted)}, but it is {short(got[7:10])}"]
    if losses.end_is_lost(lifetime) and got[7] is not None and got[7] + 1_000_000 < wanted[7]:
        return [f"ends at {got[7]}, before it did: {show(wanted)}"]
    return []


# --- sums -----------------------------------------------------------------------------


def random_windows(truth, count, chance):
    """The whole trace, then random ones that like to begin and end where something happens."""
    events = [0, truth.to_ns]
    for lifetime in truth.lifetimes:
        events += [lifetime.start, lifetime.end or lifetime.start]
    windows = [(None, None)]
    for _ in range(count - 1):
        places = [chance.choice(events) + chance.choice((0, 0, 1, -1, truth.tick_ns)) for _ in range(2)]
        windows.append(tuple(sorted(max(0, place) for place in places)))
    return windows


def frame_options(truth, chance):
    """A module to exclude, one to fold, and the options; None: none of both."""
    exclude, fold = (some_module(truth, chance) if chance.randrange(3) == 0 else None for _ in range(2))
    return exclude, fold, [*(["--exclude-frame", f"{exclude}!"] if exclude else []), *(["--fold-module", fold] if fold else [])]


def report_complaints(inputs, truth, window, at_exit, group_by, frames=(None, None, [])):
    exclude, fold, more = frames
    arguments = [*more, f"--at-exit={at_exit}", "--group-by", ",".join(group_by)]
    low, high = window
    arguments += ([] if low is None else ["--from", f"{low}ns"]) + ([] if high is None else ["--to", f"{high}ns"])
    report = run_json("report", *inputs, *PLAIN, *arguments)
    got, complaints = read_rows(report, group_by)
    bounds = (0 if low is None else low, truth.to_ns if high is None else high)
    wanted = model(folded(truth, fold) if fold else truth, *bounds, at_exit, group_by,
                   lambda lifetime, kind: exclude is None or not has_frame_of(lifetime, exclude))
    complaints += differences(got, wanted)
    if exclude and told_left_out(report) != left_out(truth, bounds, at_exit, exclude, lambda lifetime, kind: True):
        complaints.append(f"left out: {report['excluded']}")
    if report["window"] != {"from_ns": bounds[0], "to_ns": bounds[1]}:
        complaints.append(f"window is {report['window']}, wanted {bounds}")
    return [f"report {' '.join(arguments)}: {text}" for text in complaints], report


def windows_complaints(inputs, truth, chance):
    every = max(1, truth.to_ns // chance.randrange(2, 9))
    document = run_json("windows", *inputs, "--every", f"{every}ns")
    complaints = []
    for window in document["windows"]:
        bounds = window["from_ns"], window["to_ns"]
        got = {}
        for row in window["rows"]:
            key = (row.pop("kind"), row.pop("process"), row.pop("pid"))
            got[key] = row
        wanted = window_cells(truth, *bounds)
        for key in sorted(set(got) | set(wanted), key=repr):
            if got.get(key) != wanted.get(key):
                cells = f"got {got.get(key)}, wanted {wanted.get(key)}"
                complaints.append(f"windows --every {every}ns: {bounds} {key}: {cells}")
    if [window["from_ns"] for window in document["windows"]] != list(range(0, truth.to_ns, every)):
        complaints.append(f"windows --every {every}ns begin elsewhere")
    return complaints


def window_cells(truth, from_ns, to_ns):
    cells = model(truth, from_ns, to_ns, "freed", ["kind", "process"], lambda lifetime, kind: True)
    wanted = {key: {name: row[name] for name in CELLS} for key, row in cells.items()}
    for cell in wanted.values():
        for name in IMPACTING_TYPES:
            cell[f"{name.lower()}_count"] = cell[f"{name.lower()}_size"] = 0
    for lifetime in truth.lifetimes:
        kind = type_of(lifetime, lifetime.end, from_ns, to_ns)
        if kind is not None:
            cell = wanted[(lifetime.kind, lifetime.process, lifetime.pid)]
            cell[f"{kind.lower()}_count"] += 1
            cell[f"{kind.lower()}_size"] += lifetime.size
    return wanted


# --- one trace ------------------------------------------------------------------------


def complaints_of(scenario, inputs, folder):
    chance = random.Random(scenario.setup.seed)
    truth = WriterTruth(scenario.truth())
    listing = ["allocations", *inputs, *PLAIN, "--format", "json", "--at-exit=freed"]
    text = run(*listing, "-j", "1")
    listed = listed_rows(json.loads(text))
    complaints = []
    for jobs in ("2", "7"):
        if run(*listing, "-j", jobs) != text:
            complaints.append(f"allocations differs with -j {jobs}")
    is_lossy = any(file.lost for file in scenario.recorder.files)
    guessed = set()
    if is_lossy:
        complaints += lossy_complaints(scenario, truth, listed)
    else:
        wrong, guessed = lossless_complaints(truth, listed, announced_guesses(inputs))
        complaints += wrong
    sums = ListedTruth(listed, truth) if is_lossy or guessed or complaints else truth
    store = os.path.join(folder, "trace.ehs")
    run("store", *inputs, "-o", store)
    if Counter(listed_rows(run_json("allocations", store, *PLAIN, "--at-exit=freed"))) != Counter(listed):
        complaints.append("allocations of the store differ from those of the trace")
    for number, window in enumerate(random_windows(sums, 4, chance)):
        group_by = GROUP_BYS[number]
        at_exit = chance.choice(("leaked", "freed"))
        frames = frame_options(sums, chance)
        wrong, report = report_complaints([store] if number % 2 else inputs, sums, window, at_exit, group_by,
                                          frames if window != (None, None) else (None, None, []))
        complaints += wrong
        if window == (None, None):
            complaints += total_complaints(truth, report, is_lossy or guessed)
            complaints += [] if is_lossy or guessed else loss_complaints(scenario, report)
    return complaints + windows_complaints(chance.choice((inputs, [store])), sums, chance), guessed


def announced_guesses(inputs):
    counts = Counter({row["name"]: row["count"] for row in run_json("report", *inputs, *PLAIN)["diagnostics"]})
    return min(counts["alloc_over_live"], counts["pairing_guessed"])


def loss_complaints(scenario, report):
    """A trace that lost nothing is not to be called lossy or damaged."""
    allowed = {"alloc_over_live"} if scenario.programs.overtaken else set()
    allowed |= {"realloc_synthesized"} if scenario.setup.realloc_only else set()
    return [
        f"diagnostic {row['name']} ({row['severity']}) of {row['count']}, but nothing was lost"
        for row in report["diagnostics"]
        if row["severity"] in ("loss", "damage") and row["name"] not in allowed
    ]


def total_complaints(truth, report, is_lossy):
    complaints = []
    if report["trace"]["events"] != truth.records:
        complaints.append(f"events are {report['trace']['events']}, wanted {truth.records}")
    frees = {total["kind"]: total["free_without_alloc"] for total in report["totals"]}
    most = truth.unknown_frees + truth.unknown_resizes
    if not is_lossy and not truth.unknown_frees <= frees.get("heap", 0) <= most:
        complaints.append(f"free_without_alloc of heaps is {frees['heap']}, wanted {truth.unknown_frees}")
    if not is_lossy and frees.get("virtualalloc", 0) != truth.unknown_ranges:
        complaints.append(f"free_without_alloc of ranges is {frees['virtualalloc']}, wanted {truth.unknown_ranges}")
    return complaints


def describe(scenario):
    setup = scenario.setup
    kind = setup.kernel_style.kind if setup.heap_style is None else "two files"
    words = [kind, f"{setup.cpus} CPUs", f"clock {setup.clock.kind} at {setup.clock.hz} Hz", f"{8 * setup.width} bit"]
    words += ["keys"] * setup.keys + ["tidless"] * setup.tidless + ["coarse"] * setup.pinned
    words += ["compressed"] * setup.kernel_style.compress + ["realloc_only"] * setup.realloc_only
    lost = sum(len(file.lost) for file in scenario.recorder.files)
    return ", ".join(words + ([f"{lost} buffers lost"] if setup.loss else []))


def test_seed(results, seed, options, folder):
    scenario = Scenario(make_setup(seed, options.without))
    scenario.run()
    inputs = scenario.write(folder)
    if options.keep:
        with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
            json.dump(scenario.truth(), file, indent=0)
    guessed = set()
    try:
        complaints, guessed = complaints_of(scenario, inputs, folder)
    except (RuntimeError, ValueError, KeyError, IndexError) as error:
        complaints = [f"{type(error).__name__}: {error}"]
    count = sum(1 for _ in scenario.lifetimes())
    name = f"seed {seed}: {count} lifetimes, {describe(scenario)}"
    name += f", guesses at {len(guessed)} addresses announced" if guessed else ""
    results.check(name, not complaints, f"{len(complaints)} complaints, such as:", *complaints[: options.complaints])
    return bool(guessed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="; ".join(f"{name}: {text}" for name, text in SWITCHES.items()))
    parser.add_argument("--traces", type=int, default=1000 if LONG else 17)
    parser.add_argument("--seed", type=int, help="this one; else from --first on")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--without", action="append", default=[], choices=sorted(SWITCHES), metavar="SWITCH")
    parser.add_argument("--with", action="append", default=[], choices=KNOWN_FAULTS, metavar="SWITCH", dest="also")
    parser.add_argument("--keep", metavar="FOLDER", help="keep traces and truths here, a folder a seed")
    parser.add_argument("--complaints", type=int, default=4, help="shown of each trace")
    options = parser.parse_args()
    options.without += [switch for switch in KNOWN_FAULTS if switch not in options.also]
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.traces)
    results = Results()
    guessed = 0
    for seed in seeds:
        if options.keep:
            folder = os.path.join(options.keep, str(seed))
            os.makedirs(folder, exist_ok=True)
            guessed += test_seed(results, seed, options, folder)
        else:
            with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
                guessed += test_seed(results, seed, options, folder)
        sys.stdout.flush()
    if len(seeds) >= FEW_TRACES:
        results.check(f"{guessed} of {len(seeds)} traces hold a wrong guess that is announced",
                      guessed <= len(seeds) * GUESSED_MAX, f"more than {GUESSED_MAX:.0%}")
    results.finish()


if __name__ == "__main__":
    main()
