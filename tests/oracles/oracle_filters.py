#!/usr/bin/env python3
"""What a filter did not find is told on stderr, with what there is instead.

Each row runs a command on the demo trace and names what its notes must say; commands that
find something must have no note. Output and exit status must be as without the notes: an
empty answer is no error.
"""

import os
import subprocess

from oracle_support import ETLHEAP, WORK, Results

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
PLAIN = ["--no-symbols"]
WITHOUT = ("dump", "symbols")  # commands that have no --no-symbols
LIMIT = ["--max-outstanding", "1G"]

# Command, filters, and what the notes say, one text each.
ROWS = [
    ("report", ["--process", "nosuch"], [
        "--process 'nosuch' matches no process in the trace; the processes with most memory events are BatteryMeter.exe"]),
    ("report", ["--process", "Battery"], ["--process 'Battery' matches no process", "did you mean BatteryMeter.exe?"]),
    ("report", ["--process", "BateryMetr.exe"], ["did you mean BatteryMeter.exe?"]),
    ("report", ["--process", "batterymeter,77"], ["--process '77' matches no process in the trace"]),
    ("report", ["--process", ",".join(f"nosuch{i}" for i in range(25))], [
        "--process 'nosuch19' matches no process in the trace; the", "5 more words of --process match no process in the trace"]),
    ("report", ["--heap", "0x1"], ["--heap selects nothing; the largest heaps are 0x1c0a5f70000 of BatteryMeter.exe"]),
    ("report", ["--kind", "extent", "--size", "7T.."], ["--size selects nothing"]),
    ("report", ["--size", "1G.."], ["--size selects nothing"]),
    ("report", ["--custom-heap", "0d1ce000-5a5a-4b4b-8c8c-102030405060:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64)"],
     ["--custom-heap matches no event in the trace; etlheap info lists the providers"]),
    ("report", ["--type", "AOFO"], ["--type selects nothing; there is AIFO, AIFI"]),
    ("report", ["--process", "battery*", "--thread", "nobody"],
     ["--thread selects nothing; the threads with most memory are 6484, 7012, 6488"]),
    ("report", ["--thread", "99999"], ["--thread selects nothing; the threads with most memory are 4132, 6484, 7012"]),
    ("report", ["--from", "100s"], ["the window begins after the last event of the trace, which lasts from 0 s to "]),
    ("report", ["--require-frame", "kernel32.dll"], [
        "names a function, which needs --symbols", "to name a module, write 'kernel32.dll!'",
        "--require-frame selects nothing: no stack has a matching frame"]),
    ("report", ["--require-frame", "app.exe!grow"], ["--require-frame 'app.exe!grow' names a function"]),
    ("report", ["--exclude-frame", "kernel32.dll"], ["--exclude-frame 'kernel32.dll' names a function, which needs --symbols"]),
    ("report", ["--exclude-frame", "kernel32!"], ["--exclude-frame selects nothing: every stack has a matching frame"]),
    ("report", ["--fold-module", "nosuch", "--fold-module", "ntdll"], ["--fold-module 'nosuch' matches no module in the trace"]),
    ("report", ["--cull-frame", "my_malloc"], ["--cull-frame 'my_malloc' names a function"]),
    ("report", ["--process", "MemoryTestApp", "--heap", "0x1c0a7f70000"], [
        "every filter selects something, but nothing passes all of them: --process, --heap"]),
    ("allocations", ["--address", "0x3"], ["--address selects nothing: no block contains this address"]),
    ("allocations", ["--process", "nosuch"], ["--process 'nosuch' matches no process"]),
    ("windows", ["--process", "nosuch"], ["--process 'nosuch' matches no process"]),
    ("export", ["--format", "folded", "--process", "nosuch"], ["--process 'nosuch' matches no process"]),
    ("check", [*LIMIT, "--size", "1G.."], ["--size selects nothing"]),
    ("check", [*LIMIT, "--heap", "0x1"], ["--heap selects nothing; the largest heaps are 0x1c0a5f70000 of BatteryMeter.exe"]),
    ("check", [*LIMIT, "--from", "100s"], ["the window begins after the last event of the trace"]),
    ("check", [*LIMIT, "--require-frame", "app.exe!grow"], ["--require-frame 'app.exe!grow' names a function",
                                                            "--require-frame selects nothing"]),
    ("check", [*LIMIT, "--process", "nosuch", "--allow-empty"], [
        "--process 'nosuch' matches no process in the trace; the processes with most memory events are BatteryMeter.exe"]),
    ("symbols", ["--process", "Battery"], ["--process 'Battery' matches no process", "did you mean BatteryMeter.exe?"]),
    ("symbols", ["--heap", "0x1"], ["--heap selects nothing; the largest heaps are 0x1c0a5f70000 of BatteryMeter.exe"]),
    ("symbols", ["--from", "100s"], ["the window begins after the last event of the trace"]),
    ("symbols", ["--size", "1G.."], ["--size selects nothing"]),
    ("dump", ["--events", "Heap/Aloc"], ["--events 'Heap/Aloc' matches no event in the trace; did you mean Heap/Alloc"]),
    ("dump", ["--events", "0x7777"], ["--events '0x7777' matches no event", "the most frequent are ", "etlheap info"]),
    ("dump", ["--process", "nosuch"], ["--process 'nosuch' matches no process"]),
    ("dump", ["--from", "900s"], ["the window begins after the last event"]),
]

