#!/usr/bin/env python3
"""Small traces of situations that users of other tools reported, or in which a model disagreed.

Each folder of $TRACES/../traces-reports holds inputs that once gave a wrong answer, written by a
program that shares no code with this repository. Each check says what is right and why. Situations
that still give a wrong answer are listed by name as expected failures: their checks fail as soon
as the answer is right, so that the check becomes an ordinary one.
"""

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile

from oracle_support import ETLHEAP, TRACES, Results, run_json

FOLDER = os.path.abspath(os.path.join(TRACES, "..", "traces-reports"))


def path_of(folder, name):
    return os.path.join(FOLDER, folder, name)


def rows_of(path, *arguments, command="report"):
    return run_json(command, path, "--no-cull", "--no-symbols", *arguments)["rows"]


def expect_failure(results, name, got, wanted):
    results.check(f"{name} (expected to fail)", got != wanted, "the answer is right now: make this an ordinary check")


def stack_of(document, row, key):
    return None if row[key] is None else [document["frames"][i]["offset"] for i in document["stacks"][row[key]]]


def check_realloc_free(results):
    """A session with stacks of Alloc and ReAlloc only: the call that moved a block freed the old one."""
    path = path_of("s07-realloc-free-stack", "realloc.etl")
    document = run_json("report", path, "--from", "150us", "--no-cull", "--no-symbols", "--group-by", "kind,type,impacting_stack")
    found = [(row["type"], row["impacting_size"], stack_of(document, row, "impacting_stack")) for row in document["rows"]]
    results.equal("s07: the old block of a moving realloc ends with the realloc's stack",
                  sorted(found), [("AIFO", 128, ["0x2000", "0x5000"]), ("AOFI", -64, ["0x2000", "0x5000"])])


def check_thread_names(results):
    """The name of a thread is not that of a thread of another process that had its id before."""
    rows = rows_of(path_of("s06-thread-name-reuse", "reuse.etl"), "--group-by", "process,thread_name")
    results.equal("s06: a name belongs to a thread of one process", sorted((row["process"], row["thread_name"] or "", row["size"]) for row in rows),
                  [("a.exe", "", 64), ("b.exe", "render", 32)])


def check_steadiness(results):
    rows = rows_of(path_of("s02-steadiness", "falls.etl"), "--growth", "--group-by", "process", "--from", "500us")
    results.equal("s02: what falls all the time", [row["steadiness"] for row in rows], [-100])


def check_generations(results):
    """Equal keys are one row: both blocks after the mark are of generation 1."""
    rows = rows_of(path_of("s01-generation-rows", "min.etl"), "--group-by", "generation")
    results.equal("s01: one row a generation", [(row["generation"], row["count"], row["size"]) for row in rows], [(0, 1, 96), (1, 2, 96)])


def check_churn_parts(results):
    """Parts of one block are freed before the thread allocates again, all of them."""
    rows = rows_of(path_of("s03-churn-parts", "parts.etl"), "--churn", "--group-by", "kind,process,thread")
    found = sorted((row["kind"], row["process"], row["thread"], row["alloc_count"], row["temporary_count"]) for row in rows)
    results.equal("s03: parts of a custom block are not each other's next allocation",
                  [row[3:] for row in found if row[0] == "custom"], [(2, 2)])
    results.equal("s03: a thread's next commit counts for a range in another process",
                  [row[3:] for row in found if row[:2] == ("virtualalloc", "child.exe")], [(1, 0)])


def check_window_free_keys(results):
    """A block that is freed after a window is not freed in it, so nobody freed it there."""
    path = path_of("s04-windows-free-keys", "one_block.etl")
    report = rows_of(path, "--to", "2ms", "--group-by", "free_site")
    results.equal("s04: report has no free site before the free", [row["free_site"] for row in report], [None])
    windows = run_json("windows", path, "--no-cull", "--no-symbols", "--at", "2ms", "--group-by", "free_site")["windows"]
    expect_failure(results, "s04: windows neither", [row["free_site"] for row in windows[0]["rows"] if row["aifo_count"]], [None])


def told_by(document):
    return {row["name"]: row["count"] for row in document["diagnostics"]}


