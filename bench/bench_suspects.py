#!/usr/bin/env python3
"""How well `report --suspects` finds leaks that are known, and how well sorting finds them.

    bench_suspects.py --etlheap E --make-stream M --folder F [--half tuning|held-out]

Programs with known leaks are made up (leak_worlds.py) or recorded (leak_streams.py), turned into
traces, and three methods rank their stacks:

    suspects      report --suspects
    outstanding   what is outstanding, largest first
    growth        report --growth, fastest first

precision at 10   of the first ten stacks, how many leak; where a program has fewer leaks, of
                  as many stacks as it has leaks. A list that is shorter has missed them.
recall            how many of the leaks are among the first 25 stacks
listed            stacks that the suspects list, and how many of these leak

The half "tuning" may be looked at while the ranking is written. The half "held-out" has
other seeds, more kinds and other programs, and may not.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "oracles"))

import bench_streams  # noqa: E402
from bench_inputs import run_quietly  # noqa: E402
from bench_streams import Recording, Streams  # noqa: E402
from leak_streams import Leaky, stack_texts  # noqa: E402
from leak_worlds import CLEAN_SEEDS, SEEDS, World  # noqa: E402

AT, RECALL_AT = 10, 25
BY_STACK = ["--group-by", "kind,process,stack", "--no-cull", "--no-symbols", "--format", "json"]
METHODS = {
    "suspects": ["--suspects", *BY_STACK],
    "outstanding": ["--sort", "outstanding_size", *BY_STACK],
    "growth": ["--growth", "--sort", "growth_rate", *BY_STACK],
}

PERL = """
my (%count, @kept);
for my $i (1 .. 15000) {
    my $word = join '-', map { ($i * 2654435761 + $_ * 40503) % 977 } 1 .. 4;
    $count{$word}++;
    push @kept, [split /-/, $word];
    splice @kept, 0, 500 if @kept > 1000;
}
print scalar(keys %count), "\\n";
"""
CMAKE = """
foreach(i RANGE 1200)
  list(APPEND words "w${i}")
  string(REGEX REPLACE "[0-9]" "x" changed "word-${i}-${i}")
  math(EXPR rest "${i} % 50")
  if(rest EQUAL 0)
    set(words "")
    list(SORT words)
  endif()
  set(kept_${rest} "${changed}")
