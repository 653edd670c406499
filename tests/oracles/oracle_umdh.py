#!/usr/bin/env python3
"""One log of UMDH asked what a trace is asked.

The real logs beside TRACES are read here line by line: blocks, heaps, sizes, and the stack of
each backtrace, whose addresses are put into the modules that the log lists. Reports, lists of
blocks and exports of the log must say the same; the growth that `check` finds over the earlier
log must be the one that UMDH's own comparison states. Names of functions must be those that a
trace of the same program and stacks has, whose names oracle_symbols compares with LLVM's.
"""

import csv
import glob
import gzip
import io
import json
import os
import random
import re
import shutil
import subprocess

import oracle_symbols
from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json
from page_data import read_page

PLAIN = ["--no-cull", "--no-symbols"]


class Log:
    """What the lines of a log say."""

    def __init__(self, path):
        self.modules, self.blocks, self.stacks = [], [], {}
        heap, last = None, None
        with open(path, encoding="latin-1") as file:
            for line in file.read().splitlines():
                if found := re.match(r"//\s+([0-9A-F]+)\s+([0-9A-F]+) .*\\([^\\]+)$", line):
                    self.modules.append((int(found[1], 16), int(found[2], 16), found[3]))
                elif found := re.search(r"(?:Start of data for heap @|Heap) ([0-9A-F]+)(?: Hogs)?", line):
                    heap = int(found[1], 16)
                elif found := re.match(r"([0-9A-F]+) bytes \+ [0-9A-F]+ at ([0-9A-F]+) by BackTrace([0-9A-F]+)$", line):
                    last = found[3]
                    self.blocks.append((heap, int(found[2], 16), int(found[1], 16), last))
                elif heap is not None and (found := re.match(r"\t([0-9A-F]+)$", line)):
                    self.stacks.setdefault(last, []).append(self.place(int(found[1], 16)))

    def place(self, address):
        for base, size, name in self.modules:
            if base <= address < base + size:
                return f"{name}+{address - base:#x}".lower()
        return f"{address:#x}"

    def stack(self, backtrace):
        return tuple(self.stacks.get(backtrace, ()))


def sums_of(rows):
    sums = {}
    for key, size in rows:
        before = sums.get(key, (0, 0))
        sums[key] = (before[0] + 1, before[1] + size)
    return sums


def place_of(frame):
    return f"{frame['module']}+{frame['offset']}".lower() if frame["module"] else frame["address"]


def check_log(results, path):
    name = os.path.basename(path)
    log = Log(path)
    results.check(f"{name}: there are blocks", len(log.blocks) > 1000)
    report = run_json("report", path, *PLAIN, "--group-by", "kind,process,heap,type,stack")
    places = [place_of(frame) for frame in report["frames"]]
    stacks = [tuple(places[i] for i in stack) for stack in report["stacks"]]
    got = {
        (int(row["heap"], 16), () if row["stack"] is None else stacks[row["stack"]]):
            (row["outstanding_count"], row["outstanding_size"]) for row in report["rows"]
    }
    wanted = sums_of(((heap, log.stack(trace)), size) for heap, _, size, trace in log.blocks)
    results.equal_maps(f"{name}: {len(wanted)} rows by heap and stack", got, wanted)
    results.equal(f"{name}: process and type", {(r["process"], r["pid"], r["type"]) for r in report["rows"]},
                  {("BatteryMeter.exe", 6424, "AOFO")})
    rows = csv.DictReader(io.StringIO(run("allocations", path, "--format", "csv", "--no-symbols").decode()))
    results.equal(f"{name}: every block is listed",
                  sorted((int(r["heap"], 16), int(r["address"], 16), int(r["size"])) for r in rows),
                  sorted(block[:3] for block in log.blocks))
    address = log.blocks[7][1]
    there = run_json("allocations", path, "--address", f"{address:#x}")["rows"]
    results.check(f"{name}: --address finds a block", address in [int(row["address"], 16) for row in there], there)
    folded = run("export", path, "--format", "folded", *PLAIN).decode().splitlines()
    results.equal(f"{name}: folded stacks add up", sum(int(line.rsplit(" ", 1)[1]) for line in folded),
                  sum(block[2] for block in log.blocks))
    one = run_json("report", path, *PLAIN, "--heap", f"{log.blocks[0][0]:#x}", "--size", "64..")
    results.equal(f"{name}: filters select", sum(row["outstanding_count"] for row in one["rows"]),
                  sum(block[0] == log.blocks[0][0] and block[2] >= 64 for block in log.blocks))


