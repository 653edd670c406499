#!/usr/bin/env python3
"""What the program says if it is given the file of one session, and another one's is missing.

A heap session's file has no processes and modules, a kernel session's has no heap events. The
second writer makes both. Either alone must say which file is missing; both together, and a kernel
session's file that was asked about VirtualAlloc, must not. No other answer may change.
"""

import os
import random
import subprocess
import tempfile

from oracle_support import ETLHEAP, Results
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile

APP, HEAP, START = 1000, 0x1F0000, 1_000_000
NO_KERNEL = "give the kernel session's file as well"
NO_HEAP = "give the heap session's file as well"


def write(path, with_kernel, with_heap):
    file = TraceFile(Clock(QPC, 10_000_000, START, 132_000_000_000_000_000), 1, Style("session", 65536), START, random.Random(1))

    def add(at, hook, version, payload, memory=False):
        file.add(Record(0, START + at, 0, records.system(8, version, hook, 104, APP, START + at, payload), memory))

    if with_kernel:
        add(0, records.PROCESS_RUNDOWN_START, 4, records.process(8, APP << 12, APP, 4, 0, "app.exe", "app.exe"))
        add(5, records.VIRTUAL_ALLOC, 2, records.virtual(8, 0x100000, 4096, APP, 0x3000), True)
    if with_heap:
        add(10, records.HEAP_ALLOC, 2, records.heap_alloc(8, HEAP, 64, 0x10000, 2), True)
    file.cut()
    file.write(path, os.path.basename(path))
    return path


def told(*arguments):
    done = subprocess.run([ETLHEAP, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout, done.stderr


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        heap = write(os.path.join(folder, "heap.etl"), False, True)
        kernel = write(os.path.join(folder, "kernel.etl"), True, False)
        limit = ("--max-outstanding", "heap/process:1M")
        for words in (("report", heap), ("windows", heap), ("allocations", heap), ("check", heap, *limit), ("diff", heap, heap)):
            results.check(f"{words[0]} of a heap session alone names the missing file", NO_KERNEL in told(*words)[1])
        for words in (("report", kernel, "--kind", "heap"), ("windows", kernel, "--kind", "heap"), ("allocations", kernel, "--kind", "heap"),
                      ("check", kernel, *limit), ("diff", kernel, kernel, "--kind", "heap")):
            results.check(f"{words[0]} of heap blocks in a kernel session alone names the missing file", NO_HEAP in told(*words)[1])
        for words in (("report", kernel, "--kind", "heap"), ("windows", kernel, "--kind", "heap"), ("report", kernel, "--kind", "heap", "--format", "markdown")):
            shown = told(*words)[0]
            results.check(f"{' '.join(words[2:])} of {words[0]} does not blame the filters", "the recording has no heap events" in shown and
                          "the filters" not in shown, shown)
        for words in (("report", kernel), ("report", kernel, "--kind", "virtualalloc"), ("windows", kernel),
                      ("report", heap, kernel), ("report", heap, kernel, "--kind", "heap"), ("report", heap, kernel, "--size", "1G..")):
            said = "".join(told(*words))
            results.check(f"nothing is missing: {' '.join(os.path.basename(word) for word in words)}",
                          NO_HEAP not in said and NO_KERNEL not in said and "has no heap events" not in said, said)
    results.finish()


if __name__ == "__main__":
    main()
