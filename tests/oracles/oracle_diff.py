#!/usr/bin/env python3
"""Compares `etlheap diff` with UMDH's own comparison, and with a diff of two reports.

UMDH: every backtrace, delta and total of the real tool's result file beside TRACES is parsed
and must be what we say of the same two logs, in text and in JSON. Traces: the rows must be what
a few lines of Python make of two `report` documents; a diff with oneself is empty, one the
other way round has the other sign; a store answers as its trace, any -j the same bytes. Shifted
copies of a trace (other addresses, as after a reboot) match wholly; another build of a program
matches by the names of functions and by nothing else.
"""

import csv
import glob
import io
import json
import os
import re
import subprocess
import zipfile
from collections import defaultdict

from oracle_symbols import Program
from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json, recorded_part

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
MAKE_SYMBOL_TRACE = os.path.join(OUT, "make_symbol_trace")
MEASURES = ("count", "size", "impacting_size", "outstanding_count", "outstanding_size", "realloc_count")


def attempt(*arguments):
    """(status, stderr) of a run that may fail."""
    done = subprocess.run([ETLHEAP, *map(str, arguments)], capture_output=True, check=False)
    return done.returncode, done.stderr.decode(errors="replace").strip()


# --- UMDH --------------------------------------------------------------------------------


def parse_comparison(text):
    """{backtrace: (delta, new, old, count delta, count new, count old)}, in order; the total."""
    size = re.compile(r"^([+-])\s*([0-9a-f]+) \(\s*([0-9a-f]+) -\s*([0-9a-f]+)\)\s+([0-9a-f]+) allocs\tBackTrace(\w+)$")
    count = re.compile(r"^([+-])\s*([0-9a-f]+) \(\s*([0-9a-f]+) -\s*([0-9a-f]+)\)\tBackTrace(\w+)\tallocations$")
    total = re.compile(r"^Total (increase|decrease) ==\s*([0-9a-f]+) requested \+\s*([0-9a-f]+) overhead =\s*([0-9a-f]+)$")
    rows, sums, frames, current = {}, None, defaultdict(int), None
    for line in text.splitlines():
        if found := size.match(line):
            sign, delta, new, old, allocs, current = found.groups()
            rows[current] = (int(sign + delta, 16), int(new, 16), int(old, 16), int(allocs, 16))
        elif found := count.match(line):
            sign, delta, new, old, name = found.groups()
            rows[name] += (int(sign + delta, 16), int(new, 16), int(old, 16))
        elif found := total.match(line):
            sums = (found[1], *(int(n, 16) for n in found.groups()[1:]))
        elif line.startswith("\t"):
            frames[current] += 1
    return rows, sums, dict(frames)


def check_umdh(results):
    folder = os.path.join(TRACES, "..", "umdh")
    found = sorted(glob.glob(os.path.join(folder, "*.Result.txt")))
    if not found:
        results.skip("UMDH", f"{folder} is not here; set TRACES to the folder of real traces")
        return
    for path in found:
        first, second = (path.replace("Result", name) for name in ("FirstDump", "SecondDump"))
        with open(path, encoding="latin-1", newline=None) as file:
            wanted = parse_comparison(file.read())
        got = parse_comparison(run("diff", first, second).decode())
        name = os.path.basename(path)
        results.check(f"{name}: the tool's result has rows and a total", len(wanted[0]) > 3 and wanted[1])
        results.equal(f"{name}: {len(wanted[0])} backtraces and their deltas are the tool's", got[0], wanted[0])
        results.equal(f"{name}: so is their order", list(got[0]), list(wanted[0]))
        results.equal(f"{name}: so is the total", got[1], wanted[1])
        results.equal(f"{name}: so is the depth of each stack", got[2], wanted[2])
        back = parse_comparison(run("diff", second, first).decode())
        results.equal(f"{name}: the other way round all deltas have the other sign",
                      {k: (-v[0], v[2], v[1], -v[4]) for k, v in back[0].items()},
                      {k: (v[0], v[1], v[2], v[4]) for k, v in wanted[0].items()})
        results.equal(f"{name}: and the total is a decrease", back[1], ("decrease", *wanted[1][1:]))
        check_umdh_documents(results, name, first, second, wanted)


