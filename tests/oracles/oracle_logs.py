#!/usr/bin/env python3
"""Names in a trace cannot command a build server that shows the output.

Traces and PDBs whose names are commands of GitHub Actions, Azure Pipelines and TeamCity go through
every command, as text and as Markdown. The lines of standard output, standard error and side
outputs are searched as those servers search them. CSV is read back, and with --csv-safe no text
cell may begin as a formula does.
"""

import csv
import io
import os
import re
import subprocess

from oracle_support import ETLHEAP, WORK, Results

MAKE_TRACE = os.environ["MAKE_TRACE"]
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols" + os.path.splitext(MAKE_TRACE)[1])
FOLDER = os.path.join(WORK, "logs")
ON_WINDOWS = os.environ.get("PLATFORM") == "windows"  # file names cannot have a colon there

# Names of the trace, and of the PDB. What stands in their place is as long, so that no length changes.
NAMES = ("BatteryMeter.exe", "MemoryTestApp.exe", "ucrtbase.dll", "kernel32.dll", "ntdll.dll", "TESTBENCH", "etl_build", "etl_build.etl",
         "ParserTest", "RendererTest", "CacheTest", "A program")
FUNCTIONS = ("History::append", "Monitor::on_timer", "Monitor::run", "history.cpp", "monitor.cpp")
PREFIXES = {"github": "::add-mask::", "azure": "##vso[task.x]", "azure, older": "##[error]", "teamcity": "##TeamCity[", "formula": "=cmd|"}


def disguise(name, prefix):
    return (prefix + "x" * len(name))[:len(name)]


def replace(path, names, prefix):
    """Replaces names in a file, in both widths."""
    with open(path, "rb") as file:
        data = file.read()
    for name in names:
        for coding in ("ascii", "utf-16-le"):
            data = data.replace(name.encode(coding), disguise(name, prefix).encode(coding))
    with open(path, "wb") as file:
        file.write(data)


def make_world(prefix):
    """The demo, its mended version, a run with marks, and PDBs, all with names that are commands."""
    os.makedirs("symbols", exist_ok=True)
    for scenario, name in (("demo", "demo.etl"), ("battery-meter-fixed", "fixed.etl"), ("test-runner", "marks.etl")):
        subprocess.run([MAKE_TRACE, scenario, name], check=True, stdout=subprocess.DEVNULL)
        replace(name, NAMES, prefix)
    subprocess.run([MAKE_SYMBOLS, "symbols"], check=True)
    for name in os.listdir("symbols"):
        replace(os.path.join("symbols", name), FUNCTIONS, prefix)


REPORTS = ("", "--tree", "--tree=callers", "--suspects", "--churn", "--growth", "--at peak", "--map", "--unmatched", "--histogram size",
           "--group-by module", "--group-by site", "--group-by stack --frames 9", "--group-by process --format markdown", "--format markdown",
           "--suspects --format markdown", "--require-frame x* --process x*")
COMMANDS = (
    *(f"report demo.etl --symbols symbols --no-cull {more}" for more in REPORTS),
    "report fixed.etl --pairs --symbols symbols",
    "info demo.etl", "info marks.etl", "symbols demo.etl", "symbols demo.etl --symbols symbols", "dump demo.etl", "dump marks.etl",
    "allocations demo.etl --symbols symbols --top 40", "windows demo.etl", "windows demo.etl --find-growth --symbols symbols", "windows demo.etl --find-spikes",
    "windows marks.etl --at marks", "windows demo.etl --group-by module",
    "diff demo.etl fixed.etl --symbols symbols", "diff demo.etl fixed.etl --lifetimes", "diff fixed.etl demo.etl --format markdown",
    "trend demo.etl fixed.etl demo.etl --all", "trend demo.etl fixed.etl demo.etl --all --format markdown",
    "check demo.etl --symbols symbols --max-outstanding stack:1", "check demo.etl --max-outstanding process:1 --markdown side.md",
    "check demo.etl --symbols symbols --max-outstanding stack:1 --format markdown", "check marks.etl --max-outstanding heap/mark:1",
    "check demo.etl --baseline fixed.etl --max-growth stack:1", "check demo.etl --process no --max-outstanding 1",
    "export demo.etl --format wpaprofile -o view.wpaProfile",
)


