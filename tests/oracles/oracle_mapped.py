#!/usr/bin/env python3
"""Views of files, from the trace `make_trace mapped-views`, whose numbers scenario_mapped.h states.

Report, lists, CSV, store, summary, map and check must say them of kind mapped when it is named,
with one thread and with several, and nothing must change when it is not. The output that
docs/address_space.md shows is that of the program.
"""

import csv
import io
import json
import os
import subprocess

import oracle_support as support

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
VIEWER, GONE = "viewer.exe", "gone.exe"
UNNAMED = 0xFFFF82082C3F9990
DATA, IMAGE, FONT, SHARED, TEMP, LATE, FIRST, SECOND = (
    f"C:\\app\\{name}" for name in ("data.bin", "viewer.exe", "font.ttf", "shared.dat", "temp.dat", "late.dat", "first.tmp", "second.tmp"))
# By process and file: outstanding count and bytes.
WANTED = {(VIEWER, DATA): (20, 20 * 65536), (VIEWER, IMAGE): (1, 65536), (VIEWER, FONT): (1, 262144), (VIEWER, SHARED): (1, 16384),
          (VIEWER, TEMP): (0, 0), (VIEWER, LATE): (1, 8192), (VIEWER, FIRST): (1, 32768), (VIEWER, SECOND): (1, 49152),
          (VIEWER, f"mapped {UNNAMED:#x}"): (1, 12288), (GONE, DATA): (3, 3 * 4096)}
TOTAL = tuple(map(sum, zip(*WANTED.values())))
GONE_SIZE = WANTED[GONE, DATA][1]
DIAGNOSTICS = {"rundown_block_unseen": 1, "rundown_block_missing": 1, "free_without_alloc": 2}


def rows_of(*arguments):
    document = support.run_json("report", *arguments, "--kind", "mapped", "--group-by", "kind,process,heap", "--top", "all")
    return document, {(row["process"], row["heap"]): (row["outstanding_count"], row["outstanding_size"]) for row in document["rows"]}


def check_lists(results, path):
    listed = support.run_json("allocations", path, "--kind", "mapped")["rows"]
    kept = [row for row in listed if row["type"] in ("AIFO", "AOFO")]
    results.equal("a list has all outstanding views", len(kept), TOTAL[0])
    results.equal("views of one address come one after the other", sorted(
        row["alloc_time_ns"] for row in listed if row["heap"] == TEMP), [(150 + 100 * at) * 10**6 for at in range(15)])
    results.equal("a view ends with its process", {row["free_type"] for row in listed if row["process"] == GONE}, {"process-exit"})
    before = sorted(row["heap"] for row in listed if row["alloc_time_ns"] is None)
    results.equal("views of the rundowns are from before the trace", before, sorted([IMAGE, FONT, FONT, LATE]))


def check_stacks(results, path):
    stacks = support.run_json("report", path, "--kind", "mapped", "--group-by", "process,heap,stack", "--top", "all")
    found = {row["heap"]: [stacks["frames"][frame]["module"] for frame in stacks["stacks"][row["stack"]]]
             for row in stacks["rows"] if row["process"] == VIEWER and row["stack"] is not None}
    # Frames of the kernel are culled, as those of an allocator, but the last one if there are no others.
    results.equal("stacks begin in the program", found.get(DATA), [VIEWER] * 2)
    results.equal("the stack is that of the thread that maps, in whichever process", found.get(SHARED), ["ntoskrnl.exe"])


def check_limits(results, path, store):
    for source in path, store:
        for limit, status in ("mapped/1M", 1), ("mapped/4M", 0):
            done = subprocess.run([support.ETLHEAP, "check", source, "--max-outstanding", limit, "--format", "json"],
                                  stdout=subprocess.PIPE, check=False)
            results.equal(f"check of {source[-4:]} with {limit}", done.returncode, status)
            measured = [one["measured"] for budget in json.loads(done.stdout)["budgets"] for one in budget["subjects"]]
            results.equal(f"what it measures of {source[-4:]} with {limit}", measured, [TOTAL[1] - GONE_SIZE, GONE_SIZE])


