"""What threads ask of the kernel: address ranges, processes, threads; and their ends.

Sources: the MOF of VirtualAlloc and VirtualFree, Microsoft's page on VirtualAlloc for
what the calls do, PerfView's TraceEvent for what their records look like.

A call enters the kernel, may change several ranges, and leaves it. Each change has a
record and a kernel half of a stack; the user half is walked once, when the thread
leaves the kernel, and is that of all of them. A thread that dies in the kernel never
walks it. A system thread has none.
"""

from . import records
from .pages import PAGE, Commit, Region, Removal
from .recorder import CallStack


class SystemCalls:
    def __init__(self, machine, programs):
        self.machine, self.setup, self.chance = machine, machine.setup, machine.chance
        self.programs, self.recorder = programs, machine.recorder
        self.last_virtual = {}  # processor -> tick of its last record about a range
        self.noise_thread = None

    def steps(self):
        steps = [self.virtual] * 5 + [self.new_thread, self.leave_thread]
        steps += [self.spawn] if self.setup.spawn else []
        return steps

    # --- the way into the kernel and out -------------------------------------------------

    def call(self, thread, changes, owner, may_die=True):
        """Runs changes; each writes a record, and gives the stack it waits for or None."""
        owner.remote_users += 1
        site = self.chance.choice(thread.process.sites) if thread.process.sites else None
        for module in site.modules if site else ():
            module.users += 1
        form = self.setup.virtual_stacks
        if thread.process.kernel_frames_only and form != "none":
            form = "kernel"
        done = []
        for change in changes:
            yield from self.wait_for_order(thread)
            ticks = self.machine.now()
            self.noise(thread)
            call_stack = change()
            if call_stack is None:
                continue
            done.append((ticks, call_stack))
            yield from self.first_walk(thread, ticks, form, site, call_stack)
            yield self.chance.randrange(1, 30)
        if done and form == "halves":
            yield from self.leave_kernel(thread, site, done, may_die)
        for module in site.modules if site else ():
            module.users -= 1
        owner.remote_users -= 1

    def wait_for_order(self, thread):
        """Records without a thread are told apart by their tick and processor alone. Nothing but
        its kernel half tells whether a stack is of such a record, or of another one that its
        thread wrote on the tick."""
        place = 0 if self.setup.kernel_style.kind == "stream" else thread.cpu
        needs_tick = self.setup.virtual_stacks == "user"
        while self.setup.tidless and (self.last_virtual.get(place) == self.machine.now()
                                      or needs_tick and thread.last_stamp == self.machine.now()):
            yield from self.machine.next_tick()
        self.last_virtual[place] = self.machine.now()

    def first_walk(self, thread, ticks, form, site, call_stack):
        file = self.recorder.kernel
        if form == "none":
            return
        yield 0 if self.setup.same_tick and self.chance.random() < 0.1 else self.chance.randrange(13, 60)
        if form in ("halves", "kernel"):
            self.recorder.put_stack(file, thread, ticks, self.machine.kernel_piece(), [call_stack])
        elif form == "user":
            self.recorder.put_stack(file, thread, ticks, self.user_piece(thread, site), [call_stack])
        else:
            kernel, user = self.machine.kernel_piece(), self.user_piece(thread, site)
            self.recorder.put_mixed(file, thread, ticks, kernel, user, call_stack)

    def user_piece(self, thread, site):
        return site.piece(self.machine.inner_frames(thread.process, "virtual", True))

    def leave_kernel(self, thread, site, done, may_die):
        process = thread.process
        dies = self.setup.die_in_kernel and may_die and self.chance.random() < 0.08
        yield self.programs.walk_delay()
        if dies and len(process.threads) > 1:
            yield from self.end_thread(thread)
            return
        if may_die and process.exiting and self.chance.random() < 0.5:
            return  # the process was terminated before the thread came back
        self.programs.migrate(thread, done[-1][0])
        ticks = self.chance.choice(done)[0]
        call_stacks = [call_stack for _, call_stack in done]
        self.recorder.put_stack(self.recorder.kernel, thread, ticks, self.user_piece(thread, site), call_stacks)

    def noise(self, thread):
        """A sampling interrupt on another processor at this very tick, with its stack."""
        other, now = self.noise_thread, self.machine.now()
        if not self.setup.samples or self.setup.cpus == 1 or self.setup.kernel_style.kind == "stream":
            return
        if self.chance.random() > 0.05 or other.last_stamp >= now:
            return
        other.cpu = (thread.cpu + 1 + self.chance.randrange(self.setup.cpus - 1)) % self.setup.cpus
        if self.last_virtual.get(other.cpu) == now:
            return  # of two events without a thread, on one tick and processor, none can tell the stacks
        self.last_virtual[other.cpu] = now
        other.last_stamp = now + 1000
        payload = records.sampled_profile(self.setup.width, self.machine.kernel_modules[0].base + 0x99, other.tid)
        self.recorder.put_perfinfo(self.recorder.kernel, other.cpu, records.SAMPLED_PROFILE, payload)
        self.machine.start(self.noise_stack(other, now), self.chance.randrange(5, 60))

    def noise_stack(self, thread, ticks):
        """The kernel half on the processor that was interrupted, the user half anywhere."""
        self.recorder.put_stack(self.recorder.kernel, thread, ticks, self.machine.kernel_piece(), [CallStack()])
        yield self.chance.randrange(100, 300)
        if not self.setup.pinned:
            thread.cpu = self.machine.any_cpu()
        piece = self.chance.choice(thread.process.sites).piece(())
        if piece.addresses:
            self.recorder.put_stack(self.recorder.kernel, thread, ticks, piece, [CallStack()])

    # --- address ranges ------------------------------------------------------------------

    def put_virtual(self, thread, hook, owner, region, first, count, flags):
        size = 0 if flags == records.MEM_RELEASE and self.setup.release_zero else count * PAGE
        payload = records.virtual(self.setup.width, first * PAGE, size, owner.pid, flags)
        ticks, recorder = self.machine.now(), self.recorder
        if self.setup.tidless:
            number = recorder.put_perfinfo(recorder.kernel, thread.cpu, hook, payload)
        else:
            data = records.system(self.setup.width, 2, hook, thread.tid, thread.process.pid, ticks, payload)
            number = recorder.put(recorder.kernel, thread.cpu, data, True)
        region.stamp, region.cpu = ticks, thread.cpu
        region.numbers.append(number)
        owner.region_of[number] = region
        self.last_virtual[0 if self.setup.kernel_style.kind == "stream" else thread.cpu] = ticks
        return number

    def reserve(self, thread, owner, and_commit):
        def change():
            region = self.new_region(thread, owner)
            flags = records.MEM_RESERVE | (records.MEM_COMMIT if and_commit else 0)
            number = self.put_virtual(thread, records.VIRTUAL_ALLOC, owner, region, region.first, region.count, flags)
            return self.committed(thread, owner, region.first, region.count if and_commit else 0, number)
        return change

    def new_region(self, thread, owner):
        """Addresses that were released last are given again first."""
        count = self.chance.choice((1, 2, 3, 4, 8, 16, 32))
        for hole in reversed(owner.free_regions):
            if hole.count >= count and hole.can_use(thread, self.machine.now()):
                owner.free_regions.remove(hole)
                region = Region(hole.first, count, -1, None)
                break
        else:
            region = Region(owner.next_region, count, -1, None)
            owner.next_region += (count + 15) // 16 * 16
        owner.regions.append(region)
        return region

    def committed(self, thread, owner, first, count, number):
        call_stack = CallStack()
        if count:
            owner.pages.commit(first, count, Commit(
                "virtualalloc", owner, None, self.machine.now(), call_stack, thread.tid, number))
        return call_stack

    def regions_before(self, owner):
        """Ranges from before the trace, committed as a whole."""
        for _ in range(self.chance.randrange(0, 4)):
            region = Region(owner.next_region, self.chance.choice((1, 4, 16)), -1, None)
            owner.next_region += 16
            region.is_known = self.setup.virtual_rundown == "both"
            owner.regions.append(region)
            owner.pages.commit(region.first, region.count, Commit(
                "virtualalloc", owner, None, None, CallStack(), None, None))

    def run_down(self, hook):
        """A record for each region: how much of it is committed."""
        cpu = self.chance.randrange(self.setup.cpus)
        for owner in self.machine.living():
            for region in owner.regions:
                committed = owner.pages.count_in(region.first, region.count) * PAGE
                payload = records.virtual_rundown(self.setup.width, region.first * PAGE, region.count * PAGE, owner.pid,
                                                  records.MEM_RESERVE, committed)
                self.recorder.put_perfinfo(self.recorder.kernel, cpu, hook, payload, False)

    def commit(self, thread, owner, region):
        def change():
            first, count = self.part_of(region)
            number = self.put_virtual(thread, records.VIRTUAL_ALLOC, owner, region, first, count, records.MEM_COMMIT)
            return self.committed(thread, owner, first, count, number)
        return change

    def decommit(self, thread, owner, region):
        def change():
            first, count = self.part_of(region)
            number = self.put_virtual(thread, records.VIRTUAL_FREE, owner, region, first, count, records.MEM_DECOMMIT)
            owner.pages.remove(first, count, Removal(self.machine.now(), "free", number))
            return CallStack()
        return change

    def release(self, thread, owner, region):
        def change():
            number = self.put_virtual(
                thread, records.VIRTUAL_FREE, owner, region, region.first, region.count, records.MEM_RELEASE)
            owner.pages.remove(region.first, region.count, Removal(self.machine.now(), "free", number))
            owner.unknown_ranges += not region.is_known
            owner.regions.remove(region)
            owner.free_regions.append(region)
            return CallStack()
        return change

    def part_of(self, region):
        low = self.chance.randrange(region.count)
        return region.first + low, self.chance.randrange(1, region.count - low + 1)

    def owner_for(self, thread):
        """Nearly always the caller's own process."""
        if self.setup.remote_alloc and self.chance.random() < 0.15:
            others = [one for one in self.machine.living() if one.may_be_changed() and one is not thread.process]
            if others:
                return self.chance.choice(others)
        return thread.process

    def virtual(self, thread):
        """One system call: a region is made, or one to three parts of one are changed."""
        owner = self.owner_for(thread)
        ready = [one for one in owner.regions if not one.busy and one.can_use(thread, self.machine.now())]
        pick = self.chance.random()
        if not ready or pick < 0.25:
            yield from self.call(thread, [self.reserve(thread, owner, self.chance.random() < 0.5)], owner)
            return
        region = self.chance.choice(ready)
        region.busy = True
        if pick < 0.4 or not region.is_known:
            changes = [self.release(thread, owner, region)]
        else:
            kinds = self.chance.choices((self.commit, self.decommit), (3, 2), k=self.chance.choice((1, 1, 1, 2, 3)))
            changes = [kind(thread, owner, region) for kind in kinds]
        yield from self.call(thread, changes, owner)
        region.busy = False

    # --- threads -----------------------------------------------------------------------

    def new_thread(self, thread):
        process = thread.process
        if len(process.threads) > 5 or self.chance.random() < 0.7:
            return
        yield from self.machine.next_tick()
        if process.exiting:
            return
        other = self.machine.new_thread(process)
        self.recorder.put_thread(records.THREAD_START, other, thread.cpu, thread)
        self.machine.start(self.programs.life(other), self.setup.clock.grain)
        yield from self.machine.next_tick()

    def leave_thread(self, thread):
        if len(thread.process.threads) > 1 and self.chance.random() < 0.15:
            yield from self.end_thread(thread)

    def end_thread(self, thread):
        process = thread.process
        yield from self.machine.next_tick()
        if thread.gone:
            return
        self.recorder.put_thread(records.THREAD_END, thread, thread.cpu)
        thread.gone = True
        process.threads.discard(thread)
        yield from self.machine.next_tick()
        self.machine.tids.give_back(thread.tid, self.recorder.time)
        if not process.threads and not process.ending:  # else another thread was the last one, too
            process.ending = True
            yield from self.end_process(process, thread)

    # --- processes -----------------------------------------------------------------------

    def spawn(self, thread):
        """A new process, whose memory its parent prepares before its start is logged; or an end."""
        living = len(self.machine.living())
        if living > self.setup.processes and self.chance.random() < 0.03:
            thread.process.exiting = True
        last_moment = self.setup.duration - 3000 - 10 * self.setup.clock.grain
        if living > self.setup.processes + 2 or self.recorder.time > last_moment or self.chance.random() < 0.75:
            return
        yield from self.machine.next_tick()
        child = self.machine.new_process(thread.process.pid, *self.setup.some_program(self.chance))
        child.born_in_trace = child.exiting = True  # nobody else meddles with it yet
        changes = [self.start_process(thread, child)]
        if self.setup.remote_alloc:
            changes[:0] = [self.reserve(thread, child, True), self.reserve(thread, child, True)]
        yield from self.call(thread, changes, child, may_die=False)
        yield from self.machine.next_tick()

    def start_process(self, thread, child):
        def change():
            self.recorder.put_process(records.PROCESS_START, thread.cpu, child, thread)
            child.started = True
            first = self.machine.new_thread(child)
            self.recorder.put_thread(records.THREAD_START, first, thread.cpu, thread)
            self.machine.start(self.begin(first), self.setup.clock.grain * 2)
        return change

    def begin(self, thread):
        """The first thread of a process loads its modules, which creates its heap."""
        process = thread.process
        for module in process.modules:
            self.recorder.put_image(records.IMAGE_LOAD, thread.cpu, module, process.pid, thread.tid)
            yield self.chance.randrange(1, 20)
        yield from self.machine.next_tick()
        process.exiting = False
        yield from self.programs.create_heap(thread)
        yield from self.programs.life(thread)

    def end_process(self, process, thread):
        """The system unloads the images, then frees all there is, without records."""
        process.exiting = True
        while process.remote_users:
            yield 10
        yield from self.machine.next_tick()
        for module in process.modules:
            self.recorder.put_image(records.IMAGE_UNLOAD, thread.cpu, module, process.pid, thread.tid)
        yield from self.machine.next_tick()
        number = self.recorder.put_process(records.PROCESS_END, thread.cpu, process, thread)
        process.ended = True
        ticks = self.machine.now()
        for heap in process.heaps:
            for block in heap.blocks:
                if block.lifetime is not None:
                    block.lifetime.close(ticks, "process-exit", [number])
        for pages in (process.pages, *process.extent_maps):
            pages.remove_all(Removal(ticks, "process-exit", number))
        yield from self.machine.next_tick()
        self.machine.pids.give_back(process.pid, self.recorder.time)
