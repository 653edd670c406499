#!/usr/bin/env python3
"""Goal: `etlheap trend` finds what was planted in the runs of a program: which site drifts, steps, is
new or gone, since which run, by how much, in each format, from traces, stores and summaries, in any
order of the command line.

Method: five traces are built in which the size of each site is known. What trend says is compared
with the plan, and its sizes with five reports of single traces.
"""

import calendar
import csv
import io
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

from oracle_support import ETLHEAP, Results, run, run_json

OUT = os.environ.get("OUT", "build/check")
WORK = tempfile.mkdtemp(dir=os.environ.get("TEST_TMP"))
MAKE_SYMBOL_TRACE = os.path.join(OUT, "make_symbol_trace")
BASE = 0x7FF600000000

# Offset of the site: sizes in each run, pattern, slope, change, first run, run of the turn.
PLAN = {
    0x1000: ([100, 200, 300, 400, 500], "drift", 100, 400, 1, None),
    0x1100: ([5000, 5000, 5000, 9000, 9000], "step", 1333, 4000, 1, 4),
    0x1200: ([0, 0, 700, 700, 700], "new", 233, 700, 3, 3),
    0x1300: ([600, 600, 0, 0, 0], "gone", -200, -600, 1, 3),
    0x1400: ([64, 64, 64, 64, 64], "steady", 0, 0, 1, None),
    0x1500: ([10, 90, 20, 80, 30], "noise", 5, 20, 1, None),
}


def made_run(number, stamp=5):
    """One module, at another address in each run; the header's start is a day after that of the run before."""
    base = BASE + 0x1000000 * number
    lines = [f"module \\Device\\HarddiskVolume3\\App.exe {base:x} 100000 {stamp:x}\n"]
    for offset, (sizes, *_) in PLAN.items():
        if sizes[number]:
            lines.append(f"alloc {sizes[number]:x} {base + offset:x} {base + 0x9000 + 16 * number:x}\n")
    path = os.path.join(WORK, f"run{number}-{stamp}.etl")
    subprocess.run([MAKE_SYMBOL_TRACE, path], input="".join(lines), text=True, check=True)
    return path


