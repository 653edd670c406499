#!/usr/bin/env python3
"""Interrupts and starves the program while it unpacks traces or reads them from a pipe.

Whenever SIGINT or SIGTERM comes, the program must end by that signal within seconds, also
while a pipe brings nothing, and leave no temporary file. A folder for temporary files that
is full, or a limit on the size of files, must be a sentence and status 3, also if what is
packed unpacks to more than 4 GiB. A terminal is refused at once.
"""

import ctypes
import gzip
import os
import pty
import resource
import shutil
import signal
import subprocess
import time

import oracle_support
from oracle_support import LONG, WORK, Results, why_no_terminal

ETLHEAP = oracle_support.ETLHEAP
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/make_trace"))
TEMPORARY = "unpacked"
PATIENCE_SECONDS = 20
LIMIT_BYTES = 1 << 20
GIB = 1 << 30
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000

results = Results()


def start(*arguments, **more):
    return subprocess.Popen([ETLHEAP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "TMPDIR": TEMPORARY}, **more)


def end(program):
    """Status and standard error; None and why if it would not end."""
    try:
        said = program.communicate(timeout=PATIENCE_SECONDS)[1]
        return program.returncode, said.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        program.kill()
        program.communicate()
        return None, f"it still ran after {PATIENCE_SECONDS} s"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def wait_for(condition):
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)
    return condition()


def is_unpacking():
    return any(os.path.getsize(os.path.join(TEMPORARY, name)) > 0 for name in os.listdir(TEMPORARY))


