#!/usr/bin/env python3
"""Holds the program to the promise of --memory, question by question.

    oracle_memory.py             a trace of 15 MB; inputs and limits take turns
    LONG=1 oracle_memory.py      a trace of 192 MB, four limits, every input
    ONLY=html,diff ...           questions whose words hold one of these

In the long form every question is asked of all its inputs under every limit. Two instruments look at the run, neither of
them the program's own: memory_count.so (LD_PRELOAD) counts the bytes that malloc and
anonymous mappings hand out, and reads the anonymous resident memory (RssAnon of Linux)
each time the count has grown by 512 KiB. What `etlheap --version` takes is not counted:
the program and its libraries. Then a row is

    kept      status 0, both peaks below the limit, and the answer without a limit;
    refused   status 3 and a sentence that names what is needed: with a tenth less than
              that (so that no row stands on its edge, and fails when memory is sampled at
              another moment) the question is answered, below that limit, and it is at most
              NEED_TIMES of what the answer then takes, of a store STORE_TIMES: no large number
              that is always enough.

Every question is also asked of small traces under 1 MiB. What it is then told suffices, and is
at most NEED_TIMES of what it takes (or SMALL_LEAST more, because needs are whole MiB).

Anything else fails, unless EXPECTED_FAILURES lists it with the reason; a row of that list
that does well fails too, so that the list never outlives its reasons. Last comes the
table of all rows.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from oracle_support import ETLHEAP, LONG, Results, skip_all

PROGRAM = os.path.realpath(ETLHEAP)
OUT = os.environ.get("OUT", "build/check")
COUNTER = os.path.realpath(os.path.join(OUT, "memory_count.so"))
MAKE_BENCH = os.path.join(OUT, "bench", "make_bench")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
ONLY = [word for word in os.environ.get("ONLY", "").split(",") if word]
MIB = 1 << 20

TRACE, OTHER = ("L", "S") if LONG else ("XS", "XXS")
# MiB, by input: see INPUTS.
LIMITS = ({**dict.fromkeys("tlws", [16, 48, 96, 192]), "n": [16, 96, 256]} if LONG else
          {"t": [16, 40], "l": [24], "w": [80], "s": [20], "n": [20]})
RUN_SECONDS = 300

# A need may be so many times what the answer takes (and LEAST more, for small answers).
NEED_TIMES = 3.0
NEED_LEAST = 4 * MIB
SMALL_LEAST = 5 * MIB // 2
# Stores say how much they have.
STORE_TIMES = 1.7
STORE_LEAST = 8 * MIB

# Questions: their words, and the inputs that they are asked of, all of one recording (l: the
# trace, under fewer limits; w: the trace, under a limit that the rows fit in, for writers of
# the same rows: what csv is refused, they are refused before they write). OTHER stands for a
# store of another recording, OUT for a file.
QUESTIONS = [
    ("report", "ts"),
    ("report --format json", "tsn"),
    ("report --format csv", "l"),
    ("report --sort peak_size", "l"),
    ("report --growth --format json", "ts"),
    ("report --suspects --format json", "ts"),
    ("report --at peak", "ts"),
    ("report --histogram size", "l"),
    ("report --impacting transient", "l"),
    ("report --tree=callers", "ls"),
    ("windows --every 100ms --format json", "ts"),
    ("windows --every 100ms --group-by stack --format json", "ts"),
    ("windows --find-growth", "ts"),
    ("windows --find-spikes", "ts"),
    ("report --spikes", "ts"),
    ("report --focus *.*!", "ls"),
    ("report --exclude-frame json.dll!", "ls"),
    ("report --fold-module json.dll", "ls"),
    ("report --columns +lifetime_median_ns,+first_ns", "ls"),
    ("report --group-by source_line", "ls"),
    ("allocations --top 100", "tsn"),
    ("allocations --format csv", "ts"),
    ("store -o OUT", "tn"),
    ("store --summary -o OUT", "ts"),
    ("merge OTHER -o OUT", "s"),
    ("diff OTHER", "ts"),
    ("diff OTHER --format json", "l"),
    ("check --max-outstanding 100G --lenient", "ts"),
    ("check --baseline OTHER --max-growth total:1000% --lenient", "ts"),
    ("info --format json", "tsn"),
    ("dump --format ndjson", "tn"),
    ("symbols", "ts"),
    ("export --format csv -o OUT", "l"),
    ("export --format dhat -o OUT", "ls"),
    ("export --format folded -o OUT", "w"),
    ("export --format heaptrack -o OUT", "l"),
    ("export --format html -o OUT", "ls"),
    ("export --format ndjson -o OUT", "w"),
    ("export --format parquet -o OUT", "ws"),
    ("export --format perfview -o OUT", "w"),
    ("export --format perfetto -o OUT", "ls"),
    ("export --format pprof -o OUT", "w"),
    ("export --format speedscope -o OUT", "w"),
    ("export --format wpa-xml -o OUT", "ls"),
    ("export --format wpaprofile -o OUT", "l"),
    ("export --format csv --rows -o OUT", "l"),
    ("export --format parquet --rows -o OUT", "ls"),
    ("report --group-by function", "ts"),
    ("report --group-by function --format json", "ts"),
]
# Others, which are asked of small traces only.
SMALL_QUESTIONS = ["report --churn", "report --group-by thread", "report --group-by function",
                   "report --group-by process --format json", "report --map",
                   "report --pairs", "report --unmatched", "report --lifetime ..1ms", "report --kind pool",
                   "windows --window 0s..2s --window 1s..3s", "windows", "check --max-outstanding 100G --lenient --format json"]
SMALL_TRACES = [["workload", "--keys", "--compress"], ["pool-leak"]]
INPUTS = {"t": ("trace", []), "l": ("trace", []), "w": ("trace", []), "s": ("store", []), "n": ("trace read", ["--no-mmap"])}

# The same questions are laid out otherwise in a file when there is less memory: blocks of
# stores in another order, row groups of Parquet smaller.
LAID_OUT_BY_MEMORY = ("store", "merge", "parquet")

# (question, input, MiB) -> why.
EXPECTED_FAILURES = {}

NEEDED = re.compile(r"--memory (\d+)M is not enough: this run needs about (\d+)M; raise --memory")


class Run:
    """One run of the program and what the instruments saw."""

    def __init__(self, folder, words):
        count = os.path.join(folder, "count")
        for path in (count, os.path.join(folder, "out")):
            if os.path.exists(path):
                os.remove(path)
        environment = dict(os.environ, LD_PRELOAD="./counter.so", MEMORY_COUNT=count)
        digest = hashlib.sha256()
        with tempfile.TemporaryFile(dir=folder) as said, subprocess.Popen(
                [PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                env=environment, cwd=folder) as process:
            while block := process.stdout.read(1 << 20):
                digest.update(block)
            self.status = process.wait(RUN_SECONDS)
            said.seek(0)
            self.said = said.read().decode("utf-8", "replace").strip()
        self.has_output = os.path.exists(os.path.join(folder, "out"))
        if self.has_output:
            with open(os.path.join(folder, "out"), "rb") as file:
                digest.update(file.read())
        self.answer = digest.hexdigest()
        try:
            with open(count, encoding="utf-8") as file:
                counted = json.load(file)
        except (OSError, ValueError):
            counted = {"peak": 1 << 62, "rss_anon": 1 << 62}
        self.heap, self.anonymous = counted["peak"], counted["rss_anon"]


class Promise:
    """The rows, and what comes of them."""

    def __init__(self, folder, results):
        self.folder, self.results, self.rows = folder, results, []
        empty = Run(folder, ["--version"])
        assert empty.status == 0, empty.said
        # Without it every run would be as large as this one, and hold nothing.
        assert 0 < empty.heap < 64 * MIB and 0 < empty.anonymous < 64 * MIB, f"nothing was counted by {COUNTER}"
        self.overhead = (empty.heap, empty.anonymous)

    def held(self, run):
        """The larger of both peaks, without the program itself."""
        return max(run.heap - self.overhead[0], run.anonymous - self.overhead[1], 0)

    def words(self, question, kind):
        named = {"OTHER": "other.ehs", "OUT": "out"}
        command, *rest = shlex.split(question)
        first = "store.ehs" if kind == "s" else "trace.etl"
        rest = [named.get(word, word) for word in rest]
        if command == "diff":
            return [command, rest[0], first, *rest[1:], *INPUTS[kind][1]]
        return [command, first, *rest, *INPUTS[kind][1]]

    def under(self, words, mib):
        return Run(self.folder, [*words, "--memory", f"{mib}M"])

    def ask(self, question, kind, limits):
        words = self.words(question, kind)
        free = Run(self.folder, words)
        self.results.check(f"{question} ({INPUTS[kind][0]}): answered without a limit",
                           free.status == 0, f"status {free.status}: {free.said}")
        for mib in limits:
            outcome, wrong = self.judge(question, words, mib, free)
            self.rows.append((question, INPUTS[kind][0], mib, outcome))
            name = f"{question} ({INPUTS[kind][0]}), --memory {mib}M: {outcome}"
            reason = EXPECTED_FAILURES.get((question, kind, mib))
            if reason is None:
                self.results.check(name, not wrong, wrong)
            else:
                self.results.check(f"{name}, as expected: {reason}", wrong,
                                   "this row is good: take it off EXPECTED_FAILURES")

    def judge(self, question, words, mib, free):
        """What a row came to, in words, and what is wrong with it."""
        run = self.under(words, mib)
        took = self.held(run)
        if took > mib * MIB:
            return f"exceeded by {(took - mib * MIB) / MIB:.1f} MiB", "more than the limit"
        if run.status == 0:
            same = run.answer == free.answer or any(word in question for word in LAID_OUT_BY_MEMORY)
            return f"kept, {took / MIB:.1f} MiB", "" if same else "another answer than without a limit"
        need = NEEDED.search(run.said)
        if run.status != 3 or need is None or int(need[1]) != mib:
            return f"failed, status {run.status}", run.said or "nothing said"
        if run.has_output:
            return "refused", "an output was left"
        return self.judge_need(question, words, int(need[2]), free)

    @staticmethod
    def most(words, took):
        """The largest need that may be told for what was taken, and its times."""
        is_store = any(word.endswith("store.ehs") for word in words)
        times, least = (STORE_TIMES, STORE_LEAST) if is_store else (NEED_TIMES, NEED_LEAST)
        return max(times * took, least + took)

    def judge_need(self, question, words, mib, free):
        run = self.under(words, mib - mib // 10)
        took = self.held(run)
        outcome = f"refused, needs {mib}M"
        if run.status != 0:
            return f"{outcome}: too little", run.said
        if took > mib * MIB:
            return f"{outcome}: exceeded", f"{took / MIB:.1f} MiB"
        if mib * MIB > self.most(words, took):
            return f"{outcome}: far too much", f"{took / MIB:.1f} MiB are enough"
        outcome += f", {mib * MIB / took:.2f} times"
        same = run.answer == free.answer or any(word in question for word in LAID_OUT_BY_MEMORY)
        return f"{outcome}, then {took / MIB:.1f} MiB", "" if same else "another answer"

    def ask_many(self, mib):
        """A batch, in which inputs share the memory; needs are told input by input."""
        words = ["store", "trace.etl", "other.etl", "--out-dir", "many"]
        run = self.under(words, mib)
        took = self.held(run)
        needs = [int(found[1]) for found in NEEDED.findall(run.said)]
        outcome = f"refused, needs {max(needs, default=0)}M"
        good = run.status == 3 and needs and took <= mib * MIB
        if good:
            again = self.under(words, max(needs))
            took = self.held(again)
            good = again.status == 0 and took <= max(needs) * MIB
            outcome += f", then {took / MIB:.1f} MiB"
        self.rows.append(("store TRACE OTHER --out-dir", "trace", mib, outcome))
        self.results.check(f"store --out-dir, --memory {mib}M: {outcome}", good, took, run.status, run.said)

    def ask_small(self, question, number):
        """Of a small trace under the smallest limit."""
        command, *rest = shlex.split(question)
        words = [command, f"small{number}.etl", *({"OTHER": "small1.etl", "OUT": "out"}.get(word, word) for word in rest)]
        name = f"{question} of {SMALL_TRACES[number][0]}"
        run = self.under(words, 1)
        need = NEEDED.search(run.said)
        if need is None:
            self.results.check(f"{name}: 1M is kept", run.status in (0, 1) and self.held(run) <= MIB, run.status, run.said)
            return
        mib = int(need[2])
        run = self.under(words, mib)
        took = self.held(run)
        most = max(NEED_TIMES * took, took + SMALL_LEAST)
        self.results.check(f"{name}: needs {mib}M, then {took / MIB:.1f} MiB",
                           run.status in (0, 1) and took <= mib * MIB <= most, run.status, run.said)

    def print_table(self):
        print(f"# the promise of --memory, trace {TRACE}; without the program itself, "
              f"{self.overhead[0] / MIB:.1f} MiB of heap, {self.overhead[1] / MIB:.1f} anonymous")
        for question, kind, mib, outcome in self.rows:
            print(f"# {question:56} {kind:11} {mib:4}M  {outcome}")


def prepare(folder):
    """The trace, its store, and a store of a shorter recording of the same program."""
    for name, file in ((TRACE, "trace.etl"), (OTHER, "other.etl")):
        subprocess.run([MAKE_BENCH, name, os.path.join(folder, file)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # LD_PRELOAD takes no path with a space.
    shutil.copy(COUNTER, os.path.join(folder, "counter.so"))
    for number, words in enumerate(SMALL_TRACES):
        subprocess.run([MAKE_TRACE, *words, os.path.join(folder, f"small{number}.etl")], check=True,
                       stdout=subprocess.DEVNULL)
    for trace, store in (("trace.etl", "store.ehs"), ("other.etl", "other.ehs")):
        subprocess.run([PROGRAM, "store", trace, "-o", store], check=True, cwd=folder)


def main():
    for needed in (COUNTER, MAKE_BENCH, MAKE_TRACE):
        if not os.path.exists(needed):
            skip_all(f"{needed} is not here: it is built with VARIANT=check, and counts what sanitizers hide")
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        prepare(folder)
        promise = Promise(folder, results)
        for number, (question, kinds) in enumerate(QUESTIONS):
            for kind in kinds if LONG or ONLY else kinds[number % len(kinds)]:
                limits = LIMITS[kind]
                if not ONLY or any(word in question for word in ONLY):
                    promise.ask(question, kind, limits if LONG or ONLY else [limits[number // 2 % len(limits)]])
        small = [(question, 0) for question, kinds in QUESTIONS if kinds != "s"]
        for question, number in small + [(question, number) for question in SMALL_QUESTIONS for number in (0, 1)]:
            if not ONLY or any(word in question for word in ONLY):
                promise.ask_small(question, number)
        if not ONLY:
            promise.ask_many(LIMITS["t"][0])
        promise.print_table()
    results.finish()


main()