def orders_in(text):
    """What a server takes for a command: GitHub at the start of a line, Azure and TeamCity anywhere in one."""
    lines = text.splitlines()  # at every line end of Unicode
    return [line for line in lines if line.lstrip().startswith("::") or re.search(r"##[a-z]*\[", line, re.IGNORECASE)]


def run_all(words, environment=None):
    """All that a command writes, and its status."""
    done = subprocess.run([ETLHEAP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, **(environment or {})}, timeout=60)
    text = done.stdout.decode()
    if os.path.exists("side.md"):
        with open("side.md", encoding="utf-8") as file:
            text += "\n" + file.read()
        os.remove("side.md")
    return text, done.returncode


def check_commands(results, who, prefix):
    told = re.compile(re.escape(prefix[:5]).replace("\\[", "\ufffd").replace("::", ":\\W*"))
    shown = 0
    for command in COMMANDS:
        text, status = run_all(command.split())
        found = orders_in(text)
        shown += bool(told.search(text))
        results.check(f"{who}: etlheap {command}", not found and status in (0, 1) and text != "", status, *found[:5])
    results.check(f"{who}: the names are shown", shown > len(COMMANDS) // 2, f"in {shown} of {len(COMMANDS)}")


def check_words(results):
    """Words of the command line, and names of files, in messages."""
    words = "::a ##vso[b ##[c"
    if not ON_WINDOWS:
        os.replace("demo.etl", words + ".etl")
    for line in (["report", words], [words], ["report", "demo.etl", words], ["report", words + ".etl", "--process", words],
                 ["report", words + ".etl", "--from", words], ["report", words + ".etl", "--" + words],
                 ["report", words + ".etl", "-o", words + "/none"], ["diff", words + ".etl", words + ".etl"],
                 ["store", words + ".etl", "--out-dir", "stores", "--progress", "always"],
                 ["store", "fixed.etl", words, "--out-dir", words], ["check", words + ".etl", "--max-outstanding", words],
                 ["check", words + ".etl", "--max-outstanding", "1", "--suppressions", words]):
        for environment in (None, {"LC_ALL": "C"}):
            text, _ = run_all(line, environment)
            results.check(f"words: etlheap {' '.join(line)} {environment or ''}", not orders_in(text) and text != "", *orders_in(text)[:5])


TABLES = ("report demo.etl --symbols symbols --no-cull", "report demo.etl --group-by module,process", "allocations demo.etl --symbols symbols",
          "windows demo.etl", "symbols demo.etl", "diff fixed.etl demo.etl", "trend demo.etl fixed.etl demo.etl", "export demo.etl --rows",
          "report demo.etl --suspects", "report demo.etl --map", "report demo.etl --histogram size --group-by process", "export demo.etl")


def is_number(cell):
    return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", cell) is not None


def check_tables(results):
    raw_formulas = 0
    for command in TABLES:
        raw, _ = run_all([*command.split(), "--format", "csv"])
        safe, status = run_all([*command.split(), "--format", "csv", "--csv-safe"])
        raw_rows, safe_rows = list(csv.reader(io.StringIO(raw))), list(csv.reader(io.StringIO(safe)))
        formulas = [cell for row in safe_rows for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not is_number(cell)]
        raw_formulas += sum(cell.startswith(("=", "+")) for row in raw_rows for cell in row)
        results.check(f"--csv-safe: {command}", status == 0 and not formulas and len(safe_rows) > 1, status, *formulas[:3])
        results.check(f"--csv-safe only adds apostrophes: {command}",
                      [[cell.lstrip("'") for cell in row] for row in safe_rows] == [[cell.lstrip("'") for cell in row] for row in raw_rows])
    results.check("without --csv-safe, cells are as in the trace", raw_formulas > 0)
    text, status = run_all(["report", "demo.etl", "--csv-safe"])
    results.check("--csv-safe is for CSV", status == 2 and "--csv-safe needs --format csv" in text, text)


def main():
    results = Results()
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    for who, prefix in PREFIXES.items():
        make_world(prefix)
        if who == "formula":
            check_tables(results)
        else:
            check_commands(results, who, prefix)
    check_words(results)
    results.finish()


if __name__ == "__main__":
    main()