# What finds something has nothing to note.
QUIET = [
    ("report", ["--process", "batterymeter"]),
    ("report", ["--process", "BatteryMeter.exe,6480"]),
    ("report", ["--process", "*meter"]),
    ("report", ["--kind", "heap", "--size", "1..", "--type", "AIFO"]),
    ("report", ["--require-frame", "kernel32!"]),
    ("report", ["--exclude-frame", "memorytestapp!", "--fold-module", "kernel32!"]),
    ("allocations", ["--top", "1"]),
    ("check", [*LIMIT, "--process", "batterymeter", "--size", "1.."]),
    ("symbols", ["--process", "batterymeter"]),
    ("dump", ["--events", "Heap/*", "--process", "BatteryMeter"]),
]


def ask(command, trace, options):
    plain = [] if command in WITHOUT else PLAIN
    return subprocess.run([ETLHEAP, command, trace, *plain, *options], capture_output=True, check=False, text=True)


def check_rows(results, trace):
    for command, options, wanted in ROWS:
        done = ask(command, trace, options)
        name = f"{command} {' '.join(options)}"
        lines = done.stderr.splitlines()
        missing = [text for text in wanted if text not in done.stderr]
        good = not missing and done.returncode == 0 and all(line.startswith("etlheap: note: ") for line in lines)
        results.check(name, good, f"status {done.returncode}", f"not said: {missing}", done.stderr)
        results.equal(f"{name}: each note once", len(set(lines)), len(lines))


def check_quiet(results, trace):
    for command, options in QUIET:
        done = ask(command, trace, options)
        results.check(f"{command} {' '.join(options)}: no notes", done.stderr == "" and done.returncode == 0, done.stderr)


def check_lists(results, trace):
    """A list selects what its names select one by one, with the extension or without."""
    def rows(*options):
        return ask("report", trace, ["--format", "csv", *options]).stdout

    both = rows("--process", "BatteryMeter.exe", "--process", "MemoryTestApp.exe")
    results.check("the demo has both processes", "BatteryMeter" in both and "MemoryTestApp" in both, both[:300])
    results.equal("a list is the option repeated", rows("--process", "BatteryMeter.exe,MemoryTestApp.exe"), both)
    results.equal("names go without .exe, in any case", rows("--process", "batterymeter,MEMORYTESTAPP"), both)
    empty = ask("report", trace, ["--process", "a,,b"])
    results.check("an empty name is refused", empty.returncode == 2 and "not a list of names" in empty.stderr, empty.stderr)


def check_unmeasured(results, trace):
    """A check that measured nothing names the processes itself: a note is for a slip alone."""
    for word, notes in (("Battery", ["did you mean BatteryMeter.exe?"]), ("nosuch", [])):
        done = ask("check", trace, [*LIMIT, "--process", word])
        said = done.stderr.splitlines()
        of_notes = [line for line in said if line.startswith("etlheap: note: ")]
        results.check(f"check of {word}: fails, and says so once", done.returncode == 1 and len(said) == len(of_notes) + 1
                      and "nothing was measured: " in said[-1], done.stderr)
        results.check(f"check of {word}: {len(notes)} notes", len(of_notes) == len(notes)
                      and all(text in line for text, line in zip(notes, of_notes)), done.stderr)


def check_nameless(results, trace):
    """A text report says once that stacks have no names, unless the user chose so."""
    environment = {key: value for key, value in os.environ.items() if key != "_NT_SYMBOL_PATH"}
    for options, wanted in (([], 1), (["--no-symbols"], 0), (["--format", "json"], 0), (["--symbols", WORK], 0),
                            (["--kind", "extent", "--size", "7T.."], 0)):
        done = subprocess.run([ETLHEAP, "report", trace, *options], capture_output=True, check=False, text=True,
                              env=environment)
        said = done.stderr.count("no function names: give --symbols FOLDER")
        results.equal(f"report {' '.join(options)}: said that there are no function names", said, wanted)


def main():
    results = Results()
    trace = os.path.join(WORK, "filters.etl")
    subprocess.run([MAKE_TRACE, "demo", trace], check=True, stdout=subprocess.DEVNULL)
    check_rows(results, trace)
    check_quiet(results, trace)
    check_lists(results, trace)
    check_unmeasured(results, trace)
    check_nameless(results, trace)
    results.finish()


if __name__ == "__main__":
    main()
