"""A store of a part answers as the whole recording does for that part.

Goal: `etlheap store --from --to --process --kind` loses nothing that a question
about the part needs, and never answers for what it left out.

Method: random worlds are stored whole and in parts: from the trace, from the
whole store, and from a larger part. Two folders have a store of one name, the
whole recording in one and the part in the other. Each view is asked for the
part in the first, with options, and without options in the second. Both answers
must be equal byte for byte, in every format. Windows begin and end at ticks of
events, so that events of one tick lie on both sides of other borders. What is
outside of the part must be refused by name.
"""

import json
import os
import random
import re
import subprocess

from oracle_support import ETLHEAP, LONG, WORK, Results

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/check/make_trace"))
WORLDS = 40 if LONG else 2
CUTS = 12 if LONG else 2
# Each comparison asks for some of the views, and the next one for the next.
STRIDE = 1 if LONG else 4
NAME = "part.ehs"

VIEWS = [
    ["report", "--format", "json"],
    ["report", "--format", "json", "--growth", "--churn"],
    ["report", "--format", "json", "--at-exit", "freed", "--sort", "peak_size"],
    ["report", "--format", "json", "--group-by", "kind,process,site,free_site,free_thread"],
    ["report", "--format", "json", "--group-by", "kind,thread,size_class,free_type,generation"],
    ["report", "--format", "json", "--columns", "+first_ns,+last_ns", "--group-by",
     "kind,process,heap"],
    ["report", "--format", "json", "--tree"],
    ["report", "--format", "json", "--suspects"],
    ["report", "--format", "json", "--spikes"],
    ["report", "--format", "json", "--unmatched"],
    ["report", "--format", "json", "--pairs"],
    ["report", "--format", "json", "--map"],
    ["report", "--format", "json", "--histogram", "lifetime"],
    ["report", "--format", "json", "--at", "peak"],
    ["report", "--format", "json", "--lifetime", "..5ms"],
    ["report", "--format", "json", "--lifetime", "5ms.."],
    ["report"],
    ["report", "--tree"],
    ["report", "--format", "csv"],
    ["report", "--format", "markdown"],
    ["allocations", "--format", "json"],
    ["allocations", "--frames", "5"],
    ["windows", "--format", "json"],
    ["windows", "--format", "json", "--every", "7ms", "--at-exit", "leaked"],
    ["windows", "--format", "json", "--at", "marks"],
    ["windows", "--find-growth"],
    ["windows", "--format", "json", "--find-spikes"],
    ["export", "--format", "collapsed"],
    ["export", "--format", "speedscope"],
    ["export", "--format", "heaptrack-events"],
]

# Of these, rows and texts depend on whether a process was named, or a window.
SHOW_OPTIONS = [view for view in VIEWS if {"--histogram", "--at", "--map"} & set(view)
                and "marks" not in view]


