#!/usr/bin/env python3
"""Compares what `export` writes as folded, speedscope, csv and ndjson with `report` and
`allocations`, and checks what all formats promise.

Sums of `report` are compared with the truth elsewhere (oracle_truth.py); here every
stack of every metric must have the report's value in each format. folded must obey the
rule by which flamegraph.pl reads a line, speedscope the schema of its viewer. A format
must be the same bytes with any number of threads, of a trace and of its store, and
decompressed; a failed export must leave no file.
"""

import csv
import io
import json
import os
import re
import shutil
import subprocess

import oracle_symbols
from oracle_support import ETLHEAP, WORK, Results, run, run_json
from oracle_truth import site_of

OUT = os.environ.get("OUT", "build/check")
BUILD = os.environ.get("BUILD", "build")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
MADE = [
    ("demo", []),
    ("workload", ["--seed", "11", "--compress", "--keys"]),
    ("workload", ["--seed", "12", "--wow64", "--hz", "3117777"]),
]
METRICS = ["outstanding", "total", "transient", "peak"]
TEXT_FORMATS = ["folded", "speedscope", "dhat", "heaptrack", "csv", "ndjson"]
FORMATS = [*TEXT_FORMATS, "pprof", "perfetto"]
NO_STACK = "[no stack]"
SPEEDSCOPE = os.path.join(BUILD, "consumers", "node_modules", "speedscope", "dist", "release")
HINT = "`make consumer-deps` installs it"
# What may stand in names, and in some format not as it is. Blanks end a path in the
# maker's input; a newline is in the name of a function.
HOSTILE_MODULES = ["a;b.dll", "<&'\">.dll", "new\x01\x1b[31mline.dll", "%s%n{}[],.dll", "x" * 200 + ".dll",
                   "\u00e9\x7f.dll"]
HOSTILE_FUNCTIONS = [r'semi;colon <&\"\'> 12', r"two\nlines\r\ttab", r"\33[31mred\1\177", r"not utf-8 \377\376 \303",
                     r"%s%n\\ {}[], < b", "x" * 5000 + ";"]
HOSTILE_TEMPLATE_DEPTH = 400


def made_traces(count=len(MADE)):
    traces = []
    for number, (scenario, options) in enumerate(MADE[:count]):
        trace = os.path.join(WORK, f"{scenario}-{number}.etl")
        subprocess.run([MAKE_TRACE, scenario, trace, *options], check=True, stdout=subprocess.DEVNULL)
        traces.append(trace)
    return traces


def hostile_program():
    """Functions whose names are what escaping is for, and one of several thousand characters."""
    lines = ["template <class T> struct list {}; void work(); extern volatile int v; volatile int v;",
             "template <class T> __attribute__((noinline)) void fill() { v = v + 1; v = v + 2; }"]
    calls = [f"fill<{'list<' * HOSTILE_TEMPLATE_DEPTH}int{'>' * HOSTILE_TEMPLATE_DEPTH}>();"]
    for number, name in enumerate(HOSTILE_FUNCTIONS):
        lines.append(f'extern "C" __attribute__((nodebug, noinline)) void h{number}() __asm__("{name}");')
        lines.append(f"void h{number}() {{ v = v + {number + 3}; }}")
        calls.append(f"h{number}();")
    source = os.path.join(WORK, "hostile.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, 'extern "C" void entry() { ' + " ".join(calls) + " }", ""]))
    return oracle_symbols.made_program("hostile-x64", source, "x86_64", ["-O1", "-ftemplate-depth=1000"], [])


def hostile_trace():
    """Stacks through modules and functions of hostile names; the options that name them."""
    program = hostile_program()
    code = [program.at(rva + i) for rva, size, is_code in program.sections if is_code for i in range(0, size, 5)]
    lines, bases = [program.lines()], []
    for number, name in enumerate(HOSTILE_MODULES):
        bases.append(0x7FF500000000 + number * 0x100000)
        lines.append(f"module \\Device\\HarddiskVolume3\\{name} {bases[-1]:x} 10000 5e0a0000\n")
    for number, base in enumerate(bases):
        lines.append(oracle_symbols.memory("alloc", 100 + number, [base + 0x10, bases[number - 1] + 0x20]))
        lines.append(oracle_symbols.memory("freed", 1000 + number, [base + 0x30]))
    for number, address in enumerate(code):
        lines.append(oracle_symbols.memory("alloc", 2000 + number, [address, bases[0] + 0x40]))
    lines.append("alloc 5000\n")
    return oracle_symbols.make_trace("hostile", *lines), ["--symbols", os.path.dirname(program.pdb)]


