#!/usr/bin/env python3
"""Logins of symbol servers, redirects and limits of downloads.

A server that misbehaves on request asks for a login and logs what it gets. Each source of logins
(variable, .netrc, command) must give the symbols, a login must reach only the host that it is for,
and it must be found nowhere else: not in outputs, messages and caches, nor among the words of a
process, whatever the server then does. A server at a public address must not lead etlheap to a private one; that runs in a network
of its own, where this computer has such an address.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from oracle_support import ETLHEAP, WORK, Results

TESTS = os.path.dirname(os.path.abspath(__file__))
MAKE_TRACE = os.environ["MAKE_TRACE"]
SECRET = "S3cr3tPassw0rd"
ON_WINDOWS = os.environ.get("PLATFORM") == "windows"
PUBLIC = "203.0.113.7"  # a documentation address: RFC 5737


class Server:
    def __init__(self, folder, name, bind="127.0.0.1"):
        self.log = os.path.join(WORK, name + ".log")
        open(self.log, "w", encoding="utf-8").close()
        self.process = subprocess.Popen([sys.executable, os.path.join(TESTS, "http_symbol_server.py"), folder, self.log],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "BIND": bind})
        self.port = self.process.stdout.readline().strip()

    def seen(self):
        """(path, authorization) of each request so far."""
        with open(self.log, encoding="utf-8") as log:
            return [(line.split()[1], line.split()[3]) for line in log]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def header_hex(text):
    return text.encode().hex()


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Bench:
    """A trace, its symbols in a store, and runs that keep everything they write."""

    def __init__(self):
        self.trace = os.path.join(WORK, "demo.etl")
        subprocess.run([MAKE_TRACE, "demo", self.trace], check=True, stdout=subprocess.DEVNULL)
        loose = os.path.join(WORK, "loose")
        os.makedirs(loose, exist_ok=True)
        subprocess.run([os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols"), loose], check=True, stdout=subprocess.DEVNULL)
        self.store = os.path.join(WORK, "store")
        needed = subprocess.run([ETLHEAP, "symbols", self.trace, "--symbols", WORK, "--offline", "--format", "json"], capture_output=True, text=True, check=False)
        for name, key in re.findall(r'"([\w.]+\.pdb)/([0-9A-F]+)"', needed.stdout):
            for found in os.listdir(loose):
                if found.lower() == name:
                    os.makedirs(os.path.join(self.store, name, key), exist_ok=True)
                    shutil.copy(os.path.join(loose, found), os.path.join(self.store, name, key, name))
        self.count = 0
        self.written = []

    def run(self, url, *options, environment=None, command="report"):
        """(status, standard output, errors, was a function named)"""
        self.count += 1
        self.cache = os.path.join(WORK, f"cache-{self.count}")
        return self.run_with(self.cache, url, *options, environment=environment, command=command)

    def run_with(self, cache, url, *options, environment=None, command="report"):
        done = subprocess.run([ETLHEAP, command, self.trace, "--symbols", f"srv*{cache}*{url}", *options], capture_output=True,
                              text=True, timeout=120, check=False,
                              env={**{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
                                   "TMPDIR": WORK, **(environment or {})})
        self.written += [done.stdout, done.stderr]
        return done.returncode, done.stdout, done.stderr, "History::append" in done.stdout


def tool(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def answering(name, lines):
    """A command that writes these lines, as the shell of the system runs it."""
    if ON_WINDOWS:
        path = tool(name + ".cmd", "@echo off\r\n" + "".join(f"echo {line}\r\n" for line in lines))
        return "Z:" + path.replace("/", "\\") if path.startswith("/") else path
    return tool(name, "#!/bin/sh\ncat > /dev/null\n" + "".join(f"printf '%b\\n' '{line}'\n" for line in lines))


def check_sources(results, bench, server):
    host = f"127.0.0.1:{server.port}"
    netrc = tool("my.netrc", f"machine 127.0.0.1 login user password {SECRET}\nmachine other login x password y\n")
    asked = os.path.join(WORK, "asked")
    words = os.path.join(WORK, "words")
    helper = tool("helper", f'#!/bin/sh\ncat >> "{asked}"\necho "$@" >> "{words}"\nps -e -o args >> "{words}" 2> /dev/null\n'
                            f'printf "protocol=https\\nusername=user\\npassword={SECRET}\\n"\n')
    if ON_WINDOWS:
        helper = answering("helper", ["protocol=https", "username=user", f"password={SECRET}"])
    bearer = answering("bearer", ["authtype=Bearer", f"credential={SECRET}"])
    variable = {"SYMBOL_LOGIN": f"user:{SECRET}"}
    sources = [
        ("a variable with user and password", "127.0.0.1=env:SYMBOL_LOGIN", variable, basic("user", SECRET)),
        ("a host with its port", f"{host}=env:SYMBOL_LOGIN", variable, basic("user", SECRET)),
        ("a token of Azure DevOps, without a user", "127.0.0.1=env:PAT", {"PAT": ":" + SECRET}, basic("", SECRET)),
        ("a token", "127.0.0.1=env:TOKEN", {"TOKEN": SECRET}, "Bearer " + SECRET),
        ("a .netrc", f"127.0.0.1=netrc:{netrc}", None, basic("user", SECRET)),
        ("a command", f"127.0.0.1=command:{helper} get", None, basic("user", SECRET)),
        ("a command with a token", f"127.0.0.1=command:{bearer}", None, "Bearer " + SECRET),
    ]
    for what, login, environment, wanted in sources:
        status, _, errors, named = bench.run(f"http://{host}/wants/{header_hex(wanted)}", "--symbol-login", login, environment=environment)
        results.check(f"{what}: symbols are found", status == 0 and named, status, errors)
    if not ON_WINDOWS:
        with open(asked, encoding="utf-8") as file:
            lines = file.read()
        results.equal("the command is asked once, as git asks", lines, f"protocol=https\nhost={host}\n\n")
        with open(words, encoding="utf-8") as file:
            results.check("no process has the password among its words", SECRET not in file.read())
    for what, login in (("a login of another host", "example.com=env:SYMBOL_LOGIN"),
                        ("a login of another port", "127.0.0.1:1=env:SYMBOL_LOGIN"),
                        ("a command that fails", "127.0.0.1=command:false")):
        before = len(server.seen())
        _, _, _, named = bench.run(f"http://{host}/wants/{header_hex(basic('user', SECRET))}", "--symbol-login", login, environment=variable)
        sent = {authorization for _, authorization in server.seen()[before:]}
        results.check(f"{what}: nothing is sent", not named and sent == {"-"}, sent)


def check_mistakes(results, bench, server):
    url = f"http://127.0.0.1:{server.port}/ok"
    for what, login, said in (
        ("no source", "example.com", "HOST=env:NAME"),
        ("another source", "example.com=secret:x", "HOST=env:NAME"),
        ("an address in place of a host", "https://example.com=env:HOME", "HOST=env:NAME"),
        ("a host that a shell would run", "$(id)=env:HOME", "HOST=env:NAME"),
        ("a variable that is not set", "example.com=env:NOT_SET_HERE", "NOT_SET_HERE is not set"),
        ("a file that is not there", f"example.com=netrc:{WORK}/nowhere", "there is no file"),
    ):
        status, _, errors, _ = bench.run(url, "--symbol-login", login)
        results.check(f"{what} is a mistake", status == 2 and said in errors, status, errors)


def check_redirects(results, bench, server, other):
    """A login goes to the host it is for, not to where that host redirects."""
    environment = {"SYMBOL_LOGIN": f"user:{SECRET}"}
    _, _, _, named = bench.run(f"http://127.0.0.1:{server.port}/to/localhost:{other.port}", "--symbol-login",
                               "127.0.0.1=env:SYMBOL_LOGIN", environment=environment)
    results.check("a redirect to another host is followed", named)
    results.equal("it has no login", {authorization for _, authorization in other.seen()}, {"-"})
    results.check("the first host has it", basic("user", SECRET).replace(" ", "_") in {one for _, one in server.seen()})


def check_limits(results, bench, server):
    url = f"http://127.0.0.1:{server.port}"
    _, _, errors, named = bench.run(f"{url}/ok", "--download-limit", "1K")
    results.check("a file over --download-limit is not taken", not named, errors)
    left = [name for _, _, names in os.walk(bench.cache) for name in names]
    results.equal("nothing is left of it", left, [])
    _, _, _, named = bench.run(f"{url}/ok", "--download-limit", "16M")
    results.check("a file within it is taken", named)
    done = bench.run(f"{url}/stall", "--download-time", "1s")
    results.check("--download-time ends a download that stalls", not done[3] and done[0] == 0, done[:3])
    _, _, _, named = bench.run(f"{url}/ok", "--download-time", "60s")
    results.check("a download within it is taken", named)


# Of http_symbol_server.py, with whether the symbols are there in the end.
HOSTILE = {
    "ok": True, "chunked": True, "busy": True, "cut": True, "cutwhole": True, "dated": True, "weak": True, "bare": True, "redirect": True,
    "odd": True, "closedwhole": True, "closed": False, "liar": None, "quiet": None, "swap": None, "huge": False, "longline": False,
    "loop": False, "tofile": False, "login": False, "page": False, "deny403": False, "moody": True,
}


def files_of(folder):
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def check_advice(results, bench, server):
    """What went wrong, and what to do about it."""
    url = f"http://127.0.0.1:{server.port}"
    for what, address, options, environment, diagnostic, advice in (
        ("a server that wants a login", f"{url}/deny401", (), {}, "symbol_server_denied", "--symbol-login"),
        ("a proxy that wants a login", "https://symbols.example.com", (), {"https_proxy": url}, "symbol_proxy_denied", "https_proxy"),
        ("a file over the limit", f"{url}/ok", ("--download-limit", "1K"), {}, "symbol_too_large", "--download-limit"),
        ("a file that takes too long", f"{url}/stall", ("--download-time", "1s"), {}, "symbol_too_slow", "--download-time"),
    ):
        _, out, _, _ = bench.run(address, *options, environment=environment, command="symbols")
        said = " ".join(out.partition("Diagnostics")[2].split())
        results.check(f"{what} is named, with the option that helps", diagnostic in said and advice in said, said)
        results.check(f"{what} is not called unreachable", "symbol_server_unreachable" not in said, said)


def check_hostile(results, bench, server):
    """A server that knows the login misbehaves: nothing leaks, and the cache holds whole files or none."""
    environment = {"SYMBOL_LOGIN": f"user:{SECRET}"}
    whole = set()
    for path in files_of(bench.store):
        with open(path, "rb") as file:
            content = bytearray(file.read())
        content[-1] ^= 1
        with open(path + ".other", "wb") as file:
            file.write(content)
        whole |= {digest_of(path), digest_of(path + ".other")}
    address = f"/asks/{header_hex(basic('user', SECRET))}/"

    def ask(mode):
        return bench.run_with(os.path.join(WORK, "cache-" + mode), f"http://127.0.0.1:{server.port}{address}{mode}", "--symbol-login",
                              "127.0.0.1=env:SYMBOL_LOGIN", environment=environment)

    # Most of the time passes between attempts.
    with ThreadPoolExecutor(8) as pool:
        answers = dict(zip(HOSTILE, pool.map(ask, HOSTILE)))
    for mode, is_named in HOSTILE.items():
        status, _, errors, named = answers[mode]
        results.check(f"{mode}, with a login: the report is written", status == 0, status, errors)
        if is_named is not None:
            results.equal(f"{mode}: functions have names", named, is_named)
        asked = [one for path, one in server.seen() if path.startswith(address + mode + "/")]
        results.check(f"{mode}: each request has the login", asked and set(asked) == {basic("user", SECRET).replace(" ", "_")}, asked)
        kept = [path for path in files_of(os.path.join(WORK, "cache-" + mode)) if digest_of(path) not in whole]
        results.equal(f"{mode}: the cache holds whole files only", kept, [])
    for path in files_of(bench.store):
        if path.endswith(".other"):
            os.remove(path)


def check_odd_logins(results, bench, server):
    """A login is no header of its own, and what a command writes is bounded."""
    endless = tool("endless", "#!/bin/sh\ncat > /dev/null\nyes username=user\n")
    inject = answering("inject", ["authtype=Bearer", f"credential={SECRET}\\001X-Evil=1"])
    for what, login, variable, wanted in (
        ("a token with a line end", "127.0.0.1=env:TOKEN", f"{SECRET}\r\nX-Evil=1", 2),
        ("a password with a line end", "127.0.0.1=env:TOKEN", f"user:{SECRET}\r\nX-Evil: 1", 2),
        ("a command with a control character in its token", f"127.0.0.1=command:{inject}", "", 0),
        ("a command that never stops", f"127.0.0.1=command:{endless}", "", 0),
    ):
        if ON_WINDOWS and "command:" in login:
            continue
        before = len(server.seen())
        status, _, errors, _ = bench.run(f"http://127.0.0.1:{server.port}/ok", "--symbol-login", login, environment={"TOKEN": variable})
        sent = {one for _, one in server.seen()[before:]}
        results.check(f"{what}: nothing of it is sent", status == wanted and sent <= {"-"}, status, errors, sent)
    _, _, errors, named = bench.run(f"http://127.0.0.1:{server.port}/wants/{header_hex('Bearer ' + SECRET)}", "--symbol-login",
                                    "127.0.0.1=env:TOKEN", environment={"TOKEN": SECRET + "\r\n"})
    results.check("a line end after a token is not part of it", named, errors)


def check_secrecy(results, bench):
    """After all runs: the password is in the files that this test wrote, and in no other."""
    found = [text for text in bench.written if SECRET in text or base64.b64encode(f"user:{SECRET}".encode()).decode() in text]
    results.equal("no output has the password", found, [])
    ours = {"my.netrc", "helper", "bearer", "inject", "helper.cmd", "bearer.cmd", "inject.cmd", "server.log", "other.log"}
    leaks = []
    for folder, _, names in os.walk(WORK):
        for name in set(names) - ours:
            with open(os.path.join(folder, name), "rb") as file:
                if SECRET.encode() in file.read():
                    leaks.append(os.path.join(folder, name))
    results.equal("no file has the password", leaks, [])


def check_suggestions(results, bench, server):
    """A suggested command names the source, so that it finds the symbols again."""
    environment = {"SYMBOL_LOGIN": f"user:{SECRET}"}
    wanted = header_hex(basic("user", SECRET))
    status, out, _, _ = bench.run(f"http://127.0.0.1:{server.port}/wants/{wanted}", "--symbol-login", "127.0.0.1=env:SYMBOL_LOGIN",
                                  "--max-outstanding", "1K", environment=environment, command="check")
    more = [line for line in out.splitlines() if line.startswith("More:")]
    results.check("a failed check suggests the source of the login", status == 1 and re.search(r"--symbol-login .?127.0.0.1=env:SYMBOL_LOGIN", out), more)


def inside(store):
    """In a network of its own: redirects from a public address, printed as lines for the caller."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "addr", "add", PUBLIC + "/32", "dev", "lo"], check=True)
    bench = Bench()
    server = Server(store, "public", "0.0.0.0")
    environment = {"SYMBOL_LOGIN": f"user:{SECRET}"}
    wanted = header_hex(basic("user", SECRET))
    host = f"{PUBLIC}:{server.port}"
    private = f"127.0.0.1:{server.port}"
    answers = []
    answers.append(("a public server", bench.run(f"http://{host}/ok")[3]))
    answers.append(("a redirect to itself", bench.run(f"http://{host}/redirect")[3]))
    answers.append(("a public server that redirects to a private address is refused", not bench.run(f"http://{host}/to/{private}")[3]))
    answers.append(("nothing was asked of that address", not any(path.startswith("/ok") for path, _ in server.seen()[-3:])))
    answers.append(("--private-redirects allows it", bench.run(f"http://{host}/to/{private}", "--private-redirects")[3]))
    answers.append(("a private server may redirect to a private address", bench.run(f"http://{private}/to/{private}")[3]))
    before = len(server.seen())
    _, _, _, named = bench.run(f"http://{host}/wants/{wanted}", "--symbol-login", PUBLIC + "=env:SYMBOL_LOGIN", environment=environment)
    sent = {authorization for _, authorization in server.seen()[before:]}
    answers.append(("a login is not sent over http to another computer", not named and sent == {"-"}))
    _, out, _, _ = bench.run(f"http://{host}/wants/{wanted}", "--symbol-login", PUBLIC + "=env:SYMBOL_LOGIN",
                             environment=environment, command="symbols")
    answers.append(("that is said", "symbol_login_unsent" in out and "symbol_server_denied" not in out))
    _, out, _, _ = bench.run(f"http://{host}/to/{private}", command="symbols")
    answers.append(("the refused redirect is said, and what allows it", "symbol_redirect_refused" in out and "--private-redirects" in out))
    server.close()
    for what, good in answers:
        print(f"{'yes' if good else 'no'} {what}")


