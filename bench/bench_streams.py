"""Allocation streams of installed programs: recorded by heaptrack, made into traces, checked.

A recording is made once and kept in the folder of the inputs; it differs from machine to
machine, as the programs do, and is never committed. What it adds up to is said by
heaptrack's own programs, and a trace made of it must have the same sums before it is timed:

    heaptrack_print       allocations, their bytes, bytes outstanding at the end and at the
                          peak; nothing is suppressed
    heaptrack_interpret   blocks outstanding at the end, call stacks
"""

import json
import os
import re
import shutil
import subprocess
import sys

from bench_inputs import BenchError, note, run_quietly

FORMS = ("plain", "keyed", "compressed")

HEADERS = ("algorithm chrono filesystem functional future iostream map random regex string"
           " unordered_map vector").split()
CPP_BODY = """
int main(int argc, char **argv)
{
    std::map<std::string, std::vector<int>> places;
    const std::regex pattern("a+b");
    for (int i = 0; i < argc; i++)
        if (std::regex_match(argv[i], pattern))
            places[argv[i]].push_back(i);
    std::cout << places.size();
}
"""
SMALL_CPP = "#include <new>\nint main() { return *new int(0); }\n"

SQL = """
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT, weight INTEGER);
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
INSERT INTO words SELECT n, printf('%08x-%d', n * 2654435761 % 4294967296, n), n % 997 FROM numbers;
CREATE INDEX by_word ON words(word, weight);
SELECT count(*), min(word) FROM words INDEXED BY by_word;
"""

# The system's malloc for each object: Python's own allocator would hide most of them.
PYTHON = """
import json, random
random.seed(5)
kept = []
for i in range({rounds}):
    text = json.dumps([{{"name": "n%d" % random.randrange(9 ** 6), "values": [random.random()] * 9}}] * 40)
    kept.append(json.loads(text))
    if len(kept) > 50:
        kept.pop(random.randrange(50))
"""


class Recording:
    """A program that is recorded: its name, of which the first one installed counts, its
    arguments, input files and environment."""

    def __init__(self, names, arguments, files, environment=None):
        self.names = names
        self.arguments = arguments
        self.files = files
        self.environment = environment or {}


# Those with a number are what the tests install.
CLANG = ["clang++", *(f"clang++-{version}" for version in range(16, 20))]
# Some systems build SQLite with memory of its own for small objects. Without it, every one is an
# allocation, as on the others.
SQLITE_PLAIN = ["-lookaside", "0", "0"]

RECORDINGS = {
    "clang": Recording(
        CLANG, ["-fintegrated-cc1", "-O1", "-c", "headers.cpp", "-o", "headers.o"],
        {"headers.cpp": "".join(f"#include <{name}>\n" for name in HEADERS) + CPP_BODY}),
    "sqlite": Recording(
        ["sqlite3"], [*SQLITE_PLAIN, "words.db", ".read words.sql"],
        {"words.sql": SQL.format(rows=1500000)}),
    "python": Recording(
        [sys.executable], ["objects.py"],
        {"objects.py": PYTHON.format(rounds=1500)}, {"PYTHONMALLOC": "malloc"}),
    # For tests: a second each at the most.
    "small-clang": Recording(
        CLANG, ["-fintegrated-cc1", "-O1", "-c", "small.cpp", "-o", "small.o"], {"small.cpp": SMALL_CPP}),
    "small-sqlite": Recording(
        ["sqlite3"], [*SQLITE_PLAIN, "words.db", ".read words.sql"], {"words.sql": SQL.format(rows=8000)}),
    "small-python": Recording(
        [sys.executable], ["objects.py"],
        {"objects.py": PYTHON.format(rounds=3)}, {"PYTHONMALLOC": "malloc"}),
}
BENCH_RECORDINGS = ("clang", "sqlite", "python")


def find_recorded(names):
    """Where a program is, or None. ccache would be recorded in the place of the compiler."""
    for name in names:
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            path = shutil.which(name, path=folder)
            if path is not None and os.path.basename(os.path.realpath(path)) != "ccache":
                return path
    return None


