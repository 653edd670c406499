#!/usr/bin/env python3
"""Compares what `export --format perfetto` writes with `windows` and `info`.

The trace is read by protoc and python3-protobuf, from perfetto.proto, and then as Perfetto's trace
processor imports it: packets of a sequence with their interned data, dumps as differences to the
dump before by process and call stack, counters by track. Whatever the importer counts as an error
and drops is a failure here. The numbers that remain must be those of `windows` at the same times,
by call stack and by process.

Also checks that `pprof` and `folded` exports are what Perfetto's importers of these two formats
recognize and keep.
"""

import gzip
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

import oracle_memory_curves
from oracle_export import MAKE_TRACE, NO_STACK, WORK, cleaned, export, frame_text, hostile_trace, made_traces
from oracle_export_pprof import Profile, fields, report_values
from oracle_support import Results, run, run_json, skip_all

HERE = os.path.dirname(os.path.abspath(__file__))
CLOCKS = {6: "BOOTTIME", 3: "MONOTONIC", 4: "MONOTONIC_COARSE", 1: "REALTIME"}
UNKNOWN_PID = 0xFFFFFFFF


def protocol():
    """The module that protoc makes of perfetto.proto, or why there is none."""
    if not shutil.which("protoc"):
        return None, "protoc is not here (protobuf-compiler)"
    subprocess.run(["protoc", f"--proto_path={HERE}", f"--python_out={WORK}", "perfetto.proto"], check=True)
    sys.path.insert(0, WORK)
    sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, if this is another Python
    try:
        return importlib.import_module("perfetto_pb2"), None
    except ImportError as error:
        return None, f"python3-protobuf is not here: {error}"


class Imported:
    """A trace as the trace processor keeps it; `dropped` is what it would not keep."""

    def __init__(self, protocol_module, data):
        self.trace = protocol_module.Trace.FromString(data)
        self.dropped = []
        self.interned = defaultdict(lambda: defaultdict(dict))  # of a sequence, by field and iid
        self.begun, self.clocks, self.tracks = set(), {}, {}
        self.counters, self.instants = defaultdict(list), []
        self.callsites, self.allocations = {}, []  # by frames; (time, pid, heap, callsite, count, size)
        self.last, self.corrections, self.seen = {}, {}, set()
        self.next_index, self.pending = 0, []
        for packet in self.trace.packet:
            self.read(packet)
        if self.pending:
            self.dropped.append("the last dump is not finished")

    def read(self, packet):
        sequence = packet.trusted_packet_sequence_id
        if sequence == 0:
            self.dropped.append("a packet without a sequence")
        if packet.sequence_flags & 1:
            self.interned[sequence].clear()
            self.begun.add(sequence)
        if packet.sequence_flags & 2 and sequence not in self.begun:
            self.dropped.append("a packet before the state that it needs")
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                if entry.iid == 0 or entry.iid in self.interned[sequence][field.name]:
                    self.dropped.append(f"{field.name} {entry.iid} is defined twice")
                self.interned[sequence][field.name][entry.iid] = entry
        which = packet.WhichOneof("data")
        if which in ("track_event", "profile_packet") and not packet.HasField("timestamp"):
            self.dropped.append("an event without a time")
        if which:
            getattr(self, which)(packet, getattr(packet, which))

    def clock_snapshot(self, _, snapshot):
        self.clocks = {CLOCKS[clock.clock_id]: clock.timestamp for clock in snapshot.clocks}

    def track_descriptor(self, _, track):
        if track.uuid == 0 or track.uuid in self.tracks:
            self.dropped.append(f"track {track.uuid} is defined twice")
        if track.parent_uuid and track.parent_uuid not in self.tracks:
            self.dropped.append(f"track {track.uuid} comes before its parent")
        self.tracks[track.uuid] = track

    def track_event(self, packet, event):
        track = self.tracks.get(event.track_uuid)
        if track is None:
            self.dropped.append("an event of no track")
        elif event.type == event.TYPE_COUNTER and track.HasField("counter") and event.HasField("counter_value"):
            pid = self.tracks[track.parent_uuid].process.pid if track.parent_uuid else None
            self.counters[(pid, track.name)].append((packet.timestamp, event.counter_value))
        elif event.type == event.TYPE_INSTANT and not track.HasField("counter"):
            self.instants.append((packet.timestamp, event.name))
        else:
            self.dropped.append("an event of the wrong track")

    def profile_packet(self, packet, dump):
        if dump.index != self.next_index:
            self.dropped.append(f"dump {dump.index} follows {self.next_index - 1}")
        self.next_index = dump.index + 1
        if "MONOTONIC_COARSE" not in self.clocks:
            self.dropped.append("times of dumps have no clock")
        for heap in dump.process_dumps:
            self.pending += [(heap.timestamp, heap.pid, heap.heap_name or "unknown", sample) for sample in heap.samples]
        if not dump.continued:
            for entry in self.pending:
                self.allocate(packet.trusted_packet_sequence_id, *entry)
            self.pending = []

    def allocate(self, sequence, time, pid, heap, sample):
        frames = self.frames(sequence, sample.callstack_id)
        if not frames:
            self.dropped.append(f"call stack {sample.callstack_id} is not complete")
            return
        site = self.callsites.setdefault(frames, len(self.callsites))
        got = [sample.alloc_count, sample.self_allocated, sample.free_count, sample.self_freed]
        last = self.last.setdefault((pid, site), [0] * 4)
        if (pid, sample.callstack_id, heap, site) not in self.seen:
            self.seen.add((pid, sample.callstack_id, heap, site))
            self.corrections[sample.callstack_id] = list(last)
        got = [value + more for value, more in zip(got, self.corrections[sample.callstack_id], strict=True)]
        change = [value - before for value, before in zip(got, last, strict=True)]
        if min(change) < 0:
            self.dropped.append(f"call stack {sample.callstack_id} shrinks: {change}")
            return
        self.last[(pid, site)] = got
        for count, size in (change[:2], [-value for value in change[2:]]):
            if count or size:
                self.allocations.append((time, pid, heap, frames, count, size))

    def frames(self, sequence, iid):
        """(mapping, place, name) of each, outermost first, by which call stacks are told apart."""
        interned, out = self.interned[sequence], []
        stack = interned["callstacks"].get(iid)
        for frame_iid in stack.frame_ids if stack else []:
            frame = interned["frames"].get(frame_iid)
            mapping = interned["mappings"].get(frame.mapping_id) if frame else None
            name = interned["function_names"].get(frame.function_name_id) if frame else None
            path = interned["mapping_paths"].get(mapping.path_string_ids[0]) if mapping else None
            build = interned["build_ids"].get(mapping.build_id) if mapping and mapping.build_id else None
            if not (mapping and name and path and frame.HasField("rel_pc")) or (mapping.build_id and not build):
                return None
            place = (path.str, build.str if build else b"", mapping.start, mapping.end)
            out.append((place, frame.rel_pc, name.str.decode()))
        return tuple(out)


