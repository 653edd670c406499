#!/usr/bin/env python3
"""Committed, uncommitted and decommitted memory of heaps, from the trace `make_trace heap-pages`.

The numbers at the end are those that scenario_heap_pages.h states. At other moments, and for windows,
they are added up here from the single events, as `dump` lists them. Trace, store and any number of
threads must say the same; every format has the columns, and only if they are asked for.
"""

import csv
import io
import json
import os
import re
import subprocess

import oracle_support as support

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
CACHE, SESSIONS, REQUESTS = "0x1a0000000000", "0x1b0000000000", "0x1c0000000000"
PAGES = ["uncommitted_size", "decommitted_size", "fragmentation_millionths"]
COLUMNS = ["outstanding_size", "committed_size", "reserved_size", *PAGES]
KIB, MIB = 1 << 10, 1 << 20
FIRST = 64 * KIB
WANTED = {
    CACHE: (256 * KIB, FIRST + 4 * MIB, 16 * MIB, 12 * MIB - FIRST, 0, (4160 - 256) * 10**6 // 4160),
    SESSIONS: (720 * 4 * KIB, 2 * FIRST + 3 * MIB, 16 * MIB, 13 * MIB - 2 * FIRST, 0, 100000),
    REQUESTS: (4 * KIB, FIRST, 16 * MIB, 16 * MIB - FIRST, 10 * MIB, 937500),
}


def rows_of(source, *options):
    rows = support.run_json("report", source, "--kind", "heap", "--group-by", "process,heap", "--columns", ",".join(COLUMNS),
                            "--top", "all", *options)["rows"]
    return {row["heap"]: tuple(row[word] for word in COLUMNS) for row in rows}


class Model:
    """The heaps, event by event."""

    def __init__(self, events):
        self.events = [event for event in events if event["name"] and event["name"].startswith("Heap/")]

    def at(self, from_ns, to_ns):
        heaps, blocks = {}, {}
        for event in sorted(self.events, key=lambda event: event["time_ns"]):
            if event["time_ns"] >= to_ns:
                break
            name, fields = event["name"], event["fields"]
            heap = heaps.setdefault(fields["heap_handle"], {"committed": None, "reserved": None, "decommitted": 0, "grown": None})
            if name in ("Heap/Create", "Heap/SnapShot", "Heap/Expand"):
                heap["committed"], heap["reserved"] = fields["committed_space"], fields["reserved_space"]
            if name == "Heap/Expand":
                heap["grown"] = fields["address"]
            elif name == "Heap/Commit" and fields["caller"] != 1 and fields["address"] != heap["grown"]:
                heap["committed"] += fields["size"]
            elif name == "Heap/Decommit":
                heap["committed"] -= fields["size"]
                heap["decommitted"] += fields["size"] if event["time_ns"] >= from_ns else 0
            elif name == "Heap/Alloc":
                blocks[fields["alloc_address"]] = (fields["heap_handle"], fields["alloc_size"])
            elif name == "Heap/Free":
                blocks.pop(fields["free_address"])
        return {handle: self.row(heap, sum(size for owner, size in blocks.values() if owner == handle))
                for handle, heap in heaps.items()}

    @staticmethod
    def row(heap, live):
        committed, reserved = heap["committed"], heap["reserved"]
        return (live, committed, reserved, reserved - committed, heap["decommitted"], (committed - live) * 10**6 // committed)


def check_moments(results, path, store):
    events = [json.loads(line) for line in support.run("dump", path, "--format", "ndjson").decode().splitlines()]
    model = Model(events)
    for from_ms, to_ms in ((0, 50), (0, 505), (505, 1000), (0, 1955), (1300, 2000), (2000, 2650), (2650, 2900), (0, 3100)):
        wanted = model.at(from_ms * 10**6, to_ms * 10**6)
        for source in (path, store):
            got = rows_of(source, "--from", f"{from_ms}ms", "--to", f"{to_ms}ms")
            shown = {heap: row for heap, row in wanted.items() if heap in got}
            results.equal(f"{os.path.basename(source)}: {from_ms} to {to_ms} ms", got, shown)
            results.check("... of all three heaps", len(got) == 3 or from_ms == 0)
    at = rows_of(path, "--at", "1007ms")
    results.equal("at a moment", {heap: row[:4] for heap, row in at.items()},
                  {heap: row[:4] for heap, row in model.at(0, 1007 * 10**6).items() if heap in at})


def check_formats(results, path):
    options = ["report", path, "--kind", "heap", "--group-by", "heap", "--columns", ",".join(COLUMNS)]
    table = list(csv.DictReader(io.StringIO(support.run(*options, "--format", "csv").decode())))
    results.equal("CSV", {row["heap"]: tuple(int(row[word]) for word in COLUMNS) for row in table}, WANTED)
    text = support.run(*options).decode()
    markdown = support.run(*options, "--format", "markdown").decode()
    for name, output in (("text", text), ("markdown", markdown)):
        results.check(f"{name} has shares and sizes", "93.8 %" in output and "10.0 MiB" in output, output)
    titled = support.run(*options, "--format", "csv", "--titles").decode().splitlines()[0]
    results.check("titles have units", "Fragmentation (millionths)" in titled and "Uncommitted Size (B)" in titled, titled)
    for word in PAGES:
        rows = support.run_json("report", path, "--kind", "heap", "--group-by", "heap", "--sort", word)["rows"]
        values = [row[word] for row in rows]
        results.equal(f"sorted by {word}", values, sorted((row[COLUMNS.index(word)] for row in WANTED.values()), reverse=True))


def check_map(results, path):
    for moment in "500ms", "1500ms", "3s":
        document = support.run_json("report", path, "--map", "--at", moment)
        heaps = {heap["heap"]: heap["uncommitted_size"] for heap in document["processes"][0]["heaps"]}
        rows = rows_of(path, "--at", moment)
        results.equal(f"map at {moment}", heaps, {heap: row[3] for heap, row in rows.items() if heap in heaps})
        results.check(f"map at {moment} has heaps", len(heaps) >= 2)
    text = support.run("report", path, "--map").decode()
    results.check("the map's text, too", re.search(r"Used +Uncommitted\n", text) and "11.9 MiB" in text, text)
    plain = f"{support.WORK}/none.etl"
    subprocess.run([MAKE_TRACE, "virtualalloc-exercise", "-o", plain], check=True, stdout=subprocess.DEVNULL)
    results.check("a map without heaps has no such column", "Uncommitted\n" not in support.run("report", plain, "--map").decode())


def check_plain(results, path):
    """Reports that do not ask for them have none of the columns."""
    for options in ([], ["--group-by", "process,heap"]):
        document = support.run("report", path, "--format", "json", *options).decode()
        results.check(f"not in a report {options}", not any(word in document for word in PAGES))
    refused = subprocess.run([support.ETLHEAP, "report", path, "--group-by", "stack", "--sort", "fragmentation_millionths"],
                             capture_output=True, check=False)
    results.check("only rows that are heaps have them", refused.returncode == 2 and b"that are heaps" in refused.stderr, refused.stderr)


def main():
    results = support.Results()
    path, store = f"{support.WORK}/pages.etl", f"{support.WORK}/pages.ehs"
    subprocess.run([MAKE_TRACE, "heap-pages", "-o", path], check=True, stdout=subprocess.DEVNULL)
    support.run("store", path, "-o", store)
    for source in (path, store):
        for jobs in "1", "2", "7":
            results.equal(f"{os.path.basename(source)}: numbers of the scenario, -j {jobs}", rows_of(source, "-j", jobs), WANTED)
        named = {row["name"]: row["count"] for row in support.run_json("report", source)["diagnostics"]}
        results.equal(f"{os.path.basename(source)}: one snapshot contradicts", named.get("heap_size_differs"), 1)
    check_moments(results, path, store)
    check_formats(results, path)
    check_map(results, path)
    check_plain(results, path)
    results.finish()


if __name__ == "__main__":
    main()
