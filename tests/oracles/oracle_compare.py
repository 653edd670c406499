#!/usr/bin/env python3
"""Does `make compare` (tests/oracles/compare) see everything, and say what it sees?

Its rows must have every command, option, format and exporter of the program, so that a
new one cannot be forgotten. Then the program is compared with itself, which must be
silent, and with scripts that spoil one answer each, which must be found and named.
Binary formats must be read as what the program says in JSON.
"""

import copy
import json
import os
import stat
import subprocess
import sys

from compare import rows as rows_table
from compare.decode import decode
from compare.differences import Difference, accept, of_outputs, of_status, read_accepted
from compare.self_check import complaints_of
from compare.vocabulary import Vocabulary, ask, only_in
from oracle_support import ETLHEAP, WORK, Results, run

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace")))
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(ETLHEAP)


# --- the table ------------------------------------------------------------------------


def check_table(results):
    known = ask(PROGRAM)
    results.equal("rows.py has every command, option, format and exporter", complaints_of(known), [])
    results.check("the program's words were read", len(known.words("export", "--format")) >= 12
                  and len(known.words("report", "--group-by")) >= 13 and len(known.commands) >= 12, known.commands)
    for name, change, wanted in (
        ("a new command", lambda c: c.update(follow={"--format": ["text"]}), "command follow is in no row"),
        ("a new option", lambda c: c["report"].update({"--forecast": []}), "option --forecast of report is in no row"),
        ("a new word of an option without a placeholder", lambda c: c["selftest"].update({"--per": ["x"]}),
         "option --per of selftest is in no row"),
        ("an option that is gone", lambda c: c["export"].pop("--metric"), "{--metric} of row export"),
        ("a list that became empty", lambda c: c["export"].update({"--format": []}), "stands for no words"),
    ):
        commands = copy.deepcopy(known.commands)
        change(commands)
        complaints = complaints_of(Vocabulary(commands))
        results.check(f"the self-check finds {name}", any(wanted in text for text in complaints), *complaints)
    fewer = [row for row in rows_table.ROWS if row.command != "export"]
    results.check("the self-check finds a command that lost its rows",
                  "command export is in no row" in complaints_of(known, fewer), complaints_of(known, fewer))
    without = [row for row in rows_table.ROWS if not (row.command == "info" and "{--format}" in row.arguments)]
    complaints = complaints_of(known, without)
    results.check("the self-check finds a format that lost its row", any(
        text in ("option --format of info is in no row", "--format text of info is in no row") for text in complaints),
        *complaints)


def check_vocabulary(results):
    old = Vocabulary({"report": {"--kind": ["heap"], "--growth": []}})
    new = Vocabulary({"report": {"--kind": ["heap", "reserve"]}, "follow": {}})
    results.equal("what only the old one knows", only_in(old, new), ["option --growth of report"])
    results.equal("what only the new one knows", only_in(new, old), ["--kind reserve of report", "command follow"])
    results.equal("words that one lacks", [old.lacks("report", text.split()) for text in (
        "a.etl --kind heap", "a.etl --kind=heap,reserve", "a.etl --kind reserve --growth", "a.etl --tree --kind heap")],
        [None, "--kind reserve of report", "--kind reserve of report", "option --tree of report"])
    known = ask(PROGRAM)
    results.check("help tells which options take a value", {("report", name) for name in (
        "--from", "--at", "--sort", "--at-exit", "--size", "--process", "--memory", "--require-frame")} <= known.with_value
        and not {("report", name) for name in ("--growth", "--no-cull", "--tree", "--strict")} & known.with_value, known.with_value)
    old = Vocabulary({"report": {"--kind": ["heap"]}}, {("report", "--at")})
    results.equal("an option that only one knows is left out with its value",
                  old.left_out("report", "a.etl --at peak --together --kind heap --x=3".split()),
                  ("a.etl --kind heap".split(), ["--at", "--together", "--x"]))


# --- what is said of differences -----------------------------------------------------------