def unreleased(imported):
    """{time: {(pid, heap, names of frames): [count, size, all allocated]}} as the flame graph adds up."""
    sums, out = defaultdict(lambda: [0, 0, 0]), {}
    times = sorted({time for time, *_ in imported.allocations})
    at = 0
    entries = sorted(imported.allocations, key=lambda entry: entry[0])
    for time in times:
        while at < len(entries) and entries[at][0] == time:
            _, pid, heap, frames, count, size = entries[at]
            row = sums[(pid, heap, tuple(name for _, _, name in frames))]
            row[0] += count
            row[1] += size
            row[2] += max(size, 0)
            at += 1
        out[time] = {key: tuple(row) for key, row in sums.items() if row[0] or row[1]}
    return out


def pid_of(row):
    return UNKNOWN_PID if row["pid"] is None else row["pid"]


def step_of(span, most):
    """The length of windows: 1, 2 or 5 times a power of ten, fewer than `most` of them."""
    step = 1
    while span // step >= most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


def report_windows(trace, step, by, *arguments):
    """{end of window: {(pid, kind, stack): [count, size]}}, and the first window's start."""
    at_exit = [] if "--at-exit" in arguments else ["--at-exit", "leaked"]  # as it is for `export`
    document = run_json("windows", trace, "--every", f"{step}ns", "--group-by", by, *at_exit, *arguments)
    names = [cleaned(frame_text(frame)) for frame in document.get("frames", [])]
    out = {}
    for window in document["windows"]:
        rows = defaultdict(lambda: [0, 0])
        for row in window["rows"]:
            stack = ()
            if "stack" in by.split(","):
                inner = document["stacks"][row["stack"]] if row["stack"] is not None else None
                stack = (row["kind"], *([names[i] for i in reversed(inner)] if inner else [NO_STACK]))
            total = rows[(pid_of(row), row["kind"], stack)]
            total[0] += row["outstanding_count"]
            total[1] += row["outstanding_size"]
        out[window["to_ns"]] = {key: tuple(row) for key, row in rows.items() if any(row)}
    return out, document


