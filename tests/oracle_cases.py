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
