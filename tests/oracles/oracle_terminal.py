#!/usr/bin/env python3
"""Does text fit the terminal, and is it whole where there is none?

The program runs on a pseudo-terminal of 80 and of 120 columns, and into a pipe, on built
traces and on one of a program with the long names of templates, which clang and lld make
here. On a terminal no line is longer than the screen, every number is one that JSON or the
pipe has, the site of each row has its function's name in full, and columns that are left
out are named. A terminal with TERM=dumb or LC_ALL=C gets ASCII without codes. A pipe gets
every column and every name.
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata

from oracle_pdb import make_program
from oracle_support import ETLHEAP, WORK, Results, why_no_terminal
from oracle_symbols import Program, make_trace, memory

MAKE_SCENARIO = os.environ.get("MAKE_TRACE", "build/check/make_trace")
CODES = re.compile(r"\x1b\[[0-9;]*m")
NOTE = "Columns that do not fit: "
COMMAND = "More: etlheap "
VERDICTS = ("PASS: ", "FAIL: ", "INCONCLUSIVE: ", "ACCEPTED: ")


def environment(**more):
    unset = ("COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM", "_NT_SYMBOL_PATH")
    kept = {key: value for key, value in os.environ.items() if key not in unset}
    return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm", **more}


def command(arguments):
    """Run where the files lie: their names are short then, as a person types them."""
    prefix = WORK + os.sep
    words = [str(word) for word in arguments]
    return [os.path.abspath(ETLHEAP), *(word.replace(prefix, "") for word in words)]


def on_terminal(columns, *arguments, **more):
    """What the program writes to a terminal of this width, without returns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(command(arguments), cwd=WORK, stdin=subprocess.DEVNULL, stdout=slave,
                          stderr=subprocess.PIPE, env=environment(**more)) as process:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        os.close(master)
    return said.decode().replace("\r\n", "\n")


def in_pipe_bytes(*arguments, **more):
    done = subprocess.run(command(arguments), cwd=WORK, stdin=subprocess.DEVNULL, capture_output=True,
                          env=environment(**more), check=False)
    return done.stdout


def in_pipe(*arguments, **more):
    return in_pipe_bytes(*arguments, **more).decode()


def width_of(line):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide


def numbers_of(text):
    """Sizes, counts, shares, times and addresses; names have none of a digit at a word's begin."""
    words = re.findall(r"(?<![\w.+-])[-+]?[0-9][\w.,]*(?: ?[KMGT]?i?B\b)?", text)
    return {word.rstrip(",.") for word in words}


def scenario(name):
    path = os.path.join(WORK, f"terminal_{name}.etl")
    subprocess.run([MAKE_SCENARIO, name, path], check=True, stdout=subprocess.DEVNULL)
    return path


def template_trace():
    """Blocks of each function of the sample; the trace and the options that give it names."""
    os.makedirs(os.path.join(WORK, "symbols", "x64"), exist_ok=True)
    program = Program(*make_program(os.path.join("symbols", "x64", "template"), "sample_template.cpp", "x86_64", [], []))
    (rva, size, _), = [section for section in program.sections if section[2]]
    blocks = [memory("alloc", 0x100 + i, [program.at(rva + i), program.at(rva + size - 1)])
              for i in range(0, size - 1, 8)]
    return make_trace("terminal_template", program.lines(), *blocks), ("--symbols", os.path.dirname(program.pdb))


HALF_LIST = re.compile(r"<\u2026(?!>)|(?<!<)\u2026>")


