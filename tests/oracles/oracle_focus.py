#!/usr/bin/env python3
"""Trees that begin at one function, against trees that are made here from the stacks themselves.

The blocks and their stacks are those of UMDH logs that are written here, with functions that call
themselves, frames outside of all modules and blocks without a stack; and those that the truth of
random traces lists, whole, in a window and out of a store. A stack is cut at its outermost frame
that matches:

  * `--tree --root` has what is inside of it, from either end;
  * `--focus` has what is outside of it, inverted, and what is inside of it.

Every node must be there once, with what all its stacks hold and with what ends there; a stack counts
once, however often the function calls itself. The sums of the function are those that a profile of
pprof has for it: inclusive, once for each sample with one of its frames, and exclusive, for
samples that begin with one.
"""

import os
import random
import re
import subprocess
from collections import Counter, defaultdict

from oracle_export import export
from oracle_export_pprof import Profile
from oracle_support import ETLHEAP, WORK, Results, run, run_json
from oracle_tree import frame_text, json_lines, lines_of, Node, read_tree
from oracle_truth import Truth, type_of

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
PLAIN = ["--no-symbols", "--no-cull", "--sort", "outstanding_count"]
LEVELS = [["kind", "process"]]
MODULES = [(0x400000, 0x10000, "App.exe"), (0x10000000, 0x8000, "lib one.dll"), (0x77000000, 0x90000, "ntdll.dll")]


class Block:
    """An outstanding block: (kind, process), size, and frames from the innermost outwards."""

    def __init__(self, owner, size, stack):
        self.owner, self.size, self.stack = owner, size, stack


# --- worlds --------------------------------------------------------------------------------


def place(address):
    for base, size, name in MODULES:
        if base <= address < base + size:
            return f"{name}+{address - base:#x}"
    return f"{address:#x}"


def write_log(path, seed):
    """A UMDH log of a program whose few functions call each other in every way."""
    chance = random.Random(seed)
    functions = [base + 16 * number for base, _, _ in MODULES for number in range(1, 4)] + [0xdead0000, 0xdead0010]
    stacks = [[chance.choice(functions) for _ in range(chance.randrange(1, 9))] for _ in range(30)]
    stacks += [[functions[0]] * 5, [functions[3]], []]
    blocks = []
    with open(path, "w", encoding="ascii") as file:
        file.write("// \n// UMDH: version 6.1.7015.0: Logtime 2010-07-23 12:26 - Machine=BOX - PID=6424\n// \n\n"
                   "// Loaded modules: \n//     Base Size Module\n")
        for base, size, name in MODULES:
            file.write(f"// {base:16X} {size:8X} C:\\app\\{name}\n")
        file.write("//\n// Process modules enumerated.\n"
                   "\n*- - - - - - - - - - Start of data for heap @ 3D0000 - - - - - - - - - -\n\n"
                   "REQUESTED bytes + OVERHEAD at ADDRESS by BackTraceID\n     STACK if not already dumped.\n\n"
                   "*- - - - - - - - - - Heap 3D0000 Hogs - - - - - - - - - -\n\n")
        said = set()
        for number in range(150):
            which, size = chance.randrange(len(stacks)), chance.randrange(1, 5000)
            stack = stacks[which]
            name = f"{which + 1:X}" if stack else "0"
            file.write(f"{size:X} bytes + 8 at {0x3d0000 + 0x2000 * number:X} by BackTrace{name}\n")
            if which not in said:
                file.write("".join(f"\t{address:X}\n" for address in stack) + "\n")
            said.add(which)
            blocks.append(Block(("heap", "App.exe (6424)"), size, [place(address).lower() for address in stack]))
        file.write("\n*- - - - - - - - - - End of data for heap @ 3D0000 - - - - - - - - - -\n")
    return blocks


def blocks_of_truth(truth, from_ns, to_ns):
    """What is outstanding at the end of a window."""
    for lifetime in truth.lifetimes:
        kind = type_of(lifetime, lifetime.end_by("leaked"), from_ns, to_ns)
        if kind in ("AIFO", "AOFO"):
            yield Block((lifetime.kind, f"{lifetime.process} ({lifetime.pid})"), lifetime.size, list(lifetime.stack or ()))


