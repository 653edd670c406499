#!/usr/bin/env python3
"""Does no check pass in silence, and does its first line say what was compared with what?

Runs that lack the baseline or a process that they require must fail in every format, and name what
is missing, whatever limits, --allow-empty or --lenient say. Words of --require-process mean what
those of --process mean: for each word, the check with --process measures something exactly if the
check with --require-process finds it. The first line of text and Markdown, and `summary` of JSON,
must have the facts that the document has: run, kinds, window and baseline.
"""

import json
import os
import re
import xml.etree.ElementTree

from oracle_check import Block, attempt, make_trace, path_of, verdict, write_trace
from oracle_support import Results

LIMIT = ("--max-outstanding", "1G")


def formats_of(arguments):
    """The status, and the verdict in every format."""
    status, text, said = attempt(*arguments)
    markdown, junit, sarif = (attempt(*arguments, "--format", kind)[1] for kind in ("markdown", "junit", "sarif"))
    return status, text.decode(), said, markdown.decode(), xml.etree.ElementTree.fromstring(junit)[0], json.loads(sarif)["runs"][0]


def check_missing(results, name, arguments, option, words):
    """Something is missing, and the words say what, in each format and on stderr."""
    status, text, said, markdown, suite, run = formats_of(arguments)
    document = verdict(*arguments)[1]
    results.equal(f"{name}: the check fails", (status, document["verdict"]), (1, "fail"))
    flat = " ".join(text.split())
    results.check(f"{name}: text names it in the first line, and what to do below",
                  text.startswith("FAIL: ") and all(word in text.splitlines()[0] for word in words)
                  and all(word in flat[len(text.splitlines()[0]):] for word in words), text[:300])
    results.check(f"{name}: stderr names it", all(word in said for word in words) and said.count("\n") == 0, said)
    results.check(f"{name}: Markdown names it", all(word in markdown.replace("\\", "").splitlines()[0] for word in words), markdown[:200])
    unmet = [one for one in document["requirements"] if not one["met"]]
    results.equal(f"{name}: JSON has it", [one["option"] for one in unmet], [option])
    failures = [case for case in suite if case.tag == "testcase" and case.find("failure") is not None]
    results.check(f"{name}: JUnit has one failure of its own",
                  [case.get("classname") for case in failures] == [f"etlheap.{option}"] and suite.get("failures") == "1"
                  and int(suite.get("tests")) == len(suite.findall("testcase"))
                  and all(word in failures[0].find("failure").get("message") for word in words), [case.attrib for case in failures])
    found = [result for result in run["results"] if result["ruleId"] == option]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    results.check(f"{name}: SARIF has a result, at a place, with its rule",
                  len(found) == len(run["results"]) == 1 and rules[found[0]["ruleIndex"]] == option
                  and found[0]["locations"] and all(word in found[0]["message"]["text"] for word in words), run["results"])
    rows = [subject["verdict"] for budget in document["budgets"] for subject in budget["subjects"]]
    results.check(f"{name}: what was measured keeps its verdict", "fail" not in rows, rows)


def check_requirements(results, demo):
    gone = path_of("gone.ehs")
    growth = [demo, *LIMIT, "--max-growth", "1G", "--baseline", gone, "--require-baseline"]
    for more in ([], ["--update-baseline"], ["--allow-empty"], ["--lenient"]):
        name = " ".join(["a missing baseline", *more])
        check_missing(results, name, [*growth, *more], "require-baseline", ["gone.ehs", "baseline"])
        results.check(f"{name}: none is made", not os.path.exists(gone))
    status, document = verdict(*growth, "--update-baseline", "--accept")
    results.equal("a missing baseline is accepted", (status, document["verdict"], document["baseline"]["update"], os.path.exists(gone)),
                  (0, "accepted", "accepted", True))
    status, document = verdict(*growth)
    results.equal("then it is there", (status, document["requirements"]), (0, [{"option": "require-baseline", "met": True}]))
    before = os.stat(gone).st_mtime_ns
    for more in ([], ["--allow-empty"], ["--lenient"], ["--update-baseline", "--baseline", gone, "--max-growth", "1G"]):
        check_missing(results, " ".join(["a missing process", *more]), [demo, *LIMIT, "--require-process", "Updater.exe", *more],
                      "require-process", ["Updater.exe"])
    accept = ["--update-baseline", "--accept", "--baseline", gone, "--max-growth", "1G", "--require-process", "Updater.exe"]
    status, document = verdict(demo, *accept)
    results.equal("a run without a required process is not accepted",
                  (status, document["verdict"], document["baseline"]["update"], os.stat(gone).st_mtime_ns == before),
                  (1, "fail", "refused", True))


