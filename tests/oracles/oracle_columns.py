#!/usr/bin/env python3
"""`report --columns`: every column, in any order, against the rows of the same report as JSON.

A report with all figures, on a random trace, has each measure of each row once. Then every measure is
asked for alone, in JSON and CSV, for a trace, its store and a grouping by heap; lists come in the order
in which they are typed, changes with + and - are those of a Python list, and an order by any measure is
that of the rows sorted here, whether or not its column is shown.
"""

import csv
import io
import json
import os
import random
import re
import subprocess

from oracle_support import ETLHEAP, WORK, Results, run, run_json

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
OPTIONS = ["--no-symbols", "--no-cull"]
BY_SITE = ["--group-by", "kind,process,site"]
BY_HEAP = ["--group-by", "kind,process,heap"]
USUAL = ["count", "size", "impacting_size", "outstanding_count", "outstanding_size", "realloc_count", "peak_count", "peak_size"]
BY_FUNCTION = ["--group-by", "kind,process,function"]
OF_FUNCTIONS = ["exclusive_count", "exclusive_size"]
OF_HEAPS = ["committed_size", "reserved_size", "overhead_size", "uncommitted_size", "decommitted_size", "fragmentation_millionths"]
NOT_OF_COLUMNS = {"kind", "process", "pid", "site", "function", "heap", "grows_most"}


def measures():
    """The words that the completion has for --columns, which are those of --sort."""
    script = run("--completion", "bash").decode()
    words = [re.search(rf"report:{option}\) \w+ '([^']*)'", script).group(1).split() for option in ("--columns", "--sort")]
    assert words[0] == words[1], words
    return words[0]


def key_of(row):
    return tuple(row.get(key) for key in ("kind", "process", "pid", "heap", "site", "function"))


def rows_of(trace, columns, *options):
    document = run_json("report", trace, *OPTIONS, *options, *(["--columns", columns] if columns else []))
    for row in document["rows"]:
        for key in ("site", "function"):
            if row.get(key) is not None:
                row[key] = json.dumps(document["frames"][row[key]])
    return document["rows"]


def whole_rows(trace, words, by):
    """Rows with all measures. Growth is not measured beside who freed, so that comes from a run of its own."""
    rows = rows_of(trace, ",".join(word for word in words if word != "freed_by_other_count"), *by)
    if "freed_by_other_count" in words:
        others = {key_of(row): row for row in rows_of(trace, "freed_by_other_count", *by)}
        rows = [{**row, **others[key_of(row)]} for row in rows]
    return rows


def columns_of(row):
    return [key for key in row if key not in NOT_OF_COLUMNS]


