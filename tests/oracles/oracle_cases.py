#!/usr/bin/env python3
"""Checks the small traces that each hold one hard case.

The traces lie in $TRACES/../traces-cases, and were made by a writer that shares no
code with ours. One function a case, named after its trace; it states what is right,
as the page beside the traces gives it, and never what the program happens to print.

    oracle_cases.py                 all cases
    oracle_cases.py same_tick       the cases whose names begin like this
"""

import csv
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

from llvm_tools import tool
from oracle_support import ETLHEAP, TIMEOUT_SECONDS, TRACES, Results, run, run_json, skip_all

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/make_trace")
CASES_FOLDER = os.path.abspath(os.path.join(TRACES, "..", "traces-cases"))


def case_file(name):
    return os.path.join(CASES_FOLDER, name)


def try_run(*arguments, folder=None):
    """Runs the program; gives its status, its output and what it said, as text."""
    done = subprocess.run([os.path.abspath(ETLHEAP), *map(str, arguments)], cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=TIMEOUT_SECONDS)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def csv_rows(*arguments):
    """The rows of a command as dictionaries."""
    return list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").decode())))


def diagnostics(document):
    """name -> count of a JSON document."""
    return {row["name"]: row["count"] for row in document["diagnostics"]}


# --- stacks and pairing ---------------------------------------------------------

def lifetimes_of(name):
    """Size, how it ended, start and length in ns, and the stack of each lifetime."""
    document = run_json("allocations", case_file(name), "--no-cull")
    frames, stacks = document["frames"], document["stacks"]

    def frame_of(index):
        frame = frames[index]
        return frame["module"] + "+" + frame["offset"] if frame["module"] else frame["address"]

    rows = []
    for row in document["rows"]:
        stack = None if row["stack"] is None else [frame_of(i) for i in stacks[row["stack"]]]
        lasted = None if row["free_time_ns"] is None else row["free_time_ns"] - row["alloc_time_ns"]
        rows.append((row["size"], row["free_type"], row["alloc_time_ns"], lasted, stack))
    return sorted(rows, key=lambda row: (row[2], row[0])), diagnostics(document)


def case_same_tick(results, folder):
    rows, _ = lifetimes_of("same_tick.etl")
    results.equal("same_tick: stacks go to the events of one tick in order",
                  [(row[0], row[4]) for row in rows],
                  [(i, [f"a.exe+0x{i}000"]) for i in range(1, 6)])


def case_tid_reuse(results, folder):
    rows, _ = lifetimes_of("tid_reuse.etl")
    kernel = "ntoskrnl.exe+0x"
    results.equal("tid_reuse: a thread that ended keeps its kernel half alone",
                  [(row[0], row[4]) for row in rows],
                  [(4096, [kernel + "100", kernel + "200"]),
                   (8192, [kernel + "300", kernel + "400", "b.exe+0x1234", "b.exe+0x2000"])])


def case_lostfree_chain(results, folder):
    rows, told = lifetimes_of("lostfree_chain.etl")
    results.equal("lostfree_chain: one lost free costs one lifetime",
                  [(row[0], row[1], row[3]) for row in rows],
                  [(100, "free", 10_000_000)] + [(1000 + i, "free", 20_000) for i in range(10)] +
                  [(5, "none", None)])
    results.equal("lostfree_chain: stacks stay with their blocks",
                  [row[4][0] for row in rows[1:-1]], [f"a.exe+0x30{i}0" for i in range(10)])
    results.equal("lostfree_chain: the loss is told", told.get("alloc_over_live"), 1)


def case_realloc_displaced(results, folder):
    rows, _ = lifetimes_of("realloc_displaced.etl")
    results.equal("realloc_displaced: the block whose Free and ReAlloc are there is freed",
                  [(row[0], row[1]) for row in rows], [(70, "free"), (40, "free"), (16, "none")])


def case_realloc_other_thread(results, folder):
    rows, told = lifetimes_of("realloc_other_thread.etl")
    results.equal("realloc_other_thread: a ReAlloc alone ends the old block",
                  [(row[0], row[1]) for row in rows], [(100, "free"), (200, "none")])
    results.equal("realloc_other_thread: what it ended is a guess, and is told",
                  told.get("pairing_guessed"), 1)


def case_realloc_late_5ms(results, folder):
    rows, told = lifetimes_of("realloc_late_5ms.etl")
    left = [row[0] for row in rows if row[1] == "none"]
    results.equal("realloc_late_5ms: a late summary leaves the new block", sorted(left), [64, 300])
    results.check("realloc_late_5ms: nothing had to be supplied", "realloc_synthesized" not in told)


