#!/usr/bin/env python3
"""Does `info` say rightly which questions a trace can answer?

For made traces, their stores and their summaries, each question of `info` is asked with the command
that answers it. `can` must be true exactly if the command finds something: rows of the kind, a stack,
a size, a name, a moment. What cannot be answered has a reason, and a command to record it only if
another recording would help.
"""

import os
import re
import subprocess

import oracle_support as support

MAKE_TRACE = os.environ.get("MAKE_TRACE", "build/release/make_trace")
SCENARIOS = ("demo", "battery-meter-fixed", "virtualalloc-exercise", "test-runner", "pool-leak", "handle-leak", "mapped-views",
             "section-leak", "dotnet", "kitchen-sink")
OTHERS = ("stacks", "free-stacks", "modules", "symbols", "memory", "heap-sizes", "methods", "thread-names", "marks")


def ask(*arguments):
    """The document of a command, or None if it is refused."""
    done = subprocess.run([support.ETLHEAP, *arguments, "--format", "json", "--no-symbols"],
                          capture_output=True, check=False)
    return support.json.loads(done.stdout) if done.returncode in (0, 4) else None


def values_of(source, kinds, key):
    """The values of a key in the rows of a report on these kinds."""
    document = ask("report", source, "--kind", kinds, "--group-by", key, "--top", "all")
    return [row[key] for row in document["rows"]] if document else []


def sizes_of(source):
    document = ask("report", source, "--group-by", "process,heap", "--columns", "committed_size,reserved_size", "--top", "all")
    return [row[word] for row in document["rows"] for word in ("committed_size", "reserved_size")] if document else []


def has_names(source):
    """Has a frame a name, although no symbols are looked for? A summary keeps only such names of methods."""
    document = ask("report", source, "--group-by", "stack", "--top", "all")
    return document is not None and any(frame["symbol"] for frame in document["frames"])


def has_kind(source, kind):
    document = ask("report", source, "--kind", kind, "--group-by", "kind")
    return document is not None and any(total["kind"] == kind for total in document["totals"])


def modules_of(source, word):
    document = ask("symbols", source)
    return [row[word] for row in document["modules"]] if document else []


def answers(source, name, kinds):
    """Does the command that answers a question find anything?"""
    if name == "stacks":
        return any(value is not None for value in values_of(source, kinds, "stack"))
    if name == "free-stacks":
        return any(value is not None for value in values_of(source, kinds, "free_stack"))
    if name == "thread-names":
        return any(value is not None for value in values_of(source, kinds, "thread_name"))
    if name == "heap-sizes":
        return any(value is not None for value in sizes_of(source))
    if name == "marks":
        document = ask("windows", source, "--at", "marks")
        return document is not None and len(document["windows"]) > 1
    if name == "memory":
        document = ask("windows", source, "--every", "1s")
        return document is not None and any(window.get("memory") or window.get("process_memory") for window in document["windows"])
    return has_kind(source, name)


def check(results, label, source):
    document = support.run_json("info", source)
    questions = {row["name"]: row for row in document["questions"]}
    kinds = [name for name, row in questions.items() if row["can"] and name not in OTHERS]
    for name, row in questions.items():
        if name in ("modules", "symbols", "methods"):
            continue
        found = answers(source, name, ",".join(kinds))
        results.equal(f"{label}: {name}", row["can"], found)
    results.equal(f"{label}: modules", questions["modules"]["can"], document["modules"] > 0)
    results.equal(f"{label}: methods", questions["methods"]["can"], document["methods"] > 0 or has_names(source))
    states = modules_of(source, "expected") if questions["modules"]["can"] else []
    if states:
        results.equal(f"{label}: symbols", questions["symbols"]["can"], any(states))
    wrong = [row for row in document["questions"] if row["can"] and row["record"] is not None]
    results.check(f"{label}: what can be answered needs no recording", not wrong, wrong)
    wrong = [row for row in document["questions"] if not re.match("[a-z].*[^.]$", row["why"])]
    results.check(f"{label}: each has a reason", not wrong, wrong)
    words = [word for word in document["can"] if word in questions and not questions[word]["can"]]
    wrong = [word for word in words if questions[word]["record"] is not None]
    results.check(f"{label}: what the recording has, need not be recorded", not wrong, wrong)
    return questions


def check_text(results, path, questions):
    """The text has the same questions: those that can be answered, and how to record the others."""
    text = support.run("info", path).decode()
    can, _, missing = text.partition("Processes")[0].partition("how to record it")
    if not missing:
        can, _, missing = text.partition("Processes")[0].partition("Can also be recorded")
    wanted = sorted(name for name, row in questions.items() if row["can"] and name != "marks")
    shown = re.findall(r"^([a-z-]+)  ", can.partition("Can be analysed")[2], re.M)
    results.equal("text lists what can be analysed", sorted(shown), wanted)
    wanted = sorted(name for name, row in questions.items() if row["record"] and name != "marks")
    results.equal("text says how to record the rest", sorted(re.findall(r"^([a-z-]+)  ", missing, re.M)), wanted)


def main():
    results = support.Results()
    for name in SCENARIOS:
        path, store, summary = (f"{support.WORK}/{name}{suffix}" for suffix in (".etl", ".ehs", ".summary.ehs"))
        subprocess.run([MAKE_TRACE, name, "-o", path], check=True, stdout=subprocess.DEVNULL)
        support.run("store", path, "-o", store)
        support.run("store", path, "--summary", "-o", summary)
        questions = check(results, name, path)
        same = check(results, f"{name}, store", store)
        results.equal(f"{name}: a store can answer what its trace can",
                      [row["can"] for row in same.values()], [row["can"] for row in questions.values()])
        check(results, f"{name}, summary", summary)
        check_text(results, path, questions)
    part = f"{support.WORK}/part.ehs"
    support.run("store", f"{support.WORK}/demo.ehs", "--kind", "heap", "-o", part)
    row = check(results, "a part", part)["virtualalloc"]
    results.equal("a part lacks what was cut, not what was recorded", (row["can"], row["record"]), (False, None))
    results.finish()


if __name__ == "__main__":
    main()
