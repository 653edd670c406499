#!/usr/bin/env python3
"""Events beside heaps, value by value: methods of .NET, memory, names, services, allocators.

The second writer shares no code with the decoder. It writes each of these events from its
published layout, in each version, of 32-bit and of 64-bit programs, behind each header that
Windows has for it, with random values; `dump` must show exactly these. Then payloads of
any length: of a cut one `dump` must show no value that was not written, and the run must count
it. Heap blocks beside them are counted as ever. Last, no event that event_rows.h lists may lack
a vector: hand-written bytes in a unit test of the decoder.
"""

import glob
import os
import random
import re
import tempfile

from oracle_support import LONG, Results, dump, run_json
from second_writer import more_events, records
from second_writer.container import QPC, Clock, Record, Style, TraceFile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PID, TID = 4321, 77
WIDTHS = (4, 8)
HEX = {"method_id", "module_id", "start_address", "token", "flags", "assembly_id", "address", "view_base", "file_object",
       "misc_info", "range_base", "range_end", "section_object", "base_address", "heap_handle", "subsegment", "object", "handle", "source_handle", "target_handle"}
ALLOCATORS = {more_events.MIMALLOC: "mimalloc", more_events.PIX: "PIX"}


def system_memory(with_levels):
    return lambda chance, width, version: more_events.system_memory(chance, width, version, with_levels)


def processes(chance, width, version):
    return more_events.memory_rows(chance, width, version, "process_id", "virtual_size_pages")


def sessions(chance, width, version):
    return more_events.memory_rows(chance, width, version, "session_id", "paged_pool_pages")


RUNTIME, RUNDOWN = "Microsoft-Windows-DotNETRuntime", "Microsoft-Windows-DotNETRuntimeRundown"
MEMORY = "Microsoft-Windows-Kernel-Memory"