def check_real_names(results):
    """Names of files in a real trace fill their payloads, and keys are used again only after a deletion."""
    path = os.path.join(support.TRACES, "perfview-net452-x64-merged-compressed-stackkeys.etl")
    if not os.path.exists(path):
        return
    lines, named, reused, wrong = support.dump(path, "--events", "FileIo/*"), {}, 0, []
    counts = {name: sum(line["name"] == f"FileIo/{name}" for line in lines) for name in ("FileCreate", "FileDelete", "FileRundown")}
    results.equal("names of files in a real trace", counts, {"FileCreate": 16, "FileDelete": 14, "FileRundown": 3054})
    fits = [line["payload_bytes"] == 8 + 2 * (len(line["fields"]["file_name"].encode("utf-16-le")) // 2 + 1) for line in lines]
    results.check("each name ends where its payload does", all(fits), fits.count(False))
    for line in lines:
        key, name = line["fields"]["file_object"], line["fields"]["file_name"]
        wrong += [(key, name)] if named.get(key, name) not in ("", name) else []
        reused += named.get(key) == ""
        named[key] = "" if line["name"] == "FileIo/FileDelete" else name
    results.equal("a key names another file only after a deletion", (wrong, reused), ([], 12))


def check_files(results, path, store):
    """A limit on each file names the file."""
    for source in path, store:
        done = subprocess.run([support.ETLHEAP, "check", source, "--max-outstanding", "mapped/heap:1M", "--format", "json"],
                              stdout=subprocess.PIPE, check=False)
        subjects = json.loads(done.stdout)["budgets"][0]["subjects"]
        failed = [(one["process"], one["heap"], one["measured"]) for one in subjects if one["verdict"] == "fail"]
        results.equal(f"check of {source[-4:]} names the file", failed, [(VIEWER, DATA, WANTED[VIEWER, DATA][1])])


def check_map(results, path, store):
    for source in path, store:
        processes = support.run_json("report", source, "--map")["processes"]
        regions = {one["process"]: one["map"] for one in processes}
        sizes = {}
        for row in regions[VIEWER]:
            sizes.setdefault((row["category"], row["module"]), []).append(row["size"])
        wanted = {("image", VIEWER): [65536]}
        wanted |= {("mapped", file.rsplit("\\", 1)[-1]): [size // count] * count for (process, file), (count, size) in WANTED.items()
                   if process == VIEWER and count > 0 and file not in (IMAGE, f"mapped {UNNAMED:#x}")}
        wanted["mapped", None] = [WANTED[VIEWER, f"mapped {UNNAMED:#x}"][1]]
        results.equal(f"the map of {source[-4:]}: an image is not shown twice", sizes, wanted)
        views = [row for row in regions[VIEWER] if row["category"] == "mapped"]
        results.check(f"the map of {source[-4:]}: views commit nothing that is known",
                      all(row["committed_size"] is None and row["largest_uncommitted_size"] is None for row in views), views[:1])
    early = support.run_json("report", path, "--map", "--at", "1s")["processes"]
    count = sum(row["category"] == "mapped" for one in early for row in one["map"] if one["process"] == VIEWER)
    # Views of data.bin so far, font.ttf twice, and late.dat, which only the rundown at the end tells of.
    results.equal("the map of an earlier moment", count, 9 + 2 + 1)
    gone = support.run_json("report", path, "--map", "--at-exit", "freed")["processes"]
    results.check("views of a process that has ended are gone", all(one["process"] != GONE for one in gone))


def main():
    results = support.Results()
    path, store, summary = (f"{support.WORK}/mapped{suffix}" for suffix in (".etl", ".ehs", ".summary.ehs"))
    subprocess.run([MAKE_TRACE, "mapped-views", "-o", path], check=True, stdout=subprocess.DEVNULL)
    for jobs in "1", "2", "7":
        document, found = rows_of(path, "-j", jobs)
        results.equal(f"sums by file with {jobs} threads", found, WANTED)
    results.equal("views that nothing else tells of", document["totals"][0]["free_without_alloc"], 2)
    named = {row["name"]: row["count"] for row in document["diagnostics"]}
    results.equal("what is odd is counted", {name: named.get(name) for name in DIAGNOSTICS}, DIAGNOSTICS)
    check_lists(results, path)
    check_stacks(results, path)

    kinds = [total["kind"] for total in support.run_json("report", path)["totals"]]
    results.check("a report that names no kind has no views", "mapped" not in kinds)
    results.check("info says that the kind can be analysed", "mapped" in support.run_json("info", path)["can"])
    table = list(csv.DictReader(io.StringIO(support.run("report", path, "--kind", "mapped", "--format", "csv",
                                                        "--group-by", "process,heap", "--top", "all").decode())))
    results.equal("CSV", {(row["process"], row["heap"]): int(row["outstanding_size"]) for row in table},
                  {name: size for name, (_, size) in WANTED.items()})

    support.run("store", path, "-o", store)
    results.equal("sums of a store", rows_of(store)[1], WANTED)
    stored, traced = (support.run_json("info", name)["processes"] for name in (store, path))
    results.equal("a store keeps the counts of events", stored, traced)
    support.run("store", path, "--summary", "-o", summary)
    total = support.run_json("report", summary, "--kind", "mapped")["totals"][0]
    results.equal("a summary", (total["outstanding_count"], total["outstanding_size"]), TOTAL)
    check_limits(results, path, store)
    check_files(results, path, store)
    check_real_names(results)
    check_map(results, path, store)
    results.finish()


if __name__ == "__main__":
    main()
