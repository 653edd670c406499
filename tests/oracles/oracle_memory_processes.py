#!/usr/bin/env python3
"""How much memory a process of the trace costs, question by question.

A build server's trace has very many short processes, and no output shows more than some of them.
Two traces differ only in how many processes they have. What memory_count.so counts for one more
process is the difference of both peaks, so what the program takes anyway does not matter. Bounds
are a fifth above what was measured; most of it is what the analysis itself keeps of a process.
"""

import json
import os
import shutil
import subprocess

from oracle_support import ETLHEAP, WORK, Results, skip_all

OUT = os.environ.get("OUT", "build/check")
COUNTER = os.path.realpath(os.path.join(OUT, "memory_count.so"))
MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/check/make_trace")
FEW, MANY = 2000, 8000
# Bytes for each process, with two threads.
BOUNDS = {
    "export --format html": 8000,
    "report": 4300,
    "report --histogram lifetime": 4000,
    "report --histogram size --group-by process": 4000,
    "report --suspects": 4000,
    "report --growth": 4000,
    "report --growth --format json": 4000,
    "report --spikes": 6000,
    "report --map --format json": 4000,
    "report --churn": 4000,
    "windows --every 1ms": 3500,
}
PAGE_BYTES = 4  # of an HTML page, for each process


def run(question, count):
    """The peak of the memory held, and the size of the output."""
    command, *rest = question.split()
    counted, output = os.path.join(WORK, "processes.count"), os.path.join(WORK, "processes.out")
    subprocess.run([ETLHEAP, command, os.path.join(WORK, f"processes-{count}.etl"), *rest, "-j", "2", "-o", output], check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, LD_PRELOAD=os.path.join(WORK, "counter.so"), MEMORY_COUNT=counted))
    with open(counted, encoding="ascii") as file:
        return json.load(file)["peak"], os.path.getsize(output)


def main():
    if not os.path.exists(COUNTER):
        skip_all(f"{COUNTER} is not here: it is built with VARIANT=check, and counts what sanitizers hide")
    results = Results()
    # LD_PRELOAD takes no path with a space; the checkout may have one.
    shutil.copy(COUNTER, os.path.join(WORK, "counter.so"))
    for count in (FEW, MANY):
        subprocess.run([MAKE_TRACE, "processes", os.path.join(WORK, f"processes-{count}.etl"), "--events", str(count)], check=True,
                       stdout=subprocess.DEVNULL)
    for question, bound in BOUNDS.items():
        (few, small), (many, large) = run(question, FEW), run(question, MANY)
        cost = (many - few) / (MANY - FEW)
        results.check(f"{question}: at most {bound} bytes for each process", 0 < cost <= bound, f"{cost:.0f} bytes")
        if "html" in question:
            cost = (large - small) / (MANY - FEW)
            results.check(f"{question}: at most {PAGE_BYTES} bytes of the page", cost <= PAGE_BYTES, f"{cost:.1f} bytes")
    results.finish()


main()
