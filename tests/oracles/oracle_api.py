#!/usr/bin/env python3
"""Can the interface grow without breaking programs?

The rules are those of docs/c_api.md, read from the text of the headers: which structures may grow, which
functions are stable. oracle_abi compares the library itself with the recorded interface. Here the comparison
of headers is tested, on what becomes of the interface when something is taken away, changed and added.
"""

import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import interface
from oracle_support import WORK, Results

FOLDERS = ("parser", "engine", "formats")


def installed(folder):
    """The headers as `make install` has them, without make: all of them, more than are public."""
    for name in FOLDERS:
        os.makedirs(os.path.join(folder, "etlheap", name), exist_ok=True)
        for header in glob.glob(f"{name}/*.h"):
            with open(header, encoding="utf-8") as source:
                text = re.sub(r'^#include "([a-z]*/)', r'#include "../\1', source.read(), flags=re.M)
            with open(os.path.join(folder, "etlheap", header), "w", encoding="utf-8") as target:
                target.write(text)
    return os.path.join(folder, "etlheap")


def replaced(lines, pattern, replacement):
    """The interface with one line changed: it must be there, once."""
    found = [line for line in lines if re.search(pattern, line)]
    assert len(found) == 1, (pattern, found)
    return [re.sub(pattern, replacement, line) for line in lines]


