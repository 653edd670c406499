#!/usr/bin/env bash
# A store answers as its trace does, to the byte but for the names of the files:
# report in several windows and shapes, info and symbols. Made traces are always
# there; real ones when TRACES is.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

ETLHEAP=${ETLHEAP:-build/etlheap}
MAKE_TRACE=${MAKE_TRACE:-build/release/make_trace}
TRACES=${TRACES:-../shared/traces}
TEST_TMP=${TEST_TMP:-$(mktemp -d)}

ask() # input, output, command...
{
    local input=$1 output=$2
    shift 2
    "$ETLHEAP" "$@" "$input" > "$output.json" 2> "$output.err" || return 1
    # The line 'Trace' goes on in a second one when the path is long.
    sed -e 's/"files": *\[[^]]*\]//' -e '/^Trace /,/^[^T ]/{/^Trace /d;/^ /d}' "$output.json" > "$output"
    test -s "$output"
}

compare() # trace, command...
{
    local trace=$1 name
    shift
    name="${trace##*/}: $* is the same from its store"
    if ! ask "$trace" "$TEST_TMP/trace" "$@"; then
        fail "$name" "trace: $(head -n 1 "$TEST_TMP/trace.err")"
    elif ! ask "$TEST_TMP/store.ehs" "$TEST_TMP/store" "$@"; then
        fail "$name" "store: $(head -n 1 "$TEST_TMP/store.err")"
    elif cmp "$TEST_TMP/trace" "$TEST_TMP/store" > "$TEST_TMP/cmp"; then
        pass "$name"
    else
        fail "$name" "$(cat "$TEST_TMP/cmp")"
    fi
}

store_trace() # trace
{
    rm -f "$TEST_TMP/store.ehs"
    if ! "$ETLHEAP" store "$1" -o "$TEST_TMP/store.ehs" 2> "$TEST_TMP/store.err" || ! test -s "$TEST_TMP/store.ehs"; then
        fail "${1##*/}: store" "$(head -n 1 "$TEST_TMP/store.err")"
        return 1
    fi
}

compare_few() # trace
{
    store_trace "$1" || return
    compare "$1" info --format json
    compare "$1" report --format json
    compare "$1" report --format text --from 1ms --to 30ms
}

compare_trace() # trace
{
    store_trace "$1" || return
    compare "$1" info --format json
    compare "$1" report --format json
    compare "$1" report --format text --group-by process,heap
    compare "$1" report --format text --from 1ms --to 30ms
    compare "$1" report --tree=callers --at-exit=freed
    compare "$1" report --format json --at-exit=freed --from 2ms --to 40ms --group-by kind,process
    compare "$1" report --format json --from 1ms --group-by site,type
    compare "$1" report --format json --to 30ms --group-by thread,free_type,size_class
    compare "$1" report --format json --lifetime 0..5ms
    compare "$1" report --format json --growth --group-by process,stack
}

if "$MAKE_TRACE" demo "$TEST_TMP/demo.etl" > "$TEST_TMP/log" 2>&1; then
    compare_trace "$TEST_TMP/demo.etl"
else
    fail "the demo trace is made" "$(cat "$TEST_TMP/log")"
fi

# Blocks of all sorts that come and go, with windows cut through their lives.
if "$MAKE_TRACE" workload "$TEST_TMP/workload.etl" --seed 3 --events 3000 --keys > "$TEST_TMP/log" 2>&1; then
    compare_trace "$TEST_TMP/workload.etl"
    compare "$TEST_TMP/workload.etl" report --format json --growth --from 2ms --to 9ms
    compare "$TEST_TMP/workload.etl" report --format json --growth --at-exit=freed --group-by process,module
else
    fail "the workload's trace is made" "$(cat "$TEST_TMP/log")"
fi

found=
for trace in "$TRACES"/../traces-built/*.etl "$TRACES"/*.etl; do
    test -f "$trace" || continue
    found=1
    case $trace-${LONG:-0} in
    */traces-built/* | *-1) compare_trace "$trace" ;;
    *) compare_few "$trace" ;;
    esac
done
test -n "$found" || skip "real traces" "$TRACES is not here; set TRACES to the folder of real traces"
finish
