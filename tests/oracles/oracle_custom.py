#!/usr/bin/env python3
"""Custom allocators: mimalloc, PIX and described ones, against a naive model.

The trace comes from the second writer, which shares no code with the decoder, and is
written from the published layouts. The model keeps what is allocated in plain lists: an
allocation is a list of pieces, and a free takes bytes from the pieces. Everything that the
program says of kind custom must be what the model says, from the trace and from its
store, with one thread and with two, beside heap blocks at the very same addresses.
"""

import random
import shutil
import struct
import uuid
from collections import Counter

import oracle_support as support
from second_writer import records
from second_writer.container import QPC, Clock, Record, Style, TraceFile

MIMALLOC = uuid.UUID("138f4dbb-ee04-4899-aa0a-572ad4475779").bytes_le
PIX = uuid.UUID("8819ca17-7faa-4184-afb7-a4120ca793cd").bytes_le
ENGINE = uuid.UUID("0d1ce000-5a5a-4b4b-8c8c-102030405060")
ENGINE_EVENTS = (f"{ENGINE}:alloc=300(size@0:u32,address@8:ptr,heap@4:u32),"
                 f"free=301(heap@0:u32,address@4:ptr),name=Engine")
POOL = uuid.UUID("0d1ce000-5a5a-4b4b-8c8c-102030405061")
POOL_EVENTS = f"{{{str(POOL).upper()}}}:alloc=7(address@2+P:u64,size@0:u16),free=8(address@0:u64)"
ORIGIN = 1_000_000
PAGES = {8: 0x7FF6_0000_0000, 4: 0x0100_0000}
HEAP_BITS = 1 << 18


class Piece:
    def __init__(self, start, end, is_empty):
        self.start, self.end, self.is_empty = start, end, is_empty


class Allocation:
    """One allocation, and what is left of it."""

    def __init__(self, owner, ticks, tid, start, size, stack):
        self.owner, self.ticks, self.tid, self.stack = owner, ticks, tid, stack
        self.pieces = [Piece(start, start + max(size, 1), size == 0)]


class Model:
    """Lifetimes by the rules in words of docs/reports.md."""

    def __init__(self):
        self.live = {}  # owner: allocations
        self.done = []
        self.unknown = {}
        self.over_live = 0
        self.heap_blocks = set()

    def end(self, one, start, end, is_empty, ticks, how):
        pid, heap = one.owner
        self.done.append((pid, heap, start, 0 if is_empty else end - start, one.ticks, ticks, how, one.tid, one.stack))

    def alloc(self, pid, heap, ticks, tid, address, size, stack):
        if address == 0:
            return
        owner = (pid, heap)
        live = self.live.setdefault(owner, [])
        end = address + max(size, 1)
        over = [(one, piece) for one in live for piece in one.pieces
                if (piece.start == address if piece.is_empty else piece.start < end and piece.end > address)]
        self.over_live += bool(over)
        for one, piece in over:
            self.end(one, piece.start, piece.end, piece.is_empty, ticks, "free")
            one.pieces.remove(piece)
        live.append(Allocation(owner, ticks, tid, address, size, stack))

    def free(self, pid, heap, ticks, address, size=None):
        live = self.live.get((pid, heap), [])
        if address == 0:
            return
        for one in live:
            for piece in one.pieces:
                if piece.is_empty and piece.start == address:
                    self.end(one, address, address, True, ticks, "free")
                    one.pieces.remove(piece)
                    return
        whole = [piece.end for one in live for piece in one.pieces if piece.start == address]
        end = address + size if size else whole[0] if whole else address
        if end == address:
            self.unknown[pid] = self.unknown.get(pid, 0) + 1
            return
        hit = sorted((piece.start, one.ticks) for one in live for piece in one.pieces
                     if not piece.is_empty and piece.start < end and piece.end > address)
        if not hit:
            self.unknown[pid] = self.unknown.get(pid, 0) + 1
            return
        one = next(one for one in live if one.ticks == hit[0][1])
        for piece in [piece for piece in one.pieces if piece.start < end and piece.end > address]:
            one.pieces.remove(piece)
            low, high = max(piece.start, address), min(piece.end, end)
            self.end(one, low, high, False, ticks, "free")
            one.pieces += [Piece(*part, False) for part in ((piece.start, low), (high, piece.end)) if part[0] < part[1]]

    def exit(self, pid, ticks):
        for owner, live in self.live.items():
            if owner[0] == pid:
                self.finish(live, ticks, "process-exit")

    def finish(self, live, ticks, how):
        for one in live:
            for piece in one.pieces:
                self.end(one, piece.start, piece.end, piece.is_empty, ticks, how)
            one.pieces = []

    def lifetimes(self):
        for live in self.live.values():
            self.finish(live, None, "none")
        return sorted(self.done, key=str)