def export(trace, name, *arguments):
    return run("export", trace, "--format", name, *arguments)


def frame_text(frame):
    if frame["module"] is None:
        return frame["address"] or "outside of modules"
    if frame["symbol"] is None:
        return f"{frame['module']}+{frame['offset']}"
    return f"{frame['module']}!{frame['symbol']}" + (f"+{frame['displacement']}" if frame.get("nearest") else "")


def report_stacks(trace, metric, *arguments):
    """{(kind, "process (pid)", frames from the outermost on): bytes} by the report."""
    types = {"outstanding": ("AIFO", "AOFO"), "total": ("AIFO", "AIFI"), "transient": ("AIFI",)}
    keys = ["--group-by", "kind,process,stack"] if metric == "peak" else []
    report = run_json("report", trace, *arguments, *keys, *(["--at", "peak"] if metric == "peak" else []))
    texts = [frame_text(frame) for frame in report["frames"]]
    sums = {}
    for row in report["rows"]:
        if metric != "peak" and row["type"] not in types[metric]:
            continue
        stack = tuple(texts[i] for i in reversed(report["stacks"][row["stack"]])) if row["stack"] is not None else ()
        key = (row["kind"], f"{row['process']} ({row['pid']})", stack or (NO_STACK,))
        value = row["outstanding_size"] if metric in ("outstanding", "peak") else row["size"]
        if value > 0:
            sums[key] = sums.get(key, 0) + value
    return sums


def cleaned(text):
    """As text is made fit to be shown."""
    return re.sub("[\x00-\x1f\x7f-\x9f]", "\ufffd", text)


def check_folded(results, asked, metric, wanted, label):
    """flamegraph.pl takes the last blank-separated number for the value, and cuts what
    is before it at semicolons."""
    got, wrong = {}, []
    for line in export(asked[0], "folded", "--metric", metric, *asked[1:]).decode("utf-8").splitlines():
        match = re.match(r"^(.*)\s+?(\d+(?:\.\d*)?)$", line)
        frames = match.group(1).split(";") if match else []
        if len(frames) < 3 or not all(frames):
            wrong.append(line)
            continue
        key = (frames[0], frames[1], tuple(frames[2:]))
        got[key] = got.get(key, 0) + int(match.group(2))
    folded = {(kind, cleaned(process), tuple(cleaned(f).replace(";", ":") for f in stack)): value
              for (kind, process, stack), value in wanted.items()}
    results.check(f"{label}: folded: every line is one to flamegraph.pl", not wrong, *wrong[:3])
    results.equal_maps(f"{label}: folded: {len(got)} stacks are the report's", got, folded)


def check_speedscope(results, asked, metric, wanted, label, schema):
    document = json.loads(export(asked[0], "speedscope", "--metric", metric, *asked[1:]))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    got, wrong = {}, []
    for profile in document["profiles"]:
        process, kind = profile["name"].rsplit(": ", 1)
        if sum(profile["weights"]) != profile["endValue"] or len(profile["weights"]) != len(profile["samples"]):
            wrong.append(profile["name"])
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
            key = (kind, process, tuple(names[i] for i in sample))
            got[key] = got.get(key, 0) + weight
    results.check(f"{label}: speedscope: profiles add up", not wrong, *wrong)
    results.equal_maps(f"{label}: speedscope: {len(got)} stacks are the report's", got, wanted)
    profiles = [(profile["name"], profile["unit"]) for profile in document["profiles"]]
    results.check(f"{label}: speedscope: a profile for each kind and process, in bytes",
                  sorted(profiles) == sorted({(f"{p}: {k}", "bytes") for k, p, _ in wanted}), profiles)
    if schema:
        errors = [error.message[:200] for error in schema.iter_errors(document)]
        results.check(f"{label}: speedscope: its schema allows it", not errors, *errors[:3])


def speedscope_schema():
    path = os.path.join(SPEEDSCOPE, "file-format-schema.json")
    try:
        import jsonschema

        with open(path, encoding="utf-8") as file:
            return jsonschema.Draft7Validator(json.load(file))
    except (ImportError, FileNotFoundError):
        print(f"skipped: the schema of speedscope is not at {path}; {HINT}")
        return None


