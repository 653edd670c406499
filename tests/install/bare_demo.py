#!/usr/bin/env python3
"""Does `make demo` build with the packages that it installs, and with nothing else?

A machine that runs the tests has far more, so a header, a library or a program that only the tests'
packages have would not be noticed. Here a folder of links holds what the build's packages contain,
with all they depend on and what every system has; PATH, pkg-config and the compiler look there alone.
`make check-bare` does the same on real systems.

    make demo ──▶ PATH, PKG_CONFIG_LIBDIR, --sysroot ──▶ links ──▶ files of the packages

Which headers there are is known once a file is preprocessed. Machine code then takes half a minute
longer and shows nothing more, so the compiler of the demo preprocesses, and takes the object that
the tests' variant of the program has.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracles"))

from oracle_support import WORK, Results  # noqa: E402

OUT = os.path.abspath(os.environ.get("OUT", "build/check"))
# What the README takes for granted.
GIVEN = ["git", "make", "ca-certificates"]
PROGRAM_FOLDERS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin")
# Below these, files keep their place.
KEPT = ("/usr/include/", "/usr/lib/", "/usr/share/pkgconfig/", "/lib/", "/lib64/")
# Not asked and not started: a test must not install anything.
FORBIDDEN = {"apt-get", "apt", "sudo", "dpkg"}

COMPILER = """#!/bin/sh
objects=%s
release=%s
for word; do
    test "${previous-}" != -o || object=$word
    previous=$word
done
case " $* " in
*" -c "*) gcc "$@" -E && cp "$objects${object#"$release"}" "$object" ;;
*) exec gcc "$@" ;;
esac
"""


def listed(*lists):
    script = os.path.join(ROOT, "tests", "run", "check_deps.sh")
    return subprocess.run(["sh", script, "list", *lists], capture_output=True, text=True, check=True).stdout.split()


class Installed:
    """The packages of this machine, by name and by what they provide."""

    def __init__(self):
        form = "${db:Status-Abbrev}\t${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
        lines = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout
        self.needs, self.providers, self.essential = {}, {}, []
        for line in lines.splitlines():
            status, name, essential, needs, provides = line.split("\t")
            if status.strip() != "ii":
                continue
            self.needs[name] = [[re.sub(r"[\s(:].*", "", word.strip()) for word in group.split("|")]
                                for group in needs.split(",") if group.strip()]
            if essential == "yes":
                self.essential.append(name)
            for word in provides.split(","):
                self.providers.setdefault(word.split("(")[0].strip(), []).append(name)

    def find(self, alternatives):
        for name in alternatives:
            if name in self.needs:
                return name
        for name in alternatives:
            if name in self.providers:
                return self.providers[name][0]
        return None

    def closure(self, names):
        found, waiting = set(), [*names, *self.essential]
        while waiting:
            name = self.find([waiting.pop()])
            if name is None or name in found:
                continue
            found.add(name)
            waiting += [self.find(group) or group[0] for group in self.needs[name]]
        return found


def files_of(packages):
    done = subprocess.run(["dpkg-query", "-L", *sorted(packages)], capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if line.startswith("/")}


def link(path, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if not os.path.lexists(to):
        os.symlink(path, to)


def make_links(folder, files):
    """Programs into one folder, and the rest at their places. Folders are made, not linked."""
    for path in files:
        if os.path.isdir(path):
            continue
        if os.path.dirname(path) in PROGRAM_FOLDERS:
            if os.path.basename(path) not in FORBIDDEN:
                link(path, os.path.join(folder, "bin", os.path.basename(path)))
        elif path.startswith(KEPT):
            link(path, folder + path)
    # No package has the links of update-alternatives.
    for place in PROGRAM_FOLDERS:
        for path in glob.glob(os.path.join(place, "*")):
            if os.path.islink(path) and os.readlink(path).startswith("/etc/alternatives/") and os.path.realpath(path) in files:
                link(path, os.path.join(folder, "bin", os.path.basename(path)))


def surroundings(folder):
    """Variables of the environment and of make, with which nothing but the links is seen."""
    places = glob.glob(os.path.join(folder, "usr", "lib", "*", "pkgconfig")) + [os.path.join(folder, "usr", "share", "pkgconfig")]
    environment = {"PATH": os.path.join(folder, "bin"), "LC_ALL": "C", "HOME": folder, "TMPDIR": folder,
                   "PKG_CONFIG_LIBDIR": ":".join(places), "PKG_CONFIG_SYSROOT_DIR": folder}
    return environment, [f"CFLAGS=--sysroot={folder}", f"LDFLAGS=--sysroot={folder}"]


def make(environment, *words):
    return subprocess.run(["make", "--no-print-directory", "-C", ROOT, *words], env=environment, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL)


def last_lines(done):
    return (done.stdout + done.stderr).splitlines()[-12:]


def make_compiler(links, build):
    path = os.path.join(links, "bin", "demo-gcc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(COMPILER % (shlex.quote(OUT), shlex.quote(os.path.join(build, "release"))))
    os.chmod(path, 0o755)
    return path


def check_demo(results, environment, words, build):
    done = make(environment, "demo", f"BUILD={build}", *words)
    results.check("make demo builds with the packages of check_deps.sh build", done.returncode == 0, *last_lines(done))
    results.check("and reports on the sample trace", "History::append" in done.stdout, *last_lines(done))
    built = [os.path.relpath(path, build) for path in glob.glob(os.path.join(build, "release", "*"))]
    foreign = sorted(set(built) & {"tests", "fuzz", "bench", "make_trace", "libbuilder.a", "libtestsupport.a"})
    results.equal("it builds nothing of the tests", foreign, [])
    results.check("the program is there", os.access(os.path.join(build, "etlheap"), os.X_OK))


def check_hidden(results, environment, words, build):
    """The links hide what they must, or nothing above would be shown."""
    done = make(environment, os.path.join(build, "release", ".tests-ready"), f"BUILD={build}", *words)
    results.check("what only tests need is hidden", done.returncode != 0 and "libcmocka-dev" in done.stderr, *last_lines(done))


def check_missing(results, environment, words, build):
    """Without any library, make names all packages at once."""
    bare = {**environment, "PKG_CONFIG_LIBDIR": build}
    done = make(bare, f"BUILD={build}", *words)
    named = re.search(r"sudo apt-get install (.*)", done.stderr)
    results.equal("make names every missing package in one message", sorted(named[1].split() if named else []),
                  sorted(set(listed("build")) - {"gcc", "libc6-dev", "pkg-config"}))


def why_not():
    if not shutil.which("dpkg-query"):
        return "it asks dpkg which files the packages have, and there is no dpkg here"
    gcc = os.path.realpath(shutil.which("gcc") or "")
    if subprocess.run(["dpkg-query", "-S", gcc], capture_output=True, check=False).returncode != 0:
        return "gcc does not come from a Debian package here"
    return None


def main():
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        print("0 passed, 0 failed, 1 skipped")
        return
    results = Results()
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        links = os.path.join(os.path.realpath(folder), "links")
        make_links(links, files_of(Installed().closure([*GIVEN, *listed("build")])))
        environment, words = surroundings(links)
        build = os.path.join(folder, "demo")
        compiler = make_compiler(links, build)
        check_demo(results, environment, [*words, f"CC={compiler}"], build)
        check_hidden(results, environment, words, os.path.join(folder, "hidden"))
        check_missing(results, environment, words, os.path.join(folder, "missing"))
    results.finish()


if __name__ == "__main__":
    main()
