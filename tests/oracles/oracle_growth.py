#!/usr/bin/env python3
"""Does growth_over_runs.sql find the stack that grew most over the last runs?

Runs are made at random: stacks that come and go, jump and stay, with rows of several
types, heaps and processes each, files named in another order than they were recorded in,
and one stack that leaks a little more every run. A naive model in exact fractions says
what the rows and their order must be. Then the same is asked of real exports: of traces,
and of summaries merged from them, as an archive of nights has them.
"""

import csv
import os
import random
import subprocess
from fractions import Fraction

from oracle_parquet import MAKE_TRACE, WORK, Readers, modules_folder, stack_cells
from oracle_support import Results, run, run_json

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "..", "..", "formats", "sql", "growth_over_runs.sql")
COLUMNS = ["kind", "process", "site", "growth_per_run", "steadiness", "growth", "count_growth", "sizes", "runs",
           "stack_hash", "stack"]
MADE = {"kind": "VARCHAR", "process": "VARCHAR", "pid": "BIGINT", "type": "VARCHAR", "stack": "VARCHAR",
        "stack_hash": "BIGINT", "site": "VARCHAR", "outstanding_count": "BIGINT", "outstanding_size": "BIGINT",
        "start_time": "TIMESTAMPTZ"}
# seed, runs there are, runs asked for, how many stacks are listed
WORKLOADS = [(1, 14, 14, 1000), (2, 9, 5, 1000), (3, 20, 30, 7), (4, 2, 2, 1000), (5, 7, 1, 1000)]


def statements(**variables):
    """The script's, after what its users set. It is cut at semicolons, so comments go first."""
    with open(SCRIPT, encoding="utf-8") as file:
        text = "\n".join(line.split("--")[0] for line in file)
    unset = [f"RESET VARIABLE {name}" for name in ("files", "last_runs", "top", "order_by")]
    given = [f"SET VARIABLE {name} = {value!r}" for name, value in variables.items()]
    return [{"sql": statement} for statement in [*unset, *given, *text.split(";")] if statement.strip()]


# --- the model -----------------------------------------------------------------------------


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def rounded(value):
    """To the nearest, halves away from zero."""
    return int(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


def trend_of(sizes):
    """Repeated median of slopes, and how steadily it rises."""
    runs = range(len(sizes))
    slopes = [median([Fraction(sizes[b] - sizes[a], b - a) for b in runs if b != a]) for a in runs]
    pairs = [(a, b) for a in runs for b in runs if a < b]
    rises = sum(sizes[b] > sizes[a] for a, b in pairs) - sum(sizes[b] < sizes[a] for a, b in pairs)
    return rounded(median(slopes)), rounded(Fraction(100 * rises, len(pairs)))


def model(curves, last_runs, order_by="trend"):
    """What must be listed of {(kind, process, hash): [(size, count) of each run]}."""
    rows = []
    for key, curve in curves.items():
        curve = curve[-last_runs:]
        if len(curve) < 2 or not any(cell is not None for cell in curve):
            continue
        sizes = [cell[0] if cell else 0 for cell in curve]
        counts = [cell[1] if cell else 0 for cell in curve]
        trend, steadiness = trend_of(sizes)
        growth = sizes[-1] - sizes[0]
        if trend > 0 or growth > 0:
            rows.append((*key, trend, steadiness, growth, counts[-1] - counts[0], sizes))
    first = 3 if order_by == "trend" else 5
    rows.sort(key=lambda row: (-row[first], -row[5], row[0], row[1], row[2] is None, row[2] or 0))
    return rows


def got_rows(answer):
    """The same cells of an answer; a list of sizes comes as a text."""
    at = {name: index for index, name in enumerate(answer.names)}
    return [(row[at["kind"]], row[at["process"]], row[at["stack_hash"]], row[at["growth_per_run"]], row[at["steadiness"]],
             row[at["growth"]], row[at["count_growth"]], [int(size) for size in row[at["sizes"]].split(",")])
            for row in answer.rows]


def compare(results, name, answers, wanted):
    answer = next((a for a in answers if a.error), answers[-1])
    got = [] if answer.error else got_rows(answer)
    wrong = [f"got {a}, wanted {b}" for a, b in zip(got, wanted) if a != b]
    results.check(f"{name}: {len(wanted)} stacks", not answer.error and got == wanted, answer.error,
                  f"{len(got)} rows, wanted {len(wanted)}", *wrong[:3])


# --- made runs -----------------------------------------------------------------------------

LEAK = ("heap", "leaky.exe", 4711)
SPIKE = ("heap", "spiky.exe", 4712)


def made_curves(source, run_count):
    """Curves of about forty stacks; a run in which one does not occur is None."""
    curves = {}
    for number in range(40):
        stack = None if number % 13 == 5 else source.randrange(-2**62, 2**62)
        key = (source.choice(["heap", "virtualalloc", "extent"]), source.choice(["app.exe", "b.exe"]), stack)
        shape = source.choice(["flat", "noise", "step", "rare"])
        size = source.randrange(0, 10**6)
        step_at = source.randrange(run_count)
        curve = []
        for when in range(run_count):
            value = size + {"flat": 0, "noise": source.randrange(-size, size + 1) if size else 0,
                            "step": 10**6 if when >= step_at else 0, "rare": 0}[shape]
            there = source.random() < (0.3 if shape == "rare" else 0.95)
            curve.append((value, source.randrange(100)) if there else None)
        curves[key] = curve
    # A megabyte a run, under noise, beside one odd night of two hundred.
    curves[LEAK] = [(1000 + 10**6 * when + source.randrange(3 * 10**5), 10 + when) for when in range(run_count)]
    curves[SPIKE] = [(5000, 5)] * (run_count - 1) + [(200_000_000, 7)]
    return curves


def rows_of(source, key, cell, start_time):
    """A curve's value in one run as several rows, which add up to it."""
    kind, process, stack = key
    parts = source.randrange(1, 4)
    sizes = [source.randrange(cell[0] + 1) // parts for _ in range(parts - 1)]
    counts = [0] * (parts - 1)
    for pid, (size, count) in enumerate(zip([*sizes, cell[0] - sum(sizes)], [*counts, cell[1]])):
        name = "" if stack is None else f"app!f{stack};app!main"
        yield [kind, process, pid, source.choice(["AIFO", "AIFI"]), name, "" if stack is None else stack,
               name.split(";")[0], count, size, start_time]


def make_runs(source, curves, run_count, folder, readers):
    """Writes each run as Parquet, with DuckDB; names say nothing about their order."""
    os.makedirs(folder, exist_ok=True)
    names = source.sample(range(1000), run_count)
    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in MADE.items()) + "}"
    for when in range(run_count):
        path = os.path.join(folder, f"{names[when]:03}")
        start = f"2026-01-{when + 1:02} 03:00:{source.randrange(60):02}+00"
        rows = [row for key, curve in curves.items() if curve[when] is not None for row in rows_of(source, key, curve[when], start)]
        source.shuffle(rows)
        with open(path + ".csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        readers.ask([{"sql": f"COPY (SELECT * FROM read_csv('{path}.csv', header = false, columns = {columns})) "
                             f"TO '{path}.parquet' (FORMAT parquet)"}], lambda answer: None)