# --- the model -----------------------------------------------------------------------------


def outermost(stack, matches):
    """The place of the outermost frame that matches, or None."""
    return next((at for at in reversed(range(len(stack))) if matches(stack[at])), None)


def grow(blocks, matches, outwards, inverted=False):
    top = Node("", 0)
    for block in blocks:
        at = outermost(block.stack, matches)
        if at is None:
            continue
        frames = block.stack[at:] if outwards else block.stack[:at + 1][::1 if inverted else -1]
        node = top
        for label, level in [("  ".join(block.owner), 0), *((frame, None) for frame in frames)]:
            node = node.children.setdefault((label, level), Node(label, level))
            node.count += 1
            node.size += block.size
            node.is_listed = True
        node.own += 1
    return top


def nodes_of(node, path, out):
    for child in node.children.values():
        out[(child.count, (*path, child.label), child.own)] += 1
        nodes_of(child, (*path, child.label), out)
    return out


def sums_of(blocks, matches):
    """{kind: (inclusive count, exclusive count)}"""
    sums = defaultdict(lambda: [0, 0])
    for block in blocks:
        if any(matches(frame) for frame in block.stack):
            sums[block.owner[0]][0] += 1
            sums[block.owner[0]][1] += bool(matches(block.stack[0]))
    return {kind: tuple(both) for kind, both in sums.items()}


# --- comparisons -----------------------------------------------------------------------------


def differ(got, wanted):
    return [f"missing: {item}" for item in list((wanted - got).items())[:3]] + \
           [f"too many: {item}" for item in list((got - wanted).items())[:3]]


def check_document(results, name, document, blocks, matches, trees):
    """`trees`: {key of the nodes: the tree that they must be}"""
    for key, tree in trees.items():
        wanted = nodes_of(tree, (), Counter())
        lines = Counter((count, (path[0], *(frame.lower() for frame in path[1:])), own)
                        for count, path, own in json_lines({**document, "nodes": document[key]}, LEVELS))
        results.equal(f"{name}: {len(wanted)} nodes of {key}", differ(lines, wanted), [])
    sums = {row["kind"]: (row["outstanding_count"], row["exclusive"]["outstanding_count"]) for row in document["sums"]}
    results.equal(f"{name}: inclusive and exclusive sums", sums, sums_of(blocks, matches))


def check_text(results, name, text, title, tree):
    if not tree.children:
        results.check(f"{name}: no tree, and why", "No call stack has a frame that matches" in text, text[-300:])
        return
    wanted = Counter((count, at, label.lower()) for count, at, label in lines_of(tree, None, 0, []))
    lines = Counter((count, at, label.lower()) for count, at, label in read_tree(text, title))
    results.equal(f"{name}: {len(wanted)} lines of text", differ(lines, wanted), [])


def check_pprof(results, name, path, options, blocks, matches):
    """The rules of profile.proto: cum is a sample's value once for each function of it, flat is for its first."""
    sums = defaultdict(lambda: [0, 0])
    profile = Profile(export(path, "pprof", "--no-cull", *options))
    at = {label: number for number, (label, _) in enumerate(profile.types)}
    for stack, values, _ in profile.samples:
        named = [any(matches(function) for function, _, _ in lines) for _, _, lines in stack]
        for kind in ("heap", "virtualalloc", "extent"):
            value = values[at[("" if kind == "heap" else kind + "_") + "inuse_objects"]]
            sums[kind][0] += any(named) * value
            sums[kind][1] += named[0] * value
    got = {kind: tuple(both) for kind, both in sums.items() if any(both)}
    results.equal(f"{name}: pprof's cum and flat", got, {kind: both for kind, both in sums_of(blocks, matches).items() if any(both)})


