#!/usr/bin/env python3
"""Is there any name in an anonymised store, and are the answers the same?

  * Everything in the file is decoded by a reader of its own (ehs_file.py), and no name of the
    original is there, whole or in part, in UTF-8 or UTF-16.
  * Every word is the HMAC-SHA-256 that Python computes of the name.
  * Each view of the anonymised store has the numbers of the original's, row by row and frame by
    frame, after the original's names were replaced.
  * `diff` and `trend` of anonymised stores say the same, and stores of two keys share no word.
  * A store with a column of a later version is refused.
"""

import hashlib
import hmac
import itertools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import uuid

from ehs_file import EhsFile
from oracle_support import ETLHEAP, LONG, TRACES, WORK, Results, run, run_json
from second_writer import records
from second_writer.container import QPC, Clock, Record, Style, TraceFile

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
FOLDER = os.path.join(WORK, "anonymise")
KEY = bytes(range(1, 33))
OTHER_KEY = b"another key of more than 64 bytes, which is hashed before it is used as a key"
REAL = ["diaghub-merged.etl", "primitive-types.etl", "perfview-net452-x64-merged-compressed-stackkeys.etl",
        "lxcore.etl", "windowsupdate-newfile-lost41.etl"]
HEAP_COLUMNS = 0x0705, 0x0611, 0x1902
TEXT_COLUMNS = (0x0F02, 0x0F31, 0x1103, 0x1104, 0x1204, 0x1205, 0x120C, 0x1301, 0x1302, 0x1601, 0x1611, 0x1701, 0x1801, 0x1802, 0x1803,
                0x1B08, 0x1C04, 0x1D02, 0x1D03, 0x1F06, 0x1F07)
PLANTED = uuid.UUID("0d1ce000-5a5a-4b4b-8c8c-102030405062")
PLANTED_HEAP = f"{PLANTED}:alloc=7(address@0:u64,size@8:u64),free=8(address@0:u64),name=Planted"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "parser", "diag.h"), encoding="utf-8") as header:
    DIAGNOSTICS = set(re.findall(r"X\((\w+), [A-Z]+,", header.read()))
TEXT_BITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

# What stays: the sorts of words, and what the program itself has.
PLAIN = {"unknown", "system", "allocator", "runtime", "module", "process", "source", "session", "computer", "thread",
         "service", "provider", "event", "package", "path", "file", "mark", "type"}

VIEWS = [
    ("report",),
    ("report", "--no-symbols"),
    ("report", "--no-cull"),
    ("report", "--group-by", "kind,process,site"),
    ("report", "--group-by", "kind,module,thread_name"),
    ("report", "--group-by", "kind,function"),
    ("report", "--group-by", "kind,type_name,source_line"),
    ("report", "--group-by", "kind,process,heap,free_type,size_class", "--sort", "peak_size"),
    ("report", "--group-by", "kind,free_site,free_module"),
    ("report", "--kind", "pool", "--group-by", "process,heap"),
    ("report", "--kind", "reserve"),
    ("report", "--kind", "handle", "--group-by", "process,object_type,stack"),
    ("report", "--suspects"),
    ("report", "--churn"),
    ("report", "--growth", "--from", "1s"),
    ("report", "--histogram", "size"),
    ("windows", "--every", "2s", "--group-by", "kind,process,site"),
    ("allocations", "--from", "2s", "--to", "3s"),
    ("symbols",),
]
SOME_VIEWS = 0, 3, 4, 7, 8, 9, 11  # of worlds without symbols


def word(sort, name, key=KEY):
    return f"{sort}_" + hmac.new(key, sort.encode() + b"\0" + name.encode(), hashlib.sha256).hexdigest()[:16]


def folded(sort, name):
    return word(sort, name.lower())


def path_of(name):
    return os.path.join(FOLDER, name)


def write(name, data):
    with open(path_of(name), "wb") as file:
        file.write(data)
    return path_of(name)


