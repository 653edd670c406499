#!/usr/bin/env python3
"""Sections of the page file: from the trace `make_trace section-leak`, whose numbers scenario_section.h
states, and from random recordings of the second writer against a naive model.

Report, lists, store, summary and check must say the numbers of kind section when it is named, with
one thread and with several, and nothing must change when it is not. The model goes through the
events that were written and keeps live sections in a dictionary by their first PTE.
"""

import os
import random
import struct
import subprocess

import oracle_support as support
from second_writer import records
from second_writer.container import QPC, Clock, Record, Style, TraceFile
from second_writer.records import words

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
LISTED, CREATE, DELETE = 0x0248, 0x0249, 0x024F
ORIGIN, HZ = 1_000_000, 10_000_000
# By process: outstanding count and bytes.
WANTED = {"broker.exe": (12, 12 * 65536), "client.exe": (1, 1048576)}
TOTAL = tuple(map(sum, zip(*WANTED.values())))


def sums_of(*arguments):
    document = support.run_json("report", *arguments, "--kind", "section", "--group-by", "kind,process", "--top", "all")
    return document, {row["process"]: (row["outstanding_count"], row["outstanding_size"]) for row in document["rows"]}


def check_scenario(results, folder):
    path, store, summary = (f"{folder}/sections{suffix}" for suffix in (".etl", ".ehs", ".summary.ehs"))
    subprocess.run([MAKE_TRACE, "section-leak", "-o", path], check=True, stdout=subprocess.DEVNULL)
    for jobs in "1", "2", "7":
        document, found = sums_of(path, "-j", jobs)
        results.equal(f"sums by process with {jobs} threads", found, WANTED)
    results.equal("deletions of what nothing tells of", document["totals"][0]["free_without_alloc"], 1)
    named = {row["name"]: row["count"] for row in document["diagnostics"]}
    results.equal("a range without a size is counted", named.get("section_range_unknown"), 1)
    stacks = support.run_json("report", path, "--kind", "section", "--group-by", "process,stack")
    leak = next(row for row in stacks["rows"] if row["process"] == "broker.exe")
    frames = [stacks["frames"][frame]["module"] for frame in stacks["stacks"][leak["stack"]]]
    results.equal("stacks begin in the program", frames, ["broker.exe"] * 2)
    kinds = [total["kind"] for total in support.run_json("report", path)["totals"]]
    results.check("a report that names no kind has no sections", "section" not in kinds)
    ends = {row["free_type"] for row in support.run_json("allocations", path, "--kind", "section")["rows"]}
    results.equal("a section does not end with its process", ends, {"none", "free"})
    support.run("store", path, "-o", store)
    results.equal("sums of a store", sums_of(store)[1], WANTED)
    support.run("store", path, "--summary", "-o", summary)
    total = support.run_json("report", summary, "--kind", "section")["totals"][0]
    results.equal("a summary", (total["outstanding_count"], total["outstanding_size"]), TOTAL)
    for limit, status in ("section/512K", 1), ("section/2M", 0):
        done = subprocess.run([support.ETLHEAP, "check", path, "--max-outstanding", limit], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        results.equal(f"check with {limit}", done.returncode, status)


class World:
    """Sections at few places, made and deleted by any process, with lost events and a rundown."""

    def __init__(self, seed, width):
        self.chance, self.width = random.Random(seed), width
        self.file = TraceFile(Clock(QPC, HZ, ORIGIN, 133_000_000_000_000_000), 2, Style("session", 16384), ORIGIN,
                              random.Random(seed + 1))
        self.ticks, self.count, self.events = ORIGIN + 1000, 0, []
        self.base = 0x8C300000 if width == 4 else 0xFFFF82082C300000
        for pid in (1000, 1004):
            name = f"app{pid}.exe"
            self.hook(records.PROCESS_START, records.process(width, 0x80001000 + pid * 16, pid, 4, 0, name, name), pid, 4)

    def hook(self, hook, payload, pid, version=2):
        self.count += 1
        self.ticks += self.chance.randrange(1, 3000)
        data = records.system(self.width, version, hook, pid + 1, pid, self.ticks, payload)
        self.file.add(Record(self.count, self.ticks, self.chance.randrange(2), data, False))

    def section(self, hook, place, pages, pid):
        first = self.base + 0x1000 * place
        last = first + 8 * pages if self.chance.random() > 0.03 else first - 8 * self.chance.randrange(2)
        payload = words(self.width, first, last) + struct.pack("<I", pid) + self.chance.choice((b"", b"", bytes(4)))
        if self.chance.random() < 0.03:
            payload = payload[: self.chance.randrange(2 * self.width + 4)]
        elif last > first:
            self.events.append((self.ticks, hook, first, 4096 * pages, pid))
        self.hook(hook, payload, self.chance.choice((pid, 4)))

    def write(self, path, steps):
        live = {}
        for _ in range(steps):
            place = self.chance.randrange(7)
            lost = self.chance.random() < 0.04
            if place not in live:
                live[place] = self.chance.randrange(1, 300), self.chance.choice((1000, 1004))
                hook = LISTED if self.chance.random() < 0.05 else CREATE
                if not lost:
                    self.section(hook, place, *live[place])
            else:
                pages, pid = live.pop(place)
                if not lost:
                    self.section(DELETE, place, pages, self.chance.choice((pid, 1000, 1004)))
        for place, (pages, pid) in live.items():
            self.section(LISTED, place, pages, pid)
        self.file.cut()
        self.file.write(path, "sections.etl")


def model(events):
    live, ended = {}, 0
    for _, hook, place, size, pid in events:
        if hook == DELETE:
            ended += live.pop(place, None) is not None
        elif hook == CREATE or place not in live:
            ended += place in live
            live[place] = f"app{pid}.exe", size
    sums = {}
    for process, size in live.values():
        count, total = sums.get(process, (0, 0))
        sums[process] = count + 1, total + size
    return sums, ended


def check_world(results, folder, seed, width):
    world, path = World(seed, width), f"{folder}/world-{seed}-{width}.etl"
    world.write(path, 2000 if support.LONG else 500)
    wanted, ended = model(world.events)
    store = path.replace(".etl", ".ehs")
    support.run("store", path, "-o", store)
    for source in (path, store):
        for jobs in "1", "2", "7":
            found = {process: sums for process, sums in sums_of(source, "-j", jobs)[1].items() if sums[0]}
            results.equal(f"seed {seed}, {8 * width} bits: sums of {source[-4:]} with {jobs} threads", found, wanted)
        rows = support.run_json("allocations", source, "--kind", "section")["rows"]
        results.equal(f"seed {seed}, {8 * width} bits: ended sections of {source[-4:]}",
                      sum(row["free_type"] == "free" for row in rows), ended)


def main():
    results = support.Results()
    folder = support.WORK
    check_scenario(results, folder)
    for seed in range(12 if support.LONG else 3):
        for width in (8, 4):
            check_world(results, folder, seed, width)
    results.finish()


if __name__ == "__main__":
    main()
