#!/usr/bin/env bash
# Tables are hashed with a number that differs from run to run (engine/core/intern.h):
# nothing of it may show. The same command, run again and again, writes the same bytes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

ETLHEAP=$(realpath "${ETLHEAP:-build/etlheap}")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/release/make_trace}")
TRACES=$(realpath -m "${TRACES:-../shared/traces}")
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
cd "$TEST_TMP" || exit 1
if test "${LONG:-0}" = 1; then RUNS=20; else RUNS=3; fi

"$MAKE_TRACE" workload a.etl --events 6000 --keys --compress --cpus 5 > make.log 2>&1 &&
    "$MAKE_TRACE" workload b.etl --events 6000 --seed 9 >> make.log 2>&1 &&
    "$MAKE_TRACE" demo c.etl >> make.log 2>&1 && "$ETLHEAP" store a.etl -o a.ehs >> make.log 2>&1 || { fail "the inputs are made" "$(tail -n 3 make.log)"; finish; }

# Runs etlheap, its output to `out` or where -o says.
same() # name argument...
{
    local name=$1 run first='' sum differ=0
    shift
    for run in $(seq $RUNS); do
        rm -f out made
        "$ETLHEAP" "$@" > out 2> err || test $? -eq 1 || { fail "$name" "$(head -n 2 err)"; return; }
        sum=$(cat out made 2> /dev/null | cksum)
        test -n "$(head -qc 1 out made 2> /dev/null | tr '\0' x)" || { fail "$name" "there is no output"; return; }
        test -n "$first" || first=$sum
        test "$sum" = "$first" || differ=$((differ + 1))
    done
    if test $differ -eq 0; then pass "$name"; else fail "$name" "$differ of $RUNS runs differ from the first"; fi
}

# Documents without rows would be the same too.
if "$ETLHEAP" report a.etl --format json | grep -q '"outstanding_size": [1-9]'; then
    pass "reports have something that could differ"
else
    fail "reports have something that could differ" "no row of the report has anything outstanding"
fi
if command -v setarch > /dev/null && setarch -R true 2> /dev/null; then
    "$ETLHEAP" report a.etl --format json > with.json
    setarch -R "$ETLHEAP" report a.etl --format json > without.json
    if test -s with.json && cmp -s with.json without.json; then
        pass "a report without random addresses is the same"
    else
        fail "a report without random addresses is the same" "setarch -R differs, or there is no report"
    fi
else
    skip "a report without random addresses" "setarch cannot turn them off here"
fi
same "report" report a.etl --format json
same "report with lifetimes" report a.etl --growth --group-by process,site --format csv
same "report of a store" report a.ehs --group-by process,type,stack --format json
same "store" store a.etl -o made
same "store of heaps that are destroyed" store c.etl -o made
same "store with three threads" store b.etl -o made -j 3
same "summary" store a.etl --summary --every 1s -o made
same "windows" windows b.etl --format csv
same "diff" diff a.etl b.etl --format json
same "allocations" allocations b.etl --format ndjson
same "allocations of a destroyed heap" allocations c.etl --format csv
same "check" check b.etl --max-outstanding stack:1K --format sarif
same "export to heaptrack" export a.etl --format heaptrack
same "export of rows" export b.etl --format ndjson --rows
same "info" info a.etl --format json
for name in diaghub-merged perfview-net452-x64-merged-compressed-stackkeys; do
    if test -f "$TRACES/$name.etl"; then
        same "report of $name" report "$TRACES/$name.etl" --format json
    else
        skip "report of $name" "it is not in TRACES ($TRACES)"
    fi
done
finish
