#!/usr/bin/env python3
"""Compares `info` and `dump` with MANIFEST.json beside the real traces.

The manifest was counted by another reader. For each file `info` must give
exactly its records, buffers, counts by hook and by provider, and the session's
facts; `dump` must list exactly its records, in time order, with the manifest's
kinds of header.
"""

import json
import os
from collections import Counter

from oracle_support import Results, counts_by, dump, run_json, traces_folder

CLOCKS = {1: "qpc", 2: "system", 3: "cpu"}

# Keys that users script against; more may be there, none may be missing.
TRACE_KEYS = set(
    "files session computer os_build pointer_bits cpus clock clock_hz start_time duration_ns "
    "buffers events events_lost buffers_lost".split()
)
INFO_KEYS = set("schema trace processes modules events providers stacks can diagnostics".split())
DUMP_KEYS = set("ts time_ns cpu pid tid header version payload_bytes".split())


def check_info(results, name, wanted, info):
    trace = info["trace"]
    results.equal(f"{name}: info keys", sorted(INFO_KEYS - set(info) | TRACE_KEYS - set(trace)), [])
    results.equal(f"{name}: records", trace["events"], wanted["records"])
    results.equal(f"{name}: buffers", trace["buffers"], wanted["buffers"])
    results.equal_maps(f"{name}: hooks", counts_by(info["events"], "hook"), wanted["hooks"])
    results.equal_maps(
        f"{name}: providers", counts_by(info["providers"], "guid"), wanted["providers"]
    )
    session = {
        "os_build": wanted["os_build"],
        "pointer_bits": wanted["pointer_bytes"] * 8,
        "cpus": wanted["cpus"],
        "clock": CLOCKS[wanted["clock_type"]],
        "clock_hz": wanted["clock_hz"],
        "session": wanted["session"],
        "events_lost": wanted["events_lost"],
    }
    results.equal_maps(f"{name}: session", {key: trace.get(key) for key in session}, session)


def check_dump(results, name, wanted, events, trace):
    results.equal(f"{name}: dumped records", len(events), wanted["records"])
    backwards = [
        f"line {i + 2}: {b['time_ns']} ns after {a['time_ns']} ns"
        for i, (a, b) in enumerate(zip(events, events[1:]))
        if b["time_ns"] < a["time_ns"] or b["ts"] < a["ts"]
    ]
    results.check(f"{name}: dumped in time order", not backwards, *backwards[:5])
    headers = Counter(event["header"] for event in events)
    results.equal_maps(f"{name}: dumped headers", dict(headers), wanted["headers"])
    named = Counter(event["hook"] if "hook" in event else event["provider"] for event in events
                    if event["header"] != "message")
    named += Counter("message" for event in events if event["header"] == "message")
    results.equal_maps(
        f"{name}: dumped hooks and providers",
        dict(named),
        {**wanted["hooks"], **wanted["providers"]},
    )
    missing = {key for event in events for key in DUMP_KEYS - set(event)}
    results.equal(f"{name}: dump keys", sorted(missing), [])
    last_ns = max((event["time_ns"] for event in events), default=0)
    results.equal(f"{name}: duration is the last record's time", trace["duration_ns"], last_ns)


def main():
    folder = traces_folder("MANIFEST.json")
    with open(os.path.join(folder, "MANIFEST.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    results = Results()
    for name, wanted in sorted(manifest.items()):
        path = os.path.join(folder, name)
        try:
            info = run_json("info", path)
            check_info(results, name, wanted, info)
            check_dump(results, name, wanted, dump(path), info["trace"])
        except (RuntimeError, ValueError, KeyError) as error:
            results.check(f"{name}: output is complete", False, f"{type(error).__name__}: {error}")
    results.finish()


if __name__ == "__main__":
    main()
