#!/usr/bin/env python3
"""Does the server of `etlheap view` answer as the command line does, and nobody else?

Answers are compared byte by byte with what the commands print. Requests come over plain sockets: wrong
ones, too large ones, many at once, slow ones, from clients that leave, and mutated ones. Nothing may
remain in TMPDIR when the server ends.
"""

import itertools
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter

from oracle_support import ETLHEAP, LONG, WORK, Results, run
from view_client import SANITIZED, Reply, Server, command_line, receive

MAKE_TRACE = os.environ["MAKE_TRACE"]
FOLDER = os.path.join(WORK, "view")
MUTANTS = 20000 if LONG else 2000
if SANITIZED:
    MUTANTS //= 4
CROWD = 1000
SEED = 47

# Headers of every reply: what keeps other pages away.
SAFE = {
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin", "x-frame-options": "DENY",
}

QUESTIONS = (
    ("report", ("top", "5")),
    ("report", ("from", "5s"), ("to", "9s"), ("group-by", "process,heap,type,stack"), ("top", "200")),
    ("report", ("from", "5000000000ns"), ("to", "9000000001ns"), ("kind", "heap")),
    ("report", ("group-by", "process,module"), ("sort", "-size"), ("skip", "1"), ("top", "3")),
    ("report", ("columns", "size,count,peak_size"), ("group-by", "stack")),
    ("report", ("suspects", "")),
    ("report", ("churn", ""), ("type", "AIFI")),
    ("report", ("tree", ""), ("tree-min", "0.1")),
    ("report", ("focus", "ntdll!")),
    ("report", ("histogram", "size")),
    ("report", ("map", "")),
    ("report", ("growth", ""), ("exclude-frame", "ntdll!*"), ("exclude-frame", "kernel32!*")),
    ("report", ("process", "no such program")),
    ("report", ("format", "csv"), ("group-by", "process")),
    ("report", ("format", "text")),
    ("windows", ("every", "1s")),
    ("windows", ("find-growth", "")),
    ("allocations", ("top", "7"), ("skip", "3"), ("sort", "size")),
    ("allocations", ("format", "csv"), ("top", "40")),
    ("info",),
    ("symbols",),
    ("diff", ("input", "1"), ("input", "2"), ("group-by", "process,site")),
    ("export", ("format", "folded")),
)

# Nothing that a browser sends may name a file, or change what the process may use.
NEVER_SERVED = (
    ("output", "stolen"), ("o", "stolen"), ("symbols", "SRV*http://127.0.0.1:1/"), ("jobs", "64"), ("memory", "1K"),
    ("cull-list", "/etc/passwd"), ("stack-tags", "/etc/passwd"), ("pool-tags", "/etc/passwd"), ("custom-heap", "@/etc/passwd"),
    ("symbol-login", "x=command:touch stolen"), ("baseline", "/etc/passwd"), ("no-mmap", ""), ("unpack-limit", "1"), ("progress", "always"),
    ("help", ""), ("port", "1"), ("source-root", "/=/"), ("source-links", "vscode"), ("no such option", "1"), ("", "1"), ("--top", "1"), ("=", "="),
)


def check_answers(results, server, inputs):
    for question in QUESTIONS:
        reply = server.ask(*question)
        name = " ".join(f"{word[0]}={word[1]}" if isinstance(word, tuple) else word for word in question)
        wanted = command_line(inputs, question)
        results.check(f"{name}: the bytes that the command prints", reply.status == 200 and reply.body == wanted,
                      f"status {reply.status}, {len(reply.body)} bytes for {len(wanted)}: {reply.body[:200]}")


