#!/usr/bin/env python3
"""Names of threads: in tables, as a filter, in stores and on the HTML page.

The second writer makes a trace of two processes whose threads have names from every record
that carries one: a rundown at the start, the start and end of a thread, a rundown at the end,
and SetName. One thread is renamed, one has no name, and one id belongs to a thread of either
process. Ids are reused, too: of a thread by another process, and of a process by the next one.
Each thread allocates a size of its own, so that every row is known.
"""

import json
import os
import random
import struct
import tempfile

from oracle_support import Results, run, run_json
from page_data import read_page
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile

SET_NAME = 0x0548
APP, OTHER, GONE, REUSED = 4321, 5000, 6000, 7000

# (pid, tid, size, name as it is at the end)
THREADS = [
    (APP, 100, 64, "Render Thread"),
    (APP, 101, 128, "later name"),
    (APP, 102, 256, None),
    (APP, 103, 512, "Wörker #1"),
    (APP, 104, 1024, "Ended"),
    (APP, 105, 2048, "from the end"),
    (APP, 200, 4096, "shared in app"),
    (OTHER, 200, 8192, "shared in other"),
]

# What happens after that: (pid, process, tid, size, name). Each process ends before the next one begins.
LATER = [
    (GONE, "gone.exe", 300, 16, None),
    (GONE + 4, "named.exe", 300, 32, "reused"),
    (GONE + 8, "after.exe", 300, 48, None),
    (REUSED, "first.exe", 400, 24, "old name"),
    (REUSED, "second.exe", 400, 40, None),
]
ALL = sorted(THREADS + [(pid, tid, size, name) for pid, _, tid, size, name in LATER], key=lambda row: row[:3])


def write_trace(path, called=lambda name: name, with_threads=True):
    clock = Clock(QPC, 10_000_000, 1_000_000, 132_000_000_000_000_000)
    file = TraceFile(clock, 1, Style("session", 65536), 1_000_000, random.Random(1))
    ticks = 1_000_000

    def add(hook, version, pid, tid, payload, memory=False):
        nonlocal ticks
        ticks += 100
        file.add(Record(0, ticks, 0, records.system(8, version, hook, tid, pid, ticks, payload), memory))

    def thread(hook, pid, tid, name):
        if with_threads:
            add(hook, 3, pid, tid, records.thread(8, pid, tid, 0x7FF600001000, called(name)))

    def set_name(pid, tid, name):
        if called(name):
            add(SET_NAME, 2, pid, tid, struct.pack("<II", pid, tid) + records.text16(name))

    for pid, name in ((APP, "app.exe"), (OTHER, "other.exe")):
        add(records.PROCESS_RUNDOWN_START, 4, pid, 1, records.process(8, pid << 12, pid, 4, 0, name, name))
    thread(records.THREAD_RUNDOWN_START, APP, 100, "Render Thread")
    thread(records.THREAD_RUNDOWN_START, APP, 101, "first name")
    thread(records.THREAD_RUNDOWN_START, APP, 102, "")
    thread(records.THREAD_RUNDOWN_START, APP, 200, "shared in app")
    thread(records.THREAD_START, APP, 103, None)
    set_name(APP, 103, "Wörker #1")
    for pid, tid, size, _ in THREADS:
        add(records.HEAP_ALLOC, 2, pid, tid, records.heap_alloc(8, 0x1F0000, size, 0x10000 * tid + pid * 16, 2), True)
    set_name(APP, 101, "later name")
    thread(records.THREAD_END, APP, 104, "Ended")
    thread(records.THREAD_END, APP, 200, "shared in app")
    thread(records.THREAD_START, OTHER, 200, "shared in other")
    for pid, process, tid, size, name in LATER:
        add(records.PROCESS_START, 4, pid, 1, records.process(8, pid << 12, pid, 4, 0, process, process))
        thread(records.THREAD_START, pid, tid, None)
        if name:
            set_name(pid, tid, name)
        add(records.HEAP_ALLOC, 2, pid, tid, records.heap_alloc(8, 0x1F0000, size, 0x10000 * tid, 2), True)
        thread(records.THREAD_END, pid, tid, name)
        add(records.PROCESS_END, 4, pid, 1, records.process(8, pid << 12, pid, 4, 0, process, process))
    thread(records.THREAD_RUNDOWN_END, APP, 105, "from the end")
    file.cut()
    file.write(path, "threads.etl")


def rows_of(path, *arguments):
    table = run_json("report", path, "--group-by", "process,thread", *arguments)
    return sorted(((row["pid"], row["thread"], row["outstanding_size"], row.get("thread_name")) for row in table["rows"]),
                  key=lambda row: row[:3])