def check_words(results, demo):
    """Each word selects exactly if it is found."""
    words = ["BatteryMeter.exe", "batterymeter", "BATTERY*", "*meter.exe", "MemoryTest?pp.exe", "6480", "4128", "1", "nobody",
             "Battery", "BatteryMeter,MemoryTestApp", "BatteryMeter,nobody", "6480,9", "*", ""]
    wrong = []
    for word in words:
        selected, _, said = attempt(demo, *LIMIT, "--process", word)
        required, _, _ = attempt(demo, *LIMIT, "--require-process", word)
        if selected != required or selected not in (0, 1, 2):
            wrong.append(f"{word}: {selected} and {required}: {said}")
    results.check(f"{len(words)} words of --require-process mean what those of --process mean", not wrong, *wrong)
    status, document = verdict(demo, *LIMIT, "--require-process", "batterymeter", "--require-process", "a,4128,b")
    results.equal("each word is judged on its own", (status, [(one["process"], one["met"]) for one in document["requirements"]][:4]),
                  (1, [("batterymeter", True), ("a", False), ("4128", True), ("b", False)]))
    # A process that ran, but of which the events asked for are not there, vanished as well.
    status, document = verdict(demo, "--max-outstanding", "1G", "--kind", "heap", "--require-process", "MemoryTestApp")
    results.equal("a process without events of the kind", (status, document["requirements"][0]["met"]), (1, False))
    document = verdict(demo, *LIMIT, "--process", "BatteryMeter", "--require-process", "BatteryMeter")[1]
    everything = verdict(demo, *LIMIT, "--require-process", "BatteryMeter")[1]
    results.check("it selects nothing", {s["process"] for s in everything["budgets"][0]["subjects"]} >
                  {s["process"] for s in document["budgets"][0]["subjects"]})


def check_vanished(results, demo):
    """A process that only the baseline has is named, though the limit is kept."""
    other = write_trace("other.etl", [Block("heap", 100, ())])
    status, text, _, markdown, _, _ = formats_of([other, "--max-growth", "1G", "--baseline", demo])
    document = verdict(other, "--max-growth", "1G", "--baseline", demo)[1]
    missing = document["baseline"]["missing"]
    results.check("processes of the baseline that did not run are counted and named",
                  len(missing) == document["baseline"]["missing_processes"] == len(set(missing)) > 1 and "BatteryMeter.exe" in missing, missing)
    flat = " ".join(text.split())
    results.check("text and Markdown name them", status in (0, 4) and all(name in flat and name in markdown.replace("\\", "") for name in missing),
                  text, markdown)


# --- the first line ------------------------------------------------------------------


