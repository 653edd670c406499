#!/usr/bin/env python3
"""No command writes over a file that it reads.

Every output of every command is given the name of every input, in other spellings and through
links. The options that name files are taken from --help: those that write are listed here, and all
others are inputs, so a new option is tried without being named. Each attempt must be refused with
status 2 before anything is written, and all files keep their bytes.
"""

import glob
import itertools
import os
import re
import shutil
import subprocess

from oracle_support import ETLHEAP, UNDER_WINE, WORK, Results

MAKE_TRACE = os.environ["MAKE_TRACE"]
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols" + os.path.splitext(MAKE_TRACE)[1])
FOLDER = os.path.join(WORK, "overwrites")
ON_WINDOWS = os.environ.get("PLATFORM") == "windows"  # Wine has no symbolic links; the C library appends by name

OUTPUTS = ("--output", "--junit", "--sarif", "--markdown", "--json")
LOG = ("// UMDH: version 10.0.1: Logtime 2024-02-29 12:26 - Machine=BOX - PID=77\n// Loaded modules:\n//     Base Size Module\n"
       "//  400000 10000 C:\\app\\app.exe\n//\n\n*- - - - Start of data for heap @ 1F0000 - - - -\n"
       "400 bytes + 8 at 1000 by BackTrace1\n\t401000\n\n*- - - - End of data for heap @ 1F0000 - - - -\n")
FILES = {"--anonymise": "a key of enough bytes",
         "--suppressions": "leak:Other\n", "--cull-list": "kernel32!\n", "--stack-tags": '<?xml version="1.0"?>\n<Tag Name=""/>\n',
         "--custom-heap": "01234567-89ab-cdef-0123-456789abcdef:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64)\n"}
COMMANDS = {"report": ["in.etl"], "info": ["in.etl"], "dump": ["in.etl"], "allocations": ["in.etl"], "windows": ["in.etl"], "symbols": ["in.etl"],
            "store": ["in.etl"], "export": ["in.etl"], "check": ["in.etl"], "diff": ["in.etl", "other.etl"], "merge": ["one.ehs", "two.ehs"],
            "trend": ["in.etl", "other.etl", "third.etl"]}
MORE = {"check": ["--max-outstanding", "1"], "export": ["--format", "folded"]}


def run(*words, **more):
    return subprocess.run([ETLHEAP, *words], stdin=more.pop("stdin", subprocess.DEVNULL), stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, check=False, timeout=60, **more)


def file_options(command):
    """The options of a command that take a file."""
    text = run(command, "--help").stdout.decode()
    found = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)[ =]\w*FILE\b(?!:LINE)", text, re.MULTILINE)
    return found + (["--custom-heap"] if "--custom-heap" in text else [])


def spellings(path):
    """Names of one file: its own, others of the path, a symbolic and a hard link."""
    yield path
    yield "./" + path
    yield os.path.join("folder", "..", path)
    yield os.path.abspath(path)
    link = f"hard-{os.path.basename(path)}"
    if not os.path.exists(link):
        os.link(path, link)
    yield link
    if not ON_WINDOWS:
        link = f"soft-{os.path.basename(path)}"
        if not os.path.lexists(link):
            os.symlink(os.path.abspath(path), link)
        yield link


def contents():
    bytes_of = {}
    for path in sorted(glob.glob("**", recursive=True)):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                bytes_of[path] = file.read()
    return bytes_of


def prepare():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(os.path.join(FOLDER, "folder"))
    os.chdir(FOLDER)
    for name in ("in.etl", "other.etl", "third.etl"):
        subprocess.run([MAKE_TRACE, "virtualalloc-exercise", name], check=True, stdout=subprocess.DEVNULL)
    os.makedirs("symbols")
    subprocess.run([MAKE_SYMBOLS, "symbols"], check=True)
    for name in ("one.ehs", "two.ehs"):
        run("store", "other.etl" if name == "two.ehs" else "in.etl", "--summary", "-o", name)
    run("store", "in.etl", "-o", "base.ehs")
    for option, content in FILES.items():
        with open("of" + option, "w", encoding="ascii") as file:
            file.write(content)
    with open("umdh.txt", "w", encoding="ascii") as file:
        file.write(LOG)
    shutil.copy("umdh.txt", "umdh2.txt")