def check_dumps(results, imported, trace, label, span, *arguments):
    wanted, _ = report_windows(trace, step_of(span, 50), "kind,process,stack", *arguments)
    got = {time: {key: row[:2] for key, row in rows.items()} for time, rows in unreleased(imported).items()}
    last, wrong, compared = {}, [], 0
    for time in sorted(wanted):
        last = got.get(max(time, 0), last)
        compared += len(last)
        if last != wanted[time]:
            wrong.append((time, set(last.items()) ^ set(wanted[time].items())))
    results.check(f"{label}: {len(wanted)} windows have the stacks of `windows` ({compared} compared)", not wrong, *wrong[:2])
    results.check(f"{label}: no dump at another time", set(got) <= {max(time, 0) for time in wanted}, sorted(got)[:5])


def check_counters(results, imported, trace, label, span, *arguments):
    wanted, document = report_windows(trace, step_of(span, 1000), "kind,process", *arguments)
    curves = {}
    for (pid, name), values in imported.counters.items():
        if name.endswith(" outstanding"):
            curves[(pid % 2**32, name.split()[0], ())] = values
    names = {key for rows in wanted.values() for key in rows}
    results.check(f"{label}: each process and kind has a counter", names <= set(curves), names - set(curves))
    wrong = []
    for key, values in curves.items():
        at, value = 0, None
        for time in sorted(wanted):
            while at < len(values) and values[at][0] <= max(time, 0):
                value, at = values[at][1], at + 1
            if value != wanted[time].get(key, (0, 0))[1]:
                wrong.append((key, time, value, wanted[time].get(key)))
    results.check(f"{label}: {len(curves)} counters have the values of `windows`", not wrong, *wrong[:3])
    check_memory(results, imported, document, label)


def check_memory(results, imported, document, label):
    """Commit and working sets are those of the last records before the ends of windows."""
    wanted = defaultdict(dict)

    def add(pid, names, sample):
        for name, key in names:
            if sample.get(key) is not None:
                wanted[(pid, name)][sample["time_ns"]] = sample[key]

    for window in document["windows"]:
        if window.get("memory"):
            add(None, [("system commit", "commit_size"), ("system available", "available_size")], window["memory"])
        for process in window.get("process_memory") or []:
            add(process["pid"], [("commit", "commit_size"), ("working set", "working_set_size")], process)
    got = {key: dict(values) for key, values in imported.counters.items() if not key[1].endswith(" outstanding")}
    wanted = {key: {max(time, 0): value for time, value in values.items()} for key, values in wanted.items()}
    results.equal_maps(f"{label}: {len(wanted)} counters are of MemInfo records", got, wanted)
    return wanted


def check_trace(results, protocol_module, trace, label, *arguments):
    data = export(trace, "perfetto", *arguments)
    results.equal(f"{label}: begins as the trace processor expects", data[:1], b"\n")
    decoded = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=perfetto.protos.Trace", "perfetto.proto"],
                             input=data, capture_output=True, check=False)
    text = decoded.stdout.decode(errors="replace")
    unknown = re.findall(r"^ *\d+(?::| \{)", text, re.MULTILINE)
    results.check(f"{label}: protoc reads it, and knows every field", decoded.returncode == 0 and not unknown,
                  decoded.stderr[-300:], unknown[:5])
    imported = Imported(protocol_module, data)
    results.equal(f"{label}: protoc and Python find as many packets", text.count("\npacket {") + text.startswith("packet {"),
                  len(imported.trace.packet))
    results.check(f"{label}: the trace processor would keep everything", not imported.dropped, *imported.dropped[:5])
    sizes = [packet.ByteSize() for packet in imported.trace.packet]
    results.check(f"{label}: packets are small", max(sizes) < 1 << 20, max(sizes))
    info = run_json("info", trace, *[word for word in arguments if word == "--no-symbols"])
    window = run_json("report", trace, *arguments)["window"]
    span = window["to_ns"] - window["from_ns"]
    check_dumps(results, imported, trace, label, span, *arguments)
    check_counters(results, imported, trace, label, span, *arguments)
    check_tracks(results, imported, info, window, label)
    return imported


def check_tracks(results, imported, info, window, label):
    names = {}
    for process in info["processes"]:
        names.setdefault(pid_of(process), set()).add(cleaned(process["name"] or "Unknown"))
    wrong = [track.process for track in imported.tracks.values() if track.HasField("process") and
             track.process.process_name not in names.get(track.process.pid % 2**32, ())]
    results.check(f"{label}: processes have their names", not wrong, *wrong[:3])
    wanted = [(max(mark["time_ns"], 0), cleaned(mark["name"])) for mark in info["marks"]
              if window["from_ns"] <= mark["time_ns"] <= window["to_ns"]]
    results.equal(f"{label}: {len(wanted)} marks", imported.instants, wanted)


