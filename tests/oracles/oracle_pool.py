#!/usr/bin/env python3
"""Kernel pool, from the trace `make_trace pool-leak`, whose numbers scenario_pool.h states.

Report, lists, CSV, store, summary and check must say them of kind pool when it is named, with one
thread and with several, and nothing must change when it is not.
"""

import csv
import io
import json
import os
import subprocess

import oracle_support as support

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
LEAK = (50, 50 * 512)
# By tag: outstanding count and bytes.
WANTED = {"Leak paged": LEAK, "Old1 nonpaged": (2, 512), "Gses paged/2": (1, 2048), "Late paged": (1, 4096),
          "Irp nonpaged": (3, 624), "Big1 nonpaged": (0, 0), "Temp nonpaged": (0, 0), "Gses paged/1": (0, 0)}
# By process that asked: outstanding count and bytes. What setup.exe asked for stays when it ends.
ASKED = {"worker.exe": (51, 50 * 512 + 2048), "setup.exe": (3, 624), "System": (3, 4608)}
DIAGNOSTICS = {"block_size_differs": 1, "rundown_block_unseen": 1, "rundown_block_missing": 1, "pool_rundown_unknown": 1,
               "free_without_alloc": 2}


TOTAL = tuple(map(sum, zip(*WANTED.values())))
SMALLER = 20 * 512  # of tag Leak, in pool-before
UNKNOWN_FREES = {"Gone": 2}


def by_tag():
    """The sums by tag, whatever the type and the session."""
    sums = {}
    for name, (count, size) in WANTED.items():
        before = sums.get(name.split()[0], (0, 0))
        sums[name.split()[0]] = (before[0] + count, before[1] + size)
    return sums


def check_tags(results, source):
    """Rows by tag, in all answers with keys."""
    group = ("--kind", "pool", "--group-by", "kind,pool_tag")
    rows = support.run_json("report", source, *group, "--top", "all")["rows"]
    found = {row["pool_tag"]: (row["outstanding_count"], row["outstanding_size"]) for row in rows}
    results.equal(f"sums by tag of {source[-4:]}", found, by_tag())
    rows = support.run_json("windows", source, *group, "--every", "3600s")["windows"][0]["rows"]
    found = {row["pool_tag"]: (row["outstanding_count"], row["outstanding_size"]) for row in rows}
    results.equal(f"windows by tag of {source[-4:]}", {tag: sums for tag, sums in found.items() if sums[0]},
                  {tag: sums for tag, sums in by_tag().items() if sums[0]})
    rows = support.run_json("report", source, "--unmatched", *group)["rows"]
    results.equal(f"frees without an allocation by tag of {source[-4:]}", {row["pool_tag"]: row["count"] for row in rows},
                  UNKNOWN_FREES)
    rows = support.run_json("diff", source, source, *group, "--all")["rows"]
    found = {row["pool_tag"]: (row["base_outstanding_size"], row["new_outstanding_size"]) for row in rows}
    results.equal(f"tags are the same in both runs of {source[-4:]}", found,
                  {tag: (size, size) for tag, (_, size) in by_tag().items()})
    rows = support.run_json("report", source, "--group-by", "kind,pool_tag")["rows"]
    results.check(f"other kinds of {source[-4:]} have no tag", all(row["pool_tag"] is None for row in rows))


def rows_of(*arguments):
    document = support.run_json("report", *arguments, "--kind", "pool", "--group-by", "kind,process,heap", "--top", "all")
    return document, {row["heap"]: (row["outstanding_count"], row["outstanding_size"]) for row in document["rows"]}


