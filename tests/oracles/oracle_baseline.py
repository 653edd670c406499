#!/usr/bin/env python3
"""Compares `dump` and `info` with PerfView's own listings of three traces.

PerfView's regression files list some events one by one ("EVENT 1,234.567: class
... ProceNum=3; DataLen=16;", milliseconds since the start) and all classes with
their totals ("COUNT class:n"). Every EVENT line must be found in `dump`: same CPU, same
payload length, the time within a microsecond of the printed one and, where
PerfView prints the header's, the same process and thread; no dump line is used
twice. The totals of classes whose events PerfView does not filter (it drops idle
samples and stack records) must be those of `info`.
"""

import glob
import os
import re
from bisect import bisect_left
from collections import defaultdict

from oracle_support import Results, counts_by, dump, run_json, traces_folder

EVENT = re.compile(
    r"^EVENT\s+([\d,.]+): (.+?) PID=(-?[\d,]+); TID=(-?[\d,]+);.*?ProceNum=(\d+); DataLen=([\d,]+);"
)
COUNT = re.compile(r"^COUNT (.+):(\d+)$")

# Printed times are rounded to a microsecond; one more is the reader's to lose.
TOLERANCE_NS = 1500

# PerfView's class by hook; image loads alone keep the old hook beside the new ones.
HOOKS = {
    "Windows Kernel/DiskIO/Read": "0x010a",
    "Windows Kernel/DiskIO/Write": "0x010b",
    "Windows Kernel/DiskIO/ReadInit": "0x010c",
    "Windows Kernel/DiskIO/WriteInit": "0x010d",
    "Windows Kernel/DiskIO/FlushBuffers": "0x010e",
    "Windows Kernel/DiskIO/FlushInit": "0x010f",
    "Windows Kernel/Memory/HardFault": "0x0220",
    "Windows Kernel/Process/Start": "0x0301",
    "Windows Kernel/Process/Stop": "0x0302",
    "Windows Kernel/Process/DCStart": "0x0303",
    "Windows Kernel/Process/DCStop": "0x0304",
    "Windows Kernel/Process/PerfCtr": "0x0320",
    "Windows Kernel/Process/PerfCtrRundown": "0x0321",
    "Windows Kernel/Process/Defunct": "0x0327",
    "Windows Kernel/Thread/Start": "0x0501",
    "Windows Kernel/Thread/Stop": "0x0502",
    "Windows Kernel/Image/Load": "0x030a",
    "Windows Kernel/Image/Unload": "0x1402",
    "Windows Kernel/Image/DCStart": "0x1403",
    "Windows Kernel/Image/DCStop": "0x1404",
    "Windows Kernel/TcpIp/SendIPV6": "0x061a",
    "Windows Kernel/TcpIp/RecvIPV6": "0x061b",
    "Windows Kernel/UdpIp/Send": "0x080a",
    "Windows Kernel/UdpIp/Recv": "0x080b",
    "Windows Kernel/UdpIp/SendIPV6": "0x081a",
    "Windows Kernel/UdpIp/RecvIPV6": "0x081b",
    "Windows Kernel/SystemConfig/PnP": "0x0b16",
    "Windows Kernel/SystemConfig/Services": "0x0b0f",
}

# Families whose classes are opcodes of one class GUID or provider.
PROVIDERS = {
    "KernelTraceControl/ImageID": "b3e675d7-2554-4f18-830b-2762732560de",
    "KernelTraceControl/MetaData": "bbccf6c1-6cd1-48c4-80ff-839482e37671",
    "Microsoft-Windows-DotNETRuntimePrivate/": "763fd754-7086-4dfe-95eb-c01a46faf4ca",
    "Microsoft-Windows-Kernel-File/": "edd08927-9cc4-4e65-b970-c2560fb5c289",
    "Microsoft-Windows-Kernel-EventTracing/": "b675ec37-bdb6-4648-bc92-f3fdc74d3ca2",
    "solar_system/": "d3dd3dd4-aac2-4e2a-8dd4-a8fb61b77615",
}


def number(text):
    return int(text.replace(",", ""))


class Listed:
    """One EVENT line. PerfView works out ids of its own for kernel classes."""

    def __init__(self, match):
        milliseconds, self.name, pid, tid, cpu, payload_bytes = match.groups()
        whole, _, thousandths = milliseconds.replace(",", "").partition(".")
        self.time_ns = int(whole) * 1000000 + int(thousandths.ljust(3, "0")) * 1000
        self.place = (int(cpu), number(payload_bytes))
        self.ids = None if self.name.startswith("Windows Kernel/") else (number(pid), number(tid))
        self.text = f"{milliseconds} ms {self.name} cpu, bytes {self.place} pid, tid {self.ids}"


def read_listing(path):
    """EVENT lines as Listed; COUNT lines as a map."""
    events, counts = [], {}
    with open(path, encoding="utf-8-sig") as file:
        for line in file:
            match = EVENT.match(line)
            if match:
                events.append(Listed(match))
            elif line.startswith("EVENT"):
                raise ValueError(f"{path}: cannot read: {line[:80]}")
            match = COUNT.match(line.strip())
            if match:
                counts[match.group(1)] = int(match.group(2))
    return events, counts


def header_ids(event):
    """Ids as PerfView prints them: -1 for none."""
    return tuple(-1 if event[key] in (None, 0xFFFFFFFF) else event[key] for key in ("pid", "tid"))


def unmatched(listed, dumped):
    """Lines without a dump event of their own.

    All lines accept an interval of the same width, so each, in order of time,
    takes the earliest event that is left and fits. Lines that ask for ids go
    first: fewer events fit them.
    """
    events = defaultdict(list)
    for event in dumped:
        place = (event["cpu"], event["payload_bytes"])
        events[place].append((event["time_ns"], header_ids(event)))
    for group in events.values():
        group.sort()
    left = []
    for line in sorted(listed, key=lambda line: (line.ids is None, line.time_ns)):
        group = events[line.place]
        i = bisect_left(group, (line.time_ns - TOLERANCE_NS,))
        while i < len(group) and line.ids not in (None, group[i][1]):
            i += 1
        if i < len(group) and group[i][0] <= line.time_ns + TOLERANCE_NS:
            del group[i]
        else:
            left.append(line.text)
    return left


def check_counts(results, name, counts, info):
    by_hook = counts_by(info["events"], "hook")
    by_provider = counts_by(info["providers"], "guid")
    for listed, hook in HOOKS.items():
        if listed in counts:
            results.equal(f"{name}: total of {listed}", by_hook.get(hook, 0), counts[listed])
    for family, guid in PROVIDERS.items():
        wanted = sum(count for listed, count in counts.items() if listed.startswith(family))
        if wanted:
            results.equal(f"{name}: total of {family}", by_provider.get(guid, 0), wanted)


def main():
    folder = traces_folder("MANIFEST.json")
    listings = sorted(glob.glob(os.path.join(folder, "*.baseline.txt")))
    results = Results()
    results.check("there are three listings", len(listings) == 3, *listings)
    for path in listings:
        name = os.path.basename(path).replace(".baseline.txt", "")
        trace = os.path.join(folder, name + ".etl")
        listed, counts = read_listing(path)
        left = unmatched(listed, dump(trace))
        results.check(f"{name}: each of {len(listed)} listed events is dumped",
                      listed and not left, f"{len(left)} are not, such as:", *left[:8])
        check_counts(results, name, counts, run_json("info", trace))
    results.finish()


if __name__ == "__main__":
    main()
