#!/usr/bin/env python3
"""A row that adds up several source lines names them all.

History::append of the demo leaks at history.cpp:41 and :45, as their symbols say (see
make_demo_symbols.c). Compared with another run, rows are functions, so both lines
are one row: every output of `diff` and `check` has to name both.
"""

import json
import os
import subprocess

from oracle_support import ETLHEAP, WORK, Results

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/check/make_trace"))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
BOTH = "history.cpp:41, 45"


def run(folder, *arguments):
    done = subprocess.run([ETLHEAP, *arguments, "--symbols", "symbols"], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def check_sarif(results, document):
    found = [one for one in document["runs"][0]["results"] if "History::append" in one["message"]["text"]]
    results.equal("SARIF has one result", len(found), 1)
    place = found[0]["locations"][0]["physicalLocation"]
    others = [one["physicalLocation"] for one in found[0].get("relatedLocations", [])]
    lines = sorted(one["region"]["startLine"] for one in (place, *others))
    results.equal("SARIF points to both lines", lines, [41, 45])
    results.equal("of one file", {one["artifactLocation"]["uri"] for one in others}, {place["artifactLocation"]["uri"]})
    frame = found[0]["stacks"][0]["frames"][0]
    results.equal("a frame of SARIF names them", frame["location"].get("message"), {"text": BOTH})


def main():
    results = Results()
    folder = os.path.join(WORK, f"lines-{os.getpid()}")
    os.makedirs(os.path.join(folder, "symbols"))
    for name, scenario in (("demo.etl", "demo"), ("longer.etl", "battery-meter")):
        subprocess.run([MAKE_TRACE, scenario, os.path.join(folder, name)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_SYMBOLS, os.path.join(folder, "symbols")], check=True)

    compared = ("diff", "demo.etl", "longer.etl", "--kind", "heap")
    for name in ("text", "markdown"):
        results.check(f"diff as {name}", BOTH in run(folder, *compared, "--format", name))
    gate = ("check", "longer.etl", "--baseline", "demo.etl", "--max-growth", "heap/stack:1K")
    for name in ("text", "markdown", "junit"):
        text = run(folder, *gate, "--format", name)
        results.check(f"check as {name}", BOTH in text and "history.cpp:41 " not in text and "history.cpp:41\n" not in text)
    check_sarif(results, json.loads(run(folder, *gate, "--format", "sarif")))
    single = run(folder, "check", "longer.etl", "--max-outstanding", "heap/stack:1K")
    results.check("rows of one run have one line each", "history.cpp:41\n" in single and BOTH not in single)
    results.finish()


if __name__ == "__main__":
    main()
