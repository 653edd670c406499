#!/usr/bin/env python3
"""Do unit tests call what Windows does not have?

    windows_calls.py OBJECT...      the objects of all tests that are built for Windows, too

Only `make check-windows` compiles them there, which takes long. Here the names that their
objects take from the C library of this system are looked up in windows_calls.txt, which has
what Windows, mingw or tests/support/posix_calls.h give. Headers and signals, which leave no
name in an object, are looked up in the sources. Where mingw is installed, its libraries must
have each name of the list.

Before that, a test with such calls is compiled and must be found out.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ADVICE = ("Windows has no {0}: use what parser/system/files.h has, write {0} into tests/support/posix_calls.h, "
          "or list the test in POSIX_TESTS of the Makefile")
MINGW = ["/usr/x86_64-w64-mingw32/lib/lib%s.a" % name for name in
         ("msvcrt", "mingwex", "mingw32", "moldname", "pthread", "winpthread")]
HEADERS = {"dirent.h", "fcntl.h", "pthread.h", "sched.h", "signal.h", "strings.h", "sys/stat.h", "sys/time.h", "sys/types.h",
           "time.h", "unistd.h"}  # of POSIX, that mingw has
NOT_THERE = re.compile(r"\b(SIG(?!INT\b|TERM\b|ABRT\b|FPE\b|ILL\b|SEGV\b|_DFL\b|_IGN\b|_ERR\b)[A-Z]+\d?|RLIMIT_\w+"
                       r"|O_(?:CLOEXEC|DIRECTORY|NOFOLLOW|NONBLOCK|SYNC)|F_(?:GET|SET)\w+|sigaction|S_IS(?:LNK|SOCK))\b")
FORTIFIED = re.compile(r"__(?:isoc\d\d_)?(\w+?)(?:_chk)?$")


def names_of(arguments):
    done = subprocess.run(["nm", *arguments], capture_output=True, check=False, text=True)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) >= 2:
            yield words[0].rstrip(":") if arguments[0] == "-uA" else "", words[-1].split("@")[0]


def c_library():
    """What the C library of this system exports."""
    compiler = os.environ.get("CC", "gcc").split()
    paths = [subprocess.run([*compiler, "-print-file-name=" + name], capture_output=True, check=True, text=True).stdout.strip()
             for name in ("libc.so.6", "libm.so.6")]
    return {name for _, name in names_of(["-D", "--defined-only", *paths])}


def plain(name):
    """snprintf of __snprintf_chk."""
    return FORTIFIED.match(name).group(1) if name.startswith("__") else name


def read_list():
    """Names that all may use, and those of single files, which use them elsewhere only."""
    common, own = set(), {}
    with open(os.path.join(HERE, "windows_calls.txt"), encoding="ascii") as file:
        for line in file:
            line = line.split("#")[0]
            path, colon, names = line.rpartition(":")
            if colon:
                own.setdefault(path.strip(), set()).update(names.split())
            else:
                common.update(names.split())
    return common, own


def source_of(path):
    """build/check/tests/unit/etl/test_map.o was made of tests/unit/etl/test_map.c."""
    return path[path.rindex("tests/"):-1] + "c" if "tests/" in path else path


def bad_calls(objects, exported, common, own):
    for path, name in sorted(set(names_of(["-uA", *objects]))):
        source = source_of(path)
        if name in exported and plain(name) not in common | own.get(source, set()):
            yield source, plain(name)


def bad_words(source, own, text):
    for header in re.findall(r"#include <((?:sys/)?\w+\.h)>", text):
        if "<" + header + ">" not in own.get(source, ()) and header not in HEADERS and is_of_posix(header):
            yield source, "<" + header + ">"
    for name in sorted(set(NOT_THERE.findall(re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)))):
        if name not in own.get(source, ()):
            yield source, name


def is_of_posix(header):
    return header.startswith(("sys/", "arpa/", "net")) or header in (
        "aio.h", "fnmatch.h", "ftw.h", "glob.h", "grp.h", "langinfo.h", "poll.h", "pwd.h", "regex.h", "spawn.h", "syslog.h", "termios.h",
        "wordexp.h")


def check(objects, exported, common, own):
    found = list(bad_calls(objects, exported, common, own))
    sources = {source_of(path) for path in objects}
    for source in sorted(sources | {path[:-1] + "h" for path in sources}):
        if os.path.exists(source):
            with open(source, encoding="utf-8") as file:
                found += bad_words(source, own, file.read())
    return found


PLANTED = """#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
int planted(void);
int planted(void) { struct rlimit all; fork(); puts("x"); (void)printf("%d", 1); return getrlimit(RLIMIT_FSIZE, &all) + setenv("A", "B", 1); }
"""


def check_itself(exported, common):
    """A test with calls of POSIX is found, with each of them and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "test_planted.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(PLANTED)
        subprocess.run([*os.environ.get("CC", "gcc").split(), "-D_GNU_SOURCE", "-O2", "-w", "-c", "-o", source[:-1] + "o", source], check=True)
        # Its folder is no tests/, so that the source is the object with another ending.
        found = [name for _, name in bad_calls([source[:-1] + "o"], exported, common, {})]
        found += [name for _, name in bad_words(source, {}, PLANTED)]
    wanted = ["fork", "getrlimit", "setenv", "<sys/resource.h>", "RLIMIT_FSIZE"]
    if found != wanted:
        sys.exit(f"windows_calls.py: of a planted test it finds {found}, not {wanted}")


def check_list(common):
    """Each name is in a library of mingw, or in posix_calls.h."""
    libraries = [path for path in MINGW if os.path.exists(path)]
    if not libraries:
        print("skipped: the list of calls that Windows has is not compared with mingw's libraries, which are not here "
              "(package gcc-mingw-w64-x86-64-posix)")
        return []
    there = {name.removeprefix("__imp_") for _, name in names_of(["--defined-only", *libraries])}
    with open(os.path.join(ROOT, "tests/support/posix_calls.h"), encoding="utf-8") as file:
        ours = set(re.findall(r"\b(\w+)\(", file.read())) | {"tmpfile", "mkstemp"}
    # Names of glibc for what mingw's headers make of other names.
    other = {"assert_fail", "ctype_b_loc", "ctype_tolower_loc", "ctype_toupper_loc", "errno_location", "setjmp", "sigsetjmp",
             "stack_chk_fail", "stderr", "stdin", "stdout", "sysv_signal"}
    return sorted(common - there - ours - other)


def main(objects):
    os.chdir(ROOT)
    missing = [path for path in objects if not os.path.exists(path)]
    if missing or not objects:
        sys.exit(f"windows_calls.py: build the tests first: {len(missing)} of {len(objects)} objects are not there")
    exported = c_library()
    common, own = read_list()
    check_itself(exported, common)
    found = [f"{source}: {ADVICE.format(name)}" for source, name in check(objects, exported, common, own)]
    found += [f"windows_calls.txt: mingw has no {name}" for name in check_list(common)]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))


main(sys.argv[1:])
