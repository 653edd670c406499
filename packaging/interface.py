#!/usr/bin/env python3
"""The library's interface as text, and whether a newer one may take an older one's place.

    interface.py list FOLDER          FOLDER holds the installed headers (include/etlheap)
    interface.py compare OLD NEW      two such lists; status 1 and a line for each break
    interface.py tiers HEADER...      the tier of each function that the headers declare

What the headers declare is taken from the compiler's preprocessor, one declaration a
line: prototypes, types, inline functions left out. A program that was linked with OLD
runs with NEW when every line of OLD is there unchanged, with three exceptions.

Structures that begin with their own size may grow at the end, unless a function returns one
and so writes all of it into the program's room for the old one.

Elements of an array may grow at the end if the structure with the array also says how far apart
they are (rows and row_stride), and if no structure holds one by value.

Enumerations may get new enumerators: the old ones must keep their values. A last enumerator
X_COUNT, which says how many there are, grows. No array of a structure is that long.

A function has a tier. It is stable if the comment above its declaration begins with [stable],
which counts for all declarations up to the next comment or empty line; else it is experimental.
"""

import os
import re
import subprocess
import sys

FRONT_DOORS = "#include <etlheap/parser/symbols.h>\n#include <etlheap/formats/formats.h>\n"
LINE_MARKER = re.compile(r'# \d+ "([^"]*)"')
STRUCT = re.compile(r"typedef struct (\w+) \{")
SIZED = re.compile(r"typedef struct (\w+) \{ size_t size;")


def own_text(folder):
    """What the preprocessor leaves of our headers alone."""
    compiler = os.environ.get("CC", "gcc").split()
    done = subprocess.run(
        [*compiler, "-std=c11", "-E", "-I", os.path.dirname(os.path.abspath(folder)), "-"],
        input=FRONT_DOORS,
        capture_output=True,
        text=True,
        check=True,
    )
    ours, lines = False, []
    for line in done.stdout.splitlines():
        marker = LINE_MARKER.match(line)
        if marker:
            ours = "/etlheap/" in marker.group(1)
        elif ours:
            lines.append(line)
    return "\n".join(lines)


def declarations(text):
    """Each that ends in a semicolon outside braces, with single spaces; no bodies."""
    depth, begin, found = 0, 0, []
    for at, c in enumerate(text):
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0 and text[begin:at].lstrip().startswith("static"):
                begin = at + 1
        elif c == ";" and depth == 0:
            found.append(" ".join(text[begin:at].split()) + ";")
            begin = at + 1
    return sorted({line for line in found if not line.startswith(("_Static_assert", "static"))})


ENUM = re.compile(r"typedef enum (\w+) \{ (.*?),? \} \w+;$")


def enumerators(line):
    """The names of an enumeration with their values, without a last one that counts the others."""
    values, value, name = {}, -1, ""
    for part in ENUM.match(line).group(2).split(","):
        name, _, given = part.strip().partition(" = ")
        value = int(given, 0) if given else value + 1
        values[name] = value
    if name.endswith("_COUNT") and not given:
        values[name] = None  # may grow, but not go away
    return values


def is_appended(old, new):
    """Does the new enumeration have all enumerators of the old one, with their values?"""
    return bool(ENUM.match(new)) and enumerators(old).items() <= enumerators(new).items()


def is_returned(name, lines):
    return any(re.match(rf"{name} \w+\(", line) for line in lines)


def strided(lines):
    """Structures that programs reach by a stride only: see the head of this file."""
    found = set()
    for line in lines:
        for array in re.findall(r"uint32_t (\w+)_stride;", line):
            found.update(re.findall(rf"const (\w+) \*{array}s;", line))
    return {name for name in found if not any(re.search(rf"[{{;] {name} \w", line) for line in lines)}


def may_grow(old):
    """The structures that may grow, by name."""
    sized = {match.group(1) for line in old if (match := SIZED.match(line))}
    return {name for name in sized | strided(old) if not is_returned(name, old)}


def breaks(old, new):
    """The lines of the old list that the new one does not keep."""
    growing = may_grow(old)
    grown = {match.group(1): line for line in new if (match := STRUCT.match(line))}
    wrong = []
    enums = {match.group(1): line for line in new if (match := ENUM.match(line))}
    for line in sorted(set(old) - set(new)):
        struct, enum = STRUCT.match(line), ENUM.match(line)
        if enum and is_appended(line, enums.get(enum.group(1), "")):
            continue
        name = struct.group(1) if struct else None
        if name not in growing or not grown.get(name, "").startswith(line[: line.rindex("}")].rstrip()):
            wrong.append(line)
    return wrong


TIER_PARTS = re.compile(
    r"^ ?/\*(?P<comment>.*?)\*/$|^(?P<blank>)$|^(?!static|typedef|return)[a-z][\w ]*[ *](?P<function>etl\w+)\(", re.M | re.S
)
STABLE = "[stable]"


def tiers(texts):
    """{function: "stable" or "experimental"} of headers, and the marks that no function follows."""
    found, astray = {}, []
    for text in texts:
        stable = waiting = None
        for part in TIER_PARTS.finditer(text):
            if part.group("function"):
                found[part.group("function")] = "stable" if stable else "experimental"
                waiting = None
                continue
            if waiting:
                astray.append(waiting)
            stable = waiting = None
            if part.group("comment") and part.group("comment").lstrip(" *\n").startswith(STABLE):
                stable = waiting = " ".join(part.group("comment").lstrip(" *\n").split())[:60]
        if waiting:
            astray.append(waiting)
    return found, astray


def read_all(paths):
    for path in paths:
        with open(path, encoding="utf-8") as source:
            yield source.read()


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "list":
        print("\n".join(declarations(own_text(arguments[1]))))
        return 0
    if len(arguments) == 3 and arguments[0] == "compare":
        with open(arguments[1], encoding="utf-8") as old, open(arguments[2], encoding="utf-8") as new:
            wrong = breaks(old.read().splitlines(), new.read().splitlines())
        for line in wrong:
            print(f"gone or changed: {line[:300]}")
        return 1 if wrong else 0
    if len(arguments) >= 2 and arguments[0] == "tiers":
        found, astray = tiers(read_all(arguments[1:]))
        for name, tier in sorted(found.items()):
            print(f"{tier:12} {name}")
        for mark in astray:
            print(f"no function follows: {mark}", file=sys.stderr)
        return 1 if astray else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