def check(results, name, path, options, pattern, blocks):
    matches = re.compile(re.escape(pattern.rstrip("!")) + r"(\.\w+)?\+", re.IGNORECASE).match
    callers, callees = grow(blocks, matches, True), grow(blocks, matches, False)
    inverted = grow(blocks, matches, False, True)
    ask = ["report", path, *PLAIN, *options]
    focus = run_json(*ask, "--focus", pattern, "--tree-min", "0")
    check_document(results, f"{name}: --focus", focus, blocks, matches, {"callers": callers, "callees": callees})
    results.equal(f"{name}: --focus names it", (focus["schema"], focus["focus"]), ("etlheap-focus-1", pattern))
    for tree, wanted in (("--tree", callees), ("--tree=callers", inverted)):
        document = run_json(*ask, tree, "--root", pattern, "--tree-min", "0")
        check_document(results, f"{name}: {tree} --root", document, blocks, matches, {"nodes": wanted})
    text = run(*ask, "--focus", pattern).decode()
    check_text(results, f"{name}: callers", text, "Callers", callers)
    check_text(results, f"{name}: callees", text, "Callees", callees)
    check_text(results, f"{name}: --root", run(*ask, "--tree", "--root", pattern).decode(), "Call tree", callees)
    markdown = run(*ask, "--focus", pattern, "--format", "markdown").decode()
    if callees.children:
        trees = text[text.index("Call stacks with"):].split("\nDiagnostics")[0]
        results.equal(f"{name}: Markdown has the trees of the text", "".join(trees.split()) in "".join(markdown.split()), True)
    check_pprof(results, name, path, options, blocks, matches)


def check_listed(results, path, blocks):
    """--top limits lines, and never sums: only rows with the function count for it."""
    text = run("report", path, *PLAIN, "--focus", "App.exe!", "--top", "1").decode()
    whole = read_tree(run("report", path, *PLAIN, "--focus", "App.exe!").decode(), "Callees")
    lines = read_tree(text, "Callees")
    results.check("--top 1: fewer lines, of the same sums", len(lines) < len(whole) and lines[0] == whole[0], lines, whole[:3])
    rows = len({tuple(block.stack) for block in blocks if any(frame.startswith("app.exe+") for frame in block.stack)})
    results.check(f"--top 1: the note counts the {rows} stacks with the function",
                  f"{rows - 1} more rows of heap" in " ".join(text.split()), text[-300:])


def check_named(results):
    """Functions with names, some of them inlined: the stacks are those that --require-frame selects."""
    run("selftest", "--write-demo", os.path.join(WORK, "focus-demo"))
    demo = [os.path.join(WORK, "focus-demo", name) for name in ("demo.etl", "symbols")]
    ask = ["report", demo[0], "--symbols", demo[1], "--sort", "count"]
    for pattern in ("Monitor::on_timer", "*append", "BatteryMeter!Icon*", "kernel32!"):
        sums = {row["kind"]: row["count"] for row in run_json(*ask, "--focus", pattern)["sums"]}
        wanted = {row["kind"]: row["count"] for row in run_json(*ask, "--require-frame", pattern)["totals"] if row["count"]}
        results.equal(f"demo, {pattern}: as many blocks as with --require-frame", sums, wanted)


def main():
    results = Results()
    check_named(results)
    for seed in (1, 2):
        path = os.path.join(WORK, f"focus{seed}.txt")
        blocks = write_log(path, seed)
        for pattern in ("App.exe!", "lib one.dll!", "ntdll!", "absent.dll!"):
            check(results, f"log {seed}, {pattern}", path, [], pattern, blocks)
        check_listed(results, path, blocks)
    trace, truth_path = os.path.join(WORK, "focus.etl"), os.path.join(WORK, "focus.json")
    subprocess.run([MAKE_TRACE, "workload", trace, "--seed", "5", "--events", "2000", "--truth", truth_path], check=True,
                   capture_output=True)
    truth = Truth(truth_path)
    store = os.path.join(WORK, "focus.ehs")
    run("store", trace, "-o", store)
    low, high = truth.to_ns // 3, truth.to_ns // 2
    modules = Counter(frame.split("+")[0] for lifetime in truth.lifetimes for frame in lifetime.stack or () if "+" in frame)
    for number, (module, _) in enumerate(modules.most_common(2)):
        source, jobs = ((trace, "1"), (store, "2"))[number % 2]
        check(results, f"trace, {module}", source, ["-j", jobs], f"{module}!", list(blocks_of_truth(truth, -(10**18), truth.to_ns)))
        check(results, f"window, {module}", source, ["--from", f"{low}ns", "--to", f"{high}ns"], f"{module}!",
              list(blocks_of_truth(truth, low, high)))
    results.finish()


if __name__ == "__main__":
    main()