def make_inputs():
    os.makedirs(TEMPORARY)
    subprocess.run([MAKE_TRACE, "demo", "a.etl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([ETLHEAP, "store", "a.etl", "-o", "a.ehs"], check=True)
    trace = read("a.etl")
    write("a.ehs.gz", gzip.compress(read("a.ehs")))
    write("a.etl.gz", gzip.compress(trace))
    # Zeros behind a trace: kilobytes that unpack to gigabytes.
    zeros = gzip.compress(bytes(1 << 26))
    write("bomb.etl.gz", gzip.compress(trace) + zeros * (5 * GIB >> 26))
    if not shutil.which("zstd"):
        results.skip("files of zstd", "it is not installed (package zstd)")
        return
    frames = [subprocess.run(["zstd", "-q", "-c"], input=content, check=True, stdout=subprocess.PIPE).stdout
              for content in (trace, bytes(1 << 26))]
    write("bomb.etl.zst", frames[0] + frames[1] * (5 * GIB >> 26))


def bombs():
    return [name for name in ("bomb.etl.gz", "bomb.etl.zst") if os.path.exists(name)]


# --- signals ----------------------------------------------------------------------------------

def check_stopped(name, program, number):
    program.send_signal(number)
    begun = time.monotonic()
    try:
        program.wait(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    seconds = time.monotonic() - begun
    status, said = end(program)
    results.check(f"{signal.Signals(number).name} {name}",
                  status == -number and seconds < PATIENCE_SECONDS / 2 and os.listdir(TEMPORARY) == [],
                  f"status {status} after {seconds:.1f} s, left {os.listdir(TEMPORARY)}", said)


def check_interruption():
    trace = read("a.etl")
    for number in (signal.SIGINT, signal.SIGTERM):
        program = start("report", "-", stdin=subprocess.PIPE)
        time.sleep(0.3)
        check_stopped("before a pipe has brought anything", program, number)
        for content, what in ((trace, "a trace"), (read("bomb.etl.gz")[:600000], "a packed one")):
            program = start("report", "-", stdin=subprocess.PIPE)
            program.stdin.write(content)
            program.stdin.flush()
            wait_for(is_unpacking)
            time.sleep(0.2)
            check_stopped(f"while a pipe that brought {what} stays open", program, number)
        for name in bombs():
            program = start("report", name)
            results.check(f"{name} is being unpacked", wait_for(is_unpacking))
            check_stopped(f"while {name} is unpacked", program, number)
        # Whose file stays as long as the command runs; held by a reader that does not read.
        program = start("allocations", "a.ehs.gz", "--format", "ndjson")
        results.check("a store is unpacked", wait_for(is_unpacking))
        time.sleep(0.3)
        program.send_signal(number)
        program.stdout.close()
        status, said = end(program)
        results.check(f"{signal.Signals(number).name} while a packed store is read",
                      status in (-number, -signal.SIGPIPE) and os.listdir(TEMPORARY) == [],
                      f"status {status}, left {os.listdir(TEMPORARY)}", said)


def check_slow_pipe():
    """What comes bit by bit is what comes at once."""
    trace = read("a.etl")
    words = ("--format", "json")
    wanted = subprocess.run([ETLHEAP, "report", "a.etl", *words], check=True, capture_output=True).stdout
    program = start("report", "-", *words, stdin=subprocess.PIPE)
    for at in range(0, len(trace), 40001):
        program.stdin.write(trace[at:at + 40001])
        program.stdin.flush()
        time.sleep(0.01)
    got, said = program.communicate(timeout=PATIENCE_SECONDS)
    results.check("a pipe that brings little at a time is read whole",
                  program.returncode == 0 and got.replace(b'"-"', b'"a.etl"') == wanted,
                  f"status {program.returncode}", said.decode())


# --- room -------------------------------------------------------------------------------------

def check_sentence(name, program, *words):
    status, said = (program.wait(), program.stderr.read().decode())
    program.stdout.close()
    results.check(name, status == 3 and len(said.splitlines()) == 1 and all(word in said for word in words) and
                  os.listdir(TEMPORARY) == [], f"status {status}, left {os.listdir(TEMPORARY)}", said)


def little_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))


def own_mounts():
    """A full folder that no other process sees; -1 where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return -1
    return libc.mount(b"tmpfs", TEMPORARY.encode(), b"tmpfs", 0, f"size={LIMIT_BYTES}".encode())


def must_own_mounts():
    if own_mounts() != 0:
        raise OSError(ctypes.get_errno(), "mount")


def can_mount():
    child = os.fork()
    if child == 0:
        os._exit(0 if own_mounts() == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def check_room():
    """Python sets the signals back to what they are by default before it starts a program."""
    folder = f"cannot unpack into {TEMPORARY}: "
    for name in bombs():
        check_sentence(f"{name} with a limit on the size of files", start("report", name, preexec_fn=little_room),
                       name, folder, "File too large; set TMPDIR")
        with open(name, "rb") as file:
            check_sentence(f"report - of {name} with a limit", start("report", "-", stdin=file, preexec_fn=little_room),
                           "etlheap: -: ", folder, "File too large; set TMPDIR")
    if not can_mount():
        results.skip("a full folder for temporary files", "only root may mount one")
        return
    for name in bombs():
        check_sentence(f"{name} in a folder that is full", start("report", name, preexec_fn=must_own_mounts),
                       name, folder, "No space left on device; set TMPDIR")
    with open("large.etl", "wb") as file:
        file.write(read("a.etl"))
        file.truncate(5 * GIB) # holes, which take no room here
    with open("large.etl", "rb") as file:
        check_sentence("report - of more than 4 GiB in a folder that is full",
                       start("report", "-", stdin=file, preexec_fn=must_own_mounts),
                       "etlheap: -: ", folder, "No space left on device; set TMPDIR")
    os.remove("large.etl")


def check_large():
    """A trace of more than 4 GiB, once in full: its room is needed."""
    for name in bombs() if LONG else []:
        if shutil.disk_usage(TEMPORARY).free < 6 * GIB:
            results.skip(name, "there is no room for what it unpacks to")
            continue
        program = start("info", name, "--format", "json")
        said = program.communicate()
        results.check(f"{name} is read to its end", program.returncode == 0 and b'"events": 6528' in said[0],
                      f"status {program.returncode}", said[1].decode())


# --- what standard input is ---------------------------------------------------------------------

def check_descriptors():
    reason = why_no_terminal()
    if reason:
        results.skip("a terminal is refused at once", reason)
    else:
        ours, terminal = pty.openpty()
        check_sentence("a terminal is refused at once", start("report", "-", stdin=terminal),
                       "-: standard input is a terminal: pipe a trace in, or name a file")
        os.close(ours)
        os.close(terminal)
    check_sentence("an empty input", start("report", "-", stdin=subprocess.DEVNULL), "-: the file is empty")
    check_sentence("a closed input", start("report", "-", preexec_fn=lambda: os.close(0)), "-: cannot be read: Bad file")
    folder = os.open(".", os.O_RDONLY)
    check_sentence("a folder as input", start("report", "-", stdin=folder), "-: cannot be read: Is a directory")
    os.close(folder)


def main():
    os.chdir(WORK)
    make_inputs()
    check_interruption()
    check_slow_pipe()
    check_room()
    check_large()
    check_descriptors()
    results.equal("no temporary file is left", os.listdir(TEMPORARY), [])
    results.finish()


main()
