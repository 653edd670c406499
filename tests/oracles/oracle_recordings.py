#!/usr/bin/env python3
"""Recordings that users of other tools reported: is the answer what their files can show?

The traces lie in $TRACES/../traces-reports, and were made by a writer that shares no code with
this repository: a circular and a buffering session that keep the last minute of an hour, the
same minute in a plain file, the same work by the performance counter and by the system time of
1 and 15.6 ms, and a ring with the old buffer of an idle processor. Random recordings are tested in
tests/unit/run/test_recordings.c.
"""

import os
import subprocess

from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json

FOLDER = os.path.abspath(os.path.join(TRACES, "..", "traces-reports"))
RINGS = ["ring_last_60s_of_1h", "buffering_last_60s_of_1h"]


def path_of(folder, name):
    return os.path.join(FOLDER, folder, f"{name}.etl")


def counts_of(document):
    return {row["name"]: row["count"] for row in document["diagnostics"]}


def check_circular(results):
    """A ring of the last minute is the plain file of a minute."""
    plain = path_of("01-circular-window", "plain_60s")
    wanted = run_json("report", plain, "--growth", "--no-symbols")["rows"]
    keys = ("growth_rate", "steadiness", "outstanding_size", "outstanding_count")
    for name in RINGS:
        ring, store = path_of("01-circular-window", name), os.path.join(WORK, f"{name}.ehs")
        run("store", ring, "-o", store)
        for path in (ring, store):
            document = run_json("report", path, "--growth", "--no-symbols")
            results.equal(f"{path}: growth", [[row[key] for key in keys] for row in document["rows"]],
                          [[row[key] for key in keys] for row in wanted])
            results.equal(f"{path}: when it was recorded", document["recorded"],
                          [{"kind": "heap", "from_ns": 3540000010000, "to_ns": 3600000000100}])
            results.equal(f"{path}: the window that was asked for", document["window"], {"from_ns": 0, "to_ns": 3600000000100})
        document = run_json("report", ring, "--sort", "alloc_rate", "--no-symbols")
        results.equal(f"{name}: allocations per second", [row["alloc_rate"] for row in document["rows"]], [10])
        results.equal(f"{name}: suspects", len(run_json("report", ring, "--suspects", "--no-symbols")["rows"]), 1)
        results.check(f"{name}: overwritten buffers, no losses", counts_of(document).get("buffers_overwritten") == 49999 and
                      "sequence_gaps" not in counts_of(document))
        results.equal(f"{name}: nothing changed per second", [row["state"] for row in run_json(
            "diff", plain, ring, "--per-second", "--no-symbols", "--all")["rows"]], ["unchanged"])
    beyond = run_json("report", plain, "--suspects", "--to", "600s", "--no-symbols")
    results.equal("a window beyond the end has the same suspects", len(beyond["rows"]), 1)
    results.equal("and stays as it was asked for", beyond["window"]["to_ns"], 600 * 10**9)
    text = run("report", path_of("01-circular-window", RINGS[0]), "--growth", "--no-symbols").decode()
    results.check("the header names the recorded span", "Recorded span 3540.0" in text and "rates count only" in text)
    results.check("info names it", "Recorded span 3540.0" in run("info", path_of("01-circular-window", RINGS[0])).decode())


def check_ties(results):
    """The same work has the same blocks, whatever clock recorded it."""
    def sums(path):
        document = run_json("report", path, "--no-symbols", "--group-by", "kind,process,type")
        rows = [(row["type"], row["count"], row["size"], row["outstanding_count"]) for row in document["rows"]]
        return sorted(rows), document["totals"][0]["free_without_alloc"], counts_of(document).get("ties_reordered", 0)

    wanted = sums(path_of("04-system-clock-ties", "same_work_qpc"))
    for name, ties in (("system_clock_1ms", 240), ("system_clock_15ms", 374)):
        path, store = path_of("04-system-clock-ties", name), os.path.join(WORK, f"{name}.ehs")
        run("store", path, "-o", store)
        for one in (path, store):
            results.equal(f"{one}: blocks and unknown frees", sums(one)[:2], wanted[:2])
            results.equal(f"{one}: decisions are counted", sums(one)[2], ties)
    rows = run_json("allocations", path_of("04-system-clock-ties", "tie"), "--no-symbols")["rows"]
    results.equal("a free on an earlier processor belongs to the allocation", [row["free_type"] for row in rows], ["free"])


def verdict(path, limit):
    done = subprocess.run([ETLHEAP, "check", path, "--max-outstanding", limit, "--strict", "--no-symbols"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode().split(":")[0]


def check_idle(results):
    """Blocks from before the recorded span may have been freed unseen."""
    ring = path_of("05-ring-idle-cpu", "ring")
    document = run_json("report", ring, "--no-symbols")
    results.equal("an idle processor's old buffer is not in the recorded span", document["recorded"],
                  [{"kind": "heap", "from_ns": 3540 * 10**9, "to_ns": 3600000000100}])
    store = os.path.join(WORK, "idle.ehs")
    run("store", ring, "-o", store)
    for path in (ring, store):
        results.equal(f"{path}: a limit that only they exceed", verdict(path, "10K"), (4, "INCONCLUSIVE"))
        results.equal(f"{path}: a limit that nothing exceeds", verdict(path, "100K"), (0, "PASS"))
    results.equal("a limit that memory of the span exceeds", verdict(path_of("01-circular-window", RINGS[0]), "10K"), (1, "FAIL"))


def main():
    results = Results()
    if not os.path.isdir(FOLDER):
        results.skip("recordings of public reports", f"{FOLDER} is not there")
    else:
        check_circular(results)
        check_ties(results)
        check_idle(results)
    results.finish()


if __name__ == "__main__":
    main()
