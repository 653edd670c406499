#!/usr/bin/env python3
"""
Times this tree against another revision of it, in turns, on the inputs of the
benchmark.

    bench_compare.py --rev REV --etlheap PROGRAM --programs FOLDER --inputs FOLDER
                     --work FOLDER [--runs 5]

The revision is unpacked and built in the folder WORK. Single times vary from
minute to minute on a shared machine; the ratio of two programs that take turns
varies much less.
"""

import argparse
import os
import subprocess
import sys

from bench_inputs import BenchError, Inputs, note, run_quietly
from bench_measure import Row, Rounds, print_table

# What is timed: input, options.
REPORTS = [("H", "-j2"), ("H", "-j1"), ("HK", "-j2"), ("HC", "-j1"), ("V", "-j2")]


def build_revision(rev, work):
    """The program as it was at the revision, built the way `make` builds it."""
    commit = run_quietly(["git", "rev-parse", "--verify", rev + "^{commit}"]).strip()
    folder = os.path.join(work, commit[:12])
    program = os.path.join(folder, "build", "etlheap")
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        note(f"building {commit[:12]} in {folder}")
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("MAKEFLAGS", "MFLAGS", "BUILD", "VARIANT")}
        subprocess.run(["make", "-C", folder, "-s", f"-j{os.cpu_count()}", "all"], check=True,
                       stdout=subprocess.DEVNULL, env=environment)
    return program


def compare(options):
    inputs = Inputs(options.programs, options.inputs)
    inputs.make_all(dict.fromkeys(name for name, _ in REPORTS))
    programs = {"now": options.etlheap, "then": build_revision(options.rev, options.work)}
    rows = []
    for name, jobs in REPORTS:
        path = inputs.make(name)
        inputs.warm(path)
        rounds = Rounds(options.runs)
        for when, program in programs.items():
            rounds.add(when, [program, "report", path, jobs])
        rounds.run()
        rate = inputs.facts(name)["bytes_uncompressed"] / 1e6
        rows += [
            Row(f"report on {name}, {jobs}", rounds.rates("now", rate), "MB/s"),
            Row(f"  {options.rev}", rounds.rates("then", rate), "MB/s"),
            Row("  speed now in speeds then", rounds.ratios("then", "now"), "x"),
        ]
    print_table(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    for name in ("rev", "etlheap", "programs", "inputs", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--runs", type=int, default=5)
    try:
        compare(parser.parse_args())
    except (BenchError, subprocess.CalledProcessError) as error:
        note(f"bench: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
