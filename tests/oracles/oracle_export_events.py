#!/usr/bin/env python3
"""Compares what `export` writes for DHAT's viewer and for heaptrack with `allocations`.

Both formats come from going through all events in time order; here the same is worked
out from the list of lifetimes in the plainest way. The viewer that comes with valgrind
builds its tree from the file, with its own code, in node; heaptrack_print, which pairs
nothing but adds up events, must find the bytes leaked, the peak and the counts that
`report` has.
"""

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict

from oracle_export import HINT, NO_STACK, WORK, cleaned, export, frame_text, hostile_trace, made_traces
from oracle_support import Results, run_json

VIEWER = "/usr/libexec/valgrind/dh_view.js"
HEAPTRACK = shutil.which("heaptrack_print")
NODE = shutil.which("node")
FIELDS = ["tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"]

# The viewer's own code, with as much of a browser as it touches. What it draws is text.
VIEW = r"""
const fs = require("fs"), vm = require("vm");
let text = [];
function element() {
  return {
    childNodes: [], parentNode: { replaceChild() {} }, classList: { add() {} }, cloneNode: () => element(),
    appendChild(child) { this.childNodes.push(child); if (child.words !== undefined) text.push(child.words); },
    get selectedIndex() { return this.childNodes.findIndex(child => child.selected); },
    set textContent(words) { text.push(words); },
  };
}
const document = {
  createElement: element, createTextNode: words => ({ words }), body: element(), location: { search: "" } };
const context = vm.createContext({ document, performance: { now: () => 0 }, URLSearchParams });
vm.runInContext(fs.readFileSync(process.argv[1], "utf8"), context);
context.file = fs.readFileSync(process.argv[2], "utf8");
vm.runInContext("onLoad(); gData = JSON.parse(file); buildTree(); displayTree(0, 0, 0);", context);
const root = vm.runInContext(`(${JSON.stringify(["_totalBytes", "_totalBlocks", "_totalLifetimes", "_atTGmaxBytes",
  "_atTGmaxBlocks", "_atTEndBytes", "_atTEndBlocks"])}).map(key => gRoot[key])`, context);
console.log(JSON.stringify({ root, text: text.join("") }));
"""


class Row:
    """A lifetime as both formats see it: since the window's begin, in nanoseconds."""

    def __init__(self, row, stacks, window):
        low, high = window
        frames = stacks[row["stack"]] if row["stack"] is not None else ()
        self.place = (row["process"], row["pid"], row["stack"] if frames else None)
        self.names = (f"{row['process']} ({row['pid']})", frames or (NO_STACK,))
        self.size = row["size"]
        self.is_old = row["type"] in ("AOFI", "AOFO")
        self.begin = -1 if self.is_old else row["alloc_time_ns"] - low
        self.end = row["free_time_ns"] - low if row["type"] in ("AIFI", "AOFI") else None
        self.length = (high - low if self.end is None else self.end) - max(self.begin, 0)


def source_text(frame):
    """As the program shows where a frame is."""
    text = frame_text(frame)
    if frame["line"]:
        text += "  " + re.split(r"[/\\\\]", frame["file"])[-1] + f":{frame['line']}"
    return text + ("  [inlined]" if frame.get("inline") else "")


def rows_of(trace, kind, *arguments):
    document = run_json("allocations", trace, "--kind", kind, *arguments)
    texts = [source_text(frame) for frame in document["frames"]]
    stacks = [tuple(texts[i] for i in stack) for stack in document["stacks"]]
    window = (document["window"]["from_ns"], document["window"]["to_ns"])
    return [Row(row, stacks, window) for row in document["rows"]], window


def highest(rows):
    """The most bytes that live at once, what blocks that is, and since when."""
    changes = defaultdict(int)
    counts = defaultdict(int)
    for row in rows:
        changes[row.begin] += row.size
        counts[row.begin] += 1
        if row.end is not None:
            changes[row.end] -= row.size
            counts[row.end] -= 1
    best, best_count, best_time, now, count = 0, 0, -1, 0, 0
    for time in sorted(changes):
        now += changes[time]
        count += counts[time]
        if now > best:
            best, best_count, best_time = now, count, time
    return best, best_count, best_time