# (name in dump, provider and id or hook, versions, payload and values)
EVENTS = (
    (f"{RUNTIME}/Method/LoadVerbose", (records.DOTNET, 143), (0, 1, 2), more_events.method),
    (f"{RUNTIME}/Method/UnloadVerbose", (records.DOTNET, 144), (0, 1, 2), more_events.method),
    (f"{RUNDOWN}/Method/DCStartVerbose", (records.DOTNET_RUNDOWN, 143), (0, 1, 2), more_events.method),
    (f"{RUNDOWN}/Method/DCStopVerbose", (records.DOTNET_RUNDOWN, 144), (0, 1, 2), more_events.method),
    (f"{RUNTIME}/Loader/ModuleLoad", (records.DOTNET, 152), (0, 1, 2), more_events.managed_module),
    (f"{RUNTIME}/Loader/ModuleUnload", (records.DOTNET, 153), (0, 1, 2), more_events.managed_module),
    (f"{RUNDOWN}/Loader/ModuleDCStart", (records.DOTNET_RUNDOWN, 153), (0, 1, 2), more_events.managed_module),
    (f"{RUNDOWN}/Loader/ModuleDCStop", (records.DOTNET_RUNDOWN, 154), (0, 1, 2), more_events.managed_module),
    (f"{MEMORY}/MemInfo", (more_events.KERNEL_MEMORY, 1), (1,), system_memory(True)),
    (f"{MEMORY}/MemInfoWS", (more_events.KERNEL_MEMORY, 2), (0, 1, 2), processes),
    (f"{MEMORY}/MemInfoSessionWS", (more_events.KERNEL_MEMORY, 3), (0, 1, 2), sessions),
    ("PageFault/MemInfo", more_events.MEMINFO, (2,), system_memory(False)),
    ("PageFault/MemInfoWS", more_events.MEMINFO_WS, (0, 1, 2), processes),
    ("PageFault/MemInfoSessionWS", more_events.MEMINFO_SESSION_WS, (0, 1, 2), sessions),
    ("Thread/SetName", more_events.THREAD_SET_NAME, (2,), more_events.thread_name),
    ("SystemConfig/Services", more_events.SERVICES, (2, 3), more_events.service),
    *((f"FileIo/{name}", 0x0400 | number, (2,), more_events.file_name)
      for name, number in (("Name", 0), ("FileCreate", 0x20), ("FileDelete", 0x23), ("FileRundown", 0x24))),
    *((f"FileIo/{name}", 0x0425 + number, (2, 3), more_events.file_view)
      for number, name in enumerate(("MapFile", "UnmapFile", "MapFileDCStart", "MapFileDCEnd"))),
    *((f"PageFault/PFMappedSection{name}", 0x0200 | number, (2,), more_events.section)
      for name, number in (("Rundown", 0x48), ("Create", 0x49), ("Delete", 0x4F))),
    *((f"PageFault/PFMappedSectionObject{name}", 0x0200 | number, (2,), more_events.section_object)
      for name, number in (("Create", 0x87), ("Delete", 0x88))),
    *((f"PageFault/{name}", 0x0200 | number, (2,), more_events.memory_flags)
      for name, number in (("VirtualRotate", 0x7F), ("MemResetInfo", 0x86))),
    *((f"Object/{name}", 0x1120 | number, (2,), make)
      for name, number, make in (("CreateHandle", 0, more_events.handle), ("CloseHandle", 1, more_events.handle),
                                 ("DuplicateHandle", 2, more_events.handle_copy), ("TypeDCStart", 4, more_events.object_type),
                                 ("TypeDCEnd", 5, more_events.object_type), ("HandleDCStart", 6, more_events.handle_row),
                                 ("HandleDCEnd", 7, more_events.handle_row), ("Create", 0x10, more_events.some_object),
                                 ("Delete", 0x11, more_events.some_object))),
    *((f"Heap/{name}", 0x1000 | number, (2,), more_events.heap_commit) for name, number in (("Commit", 0x33), ("Decommit", 0x34))),
    *((f"Heap/Subsegment{name}", 0x102F + number, (2,), more_events.heap_subsegment)
      for number, name in enumerate(("Alloc", "Free", "AllocCached", "FreeCached"))),
    ("Heap/SubsegmentInit", 0x1035, (2,), more_events.heap_subsegment_init),
    ("Heap/AffinityManagerEnable", 0x1036, (2,), more_events.heap_bucket),
    ("Heap/AffinitySlotChanged", 0x1039, (2,), more_events.heap_subsegment_use),
    ("Heap/SubsegmentReuseThresholdActivated", 0x103A, (2,), more_events.heap_subsegment_use),
    ("mimalloc/Alloc", (more_events.MIMALLOC, 100), (1,), more_events.mimalloc),
    ("mimalloc/Free", (more_events.MIMALLOC, 101), (1,), more_events.mimalloc_free),
    ("PIX/Alloc", (more_events.PIX, 16), (0,), more_events.pix),
    ("PIX/Free", (more_events.PIX, 17), (0,), more_events.pix),
)


def record_of(chance, event, width, version, ticks, payload):
    if isinstance(event, tuple):
        return records.event(width, event[0], event[1], TID, PID, ticks, payload, version=version)
    if chance.random() < 0.3:
        return records.perfinfo(width, version, event, ticks, payload)
    maker = chance.choice((records.system, records.compact))
    return maker(width, version, event, TID, PID, ticks, payload)


def shown(event, values):
    """The values as dump has them."""
    values = {name: f"{value:#x}" if name in HEX else value for name, value in values.items()}
    allocator = ALLOCATORS.get(event[0]) if isinstance(event, tuple) else None
    return values if allocator is None else {"allocator": allocator, "heap": 0} | values


class Written:
    def __init__(self, seed, style):
        self.clock = Clock(QPC, 10_000_000, 1_000_000, 132_000_000_000_000_000)
        self.file = TraceFile(self.clock, 1, style, 1_000_000, random.Random(seed))
        self.ticks, self.count = 1_000_000, 0

    def put(self, make):
        self.ticks += 100
        self.count += 1
        self.file.add(Record(self.count, self.ticks, 0, make(self.ticks), False))

    def block(self, number):
        payload = records.heap_alloc(8, 0x1F0000, 64, 0x10000 + number * 64, 2)
        self.put(lambda ticks: records.system(8, 2, records.HEAP_ALLOC, TID, PID, ticks, payload))

    def write(self, path):
        self.file.cut()
        self.file.write(path, "fields.etl")
        return path


