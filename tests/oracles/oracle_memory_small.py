#!/usr/bin/env python3
"""What --memory says is needed for small traces, against what is enough.

oracle_memory.py does this for large traces. A small one is read before anything is known of its
growth, so the need is a guess. Each question is refused under a tiny limit. With the memory that
the refusal names it must be answered, and that must be at most NEED_TIMES of the least limit that
is enough, which is searched by bisection.
"""

import os
import re
import subprocess

from oracle_support import ETLHEAP, UNDER_WINE, WORK, Results, skip_all

# Sanitizers hold memory of their own, so there the program does not measure what it holds.
OUT = os.environ.get("OUT", "build/check")
IS_MEASURED = os.path.exists(os.path.join(OUT, "memory_count.so"))
MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/check/make_trace")
NEED_TIMES = 8
LEAST_KIB = 1024  # below that, the named need may be larger
TRACES = [["demo"], ["demo", "--compress"], ["workload", "--events", "4000", "--compress", "--keys"],
          ["workload", "--events", "20000"], ["kitchen-sink"]]
QUESTIONS = ["report", "report --tree", "report --format json", "report --group-by process,site", "info", "symbols",
             "report --growth", "report --group-by thread", "report --suspects", "windows", "export --format html"]


def attempt(question, trace, kib):
    command, *rest = question.split()
    done = subprocess.run([ETLHEAP, command, trace, *rest, "-o", os.path.join(WORK, "small.out"), "--memory",
                           f"{kib}K", "-j", "2"], capture_output=True, check=False, text=True)
    return done.returncode, done.stderr


def least_of(question, trace):
    low, high = 0, 128 << 10
    while high - low > max(64, high // 8):
        middle = (low + high) // 2
        low, high = (low, middle) if attempt(question, trace, middle)[0] == 0 else (middle, high)
    return high


def main():
    if not IS_MEASURED:
        skip_all("the program names no need of memory under sanitizers; run it with VARIANT=check")
    if UNDER_WINE:
        skip_all("Wine does not enforce the limits of a job, by which the program measures its need; run it on Windows")
    results = Results()

    def check(*details, good):
        results.check(f"{question} of {' '.join(options)}", bool(good), *details)
        return good

    for number, options in enumerate(TRACES):
        trace = os.path.join(WORK, f"small-{number}.etl")
        subprocess.run([MAKE_TRACE, options[0], trace, *options[1:]], stdout=subprocess.DEVNULL, check=True)
        for question in QUESTIONS:
            status, said = attempt(question, trace, 64)
            named = re.search(r"needs about ([0-9]+)M", said)
            if not check(status, said, good=status == 3 and named):
                continue
            need = int(named[1]) << 10
            check(f"{need} KiB are not enough", good=attempt(question, trace, need)[0] == 0)
            least = max(least_of(question, trace), LEAST_KIB)
            check(f"{need} KiB are named, and {least} KiB are enough", good=need <= NEED_TIMES * least)
    results.finish()


main()
