#!/usr/bin/env python3
"""Values on which an independent model and the program once disagreed, one small trace each.

Each case is written event by event with the second writer, and says what is right and why:
what falls all the time has a steadiness of -100; the measure that is compared decides the state
of a row; keys of a row are in JSON whatever they are; the stop of a nameless event is told from
its start; a drift may be slower than one per run; the largest time is a time like any other; and
equal keys are one row, also if they are generations of blocks of several heaps.
"""

import os
import random
import tempfile

from oracle_support import Results, run, run_json
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile
from second_writer.described import event

APP, HEAP, HZ, START = 1000, 0x1F0000, 10_000_000, 1_000_000
PROVIDER = bytes.fromhex("00112233445566778899aabbccddeeff")


class Trace:
    """One program with one heap; times are in ticks of 100 ns since the start."""

    def __init__(self):
        self.file = TraceFile(Clock(QPC, HZ, START, 132_000_000_000_000_000), 1, Style("session", 65536), START,
                              random.Random(1))
        self.system(0, records.PROCESS_RUNDOWN_START, 4, records.process(8, APP << 12, APP, 4, 0, "app.exe", "app.exe"))

    def system(self, at, hook, version, payload, tid=104, memory=False):
        ticks = START + at
        self.file.add(Record(0, ticks, 0, records.system(8, version, hook, tid, APP, ticks, payload), memory))

    def alloc(self, at, address, size, tid=104, heap=HEAP):
        self.system(at, records.HEAP_ALLOC, 2, records.heap_alloc(8, heap, size, address, 2), tid, True)

    def free(self, at, address, tid=104):
        self.system(at, records.HEAP_FREE, 2, records.heap_free(8, HEAP, address, 2), tid, True)

    def nameless(self, at, event_id, opcode):
        ticks = START + at
        self.file.add(Record(0, ticks, 0, event(8, PROVIDER, event_id, 104, 7, APP, ticks, b"", [], opcode), False))

    def name_thread(self, at, tid, name):
        self.system(at, 0x0548, 2, records.u32(APP, tid) + records.text16(name))

    def write(self, folder, name):
        path = os.path.join(folder, name)
        self.file.cut()
        self.file.write(path, name)
        return path


def check_steadiness(results, folder):
    trace = Trace()
    for i in range(64):
        trace.alloc(10 + i, 0x10000 + 0x1000 * i, 1000)
    for i in range(64):
        trace.free(10000 + 10000 * i, 0x10000 + 0x1000 * i)
    path = trace.write(folder, "falls.etl")
    row = run_json("report", path, "--growth", "--group-by", "process", "--from", "500us")["rows"][0]
    results.equal("what falls all the time", (row["steadiness"], row["growth_rate"] < 0), (-100, True))


def check_states(results, folder):
    """The same number of allocations, of other sizes: unchanged by number, grown by size."""
    paths = []
    for name, size, extra in (("one.etl", 100, 0), ("two.etl", 300, 16)):
        trace = Trace()
        for i in range(3):
            trace.alloc(100 + i, 0x10000 + 0x1000 * i, size)
        if extra:
            trace.alloc(200, 0x90000, extra, tid=105)
        paths.append(trace.write(folder, name))
    def states(*arguments):
        rows = run_json("diff", *paths, "--all", "--group-by", "kind,process", *arguments)["rows"]
        return [row["state"] for row in rows]
    results.equal("diff by size", states(), ["grown"])
    results.equal("diff by count of the same", states("--size", "100..400", "--sort", "outstanding_count"), ["unchanged"])
    results.equal("diff by size of the same", states("--size", "100..400"), ["grown"])
    results.equal("diff --churn by count", states("--churn", "--size", "100..400"), ["unchanged"])
    results.equal("only one run has it", states("--size", "10..20"), ["added"])


