"""Programs that leak, made up: what their sites allocate and free, and which of them leak.

    world(seed, KINDS["tuning"])      a World: sites with blocks
    World.recording()                 the same as `heaptrack --raw` would have recorded it
    World.leaks()                     {stack as text: kind} of the sites that leak

Each site of a world is of one kind. A kind is a function that makes blocks of random numbers:
when each is allocated, when it is freed (None: never), how large it is. A kind of LEAKS says
of which blocks the free is lost; kinds of HARMLESS lose none, but most leave memory behind,
because programs do: caches, pools, sessions that are still open.

The kinds are in two halves. Thresholds of the ranking may be chosen by looking at the first one,
"tuning". The other one, "held-out", has all kinds, several that the first does not have, and
other seeds; it is only there to be measured. Nothing here may change when the ranking does.
"""

import math
import random

PROGRAM = "/opt/world/world.exe"
BASE, SIZE = 0x400000, 0x1000000
STAMP_MS = 10
LOST_MIN = 3  # a site that lost fewer blocks is not counted as a leak: nobody can tell
LEAKS_OF_WORLD, HARMLESS_OF_WORLD = 12, 44
SHARES = (1.0, 0.1, 0.01)


class Blocks:
    """What one site allocates. Times are shares of the run."""

    def __init__(self, rng):
        self.rng = rng
        self.list = []  # (birth, death or None, bytes)
        self.lost = 0
        self.small = int(2 ** rng.uniform(4, 11))

    def add(self, birth, death=None, size=None, lost=False):
        if not 0 <= birth < 1:
            return
        death = None if lost or death is None or death >= 1 else death
        self.lost += lost
        self.list.append((birth, death, size or self.small))

    def times(self, count, begin=0.0, end=1.0):
        return sorted(self.rng.uniform(begin, end) for _ in range(count))

    def count(self, low, high):
        """Small numbers are as likely as large ones."""
        return int(math.exp(self.rng.uniform(math.log(low), math.log(high))))


# --- what leaks ---------------------------------------------------------------------------


def constant(b):
    """Each operation leaves a block behind."""
    for at in b.times(b.count(40, 1500)):
        b.add(at, lost=True)


def share(b):
    """A busy site that loses all, a tenth or a hundredth of its frees."""
    lost = b.rng.choice(SHARES)
    life = 10 ** b.rng.uniform(-4.5, -1.5)
    for at in b.times(b.count(600 if lost == 0.01 else 150, 4000)):
        b.add(at, at + b.rng.lognormvariate(math.log(life), 0.8), lost=b.rng.random() < lost)


def rare(b):
    """A few blocks in the whole run, none of which is freed."""
    for at in b.times(b.count(8, 20)):
        b.add(at, lost=True)


def bursts(b):
    """Some operations leak many blocks at once; most operations leak none."""
    life = 10 ** b.rng.uniform(-4, -2)
    for at in b.times(b.count(200, 2000)):
        b.add(at, at + b.rng.expovariate(1 / life))
    for at in b.times(b.count(8, 20)):
        for _ in range(b.count(3, 40)):
            b.add(at + b.rng.uniform(0, 0.002), lost=True)


def late(b):
    """Leaks from some moment on; until then the site is clean."""
    begin, lost = b.rng.uniform(0.2, 0.5), b.rng.choice((1.0, 0.3))
    life = 10 ** b.rng.uniform(-4, -2)
    for at in b.times(b.count(200, 2000)):
        b.add(at, at + b.rng.expovariate(1 / life), lost=at > begin and b.rng.random() < lost)


def growing(b):
    """Blocks that are never freed, each larger than the one before."""
    for at in b.times(b.count(20, 300)):
        b.add(at, size=int(b.small * (1 + 8 * at)), lost=True)


def sessions_lost(b):
    """Long sessions, a fifth of which is never closed."""
    life = b.rng.uniform(0.02, 0.08)
    for at in b.times(b.count(120, 800)):
        b.add(at, at + b.rng.expovariate(1 / life), lost=b.rng.random() < 0.2)


def load_ends(b):
    """Leaks as long as there is work; then the program idles."""
    end, lost = b.rng.uniform(0.7, 0.85), b.rng.choice((1.0, 0.2))
    life = 10 ** b.rng.uniform(-4, -2)
    for at in b.times(b.count(100, 1500), 0, end):
        b.add(at, at + b.rng.expovariate(1 / life), lost=b.rng.random() < lost)


def error_path(b):
    """Only operations that fail leak, and failures come together."""
    life = 10 ** b.rng.uniform(-4, -2)
    bad = [(at, at + 0.02) for at in b.times(b.count(6, 15))]
    for at in b.times(b.count(800, 3000)):
        fails = any(begin <= at < end for begin, end in bad) and b.rng.random() < 0.3
        b.add(at, at + b.rng.expovariate(1 / life), lost=fails)


