#!/usr/bin/env python3
"""Checks `report --suspects`: what its rows say, and that they are the leaks.

    oracle_suspects.py               makes its own traces with $MAKE_TRACE and bench/make_stream
    oracle_suspects.py --seed S      other random programs

  * Every figure of a row but its score is worked out here in the plainest way, from the truth of
    random workloads and of programs that leak (bench/leak_worlds.py): blocks, times, threads,
    the usual lifetime, growth and steadiness, for random windows, filters and groupings. How many
    groups have blocks that are never freed is compared too.
  * Of some programs of bench/leak_worlds.py the ranking must find the leaks, and must be better
    than sorting by size or growth. `bench/bench_suspects.py` does this with all of them.
  * Programs without leaks have no suspects, and all formats say so.
  * Text, CSV and Markdown say what JSON says; a store says what its trace says; and what cannot be
    asked is refused.
"""

import argparse
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

import oracle_details
from oracle_details import MAKE_TRACE, group, members_of, random_window, read_rows
from oracle_support import ETLHEAP, LONG, Results, life_of, lives_of, owner_of, recorded_part, run, run_json

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

import bench_suspects  # noqa: E402
from leak_worlds import BASE, World  # noqa: E402

MAKE_STREAM = os.path.realpath(os.path.join(os.environ.get("OUT", "build/check"), "bench", "make_stream"))
# A log of blocks, as UMDH writes it.
UMDH = """// UMDH: version 10.0.1: Logtime 2024-02-29 12:26 - Machine=BOX - PID=77
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
10 bytes + 8 at 20000 by BackTrace1
\t00401000

*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
"""
PARTS, THREADS_MAX = 32, 8
FIGURES = ("alloc_count never_freed_count never_freed_size outstanding_size outstanding_share_millionths outstanding_count growth_rate steadiness"
           " first_ns last_ns oldest_ns typical_lifetime_ns threads has_more_threads").split()
WORLDS = {"tuning": (2,)}


# --- the model ----------------------------------------------------------------------------


