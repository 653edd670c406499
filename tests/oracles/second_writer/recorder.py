"""The tracing sessions: which file a record goes to, and how stacks are recorded.

Sources: the MOF of StackWalk, phnt (ntwmi.h), and PerfView's TraceEvent for how stack
keys and the two halves of a stack behave on real traces.

A stack is one or two records that name their event by its time and thread: the kernel
half at once and on the same processor, the user half when the thread returns to user
mode, perhaps much later and elsewhere. A session with a stack cache writes a key in
place of the frames of stacks of four frames and more. What a key stands for is written
later, when the cache drops the stack or when the session stops; then the key is free
for another stack.

What is known of a stack is a CallStack: it gets its frames when their record is
written, and remembers on which records that knowledge rests.
"""

from . import records
from .container import Record, TraceFile

CACHED_FRAMES_MIN = 4


class CallStack:
    """The frames of an event as text, as far as they were recorded."""

    def __init__(self):
        self.kernel = ()
        self.user = ()
        self.rests_on = []

    def texts(self):
        return [*self.kernel, *self.user] or None


class Piece:
    """Addresses of a stack or of half of one, and what they are called."""

    def __init__(self, addresses, texts, is_kernel):
        self.addresses = tuple(addresses)
        self.texts = tuple(texts)
        self.is_kernel = is_kernel


class StackCache:
    """Keys of one session. A key is never reused at the tick at which it was dropped."""

    def __init__(self, recorder, file, capacity, chance):
        self.recorder, self.file, self.chance = recorder, file, chance
        high = 0x8A000000 if recorder.width == 4 else 0xFFFFFA8303430000
        high += 0x10000 * recorder.files.index(file)
        self.free = [(high + 0x90 * number, -1) for number in range(capacity)]
        self.live = {}  # addresses -> [key, call stacks that refer to it]

    def key_of(self, cpu, piece, call_stacks):
        """The key of a piece, or None: it is not cached this time."""
        if len(piece.addresses) < CACHED_FRAMES_MIN:
            return None
        entry = self.live.get(piece.addresses)
        if entry is None:
            if not self.free or self.chance.random() < 0.1:
                self.drop(cpu)
            now = self.recorder.stamp()
            if not self.free or self.free[-1][1] >= now:
                return None
            entry = self.live[piece.addresses] = [self.free.pop()[0], []]
        entry[1].extend(call_stacks)
        return entry[0]

    def drop(self, cpu):
        if not self.live:
            return
        addresses = self.chance.choice(list(self.live))
        key, _ = self.define(records.KEY_DELETE, cpu, addresses)
        self.free.append((key, self.recorder.stamp()))

    def define(self, hook, cpu, addresses):
        key, call_stacks = self.live.pop(addresses)
        payload = records.stack_definition(self.recorder.width, key, addresses)
        number = self.recorder.put_perfinfo(self.file, cpu, hook, payload)
        for call_stack in call_stacks:
            call_stack.rests_on.append(number)
        return key, number

    def run_down(self, cpu):
        for addresses in list(self.live):
            self.define(records.KEY_RUNDOWN, cpu, addresses)