# --- modules and symbols --------------------------------------------------------

# Functions that the linker folded into one: the first by its symbols, and its own lines,
# as the tables of llvm-pdbutil have them side by side.
FOLDED = {"same4": ("/abs/x3.cpp", 3337, 3339), "N18::In::go": ("/abs/x3.cpp", 3437, 3439)}


def llvm_lines(frames, folder):
    """By frame the file and line that llvm-symbolizer says; None without it."""
    if shutil.which(tool("llvm-symbolizer")) is None:
        return None
    asked = "\n".join(hex(int(frame["address"], 16) - 1) for frame in frames)
    done = subprocess.run([tool("llvm-symbolizer"), "--no-inlines", "--obj=" + case_file("g1icf.exe")],
                          cwd=folder, input=asked, capture_output=True, text=True, check=True)
    places = [answer.split("\n")[1].rsplit(":", 2) for answer in done.stdout.strip().split("\n\n")]
    return [(place[0], int(place[1])) for place in places]


def case_icf_folded(results, folder):
    document = run_json("report", case_file("icf_folded.etl"), "--symbols", CASES_FOLDER, "--no-cull",
                        "--group-by", "stack")
    frames = [frame for frame in document["frames"] if not frame.get("inline")]
    folded = [frame for frame in frames if frame["symbol"] in FOLDED]
    for frame in folded:
        file, first, last = FOLDED[frame["symbol"]]
        results.check(f"icf_folded: {frame['symbol']} at {frame['offset']} has a line of its own",
                      frame["file"] == file and first <= frame["line"] <= last, frame)
    results.equal("icf_folded: the first of folded functions has the address",
                  {frame["symbol"] for frame in folded}, set(FOLDED))
    others = [frame for frame in frames if frame["symbol"] not in FOLDED]
    said = llvm_lines(others, folder)
    if said is None:
        print("skipped: icf_folded: other lines; llvm-symbolizer is not installed")
        return
    wrong = [(frame, place) for frame, place in zip(others, said)
             if (frame["line"] or 0) != place[1] or (frame["line"] and frame["file"] != place[0])]
    results.check(f"icf_folded: {len(others)} other lines are those of llvm-symbolizer", not wrong, *wrong[:3])


def case_same_size_builds(results, folder):
    wanted = {"mod.pdb/03F1E7220FE9D6B34C4C44205044422E1": sum(range(1, 200)),
              "mod.pdb/90575AD41C7DAE574C4C44205044422E1": sum(range(200, 398)),
              "mod.pdb/6BB6B86977B0FF824C4C44205044422E1": sum(range(398, 598))}
    store = os.path.join(folder, "builds.ehs")
    run("store", case_file("same_size_builds.etl"), "-o", store)
    for source in (case_file("same_size_builds.etl"), store):
        document = run_json("symbols", source)
        got = {row["expected"]: row["sites"][0]["size"] for row in document["modules"]}
        results.equal(f"same_size_builds: three builds of {os.path.basename(source)}", got, wanted)


def remote_alloc(results, folder, name, frames):
    """b.exe allocates in a.exe, before that has any modules: the code is b.exe's, the memory a.exe's."""
    trace, store = case_file(name + ".etl"), os.path.join(folder, "remote.ehs")
    summary = os.path.join(folder, "remote.s.ehs")
    run("store", trace, "-o", store)
    run("store", trace, "--summary", "-o", summary)
    for source in (trace, store, summary):
        document = run_json("report", source, "--no-cull")
        row, = document["rows"]
        places = [document["frames"][i] for i in document["stacks"][row["stack"]]]
        got = (row["process"], [f"{place['module']}+{place['offset']}" for place in places])
        results.equal(f"{name}: frames of {os.path.basename(source)}", got, ("a.exe", frames))
        results.equal(f"{name}: no guess in {os.path.basename(source)}",
                      diagnostics(document).get("module_guessed", 0), 0)
    for source in (trace, store):
        row, = csv_rows("allocations", source, "--no-cull")
        results.equal(f"{name}: list of {os.path.basename(source)}",
                      (row["process"], row["stack"]), ("a.exe", " < ".join(frames)))
    page = try_run("export", trace, "--format", "folded", "-o", "-")[1]
    results.check(f"{name}: exports name it", frames[-1] in page, page)