def check_kinds(results):
    def kind(name, old, new):
        return of_outputs(name, old.encode(), new.encode()).kind

    rows = '{"rows": [%s], "frames": [], "stacks": []}'
    row = '{"kind": "heap", "pid": %d, "size": %d, "count": 3}'
    results.equal("a number of a row is named by its key",
                  kind("json", rows % (row % (1, 5)), rows % (row % (1, 6))), "json: rows[].size")
    results.equal("a row too many", kind("json", rows % "", rows % (row % (1, 5))), "json: rows[] only new")
    results.equal("another order", kind("json", rows % (row % (1, 5) + "," + row % (2, 5)),
                                        rows % (row % (2, 5) + "," + row % (1, 5))), "json: rows[] order")
    results.equal("a key that is new", kind("json", '{"a": 1}', '{"a": 1, "b": 2}'), "json: b")
    results.equal("a cell of CSV", kind("csv", "a,b\n1,2\n3,4\n", "a,b\n1,2\n3,5\n"), "csv: rows[].b")
    results.equal("columns that have other names, and a cell", kind("csv", "a,b\n1,2\n3,4\n", "A,B\n1,2\n3,5\n"),
                  "csv: columns, rows[].B")
    results.equal("one kind whatever the numbers", kind("text", "Total 5 blocks\n", "Total 7 blocks\n"),
                  kind("text", "Total 15 blocks\n", "Total 1,700 blocks\n"))
    results.check("other words are another kind", kind("text", "a 1\n", "b 1\n") != kind("text", "a 1\n", "c 1\n"),
                  kind("text", "a 1\n", "b 1\n"))
    results.equal("white space alone", kind("text", "a  b\n", "a b\n"), "text: a b (numbers)")
    results.equal("each line of another form", kind("text", "a 1\nsame\nb 2\n", "c 1\nsame\nb 2\nd\n"),
                  "text: - a #, + c #, + d")
    results.equal("a status", of_status(0, 3).kind, "exit status: 0 -> 3")
    results.equal("a file that one writes", of_outputs("out.csv", None, b"x").kind, "out.csv: only new")
    same = of_outputs("json", b'{"a": 1}', b'{"a":  1}').kind
    results.equal("other bytes of the same content", same, "json: other bytes, same content")


