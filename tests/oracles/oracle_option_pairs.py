#!/usr/bin/env python3
"""Do every two options of a command work together, or does one sentence refuse them and name both?

The options of `report` are all that its help lists; those of `windows`, `diff`, `trend` and `check` are
the ones that shape the output, and a few that decide what there is to shape. Each gets a value that
changes the report of a trace here; a new option without a value fails. Then each pair runs, and must
either

  * end with status 0 and a report that differs from the reports with only one of the two, or
  * end with status 2 and a message that names both options.

So an option that is silently ignored beside another is found. Options that never change a report
run all at once beside each of the others, and the report must not change. The long form also runs
rare options, each of these alone, pairs of options that both only select, and all values beside those.
"""

import itertools
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from oracle_support import ETLHEAP, LONG, WORK, Results, run

OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace")))
ENVIRONMENT = {**os.environ, "_NT_SYMBOL_PATH": "symbols", "COLUMNS": "200"}
PROVIDER = "3f471139-acb7-4a01-b7a7-ff5da4ba2d43"  # its events are not about memory

# What follows an option on the command line. Each word of a list takes part in all pairs. Of words in
# a tuple, one that shows an effect is enough: another may select the same as the other option.
VALUES = {
    "--from": [("3ms", "mark:7#3")], "--to": ["18ms"], "--at": ["peak", "18ms"], "--at-exit": ["freed"],
    "--kind": [("heap", "extent,virtualalloc")], "--process": [("ckb,batterymeter", "memorytestapp", "legacy32")],
    "--heap": [("0x1f2a0000000,0x1c0a5f70000", "0xb40000")], "--thread": [("2040,2044,2004,7012", "2016,2020")],
    "--type": [("AIFI", "AIFO")], "--impacting": ["transient"], "--lifetime": [("1ms..100ms", "2ms..")],
    "--size": [("100..6K", "..1M")], "--require-frame": [("ckb.exe!", "kernel32.dll!", "memorytestapp.exe!")],
    "--exclude-frame": [("ckb.exe!", "memorytestapp.exe!", "batterymeter.exe!")],
    "--fold-module": [("ckb.exe", "batterymeter", "memorytestapp", "*")],
    "--group-by": ["kind,process,site", ("process", "thread"), "function"], "--stack-tags": ["tags.xml"],
    "--sort": ["-count", "peak_size", "-growth_rate", "temporary_count", "freed_by_other_count"],
    "--columns": [("count,peak_size", "+temporary_count")],
    "--growth": [None], "--churn": [None], "--suspects": [None], "--spikes": [None], "--pairs": [None], "--unmatched": [None],
    "--histogram": ["size"], "--map": [None], "--map-unit": ["1M"], "--top": ["1"], "--skip": ["1"], "--tree": [None], "--tree-min": [("30", "0", "60")],
    "--root": [("kernel32!", "ntdll!", "ucrtbase!")], "--focus": [("kernel32!", "ntdll!", "ucrtbase!")],
    "--frames": ["1"], "--cull-frame": [("ckb.exe!", "batterymeter.exe!", "ntdll.dll!")],
    "--cull-list": [("cull.txt", "more.txt")],
    "--no-cull": [None], "--format": ["json", "csv", "markdown"], "--titles": [None],
    "--symbols": [("empty", "symbols")], "--no-symbols": [None], "--symbols-loose": [None],
    "--mark-event": [PROVIDER + "/7"], "--strict": [None],
    "--custom-heap": [PROVIDER + ":alloc=7(address@0:u64,size@8:u32),free=8(address@0:u64)"],
}

