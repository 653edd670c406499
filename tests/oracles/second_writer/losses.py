"""What can still be known when buffers were lost.

Truth and evidence part here: the allocator knows each lifetime, but a reader has only
the records that are left. A lifetime is

    exact      if no record about its address (or its heap, or its pages) was lost:
               it must be told as it was
    sure       if its Alloc and its Free are left, both of one thread on one processor,
               and no record about the address stands between them: whatever was lost
               before, its times are as they were
    opened     if its first record is left, unless that is the summary of a realloc, which may
               be taken for one of a block that was there before: there must be a lifetime that begins so; it
               must not end before it did if the record of its end was lost
    unseen     otherwise

and no lifetime may begin where no record says so. A stack is compared if all records
that it rests on are left: its own, and the definition of its key.
"""

from .pages import PAGE


class Losses:
    def __init__(self, scenario):
        self.scenario = scenario
        files = scenario.recorder.files
        self.lost = {record.number for file in files for buffer in file.lost for record in buffer.records}
        self.tainted_blocks = set()  # (pid, heap, address)
        self.tainted_heaps = set()  # (pid, heap): blocks and extents
        self.tainted_extents = set()  # (pid, heap)
        self.tainted_pages = set()  # (pid, page)
        for process in scenario.machine.processes:
            self.taint(process)
            self.taint_overtaken(process)

    def taint(self, process):
        pid = process.pid
        for (heap, address), numbers in process.numbers_about.items():
            if self.any_lost(numbers):
                self.tainted_blocks.add((pid, heap, address))
        for heap, numbers in process.heap_numbers.items():
            if self.any_lost(numbers):
                self.tainted_heaps.add((pid, heap))
        for heap, numbers in process.extent_numbers.items():
            if self.any_lost(numbers):
                self.tainted_extents.add((pid, heap))
        for number, region in process.region_of.items():
            if number in self.lost:
                self.tainted_pages.update((pid, page) for page in range(region.first, region.first + region.count))

    def taint_overtaken(self, process):
        """Where a block's Free stands behind the next Alloc of its address, a reader of a
        trace that lost records cannot tell whether a Free is late or another one lost."""
        latest = {}
        for lifetime in sorted((row for row in process.lifetimes if row.kind == "heap"), key=lambda row: row.opened_by[0]):
            place = (process.pid, lifetime.heap, lifetime.address)
            before = latest.get(place)
            if before is not None and before.closed_by and before.closed_by[0] > lifetime.opened_by[0]:
                self.tainted_blocks.add(place)
            latest[place] = lifetime

    def any_lost(self, numbers):
        return not self.lost.isdisjoint(numbers)

    def is_tainted(self, kind, pid, heap, address, size):
        if kind == "virtualalloc":
            pages = range(address // PAGE, (address + size + PAGE - 1) // PAGE)
            return any((pid, page) in self.tainted_pages for page in pages)
        if (pid, heap) in self.tainted_heaps:
            return True
        if kind == "extent":
            return (pid, heap) in self.tainted_extents
        return (pid, heap, address) in self.tainted_blocks

    def stack_is_known(self, lifetime):
        return not self.any_lost(lifetime.call_stack.rests_on)

    def is_sure(self, lifetime):
        """Both ends on one thread and processor, and nothing about the address between."""
        if lifetime.kind != "heap" or len(lifetime.opened_by) != 1 or len(lifetime.closed_by) != 1:
            return False
        if lifetime.closed_on is None or lifetime.closed_on != lifetime.opened_on or lifetime.is_realloc:
            return False
        first, last = lifetime.opened_by[0], lifetime.closed_by[0]
        numbers = lifetime.process.numbers_about[(lifetime.heap, lifetime.address)]
        return not self.any_lost((first, last)) and not any(first < number < last for number in numbers)

    def is_opened(self, lifetime):
        return lifetime.kind == "heap" and not lifetime.is_realloc and lifetime.opened_by[0] not in self.lost

    def end_is_lost(self, lifetime):
        return bool(lifetime.closed_by) and all(number in self.lost for number in lifetime.closed_by)
