#!/usr/bin/env python3
"""Views of files in random recordings, against a naive model.

Goal: every view has the process, address, size, file, times and end that follow from the events in
the trace, from a trace and from a store, whatever the number of threads, the width of pointers and
the version of the events.

Method: the second writer, which shares no code with the decoder, writes processes that start and
end and whose ids are used again, views at few addresses, mapped by threads of other processes too,
or without a process of their own, keys that name one file after another, names at the end only,
lost events, payloads of odd lengths, and rundowns that lack or add views. The model goes through
the events that were written, in their order, and keeps live views and the lives of keys in plain
lists.
"""

import random
import struct
import tempfile

from oracle_support import LONG, Results, run, run_json
from second_writer import records
from second_writer.container import QPC, Clock, Record, Style, TraceFile
from second_writer.records import text16, words

MAP, UNMAP, DCSTART, DCEND = 0x0425, 0x0426, 0x0427, 0x0428
NAME, CREATE, DELETE, RUNDOWN = 0x0400, 0x0420, 0x0423, 0x0424
ORIGIN, HZ = 1_000_000, 10_000_000
FOLDER = "\\Device\\HarddiskVolume2\\data\\"
NAMED = 255  # lives of a key that have names


class World:
    """Writes a recording, and keeps what it wrote."""

    def __init__(self, seed, width):
        self.chance, self.width = random.Random(seed), width
        style = Style("merged", 65536, compress=True) if seed % 2 else Style("session", 16384)
        self.file = TraceFile(Clock(QPC, HZ, ORIGIN, 133_000_000_000_000_000), 2, style, ORIGIN, random.Random(seed + 1))
        self.version = self.chance.choice((2, 3))
        self.ticks, self.count, self.files = ORIGIN + 1000, 0, 0
        self.events, self.processes, self.live = [], {}, {}
        base = 0x8C300000 if width == 4 else 0xFFFF82082C300000
        self.keys = {base + at * 0x170: None for at in range(6)}
        for pid in (1000, 1004, 1008):
            self.start(pid)

    def put(self, data):
        self.count += 1
        self.ticks += self.chance.randrange(1, 3000)
        self.file.add(Record(self.count, self.ticks, self.chance.randrange(2), data(self.ticks), False))

    def hook(self, hook, payload, pid=4, version=2):
        maker = self.chance.choice((records.system, records.compact))
        self.put(lambda ticks: maker(self.width, version, hook, pid + 1, pid, ticks, payload))

    def note(self, *event):
        self.events.append((self.ticks, *event))

    def start(self, pid):
        self.processes[pid] = f"app{self.count}.exe"
        name = self.processes[pid]
        self.hook(records.PROCESS_START, records.process(self.width, 0x80001000 + self.count * 16, pid, 4, 0, name, name), version=4)
        self.note("start", pid, name)

    def stop(self, pid):
        name = self.processes.pop(pid)
        self.hook(records.PROCESS_END, records.process(self.width, 0x80001000, pid, 4, 0, name, name), version=4)
        self.note("end", pid)
        self.live = {place: view for place, view in self.live.items() if place[0] != pid}

    def view(self, hook, pid, base, key, size, lost=0.0):
        if self.chance.random() < lost:
            return
        payload = words(self.width, base, key) + struct.pack("<Q", self.chance.getrandbits(64)) + words(self.width, size)
        payload += struct.pack("<Q", 4096 * self.chance.randrange(9)) if self.version >= 3 else b""
        is_told = self.chance.random() < 0.95  # else it is the process that is running
        payload += struct.pack("<I", pid if is_told else 0)
        caller = self.chance.choice((pid, pid, pid, 4)) if is_told else pid
        if self.chance.random() < 0.03:
            self.hook(hook, payload[: self.chance.randrange(len(payload))], caller, self.version)
            return
        payload += self.chance.randbytes(self.chance.choice((0, 0, 0, 4)))
        self.hook(hook, payload, caller, self.version)
        self.note({MAP: "map", UNMAP: "unmap", DCSTART: "dcstart", DCEND: "dcend"}[hook], pid, base, key, size,
                  caller + 1 if hook == MAP else None)

    def name(self, hook, key, name):
        payload = words(self.width, key) + text16(name)
        self.put(lambda ticks: records.perfinfo(self.width, 2, hook, ticks, payload))
        self.note({CREATE: "create", DELETE: "delete"}.get(hook, "name"), key, name)

    def recreate(self, key):
        """The kernel uses a key for another file; at times an event is lost."""
        if self.keys[key] is not None and self.chance.random() < 0.85:
            self.name(DELETE, key, self.keys[key])
        self.files += 1
        self.keys[key] = f"{FOLDER}f{self.files}.dat"
        if self.chance.random() < 0.85:
            self.name(CREATE, key, self.keys[key])

    def place(self):
        return self.chance.choice(sorted(self.processes)), 0x10000000 + 0x100000 * self.chance.randrange(8)

    def step(self):
        pid, base = self.place()
        roll, view = self.chance.random(), self.live.get((pid, base))
        if roll < 0.02:
            self.stop(pid)
            self.start(pid)
        elif roll < 0.06:
            self.recreate(self.chance.choice(sorted(self.keys)))
        elif view is None:
            key, size = self.chance.choice(sorted(self.keys)), 4096 * self.chance.randrange(1, 300)
            self.live[pid, base] = key, size
            self.view(MAP, pid, base, key, size, 0.03)
        else:
            del self.live[pid, base]
            self.view(UNMAP, pid, base, *view, 0.03)

    def rundown(self, hook, share):
        for (pid, base), view in sorted(self.live.items()):
            if self.chance.random() < share:
                self.view(hook, pid, base, *view)

    def write(self, path, steps):
        for pid, base in {self.place() for _ in range(9)}:
            self.live[pid, base] = self.chance.choice(sorted(self.keys)), 8192
        self.rundown(DCSTART, 1.0)
        for _ in range(steps):
            self.step()
        pid, base = self.place()
        self.live.setdefault((pid, base), (min(self.keys), 4096))
        self.rundown(DCEND, 0.9)
        for key, name in self.keys.items():
            if name is not None and self.chance.random() < 0.7:
                self.name(self.chance.choice((RUNDOWN, NAME)), key, name)
        self.file.cut()
        self.file.write(path, "views.etl")


