"""Traces of kernel pool: worlds in which programs take and return pool, by a seed.

Sources: System Informer's phnt (ETW_POOL_EVENT, the PERFINFO_LOG_TYPE numbers) and the MOF of the
class {0268a8b6-74fd-4302-9dd0-6e8f1795c0cf} as dissect.etl ships it. No public trace has these
events.

A world writes records and notes each of them as the log would tell it: (what, ticks, pid, ...). No
part of it pairs records; the truth is worked out from the notes by the oracle.
"""

import random
import struct
from dataclasses import dataclass

from . import records
from .container import QPC, Clock, Record, Style, TraceFile
from .small import Image

ALLOC, FREE, ADD_PAGE, BIG_PAGE = 0x0E20, 0x0E22, 0x0E24, 0x0E26  # + 1: of a session
SNAP_START, SNAP_END = 0x0E28, 0x0E29  # + 2: big blocks; + 4: of sessions
POOL_TYPES = (0, 1, 512, 0x21, 0x10000000 | 512, 0x10000001)
TAGS = (b"Leak", b"Irp ", b"Mdl ", b"a  b", b" Odd", b"\x01\x02\x03\x04", b"Pro\xf4", b"0x  ", b'a"b"', b"leak")
SYSTEM, IDLE = 4, 0


@dataclass
class Program:
    pid: int
    name: str
    base: int
    is_running: bool = True


