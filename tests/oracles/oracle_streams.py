#!/usr/bin/env python3
"""Analyses what installed programs did, as heaptrack recorded it.

Small recordings of the kind that `make bench` times (bench/bench_streams.py): a compiler, a
database and an interpreter, with real addresses, reuse of them, stacks and modules that come
late. heaptrack's own programs say what each recording adds up to; the traces made of it, with
plain stacks, with stack keys and compressed, and a store, must have the same sums. The
recording itself, read here in the plainest way, says what each call stack adds up to, frame
by frame with the module that lay there.
"""

import bisect
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

from oracle_support import ETLHEAP, Results, run, run_json, skip_all

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

from bench_inputs import BenchError  # noqa: E402
from bench_streams import FORMS, Streams, check_stream, check_sums, stream_sums  # noqa: E402

MAKE_STREAM = os.path.realpath(os.path.join(os.environ.get("OUT", "build/check"), "bench", "make_stream"))
RECORDINGS = ("small-clang", "small-sqlite", "small-python")


class Modules:
    """Which module an address lies in, as the latest list of a recording says."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.starts, self.ends, self.names = [], [], []

    def add(self, base, segments, name):
        low = base + min(offset for offset, _ in segments)
        at = bisect.bisect(self.starts, low)
        self.starts.insert(at, low)
        self.ends.insert(at, base + max(offset + size for offset, size in segments))
        self.names.insert(at, name)

    def text(self, address):
        at = bisect.bisect(self.starts, address) - 1
        if at < 0 or address >= self.ends[at]:
            return hex(address)
        return f"{self.names[at]}+{hex(address - self.starts[at])}"


class Frames:
    """The call stacks of a recording, from its lines about modules and frames."""

    def __init__(self):
        self.modules, self.frames, self.program = Modules(), [None], None

    def take(self, kind, words):
        if kind == "x":
            self.program = words[1]
        elif kind == "m" and words[1] == "-":
            self.modules.begin()
        elif kind == "m":
            numbers = [int(word, 16) for word in words[2:]]
            name = os.path.basename(self.program if words[1] == "x" else words[1])
            self.modules.add(numbers[0], list(zip(numbers[1::2], numbers[2::2])), name)
        elif kind == "t":
            self.frames.append((int(words[0], 16), int(words[1], 16)))

    def stack(self, leaf):
        """As text, innermost first."""
        stack = []
        while leaf:
            address, leaf = self.frames[leaf]
            stack.append(self.modules.text(address))
        return tuple(stack)


def stacks_of_recording(path):
    """{frames as text, innermost first: [allocations, bytes, outstanding, outstanding bytes]}."""
    frames = Frames()
    by_stack, texts, live = defaultdict(lambda: [0, 0, 0, 0]), {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            kind, *words = line.split()
            frames.take(kind, words)
            if kind == "+":
                size, leaf, address = (int(word, 16) for word in words)
                if leaf not in texts:
                    texts[leaf] = frames.stack(leaf)
                sums = by_stack[texts[leaf]]
                for i, value in enumerate((1, size, 1, size)):
                    sums[i] += value
                live[address] = (sums, size)
            elif kind == "-" and int(words[0], 16) in live:
                sums, size = live.pop(int(words[0], 16))
                sums[2] -= 1
                sums[3] -= size
    return {"\n".join(stack): sums for stack, sums in by_stack.items()}


def stacks_of_report(path):
    document = run_json("report", path, "--group-by", "kind,stack", "--no-cull", "--no-symbols")
    texts = [f"{frame['module']}+{frame['offset']}" if frame["module"] else frame["address"]
             for frame in document["frames"]]
    found = {}
    for row in document["rows"]:
        stack = "" if row["stack"] is None else "\n".join(texts[i] for i in document["stacks"][row["stack"]])
        found[stack] = [row[key] for key in ("count", "size", "outstanding_count", "outstanding_size")]
    return found


def check_recording(results, streams, name):
    truth, stacks = streams.truth(name), stacks_of_recording(streams.record(name))
    results.check(f"{name}: the recording is worth looking at: {truth}", truth["count"] > 5000 and truth["stacks"] > 100)
    for form in FORMS:
        path = streams.trace(name, form)
        results.equal_maps(f"{name}, {form}: the sums of heaptrack", stream_sums(ETLHEAP, path), truth)
        results.equal_maps(f"{name}, {form}: the sums of each call stack", stacks_of_report(path), stacks)
    store = streams.path(name, "ehs")
    run("store", streams.trace(name), "-o", store)
    results.equal_maps(f"{name}, store: the sums of heaptrack", stream_sums(ETLHEAP, store), truth)


def check_refusals(results, streams, name):
    """A difference from heaptrack ends the benchmark, and so does a file that is something else."""
    truth, trace = streams.truth(name), streams.trace(name)
    found = stream_sums(ETLHEAP, trace)
    for number, key in enumerate(truth):
        wrong = {**truth, key: truth[key] + 1}
        try:
            if number == 0:
                check_stream(ETLHEAP, trace, wrong)
            else:
                check_sums(trace, found, wrong)
            said = "nothing"
        except BenchError as error:
            said = str(error)
        results.check(f"another {key} in the truth ends the benchmark", f"etlheap finds {key} {truth[key]}," in said, said)
    with open(streams.heaptrack(name), "rb") as file:
        interpreted = file.read()
    for what, data, words in (("an interpreted recording", interpreted, "record with --raw"),
                              ("an empty file", b"", "empty"),
                              ("an unknown frame", b"v 10400 3\n+ 10 7 1000\n", "line 2: an allocation"),
                              ("another version", b"v 10400 2\n", "line 1: another version"),
                              ("text", b"hello\n", "not a recording")):
        done = subprocess.run([MAKE_STREAM, "plain", streams.path("refused", "etl")], input=data,
                              stderr=subprocess.PIPE, check=False)
        said = done.stderr.decode()
        results.check(f"make_stream refuses {what}", done.returncode == 1 and words in said, done.returncode, said)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        streams = Streams(folder, MAKE_STREAM)
        reasons = {name: streams.why_not(name) for name in RECORDINGS}
        usable = [name for name in RECORDINGS if reasons[name] is None]
        if not usable:
            skip_all(reasons[RECORDINGS[0]])
        results = Results()
        for name in RECORDINGS:
            if name in usable:
                check_recording(results, streams, name)
            else:
                print(f"skipped: {name}: {reasons[name]}")
        check_refusals(results, streams, usable[0])
        results.finish()


if __name__ == "__main__":
    main()