def check_bare(results, path):
    """A log that a script wrote for UMDH: no head, titles in place of heaps."""
    name = os.path.basename(path)
    log = Log(path)
    report = run_json("report", path, *PLAIN, "--group-by", "kind,process,heap,stack")
    places = [place_of(frame) for frame in report["frames"]]
    got = sorted(([places[i] for i in report["stacks"][row["stack"]]], row["outstanding_size"]) for row in report["rows"])
    results.equal(f"{name}: its blocks with their stacks", got, sorted((list(log.stack(b[3])), b[2]) for b in log.blocks))
    results.equal(f"{name}: nor does JSON", report["trace"]["start_time"], None)
    head = run("report", path, "--no-symbols").decode().splitlines()[0]
    results.check(f"{name}: it says neither when nor for how long", head.endswith(", recorded at an unknown time"), head)
    results.check(f"{name}: there are modules in them", len(got) == 2 and got[0][0][0].startswith("verifier.dll+"), got)
    results.equal(f"{name}: the process is the first module", {row["process"] for row in report["rows"]}, {log.modules[0][2]})
    results.equal(f"{name}: compared with itself nothing changed", run_json("diff", path, path)["rows"], [])


def check_gate(results, path):
    """Growth over the earlier log, against the total of UMDH's own comparison."""
    first, second = (path.replace("Result", word) for word in ("FirstDump", "SecondDump"))
    with open(path, encoding="latin-1") as file:
        grown = int(re.search(r"Total increase == *([0-9a-f]+) requested", file.read())[1], 16)
    for limit, status in ((grown, 0), (grown - 1, 1)):
        done = subprocess.run([ETLHEAP, "check", second, "--no-symbols", "--baseline", first, "--max-growth",
                               f"total:{limit}"], capture_output=True, check=False)
        results.equal(f"check: growth by UMDH's {grown} bytes, limit {limit}", done.returncode, status)


def check_comparison(results, path):
    """UMDH's own comparison file, read back: it must say what the file says, frame by frame."""
    with open(path, encoding="latin-1") as file:
        lines = file.read().splitlines()
    wanted, names, current = {}, {}, None
    for line in lines:
        if found := re.match(r"([+-]) *([0-9a-f]+) \( *([0-9a-f]+) - *([0-9a-f]+)\) *([0-9a-f]+) allocs\tBackTrace(\w+)$", line):
            current = found[6]
            wanted[current] = [int(found[3], 16), int(found[4], 16), int(found[5], 16)]
        elif found := re.match(r"[+-] *[0-9a-f]+ \( *([0-9a-f]+) - *([0-9a-f]+)\)\tBackTrace(\w+)\tallocations$", line):
            wanted[found[3]].append(int(found[2], 16))
        elif current and (found := re.match(r"\t(\w+)!(.+)\+([0-9A-F]{8})(?: \((.*), (\d+)\))?$", line)):
            names.setdefault(current, []).append((found[1], found[2], found[4], int(found[5]) if found[5] else None))
    name = os.path.basename(path)
    document = run_json("diff", path)
    got = {row["backtrace"].removeprefix("BackTrace"):
           [row["new_outstanding_size"], row["base_outstanding_size"], row["new_outstanding_count"],
            row["base_outstanding_count"]] for row in document["rows"]}
    results.check(f"{name}: it has rows and frames", len(wanted) > 2 and len(names) == len(wanted))
    results.equal(f"{name}: {len(wanted)} rows are the file's", got, wanted)
    frames = [(f["module"], f["symbol"], f["file"], f["line"]) for f in document["frames"]]
    results.equal(f"{name}: so are all frames",
                  {row["backtrace"].removeprefix("BackTrace"): [frames[i] for i in document["stacks"][row["stack"]]]
                   for row in document["rows"]}, names)
    total = [line for line in run("diff", path).decode().splitlines() if line.startswith("Total ")]
    results.equal(f"{name}: and the total", total, [line for line in lines if line.startswith("Total ")])
    results.equal(f"{name}: the process is the program", {row["process"] for row in document["rows"]}, {"BatteryMeter"})
    wide = os.path.join(WORK, "comparison-utf16.txt")
    with open(wide, "wb") as file:
        file.write(b"\xff\xfe" + "\r\n".join(lines).encode("utf-16-le"))
    results.equal(f"{name}: PowerShell's form is read too", run_json("diff", wide)["rows"], document["rows"])
    done = subprocess.run([ETLHEAP, "report", path], capture_output=True, check=False, text=True)
    results.check(f"{name}: other commands point to diff", done.returncode == 2 and "etlheap diff FILE" in done.stderr,
                  done.stderr)
    decimal = os.path.join(WORK, "comparison-decimal.txt")
    with open(decimal, "w", encoding="latin-1") as file:
        file.write("\n".join(re.sub(r"^\+ .*allocs.*$", "+  75 ( 150 - 75) 3 allocs\tBackTrace1", line) for line in lines))
    done = subprocess.run([ETLHEAP, "diff", decimal], capture_output=True, check=False, text=True)
    results.check(f"{name}: decimal numbers are refused", done.returncode == 3 and "without -d" in done.stderr, done.stderr)


