#!/usr/bin/env python3
"""Handles, from the trace `make_trace handle-leak`, whose numbers scenario_handle.h states.

Report, lists, CSV, store, part, summary and check must say them of kind handle when it is named, with one thread and
with several, and nothing must change when it is not.
"""

import collections
import csv
import io
import json
import os
import subprocess

import oracle_support as support

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
# By process and type: handles that are open at the end, those of ended processes included.
WANTED = {("worker.exe", "Event"): 63, ("worker.exe", "Key"): 6, ("worker.exe", "File"): 0,
          ("worker.exe", "handle 0x3c"): 1, ("worker.exe", "handle 0x3d"): 1,
          ("client.exe", "Section"): 3, ("client.exe", "File"): 4, ("short.exe", "Event"): 6, ("System", "Key"): 1}
AT_EXIT = WANTED | {("short.exe", "Event"): 1}
DIAGNOSTICS = {"rundown_block_unseen": 1, "rundown_block_missing": 1, "free_without_alloc": 2}
TOTAL = sum(WANTED.values())


def sums_of(rows):
    """Two processes are called short.exe."""
    sums = collections.Counter()
    for row in rows:
        sums[row["process"], row["heap"]] += int(row["outstanding_count"])
    return dict(sums)


def rows_of(*arguments):
    document = support.run_json("report", *arguments, "--kind", "handle", "--group-by", "kind,process,heap", "--top",
                                "all")
    return document, sums_of(document["rows"])


def check_trace(results, path):
    for jobs in "1", "2", "7":
        document, found = rows_of(path, "-j", jobs)
        results.equal(f"handles by process and type with {jobs} threads", found, WANTED)
    results.equal("closes of unknown handles", document["totals"][0]["free_without_alloc"], 2)
    named = {row["name"]: row["count"] for row in document["diagnostics"]}
    results.equal("what is odd is counted", {name: named.get(name) for name in DIAGNOSTICS}, DIAGNOSTICS)
    results.equal("ends of processes close handles, if asked", rows_of(path, "--at-exit", "freed")[1], AT_EXIT)

    stacks = support.run_json("report", path, "--kind", "handle", "--group-by", "process,heap,stack")
    leak = max(stacks["rows"], key=lambda row: row["outstanding_count"])
    frames = [stacks["frames"][frame]["module"] for frame in stacks["stacks"][leak["stack"]]]
    results.equal("the leak", (leak["process"], leak["heap"], leak["outstanding_count"]), ("worker.exe", "Event", 60))
    results.equal("its stack", frames[-2:], ["worker.exe", "worker.exe"])
    copies = next(row for row in stacks["rows"] if row["heap"] == "Section")
    modules = [stacks["frames"][frame]["module"] for frame in stacks["stacks"][copies["stack"]]]
    results.equal("the stack of a copy is of the process that made it", (copies["process"], modules[-1]),
                  ("client.exe", "worker.exe"))

    kinds = [total["kind"] for total in support.run_json("report", path)["totals"]]
    results.check("a report that names no kind has no handles", "handle" not in kinds)
    results.check("and says which kind to name", b"handles (kind handle)" in support.run("report", path))
    results.check("info says that the kind can be analysed", "handle" in support.run_json("info", path)["can"])


REFUSED = ["report {} --kind handle --sort size", "report {} --kind handle --spikes", "report {} --kind handle --map",
           "report {} --kind handle --histogram size", "windows {} --kind handle --find-growth --every 1s",
           "check {} --max-outstanding handle/1M", "check {} --max-peak handle/1M", "check {} --kind handle --max-outstanding 1M",
           "export {} --kind handle --format heaptrack -o never", "export {} --kind handle --format html -o never"]