def find_interpret():
    """The program between the recorder and heaptrack_print, which is not in PATH."""
    heaptrack = shutil.which("heaptrack")
    if heaptrack is None or shutil.which("heaptrack_print") is None:
        return None
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(heaptrack)))
    for folder in ("lib", "lib64", "libexec"):
        path = os.path.join(prefix, folder, "heaptrack", "libexec", "heaptrack_interpret")
        if os.path.exists(path):
            return path
    return None


class Streams:
    """The recordings in a folder, and the traces made of them."""

    def __init__(self, folder, make_stream):
        self.folder = folder
        self.make_stream = make_stream
        self.interpret = find_interpret()

    def why_not(self, name):
        """Why there can be no such recording, or None."""
        if self.interpret is None:
            return "heaptrack is not installed: apt-get install heaptrack"
        names = RECORDINGS[name].names
        return None if find_recorded(names) else f"{names[0]} is not installed"

    def path(self, name, ending):
        return os.path.join(self.folder, f"{name}.{ending}")

    def record(self, name):
        """The raw recording as plain text."""
        path = self.path(name, "raw")
        if os.path.exists(path):
            return path
        what, work = RECORDINGS[name], self.path(name, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        for file, text in what.files.items():
            with open(os.path.join(work, file), "w", encoding="utf-8") as out:
                out.write(text)
        environment = {**os.environ, **what.environment}
        command = ["heaptrack", "--raw", "-o", "recording", find_recorded(what.names), *what.arguments]
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        found = [file for file in os.listdir(work) if file.startswith("recording.raw")]
        if done.returncode != 0 or len(found) != 1:
            raise BenchError(f"heaptrack could not record {name}: {done.stderr.strip() or done.returncode}")
        unpack = {".zst": ["zstd", "-dcq"], ".gz": ["gzip", "-dc"]}[os.path.splitext(found[0])[1]]
        with open(path + ".part", "wb") as out:
            subprocess.run([*unpack, os.path.join(work, found[0])], stdout=out, check=True)
        os.replace(path + ".part", path)
        shutil.rmtree(work)
        return path

    def heaptrack(self, name):
        """The recording as heaptrack_print reads it."""
        path = self.path(name, "heaptrack")
        if not os.path.exists(path):
            raw = self.record(name)
            environment = {key: value for key, value in os.environ.items() if key != "DEBUGINFOD_URLS"}
            with open(raw, "rb") as text, open(path + ".part", "wb") as out:
                done = subprocess.run([self.interpret], stdin=text, stdout=out, stderr=subprocess.PIPE, text=True,
                                      env=environment, check=True)
            found = re.search(r"leaked allocations:\s*(\d+)", done.stderr)
            if found is None:
                raise BenchError(f"heaptrack_interpret says nothing of {name}: {done.stderr.strip()}")
            with open(self.path(name, "leaked"), "w", encoding="utf-8") as out:
                out.write(found[1])
            os.replace(path + ".part", path)
        return path

    def truth(self, name):
        """What heaptrack's programs find in the recording."""
        path = self.path(name, "truth.json")
        if not os.path.exists(path):
            file = self.heaptrack(name)
            outstanding = self.flame_sum(name, "leaked")
            with open(self.path(name, "leaked"), encoding="utf-8") as text:
                leaked = int(text.read())
            histogram = self.path(name, "histogram")
            said = run_quietly([*self.print_command(file), "-H", histogram])
            with open(histogram, encoding="utf-8") as rows:
                sizes = [[int(cell) for cell in line.split()] for line in rows]
            os.remove(histogram)
            stacks, frees = count_lines(file)
            facts = {
                "count": int(re.search(r"calls to allocation functions: (\d+)", said)[1]),
                "size": sum(size * count for size, count in sizes),
                "outstanding_count": leaked,
                "outstanding_size": outstanding,
                "free_without_alloc": count_lines(self.record(name))[1] - frees,
                "peak_size": self.flame_sum(name, "peak"),
                "stacks": stacks,
            }
            with open(path, "w", encoding="utf-8") as out:
                json.dump(facts, out)
        with open(path, encoding="utf-8") as text:
            return json.load(text)

    def print_command(self, file):
        return ["heaptrack_print", "--disable-builtin-suppressions", "--disable-embedded-suppressions", "-f", file]

    def flame_sum(self, name, cost):
        """The exact sum of what heaptrack_print rounds in its text."""
        flame = self.path(name, "flame")
        run_quietly([*self.print_command(self.heaptrack(name)), "-F", flame, "--flamegraph-cost-type", cost])
        with open(flame, encoding="utf-8", errors="replace") as lines:
            total = sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.strip())
        os.remove(flame)
        return total

    def trace(self, name, form="plain"):
        """The recording as a trace of Windows, and FILE.json beside it."""
        path = self.path(f"{name}.{form}", "etl")
        if not os.path.exists(path + ".json"):
            with open(self.record(name), "rb") as text:
                done = subprocess.run([self.make_stream, form, path], stdin=text, capture_output=True, text=True,
                                      check=False)
            if done.returncode != 0:
                raise BenchError(f"{name}: {done.stderr.strip() or done.returncode}")
        return path

    def facts(self, name, form="plain"):
        with open(self.trace(name, form) + ".json", encoding="utf-8") as file:
            return json.load(file)

    def events(self, name):
        """Allocations and frees."""
        truth = self.truth(name)
        return truth["count"] * 2 - truth["outstanding_count"] + truth["free_without_alloc"]

    def clean(self):
        for name in RECORDINGS:
            shutil.rmtree(self.path(name, "work"), ignore_errors=True)
            endings = ["raw", "heaptrack", "leaked", "truth.json", "histogram", "flame"]
            endings += [f"{form}.etl{more}" for form in FORMS for more in ("", ".json")]
            for ending in endings:
                for path in (self.path(name, ending), self.path(name, ending) + ".part"):
                    if os.path.exists(path):
                        os.remove(path)