def wanted_points(rows):
    """{names of a place: FIELDS of each that has them}, and the time of the peak of all."""
    by_place = defaultdict(list)
    for row in rows:
        by_place[row.place].append(row)
    peak_time = highest(rows)[2]
    points = defaultdict(list)
    for members in by_place.values():
        there = [row for row in members if row.begin <= peak_time and (row.end is None or row.end > peak_time)]
        left = [row for row in members if row.end is None]
        points[members[0].names].append([
            sum(row.size for row in members), len(members), sum(row.length for row in members) // 1000,
            *highest(members)[:2], sum(row.size for row in there), len(there),
            sum(row.size for row in left), len(left),
        ])
    return {names: sorted(values) for names, values in points.items()}, max(peak_time, 0)


def check_dhat(results, trace, kind, *arguments):
    label = f"{os.path.basename(trace)}: {' '.join(['dhat', kind, *arguments])}"
    rows, window = rows_of(trace, kind, *arguments)
    wanted, peak_time = wanted_points(rows)
    data = export(trace, "dhat", "--kind", kind, *arguments)
    document = json.loads(data)
    frames = document["ftbl"]
    got = defaultdict(list)
    for point in document["pps"]:
        names = (frames[point["fs"][-1]], tuple(frames[i] for i in point["fs"][:-1]))
        got[names] = sorted([*got[names], [point[field] for field in FIELDS]])
    results.equal_maps(f"{label}: {len(document['pps'])} points", got, wanted)
    places = {tuple(point["fs"]) for point in document["pps"]}
    results.equal(f"{label}: places are different, times are right, the root is first",
                  (len(document["pps"]) - len(places), document["tg"], document["te"], frames[0]),
                  (0, peak_time // 1000, (window[1] - window[0]) // 1000, "[root]"))
    return document, data


def view(data):
    """What the viewer makes of the file."""
    path = os.path.join(WORK, "view.json")
    with open(path, "wb") as file:
        file.write(data)
    english = {**os.environ, "LC_ALL": "en_US.UTF-8"}
    done = subprocess.run([NODE, "-e", VIEW, VIEWER, path], capture_output=True, env=english, check=False)
    if done.returncode != 0:
        return {"root": done.stderr.decode()[-400:], "text": ""}
    return json.loads(done.stdout)


def check_viewer(results, trace, kind, *arguments):
    document, data = check_dhat(results, trace, kind, *arguments)
    if not (NODE and os.path.exists(VIEWER)):
        return
    label = f"{os.path.basename(trace)}: {kind}"
    shown = view(data)
    sums = [sum(point[field] for point in document["pps"]) for field in ("tb", "tbk", "tl", "gb", "gbk", "eb", "ebk")]
    results.equal(f"{label}: the viewer adds up the same", shown["root"], sums)
    results.check(f"{label}: the viewer shows it", f"{sums[5]:,} bytes" in shown["text"]
                  and document["cmd"] in shown["text"], shown["text"][:300])


# --- heaptrack --------------------------------------------------------------------------------


def events_of(rows):
    """(time, +1 or -1, what it is, its number) in the order that the format promises."""
    events = []
    for number, row in enumerate(rows):
        what = (row.size, row.place)
        if row.end == row.begin:
            events.append((row.begin, 1, number, 0, 1, what))
            events.append((row.begin, 1, number, 1, -1, what))
            continue
        events.append((row.begin, 2, number, 0, 1, what))
        if row.end is not None:
            events.append((row.end, 0, number, 0, -1, what))
    return [(event[0], event[4], event[5], event[2]) for event in sorted(events, key=lambda event: event[:4])]


def wanted_totals(rows):
    """As heaptrack counts: a temporary block is freed by the event after its own. A free of
    the first kind after another free looks so, too: heaptrack takes 0, its number, also for
    "nothing was allocated since". The file avoids that if the first block has a twin."""
    now = peak = temporary = allocated = 0
    last = first = None
    twins = 0  # blocks like the first that were allocated so far
    for _, sign, what, number in events_of(rows):
        first = first or (number, what)
        now += sign * what[0]
        peak = max(peak, now)
        allocated += sign > 0
        twins += sign > 0 and what == first[1]
        looks_temporary = last is None and number == first[0] and twins == 1
        temporary += sign < 0 and (what == last or looks_temporary)
        last = what if sign > 0 else None
    return {"leaked": now, "peak": peak, "allocations": allocated, "temporary": temporary}


def flame_totals(*files):
    """heaptrack_print rounds; the costs of its flame graphs add up to exact totals."""
    totals = {}
    for cost in ("leaked", "peak", "allocations", "temporary"):
        flame = os.path.join(WORK, "heaptrack.flame")
        done = subprocess.run(
            [HEAPTRACK, *files, "-p", "0", "-a", "0", "-T", "0", "-F", flame, "--flamegraph-cost-type", cost,
             "--disable-builtin-suppressions"],
            capture_output=True, check=False)
        said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        if done.returncode != 0 or "ailed" in said or "out of bounds" in said:
            return {"said": said[-500:]}
        with open(flame, encoding="utf-8") as file:
            totals[cost] = sum(int(line.rsplit(" ", 1)[1]) for line in file if line.strip())
        calls = re.search(r"calls to allocation functions: (-?\d+)", said)
        temporary = re.search(r"temporary memory allocations: (-?\d+)", said)
    totals["said"] = (int(calls.group(1)), int(temporary.group(1)))
    return totals


def check_heaptrack(results, trace, kind, *arguments):
    label = f"{os.path.basename(trace)}: {' '.join(['heaptrack', kind, *arguments])}"
    rows, _ = rows_of(trace, kind, *arguments)
    wanted = wanted_totals(rows)
    report = run_json("report", trace, "--kind", kind, "--group-by", "kind", *arguments)["rows"]
    sums = {"leaked": report[0]["outstanding_size"], "allocations": report[0]["count"], "peak": report[0]["peak_size"]}
    results.equal(f"{label}: the list of events has the report's sums: {sums}",
                  {key: wanted[key] for key in sums}, sums)
    path = os.path.join(WORK, "heaptrack.txt")
    data = export(trace, "heaptrack", "--kind", kind, *arguments)
    with open(path, "wb") as file:
        file.write(data)
    check_strings(results, label, data)
    if HEAPTRACK:
        got = flame_totals("-f", path)
        results.equal(f"{label}: heaptrack_print finds them", got,
                      {**wanted, "said": (wanted["allocations"], wanted["temporary"])})


def check_strings(results, label, data):
    """Every line is of the format, and a string is as long as it says."""
    wrong = []
    for line in data.decode("utf-8").split("\n")[:-1]:
        if line.startswith("s "):
            _, size, text = line.split(" ", 2)
            if int(size, 16) != len(text.encode()) or text != cleaned(text):
                wrong.append(line)
        elif not re.match(r"^([vita] [0-9a-f]+( [0-9a-f]+)+|[c+-] [0-9a-f]+|X .*)$", line):
            wrong.append(line)
    results.check(f"{label}: lines are of the format", not wrong, *wrong[:3])


def check_heaptrack_zst(results, trace):
    path = os.path.join(WORK, "heaptrack.zst")
    export(trace, "heaptrack", "-o", path)
    rows, _ = rows_of(trace, "heap")
    got = flame_totals("-f", path)
    got.pop("said")
    results.equal("heaptrack_print reads a compressed file as well", got, wanted_totals(rows))


def check_empty(results, trace):
    """What selects nothing still opens."""
    nothing = ["--process", "nobody.exe"]
    data = export(trace, "dhat", *nothing)
    results.equal("nothing selected: DHAT has no points", (json.loads(data)["pps"], json.loads(data)["cmd"]),
                  ([], "no program"))
    if NODE and os.path.exists(VIEWER):
        results.equal("nothing selected: the viewer shows it", view(data)["root"], [0] * 7)
    if HEAPTRACK:
        path = os.path.join(WORK, "nothing.txt")
        with open(path, "wb") as file:
            file.write(export(trace, "heaptrack", *nothing))
        results.equal("nothing selected: heaptrack_print finds nothing", flame_totals("-f", path)["said"], (0, 0))


def main():
    results = Results()
    if not (NODE and os.path.exists(VIEWER)):
        print(f"skipped: DHAT's viewer needs node and valgrind's {VIEWER}; {HINT}")
    if not HEAPTRACK:
        print(f"skipped: there is no heaptrack_print; {HINT}")
    demo, keyed, slow = made_traces()
    hostile, named = hostile_trace()
    for trace, *arguments in ([demo], [keyed], [hostile, *named]):
        check_viewer(results, trace, "heap", *arguments)
        check_heaptrack(results, trace, "heap", *arguments)
    for arguments in (["--from", "2ms", "--to", "40ms"], ["--from", "5ms", "--at-exit=freed"]):
        check_dhat(results, slow, "heap", *arguments)
        check_heaptrack(results, slow, "heap", *arguments)
    for kind in ("virtualalloc", "extent"):
        check_viewer(results, demo, kind)
        check_heaptrack(results, demo, kind)
    check_empty(results, demo)
    if HEAPTRACK:
        check_heaptrack_zst(results, demo)
    results.finish()


if __name__ == "__main__":
    main()
