#!/usr/bin/env python3
"""Suggested commands say what they mean to every shell, and no output has a login.

A verdict is made of traces whose names are what shells expand. Its commands are pasted into bash,
dash, zsh and interactive bash and zsh, in which `etlheap` is a script that writes down its words.
The words must match the names, nothing else may run, and the real program must find the stack.

A symbol path with a login goes through every command and format, through errors and through
misspelled options. The login must be nowhere.
"""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess

from oracle_support import ETLHEAP, WORK, Results

MAKE_TRACE = os.environ["MAKE_TRACE"]
FOLDER = os.path.join(WORK, "commands")
ON_WINDOWS = os.environ.get("PLATFORM") == "windows"  # shells there are modelled in test_shell_words.c
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "_NT_SYMBOL_PATH"}

# As long as BatteryMeter.exe, whose place they take.
NAMES = (b"a$(touch pwn)b!x", b"`touch pwn`!!xyz", b"';touch pwn;'xxx", b'"$HOME"\\!!a b|&', b"a\\';touch pwn;#x", b"~/*[a]{b,c} $HOM",
         b"-x --y=z !$ !! x", b"a\x1b[2J\nb\rc;d!!x", b"##vso[x]::y!!xxx", b"$'\\x41'!!&&pwn>", b"=ls;echo %PATH%!")
SHELLS = {"bash": ["bash", "--norc", "--noprofile", "-c"], "dash": ["dash", "-c"], "zsh": ["zsh", "-fc"], "sh": ["sh", "-c"]}
INTERACTIVE = {"bash -i": ["bash", "--norc", "--noprofile", "-i"], "zsh -i": ["zsh", "-fi"]}