class Writer:
    """Records in time order, each on a tick of its own."""

    def __init__(self, seed, style):
        self.chance = random.Random(seed)
        self.clock = Clock(QPC, 10_000_000, ORIGIN, 133_000_000_000_000_000)
        self.file = TraceFile(self.clock, 3, style, ORIGIN, random.Random(seed + 1))
        self.ticks = ORIGIN + 1000
        self.count = 0

    def step(self):
        self.ticks += self.chance.randrange(1, 400)
        return self.ticks

    def put(self, data):
        self.count += 1
        self.file.add(Record(self.count, self.ticks, self.chance.randrange(3), data, True))

    def write(self, path):
        self.file.cut()
        self.file.write(path, "custom.etl")


class Program:
    def __init__(self, pid, width):
        self.pid, self.width, self.tid = pid, width, pid + 1
        self.blocks = {}  # heap name: addresses that may be live


def items_of(chance, width, frames):
    """The stack of an event in one of the forms that Windows has for it."""
    if not frames:
        return b"", None
    trail = records.item(1, bytes(16), 1)  # a related activity, which is no stack
    narrow = width == 4 and chance.random() < 0.5
    if narrow:
        frames = tuple(frame & 0xFFFF_FFFF for frame in frames)
    data = struct.pack("<Q", 0) + records.words(4 if narrow else 8, *frames)
    item = records.item(5 if narrow else 6, data)
    return (trail + item if chance.random() < 0.3 else item), frames


def event(writer, program, provider, number, payload, items=b"", version=0):
    writer.put(records.event(program.width, provider, number, program.tid, program.pid, writer.ticks, payload,
                             version=version, items=items))


def heap_number(program):
    return program.width * 100_000_000 + 3  # too large for a handle: a hash stands for it


ALLOCATORS = ("mimalloc", "PIX 3", "PIX 65535", "Engine 7", "custom")


def write_alloc(writer, program, heap, address, size, items):
    word = records.words
    if heap == "mimalloc":
        event(writer, program, MIMALLOC, 100, struct.pack("<QQ", address, size), items, 1)
    elif heap.startswith("PIX"):
        payload = struct.pack("<H", int(heap[4:])) + word(program.width, address) + struct.pack("<QQ", size, 9)
        event(writer, program, PIX, 16, payload, items)
    elif heap.startswith("Engine"):
        event(writer, program, ENGINE.bytes_le, 300, records.u32(size, 7) + word(program.width, address), items)
    else:
        payload = struct.pack("<H", size) + bytes(program.width) + struct.pack("<Q", address)
        event(writer, program, POOL.bytes_le, 7, payload, items)


def write_free(writer, program, heap, address, size):
    word = records.words
    if heap == "mimalloc":
        event(writer, program, MIMALLOC, 101, struct.pack("<QQ", address, (size + 63) & ~63), version=1)
    elif heap.startswith("PIX"):
        payload = struct.pack("<H", int(heap[4:])) + word(program.width, address) + struct.pack("<QQ", size, 0)
        event(writer, program, PIX, 17, payload)
    elif heap.startswith("Engine"):
        event(writer, program, ENGINE.bytes_le, 301, records.u32(7) + word(program.width, address))
    else:
        event(writer, program, POOL.bytes_le, 8, struct.pack("<Q", address))


def allocate(writer, model, program, heap, chance):
    blocks = program.blocks.setdefault(heap, {})
    address = PAGES[program.width] + chance.randrange(1, 400) * 4096
    size = chance.choice((0, 1, 24, 100, 4000, chance.randrange(1, 4096)))
    roll = chance.random()
    if roll < 0.02:
        address = 0  # failed
    elif roll > 0.05 and address in blocks:
        return  # a block is there, and few frees are lost
    site = chance.randrange(20)
    frames = tuple(0x7FF7_1000_0000 + site * 64 + depth for depth in range(chance.randrange(0, 6)))
    items, frames = items_of(chance, program.width, frames)
    write_alloc(writer, program, heap, address, size, items)
    model.alloc(program.pid, heap, writer.ticks, program.tid, address, size, frames or ())
    blocks[address] = size
    if chance.random() < 0.2:  # a heap block at the same address is another kind's
        writer.step()
        model.over_live += (program.pid, address) in model.heap_blocks and address != 0
        model.heap_blocks.add((program.pid, address))
        writer.put(records.system(program.width, 2, records.HEAP_ALLOC, program.tid, program.pid, writer.ticks,
                                  records.heap_alloc(program.width, 0x1F0000, size, address, 3)))


