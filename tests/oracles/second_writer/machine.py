"""A simulated Windows machine: time, processors, processes, threads, modules, ids.

Programs are generators that yield how long they wait; the machine resumes whoever is
next. So records are written in the order in which things happen, and what two threads
do at once mixes as it does on a real machine.

Two events that follow from each other (a block is allocated and then freed, a module
is loaded and then called) are never given one tick on two processors: a trace has no
order for those, and neither can the truth.
"""

import heapq
import random

from . import records
from .pages import PageMap
from .recorder import Piece, Recorder

NAMES = ["app.exe", "Worker.exe", "svchost.exe", "BigTool-x.exe", "long name with spaces.exe"]
LIBRARIES = ["ntdll.dll", "KernelBase.dll", "kernel32.dll", "ucrtbase.dll"]
WOW_LIBRARIES = ["ntdll.dll", "wow64.dll", "wow64cpu.dll"]
KERNEL_IMAGES = ["ntoskrnl.exe", "hal.dll", "win32k.sys"]
PLUGINS = ["plugin-a.dll", "plugin-b.dll", "Reader.ocx", "codec.dll"]


class Module:
    """A file has one identity, wherever and however often it is loaded."""

    def __init__(self, path, base, size):
        self.path, self.base, self.size = path, base, size
        self.name = path.rsplit("\\", 1)[-1]
        chance = random.Random(path)
        self.checksum = chance.randrange(1, 1 << 24)
        self.stamp = chance.randrange(0x40000000, 0x70000000)
        self.guid = chance.randbytes(16)
        self.users = 0  # events in hand whose stacks go through it

    def frame(self, offset):
        return self.base + offset, f"{self.name}+{offset:#x}"


class Site:
    """A place of a program that allocates: the frames outside the system's own."""

    def __init__(self, frames, modules):
        self.frames, self.modules = frames, modules

    def piece(self, inner):
        frames = [*inner, *self.frames]
        return Piece([address for address, _ in frames], [text for _, text in frames], False)


class Process:
    def __init__(self, pid, parent, name, width, cpu):
        self.pid, self.parent, self.name, self.width = pid, parent, name, width
        self.command_line = f'"C:\\{name}" --seed'
        self.key = 0
        self.cpu = cpu  # where all of it runs, when processors are pinned
        self.modules, self.sites, self.plugins = [], [], []
        self.threads, self.heaps, self.all_heaps = set(), [], []
        self.free_handles, self.next_handle = [], 0
        self.regions, self.free_regions, self.next_region = [], [], 0
        self.pages = PageMap()
        self.extent_maps = []
        self.lifetimes = []
        self.unknown_frees = self.unknown_resizes = 0  # of blocks from before the trace
        self.unknown_ranges = 0  # released, and never heard of
        self.heap_numbers, self.extent_numbers = {}, {}  # by handle: records about heaps and their extents
        self.loading = False
        self.exiting = self.ending = self.ended = False
        self.started = False
        self.born_in_trace = False
        self.region_of = {}  # record -> Region
        self.remote_users = 0
        self.kernel_frames_only = self.is_quiet = False
        self.numbers_about = {}  # (heap handle, address) -> records


    def may_be_changed(self):
        """By calls of other processes."""
        return not (self.exiting or self.ended or self.kernel_frames_only or self.is_quiet) and self.started


class Thread:
    def __init__(self, process, tid, cpu):
        self.process, self.tid, self.cpu = process, tid, cpu
        self.last_stamp = -1
        self.gone = False


class Ids:
    """Process and thread ids come from a table of handles that hands out the one that was
    freed longest ago (Windows Internals: the table of ids is strictly first in, first out),
    so an id is not taken again at once: not within `pause` raw ticks, 5 ms for processes."""

    def __init__(self, chance, reuse, pause):
        self.next, self.free, self.chance, self.reuse, self.pause = 1000, [], chance, reuse, pause

    def take(self, now):
        if self.free and now - self.free[0][0] > self.pause and self.chance.random() < self.reuse:
            return self.free.pop(0)[1]
        self.next += 4
        return self.next

    def give_back(self, number, now):
        self.free.append((now, number))


