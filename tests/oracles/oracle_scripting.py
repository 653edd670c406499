#!/usr/bin/env python3
"""The program of docs/scripting.md prints what the page says, and the table of exit statuses is true.

cli_readme.py runs the recipes of the page. Here the program that drives etlheap by itself is taken
from the page and run as it stands, on the demo, whose line the page has, and on traces with losses
and without any memory events. Each row of the table is asked for.
"""

import os
import re
import subprocess
import sys

from oracle_support import ETLHEAP, WORK, Results, run, run_json

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(os.environ.get("OUT", "build/check"), "make_trace"))


def page():
    with open(os.path.join(ROOT, "docs", "scripting.md"), encoding="utf-8") as file:
        return file.read()


def made(scenario):
    path = os.path.join(WORK, f"{scenario}.etl")
    subprocess.run([MAKE_TRACE, scenario, path], check=True, stdout=subprocess.DEVNULL)
    return path


def drive(program, *arguments):
    """Runs the program of the page with etlheap on the path."""
    folder = os.path.join(WORK, "bin")
    os.makedirs(folder, exist_ok=True)
    link = os.path.join(folder, "etlheap")
    if not os.path.exists(link):
        os.symlink(os.path.abspath(ETLHEAP), link)
    environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=environment,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def check_program(results, text, demo):
    program = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    printed = re.search(r"^On the demo it prints:\n\n((?:    .*\n)+)", text, re.MULTILINE)[1]
    wanted = "".join(line[4:] for line in printed.splitlines(True))
    status, said, errors = drive(program, os.path.join(demo, "demo.etl"), "--symbols", os.path.join(demo, "symbols"))
    results.equal("the program prints what the page says", (status, said, errors), (0, wanted, ""))
    sink = made("kitchen-sink")
    status, said, errors = drive(program, sink)
    lost = [row["name"] for row in run_json("info", sink)["diagnostics"]]
    kinds = [kind for kind in ("heap", "virtualalloc", "pool") if f"{kind}: " in said]
    can = {question["name"]: question["can"] for question in run_json("info", sink)["questions"]}
    results.check("it names losses, and answers for each kind that there is", status == 0 and
                  all(f"careful: {name}" in said for name in lost) and kinds == [kind for kind in ("heap", "virtualalloc", "pool") if can[kind]],
                  status, said, errors, lost)
    status, said, errors = drive(program, os.path.join(WORK, "missing.etl"))
    results.check("an input that is missing is told", status == 1 and errors.startswith("etlheap: ") and not said, status, said, errors)


def check_statuses(results, text, demo):
    listed = [int(status) for status in re.findall(r"^\| (\d) \|", text, re.MULTILINE)]
    trace, lossy = os.path.join(demo, "demo.etl"), made("kitchen-sink")
    asked = [
        (0, "report", trace, "--format", "json"), (0, "check", trace, "--max-outstanding", "1G"),
        (1, "check", trace, "--max-outstanding", "1K"), (1, "check", trace, "--process", "nobody.exe", "--max-outstanding", "1G"),
        (2, "report", trace, "--sort", "banana"), (3, "report", os.path.join(WORK, "missing.etl")),
        (3, "report", trace, "-o", os.path.join(WORK, "no", "folder")),
        (4, "check", lossy, "--max-outstanding", "1G"), (4, "info", lossy, "--strict"), (0, "info", lossy),
    ]
    for wanted, *words in asked:
        done = subprocess.run([ETLHEAP, *words], capture_output=True, text=True, check=False)
        results.equal(f"{words[0]} {' '.join(words[2:])}: status {wanted}", done.returncode, wanted)
        if wanted in (2, 3):
            results.check("and one line that begins with etlheap", done.stderr.count("\n") == 1 and done.stderr.startswith("etlheap: "),
                          done.stderr)
    results.equal("the page lists these statuses", sorted(set(listed)), sorted({wanted for wanted, *_ in asked}))


def main():
    results = Results()
    demo = os.path.join(WORK, "demo")
    run("selftest", "--write-demo", demo)
    text = page()
    check_program(results, text, demo)
    check_statuses(results, text, demo)
    results.finish()


if __name__ == "__main__":
    main()
