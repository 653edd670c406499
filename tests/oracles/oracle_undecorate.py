#!/usr/bin/env python3
"""Compares readable names with llvm-undname's and with those a compiler wrote itself.

Names come from real PDBs, from oracle_undecorate.cpp (what C++ can say, compiled for
x64 and x86), from oracle_undecorate.names (made by hand) and from damaging these at
random.

The name-only form is what llvm-undname prints when told to leave out access,
member kind, calling convention, return type and variable type, up to the list of
parameters. Two rules describe where we mean to differ:

  whole   llvm-undname's options reach into the name and take the return type and
          calling convention from function types among its template arguments
          (`callable<(int)>`). We spell types whole, as the text without options does.
  return  and even there it leaves out the convention of function types within the
          return type of a pointer to function.

Two more describe names that only one of us reads:

  newer   arguments of `auto` parameters and deduced types, which llvm-undname learned
          after version 16. We read them.
  damaged llvm-undname forgets an error when a pointer type follows, prints nothing for
          unknown codes of operators, and lets wide literals be longer than they
          say. We do not. Names of compilers never come here.

The PDBs of MSVC tell more: the compiler's own name of a function stands beside the
public symbol of the same address.
"""

import os
import random
import re
import subprocess
from collections import Counter

from llvm_tools import tool
from oracle_support import TRACES, WORK, Results

OUT = os.environ.get("OUT", "build/check")
SEED = int(os.environ.get("SEED", "1"))
SYMBOLS = os.path.join(TRACES, "..", "symbols")
TESTS = os.path.dirname(os.path.abspath(__file__))
MUTATIONS = 40000

NAME_ONLY = [
    "--no-access-specifier", "--no-member-type", "--no-calling-convention",
    "--no-return-type", "--no-variable-type",
]
MADE = [("x86_64", "-O0"), ("x86_64", "-O1"), ("i686", "-O1")]
REAL = ["redis-server.pdb", "redis-cli.pdb", "redis-benchmark-x86.pdb"]
CONVENTIONS = re.compile(r" *__(cdecl|stdcall|fastcall|thiscall|vectorcall|clrcall|pascal|eabi)\b *| +")


def run(*command, text="", statuses=(0,)):
    done = subprocess.run(
        command, input=text.encode("latin-1"), capture_output=True, check=False, timeout=300
    )
    if done.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout.decode("latin-1")


def ours(names, *machine):
    lines = run(os.path.join(OUT, "make_undecorate"), *machine, text="".join(f"{n}\n" for n in names))
    return dict(zip(names, lines.split("\n")))


def llvm(names, *options):
    """Each name is echoed, then comes its meaning if it has one, then an empty line."""
    text = run(tool("llvm-undname"), *options, text="".join(f"{n}\n" for n in names), statuses=(0, 1))
    lines = text.split("\n")
    answers, at = {}, 0
    for name in names:
        assert lines[at] == name, (lines[at], name)
        answers[name] = lines[at + 1]
        at += 2
        while at < len(lines) and not lines[at]:
            at += 1
    return answers


def cut_parameters(text):
    """What is left without a list of parameters and the qualifiers behind it."""
    head = re.sub(r"( const| volatile| __restrict| __unaligned| noexcept| &&| &)+$", "", text)
    if not head.endswith(")"):
        return text
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth == 0:
            return head[:at]
    return text


def is_part(name, full):
    """The name stands in the full text, from the begin of a word up to its parameters."""
    name = name.removeprefix("[thunk]: ")
    at = full.find(name)
    while at >= 0:
        rest = full[at + len(name):]
        if (at == 0 or full[at - 1] in " *&") and (rest == "" or rest[0] in "()["):
            return True
        at = full.find(name, at + 1)
    return False