def check(results, path, store):
    for name, source in (("trace", path), ("store", store)):
        results.equal(f"{name}: each thread has its last name", rows_of(source), ALL)
        for words, wanted in (
            (["Render Thread"], [100]),
            (["render*"], [100]),
            (["later name"], [101]),
            (["first name"], []),
            (["w?rker #1"], [103]),
            (["102,Ended"], [102, 104]),
            (["103", "--thread", "from*"], [103, 105]),
            (["nobody"], []),
            (["reused,old*"], [300, 400]),
        ):
            found = [row[1] for row in rows_of(source, "--thread", *words)]
            results.equal(f"{name}: --thread {' '.join(words)}", found, wanted)
        for words, wanted in (
            (["shared in app"], [(APP, 200)]),
            (["shared*"], [(APP, 200), (OTHER, 200)]),
            (["reused"], [(GONE + 4, 300)]),
            (["300"], [(GONE, 300), (GONE + 4, 300), (GONE + 8, 300)]),
            (["400", "--thread", "shared in other"], [(OTHER, 200), (REUSED, 400), (REUSED, 400)]),
        ):
            found = [row[:2] for row in rows_of(source, "--thread", *words)]
            results.equal(f"{name}: --thread {' '.join(words)} selects threads of a process", found, wanted)
        by_name = run_json("report", source, "--group-by", "process,thread_name")["rows"]
        results.equal(f"{name}: rows of a name are of its process's thread",
                      sorted((row["process"], row["thread_name"], row["outstanding_size"]) for row in by_name if row["pid"] >= GONE),
                      sorted((process, row_name, size) for _, process, _, size, row_name in LATER))
        by_thread = {row["thread"]: row.get("thread_name") for row in run_json("report", source, "--group-by", "thread")["rows"]}
        results.equal(f"{name}: a row of several processes has a name only if it is the only one",
                      (by_thread[100], by_thread[200], by_thread[300]), ("Render Thread", None, "reused"))
        chosen = run_json("report", source, "--group-by", "thread", "--process", "app.exe")["rows"]
        results.equal(f"{name}: and only names of selected processes count",
                      [row.get("thread_name") for row in chosen if row["thread"] == 200], ["shared in app"])
    text = run("report", path, "--group-by", "thread", "--no-symbols").decode()
    for shown in ("Render Thread (100)", "later name (101)", " 102 ", "Wörker #1 (103)"):
        results.check(f"text: {shown}", shown in text, text)
    found = run("report", path, "--group-by", "process,thread", "--format", "csv").decode()
    results.check("CSV keeps the id", ",103," in found and "rker" not in found, found)
    lines = run("allocations", path, "--format", "ndjson").decode().splitlines()
    told = sorted(((row["pid"], row["thread"], row["size"], row.get("thread_name")) for row in map(json.loads, lines)),
                  key=lambda row: row[:3])
    results.equal("allocations: the same names", told, ALL)


MISSING = "how to record it"


def check_info(results, path, store, folder):
    """Names, threads without names, and no record of a thread: only then info says how to record them."""
    quiet, bare = os.path.join(folder, "quiet.etl"), os.path.join(folder, "bare.etl")
    write_trace(quiet, lambda name: None)
    write_trace(bare, lambda name: None, with_threads=False)
    for name, source, can, is_missing in (("trace", path, True, False), ("store", store, True, False),
                                          ("no names", quiet, False, False), ("no threads", bare, False, True)):
        results.equal(f"{name}: info says whether threads have names", "thread-names" in run_json("info", source)["can"], can)
        missing = run("info", source).decode().partition(MISSING)[2]
        results.equal(f"{name}: info says how to record them if none is", "\nthread-names " in missing, is_missing)


def check_page(results, path, folder):
    page = os.path.join(folder, "page.html")
    run("export", path, "--format", "html", "-o", page, "--no-symbols")
    rows = read_page(page)["cells"]["thread_names"]
    results.check("the page has names", rows)
    found = sorted({(row["pid"], row["thread"], row["name"]) for row in rows})
    wanted = sorted((pid, tid, name) for pid, tid, _, name in ALL if name)
    results.equal("the page: names of threads", found, wanted)


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        path = os.path.join(folder, "threads.etl")
        store = os.path.join(folder, "threads.ehs")
        write_trace(path)
        run("store", path, "-o", store)
        check(results, path, store)
        check_page(results, path, folder)
        check_info(results, path, store, folder)
    results.finish()


if __name__ == "__main__":
    main()
