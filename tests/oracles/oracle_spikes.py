#!/usr/bin/env python3
"""Goal: `report --spikes` lists memory that came and went, when, and with which call stacks.
`windows --find-spikes` has a window around each.

Method: random programs whose lifetimes are known, and the demo, whose spikes are. A naive model
works from the definition alone: the level of a window is the largest of the minima of all runs of
a tenth of the windows that touch it. Everything in the document is compared, for windows, filters
and groupings; stores, any number of threads and small slices must say the same as the trace; and
text, CSV and Markdown what JSON says. Windows around spikes are those that `windows --window` has.
"""

import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

from oracle_support import LONG, Results, run, run_json
from oracle_truth import Truth, frame_text

MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(os.environ.get("OUT", "build/check"), "make_trace"))
WINDOWS, PART, NOISE, SMALL, SPIKES_MAX = 4000, 10, 30, 100, 100
SIZES = "height_size peak_size spiked_size".split()
GROUPINGS = [["kind", "process"], ["kind", "process"], ["kind", "process", "heap"], ["kind"]]
NAMES = {"kind": ["kind"], "process": ["process", "pid"], "heap": ["heap"]}
WAYS = [([], []), (["--cpus", "1"], ["-j", "1"]), (["--compress"], ["-j", "3"]), (["--buffer-bytes", "4096"], ["--memory", "96M"])]


# --- the model -----------------------------------------------------------------------------


def changes_of(lives, at_exit):
    """By how much what is outstanding changes, by time."""
    changes = defaultdict(int)
    for life in lives:
        end = life.end_by(at_exit)
        changes[life.start] += life.size
        if end is not None:
            changes[end] -= life.size
    return changes


def outstanding(changes, moment):
    """Before anything that happens at the moment."""
    return sum(by for at, by in changes.items() if at < moment)


def windows_of(from_ns, to_ns, first_ns):
    """Bounds of windows; those of a whole trace may begin before time zero."""
    start, end = from_ns if from_ns is not None else 0, to_ns
    every = (end - start) // WINDOWS + 1
    while from_ns is None and start > first_ns:
        start -= every
    bounds = list(range(start, end, every)) + [end]
    if from_ns is None:
        bounds[0] = max(bounds[0], min(first_ns, 0))
    return bounds


def curve_of(changes, bounds):
    """What is outstanding at each bound, and at most in each window."""
    at = sorted(changes)
    value, i, edges, peaks = 0, 0, [], []
    while i < len(at) and at[i] < bounds[0]:
        value += changes[at[i]]
        i += 1
    for end in bounds[1:]:
        edges.append(value)
        peak = value
        while i < len(at) and at[i] < end:
            value += changes[at[i]]
            peak = max(peak, value)
            i += 1
        peaks.append(peak)
    return edges + [value], peaks


def levels_of(edges, run_length):
    """The naive opening: for each window, all runs of edges that touch it."""
    least = [min(edges[max(0, i - run_length + 1) : i + 1]) for i in range(len(edges) + run_length - 1)]
    return [max(least[i : i + run_length + 1]) for i in range(len(edges) - 1)]


def spikes_of(edges, peaks, levels):
    """[first, end) of the windows, the one with the top, and the height."""
    found, spike, dip = [], None, 0
    for window, level in enumerate(levels):
        height = peaks[window] - level
        if spike is not None:
            dip = min(dip, max(0, edges[window] - max(levels[window - 1], level)))
            if height <= 0 or dip < min(spike["height"], height) // 2:
                spike = None
        if height <= 0:
            continue
        if spike is None:
            spike = {"first": window, "top": window, "height": 0}
            found.append(spike)
        spike["end"] = window + 1
        if height > spike["height"]:
            spike.update(height=height, top=window, peak=peaks[window])
            dip = sys.maxsize
    return found


def moment_of(changes, from_ns, to_ns, peak, tick_ns):
    """Just after the first events in the window that make it as much."""
    value = outstanding(changes, from_ns)
    for at in sorted(at for at in changes if from_ns <= at < to_ns):
        value += changes[at]
        if value == peak:
            return at + tick_ns
    return to_ns


