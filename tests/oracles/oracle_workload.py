#!/usr/bin/env python3
"""Compares reports of random programs with the truth, whichever way their traces are written.

    oracle_workload.py             one program a way; odd places of windows take turns
    LONG=1 oracle_workload.py      ten longer programs a way, each in all windows
    SEED=7 ONLY=keyed,wow64 ...    other programs, and some ways

A way is a row of WAYS: options of `make_trace workload`. How a trace is written and what is asked
of it meet nowhere in the program but in the events, so the short form asks each way for the whole
trace and for PLACES of the windows of oracle_truth.py: seven ways share a window. The seed of a
failure is in its name, and `make_trace workload` makes the trace again.
"""

import os
import subprocess

from oracle_support import LONG, WORK, Results
from oracle_truth import compare_trace

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
SEED = int(os.environ.get("SEED", "1"))
ONLY = [name for name in os.environ.get("ONLY", "").split(",") if name]
WINDOWS = 9
SEEDS, EVENTS, PLACES = (10, 6000, WINDOWS) if LONG else (1, 1500, 3)

WAYS = {
    "plain": "",
    "compressed": "--compress",
    "keyed": "--keys",
    "keyed-reused": "--keys --key-slots 8 --cpus 2",
    "keyed-compressed": "--keys --compress --cpus 8",
    "tidless": "--tidless",
    "tidless-keyed": "--tidless --keys --compress",
    "one-cpu": "--cpus 1",
    "many-cpus": "--cpus 64 --buffer-bytes 8192",
    "small-buffers": "--buffer-bytes 4096",
    "large-buffers": "--buffer-bytes 1048576 --compress",
    "flushed-often": "--flush-ticks 2000 --cpus 3",
    "one-stream": "--one-stream",
    "bits-32": "--pointer-bytes 4 --keys",
    "wow64": "--wow64",
    "system-clock": "--clock 2",
    "cycle-clock": "--clock 3 --hz 2400000000",
    "odd-frequency": "--hz 3117777 --compress",
    "slow-clock": "--hz 100000",
    "rundown-at-the-end": "--end-rundown",
    "two-files": "--split",
}


class Reports(Results):
    """Comparisons of one way, of which only the sum is printed."""

    def __init__(self):
        super().__init__()
        self.wrong = []

    def check(self, name, good, *details):
        self.count += 1
        if not good:
            self.failed += 1
            self.wrong += [name, *details]


def places(turn):
    """Numbers of the windows that a way is asked for; the whole trace is number 0."""
    return {0, *(1 + (4 * turn + i) % WINDOWS for i in range(PLACES))}


def try_way(results, name, options, seed, turn):
    trace, other = (os.path.join(WORK, f"{name}-seed-{seed}{end}") for end in (".etl", "-heap.etl"))
    truth = f"{trace}.truth.json"
    words = ["--seed", str(seed), "--events", str(EVENTS), "--truth", truth, *options.split()]
    if name == "two-files":
        words.append(other)
    label = f"{name}, seed {seed}"
    made = subprocess.run([MAKE_TRACE, "workload", trace, *words], capture_output=True, check=False)
    if made.returncode != 0:
        results.check(f"{label}: make_trace workload {' '.join(words)}", False, made.stderr.decode(errors="replace"))
        return
    reports = Reports()
    traces = [trace, other] if name == "two-files" else [trace]
    compare_trace(reports, traces, truth, WINDOWS, seed, places(turn), turn)
    results.check(f"{label}: {reports.count - reports.failed} of {reports.count} reports equal the truth",
                  reports.count > 0 and not reports.failed, f"make_trace workload {' '.join(words)}",
                  *(line[:280] for line in reports.wrong[:6]))
    for path in (*traces, truth):
        os.remove(path)


def main():
    results = Results()
    for round_number in range(SEEDS):
        for turn, (name, options) in enumerate(WAYS.items()):
            if not ONLY or name in ONLY:
                try_way(results, name, options, (SEED + round_number) * 1000 + turn + 1, turn)
    results.finish()


if __name__ == "__main__":
    main()
