#!/usr/bin/env python3
"""Compares summaries and their merging with sums made here of the traces' own reports.

Traces are built, reported on one by one with whole stacks, and their rows summed by
kind, process name, type and stack of modules and offsets. The report of a summary, and of
all of them merged, must have those rows and no others. A peak is that of the trace if one
trace has the row, and else unknown unless nothing was freed. Then summaries, full stores and merges of them are merged in random orders and trees: always
the same bytes must come out, whatever -j.
"""

import functools
import os
import random
import subprocess

from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/make_trace")
SEED = int(os.environ.get("SEED", "1"))
SUMS = "count size impacting_size outstanding_count outstanding_size realloc_count".split()
PEAKS = "peak_count peak_size".split()
ANY = "any"  # a peak that the reports of traces do not tell
CELLS = [f"{kind}_{what}" for kind in ("aifi", "aifo", "aofi", "aofo") for what in ("count", "size")]
CELLS += ["outstanding_count", "outstanding_size", "impacting_size"]
EVERY = "50ms"
ROUNDS = 6

# Scenario and options of make_trace; several are of the same programs. Not all of them
# are asked everything.
SOURCES = [
    ("demo", [], True),
    ("battery-meter", [], False),
    ("virtualalloc-exercise", [], False),
    ("kitchen-sink", [], True),
    ("workload", ["--seed", "11", "--events", "1000"], True),
    ("workload", ["--seed", "12", "--events", "1000", "--keys", "--compress"], False),
    ("workload", ["--seed", "13", "--events", "1000", "--pointer-bytes", "4"], False),
    ("workload", ["--seed", "14", "--events", "1000", "--clock", "2", "--end-rundown"], False),
]


def in_work(name):
    return os.path.join(WORK, name)


def frame_of(frame):
    return "outside" if frame["module"] is None else f"{frame['module']}+{frame['offset']}"


def stack_of(document, number):
    """The text of each frame; a document names a stack in many rows."""
    texts = document.setdefault("texts of stacks", {})
    if number not in texts:
        texts[number] = tuple(frame_of(document["frames"][i]) for i in document["stacks"][number])
    return texts[number]


def key_of(document, row, keys):
    """What stays the same from run to run."""
    key = []
    for name in keys:
        value = row[name]
        if name == "stack" and value is not None:
            value = stack_of(document, value)
        elif name in ("site", "frame") and value is not None:
            value = frame_of(document["frames"][value])
        key.append(value)
    return tuple(key)


def keyed_rows(report, keys):
    """Measures by key: sums, then peaks. Processes of one name are one here, but have a row each in
    the report of a trace, so what their peak is together it does not say: ANY."""
    out = {}
    for row in report["rows"]:
        add_row(out, key_of(report, row, keys), [row[name] for name in SUMS + PEAKS], [ANY, ANY])
    return out


def keyed_windows(path, keys, *options):
    """The same of windows, which are told apart by their starts: the last ends early."""
    document = run_json("windows", path, "--group-by", ",".join(keys), "--no-cull", *options)
    out = {}
    for window in document["windows"]:
        for row in window["rows"]:
            key = (window["from_ns"], *key_of(document, row, keys))
            add_row(out, key, [row[name] for name in CELLS + PEAKS], [ANY, ANY])
    return out


def add_row(out, key, measures, peaks):
    """Sums; the two peaks at the end of what has several are those that are given."""
    old = out.get(key)
    if old is None:
        out[key] = measures
    else:
        out[key] = [a + b for a, b in zip(old[:-2], measures)] + peaks


def add_maps(maps, peaks_of):
    """What several traces come to: a peak that several have is what peaks_of says of the sums."""
    out = {}
    for one in maps:
        for key, measures in one.items():
            add_row(out, key, measures, [None, None])
            if out[key][-2:] == [None, None]:
                out[key][-2:] = peaks_of(out[key])
    return out


def peaks_of_rows(measures):
    """Without frees all that there was is there at the end; else nobody knows."""
    at = dict(zip(SUMS, measures))
    return [at["count"] if at["count"] == at["outstanding_count"] else None,
            at["size"] if at["size"] == at["outstanding_size"] else None]


def peaks_of_cells(measures):
    """Without frees the most is at the end of the window, without allocations at its start."""
    at = dict(zip(CELLS, measures))
    if at["aifi_count"] == 0 and at["aofi_count"] == 0:
        return [at["outstanding_count"], at["outstanding_size"]]
    if at["aifi_count"] == 0 and at["aifo_count"] == 0:
        return [at[f"aofi_{what}"] + at[f"aofo_{what}"] for what in ("count", "size")]
    return [None, None]