def check_thread_names(results, folder):
    trace = Trace()
    trace.name_thread(5, 104, "render")
    trace.alloc(10, 0x10000, 64, tid=104)
    trace.alloc(20, 0x20000, 8, tid=108)
    path = trace.write(folder, "named.etl")
    wanted = [("render", 64), (None, 8)]
    found = run_json("diff", path, path, "--all", "--group-by", "kind,thread_name")["rows"]
    results.equal("diff: thread_name is a key of every row",
                  sorted([(row.get("thread_name", "absent"), row["new_size"]) for row in found], key=lambda row: row[1]), wanted[::-1])
    found = run_json("trend", path, path, path, "--all", "--group-by", "kind,thread_name", "--in-order")["rows"]
    results.equal("trend: likewise",
                  sorted([(row.get("thread_name", "absent"), row["sizes"][0]) for row in found], key=lambda row: row[1]), wanted[::-1])


def check_marks(results, folder):
    trace = Trace()
    for at, opcode in ((100, 1), (200, 2), (300, 0)):
        trace.nameless(at, 7, opcode)
    path = trace.write(folder, "marks.etl")
    guid = "33221100-5544-7766-8899-aabbccddeeff"
    marks = run_json("info", path, "--mark-event", f"{guid}/7")["marks"]
    results.equal("a nameless event that stops", [(mark["name"], mark.get("is_end", False)) for mark in marks],
                  [("7", False), ("7/Stop", True), ("7", False)])


def check_slow_drift(results, folder):
    paths = []
    for number in range(8):
        trace = Trace()
        for i in range(1 + number // 2):
            trace.alloc(100 + i, 0x10000 + 0x1000 * i, 32)
        paths.append(trace.write(folder, f"drift{number}.etl"))
    words = ("trend", *paths, "--in-order", "--group-by", "kind,process", "--sort", "outstanding_count")
    row = run_json(*words)["rows"][0]
    results.equal("a drift of less than one per run", (row["pattern"], row["slope"], row["change"]), ("drift", 0, 3))
    shown = [line for line in run(*words).decode().splitlines() if "  drift " in line]
    results.check("text shows that it is not 0", shown and all(" <1 " in line for line in shown), shown)


def check_largest_time(results, folder):
    trace = Trace()
    trace.alloc(10, 0x10000, 64)
    path = trace.write(folder, "late.etl")
    for name, words in (("report", []), ("report", ["--growth"]), ("windows", []), ("report", ["--churn"])):
        last = run(name, path, *words, "--from", "9223372036854775807ns", "--format", "csv").decode().splitlines()
        before = run(name, path, *words, "--from", "9223372036854775806ns", "--format", "csv").decode().splitlines()
        results.equal(f"{' '.join([name, *words])} from the largest time", len(last), len(before))


def check_generations(results, folder):
    """The second heap has its first event after the mark. The row of a generation is one in any view."""
    trace = Trace()
    trace.alloc(10, 0x10000, 96)
    trace.nameless(100, 7, 0)
    trace.alloc(110, 0x20000, 24)
    trace.alloc(120, 0x30000, 72, heap=HEAP + 0x10000)
    trace.alloc(130, 0x40000, 8, heap=HEAP + 0x20000)
    path = trace.write(folder, "generations.etl")
    mark = ("--mark-event", "33221100-5544-7766-8899-aabbccddeeff/7")
    for words in ([], ["--top", "1"], ["--churn"], ["--growth"], ["--from", "1us"]):
        rows = run_json("report", path, *mark, "--group-by", "generation", *words)["rows"]
        results.equal(f"one row a generation {' '.join(words)}".rstrip(), sorted((row["generation"], row["count"], row["size"]) for row in rows),
                      [(0, 1, 96), (1, 3, 104)] if words != ["--top", "1"] else [(1, 3, 104)])
    rows = run_json("report", path, *mark, "--group-by", "heap,generation")["rows"]
    results.equal("and one for each heap", sorted((row["generation"], row["size"]) for row in rows), [(0, 96), (1, 8), (1, 24), (1, 72)])
    windows = run_json("windows", path, *mark, "--at", "5us", "--group-by", "generation")["windows"]
    results.equal("also in a window", sorted((row["generation"], row["outstanding_count"]) for row in windows[1]["rows"]), [(0, 1), (1, 3)])


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        for check in (check_steadiness, check_states, check_thread_names, check_marks, check_slow_drift, check_largest_time,
                      check_generations):
            check(results, folder)
    results.finish()


if __name__ == "__main__":
    main()
