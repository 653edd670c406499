#!/usr/bin/env bash
# Runs everything that `make check-nightly` promises, one part after the other, since each
# uses all cores: the tests in their long form, under sanitizers and under Wine, packages,
# bare systems, build farms, and an hour of fuzzing. Prints what each part counted and the
# seconds it took; the closing line is their sum.
#
# From the Makefile: BUILD, MAKE, and ONLY, a list of parts such as asan,tsan. TOTAL are the
# seconds of fuzzing.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/parts.sh

MAKE=${MAKE:-make}
export BUILD=${BUILD:-build}
export PART_SECONDS=${PART_SECONDS:-28800}
# The make that started this shares no jobs and no variables with the ones started here.
unset MAKEFLAGS MFLAGS MAKELEVEL

# Each is stopped after PART_SECONDS; the parts within have limits of their own.
list_parts()
{
    local goal="env -u PART_SECONDS $MAKE --no-print-directory BUILD=$BUILD"
    echo "consumers bash tests/gates/static.sh consumers"
    echo "check $goal check LONG=1"
    echo "asan $goal check-asan"
    echo "ubsan $goal check-ubsan"
    echo "tsan $goal check-tsan"
    echo "windows $goal check-windows"
    echo "arm64 $goal check-arm"
    echo "arm64-sources bash tests/gates/static.sh arm64 tests bench fuzz"
    echo "deb $goal check-deb"
    echo "bare $goal check-bare ONLY="
    echo "fleet $goal check-fleet"
    echo "fuzz bash tests/gates/static.sh goal fuzz-hour TOTAL=${TOTAL:-3600}"
}

if test "${1-}" = --list; then
    list_parts
    exit
fi
begin_parts "${LOGS:-$BUILD/nightly-logs}"
list_parts | awk -v only="${ONLY:-}" '
    BEGIN { count = split(only, names, ","); for (i = 1; i <= count; i++) wanted[names[i]] }
    count == 0 || ($1 in wanted) { print; delete wanted[$1] }
    END { for (name in wanted) { print "check-nightly has no part " name > "/dev/stderr"; exit 2 } }' > "$logs/parts" || exit 2
while read -r name command; do
    echo "  RUN   $name" >&2
    # shellcheck disable=SC2086
    run_part "$name" $command
done < "$logs/parts"
print_parts "$logs/parts"