def compare(results, name, found, wanted):
    """Where the other side says ANY it is not known, or is not below what is outstanding."""
    words = SUMS if len(next(iter(wanted.values()), SUMS + PEAKS)) == len(SUMS + PEAKS) else CELLS
    least = [words.index("outstanding_count"), words.index("outstanding_size")]
    for key in found.keys() & wanted.keys():
        measures = found[key]
        if wanted[key][-1] == ANY and all(peak is None or peak >= measures[i] for peak, i in zip(measures[-2:], least)):
            found[key] = measures[:-2] + [ANY, ANY]
    results.equal_maps(name, found, wanted)


def check_peaks(results, name, found, trace):
    """A peak that is known is that of the trace; none is below what is outstanding."""
    wrong, known = [], 0
    at = [SUMS.index("outstanding_count"), SUMS.index("outstanding_size")]
    for key, measures in found.items():
        for peak, truth, outstanding in zip(measures[-2:], trace[key][-2:], (measures[i] for i in at)):
            known += peak is not None
            if peak is not None and (peak < outstanding or truth not in (ANY, peak)):
                wrong.append((key, measures, trace[key]))
    results.check(f"{name}: peaks are those of the trace, or not known", not wrong, *wrong[:3])
    return known


def without_peaks(rows):
    return {key: measures[:-2] for key, measures in rows.items()}


@functools.cache
def rows_of_trace(path, keys, options):
    return rows_of(path, keys, *options)


def rows_of(path, keys, *options):
    return keyed_rows(run_json("report", path, "--group-by", ",".join(keys), *options), keys)


def totals_of(path):
    keys = "count size impacting_size outstanding_count outstanding_size free_without_alloc".split()
    return {row["kind"]: [row[key] for key in keys] for row in run_json("report", path)["totals"]}


class Source:
    """A trace, its summary and its full store."""

    def __init__(self, number, scenario, options, in_full):
        self.in_full = in_full
        self.name = " ".join([scenario, *options])
        self.trace = in_work(f"trace{number}.etl")
        self.summary = in_work(f"trace{number}.sum.ehs")
        self.store = in_work(f"trace{number}.ehs")
        subprocess.run([MAKE_TRACE, scenario, self.trace, *options], check=True,
                       stdout=subprocess.DEVNULL)
        run("store", self.trace, "--summary", "-o", self.summary)
        run("store", self.trace, "-o", self.store)
        self.windows = in_work(f"trace{number}.windows.ehs")
        run("store", self.trace, "--summary", "--every", EVERY, "-o", self.windows)


# What a summary knows of whole stacks it knows exactly.
EXACT = [
    (("kind", "process", "type", "stack"), ("--no-cull",)),
    (("kind", "process", "stack"), ("--no-cull", "--at-exit", "freed", "--kind", "heap")),
    (("kind", "process", "type", "stack"), ("--no-cull", "--at-exit", "freed")),
    (("kind", "process", "stack"), ("--no-cull",)),
    (("kind", "process"), ()),
    (("kind", "process", "type"), ("--at-exit", "freed", "--kind", "heap,extent")),
]
# Peaks of rows that hold several are not known, unless nothing was freed.
SUMMED = [
    (["kind", "process", "type", "stack"], []),
    (["kind", "process", "site"], []),
    (["kind", "module", "type"], ["--at-exit", "freed"]),
    (["kind", "frame"], ["--no-cull"]),
    (["kind", "type"], ["--type", "AIFO,AOFO"]),
    (["process", "kind"], ["--process", "*a*.exe"]),
    (["kind", "stack"], ["--require-frame", "ntdll.dll!", "--no-cull"]),
]


def check_source(results, source):
    for keys, options in EXACT if source.in_full else EXACT[:2]:
        compare(results, f"{source.name}: {','.join(keys)} {' '.join(options)}",
                rows_of(source.summary, keys, *options), rows_of_trace(source.trace, keys, options))
    known = 0
    for keys, options in SUMMED if source.in_full else []:
        name = f"{source.name}: {','.join(keys)} {' '.join(options)}"
        of_summary, of_trace = rows_of(source.summary, keys, *options), rows_of(source.trace, keys, *options)
        results.equal_maps(f"{name}, but for peaks", without_peaks(of_summary), without_peaks(of_trace))
        known += check_peaks(results, name, of_summary, of_trace)
    if source.in_full:
        results.check(f"{source.name}: some peaks are known", known > 0)
    results.equal_maps(f"{source.name}: totals", totals_of(source.summary), totals_of(source.trace))
    of_summary, of_trace = (run_json("info", path)["stacks"] for path in (source.summary, source.trace))
    results.check(f"{source.name}: stacks of its trace", of_summary == of_trace, str(of_summary), str(of_trace))
    again = in_work("again.ehs")
    same = [("its store summarised", ["store", source.store, "--summary"]),
            ("merged alone", ["merge", source.summary])]
    if source.in_full:
        same += [("one thread", ["store", source.trace, "--summary", "-j1"]),
                 ("seven threads", ["store", source.trace, "--summary", "-j7"]),
                 ("its store merged alone", ["merge", source.store])]
    for name, words in same:
        run(*words, "-o", again)
        results.check(f"{source.name}: {name} is the same summary", same_file(again, source.summary))


