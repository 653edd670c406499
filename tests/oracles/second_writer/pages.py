"""Committed pages, one by one: the plainest book-keeping of address ranges there is.

Each page knows which call committed it. A page that is committed already stays with
its first committer, which is whom the system charges. At the end the pages of a call
that lie side by side and went by the same call are one lifetime; so a range of which
a part was decommitted is listed in parts.
"""

from .blocks import Lifetime

PAGE = 0x1000


class Commit:
    """One call that committed pages; ticks are None if it was before the trace."""

    def __init__(self, kind, process, heap, ticks, call_stack, tid, number):
        self.kind, self.process, self.heap = kind, process, heap
        self.ticks, self.call_stack, self.tid = ticks, call_stack, tid
        self.number = number
        self.pages = []
        self.ended = {}  # page -> Removal


class Removal:
    """One call, or one end of a process or heap, that took pages away."""

    def __init__(self, ticks, how, number=None):
        self.ticks, self.how, self.number = ticks, how, number


class PageMap:
    def __init__(self):
        self.committed = {}  # page -> Commit
        self.commits = []

    def commit(self, first, count, commit):
        self.commits.append(commit)
        for page in range(first, first + count):
            if page not in self.committed:
                self.committed[page] = commit
                commit.pages.append(page)

    def remove(self, first, count, removal):
        for page in range(first, first + count):
            commit = self.committed.pop(page, None)
            if commit is not None:
                commit.ended[page] = removal

    def remove_all(self, removal):
        for page, commit in self.committed.items():
            commit.ended[page] = removal
        self.committed.clear()

    def count_in(self, first, count):
        return sum(page in self.committed for page in range(first, first + count))

    def lifetimes(self):
        for commit in self.commits:
            run = []
            for page in sorted(commit.pages):
                if run and (page != run[-1] + 1 or commit.ended.get(page) is not commit.ended.get(run[-1])):
                    yield lifetime_of(commit, run)
                    run = []
                run.append(page)
            if run:
                yield lifetime_of(commit, run)


def lifetime_of(commit, run):
    lifetime = Lifetime(commit.kind, commit.process, commit.heap, run[0] * PAGE, len(run) * PAGE, commit.ticks,
                        commit.call_stack, commit.tid)
    lifetime.opened_by = [commit.number]
    removal = commit.ended.get(run[0])
    if removal is not None:
        lifetime.close(removal.ticks, removal.how, [] if removal.number is None else [removal.number])
    return lifetime


class Region:
    """One reservation of addresses."""

    def __init__(self, first, count, stamp, cpu):
        self.first, self.count = first, count
        self.stamp, self.cpu = stamp, cpu  # of its last event
        self.numbers = []  # all records about its addresses
        self.busy = False  # a call is under way
        self.is_known = True  # the trace says that it is there, before anything is done to it

    def can_use(self, thread, now):
        return self.cpu == thread.cpu or self.stamp < now