def check_umdh_documents(results, name, first, second, wanted):
    document = run_json("diff", first, second)
    rows = {row["backtrace"].removeprefix("BackTrace"):
            tuple(row[f"{side}_outstanding_{what}"] for what in ("size", "count") for side in ("delta", "new", "base"))
            for row in document["rows"]}
    results.equal(f"{name}: JSON says the same", rows, {k: v[:3] + v[4:] for k, v in wanted[0].items()})
    total = document["totals"][0]
    results.equal(f"{name}: and the same total", (total["delta_outstanding_size"], total["delta_overhead_size"]),
                  wanted[1][1:3])
    table = list(csv.DictReader(io.StringIO(run("diff", first, second, "--format", "csv").decode())))
    results.equal(f"{name}: CSV says the same", {r["backtrace"].removeprefix("BackTrace"):
                  int(r["delta_outstanding_size"]) for r in table}, {k: v[0] for k, v in wanted[0].items()})
    itself = run_json("diff", first, first)
    results.equal(f"{name}: a log does not differ from itself", (itself["rows"], itself["unchanged_count"]), ([], 704))
    whole = run_json("diff", first, second, "--all")
    results.equal(f"{name}: --all lists {len(whole['rows'])} backtraces", len(whole["rows"]),
                  len(document["rows"]) + document["unchanged_count"])
    status, said = attempt("diff", first, second, "--from", "1s")
    results.check(f"{name}: filters of time are refused", status == 2 and "--from" in said, status, said)


# --- traces ------------------------------------------------------------------------------


def made(scenario, *arguments):
    path = os.path.join(WORK, "-".join((scenario, *arguments)).replace("--", "") + ".etl")
    if not os.path.exists(path):
        subprocess.run([MAKE_TRACE, scenario, path, *arguments], check=True, stdout=subprocess.DEVNULL)
    return path


def frame_key(frame):
    if frame["module"] is None:
        return "?"
    return (frame["module"].lower(), frame["symbol"] or frame["offset"])


def groups_of(document):
    """Sums of a report's rows by what is the same in every run."""
    groups = defaultdict(lambda: [0] * len(MEASURES))
    frames = [frame_key(frame) for frame in document["frames"]]
    for row in document["rows"]:
        key = []
        for name in document["group_by"]:
            value = row[name]
            if name == "stack":
                value = None if value is None else tuple(frames[i] for i in document["stacks"][value])
            elif name in ("frame", "site"):
                value = None if value is None else frames[value]
            elif name in ("process", "module"):
                value = value and value.lower()
            key.append(value)
        sums = groups[tuple(key)]
        for i, measure in enumerate(MEASURES):
            sums[i] += row[measure]
    return groups


def changes_of(document):
    """{key: (state, base, new)} of a diff, which must list no group twice."""
    changes = {}
    frames = [frame_key(frame) for frame in document["frames"]]
    for row in document["rows"]:
        key = []
        for name in document["group_by"]:
            value = row[name]
            if name == "stack":
                value = None if value is None else tuple(frames[i] for i in document["stacks"][value])
            elif name in ("frame", "site"):
                value = None if value is None else frames[value]
            elif name in ("process", "module"):
                value = value and value.lower()
            key.append(value)
        base, new, delta = ([row[f"{side}_{m}"] for m in MEASURES] for side in ("base", "new", "delta"))
        assert delta == [b - a for a, b in zip(base, new)] and tuple(key) not in changes
        changes[tuple(key)] = (row["state"], base, new)
    return changes


def expected_changes(base, new):
    """The same from two reports."""
    size, count = MEASURES.index("outstanding_size"), MEASURES.index("outstanding_count")
    nothing = [0] * len(MEASURES)
    changes = {}
    for key in set(base) | set(new):
        a, b = base.get(key, nothing), new.get(key, nothing)
        before, after = (a[size], a[count]), (b[size], b[count])
        if before == after or (before[0] == after[0] and (0, 0) not in (before, after)):
            continue
        state = "added" if before == (0, 0) else "removed" if after == (0, 0) else \
            "grown" if after[0] > before[0] else "shrunk"
        changes[key] = (state, a, b)
    return changes