def made_log(program, addresses, name):
    """A log of two blocks for each stack, as UMDH would write it of the program."""
    lines = ["// UMDH: version 10.0.1: Logtime 2024-02-29 12:26 - Machine=BOX - PID=77", "// Loaded modules:",
             "//     Base Size Module", f"//  {program.base:X} {program.size:X} C:\\app\\{program.name}", "//", "",
             "*- - - - Start of data for heap @ 1F0000 - - - -"]
    for number, stack in enumerate(addresses):
        lines += [f"10 bytes + 8 at {0x1000 + 64 * number:X} by BackTrace{number + 1:X}"]
        lines += [f"\t{address:X}" for address in stack]
        lines += ["", f"20 bytes + 8 at {0x100000 + 64 * number:X} by BackTrace{number + 1:X}", ""]
    lines += ["*- - - - End of data for heap @ 1F0000 - - - -", ""]
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines))
    return path


def named_stacks(document):
    texts = [(f["module"], f["symbol"], f["file"], f["line"]) for f in document["frames"]]
    return sorted(str([texts[i] for i in document["stacks"][row["stack"]]]) for row in document["rows"])


def check_names(results):
    program = oracle_symbols.made_program("inline-x64", "sample_inline.cpp", "x86_64", ["-O2"], [])
    code = [rva + i for rva, size, is_code in program.sections if is_code for i in range(0, size, 7)]
    chosen = random.Random(3)
    stacks = [[program.at(rva) for rva in chosen.sample(code, 4)] for _ in range(40)]
    trace = oracle_symbols.make_trace(
        "umdh", program.lines(), *(oracle_symbols.memory("alloc", 16, stack) for stack in stacks))
    log = made_log(program, stacks, "made-log.txt")
    folder = os.path.join(WORK, "umdh-symbols")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(program.exe, folder)
    shutil.copy(program.pdb, os.path.join(folder, program.pdb_file))
    asked = ["--no-cull", "--group-by", "kind,stack", "--symbols", folder]
    wanted = named_stacks(run_json("report", trace, *asked))
    results.check("the trace has names", sum("None, None" not in text for text in wanted) > 10, wanted[:2])
    results.equal("a log has the names of its program file's PDB", named_stacks(run_json("report", log, *asked)), wanted)
    text = run("diff", log, made_log(program, stacks[:20], "made-half.txt"), "--symbols", folder).decode()
    whole = json.loads(run("diff", log, log, "--all", "--format", "json", "--symbols", folder))
    functions = [frame["symbol"] for frame in whole["frames"]]
    results.check("diff of logs names frames", sum(map(bool, functions)) > 10, functions[:5])
    results.check("and writes them as UMDH does", all(f"\t{program.name}!{f}" in text for f in functions[-3:] if f),
                  text[:300])
    results.equal("without symbols they are offsets", [f["symbol"] for f in run_json("diff", log, log, "--all")["frames"]
                                                        if f["symbol"]], [])
    os.remove(os.path.join(folder, program.name))
    if os.path.splitext(program.pdb_file)[0] == os.path.splitext(program.name)[0]:
        strict = run_json("report", log, *asked)
        results.equal("a PDB alone does not say that it is the right one",
                      [f["symbol"] for f in strict["frames"] if f["symbol"]], [])
        results.equal("--symbols-loose takes it", named_stacks(run_json("report", log, *asked, "--symbols-loose")), wanted)
    with open(os.path.join(folder, program.name), "wb") as file:
        file.write(b"MZ")
    results.equal("a file that is no program names nothing",
                  [f["symbol"] for f in run_json("report", log, *asked)["frames"] if f["symbol"]], [])


