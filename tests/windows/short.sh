#!/usr/bin/env bash
# Goal: a change does not break the program for Windows unseen; `make check-windows` takes too
# long to run on each. Method: the program is built for Windows and started under Wine: its
# selftest, ten command lines whose results must be those of the program for Linux, byte for
# byte, and what a pipe does there when its reader leaves.
#
# What must be there already is the compiler, Wine and the libraries that `make windows-deps`
# builds in some minutes; without one of them this is skipped.
#
#   OUT       has the program for Linux, and make_trace
#   BUILD     has windows/deps; windows/ gets the program, and a Wine prefix for this alone
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
. tests/windows/wine.sh

# As it is spelled, since flags of the compiler name it: with others all is built again.
BUILD=${BUILD:-build}
WINDOWS_DEPS=${WINDOWS_DEPS:-$BUILD/windows/deps}
NATIVE=${OUT:-$BUILD/check}/etlheap
MAKE_TRACE=${OUT:-$BUILD/check}/make_trace

# As static_deps.sh sees it.
libraries_are_current()
{
    test "$(sed -n 's/^recipe //p' "$WINDOWS_DEPS/versions.txt" 2> /dev/null)" = "$(sha256sum < packaging/static_deps.sh | cut -c 1-64) windows-x64"
}

skip_all() # reason
{
    skip "the program for Windows" "$1"
    finish
}

command -v x86_64-w64-mingw32-gcc-posix > /dev/null || skip_all "no compiler for it here (package gcc-mingw-w64-x86-64-posix)"
wine_find || skip_all "no Wine here to run it (package wine64)"
libraries_are_current || skip_all "the libraries that it is linked with are not built, or not up to date (make windows-deps)"

# The make that started this shares no jobs with the one started here.
built=$(env -u MAKEFLAGS -u MFLAGS make --no-print-directory -j"$(nproc)" PLATFORM=windows VARIANT=release \
    BUILD="$BUILD" WINDOWS_DEPS="$WINDOWS_DEPS" "$BUILD/windows/etlheap.exe" 2>&1 < /dev/null) || {
    mapfile -t built <<< "$(grep -v '^  CC' <<< "$built" | tail -n 20)"
    fail "it is built" "${built[@]}"
    finish
}
pass "it is built"

home=$(realpath "$BUILD")/windows/short
wine_begin "$home/wine" "$home" > "$home.log" 2>&1 || {
    fail "Wine starts" "$(tail -n 5 "$home.log")"
    finish
}
trap wine_end EXIT
wine_wrap "$home/etlheap" "$(realpath "$BUILD/windows/etlheap.exe")"
ETLHEAP=$home/etlheap
. tests/windows/both.sh

make demo.etl demo
same selftest
same report demo.etl
same report demo.etl --format json -o out.json
same windows demo.etl --format csv
same allocations demo.etl --top 50 --format ndjson
same dump demo.etl --format ndjson
same store demo.etl -o out.ehs
same export demo.etl --format html -o out.html
same_as 1 check demo.etl --max-outstanding 1K --format sarif
same_as 3 report missing.etl
put "$TEST_TMP/inputs/demo.etl" 'größer 測試.etl'
alike 'a name beyond ASCII, with a backslash' report '.\größer 測試.etl' --format json -- report './größer 測試.etl' --format json
leaves dump demo.etl
finish