def check_rows(results, trace, label, *arguments):
    """Aggregated csv and ndjson against the JSON report, lifetimes against `allocations`."""
    report = run_json("report", trace, *arguments)
    texts = [frame_text(frame) for frame in report["frames"]]
    lines = [json.loads(line) for line in export(trace, "ndjson", *arguments).splitlines()]
    cells = list(csv.DictReader(io.StringIO(export(trace, "csv", *arguments).decode("utf-8"), newline="")))
    wrong = []
    for row, line, cell in zip(report["rows"], lines, cells, strict=True):
        frames = None if row["stack"] is None else [texts[i] for i in report["stacks"][row["stack"]]]
        if line != {**row, "stack": frames, **site_of(report, row["stack"])}:
            wrong.append(f"{line} is not {row} with {frames}")
        if list(cell) != list(row) or cell["stack"] != " < ".join(frames or []) or \
                any(cell[key] != ("" if row[key] is None else str(row[key])) for key in row if key != "stack"):
            wrong.append(f"{cell} is not {row} with {frames}")
    results.check(f"{label}: csv and ndjson have the report's {len(lines)} rows", not wrong, *wrong[:3])
    for name in ("csv", "ndjson"):
        listed = run("allocations", trace, "--format", name, *arguments)
        results.check(f"{label}: {name} --rows is the list of allocations",
                      export(trace, name, "--rows", *arguments) == listed)


def json_keys(command, document):
    """The keys of the rows that a command's document has, as CSV says them: flat."""
    if command[0] == "windows":
        return ["from_ns", "to_ns", *document["windows"][0]["rows"][0]]
    if "--histogram" in command:
        return list(document["histogram"]["buckets"][0])
    if command[0] == "symbols":
        row = dict(document["modules"][0])
        return [*row, *(f"{kind}_{key}" for kind in ("heap", "virtualalloc", "extent") for key in ("size", "named_size"))]
    return list(document["rows"][0])


def check_names(results, trace, other):
    """CSV, NDJSON and JSON call a column the same; titles come only with --titles."""
    commands = [["report", trace], ["report", trace, "--group-by", "kind,free_type,thread,module,size_class,site"],
                ["report", trace, "--histogram", "size"],
                ["report", trace, "--histogram", "lifetime", "--process", "*", "--group-by", "process"],
                ["allocations", trace], ["windows", trace, "--every", "1s", "--group-by", "kind,heap,stack"],
                ["diff", trace, other], ["diff", trace, other, "--per-second", "--group-by", "type"],
                ["symbols", trace], ["export", trace], ["export", trace, "--rows"]]
    for command in commands:
        is_export = command[0] == "export"
        listing = ["allocations" if "--rows" in command else "report", trace] if is_export else command
        wanted = set(json_keys(listing, run_json(*listing))) - {"sites"}
        plain, titled = [list(csv.reader(io.StringIO(run(*command, "--format", "csv", *more).decode("utf-8"), newline="")))
                         for more in ([], ["--titles"])]
        label = " ".join(command).replace(trace, "A").replace(other, "B")
        results.equal(f"{label}: CSV has the keys of JSON", set(plain[0]), wanted)
        results.check(f"{label}: --titles changes the first line alone", plain[1:] == titled[1:] and len(plain) > 1)
        results.check(f"{label}: titles are for people",
                      len(set(titled[0])) == len(plain[0]) and not set(titled[0]) & set(plain[0]), titled[0])
    for name in ("ndjson", "parquet", "html"):
        done = subprocess.run([ETLHEAP, "export", trace, "--format", name, "--titles"], capture_output=True, check=False)
        results.check(f"--titles is not for {name}", done.returncode == 2 and b"--titles needs --format csv" in done.stderr,
                      done.stderr)