def check_askers(results, source):
    """Blocks belong to the process that asked, also after it has ended."""
    rows = support.run_json("report", source, "--kind", "pool", "--group-by", "process")["rows"]
    found = {row["process"]: (row["outstanding_count"], row["outstanding_size"]) for row in rows}
    results.equal(f"who asked, from {source[-4:]}", found, ASKED)
    for name, sums in ASKED.items():
        totals = support.run_json("report", source, "--kind", "pool", "--process", name)["totals"]
        found = [(total["outstanding_count"], total["outstanding_size"]) for total in totals]
        results.equal(f"--process {name} of {source[-4:]}", found, [sums])
        done = subprocess.run([support.ETLHEAP, "check", source, "--process", name, "--max-outstanding", "pool/total:1M", "--format", "json"],
                              stdout=subprocess.PIPE, check=False)
        measured = [one["measured"] for one in json.loads(done.stdout)["budgets"][0]["subjects"]]
        results.equal(f"check of {name} of {source[-4:]}", (done.returncode, measured), (0, [sums[1]]))
        part = f"{support.WORK}/part.ehs"
        support.run("store", source, "--process", name, "-o", part)
        totals = support.run_json("report", part, "--kind", "pool")["totals"]
        found = [(total["outstanding_count"], total["outstanding_size"]) for total in totals]
        results.equal(f"a store of {name} of {source[-4:]}", found, [sums])
    for heap, wanted in ("Irp nonpaged", (3, 624)), ("Gses paged/2", (1, 2048)), ("Leak paged,Irp nonpaged", (53, 25600 + 624)):
        totals = support.run_json("report", source, "--kind", "pool", "--heap", heap)["totals"]
        found = [(total["outstanding_count"], total["outstanding_size"]) for total in totals]
        results.equal(f"--heap {heap} of {source[-4:]}", found, [wanted])
    document = support.run_json("report", source, "--kind", "pool", "--group-by", "kind,process", "--churn")
    span = next(span for span in document["recorded"] if span["kind"] == "pool")
    rate = round(4 * 208 * 1e9 / (span["to_ns"] - span["from_ns"]))
    found = next(row["alloc_bytes_rate"] for row in document["rows"] if row["process"] == "setup.exe")
    results.equal(f"rates are per second of the recording, from {source[-4:]}", found, rate)
    rows = support.run_json("report", source, "--kind", "pool", "--group-by", "free_type", "--at-exit", "freed")["rows"]
    results.check(f"the end of a process frees no pool of {source[-4:]}", "process-exit" not in {row["free_type"] for row in rows})


def judged(source, *arguments):
    """The status of a check, and what it measured by tag."""
    done = subprocess.run([support.ETLHEAP, "check", source, *arguments, "--format", "json"], stdout=subprocess.PIPE, check=False)
    subjects = [one for budget in json.loads(done.stdout)["budgets"] for one in budget["subjects"]]
    return done.returncode, {one["pool_tag"]: one["measured"] for one in subjects}


def check_limits(results, source, smaller):
    """Limits per tag: whole tags, whoever asked, alone and against a baseline that leaks less."""
    sizes = {tag: size for tag, (count, size) in by_tag().items() if count}
    end = source[-4:]
    for limit, status in ("pool/pool_tag:24K", 1), ("pool/pool_tag:26K", 0), ("pool_tag:24K", 1):
        results.equal(f"{limit} of {end}", judged(source, "--max-outstanding", limit), (status, sizes))
    for name, tags in ("Leak", {"Leak"}), ("leak", set()), ("l*", {"Leak", "Late"}), ("Irp", {"Irp"}):
        wanted = {tag: size for tag, size in sizes.items() if tag in tags}
        results.equal(f"the name {name} of {end}", judged(source, "--max-outstanding", f"pool/pool_tag:{name}:1M"), (0, wanted))
    results.equal(f"blocks of {end}", judged(source, "--max-outstanding-count", "pool/pool_tag:Leak:49"), (1, {"Leak": 50}))
    peaks = {row["pool_tag"]: row["peak_size"]
             for row in support.run_json("report", source, "--kind", "pool", "--group-by", "pool_tag", "--top", "all")["rows"]}
    results.equal(f"peaks of {end}", judged(source, "--max-peak", "pool/pool_tag:1M"), (0, peaks))
    results.equal(f"allocations of {end}", judged(source, "--max-allocations", "pool/pool_tag:Temp:29"), (1, {"Temp": 30}))
    grown = judged(source, "--baseline", smaller, "--max-growth", "pool/pool_tag:Leak:1K")
    results.equal(f"growth of {end}", grown, (1, {"Leak": 25600 - SMALLER}))
    results.equal(f"growth of {end} within the limit", judged(source, "--baseline", smaller, "--max-growth", "pool/pool_tag:Leak:1M")[0], 0)
    grown = judged(source, "--baseline", source, "--max-growth", "pool/pool_tag:0")
    results.equal(f"growth of {end} against itself", grown, (0, dict.fromkeys(sizes, 0)))
    refused = subprocess.run([support.ETLHEAP, "check", source, "--max-outstanding", "heap/pool_tag:1K"], stderr=subprocess.PIPE, check=False)
    results.check(f"heap blocks of {end} have no tags to limit", refused.returncode == 2 and b"without pool tags" in refused.stderr)