def release(writer, model, program, heap, chance):
    blocks = program.blocks.setdefault(heap, {})
    address = chance.choice(sorted(blocks)) if blocks and chance.random() < 0.95 else 0x5000
    size = blocks.get(address, 64)
    given = None
    if heap.startswith("PIX"):
        given = size
        if size > 1 and chance.random() < 0.5:  # a part of it, from anywhere
            first = chance.randrange(size)
            given = chance.randrange(1, size - first + 1)
            address += first
        else:
            blocks.pop(address, None)
    elif chance.random() < 0.05:
        address += 8  # inside of a block, which is none
    else:
        blocks.pop(address, None)
    write_free(writer, program, heap, address, size if given is None else given)
    model.free(program.pid, heap, writer.ticks, address, given)


def random_trace(path, seed, steps, style):
    writer, model = Writer(seed, style), Model()
    chance = random.Random(seed + 2)
    programs = [Program(1000, 8), Program(1004, 8), Program(1008, 4)]
    for step in range(steps):
        program = chance.choice(programs)
        writer.step()
        heap = chance.choice(ALLOCATORS)
        if chance.random() < 0.6:
            allocate(writer, model, program, heap, chance)
        else:
            release(writer, model, program, heap, chance)
        if step == steps // 2:
            writer.step()
            gone = programs.pop(1)
            payload = records.process(8, 0xFFFF_8000_0000_1234, gone.pid, 4, 0, "gone.exe", "gone.exe", 0)
            writer.put(records.system(8, 4, records.PROCESS_END, 8, 4, writer.ticks, payload))
            model.exit(gone.pid, writer.ticks)
    writer.write(path)
    return model


def ns(ticks):
    return None if ticks is None else (ticks - ORIGIN) * 100


def wanted_rows(lifetimes):
    return [(pid, heap, f"{start:#x}", size, ns(born), ns(died) if how == "free" else None, how, tid, stack)
            for pid, heap, start, size, born, died, how, tid, stack in lifetimes]


def got_rows(listing):
    addresses = [int(frame["address"], 16) for frame in listing["frames"]]
    stacks = [tuple(addresses[frame] for frame in stack) for stack in listing["stacks"]]
    return [(row["pid"], row["heap"], row["address"], row["size"], row["alloc_time_ns"], row["free_time_ns"],
             row["free_type"], row["thread"], () if row["stack"] is None else stacks[row["stack"]])
            for row in listing["rows"]]


def sums(lifetimes, key):
    found = {}
    for one in lifetimes:
        row = found.setdefault(key(one), [0, 0, 0, 0])
        is_live = one[6] != "free"
        for at, value in enumerate((1, one[3], is_live, one[3] * is_live)):
            row[at] += value
    return found


def reported(path, *options):
    report = support.run_json("report", path, "--kind", "custom", "--top", "all", *options)
    rows = {(row["pid"], row["heap"]): [row["count"], row["size"], row["outstanding_count"], row["outstanding_size"]]
            for row in report["rows"]}
    return report, rows


def check_peaks(results, name, path, lifetimes, options):
    """The largest sum of sizes at any moment, of all of kind custom."""
    report = support.run_json("report", path, "--kind", "custom", "--group-by", "kind", *options)
    steps = []
    for one in lifetimes:
        steps.append((one[4], one[3]))
        if one[6] == "free":
            steps.append((one[5], -one[3]))
    level = peak = 0
    for ticks in sorted({step[0] for step in steps}):
        level += sum(step[1] for step in steps if step[0] == ticks)
        peak = max(peak, level)
    results.equal(f"{name}: peak", [row["peak_size"] for row in report["rows"]], [peak])


def check_trace(results, name, path, model):
    lifetimes = model.lifetimes()
    options = ["--custom-heap", ENGINE_EVENTS, "--custom-heap", POOL_EVENTS]
    listing = support.run_json("allocations", path, "--kind", "custom", "--no-cull", *options)
    got, wanted = Counter(got_rows(listing)), Counter(wanted_rows(lifetimes))
    results.check(f"{name}: lifetimes", got == wanted and len(wanted) > 500, *[f"got    {row}" for row in got - wanted][:5],
                  *[f"wanted {row}" for row in wanted - got][:5])
    report, rows = reported(path, "--group-by", "kind,process,heap", *options)
    results.equal_maps(f"{name}: sums by heap", rows, sums(lifetimes, lambda one: (one[0], one[1])))
    total = report["totals"][0]
    results.equal(f"{name}: frees of unknown blocks", total["free_without_alloc"], sum(model.unknown.values()))
    named = {row["name"]: row["count"] for row in report["diagnostics"]}
    results.equal(f"{name}: allocations over live ones", named.get("alloc_over_live", 0), model.over_live)
    check_peaks(results, name, path, lifetimes, options)
    outputs = {jobs: support.run("report", path, "--format", "json", "--top", "all", *options, "-j", jobs)
               for jobs in ("1", "2")}
    results.check(f"{name}: one thread and two write the same", outputs["1"] == outputs["2"])
    return lifetimes, options


