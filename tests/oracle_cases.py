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
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from oracle_support import ETLHEAP, TIMEOUT_SECONDS, TRACES, Results, run, run_json, skip_all

CASES_FOLDER = os.path.normpath(os.path.join(TRACES, "..", "traces-cases"))


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

# --- modules and symbols --------------------------------------------------------

# Functions that the linker folded into one: the first by its symbols, and its own lines,
# as the tables of llvm-pdbutil have them side by side.
FOLDED = {"same4": ("/abs/x3.cpp", 3337, 3339), "N18::In::go": ("/abs/x3.cpp", 3437, 3439)}


def llvm_lines(frames, folder):
    """By frame the file and line that llvm-symbolizer says; None without it."""
    if shutil.which("llvm-symbolizer") is None:
        return None
    asked = "\n".join(hex(int(frame["address"], 16) - 1) for frame in frames)
    done = subprocess.run(["llvm-symbolizer", "--no-inlines", "--obj=" + case_file("g1icf.exe")],
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
                      (row["Process"], row["Stack"]), ("a.exe", " < ".join(frames)))
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
    results.equal("late_module: frames are named", [row["Stack"] for row in rows], ["late.dll+0x1234"] * 2)
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
                  [(row["Process"], row["Stack"]) for row in rows], [("a.exe", "0x7ff600001000")])
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
                  [(row["Address"], row["Size"]) for row in rows], [("0x200000", "65536")])


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

# --- summaries ------------------------------------------------------------------

# --- names ----------------------------------------------------------------------

# --- recordings -----------------------------------------------------------------


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
