#!/usr/bin/env python3
"""Do programs that were compiled with version 1 of the stable interface run with this library?

abidiff of libabigail compares packaging/libetlheap-1.abi, which is committed, with the library that was
built, by their debug information: packaging/abi.py. So that it can fail, headers are changed in ways that
break programs and in ways that do not, libraries are compiled of them, and compared as well.
"""

import os
import re
import shutil
import sys
from contextlib import redirect_stdout
from io import StringIO

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import abi
from oracle_api import installed
from oracle_support import WORK, Results

OUT = os.environ.get("OUT", "build/check")

# What is changed: name, header, pattern, replacement, whether programs break.
CHANGES = [
    ("a function that is gone", "parser/parser.h", r"^void etl_close\(etl_trace \*trace\);", "", True),
    ("a new parameter", "engine/engine.h", r"void etlheap_result_free\(etlheap_result \*result\);", "void etlheap_result_free(etlheap_result *result, int how);", True),
    ("another width of a parameter", "engine/etlheap_table.h", r"etlheap_table_keep_top\(etlheap_table \*table, uint32_t rows", "etlheap_table_keep_top(etlheap_table *table, uint64_t rows", True),
    ("a member in between", "engine/engine.h", r"^    const char \*symbol; /\* NULL: any;", "    uint64_t more;\n    const char *symbol; /* NULL: any;", True),
    ("a longer structure without a size", "engine/etlheap_ask.h", r"void \*reserved\[8\];", "void *reserved[9];", True),
    ("an enumerator in between", "engine/etlheap_kinds.h", r"^    X\(EXTENT,", "    X(LATER, 0, .word = \"later\") X(EXTENT,", True),
    ("a mark [stable] that is gone", "parser/parser.h", r"\[stable\] NULL is allowed\. \*/\nvoid etl_close", "NULL is allowed. */\nvoid etl_close", True),
    ("a structure with its size that grows", "engine/engine.h", r"^\} etlheap_query;", "    uint64_t more;\n} etlheap_query;", False),
    ("an enumerator at the end", "engine/engine.h", r"^    ETLHEAP_FREE_TYPE_COUNT", "    ETLHEAP_FREE_LATER,\n    ETLHEAP_FREE_TYPE_COUNT", False),
    ("a new function", "parser/parser.h", r"^void etl_close\(etl_trace \*trace\);", "void etl_close(etl_trace *trace);\nvoid etl_close_later(etl_trace *trace);", False),
]


def compared(dump, library, headers):
    """(breaks, what was said)"""
    said = StringIO()
    with redirect_stdout(said):
        status = abi.compare(dump, library, headers)
    return status != 0, said.getvalue()


def changed_headers(folder, change):
    _, header, pattern, replacement, _ = change
    copy = os.path.join(WORK, "abi-changed")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(os.path.dirname(folder), copy)
    path = os.path.join(copy, "etlheap", header)
    with open(path, encoding="utf-8") as file:
        text, count = re.subn(pattern, lambda _: replacement, file.read(), flags=re.M)
    assert count == 1, (change[0], count)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return os.path.join(copy, "etlheap")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    results = Results()
    if os.path.basename(OUT) != "check":
        results.skip("the binary interface", "sanitizers change nothing of it; done once, by plain make check")
        results.finish()
    if shutil.which("abidiff") is None:
        results.skip("the binary interface", "no abidiff here (package abigail-tools)")
        results.finish()
    headers = installed(os.path.join(WORK, "abi-headers"))
    dump = f"packaging/libetlheap-{abi.version_of(headers)}.abi"
    library = os.path.join(OUT, "libetlheap.so")
    broken, said = compared(dump, library, headers)
    results.check(f"{library} has the interface of {os.path.basename(dump)} (if that is meant: docs/contributing.md)", not broken, *said.splitlines()[:40])
    with open(dump, encoding="utf-8") as file:
        recorded = set(abi.SYMBOL.findall(file.read()))
    new = sorted(set(abi.stable_functions(headers)) - recorded)
    results.equal("all stable functions are recorded (make abi-record)", new, [])
    results.check("there are many", len(recorded) >= 90, len(recorded))
    for change in CHANGES:
        copy = changed_headers(headers, change)
        other = os.path.join(WORK, "abi-changed.so")
        abi.make_library(copy, other)
        broken, said = compared(dump, other, copy)
        results.check(f"{change[0]} {'breaks' if change[4] else 'does not break'} programs", broken == change[4], *said.splitlines()[:12])
    results.finish()


if __name__ == "__main__":
    main()