def parts_of(lives, spike, at_exit):
    """What came and went with each stack."""
    stacks = defaultdict(list)
    for life in lives:
        stacks[life.stack].append(life)
    parts, middle = [], min(spike["at_ns"], spike["to_ns"])
    for stack, members in stacks.items():
        changes = changes_of(members, at_exit)
        before, then, after = (outstanding(changes, at) for at in (spike["from_ns"], middle, spike["to_ns"]))
        came, went = then - before, then - after
        if came > 0 and went > 0:
            parts.append((min(came, went), came, went, stack))
    return parts


def model(truth, window, group_by, selects, at_exit, count_max):
    from_ns, to_ns = window
    lives = [life for life in truth.lifetimes if selects(life)]
    groups = defaultdict(list)
    for life in lives:
        groups[tuple(getattr(life, name) for word in group_by for name in NAMES[word])].append(life)
    end = truth.to_ns if to_ns is None else to_ns
    first = min((life.start for life in lives), default=0)
    bounds = windows_of(from_ns, end, first)
    run_length = max(1, (len(bounds) - 1 + PART // 2) // PART)
    found = []
    for key, members in groups.items():
        changes = changes_of(members, at_exit)
        edges, peaks = curve_of(changes, bounds)
        own = spikes_of(edges, peaks, levels_of(edges, run_length))
        highest = max((spike["peak"] for spike in own), default=0)
        for spike in own:
            if spike["height"] <= highest // NOISE:
                continue
            top = spike["top"]
            row = {"key": key, "from_ns": bounds[spike["first"]], "to_ns": bounds[spike["end"]], "height_size": spike["height"],
                   "peak_size": spike["peak"], "at_ns": moment_of(changes, bounds[top], bounds[top + 1], spike["peak"], truth.tick_ns)}
            found.append((-spike["height"], top, row, members))
    found.sort(key=lambda spike: spike[:2])
    rows = []
    for _, _, row, members in found[:SPIKES_MAX]:
        parts = parts_of(members, row, at_exit)
        row["spiked_size"] = sum(part[0] for part in parts)
        row["parts"] = sorted((part for part in parts if part[0] >= row["spiked_size"] // SMALL), key=str)
        if row["spiked_size"] >= row["height_size"] // 2:
            rows.append(row)
    return rows[:count_max], max(0, len(rows) - count_max) + max(0, len(found) - SPIKES_MAX)


# --- the document --------------------------------------------------------------------------


def stack_of(document, number):
    return None if number is None else tuple(frame_text(document["frames"][frame]) for frame in document["stacks"][number])


def rows_of(document):
    """The rows as the model has them; heights fall."""
    rows = []
    for row in document["rows"]:
        out = {name: row[name] for name in ["from_ns", "to_ns", "at_ns", *SIZES]}
        out["key"] = tuple(row[name] for word in document["group_by"] for name in NAMES[word])
        out["parts"] = sorted(
            ((part["size"], part["came_size"], part["went_size"], stack_of(document, part["stack"])) for part in row["parts"]), key=str)
        rows.append(out)
    return rows


def in_any_order(rows):
    """Spikes as high as each other may come in any order of groups."""
    return sorted(rows, key=lambda row: (-row["height_size"], row["at_ns"], str(row["key"])))


def compare(results, what, trace, truth, random_source):
    span = truth.to_ns
    at = sorted(random_source.sample(range(1, span), 2))
    from_ns, to_ns = random_source.choice([(None, None), (at[0], at[1]), (None, at[1]), (at[0], None)])
    group_by = random_source.choice(GROUPINGS)
    one = random_source.choice(truth.lifetimes)
    options, selects = random_source.choice([
        ([], lambda life: True), (["--process", str(one.pid)], lambda life: life.pid == one.pid),
        (["--kind", one.kind], lambda life: life.kind == one.kind), (["--size", "..4096"], lambda life: life.size <= 4096)])
    if from_ns is not None:
        options += ["--from", f"{from_ns}ns"]
    if to_ns is not None:
        options += ["--to", f"{to_ns}ns"]
    top, at_exit = random_source.choice([1, 7, 100]), random_source.choice(["leaked", "freed"])
    document = run_json("report", trace, "--spikes", "--group-by", ",".join(group_by), "--top", str(top), f"--at-exit={at_exit}", "--no-cull", *options)
    wanted, left_out = model(truth, (from_ns, to_ns), group_by, lambda life: life.kind != "reserve" and selects(life), at_exit, top)
    got = rows_of(document)
    name = f"{what} --at-exit {at_exit} {' '.join(options)} by {','.join(group_by)}, {top}"
    first = next((f"{a} / {b}" for a, b in zip(in_any_order(got), in_any_order(wanted)) if a != b), "")
    results.check(f"{name}: {len(wanted)} spikes", in_any_order(got) == in_any_order(wanted), f"{len(got)} rows", first)
    results.equal(f"{name}: the highest first", [row["height_size"] for row in got], sorted((row["height_size"] for row in got), reverse=True))
    results.equal(f"{name}: left out", document["left_out_count"], left_out)
    return len(wanted)


# --- the same in other words ---------------------------------------------------------------


def check_formats(results, trace):
    document = run_json("report", trace, "--spikes", "--no-cull")
    rows = list(csv.DictReader(io.StringIO(run("report", trace, "--spikes", "--no-cull", "--format", "csv").decode())))
    parts = [(row, part) for row in document["rows"] for part in row["parts"]]
    results.equal("CSV has a line for each part", len(rows), len(parts))
    names = ["from_ns", "to_ns", "at_ns", *SIZES]
    results.equal("CSV says what JSON says", [[int(row[name]) for name in names + ["size", "came_size", "went_size"]] for row in rows],
                  [[row[name] for name in names] + [part[name] for name in ("size", "came_size", "went_size")] for row, part in parts])
    results.equal("... with call stacks", [row["stack"].lower().count(" < ") for row in rows],
                  [max(0, len(stack_of(document, part["stack"]) or ()) - 1) for _, part in parts])
    text = run("report", trace, "--spikes").decode()
    markdown = run("report", trace, "--spikes", "--format", "markdown").decode()
    for row in document["rows"][:10]:
        moment = f"{row['at_ns'] // 10**9}.{row['at_ns'] % 10**9:09}".rstrip("0").rstrip(".")
        results.check(f"text and Markdown have the spike at {moment}", moment in text and moment in markdown, text)


def check_windows(results, trace, *options):
    """`windows --find-spikes`: the spikes of the report, and in each window what --window says of it."""
    label = f"windows --find-spikes {' '.join(options)}"
    spikes = run_json("report", trace, "--spikes", "--at-exit=freed", "--no-cull", *options)["rows"]
    document = run_json("windows", trace, "--find-spikes", *options)
    results.equal(f"{label}: the spikes of the report", [{**window["spike"], "from_ns": window["from_ns"], "to_ns": window["to_ns"]}
                                                      for window in document["windows"]],
                  [{name: value for name, value in row.items() if name not in ("spiked_size", "parts")} for row in spikes])
    keys = [name for word in document["group_by"] for name in NAMES[word]]
    asked = [word for row in spikes[:20] for word in ("--window", f"{row['from_ns']}ns..{row['to_ns']}ns")]
    cut = [word for at, word in enumerate(options) if not {"--from", "--to"} & {word, options[at - 1] if at else word}]
    wanted = run_json("windows", trace, *asked, *cut)["windows"] if asked else []
    def cells(windows):
        return [{tuple(row[key] for key in keys): row for row in window["rows"]} for window in windows]
    results.equal(f"{label}: the cells of --window", cells(document["windows"])[:20], cells(wanted))
    rows = list(csv.DictReader(io.StringIO(run("windows", trace, "--find-spikes", *options, "--format", "csv").decode())))
    told = [{**cell[tuple(window["spike"][key] for key in keys)], **window["spike"], "from_ns": window["from_ns"], "to_ns": window["to_ns"]}
            for window, cell in zip(document["windows"], cells(document["windows"]))]
    results.equal(f"{label}: CSV has the group of each spike", rows,
                  [{name: str(row[name] if row[name] is not None else "") for name in rows[0]} for row in told])
    text = run("windows", trace, "--find-spikes", *options).decode()
    moments = [f"{row['at_ns'] // 10**9}.{row['at_ns'] % 10**9:09}".rstrip("0") for row in spikes[:10]]
    results.check(f"{label}: text has the moments", all(f" {moment}" in text for moment in moments), text, moments)
    return len(spikes)


def check_demo(results, folder):
    """Five times 10 MiB of committed memory came for a tenth of a second; nothing else did."""
    trace = os.path.join(folder, "demo.etl")
    subprocess.run([MAKE_TRACE, "demo", "-o", trace], check=True, stdout=subprocess.DEVNULL)
    document = run_json("report", trace, "--spikes", "--no-cull")
    results.equal("the spikes of the demo", [(row["kind"], row["height_size"], (row["to_ns"] - row["from_ns"]) // 10**8) for row in document["rows"]],
                  [("virtualalloc", 10 << 20, 1)] * len(document["rows"]))
    results.check("... are at least three", len(document["rows"]) >= 3)
    for row in document["rows"]:
        at = run_json("report", trace, "--at", f"{row['at_ns']}ns", "--kind", row["kind"], "--process", str(row["pid"]), "--group-by", "kind")
        results.equal(f"--at {row['at_ns']}ns shows the spike", [found["outstanding_size"] for found in at["rows"]], [row["peak_size"]])
    check_formats(results, trace)
    results.check("the demo has windows around spikes", check_windows(results, trace) >= 3)
    results.equal("nothing came and went", run_json("windows", trace, "--find-spikes", "--from", "19s")["windows"], [])
    said = run("windows", trace, "--find-spikes", "--from", "19s").decode()
    results.check("... which text says", "No memory came and went within" in said, said)


def check_same(results, trace, folder):
    """However the events are read, the answer has the same bytes."""
    document = run("report", trace, "--spikes", "--format", "json")
    for options in (["-j", "1"], ["-j", "7"], ["--memory", "64M"], ["--no-mmap"]):
        results.check(f"{' '.join(options)} changes nothing", run("report", trace, "--spikes", "--format", "json", *options) == document)
    store = os.path.join(folder, "workload.ehs")
    run("store", trace, "-o", store)
    stored = json.loads(run("report", store, "--spikes", "--format", "json"))
    results.equal("a store says what its trace says", rows_of(stored), rows_of(json.loads(document)))
    results.equal("... of windows around spikes, too", run_json("windows", store, "--find-spikes")["windows"],
                  run_json("windows", trace, "--find-spikes")["windows"])


def main():
    results = Results()
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(40 if LONG else 4):
            random_source = random.Random(seed)
            trace, truth = os.path.join(folder, "w.etl"), os.path.join(folder, "w.json")
            write, _ = WAYS[seed % len(WAYS)]
            subprocess.run([MAKE_TRACE, "workload", "-o", trace, "--truth", truth, "--seed", str(seed), "--events", "1500", *write],
                           check=True, stdout=subprocess.DEVNULL)
            for _ in range(2):
                found += compare(results, f"program {seed}", trace, Truth(truth), random_source)
            if seed == 0:
                check_same(results, trace, folder)
                check_formats(results, trace)
            check_windows(results, trace, *[[], ["--group-by", "kind,process,heap"], ["--group-by", "kind", "--kind", "heap"],
                                            ["--process", str(Truth(truth).lifetimes[0].pid), "--top", "5"]][seed % 4])
        results.check(f"{found} spikes were compared", found > 30)
        check_demo(results, folder)
    results.finish()


if __name__ == "__main__":
    main()