class Lives:
    """Which file a key names, and when: the rules of the documentation, step by step."""

    def __init__(self):
        self.of_key = {}

    def tell(self, ticks, what, key, name):
        lives = self.of_key.setdefault(key, [{"until": None, "names": [], "used": False}])
        last = lives[-1]
        if what == "create" and last["names"] and name != last["names"][-1]:
            last["until"] = ticks
            lives.append({"until": None, "names": [name], "used": False})
        elif name not in last["names"]:
            last["names"].append(name)
        if what == "delete":
            lives[-1]["until"] = ticks
            lives.append({"until": None, "names": [], "used": False})

    def use(self, ticks, key):
        lives = self.of_key.setdefault(key, [{"until": None, "names": [], "used": False}])
        at = next(at for at, life in enumerate(lives) if life["until"] is None or life["until"] >= ticks)
        lives[at]["used"] = True
        return key, at

    def name(self, key, at):
        names = self.of_key[key][at]["names"]
        if len(names) == 1 and at < NAMED:
            return names[0]
        number = (key ^ min(at, NAMED) << 48) & (1 << 56) - 1
        return f"mapped {number | 0xFF << 56 if number >> 55 else number:#x}"


def model(events):
    """The lifetimes that the events tell, and how many live views the rundown at the end lacks."""
    lives, live, rows, named = Lives(), {}, [], {}
    end_ticks = min((ticks for ticks, what, *_ in events if what == "dcend"), default=None)
    for ticks, what, *values in events:
        if what in ("create", "delete", "name"):
            lives.tell(ticks, what, *values)
        elif what == "start":
            named[values[0]] = values[1]
        elif what == "end":
            for place in [place for place in live if place[0] == values[0]]:
                rows.append(live.pop(place) | {"end": ticks, "free_type": "process-exit"})
        else:
            pid, base, key, size, thread = values
            file = lives.use(ticks, key)
            old = live.get((pid, base))
            if what == "unmap":
                if old:
                    rows.append(live.pop((pid, base)) | {"end": ticks, "free_type": "free"})
                continue
            if old and what == "map":
                rows.append(live.pop((pid, base)) | {"end": ticks, "free_type": "free"})
            elif old:
                old["listed"] |= what == "dcend"
                continue
            live[pid, base] = {"process": named[pid], "pid": pid, "address": base, "size": size, "file": file,
                               "begin": ticks if what == "map" else None, "end": None, "free_type": "none", "thread": thread,
                               "listed": what == "dcend"}
    missing = sum(not row["listed"] and (row["begin"] or 0) < end_ticks for row in live.values()) if end_ticks else 0
    rows += live.values()
    return [{**row, "file": lives.name(*row["file"])} for row in rows], missing


