#!/usr/bin/env python3
"""Commit, working sets and available memory over time, in all forms in which Windows logs them.

The second writer makes the same samples twice: as the kernel's MemInfo hooks, and as events of
Microsoft-Windows-Kernel-Memory, ids 1 to 3. The layouts are those of the manifest and of
System Informer's phnt. `windows` and the HTML page must show what was written, `dump` every
field, and `info` say whether such events are there. No real trace with them was at hand.
"""

import os
import random
import struct
import tempfile
import uuid

from oracle_support import Results, dump, run, run_json
from page_data import read_page
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile
from second_writer.described import event

KERNEL_MEMORY = uuid.UUID("d1d93ef7-e1f2-4f45-9943-03d245fe6c00").bytes_le
PAGE = 4096
APP, OTHER = 4321, 5000
SECOND = 10_000_000

# (seconds, zero, free, standby by priority, commit) and (seconds, {pid: (working set, commit, private)})
SYSTEM = [(1, 100, 50, [1, 2, 3, 4, 5, 6, 7, 8], 9000), (3, 80, 40, [8] * 8, 12000)]
PROCESSES = [(1, {APP: (500, 700, 400), OTHER: (50, 70, 40)}), (3, {APP: (900, 1500, 800)})]
SESSIONS = [(2, {0: (11, 12, 13), 1: (21, 22, 23)})]


def system_payload(width, zero, free, standby, commit, with_levels):
    counts = [zero, free, 7, 8, 9] + standby + [0] * 8 + [10, 11, 12, 13, commit]
    return (b"\x08" if with_levels else b"") + records.words(width, *counts)


def rows_payload(width, rows, version):
    """Version 2 has four more counts in each row."""
    data = struct.pack("<I", len(rows))
    for number, (working_set, commit, private) in sorted(rows.items()):
        data += struct.pack("<I", number) + records.words(width, working_set, commit, 5 * commit, private)
        data += records.words(width, 1, 2, 3, 4) if version == 2 else b""
    return data


def write_trace(path, as_events, version=2):
    clock = Clock(QPC, SECOND, 1_000_000, 132_000_000_000_000_000)
    file = TraceFile(clock, 1, Style("session", 65536), 1_000_000, random.Random(1))

    def ticks_of(seconds):
        return 1_000_000 + int(seconds * SECOND)

    all_records = []

    def add(seconds, make):
        all_records.append((ticks_of(seconds), make))

    def hook(number, data):
        return lambda ticks: records.perfinfo(8, version, number, ticks, data)

    def provider(number, data):
        return lambda ticks: event(8, KERNEL_MEMORY, number, 1 if number == 1 else version, 4, 8, ticks, data)

    for pid, name in ((APP, "app.exe"), (OTHER, "other.exe")):
        data = records.process(8, pid << 12, pid, 4, 0, name, name)
        add(0.1, lambda ticks, d=data, p=pid: records.system(8, 4, records.PROCESS_RUNDOWN_START, 1, p, ticks, d))
    add(0.5, lambda ticks: records.system(8, 2, records.HEAP_ALLOC, 9, APP, ticks,
                                          records.heap_alloc(8, 0x1F0000, 64, 0x10000, 2)))
    for seconds, zero, free, standby, commit in SYSTEM:
        data = system_payload(8, zero, free, standby, commit, as_events)
        add(seconds, provider(1, data) if as_events else hook(0x0270, data))
    for kind, samples in ((2, PROCESSES), (3, SESSIONS)):
        for seconds, rows in samples:
            data = rows_payload(8, rows, version)
            add(seconds, provider(kind, data) if as_events else hook(0x027B + kind, data))
    add(4, lambda ticks: records.system(8, 2, records.HEAP_FREE, 9, APP, ticks,
                                        records.heap_free(8, 0x1F0000, 0x10000, 2)))
    for ticks, make in sorted(all_records, key=lambda pair: pair[0]):
        file.add(Record(0, ticks, 0, make(ticks), False))
    file.cut()
    file.write(path, "memory.etl")


def check_windows(results, name, path):
    windows = run_json("windows", path, "--every", "1s")["windows"]
    told = [(row["memory"] or {}).get("commit_size") for row in windows]
    # A sample at the first tick of a window is known when that window ends.
    results.equal(f"{name}: commit of the system", [value for value in told if value],
                  [9000 * PAGE] * 2 + [12000 * PAGE] * (len(windows) - 3))
    available = [(row["memory"] or {}).get("available_size") for row in windows if row["memory"]]
    results.equal(f"{name}: available is zeroed, free and standby", available[0], (100 + 50 + 36) * PAGE)
    results.equal(f"{name}: the last one", available[-1], (80 + 40 + 64) * PAGE)
    last = {row["pid"]: row for row in windows[-1]["process_memory"]}
    results.equal(f"{name}: the process at the end",
                  [last[APP][key] for key in ("commit_size", "working_set_size", "private_working_set_size")],
                  [1500 * PAGE, 900 * PAGE, 800 * PAGE])
    results.equal(f"{name}: sessions are no processes", sorted(last), [APP, OTHER])
    return windows


