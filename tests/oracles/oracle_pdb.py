#!/usr/bin/env python3
"""Compares the PDB reader with LLVM's on real and on freshly made programs.

Addresses all over the code of each program go to make_symbolize and to
llvm-symbolizer, and function, file, line and the chain of inlined calls must be
equal at every one. llvm-symbolizer is asked twice: "short" names are those of
procedures, "linkage" names those of public symbols, which stand in where an
address has no procedure.

LLVM's reader has known gaps. A difference passes only when a rule below explains
it from a third source, the tables that llvm-pdbutil prints; how often each rule
was needed is part of the result. Public symbols, the file's identity and the
types of allocation sites are compared with llvm-pdbutil alone.

The programs: three of MSVC 2010 with their PDBs, found beside TRACES, and those
that clang and lld make here of tests/oracles/sample_*.cpp.
"""

import bisect
import concurrent.futures
import json
import os
import re
import shutil
import struct
import subprocess
from collections import Counter, defaultdict

from llvm_tools import tool
from oracle_support import LONG, TRACES, WORK, Results

OUT = os.environ.get("OUT", "build/check")
SYMBOLS = os.path.join(TRACES, "..", "symbols")
TESTS = os.path.dirname(os.path.abspath(__file__))
SYMBOLIZE = os.path.join(OUT, "make_symbolize")
# Of a program made here, and of a real one, whose code is alike over and over.
ADDRESSES = (63000, 63000) if LONG else (7000, 3500)

IMAGE_SCN_CNT_CODE = 0x20
REAL_PROGRAMS = [
    # program, PDB, the name that the program's debug record gives the PDB
    ("redis-server.exe", "redis-server.pdb", "redis-server.pdb"),
    ("redis-cli.exe", "redis-cli.pdb", "redis-cli.pdb"),
    ("redis-benchmark-x86.exe", "redis-benchmark-x86.pdb", "redis-benchmark.pdb"),
]
MADE_PROGRAMS = [
    # name, source, target, compiler's and linker's own options
    ("inline-x64", "sample_inline.cpp", "x86_64", ["-O2"], []),
    ("inline-x86", "sample_inline.cpp", "i686", ["-O2"], ["/opt:icf", "/pdbpagesize:8192"]),
    ("alloc-x64", "sample_alloc.cpp", "x86_64", ["-O0"], []),
]


