"""The first read of a file: nothing of it in the page cache, in turns with `cat` and with a second read."""

import ctypes
import mmap
import os

from bench_inputs import BenchError, run_quietly
from bench_measure import Row, wall_seconds

# The input, what a first read may cost in times of what it is held against, and that.
COLD = [("H", 1.2, 1.0, "the longer one", max), ("HC", 1.1, 0.9, "both", sum), ("H.ehs", 1.1, 0.9, "both", sum)]


def evict(path):
    """Drops the file from the page cache; raises if some of it stays."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        left = resident_bytes(file)
    if left > os.path.getsize(path) // 100:
        raise BenchError(f"{path}: {left} bytes stay in the page cache (on a file system in memory?)")


def resident_bytes(file):
    """How much of the file is in the page cache, by mincore: reading to find out would bring pages in."""
    size = os.fstat(file.fileno()).st_size
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    # A private mapping that Python can take the address of; no page of it is touched.
    with mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapping:
        states = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
        first = ctypes.c_char.from_buffer(mapping)
        failed = libc.mincore(ctypes.addressof(first), size, states)
        del first
    if failed:
        raise OSError(ctypes.get_errno(), "mincore", file.name)
    return mmap.PAGESIZE * sum(state & 1 for state in bytes(states))


def cold_input(bench, name):
    """The file, and what is asked of it: of a store, what reads all events."""
    if not name.endswith(".ehs"):
        path = bench.inputs.make(name)
        return path, bench.report(path)
    path = bench.inputs.path(name)
    run_quietly([bench.etlheap, "store", bench.inputs.make(os.path.splitext(name)[0]), "-o", path])
    return path, bench.report_with_peaks(path)


def cold_rows(bench):
    """cat, a first and a second report, each round in this order."""
    rows = []
    for name, target, stretch, against, combine in COLD:
        path, report = cold_input(bench, name)
        seconds = {"cat": [], "cold": [], "warm": []}
        for _ in range(bench.runs):
            evict(path)
            seconds["cat"].append(wall_seconds(["cat", path]))
            evict(path)
            seconds["cold"].append(wall_seconds(report))
            seconds["warm"].append(wall_seconds(report))
        ratios = [cold / combine((cat, warm)) for cat, cold, warm in zip(*seconds.values())]
        rows += [
            Row(f"cat {name}, not in the page cache", seconds["cat"], "s"),
            Row(f"report on {name}, -j2, not in the page cache", seconds["cold"], "s"),
            Row("  once more", seconds["warm"], "s"),
            Row(f"  the first in times of cat and the second, {against}", ratios, "x", target, stretch, at_most=True),
        ]
    return rows
