"""The file around the records: log-file header, buffers, their order, lost buffers.

Sources: Geoff Chappell's pages on WMI_BUFFER_HEADER and TRACE_LOGFILE_HEADER, phnt
(ntwmi.h), the SDK (evntrace.h), and, for what merged files look like, the behaviour
of KernelTraceControl as PerfView's authors and others observed it.

A session writes records to one buffer a processor. A buffer that the next record does
not fit into goes to the file and another takes its place, so that

    numbers of buffers (SequenceNumber) are in the order in which they were begun,
    the file is in the order in which they were full or flushed, and
    inside a buffer, and from buffer to buffer of a processor, time goes forward.

Styles of a file: "session" as Windows writes it, buffers of one size, the rest of each
filled with 0xFF; "stream" the same without buffers of processors; "merged" as merge
tools write it, each buffer as long as its bytes, compressed if wanted.
"""

import struct
from dataclasses import dataclass, field

from . import records, xpress

HEADER_BYTES = 72
QPC, SYSTEM_TIME, CPU_CYCLES = 1, 2, 3
FLAG_FLUSH_MARKER, FLAG_PROC_INDEX, FLAG_COMPRESSED = 0x01, 0x20, 0x40
TYPE_GENERIC, TYPE_HEADER = 0, 4
STATE_FLUSH = 3
MODE_SEQUENTIAL, MODE_RELOG, MODE_COMPRESSED, MODE_NO_PER_CPU = 0x1, 0x10000, 0x04000000, 0x10000000
MODE_SYSTEM_LOGGER, MODE_INDEPENDENT = 0x02000000, 0x08000000
MERGE_TIME = 133_800_000_000_000_000


@dataclass
class Clock:
    """kind: one of the three above. `hz` is the rate of raw ticks."""

    kind: int
    hz: int
    origin: int  # raw ticks when the machine's time was 0
    start_filetime: int
    grain: int = 1  # raw ticks move in steps of so many

    def stamp(self, time):
        return self.origin + time - time % self.grain

    def perf_frequency(self):
        return self.hz if self.kind == QPC else 10_000_000

    def megahertz(self):
        return self.hz // 1_000_000 if self.kind == CPU_CYCLES else 2_592

    def filetime(self, ticks):
        if self.kind == SYSTEM_TIME:
            return ticks
        return self.start_filetime + (ticks - self.origin) * 10_000_000 // self.hz


@dataclass
class Record:
    number: int
    ticks: int
    cpu: int
    data: bytes
    is_memory: bool  # a memory event, a stack or a definition of one


@dataclass
class Buffer:
    cpu: int
    records: list = field(default_factory=list)
    used: int = HEADER_BYTES
    flush_ticks: int = 0
    sequence: int = 0

    def fits(self, data, limit):
        return self.used + len(data) <= limit

    def add(self, record):
        self.records.append(record)
        self.used += (len(record.data) + 7) & ~7


@dataclass
class Style:
    kind: str  # "session", "stream", "merged"
    buffer_bytes: int
    compress: bool = False
    early_flush: float = 0.0
    logger: int = 0x1C
    session: str = "Heap Session"
    width: int = 8


