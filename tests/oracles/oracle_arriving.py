#!/usr/bin/env python3
"""Reads traces from zip files while they are unpacked.

With one thread, a zip is unpacked before its trace is read; with several, a zip's only trace is
read meanwhile. Both must say what is said of the trace itself, in every command. Zips that turn
out to be damaged at their end must be refused in the same words, with nothing written. Whenever a
signal comes, the program must end by it and leave no temporary file, also if it is SIGKILL. Bars
of progress must follow each other.
"""

import json
import os
import re
import signal
import struct
import subprocess
import time
import zipfile
from pathlib import Path

import oracle_support
from oracle_support import WORK, Results

ETLHEAP = oracle_support.ETLHEAP
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/make_trace"))
TEMPORARY = "unpacked"
PATIENCE_SECONDS = 60
ENVIRONMENT = {**os.environ, "TMPDIR": TEMPORARY}
THREADS = ("-j1", "-j2", "-j5")

results = Results()


def ask(*arguments, stdin=b""):
    """Status, standard output and standard error."""
    done = subprocess.run([ETLHEAP, *arguments], input=stdin, capture_output=True, timeout=300,
                          env=ENVIRONMENT, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def make_zip(path, name, content, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("readme.txt", b"more than traces")
        packed.writestr(name, content)


def make_inputs():
    os.makedirs(TEMPORARY)
    subprocess.run([MAKE_TRACE, "demo", "demo.etl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_TRACE, "workload", "w.etl", "--events", "12000"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_TRACE, "workload", "c.etl", "--events", "12000", "--keys", "--compress"], check=True,
                   stdout=subprocess.DEVNULL)
    for name in ("demo", "w", "c"):
        make_zip(f"{name}.etl.zip", f"traces/{name}.etl", Path(f"{name}.etl").read_bytes())
    make_zip("stored.zip", "w.etl", Path("w.etl").read_bytes(), zipfile.ZIP_STORED)
    status, _, said = ask("store", "demo.etl", "-o", "demo.ehs")
    results.check("store demo.etl", status == 0, said)


# --- the same answers --------------------------------------------------------------------

COMMANDS = (
    ("report",), ("report", "--format", "json"), ("report", "--at", "peak"), ("report", "--suspects", "--format", "json"),
    ("report", "--histogram", "size"), ("report", "--growth", "--format", "csv"), ("report", "--map"),
    ("info", "--format", "json"), ("dump", "--format", "ndjson"), ("windows", "--every", "1s", "--format", "csv"),
    ("allocations", "--format", "csv"), ("symbols", "--format", "json"), ("export", "--format", "folded"),
    ("check", "--max-outstanding", "1G"), ("check", "--baseline", "demo.ehs", "--max-growth", "1", "--format", "json"),
    ("report", "--from", "mark:nowhere"), ("report", "--process", "nobody"), ("report", "--no-mmap"),
    ("report", "--memory", "256M", "--format", "json"),
)


def same(answer, wanted, packed, plain):
    """Names are in headings, whose width follows them."""
    status, out, said = answer
    return (status, out.replace(packed.encode(), plain.encode()).split(), said.replace(packed, plain)) == \
        (wanted[0], wanted[1].split(), wanted[2])


def check_answers():
    for plain, packed in (("demo.etl", "demo.etl.zip"), ("w.etl", "w.etl.zip"), ("c.etl", "c.etl.zip"), ("w.etl", "stored.zip")):
        for command in COMMANDS if plain == "demo.etl" else COMMANDS[:9]:
            wanted = ask(command[0], plain, *command[1:])
            for threads in THREADS:
                got = ask(command[0], packed, *command[1:], threads)
                results.check(f"{command[0]} {packed} {' '.join(command[1:])} {threads} says what is said of {plain}",
                              same(got, wanted, packed, plain), f"status {got[0]}, wanted {wanted[0]}", got[2], wanted[2])
    wanted = ask("report", "w.etl", "--format", "json")
    got = ask("report", "-", "--format", "json", "-j2", stdin=Path("w.etl.zip").read_bytes())
    results.check("a zip from a pipe", same(got, wanted, '"-"', '"w.etl"'), got[2])


def check_pairs():
    wanted = ask("diff", "demo.etl", "w.etl", "--format", "json")
    for base, new in (("demo.etl.zip", "w.etl"), ("demo.etl", "w.etl.zip"), ("demo.etl.zip", "w.etl.zip")):
        status, got, said = ask("diff", base, new, "--format", "json", "-j2")
        results.check(f"diff {base} {new}", status == wanted[0] and said == wanted[2] and
                      got.replace(b".etl.zip", b".etl") == wanted[1], said)
    wanted = ask("trend", "demo.etl", "w.etl", "c.etl", "--format", "json")
    status, got, said = ask("trend", "demo.etl.zip", "w.etl.zip", "c.etl.zip", "--format", "json", "-j2")
    results.check("trend of three", status == wanted[0] and got.replace(b".etl.zip", b".etl") == wanted[1], said)
    limit = ("--max-growth", "1", "--format", "json")
    wanted = ask("check", "w.etl", "--baseline", "demo.etl", *limit)
    for words in (("w.etl.zip", "--baseline", "demo.etl"), ("w.etl.zip", "--baseline", "demo.etl.zip")):
        status, got, said = ask("check", *words, *limit, "-j2")
        results.check(f"check {' '.join(words)}", status == wanted[0] and got.replace(b".etl.zip", b".etl") == wanted[1], said)
    for options in ((), ("--summary",)):
        stores = []
        for name, threads in (("w.etl", "-j2"), ("w.etl.zip", "-j1"), ("w.etl.zip", "-j2")):
            status, _, said = ask("store", name, *options, threads, "-o", f"{len(stores)}.ehs")
            results.check(f"store {name} {' '.join(options)} {threads}", status == 0 and said == "", said)
            stores.append(ask("report", f"{len(stores)}.ehs", "--format", "json")[1].replace(b".etl.zip", b".etl"))
            stores[-1] = re.sub(rb'"[0-9]\.ehs"', b'"the store"', stores[-1])
        results.check(f"stores {' '.join(options)} of the zip and the trace answer alike", len(set(stores)) == 1)


# --- what is refused -----------------------------------------------------------------------

def entry_of(packed):
    """The directory's last entry: that of the trace."""
    return packed.rfind(b"PK\x01\x02")


def damaged():
    packed, size = bytearray(Path("w.etl.zip").read_bytes()), os.path.getsize("w.etl")
    entry = entry_of(packed)

    def with_u32(offset, value):
        made = bytearray(packed)
        struct.pack_into("<I", made, entry + offset, value)
        return made

    yield "longer.zip", with_u32(24, size - 1)
    yield "half.zip", with_u32(24, size // 2)
    yield "nothing.zip", with_u32(24, 0)
    yield "shorter.zip", with_u32(24, size + 1)
    yield "checksum.zip", with_u32(16, 0x12345678)
    directory = struct.unpack_from("<I", packed, len(packed) - 6)[0]
    for name, place in (("end.zip", directory - 40), ("middle.zip", directory * 2 // 3)):
        made = bytearray(packed)
        for i in range(place, place + 16):
            made[i] ^= 0xA5
        yield name, made


REFUSED = (("report",), ("report", "--format", "json"), ("info",), ("dump",), ("windows", "--every", "1s"), ("allocations",),
           ("export", "--format", "folded"), ("check", "--max-outstanding", "1G"), ("symbols",), ("report", "--from", "mark:x"))


def check_refusals():
    for name, content in damaged():
        Path(name).write_bytes(content)
        for command in REFUSED:
            wanted = ask(command[0], name, *command[1:], "-j1")
            results.check(f"{' '.join(command)} -j1 refuses {name}",
                          wanted[0] == 3 and wanted[1] == b"" and f"etlheap: {name}: " in wanted[2] and
                          "w.etl" in wanted[2] and len(wanted[2].splitlines()) == 1, wanted)
            for threads in THREADS[1:]:
                got = ask(command[0], name, *command[1:], threads)
                results.check(f"{' '.join(command)} {threads} refuses {name} in the same words", got == wanted, got, wanted)
        wanted = ask("report", name, "-j1")[2]
        for words in (("store", name, "-o"), ("report", name, "-o"), ("store", name, "--summary", "-o")):
            Path("before.ehs").write_bytes(b"what was there before")
            status, _, said = ask(*words, "before.ehs", "-j2", *(("--format", "json") if words[0] == "report" else ()))
            results.check(f"{' '.join(words)} leaves the output as it was",
                          (status, said, Path("before.ehs").read_bytes()) == (3, wanted, b"what was there before"), said)
        for words in ((name, "demo.etl"), ("demo.etl", name)):
            status, got, said = ask("diff", *words, "-j2")
            results.check(f"diff {' '.join(words)}", (status, got, said) == (3, b"", wanted), said)
        status, got, said = ask("report", "-", "-j2", stdin=content)
        results.check(f"{name} from a pipe", (status, got, said) == (3, b"", wanted.replace(name, "-")), said)


# --- how it ends ---------------------------------------------------------------------------

def check_signals():
    """Zeros behind a trace are packed small and take long; the end of the file must be awaited."""
    with zipfile.ZipFile("long.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed, \
            packed.open("w.etl", "w", force_zip64=True) as member:
        member.write(Path("w.etl").read_bytes())
        for _ in range(600):
            member.write(bytes(1 << 20))
    for command in (("report",), ("report", "-o", "never"), ("info",), ("store", "-o", "never.ehs")):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for seconds in (0.02, 0.2):
                program = subprocess.Popen([ETLHEAP, command[0], "long.zip", *command[1:], "-j2"], env=ENVIRONMENT,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(seconds)
                program.send_signal(number)
                begun = time.monotonic()
                out, said = program.communicate(timeout=PATIENCE_SECONDS)
                took, left = time.monotonic() - begun, os.listdir(TEMPORARY)
                # What nobody can clean up after may come before the file has lost its name.
                is_early = number == signal.SIGKILL and seconds < 0.1
                for name in left if is_early else []:
                    os.remove(os.path.join(TEMPORARY, name))
                results.check(f"{signal.Signals(number).name} after {seconds} s of {' '.join(command)}",
                              program.returncode == -number and took < 10 and (is_early or left == []) and out == b"",
                              f"status {program.returncode} after {took:.1f} s, left {left}", said)
    os.remove("long.zip")


def check_progress():
    for command in (("report",), ("store", "-o", "progress.ehs"), ("dump", "-o", "progress.txt"), ("windows", "--every", "1s")):
        status, _, said = ask(command[0], "w.etl.zip", *command[1:], "-j2", "--progress", "always")
        labels = [line.split()[0] for line in said.splitlines() if " MiB/s" in line]
        later = [i for i, label in enumerate(labels) if label != "unpacking"]
        results.check(f"bars of {' '.join(command)} follow each other",
                      status == 0 and bool(later) and "unpacking" not in labels[later[0]:], said)


def check_default_is_several():
    """What -j is by default follows from the computer, so it is looked at only here."""
    status, got, said = ask("report", "w.etl.zip", "--format", "json")
    results.check("the default", status == 0 and json.loads(got)["trace"]["files"] == ["w.etl.zip"], said)


def main():
    os.chdir(WORK)
    make_inputs()
    check_answers()
    check_pairs()
    check_refusals()
    check_signals()
    check_progress()
    check_default_is_several()
    results.equal("no temporary file is left", os.listdir(TEMPORARY), [])
    results.finish()


main()
