#!/usr/bin/env python3
"""
Goal: without -j, the program uses the processors that it may use, not those of the computer.
Method: the program is run under a mask of processors, and, where the test may make a control
group, under a quota; `--version` must say so.
"""

import os
import re
import shutil
import subprocess

from oracle_support import ETLHEAP, Results

QUOTA_US, PERIOD_US = 50000, 100000  # half a processor: one thread


def default_jobs(prefix=(), before=None):
    out = subprocess.run([*prefix, ETLHEAP, "--version"], capture_output=True, text=True, check=True,
                         preexec_fn=before).stdout
    found = re.search(r"^threads    (\d+) by default \((\d+) processors online\)$", out, re.M)
    return (int(found[1]), int(found[2])) if found else (None, out)


def make_group():
    """A new control group with half a processor, or None; the file to put a process in."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for fields in mounts:
        tail = fields[fields.index("-") + 1:]
        is_v2 = tail[0] == "cgroup2"
        if not is_v2 and not (tail[0] == "cgroup" and "cpu" in tail[2].split(",")):
            continue
        folder = os.path.join(fields[4], f"etlheap-test-{os.getpid()}")
        try:
            os.mkdir(folder)
            limits = [("cpu.max", f"{QUOTA_US} {PERIOD_US}")] if is_v2 else [
                ("cpu.cfs_period_us", str(PERIOD_US)), ("cpu.cfs_quota_us", str(QUOTA_US))]
            for name, text in limits:
                with open(os.path.join(folder, name), "r+", encoding="utf-8") as file:
                    file.write(text)
            return folder
        except OSError:
            if os.path.isdir(folder):
                os.rmdir(folder)
    return None


def enter(folder):
    with open(os.path.join(folder, "cgroup.procs"), "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))


def check_mask(results):
    mine = sorted(os.sched_getaffinity(0))
    jobs, online = default_jobs()
    results.check("no more threads than the process may use", jobs is not None and 1 <= jobs <= len(mine),
                  f"{jobs} threads, {len(mine)} processors, {online} online")
    if not shutil.which("taskset"):
        results.skip("one thread under taskset", "there is no taskset")
        return
    results.equal("one thread under taskset", default_jobs(["taskset", "-c", str(mine[0])]), (1, online))


def check_quota(results):
    folder = make_group()
    if folder is None:
        results.skip("one thread under a quota of half a processor", "a control group cannot be made here")
        return
    try:
        results.equal("one thread under a quota of half a processor", default_jobs(before=lambda: enter(folder))[0], 1)
    finally:
        os.rmdir(folder)


def main():
    results = Results()
    check_mask(results)
    check_quota(results)
    results.finish()


if __name__ == "__main__":
    main()
