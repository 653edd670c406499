#!/usr/bin/env python3
"""Compares `allocations` with the truth that built traces were made from, row by row.

Every lifetime that a window and a filter select must be listed once, with its kind,
process, heap, type, address, size, both times, how it ended, thread and stack, in the
order of allocation; CSV, NDJSON and text must list the same rows as JSON. Their sums by
type must be the totals of `report`. A store must be listed as its trace is, byte for
byte, whatever the order, the number of threads and the symbols.
"""

import csv
import glob
import io
import json
import os
import random
import re
import subprocess

import oracle_symbols
from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json
from oracle_truth import IMPACTING_TYPES, Truth, filter_of, frame_text, site_of, type_of, windows_of

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
PLAIN = ["--no-cull", "--no-symbols"]
STACKS = ("stack", "free_stack")  # columns that are an index in JSON
MADE = [
    ("demo", []),
    ("battery-meter", []),
    ("virtualalloc-exercise", []),
    ("heap-exercise", []),
    ("workload", ["--seed", "11", "--compress", "--keys"]),
    ("workload", ["--seed", "12", "--wow64", "--hz", "3117777"]),
    ("workload", ["--seed", "13", "--clock", "2", "--cpus", "16"]),
]


class Listed(Truth):
    """A truth whose lifetimes have what only single rows show."""

    def __init__(self, path):
        super().__init__(path)
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)["lifetimes"]
        for lifetime, row in zip(self.lifetimes, raw, strict=True):
            lifetime.address = f"{row['addr']:#x}"
            lifetime.free_type = row["ft"]
            lifetime.tid = row.get("tid")


def wanted_rows(truth, window, at_exit, selects, by_thread):
    rows = []
    for lifetime in truth.lifetimes:
        end = lifetime.end_by(at_exit)
        kind = type_of(lifetime, end, *window)
        if kind is None or not selects(lifetime, kind):
            continue
        length = None if end is None else end - lifetime.start
        rows.append((
            lifetime.start, lifetime.kind, lifetime.process, lifetime.pid, lifetime.heap, kind,
            IMPACTING_TYPES[kind], lifetime.free_type, lifetime.realloc, lifetime.address, lifetime.size,
            end, length, lifetime.tid if by_thread else None, lifetime.stack,
        ))
    return sorted(rows, key=repr)


