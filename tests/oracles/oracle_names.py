#!/usr/bin/env python3
"""Names of processes and modules in recordings: is each told apart, and found by its name?

Inputs are recordings that users of other tools reported, in $TRACES/../traces-reports, and
traces of the second writer: names in code pages, processes without names, names with commas,
modules of one name.
"""

import json
import os
import re
import subprocess

from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json
from second_writer.small import Block, Image, Program, write

FOLDER = os.path.abspath(os.path.join(TRACES, "..", "traces-reports"))
CODE_PAGES = {"cp932": "日本語", "cp1251": "Прога", "cp936": "中国", "cp1252": "Ärger", "cp1253": "Εφα", "cp949": "한국"}


def path_of(name):
    return os.path.join(WORK, name)


def report(path, *options):
    return run_json("report", path, "--no-symbols", *options)["rows"]


def sizes(path, *options, key="process"):
    return sorted((row[key], row["size"]) for row in report(path, "--group-by", key, *options))


def tried(*arguments):
    done = subprocess.run([ETLHEAP, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check_reported_code_pages(results):
    path = os.path.join(FOLDER, "09-process-names-code-page", "names.etl")
    if not os.path.exists(path):
        return results.skip("names in code pages", "traces-reports is not here")
    wanted = [("ab.exe", 500), ("Прога.exe", 200), ("中国.exe", 400), ("日本.exe", 300), ("日本語.exe", 100)]
    results.equal("names in code pages", sizes(path), wanted)
    results.equal("a name selects its process", sizes(path, "--process", "日本語"), [("日本語.exe", 100)])
    rows = run_json("diff", path, path, "--group-by", "process", "--all", "--no-symbols")["rows"]
    results.equal("and is one program in diff", sorted(row["process"] for row in rows), [name for name, _ in wanted])


def check_code_pages(results):
    """Each name in its own code page, as question marks, and as UTF-8, with the image or the command line."""
    for number, (page, stem) in enumerate(CODE_PAGES.items()):
        spelled = {"page": f"{stem}.exe".encode(page), "marks": b"?" * len(stem) + b".exe", "UTF-8": f"{stem}.exe".encode()}
        for how, name in spelled.items():
            path, store = path_of(f"{page}_{how}.etl"), path_of("names.ehs")
            images = [Image(f"\\Device\\HarddiskVolume3\\x\\{stem}.exe", 0x7FF600000000)]
            write(path, [Program(100, name, "", images), Program(200, name, f'"C:\\y z\\{stem}.exe" -x'), Program(300, b"ab.exe")],
                  [Block(100, 10), Block(200, 20), Block(300, 40)])
            wanted = sorted([("ab.exe", 40), (f"{stem}.exe", 10), (f"{stem}.exe", 20)])
            run("store", path, "-o", store)
            for one in (path, store):
                results.equal(f"{page}, {how}: names in {one[-3:]}", sizes(one), wanted)
            results.equal(f"{page}, {how}: selected by name", len(sizes(path, "--process", stem)), 2)
        if number == 0:
            write(path, [Program(100, b"??.exe"), Program(200, b"\xfa\xfb\xfc.exe", "cmd /c")], [Block(100, 10), Block(200, 20)])
            results.equal("a name that nothing explains stays", [row["pid"] for row in report(path, "--process", "??.exe")], [100])


def check_unnamed(results):
    """Processes without names are null, and never one program."""
    base, new, lone, other = (path_of(f"unnamed_{name}.etl") for name in ("base", "new", "lone", "other"))
    write(base, [Program(100, None), Program(200, None), Program(300, b"app.exe")], [Block(100, 10), Block(200, 20), Block(300, 5)])
    write(new, [Program(200, None), Program(400, None), Program(300, b"app.exe")], [Block(200, 25), Block(400, 40), Block(300, 5)])
    write(lone, [Program(100, None)], [Block(100, 10)])
    write(other, [Program(101, None)], [Block(101, 11)])
    rows = report(base, "--group-by", "process")
    results.equal("null in report", sorted((row["pid"], row["process"]) for row in rows), [(100, None), (200, None), (300, "app.exe")])
    listed = run_json("info", base)["processes"]
    results.equal("null in info", [row["name"] for row in listed], [None, None, "app.exe"])
    rows = run_json("diff", base, new, "--group-by", "process", "--all", "--no-symbols")["rows"]
    got = sorted((row["state"], row["process"], row.get("pid")) for row in rows if row["process"] is None)
    results.equal("told apart by their ids in diff", got, [("added", None, 400), ("grown", None, 200), ("removed", None, 100)])
    text = run("diff", base, new, "--group-by", "process", "--all", "--no-symbols").decode()
    results.check("and in its text", all(f"Unknown ({pid})" in text for pid in (100, 200, 400)), text)
    rows = run_json("trend", base, new, base, "--group-by", "process", "--all", "--no-symbols")["rows"]
    results.equal("and in trend", sorted(row.get("pid") for row in rows if row["process"] is None), [100, 200, 400])
    status, text, _ = tried("check", new, "--baseline", base, "--max-growth", "process:8B", "--no-symbols")
    results.check("and in check", status == 1 and "Unknown" in text and "40 B" in text, status, text)
    rows = run_json("diff", lone, other, "--group-by", "process", "--all", "--no-symbols")["rows"]
    results.equal("the only process of both is compared", [(row["state"], row["process"]) for row in rows], [("grown", None)])


def check_commas(results):
    path = path_of("commas.etl")
    write(path, [Program(100, b"a,b.exe"), Program(200, b"a.exe"), Program(300, b"c.exe"), Program(400, b"d, e.exe")],
          [Block(pid, pid) for pid in (100, 200, 300, 400)])
    for words, wanted in (("a,b.exe", [100, 200]), ("a,b", [100, 200]), ("a,c", [200, 300]), ("d, e.exe", [400]), ("a,300", [200, 300]),
                          ("100,300", [100, 300]), ("D, E", [400])):
        status, text, said = tried("report", path, "--process", words, "--group-by", "process", "--format", "json", "--no-symbols")
        got = sorted(row["pid"] for row in json.loads(text)["rows"])
        results.equal(f"--process '{words}'", (status, got, "matches no process" in said), (0, wanted, False))
    said = tried("report", path, "--process", "a,x,c", "--no-symbols")[2]
    results.check("a word of a list that matches nothing is named", "'x' matches no process" in said and said.count("matches") == 1, said)
    for words, wanted in (("d, e.exe", 0), ("a,x", 1)):
        results.equal(f"check --process '{words}'", tried("check", path, "--process", words, "--max-outstanding", "1M", "--no-symbols")[0], wanted)


ONE, TWO = "\\app\\one\\Release\\b.node", "\\app\\two\\Release\\b.node"
GUIDS = bytes([1] * 16), bytes([2] * 16)


def modules_of(path, *options):
    return sizes(path, *options, key="module")


def write_modules(path, images, blocks):
    write(path, [Program(100, b"app.exe", "", images)], [Block(100, size, [base + 0x1234]) for base, size in blocks])


def check_namesakes(results):
    """Two files of one name in one process are two modules; the same build is one, and so is a file of Windows."""
    both, one, two, alone = (path_of(f"namesakes_{name}.etl") for name in ("both", "one", "two", "alone"))
    images = [Image(ONE, 0x7FF800000000, GUIDS[0]), Image(TWO, 0x7FF900000000, GUIDS[1])]
    write_modules(both, images, [(0x7FF800000000, 10), (0x7FF900000000, 20)])
    write_modules(one, images, [(0x7FF800000000, 10)])
    write_modules(two, images, [(0x7FF900000000, 10)])
    write_modules(alone, images[:1], [(0x7FF800000000, 10)])
    names = ["one\\Release\\b.node", "two\\Release\\b.node"]
    store = path_of("namesakes.ehs")
    run("store", both, "-o", store)
    for path in (both, store):
        results.equal(f"modules of one name in {path[-3:]}", modules_of(path), [(names[0], 10), (names[1], 20)])
    results.equal("a pattern finds both by their name", modules_of(both, "--require-frame", "b.node!"), [(names[0], 10), (names[1], 20)])
    results.equal("and one by its folder", modules_of(both, "--require-frame", "two*!"), [(names[1], 20)])
    results.equal("a file alone has its plain name", modules_of(alone), [("b.node", 10)])
    states = {row["module"]: row["state"] for row in run_json("diff", one, two, "--group-by", "module", "--all", "--no-symbols")["rows"]}
    results.equal("diff tells them apart", states, {names[0]: "removed", names[1]: "added"})
    states = {row["module"]: row["state"] for row in run_json("diff", alone, one, "--group-by", "module", "--all", "--no-symbols")["rows"]}
    results.equal("but not if one run has only one of them", states, {"b.node": "unchanged"})
    for title, changed, wanted in (
            ("copies of one build", [Image(ONE, 0x7FF800000000, GUIDS[0]), Image(TWO, 0x7FF900000000, GUIDS[0])], [("b.node", 30)]),
            ("files of Windows", [Image("\\Windows\\System32\\b.node", 0x7FF800000000, GUIDS[0]),
                                  Image("\\Windows\\SysWOW64\\b.node", 0x7FF900000000, GUIDS[1])], [("b.node", 30)])):
        write_modules(both, changed, [(0x7FF800000000, 10), (0x7FF900000000, 20)])
        results.equal(title, modules_of(both), wanted)


def check_gate(results):
    """In gates, suppressions and fingerprints two files of one name are two, and one alone is the one that it was."""
    both, alone, moved = (path_of(f"gate_{name}.etl") for name in ("both", "alone", "moved"))
    images = [Image(ONE, 0x7FF800000000, GUIDS[0]), Image(TWO, 0x7FF900000000, GUIDS[1])]
    write_modules(both, images, [(0x7FF800000000, 10), (0x7FF900000000, 20)])
    write_modules(alone, images[:1], [(0x7FF800000000, 10)])
    write_modules(moved, images[1:], [(0x7FF900000000, 20)])
    limit = ["--max-outstanding", "stack:1", "--no-symbols", "--no-cull"]

    def judged(path, *more):
        return json.loads(tried("check", path, *limit, *more, "--format", "json")[1])

    subjects = judged(both)["budgets"][0]["subjects"]
    results.equal("stacks that differ in their module alone are two subjects", sorted(s["measured"] for s in subjects), [10, 20])
    results.check("with a fingerprint of their own", len({s["fingerprint"] for s in subjects}) == 2, subjects)
    again = judged(both, "--process", "app.exe")["budgets"][0]["subjects"]
    results.equal("which stays", {s["fingerprint"] for s in again}, {s["fingerprint"] for s in subjects})
    run_of = json.loads(tried("check", both, *limit, "--format", "sarif")[1])["runs"][0]
    prints = [r["partialFingerprints"] for r in run_of["results"]]
    results.check("in SARIF each alert is one, with versions",
                  len({p["primaryLocationLineHash"] for p in prints}) == len({p["etlheapStack/v2"] for p in prints}) == 2, prints)
    cases = re.findall(r'<testcase classname="[^"]*" name="([^"]*)"', tried("check", both, *limit, "--format", "junit")[1])
    results.equal("and in JUnit a case of its own", len(set(cases)), 2)
    known = path_of("known.supp")
    for pattern, path, wanted in (
            ("b.node", both, []), ("^b.node$", both, []), ("one\\Release\\b.node", both, [20]), ("^two\\*\\b.node$", both, [10]),
            ("one\\Release\\b.node", alone, []), ("two\\Release\\b.node", alone, [10]), ("^b.node$", alone, []),
            ("one\\Release\\b.node", moved, [20])):
        with open(known, "w", encoding="utf-8") as file:
            file.write(f"leak:{pattern}\n")
        found = [s["measured"] for s in judged(path, "--suppressions", known)["budgets"][0]["subjects"]]
        results.equal(f"leak:{pattern} in {os.path.basename(path)}", sorted(found), wanted)
    # One run has one of them alone, so growth adds up both, and only a line about both suppresses it.
    for pattern, wanted in (("b.node", []), ("one\\Release\\b.node", [10]), ("two\\Release\\b.node", [10]), ("Release\\b.node", [])):
        with open(known, "w", encoding="utf-8") as file:
            file.write(f"leak:{pattern}\n")
        out = tried("check", both, "--max-growth", "stack:0", "--baseline", moved, "--no-symbols", "--no-cull", "--suppressions", known,
                    "--format", "json")[1]
        found = [s["measured"] for s in json.loads(out)["budgets"][0]["subjects"]]
        results.equal(f"leak:{pattern} in growth", found, wanted)


def check_summaries(results):
    """A summary has no processes, so it keeps the names that modules had in their runs, however often it is merged."""
    both, other = path_of("summed_both.etl"), path_of("summed_other.etl")
    sums = [path_of(f"summed_{number}.ehs") for number in range(4)]
    images = [Image(ONE, 0x7FF800000000, GUIDS[0]), Image(TWO, 0x7FF900000000, GUIDS[1])]
    write_modules(both, images, [(0x7FF800000000, 10)])  # so the summary has one of the two
    write_modules(other, [Image(ONE, 0x7FF800000000, bytes([3] * 16))], [(0x7FF800000000, 20)])
    for path, out in ((both, sums[0]), (other, sums[1])):
        run("store", path, "--summary", "-o", out)
    run("merge", *sums[:2], "-o", sums[2])
    run("merge", sums[2], "-o", sums[3])
    for path in sums[2:]:
        results.equal("modules of one name in different runs", modules_of(path), [("b.node", 20), ("one\\Release\\b.node", 10)])
    contents = [open(path, "rb").read() for path in sums[2:]]
    results.check("a summary that is merged alone stays as it is", contents[0] == contents[1], *map(len, contents))


def check_reported_modules(results):
    folder = os.path.join(FOLDER, "10-modules-of-one-name")
    if not os.path.isdir(folder):
        return results.skip("modules of one name", "traces-reports is not here")
    files = {name: os.path.join(folder, f"{name}.etl") for name in ("both", "bcrypt", "sharp")}
    results.equal("modules of one name", [size for _, size in modules_of(files["both"])], [10000, 10000])
    rows = run_json("diff", files["bcrypt"], files["sharp"], "--no-symbols")["rows"]
    results.equal("are two in diff", sorted(row["state"] for row in rows), ["added", "removed"])
    status, text, _ = tried("check", files["sharp"], "--baseline", files["bcrypt"], "--max-growth", "stack:100", "--no-cull", "--no-symbols")
    results.check("and in check", status == 1 and "sharp\\build" in text, status, text)


def main():
    results = Results()
    check_reported_code_pages(results)
    check_code_pages(results)
    check_unnamed(results)
    check_commas(results)
    check_namesakes(results)
    check_gate(results)
    check_summaries(results)
    check_reported_modules(results)
    results.finish()


main()
