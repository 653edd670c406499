#!/usr/bin/env python3
"""The binary interface of the stable functions as a file, and whether a library still has it.

    abi.py record HEADERS DUMP             writes DUMP: make abi-record
    abi.py compare DUMP LIBRARY HEADERS    status 1, and a report of each break
    abi.py library HEADERS LIBRARY         a library of these headers whose functions do nothing

HEADERS is the installed folder include/etlheap; LIBRARY has debug information. abidw of libabigail
writes the functions with the types of their parameters and all that these reach: sizes, offsets, values
of enumerators. It reads them from a library that is compiled of the headers alone, in which what is opaque
to programs has no layout. abidiff compares the dump with the real library.

Allowed is what docs/c_api.md allows, as interface.py reads it: new functions; structures that begin with
their size, and rows that are reached by a stride, grow at the end; enumerations get new enumerators, and
their last one, X_COUNT, then grows.
"""

import os
import re
import subprocess
import sys
import tempfile

import interface

SYMBOL = re.compile(r"<elf-symbol name='(\w+)'")
WITHOUT_PLACES = ["--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed"]


def headers_of(folder):
    for path, _, names in sorted(os.walk(folder)):
        yield from (os.path.join(path, name) for name in sorted(names) if name.endswith(".h"))


def stable_functions(folder):
    tiers, _ = interface.tiers(interface.read_all(headers_of(folder)))
    return sorted(name for name, tier in tiers.items() if tier == "stable")


def version_of(folder):
    with open(os.path.join(folder, "engine", "etlheap_libraries.h"), encoding="utf-8") as header:
        return re.search(r"^#define ETLHEAP_ABI_VERSION (\d+)$", header.read(), re.M).group(1)


def make_library(folder, library):
    """Compiles the headers, with an empty body for each stable function."""
    stable, version = set(stable_functions(folder)), version_of(folder)
    lines = [interface.FRONT_DOORS]
    for line in interface.declarations(interface.own_text(folder)):
        match = re.match(r"(?!typedef)[^(]*?(etl\w+)\(", line)
        if match and match.group(1) in stable:
            lines.append(line[:-1] + " { __builtin_trap(); }")
    with tempfile.TemporaryDirectory() as work:
        source, script = os.path.join(work, "stable.c"), os.path.join(work, "stable.map")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join([*lines, ""]))
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"ETLHEAP_{version} {{ global: {' '.join(name + ';' for name in sorted(stable))} local: *; }};\n")
        compiler = os.environ.get("CC", "gcc").split()
        flags = ["-std=c11", "-g", "-w", "-shared", "-fPIC", "-I", os.path.dirname(os.path.abspath(folder))]
        link = [f"-Wl,-soname,libetlheap.so.{version}", f"-Wl,--version-script={script}"]
        subprocess.run([*compiler, *flags, *link, "-o", library, source], check=True, env={**os.environ, "CCACHE_DISABLE": "1"})


def record(folder, dump):
    with tempfile.TemporaryDirectory() as work:
        library = os.path.join(work, "libstable.so")
        make_library(folder, library)
        return subprocess.run(["abidw", *WITHOUT_PLACES, "--out-file", dump, library], check=False).returncode


def suppressions(functions, folder):
    """All other functions, and changes that programs do not notice."""
    text = f"[suppress_function]\n  symbol_name_not_regexp = ^({'|'.join(functions)})$\n  drop = yes\n"
    lines = interface.declarations(interface.own_text(folder))
    for name in sorted(interface.may_grow(lines)):
        text += f"[suppress_type]\n  type_kind = struct\n  name = {name}\n  has_data_member_inserted_at = end\n"
    enums = [line for line in lines if interface.ENUM.match(line)]
    counts = sorted({name for line in enums for name, value in interface.enumerators(line).items() if value is None})
    return f"{text}[suppress_type]\n  type_kind = enum\n  changed_enumerators = {', '.join(counts)}\n"


def compare(dump, library, folder):
    with open(dump, encoding="utf-8") as file:
        recorded = sorted(set(SYMBOL.findall(file.read())))
    lost = sorted(set(recorded) - set(stable_functions(folder)))
    for name in lost:
        print(f"{name} is stable in {os.path.basename(dump)}, and not in the headers")
    with tempfile.NamedTemporaryFile("w", suffix=".suppr", encoding="utf-8") as file:
        file.write(suppressions(recorded, folder))
        file.flush()
        command = ["abidiff", "--suppressions", file.name, "--no-added-syms", dump, library]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="")
    # Bits: 1 and 2 are errors of the tool, 4 a change, 8 one that is surely incompatible.
    return 1 if lost or done.returncode != 0 else 0


def main(arguments):
    actions = {("record", 2): record, ("compare", 3): compare, ("library", 2): make_library}
    action = actions.get((arguments[0] if arguments else "", len(arguments) - 1))
    if action is None:
        print(__doc__, file=sys.stderr)
        return 2
    return action(*arguments[1:]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