# Options that do not change a report, and why.
NEUTRAL = {
    "--output": (["-o", "report.txt"], "writes the same report to a file"),
    "--csv-safe": ([], "only names that a spreadsheet runs change, and no trace here has any"),
    "--pool-tags": ([], "only rows by pool_tag change; oracle_pool.py"),
    "--offline": (["--offline"], "no symbol server is asked here"),
    "--symbol-login": (["--symbol-login", "example.com=env:HOME"], "no symbol server is asked here"),
    "--download-limit": (["--download-limit", "1M"], "no symbol server is asked here"),
    "--download-time": (["--download-time", "5s"], "no symbol server is asked here"),
    "--private-redirects": (["--private-redirects"], "no symbol server is asked here"),
    "--jobs": (["-j", "2"], "a report does not depend on the number of threads"),
    "--memory": (["--memory", "1G"], "the limit is high enough"),
    "--unpack-limit": (["--unpack-limit", "1G"], "the trace is not packed"),
    "--together": (["--together"], "there is one input"),
    "--no-mmap": (["--no-mmap"], "the file is the same, however it is read"),
    "--progress": (["--progress", "never"], "progress goes to standard error"),
}

# Of other commands than report, only the long form runs these in pairs: they go the way of another
# setting.
RARE = ("--cull-list", "--no-cull", "--symbols-loose", "--sort peak_size", "--format markdown")

# Options that need another.
TITLES = {"--titles": ["--format", "csv"]}
COMPANIONS = {**TITLES, "--map-unit": ["--map"], "--tree-min": ["--tree"], "--root": ["--tree"], "--mark-event": ["--from", "mark:7"]}

# Pairs in which an option may change nothing, and why.
ABOUT_FRAMES = {"--symbols", "--no-symbols", "--symbols-loose", "--cull-frame", "--cull-list", "--no-cull", "--fold-module"}
EXCEPTIONS = [
    (ABOUT_FRAMES, {"--group-by process", "--histogram size"},
     "how frames are named and which are left out is set for all commands alike, also for those that show none"),
    ({"--frames"}, {"--format json", "--format csv", "--titles"},
     "formats for programs have whole stacks, and may follow a suggested command that has --frames"),
    ({"--fold-module"}, {"--stack-tags"}, "tags are those of the frames before they are folded"),
    ({"--growth"}, {"--sort -growth_rate"}, "an order by growth shows growth"),
    ({"--symbols", "--symbols-loose"}, {"--no-symbols"}, "--no-symbols is for not using what is set elsewhere"),
    ({"--churn"}, {"--sort temporary_count"}, "an order by churn shows churn"),
    ({"--frames", "--top"}, {"--format junit", "--format sarif", "--sarif-results", "--sarif-category"}, "formats for programs have their own lengths"),
    ({"--at-exit"}, {"--spikes"}, "no memory here that ends with its process is a spike; oracle_spikes.py compares both values"),
    ({"--sort -count"}, {"--format folded"}, "the lines of a flame graph have no order"),
]

CULLING = ["--cull-frame", "--cull-list", "--no-cull"]

class Command:
    """A command with the inputs that it is run on, words that are always there, and the values of its options."""

    def __init__(self, name, inputs, values, companions=None, always=()):
        self.name, self.inputs, self.values, self.always = name, inputs, values, list(always)
        self.companions = companions or {}


SHAPES = {"--top": ["1"], "--stack-tags": ["tags.xml"], "--sort": ["-count"], "--titles": [None],
          "--group-by": ["kind,process,module", "kind,process,frame,stack"], "--frames": ["1"]}
