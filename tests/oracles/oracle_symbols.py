#!/usr/bin/env python3
"""Compares names in answers with LLVM's, and tries every way to symbols.

make_symbol_trace writes traces whose stacks lie in real programs (beside TRACES) and
in programs that clang and lld make here. What `etlheap report` prints of each frame, its
function, file, line and inlined calls, must be what llvm-symbolizer says of the call
before the address; oracle_pdb.py explains the few addresses at which LLVM's reader is wrong.
Then the same trace is asked with symbols in a folder, a store, on a server, of another
build, damaged or missing, and with every option that goes by names.
"""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import oracle_pdb
from llvm_tools import tool
from oracle_pdb import SYMBOLS, WORK
from oracle_support import ETLHEAP, Results

OUT = os.environ.get("OUT", "build/check")
TESTS = os.path.dirname(os.path.abspath(__file__))
MAKE_TRACE = os.path.join(OUT, "make_symbol_trace")
FRAMES_PER_PROGRAM = 4000
FIRST_BASE = 0x7FF600000000


class Program:
    """A program file and its PDB, as traces tell of them."""

    count = 0

    def __init__(self, exe, pdb, base=None):
        self.exe, self.pdb = exe, pdb
        self.name = os.path.basename(exe)
        Program.count += 1
        self.base = base or FIRST_BASE + Program.count * 0x10000000
        with open(exe, "rb") as file:
            image = file.read()
        header, = struct.unpack_from("<I", image, 0x3C)
        self.stamp, = struct.unpack_from("<I", image, header + 8)
        self.size, = struct.unpack_from("<I", image, header + 24 + 56)
        record = image.find(b"RSDS")
        self.guid, self.age, self.pdb_name = None, 0, ""
        if record >= 0:
            parts = struct.unpack_from("<IHH8s", image, record + 4)
            tail = parts[3].hex()
            self.guid = f"{parts[0]:08x}-{parts[1]:04x}-{parts[2]:04x}-{tail[:4]}-{tail[4:]}"
            self.age, = struct.unpack_from("<I", image, record + 20)
            end = image.index(b"\0", record + 24)
            self.pdb_name = image[record + 24:end].decode()
        self.sections = oracle_pdb.sections_of(exe)

    @property
    def pdb_file(self):
        """The PDB's name without folders."""
        return self.pdb_name.replace("\\", "/").split("/")[-1]

    @property
    def key(self):
        return f"{self.guid.replace('-', '').upper()}{self.age:X}"

    def lines(self, with_pdb=True, age=None):
        """What make_symbol_trace is told."""
        text = ""
        if with_pdb and self.guid:
            text += f"pdb {self.guid} {self.age if age is None else age:x} {self.pdb_name}\n"
        path = "\\Device\\HarddiskVolume3\\" + self.name
        return text + f"module {path} {self.base:x} {self.size:x} {self.stamp:x}\n"

    def at(self, rva):
        """The address to return to, after a call whose last byte is at the RVA."""
        return self.base + rva + 1


def make_trace(name, *parts):
    path = os.path.join(WORK, name + ".etl")
    subprocess.run([MAKE_TRACE, path], input="".join(parts), text=True, check=True)
    return path


def memory(word, size, addresses):
    return f"{word} {size:x} " + " ".join(f"{a:x}" for a in addresses) + "\n"


def etlheap(*arguments, status=0, environment=None):
    """What the program prints; another exit status is an error."""
    variables = {k: v for k, v in os.environ.items() if k not in ("_NT_SYMBOL_PATH", "COLUMNS")}
    variables["XDG_CACHE_HOME"] = os.path.join(WORK, "cache")
    variables.update(environment or {})
    done = subprocess.run([ETLHEAP, *map(str, arguments)], capture_output=True, env=variables, check=False)
    if done.returncode != status:
        said = done.stderr.decode(errors="replace")
        raise RuntimeError(f"etlheap {arguments}: status {done.returncode}, wanted {status}: {said}")
    return done.stdout.decode()


def report(trace, *arguments, **options):
    return json.loads(etlheap("report", trace, "--format", "json", *arguments, **options))


def symbols(trace, *arguments, **options):
    return json.loads(etlheap("symbols", trace, "--format", "json", *arguments, **options))


def diagnostics(document):
    return {row["name"]: row["count"] for row in document["diagnostics"]}


