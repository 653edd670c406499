#!/usr/bin/env bash
# The same bytes whatever -j: each command on each trace with one, two and seven
# threads. Made traces are always there; real ones when TRACES is.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

ETLHEAP=${ETLHEAP:-build/etlheap}
MAKE_TRACE=${MAKE_TRACE:-build/release/make_trace}
TRACES=${TRACES:-../shared/traces}
TEST_TMP=${TEST_TMP:-$(mktemp -d)}

compare_jobs() # trace, command...
{
    local trace=$1 jobs name
    shift
    name="${trace##*/}: $* is the same with -j1, -j2 and -j7"
    for jobs in 1 2 7; do
        if ! "$ETLHEAP" "$@" "$trace" -j "$jobs" > "$TEST_TMP/j$jobs" 2> "$TEST_TMP/j$jobs.err"; then
            fail "$name" "-j $jobs: $(head -n 1 "$TEST_TMP/j$jobs.err")"
            return
        fi
    done
    if ! test -s "$TEST_TMP/j1"; then
        fail "$name" "there is no output"
    elif cmp "$TEST_TMP/j1" "$TEST_TMP/j2" > "$TEST_TMP/cmp" && cmp "$TEST_TMP/j1" "$TEST_TMP/j7" >> "$TEST_TMP/cmp"; then
        pass "$name"
    else
        fail "$name" "$(cat "$TEST_TMP/cmp")"
    fi
}

# A store goes to a file, under a name that its bytes do not hold.
compare_stores() # trace
{
    local trace=$1 jobs name
    name="${trace##*/}: store is the same with -j1, -j2 and -j7"
    rm -f "$TEST_TMP"/j[127]
    for jobs in 1 2 7; do
        if ! "$ETLHEAP" store "$trace" -j "$jobs" -o "$TEST_TMP/j$jobs" 2> "$TEST_TMP/j$jobs.err"; then
            fail "$name" "-j $jobs: $(head -n 1 "$TEST_TMP/j$jobs.err")"
            return
        fi
    done
    if cmp "$TEST_TMP/j1" "$TEST_TMP/j2" > "$TEST_TMP/cmp" && cmp "$TEST_TMP/j1" "$TEST_TMP/j7" >> "$TEST_TMP/cmp"; then
        pass "$name"
    else
        fail "$name" "$(cat "$TEST_TMP/cmp")"
    fi
}

# Real traces have no rows: one report of them is as good as another.
compare_few() # trace
{
    compare_stores "$1"
    compare_jobs "$1" info --format json
    compare_jobs "$1" report --format json
    compare_jobs "$1" dump --format ndjson
}

compare_trace() # trace
{
    compare_few "$1"
    compare_jobs "$1" report --format json --at-exit=freed --from 10ms --to 40ms --group-by kind,process
    compare_jobs "$1" report --format json --growth
    compare_jobs "$1" report
    compare_jobs "$1" windows --every 10ms --format json
}

if "$MAKE_TRACE" demo "$TEST_TMP/demo.etl" > "$TEST_TMP/log" 2>&1; then
    compare_trace "$TEST_TMP/demo.etl"
else
    fail "the demo trace is made" "$(cat "$TEST_TMP/log")"
fi

found=
for trace in "$TRACES"/../traces-built/*.etl "$TRACES"/diaghub-kernel.etl "$TRACES"/perfview-*.etl; do
    test -f "$trace" || continue
    found=1
    case $trace-${LONG:-0} in
    */traces-built/* | *-1) compare_trace "$trace" ;;
    *) compare_few "$trace" ;;
    esac
done
test -n "$found" || skip "real traces" "$TRACES is not here; set TRACES to the folder of real traces"
finish