def inputs_of(command, options):
    """(the file, the words that read it) for everything that a command reads."""
    words = [*COMMANDS[command], *MORE.get(command, [])]
    for path in COMMANDS[command]:
        yield path, words
    for option in options:
        if option in OUTPUTS:
            continue
        if option == "--baseline":
            yield "base.ehs", [*words, "--baseline", "base.ehs", "--max-growth", "1G"]
            continue
        path = "of" + option
        if not os.path.exists(path):
            with open(path, "w", encoding="ascii") as file:
                file.write("\n")
        keys = ["--group-by", "pool_tag"] if option == "--pool-tags" and command != "check" else []
        yield path, [*words, *keys, option, ("@" if option == "--custom-heap" else "") + path]
    if "--symbols" in run(command, "--help").stdout.decode():
        yield os.path.join("symbols", sorted(os.listdir("symbols"))[0]), [
            *words, "--symbols", "symbols", *(["--anonymise", "of--anonymise"] if command == "store" else [])]
    if command in ("report", "check", "export", "allocations"):
        yield "umdh.txt", ["umdh.txt", *MORE.get(command, [])]
    if command == "diff":
        yield "umdh.txt", ["umdh2.txt", "umdh.txt"]


def is_refused(done):
    return done.returncode == 2 and (b" would overwrite " in done.stderr or b"name the same file" in done.stderr)


def check_outputs(results):
    for command in COMMANDS:
        options = file_options(command)
        outputs = [option for option in options if option in OUTPUTS]
        inputs = list(inputs_of(command, options))
        for _ in [spellings(path) for path, _ in inputs]:
            list(_)
        before = contents()
        results.check(f"{command} has outputs and inputs", "--output" in outputs and len(inputs) > 1 and len(before) > 10, options)
        for path, words in inputs:
            wrong = []
            for output, name in itertools.product(outputs, spellings(path)):
                done = run(command, *words, output, name)
                if not is_refused(done):
                    wrong.append(f"{' '.join(words)} {output} {name}: {done.returncode} {done.stderr.decode()}")
            results.check(f"{command}: {', '.join(outputs)} refuse {path}", not wrong, *wrong[:4])
        results.check(f"{command}: all files are as before", contents() == before)


def check_pairs(results):
    """Two outputs of one check, which do or do not exist yet."""
    words = ["check", "in.etl", "--max-outstanding", "1"]
    with open("old.out", "w", encoding="ascii") as file:
        file.write("old\n")
    before = contents()
    for one, two in itertools.combinations(OUTPUTS, 2):
        good = all(is_refused(run(*words, one, first, two, second)) for first, second in
                   (("new.out", "new.out"), ("new.out", "./new.out"), ("folder/new.out", "folder/../folder/new.out"), ("old.out", "hard-old.out"),
                    *((("old.out", name)) for name in spellings("old.out"))))
        results.check(f"check: {one} and {two} are different files", good)
    done = run(*words, "--baseline", "in.etl", "--update-baseline", "--accept", "--max-growth", "1")
    results.check("check: an updated baseline is no trace and no input", done.returncode == 2, done.stderr)
    done = run("check", "base.ehs", "--max-growth", "1", "--baseline", "hard-base.ehs", "--update-baseline", "--accept")
    results.check("check: an updated baseline is not the input", is_refused(done), done.stderr)
    for name in ("hard-old.out", "soft-old.out"):
        before.setdefault(name, before["old.out"])
    results.check("pairs: all files are as before", {**before, **contents()} == before and set(contents()) <= set(before))


