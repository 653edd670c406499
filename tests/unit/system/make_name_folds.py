#!/usr/bin/env python3
"""Writes parser/system/name_folds.c from Unicode's CaseFolding.txt.

    make_name_folds.py /usr/share/unicode/CaseFolding.txt > parser/system/name_folds.c

Simple folding is the lines with status C and S: one character becomes one character.
Neighbours that move by the same distance share a row, and so do the alternating
alphabets, in which every other character is a capital. Debian's package unicode-data
has the file. tests/unit/system/test_name_fold.c compares the table with it, character by character.
"""

import re
import sys

HEAD = """/*
 * name_folds.c - Unicode {version}, CaseFolding.txt: simple case folding.
 *
 * Written by tests/unit/system/make_name_folds.py; do not edit. A row is a run of characters: from
 * `first` to `last`, every `step`-th moves by `delta`. Rows are in order and do not
 * overlap. ASCII is not here: name_fold.c folds it by itself.
 */
#include "name_fold.h"

const etl_name_fold_run etl_name_fold_runs[] = {{
"""


def read_folds(path):
    text = open(path, encoding="utf-8").read()
    version = re.search(r"CaseFolding-([0-9.]+)\.txt", text).group(1)
    lines = re.findall(r"^([0-9A-F]+); [CS]; ([0-9A-F]+);", text, re.MULTILINE)
    return version, sorted((int(a, 16), int(b, 16)) for a, b in lines)


def make_runs(folds):
    """Greedy: a row takes the next capital if it is where the row expects it."""
    runs = []
    for first, to in folds:
        delta = to - first
        if runs:
            run = runs[-1]
            gap = first - run["last"]
            fits = delta == run["delta"] and gap in (1, 2) and run["step"] in (0, gap)
            if fits:
                run.update(last=first, step=gap)
                continue
        runs.append({"first": first, "last": first, "delta": delta, "step": 0})
    return runs


def main():
    version, folds = read_folds(sys.argv[1])
    runs = make_runs([fold for fold in folds if fold[0] >= 0x80])
    print(HEAD.format(version=version), end="")
    for run in runs:
        print(f"    {{ 0x{run['first']:x}, 0x{run['last']:x}, {run['delta']}, {run['step'] or 1} }},")
    print("};\n")
    print("const u32 etl_name_fold_run_count = (u32)ETL_COUNT_OF(etl_name_fold_runs);")
    print(f"{len(runs)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
