#!/usr/bin/env python3
"""Does `etlheap selftest --write-demo` write the traces and symbols that the pages use?

The truth is what the tests' writer of traces makes (tests/build), byte for byte. The program keeps
compressed copies in cli/demo, because the writer is no part of it.

    oracle_demo.py             compares
    oracle_demo.py --update    takes over what the writer makes now
"""

import filecmp
import glob
import os
import re
import subprocess
import sys
import tempfile

from oracle_support import ETLHEAP, WORK, Results

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KEPT = os.path.join(ROOT, "cli", "demo")
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
SCENARIOS = {"demo.etl": "demo", "longer.etl": "battery-meter", "fixed.etl": "battery-meter-fixed",
             "exercise.etl": "heap-exercise", "runner.etl": "test-runner", "pool.etl": "pool-driver", "pool-before.etl": "pool-before"}


def make_truth(folder):
    symbols = os.path.join(folder, "symbols")
    os.makedirs(symbols)
    for name, scenario in SCENARIOS.items():
        subprocess.run([MAKE_TRACE, scenario, os.path.join(folder, name)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)


def names_below(folder):
    return sorted(os.path.relpath(path, folder) for path in glob.glob(os.path.join(folder, "**"), recursive=True)
                  if os.path.isfile(path))


def write_demo(folder, **options):
    return subprocess.run([ETLHEAP, "selftest", "--write-demo", folder], capture_output=True, text=True, check=False, **options)


def update(truth):
    """Only what changed: another version of zstd writes other bytes of the same file."""
    with tempfile.TemporaryDirectory() as old:
        write_demo(old)
        for name in names_below(truth):
            new = os.path.join(truth, name)
            if not os.path.exists(os.path.join(old, name)) or not filecmp.cmp(new, os.path.join(old, name), shallow=False):
                subprocess.run(["zstd", "-q", "-19", "-f", new, "-o", os.path.join(KEPT, name + ".zst")], check=True)
                print(f"updated cli/demo/{name}.zst")


def check_bytes(results, truth, folder):
    """The folder and the one above it do not exist; a second run replaces the files."""
    for run in ("first", "second"):
        done = write_demo(folder)
        results.equal(f"{run} run: status", (done.returncode, done.stderr), (0, ""))
    results.equal("the files are those that the pages use", names_below(folder), names_below(truth))
    for name in names_below(truth):
        path = os.path.join(folder, name)
        results.check(f"{name} is what tests/build writes", os.path.exists(path)
                      and filecmp.cmp(path, os.path.join(truth, name), shallow=False), "make demo-update takes it over")
    told = [re.split(" {2,}", line)[1] for line in done.stdout.splitlines()]
    results.equal("each trace and the folder of symbols is named", sorted(told),
                  sorted(os.path.join(folder, name) for name in [*SCENARIOS, "symbols"]))
    report = subprocess.run([ETLHEAP, "report", told[0], "--symbols", told[-1]], capture_output=True, text=True, check=False)
    results.check("the report shows names of functions", "History::append" in report.stdout, report.stderr)


def check_failures(results, folder):
    os.makedirs(folder)
    taken = os.path.join(folder, "file")
    with open(taken, "w", encoding="utf-8"):
        pass
    done = write_demo(taken)
    results.equal("a file where the folder should be: status", done.returncode, 3)
    results.check("and the message names the path", done.stderr.startswith(f"etlheap: {taken}/"), done.stderr)
    results.equal("nothing is said to be written", done.stdout, "")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([ETLHEAP, "selftest", "--write-demo", os.path.join(folder, "full")], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    results.equal("output that cannot be written: status", done.returncode, 3)
    results.check("and the message says so", "standard output: cannot be written" in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        truth = os.path.join(folder, "truth")
        make_truth(truth)
        if "--update" in sys.argv:
            update(truth)
            return
        results = Results()
        check_bytes(results, truth, os.path.join(folder, "a new", "demo"))
        check_failures(results, os.path.join(folder, "failures"))
        results.finish()


if __name__ == "__main__":
    main()