def commands(demo, other, template):
    trace, path = template
    names = (trace, *path)
    return {
        "report": ("report", demo),
        "report by module": ("report", demo, "--group-by", "module,thread"),
        "report of transients": ("report", demo, "--impacting", "transient"),
        "report of names": ("report", *names),
        "a tree of names": ("report", *names, "--tree"),
        "sites": ("report", *names, "--group-by", "process,site"),
        "allocations": ("allocations", demo, "--top", "30"),
        "allocations with names": ("allocations", *names, "--top", "30"),
        "windows": ("windows", demo),
        "windows by stack": ("windows", *names, "--group-by", "stack", "--every", "100us"),
        "growth": ("windows", demo, "--find-growth"),
        "diff": ("diff", demo, other),
        "trend": ("trend", demo, other, demo, "--in-order"),
        "check": ("check", demo, "--max-outstanding", "stack:1K"),
        "check with names": ("check", *names, "--max-outstanding", "stack:1", "--max-outstanding", "1K"),
        "info": ("info", demo),
        "symbols": ("symbols", *names),
    }


def check_fit(results, name, arguments):
    piped = in_pipe(*arguments)
    for columns in (80, 120):
        shown = CODES.sub("", on_terminal(columns, *arguments))
        # A command is there to be pasted, which takes one line of whatever length; so is a verdict to be found.
        long = [line for line in shown.splitlines() if width_of(line) > columns and not line.startswith((COMMAND, *VERDICTS))]
        results.check(f"{name}: lines fit {columns} columns", shown and not long, *long[:4])
        titles = [line for line in piped.splitlines() if NOTE in line]
        results.check(f"{name}: a pipe leaves nothing out", not titles and "\u2026" not in piped, *titles)
        torn = [line for line in shown.splitlines() if HALF_LIST.search(line)]
        results.check(f"{name}: no list of template arguments is torn at {columns} columns", not torn, *torn[:4])
        # A time or size is a whole one, whatever columns there are.
        unknown = sorted(numbers_of(shown) - numbers_of(piped))
        results.check(f"{name}: no number is cut at {columns} columns", not unknown, *unknown[:8])


def check_notes(results, demo):
    """What is missing is named; what is there is not."""
    for name, arguments in (("windows", ("windows", demo)), ("allocations", ("allocations", demo, "--top", "3"))):
        shown = " ".join(on_terminal(80, *arguments).split())
        named = CODES.sub("", shown).split(NOTE)[1:]
        results.check(f"{name}: the columns that do not fit are named once", len(named) == 1, shown[-300:])
        wide = CODES.sub("", on_terminal(300, *arguments))
        results.check(f"{name}: all fit a wide terminal", NOTE not in wide)
    shown = CODES.sub("", on_terminal(80, "allocations", demo, "--top", "3"))
    head = shown.splitlines()[0]
    omitted = re.split(r"[,;] ", " ".join(shown[shown.index(NOTE) + len(NOTE):].split()))[:-1]
    results.equal("titles that are left out are not shown", [t for t in omitted if t in head], [])
    results.equal("all columns are shown or named", len(omitted) + len(re.split(r"  +", head.strip())), 13)
    plain = on_terminal(80, "report", demo, "--top", "3")
    results.check("a report's title is broken, not cut", "Kind / Process / Handle," in plain and "Type / Stack" in plain, plain)


def check_names(results, template):
    trace, path = template
    document = json.loads(in_pipe("report", trace, *path, "--format", "json"))
    frames = document["frames"]
    sites = [frames[document["stacks"][row["stack"]][0]] for row in document["rows"]]
    symbols = {site["symbol"] for site in sites if site["symbol"]}
    longest = max(symbols, key=len)
    results.check("the sample has long names", len(longest) > 120 and len(symbols) >= 5, symbols)
    piped = in_pipe("report", trace, *path, "--top", "100000").splitlines()
    missing = [s for s in symbols if not any(line.strip().startswith(f"{s} (") or line.strip().startswith(f"{s}+0x")
                                             for line in piped)]
    results.equal("a pipe has every name whole, at the start of a line", missing, [])
    shown = CODES.sub("", on_terminal(80, "report", trace, *path, "--top", "100000")).splitlines()
    results.check("template arguments are left out", any(
        line.strip().startswith("rendering::text::open_hash_map<\u2026>::emplace (template.exe)") for line in shown), *shown[:40])
    results.check("short names are whole", any(
        line.strip().startswith("rendering::text::glyph_cache::rasterize (template.exe)") for line in shown), *shown[:40])
    results.check("the program's own names come first", not any("template.exe!" in line for line in shown + piped))
    ascii_lines = on_terminal(80, "report", trace, *path, LC_ALL="C").splitlines()
    results.check("ASCII has dots", any("open_hash_map<...>::emplace" in line for line in ascii_lines), *ascii_lines[:40])