def check_tiers(results, now):
    """Each function is stable or experimental, and what the page shows is stable."""
    declared = sorted({match.group(1) for line in now if (match := re.match(r"(?!typedef)[^(]*?(etl\w+)\(", line))})
    found, astray = interface.tiers(interface.read_all(sorted(header for name in FOLDERS for header in glob.glob(f"{name}/*.h"))))
    results.equal("every mark [stable] belongs to a function", astray, [])
    results.equal("each function of the interface has a tier", [name for name in declared if name not in found], [])
    stable = sorted(name for name in declared if found.get(name) == "stable")
    with open("docs/c_api.md", encoding="utf-8") as page:
        text = page.read()
    section = text[text.index("## Stable and experimental") :].split("\n## ")[0]
    listed = sorted(re.findall(r"`(etl\w+)`", "".join(line for line in section.splitlines() if line.startswith("| "))))
    results.equal("the page lists the stable functions", listed, stable)
    with open("examples/modules.c", encoding="utf-8") as example:
        shown = set(re.findall(r"\betl\w+", text + example.read())) & set(declared)
    results.equal("programs of the page call stable functions alone", sorted(shown - set(stable)), [])

    sample = "/* [stable] A. */\nint etl_a(void);\n\nint etl_b(void);\n\n/* [stable] No. */\ntypedef int etl_t;\n"
    tiers = {"etl_a": "stable", "etl_b": "experimental"}
    results.equal("a mark ends at an empty line, and one of a type is found", interface.tiers([sample]), (tiers, ["[stable] No."]))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    results = Results()
    temporary = os.path.join(WORK, f"api-{os.getpid()}")
    now = interface.declarations(interface.own_text(installed(os.path.join(temporary, "include"))))
    shutil.rmtree(temporary, ignore_errors=True)

    for function in ("etl_open", "etlheap_analyze", "etlheap_format_named"):
        results.check(f"{function} is in the list", any(f" {function}(" in line or f"*{function}(" in line for line in now))
    results.check("no inline function is", not any("etl_load_u32" in line for line in now))

    results.equal("an interface keeps itself", interface.breaks(now, now), [])
    without = [line for line in now if not line.startswith("void etl_close(")]
    results.equal("a function that is gone is a break", len(interface.breaks(now, without)), 1)
    results.equal("a new function is none", interface.breaks(without, now), [])
    changed = replaced(now, r"^void etl_close\(etl_trace \*trace\)", "void etl_close(etl_trace *trace, int how)")
    results.equal("a new parameter is a break", len(interface.breaks(now, changed)), 1)
    changed = replaced(now, r"ETL_ERR_IO = 1", "ETL_ERR_IO = 7")
    results.equal("another value of an enumerator is a break", len(interface.breaks(now, changed)), 1)
    enums = [line for line in now if line.startswith("typedef enum ")]
    results.check("all enumerations can be read", len(enums) > 20 and all(
        len(interface.enumerators(line)) > 1 for line in enums if interface.ENUM.match(line)) and all(
        interface.ENUM.match(line) for line in enums), *[line for line in enums if not interface.ENUM.match(line)])
    measures = next(interface.enumerators(line) for line in enums if "ETLHEAP_MEASURES_COUNT" in line)
    results.equal("a measure of a count is no number of measures", measures["ETLHEAP_MEASURE_COUNT"], 0)
    appended = replaced(now, r"ETLHEAP_KIND_COUNT\b", "ETLHEAP_KIND_LATER, ETLHEAP_KIND_COUNT")
    results.equal("an enumerator at the end is none", interface.breaks(now, appended), [])
    inserted = replaced(now, r"ETLHEAP_KIND_EXTENT,", "ETLHEAP_KIND_LATER, ETLHEAP_KIND_EXTENT,")
    results.equal("one in between is a break", len(interface.breaks(now, inserted)), 1)
    results.equal("an enumerator that is gone is a break", len(interface.breaks(appended, now)), 1)
    changed = replaced(now, r"uint64_t free_address; uint32_t source_id;", "uint64_t free_address; uint64_t more; uint32_t source_id;")
    results.equal("another layout of a structure is a break", len(interface.breaks(now, changed)), 1)
    changed = replaced(now, r"\} etl_open_options;", "uint32_t more; } etl_open_options;")
    results.equal("a structure with its size may grow", interface.breaks(now, changed), [])
    changed = replaced(now, r"(typedef struct etl_open_options \{ size_t size;) _Bool no_mmap;", r"\1")
    results.equal("and lose nothing", len(interface.breaks(now, changed)), 1)

    for name in ("etlheap_row", "etlheap_frame"):
        changed = replaced(now, rf"\}} {name};", f"uint32_t more; }} {name};")
        results.equal(f"{name}, reached by a stride, may grow", interface.breaks(now, changed), [])
        held = f"typedef struct etlheap_pair {{ {name} first; int second; }} etlheap_pair;"
        results.equal(f"but not if a structure holds {name}", len(interface.breaks([*now, held], [*changed, held])), 1)
        unstrided = [line.replace("_stride;", "_step;") for line in now]
        results.equal(f"nor without a stride of {name}", len(interface.breaks(unstrided, [*changed, *set(unstrided) - set(now)])), 1)

    returned = "etlheap_query etlheap_query_made(void);"
    changed = replaced(now, r"\} etlheap_query;", "uint32_t more; } etlheap_query;")
    results.equal("nor grow when a function returns it", len(interface.breaks([*now, returned], [*changed, returned])), 1)

    check_tiers(results, now)

    sized = [match.group(1) for line in now if (match := interface.SIZED.match(line))]
    results.equal("no function returns one", [name for name in sized if interface.is_returned(name, now)], [])
    asked = re.compile(r"typedef struct (\w+_(?:options|query|request)) \{")
    names = [match.group(1) for line in now if (match := asked.match(line))]
    results.check("options, queries and requests are found", len(names) >= 13, *names)
    results.equal("they begin with their size", [name for name in names if name not in sized], [])
    counted = [line for line in now if re.search(r"\[\w*_COUNT\]", line)]
    results.check("no array is as long as a list of enumerators", not counted, *counted[:5])
    opened = replaced(now, r"uint64_t of\[128\]", "uint64_t of[ETL_DIAG_COUNT]")
    results.check("and one would be found", any(re.search(r"\[\w*_COUNT\]", line) for line in opened))

    with open("Makefile", encoding="utf-8") as makefile:
        soversion = re.search(r"^SOVERSION := (\d+)$", makefile.read(), re.M).group(1)
    with open("engine/etlheap_libraries.h", encoding="utf-8") as header:
        abi = re.search(r"^#define ETLHEAP_ABI_VERSION (\d+)$", header.read(), re.M).group(1)
    results.equal("the soname has the version of the interface", soversion, abi)
    results.finish()


if __name__ == "__main__":
    main()