def check_network(results, bench):
    can_try = not ON_WINDOWS and shutil.which("unshare") and shutil.which("ip")
    probe = subprocess.run(["unshare", "--net", "ip", "link"], capture_output=True, check=False) if can_try else None
    if probe is None or probe.returncode != 0:
        results.skip("redirects from public addresses", "no network of its own can be made here (unshare --net)")
        return
    folder = os.path.join(WORK, "inside")
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run(["unshare", "--net", sys.executable, "-B", os.path.abspath(__file__), "--inside", bench.store],
                          capture_output=True, text=True, check=False, env={**os.environ, "TEST_TMP": folder})
    lines = done.stdout.splitlines()
    results.check("the network of its own works", len(lines) == 9 and done.returncode == 0, done.stderr)
    for line in lines:
        good, what = line.split(" ", 1)
        results.check(what, good == "yes")


def main():
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2])
        return
    results = Results()
    bench = Bench()
    server, other = Server(bench.store, "server"), Server(bench.store, "other")
    check_sources(results, bench, server)
    check_mistakes(results, bench, server)
    check_redirects(results, bench, server, other)
    check_limits(results, bench, server)
    check_advice(results, bench, server)
    check_suggestions(results, bench, server)
    check_hostile(results, bench, server)
    check_odd_logins(results, bench, server)
    check_network(results, bench)
    check_secrecy(results, bench)
    server.close()
    other.close()
    results.finish()


main()