def rule_of(name, our, flagged, full):
    """The rule that explains our answer, "equal", or None."""
    if not our and not flagged:
        return "equal"
    if not flagged:
        return "newer" if re.search(r"_P|_T|\$M", name) else None
    if not our:
        is_odd = re.search(r"[PQRSA]|\?_[QRW-Z]|\?__[0-9N-Z]|\?\?_C@_1", name)
        return "damaged" if is_odd else None
    if our == (flagged if name.startswith("??_C") else cut_parameters(flagged)):
        return "equal"
    if is_part(our, full):
        return "whole"
    if is_part(CONVENTIONS.sub(" ", our), CONVENTIONS.sub(" ", full)):
        return "return"
    return None


def compare(results, title, names, allowed, least):
    """All of the names, each explained by one of the allowed rules."""
    names = sorted(names)
    our, flagged, full = ours(names), llvm(names, *NAME_ONLY), llvm(names)
    rules, wrong = Counter(), []
    for name in names:
        rule = rule_of(name, our[name], flagged[name], full[name])
        rules[rule] += 1
        if rule != "equal" and rule not in allowed:
            wrong.append(f"{name}: got {our[name]!r}, wanted {flagged[name]!r} or part of {full[name]!r}")
    counts = ", ".join(f"{count} {rule}" for rule, count in rules.most_common())
    results.check(f"{title}: {counts}", not wrong and len(names) >= least, *wrong[:8])


# --- where names come from ------------------------------------------------------------------


def publics_of(pdb):
    """(address, name) of each public symbol."""
    text = run(tool("llvm-pdbutil"), "dump", "--publics", pdb)
    pattern = r"S_PUB32 \[size = \d+\] `(.*)`\n +flags = [^,]*, addr = (\d+:\d+)"
    return [(address, name) for name, address in re.findall(pattern, text)]


def procedures_of(pdb):
    """address -> name that the compiler gave the function there."""
    text = run(tool("llvm-pdbutil"), "dump", "--symbols", pdb)
    pattern = r"S_[GL]PROC32 \[size = \d+\] `(.*)`\n +parent = \d+, end = \d+, addr = (\d+:\d+)"
    return {address: name for name, address in re.findall(pattern, text)}


def decorated(names):
    return {name for name in names if name.startswith("?")}


def make_program(target, level):
    """Compiles and links; the names of the object and of the PDB."""
    base = os.path.join(WORK, f"{target}{level}")
    run(
        tool("clang"), f"--target={target}-pc-windows-msvc", "-std=c++20", "-fms-extensions",
        "-fexceptions", "-fcxx-exceptions", "-w", level, "-gcodeview", "-c",
        os.path.join(TESTS, "oracle_undecorate.cpp"), "-o", f"{base}.obj",
    )
    run(
        tool("lld-link"), "/dll", "/noentry", "/force:unresolved", "/nodefaultlib", "/debug", f"/pdb:{base}.pdb",
        f"/out:{base}.dll", f"{base}.obj",
    )
    listing = run(tool("llvm-nm"), f"{base}.obj")
    in_object = {line.split(" ", 2)[-1].split()[-1] for line in listing.splitlines() if line}
    return in_object, {name for _, name in publics_of(f"{base}.pdb")}


def hand_made():
    """The names that are valid, and those that are not."""
    with open(os.path.join(TESTS, "oracle_undecorate.names"), encoding="latin-1") as file:
        parts = file.read().split("# Damaged")
    return [[line for line in part.splitlines() if line.startswith("?")] for part in parts]


def damage(names, count):
    """Names with a few characters changed, taken out, doubled or brought from another name."""
    source = random.Random(SEED)
    pieces = (
        "?$ @@ $$A6 $$A8@@ $$Q $$T $$V $0 $1? $H? $I? $J? $F $G $E? $$B $$C $$Y $S ?A ?1? ??_C@_0 P6 P8 "
        "PE QAE Y01 _E @Z XZ W4 ?@? ??__E ??__F ?_R1 $R4 $4 W7 YAXXZ QEAAXXZ @8 $B $$J0 9 4HA 3HA ?B ?0 "
        "?__K PEQ A@ 0 1 V0@ V1@ Z"
    ).split()
    letters = "?@$_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabz"
    damaged = set()
    while len(damaged) < count:
        name = source.choice(names)
        for _ in range(source.choice((1, 1, 1, 2, 3, 6))):
            at = source.randrange(len(name) + 1)
            sort = source.randrange(5)
            if sort == 0:
                name = name[:at] + source.choice(letters) + name[at + 1:]
            elif sort == 1:
                name = name[:at] + name[at + source.choice((1, 1, 2, 4)):]
            elif sort == 2:
                name = name[:at] + source.choice(pieces) + name[at:]
            elif sort == 3:
                other = source.choice(names)
                begin = source.randrange(len(other))
                name = name[:at] + other[begin:begin + source.randrange(1, 20)] + name[at:]
            else:
                other = source.choice(names)
                name = name[:at] + other[source.randrange(len(other)):]
        if name.startswith("?"):
            damaged.add(name)
    return damaged


