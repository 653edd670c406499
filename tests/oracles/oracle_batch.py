#!/usr/bin/env python3
"""Stores many traces with --out-dir, and holds what comes of it against what must.

The store of each input must be the bytes that `store INPUT -o FILE` writes, whatever -j;
the index must say what the file system, `info` and xxhsum say of them, in the order of
the inputs. Then batches are interrupted, killed, starved of disk space and of single
system calls, and run again: the same bytes must come out, and nothing that is done may
be done again, unless anything that it depends on has changed.
"""

import fcntl
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
import time
import zipfile

import oracle_support
from oracle_support import LONG, WORK, Results, run, run_json

# All paths but these are of the folder it works in.
ETLHEAP = oracle_support.ETLHEAP = os.path.abspath(oracle_support.ETLHEAP)
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/make_trace"))
OUT = os.environ.get("OUT", "build/check")
FAULTS = os.path.abspath(os.path.join(OUT, "fault_program"))
# Of a run, not of what was made.
VOLATILE = ("duration_ns", "peak_memory_bytes", "input_stamp", "output_stamp")
RELIABLE_SECONDS = 4  # stamps of older inputs are relied on
FAULT_RUNS = int(os.environ.get("FAULT_RUNS", "500" if LONG else "5"))

results = Results()


def make(path, seed, events, *options):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    subprocess.run([MAKE_TRACE, "workload", path, "--seed", str(seed), "--events", str(events),
                    "--buffer-bytes", "8192", "--cpus", "2", *options],
                   check=True, stdout=subprocess.DEVNULL)


