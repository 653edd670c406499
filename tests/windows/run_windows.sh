#!/usr/bin/env bash
# Runs what `make check-windows` promises: the tests of the command line, with etlheap.exe
# under Wine in place of the program for Linux.
#
# The oracles start a program and compare what it says; they start here one that starts
# Wine. Paths need no translation: from the folder a program is in, Wine makes a drive that
# is the whole file system, and Windows takes slashes. The Wine prefix lies in the build
# folder, so that nobody's own is touched; one server of Wine lives for the whole run.
#
# From the Makefile: BUILD, OUT (the variant folder of the program for Linux, and of the
# tools that make traces), WINDOWS_OUT, WINDOWS_DEPS, TRACES, PYTHON.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
OUT=$(realpath -m "${OUT:-$BUILD/check}")
WINDOWS_OUT=$(realpath -m "${WINDOWS_OUT:-$BUILD/windows/release}")
home=$BUILD/windows/run
WINDOWS_DEPS=$(realpath -m "${WINDOWS_DEPS:-$BUILD/windows/deps}")
export BUILD OUT WINDOWS_OUT WINDOWS_DEPS
export WINEPREFIX=$BUILD/windows/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
# Windows' own arithmetic of names: Wine takes the encoding of names from the locale.
export LC_ALL=C.UTF-8
unset DISPLAY WAYLAND_DISPLAY

wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
server=$(command -v wineserver64 || echo /usr/lib/wine/wineserver)
test -x "$wine" || { echo "run_windows.sh: Wine is not here (package wine64)" >&2; exit 1; }

# What the oracles start: etlheap is etlheap.exe, exe any other program for Windows.
wrap() # name, program...
{
    local name=$1
    shift
    printf '#!/bin/sh\nLC_ALL=C.UTF-8 WINEPREFIX="%s" WINEDEBUG=-all exec "%s" %s "$@"\n' "$WINEPREFIX" "$wine" "$*" > "$home/$name"
    chmod +x "$home/$name"
}

mkdir -p "$home"
if ! test -f "$WINEPREFIX/system.reg"; then
    echo "  WINE  $WINEPREFIX"
    "$wine" wineboot -i > "$home/wineboot.log" 2>&1 || { cat "$home/wineboot.log" >&2; exit 1; }
fi
"$server" -p
trap '"$server" -k' EXIT
wrap etlheap "\"$BUILD/windows/etlheap.exe\""
wrap exe

# Under Wine a program takes as long to start as it takes elsewhere to answer.
PART_SECONDS=${PART_SECONDS:-900} PLATFORM=windows LOGS=$home/test-logs ETLHEAP=$home/etlheap NATIVE=$OUT/etlheap bash tests/run/run_tests.sh
