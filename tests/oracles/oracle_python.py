#!/usr/bin/env python3
"""Does the Python module say what the program says, and is it what its page says?

The truth is the command line's JSON, and the compiler:

    structures      ctypes' offsets and sizes beside those that a C program prints
    functions       all stable, with as many parameters as their prototypes
    documents       whole, beside those of the program, of a trace, a store and a zip
    docs/python.md  its programs as they stand there, and what they print
    the wheel       built, and installed from the file in an environment without anything else

The library, its headers and the module are installed by `make install-library` and used from there.
"""

import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging"))

import interface
from oracle_support import ETLHEAP, WORK, Results, run, run_json

OUT = os.environ.get("OUT", "build/check")
BUILD = os.environ.get("BUILD", "build")
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace")))
TREE = os.path.join(WORK, "python-tree")
MODULES = os.path.join(TREE, "share", "etlheap", "python")
PROGRAM = re.compile(r'^```python\n(""" ?(\w+\.py) - .*?)^```\n\n```text\n(.*?)^```$', re.M | re.S)


def install():
    """Installs the library, as it was built: other tests run the program meanwhile."""
    built = [word for name in ("libetlheap.a", "libetlheap.so", "etlheap") if os.path.exists(f"{OUT}/{name}") for word in ("-o", f"{OUT}/{name}")]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    command = ["make", *built, "--no-print-directory", f"BUILD={BUILD}", f"VARIANT={os.path.basename(OUT)}", f"OUT={OUT}"]
    done = subprocess.run([*command, "install-library", f"prefix={TREE}", "DESTDIR="], capture_output=True, text=True, env=environment)
    return done.returncode == 0, done.stderr[-600:]


# --- structures and functions ------------------------------------------------------------------


def declared_members(structure):
    return [name for name, _ in structure._fields_ if name != "room"]


