#!/usr/bin/env python3
"""Compares names of .NET methods with what PerfView lists, and with a second resolution.

  * The method events of the real trace are those that PerfView printed of it, and as many.
  * Stacks of the real trace are written again as stacks of allocations, beside its method
    events, by the second writer, which shares no code with the program. Here each address
    is looked up in the plainest way; the report must name it so, from the trace and a store.
  * Random programs load, unload and replace code, in several processes, and some tell of it
    at the end only. Each block's stack must be named by what was there when it was allocated.
"""

import json
import os
import random
import re

from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json
from second_writer import records
from second_writer.container import QPC, Clock, Record, Style, TraceFile

REAL = os.path.join(TRACES, "perfview-net452-x64-merged-compressed-stackkeys")
PROCESS = 3676  # of the trace: the program that was looked at
SHORT = 20  # characters of a text that PerfView prints
HZ = 10_000_000
NONE = (None, None)


class Written:
    """A trace of heap blocks, each of its own size, and what their stacks are called."""

    def __init__(self, seed):
        self.clock = Clock(QPC, HZ, 5_000_000_000, 132_404_548_206_236_167)
        self.file = TraceFile(self.clock, 2, Style("session", 65536), self.clock.stamp(0), random.Random(seed))
        self.number, self.time, self.blocks = 0, 100, 0

    def put(self, data, ticks):
        self.file.add(Record(self.number, ticks, 0, data, False))
        self.number += 1

    def begin(self, pid, step=10):
        self.time += step
        return self.clock.stamp(self.time), pid * 16

    def process(self, pid, hook, name="app.exe"):
        ticks, tid = self.begin(pid)
        payload = records.process(8, 0xFFFFFA8000000000 + pid * 64, pid, 4, 0, name, name)
        self.put(records.system(8, 4, hook, tid, pid, ticks, payload), ticks)

    def event(self, pid, what, payload, version=2):
        ticks, tid = self.begin(pid)
        self.put(records.event(8, what[0], what[1], tid, pid, ticks, payload, version=version), ticks)

    def block(self, pid, addresses):
        """Returns the block's size, which no other has."""
        self.blocks += 1
        ticks, tid = self.begin(pid)
        size = 16 * self.blocks
        payload = records.heap_alloc(8, 0x1F0000, size, 0x10000000 + self.blocks * 0x100000, 1)
        self.put(records.compact(8, 2, records.HEAP_ALLOC, tid, pid, ticks, payload), ticks)
        walked, _ = self.begin(pid, 3)
        self.put(records.perfinfo(8, 2, records.STACK, walked, records.stack(8, ticks, pid, tid, addresses)), walked)
        return size

    def write(self, name):
        path = os.path.join(WORK, name)
        self.file.cut()
        self.file.write(path, name)
        return path


def names_of(trace):
    """By size of the block: modules and functions of its stack."""
    document = run_json("report", trace, "--group-by", "stack", "--no-cull", "--no-symbols", "--top", "all")
    rows = {}
    for row in document["rows"]:
        frames = [document["frames"][index] for index in document["stacks"][row["stack"]]]
        rows[row["outstanding_size"]] = [(frame["module"], frame["symbol"]) for frame in frames]
    return rows


def by_site(path):
    document = run_json("report", path, "--group-by", "site", "--no-cull", "--no-symbols", "--top", "all")
    frames = document["frames"]
    return [{**row, "site": (frames[row["site"]]["module"], frames[row["site"]]["symbol"])} for row in document["rows"]]


def site_sums(blocks):
    sums = {}
    for size, names in blocks.items():
        sums[names[0]] = sums.get(names[0], 0) + size
    return sums


def real_methods():
    """Events of methods as the program's `dump` shows them: (name, process, fields)."""
    out = run("dump", REAL + ".etl", "--format", "ndjson", "--events", "Microsoft-Windows-DotNETRuntime*/Method/*")
    return [(row["name"], row["pid"], row["fields"]) for row in map(json.loads, out.splitlines())]


