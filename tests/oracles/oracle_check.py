#!/usr/bin/env python3
"""Compares the verdicts of `etlheap check` with a model, and its documents with their schemas.

Model: random traces are written from lists of blocks; the same lists, summed in a few lines of
Python, say what each budget must measure, which subjects fail and which stacks are to blame.
Suppressions: patterns and names at random are matched by us and by the library that LeakSanitizer
is made with, which gcc ships. Ratchet: three builds of which each grows by 3 % pass against their predecessor
and fail against the smallest. JUnit documents are validated with junit.xsd, SARIF logs with the
schema of the standard, which Microsoft's npm package jest-sarif has.
"""

import collections
import glob
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import tarfile
import xml.etree.ElementTree

from oracle_support import ETLHEAP, WORK, Results

OUT = os.environ.get("OUT", "build/check")
BUILD = os.environ.get("BUILD", "build")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
MAKE_SYMBOL_TRACE = os.path.join(OUT, "make_symbol_trace")
TESTS = os.path.dirname(os.path.abspath(__file__))
SEED = int(os.environ.get("SEED", "1"))
SARIF_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
MODULES = {"app.exe": 0x400000, "lib.dll": 0x500000, "Qt5.dll": 0x600000}

Amount = collections.namedtuple("Amount", "size count")
Block = collections.namedtuple("Block", "kind size stack")


def path_of(name):
    return os.path.join(WORK, name)