def check_windows(results, sources):
    groupings = [("kind", "process", "stack"), ("kind", "process")]
    maps = {keys: [] for keys in groupings}
    for source in sources:
        for keys in groupings:
            wanted = keyed_windows(source.trace, keys, "--every", EVERY)
            maps[keys].append(wanted)
            compare(results, f"{source.name}: windows by {','.join(keys)}", keyed_windows(source.windows, keys), wanted)
    merged = in_work("windows.ehs")
    # A full store is cut into the windows that the summaries have.
    run("merge", sources[0].store, *[source.windows for source in sources[1:]], "-o", merged)
    for keys in groupings:
        compare(results, f"windows of all merged by {','.join(keys)}", keyed_windows(merged, keys),
                add_maps(maps[keys], peaks_of_cells))
    chance = random.Random(SEED)
    for i in range(2):
        tree = merge(chance, [source.windows for source in sources], f"w{i}")
        results.check(f"windows, random order and tree {i}: the same bytes", same_file(tree, merged))


def same_file(a, b):
    with open(a, "rb") as left, open(b, "rb") as right:
        return left.read() == right.read()


def merge(chance, leaves, depth):
    """Merges files in a random tree; returns the file."""
    leaves = chance.sample(leaves, len(leaves))
    if len(leaves) > 2 and chance.random() < 0.7:
        cuts = sorted(chance.sample(range(1, len(leaves)), chance.randint(1, min(3, len(leaves) - 1))))
        parts = [leaves[a:b] for a, b in zip([0, *cuts], [*cuts, len(leaves)])]
        leaves = [part[0] if len(part) == 1 else merge(chance, part, f"{depth}_{i}")
                  for i, part in enumerate(parts)]
    out = in_work(f"merged{depth}.ehs")
    run("merge", *leaves, "-j", chance.randint(1, 7), "-o", out)
    return out


def check_merges(results, sources):
    chance = random.Random(SEED)
    whole = in_work("whole.ehs")
    run("merge", *[source.summary for source in sources], "-o", whole)
    for keys, options in EXACT[:2]:
        parts = [rows_of_trace(source.trace, keys, options) for source in sources]
        compare(results, f"all merged: {','.join(keys)} {' '.join(options)}",
                rows_of(whole, keys, *options), add_maps(parts, peaks_of_rows))
    for i in range(ROUNDS):
        leaves = [chance.choice([source.summary, source.store]) for source in sources]
        results.check(f"random order and tree {i} of seed {SEED}: the same bytes",
                      same_file(merge(chance, leaves, f"{i}"), whole))


