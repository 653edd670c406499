#!/usr/bin/env python3
"""Are the lines of code around a frame those of the file, and is no other file ever read?

The demo's symbols name files below C:\\src (make_demo_symbols.c). Here is a tree of such files, whose
lines this test knows, and what a hostile PDB could name: paths that climb, links that lead out,
pipes, devices, huge and binary files. The names in PDBs are changed byte by byte, so the hostile paths
really are in symbols. Lines are asked for by the command and by a server, which have to say the same;
checksums are those that clang writes into the PDB of a program compiled here.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import zlib

import oracle_pdb
import oracle_symbols
from oracle_support import ETLHEAP, WORK, Results
from view_client import Server

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/check/make_trace"))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
FOLDER = os.path.join(WORK, "sources")
TREE = os.path.join(FOLDER, "tree")
ROOT = f"C:\\src={TREE}"
SECRET = "the secret of another folder"
HISTORY = "C:\\src\\BatteryMeter\\history.cpp"
LINES = 200


def code(name):
    """A file whose lines tell which they are."""
    return ["\t" * (number % 3) + f"{name} {number}; // <b>\u00e4&amp;" for number in range(1, LINES + 1)]


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def ask(*options, trace="demo.etl", symbols="symbols"):
    """(exit status, what is printed, what is said)"""
    done = subprocess.run([ETLHEAP, "symbols", trace, "--symbols", symbols, *options], cwd=FOLDER, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def sources(place, *options, root=ROOT, **more):
    status, out, said = ask("--source", place, "--source-root", root, "--format", "json", *options, **more)
    assert status == 0, said
    return json.loads(out)["sources"]


def make_demo():
    for name in ("history", "monitor", "ui", "text", "json", "settings", "http", "icons", "compactor"):
        write(f"{TREE}/BatteryMeter/{name}.cpp", "\n".join(code(name)) + "\n")
    write(os.path.join(FOLDER, "secret.cpp"), "\n".join([SECRET] * LINES))
    subprocess.run([MAKE_TRACE, "demo", os.path.join(FOLDER, "demo.etl")], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(os.path.join(FOLDER, "symbols"))
    subprocess.run([MAKE_SYMBOLS, os.path.join(FOLDER, "symbols")], check=True)


def check_lines(results):
    wanted = code("history")
    for line, around in ((41, 4), (1, 3), (LINES, 2), (3, 0), (100, 1000), (2, 2)):
        part, = sources(f"{HISTORY}:{line}", "--source-lines", str(around))
        first = max(1, line - around)
        results.equal(f"{around} lines around {line}", (part["status"], part["first_line"], part["lines"]),
                      ("shown", first, wanted[first - 1:line + around]))
    part, = sources(f"{HISTORY}:41")
    results.equal("four lines by default", (part["file"], part["line"], len(part["lines"])), (HISTORY, 41, 9))
    results.equal("the path is below the folder", part["path"], f"{TREE}/BatteryMeter/history.cpp")
    results.equal("no checksum, so nothing is said", (part["changed"], "link" in part), (None, False))
    part, = sources(f"{HISTORY}:{LINES + 1}")
    results.equal("a line behind the end", (part["status"], part["lines"], part["first_line"]), ("past-end", [], None))
    for place in ("history.cpp:41", "HISTORY.CPP:41", "batterymeter/History.cpp:41", "c:/SRC/BatteryMeter\\history.cpp:41"):
        results.equal(f"{place} is that file", sources(place)[0]["file"], HISTORY)
    for place in ("story.cpp:41", "/etc/passwd:1", f"{TREE}/BatteryMeter/history.cpp:41", "..\\history.cpp:41", "src\\..\\history.cpp:1", ":1"):
        status, out, said = ask("--source", place, "--source-root", ROOT)
        results.check(f"{place} is no file of the symbols", status == 2 and out == "" and ("name the source file" in said or "FILE:LINE" in said), status, out, said)
    _, out, _ = ask("--source", "history.cpp:41", "--source", "ui.cpp:26", "--source-root", ROOT, "--source-lines", "1")
    expanded = [f"{'>' if number == 41 else ' '} {number}  {wanted[number - 1].expandtabs(4)}" for number in (40, 41, 42)]
    results.equal("text has the lines with numbers and a mark", out.splitlines()[:6], [f"{HISTORY}:41", f"{TREE}/BatteryMeter/history.cpp:41", "", *expanded])
    results.check("text has no tabs", "\t" not in out, out)
    several = sources("history.cpp:41", "--source", "ui.cpp:26")
    results.equal("several places, in their order", [(part["file"].split("\\")[-1], part["line"]) for part in several], [("history.cpp", 41), ("ui.cpp", 26)])


def check_encodings(results):
    path = f"{TREE}/BatteryMeter/history.cpp"
    kept = open(path, "rb").read()
    text = "\r\n".join(code("history")) + "\r\n"
    for name, content in (("UTF-8 with a mark, and CRLF", b"\xef\xbb\xbf" + text.encode()), ("UTF-16", b"\xff\xfe" + text.encode("utf-16-le")),
                          ("big-endian UTF-16", b"\xfe\xff" + text.encode("utf-16-be")), ("no end of the last line", text.rstrip().encode())):
        write(path, content)
        part, = sources(f"{HISTORY}:{LINES}", "--source-lines", str(LINES))
        results.equal(f"{name}: the same lines", part["lines"], code("history"))
    write(path, b"caf\xe9\nsecond\x1b[31m\n")
    results.equal("what is not UTF-8 is replaced", sources(f"{HISTORY}:1")[0]["lines"], ["caf\ufffd", "second\x1b[31m"])
    _, out, _ = ask("--source", "history.cpp:1", "--source-root", ROOT)
    results.check("text has no escape sequences", "\x1b" not in out and "second" in out, out)
    write(path, "x" * 5000 + "\n" + "\u00e4" * 800 + "\n")
    lines = sources(f"{HISTORY}:1")[0]["lines"]
    results.equal("long lines are cut between characters", lines, ["x" * 1000 + "\u2026", "\u00e4" * 500 + "\u2026"])
    write(path, b"")
    results.equal("an empty file has no lines", sources(f"{HISTORY}:1")[0]["status"], "past-end")
    write(path, kept)


def check_files(results):
    path = f"{TREE}/BatteryMeter/history.cpp"
    kept = open(path, "rb").read()
    secret = os.path.join(FOLDER, "secret.cpp")

    def status(name, make, wanted):
        os.remove(path) if not os.path.isdir(path) else os.rmdir(path)
        make()
        status, out, _ = ask("--source", "history.cpp:1", "--source-root", ROOT, "--format", "json")
        part, = json.loads(out)["sources"]
        results.check(f"{name}: {wanted}", status == 0 and part["status"] == wanted and SECRET not in out and (wanted == "shown") == bool(part["lines"]), out)

    status("a pipe", lambda: os.mkfifo(path), "refused")
    status("a link to a device", lambda: os.symlink("/dev/zero", path), "refused")
    status("a link out of the folder", lambda: os.symlink(secret, path), "refused")
    status("a link out of it and back", lambda: os.symlink("../../tree/BatteryMeter/ui.cpp", path), "shown")
    status("a link to itself", lambda: os.symlink(path, path), "unreadable")
    status("a link to nothing", lambda: os.symlink("nowhere", path), "missing")
    status("a folder", lambda: os.mkdir(path), "refused")
    status("a binary file", lambda: write(path, b"MZ\0\0" * 100), "binary")
    status("a file of 4 MiB", lambda: write(path, b"0123456\n" * (1 << 19)), "shown")
    status("a larger one", lambda: write(path, b"0123456\n" * (1 << 19) + b"x"), "too-large")
    status("a huge file with holes", lambda: (write(path, b""), os.truncate(path, 1 << 40)), "too-large")
    if os.geteuid() != 0:
        status("a file of somebody else", lambda: (write(path, b"x"), os.chmod(path, 0)), "unreadable")
    os.remove(path)
    results.equal("no such file", sources("history.cpp:1")[0]["status"], "missing")
    write(f"{TREE}/BatteryMeter/HiStOrY.cpp", kept)
    results.equal("a name of other case is found", sources("history.cpp:2", "--source-lines", "0")[0]["lines"], code("history")[1:2])
    os.remove(f"{TREE}/BatteryMeter/HiStOrY.cpp")
    write(path, kept)
    results.equal("another root: nothing is read", sources("history.cpp:1", root=f"C:\\other={TREE}")[0]["status"], "unmapped")
    part, = sources("history.cpp:1", root=f"c:/SRC/batterymeter\\={TREE}/BatteryMeter/")
    results.equal("slashes and case of a root do not matter", (part["status"], part["path"]), ("shown", f"{TREE}/BatteryMeter/history.cpp"))
    results.equal("the folder may be missing", sources("history.cpp:1", root=f"C:\\src={FOLDER}/nowhere")[0]["status"], "missing")
    done = subprocess.run([ETLHEAP, "symbols", os.path.join(FOLDER, "demo.etl"), "--symbols", os.path.join(FOLDER, "symbols"), "--source", "history.cpp:1",
                           "--source-root", "C:\\src=", "--format", "json"], cwd=TREE, capture_output=True, check=True)
    results.equal("an empty folder is the current one", json.loads(done.stdout)["sources"][0]["lines"][0], code("history")[0])


def hostile_symbols(path):
    """A folder of symbols whose PDB names this path in place of that of history.cpp, of the same size."""
    wanted = HISTORY.encode()
    assert len(path.encode()) == len(wanted), (len(path.encode()), len(wanted))
    folder = os.path.join(FOLDER, "hostile")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(FOLDER, "symbols"), folder)
    pdb = os.path.join(folder, "batterymeter.pdb")
    data = open(pdb, "rb").read()
    assert wanted in data
    write(pdb, data.replace(wanted, path.encode()))
    return folder


def padded(start, end):
    """start + "./" again and again + end, as long as the path that it replaces."""
    room = len(HISTORY) - len(start) - len(end)
    return start + ("\\." * room)[:room // 2 * 2] + ("\\" * (room % 2)) + end


def check_hostile(results):
    os.symlink("/", f"{TREE}/up")
    os.symlink(FOLDER, f"{TREE}/out")
    os.mkfifo(f"{TREE}/pipe")
    write(f"{TREE}/a", "\n".join(code("a")))
    for start, end, wanted in (("C:\\src", "\\..\\secret.cpp", "refused"), ("C:\\src\\..\\..", "\\etc\\passwd", "refused"), ("C:\\src", "\\a\\..\\..\\x", "refused"),
                               ("C:\\src", "\\out\\secret.cpp", "refused"), ("C:\\src", "\\up\\etc\\passwd", "refused"), ("C:\\src", "\\pipe", "refused"),
                               ("C:\\src", "\\a\\..\\a", "shown"), ("C:\\src", "\\a", "shown"), ("C:/src", "/../../x", "refused"),
                               ("C:\\srcx", "\\a", "unmapped"), ("C:\\src", "\\..", "refused"), ("/etc", "/passwd", "unmapped"),
                               ("C:\\src", "\\a\\b", "missing")):
        path = padded(start, end)
        folder = hostile_symbols(path)
        part, = sources(f"{path}:1", symbols=folder)
        results.check(f"{start}...{end}: {wanted}", part["status"] == wanted and part["file"] == path and SECRET not in json.dumps(part) and "root:" not in json.dumps(part),
                      part)
        status, out, _ = ask("--source", f"{path}:1", "--source-root", ROOT, symbols=folder)
        results.check(f"{start}...{end}: the same as text", status == 0 and SECRET not in out and "root:" not in out, out)
    for name in ("up", "out", "pipe", "a"):
        os.remove(f"{TREE}/{name}")


def check_links(results):
    write(f"{TREE}/a b#c/BatteryMeter/ui.cpp", "\n".join(code("ui")))
    part, = sources("ui.cpp:26", "--source-links", "vscode", root=f"C:\\src={TREE}/a b#c")
    results.equal("a link has the path encoded", part["link"], "vscode://file" + os.path.realpath(TREE).replace(" ", "%20") + "/a%20b%23c/BatteryMeter/ui.cpp:26")
    part, = sources("ui.cpp:26", "--source-links", "vscode", root=f"C:\\other={TREE}")
    results.check("a file that is not read has none", "link" not in part, part)
    shutil.rmtree(f"{TREE}/a b#c")


def check_options(results):
    for options, said in ((["--source", "a.cpp:1"], "--source needs --source-root"), (["--source-lines", "1"], "--source-lines needs --source"),
                          (["--source-links", "vscode"], "--source-links needs --source-root"), (["--source", "a.cpp", "--source-root", "a=b"], "expected FILE:LINE"),
                          (["--source", "a.cpp:0", "--source-root", "a=b"], "expected FILE:LINE"), (["--source", "a.cpp:4294967296", "--source-root", "a=b"], "expected FILE:LINE"),
                          (["--source", "a.cpp:1", "--source-root", "a"], "expected FROM=TO"), (["--source", "a:1", "--source-root", "a=b", "--source-lines", "1001"], "up to 1000"),
                          (["--source", "a:1", "--source-root", "a=b", "--kind", "heap"], "cannot be combined"),
                          (["--source", "a:1", "--source-root", "a=b", "--format", "csv"], "cannot be combined"),
                          (["--source-root", "a=b", "--source-links", "emacs"], "vscode")):
        status, out, err = ask(*options)
        results.check(f"{' '.join(options)}: refused", status == 2 and out == "" and said in err, status, err)


def page_data(path):
    text = open(path, encoding="utf-8").read()
    return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text), -15))


def check_page(results):
    ways = {}
    for name, options in (("with", ["--source-root", ROOT]), ("links", ["--source-root", ROOT, "--source-links", "vscode"]), ("without", [])):
        path = os.path.join(FOLDER, f"{name}.html")
        subprocess.run([ETLHEAP, "export", "demo.etl", "--symbols", "symbols", "--format", "html", "-o", path, *options], cwd=FOLDER, check=True)
        ways[name] = page_data(path)
        results.check(f"page {name}: below 2 MB", os.path.getsize(path) < 2000000, os.path.getsize(path))
    results.check("a page without a folder has no code", "sources" not in ways["without"] and "source_roots" not in ways["without"])
    results.equal("a page says which folders it used", ways["with"]["source_roots"], [ROOT])
    parts = unpacked(ways["with"]["sources"])["sources"]
    places = {(part["file"], part["line"]) for part in parts}
    done = subprocess.run([ETLHEAP, "report", "demo.etl", "--symbols", "symbols", "--group-by", "kind,process,stack", "--format", "json", "--top", "all"], cwd=FOLDER, capture_output=True, check=True)
    frames = json.loads(done.stdout)["frames"]
    wanted = {(frame["file"], frame["line"]) for frame in frames if frame["file"] and frame["file"].startswith("C:\\src\\BatteryMeter") and "new_scalar" not in frame["file"]}
    results.equal("a page has the lines of all frames of its rows", places, wanted)
    results.check("there are some", len(wanted) > 10, len(wanted))
    for part in parts[:5]:
        answer, = sources(f"{part['file']}:{part['line']}")
        results.equal(f"the command prints the same of {part['file']}:{part['line']}", part, answer)
    results.check("links only if they are asked for", all("link" not in part for part in parts) and all("link" in part for part in unpacked(ways["links"]["sources"])["sources"]))


def check_server(results):
    server = Server([os.path.join(FOLDER, "demo.etl")], "--symbols", os.path.join(FOLDER, "symbols"), "--source-root", ROOT, "--source-links", "vscode", folder=os.path.join(FOLDER, "tmp"))
    server.await_inputs()
    session = server.session()
    results.equal("the session names the folders", session["source_roots"], [ROOT])
    words = ["--source-root", ROOT, "--source-links", "vscode"]
    repeated = {name: all(word in " ".join(all_words) for word in words) for name, all_words in session["command_words"].items()}
    results.equal("commands that show code repeat the folder", sorted(name for name, has in repeated.items() if has), ["export", "symbols"])
    for place in ("history.cpp:41", f"{HISTORY}:45", "ui.cpp:9999"):
        reply = server.ask("symbols", ("source", place))
        _, wanted, _ = ask("--source", place, "--source-root", ROOT, "--source-links", "vscode", "--format", "json")
        results.check(f"{place}: the bytes that the command prints", reply.status == 200 and reply.body.decode() == wanted, reply.status, reply.body[:300])
    results.equal("without a place it is the list of modules", server.ask("symbols").json()["schema"], "etlheap-symbols-1")
    before = open(os.path.join(FOLDER, "secret.cpp"), "rb").read()
    for place in ("/etc/passwd:1", "../secret.cpp:1", "..\\..\\secret.cpp:1", f"{FOLDER}/secret.cpp:1", f"{TREE}/BatteryMeter/history.cpp:1", "C:\\src\\..\\secret.cpp:1",
                  "secret.cpp:1", "file:///etc/passwd:1", "\\\\?\\C:\\secret.cpp:1", "history.cpp\0:1", "C:\\src\\BatteryMeter\\..\\BatteryMeter\\history.cpp:1", "*:1", "BatteryMeter:1"):
        reply = server.ask("symbols", ("source", place))
        results.check(f"{place!r}: refused", reply.status == 400 and SECRET.encode() not in reply.body and b"root:" not in reply.body, reply.status, reply.body)
    for option in (("source-root", f"C:\\src={FOLDER}"), ("source-root", "=/"), ("source-links", "vscode")):
        reply = server.ask("symbols", ("source", "history.cpp:41"), option)
        results.check(f"{option[0]} is never a client's", reply.status == 400, reply.status, reply.body)
    results.equal("nobody has written", open(os.path.join(FOLDER, "secret.cpp"), "rb").read(), before)
    saved = server.ask("export", ("format", "html"))
    results.check("a saved page has the code", saved.status == 200 and b'"sources":' in saved.body, saved.status)
    server.stop()
    server = Server([os.path.join(FOLDER, "demo.etl")], "--symbols", os.path.join(FOLDER, "symbols"), folder=os.path.join(FOLDER, "tmp"))
    server.await_inputs()
    reply = server.ask("symbols", ("source", "history.cpp:41"))
    results.check("without a folder nothing is read", reply.status == 400 and server.session()["source_roots"] == [], reply.status, reply.body)
    server.stop()


def check_checksums(results):
    """clang writes MD5; the other kinds are in test_source_lines.c."""
    work = os.path.join(WORK, "compiled")
    os.makedirs(work)
    source = os.path.join(work, "sample_alloc.cpp")
    shutil.copy(os.path.join(oracle_pdb.TESTS, "sample_alloc.cpp"), source)
    exe, pdb = oracle_pdb.make_program("compiled/app", source, "x86_64", ["-O0"], [])
    program = oracle_symbols.Program(exe, pdb)
    rvas = [rva for name, rva in oracle_symbols.functions_of(program).items() if rva > 0]
    trace = oracle_symbols.make_trace("compiled/app", program.lines(), oracle_symbols.memory("alloc", 64, [program.at(rva + 8) for rva in sorted(rvas)[:20]]))
    root = f"{work}={work}"

    def changed():
        part, *more = sources("sample_alloc.cpp:5", root=root, trace=trace, symbols=work)
        assert not more and part["status"] == "shown", part
        return part["changed"]

    content = open(source, "rb").read()
    results.equal("the file that was compiled", changed(), False)
    write(source, content.replace(b"\n", b"\r\n"))
    results.equal("with other ends of lines it is the same", changed(), False)
    write(source, b"// one line more\n" + content)
    results.equal("with a line more it has changed", changed(), True)
    _, out, _ = ask("--source", "sample_alloc.cpp:5", "--source-root", root, trace=trace, symbols=work)
    results.check("text says so", "changed since it was compiled" in out, out)
    write(source, content[:-1] + b" ")
    results.equal("one byte at its end changes it", changed(), True)
    write(source, content)
    results.equal("as it was", changed(), False)


def main():
    results = Results()
    os.makedirs(FOLDER)
    make_demo()
    check_lines(results)
    check_encodings(results)
    check_files(results)
    check_hostile(results)
    check_links(results)
    check_options(results)
    check_page(results)
    check_server(results)
    check_checksums(results)
    results.finish()


if __name__ == "__main__":
    main()
