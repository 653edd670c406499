"""Small traces for tests of names: programs, modules and blocks as they are given.

    write(path, [Program(5000, b"?.exe", '"C:\\x\\日.exe"', [Image("\\\\x\\\\日.exe", 0x7ff600000000)])],
          [Block(5000, 100, [0x7ff600001000])])
"""

import random
from dataclasses import dataclass, field

from . import records
from .container import QPC, Clock, Record, Style, TraceFile

WIDTH = 8
SIZE = 0x10000


@dataclass
class Image:
    path: str
    base: int
    guid: bytes = None  # None: the trace does not state the PDB
    pdb: str = "a.pdb"
    checksum: int = 0
    size: int = SIZE


@dataclass
class Program:
    pid: int
    name: bytes  # as the record has it; None: no record names it
    command_line: str = ""
    images: list = field(default_factory=list)


@dataclass
class Block:
    pid: int
    size: int
    frames: list = field(default_factory=list)
    count: int = 1


class Writer:
    def __init__(self):
        clock = Clock(QPC, 10_000_000, 1_000_000, 132_404_632_000_000_000)
        self.ticks = clock.origin
        self.file = TraceFile(clock, 1, Style("session", 65536), self.ticks, random.Random(1))
        self.address = 0x200000000

    def put(self, make):
        self.ticks += 100
        self.file.add(Record(0, self.ticks, 0, make(self.ticks), True))

    def program(self, program):
        payload = records.process(WIDTH, 0xFFFFE00001000000 + program.pid * 64, program.pid, 4, 0, "@", program.command_line)
        payload = payload.replace(b"@\0", program.name + b"\0", 1)
        self.put(lambda ticks: records.perfinfo(WIDTH, 4, records.PROCESS_RUNDOWN_START, ticks, payload))

    def image(self, pid, image):
        payload = records.image(WIDTH, image, pid, 3, 0)
        rsds = records.words(WIDTH, image.base) + records.u32(pid) + (image.guid or b"") + records.u32(1)
        rsds += image.pdb.encode() + b"\0"
        if image.guid:
            ticks = self.ticks + 100  # a merge gives it the time of the image's event
            data = records.full(WIDTH, records.IMAGE_ID, records.IMAGE_ID_RSDS, 2, 0, pid, ticks, rsds)
            self.file.add(Record(0, ticks, 0, data, True))
        self.put(lambda ticks: records.perfinfo(WIDTH, 3, records.IMAGE_RUNDOWN_START, ticks, payload))

    def block(self, block):
        for _ in range(block.count):
            self.address += 0x1000
            payload = records.heap_alloc(WIDTH, 0x1F0000, block.size, self.address, 1)
            self.put(lambda ticks, p=payload: records.compact(WIDTH, 2, records.HEAP_ALLOC, block.pid + 1, block.pid, ticks, p))
            frames = records.stack(WIDTH, self.ticks, block.pid, block.pid + 1, block.frames)
            if block.frames:
                self.put(lambda ticks: records.perfinfo(WIDTH, 2, records.STACK, ticks, frames))


def write(path, programs, blocks):
    writer = Writer()
    for program in programs:
        if program.name is not None:
            writer.program(program)
        for image in program.images:
            writer.image(program.pid, image)
    for block in blocks:
        writer.block(block)
    writer.file.cut()
    writer.file.write(path, "small.etl")
