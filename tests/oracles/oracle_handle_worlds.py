#!/usr/bin/env python3
"""Random worlds of handles, written by the second writer, are counted as a naive model counts them.

Programs open handles, close each other's, copy them into other programs and out of them, end with handles
open, and give their process ids and handle values to others. Some handles are the kernel's. Rundowns list
what is open at the start and at the end, and some events are lost on purpose: closes without an open, opens
of a value that is in use. Some headers name no process: the call stack does, or nothing. Payloads have the lengths of older and newer builds, with and without names, and
bytes behind them. The model keeps the table of each process as a dict; it shares no code with the engine.

Compared are counts and outstanding handles by process, type and call stack, unknown frees, and what is odd,
of the trace with one thread and with several, and of its store.
"""

import collections
import os
import random

import oracle_support as support
from second_writer import more_events, records
from second_writer.container import QPC, Clock, Record, Style, TraceFile

CREATE, CLOSE, COPY, TYPES_END, ROW_START, ROW_END = 0x1120, 0x1121, 0x1122, 0x1125, 0x1126, 0x1127
SYSTEM, KERNEL_BIT = 4, 0x80000000
TYPES = {7: "Process", 16: "Event", 37: "File", 44: "Key", 61: None}  # 61 gets no name
PIDS = [1000, 1004, 1008, 1012]
SITES = 4
ODD = "key_over_live", "rundown_block_unseen", "rundown_block_missing", "handle_process_unknown"
STEP = 400_000  # ticks of 100 ns between the end of a process and the next one with its id


class Program:
    def __init__(self, number, pid):
        self.name, self.pid, self.base = f"p{number}.exe", pid, 0x10000000 + number * 0x10000
        self.handles = {}  # value: (type, site or None)