def list_grows(b):
    """Nodes are added to a list all the time, and a few are taken out."""
    for at in b.times(b.count(100, 1500)):
        taken = b.rng.random() < 0.2
        b.add(at, at + b.rng.uniform(0, 0.3) if taken else None, lost=not taken)


def timer(b):
    """A block in exactly equal intervals."""
    count = b.count(16, 80)
    for i in range(count):
        b.add((i + 0.5) / count, lost=True)


def realloced(b):
    """Lost blocks that grow a few times before they are forgotten."""
    for at in b.times(b.count(60, 500)):
        size = b.small
        for _ in range(b.rng.randrange(1, 3)):
            after = at + b.rng.uniform(0.00005, 0.002)
            b.add(at, after, size)
            at, size = after, size * 2
        b.add(at, size=size, lost=True)


# --- what does not ------------------------------------------------------------------------


def clean(b):
    """Busy, and everything is freed soon."""
    life = 10 ** b.rng.uniform(-5, -2.5)
    for at in b.times(b.count(100, 4000)):
        b.add(at, at + b.rng.lognormvariate(math.log(life), 0.8))
    b.list = [(birth, death, size) for birth, death, size in b.list if death is not None]


def start(b):
    """Tables that are made once at the start, and stay."""
    for at in b.times(b.count(1, 300), 0, b.rng.uniform(0.005, 0.05)):
        b.add(at, size=int(2 ** b.rng.uniform(5, 16)))


def lazy_one(b):
    """Something that is made when it is first needed."""
    b.add(b.rng.uniform(0, 0.95), size=int(2 ** b.rng.uniform(5, 20)))


def cache_fills(b):
    """A cache of everything that was ever looked up; sooner or later that is all there is."""
    tau = b.rng.uniform(0.03, 0.15)
    for _ in range(b.count(30, 1500)):
        b.add(b.rng.expovariate(1 / tau))


def cache_evicts(b):
    """A cache that throws out the oldest entry when it is full."""
    inserted = b.times(b.count(200, 3000))
    capacity = int(len(inserted) * b.rng.uniform(0.05, 0.4)) + 1
    for i, at in enumerate(inserted):
        b.add(at, inserted[i + capacity] if i + capacity < len(inserted) else None, size=b.small * 4)


def pool_steps(b):
    """A pool that takes another chunk, twice as large, when the load is higher than ever."""
    at, size = b.rng.uniform(0.005, 0.03), 4096
    while at < 1:
        b.add(at, size=size)
        at, size = at * b.rng.uniform(1.6, 3), size * 2


def container(b):
    """An array that grows by doubling: the old block is freed when the new one is filled."""
    at, size = b.rng.uniform(0.001, 0.02), 64
    while at < 1:
        after = at * b.rng.uniform(1.3, 2.2)
        b.add(at, after, size)
        at, size = after, size * 2


def queue(b):
    """Work that is done at once, but for some times when it waits; the last may not be over."""
    life = 10 ** b.rng.uniform(-4.5, -3)
    jams = [(at, at + b.rng.uniform(0.02, 0.12)) for at in b.times(b.rng.randrange(2, 6), 0, 0.95)]
    for at in b.times(b.count(300, 3000)):
        done = max([at] + [end for begin, end in jams if begin <= at < end])
        b.add(at, done + b.rng.expovariate(1 / life))


def sessions_open(b):
    """Sessions of very different length, some of which are still open."""
    life = b.rng.uniform(0.02, 0.12)
    for at in b.times(b.count(60, 1200)):
        b.add(at, at + b.rng.expovariate(1 / life))


def log_buffers(b):
    """A buffer is filled, written and freed; the last one is being filled."""
    edges = [0.001] + b.times(b.count(10, 200), 0.01, 1) + [1.1]
    for begin, end in zip(edges, edges[1:]):
        b.add(begin, end + 0.0005, size=65536)


def reload_config(b):
    """Settings are read again now and then, and the old ones freed."""
    edges = [0.002] + b.times(b.rng.randrange(3, 14), 0.05, 1) + [1.1]
    for begin, end in zip(edges, edges[1:]):
        for _ in range(b.rng.randrange(5, 80)):
            b.add(begin + b.rng.uniform(0, 0.0005), end + b.rng.uniform(0.0006, 0.001))


def ramp(b):
    """The load rises all the time; everything is freed after a while."""
    life = b.rng.uniform(0.005, 0.06)
    for _ in range(b.count(200, 2500)):
        at = math.sqrt(b.rng.random())
        b.add(at, at + b.rng.expovariate(1 / life))


def flush(b):
    """Entries are collected, and all thrown away when there are enough."""
    period = b.rng.uniform(0.08, 0.3)
    for at in b.times(b.count(200, 2000)):
        b.add(at, (math.floor(at / period) + 1) * period)


def heavy_tail(b):
    """Most blocks are freed soon, some much later, a few after the end."""
    for at in b.times(b.count(300, 3000)):
        b.add(at, at + b.rng.lognormvariate(math.log(0.002), 1.6))


