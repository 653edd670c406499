#!/usr/bin/env bash
# Random programs, written in every way a trace can be written, and the whole
# report compared with the truth of each: rows of `matrix` are ways of writing.
# The seed of a failure is in its name; `make_trace workload` makes it again.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

MAKE_TRACE=${MAKE_TRACE:-build/release/make_trace}
PYTHON=${PYTHON:-python3}
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
SEED=${SEED:-1}
WINDOWS=${WINDOWS:-9}
# With LONG=1 each way is taken by more and longer programs.
if test "${LONG:-0}" = 1; then SEEDS=${SEEDS:-10} EVENTS=${EVENTS:-6000}; else SEEDS=${SEEDS:-1} EVENTS=${EVENTS:-1500}; fi

matrix='
plain
compressed              --compress
keyed                   --keys
keyed-reused            --keys --key-slots 8 --cpus 2
keyed-compressed        --keys --compress --cpus 8
tidless                 --tidless
tidless-keyed           --tidless --keys --compress
one-cpu                 --cpus 1
many-cpus               --cpus 64 --buffer-bytes 8192
small-buffers           --buffer-bytes 4096
large-buffers           --buffer-bytes 1048576 --compress
flushed-often           --flush-ticks 2000 --cpus 3
one-stream              --one-stream
bits-32                 --pointer-bytes 4 --keys
wow64                   --wow64
system-clock            --clock 2
cycle-clock             --clock 3 --hz 2400000000
odd-frequency           --hz 3117777 --compress
slow-clock              --hz 100000
rundown-at-the-end      --end-rundown
two-files               --split
'

try() # name, seed, option...
{
    local name=$1 seed=$2 options="${*:3}" trace with status good
    trace=$TEST_TMP/$name-seed-$seed.etl
    with=()
    case $options in
    *--split*)
        options="--split $TEST_TMP/$name-heap.etl"
        with=(--with "$TEST_TMP/$name-heap.etl")
        ;;
    esac
    # shellcheck disable=SC2086
    if ! "$MAKE_TRACE" workload "$trace" --seed $seed --events "$EVENTS" --truth "$trace.truth.json" $options \
        > "$TEST_TMP/log" 2>&1; then
        fail "make_trace workload --seed $seed $options" "$(tail -n 1 "$TEST_TMP/log")"
        return
    fi
    "$PYTHON" tests/oracles/oracle_truth.py "$trace" "$trace.truth.json" "${with[@]}" --windows "$WINDOWS" \
        --seed $seed > "$TEST_TMP/log" 2>&1
    status=$?
    good=$(grep -c '^ok ' "$TEST_TMP/log")
    if test $status -eq 0 && test "$good" -gt 0; then
        pass "$name, seed $seed: $good reports equal the truth"
    else
        fail "$name, seed $seed: make_trace workload $options --events $EVENTS" "$(grep -v '^ok ' "$TEST_TMP/log" | cut -c 1-280 | head -n 4)"
    fi
    rm -f "$trace" "$trace.truth.json"
}

for ((round = 0; round < SEEDS; round++)); do
    number=0
    while read -r name options; do
        test -n "$name" || continue
        number=$((number + 1))
        # shellcheck disable=SC2086
        try "$name" $(((SEED + round) * 1000 + number)) $options
    done <<< "$matrix"
done
finish
