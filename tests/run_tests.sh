#!/usr/bin/env bash
# Runs everything that `make check` promises and sums what each part counted.
#
# Parts are independent commands. A part prints TAP lines (cmocka programs) or a
# last line "N passed, N failed, N skipped" (scripts). A part that dies, or says
# nothing, is a failure: silence must not look like success. The closing line of
# the whole run has the same form.
#
# From the Makefile: BUILD, OUT (variant folder), TRACES, PYTHON. From run_windows.sh also
# PLATFORM=windows, ETLHEAP, LOGS, and WINDOWS_OUT, where programs for Windows are.
# To the parts: ETLHEAP, MAKE_TRACE, TRACES, PYTHON, OUT and TEST_TMP, an empty folder
# of the part's own.
set -u
cd "$(dirname "$0")/.." || exit 1

OUT=${OUT:-build/check}
BUILD=${BUILD:-build}
PYTHON=${PYTHON:-python3}
TRACES=${TRACES:-../shared/traces}
# A part takes a few seconds. What takes minutes hangs, or has gone quadratic on one of
# the crowded inputs that tests are made of; sanitizers slow a part tenfold and more.
case $OUT in
*/check) PART_SECONDS=${PART_SECONDS:-300} ;;
*) PART_SECONDS=${PART_SECONDS:-900} ;;
esac
export OUT BUILD PYTHON TRACES PART_SECONDS
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

logs=${LOGS:-$OUT/test-logs}
rm -rf "$logs"
mkdir -p "$logs"

# --- the parts, one line each: name, command ----------------------------------

# What tests the program by its command line, and the unit tests that were built.
list_windows_parts()
{
    local script program
    echo "windows_same bash tests/windows_same.sh"
    for script in oracle_check oracle_export oracle_export_events oracle_export_pprof oracle_wpa oracle_parquet oracle_windows oracle_allocations oracle_details oracle_truth oracle_symbols oracle_manifest oracle_baseline oracle_stacks oracle_diff oracle_tags oracle_merge oracle_html; do
        echo "$script $PYTHON tests/$script.py"
    done
    for script in cli_errors oracle_store oracle_jobs windows_exe; do
        echo "$script bash tests/$script.sh"
    done
    for program in "$WINDOWS_OUT"/tests/test_*.exe; do
        test -f "tests/$(basename "$program" .exe).c" || continue
        echo "$(basename "$program" .exe) $(dirname "$ETLHEAP")/exe $program"
    done
}

list_parts()
{
    local program script
    # The slowest first, so that none is left alone at the end.
    for script in tests/oracle_*.sh tests/golden*.sh tests/cli_*.sh; do
        test -f "$script" && echo "$(basename "$script" .sh) bash $script"
    done
    # Oracles are found, not listed: one that is forgotten here would never run. Those that
    # take longest are named to come first.
    for script in tests/oracle_{api,batch,allocations,parquet,growth,export,export_events,wpa}.py \
        tests/oracle_*.py tests/cli_*.py tests/docs_commands.py; do
        test "$script" = tests/oracle_support.py || echo "$(basename "$script" .py) $PYTHON $script"
    done | awk '!seen[$1]++'
    for script in fuzz_replay fault_matrix fault_calls fault_files; do
        echo "$script bash tests/$script.sh"
    done
    # By source: a program that was not built is one that fails.
    for program in tests/test_*.c; do
        echo "$(basename "$program" .c) $OUT/${program%.c}"
    done
    # What the variant cannot change is checked once, in plain `make check`.
    if test "$(basename "$OUT")" = check; then
        echo "browser_html $PYTHON tests/browser_html.py"
        echo "hardening bash tests/hardening.sh"
        echo "layers bash tests/static.sh layers"
        echo "limits bash tests/static.sh limits"
        echo "format bash tests/static.sh format"
        echo "second-compiler bash tests/static.sh second-compiler"
    fi
}

run_part()
{
    local name=$1
    shift
    TEST_TMP=$(realpath -m "$logs/$name.tmp")
    export TEST_TMP
    mkdir -p "$TEST_TMP"
    local status tries=1
    while :; do
        timeout "$PART_SECONDS" "$@" > "$logs/$name.log" 2>&1 < /dev/null
        status=$?
        # Wine's server drops a client now and then, which says nothing of the program.
        test "$PLATFORM" = windows && test $status -ne 0 && test $tries -lt 3 || break
        grep -q 'wine client error' "$logs/$name.log" || ! grep -qE '^(not )?ok ' "$logs/$name.log" || break
        tries=$((tries + 1))
        rm -rf "$TEST_TMP"
        mkdir -p "$TEST_TMP"
    done
    test $status -ne 124 || echo "stopped after $PART_SECONDS seconds" >> "$logs/$name.log"
    echo $status > "$logs/$name.status"
    rm -rf "$TEST_TMP"
}
export -f run_part
export logs

if test "$PLATFORM" = windows; then list_windows_parts; else list_parts; fi > "$logs/parts"
xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'run_part "$@"' run_part < "$logs/parts"

# --- the sums -----------------------------------------------------------------

# "passed failed skipped" of one log.
count_part() { awk -v status="$2" -f tests/count_part.awk "$1"; }

passed=0 failed=0 skipped=0
while read -r name _; do
    log=$logs/$name.log
    read -r p f s < <(count_part "$log" "$(cat "$logs/$name.status" 2> /dev/null || echo 1)")
    printf '%-28s %5d passed, %d failed, %d skipped\n' "$name" "$p" "$f" "$s"
    # Why something was skipped is part of the result.
    sed -nE 's/^(not )?ok [0-9]+ # SKIP /skipped: /; s/^skipped: /    &/p' "$log"
    if test "$f" -gt 0; then
        grep -vE '^ok [0-9]|^1\.\.|^skipped: |# SKIP|^[0-9]+ passed, |^  CC  ' "$log" | cut -c 1-300 | head -n 40 | sed 's/^/    /'
        echo "    (whole log: $log)"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done < "$logs/parts"

echo "$passed passed, $failed failed, $skipped skipped" | tee "$logs/summary"
test "$failed" -eq 0 && test "$passed" -gt 0