def fails(*arguments):
    done = subprocess.run([ETLHEAP, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stderr.decode("utf-8", "replace")


# --- names -------------------------------------------------------------------------------


def parts_of(text):
    """A name and its parts, as far as they are long enough to say anything."""
    pieces = {text, *re.split(r"[\\/]|::", text), *re.split(r"[^\w.$-]+|::", text)}
    pieces |= {piece.rsplit(".", 1)[0] for piece in pieces}
    return {piece for piece in pieces if len(piece) >= 4 and piece.lower() not in PLAIN
            and not re.fullmatch(r"[0-9a-fA-F]{1,8}|[\d. -]+", piece)}


def names_of(store, symbols):
    """All texts of a store but words of the program, and all names that its report shows."""
    texts = {text.decode() for text in EhsFile(store).texts()}
    report = run_json("report", store, "--no-cull", *symbols)
    for frame in report["frames"]:
        texts |= {frame[key] for key in ("module", "symbol", "file") if frame.get(key)}
    types = run_json("report", store, "--group-by", "type_name", *symbols)
    texts |= {row["type_name"] for row in types["rows"] if row.get("type_name")}
    return texts


# Types of objects that Windows has, and the trace of handles.
TYPES = {"Event", "File", "Key", "Section"}


def is_public(text):
    """Names of diagnostics and of clocks, and of providers of Windows, some of which the program knows by their GUIDs."""
    return text in TYPES or text in ("qpc", "system", "cpu", "Unknown") or text in DIAGNOSTICS or re.fullmatch(r"Microsoft-[\w-]+", text) is not None


def heap_text(number):
    """The name in the number of a heap; '' if it is an address."""
    if number >> 60 == 13:
        return (number & 0x7FFFFFFF).to_bytes(4, "little").decode("latin-1")
    if number >> 60 != 12:
        return ""
    return "".join(TEXT_BITS[number >> 48 - 6 * i & 63] for i in range(min(number >> 54 & 15, 9)))


def contents_of(store):
    """All bytes of a store that mean something, decoded."""
    file, out = EhsFile(store), []
    for column in file.columns():
        values, width = file.column(column)
        out.append(b"".join(value.to_bytes(width, "little") for value in values))
    return b"\0\0".join(out).lower()


def check_names(results, title, original, anonymised, symbols):
    names = {text for text in names_of(original, symbols) if not is_public(text)}
    known = {row["name"] for row in run_json("info", anonymised)["providers"] if row.get("name")}
    parts = (set().union(*map(parts_of, names)) if names else set()) - set().union(set(), *map(parts_of, known))
    contents = contents_of(anonymised)
    found = [part for part in parts for coding in ("utf-8", "utf-16-le") if part.lower().encode(coding) in contents]
    results.check(f"{title}: none of {len(parts)} parts of {len(names)} names is in the store", parts and not found,
                  sorted(set(found))[:10])
    texts = [text.decode() for text in EhsFile(anonymised).texts()]
    strange = [text for text in texts if not is_public(text) and not all(
        re.fullmatch(r"(allocator_|runtime_)?[a-z]+_[0-9a-f]{16}(\.exe|::h[0-9a-f]{16})?", piece)
        for piece in text.split(", "))]
    providers = run_json("info", anonymised)["providers"]
    strange = [text for text in strange if text not in {provider.get("name") for provider in providers}]
    results.check(f"{title}: every text is a word", not strange, strange[:10])
    for column in HEAP_COLUMNS:
        old, new = ({heap_text(value) for value in EhsFile(store).column(column)[0]} - {""}
                    for store in (original, anonymised))
        results.check(f"{title}: no allocator and no tag in column {column:#x}",
                      len(old) == len(new) and not old & new, old & new, len(old), len(new))


# --- numbers -----------------------------------------------------------------------------


def plain(text):
    """A word without what its prefix says, and of a function with a stable name the full one."""
    text = re.sub(r"^(allocator|runtime)_(?=module_|fn_)", "", text)
    text = re.sub(r"^(module_[0-9a-f]{16})\.exe$", r"\1", text)
    return re.sub(r"^(fn|type)_[0-9a-f]{16}::h([0-9a-f]{16})$", r"\1_\2", text)


def source_line(text):
    file, line = text.rsplit(":", 1)
    return f"{word('source', file)}:{line}"


SORTS = {"process": lambda text: text if text == "Unknown" else folded("process", text),
         "module": lambda text: folded("module", text), "free_module": lambda text: folded("module", text),
         "symbol": lambda text: word("fn", text), "file": lambda text: word("source", text),
         "type_name": lambda text: text if text == "unknown" else word("type", text), "thread_name": lambda text: word("thread", text),
         "source_line": source_line}
# Sentences, names of files, and what is removed on purpose.
DROPPED = {"trace", "advice", "reason", "expected", "path", "command", "command_line", "schema", "note", "pdb"}


def replaced(value, key, is_original):
    if isinstance(value, dict):
        return {name: replaced(inner, name, is_original) for name, inner in value.items() if name not in DROPPED}
    if isinstance(value, list):
        return [replaced(inner, key, is_original) for inner in value]
    if not isinstance(value, str):
        return value
    if key in ("heap", "pool_tag") and not value.startswith("0x"):
        return "a heap with a name"
    if key in SORTS and is_original:
        return SORTS[key](value)
    return plain(value)


def expanded(document):
    """A document whose lists do not depend on the order of names, with frames instead of their numbers."""
    frames, stacks = document.pop("frames", None), document.pop("stacks", None)

    def walk(value, key):
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return sorted((walk(inner, key) for inner in value), key=lambda item: json.dumps(item, sort_keys=True))
        if isinstance(value, int) and not isinstance(value, bool):
            if key.endswith("stack") and stacks is not None:
                return [frames[frame] for frame in stacks[value]]
            if key in ("site", "frame", "function", "free_site") and frames is not None:
                return frames[value]
        return value
    return walk(document, "")


def answer(store, view, symbols, is_original):
    command, *options = view
    given = [] if "--no-symbols" in view or not is_original else symbols
    done = subprocess.run([ETLHEAP, command, store, *options, *given, "--format", "json"], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return f"status {done.returncode}"
    document = json.loads(done.stdout)
    for module in document["modules"] if command == "symbols" else []:
        module.pop("file", None)  # of its PDB
    return expanded(replaced(document, "", is_original))


def difference(one, other, at=""):
    """Where two documents first differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        found = [difference(one[key], other[key], f"{at}.{key}") for key in one if one[key] != other[key]]
        return found[0] if found else ""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = [difference(a, b, f"{at}[{i}]") for i, (a, b) in enumerate(zip(one, other)) if a != b]
        return found[0] if found else ""
    return f"{at}: {json.dumps(one)[:300]} / {json.dumps(other)[:300]}"


def check_views(results, title, original, anonymised, symbols, views):
    for view in views:
        old, new = answer(original, view, symbols, True), answer(anonymised, view, symbols, False)
        results.check(f"{title}: {' '.join(view)}", old == new, *([difference(old, new)] if old != new else []))


# --- worlds ------------------------------------------------------------------------------


def anonymise(name, source, key, symbols=()):
    run("store", source, "--anonymise", path_of(key), *symbols, "-o", path_of(name))
    return path_of(name)


def check_world(results, title, trace, symbols, views, part=()):
    original = path_of(f"{title}.ehs")
    run("store", trace, *part, "-o", original)
    anonymised = anonymise(f"{title}-words.ehs", original, "key", symbols)
    from_trace = anonymise(f"{title}-trace.ehs", trace, "key", [*symbols, *part])
    with open(anonymised, "rb") as one, open(from_trace, "rb") as other:
        results.check(f"{title}: a trace gives the bytes that its store gives", one.read() == other.read())
    check_names(results, title, original, anonymised, symbols)
    check_views(results, title, original, anonymised, symbols, views)
    return original, anonymised


def plant(path):
    """Writes a trace with a name wherever other worlds have none: services, a package, a method, a thread, an allocator."""
    clock = Clock(QPC, 10_000_000, 1_000_000, 132_404_548_206_236_167)
    file = TraceFile(clock, 1, Style("PlantedSession", 65536), 1_000_000, random.Random(1))
    pid, tid, place = 800, 808, 0x7FF8A0000000
    times = itertools.count(1_000_100, 10)

    def put(make):
        ticks = next(times)
        file.add(Record(0, ticks, 0, make(ticks), False))
        return ticks

    def system(hook, version, payload):
        return put(lambda ticks: records.system(8, version, hook, tid, pid, ticks, payload))

    def event(provider, number, payload, version=0):
        put(lambda ticks: records.event(8, provider, number, tid, pid, ticks, payload, version=version))

    process = records.process(8, 800 << 12, pid, 4, 0, "PlantedProcess.exe", "PlantedProcess.exe --planted=Argument")
    system(records.PROCESS_RUNDOWN_START, 4, process[:-4] + records.text16("Planted.Package_1.0_x64") + records.text16("App"))
    system(0x0B0F, 3, struct.pack("<III", pid, 4, 7) + b"".join(
        records.text16(text) for text in ("PlantedService", "Its title", "svchost.exe", "", "group")))
    system(records.THREAD_RUNDOWN_START, 4, records.thread(8, pid, tid, 0, "PlantedThread"))
    for number in range(3):
        event(records.METHOD_LOAD[0], records.METHOD_LOAD[1], records.method(
            number + 1, 0x1000, place + 0x100 * number, 0x80, "Planted.NameSpace", f"<Planted>b__{number}_0", "void ()"), 2)
    for number in range(9):
        ticks = put(lambda ticks, number=number: records.compact(8, 2, records.HEAP_ALLOC, tid, pid, ticks, records.heap_alloc(
            8, 0x1F0000, 16 * number + 16, 0x10000000 + number * 0x1000, 1)))
        stack = records.stack(8, ticks, pid, tid, [place + 0x100 * (number % 3) + 9, place + 0x210])
        put(lambda ticks, stack=stack: records.perfinfo(8, 2, records.STACK, ticks, stack))
        event(PLANTED.bytes_le, 7, struct.pack("<QQ", 0x20000000 + 256 * number, 64 + number))
    event(records.MODULE_DCSTOP[0], records.MODULE_DCSTOP[1], records.managed_module(0x1000, "C:\\PlantedFolder\\PlantedLibrary.dll"), 2)
    file.cut()
    file.write(path, "PlantedFile.etl")


def check_coverage(results):
    """Each column with text, and each kind of heap with a name, was in some world."""
    named, marks = set(), set()
    for name in os.listdir(FOLDER):
        if name.endswith(".ehs") and not name.endswith(("-words.ehs", "-trace.ehs")):
            file = EhsFile(path_of(name))
            named |= {column for column in TEXT_COLUMNS if any(file.column(column)[0])}
            marks |= {value >> 60 for column in HEAP_COLUMNS for value in file.column(column)[0]}
    described = set() if os.path.exists(os.path.join(TRACES, REAL[1])) else {0x1B08}  # events that describe themselves
    results.equal("every column with text had a name in some world", sorted(map(hex, set(TEXT_COLUMNS) - named - described)), [])
    results.check("so did allocators and pools", {12, 13} <= marks, marks)


def check_words(results, original, anonymised):
    old, new = run_json("info", original), run_json("info", anonymised)
    results.equal("info: the computer and the session",
                  [new["trace"]["computer"], new["trace"]["session"]],
                  [folded("computer", old["trace"]["computer"]), word("session", old["trace"]["session"])])
    results.equal("info: the processes", [row["name"] for row in new["processes"]],
                  [folded("process", row["name"]) for row in old["processes"]])
    results.equal("info: command lines", {row["command_line"] for row in new["processes"]} - {None, ""}, set())
    check = hmac.new(KEY, b"key\0", hashlib.sha256).hexdigest()[:16]
    results.equal("info: the key check", (old.get("anonymised"), new.get("anonymised")), (None, {"key_check": check}))
    text = run("info", anonymised).decode()
    results.check("info: text says so", "anonymised" in text and check in text, text[:400])


def check_pairs(results, stores, symbols):
    """diff and trend of originals and of anonymised stores, which are lists of the same runs."""
    for command in (["diff"], ["diff", "--frames", "site"], ["trend"]):
        if command[-1] == "site":
            continue
        count = 2 if command[0] == "diff" else 3
        old, new = (expanded(replaced(json.loads(run(*command, *[pair[i] for pair in stores[:count]], *given,
                                                     "--format", "json")), "", i == 0))
                    for i, given in ((0, symbols), (1, ())))
        for document in (old, new):
            for name in ("base", "new", "runs", "traces"):
                document.pop(name, None)
        results.check(f"{' '.join(command)} of anonymised stores", old == new, difference(old, new))


def check_refusals(results, demo, symbols):
    original, anonymised = demo
    other = anonymise("other.ehs", original, "other", symbols)
    mine, theirs = ({text for text in EhsFile(store).texts() if b"_" in text and not is_public(text.decode())}
                    for store in (anonymised, other))
    results.check("another key: no word is the same", mine and theirs and not mine & theirs, mine & theirs)
    cases = [
        ("a key that is not there", 3, "head -c 32", ["store", original, "--anonymise", path_of("none"), "-o", path_of("x.ehs")]),
        ("a short key", 3, "too short", ["store", original, "--anonymise", write("short", b"secret"), "-o", path_of("x.ehs")]),
        ("anonymised twice", 2, "already", ["store", anonymised, "--anonymise", path_of("key"), "-o", path_of("x.ehs")]),
        ("with --summary", 2, "--summary", ["store", original, "--anonymise", path_of("key"), "--summary", "-o", path_of("x.ehs")]),
        ("a summary of it", 2, "anonymised", ["store", anonymised, "--summary", "-o", path_of("x.ehs")]),
        ("--symbols without --anonymise", 2, "--anonymise", ["store", original, "--symbols", FOLDER, "-o", path_of("x.ehs")]),
        ("over the key", 2, "key", ["store", original, "--anonymise", path_of("key"), "-o", path_of("key")]),
        ("two keys", 2, "key", ["diff", anonymised, other]),
        ("words and names", 2, "anonymised", ["diff", original, anonymised]),
    ]
    later = write("later.ehs", EhsFile(original).with_column(0x1103, 0x7F04))
    cases.append(("a column of a later version", 3, "0x7f04",
                  ["store", later, "--anonymise", path_of("key"), "-o", path_of("x.ehs")]))
    for title, status, part, arguments in cases:
        got, said = fails(*arguments)
        results.check(f"{title}: refused", got == status and part in said, f"status {got}: {said}")
    results.check("nothing was written", not os.path.exists(path_of("x.ehs")))


def main():
    results = Results()
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    write("key", KEY)
    write("other", OTHER_KEY)
    run("selftest", "--write-demo", FOLDER)
    symbols = ["--symbols", path_of("symbols")]
    pairs = [check_world(results, name, path_of(f"{name}.etl"), symbols, VIEWS if name == "demo" else VIEWS[:1])
             for name in ("demo", "longer", "fixed", "runner")]
    check_words(results, *pairs[0])
    check_world(results, "part", path_of("demo.etl"), symbols, VIEWS[:1],
                ["--from", "5s", "--to", "10s", "--process", "BatteryMeter", "--kind", "heap"])
    check_pairs(results, pairs, symbols)
    check_refusals(results, pairs[0], symbols)
    plant(path_of("planted.etl"))
    check_world(results, "planted", path_of("planted.etl"), [], [VIEWS[i] for i in (0, 1, 3, 4)], ["--custom-heap", PLANTED_HEAP])
    for scenario, options in (("kitchen-sink", []), ("pool-leak", []), ("handle-leak", []), ("mapped-views", []), ("workload", ["--seed", "7", "--free-stacks", "--events", "600"])):
        trace = path_of(f"{scenario}.etl")
        subprocess.run([MAKE_TRACE, scenario, trace, *options], check=True, stdout=subprocess.DEVNULL)
        check_world(results, scenario, trace, [], VIEWS if LONG else [VIEWS[i] for i in SOME_VIEWS])
    for name in REAL if LONG else REAL[:2]:
        trace = os.path.join(TRACES, name)
        if os.path.exists(trace):
            check_world(results, name[:12], trace, [], [VIEWS[0], VIEWS[3], VIEWS[9]])
        else:
            results.skip(name, "set TRACES to the folder of real traces")
    check_coverage(results)
    results.finish()


if __name__ == "__main__":
    main()