def refused(results, name, words, *wanted, status=2):
    done = subprocess.run([ETLHEAP, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = done.stderr.strip()
    good = done.returncode == status and said.count("\n") == 0 and all(word in said for word in wanted)
    results.check(name, good, f"status {done.returncode}", said)


def check_refusals(results, sources):
    one, two = sources[0], sources[1]
    out = in_work("refused.ehs")
    run("merge", one.summary, two.summary, "-o", out)
    refused(results, "a trace that is there twice is refused, and both files named",
            ["merge", out, one.store, "-o", in_work("none.ehs")], "refused.ehs", "trace0.ehs", "trace0.etl",
            "--allow-duplicates")
    results.check("what is refused leaves no file", not os.path.exists(in_work("none.ehs")))
    run("merge", out, one.store, "--allow-duplicates", "-o", in_work("twice.ehs"))
    keys, options = EXACT[0]
    parts = [rows_of_trace(path, keys, options) for path in (one.trace, one.trace, two.trace)]
    compare(results, "--allow-duplicates adds it up once more",
            rows_of(in_work("twice.ehs"), keys, *options), add_maps(parts, peaks_of_rows))
    run("merge", in_work("twice.ehs"), "-o", in_work("twice2.ehs"))
    results.check("merging what was allowed before is the same file",
                  same_file(in_work("twice.ehs"), in_work("twice2.ehs")))
    for words, wanted in ((["--from", "1s"], "whole"), (["--heap", "0x1f0000"], "heap"),
                          (["--group-by", "heap"], "heap"), (["--thread", "4"], "threads"),
                          (["--size", "1K.."], "sizes"), (["--lifetime", "1s.."], "lifetimes"),
                          (["--group-by", "free_type"], "free types"), (["--process", "42"], "no process ids")):
        refused(results, f"report {' '.join(words)} of a summary is refused",
                ["report", one.summary, *words], "a summary ", wanted)
    for path, words, wanted in ((one.summary, [], "no windows"), (one.windows, ["--every", "1s"], EVERY),
                                (one.windows, ["--at", "1s"], EVERY),
                                (one.windows, ["--at-exit", "leaked"], "freed")):
        refused(results, f"windows {' '.join(words)} of a summary is refused",
                ["windows", path, *words], "summary", wanted)
    refused(results, "summaries of different windows are refused",
            ["merge", one.windows, two.summary, "-o", in_work("none.ehs")], "trace1.sum.ehs", "--every")
    with open(one.summary, "rb") as file:
        bytes_read = bytearray(file.read())
    bytes_read[len(bytes_read) // 2] ^= 1
    with open(in_work("damaged.ehs"), "wb") as file:
        file.write(bytes_read)
    none = in_work("none.ehs")
    for words, wanted, status in (([none, one.summary], "none.ehs", 3), ([one.trace], "trace0.etl", 3),
                                  ([two.summary, in_work("damaged.ehs")], "damaged.ehs", 3),
                                  ([one.summary, one.summary], "twice", 2)):
        refused(results, f"merge {' '.join(words)} is refused", ["merge", *words, "-o", out], wanted,
                status=status)
    refused(results, "merge into an input is refused", ["merge", one.summary, "-o", one.summary], "-o")
    refused(results, "merge to nowhere is refused", ["merge", one.summary], "-o app.ehs")
    refused(results, "--every of a full store is refused",
            ["store", one.trace, "--every", "1s", "-o", out], "--summary")
    refused(results, "allocations of a summary are refused", ["allocations", one.summary],
            "a summary holds totals and no single allocations")


def check_names(results):
    """Functions of a real program in traces of two boots: those of the traces, added up."""
    folder = os.path.join(TRACES, "..", "symbols")
    program = os.path.join(folder, "redis-cli.exe")
    if not os.path.exists(program):
        print(f"skipped: {os.path.normpath(program)} is not here; set TRACES to the folder beside it")
        return
    from oracle_symbols import Program, make_trace, memory

    chance = random.Random(5)
    places = [0x1000 + chance.randrange(0x20000) for _ in range(12)]
    traces, summaries = [], []
    for number, base in enumerate((0x7FF612340000, 0x7FF7ABCD0000)):
        redis = Program(program, None, base)
        blocks = [memory(chance.choice(["alloc", "freed"]), 100 + size,
                         [redis.at(place) for place in chance.choices(places, k=4)]) for size in range(60)]
        traces.append(make_trace(f"boot{number}", redis.lines(), *blocks))
        summaries.append(in_work(f"boot{number}.ehs"))
        run("store", traces[-1], "--summary", "-o", summaries[-1])
    merged = in_work("boots.ehs")
    run("merge", *summaries, "-o", merged)
    options = ["--symbols", folder]
    for key in ("site", "frame", "stack"):
        maps = [functions_of(run_json("report", path, "--group-by", key, *options), key)
                for path in (merged, *traces)]
        results.equal_maps(f"functions of two boots by {key}", maps[0], without_peaks(add_maps(
            ({name: [*sums, 0, 0] for name, sums in one.items()} for one in maps[1:]), peaks_of_rows)))
    results.check("they have names", all("!" in str(name) for name in maps[0]), list(maps[0])[:3])


def functions_of(document, key):
    names = [f"{frame['module']}!{frame['symbol']}:{frame['line']}" if key == "stack" else
             f"{frame['module']}!{frame['symbol']}" for frame in document["frames"]]
    out = {}
    for row in document["rows"]:
        name = names[row[key]] if key != "stack" else tuple(names[i] for i in document["stacks"][row["stack"]])
        old = out.get(name, [0] * len(SUMS))
        out[name] = [a + row[word] for a, word in zip(old, SUMS)]
    return out


def main():
    results = Results()
    sources = [Source(i, *source) for i, source in enumerate(SOURCES)]
    for source in sources:
        check_source(results, source)
    check_merges(results, sources)
    check_windows(results, sources)
    check_refusals(results, sources)
    check_names(results)
    results.finish()


main()