def case_remote_alloc(results, folder):
    remote_alloc(results, folder, "remote_alloc", ["ntdll.dll+0x1234", "b.exe+0x1234", "b.exe+0x2000"])
    remote_alloc(results, folder, "remote_alloc_child", ["b.exe+0x1234", "b.exe+0x2000"])


def case_late_module(results, folder):
    """Its two blocks are from before the load and from after the unload."""
    trace, store = case_file("late_module.etl"), os.path.join(folder, "late.ehs")
    summary = os.path.join(folder, "late.s.ehs")
    run("store", trace, "-o", store)
    run("store", trace, "--summary", "-o", summary)
    rows = csv_rows("allocations", trace, "--no-cull")
    results.equal("late_module: frames are named", [row["stack"] for row in rows], ["late.dll+0x1234"] * 2)
    for name, source in (("trace", trace), ("store", store), ("summary", summary)):
        told = diagnostics(run_json("report", source, "--no-cull"))
        results.equal(f"late_module: the guess is told of a {name}", told.get("module_guessed"), 1)
    told = diagnostics(run_json("allocations", trace, "--no-cull"))
    results.equal("late_module: the guess is told of a list", told.get("module_guessed"), 1)
    for arguments in (["allocations"], ["report"]):
        said = try_run(*arguments, trace, "--format", "csv")[2]
        results.check(f"late_module: {arguments[0]} as CSV says so beside it", "module_guessed" in said, said)


def case_dead_process_frames(results, folder):
    """The id's next process loads its program where the frame is."""
    trace = case_file("dead_process_frames.etl")
    rows = csv_rows("allocations", trace, "--no-cull")
    results.equal("dead_process_frames: the next process's program is not guessed",
                  [(row["process"], row["stack"]) for row in rows], [("a.exe", "0x7ff600001000")])
    told = diagnostics(run_json("report", trace, "--no-cull"))
    results.equal("dead_process_frames: nothing is guessed", told.get("module_guessed", 0), 0)


# --- rundowns -------------------------------------------------------------------

def case_end_rundown(results, folder):
    """A started process: one region is committed by a quarter, of another there are no events."""
    trace, store = case_file("end_rundown.etl"), os.path.join(folder, "end.ehs")
    summary = os.path.join(folder, "end.s.ehs")
    run("store", trace, "-o", store)
    run("store", trace, "--summary", "-o", summary)
    for name, arguments in (("a report", ["report", trace]), ("a store", ["report", store]),
                            ("a summary", ["report", summary]),
                            ("windows", ["windows", trace, "--every", "10ms"]),
                            ("a list", ["allocations", trace])):
        told = diagnostics(run_json(*arguments))
        results.equal(f"end_rundown: contradictions in {name}",
                      (told.get("rundown_size_differs"), told.get("rundown_range_unseen")), (1, 1))
    rows = csv_rows("allocations", trace)
    results.equal("end_rundown: what the events say stays",
                  [(row["address"], row["size"]) for row in rows], [("0x200000", "65536")])


def case_end_rundown_of_a_wrong_time(results, folder):
    """The same trace with the time of its VirtualAlloc centuries, or hours, before the session."""
    with open(case_file("end_rundown.etl"), "rb") as file:
        image = bytearray(file.read())
    at = image.find(struct.pack("<q", 2000100))
    for ticks in (-(1 << 63), -(1 << 62), -10 ** 15, -10 ** 12):
        image[at:at + 8] = struct.pack("<q", ticks)
        trace, store = os.path.join(folder, "early.etl"), os.path.join(folder, "early.ehs")
        with open(trace, "wb") as file:
            file.write(image)
        run("store", trace, "-o", store)
        for source in (trace, store):
            name = f"end_rundown: {os.path.basename(source)} with an event at {ticks}"
            report = run_json("report", source)
            results.equal(f"{name}: one diagnostic", diagnostics(report).get("time_before_start"), 1)
            results.equal(f"{name}: the window begins at time zero", report["window"]["from_ns"], 0)
            results.equal(f"{name}: its range counts where it can",
                          [(row["process"], row["type"], row["count"]) for row in report["rows"]],
                          [("a.exe", "AIFO", 1)])
            windows = run_json("windows", source, "--every", "1ms")["windows"]
            results.equal(f"{name}: windows from zero on", (windows[0]["from_ns"], len(windows)), (0, 101))
            results.equal(f"{name}: windows of a length that fits", try_run("windows", source)[0], 0)
            page = os.path.join(folder, "early.html")
            done = try_run("export", source, "--format", "html", "-o", page)
            results.check(f"{name}: HTML is written", done[0] == 0 and os.path.getsize(page) > 0, done[2])