def attempt(*words, **more):
    return subprocess.run([ETLHEAP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=ENVIRONMENT, timeout=60, **more)


# --- what shells make of a command -----------------------------------------------------------


def make_script():
    """An `etlheap` that writes its words, for shells to find."""
    os.makedirs("bin", exist_ok=True)
    with open("bin/etlheap", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nprintf '%s\\0' \"$@\" >> words\n")
    os.chmod("bin/etlheap", 0o755)


def words_of(shell, command, interactive):
    """The words that a shell passes on, and whether anything else ran."""
    for name in ("words", "pwn"):
        if os.path.exists(name):
            os.remove(name)
    environment = {**ENVIRONMENT, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"], "HISTFILE": ""}
    given = f"echo one\necho two\n{command}\nexit\n".encode() if interactive else None
    subprocess.run([*shell, *([] if interactive else [command])], input=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False, env=environment, timeout=60)
    ran = os.path.exists("pwn")
    if not os.path.exists("words"):
        return [], ran
    with open("words", "rb") as file:
        return file.read().decode("utf-8", "surrogateescape").split("\0")[:-1], ran


def fits(pattern, name):
    """Is the pattern the name, with at most a ? for a character? Brackets are no wildcards here."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")) and len(pattern) == len(name)


def check_shells(results, name, command):
    text = name.decode()
    for shell, start in {**SHELLS, **INTERACTIVE}.items():
        if shutil.which(start[0]) is None:
            results.skip(f"{shell}: {name}", f"{start[0]} is not installed")
            continue
        words, ran = words_of(start, command, shell in INTERACTIVE)
        got = dict(zip(words, words[1:]))
        module = text.split("\\")[-1]  # names of modules come from paths
        good = words[:1] == ["report"] and fits(got.get("--process", ""), text) and fits(got.get("--require-frame", module + "!"), module + "!")
        results.check(f"{shell}: {name}", good and not ran and words[-2:] == ["--frames", "64"], command, words, ran)


def check_quotes(results):
    make_script()
    subprocess.run([MAKE_TRACE, "demo", "plain.etl"], check=True, stdout=subprocess.DEVNULL)
    with open("plain.etl", "rb") as file:
        plain = file.read()
    trace = "it's $(touch pwn) `x` !!.etl"
    for name in NAMES:
        data = plain
        for old, new in ((b"BatteryMeter.exe", name), ("BatteryMeter.exe".encode("utf-16-le"), name.decode().encode("utf-16-le"))):
            data = data.replace(old, new)
        with open(trace, "wb") as file:
            file.write(data)
        limits = ["--max-outstanding", "heap/stack:1", "--no-symbols", "--top", "1", "--frames", "1"]
        text = attempt("check", trace, *limits).stdout.decode()
        command = next(iter(re.findall(r"^More: (.*)$", text, re.MULTILINE)), "")
        check_shells(results, name, command)
        done = subprocess.run(["sh", "-c", command.replace("etlheap", shlex.quote(ETLHEAP), 1) + " --format json"], capture_output=True, check=False,
                              env=ENVIRONMENT, timeout=60)
        rows = json.loads(done.stdout)["rows"] if done.returncode == 0 else []
        results.check(f"the command finds the stack: {name}", len(rows) > 0 and done.stderr == b"", command, done.stderr)
        markdown = attempt("check", trace, *limits, "--format", "markdown").stdout.decode()
        results.check(f"Markdown has the same command: {name}", command != "" and command in markdown, command)


# --- logins ---------------------------------------------------------------------------------

SECRET = "S3CR3T"
LOGINS = (
    f"SRV*cache*http://user:{SECRET}@127.0.0.1:9/sym?token={SECRET}", f"SRV*cache*http://{SECRET}@127.0.0.1:9/sym;.",
    f"http://127.0.0.1:9/sym?sv=1&sig={SECRET}", f"SRV*cache*http://127.0.0.1:9/F/feed/auth/{SECRET}/symbols",
    f"http://u:a/{SECRET}@127.0.0.1:9/;.", f"cache*cache;SRV*http://user:{SECRET}@127.0.0.1:9",
    f"http:/u:{SECRET}@host/sym", f"SRV*cache*user:{SECRET}@host/sym", f"user:{SECRET}@host/sym;host/sym?sig={SECRET}",
)
FORMATS = ("text", "json", "csv", "markdown", "junit", "sarif", "ndjson", "html", "folded", "speedscope")
EXPORTS = ("folded", "speedscope", "pprof", "perfetto", "dhat", "heaptrack", "wpa-xml", "wpaprofile", "perfview", "html", "csv", "ndjson", "parquet")


def commands_with(path):
    """Every command in every format that it has; a format that it lacks is an error, which has no login either."""
    for words in (["report", "plain.etl"], ["report", "plain.etl", "--suspects"], ["allocations", "plain.etl", "--top", "3"], ["windows", "plain.etl"],
                  ["symbols", "plain.etl"], ["diff", "plain.etl", "other.etl"], ["trend", "plain.etl", "other.etl", "plain.etl"],
                  ["check", "plain.etl", "--max-outstanding", "stack:1", "--top", "1"],
                  ["check", "other.etl", "--baseline", "plain.etl", "--max-growth", "stack:1", "--top", "1"]):
        for format in FORMATS:
            yield [*words, "--symbols", path, "--offline", "--format", format]
    for format in EXPORTS:
        yield ["export", "plain.etl", "--symbols", path, "--offline", "--format", format]


def misuses_of(path):
    yield ["report", "plain.etl", path]
    yield ["report", path]
    yield ["report", "plain.etl", "--symbol", path]
    yield ["report", "plain.etl", f"--symbol={path}"]
    yield ["report", "plain.etl", "--symbols", path, f"--symbols={path}", "--no-symbols"]
    yield ["report", "plain.etl", "--process", path]
    yield ["report", "plain.etl", "--from", path]
    yield ["report", "plain.etl", "--no-symbols", "--require-frame", path]
    yield ["report", "plain.etl", "-o", path + "/x"]
    yield ["report", "plain.etl", "--symbols", "*".join([path] * 9), "--offline"]
    yield ["report", "plain.etl", "--symbols", path, "--offline"]
    yield ["check", "plain.etl", "--max-outstanding", path]
    yield ["check", "plain.etl", "--max-outstanding", "1", "--suppressions", path]
    yield ["dump", "plain.etl", "--symbols", path]
    yield [path]


def check_logins(results):
    subprocess.run([MAKE_TRACE, "battery-meter-fixed", "other.etl"], check=True, stdout=subprocess.DEVNULL)
    with open("plain.etl", "rb") as file, open("renamed.etl", "wb") as out:
        out.write(file.read())
    for number, path in enumerate(LOGINS):
        found, count = [], 0
        for words in [*(commands_with(path) if number < 2 else []), *misuses_of(path)]:
            done = attempt(*words)
            count += 1
            if SECRET.encode() in done.stdout + done.stderr:
                found.append(" ".join(words))
        results.check(f"login {number} in {count} commands", not found and count > 10, *found[:4])
        text = attempt("check", "plain.etl", "--max-outstanding", "stack:1", "--symbols", path, "--offline", "--top", "1").stdout.decode()
        told = text.count("lack the login of the symbol server")
        results.check(f"login {number}: the commands lack it, which is told once", told == 1 and SECRET not in text, text)
    done = attempt("report", "plain.etl", "--symbols", LOGINS[0])
    results.check("a server that does not answer is named without its login", done.returncode == 0 and SECRET.encode() not in done.stdout + done.stderr)
    files = {name: f"side.{name}" for name in ("json", "junit", "sarif", "markdown")}
    attempt("check", "plain.etl", "--max-outstanding", "stack:1", "--symbols", LOGINS[0], "--offline",
            *(word for name, path in files.items() for word in (f"--{name}", path)))
    for name, path in files.items():
        with open(path, encoding="utf-8") as file:
            results.check(f"--{name} has no login", SECRET not in file.read())
    page = attempt("export", "plain.etl", "--symbols", LOGINS[0], "--offline", "--format", "html").stdout
    results.check("a page has the path without its login, and says so", b"SRV*cache*http://127.0.0.1:9/sym" in page and b"These commands lack the login" in page
                  and SECRET.encode() not in page)
    public = "SRV*cache*https://msdl.microsoft.com/download/symbols"
    text = attempt("check", "plain.etl", "--max-outstanding", "stack:1", "--symbols", public, "--offline", "--top", "1").stdout.decode()
    results.check("a path without a login is repeated", f"--symbols '{public}'" in text.replace('"', "'") and "login" not in text, text)


def main():
    results = Results()
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    os.chdir(FOLDER)
    if ON_WINDOWS:
        subprocess.run([MAKE_TRACE, "demo", "plain.etl"], check=True, stdout=subprocess.DEVNULL)
        results.skip("quotes", "test_shell_words.c has those of Windows")
    else:
        check_quotes(results)
    check_logins(results)
    results.finish()


if __name__ == "__main__":
    main()
