"""From a seed to a trace and its truth.

A Setup is what a recording and its machine are like: clock, processors, pointer width,
one file or two, stacks with keys or without. SWITCHES are things that may happen; each
can be turned off, to see which of them a disagreement needs.
"""

import random
from dataclasses import dataclass

from . import records
from .container import CPU_CYCLES, QPC, SYSTEM_TIME, Clock, Style
from .machine import NAMES, Machine
from .programs import Programs
from .system_calls import SystemCalls

SWITCHES = {
    "same_tick": "several events of one thread on one tick",
    "inversions": "a free is logged after another processor's allocation of the address",
    "realloc_late": "the summary of a realloc is late; others may have the old address by then",
    "realloc_only": "a moving realloc has no Alloc and no Free",
    "remote_alloc": "VirtualAlloc in other processes, also before they start",
    "tid_reuse": "ids of threads that ended are taken again",
    "pid_reuse": "ids of processes that ended are taken again",
    "die_in_kernel": "threads that end before their user half was walked",
    "late_stacks": "stacks that come up to 50 ms after their event",
    "tidless": "VirtualAlloc records without a thread",
    "keys": "stack keys",
    "samples": "sampling interrupts on other processors at the tick of an event, with stacks",
    "rundown_stamps": "modules of running processes come without a time stamp, unless merged",
    "coarse": "clocks that move in large steps",
    "wow64": "32-bit programs on 64-bit Windows",
    "width4": "32-bit Windows",
    "spawn": "processes that start and end",
    "loss": "lost buffers",
}
START_FILETIME = 132_404_548_206_236_150


