#!/usr/bin/env python3
"""Does `etlheap view` take every kind of input as the commands do, and leave nothing behind?

Whole, damaged, packed and empty inputs, stores, summaries and standard input are viewed. Each answer, and
each refusal, is compared with what the command prints about the same input. Files change, the place for
temporary files is missing, and the server is killed, while inputs are open. Memory is what Linux counts.
"""

import gzip
import json
import os
import random
import signal
import subprocess
import threading
import time
import zipfile

from oracle_support import ETLHEAP, LONG, TRACES, WORK, Results, run
from view_client import SANITIZED, Server, question_words

MAKE_TRACE = os.environ["MAKE_TRACE"]
FOLDER = os.path.join(WORK, "view-inputs")
SEED = 47
MEMORY_KIB_MAX = 512 << 10
QUESTIONS = (
    ("report", ("top", "9")),
    ("report", ("from", "1s"), ("to", "3s"), ("group-by", "process,heap,type,stack"), ("top", "50")),
    ("report", ("group-by", "module"), ("format", "csv")),
    ("report", ("tree", ""), ("tree-min", "1")),
    ("report", ("suspects", "")),
    ("report", ("histogram", "size")),
    # Damage may make a trace of decades, which has very many seconds.
    ("windows", ("from", "1s"), ("to", "6s"), ("every", "1s"), ("top", "3")),
    ("allocations", ("top", "20")),
    ("info",),
    ("symbols",),
    ("trend",),
    ("export", ("format", "folded")),
)
REFUSED = {2: 400, 3: 422}
UMDH_LOG = b"""// UMDH: version 10.0.26100.1: Logtime 2025-03-04 11:22 - Machine=PC - PID=1234

*- - - - - - - - - - Start of data for heap @ 206edda0000 - - - - - - - - - -
30 bytes + 10 at 206EDDA1000 by BackTrace1A
\t7FF690531A74

*- - - - - - - - - - End of data for heap @ 206edda0000 - - - - - - - - - -
"""