def check_heaps_over_live(results):
    """Neither a heap nor a block can begin where another one still is: an end was lost."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        for name, told in (("create_again", "create_over_live"), ("same_address_two_heaps", "address_in_two_heaps")):
            trace, store = path_of("21-create-over-live-heap", f"{name}.etl"), os.path.join(folder, f"{name}.ehs")
            subprocess.run([ETLHEAP, "store", trace, "-o", store], check=True, stdout=subprocess.DEVNULL)
            for path in (trace, store):
                document = run_json("report", path, "--no-symbols")
                results.equal(f"21: {os.path.basename(path)} says that an end was lost", told_by(document), {told: 1})
                results.equal(f"21: {os.path.basename(path)} keeps both blocks", sum(row["outstanding_count"] for row in document["rows"]), 2)


def check_decommit(results):
    """Without a size, a decommit means the whole range that begins there, as a release does."""
    for name in ("decommit0", "release0"):
        rows = run_json("allocations", path_of("19-decommit-size-0", f"{name}.etl"), "--no-symbols", "--kind", "virtualalloc")["rows"]
        results.equal(f"19: {name} ends the range", [(row["size"], row["free_type"]) for row in rows], [(65536, "free")])


def sites_of(folder, name):
    rows = run_json("report", path_of(folder, name), "--symbols", os.path.join(FOLDER, folder), "--group-by", "site")
    return sorted((row["count"], rows_name(rows, row)) for row in rows["rows"])


def rows_name(document, row):
    frame = document["frames"][row["site"]]
    return f"{frame['module']}!{frame['symbol']}"


def check_arm64ec(results):
    """The same program has the same sites on x64 and on ARM64EC, whose system functions have names of their own."""
    results.equal("03: ARM64EC has the sites of x64", sites_of("03-arm64ec-names", "arm64ec.etl"), sites_of("03-arm64ec-names", "x64.etl"))
    results.equal("03: none is the allocator", [name for _, name in sites_of("03-arm64ec-names", "arm64ec.etl")], ["a4096.exe!grow"])


def check_lambda(results):
    """What a check tells to run finds the stack, although the lambda has another number in each build."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        base = path_of("02-unstable-names-between-builds", "line1.etl")
        symbols = ";".join(os.path.join(os.path.dirname(base), name) for name in ("line1", "line2"))
        with open(path_of("02-unstable-names-between-builds", "line2.etl"), "rb") as file:
            data = file.read()
        grown = os.path.join(folder, "grown.etl")
        with open(grown, "wb") as file:
            file.write(data.replace(struct.pack("<QQ", 0x1F0000, 1000), struct.pack("<QQ", 0x1F0000, 2000)))
        words = [ETLHEAP, "check", grown, "--baseline", base, "--symbols", symbols, "--max-growth", "stack:0"]
        text = subprocess.run(words, capture_output=True, text=True).stdout
        found = re.findall(r"^More: (.*)$", text, re.MULTILINE)
        results.equal("02: a check names one command", len(found), 1)
        if found and shutil.which("sh") and os.name == "posix":
            line = found[0].replace("etlheap", shlex.quote(ETLHEAP), 1) + " --format json"
            rows = json.loads(subprocess.run(["sh", "-c", line], capture_output=True).stdout)["rows"]
            results.equal("02: it shows what grew", [(row["state"], row["base_size"], row["new_size"]) for row in rows], [("grown", 10000, 20000)])


def check_same_lambda(results):
    """A comment line above a lambda changes no verdict, no suppression and no fingerprint."""
    where = os.path.join(FOLDER, "02-unstable-names-between-builds")
    builds = [os.path.join(where, f"{name}.etl") for name in ("line1", "line2")]
    symbols = ["--symbols", ";".join(os.path.join(where, name) for name in ("line1", "line2"))]

    def check(path, *words):
        done = subprocess.run([ETLHEAP, "check", path, *symbols, *words], capture_output=True, text=True)
        return done.returncode, done.stdout

    for limit in ("stack:0", "process:0", "total:0"):
        results.equal(f"02: no growth, {limit}", check(builds[1], "--baseline", builds[0], "--max-growth", limit)[0], 0)
    documents = [json.loads(check(path, "--max-outstanding", "stack:1", "--format", "json")[1])["budgets"][0]["subjects"] for path in builds]
    names, prints = ([sorted(str(one(subject)) for subject in subjects) for subjects in documents] for one in (
        lambda subject: [frame["symbol"] for frame in subject["frames"]], lambda subject: subject["fingerprint"]))
    results.check("02: fingerprints are the same, names are not", prints[0] == prints[1] and names[0] != names[1], prints, names)
    logs = [json.loads(check(path, "--max-outstanding", "stack:1", "--format", "sarif")[1])["runs"][0]["results"] for path in builds]
    found = [sorted(json.dumps(result["partialFingerprints"]) for result in log) for log in logs]
    results.check("02: so are those of SARIF, with their version", found[0] == found[1] and '"etlheapStack/v2"' in found[0][0], *found)
    cases = [re.findall(r'<testcase [^>]*name="([^"]*)"', check(path, "--max-outstanding", "stack:1", "--format", "junit")[1]) for path in builds]
    results.check("02: histories of JUnit go on", sorted(cases[0]) == sorted(cases[1]) != [], cases)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        known = os.path.join(folder, "known.supp")
        for of, subjects in enumerate(documents):
            lambdas = {frame["symbol"] for subject in subjects for frame in subject["frames"] if "lambda" in (frame["symbol"] or "")}
            results.check(f"02: build {of + 1} has lambdas", lambdas, subjects)
            for name in sorted(lambdas):
                with open(known, "w", encoding="utf-8") as file:
                    file.write(f"leak:{name}\n")
                left = [json.loads(check(path, "--max-outstanding", "stack:1", "--suppressions", known, "--format", "json")[1])
                        ["totals"][0]["suppressed_count"] for path in builds]
                results.check(f"02: a line with the lambda of build {of + 1} suppresses it in both", left[0] == left[1] > 0, name, left)


def check_lambdas(results):
    check_lambda(results)
    check_same_lambda(results)


def check_mangling(results):
    names = {name for _, name in sites_of("20-foreign-mangling", "names.etl")}
    wanted = {"leak::cache::insert", "mycrate::foo::bar", "std::vector<int, std::allocator<int>>::push_back", "main.Cache.put"}
    results.equal("20: names of Rust, MinGW and D are readable", wanted - {name.split("!", 1)[1] for name in names}, set())


CHECKS = {
    "02-unstable-names-between-builds": check_lambdas,
    "03-arm64ec-names": check_arm64ec,
    "19-decommit-size-0": check_decommit,
    "20-foreign-mangling": check_mangling,
    "21-create-over-live-heap": check_heaps_over_live,
    "s01-generation-rows": check_generations,
    "s02-steadiness": check_steadiness,
    "s03-churn-parts": check_churn_parts,
    "s04-windows-free-keys": check_window_free_keys,
    "s06-thread-name-reuse": check_thread_names,
    "s07-realloc-free-stack": check_realloc_free,
}


def main():
    results = Results()
    for folder, check in CHECKS.items():
        if os.path.isdir(os.path.join(FOLDER, folder)):
            check(results)
        else:
            results.skip(folder, f"{FOLDER} is not here; set TRACES to the folder beside it")
    results.finish()


if __name__ == "__main__":
    main()
