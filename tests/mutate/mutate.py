#!/usr/bin/env python3
"""Mutation score: changes one operator, number or statement at a time and runs the tests.

A mutant that no test notices is a wrong answer that no test would notice. Those are
killed by a test, or explained in explained.txt: by id, whether the mutant is equivalent
(no input tells it from the original) or accepted (the difference is no wrong answer),
and why.

Results go to FOLDER/results.jsonl as they come, so that a run goes on where it stopped.
Mutants of a file that changed are run again, and survivors when a test changed, except
those that are explained (--again runs all). With
--survivors, what survived is run again, on objects that were built with sanitizers:
they see an access out of bounds that changes no answer today.
FOLDER/scores.json and the table that is printed sum them up.
"""
import argparse
import hashlib
import json
import os
import sys
from collections import Counter, defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import operators
import targets
from workbench import Bench

EXPLAINED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explained.txt")
VERDICTS = ("equivalent", "accepted")


def read_explained(path):
    """{mutant id: (verdict, reason)} of lines `id verdict reason`; # begins a comment.
    A line that begins with spaces goes on with the reason above."""
    found, last = {}, None
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line[0].isspace():
                found[last] = (found[last][0], found[last][1] + " " + line.strip())
                continue
            words = line.split(None, 2)
            if len(words) < 3 or words[1] not in VERDICTS:
                raise SystemExit(f"{path}:{number}: expected: id, {' or '.join(VERDICTS)}, reason")
            last = words[0]
            if last in found:
                raise SystemExit(f"{path}:{number}: {last} is explained twice")
            found[last] = (words[1], words[2].strip())
    return found


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Results:
    """The lines of results.jsonl; the last one about a mutant counts."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    row = json.loads(line)
                    self.rows[row["id"]] = row

    def add(self, row):
        self.rows[row["id"]] = row
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")

    def known(self, mutant, source_digest, tests_digest):
        """What is known of the mutant, unless its file changed, or a test that it survived;
        no digest: whatever the tests."""
        row = self.rows.get(mutant.id)
        if row is None or row["source"] != source_digest:
            return None
        return row if row["outcome"] != "survived" or tests_digest in (None, row["tests"]) else None


def ordered_tests(tests, killers, seconds):
    """Tests that kill most mutants a second first; unknown ones in the order of the table."""
    def worth(test):
        return -(killers[test] + 0.5) / (seconds[test] + 0.05)
    return sorted(tests, key=worth)


def show(mutant, row):
    change = f"{' '.join(mutant.before.split())[:60]!r} -> {' '.join(mutant.after.split())[:60]!r}"
    by = f" by {row['killer']}" if row["killer"] else ""
    print(f"  {mutant.id} {mutant.file}:{mutant.line} {mutant.function} {change}: {row['outcome']}{by}", flush=True)


def run_file(bench, target, options, results, explained):
    """Runs a sample of the file's mutants. The rows of those that count."""
    with open(target.file) as file:
        text = file.read()
    tests = list(dict.fromkeys(target.tests.split()))
    source_digest, tests_digest = digest_of(text), bench.digest_of(tests)
    mutants = operators.mutants_of(target.file, text)
    sample = [m for m in operators.in_random_order(mutants, options.seed) if m.function not in targets.NOT_MUTATED]
    if options.ids:
        sample = [m for m in sample if m.id in options.ids]
    original = None
    killers, codes, rows = Counter(), {}, []
    for mutant in sample:
        if options.mutants and sum(row["outcome"] in ("killed", "survived") for row in rows) >= options.mutants:
            break
        any_tests = options.survivors or options.report or mutant.id in explained
        row = None if options.again else results.known(mutant, source_digest, None if any_tests else tests_digest)
        if options.report or (options.survivors and (row is None or row["outcome"] != "survived")):
            if row is not None:
                rows.append(row)
            continue
        if row is None or options.survivors:
            if original is None:
                original = bench.compile(target.file, text)
                failing = bench.measure(tests)
                if original is None or failing:
                    raise SystemExit(f"{target.file}: fails without any mutant: {', '.join(failing) or 'compiler'}")
            survivor = row
            row = run_mutant(bench, mutant, text, original, codes, ordered_tests(tests, killers, bench.seconds))
            row.update(source=source_digest, tests=tests_digest)
            if survivor is None or row["outcome"] == "killed":
                results.add(row)
            else:
                row = survivor
            if row["outcome"] == "survived" or options.verbose:
                show(mutant, row)
        if row["killer"]:
            killers[row["killer"]] += 1
        if row["code"]:
            codes.setdefault(row["code"], mutant.id)
        rows.append(row)
    return rows