class World:
    """`width`: 4 or 8. After run(), `notes` has what was logged, in order."""

    def __init__(self, seed, width):
        self.chance = random.Random(seed)
        self.width = width
        clock = Clock(QPC, 10_000_000, 1_000_000, 132_404_632_000_000_000)
        self.ticks = clock.origin
        self.cpus = self.chance.choice((1, 2, 4))
        self.file = TraceFile(clock, self.cpus, Style("session", 65536, width=width), self.ticks, self.chance)
        self.kernel = 0x80000000 if width == 4 else 0xFFFFF80600000000
        self.entries = [(0x90000000 if width == 4 else 0xFFFFA70000000000) + 64 * i for i in range(self.chance.choice((5, 20, 60)))]
        self.programs = [Program(pid, f"p{pid}.exe", 0x400000 + pid * 0x10000) for pid in range(100, 100 + 8 * 5, 8)]
        self.live = {}  # (session, entry): what the kernel has; the log may lack some of it
        self.notes = []
        self.headers = self.chance.choice(("own", "stack", "mixed"))

    # --- records -----------------------------------------------------------------------

    def put(self, make, step=100):
        self.ticks += step
        self.file.add(Record(0, self.ticks, self.cpu, make(self.ticks), True))

    def introduce(self):
        self.cpu = 0
        names = [(SYSTEM, "System"), *((one.pid, one.name) for one in self.programs)]
        for pid, name in names:
            payload = records.process(self.width, self.kernel + pid * 64, pid, SYSTEM, 0, name, "")
            self.put(lambda ticks, p=payload: records.perfinfo(self.width, 4, records.PROCESS_RUNDOWN_START, ticks, p))
        images = [(0, Image("\\x\\ntoskrnl.exe", self.kernel)), (0, Image("\\x\\d.sys", self.kernel + 0x100000))]
        images += [(one.pid, Image(f"\\x\\{one.name}", one.base)) for one in self.programs]
        for pid, image in images:
            payload = records.image(self.width, image, pid, 3, 0)
            self.put(lambda ticks, p=payload: records.perfinfo(self.width, 3, records.IMAGE_RUNDOWN_START, ticks, p))

    def block(self, kind, tag, size, entry):
        return struct.pack("<I4s", kind, tag) + records.words(self.width, size, entry)

    def event(self, hook, payload, pid):
        """Logs an event, whose header may lack the thread. Returns the process that it names."""
        named = self.headers == "own" or (self.headers == "mixed" and self.chance.random() < 0.5)
        if named:
            self.put(lambda ticks: records.compact(self.width, 2, hook, pid + 1 if pid else 0, pid, ticks, payload))
        else:
            self.put(lambda ticks: records.perfinfo(self.width, 2, hook, ticks, payload))
        return pid if named else None

    def stack(self, program):
        """The call stack of the last event. Returns its frames as (module, offset)."""
        ticks = self.ticks
        frames = [("ntoskrnl.exe", 0x1000 + self.chance.randrange(3)), ("d.sys", 0x100 * self.chance.randrange(1, 4))]
        bases = {"ntoskrnl.exe": self.kernel, "d.sys": self.kernel + 0x100000, program.name: program.base}
        frames += [(program.name, 0x20 + self.chance.randrange(3))] if self.chance.random() < 0.8 else []
        data = records.stack(self.width, ticks, program.pid, program.pid + 1, [bases[name] + offset for name, offset in frames])
        self.put(lambda now: records.perfinfo(self.width, 2, records.STACK, now, data), 3)
        return tuple(frames)

    # --- what happens --------------------------------------------------------------------

    def allocate(self):
        session = self.chance.choice((None, None, 0, 1, 2))
        entry = self.chance.choice(self.entries)
        if (session, entry) in self.live:
            return
        kind, tag, size = self.chance.choice(POOL_TYPES), self.chance.choice(TAGS), 16 * self.chance.randrange(1, 300)
        self.live[session, entry] = kind, tag, size
        if self.chance.random() < 0.04:  # the event was lost
            return
        running = [one for one in self.programs if one.is_running]
        program = self.chance.choice(running) if running and self.chance.random() < 0.9 else None
        pid = program.pid if program else self.chance.choice((SYSTEM, IDLE))
        payload = self.block(kind, tag, size, entry) + (b"" if session is None else records.u32(session))
        if kind & 0x10000000 and self.chance.random() < 0.5:
            self.event(BIG_PAGE + (session is not None), payload, pid)
        named = self.event(ALLOC + (session is not None), payload, pid)
        frames = self.stack(program) if program and self.chance.random() < 0.7 else None
        asker = named if named not in (None, IDLE) else program.pid if frames else SYSTEM
        self.notes.append(("alloc", asker, session, kind, tag, size, entry, frames))

    def free(self):
        if not self.live:
            return
        session, entry = self.chance.choice(sorted(self.live, key=str))
        kind, tag, size = self.live.pop((session, entry))
        if self.chance.random() < 0.04:
            return
        size += 16 * (self.chance.random() < 0.03)
        payload = self.block(kind, tag, size, entry) + (b"" if session is None else records.u32(session))
        running = [one.pid for one in self.programs if one.is_running] + [SYSTEM, IDLE]
        named = self.event(FREE + (session is not None), payload, self.chance.choice(running))
        self.notes.append(("free", named if named not in (None, IDLE) else SYSTEM, session, kind, tag, size, entry, None))

    def page(self):
        kind, tag = self.chance.choice(POOL_TYPES), self.chance.choice(TAGS)
        self.event(self.chance.choice((ADD_PAGE, BIG_PAGE)), self.block(kind, tag, 4096, self.chance.choice(self.entries)), SYSTEM)

    def end_program(self):
        program = self.chance.choice(self.programs)
        if not program.is_running:
            return
        program.is_running = False
        payload = records.process(self.width, self.kernel + program.pid * 64, program.pid, SYSTEM, 0, program.name, "", 0)
        self.put(lambda ticks: records.perfinfo(self.width, 4, records.PROCESS_END, ticks, payload))

    def snap(self, hook, is_start):
        """Lists all blocks, several in an event, with odd lengths among them."""
        for of_session in (False, True):
            rows = [(session, entry, *self.live[session, entry]) for session, entry in sorted(self.live, key=str)
                    if (session is not None) == of_session]
            while rows:
                count = self.chance.randrange(1, 9)
                some, rows = rows[:count], rows[count:]
                payload = b"".join(self.block(kind, tag, size, entry) for _, entry, kind, tag, size in some)
                odd = self.chance.random() < 0.1
                payload += bytes(self.chance.randrange(1, 8)) if odd else b""
                number = hook + 2 * self.chance.randrange(2) + 4 * of_session
                self.put(lambda ticks, n=number, p=payload: records.perfinfo(self.width, 2, n, ticks, p))
                if odd:
                    self.notes.append(("odd",))
                    continue
                for _, entry, kind, tag, size in some:
                    self.notes.append(("start" if is_start else "end", SYSTEM, "?" if of_session else None, kind, tag, size, entry, None))

    def run(self, events):
        self.introduce()
        for _ in range(self.chance.randrange(0, 40)):  # from before the trace
            session = self.chance.choice((None, None, 0, 1))
            self.live[session, self.chance.choice(self.entries)] = (
                self.chance.choice(POOL_TYPES), self.chance.choice(TAGS), 16 * self.chance.randrange(1, 300))
        if self.chance.random() < 0.8:
            self.snap(SNAP_START, True)
        for _ in range(events):
            self.cpu = self.chance.randrange(self.cpus)
            draw = self.chance.random()
            step = (self.allocate if draw < 0.52 else self.free if draw < 0.96 else self.page if draw < 0.99 else self.end_program)
            step()
        self.cpu = 0
        if self.chance.random() < 0.8:
            self.snap(SNAP_END, False)

    def write(self, path):
        self.file.cut()
        self.file.write(path, "pool.etl")
