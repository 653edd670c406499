"""The inputs of the benchmark: made on demand in a scratch folder, checked, kept warm."""

import json
import os
import shutil
import subprocess
import sys

MIB = 1 << 20

# Written in place of an input of the builder, with an allowance for their size.
OTHER_FILES = {"H.heaptrack": 140 * MIB, "H8.rows.csv": 1200 * MIB, "H.ehs": 400 * MIB,
               "large.pdb": 640 * MIB, "small": 100 * MIB,
               # With the recording and the other two forms.
               "clang.plain.etl": 2200 * MIB, "sqlite.plain.etl": 2200 * MIB,
               "python.plain.etl": 1900 * MIB}

PDB_FUNCTIONS = 1000000
SMALL_TRACES = 1000


class BenchError(Exception):
    """What stops the benchmark, as one sentence."""


class Inputs:
    def __init__(self, programs, folder):
        self.programs = programs  # the folder with make_bench and its neighbours
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        listed = subprocess.run([self.program("make_bench"), "--list"], check=True,
                                capture_output=True, text=True).stdout
        rows = [line.split("\t") for line in listed.splitlines()]
        self.known = {name: int(size) for name, size, _ in rows}
        self.facts_of = {}

    def program(self, name):
        return os.path.join(self.programs, name)

    def path(self, name):
        return os.path.join(self.folder, name + ".etl" if name in self.known else name)

    def need_room(self, names):
        """Says what will be written, and stops when the disk does not hold it."""
        sizes = self.known | OTHER_FILES
        missing = [name for name in names if not self.is_made(name)]
        wanted = sum(sizes[name] for name in missing)
        free = shutil.disk_usage(self.folder).free
        if missing:
            print(f"Writing {', '.join(missing)} to {self.folder}: about {wanted / 1e9:.1f} GB of"
                  f" {free / 1e9:.1f} GB free; `make bench-clean` deletes them.", flush=True)
        if wanted > free:
            raise BenchError(f"{self.folder} has {free / 1e9:.1f} GB free, the inputs need"
                             f" {wanted / 1e9:.1f} GB; choose another folder with BENCH_DIR=")

    def make_all(self, names):
        """Writes what is missing, and waits till it is on the disk: writing back
        gigabytes while programs are timed would slow them down."""
        self.need_room(names)
        for name in names:
            if name in self.known:
                self.make(name)
        if "H.heaptrack" in names:
            self.make_heaptrack()
        if "large.pdb" in names:
            self.make_pdb()
        if "small" in names:
            self.make_small()
        os.sync()

    def is_made(self, name):
        return os.path.exists(self.path(name) + (".json" if name in self.known else ""))

    def make(self, name):
        """The path of an input of the builder, written if it is not there yet."""
        path = self.path(name)
        if not self.is_made(name):
            run_quietly([self.program("make_bench"), name, path])
        if name not in self.facts_of:
            with open(path + ".json", encoding="utf-8") as file:
                self.facts_of[name] = json.load(file)
        return path

    def facts(self, name):
        self.make(name)
        return self.facts_of[name]

    def events(self, name):
        """Heap allocations and frees; stack records are not counted."""
        facts = self.facts(name)
        return facts["heap_allocs"] + facts["heap_frees"]

    def make_heaptrack(self):
        """The allocations of H in heaptrack's own format."""
        path = self.path("H.heaptrack")
        if not os.path.exists(path):
            allocs = str(self.facts("H")["heap_allocs"])
            with open(path + ".part", "wb") as file:
                subprocess.run([self.program("heaptrack_file"), allocs], stdout=file, check=True)
            os.replace(path + ".part", path)
        return path

    def make_pdb(self):
        """A PDB of a million functions."""
        path = self.path("large.pdb")
        if not os.path.exists(path):
            run_quietly([self.program("make_pdb"), str(PDB_FUNCTIONS), path + ".part"])
            os.replace(path + ".part", path)
        return path

    def make_small(self):
        """A folder of many small traces."""
        path = self.path("small")
        if not os.path.exists(path):
            shutil.rmtree(path + ".part", ignore_errors=True)
            run_quietly([self.program("make_small"), str(SMALL_TRACES), path + ".part"])
            os.replace(path + ".part", path)
        return path

    def clean(self):
        """Deletes what was written here, and the folder if nothing else is in it."""
        for name in ("small", "small.part", "small.out"):
            shutil.rmtree(self.path(name), ignore_errors=True)
        for name in [*self.known, *OTHER_FILES, "questions.json", "questions.md"]:
            for path in (self.path(name), self.path(name) + ".json", self.path(name) + ".part"):
                if os.path.exists(path):
                    os.remove(path)
        if not os.listdir(self.folder):
            os.rmdir(self.folder)

    def warm(self, *paths):
        """Reads files into the page cache: nobody's disk is measured."""
        for path in paths:
            with open(path, "rb", buffering=0) as file:
                while file.read(8 * MIB):
                    pass


def run_quietly(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def check_report(etlheap, name, inputs):
    """What is timed must be right: the report's totals are those of the workload."""
    facts = inputs.facts(name)
    report = json.loads(run_quietly([etlheap, "report", inputs.path(name), "--format", "json",
                                     "--top", "1"]))
    totals = {total["kind"]: total for total in report["totals"]}
    if facts["heap_allocs"]:
        heap = totals.get("heap", {})
        compare(name, heap, count=facts["heap_allocs"], size=facts["heap_bytes"],
                outstanding_count=facts["heap_open_end"],
                outstanding_size=facts["heap_open_end_bytes"], free_without_alloc=0)
    if facts["virtual_allocs"]:
        compare(name, totals.get("virtualalloc", {}), outstanding_size=facts["virtual_end_bytes"])
    compare(name, report["trace"], events=facts["records"], events_lost=0)


def compare(name, found, **wanted):
    for key, value in wanted.items():
        if found.get(key) != value:
            raise BenchError(f"report on {name} is wrong: {key} is {found.get(key)}, the workload"
                             f" has {value}; timing it would mean nothing")


def has_command(etlheap, word):
    text = subprocess.run([etlheap, "--help"], capture_output=True, text=True, check=False).stdout
    return any(line.split()[:1] == [word] for line in text.splitlines() if line.startswith("  "))


def find_program(name):
    return shutil.which(name)


def note(text):
    print(text, file=sys.stderr, flush=True)