def check_made(results, readers, seed, run_count, last_runs, top):
    source = random.Random(seed)
    folder = os.path.join(WORK, f"made-{seed}")
    curves = made_curves(source, run_count)
    make_runs(source, curves, run_count, folder, readers)
    for order_by in ("trend", "growth"):
        wanted = model(curves, last_runs, order_by)[:top]
        name = f"made runs {seed}, the last {last_runs} of {run_count}, by {order_by}"

        def check(*answers, name=name, wanted=wanted, order_by=order_by):
            compare(results, name, answers, wanted)
            if min(run_count, last_runs) > 4 and not answers[-1].error:
                first = got_rows(answers[-1])[0][:3]
                results.equal(f"{name}: first is what leaks, or what jumped last night",
                              first, LEAK if order_by == "trend" else SPIKE)

        readers.ask(statements(files=f"{folder}/*.parquet", last_runs=last_runs, top=top, order_by=order_by), check)


# --- real runs -----------------------------------------------------------------------------


def curves_of(documents):
    """Curves of what reports say."""
    curves, texts = {}, {}
    for when, document in enumerate(documents):
        for row in document["rows"]:
            text, stack, site, *_ = stack_cells(document, row["stack"])
            key = (row["kind"], row["process"], stack)
            curve = curves.setdefault(key, [None] * len(documents))
            old = curve[when] or (0, 0)
            curve[when] = (old[0] + row["outstanding_size"], old[1] + row["outstanding_count"])
            texts.setdefault(key, set()).add((site, text))
    return curves, texts


def check_exports(results, readers, name, runs, report_options):
    """runs: a trace or store each."""
    folder = os.path.join(WORK, name)
    os.makedirs(folder, exist_ok=True)
    for number, path in enumerate(runs):
        run("export", path, "--format", "parquet", "-o", os.path.join(folder, f"{number}.parquet"))
    curves, texts = curves_of([run_json("report", path, *report_options) for path in runs])
    wanted = model(curves, len(runs))

    def check(*answers):
        compare(results, name, answers, wanted)
        rows = [] if answers[-1].error else answers[-1].rows
        at = {column: index for index, column in enumerate(answers[-1].names)}
        named = [(row[at["site"]], row[at["stack"]]) in texts[(row[0], row[1], row[at["stack_hash"]])] for row in rows]
        results.check(f"{name}: sites and stacks are named", named and all(named))
        results.equal(f"{name}: columns", answers[-1].names, COLUMNS)

    readers.ask(statements(files=f"{folder}/*.parquet", top=1000), check)


def make_nights(count):
    """Traces whose blocks leak more every night, as far as random ones do."""
    traces = []
    for number in range(count):
        trace = os.path.join(WORK, f"night{number}.etl")
        subprocess.run([MAKE_TRACE, "workload", trace, "--seed", "31", "--events", str(1500 + 900 * (number ^ 1))],
                       check=True, stdout=subprocess.DEVNULL)
        traces.append(trace)
    return traces


def merged_nights(traces):
    """Each night the sum of two agents' summaries."""
    nights = []
    for number, trace in enumerate(traces):
        other = os.path.join(WORK, f"other{number}.etl")
        subprocess.run([MAKE_TRACE, "workload", other, "--seed", str(50 + number), "--events", "500"],
                       check=True, stdout=subprocess.DEVNULL)
        parts = []
        for path in (trace, other):
            parts.append(path.replace(".etl", ".ehs"))
            run("store", "--summary", path, "-o", parts[-1])
        nights.append(os.path.join(WORK, f"sum{number}.ehs"))
        run("merge", *parts, "-o", nights[-1])
    return nights


def main():
    readers = Readers(modules_folder())
    results = Results()
    for workload in WORKLOADS:
        check_made(results, readers, *workload)
    traces = make_nights(4)
    check_exports(results, readers, "traces", traces, [])
    check_exports(results, readers, "merged summaries", merged_nights(traces), ["--group-by", "kind,process,type,stack"])
    readers.finish()
    results.finish()


if __name__ == "__main__":
    main()
