#!/usr/bin/env python3
"""Are the files that a check writes beside its main output those that a run of their format writes?

Runs that pass, fail, prove nothing and measure nothing are made once for each format, and once
with all files at a time: the bytes and the status must be the same. What cannot be written leaves
no file behind, and no new baseline.
"""

import os
import shutil
import subprocess

from oracle_check import Block, attempt, make_trace, path_of, read_bytes, write_trace
from oracle_support import Results

SIDES = ("junit", "sarif", "markdown", "json")


def fresh(name):
    """An empty folder."""
    folder = path_of(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def side_arguments(folder, suffix=""):
    return [word for side in SIDES for word in (f"--{side}", os.path.join(folder, f"leaks.{side}{suffix}"))]


def check_same_bytes(results, name, arguments, wanted):
    folder = fresh("sides")
    alone = {side: attempt(*arguments, "--format", side) for side in ("text", *SIDES)}
    status, out, said = attempt(*arguments, *side_arguments(folder))
    results.equal(f"{name}: status", (status, [one[0] for one in alone.values()]), (wanted, [wanted] * len(alone)))
    results.check(f"{name}: the main output and stderr are the same", (out, said) == alone["text"][1:], said)
    for side in SIDES:
        got = read_bytes(os.path.join(folder, f"leaks.{side}"))
        results.check(f"{name}: --{side} writes what --format {side} does", got == alone[side][1] and len(got) > 100, got[:200])


def check_main_format(results, sound):
    """The main output may have any format, also that of a side output."""
    folder = fresh("sides")
    status, out, _ = attempt(sound, "--max-outstanding", "1G", "--format", "json", *side_arguments(folder))
    results.check("the main output and a side output of one format are equal",
                  status == 0 and out == read_bytes(os.path.join(folder, "leaks.json")))
    status, _, said = attempt(sound, "--max-outstanding", "1G", *side_arguments(folder, ".zst"))
    unpacked = subprocess.run(["zstd", "-dcq", os.path.join(folder, "leaks.json.zst")], capture_output=True, check=False).stdout
    results.check("a name that ends in .zst is compressed", status == 0 and unpacked == out, said)


def check_usage(results, sound):
    folder = fresh("usage")
    one, base = os.path.join(folder, "one"), os.path.join(folder, "base.ehs")
    limit = [sound, "--max-outstanding", "1"]
    for name, arguments, words in (
        ("a file twice", ["--junit", one, "--sarif", one], "--junit and --sarif name the same file"),
        ("the main output's file", ["-o", one, "--json", one], "--output and --json name the same file"),
        ("the baseline", ["--baseline", base, "--max-growth", "1", "--json", base], "--baseline and --json name the same file"),
        ("an option twice", ["--junit", one, "--junit", one + "2"], "--junit is given twice"),
        ("standard output", ["--sarif", "-"], "use --format sarif"),
        ("no name", ["--json="], "--json needs a value"),
        ("a root without =", ["--source-root", "src"], "expected FROM=TO"),
        ("a root without FROM", ["--source-root", "=src"], "expected FROM=TO"),
    ):
        status, out, said = attempt(*limit, *arguments)
        results.check(f"refused: {name}", status == 2 and words in said and not out and not os.listdir(folder), status, said)


def check_failures(results, sound, leaky):
    """The devices and folders that files cannot go to; the failing one is the last written."""
    for name, bad in (("a full disk", "/dev/full"), ("a folder that does not exist", path_of("nowhere/leaks.json"))):
        folder = fresh("failing")
        base = os.path.join(folder, "base.ehs")
        status, _, said = attempt(sound, "--baseline", base, "--max-growth", "1K", "--update-baseline",
                                  "--sarif", os.path.join(folder, "leaks.sarif"), "--json", bad)
        results.check(f"{name}: status 3, which names the file", status == 3 and bad in said, status, said)
        results.check(f"{name}: there is no new baseline", "base.ehs" not in os.listdir(folder))
        left = [file for file in os.listdir(folder) if file != "leaks.sarif"]
        results.check(f"{name}: nothing half written is left", not left, *left)
    folder = fresh("kept")
    kept = os.path.join(folder, "leaks.json")
    with open(kept, "wb") as file:
        file.write(b"of the last run")
    broken = path_of("broken.etl")
    with open(broken, "wb") as file:
        file.write(bytes(4096))
    status, _, said = attempt(broken, "--max-outstanding", "1", *side_arguments(folder))
    results.check("a file of the last run stays whole if this run fails", status == 3 and read_bytes(kept) == b"of the last run"
                  and os.listdir(folder) == ["leaks.json"], status, said, os.listdir(folder))
    folder = fresh("accepted")
    base = os.path.join(folder, "base.ehs")
    shutil.copy(sound, base + ".etl")
    growth = ["--baseline", base, "--max-growth", "stack:1", "--update-baseline"]
    attempt(sound, *growth)
    first = read_bytes(base)
    status, _, said = attempt(leaky, *growth, "--accept", *side_arguments(folder))
    results.check("an accepted run writes its files and the baseline",
                  status == 0 and read_bytes(base) != first and b"<failure" not in read_bytes(os.path.join(folder, "leaks.junit")), said)


def main():
    results = Results()
    sound, lossy = make_trace("demo.etl"), make_trace("lossy.etl", "--unclosed")
    leaky = write_trace("leaky.etl", [Block("heap", 1 << 20, (("app.exe", 0x1000), ("lib.dll", 0x1010)))] * 3)
    for name, arguments, wanted in (
        ("a pass", [sound, "--max-outstanding", "1G"], 0),
        ("a failure", [leaky, "--max-outstanding", "stack:1K", "--max-outstanding-count", "heap:3"], 1),
        ("growth", [leaky, "--baseline", sound, "--max-growth", "stack:1K", "--max-growth", "total:5%"], 1),
        ("nothing measured", [sound, "--max-outstanding", "1G", "--process", "nobody.exe"], 1),
        ("an inconclusive run", [lossy, "--max-outstanding", "1G"], 4),
        ("an inconclusive run that may pass", [lossy, "--max-outstanding", "1G", "--lenient"], 0),
        ("a missing process", [sound, "--max-outstanding", "1G", "--require-process", "nobody.exe"], 1),
        ("a missing baseline", [sound, "--max-growth", "1G", "--baseline", path_of("gone.ehs"), "--require-baseline"], 1),
    ):
        check_same_bytes(results, name, arguments, wanted)
    check_main_format(results, sound)
    check_usage(results, sound)
    check_failures(results, sound, leaky)
    results.finish()


if __name__ == "__main__":
    main()