def check_pair(results, base, new, *arguments):
    grouping = arguments if "--group-by" in arguments else ("--group-by", "kind,process,stack", *arguments)
    name = f"{os.path.basename(base)} and {os.path.basename(new)} {' '.join(arguments)}"
    document = run_json("diff", base, new, *arguments)
    wanted = expected_changes(*(groups_of(run_json("report", t, *grouping)) for t in (base, new)))
    results.equal_maps(f"{name}: {len(wanted)} changes are those of two reports", changes_of(document), wanted)
    sizes = [abs(row["delta_outstanding_size"]) for row in document["rows"]]
    results.equal(f"{name}: largest change first", sizes, sorted(sizes, reverse=True))
    back = changes_of(run_json("diff", new, base, *arguments))
    mirrored = {"added": "removed", "removed": "added", "grown": "shrunk", "shrunk": "grown"}
    results.equal_maps(f"{name}: the other way round, the other sign", back,
                       {k: (mirrored[s], b, a) for k, (s, a, b) in wanted.items()})


def check_same_bytes(results, base, new):
    name = f"{os.path.basename(base)} and {os.path.basename(new)}"
    wanted = {f: run("diff", base, new, "--format", f, "-j1") for f in ("text", "json", "csv")}
    for jobs in ("-j2", "-j7"):
        results.equal(f"{name}: {jobs} gives the same bytes",
                      {f: run("diff", base, new, "--format", f, jobs) for f in wanted}, wanted)
    stores = [os.path.join(WORK, f"{i}.ehs") for i in range(2)]
    for trace, store in zip((base, new), stores):
        run("store", trace, "-o", store)
    for sides in ((stores[0], new), (base, stores[1]), stores):
        got = run_json("diff", *sides)
        results.equal(f"{name}: {' and '.join(map(os.path.basename, sides))} say the same",
                      got, {**json.loads(wanted["json"]), "base": got["base"], "new": got["new"]})
    for trace in (base, new):
        itself = run_json("diff", trace, trace)
        results.equal(f"{name}: nothing differs from itself", itself["rows"], [])
        results.check(f"{name}: and there was something to compare", itself["unchanged_count"] > 0)


def check_document(results, base, new):
    """The document's keys are part of the interface."""
    document = run_json("diff", base, new)
    results.equal("keys of the document", list(document),
                  ["schema", "base", "new", "measure", "per_second", "group_by", "frames", "stacks", "rows",
                   "unchanged_count", "totals", "hints"])
    results.equal("keys of a side", list(document["base"]), ["trace", "recorded", "window", "diagnostics"])
    results.equal("keys of a row", list(document["rows"][0]), ["state", "kind", "process", "stack"] + [
        f"{side}_{measure}" for measure in MEASURES for side in ("base", "new", "delta")])
    results.equal("the schema", document["schema"], "etlheap-diff-1")
    for kind in document["totals"]:
        rows = run_json("diff", base, new, "--all", "--kind", kind["kind"])["rows"]
        sums = {key: sum(row[key] for row in rows) for key in kind if key != "kind"}
        results.equal_maps(f"rows of {kind['kind']} add up to its total", sums, {k: v for k, v in kind.items() if k != "kind"})
    top = run_json("diff", base, new, "--top", "2")
    results.equal("--top keeps the first rows and what they refer to",
                  (top["rows"], len(top["stacks"])), (document["rows"][:2], 2))
    zipped = os.path.join(WORK, "base.etl.zip")
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(base, "base.etl")
    results.equal("a zipped trace is the trace", run_json("diff", zipped, base, "--memory", "1G")["rows"], [])
    table = list(csv.DictReader(io.StringIO(run("diff", base, new, "--format", "csv").decode())))
    results.equal("CSV has the same rows", [(r["state"], r["process"], int(r["delta_outstanding_size"])) for r in table],
                  [(r["state"], r["process"], r["delta_outstanding_size"]) for r in document["rows"]])


