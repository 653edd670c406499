#!/usr/bin/env python3
"""Windows services and app packages of processes, in `info` and `dump`.

PerfView's listing of a real trace names services with their numbers; `dump` must say the same.
In other real traces each service that runs belongs to the process that its record names, and
packages to processes of apps. A trace of the second writer has what these lack: services of
one id before and after it was reused, and a store of it must say what the trace says.
"""

import os
import random
import re
import struct
import tempfile
from collections import defaultdict

from oracle_baseline import TOLERANCE_NS, number
from oracle_support import Results, dump, run, run_json, traces_folder
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile

SERVICES = 0x0B0F
LINE = re.compile(
    r"^EVENT\s+([\d,.]+): Windows Kernel/SystemConfig/Services .*?ServiceName=(.*?); DisplayName=(.*?); "
    r"ProcessName=.*?; ProcessID=([\d,]+); ServiceState=(\d+); SubProcessTag=(\d+);"
)


def write_trace(path):
    clock = Clock(QPC, 10_000_000, 1_000_000, 132_000_000_000_000_000)
    file = TraceFile(clock, 1, Style("session", 65536), 1_000_000, random.Random(1))
    ticks = 1_000_000

    def add(hook, version, payload):
        nonlocal ticks
        ticks += 50_000_000
        file.add(Record(0, ticks, 0, records.system(8, version, hook, 9, 4, ticks, payload), False))

    def service(pid, name):
        add(SERVICES, 3, struct.pack("<III", pid, 4 if pid else 1, 7)
            + b"".join(records.text16(text) for text in (name, name + " service", "svchost.exe", "", "group")))

    def process(hook, name, package=""):
        data = records.process(8, 800 << 12, 800, 4, 0, name, name)
        add(hook, 4, data[:-4] + records.text16(package) + records.text16("App"))

    process(records.PROCESS_RUNDOWN_START, "svchost.exe")
    for name in ("Dhcp", "EventLog", "Dhcp", "Ärger"):
        service(800, name)
    service(0, "Stopped")
    process(records.PROCESS_END, "svchost.exe")
    process(records.PROCESS_START, "SearchApp.exe", "Company.Search_1.0_x64__abc")
    process(records.PROCESS_END, "SearchApp.exe", "Company.Search_1.0_x64__abc")
    process(records.PROCESS_START, "svchost.exe")
    service(800, "Later")
    file.cut()
    file.write(path, "services.etl")


def told(path):
    return [(row["name"], row.get("services"), row.get("package")) for row in run_json("info", path)["processes"]]


def check_built(results, folder):
    path = os.path.join(folder, "services.etl")
    store = os.path.join(folder, "services.ehs")
    write_trace(path)
    run("store", path, "-o", store)
    wanted = [
        ("svchost.exe", ["Dhcp", "EventLog", "Ärger"], None),
        ("SearchApp.exe", None, "Company.Search_1.0_x64__abc"),
        ("svchost.exe", ["Later"], None),
    ]
    results.equal("trace: services and packages", told(path), wanted)
    results.equal("store: the same", told(store), wanted)
    text = run("info", path).decode()
    results.check("text: services", "svchost.exe [Dhcp,EventLog,Ärger]" in text, text)
    results.check("text: a package without its version", "SearchApp.exe [Company.Search]" in text, text)


def check_perfview(results, folder):
    name = "perfview-net452-x64-merged-compressed-stackkeys"
    rows = defaultdict(list)
    for row in dump(os.path.join(folder, name + ".etl"), "--events", "0x0b0f"):
        rows[row["fields"]["service_name"]].append(row)
    with open(os.path.join(folder, name + ".baseline.txt"), encoding="utf-8-sig") as file:
        lines = [match for match in map(LINE.match, file) if match]
    wrong = []
    for milliseconds, service, shown, pid, state, tag in (match.groups() for match in lines):
        whole, _, thousandths = milliseconds.replace(",", "").partition(".")
        time_ns = int(whole) * 1_000_000 + int(thousandths.ljust(3, "0")) * 1000
        same = [row for row in rows[service] if abs(row["time_ns"] - time_ns) <= TOLERANCE_NS]
        numbers = [(row["fields"]["process_id"], row["fields"]["state"], row["fields"]["sub_process_tag"]) for row in same]
        starts = [row["fields"]["display_name"].startswith(shown.removesuffix("...")) for row in same]
        if numbers != [(number(pid), int(state), int(tag))] or starts != [True]:
            wrong.append(f"{service}: PerfView {pid} {state} {tag} {shown}, dump {numbers}")
    results.check(f"{len(lines)} services are PerfView's", lines and not wrong, *wrong[:5])


def check_real(results, folder):
    for name in ("dynamicevents-28cpu-compressed.etl", "diaghub-kernel.etl"):
        path = os.path.join(folder, name)
        wanted = defaultdict(set)
        for row in dump(path, "--events", "0x0b0f"):
            if row["fields"]["process_id"] != 0:
                wanted[row["fields"]["process_id"]].add(row["fields"]["service_name"])
        processes = run_json("info", path)["processes"]
        found = {row["pid"]: set(row["services"]) for row in processes if "services" in row}
        results.equal_maps(f"{name}: each service has its process", found, dict(wanted))
        results.check(f"{name}: many run", len(wanted) > 20, str(len(wanted)))
        packages = {row["name"]: row["package"] for row in processes if "package" in row}
        results.check(f"{name}: packages", packages.get("StartMenuExperienceHost.exe", "").startswith(
            "Microsoft.Windows.StartMenuExperienceHost_10.0."), str(packages))


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        check_built(results, folder)
    folder = traces_folder("MANIFEST.json")
    check_perfview(results, folder)
    check_real(results, folder)
    results.finish()


if __name__ == "__main__":
    main()
