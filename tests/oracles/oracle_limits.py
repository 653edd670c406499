#!/usr/bin/env python3
"""Goal: `check` measures peaks, allocations, temporary allocations and rates as they are, per scope.

Method: random programs whose lifetimes are known (make_trace, and a test runner of the second
writer with marks). A naive model adds up the lifetimes of a subject, or goes along its curve, and
says what each limit must measure and who fails. Traces and stores must say the same, limits just
below and just at the amount must differ, and against a baseline the model is asked for both runs.
Each measure has a regression planted that must fail, beside noise of 3 % that must not.
"""

import json
import os
import random
import subprocess
import xml.etree.ElementTree
from collections import defaultdict

import oracle_marks
from oracle_check import Block, write_trace
from oracle_churn import distances, load, rounded
from oracle_marks import APP, Workload, ns
from oracle_support import ETLHEAP, WORK, Results, lives_of, recorded_part, run, run_json
from oracle_truth import frame_text, module_of, peak, type_of

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
OPTIONS = ("max-peak", "max-allocations", "max-temporary", "max-alloc-rate")
SCOPES = ("total", "process", "heap", "module", "stack", "function")
PLAIN = ["--no-symbols", "--no-cull"]


def path_of(name):
    return os.path.join(WORK, name)


def attempt(*arguments):
    done = subprocess.run([ETLHEAP, "check", *map(str, arguments)], capture_output=True, check=False, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode().strip()


def verdict(*arguments):
    status, out, said = attempt(*arguments, "--format", "json")
    if not out:
        raise RuntimeError(f"check {' '.join(map(str, arguments))}: status {status}: {said}")
    return status, json.loads(out)


# --- the model ---------------------------------------------------------------------------


def subjects_of(row, scope, growth=False):
    """The subjects that a lifetime counts for."""
    owner = (row.kind, row.process.lower()) if growth else (row.kind, row.process, row.pid)
    if scope == "total":
        return [(row.kind,)]
    if scope == "process":
        return [owner]
    if scope == "heap":
        return [(*owner, row.heap)]
    if scope == "module":
        return [(*owner, module_of(row.stack[0]) if row.stack else None)]
    if scope == "stack":
        return [(*owner, row.stack)]
    return [(*owner, frame) for frame in (set(row.stack) if row.stack else {None})]


class World:
    """A trace with its truth."""

    def __init__(self, name, seed, *way):
        self.trace, self.store, truth = (path_of(f"limits-{name}{end}") for end in (".etl", ".ehs", ".json"))
        subprocess.run([MAKE_TRACE, "workload", self.trace, "--truth", truth, "--seed", str(seed), "--events", "3000", *way],
                       check=True, stdout=subprocess.DEVNULL)
        run("store", self.trace, "-o", self.store)
        self.truth = load(truth)
        self.far = distances(self.truth)
        self.lives = lives_of(self.trace)
        self.document = run_json("report", self.trace, "--group-by", "kind", *PLAIN)

    def amounts(self, option, scope, growth=False, selects=lambda row: True):
        """{subject: amount} of the whole trace; subjects that the measure has nothing of are left out."""
        rows, spans = defaultdict(list), {}
        for number, row in enumerate(self.truth.lifetimes):
            kind = type_of(row, row.end_by("leaked"), 0, self.truth.to_ns)
            if kind is None or not selects(row):
                continue
            is_temporary = kind == "AIFI" and not row.at_exit and self.far.get(number) == 0
            for subject in subjects_of(row, scope, growth):
                rows[subject].append((row, kind, is_temporary))
                owner = None if scope == "total" else (row.process, row.pid)
                spans[subject] = self.span(row.kind, owner)
        return {key: self.amount(option, key, members, spans) for key, members in rows.items()}

    def span(self, kind, owner):
        life = self.lives[owner] if owner else (-(1 << 62), 1 << 62)
        begin, end = recorded_part(self.document, (0, self.truth.to_ns), kind, life)
        return end - begin

    @staticmethod
    def amount(option, key, members, spans):
        if option == "max-peak":
            changes, before = [], 0
            for row, kind, _ in members:
                if kind[:2] == "AO":
                    before += row.size
                else:
                    changes.append((row.start, row.size))
                if kind[2:] == "FI":
                    changes.append((row.end, -row.size))
            return peak(changes, before)
        if option == "max-temporary":
            return sum(is_temporary for _, _, is_temporary in members)
        made = sum(kind[:2] == "AI" for _, kind, _ in members)
        return rounded(made, spans[key]) if option == "max-alloc-rate" else made


def key_of(subject, scope, growth=False):
    owner = (subject["kind"],)
    if scope != "total":
        owner += (subject["process"].lower(),) if growth else (subject["process"], subject.get("pid"))
    if scope == "heap":
        return (*owner, subject["heap"])
    if scope == "module":
        return (*owner, subject["module"] and subject["module"].lower())
    if scope in ("stack", "function"):
        frames = None if subject["frames"] is None else tuple(frame_text(frame) for frame in subject["frames"])
        return (*owner, frames if scope == "stack" or frames is None else frames[0])
    return owner


def compare(results, name, budget, wanted, limit, growth=False):
    """Amounts over the limit are all listed; of the others at least the largest."""
    got = {key_of(s, budget["per"], growth): s["measured"] for s in budget["subjects"]}
    failed = {key_of(s, budget["per"], growth) for s in budget["subjects"] if s["verdict"] == "fail"}
    over = {key for key, amount in wanted.items() if amount > limit(key)}
    results.equal(f"{name}: the subjects that fail", failed, over)
    wrong = {key: (amount, wanted.get(key)) for key, amount in got.items() if amount != wanted.get(key, 0)}
    results.check(f"{name}: what was measured of {len(got)} subjects", not wrong, dict(list(wrong.items())[:5]))
    results.equal(f"{name}: how many fail", budget["failed"], len(over))


def check_absolute(results, world, source):
    lossy = any(row["severity"] in ("loss", "damage") for row in world.document["diagnostics"])
    within = (4, "inconclusive") if lossy else (0, "pass")
    for option in OPTIONS:
        for scope in SCOPES:
            wanted = world.amounts(option, scope)
            amounts = sorted(set(wanted.values())) or [0]
            for path, limit in ((world.store, amounts[-1]), (world.store, max(0, amounts[-1] - 1)), (world.trace, source.choice(amounts))):
                status, document = verdict(path, *PLAIN, f"--{option}", f"{scope}:{limit}")
                name = f"{os.path.basename(path)} --{option} {scope}:{limit}"
                compare(results, name, document["budgets"][0], wanted, lambda _, most=limit: most)
                results.equal(f"{name}: the status", (status, document["verdict"]), (1, "fail") if amounts[-1] > limit else within)


def check_names(results, world):
    """A limit with a name is for subjects of that name alone."""
    for option in ("max-allocations", "max-outstanding-count"):
        for scope in ("process", "heap", "module", "function", "stack"):
            everything = verdict(world.store, *PLAIN, f"--{option}", f"{scope}:0")[1]["budgets"][0]["subjects"]
            named = [s for s in everything if scope in ("process", "heap") or s.get("module") or s.get("frames")]
            named = [s for s in named if s.get("heap", True) is not None]
            one = named[len(named) // 2]
            if scope == "module":
                name = one["module"].upper()
                same = [s for s in everything if s["module"] and s["module"].lower() == name.lower()]
            elif scope in ("function", "stack"):
                module = next((f["module"] for f in one["frames"] if f["module"]), None)
                if module is None:
                    continue
                name = module + "!"
                same = [s for s in everything if s["frames"] and any(f["module"] == module for f in s["frames"])]
            else:
                name = one[scope]
                same = [s for s in everything if s.get(scope) == name]
            budget = verdict(world.store, *PLAIN, f"--{option}", f"{scope}:{name}:0")[1]["budgets"][0]
            results.equal(f"--{option} {scope}:{name}:0 is for these alone", sorted(key_of(s, scope) for s in budget["subjects"]),
                          sorted((key_of(s, scope) for s in same)))
            results.equal(f"--{option} {scope}:{name}: the name is told", budget["name"], name)
    pid = world.truth.lifetimes[0].pid
    found = verdict(world.store, *PLAIN, "--max-allocations", f"process:{pid}:0")[1]["budgets"][0]["subjects"]
    results.check("a process by its id", found and {s["pid"] for s in found} == {pid}, found[:2])
    status, document = verdict(world.store, *PLAIN, "--max-peak", "process:nobody.exe:1T")
    results.equal("a process that is not there fails", (status, document["doubts"][-1], document["nothing_measured"]["patterns"]),
                  (1, "no-process", ["nobody.exe"]))
    status, document = verdict(world.store, *PLAIN, "--max-peak", "process:nobody.exe:1T", "--allow-empty", "--lenient")
    results.equal("unless that is allowed", status, 0)


# --- against a baseline --------------------------------------------------------------------


def check_growth(results):
    """Programs whose blocks and places are drawn twice; names and offsets match."""
    source = random.Random(3)
    frames = [("app.exe", 0x1000 + 16 * i) for i in range(3)] + [("lib.dll", 0x1000), ("Qt5.dll", 0x1010)]
    stacks = [tuple(source.sample(frames, source.randrange(1, 4))) for _ in range(6)]
    both = []
    for name in ("limits-base.etl", "limits-now.etl"):
        blocks = [Block("heap", source.randrange(1, 9) * 4096, source.choice(stacks)) for _ in range(60)]
        both.append((write_trace(name, blocks), blocks))
    (base_path, base), (now_path, now) = both
    keys = {"total": lambda b: [()], "process": lambda b: [()], "module": lambda b: [b.stack[0][0].lower()],
            "stack": lambda b: [b.stack], "function": lambda b: set(b.stack)}
    for option, value in (("max-peak", lambda b: b.size), ("max-allocations", lambda b: 1)):
        for scope, key in keys.items():
            sums = []
            for blocks in (base, now):  # nothing is ever freed: the peak is the sum
                of = defaultdict(int)
                for block in blocks:
                    for at in key(block):
                        of[at] += value(block)
                sums.append(of)
            wanted = {at: (sums[1][at] - sums[0][at], sums[0][at]) for at in {*sums[0], *sums[1]}}
            for limit, percent in ((0, 0), (2, 0), (0, 10), (4096, 12.5)):
                amount = f"+{limit}" + (f"+{percent}%" if percent else "")
                status, document = verdict(now_path, *PLAIN, "--baseline", base_path, f"--{option}", f"heap/{scope}:{amount}", "--top", 1)
                got = {}
                for s in document["budgets"][0]["subjects"]:
                    at = ()
                    if scope == "module":
                        at = s["module"].lower()
                    elif scope in ("stack", "function"):
                        places = tuple((f["module"], int(f["offset"], 16)) for f in s["frames"])
                        at = places if scope == "stack" else places[0]
                    got[at] = (s["measured"], s["limit"], s["verdict"])
                expected = {at: (grown, most, "fail" if grown > most else "pass") for at, (grown, before) in wanted.items()
                            for most in [limit + before * int(percent * 10000) // 1000000]}
                name = f"--{option} {scope}:{amount} against a baseline"
                results.equal_maps(f"{name}: {len(got)} subjects", got, expected)
                results.equal(f"{name}: the status", status, 1 if any(v == "fail" for _, _, v in expected.values()) else 0)


def check_planted(results):
    """A regression of each measure fails, 3 % of noise does not."""
    def world(name, scale, extra):
        work = Bursts(path_of(name), scale, extra)
        return work.path
    base, noise = world("planted-base.etl", 100, ()), world("planted-noise.etl", 103, ())
    for option, extra in (("max-peak", ("peak",)), ("max-allocations", ("many",)), ("max-temporary", ("temporary",)),
                          ("max-alloc-rate", ("many",))):
        bad = world(f"planted-{extra[0]}.etl", 100, extra)
        for scope in ("total", "process", "process:app*"):
            limit = ["--baseline", base, f"--{option}", f"heap/{scope}:5%"]
            results.equal(f"--{option} {scope}:5%: the planted regression fails", verdict(bad, *PLAIN, *limit)[0], 1)
            results.equal(f"--{option} {scope}:5%: 3 % of noise passes", verdict(noise, *PLAIN, *limit)[0], 0)
            results.equal(f"--{option} {scope}:2%: without tolerance it fails", verdict(noise, *PLAIN, *limit[:3], f"heap/{scope}:2%")[0], 1)
    steady = [option for option in OPTIONS if option != "max-peak"]
    bad = world("planted-peak.etl", 100, ("peak",))
    for option in steady:
        results.equal(f"the higher peak is no matter of --{option}", verdict(bad, *PLAIN, "--baseline", base, f"--{option}", "heap/total:5%")[0], 0)


class Bursts(Workload):
    """Bursts of blocks of equal sizes, at equal times whatever is added: `scale` per cent of 100 of them."""

    def __init__(self, path, scale, extra):
        self.scale, self.extra = scale, extra
        super().__init__(path, 1, tests=1, steps=1)

    def test(self, number, steps):
        self.mark("load")
        live = [self.block() for _ in range(self.scale)]
        if "peak" in self.extra:
            spike = self.block(100 * 64)
            self.free(spike)
        for block in live:
            self.free(block)
        for _ in range(self.scale):  # allocated, used and freed at once
            self.free(self.block())
            if "temporary" in self.extra and _ % 5 == 0:
                self.free(self.block())
        if "many" in self.extra:
            live = [self.block(1) for _ in range(self.scale)]
            for block in live:
                self.free(block)
        self.mark("idle")
        self.ticks = 20_000
        self.mark("end")

    def block(self, size=64):
        block = {"pid": APP, "address": self.next_address, "size": size, "free": None}
        self.next_address += 0x10000
        block["alloc"] = self.system(oracle_marks.records.HEAP_ALLOC, 2, APP,
                                     oracle_marks.records.heap_alloc(8, oracle_marks.HEAP, size, block["address"], 2), True)
        self.blocks.append(block)
        return block

    def free(self, block):
        block["free"] = self.system(oracle_marks.records.HEAP_FREE, 2, APP,
                                    oracle_marks.records.heap_free(8, oracle_marks.HEAP, block["address"], 2), True)


# --- marks -----------------------------------------------------------------------------------


def of_marks(work, option):
    """{(mark, number): amount} of the blocks of both processes."""
    rows = sorted(work.marks, key=lambda row: row[1])
    begins = [at for _, at in rows] + [work.ticks + 1]
    amounts, seen = {}, defaultdict(int)
    last = {}
    order = sorted([(b["alloc"], True, b) for b in work.blocks] + [(b["free"], False, b) for b in work.blocks if b["free"] is not None],
                   key=lambda event: event[0])
    temporary = set()
    for at, begins_now, block in order:
        if begins_now:
            last[block["pid"]] = block
        elif last.get(block["pid"]) is block:
            temporary.add(id(block))
    for (name, begin), end in zip(rows, begins[1:]):
        seen[name] += 1
        inside = [b for b in work.blocks if begin <= b["alloc"] < end]
        if option == "max-peak":
            changes = [(b["alloc"], b["size"]) for b in inside]
            changes += [(b["free"], -b["size"]) for b in work.blocks if b["free"] is not None and begin <= b["free"] < end]
            before = sum(b["size"] for b in work.blocks if b["alloc"] < begin and (b["free"] is None or b["free"] >= begin))
            amounts[name, seen[name]] = peak(changes, before)
        elif option == "max-temporary":
            amounts[name, seen[name]] = sum(id(b) in temporary for b in inside)
        else:
            span = ns(end) - ns(begin) + (1 if end == begins[-1] and end > work.ticks else 0)
            amounts[name, seen[name]] = len(inside) if option == "max-allocations" else (len(inside), span)
    return amounts


def check_marks(results):
    work = Workload(path_of("limits-marks.etl"), 5)
    store = path_of("limits-marks.ehs")
    run("store", work.path, "-o", store)
    for option in OPTIONS:
        wanted = of_marks(work, option)
        for path in (work.path, store):
            for limit in (0, 5, 1000):
                status, document = verdict(path, f"--{option}", f"heap/mark:{limit}")
                got = {(s["mark"], s["mark_number"]): s for s in document["budgets"][0]["subjects"]}
                name = f"{os.path.basename(path)} --{option} mark:{limit}"
                if option == "max-alloc-rate":
                    close = {mark: rounded(got[mark]["alloc_count"], got[mark]["to_ns"] - got[mark]["from_ns"]) for mark in got}
                    results.equal_maps(f"{name}: rates of {len(got)} marks", {m: s["measured"] for m, s in got.items()}, close)
                    results.equal_maps(f"{name}: their allocations", {m: s["alloc_count"] for m, s in got.items()},
                                       {m: made for m, (made, _) in wanted.items()})
                    over = any(rate > limit for rate in close.values())
                else:
                    results.equal_maps(f"{name}: {len(got)} marks", {m: s["measured"] for m, s in got.items()}, wanted)
                    over = any(amount > limit for amount in wanted.values())
                results.equal(f"{name}: the status", status, 1 if over else 0)
    # The zero-allocation test.
    amounts = of_marks(work, "max-allocations")
    quiet = next(mark for mark, made in amounts.items() if made == 0)[0]
    busy = next(mark for mark, made in amounts.items() if made > 0)[0]
    for name, wanted in ((quiet, 0), (busy, 1), (f"{busy}#1", 1)):
        status, document = verdict(work.path, "--max-allocations", f"mark:{name}:0")
        results.equal(f"--max-allocations mark:{name}:0", (status, document["verdict"]), (wanted, "fail" if wanted else "pass"))
        marks = {s["mark"] for s in document["budgets"][0]["subjects"]}
        results.equal(f"mark:{name} is judged alone", marks, {name.split("#")[0]})
    status, document = verdict(work.path, "--max-allocations", "mark:nothing:0")
    results.equal("a mark that is not there fails", (status, document["doubts"]), (1, ["no-marks"]))
    text = " ".join(attempt(work.path, "--max-allocations", "mark:nothing:0")[1].split())
    results.check("and is named", "the window has no mark 'nothing'" in text, text[:300])


# --- forms -------------------------------------------------------------------------------------


def check_forms(results, world):
    """Every format says what was measured, in words and with units."""
    limits = [word for option in OPTIONS for word in (f"--{option}", "heap/process:1")] + ["--max-allocations", "heap/module:1", "--top", "1"]
    status, text, _ = attempt(world.store, *PLAIN, *limits)
    text = " ".join(text.split())
    for words in ("peak size per process, at most 1 B", "allocations per process, at most 1 allocation", "temporary allocations per process",
                  "allocation rate per process, at most 1 allocation per second", "allocations per module"):
        results.check(f"text: {words}", status == 1 and words in text, text[:600])
    cases = xml.etree.ElementTree.fromstring(attempt(world.store, *PLAIN, *limits, "--format", "junit")[1]).findall(".//testcase")
    kinds = {case.get("classname") for case in cases if case.find("failure") is not None}
    results.equal("JUnit has a class for each", kinds, {f"etlheap.{option}.process" for option in OPTIONS} | {"etlheap.max-allocations.module"})
    log = json.loads(attempt(world.store, *PLAIN, *limits, "--format", "sarif")[1])["runs"][0]
    rules = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    results.equal("SARIF has results of each", {rules[r["ruleIndex"]] for r in log["results"]}, set(OPTIONS))
    results.check("and each names its rule", all(rules[r["ruleIndex"]] == r["ruleId"] for r in log["results"]))
    prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in log["results"]]
    results.equal("no two have one fingerprint", len(set(prints)), len(prints))
    markdown = attempt(world.store, *PLAIN, *limits, "--format", "markdown")[1]
    results.check("Markdown has units", "allocation per second" in markdown and "peak size per process" in markdown, markdown[:400])
    for line in (line for line in attempt(world.store, *PLAIN, *limits)[1].splitlines() if line.startswith("More: ")):
        done = subprocess.run(["sh", "-c", line[6:].replace("etlheap", ETLHEAP, 1)], capture_output=True, check=False, timeout=60)
        results.equal(f"it runs: {line}", (done.returncode, done.stderr), (0, b""))


def check_names(results, world):
    """A NAME is matched as in every other option: case, wildcards, and a module's extension do not matter."""
    modules = {}
    for row in run_json("report", world.store, "--kind", "heap", "--group-by", "process,module", "--top", "all", *PLAIN)["rows"]:
        if row["module"] is not None:
            modules.setdefault(row["module"], set()).add(row["pid"])
    module = max((name for name in modules if "." in name), key=lambda name: (len(modules[name]), name))
    stem = module.rpartition(".")[0]
    for name, is_found in ((module, True), (module.upper(), True), (stem, True), (stem[:-1] + "*", True), (stem[:-1], False)):
        for limit in (f"module:{name}", f"function:{name}!"):
            _, document = verdict(world.store, *PLAIN, "--max-allocations", f"heap/{limit}:0")
            results.equal(f"{limit} is found: {is_found}", document["budgets"][0]["judged"] > 0, is_found)


def check_unknown(results, world):
    """Summaries have totals; a peak that nobody knows proves nothing."""
    summary, again = path_of("limits-sum.ehs"), path_of("limits-merged.ehs")
    run("store", world.trace, "--summary", "-o", summary)
    other = World("b", 12)
    run("store", other.trace, "--summary", "-o", path_of("limits-other.ehs"))
    run("merge", summary, path_of("limits-other.ehs"), "-o", again)
    status, document = verdict(again, *PLAIN, "--max-peak", "process:1")
    results.check("peaks of merged summaries are not known", "peak-unknown" in document["doubts"] and status in (1, 4), (status, document["doubts"]))
    unknown = [s for s in document["budgets"][0]["subjects"] if s["measured"] is None]
    results.check("and are null", unknown and {s["verdict"] for s in unknown} == {"inconclusive"}, document["budgets"][0]["subjects"][:2])
    made = verdict(summary, *PLAIN, "--max-allocations", "total:0")[1]["budgets"][0]["subjects"]
    results.equal_maps("a summary counts allocations", {(s["kind"],): s["measured"] for s in made}, world.amounts("max-allocations", "total"))
    status, _, said = attempt(summary, *PLAIN, "--max-temporary", "total:0")
    results.check("a summary has nothing temporary, and says so", status == 3 or status == 2 and "summary" in said, (status, said))
    suppress = path_of("limits.supp")
    module = next(m for m in sorted({module_of(f) for r in world.truth.lifetimes for f in r.stack or ()} - {None}))
    with open(suppress, "w", encoding="utf-8") as file:
        file.write(f"leak:{module}\n")
    def kept(row):
        return not (row.stack and any(module_of(f) == module for f in row.stack))
    for option in ("max-allocations", "max-temporary"):
        document = verdict(world.store, *PLAIN, f"--{option}", "total:0", "--suppressions", suppress)[1]
        results.equal_maps(f"--{option}: suppressed stacks do not count", {(s["kind"],): s["measured"] for s in document["budgets"][0]["subjects"]
                                                                          if s["measured"]},
                           {k: v for k, v in world.amounts(option, "total", selects=kept).items() if v})
    status, document = verdict(world.store, *PLAIN, "--max-peak", "total:1", "--suppressions", suppress)
    results.check("a peak with suppressed stacks in it proves nothing", status in (1, 4) and "peak-suppressed" in document["doubts"], document["doubts"])
    document = verdict(world.store, *PLAIN, "--max-peak", "total:1T", "--suppressions", suppress)[1]
    results.check("unless it is within the limit", "peak-suppressed" not in document["doubts"] and document["verdict"] != "fail", document["doubts"])
    document = verdict(world.store, *PLAIN, "--max-peak", "stack:1", "--suppressions", suppress)[1]
    shown = [s for s in document["budgets"][0]["subjects"] if s["frames"] and any(f["module"] == module for f in s["frames"])]
    results.check("stacks are told apart by themselves", document["verdict"] == "fail" and not shown, shown[:1])


def main():
    results = Results()
    source = random.Random(7)
    world = World("a", 11)
    check_absolute(results, world, source)
    check_names(results, world)
    check_growth(results)
    check_planted(results)
    check_marks(results)
    check_forms(results, world)
    check_names(results, world)
    check_unknown(results, world)
    results.finish()


if __name__ == "__main__":
    main()