def check_per_second(results):
    """Rates: a leak of constant speed has not changed, however long it was watched."""
    short, long = made("demo"), made("battery-meter")
    document = run_json("diff", short, long)
    results.equal("windows of different length are told", [h["name"] for h in document["hints"]], ["durations_differ"])
    document = run_json("diff", short, long, "--per-second", "--all", "--group-by", "kind")
    results.equal("and not with --per-second", [h["name"] for h in document["hints"] if h["name"] != "recorded_shorter"], [])
    wrong = []
    for row in document["rows"]:
        for measure in MEASURES:
            for side in ("base", "new"):
                window = document[side]["window"]
                begin, end = recorded_part(document[side], (window["from_ns"], window["to_ns"]), row["kind"])
                span = end - begin
                wanted = round(row[f"{side}_{measure}"] * 10**12 / span)
                got = row[f"{side}_{measure}_per_1000s"]
                if abs(got - wanted) > 1 + abs(wanted) * 1e-12:
                    wrong.append((side, measure, got, wanted))
            if row[f"delta_{measure}_per_1000s"] != row[f"new_{measure}_per_1000s"] - row[f"base_{measure}_per_1000s"]:
                wrong.append(("delta", measure))
    results.check(f"--per-second: rates of {len(document['rows'])} rows", not wrong and document["rows"], *wrong)


# --- other addresses, other builds ---------------------------------------------------------


def symbol_trace(name, *lines):
    path = os.path.join(WORK, name + ".etl")
    subprocess.run([MAKE_SYMBOL_TRACE, path], input="".join(lines), text=True, check=True)
    return path


def module(name, base, stamp, size=0x100000):
    return f"module \\Device\\HarddiskVolume3\\{name} {base:x} {size:x} {stamp:x}\n"


def blocks(app, ntdll, wild, *changes):
    """Lines of allocations: size, frames as offsets of two modules and a wild address."""
    lines = []
    for i in range(40):
        frames = [app + 0x1000 + 16 * i, app + 0x9000, ntdll + 0x400 + i % 3]
        if i % 5 == 0:
            frames.insert(1, wild + i)
        lines.append(f"alloc {100 + i:x} " + " ".join(f"{f:x}" for f in frames) + "\n")
    return lines + [f"alloc {size:x} {app + offset:x} {ntdll + 0x400:x}\n" for size, offset in changes]


def check_shift(results):
    """The same program after a reboot: every base is another."""
    before = symbol_trace("before", module("App.exe", 0x7FF600000000, 5), module("ntdll.dll", 0x7FF800000000, 6),
                          *blocks(0x7FF600000000, 0x7FF800000000, 0x1000000, (500, 0x2000)))
    after = symbol_trace("after", module("APP.EXE", 0x7FF712340000, 5), module("ntdll.dll", 0x7FFA99990000, 6),
                         *blocks(0x7FF712340000, 0x7FFA99990000, 0x2000000, (700, 0x3000)))
    document = run_json("diff", before, after)
    results.equal("at other addresses only what changed is told",
                  sorted((row["state"], row["delta_outstanding_size"]) for row in document["rows"]),
                  [("added", 700), ("removed", -500)])
    results.equal("and all else matches", (document["unchanged_count"], document["hints"]), (40, []))
    rebuilt = symbol_trace("rebuilt", module("App.exe", 0x7FF600000000, 7), module("ntdll.dll", 0x7FF800000000, 6),
                           *blocks(0x7FF600000000, 0x7FF800000000, 0x1000000, (500, 0x2000)))
    document = run_json("diff", before, rebuilt)
    results.equal("offsets in another build mean nothing",
                  ({row["state"] for row in document["rows"]}, document["unchanged_count"],
                   [h["name"] for h in document["hints"]], "App.exe" in str(document["hints"])),
                  ({"added", "removed"}, 0, ["builds_differ", "nothing_matches"], True))
    document = run_json("diff", before, rebuilt, "--group-by", "process,module")
    results.equal("but modules do", document["rows"], [])