def listed_rows(document, by_thread):
    texts = [frame_text(frame) for frame in document["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in document["stacks"]]
    return [
        (
            row["alloc_time_ns"], row["kind"], row["process"], row["pid"], row["heap"], row["type"],
            row["impacting_type"], row["free_type"], row["is_realloc"], row["address"], row["size"],
            row["free_time_ns"], row["lifetime_ns"], row["thread"] if by_thread else None,
            None if row["stack"] is None else stacks[row["stack"]],
        )
        for row in document["rows"]
    ]


def more_filters(truth, chosen, low, high):
    """Filters that a report has too, but whose rows say so here."""
    one = chosen.choice(truth.lifetimes)
    limit = chosen.randrange(1, 50_000_000)
    filters = [
        (["--from", f"{low}ns", "--lifetime", f"..{limit}ns"],
         lambda lifetime, kind: lifetime.end_now is not None and lifetime.end_now - lifetime.start <= limit),
    ]
    if one.stack is not None:
        module = one.stack[-1].split("+")[0]
        if not module.startswith("0x"):
            filters.append((
                ["--require-frame", module + "!"],
                lambda lifetime, kind: any(f.startswith(module + "+") for f in lifetime.stack or ()),
            ))
    if one.tid is not None:
        filters.append((["--thread", str(one.tid)], lambda lifetime, kind: lifetime.tid == one.tid))
    return chosen.choice(filters)


def compare(results, label, trace, truth, window, at_exit, filtered, by_thread):
    options, selects = filtered
    low, high = window
    arguments = [f"--at-exit={at_exit}", *options]
    if low is not None and "--from" not in options:
        arguments += ["--from", f"{low}ns"]
    if high is not None:
        arguments += ["--to", f"{high}ns"]
    for lifetime in truth.lifetimes:
        lifetime.end_now = lifetime.end_by(at_exit)
    bounds = (0 if low is None else low, truth.to_ns if high is None else high)
    wanted = wanted_rows(truth, bounds, at_exit, selects, by_thread)
    name = f"{label}: {' '.join(arguments)}: {len(wanted)} rows"
    try:
        document = run_json("allocations", trace, *PLAIN, *arguments)
        got = listed_rows(document, by_thread)
    except (RuntimeError, ValueError, KeyError, IndexError) as error:
        results.check(name, False, f"{type(error).__name__}: {error}")
        return
    times = [row[0] for row in got]
    complaints = [] if times == sorted(times) else ["rows are not in order of allocation"]
    complaints += [f"missing: {row}" for row in sorted(set(wanted) - set(got), key=repr)[:3]]
    complaints += [f"too many: {row}" for row in sorted(set(got) - set(wanted), key=repr)[:3]]
    if not complaints and sorted(got, key=repr) != wanted:
        complaints.append("a row is listed another number of times than it should be")
    if document["window"] != {"from_ns": bounds[0], "to_ns": bounds[1]}:
        complaints.append(f"window is {document['window']}, wanted {bounds}")
    results.check(name, not complaints, *complaints)
    compare_sums(results, label, trace, arguments, document)


def compare_sums(results, label, trace, arguments, document):
    """Rows of the list added up by kind and type, against a report's."""
    sums = {}
    for row in document["rows"]:
        sum_of = sums.setdefault(f"{row['kind']} {row['type']}", [0, 0, 0])
        sum_of[0] += 1
        sum_of[1] += row["size"]
        sum_of[2] += row["is_realloc"]
    report = run_json("report", trace, *PLAIN, *arguments, "--group-by", "kind,type")
    wanted = {
        f"{row['kind']} {row['type']}": [row["count"], row["size"], row["realloc_count"]]
        for row in report["rows"]
    }
    results.equal_maps(f"{label}: {' '.join(arguments)}: sums by type are the report's", sums, wanted)


def compare_trace(results, trace, truth_path, seed, window_count):
    truth = Listed(truth_path)
    chosen = random.Random(seed)
    label = os.path.basename(trace)
    by_thread = all(lifetime.tid is not None for lifetime in truth.lifetimes)
    for number, window in enumerate(windows_of(truth, window_count, chosen)[:window_count]):
        at_exit = "freed" if number % 2 else "leaked"
        if window[0] is not None and window[1] is not None and number % 3 == 0:
            filtered = more_filters(truth, chosen, *window)
        else:
            filtered = filter_of(truth, chosen) if number > 0 else ([], lambda lifetime, kind: True)
        compare(results, label, trace, truth, window, at_exit, filtered, by_thread)


# --- formats and orders -------------------------------------------------------------------------


def compare_formats(results, trace):
    label = os.path.basename(trace)
    arguments = ["allocations", trace, "--no-symbols", "--top", "400"]
    document = run_json(*arguments)
    texts = [frame_text(frame) for frame in document["frames"]]
    lines = [json.loads(line) for line in run(*arguments, "--format", "ndjson").splitlines()]
    cells = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").decode())))
    shown = run(*arguments).decode().splitlines()[1:]
    below = read_below(run(*arguments, "--frames", "100").decode().splitlines()[1:])
    by_lines, by_cells, by_text = [], [], []
    for row, line, cell, text, above in zip(document["rows"], lines, cells, shown, below, strict=True):
        stacks = {key: None if row[key] is None else [texts[i] for i in document["stacks"][row[key]]]
                  for key in STACKS if key in row}
        frames = stacks["stack"]
        in_line = {key: lowered(line.pop(key)) for key in STACKS if key in line}
        wanted = {key: value for key, value in row.items() if key not in STACKS} | site_of(document, row["stack"])
        if line != wanted or in_line != stacks:
            by_lines.append(f"{line} is not {wanted} with {stacks}")
        if not is_same_cell(cell, row, stacks):
            by_cells.append(f"{cell} is not {row} with {stacks}")
        words = text.split()
        if words[0] != row["address"] or int(words[1]) != row["size"] or words[4] != row["type"]:
            by_text.append(f"{text} is not {row}")
        if text.lower().rsplit("(%d) " % row["pid"])[-1].strip() != (frames[0] if frames else "-"):
            by_text.append(f"{text} does not end with the process and the site of {frames}")
        if not above[0].endswith("(%d)" % row["pid"]) or above[0].split()[:11] != words[:11] or above[1] != (frames or []):
            by_text.append(f"{above} does not have {frames} below")
    results.check(f"{label}: NDJSON has the rows of JSON", not by_lines, *by_lines[:3])
    results.check(f"{label}: CSV has the rows of JSON", not by_cells, *by_cells[:3])
    results.check(f"{label}: text has the rows of JSON", not by_text, *by_text[:3])


def read_below(lines):
    """Each row with the frames below it."""
    rows = []
    for line in lines:
        if re.match(r"    \S", line) and not re.match(r" *0x[0-9a-f]+ +\d+  \w", line):
            rows[-1][1].append(line.strip().lower())
        else:
            rows.append((line, []))
    return rows


def lowered(frames):
    return frames and [frame.lower() for frame in frames]


def is_same_cell(cell, row, stacks):
    """The same columns in the same order, null as nothing, true and false as 1 and 0."""
    def text_of(value):
        return "" if value is None else str(int(value) if isinstance(value, bool) else value)

    return list(cell) == list(row) and all(
        cell[key].lower() == " < ".join(stacks[key] or []) if key in stacks else cell[key] == text_of(row[key])
        for key in row)


def compare_orders(results, trace):
    """--sort and --top against the rows of the whole list: largest first, times earliest first."""
    times = ("alloc_time", "free_time")
    keys = {"size": "size", "alloc_time": "alloc_time_ns", "free_time": "free_time_ns", "thread": "thread", "lifetime": "lifetime_ns"}
    whole = run_json("allocations", trace, *PLAIN)["rows"]
    for word, key in keys.items():
        for sign in ("", "-"):
            values = sorted((row[key] if row[key] is not None else 2**63 for row in whole),
                            reverse=(word in times) == bool(sign))
            rows = run_json("allocations", trace, *PLAIN, f"--sort={sign}{word}", "--top", "37")["rows"]
            got = [row[key] if row[key] is not None else 2**63 for row in rows]
            results.equal(f"{os.path.basename(trace)}: --sort {sign}{word} --top 37", got, values[:37])


def compare_addresses(results, trace):
    """--address against the rows of the whole list: what has a byte at one address, or in a range."""
    whole = run_json("allocations", trace, *PLAIN)["rows"]
    chosen = random.Random(17)
    label = os.path.basename(trace)
    for number in range(8):
        row = chosen.choice(whole)
        first = int(row["address"], 16) + (chosen.randrange(row["size"]) if row["size"] else 0)
        last = first if number % 2 else first + chosen.randrange(1 << 16)
        words = f"{first:#x}" if first == last else f"{first:#x}..{last:#x}"
        options = ["--sort", "size"] if number % 3 == 0 else []
        got = run_json("allocations", trace, *PLAIN, "--address", words, *options)["rows"]
        wanted = [
            (row["address"], row["size"], row["alloc_time_ns"]) for row in whole
            if int(row["address"], 16) <= last and int(row["address"], 16) + max(row["size"], 1) > first
        ]
        results.equal(
            f"{label}: --address {words}: {len(wanted)} rows",
            sorted((row["address"], row["size"], row["alloc_time_ns"]) for row in got), sorted(wanted))
    results.equal(f"{label}: --address of none", run_json("allocations", trace, "--address", "0")["rows"], [])
    by_text = run("allocations", trace, "--address", whole[0]["address"]).decode()
    results.check(f"{label}: --address as text has the block", whole[0]["address"] in by_text, by_text)


def without_files(document):
    start = document.find(b'"files"')
    return document if start < 0 else document[:start] + document[document.index(b"]", start):]


def compare_stores(results, trace, *choices):
    """Bytes of the trace with one thread, of the trace with seven, and of its store."""
    store = os.path.join(WORK, os.path.basename(trace) + ".ehs")
    run("store", trace, "-o", store)
    for choice in choices:
        first = without_files(run("allocations", trace, "-j", "1", *choice))
        name = f"{os.path.basename(trace)}: {' '.join(choice)}: {len(first)} bytes"
        results.check(f"{name}: -j7 is the same", without_files(run("allocations", trace, "-j7", *choice)) == first)
        results.check(f"{name}: the store is the same", without_files(run("allocations", store, *choice)) == first)
    os.remove(store)


JSON = ["--format", "json"]
CHOICES = [
    ["--format", "text"],
    JSON,
    [*JSON, "--from", "2ms", "--to", "40ms", "--at-exit=freed"],
    [*JSON, "--sort", "lifetime", "--top", "50"],
    ["--format", "csv", "--sort", "-process"],
    ["--format", "ndjson", "--from", "1ms", "--type", "AIFO,AOFI", "--size", "16..4096"],
    [*JSON, "--require-frame", "ntdll!", "--top", "20"],
    [*JSON, "--address", "..0xffffffffffff"],
    [*JSON, "--address", "0x20000..", "--from", "2ms", "--sort", "address"],
]


def compare_names(results):
    """With symbols the walk goes through all rows twice: nothing must be lost or change."""
    program = oracle_symbols.made_program("inline-x64", "sample_inline.cpp", "x86_64", ["-O2"], [])
    code = [rva + i for rva, size, is_code in program.sections if is_code for i in range(0, size, 3)]
    chosen = random.Random(5)
    lines = [program.lines()]
    for number in range(300):
        word = chosen.choice(["alloc", "freed", "commit"])
        stack = [program.at(rva) for rva in chosen.sample(code, chosen.randrange(1, 6))]
        lines.append(oracle_symbols.memory(word, 16 + number % 40, stack))
    trace = oracle_symbols.make_trace("allocations", *lines)
    named = ["--symbols", os.path.dirname(program.pdb)]
    results.check("the made program has names", b"symbol\": \"" in run("allocations", trace, *named, *JSON))
    compare_stores(
        results, trace,
        [*named, *JSON], [*named, "--format", "csv", "--sort", "size", "--top", "9"],
        [*named, *JSON, "--require-frame", "!m*"], [*named, "--cull-frame", "!*a*", "--format", "ndjson"],
    )
    for choice in ([], ["--require-frame", "!m*"], ["--cull-frame", "!*a*"]):
        rows = [json.loads(line) for line in run("allocations", trace, *named, *choice, "--format", "ndjson").splitlines()]
        sums = {}
        for row in rows:
            key = f"{row['kind']} {' < '.join(row['stack'])}"
            sums[key] = sums.get(key, 0) + 1
        cells = csv.DictReader(io.StringIO(
            run("report", trace, *named, *choice, "--group-by", "kind,stack", "--format", "csv").decode()))
        wanted = {}
        for cell in cells:
            key = f"{cell['kind']} {cell['stack']}"
            wanted[key] = wanted.get(key, 0) + int(cell["count"])
        results.equal_maps(f"named stacks {' '.join(choice)} are the report's: {len(wanted)}", sums, wanted)


def compare_required(results):
    """A required frame chooses rows by who allocated; the stacks that freed them are those of the whole list."""
    trace, demo = os.path.join(WORK, "required.etl"), os.path.join(WORK, "demo")
    subprocess.run([MAKE_TRACE, "workload", trace, "--seed", "3", "--events", "600", "--free-stacks"], check=True,
                   stdout=subprocess.DEVNULL)
    run("selftest", "--write-demo", demo)
    command = ["allocations", trace, "--symbols", os.path.join(demo, "symbols"), "--format", "ndjson"]
    rows = run(*command).splitlines()
    wanted = [row for row in rows if any(frame.startswith("ckb.exe+") for frame in json.loads(row)["stack"] or [])]
    results.check("some required rows have the stack that freed them",
                  any(json.loads(row)["free_stack"] for row in wanted) and len(wanted) < len(rows), len(wanted))
    results.equal("a required frame keeps the stacks of frees", run(*command, "--require-frame", "ckb.exe!").splitlines(),
                  wanted)


def compare_impacting(results, trace):
    """--impacting lists what changes the outstanding size of the window: its sizes make the impacting size."""
    window = ["--from", "3ms", "--to", "19ms"]
    command = ["allocations", trace, *window, "--format", "ndjson"]
    rows = run(*command).splitlines()
    wanted = [row for row in rows if json.loads(row)["type"] in ("AIFO", "AOFI")]
    got = run(*command, "--impacting").splitlines()
    results.check(f"--impacting: {len(wanted)} of {len(rows)} lifetimes, of both types", got == wanted and 0 < len(got) < len(rows)
                  and {json.loads(row)["type"] for row in got} == {"AIFO", "AOFI"}, len(got))
    sums = {row["kind"]: row["impacting_size"] for row in run_json("report", trace, *window)["totals"]}
    changes = dict.fromkeys(sums, 0)
    for row in map(json.loads, got):
        changes[row["kind"]] += row["size"] if row["type"] == "AIFO" else -row["size"]
    results.equal("--impacting: sizes add up to the impacting size of the report", changes, sums)


def check_errors(results, trace):
    def refused(name, wanted_status, sentence, *arguments):
        """One line, which says this; the words were not typed, so that not any sentence has them."""
        assert sentence not in " ".join(arguments)
        done = subprocess.run([ETLHEAP, "allocations", trace, *arguments], capture_output=True, check=False)
        said = done.stderr.decode()
        good = done.returncode == wanted_status and said.count("\n") == 1 and sentence in said and not done.stdout
        results.check(name, good, f"status {done.returncode}, {said!r}, wanted {sentence!r}")

    columns = "alloc_time, free_time, lifetime, kind, process, heap, type, free_type, is_realloc, address, size, thread"
    refused("--sort by an unknown column is refused with the columns", 2, f"'colour' is not one of {columns}\n",
            "--sort", "colour")
    refused("--group-by is refused", 2, "unknown option --group-by for allocations", "--group-by", "kind")
    refused("a range that is empty is refused", 2, "the range 5..4 is empty", "--size", "5..4")
    refused("an address range that is empty is refused", 2, "the range 0x5..0x4 is empty", "--address", "0x5..0x4")
    refused("what is no address is refused", 2, "invalid value 'block': expected an address or a range", "--address", "block")
    refused("-o that cannot be made is told", 3, "/nowhere/at/all: cannot write: No such file", "-o", "/nowhere/at/all")


def main():
    results = Results()
    made = []
    for number, (scenario, options) in enumerate(MADE):
        trace = os.path.join(WORK, f"{scenario}-{number}.etl")
        truth = trace + ".truth.json"
        subprocess.run([MAKE_TRACE, scenario, trace, "--truth", truth, *options], check=True, stdout=subprocess.DEVNULL)
        compare_trace(results, trace, truth, number, 5)
        made.append(trace)
    compare_formats(results, made[0])
    compare_formats(results, made[4])
    compare_orders(results, made[4])
    compare_addresses(results, made[1])
    compare_addresses(results, made[4])
    compare_stores(results, made[0], *CHOICES)
    compare_stores(results, made[4], *CHOICES)
    compare_names(results)
    compare_required(results)
    compare_impacting(results, made[4])
    check_errors(results, made[0])
    built = sorted(glob.glob(os.path.join(TRACES, "..", "traces-built", "*.truth.json")))
    for number, truth in enumerate(built):
        compare_trace(results, truth[: -len(".truth.json")], truth, 50 + number, 3)
    if not built:
        results.skip("traces of another writer", "there is no folder traces-built beside the real traces; set TRACES")
    results.finish()


if __name__ == "__main__":
    main()