def check_errors(results, log):
    trace = os.path.join(WORK, "umdh-demo.etl")
    subprocess.run([os.environ.get("MAKE_TRACE", "build/check/make_trace"), "demo", trace], check=True,
                   stdout=subprocess.DEVNULL)
    for name, status, word, *arguments in (
            ("dump", 3, "has no trace records", "dump", log),
            ("store", 2, "has no trace records", "store", log, "-o", os.path.join(WORK, "umdh.ehs")),
            ("two logs", 2, "to compare two, use diff", "report", log, log.replace("First", "Second")),
            ("a log and a trace", 2, "only one UMDH log can be read", "report", trace, log),
            ("peaks", 2, "peaks and allocations are not known", "check", log, "--max-peak", "1G"),
            ("a baseline to update", 2, "cannot become a store", "check", log, "--max-growth", "64K",
             "--baseline", os.path.join(WORK, "none.ehs"), "--update-baseline"),
    ):
        done = subprocess.run([ETLHEAP, *arguments], capture_output=True, check=False, text=True)
        results.check(f"{name}: refused in a sentence", done.returncode == status and word in done.stderr
                      and done.stderr.count("\n") == 1 and not done.stdout, done.returncode, done.stderr)
    packed = os.path.join(WORK, "umdh-log.txt.gz")
    with open(log, "rb") as file, gzip.open(packed, "wb") as copy:
        copy.write(file.read())
    done = subprocess.run([ETLHEAP, "store", log, packed, "--out-dir", os.path.join(WORK, "umdh-stores")],
                          capture_output=True, check=False, text=True)
    results.equal("store --out-dir: a log and a packed one are refused alike", done.stderr.count("has no trace records"), 2)


TIME_OPTIONS = {
    "--from": ("5s", "report allocations windows check export symbols trend diff"),
    "--to": ("5s", "report allocations windows check export symbols trend diff"),
    "--lifetime": ("1s..", "report allocations windows check export trend diff"),
    "--at": ("5s", "report windows"), "--window": ("1s..2s", "windows"), "--every": ("1s", "windows"),
    "--find-growth": (None, "windows"), "--find-spikes": (None, "windows"), "--growth": (None, "report"),
    "--churn": (None, "report export diff"), "--per-second": (None, "diff"),
}
INPUTS = {"diff": 2, "trend": 3}
NEEDED = {"check": ["--max-outstanding", "1G"], "export": ["--format", "csv"]}


def check_times(results, log):
    """Options about times are refused by name, by every command that has them, in one sentence."""
    logs = [log]
    for number in (1, 2):
        logs.append(os.path.join(WORK, f"umdh-again-{number}.txt"))
        with open(log, "rb") as file, open(logs[-1], "wb") as copy:
            copy.write(file.read())
    sentences = set()
    for option, (value, commands) in TIME_OPTIONS.items():
        for command in commands.split():
            arguments = [command, *logs[:INPUTS.get(command, 1)], option, *([value] if value else []),
                         *NEEDED.get(command, [])]
            done = subprocess.run([ETLHEAP, *arguments], capture_output=True, check=False, text=True)
            results.check(f"{command} {option}: refused by name", done.returncode == 2 and option in done.stderr
                          and not done.stdout, done.returncode, done.stderr)
            sentences.add(done.stderr.replace(option + " ", "OPTION "))
    results.equal("in one sentence", len(sentences), 1)
    for arguments in (["report"], ["windows"], ["report", "--size", "1..", "--type", "AOFO"]):
        done = subprocess.run([ETLHEAP, *arguments, log], capture_output=True, check=False, text=True)
        results.equal(f"{' '.join(arguments)}: other questions are answered", done.returncode, 0)


def check_strict(results):
    """Lines of unknown form are told, and are status 4 with --strict."""
    odd = os.path.join(WORK, "umdh-odd.txt")
    with open(odd, "w", encoding="ascii") as file:
        file.write("// UMDH: version 6.1\n*- Start of data for heap @ 1 -\n1 bytes + 1 at 1 by BackTrace1\n"
                   "something else\n*- End of data for heap @ 1 -\n")
    for options, status in (((), 0), (("--strict",), 4)):
        done = subprocess.run([ETLHEAP, "report", odd, *options], capture_output=True, check=False, text=True)
        results.check(f"report of a log with an odd line {' '.join(options)}", done.returncode == status
                      and "snapshot_lines_skipped" in done.stdout, done.returncode, done.stdout, done.stderr)