REPORT = Command("report", [("0.etl",), ("1.etl",), ("2.etl",)], VALUES, COMPANIONS)
OTHERS = [
    Command("windows", [("0.etl",), ("1.etl",), ("2.etl",)],
            {**SHAPES, "--every": [("4ms", "2s")], "--window": [("2ms..14ms", "2s..9s")], "--find-growth": [None], "--find-spikes": [None],
             "--format": ["json", "csv"], "--skip": ["1"]},
            {**TITLES, "--frames": ["--group-by", "kind,process,stack"]}),
    Command("diff", [("0.etl", "3.etl"), ("1.etl", "2.etl")],
            {**SHAPES, "--all": [None], "--churn": [None], "--lifetimes": [None], "--per-second": [None],
             "--sort": ["-count", "temporary_count"], "--format": ["json", "csv", "html", "folded", "markdown"]}, TITLES),
    Command("trend", [("3.etl", "0.etl", "2.etl"), ("2.etl", "1.etl", "1.etl")],
            {**SHAPES, "--all": [None], "--format": ["json", "csv", "markdown"]},
            {**TITLES, "--frames": ["--group-by", "kind,process,stack"]}),
    Command("check", [("0.etl",), ("1.etl",)],
            {"--frames": ["1"], "--top": ["1"], "--max-outstanding-count": ["stack:0"],
             "--max-peak": ["module:0"], "--max-allocations": ["function:0"], "--max-temporary": ["0"], "--max-alloc-rate": ["total:0"],
             "--sarif-results": ["1"], "--sarif-category": ["nightly"], "--format": ["json", "markdown", "junit", "sarif"]},
            {"--sarif-results": ["--format", "sarif"], "--sarif-category": ["--format", "sarif"]}, ["--max-outstanding", "1"]),
]
# Options of these commands that are left out: all commands cull and fold alike (oracle_frame_filters.py), the traces here start at one moment,
# and options of `check` that are about files beside the output, which this test does not read.
LEFT_OUT = [*CULLING, "--fold-module", "--in-order", "--junit", "--sarif", "--markdown", "--json", "--source-root"]


def options_of_help(command):
    """The names of the options by the headings of the help."""
    groups, heading = {}, ""
    for line in run(command.name, "--help").decode().splitlines():
        if re.fullmatch(r"[A-Z][a-z]+:", line):
            heading = line.rstrip(":")
        option = re.match(r"  (?:-[a-z], )?(--[a-z-]+)", line)
        if option and heading != "Examples":
            groups.setdefault(heading, []).append(option.group(1))
    return groups


class Setting:
    """An option with its values, and the words that it needs beside it."""

    def __init__(self, command, option, values):
        self.option = option
        self.companion = command.companions.get(option, [])
        values = values if isinstance(values, tuple) else (values,)
        self.ways = [[option] if value is None else [option, value] for value in values]
        self.name = " ".join(self.ways[0])

    def is_one_of(self, names):
        return self.option in names or self.name in names

    def is_named(self, message):
        companions = [word for word in self.companion if word.startswith("--")]
        return any(re.search(re.escape(name) + "(?![a-z-])", message) for name in [self.option, *companions])


def is_exception(option, other):
    return any(option.is_one_of(options) and other.is_one_of(others) for options, others, _ in EXCEPTIONS)