def check_names(results):
    """Two builds of a program whose functions have the same names at other places."""
    exe = os.path.join(TRACES, "..", "symbols", "redis-cli.exe")
    if not os.path.exists(exe):
        results.skip("names", f"{exe} is not here; set TRACES to the folder of real traces")
        return
    program = Program(exe, exe.replace(".exe", ".pdb"))
    code = [rva + i for rva, size, is_code in program.sections if is_code for i in range(0, size, 29)][:4000]
    sample = symbol_trace("sample", program.lines(), *(f"alloc {i + 1:x} {program.at(rva):x}\n"
                                                      for i, rva in enumerate(code)))
    loose = ("--symbols", os.path.dirname(exe), "--symbols-loose", "--no-cull")
    names = defaultdict(list)
    document = run_json("report", sample, *loose)
    for frame in document["frames"]:
        if frame["symbol"] and not frame.get("inline") and not frame.get("nearest"):
            names[frame["symbol"]].append(int(frame["offset"], 16))
    moved = [(min(offsets), max(offsets)) for _, offsets in sorted(names.items()) if len(set(offsets)) > 1][:50]
    results.check(f"{len(moved)} functions have two places to call from", len(moved) > 10)
    sides = []
    for i in range(2):
        build = program.lines(age=program.age + i)
        sides.append(symbol_trace(f"build{i}", build, *(f"alloc 40 {program.base + pair[i]:x}\n" for pair in moved)))
    document = run_json("diff", *sides, *loose, "--group-by", "process,site")
    results.equal("functions of one name are the same in another build", (document["rows"], document["unchanged_count"]),
                  ([], len(moved)))
    document = run_json("diff", *sides, "--no-symbols")
    results.equal("without names nothing is", (len(document["rows"]), document["unchanged_count"]), (2 * len(moved), 0))
    wanted = expected_changes(*(groups_of(run_json("report", t, "--group-by", "kind,process,stack", *loose)) for t in sides))
    results.equal_maps("with names, rows are those of two reports", changes_of(run_json("diff", *sides, *loose)), wanted)


def check_usage(results):
    trace = made("demo")
    for name, arguments, word in (
            ("one input", (trace,), "two inputs"),
            ("three inputs", (trace, trace, trace), "two inputs"),
            ("heaps", (trace, trace, "--group-by", "heap"), "heap"),
            ("threads", (trace, trace, "--group-by", "process,thread"), "thread"),
            ("peaks", (trace, trace, "--sort", "peak_size"), "peak_size"),
            ("an empty window", (trace, trace, "--from", "2s", "--to", "1s"), "--from")):
        status, said = attempt("diff", *arguments)
        results.check(f"{name}: refused in a sentence", status == 2 and word in said and "\n" not in said, status, said)
    check_log_errors(results, trace)
    check_choices(results, trace)
    status, said = attempt("diff", trace, os.path.join(WORK, "nothing.etl"))
    results.check("a missing file is named", status == 3 and "nothing.etl" in said, status, said)


def check_choices(results, trace):
    """What --help offers, diff takes; what report takes and --help does not offer, diff refuses."""
    def words_of(command, option):
        lines = run(command, "--help").decode().split(f"  {option} ")[1].split("\n")
        first = next(i for i, line in enumerate(lines) if line.startswith("      ") and line[6] != " ")
        listed = []
        for line in lines[first:]:
            if not line.startswith("      ") or line[6] == " ":
                break
            listed += line.split()
        return listed
    for option in ("--group-by", "--sort"):
        offered = words_of("diff", option)
        wrong = [word for word in words_of("report", option)
                 if (attempt("diff", trace, trace, option, word,
                             *(["--stack-tags", tags_file()] if word == "tag" else []))[0] == 0) != (word in offered)]
        results.check(f"diff takes what it offers for {option}, and no more", not wrong and len(offered) > 5, wrong)
    said = attempt("diff", trace, trace, "--group-by", "free_stack")[1]
    results.check("the reason against free_stack is true", "by who allocated" in said, said)


