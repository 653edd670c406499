#!/usr/bin/env python3
"""What a run writes aside is bounded, and what killed runs left is removed with care.

Packed traces are opened with limits around their unpacked size. Pipes stand where lists of patterns
are expected. Files with the names of temporary ones, of this user and others, locked, linked, new and
old, lie in TMPDIR and in the folder of a batch: only those that a killed run left may go.
"""

import fcntl
import gzip
import os
import shutil
import subprocess
import time
import zipfile

from oracle_support import ETLHEAP, WORK, Results

MAKE_TRACE = os.environ["MAKE_TRACE"]
FOLDER = os.path.join(WORK, "leftovers")
FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "fleet", "fleet.sh")


def run(*words):
    return subprocess.run([ETLHEAP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=30,
                          env={**os.environ, "TMPDIR": os.path.abspath("tmp")})


def check_limits(results):
    with open("in.etl", "rb") as file:
        content = file.read()
    size = len(content)
    with gzip.open("in.etl.gz", "wb") as file:
        file.write(content)
    parts = ["kernel.etl", "heap.etl"]
    subprocess.run([MAKE_TRACE, "demo", parts[0], "--split", parts[1]], check=True, stdout=subprocess.DEVNULL)
    for name, members in (("in.etl.zip", ["in.etl"]), ("two.etl.zip", parts)):
        with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as packed:
            for member in members:
                packed.write(member)
    for name, need in (("in.etl.gz", size), ("in.etl.zip", size), ("two.etl.zip", sum(map(os.path.getsize, parts)))):
        enough = run("info", name, "--unpack-limit", str(need))
        less = run("info", name, "--unpack-limit", str(need - 1))
        good = less.returncode == 3 and f"limit of {need - 1} bytes".encode() in less.stderr and b"raise --unpack-limit" in less.stderr
        results.check(f"{name}: its size is allowed, and not less", enough.returncode == 0 and good, enough.stderr, less.stderr)
        results.check(f"{name}: no limit is needed", run("info", name).returncode == 0)
    results.equal("nothing is left in TMPDIR", os.listdir("tmp"), [])


def check_pipes(results):
    os.mkfifo("pipe")
    for words in (["report", "in.etl", "--cull-list", "pipe"], ["report", "in.etl", "--stack-tags", "pipe"],
                  ["report", "in.etl", "--group-by", "pool_tag", "--pool-tags", "pipe"], ["report", "in.etl", "--custom-heap", "@pipe"],
                  ["check", "in.etl", "--max-outstanding", "1", "--suppressions", "pipe"], ["report", "pipe"], ["diff", "pipe", "in.etl"],
                  ["check", "in.etl", "--max-growth", "1", "--baseline", "pipe"], ["merge", "pipe", "-o", "all.ehs"]):
        try:
            done = run(*words)
            results.check(f"a pipe is refused: {' '.join(words)}", done.returncode in (2, 3) and done.stderr != b"", done.returncode, done.stderr)
        except subprocess.TimeoutExpired:
            results.check(f"a pipe is refused: {' '.join(words)}", False, "it waits")
    os.makedirs("piped")
    os.mkfifo("piped/runs.ndjson")
    try:
        done = run("store", "in.etl", "--out-dir", "piped")
        results.check("a pipe in place of the index is refused", done.returncode == 3, done.stderr)
    except subprocess.TimeoutExpired:
        results.check("a pipe in place of the index is refused", False, "it waits")


def make(path, age=3600):
    with open(path, "w", encoding="ascii") as file:
        file.write("left\n")
    os.utime(path, (time.time() - age,) * 2)


def check_removal(results, folder, ours, act):
    """`ours` makes names that killed runs leave; `act` is a run that removes them."""
    outside = os.path.join(FOLDER, "outside")
    make(outside)
    make(os.path.join(folder, ours(0)))
    make(os.path.join(folder, ours(1)))
    os.symlink(outside, os.path.join(folder, ours(2)))
    os.mkfifo(os.path.join(folder, ours(3)))
    os.makedirs(os.path.join(folder, ours(4)))
    strange = [f"{ours(5)}x", ours(8).replace(".tmp", "a.tmp") if ".tmp" in ours(8) else f"{ours(8)}.etl", f"x{ours(6)}", "etlheap-12", "etlheap-a.b-c1", "notes.tmp"]
    for name in strange:
        make(os.path.join(folder, name))
    kept = {ours(1), ours(2), ours(3), ours(4), *strange}
    if os.geteuid() == 0:
        make(os.path.join(folder, ours(7)))
        os.chown(os.path.join(folder, ours(7)), 65534, 65534)
        kept.add(ours(7))
    with open(os.path.join(folder, ours(1)), "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = act()
    left = set(os.listdir(folder))
    results.check(f"{folder}: a leftover is removed", done.returncode == 0 and ours(0) not in left, done.stderr, left)
    results.check(f"{folder}: all else is kept", kept <= left and os.path.exists(outside), kept - left)
    for name in kept & left - {ours(4)}:
        os.remove(os.path.join(folder, name))
    os.rmdir(os.path.join(folder, ours(4)))


def check_leftovers(results):
    check_removal(results, "tmp", lambda i: f"etlheap-Aa1bC{i}", lambda: run("info", "in.etl.gz"))
    make("tmp/etlheap-youngF", age=0)
    run("info", "in.etl.gz")
    results.check("a file that was just made is kept", os.path.exists("tmp/etlheap-youngF"))
    os.remove("tmp/etlheap-youngF")
    os.makedirs("stores")
    gone = subprocess.run(["sh", "-c", "echo $$"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()  # a process that has ended
    check_removal(results, "stores", lambda i: f"in.ehs.{gone}-{i}.tmp", lambda: run("store", "in.etl", "--out-dir", "stores"))
    if shutil.which("flock") is None:
        results.skip("what fleet.sh removes", "flock is not installed")
        return
    os.makedirs("fleet")
    words = ["bash", "-c", 'source "$1"; fleet_remove_leftovers fleet/in.ehs', "-", FLEET]
    check_removal(results, "fleet", lambda i: f"in.ehs.{gone}-{i}.tmp",
                  lambda: subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=30))


def check_locks(results):
    """While a run writes, its temporary file is locked."""
    os.mkfifo("slow")
    writer = subprocess.Popen([ETLHEAP, "report", "-", "--progress", "never"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": os.path.abspath("tmp")})
    with open("in.etl", "rb") as file:
        writer.stdin.write(file.read())
    writer.stdin.flush()
    free, names = True, []
    for _ in range(200):
        names = os.listdir("tmp")
        if names:
            try:
                with open(os.path.join("tmp", names[0]), "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                free = False
                break
        time.sleep(0.02)
    results.check("a file in use is locked", names and not free, names)
    writer.kill()
    writer.wait()
    for name in os.listdir("tmp"):
        os.utime(os.path.join("tmp", name), (1, 1))
    run("info", "in.etl.gz")
    results.equal("what the killed run left is removed by the next", os.listdir("tmp"), [])


def check_index(results):
    """A line of the index that names a file elsewhere is not taken over."""
    good = '{"schema": "etlheap-run-1", "file": "/gone.etl", "output": "gone.ehs", "verdict": "stored"}'
    false = ['{"schema": "etlheap-run-1", "file": "/a.etl", "output": "../in.ehs", "verdict": "stored"}',
             '{"schema": "etlheap-run-1", "file": "/b.etl", "output": "/etc/in.ehs", "verdict": "stored"}',
             '{"schema": "etlheap-run-1", "file": "/c.etl", "output": false, "verdict": "stored"}']
    os.makedirs("index")
    with open("index/runs.ndjson", "w", encoding="ascii") as file:
        file.write("\n".join([good, *false]) + "\n")
    done = run("store", "in.etl", "--out-dir", "index")
    with open("index/runs.ndjson", encoding="ascii") as file:
        text = file.read()
    results.check("a false output is not taken over", done.returncode == 0 and good in text and not any(line in text for line in false), done.stderr, text)


def main():
    results = Results()
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(os.path.join(FOLDER, "tmp"))
    os.chdir(FOLDER)
    subprocess.run([MAKE_TRACE, "demo", "in.etl"], check=True, stdout=subprocess.DEVNULL)
    check_limits(results)
    check_pipes(results)
    check_leftovers(results)
    check_locks(results)
    check_index(results)
    results.finish()


if __name__ == "__main__":
    main()