class Reports:
    """Runs the program, and keeps what it said."""

    def __init__(self, command):
        self.kept = {}
        self.command = command

    def run(self, inputs, words):
        """The exit status, the report, and the messages."""
        key = (*inputs, *words)
        if key not in self.kept:
            done = subprocess.run([ETLHEAP, self.command.name, *inputs, "-j1", *self.command.always, *words], close_fds=False, env=ENVIRONMENT,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.kept[key] = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
        return self.kept[key]

    def what_fails(self, first, second):
        """Why the pair is wrong, or None."""
        beside = first.companion if second.option not in first.companion else []
        beside = beside + (second.companion if first.option not in second.companion else [])
        ignored = {one.option for one, other in ((first, second), (second, first)) if not is_exception(one, other)}
        for inputs, one, other in itertools.product(self.command.inputs, first.ways, second.ways):
            status, report, message = self.run(inputs, [*beside, *one, *other])
            if status == 2:
                unnamed = [setting.option for setting in (first, second) if not setting.is_named(message)]
                return f"the message does not name {' and '.join(unnamed)}: {message.strip()}" if unnamed else None
            if status not in (0, 4) and (self.command.name != "check" or status != 1):
                return f"status {status}: {message.strip()}"
            if first.option in ignored and (status, report) != self.run(inputs, [*beside, *other])[:2]:
                ignored.remove(first.option)
            if second.option in ignored and (status, report) != self.run(inputs, [*beside, *one])[:2]:
                ignored.remove(second.option)
            if not ignored:
                return None
        return f"{' and '.join(sorted(ignored))} changes nothing"


def make_files():
    for name, seed in (("0.etl", "3"), ("3.etl", "4")):
        subprocess.run([MAKE_TRACE, "workload", name, "--seed", seed, "--events", "600", "--buffer-bytes", "8192", "--free-stacks"], check=True,
                       stdout=subprocess.DEVNULL)
    run("selftest", "--write-demo", "demo")
    for name, wanted in (("demo.etl", "1.etl"), ("fixed.etl", "2.etl"), ("symbols", "symbols")):
        os.rename(os.path.join("demo", name), wanted)
    os.mkdir("empty")
    with open("tags.xml", "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?><Tag Name=""><Tag Name="app"><Entrypoint Module="ckb.exe" Method="*"/>'
                   '<Entrypoint Module="BatteryMeter.exe" Method="*"/></Tag></Tag>')
    for name, modules in (("cull.txt", ["batterymeter", "ucrtbase"]), ("more.txt", ["ckb", "ntdll", "kernel32"])):
        with open(name, "w", encoding="utf-8") as file:
            file.write("".join(f"{module}*!\n" for module in modules))


def pairs_to_run(command, settings, shaping):
    """All pairs. For the long form: options that both only select, and further values of one beside those."""
    settings = [setting for setting in settings if LONG or command is REPORT or not setting.is_one_of(RARE)]
    first = {setting.option: setting for setting in reversed(settings)}
    for a, b in itertools.combinations(settings, 2):
        shapes = (a.option in shaping) + (b.option in shaping)
        are_first = first[a.option] is a and first[b.option] is b
        if a.option != b.option and (LONG or shapes == 2 or (shapes == 1 and are_first)):
            yield a, b


def check_pairs(results, reports, shaping):
    command = reports.command
    settings = [Setting(command, option, value) for option, values in command.values.items() for value in values]
    failures = {option: [] for option in command.values}
    pairs = list(pairs_to_run(command, settings, shaping))
    with ThreadPoolExecutor(2) as pool:
        for (a, b), failure in zip(pairs, pool.map(lambda pair: reports.what_fails(*pair), pairs)):
            failures[a.option] += [f"{a.name} {b.name}: {failure}"] if failure else []
    for option, lines in failures.items():
        results.check(f"{command.name} {option} and every later option work together, or are refused by both names", not lines, *lines)
    return settings


def check_companions(results, reports, settings):
    """An option that does nothing without another is refused without it. Marks are listed by `info`, too."""
    for setting in settings:
        if not setting.companion or setting.option == "--mark-event":
            continue
        status, _, message = reports.run(reports.command.inputs[0], setting.ways[0])
        results.check(f"{reports.command.name} {setting.name} alone is refused, and needs {setting.companion[0]}",
                      status == 2 and setting.option in message and setting.companion[0] in message, status, message)


def check_neutral(results, reports, settings):
    """Options that change no report, all of them or each beside every other option."""
    groups = [[option] for option in NEUTRAL] if LONG else [list(NEUTRAL)]
    for setting, group in itertools.product(settings, groups):
        words = [word for option in group for word in NEUTRAL[option][0]]
        alone = reports.run(("0.etl",), [*setting.companion, *setting.ways[0]])
        status, report, message = reports.run(("0.etl",), [*setting.companion, *setting.ways[0], *words])
        if "-o" in words and status != 2:
            with open("report.txt", "rb") as file:
                report = file.read()
        results.check(f"{setting.name} beside {', '.join(group)}: the report is the same",
                      (status, report) == alone[:2], status, message)


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        os.chdir(folder)
        make_files()
        groups = options_of_help(REPORT)
        results.equal("each option of the help has a value here",
                      sorted(option for options in groups.values() for option in options if option != "--help"),
                      sorted({*VALUES, *NEUTRAL}))
        reports = Reports(REPORT)
        settings = check_pairs(results, reports, groups["Output"])
        check_companions(results, reports, settings)
        check_neutral(results, reports, settings)
        for command in OTHERS:
            shaping = options_of_help(command)["Output"]
            results.equal(f"each option of {command.name} that shapes the output has a value here",
                          sorted(set(shaping) - {*command.values, *NEUTRAL, *LEFT_OUT}), [])
            reports = Reports(command)
            settings = check_pairs(results, reports, list(command.values))
            check_companions(results, reports, settings)
        os.chdir("/")
    results.finish()


main()