def sizes_of(value, path=""):
    """All values of a document whose key is one of sizes, by where they are."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "size" or key.endswith("_size"):
                yield path + key, item
            else:
                yield from sizes_of(item, f"{path}{key}.")
    elif isinstance(value, list):
        for item in value:
            yield from sizes_of(item, path)


def check_units(results, path):
    """Handles are counted: no document has a size of them, and none is 0."""
    for words in ("report", "report --growth", "report --churn", "report --suspects", "report --tree", "windows --every 1s",
                  "allocations", "report --group-by process,heap"):
        command, *rest = words.split()
        sizes = set(sizes_of(support.run_json(command, path, *rest, "--kind", "handle")))
        results.check(f"{words}: no size is known", len(sizes) > 0 and {value for _, value in sizes} == {None})
    for command, runs in ("diff", 2), ("trend", 3):
        sizes = set(sizes_of(support.run_json(command, *[path] * runs, "--kind", "handle")))
        results.equal(f"{command}: no size is known", {value for _, value in sizes} - {None}, set())
    checked = subprocess.run([support.ETLHEAP, "check", path, "--max-outstanding-count", "handle/50", "--format", "json"],
                             stdout=subprocess.PIPE, check=False)
    results.equal("check: no size is known", {value for _, value in sizes_of(json.loads(checked.stdout))}, {None})
    for words in ("report", "report --growth", "report --tree", "windows --every 1s", "report --suspects", "report --format markdown"):
        command, *rest = words.split()
        text = support.run(command, path, *rest, "--kind", "handle").decode()
        results.check(f"{words}: no text has bytes", " B" not in text.replace(" Bytes", "") and "KiB" not in text)
    rows = support.run_json("report", path, "--kind", "handle", "--growth")["rows"]
    leak = max(rows, key=lambda row: row["outstanding_count"])
    # One every 70 ms is 51,429 an hour; the last quarter of the run has none.
    results.check("growth is per hour", 45000 < leak["growth_rate"] <= 51429)
    first = support.run_json("report", path, "--kind", "handle", "--group-by", "process,heap")["rows"][0]
    results.equal("rows are in order of their count", (first["process"], first["heap"]), ("worker.exe", "Event"))
    peak = {row["heap"]: row["peak_count"] for row in rows if row["process"] == "worker.exe" and row["stack"] is not None}
    results.equal("peaks are counts", (peak["Event"], peak["File"]), (60, 1))
    folded = support.run("export", path, "--kind", "handle", "--format", "folded", "-o", "-").decode().splitlines()
    results.equal("weights of folded stacks are counts", sum(int(line.split()[-1]) for line in folded), TOTAL)
    for words in REFUSED:
        done = subprocess.run([support.ETLHEAP, *words.format(path).split()], capture_output=True, check=False)
        results.check(f"refused: {words}", done.returncode == 2 and b"handles have no size" in done.stderr)


# By type: handles that are open at the end; two types have no name.
BY_TYPE = {"Event": 69, "Key": 7, "File": 4, "Section": 3, None: 2}


def check_types(results, path, end):
    group = ("--kind", "handle", "--group-by", "object_type")
    found = {row["object_type"]: row["outstanding_count"] for row in support.run_json("report", path, *group)["rows"]}
    results.equal(f"handles by type of {end}", found, BY_TYPE)
    windows = support.run_json("windows", path, *group, "--every", "10s", "--at-exit", "leaked")["windows"]
    found = {row["object_type"]: row["outstanding_count"] for row in windows[0]["rows"]}
    results.equal(f"windows by type of {end}", found, BY_TYPE)
    rows = support.run_json("diff", path, path, *group, "--all")["rows"]
    found = {row["object_type"]: (row["base_outstanding_count"], row["new_outstanding_count"]) for row in rows}
    results.equal(f"a diff by type of {end}", found, {name: (count, count) for name, count in BY_TYPE.items()})
    rows = support.run_json("trend", path, path, path, *group, "--in-order")["totals"]
    results.equal(f"a trend by type of {end}", rows[0]["counts"], [TOTAL] * 3)
    both = support.run_json("report", path, "--kind", "handle", "--group-by", "process,heap,object_type")["rows"]
    results.check(f"the heap is the type of {end}", all(row["heap"] == row["object_type"] for row in both
                                                      if row["object_type"] is not None))
    other = support.run_json("report", path, "--kind", "heap", "--group-by", "kind,object_type")["rows"]
    results.equal(f"other kinds of {end} have none", other, [])


def check_stored(results, path):
    store, part, summary = (f"{support.WORK}/handle{suffix}" for suffix in (".ehs", ".part.ehs", ".summary.ehs"))
    support.run("store", path, "-o", store)
    results.equal("handles of a store", rows_of(store)[1], WANTED)
    check_types(results, store, "a store")
    stored, traced = (support.run_json("info", name)["processes"] for name in (store, path))
    results.equal("a store keeps the counts of events", stored, traced)
    support.run("store", store, "--process", "client", "-o", part)
    results.equal("handles of a part", rows_of(part)[1],
                  {key: count for key, count in WANTED.items() if key[0] == "client.exe"})
    support.run("store", path, "--summary", "-o", summary)
    total = support.run_json("report", summary, "--kind", "handle")["totals"][0]
    results.equal("a summary", total["outstanding_count"], TOTAL)
    return store


def main():
    results = support.Results()
    path = f"{support.WORK}/handle.etl"
    subprocess.run([MAKE_TRACE, "handle-leak", "-o", path], check=True, stdout=subprocess.DEVNULL)
    check_trace(results, path)
    check_units(results, path)
    check_types(results, path, "a trace")
    table = list(csv.DictReader(io.StringIO(support.run("report", path, "--kind", "handle", "--format", "csv",
                                                        "--group-by", "process,heap", "--top", "all").decode())))
    results.equal("CSV", sums_of(table), WANTED)
    listed = support.run_json("allocations", path, "--kind", "handle", "--type", "AIFO,AOFO")
    results.equal("a list has all open handles", len(listed["rows"]), TOTAL)
    results.equal("a list names types", {row["heap"] for row in listed["rows"]},
                  {name for (_, name), count in WANTED.items() if count > 0})
    store = check_stored(results, path)
    for source in path, store:
        for limit, status in ("handle/70", 1), ("handle/80", 0):
            done = subprocess.run([support.ETLHEAP, "check", source, "--max-outstanding-count", limit, "--format",
                                   "json"], stdout=subprocess.PIPE, check=False)
            results.equal(f"check of {source[-4:]} with {limit}", done.returncode, status)
            measured = [one["measured"] for budget in json.loads(done.stdout)["budgets"] for one in budget["subjects"]]
            results.equal(f"what it measures of {source[-4:]} with {limit}", measured, [71, 7, 6, 1])
    results.finish()


if __name__ == "__main__":
    main()
