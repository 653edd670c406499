#!/usr/bin/env bash
# Goal: what is given out for Windows is complete, and starts on a machine that has
# nothing else. Method: the zip is unpacked; the program's headers are read by the
# compiler's own tools, its resources by Python, and it runs from a folder of its own.
#
#   ETLHEAP   starts etlheap.exe; the wrapper `exe` beside it starts any program
#   BUILD     has etlheap-*-windows-x64.zip and windows/
#   NATIVE    the program for Linux; MAKE_TRACE makes traces
#   WINDOWS_DEPS  the libraries it is linked with; BUILD/windows/deps
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

BUILD=${BUILD:-build}
TEST_TMP=$(realpath -m "${TEST_TMP:-$(mktemp -d)}")
PYTHON=${PYTHON:-python3}
NATIVE=$(realpath "${NATIVE:-build/release/etlheap}")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/release/make_trace}")
host=x86_64-w64-mingw32
version=$(sed -n 's/^.define ETLHEAP_VERSION "\(.*\)"/\1/p' parser/parser.h)
folder=etlheap-$version-windows-x64
deps=${WINDOWS_DEPS:-$BUILD/windows/deps}

check() # name, command...
{
    local name=$1
    shift
    if "$@" > "$TEST_TMP/check.log" 2>&1; then pass "$name"; else fail "$name" "$(tail -n 3 "$TEST_TMP/check.log")"; fi
}

headers() { $host-objdump -p "$TEST_TMP/$folder/etlheap.exe"; }

has_header() { headers | grep -qE "$1"; }

# UTF-16 strings of the version resource, and the manifest, which is plain text.
has_text() # encoding, text
{
    "$PYTHON" -c 'import sys; sys.exit(sys.argv[3].encode(sys.argv[2]) not in open(sys.argv[1], "rb").read())' \
        "$TEST_TMP/$folder/etlheap.exe" "$1" "$2"
}

starts_elsewhere()
{
    local exe
    exe=$(dirname "$ETLHEAP")/exe
    (cd "$TEST_TMP/$folder" && "$exe" etlheap.exe --version | head -n 1 | tr -d '\r' | grep -qx "etlheap $version")
}

selftest_passes() { "$(dirname "$ETLHEAP")/exe" "$TEST_TMP/$folder/etlheap.exe" selftest; }

no_path_of_here() { ! grep -aqF "$PWD" "$TEST_TMP/$folder/etlheap.exe" && ! grep -aqF "$(realpath "$BUILD")" "$TEST_TMP/$folder/etlheap.exe"; }

unpacks() { "$PYTHON" -m zipfile -e "$BUILD/$folder.zip" "$TEST_TMP"; }

is_the_program() { cmp "$TEST_TMP/$folder/etlheap.exe" "$BUILD/windows/etlheap.exe"; }

# Through the shell of Windows and its own filters, as people type it; in a batch file, for the sake of quotes.
through_cmd() # filter
{
    printf '@etlheap.exe dump demo.etl | %s\r\n' "$1" > "$TEST_TMP/$folder/filter.bat"
    (cd "$TEST_TMP/$folder" && "$(dirname "$ETLHEAP")/exe" cmd /c filter.bat < /dev/null | tr -d '\r')
}

dumped() { (cd "$TEST_TMP/$folder" && "$NATIVE" dump demo.etl); }

# `more` breaks long lines, and says where it would pause, so only the letters are compared.
more_shows_all()
{
    "$MAKE_TRACE" demo "$TEST_TMP/$folder/demo.etl" > /dev/null &&
        cmp <(through_cmd more | tr -d ' \n' | sed 's/--More[.]*--//g') <(dumped | tr -d ' \n')
}

find_finds() { cmp <(through_cmd 'find "Heap/Alloc"') <(dumped | grep Heap/Alloc); }

check "the zip unpacks" unpacks
check "its program is the one that was built" is_the_program
check "it starts from its own folder" starts_elsewhere
check "its selftest passes" selftest_passes
check "dump | more shows every line" more_shows_all
check "dump | find finds what grep finds" find_finds
# Programs of docs/c_api.md, built with the library of the zip and nothing else of ours.
of_the_page() # name: its program, beside the library
{
    local library=$TEST_TMP/$folder/library
    mkdir -p "$TEST_TMP/own"
    awk '$0 ~ /^```/ { inside = $0 ~ /^```c$/; next } inside' docs/c_api.md |
        awk -v name="$1.c" '/^\/\* [a-z_]+\.c - / { on = index($0, name " - ") > 0 } on' > "$TEST_TMP/own/$1.c"
    $host-gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$TEST_TMP/own/$1.exe" "$TEST_TMP/own/$1.c" \
        -I"$library/include" "$library/etlheap.lib" && cp "$library/etlheap.dll" "$TEST_TMP/$folder/demo.etl" "$TEST_TMP/own"
}