def in_ns(ticks):
    return None if ticks is None else (ticks - ORIGIN) * (10**9 // HZ)


def key_of(row):
    return tuple(str(value) for value in row)


def wanted_rows(rows):
    """As lists have them: what ended with its process was never unmapped."""
    return sorted(((row["process"], row["pid"], row["address"], row["size"], row["file"], in_ns(row["begin"]),
                    in_ns(row["end"] if row["free_type"] == "free" else None), row["free_type"], row["thread"])
                   for row in rows), key=key_of)


def listed_rows(source, jobs):
    rows = run_json("allocations", source, "--kind", "mapped", "-j", jobs)["rows"]
    return sorted(((row["process"], row["pid"], int(str(row["address"]), 0), row["size"], row["heap"], row["alloc_time_ns"],
                    row["free_time_ns"], row["free_type"], row["thread"]) for row in rows), key=key_of)


def sums_of(rows):
    sums = {}
    for row in rows:
        if row["free_type"] == "free":
            continue
        sums[row["process"], row["file"]] = sums.get((row["process"], row["file"]), 0) + row["size"]
    return sums


def check(results, label, path, rows, missing):
    wanted = wanted_rows(rows)
    store = path.replace(".etl", ".ehs")
    run("store", path, "-o", store)
    for source in (path, store):
        for jobs in ("1", "2", "7"):
            found = listed_rows(source, jobs)
            results.check(f"{label}: {len(wanted)} views of {source[-4:]} with {jobs} threads", found == wanted,
                          *[str(pair) for pair in zip(found, wanted) if pair[0] != pair[1]][:3], f"{len(found)} rows")
        report = run_json("report", source, "--kind", "mapped", "--group-by", "process,heap", "--top", "all")
        found = {(row["process"], row["heap"]): row["outstanding_size"] for row in report["rows"] if row["outstanding_size"]}
        results.equal(f"{label}: sums by file of {source[-4:]}", found, sums_of(rows))
        named = {row["name"]: row["count"] for row in report["diagnostics"]}
        results.equal(f"{label}: views that the rundown of {source[-4:]} lacks", named.get("rundown_block_missing", 0), missing)


def main():
    results = Results()
    files = set()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(24 if LONG else 6):
            for width in (8, 4):
                world, path = World(seed, width), f"{folder}/{seed}-{width}.etl"
                world.write(path, 3000 if LONG else 700)
                rows, missing = model(world.events)
                files |= {row["file"].split(" ")[0] for row in rows}
                check(results, f"seed {seed}, {width * 8} bits", path, rows, missing)
    results.check("views of named files and of others were compared", "mapped" in files and len(files) > 20, sorted(files)[:3])
    results.finish()


if __name__ == "__main__":
    main()
