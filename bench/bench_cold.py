"""The first read of a file: nothing of it in the page cache, in turns with `cat` and with a second read."""

import mmap
import os

from bench_inputs import BenchError
from bench_measure import Row, wall_seconds

# The input, what a first read may cost in times of what it is held against, and that.
COLD = [("H", 1.2, 1.0, "the longer one", max), ("HC", 1.1, 0.9, "both", lambda cat, warm: cat + warm)]


def evict(path):
    """Drops the file from the page cache; raises if some of it stays."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        left = resident_bytes(file)
    if left > os.path.getsize(path) // 100:
        raise BenchError(f"{path}: {left} bytes stay in the page cache (on a file system in memory?)")


def resident_bytes(file):
    """By reading without waiting, which fails for what is not there: one look a megabyte."""
    step, found = 1 << 20, 0
    for offset in range(0, os.fstat(file.fileno()).st_size, step):
        try:
            found += step * os.preadv(file.fileno(), [bytearray(1)], offset + mmap.PAGESIZE, os.RWF_NOWAIT)
        except BlockingIOError:
            pass
    return found


def cold_rows(bench):
    """cat, a first and a second report, each round in this order."""
    rows = []
    for name, target, stretch, against, combine in COLD:
        path = bench.inputs.make(name)
        seconds = {"cat": [], "cold": [], "warm": []}
        for _ in range(bench.runs):
            evict(path)
            seconds["cat"].append(wall_seconds(["cat", path]))
            evict(path)
            seconds["cold"].append(wall_seconds(bench.report(path)))
            seconds["warm"].append(wall_seconds(bench.report(path)))
        ratios = [cold / combine(cat, warm) for cat, cold, warm in zip(*seconds.values())]
        rows += [
            Row(f"cat {name}, not in the page cache", seconds["cat"], "s"),
            Row(f"report on {name}, -j2, not in the page cache", seconds["cold"], "s"),
            Row("  once more", seconds["warm"], "s"),
            Row(f"  the first in times of cat and the second, {against}", ratios, "x", target, stretch, at_most=True),
        ]
    return rows
