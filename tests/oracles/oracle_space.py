#!/usr/bin/env python3
"""Address space: reservations, and `report --map` against a naive model.

Goal: the map says of every region, heap, run of units and pin what follows from the lifetimes
by the rules of docs/address_space.md, at any moment and for any unit; and traces and stores
say the same of reservations and of maps, whatever the number of threads.

Method: random programs (`make_trace workload`), whose truth lists lifetimes. The model keeps
the pages that are committed and the bytes of each block in plain sets and sums, unit by unit.
Images are not in the truth, so maps are compared for the kinds of memory alone; one
comparison sees to it that images only add regions.
"""

import json
import os
import random
import subprocess
from collections import defaultdict

from oracle_support import ETLHEAP, LONG, WORK, Results, run_json
from second_writer import records
from second_writer.container import QPC, Clock, Record, Style, TraceFile

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
ALL = "heap,virtualalloc,extent,custom,reserve"
PAGE, JOIN, SHARE, LEVELS = 4096, 16, 16, 4
WAYS = ["", "--tidless --cpus 2", "--wow64 --keys", "--compress --hz 3117777", "--end-rundown", "--pointer-bytes 4 --keys"]
ORIGIN = 1_000_000
AMOUNTS = "committed_size outstanding_size outstanding_count".split()
LARGEST = "largest_uncommitted_size largest_empty_size".split()


class Process:
    """What a process has at a moment."""

    def __init__(self):
        self.reserved, self.pages, self.blocks = [], set(), []
        self.extents = defaultdict(set)  # heap: pages