def tags_file():
    return written("tags.xml", '<?xml version="1.0"?><Tag Name=""><Tag Name="all"><Entrypoint Module="*" Method="*"/>'
                   "</Tag></Tag>")


def written(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def check_log_errors(results, trace):
    head = "// UMDH: version 6.1\n*- Start of data for heap @ 1 -\n1 bytes + 1 at 1 by BackTrace1\n"
    good = written("good.txt", head + "*- End of data for heap @ 1 -\n")
    odd = written("odd.txt", head + "something else\n*- End of data for heap @ 1 -\n")
    cut = written("cut.txt", head)
    results.equal("two logs are compared without a word on stderr", attempt("diff", good, odd), (0, ""))
    hints = run_json("diff", good, odd)["hints"]
    results.equal("unknown lines are told", [h["name"] for h in hints], ["lines_skipped"])
    status, said = attempt("diff", good, odd, "--strict")
    results.check("and are status 4 with --strict", status == 4 and "odd.txt" in said, status, said)
    status, said = attempt("diff", good, cut)
    results.check("a cut log is refused with its line", status == 3 and "cut.txt: line 3" in said, status, said)
    for other, wanted in ((trace, 2), (os.path.join(WORK, "nothing.txt"), 3)):
        for sides in ((good, other), (other, good)):
            status, said = attempt("diff", *sides)
            results.check(f"a log and {os.path.basename(other)}: status {wanted}", status == wanted, status, said)


def check_speedscope(results, first, second):
    """Four profiles of each kind, whose stacks are the paths of the folded form."""
    document = json.loads(run("diff", first, second, "--no-symbols", "--format", "speedscope"))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    results.check("speedscope: a name is one frame", len(names) == len(set(names)) and len(names) > 100)
    wanted = {}
    for line in run("diff", first, second, "--no-symbols", "--format", "folded").decode().splitlines():
        path, before, after = line.rsplit(" ", 2)
        kind, path = path.split(";", 1)
        base, new = int(before), int(after)
        for side, amount in (("base", base), ("new", new), ("grew", new - base), ("shrank", base - new)):
            if amount > 0:
                wanted[f"{kind}: {side}", path] = wanted.get((f"{kind}: {side}", path), 0) + amount
    got = {}
    for profile in document["profiles"]:
        for sample, weight in zip(profile["samples"], profile["weights"]):
            key = profile["name"], ";".join(names[frame].replace(";", ":") for frame in sample)
            got[key] = got.get(key, 0) + weight
    results.equal_maps(f"speedscope: {len(got)} stacks are those of the folded form", got, wanted)
    results.check("speedscope: profiles add up",
                  all(profile["endValue"] == sum(profile["weights"]) for profile in document["profiles"]))


def main():
    results = Results()
    check_umdh(results)
    demo, battery = made("demo"), made("battery-meter")
    check_document(results, demo, battery)
    check_pair(results, demo, battery)
    check_same_bytes(results, demo, battery)
    first, second = made("workload", "--seed", "1"), made("workload", "--seed", "2")
    check_same_bytes(results, first, second)
    check_speedscope(results, first, second)
    for arguments in ((), ("--from", "20ms", "--to", "70ms"), ("--at-exit", "freed"),
                      ("--group-by", "kind,process,type,site,size_class"), ("--size", "..64", "--group-by", "kind,module"),
                      ("--group-by", "kind,free_type,frame")):
        check_pair(results, first, second, *arguments)
    check_pair(results, made("workload", "--seed", "3", "--wow64"), first)
    built = sorted(glob.glob(os.path.join(TRACES, "..", "traces-built", "*.etl")))
    if len(built) >= 2:
        check_pair(results, *built[:2])
    else:
        results.skip("traces of another writer", "there is no folder traces-built beside the real traces; set TRACES")
    check_per_second(results)
    check_shift(results)
    check_names(results)
    check_usage(results)
    results.finish()


if __name__ == "__main__":
    main()
