#!/usr/bin/env python3
"""Checks `windows` against known programs, the truth of built traces and algebra.

    oracle_windows.py

Made traces are always there; the traces of $TRACES/../traces-built when TRACES is.

  * The exercises: what their known walk-throughs say, from the constants of
    tests/build/scenario.h, is what the windows and the lasting rise say.
  * Truth: every cell of windows of one length, of cuts and of overlapping windows is
    what the plain model of oracle_truth.py works out for that window alone.
  * Algebra, on JSON: what windows in a row allocate adds up to all that is allocated;
    what is outstanding at the end of a window less that at its begin is what impacts;
    a cell is what `report --from --to` says.
  * The same bytes: with any -j, from a trace and from its store (but for the names of
    files), and whether windows were known before the trace was read or after.
  * A terminal gets block elements if its locale is UTF-8, and lines that fit.
  * Commit and available memory are those of the records that `dump` lists.
"""

import csv
import contextlib
import glob
import io
import os
import pty
import random
import re
import subprocess
import tempfile
from fractions import Fraction

from oracle_support import ETLHEAP, TRACES, Results, dump, run, run_json, why_no_terminal
from oracle_truth import Truth, frame_text, model

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
MIB = 1 << 20
SECOND = 10**9
TYPES = ("AIFI", "AIFO", "AOFI", "AOFO")
LEVELS = "outstanding_count outstanding_size peak_count peak_size impacting_size".split()


