#!/usr/bin/env python3
"""Marks: moments with a name, as windows, generations and budgets.

The second writer makes a trace of a test runner: a mark for each test, an event that describes
itself as each test starts and stops, and blocks that are allocated and freed at random. A naive
model here says what every interval, generation and budget must come to. A trace, its store, one
thread and three must say the same.
"""

import csv
import json
import os
import random
import re
import shlex
import struct
import subprocess
import tempfile
import uuid
import xml.etree.ElementTree
from collections import Counter

from oracle_support import ETLHEAP, Results, run, run_json
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile
from second_writer.described import METADATA, event, event_info, field, schema, traits

START, HZ = 1_000_000, 10_000_000
TESTS = uuid.UUID("11112222-3333-4444-5555-666677778888")
RUNNER = uuid.UUID("99992222-3333-4444-5555-666677778888")
EVENT_INFO = 32
APP, OTHER = 4321, 5000
HEAP = 0x1F0000


class Workload:
    """Marks, events and blocks; times in ticks since time zero."""

    def __init__(self, path, seed, tests=12, steps=900):
        self.path = path
        self.random = random.Random(seed)
        clock = Clock(QPC, HZ, START, 132_000_000_000_000_000)
        self.file = TraceFile(clock, 1, Style("session", 65536), START, random.Random(1))
        self.ticks = 0
        self.marks, self.starts, self.blocks, self.live = [], [], [], []
        self.next_address = 0x100000
        for pid, name in ((APP, "app.exe"), (OTHER, "other.exe")):
            self.system(records.PROCESS_RUNDOWN_START, 4, pid, records.process(8, pid << 12, pid, 4, 0, name, name))
        self.add(lambda ticks: records.full(
            8, METADATA, EVENT_INFO, 0, 0, 0, ticks,
            event_info(RUNNER.bytes_le, 7, 0, [dict(name="case", in_type=1)], provider_name="Runner", task="Case")))
        for test in range(tests):
            self.test(test, steps // tests)
        self.file.cut()
        self.file.write(path, "marks.etl")

    def add(self, make, memory=False):
        self.ticks += 10
        ticks = START + self.ticks
        self.file.add(Record(0, ticks, 0, make(ticks), memory))
        return self.ticks

    def system(self, hook, version, pid, payload, memory=False):
        return self.add(lambda ticks: records.system(8, version, hook, pid + 1, pid, ticks, payload), memory)

    def test(self, number, steps):
        if number == 5:
            self.mark("idle")  # nothing happens until the next mark
        self.mark(f"test {number % 9}")  # the last ones have names that were there before
        for opcode, before in ((1, True), (2, False)):
            if not before:
                for _ in range(steps):
                    self.step()
            items = [traits("My.Tests"), schema("Test", [field("name", 1), field("pass", 4)])]
            payload = f"Suite.{number}".encode("utf-16-le") + b"\0\0" + bytes([number % 2])
            at = self.add(lambda ticks: event(8, TESTS.bytes_le, 0, 0, 7, APP, ticks, payload, items, opcode))
            self.starts.append((f"Suite.{number}" + ("" if before else "/Stop"), at, number % 2))
            case = f"case {number}".encode("utf-16-le") + b"\0\0"
            if before:
                self.add(lambda ticks: event(8, RUNNER.bytes_le, 7, 0, 7, APP, ticks, case))

    def mark(self, name):
        at = self.add(lambda ticks: records.perfinfo(8, 0, records.MARK, ticks, name.encode() + b"\0"))
        self.marks.append((name, at))

    def step(self):
        if self.live and self.random.random() < 0.45:
            block = self.live.pop(self.random.randrange(len(self.live)))
            block["free"] = self.system(records.HEAP_FREE, 2, block["pid"],
                                        records.heap_free(8, HEAP, block["address"], 2), True)
            return
        pid = self.random.choice((APP, APP, OTHER))
        block = {"pid": pid, "address": self.next_address, "size": self.random.randrange(1, 4000), "free": None}
        self.next_address += 0x1000
        block["alloc"] = self.system(records.HEAP_ALLOC, 2, pid,
                                     records.heap_alloc(8, HEAP, block["size"], block["address"], 2), True)
        self.blocks.append(block)
        self.live.append(block)


def ns(ticks):
    return ticks * 1_000_000_000 // HZ


def numbered(names):
    seen = Counter()
    rows = []
    for name in names:
        seen[name] += 1
        rows.append((name, seen[name]))
    return rows


def marks_of(source, *arguments):
    return [(mark["name"], mark["number"], mark["time_ns"], mark.get("is_end", False))
            for mark in run_json("info", source, *arguments)["marks"]]


def expected_marks(rows):
    rows = sorted(rows, key=lambda row: row[1])
    return [(name, number, ns(row[1]), name.endswith("/Stop"))
            for (name, number), row in zip(numbered(row[0] for row in rows), rows)]


def try_run(*arguments):
    done = subprocess.run([ETLHEAP, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check_marks(results, work, sources):
    for name, source in sources:
        results.equal(f"{name}: info lists the marks", marks_of(source), expected_marks(work.marks))
    text = run("info", work.path).decode()
    results.check("info names the first marks", "Marks" in text and "13: test 0, test 1, test 2, test 3, test 4, ..." in text, text)
    lines = [json.loads(line) for line in run("dump", work.path, "--format", "ndjson", "--events", "PerfInfo/Mark").decode().splitlines()]
    results.equal("dump names marks", [line["fields"]["text"] for line in lines], [name for name, _ in work.marks])


# --- windows -------------------------------------------------------------------------


def totals_of(work, from_ticks, to_ticks):
    """kind heap: what the window begins and ends with."""
    def live(at):
        return [b for b in work.blocks if b["alloc"] < at and (b["free"] is None or b["free"] >= at)]
    inside = [b for b in work.blocks if from_ticks <= b["alloc"] < to_ticks]
    left = [b for b in inside if b["free"] is None or b["free"] >= to_ticks]
    return {"outstanding": sum(b["size"] for b in live(to_ticks)), "allocated": len(inside), "left": sum(b["size"] for b in left)}


def check_windows(results, work, sources):
    places = {f"{name}#{number}": at for (name, number), (_, at) in zip(numbered(n for n, _ in work.marks), work.marks)}
    for name, source in sources:
        for first, second in (("test 0", "test 1"), ("test 2", "test 0#2"), ("test 1#2", None)):
            ends = ["--from", f"mark:{first}"] + (["--to", f"mark:{second}"] if second else [])
            table = run_json("report", source, "--group-by", "kind", *ends)
            begin = places[first if "#" in first else first + "#1"]
            end = places[second if "#" in second else second + "#1"] if second else work.ticks + 1
            wanted = totals_of(work, begin, end)
            row = table["rows"][0]
            results.equal(f"{name}: report from {first} to {second}", (row["outstanding_size"], table["window"]["from_ns"]),
                          (wanted["outstanding"], ns(begin)))
        windows = run_json("windows", source, "--at", "marks", "--group-by", "kind")["windows"]
        cuts = [0] + [at for _, at in work.marks] + [work.ticks + 1]
        got = []
        for window in windows:
            rows = window["rows"] or [{"outstanding_size": 0, "aifo_size": 0, "aifo_count": 0, "aifi_count": 0}]
            got.append((rows[0]["outstanding_size"], rows[0]["aifo_size"], rows[0]["aifo_count"] + rows[0]["aifi_count"]))
        model = [totals_of(work, a, b) for a, b in zip(cuts, cuts[1:])]
        results.equal(f"{name}: windows at marks", got, [(m["outstanding"], m["left"], m["allocated"]) for m in model])
        check_window_names(results, name, source, windows, [(None, 1), *numbered(n for n, _ in work.marks)])
    lines = run("dump", work.path, "--format", "ndjson", "--from", "mark:test 3", "--to", "mark:test 4").decode().splitlines()
    times = [json.loads(line)["time_ns"] for line in lines]
    results.check("dump between marks", times and times[0] == ns(places["test 3#1"]) and times[-1] < ns(places["test 4#1"]), times[:1])
    at = run_json("report", work.path, "--group-by", "kind", "--at", "mark:test 5")["rows"][0]
    results.equal("report at a mark", at["outstanding_size"], totals_of(work, 0, places["test 5#1"])["outstanding"])


def check_window_names(results, name, source, windows, wanted):
    """Windows at marks are named in every format; others have no names."""
    results.equal(f"{name}: windows have the names of their marks",
                  [(w["mark"], w.get("mark_number", 1)) for w in windows], wanted)
    rows = list(csv.DictReader(run("windows", source, "--at", "marks", "--group-by", "kind,generation", "--format", "csv").decode().splitlines()))
    begins = {window["from_ns"]: mark for window, mark in zip(windows, wanted)}
    results.check(f"{name}: so have they in CSV", rows and all(
        row["window_mark"] == word_of(*begins[int(row["from_ns"])]) for row in rows), rows[:2])
    text = run("windows", source, "--at", "marks", "--group-by", "kind").decode()
    results.equal(f"{name}: and in text, those in which nothing happens, too",
                  re.findall(r"^\S+\.\.\S+ +(test \d+(?:#\d+)?|idle)", text, re.MULTILINE), [word_of(*mark) for mark in wanted[1:]])
    others = run_json("windows", source, "--at", "mark:test 3")["windows"]
    head = run("windows", source, "--at", "mark:test 3", "--format", "csv").decode().splitlines()[0]
    results.check(f"{name}: other windows have no names", "window_mark" not in head and not any("mark" in w for w in others), head)


def word_of(name, number):
    return "" if name is None else name if number == 1 else f"{name}#{number}"


def check_refusals(results, work, store, summary, folder):
    for arguments, words in (
        (["report", work.path, "--from", "mark:tst 3"], "--from: no mark is called 'tst 3'; did you mean test 3"),
        (["windows", work.path, "--at", "mark:nothing like it"], "; marks are test 0, test 1"),
        (["report", store, "--to", "mark:test 8#2"], "--to: unknown mark 'test 8#2': the trace has 1 mark with that name"),
        (["report", summary, "--from", "mark:test 1"], "a summary has no marks"),
        (["report", work.path, "--mark-event", "nonsense"], "--mark-event: invalid value 'nonsense': expected PROVIDER/ID"),
    ):
        status, out, said = try_run(*arguments)
        results.check(f"{' '.join(arguments[2:])} is refused", status == 2 and words in said and not out, status, said)
    status, _, said = try_run("report", store, "--mark-event", f"{TESTS}/0")
    results.check("a store says that its marks are chosen", status == 0 and "with" in said and "--mark-event" in said, said)


# --- generations ---------------------------------------------------------------------


def generation_of(work, ticks):
    return sum(at <= ticks for _, at in work.marks)


def check_generations(results, work, sources):
    """Born in a generation, and still outstanding at the end of a window."""
    names = [None, *numbered(name for name, _ in work.marks)]
    place = dict(zip(names[1:], (at for _, at in work.marks)))
    for name, source in sources:
        for first, last in ((None, None), ("test 3", None), (None, "test 7"), ("test 2", "test 6")):
            begin = place[(first, 1)] if first else 0
            end = place[(last, 1)] if last else work.ticks + 1
            wanted = Counter()
            for block in work.blocks:
                if block["alloc"] >= end or (block["free"] is not None and block["free"] < begin):
                    continue
                stays = block["free"] is None or block["free"] >= end
                key = (generation_of(work, block["alloc"]), block["pid"])
                wanted[(*key, "count")] += 1
                wanted[(*key, "size")] += block["size"]
                wanted[(*key, "left")] += block["size"] * stays
            ends = (["--from", f"mark:{first}"] if first else []) + (["--to", f"mark:{last}"] if last else [])
            for jobs in ("1", "3"):
                rows = run_json("report", source, "--group-by", "generation,process", "-j", jobs, *ends)["rows"]
                got = Counter()
                for row in rows:
                    key = (row["generation"], row["pid"])
                    got[(*key, "count")] += row["count"]
                    got[(*key, "size")] += row["size"]
                    got[(*key, "left")] += row["outstanding_size"]
                results.equal(f"{name}, -j {jobs}: generations from {first} to {last}", +got, +wanted)
            told = {(row["generation"], row["mark"], row.get("mark_number", 1)) for row in rows}
            results.check(f"{name}: generations have the names of marks",
                          all((names[g] or (None, 1)) == (mark, number) for g, mark, number in told), told)
    text = run("report", work.path, "--group-by", "generation", "--top", "all").decode()
    results.check("text names generations by their marks", " 12 test 1#2" in text or " 11 test 0#2" in text, text)
    lines = run("report", work.path, "--group-by", "generation", "--format", "csv").decode().splitlines()
    results.check("CSV has number and mark", lines[0].startswith("kind,generation,mark,") and
                  any(line.startswith("heap,11,test 0#2,") for line in lines), *lines[:3])
    run("export", work.path, "--format", "html", "-o", work.path + ".html")
    status, _, said = try_run("report", work.path, "--group-by", "generation", "--process", "app.exe", "--format", "markdown")
    results.check("Markdown names generations", status == 0 and "11 test 0#2" in said + _, said)
    status, _, said = try_run("diff", work.path, work.path, "--group-by", "generation")
    results.check("generations of two runs are not compared", status == 2 and "cannot be compared" in said, said)


# --- budgets -------------------------------------------------------------------------


def left_of(work, pid=None, begin=0, end=None):
    """Name, number -> bytes and blocks that each mark's interval leaves behind."""
    end = work.ticks + 1 if end is None else end
    ends = [at for _, at in work.marks[1:]] + [end]
    left = {}
    for (name, number), (_, at), stop in zip(numbered(name for name, _ in work.marks), work.marks, ends):
        if at >= end or not (at >= begin or stop > begin):
            continue
        stop = min(stop, end)
        blocks = [b for b in work.blocks if max(at, begin) <= b["alloc"] < stop and (b["free"] is None or b["free"] >= stop)
                  and pid in (None, b["pid"])]
        left[name, number] = (sum(b["size"] for b in blocks), len(blocks))
    return left


def check_of(source, *arguments):
    status, out, said = try_run("check", source, "--format", "json", *arguments)
    return status, json.loads(out) if out else None, said


def check_budgets(results, work, sources, folder):
    place = dict(zip(numbered(name for name, _ in work.marks), (at for _, at in work.marks)))
    everything = left_of(work)
    sizes = sorted(size for size, _ in everything.values())
    for limit in (0, sizes[0], sizes[len(sizes) // 2], sizes[-1]):
        for name, source in sources:
            for jobs in ("1", "3"):
                status, document, said = check_of(source, "-j", jobs, "--max-outstanding", f"heap/mark:{limit}")
                budget = document["budgets"][0]
                got = {(s["mark"], s["mark_number"]): (s["outstanding_size"], s["outstanding_count"]) for s in budget["subjects"]}
                results.equal_maps(f"{name}, -j {jobs}: what each mark leaves behind, limit {limit}", got, everything)
                failed = {(s["mark"], s["mark_number"]) for s in budget["subjects"] if s["verdict"] == "fail"}
                wanted = {mark for mark, (size, _) in everything.items() if size > limit}
                results.equal(f"{name}, -j {jobs}: what fails of {limit}", (failed, status), (wanted, 1 if wanted else 0))
    for pid, process in ((APP, "app"), (OTHER, "other.exe")):
        _, document, _ = check_of(work.path, "--process", process, "--max-outstanding-count", "mark:3", "--kind", "heap")
        got = {(s["mark"], s["mark_number"]): s["measured"] for s in document["budgets"][0]["subjects"]}
        results.equal_maps(f"{process}: allocations left behind", got, {m: count for m, (_, count) in left_of(work, pid).items()})
    begin, end = place["test 2", 1] + 50, place["test 7", 1] + 50
    _, document, _ = check_of(work.path, "--from", f"{ns(begin)}ns", "--to", f"{ns(end)}ns", "--max-outstanding", "heap/mark:1")
    subjects = document["budgets"][0]["subjects"]
    results.equal_maps("intervals in a window", {(s["mark"], s["mark_number"]): s["outstanding_size"] for s in subjects},
                       {m: size for m, (size, _) in left_of(work, None, begin, end).items()})
    results.check("an interval without events passes", everything["idle", 1] == (0, 0) and
                  any(s["mark"] == "idle" and s["verdict"] == "pass" for s in subjects))
    worst = subjects[0]
    rows = run_json("report", work.path, "--group-by", "kind", "--type", "AIFO", "--from", f"{worst['from_ns']}ns", "--to", f"{worst['to_ns']}ns")["rows"]
    results.equal("a report of the interval says the same", rows[0]["size"], worst["measured"])
    files = {name: os.path.join(folder, "verdict." + name) for name in ("junit", "sarif", "markdown")}
    status, _, _ = check_of(work.path, "--max-outstanding", f"heap/mark:{sizes[len(sizes) // 2]}",
                            *(word for name, path in files.items() for word in ("--" + name, path)))
    cases = xml.etree.ElementTree.parse(files["junit"]).getroot().findall(".//testcase")
    marks = [name if number == 1 else f"{name}#{number}" for name, number in everything]
    results.equal("JUnit has a case for each mark", sorted(case.get("name") for case in cases), sorted(marks))
    results.equal("and those that leak too much fail", sum(case.find("failure") is not None for case in cases),
                  sum(size > sizes[len(sizes) // 2] for size, _ in everything.values()))
    with open(files["sarif"], encoding="utf-8") as file:
        sarif = json.load(file)["runs"][0]["results"]
    results.check("SARIF names marks", sarif and all("mark" in row["properties"] for row in sarif), sarif[:1])
    with open(files["markdown"], encoding="utf-8") as file:
        markdown = file.read()
    results.check("Markdown names marks", "outstanding size per mark" in markdown and f"heap {worst['mark']}" in markdown, markdown[:500])


def check_commands(results, work, sources):
    """The command below a failure names the marks, is written once, and shows what the verdict has."""
    order = [word_of(*mark) for mark in numbered(name for name, _ in work.marks)]
    left = {word_of(*mark): size for mark, (size, _) in left_of(work).items()}
    for name, source in sources:
        text = try_run("check", source, "--max-outstanding", "heap/mark:0", "--max-outstanding", "heap/mark:1", "--top", "1")[1]
        commands = [shlex.split(line) for line in re.findall(r"^More: (.*)$", text, re.MULTILINE)]
        begins = [command[command.index("--from") + 1] for command in commands]
        results.equal(f"{name}: each mark that fails has one command", sorted(begins), sorted("mark:" + m for m in left if left[m] > 0))
        for command, begin in list(zip(commands, begins))[:3] + [pair for pair in zip(commands, begins) if pair[1] == "mark:" + order[-1]]:
            at = order.index(begin[len("mark:"):])
            results.equal(f"{name}: the interval of {begin} ends at the next mark",
                          command[command.index("--to") + 1] if "--to" in command else None,
                          "mark:" + order[at + 1] if at + 1 < len(order) else None)
            rows = run_json(*command[1:], "--group-by", "kind")["rows"]
            results.equal(f"{name}: the command of {begin} shows its bytes", rows[0]["size"], left[order[at]])


def check_more_budgets(results, work, folder, plain):
    status, document, said = check_of(plain, "--max-outstanding", "mark:1M")
    results.check("without marks nothing is measured", status == 1 and document["doubts"] == ["no-marks"] and "has no marks" in said,
                  status, document and document["doubts"], said)
    status, _, said = try_run("check", plain, "--max-outstanding", "mark:1M", "--allow-empty")
    results.check("which may be allowed", status == 0, said)
    status, _, said = try_run("check", work.path, "--baseline", work.path, "--max-growth", "mark:1K")
    results.check("growth has no marks", status == 2 and "growth cannot be limited per mark" in said, said)
    _, document, _ = check_of(work.path, "--mark-event", "My.Tests/Test:name=*", "--max-outstanding", "heap/mark:1")
    names = {s["mark"] for s in document["budgets"][0]["subjects"]}
    results.check("what follows a stop is no test", "Suite.3" in names and not any(n.endswith("/Stop") for n in names), names)


# --- events as marks ------------------------------------------------------------------


def check_events(results, work, folder):
    marks = [(name, at) for name, at in work.marks]
    starts = [(name, at) for name, at, _ in work.starts]
    odd = [(name, at) for name, at, odd in work.starts if odd]
    only = [(name, at) for name, at in starts if name.startswith("Suite.1")]
    cases = [(f"case {number}", at + 10) for number, (_, at) in enumerate(starts[::2])]
    named = [("Test/Stop" if name.endswith("/Stop") else "Test/Start", at) for name, at in starts]
    for words, wanted in (
        (["My.Tests/Test:name=*"], starts),
        (["my.tests/test:name=suite.1*"], only),
        (["{%s}/0:name=*" % TESTS], starts),
        (["%s/Test" % TESTS], named),
        (["%s/test/st?p" % TESTS], named[1::2]),
        (["My.*/T*:pass=1"], [("1" + name[len("Suite.0"):].lstrip("0123456789"), at) for name, at in odd]),
        (["Runner/Case:case=*"], cases),
        (["Runner/7:case=case 3"], cases[3:4]),
        ([f"{RUNNER}/7"], [("Case", at) for _, at in cases]),
        (["Runner/Case:nothing=*"], []),
        (["Nobody/Case"], []),
        (["Runner/Case:case=*", "--mark-event", "My.Tests/Test:name=Suite.2"], cases + [s for s in starts if s[0].startswith("Suite.2")]),
    ):
        got = marks_of(work.path, "--mark-event", *words)
        rows = sorted(marks + wanted, key=lambda row: row[1])
        ends = {at for name, at, _ in work.starts if name.endswith("/Stop")}
        expected = [(name, number, ns(row[1]), row[1] in ends) for (name, number), row in zip(numbered(r[0] for r in rows), rows)]
        results.equal(f"--mark-event {' '.join(words)}", got, expected)
    store = os.path.join(folder, "events.ehs")
    run("store", work.path, "-o", store, "--mark-event", "My.Tests/Test:name=*")
    results.equal("a store keeps events as marks", marks_of(store), marks_of(work.path, "--mark-event", "My.Tests/Test:name=*"))
    ends = ["--from", "mark:Suite.3", "--to", "mark:Suite.3/Stop", "--format", "json", "--group-by", "kind"]
    results.equal("a test's window, from its store", rows_of(run("report", store, *ends)),
                  rows_of(run("report", work.path, "--mark-event", "My.Tests/Test:name=*", *ends)))


def rows_of(document):
    return json.loads(document)["rows"]


def main():
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        for seed in (1, 2):
            work = Workload(os.path.join(folder, f"marks{seed}.etl"), seed)
            store, summary = os.path.join(folder, f"marks{seed}.ehs"), os.path.join(folder, f"sum{seed}.ehs")
            run("store", work.path, "-o", store)
            run("store", work.path, "-o", summary, "--summary")
            sources = [("trace", work.path), ("store", store)]
            check_marks(results, work, sources)
            check_windows(results, work, sources)
            check_generations(results, work, sources)
            check_budgets(results, work, sources, folder)
            check_commands(results, work, sources)
            if seed == 1:
                check_refusals(results, work, store, summary, folder)
                check_events(results, work, folder)
                plain = Workload(os.path.join(folder, "plain.etl"), 3, tests=0)
                plain.step()
                plain.file.cut()
                plain.file.write(plain.path, "plain.etl")
                check_more_budgets(results, work, folder, plain.path)
    results.finish()


if __name__ == "__main__":
    main()