def usual(lifetimes):
    """The middle of the step that the median is in: lifetimes below 64 ns, then half octaves up to 2.4 h."""
    if not lifetimes:
        return None
    median = sorted(lifetimes)[(len(lifetimes) + 1) // 2 - 1]
    if median < 64:
        return 32
    half = 1 << median.bit_length() - 2
    low = median // half * half
    return 3 << 42 if low >= 3 << 42 else low + half // 2


def middle(values):
    """Of two values in the middle the one nearer to zero; zero between them."""
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return 0 if low <= 0 <= high else min(low, high, key=abs)


def growth(moments, sizes):
    def slope(i, k):
        rise, time = (sizes[k] - sizes[i]) * 10**9, moments[k] - moments[i]
        return abs(rise) // abs(time) * (1 if (rise < 0) == (time < 0) else -1)

    others = [[k for k in range(PARTS + 1) if moments[k] != moments[i]] for i in range(PARTS + 1)]
    rate = middle([middle([slope(i, k) for k in others[i]]) for i in range(PARTS + 1) if others[i]])
    pairs = [(i, k) for i in range(PARTS + 1) for k in others[i] if i < k]
    rises = sum((sizes[k] > sizes[i]) - (sizes[k] < sizes[i]) for i, k in pairs)
    return rate, abs(rises) * 100 // len(pairs) * (1 if rises > 0 else -1)


def figures(members, time):
    """What a row has to say of blocks (lifetime, end, type) in the recorded part of the window in which its process ran."""
    begin, end = time
    born = [(lifetime, gone) for lifetime, gone, kind in members if kind[:2] == "AI"]
    kept = [lifetime for lifetime, gone in born if gone is None]
    there = [lifetime for lifetime, _, kind in members if kind[2:] == "FO"]
    moments = [begin + (end - begin) // PARTS * i + (end - begin) % PARTS * i // PARTS for i in range(PARTS + 1)]
    sizes = [sum(lifetime.size for lifetime, gone, _ in members
                 if lifetime.start < moment and (gone is None or gone >= moment)) for moment in moments]
    threads = sorted({lifetime.thread for lifetime in kept})
    first = min((lifetime.start for lifetime in kept), default=None)
    rate, steadiness = growth(moments, sizes) if kept else (None, None)
    return {
        "alloc_count": len(born), "never_freed_count": len(kept), "never_freed_size": sum(lifetime.size for lifetime in kept),
        "outstanding_size": sum(lifetime.size for lifetime in there), "outstanding_count": len(there),
        "stopped": bool(kept) and max(lifetime.start for lifetime in kept) < moments[PARTS // 2],
        "growth_rate": rate, "steadiness": steadiness, "first_ns": first,
        "last_ns": max((lifetime.start for lifetime in kept), default=None),
        "oldest_ns": first is not None and end - first,
        "typical_lifetime_ns": usual([gone - lifetime.start for lifetime, gone in born if gone is not None]),
        "threads": threads[:THREADS_MAX], "has_more_threads": len(threads) > THREADS_MAX,
    }


# --- figures --------------------------------------------------------------------------------


class WorldTrace(oracle_details.Trace):
    """A program of leak_worlds.py: its trace, its store and its lifetimes, with times as bench/make_stream.c gives them."""

    def __init__(self, folder, seed, half):  # pylint: disable=super-init-not-called
        self.world, self.turn = World(seed, half), 0
        self.name = f"world-{half}-{seed}"
        self.path, self.store = (os.path.join(folder, f"{self.name}.{ending}") for ending in ("etl", "ehs"))
        bench_suspects.make_trace(MAKE_STREAM, self.world.recording(), self.path)
        run("store", self.path, "-o", self.store)
        self.truth = type("Truth", (), {})()
        self.truth.lifetimes, self.truth.tick_ns = lifetimes_of(self.world), 100
        self.truth.to_ns = run_json("info", self.path)["trace"]["duration_ns"] + 100


class Block:
    """A lifetime with the members that the truth of workloads has."""

    kind, process, pid, heap, thread, at_exit, end = "heap", "world.exe", 4242, "0x1c0000", 4244, False, None

    def __init__(self, start, size, stack):
        self.start, self.size, self.stack = start, size, stack
        self.frame = self.site = stack[0]
        self.module = "world.exe"

    def end_by(self, at_exit):
        return self.end


def lifetimes_of(world):
    """Events between two stamps of time are spread evenly, the first of them as the module is loaded."""
    stacks = {leaf_of(world, site): tuple(world.stack_text(site).split("\n")) for site in range(len(world.sites))}
    frames, ticks, waiting, live, blocks = [None], 10_000, [None], {}, []
    paths = {0: ()}
    for line in world.recording().splitlines():
        kind, *words = line.split()
        if kind == "t":
            frames.append(int(words[0], 16) - BASE)
            paths[len(frames) - 1] = (frames[-1],) + paths[int(words[1], 16)]
        elif kind in "+-":
            waiting.append((kind, words))
        elif kind == "c":
            end = 10_000 + int(words[0], 16) * 10_000
            step = max(8, max(0, end - ticks) // (len(waiting) + 1))
            for event in waiting:
                if event is not None and event[0] == "+":
                    size, leaf, address = event[1]
                    block = Block(ticks * 100, int(size, 16), stacks[paths[int(leaf, 16)]])
                    live[address] = block
                    blocks.append(block)
                elif event is not None:
                    live.pop(event[1][0]).end = ticks * 100
                ticks += step
            ticks, waiting = max(ticks, end), []
    return blocks


def leaf_of(world, site):
    return tuple(world.frames(site))


def filter_of(trace, source):
    one = source.choice(trace.truth.lifetimes)
    low, high = sorted([one.size, source.choice(trace.truth.lifetimes).size])
    return source.choice([
        ([], lambda lifetime, _: True),
        (["--kind", one.kind], lambda lifetime, _: lifetime.kind == one.kind),
        (["--size", f"{low}..{high}"], lambda lifetime, _: low <= lifetime.size <= high),
        (["--process", str(one.pid)], lambda lifetime, _: lifetime.pid == one.pid),
        (["--thread", str(one.thread)], lambda lifetime, _: lifetime.thread == one.thread)])


def add_shares(rows, group_by):
    """What a row holds of all that is outstanding of its kind."""
    def kind_of(key):
        return key[group_by.index("kind")] if len(group_by) > 1 else key

    for key, row in rows.items():
        whole = sum(other["outstanding_size"] for at, other in rows.items() if kind_of(at) == kind_of(key))
        row["outstanding_share_millionths"] = (row["outstanding_size"] * 2 * 10**6 + whole) // (2 * whole) if whole else None


def check_caps(results, label, report, group_by, wanted):
    """A score above 75 is one of a row that grows and lost blocks in the second half of its time. The reason says
    which of both is missing."""
    wrong = []
    for key, said in read_rows(report, group_by, ("score", "reason")).items():
        stopped, flat = wanted[key]["stopped"], wanted[key]["growth_rate"] <= 0
        says = ("the last one at" in said["reason"] or "the last of them" in said["reason"], "does not grow" in said["reason"])
        if (stopped or flat) and said["score"] > 75 or says != (stopped, flat and not stopped):
            wrong.append((key, said, stopped, flat))
    results.check(f"{label}: scores are limited, and reasons say why", not wrong, *wrong[:3])


def compare_figures(results, trace, source, groupings):
    """Returns how many rows were compared."""
    lives, compared = lives_of(trace.path), 0
    for group_by in groupings:
        options, window = random_window(trace, source) if source.random() < 0.6 else ([], [0, trace.truth.to_ns])
        at_exit = source.choice(["leaked", "freed"])
        chosen, selects = filter_of(trace, source)
        label, report = trace.ask(results, "--suspects", "--group-by", ",".join(group_by),
                                  f"--at-exit={at_exit}", *options, *chosen)
        wanted = {}
        for key, members in group(members_of(trace, *window, at_exit, selects), group_by).items():
            kind, owner = owner_of(key, group_by)
            kind = chosen[1] if kind is None and "--kind" in chosen else kind
            wanted[key] = figures(members, recorded_part(report, window, kind, life_of(lives, owner, chosen)))
        add_shares(wanted, group_by)
        check_caps(results, label, report, group_by, wanted)
        wanted = {key: {name: row[name] for name in FIGURES} for key, row in wanted.items()}
        got = read_rows(report, group_by, FIGURES)
        results.equal_maps(f"{label}: {len(got)} rows", got, {key: wanted.get(key) for key in got})
        results.equal(f"{label}: groups with blocks that are never freed", report["never_freed_groups"],
                      sum(row["never_freed_count"] > 0 for row in wanted.values()))
        order = [(-row["score"], -row["outstanding_size"]) for row in report["rows"]]
        results.check(f"{label}: in order", order == sorted(order) and all(50 <= -score <= 100 for score, _ in order))
        compared += len(got)
    return compared


def check_figures(results, folder, seed):
    compared = 0
    for number, ways in enumerate(oracle_details.WAYS.values()):
        source = random.Random(f"{seed} {number}")
        trace = oracle_details.Trace(folder, f"workload-{number}", "workload", "--seed", str(seed * 50 + number),
                                     "--events", "3000", *ways)
        groupings = [["kind", "process"], ["kind", "process", "heap"], ["kind"], ["kind", "process"],
                     ["kind", "process", "stack"], ["kind", "site"]]
        compared += compare_figures(results, trace, source, groupings * (4 if LONG else 1))
    results.check(f"random workloads have suspects to compare: {compared}", compared >= 5)
    trace = WorldTrace(folder, seed, "tuning")
    compared = compare_figures(results, trace, random.Random(seed), [["kind", "process", "stack"], ["kind", "site"]] * 3)
    results.check(f"programs that leak have suspects to compare: {compared}", compared >= 20)


def check_stopped(results, folder):
    """Of 5.5 s, one stack leaks to the end. Another allocates in the first second, and what it frees lives so long that
    only its first blocks can be old: nobody knows whether it still leaks."""
    events = []
    for number, at in enumerate(range(10, 5500, 10)):
        address = number * 0x10000 + 0x10000000
        if at < 1000:
            events.append((at, f"+ 64 2 {address:x}"))
            if number % 5:
                events.append((at + 1900, f"- {address:x}"))
        if number % 4 == 0:
            events.append((at, f"+ 40 1 {address + 0x8000:x}"))
    lines = ["v 10400 3", "x 9 world.exe", "m 1 -", f"m 1 x {BASE:x} 0 1000000", f"t {BASE + 0x1000:x} 0", f"t {BASE + 0x2000:x} 0"]
    for at in range(0, 5500, 10):
        lines += [f"c {at:x}", *(words for when, words in events if when == at)]
    path = os.path.join(folder, "stopped.etl")
    bench_suspects.make_trace(MAKE_STREAM, "\n".join([*lines, "c 157c"]) + "\n", path)
    rows = run_json("report", path, "--suspects", "--no-symbols")["rows"]
    results.equal("a stack that stopped early may not be certain", [(row["alloc_count"], row["score"]) for row in rows], [(138, 100), (99, 75)])
    results.equal("with the moment in its reason", [row["reason"] for row in rows[1:]],
                  ["20 of 99 blocks were never freed, the last of them allocated at 0.961 s; the others usually lived about 1.9 s."])
    outstanding = 138 * 64 + 20 * 100
    results.equal("and what each holds", [row["outstanding_share_millionths"] for row in rows],
                  [(size * 10**6 * 2 + outstanding) // (2 * outstanding) for size in (138 * 64, 2000)])
    text = text_of(path)
    results.check("which text has in percent", all(f" {100 * size / outstanding:.1f} % " in text for size in (138 * 64, 2000)), text)


# --- the ranking ------------------------------------------------------------------------------


def check_ranking(results, folder):
    for half, seeds in WORLDS.items():
        cases = [bench_suspects.world_case(MAKE_STREAM, folder, seed, half) for seed in seeds]
        lists = bench_suspects.measure(ETLHEAP, cases)
        for case in cases:
            by_method = {method: by_case[case.name] for method, by_case in lists.items()}
            first = {method: bench_suspects.precision(case, stacks)[0] for method, stacks in by_method.items()}
            results.check(f"{half}, {case.name}: nine of the first ten suspects leak, more than sorting finds: {first}",
                          first["suspects"] >= 9 > max(first["outstanding"], first["growth"]))
            found, leaks = bench_suspects.recall(case, by_method["suspects"])
            results.check(f"{half}, {case.name}: {found} of {leaks} leaks are found", found * 10 >= leaks * 8)
        calm = bench_suspects.world_case(MAKE_STREAM, folder, 501, half, leak_count=0)
        report = run_json("report", calm.trace, "--suspects")
        results.equal(f"{half}: a program without leaks has no suspects", report["rows"], [])
    return calm


# --- formats ------------------------------------------------------------------------------------


def text_of(path, *options):
    return run("report", path, "--suspects", "--no-symbols", *options).decode()


def check_formats(results, leaky, calm):
    report = run_json("report", leaky, "--suspects", "--no-symbols")
    rows = report["rows"]
    results.equal("JSON: the schema", report["schema"], "etlheap-suspects-1")
    results.equal("JSON: the keys of a row", list(rows[0]),
                  ["kind", "process", "pid", "site", "stack", "score", *FIGURES[:4], *FIGURES[4:], "reason"])
    results.equal("JSON: --top", run_json("report", leaky, "--suspects", "--no-symbols", "--top", "3")["rows"], rows[:3])
    lines = list(csv.DictReader(io.StringIO(text_of(leaky, "--format", "csv"))))
    results.equal("CSV: figures and reasons", [[line[key] for key in ("score", "last_ns", "typical_lifetime_ns", "reason")] for line in lines],
                  [[str(row["score"]), str(row["last_ns"]),
                    "" if row["typical_lifetime_ns"] is None else str(row["typical_lifetime_ns"]), row["reason"]] for row in rows])
    for name in ("text", "markdown"):
        text = text_of(leaky, "--format", name, "--top", "all")
        places = [text.find(row["reason"]) for row in rows]
        results.check(f"{name}: the same suspects in the same order", -1 not in places and places == sorted(places), places)
        results.check(f"{name}: how many there are", f"Suspects: {len(rows)} of {report['never_freed_groups']} call stacks" in text)
        short = text_of(leaky, "--format", name, "--top", "2")
        results.check(f"{name}: --top says what it leaves out", f"{len(rows) - 2} more suspects" in short)
        results.check(f"{name}: without a leak it says so", "none looks like a leak." in text_of(calm, "--format", name))
    results.equal("CSV: without a leak there is no line", len(text_of(calm, "--format", "csv").splitlines()), 1)


def refusal(*arguments):
    done = subprocess.run([ETLHEAP, "report", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.strip()


def check_refusals(results, folder, path):
    summary = os.path.join(folder, "summary.ehs")
    run("store", "--summary", path, "-o", summary)
    status, said = refusal(summary, "--suspects")
    results.check("a summary is refused, and it is said what is needed",
                  status != 0 and "no single allocations" in said and "traces or stores" in said, status, said)
    log = os.path.join(folder, "umdh.txt")
    with open(log, "w", encoding="utf-8") as file:
        file.write(UMDH)
    status, said = refusal(log, "--suspects")
    results.check("a log of UMDH has no times", status != 0 and "when they were allocated" in said, status, said)
    for options, word in ((["--type", "AIFO"], "--type"), (["--at", "1s"], "--at"), (["--tree"], "--tree"),
                          (["--histogram", "size"], "--histogram"), (["--growth"], "--growth"),
                          (["--sort", "size"], "--sort"), (["--impacting", "transient"], "--impacting"),
                          (["--group-by", "thread"], "thread"), (["--group-by", "kind,free_type"], "free_type"),
                          (["--format", "junit"], "junit")):
        status, said = refusal(path, "--suspects", *options)
        results.check(f"{' '.join(options)} is refused by its name", status == 2 and word in said, status, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        check_figures(results, folder, options.seed)
        check_stopped(results, folder)
        calm = check_ranking(results, folder)
        leaky = os.path.join(folder, "world-tuning-2.etl")
        check_formats(results, leaky, calm.trace)
        check_refusals(results, folder, leaky)
    results.finish()


if __name__ == "__main__":
    main()