class World:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.width = self.chance.choice((4, 8))
        self.ticks = 1_000_000
        clock = Clock(QPC, 10_000_000, self.ticks, 132_000_000_000_000_000)
        style = Style("session", 65536) if seed % 2 else Style("merged", 65536, compress=True)
        self.file = TraceFile(clock, 1, style, self.ticks, random.Random(seed))
        self.system, self.living, self.made = Program(0, SYSTEM), [], 0
        self.system.name = "System"
        self.counts, self.open = collections.Counter(), collections.Counter()
        self.unknown, self.twice, self.unseen, self.nobodys = collections.Counter(), 0, 0, 0

    # --- records ---------------------------------------------------------------------------

    def put(self, make):
        self.ticks += self.chance.randrange(50, 400)
        self.file.add(Record(0, self.ticks, 0, make(self.ticks), True))

    def put_by(self, hook, pid, payload):
        maker = self.chance.choice((records.system, records.compact))
        self.put(lambda ticks: maker(self.width, 2, hook, pid + 1, pid, ticks, payload))

    def put_perfinfo(self, hook, payload, version=2):
        self.put(lambda ticks: records.perfinfo(self.width, version, hook, ticks, payload))

    def object(self):
        return (0x86000000 if self.width == 4 else 0xFFFFA70000000000) + self.chance.randrange(1 << 20) * 16

    def payload(self, value, kind):
        """What a create or a close has: some builds leave the name off, and bytes behind it mean nothing."""
        name = self.chance.choice(("", "", "\\BaseNamedObjects\\x"))
        payload = more_events.open_handle(self.width, self.object(), value, kind, name)
        return payload[:self.width + 6] if self.chance.random() < 0.2 else payload + bytes(self.chance.choice((0, 0, 2)))

    def walk(self, caller, site):
        kernel = 0x80500000 if self.width == 4 else 0xFFFFF80000500000
        frames = records.stack(self.width, self.ticks, caller.pid, caller.pid + 1, [kernel, caller.base + 0x100 * site])
        self.put_perfinfo(records.STACK, frames)

    # --- processes -------------------------------------------------------------------------

    def introduce(self, program, hook, image_hook):
        key = (0x87000000 if self.width == 4 else 0xFFFFE00001000000) + program.pid * 64
        self.put_perfinfo(hook, records.process(self.width, key, program.pid, SYSTEM, 0, program.name, ""), 4)
        if program is not self.system:
            module = type("module", (), {"path": f"\\Device\\HarddiskVolume1\\{program.name}", "base": program.base,
                                         "size": 0x10000, "checksum": 0, "name": program.name})
            self.put_perfinfo(image_hook, records.image(self.width, module, program.pid, 3, 0), 3)

    def start(self, hook=records.PROCESS_START, image_hook=records.IMAGE_LOAD):
        free = sorted(set(PIDS) - {program.pid for program in self.living})
        if not free:
            return
        self.made += 1
        program = Program(self.made, self.chance.choice(free))
        self.introduce(program, hook, image_hook)
        self.living.append(program)

    def end(self):
        if len(self.living) < 2:
            return
        program = self.living.pop(self.chance.randrange(len(self.living)))
        key = (0x87000000 if self.width == 4 else 0xFFFFE00001000000) + program.pid * 64
        self.put_perfinfo(records.PROCESS_END, records.process(self.width, key, program.pid, SYSTEM, 0, program.name, ""), 4)
        self.settle(program)
        self.ticks += STEP

    def settle(self, program):
        """What is open stays outstanding, also if the process has ended."""
        for kind, site in program.handles.values():
            self.open[program.name, TYPES[kind], site] += 1

    # --- handles ---------------------------------------------------------------------------

    def opened(self, owner, value, kind, site):
        self.counts[owner.name, TYPES[kind], site] += 1
        self.twice += value in owner.handles
        owner.handles[value] = (kind, site)

    def value_for(self, owner):
        bit = KERNEL_BIT if owner is self.system else 0
        free = [value for value in range(4, 84, 4) if value | bit not in owner.handles]
        if not free or self.chance.random() < 0.04:  # its close was lost
            return self.chance.randrange(1, 21) * 4 | bit
        return self.chance.choice(free) | bit

    def create(self):
        caller = self.chance.choice(self.living)
        owner = self.system if self.chance.random() < 0.1 else caller
        value, kind = self.value_for(owner), self.chance.choice(list(TYPES))
        site = self.chance.randrange(SITES) if self.chance.random() < 0.9 else None
        is_named = self.chance.random() < 0.8  # else only a call stack says whose the handle is
        if is_named:
            self.put_by(CREATE, caller.pid, self.payload(value, kind))
        else:
            self.put_perfinfo(CREATE, self.payload(value, kind))
        if site is not None:
            self.walk(caller, site)
        if not is_named and site is None and owner is not self.system:
            self.nobodys += 1
            return
        self.opened(owner, value, kind, site if site is None else f"{caller.name}+0x{0x100 * site:x}")

    def copy(self):
        caller, owner = self.chance.choice(self.living), self.chance.choice(self.living)
        value, kind, site = self.value_for(owner), self.chance.choice(list(TYPES)), self.chance.randrange(SITES)
        payload = more_events.copied_handle(self.width, self.object(), 0x40, value, owner.pid, kind, caller.pid)
        self.put_by(COPY, caller.pid, payload if self.chance.random() < 0.5 else payload[:-4])
        self.walk(caller, site)
        self.opened(owner, value, kind, f"{caller.name}+0x{0x100 * site:x}")

    def close(self):
        owner = self.chance.choice([*self.living, self.system])
        bit = KERNEL_BIT if owner is self.system else 0
        known = sorted(owner.handles)
        value = self.chance.choice(known) if known and self.chance.random() < 0.95 else self.chance.randrange(30, 40) * 4 | bit
        # Handles of the kernel are closed by whoever runs; others with the bits that Windows ignores.
        pid = owner.pid if not bit else self.chance.choice(self.living).pid
        self.put_by(CLOSE, pid, self.payload(value | (self.chance.choice((0, 0, 1, 3)) if not bit else 0), 16))
        if owner.handles.pop(value, None) is None:
            self.unknown[owner.name] += 1

    def list_start(self):
        for owner in [*self.living, self.system]:
            for _ in range(self.chance.randrange(6)):
                value, kind = self.value_for(owner), self.chance.choice(list(TYPES))
                self.put_perfinfo(ROW_START, more_events.listed_handle(self.width, self.object(), owner.pid, value, kind))
                if value not in owner.handles:
                    self.counts[owner.name, TYPES[kind], None] += 1
                    owner.handles[value] = (kind, None)

    def list_end(self):
        """All that is open, and a few that no event told of."""
        for owner in [*self.living, self.system]:
            bit = KERNEL_BIT if owner is self.system else 0
            extra = [(value * 4 | bit, 16) for value in range(200, 200 + self.chance.randrange(3))]
            for value, kind in [*((value, kind) for value, (kind, _) in owner.handles.items()), *extra]:
                self.put_perfinfo(ROW_END, more_events.listed_handle(self.width, self.object(), owner.pid, value, kind))
            for value, kind in extra:
                self.unseen += 1
                self.counts[owner.name, TYPES[kind], None] += 1
                owner.handles[value] = (kind, None)

    def run(self, steps):
        self.introduce(self.system, records.PROCESS_RUNDOWN_START, None)
        for _ in range(3):
            self.start(records.PROCESS_RUNDOWN_START, records.IMAGE_RUNDOWN_START)
        self.list_start()
        for _ in range(steps):
            draw = self.chance.random()
            step = (self.create if draw < 0.42 else self.copy if draw < 0.52 else self.close if draw < 0.96
                    else self.end if draw < 0.98 else self.start)
            step()
        self.list_end()
        for program in [*self.living, self.system]:
            self.settle(program)
        for kind, name in TYPES.items():
            if name is not None:
                self.put_perfinfo(TYPES_END, more_events.named_type(kind, name, self.chance.getrandbits(16)))

    def write(self, path):
        self.file.cut()
        self.file.write(path, "handles.etl")