def shown(frame):
    """A frame as short text."""
    if frame["module"] is None:
        return frame["address"]
    if frame["symbol"] is None:
        return f"{frame['module']}+{frame['offset']}"
    return f"{frame['module']}!{frame['symbol']}"


def stacks_by_size(document):
    """Frames of each row's stack, by the size of its one block."""
    frames = document["frames"]
    return {
        row["size"]: [frames[i] for i in document["stacks"][row["stack"]]]
        for row in document["rows"]
    }


def sites_by_size(document, key="site"):
    """{shown site: outstanding size}"""
    return {
        "none" if row[key] is None else shown(document["frames"][row[key]]): row["outstanding_size"]
        for row in document["rows"]
    }


# --- every frame against llvm-symbolizer ---------------------------------------------------


def random_stacks(program):
    """Stacks of addresses all over the code: {size: [rva, ...]}"""
    chosen = random.Random(7)
    code = [rva + i for rva, size, is_code in program.sections if is_code for i in range(0, size, 3)]
    wanted = chosen.sample(code, min(FRAMES_PER_PROGRAM, len(code)))
    stacks, size = {}, 100
    while wanted:
        depth = chosen.randrange(1, 30)
        stacks[size], wanted = wanted[:depth], wanted[depth:]
        size += 1
    return stacks


def expected_names(program):
    """By RVA: what LLVM says, or what its tables say where that is known to be wrong."""
    stacks = random_stacks(program)
    rvas = sorted({rva for stack in stacks.values() for rva in stack})
    ours = oracle_pdb.our_answers(program.pdb, rvas)
    short = oracle_pdb.llvm_answers(program.exe, rvas, "short")
    linkage = oracle_pdb.llvm_answers(program.exe, rvas, "linkage")
    tables = oracle_pdb.Tables(program.pdb, program.sections)
    names, explained, unexplained = {}, 0, []
    for answer, by_short, by_linkage in zip(ours, short, linkage, strict=True):
        if not oracle_pdb.is_equal(answer, by_short, by_linkage):
            explained += 1
            if not any(r(tables, answer, by_short, by_linkage) for r in oracle_pdb.RULES):
                unexplained.append(f"{answer.rva:#x}")
        names[answer.rva] = answer
    return stacks, names, explained, unexplained


def readable(names):
    """Public symbols as llvm-undname has them: the name and its parameters."""
    text = subprocess.run(
        [tool("llvm-undname"), "--no-access-specifier", "--no-calling-convention", "--no-member-type",
         "--no-return-type", "--no-variable-type"],
        input="\n".join(names), capture_output=True, text=True, check=False,
    ).stdout
    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    return {block[0]: block[1] for block in blocks if len(block) > 1}


def is_same(frame, wanted, is_public):
    """One frame of the program against one of LLVM."""
    line = wanted.line if wanted.file else 0
    if (frame["file"] or "", frame["line"] or 0) != (wanted.file, line):
        return False
    # Public symbols are compared by compare_publics.
    return bool(frame["symbol"]) if is_public else (frame["symbol"] or "") == wanted.name


def compare_frames(results, program):
    stacks, names, explained, unexplained = expected_names(program)
    results.check(f"{program.name}: LLVM agrees on {len(names) - explained} of {len(names)} addresses, "
                  "rules explain the others", not unexplained, *unexplained[:5])
    trace = make_trace(program.name, program.lines(), *(
        memory("alloc", size, map(program.at, rvas)) for size, rvas in stacks.items()))
    folder = os.path.dirname(program.pdb)
    document = report(trace, "--symbols", folder, "--no-cull")
    wrong, seen, inlined = [], 0, 0
    for size, frames in stacks_by_size(document).items():
        wanted = [(answer, i) for answer in map(names.get, stacks[size])
                  for i in range(len(answer.frames))]
        if len(wanted) != len(frames):
            wrong.append(f"stack {size}: {len(frames)} frames, wanted {len(wanted)}")
            continue
        for frame, (answer, i) in zip(frames, wanted):
            seen += 1
            is_inlined = i + 1 < len(answer.frames)
            inlined += is_inlined
            good = is_same(frame, answer.frames[i], answer.kind == "public" and not is_inlined)
            good &= frame.get("inline", False) == is_inlined
            good &= frame["offset"] == f"{answer.rva + 1:#x}"
            good &= frame.get("nearest", False) == (answer.kind == "public" and not is_inlined)
            if not good:
                wrong.append(f"{answer.rva:#x}: {frame} wanted {answer.frames[i]} {answer.kind}")
    results.check(f"{program.name}: {seen} frames of {len(stacks)} stacks, {inlined} inlined, have LLVM's names",
                  not wrong and seen >= len(names), *wrong[:5])
    compare_publics(results, program, stacks, names, document)
    return trace


