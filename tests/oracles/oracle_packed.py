#!/usr/bin/env python3
"""Opens one trace and one store in every packing and from standard input.

The answer of each command must be that for the trace or store itself, but for its name. The
packings are made by Python's gzip and zipfile and by the programs zstd and pzstd; what each
is called must not matter. What cannot be opened must be refused with a sentence that names
what was typed, and the folder for temporary files must be empty in the end.
"""

import gzip
import json
import os
import shutil
import subprocess
import zipfile

import oracle_support
from oracle_support import WORK, Results

# All paths but these are of the folder it works in.
ETLHEAP = oracle_support.ETLHEAP
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/make_trace"))
TEMPORARY = "unpacked"
ENVIRONMENT = {**os.environ, "TMPDIR": TEMPORARY}
ENDINGS = (".etl", ".etl.zip", ".etl.gz", ".etl.zst", ".diagsession")

results = Results()


def ask(*arguments, stdin=b""):
    """Status, standard output and standard error of a run whose standard input is a pipe."""
    done = subprocess.run([ETLHEAP, *arguments], input=stdin, capture_output=True, timeout=300,
                          env=ENVIRONMENT, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def make_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            packed.writestr(name, content)


def packed_by(program, content, *options):
    if not shutil.which(program):
        results.skip(f"files of {program}", "it is not installed (package zstd)")
        return None
    done = subprocess.run([program, "-q", "-c", *options], input=content, stdout=subprocess.PIPE, check=True)
    return done.stdout


def make_inputs():
    os.makedirs(TEMPORARY)
    subprocess.run([MAKE_TRACE, "demo", "a.etl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_TRACE, "heap-exercise", "b.etl"], check=True, stdout=subprocess.DEVNULL)
    for words in (("a.etl", "-o", "a.ehs"), ("a.etl", "--summary", "-o", "s.ehs")):
        status, _, said = ask("store", *words)
        results.check(f"store {' '.join(words)}", status == 0, said)


def packings(name):
    """The files that hold what the file `name` holds."""
    content = read(name)
    made = [f"{name}.gz", f"{name}.frames.gz"]
    write(made[0], gzip.compress(content))
    half = len(content) // 2
    write(made[1], gzip.compress(content[:half]) + gzip.compress(content[half:]) + bytes(512))
    for program, ending in (("zstd", ".zst"), ("pzstd", ".frames.zst")):
        packed = packed_by(program, content)
        if packed is not None:
            made.append(name + ending)
            write(made[-1], packed)
    if name.endswith(".etl"):
        made += ["zipped.etl.zip", "visual.diagsession"]
        make_zip(made[-2], [("a.etl", content)])
        # As Visual Studio's: a package of resources by GUID, and what says which is which.
        make_zip(made[-1], [("metadata.xml", b"<Package/>"), ("[Content_Types].xml", b"<Types/>"),
                            ("5E41C8F1-8E50-4B4F-8C36-3B0A5F2C6A7D/sc.user_aux.etl", content)])
    shutil.copy(made[0], f"{name}.misnamed")
    return made + [f"{name}.misnamed"]


# --- what opens --------------------------------------------------------------------------

def steady(output, *names):
    """JSON without the names of the input."""
    text = output.decode("utf-8", "replace")
    for name in names:
        text = text.replace(json.dumps(name), '"the input"')
    return text


def check_forms():
    for name in ("a.etl", "a.ehs", "s.ehs"):
        command = ("report", "--format", "json")
        status, wanted, said = ask(command[0], name, *command[1:])
        results.check(f"report {name}", status == 0, said)
        for packed in packings(name):
            for path, stdin in ((packed, b""), ("-", read(packed))):
                status, got, said = ask(command[0], path, *command[1:], stdin=stdin)
                results.check(f"report {path} of {packed} is that of {name}",
                              status == 0 and said == "" and steady(got, path) == steady(wanted, name),
                              f"status {status}: {said}")
        status, got, said = ask(command[0], "-", *command[1:], stdin=read(name))
        results.check(f"report - of {name} itself", status == 0 and steady(got, "-") == steady(wanted, name), said)
        if name == "a.etl":
            results.equal("the name is what was typed", json.loads(got)["trace"]["files"], ["-"])


def check_commands():
    commands = {
        "info": [], "dump": ["--format", "ndjson"], "windows": ["--every", "1s"], "allocations": ["--format", "csv"],
        "symbols": [], "export": ["--format", "folded"], "check": ["--max-outstanding", "1G"],
    }
    for command, options in commands.items():
        status, wanted, said = ask(command, "a.etl", *options)
        # Names are in headings, whose width follows them.
        wanted = wanted.replace(b"a.etl", b"-").split()
        for path, stdin in (("a.etl.gz", b""), ("zipped.etl.zip", b""), ("-", read("a.etl")), ("-", read("a.etl.gz"))):
            got_status, got, got_said = ask(command, path, *options, stdin=stdin)
            results.check(f"{command} {path} says what {command} a.etl says",
                          (got_status, got_said.replace(path, "a.etl")) == (status, said) and
                          got.replace(path.encode(), b"-").split() == wanted,
                          f"status {got_status}, wanted {status}: {got_said}{said}")


def check_pairs():
    """Commands that take two inputs, one of them from the pipe."""
    trace, store = read("a.etl"), read("a.ehs.gz")
    _, wanted, _ = ask("diff", "a.etl", "b.etl", "--format", "json")
    for base, new, stdin in (("-", "b.etl", trace), ("-", "b.etl", read("a.etl.gz")), ("a.etl", "-", read("b.etl"))):
        status, got, said = ask("diff", base, new, "--format", "json", stdin=stdin)
        results.check(f"diff {base} {new}",
                      status == 0 and steady(got, "-") == steady(wanted, "a.etl" if base == "-" else "b.etl"),
                      f"status {status}: {said}")
    limit = ("--max-growth", "0", "--format", "json")
    for words, stdin in ((("-", "--baseline", "a.ehs"), trace), (("a.etl", "--baseline", "-"), store),
                         (("-", "--baseline", "a.ehs.gz"), trace), (("a.etl.gz", "--baseline", "-"), trace)):
        status, got, said = ask("check", *words, *limit, stdin=stdin)
        results.check(f"check {' '.join(words)}", status == 0 and json.loads(got)["verdict"] == "pass", f"status {status}: {said}")
    status, got, said = ask("check", "-", "--max-outstanding", "1", stdin=trace)
    results.equal("check - fails as check does", status, 1)


def check_stores():
    status, _, said = ask("store", "-", "-o", "piped.ehs", stdin=read("a.etl.gz"))
    results.check("store - -o FILE", status == 0, said)
    _, wanted, _ = ask("report", "a.ehs", "--format", "json")
    _, got, said = ask("report", "piped.ehs", "--format", "json")
    results.check("the store of a pipe is that of the trace", steady(got, "-", "piped.ehs") == steady(wanted, "a.etl", "a.ehs"), said)
    for name, stdin in (("a.ehs.gz", b""), ("-", read("a.ehs"))):
        status, _, said = ask("store", name, "--summary", "-o", "sum.ehs", stdin=stdin)
        results.check(f"store {name} --summary makes totals of a store", status == 0, said)


def check_merge():
    """Packed stores are merged as what they hold; errors name what was typed."""
    status, _, said = ask("store", "b.etl", "--summary", "-o", "b.ehs")
    results.check("store b.etl --summary", status == 0, said)
    write("b.ehs.gz", gzip.compress(read("b.ehs")))
    status, _, said = ask("merge", "s.ehs", "b.ehs", "-o", "merged.ehs")
    results.check("merge of two", status == 0, said)
    for words in (["s.ehs.gz", "b.ehs.gz"], ["s.ehs", "b.ehs.gz"], ["a.ehs.gz", "b.ehs"], ["b.ehs", "s.ehs.zst"]):
        if not all(map(os.path.exists, words)):
            results.skip(f"merge {' '.join(words)}", "zstd is not installed")
            continue
        status, _, said = ask("merge", *words, "-o", "packed.ehs")
        results.check(f"merge {' '.join(words)}: the same file", status == 0 and said == "" and
                      read("packed.ehs") == read("merged.ehs"), f"status {status}: {said}")
        os.remove("packed.ehs")


def check_batch():
    """Folders are searched for every ending, and stores are named after what was packed."""
    os.makedirs("many/deep")
    for i, ending in enumerate(ENDINGS):
        source = {".etl.zip": "zipped.etl.zip", ".diagsession": "visual.diagsession"}.get(ending, "a" + ending)
        if not os.path.exists(source):
            results.skip(f"a folder with {ending}", "zstd is not installed")
            continue
        shutil.copy(source, f"many/deep/t{i}{ending.upper() if i % 2 else ending}")
    for other in ("a.ehs", "notes.gz", "x.zip"):
        write(os.path.join("many", other), b"not looked at")
    wanted = sorted(name.split(".")[0] + ".ehs" for name in os.listdir("many/deep"))
    status, _, said = ask("store", "many", "--out-dir", "stores")
    results.check("store FOLDER --out-dir", status == 0, said)
    results.equal("each packed trace of the folder has its store", sorted(os.listdir("stores/deep")), wanted)
    status, _, said = ask("store", "a.ehs.gz", "s.ehs", "--summary", "--out-dir", "sums")
    results.check("totals of a packed store", status == 0, said)
    results.equal("named without what it was packed in",
                  sorted(name for name in os.listdir("sums") if name.endswith(".ehs")), ["a.ehs", "s.ehs"])


# --- what does not ---------------------------------------------------------------------------

def check_refusals():
    trace, packed = read("a.etl"), read("a.etl.gz")
    write("twice.etl.gz", gzip.compress(packed))
    write("cut.etl.gz", packed[:-100])
    write("bad.etl.gz", packed[:-6] + b"\1" + packed[-5:])
    store = read("s.ehs.gz")
    write("cut.ehs.gz", store[:-100])
    write("bad.ehs.gz", store[:-6] + b"\1" + store[-5:])
    make_zip("none.etl.zip", [("notes.txt", b"no trace")])
    cases = [
        (["report", "-", "-"], trace, 2, "standard input is given twice"),
        (["report", "-", "a.etl"], trace, 3, "- and a.etl: the same trace is given twice"),
        (["report", "-", "a.ehs"], trace, 2, "only one store can be read"),
        (["report", "-", "b.etl"], read("a.ehs"), 2, "only one store can be read"),
        (["report", "-"], b"", 3, "etlheap: -: the file is empty"),
        (["report", "-"], b"This is text, not a trace.\n" * 9, 3, "looks like text"),
        (["report", "-"], bytes(100000), 3, "looks like zero bytes"),
        (["report", "-"], trace[:71], 3, "too short"),
        (["report", "-"], packed[:-100], 3, "-: the gzip file is cut off"),
        (["report", "-"], read("twice.etl.gz"), 3, "-: not an ETL trace: it looks like a gzip archive"),
        (["report", "-"], read("none.etl.zip"), 3, "-: the zip holds no .etl file"),
        (["report", "twice.etl.gz"], b"", 3, "twice.etl.gz: not an ETL trace: it looks like a gzip archive"),
        (["report", "cut.etl.gz"], b"", 3, "cut.etl.gz: the gzip file is cut off; copy or download it again"),
        (["report", "bad.etl.gz"], b"", 3, "bad.etl.gz: the gzip file is damaged: incorrect data check"),
        (["diff", "-", "-"], trace, 2, "BASE and NEW cannot both come from standard input"),
        (["check", "-", "--baseline", "-", "--max-growth", "1"], trace, 2, "cannot both come from standard input"),
        (["check", "a.etl", "--baseline", "-", "--max-growth", "1", "--update-baseline"], trace, 2, "the baseline cannot be standard input"),
        (["merge", "-", "-o", "never.ehs"], read("s.ehs"), 2, "cannot come from standard input; name files"),
        (["merge", "s.ehs", "s.ehs.gz", "-o", "never.ehs"], b"", 2, "s.ehs and s.ehs.gz both hold the trace"),
        (["merge", "s.ehs", "a.etl.gz", "-o", "never.ehs"], b"", 3, "a.etl.gz: is not a store"),
        (["merge", "s.ehs", "cut.ehs.gz", "-o", "never.ehs"], b"", 3, "cut.ehs.gz: the gzip file is cut off"),
        (["merge", "s.ehs", "bad.ehs.gz", "-o", "never.ehs"], b"", 3, "bad.ehs.gz: "),
        (["store", "-"], trace, 2, "needs an output file"),
        (["store", "-", "-o", "never.ehs"], read("a.ehs"), 2, "already a store"),
        (["store", "-", "--out-dir", "never"], trace, 2, "so traces cannot come from standard input"),
    ]
    for arguments, stdin, wanted, word in cases:
        status, got, said = ask(*arguments, stdin=stdin)
        results.check(f"refused: {' '.join(arguments)} ({word})",
                      status == wanted and got == b"" and word in said and len(said.splitlines()) == 1 and
                      TEMPORARY not in said and not os.path.exists("never") and not os.path.exists("never.ehs"),
                      f"status {status}, wanted {wanted}", said)


def check_file_named_dash():
    shutil.copy("a.ehs", "-")
    _, wanted, _ = ask("info", "b.etl", "--format", "json")
    status, got, said = ask("info", "-", "--format", "json", stdin=read("b.etl"))
    results.check("a file of that name is not what - means",
                  status == 0 and steady(got, "-") == steady(wanted, "b.etl"), said)
    os.remove("-")


RELATIVES = [("in/a.etl.zip", "a packed trace"), ("a.etl.zst", "a packed trace"), ("A.EHS", "a store"), ("first.txt", "maybe a UMDH log"),
             ("a.etlx", "a trace that PerfView converted"), ("b.zip", "another archive")]


def deflate64(path):
    """A zip whose member says that it is packed with method 9; a reader that lacks it never looks at the data."""
    make_zip(path, [("a.etl", read("a.etl"))])
    content = bytearray(read(path))
    content[8:10] = b"\x09\0"
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 10:directory + 12] = b"\x09\0"
    write(path, bytes(content))


def check_relatives():
    """What holds no trace says what it holds, and what to do."""
    for name, kind in RELATIVES:
        make_zip("relative.zip", [("readme.md", b"#"), (name, b"no matter")])
        status, _, said = ask("report", "relative.zip")
        results.check(f"a zip with {name}", status == 3 and f"'{name}', {kind}: unpack the zip first" in said, said)
    deflate64("large.etl.zip")
    status, _, said = ask("report", "large.etl.zip")
    results.check("Deflate64 is named", status == 3 and "Deflate64" in said and "7-Zip" in said, said)
    tar = b"a.etl".ljust(257, b"\0") + b"ustar\0" + bytes(300) + read("a.etl")
    kinds = {"a.tar": (tar, "tar archive"), "a.tar.gz": (gzip.compress(tar), "tar archive"), "perf.data": (b"PERFILE2" + bytes(900), "Linux perf"),
             "a.etlx": (b"\x14\0\0\0!FastSerialization.1" + bytes(900), ".etlx"), "a.nettrace": (b"Nettrace" + bytes(900), "EventPipe")}
    for name, (content, word) in kinds.items():
        write(name, content)
        status, _, said = ask("report", name)
        results.check(f"{name} is named", status == 3 and word in said, said)


def check_reported():
    """What users had, and what they were told."""
    folder = os.path.abspath(os.path.join(oracle_support.TRACES, "..", "traces-reports"))
    if not os.path.isdir(folder):
        return results.skip("packages that users reported", "traces-reports is not here")
    for name, word in (("08-deflate64/deflate64.etl.zip", "Deflate64"), ("15-package-in-package/artifact_zip.zip", "inner.etl.zip"),
                       ("15-package-in-package/artifact_zst.zip", "one.etl.zst"), ("15-package-in-package/artifact_ehs.zip", "one.ehs"),
                       ("15-package-in-package/artifact_umdh.zip", "UMDH"), ("15-package-in-package/one.tar.gz", "tar archive")):
        status, _, said = ask("report", os.path.join(folder, name))
        results.check(f"{name} says what it is", status == 3 and word in said and ("unpack it" in said or "unpack the zip" in said), said)
    for command in ("report", "info"):
        text = ask(command, os.path.join(folder, "17-heap-snapshot-recording", "snapshot.etl"))[1].decode()
        results.check(f"{command} names a heap snapshot recording", "heap snapshot recording (wpr -start HeapSnapshot)" in " ".join(text.split()), text)


def check_symbols_inside():
    """PDBs that lie in a package are used without an option, wherever they lie in it, and only there."""
    folder = os.path.abspath(os.path.join(oracle_support.TRACES, "..", "traces-reports", "07-symbols-inside-packages"))
    if not os.path.isdir(folder):
        return results.skip("PDBs inside packages", "traces-reports is not here")
    site = ("--group-by", "stack", "--format", "csv")
    for name in sorted(os.listdir(folder)):
        if name == "README":
            continue
        status, text, said = ask("report", os.path.join(folder, name), *site)
        results.check(f"PDBs of {name} are used", status == 0 and b"a4096.exe!grow" in text and "no function names" not in said, text, said)
    with zipfile.ZipFile(os.path.join(folder, "perfview.etl.zip")) as package:
        trace = package.read("PerfViewData.etl")
        pdb = package.read(next(name for name in package.namelist() if name.endswith(".pdb")))
    other = pdb.replace(pdb[pdb.index(bytes.fromhex("05519D52")):][:16], bytes(16)) if bytes.fromhex("05519D52") in pdb else pdb[:4096]
    layouts = {"flat": [("a.etl", trace), ("A4096.PDB", pdb)], "other first": [("a.etl", trace), ("x/a4096.pdb", other), ("y/a4096.pdb", pdb)],
               "Windows": [("a.etl", trace), ("symbols\\a4096.pdb\\1\\a4096.pdb", pdb)], "outside": [("a.etl", trace), ("../../a4096.pdb", pdb)],
               "two traces": [("a.etl", trace), ("deep/er/a.pdb/a4096.pdb", pdb)]}
    for name, members in layouts.items():
        make_zip("with.etl.zip", members)
        text = ask("report", "with.etl.zip", *site)[1]
        results.check(f"PDBs inside, {name}", b"a4096.exe!grow" in text, text)
        text = ask("report", "with.etl.zip", "--no-symbols", *site)[1]
        results.check(f"PDBs inside, {name}: not with --no-symbols", b"a4096.exe+0x1038" in text, text)
    make_zip("with.etl.zip", [("a.etl", trace), ("b.pdb", b"not wanted" * 100000), ("a4096.pdb", pdb)])
    status, text, said = ask("report", "with.etl.zip", *site, "--unpack-limit", str(len(trace) + 10))
    results.check("PDBs inside: within the limit, and others do not count", status == 0 and b"!grow" in text, text, said)
    make_zip("with.etl.zip", [("a.etl", trace), ("a4096.pdb", pdb + bytes(len(trace)))])
    status, text, said = ask("report", "with.etl.zip", *site, "--unpack-limit", str(len(trace) + 10))
    results.check("PDBs inside: more than the limit is a note", status == 0 and b"+0x1038" in text and "its PDBs are not used" in said, text, said)
    left = os.path.join(TEMPORARY, "etlheap-symbols-Ab12cD")
    os.makedirs(os.path.join(left, "1"))
    for path in ("lock", "1/a.pdb"):
        write(os.path.join(left, path), b"")
    ask("report", "with.etl.zip", *site)
    if os.environ.get("PLATFORM") == "windows":
        results.check("what no run has open is removed", not os.path.exists(left))
        return
    results.check("symbols of a run that may go on stay", os.path.exists(left))
    os.utime(os.path.join(left, "lock"), (1, 1))
    ask("report", "with.etl.zip", *site)
    results.check("and what a killed run left is removed", not os.path.exists(left))


def check_named_pipe():
    """A shell names the pipe of a command: /dev/fd/63. Its answer is that of standard input, but for the name."""
    if os.environ.get("PLATFORM") == "windows" or not os.path.exists("/dev/fd"):
        return results.skip("pipes with names", "there is no /dev/fd")
    for name in ("a.etl", "a.ehs", "a.etl.gz"):
        wanted = ask("report", "-", "--format", "json", stdin=read(name))
        reader, writer = os.pipe()
        with subprocess.Popen([ETLHEAP, "report", f"/dev/fd/{reader}", "--format", "json"], pass_fds=[reader], env=ENVIRONMENT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(read(name))
            text, said = program.communicate(timeout=300)
        results.equal(f"{name} from a pipe with a name", (program.returncode, text.replace(b"/dev/fd/%d" % reader, b"-")), wanted[:2])
        results.check(f"{name}: with the same notes", said == wanted[2].encode(), said)


def main():
    os.chdir(WORK)
    make_inputs()
    check_forms()
    check_commands()
    check_pairs()
    check_stores()
    check_merge()
    check_batch()
    check_named_pipe()
    check_symbols_inside()
    check_relatives()
    check_reported()
    check_refusals()
    check_file_named_dash()
    results.equal("no temporary file is left", os.listdir(TEMPORARY), [])
    results.finish()


main()