def check_listing(results, methods):
    with open(REAL + ".baseline.txt", encoding="utf-8") as file:
        listing = file.read().splitlines()
    counts = {match[1]: int(match[2].replace(",", "")) for match in (re.match(r"COUNT (.*Verbose):([\d,]+)", line) for line in listing) if match}
    results.equal("PerfView counts events of methods", len(counts), 2)
    got = {}
    for name, _, _ in methods:
        got[name] = got.get(name, 0) + 1
    results.equal_maps("events of methods are as many as PerfView counts", {name: got.get(name) for name in counts}, counts)
    listed = 0
    for line in listing:
        match = re.match(r"EVENT [\d,.]+: (Microsoft-Windows-DotNETRuntime\S*Verbose) PID=(\d+);.* MethodID=([\d,]+); "
                         r"ModuleID=([\d,]+); MethodStartAddress=(0x[0-9a-f]+); MethodSize=([\d,]+);.*"
                         r"MethodNamespace=(.*?); MethodName=(.*?); ", line)
        if not match:
            continue
        listed += 1
        name, pid, method, module, start, size, name_space, function = match.groups()
        number = [int(text.replace(",", "")) for text in (method, module, size)]
        same = [
            fields for event, owner, fields in methods
            if (event, owner, fields["start_address"]) == (name, int(pid), start)
            and [int(fields["method_id"], 16), int(fields["module_id"], 16), fields["size"]] == number
            and fields["namespace"].startswith(name_space.removesuffix("...")[:SHORT])
            and fields["name"].startswith(function.removesuffix("...")[:SHORT])
        ]
        results.check(f"{name.split('/')[-1]} of {name_space}.{function}", len(same) == 1, same)
    results.equal("PerfView lists events of methods", listed, 10)


def real_stacks():
    """Addresses of user stacks, and the keys that stand for some."""
    out = run("dump", REAL + ".etl", "--format", "ndjson", "--events", "StackWalk/*")
    defined, asked, stacks = {}, set(), set()
    for row in map(json.loads, out.splitlines()):
        fields = row["fields"]
        if row["name"] in ("StackWalk/KeyRundown", "StackWalk/KeyDelete"):
            defined.setdefault(fields["stack_key"], set()).add(tuple(int(at, 16) for at in fields["frames"]))
        elif fields.get("process_id") == PROCESS and row["name"] == "StackWalk/KeyUser":
            asked.add(fields["stack_key"])
        elif fields.get("process_id") == PROCESS and "frames" in fields:
            stacks.add(tuple(int(at, 16) for at in fields["frames"]))
    for key in asked:
        stacks |= defined.get(key, set())
    return sorted(stack for stack in stacks if len(stack) <= 150)


