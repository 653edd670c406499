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

# --- rundowns -------------------------------------------------------------------

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