POOLTAG = """rem descriptions
Leak - leaky.sys    -  blocks that \xe9 leaks
Lea? - leaky.sys    - not this one
L*   - <unknown>    - late ones
not a line
"""
DESCRIBED = {"Leak": "leaky.sys: blocks that \xe9 leaks", "Late": "late ones"}


def check_descriptions(results, path, smaller):
    """--pool-tags: descriptions beside the tags, in all formats and commands with keys."""
    tags = f"{support.WORK}/pooltag.txt"
    with open(tags, "w", encoding="latin-1") as file:
        file.write(POOLTAG)
    group = ("--kind", "pool", "--group-by", "kind,pool_tag", "--pool-tags", tags)
    wanted = {tag: DESCRIBED.get(tag) for tag in by_tag()}
    for command in ("report", path, "--top", "all"), ("windows", path, "--every", "3600s"), ("diff", smaller, path, "--all"), \
            ("trend", smaller, path, path, "--in-order", "--all"):
        document = support.run_json(*command, *group)
        rows = document["windows"][0]["rows"] if "windows" in document else document["rows"]
        found = {row["pool_tag"]: row["pool_tag_description"] for row in rows}
        results.equal(f"descriptions of {command[0]}", {tag: text for tag, text in found.items() if tag in DESCRIBED}, DESCRIBED)
        results.check(f"unknown ones of {command[0]} are null", all(wanted[tag] == text for tag, text in found.items()))
    table = csv.DictReader(io.StringIO(support.run("report", path, *group, "--format", "csv", "--top", "all").decode()))
    results.equal("descriptions in CSV", {row["pool_tag"]: row["pool_tag_description"] or None for row in table}, wanted)
    for form in "text", "markdown":
        shown = support.run("report", path, *group, "--format", form).decode()
        results.check(f"descriptions in {form}", "Leak (leaky.sys: blocks that \xe9 leaks)" in shown)
    done = subprocess.run([support.ETLHEAP, "diff", smaller, path, *group], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    results.equal("lines that say nothing are counted once", done.stderr.decode().count("DESCRIPTION: 1, the first is line 5"), 1)
    done = subprocess.run([support.ETLHEAP, "check", path, "--max-outstanding", "pool/pool_tag:Leak:1K", "--pool-tags", tags, "--format",
                           "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    found = [one["pool_tag_description"] for one in json.loads(done.stdout)["budgets"][0]["subjects"]]
    results.equal("descriptions of check", found, [DESCRIBED["Leak"]])
    done = subprocess.run([support.ETLHEAP, "report", path, "--pool-tags", tags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    results.equal("descriptions without tags are refused", (done.returncode, b"needs --group-by with pool_tag" in done.stderr), (2, True))


def main():
    results = support.Results()
    path, store, summary, smaller = (f"{support.WORK}/pool{suffix}" for suffix in (".etl", ".ehs", ".summary.ehs", ".before.etl"))
    subprocess.run([MAKE_TRACE, "pool-leak", "-o", path], check=True, stdout=subprocess.DEVNULL)
    for jobs in "1", "2", "7":
        document, found = rows_of(path, "-j", jobs)
        results.equal(f"sums by tag with {jobs} threads", found, WANTED)
    big = [row["count"] for row in document["rows"] if row["heap"].startswith("Big1")]
    results.equal("events of pages are no allocations", big, [1])
    dumped = support.run("dump", path, "--format", "ndjson").decode()
    results.equal("dump names events of pages", [dumped.count(name) for name in ("Pool/AddPoolPage", "Pool/BigPoolPage")], [1, 1])
    results.equal("frees without an allocation", document["totals"][0]["free_without_alloc"], 2)
    named = {row["name"]: row["count"] for row in document["diagnostics"]}
    results.equal("what is odd is counted", {name: named.get(name) for name in DIAGNOSTICS}, DIAGNOSTICS)

    stacks = support.run_json("report", path, "--kind", "pool", "--group-by", "process,heap,stack")
    leak = next(row for row in stacks["rows"] if row["heap"] == "Leak paged")
    frames = [stacks["frames"][frame]["module"] for frame in stacks["stacks"][leak["stack"]]]
    results.equal("stacks go through drivers to the process that asked", frames,
                  ["leaky.sys", "ntoskrnl.exe", "worker.exe", "worker.exe"])

    kinds = [total["kind"] for total in support.run_json("report", path)["totals"]]
    results.check("a report that names no kind has no pool", "pool" not in kinds)
    results.check("info says that the kind can be analysed", "pool" in support.run_json("info", path)["can"])

    table = list(csv.DictReader(io.StringIO(support.run("report", path, "--kind", "pool", "--format", "csv",
                                                        "--group-by", "heap", "--top", "all").decode())))
    results.equal("CSV", {row["heap"]: int(row["outstanding_size"]) for row in table},
                  {name: size for name, (_, size) in WANTED.items()})
    listed = support.run_json("allocations", path, "--kind", "pool", "--type", "AIFO,AOFO")
    results.equal("a list has all outstanding blocks", len(listed["rows"]), sum(count for count, _ in WANTED.values()))

    support.run("store", path, "-o", store)
    results.equal("sums of a store", rows_of(store)[1], WANTED)
    stored, traced = (support.run_json("info", name)["processes"] for name in (store, path))
    results.equal("a store keeps the counts of events", stored, traced)
    for source in path, store:
        check_tags(results, source)
        check_askers(results, source)
    support.run("store", path, "--summary", "-o", summary)
    refused = subprocess.run([support.ETLHEAP, "report", summary, "--kind", "pool", "--group-by", "pool_tag"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    results.check("a summary says that it has no tags", refused.returncode == 2 and b"has no pool tags" in refused.stderr)
    total = support.run_json("report", summary, "--kind", "pool")["totals"][0]
    results.equal("a summary", (total["outstanding_count"], total["outstanding_size"]),
                  TOTAL)

    subprocess.run([MAKE_TRACE, "pool-before", "-o", smaller], check=True, stdout=subprocess.DEVNULL)
    check_descriptions(results, path, smaller)
    for source in path, store:
        check_limits(results, source, smaller)
        for limit, status in ("pool/total:30K", 1), ("pool/total:40K", 0):
            done = subprocess.run([support.ETLHEAP, "check", source, "--max-outstanding", limit, "--format", "json"],
                                  stdout=subprocess.PIPE, check=False)
            results.equal(f"check of {source[-4:]} with {limit}", done.returncode, status)
            measured = [one["measured"] for budget in json.loads(done.stdout)["budgets"] for one in budget["subjects"]]
            results.equal(f"what it measures of {source[-4:]} with {limit}", measured, [TOTAL[1]])
    results.finish()


if __name__ == "__main__":
    main()