def run(*command, **options):
    """What the program prints; an error of it ends the test."""
    done = subprocess.run(command, capture_output=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode("utf-8", errors="replace")


class Frame:
    """One level of calls at an address."""

    def __init__(self, name, file, line):
        self.name, self.file, self.line = name, file, int(line)

    def __eq__(self, other):
        return (self.name, self.file, self.line) == (other.name, other.file, other.line)

    def __repr__(self):
        return f"{self.name} {self.file}:{self.line}"


class Answer:
    """What make_symbolize says of one address."""

    def __init__(self, block):
        lines = block.split("\n")
        rva, self.kind, start, size = lines[0].split(" ")
        self.rva, self.start, self.size = int(rva, 16), int(start, 16), int(size)
        self.type = next((line[4:] for line in lines if line.startswith("new ")), None)
        self.frames = [Frame(*line[3:].split("\t")) for line in lines if line.startswith("at ")]

    @property
    def function(self):
        return self.frames[-1]


def our_answers(pdb, addresses):
    text = run(SYMBOLIZE, pdb, input="".join(f"{a:#x}\n" for a in addresses).encode())
    return [Answer(block) for block in text.split("\n\n") if block]


def llvm_answers(exe, addresses, names):
    inlining = "--inlining" if names == "short" else "--no-inlines"
    text = run(
        tool("llvm-symbolizer"), f"--obj={exe}", "--relative-address", inlining, "--no-demangle",
        f"--functions={names}", "--output-style=JSON",
        input="".join(f"{a:#x}\n" for a in addresses).encode(),
    )
    return [
        [Frame(f["FunctionName"], f["FileName"], f["Line"]) for f in json.loads(line)["Symbol"]]
        for line in text.splitlines()
    ]


# --- llvm-pdbutil's tables ----------------------------------------------------------------


class LineTable:
    """One lines subsection: a run of code, and per source file its lines."""

    def __init__(self, end):
        self.end = end
        self.blocks = []

    def all(self):
        return sorted((at, line, file) for file, lines in self.blocks for at, line in lines)


class Tables:
    """Sections, public symbols, lines and allocation sites of a PDB."""

    def __init__(self, pdb, sections):
        self.sections = sections
        self.publics = self.read_publics(run(tool("llvm-pdbutil"), "dump", "-publics", pdb))
        self.public_rvas = defaultdict(set)
        for rva, _, name in self.publics:
            self.public_rvas[name].add(rva)
        # _name@8 is what the x86 linker calls what records call name.
        self.plain_names = {re.sub(r"^_|@\d+$", "", name) for name in self.public_rvas}
        self.plain_names.update(self.public_rvas)
        self.lines = self.read_lines(run(tool("llvm-pdbutil"), "dump", "-l", pdb))
        self.starts = sorted(self.lines)
        self.alloc_sites = self.read_alloc_sites(run(tool("llvm-pdbutil"), "dump", "-symbols", pdb))
        self.summary = run(tool("llvm-pdbutil"), "dump", "-summary", pdb)

    def rva(self, section, offset):
        return self.sections[section - 1][0] + offset if section else 0

    def section_of(self, rva):
        return bisect.bisect_right([start for start, _, _ in self.sections], rva)

    def read_publics(self, text):
        found = re.findall(r"S_PUB32 .*? `(.*)`\n\s+flags = (.*), addr = (\d+):(\d+)", text)
        rows = []
        for name, flags, section, offset in found:
            if 0 < int(section) <= len(self.sections):
                rows.append((self.rva(int(section), int(offset)), int("function" in flags), name))
        return rows

    def read_lines(self, text):
        tables, table, file = {}, None, ""
        for line in text.splitlines():
            head = re.match(r"  (\d{4}):([0-9A-F]{8})-([0-9A-F]{8}), line/addr entries", line)
            if head:
                section, begin, end = int(head[1]), int(head[2], 16), int(head[3], 16)
                key = self.rva(section, begin)
                table = tables.setdefault(key, LineTable(self.rva(section, end)))
                table.blocks.append((file, []))
                base = self.rva(section, 0)
            elif re.match(r"\S.* \((MD5|SHA-1|SHA-256|no checksum)", line):
                file = re.sub(r" \((MD5|SHA-1|SHA-256|no checksum).*", "", line)
            elif table and line.startswith("  "):
                for number, at in re.findall(r"(\d+) ([0-9A-F]{8})", line):
                    table.blocks[-1][1].append((base + int(at, 16), int(number)))
        return tables

    def read_alloc_sites(self, text):
        found = re.findall(
            r"S_HEAPALLOCSITE .*\n\s+type = \S+ \((.*)\), addr = (\d+):(\d+) call size = (\d+)", text
        )
        return {
            self.rva(int(section), int(offset)) + int(size) - 1: name
            for name, section, offset, size in found
        }

    def lines_at(self, rva):
        """The lines subsection that covers an address, or None."""
        i = bisect.bisect_right(self.starts, rva)
        table = self.lines[self.starts[i - 1]] if i else None
        return table if table and rva < table.end else None


# --- the rules ------------------------------------------------------------------------------


def only_line_differs(ours, llvm):
    return (
        len(ours.frames) == len(llvm)
        and ours.frames[:-1] == llvm[:-1]
        and ours.function.name == llvm[-1].name
    )


def thunk_records_are_not_read(tables, ours, short, linkage):
    """LLVM knows no thunks: it has no name, or the public symbol before."""
    return ours.kind == "thunk" and not short[-1].name and ours.function.name in tables.plain_names


def public_of_another_section(tables, ours, short, linkage):
    """LLVM takes the last public symbol of the section before."""
    return ours.kind == "none" and all(
        tables.section_of(rva) < tables.section_of(ours.rva)
        for rva in tables.public_rvas[linkage[-1].name]
    )


def first_of_two_lines(tables, ours, short, linkage):
    """Of two lines that begin at the very address LLVM takes the first, which
    has no code; at the next address it takes the second, too."""
    table = tables.lines_at(ours.rva)
    here = [line for at, line, _ in table.all() if at == ours.rva] if table else []
    return (
        ours.kind == "procedure"
        and only_line_differs(ours, short)
        and len(here) > 1
        and ours.function.line == [line for _, lines in table.blocks for at, line in lines
                                   if at == ours.rva][-1]
        and short[-1].line in here
    )


def code_before_first_line(tables, ours, short, linkage):
    """LLVM lets a subsection's first line begin where the subsection does."""
    table = tables.lines_at(ours.rva)
    return (
        table is not None
        and ours.function.line == 0
        and ours.rva < table.all()[0][0]
        and short[-1].line == table.all()[0][1]
    )


def lines_of_several_files(tables, ours, short, linkage):
    """LLVM searches the lines of several files as if they were one sorted list."""
    table = tables.lines_at(ours.rva)
    if table is None or len(table.blocks) < 2 or not only_line_differs(ours, short):
        return False
    _, line, file = [row for row in table.all() if row[0] <= ours.rva][-1]
    return (ours.function.file, ours.function.line) == (file, line)


RULES = [
    thunk_records_are_not_read,
    public_of_another_section,
    first_of_two_lines,
    code_before_first_line,
    lines_of_several_files,
]


# --- the comparison --------------------------------------------------------------------------


def is_equal(ours, short, linkage):
    if ours.kind == "procedure":
        return ours.frames == short
    return not short[-1].name and ours.frames == linkage


def sections_of(exe):
    """(rva, size, whether it is code with bytes in the file) of each section."""
    with open(exe, "rb") as file:
        image = file.read()
    header = struct.unpack_from("<I", image, 0x3C)[0]
    count, = struct.unpack_from("<H", image, header + 6)
    optional_size, = struct.unpack_from("<H", image, header + 20)
    rows = []
    for i in range(count):
        at = header + 24 + optional_size + 40 * i
        size, rva, raw_size = struct.unpack_from("<III", image, at + 8)
        is_code = struct.unpack_from("<I", image, at + 36)[0] & IMAGE_SCN_CNT_CODE
        rows.append((rva, size, is_code and raw_size > 0))
    return rows


def addresses_of(sections, count):
    """So many addresses at an even distance over all code."""
    code = [(rva, size) for rva, size, is_code in sections if is_code]
    step = max(1, sum(size for _, size in code) // count)
    # Functions begin at even addresses: an odd step meets all distances from there.
    step -= step % 2 == 0
    return [at for rva, size in code for at in range(rva, rva + size, step)]


def compare(results, name, exe, pdb, count, least):
    """All comparisons for one program at `count` addresses; `least` says what must have occurred."""
    sections = sections_of(exe)
    addresses = addresses_of(sections, count)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = [pool.submit(llvm_answers, exe, addresses, kind) for kind in ("short", "linkage")]
        ours = our_answers(pdb, addresses)
        tables = Tables(pdb, sections)
        short, linkage = [future.result() for future in waiting]

    counts, unexplained = Counter(), []
    for answer, by_short, by_linkage in zip(ours, short, linkage, strict=True):
        if is_equal(answer, by_short, by_linkage):
            counts["inlined" if len(answer.frames) > 1 else answer.kind] += 1
            continue
        rule = next((r for r in RULES if r(tables, answer, by_short, by_linkage)), None)
        if rule:
            counts[rule.__name__] += 1
        else:
            unexplained.append(f"{answer.rva:#x}: {answer.frames} / {by_short} / {by_linkage}")
    said = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    results.check(f"{name}: {len(addresses)} addresses: {said}", not unexplained,
                  f"{len(unexplained)} differences without a rule", *unexplained[:10])
    short_of = {k: (counts[k], n) for k, n in {"addresses": 0, **least}.items() if counts[k] < n}
    results.check(f"{name}: enough of each kind was compared", not short_of, short_of)
    explained = sum(counts[rule.__name__] for rule in RULES)
    results.check(f"{name}: rules explain few addresses", explained * 25 < len(addresses), explained)
    compare_tables(results, name, pdb, tables)


def compare_tables(results, name, pdb, tables):
    """What llvm-pdbutil prints whole."""
    guid, age, _ = run(SYMBOLIZE, pdb, "info").split()
    wanted = re.search(r"GUID: \{(.*)\}", tables.summary)[1].lower()
    results.equal(f"{name}: identity", (guid, age),
                  (wanted, re.search(r"Age: (\d+)", tables.summary)[1]))

    rows = [line.split(" ", 2) for line in run(SYMBOLIZE, pdb, "publics").splitlines()]
    ours = [(int(rva, 16), int(function), name) for rva, function, name in rows if rva != "0x0"]
    results.check(f"{name}: {len(ours)} public symbols",
                  sorted(ours) == sorted(tables.publics) and len(ours) > 0,
                  sorted(set(ours) ^ set(tables.publics))[:5])
    results.check(f"{name}: public symbols come by address", ours == sorted(ours, key=lambda p: p[0]))

    sites = sorted(tables.alloc_sites)
    if name.startswith("alloc"):
        results.check(f"{name}: has allocation sites", len(sites) >= 15, len(sites))
    elif not sites:
        return
    found = our_answers(pdb, sites)
    results.equal_maps(f"{name}: types of {len(sites)} allocation sites",
                       {a.rva: a.type for a in found}, tables.alloc_sites)


def make_program(name, source, target, compile_options, link_options):
    """Compiles and links one of the samples; paths of the program and its PDB."""
    base = os.path.join(WORK, name)
    run(tool("clang"), f"--target={target}-pc-windows-msvc", "-x", "c++", "-std=c++17", "-g",
        "-gcodeview", "-ffreestanding", "-fno-exceptions", "-mno-stack-arg-probe",
        *compile_options, "-c", os.path.join(TESTS, source), "-o", base + ".obj")
    run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:entry", "/subsystem:console",
        *link_options, f"/out:{base}.exe", base + ".obj")
    return base + ".exe", base + ".pdb"


def main():
    os.makedirs(WORK, exist_ok=True)
    results = Results()
    for name, source, *options in MADE_PROGRAMS:
        exe, pdb = make_program(name, source, *options)
        if "inline" in name:
            least = {"procedure": 1300, "inlined": 6000}
        else:
            least = {"procedure": 300}
        compare(results, name, exe, pdb, ADDRESSES[0], least)
    if not os.path.isdir(SYMBOLS):
        print("skipped: MSVC's PDBs: there is no folder symbols beside that of the real traces")
        results.finish()
    for exe, pdb, expected_pdb in REAL_PROGRAMS:
        # The symbolizer looks for the PDB by its recorded name beside the program.
        placed_exe, placed_pdb = os.path.join(WORK, exe), os.path.join(WORK, expected_pdb)
        shutil.copy(os.path.join(SYMBOLS, exe), placed_exe)
        shutil.copy(os.path.join(SYMBOLS, pdb), placed_pdb)
        compare(results, exe, placed_exe, placed_pdb, ADDRESSES[1], {"procedure": 1500, "public": 150})
    results.finish()


if __name__ == "__main__":
    main()
