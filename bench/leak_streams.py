"""Recorded programs that lose their frees: what `heaptrack --raw` recorded, with leaks put in.

    leaky(recording, seed)     a Leaky: the recording's lines, changed, and which stacks leak

Some busy and clean stacks are drawn: they allocate often, all over the run, and everything
is freed again. Each loses all, a tenth or a hundredth of its frees. A block whose free is lost
keeps its address for good, so where the recording hands that address out again, the block
gets another one.

A stack which in the recording itself allocates all over the run and leaves blocks behind from
nearly every part of it grows like a leak, and nobody has said whether it is one. Such
stacks are not judged: they count neither for nor against a method. All other stacks that
leave something behind count as harmless.
"""

import random

from leak_worlds import LOST_MIN, SHARES

PARTS = 8        # of the run, by number of events
PARTS_MIN = 5    # in so many of them a stack is busy "all over the run"
BUSY_MIN = 120
LEAKS_OF_STREAM = 12
FRESH_ADDRESS = 0x600000000000  # above all addresses of recorded programs' heaps


class StackFacts:
    """What a stack of the recording does."""

    def __init__(self):
        self.allocs = self.open = 0
        self.alloc_parts, self.free_parts = set(), set()
        self.open_parts = {}

    def is_busy_and_clean(self):
        return (self.allocs >= BUSY_MIN and self.open == 0 and len(self.alloc_parts) >= PARTS_MIN
                and len(self.free_parts) >= PARTS_MIN)

    def grows_itself(self):
        return sum(count > 0 for count in self.open_parts.values()) >= PARTS_MIN


def facts_of(lines):
    """{number of the innermost frame: StackFacts}."""
    total = sum(line[0] in "+-" for line in lines)
    facts, live, number = {}, {}, 0
    for line in lines:
        if line[0] not in "+-":
            continue
        words = line.split()
        part = number * PARTS // total
        number += 1
        if line[0] == "+":
            stack = facts.setdefault(words[2], StackFacts())
            stack.allocs += 1
            stack.open += 1
            stack.alloc_parts.add(part)
            stack.open_parts[part] = stack.open_parts.get(part, 0) + 1
            live[words[3]] = (stack, part)
        elif words[1] in live:
            stack, born = live.pop(words[1])
            stack.open -= 1
            stack.free_parts.add(part)
            stack.open_parts[born] -= 1
    return facts


class Leaky:
    """A recording in which drawn stacks lose frees."""

    def __init__(self, lines, seed):
        rng = random.Random(seed)
        facts = facts_of(lines)
        self.unjudged = {leaf for leaf, stack in facts.items() if stack.grows_itself()}
        busy = sorted((leaf for leaf, stack in facts.items() if stack.is_busy_and_clean()), key=lambda leaf: int(leaf, 16))
        rng.shuffle(busy)
        self.shares = {}
        for leaf in busy[:LEAKS_OF_STREAM]:
            shares = [share for share in SHARES if facts[leaf].allocs * share >= 2 * LOST_MIN]
            self.shares[leaf] = shares[len(self.shares) % len(shares)]
        self.lost = dict.fromkeys(self.shares, 0)
        self.lines = list(self._change(lines, rng))

    def leaks(self):
        return {leaf: self.shares[leaf] for leaf, lost in self.lost.items() if lost >= LOST_MIN}

    def not_judged(self):
        return self.unjudged | {leaf for leaf, lost in self.lost.items() if 0 < lost < LOST_MIN}

    def _change(self, lines, rng):
        owner, moved, leaked, fresh = {}, {}, set(), FRESH_ADDRESS
        for line in lines:
            if line[0] == "+":
                _, size, leaf, address = line.split()
                owner[address] = leaf
                if address in leaked:
                    moved[address] = f"{fresh:x}"
                    fresh += max(int(size, 16), 16) + 15 & ~15
                    line = f"+ {size} {leaf} {moved[address]}\n"
            elif line[0] == "-":
                address = line.split()[1]
                leaf = owner.pop(address, None)
                if leaf in self.shares and rng.random() < self.shares[leaf]:
                    self.lost[leaf] += 1
                    # A block that was moved leaks at its new address; the old one is taken already.
                    moved.pop(address, None)
                    leaked.add(address)
                    continue
                if address in moved:
                    line = f"- {moved.pop(address)}\n"
            yield line


def stack_texts(lines, wanted):
    """{number of the innermost frame: its stack as modules and offsets}, as reports show it."""
    from oracle_streams import Frames  # of the tests: reads recordings in the plainest way

    frames, texts = Frames(), {}
    for line in lines:
        kind, *words = line.split()
        frames.take(kind, words)
        if kind == "+" and words[1] in wanted and words[1] not in texts:
            texts[words[1]] = "\n".join(frames.stack(int(words[1], 16)))
    return texts