def check_bytes(results, trace, formats, *arguments):
    """The same bytes with any number of threads, from the store, and decompressed."""
    store = trace + ".ehs"
    run("store", trace, "-o", store)
    label = os.path.basename(trace)
    for name in formats:
        first = export(trace, name, "-j1", *arguments)
        wrong = [jobs for jobs in ("-j2", "-j7") if export(trace, name, jobs, *arguments) != first]
        results.check(f"{label}: {name}: -j changes nothing", not wrong, wrong)
        results.check(f"{label}: {name}: the store is exported as its trace",
                      export(store, name, *arguments) == first)
        path = os.path.join(WORK, f"out.{name}")
        run("export", trace, "--format", name, "-o", path, *arguments)
        with open(path, "rb") as file:
            results.check(f"{label}: {name}: -o writes what goes to standard output", file.read() == first)
        if name in TEXT_FORMATS and not arguments and shutil.which("zstd"):
            run("export", trace, "--format", name, "-o", path + ".zst")
            plain = subprocess.run(["zstd", "-dcq", path + ".zst"], capture_output=True, check=False).stdout
            results.check(f"{label}: {name}: -o FILE.zst decompresses to the same", plain == first)
    os.remove(store)


def check_empty(results, trace, schema):
    """What selects nothing is a document without anything in it."""
    nothing = ["--process", "nobody.exe"]
    wrong = [name for name in ("folded", "ndjson") if export(trace, name, *nothing)]
    results.check("nothing selected: no lines", not wrong, wrong)
    results.equal("nothing selected: csv has the names alone", export(trace, "csv", *nothing).count(b"\n"), 1)
    document = json.loads(export(trace, "speedscope", *nothing))
    results.check("nothing selected: speedscope has a profile to show", document["profiles"][0]["weights"] == []
                  and not (schema and list(schema.iter_errors(document))))


def check_failures(results, trace):
    """Nothing is left behind, and it is said in one sentence."""
    folder = os.path.join(WORK, "failures")
    os.makedirs(folder)

    def fails(name, *arguments, status):
        path = os.path.join(folder, "out")
        done = subprocess.run([ETLHEAP, "export", trace, "-o", path, *arguments], capture_output=True, check=False)
        said = done.stderr.decode()
        results.check(f"{name}: status {status}, one sentence, no file",
                      done.returncode == status and said.strip().count("\n") == 0 and said and
                      not os.listdir(folder), done.returncode, said, os.listdir(folder))

    for name in ("dhat", "heaptrack"):
        fails(f"{name}: of two kinds", "--format", name, "--kind", "heap,virtualalloc", status=2)
        fails(f"{name}: without memory for the walk", "--format", name, "--memory", "280K", status=3)
    fails("a metric that a format cannot hold", "--format", "dhat", "--metric", "peak", status=2)
    fails("pprof, which is compressed, with .zst", "--format", "pprof", "-o", os.path.join(folder, "a.zst"), status=2)
    fails("rows where there is no place for them", "--format", "folded", "--rows", status=2)
    if os.path.exists("/dev/full"):
        for name in FORMATS:
            done = subprocess.run([ETLHEAP, "export", trace, "--format", name, "-o", "/dev/full"],
                                  capture_output=True, check=False)
            results.check(f"{name}: a full disk is told", done.returncode == 3 and done.stderr.count(b"\n") == 1,
                          done.returncode, done.stderr)


def main():
    results = Results()
    schema = speedscope_schema()
    traces = made_traces()
    hostile, named = hostile_trace()
    for asked in [*([trace] for trace in traces), [hostile, *named]]:
        name = os.path.basename(asked[0])
        for metric in METRICS:
            wanted = report_stacks(asked[0], metric, *asked[1:])
            check_folded(results, asked, metric, wanted, f"{name}: {metric}")
            check_speedscope(results, asked, metric, wanted, f"{name}: {metric}", schema)
        check_rows(results, asked[0], name, *asked[1:])
    names = " ".join(name for _, _, stack in report_stacks(hostile, "total", *named) for name in stack)
    results.check("hostile names are there", all(text in names for text in (
        "semi;colon <&\"'> 12", "two\nlines\r\ttab", "\033[31mred\001", "%s%n\\ {}", "x" * 4000, "list<" * 300)),
        len(names), names[:2000])
    check_rows(results, traces[1], "a window", "--from", "2ms", "--to", "40ms", "--kind", "heap")
    check_bytes(results, traces[1], FORMATS)
    check_bytes(results, traces[0], ["folded", "speedscope"], "--metric", "peak", "--from", "1s")
    check_bytes(results, traces[0], ["csv", "ndjson"], "--rows", "--kind", "heap")
    check_names(results, traces[0], traces[1])
    check_empty(results, traces[0], schema)
    check_failures(results, traces[0])
    results.finish()


if __name__ == "__main__":
    main()