def run_onto(path, *words):
    """With standard output appended to a file. Wine does not know which file it is if a shell of Unix opened it, so
    there its own shell does."""
    if UNDER_WINE:
        program = "Z:" + os.path.join(os.path.abspath(os.environ["BUILD"]), "windows", "etlheap.exe").replace("/", "\\")
        line = " ".join([program, *words]) + f" >> {path}"
        return subprocess.run([os.path.join(os.path.dirname(ETLHEAP), "exe"), "cmd", "/c", line], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=60)
    with open(path, "ab") as file:
        return run(*words, stdout=file)


def check_streams(results):
    """Standard output and input that the shell opened."""
    before = contents()
    for command, inputs in COMMANDS.items():
        if command in ("store", "merge"):
            continue
        done = run_onto("in.etl", command, *inputs, *MORE.get(command, []))
        results.check(f"{command} >> in.etl", is_refused(done), done.stderr)
    for command in ("report", "store", "info") if not UNDER_WINE else ():
        with open("in.etl", "rb") as file:
            done = run(command, "-", "-o", "hard-in.etl", stdin=file)
        results.check(f"{command} - < in.etl -o in.etl", is_refused(done), done.stderr)
    done = run_onto("old.out", "check", "in.etl", "--max-outstanding", "1", "--json", "old.out")
    results.check("check --json old.out >> old.out", is_refused(done), done.stderr)
    results.check("streams: all files are as before", contents() == before)


def check_batch(results):
    """Stores of a batch that would lie where an input, another store or the index is."""
    def attempt(name, link, *words, folder):
        os.makedirs(folder, exist_ok=True)
        if link:
            how, source, target = link
            if how is os.symlink and ON_WINDOWS:
                return
            how(os.path.abspath(source), os.path.join(folder, target))
        before = contents()
        done = run("store", *words, "--out-dir", folder)
        results.check(f"store --out-dir: {name}", is_refused(done) and contents() == before, done.returncode, done.stderr)

    attempt("a link to the input", (os.symlink, "in.etl", "in.ehs"), "in.etl", "other.etl", folder="b1")
    attempt("a hard link to the input", (os.link, "in.etl", "in.ehs"), "in.etl", folder="b2")
    attempt("a link to another input", (os.symlink, "other.etl", "in.ehs"), "in.etl", "other.etl", folder="b3")
    attempt("an option's file", (os.link, "of--custom-heap", "in.ehs"), "in.etl", "--custom-heap", "@of--custom-heap", folder="b4")
    attempt("the index is the input", (os.link, "in.etl", "runs.ndjson"), "in.etl", folder="b5")
    os.makedirs("b6")
    shutil.copy("other.etl", "b6/other.ehs")
    attempt("a link to another store", (os.symlink, "b6/other.ehs", "in.ehs"), "in.etl", "other.etl", folder="b6")
    os.makedirs("b7")
    shutil.copy("base.ehs", "b7/base.ehs")
    attempt("its own summary", None, "b7/base.ehs", "--summary", folder="b7")
    done = run("store", "in.etl", "other.etl", "--out-dir", "b8", "--progress", "never")
    again = run("store", "in.etl", "other.etl", "--out-dir", "b8", "--progress", "never")
    results.check("store --out-dir: sound batches run, and run again", done.returncode == again.returncode == 0, done.stderr, again.stderr)


def main():
    results = Results()
    prepare()
    check_outputs(results)
    check_pairs(results)
    check_streams(results)
    check_batch(results)
    done = run("report", "in.etl", "--symbols", "symbols", "-o", "symbols/report.txt")
    again = run("report", "in.etl", "--symbols", "symbols", "-o", "symbols/report.txt")
    results.check("a report beside symbol files is written, and written again", done.returncode == again.returncode == 0, again.stderr)
    results.finish()


if __name__ == "__main__":
    main()