def check_store(results, name, path, lifetimes, options):
    store = path + ".ehs"
    support.run("store", path, "-o", store, *options)
    whole = ["report", "--format", "json", "--top", "all"]
    results.check(f"{name}: the store says the same",
                  support.run(*whole, path, *options).replace(path.encode(), store.encode()) ==
                  support.run(*whole, store))
    summary = path + ".summary.ehs"
    support.run("store", "--summary", path, "-o", summary, *options)
    totals = support.run_json("report", summary, "--kind", "custom")["totals"][0]
    results.equal(f"{name}: totals of the summary", [totals["count"], totals["size"]],
                  [len(lifetimes), sum(one[3] for one in lifetimes)])
    merged = path + ".merged.ehs"
    again = shutil.copy(summary, path + ".again.ehs")
    support.run("merge", summary, again, "--allow-duplicates", "-o", merged)
    results.check(f"{name}: a merge knows the kind",
                  any(total["kind"] == "custom" for total in support.run_json("report", merged)["totals"]))


def check_hostile(results):
    """Payloads and items of any length: what is too short is counted, and the rest is right."""
    writer, model = Writer(5, Style("session", 16384)), Model()
    chance, short = writer.chance, 0
    for _ in range(2000):
        program = Program(1000, chance.choice((4, 8)))
        writer.step()
        needed = {100: 16, 101: 8}
        number = chance.choice((100, 101))
        address = PAGES[4] + chance.randrange(1, 40) * 4096
        payload = struct.pack("<QQQ", address, 100, 7)[:chance.randrange(0, 24)]
        junk = chance.randbytes(chance.randrange(0, 40))
        items = records.item(chance.choice((1, 5, 6, 0x11, 0x12)), junk) if chance.random() < 0.5 else b""
        event(writer, program, MIMALLOC, number, payload, items)
        short += len(payload) < needed[number]
        if len(payload) >= needed[number] and number == 100:
            model.alloc(1000, "mimalloc", writer.ticks, 1001, address, 100, ())
        elif len(payload) >= needed[number]:
            model.free(1000, "mimalloc", writer.ticks, address)
    path = f"{support.WORK}/custom-hostile.etl"
    writer.write(path)
    report, rows = reported(path, "--group-by", "kind,process,heap")
    named = {row["name"]: row["count"] for row in report["diagnostics"]}
    results.equal("hostile: short payloads are counted", named["event_truncated"], short)
    results.equal_maps("hostile: sums", rows, sums(model.lifetimes(), lambda one: (one[0], one[1])))


def check_descriptions(results):
    """A file of descriptions says what options say; info knows the kind."""
    path, lines = f"{support.WORK}/custom-session-0.etl", f"{support.WORK}/engines.txt"
    with open(lines, "w", encoding="ascii") as file:
        file.write(f"# engines\n\n{ENGINE_EVENTS}\r\n{POOL_EVENTS}\n")
    by_option = ["--custom-heap", ENGINE_EVENTS, "--custom-heap", POOL_EVENTS]
    results.check("descriptions of a file are those of options",
                  support.run("report", path, "--custom-heap", "@" + lines) == support.run("report", path, *by_option))
    info = support.run_json("info", path)
    results.check("info says that the kind can be analysed", "custom" in info["can"])
    counted = sum(process.get("custom_events", 0) for process in info["processes"])
    shown = [line for line in support.dump(path) if line.get("fields", {}).get("allocator")]
    results.equal("info counts the events that dump shows", counted, len(shown))
    only = support.run_json("report", path, "--heap", "PIX 3", "--group-by", "kind,heap", *by_option)
    results.equal("--heap takes names", [row["heap"] for row in only["rows"]], ["PIX 3"])


def main():
    results = support.Results()
    styles = {"session": Style("session", 16384), "merged": Style("merged", 16384, compress=True)}
    for seed in range(8 if support.LONG else 2):
        for style_name, style in styles.items():
            name = f"{style_name} {seed}"
            path = f"{support.WORK}/custom-{style_name}-{seed}.etl"
            model = random_trace(path, seed * 100, 3000, style)
            lifetimes, options = check_trace(results, name, path, model)
            check_store(results, name, path, lifetimes, options)
    check_hostile(results)
    check_descriptions(results)
    results.finish()


if __name__ == "__main__":
    main()