def check_page(results, server):
    page = server.get()
    results.equal("the page is there", (page.status, page.headers.get("content-type")), (200, "text/html; charset=utf-8"))
    results.check("no place of the page is left open", b"@" not in page.body.split(b"</head>")[0] and b"@script@" not in page.body and b"@data@" not in page.body)
    results.check("style and script are files", b'href="view.css"' in page.body and b'src="view.js"' in page.body and b"<style" not in page.body)
    policy = page.headers.get("content-security-policy", "")
    results.check("nothing written into the page runs", "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy, policy)
    for name, kind in (("view.css", "text/css"), ("view.js", "text/javascript")):
        reply = server.get(name)
        results.check(f"{name} is there", reply.status == 200 and reply.headers["content-type"].startswith(kind) and len(reply.body) > 1000, reply.headers)
    results.equal("and for which shell commands are quoted", server.session()["shell"], "posix")
    results.equal("the inputs are described", server.session()["schema"], "etlheap-view-1")
    download = server.ask("report", ("format", "csv"))
    results.equal("other formats are saved, not shown", download.headers.get("content-disposition"), "attachment")


def refused_requests(server):
    """(what is wrong, bytes, statuses that are right)."""
    page, port = server.path, server.port
    token = page.strip("/")
    other = ("0" if token[-1] != "0" else "1")
    yield "no token", server.head("/"), {403}
    yield "no token before a file", server.head("/view.js"), {403}
    yield "another token", server.head(f"/{token[:-1]}{other}/"), {403}
    yield "a token that is cut", server.head(f"/{token[:-1]}/"), {403}
    yield "a token that goes on", server.head(f"/{token}0/"), {403}
    yield "an empty token", server.head("//api/session"), {403}
    yield "a token in upper case", server.head(f"/{token.upper()}x/"), {403}
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.2:{port}", f"localhost.evil:{port}",
                 f"localhost:{port}.evil", "", "[", f"[::1:{port}"):
        yield f"Host {host!r}", server.head(page, Host=host), {403, 400}
    yield "no Host", server.head(page, Host=None), {400, 403}
    for origin in ("http://evil.example", "null", f"https://{server.host}", f"http://{server.host}.evil", "http://localhost", f"http://localhost:{port}0"):
        yield f"Origin {origin}", server.head(page + "api/session", Origin=origin), {403}
    yield "a page of another site", server.head(page, Sec_Fetch_Site="cross-site"), {403}
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 200):
        yield f"method {method[:10]}", server.head(page, method=method), {405, 400, 501}
    yield "a body", server.head(page, Content_Length="5") + b"hello", {400}
    yield "a body in chunks", server.head(page, Transfer_Encoding="chunked") + b"5\r\nhello\r\n0\r\n\r\n", {400}
    for path in ("../", "..", "%2e%2e/", "%2e%2e%2fetc/passwd", "....//", "./", "/etc/passwd", "view.js/", "view.js%00", "%76iew.js", "view.html", "api", "api/",
                 "api/../view.js", "api//report", "api/report/", "C:/Windows/win.ini", "..\\..\\x", "api/store", "api/check", "api/merge", "api/dump",
                 "api/selftest", "api/view", "api/nonsense"):
        yield f"path {path}", server.head(page + path), {404, 400}
    yield "another path with the token behind", server.head("/etc/passwd/../" + token + "/"), {403}
    yield "an absolute URL", server.head(f"http://{server.host}{page}"), {400, 403}
    yield "a NUL in an option", server.head(page + "api/report?top=1%00"), {400}
    yield "half an escape", server.head(page + "api/report?top=%4"), {400}
    yield "an escape of no digits", server.head(page + "api/report?top=%zz"), {400}
    yield "257 options", server.head(page + "api/report?" + "&".join(["kind=heap"] * 257)), {400}
    yield "a tab with a long name", server.head(page + "api/report?tab=" + "t" * 65), {400}
    yield "an URL of more than 64 KiB", server.head(page + "api/report?process=" + "a" * 65600), {414}
    yield "a header of 1 MB", server.head(page, X_Long="a" * 1000000), {413, 431, 0}
    yield "10,000 headers", server.head(page, **{f"X_{i}": "1" for i in range(10000)}), {413, 431, 0}
    yield "an URL of 1 MB", server.head(page + "a" * 1000000), {414, 413, 431, 0}


def check_refusals(results, server):
    secret = server.path.strip("/").encode()
    for what, raw, right in refused_requests(server):
        reply = server.send(raw)
        results.check(f"refused: {what}", reply.status in right and secret not in reply.body, f"status {reply.status}: {reply.body[:200]}")
        if reply.status in (403, 404, 405):
            results.check(f"{what}: says nothing else", len(reply.body) < 200 and (reply.status == 404 or SAFE.items() <= reply.headers.items()
                                                                                   or not reply.headers.get("content-type")), reply.headers)