def undo_ring(b):
    """The last so many steps can be undone; the ring is full late in the run."""
    steps = b.times(b.count(100, 1200))
    capacity = int(len(steps) * b.rng.uniform(0.4, 0.6))
    for i, at in enumerate(steps):
        b.add(at, steps[i + capacity] if i + capacity < len(steps) else None)


def workers(b):
    """Something for each worker thread; workers start as the load grows, and stay."""
    for at in b.times(b.rng.randrange(4, 33), 0, b.rng.uniform(0.05, 0.3)):
        b.add(at, size=4096)


def plugin(b):
    """A second start: what is loaded in the middle of the run, and stays."""
    begin = b.rng.uniform(0.3, 0.7)
    for at in b.times(b.count(5, 200), begin, begin + b.rng.uniform(0.005, 0.03)):
        b.add(at)


def arena(b):
    """Memory that is taken all the time, and given back as a whole before the end."""
    for at in b.times(b.count(40, 600), 0, 0.95):
        b.add(at, 0.97, size=b.small * 8)


KINDS = {
    "tuning": ((constant, share, rare, bursts, late, growing, sessions_lost),
               (clean, start, lazy_one, cache_fills, cache_evicts, pool_steps, container, queue, sessions_open,
                log_buffers, reload_config)),
}
KINDS["held-out"] = (KINDS["tuning"][0] + (load_ends, error_path, list_grows, timer, realloced),
                     KINDS["tuning"][1] + (ramp, flush, heavy_tail, undo_ring, workers, plugin, arena))
SEEDS = {"tuning": range(1, 11), "held-out": range(1001, 1011)}
CLEAN_SEEDS = {"tuning": range(501, 504), "held-out": range(1501, 1504)}


class World:
    """A program with a site of some kind for each line of `sites`: (kind, Blocks)."""

    def __init__(self, seed, half, leak_count=LEAKS_OF_WORLD):
        rng = random.Random(f"{half} {seed}")
        leaks, harmless = KINDS[half]
        kinds = [leaks[i % len(leaks)] for i in range(leak_count)]
        kinds += [harmless[i % len(harmless)] for i in range(HARMLESS_OF_WORLD)]
        rng.shuffle(kinds)
        self.run_ms = rng.choice((20_000, 60_000, 240_000))
        self.sites = []
        for kind in kinds:
            blocks = Blocks(rng)
            kind(blocks)
            self.sites.append((kind.__name__, blocks))

    def frames(self, site):
        """Offsets, innermost first: the site, one of its callers' common callers, main."""
        return (0x10000 + site * 0x400 + 0x1f, 0x8000 + site % 9 * 0x200 + 0x33, 0x4000 + site % 3 * 0x100 + 0x11, 0x1080)

    def stack_text(self, site):
        return "\n".join(f"world.exe+{hex(offset)}" for offset in self.frames(site))

    def leaks(self):
        return {self.stack_text(i): kind for i, (kind, blocks) in enumerate(self.sites) if blocks.lost >= LOST_MIN}

    def unjudged(self):
        """Sites of leaks that lost too few blocks."""
        return {self.stack_text(i) for i, (_, blocks) in enumerate(self.sites) if 0 < blocks.lost < LOST_MIN}

    def kinds(self):
        return {self.stack_text(i): kind for i, (kind, _) in enumerate(self.sites)}

    def events(self):
        """(share of the run, is a free, block number, site, bytes), in order."""
        number, events = 0, []
        for site, (_, blocks) in enumerate(self.sites):
            for birth, death, size in blocks.list:
                events.append((birth, 0, number, site, size))
                if death is not None:
                    events.append((death, 1, number, site, size))
                number += 1
        events.sort()
        return events

    def recording(self):
        """Lines of text. Addresses are not used again: nothing here depends on them."""
        lines = ["v 10400 3", f"x {len(PROGRAM):x} {PROGRAM}", "m 1 -", f"m 1 x {BASE:x} 0 {SIZE:x}"]
        frames, leaves = {(): 0}, []
        for site in range(len(self.sites)):
            path = ()
            for offset in reversed(self.frames(site)):
                parent = frames[path]
                path += (offset,)
                if path not in frames:
                    frames[path] = len(frames)
                    lines.append(f"t {BASE + offset:x} {parent:x}")
            leaves.append(frames[path])
        now_ms = 0
        for at, is_free, number, site, size in self.events():
            ms = int(at * self.run_ms) // STAMP_MS * STAMP_MS
            if ms > now_ms:
                lines.append(f"c {ms:x}")
                now_ms = ms
            address = 0x10000000 + number * 0x10000
            lines.append(f"- {address:x}" if is_free else f"+ {size:x} {leaves[site]:x} {address:x}")
        lines.append(f"c {self.run_ms:x}")
        return "\n".join(lines) + "\n"
