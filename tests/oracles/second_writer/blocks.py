"""Heaps that hand out addresses, and the lifetimes of their blocks.

The allocator behaves as ntdll's front end does where a trace shows it: a freed
address is handed out again at once, last in, first out, so that a few addresses carry
most blocks; a block may grow in place as far as its size class goes.

A lifetime is opened by the allocator when it hands out a block and closed when the
block is taken back. `opened_by` and `closed_by` are the records that say so: nothing is
concluded from them, but a test of lossy traces must know which were lost.
"""

GRANULE = 16
CLASSES = [GRANULE * n for n in (1, 2, 4, 6, 8, 12, 16, 32, 64, 128, 512, 4096)]


class Lifetime:
    def __init__(self, kind, process, heap, address, size, start, call_stack, tid):
        self.kind, self.process, self.heap = kind, process, heap
        self.address, self.size = address, size
        self.start, self.end = start, None
        self.how = "none"
        self.call_stack, self.tid = call_stack, tid
        self.is_realloc = False
        self.opened_by, self.closed_by = [], []
        self.opened_on = self.closed_on = None  # (tid, cpu)

    def close(self, ticks, how, numbers=(), on=None):
        self.end, self.how = ticks, how
        self.closed_by = list(numbers)
        self.closed_on = on


class Hole:
    """A free address. Until its Free is logged, only another processor may take it."""

    def __init__(self, address, capacity):
        self.address, self.capacity = address, capacity
        self.is_logged = True
        self.stamp, self.tid, self.cpu = -1, None, None
        self.lifetime = None  # of the block whose Free is not logged yet


class Block:
    def __init__(self, heap, address, capacity, size):
        self.heap, self.address, self.capacity, self.size = heap, address, capacity, size
        self.lifetime = None  # None: handed out before the trace began
        self.busy = False
        self.stamp, self.cpu = -1, None  # of its last event
        self.hole = None  # that it came from


class Heap:
    def __init__(self, process, handle, first):
        self.process, self.handle = process, handle
        self.next = first
        self.holes = []
        self.blocks = []
        self.users = 0
        self.closing = False
        self.extents = None
        self.extent_stamp, self.extent_cpu = -1, None  # of the last event about them

    def capacity_for(self, size):
        for capacity in CLASSES:
            if size <= capacity:
                return capacity
        return (size + 0xFFF) & ~0xFFF

    def find_hole(self, capacity, thread, now, inversions):
        """The hole freed last that fits, if the order of events stays knowable."""
        for hole in reversed(self.holes):
            if hole.capacity != capacity:
                continue
            if hole.is_logged and (hole.stamp < now or hole.cpu == thread.cpu):
                return hole
            if inversions and hole.cpu != thread.cpu and hole.tid != thread.tid:
                return hole
        return None

    def take(self, size, thread, now, inversions=False):
        """A block, marked busy until the program has its address."""
        capacity = self.capacity_for(size)
        hole = self.find_hole(capacity, thread, now, inversions)
        if hole is not None:
            self.holes.remove(hole)
            address = hole.address
        else:
            address = self.next
            self.next += capacity + GRANULE
        block = Block(self, address, capacity, size)
        block.hole = hole
        block.busy = True
        block.cpu, block.stamp = thread.cpu, now
        self.blocks.append(block)
        return block

    def give_back(self, block, thread, now, is_logged=True):
        hole = Hole(block.address, block.capacity)
        hole.is_logged = is_logged
        hole.stamp, hole.tid, hole.cpu = now, thread.tid, thread.cpu
        self.blocks.remove(block)
        self.holes.append(hole)
        return hole

    def usable(self, thread, now):
        """Blocks whose next event comes after their last one, whoever looks at the trace."""
        return [block for block in self.blocks if can_use(block, thread, now)]


def can_use(block, thread, now):
    if block.busy or (block.hole is not None and not block.hole.is_logged):
        return False
    if block.hole is not None and block.hole.cpu != thread.cpu and block.hole.stamp >= now:
        return False
    return block.cpu == thread.cpu or block.stamp < now
