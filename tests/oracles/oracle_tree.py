#!/usr/bin/env python3
"""The call tree against one that is made here from the rows of the same report as JSON.

Each random trace is asked for trees below several lists of keys, from either end of the
stacks, and for one of the stacks that freed. A line of the tree is what it counts, how far it is indented, and its text; siblings
of one size may stand in any order, so lines are compared as a bag.
"""

import os
import re
import subprocess
from collections import Counter

from oracle_support import ETLHEAP, WORK, Results, run_json

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
OPTIONS = ["--no-symbols", "--no-cull", "--sort", "outstanding_count"]
SEEDS = (3, 4, 11)

# --group-by, and the levels above the frames, kind and process first.
GROUPS = [
    ("", [["kind", "process"]]),
    ("process,heap,type", [["kind", "process"], ["heap"], ["type"]]),
    ("heap,stack", [["kind"], ["heap"]]),
    ("kind,process,thread,stack", [["kind", "process"], ["thread"]]),
    ("module,process", [["kind"], ["module"], ["process"]]),
    ("stack,type", [["kind"], ["type"]]),
]


class Node:
    def __init__(self, label, level):
        self.label, self.level = label, level  # level None: a frame
        self.count = self.size = self.own = 0
        self.is_listed = False  # on the path of one of the first rows
        self.children = {}


def key_text(row, key):
    if key == "process":
        return f"{row['process']} ({row['pid']})"
    value = row[key]
    return "" if value is None else str(value)


def frame_text(frame):
    return f"{frame['module']}+{frame['offset']}" if frame["module"] else frame["address"]


def path_of(document, row, levels, inverted):
    for number, keys in enumerate(levels):
        texts = [text for text in (key_text(row, key) for key in keys) if text]
        yield ("  ".join(texts) or f"[no {keys[0]}]", number)
    stack = [] if row["stack"] is None else document["stacks"][row["stack"]]
    frames = [frame_text(document["frames"][index]) for index in stack]
    for text in frames if inverted else reversed(frames):
        yield (text, None)
    if not frames:
        yield ("[no stack recorded]", None)


def grow(document, levels, inverted, listed=None):
    """Sums are of all rows; with `listed`, only the paths of that many are shown."""
    top = Node("", 0)
    for number, row in enumerate(document["rows"]):
        node = top
        for label, level in path_of(document, row, levels, inverted):
            node = node.children.setdefault((label, level), Node(label, level))
            node.count += row["outstanding_count"]
            node.size += row["outstanding_size"]
            node.is_listed |= listed is None or number < listed
        node.own += row["outstanding_count"]
    return top