endforeach()
"""
JQ = '[range(0; 4000) | {id: ., name: "n\\(.)", tags: [range(0; 5) | tostring]}] | map(select(.id % 3 == 0)) | group_by(.id % 7) | map(length)'
GIT = ["-c", "gc.auto=0", "grep", "--no-index", "-n", "-e", "a[0-9]*b", "--", "."]

PROGRAMS = {
    "tuning": {
        "clang-vector": Recording(
            bench_streams.CLANG, ["-fintegrated-cc1", "-O1", "-c", "vector.cpp", "-o", "vector.o"],
            {"vector.cpp": "#include <vector>\nint main(int argc, char **) { std::vector<int> a(argc, 1); return a[0]; }\n"}),
        "cmake-lists": Recording(["cmake"], ["-P", "lists.cmake"], {"lists.cmake": CMAKE}),
        "sqlite-index": Recording(
            ["sqlite3"], [*bench_streams.SQLITE_PLAIN, "words.db", ".read words.sql"], {"words.sql": bench_streams.SQL.format(rows=80000)}),
        "python-json": Recording(
            [sys.executable], ["objects.py"], {"objects.py": bench_streams.PYTHON.format(rounds=60)},
            {"PYTHONMALLOC": "malloc"}),
    },
    "held-out": {
        "perl": Recording(["perl"], ["words.pl"], {"words.pl": PERL}),
        "jq": Recording(["jq"], ["-n", JQ], {}),
        "git": Recording(["git"], GIT, {f"file{i}.txt": f"a{i}b some words {i * 7919}\n" * 60 for i in range(300)}),
        "sqlite-join": Recording(
            ["sqlite3"], [*bench_streams.SQLITE_PLAIN, "words.db", ".read join.sql"],
            {"join.sql": bench_streams.SQL.format(rows=3000) + "SELECT count(*) FROM words a JOIN words b USING(weight);\n"
             + "".join(f"SELECT count(*) FROM words WHERE weight > {i} AND word LIKE '%{i}%';\n" for i in range(300))}),
        "python-classes": Recording(
            [sys.executable], ["classes.py"],
            {"classes.py": "import re, collections\nclass Node:\n    def __init__(self, n):\n        self.next, self.n = n, [n]\n"
             "seen = collections.OrderedDict()\nfor i in range(3000):\n    node = None\n    for k in range(9):\n"
             "        node = Node(node)\n    seen[i] = re.sub('[0-9]', 'x', 'a%d' % i)\n"
             "    if len(seen) > 200:\n        seen.popitem(last=False)\n"},
            {"PYTHONMALLOC": "malloc"}),
    },
}
STREAM_SEEDS = {"tuning": (1, 2, 3), "held-out": (1001, 1002, 1003)}


class Case:
    """A trace, which of its stacks leak, {stack: kind}, and which count neither way."""

    def __init__(self, name, trace, leaks, unjudged=(), kinds=None):
        self.name = name
        self.trace = trace
        self.leaks = leaks
        self.unjudged = unjudged
        self.kinds = kinds or leaks


def make_trace(make_stream, recording, path):
    done = subprocess.run([make_stream, "plain", path], input=recording, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr.strip() or done.returncode}")
    return path


def world_case(make_stream, folder, seed, half, **more):
    world = World(seed, half, **more)
    trace = make_trace(make_stream, world.recording(), os.path.join(folder, f"world-{half}-{seed}.etl"))
    return Case(f"world {seed}", trace, world.leaks(), world.unjudged(), world.kinds())


def stream_cases(make_stream, folder, half):
    bench_streams.RECORDINGS.update(PROGRAMS[half])
    streams = Streams(folder, make_stream)
    for name in PROGRAMS[half]:
        reason = streams.why_not(name)
        if reason is not None:
            print(f"{name}: {reason}; left out", file=sys.stderr)
            continue
        with open(streams.record(name), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
        for seed in STREAM_SEEDS[half]:
            yield stream_case(make_stream, folder, name, lines, seed)


def stream_case(make_stream, folder, name, lines, seed):
    leaky = Leaky(lines, seed)
    trace = make_trace(make_stream, "".join(leaky.lines), os.path.join(folder, f"{name}-{seed}.etl"))
    leaks, unjudged = leaky.leaks(), leaky.not_judged()
    texts = stack_texts(lines, set(leaks) | unjudged)
    return Case(f"{name} {seed}", trace, {texts[leaf]: f"1 of {round(1 / share)}" for leaf, share in leaks.items()},
                {texts[leaf] for leaf in unjudged})


def ranked(etlheap, case, method):
    """Stacks as text, in the order of the method, without those that nobody can judge."""
    document = json.loads(run_quietly([etlheap, "report", case.trace, *METHODS[method]]))
    frames = [f"{frame['module']}+{frame['offset']}" if frame["module"] else frame["address"] for frame in document["frames"]]
    stacks = ["\n".join(frames[i] for i in document["stacks"][row["stack"]]) for row in document["rows"]
              if row["kind"] == "heap" and row["stack"] is not None]
    return [stack for stack in stacks if stack not in case.unjudged]


def precision(case, stacks):
    """(hits, places)"""
    places = min(AT, len(case.leaks))
    return sum(stack in case.leaks for stack in stacks[:places]), places


def recall(case, stacks):
    return sum(stack in case.leaks for stack in stacks[:RECALL_AT]), len(case.leaks)


def ratio(pairs):
    return sum(a for a, _ in pairs) / max(1, sum(b for _, b in pairs))


def measure(etlheap, cases, methods=tuple(METHODS)):
    """{method: {case name: stacks}}"""
    return {method: {case.name: ranked(etlheap, case, method) for case in cases} for method in methods}


def table(title, cases, lists):
    print(f"\n{title}: {len(cases)} programs, {sum(len(case.leaks) for case in cases)} leaks")
    print(f"  {'method':12} {'precision at 10':>16} {'lowest':>7} {'recall':>7}")
    for method, by_case in lists.items():
        found = [precision(case, by_case[case.name]) for case in cases]
        lowest = min((hits / places for hits, places in found if places), default=0)
        recalls = [recall(case, by_case[case.name]) for case in cases]
        print(f"  {method:12} {ratio(found):16.2f} {lowest:7.2f} {ratio(recalls):7.2f}")
    listed = [(sum(stack in case.leaks for stack in lists["suspects"][case.name]), len(lists["suspects"][case.name]))
              for case in cases]
    print(f"  listed suspects: {sum(n for _, n in listed)}, of which {sum(hits for hits, _ in listed)} leak")


def by_kind(cases, lists):
    """What is missed, and what is listed in error."""
    all_of, found, wrong = Counter(), Counter(), Counter()
    for case in cases:
        stacks = lists["suspects"][case.name]
        all_of.update(case.leaks.values())
        found.update(case.leaks[stack] for stack in stacks if stack in case.leaks)
        wrong.update(case.kinds.get(stack, "of the recording itself") for stack in stacks if stack not in case.leaks)
    print("  found:  ", ", ".join(f"{kind} {found[kind]}/{count}" for kind, count in sorted(all_of.items())))
    print("  harmless:", ", ".join(f"{kind} {count}" for kind, count in sorted(wrong.items())) or "none")


def report(title, etlheap, cases):
    lists = measure(etlheap, cases)
    table(title, cases, lists)
    by_kind(cases, lists)


def measure_half(half, etlheap, make_stream, folder):
    worlds = [world_case(make_stream, folder, seed, half) for seed in SEEDS[half]]
    report(f"{half}, made up", etlheap, worlds)
    streams = list(stream_cases(make_stream, folder, half))
    if streams:
        report(f"{half}, recorded", etlheap, streams)
    calm = [world_case(make_stream, folder, seed, half, leak_count=0) for seed in CLEAN_SEEDS[half]]
    lists = measure(etlheap, calm, ("suspects",))["suspects"]
    print(f"\n{half}, made up without leaks: {len(calm)} programs, {sum(map(len, lists.values()))} suspects")
    by_kind(calm, {"suspects": lists})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etlheap", required=True)
    parser.add_argument("--make-stream", required=True)
    parser.add_argument("--folder", required=True, help="of recordings and traces")
    parser.add_argument("--half", choices=sorted(SEEDS), action="append")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    for half in arguments.half or SEEDS:
        measure_half(half, os.path.abspath(arguments.etlheap), os.path.abspath(arguments.make_stream), arguments.folder)


if __name__ == "__main__":
    main()