def layout_source(structures, constants):
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <etlheap/formats/formats.h>", "int main(void)", "{"]
    for name, structure in structures.items():
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for member in declared_members(structure):
            lines.append(f'    printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));')
    lines += [f'    printf("{name} %d\\n", (int){name});' for name in constants]
    return "\n".join([*lines, "    return 0;", "}", ""])


def layouts_of_compiler(etlheap):
    source, program = os.path.join(WORK, "layout.c"), os.path.join(WORK, "layout")
    with open(source, "w", encoding="utf-8") as file:
        file.write(layout_source(etlheap.STRUCTURES, etlheap.CONSTANTS))
    compiler = os.environ.get("CC", "gcc").split()
    subprocess.run([*compiler, "-std=c11", "-I", os.path.join(TREE, "include"), "-o", program, source], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[0]: [int(word) for word in words[1:]] for words in map(str.split, lines)}


def layouts_of_ctypes(etlheap):
    layouts = {name: [value] for name, value in etlheap.CONSTANTS.items()}
    for name, structure in etlheap.STRUCTURES.items():
        layouts[name] = [ctypes.sizeof(structure)]
        for member in declared_members(structure):
            field = getattr(structure, member)
            layouts[f"{name}.{member}"] = [field.offset, field.size]
    return layouts


def check_layouts(results, etlheap):
    wanted, got = layouts_of_compiler(etlheap), layouts_of_ctypes(etlheap)
    for name in etlheap.BEGINNINGS:
        wanted[name] = got[name] = []
    results.equal_maps("structures and constants are those of the headers", got, wanted)
    results.check("all of them were looked at", len(wanted) > 200, len(wanted))
    shifted = dict(got, **{"etlheap_query.kinds": [got["etlheap_query.kinds"][0] + 4, 4]})
    results.check("a shifted member would be seen", shifted != wanted)
    for name in etlheap.BEGINNINGS - {"etlheap_answer"}:
        results.check(f"of {name} the beginning is declared", ctypes.sizeof(etlheap.STRUCTURES[name]) <= layouts_of_compiler(etlheap)[name][0])
    results.check("there is room for a longer answer", ctypes.sizeof(etlheap.STRUCTURES["etlheap_answer"]) >= 4096)
    closed = [name for name, structure in etlheap.STRUCTURES.items() if name not in etlheap.BEGINNINGS]
    members = members_of_headers(closed)
    results.equal_maps("and no member is missing", {name: declared_members(etlheap.STRUCTURES[name]) for name in closed}, members)


def members_of_headers(names):
    """{structure: names of its members}, as the preprocessor leaves them."""
    lines = interface.declarations(interface.own_text(os.path.join(TREE, "include", "etlheap")))
    found = {}
    for line in lines:
        match = re.match(r"(?:typedef )?struct (\w+) \{ (.*) \} ?\w*;$", line)
        if match and match.group(1) in names:
            members = [part.strip() for part in match.group(2).split(";") if part.strip()]
            found[match.group(1)] = [name for member in members for name in names_of_member(member)]
    return found


def names_of_member(text):
    if "(*" in text:
        return re.findall(r"\(\*(\w+)\)", text)
    return [re.sub(r"\[.*\]", "", part).split()[-1].lstrip("*") for part in text.split(",")]


def parameters_of(prototype):
    inside = prototype[prototype.index("(") + 1 : prototype.rindex(")")]
    return 0 if inside == "void" else inside.count(",") + 1


def check_functions(results, etlheap):
    headers = sorted(glob.glob(os.path.join(TREE, "include", "etlheap", "*", "*.h")))
    tiers, _ = interface.tiers(interface.read_all(headers))
    results.equal("the module calls stable functions alone", [name for name in etlheap._FUNCTIONS if tiers.get(name) != "stable"], [])
    with open("packaging/python/etlheap.py", encoding="utf-8") as file:
        named = set(re.findall(r'\betl(?:heap)?_[a-z_]+(?=[("])', file.read()))
    results.equal("and declares all that it calls", sorted(name for name in named & set(tiers) if name not in etlheap._FUNCTIONS), [])
    prototypes = {}
    for line in interface.declarations(interface.own_text(os.path.join(TREE, "include", "etlheap"))):
        match = re.match(r"(?!typedef)[^(]*?(etl\w+)\(", line)
        if match:
            prototypes[match.group(1)] = line
    counts = {name: len(parameters) + (returned == "status") for name, (returned, parameters) in etlheap._FUNCTIONS.items()}
    results.equal_maps("with as many parameters", counts, {name: parameters_of(prototypes[name]) for name in counts})
    statuses = {name for name, (returned, _) in etlheap._FUNCTIONS.items() if returned == "status"}
    results.equal("and checks each status", {name for name in counts if prototypes[name].startswith("etl_status ")}, statuses)


# --- documents ---------------------------------------------------------------------------------


def check_reports(results, etlheap, recording, path, symbols):
    """Whole documents: rows, frames, totals, window and diagnostics."""
    Query = etlheap.Query
    asked = [
        (Query(), []),
        (Query(kinds="heap", group_by="process,site", sort="size"), ["--kind", "heap", "--group-by", "process,site", "--sort", "size"]),
        (Query(kinds=["heap", "virtualalloc"], processes="battery*"), ["--kind", "heap,virtualalloc", "--process", "battery*"]),
        (Query(group_by=["kind", "module"], from_ns=3 * 10**9, to_ns=9 * 10**9), ["--group-by", "kind,module", "--from", "3s", "--to", "9s"]),
        (Query(types="AIFI", cull=False), ["--type", "AIFI", "--no-cull"]),
        (Query(cull_frames="*!Monitor::*", at_exit="freed"), ["--cull-frame", "*!Monitor::*", "--at-exit", "freed"]),
        (Query(require_frames="Ui::*", size_min_bytes=100), ["--require-frame", "Ui::*", "--size", "100.."]),
        (Query(group_by="kind,process", growth=True), ["--group-by", "kind,process", "--columns", "+growth_rate,+steadiness"]),
        (Query(group_by="kind,process,function", sort="count"), ["--group-by", "kind,process,function", "--sort", "count"]),
        (Query(group_by="free_site", sort="count"), ["--group-by", "free_site", "--sort", "count"]),
    ]
    for query, words in asked:
        name = f"{os.path.basename(path)}: report {' '.join(words)}"
        wanted = run_json("report", path, "--symbols", symbols, *words)
        results.equal_maps(name, recording.report(query).document, wanted)
    wanted = run_json("report", path, "--symbols", symbols, "--top", "3")
    results.equal_maps(f"{os.path.basename(path)}: the first rows", recording.report(top=3).document, wanted)
    results.equal("and what the recording is", recording.trace, wanted["trace"])


def check_more(results, etlheap, recording, path, symbols):
    Query = etlheap.Query
    wanted = run_json("windows", path, "--symbols", symbols, "--every", "2s")
    results.equal_maps("windows of equal length", recording.windows(every_ns=2 * 10**9).document, wanted)
    wanted = run_json("windows", path, "--symbols", symbols, "--every", "5s", "--group-by", "kind,site", "--at-exit", "leaked", "--top", "4")
    got = recording.windows(Query(group_by="kind,site", at_exit="leaked"), every_ns=5 * 10**9, top=4)
    results.equal_maps("windows by site", got.document, wanted)
    two = recording.windows(Query(kinds="heap"), ranges_ns=[(0, 2 * 10**9), (10**9, 4 * 10**9)])
    results.equal("windows that overlap", [(each["from_ns"], each["to_ns"]) for each in two.windows], [(0, 2 * 10**9), (10**9, 4 * 10**9)])
    cut = recording.windows(Query(from_ns=0, to_ns=10**10), cuts_ns=[4 * 10**9])
    results.equal("windows between moments", [each["to_ns"] for each in cut.windows], [4 * 10**9, 10**10])
    wanted = run_json("allocations", path, "--symbols", symbols, "--sort", "size", "--top", "20")
    results.equal_maps("the largest allocations", recording.allocations(sort="size", top=20).document, wanted)
    wanted = run_json("allocations", path, "--symbols", symbols, "--kind", "heap", "--from", "1s", "--to", "2s")
    results.equal_maps("the allocations of a second", recording.allocations(Query(kinds="heap", from_ns=10**9, to_ns=2 * 10**9)).document, wanted)


def verdict_of(words):
    done = subprocess.run([ETLHEAP, "check", *words, "--format", "json"], capture_output=True, text=True)
    return interface_free(__import__("json").loads(done.stdout))


def interface_free(document):
    """Without the commands that it suggests, which name options of the one who asked."""
    return {key: value for key, value in document.items() if key not in ("summary", "commands")}


def check_gates(results, etlheap, recording, other, paths, symbols):
    Limit, Query = etlheap.Limit, etlheap.Query
    path, base = paths
    cases = [
        ([Limit(65536, scope="process")], {}, ["--max-outstanding", "process:65536"], False),
        ([Limit(1 << 30)], {}, ["--max-outstanding", "1G"], True),
        ([Limit(10, scope="stack", count=True, kinds="heap")], {}, ["--max-outstanding-count", "heap/stack:10"], False),
        ([Limit(100, scope="module", name="BatteryMeter.exe", quantity="peak")], {}, ["--max-peak", "module:BatteryMeter.exe:100"], False),
        ([Limit(4096, growth=True, baseline_percent=5)], {"baseline": other}, ["--max-growth", "4096+5%", "--baseline", base], False),
    ]
    for limits, more, words, passes in cases:
        verdict = recording.check(limits, Query(), **more)
        wanted = verdict_of([path, "--symbols", symbols, *words])
        results.equal_maps(f"check {' '.join(words[:2])}", interface_free(verdict.document), wanted)
        results.equal("and it passes or not", bool(verdict), passes)
    known = os.path.join(WORK, "known.supp")
    with open(known, "w", encoding="utf-8") as file:
        file.write("leak:History::append\n")
    verdict = recording.check(Limit(1000), Query(kinds="heap"), suppressions=[known])
    wanted = verdict_of([path, "--symbols", symbols, "--kind", "heap", "--max-outstanding", "1000", "--suppressions", known])
    results.equal_maps("check with suppressions", interface_free(verdict.document), wanted)
    results.equal("suppressed memory passes", verdict.verdict, "pass")
    results.equal("a process that is missing fails", recording.check(Limit(1 << 30), required_processes="gone.exe").verdict, "fail")


def check_diffs(results, etlheap, recording, other, paths, symbols):
    for query, words in [(etlheap.Query(), []), (etlheap.Query(kinds="heap", group_by="process,site", sort="count"), ["--kind", "heap", "--group-by", "process,site", "--sort", "count"])]:
        wanted = run_json("diff", paths[1], paths[0], "--symbols", symbols, *words)
        results.equal_maps(f"diff {' '.join(words)}", etlheap.diff(other, recording, query).document, wanted)
    wanted = run_json("diff", paths[1], paths[0], "--symbols", symbols, "--top", "2", "--per-second")
    results.equal_maps("diff per second", etlheap.diff(other, recording, top=2, per_second=True).document, wanted)
    wanted = run_json("diff", paths[0], paths[0], "--symbols", symbols, "--all")
    results.equal_maps("a run with itself", etlheap.diff(recording, recording, keep_unchanged=True).document, wanted)


# --- tables, errors, threads ---------------------------------------------------------------------


def check_unknown(results, etlheap, handles):
    """Handles have no sizes: unknown is None, and <NA> in a table."""
    query = etlheap.Query(kinds="handle", group_by="process,stack", sort="outstanding_count")
    with etlheap.open(handles) as recording:
        report = recording.report(query)
        results.equal_maps("handles", report.document, run_json("report", handles, "--kind", "handle", "--group-by", "process,stack", "--sort", "outstanding_count", "--no-symbols"))
        results.check("sizes of handles are None", report.rows and all(row["outstanding_size"] is None for row in report.rows))
        results.check("and counts are numbers", any(row["outstanding_count"] > 0 for row in report.rows))
        columns = report.columns()
        results.equal("columns are as long as the rows", {len(cells) for cells in columns.values()}, {len(report.rows)})
        results.check("a stack is a list of names", any(isinstance(cell, list) and all(isinstance(name, str) for name in cell) for cell in columns["stack"]))


TABLES = """
import sys, etlheap
with etlheap.open(sys.argv[1]) as recording:
    report = recording.report(etlheap.Query(kinds=["heap", "handle"], group_by="kind,process,site", sort="outstanding_count"))
rows = report.rows
if sys.argv[2] == "pandas":
    table = report.to_pandas()
    assert str(table["outstanding_count"].dtype) == "Int64", table.dtypes
    cells = [None if cell is __import__("pandas").NA else cell for cell in table["outstanding_size"]]
else:
    cells = report.to_arrow().column("outstanding_size").to_pylist()
assert cells == [row["outstanding_size"] for row in rows] and None in cells and rows, cells
print(len(rows))
"""


def python_with(module):
    """A Python that has the module, or None: a version manager may hide Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


def check_tables(results, handles):
    for module in ("pandas", "pyarrow"):
        python = python_with(module)
        if python is None:
            results.skip(f"tables of {module}", f"no {module} here (package python3-{module})")
            continue
        done = subprocess.run([python, "-c", TABLES, handles, module], capture_output=True, text=True, env=environment())
        results.check(f"{module}: integers stay integers, and unknown stays unknown", done.returncode == 0 and int(done.stdout or 0) > 1, done.stderr[-600:])


def raised(etlheap, call):
    try:
        call()
    except etlheap.Error as error:
        return error
    return None


def check_errors(results, etlheap, recording, path):
    text = os.path.join(WORK, "text.etl")
    with open(text, "w", encoding="utf-8") as file:
        file.write("no trace, but words\n" * 99)
    for file in (text, os.path.join(WORK, "absent.etl"), WORK):
        error = raised(etlheap, lambda file=file: etlheap.open(file))
        said = subprocess.run([ETLHEAP, "report", file], capture_output=True, text=True).stderr
        results.check(f"{os.path.basename(file)}: the sentence of the program", error is not None and f"{file}: {error.message}" in said, error, said)
    error = raised(etlheap, lambda: etlheap.open([path, path]))
    results.check("a file that is given twice is refused", error is not None and error.code == 3, error)
    for name, call, words in [
        ("kind", lambda: recording.report(etlheap.Query(kinds="heep")), "virtualalloc"),
        ("key", lambda: recording.report(etlheap.Query(group_by="proces")), "process"),
        ("measure", lambda: recording.report(etlheap.Query(sort="weight")), "outstanding_size"),
        ("scope", lambda: recording.check(etlheap.Limit(1, scope="planet")), "process, heap"),
        ("quantity", lambda: recording.check(etlheap.Limit(1, quantity="most")), "peak"),
        ("column", lambda: recording.allocations(sort="weight"), "alloc_time"),
        ("exit", lambda: recording.report(etlheap.Query(at_exit="maybe")), "freed"),
        ("window", lambda: recording.windows(etlheap.Query(types="AIFO"), every_ns=1), ""),
    ]:
        error = raised(etlheap, call)
        results.check(f"an unknown {name} is refused, with what is known", error is not None and words in str(error), error)
    closed = etlheap.open(path)
    closed.close()
    closed.close()
    error = raised(etlheap, closed.report)
    results.check("a closed recording answers nothing", error is not None and "closed" in str(error), error)
    error = raised(etlheap, lambda: etlheap.open(path, memory=1 << 16))
    results.check("a limit of memory holds", error is not None and error.code == 4, error)


def check_threads(results, etlheap, recording):
    query = etlheap.Query(group_by="kind,process,site")
    wanted, got = recording.report(query).document, []
    threads = [threading.Thread(target=lambda: got.append(recording.report(query).document)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.check("threads that ask at once get the same answer", got == [wanted] * 8)


def check_other_version(results):
    """A library of another version is refused before anything of it is called."""
    source, library = os.path.join(WORK, "other.c"), os.path.join(WORK, "other.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write("unsigned etlheap_abi_version(void) { return 99; }\n")
    subprocess.run([*os.environ.get("CC", "gcc").split(), "-shared", "-fPIC", "-o", library, source], check=True)
    for name, words in ((library, "has version 99"), (os.path.join(WORK, "none.so"), "cannot be loaded")):
        done = subprocess.run([sys.executable, "-c", "import etlheap; etlheap.open('x')"], capture_output=True, text=True, env=environment(ETLHEAP_LIBRARY=name))
        results.check(f"a library that {words} is refused", f"etlheap.Error: " in done.stderr and words in done.stderr, done.stderr[-400:])


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "ETLHEAP"))}
    return {**kept, "PYTHONPATH": MODULES, "PYTHONDONTWRITEBYTECODE": "1", **more}


# --- the page, types, the wheel -------------------------------------------------------------------


def programs_of_page():
    with open("docs/python.md", encoding="utf-8") as page:
        text = page.read()
    found = PROGRAM.findall(text)
    return found, text.count("```python\n")


def run_page(results, python, folder, env):
    for text, name, wanted in programs_of_page()[0]:
        if "to_pandas" in text and subprocess.run([python, "-c", "import pandas"], capture_output=True, env=env).returncode != 0:
            results.skip(name, "no pandas in this Python (package python3-pandas)")
            continue
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([python, name], cwd=folder, capture_output=True, text=True, env=env)
        results.equal(f"{name} prints what the page says", done.stdout + done.stderr, wanted)


def check_page(results, folder):
    found, count = programs_of_page()
    results.equal("each program of the page has its output", len(found), count)
    results.check("there are programs", count >= 7, count)
    run_page(results, python_with("pandas") or sys.executable, folder, environment())


TYPED = """import etlheap

with etlheap.open("demo.etl", symbols=None) as recording:
    report: etlheap.Report = recording.report(etlheap.Query(kinds=["heap"]), top=1)
    size: int = report.rows[0]["size"]
    verdict: bool = bool(recording.check(etlheap.Limit(1)))
"""


def check_types(results):
    mypy = shutil.which("mypy") or ("/usr/bin/mypy" if os.path.exists("/usr/bin/mypy") else None)
    if mypy is None:
        results.skip("types", "no mypy here (package mypy)")
        return
    for name, text in (("typed.py", TYPED), ("wrong.py", "import etlheap\n\netlheap.open(7)\n")):
        with open(os.path.join(WORK, name), "w", encoding="utf-8") as file:
            file.write(text)
    command = [mypy, "--strict", "--cache-dir", os.path.join(WORK, "mypy"), "typed.py", "wrong.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=WORK, env=environment(MYPYPATH=MODULES))
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    results.check("mypy: module and program are typed, and a number for a path is refused", len(errors) == 1 and errors[0].startswith("wrong.py:3:"), done.stdout[-900:])


def check_wheel(results, folder):
    python = python_with("build, setuptools, wheel, venv, pip")
    if python is None:
        results.skip("the wheel", "needs the packages python3-build, python3-setuptools, python3-wheel, python3-venv and python3-pip")
        return
    with open("parser/parser.h", encoding="utf-8") as header:
        version = re.search(r'ETLHEAP_VERSION "(.*)"', header.read()).group(1)
    wheels = []
    for place in ("one", "two"):
        command = ["sh", "packaging/python/build_wheel.sh", f"{OUT}/libetlheap.so", version, os.path.join(WORK, place)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHON": python})
        if done.returncode != 0:
            results.check("the wheel is built", False, done.stdout[-500:] + done.stderr[-500:])
            return
        wheels.append(done.stdout.strip())
    contents = [open(wheel, "rb").read() for wheel in wheels]
    results.check("the wheel has the same bytes each time", contents[0] == contents[1])
    names = zipfile.ZipFile(wheels[0]).namelist()
    results.check("module, types, library and licence are in it", all(any(re.search(part, name) for name in names) for part in (
        r"^etlheap/__init__\.py$", r"^etlheap/py\.typed$", r"^etlheap/libetlheap\.so\.\d+$", r"LICENSE")), *names)
    results.check("its name says what it needs", re.search(r"-py3-none-(many)?linux_\w+\.whl$", wheels[0]) is not None, wheels[0])
    bare = os.path.join(WORK, "bare")
    subprocess.run([python, "-m", "venv", "--without-pip", bare], check=True, capture_output=True)
    alone = ["unshare", "-rn"] if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0 else []
    nothing = {"PATH": "/usr/bin:/bin", "HOME": WORK, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([*alone, python, "-m", "pip", "--python", f"{bare}/bin/python", "install", "--no-index", wheels[0]], capture_output=True, text=True, env=nothing)
    results.check("it is installed from the file, without network", done.returncode == 0, done.stderr[-600:])
    run_page(results, f"{bare}/bin/python", folder, nothing)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    results = Results()
    if os.path.basename(OUT) != "check":
        results.skip("the Python module", "a sanitized library cannot be loaded by it; done once, by plain make check")
        results.finish()
    good, said = install()
    results.check("make install-library", good, said)
    if not good:
        results.finish()
    sys.dont_write_bytecode = True
    sys.path.insert(0, MODULES)
    import etlheap

    results.check("the module is the installed one", etlheap.__file__.startswith(MODULES), etlheap.__file__)
    check_layouts(results, etlheap)
    check_functions(results, etlheap)
    check_other_version(results)

    demo = os.path.join(WORK, "demo")
    run("selftest", "--write-demo", demo)
    path, base, symbols = (os.path.join(demo, name) for name in ("demo.etl", "fixed.etl", "symbols"))
    store, packed, handles = (os.path.join(WORK, name) for name in ("demo.ehs", "demo.etl.zip", "handles.etl"))
    run("store", path, "-o", store)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(path, "demo.etl")
    subprocess.run([MAKE_TRACE, "handle-leak", handles], check=True, stdout=subprocess.DEVNULL)
    for input_path in (path, store, packed):
        with etlheap.open(input_path, symbols=symbols) as recording:
            check_reports(results, etlheap, recording, input_path, symbols)
    with etlheap.open(path, symbols=symbols) as recording, etlheap.open(base, symbols=symbols) as other:
        check_more(results, etlheap, recording, path, symbols)
        check_gates(results, etlheap, recording, other, (path, base), symbols)
        check_diffs(results, etlheap, recording, other, (path, base), symbols)
        check_errors(results, etlheap, recording, path)
        check_threads(results, etlheap, recording)
    check_unknown(results, etlheap, handles)
    check_tables(results, handles)
    check_page(results, demo)
    check_types(results)
    check_wheel(results, demo)
    results.finish()


if __name__ == "__main__":
    main()