def check_accepted(results, server):
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", f"[::1]:{server.port}"):
        reply = server.get("api/session", Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")
        results.check(f"Host {host} with its Origin", reply.status == 200 and SAFE.items() <= reply.headers.items(), reply.headers)
    results.equal("a page opened by its address", server.get(Sec_Fetch_Site="none").status, 200)
    for site in ("cross-site", "same-site"):
        statuses = [server.get(Sec_Fetch_Site=site, Sec_Fetch_Mode=mode, Sec_Fetch_Dest=dest).status
                    for mode, dest in (("navigate", "document"), ("navigate", "iframe"), ("no-cors", "script"), ("cors", "empty"))]
        results.equal(f"{site}: a link opens the page, nothing else of it is read", statuses, [200, 403, 403, 403])
    with server.connect() as connection:
        replies = []
        for _ in range(3):
            connection.sendall(server.head(server.path + "api/session"))
            replies.append(Reply(receive(connection)).status)
    results.equal("three requests of one connection", replies, [200] * 3)


def check_options(results, server, inputs):
    listed = sorted(os.listdir("."))
    for name, value in NEVER_SERVED:
        reply = server.ask("report", (name, value))
        results.check(f"never served: {name}={value}", reply.status == 400 and reply.json()["exit_status"] == 2 and reply.json()["error"],
                      f"status {reply.status}: {reply.body[:200]}")
    results.equal("no file was written", sorted(os.listdir(".")), listed)
    for value in ("0", "4", "-1", "x", inputs[0], "", "4294967297"):
        reply = server.ask("report", ("input", value))
        results.equal(f"input {value!r} is none", reply.status, 400)
    reply = server.ask("report", ("top", "many"))
    results.check("a wrong value is told", reply.status == 400 and "--top" in reply.json()["error"], reply.body)
    reply = server.ask("report", ("process", 'a"b\\c\n\x01é'))
    results.check("any text is a value", reply.status in (200, 422), f"status {reply.status}: {reply.body[:200]}")


# --- load -------------------------------------------------------------------------------


def in_threads(count, task):
    """The results of task(0), task(1) ... at once."""
    done = [None] * count

    def work(index):
        done[index] = task(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def check_crowd(results, server, inputs):
    questions = [("report", ("top", str(1 + i % 5))) for i in range(5)]
    wanted = [command_line(inputs, question) for question in questions]
    replies = in_threads(CROWD, lambda i: server.ask(*questions[i % 5], ("tab", str(i % 7))))
    right = [reply for i, reply in enumerate(replies) if reply.status == 200 and reply.body == wanted[i % 5]]
    busy = [reply for reply in replies if reply.status == 503 and "later" in reply.json()["error"]]
    results.check(f"{CROWD} requests at once are answered, or told to come again", len(right) + len(busy) == CROWD and len(right) >= 100,
                  f"{len(right)} right, {len(busy)} busy, others {sorted({reply.status for reply in replies} - {200, 503})}")
    results.equal("then one", server.ask(*questions[0]).body, wanted[0])


def check_slow_client(results, server, inputs):
    question = ("report", ("top", "5"))
    wanted = command_line(inputs, question)
    raw = server.head(server.path + server.question(*question[:1], question[1:]))

    def dribble(connection):
        for at in range(len(raw)):
            connection.sendall(raw[at:at + 1])
            time.sleep(0.002)
        return Reply(receive(connection)).body

    with server.connect() as slow, server.connect() as silent, server.connect() as half:
        half.sendall(raw[:len(raw) // 2])
        slow_body = []
        thread = threading.Thread(target=lambda: slow_body.append(dribble(slow)))
        thread.start()
        bodies = {server.ask(*question).body for _ in range(20)}
        thread.join()
        silent.close()
    results.equal("a client that sends byte by byte gets its answer", slow_body, [wanted])
    results.equal("others are answered meanwhile", bodies, {wanted})
    with server.connect() as late:
        late.sendall(raw)
        time.sleep(0.3)
        received = receive(late)
    results.equal("a client that reads late gets its answer", Reply(received).body, wanted)


def start_asking(server, *question):
    connection = server.connect()
    connection.sendall(server.head(server.path + server.question(question[0], question[1:])))
    return connection


def check_cancelling(results, server, slow):
    """`slow` takes seconds; two are answered at a time."""
    begin = time.monotonic()
    results.equal("the slow question has an answer", server.ask(*slow).status, 200)
    alone = time.monotonic() - begin
    quick = ("report", ("input", "1"), ("top", "1"))

    begin = time.monotonic()
    leaving = [start_asking(server, *slow, ("tab", "t"), ("part", f"p{i}")) for i in range(24)]
    time.sleep(0.2)
    for connection in leaving:
        connection.close()
    status = server.ask(*quick, ("tab", "t"), ("part", "last")).status
    took = time.monotonic() - begin
    results.check("clients that leave are not worked for", status == 200 and took < max(1, 4 * alone), f"{took:.1f} s, and {alone:.1f} s alone")

    older = [start_asking(server, *slow, ("tab", "t"), ("part", "p")) for _ in range(6)]
    other = start_asking(server, *slow, ("tab", "t"), ("part", "q"))
    begin = time.monotonic()
    newest = server.ask(*quick, ("tab", "t"), ("part", "p"))
    cancelled = [Reply(receive(connection)) for connection in older]
    took = time.monotonic() - begin
    results.equal("a new question of the same tab and part is answered", newest.status, 200)
    results.equal("and the older ones are cancelled", [reply.status for reply in cancelled], [409] * 6)
    results.check("without waiting for them", took < max(1, 3 * alone), f"{took:.1f} s, and {alone:.1f} s alone")
    results.equal("that of another part is not", Reply(receive(other)).status, 200)

    ends, asked_after = [], []

    def ask(index):
        tab = "many" if index < 11 else "one"
        while tab == "one" and not ends:
            time.sleep(0.01)
        if tab == "one":
            asked_after.append(len(ends))
        status = server.ask(*slow, ("tab", tab), ("part", str(index))).status
        ends.append((tab, status))

    in_threads(12, ask)
    # Before it end the two that are being answered, and those that end while it is on its way.
    before = [tab for tab, _ in ends].index("one") - asked_after[0]
    results.check("a tab with one question does not wait for one with eleven", before <= 5 and {status for _, status in ends} == {200}, asked_after, ends)


# --- mutated requests --------------------------------------------------------------------


def mutated(raw, chance):
    data = bytearray(raw)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data) + 1)
        what = chance.randrange(6)
        if what == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif what == 1:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
        elif what == 2:
            del data[at:at + chance.randrange(1, 20)]
        elif what == 3:
            data[at:at] = chance.choice((b"\r\n", b"\0", b"%", b"%00", b"&&&", b"==", b"/../", b"HTTP/0.9", b"Content-Length: 99999999999999999999\r\n",
                                         b"Transfer-Encoding: chunked\r\n", b"\r\n\r\n", b"Host: x\r\n", b"Expect: 100-continue\r\n", b"Upgrade: x\r\n"))
        elif what == 4:
            data[at:at] = data[:at][-chance.randrange(1, 200):] * chance.randrange(1, 4)
        else:
            del data[at:]
    return bytes(data)


def send_and_leave(server, raw):
    """The status of what comes back; a request that is not complete is ended by this side."""
    with server.connect() as connection:
        try:
            connection.sendall(raw)
            connection.shutdown(1)
        except OSError:
            pass
        return Reply(receive(connection)).status


def check_mutants(results, server, inputs):
    chance = random.Random(SEED)
    seeds = [server.head(server.path + server.question(question[0], question[1:])) for question in QUESTIONS if question[0] != "export"]
    seeds += [server.head(server.path), server.head(server.path + "api/session", Origin=f"http://{server.host}")]
    mutants = [mutated(chance.choice(seeds), chance) if i % 10 else bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400)))
               for i in range(MUTANTS)]
    at_once = 16
    statuses = in_threads(at_once, lambda first: [send_and_leave(server, raw) for raw in mutants[first::at_once]])
    seen = Counter(itertools.chain.from_iterable(statuses))
    known = {0, 200, 400, 403, 404, 405, 408, 409, 411, 413, 414, 417, 422, 431, 501, 503, 505}
    results.check(f"{MUTANTS} mutated requests have answers that HTTP has", set(seen) <= known and len(seen) > 3, seen)
    results.equal("the server lives", server.process.poll(), None)
    question = QUESTIONS[1]
    results.equal("and answers as before", server.ask(*question).body, command_line(inputs, question))