class Recorder:
    def __init__(self, setup, chance):
        self.setup, self.chance = setup, chance
        self.width = setup.width
        self.time = 0
        self.count = 0
        self.about = {}  # number of a record -> what it says, for messages
        self.clock = setup.clock
        self.kernel = TraceFile(self.clock, setup.cpus, setup.kernel_style, self.stamp(), chance)
        self.heap = self.kernel
        if setup.heap_style is not None:
            later = self.clock.stamp(setup.heap_session_delay)
            self.heap = TraceFile(self.clock, setup.cpus, setup.heap_style, later, chance)
        self.files = [self.kernel] if self.heap is self.kernel else [self.kernel, self.heap]
        # A merged file keeps the stacks of each session apart by their keys alone.
        self.caches = {file: StackCache(self, file, setup.cache_size, chance) for file in self.files}

    def stamp(self):
        return self.clock.stamp(self.time)

    def put(self, file, cpu, data, is_memory=False, about=None):
        self.count += 1
        file.add(Record(self.count, self.stamp(), cpu, data, is_memory))
        if about is not None:
            self.about[self.count] = about
        return self.count

    def put_perfinfo(self, file, cpu, hook, payload, is_memory=True, version=2):
        return self.put(file, cpu, records.perfinfo(self.width, version, hook, self.stamp(), payload), is_memory)

    def put_system(self, cpu, hook, version, tid, pid, payload):
        """A record of the kernel session that is never lost."""
        return self.put(self.kernel, cpu, records.system(self.width, version, hook, tid, pid, self.stamp(), payload))

    def put_heap(self, thread, hook, payload, version=2):
        """A heap event: written by the program's own ntdll, hence with its width."""
        width = thread.process.width
        make = records.compact if self.setup.compact_heap else records.system
        data = make(width, version, hook, thread.tid, thread.process.pid, self.stamp(), payload)
        return self.put(self.heap, thread.cpu, data, True)

    # --- stacks ----------------------------------------------------------------------

    def put_stack(self, file, thread, event_ticks, piece, call_stacks):
        """Records a whole stack or half of one for the event of the thread at that time.

        A user half may be that of several events: the thread was in the kernel all along.
        """
        number = self.stack_record(file, thread, event_ticks, piece, call_stacks)
        for call_stack in call_stacks:
            if piece.is_kernel:
                call_stack.kernel = piece.texts
            else:
                call_stack.user = piece.texts
            call_stack.rests_on.append(number)

    def stack_record(self, file, thread, event_ticks, piece, call_stacks):
        pid, tid, key = thread.process.pid, thread.tid, None
        if self.setup.keys:
            key = self.caches[file].key_of(thread.cpu, piece, call_stacks)
        if key is not None:
            hook = records.KEY_KERNEL if piece.is_kernel else records.KEY_USER
            payload = records.stack_key(self.width, event_ticks, pid, tid, key)
        else:
            hook = records.STACK
            zeros = (0,) * self.chance.choice((0, 0, 1, 2)) if self.zeros_at_end(thread, piece) else ()
            payload = records.stack(self.width, event_ticks, pid, tid, piece.addresses + zeros)
        return self.put_perfinfo(file, thread.cpu, hook, payload)

    def zeros_at_end(self, thread, piece):
        """Seen on stacks of 32-bit programs on 64-bit Windows."""
        return self.width == 8 and thread.process.width == 4 and not piece.is_kernel

    def put_mixed(self, file, thread, event_ticks, kernel, user, call_stack):
        """Both halves in one record."""
        call_stack.kernel, call_stack.user = kernel.texts, user.texts
        payload = records.stack(
            self.width, event_ticks, thread.process.pid, thread.tid, kernel.addresses + user.addresses)
        call_stack.rests_on.append(self.put_perfinfo(file, thread.cpu, records.STACK, payload))

    def stop(self):
        for file, cache in self.caches.items():
            self.time += 1
            cache.run_down(self.chance.randrange(self.setup.cpus))

    # --- processes, threads, images ----------------------------------------------------

    def put_process(self, hook, cpu, process, by=None):
        flags = records.PROCESS_WOW64 if process.width < self.width else 0
        payload = records.process(self.width, process.key, process.pid, process.parent, flags, process.name,
                                  process.command_line)
        tid, pid = (by.tid, by.process.pid) if by is not None else (0, process.pid)
        if hook in (records.PROCESS_RUNDOWN_START, records.PROCESS_RUNDOWN_END):
            return self.put_perfinfo(self.kernel, cpu, hook, payload, False, 4)
        return self.put_system(cpu, hook, 4, tid, pid, payload)

    def put_thread(self, hook, thread, cpu, by=None):
        name = self.chance.choice(("", "worker")) if self.setup.thread_names else None
        start = thread.process.modules[0].base + 0x1230
        payload = records.thread(self.width, thread.process.pid, thread.tid, start, name)
        by = by or thread
        return self.put_system(cpu, hook, 3, by.tid, by.process.pid, payload)

    def put_image(self, hook, cpu, module, pid, tid):
        is_rundown = hook in (records.IMAGE_RUNDOWN_START, records.IMAGE_RUNDOWN_END)
        by_perfinfo = is_rundown and pid != 0
        stamp = 0 if by_perfinfo and self.setup.rundown_stamps else module.stamp
        version = self.setup.image_version
        if self.setup.image_ids:
            self.put_image_ids(cpu, module, pid, tid)
        payload = records.image(self.width, module, pid, version, stamp)
        if by_perfinfo:
            return self.put_perfinfo(self.kernel, cpu, hook, payload, False, version)
        return self.put_system(cpu, hook, version, tid, pid, payload)

    def put_image_ids(self, cpu, module, pid, tid):
        """What a merge adds just before each image event, with its time."""
        for opcode, payload in (
            (records.IMAGE_ID_INFO, records.image_id_info(self.width, module, pid)),
            (records.IMAGE_ID_RSDS, records.image_id_rsds(self.width, module, pid)),
        ):
            self.put(self.kernel, cpu, records.full(
                self.width, records.IMAGE_ID, opcode, 2, tid, pid, self.stamp(), payload))
