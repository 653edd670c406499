"""Runs another revision and this one over all commands, formats and inputs, and lists what differs.

    make compare REV=v1.0                      all of it
    make compare REV=HEAD~3 ONLY='^report '    runs whose command line matches
    make compare REV=HEAD~3 INPUTS='^real-'    inputs whose name matches
    make compare REV=HEAD~3 ACCEPT=known.txt   lines PATTERN -- REASON: PATTERN is searched for in
                                               "COMMAND LINE > OUTPUT | NAME: PLACE", place by place
                                               (since-8500652a.txt here is such a file)

The other revision is built in a git worktree build/compare/COMMIT, which stays. Both
programs read the same inputs (inputs.py) with the same words (rows.py), in folders of
their own that have names of one length. Status, stdout, stderr and each file that is
written are compared byte by byte; what differs is decoded and grouped by what it is.
Results: build/compare/run/differences.txt. Status 1 when anything differs.
"""

import argparse
import os
import re
import shutil
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

from compare import inputs as inputs_table
from compare import rows as rows_table
from compare.cells import Runner, cells_of, store_cells
from compare.differences import accept, read_accepted
from compare.revision import RevisionError, build_revision
from compare.self_check import complaints_of
from compare.vocabulary import ask, only_in, united

SHOWN_MAX = 6  # outputs of a kind on the terminal; the file has all


class Clock:
    """Time by part of the run."""

    def __init__(self):
        self.parts = []
        self.at = time.monotonic()

    def part(self, name):
        now = time.monotonic()
        self.parts.append((name, now - self.at))
        self.at = now


def note(text):
    print(text, file=sys.stderr, flush=True)


def run_cells(runner, cells, jobs):
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(runner.run, cells))


def compare(options):
    clock = Clock()
    accepted = read_accepted(options.accept) if options.accept else []
    old_program = options.old or build_revision(options.rev, options.work)
    clock.part(f"build {options.rev}")
    old, new = ask(old_program), ask(options.etlheap)
    everything = united(old, new)
    complaints = complaints_of(new)
    if complaints:
        note("compare: rows.py does not have everything:\n  " + "\n  ".join(complaints))
        return 2
    folder = os.path.join(options.work, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    all_inputs = inputs_table.make_all(os.path.join(folder, "in"), options.make_trace, options.traces,
                                       re.compile(options.inputs).search)
    if not all_inputs:
        note(f"compare: no input matches --inputs {options.inputs}")
        return 2
    clock.part(f"make {len(all_inputs)} inputs")
    if not options.inputs and not any(given.name.startswith("real-") for given in all_inputs):
        note(f"compare: no real traces at {options.traces}; made ones alone are compared")
    runner = Runner(folder, {"old": old_program, "new": options.etlheap}, {"old": old, "new": new}, options.seconds)
    chosen = re.compile(options.only)
    results = []
    for name, cells in (("stores", store_cells(rows_table.STORES, all_inputs)),
                        ("merges", store_cells(rows_table.MERGES, all_inputs))):
        results += run_cells(runner, cells, options.jobs)
        clock.part(f"{len(cells)} {name}")
    stores = sorted(set(os.listdir(os.path.join(folder, "old", "own"))) | set(os.listdir(os.path.join(folder, "new", "own"))))
    cells = [cell for cell in cells_of(rows_table.ROWS, all_inputs, stores, everything) if chosen.search(cell.text)]
    if not cells:
        note(f"compare: no run matches --only '{options.only}' of these inputs")
        return 2
    for command in dict.fromkeys(cell.command for cell in cells):
        own = [cell for cell in cells if cell.command == command]
        results += run_cells(runner, own, options.jobs)
        clock.part(f"{len(own)} of {command}")
    return tell(results, accepted, options, only_in(old, new), only_in(new, old), clock, folder)


def tell(results, accepted, options, only_old, only_new, clock, folder):
    groups, allowed = defaultdict(list), Counter()
    for result in results:
        for output, difference in result.differences:
            found = accept(f"{result.cell.text} > {output}", difference, accepted)
            if found:
                allowed.update({one.reason for one in found})
            else:
                groups[(result.cell.command, difference.kind)].append((result, output, difference))
    skipped = [result for result in results if result.skipped]
    path = os.path.join(folder, "differences.txt")
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    with open(path, "w", encoding="utf-8") as file:
        for (command, kind), members in ordered:
            print(f"== {command} | {kind} ({len(members)})", file=file)
            for result, output, difference in members:
                print(f"etlheap {result.cell.text} > {output}", file=file)
                print("".join(f"  {line}\n" for line in difference.lines), end="", file=file)
    for (command, kind), members in ordered:
        print(f"\n{command} | {kind}: {len(members)} outputs")
        print("".join(f"  {line}\n" for line in members[0][2].lines), end="")
        for result, output, _ in members[:SHOWN_MAX]:
            print(f"    etlheap {result.cell.text} > {output}")
        if len(members) > SHOWN_MAX:
            print(f"    and {len(members) - SHOWN_MAX} more")
    print()
    for name, words in ((options.rev, only_old), ("this tree", only_new)):
        print("".join(f"only {name} knows {word}\n" for word in words), end="")
    for option, count in Counter(option for result in results for option in result.left_out).items():
        print(f"{option} was left out of {count} runs: only one revision knows it")
    for reason, count in Counter(result.skipped for result in skipped).items():
        print(f"{count} runs not compared: only one revision knows {reason}")
    for reason, count in allowed.items():
        print(f"{count} differences accepted: {reason}")
    for one in accepted:
        if not one.used:
            print(f"nothing is accepted by: {one.pattern.pattern} -- {one.reason}")
    print("\n   seconds  part")
    for name, seconds in clock.parts:
        print(f"{seconds:10.1f}  {name}")
    spent = {side: sum(result.seconds[side] for result in results if result.seconds) for side in ("old", "new")}
    print(f"{spent['old']:10.1f}  all runs of {options.rev}\n{spent['new']:10.1f}  all runs of this tree")
    total = sum(len(members) for members in groups.values())
    compared = len(results) - len(skipped)
    print(f"\n{compared} runs compared, {total} outputs differ in {len(groups)} ways"
          + (f" (all of them: {path})" if total else ""))
    return 1 if total or not compared else 0


def main():
    parser = argparse.ArgumentParser(prog="compare", description=__doc__.splitlines()[0])
    parser.add_argument("--rev", required=True)
    parser.add_argument("--etlheap", required=True, help="the program of this tree")
    parser.add_argument("--make-trace", required=True)
    parser.add_argument("--traces", default="../shared/traces")
    parser.add_argument("--work", default="build/compare")
    parser.add_argument("--old", help="a program that is compared in place of one built of --rev")
    parser.add_argument("--accept", help="file of differences that are meant: PATTERN -- REASON")
    parser.add_argument("--only", default="", help="runs whose command line has this pattern")
    parser.add_argument("--inputs", default="", help="inputs whose name has this pattern (inputs.py)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=120, help="after which a run is stopped")
    options = parser.parse_args()
    for name in ("etlheap", "make_trace", "work", "old"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    try:
        return compare(options)
    except (RevisionError, ValueError, OSError) as error:
        note(f"compare: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