def check_fields(results, folder, seed):
    chance = random.Random(seed)
    style = Style("merged", 65536, compress=True) if seed % 2 else Style("session", 65536)
    trace, wanted = Written(seed, style), []
    for name, event, versions, make in EVENTS:
        for version in versions:
            for width in WIDTHS:
                for _ in range(3):
                    payload, values = make(chance, width, version)
                    trace.put(lambda ticks: record_of(chance, event, width, version, ticks, payload))
                    wanted.append((f"{name} v{version} {width * 8} bits", shown(event, values)))
    lines = [line for line in dump(trace.write(f"{folder}/fields-{seed}.etl")) if line["ts"] > 1_000_000]
    results.equal(f"seed {seed}: lines", len(lines), len(wanted))
    for name in dict.fromkeys(name for name, _ in wanted):
        pairs = [(line, fields) for line, (told, fields) in zip(lines, wanted) if told == name]
        results.equal(f"seed {seed}: {name}", [line.get("fields") for line, _ in pairs], [fields for _, fields in pairs])
        label = name.split(" ")[0]
        named = [line.get("name") for line, _ in pairs]
        results.check(f"seed {seed}: {name} has its name", "Alloc" in label or "/Free" in label or set(named) == {label}, named)


def is_true(value, whole):
    """What is shown of a cut payload: the value, or nothing of it, or the part of a text that is there."""
    if isinstance(value, str) and not value.startswith("0x"):
        return whole.startswith(value.rstrip("\ufffd"))
    return value in (whole, 0, "0x0")


def check_cuts(results, folder, seed):
    chance = random.Random(seed)
    trace, cuts = Written(seed, Style("session", 65536)), []
    for number in range(4000 if LONG else 800):
        name, event, versions, make = chance.choice(EVENTS)
        version, width = chance.choice(versions), chance.choice(WIDTHS)
        payload, values = make(chance, width, version)
        cut = chance.randrange(len(payload) + 1)
        trace.put(lambda ticks: record_of(chance, event, width, version, ticks, payload[:cut]))
        cuts.append((f"{name} v{version} {width * 8} bits, {cut} of {len(payload)} bytes", shown(event, values)))
        if number % 10 == 0:
            trace.block(number)
            cuts.append(("Heap/Alloc", None))
    path = trace.write(f"{folder}/cut-{seed}.etl")
    lines = [line for line in dump(path) if line["ts"] > 1_000_000]
    results.equal(f"seed {seed}: a line for each cut event", len(lines), len(cuts))
    wrong = [f"{name}: {key} is {value}, wrote {values.get(key)}" for line, (name, values) in zip(lines, cuts) if values
             for key, value in (line.get("fields") or {}).items() if not is_true(value, values[key])]
    results.check(f"seed {seed}: nothing is shown that was not written", not wrong, *wrong[:5])
    report = run_json("report", path, "--kind", "heap", "--group-by", "kind")
    named = {row["name"]: row["count"] for row in report["diagnostics"]}
    bare = sum(1 for line, (_, values) in zip(lines, cuts) if values and not line.get("fields"))
    results.check(f"seed {seed}: cut events are counted", bare > 100 and named.get("event_truncated", 0) > 0, named)
    results.equal(f"seed {seed}: heap blocks beside them", report["rows"][0]["count"], len(range(0, len(cuts) - 1, 11)))


def check_vectors(results):
    """EventInfo and its map have vectors of their own, in test_description.c and oracle_described.py."""
    def texts(*patterns):
        for path in (path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern))):
            with open(path, encoding="utf-8") as file:
                yield file.read()

    tables = "".join(texts("parser/etl/event_rows.h", "parser/etl/layout_mapped.h", "parser/etl/layout_handle.h"))
    rows = set(re.findall(r"\b(?:X|ALSO)\(((?:HOOK|KEY)_\w+)", tables))
    vectors = set(re.findall(r"\.key = ETL_((?:HOOK|KEY)_\w+)", "".join(texts("tests/unit/etl/test_decode_*.c"))))
    lacking = rows - vectors - {"KEY_EVENT_INFO", "KEY_EVENT_MAP"}
    results.check(f"each of {len(rows)} events has a vector", len(rows) > 75 and not lacking, *sorted(lacking))


def main():
    results = Results()
    check_vectors(results)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(6 if LONG else 2):
            check_fields(results, folder, seed)
            check_cuts(results, folder, 100 + seed)
    results.finish()


if __name__ == "__main__":
    main()