def check_pprof(results, trace, label):
    """What Perfetto keeps of a profile: one aggregate for each sample type, one value for each sample."""
    data = gzip.decompress(export(trace, "pprof"))
    kinds = {1: "bytes", 2: "bytes", 3: "bytes", 4: "bytes", 5: "bytes", 6: "bytes", 9: "number", 10: "number",
             11: "bytes", 12: "number", 13: "any", 14: "number"}
    unknown = [number for number, value in fields(data) if number not in kinds or
               kinds[number] not in ("any", "number" if isinstance(value, int) else "bytes")]
    results.check(f"{label}: pprof has only fields that Perfetto recognizes a profile by", not unknown, unknown[:5])
    profile = Profile(export(trace, "pprof"))
    ids = {location for number, value in fields(data) if number == 4 for location in [dict(fields(value))[1]]}
    kept = defaultdict(int)
    for stack, values, _ in profile.samples:
        for (name, _), value in zip(profile.types, values, strict=True):
            kept[name] += value if stack else 0
    results.check(f"{label}: locations of pprof have ids", ids == set(profile.locations) and 0 not in ids)
    wanted = defaultdict(int)
    for row in report_values(trace).values():
        for name, value in row.items():
            wanted[name] += value
    results.equal_maps(f"{label}: Perfetto keeps every value of pprof", {key: value for key, value in kept.items() if value},
                       dict(wanted))


def check_folded(results, trace, label, *arguments):
    """What Perfetto keeps of folded stacks. It looks at three lines to recognize the format."""
    data = export(trace, "folded", *arguments)
    lines = data.decode().splitlines()
    odd = [line for line in lines if line != line.strip() or line.startswith("#") or
           not re.fullmatch(r"[^;]+(?:;[^;]+)+ [1-9][0-9]*", line) or int(line.rsplit(" ", 1)[1]) >= 2**63]
    results.check(f"{label}: {len(lines)} folded lines are kept by Perfetto", lines and not odd, *odd[:3])
    starts = (b"{", b"[{", b"*version", b"PK", b"\x1f\x8b", b"PERFILE2", b"<", b"9,0,i,vers", b" ", b"\n")
    texts = (b"# tracer", b"TRACE:\n")
    results.check(f"{label}: they are taken for no other format", not data.startswith(starts) and
                  not any(text in data[:65536] for text in texts), data[:80])


def made(name, *options):
    trace = os.path.join(WORK, f"{name}.etl")
    subprocess.run([MAKE_TRACE, name, trace, *options], check=True, stdout=subprocess.DEVNULL)
    return trace


def main():
    protocol_module, reason = protocol()
    if protocol_module is None:
        skip_all(reason)
        return
    results = Results()
    traces = made_traces()
    hostile, named = hostile_trace()
    for trace in traces:
        check_trace(results, protocol_module, trace, os.path.basename(trace))
    check_trace(results, protocol_module, hostile, "hostile names", *named)
    check_trace(results, protocol_module, traces[1], "a window", "--from", "2ms", "--to", "40ms", "--kind", "heap")
    check_trace(results, protocol_module, traces[1], "one process", "--process",
                run_json("info", traces[1])["processes"][0]["name"])
    check_trace(results, protocol_module, traces[2], "freed at exit", "--at-exit", "freed")
    memory = made("kitchen-sink")
    check_trace(results, protocol_module, memory, "every event", "--kind", "heap,virtualalloc,reserve,pool,mapped")
    samples = os.path.join(WORK, "memory.etl")
    oracle_memory_curves.write_trace(samples, False)
    imported = check_trace(results, protocol_module, samples, "MemInfo records")
    results.check("commit and working sets are there", {"system commit", "commit", "working set"} <=
                  {name for _, name in imported.counters}, *imported.counters)
    store = os.path.join(WORK, "perfetto.ehs")
    run("store", traces[1], "-o", store)
    path = os.path.join(WORK, "named.pftrace")
    run("export", store, "-o", path)
    with open(path, "rb") as file:
        results.check("-o FILE.pftrace means this format", file.read() == export(store, "perfetto"))
    results.check("the store is exported as its trace", export(store, "perfetto") == export(traces[1], "perfetto"))
    for trace in traces:
        check_pprof(results, trace, os.path.basename(trace))
        check_folded(results, trace, os.path.basename(trace))
    check_folded(results, hostile, "hostile names", *named)
    results.finish()


if __name__ == "__main__":
    main()