class Machine:
    def __init__(self, setup, chance):
        self.setup, self.chance = setup, chance
        self.recorder = Recorder(setup, chance)
        self.queue, self.order = [], 0
        self.pids = Ids(chance, setup.pid_reuse, setup.clock.hz // 200)
        self.tids = Ids(chance, setup.tid_reuse, 0)
        self.processes = []
        self.kernel_modules = self.load_kernel()
        self.library_bases = {name: self.library_base(number) for number, name in enumerate(LIBRARIES)}
        self.shared_libraries = {}  # path -> Module, the same in all processes

    # --- time ------------------------------------------------------------------------

    def now(self):
        return self.recorder.stamp()

    def next_tick(self):
        grain = self.setup.clock.grain
        yield grain - self.recorder.time % grain

    def start(self, program, delay=0):
        heapq.heappush(self.queue, (self.recorder.time + delay, self.order, program))
        self.order += 1

    def run(self):
        """Until the session stops; what is under way then is not recorded any more."""
        while self.queue and self.queue[0][0] < self.setup.duration:
            time, _, program = heapq.heappop(self.queue)
            self.recorder.time = time
            try:
                self.start(program, next(program))
            except StopIteration:
                pass
        self.recorder.time = self.setup.duration

    def any_cpu(self, process=None):
        if self.setup.pinned and process is not None:
            return process.cpu
        return self.chance.randrange(self.setup.cpus)

    # --- modules and stacks ------------------------------------------------------------

    def library_base(self, number):
        if self.setup.width == 4:
            return 0x77000000 - number * 0x400000
        return 0x7FFB40000000 - number * 0x4000000

    def load_kernel(self):
        base = 0x82000000 if self.setup.width == 4 else 0xFFFFF80200000000
        return [
            Module(f"\\SystemRoot\\System32\\{name}", base + number * 0x1000000, 0x800000)
            for number, name in enumerate(KERNEL_IMAGES)
        ]

    def modules_for(self, process):
        """The program, then the libraries, then those of the 32-bit subsystem."""
        volume, chance = "\\Device\\HarddiskVolume3", self.chance
        wow = process.width < self.setup.width
        exe_base = 0x00400000 if process.width == 4 else 0x7FF600000000 + chance.randrange(256) * 0x10000
        modules = [Module(f"{volume}\\Programs\\{process.name}", exe_base, 0x100000)]
        folder = "SysWOW64" if wow else "System32"
        for number, name in enumerate(LIBRARIES):
            base = 0x77000000 - number * 0x400000 if process.width == 4 else self.library_bases[name]
            modules.append(self.library(f"{volume}\\Windows\\{folder}\\{name}", base, 0x200000))
        if wow:
            for number, name in enumerate(WOW_LIBRARIES):
                # The native ntdll.dll, where other processes have it, then wow64*.dll below 4 GB.
                base, size = (0x7FFB40000000, 0x200000) if number == 0 else (0x6B000000 + number * 0x100000, 0x80000)
                modules.append(self.library(f"{volume}\\Windows\\System32\\{name}", base, size))
        return modules

    def library(self, path, base, size):
        if path not in self.shared_libraries:
            self.shared_libraries[path] = Module(path, base, size)
        return self.shared_libraries[path]

    def add_sites(self, process, count, plugin=None):
        for _ in range(count):
            frames, modules = [], set()
            for _ in range(self.chance.choice((0, 1, 2, 3, 5, 8, 13, 30, 60))):
                frames.append(self.some_frame(process, modules, plugin))
            if plugin is not None:
                place = self.chance.randrange(len(frames) + 1)
                frames.insert(place, plugin.frame(self.chance.randrange(0x1000, 0x8000)))
                modules.add(plugin)
            process.sites.append(Site(frames, modules))

    def some_frame(self, process, modules, plugin):
        pick = self.chance.random()
        if pick < 0.05:  # code that was generated: in no module
            address = (0x02F00000 if process.width == 4 else 0x2F0AA000000) + self.chance.randrange(0x10000)
            return address, f"{address:#x}"
        if plugin is not None and pick < 0.3:
            module = plugin
        else:
            module = process.modules[0] if pick < 0.75 else self.chance.choice(process.modules[1:5])
        return module.frame(self.chance.randrange(0x1000, 0x90000 if module is not plugin else 0x8000))

    def inner_frames(self, process, what, through_kernel=False):
        """ntdll and what called it; of a 32-bit program, perhaps the subsystem before it."""
        offset = {"alloc": 0x1A200, "realloc": 0x1B300, "virtual": 0x1C400, "extent": 0x1D500}[what]
        ntdll = process.modules[1]
        if process.width < self.setup.width:
            offset += 0x70000  # the other ntdll.dll
        frames = [ntdll.frame(offset)]
        if what != "alloc":
            frames.append(process.modules[2].frame(offset + 0x333))
        if process.width < self.setup.width and (through_kernel or self.chance.random() < 0.5):
            native, wow, cpu = process.modules[5:8]
            frames[:0] = [native.frame(0x1111), wow.frame(0x2222), cpu.frame(0x3333), native.frame(0x4444)]
        return frames

    def kernel_piece(self):
        count = self.chance.choice((1, 2, 3, 4, 6, 9))
        frames = [self.kernel_modules[0].frame(0x55000 + 0x10 * self.chance.randrange(4))]
        frames += [self.chance.choice(self.kernel_modules).frame(0x1000 * n + 0x77) for n in range(1, count)]
        return Piece([address for address, _ in frames], [text for _, text in frames], True)

    # --- processes and threads ---------------------------------------------------------

    def new_process(self, parent, name, wow):
        width = 4 if wow else self.setup.width
        process = Process(self.pids.take(self.recorder.time), parent, name, width, self.chance.randrange(self.setup.cpus))
        process.key = (0x85000000 if self.setup.width == 4 else 0xFFFFE08900000000) + len(self.processes) * 0x1080
        process.modules = self.modules_for(process)
        small = process.width == 4
        process.next_handle = 0x00600000 if small else 0x1F000000000 + self.chance.randrange(16) * 0x10000
        process.next_region = (0x20000000 if small else 0x30000000000) // 0x1000
        self.add_sites(process, self.chance.randrange(2, 7))
        self.processes.append(process)
        return process

    def new_thread(self, process):
        thread = Thread(process, self.tids.take(self.recorder.time), self.any_cpu(process))
        process.threads.add(thread)
        return thread

    def system_process(self):
        """pid 4, whose threads never leave the kernel."""
        process = Process(4, 0, "System", self.setup.width, 0)
        process.key = 0x84000000 if self.setup.width == 4 else 0xFFFFE08800000000
        process.next_region = 0x10000
        process.kernel_frames_only = True
        process.modules = [self.library("\\SystemRoot\\System32\\ntdll.dll", self.library_bases["ntdll.dll"], 0x200000)]
        self.processes.append(process)
        return process

    def living(self):
        return [process for process in self.processes if process.started and not process.ended]

    # --- rundowns ----------------------------------------------------------------------

    def run_down(self, process_hook, thread_hook, image_hook):
        """One record for each process, thread and image that there is."""
        recorder, cpu = self.recorder, self.chance.randrange(self.setup.cpus)
        for process in self.living():
            recorder.put_process(process_hook, cpu, process)
            for thread in sorted(process.threads, key=lambda one: one.tid):
                recorder.put_thread(thread_hook, thread, cpu)
            for module in process.modules:
                recorder.put_image(image_hook, cpu, module, process.pid, 0xFFFFFFFF)
        for module in self.kernel_modules:
            recorder.put_image(image_hook, cpu, module, 0, 0xFFFFFFFF)

    def run_down_start(self):
        self.run_down(records.PROCESS_RUNDOWN_START, records.THREAD_RUNDOWN_START, records.IMAGE_RUNDOWN_START)

    def run_down_end(self):
        self.run_down(records.PROCESS_RUNDOWN_END, records.THREAD_RUNDOWN_END, records.IMAGE_RUNDOWN_END)