def attempt(*arguments):
    """(status, stdout, stderr) of a check, which may fail."""
    done = subprocess.run([ETLHEAP, "check", *map(str, arguments)], capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def verdict(*arguments):
    status, out, said = attempt(*arguments, "--format", "json")
    if status not in (0, 1, 4):
        raise RuntimeError(f"check {' '.join(map(str, arguments))}: status {status}: {said}")
    return status, json.loads(out)


# --- traces from lists of blocks ---------------------------------------------------------


def write_trace(name, blocks, stamp=0x5F000000):
    """A trace of app.exe whose blocks are never freed; a frame is (module, offset)."""
    lines = [f"module {module} {base:x} 10000 {stamp:x}" for module, base in MODULES.items()]
    for block in blocks:
        word = "alloc" if block.kind == "heap" else "commit"
        lines.append(" ".join([word, f"{block.size:x}", *(f"{MODULES[m] + o:x}" for m, o in block.stack)]))
    path = path_of(name)
    subprocess.run([MAKE_SYMBOL_TRACE, path], input="\n".join(lines).encode() + b"\n", check=True)
    return path


def random_blocks(rng, stacks):
    return [
        Block(rng.choice(("heap", "heap", "virtualalloc")), rng.randrange(1, 40) * 0x1000, rng.choice(stacks))
        for _ in range(rng.randrange(1, 60))
    ]


def random_stacks(rng):
    frames = [(module, 0x1000 + 0x10 * i) for module in MODULES for i in range(4)]
    stacks = [()] + [tuple(rng.choice(frames) for _ in range(rng.randrange(1, 5))) for _ in range(8)]
    return list(dict.fromkeys(stacks))


# --- the model ---------------------------------------------------------------------------


def sums(blocks, key):
    found = collections.defaultdict(lambda: Amount(0, 0))
    for block in blocks:
        at = key(block)
        found[at] = Amount(found[at].size + block.size, found[at].count + 1)
    return found


KEYS = {
    "total": lambda block: (block.kind,),
    "process": lambda block: (block.kind,),
    "heap": lambda block: (block.kind,),
    "stack": lambda block: (block.kind, block.stack),
}


def model(budget, blocks, baseline):
    """{subject: (measured, limit, {stack: measured})} of the subjects that there are."""
    option, scope, limit, millionths = budget
    field = 1 if option.endswith("count") else 0
    growth = "growth" in option
    base = baseline if growth else []
    subjects = {}
    now_sums, base_sums = sums(blocks, KEYS[scope]), sums(base, KEYS[scope])
    keys = set(now_sums) | set(base_sums)
    if scope in ("total", "process"):  # what was measured and has nothing is a subject, too
        keys |= {(kind,) for kind in ("heap", "virtualalloc") if any(b.kind == kind for b in blocks)}
    for key in sorted(keys, key=repr):
        before = base_sums[key][field]
        of_key = {
            stack: sums([b for b in blocks if KEYS[scope](b) == key], lambda b: b.stack)[stack][field]
            - sums([b for b in base if KEYS[scope](b) == key], lambda b: b.stack)[stack][field]
            for stack in sorted({b.stack for b in itertools.chain(blocks, base) if KEYS[scope](b) == key})
        }
        subjects[key] = (now_sums[key][field] - before, limit + before * millionths // 1000000, of_key)
    return subjects


def frames_of(frames):
    return () if frames is None else tuple((f["module"], int(f["offset"], 16)) for f in frames)


def compare(results, name, found, wanted, stacks_max):
    """One budget of the document against the model's subjects; extents are not modelled."""
    scope = found["per"]
    got, blamed = {}, {}
    for subject in found["subjects"]:
        if subject["kind"] == "extent":
            continue
        key = (subject["kind"],) + ((frames_of(subject["frames"]),) if scope == "stack" else ())
        got[key] = (subject["measured"], subject["limit"], subject["verdict"])
        if subject["verdict"] == "fail":
            field = "count" if found["measure"] == "count" else "size"
            blamed[key] = {
                frames_of(stack["frames"]): stack[f"outstanding_{field}"] - stack.get(f"baseline_{field}", 0)
                for stack in subject["stacks"]
            }
    expected = {key: (m, l, "fail" if m > l else "pass") for key, (m, l, _) in wanted.items()}
    results.equal_maps(f"{name}: subjects, what was measured, limits and verdicts", got, expected)
    for key, stacks in blamed.items():
        guilty = sorted((v for v in wanted[key][2].values() if v > 0), reverse=True)
        good = all(wanted[key][2][stack] == value for stack, value in stacks.items())
        largest = sorted(stacks.values(), reverse=True) == guilty[:stacks_max]
        results.check(f"{name}: the largest stacks are blamed", good and largest, f"{stacks} of {wanted[key][2]}")
    worst = "fail" if any(v == "fail" for _, _, v in expected.values()) else "pass"
    results.equal(f"{name}: the verdict", found["verdict"], worst)


def random_budget(rng, blocks, baseline):
    option = rng.choice(("max-outstanding", "max-outstanding-count", "max-growth", "max-growth-count"))
    growth, count = "growth" in option, option.endswith("count")
    scope = rng.choice(("total", "process", "stack") if growth else ("total", "process", "stack", "heap"))
    near = [m for m, _, _ in model((option, scope, 0, 0), blocks, baseline).values()]
    limit = max(0, rng.choice(near) + rng.choice((-1, 0, 1, 5000)))
    percent = rng.choice((0, 0, 5, 12.5)) if growth else 0
    amount = f"{limit}" + (f"+{percent}%" if percent else "")
    return (option, scope, limit, int(percent * 10000)), f"--{option}", f"{scope}:{amount}"


def check_random(results, rounds):
    rng = random.Random(SEED)
    for number in range(rounds):
        stacks = random_stacks(rng)
        base, now = random_blocks(rng, stacks), random_blocks(rng, stacks)
        base_path, now_path = write_trace("base.etl", base), write_trace("now.etl", now)
        budgets = [random_budget(rng, now, base) for _ in range(4)]
        options = [word for _, *words in budgets for word in words]
        if any("growth" in word for word in options):
            options += ["--baseline", base_path]
        stacks_max = rng.randrange(1, 6)
        status, document = verdict(now_path, *options, "--top", stacks_max)
        order = ("max-outstanding", "max-outstanding-count", "max-growth", "max-growth-count")
        budgets.sort(key=lambda budget: order.index(budget[0][0]))
        for (budget, option, amount), found in zip(budgets, document["budgets"]):
            name = f"random trace {number}, {option} {amount}"
            # A kind that the baseline has no event of proves nothing; the table of verdicts has that.
            missing = {b.kind for b in now} - {b.kind for b in base}
            if not ("growth" in option and missing):
                compare(results, name, found, model(budget, now, base), stacks_max)
        results.equal(f"random trace {number}: the status", status, 1 if document["verdict"] == "fail" else 0)


# --- verdicts and statuses ---------------------------------------------------------------


def make_trace(name, *options):
    path = path_of(name)
    subprocess.run([MAKE_TRACE, "demo", path, *options], check=True, capture_output=True)
    return path


def check_table(results):
    """Every verdict, of every kind of budget, as it is, with --strict, and with --lenient."""
    sound, lossy = make_trace("demo.etl"), make_trace("lossy.etl", "--unclosed")
    kernel = path_of("kernel.etl")
    subprocess.run([MAKE_TRACE, "demo", kernel, "--split", path_of("heap.etl")], check=True, capture_output=True)
    kinds = [
        ("--max-outstanding", "1K", "1G"), ("--max-outstanding-count", "heap/0", "heap/1000000"),
        ("--max-growth", "1K", "1G"), ("--max-growth-count", "0", "1000000"),
    ]
    small = write_trace("small.etl", [Block("heap", 1, ()), Block("virtualalloc", 0x1000, ())])
    for option, low, high in kinds:
        base = ["--baseline", small] if "growth" in option else []
        table = [
            (sound, low, "fail", 1, 1), (sound, high, "pass", 0, 0),
            (lossy, low, "fail", 1, 1), (lossy, high, "inconclusive", 4, 0),
        ]
        for trace, limit, wanted, plain, lenient in table:
            name = f"{option} {limit} of {os.path.basename(trace)}"
            status, document = verdict(trace, option, limit, *base)
            results.equal(f"{name}: {wanted}, status {plain}", (document["verdict"], status), (wanted, plain))
            for more, expected in (("--strict", plain), ("--lenient", lenient)):
                status = verdict(trace, option, limit, *base, more)[0]
                results.equal(f"{name} {more}: status {expected}", status, expected)
    # A lossy baseline may be too small or, if frees were lost, too large: nothing is proven.
    for limit in ("0", "1G"):
        arguments = [sound, "--max-growth", f"total:{limit}", "--baseline", write_lossy(lossy)]
        status, document = verdict(*arguments)
        results.equal(f"growth of {limit} over a lossy baseline: inconclusive", (document["verdict"], status), ("inconclusive", 4))
        results.equal("the same with --strict and --lenient", [verdict(*arguments, more)[0] for more in ("--strict", "--lenient")], [4, 0])
    check_nothing_seen(results, sound, kernel, small)
    check_decisions(results, sound, lossy, small)
    check_usage(results, sound)


def write_lossy(path):
    """The first part of the trace: less is outstanding, and its end is missing."""
    out = path_of("part.etl")
    with open(path, "rb") as file:
        data = file.read()
    with open(out, "wb") as file:
        file.write(data[: len(data) // 65536 * 65536 // 2])
    return out


def check_nothing_seen(results, sound, kernel, small):
    limit = ("--max-outstanding", "1G")
    cases = [
        ("no process matches", [sound, *limit, "--process", "nobody.exe"], "no-process"),
        ("one of two patterns matches nothing",
         [sound, *limit, "--process", "BatteryMeter.exe", "--process", "nobody.exe"], "no-process"),
        ("the kind has no events", [kernel, *limit, "--kind", "heap"], "no-events"),
        ("the kind of a budget has none", [kernel, "--max-outstanding", "heap/1G"], "no-events"),
    ]
    for name, arguments, doubt in cases:
        status, document = verdict(*arguments)
        results.equal(f"{name}: fails", (status, document["verdict"]), (1, "fail"))
        results.equal(f"{name}: {doubt}", document["doubts"], [doubt])
        results.equal(f"{name}, with other options: status 1",
                      [verdict(*arguments, more)[0] for more in ("--strict", "--lenient")], [1, 1])
        rows = [subject["verdict"] for budget in document["budgets"] for subject in budget["subjects"]]
        results.check(f"{name}: nothing in it says pass", "pass" not in rows, rows)
        check_absence(results, name, arguments, "BatteryMeter.exe" if arguments[0] == sound else "MemoryTestApp.exe")
        status, document = verdict(*arguments, "--allow-empty")
        results.equal(f"{name} --allow-empty: passes", (status, document["verdict"]), (0, "pass"))
    # Nothing happens in this window to a process that was measured.
    for window in (["--from", "0", "--to", "1ns"], ["--from", "19.9s", "--to", "19.91s"]):
        status, document = verdict(sound, *limit, "--process", "BatteryMeter.exe", *window)
        results.equal(f"an empty window passes: {window}", (status, document["verdict"], document["doubts"]), (0, "pass", []))
    only_heap = write_trace("only-heap.etl", [Block("heap", 1, ())])
    status, document = verdict(small, "--baseline", only_heap, "--max-growth", "0")
    results.equal("a kind that the baseline has no events of: inconclusive",
                  (document["verdict"], document["doubts"]), ("inconclusive", ["baseline-no-events"]))


def check_absence(results, name, arguments, seen):
    """That nothing was measured is the verdict of every format, with the processes that have events."""
    status, text, said = attempt(*arguments)
    text = " ".join(text.decode().split())
    results.check(f"{name}: text says so and names what there is",
                  status == 1 and text.startswith("FAIL: nothing was measured") and f"{seen} (" in text
                  and "--allow-empty" in text, text[:300])
    results.check(f"{name}: so does stderr, in one line",
                  "nothing was measured: " in said and seen in said and said.count("\n") == 0, said)
    document = verdict(*arguments)[1]["nothing_measured"]
    results.check(f"{name}: so does JSON",
                  seen in {process["process"] for process in document["processes"]}
                  and document["patterns"] == [word for word in arguments if word == "nobody.exe"], document)
    suite = xml.etree.ElementTree.fromstring(attempt(*arguments, "--format", "junit")[1])[0]
    failures = suite.findall("testcase/failure")
    results.check(f"{name}: so does JUnit",
                  len(failures) == 1 and suite.get("failures") == "1"
                  and len(suite.findall("testcase/skipped")) == len(suite.findall("testcase")) - 1
                  and failures[0].get("message").startswith("nothing was measured: ")
                  and seen in failures[0].get("message"), [f.attrib for f in failures])
    run = json.loads(attempt(*arguments, "--format", "sarif")[1])["runs"][0]
    messages = [result["message"]["text"] for result in run["results"] if result["level"] == "error"]
    results.check(f"{name}: so does SARIF",
                  len(messages) == 1 and messages[0].startswith("nothing was measured: ")
                  and seen in messages[0] and run["properties"]["verdict"] == "fail", messages)


# --- decisions ---------------------------------------------------------------------------

Situation = collections.namedtuple("Situation", "lossy measured exceeded baseline update required lenient allow")


def decide(s):
    """(status, is the run the next baseline) as docs/check.md has it."""
    if not s.measured and not s.allow:
        return 1, False
    if s.required == "process" or (s.required == "baseline" and s.baseline == "absent" and s.update != "accept"):
        return 1, False
    if s.update == "accept":
        return (4, False) if s.lossy else (0, True)
    if s.baseline in ("none", "sound") and s.exceeded and s.measured:
        return 1, False
    if s.lossy or s.baseline == "lossy":
        return (0 if s.lenient else 4), False
    # A run that is larger than its baseline never takes its place by itself.
    return 0, s.update == "update" and s.baseline == "absent" and s.measured


def situations():
    for values in itertools.product((False, True), (False, True), (False, True), ("none", "absent", "sound", "lossy"),
                                    ("no", "update", "accept"), ("", "baseline", "process"), (False, True), (False, True)):
        s = Situation(*values)
        # Nothing can be updated or required without --baseline. Without an update and a requirement, a missing file is an error.
        if s.baseline == "none" and (s.update != "no" or s.required == "baseline"):
            continue
        if s.baseline == "absent" and s.update == "no" and s.required != "baseline":
            continue
        # Neither option excuses what is missing, so with a requirement both are given or none; and what measured nothing fails before.
        if s.required == "" or (s.lenient == s.allow and s.measured and (s.required == "baseline" or not s.exceeded)):
            yield s


def check_decisions(results, sound, lossy, small):
    """Every combination of what a run, its baseline and the options can be: the status, and the baseline file."""
    stores = {}
    for name, trace in (("now-sound", sound), ("now-lossy", lossy), ("sound", small), ("lossy", write_lossy(lossy))):
        stores[name] = path_of(f"decide-{name}.ehs")
        subprocess.run([ETLHEAP, "store", trace, "-o", stores[name]], check=True, capture_output=True)
    contents = {name: read_bytes(path) for name, path in stores.items()}
    base = path_of("decide-base.ehs")
    wrong, statuses, written = [], collections.Counter(), 0
    for s in situations():
        if os.path.exists(base):
            os.remove(base)
        if s.baseline in ("sound", "lossy"):
            shutil.copyfile(stores[s.baseline], base)
        run = "now-lossy" if s.lossy else "now-sound"
        limit = "total:0" if s.exceeded else "total:1G"
        words = [stores[run], *(["--max-outstanding", limit] if s.baseline == "none" else ["--max-growth", limit, "--baseline", base])]
        words += [] if s.measured else ["--process", "nobody.exe"]
        words += {"no": [], "update": ["--update-baseline"], "accept": ["--update-baseline", "--accept"]}[s.update]
        words += {"": [], "baseline": ["--require-baseline"], "process": ["--require-process", "nobody.exe,BatteryMeter"]}[s.required]
        words += ["--lenient"] * s.lenient + ["--allow-empty"] * s.allow
        status, out, said = attempt(*words, "--format", "json")
        before = contents.get(s.baseline)
        after = read_bytes(base) if os.path.exists(base) else None
        wanted = decide(s)
        good = status == wanted[0] and after == (contents[run] if wanted[1] else before)
        update = json.loads(out)["baseline"]["update"] if s.baseline != "none" else "none"
        good = good and (update in ("created", "accepted")) == wanted[1]
        if not good:
            wrong.append(f"{s}: status {status}, update {update}, wanted {wanted}: {said}")
        statuses[status] += 1
        written += wanted[1]
    results.check(f"{sum(statuses.values())} situations have the status and the baseline file that docs/check.md says",
                  not wrong, *wrong[:6])
    results.check("each status and outcome occurs", set(statuses) == {0, 1, 4} and written > 10, statuses, written)


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def check_usage(results, sound):
    """What is wrong with the question is status 2, with the input 3, each with a sentence."""
    supp = path_of("bad.supp")
    with open(supp, "w", encoding="utf-8") as file:
        file.write("# known\nleak:fine\nrace:foo\n")
    cases = [
        (2, "needs a limit", [sound]),
        (2, "expected a limit such as", [sound, "--max-outstanding", "stck:10M"]),
        (2, "expected a limit such as", [sound, "--max-outstanding", "5%"]),
        (2, "expected an allowed growth such as", [sound, "--baseline", sound, "--max-growth", "5%+5%"]),
        (2, "handles differ", [sound, "--baseline", sound, "--max-growth", "heap:5%"]),
        (2, "--max-growth needs a baseline", [sound, "--max-growth", "1K"]),
        (2, "--baseline needs a limit", [sound, "--baseline", sound]),
        (2, "cannot be combined", [sound, "--max-outstanding", "1K", "--strict", "--lenient"]),
        (2, "needs a file to require", [sound, "--max-outstanding", "1K", "--require-baseline"]),
        (2, "needs a file to update", [sound, "--max-outstanding", "1K", "--update-baseline"]),
        (2, "same file", [sound, "--baseline", path_of("x.ehs"), "--max-growth", "1K", "--update-baseline", "-o", path_of("x.ehs")]),
        (2, "--baseline would overwrite the input", [sound, "--baseline", sound, "--max-growth", "1K", "--update-baseline"]),
        (2, "line 3 of", [sound, "--max-outstanding", "1K", "--suppressions", supp]),
        (2, "not a format of check", [sound, "--max-outstanding", "1K", "--format", "csv"]),
        (3, "suppression file", [sound, "--max-outstanding", "1K", "--suppressions", path_of("none.supp")]),
        (3, "none.ehs", [sound, "--max-growth", "1K", "--baseline", path_of("none.ehs")]),
        (3, "none.etl", [path_of("none.etl"), "--max-outstanding", "1K"]),
    ]
    for wanted, part, arguments in cases:
        status, out, said = attempt(*arguments)
        good = status == wanted and part in said and len(said.splitlines()) == 1 and not out
        results.check(f"status {wanted}: {part}", good, f"status {status}: {said}")


# --- the ratchet -------------------------------------------------------------------------


def build_of(name, size):
    """A build of the program, of its own date and layout, whose one leak has this size in units of 256 bytes."""
    stack = (("app.exe", 0x1230 + size % 7 * 0x10), ("app.exe", 0x2000))
    blocks = [Block("heap", size * 0x100, stack), Block("heap", 0x40, (("lib.dll", 0x1500),))]
    return write_trace(name, blocks, 0x5F000000 + size)


def outstanding(path):
    return verdict(path, "--max-outstanding", "1G")[1]["totals"][0]["outstanding_size"]


def check_ratchet(results):
    base = path_of("ratchet.ehs")
    for name in ("ratchet.ehs", "fresh.ehs"):
        if os.path.exists(path_of(name)):
            os.remove(path_of(name))
    grow = ["--max-growth", "total:5%", "--baseline"]
    builds = [build_of(f"build{i}.etl", int(100000 * 1.03**i)) for i in range(3)]
    for before, after in zip(builds, builds[1:]):
        status, document = verdict(after, *grow, before)
        results.equal("a build that is 3 % larger than the one before passes", (status, document["verdict"]), (0, "pass"))
    status, document = verdict(builds[0], *grow, base, "--update-baseline")
    got = (status, document["verdict"], document["budgets"][0]["verdict"], document["baseline"]["update"])
    results.equal("a missing baseline is made", got, (0, "pass", "skipped", "created"))
    results.equal("it is this run", outstanding(base), outstanding(builds[0]))
    with open(base, "rb") as file:
        first = file.read()
    status, document = verdict(builds[1], *grow, base, "--update-baseline")
    results.equal("the next passes and is larger: kept", (status, document["baseline"]["update"]), (0, "kept"))
    status, document = verdict(builds[2], *grow, base, "--update-baseline")
    results.equal("the third is 6 % above the smallest: fails, kept", (status, document["baseline"]["update"]), (1, "kept"))
    with open(base, "rb") as file:
        results.check("the baseline is the same bytes throughout", file.read() == first)
    smaller = build_of("smaller.etl", 90000)
    status, document = verdict(smaller, *grow, base, "--update-baseline")
    results.equal("a smaller one passes and tightens", (status, document["baseline"]["update"]), (0, "tightened"))
    results.equal("the baseline is that run", outstanding(base), outstanding(smaller))
    status, document = verdict(smaller, *grow, base, "--update-baseline")
    results.equal("an equal one leaves it alone", (status, document["baseline"]["update"]), (0, "kept"))
    status, document = verdict(builds[0], *grow, base, "--update-baseline")
    results.equal("the first build fails against it", (status, document["baseline"]["update"]), (1, "kept"))
    status, document = verdict(builds[0], *grow, base, "--update-baseline", "--accept")
    got = (status, document["verdict"], document["budgets"][0]["verdict"], document["baseline"]["update"])
    results.equal("what is accepted exits 0, says what it was, and is the next", got, (0, "accepted", "fail", "accepted"))
    results.equal("the baseline is the accepted run", verdict(builds[0], *grow, base)[0], 0)
    store = path_of("smaller.ehs")
    subprocess.run([ETLHEAP, "store", smaller, "-o", store], check=True)
    status, document = verdict(store, *grow, base, "--update-baseline")
    with open(base, "rb") as new, open(store, "rb") as old:
        results.check("a store becomes the baseline as it is", document["baseline"]["update"] == "tightened" and new.read() == old.read())
    results.check("nothing is left beside it", not [n for n in os.listdir(WORK) if n.startswith("ratchet.ehs") and n != "ratchet.ehs"])
    check_no_update(results, base)
    check_accepted(results, builds)


def check_accepted(results, builds):
    """What was accepted is listed in every format, and fails in none."""
    words = [builds[2], "--max-growth", "total:1%", "--max-outstanding", "total:1K", "--update-baseline", "--accept"]
    schema = sarif_schema(results)

    def accept(kind):
        base = path_of("accepted.ehs")
        subprocess.run([ETLHEAP, "store", builds[0], "-o", base], check=True)
        status, out, said = attempt(*words, "--baseline", base, "--format", kind)
        results.equal(f"accepted as {kind}: status 0, and nothing on stderr", (status, said), (0, ""))
        results.equal(f"accepted as {kind}: it is the next baseline", outstanding(base), outstanding(builds[2]))
        return out

    text = accept("text").decode()
    results.check("accepted as text: the verdict, and what was exceeded",
                  text.startswith("ACCEPTED: this run is the baseline from now on; 2 of 2 limits are exceeded: heap of ")
                  and "accepted: this run is the new baseline, with 1 subject that grew" in " ".join(text.split())
                  and text.count("over the limit of") == 2 and "--accept." not in text, text)
    suite = xml.etree.ElementTree.fromstring(accept("junit"))[0]
    listed = suite.find("system-out").text
    results.check("accepted as JUnit: no failure, and a list",
                  suite.get("failures") == "0" and not suite.findall("testcase/failure")
                  and listed.count("accepted: ") == 2 and listed.count("over the limit of") == 2, listed)
    log = json.loads(accept("sarif"))
    found = log["runs"][0]["results"]
    results.check("accepted as SARIF: suppressed notes",
                  found and all(r["level"] == "note" and r["suppressions"][0]["status"] == "accepted" for r in found)
                  and log["runs"][0]["properties"]["verdict"] == "accepted", *found[:1])
    if schema:
        results.check("accepted as SARIF: valid", not [e.message[:200] for e in schema.iter_errors(log)])
    document = json.loads(accept("json"))
    results.equal("accepted as JSON", (document["verdict"], document["nothing_measured"], [b["verdict"] for b in document["budgets"]]),
                  ("accepted", None, ["fail", "fail"]))


def without_buffer(path, number):
    out = path_of("gap.etl")
    with open(path, "rb") as file:
        data = file.read()
    with open(out, "wb") as file:
        file.write(data[: number * 65536] + data[(number + 1) * 65536 :])
    return out


def check_no_update(results, base):
    """What proves nothing changes nothing."""
    grow = ["--max-growth", "total:1G", "--baseline", base, "--update-baseline"]
    with open(base, "rb") as file:
        before = file.read()
    for name, trace, options, wanted in (
        ("a lossy run", make_trace("lossy.etl", "--unclosed"), [], 4),
        ("a run without the process", make_trace("demo.etl"), [], 0),
        ("a run in which nothing matches", shutil.copy(base, path_of("nobody.ehs")), ["--process", "nobody.exe"], 1),
    ):
        status, document = verdict(trace, *grow, *options)
        results.equal(f"{name} does not tighten", (status, document["baseline"]["update"]), (wanted, "kept"))
    with open(base, "rb") as file:
        results.check("the baseline is the same bytes", file.read() == before)
    sound = path_of("sound.ehs")
    subprocess.run([ETLHEAP, "store", make_trace("demo.etl"), "-o", sound], check=True)
    for buffer in range(4, 9):  # as a session that lost one: some blocks are missing, no process is
        lossy = without_buffer(make_trace("demo.etl"), buffer)
        found = verdict(lossy, "--max-growth", "total:1G", "--baseline", sound, "--update-baseline")[1]["baseline"]
        if found["shrunk"] > 0 and found["grown"] + found["missing_processes"] == 0:
            break
    results.check("a lossy run that is only smaller does not tighten", found["update"] == "kept" and found["shrunk"] > 0, found)
    missing = path_of("fresh.ehs")
    status, document = verdict(make_trace("demo.etl"), "--max-outstanding", "1K", "--max-growth", "1K",
                               "--baseline", missing, "--update-baseline")
    results.equal("a run that fails makes no baseline", (status, document["baseline"]["update"], os.path.exists(missing)),
                  (1, "kept", False))


# --- suppressions ------------------------------------------------------------------------

LSAN = """
#include <stdio.h>
#include <string.h>
_Bool template_match(const char *, const char *) __asm__("_ZN11__sanitizer13TemplateMatchEPKcS1_");
int main(void)
{
    static char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        char *name = strchr(line, '\\t');
        *name++ = 0;
        name[strcspn(name, "\\n")] = 0;
        puts(template_match(line, name) ? "1" : "0");
    }
    return 0;
}
"""


def check_matching(results):
    program = path_of("lsan_match")
    # What sanitizers have in common is in each of gcc's static libraries; this one replaces no malloc.
    library = subprocess.run(["gcc", "-print-file-name=libubsan.a"], capture_output=True, check=True, text=True)
    done = subprocess.run(["gcc", "-x", "c", "-", "-x", "none", library.stdout.strip(), "-lpthread", "-ldl",
                           "-lm", "-o", program], input=LSAN.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        results.skip("LeakSanitizer", "gcc cannot link libubsan.a, which has its matching")
        return
    rng = random.Random(SEED)
    pairs = {("".join(rng.choice("ab*$^") for _ in range(rng.randrange(1, 9))),
              "".join(rng.choice("ab") for _ in range(rng.randrange(0, 9)))) for _ in range(60000)}
    pairs |= {(p, n) for p in ("^a$", "foo$", "^*foo", "a*b$", "*", "$", "^", "^$", "^^a", "a^", "$a", "**", "a$*b")
              for n in ("a", "foofoo", "foo", "ab", "abab", "", "^a", "a^", "b")}
    pairs = sorted(pairs)
    text = "".join(f"{p}\t{n}\n" for p, n in pairs).encode()
    ours = subprocess.run([os.path.join(OUT, "make_suppression_matches")], input=text, capture_output=True, check=True)
    theirs = subprocess.run([program], input=text, capture_output=True, check=True)
    wrong = [pair for pair, a, b in zip(pairs, ours.stdout.split(), theirs.stdout.split()) if a != b]
    results.check(f"{len(pairs)} patterns and names match as LeakSanitizer matches them",
                  not wrong and len(ours.stdout.split()) == len(pairs), *wrong[:8])
    results.check("both answers occur", len(set(theirs.stdout.split())) == 2)


def check_suppressions(results):
    """By module, the only names without symbols; sums of what is left and what is not."""
    rng = random.Random(SEED + 1)
    supp = path_of("known.supp")
    with open(supp, "w", encoding="utf-8") as file:
        file.write("# libraries\nleak:^lib.dll$\n\nleak:nothing like this\n\tleak:Qt*.dll \r\n")
    for number in range(4):
        blocks = random_blocks(rng, random_stacks(rng)) + [Block("heap", 64, (("app.exe", 0x1000), ("lib.dll", 0x1000)))]
        path = write_trace("suppressed.etl", blocks)
        status, document = verdict(path, "--max-outstanding", "stack:0", "--suppressions", supp)
        left = [b for b in blocks if not {"lib.dll", "Qt5.dll"} & {module for module, _ in b.stack}]
        compare(results, f"suppressed trace {number}", document["budgets"][0],
                model(("max-outstanding", "stack", 0, 0), left, []), 5)
        totals = {t["kind"]: (t["outstanding_size"], t["suppressed_count"]) for t in document["totals"] if t["kind"] != "extent"}
        gone = [b for b in blocks if b not in left]
        wanted = {kind: (sum(b.size for b in left if b.kind == kind), sum(b.kind == kind for b in gone))
                  for kind in {b.kind for b in blocks}}
        results.equal(f"suppressed trace {number}: what is left and what is not", totals, wanted)
        uses = {use["pattern"]: (use["line"], use["stacks"]) for use in document["suppressions"]}
        first = {b.stack: next(m for m, _ in b.stack if m != "app.exe") for b in gone}
        results.equal(f"suppressed trace {number}: each line with the stacks it matched first", uses,
                      {"^lib.dll$": (2, sum(m == "lib.dll" for m in first.values())),
                       "nothing like this": (4, 0), "Qt*.dll": (5, sum(m == "Qt5.dll" for m in first.values()))})
        results.equal(f"suppressed trace {number}: the status", status, 1 if left else 0)


# --- documents ---------------------------------------------------------------------------


def sarif_schema(results):
    """The schema of the standard, from npm once; None: it cannot be had."""
    folder = os.path.join(BUILD, "test-modules")
    path = os.path.join(folder, "sarif-2.1.0.json")
    if not os.path.exists(path) and shutil.which("npm"):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder, SARIF_PACKAGE],
                       capture_output=True, check=False, timeout=60)
        for package in glob.glob(os.path.join(folder, "*jest-sarif*.tgz")):
            with tarfile.open(package) as tar, open(f"{path}.new", "wb") as file:
                file.write(tar.extractfile("package/lib/schemas/sarif-2.1.0-rtm.5.json").read())
            os.rename(f"{path}.new", path)
    try:
        import jsonschema
    except ImportError:
        results.skip("SARIF", "python3-jsonschema is not installed")
        return None
    if not os.path.exists(path):
        results.skip("SARIF", f"the schema cannot be had: npm pack {SARIF_PACKAGE} failed")
        return None
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    return jsonschema.validators.validator_for(schema)(schema)


def documents():
    """(name, arguments) of checks whose documents have every part there is."""
    sound, lossy = make_trace("demo.etl"), make_trace("lossy.etl", "--unclosed")
    small = write_trace("small.etl", [Block("heap", 1, ()), Block("virtualalloc", 0x1000, ())])
    supp = path_of("known.supp")
    everything = ["--max-outstanding", "process:1K", "--max-outstanding", "stack:1K", "--max-outstanding-count", "heap:3",
                  "--max-outstanding", "total:1K", "--max-growth", "stack:1K", "--max-growth", "total:5%",
                  "--max-growth-count", "0", "--baseline", small, "--suppressions", supp]
    return [
        ("all failures", [sound, *everything]),
        ("no stacks", [small, *everything]),
        ("a pass", [sound, "--max-outstanding", "1G"]),
        ("no subjects", [sound, "--max-outstanding", "stack:1G", "--process", "nobody.exe"]),
        ("an inconclusive one", [lossy, "--max-outstanding", "1G"]),
        ("no baseline yet", [sound, "--max-growth", "1K", "--baseline", path_of("fresh.ehs"), "--update-baseline"]),
    ]


def check_documents(results):
    schema = sarif_schema(results)
    for name, arguments in documents():
        if os.path.exists(path_of("fresh.ehs")):
            os.remove(path_of("fresh.ehs"))
        junit = path_of("junit.xml")
        status = attempt(*arguments, "--format", "junit", "-o", junit)[0]
        done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", os.path.join(TESTS, "junit.xsd"), junit],
                              capture_output=True, check=False)
        results.check(f"JUnit of {name} is valid", done.returncode == 0, done.stderr.decode()[:300])
        suite = xml.etree.ElementTree.parse(junit).getroot()[0]
        cases = suite.findall("testcase")
        counted = (len(cases), len(suite.findall("testcase/failure")), len(suite.findall("testcase/skipped")))
        results.equal(f"JUnit of {name} counts its cases", counted, tuple(int(suite.get(k)) for k in ("tests", "failures", "skipped")))
        results.check(f"JUnit of {name} has cases of different names", len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases))
        results.check(f"JUnit of {name} fails when the check does", (status == 1) == (counted[1] > 0), status)
        if os.path.exists(path_of("fresh.ehs")):
            os.remove(path_of("fresh.ehs"))
        log = json.loads(attempt(*arguments, "--format", "sarif")[1])
        results.check(f"SARIF of {name} has results when the check fails", (status == 1) == bool(log["runs"][0]["results"]))
        if schema:
            errors = [e.message[:200] for e in schema.iter_errors(log)]
            results.check(f"SARIF of {name} is valid", not errors, *errors[:4])


def without_addresses(value):
    """Frames of a summary are at no address."""
    if isinstance(value, list):
        return [without_addresses(item) for item in value]
    if isinstance(value, dict):
        return {key: without_addresses(item) for key, item in value.items() if key != "address"}
    return value


def check_apart(results):
    """Stacks of one function read differently in every format, whatever the width."""
    blocks = [Block("heap", 0x8000, (("app.exe", 0x1000), ("lib.dll", o), ("Qt5.dll", 0x1000))) for o in (0x1010, 0x1020)]
    blocks.append(Block("heap", 0x8000, (("app.exe", 0x1000), ("lib.dll", 0x1020), ("Qt5.dll", 0x1010))))
    trace = write_trace("apart.etl", blocks)
    budget = ["--max-outstanding", "stack:1K", "--top", "2"]
    callers = [["lib.dll+0x1010"], ["lib.dll+0x1020", "Qt5.dll+0x1000"], ["lib.dll+0x1020", "Qt5.dll+0x1010"]]
    chains = [", called by ".join(["app.exe+0x1000", *chain]) for chain in callers]
    junit = xml.etree.ElementTree.fromstring(attempt(trace, *budget, "--format", "junit")[1])
    said = [failure.get("message").split(": ")[0].split(") ")[1] for failure in junit.iter("failure")]
    results.equal("JUnit failures name callers that differ", sorted(said), sorted(chains))
    names = {case.get("name").split(" [")[0] for case in junit.iter("testcase")}
    results.equal("names of JUnit cases stay as they were", names, {"heap app.exe app.exe+0x1000"})
    log = json.loads(attempt(trace, *budget, "--format", "sarif")[1])
    said = {result["message"]["text"].split(": ")[0] for result in log["runs"][0]["results"]}
    results.equal("SARIF results name callers that differ", len(said), 3)
    text = attempt(trace, *budget, "--frames", "1")[1].decode()
    for chain in callers:
        rows = "".join(rf"\n +{re.escape(frame)} *" for frame in chain)
        found = re.findall(rf"\n  heap app\.exe[^\n]*app\.exe\+0x1000 [^\n]*{rows}(?=\n)", text)
        results.check(f"the table lists {chain[-1]} below its stack", len(found) == 1, text)
    markdown = attempt(trace, *budget, "--format", "markdown")[1].decode()
    results.check("Markdown names callers that differ", all(f"{chain}`" in markdown for chain in chains), markdown)


def check_same(results):
    """The same bytes whatever -j, and from a store as from its trace."""
    sound = make_trace("demo.etl")
    store = path_of("demo.ehs")
    subprocess.run([ETLHEAP, "store", sound, "-o", store], check=True)
    options = ["--max-outstanding", "stack:1K", "--max-outstanding-count", "heap:3", "--baseline", path_of("small.etl"),
               "--max-growth", "stack:0", "--suppressions", path_of("known.supp")]
    for kind in ("text", "json", "markdown", "junit", "sarif"):
        outputs = [attempt(sound, *options, "--format", kind, "-j", jobs)[1] for jobs in (1, 2, 7)]
        results.check(f"{kind} is the same with -j1, -j2 and -j7", len(set(outputs)) == 1 and len(outputs[0]) > 100)
    of_trace, of_store = verdict(sound, *options)[1], verdict(store, *options)[1]
    of_store["trace"]["files"] = of_trace["trace"]["files"]
    of_store["summary"] = of_store["summary"].replace(store, sound)
    results.equal_maps("a store is judged as its trace", of_store, of_trace)
    for more in ([], ["--kind", "heap,reserve"], ["--max-outstanding", "reserve/1M"]):
        of_trace, of_store = (verdict(path, "--max-outstanding", "1G", "--process", "nobody.exe", *more)[1]["nothing_measured"]
                              for path in (sound, store))
        results.equal(f"what could be measured is the same for a store {' '.join(more)}", of_store, of_trace)
    summary = path_of("demo-summary.ehs")
    subprocess.run([ETLHEAP, "store", sound, "--summary", "-o", summary], check=True)
    options = ["--max-outstanding", "stack:1K", "--max-outstanding-count", "3", "--max-growth", "stack:0", "--baseline"]
    small = path_of("small.etl")
    of_trace, of_summary = (verdict(path, *options, small)[1]["budgets"] for path in (sound, summary))
    for budget in of_trace:  # a summary has no process ids
        for subject in budget["subjects"]:
            subject.pop("pid", None)
    results.equal("a summary is judged as its trace", without_addresses(of_summary), without_addresses(of_trace))
    status, document = verdict(sound, "--max-growth", "stack:0", "--baseline", summary)
    results.equal("a summary is a baseline", (status, document["verdict"], document["budgets"][0]["judged"]), (0, "pass", 7))


def main():
    results = Results()
    check_random(results, 12)
    check_table(results)
    check_ratchet(results)
    check_matching(results)
    check_suppressions(results)
    check_documents(results)
    check_apart(results)
    check_same(results)
    results.finish()


if __name__ == "__main__":
    main()