LOG = """// UMDH: version 10.0.26100.1: Logtime 2025-03-04 11:22 - Machine=PC - PID=1234
// Loaded modules:
//     Base Size Module
//     7FF690530000    7C000 C:\\x\\é日.exe

*- - - - - - - - - - Start of data for heap @ 206edda0000 - - - - - - - - - -
30 bytes + 10 at 206EDDA1000 by BackTrace1A
\t7FF690531A74

*- - - - - - - - - - End of data for heap @ 206edda0000 - - - - - - - - - -
"""
ENCODINGS = {"utf-8": "", "utf-8-sig": "", "utf-16-le": "\ufeff", "utf-16-be": "\ufeff", "utf-16-le ": "", "utf-16-be ": ""}


def asked(*arguments, stdin=b""):
    done = subprocess.run([ETLHEAP, *arguments], input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check_encodings(results):
    """One log in each encoding, with and without a mark, by name, packed and from a pipe."""
    answers = set()
    for encoding, mark in ENCODINGS.items():
        path = os.path.join(WORK, "umdh-encoded.txt")
        content = (mark + LOG.replace("\n", "\r\n")).encode(encoding.strip())
        with open(path, "wb") as file:
            file.write(content)
        with open(path + ".gz", "wb") as file:
            file.write(gzip.compress(content))
        for name in (path, path + ".gz", "-"):
            status, text, said = asked("report", name, "--format", "json", *PLAIN, stdin=content)
            results.equal(f"a log in {encoding or 'UTF-8'}, {os.path.basename(name)}", status, 0)
            answers.add(text.replace(json.dumps(name), "LOG") if status == 0 else said)
    results.equal("all have one answer", len(answers), 1)
    document = json.loads(answers.pop().replace("LOG", "0"))
    results.equal("with the name", [row["process"] for row in document["rows"]], ["é日.exe"])
    results.equal("local time has no Z", document["trace"]["start_time"], "2025-03-04T11:22:00.000000000")
    results.equal("a moment has no window", document["window"], {"from_ns": None, "to_ns": None})
    for command in ("report", "info"):
        text = asked(command, path)[1]
        results.check(f"{command}: local time", "2025-03-04T11:22:00" in text and "local time" in text and "00Z" not in text)
    page = os.path.join(WORK, "umdh.html")
    run("export", path, "--format", "html", "-o", page, "--no-symbols")
    results.equal("a page of a log knows that it is of one moment", read_page(page)["cells"]["window"]["is_moment"], True)
    twice = os.path.join(WORK, "umdh-twice.txt")
    with open(twice, "w", encoding="utf-8") as file:
        file.write(LOG + LOG.replace("1234", "99"))
    status, _, said = asked("report", twice)
    results.check("two logs in one file are refused", status == 3 and "line 11: another log begins here" in said, status, said)
    status, _, said = asked("store", "-", "-o", os.path.join(WORK, "umdh.ehs"), stdin=LOG.encode())
    results.check("a log is no trace to store, from a pipe, too", status == 2 and said.startswith("etlheap: -: a UMDH log has no"), status, said)


def check_reported(results):
    """What users had, and what they were told."""
    folder = os.path.join(TRACES, "..", "traces-reports", "14-umdh-encodings")
    if not os.path.isdir(folder):
        return results.skip("logs that users reported", "traces-reports is not here")
    sizes = {name: run_json("report", os.path.join(folder, name), *PLAIN)["rows"][0]["size"]
             for name in os.listdir(folder) if name.endswith(".txt") and "two" not in name}
    results.equal("logs that users reported", set(sizes.values()), {48})
    results.equal("and two in one", asked("report", os.path.join(folder, "two_logs_in_one.txt"))[0], 3)


def main():
    results = Results()
    check_encodings(results)
    check_reported(results)
    found = sorted(glob.glob(os.path.join(TRACES, "..", "umdh", "*.Result.txt")))
    for path in found:
        for word in ("FirstDump", "SecondDump"):
            check_log(results, path.replace("Result", word))
        check_gate(results, path)
        check_comparison(results, path)
        check_errors(results, path.replace("Result", "FirstDump"))
        check_times(results, path.replace("Result", "FirstDump"))
    for path in sorted(glob.glob(os.path.join(TRACES, "..", "umdh", "*decimal*.txt"))):
        check_bare(results, path)
    if not found:
        results.skip("real logs of UMDH", "there is no folder umdh beside the real traces; set TRACES")
    check_names(results)
    check_strict(results)
    results.finish()


if __name__ == "__main__":
    main()