def pages_of(row):
    return range(row["addr"] // PAGE, (row["addr"] + row["size"]) // PAGE)


def processes_at(truth, ticks, at_exit):
    out = defaultdict(Process)
    for row in truth["lifetimes"] + truth["reservations"]:
        end = None if row["ft"] == "process-exit" and at_exit == "leaked" else row["f"]
        if row["a"] >= ticks or (end is not None and end < ticks):
            continue
        process = out[row["process"], row["pid"]]
        if row["kind"] == "reserve":
            process.reserved.append((row["addr"], row["addr"] + row["size"]))
        elif row["kind"] == "heap":
            process.blocks.append(row)
        else:
            process.pages.update(pages_of(row))
            if row["kind"] == "extent":
                process.extents[row["heap"]].update(pages_of(row))
    return out


def stretches(pages):
    """Pages that follow each other, as addresses."""
    out = []
    for page in sorted(pages):
        if out and out[-1][1] == page * PAGE:
            out[-1][1] += PAGE
        else:
            out.append([page * PAGE, (page + 1) * PAGE])
    return out


def rank(block):
    return -block["size"], block["addr"], block["a"]


def regions_of(process, unit):
    """Reservations, and what is in none of them, joined where it is near."""
    known = sorted(process.reserved)
    units = defaultdict(list)  # (unit, heap): blocks
    for block in process.blocks:
        units[block["addr"] // unit, block["heap"]].append(block)
    pieces = stretches(process.pages)
    for (number, _), blocks in units.items():
        first = min(blocks, key=rank)["addr"]
        if first // PAGE not in process.pages and not any(low <= first < high for low, high in known):
            pieces.append([number * unit, (number + 1) * unit])
    for block in process.blocks:  # units in which a block only goes on
        for number in range(block["addr"] // unit + 1, (block["addr"] + block["size"] - 1) // unit + 1):
            at = number * unit
            if at // PAGE not in process.pages and not any(low <= at < high for low, high in known):
                pieces.append([at, at + unit])
    outside = []
    for low, high in pieces:
        parts = [[low, high]]
        for start, end in known:
            parts = [part for one in parts for part in ([one[0], min(one[1], start)], [max(one[0], end), one[1]])
                     if part[0] < part[1]]
        outside += parts
    joined = []
    for low, high in sorted(outside):
        near = joined and (low <= joined[-1][1] or (
            (low - joined[-1][1]) // unit < JOIN and not any(joined[-1][1] <= start < low for start, _ in known)))
        if near:
            joined[-1][1] = max(joined[-1][1], high)
        else:
            joined.append([low, high])
    return sorted([(low, high, True) for low, high in known] + [(low, high, False) for low, high in joined])


def level_of(run, size):
    committed, live, blocks = run
    if live == 0 and blocks == 0:
        return int(committed > 0)
    quarter = (committed or size) // 4
    return 2 + sum(live >= n * quarter for n in (1, 2, 3))


def by_unit(process, regions, unit):
    """Bytes and blocks of each (region, unit): those of a unit and heap go with its largest block."""
    leaders = {}
    for block in process.blocks:
        key = block["addr"] // unit, block["heap"]
        if key not in leaders or rank(block) < rank(leaders[key]):
            leaders[key] = block
    def region_of(number, heap):
        leader = leaders.get((number, heap))
        address = leader["addr"] if leader else number * unit
        return next(i for i, (low, high, _) in enumerate(regions) if low <= address < high)
    live, count, heaps = defaultdict(int), defaultdict(int), defaultdict(set)
    largest = {}
    for block in process.blocks:
        first, end = block["addr"], block["addr"] + block["size"]
        for number in range(first // unit, max(first, end - 1) // unit + 1):
            place = region_of(number, block["heap"]), number
            live[place] += min(end, (number + 1) * unit) - max(first, number * unit)
            heaps[place[0]].add(block["heap"])
        place = region_of(first // unit, block["heap"]), first // unit
        count[place] += 1
        if place not in largest or rank(block) < rank(largest[place]):
            largest[place] = block
    return live, count, heaps, largest


def model_of(process, unit):
    regions = regions_of(process, unit)
    live, count, heaps, largest = by_unit(process, regions, unit)
    out, pins = [], []
    for i, (low, high, is_known) in enumerate(regions):
        row = dict.fromkeys([*AMOUNTS, *LARGEST, "used_size"], 0)
        runs, pin, empty = [], None, 0
        for number in range(low // unit, (high - 1) // unit + 1):
            start, end = max(low, number * unit), min(high, (number + 1) * unit)
            committed = sum(page in process.pages for page in range(start // PAGE, end // PAGE)) * PAGE
            run = [committed, live[i, number], count[i, number]]
            for key, value in zip(AMOUNTS, run):
                row[key] += value
            row["used_size"] += min(run[0], run[1])
            empty = empty + end - start if run[1:] == [0, 0] else 0
            row["largest_empty_size"] = max(row["largest_empty_size"], empty)
            if runs and level_of(runs[-1][2:], runs[-1][1]) == level_of(run, unit):
                runs[-1] = [runs[-1][0], runs[-1][1] + unit, *(a + b for a, b in zip(runs[-1][2:], run))]
            else:
                runs.append([number * unit, unit, *run])
            if committed == 0 or run[1] > committed // SHARE:
                pin = None
                continue
            if pin is None:
                pin = {"address": start, "committed_size": 0, "outstanding_size": 0, "outstanding_count": 0, "largest": None}
                pins.append(pin)
            pin["size"] = end - pin["address"]
            for key, value in zip(AMOUNTS, run):
                pin[key] += value
            one = largest.get((i, number))
            if one and (pin["largest"] is None or one["size"] > pin["largest"]["size"]):
                pin["largest"] = one
        gaps = stretches(set(range(low // PAGE, high // PAGE)) - process.pages)
        row["largest_uncommitted_size"] = max([end - start for start, end in gaps], default=0)
        if row["committed_size"] == 0 and row["outstanding_count"] + row["outstanding_size"] > 0:
            # Blocks lie in committed memory, so what is committed here was not recorded.
            row.update(committed_size=None, largest_uncommitted_size=None, used_size=None)
            runs = [[*one[:2], None, *one[3:]] for one in runs]
        own = heaps[i] | {heap for heap, pages in process.extents.items()
                          if any(low <= start < high for start, _ in stretches(pages))}
        row.update(address=hex(low), size=high - low, is_known=is_known, heap=hex(min(own)) if len(own) == 1 else None,
                   category="heap" if own else "private" if row["committed_size"] else "reserved", runs=runs)
        out.append(row)
    return out, [pin for pin in pins if pin["outstanding_count"] > 0]


def heaps_of(process, unit):
    out = defaultdict(lambda: [0, 0, 0, set()])
    for heap, pages in process.extents.items():
        out[hex(heap)][0] = len(pages) * PAGE
    for block in process.blocks:
        row = out[hex(block["heap"])]
        row[1] += block["size"]
        row[2] += 1
        row[3].update(range(block["addr"] // unit, max(block["addr"], block["addr"] + block["size"] - 1) // unit + 1))
    return {heap: [row[0] or None, *row[1:3], len(row[3]) * unit] for heap, row in out.items()}


def as_listed(region):
    row = {key: region[key] for key in (*AMOUNTS, *LARGEST, "used_size", "address", "size", "is_known", "heap", "category")}
    row["runs"] = [[int(run["address"], 16), run["size"], *(run[key] for key in AMOUNTS)] for run in region["runs"]]
    return row


def differences(got, wanted):
    lines = []
    for key in sorted(set(got) | set(wanted), key=str):
        if got.get(key) != wanted.get(key):
            lines.append(f"{key}: got {got.get(key)}, wanted {wanted.get(key)}")
    return lines[:6]


def overlaps(process):
    ends = sorted(process.reserved)
    return any(a[1] > b[0] for a, b in zip(ends, ends[1:]))


def compare_map(results, label, trace, truth, ticks, unit, at_exit):
    at_ns = (ticks - truth["H"]) * 10**9 // truth["hz"]
    arguments = ["--at", f"{at_ns}ns", "--map-unit", str(unit), "--at-exit", at_exit, "--kind", ALL]
    document = run_json("report", trace, "--map", "--no-cull", *arguments)
    complaints = []
    model = processes_at(truth, ticks, at_exit)
    got = {(one["process"], one["pid"]): one for one in document["processes"]}
    if document["unit"] != unit or document["at_ns"] != at_ns:
        complaints.append(f"unit {document['unit']}, at_ns {document['at_ns']}, wanted {unit} and {at_ns}")
    complaints += differences({key: 1 for key in got}, {key: 1 for key in model})
    pins = {}
    for key, process in model.items():
        if key not in got or overlaps(process):
            continue
        regions, own = model_of(process, unit)
        complaints += differences({row["address"]: as_listed(row) for row in got[key]["map"]},
                                  {row["address"]: row for row in regions})
        complaints += differences(
            {row["heap"]: [row[word] for word in (*AMOUNTS, "touched_size")] for row in got[key]["heaps"]},
            heaps_of(process, unit))
        reserved = sum(high - low for low, high in process.reserved)
        totals = {word: sum(row[word] or 0 for row in regions) for word in ("size", *AMOUNTS, "used_size")}
        totals.update({word: max([row[word] or 0 for row in regions]) for word in LARGEST}, reserved_size=reserved)
        if totals["committed_size"] == 0 and any(row["committed_size"] is None for row in regions):
            totals.update(committed_size=None, largest_uncommitted_size=None, used_size=None)
        complaints += differences({word: got[key][word] for word in totals}, totals)
        for pin in own:
            pins[(*key, hex(pin["address"]))] = [pin["size"], *(pin[word] for word in AMOUNTS),
                                                 hex(pin["largest"]["addr"]), pin["largest"]["size"]]
    listed = {(pin["process"], pin["pid"], pin["address"]): [
        pin["size"], *(pin[word] for word in AMOUNTS), pin["largest_address"], pin["largest_size"]] for pin in document["pins"]}
    complaints += differences({key: row for key, row in listed.items() if not overlaps(model[key[:2]])}, pins)
    waste = [pin["committed_size"] - pin["outstanding_size"] for pin in document["pins"]]
    if waste != sorted(waste, reverse=True):
        complaints.append("pins are not sorted by what they waste")
    results.check(f"{label}: {' '.join(arguments[:6])}: {len(model)} processes, {len(pins)} pins", not complaints, *complaints[:8])
    return len(pins)


def compare_stacks(results, label, trace, truth):
    """The stack of a pin is that of its largest block."""
    document = run_json("report", trace, "--map", "--no-cull", "--no-symbols", "--kind", ALL, "--map-unit", "4K")
    frames = [f"{f['module'].lower()}+{f['offset']}" if f["module"] else f["address"] for f in document["frames"]]
    known = {(row["pid"], hex(row["addr"]), row["size"]): row["stack"] for row in truth["lifetimes"]
             if row["kind"] == "heap" and (row["f"] is None or row["ft"] == "process-exit")}
    wrong = []
    for pin in document["pins"]:
        wanted = known[pin["pid"], pin["largest_address"], pin["largest_size"]]
        got = None if pin["stack"] is None else [frames[i] for i in document["stacks"][pin["stack"]]]
        if got != (None if wanted is None else [text.lower() for text in wanted]):
            wrong.append(f"{pin['largest_address']}: got {got}, wanted {wanted}")
    results.check(f"{label}: stacks of {len(document['pins'])} pins", not wrong, *wrong[:4])


def compare_homes(results, label, trace, store):
    """Trace and store, one thread and three, say the same of maps and of reservations."""
    asked = [
        ["report", "--map"], ["report", "--map", "--at", "peak", "--map-unit", "1M"], ["report", "--map", "--at", "40ms"],
        ["report", "--map", "--process", "*.exe", "--top", "3"],
        ["report", "--kind", "reserve"], ["report", "--kind", "virtualalloc,reserve", "--group-by", "thread,kind"],
        ["allocations", "--kind", "reserve"], ["windows", "--kind", "reserve", "--every", "20ms"],
        ["report", "--kind", "reserve", "--at", "peak"], ["report"], ["report", "--group-by", "size_class"],
    ]
    wrong = []
    for command, *arguments in asked:
        texts = []
        for source, jobs in ((trace, "1"), (trace, "3"), (store, "1"), (store, "3")):
            document = run_json(command, source, *arguments, "-j", jobs)
            document.pop("trace")
            texts.append(json.dumps(document))
        if len(set(texts)) != 1:
            wrong.append(f"{command} {' '.join(arguments)}")
    results.check(f"{label}: traces and stores agree, whatever the threads", not wrong, *wrong)


def compare_images(results, label, trace):
    """Images add regions, and change none."""
    whole = run_json("report", trace, "--map")
    bare = run_json("report", trace, "--map", "--kind", ALL)
    def rows(document):
        return {(one["pid"], one["process"]): [row for row in one["map"] if row["category"] != "image"] for one in document["processes"]}
    images = sum(row["category"] == "image" for one in whole["processes"] for row in one["map"])
    results.check(f"{label}: {images} images", images > 0 and rows(whole) == rows(bare))


def compare_csv(results, label, trace):
    document = run_json("report", trace, "--map")
    made = subprocess.run([ETLHEAP, "report", trace, "--map", "--format", "csv"], capture_output=True, check=True)
    lines = made.stdout.decode().splitlines()
    count = sum(len(one["map"]) for one in document["processes"])
    results.check(f"{label}: CSV has a line for each of {count} regions", len(lines) == count + 1 and count > 0)


def refuse(results, trace):
    for arguments in (["--map", "--tree"], ["--map-unit", "64K"], ["--map", "--map-unit", "100000"], ["--map", "--growth"],
                      ["--map", "--group-by", "process"], ["--map", "--format", "markdown"], ["--map", "--from", "1ms"]):
        made = subprocess.run([ETLHEAP, "report", trace, *arguments], capture_output=True, check=False)
        results.check(f"refused: {' '.join(arguments)}", made.returncode == 2 and made.stderr.count(b"\n") == 1, made.stderr)


# --- programs whose heaps are full of holes -----------------------------------------------


class Dense:
    """A program whose blocks lie in what it commits, and mostly go again; and its truth."""

    def __init__(self, seed, style, count):
        self.chance = random.Random(seed)
        self.clock = Clock(QPC, 10_000_000, ORIGIN, 133_000_000_000_000_000)
        self.file = TraceFile(self.clock, 2, style, ORIGIN, random.Random(seed + 1))
        self.ticks, self.count = ORIGIN + 1000, 0
        self.truth = {"H": ORIGIN, "hz": 10_000_000, "lifetimes": [], "reservations": []}
        self.programs = [{"pid": 2000 + 4 * i, "next": 0x1_0000_0000 * (i + 1), "spaces": []} for i in range(count)]
        for program in self.programs:
            payload = records.process(8, 0xFFFF_8000_0000_1000 + program["pid"], program["pid"], 4, 0, "dense.exe", "dense.exe")
            self.put(records.system(8, 4, records.PROCESS_START, 8, 4, self.ticks, payload))

    def put(self, data):
        self.count += 1
        self.file.add(Record(self.count, self.ticks, self.chance.randrange(2), data, True))

    def event(self, program, hook, payload, version=2):
        self.put(records.system(8, version, hook, program["pid"] + 1, program["pid"], self.ticks, payload))

    def row(self, program, kind, address, size, heap=None):
        row = {"kind": kind, "process": "dense.exe", "pid": program["pid"], "heap": heap, "addr": address, "size": size,
               "a": self.ticks, "f": None, "ft": "none", "stack": None}
        self.truth["reservations" if kind == "reserve" else "lifetimes"].append(row)
        return row

    def end(self, row):
        row["f"], row["ft"] = self.ticks, "free"

    def reserve(self, program):
        size = self.chance.choice((1, 4, 16, 64, 160)) * 0x10000 + self.chance.choice((0, 0, 0x3000))
        address = program["next"]
        program["next"] += (size + 0xFFFF & ~0xFFFF) + self.chance.choice((0, 0x10000, 0x200000))
        self.event(program, records.VIRTUAL_ALLOC, records.virtual(8, address, size, program["pid"], records.MEM_RESERVE))
        heap = 0x1000 * self.chance.randrange(1, 4) if self.chance.random() < 0.7 else None
        space = {"row": self.row(program, "reserve", address, size), "heap": heap, "commits": [], "extent": self.chance.random() < 0.3}
        program["spaces"].append(space)

    def commit(self, program, space):
        """The next pages, so that commits do not overlap."""
        low = space["commits"][-1]["addr"] + space["commits"][-1]["size"] if space["commits"] else space["row"]["addr"]
        low += self.chance.choice((0, 0, 0x2000, 0x10000))
        high = min(space["row"]["addr"] + space["row"]["size"], low + self.chance.choice((1, 3, 16, 32, 200, 900)) * PAGE)
        if low >= high:
            return
        if space["extent"] and space["heap"]:
            self.event(program, records.HEAP_EXPAND, records.heap_extent(8, space["heap"], high - low, low, 0, 0))
            row = self.row(program, "extent", low, high - low, space["heap"])
        else:
            self.event(program, records.VIRTUAL_ALLOC, records.virtual(8, low, high - low, program["pid"], records.MEM_COMMIT))
            row = self.row(program, "virtualalloc", low, high - low)
        row["blocks"], row["top"] = [], low
        space["commits"].append(row)

    def allocate(self, program, space):
        commit = self.chance.choice(space["commits"])
        size = self.chance.choice((16, 100, 4000, 20000, 70000, 300_000, 2_500_000))
        address = commit["top"] + self.chance.choice((0, 16, 48))
        if commit["f"] is not None or not space["heap"] or address + size > commit["addr"] + commit["size"]:
            return
        commit["top"] = address + size
        self.event(program, records.HEAP_ALLOC, records.heap_alloc(8, space["heap"], size, address, 3))
        commit["blocks"].append(self.row(program, "heap", address, size, space["heap"]))

    def free(self, program, space):
        commit = self.chance.choice(space["commits"])
        live = [one for one in commit["blocks"] if one["f"] is None]
        if live and self.chance.random() < 0.9:
            one = self.chance.choice(live)
            self.event(program, records.HEAP_FREE, records.heap_free(8, space["heap"], one["addr"], 3))
            self.end(one)
        elif not live and commit["f"] is None and not space["extent"]:
            self.event(program, records.VIRTUAL_FREE, records.virtual(8, commit["addr"], commit["size"], program["pid"],
                                                                      records.MEM_DECOMMIT))
            self.end(commit)

    def release(self, program, space):
        rows = [row for row in space["commits"] if row["f"] is None]
        if any(one["f"] is None for row in rows for one in row["blocks"]) or (rows and space["extent"]):
            return
        self.event(program, records.VIRTUAL_FREE, records.virtual(8, space["row"]["addr"], 0, program["pid"], records.MEM_RELEASE))
        for row in (*rows, space["row"]):
            self.end(row)
        program["spaces"].remove(space)

    def step(self):
        program, roll = self.chance.choice(self.programs), self.chance.random()
        self.ticks += self.chance.randrange(1, 300)
        space = self.chance.choice(program["spaces"]) if program["spaces"] else None
        if space is None or roll < 0.04:
            self.reserve(program)
        elif not space["commits"] or roll < 0.12:
            self.commit(program, space)
        elif roll < 0.60:
            self.allocate(program, space)
        elif roll < 0.98:
            self.free(program, space)
        else:
            self.release(program, space)

    def write(self, path):
        self.file.cut()
        self.file.write(path, "dense.etl")
        self.truth["end"] = self.ticks


def try_dense(results, seed):
    trace = os.path.join(WORK, f"dense-{seed}.etl")
    store = trace[:-4] + ".ehs"
    dense = Dense(seed, Style("merged", 16384, True, 0, width=8), 2)
    for _ in range(6000 if LONG else 2500):
        dense.step()
    dense.write(trace)
    subprocess.run([ETLHEAP, "store", trace, "-o", store], check=True, capture_output=True)
    source = random.Random(seed)
    pins = 0
    for ticks in [dense.ticks + 1] + [source.randrange(ORIGIN + 2000, dense.ticks) for _ in range(10 if LONG else 4)]:
        for unit in (4096, 65536, source.choice((16384, 1 << 18, 1 << 20))):
            pins += compare_map(results, f"dense, seed {seed}", source.choice((trace, store)), dense.truth, ticks, unit, "leaked")
    return pins


def try_way(results, number, options):
    trace = os.path.join(WORK, f"space-{number}.etl")
    store = trace[:-4] + ".ehs"
    events = "6000" if LONG else "1500"
    subprocess.run([MAKE_TRACE, "workload", trace, "--seed", str(70 + number), "--events", events, "--truth",
                    trace + ".json", *options.split()], check=True, capture_output=True)
    subprocess.run([ETLHEAP, "store", trace, "-o", store], check=True, capture_output=True)
    with open(trace + ".json", encoding="utf-8") as file:
        truth = json.load(file)
    label = options or "plain"
    source = random.Random(number)
    pins = 0
    moments = [truth["end"] + 1] + [source.randrange(truth["H"], truth["end"]) for _ in range(12 if LONG else 3)]
    for ticks in moments:
        pins += compare_map(results, label, source.choice((trace, store)), truth, ticks,
                            source.choice((4096, 16384, 65536, 1 << 20)), source.choice(("leaked", "freed")))
    compare_stacks(results, label, trace, truth)
    if number == 0:
        compare_homes(results, label, trace, store)
        compare_images(results, label, trace)
        compare_csv(results, label, trace)
        refuse(results, trace)
    return pins


def main():
    results = Results()
    pins = sum(try_way(results, number, options) for number, options in enumerate(WAYS))
    pins += sum(try_dense(results, seed) for seed in range(1, 12 if LONG else 4))
    results.check("there were pins to compare", pins > 20, f"{pins}")
    results.finish()


if __name__ == "__main__":
    main()