def run(folder, *words):
    done = subprocess.run([ETLHEAP, *words], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def must(folder, *words):
    status, out, err = run(folder, *words)
    if status != 0:
        raise SystemExit(f"{words}: exit {status}: {err}")
    return out


def make_world(seed, folder):
    trace = os.path.join(folder, "w.etl")
    words = [MAKE_TRACE, "workload", trace, "--seed", str(seed), "--events", "600"]
    words += ["--free-stacks"] if seed % 2 else ["--keys", "--tidless"]
    subprocess.run(words, check=True, capture_output=True)
    return trace


def moments(folder, trace):
    """The times of memory events, those shared by several events first."""
    times = {}
    for line in must(folder, "dump", trace, "--format", "ndjson").splitlines():
        event = json.loads(line)
        if event.get("name", "").startswith(("Heap/", "PageFault/Virtual")):
            times[event["time_ns"]] = times.get(event["time_ns"], 0) + 1
    shared = sorted(t for t in times if times[t] > 1)
    return shared or sorted(times), sorted(times)


def random_cut(rng, shared, times, processes):
    """The options of a part, and a window inside it."""
    first, last = sorted(rng.choice(shared if rng.random() < 0.6 else times) for _ in range(2))
    last = last if last > first else first + 1_000_000
    cut = []
    if rng.random() < 0.8:
        cut += ["--from", f"{first}ns"]
    if rng.random() < 0.8:
        cut += ["--to", f"{last}ns"]
    if rng.random() < 0.6:
        cut += ["--process", ",".join(rng.sample(processes, min(2, len(processes))))]
    if rng.random() < 0.5 or not cut:
        cut += ["--kind", ",".join(rng.sample(["heap", "virtualalloc", "extent"],
                                              rng.choice([1, 2])))]
    return cut


def plain(answer):
    """Without the recorded spans of kinds, of which a part lists only its own."""
    status, out, _ = answer
    return status, re.sub(r'"recorded": \[[^]]*\]', "", out)


def ask(folder, view, *more):
    output = ["-o", "-"] if view[0] == "export" else []
    return run(folder, view[0], NAME, *view[1:], *output, *more)


def compare(results, name, whole, part, cut):
    """The part answers the same with the options, which then choose nothing, and
    without them, unless the view shows the options themselves."""
    differing = []
    for view in VIEWS[results.count % STRIDE::STRIDE]:
        wanted, got = ask(whole, view, *cut), ask(part, view, *cut)
        alone = ask(part, view) if view not in SHOW_OPTIONS else got
        if plain(wanted) != plain(got) or plain(wanted) != plain(alone):
            differing.append((" ".join(view), wanted[0], got[0], alone[0], got[2][:200]))
    results.check(name, not differing, *differing[:6])


def place(folder, name):
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    return path


def cut_world(results, seed):
    rng = random.Random(seed)
    folder = place(WORK, f"world{seed}")
    trace = make_world(seed, folder)
    whole, near, far, inner = (place(folder, n) for n in ("whole", "near", "far", "inner"))
    must(whole, "store", trace, "-o", NAME, "--progress", "never")
    shared, times = moments(folder, trace)
    info = json.loads(must(whole, "info", NAME, "--format", "json"))
    processes = sorted({p["name"] for p in info["processes"] if p["heap_events"] > 0})
    for number in range(CUTS):
        cut = random_cut(rng, shared, times, processes)
        label = f"world {seed}, {' '.join(cut)}"
        must(near, "store", trace, "-o", NAME, "--progress", "never", "-j", "1", *cut)
        compare(results, f"{label}: cut from the trace", whole, near, cut)
        must(far, "store", os.path.join(whole, NAME), "-o", NAME, "--progress", "never", "-j", "7",
             *cut)
        compare_files(results, f"{label}: the same bytes with 7 threads and from the store", near,
                      far)
        cut_again(results, label, rng, (whole, far, inner), cut, times)


def compare_files(results, name, one, other):
    files = []
    for folder in (one, other):
        with open(os.path.join(folder, NAME), "rb") as file:
            files.append(file.read())
    results.check(name, files[0] == files[1])


def cut_again(results, label, rng, folders, cut, times):
    """A part of a part answers as the inner part of the whole does."""
    whole, far, inner = folders
    low = int(cut[cut.index("--from") + 1][:-2]) if "--from" in cut else times[0]
    high = int(cut[cut.index("--to") + 1][:-2]) if "--to" in cut else times[-1]
    ends = sorted(rng.randint(low, max(low, high)) for _ in range(2))
    window = ["--from", f"{ends[0]}ns", "--to", f"{ends[1]}ns"]
    rest = [w for i, w in enumerate(cut)
            if w not in ("--from", "--to") and (i == 0 or cut[i - 1] not in ("--from", "--to"))]
    must(inner, "store", os.path.join(far, NAME), "-o", NAME, "--progress", "never", *window)
    compare(results, f"{label}: cut again to {' '.join(window)}", whole, inner, rest + window)


def comparisons(results):
    """Inputs with different parts are compared only where options name what all of them have."""
    folder = place(WORK, "compared")
    trace = make_world(9, folder)
    must(folder, "store", trace, "-o", "whole.ehs", "--progress", "never")
    cut = ["--from", "5ms", "--to", "15ms", "--process", "ckb", "--kind", "heap"]
    must(folder, "store", "whole.ehs", "-o", NAME, "--progress", "never", *cut)
    check = ["check", NAME, "--baseline", "whole.ehs", "--max-growth", "0"]
    refused = [
        (["diff", "whole.ehs", NAME], "with --kind"),
        (["diff", NAME, "whole.ehs", "--kind", "heap"], "with --process"),
        (["trend", "whole.ehs", trace, NAME], "with --kind"),
        ([*check], "with --kind"),
        ([*check, "--kind", "heap", "--process", "ckb"], "with --from and --to"),
        (["merge", NAME, "-o", "x.ehs"], "a part of a recording"),
        (["store", "--summary", NAME, "-o", "x.ehs"], "a part of a recording"),
    ]
    for words, sentence in refused:
        status, out, err = run(folder, *words)
        results.check(f"{' '.join(words[-5:])} is refused by name",
                      status == 3 and sentence in err and out == "", status, out[:100], err)
    status, out, err = run(folder, "diff", "whole.ehs", NAME, "--kind", "heap", "--process", "ckb")
    results.check("diff says that windows differ",
                  status == 0 and "different windows are compared" in err, err)
    answer = json.loads(must(folder, "diff", "whole.ehs", NAME, "--format", "json", *cut))
    results.check("with the options of the part, nothing differs", answer["rows"] == [],
                  answer["rows"][:2])
    status, _, err = run(folder, *check, *cut, "--lenient")
    results.check("a gate of the same part passes", status == 0, err)


def refusals(results):
    folder = place(WORK, "refused")
    trace = make_world(7, folder)
    must(folder, "store", trace, "-o", NAME, "--from", "20ms", "--to", "50ms", "--process",
         "ckb", "--kind", "heap")
    cases = [
        (["report", NAME, "--to", "10ms"], "0.02 s to 0.05 s"),
        (["report", NAME, "--from", "60ms"], "0.02 s to 0.05 s"),
        (["report", NAME, "--from", "30ms", "--to", "60ms"], "0.02 s to 0.05 s"),
        (["windows", NAME, "--window", "10ms..30ms"], "0.02 s to 0.05 s"),
        (["report", NAME, "--at", "10ms"], "0.02 s to 0.05 s"),
        (["report", NAME, "--kind", "virtualalloc"], "which has only heap"),
        (["report", NAME, "--process", "legacy32"], "'legacy32' is not in the store"),
        (["report", NAME, "--process", "System"], "'System' is not in the store"),
        (["store", NAME, "-o", "x.ehs", "--kind", "extent"], "which has only heap"),
        (["store", NAME, "-o", "x.ehs", "--from", "0s"], "0.02 s to 0.05 s"),
    ]
    for words, sentence in cases:
        status, out, err = run(folder, *words)
        results.check(f"{' '.join(words)} is refused by name",
                      status == 3 and sentence in err and out == "", status, out[:100], err)


def main():
    results = Results()
    for seed in range(1, WORLDS + 1):
        cut_world(results, seed)
    comparisons(results)
    refusals(results)
    results.finish()


main()