# --- the gate -------------------------------------------------------------------


def check_json(*arguments):
    """The status of a check, and its document."""
    status, out, said = try_run("check", *arguments, "--format", "json")
    return status, json.loads(out), said


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def case_first_run_lossy(results, folder):
    """A first run that lost events proves nothing and becomes no baseline, strict or accepted."""
    trace, base = case_file("first_run_lossy.etl"), os.path.join(folder, "new.ehs")
    words = [trace, "--baseline", base, "--max-growth", "total:10%", "--update-baseline"]
    for more, wanted in (([], (4, "inconclusive", "kept")), (["--strict"], (4, "inconclusive", "kept")),
                         (["--lenient"], (0, "inconclusive", "kept")),
                         (["--accept"], (4, "inconclusive", "refused"))):
        status, document, said = check_json(*words, *more)
        results.equal(f"first run, lossy {' '.join(more)}: inconclusive",
                      (status, document["verdict"], document["baseline"]["update"]), wanted)
        results.check(f"first run, lossy {' '.join(more)}: no baseline, said loudly",
                      not os.listdir(folder) and "lost" in said, os.listdir(folder), said)


def baselines_of(folder, trace, name):
    """The trace in each form that a baseline has."""
    forms = {"a trace": trace}
    for form, words in (("a store", []), ("a summary", ["--summary"])):
        forms[form] = os.path.join(folder, f"{name}{len(words)}.ehs")
        run("store", trace, *words, "-o", forms[form])
    return forms


def case_lossy(results, folder):
    """Growth over a lossy baseline is inconclusive whatever file the baseline is, and however large."""
    lossy, run_now = case_file("lossy.etl"), case_file("lossy_next.etl")
    forms = baselines_of(folder, lossy, "lossy")
    # What a ratchet writes is a store, byte for byte; of a lossy run it writes none.
    ratchet = os.path.join(folder, "ratchet.ehs")
    grow = ["--max-growth", "total:0", "--baseline"]
    status, document, _ = check_json(run_now, *grow, ratchet, "--update-baseline")
    results.equal("the file of a ratchet", (status, document["baseline"]["update"]), (0, "created"))
    stored = os.path.join(folder, "sound.ehs")
    run("store", run_now, "-o", stored)
    results.check("the file of a ratchet is a store", bytes_of(ratchet) == bytes_of(stored))
    shutil.copyfile(forms["a store"], ratchet)
    forms["the file of a ratchet"] = ratchet
    merged = os.path.join(folder, "merged.ehs")
    run("merge", forms["a summary"], run_of_merge(folder), "-o", merged)
    forms["a merged summary"] = merged
    for form, path in forms.items():
        for limit in ("total:0", "total:1000000%", "stack:1G"):
            words = [run_now, "--baseline", path, "--max-growth", limit]
            status, document, said = check_json(*words)
            results.equal(f"{form} that is lossy, {limit}: inconclusive",
                          (status, document["verdict"], document["doubts"]), (4, "inconclusive", ["baseline-loss"]))
            results.check(f"{form} that is lossy, {limit}: stderr says that it is the baseline",
                          os.path.basename(path) in said and "baseline lost events" in said, said)
            results.equal(f"{form} that is lossy, {limit} --lenient", try_run("check", *words, "--lenient")[0], 0)
    before = bytes_of(ratchet)
    status, document, _ = check_json(run_now, "--baseline", ratchet, "--max-growth", "total:1G", "--update-baseline")
    results.equal("a lossy ratchet does not move by itself", (status, document["baseline"]["update"], bytes_of(ratchet) == before),
                  (4, "kept", True))
    status, document, _ = check_json(run_now, "--baseline", ratchet, "--max-growth", "total:0", "--update-baseline",
                                     "--accept", "--strict")
    results.equal("a sound run that is accepted replaces it", (status, document["verdict"], bytes_of(ratchet) == bytes_of(stored)),
                  (0, "accepted", True))


def run_of_merge(folder):
    """A sound summary of another trace."""
    path = os.path.join(folder, "other.ehs")
    run("store", case_file("module_case.etl"), "--summary", "-o", path)
    return path