def count_lines(path):
    """Of a recording, interpreted or not: call stacks of allocations, and frees."""
    stacks, frees = set(), 0
    with open(path, "rb") as lines:
        for line in lines:
            if line[:2] in (b"a ", b"+ "):
                numbers = line.split()
                if line[:1] == b"a" or len(numbers) == 4:
                    stacks.add(numbers[2])
            elif line[:2] == b"- ":
                frees += 1
    return len(stacks - {b"0"}), frees


def check_stream(etlheap, path, truth):
    """Raises BenchError unless etlheap finds in the trace what heaptrack found in the recording."""
    check_sums(path, stream_sums(etlheap, path), truth)


def check_sums(path, found, truth):
    for key, wanted in truth.items():
        if found.get(key) != wanted:
            raise BenchError(f"{os.path.basename(path)}: etlheap finds {key} {found.get(key)}, heaptrack {wanted};"
                             " timing it would mean nothing")


def stream_sums(etlheap, path):
    """The keys of Streams.truth() as etlheap's report has them."""
    def report(group_by):
        return json.loads(run_quietly([etlheap, "report", path, "--group-by", group_by, "--no-cull",
                                       "--no-symbols", "--format", "json"]))

    document = report("kind")
    heap = next((total for total in document["totals"] if total["kind"] == "heap"), {})
    keys = ("count", "size", "outstanding_count", "outstanding_size", "free_without_alloc")
    return {**{key: heap.get(key) for key in keys},
            "peak_size": sum(row["peak_size"] for row in document["rows"] if row["kind"] == "heap"),
            "stacks": sum(row["stack"] is not None for row in report("kind,stack")["rows"])}


def usable(streams, names):
    """Those that can be recorded here; a sentence says why others are left out."""
    kept = []
    for name in names:
        reason = streams.why_not(name)
        if reason is None:
            kept.append(name)
        else:
            note(f"{reason}; the stream {name} is left out")
    return kept
