#!/usr/bin/env python3
"""The tool of `make mutate` finds what it promises, on a toy C file with a toy test.

Goal: a mutation score can be trusted. Mutants stand where they should, comments and
assertions are left alone, the same seed takes the same sample, and each outcome (killed,
stopped, survived, invalid, same code) is told apart.
Method: TOY below, whose test checks `largest` well and `sum_to` hardly.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutate"))
import mutate
import operators
from oracle_support import Results, skip_all
from workbench import Bench

TOY = r"""
#include <assert.h>
#include <stdbool.h>
#include "toy.h" /* a < b */
#define LIMIT (3 < 4)
static const int scale[] = { 7 };
int largest(const int *at, int count)
{
    assert(count > 0); // count == 0
    int found = at[0];
    for (int i = 1; i < count; i++) {
        if (at[i] > found)
            found = at[i];
    }
    return found;
}
bool is_text(const char *s) { return *s == '"' || *s == '<' /* x && y */; }
unsigned sum_to(unsigned last)
{
    unsigned sum = 0;
    while (last > 0)
        sum += last--;
    return sum * scale[0] / 7;
}
int *first(int *at) { return at; }
void twice(int *at) { *at = (int)-1; largest(at, 1); }
"""
TEST = r"""
#include <stdbool.h>
#include "toy.h"
int main(void)
{
    const int at[] = { 2, 9, 4 }, back[] = { 5, 1 };
    (void)sum_to(2);
    return !(largest(at, 3) == 9 && largest(back, 2) == 5 && largest(at, 1) == 2 && is_text("<") && !is_text("a"));
}
"""
HEADER = """#include <stdbool.h>
int largest(const int *at, int count);
bool is_text(const char *s);
unsigned sum_to(unsigned last);
int *first(int *at);
void twice(int *at);
"""


def changes(mutants, function):
    return {(mutant.before, mutant.after) for mutant in mutants if mutant.function == function}


def check_places(results, mutants):
    largest = changes(mutants, "largest")
    results.check("a comparison is moved by one and turned round", {("<", "<="), ("<", ">=")} <= largest, largest)
    results.check("a condition is negated", ("(at[i] > found)", "(!(at[i] > found))") in largest, largest)
    results.check("an assignment is deleted", ("found = at[i];", ";") in largest, largest)
    results.check("a declaration is not deleted", not any(before.startswith("int found") for before, _ in largest), largest)
    results.check("assertions and comments are left alone", ("==", "!=") not in largest and (">", "<=") in largest and
                  len([m for m in mutants if m.function == "largest" and m.before == ">"]) == 2, largest)
    results.equal("a string is no operator", sorted(changes(mutants, "is_text")),
                  sorted({("==", "!="), ("||", "&&"), ("*s == '\"' || *s == '<' /* x && y */", "!(*s == '\"' || *s == '<' /* x && y */)")}))
    results.check("a number is moved by one", {("0", "1"), ("7", "8"), ("7", "6")} <= changes(mutants, "sum_to"))
    results.equal("a table is changed as well", changes(mutants, "table scale"), {("7", "8"), ("7", "6")})
    results.equal("a pointer is returned as NULL", changes(mutants, "first"), {("at", "NULL")})
    twice = changes(mutants, "twice")
    results.check("a sign after a cast is no difference", ("-", "+") not in twice and ("*", "/") not in twice, twice)
    results.check("a call is deleted", ("largest(at, 1);", ";") in twice, twice)
    results.check("preprocessor lines are left alone", all(m.line > 5 for m in mutants))


def check_ids(results, mutants):
    results.equal("every mutant has an id of its own", len({m.id for m in mutants}), len(mutants))
    later = operators.mutants_of("toy.c", "\nint unrelated;\n" + TOY.replace("int found = at[0];", "int  found =\n at[0];"))
    lost = {m.id for m in mutants} - {m.id for m in later}
    results.check("ids outlive changes of other lines", len(lost) <= 2, lost)
    order = [m.id for m in operators.in_random_order(mutants, "1")]
    results.equal("the same seed gives the same sample", order, [m.id for m in operators.in_random_order(mutants[::-1], "1")])
    results.check("another seed gives another one", order != [m.id for m in operators.in_random_order(mutants, "2")])
    changed = operators.apply(TOY, next(m for m in mutants if m.before == "found = at[i];"))
    results.equal("lines keep their numbers", changed.count("\n"), TOY.count("\n"))


def check_outcomes(results, mutants, folder):
    os.makedirs(f"{folder}/objects/tests/unit/toy")
    for name, text in (("toy.h", HEADER), ("toy_test.c", TEST)):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    subprocess.run(["cc", "-I", folder, "-c", "-o", f"{folder}/objects/tests/unit/toy/toy_test.o", f"{folder}/toy_test.c"], check=True)
    bench = Bench(f"{folder}/work", f"{folder}/objects", "cc", [], ["-I", folder])
    original = bench.compile("toy.c", TOY)
    results.equal("the test passes without a mutant", bench.measure(["toy_test"]), [])
    wanted = {
        ("largest", ">", "<="): ("killed", "failed"),
        ("largest", "++", "--"): ("killed", "failed"),
        ("sum_to", "--", "++"): ("killed", "stopped"),
        ("sum_to", "0", "1"): ("survived", None),
        ("twice", "largest(at, 1);", ";"): ("survived", None),
        ("is_text", "||", "&&"): ("killed", "failed"),
    }
    bench.seconds["toy_test"] = -1e9  # stopped after the shortest time
    import workbench
    workbench.TIMEOUT_MIN = 0.5
    for key, outcome in wanted.items():
        mutant = next(m for m in mutants if (m.function, m.before, m.after) == key)
        row = mutate.run_mutant(bench, mutant, TOY, original, {}, ["toy_test"])
        results.equal(f"{key[0]}: {key[1]} -> {key[2]}", (row["outcome"], row.get("how")), outcome)
    any_mutant = mutants[0]
    for name, text, outcome in (("what is not C", "{", "invalid"), ("a comment", TOY, "same")):
        row = mutate.run_mutant(bench, any_mutant._replace(before="", after="", start=0, end=0),
                                text, original, {}, ["toy_test"])
        results.equal(f"{name} is no mutant", row["outcome"], outcome)
    code = bench.compile("toy.c", operators.apply(TOY, any_mutant))
    row = mutate.run_mutant(bench, any_mutant, TOY, original, {code: "another"}, ["toy_test"])
    results.equal("a mutant with another's code is counted once", row["outcome"], "double")


def check_score(results):
    rows = [dict(id="a", outcome="killed", how="failed"), dict(id="b", outcome="survived"), dict(id="c", outcome="survived"),
            dict(id="d", outcome="survived"), dict(id="e", outcome="invalid"), dict(id="f", outcome="killed", how="stopped")]
    score = mutate.score_of(rows, {"b": ("equivalent", ""), "c": ("accepted", "")})
    results.equal("equivalent mutants leave the score, accepted ones count as not killed",
                  {key: score[key] for key in ("mutants", "killed", "equivalent", "accepted", "open", "score")},
                  dict(mutants=5, killed=2, equivalent=1, accepted=1, open=1, score=50.0))
    results.check("the explanations can be read", all(reason for _, reason in mutate.read_explained(mutate.EXPLAINED).values()))


def main():
    if shutil.which("cc") is None:
        skip_all("there is no cc")
    results = Results()
    mutants = operators.mutants_of("toy.c", TOY)
    check_places(results, mutants)
    check_ids(results, mutants)
    with tempfile.TemporaryDirectory() as folder:
        check_outcomes(results, mutants, folder)
    check_score(results)
    results.finish()


if __name__ == "__main__":
    main()