# --- the compiler's own names ----------------------------------------------------------------


def as_msvc(text):
    """Where llvm-undname shortens a word, and MSVC 2010 tells what all pointers of x64 are."""
    return re.sub(r"\bdestructor\b", "dtor", text).replace(" __ptr64", "")


def compare_procedures(results, title, pdb):
    machine = "x86" if "x86" in pdb else "x64"
    publics, procedures = publics_of(pdb), procedures_of(pdb)
    readable = ours(sorted(decorated(name for _, name in publics)))
    plain = ours(sorted(name for _, name in publics if not name.startswith("?")), machine)
    at_address, raw = {}, set(publics)
    for address, name in publics:
        at_address.setdefault(address, set()).add(readable.get(name) or plain[name])
    counts, wrong = Counter(), []
    for address, name in procedures.items():
        found = at_address.get(address, set())
        # Both deleting destructors are one function, which is named after either.
        wanted = {as_msvc(name), as_msvc(name).replace("`scalar d", "`vector d")}
        if not found:
            counts["without a public"] += 1
        elif found & wanted:
            counts["C++" if "::" in name else "C"] += 1
        elif (address, name) in raw:
            counts["in assembler"] += 1  # whose functions have no other name than the linker's
        else:
            wrong.append(f"{address}: got {found}, wanted {name}")
    shown = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    results.check(f"{title} names its functions as its compiler did: {shown}", not wrong, *wrong[:12])


def compare_c_names(results, names, machine, wanted):
    """Of each C function in oracle_undecorate.cpp, what the linker sees and what was written."""
    got = {name: plain for name, plain in ours(sorted(names), machine).items() if plain in wanted}
    results.equal(f"C names of {machine}", sorted(got.values()), sorted(wanted))


def main():
    os.makedirs(WORK, exist_ok=True)
    results = Results()
    seeds, invalid = hand_made()
    compare(results, "made by hand", set(seeds), {"whole", "return"}, 300)
    compare(results, "made by hand, with errors", set(invalid), set(), 70)
    results.equal("names with a meaning", [n for n, text in ours(seeds).items() if not text], [])
    results.equal("names without one", [n for n, text in ours(invalid).items() if text], [])
    c_names = {"c_cdecl", "c_stdcall", "c_fastcall", "c_vectorcall", "_underscored", "c_variable"}
    for target, level in MADE:
        in_object, in_pdb = make_program(target, level)
        names = decorated(in_object | in_pdb)
        compare(results, f"clang for {target} {level}", names, {"whole", "newer"}, 400)
        compare_c_names(results, in_object, "x86" if target == "i686" else "x64", c_names)
        seeds.extend(sorted(names))
    compare(results, f"damaged, seed {SEED}", damage(seeds, MUTATIONS), {"whole", "return", "newer", "damaged"}, 1)
    for name in REAL:
        pdb = os.path.join(SYMBOLS, name)
        if not os.path.exists(pdb):
            print(f"skipped: {os.path.normpath(pdb)} is not here; TRACES/../symbols has real PDBs")
            continue
        compare(results, name, decorated(n for _, n in publics_of(pdb)), set(), 1000)
        compare_procedures(results, name, pdb)
    results.finish()


if __name__ == "__main__":
    main()
