#!/usr/bin/env bash
# Runs what `make check-windows` promises: the tests of the command line, with etlheap.exe
# under Wine in place of the program for Linux, and the unit tests as programs for Windows.
#
# The Wine prefix lies in the build folder, so that nobody's own is touched; one server of
# Wine lives for the whole run. See wine.sh.
#
# From the Makefile: BUILD, OUT (the variant folder of the program for Linux, and of the
# tools that make traces), WINDOWS_OUT, WINDOWS_DEPS, TRACES, PYTHON.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/windows/wine.sh

BUILD=$(realpath -m "${BUILD:-build}")
OUT=$(realpath -m "${OUT:-$BUILD/check}")
WINDOWS_OUT=$(realpath -m "${WINDOWS_OUT:-$BUILD/windows/release}")
home=$BUILD/windows/run
WINDOWS_DEPS=$(realpath -m "${WINDOWS_DEPS:-$BUILD/windows/deps}")
export BUILD OUT WINDOWS_OUT WINDOWS_DEPS

wine_find || { echo "run_windows.sh: Wine is not here (package wine64)" >&2; exit 1; }
wine_begin "$BUILD/windows/wine" "$home" || exit 1
trap wine_end EXIT
# What the oracles start: etlheap is etlheap.exe, exe any other program for Windows.
wine_wrap "$home/etlheap" "$BUILD/windows/etlheap.exe"
wine_wrap "$home/exe"

# Under Wine a program takes as long to start as it takes elsewhere to answer.
PART_SECONDS=${PART_SECONDS:-900} PLATFORM=windows LOGS=$home/test-logs ETLHEAP=$home/etlheap NATIVE=$OUT/etlheap bash tests/run/run_tests.sh