def wanted_summary(document):
    """What follows the verdict, from the document alone."""
    kinds = document["judged_kinds"]
    listed = ", ".join(kinds[:-1]) + (" and " if len(kinds) > 1 else "") + kinds[-1] + " of " if kinds else ""
    files = document["trace"]["files"]
    more = f" and {len(files) - 1} more file{'s' if len(files) > 2 else ''}" if len(files) > 1 else ""
    window, whole = document["window"], document["trace"]["duration_ns"]
    part = ""
    if window["from_ns"] > 0 or window["to_ns"] < whole:
        part = f" from {window['from_ns'] / 1e9:.3f} s to {window['to_ns'] / 1e9:.3f} s"
    base = document["baseline"]
    compared = f", compared with {base['file']}" if base and base["trace"] else ""
    return f": {listed}{files[0]}{more}{part}{compared}" if kinds else f" ({files[0]}{more}{part})"


def check_first_lines(results, demo):
    kernel, heap = path_of("kernel.etl"), path_of("heap.etl")
    make_trace("kernel.etl", "--split", heap)
    small = write_trace("small.etl", [Block("heap", 1, ())])
    lossy = make_trace("lossy.etl", "--unclosed")
    absent = ["--baseline", path_of("absent.ehs"), "--max-growth", "1G", "--update-baseline", "--process", "nobody.exe", "--allow-empty"]
    cases = [
        ("a pass", [demo, *LIMIT], "PASS: 1 limit is kept"),
        ("a failure", [demo, "--max-outstanding", "1K", *LIMIT], "FAIL: 1 of 2 limits is exceeded"),
        ("a window", [demo, *LIMIT, "--from", "2s", "--to", "5s"], "PASS: 1 limit is kept"),
        ("a kind", [demo, *LIMIT, "--kind", "heap"], "PASS: 1 limit is kept"),
        ("kinds of limits", [demo, "--max-outstanding", "heap/1G", "--max-outstanding", "extent/1G"], "PASS: 2 limits are kept"),
        ("two files", [kernel, heap, *LIMIT], "PASS: 1 limit is kept"),
        ("a baseline", [demo, "--max-growth", "1G", "--baseline", demo], "PASS: 1 limit is kept"),
        ("a baseline and a window", [demo, "--max-growth", "total:0", "--baseline", small, "--to", "5s"], "FAIL: 1 of 1 limit is exceeded"),
        ("no baseline yet", [demo, *absent[:5], *LIMIT], "PASS: 1 limit is kept, and 1 cannot be judged without a baseline"),
        ("no baseline and no other limit", [demo, *absent], "PASS: no baseline yet to measure growth against"),
        ("nothing measured", [demo, *LIMIT, "--process", "nobody.exe"], "FAIL: nothing was measured"),
        ("lost events", [lossy, *LIMIT], "INCONCLUSIVE: no limit is known to be exceeded, but not all are known to be kept"),
        ("a missing process", [demo, *LIMIT, "--require-process", "a.exe"],
         "FAIL: the required process a.exe has no memory events; 1 limit is kept"),
        ("five missing processes", [demo, "--max-outstanding", "1K", "--require-process", "a,b,c,d,e"],
         "FAIL: the required processes a, b, c and 2 more have no memory events; 1 of 1 limit is exceeded"),
    ]
    for name, arguments, begin in cases:
        outputs = []
        for kind in ("text", "markdown", "json"):
            outputs.append(attempt(*arguments, "--format", kind)[1].decode())
            if os.path.exists(absent[1]):
                os.remove(absent[1])
        text, markdown, document = *outputs[:2], json.loads(outputs[2])
        wanted = begin + wanted_summary(document)
        results.equal(f"the first line of {name}", text.splitlines()[0], wanted)
        results.equal(f"the summary of {name}", document["summary"], wanted.split(": ", 1)[1])
        plain = re.sub(r"\\(.)", r"\1", markdown.splitlines()[0])
        results.check(f"the heading of {name} in Markdown", plain.endswith(wanted.split(": ", 1)[1]), plain, wanted)


def main():
    results = Results()
    demo = make_trace("demo.etl")
    check_requirements(results, demo)
    check_words(results, demo)
    check_vanished(results, demo)
    check_first_lines(results, demo)
    results.finish()


if __name__ == "__main__":
    main()
