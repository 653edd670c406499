#!/usr/bin/env python3
"""
Times reports from the event log of bench_log against those of etlheap, in turns.

    bench_log.py [--etlheap build/etlheap] [--log build/release/bench/bench_log]
                 [--runs 15] [--jobs 2] INPUT...

Throwaway, like bench_log.c. Before anything is timed, both programs must print the same bytes. A
round runs each command once; a ratio is the median of the ratios within the rounds, by wall time
and by processor time. The first command is the one that the others are held against.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

SUMS, PEAKS = [], ["--sort", "peak_size"]


def run(words):
    """Wall seconds, processor seconds and peak resident MiB of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench_log: failed: {' '.join(words)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def output(words):
    done = subprocess.run(words, capture_output=True, check=True)
    return done.stdout, done.stderr.decode().strip()


def measure(options, path):
    def words(program, question):
        return [program, "report", path, f"-j{options.jobs}", *question]

    commands = {f"{name} {what}": words(program, question)
                for what, question in (("sums", SUMS), ("peaks", PEAKS))
                for name, program in (("today", options.etlheap), ("log", options.log))
                if not (path.endswith(".ehs") and what == "sums")}
    for question in (SUMS, PEAKS):
        log, figures = output(words(options.log, question))
        if log != output(words(options.etlheap, question))[0]:
            sys.exit(f"bench_log: outputs differ: {path} {question}")
        print(figures or f"bench_log: {path} answers from the sums in it", flush=True)
    rounds = [{name: run(command) for name, command in commands.items()} for _ in range(options.runs)]
    first = next(iter(commands))
    print(f"{os.path.basename(path)}, -j{options.jobs}, {options.runs} rounds; times of {first}")
    print("  command       wall s  times (low..high)     cpu s  times (low..high)   resident MiB")
    for name in commands:
        line = f"  {name:12s}"
        for which in (0, 1):
            ratios = [each[name][which] / each[first][which] for each in rounds]
            line += (f" {statistics.median(each[name][which] for each in rounds):7.3f}"
                     f" {statistics.median(ratios):6.3f} ({min(ratios):.2f}..{max(ratios):.2f})  ")
        print(line + f" {statistics.median(each[name][2] for each in rounds):8.0f}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--etlheap", default="build/etlheap")
    parser.add_argument("--log", default="build/release/bench/bench_log")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("inputs", nargs="+", metavar="INPUT")
    options = parser.parse_args()
    for path in options.inputs:
        measure(options, path)


if __name__ == "__main__":
    main()