class TraceFile:
    """Records of one session, or of several that are merged, by processor."""

    def __init__(self, clock, cpus, style, header_ticks, chance):
        self.clock = clock
        self.cpus = cpus
        self.style = style
        self.header_ticks = header_ticks
        self.chance = chance
        self.streams = [[] for _ in range(cpus)]
        self.lost = []

    def add(self, record):
        self.streams[0 if self.style.kind == "stream" else record.cpu].append(record)

    def last_ticks(self):
        return max([self.header_ticks] + [stream[-1].ticks for stream in self.streams if stream])

    def cut(self):
        """Buffers in the order of the file; called once."""
        limit = self.style.buffer_bytes
        done, last_ticks = [], self.last_ticks()
        for cpu, stream in enumerate(self.streams):
            current = Buffer(cpu)
            for record in stream:
                full = not current.fits(record.data, limit)
                if current.records and (full or self.chance.random() < self.style.early_flush):
                    current.flush_ticks = record.ticks
                    done.append(current)
                    current = Buffer(cpu)
                current.add(record)
            if current.records:
                current.flush_ticks = last_ticks
                done.append(current)
        done.sort(key=lambda buffer: (buffer.records[0].ticks, buffer.cpu, buffer.flush_ticks))
        for number, buffer in enumerate(done):
            buffer.sequence = number + 1
        done.sort(key=lambda buffer: (buffer.flush_ticks, buffer.cpu, buffer.sequence))
        self.buffers = done

    def lose(self, share):
        """Takes whole buffers away; only such that hold nothing but memory events and stacks."""
        for buffer in list(self.buffers):
            if self.chance.random() < share and all(record.is_memory for record in buffer.records):
                self.buffers.remove(buffer)
                self.lost.append(buffer)

    def record_count(self):
        return 1 + sum(len(buffer.records) for buffer in self.buffers)

    def write(self, path, file_name):
        header = self.header_buffer(file_name)
        with open(path, "wb") as file:
            file.write(header)
            for number, buffer in enumerate(self.buffers):
                file.write(self.buffer_bytes(buffer, number == len(self.buffers) - 1))

    # --- buffers ---------------------------------------------------------------------

    def buffer_bytes(self, buffer, is_last):
        body = b"".join(record.data + bytes(-len(record.data) % 8) for record in buffer.records)
        style = self.style
        flags = FLAG_PROC_INDEX | (FLAG_FLUSH_MARKER if is_last else 0)
        if style.kind != "merged":
            head = self.buffer_header(style.buffer_bytes, buffer.used, flags, TYPE_GENERIC, buffer)
            return (head + body).ljust(style.buffer_bytes, b"\xff")
        if style.compress:
            body = xpress.compress(body)
            flags |= FLAG_COMPRESSED
        return self.buffer_header(HEADER_BYTES + len(body), buffer.used, flags, TYPE_GENERIC, buffer) + body

    def buffer_header(self, size, used, flags, kind, buffer):
        """WMI_BUFFER_HEADER. What readers must not believe is filled with odd values."""
        merged = self.style.kind == "merged"
        flush = MERGE_TIME if merged else buffer.flush_ticks
        return struct.pack(
            "<IIIiqqQHHIIHH16s", size, used, used + 0x2A0, 0, flush, buffer.sequence,
            0xFFFFAC8512345020, buffer.cpu, 0 if merged else self.style.logger,
            STATE_FLUSH, used, flags, kind, bytes(range(0xA0, 0xB0)),
        )

    def header_buffer(self, file_name):
        merged = self.style.kind == "merged"
        record = self.log_file_header(file_name)
        body = record + bytes(-len(record) % 8)
        used = HEADER_BYTES + len(body)
        size = (used + 511) // 512 * 512 if merged else self.style.buffer_bytes
        flags = FLAG_FLUSH_MARKER | (0 if merged else FLAG_PROC_INDEX)
        head = self.buffer_header(size, used, flags, TYPE_HEADER, Buffer(0))
        if merged:
            head = head[:16] + bytes(8) + head[24:]
        return (head + body).ljust(size, b"\xff")

    # --- the first record --------------------------------------------------------------

    def mode(self):
        if self.style.kind == "merged":
            return MODE_SEQUENTIAL | MODE_RELOG | (MODE_COMPRESSED if self.style.compress else 0)
        if self.style.kind == "stream":
            return MODE_SEQUENTIAL | MODE_NO_PER_CPU
        return MODE_SEQUENTIAL | MODE_SYSTEM_LOGGER | MODE_INDEPENDENT

    def log_file_header(self, file_name):
        clock, width = self.clock, self.style.width
        merged = self.style.kind == "merged"
        version = bytes([10, 0, 2 if merged else 1, 0 if merged else 5])
        cpus = 1 if self.style.kind == "stream" else self.cpus
        begun, ended = clock.filetime(self.header_ticks), clock.filetime(self.last_ticks())
        payload = struct.pack("<I", self.style.buffer_bytes) + version
        payload += struct.pack("<II", 26100, cpus)
        payload += struct.pack("<QII", ended, 156250, 0)
        payload += struct.pack("<IIII", self.mode(), 1 + len(self.buffers), 1, width)
        payload += struct.pack("<II", 0, clock.megahertz())
        payload += records.words(width, 0 if merged else 10, 0 if merged else 7)
        payload += self.time_zone() + bytes(4)
        payload += struct.pack("<QQQ", clock.start_filetime - 10**10, clock.perf_frequency(), begun)
        payload += struct.pack("<II", clock.kind, len(self.lost))
        name = "Relogger" if merged else self.style.session
        payload += records.text16(name) + records.text16("[multiple files]" if merged else file_name)
        return records.system(width, 2, 0, 3780, 3988, self.header_ticks, payload)

    @staticmethod
    def time_zone():
        name = "@tzres.dll,-212".encode("utf-16-le").ljust(64, b"\0")
        date = bytes(16)
        return struct.pack("<i", 480) + name + date + struct.pack("<i", 0) + name + date + struct.pack("<i", -60)
