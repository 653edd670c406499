#!/usr/bin/env bash
# Runs everything that `make check` promises, and prints what each part counted and the
# seconds it took; see parts.sh. The closing line is their sum.
#
# From the Makefile: BUILD, OUT (variant folder), TRACES, PYTHON. From run_windows.sh also
# PLATFORM=windows, ETLHEAP, LOGS, and WINDOWS_OUT, where programs for Windows are. From
# whoever starts it: JOBS, LONG=1 for the long form of the parts that have one, PARTS, a
# file that lists other parts, and PART_SECONDS, after which a part is stopped.
#
# To the parts: ETLHEAP, MAKE_TRACE, TRACES, PYTHON, OUT, LONG, and two empty folders of the
# part's own, TEST_TMP and TMPDIR. With --list the parts are printed and not run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/parts.sh

OUT=${OUT:-build/check}
BUILD=${BUILD:-build}
# What it is itself, since a version manager may put a script in its place, which takes
# longer to start than Python does.
PYTHON=${PYTHON:-python3}
itself=$("$PYTHON" -c 'import sys; print(sys.executable)' 2> /dev/null)
PYTHON=${itself:-$PYTHON}
TRACES=${TRACES:-../shared/traces}
# A part takes a few seconds. What takes minutes hangs, or has gone quadratic on one of
# the crowded inputs that tests are made of; sanitizers slow a part tenfold and more.
case $OUT-${LONG:-0} in
*-1) PART_SECONDS=${PART_SECONDS:-10800} ;;
*/check-*) PART_SECONDS=${PART_SECONDS:-300} ;;
*/tsan-*) PART_SECONDS=${PART_SECONDS:-1800} ;;
*) PART_SECONDS=${PART_SECONDS:-900} ;;
esac
LONG=${LONG:-0}
export OUT BUILD PYTHON TRACES LONG PART_SECONDS
PLATFORM=${PLATFORM:-posix}
test "$PLATFORM" = windows || ETLHEAP=$(realpath -m "$OUT/etlheap")
MAKE_TRACE=$(realpath -m "$OUT/make_trace")
export PLATFORM ETLHEAP MAKE_TRACE
# Sanitizers stop at the first finding.
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1}
export CMOCKA_MESSAGE_OUTPUT=TAP
export PYTHONDONTWRITEBYTECODE=1

# --- the parts, one line each: name, command ----------------------------------

# Tests are found, not listed: one that is forgotten here would never run. Named here are
# those that are not for etlheap.exe, and why.
not_for_windows='
cli_losses         the formats and losses that windows_same compares byte for byte
cli_readme         the examples are those of the program for Linux
oracle_abi         reads the debug information of the shared library for Linux
oracle_api         reads headers and the shared library of Linux, and runs no program
oracle_arriving    sends signals; on Windows a zip is always complete before it is read
oracle_batch       sends signals, limits files, and fails calls of the system
oracle_cases       windows_same compares the reports of such traces, in a twentieth of the time
oracle_demo        unpacks files that are part of the program; windows_same compares what is read
oracle_completion  asks the shells of Linux
oracle_gates       reads the sources, which are the same everywhere
oracle_growth      asks DuckDB; what it reads is compared by oracle_parquet
oracle_heaptrack   opens the bytes that oracle_export_events compares
oracle_install     installs the library and the program for Linux
oracle_leftovers   locks files and makes pipes, as POSIX systems do
oracle_memory      counts memory with a library that is loaded before the C library
oracle_memory_processes  counts memory as oracle_memory does
oracle_mutate      runs the tool of `make mutate`, on Linux
oracle_pdb         runs make_symbolize, a program for Linux
oracle_pipes       sends signals, limits files, and opens a terminal of Linux
oracle_processors  sets masks and control groups of Linux
oracle_recipes     runs the scripts of build servers on Linux
oracle_python      loads the shared library for Linux
oracle_sarif       validates the bytes that oracle_check compares
oracle_scripting   runs a program that finds etlheap on the path, as the shell of Linux does
oracle_second_writer  starts the program thousands of times
oracle_seeds       starts the program hundreds of times
oracle_terminal    opens a terminal of Linux, in which Wine draws a console, with codes of its own
oracle_undecorate  runs make_undecorate, a program for Linux
oracle_view_inputs  counts memory as Linux does, and kills the server
oracle_view_server  sends signals, and stands in for xdg-open
oracle_workload    starts the program hundreds of times
docs_commands      reads the pages and recipes, which are the same everywhere
'

list_scripts() # words that start a script, file...
{
    local script
    for script in "${@:2}"; do
        case $script in *'*'* | tests/*/oracle_support.py) continue ;; esac
        echo "$(basename "${script%.*}") $1 $script"
    done
}

list_oracles()
{
    list_scripts bash tests/*/oracle_*.sh tests/oracles/cli_*.sh
    list_scripts "$PYTHON" tests/*/oracle_*.py tests/oracles/cli_*.py tests/oracles/docs_commands.py
}

# What tests the program by its command line, and the unit tests that were built.
list_windows_parts()
{
    local program
    list_oracles | awk -v except="$not_for_windows" '
        BEGIN { count = split(except, lines, "\n"); for (i = 1; i <= count; i++) { split(lines[i], words, " "); out[words[1]] } }
        !($1 in out)'
    list_scripts bash tests/windows/windows_*.sh
    for program in "$WINDOWS_OUT"/tests/test_*.exe; do
        compgen -G "tests/unit/*/$(basename "$program" .exe).c" > /dev/null || continue
        echo "$(basename "$program" .exe) $(dirname "$ETLHEAP")/exe $program"
    done
}

list_parts()
{
    local program
    list_oracles
    list_scripts bash tests/faults/fuzz_replay.sh tests/faults/fault_*.sh
    # By source: a program that was not built is one that fails.
    for program in tests/unit/*/test_*.c; do
        program=$(basename "$program" .c)
        echo "$program $OUT/tests/$program"
    done
    # What the variant cannot change is checked once, in plain `make check`.
    test "$(basename "$OUT")" = check || return 0
    for program in tests/oracles/browser_*.py; do
        test "$program" = tests/oracles/browser_page.py || list_scripts "$PYTHON" "$program"
    done
    list_scripts "$PYTHON" tests/oracles/workflows.py tests/install/bare_demo.py
    list_scripts bash tests/gates/hardening.sh tests/run/runner.sh
    echo "windows_short bash tests/windows/short.sh"
    bash tests/gates/static.sh list
}

list()
{
    if test "$PLATFORM" = windows; then list_windows_parts; else list_parts; fi
}

if test "${1-}" = --list; then
    list
    exit
fi
begin_parts "${LOGS:-$OUT/test-logs}"
measured=$OUT/part-seconds
touch "$measured"
if test -n "${PARTS:-}"; then cat "$PARTS"; else list; fi |
    longest_first tests/run/part_seconds.txt "$measured" > "$logs/parts"
# One more than there are cores, since some parts wait for servers and windows.
xargs -P "${JOBS:-$(($(nproc) + 1))}" -L 1 bash -c 'run_part "$@"' run_part < "$logs/parts"
test -n "${PARTS:-}" || remember_seconds "$measured"
print_parts "$logs/parts"