def shown_of(node, root, least):
    """Children that are shown: from `least` millionths of the root on."""
    return [child for child in node.children.values()
            if child.is_listed and child.count != 0 and child.count >= (root or child).count * least // 10**6]


def lines_of(node, root, indent, out, least=10000):
    """A level steps in by two; siblings among frames stand behind a mark. Only children with the
    same sums, in sizes too, stand in one line."""
    shown = shown_of(node, root, least)
    for child in shown:
        is_marked = child.level is None and len(shown) > 1
        at, top, label = indent + (2 if is_marked else 0), root or child, child.label
        while child.level is None:
            below = shown_of(child, top, least)
            if len(below) != 1 or (below[0].count, below[0].size) != (child.count, child.size):
                break
            child = below[0]
            label += " \u2192 " + child.label
        out.append((child.count, at, label))
        lines_of(child, top, at + (0 if child.level is None else 2), out, least)
    return out


def read_tree(text, title):
    """(count, indent, text) of each line below the heading of the tree."""
    lines = text.split("\n")
    head = next(i for i, line in enumerate(lines) if title in line)
    column = lines[head].index(lines[head].split("Share  ", 1)[1])
    out = []
    for line in lines[head + 1:]:
        if not line.strip():
            break
        words = line[column:]
        indent = len(words) - len(words.lstrip())
        mark = words.lstrip().startswith("- ")
        label = words.lstrip()[2:] if mark else words.lstrip()
        out.append((int(line.split()[0].replace(",", "")), indent + (2 if mark else 0), label))
    return out


def rows_listed(document):
    """About six rows: the last one differs from the next in its count, as others stand in any order."""
    counts = [row["outstanding_count"] for row in document["rows"]]
    return next(n for n in range(6, len(counts)) if counts[n - 1] != counts[n])


def compare_first(results, trace, name, tree, keys, document, levels):
    """--top limits lines, and never sums."""
    listed = rows_listed(document)
    command = [ETLHEAP, "report", trace, *OPTIONS, tree, "--top", str(listed), *(["--group-by", keys] if keys else [])]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    wanted = lines_of(grow(document, levels, tree != "--tree", listed), None, 0, [])
    got = read_tree(text, "Call tree" if tree == "--tree" else "Callers")
    differ = list((Counter(wanted) - Counter(got)).items())[:4] + list((Counter(got) - Counter(wanted)).items())[:4]
    results.check(f"{name}: the first {listed} rows", len(got) > 4 and not differ, *differ)
    said = " ".join(text.split())
    results.check(f"{name}: the note says why", f": only the first {listed} are listed" in said, said[-300:])
    for kind, rows in Counter(row["kind"] for row in document["rows"][listed:]).items():
        amount = sum(row["outstanding_count"] for row in document["rows"][listed:] if row["kind"] == kind)
        found = re.search(rf"([\d,]+)(?: more rows?)? of {kind} with ([\d,]+) in Outstanding Count", said)
        numbers = found and tuple(int(number.replace(",", "")) for number in found.groups())
        results.equal(f"{name}: what is left of {kind}", numbers, (rows, amount))


def json_lines(document, levels, measure="outstanding_count"):
    """(count, path of labels, exclusive count) of each node of the JSON document."""
    paths, out = [], []
    for node in document["nodes"]:
        above = () if node["parent"] is None else paths[node["parent"]]
        if "frame" in node:
            label = "[no stack recorded]" if node["frame"] is None else frame_text(document["frames"][node["frame"]])
        else:
            keys = levels[len(above)]
            label = "  ".join(text for text in (key_text(node, key) for key in keys) if text) or f"[no {keys[0]}]"
        paths.append((*above, label))
        out.append((node[measure], paths[-1], node["exclusive"][measure]))
    return out


def json_wanted(node, root, path, out, least):
    for child in shown_of(node, root, least):
        out.append((child.count, (*path, child.label), child.own))
        json_wanted(child, root or child, (*path, child.label), out, least)
    return out


def compare_json(results, trace, name, options, document, levels):
    """The document has the nodes of the text, chains taken apart, and what belongs to each alone."""
    for least in ("1", "0", "12.5%"):
        got = run_json("report", trace, *OPTIONS, *options, "--tree-min", least)
        wanted = json_wanted(grow(document, levels, "--tree" not in options), None, (), [], round(float(least.strip("%")) * 10**4))
        lines = json_lines(got, levels)
        differ = list((Counter(wanted) - Counter(lines)).items())[:4] + list((Counter(lines) - Counter(wanted)).items())[:4]
        results.check(f"{name}: JSON from {least} % on, {len(wanted)} nodes", len(wanted) > 4 and not differ, *differ)


def compare(results, trace, seed):
    for keys, levels in GROUPS:
        grouped = list(dict.fromkeys([key for level in levels for key in level] + ["stack"]))
        document = run_json("report", trace, *OPTIONS, "--top", "all", "--group-by", ",".join(grouped))
        for tree, title in (("--tree", "Call tree"), ("--tree=callers", "Callers")):
            command = [ETLHEAP, "report", trace, *OPTIONS, tree, *(["--group-by", keys] if keys else [])]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            wanted = lines_of(grow(document, levels, tree != "--tree"), None, 0, [])
            got = read_tree(text, title)
            name = f"seed {seed}: {tree} --group-by {keys or 'nothing'}"
            differ = list((Counter(wanted) - Counter(got)).items())[:4] + list((Counter(got) - Counter(wanted)).items())[:4]
            results.check(name, len(got) > 8 and not differ, f"{len(got)} lines, {len(wanted)} wanted", *differ)
            compare_json(results, trace, name, [tree, *(["--group-by", keys] if keys else [])], document, levels)
            if seed == SEEDS[0]:
                compare_first(results, trace, name, tree, keys, document, levels)
            below = [i for i, line in enumerate(got) if line[1] == 0]
            results.check(f"{name}: each kind's lines come together", [got[i][0] for i in below] == sorted(
                (got[i][0] for i in below), reverse=True))


def compare_frees(results, trace, seed):
    """Blocks by the stacks that freed them; those without such a stack are one node."""
    options = ["--no-symbols", "--no-cull", "--sort", "count", "--group-by", "process,heap,free_stack"]
    levels = [["kind", "process"], ["heap"]]
    document = run_json("report", trace, *options, "--top", "all")
    for row in document["rows"]:
        row.update(stack=row["free_stack"], outstanding_count=row["count"], outstanding_size=row["size"])
    known = sum(row["stack"] is not None for row in document["rows"])
    for tree in ("--tree", "--tree=callers"):
        got = json_lines(run_json("report", trace, *options, tree, "--tree-min", "0"), levels, "count")
        wanted = json_wanted(grow(document, levels, tree != "--tree"), None, (), [], 0)
        differ = list((Counter(wanted) - Counter(got)).items())[:4] + list((Counter(got) - Counter(wanted)).items())[:4]
        results.check(f"seed {seed}: {tree} of {known} stacks that freed", known > 4 and len(got) > 20 and not differ, *differ)


def main():
    results = Results()
    for seed in SEEDS:
        trace = os.path.join(WORK, f"tree{seed}.etl")
        subprocess.run([MAKE_TRACE, "workload", trace, "--seed", str(seed), "--events", "3000"], check=True,
                       capture_output=True)
        compare(results, trace, seed)
        compare_frees(results, trace, seed)
        os.remove(trace)
    results.finish()


if __name__ == "__main__":
    main()