@dataclass
class Setup:
    seed: int
    on: dict
    clock: Clock
    cpus: int
    width: int
    processes: int
    duration: int
    pause_max: int
    kernel_style: Style
    heap_style: object
    heap_session_delay: int
    keys: bool
    cache_size: int
    tidless: bool
    pinned: bool
    virtual_stacks: str
    extent_stacks: bool
    compact_heap: bool
    image_ids: bool
    image_version: int
    thread_names: bool
    release_zero: bool
    rundown: str
    virtual_rundown: str
    loss: float
    realloc_only: bool

    def __getattr__(self, name):
        """What is on or off by switch alone."""
        try:
            return self.__dict__["on"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def pid_reuse(self):
        return 0.8 if self.on["pid_reuse"] else 0

    @property
    def tid_reuse(self):
        return 0.8 if self.on["tid_reuse"] else 0

    def some_program(self, chance):
        """(name, is it a 32-bit one on 64-bit Windows)"""
        return chance.choice(NAMES), self.on["wow64"] and self.width == 8 and chance.random() < 0.35


def make_clock(chance, coarse):
    kind = chance.choice((QPC, QPC, QPC, SYSTEM_TIME, CPU_CYCLES))
    hz = {QPC: chance.choice((10_000_000, 10_000_000, 3_117_777, 24_000_000)), SYSTEM_TIME: 10_000_000,
          CPU_CYCLES: 2_592_000_000}[kind]
    origin = START_FILETIME if kind == SYSTEM_TIME else chance.randrange(10**6, 10**12)
    # No two ticks in one nanosecond, in which all answers are given.
    grain = chance.choice((5000, 10000, 156250)) if coarse and kind == SYSTEM_TIME else hz // 10**9 + 1
    return Clock(kind, hz, origin, START_FILETIME, grain)


def make_styles(chance, setup_width, single_cpu):
    """The kernel session's file, and the heap session's if it was not merged with it."""
    size = chance.choice((1024, 2048, 4096, 8192, 16384)) * 2
    flush = chance.choice((0, 0, 0.002, 0.01))
    kinds = ("merged", "merged", "session", "two", "two")
    kind = chance.choice(kinds + ("stream",) if single_cpu else kinds)
    if kind == "merged":
        return Style("merged", size, chance.random() < 0.6, flush, width=setup_width), None
    if kind == "two":
        return (
            Style("session", size, False, flush, 2, "NT Kernel Logger", setup_width),
            Style("session", chance.choice((4096, 8192)), False, flush, 0x1C, "Heap Session", setup_width),
        )
    return Style(kind, size, False, flush, width=setup_width), None


def make_setup(seed, without=()):
    chance = random.Random(f"second writer {seed}")
    on = {name: name not in without for name in SWITCHES}
    on["tidless"] = on["tidless"] and chance.random() < 0.25
    on["coarse"] = on["coarse"] and on["same_tick"] and not on["tidless"] and chance.random() < 0.5
    clock = make_clock(chance, on["coarse"])
    width = 4 if on["width4"] and chance.random() < 0.1 else 8
    cpus = chance.choice((1, 2, 4, 4, 8, 30))
    kernel_style, heap_style = make_styles(chance, width, not on["tidless"])
    pinned = clock.grain > 100
    pause_max = chance.choice((300, 3000)) if not pinned else clock.grain // 4
    loss = chance.choice((0.05, 0.15, 0.3)) if on["loss"] and chance.random() < 0.25 else 0
    on["late_stacks"] = on["late_stacks"] and chance.random() < 0.5
    return Setup(
        seed=seed, on=on, clock=clock, cpus=cpus, width=width, processes=chance.choice((1, 2, 3, 4)),
        duration=chance.choice((20_000, 60_000)) * pause_max // 300 * (4 if pinned else 1), pause_max=pause_max,
        kernel_style=kernel_style, heap_style=heap_style,
        heap_session_delay=chance.randrange(10, 90) * clock.grain,
        keys=on["keys"] and chance.random() < 0.5, cache_size=chance.choice((4, 12, 40)),
        tidless=on["tidless"], pinned=pinned,
        virtual_stacks=chance.choice(("halves", "halves", "halves", "mixed", "user", "none")),
        extent_stacks=chance.random() < 0.5, compact_heap=chance.random() < 0.15,
        image_ids=kernel_style.kind == "merged" and chance.random() < 0.6,
        image_version=chance.choice((2, 3)), thread_names=chance.random() < 0.5,
        release_zero=chance.random() < 0.15, rundown=chance.choice(("both", "end", "end", "start")),
        virtual_rundown=chance.choice(("none", "end", "both")), loss=loss,
        realloc_only=on["realloc_only"] and chance.random() < 0.25,
    )


class Scenario:
    """A machine that ran and what was recorded of it."""

    def __init__(self, setup):
        self.setup = setup
        self.chance = random.Random(f"machine {setup.seed}")
        self.machine = Machine(setup, self.chance)
        self.recorder = self.machine.recorder
        programs = Programs(self.machine)
        programs.calls = self.calls = SystemCalls(self.machine, programs)
        self.programs = programs

    def run(self):
        self.people()
        setup, recorder, machine = self.setup, self.recorder, self.machine
        recorder.time = max(setup.clock.grain, 20)
        if setup.rundown in ("both", "start"):
            machine.run_down_start()
        if setup.virtual_rundown == "both":
            self.calls.run_down(records.VIRTUAL_RUNDOWN_START)
        recorder.time = setup.heap_session_delay + setup.clock.grain + 20
        for process in machine.living():
            for thread in [] if process.is_quiet else sorted(process.threads, key=lambda one: one.tid):
                life = self.system_life(thread) if process.kernel_frames_only else self.programs.life(thread)
                machine.start(life, self.chance.randrange(1, 50))
        machine.run()
        self.programs.stop()
        recorder.time = setup.duration + setup.clock.grain
        if setup.rundown in ("both", "end"):
            recorder.put_perfinfo(recorder.kernel, 0, records.MARK, b"Wpr_Initiated_Rundown\0", False)
            machine.run_down_end()
        if setup.virtual_rundown != "none":
            self.calls.run_down(records.VIRTUAL_RUNDOWN_END)
        recorder.time += setup.clock.grain
        recorder.stop()
        self.close()

    def people(self):
        """Processes that run when the trace begins."""
        setup, machine = self.setup, self.machine
        system = machine.system_process()
        system.started = True
        machine.new_thread(system)
        quiet = machine.new_process(4, "quiet.exe", False)  # interrupted, and does nothing else
        quiet.started = quiet.is_quiet = True
        self.calls.noise_thread = machine.new_thread(quiet)
        for _ in range(setup.processes):
            process = machine.new_process(4, *setup.some_program(self.chance))
            process.started = True
            for _ in range(self.chance.randrange(1, 4)):
                machine.new_thread(process)
            for _ in range(self.chance.choice((1, 1, 2))):
                self.programs.blocks_before(self.programs.add_heap(process))
            if setup.virtual_rundown != "none":
                self.calls.regions_before(process)

    def system_life(self, thread):
        while True:
            yield self.chance.randrange(500, 500 + 4 * self.setup.pause_max)
            yield from self.calls.virtual(thread)

    def close(self):
        for file in self.recorder.files:
            file.cut()
            if self.setup.loss:
                file.lose(self.setup.loss)

    def write(self, folder):
        """Writes the files and gives their paths, the kernel's first."""
        paths = []
        for file, name in zip(self.recorder.files, ("kernel", "heap")):
            name = f"{name}.etl" if len(self.recorder.files) > 1 else "trace.etl"
            file.write(f"{folder}/{name}", f"C:\\{name}")
            paths.append(f"{folder}/{name}")
        return paths

    # --- the truth ---------------------------------------------------------------------

    def lifetimes(self):
        for process in self.machine.processes:
            yield from process.lifetimes
            for pages in (process.pages, *process.extent_maps):
                yield from filter(self.is_told, pages.lifetimes())

    def is_told(self, lifetime):
        """What was there before the trace is told of by a rundown, or not at all."""
        return lifetime.start is not None or self.setup.virtual_rundown == "both" or lifetime.end is None

    def truth(self):
        """The shape that tests/oracles/oracle_truth.py reads."""
        files = self.recorder.files
        unknown = {str(number): one.unknown_frees for number, one in enumerate(self.machine.processes)}
        return {
            "H": files[0].header_ticks,
            "hz": self.setup.clock.hz,
            "end": max(record.ticks for file in files for buffer in file.buffers for record in buffer.records),
            "records": sum(file.record_count() for file in files),
            "unknown_frees": unknown,
            "unknown_ranges": sum(one.unknown_ranges for one in self.machine.processes),
            "unknown_resizes": sum(one.unknown_resizes for one in self.machine.processes),
            "lifetimes": [self.row(lifetime) for lifetime in self.lifetimes()],
        }

    def row(self, lifetime):
        stack = lifetime.call_stack.texts()
        tid = lifetime.tid
        if lifetime.kind == "virtualalloc" and self.setup.tidless and stack is None:
            tid = None
        return {
            "kind": lifetime.kind, "process": lifetime.process.name, "pid": lifetime.process.pid,
            "heap": lifetime.heap, "addr": lifetime.address, "size": lifetime.size, "a": lifetime.start,
            "f": lifetime.end, "ft": lifetime.how, "stack": stack, "realloc": lifetime.is_realloc, "tid": tid,
        }