# --- starting and ending ------------------------------------------------------------------


def check_ends(results, inputs):
    for name, number in (("Ctrl-C", signal.SIGINT), ("SIGTERM", signal.SIGTERM), ("the end of the terminal", signal.SIGHUP)):
        server = Server(inputs, folder=f"tmp-{number}")
        server.await_inputs()
        asked = [start_asking(server, "report", ("top", "5")) for _ in range(20)]
        status, said = server.stop(number)
        results.equal(f"{name} ends the server", (status, "error" in said.lower()), (0, False))
        results.equal(f"{name} leaves no temporary file", server.left_over(), [])
        for connection in asked:
            connection.close()
    server = Server(inputs, folder="tmp-early")
    status, said = server.stop(signal.SIGTERM)
    results.equal("a signal while inputs are read ends it, too", (status, server.left_over()), (0, []))

    server = Server(inputs, folder="tmp-kill")
    server.await_inputs()
    server.stop(signal.SIGKILL)
    results.equal("a killed server leaves no temporary file", server.left_over(), [])

    begin = time.monotonic()
    server = Server(inputs, "--idle", "2s", folder="tmp-idle")
    server.await_inputs()
    for _ in range(4):
        time.sleep(0.5)
        server.session()
    asked = time.monotonic()
    status, _ = server.wait()
    results.equal("--idle ends it", (status, server.left_over()), (0, []))
    results.check("but not while somebody asks", 1.5 < time.monotonic() - asked < 10, time.monotonic() - begin)
    check_idle_download(results)