def check_page(results, name, path, folder):
    page = os.path.join(folder, "page.html")
    run("export", path, "--format", "html", "-o", page, "--no-symbols")
    cells = read_page(page)["cells"]
    system, rows = cells["memory"], cells["process_memory"]
    results.equal(f"{name}: the page's commit", [system["commit_size"][-1], system["available_size"][-1]],
                  [12000 * PAGE, (80 + 40 + 64) * PAGE])
    results.equal(f"{name}: nothing is known at first", system["commit_size"][0], None)
    results.equal(f"{name}: the page has the processes of its rows", [row["pid"] for row in rows], [APP])
    results.equal(f"{name}: commit and working set at the end", [rows[0]["commit_size"][-1], rows[0]["working_set_size"][-1]],
                  [1500 * PAGE, 900 * PAGE])


def write_many(path, count):
    """Processes of which each has a block, the later a larger one, and working sets."""
    clock = Clock(QPC, SECOND, 1_000_000, 132_000_000_000_000_000)
    file = TraceFile(clock, 1, Style("session", 65536), 1_000_000, random.Random(1))
    pids = [4000 + 4 * i for i in range(count)]
    for i, pid in enumerate(pids):
        ticks = 1_000_000 + i
        data = records.process(8, pid << 12, pid, 4, 0, f"p{i}.exe", f"p{i}.exe")
        file.add(Record(0, ticks, 0, records.system(8, 4, records.PROCESS_RUNDOWN_START, 1, pid, ticks, data), False))
    for i, pid in enumerate(pids):
        ticks = 2_000_000 + i
        data = records.heap_alloc(8, 0x1F0000, 64 * (i + 1), 0x10000, 2)
        file.add(Record(0, ticks, 0, records.system(8, 2, records.HEAP_ALLOC, pid + 1, pid, ticks, data), False))
    data = rows_payload(8, {pid: (50, 70, 40) for pid in pids}, 2)
    file.add(Record(0, 3_000_000, 0, records.perfinfo(8, 2, 0x027D, 3_000_000, data), False))
    file.cut()
    file.write(path, "many.etl")


def check_many(results, folder):
    """Curves are of processes whose groups the page has, of which there are at most 500. Who looked
    through all groups for each process spent the page's 64 curves on processes that it does not list."""
    path, page = os.path.join(folder, "many.etl"), os.path.join(folder, "many.html")
    write_many(path, 700)
    run("export", path, "--format", "html", "-o", page, "--no-symbols")
    cells = read_page(page)["cells"]
    groups, curves = ([row["pid"] for row in cells[key]] for key in ("groups", "process_memory"))
    results.check("of many processes, not all are on the page", 0 < len(set(groups)) < 700, len(set(groups)))
    results.equal("curves are of those that are", [pid for pid in curves if pid not in groups], [])
    results.equal("as many as fit", len(curves), 64)


def check_dump(results, name, path):
    rows = [row for row in dump(path) if "SessionWS" in row.get("name", "")]
    results.equal(f"{name}: sessions", [row["fields"]["entries"] for row in rows], [[
        {"session_id": 0, "working_set_pages": 11, "commit_pages": 12, "paged_pool_pages": 60,
         "private_working_set_pages": 13},
        {"session_id": 1, "working_set_pages": 21, "commit_pages": 22, "paged_pool_pages": 110,
         "private_working_set_pages": 23},
    ]])


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        told = []
        for name, as_events, version in (("hooks", False, 2), ("events", True, 2), ("version 1", True, 1)):
            path = os.path.join(folder, name.replace(" ", "_") + ".etl")
            write_trace(path, as_events, version)
            store = path.replace(".etl", ".ehs")
            run("store", path, "-o", store)
            told.append(check_windows(results, name, path))
            results.equal(f"{name}: a store tells the same", run_json("windows", store, "--every", "1s")["windows"], told[-1])
            for source in (path, store):
                results.check(f"{name}: info says so", "memory" in run_json("info", source)["can"])
            check_page(results, name, path, folder)
            check_dump(results, name, path)
        check_many(results, folder)
        results.check("hooks and events are one", told[0] == told[1] == told[2])
    results.finish()


if __name__ == "__main__":
    main()
