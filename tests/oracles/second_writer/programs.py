"""What threads do in user mode: heaps, blocks, modules.

The order of records of a heap call follows what was seen of ntdll on real captures
and what PerfView's TraceEvent expects of it:

  * a block that is resized where it is has one record, ReAlloc with new = old;
  * one that moves has Alloc(new), Free(old) and then ReAlloc as their summary, all of
    one thread; the summary is late if the thread loses its processor before it;
  * `realloc_only` is a system that writes the summary alone;
  * a heap that is destroyed, or a process that ends, frees its blocks without records.

The stack of a heap call is walked before the call returns, so no other thread can
have the block sooner.
"""

from . import records
from .blocks import Heap, Lifetime
from .machine import PLUGINS, Module
from .pages import PAGE, Commit, PageMap, Removal
from .recorder import CallStack

SIZES = (0, 1, 8, 16, 24, 32, 40, 64, 64, 64, 100, 128, 200, 256, 500, 1000, 4000, 20000, 300000)
SOURCES = (1, 2, 3, 4, 6)
PROVIDER = bytes(range(16))


class Programs:
    def __init__(self, machine):
        self.machine, self.setup, self.chance = machine, machine.setup, machine.chance
        self.recorder = machine.recorder
        self.calls = None  # SystemCalls
        self.overtaken = []  # holes that were taken before their Free was logged

    # --- time ------------------------------------------------------------------------

    def pause(self):
        pick = self.chance.random()
        if self.setup.same_tick and pick < 0.1:
            return 0
        least = 1 if self.setup.same_tick else self.setup.clock.grain
        return least + (self.chance.randrange(60) if pick < 0.6 else self.chance.randrange(100, self.setup.pause_max))

    def walk_delay(self):
        """From an event to its stack: about 10 us, now and then far longer."""
        pick = self.chance.random()
        if self.setup.same_tick and pick < 0.1:
            return 0
        if self.setup.late_stacks and pick > 0.985:
            return self.chance.randrange(self.setup.clock.hz // 500, self.setup.clock.hz // 20)
        return self.chance.randrange(13, 200)

    def migrate(self, thread, since):
        """To another processor, but never within a tick."""
        if not self.setup.pinned and self.chance.random() < 0.05 and self.machine.now() > since:
            thread.cpu = self.machine.any_cpu()

    def life(self, thread):
        process = thread.process
        steps = [self.alloc] * 9 + [self.free] * 8 + [self.realloc] * 3 + [self.hot_loop]
        steps += [self.create_heap, self.destroy_heap, self.expand, self.contract]
        steps += [self.load_plugin, self.unload_plugin, self.own_event, *self.calls.steps()]
        while not process.exiting and not thread.gone:
            yield self.pause()
            yield from self.chance.choice(steps)(thread)
            self.migrate(thread, thread.last_stamp)
            thread.last_stamp = self.machine.now()
        if not thread.gone:
            yield from self.calls.end_thread(thread)

    # --- stacks ----------------------------------------------------------------------

    def user_stack(self, thread, ticks, what, call_stacks, site=None):
        """Walks the thread's stack for its event at that time."""
        site = site or self.chance.choice(thread.process.sites)
        piece = site.piece(self.machine.inner_frames(thread.process, what))
        for module in site.modules:
            module.users += 1
        yield self.walk_delay()
        self.migrate(thread, ticks)
        self.recorder.put_stack(self.recorder.heap, thread, ticks, piece, call_stacks)
        for module in site.modules:
            module.users -= 1

    # --- blocks ----------------------------------------------------------------------

    def heap_of(self, thread):
        heaps = [heap for heap in thread.process.heaps if not heap.closing]
        return self.chance.choice(heaps) if heaps else None

    def touch(self, block, number):
        about = block.heap.process.numbers_about
        about.setdefault((block.heap.handle, block.address), []).append(number)

    def open_block(self, thread, block, hook, payload, what, is_realloc=False):
        heap, ticks = block.heap, self.machine.now()
        number = self.recorder.put_heap(thread, hook, payload)
        lifetime = Lifetime(
            "heap", heap.process, heap.handle, block.address, block.size, ticks, CallStack(), thread.tid)
        lifetime.opened_by, lifetime.opened_on = [number], (thread.tid, thread.cpu)
        lifetime.is_realloc = is_realloc
        heap.process.lifetimes.append(lifetime)
        block.lifetime = lifetime
        block.stamp, block.cpu = ticks, thread.cpu
        if block.hole is not None and not block.hole.is_logged:
            self.overtaken.append((block.hole, ticks, number))
        self.touch(block, number)
        yield from self.user_stack(thread, ticks, what, [lifetime.call_stack])

    def close_block(self, thread, block, number):
        if block.lifetime is None:
            return False
        block.lifetime.close(self.machine.now(), "free", [number], (thread.tid, thread.cpu))
        return True

    def alloc(self, thread, size=None):
        heap = self.heap_of(thread)
        if heap is None:
            return None
        heap.users += 1
        size = self.chance.choice(SIZES) if size is None else size
        block = heap.take(size, thread, self.machine.now(), self.setup.inversions)
        self.calls.noise(thread)
        payload = records.heap_alloc(heap.process.width, heap.handle, size, block.address, self.chance.choice(SOURCES))
        yield from self.open_block(thread, block, records.HEAP_ALLOC, payload, "alloc")
        block.busy = False
        block.stamp, block.cpu = self.machine.now(), thread.cpu
        heap.users -= 1
        return block

    def pick_block(self, thread):
        heap = self.heap_of(thread)
        blocks = heap.usable(thread, self.machine.now()) if heap is not None else []
        if not blocks:
            return None
        block = blocks[-1] if self.chance.random() < 0.5 else self.chance.choice(blocks)
        block.busy = True
        heap.users += 1
        return block

    def free(self, thread, block=None):
        block = block or self.pick_block(thread)
        if block is None:
            return
        hole = None
        inverts = self.setup.inversions and self.setup.cpus > 1 and block.lifetime is not None
        if inverts and self.chance.random() < 0.2:
            # The block is free before its record is written; others may be quicker. (Of a
            # block from before the trace nobody could tell whose Free it is.)
            hole = block.heap.give_back(block, thread, self.machine.now(), is_logged=False)
            hole.lifetime = block.lifetime
            yield self.chance.choice((2, 20, 100, self.setup.clock.hz // 20000, self.setup.clock.hz // 5000))
        self.log_free(thread, block, hole)
        block.heap.users -= 1

    def log_free(self, thread, block, hole=None):
        heap = block.heap
        payload = records.heap_free(heap.process.width, heap.handle, block.address, self.chance.choice(SOURCES))
        number = self.recorder.put_heap(thread, records.HEAP_FREE, payload)
        self.touch(block, number)
        if not self.close_block(thread, block, number):
            heap.process.unknown_frees += 1
        hole = hole or heap.give_back(block, thread, self.machine.now())
        hole.is_logged, hole.stamp = True, self.machine.now()
        return hole

    def realloc(self, thread):
        block = self.pick_block(thread)
        if block is None:
            return
        heap = block.heap
        size = self.chance.choice(SIZES)
        if heap.capacity_for(size) == block.capacity:
            yield from self.resize(thread, block, size)
        elif self.setup.realloc_only:
            yield from self.move_unseen(thread, block, size)
        else:
            yield from self.move(thread, block, size)
        heap.users -= 1

    def summary(self, heap, new, old):
        return records.heap_realloc(heap.process.width, heap.handle, new.address, old.address, new.size, old.size,
                                    self.chance.choice(SOURCES))

    def resize(self, thread, block, size):
        heap = block.heap
        old_size, block.size = block.size, size
        payload = records.heap_realloc(heap.process.width, heap.handle, block.address, block.address, size, old_size,
                                       self.chance.choice(SOURCES))
        number = self.recorder.count + 1
        if not self.close_block(thread, block, number):
            heap.process.unknown_resizes += 1
        yield from self.open_block(thread, block, records.HEAP_REALLOC, payload, "realloc", True)
        assert block.lifetime.opened_by == [number]
        block.busy = False
        block.stamp, block.cpu = self.machine.now(), thread.cpu

    def move(self, thread, old, size):
        """Alloc, Free, ReAlloc."""
        heap = old.heap
        new = heap.take(size, thread, self.machine.now())
        payload = records.heap_alloc(heap.process.width, heap.handle, size, new.address, self.chance.choice(SOURCES))
        yield from self.open_block(thread, new, records.HEAP_ALLOC, payload, "realloc")
        yield self.chance.randrange(1, 60)
        hole = self.log_free(thread, old)
        late = self.setup.realloc_late and self.chance.random() < 0.3
        if not late:
            heap.holes.remove(hole)
        yield self.setup.clock.hz // self.chance.choice((200, 1000, 20000)) if late else self.chance.randrange(1, 8)
        ticks = self.machine.now()
        number = self.recorder.put_heap(thread, records.HEAP_REALLOC, self.summary(heap, new, old))
        new.lifetime.is_realloc = True
        new.lifetime.opened_by.append(number)
        self.touch(new, number)
        self.touch(old, number)
        if not late:
            hole.stamp, hole.cpu = ticks, thread.cpu
            heap.holes.append(hole)
        yield from self.user_stack(thread, ticks, "extent", [CallStack()])
        new.busy = False
        new.stamp, new.cpu = self.machine.now(), thread.cpu

    def move_unseen(self, thread, old, size):
        """ReAlloc alone."""
        heap = old.heap
        new = heap.take(size, thread, self.machine.now())
        number = self.recorder.count + 1
        self.touch(old, number)
        if not self.close_block(thread, old, number):
            heap.process.unknown_resizes += 1
        heap.give_back(old, thread, self.machine.now())
        yield from self.open_block(thread, new, records.HEAP_REALLOC, self.summary(heap, new, old), "realloc", True)
        assert new.lifetime.opened_by == [number]
        new.busy = False
        new.stamp, new.cpu = self.machine.now(), thread.cpu

    def hot_loop(self, thread):
        """One address again and again, as strings and lists of a loop do."""
        size = self.chance.choice((24, 32, 64))
        for _ in range(self.chance.randrange(3, 12)):
            block = yield from self.alloc(thread, size)
            if block is None or thread.process.exiting or block.heap.closing:
                return
            yield self.chance.choice((0 if self.setup.same_tick else 1, 3, 40, 150))
            if not block.busy and block in block.heap.usable(thread, self.machine.now()) and not block.heap.closing:
                block.busy = True
                block.heap.users += 1
                yield from self.free(thread, block)

    def stop(self):
        """A Free that was not logged when the session stopped: the next Alloc says so."""
        for hole, ticks, number in self.overtaken:
            if not hole.is_logged and hole.lifetime is not None:
                hole.lifetime.close(ticks, "free", [number])

    # --- heaps -----------------------------------------------------------------------

    def add_heap(self, process):
        if process.free_handles:
            handle = process.free_handles.pop()
        else:
            handle = process.next_handle
            process.next_handle += 0x1000000
        heap = Heap(process, handle, handle + 0x740)
        heap.extents = PageMap()
        process.extent_maps.append(heap.extents)
        process.heaps.append(heap)
        process.all_heaps.append(heap)
        return heap

    def blocks_before(self, heap):
        """Blocks that were handed out before the trace began."""
        for _ in range(self.chance.randrange(0, 8)):
            block = heap.take(self.chance.choice(SIZES), FIRST_THREAD, -1)
            block.busy = False

    def create_heap(self, thread):
        if self.chance.random() < 0.5 and len(thread.process.heaps) > 2:
            return
        yield from self.machine.next_tick()
        heap = self.add_heap(thread.process)
        heap.closing = True  # to others, until the call returns
        payload = records.heap_create(thread.process.width, heap.handle, 2, 0x100000, 0x2000)
        number = self.recorder.put_heap(thread, records.HEAP_CREATE, payload, 3)
        thread.process.heap_numbers.setdefault(heap.handle, []).append(number)
        yield from self.machine.next_tick()
        heap.closing = False

    def destroy_heap(self, thread):
        process = thread.process
        heaps = [heap for heap in process.heaps[1:] if not heap.closing]
        if not heaps or self.chance.random() < 0.4:
            return
        heap = self.chance.choice(heaps)
        heap.closing = True
        while heap.users:
            yield 10
        yield from self.machine.next_tick()
        number = self.recorder.put_heap(thread, records.HEAP_DESTROY, records.heap_destroy(process.width, heap.handle))
        process.heap_numbers.setdefault(heap.handle, []).append(number)
        ticks = self.machine.now()
        for block in heap.blocks:
            if block.lifetime is not None:
                block.lifetime.close(ticks, "heap-destroy", [number])
        heap.extents.remove_all(Removal(ticks, "heap-destroy", number))
        process.heaps.remove(heap)
        yield from self.machine.next_tick()
        process.free_handles.append(heap.handle)

    # --- extents ---------------------------------------------------------------------

    def extent_call(self, thread):
        heap = self.heap_of(thread)
        if heap is None or (heap.extent_cpu != thread.cpu and heap.extent_stamp >= self.machine.now()):
            return None
        heap.extent_cpu, heap.extent_stamp = thread.cpu, self.machine.now()
        return heap

    def expand(self, thread):
        """Commits pages of the heap that are not committed."""
        heap = self.extent_call(thread)
        if heap is None:
            return
        first = (heap.handle + 0x800000) // PAGE + self.chance.randrange(24)
        count = 0
        while count < 8 and first + count not in heap.extents.committed:
            count += 1
        count = self.chance.randrange(1, count + 1) if count else 0
        if not count:
            return
        heap.users += 1
        ticks = self.machine.now()
        payload = records.heap_extent(heap.process.width, heap.handle, count * PAGE, first * PAGE, 0x10000, 0x100000)
        number = self.recorder.put_heap(thread, records.HEAP_EXPAND, payload, 3)
        call_stack = CallStack()
        heap.extents.commit(first, count, Commit(
            "extent", heap.process, heap.handle, ticks, call_stack, thread.tid, number))
        heap.process.extent_numbers.setdefault(heap.handle, []).append(number)
        if self.setup.extent_stacks:
            yield from self.user_stack(thread, ticks, "extent", [call_stack])
        heap.users -= 1

    def contract(self, thread):
        """Gives back pages that lie together, whoever committed them."""
        heap = self.extent_call(thread)
        pages = sorted(heap.extents.committed) if heap is not None else []
        if not pages:
            return
        first = self.chance.choice(pages)
        count = 1
        while count < 6 and first + count in heap.extents.committed:
            count += 1
        count = self.chance.randrange(1, count + 1)
        payload = records.heap_extent(heap.process.width, heap.handle, count * PAGE, first * PAGE, 0x10000, 0x100000)
        number = self.recorder.put_heap(thread, records.HEAP_CONTRACT, payload, 3)
        heap.extents.remove(first, count, Removal(self.machine.now(), "free", number))
        heap.process.extent_numbers.setdefault(heap.handle, []).append(number)
        yield 1

    def own_event(self, thread):
        """An event of the program's own provider, whose stack is a part of the record."""
        stack = self.chance.choice(thread.process.sites).piece(()).addresses
        self.recorder.put(self.recorder.kernel, thread.cpu, records.event(
            thread.process.width, PROVIDER, 7, thread.tid, thread.process.pid, self.machine.now(), b"mine\0", stack))
        yield 1

    # --- modules ---------------------------------------------------------------------

    def load_plugin(self, thread):
        """At a base where another one may have been before."""
        process = thread.process
        free = [n for n in range(3) if n not in {plugin.slot for plugin in process.plugins}]
        if not free or process.loading or self.chance.random() < 0.6:
            return
        process.loading = True
        slot = self.chance.choice(free)
        base = (0x50000000 if process.width == 4 else 0x7FFA10000000) + slot * 0x100000
        path = f"\\Device\\HarddiskVolume3\\Plugins\\{self.chance.choice(PLUGINS)}"
        plugin = Module(path, base, 0x10000)
        plugin.slot = slot
        process.plugins.append(plugin)
        yield from self.machine.next_tick()
        self.recorder.put_image(records.IMAGE_LOAD, thread.cpu, plugin, process.pid, thread.tid)
        process.modules.append(plugin)
        yield from self.machine.next_tick()
        self.machine.add_sites(process, 2, plugin)
        process.loading = False

    def unload_plugin(self, thread):
        process = thread.process
        if not process.plugins or process.loading or self.chance.random() < 0.7:
            return
        process.loading = True
        plugin = self.chance.choice(process.plugins)
        process.sites = [site for site in process.sites if plugin not in site.modules]
        while plugin.users:
            yield 20
        yield from self.machine.next_tick()
        self.recorder.put_image(records.IMAGE_UNLOAD, thread.cpu, plugin, process.pid, thread.tid)
        process.modules.remove(plugin)
        yield from self.machine.next_tick()
        process.plugins.remove(plugin)
        process.loading = False


class FirstThread:
    """Whoever allocated before the trace."""

    tid, cpu = None, None


FIRST_THREAD = FirstThread()