def case_lossy_damaged(results, folder):
    """A damaged baseline: a trace cut short is inconclusive, a store with a wrong byte is refused."""
    run_now = case_file("lossy_next.etl")
    cut = os.path.join(folder, "cut.etl")
    with open(cut, "wb") as file:
        file.write(bytes_of(run_now)[:200000])
    for form, path in baselines_of(folder, cut, "cut").items():
        status, document, _ = check_json(run_now, "--baseline", path, "--max-growth", "total:1G")
        results.equal(f"{form} cut short: inconclusive", (status, document["verdict"]), (4, "inconclusive"))
    for form, path in baselines_of(folder, run_now, "whole").items():
        if form == "a trace":
            continue
        damaged = bytearray(bytes_of(path))
        damaged[len(damaged) // 2] ^= 1
        with open(path, "wb") as file:
            file.write(damaged)
        for more in ([], ["--update-baseline"], ["--update-baseline", "--accept"]):
            status, out, said = try_run("check", run_now, "--baseline", path, "--max-growth", "total:1G", *more)
            results.check(f"{form} with a wrong byte {' '.join(more)}: status 3, and it stays",
                          status == 3 and not out and os.path.basename(path) in said and bytes_of(path) == bytes(damaged), status, said)


def case_lossy_nothing_measured(results, folder):
    """That nothing was measured wins over a lossy run and a lossy baseline."""
    lossy, base = case_file("lossy.etl"), os.path.join(folder, "base.ehs")
    run("store", lossy, "-o", base)
    before = bytes_of(base)
    for more in ([], ["--strict"], ["--update-baseline"], ["--update-baseline", "--accept"]):
        status, document, said = check_json(lossy, "--process", "nobody.exe", "--baseline", base, "--max-growth", "total:1G", *more)
        results.equal(f"a lossy run of nobody {' '.join(more)}", (status, document["verdict"], bytes_of(base) == before),
                      (1, "fail", True))
        names = {process["process"] for process in document["nothing_measured"]["processes"]}
        results.check(f"a lossy run of nobody {' '.join(more)}: names who has events",
                      {"BatteryMeter.exe", "ckb.exe", "svc.exe"} <= names and "svc.exe" in said, names, said)

# --- summaries ------------------------------------------------------------------


def peaks_of_names(trace):
    """(kind, process name) -> [most blocks at once, most bytes at once], of the list of lifetimes.
    What happens in one tick happens together; the end of a process frees nothing."""
    steps = {}
    for row in run_json("allocations", trace)["rows"]:
        at = steps.setdefault((row["kind"], row["process"]), {})
        ends = [(row["free_time_ns"], -1)] if row["type"] in ("AIFI", "AOFI") else []
        starts = [(-1 if row["type"].startswith("AO") else row["alloc_time_ns"], 1)]
        for time, sign in starts + ends:
            step = at.setdefault(time, [0, 0])
            step[0] += sign
            step[1] += sign * row["size"]
    peaks = {}
    for key, at in steps.items():
        now, most = [0, 0], [0, 0]
        for time in sorted(at):
            now = [a + b for a, b in zip(now, at[time])]
            most = [max(a, b) for a, b in zip(now, most)]
        peaks[key] = most
    return peaks


def peaks_below(rows):
    """Rows that say that less was there at most than at the end."""
    return [row for row in rows
            if any(row[f"peak_{what}"] is not None and row[f"peak_{what}"] < row[f"outstanding_{what}"]
                   for what in ("count", "size"))]


def check_names(results, name, summary, truth):
    rows = run_json("report", summary, "--group-by", "kind,process")["rows"]
    wrong = []
    for row in rows:
        got = [row["peak_count"], row["peak_size"]]
        if got != truth[row["kind"], row["process"]]:
            wrong.append((row["kind"], row["process"], got, truth[row["kind"], row["process"]]))
    results.check(f"{name}: the peak of a process name is that of its processes together", not wrong and rows, *wrong[:4])


def case_summary_peak(results, folder):
    """No peak is below what is outstanding, and what a summary cannot know is null."""
    path, trace = os.path.join(folder, "new.ehs"), case_file("summary_peak.etl")
    run("store", trace, "--summary", "-o", path)
    # The row of the sheet: nothing says when each of three processes had its peak. Nothing of the
    # extents was freed, so what is there at the end is the most.
    rows = {row[0]: row for row in csv.reader(io.StringIO(run("report", path, "--group-by", "kind", "--format", "csv").decode()))}
    results.equal("a summary by kind: peaks are empty in CSV", [rows["heap"][-2:], rows["virtualalloc"][-2:]], [["", ""]] * 2)
    results.equal("a summary by kind: without frees the end is the peak", rows["extent"][-2:], ["5", "110592"])
    for keys in ("kind", "process", "kind,process", "kind,process,type", "kind,type", "kind,stack", "kind,site",
                 "kind,module", "kind,process,type,stack"):
        for more in ([], ["--at-exit", "freed"], ["--type", "AIFO,AIFI"], ["--no-cull"]):
            below = peaks_below(run_json("report", path, "--group-by", keys, *more)["rows"])
            results.check(f"a summary by {keys} {' '.join(more)}: no peak is below what is outstanding", not below, *below[:2])
    check_names(results, "a summary", path, peaks_of_names(trace))
    text = run("report", path, "--group-by", "kind", "--sort", "peak_size", "--top", "3").decode()
    results.check("a summary as text: a dash", re.search(r"^heap +\u2013 ", text, re.MULTILINE), text[:900])
    xml = run("export", path, "--format", "wpa-xml").decode()
    results.check("a summary as wpa-xml: no numbers below 0", "SizePeak=" in xml and '="-9' not in xml)
    copy, merged = os.path.join(folder, "copy.ehs"), os.path.join(folder, "merged.ehs")
    shutil.copy(path, copy)
    run("merge", path, copy, "--allow-duplicates", "-o", merged)
    below = peaks_below(run_json("report", merged, "--group-by", "kind,process,stack")["rows"])
    results.check("of merged summaries no peak is below what is outstanding", not below, *below[:2])


def case_summary_of_format_1(results, folder):
    """A summary of format 1.0 is refused by all commands, with what it is and what to do."""
    old, trace = case_file("summary_peak.s.ehs"), case_file("summary_peak.etl")
    new, out = os.path.join(folder, "new.ehs"), os.path.join(folder, "out.ehs")
    run("store", trace, "--summary", "-o", new)
    sentence = "is a summary of format 1.0, which this version no longer reads: make the summary again from its trace"
    for arguments in (("report", old), ("info", old), ("windows", old), ("merge", old, new, "-o", out), ("diff", old, new),
                      ("check", new, "--baseline", old, "--max-growth", "total:1%")):
        done = subprocess.run([ETLHEAP, *arguments], capture_output=True, text=True, check=False)
        results.equal(f"{arguments[0]} of a summary of format 1.0: status", done.returncode, 3)
        results.check(f"{arguments[0]} of a summary of format 1.0: sentence", sentence in done.stderr, done.stderr)
    results.check("a summary of format 1.0 is merged into nothing", not os.path.exists(out))


def case_lossy_next_summary(results, folder):
    """Several processes of one name are one row of a summary, and so is their peak."""
    trace, summary = case_file("lossy_next.etl"), os.path.join(folder, "names.ehs")
    names = [row["process"] for row in run_json("report", trace, "--group-by", "kind,process")["rows"] if row["kind"] == "heap"]
    results.check("a trace with several processes of one name", len(names) > len(set(names)), names)
    run("store", trace, "--summary", "-o", summary)
    check_names(results, "several processes of one name", summary, peaks_of_names(trace))


def case_summary_peak_windows(results, folder):
    """The same of windows, alone and merged, as JSON, CSV and text."""
    paths = []
    for number, name in enumerate(("lossy_next.etl", "summary_peak.etl")):
        paths.append(os.path.join(folder, f"{number}.ehs"))
        run("store", case_file(name), "--summary", "--every", "20ms", "-o", paths[-1])
    merged = os.path.join(folder, "merged.ehs")
    run("merge", *paths, "-o", merged)
    unknown = 0
    for path in (*paths, merged):
        for keys in ("kind", "kind,process", "kind,site"):
            rows = [row for window in run_json("windows", path, "--group-by", keys)["windows"] for row in window["rows"]]
            below = peaks_below(rows)
            results.check(f"windows of {os.path.basename(path)} by {keys}: no peak is below what is outstanding",
                          not below and rows, *below[:2])
            unknown += sum(row["peak_size"] is None for row in rows)
    results.check("some peaks of windows are not known", unknown > 0)
    out = run("windows", merged, "--group-by", "kind", "--format", "csv").decode()
    results.check("windows as CSV: such cells are empty", "-9223372036854775808" not in out and any(
        row[-3:-1] == ["", ""] for row in csv.reader(io.StringIO(out))), out[:300])
    text = run("windows", merged, "--group-by", "kind").decode()
    results.check("windows as text: the peak is at least so much", re.search(r"Peak .*at least \d", text) and "?" in text, text[:1500])

# --- names ----------------------------------------------------------------------


def in_folder(folder, name):
    return os.path.join(folder, name)


def case_upper_case_names(results, folder):
    """App.exe and app.exe, KERNEL32.DLL and kernel32.dll: 300 bytes, and then 400."""
    base, new = case_file("upper_case_base.etl"), case_file("upper_case_new.etl")
    stores = [in_folder(folder, name) for name in ("base.ehs", "new.ehs", "base.s.ehs", "new.s.ehs")]
    for i, (trace, options) in enumerate(((base, []), (new, []), (base, ["--summary"]), (new, ["--summary"]))):
        run("store", trace, *options, "-o", stores[i])
    for a, b in ((base, new), (stores[0], stores[1]), (stores[2], stores[3]), (base, stores[3])):
        document = run_json("diff", a, b, "--all")
        results.equal(f"names: {os.path.basename(a)} and {os.path.basename(b)} have one row",
                      [(row["state"], row["process"], row["delta_outstanding_size"]) for row in document["rows"]],
                      [("grown", "App.exe", 100)])
        results.equal("names: and its frame is the base's", [f["module"] for f in document["frames"]], ["App.exe"])
        for budget, wanted in (("process:100", 0), ("stack:100", 0), ("process:99", 1), ("stack:99", 1)):
            status, _, said = try_run("check", b, "--baseline", a, "--max-growth", budget)
            results.equal(f"names: growth {budget}", (status, said), (wanted, ""))
    merged = []
    for pair in (stores[:2], stores[1::-1], (stores[2], stores[1])):
        run("merge", *pair, "-o", in_folder(folder, "merged.ehs"))
        merged.append(open(in_folder(folder, "merged.ehs"), "rb").read())
    results.check("names: merged in any order they are the same bytes", len(set(merged)) == 1)
    rows = run_json("report", in_folder(folder, "merged.ehs"), "--group-by", "process,module")["rows"]
    results.equal("names: and one process with one module",
                  [(row["process"], row["module"], row["outstanding_size"]) for row in rows],
                  [("App.exe", "App.exe", 700)])
    for pattern in ("aPP.exe", "APP*", "app.???"):
        rows = run_json("report", new, "--process", pattern, "--group-by", "kind")["rows"]
        results.equal(f"names: --process {pattern}", [row["outstanding_size"] for row in rows], [400])
    rows = run_json("report", new, "--require-frame", "APP!", "--group-by", "kind")["rows"]
    results.equal("names: --require-frame", [row["outstanding_size"] for row in rows], [400])
    with open(in_folder(folder, "known.supp"), "w") as file:
        file.write("leak:^aPP.Exe$\n")
    status, _, _ = try_run("check", new, "--max-outstanding", "1", "--suppressions", in_folder(folder, "known.supp"))
    results.equal("names: --suppressions", status, 0)


def case_module_case(results, folder):
    """One library, which two processes spell differently."""
    trace = case_file("module_case.etl")
    store = in_folder(folder, "case.ehs")
    summary = in_folder(folder, "case.s.ehs")
    run("store", trace, "-o", store)
    run("store", trace, "--summary", "-o", summary)
    for subject in (trace, store, summary):
        for keys, name in (("kind,module", "module"), ("kind,site", "site"), ("kind,stack", "stack")):
            document = run_json("report", subject, "--no-cull", "--group-by", keys)
            if name == "module":
                results.equal(f"names: {os.path.basename(subject)} by {keys}",
                              [(row["module"], row["outstanding_count"], row["outstanding_size"])
                               for row in document["rows"]],
                              [("KERNEL32.DLL", 2, 200)])
            else:
                # Whether two builds of a name are one place is not for names to say.
                results.equal(f"names: {os.path.basename(subject)} by {keys}",
                              {f["module"] for f in document["frames"]}, {"KERNEL32.DLL"})
    rows = run_json("windows", trace, "--no-cull", "--every", "1s", "--group-by", "module")["windows"][0]["rows"]
    results.equal("names: windows by module", [(row["module"], row["outstanding_size"]) for row in rows],
                  [("KERNEL32.DLL", 200)])
    for pattern in ("kernel32.dll!", "KERNEL32!"):
        rows = run_json("report", trace, "--no-cull", "--require-frame", pattern, "--group-by", "kind")["rows"]
        results.equal(f"names: --require-frame {pattern}", [row["outstanding_size"] for row in rows], [200])

# --- recordings -----------------------------------------------------------------


def refusal(*arguments):
    """Status, whether the sentence is one, and the sentence; what goes to stdout must be nothing."""
    status, out, said = try_run(*arguments)
    return status, len(said.splitlines()) == 1 and not out, said


def case_day1_day2(results, folder):
    """Two days of one program: files of two boots, a day apart."""
    one, two = case_file("day1.etl"), case_file("day2.etl")
    output = os.path.join(folder, "never")
    commands = {
        "report": [], "info": [], "allocations": [], "windows": [], "dump": [], "symbols": [],
        "check": ["--max-outstanding", "1G"],
        "store": ["-o", output],
        "export": ["--format", "pprof", "-o", output],
    }
    for command, options in commands.items():
        for files in ((one, two), (two, one)):
            status, is_one_sentence, said = refusal(command, *files, *options)
            words = [word for word in (*files, "boot times are 86400.0 s apart", "diff", "merge",
                                       "store --out-dir", "--together") if word not in said]
            results.equal(f"recordings: {command} of two", (status, is_one_sentence, words), (3, True, []))
        status, _, said = try_run(command, one, two, *options, "--together")
        results.equal(f"recordings: {command} --together", (status, "different recordings" in said), (4 if command == "check" else 0, False))
        if os.path.exists(output):
            os.remove(output)
    sums = [run_json("report", *files, "--group-by", "kind")["totals"][0]["count"]
            for files in ((one,), (two,), (one, two, "--together"))]
    results.check("recordings: --together reads both", sums[2] >= max(sums[:2]) and sums[2] > 0, sums)
    for command in ("diff", "merge"):
        results.equal(f"recordings: {command} has no --together", try_run(command, one, two, "--together")[0], 2)
    results.equal("recordings: diff compares them", try_run("diff", one, two)[0], 0)
    stores = os.path.join(folder, "stores")
    results.equal("recordings: store --out-dir takes both", try_run("store", one, two, "--out-dir", stores)[0], 0)
    run("merge", os.path.join(stores, "day1.ehs"), os.path.join(stores, "day2.ehs"), "-o", output)
    results.equal("recordings: merge adds them up", len(run_json("info", output)["traces"]), 2)


def case_same_file_twice(results, folder):
    """By its path, by a link, and as a copy, also of another name in a zip file."""
    one, two = case_file("day1.etl"), case_file("day2.etl")
    links = [os.path.join(folder, name) for name in ("soft.etl", "hard.etl", "copy.etl", "packed.etl.zip")]
    copied = os.path.join(folder, "original.etl")
    shutil.copy(one, copied)
    os.symlink(copied, links[0])
    os.link(copied, links[1])
    shutil.copy(copied, links[2])
    with zipfile.ZipFile(links[3], "w") as packed:
        packed.write(copied, "inner.etl")
    for other in (copied, *links):
        for options in ([], ["--together"]):
            status, is_one_sentence, said = refusal("report", copied, other, *options)
            is_path = other in (copied, *links[:2])
            results.equal(f"recordings: {os.path.basename(other)} is the same file {' '.join(options)}",
                          (status, is_one_sentence, "twice" in said, other in said),
                          (2 if is_path else 3, True, True, True))
    status, _, said = refusal("report", one, two, links[2], "--together")
    results.check("recordings: the third of three is a copy", status == 3 and one in said and links[2] in said, said)


def case_parts_of_one_recording(results, folder):
    """A kernel session and one of user mode, 1.5 s apart, as they were before their merge."""
    kernel, user = (os.path.join(TRACES, f"diaghub-{name}.etl") for name in ("kernel", "user-injected"))
    if os.path.exists(kernel) and os.path.exists(user):
        for files in ((kernel, user), (user, kernel)):
            results.equal("recordings: sessions of one recording", try_run("info", *files)[0], 0)
    else:
        results.skip("recordings: parts", f"{kernel} is not here; set TRACES to the folder of real traces")
    whole, split, heap = (os.path.join(folder, name) for name in ("whole.etl", "kernel.etl", "heap.etl"))
    for options in (["-o", whole], ["-o", split, "--split", heap]):
        subprocess.run([MAKE_TRACE, "demo", *options], check=True, capture_output=True)
    rows = [run_json("report", *files)["rows"] for files in ((whole,), (split, heap), (heap, split))]
    results.check("recordings: a split trace is the whole", rows[0] and rows[0] == rows[1] == rows[2])


def main():
    if not os.path.isdir(CASES_FOLDER):
        skip_all(f"{CASES_FOLDER} is not here; set TRACES to the folder of real traces")
    wanted = sys.argv[1:] or [""]
    results = Results()
    for name, case in list(globals().items()):
        if name.startswith("case_") and name != "case_file" and any(name[5:].startswith(w) for w in wanted):
            with tempfile.TemporaryDirectory() as folder:
                case(results, folder)
    results.finish()


if __name__ == "__main__":
    main()