def check_plain(results, demo):
    coloured = on_terminal(80, "report", demo)
    results.check("a terminal has colour", "\x1b[1m" in coloured)
    results.check("NO_COLOR takes it away", "\x1b" not in on_terminal(80, "report", demo, NO_COLOR="1"))
    for name, settings in (("TERM=dumb", {"TERM": "dumb"}), ("LC_ALL=C", {"LC_ALL": "C"})):
        for command in ("report", "windows", "allocations", "info", "dump"):
            shown = on_terminal(80, command, demo, **settings)
            results.check(f"{name}: {command} is ASCII without codes", shown.isascii() and "\x1b" not in shown and shown)
    curve = on_terminal(80, "windows", demo)
    results.check("a terminal with Unicode has curves", "\u2588" in curve)
    data = on_terminal(80, "report", demo, "--format", "json", LC_ALL="C")
    results.equal("JSON is the same for every terminal", data, in_pipe("report", demo, "--format", "json"))


def check_binary(results, demo):
    """Bytes that a terminal cannot show are not written to one."""
    store = os.path.join(WORK, "terminal.ehs")
    subprocess.run([ETLHEAP, "store", demo, "-o", store], check=True)
    for arguments in (("export", demo, "--format", "pprof"), ("export", demo, "--format", "parquet", "-o", "-"),
                      ("store", demo, "-o", "-"), ("merge", store, "-o", "-")):
        shown = on_terminal(80, *arguments)
        results.equal(f"{arguments[0]} writes nothing binary to a terminal", shown, "")
        results.check(f"{arguments[0]} writes into a pipe", len(in_pipe_bytes(*arguments)) > 100)
    results.check("text formats are written", on_terminal(80, "export", demo, "--format", "folded"))
    head = in_pipe("info", store).splitlines()[0]
    size = os.path.getsize(store)
    results.check("info says both sizes of a store", re.search(
        r"\(([\d.]+) KiB, a store of 704 KiB of trace\)$", head) and
        abs(float(re.search(r"([\d.]+) KiB,", head)[1]) - size / 1024) < 0.1, head, size)


def check_folders(results, template):
    """Symbols are found below a folder; one that is not there has a name."""
    trace, (_, folder) = template
    def said(*arguments):
        done = subprocess.run([ETLHEAP, "report", trace, *arguments], capture_output=True, env=environment(), check=False)
        return done.stdout.decode(), done.stderr.decode()
    shown, notes = said("--symbols", os.path.dirname(os.path.abspath(folder)))
    results.check("a PDB in a folder below is found", "glyph_cache::rasterize (template.exe)" in shown, shown)
    results.equal("nothing is missing then", notes, "")
    shown, notes = said("--symbols", f"/no/such;{folder};cache*/no/cache;/nor/this")
    results.check("a PDB beside missing folders is found", "glyph_cache::rasterize (template.exe)" in shown, shown)
    results.equal("missing folders are named", re.findall(r"'([^']*)'", notes), ["/no/such", "/nor/this"])


def main():
    results = Results()
    reason = why_no_terminal()
    if reason:
        results.skip("text on a terminal", reason)
        results.finish()
    demo, other = scenario("demo"), scenario("heap-exercise")
    template = template_trace()
    for name, arguments in commands(demo, other, template).items():
        check_fit(results, name, arguments)
    check_notes(results, demo)
    check_names(results, template)
    check_plain(results, demo)
    check_binary(results, demo)
    check_folders(results, template)
    results.finish()


if __name__ == "__main__":
    main()