def outcome(words, **options):
    """(exit status, standard output, standard error) of a command."""
    done = subprocess.run([ETLHEAP, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300, **options)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()


def sentence(said):
    return said.removeprefix("etlheap: ")


def is_answer(reply, status, output, said):
    """An answer has the bytes of the command, a refusal its sentence, without the name of the program."""
    if status in REFUSED:
        return reply.status == REFUSED[status] and reply.json() == {"error": sentence(said), "exit_status": status}
    return reply.status == 200 and reply.body == output


def without_notes(text):
    """A report that asks a trace about some kinds of memory does not read the others; a store was made of all."""
    try:
        document = json.loads(text)
    except ValueError:
        return text
    return {key: value for key, value in document.items() if key not in ("recorded", "diagnostics")}


def compare_answers(results, name, server, inputs, questions=QUESTIONS, is_exact=True):
    """One check for all questions. If it is not exact, what a trace says of other kinds than those asked for does not count, and what
    `info`, which pairs nothing, makes of damage; all else does, and the same command on the trace's store must agree in all."""
    wrong = []
    for question in questions:
        reply = server.ask(*question)
        status, output, said = outcome(question_words(inputs, question))
        good = is_answer(reply, status, output, said)
        if not good and not is_exact and reply.status == 200:
            stored = outcome(question_words(inputs, question), cwd=store_all(inputs))
            good = is_answer(reply, *stored) and status == 0 and (question == ("info",) or without_notes(reply.body) == without_notes(output))
        if not good:
            wrong.append(f"{question}: {reply.status}, {len(reply.body)} bytes: {reply.body[:160]}; the command: {status}, {len(output)} bytes, {said[:160]}")
    results.check(name, not wrong, *wrong)


def store_all(inputs):
    """A folder of stores with the names of the inputs."""
    os.makedirs("stores", exist_ok=True)
    for path in inputs:
        run("store", path, "-o", "stores/new.ehs")
        os.replace("stores/new.ehs", os.path.join("stores", path))
    return "stores"


def start_view(*words, folder="tmp-refused", **options):
    """A view that should end at once: (exit status, standard output, standard error, seconds)."""
    os.makedirs(folder, exist_ok=True)
    begin = time.monotonic()
    done = subprocess.run([ETLHEAP, "view", "--no-symbols", "--idle", "20s", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
                          env={**os.environ, "TMPDIR": os.path.abspath(folder)}, **options)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip(), time.monotonic() - begin


# --- what cannot be viewed ----------------------------------------------------------------


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_unreadable(results, trace):
    whole = read(trace)
    write("empty", b"")
    write("text.etl", b"hello\n")
    write("start.etl", whole[:100])
    write("noise.etl", random.Random(SEED).randbytes(65536))
    write("cut.ehs", read("in.ehs")[:-500])
    os.makedirs("folder.etl", exist_ok=True)
    os.symlink("nowhere", "link.etl")
    for path in ("missing.etl", "missing.ehs", "empty", "text.etl", "start.etl", "noise.etl", "cut.ehs", "folder.etl", "link.etl", ""):
        status, said = outcome(["report", path])[::2]
        got = start_view(path)
        results.check(f"unreadable: {path or 'no name'}: the status and the sentence of report, at once",
                      got[:3] == (status, b"", said) and status in (2, 3) and said and got[3] < 10, got, (status, said))
        got = start_view(trace, path)
        results.check(f"unreadable: {path or 'no name'}, behind a good one", got[:3] == (status, b"", said) and got[3] < 10, got, (status, said))
    results.equal("nothing is left of them", os.listdir("tmp-refused"), [])
    for words, part in (([], "input"), ([trace, trace], "twice")):
        got = start_view(*words)
        results.check(f"wrong inputs: {len(words)}", got[0] == 2 and got[1] == b"" and part in got[2], got)


def check_umdh(results):
    """A log has no allocations over time. Report reads it, view says what does."""
    log = write("log.txt", UMDH_LOG)
    status, said = outcome(["store", log, "-o", "log.ehs"])[::2]
    got = start_view(log)
    results.check("a UMDH log: what store says of it", got[:3] == (status, b"", said) and status == 2 and "UMDH" in said, got, (status, said))


def await_states(server, *states):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        inputs = server.session()["inputs"]
        if all(one["state"] in states for one in inputs):
            return inputs
        time.sleep(0.05)
    raise RuntimeError(f"the inputs were not read in time: {inputs}")


def check_failing_later(results, trace):
    """What is seen only when it is unpacked or read fails for itself, and the other input is answered."""
    packed = gzip.compress(read(trace))
    write("cut.etl.gz", packed[:len(packed) // 2])
    write("text.etl.gz", gzip.compress(b"hello\n"))
    with zipfile.ZipFile("none.zip", "w") as file:
        file.writestr("readme.txt", "no trace")
    for path in ("cut.etl.gz", "text.etl.gz", "none.zip"):
        status, said = outcome(["report", path])[::2]
        server = Server([path, trace], "--no-symbols", folder="tmp-later")
        inputs = await_states(server, "ready", "failed")
        results.equal(f"{path} fails, and the other does not", [one["state"] for one in inputs], ["failed", "ready"])
        reply = server.ask("report")
        results.check(f"{path}: the sentence of report", status in REFUSED and reply.status == 422 and reply.json() == {"error": sentence(said), "exit_status": status}
                      and (inputs[0]["message"] or "").strip() == sentence(said), reply.body, inputs[0], (status, said))
        compare_answers(results, f"{path}: the other input is answered", server, [path, trace], [("report", ("input", "2")), ("info", ("input", "2"))])
        reply = server.ask("diff", ("input", "1"), ("input", "2"))
        results.equal(f"{path}: a comparison with it is not", reply.status, 422)
        results.equal(f"{path}: ends well and leaves nothing", (server.stop()[0], server.left_over()), (0, []))
    server = Server([trace], "--no-symbols", folder="tmp-later", environment={"TMPDIR": "/nowhere/at/all"})
    inputs = await_states(server, "failed")
    results.check("no place for temporary files", "/nowhere/at/all" in (inputs[0]["message"] or "") and server.ask("report").status == 422, inputs)
    server.stop()


# --- what can be viewed --------------------------------------------------------------------


def check_input(results, name, inputs, questions=QUESTIONS, is_exact=True):
    server = Server(inputs, "--no-symbols", folder="tmp-input")
    server.await_inputs()
    compare_answers(results, f"{name}: answers are the command's", server, inputs, questions, is_exact)
    results.equal(f"{name}: ends well and leaves nothing", (server.stop()[0], server.left_over()), (0, []))


def check_kinds(results, trace):
    def make(scenario, *options):
        path = f"{scenario}-{len(os.listdir('.'))}.etl"
        subprocess.run([MAKE_TRACE, scenario, path, *options], check=True, stdout=subprocess.DEVNULL)
        return path

    check_input(results, "a trace", [trace])
    check_input(results, "a store", ["in.ehs"])
    run("store", trace, "--summary", "-o", "sums.ehs")
    check_input(results, "a summary", ["sums.ehs"])
    run("store", trace, "--summary", "--every", "1s", "-o", "windows.ehs")
    check_input(results, "a summary with windows", ["windows.ehs"], (*QUESTIONS, ("windows", ("top", "3"))))
    check_input(results, "a trace without events of memory", [make("processes", "--events", "0")])
    check_input(results, "a workload of nothing", [make("workload", "--events", "0")])
    check_input(results, "a session that was not stopped", [make("demo", "--unclosed")])
    check_input(results, "a ring of buffers", [make("workload", "--ring", "4")])
    check_input(results, "every event there is", [make("kitchen-sink")], is_exact=False)
    check_input(results, "pool", [make("pool-leak")], is_exact=False)
    check_input(results, "handles", [make("handle-leak")], is_exact=False)
    write(" odd 'name\" $HOME;\u00e9.etl", read(trace))
    check_input(results, "an odd name", [" odd 'name\" $HOME;\u00e9.etl"], QUESTIONS[:1])
    write(b"latin\xe9.etl", read(trace))
    check_input(results, "a name that is not UTF-8", [b"latin\xe9.etl"], QUESTIONS[:1])
    write("-o.etl", read(trace))
    check_input(results, "a name like an option", ["./-o.etl"], QUESTIONS[:1])
    write("in.etl.gz", gzip.compress(read(trace)))
    with zipfile.ZipFile("in.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.write(trace)
    check_input(results, "gzip", ["in.etl.gz"])
    check_input(results, "zip", ["in.zip"])
    both = [trace, "in.ehs", make("battery-meter-fixed"), "sums.ehs"]
    check_input(results, "four inputs", both, questions=[
        ("diff", ("input", "1"), ("input", "3")), ("diff", ("input", "3"), ("input", "2"), ("group-by", "process,site")), ("diff", ("input", "4"), ("input", "1")),
        ("report", ("input", "4"), ("top", "3")), ("windows", ("input", "4")), ("allocations", ("input", "3"), ("top", "3")), ("diff", ("input", "1")),
        ("trend", ("input", "1"), ("input", "2"), ("input", "3"), ("input", "4")), ("report", ("input", "1"), ("input", "2")),
        ("windows", ("input", "2"), ("find-growth", ""), ("top", "2"))])


def check_names(results):
    """With symbols: each slot has its own, so several questions at once must have the same names as the command."""
    run("selftest", "--write-demo", "demo")
    trace, symbols = "demo/demo.etl", ("--symbols", "demo/symbols")
    question = ("report", ("group-by", "stack"), ("top", "all"))
    command, *words = question_words([trace], question)
    wanted = outcome([command, *symbols, *words])[1]
    results.check("the command has names", len(wanted) > 1000 and wanted != outcome([command, "--no-symbols", *words])[1])
    server = Server([trace], *symbols, folder="tmp-names")
    early = server.ask(*question)
    results.check("before names are there, the reply says so", early.status == 503 or early.body == wanted or early.headers.get("etlheap-symbols-pending") == "1",
                  early.status, early.headers)
    server.await_inputs()
    replies = [None] * 12
    threads = [threading.Thread(target=lambda i=i: replies.__setitem__(i, server.ask(*question))) for i in range(len(replies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.equal("then every reply has the command's names", {reply.body for reply in replies}, {wanted})
    results.check("and says nothing of names to come", all("etlheap-symbols-pending" not in reply.headers for reply in replies))
    results.equal("the page is told that names are there", server.session()["inputs"][0]["symbols"], "ready")
    listed = outcome(["symbols", *symbols, "--format", "json", trace])
    reply = server.ask("symbols")
    results.check("symbols are listed as by the command", (reply.status, reply.body) == (200, listed[1]), reply.status, reply.body[:300], listed[1][:300])
    results.equal("with symbols it ends well and leaves nothing", (server.stop()[0], server.left_over()), (0, []))


def check_damaged(results, trace):
    """A cut or changed trace either is refused at once, or answers as the command does."""
    chance = random.Random(SEED)
    whole = read(trace)
    rounds = 60 if LONG else 10
    refused = 0
    for number in range(rounds):
        data = bytearray(whole)
        if number % 2:
            del data[chance.randrange(100, len(data)):]
        for _ in range(chance.randrange(0 if number % 2 else 1, 200)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path = write(f"damaged-{number}.etl", bytes(data))
        status, said = outcome(["report", path])[::2]
        if status in REFUSED:
            refused += 1
            got = start_view(path)
            results.check(f"damaged {number}: refused as report does", got[:3] == (status, b"", said), got, (status, said))
        else:
            check_input(results, f"damaged {number}", [path], is_exact=False)
    results.check("some damaged traces are read", refused < rounds, refused)


# --- while it runs --------------------------------------------------------------------------


def check_changes(results, trace):
    """A store that is replaced is the old one as long as it is open; one that shrinks is an error, not the end."""
    run("store", "large.etl", "-o", "old.ehs")
    question = ("report", ("top", "50"), ("group-by", "stack"))
    every = ("allocations", ("format", "csv"))
    server = Server(["old.ehs", trace], "--no-symbols", folder="tmp-changes")
    server.await_inputs()
    before = server.ask(*question).body
    run("store", trace, "-o", "new.ehs")
    os.rename("new.ehs", "old.ehs")
    results.equal("a store that was replaced answers as before", server.ask(*question).body, before)
    server.stop()

    run("store", "large.etl", "-o", "shrinks.ehs")
    server = Server(["shrinks.ehs", trace], "--no-symbols", folder="tmp-changes")
    server.await_inputs()
    os.truncate("shrinks.ehs", 4096)
    reply = server.ask(*every)
    results.check("a store that shrinks has no whole answer", reply.status in (422, 500) and reply.json()["error"], reply.status, reply.body[:300])
    results.equal("nor has it later, though the gap was noticed before", [server.ask(*other).status for other in (every, question)], [422, 422])
    results.equal("the page is told", [one["state"] for one in server.session()["inputs"]], ["failed", "ready"])
    compare_answers(results, "the other input is answered", server, ["shrinks.ehs", trace], [("report", ("input", "2")), ("allocations", ("input", "2"))])
    results.equal("and it ends well", server.stop()[0], 0)


def check_kills(results, trace):
    """At any moment, also while inputs are read. Of a packed input that is being unpacked, one file remains when the program is killed;
    later runs remove it, as they do for all commands."""
    moments = [0, 0.02, 0.1, 0.3, 1.0] if LONG else [0, 0.05, 0.3]
    for name, number in (("SIGKILL", signal.SIGKILL), ("Ctrl-C", signal.SIGINT)):
        for moment in moments:
            for path in ("large.etl", "large.etl.gz", trace):
                server = Server([path], "--no-symbols", folder=f"tmp-{number}-{moment}-{path}")
                time.sleep(moment)
                status = server.stop(number)[0]
                is_killed = number == signal.SIGKILL
                allowed = 1 if is_killed and path.endswith(".gz") else 0
                results.check(f"{name} {moment} s after the start, {path}: nothing is left", status == (-number if is_killed else 0)
                              and len(server.left_over()) <= allowed, status, server.left_over())
    for path in ("large.etl", "large.etl.gz", trace):
        server = Server([path], "--no-symbols", folder=f"tmp-{path}")
        server.await_inputs()
        results.equal(f"{path} that is read has no file", server.left_over(), [])
        server.stop(signal.SIGKILL)


def status_kib(server, key):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))


def check_memory(results):
    """Questions of a page, again and again: what an answer takes is given back."""
    server = Server(["large.ehs"], "--no-symbols", folder="tmp-memory")
    server.await_inputs()

    def ask_all(rounds):
        for number in range(rounds):
            for question in QUESTIONS:
                if question[0] != "trend":
                    server.ask(*question, *([("from", f"{number}ms")] if question[0] == "report" and question[1][0] == "top" else []))
        return status_kib(server, "RssAnon")

    ask_all(3)
    early = ask_all(5)
    late = ask_all(40 if LONG else 10)
    results.check("memory does not grow with questions", late < 1.1 * early + 4096, f"{early} KiB, then {late} KiB")
    peak = status_kib(server, "VmHWM")
    if SANITIZED:
        results.skip("less than 512 MiB", "sanitizers take several times the memory")
    else:
        results.check("less than 512 MiB at any time", peak < MEMORY_KIB_MAX, f"{peak} KiB")
    server.stop()


def check_real(results):
    logs = os.path.join(TRACES, "..", "umdh", "batterymeter-debug.FirstDump.txt")
    if os.path.exists(logs):
        status, said = outcome(["store", logs, "-o", "log.ehs"])[::2]
        got = start_view(logs)
        results.check("a real UMDH log", got[:3] == (status, b"", said) and status == 2, got, (status, said))
    else:
        results.skip("a real UMDH log", "there is no folder umdh beside the real traces; set TRACES")


def main():
    results = Results()
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    subprocess.run([MAKE_TRACE, "demo", "in.etl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_TRACE, "workload", "large.etl", "--events", "60000" if SANITIZED else "300000"], check=True, stdout=subprocess.DEVNULL)
    write("large.etl.gz", gzip.compress(read("large.etl"), 1))
    run("store", "in.etl", "-o", "in.ehs")
    run("store", "large.etl", "-o", "large.ehs")
    check_unreadable(results, "in.etl")
    check_umdh(results)
    check_failing_later(results, "in.etl")
    check_kinds(results, "in.etl")
    check_names(results)
    check_damaged(results, "in.etl")
    check_changes(results, "in.etl")
    check_kills(results, "in.etl")
    check_memory(results)
    check_real(results)
    results.finish()


if __name__ == "__main__":
    main()
