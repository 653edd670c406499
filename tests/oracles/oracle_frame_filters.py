#!/usr/bin/env python3
"""Does every command leave out stacks by frames, and fold modules, as a plain model does?

    oracle_frame_filters.py     two random programs
    LONG=1 ...                  ten longer ones

The truth of a random program lists its lifetimes with their stacks. Here --exclude-frame drops
those with a frame of a module, and --fold-module puts the module in place of its consecutive
frames; a report is what oracle_truth.py works out from the rest. Asked are traces and stores,
windows at odd places, with --require-frame and other filters beside them, and any number of
threads. What was left out is compared with the sums of the lifetimes that the model dropped.

Other commands must agree with these reports: `allocations`, `windows`, `diff`, `trend`, `check`,
`export`, call trees and summaries. Names of functions are those of the demo's PDBs.
"""

import json
import os
import random
import subprocess
import sys
from collections import Counter

from oracle_support import ETLHEAP, LONG, WORK, Results, run, run_json
from oracle_truth import (
    GROUP_BYS, Truth, differences, filter_of, folded, frame_text, has_frame_of, left_out, model, read_rows, some_module, told_left_out,
    type_of, windows_of,
)

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace")))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
PLAIN = ["--no-cull", "--no-symbols"]
WAYS = [[], ["-j", "1"], ["-j", "3"], ["--no-mmap"]]


def window_words(window):
    return [word for name, time_ns in zip(("--from", "--to"), window) if time_ns is not None for word in (name, f"{time_ns}ns")]


# --- reports and the model ------------------------------------------------------------------


def question(truth, source, turn):
    """Options, what they select, and the modules that are excluded and folded."""
    exclude, require, fold = (some_module(truth, source) for _ in range(3))
    options, selects = filter_of(truth, source) if turn % 3 == 1 else ([], lambda lifetime, kind: lifetime.kind != "reserve")
    if "--exclude-frame" in options:
        options, selects = [], lambda lifetime, kind: lifetime.kind != "reserve"
    if turn % 3 == 2:
        options, selects = ["--require-frame", f"{require}!"], lambda lifetime, kind: lifetime.kind != "reserve" and has_frame_of(lifetime, require)
    options += ["--exclude-frame", f"{exclude}!"] if turn % 4 != 3 else []
    options += ["--fold-module", fold.removesuffix(".dll")] if turn % 2 == 0 else []
    return options, selects, exclude if turn % 4 != 3 else None, fold if turn % 2 == 0 else None


def compare(results, label, path, truth, window, turn, source):
    options, selects, exclude, fold = question(truth, source, turn)
    group_by, at_exit = GROUP_BYS[turn % len(GROUP_BYS)], source.choice(("leaked", "freed"))
    arguments = [*PLAIN, f"--at-exit={at_exit}", "--group-by", ",".join(group_by), *options, *window_words(window), *source.choice(WAYS)]
    document = run_json("report", path, *arguments)
    got, complaints = read_rows(document, group_by)
    bounds = (0 if window[0] is None else window[0], truth.to_ns if window[1] is None else window[1])
    kept = folded(truth, fold) if fold else truth
    wanted = model(kept, *bounds, at_exit, group_by,
                   lambda lifetime, kind: selects(lifetime, kind) and not (exclude and has_frame_of(lifetime, exclude)))
    complaints += differences(got, wanted)
    if exclude is None:
        complaints += ["nothing was excluded"] if "excluded" in document else []
    elif told_left_out(document) != left_out(truth, bounds, at_exit, exclude, selects):
        complaints.append(f"left out: got {told_left_out(document)}, wanted {left_out(truth, bounds, at_exit, exclude, selects)}")
    results.check(f"{label}: report {' '.join(arguments)}: {len(wanted)} rows", not complaints, *complaints[:6])