def compare_publics(results, program, stacks, names, document):
    """Names of public symbols are undecorated; offsets from them are the address's."""
    rows = {answer.rva + 1: answer for answer in names.values() if answer.kind == "public"}
    undecorated = readable([row.function.name for row in rows.values()])
    wrong = []
    count = 0
    for frame in document["frames"]:
        answer = rows.get(int(frame["offset"], 16))
        if answer is None:
            continue
        count += 1
        name = answer.function.name
        wanted = undecorated.get(name) if name.startswith("?") else None
        if wanted is not None and not wanted.startswith(frame["symbol"] + "("):
            wrong.append(f"{name}: {frame['symbol']}, wanted {wanted}")
        elif not name.startswith("?") and frame["symbol"] not in name:
            wrong.append(f"{name}: {frame['symbol']}")
        if int(frame["displacement"], 16) != answer.rva + 1 - answer.start:
            wrong.append(f"{frame}, wanted {answer.rva + 1 - answer.start:#x}")
    results.check(f"{program.name}: {count} frames named after public symbols", not wrong, *wrong[:5])


# --- the ways to symbols --------------------------------------------------------------------


class Server:
    """The symbol server of the tests, over a folder."""

    def __init__(self, folder):
        self.log = os.path.join(WORK, "server.log")
        if os.path.exists(self.log):
            os.remove(self.log)
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(TESTS, "http_symbol_server.py"), folder, self.log],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip()}/ok"

    def requests(self):
        with open(self.log, encoding="utf-8") as log:
            return [line.split()[1] for line in log]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def fresh_folder(name):
    path = os.path.join(WORK, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def store_of(program, name):
    """A symbol store with the program's PDB."""
    store = fresh_folder(name)
    place = os.path.join(store, program.pdb_file, program.key)
    os.makedirs(place)
    shutil.copy(program.pdb, os.path.join(place, program.pdb_file))
    return store


def check_ways(results, program, trace):
    folder = fresh_folder("flat")
    shutil.copy(program.pdb, os.path.join(folder, program.pdb_file))
    wanted = report(trace, "--symbols", folder)
    named = sum(frame["symbol"] is not None for frame in wanted["frames"])
    results.check("a folder: frames have names, nothing is odd", named > 100 and not diagnostics(wanted),
                  named, diagnostics(wanted))

    store = store_of(program, "store")
    results.equal("a symbol store gives the same", report(trace, "--symbols", store), wanted)
    results.equal("_NT_SYMBOL_PATH gives the same",
                  report(trace, environment={"_NT_SYMBOL_PATH": f"{WORK}/nothing;SRV*{store}"})["rows"],
                  wanted["rows"])
    bare = report(trace, "--no-symbols", environment={"_NT_SYMBOL_PATH": store})
    results.equal("--no-symbols beats _NT_SYMBOL_PATH", {f["symbol"] for f in bare["frames"]}, {None})
    results.equal("--symbols beats _NT_SYMBOL_PATH",
                  report(trace, "--symbols", folder, environment={"_NT_SYMBOL_PATH": "/nowhere"}), wanted)

    server = Server(store)
    cache = fresh_folder("downloads")
    path = f"SRV*{cache}*{server.url}"
    offline = report(trace, "--symbols", path, "--offline")
    results.equal("--offline asks no server", (diagnostics(offline), os.path.exists(server.log)),
                  ({"symbol_missing": 1}, False))
    results.equal("a server gives the same", report(trace, "--symbols", path), wanted)
    asked = server.requests()
    results.equal("what was fetched is kept", report(trace, "--symbols", path, "--offline"), wanted)
    results.equal("and not fetched again", server.requests(), asked)
    server.close()

    missing = report(trace, "--symbols", fresh_folder("empty"))
    results.equal("a missing PDB is told", diagnostics(missing), {"symbol_missing": 1})
    results.equal("and frames are module+offset", missing, {**bare, "diagnostics": missing["diagnostics"]})
    return wanted


def check_ngen(results, program, *stacks):
    """The folder that wpr puts beside a trace is a symbol store of its own."""
    trace = make_trace("ngen", program.lines(), *stacks)
    wanted = report(trace, "--symbols", store_of(program, "ngen-store"))["frames"]
    shutil.copytree(os.path.join(WORK, "ngen-store"), trace + ".NGENPDB")
    results.equal("PDBs in TRACE.NGENPDB are found without a path", report(trace)["frames"], wanted)
    results.equal("and with one", report(trace, "--symbols", fresh_folder("ngen-empty"))["frames"], wanted)
    results.equal("not with --no-symbols", {f["symbol"] for f in report(trace, "--no-symbols")["frames"]}, {None})
    shutil.rmtree(trace + ".NGENPDB")
    results.equal("nor when it is gone", {f["symbol"] for f in report(trace)["frames"]}, {None})


def check_mismatch(results, program, stacks):
    """The trace names a build that the PDB is not."""
    trace = make_trace("mismatch", program.lines(age=program.age + 1), *stacks)
    folder = os.path.join(WORK, "flat")
    document = report(trace, "--symbols", folder)
    results.equal("another age is a mismatch", (diagnostics(document), {f["symbol"] for f in document["frames"]}),
                  ({"symbol_missing": 1, "symbol_mismatch": 1}, {None}))
    loose = report(trace, "--symbols", folder, "--symbols-loose")
    right = report(make_trace("right", program.lines(), *stacks), "--symbols", folder)
    results.equal("--symbols-loose takes it", loose["frames"], right["frames"])
    results.equal("and says so", diagnostics(loose).get("symbol_loose"), 1)
    row, = symbols(trace, "--symbols", folder)["modules"]
    results.equal("etlheap symbols shows what it is and what it should be",
                  (row["status"], row["expected"], program.key in row["note"]),
                  ("mismatch", f"{program.pdb_file}/{program.key[:32]}{program.age + 1:X}", True))


def check_damage(results, program, trace):
    """A PDB cut off in the middle."""
    folder = fresh_folder("cut")
    with open(program.pdb, "rb") as whole, open(os.path.join(folder, program.pdb_file), "wb") as cut:
        cut.write(whole.read()[: os.path.getsize(program.pdb) // 3])
    document = report(trace, "--symbols", folder)
    results.check("a damaged PDB is told", diagnostics(document).get("symbol_file_unusable", 0) > 0,
                  diagnostics(document))
    etlheap("report", trace, "--symbols", folder, "--strict", status=4)
    etlheap("symbols", trace, "--symbols", folder, "--strict", status=4)
    row, = symbols(trace, "--symbols", folder)["modules"]
    results.equal("etlheap symbols says that it is of no use", (row["status"], bool(row["note"])),
                  ("unusable", True))
    gate = ["check", trace, "--symbols", folder, "--max-growth", "1G", "--update-baseline", "--baseline"]
    new, old = os.path.join(folder, "new.ehs"), os.path.join(folder, "old.ehs")
    for more, status in (([], 4), (["--strict"], 4), (["--lenient"], 0)):
        etlheap(*gate, new, *more, status=status)
        results.check(f"an inconclusive check makes no baseline {more}", not os.path.exists(new))
    blocks = [memory("alloc", size, map(program.at, rvas))
              for size, rvas in random_stacks(program).items()]
    other = make_trace("larger", program.lines(), *blocks, *blocks)
    etlheap("store", other, "-o", old)
    before = read_bytes(old)
    for more, status in (([], 4), (["--strict"], 4), (["--lenient"], 0)):
        etlheap(*gate, old, *more, status=status)
        results.check(f"and replaces none {more}", read_bytes(old) == before)
    document = json.loads(etlheap(*gate, old, "--format", "json", status=4))
    rows = {subject["verdict"] for budget in document["budgets"] for subject in budget["subjects"]}
    results.equal("the verdict says so, in all rows", (document["verdict"], document["doubts"], rows),
                  ("inconclusive", ["symbols"], {"inconclusive"}))
    sound = ["check", trace, "--symbols", os.path.dirname(program.pdb), "--max-growth", "1G", "--update-baseline", "--baseline"]
    etlheap(*sound, old)
    results.check("a check that passes does", read_bytes(old) != before)
    etlheap(*sound, new)
    results.check("and makes one", os.path.exists(new))


def check_image(results, program, stacks):
    """The trace does not name the PDB; the program file does."""
    trace = make_trace("image", program.lines(with_pdb=False), *stacks)
    folder = fresh_folder("images")
    shutil.copy(program.exe, folder)
    alone = report(trace, "--symbols", folder)
    results.check("a program without PDB and exports is missing", diagnostics(alone) == {"symbol_missing": 1},
                  diagnostics(alone))
    shutil.copy(program.pdb, os.path.join(folder, program.pdb_file))
    document = report(trace, "--symbols", folder)
    right = report(make_trace("right", program.lines(), *stacks), "--symbols", folder)
    results.equal("a program file leads to its PDB", document["frames"], right["frames"])
    nothing = make_trace("nothing", f"module \\x\\{program.name} {program.base:x} {program.size:x} 0\n", *stacks)
    results.equal("a trace without identities is told", diagnostics(report(nothing, "--symbols", folder)),
                  {"symbol_unidentified": 1})


def check_exports(results, library):
    """Exports name what they can, and are marked."""
    start = functions_of(library)["get_memory"]
    stacks = memory("alloc", 0x1000, [library.at(start + 5)])
    trace = make_trace("exports", library.lines(), stacks)
    folder = fresh_folder("library")
    shutil.copy(library.exe, folder)
    document = report(trace, "--symbols", folder)
    frame, = document["frames"]
    results.equal("for want of a PDB an export names a frame",
                  (frame["symbol"], frame.get("nearest"), frame.get("displacement"), frame["line"]),
                  ("get_memory", True, "0x6", None))
    results.equal("and that is told", diagnostics(document), {"symbol_exports_only": 1})
    listed = symbols(trace, "--symbols", folder)
    results.equal("an export does not count as a name", (listed["modules"][0]["status"], listed["totals"]),
                  ("exports", [{"kind": "heap", "size": 0x1000, "named_size": 0}]))
    text = etlheap("report", trace, "--symbols", folder)
    results.check("text shows how far from it", f"get_memory+0x6 ({library.name})" in text, text)


# --- what goes by names -----------------------------------------------------------------------


def functions_of(program):
    """{name: RVA} of the procedures that LLVM lists."""
    text = oracle_pdb.run(tool("llvm-pdbutil"), "dump", "-symbols", program.pdb)
    found = re.findall(r"S_[GL]PROC32.*? `(.*)`\n.*addr = (\d+):(\d+), code size = (\d+)", text)
    return {
        name: program.sections[int(section) - 1][0] + int(offset)
        for name, section, offset, size in found if int(size) > 20
    }


def check_names(results, program):
    """Culling, required frames and sites by function, with the real allocator of the program."""
    at = functions_of(program)
    address = {name: [program.at(rva + k) for k in (8, 12)] for name, rva in at.items()}
    malloc, zmalloc, sdsnewlen = address["malloc"], address["zmalloc"], address["sdsnewlen"]
    create, main, lua = address["createObject"], address["main"], address["luaM_realloc_"]
    stacks = [
        memory("alloc", 0x100, [malloc[0], zmalloc[0], sdsnewlen[0], main[0]]),
        memory("alloc", 0x200, [malloc[0], zmalloc[0], sdsnewlen[1], main[0]]),
        memory("alloc", 0x400, [malloc[1], zmalloc[0], create[0], main[0]]),
        memory("alloc", 0x800, [malloc[1], lua[0], main[1]]),
        memory("alloc", 0x1000, [malloc[0]]),
        memory("freed", 0x2000, [malloc[1], zmalloc[1], main[1]]),
        memory("commit", 0x10000, [create[0], main[1]]),
        memory("alloc", 0x4000, [0x1234]),
    ]
    trace = make_trace("names", program.lines(), *stacks)
    path = ["--symbols", os.path.join(WORK, "flat"), "--kind", "heap"]
    n = program.name

    def sites(*arguments, key="site"):
        return sites_by_size(report(trace, *path, "--group-by", key, *arguments), key)

    results.equal("site: the caller of the runtime's allocator", sites(), {
        f"{n}!zmalloc": 0x700, f"{n}!luaM_realloc_": 0x800, f"{n}!malloc": 0x1000, "0x1234": 0x4000})
    results.equal("frame is the same", sites(key="frame"), sites())
    results.equal("--cull-frame by function", sites("--cull-frame", "zmalloc"), {
        f"{n}!sdsnewlen": 0x300, f"{n}!createObject": 0x400, f"{n}!main": 0,
        f"{n}!luaM_realloc_": 0x800, f"{n}!malloc": 0x1000, "0x1234": 0x4000})
    listed = os.path.join(WORK, "cull.txt")
    with open(listed, "w", encoding="utf-8") as file:
        file.write(f"# allocators\n{n.split('.')[0]}!z*alloc\n*!luaM_*\n")
    results.equal("--cull-list by module and function", sites("--cull-list", listed), {
        f"{n}!sdsnewlen": 0x300, f"{n}!createObject": 0x400, f"{n}!main": 0x800,
        f"{n}!malloc": 0x1000, "0x1234": 0x4000})
    results.equal("--no-cull", sites("--no-cull"), {f"{n}!malloc": 0x1F00, "0x1234": 0x4000})
    results.equal("the module of another name is not culled", sites("--cull-frame", "other!zmalloc"), sites())
    results.equal("--require-frame", sites("--require-frame", "sdsnewlen"), {f"{n}!zmalloc": 0x300})
    results.equal("--require-frame meets culled frames", sites("--require-frame", f"{n}!malloc"),
                  {k: v for k, v in sites().items() if k != "0x1234"})
    results.equal("--require-frame of nobody", sites("--require-frame", "nobody"), {})
    results.equal("without symbols sites are offsets", len(sites_by_size(
        report(trace, "--kind", "heap", "--group-by", "site"))), 3)

    document = report(trace, *path, "--group-by", "site", "--cull-frame", "zmalloc")
    row = next(r for r in document["rows"] if r["size"] == 0x300)
    frame = document["frames"][row["site"]]
    results.equal("a site of two places has the lower offset and no line",
                  (frame["offset"], frame["line"] is None or frame["line"] > 0),
                  (f"{at['sdsnewlen'] + 9:#x}", True))
    results.equal("symbols change no row of stacks",
                  sorted((r["size"], r["count"]) for r in report(trace, *path)["rows"]),
                  sorted((r["size"], r["count"]) for r in report(trace, "--kind", "heap")["rows"]))
    modules = report(trace, *path, "--group-by", "module")
    results.equal("modules", {r["module"]: r["outstanding_size"] for r in modules["rows"]},
                  {n: 0x1F00, None: 0x4000})
    check_text(results, trace, path, n)
    check_list(results, trace, program)
    return trace


def check_text(results, trace, path, name):
    text = etlheap("report", trace, *path, environment={"COLUMNS": "160"})
    results.check("text shows function, file and line", f"zmalloc ({name})  zmalloc.c:" in text, text)
    csv = etlheap("report", trace, *path, "--format", "csv")
    results.check("csv shows functions", f"{name}!zmalloc < {name}!sdsnewlen < {name}!main" in csv, csv)
    lines = [json.loads(line) for line in etlheap("export", trace, *path, "--format", "ndjson").splitlines()]
    named = [line for line in lines if line["function"] == "zmalloc"]
    results.check("a line of ndjson has module, function, file and line of its site", named and all(
        (line["module"], line["file"][-9:], line["stack"][0]) == (name, "zmalloc.c", f"{name}!zmalloc") and line["line"] > 0
        for line in named), lines[:2])
    tree = etlheap("report", trace, *path, "--tree", environment={"COLUMNS": "160"})
    results.check("a tree has one node a function", tree.count(f"main ({name})") == 1, tree)
    top = etlheap("report", trace, *path, "--top", "1", "--format", "json")
    results.equal("--top names what is left", [shown(f) for f in json.loads(top)["frames"]], ["0x1234"])


def check_list(results, trace, program):
    """etlheap symbols in numbers."""
    document = symbols(trace, "--symbols", os.path.join(WORK, "flat"))
    results.equal("etlheap symbols: schema", document["schema"], "etlheap-symbols-1")
    total = {"kind": "heap", "size": 0x5F00, "named_size": 0x1F00}
    commit = {"kind": "virtualalloc", "size": 0x10000, "named_size": 0x10000}
    results.equal("etlheap symbols: outstanding bytes with a named site", document["totals"], [total, commit])
    row, = document["modules"]
    results.equal("etlheap symbols: a module that was found", row, {
        "module": program.name, "path": "\\Device\\HarddiskVolume3\\" + program.name, "status": "found",
        "expected": f"{program.pdb_file}/{program.key}",
        "file": os.path.join(WORK, "flat", program.pdb_file), "note": None,
        "sites": [{"kind": "heap", "size": 0x1F00, "named_size": 0x1F00}, commit]})
    missing = symbols(trace)
    results.equal("etlheap symbols without a path lists what is needed",
                  [(r["status"], r["expected"], r["file"]) for r in missing["modules"]],
                  [("missing", f"{program.pdb_file}/{program.key}", None)])
    text = etlheap("symbols", trace, "--symbols", os.path.join(WORK, "flat"))
    results.check("etlheap symbols as text", "found" in text and program.pdb_file in text, text)
    text = etlheap("symbols", trace)
    results.check("etlheap symbols as text, of what is missing",
                  "missing" in text and f"{program.pdb_file}/{program.key}\n" in text, text)
    csv = etlheap("symbols", trace, "--format", "csv").splitlines()
    results.equal("etlheap symbols as csv", (len(csv), csv[0].split(",")[:3], csv[1].split(",")[:3]),
                  (2, ["module", "status", "expected"], [program.name, "missing", f"{program.pdb_file}/{program.key}"]))


def check_inlines(results, program):
    """Inlined calls are frames to culling and sites too."""
    rvas = [rva + i for rva, size, is_code in program.sections if is_code for i in range(0, size, 7)]
    answer = next(a for a in oracle_pdb.our_answers(program.pdb, rvas) if len(a.frames) >= 3)
    calls = [f"{program.name}!{frame.name}" for frame in answer.frames]
    trace = make_trace("inlined", program.lines(), memory("alloc", 0x100, [program.at(answer.rva)]))
    path = ["--symbols", os.path.dirname(program.pdb)]
    wanted = [(call, {} if i + 1 == len(calls) else {"inline": True}) for i, call in enumerate(calls)]

    def stack(*arguments):
        frames, = stacks_by_size(report(trace, *path, *arguments)).values()
        return [(shown(f), {k: f[k] for k in ("inline",) if k in f}) for f in frames]

    results.equal(f"a frame of {len(calls)} calls is as many frames", stack(), wanted)
    first = answer.frames[0].name
    results.equal("an inlined call can be culled", stack("--cull-frame", first), [
        call for i, call in enumerate(wanted) if i >= next(
            k for k, f in enumerate(answer.frames) if f.name != first)])
    results.equal("the last call of all is not", stack("--cull-frame", program.name + "!"), wanted)
    results.equal("the last call of all is not, by name", stack("--cull-frame", program.name + "!?*"), wanted[-1:])
    document = report(trace, *path, "--group-by", "site")
    results.equal("a site may be an inlined call", sites_by_size(document), {calls[0]: 0x100})
    results.equal("and can be required",
                  len(report(trace, *path, "--require-frame", answer.frames[1].name)["rows"]), 1)
    text = etlheap("report", trace, *path, environment={"COLUMNS": "200"})
    results.check("text marks it", "[inlined]" in text, text)
    listed = symbols(trace, *path)
    results.equal("and it is a named site", listed["totals"],
                  [{"kind": "heap", "size": 0x100, "named_size": 0x100}])


def check_types(results, program):
    """Allocated types, found outward through the stack."""
    tables = oracle_pdb.Tables(program.pdb, program.sections)
    sites = sorted(tables.alloc_sites.items())
    functions = functions_of(program)
    allocator, entry = functions["operator new"], functions["entry"]
    stacks, wanted = [], {}
    for i, (rva, name) in enumerate(sites):
        size = 0x1000 + i
        stacks.append(memory("alloc", size, [program.at(allocator + 3)] * (i % 7) + [program.at(rva), program.at(entry)]))
        wanted[name] = wanted.get(name, 0) + size
    stacks.append(memory("alloc", 0x77, [program.at(allocator + 3), program.at(entry)]))
    stacks.append(memory("alloc", 0x88, []))
    wanted["unknown"] = 0x77 + 0x88
    trace = make_trace("types", program.lines(), *stacks)
    path = ["--symbols", os.path.dirname(program.pdb)]

    def types(*arguments):
        rows = report(trace, *arguments, "--group-by", "type_name")["rows"]
        return {row["type_name"]: row["outstanding_size"] for row in rows}

    results.equal_maps(f"types of {len(sites)} allocation sites", types(*path), wanted)
    results.equal("types need no site", types(*path, "--no-cull"), wanted)
    results.equal("without symbols types are unknown", types(), {"unknown": sum(wanted.values())})
    text = etlheap("report", trace, *path, "--group-by", "type_name")
    results.check("types as text and csv", "zoo::animal" in text and "zoo::animal" in etlheap(
        "report", trace, *path, "--group-by", "type_name", "--format", "csv"), text)
    return trace


def check_stores(results, traces, path):
    """A store in the place of its trace gives the same names."""
    different = []
    for trace in traces:
        store = os.path.splitext(trace)[0] + ".ehs"
        etlheap("store", trace, "-o", store)
        for arguments in (["report"], ["report", "--group-by", "site"], ["report", "--group-by", "type_name"],
                          ["report", "--require-frame", "*main*"], ["symbols"]):
            said = [json.loads(etlheap(arguments[0], name, *arguments[1:], "--symbols", path, "--format", "json"))
                    for name in (trace, store)]
            if any(said[0][key] != said[1][key] for key in said[0] if key != "trace"):
                different.append(f"{store} {arguments}")
    results.check(f"stores of {len(traces)} traces are named as these are", not different, *different)


def check_jobs(results, traces, path):
    """The same bytes whatever the number of threads."""
    different = []
    for trace in traces:
        for arguments in (["report", "--format", "json"], ["report", "--format", "json", "--group-by", "site"],
                          ["report"], ["report", "--tree"], ["symbols", "--format", "json"]):
            said = {etlheap(arguments[0], trace, "--symbols", path, *arguments[1:], "-j", j) for j in (1, 2, 7)}
            if len(said) != 1:
                different.append(f"{trace} {arguments}")
    results.check(f"-j1, -j2 and -j7 print the same of {len(traces)} traces", not different, *different)


# --- all of it ----------------------------------------------------------------------------------


def made_program(name, source, target, compile_options, link_options):
    """A program made here."""
    return Program(*oracle_pdb.make_program(name, source, target, compile_options, link_options))


def real_program(exe, pdb, expected_pdb):
    folder = fresh_folder("real-" + exe)
    shutil.copy(os.path.join(SYMBOLS, exe), folder)
    shutil.copy(os.path.join(SYMBOLS, pdb), os.path.join(folder, expected_pdb))
    return Program(os.path.join(folder, exe), os.path.join(folder, expected_pdb))


def main():
    os.makedirs(WORK, exist_ok=True)
    results = Results()
    inline = made_program("inline-x64", "sample_inline.cpp", "x86_64", ["-O2"], [])
    alloc = made_program("alloc-x64", "sample_alloc.cpp", "x86_64", ["-O0"], ["/export:get_memory"])
    traces = [compare_frames(results, inline), compare_frames(results, alloc)]
    check_inlines(results, inline)
    types = check_types(results, alloc)
    check_exports(results, alloc)
    if not os.path.isdir(SYMBOLS):
        print("skipped: MSVC's PDBs: there is no folder symbols beside that of the real traces")
        check_jobs(results, traces, WORK)
        results.finish()
    programs = [real_program(*row) for row in oracle_pdb.REAL_PROGRAMS]
    real_traces = [compare_frames(results, program) for program in programs]
    server, trace = programs[0], real_traces[0]
    stacks = [memory("alloc", 0x100, [server.at(0x5000 + 64 * i) for i in range(20)])]
    check_ways(results, server, trace)
    check_ngen(results, server, *stacks)
    check_mismatch(results, server, stacks)
    check_damage(results, server, trace)
    check_image(results, server, stacks)
    names = check_names(results, server)
    path = f"{os.path.join(WORK, 'flat')};{WORK}"
    check_jobs(results, [trace, names, *traces], path)
    check_stores(results, [trace, names, types, *traces], path)
    results.finish()


if __name__ == "__main__":
    main()