runs_here() # words... > what it prints
{
    (cd "$TEST_TMP/own" && "$(dirname "$ETLHEAP")/exe" "$@" | tr -d '\r')
}

# What modules allocated on heaps: the same numbers as the report's.
library_counts()
{
    of_the_page modules && "$MAKE_TRACE" workload "$TEST_TMP/own/workload.etl" > /dev/null &&
        runs_here modules.exe workload.etl > "$TEST_TMP/own/got" || return 1
    (cd "$TEST_TMP/own" && "$NATIVE" report workload.etl --kind heap --group-by module --no-symbols --format json \
        --no-cull --cull-frame 'ntdll.dll!' --cull-frame 'ucrtbase.dll!') |
        "$PYTHON" -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["size"], row["count"], row["module"] or "(no stack)")' | sort > "$TEST_TMP/own/wanted"
    sed -E 's/^ *([0-9]+) bytes in +([0-9]+) allocations  /\1 \2 /' "$TEST_TMP/own/got" | sort | cmp - "$TEST_TMP/own/wanted" &&
        test "$(wc -l < "$TEST_TMP/own/got")" -gt 3
}

# The call stacks with most memory, with names of symbol files and from a store that the library made.
library_names()
{
    local symbols=$TEST_TMP/own/symbols
    "$(dirname "$MAKE_TRACE")/make_demo_symbols" "$symbols" 2> /dev/null || { mkdir -p "$symbols" && "$(dirname "$MAKE_TRACE")/make_demo_symbols" "$symbols"; }
    of_the_page top_stacks && (cd "$TEST_TMP/own" && "$NATIVE" store demo.etl -o demo.ehs) || return 1
    for input in demo.etl demo.ehs; do
        runs_here top_stacks.exe "$input" symbols > "$TEST_TMP/own/got" && grep -q 'History::append.*history.cpp:45' "$TEST_TMP/own/got" || return 1
    done
    "$NATIVE" report "$TEST_TMP/own/demo.etl" --symbols "$symbols" --kind heap --group-by process,stack --top 10 --format json > "$TEST_TMP/own/wanted.json"
    "$PYTHON" -c '
import json, sys
got, wanted = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
sys.exit(any(got[part] != wanted[part] for part in ("rows", "frames", "stacks")))' "$TEST_TMP/own/top_stacks.json" "$TEST_TMP/own/wanted.json"
}

check "a program with its library counts what report counts" library_counts
check "another one finds names of symbols, also in a store" library_names
check "links of its pages lead somewhere" "$PYTHON" tests/gates/doc_links.py "$TEST_TMP/$folder"
check "its place in memory is random" has_header 'DYNAMIC_BASE'
check "in all 64 bits" has_header 'HIGH_ENTROPY_VA'
check "no data of it is executed" has_header 'NX_COMPAT'
check "the time of building is not in it" has_header '^Time/Date\s+Thu Jan  1 00:00:00 1970'
check "nor is the place of building" no_path_of_here
dlls=$(headers | sed -n 's/^.*DLL Name: //p')
check "libraries are linked into it" test -z "$(grep -iE '^lib|curl|zlib|zstd|xml|zip|pthread|gcc' <<< "$dlls")" -a -n "$dlls"
check "Windows shows its version" has_text utf-16-le "$version"
check "and its name" has_text utf-16-le 'Says where heap and VirtualAlloc memory'
check "it asks for paths of any length" has_text ascii '>true</longPathAware>'
check "it asks for UTF-8" has_text ascii '>UTF-8</activeCodePage>'
check "what is linked into it is known" test -s "$deps/versions.txt"
for package in $(sed -n 's/^package \([^ ]*\) .*/\1/p' "$deps/versions.txt" | grep -vx cmocka); do
    check "the licence of $package is there" test -s "$TEST_TMP/$folder/licenses/$package.txt"
    check "its version is told" grep -q "^  $package [0-9]" "$TEST_TMP/$folder/licenses/README.txt"
done
for package in gcc-mingw-w64-base mingw-w64-x86-64-dev; do
    check "so is $package, of the compiler" grep -qx "  $package" "$TEST_TMP/$folder/licenses/README.txt"
    check "whose licence is there" test -s "$TEST_TMP/$folder/licenses/$package.txt"
done
for document in README.md LICENSE manual/etlheap.txt manual/etlheap-report.txt licenses/libmspack-COPYING.LIB.txt; do
    check "$document is there" test -s "$TEST_TMP/$folder/$document"
done
check "manual pages are plain text" test -z "$(grep -lP '[\x08\x1b]' "$TEST_TMP/$folder"/manual/*.txt)"
finish
