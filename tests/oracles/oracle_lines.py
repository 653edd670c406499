#!/usr/bin/env python3
"""A row that adds up several source lines names them all, and --group-by source_line divides it.

History::append of the demo leaks at history.cpp:41 and :45, as their symbols say (see
make_demo_symbols.c). Compared with another run, rows are functions, so both lines
are one row: every output of `diff` and `check` has to name both. Rows by source line are those by
stack, added up here by the file and line of the innermost frame.
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


def by_stack(document, measures):
    """{(kind, FILE:LINE of the innermost frame): sums}, of rows grouped by stack."""
    sums = {}
    for row in document["rows"]:
        frame = {"file": None, "line": None} if row["stack"] is None else document["frames"][document["stacks"][row["stack"]][0]]
        line = None if frame["file"] is None or frame["line"] is None else f"{frame['file']}:{frame['line']}"
        before = sums.setdefault((row["kind"], line), [0] * len(measures))
        sums[row["kind"], line] = [value + row[name] for value, name in zip(before, measures)]
    return sums


def check_key(results, folder):
    measures = ["count", "size", "outstanding_size", "impacting_size", "realloc_count"]
    subprocess.run([ETLHEAP, "store", "demo.etl", "-o", "demo.ehs"], cwd=folder, check=True)
    subprocess.run([ETLHEAP, "store", "demo.etl", "--summary", "-o", "sums.ehs"], cwd=folder, check=True)
    for name, options in (("demo.etl", []), ("demo.ehs", ["-j", "3"]), ("sums.ehs", []), ("demo.etl", ["--from", "3s", "--to", "9s"]),
                          ("demo.ehs", ["--no-cull", "--size", "..5K"]), ("demo.etl", ["--require-frame", "*append"])):
        ask = ("report", name, "--format", "json", *options, "--group-by")
        wanted = by_stack(json.loads(run(folder, *ask, "kind,stack")), measures)
        rows = json.loads(run(folder, *ask, "kind,source_line"))["rows"]
        got = {(row["kind"], row["source_line"]): [row[name] for name in measures] for row in rows}
        results.equal_maps(f"{name} {' '.join(options)}: {len(wanted)} source lines", got, wanted)
        results.check(f"{name} {' '.join(options)}: no two rows have one line", len(got) == len(rows) > 0, rows)
    windows = json.loads(run(folder, "windows", "demo.etl", "--every", "5s", "--group-by", "kind,source_line", "--format", "json"))
    for window in windows["windows"]:
        ask = ("report", "demo.etl", "--from", f"{window['from_ns']}ns", "--to", f"{window['to_ns']}ns", "--at-exit", "freed", "--format",
               "json", "--group-by", "kind,source_line")
        wanted = {(row["kind"], row["source_line"]): row["outstanding_size"] for row in json.loads(run(folder, *ask))["rows"]}
        got = {(row["kind"], row["source_line"]): row["outstanding_size"] for row in window["rows"]}
        results.equal(f"window from {window['from_ns']}: as the report", {k: v for k, v in got.items() if v}, {k: v for k, v in wanted.items() if v})
    for options in (["--group-by", "site"], ["--group-by", "process,site"], ["--group-by", "site", "--format", "markdown"]):
        text = run(folder, "report", "demo.etl", "--kind", "heap", *options)
        results.check(f"a function names its lines: {' '.join(options)}", text.count(BOTH) == 1 and "ui.cpp:26, 32, 39" in run(
            folder, "report", "demo.etl", "--kind", "heap", "--top", "all", *options), text)
    frames = json.loads(run(folder, "report", "demo.etl", "--group-by", "site", "--format", "json"))["frames"]
    results.equal("JSON says that the line of a function is not one", {frame["line"] for frame in frames if frame["symbol"] == "History::append"}, {None})
    nameless = json.loads(run(folder, "report", "demo.etl", "--no-symbols", "--group-by", "kind,source_line", "--format", "json"))
    results.equal("without symbols no line is known", {row["source_line"] for row in nameless["rows"]}, {None})
    text = run(folder, "report", "demo.etl", "--group-by", "site,source_line")
    results.check("text shows both lines of the function", all(rf"history.cpp:{line}" in text for line in (41, 45)), text)


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
    for name in ("text", "markdown"):
        results.check(f"diff of sites as {name}", BOTH in run(folder, *compared, "--group-by", "site", "--format", name))
    gate = ("check", "longer.etl", "--baseline", "demo.etl", "--max-growth", "heap/stack:1K")
    for name in ("text", "markdown", "junit"):
        text = run(folder, *gate, "--format", name)
        results.check(f"check as {name}", BOTH in text and "history.cpp:41 " not in text and "history.cpp:41\n" not in text)
    check_sarif(results, json.loads(run(folder, *gate, "--format", "sarif")))
    single = run(folder, "check", "longer.etl", "--max-outstanding", "heap/stack:1K")
    check_key(results, folder)
    results.check("rows of one run have one line each", "history.cpp:41\n" in single and BOTH not in single)
    results.finish()


if __name__ == "__main__":
    main()