def check_idle_download(results):
    """Who takes longer over an answer than --idle allows still gets all of it."""
    question = ("allocations", ("format", "csv"))
    wanted = command_line(["large.ehs"], question)
    server = Server(["large.ehs"], "--no-symbols", "--idle", "2s", folder="tmp-idle")
    server.await_inputs()
    with start_asking(server, *question) as connection:
        time.sleep(4)
        body = Reply(receive(connection)).body
    results.check("--idle does not cut a download off", body == wanted and len(body) > 4 << 20, f"{len(body)} bytes of {len(wanted)}")
    results.equal("and ends the server after it", server.wait()[0], 0)


def check_places(results, inputs):
    def view(*options):
        return subprocess.run([ETLHEAP, "view", *inputs, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)

    server = Server(inputs, folder="tmp-port")
    done = view("--port", str(server.port))
    results.check("a port that is taken", done.returncode == 3 and str(server.port) in done.stderr, done.stderr)
    server.stop()
    again = Server(inputs, "--port", str(server.port), folder="tmp-port")
    results.equal("a port that is asked for, at once after another server", again.port, server.port)
    results.check("with another token", again.path != server.path)
    again.stop()
    for options in (("--port", "65536"), ("--port", "x"), ("--listen", "localhost"), ("--listen", ""), ("--listen", "1.2.3"), ("--idle", "0s"), ("-o", "x")):
        done = view(*options)
        results.check(f"wrong: {' '.join(options)}", done.returncode == 2 and done.stdout == "" and done.stderr, done.stderr)
    server = Server(inputs, "--listen", "127.0.0.2", folder="tmp-listen")
    results.equal("another address of the loopback", (server.address, server.get().status), ("127.0.0.2", 200))
    results.check("needs no warning", "other machines" not in server.stop()[1])
    server = Server(inputs, "--listen", "0.0.0.0", folder="tmp-listen")
    statuses = [server.get(Host=host).status for host in (f"127.0.0.1:{server.port}", f"192.0.2.7:{server.port}", f"evil.example:{server.port}", "192.0.2.7")]
    results.equal("all addresses: a number is a Host, a name is none", statuses, [200, 200, 403, 403])
    results.check("and a warning", "other machines" in server.stop()[1])
    check_browser(results, inputs)


def check_browser(results, inputs):
    """A program of this name on the PATH stands for the desktop's."""
    os.makedirs("bin", exist_ok=True)
    with open("bin/xdg-open", "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nprintf "%s\\n" "$#" "$@" > opened.new && mv opened.new opened\n')
    os.chmod("bin/xdg-open", 0o755)
    server = Server(inputs, "--open", folder="tmp-open", environment={"PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]})
    end = time.monotonic() + 20
    while not os.path.exists("opened") and time.monotonic() < end:
        time.sleep(0.05)
    with open("opened", encoding="ascii") as file:
        results.equal("--open gives the browser the address", file.read(), f"1\n{server.url}\n")
    server.stop()
    server = Server(inputs, "--open", folder="tmp-open", environment={"PATH": "/nowhere"})
    status, said = server.stop()
    results.check("without a browser the page is served all the same", status == 0 and "browser" in said, said)


def make_inputs():
    subprocess.run([MAKE_TRACE, "demo", "in.etl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_TRACE, "battery-meter-fixed", "other.etl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_TRACE, "workload", "large.etl", "--events", "80000" if SANITIZED else "400000"], check=True, stdout=subprocess.DEVNULL)
    run("store", "large.etl", "-o", "large.ehs")
    return ["in.etl", "other.etl", "large.ehs"]


def main():
    results = Results()
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    inputs = make_inputs()
    server = Server(inputs, "--no-symbols", folder="tmp")
    server.await_inputs()
    check_page(results, server)
    check_answers(results, server, inputs)
    check_accepted(results, server)
    check_refusals(results, server)
    check_options(results, server, inputs)
    check_slow_client(results, server, inputs)
    check_cancelling(results, server, ("allocations", ("input", "3"), ("format", "csv")))
    check_crowd(results, server, inputs)
    check_mutants(results, server, inputs)
    status, said = server.stop()
    results.equal("the server ends well after all that", (status, server.left_over()), (0, []))
    results.check("and said nothing of its clients", said.count("\n") <= 3, said)
    check_ends(results, inputs[:2])
    check_places(results, inputs[:1])
    results.finish()


if __name__ == "__main__":
    main()
