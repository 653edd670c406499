#!/usr/bin/env python3
"""HTML pages round times as text output does.

Method: the rows of test_units.c say what text output writes. node runs the functions of
view_format.js, which all pages have, on the values of the same rows.
"""

import json
import os
import re
import shutil
import subprocess

from oracle_support import Results, skip_all

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUMBER = r"(?:INT64_C\((-?\d+)\)|(-?\d+))"


def rows_of(text, test, columns):
    """The rows of a table in a test: numbers, then the text."""
    body = re.search(rf"void {test}\(.*?\n}}\n", text, re.DOTALL)[0]
    found = re.findall(r"\{ " + ", ".join([NUMBER] * columns) + r', "([^"]*)" \}', body)
    return [([int(a or b) for a, b in zip(row[0:-1:2], row[1:-1:2])], row[-1]) for row in found]


def functions_of(page):
    """The functions that make text of times."""
    found = re.findall(r"^function (?:isUnknown|roundedTo|formatTime|formatDuration)\(.*?^}\n", page, re.DOTALL | re.MULTILINE)
    return "\n".join(found)


def main():
    if not shutil.which("node"):
        skip_all("the functions of the page run in node, which is not installed: apt-get install nodejs")
    with open(os.path.join(ROOT, "tests/unit/formats/test_units.c"), encoding="utf-8") as file:
        units = file.read()
    with open(os.path.join(ROOT, "formats/html/view_format.js"), encoding="utf-8") as file:
        functions = functions_of(file.read())
    spans = rows_of(units, "durations_are_rounded", 1)
    moments = rows_of(units, "moments_are_rounded_for_their_window", 2)
    calls = [f"formatDuration({numbers[0]})" for numbers, _ in spans]
    calls += [f"formatTime({numbers[0]}, {numbers[1]})" for numbers, _ in moments]
    moments_with_unit = [(numbers, f"{text} s") for numbers, text in moments]
    program = functions + f"console.log(JSON.stringify([{', '.join(calls)}]));"
    done = subprocess.run(["node", "-e", program], stdout=subprocess.PIPE, check=True, timeout=60)
    results = Results()
    results.check("there are rows of both tests", len(spans) > 5 and len(moments) > 3, spans, moments)
    for call, got, (numbers, text) in zip(calls, json.loads(done.stdout), spans + moments_with_unit):
        # Text is ASCII where it can be, and above 2^53 a page has no exact numbers.
        if abs(numbers[0]) < 2**53:
            results.equal(call, got.replace("\u00b5s", "us"), text)
    results.finish()


if __name__ == "__main__":
    main()