def make_trace(folder, scenario, *options):
    """The paths of a made trace and of its truth."""
    trace = os.path.join(folder, "-".join([scenario, *options]).replace("--", "") + ".etl")
    subprocess.run(
        [MAKE_TRACE, scenario, trace, "--truth", trace + ".truth.json", *options],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return trace, trace + ".truth.json"


def windows_of(*arguments):
    return run_json("windows", *arguments)


def key_of(row, group_by):
    return tuple(row[word] for word in group_by + ["pid"] if word in row)


def cells_of(window, group_by):
    return {key_of(row, group_by): row for row in window["rows"]}


def sum_of(row, what):
    return sum(row[f"{kind.lower()}_{what}"] for kind in TYPES)


def frames_of(document, row):
    if row["stack"] is None:
        return []
    return [frame_text(document["frames"][i]) for i in document["stacks"][row["stack"]]]


# --- the exercises ---------------------------------------------------------------


def check_virtualalloc(results, folder):
    trace, _ = make_trace(folder, "virtualalloc-exercise")
    whole = windows_of(trace, "--window", "0s..")["windows"][0]["rows"]
    results.equal(
        "the VirtualAlloc exercise: Size 126 MB, Impacting 0",
        [(row["process"], sum_of(row, "count"), sum_of(row, "size"), row["impacting_size"]) for row in whole],
        [("MemoryTestApp.exe", 108, 126 * MIB, 0)],
    )
    step = windows_of(trace, "--window", "4.9s..5.4s", "--group-by", "stack", "--sort", "impacting_size")
    row = step["windows"][0]["rows"][0]
    results.equal(
        "the VirtualAlloc exercise: the step's window has Impacting 10 MB, from Main",
        (row["impacting_size"], frames_of(step, row)[0]),
        (10 * MIB, "memorytestapp.exe+0x1462"),
    )
    spikes = windows_of(trace, "--window", "650ms..3.25s", "--group-by", "stack")
    results.equal(
        "the VirtualAlloc exercise: four spikes are Count 4, Size 40 MB, Impacting 0",
        [
            (sum_of(row, "count"), sum_of(row, "size"), row["impacting_size"])
            for row in spikes["windows"][0]["rows"]
            if "memorytestapp.exe+0x118b" in frames_of(spikes, row)
        ],
        [(4, 40 * MIB, 0)],
    )
    for options in ([], ["--every", "125ms"], ["--every", "100ms"]):
        growth = windows_of(trace, "--find-growth", *options)["growth"]
        name = f"the VirtualAlloc exercise: --find-growth {' '.join(options)}"
        results.equal(f"{name} finds the level go from 10 to 20 MB",
                      (growth["before_size"] // MIB, growth["after_size"] // MIB), (10, 20))
        results.check(f"{name} finds the step at 5 s",
                      growth["from_ns"] <= 5 * SECOND <= growth["to_ns"], growth["from_ns"], growth["to_ns"])
        results.equal(f"{name} names the step's stack",
                      [(row["impacting_size"], frames_of(growth, row)[0]) for row in growth["rows"][:1]],
                      [(10 * MIB, "memorytestapp.exe+0x1462")])


def check_heap(results, folder):
    trace, _ = make_trace(folder, "heap-exercise")
    sizes = [80 + i % 8 * 8 for i in range(1200)]
    document = windows_of(trace, "--window", "0s..", "--window", "0s..10s", "--group-by", "stack")
    for window, blocks in zip(document["windows"], (1200, 1000)):
        results.equal(
            f"the heap exercise: {blocks} blocks of InnerLoopOperation are AIFO",
            [
                (row["aifo_count"], row["aifo_size"], row["outstanding_size"])
                for row in window["rows"]
                if "heaptestapp.exe+0x1f3c" in frames_of(document, row)
            ],
            [(blocks, sum(sizes[:blocks]), sum(sizes[:blocks]))],
        )


def check_battery(results, folder):
    trace, _ = make_trace(folder, "battery-meter")
    growth = windows_of(trace, "--find-growth")["growth"]
    for other in growth["others"]:  # a rise is what it is if its group is asked for alone
        alone = windows_of(trace, "--find-growth", "--kind", other["kind"], "--process", other["pid"])["growth"]
        results.equal(f"the rise of {other['kind']} of {other['pid']}", {key: alone[key] for key in other}, other)
    sites = {frame for row in growth["rows"][:2] for frame in frames_of(growth, row)}
    results.check(
        "the battery meter: the lasting rise is explained by the two leaking stacks",
        {"batterymeter.exe+0x2a1f", "batterymeter.exe+0x2a58"} <= sites,
        sorted(sites),
    )
    whole = windows_of(trace, "--every", "1s", "--group-by", "stack")
    last = [row for row in whole["windows"][-1]["rows"] if row["kind"] == "heap"]
    results.equal(
        "the battery meter: its leak is outstanding at the end",
        sum(row["outstanding_size"] for row in last if sites & set(frames_of(whole, row)[1:2])),
        480 * 4096,
    )


# --- truth -----------------------------------------------------------------------


def wanted_cell(types, level):
    """A row of `windows` from the model's rows by type and of all types."""
    cell = {}
    for kind in TYPES:
        row = types.get(kind, {"count": 0, "size": 0})
        cell[f"{kind.lower()}_count"] = row["count"]
        cell[f"{kind.lower()}_size"] = row["size"]
    return {**cell, **{name: level[name] for name in LEVELS}}


def is_default(lifetime, kind):
    """What commands show without --kind."""
    return lifetime.kind != "reserve"


def model_cells(truth, window, at_exit):
    span = (window["from_ns"], window["to_ns"], at_exit)
    by_type = model(truth, *span, ["kind", "process", "type"], is_default)
    types = {}
    for (kind, process, pid, name, _), row in by_type.items():
        types.setdefault((kind, process, pid), {})[name] = row
    levels = model(truth, *span, ["kind", "process"], is_default)
    return {key: wanted_cell(types[key], levels[key]) for key in levels}


def check_truth(results, trace, truth, at_exit, options):
    document = windows_of(trace, "--no-symbols", f"--at-exit={at_exit}", *options)
    complaints = []
    for window in document["windows"]:
        got = cells_of(window, document["group_by"])
        wanted = model_cells(truth, window, at_exit)
        for key in sorted(set(got) | set(wanted)):
            row = got.get(key)
            cell = row and {name: row[name] for name in row if name not in ("kind", "process", "pid")}
            if cell != wanted.get(key):
                complaints.append(f"{window['from_ns']}..{window['to_ns']} {key}: got {cell}, wanted {wanted.get(key)}")
    results.check(
        f"{os.path.basename(trace)}: --at-exit={at_exit} {' '.join(options)}: the cells of "
        f"{len(document['windows'])} windows are the model's",
        document["windows"] and not complaints,
        *complaints[:4],
    )


def overlapping(truth, random_source):
    """Windows anywhere, of any length, at events too."""
    events = sorted(lifetime.start for lifetime in truth.lifetimes)
    options = []
    for _ in range(8):
        ends = sorted(random_source.choice([random_source.randrange(truth.to_ns), random_source.choice(events)])
                      for _ in range(2))
        options += ["--window", f"{ends[0]}ns..{ends[1]}ns"]
    return [*options, "--window", f"{truth.to_ns // 2}ns"]


# --- algebra ----------------------------------------------------------------------


def check_algebra(results, trace, every, group_by):
    name = f"{os.path.basename(trace)} by {group_by}"
    document = windows_of(trace, "--every", every, "--group-by", group_by)
    keys = document["group_by"]
    report = run_json("report", trace, "--at-exit=freed", "--group-by", ",".join(keys))
    totals, before, wrong = {}, {}, []
    for window in document["windows"]:
        cells = cells_of(window, keys)
        for key, row in cells.items():
            count, size = totals.get(key, (0, 0))
            totals[key] = (count + row["aifi_count"] + row["aifo_count"], size + row["aifi_size"] + row["aifo_size"])
        for key in set(cells) | set(before):
            now = cells[key]["outstanding_size"] if key in cells else 0
            impacting = cells[key]["impacting_size"] if key in cells else 0
            if now - before.get(key, 0) != impacting:
                wrong.append(f"{window['from_ns']} {key}: {before.get(key, 0)} to {now} is not {impacting}")
        before = {key: row["outstanding_size"] for key, row in cells.items()}
    results.check(f"{name}: outstanding(T1) - outstanding(T0) is the impacting size", not wrong, *wrong[:4])
    # A stack's index is that of its own document: as sets of numbers they agree all the same.
    wanted = sorted((row["count"], row["size"]) for row in report["rows"])
    got = sorted(totals.values())
    results.check(f"{name}: what windows allocate adds up to all of it", got == wanted,
                  *[f"{a} and {b}" for a, b in zip(got, wanted) if a != b][:4], len(got), len(wanted))


def check_report(results, trace, every, at_exit, random_source):
    """A cell and the report of its window have the same numbers."""
    document = windows_of(trace, "--every", every, f"--at-exit={at_exit}")
    for window in random_source.sample(document["windows"], 2):
        span = ["--from", f"{window['from_ns']}ns", "--to", f"{window['to_ns']}ns", f"--at-exit={at_exit}"]
        levels = run_json("report", trace, *span, "--group-by", "kind,process")["rows"]
        types = {}
        for row in run_json("report", trace, *span, "--group-by", "kind,process,type")["rows"]:
            types.setdefault(key_of(row, ["kind", "process"]), {})[row["type"]] = row
        wanted = {}
        for row in levels:
            key = key_of(row, ["kind", "process"])
            wanted[key] = {"kind": key[0], "process": key[1], "pid": key[2], **wanted_cell(types[key], row)}
        results.equal_maps(
            f"{os.path.basename(trace)}: --every {every} --at-exit={at_exit}: "
            f"{window['from_ns']}..{window['to_ns']} is as in its report",
            cells_of(window, ["kind", "process"]),
            wanted,
        )


# --- the same bytes ------------------------------------------------------------------


def without_files(text):
    return b"\n".join(line for line in text.split(b"\n") if not line.startswith((b'    "files"', b"Trace  ")))


QUESTIONS = [
    [],
    ["--every", "7ms"],
    ["--every", "20ms", "--from", "3ms", "--to", "43ms", "--format", "json"],
    ["--at", "10ms", "--at", "40ms", "--group-by", "stack", "--format", "json"],
    ["--window", "1ms..9ms", "--window", "5ms..25ms", "--group-by", "module", "--format", "csv"],
    ["--every", "50ms", "--group-by", "stack,heap", "--top", "5", "--at-exit=leaked", "--format", "csv"],
    ["--find-growth"],
    ["--find-growth", "--every", "1ms", "--format", "json"],
    ["--format", "json"],
]


def check_bytes(results, trace, folder, questions):
    name = os.path.basename(trace)
    store = os.path.join(folder, "store.ehs")
    run("store", trace, "-o", store)
    for number, options in enumerate(questions):
        label = f"{name}: windows {' '.join(options)}"
        first = run("windows", trace, *options, "-j", 1)
        results.check(f"{label}: there is an answer", len(first) > 200)
        jobs = (2, 7)[number % 2]  # in turn; oracle_jobs.sh compares all three
        results.check(f"{label}: -j{jobs} gives the bytes of -j1", run("windows", trace, *options, "-j", jobs) == first)
        results.check(
            f"{label}: the store answers as the trace",
            without_files(run("windows", store, *options)) == without_files(first),
        )
    free = run_json("windows", trace)
    every_ns = free["every_ns"]
    known = run_json("windows", trace, "--every", f"{every_ns}ns")
    rest = known["windows"][-1]
    joins = rest["to_ns"] - rest["from_ns"] <= every_ns // 100
    until = len(known["windows"]) - 2 if joins else None
    results.check(f"{name}: windows that nobody asked for are as those asked for", free["windows"][:until] == known["windows"][:until])
    results.equal(f"{name}: but a rest of at most a hundredth of a window joins the last one",
                  free["windows"][-1]["to_ns"] - free["windows"][-1]["from_ns"],
                  rest["to_ns"] - known["windows"][-2 if joins else -1]["from_ns"])


# --- commit ------------------------------------------------------------------------


def check_memory(results, folder):
    """A window has what the last MemInfo record before its end says, in pages of 4 KiB."""
    trace = os.path.join(folder, "kitchen-sink.etl")
    subprocess.run([MAKE_TRACE, "kitchen-sink", trace], check=True, stdout=subprocess.DEVNULL)
    records = [event for event in dump(trace) if event.get("name") == "PageFault/MemInfo"]
    wanted, got = [], []
    for window in windows_of(trace, "--every", "2us", "--group-by", "process")["windows"]:
        before = [event for event in records if event["time_ns"] < window["to_ns"]]
        pages = before[-1]["fields"] if before else None
        wanted.append(pages and {
            "time_ns": before[-1]["time_ns"],
            "commit_size": pages["commit_pages"] * 4096 or None,
            "available_size": (pages["zero_pages"] + pages["free_pages"] + pages["standby_pages"]) * 4096,
        })
        got.append(window["memory"])
    results.equal("kitchen-sink: windows have the MemInfo record before their end",
                  [a for a, b in zip(got, wanted) if a != b], [])
    results.check("kitchen-sink: both MemInfo records are in windows", len({str(a) for a in got}) == 3, len(got))


# --- names --------------------------------------------------------------------------


def check_names(results):
    """Functions of real programs are those that a report names, with the same memory."""
    folder = os.path.join(TRACES, "..", "symbols")
    program = os.path.join(folder, "redis-cli.exe")
    if not os.path.exists(program):
        print(f"skipped: {os.path.normpath(program)} is not here; set TRACES to the folder beside it")
        return
    from oracle_symbols import Program, make_trace as make_symbol_trace, memory

    redis = Program(program, None)
    random_source = random.Random(3)
    calls = [redis.at(0x1000 + random_source.randrange(0x20000)) for _ in range(12)]
    blocks = [
        memory(random_source.choice(["alloc", "freed"]), 100 + size, random_source.choices(calls, k=4)) for size in range(60)
    ]
    trace = make_symbol_trace("windows", redis.lines(), *blocks)
    options = ["--symbols", folder, "--group-by", "site"]
    report = run_json("report", trace, "--at-exit=freed", *options)
    document = windows_of(trace, "--window", "0s..", *options)

    def memory_of(rows, frames):
        return {(frames[row["site"]]["symbol"], row["outstanding_size"], row["peak_size"]) for row in rows}

    wanted = memory_of(report["rows"], report["frames"])
    results.equal("sites have the functions of the report", memory_of(document["windows"][0]["rows"], document["frames"]), wanted)
    results.check("sites have names", None not in {name for name, _, _ in wanted}, wanted)
    growth = windows_of(trace, "--every", "500us", "--find-growth", *options)["growth"]
    sites = {growth["frames"][row["site"]]["symbol"] for row in growth["rows"]}
    results.check("the stacks of a site that grows are of one function", len(sites) == 1 and None not in sites, sites)
    text = run("windows", trace, "--every", "500us", "--find-growth", "--symbols", folder, "--group-by", "stack").decode()
    others = text.split("Other lasting rises")[1].splitlines()[1:] if "Other lasting rises" in text else []
    results.check("other rises of stacks have names", others and not any("redis-cli.exe+0x" in line for line in others), text)


def check_rises(results, folder):
    """Shares are parts of what grew, so they never exceed the whole, though other stacks shrink. The
    steepest rise is the window with the most bytes per second, of all windows of the group."""
    trace, _ = make_trace(folder, "heap-exercise")
    text = run("windows", trace, "--find-growth", "--no-symbols", "--top", "1000").decode()
    shares = [float(share) for share in re.findall(r" ([0-9.]+) %", text)]
    results.check("shares of a rise are at most the whole", shares and sum(shares) < 100 + 0.05 * len(shares) + 0.01, shares)
    results.check("stacks that shrank are mentioned", "others shrank by" in text, text)
    for options in (["--kind", "heap"], ["--every", "70ms"], ["--group-by", "kind"]):
        document = windows_of(trace, "--find-growth", *options)
        growth = document["growth"]
        of = {key: growth[key] for key in ("kind", "pid") if key in growth}
        rises = [(Fraction(row["impacting_size"], window["to_ns"] - window["from_ns"]), -window["from_ns"], window["to_ns"],
                  row["impacting_size"]) for window in document["windows"] for row in window["rows"]
                 if {key: row[key] for key in of} == of]
        rate, from_ns, to_ns, size = max(rises)
        wanted = {"from_ns": -from_ns, "to_ns": to_ns, "size": size, "rate": int(rate * SECOND)}
        results.equal(f"the steepest rise {' '.join(options)}", growth.get("steepest"), wanted)


# --- CSV ------------------------------------------------------------------------------


def check_csv(results, trace):
    """The cells of CSV are those of JSON."""
    options = ["--every", "3s"]
    rows = list(csv.DictReader(io.StringIO(run("windows", trace, *options, "--format", "csv").decode())))
    got = []
    for row in rows:
        cell = {key: text if key in ("kind", "process") else int(text) for key, text in row.items()}
        got.append((cell.pop("from_ns"), cell.pop("to_ns"), cell))
    wanted = [
        (window["from_ns"], window["to_ns"], row)
        for window in windows_of(trace, *options)["windows"]
        for row in window["rows"]
    ]
    results.equal(f"{os.path.basename(trace)}: CSV and JSON have the same cells", got, wanted)


# --- the terminal ---------------------------------------------------------------------


def on_terminal(trace, **environment):
    """What a terminal of 90 columns gets, without the codes of the console that Wine draws."""
    reader, writer = pty.openpty()
    names = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
    done = subprocess.Popen([ETLHEAP, "windows", trace, "--every", "1s"], stdin=subprocess.DEVNULL, stdout=writer,
                            env={**names, "TERM": "xterm", "COLUMNS": "90", "NO_COLOR": "1", **environment})
    os.close(writer)
    pieces = []
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(reader)
    done.wait()
    return re.sub(r"\x1b\[(\?25[hl]|K)|\r+(?=\n)", "", b"".join(pieces).decode("utf-8"))


def check_terminal(results, trace):
    """Curves are of block elements where the terminal has them, as consoles of Windows do."""
    is_windows = os.environ.get("PLATFORM") == "windows"
    reason = why_no_terminal()
    if reason:
        results.skip("curves on a terminal", reason)
        return
    for environment, has_blocks in (
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.utf8"}, True),
        ({}, False),
    ):
        has_blocks = has_blocks or is_windows
        text = on_terminal(trace, **environment)
        results.equal(f"curves on a terminal with {environment}", ("█" in text, "#" in text), (has_blocks, not has_blocks))
        results.check(f"lines fit the terminal with {environment}", max(map(len, text.split("\n"))) <= 90)


def main():
    results = Results()
    random_source = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        check_virtualalloc(results, folder)
        check_heap(results, folder)
        check_battery(results, folder)
        demo, demo_truth = make_trace(folder, "demo")
        pairs = [(demo, demo_truth), make_trace(folder, "workload", "--seed", "5")]
        built = os.path.join(TRACES, "..", "traces-built")
        pairs += [(t[: -len(".truth.json")], t) for t in sorted(glob.glob(built + "/*.truth.json"))]
        for trace, truth_path in pairs:
            truth = Truth(truth_path)
            length = max(1, truth.to_ns // 23)
            check_truth(results, trace, truth, "freed", ["--every", f"{length}ns"])
            check_truth(results, trace, truth, "leaked", overlapping(truth, random_source))
            check_algebra(results, trace, f"{length}ns", "stack")
            check_algebra(results, trace, f"{length}ns", "process")
            check_report(results, trace, f"{length}ns", random_source.choice(["freed", "leaked"]), random_source)
        check_csv(results, demo)
        check_rises(results, folder)
        with contextlib.chdir(folder):  # long paths are cut, and then are not alike
            check_bytes(results, os.path.basename(pairs[1][0]), "", QUESTIONS)
            check_bytes(results, os.path.basename(demo), "", QUESTIONS[::4])
            check_terminal(results, os.path.basename(demo))
        check_memory(results, folder)
        check_names(results)
        if len(pairs) == 2:
            results.skip("traces of another writer", os.path.normpath(built) + " is not here; set TRACES to the folder beside it")
    results.finish()


if __name__ == "__main__":
    main()