def moved(path, start, days):
    """A copy whose recording started days later: the one place of the start time is in the first buffer."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    before = struct.pack("<Q", start)
    at = data.find(before, 0, 4096)
    assert at > 0 and data.find(before, at + 8, 4096) < 0
    data[at:at + 8] = struct.pack("<Q", start + days * 864000000000)
    copy = path.replace(".etl", f"-day{days}.etl")
    with open(copy, "wb") as file:
        file.write(data)
    return copy


def curves(document):
    """By offset of the site: what the plan has."""
    found = {}
    for row in document["rows"]:
        offset = int(document["frames"][row["site"]]["offset"], 16) if isinstance(row["site"], int) else row["site"]
        found[offset] = (row["sizes"], row["pattern"], row["slope"], row["change"], row["first_run"], row["turn_run"])
    return found


def repeated_median(values, runs_across=1):
    """As docs/trend.md defines the slope: the change over as many runs, a whole number."""
    def median(numbers):
        ordered = sorted(numbers)
        low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        return low if low > 0 else min(high, 0)

    def slope(i, k):
        rise, runs = values[max(i, k)] - values[min(i, k)], abs(i - k)
        return abs(rise) * runs_across // runs * (1 if rise > 0 else -1)

    count = len(values)
    return median([median([slope(i, k) for k in range(count) if k != i]) for i in range(count)])


def said(*arguments):
    done = subprocess.run([ETLHEAP, *arguments], capture_output=True, check=False, text=True)
    return done.returncode, done.stderr


def check_plan(results, runs):
    wanted = {offset: (sizes, pattern, repeated_median(sizes), *rest[1:])
              for offset, (sizes, pattern, *rest) in PLAN.items()}
    wanted = {offset: (*row[:3], repeated_median(row[0], 4) if row[1] in ("drift", "noise") else row[3], *row[4:])
              for offset, row in wanted.items()}
    document = run_json("trend", *runs, "--all")
    results.equal_maps("what was planted is found", curves(document), wanted)
    results.equal("the largest change is first", [abs(row["change"]) for row in document["rows"]],
                  sorted((abs(row[3]) for row in wanted.values()), reverse=True))
    results.equal("totals are sums", document["totals"][0]["sizes"],
                  [sum(row[0][i] for row in PLAN.values()) for i in range(5)])
    without = run_json("trend", *runs)
    results.equal("what is steady is left out", (len(without["rows"]), without["steady_count"]), (5, 1))
    results.equal("--top", [row["pattern"] for row in run_json("trend", *runs, "--top", "1")["rows"]], ["step"])
    reports = [run_json("report", path, "--group-by", "kind,process,site")["totals"][0] for path in runs]
    results.equal("counts are those of reports", document["totals"][0]["counts"],
                  [total["outstanding_count"] for total in reports])
    return document


def check_order(results, runs, document):
    backwards = list(reversed(runs))
    again = run_json("trend", *backwards, "--all")
    results.equal("runs are in the order of their times", [row["file"] for row in again["runs"]], list(runs))
    results.equal("with the same rows", again["rows"], document["rows"])
    forced = run_json("trend", *backwards, "--all", "--in-order")
    results.equal("--in-order keeps the order given", [row["file"] for row in forced["runs"]], backwards)
    results.equal("and curves run the other way", {at: row[0][::-1] for at, row in curves(forced).items()},
                  {at: row[0] for at, row in curves(document).items()})
    status, words = said("trend", runs[0], runs[0], runs[1])
    results.check("equal times are told", status == 0 and "started at the same time" in words, words)


def check_inputs(results, runs, document):
    for kind, options in (("store", ()), ("summary", ("--summary",))):
        stores = []
        for number, path in enumerate(runs):
            stores.append(os.path.join(WORK, f"{kind}{number}.ehs"))
            run("store", path, *options, "-o", stores[-1])
        got = run_json("trend", *stores, "--all")
        results.equal_maps(f"a {kind} of each run says the same", curves(got), curves(document))


def signed(size):
    """A size as texts write it, with three digits."""
    return "0 B" if size == 0 else f"{size:+} B" if abs(size) < 1024 else f"{size / 1024:+.2f} KiB"


def curve_of(sizes):
    """Eight heights, from the least to the largest; between them they are rounded up."""
    least, span = min(sizes), max(sizes) - min(sizes)
    return "".join("\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"[-(-7 * (size - least) // max(1, span))] for size in sizes)


def changes_shown(text):
    """Of each line with a curve of five runs: the change, the run since when, and the curve."""
    found = re.findall(r"B[ |]+([+-]?[\d.]+ K?i?B)[ |]+(\d+|\u2013)[ |]+`?([\u2581-\u2588]{5})`?", text)
    return found[len(found) - 5:]


def check_formats(results, runs, document):
    table = list(csv.DictReader(io.StringIO(run("trend", *runs, "--all", "--format", "csv").decode())))
    flat = [size for row in document["rows"] for size in row["sizes"]]
    results.equal("CSV has a line for each row and run", [int(row["outstanding_size"]) for row in table], flat)
    results.equal("with the number of the run", [int(row["run"]) for row in table], [1, 2, 3, 4, 5] * len(PLAN))
    for name in ("text", "markdown"):
        shown = run("trend", *runs, "--format", name).decode()
        missing = [word for word in ("drift", "step in 4", "new in 3", "gone in 3", "noise") if word not in shown]
        results.check(f"{name} has the patterns", not missing, missing)
        results.equal(f"{name} has what changed from the first run to the last", changes_shown(shown), [
            (signed(row["sizes"][-1] - row["sizes"][0]), str(row["turn_run"] or "\u2013"), curve_of(row["sizes"]))
            for row in run_json("trend", *runs)["rows"]])
        results.equal(f"{name} is the same with any number of threads",
                      run("trend", *runs, "--format", name, "-j1"), run("trend", *runs, "--format", name, "-j7"))


def check_builds(results, start):
    """The program is rebuilt for the third and fourth run, and the first build comes back."""
    runs = [moved(made_run(number, 7 if number in (2, 3) else 5), start, number + 10) for number in range(5)]
    document = run_json("trend", *runs, "--all")
    sizes = [row["sizes"] for row in document["rows"] if 64 in row["sizes"]]
    results.equal("offsets are compared within a build", sorted(sizes), [[0, 0, 64, 64, 0], [64, 64, 0, 0, 64]])
    results.equal("which a hint says", [hint["name"] for hint in document["hints"]], ["builds_differ"])


def main():
    results = Results()
    plain = [made_run(number) for number in range(5)]
    text = run_json("info", plain[0])["trace"]["start_time"]
    start = filetime_of(text)
    runs = [moved(path, start, number + 1) for number, path in enumerate(plain)]
    document = check_plan(results, runs)
    check_order(results, runs, document)
    check_inputs(results, runs, document)
    check_formats(results, runs, document)
    check_builds(results, start)
    results.finish()


def filetime_of(text):
    """Of "2020-07-29T00:07:00.623615000Z"."""
    seconds, fraction = text.rstrip("Z").split(".")
    whole = calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S"))
    return (whole + 11644473600) * 10**7 + int(fraction) // 100


if __name__ == "__main__":
    sys.exit(main())
