#!/usr/bin/env python3
"""Random worlds of kernel pool, written by the second writer, against a naive model.

The model reads what the log tells, event by event, and keeps live blocks in a list: the rules are
those of docs/pool.md. Compared are all sums by process that asked, tag, paged or not, session and
call stack, by tag alone, and frees without an allocation, from the trace with one thread and
several, and from its store; and how often the log contradicts itself.

    oracle_pool_worlds.py             40 worlds
    oracle_pool_worlds.py --seed 17   one, whose files stay
"""

import os
import sys
from collections import Counter

import oracle_support as support
from second_writer.pool import World

WORLDS, EVENTS = (1000, 600) if support.LONG else (40, 250)
PRINTABLE = set(range(0x20, 0x7F)) - set(b"\"'\\,;<>&/")


def tag_text(tag):
    """Four characters, or a number if they would not be read as such. Bit 31 means: protected."""
    tag = tag[:3] + bytes([tag[3] & 0x7F])
    text = tag.decode("latin-1").rstrip(" ")
    if tag[0] == 0x20 or not PRINTABLE.issuperset(tag) or text.startswith("0x"):
        return f"0x{int.from_bytes(tag, 'little'):08x}"
    return text


def heap_text(kind, tag, session):
    return f"{tag_text(tag)} {'paged' if kind & 1 else 'nonpaged'}{'' if session is None else f'/{session}'}"


class Block:
    def __init__(self, note, is_before):
        _, self.process, self.session, self.kind, self.tag, self.size, self.entry, frames = note
        self.frames = None if is_before else frames
        self.is_before, self.is_open = is_before, True


class Model:
    def __init__(self, notes):
        self.blocks, self.unknown, self.counts = [], Counter(), Counter()
        for note in notes:
            if note[0] == "odd":
                self.counts["pool_rundown_unknown"] += 1
            else:
                getattr(self, "on_" + note[0])(note)

    def find(self, session, entry):
        """A block whose session the list at the start did not name may be of any session."""
        for wanted in [session] + (["?"] if session not in (None, "?") else []):
            for block in self.blocks:
                if block.is_open and block.entry == entry and block.session == wanted:
                    return block
        return None

    def on_alloc(self, note):
        old = self.find(note[2], note[6])
        if old:
            self.counts["key_over_live"] += 1
            old.is_open = False
        self.blocks.append(Block(note, False))

    def compare_size(self, block, note):
        self.counts["block_size_differs"] += block.size != note[5]

    def on_free(self, note):
        block = self.find(note[2], note[6])
        if block is None:
            self.unknown[note[1], heap_text(note[3], note[4], note[2])] += 1
            return
        self.compare_size(block, note)
        block.is_open = False

    def on_start(self, note):
        block = self.find(note[2], note[6])
        if block:
            self.compare_size(block, note)
        else:
            self.blocks.append(Block(note, True))

    def on_end(self, note):
        if note[2] != "?":  # which session is not said, so nothing can be checked
            self.on_start(note)

    def sums(self, key):
        """(lifetimes, bytes, outstanding lifetimes, outstanding bytes) of each group."""
        out = {}
        for block in self.blocks:
            row = out.setdefault(key(block), [0, 0, 0, 0])
            for at, value in enumerate((1, block.size, block.is_open, block.size * block.is_open)):
                row[at] += value
        return {group: tuple(row) for group, row in out.items()}


def frames_of(document, row):
    if row["stack"] is None:
        return None
    frames = [document["frames"][at] for at in document["stacks"][row["stack"]]]
    return tuple((frame["module"], int(frame["offset"], 16)) for frame in frames)


def sums_of(document, key):
    words = ("count", "size", "outstanding_count", "outstanding_size")
    return {key(row): tuple(row[word] for word in words) for row in document["rows"]}


def check_source(results, name, source, model, *more):
    ask = ("--kind", "pool", "--no-cull", "--no-symbols", "--top", "all", *more)
    document = support.run_json("report", source, "--group-by", "process,heap,stack", *ask)
    results.equal_maps(f"{name}: by process, tag, session and stack",
                       sums_of(document, lambda row: (row["pid"], row["heap"], frames_of(document, row))),
                       model.sums(lambda block: (block.process, heap_text(block.kind, block.tag, block.session), block.frames)))
    found = {row["name"]: row["count"] for row in document["diagnostics"]}
    names = ("key_over_live", "block_size_differs", "pool_rundown_unknown")
    results.equal(f"{name}: contradictions", {key: found.get(key, 0) for key in names}, {key: model.counts[key] for key in names})
    document = support.run_json("report", source, "--group-by", "pool_tag", *ask)
    results.equal_maps(f"{name}: by tag", sums_of(document, lambda row: row["pool_tag"]), model.sums(lambda block: tag_text(block.tag)))
    document = support.run_json("report", source, "--unmatched", "--group-by", "process,heap", "--kind", "pool", "--top", "all", *more)
    results.equal_maps(f"{name}: unknown frees", {(row["pid"], row["heap"]): row["count"] for row in document["rows"]}, model.unknown)


def check_world(results, seed, seen):
    path, store = f"{support.WORK}/pool{seed}.etl", f"{support.WORK}/pool{seed}.ehs"
    world = World(seed, 8 if seed % 3 else 4)
    world.run(EVENTS)
    world.write(path)
    model = Model(world.notes)
    seen.update(model.counts)
    seen.update({"unknown": sum(model.unknown.values()), "before": sum(block.is_before for block in model.blocks),
                 world.headers: 1})
    for jobs in "1", "2", "7":
        check_source(results, f"world {seed}, {jobs} threads", path, model, "-j", jobs)
    support.run("store", path, "-o", store)
    check_source(results, f"world {seed}, store", store, model)
    if "--seed" not in sys.argv:
        os.remove(path)
        os.remove(store)


def main():
    results, seen = support.Results(), Counter()
    seeds = [int(sys.argv[sys.argv.index("--seed") + 1])] if "--seed" in sys.argv else range(1, WORLDS + 1)
    for seed in seeds:
        check_world(results, seed, seen)
    if len(seeds) > 1:
        for what in ("key_over_live", "block_size_differs", "pool_rundown_unknown", "unknown", "before", "own", "stack", "mixed"):
            results.check(f"the worlds have {what}", seen[what] > 0, dict(seen))
    results.finish()


if __name__ == "__main__":
    main()