def csv_rows(trace, columns, *options):
    text = run("report", trace, *OPTIONS, *options, "--columns", columns, "--format", "csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def compare_one_by_one(results, trace, by, words):
    """Alone, a measure has the value that it has beside all others, in both formats."""
    whole = whole_rows(trace, words, by)
    for word in words:
        alone = rows_of(trace, word, *by)
        cells = csv_rows(trace, word, *by)
        good = ([key_of(row) for row in alone] == [key_of(row) for row in whole] and
                all(columns_of(row) == [word] and row[word] == full[word] for row, full in zip(alone, whole)))
        results.check(f"{' '.join(by)}: {word} alone", good and len(whole) > 2)
        wanted = ["" if row[word] is None else str(row[word]) for row in whole]
        results.check(f"{' '.join(by)}: {word} as CSV", [row[word] for row in cells] == wanted and
                      list(cells[0])[-1] == word and not set(cells[0]) & set(USUAL) - {word})
    return whole


def compare_with_views(results, trace, words):
    """The values are those of the options that show them."""
    whole = whole_rows(trace, words, BY_SITE)
    for options, shown in (([], USUAL), (["--growth"], ["growth_rate", "steadiness"]),
                           (["--churn"], ["alloc_count", "freed_size", "temporary_count", "temporary_1ms_count", "alloc_rate"]),
                           (["--pairs"], ["freed_by_other_count"])):
        view = {key_of(row): row for row in rows_of(trace, "", *BY_SITE, *options)}
        for word in shown:
            results.check(f"{word} is that of {options or 'a plain report'}", all(
                view[key_of(row)][word] == row[word] for row in whole) and len(whole) == len(view))


def compare_times(results, trace):
    """The first and last allocation of each row, from the list of single allocations."""
    document = run_json("allocations", trace, *OPTIONS)
    times = {}
    for row in document["rows"]:
        site = None if row["stack"] is None else json.dumps(document["frames"][document["stacks"][row["stack"]][0]])
        times.setdefault((row["kind"], row["process"], row["pid"], None, site, None), []).append(row["alloc_time_ns"])
    known = {key: [time for time in of if time is not None] for key, of in times.items()}
    rows = rows_of(trace, "first_ns,last_ns", *BY_SITE)
    wanted = {key: (min(of, default=None), max(of, default=None)) for key, of in known.items()}
    results.check("first and last are those of the allocations", len(rows) == len(wanted) > 8 and all(
        (row["first_ns"], row["last_ns"]) == wanted[key_of(row)] for row in rows), rows[:2])
    results.check("first and last differ", any(row["first_ns"] != row["last_ns"] for row in rows))


def compare_orders(results, trace, whole, words, by):
    """An order by any measure, shown or not; unknown values are the smallest."""
    for word in words:
        value = lambda row: -1 << 63 if row[word] is None else row[word]
        for sort, columns in ((word, "count"), ("-" + word, "+" + word)):
            wanted = sorted((value(row) for row in whole), reverse=sort == word)
            values = {key_of(row): value(row) for row in whole}
            got = [values[key_of(row)] for row in rows_of(trace, columns, *by, "--sort", sort)]
            results.check(f"--sort {sort} --columns {columns}", got == wanted, got[:6], wanted[:6])


def compare_lists(results, trace, words):
    """Lists in any order, and changes to the usual columns."""
    random.seed(44)
    words = [word for word in words if word != "freed_by_other_count"]
    for _ in range(12):
        some = random.sample(words, random.randrange(2, len(words)))
        row = rows_of(trace, ",".join(some), *BY_SITE)[0]
        results.check(f"--columns {some}", columns_of(row) == some)
        cells = csv_rows(trace, ",".join(some), *BY_SITE)[0]
        results.check(f"--columns {some} as CSV", list(cells)[-len(some):] == some)
        changes = [random.choice("+-") + word for word in random.sample(words, random.randrange(1, 6))]
        kept = [word for word in USUAL if "-" + word not in changes]
        wanted = kept + [change[1:] for change in changes if change[0] == "+" and change[1:] not in kept]
        row = rows_of(trace, ",".join(changes), *BY_SITE)[0]
        results.check(f"--columns {changes}", columns_of(row) == wanted, columns_of(row), wanted)
    both = subprocess.run([ETLHEAP, "report", trace, *OPTIONS, *BY_SITE, "--columns", "peak_size,size,count"],
                          capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"}).stdout
    results.check("text has the columns in this order", re.search(r"Site +Size Peak +Size +Count\n", both) or
                  re.search(r"Size\n.*Site +Peak +Size +Count\n", both), both[:900])
    table = run("report", trace, *OPTIONS, *BY_SITE, "--columns", "+peak_size,-outstanding_count", "--format", "markdown").decode()
    results.check("Markdown has them, too", "| Outstanding Size | Size Peak | Kind |" in table)


def compare_refusals(results, trace):
    for columns, words in (("siz", ["did you mean size"]), ("bogus", ["--columns", "'bogus'", "outstanding_size"]),
                           ("size,size", ["size is given twice"]), ("size,+count", ["have a sign"]),
                           ("", ["list of columns"]), ("size,", ["list of columns"]),
                           ("exclusive_size", ["--columns exclusive_size", "--group-by function"]),
                           ("committed_size", ["--columns committed_size", "--group-by heap"])):
        result = subprocess.run([ETLHEAP, "report", trace, "--columns", columns], capture_output=True, text=True)
        results.check(f"--columns '{columns}' is refused", result.returncode == 2 and all(word in result.stderr for word in words),
                      result.stderr)
    summary = os.path.join(WORK, "columns.s.ehs")
    run("store", trace, "--summary", "-o", summary)
    for word, of_sort in (("lifetime_median_ns", 2), ("size", 0), ("peak_size", 0), ("alloc_rate", 0)):
        codes = [subprocess.run([ETLHEAP, "report", summary, "--format", "csv", *BY_SITE, option, word], capture_output=True).returncode
                 for option in ("--columns", "--sort")]
        results.check(f"a summary answers {word} as a column as it does as an order", codes == [of_sort] * 2, codes)


def main():
    results = Results()
    words = measures()
    plain = [word for word in words if word not in OF_HEAPS + OF_FUNCTIONS]
    trace, store = os.path.join(WORK, "columns.etl"), os.path.join(WORK, "columns.ehs")
    subprocess.run([MAKE_TRACE, "workload", trace, "--seed", "5", "--events", "3000"], check=True, capture_output=True)
    run("store", trace, "-o", store)
    results.check("the usual columns are those of JSON", columns_of(rows_of(trace, "", *BY_SITE)[0]) == USUAL)
    whole = compare_one_by_one(results, trace, BY_SITE, plain)
    of_heaps = compare_one_by_one(results, trace, BY_HEAP, OF_HEAPS)
    of_functions = compare_one_by_one(results, trace, BY_FUNCTION, OF_FUNCTIONS)
    compare_with_views(results, trace, plain)
    compare_orders(results, trace, whole, plain, BY_SITE)
    compare_orders(results, trace, of_heaps, OF_HEAPS, BY_HEAP)
    compare_orders(results, trace, of_functions, OF_FUNCTIONS, BY_FUNCTION)
    compare_lists(results, trace, plain)
    compare_times(results, trace)
    compare_refusals(results, trace)
    results.check("a store has the same columns", whole_rows(store, plain, BY_SITE) == whole)
    results.finish()


if __name__ == "__main__":
    main()