def check_accepted(results):
    path = os.path.join(WORK, "accepted.txt")

    def write(text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    write("# known\n^report .* \\| json: rows\\[\\]\\.size -- sizes are right now\n")
    accepted = read_accepted(path)

    def is_accepted(title, *places):
        return accept(title, Difference("json", list(places), []), accepted) is not None

    results.check("what is listed is accepted", is_accepted("report a.etl > stdout", "rows[].size") and accepted[0].used == 1)
    results.check("what differs beside it is not", not is_accepted("report a.etl > stdout", "rows[].size", "rows[].pid"))
    results.check("nor that of another command", not is_accepted("diff a.etl > stdout", "rows[].size"))
    for name, text in (("a reason is needed", "^report\n"), ("a pattern must be one", "( -- because\n")):
        write(text)
        try:
            read_accepted(path)
            results.check(name, False, "it was read")
        except ValueError as error:
            results.check(name, ":1: " in str(error), error)


# --- binary formats -----------------------------------------------------------------------


def check_decoding(results, trace):
    wanted = [json.loads(line) for line in run("export", trace, "--format", "ndjson", "--rows").splitlines()]
    path = os.path.join(WORK, "out.parquet")
    run("export", trace, "--format", "parquet", "--rows", "-o", path)
    with open(path, "rb") as file:
        how, rows = decode("parquet", file.read())
    shared = sorted(set(rows[1]) & set(wanted[0]) - {"stack", "address", "heap", "type", "impacting_type"}) if len(rows) > 1 else []
    got = [{key: row[key] for key in shared} for row in rows[1:]]
    results.check("Parquet is read as rows", how == "rows" and len(rows) == len(wanted) + 1 > 100 and len(shared) >= 8,
                  len(rows), len(wanted), shared)
    results.equal(f"its cells are those of NDJSON: {' '.join(shared)}", got, [{key: row[key] for key in shared} for row in wanted])
    for name, head in (("pprof", "type inuse_space bytes"), ("perfetto", "clock "), ("perfview", "== "), ("html", None)):
        data = run("export", trace, "--format", name)
        how, found = decode(name, data)
        good = found["data"]["rows"] if head is None else found.startswith(head) and "unreadable" not in found
        results.check(f"{name} is read", good, how, str(found)[:300])
    results.check("what is damaged is told, and no crash", decode("parquet", b"PAR1xxxx")[1].startswith("(unreadable"))


# --- from end to end ------------------------------------------------------------------------

SPOILED = (
    ("a digit of a text", "^info in/demo.etl --format text", "sed 's/6,528/6,529/'", "info | text: "),
    ("a cell of JSON", "^report in/demo.etl --format json", "sed 's/\"realloc_count\": 0/\"realloc_count\": 1/'", "rows[].realloc_count"),
    ("a byte of pprof", "^export in/demo.etl --format pprof$", "{ gunzip | sed 's/BatteryMeter/BatteryMetes/g' | gzip -n; }", "export | pprof: "),
    ("a status", "^symbols in/demo.etl --format csv", "{ cat; exit 3; }", "exit status: 3 -> 0"),
)


def spoiled_program(number, pattern, command):
    path = os.path.join(WORK, f"spoiled-{number}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/bash\nif grep -qE -- \"{pattern}\" <<< \"$*\"; then\n    '{PROGRAM}' \"$@\" | {command}\n"
                   f"    exit ${{PIPESTATUS[1]}}\nfi\nexec '{PROGRAM}' \"$@\"\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def compare(old, only, *more):
    done = subprocess.run([sys.executable, "-B", "-m", "compare", "--rev", "spoiled", "--old", old, "--etlheap", PROGRAM,
                           "--make-trace", MAKE_TRACE, "--traces", os.path.join(WORK, "none"), "--jobs", "1",
                           "--work", os.path.join(WORK, "compare"), "--only", only, "--inputs", "^demo$", *more],
                          cwd=HERE, capture_output=True, text=True, timeout=280)
    return done.returncode, done.stdout, done.stderr


def check_runs(results):
    everything = "|".join(f"({pattern})" for _, pattern, _, _ in SPOILED)
    status, out, err = compare(PROGRAM, everything)
    results.check("a program compared with itself does not differ", status == 0 and ", 0 outputs differ" in out,
                  status, out[-300:], err[-300:])
    results.check("and every chosen run was made", "3 of" not in out and f"{len(SPOILED)} runs" in tail_of_chosen(out), out[-600:])
    for number, (name, pattern, command, wanted) in enumerate(SPOILED):
        status, out, err = compare(spoiled_program(number, pattern, command), pattern)
        results.check(f"{name} that is spoiled is found and named", status == 1 and wanted in out and
                      ", 1 outputs differ in 1 ways" in out, status, out[-900:], err[-300:])
    status, out, err = compare(PROGRAM, "^nothing at all")
    results.check("a choice of no runs is no success", status == 2 and "no run" in err, status, out[-200:], err[-200:])


def tail_of_chosen(out):
    """How many of the chosen runs there were: the parts behind stores and merges."""
    chosen = sum(int(line.split()[1]) for line in out.splitlines() if " of " in line and line.split()[2:3] == ["of"])
    return f"{chosen} runs"


def main():
    results = Results()
    check_table(results)
    check_vocabulary(results)
    check_kinds(results)
    check_accepted(results)
    trace = os.path.join(WORK, "demo.etl")
    subprocess.run([MAKE_TRACE, "demo", trace], check=True, stdout=subprocess.DEVNULL)
    check_decoding(results, trace)
    check_runs(results)
    results.finish()


if __name__ == "__main__":
    main()
