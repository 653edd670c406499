#!/usr/bin/env python3
"""`--skip N`: rows N and on of the same answer without it, and nothing else.

The whole answer of `report`, `windows` and `allocations` on a random trace, its store and its summary is cut
here, in JSON, CSV and text, with and without --top. Documents must have only the frames and stacks that their
rows refer to, numbered in order of first use, and the same totals.
"""

import json
import os
import re
import subprocess

from oracle_support import WORK, Results, run, run_json

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
OPTIONS = ["--no-symbols", "--no-cull"]
CUTS = [(0, None), (1, None), (7, 3), (40, 1), (3, 10**6), (10**6, 5)]
STACKS, FRAMES = ("stack", "free_stack", "impacting_stack"), ("site", "frame", "free_site")


def plain(document, row):
    """The row with its frames in place of their numbers."""
    frame = lambda index: None if index is None else json.dumps(document["frames"][index])
    out = dict(row)
    for key in row:
        if key in STACKS and row[key] is not None:
            out[key] = [frame(index) for index in document["stacks"][row[key]]]
        elif key in FRAMES:
            out[key] = frame(row[key])
    return out


def is_tidy(document, rows):
    """All frames and stacks are used, and their numbers are in order of first use."""
    frames, stacks = {}, {}  # as sets that keep their order
    use = lambda numbers, number: None if number is None else numbers.setdefault(number)
    for row in rows:
        for key in FRAMES:
            use(frames, row.get(key))
        for key in STACKS:
            if row.get(key) is not None and row[key] not in stacks:
                use(stacks, row[key])
                for index in document["stacks"][row[key]]:
                    use(frames, index)
    return list(frames) == list(range(len(document["frames"]))) and list(stacks) == list(range(len(document["stacks"])))


def options_of(skip, top):
    return (["--skip", skip] if skip else []) + (["--top", top] if top else [])


def cut(rows, skip, top):
    return rows[skip:][:top]


def compare_report(results, name, source, *grouping):
    whole = run_json("report", source, *OPTIONS, *grouping)
    lines = run("report", source, *OPTIONS, *grouping, "--format", "csv").splitlines()
    wanted = [plain(whole, row) for row in whole["rows"]]
    for skip, top in CUTS:
        given = [*grouping, *options_of(skip, top)]
        part = run_json("report", source, *OPTIONS, *given)
        results.check(f"report of {name}, {given}", [plain(part, row) for row in part["rows"]] == cut(wanted, skip, top))
        results.check(f"report of {name}, {given}: totals, frames", part["totals"] == whole["totals"] and
                      is_tidy(part, part["rows"]))
        got = run("report", source, *OPTIONS, *given, "--format", "csv").splitlines()
        results.check(f"report of {name}, {given}: CSV", got == lines[:1] + cut(lines[1:], skip, top))
    return wanted


def compare_text(results, source, wanted):
    """The text lists as many rows as JSON has, from the same on, and says which; groups sum all rows."""
    for skip, top in CUTS[1:]:
        given = ["--group-by", "kind,process,site", *options_of(skip, top)]
        text = run("report", source, *OPTIONS, *given, "--columns", "count").decode()
        listed = len(cut(wanted, skip, top or 25))
        rows = [line for line in text.splitlines() if re.match(r"    \S", line)]
        says = (f"Row {skip + 1:,} of" if listed == 1 else f"Rows {skip + 1:,} to {skip + listed:,} of") if listed else "No row is listed"
        counts = sorted(int(line.split()[-1].replace(",", "")) for line in rows)
        results.check(f"text {given}", len(rows) == listed and counts == sorted(row["count"] for row in cut(wanted, skip, top or 25)) and
                      re.search(says + rf".* {len(wanted):,}\b", text), says, text[-300:])
        kept = [line for line in text.splitlines() if re.match(r"heap ", line)][1:]
        total = sum(row["count"] for row in wanted if row["kind"] == "heap")
        results.check(f"text {given}: sums of all rows", all(int(line.split()[-1].replace(",", "")) == total for line in kept))


def compare_windows(results, name, source):
    """Windows have rows only of groups with memory in them; one window over everything has all, in order."""
    grouping = ["--group-by", "kind,process,site"]
    group = lambda document, row: [row["kind"], row["pid"], plain(document, row)["site"]]
    one = run_json("windows", source, *OPTIONS, "--every", "3600s", *grouping)
    order = [group(one, row) for row in one["windows"][0]["rows"]]
    whole = run_json("windows", source, *OPTIONS, "--every", "5ms", *grouping)
    for skip, top in CUTS:
        part = run_json("windows", source, *OPTIONS, "--every", "5ms", *grouping, *options_of(skip, top))
        kept = cut(order, skip, top)
        wanted = [[plain(whole, row) for row in window["rows"] if group(whole, row) in kept] for window in whole["windows"]]
        got = [[plain(part, row) for row in window["rows"]] for window in part["windows"]]
        results.check(f"windows of {name}, {skip} {top}", got == wanted and len(order) > 8)


def compare_allocations(results, name, source, *sorting):
    whole = run_json("allocations", source, *OPTIONS, *sorting)
    wanted = [plain(whole, row) for row in whole["rows"]]
    texts = {form: run("allocations", source, *OPTIONS, *sorting, "--format", form).splitlines() for form in ("csv", "ndjson", "text")}
    for skip, top in CUTS[1:4]:
        part = run_json("allocations", source, *OPTIONS, *sorting, *options_of(skip, top))
        results.check(f"allocations of {name}, {sorting} {skip} {top}", [plain(part, row) for row in part["rows"]] == cut(wanted, skip, top))
        for form, lines in texts.items():
            head = 0 if form == "ndjson" else 1
            got = run("allocations", source, *OPTIONS, *sorting, *options_of(skip, top), "--format", form).splitlines()
            results.check(f"allocations of {name} as {form}, {sorting} {skip} {top}", got == lines[:head] + cut(lines[head:], skip, top))


def main():
    results = Results()
    trace, store, summary = (os.path.join(WORK, f"skip.{suffix}") for suffix in ("etl", "ehs", "s.ehs"))
    subprocess.run([MAKE_TRACE, "workload", trace, "--seed", "6", "--events", "700"], check=True, capture_output=True)
    run("store", trace, "-o", store)
    run("store", trace, "--summary", "-o", summary)
    compare_report(results, "a trace", trace)
    compare_report(results, "a store", store, "--group-by", "site,free_site,free_stack")
    compare_report(results, "a summary", summary, "--group-by", "process,stack,module")
    compare_text(results, trace, compare_report(results, "a trace", trace, "--group-by", "kind,process,site"))
    compare_windows(results, "a trace", trace)
    compare_allocations(results, "a trace", trace)
    compare_allocations(results, "a store", store, "--sort", "size")
    results.finish()


if __name__ == "__main__":
    main()