def batch(*arguments, program=ETLHEAP, **more):
    """Status and what was said."""
    done = subprocess.run([program, "store", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, **more)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def index_of(folder):
    with open(os.path.join(folder, "runs.ndjson"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def steady(rows, *more):
    """What must be the same in every run."""
    return [{k: v for k, v in row.items() if k not in VOLATILE + more} for row in rows]


def stores_of(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "*.ehs"), recursive=True):
        with open(path, "rb") as file:
            found[os.path.relpath(path, folder)] = file.read()
    return found


def leftovers(folder):
    found = []
    for place, _, names in os.walk(folder):
        found += [os.path.join(place, n) for n in names if not n.endswith((".ehs", "runs.ndjson"))]
    return found


def fresh(name):
    shutil.rmtree(name, ignore_errors=True)
    return name


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


# --- the inputs ------------------------------------------------------------------------

GOOD = ["one.etl", "tree/b.etl", "tree/deep/a.etl", "tree/z.ETL", "zipped.etl.zip", "keys.etl"]
BAD = ["empty.etl", "text.etl", "missing.etl", "pipe.etl"]


def make_inputs():
    make("one.etl", 1, 300)
    make("tree/b.etl", 2, 500)
    make("tree/deep/a.etl", 3, 100)
    make("tree/z.ETL", 4, 200, "--compress")
    make("inner.etl", 5, 250)
    make("keys.etl", 6, 700, "--keys", "--compress")
    with zipfile.ZipFile("zipped.etl.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write("inner.etl", "inner.etl")
    write("cut.etl", read("one.etl")[:-3000])
    write("empty.etl", b"")
    write("text.etl", b"no trace, but text\n" * 100)
    os.mkfifo("pipe.etl")


def given(bad=True):
    return ["one.etl", "tree", "zipped.etl.zip", "cut.etl", "keys.etl"] + (BAD if bad else [])


ORDER = ["one.etl", "tree/b.etl", "tree/deep/a.etl", "tree/z.ETL", "zipped.etl.zip", "cut.etl",
         "keys.etl"]
OUTPUTS = ["one.ehs", "b.ehs", "deep/a.ehs", "z.ehs", "zipped.ehs", "cut.ehs", "keys.ehs"]


# --- what is written ---------------------------------------------------------------------

def check_against_single(folder, *options):
    wanted = {}
    for file, output in zip(ORDER, OUTPUTS):
        run("store", file, "-o", "single.ehs", *options)
        wanted[output] = read("single.ehs")
    got = stores_of(folder)
    results.equal(f"{folder}: each input has its store", sorted(got), sorted(wanted))
    results.equal(f"{folder}: stores are what `store -o` writes {' '.join(options)}",
                  [name for name in got if got[name] != wanted.get(name)], [])


def check_rows(rows):
    results.equal("the index is in the order of the inputs", [row["file"] for row in rows],
                  ORDER + BAD)
    results.equal("outputs are named after inputs", [row["output"] for row in rows],
                  OUTPUTS + [None] * len(BAD))
    results.equal("bad inputs fail, others do not",
                  [row["verdict"] == "failed" for row in rows], [False] * len(ORDER) + [True] * 4)
    results.equal("every failure has a sentence", [bool(row["error"]) for row in rows],
                  [row["verdict"] == "failed" for row in rows])
    for row in rows[:len(ORDER)]:
        info = run_json("info", row["file"])
        wanted = {"trace": info["trace"], "input_bytes": os.path.getsize(row["file"]),
                  "output_bytes": os.path.getsize(os.path.join("j1", row["output"])),
                  "schema": "etlheap-run-1", "skipped_unchanged": False}
        results.equal(f"the row of {row['file']} says what info says",
                      {key: row[key] for key in wanted}, wanted)
        severities = {d["severity"] for d in row["diagnostics"]}
        verdict = ("damaged" if "damage" in severities
                   else "lost_events" if "loss" in severities else "stored")
        results.equal(f"the verdict on {row['file']} follows from its diagnostics",
                      row["verdict"], verdict)
    if shutil.which("xxhsum"):
        for row in rows[:len(ORDER)]:
            for path, key in ((row["file"], "input_hash"),
                              (os.path.join("j1", row["output"]), "output_hash")):
                said = subprocess.run(["xxhsum", "-H2", path], check=True, capture_output=True)
                results.equal(f"{key} of {row['file']} is XXH3-128, as xxhsum has it",
                              row[key], said.stdout.split()[0].decode())
    else:
        print("skipped: xxhsum is not installed (apt-get install xxhash): hashes are not compared")


def check_jobs():
    status, said = batch(*given(), "--out-dir", "j1", "-j", "1")
    results.equal("with bad inputs the status is 3", status, 3)
    results.equal("a line for each input and one for all", len(said.splitlines()),
                  len(ORDER + BAD) + 1)
    check_against_single("j1")
    rows = index_of("j1")
    check_rows(rows)
    for jobs in ("2", "7"):
        folder = "j" + jobs
        batch(*given(), "--out-dir", folder, "-j", jobs)
        results.check(f"-j{jobs} writes the same stores", stores_of(folder) == stores_of("j1"))
        results.equal(f"-j{jobs} writes the same rows", steady(index_of(folder)), steady(rows))
    results.equal("nothing else is left over", leftovers("j1") + leftovers("j2"), [])


def check_status():
    status, _ = batch("tree", "--out-dir", fresh("s"))
    results.equal("all stored: status 0", status, 0)
    results.check("one input is counted in the singular",
                  "1 input: " in batch("one.etl", "--out-dir", fresh("s"))[1].replace("1 input,", "1 input:"))
    status, said = batch("tree", "cut.etl", "--out-dir", "s", "--strict", "--progress", "never")
    results.equal("damage with --strict: status 4 and a sentence",
                  (status, said.count("--strict"), len(said.splitlines())), (4, 1, 1))
    status, _ = batch("tree", "cut.etl", "missing.etl", "--out-dir", "s", "--strict")
    results.equal("a failure is worse than damage", status, 3)


def check_refusals():
    make("other/one.etl", 9, 50)
    os.makedirs("nothing", exist_ok=True)
    os.makedirs("held", exist_ok=True)
    cases = [
        ("clash", ["one.etl", "other/one.etl", "--out-dir", "never"], 2, "one.ehs"),
        ("twice", ["one.etl", "./one.etl", "--out-dir", "never"], 2, "twice"),
        ("both", ["one.etl", "-o", "x.ehs", "--out-dir", "never"], 2, "cannot be combined"),
        ("no name", ["one.etl", "--out-dir", ""], 2, "needs a value"),
        ("stdin", ["-", "--out-dir", "never"], 2, "so traces cannot come from standard input"),
        ("short windows", ["one.etl", "--summary", "--every", "1us", "--out-dir", "never"], 2, "millisecond"),
        ("no trace in a folder", ["nothing", "--out-dir", "never"], 3, "no .etl"),
        ("a store onto itself", ["j1/one.ehs", "--summary", "--out-dir", "j1"], 2, "overwrite"),
    ]
    before = read("j1/one.ehs")
    for name, arguments, wanted, word in cases:
        status, said = batch(*arguments)
        results.check(f"refused before any work: {name}",
                      status == wanted and word in said and len(said.splitlines()) == 1
                      and not os.path.exists("never"), f"status {status}", said)
    results.check("and the store is as it was", read("j1/one.ehs") == before)
    with open("held/runs.ndjson", "w", encoding="ascii") as index:
        fcntl.flock(index, fcntl.LOCK_EX)
        status, said = batch("one.etl", "--out-dir", "held")
    results.check("one batch at a time has a folder", status == 3 and "another etlheap" in said, said)


# --- what is done again --------------------------------------------------------------------

def redone(folder, *arguments):
    """The files that were not skipped."""
    batch(*arguments, "--out-dir", folder)
    return [row["file"] for row in index_of(folder) if not row["skipped_unchanged"]]


def edit_index(folder, change):
    rows = index_of(folder)
    for row in rows:
        change(row)
    with open(os.path.join(folder, "runs.ndjson"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def flip(path):
    """Another content of the same size, and the time of the last writing put back."""
    about = os.stat(path)
    content = bytearray(read(path))
    for at in range(20000, len(content), 1000):
        content[at] ^= 0x40
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def check_skipping(begun):
    inputs = given(bad=False)
    good = sorted(ORDER)
    batch(*inputs, "--out-dir", "r")
    rows, stores = steady(index_of("r"), "skipped_unchanged"), stores_of("r")
    times = {name: os.stat(os.path.join("r", name)).st_mtime_ns for name in stores}
    results.equal("a second run skips all", redone("r", *inputs), [])
    results.equal("and writes nothing", times,
                  {name: os.stat(os.path.join("r", name)).st_mtime_ns for name in stores})
    results.equal("rows are as they were", steady(index_of("r"), "skipped_unchanged"), rows)
    time.sleep(max(0, begun + RELIABLE_SECONDS - time.time()))
    results.equal("a run when inputs are old skips all", redone("r", *inputs), [])
    if any(row["output_stamp"] for row in index_of("r")):
        results.equal("and notes stamps",
                      [row["file"] for row in index_of("r") if not row["input_stamp"]], [])
        edit_index("r", lambda row: row.update(input_hash="0" * 32, output_hash="0" * 32))
        results.equal("files whose stamps are as noted are not read", redone("r", *inputs), [])
        edit_index("r", lambda row: row.update(input_stamp="0" * 32))
        results.equal("inputs with another stamp are read", sorted(redone("r", *inputs)), good)
    else:
        print(f"skipped: stamps are not relied on in the file system of {WORK}")
    edit_index("r", lambda row: row.update(input_stamp="0" * 32, output_stamp="0" * 32))
    results.equal("what has another stamp and the same content is skipped", redone("r", *inputs), [])
    edit_index("r", lambda row: row.update(input_stamp=None, output_stamp=None))
    results.equal("without stamps contents are compared", redone("r", *inputs), [])
    results.check("stores are as they were", stores_of("r") == stores)

    kept = read("keys.etl")
    write("keys.etl", b"nothing of a trace")
    status, said = batch(*inputs, "--out-dir", "r")
    row = index_of("r")[-1]
    results.equal("an input that is bad by now fails, and has no output",
                  (status, row["file"], row["verdict"], row["output"], row["output_hash"]),
                  (3, "keys.etl", "failed", None, None))
    results.check("the store that it had is left, which is said",
                  "earlier run is still there" in row["error"] and stores_of("r") == stores)
    write("keys.etl", kept)
    results.equal("it is stored again when it is back", redone("r", *inputs), ["keys.etl"])

    time.sleep(0.02)
    flip("one.etl")
    results.equal("an input that was changed behind its times is stored again",
                  redone("r", *inputs), ["one.etl"])
    results.check("from what it is", stores_of("r")["one.ehs"] != stores["one.ehs"])
    flip("one.etl")
    results.equal("and once more when it is as before", redone("r", *inputs), ["one.etl"])
    flip("r/b.ehs")
    os.remove("r/z.ehs")
    with open("r/keys.ehs", "ab") as file:
        file.write(b"x")
    results.equal("stores that were changed or removed are made again", redone("r", *inputs),
                  ["tree/b.etl", "tree/z.ETL", "keys.etl"])
    os.remove("r/runs.ndjson")
    results.equal("without an index all is done", sorted(redone("r", *inputs)), good)
    results.check("with the same result", stores_of("r") == stores)
    for name in stores:  # a summary would not replace them
        os.remove(os.path.join("r", name))
    results.equal("other options are other stores", sorted(redone("r", *inputs, "--summary")), good)
    check_against_single("r", "--summary")
    results.equal("which are skipped then", redone("r", *inputs, "--summary"), [])
    results.equal("but not with windows", sorted(redone("r", *inputs, "--summary", "--every", "1ms")), good)
    results.equal("and not in full", sorted(redone("r", *inputs)), good)
    results.check("which gives the same again", stores_of("r") == stores)
    write("r/runs.ndjson", read("r/runs.ndjson")[:-40] + b"\n{\"schema\": 1}\nrubbish\n\xff\n{")
    results.equal("a damaged line counts as none", redone("r", *inputs), ["keys.etl"])
    results.equal("and is gone", steady(index_of("r"), "skipped_unchanged"), rows)


NOTE_EVENTS = "3f471139-acb7-4a01-b7a7-ff5da4ba2d43"  # a provider of every workload
DESCRIBED = NOTE_EVENTS + ":alloc=7(address@0:u64,size@8:u32),free=8(address@0:u64)"
# Each option of `store`: values to try, and whether stores must differ. A new option fails the
# test until it is here.
OPTION_VALUES = {
    "--summary": ([[]], True), "--every": (["1ms", "2ms"], True),
    "--custom-heap": ([DESCRIBED, "@heaps.txt"], True),
    "--mark-event": ([NOTE_EVENTS + "/7", NOTE_EVENTS + "/9"], True),
    "--from": (["5ms"], True), "--to": (["9ms"], True), "--kind": (["heap", "extent"], True),
    "--process": (["System"], True),
    "--together": ([[]], False), "--jobs": (["2"], False), "--memory": (["512M"], False),
    "--no-mmap": ([[]], False), "--progress": (["never"], False), "--strict": ([[]], False), "--unpack-limit": (["1G"], False),
    "--help": ([], False), "--output": ([], False), "--out-dir": ([], False),
    # Not with --out-dir; oracle_anonymise.py is about these.
    **{option: ([], True) for option in (
        "--anonymise", "--symbols", "--no-symbols", "--symbols-loose", "--offline", "--symbol-login",
        "--download-limit", "--download-time", "--private-redirects")},
}
NEEDS = {"--every": ["--summary"]}
# What is there already: see check_full_stores_stay and check_whole_stores_stay.
REPLACES_NOT = {"--summary", "--from", "--to", "--kind", "--process"}


def check_options():
    """After a run with any option, stores are those that `store -o` writes with that option."""
    write("heaps.txt", DESCRIBED.replace("size@8:u32", "size@10:u16").encode())
    listed = set()
    for line in run("store", "--help").decode().splitlines():
        words = line.replace(",", " ").split()
        listed.update(word for word in words[:2] if line.startswith("  -") and word.startswith("--"))
    results.equal("every option of store has its values here", sorted(OPTION_VALUES), sorted(listed))
    for option, (values, makes_another) in OPTION_VALUES.items():
        needs = NEEDS.get(option, [])
        batch("one.etl", *needs, "--out-dir", fresh("o"))
        for value in values:
            before = stores_of("o")["one.ehs"]
            if option in REPLACES_NOT:
                fresh("o")
            arguments = ["one.etl", *needs, option] + ([value] if value else [])
            again = redone("o", *arguments)
            batch(*arguments, "-o", "single.ehs")
            name = " ".join(arguments[1:])
            got = stores_of("o")["one.ehs"]
            results.check(f"{name}: the store has what store -o writes", got == read("single.ehs"))
            results.equal(f"{name}: the option counts", got != before, makes_another)
            results.check(f"{name}: a store that would be another is made again",
                          bool(again) or not makes_another)
            results.equal(f"{name}: the same options again skip", redone("o", *arguments), [])
    batch("one.etl", "--summary", "--every", "1ms", "--out-dir", fresh("o"))
    results.equal("the order of options does not count",
                  redone("o", "--every=1ms", "one.etl", "--summary"), [])
    batch("one.etl", "--custom-heap", "@heaps.txt", "--out-dir", "o")
    write("heaps.txt", DESCRIBED.encode())
    results.equal("a changed file of custom heaps counts",
                  redone("o", "one.etl", "--custom-heap", "@heaps.txt"), ["one.etl"])
    results.equal("and is skipped then", redone("o", "one.etl", "--custom-heap", "@heaps.txt"), [])


def check_more_batches():
    """One folder for several batches."""
    fresh("n")
    batch("one.etl", "--out-dir", "n")
    batch("tree/b.etl", "missing.etl", "--out-dir", "n")
    results.equal("rows of earlier batches stay", [row["file"] for row in index_of("n")],
                  ["one.etl", "tree/b.etl", "missing.etl"])
    status, said = batch("other/one.etl", "--out-dir", "n")
    results.check("another trace does not replace a store by its name",
                  status == 3 and "another file" in said and
                  stores_of("n")["one.ehs"] == stores_of("j1")["one.ehs"], said)
    os.makedirs("copy", exist_ok=True)
    shutil.copy("one.etl", "copy/one.etl")
    status, _ = batch("copy/one.etl", "--out-dir", "n")
    rows = [row["file"] for row in index_of("n") if row["output"] == "one.ehs"]
    results.equal("the same trace does, from another place", (status, rows), (0, ["copy/one.etl"]))
    status, _ = batch("n", "j1/one.ehs", "--summary", "--out-dir", fresh("sums"))
    results.equal("a folder of stores alone has no trace", status, 3)
    status, _ = batch("j1/one.ehs", "j1/b.ehs", "--summary", "--out-dir", fresh("sums"))
    results.equal("full stores can be summarised", (status, len(stores_of("sums"))), (0, 2))


def check_full_stores_stay():
    """A summary never takes the place of a full store; the other way round nothing is lost."""
    batch("one.etl", "tree/b.etl", "--out-dir", fresh("kept"))
    before, rows = stores_of("kept"), read("kept/runs.ndjson")
    for case, inputs in {"the same traces": ["one.etl", "tree/b.etl"],
                         "one that is new first": ["keys.etl", "one.etl"],
                         "a trace of the same name": ["other/one.etl"]}.items():
        status, said = batch(*inputs, "--summary", "--out-dir", "kept")
        results.check(f"summaries over full stores are refused before any work: {case}",
                      status == 2 and "kept/one.ehs: " in said and "full store" in said and "use another --out-dir" in said
                      and len(said.splitlines()) == 1, f"status {status}", said)
        results.check(f"and all is as it was: {case}", (stores_of("kept"), read("kept/runs.ndjson")) == (before, rows))
    # The index may be gone: that is how docs/batch.md says to do everything again.
    os.unlink("kept/runs.ndjson")
    status, said = batch("one.etl", "--summary", "--out-dir", "kept")
    results.check("a full store is known by what it holds", (status, stores_of("kept")) == (2, before), f"status {status}", said)
    status, said = batch("keys.etl", "--summary", "--out-dir", "kept")
    results.check("a summary beside full stores is made", status == 0 and len(stores_of("kept")) == 3, f"status {status}", said)
    status, said = batch("keys.etl", "--summary", "--every", "1ms", "--out-dir", "kept")
    results.check("a summary replaces a summary", status == 0, f"status {status}", said)
    status, said = batch("keys.etl", "--out-dir", "kept")
    results.check("a full store replaces a summary", status == 0 and len(stores_of("kept")["keys.ehs"]) > 0, f"status {status}", said)
    os.unlink("kept/one.ehs")
    status, said = batch("one.etl", "--summary", "--out-dir", "kept")
    results.check("where the full store was removed, a summary is made", status == 0 and "one.ehs" in stores_of("kept"),
                  f"status {status}", said)


def check_whole_stores_stay():
    """Nor does a part take the place of the store of a whole recording."""
    batch("one.etl", "--out-dir", fresh("entire"))
    before = stores_of("entire")
    for option in (["--process", "*"], ["--kind", "heap"], ["--from", "1ms"], ["--to", "9s"]):
        status, said = batch("one.etl", *option, "--out-dir", "entire")
        results.check(f"a part over a whole store is refused: {option[0]}",
                      (status, stores_of("entire")) == (2, before) and "entire/one.ehs: " in said and "use another --out-dir" in said,
                      f"status {status}", said)
    status, said = batch("one.etl", "--kind", "heap", "--out-dir", fresh("parts"))
    results.check("a part is made elsewhere", status == 0 and "one.ehs" in stores_of("parts"), f"status {status}", said)
    status, said = batch("one.etl", "--kind", "extent", "--out-dir", "parts")
    results.check("a part replaces a part", status == 0, f"status {status}", said)
    before = stores_of("parts")
    status, said = batch("one.etl", "--out-dir", "parts")
    results.check("a whole store replaces a part", status == 0 and stores_of("parts") != before, f"status {status}", said)


# --- runs that end early -----------------------------------------------------------------------

def many_inputs(count):
    """Larger ones, so that they take a while; copies, for they are to be many."""
    os.makedirs("many", exist_ok=True)
    make("many/t000.etl", 21, 3000)
    for i in range(1, count):
        shutil.copy("many/t000.etl", f"many/t{i:03}.etl")
    batch("many", "--out-dir", "whole", "-j", "2")


def stop_midway(folder, number, is_ignored=False):
    """Starts a batch and sends a signal when some are done; the status, and how many. Whoever
    starts the tests may ignore the signal, and the program would inherit that."""
    action = signal.SIG_IGN if is_ignored else signal.SIG_DFL
    program = subprocess.Popen([ETLHEAP, "store", "many", "--out-dir", folder, "-j", "2"], stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: number == signal.SIGKILL or signal.signal(number, action))
    path = os.path.join(folder, "runs.ndjson")
    while program.poll() is None:
        if os.path.exists(path) and read(path).count(b"\n") >= 5:
            program.send_signal(number)
            break
        time.sleep(0.001)
    status = program.wait()
    return status, read(path).count(b"\n")


def check_interruption():
    many_inputs(48)
    wanted, stores = steady(index_of("whole"), "skipped_unchanged"), stores_of("whole")
    for name, number in (("SIGINT", signal.SIGINT), ("SIGKILL", signal.SIGKILL)):
        folder = fresh("stopped")
        status, finished = stop_midway(folder, number)
        results.check(f"{name} ends the run as a signal does", status == -number and finished < 48,
                      f"status {status}, {finished} finished")
        if number == signal.SIGINT:
            rows = index_of(folder)
            results.check("the index has all that was finished, in order",
                          len(rows) == len(stores_of(folder)) and
                          [row["file"] for row in rows] == sorted(row["file"] for row in rows))
            results.equal("no half file is left", leftovers(folder), [])
        done = redone(folder, "many", "-j", "7")
        results.equal(f"after {name} only the rest is done", len(done), 48 - finished)
        results.check(f"after {name} stores are the same", stores_of(folder) == stores)
        results.equal(f"after {name} rows are the same", steady(index_of(folder), "skipped_unchanged"), wanted)
        results.equal(f"after {name} nothing is left over", leftovers(folder), [])
    for number in (signal.SIGHUP, signal.SIGINT):
        status = stop_midway(fresh("nohup"), number, is_ignored=True)
        results.equal(f"a run that ignores {signal.Signals(number).name}, as nohup has it, goes on", status, (0, 48))


def little_room():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def check_full_disk():
    """Writing fails as on a full disk."""
    inputs = given(bad=False)
    status, said = batch(*inputs, "--out-dir", fresh("full"), "-j", "1", preexec_fn=little_room)
    results.check("when stores cannot be written no more are begun",
                  status == 3 and "see the error above" in said and said.count("failed: cannot write") == 1, said)
    results.equal("no half file is left", leftovers("full"), [])
    status, _ = batch(*inputs, "--out-dir", "full")
    results.check("with room again the rest is done",
                  status == 0 and stores_of("full").keys() == stores_of("j1").keys())


def check_changing_input():
    """A trace that another program cuts off or writes to while it is read."""
    content = read("many/t000.etl")
    fresh("moving")
    caught = 0
    for i in range(6):
        write("grow.etl", content)
        program = subprocess.Popen([ETLHEAP, "store", "grow.etl", "one.etl", "--out-dir", fresh("moving"), "-j", "1"],
                                   stderr=subprocess.PIPE)
        with open("grow.etl", "r+b") as file:
            while program.poll() is None:
                file.seek(i)
                file.write(content[i:i + 1])
                file.flush()
                os.utime("grow.etl")
        said = program.communicate()[1].decode()
        caught += "changed while it was read" in said
        if "one.etl: stored" not in said:
            results.check("the other input is stored", False, said)
    results.check("an input that is written to is not stored", caught > 0, f"{caught} of 6 runs")


# --- faults ---------------------------------------------------------------------------------------

def check_faults():
    """One call of the system fails, anywhere: what is not stored is said, and the next run mends it."""
    inputs = ["one.etl", "tree", "zipped.etl.zip"]
    outputs = {"one.ehs", "b.ehs", "deep/a.ehs", "z.ehs", "zipped.ehs"}
    wanted = {name: bytes_ for name, bytes_ in stores_of("j1").items() if name in outputs}
    for calls in ("memory", "open", "read", "write", "rename", "close", "stat", "mmap", "thread",
                  "interrupt"):
        wrong, runs = [], 0
        ends = (0, 3, -signal.SIGTERM) if calls == "interrupt" else (0, 3)
        jobs = "3" if calls == "thread" else "1"
        status, said = batch(*inputs, "--out-dir", fresh("f"), "-j", jobs, program=FAULTS,
                             env={**os.environ, "FAULT_CALLS": calls, "FAULT_AT": "0"})
        total = int(said.split("calls: ")[1].split()[0])
        step = max(1, total // FAULT_RUNS)
        for at in range(1, total + 1, step):
            runs += 1
            status, said = batch(*inputs, "--out-dir", fresh("f"), "-j", jobs, program=FAULTS,
                                 env={**os.environ, "FAULT_CALLS": calls, "FAULT_AT": str(at)})
            got = stores_of("f")
            if status not in ends or (status == 0 and got != wanted):
                wrong.append(f"call {at}: status {status}: {said[-300:]}")
            if any(wanted.get(name) != content for name, content in got.items()):
                wrong.append(f"call {at}: a store with other bytes")
            if leftovers("f"):
                wrong.append(f"call {at}: left {leftovers('f')}")
            status, said = batch(*inputs, "--out-dir", "f", "-j", "2")
            if status != 0 or stores_of("f") != wanted:
                wrong.append(f"call {at}: not mended by another run: {said[-300:]}")
        results.check(f"{runs} of {total} {calls} calls fail in turn", not wrong, *wrong[:8])


def check_memory():
    """Flat: what is resident after many is at most a fifth more than after fifty. Until then the
    allocator fills what it keeps for each thread: of 900 inputs the last 600 added 1 %."""
    for i in range(10):
        make(f"flat/t{i:03}.etl", 100 + i, 150 + 20 * i)
    for i in range(10, 150):
        shutil.copy(f"flat/t{i % 10:03}.etl", f"flat/t{i:03}.etl")
    status, _ = batch("flat", "--out-dir", fresh("flatter"), "-j", "2")
    peaks = sorted(row["peak_memory_bytes"] for row in index_of("flatter"))
    results.check(f"memory is flat: {peaks[49] >> 10} KiB after 50 inputs, {peaks[-1] >> 10} KiB after 150",
                  status == 0 and peaks[-1] <= 1.2 * peaks[49])


def main():
    os.chdir(WORK)
    begun = time.time()
    make_inputs()
    check_jobs()
    check_status()
    check_refusals()
    check_skipping(begun)
    check_options()
    check_more_batches()
    check_full_stores_stay()
    check_whole_stores_stay()
    check_interruption()
    check_full_disk()
    check_changing_input()
    check_faults()
    if os.path.basename(OUT.rstrip("/")) in ("check", "release", "debug"):
        check_memory()
    results.finish()


main()