def compare_allocations(results, label, path, truth, source):
    exclude, fold = some_module(truth, source), some_module(truth, source)
    document = run_json("allocations", path, *PLAIN, "--exclude-frame", f"{exclude}!", "--fold-module", fold)
    texts = [frame_text(frame) for frame in document["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in document["stacks"]]
    got = Counter((row["kind"], row["size"], None if row["stack"] is None else stacks[row["stack"]]) for row in document["rows"])
    kept = [lifetime for lifetime in folded(truth, fold).lifetimes
            if not has_frame_of(lifetime, exclude) and type_of(lifetime, lifetime.end_by("leaked"), 0, truth.to_ns)]
    wanted = Counter((lifetime.kind, lifetime.size, lifetime.stack) for lifetime in kept)
    results.check(f"{label}: allocations without {exclude}, {fold} folded: {len(kept)} rows", got == wanted,
                  f"too many {list((got - wanted).items())[:3]}", f"missing {list((wanted - got).items())[:3]}")
    first, last = sorted((source.choice(document["rows"])["address"] for _ in range(2)), key=lambda text: int(text, 16))
    part = run_json("allocations", path, *PLAIN, "--exclude-frame", f"{exclude}!", "--address", f"{first}..{last}")
    whole = run_json("allocations", path, *PLAIN, "--address", f"{first}..{last}")
    gone = Counter()
    for sign, rows in ((1, whole["rows"]), (-1, part["rows"])):
        for row in rows:
            gone["count"] += sign
            gone["size"] += sign * row["size"]
            gone["outstanding_count"] += sign * (row["type"][2:] == "FO")
            gone["outstanding_size"] += sign * row["size"] * (row["type"][2:] == "FO")
    got = Counter()
    for row in part["excluded"]:
        got.update({key: value for key, value in row.items() if key != "kind"})
    results.equal(f"{label}: allocations at addresses tell what was left out there", +got, +gone)
    gone = left_out(truth, (0, truth.to_ns), "leaked", exclude, lambda lifetime, kind: lifetime.kind != "reserve")
    results.equal(f"{label}: allocations tell what was left out", told_left_out(document), gone)


def compare_windows(results, label, path, truth, source):
    exclude = some_module(truth, source)
    every = max(1, truth.to_ns // 5)
    document = run_json("windows", path, "--every", f"{every}ns", *PLAIN, "--exclude-frame", f"{exclude}!")
    wrong = []
    for window in document["windows"]:
        bounds = window["from_ns"], window["to_ns"]
        got = {(row["kind"], row["process"], row["pid"]): row["outstanding_size"] for row in window["rows"]}
        rows = model(truth, *bounds, "freed", ["kind", "process"],
                     lambda lifetime, kind: lifetime.kind != "reserve" and not has_frame_of(lifetime, exclude))
        wanted = {key: row["outstanding_size"] for key, row in rows.items()}
        wrong += [f"{bounds}: got {got}, wanted {wanted}"] if got != wanted else []
    gone = left_out(truth, (0, truth.to_ns), "freed", exclude, lambda lifetime, kind: lifetime.kind != "reserve")
    wrong += [f"left out: got {told_left_out(document)}, wanted {gone}"] if told_left_out(document) != gone else []
    results.check(f"{label}: windows without {exclude}", not wrong, *wrong[:3])


def compare_program(results, seed):
    trace, store, file = (os.path.join(WORK, f"w{seed}{end}") for end in (".etl", ".ehs", ".json"))
    events = "6000" if LONG else "1500"
    subprocess.run([MAKE_TRACE, "workload", trace, "--truth", file, "--seed", str(seed), "--events", events], check=True)
    run("store", trace, "-o", store)
    truth, source = Truth(file), random.Random(seed)
    windows = windows_of(truth, 12, source)
    for turn in range(24 if LONG else 12):
        window = windows[0] if turn % 3 == 0 else source.choice(windows)
        compare(results, f"seed {seed}", store if turn % 2 else trace, truth, window, turn, source)
    for path in (trace, store):
        compare_allocations(results, f"seed {seed}", path, truth, source)
        compare_windows(results, f"seed {seed}", path, truth, source)


# --- other commands, on the demo --------------------------------------------------------------


def sizes(document, *keys):
    """Outstanding bytes by texts of keys; of stacks the texts of their frames, innermost first."""
    texts = [f"{frame['module']}" + (f"!{frame['symbol']}" if frame["symbol"] else "" if frame["offset"] is None else "+")
             for frame in document["frames"]]
    found = Counter()
    for row in document["rows"]:
        parts = []
        for key in keys:
            value = row[key]
            if key == "stack":
                value = " < ".join(texts[i] for i in document["stacks"][value])
            elif key == "site":
                value = texts[value] if isinstance(value, int) else value
            parts.append(value)
        found[tuple(parts)] += row["outstanding_size"]
    return found


def folded_text(stack, module):
    """A stack of the report with names, folded here."""
    frames = []
    for frame in stack.split(" < "):
        frame = module if frame.split("!")[0] == module else frame
        if not (frame == module and frames and frames[-1] == module):
            frames.append(frame)
    return " < ".join(frames)


def compare_demo(results, folder):
    demo, longer, summary = (os.path.join(folder, name) for name in ("demo.etl", "longer.etl", "a.ehs"))
    symbols = os.path.join(folder, "symbols")
    subprocess.run([MAKE_TRACE, "demo", demo], check=True)
    subprocess.run([MAKE_TRACE, "battery-meter", longer], check=True)
    os.mkdir(symbols)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True, stdout=subprocess.DEVNULL)
    named = ["--symbols", symbols, "--no-cull"]
    whole = sizes(run_json("report", demo, *named), "kind", "stack")

    def kept(*functions):
        return Counter({key: size for key, size in whole.items() if not any(name in key[1] for name in functions)})

    report = run_json("report", demo, *named, "--exclude-frame", "Json::*", "--exclude-frame", "History::append")
    results.equal("functions are excluded by name", sizes(report, "kind", "stack"), kept("!Json::", "!History::append"))
    module = "BatteryMeter.exe"
    wanted = Counter()
    for (kind, stack), size in whole.items():
        wanted[kind, folded_text(stack, module)] += size
    report = run_json("report", demo, *named, "--fold-module", "batterymeter", "--group-by", "kind,stack")
    results.equal("named frames are folded, and equal stacks are one row", sizes(report, "kind", "stack"), wanted)
    results.check("a folded frame is its module alone",
                  {"module": module, "offset": None, "address": None, "symbol": None, "file": None, "line": None} in report["frames"])
    tree = run_json("report", demo, *named, "--fold-module", "*", "--tree", "--tree-min", "0")
    results.equal("nodes of a tree are modules", {frame["symbol"] for frame in tree["frames"]}, {None})
    site = run_json("report", demo, *named, "--fold-module", module, "--group-by", "kind,site", "--kind", "heap")
    results.equal("the site is the module", len(site["rows"]), 1)

    run("store", demo, "--summary", "-o", summary)
    of_trace, of_summary = (run_json("report", path, *named, "--exclude-frame", "Json::*", "--fold-module", "ntdll", "--group-by", "kind,stack")
                            for path in (demo, summary))
    results.equal("a summary answers alike", sizes(of_summary, "kind", "stack"), sizes(of_trace, "kind", "stack"))
    results.equal("and leaves out as much", told_left_out(of_summary), told_left_out(of_trace))

    views = {" ".join(words): told_left_out(run_json(*words[:1], demo, *words[1:], *named, "--exclude-frame", "Json::*", "--at-exit", "leaked"))
             for words in (["report"], ["report", "--tree"], ["report", "--suspects"], ["report", "--spikes"], ["report", "--histogram", "size"],
                           ["windows"], ["windows", "--find-spikes"], ["windows", "--find-growth"], ["allocations", "--top", "3"])}
    results.equal("all views tell the same", {view for view, left in views.items() if left != views["report"]}, set())

    compare_comparisons(results, demo, longer, named)
    compare_check(results, demo, named[:2])
    compare_exports(results, demo, named, whole, module)
    compare_words(results, demo, named)


def compare_comparisons(results, demo, longer, named):
    options = [*named, "--exclude-frame", "History::append", "--fold-module", "BatteryMeter", "--group-by", "kind,process,stack"]
    diff = run_json("diff", demo, longer, *options, "--all")
    sides = [run_json("report", path, *options) for path in (demo, longer)]
    for number, (side, word) in enumerate(zip(sides, ("base", "new")), 1):
        total = sum(row[f"{word}_outstanding_size"] for row in diff["rows"])
        results.equal(f"diff: the rows of the {word} add up to its report", total, sum(row["outstanding_size"] for row in side["rows"]))
        left = [{key: value for key, value in row.items() if key != "run"} for row in diff["excluded"] if row["run"] == number]
        results.equal(f"diff: left out of the {word}", left, side["excluded"])
    trend = run_json("trend", demo, longer, demo, "--in-order", "--all", *options)
    results.equal("trend: the runs' rows", [sum(row["sizes"][i] for row in trend["rows"]) for i in range(3)],
                  [sum(row["outstanding_size"] for row in sides[i]["rows"]) for i in (0, 1, 0)])
    results.equal("trend: runs", sorted({row["run"] for row in trend["excluded"]}), [1, 2, 3])
    text = run("diff", demo, longer, *options).decode()
    results.check("diff says in text what both sides lack", "Left out      base: heap " in text and "Left out      new: heap " in text, text[:600])


def compare_check(results, demo, named):
    limit = ["check", demo, *named, "--max-outstanding", "heap/1K"]
    done = subprocess.run([ETLHEAP, *limit], capture_output=True, check=False)
    less = subprocess.run([ETLHEAP, *limit, "--exclude-frame", "History::append"], capture_output=True, check=False)
    results.equal("check judges what is left", (done.returncode, less.returncode), (1, 0))
    verdict = json.loads(subprocess.run([ETLHEAP, *limit, "--exclude-frame", "nobody", "--fold-module", "BatteryMeter", "--format", "json"],
                                        capture_output=True, check=False).stdout)
    frames = [stack["frames"][0] for budget in verdict["budgets"] for subject in budget["subjects"] for stack in subject["stacks"]]
    results.equal("check blames the module", {(frame["module"], frame["symbol"]) for frame in frames}, {("BatteryMeter.exe", None)})
    results.equal("check tells that nothing was left out", told_left_out(verdict), {})


def compare_exports(results, demo, named, whole, module):
    lines = run("export", demo, *named, "--format", "folded", "--fold-module", module, "--exclude-frame", "Ui::*").decode().splitlines()
    got = Counter()
    for line in lines:
        path, size = line.rsplit(" ", 1)
        kind, _, *frames = path.split(";")
        got[kind, " < ".join(reversed(frames))] += int(size)
    wanted = Counter()
    for (kind, stack), size in whole.items():
        if "!Ui::" not in stack and size > 0:
            wanted[kind, folded_text(stack, module)] += size

    def bare(sums):
        """Exports write displacements of guesses, which differ from the report's frames only in that."""
        found = Counter()
        for (kind, stack), size in sums.items():
            found[kind, " < ".join(frame.split("+0x")[0] for frame in stack.split(" < "))] += size
        return found

    results.equal("flame graphs are folded", bare(got), bare(wanted))
    for name in ("pprof", "perfetto", "speedscope", "wpa-xml", "perfview", "html", "parquet", "csv", "ndjson", "dhat", "heaptrack"):
        path = os.path.join(WORK, f"folded.{name}")
        done = subprocess.run([ETLHEAP, "export", demo, *named, "--format", name, "--fold-module", "*", "--exclude-frame", "Ui::*", "-o", path],
                              capture_output=True, check=False)
        results.equal(f"export --format {name}", (done.returncode, b"left out by --exclude-frame: heap " in done.stderr), (0, True))
        if name != "html":  # the page knows the number
            with open(path, "rb") as file:
                results.check(f"export --format {name} writes no offset that is none", b"ffffffffffffffff" not in file.read().lower())


def compare_words(results, demo, named):
    """What people are told."""
    def told(*options):
        done = subprocess.run([ETLHEAP, "report", demo, *named, *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    for options, status, words in [
        (["--exclude-frame", "History::append"], 0, "Left out      heap 640 KiB in 160 allocations, all outstanding (excluded frames)"),
        (["--exclude-frame", "nobody"], 0, "Left out      nothing, because no call stack has an excluded frame"),
        (["--exclude-frame", "nobody", "--format", "csv"], 0, "left out by --exclude-frame: nothing"),
        (["--exclude-frame", "History::append", "--format", "markdown"], 0, "Left out: heap 640 KiB"),
        (["--exclude-frame", "*!*"], 2, "--exclude-frame: '*!*' matches every frame"),
        (["--exclude-frame", "kernel32!"], 0, "--exclude-frame selects nothing: every stack has a matching frame"),
        (["--fold-module", "app!grow"], 2, "--fold-module: 'app!grow' names a function, but whole modules are folded"),
        (["--fold-module", "nobody"], 0, "--fold-module 'nobody' matches no module in the trace"),
        (["--fold-module", "ntdll!", "--exclude", "x"], 2, "did you mean --exclude-frame"),
        (["--kind", "heap", "--tree", "--root", "Monitor::run", "--fold-module", "BatteryMeter"], 0, "frames that are culled or folded do"),
        (["--fold-pats", "x"], 2, "did you mean --fold-module"),
    ]:
        code, text = told(*options)
        results.check(f"{' '.join(options)}: {words}", code == status and words in text, f"{code}: {text[:400]}")


def main():
    results = Results()
    for seed in range(21, 31 if LONG else 23):
        compare_program(results, seed)
    compare_demo(results, WORK)
    results.finish()


if __name__ == "__main__":
    sys.exit(main())