def run_mutant(bench, mutant, text, original, codes, tests):
    row = dict(mutant._asdict(), killer=None)
    row["code"] = bench.compile(mutant.file, operators.apply(text, mutant))
    if row["code"] is None:
        row["outcome"] = "invalid"  # the compiler noticed
    elif row["code"] == original:
        row["outcome"] = "same"  # the same machine code: no mutant
    elif row["code"] in codes:
        row["outcome"] = "double"  # the same machine code as another mutant
    else:
        row["killer"], how = bench.first_to_fail(tests)
        row["outcome"] = "killed" if row["killer"] else "survived"
        row["how"] = how
    return row


def score_of(rows, explained):
    count = Counter(row["outcome"] for row in rows)
    survivors = [row for row in rows if row["outcome"] == "survived"]
    verdicts = Counter(explained[row["id"]][0] for row in survivors if row["id"] in explained)
    counted = count["killed"] + count["survived"] - verdicts["equivalent"]
    return {"mutants": count["killed"] + count["survived"], "killed": count["killed"],
            "stopped": sum(row.get("how") == "stopped" for row in rows),
            "equivalent": verdicts["equivalent"], "accepted": verdicts["accepted"],
            "open": len(survivors) - sum(verdicts.values()), "invalid": count["invalid"],
            "same": count["same"] + count["double"],
            "score": round(100 * count["killed"] / counted, 1) if counted else None}


def print_table(scores):
    columns = ("mutants", "killed", "equivalent", "accepted", "open", "score")
    print(f"{'file':30} {'group':10}" + "".join(f"{name:>11}" for name in columns))
    for name, group, score in scores:
        cells = "".join(f"{score[column] if score[column] is not None else '-':>11}" for column in columns)
        print(f"{name:30} {group:10}{cells}")


def sum_up(rows_by_file, explained, folder):
    groups, scores, everything = defaultdict(list), [], []
    for target in targets.TARGETS:
        if target.file in rows_by_file:
            rows = rows_by_file[target.file]
            groups[target.group] += rows
            everything += rows
            scores.append((target.file, target.group, score_of(rows, explained)))
    for group, rows in groups.items():
        scores.append(("", group, score_of(rows, explained)))
    scores.append(("", "all", score_of(everything, explained)))
    print_table(scores)
    with open(f"{folder}/scores.json", "w") as file:
        json.dump([dict(score, file=name or None, group=group) for name, group, score in scores], file, indent=1)
    return scores[-1][2]["open"]


def report_stale(explained):
    """Explanations of mutants that are no more: their line was changed."""
    ids = set()
    for target in targets.TARGETS:
        with open(target.file) as file:
            ids |= {mutant.id for mutant in operators.mutants_of(target.file, file.read())}
    stale = sorted(set(explained) - ids)
    if stale:
        print(f"explained.txt has {len(stale)} ids that no mutant has: {' '.join(stale)}")
    return len(stale)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", default="", help="files or groups, separated by spaces (default: all)")
    parser.add_argument("--mutants", type=int, default=40, help="mutants a file, 0 for all (default: 40)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--ids", default="", help="only the mutants with these ids")
    parser.add_argument("--folder", default="build/mutate")
    parser.add_argument("--objects", default="build/check", help="where the variant check was built")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--cflags", default="")
    parser.add_argument("--libraries", default="")
    parser.add_argument("--again", action="store_true", help="run mutants again that have a result")
    parser.add_argument("--survivors", action="store_true", help="run again what survived, and nothing else")
    parser.add_argument("--report", action="store_true", help="sum up what is known, run nothing")
    parser.add_argument("--list", action="store_true", help="list the mutants, run none")
    parser.add_argument("--verbose", action="store_true", help="show killed mutants as well")
    options = parser.parse_args()
    options.ids = set(options.ids.split())
    return options


def chosen_targets(words):
    chosen = [t for t in targets.TARGETS if not words or t.file in words or t.group in words]
    known = {t.file for t in targets.TARGETS} | {t.group for t in targets.TARGETS}
    unknown = [word for word in words if word not in known]
    if unknown:
        raise SystemExit(f"no such file or group: {' '.join(unknown)} (tests/mutate/targets.py lists them)")
    return chosen


def main():
    options = parse_arguments()
    chosen = chosen_targets(options.files.split())
    if options.list:
        for target in chosen:
            with open(target.file) as file:
                for mutant in operators.mutants_of(target.file, file.read()):
                    print(mutant.id, f"{mutant.file}:{mutant.line}", mutant.function, repr(mutant.before), "->", repr(mutant.after))
        return 0
    bench = Bench(f"{options.folder}/work", options.objects, options.compiler, options.libraries.split(), options.cflags.split())
    results, rows_by_file = Results(f"{options.folder}/results.jsonl"), {}
    explained = read_explained(EXPLAINED)
    for target in chosen:
        print(target.file, flush=True)
        rows_by_file[target.file] = run_file(bench, target, options, results, explained)
    unexplained = sum_up(rows_by_file, explained, options.folder)
    stale = report_stale(explained)
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main())