def counted(path, *options):
    """Handles by process, type and site; unknown frees of all; what is odd."""
    document = support.run_json("report", path, "--kind", "handle", "--group-by", "process,object_type,stack", "--top", "all", *options)
    counts, outstanding = collections.Counter(), collections.Counter()
    for row in document["rows"]:
        stack = [] if row["stack"] is None else document["stacks"][row["stack"]]
        frames = [document["frames"][frame] for frame in stack]
        site = next((f"{frame['module']}+{frame['offset']}" for frame in frames if (frame["module"] or "").startswith("p")), None)
        counts[row["process"], row["object_type"], site] += row["count"]
        outstanding[row["process"], row["object_type"], site] += row["outstanding_count"]
    odd = {row["name"]: row["count"] for row in document["diagnostics"]}
    return +counts, +outstanding, document["totals"][0]["free_without_alloc"], odd


def main():
    results = support.Results()
    for seed in range(40 if support.LONG else 8):
        world = World(seed)
        world.run(1500)
        path, store = (f"{support.WORK}/handles-{seed}{suffix}" for suffix in (".etl", ".ehs"))
        world.write(path)
        support.run("store", path, "-o", store)
        for name, source, options in (("a trace", path, ("-j", "1")), ("a trace, 2 threads", path, ("-j", "2")),
                                      ("a trace, 7 threads", path, ("-j", "7")), ("a store", store, ())):
            counts, outstanding, unknown, odd = counted(source, *options)
            results.equal_maps(f"seed {seed}: handles of {name}", counts, +world.counts)
            results.equal_maps(f"seed {seed}: open handles of {name}", outstanding, +world.open)
            results.equal(f"seed {seed}: unknown closes of {name}", unknown, sum(world.unknown.values()))
            results.equal(f"seed {seed}: what is odd of {name}", [odd.get(what, 0) for what in ODD],
                          [world.twice, world.unseen, 0, world.nobodys])
        os.remove(path)
        os.remove(store)
    results.finish()


if __name__ == "__main__":
    main()