def check_stacks(results, methods):
    ranges = {}
    for name, pid, fields in methods:
        if pid == PROCESS and name.endswith("/LoadVerbose"):
            start = int(fields["start_address"], 16)
            ranges[start] = (start + fields["size"], fields)

    def name_at(address):
        for start, (end, fields) in ranges.items():
            if start < address <= end:
                return "mscorlib.dll" if fields["module_id"] != main["module_id"] else "Test.x64.exe", (
                    fields["namespace"] + "." + fields["name"])
        return NONE

    main = next(fields for _, fields in ranges.values() if fields["name"] == "Main")
    stacks = [stack for stack in real_stacks() if any(name_at(at) != NONE for at in stack)]
    results.check("stacks of the real trace run through code of .NET", len(stacks) > 50, len(stacks))
    trace = Written(1)
    trace.process(PROCESS, records.PROCESS_RUNDOWN_START)
    for module, path in ((main["module_id"], "Z:\\20-07-28.TestTraces\\Test.x64.exe"),
                         (next(f["module_id"] for _, f in ranges.values() if f["module_id"] != main["module_id"]),
                          "C:\\Windows\\Microsoft.Net\\assembly\\GAC_64\\mscorlib\\mscorlib.dll")):
        trace.event(PROCESS, records.MODULE_LOAD, records.managed_module(int(module, 16), path))
    for start, (_, fields) in ranges.items():
        payload = records.method(int(fields["method_id"], 16), int(fields["module_id"], 16), start, fields["size"],
                                 fields["namespace"], fields["name"], fields["signature"])
        trace.event(PROCESS, records.METHOD_LOAD, payload)
    wanted = {trace.block(PROCESS, stack): [name_at(at) for at in stack] for stack in stacks}
    path = trace.write("managed-real.etl")
    got = names_of(path)
    results.equal_maps("stacks of the real trace have the names of its methods", got, wanted)
    mains = sum(("Test.x64.exe", "Test.Program.Main") in names for names in got.values())
    results.check("most of them come from Test.Program.Main", mains > len(got) // 2, f"{mains} of {len(got)}")
    store = path.replace(".etl", ".ehs")
    run("store", path, "-o", store)
    results.equal_maps("a store of them says the same", names_of(store), wanted)


class Program:
    """Code of one process, as the trace will tell of it."""

    def __init__(self, trace, chance, pid, is_silent):
        self.trace, self.chance, self.pid = trace, chance, pid
        self.is_silent = is_silent  # until the rundown
        self.code = {}  # place -> function
        self.used = set()

    def tell(self, what, place, function, version=2):
        payload = records.method(place ^ 0x77, 0x1000 + self.pid, place, 0x80, "Some.Type", function, "void ()", version)
        self.trace.event(self.pid, what, payload, version)

    def step(self):
        place = 0x7FF8A0000000 + 0x80 * self.chance.randrange(24)
        known = self.code.get(place)
        if self.is_silent:
            if known is None:
                self.code[place] = f"Quiet{len(self.code)}"
        elif known is None:
            self.code[place] = f"Run{self.trace.number}"
            self.tell(records.METHOD_LOAD, place, self.code[place], self.chance.randrange(3))
        elif self.chance.random() < 0.5:
            self.tell(records.METHOD_UNLOAD, place, self.code.pop(place))

    def block(self):
        places = [self.chance.choice(list(self.code)) for _ in range(self.chance.randrange(1, 6))]
        size = self.trace.block(self.pid, [place + self.chance.randrange(1, 0x81) for place in places])
        file = "tool.dll" if self.pid % 2 == 0 else "ManagedModule"
        return size, [(file, "Some.Type." + self.code[place]) for place in places]

    def stop(self):
        if self.pid % 2 == 0:
            self.trace.event(self.pid, records.MODULE_DCSTOP, records.managed_module(0x1000 + self.pid, "C:\\x\\tool.dll"))
        for place, function in self.code.items():
            self.tell(records.METHOD_DCSTOP, place, function)


def check_random(results, seed):
    chance = random.Random(seed)
    trace = Written(seed)
    programs = [Program(trace, chance, pid, pid % 3 == 0) for pid in (100, 101, 102, 103)]
    wanted = {}
    for program in programs:
        trace.process(program.pid, records.PROCESS_RUNDOWN_START)
    for _ in range(1500):
        program = chance.choice(programs)
        if chance.random() < 0.4 or not program.code:
            program.step()
        else:
            size, names = program.block()
            wanted[size] = names
    for program in programs:
        program.stop()
    path = trace.write(f"managed-{seed}.etl")
    results.equal_maps(f"seed {seed}: blocks are named by what was there at the time", names_of(path), wanted)
    sites = {row["site"]: row["outstanding_size"] for row in by_site(path)}
    summary = path.replace(".etl", ".sum.ehs")
    run("store", path, "--summary", "-o", summary)
    results.equal_maps(f"seed {seed}: a summary names its sites", {r["site"]: r["outstanding_size"] for r in by_site(summary)}, sites)
    results.equal_maps(f"seed {seed}: a site is a method, wherever it is", sites, site_sums(wanted))
    symbols = run_json("symbols", path)
    results.equal(f"seed {seed}: no method wants a PDB", symbols["modules"], [])
    filtered = run_json("report", path, "--group-by", "kind", "--no-cull", "--require-frame", "ManagedModule!Some.Type.*")
    named = sum(size for size, names in wanted.items() if names[0][0] == "ManagedModule")
    results.equal(f"seed {seed}: --require-frame finds them", sum(r["outstanding_size"] for r in filtered["rows"]), named)


def main():
    results = Results()
    assert os.path.exists(ETLHEAP)
    if os.path.exists(REAL + ".etl"):
        methods = real_methods()
        check_listing(results, methods)
        check_stacks(results, methods)
    else:
        results.skip("the real trace", f"{REAL}.etl is not here; set TRACES to the folder of real traces")
    for seed in range(4):
        check_random(results, seed)
    results.finish()


main()
