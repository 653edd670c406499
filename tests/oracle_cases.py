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
import subprocess
import sys
import tempfile
import zipfile

from oracle_support import ETLHEAP, TIMEOUT_SECONDS, TRACES, Results, run, run_json, skip_all

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/make_trace")
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

# --- rundowns -------------------------------------------------------------------

# --- the gate -------------------------------------------------------------------

# --- summaries ------------------------------------------------------------------

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
        results.equal(f"recordings: {command} --together", (status, "different recordings" in said), (0, False))
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
        results.check(f"recordings: parts # SKIP {kernel} is not here; set TRACES to the folder of real traces", True)
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
